r"""Goodness with a choice function for the squared loss: least squares in a box with one knapsack row, by an interior-point method.

    min Σ_i p_i (f_i − y_i)²   subject to   0 ≤ v⁺, v⁻ ≤ 1,  Σ_j p_j (v⁺_j + v⁻_j) ≤ T = τ Σ p,      f = G(v⁺ − v⁻),  G = (B/τ) K diag(p).
R is only there to bound Σ p|v|, as in the simplex method. Both halves share H = 2Gᵀdiag(p)G: with D⁺, D⁻ the second derivatives of the
barriers and u = dv⁺ − dv⁻, a step solves (H + D⁺D⁻/(D⁺ + D⁻))u = r + dt·s. That is one Cholesky factorisation of order N, and a scalar
equation for the change dt of the row's multiplier (solvers/interior). The start is feasible for both programmes.
Let R be the fractional knapsack that keeps R ≥ |v|, q = 2p∘(y − f), g = Gᵀq and h_j = |g_j|/p_j. A point leaves the gap
    Σ_j p_j ((1 − R_j)[h_j − t]_+ + R_j[t − h_j]_+) + R_j p_j h_j − v_j g_j.
No term of it is negative. It takes two products with G.
Source: Kar & Jain 2012, Definition 7, relaxed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import scipy.linalg

from simopt.core.arrays import Array
from simopt.problems.goodness_choice import GoodnessChoice
from simopt.solvers.goodness.box_hinges import scatter
from simopt.solvers.interior.pairs import InteriorState, Pairs, Parts, cholesky, solved
from simopt.solving.solution import Iterate


class KnapsackSquares(Pairs):
    """min ‖A(v⁺ − v⁻) − b‖² over the set above, A = diag(√p) G and b = √p∘y.

    Slacks are x = (v⁺, v⁻) and 1 − x, shape (2, N), and the slack s of the knapsack row.
    """

    joint = True
    corrections: ClassVar[int] = 0
    patience: ClassVar[int] = 8

    def __init__(self, matrix: Array, rhs: Array, masses: Array, capacity: float) -> None:
        self.A, self.b, self.p, self.capacity = np.asfortranarray(matrix), rhs, masses, capacity
        self.H = scipy.linalg.blas.dsyrk(2.0, self.A, trans=1, lower=1)
        self.x = self.start()
        self.update_gap()

    def start(self) -> InteriorState:
        """Both halves at a quarter of the mass or less, multipliers that make the dual feasible, of one size."""
        n = len(self.p)
        x = np.full((2, n), min(0.25 * self.capacity / float(np.sum(self.p)), 0.5))
        pull = self.pull(self.b)
        size = float(np.mean(np.abs(pull))) or 1.0
        t = size / float(np.mean(self.p))
        slope = self.slopes(pull, t)
        low = np.maximum(slope, 0.0) + size
        return InteriorState((), (x, 1.0 - x, np.array([self.capacity - float(np.sum(x @ self.p))])), (low, low - slope, np.array([t])))

    def pull(self, rho: Array) -> Array:
        """2Aᵀρ, which is Gᵀq where ρ = b − Av."""
        out: Array = 2.0 * (self.A.T @ rho)
        return out

    def slopes(self, pull: Array, t: float | Array) -> Array:
        """Derivatives of the Lagrangian along v⁺ and v⁻ without the bounds, shape (2, N)."""
        return np.stack([-pull, pull]) + t * self.p

    def choice(self, v: Array, pull: Array) -> tuple[Array, float]:
        """R ≥ |v| with Σ pR = T that prefers large |g_j|/p_j, and the gap that v then leaves."""
        size, least, p = np.abs(pull), np.abs(v), self.p
        h = size / p
        order = np.argsort(-h, kind="stable")
        reached = int(np.searchsorted(np.cumsum(p[order]), self.capacity))
        t = float(h[order[min(reached, len(p) - 1)]])
        lack = np.maximum(self.capacity - float(p @ least), 0.0)
        before = np.cumsum((p * (1.0 - least))[order]) - (p * (1.0 - least))[order]
        R = least.copy()
        R[order] += np.clip((lack - before) / p[order], 0.0, 1.0 - least[order])
        terms = p * ((1.0 - R) * np.maximum(h - t, 0.0) + R * np.maximum(t - h, 0.0)) + np.maximum(R * size - v * pull, 0.0)
        return R, float(np.sum(terms))

    def update_gap(self) -> None:
        """v, ρ = b − Av, g = 2Aᵀρ = Gᵀq, R and the gap."""
        x = self.x.slacks[0]
        self.v = x[0] - x[1]
        self.rho = self.b - self.A @ self.v
        self.g = self.pull(self.rho)
        self.R, self.gap = self.choice(self.v, self.g)

    def factorise(self) -> None:
        """Cholesky of H + D⁺D⁻/(D⁺ + D⁻): of each weight's two parts one is eliminated, and the row of the sum bordered."""
        (x, right, s), (low, high, t) = self.x.slacks, self.x.multipliers
        if x.max() >= 1.0:
            raise np.linalg.LinAlgError("a weight has reached its bound, to rounding")
        D = self.D = low / x + high / right
        self.both = D[0] + D[1]
        matrix = self.H.copy(order="F")
        matrix.flat[:: len(self.p) + 1] += D[0] / self.both * D[1]
        self.factor = cholesky(matrix)
        self.tilt = (D[0] - D[1]) / self.both
        self.along = solved(self.factor, self.p * self.tilt)
        self.rise = s / t + self.p @ (4.0 * self.p / self.both + self.tilt * self.along)
        self.residuals = low - high - self.slopes(self.g, t), self.capacity - s - np.sum(x @ self.p)

    def solve(self, r_comp: Parts, residuals: Parts) -> InteriorState:
        """The step in the difference of the parts by the factor, and in the multiplier of their sum."""
        (x, right, s), (low, high, t) = self.x.slacks, self.x.multipliers
        (zl, zr, zs), p, D, both = r_comp, self.p, self.D, self.both
        r = residuals[0] + zl / x - zr / right
        u = solved(self.factor, (r[0] * D[1] - r[1] * D[0]) / both)
        total = r[0] + r[1]
        dt = (p @ (2.0 * total / both - self.tilt * u) + zs / t - residuals[1]) / self.rise
        u += dt * self.along
        c = total - 2.0 * dt * p
        dx = np.stack([(D[1] * u + c) / both, (c - D[0] * u) / both])
        return InteriorState((), (dx, -dx, (zs - s * dt) / t), ((zl - low * dx) / x, (zr + high * dx) / right, dt))


def knapsack_iterates(problem: GoodnessChoice, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates of a `GoodnessChoice` problem with the squared loss, in natural units; q = 2√p∘(b − Av)."""
    p = problem.support_masses()
    root = np.sqrt(p)
    matrix = problem.core * ((problem.bound / problem.density) * p) * root[:, None]
    squares = KnapsackSquares(matrix, root * problem.support_targets(), p, problem.density * float(np.sum(p)))
    for at in squares.iterates(tol * problem.scale(), max_iter):
        point = {"v": scatter(problem, at.v), "R": scatter(problem, at.R)}
        yield Iterate(point, {"predictions": scatter(problem, 2.0 * root * at.rho)}, at.gap)
