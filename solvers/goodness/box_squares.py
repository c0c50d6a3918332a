r"""Goodness of a similarity for the squared loss: a least-squares problem in a box, by an interior-point method.

    min Σ_i p_i (f_i − y_i)²   subject to   −1 ≤ v ≤ 1,     f = Gv,  G = B K diag(p).
With H = 2Gᵀdiag(p)G formed once, every iteration of Mehrotra's method factorises H + diag(z_l/l + z_u/r), N³/3 flops. The multipliers
q = 2p∘(y − f) of a point leave the gap Σ_j |g_j| − v_j g_j, g = Gᵀq, of which no term is negative: two products with G, and no more is
needed to stop. Where rounding in H stops it before (H has the square of G's condition), the weights away from the bounds are found once
more by least squares with G itself. Projected Newton methods cycle on these matrices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.linalg

from simopt.ground.arrays import Array
from simopt.problems.goodness import Goodness
from simopt.problems.ranking_goodness import RankingGoodness
from simopt.solving.solution import Iterate

BACK = 0.995  # share of the way to the boundary
CORRECTIONS = 3  # of centrality (Gondzio), each two triangular solves; see box_hinges
REACH, GAIN = 0.3, 0.03  # by how much longer a step a correction aims at, and is kept for
NARROW, WIDE = 0.1, 10.0  # products within these multiples of the aim are left as they are
PATIENCE = 6  # iterations in which the gap must be halved
REFINEMENTS = 2  # of the residual
ROUNDS = 60  # changes of the set of free weights


class BoxSquares:
    """min ‖A v − b‖² over |v_j| ≤ 1, with A = diag(√p) G and b = √p∘y.

    Parameters
    ----------
    matrix : (m, n) array
        A.
    rhs : (m,) array
        b.
    """

    def __init__(self, matrix: Array, rhs: Array) -> None:
        self.A, self.b = np.asfortranarray(matrix), rhs
        self.H = scipy.linalg.blas.dsyrk(2.0, self.A, trans=1, lower=1)

    def pull(self, v: Array) -> Array:
        """Minus the gradient, 2Aᵀ(b − Av)."""
        out: Array = 2.0 * (self.A.T @ (self.b - self.A @ v))
        return out

    def gap(self, v: Array, pull: Array) -> float:
        """Σ |g_j| − v_j g_j: how far ‖Av − b‖² may be above its least value in the box."""
        return float(np.sum(np.maximum(np.abs(pull) - v * pull, 0.0)))

    def iterates(self, goal: float, max_iter: int) -> Iterator[tuple[Array, Array, float]]:
        """Points v, residuals ρ ≈ b − Av and gaps until the gap is at most `goal` or stagnates; then those of `polished`.

        Raises
        ------
        LinAlgError
            for a matrix that cannot be factorised at the first iteration.
        """
        n = self.A.shape[1]
        v = np.zeros(n)
        pull = self.pull(v)
        room = float(np.mean(np.abs(pull))) or 1.0
        low = np.maximum(-pull, 0.0) + room
        high = low + pull
        best, mark, since, kept = np.inf, np.inf, 0, (v, low, high)
        for _ in range(max_iter):
            gap = self.gap(v, pull)
            yield v, self.b - self.A @ v, gap
            if gap < best:
                best, kept = gap, (v, low, high)
            since, mark = (0, gap) if gap <= 0.5 * mark else (since + 1, mark)
            if gap <= goal:
                return
            if since >= PATIENCE or not np.isfinite(gap):
                break
            try:
                v, low, high = self._advance(v, low, high, pull)
            except np.linalg.LinAlgError:
                break
            pull = self.pull(v)
        yield from self.polished(*kept)

    def _advance(self, v: Array, low: Array, high: Array, pull: Array) -> tuple[Array, Array, Array]:
        """One predictor–corrector step; v, z_l and z_u go as far as they can."""
        left, right = 1.0 + v, 1.0 - v
        if min(np.min(left), np.min(right)) <= 0.0:
            raise np.linalg.LinAlgError("a weight has reached its bound, to rounding")
        matrix = self.H.copy(order="F")
        matrix.flat[:: len(v) + 1] += low / left + high / right
        factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} of the Newton matrix is not positive")
        off = pull + low - high

        def direction(zl: Array, zr: Array, off: Array | float = off) -> tuple[Array, Array, Array]:
            dv, _ = scipy.linalg.lapack.dpotrs(factor, off + zl / left - zr / right, lower=1)
            return dv, (zl - low * dv) / left, (zr + high * dv) / right

        products = low * left, high * right
        mu = float(np.sum(products[0]) + np.sum(products[1])) / (2 * len(v))
        dv, dl, dh = direction(-products[0], -products[1])
        primal, dual = _reach((left, dv), (right, -dv)), _reach((low, dl), (high, dh))
        after = (low + dual * dl) @ (left + primal * dv) + (high + dual * dh) @ (right - primal * dv)
        aim = (float(after) / (2 * len(v)) / mu) ** 3 * mu
        dv, dl, dh = direction(aim - products[0] - dl * dv, aim - products[1] + dh * dv)
        # one length for both: the multipliers must stay the gradient's
        step = _reach((left, dv), (right, -dv), (low, dl), (high, dh))
        for _ in range(CORRECTIONS):
            if step > 0.9:
                break
            t = min(1.0, step + REACH)
            trial = (low + t * dl) * (left + t * dv), (high + t * dh) * (right - t * dv)
            lacks = [np.maximum(np.clip(part, NARROW * aim, WIDE * aim) - part, -WIDE * aim) for part in trial]
            more = direction(lacks[0], lacks[1], off=0.0)
            longer = dv + more[0], dl + more[1], dh + more[2]
            found = _reach((left, longer[0]), (right, -longer[0]), (low, longer[1]), (high, longer[2]))
            if found < step + GAIN:
                break
            (dv, dl, dh), step = longer, found
        step = min(1.0, BACK * step)
        return v + step * dv, low + step * dl, high + step * dh

    def polished(self, v: Array, low: Array, high: Array) -> Iterator[tuple[Array, Array, float]]:
        """An active-set method from there: least squares in the free weights, as far as the box admits; then the worst bound is released.

        The solution of least norm also serves where columns are dependent. The value falls from step to step. At large B the floats
        b − Av are not orthogonal to the free columns, and B times that is the gap; ρ is b − Av without its part in their span.
        """
        free = (low < 1.0 + v) & (high < 1.0 - v)
        v = np.where(free, v, np.where(v > 0.0, 1.0, -1.0))
        for _ in range(ROUNDS):
            change = np.zeros(len(v))
            if np.any(free):
                change[free] = np.linalg.lstsq(self.A[:, free], self.b - self.A @ v, rcond=None)[0]
            room = np.where(change > 0.0, 1.0 - v, 1.0 + v)
            shares = np.divide(room, np.abs(change), out=np.full(len(v), np.inf), where=change != 0.0)
            blocking = int(np.argmin(shares))
            v = np.clip(v + min(1.0, shares[blocking]) * change, -1.0, 1.0)
            if shares[blocking] < 1.0:
                free[blocking], v[blocking] = False, math.copysign(1.0, change[blocking])
                continue
            rho = self.b - self.A @ v
            for _ in range(REFINEMENTS if np.any(free) else 0):
                rho -= self.A[:, free] @ np.linalg.lstsq(self.A[:, free], rho, rcond=None)[0]
            pull = 2.0 * (self.A.T @ rho)
            misfit = self.b - self.A @ v - rho
            yield v, rho, self.gap(v, pull) + float(misfit @ misfit)
            wrong = np.where(free, 0.0, -v * pull)
            if np.max(wrong) <= 0.0:
                return
            free[np.argmax(wrong)] = True


def _reach(*pairs: tuple[Array, Array]) -> float:
    """The largest step in (0, 1] that keeps x + step·dx ≥ 0 for all pairs (x, dx)."""
    return 1.0 / max(1.0, *(-float(np.min(change / value)) for value, change in pairs))


def squared_iterates(problem: Goodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates of a `Goodness` problem with the squared loss, in natural units; q = 2√p∘ρ."""
    p, y, n = problem.charges(), problem.aims(), len(problem.targets)
    root = np.sqrt(p)
    box = BoxSquares(problem.core * (problem.bound * p) * root[:, None], root * y)
    for v, rho, gap in box.iterates(tol * problem.scale(), max_iter):
        whole, q = np.zeros(n), np.zeros(n)
        whole[problem.charged] = v
        q[problem.charged] = 2.0 * root * rho
        yield Iterate({"v": whole}, {"predictions": q}, gap)


def ranking_iterates(problem: RankingGoodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """min ‖Av − b‖² over the box with A = √D∘(B K diag(μ)), b = √D∘η; multipliers 2√D∘ρ, ρ the residual. O(nN²), then N³/3 an iteration."""
    present = np.flatnonzero(problem.measure > 0.0)
    root = np.sqrt(problem.mass)
    box = BoxSquares(problem.rows[:, present] * (problem.bound * problem.measure[present]) * root[:, None], root * problem.targets)
    for v, rho, gap in box.iterates(tol * problem.scale(), max_iter):
        whole = np.zeros(len(problem.gram))
        whole[present] = v
        yield Iterate({"v": whole}, {"predictions": 2.0 * root * rho}, gap)
