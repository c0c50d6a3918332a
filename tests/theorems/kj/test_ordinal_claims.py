"""Appendix E.1 and Theorem 13: the audit's numbers, and the learners against games solved by linear programmes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from simopt.claims import catalogue
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.solving.entry_points import solve
from simopt.theorems.kj.goodness.finite_domains import least_loss, predicted
from simopt.theorems.kj.ordinal import theorem_13
from simopt.theorems.kj.ordinal.direct_reduction import far_apart, ordinal_error
from simopt.theorems.kj.ordinal.ordinal_worlds import (
    HALF,
    ONE,
    ZERO,
    goodness,
    label,
    least_absolute,
    least_mislabelled,
    margin_loss,
    one_cell,
    random_thresholds,
    reduced,
    spaced,
)
from simopt.theorems.kj.ordinal.theorem_13 import absolute, best_lines, guaranteed, law, learned, mislabelled, ordinal_world, rounded


def test_the_page_on_theorem_13_has_each_of_its_claims_and_its_verdict() -> None:
    told = {"HOLDS": "holds", "REFUTED": "refuted"}
    claims = [claim for claim in catalogue.claims() if claim.module == theorem_13.__name__]
    words = (theorem_13.__doc__ or "").replace(":", " ").replace(";", " ").replace(",", " ").replace("\n", " ").split()
    for claim in claims:
        assert claim.id in words
        if f"{claim.id}+" in words or claim.id in ("KJ-Thm13c", "KJ-Thm13e", "KJ-Thm13-p2", "KJ-Thm13-p4"):  # as the paper says it
            assert words[words.index(claim.id) + 1] == told[claim.expected.value]


def test_the_audit_s_two_points() -> None:
    instance = far_apart(Fraction(1, 100))
    for offset in (ONE, HALF):
        assert (
            ordinal_error(
                instance["masses"], instance["targets"], predicted(instance["masses"], instance["gram"], [Fraction(200)] * 2), offset, 2
            )
            == 0
        )
    assert least_loss(instance, Fraction(200)).low == least_loss(instance, Fraction(200)).high == Fraction(1005, 1000)


def test_the_catalogue_s_numbers() -> None:
    rare = one_cell({1: Fraction(7, 10), 2: Fraction(3, 10)}, 2, -Fraction(1, 10), Fraction(1, 10), ONE)
    assert goodness(rare["f"], rare["thresholds"], rare["gamma"], rare["shares"]) == Fraction(6, 100) and least_mislabelled(
        rare["shares"]
    ) == Fraction(3, 10)
    far = one_cell({1: Fraction(7, 10), 12: Fraction(3, 10)}, 12, -ONE, ONE, Fraction(1, 10))
    assert goodness(far["f"], far["thresholds"], far["gamma"], far["shares"]) == Fraction(9, 10) and least_absolute(
        far["shares"], far["labels"]
    ) == Fraction(33, 10)


def test_labels_by_thresholds() -> None:
    assert reduced(4, HALF) == [Fraction(3, 2), Fraction(5, 2), Fraction(7, 2)] and spaced(3, Fraction(2)) == [0, 2]
    assert [label(Fraction(v), reduced(4, ONE)) for v in (-9, 0, 1, 2, 3, 99)] == [1, 1, 2, 3, 4, 4]
    assert margin_loss(ZERO, 1, [ZERO], ONE) == margin_loss(ZERO, 2, [ZERO], ONE) == 1
    assert margin_loss(Fraction(1, 4), 2, [ZERO, HALF], ONE) == Fraction(3, 2)


def test_chances_of_shifted_labels_against_draws() -> None:
    rng = np.random.default_rng(5)
    b = [Fraction(0), Fraction(1, 2), Fraction(9, 4)]
    for f, reach, spread in ((Fraction(1, 3), Fraction(2), ONE), (Fraction(2), HALF, Fraction(2, 3)), (Fraction(-1), ONE, ONE)):
        chances = law(f, b, reach, spread)
        assert sum(chances.values()) == 1
        u = np.where(rng.random(40_000) < float(spread), rng.uniform(-1, 1, 40_000) * float(reach), 0.0)
        seen = 1 + np.searchsorted([float(v) for v in b], float(f) + u, side="right")
        for y in range(1, 5):
            assert np.mean(seen == y) == pytest.approx(float(chances.get(y, 0)), abs=0.015)
            assert np.mean(seen != y) == pytest.approx(float(mislabelled(chances, y)), abs=0.015)
            assert np.mean(abs(seen - y)) == pytest.approx(float(absolute(chances, y)), abs=0.03)


def game(losses: list[Fraction], alpha: float, kappa: float) -> float:
    """min over chances of labels of max_y E |ŷ − y| − α − κh(y): what no rule that sees f only can beat."""
    r = len(losses)
    costs = np.abs(np.subtract.outer(np.arange(r), np.arange(r))).astype(float)
    bound = alpha + kappa * np.array(losses, dtype=float)
    found = linprog(
        np.r_[np.zeros(r), 1.0], A_ub=np.c_[costs, -np.ones(r)], b_ub=bound, A_eq=[np.r_[np.ones(r), 0.0]], b_eq=[1.0],
        bounds=[(0.0, None)] * r + [(None, None)],
    )  # fmt: skip
    assert found.status == 0
    return float(found.fun)


def test_the_lines_are_valid_and_best_by_linear_programmes() -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        labels, gamma, delta = int(rng.integers(2, 6)), Fraction(int(rng.integers(1, 17)), 8), Fraction(int(rng.integers(1, 33)), 8)
        b = random_thresholds(rng, labels, delta)
        f = b[int(rng.integers(0, len(b)))] + Fraction(int(rng.integers(-32, 33)), 16)
        losses = [margin_loss(f, y, b, gamma) for y in range(1, labels + 1)]
        for alpha, kappa in best_lines(gamma, delta, labels):
            assert game(losses, float(alpha), float(kappa)) <= 1e-9
            chances = rounded(f, b, gamma, alpha, kappa)
            assert sum(chances.values()) == 1 and all(1 <= c <= labels for c, p in chances.items() if p > 0)
            assert all(absolute(chances, y) <= alpha + kappa * h for y, h in enumerate(losses, start=1))
        even = spaced(labels, delta)
        tight = [margin_loss(even[0], y, even, gamma) for y in range(1, labels + 1)]
        worst = max(game(tight, float(alpha), float(kappa) * 0.99) for alpha, kappa in best_lines(gamma, delta, labels))
        assert worst > 1e-4


@pytest.mark.slow
def test_printed_bound_by_linear_programmes_on_both_sides_of_the_line() -> None:
    def worst(gamma: float, delta: float) -> float:
        margin, spacing, largest = Fraction(gamma), Fraction(delta), max(gamma, 1.0)
        values = []
        for k in range(-80, 81):
            losses = [margin_loss(Fraction(k, 40) * spacing, y, spaced(4, spacing), margin) for y in range(1, 5)]
            values.append(game(losses, 1.0 - largest / delta, 1.0 / delta))
        return max(values)

    for gamma in (0.125, 0.25, 0.375):  # open in the catalogue
        assert worst(gamma, 2.0 * (1.0 - gamma)) <= 1e-9 < 1e-3 < worst(gamma, 2.0 * (1.0 - gamma) - 0.05)
    assert worst(0.75, 1.0) <= 1e-9 < 1e-3 < worst(0.75, 0.95)
    assert worst(2.0, 2.0) <= 1e-9 < 1e-3 < worst(2.0, 1.9)


def test_the_profile() -> None:
    assert guaranteed(ONE, ONE, Fraction(4), 5) == HALF  # ε_0 = γ
    assert guaranteed(Fraction(3), ONE, Fraction(4), 5) == 1 and guaranteed(Fraction(99), ONE, Fraction(4), 5) == 2
    assert guaranteed(ONE, ONE, ONE, 3) == Fraction(2, 3)
    for delta in (ZERO, ONE, Fraction(2)):
        assert guaranteed(ONE, ONE, delta, 2) == HALF


def test_learned_scores_tend_to_the_least_loss_over_the_ball() -> None:
    world = ordinal_world("cyclic", HALF, Fraction(1, 4))
    gram, gamma = (world.gram * world.masses) @ world.gram.T, float(world.gamma)
    limit = KernelOrdinalGoodness(gram, world.labels, 3, gamma / world.bound, world.masses, delta=float(world.delta) / gamma)
    found = solve(limit, tol=1e-9).certificate
    assert found is not None
    least = gamma * found.lower
    assert least <= world.level + 1e-9  # |w| ≤ B is in the ball
    rng = np.random.default_rng(2)
    for size, near in ((200, 0.2), (200_000, 0.01)):
        scores, thresholds = learned(world, size, size, rng)
        assert np.all(np.diff(thresholds) >= float(world.delta) - 1e-6)
        assert abs(world.loss(scores, thresholds) - least) <= near
