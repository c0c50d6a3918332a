r"""The bound on w beside a loss: a penalty (λ/2)‖w‖² or a ball ‖w‖ ≤ B, with the Newton step and the part of the gap of each.

With the gradient g of the loss at fixed multipliers, a bound leaves of the gap
    penalty:  ‖g + λw‖²/(2λ);       ball:  ⟨g, w⟩ + B‖g‖ = (B − ‖w‖)‖g‖ + ½‖w‖‖g‖·‖w/‖w‖ + g/‖g‖‖².
The step minimises the bound plus the second-order model ⟨g, s⟩ + ½sᵀHs exactly. For the ball that is the trust-region subproblem
‖w + s‖ ≤ B: (H + μI)s = −(g + μw) with ‖w + s‖ = B or μ = 0. 1/‖w + s‖ is a concave and nearly linear function of μ, so that
Newton's method on it needs two or three Cholesky factors. One factor costs d³/3 multiplications.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from simopt.core.arrays import Array
from simopt.problems import bounds

RIDGE = 1e-15  # of each entry of the diagonal: what is added to it where a factor of H alone breaks down
TINY = 1e-30  # the same of the largest entry, for entries that are 0
SECULAR = (1e-12, 1e-3)  # relative accuracy of ‖w + s‖ = B: the best, and the loosest that is ever accepted
CARE = 0.02  # of what the hinges leave of the gap: what an inexact norm may add to it
CLOSER = 0.25  # what ‖w + s‖ may lack of B, as a fraction of what ‖w‖ lacks
TURNS = 60
SAME = 1e-13  # relative distance below which two values of μ are one


class WeightBound(Protocol):
    """The methods of a bound on w that a stage needs."""

    def slope(self, w: Array, move: Array) -> tuple[float, float]:
        """Derivative of the bound at w along the move, and its second derivative."""

    def excess(self, g: Array, w: Array) -> float:
        """The bound's part of the gap."""

    def step(self, H: Array, g: Array, w: Array, rest: float) -> Array:
        """The Newton step; H is (d, d), its lower half filled; `rest` is what else there is of the gap, beside which it has to be exact."""


def length_of(v: Array) -> float:
    """‖v‖."""
    return math.sqrt(float(v @ v))


def factor(H: Array, ridge: float | Array) -> Array:
    """Lower Cholesky factor of H + diag(ridge), or, where that breaks down, with the least larger fraction of its diagonal that has one.

    Shares of its own for each entry, as the units of one feature are no matter of the others.
    """
    diagonal: Array = H.diagonal() + ridge
    extra = tiny = 0.0
    while True:
        A = H.copy(order="F")
        A.ravel(order="K")[:: H.shape[0] + 1] = diagonal * (1.0 + extra) + tiny
        L, info = dpotrf(A, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            out: Array = L
            return out
        largest = float(diagonal.max())
        if not math.isfinite(largest):
            raise ArithmeticError("the second derivative is not finite")
        extra = max(16.0 * extra, RIDGE)
        tiny = max(16.0 * tiny, TINY * largest, 1e-300)


def solve(L: Array, b: Array) -> Array:
    """(L Lᵀ)^{−1} b."""
    x: Array = dpotrs(L, b, lower=1)[0]
    return x


class QuadraticPenalty:
    """(λ/2)‖w‖²."""

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def slope(self, w: Array, move: Array) -> tuple[float, float]:
        """λ⟨w, move⟩ and λ‖move‖²."""
        return self.strength * float(w @ move), self.strength * float(move @ move)

    def excess(self, g: Array, w: Array) -> float:
        """‖g + λw‖²/(2λ)."""
        residual = g + self.strength * w
        return float(residual @ residual) / (2.0 * self.strength)

    def step(self, H: Array, g: Array, w: Array, rest: float) -> Array:
        """−(H + λI)^{−1}(g + λw)."""
        return -solve(factor(H, self.strength), g + self.strength * w)


class WeightBall:
    """‖w‖ ≤ B; keeps μ from one step to the next."""

    def __init__(self, radius: float) -> None:
        self.radius = radius
        self.multiplier = 0.0

    def slope(self, w: Array, move: Array) -> tuple[float, float]:
        """0 and 0: a move between two points of the ball stays in it."""
        return 0.0, 0.0

    def excess(self, g: Array, w: Array) -> float:
        """⟨g, w⟩ + B‖g‖."""
        size, length = length_of(g), length_of(w)
        outer = max(self.radius - length, 0.0) * size
        if size == 0.0 or length == 0.0:
            return outer
        difference = g / size + w / length
        return outer + 0.5 * length * size * float(difference @ difference)

    def step(self, H: Array, g: Array, w: Array, rest: float) -> Array:
        """argmin over ‖w + s‖ ≤ B of ⟨g, s⟩ + ½sᵀHs + ½ρ‖s‖², where ρ is just what Cholesky's factor needs.

        The equation of s is solved exactly for a μ at which B(1 − 2δ) ≤ ‖w + s‖ ≤ B: s is best in a ball a little smaller. 2δB‖g‖ is little
        beside `rest`, and w lies well inside that ball, without which s might not descend.
        """
        size = length_of(g)
        if size == 0.0:
            return np.zeros_like(w)
        inside = CLOSER * (self.radius - length_of(w)) / self.radius
        delta = max(min(CARE * rest / (self.radius * size), inside, SECULAR[1]), SECULAR[0])
        target = self.radius * (1.0 - delta)
        least = np.maximum(RIDGE * H.diagonal(), 1e-16 * size / self.radius)
        mu, low, high = self.multiplier, -1.0, math.inf  # low < 0: 0 has not been tried
        for _ in range(TURNS):
            L = factor(H, mu + least)
            s = -solve(L, g + mu * w)
            v = w + s
            length = length_of(v)
            if abs(length - target) <= 0.9 * delta * target or (length <= target and mu == 0.0):
                break
            if high - low <= SAME * max(low, 0.0):  # the length jumps with the rounding of L, and no μ gives the one sought
                break
            low, high = (mu, high) if length > target else (low, mu)
            turned = length_of(dtrtrs(L, v, lower=1)[0])
            mu = mu + (length / turned) ** 2 * (length - target) / target if turned > 0.0 else -math.inf  # v = 0 says nothing of the slope
            mu = max(mu if low < mu < high else 0.5 * (low + high), 0.0)
        self.multiplier = mu
        return s if length <= self.radius else v * (target / length) - w


def bound_of(declared: bounds.Bound) -> WeightBound:
    """The bound of a problem as the engines take it."""
    match declared:
        case bounds.Ball(radius):
            return WeightBall(radius)
        case bounds.Penalty(regularization):
            return QuadraticPenalty(regularization)
    raise TypeError(f"{declared!r} bounds no weights")


def span(features: Any) -> tuple[Any, Array | None]:
    """The features; for no more samples than features, in coordinates of an orthonormal basis of the span of the ψ_i, and this basis.

    The part of w outside the span would only make it longer. The basis begins with the longest rows, so that short ones have coordinates of
    their own, which scaling tells apart.
    """
    from scipy.linalg import qr

    n, d = features.shape
    if n > d:
        return features, None
    basis, triangle, order = qr(np.asarray(features, dtype=float).T, mode="economic", pivoting=True)
    rows = np.empty((n, n))
    rows[order] = triangle.T
    return rows, basis
