"""Isotonic regression with bounds of each interval, a range and samples of no weight: its dual, its repairs, and brute force."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.model.problem import Example
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solvers.isotonic.bounded_chain import fit_bounded_chain
from simopt.solving.entry_points import certify, solve

EXAMPLES = list(LipschitzIsotonic.examples(np.random.default_rng(11)))


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_dual_reaches_the_optimum_and_the_multipliers_of_its_stationarity_are_the_fit(example: Example) -> None:
    problem: Any = example.problem
    natural, _ = problem.normalised()
    best = solve(natural, "lpav", tol=1e-10)
    assert best.certificate is not None and best.point is not None
    dual = natural.declare_dual()
    dual.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert float(dual.value) == pytest.approx(best.certificate.upper, abs=1e-6 * max(1.0, natural.scale()))
    fit, found = best.point["x"], next(row for row in dual.constraints if row.label == "x").dual_value
    held = natural.mass > 0
    assert np.max(np.abs(found - fit)[held]) <= 1e-3 * max(1.0, float(np.max(np.abs(fit))))


def brute_force(problem: Any) -> Fraction:
    """The optimum in fractions: the best over all choices of which rows hold with equality (their multipliers need not be looked at)."""
    n, num = len(problem.targets), RATIONAL
    y, w = num.lift(problem.targets), num.lift(problem.mass)
    least, most = num.lift(problem.least_steps(num)), num.lift(problem.steps(num))
    low, high = (None if bound is None else Fraction(bound) for bound in (problem.low, problem.high))
    best = None
    for links in itertools.product((None, "least", "most"), repeat=n - 1):
        starts = [0, *(i + 1 for i, link in enumerate(links) if link is None)]
        blocks = [range(a, b) for a, b in zip(starts, [*starts[1:], n], strict=True)]
        offset = [Fraction(0)] * n
        for i, link in enumerate(links):
            offset[i + 1] = Fraction(0) if link is None else offset[i] + Fraction(least[i] if link == "least" else most[i])
        choices = []
        for block in blocks:
            mass = sum(Fraction(w[i]) for i in block)
            free = [sum(Fraction(w[i]) * (Fraction(y[i]) - offset[i]) for i in block) / mass]
            held = [low] if low is not None and block[0] == 0 else []
            held += [high - offset[block[-1]]] if high is not None and block[-1] == n - 1 else []
            choices.append(free + held)
        for bases in itertools.product(*choices):
            x = [base + offset[i] for base, block in zip(bases, blocks, strict=True) for i in block]
            steps = [b - a for a, b in itertools.pairwise(x)]
            kept = all(a <= d and (d <= u or free) for a, d, u, free in zip(least, steps, most, problem.free, strict=True))
            if kept and (low is None or x[0] >= low) and (high is None or x[-1] <= high):
                value = sum(Fraction(w[i]) * (x[i] - Fraction(y[i])) ** 2 for i in range(n)) / 2
                best = value if best is None else min(best, value)
    assert best is not None
    return best


def small(rng: np.random.Generator, trial: int) -> LipschitzIsotonic:
    n = int(rng.integers(1, 6))
    z = np.cumsum(rng.integers(0, 3, size=n)) / 2.0
    lower = rng.integers(0, 3, size=n - 1) / 4.0
    upper = lower + rng.integers(0, 4, size=n - 1) / 4.0
    upper[rng.uniform(size=n - 1) < 0.2] = math.inf
    climb = float(np.sum(lower * np.diff(z)))
    low = float(rng.integers(-2, 2)) if trial % 3 else None
    high = (0.0 if low is None else low) + climb + int(rng.integers(0, 4)) / 8 if trial % 4 else None
    fields = {"lower_slopes": lower, "upper_slopes": upper, "low": low, "high": high, "outside": "keep"}
    return LipschitzIsotonic(
        z, rng.integers(-4, 5, size=n) / 2.0, math.inf if trial % 2 else 2.5, rng.integers(1, 4, size=n) / 2.0, **fields
    )


@pytest.mark.thorough
@pytest.mark.parametrize("trial", range(60))
def test_the_fit_is_the_best_of_all_choices_of_active_bounds(trial: int) -> None:
    problem = small(np.random.default_rng(trial), trial)
    solution = solve(problem, "lpav", tol=1e-12, rigorous="rational")
    assert solution.certificate is not None
    best = float(brute_force(problem))
    assert solution.certificate.lower <= best + 1e-12 and solution.certificate.upper >= best - 1e-12
    assert solution.optimal or (problem.scale() == 0.0 and best == 0.0)


def test_the_point_alone_gives_multipliers_of_the_range_wherever_it_is_touched() -> None:
    rng = np.random.default_rng(5)
    touched = set()
    for trial in range(200):
        problem = small(rng, trial)
        solution = solve(problem, "lpav", tol=1e-12)
        assert solution.point is not None
        point = dict(solution.point)
        alone = certify(problem, point)
        assert alone.gap <= 1e-12 * max(1.0, problem.scale()), (trial, alone)
        touched.add((problem.low == point["x"][0], problem.high == point["x"][-1]))
    assert len(touched) == 4


def test_samples_of_no_weight_change_nothing_but_are_interpolated() -> None:
    rng = np.random.default_rng(6)
    z, y = np.sort(rng.uniform(size=30)), rng.normal(size=30)
    w = np.where(rng.uniform(size=30) < 0.5, 0.0, 1.0)
    w[[0, 29]] = 0.0
    for lipschitz in (2.0, math.inf):
        with_all, without = LipschitzIsotonic(z, y, lipschitz, w), LipschitzIsotonic(z[w > 0], y[w > 0], lipschitz)
        one, two = solve(with_all, "lpav", tol=1e-12), solve(without, "lpav", tol=1e-12)
        assert one.optimal and one.point is not None and two.point is not None
        np.testing.assert_allclose(one.point["x"][w > 0], two.point["x"], atol=1e-14)
        np.testing.assert_allclose(one.point["x"], np.interp(z, z[w > 0], two.point["x"]), atol=1e-13)
        assert one.value == pytest.approx(two.value, rel=1e-12)
        elsewhere = replace(with_all, targets=np.where(w > 0, y, 1e6))
        other = solve(elsewhere, "lpav", tol=1e-12).point
        assert other is not None and np.array_equal(other["x"], one.point["x"])
        assert with_all.distance(1.0) == math.inf


def test_multipliers_that_pull_at_a_sample_of_no_weight_are_repaired() -> None:
    rng = np.random.default_rng(7)
    problem = next(e.problem for e in EXAMPLES if e.name == "samples of no weight")
    assert isinstance(problem, LipschitzIsotonic)
    for _ in range(20):
        tau = problem.chain_multipliers(
            {"lipschitz": rng.normal(size=24), "monotone": rng.normal(size=24), "low": np.ones(()), "high": np.ones(())}
        )
        assert np.all((tau[:-1] - tau[1:])[problem.mass == 0] == 0) and tau[0] == tau[-1] == 0


def test_restored_points_fill_a_tight_range_in_every_arithmetic() -> None:
    z = np.array([0.0, 0.25, 0.5, 1.0])
    tight = LipschitzIsotonic(z, z**2, math.inf, lower_slopes=np.full(3, 0.5), low=0.0, high=0.5, outside="clip")
    for num in (FLOAT, INTERVAL, RATIONAL):
        x = num.mid(tight.restore({"x": np.array([-3.0, 4.0, 0.0, 9.0])}, num)["x"])
        np.testing.assert_allclose(np.asarray(x, dtype=float), 0.5 * z, atol=1e-15)
    assert solve(tight, "lpav", rigorous="rational").optimal
    loose = replace(tight, high=0.75)
    x = loose.restore({"x": np.array([-3.0, 4.0, 0.0, 9.0])}, RATIONAL)["x"]
    assert (
        x[0] >= 0
        and x[-1] <= Fraction(3, 4)
        and all(b - a >= Fraction(float(s)) for a, b, s in zip(x, x[1:], np.diff(z) / 2, strict=False))
    )


def test_fits_keep_the_range_and_the_ties_to_the_last_digit() -> None:
    """Also at samples of no weight, where the fit is interpolated, and at the end of a range that slopes from below nearly fill."""
    rng = np.random.default_rng(8)
    for trial in range(600):
        n = int(rng.choice([2, 3, 10, 50]))
        z = np.sort(rng.integers(0, n, size=n) / 8.0)
        y, w = rng.normal(size=n), np.where(rng.uniform(size=n) < 0.4, 0.0, rng.uniform(0.1, 3.0, size=n))
        w[int(rng.integers(n))] = 1.0
        lower = rng.uniform(size=n - 1) if trial % 2 else np.zeros(n - 1)
        low = float(np.quantile(y, 0.2))
        high = low + float(lower @ np.diff(z)) * (1 + 1e-9) + float(rng.choice([1e-3, 0.5]))
        problem = LipschitzIsotonic(z, y, [math.inf, 1.0, 3.0][trial % 3], w, lower_slopes=lower, low=low, high=high, outside="keep")
        solution = solve(problem, "lpav", tol=1e-10)
        assert solution.optimal and solution.point is not None
        x, _ = fit_bounded_chain(
            y, w, np.where(problem.free, np.inf, problem.steps(FLOAT)), least=problem.least_steps(FLOAT), lo=low, hi=high, positions=z
        )
        assert x.min() >= low and x.max() <= high and np.all(np.diff(x) >= 0)
        assert np.all(x[1:][np.diff(z) == 0] == x[:-1][np.diff(z) == 0])
