"""EXC and IMC: formulas written out, duals, balanced multipliers, bounds on the thresholds, the order that comes by itself, bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt import registry
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.arrays import Array
from simopt.certificate import certify
from simopt.errors import InvalidProblem
from simopt.problems import _exc_cases
from simopt.problems._exc_start import best_constant_thresholds, best_separate_thresholds, equispaced
from simopt.problems.exc_fixed import EXCFixed
from simopt.problems.exc_fixed_penalised import EXCFixedPenalised
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.exc_ordinal_penalised import EXCOrdinalPenalised
from simopt.problems.imc_ordinal import IMCOrdinal
from simopt.problems.imc_ordinal_penalised import IMCOrdinalPenalised
from simopt.problems.kernel_exc import KernelEXC

ANGLES = np.linspace(0.0, 2.0 * np.pi, 20001)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
NAMES = ["exc-ordinal", "exc-ordinal-penalised", "exc-fixed", "exc-fixed-penalised", "imc-ordinal", "imc-ordinal-penalised", "kernel-exc"]
registry.load("problems")
CASES = [
    pytest.param(example.problem, id=f"{name}: {example.name}")
    for name in NAMES
    for example in registry.get("problem", name).examples(np.random.default_rng(3))
]


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
    features, labels = _exc_cases.instance(rng, 12, 2, 4)
    w, b = rng.normal(size=2), np.sort(rng.normal(size=3))
    f, point = features @ w, {"w": w, "thresholds": b}
    explicit, implicit = written_out(f, labels, b, 0.7), implicit_written_out(f, labels, b, 0.7)
    assert float(EXCOrdinal(features, labels, 4, 0.7, radius=9.0).objective(point)) == pytest.approx(explicit, rel=1e-13)
    assert float(EXCFixed(features, labels, 4, b, 0.7, radius=9.0).objective(point)) == pytest.approx(explicit, rel=1e-13)
    assert float(IMCOrdinal(features, labels, 4, 0.7, radius=9.0).objective(point)) == pytest.approx(implicit, rel=1e-13)
    penalty = 0.2 * float(w @ w)
    penalised = EXCOrdinalPenalised(features, labels, 4, 0.7, regularization=0.4)
    assert float(penalised.objective(point)) == pytest.approx(explicit + penalty, rel=1e-13)
    fixed = EXCFixedPenalised(features, labels, 4, b, 0.7, regularization=0.4)
    assert float(fixed.objective(point)) == pytest.approx(explicit + penalty, rel=1e-13)
    assert float(IMCOrdinalPenalised(features, labels, 4, 0.7, regularization=0.4).objective(point)) == pytest.approx(implicit + penalty)
    alpha = rng.normal(size=12)
    gram = features @ features.T
    expected = written_out(gram @ alpha, labels, b, 0.7) + 0.2 * float(alpha @ gram @ alpha)
    kernel = KernelEXC(gram, labels, 4, 0.7, regularization=0.4)
    assert float(kernel.objective({"alpha": alpha, "thresholds": b})) == pytest.approx(expected, rel=1e-12)


def test_two_classes_make_all_forms_one() -> None:
    features, labels = _exc_cases.instance(np.random.default_rng(4), 14, 3, 2)
    point = {"w": np.array([0.3, -0.2, 0.9]), "thresholds": np.array([0.17])}
    explicit = EXCOrdinalPenalised(features, labels, 2, regularization=0.1)
    implicit = IMCOrdinalPenalised(features, labels, 2, regularization=0.1)
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


# Multipliers.


def random_multipliers(problem: Any, rng: np.random.Generator, size: float = 1.0) -> dict[str, Array]:
    n, order = len(problem.labels), problem.classes - 2
    above, below = (rng.uniform(0, size / n, rows.size) for rows in (problem.high_rows, problem.low_rows))
    return {"above": above, "below": below, "order": rng.uniform(0, size, order)}


@pytest.mark.parametrize("form", ["delta 0", "delta 0.5", "implicit"])
def test_balanced_multipliers_balance_exactly_and_are_cut_only(form: str) -> None:
    rng = np.random.default_rng(4)
    features, labels = _exc_cases.instance(rng, 15, 2, 5)
    problem: Any = IMCOrdinal(features, labels, 5, radius=2.0)
    if form != "implicit":
        problem = EXCOrdinal(features, labels, 5, 1.0, float(form.split()[1]), radius=2.0)
    for _ in range(5):
        given = random_multipliers(problem, rng, 1.3)
        prices = problem.admitted(RATIONAL, given, "balanced")
        balance = problem.imbalance(RATIONAL, prices.above, prices.below)
        order = [Fraction(0), *([] if prices.order is None else prices.order), Fraction(0)]
        assert len(order) == (2 if form == "implicit" else 5)
        steps = np.diff(order) if prices.order is not None else np.zeros(4, dtype=int)
        assert all(part + step == 0 for part, step in zip(balance, steps, strict=True)), "exactly, in fractions"
        assert all(nu >= 0 for nu in order)
        for before, after in zip(problem.capped(RATIONAL, given), (prices.above, prices.below), strict=True):
            assert np.all(after <= before) and np.all(after >= 0)
        plain = problem.admitted(FLOAT, given, "balanced")
        np.testing.assert_allclose(plain.above, prices.above.astype(float), rtol=1e-12, atol=1e-18)
        enclosed = problem.admitted(INTERVAL, given, "balanced")
        assert np.all(enclosed.below.low <= prices.below.astype(float) + 1e-18) and np.max(enclosed.below.rad) < 1e-14


def test_balancing_keeps_multipliers_that_balance_already() -> None:
    rng = np.random.default_rng(5)
    features, labels = _exc_cases.instance(rng, 20, 2, 4)
    for problem in (EXCOrdinal(features, labels, 4, radius=2.0), IMCOrdinal(features, labels, 4, radius=2.0)):
        once = problem.admitted(FLOAT, random_multipliers(problem, rng), "balanced")
        twice = problem.admitted(FLOAT, {"above": once.above, "below": once.below}, "balanced")
        np.testing.assert_allclose(twice.above, once.above, rtol=1e-13, atol=1e-17)
        np.testing.assert_allclose(twice.below, once.below, rtol=1e-13, atol=1e-17)


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros(50)])
def test_multipliers_of_the_wrong_size_are_refused(bad: Array) -> None:
    features, labels = _exc_cases.instance(np.random.default_rng(0), 20, 2, 4)
    with pytest.raises(InvalidProblem, match=r"multipliers: above has (shape \(.*\)|. values), expected"):
        certify(EXCOrdinal(features, labels, 4, radius=1.0), {"w": np.zeros(2), "thresholds": np.zeros(3)}, {"above": bad})


# Bounds on the thresholds.


def test_clipping_thresholds_into_the_box_never_raises_the_loss() -> None:
    rng = np.random.default_rng(5)
    features, labels = _exc_cases.instance(rng, 15, 2, 4)
    problems: list[Any] = [EXCOrdinal(features, labels, 4, 0.5, delta, radius=1.0) for delta in (0.0, 0.4, 2.0)]
    for problem in [*problems, IMCOrdinal(features, labels, 4, 0.5, radius=1.0)]:
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
    problem: Any = IMCOrdinal(features, labels, 3, 0.4, radius=1.5) if implicit else EXCOrdinal(features, labels, 3, 0.4, 0.3, radius=1.5)
    for _ in range(5):
        given = random_multipliers(problem, rng)
        low, high = problem.box(math.inf)

        def lagrangian(w: Array, b: Array, given: dict[str, Array] = given) -> float:
            over, under = problem.arguments(FLOAT, features @ w, b)
            hinges = float(given["above"] @ over + given["below"] @ under)
            return hinges if implicit else hinges + float(given["order"][0] * (0.3 - b[1] + b[0]))

        corners = [np.array(corner) for corner in itertools.product(*zip(low, high, strict=True))]
        best_corner = min(corners, key=lambda b: lagrangian(np.zeros(2), b))
        best = min(lagrangian(1.5 * CIRCLE[:, i], best_corner) for i in range(0, len(ANGLES), 4))
        bound = float(problem.bound(FLOAT, problem.admitted(FLOAT, given, "given"), math.inf))
        assert bound == pytest.approx(best, abs=1e-5)
        assert float(problem.dual_bound(given)) >= bound


def test_bounds_of_fixed_thresholds_are_minima_of_the_lagrangian() -> None:
    rng = np.random.default_rng(7)
    features, labels = np.array([[1.0, 0.2], [-0.5, 1.0], [0.3, -0.8]]), np.array([1.0, 2.0, 3.0])
    b = np.array([-0.3, 0.5])
    problem = EXCFixed(features, labels, 3, b, 0.4, radius=1.5)
    for _ in range(5):
        given = random_multipliers(problem, rng)
        f = 1.5 * features @ CIRCLE
        values = given["above"] @ (f[:2] - b[:, None] + 0.4) + given["below"] @ (b[:, None] + 0.4 - f[1:])
        assert float(problem.dual_bound(given)) == pytest.approx(float(np.min(values)), abs=1e-6)


def test_a_hinge_out_of_reach_has_no_multiplier() -> None:
    features, labels = np.array([[1.0], [-1.0]]), np.array([1.0, 2.0])
    problem = EXCFixed(features, labels, 3, np.array([0.0, 1e12]), 0.5, radius=2.0)
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
        features, labels = _exc_cases.instance(np.random.default_rng(seed), 20, 2, 5)
        labels = labels[np.random.default_rng(seed + 50).permutation(20)]  # nothing to learn: thresholds crowd
        problem = IMCOrdinalPenalised(features, labels, 5, regularization=0.01)
        declaration = problem.declare()
        assert all(row.label != "order" for row in declaration.constraints)
        declaration.solve(solver="CLARABEL")
        b = next(v for v in declaration.variables() if v.name() == "thresholds").value
        assert np.all(np.diff(b) >= -1e-6)


# Duals.


@cache
def dual_solution(problem: Any) -> tuple[float, dict[str, Any], dict[str, Any]]:
    natural, back = problem.normalised()
    declaration = natural.declare_dual()
    assert isinstance(declaration.objective, cp.Maximize) and declaration.is_dcp()
    assert all(row.label for row in declaration.constraints)
    declaration.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    found = {variable.name(): np.asarray(variable.value) for variable in declaration.variables()}
    rows = {row.label: np.asarray(row.dual_value) for row in declaration.constraints}
    return float(declaration.value) * problem.scale() / natural.scale(), back.multipliers(found), rows


def primal_solution(problem: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    natural, back = problem.normalised()
    declaration = natural.declare()
    declaration.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    point = {variable.name(): np.asarray(variable.value) for variable in declaration.variables()}
    duals = {row.label: np.asarray(row.dual_value) for row in declaration.constraints if not isinstance(row.dual_value, list)}
    return back.point(point), back.multipliers(duals)


@pytest.mark.parametrize("problem", CASES)
def test_strong_duality_and_the_solution_of_a_declared_dual_is_a_certificate(problem: Any) -> None:
    value, multipliers, _ = dual_solution(problem)
    found = certify(problem, *primal_solution(problem))
    room = 1e-6 * problem.scale()
    assert found.lower - room <= value <= found.upper + room
    assert float(problem.dual_bound(multipliers)) == pytest.approx(value, abs=room)
    assert INTERVAL.lower(problem.dual_bound(multipliers, INTERVAL)) == pytest.approx(value, abs=room)


def test_the_multipliers_of_the_dual_are_the_solution() -> None:
    features, labels = _exc_cases.instance(np.random.default_rng(9), 24, 3, 4)
    for form in (EXCOrdinalPenalised, IMCOrdinalPenalised):
        problem: Any = form(features, labels, 4, regularization=0.05)
        _, multipliers, rows = dual_solution(problem)
        natural, back = problem.normalised()
        b = -rows["thresholds"]  # of the balance g_b = 0; CVXPY signs multipliers for a minimisation
        assert np.all(np.diff(b) >= 0.0)
        point = back.point({"w": -multipliers["g"] / natural.regularization, "thresholds": b})
        assert certify(problem, point, multipliers).relative_gap < 1e-6
