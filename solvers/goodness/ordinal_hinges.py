r"""Ordinal goodness by a dense interior-point method, of similarities in the box |v| ≤ 1 and of kernels in the ball ‖u‖ ≤ R, R = 1/γ.

With f = Gx, G = B K diag(p) or a factor of K, and hinges h = m − M(f_i − b_e) (solvers/goodness/ordinal_margins.py)
    min Σ p·s   subject to   s ≥ h, s ≥ 0, b_{j+1} − b_j ≥ Δ_j, x in the box or the ball.
Slacks s, t = s − h, o = Cb − Δ have the multipliers p − a, a, ν; the box has v + 1, 1 − v with z_l, z_u, the ball ω = ½(R² − ‖u‖²) with λ.
Mehrotra's predictor and corrector solve with AᵀEA, A = (G, −columns), E = 1/(t/a + s/(p − a)), plus what the box or the ball and the
spacing add: one symmetric product and one Cholesky factorisation of order N + r − 1 an iteration, in 10 to 25 iterations. The start need
not be feasible. Every iterate is judged by the certificate of the problem.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from simopt.ground.arrays import Array, Point
from simopt.problems._ordinal_domain import OrdinalDomain
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solvers.goodness.ball_hinges import pivoted
from simopt.solvers.goodness.ordinal_margins import Margins
from simopt.solvers.goodness.ordinal_regions import Ball, Box, Parts, Region, State
from simopt.solving.solution import Iterate

PATIENCE = 16  # iterations in which the gap must be halved; the first ones gain little where the start is far from the thresholds
BACK = 0.995  # share of the way to the boundary
RESISTANCES = (1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10)  # added to the diagonal of the Newton matrix, relative to it: the first that does


class Newton:
    """The Newton system at one state, factorised once.

    Raises
    ------
    LinAlgError
        when rounding has made the matrix indefinite.
    """

    def __init__(self, G: Array, margins: Margins, region: Region, x: State) -> None:
        self.G, self.margins, self.region, self.x = G, margins, region, x
        (s, t, o), (u, a, nu) = x.slacks[:3], x.prices[:3]
        n, count = G.shape[1], len(x.b)
        self.E = 1.0 / (t / a + s / u)
        weighted = np.asfortranarray(np.sqrt(margins.by_point(self.E))[:, None] * G)
        matrix = np.zeros((n + count, n + count), order="F")
        matrix[:n, :n] = scipy.linalg.blas.dsyrk(1.0, weighted, trans=1, lower=1)
        matrix[n:, :n] = -(margins.columns * self.E[:, None]).T @ G[margins.rows]
        ratio = nu / o
        inner = np.diag(margins.by_threshold(self.E) + np.append(ratio, 0.0) + np.append(0.0, ratio))
        inner[np.arange(count - 1), np.arange(1, count)] = inner[np.arange(1, count), np.arange(count - 1)] = -ratio
        matrix[n:, n:] = inner
        region.matrix(x, matrix)
        self.factor = _factorised(matrix)
        f = G @ x.x
        self.off_rows = t - s + margins.arguments(f, x.b)
        self.off_sum = margins.caps - a - u
        self.off_order = np.diff(x.b) - margins.spacing - o
        self.off_x = G.T @ margins.by_point(margins.signs * a) + region.residual(x)
        self.off_b = -margins.by_threshold(margins.signs * a) + _transposed_steps(nu)

    def direction(self, lacking: Parts, curved: float = 0.0) -> State:
        """The step that adds `lacking` to the products of slacks and multipliers, and removes what is infeasible."""
        x, margins, M = self.x, self.margins, self.margins.signs
        (s, t, o), (u, a, nu) = x.slacks[:3], x.prices[:3]
        us, at, on = lacking[:3]
        rho = self.off_rows - (us - s * self.off_sum) / u + at / a
        push = M * self.E * rho
        rhs_x = self.off_x + self.G.T @ margins.by_point(push) + self.region.rhs(x, lacking[3:], curved)
        rhs_b = self.off_b - margins.by_threshold(push) + _transposed_steps((on - nu * self.off_order) / o)
        step, _ = scipy.linalg.lapack.dpotrs(self.factor, np.concatenate([rhs_x, rhs_b]), lower=1)
        dx, db = step[: len(x.x)], step[len(x.x) :]
        da = self.E * (rho - M * ((self.G @ dx)[margins.rows] - db[margins.ends]))
        du = self.off_sum - da
        do = self.off_order + np.diff(db)
        slacks, prices = self.region.direction(x, dx, lacking[3:], curved)
        return State(dx, db, ((us - s * du) / u, (at - t * da) / a, do, *slacks), (du, da, (on - nu * do) / o, *prices))


def _factorised(matrix: Array) -> Array:
    """The Cholesky factor of a matrix whose lower triangle is given, with the least resistance that makes it positive definite.

    Where constants are among the f, moving them with b changes no hinge, and a ball that is not reached hardly resists: the pivot of that
    direction is rounding, of either sign, and a step along it would be, too. Resistance damps it and leaves the other steps as they are.
    """
    at = np.diag_indices(len(matrix))
    for resistance in RESISTANCES:
        attempt = matrix.copy(order="F")
        attempt[at] *= 1.0 + resistance
        factor, info = scipy.linalg.lapack.dpotrf(attempt, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return np.asarray(factor)
    raise np.linalg.LinAlgError(f"leading minor {info} of the Newton matrix is not positive")


def _transposed_steps(nu: Array) -> Array:
    """Cᵀν for (Cb)_j = b_{j+1} − b_j."""
    out: Array = np.append(0.0, nu) - np.append(nu, 0.0)
    return out


def _products(x: State) -> Parts:
    return tuple(one * two for one, two in zip(x.slacks, x.prices, strict=True))


def _mean(products: Parts) -> float:
    return float(sum(np.sum(part) for part in products)) / sum(part.size for part in products)


def _reach(x: Parts, dx: Parts) -> float:
    """The largest step in (0, 1] that keeps x + step·dx ≥ 0."""
    return 1.0 / max(1.0, *(-float(np.min(change / value)) for value, change in zip(x, dx, strict=True) if value.size))


def _moved(x: State, d: State, primal: float, dual: float) -> State:
    slacks = tuple(one + primal * two for one, two in zip(x.slacks, d.slacks, strict=True))
    prices = tuple(one + dual * two for one, two in zip(x.prices, d.prices, strict=True))
    return State(x.x + primal * d.x, x.b + primal * d.b, slacks, prices)


def advance(G: Array, margins: Margins, region: Region, x: State) -> State:
    """One predictor–corrector step.

    Raises
    ------
    LinAlgError
        when the Newton matrix cannot be factorised.
    """

    def lengths(d: State) -> tuple[float, float]:
        primal, dual = _reach(x.slacks, d.slacks), _reach(x.prices, d.prices)
        return (min(primal, dual),) * 2 if region.joint else (primal, dual)

    newton, products = Newton(G, margins, region, x), _products(x)
    mu = _mean(products)
    affine = newton.direction(tuple(-part for part in products))
    aim = (_mean(_products(_moved(x, affine, *lengths(affine)))) / mu) ** 3 * mu
    second = _products(affine)
    lacking = tuple(aim - one - two for one, two in zip(products, second, strict=True))
    step = newton.direction(lacking, 0.5 * float(affine.x @ affine.x) if region.joint else 0.0)
    return region.roomy(_moved(x, step, *(min(1.0, BACK * length) for length in lengths(step))))


def states(problem: OrdinalDomain, G: Array, margins: Margins, region: Region, max_iter: int) -> Iterator[State]:
    """The iterates, until the matrix cannot be factorised."""
    a = 0.5 * margins.caps
    share = float(np.mean(margins.caps))
    at, slacks, prices = region.start(G.T @ margins.by_point(margins.signs * a), share)
    b = problem.constant_thresholds()[margins.kept]
    h = margins.arguments(G @ at, b)
    room = max(float(np.mean(np.abs(h))), 0.1 * problem.hinge_margin)
    s = np.maximum(h, 0.0) + room
    o = np.maximum(np.diff(b) - margins.spacing, 0.0) + room
    x = State(at, b, (s, s - h, o, *slacks), (margins.caps - a, a, np.full(len(o), share), *prices))
    for _ in range(max_iter):
        yield x
        try:
            x = advance(G, margins, region, x)
        except np.linalg.LinAlgError:
            return
        if not all(np.all(np.isfinite(part)) for part in (x.x, x.b, x.prices[1])):
            return


class Watch:
    """Ends a run when the gap has closed or has not been halved for some iterations."""

    def __init__(self, goal: float) -> None:
        self.goal, self.mark, self.since = goal, np.inf, 0

    def over(self, gap: float) -> bool:
        """Whether to stop after an iterate of that gap."""
        self.since, self.mark = (0, gap) if gap <= 0.5 * self.mark else (self.since + 1, self.mark)
        return gap <= self.goal or self.since >= PATIENCE


def similarity_iterates(problem: OrdinalGoodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates in the box |v| ≤ 1. N × N memory, 4N³/3 flops an iteration."""
    margins, watch = Margins(problem), Watch(tol * problem.scale())
    if not len(margins.kept):
        yield Iterate(problem.trivial_point(), margins.multipliers(np.zeros(0)), 0.0)
        return
    G = np.asfortranarray(problem.gram[np.ix_(margins.charged, margins.charged)] * (problem.bound * problem.mass[margins.charged]))
    for x in states(problem, G, margins, Box(G.shape[1]), max_iter):
        found = _judged(problem, {"v": margins.spread(x.x), "thresholds": margins.thresholds(x.b)}, margins, x, watch.goal)
        yield found
        if watch.over(found.gap):
            return


def kernel_iterates(problem: KernelOrdinalGoodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates in the ball ‖u‖ ≤ R of a factor of K. n r² + r³/3 flops an iteration, r the numerical rank of K.

    The answer is judged by Kα, which is off by up to n ε |K||α|, and |α| grows to R/√(smallest eigenvalue used): where that exceeds the
    tolerance the gap may stay open. Measured on K = 1 + 1e-8 XXᵀ/n, n = 21 to 38: ‖α‖₁ = 2e10 at γ = 1e-5, gap/scale 6e-8 to 3e-6 in all of
    10 runs; 4e-7 in one of 10 at γ = 1e-4; 1e-8 in all at the other γ from 1e-1 to 1e-6.
    """
    margins, watch = Margins(problem), Watch(tol * problem.scale())
    if not len(margins.kept):
        yield Iterate(problem.trivial_point(), margins.multipliers(np.zeros(0)), 0.0)
        return
    F, pivots = pivoted(problem.gram[np.ix_(margins.charged, margins.charged)])
    for x in states(problem, F, margins, Ball(1.0 / problem.gamma), max_iter):
        point = {"alpha": margins.spread(_coefficients(F, pivots, margins, x)), "thresholds": margins.thresholds(x.b)}
        found = _judged(problem, point, margins, x, watch.goal)
        yield found
        if watch.over(found.gap):
            return


def _judged(problem: OrdinalDomain, point: Point, margins: Margins, x: State, goal: float) -> Iterate:
    """With the gap of the certificate, where the sum of the products of slacks and multipliers says that it may have closed."""
    multipliers = margins.multipliers(np.clip(x.prices[1], 0.0, margins.caps))
    estimate = float(sum(np.sum(part) for part in _products(x)))
    if estimate > goal:
        return Iterate(point, multipliers, estimate)
    return Iterate(point, multipliers, float(problem.gap(problem.restore(point), multipliers)))


def _coefficients(F: Array, pivots: Array, margins: Margins, x: State) -> Array:
    """α with Fᵀα = u: q/λ, or the one supported on the pivots; the smaller of the two costs fewer digits in Kα."""
    other, r = np.zeros(len(F)), len(pivots)
    if r:
        other[pivots] = scipy.linalg.solve_triangular(F[pivots], x.x, lower=True, trans=1)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        first = margins.by_point(margins.signs * np.clip(x.prices[1], 0.0, margins.caps)) / x.prices[3]
        near = float(np.linalg.norm(F.T @ first - x.x)) <= 1e-12 * float(np.linalg.norm(x.x))
    return first if near and float(np.sum(np.abs(first))) < float(np.sum(np.abs(other))) else other
