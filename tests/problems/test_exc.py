"""EXC and IMC: formulas written out, duals, balanced multipliers, bounds on the thresholds, the order that comes by itself, bad input."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.core import registry
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import Dataset, load_dataset
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.examples import exc as exc_cases
from simopt.problems.exc_fixed import EXCFixed
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.imc_ordinal import IMCOrdinal
from simopt.problems.kernel_exc import KernelEXC
from simopt.problems.thresholds.constant_scores import best_constant_thresholds, best_separate_thresholds, equispaced
from simopt.solving.entry_points import certify

ANGLES = np.linspace(0.0, 2.0 * np.pi, 20001)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
NAMES = ["exc-ordinal", "exc-ordinal-penalised", "exc-fixed", "exc-fixed-penalised", "imc-ordinal", "imc-ordinal-penalised", "kernel-exc"]
registry.load("problems")


# The formulas.


def written_out(f: Array, labels: Array, b: Array, gamma: float) -> float:
    ends = np.concatenate([[-math.inf], b, [math.inf]])
    return sum(max(ends[k - 1] + gamma - v, 0.0) + max(v - ends[k] + gamma, 0.0) for v, k in zip(f, labels.astype(int), strict=True)) / len(
        f
    )


def implicit_written_out(f: Array, labels: Array, b: Array, gamma: float) -> float:
    total = 0.0
    for v, k in zip(f, labels.astype(int), strict=True):
        for j, end in enumerate(b, start=1):
            total += max(end + gamma - v, 0.0) if j < k else max(v - end + gamma, 0.0)
    return total / len(f)


def test_objectives_match_the_formulas_written_out() -> None:
    rng = np.random.default_rng(3)
    features, labels = exc_cases.instance(rng, 12, 2, 4)
    w, b = rng.normal(size=2), np.sort(rng.normal(size=3))
    f, point = features @ w, {"w": w, "thresholds": b}
    explicit, implicit = written_out(f, labels, b, 0.7), implicit_written_out(f, labels, b, 0.7)
    assert float(EXCOrdinal(features, labels, 4, 0.7, bound=Ball(9.0)).objective(point)) == pytest.approx(explicit, rel=1e-13)
    assert float(EXCFixed(features, labels, 4, b, 0.7, bound=Ball(9.0)).objective(point)) == pytest.approx(explicit, rel=1e-13)
    assert float(IMCOrdinal(features, labels, 4, 0.7, bound=Ball(9.0)).objective(point)) == pytest.approx(implicit, rel=1e-13)
    penalty = 0.2 * float(w @ w)
    penalised = EXCOrdinal(features, labels, 4, 0.7, bound=Penalty(0.4))
    assert float(penalised.objective(point)) == pytest.approx(explicit + penalty, rel=1e-13)
    fixed = EXCFixed(features, labels, 4, b, 0.7, bound=Penalty(0.4))
    assert float(fixed.objective(point)) == pytest.approx(explicit + penalty, rel=1e-13)
    assert float(IMCOrdinal(features, labels, 4, 0.7, bound=Penalty(0.4)).objective(point)) == pytest.approx(implicit + penalty)
    alpha = rng.normal(size=12)
    gram = features @ features.T
    expected = written_out(gram @ alpha, labels, b, 0.7) + 0.2 * float(alpha @ gram @ alpha)
    kernel = KernelEXC(gram, labels, 4, 0.7, regularization=0.4)
    assert float(kernel.objective({"alpha": alpha, "thresholds": b})) == pytest.approx(expected, rel=1e-12)


def test_two_classes_make_all_forms_one() -> None:
    features, labels = exc_cases.instance(np.random.default_rng(4), 14, 3, 2)
    point = {"w": np.array([0.3, -0.2, 0.9]), "thresholds": np.array([0.17])}
    explicit = EXCOrdinal(features, labels, 2, bound=Penalty(0.1))
    implicit = IMCOrdinal(features, labels, 2, bound=Penalty(0.1))
    kernel = KernelEXC(features @ features.T, labels, 2, regularization=0.1)
    alpha = np.linalg.pinv(features.T) @ point["w"]
    value = float(explicit.objective(point))
    assert float(implicit.objective(point)) == pytest.approx(value, rel=1e-14)
    assert float(kernel.objective({"alpha": alpha, "thresholds": point["thresholds"]})) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("labels", [[1, 2, 3, 3], [1, 1, 4, 4, 4], [2, 2], [4], [3, 1, 4, 2, 2, 1]])
@pytest.mark.parametrize(("gamma", "delta"), [(1.0, 0.0), (0.3, 0.5), (1.0, 3.0)])
def test_best_constant_thresholds_against_every_combination_of_kinks(labels: list[int], gamma: float, delta: float) -> None:
    given, zero = np.array(labels, dtype=float), np.zeros(len(labels))
    j = np.arange(1, 4)
    kinks = np.unique(np.concatenate([sign * gamma - j * delta for sign in (1, -1)]))
    choices = (np.array(c) + j * delta for c in itertools.combinations_with_replacement(kinks, 3))
    best = min(written_out(zero, given, b, gamma) for b in choices)
    found = best_constant_thresholds(given, 4, gamma, delta)
    assert np.all(np.diff(found) >= delta - 1e-12)
    assert written_out(zero, given, found, gamma) == pytest.approx(best, abs=1e-12)
    # finer steps of one threshold at a time, or of all of them, do not improve on it: the problem is convex
    rng = np.random.default_rng(0)
    separate = best_separate_thresholds(given, 4, gamma)
    assert np.all(np.diff(separate) >= 0.0)
    least = implicit_written_out(zero, given, separate, gamma)
    for _ in range(200):
        other = np.maximum.accumulate(found - j * delta + 0.3 * rng.normal(size=3)) + j * delta
        assert written_out(zero, given, other, gamma) >= best - 1e-12
        assert implicit_written_out(zero, given, separate + 0.3 * rng.normal(size=3), gamma) >= least - 1e-12


def test_equispaced_thresholds_are_halfway_between_labels() -> None:
    np.testing.assert_allclose(equispaced(5, centre=3.0), [1.5, 2.5, 3.5, 4.5])
    np.testing.assert_allclose(equispaced(4, 2.0), [-2.0, 0.0, 2.0])
    for bad in ({"classes": 1}, {"classes": 3, "spacing": 0.0}, {"classes": 3, "centre": math.nan}):
        with pytest.raises(InvalidProblem):
            equispaced(**bad)


def test_thresholds_of_the_recipe_are_listed_or_at_equal_steps() -> None:
    data = load_dataset("concrete")
    for form in EXCFixed.each_form():
        options: dict[str, Any] = {"samples": 60, "landmarks": 5, "bins": 4}
        usual = form.from_data(data, np.random.default_rng(0), **options)
        np.testing.assert_array_equal(usual.thresholds, [-1.0, 0.0, 1.0])
        np.testing.assert_array_equal(
            form.from_data(data, np.random.default_rng(0), **options, thresholds="-1, 0.5,2").thresholds, [-1, 0.5, 2]
        )
        for wrong, message in (
            ("1,zero,2", "thresholds: 'zero' is not a number"),
            ([1.0, 0.0, 2.0], "entry 0 is 1 and entry 1 is 0"),
            ("1", "3"),
        ):
            with pytest.raises(InvalidProblem, match=message):
                form.from_data(data, np.random.default_rng(0), **options, thresholds=wrong)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_the_labels_of_a_binary_data_set_are_two_classes(fraction: float) -> None:
    """However frequent they are: cut at equal frequencies, all of 4 and 36 labels were one class."""
    features, labels = (
        np.random.default_rng(0).normal(size=(40, 2)),
        np.repeat([-1.0, 1.0], [round(40 * fraction), round(40 * (1 - fraction))]),
    )
    problem = EXCOrdinal.from_data(Dataset("own", features, ("a", "b"), labels, task="binary"), np.random.default_rng(0), landmarks=3)
    assert problem.classes == 2
    np.testing.assert_array_equal(problem.labels, (labels + 3.0) / 2.0)


def test_whole_numbered_targets_are_classes_as_they_are_and_others_are_cut() -> None:
    features = np.random.default_rng(0).normal(size=(30, 2))
    draw = np.random.default_rng(0)

    def made(targets: Any, **options: Any) -> Any:
        data = Dataset("own", features, ("a", "b"), targets)
        return EXCOrdinal.from_data(data, draw, landmarks=3, **options)

    grades = np.repeat([0.0, 1.0, 4.0], 10)
    problem = made(grades)
    assert problem.classes == 5
    np.testing.assert_array_equal(problem.labels, grades + 1.0)
    assert made(grades, bins=2).classes == 2
    for measured in (np.arange(30.0), np.linspace(0.0, 1.0, 30)):
        np.testing.assert_array_equal(made(measured).labels, np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 6))
    slip = grades.copy()
    slip[12] = 1.5
    with pytest.raises(InvalidProblem, match=r"data set own: the target of row 12 \(from 0\) is 1\.5, and 29 of 30 are whole.*bins=5"):
        made(slip)
    assert made(slip, bins=3).classes == 3
    for bins in (None, 4):
        with pytest.raises(InvalidProblem, match=r"all 30 targets are 2; at least two labels"):
            made(np.full(30, 2.0), bins=bins)


# Multipliers.


def random_multipliers(problem: Any, rng: np.random.Generator, size: float = 1.0) -> dict[str, Array]:
    n, order = len(problem.labels), problem.classes - 2
    above, below = (rng.uniform(0, size / n, rows.size) for rows in (problem.high_rows, problem.low_rows))
    return {"above": above, "below": below, "order": rng.uniform(0, size, order)}


@pytest.mark.parametrize("form", ["delta 0", "delta 0.5", "implicit"])
def test_balanced_multipliers_balance_exactly_and_are_cut_only(form: str) -> None:
    rng = np.random.default_rng(4)
    features, labels = exc_cases.instance(rng, 15, 2, 5)
    problem: Any = IMCOrdinal(features, labels, 5, bound=Ball(2.0))
    if form != "implicit":
        problem = EXCOrdinal(features, labels, 5, 1.0, float(form.split()[1]), bound=Ball(2.0))
    for _ in range(5):
        given = random_multipliers(problem, rng, 1.3)
        repaired = problem.admitted(RATIONAL, given, "balanced")
        balance = problem.imbalance(RATIONAL, repaired.above, repaired.below)
        order = [Fraction(0), *([] if repaired.order is None else repaired.order), Fraction(0)]
        assert len(order) == (2 if form == "implicit" else 5)
        steps = np.diff(order) if repaired.order is not None else np.zeros(4, dtype=int)
        assert all(part + step == 0 for part, step in zip(balance, steps, strict=True)), "exactly, in fractions"
        assert all(nu >= 0 for nu in order)
        for before, after in zip(problem.capped(RATIONAL, given), (repaired.above, repaired.below), strict=True):
            assert np.all(after <= before) and np.all(after >= 0)
        plain = problem.admitted(FLOAT, given, "balanced")
        np.testing.assert_allclose(plain.above, repaired.above.astype(float), rtol=1e-12, atol=1e-18)
        enclosed = problem.admitted(INTERVAL, given, "balanced")
        assert np.all(enclosed.below.low <= repaired.below.astype(float) + 1e-18) and np.max(enclosed.below.rad) < 1e-14


def test_balancing_keeps_multipliers_that_balance_already() -> None:
    rng = np.random.default_rng(5)
    features, labels = exc_cases.instance(rng, 20, 2, 4)
    for problem in (EXCOrdinal(features, labels, 4, bound=Ball(2.0)), IMCOrdinal(features, labels, 4, bound=Ball(2.0))):
        once = problem.admitted(FLOAT, random_multipliers(problem, rng), "balanced")
        twice = problem.admitted(FLOAT, {"above": once.above, "below": once.below}, "balanced")
        np.testing.assert_allclose(twice.above, once.above, rtol=1e-13, atol=1e-17)
        np.testing.assert_allclose(twice.below, once.below, rtol=1e-13, atol=1e-17)


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros(50)])
def test_multipliers_of_the_wrong_size_are_refused(bad: Array) -> None:
    features, labels = exc_cases.instance(np.random.default_rng(0), 20, 2, 4)
    with pytest.raises(InvalidProblem, match=r"multipliers: above has (shape \(.*\)|. values), expected"):
        certify(EXCOrdinal(features, labels, 4, bound=Ball(1.0)), {"w": np.zeros(2), "thresholds": np.zeros(3)}, {"above": bad})


# Bounds on the thresholds.


def test_clipping_thresholds_into_the_box_never_raises_the_loss() -> None:
    rng = np.random.default_rng(5)
    features, labels = exc_cases.instance(rng, 15, 2, 4)
    problems: list[Any] = [EXCOrdinal(features, labels, 4, 0.5, delta, bound=Ball(1.0)) for delta in (0.0, 0.4, 2.0)]
    for problem in [*problems, IMCOrdinal(features, labels, 4, 0.5, bound=Ball(1.0))]:
        delta = getattr(problem, "delta", -math.inf)
        low, high = problem.box(math.inf)
        for _ in range(50):
            b = 8.0 * rng.normal(size=3)
            if delta > -math.inf:
                b = np.cumsum(np.concatenate([b[:1], delta + 6.0 * rng.exponential(size=2)]))
            direction = rng.normal(size=2)
            point = {"w": direction / np.linalg.norm(direction), "thresholds": b}
            restored = problem.restore(point)
            assert np.all(restored["thresholds"] >= low) and np.all(restored["thresholds"] <= high)
            assert np.all(np.diff(restored["thresholds"]) >= max(delta, 0.0) - 1e-12)
            assert float(problem.objective(restored)) <= float(problem.objective(point)) + 1e-12


@pytest.mark.parametrize("implicit", [False, True])
def test_bounds_are_minima_of_the_lagrangian_over_ball_and_box(implicit: bool) -> None:
    rng = np.random.default_rng(6)
    features, labels = np.array([[1.0, 0.2], [-0.5, 1.0], [0.3, -0.8]]), np.array([1.0, 2.0, 3.0])
    bound = Ball(1.5)
    problem: Any = IMCOrdinal(features, labels, 3, 0.4, bound=bound)
    if not implicit:
        problem = EXCOrdinal(features, labels, 3, 0.4, 0.3, bound=bound)
    for _ in range(5):
        given = random_multipliers(problem, rng)
        low, high = problem.box(math.inf)

        def lagrangian(w: Array, b: Array, multipliers: dict[str, Array] = given) -> float:
            over, under = problem.arguments(FLOAT, features @ w, b)
            hinges = float(multipliers["above"] @ over + multipliers["below"] @ under)
            return hinges if implicit else hinges + float(multipliers["order"][0] * (0.3 - b[1] + b[0]))

        corners = [np.array(corner) for corner in itertools.product(*zip(low, high, strict=True))]
        best_corner = min(corners, key=lambda b: lagrangian(np.zeros(2), b))
        best = min(lagrangian(1.5 * CIRCLE[:, i], best_corner) for i in range(0, len(ANGLES), 4))
        bound = float(problem.lower(FLOAT, problem.admitted(FLOAT, given, "given"), math.inf))
        assert bound == pytest.approx(best, abs=1e-5)
        assert float(problem.dual_bound(given)) >= bound


def test_bounds_of_fixed_thresholds_are_minima_of_the_lagrangian() -> None:
    rng = np.random.default_rng(7)
    features, labels = np.array([[1.0, 0.2], [-0.5, 1.0], [0.3, -0.8]]), np.array([1.0, 2.0, 3.0])
    b = np.array([-0.3, 0.5])
    problem = EXCFixed(features, labels, 3, b, 0.4, bound=Ball(1.5))
    for _ in range(5):
        given = random_multipliers(problem, rng)
        f = 1.5 * features @ CIRCLE
        values = given["above"] @ (f[:2] - b[:, None] + 0.4) + given["below"] @ (b[:, None] + 0.4 - f[1:])
        assert float(problem.dual_bound(given)) == pytest.approx(float(np.min(values)), abs=1e-6)


def test_a_hinge_out_of_reach_has_no_multiplier() -> None:
    features, labels = np.array([[1.0], [-1.0]]), np.array([1.0, 2.0])
    problem = EXCFixed(features, labels, 3, np.array([0.0, 1e12]), 0.5, bound=Ball(2.0))
    clean = {"above": np.array([0.5, 0.0]), "below": np.array([0.5])}
    noisy = {**clean, "above": np.array([0.5, 1e-9])}
    assert float(problem.dual_bound(noisy)) == float(problem.dual_bound(clean)) > -10.0


# The order of IMC's thresholds.


def test_sorting_the_thresholds_of_imc_never_raises_its_loss() -> None:
    rng = np.random.default_rng(8)
    for trial in range(200):
        f, labels = rng.normal(size=9), rng.integers(1, 6, size=9).astype(float)
        b, gamma = rng.normal(size=4), (0.01, 0.3, 2.0)[trial % 3]
        assert implicit_written_out(f, labels, np.sort(b), gamma) <= implicit_written_out(f, labels, b, gamma) + 1e-12


def test_the_thresholds_of_imc_are_ordered_at_its_optimum_though_nothing_demands_it() -> None:
    for seed in range(4):
        features, labels = exc_cases.instance(np.random.default_rng(seed), 20, 2, 5)
        labels = labels[np.random.default_rng(seed + 50).permutation(20)]  # nothing to learn: thresholds crowd
        problem = IMCOrdinal(features, labels, 5, bound=Penalty(0.01))
        declaration = problem.declare()
        assert all(row.label != "order" for row in declaration.constraints)
        declaration.solve(solver="CLARABEL")
        b = next(v for v in declaration.variables() if v.name() == "thresholds").value
        assert np.all(np.diff(b) >= -1e-6)


# Duals.


def dual_solution(problem: Any) -> tuple[float, dict[str, Any], dict[str, Any]]:
    natural, back = problem.normalised()
    declaration = natural.declare_dual()
    assert isinstance(declaration.objective, cp.Maximize) and declaration.is_dcp()
    assert all(row.label for row in declaration.constraints)
    declaration.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    found = {variable.name(): np.asarray(variable.value) for variable in declaration.variables()}
    rows = {row.label: np.asarray(row.dual_value) for row in declaration.constraints if not isinstance(row.dual_value, list)}
    return float(declaration.value) * problem.scale() / natural.scale(), back.multipliers(found), rows


def primal_solution(problem: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    natural, back = problem.normalised()
    declaration = natural.declare()
    declaration.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    point = {variable.name(): np.asarray(variable.value) for variable in declaration.variables()}
    duals = {row.label: np.asarray(row.dual_value) for row in declaration.constraints if not isinstance(row.dual_value, list)}
    return back.point(point), back.multipliers(duals)


def test_the_multipliers_of_the_dual_are_the_solution() -> None:
    features, labels = exc_cases.instance(np.random.default_rng(9), 24, 3, 4)
    for form in (EXCOrdinal, IMCOrdinal):
        problem: Any = form(features, labels, 4, bound=Penalty(0.05))
        _, multipliers, rows = dual_solution(problem)
        _, back = problem.normalised()
        assert np.all(np.diff(rows["thresholds"]) >= 0.0)
        point = back.point({"w": rows["w"], "thresholds": rows["thresholds"]})
        assert certify(problem, point, multipliers).relative_gap < 1e-6


# Against exact optima: d = 1, so that ‖w‖ ≤ B is an interval and the problem a linear programme in (w, b), solved in fractions.


def exact_optimum(problem: Any, far: int = 10**6) -> Fraction:
    """The least loss over all corners: intersections of kinks, of rows, and of a box around everything, which are where it is attained."""
    fixed = isinstance(problem, EXCFixed)
    count, zero = problem.classes - 1, Fraction(0)
    gamma, n = Fraction(problem.gamma), len(problem.labels)
    x = [Fraction(value) for value in problem.features[:, 0]]
    given = [Fraction(value) for value in problem.thresholds] if fixed else []

    def row(slope: Fraction, ends: dict[int, int], constant: Fraction) -> tuple[list[Fraction], Fraction]:
        """slope·w + Σ sign·b_j + constant, thresholds as variables or as numbers."""
        if fixed:
            return [slope], constant + sum((sign * given[j] for j, sign in ends.items()), zero)
        return [slope, *(Fraction(ends.get(j, 0)) for j in range(count))], constant

    hinges = [row(x[i], {j: -1}, gamma) for i, j in zip(problem.high_rows, problem.high_ends, strict=True)]
    hinges += [row(-x[i], {j: 1}, gamma) for i, j in zip(problem.low_rows, problem.low_ends, strict=True)]
    allowed = [row(Fraction(sign), {}, Fraction(problem.radius)) for sign in (1, -1)]  # ≥ 0
    if not fixed:
        allowed += [row(zero, {j: sign}, Fraction(far)) for j in range(count) for sign in (1, -1)]
        if isinstance(problem, EXCOrdinal):
            allowed += [row(zero, {j + 1: 1, j: -1}, -Fraction(problem.delta)) for j in range(count - 1)]
    size = len(allowed[0][0])
    best: Fraction | None = None
    for planes in itertools.combinations([*hinges, *allowed], size):
        corner = solved_exactly([a for a, _ in planes], [-c for _, c in planes])
        if corner is None or any(value(a, c, corner) < 0 for a, c in allowed):
            continue
        loss = sum((max(value(a, c, corner), zero) for a, c in hinges), zero) / n
        best = loss if best is None else min(best, loss)
    assert best is not None
    return best


def value(a: list[Fraction], c: Fraction, at: list[Fraction]) -> Fraction:
    return sum((p * q for p, q in zip(a, at, strict=True)), c)


def solved_exactly(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Gauss elimination in fractions; None for a singular matrix."""
    work = [[*row, value] for row, value in zip(rows, right, strict=True)]
    size = len(work)
    for k in range(size):
        pivot = next((i for i in range(k, size) if work[i][k] != 0), None)
        if pivot is None:
            return None
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [entry / work[k][k] for entry in work[k]]
        for i in range(size):
            if i != k and work[i][k] != 0:
                work[i] = [one - work[i][k] * two for one, two in zip(work[i], work[k], strict=True)]
    return [row[-1] for row in work]


TINY = [  # labels, classes, γ, Δ, B, unit of the features
    ([1, 2, 3, 2], 3, 1.0, 0.0, 2.0, 1.0),
    ([1, 2, 3, 3], 3, 0.25, 1.5, 8.0, 1.0),
    ([3, 1, 2, 1], 3, 1e-8, 0.0, 1.0, 1.0),
    ([1, 3, 3, 1], 3, 1.0, 1e3, 0.5, 1.0),
    ([2, 2, 2], 3, 1.0, 0.5, 1.0, 1.0),
    ([2], 3, 1e8, 1.0, 1.0, 1e-5),
    ([1, 2, 1, 2], 2, 0.5, 0.0, 1e-6, 1e6),
    ([1, 4], 4, 0.5, 0.3, 4.0, 1.0),
    ([1, 2, 3, 2], 3, 1.0, 0.0, 2e-150, 1e150),
    ([2, 1, 3], 3, 1.0, 0.0, 1e140, 1e-140),
]


def forms(labels: list[int], classes: int, gamma: float, delta: float, radius: float, unit: float, rng: np.random.Generator) -> list[Any]:
    features = unit * np.round(8.0 * rng.normal(size=(len(labels), 1))) / 8.0
    features[-1] = features[0]  # tied
    y = np.array(labels, dtype=float)
    fixed = EXCFixed(features, y, classes, equispaced(classes, 0.7 * gamma), gamma, bound=Ball(radius))
    learned = EXCOrdinal(features, y, classes, gamma, delta, bound=Ball(radius))
    return [learned, fixed, IMCOrdinal(features, y, classes, gamma, bound=Ball(radius))]


@pytest.mark.parametrize("case", TINY)
def test_brackets_hold_the_exact_optimum_and_clarabel_closes_them(case: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(11)
    for problem in forms(*case, rng):
        # the box must be out of everybody's way: scores are at most B max|x|, thresholds at most that + γ + (r − 1)Δ
        reach = problem.radius * problem.longest + problem.gamma + problem.classes * getattr(problem, "delta", 0.0)
        best = exact_optimum(problem, 10 * math.ceil(reach))
        unit = max(problem.scale(), float(best))
        known = primal_solution(problem)
        for point, multipliers in (known, (problem.trivial_point(), None)):
            found = certify(problem, point, multipliers, INTERVAL)
            assert Fraction(found.lower) <= best <= Fraction(found.upper)
        assert certify(problem, *known).relative_gap < 1e-7
        for size in (1e-12, 1e-3, 10.0):  # whatever the multipliers, and whatever is known of the optimum
            noise = {key: entry + size * rng.normal(size=np.shape(entry)) for key, entry in known[1].items() if key in ("above", "below")}
            for upper in (math.inf, float(best) * (1.0 + 1e-12) + 1e-300):
                assert Fraction(INTERVAL.lower(problem.dual_bound(noise, INTERVAL, upper))) <= best
                assert float(problem.dual_bound(noise, FLOAT, upper)) <= float(best) + 1e-12 * unit
                for repair in problem.repairs:
                    bound = problem.lower(INTERVAL, problem.admitted(INTERVAL, noise, repair), upper)
                    assert Fraction(INTERVAL.lower(bound)) <= best, repair


@pytest.mark.parametrize(("gamma", "strength"), [(1.0, 1e-2), (1e-8, 1e-2), (1e8, 1e-2), (1.0, 1e-8), (1.0, 1e4)])
def test_penalised_brackets_hold_in_fractions(gamma: float, strength: float) -> None:
    rng = np.random.default_rng(12)
    features, labels = exc_cases.instance(rng, 6, 2, 3)
    features[-1] = features[0]
    gram = np.round(8.0 * features) / 8.0 @ np.round(8.0 * features).T / 8.0
    problems: list[Any] = [
        EXCOrdinal(features, labels, 3, gamma, 0.5 * gamma, bound=Penalty(strength)),
        IMCOrdinal(features, labels, 3, gamma, bound=Penalty(strength)),
        EXCFixed(features, labels, 3, equispaced(3, gamma), gamma, bound=Penalty(strength)),
        KernelEXC(gram, labels, 3, gamma, 0.5 * gamma, regularization=strength),
    ]
    for problem in problems:
        point, multipliers = primal_solution(problem)
        least = min(
            Fraction(problem.objective(problem.restore(candidate, RATIONAL), RATIONAL)) for candidate in (point, problem.trivial_point())
        )
        for size in (0.0, 1e-9, 1e-3, 1.0):
            noise = {key: entry + size * rng.normal(size=np.shape(entry)) for key, entry in multipliers.items()}
            for repair in problem.repairs:
                for upper in (math.inf, RATIONAL.upper(least)):
                    exact = problem.lower(RATIONAL, problem.admitted(RATIONAL, noise, repair), upper)
                    assert exact <= least
                    assert INTERVAL.lower(problem.lower(INTERVAL, problem.admitted(INTERVAL, noise, repair), upper)) <= exact


# Data out of all proportion.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", [1e-70, 1e-12, 1e12, 1e70])
def test_units_of_the_features_do_not_matter_where_the_bound_has_them_too(name: str, unit: float) -> None:
    cls: Any = registry.get("problem", name)
    example = next(iter(cls.examples(np.random.default_rng(3)))).problem
    c = 2.0 ** (2 * round(math.log2(unit) / 2))
    image = example.in_units(1.0, c)
    one, two = (certify(problem, *primal_solution(problem)) for problem in (example, image))
    assert two.relative_gap < 1e-7
    assert two.upper == pytest.approx(one.upper, rel=1e-7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gamma", [1e-8, 1e-4, 1e4, 1e8])
def test_margins_of_any_size_are_certified(name: str, gamma: float) -> None:
    cls: Any = registry.get("problem", name)
    example = next(iter(cls.examples(np.random.default_rng(3)))).problem
    for strong in (True, False):  # what bounds w changes with the margin; or stays, where w is then held at 0, or hardly at all
        problem = example.in_units(gamma, 1.0) if strong else example.changed(gamma=gamma)
        known = primal_solution(problem)
        plain, enclosed = certify(problem, *known), certify(problem, *known, INTERVAL)
        assert plain.gap < 1e-6 * problem.scale()
        assert enclosed.lower <= min(enclosed.upper, plain.upper * (1.0 + 1e-12))


def test_a_ball_far_too_large_leaves_a_gap_that_refined_multipliers_close() -> None:
    features, labels = exc_cases.instance(np.random.default_rng(15), 40, 4, 4)
    for problem in (
        EXCOrdinal(features, labels, 4, 1.0, 0.7, bound=Ball(1e7)),
        EXCFixed(features, labels, 4, equispaced(4), bound=Ball(1e7)),
        IMCOrdinal(features, labels, 4, bound=Ball(1e7)),
    ):
        point, multipliers = primal_solution(problem)
        refined = problem.refined(multipliers)
        assert refined is not None
        before, after = (
            max(problem.lower(FLOAT, problem.admitted(FLOAT, given, repair), math.inf) for repair in problem.repairs)
            for given in (multipliers, refined)
        )
        assert after > before and certify(problem, point, multipliers).relative_gap < 1e-7
        small = replace(problem, bound=Ball(1.0))
        assert small.refined(primal_solution(small)[1]) is None, "where the ball is active, g is not 0"


def test_one_row_out_of_all_proportion_spoils_no_certificate() -> None:
    features, labels = exc_cases.instance(np.random.default_rng(13), 40, 4, 4)
    features = np.concatenate([features[:-1], 1e6 * features[-1:]])
    thresholds = np.array([-1.0, 0.0, 1.5])
    problems: list[Any] = [
        EXCOrdinal(features, labels, 4, bound=Ball(3.0)),
        EXCOrdinal(features, labels, 4, 1.0, 0.7, bound=Penalty(0.01)),
        EXCFixed(features, labels, 4, thresholds, bound=Ball(3.0)),
        EXCFixed(features, labels, 4, thresholds, bound=Penalty(0.01)),
        IMCOrdinal(features, labels, 4, bound=Ball(3.0)),
        IMCOrdinal(features, labels, 4, bound=Penalty(0.01)),
    ]
    for problem in problems:
        assert certify(problem, *primal_solution(problem)).relative_gap < 1e-6


def test_a_kernel_beyond_floats_is_not_said_to_be_solved() -> None:
    features, labels = exc_cases.instance(np.random.default_rng(14), 40, 4, 4)
    problem = KernelEXC(1e16 * features @ features.T, labels, 4, regularization=0.01)
    known = primal_solution(problem)
    plain, enclosed = certify(problem, *known), certify(problem, *known, INTERVAL)
    assert enclosed.relative_gap > 1e-6 and plain.relative_gap > 1e-6
    small = KernelEXC(features @ features.T, labels, 4, regularization=0.01)
    assert certify(small, *primal_solution(small)).relative_gap < 1e-8


# Bad input.

GOOD: dict[str, Any] = {"features": np.eye(3), "labels": np.array([1.0, 2.0, 3.0]), "classes": 3}


def make(name: str, **fields: Any) -> Any:
    cls: Any = registry.get("problem", name)
    given = {**GOOD, "radius": 1.0, "regularization": 1.0, "gram": np.eye(3), "thresholds": np.array([-1.0, 1.0]), **fields}
    given |= {field: cls.bounds[cls.key](given[number]) for number, field in cls.holding().items()}
    return cls(**{key: entry for key, entry in given.items() if key in cls.__dataclass_fields__})


REFUSED_BY_EVERY_FORM: list[tuple[dict[str, Any], str]] = [
    (
        {"labels": np.array([1.0, 2.5, 3.0])},
        r"labels: 1 of 3 are not whole numbers \(first at index 1: 2.5\); number the classes 1, …, 3",
    ),
    ({"labels": np.array([1.0, 2.0, 9.0])}, r"labels: 1 of 3 are outside of 1, …, 3 \(first at index 2: 9\); set classes to 9 or more"),
    ({"labels": np.array([0.0, 1.0, 2.0])}, r"labels: 1 of 3 are outside of 1, …, 3 \(first at index 0: 0\); add 1 to them"),
    (
        {"labels": np.array([-1.0, 1.0, 1.0])},
        r"labels: 1 of 3 are outside .* index 0: -1\); add 2 to them, and set classes to 3 or more",
    ),
    ({"labels": np.array([1.0, np.nan, 1.0])}, "labels: 1 of 3 values is not finite"),
    ({"labels": np.array(["low", "mid", "high"])}, "labels: values that are not numbers"),
    ({"labels": np.array([1.0, 2.0])}, "3 rows, expected 2|shape|expected 2"),
    ({"labels": np.zeros(0)}, "labels: no values"),
    ({"classes": 1}, "classes: 1 given, a whole number >= 2 needed"),
    ({"classes": 2.5}, "classes: 2.5 given"),
    ({"gamma": 0.0}, "gamma: 0 given, a number > 0 needed"),
    ({"gamma": -1.0}, "gamma: -1 given"),
    ({"gamma": math.inf}, "gamma: inf is not finite"),
]
REFUSED_BY_ONE: list[tuple[str, dict[str, Any], str]] = [
    ("exc-ordinal", {"delta": -0.5}, "delta: -0.5 given, a number >= 0 needed"),
    ("exc-ordinal-penalised", {"delta": -1e-300}, "delta: -1e-300 given"),
    ("kernel-exc", {"delta": np.nan}, "delta: nan is not finite"),
    ("exc-ordinal", {"radius": 0.0}, "radius: 0 given"),
    ("imc-ordinal-penalised", {"regularization": -1.0}, "regularization: -1 given"),
    ("exc-fixed", {"thresholds": np.array([0.0])}, "thresholds: 1 given, 3 classes need 2, one between each two neighbours"),
    ("exc-fixed", {"thresholds": np.array([1.0, 0.5])}, "thresholds: not increasing, entry 0 is 1 and entry 1 is 0.5"),
    (
        "exc-fixed-penalised",
        {"thresholds": np.array([1.0, 1.0])},
        "thresholds: not increasing, entry 0 is 1 and entry 1 is 1; sort them",
    ),
    (
        "exc-fixed",
        {"classes": 5, "thresholds": np.array([0.0, 1.0, 3.0, 2.0])},
        "thresholds: not increasing, entry 2 is 3 and entry 3 is 2",
    ),
    ("exc-fixed", {"thresholds": np.array([-np.inf, 0.0])}, "thresholds: 1 of 2 values is not finite"),
    ("kernel-exc", {"gram": np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])}, "gram: not positive semidefinite"),
    ("kernel-exc", {"gram": np.eye(4)}, "gram"),
    ("imc-ordinal", {"features": np.full((3, 1), 1e200)}, "features: the largest entry is 1e.200"),
]


@pytest.mark.parametrize(
    ("name", "fields", "message"), [*((name, *refused) for name in NAMES for refused in REFUSED_BY_EVERY_FORM), *REFUSED_BY_ONE]
)
def test_what_a_form_cannot_mean_is_refused_by_name(name: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        make(name, **fields)


@pytest.mark.parametrize("name", NAMES)
def test_one_label_alone_is_a_problem_whose_loss_vanishes_unless_thresholds_forbid_it(name: str) -> None:
    for label in (2.0,) if "fixed" in name else (1.0, 2.0, 3.0):
        problem = make(name, labels=np.full(3, label), gamma=0.5)
        found = certify(problem, problem.trivial_point())
        assert found.upper == 0.0 and found.relative_gap == 0.0, "w = 0 is optimal: thresholds on both sides of it"
    if "fixed" in name:
        crowded = make(name, labels=np.full(3, 2.0), gamma=2.0)  # the class is narrower than its margins
        assert certify(crowded, *primal_solution(crowded)).lower > 1.9


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
def test_thresholds_that_are_far_enough_apart_stay_as_they_are(num) -> None:
    """0.01 beside −3.01 would lose its last digits in a sum of steps; thresholds that are too near are moved to exactly Δ."""
    problem = EXCOrdinal(np.ones((2, 1)), np.array([2.0, 2.0]), 3, 0.01, 3.0, bound=Penalty(1.0))
    for given in ([-3.01, 0.01], [-1.5, 1.75]):
        kept = problem.feasible_thresholds(num, np.array(given))
        assert [float(num.mid(b)) for b in kept] == given
    moved = problem.feasible_thresholds(num, np.array([0.0, 1.0]))
    assert num.upper(moved[1] - moved[0]) >= 3.0 >= num.lower(moved[1] - moved[0]) - 1e-12
    trivial = problem.trivial_point()
    assert problem.objective(problem.restore(trivial)) == 0.0 and certify(problem, trivial).closes(1e-15)
