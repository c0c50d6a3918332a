r"""Goodness of a similarity by a dense interior-point method on the scaled weights, stopped by the true certificate.

With f = Gv, G = B K diag(p), and hinges h_b = c_b − M_b f (one block, M = y, for the hinge loss; two, M = ∓1, for the insensitive one)
    min Σ_b p·s_b   subject to   s_b ≥ h_b, s_b ≥ 0, −1 ≤ v ≤ 1.
Slacks s, t = s − h, l = v + 1, r = 1 − v have the multipliers u = p − a, a, z_l and z_u. Mehrotra's predictor and corrector, and up to
three centrality corrections of Gondzio, solve with GᵀEG + diag(z_l/l + z_u/r), E = Σ_b 1/(t_b/a_b + s_b/u_b): one symmetric product and
one Cholesky factorisation of order N an iteration, 4N³/3 flops, in 10 to 20 iterations. The start is feasible for both programmes, so that
only rounding is ever off. q = Σ_b M_b a_b, clipped, bounds from below, and P(v) − D(q) costs two products with G: the method ends when that
closes. At large B rounding stops it before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from simopt.ground.arrays import Array
from simopt.problems.goodness import Goodness
from simopt.solving.solution import Iterate

PATIENCE = 7  # iterations in which the gap must be halved
BACK = 0.995  # share of the way to the boundary
CORRECTIONS = 3  # centrality corrections; each costs 1/N of an iteration
REACH, GAIN = 0.3, 0.03  # by how much longer a step a correction aims at, and is kept for
NARROW, WIDE = 0.1, 10.0  # products within these multiples of the aim are left as they are
NOTHING = np.zeros(1), np.zeros(1), np.zeros(1)
Four = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class State:
    """v; slacks s, t, l, r; their multipliers u, a, z_l, z_u. Blocks of hinges are rows of s, t, u, a, shape (b, n). Also a direction."""

    v: Array
    slacks: Four
    prices: Four


class BoxLP:
    """The linear programme above over the n points of positive mass, in natural units."""

    def __init__(self, problem: Goodness) -> None:
        y, self.p = problem.aims(), problem.charges()
        self.G = np.asfortranarray(problem.core * (problem.bound * self.p))
        if problem.loss == "hinge":
            self.signs, self.c = y[None, :], np.full((1, len(y)), problem.margin)
        else:
            self.signs = np.array([[-1.0], [1.0]]) * np.ones(len(y))
            self.c = np.vstack([-y - problem.epsilon, y - problem.epsilon])

    def start(self) -> State:
        """v = 0, a = p/2, and slacks and multipliers of the box that make both programmes feasible, with products of one size."""
        a = np.tile(0.5 * self.p, (len(self.c), 1))
        pull = self.G.T @ self.q(a)
        share = float(np.mean(self.p))
        room = max(float(np.mean(np.abs(self.c))), 0.2 * float(np.mean(np.abs(pull))) / share, 1e-3)
        s = np.maximum(self.c, 0.0) + room
        low = np.maximum(-pull, 0.0) + room * share
        one = np.ones(len(self.p))
        return State(0.0 * one, (s, s - self.c, one, one), (self.p - a, a, low, low + pull))

    def q(self, a: Array) -> Array:
        """Σ_b M_b a_b."""
        out: Array = np.sum(self.signs * a, axis=0)
        return out

    def multipliers(self, x: State) -> Array:
        """Σ_b M_b a_b with a clipped to [0, p]."""
        return self.q(np.clip(x.prices[1], 0.0, self.p))

    def gap(self, x: State) -> float:
        """P(v) − D(q). Two products with G."""
        h, a = self.c - self.signs * (self.G @ x.v), np.clip(x.prices[1], 0.0, self.p)
        dual = float(np.sum(a * self.c)) - float(np.sum(np.abs(self.G.T @ self.q(a))))
        return float(np.sum(self.p * np.maximum(h, 0.0))) - dual


class Newton:
    """The Newton system at one state, factorised once.

    Raises
    ------
    LinAlgError
        when rounding has made the matrix indefinite.
    """

    def __init__(self, lp: BoxLP, x: State) -> None:
        self.lp, self.x = lp, x
        (s, t, left, right), (u, a, low, high) = x.slacks, x.prices
        self.E = 1.0 / (t / a + s / u)
        weighted = np.asfortranarray(np.sqrt(np.sum(self.E, axis=0))[:, None] * lp.G)
        matrix = scipy.linalg.blas.dsyrk(1.0, weighted, trans=1, lower=1)
        matrix.flat[:: len(lp.p) + 1] += low / left + high / right
        self.factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} of the Newton matrix is not positive")
        self.residuals = lp.c - (s + lp.signs * (lp.G @ x.v) - t), lp.p - a - u, lp.G.T @ lp.q(a) + low - high

    def direction(self, lacking: Four, *, full: bool = True) -> State:
        """The step that adds `lacking` to the products u s, a t, z_l l, z_u r and, if `full`, removes what is infeasible."""
        lp, (s, t, left, right), (u, a, low, high) = self.lp, self.x.slacks, self.x.prices
        off_rows, off_sum, off_columns = self.residuals if full else NOTHING
        us, at, zl, zr = lacking
        rho = off_rows - (us - s * off_sum) / u + at / a
        dv, _ = scipy.linalg.lapack.dpotrs(self.factor, off_columns + lp.G.T @ lp.q(self.E * rho) + zl / left - zr / right, lower=1)
        da = self.E * (rho - lp.signs * (lp.G @ dv))
        du = off_sum - da
        return State(dv, ((us - s * du) / u, (at - t * da) / a, dv, -dv), (du, da, (zl - low * dv) / left, (zr + high * dv) / right))


def _four(first: Array, second: Array, third: Array, fourth: Array) -> Four:
    return first, second, third, fourth


def _products(x: State) -> Four:
    return _four(*(one * two for one, two in zip(x.slacks, x.prices, strict=True)))


def _mean(products: Four) -> float:
    return float(sum(np.sum(part) for part in products)) / sum(part.size for part in products)


def _reach(x: Four, dx: Four) -> float:
    """The largest step in (0, 1] that keeps x + step·dx ≥ 0."""
    return 1.0 / max(1.0, *(-float(np.min(change / value)) for value, change in zip(x, dx, strict=True)))


def _reaches(x: State, d: State) -> tuple[float, float]:
    return _reach(x.slacks, d.slacks), _reach(x.prices, d.prices)


def _moved(x: State, d: State, primal: float, dual: float) -> State:
    slacks = _four(*(one + primal * two for one, two in zip(x.slacks, d.slacks, strict=True)))
    prices = _four(*(one + dual * two for one, two in zip(x.prices, d.prices, strict=True)))
    return State(x.v + primal * d.v, slacks, prices)


def advance(lp: BoxLP, x: State) -> State:
    """One step of Mehrotra's method with centrality corrections.

    Raises
    ------
    LinAlgError
        when the Newton matrix cannot be factorised.
    """
    newton, products = Newton(lp, x), _products(x)
    mu = _mean(products)
    affine = newton.direction(_four(*(-part for part in products)))
    aim = (_mean(_products(_moved(x, affine, *_reaches(x, affine)))) / mu) ** 3 * mu
    second = _products(State(affine.v, affine.slacks, affine.prices))
    step = newton.direction(_four(*(aim - one - two for one, two in zip(products, second, strict=True))))
    lengths = _reaches(x, step)
    for _ in range(CORRECTIONS):
        if min(lengths) > 0.9:
            break
        trial = _products(_moved(x, step, *(min(1.0, length + REACH) for length in lengths)))
        missing = (np.maximum(np.clip(part, NARROW * aim, WIDE * aim) - part, -WIDE * aim) for part in trial)
        longer = _moved(step, newton.direction(_four(*missing), full=False), 1.0, 1.0)
        found = _reaches(x, longer)
        if max(one - two for one, two in zip(found, lengths, strict=True)) < GAIN or min(found) < 0.9 * min(lengths):
            break
        step, lengths = longer, found
    return _moved(x, step, *(min(1.0, BACK * length) for length in lengths))


def hinge_iterates(problem: Goodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates of a `Goodness` problem with the insensitive or the hinge loss, in natural units, until rounding stops them."""
    lp, goal = BoxLP(problem), tol * problem.scale()
    x, mark, since = lp.start(), np.inf, 0
    for _ in range(max_iter):
        gap = lp.gap(x)
        yield Iterate({"v": _spread(problem, x.v)}, {"predictions": _spread(problem, lp.multipliers(x))}, max(gap, 0.0))
        since, mark = (0, gap) if gap <= 0.5 * mark else (since + 1, mark)
        if gap <= goal or since >= PATIENCE:
            return
        try:
            x = advance(lp, x)
        except np.linalg.LinAlgError:
            return
        if not (np.all(np.isfinite(x.v)) and np.all(np.isfinite(x.prices[1]))):
            return


def _spread(problem: Goodness, values: Array) -> Array:
    """Values of the points of positive mass, and 0 elsewhere."""
    if len(values) == len(problem.targets):
        return values
    out = np.zeros(len(problem.targets))
    out[problem.charged] = values
    return out
