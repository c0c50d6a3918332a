r"""Goodness of a similarity for the squared loss: a least-squares problem in a box, by an interior-point method.

    min Σ_i p_i (f_i − y_i)²   subject to   −1 ≤ v ≤ 1,     f = Gv,  G = B K diag(p).
With H = 2Gᵀdiag(p)G formed once, every iteration (solvers/interior) factorises H + diag(z_l/l + z_u/r), N³/3 flops. The multipliers
q = 2p∘(y − f) of a point leave the gap Σ_j |g_j| − v_j g_j, g = Gᵀq, of which no term is negative. It takes two products with G, and no
more is needed to stop. If rounding in H stops it before (H has the square of G's condition), the weights away from the bounds are found
once more by least squares with G itself. Projected Newton methods cycle on these matrices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import scipy.linalg

from simopt.core.arrays import Array
from simopt.problems.goodness import Goodness
from simopt.problems.ranking_goodness import RankingGoodness
from simopt.solvers.goodness.box_hinges import scatter
from simopt.solvers.interior.pairs import InteriorState, Pairs, Parts, cholesky, solved
from simopt.solving.solution import Iterate

REFINEMENTS = 2  # of the residual
ROUNDS = 60  # changes of the set of free weights


class BoxSquares(Pairs):
    """min ‖A v − b‖² over |v_j| ≤ 1, with A = diag(√p) G and b = √p∘y.

    Parameters
    ----------
    matrix : (m, n) array
        A.
    rhs : (m,) array
        b.
    """

    joint = True  # the multipliers must stay the gradient's
    patience: ClassVar[int] = 6

    def __init__(self, matrix: Array, rhs: Array) -> None:
        self.A, self.b = np.asfortranarray(matrix), rhs
        self.H = scipy.linalg.blas.dsyrk(2.0, self.A, trans=1, lower=1)
        one = np.ones(self.A.shape[1])
        pull = self.pull(self.b)
        slack = float(np.mean(np.abs(pull))) or 1.0
        low = np.maximum(-pull, 0.0) + slack
        self.x = InteriorState((0.0 * one,), (one, one), (low, low + pull))
        self.update_gap()

    def pull(self, rho: Array) -> Array:
        """2Aᵀρ: minus the gradient where ρ = b − Av."""
        out: Array = 2.0 * (self.A.T @ rho)
        return out

    def gap_of(self, v: Array, pull: Array) -> float:
        """Σ |g_j| − v_j g_j: how far ‖Av − b‖² may be above its least value in the box."""
        return float(np.sum(np.maximum(np.abs(pull) - v * pull, 0.0)))

    def update_gap(self) -> None:
        """v, ρ = b − Av, and the gap."""
        (self.v,) = self.x.free
        self.rho = self.b - self.A @ self.v
        self.g = self.pull(self.rho)
        self.gap = self.gap_of(self.v, self.g)

    def factorise(self) -> None:
        (left, right), (low, high) = self.x.slacks, self.x.multipliers
        if np.max(np.abs(self.v)) >= 1.0:
            raise np.linalg.LinAlgError("a weight has reached its bound, to rounding")
        matrix = self.H.copy(order="F")
        matrix.flat[:: len(low) + 1] += low / left + high / right
        self.factor = cholesky(matrix)
        self.residuals = (self.g + low - high,)

    def solve(self, r_comp: Parts, residuals: Parts) -> InteriorState:
        (left, right), (low, high), (zl, zr) = self.x.slacks, self.x.multipliers, r_comp
        dv = solved(self.factor, residuals[0] + zl / left - zr / right)
        return InteriorState((dv,), (dv, -dv), ((zl - low * dv) / left, (zr + high * dv) / right))

    def points(self, goal: float, max_iter: int) -> Iterator[tuple[Array, Array, float]]:
        """Points v, residuals ρ ≈ b − Av and gaps until the gap is at most `goal` or stagnates; then those of `polished`."""
        least, best = math.inf, self.x
        for at in self.iterates(goal, max_iter):
            yield at.v, at.rho, at.gap
            if at.gap < least:
                least, best = at.gap, at.x
        if least > goal:
            yield from self.polished(best)

    def polished(self, x: InteriorState) -> Iterator[tuple[Array, Array, float]]:
        """An active-set method from there: least squares in the free weights, as far as the box admits; then the worst bound is released.

        The solution of least norm also serves where columns are dependent. The value falls from step to step. At large B the floats b − Av
        are not orthogonal to the free columns, and B times that is the gap. ρ is b − Av without its part in their span.
        """
        ((v,), (left, right), (low, high)) = x.free, x.slacks, x.multipliers
        free = (low < left) & (high < right)
        v = np.where(free, v, np.where(v > 0.0, 1.0, -1.0))
        for _ in range(ROUNDS):
            change = np.zeros(len(v))
            if np.any(free):
                change[free] = np.linalg.lstsq(self.A[:, free], self.b - self.A @ v, rcond=None)[0]
            slack = np.where(change > 0.0, 1.0 - v, 1.0 + v)
            ratios = np.divide(slack, np.abs(change), out=np.full(len(v), np.inf), where=change != 0.0)
            blocking = int(np.argmin(ratios))
            v = np.clip(v + min(1.0, ratios[blocking]) * change, -1.0, 1.0)
            if ratios[blocking] < 1.0:
                free[blocking], v[blocking] = False, math.copysign(1.0, change[blocking])
                continue
            rho = self.b - self.A @ v
            for _ in range(REFINEMENTS if np.any(free) else 0):
                rho -= self.A[:, free] @ np.linalg.lstsq(self.A[:, free], rho, rcond=None)[0]
            pull = self.pull(rho)
            misfit = self.b - self.A @ v - rho
            yield v, rho, self.gap_of(v, pull) + float(misfit @ misfit)
            wrong = np.where(free, 0.0, -v * pull)
            if np.max(wrong) <= 0.0:
                return
            free[np.argmax(wrong)] = True


def squared_iterates(problem: Goodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates of a `Goodness` problem with the squared loss, in natural units; q = 2√p∘ρ."""
    p, y = problem.support_masses(), problem.support_targets()
    root = np.sqrt(p)
    box = BoxSquares(problem.core * (problem.bound * p) * root[:, None], root * y)
    for v, rho, gap in box.points(tol * problem.scale(), max_iter):
        yield Iterate({"v": scatter(problem, v)}, {"predictions": scatter(problem, 2.0 * root * rho)}, gap)


def ranking_iterates(problem: RankingGoodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """min ‖Av − b‖² over the box with A = √D∘(B K diag(μ)), b = √D∘η; multipliers 2√D∘ρ, ρ the residual. O(nN²), then N³/3 an iteration."""
    present = np.flatnonzero(problem.measure > 0.0)
    root = np.sqrt(problem.mass)
    box = BoxSquares(problem.rows[:, present] * (problem.bound * problem.measure[present]) * root[:, None], root * problem.targets)
    for v, rho, gap in box.points(tol * problem.scale(), max_iter):
        whole = np.zeros(len(problem.gram))
        whole[present] = v
        yield Iterate({"v": whole}, {"predictions": 2.0 * root * rho}, gap)
