"""MMD, several kernels and the Bayes programme against formulas, enumeration and each other; bad and ugly input, herding included."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simopt import solve
from simopt.arithmetic import INTERVAL, RATIONAL
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.model.status import Status
from simopt.problems.bayes_linear_loss import BayesLinearLoss
from simopt.problems.convex_potential import ConvexPotential
from simopt.problems.herding import Herding
from simopt.problems.mean_classifier import MeanClassifier
from simopt.problems.mmd import MaximumMeanDiscrepancy
from simopt.problems.multiple_kernel_mean import MultipleKernelMean
from simopt.problems.recipes import small_kernel
from simopt.solving.entry_points import certify

KINDS: tuple[Any, ...] = (Herding, MaximumMeanDiscrepancy, MultipleKernelMean, BayesLinearLoss, ConvexPotential)


def world(seed: int, n: int, d: int) -> tuple[Array, Array]:
    """Features and labels of which both occur."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    return features, np.where(np.arange(n) % 2 == 0, 1.0, -1.0) * np.sign(features[:, 0] + 2.0)


def test_mmd_is_half_the_distance_of_the_means() -> None:
    for seed, n in ((0, 12), (1, 9)):
        features, labels = world(seed, n, 3)
        problem = MaximumMeanDiscrepancy(features @ features.T, labels)
        half = 0.5 * float(np.linalg.norm(features[labels > 0].mean(axis=0) - features[labels < 0].mean(axis=0)))
        assert problem.discrepancy() == pytest.approx(half, rel=1e-12)
        assert -solve(problem, "clarabel", tol=1e-9).value == pytest.approx(half, rel=1e-7)
        mean = float(np.linalg.norm(labels @ features)) / n
        balanced = np.count_nonzero(labels > 0) * 2 == n
        assert (abs(half - mean) < 1e-12) == balanced, "MMD is the norm of the mean if the classes are of one size, and here only then"


def test_mmd_is_at_most_the_total_variation() -> None:
    rng = np.random.default_rng(9)
    places = rng.normal(size=(4, 2))
    places = places / np.linalg.norm(places, axis=1, keepdims=True)
    for _ in range(10):
        where, labels = rng.integers(4, size=30), np.where(rng.random(30) < 0.3, 1.0, -1.0)
        labels[:2] = 1.0, -1.0
        problem = MaximumMeanDiscrepancy(places[where] @ places[where].T, labels)
        shares = [np.bincount(where[labels == side], minlength=4) / np.count_nonzero(labels == side) for side in (1.0, -1.0)]
        assert problem.discrepancy() <= 0.5 * float(np.sum(np.abs(shares[0] - shares[1]))) + 1e-12


def test_several_kernels_do_as_well_as_the_best_of_them() -> None:
    features, labels = world(10, 10, 3)
    squared = np.sum((features[:, None] - features) ** 2, axis=-1)
    grams = np.stack([np.exp(-squared), np.exp(-squared / 9.0), features @ features.T / 10.0])
    problem = MultipleKernelMean(grams, labels)
    single = [float(MeanClassifier(gram, labels).dual_bound({})) for gram in grams]
    best = int(np.argmin(single))
    solution = solve(problem, "clarabel", tol=1e-9)
    assert solution.value == pytest.approx(min(single), abs=1e-8)
    assert solution.point is not None
    lengths = [math.sqrt(max(a @ gram @ a, 0.0)) for a, gram in zip(solution.point["alpha"], grams, strict=True)]
    assert lengths[best] == pytest.approx(1.0, abs=1e-5)
    assert sum(lengths) <= 1.0 + 1e-12
    rng = np.random.default_rng(11)
    for _ in range(20):
        point = problem.restore({"alpha": rng.normal(size=(3, 10))})
        assert float(problem.objective(point)) >= min(single)


def test_a_tie_of_kernels_makes_every_mixture_optimal() -> None:
    K, y = small_kernel(np.random.default_rng(12), 9)
    labels = np.where(y > 0, 1.0, -1.0)
    problem = MultipleKernelMean(np.stack([K, K, 0.25 * K]), labels)
    mean = labels / 9.0
    unit = mean / math.sqrt(mean @ K @ mean)
    for share in (0.0, 0.3, 1.0):
        point = {"alpha": np.stack([share * unit, (1 - share) * unit, 0 * unit])}
        assert certify(problem, point).relative_gap < 1e-14
    assert problem.distance(0.0) == 2.0
    assert certify(problem, {"alpha": np.stack([0 * unit, 0 * unit, 2.0 * unit])}).relative_gap > 0.1


def test_distance_of_several_kernels_holds_the_optimum() -> None:
    K, y = small_kernel(np.random.default_rng(13), 9)
    labels = np.where(y > 0, 1.0, -1.0)
    problem = MultipleKernelMean(np.stack([0.5 * K, K, 0.8 * K @ K / np.max(K @ K)]), labels)
    best = dict(solve(problem, "closed-form").point or {})
    rng = np.random.default_rng(14)
    for size in (1e-5, 1e-3, 1e-1):
        point = problem.restore({"alpha": (1 - size) * best["alpha"] + size * rng.normal(size=(3, 9))})
        apart = sum(
            math.sqrt(max((a - b) @ gram @ (a - b), 0.0)) for a, b, gram in zip(point["alpha"], best["alpha"], problem.kernels, strict=True)
        )
        assert apart <= problem.distance(float(problem.gap(point, {})), point) + 1e-9


@pytest.mark.parametrize("kind", [MaximumMeanDiscrepancy, MultipleKernelMean])
def test_points_restored_in_intervals_are_provably_in_the_hull(kind: Any) -> None:
    rng = np.random.default_rng(15)
    for example in kind.examples(rng):
        problem = example.problem
        grams = problem.kernels if kind is MultipleKernelMean else (problem.gram,)
        for spread in (1e-3, 1.0, 1e6):
            given = {"alpha": spread * rng.normal(size=problem.trivial_point()["alpha"].shape)}
            alpha = INTERVAL.mid(problem.restore(given, INTERVAL)["alpha"]).reshape(len(grams), -1)
            total = INTERVAL.lift(0.0)
            for a, gram in zip(alpha, grams, strict=True):
                lifted = INTERVAL.lift(a)
                total = total + INTERVAL.sqrt(INTERVAL.pos(INTERVAL.dot(lifted, INTERVAL.matvec(gram, lifted))))
            assert INTERVAL.upper(total) <= 1.0 + 1e-150, "enclosures of a norm 0 are as wide as roots of the smallest floats"


def test_the_bayes_programme_has_the_value_of_the_bayes_classifier_exactly() -> None:
    rng = np.random.default_rng(16)
    for _ in range(10):
        counts = rng.integers(0, 9, size=(5, 2))
        counts[0] = 3
        counts = counts * 1.0
        counts[1, 0] += 64.0 - counts.sum() if counts.sum() < 64 else 128.0 - counts.sum()
        problem = BayesLinearLoss(counts / counts.sum())
        p = [[Fraction(x) for x in row] for row in problem.probabilities]
        mass = [sum(row) for row in p]
        eta = [row[1] / m if m else Fraction(1, 2) for row, m in zip(p, mass, strict=True)]
        expected = sum((m * (1 - abs(1 - 2 * e)) for m, e in zip(mass, eta, strict=True)), Fraction(0))
        assert Fraction(problem.dual_bound({}, RATIONAL)) == expected
        corners = (
            sum((row[0] * (1 + f) + row[1] * (1 - f) for row, f in zip(p, corner, strict=True)), Fraction(0))
            for corner in itertools.product((-1, 1), repeat=5)
        )
        assert min(corners) == expected
        bayes = {"f": np.array([float(np.sign(row[1] - row[0])) for row in problem.probabilities])}
        assert problem.objective(bayes, RATIONAL) == expected
        assert problem.gap(bayes, {}, RATIONAL) == 0


def test_bayes_distance_and_free_points() -> None:
    problem = BayesLinearLoss(np.array([[0.1, 0.2], [0.4, 0.3]]))
    point = {"f": np.array([0.5, -1.0])}
    gap = float(problem.gap(point, {}))
    assert gap == pytest.approx(0.05)
    assert 0.5 <= problem.distance(gap) <= 0.5 + 1e-12
    free = replace(problem, probabilities=np.array([[0.25, 0.25], [0.2, 0.3]]))
    assert free.distance(0.0) == 2.0
    for value in (-1.0, 0.3, 1.0):
        assert float(free.gap({"f": np.array([value, 1.0])}, {})) == 0.0


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (Herding, {"labels": np.array([1.0, 0.0, -1.0])}, r"labels: 1 of 3 labels are none of -1, 1 \(first at index 1: 0\)"),
    (Herding, {"candidates": np.array([0, 3])}, "candidates: entry 1 is 3, an index of one of the 3 points"),
    (Herding, {"candidates": np.array([-1])}, "candidates: entry 0 is -1"),
    (Herding, {"candidates": np.array([0.5])}, "candidates: entry 0 is 0.5"),
    (Herding, {"candidates": np.array([2, 1, 2])}, "candidates: point 2 is there 2 times"),
    (Herding, {"candidates": np.array([], dtype=int)}, "candidates: no values, at least 1 needed"),
    (Herding, {"target": np.array([0.5, 0.6, -0.1])}, "target: -0.1 at index 2 is negative"),
    (Herding, {"target": np.array([1.0, 1.0, 0.0])}, "target: the probabilities sum to 2, expected 1"),
    (Herding, {"target": np.array([1.0])}, "target: 1 value, expected 3"),
    (Herding, {"gram": -np.eye(3)}, "gram: not positive semidefinite"),
    (MaximumMeanDiscrepancy, {"labels": np.ones(3)}, "labels: no sample has the label -1; each of -1, 1 must occur"),
    (MaximumMeanDiscrepancy, {"labels": -np.ones(3)}, "labels: no sample has the label 1;"),
    (MultipleKernelMean, {"grams": np.eye(3)}, r"grams: shape \(3, 3\), expected \(k, 3, 3\)"),
    (MultipleKernelMean, {"grams": np.stack([np.eye(3), -np.eye(3)])}, r"grams\[1\]: not positive semidefinite"),
    (MultipleKernelMean, {"grams": np.ones((2, 2, 2))}, r"grams\[0\]: .* expected 3"),
    (MultipleKernelMean, {"grams": [np.eye(3), np.eye(2)]}, "grams: Gram matrices of one size needed"),
    (MultipleKernelMean, {"grams": np.zeros((0, 3, 3))}, "grams: shape"),
    (BayesLinearLoss, {"probabilities": np.array([[0.5, 0.6], [-0.1, 0.0]])}, "probabilities: -0.1 at row 1, column 0 is negative"),
    (BayesLinearLoss, {"probabilities": np.ones((2, 2))}, "probabilities: the probabilities sum to 4, expected 1; divide"),
    (BayesLinearLoss, {"probabilities": np.zeros((2, 2))}, "probabilities: .* all are 0"),
    (BayesLinearLoss, {"probabilities": np.ones((2, 3)) / 6}, "probabilities: shape .* expected 2"),
    (ConvexPotential, {"radius": 0.0}, "radius: 0 given, a number > 0 needed"),
    (ConvexPotential, {"probabilities": np.ones(3)}, "probabilities: the probabilities sum to 3"),
    (ConvexPotential, {"features": np.ones((2, 3))}, "features: shape"),
]
GOOD: dict[Any, dict[str, Any]] = {
    Herding: {"gram": np.eye(3), "labels": np.array([1.0, -1.0, 1.0])},
    MaximumMeanDiscrepancy: {"gram": np.eye(3), "labels": np.array([1.0, -1.0, 1.0])},
    MultipleKernelMean: {"grams": np.stack([np.eye(3), np.ones((3, 3))]), "labels": np.array([1.0, -1.0, 1.0])},
    BayesLinearLoss: {"probabilities": np.full((2, 2), 0.25)},
    ConvexPotential: {"features": np.eye(3), "labels": np.array([1.0, -1.0, 1.0])},
}


@pytest.mark.parametrize(("kind", "fields", "message"), BAD)
def test_bad_input_is_refused_with_what_would_be_right(kind: Any, fields: dict[str, Any], message: str) -> None:
    kind(**GOOD[kind])
    with pytest.raises(InvalidProblem, match=message):
        kind(**{**GOOD[kind], **fields})


def test_an_unknown_potential_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="hinge"):
        ConvexPotential(np.eye(2), np.ones(2), potential="hing")


def ugly() -> list[Any]:
    """Tied, collinear, duplicated and zero data, in ordinary and in extreme units."""
    features, labels = world(17, 10, 2)
    gaussian = np.exp(-np.sum((features[:, None] - features) ** 2, axis=-1))
    collinear, twice = np.outer(np.arange(10.0), np.arange(10.0)), np.repeat(np.arange(5), 2)
    out: list[Any] = []
    for size in (1e-140, 1.0, 1e140):
        for gram in (gaussian, collinear, np.ones((10, 10)), gaussian[np.ix_(twice, twice)], np.diag([0.0, 0.0, *range(8)])):
            out += [Herding(size * gram, labels, np.arange(3)), Herding(size * gram, labels), MaximumMeanDiscrepancy(size * gram, labels)]
            if size <= 1.0:  # the loss is 1 at f = 0, and of the size of √K at the optimum
                out.append(MultipleKernelMean(np.stack([size * gram, size * gaussian]), labels))
    return out


def test_ugly_data_are_solved_without_a_warning() -> None:
    for problem in ugly():
        for solver in ("clarabel",) if isinstance(problem, Herding) else ("closed-form", "clarabel"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                solution = solve(problem, solver, tol=1e-6)
            assert solution.status is Status.OPTIMAL, (problem.name, solver, solution.message, solution.certificate)


def test_a_zero_kernel_is_closed_in_every_arithmetic() -> None:
    nothing, labels = np.zeros((3, 3)), np.array([1.0, -1.0, 1.0])
    for problem in (Herding(nothing, labels), MaximumMeanDiscrepancy(nothing, labels), MultipleKernelMean(nothing[None], labels)):
        assert solve(problem, "clarabel", rigorous=True).optimal
