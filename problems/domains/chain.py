r"""A chain x_1, …, x_n whose steps d_i = x_{i+1} − x_i lie in [l_i, u_i] and whose ends lie in a range: its data and multipliers.

Multipliers are numbers τ_0, …, τ_n: τ_i^+ of d_i ≤ u_i, τ_i^− of d_i ≥ l_i, −τ_0 ≥ 0 of x_1 ≥ lo and −τ_n ≥ 0 of x_n ≤ hi. They
pull sample i by q_i = τ_{i−1} − τ_i, which must be 0 where the sample has no weight.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Annotated

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes, OneOf

Flags = npt.NDArray[np.bool_]
OUTSIDE = ("refuse", "clip", "keep")
NEAR = 1e-9  # a range that the lower bounds fill to this fraction is measured in fractions
ROUNDING = 64 * 2.0**-52  # of the size of x: how far x_1 may be from lo, and x_n from hi, and count as lying there


def weights(name: str, value: npt.ArrayLike) -> Array:
    """w ≥ 0, not all 0."""
    return validate.squarable(name, validate.weights(name, value))


def positions(name: str, value: npt.ArrayLike, *, remedy: str = "sort the samples") -> Array:
    """z, non-decreasing; `remedy` ends the error about samples that are not sorted."""
    z = validate.squarable(name, validate.vector(name, value))
    falls = np.flatnonzero(np.diff(z) < 0)
    if falls.size:
        i = int(falls[0])
        raise InvalidProblem(f"{name}: not sorted, entry {i} is {z[i]:g} and entry {i + 1} is {z[i + 1]:g}; {remedy}")
    return z


def slopes(name: str, value: npt.ArrayLike, *, unbounded: bool = False) -> Array:
    """Numbers ≥ 0; ∞ only if `unbounded`."""
    raw = validate.numbers(name, value)
    infinite = np.isposinf(raw) if unbounded else np.zeros(raw.shape, dtype=bool)
    finite = validate.vector(name, np.where(infinite, 0.0, raw) if np.any(infinite) else raw, minimum=0)
    if np.any(finite < 0):
        i = int(np.argmax(finite < 0))
        raise InvalidProblem(f"{name}: entry {i}, between samples {i} and {i + 1}, is {finite[i]:g}, numbers >= 0 needed")
    return np.where(infinite, math.inf, finite) if np.any(infinite) else finite


def end(name: str, value: float | None, none: float) -> float | None:
    """The end of a range as a float; None where it is None or `none`, which is −∞ or ∞."""
    if value is None or (isinstance(value, float) and value == none):
        return None
    return validate.finite(name, value)


Weights = Annotated[Array, weights, Axes("n")]
Positions = Annotated[Array, positions, Axes("n")]
Slopes = Annotated[Array, slopes]
UnboundedSlopes = Annotated[Array, partial(slopes, unbounded=True)]
Low = Annotated[float | None, partial(end, none=-math.inf)]
High = Annotated[float | None, partial(end, none=math.inf)]


def in_range(targets: Array, low: float | None, high: float | None, outside: str) -> Array:
    """y, all of it in [low, high]: refused or clipped where it is not; or kept as it is.

    Raises
    ------
    InvalidProblem
        for low > high, and for targets outside of the range if `outside` is "refuse".
    """
    OneOf(OUTSIDE)("outside", outside)
    if low is not None and high is not None and low > high:
        raise InvalidProblem(f"low, high: the range is empty, low is {low:g} and high is {high:g}")
    if outside == "keep" or (low is None and high is None):
        return targets
    bottom, top = -math.inf if low is None else low, math.inf if high is None else high
    wrong = (targets < bottom) | (targets > top)
    if not np.any(wrong):
        return targets
    if outside == "clip":
        return np.clip(targets, bottom, top)
    i = int(np.argmax(wrong))
    raise InvalidProblem(
        f"targets: {int(wrong.sum())} of {targets.size} lie outside of the declared range [{bottom:g}, {top:g}] (first at index {i}: "
        f'{targets[i]:g}); change the range, or set outside to "clip" to clip them, or to "keep" to bound the fit only'
    )


def check_steps(name: str, z: Array, bound: Array | float) -> None:
    """Refuse steps bound · (z_{i+1} − z_i) that float64 does not hold, where the bound is not ∞.

    Raises
    ------
    InvalidProblem
        naming the first pair of samples with such a step.
    """
    finite = np.where(np.isinf(bound), 0.0, bound)
    with np.errstate(over="ignore"):
        if math.isfinite(float(np.max(finite, initial=0.0)) * float(z[-1] - z[0])):
            return
        steps = np.diff(z) * finite
    if not np.all(np.isfinite(steps)):
        i = int(np.argmax(~np.isfinite(steps)))
        slope = float(np.broadcast_to(bound, steps.shape)[i])
        raise InvalidProblem(f"{name}: a slope of {slope:g} between samples {i} and {i + 1} is a step beyond float64; inf means no bound")


def check_count(name: str, value: Array | None, n: int) -> None:
    """Refuse slopes that are not n − 1, if there are any."""
    if value is not None and len(value) != n - 1:
        raise InvalidProblem(f"{name}: {validate.counted(len(value), 'value')}, expected {n - 1}, as many as intervals between the samples")


def check_bounds(z: Array, lower: Array | None, steepest: Array | float, low: float | None, high: float | None) -> None:
    """Refuse bounds that no chain keeps.

    Raises
    ------
    InvalidProblem
        naming the pair of samples between which the bounds contradict each other.
    """
    check_steps("lipschitz, upper_slopes", z, steepest)
    if lower is None:
        return
    check_steps("lower_slopes", z, lower)
    rise = np.diff(z)
    wrong = (lower > steepest) & (rise > 0)
    if np.any(wrong):
        i = int(np.argmax(wrong))
        top = float(np.broadcast_to(steepest, lower.shape)[i])
        raise InvalidProblem(
            f"lower_slopes: contradictory bounds between samples {i} and {i + 1}, slope at least {lower[i]:g} and at most {top:g}"
        )
    if low is None or high is None:
        return
    climb = np.cumsum(lower * rise)
    budget = high - low
    beyond = climb > budget * (1.0 + NEAR)
    if not np.any(beyond) and climb.size and climb[-1] >= budget * (1.0 - NEAR):
        beyond = np.zeros_like(beyond)
        beyond[-1] = _exact_climb(z, lower) > Fraction(high) - Fraction(low)
    if np.any(beyond):
        i = int(np.argmax(beyond)) + 1
        raise InvalidProblem(
            f"lower_slopes: contradictory bounds between samples 0 and {i}, a climb of at least {climb[i - 1]:g} "
            f"in the range [{low:g}, {high:g}]"
        )


def _exact_climb(z: Array, lower: Array) -> Fraction:
    exact = [Fraction(float(value)) for value in z]
    return sum((Fraction(float(s)) * (b - a) for s, a, b in zip(lower, exact, exact[1:], strict=False)), Fraction(0))


def divisor(mass: Array) -> Array:
    """w, or 1 where w = 0 and what is divided by it is 0."""
    return np.where(mass > 0, mass, 1.0)


def fitting_fraction(num: Arithmetic, total: Value, budget: Value) -> float:
    """A float ρ ≤ 1 near the largest with ρ · total ≤ budget, provably so in `num`; 0 where there is none."""
    if num.upper(total) <= num.lower(budget):
        return 1.0
    margin, ratio = 1e-15, float(num.mid(budget)) / float(num.mid(total))
    while ratio > 0.0 and margin < 1.0:
        rho = ratio * (1.0 - margin)
        if num.upper(total * rho) <= num.lower(budget):
            return rho
        margin *= 4.0
    return 0.0


def dual_feasible(tau: Array, free: Flags, mass: Array, low: float | None, high: float | None) -> Array:
    """τ with τ_i ≤ 0 on steps without upper bound, ends of the right sign (0 without range), and no pull on samples of no weight."""
    tau = tau.copy()
    ceiling = np.concatenate([[True], free, [True]])
    none = np.zeros(tau.size, dtype=bool)
    none[0], none[-1] = low is None, high is None
    if not np.all(mass > 0):  # the multipliers on both sides of a sample of no weight are one number: their mean
        group = np.concatenate([[0], np.cumsum(mass > 0)])
        count = np.bincount(group)
        tau = (np.bincount(group, weights=tau) / count)[group]
        ceiling, none = (np.bincount(group, weights=flags)[group] > 0 for flags in (ceiling, none))
    tau[ceiling] = np.minimum(tau[ceiling], 0.0)
    tau[none] = 0.0
    return tau


def suggested(gradient: Array, mass: Array, pressed: tuple[bool, bool], below: Array, above: Array) -> Array:
    """τ with q = −gradient, where gradient_i = w_i (x_i − y_i): what a point suggests.

    Parameters
    ----------
    gradient, mass : (n,) arrays
    pressed : pair of bool
        whether x_1 lies at the lower end of the range and x_n at the upper one.
    below, above : (n − 1,) arrays
        d − l and u − d (∞ without upper bound): weights of the multipliers, where both ends are active and τ is not unique.
    """
    if pressed == (False, False):  # what rounding leaves of the sum is spread; sums from the nearer end
        gradient = gradient - mass * (gradient.sum() / mass.sum())
    forward, backward = np.concatenate([[0.0], np.cumsum(gradient)]), np.concatenate([np.cumsum(gradient[::-1])[::-1], [0.0]])
    if pressed == (False, False):
        half = gradient.size // 2
        tau = np.concatenate([forward[: half + 1], -backward[half + 1 :]])
        tau[0] = tau[-1] = 0.0
        return tau
    if pressed == (True, False):
        return -backward
    if pressed == (False, True):
        return forward
    return forward - _least_cost(forward, below, above)


def _least_cost(forward: Array, below: Array, above: Array) -> float:
    """The a ≥ max(0, F_n) that minimises Σ above (F − a)^+ + below (a − F)^+ over the steps: a weighted quantile. O(n log n)."""
    inner = forward[1:-1]
    least = max(0.0, float(forward[-1]), float(np.max(inner[np.isinf(above)], initial=0.0)))
    order = np.argsort(inner, kind="stable")
    slope = np.cumsum((below + np.where(np.isinf(above), 0.0, above))[order]) - float(np.sum(above[~np.isinf(above)]))
    at = np.flatnonzero(slope >= 0.0)
    return max(least, float(inner[order[at[0]]])) if at.size else least
