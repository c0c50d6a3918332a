"""Checks of the formulas behind a certificate: restore, objective, dual bound and gap, in every arithmetic that the problem lists."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.conformance.setting import ROUNDING, TOL, examples_of, multipliers_of, points_of, reference, require, unit_of
from simopt.core.arrays import Point
from simopt.model.problem import Example, Problem
from simopt.solving.entry_points import certify

GOOD_PART, OFTEN = 0.25, 1 / 3  # of the way from the bound of the multipliers 0 to the optimum; of the examples
UNDERFLOW = 1e-150  # enclosures of 0 are as wide as roots of the smallest floats


def check_restore(cls: type[Problem]) -> None:
    """A restored point stays where it is when it is restored again, and its value is finite."""
    for index, example in enumerate(examples_of(cls)):
        for point in points_of(cls, index):
            again = example.problem.restore(point)
            for name, value in point.items():
                moved = float(np.max(np.abs(np.asarray(again[name]) - value) / (1.0 + np.abs(value)), initial=0.0))
                require(moved <= ROUNDING, f"{example.name}: restoring twice moves {name!r} by {moved:.1e}; restore must be idempotent")
            require(np.isfinite(example.problem.objective(point)), f"{example.name}: the objective of a restored point is not finite")


def check_weak_duality(cls: type[Problem]) -> None:
    """No restored point lies below the optimum, no multipliers bound it above: whatever they are."""
    for index, example in enumerate(examples_of(cls)):
        problem, (_, _, lower, upper) = example.problem, reference(cls, index)
        for point in points_of(cls, index):
            value = float(problem.objective(point))
            tolerance = ROUNDING * unit_of(problem, value, upper)
            require(
                value >= lower - tolerance,
                f"{example.name}: restore gives a point of value {value:.17g} below a proven lower bound {lower:.17g}; is it feasible?",
            )
        for multipliers in multipliers_of(cls, index):
            for known in (float("inf"), upper):
                bound = float(problem.dual_bound(multipliers, FLOAT, known))
                tolerance = ROUNDING * unit_of(problem, upper)
                require(
                    not np.isnan(bound) and bound <= upper + tolerance,
                    f"{example.name}: dual_bound gives {bound:.17g}, above a value that is attained ({upper:.17g}); "
                    "multipliers must be made dual feasible first, whatever they are",
                )


def check_gap(cls: type[Problem]) -> None:
    """gap() is objective − dual_bound to rounding, and not negative."""
    for index, example in enumerate(examples_of(cls)):
        problem = example.problem
        for point in points_of(cls, index):
            value = float(problem.objective(point))
            for multipliers in multipliers_of(cls, index):
                bound = float(problem.dual_bound(multipliers, FLOAT, value))
                gap = float(problem.gap(point, multipliers))
                if np.isinf(bound):
                    continue
                tolerance = ROUNDING * unit_of(problem, value, bound)
                require(
                    abs(gap - (value - bound)) <= tolerance,
                    f"{example.name}: gap() says {gap:.9g}, objective − dual_bound is {value - bound:.9g}; they must be the same number",
                )
                require(gap >= -tolerance, f"{example.name}: gap() is negative, {gap:.3e}")


def check_suggestions(cls: type[Problem]) -> None:
    """The multipliers that a solution suggests bound well: a wrong sign in `multipliers` is made feasible, and bounds no better than 0.

    With D the dual bound, s the suggestion and P* the optimum, (D(s) − D(0)) / (P* − D(0)) is 1 for a smooth problem. At a kink a point
    does not determine its multipliers, and the fraction may be anything. Asked for is GOOD_PART on OFTEN of the examples, of those that
    have an optimum, where 0 is not the best and multipliers are suggested. Where 0 gives no bound, any bound is all of the way.
    """
    parts = []
    for index, example in enumerate(examples_of(cls)):
        problem, (point, _, lower, upper) = example.problem, reference(cls, index)
        suggested = problem.multipliers(point)
        if suggested is None:
            continue
        least = float(problem.dual_bound({name: np.zeros(np.shape(value)) for name, value in suggested.items()}))
        bound = float(problem.dual_bound(suggested))
        if np.isfinite(lower) and least == -np.inf:
            parts.append(float(np.isfinite(bound)))
        elif np.isfinite(lower) and lower - least > TOL * unit_of(problem, upper):
            parts.append((bound - least) / (lower - least))
    good = sum(part >= GOOD_PART for part in parts)
    require(
        good >= OFTEN * len(parts),
        f"the multipliers that a solution suggests bound well on {good} of {len(parts)} examples only (parts of the way to the "
        f"optimum: {', '.join(f'{part:.2g}' for part in parts)}); "
        "has multipliers() the sign of the Lagrangian, rows being g(x) ≤ 0 and h(x) = 0?",
    )


def check_arithmetics(cls: type[Problem]) -> None:
    """Interval bounds enclose the exact ones (fractions where the problem has them, floats to rounding) and are narrow."""
    for index, example in enumerate(examples_of(cls)):
        problem, points, duals = example.problem, list(points_of(cls, index)), list(multipliers_of(cls, index))
        for point in points:
            _check_enclosure(cls, example, "objective", partial(_at_feasible, problem, problem.objective, point))
        for multipliers in duals:
            _check_enclosure(cls, example, "dual_bound", partial(problem.dual_bound, multipliers))
        # The solution with all multipliers, and each multipliers with a point; that the gap is the difference is checked for all pairs.
        for point, multipliers in (*((points[0], known) for known in duals), *zip(cycle(points[1:]), duals, strict=False)):
            size = (float(problem.objective(point)), float(problem.dual_bound(multipliers)))
            _check_enclosure(cls, example, "gap", partial(_at_feasible, problem, problem.gap, point, multipliers), *size)
        point, known, lower, upper = reference(cls, index)
        for name in cls.arithmetics:
            found = certify(example.problem, point, known, BY_NAME[name])
            width = max(found.upper - upper, lower - found.lower)
            require(
                not np.isfinite(lower) or width <= TOL * unit_of(example.problem, upper) + UNDERFLOW,
                f"{example.name}: {name} bounds are {width:.1e} wider than the float bounds; a formula loses accuracy",
            )


def _at_feasible(problem: Problem, formula: Callable[..., Any], point: Point, *args: Any) -> Any:
    """The formula at a point; where it says ∞, since what floats made feasible is not exactly so, at the point made feasible anew."""
    *_, num = args
    value = formula(point, *args)
    return formula(problem.restore(point, num), *args) if isinstance(value, float) and value == np.inf else value


def _check_enclosure(cls: type[Problem], example: Example, name: str, formula: Callable[[Arithmetic], Any], *terms: float) -> None:
    """One formula in floats, intervals and fractions; `terms` are what it subtracts, whose size its rounding has."""
    plain = float(FLOAT.mid(formula(FLOAT)))
    enclosure = formula(INTERVAL)
    low, high = INTERVAL.lower(enclosure), INTERVAL.upper(enclosure)
    tolerance = ROUNDING * unit_of(example.problem, plain, *terms)
    require(
        low - tolerance <= plain <= high + tolerance or not np.isfinite(plain),
        f"{example.name}: {name} is {plain:.17g} in floats, outside its interval [{low:.17g}, {high:.17g}]",
    )
    if RATIONAL.name in cls.arithmetics:
        exact = Fraction(formula(RATIONAL))
        require(
            (low == -np.inf or Fraction(low) <= exact) and (high == np.inf or exact <= Fraction(high)),
            f"{example.name}: {name} is exactly {float(exact):.17g}, outside its interval [{low:.17g}, {high:.17g}]; "
            "does the formula use plain NumPy on intervals, or an unlifted float?",
        )
