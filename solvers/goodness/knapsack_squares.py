r"""Goodness with a choice function for the squared loss: least squares in a box with one knapsack row, by an interior-point method.

    min Σ_i p_i (f_i − y_i)²   subject to   0 ≤ v⁺, v⁻ ≤ 1,  Σ_j p_j (v⁺_j + v⁻_j) ≤ T = τ Σ p,      f = G(v⁺ − v⁻),  G = (B/τ) K diag(p).
R is only there to bound Σ p|v|, as in the simplex method. Both halves share H = 2Gᵀdiag(p)G: with D⁺, D⁻ the second derivatives of the
barriers and u = dv⁺ − dv⁻, a step solves (H + D⁺D⁻/(D⁺ + D⁻))u = r + dt·s, one Cholesky factorisation of order N, and a scalar equation for
the change dt of the row's multiplier. Mehrotra's predictor and corrector; the start is feasible for both programmes.
With R the fractional knapsack that keeps R ≥ |v|, q = 2p∘(y − f), g = Gᵀq and h_j = |g_j|/p_j, a point leaves the gap
    Σ_j p_j ((1 − R_j)[h_j − t]_+ + R_j[t − h_j]_+) + R_j p_j h_j − v_j g_j,
of which no term is negative: two products with G.
Source: Kar & Jain 2012, Definition 7, relaxed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from simopt.ground.arrays import Array
from simopt.problems.goodness_choice import GoodnessChoice
from simopt.solving.solution import Iterate

BACK = 0.995  # share of the way to the boundary
PATIENCE = 8  # iterations in which the gap must be halved
TINY = 1e-300


@dataclass(frozen=True)
class State:
    """x = (v⁺, v⁻), shape (2, N), its multipliers at 0 and at 1, the room s of the knapsack row and its multiplier t. Also a direction."""

    x: Array
    low: Array
    high: Array
    s: float
    t: float


class KnapsackSquares:
    """min ‖A(v⁺ − v⁻) − b‖² over the set above, A = diag(√p) G and b = √p∘y."""

    def __init__(self, matrix: Array, rhs: Array, masses: Array, room: float) -> None:
        self.A, self.b, self.p, self.room = np.asfortranarray(matrix), rhs, masses, room
        self.H = scipy.linalg.blas.dsyrk(2.0, self.A, trans=1, lower=1)

    def pull(self, v: Array) -> Array:
        """2Aᵀ(b − Av) = Gᵀq."""
        out: Array = 2.0 * (self.A.T @ (self.b - self.A @ v))
        return out

    def start(self) -> State:
        """Both halves at a quarter of the mass or less, multipliers that make the dual feasible, of one size."""
        n = len(self.p)
        x = np.full((2, n), min(0.25 * self.room / float(np.sum(self.p)), 0.5))
        pull = self.pull(np.zeros(n))
        size = float(np.mean(np.abs(pull))) or 1.0
        t = size / float(np.mean(self.p))
        slope = self.slopes(pull, t)
        low = np.maximum(slope, 0.0) + size
        return State(x, low, low - slope, self.room - float(np.sum(x @ self.p)), t)

    def slopes(self, pull: Array, t: float) -> Array:
        """Derivatives of the Lagrangian along v⁺ and v⁻ without the bounds, shape (2, N)."""
        return np.stack([-pull, pull]) + t * self.p

    def share(self, v: Array, pull: Array) -> tuple[Array, float]:
        """R ≥ |v| with Σ pR = T that prefers large |g_j|/p_j, and the gap that v then leaves."""
        size, least, p = np.abs(pull), np.abs(v), self.p
        h = size / p
        order = np.argsort(-h, kind="stable")
        reached = int(np.searchsorted(np.cumsum(p[order]), self.room))
        t = float(h[order[min(reached, len(p) - 1)]])
        lack = np.maximum(self.room - float(p @ least), 0.0)
        before = np.cumsum((p * (1.0 - least))[order]) - (p * (1.0 - least))[order]
        R = least.copy()
        R[order] += np.clip((lack - before) / p[order], 0.0, 1.0 - least[order])
        off = p * ((1.0 - R) * np.maximum(h - t, 0.0) + R * np.maximum(t - h, 0.0)) + np.maximum(R * size - v * pull, 0.0)
        return R, float(np.sum(off))

    def advance(self, at: State, pull: Array) -> State:
        """One predictor–corrector step.

        Raises
        ------
        LinAlgError
            when the Newton matrix cannot be factorised, or a variable has reached its bound, to rounding.
        """
        left, right = at.x, 1.0 - at.x
        if min(np.min(left), np.min(right), at.s, at.t) <= TINY:
            raise np.linalg.LinAlgError("a variable has reached its bound, to rounding")
        D = at.low / left + at.high / right
        both = D[0] + D[1]
        matrix = self.H.copy(order="F")
        matrix.flat[:: len(self.p) + 1] += D[0] / both * D[1]
        factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} of the Newton matrix is not positive")
        off = -(self.slopes(pull, at.t) - at.low + at.high)
        missing = self.room - at.s - float(np.sum(at.x @ self.p))
        tilt = (D[0] - D[1]) / both
        along, _ = scipy.linalg.lapack.dpotrs(factor, self.p * tilt, lower=1)

        def direction(zl: Array, zr: Array, zs: float) -> State:
            r = off + zl / left - zr / right
            u, _ = scipy.linalg.lapack.dpotrs(factor, (r[0] * D[1] - r[1] * D[0]) / both, lower=1)
            held = float(self.p @ (2.0 * (r[0] + r[1]) / both - tilt * u)) + zs / at.t - missing
            dt = held / (at.s / at.t + float(self.p @ (4.0 * self.p / both + tilt * along)))
            u = u + dt * along
            c = r[0] + r[1] - 2.0 * dt * self.p
            dx = np.stack([(D[1] * u + c) / both, (c - D[0] * u) / both])
            return State(dx, (zl - at.low * dx) / left, (zr + at.high * dx) / right, (zs - at.s * dt) / at.t, dt)

        products = at.low * left, at.high * right, at.s * at.t
        count = 2 * left.size + 1
        mu = float(np.sum(products[0]) + np.sum(products[1]) + products[2]) / count
        d = direction(-products[0], -products[1], -products[2])
        step = _reach(at, d)
        after = np.sum((at.low + step * d.low) * (left + step * d.x)) + np.sum((at.high + step * d.high) * (right - step * d.x))
        after += (at.s + step * d.s) * (at.t + step * d.t)
        aim = (float(after) / count / mu) ** 3 * mu
        d = direction(aim - products[0] - d.low * d.x, aim - products[1] + d.high * d.x, aim - products[2] - d.s * d.t)
        step = min(1.0, BACK * _reach(at, d))
        return State(at.x + step * d.x, at.low + step * d.low, at.high + step * d.high, at.s + step * d.s, at.t + step * d.t)


def _reach(at: State, d: State) -> float:
    """The largest step in (0, 1] that keeps everything non-negative."""
    pairs = (at.x, d.x), (1.0 - at.x, -d.x), (at.low, d.low), (at.high, d.high)
    longest = max(-float(np.min(change / value)) for value, change in pairs)
    return 1.0 / max(1.0, longest, -d.s / at.s, -d.t / at.t)


def knapsack_iterates(problem: GoodnessChoice, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates of a `GoodnessChoice` problem with the squared loss, in natural units; q = 2√p∘(b − Av)."""
    p, n, charged = problem.charges(), len(problem.targets), problem.charged
    root = np.sqrt(p)
    matrix = problem.core * ((problem.bound / problem.density) * p) * root[:, None]
    squares = KnapsackSquares(matrix, root * problem.aims(), p, problem.density * float(np.sum(p)))
    goal = tol * problem.scale()
    at, mark, since = squares.start(), np.inf, 0
    for _ in range(max_iter):
        v = at.x[0] - at.x[1]
        pull = squares.pull(v)
        R, gap = squares.share(v, pull)
        whole, share, q = np.zeros(n), np.zeros(n), np.zeros(n)
        whole[charged], share[charged] = v, R
        q[charged] = 2.0 * root * (squares.b - squares.A @ v)
        yield Iterate({"v": whole, "R": share}, {"predictions": q}, gap)
        since, mark = (0, gap) if gap <= 0.5 * mark else (since + 1, mark)
        if gap <= goal or since >= PATIENCE or not np.isfinite(gap):
            return
        try:
            at = squares.advance(at, pull)
        except np.linalg.LinAlgError:
            return
