r"""The least rate of label noise at which a convex potential fails on Long and Servedio's points, as a function of their scale γ.

For a strictly convex noisy potential let g(v) = (1 − σ)ψ′(v) − σψ′(−v), and t be the root of g(t) + 6γ g(6γt) = 0. The southern point gets
a negative score iff g(6γt) < (2/5) g(0) (RMW-LS1-criterion). For the hinge the answer is 12γ/(5 + 24γ), γ < 1/6. As σ → ½ a ψ with
ψ″(0) > 0 turns into its parabola at 0, for which the criterion reads 24γ² + 10γ < 1, that is γ < 1/12, whatever ψ. These are floats for a
picture; what is claimed is claimed elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.convex_potential import ConvexPotential, three_points
from simopt.theorems.rmw.long_servedio import threshold

POTENTIALS = ("hinge", "squared-hinge", "logistic", "exponential")
FAR = 700.0  # beyond this score an exponential overflows
LEAST_RATE = 1e-100


def excess(potential: str, gamma: float, rate: float) -> float:
    """(g(6γt) − (2/5) g(0))/|g(0)| at the root t: negative iff the minimiser loses the southern point. Not for the hinge."""
    slope = ConvexPotential(*three_points(gamma, rate), potential).phi.slope

    def g(v: float) -> float:
        steep, flat = slope(np.array([v, -v]))
        return float(rate * flat - (1.0 - rate) * steep)

    def along(t: float) -> float:
        return g(t) + 6.0 * gamma * g(6.0 * gamma * t)

    if along(FAR) < 0.0:  # the root lies so far out that g(6γt) is positive or g is flat
        return (g(6.0 * gamma * FAR) - 0.4 * g(0.0)) / abs(g(0.0))
    t = _root(along, 0.0, FAR)
    return (g(6.0 * gamma * t) - 0.4 * g(0.0)) / abs(g(0.0))


def failing_rate(potential: str, gamma: float) -> float | None:
    """Least σ from which on the minimiser loses the southern point, at least 1e-100; None if it never does. For 0 < γ < 1.

    Raises
    ------
    InvalidProblem
        for a potential that is not known, or a scale outside (0, 1).
    """
    if potential not in POTENTIALS or not 0.0 < gamma < 1.0:
        raise InvalidProblem(f"potential: one of {', '.join(POTENTIALS)} at a scale in (0, 1) is expected, got {potential!r} at {gamma}")
    if potential == "hinge":
        return float(threshold(gamma)) if gamma < 1.0 / 6.0 else None
    highest = 0.5 - 1e-6
    if excess(potential, gamma, highest) >= 0.0:
        return None
    if excess(potential, gamma, LEAST_RATE) < 0.0:
        return LEAST_RATE
    return math.exp(_root(lambda log_rate: excess(potential, gamma, math.exp(log_rate)), math.log(LEAST_RATE), math.log(highest)))


def curve(potential: str, scales: Array) -> tuple[Array, Array]:
    """The scales at which the potential fails for some rate, and the least such rates."""
    found = [(float(gamma), failing_rate(potential, float(gamma))) for gamma in scales]
    kept = [(gamma, rate) for gamma, rate in found if rate is not None]
    return np.array([gamma for gamma, _ in kept]), np.array([rate for _, rate in kept])


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-12))
