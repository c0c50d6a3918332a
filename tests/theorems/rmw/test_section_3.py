"""The exact solvers behind the claims of sections 2, 3 and 6.6 of the second paper."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import simopt
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.hinge_svm_hull import HingeSVMHull
from simopt.theorems.rmw.labelled_samples import SPECIAL, atoms_of, few_dimensions, independent_points, random_labels, samples
from simopt.theorems.small_worlds.exact_hull import hull_solution, mean_ray, nearest
from simopt.theorems.small_worlds.exact_svm import gram, mean_margins, objective, optimality_gap, path, piece_at, solve, square, threshold
from simopt.theorems.small_worlds.worlds import Score, dot, linear, risk, zero_one
from tests.theorems.conftest import quick


def from_table(values: list[Fraction]) -> Score:
    """The function on {0, 1, …} with these values; φ(x) = (x)."""
    return lambda phi: values[phi[0]]


@pytest.mark.parametrize(("convention", "best", "bounded"), [("A", False, True), ("B", True, False), ("C", True, True)])
def test_theorem_1_on_finite_worlds(convention: str, best: bool, bounded: bool) -> None:
    rng, loss = np.random.default_rng(5), zero_one(convention)
    excess, surplus = [], []
    for _ in range(200):
        size = int(rng.integers(1, 4))
        mass = [Fraction(int(k)) for k in rng.integers(1, 5, size=2 * size)]
        world = [(m / sum(mass), (-1) ** i, [i // 2]) for i, m in enumerate(mass)]
        values = [Fraction(int(k), 2) for k in rng.integers(-2, 3, size=size)]
        eta = [mass[2 * x] / (mass[2 * x] + mass[2 * x + 1]) for x in range(size)]
        bayes_values = [Fraction(1 if 2 * share >= 1 else -1) for share in eta]
        f, bayes = from_table(values), from_table(bayes_values)
        regret = risk(world, loss, f) - risk(world, loss, bayes)
        excess.append(regret)
        surplus.append(risk(world, linear, f) - risk(world, linear, bayes) - regret)
    assert (min(excess) >= 0) is best
    assert (min(surplus) >= 0) is bounded


def instances(count: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(11)
    made: list[dict[str, object]] = [{"features": list(features), "labels": labels} for features, labels in SPECIAL]
    for i in range(count):
        points = independent_points(rng) if i % 2 else few_dimensions(rng)
        made.append({"features": points, "labels": random_labels(rng, len(points))})
    return made


def test_exact_path_is_optimal_continuous_and_starts_at_the_threshold() -> None:
    for instance in instances(40):
        G = gram(atoms_of(instance["labels"], instance["features"]))
        pieces = path(G)
        assert pieces[0].low == threshold(G) and pieces[0].high is None
        assert pieces[-1].low == 0 and pieces[-1].flat
        for above, below in pairwise(pieces):
            assert above.low == below.high
            ends = [piece.coefficients(above.low) for piece in (above, below)]
            assert square(G, [x - y for x, y in zip(*ends, strict=True)]) == 0
        for piece in pieces:
            lam = (piece.low + (piece.high or piece.low + 1)) / 2
            f = piece.coefficients(lam)
            assert optimality_gap(G, f, piece.multipliers(lam), lam) == 0
            assert objective(G, f, lam) <= objective(G, [Fraction(1, len(G)) / lam] * len(G), lam)


def test_exact_svm_agrees_with_clarabel() -> None:
    for instance in instances(4)[3:]:
        G = gram(atoms_of(instance["labels"], instance["features"]))
        edge = threshold(G) or Fraction(1)
        for share in (Fraction(1, 7), Fraction(4, 5), Fraction(2)):
            lam = share * edge
            labels = np.array(instance["labels"], dtype=float)
            K = labels[:, None] * np.array([[float(v) for v in row] for row in G]) * labels
            solution = simopt.solve(HingeSVM(K, labels, Penalty(float(lam))), "clarabel", tol=1e-9)
            assert solution.certificate is not None
            exact = float(objective(G, piece_at(path(G), lam).coefficients(lam), lam))
            assert solution.certificate.lower - 1e-12 <= exact <= solution.certificate.upper + 1e-12


def test_nearest_point_of_the_hull() -> None:
    for instance in instances(30):
        G = gram(atoms_of(instance["labels"], instance["features"]))
        m, n = mean_margins(G), len(G)
        for lam in (Fraction(1, 3), Fraction(1), Fraction(5, 2)):
            w = hull_solution(G, lam)
            slopes = [dot(row, w) - value / lam for row, value in zip(G, m, strict=True)]
            assert min(w) >= 0 and sum(w) == 1 and min(slopes) == dot(w, slopes)
        assert square(G, [value - Fraction(1, n) for value in hull_solution(G, Fraction(1))]) == 0


def test_the_ray_through_the_mean_leaves_the_hull_at_its_ends() -> None:
    for instance in instances(30):
        G = gram(atoms_of(instance["labels"], instance["features"]))
        m = mean_margins(G)
        if not any(m):
            with pytest.raises(ArithmeticError, match="no ray"):
                mean_ray(G)
            continue
        size, (low, high) = sum(m, Fraction(0)) / len(m), mean_ray(G)
        assert low <= 1 <= high

        def apart(t: Fraction, G=G, m=m, size=size) -> Fraction:
            w = nearest(G, [t * value for value in m])
            return Fraction(t * t * size - 2 * t * dot(w, m) + square(G, w))

        assert apart(low) == apart(high) == 0
        assert min(apart(low - Fraction(1, 1000)), apart(high + Fraction(1, 1000))) > 0


def test_hull_solution_agrees_with_clarabel() -> None:
    G = gram([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1, 2)]])
    assert [w * Fraction(20) for w in hull_solution(G, Fraction(2))] == [7, 13]  # the point (7/20, 13/40) of the catalogue
    K = np.array([[float(v) for v in row] for row in G])
    solution = simopt.solve(HingeSVMHull(K, np.ones(2), 2.0), "clarabel", tol=1e-9)
    assert solution.point is not None
    assert solution.point["weights"] == pytest.approx([0.35, 0.65], abs=1e-4)


def test_exact_solvers_refuse_what_is_no_gram_matrix() -> None:
    assert solve([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(1)]], [[Fraction(1), Fraction(0)]]) is None
    with pytest.raises(ArithmeticError, match=r"outside \[0, 1/n\]"):
        optimality_gap([[Fraction(1)]], [Fraction(1)], [Fraction(2)], Fraction(1))
    indefinite = [[Fraction(value) for value in row] for row in ((-2, 3, 2), (3, 4, -3), (2, -3, 2))]
    with pytest.raises(ArithmeticError, match="not positive semidefinite"):
        path(indefinite)


def test_samples_hold_every_degenerate_kind() -> None:
    made = [gram(atoms_of(each["labels"], each["features"])) for each in samples(quick("RMW-SVMl"))]
    means = [mean_margins(G) for G in made]
    assert any(not any(m) for m in means), "ω_S = 0"
    assert any(len(m) > 1 and min(m) == max(m) > 0 for m in means), "equal margins"
    assert any(min(m) < 0 for m in means), "a point that the mean misclassifies"
    assert any(G[i][i] == 0 for G in made for i in range(len(G))), "a zero feature"
    assert any(any(piece.flat for piece in path(G)[1:-1]) for G in made), "a path that stands still inside"
    assert all(G[i][i] <= 1 for G in made for i in range(len(G)))
