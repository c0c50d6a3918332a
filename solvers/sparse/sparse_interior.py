r"""Smoothed ε-insensitive regression over the ℓ₁ ball by an interior-point method, for solutions that are not sparse.

The hinges are those of `hinge_interior`; the ball is w = u − v with u, v > 0 and ω = B − Σ (u + v) > 0. Their multipliers are
z = g + λ, t = −g + λ and λ, g the gradient. With P = diag(z/u), Q = diag(t/v), R = (P⁻¹ + Q⁻¹)⁻¹ and H the curvature of the hinges,
Newton's equations H dw + P du + dλ = r, −H dw + Q dv + dλ = s. They leave
    (H + R) dw = R (P⁻¹(r − dλ) − Q⁻¹(s − dλ)),
one Cholesky factor of order d for two right-hand sides, and one number dλ. The products of the hinges have the target μ; those of the ball
have μ/n, as the mean weight of a hinge in the loss is 1/n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.data.row_blocks import RowBlocks
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.hinges.hinge_interior import HingeRun
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import factor, solve
from simopt.solvers.interior.predictor_corrector import Lengths
from simopt.solving.solution import Iterate


@dataclass(frozen=True)
class Parts:
    """u, v and ω in one vector of 2d + 1 numbers, and their multipliers z, t and λ. Also a direction."""

    sizes: Array
    multipliers: Array

    def moved(self, other: Parts, step: float) -> Parts:
        """After that step."""
        return Parts(self.sizes + step * other.sizes, self.multipliers + step * other.multipliers)

    def reach(self, other: Parts) -> float:
        """The largest step in (0, 1] that keeps all numbers ≥ 0."""
        return 1.0 / max(1.0, -float(np.min(other.sizes / self.sizes)), -float(np.min(other.multipliers / self.multipliers)))


@dataclass(frozen=True)
class FactoredSystem:
    """The Cholesky factor of H + R, R, and P⁻¹ and Q⁻¹."""

    factor: Array
    R: Array
    flat: Array

    def halves(self, rhs: Array) -> Array:
        """(du, dv) for one right-hand side (r, s).

        The smaller of P⁻¹ and Q⁻¹ gives its half; dw, free of its rounding errors, the other.
        """
        R, flat, d = self.R, self.flat, len(self.R)
        right = R * (flat[:d] * rhs[:d] - flat[d:] * rhs[d:])
        dw = solve(self.factor, right)
        image = right - R * dw  # H dw
        du, dv = flat[:d] * (rhs[:d] - image), flat[d:] * (rhs[d:] + image)
        smaller = flat[:d] < flat[d:]
        return np.concatenate([np.where(smaller, du, dw + dv), np.where(smaller, du - dw, dv)])


class L1Interior(HingeRun[Parts]):
    """The run of the hinges with the barrier of the ball: `parts` are its pairs, and w = u − v."""

    def __init__(self, rows: RowBlocks, hinges: Hinges, radius: float, mu: float) -> None:
        n, d = rows.shape
        self.radius = radius
        super().__init__(rows, hinges, np.zeros(d), np.zeros(d), mu)
        level = max(2.0 * float(np.max(np.abs(self.g))), mu / n * (2 * d + 1) / radius)
        self.parts = Parts(np.full(2 * d + 1, radius / (2 * d + 1)), level + np.concatenate([self.g, -self.g, [0.0]]))

    def left(self) -> float:
        """⟨g, w⟩ + B‖g‖_∞ as a sum of non-negative terms."""
        g, w = self.g, self.w
        largest = float(np.max(np.abs(g), initial=0.0))
        slack = max(self.radius - float(np.sum(np.abs(w))), 0.0) * largest
        return slack + float(np.abs(w) @ np.maximum(largest + np.sign(w) * g, 0.0))

    def factorise(self) -> None:
        d = len(self.w)
        matrix = self._curvature()
        flat = self.parts.sizes[:-1] / self.parts.multipliers[:-1]  # P⁻¹ and Q⁻¹
        R = 1.0 / (flat[:d] + flat[d:])
        matrix.ravel(order="K")[:: d + 1] += R
        self._system = FactoredSystem(factor(matrix, 0.0), R, flat)
        self._linear = self._system.halves(-np.ones(2 * d))

    def mean(self, move: Parts | None = None, lengths: Lengths = (0.0, 0.0)) -> float:
        """In the unit of μ: 4 of each hinge pair, of weight 1 in all, and 2d + 1 of weight 1/n."""
        n, d = self.rows.shape
        parts = self.parts if move is None else self.parts.moved(move, lengths[0])
        return (4.0 * self._mean(lengths[0]) + float(parts.sizes @ parts.multipliers)) / (4.0 + (2 * d + 1) / n)

    def direction(self, target: float, predictor: Parts | None = None, reached: Lengths = (0.0, 0.0)) -> tuple[Parts, Lengths]:
        """Newton's step towards products of the size `target`, second-order terms of a predictor among them."""
        n, d = self.rows.shape
        x, y = self.parts.sizes, self.parts.multipliers
        product: float | Array = target / n
        if predictor is not None:
            self._set_newton_terms(target)
            product = product - predictor.sizes * predictor.multipliers
        wanted = product / x
        gradient = self.g + self._pulled()
        fixed = self._system.halves(wanted[:-1] - y[-1] - np.concatenate([gradient, -gradient]))
        sample_weights = y[-1] / x[-1]
        rise = (wanted[-1] - y[-1] + sample_weights * float(np.sum(fixed))) / (1.0 - sample_weights * float(np.sum(self._linear)))
        change = fixed + rise * self._linear
        sizes = np.append(change, -float(np.sum(change)))
        move = Parts(sizes, wanted - y - sizes * y / x)
        longest = min(self._reach(change[:d] - change[d:], target), self.parts.reach(move))
        return move, (longest, longest)

    def advance(self, move: Parts, lengths: Lengths) -> None:
        super().advance(move, lengths)
        self.parts = self.parts.moved(move, lengths[0])
        d = len(self.w)
        self.w = self.parts.sizes[:d] - self.parts.sizes[d:-1]


def interior_point(problem: SparseLandmarked, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """10 to 40 iterations of n d² + d³/3 multiplications, whatever β and however many weights are 0; 25 vectors of n numbers beside Ψ.

    If the ball is far larger than the solution needs, B times the rounding errors of the gradient remain of the gap.
    """
    y, sample_weights = problem.targets, problem.sample_weights.floats
    shift = 0.0 if problem.smoothness == math.inf else 1.0 / problem.smoothness
    hinges = Hinges(y - problem.epsilon, y + problem.epsilon, sample_weights, shift)
    method = L1Interior(RowBlocks(problem.features), hinges, problem.radius, hinges.first_width())
    for at in method.iterates(tol * problem.scale(), max_iter):
        yield Iterate({"w": at.w}, {"below": sample_weights * at.below, "above": sample_weights * at.above}, at.gap)
