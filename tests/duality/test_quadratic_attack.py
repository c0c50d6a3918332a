"""Bounds of quadratic programmes at points and multipliers of any size, against planted optima in fractions, scaled by powers of two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from simopt.arithmetic import Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.core.arrays import Array
from simopt.duality.quadratic import proven_bounds as at_values
from simopt.duality.quadratic.implied_ends import implied_ends
from simopt.duality.quadratic.proven_bounds import ProvenBounds, proven_bounds
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme
from simopt.duality.vertices.linear_programme import LinearProgramme

SIZES = (1.0, 1e-8, 1e8, 1e300, 1e-300, 5e-324)  # of what is added to the optimal values
SPREADS = (0, 0, 40, 300, 520)  # exponents of the units of entries


@dataclass(frozen=True, eq=False)
class Planted:
    """A quadratic programme whose optimum is `optimum`, at `x` with the multipliers `y`; ∞ where no point is feasible."""

    quadratic: QuadraticProgramme
    x: Array
    y: Array
    optimum: Fraction | float


def fractions(values: Any) -> Any:
    found = np.empty(np.shape(values), dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = Fraction(float(values[at]))
    return found


def whole(rng: np.random.Generator, *shape: int) -> Array:
    return np.asarray(rng.integers(-9, 10, shape) * (rng.random(shape) < 0.6), dtype=float)


def planted(rng: np.random.Generator) -> Planted | None:
    """Of whole numbers in units of powers of two; rows may depend on each other. None where the numbers overflow or lose bits."""
    n, m, k = int(rng.integers(1, 8)), int(rng.integers(0, 6)), int(rng.integers(0, 4))
    a, equality = whole(rng, m + k, n), np.arange(m + k) >= m
    for i in range(1, m + k):
        draw = rng.random()
        if draw < 0.4:
            a[i] = a[rng.integers(i)] * rng.choice([1.0, -1.0, 3.0]) if draw < 0.2 else a[:i].sum(axis=0)
            a[i, rng.integers(n)] += 2.0 ** -float(rng.integers(10, 30)) * (draw < 0.05)
    at, factor = rng.integers(-3, 4, n).astype(float), whole(rng, n, int(rng.integers(0, n + 1)))
    slack = np.where(
        equality | (rng.random(m + k) < 0.5), 0.0, rng.integers(0, 3, m + k) * 2.0 ** -rng.integers(0, 30, m + k).astype(float)
    )
    y = np.where(equality, rng.integers(-3, 4, m + k), rng.integers(0, 4, m + k) * (slack == 0.0)).astype(float)
    kind, some = rng.integers(0, 5, n), rng.integers(0, 4, n)
    low = np.select([(kind == 1) | (kind == 3), kind == 4], [at, at - 2.0**-some], -np.inf)
    high = np.select([(kind == 2) | (kind == 3), kind == 4], [at, at + some], np.inf)
    reduced = np.select([kind == 1, kind == 2, kind == 3], [some, -some, some - 2], 0).astype(float)
    curvature = rng.integers(0, 3, n) * (rng.random(n) < 0.3).astype(float)
    hessian = factor @ factor.T + np.diag(curvature)
    cost, constants = reduced - hessian @ at - a.T @ y, -a @ at - slack
    spread = int(rng.choice(SPREADS))
    units, rows = 2.0 ** rng.integers(-spread, spread + 1, n).astype(float), 2.0 ** rng.integers(-spread, spread + 1, m + k).astype(float)
    a, hessian, curvature = rows[:, None] * a / units, hessian / units[:, None] / units, curvature / units / units
    x, y, constants, cost = at * units, y / rows, rows * constants, cost / units
    empty = len(y) > 0 and rng.random() < 0.1
    if empty:  # the last row again, turned round and a little farther away
        beyond = abs(constants[-1]) + rows[-1]
        a, constants = np.vstack([a, -a[-1]]), np.append(constants, -constants[-1] + beyond * 2.0 ** -float(rng.integers(0, 50)))
        y, equality = np.append(y, 0.0), np.append(equality, bool(rng.random() < 0.5))
        empty = Fraction(constants[-1]) + Fraction(constants[-2]) > 0
    linear = LinearProgramme(
        [], None, None, None, [], IntervalMatrix.of(sp.csr_array(a)), Interval(constants), equality, low * units, high * units
    )  # type: ignore[arg-type]
    quadratic = QuadraticProgramme(linear, IntervalMatrix.of(sp.csr_array(hessian)), Interval(cost), Interval(0.0), curvature)
    if not all(np.isfinite(part).all() for part in (a, hessian, x, y, constants, cost)):
        return None
    point, form, slope = fractions(x), fractions(hessian), fractions(cost)
    left, gradient = fractions(a) @ point + fractions(constants), form @ point + slope + fractions(a).T @ fractions(y)
    holds = all(h == 0 if equal else h <= 0 for h, equal in zip(left, equality, strict=True))
    signs = all(d == 0 or (x[j] == (linear.low[j] if d > 0 else linear.high[j])) for j, d in enumerate(gradient))
    if not empty and not (holds and signs):
        return None
    return Planted(quadratic, x, y, math.inf if empty else point @ form @ point / 2 + slope @ point)


def assert_true(result: ProvenBounds, optimum: Fraction | float, exact: str) -> None:
    assert result.gap >= 0.0, exact
    if optimum == math.inf:
        assert result.upper == math.inf, exact
        return
    assert result.lower < math.inf and result.upper > -math.inf, exact
    assert result.lower == -math.inf or Fraction(result.lower) <= optimum, exact
    assert result.upper == math.inf or Fraction(result.upper) >= optimum, exact


def attacked(seed: int, count: int, solves: bool) -> tuple[int, int]:
    """How many of the problems close at their optimal values, of how many."""
    closed, known = 0, 0
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        case = planted(rng)
        if case is None:
            continue
        quadratic, linear, name = case.quadratic, case.quadratic.linear, f"problem {number} of seed {seed}"
        ends = implied_ends(linear)
        if case.optimum != math.inf:
            inside = [(e, x) for end, sign in zip(ends, (1, -1), strict=True) for e, x in zip(sign * end, sign * case.x, strict=True)]
            assert all(e == -math.inf or Fraction(float(e)) <= Fraction(float(x)) for e, x in inside), name
        values = [(case.x, case.y), (case.x, -case.y), (0.0 * case.x, case.y)]
        for _ in range(4):
            by = rng.choice(SIZES, 2)
            kept = float(rng.integers(0, 2))
            values.append((case.x + by[0] * rng.normal(size=len(case.x)), kept * case.y + by[1] * rng.normal(size=len(case.y))))
        for index, (x, y) in enumerate(values):
            with np.errstate(all="ignore"):
                found = at_values._bounds_at(quadratic, np.clip(x, linear.low, linear.high), y, ends, 1e-8, True)
            assert_true(found, case.optimum, f"{name}, values {index}")
            if index == 0 and case.optimum != math.inf:
                closed, known = closed + (found.relative_gap <= 1e-8), known + 1
        if solves:
            best = proven_bounds(quadratic, *values[-1], 1e-8)
            if best is not None:
                assert_true(best, case.optimum, f"{name}, solved")
    return closed, known


def test_no_values_give_a_false_bound() -> None:
    closed, known = attacked(0, 12, True)
    assert known >= 7 and closed >= 0.8 * known


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_no_values_of_many_problems_give_a_false_bound(seed: int) -> None:
    closed, known = attacked(seed, 500, False)
    assert known >= 300 and closed >= 0.8 * known
