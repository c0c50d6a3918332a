"""Search for the instance with the least slack over a cube: random points first, then Nelder–Mead from the best of them.

The number of evaluations is fixed beforehand; the clock plays no part. A claim that asks for SOME instance is searched for the most slack.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from simopt.claims.check import Check, Outcome
from simopt.claims.enclosure import as_float
from simopt.core.arrays import Array

STARTS = 3
RANDOM_FRACTION = 0.4


def attack(objective: Callable[[Array], float], dimension: int, evaluations: int, rng: np.random.Generator) -> tuple[Array, float]:
    """Minimise `objective` over [0, 1]^dimension with exactly the given number of evaluations (or fewer, where a search converges).

    Parameters
    ----------
    objective
        slack at a point of the cube; infinite where the point is no instance.
    evaluations
        total budget: 40 % random points and corners, the rest in three local searches.

    Returns
    -------
    Best point and its slack.
    """
    from scipy.optimize import minimize

    scattered = max(STARTS, int(RANDOM_FRACTION * evaluations))
    points = rng.random((scattered, dimension))
    edges = max(1, scattered // 8)
    points[:edges] = np.round(points[:edges])  # extremes sit in corners
    values = [objective(point) for point in points]
    order = np.argsort(values, kind="stable")
    best, least = points[order[0]], values[order[0]]
    share = (evaluations - scattered) // STARTS
    for start in order[:STARTS]:
        if share <= dimension or not math.isfinite(values[start]):
            continue
        options = {"maxfev": share, "initial_simplex": _simplex(points[start]), "xatol": 1e-10, "fatol": 0.0}
        found = minimize(lambda x: objective(np.clip(x, 0, 1)), points[start], method="Nelder-Mead", options=options)
        if found.fun < least:
            best, least = np.clip(found.x, 0, 1), float(found.fun)
    return best, least


def _simplex(point: Array) -> Array:
    corners = np.vstack([point, *(point + step for step in 0.1 * np.eye(point.size))])
    return np.where(corners > 1, 2 * point - corners, corners)


def relative_slack(checks: Sequence[Check]) -> float:
    """The objective of an attack on one instance: the least slack, relative to the bound where there is a positive one.

    The relative slack 1 − tightness has the sign of the slack, and does not shrink with the instance.
    """
    least = math.inf
    for check in checks:
        if check.outcome(0.0) is Outcome.VACUOUS or check.boolean:
            continue
        ratio = check.tightness
        least = min(least, as_float(check.low) if ratio is None else 1.0 - ratio)
    return least
