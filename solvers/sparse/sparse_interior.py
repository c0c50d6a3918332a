r"""Smoothed ε-insensitive regression over the ℓ₁ ball by an interior-point method, for solutions that are not sparse.

The hinges are those of `hinge_interior`; the ball is w = u − v with u, v > 0 and ω = B − Σ (u + v) > 0, whose multipliers are
z = g + λ, t = −g + λ and λ, g the gradient. With P = diag(z/u), Q = diag(t/v), R = (P⁻¹ + Q⁻¹)⁻¹ and H the curvature of the hinges,
Newton's equations H dw + P du + dλ = r, −H dw + Q dv + dλ = s leave
    (H + R) dw = R (P⁻¹(r − dλ) − Q⁻¹(s − dλ)),
one Cholesky factor of order d for two right-hand sides, and one number dλ. The products of the hinges have the aim μ; those of the ball
have μ/n, as each hinge has a share of 1/n in the loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simopt.data.row_blocks import RowBlocks
from simopt.ground.arrays import Array
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.hinges.hinge_interior import CENTRING, SHORT, SHORTEST, Interior, advance, directions, mean_product
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import factor, solve
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

IDLE = 10  # iterations without a smaller gap: rounding


@dataclass(frozen=True)
class Parts:
    """u, v and ω in one vector of 2d + 1 numbers, and their multipliers z, t and λ. Also a direction."""

    sizes: Array
    prices: Array

    def product(self, other: Parts, step: float) -> float:
        """Σ of the products after a step in the direction `other`."""
        return float((self.sizes + step * other.sizes) @ (self.prices + step * other.prices))

    def moved(self, other: Parts, step: float) -> Parts:
        """After that step."""
        return Parts(self.sizes + step * other.sizes, self.prices + step * other.prices)

    def reach(self, other: Parts) -> float:
        """The largest step in (0, 1] that keeps all numbers ≥ 0."""
        return 1.0 / max(1.0, -float(np.min(other.sizes / self.sizes)), -float(np.min(other.prices / self.prices)))


@dataclass(frozen=True)
class System:
    """The Cholesky factor of H + R, and R."""

    factor: Array
    R: Array

    def halves(self, flat: Array, rhs: Array) -> Array:
        """(du, dv) for one right-hand side (r, s); `flat` is P⁻¹ and Q⁻¹.

        The smaller of these gives its half; dw, free of its rounding errors, the other.
        """
        R, d = self.R, len(self.R)
        right = R * (flat[:d] * rhs[:d] - flat[d:] * rhs[d:])
        dw = solve(self.factor, right)
        bent = right - R * dw  # H dw
        du, dv = flat[:d] * (rhs[:d] - bent), flat[d:] * (rhs[d:] + bent)
        smaller = flat[:d] < flat[d:]
        return np.concatenate([np.where(smaller, du, dw + dv), np.where(smaller, du - dw, dv)])


class Octahedron:
    """‖w‖₁ ≤ B: its part of the gap, as a `Bound` has it."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def slope(self, w: Array, move: Array) -> tuple[float, float]:
        """0 and 0: a move between two points of the ball stays in it."""
        return 0.0, 0.0

    def excess(self, g: Array, w: Array) -> float:
        """⟨g, w⟩ + B‖g‖_∞ as a sum of non-negative terms."""
        largest = float(np.max(np.abs(g), initial=0.0))
        room = max(self.radius - float(np.sum(np.abs(w))), 0.0) * largest
        return room + float(np.abs(w) @ np.maximum(largest + np.sign(w) * g, 0.0))

    def step(self, H: Array, g: Array, w: Array, rest: float) -> Array:
        """Not used: the ball has a barrier here."""
        raise NotImplementedError


class L1Interior(Interior):
    """The state of `Interior` with the barrier of the ball."""

    def __init__(self, rows: RowBlocks, hinges: Hinges, radius: float, mu: float) -> None:
        n, d = rows.shape
        super().__init__(rows, hinges, Octahedron(radius), np.zeros(d), np.zeros(d), mu)
        level = max(2.0 * float(np.max(np.abs(self.g))), mu / n * (2 * d + 1) / radius)
        self.parts = Parts(np.full(2 * d + 1, radius / (2 * d + 1)), level + np.concatenate([self.g, -self.g, [0.0]]))

    def iterate(self) -> float:
        """Predictor and corrector; the share of the step that could be made."""
        d = len(self.w)
        self._move[:] = 0.0
        none = Parts(np.zeros(2 * d + 1), np.zeros(2 * d + 1))
        self._aim(0.0)
        matrix = self._curvature()
        R = 1.0 / (self.parts.sizes[:d] / self.parts.prices[:d] + self.parts.sizes[d:-1] / self.parts.prices[d:-1])
        matrix.ravel(order="K")[:: d + 1] += R
        system = System(factor(matrix, 0.0), R)
        mu = self._mean(none, 0.0)
        move, t = self._newton(system, 0.0, none)
        mu *= min(max((self._mean(move, t) / mu) ** 3, CENTRING[0]), CENTRING[1])
        self._aim(mu)
        move, t = self._newton(system, mu, move)
        t = min(1.0, SHORT * t)
        if not (np.all(np.isfinite(move.sizes)) and t > SHORTEST):
            return 0.0
        advance(self._state, self._move, t)
        self.parts = self.parts.moved(move, t)
        self.w = self.parts.sizes[:d] - self.parts.sizes[d:-1]
        self._f += t * self._df
        self._judge()
        return t

    def _mean(self, move: Parts, t: float) -> float:
        """Mean product in the unit of μ: 4 of each hinge pair, of weight 1 in all, and 2d + 1 of weight 1/n."""
        n, d = self.rows.shape
        hinges = 4.0 * mean_product(self.hinges.share, self._state, self._move, t)
        return (hinges + self.parts.product(move, t)) / (4.0 + (2 * d + 1) / n)

    def _newton(self, system: System, mu: float, before: Parts) -> tuple[Parts, float]:
        """The direction with the second-order terms of the one `before`, and the largest step."""
        n, d = self.rows.shape
        x, y = self.parts.sizes, self.parts.prices
        wanted = (mu / n - before.sizes * before.prices) / x
        gradient = self.g + self._pulled()
        flat = x[:-1] / y[:-1]  # P⁻¹ and Q⁻¹
        rhs = wanted[:-1] - y[-1] - np.concatenate([gradient, -gradient])
        fixed, linear = system.halves(flat, rhs), system.halves(flat, -np.ones(2 * d))
        share = y[-1] / x[-1]
        rise = (wanted[-1] - y[-1] + share * float(np.sum(fixed))) / (1.0 - share * float(np.sum(linear)))
        change = fixed + rise * linear
        sizes = np.append(change, -float(np.sum(change)))
        prices = wanted - y - sizes * y / x
        move = Parts(sizes, prices)
        self._multiply(change[:d] - change[d:], self._df)
        return move, min(directions(self._df, self.hinges.shift, self._state, self._move, mu, self._q), self.parts.reach(move))


@solver("interior-point", solves=SparseLandmarked, summary="Mehrotra's predictor-corrector for hinges and ℓ₁ ball", rank=5)
def interior_point(problem: SparseLandmarked, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """10 to 40 iterations of n d² + d³/3 multiplications, whatever β and however many weights are 0; 25 vectors of n numbers beside Ψ.

    Where the ball is far larger than the solution needs, B times the rounding errors of the gradient remain of the gap.
    """
    y, n = problem.targets, len(problem.targets)
    shift = 0.0 if problem.smoothness == math.inf else 1.0 / problem.smoothness
    hinges = Hinges(y - problem.epsilon, y + problem.epsilon, np.full(n, 1.0 / n), shift)
    method = L1Interior(RowBlocks(problem.features), hinges, problem.radius, hinges.first_width())
    goal, smallest, idle = tol * problem.scale(), math.inf, 0
    for _ in range(max_iter):
        yield Iterate({"w": method.w}, {"below": method.below / n, "above": method.above / n}, method.gap)
        idle = idle + 1 if method.gap >= smallest else 0
        smallest = min(smallest, method.gap)
        if method.gap <= goal or idle == IDLE or method.iterate() == 0.0:
            return
    yield Iterate({"w": method.w}, {"below": method.below / n, "above": method.above / n}, method.gap)
