"""The SVMs with and without intercept, penalised, bounded and on the hull, and the mean classifiers: against brute force and LIBSVM."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simopt import certify, solve
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.backends.table import installed
from simopt.core import registry
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import Dataset
from simopt.model.status import Status
from simopt.problems.bounds import Capacity, Penalty, UnitBall
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.hinge_svm_hull import HingeSVMHull
from simopt.problems.losses import intercepts
from simopt.problems.mean_classifier import MeanClassifier
from simopt.problems.recipes import small_kernel

registry.load("problems")
OURS: tuple[Any, ...] = (
    *HingeSVM.each_form(),
    HingeSVMHull,
    *MeanClassifier.each_form(),
)
BIASED: tuple[Any, ...] = (HingeSVM.form("penalty_intercept"), HingeSVM.form("ball_intercept"))
ANGLES = np.linspace(0.0, 2.0 * np.pi, 20001)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)])


def sample(seed: int, n: int) -> tuple[Array, Array]:
    gram, y = small_kernel(np.random.default_rng(seed), n)
    return gram, np.where(y > 0, 1.0, -1.0)


def made(kind: Any, gram: Array, labels: Array, number: float) -> Any:
    """A problem of a class with this number as its λ or c, if it has one."""
    if issubclass(kind, HingeSVM):
        return HingeSVM(gram, labels, kind.bounds[kind.key](number), kind in BIASED)
    if issubclass(kind, MeanClassifier):
        return MeanClassifier(gram, labels, kind.either(ball=UnitBall, penalty=lambda: Penalty(number))())
    return kind(gram, labels, number)


def optimum(problem: Any) -> Any:
    solution = solve(problem, "clarabel", tol=1e-9)
    assert solution.certificate is not None and solution.certificate.relative_gap < 1e-8
    return solution


@pytest.mark.parametrize("biased", [False, True])
def test_bounds_are_minima_of_the_lagrangian(biased: bool) -> None:
    rng = np.random.default_rng(1)
    features, labels = rng.normal(size=(6, 2)), np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    a = rng.uniform(0.0, 1.0 / 6.0, size=6)
    if biased:
        a *= np.where(labels > 0, min(a @ (labels > 0), a @ (labels < 0)) / (a @ (labels > 0)), 1.0)
        a *= np.where(labels < 0, (a @ (labels > 0)) / (a @ (labels < 0)), 1.0)
        assert abs(a @ labels) < 1e-15  # then the intercept drops out of the Lagrangian
    gram, g = features @ features.T, features.T @ (a * labels)
    ball = HingeSVM(gram, labels, Capacity(2.3), biased)
    lowest = float(np.sum(a) - np.max(math.sqrt(2.3) * g @ CIRCLE))
    assert float(ball.dual_bound({"margins": a})) == pytest.approx(lowest, rel=1e-6)
    penalised = HingeSVM(gram, labels, Penalty(0.3), biased)
    radii = np.linspace(0.0, 4.0 * np.linalg.norm(g) / 0.3, 4001)
    along = np.sum(a) - radii * np.linalg.norm(g) + 0.15 * radii**2
    assert float(penalised.dual_bound({"margins": a})) == pytest.approx(float(np.min(along)), rel=1e-5)


# The intercept.


def loss_of(fitted: list[Fraction], labels: list[int], b: Fraction) -> Fraction:
    return sum((max(1 - y * (f + b), Fraction(0)) for f, y in zip(fitted, labels, strict=True)), Fraction(0))


@given(st.lists(st.tuples(st.integers(-4, 4), st.sampled_from([-1, 1])), min_size=1, max_size=8), st.integers(-20, 20))
def test_the_intercept_is_the_best_and_the_nearest_of_the_best(rows: list[tuple[int, int]], start: int) -> None:
    fitted, labels = [Fraction(f, 2) for f, _ in rows], [y for _, y in rows]
    kinks = sorted(y - f for f, y in zip(fitted, labels, strict=True))
    least = min(loss_of(fitted, labels, b) for b in kinks)
    for num in (RATIONAL, FLOAT, INTERVAL):
        values, signs = num.lift(np.array([float(f) for f in fitted])), np.array(labels, dtype=float)
        b = Fraction(float(num.mid(intercepts.best_intercept(num, values, signs, float(start)))))
        assert loss_of(fitted, labels, b) == least
        for nearer in (start + (b - start) * Fraction(k, 8) for k in range(8)):
            assert b == start or loss_of(fitted, labels, nearer) > least
        free = Fraction(float(num.mid(intercepts.best_intercept(num, values, signs))))
        assert loss_of(fitted, labels, free) == least
        mirrored = Fraction(float(num.mid(intercepts.best_intercept(num, values * -1, -signs))))
        assert mirrored == -free


@given(st.lists(st.tuples(st.floats(0, 0.2), st.sampled_from([-1.0, 1.0])), min_size=1, max_size=10))
def test_balanced_multipliers_are_exactly_balanced_and_only_smaller(rows: list[tuple[float, float]]) -> None:
    multipliers, labels = np.array([a for a, _ in rows]), np.array([y for _, y in rows])
    exact = intercepts.balanced(RATIONAL, RATIONAL.lift(multipliers), labels)
    assert sum(a * int(y) for a, y in zip(exact, labels, strict=True)) == 0
    assert all(0 <= new <= Fraction(old) for new, old in zip(exact, multipliers, strict=True))
    sums = [sum(Fraction(a) for a, y in rows if y == side) for side in (-1.0, 1.0)]
    light = -1.0 if sums[0] <= sums[1] else 1.0
    if min(sums) > intercepts.VANISHING:
        assert all(new == Fraction(old) for new, old, y in zip(exact, multipliers, labels, strict=True) if y == light)
    ball = intercepts.balanced(INTERVAL, INTERVAL.lift(multipliers), labels)
    assert all(Fraction(lo) <= new <= Fraction(hi) for lo, new, hi in zip(ball.low, exact, ball.high, strict=True))
    plain = intercepts.balanced(FLOAT, multipliers, labels)
    assert np.all(plain <= multipliers) and abs(plain @ labels) <= 1e-15 * max(1.0, float(np.sum(plain)))


@pytest.mark.parametrize("kind", BIASED)
def test_unbalanced_multipliers_bound_the_optimum_from_below(kind: Any) -> None:
    gram, labels = sample(2, 14)[0], np.where(np.arange(14) < 4, 1.0, -1.0)
    problem = made(kind, gram, labels, 0.5)
    best = optimum(problem)
    without = dataclasses.replace(problem, intercept=False)
    rng = np.random.default_rng(3)
    for size in (1e-9, 1e-3, 1.0):
        perturbed = {"margins": best.multipliers["margins"] + size * rng.uniform(size=14) * (labels > 0)}
        bound = float(problem.dual_bound(perturbed))
        assert best.value - 20 * size - 1e-8 <= bound <= best.value + 1e-14
        assert INTERVAL.upper(problem.dual_bound(perturbed, INTERVAL)) <= best.value
    # no repair at all would be a false bound: the SVM without intercept has the larger optimum
    assert float(without.dual_bound(optimum(without).multipliers)) > best.value + 1e-3


@pytest.mark.parametrize("kind", BIASED)
def test_a_restored_intercept_is_the_best_one(kind: Any) -> None:
    gram, labels = sample(4, 11)
    problem, rng = made(kind, gram, labels, 0.1), np.random.default_rng(5)
    for _ in range(10):
        point = problem.restore({"alpha": rng.normal(size=11), "bias": np.asarray(rng.normal())})
        value, fitted = float(problem.objective(point)), gram @ point["alpha"]
        others = [float(problem.objective({**point, "bias": b})) for b in labels - fitted]
        assert value == pytest.approx(min(others), abs=1e-14)
        assert float(problem.objective(problem.restore({"alpha": point["alpha"]}))) == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize("kind", BIASED)
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("num", [FLOAT, INTERVAL])
def test_one_class_alone_has_the_constant_for_its_answer(kind: Any, side: float, num: Any) -> None:
    gram, _ = sample(6, 9)
    problem = made(kind, gram, np.full(9, side), 0.2)
    trivial = problem.trivial_point()
    assert problem.scale() == 1.0 and float(trivial["bias"]) == side
    found = certify(problem, trivial, None, num)
    assert found.upper == pytest.approx(0.0, abs=1e-14) and found.lower == pytest.approx(0.0, abs=1e-14)
    assert (found.upper == found.lower == found.gap == 0.0) == (num is FLOAT)
    for solver in (backend.name for backend in installed()):
        assert solve(problem, solver, tol=1e-6).optimal


@pytest.mark.parametrize("kind", BIASED)
def test_points_with_an_intercept_are_pickled(kind: Any) -> None:
    gram, labels = sample(2, 14)
    solution = optimum(made(kind, gram, labels, 0.5))
    again = pickle.loads(pickle.dumps(solution))
    assert float(again.point["bias"]) == float(solution.point["bias"])
    assert again.certificate == solution.certificate


@pytest.mark.parametrize("strength", [1.0, 0.03, 1e-3])
@pytest.mark.parametrize("balance", [0.0, 0.9])
def test_the_biased_svm_is_that_of_libsvm(strength: float, balance: float) -> None:
    from sklearn.svm import SVC

    gram, y = small_kernel(np.random.default_rng(7), 60)
    labels = np.where(y > balance, 1.0, -1.0)
    problem = HingeSVM(gram, labels, Penalty(strength), intercept=True)
    peer = SVC(C=1.0 / (60 * strength), kernel="precomputed", tol=1e-10).fit(gram, labels)
    alpha = np.zeros(60)
    alpha[peer.support_] = peer.dual_coef_[0]
    theirs = certify(problem, {"alpha": alpha, "bias": peer.intercept_[0]})
    ours = optimum(problem)
    assert theirs.multipliers_from == "point" and theirs.relative_gap < 1e-6
    assert theirs.lower <= ours.value and ours.certificate.lower <= theirs.upper
    assert theirs.upper == pytest.approx(ours.value, abs=theirs.gap + ours.certificate.gap + 1e-15)
    step = alpha - ours.point["alpha"]
    assert math.sqrt(max(step @ gram @ step, 0.0)) <= problem.distance(theirs.gap) + problem.distance(ours.certificate.gap) + 1e-9


# Two forms, one path.


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("strength", [1.0, 0.2, 0.05, 0.01])
def test_the_constrained_solution_is_the_penalised_one_of_its_norm(intercept: bool, strength: float) -> None:
    gram, labels = sample(8, 20)
    one = optimum(HingeSVM(gram, labels, Penalty(strength), intercept))
    alpha = one.point["alpha"]
    capacity = float(alpha @ gram @ alpha)
    ball = HingeSVM(gram, labels, Capacity(capacity), intercept)
    other = optimum(ball)
    step = alpha - other.point["alpha"]
    assert math.sqrt(max(step @ gram @ step, 0.0)) <= 1e-3 * math.sqrt(capacity)
    # the multipliers of one form are those of the other: v = λf
    assert certify(ball, one.point, one.multipliers).relative_gap < 1e-7
    v = other.multipliers["margins"] * labels
    assert math.sqrt(v @ gram @ v / capacity) == pytest.approx(strength, rel=1e-3)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("capacity", [0.5, 20.0])
def test_the_spread_of_the_ball_holds_the_optimum(intercept: bool, capacity: float) -> None:
    gram, labels = sample(9, 15)
    problem, rng = HingeSVM(gram, labels, Capacity(capacity), intercept), np.random.default_rng(0)
    best = optimum(problem)
    for size in (0.0, 1e-6, 1e-2, 1.0):
        point = problem.restore({**best.point, "alpha": best.point["alpha"] + size * rng.normal(size=15)})
        step = point["alpha"] - best.point["alpha"]
        length = math.sqrt(max(float(step @ gram @ step), 0.0))
        reach = problem.ball_distance(best.point, best.multipliers)  # of our own solution, which stands in for the optimum
        assert length <= problem.ball_distance(point, best.multipliers) + reach
        assert length <= problem.distance(math.nan, point) + reach
    assert reach < 1e-2 * math.sqrt(capacity)
    assert problem.distance(0.0) == 2.0 * math.sqrt(capacity)


def test_a_small_ball_holds_the_mean_classifier() -> None:
    gram, labels = sample(10, 12)
    mean = labels / math.sqrt(labels @ gram @ labels)
    found = certify(HingeSVM(gram, labels, Capacity(1.0)), {"alpha": mean})
    linear = certify(MeanClassifier(gram, labels), {"alpha": mean})
    assert found.relative_gap < 1e-13 and found.upper == pytest.approx(linear.upper, rel=1e-14)


def test_the_penalised_mean_is_the_svm_above_its_threshold_only() -> None:
    gram, labels = sample(10, 12)
    threshold = float(np.max(labels * (gram @ labels)) / 12)
    for factor, same in ((1.0 + 1e-12, True), (3.0, True), (0.7, False)):
        strength = factor * threshold
        point = {"alpha": labels / (12 * strength)}
        mean = certify(MeanClassifier(gram, labels, Penalty(strength)), point, None, INTERVAL)
        assert mean.relative_gap < 1e-14 and mean.lower == pytest.approx(mean.upper, abs=1e-12)
        assert (certify(HingeSVM(gram, labels, Penalty(strength)), point).relative_gap < 1e-12) == same


def test_classes_that_cancel_leave_nothing_to_learn() -> None:
    gram, labels = np.ones((4, 4)), np.array([1.0, -1.0, 1.0, -1.0])
    zero = {"alpha": np.zeros(4)}
    for problem in (MeanClassifier(gram, labels, Penalty(1e-3)), MeanClassifier(gram, labels), HingeSVM(gram, labels, Penalty(2.0))):
        found = certify(problem, zero)
        assert found.upper == 1.0 and found.gap <= (0.0 if problem.name != "hinge-svm" else 1.0)
        assert solve(problem, "clarabel").value == pytest.approx(1.0, abs=1e-8)
    hull = HingeSVMHull(gram, labels, 1e-3)
    assert certify(hull, hull.trivial_point()).relative_gap == 0.0


# The hull.


def by_grid(problem: HingeSVMHull, steps: int) -> float:
    n = len(problem.labels)
    best = math.inf
    for counts in itertools.product(range(steps + 1), repeat=n - 1):
        if sum(counts) <= steps:
            weights = np.array([*counts, steps - sum(counts)]) / steps
            best = min(best, float(problem.objective({"weights": weights})))
    return best


@pytest.mark.parametrize("strength", [2.0, 1.0, 0.3, 0.01])
@pytest.mark.parametrize("size", [0.5, 1.0, 3.0])
def test_the_hull_against_every_weight_on_a_grid(strength: float, size: float) -> None:
    rng = np.random.default_rng(12)
    for n, steps in ((1, 1), (2, 2000), (3, 120)):
        features = size * rng.normal(size=(n, 2))
        labels = np.where(rng.normal(size=n) > 0, 1.0, -1.0)
        problem = HingeSVMHull(features @ features.T, labels, strength)
        best = optimum(problem)
        rough = by_grid(problem, steps)
        assert best.value <= rough + 1e-8 * problem.scale()
        steepest = float(np.max(np.abs(features @ features.T))) * (1.0 + strength)
        assert rough <= best.value + steepest * 2.0 * n / steps


def test_hull_and_svm_differ() -> None:
    # ψ_1 = (1, 0), ψ_2 = (0, ½), λ = 2: every hinge is linear, the SVM's solution is ω_S/λ = (¼, ⅛), which no convex weights reach
    gram, labels = np.diag([1.0, 0.25]), np.array([1.0, 1.0])
    hull = HingeSVMHull(gram, labels, 2.0)
    found = certify(hull, {"weights": np.array([0.35, 0.65])}, None, INTERVAL)
    assert found.relative_gap < 1e-13 and found.upper == pytest.approx(0.971875)
    svm = HingeSVM(gram, labels, Penalty(2.0))
    exact = certify(svm, {"alpha": np.array([0.25, 0.25])}, num=RATIONAL)
    assert exact.gap == 0.0 and exact.upper == 0.921875 < found.lower
    assert certify(svm, {"alpha": np.array([0.35, 0.65])}).relative_gap > 0.04


def test_at_lambda_one_the_hull_is_herding() -> None:
    gram, labels = sample(13, 10)
    problem = HingeSVMHull(gram, labels, 1.0)
    mean = problem.trivial_point()
    square = float(labels @ gram @ labels) / 100
    assert certify(problem, mean).relative_gap < 1e-15
    assert certify(problem, mean, num=RATIONAL).gap < 1e-15  # K = 1 + rounding on its diagonal may pass 1 by nothing
    assert float(problem.objective(mean)) == pytest.approx(1 - square / 2, rel=1e-14)
    assert certify(dataclasses.replace(problem, regularization=0.5), mean).relative_gap > 1e-4
    # with long feature vectors hinges bend, and equal weights are not best even at λ = 1
    long = HingeSVMHull(4.0 / float(np.max(labels * (gram @ labels) / 10)) * gram, labels, 1.0)
    assert optimum(long).value < 0.999 * float(long.objective(mean))


def test_hull_bounds_are_minima_of_the_lagrangian_after_linearising_the_penalty() -> None:
    rng = np.random.default_rng(14)
    features, labels = rng.normal(size=(4, 2)), np.array([1.0, -1.0, -1.0, 1.0])
    problem = HingeSVMHull(features @ features.T, labels, 0.7)
    atoms = labels[:, None] * features
    for _ in range(5):
        a, beta = rng.uniform(0, 0.25, size=4), rng.normal(size=4)
        v = atoms.T @ beta
        corners = [np.sum(a) - a @ atoms @ psi + 0.7 * (v @ psi) - 0.35 * v @ v for psi in atoms]
        assert float(problem.dual_bound({"margins": a, "direction": beta})) == pytest.approx(min(corners), rel=1e-12)


def test_hull_points_are_exactly_on_the_simplex() -> None:
    gram, labels = sample(15, 6)
    problem = HingeSVMHull(gram, labels, 0.3)
    for weights in ([3.0, -1.0, 0.1, 0.0, 1e-300, 7.0], [0.0] * 6, [-1.0] * 6, [1e308] * 6, [1e-320] + [0.0] * 5):
        exact = problem.restore({"weights": np.array(weights)}, RATIONAL)["weights"]
        assert sum(exact) == 1 and min(exact) >= 0
        plain = problem.restore({"weights": np.array(weights)})["weights"]
        assert np.allclose(plain, exact.astype(float), rtol=1e-14)


def test_a_multiplier_without_direction_is_named() -> None:
    gram, labels = sample(15, 6)
    with pytest.raises(InvalidProblem, match="no entry 'direction'"):
        certify(HingeSVMHull(gram, labels, 0.3), {"weights": np.ones(6)}, {"margins": np.zeros(6)})


# Certificates at the tolerance of conformance, in every arithmetic.


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("solver", ["clarabel", "ecos", "scs"])
def test_answers_of_all_back_ends_are_certified(kind: Any, solver: str) -> None:
    gram, labels = sample(16, 24)
    problem = made(kind, gram, labels, 0.3)
    solution = solve(problem, solver, tol=1e-6, rigorous=True)
    assert solution.certificate is not None and solution.certificate.lower <= solution.certificate.upper
    assert solution.optimal or solver == "scs"
    for name in kind.arithmetics:
        again = solve(problem, solver, tol=1e-6, rigorous=name).certificate
        assert again is not None and again.arithmetic == name
        assert again.relative_gap < (1e-3 if solver == "scs" else 1e-6)


def test_a_rigorous_gap_is_never_wider_than_the_rigorous_bounds() -> None:
    line = np.outer(np.random.default_rng(17).normal(size=30), [1.0, 2.0])
    problem = HingeSVM(line @ line.T, np.where(np.arange(30) % 3 == 0, 1.0, -1.0), Capacity(1.0), intercept=True)
    solution = solve(problem, "clarabel", tol=1e-6)
    found = certify(problem, dict(solution.point or {}), dict(solution.multipliers or {}), INTERVAL)
    assert found.lower <= found.upper and found.gap <= math.nextafter(found.upper - found.lower, math.inf)


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("size", [1e-140, 1e-9, 1e9, 1e140])
def test_kernels_of_any_size_end_in_a_status_without_a_warning(kind: Any, size: float) -> None:
    gram, labels = sample(18, 12)
    scalar = 0.5 / size if "capacity" in kind.parameters else 0.5 if kind is HingeSVMHull else 0.5 * size
    problem = made(kind, size * gram, labels, scalar)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(problem, "clarabel", tol=1e-6)
    assert solution.status in (Status.OPTIMAL, Status.GAP_OPEN, Status.FAILED)
    assert solution.optimal or size == 1e140
    if kind.name.startswith("hinge-svm") and kind is not HingeSVMHull:  # the kernel's unit is free: the optimum is that of size 1
        assert solution.optimal
        assert solution.value == pytest.approx(optimum(made(kind, gram, labels, 0.5)).value, abs=1e-5)


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("twist", ["collinear", "tied", "duplicated", "a zero feature vector"])
def test_ugly_samples_are_solved(kind: Any, twist: str) -> None:
    rng = np.random.default_rng(19)
    features = rng.normal(size=(18, 3))
    labels = np.where(features[:, 0] + rng.normal(size=18) > 0, 1.0, -1.0)
    if twist == "collinear":
        features = np.outer(features[:, 0], [1.0, -2.0, 0.5])
    elif twist == "tied":
        features = np.ones((18, 3))
    elif twist == "duplicated":
        features, labels = np.repeat(features[:6], 3, axis=0), np.tile([1.0, 1.0, -1.0], 6)
    else:
        features[::3] = 0.0
    problem = made(kind, features @ features.T, labels, 0.1)
    for solver in {"clarabel", "ecos"} & {backend.name for backend in installed()}:
        solution = solve(problem, solver, tol=1e-6, rigorous=True)
        assert solution.optimal, solution
        natural, _ = problem.normalised()
        assert math.isfinite(natural.scale())


# What comes in.


def toy(features: Array, targets: Array, task: str = "binary") -> Dataset:
    return Dataset("toy", features, tuple(f"x{i}" for i in range(features.shape[1])), targets, task)


@pytest.mark.parametrize("kind", OURS)
def test_recipes_take_a_zero_feature_vector_and_classes_that_cancel(kind: Any) -> None:
    features = np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, 0.5], [1.0, 2.0]])
    problem = kind.from_data(toy(features, np.array([1.0, 1.0, -1.0, -1.0])), np.random.default_rng(0), similarity="linear")
    assert problem.gram[0, 0] == 0.0
    assert solve(problem, "clarabel", tol=1e-6).optimal
    cancel = kind.from_data(toy(features[[1, 3]], np.array([1.0, -1.0])), np.random.default_rng(0), similarity="linear")
    assert np.allclose(cancel.labels @ cancel.gram @ cancel.labels, 0.0)
    assert solve(cancel, "clarabel", tol=1e-6).value == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("kind", OURS)
def test_recipes_take_any_task_and_their_own_parameter(kind: Any) -> None:
    rng = np.random.default_rng(0)
    data = toy(rng.normal(size=(30, 2)), rng.normal(size=30), "regression")
    options = {name: 0.7 for name in kind.parameters}
    problem = kind.from_data(data, np.random.default_rng(1), samples=20, standardise=True, **options)
    assert len(problem.labels) == 20 and set(problem.labels) == {-1.0, 1.0}
    assert all(getattr(problem, name) == 0.7 for name in options)


@pytest.mark.parametrize(
    ("targets", "labels"),
    [
        ([1, -1, 1, 1], [1, -1, 1, 1]),  # most are +1, which is then the median
        ([1, 1, 1, 1], [1, 1, 1, 1]),
        ([-1, -1, -1, -1], [-1, -1, -1, -1]),
        ([0, 1, 1, 1], [-1, 1, 1, 1]),
        ([2, 1, 1, 1], [1, -1, -1, -1]),
        ([0, 1, 2, 2], [-1, -1, 1, 1]),
        ([0, 2, 2, 2], [-1, 1, 1, 1]),
        ([0, 1, 3, 3, 3], [-1, -1, 1, 1, 1]),
        ([5, 5, 5, 5], [1, 1, 1, 1]),
    ],
)
def test_recipes_keep_the_classes_of_a_file(targets: list[float], labels: list[float]) -> None:
    data = toy(np.arange(2.0 * len(targets)).reshape(-1, 2), np.array(targets, dtype=float), "regression")
    assert HingeSVM.from_data(data, np.random.default_rng(0)).labels.tolist() == labels


@pytest.mark.parametrize("kind", OURS)
def test_bad_input_is_named(kind: Any) -> None:
    good: dict[str, Any] = {"gram": np.eye(3), "labels": np.array([1.0, -1.0, 1.0]), "number": 1.0}
    made(kind, **good)
    bad: list[tuple[str, Any, str]] = [
        ("labels", np.array([1.0, 0.0, 2.0]), r"labels: 2 of 3 labels are none of -1, 1 \(first at index 1: 0\)"),
        ("labels", np.array([1.0, -1.0]), "gram"),
        ("gram", np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "gram: not positive semidefinite, the smallest eigenvalue"),
        ("gram", np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "gram: not symmetric"),
        ("gram", np.diag([1.0, np.inf, 1.0]), "gram: 1 of 9 values is not finite"),
        ("gram", 1e160 * np.eye(3), "gram: the largest entry is .* float64 cannot hold its square"),
        ("gram", 1e-150 * np.eye(3), "gram: the largest entry is .* float64 cannot hold its square"),
    ]
    bad += [("number", value, f"{name}: .* a number > 0 needed") for name in kind.parameters for value in (0.0, -1.0)]
    bad += [("number", math.inf, f"{name}: inf is not finite") for name in kind.parameters]
    for name, value, message in bad:
        with pytest.raises(InvalidProblem, match=message):
            made(kind, **{**good, name: value})


@pytest.mark.parametrize("kind", OURS)
def test_points_and_multipliers_of_the_wrong_size_are_named(kind: Any) -> None:
    problem = made(kind, np.eye(3), np.array([1.0, -1.0, 1.0]), 1.0)
    key = "weights" if kind is HingeSVMHull else "alpha"
    with pytest.raises(InvalidProblem, match=rf"point: {key} has shape \(2,\), expected \(3,\)"):
        certify(problem, {key: np.ones(2)})
    with pytest.raises(InvalidProblem, match=f"point: {key} is not finite"):
        certify(problem, {key: np.full(3, np.nan)})
    if "margins" in problem.multipliers(problem.trivial_point()):
        with pytest.raises(InvalidProblem, match=r"multipliers: margins has shape \(4,\), expected \(3,\)"):
            certify(problem, problem.trivial_point(), {"margins": np.ones(4)})
