r"""The hinge SVM with its norm bounded, min (1/n) Σ [1 − y_i f_i]_+ over ‖f‖² ≤ c, through the penalised SVM along C = 1/(nλ).

‖f_λ‖ does not fall as C grows, so the C with ‖f_λ‖ = √c is bracketed and found. Between two breakpoints the samples F on the margin
and those U beyond it stay the same, and the coefficients β = C w move on a line. With e_U = y_U, K_FF e_F = −K_FU y_U and e = 0 elsewhere,

    β(C + Δ) = β(C) + Δe,     f(C + Δ) = f(C) + Δg,  g = Σ e_i k(x_i, ·),     so that ‖f + Δg‖² = c is a quadratic equation.

Its root is exact if no breakpoint lies in between; far from it the step is Newton's in log C against log ‖f‖, whose slope is between 0 and
1. On the last piece g = 0: the norm has reached that of the smallest minimiser of the loss, and a larger ball changes nothing. There the
limits C → ∞ are taken: the multipliers e, for which Σ e_i k(x_i, ·) = 0, and the point β − Ce, which is f without the part that cancels. If
‖f‖ = √c on a whole interval of λ (a flat piece), every λ of it will do.

A point f and multipliers a, v = Σ a_i y_i k(x_i, ·) a multiple of f, leave of the gap what complementarity leaves, and ‖v‖(√c − ‖f‖).
If the ball is larger than needed and yet some loss is left, v = 0 is a sum that cancels, whose norm float64 knows to about 1e-8. The gap
then closes to 1e-8 √c, for any solver.
Cost: about ten warm-started SVMs, each with one more Cholesky factorisation of K_FF.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.svm.dual import complementarity, product
from simopt.solvers.svm.fit import SVMFit, compile_kernels, svm_fits
from simopt.solvers.svm.pair_selection import submatrix
from simopt.solvers.svm.path import mean_fit, warm_start

INNER_TOLERANCE = 0.25  # of the gap asked for: what each penalised SVM is solved to
FAR = 1.3  # norms that differ by more than this factor: Newton's step in logarithms
LEAP = 30.0  # largest factor between two values of C
RIDGE = 1e-13  # added to K_FF, as a fraction of its largest diagonal entry; its effect is refined away
REFINEMENTS = 3
STALLS = 6  # penalised SVMs in a row that bring the gap no nearer to 0: rounding forbids it


@dataclass(frozen=True, eq=False)
class PathDirection:
    """Direction of the path at one C: coefficients e of g, the values g(x_i), ⟨f, g⟩ and ‖g‖²."""

    direction: Array
    values: Array
    inner: float
    square: float

    def reach(self, size: float, radius: float) -> float:
        """Δ with ‖f + Δg‖ = radius for ‖f‖ = size: the root that continues the path; nan where the line does not meet the ball."""
        missing = (radius - size) * (radius + size)
        root = self.inner**2 + self.square * missing
        if root < 0.0 or not self.square > 0.0:
            return math.nan
        bottom = self.inner + math.copysign(math.sqrt(root), self.inner)
        return missing / bottom if bottom != 0.0 else math.nan


def path_piece(gram: Array, fit: SVMFit) -> PathDirection:
    """The piece of the path on which a fit lies. K_FF may be singular: its null space does not move f. k³/3 flops for |F| = k."""
    import scipy.linalg

    size = np.abs(fit.weights)
    inside = np.flatnonzero((size > 0.0) & (size < 1.0))
    direction = np.where(size >= 1.0, fit.weights, 0.0)
    pull = product(gram, direction)
    if inside.size:
        block = np.empty((inside.size, inside.size))
        submatrix(gram, inside, block)
        ridged = block.copy()
        ridge = RIDGE * max(float(np.max(np.diagonal(block))), 1e-300)
        while True:
            ridged.flat[:: inside.size + 1] = np.diagonal(block) + ridge
            factor, info = scipy.linalg.lapack.dpotrf(ridged.T, lower=1, clean=0)
            if info == 0:
                break
            ridge *= 100.0
        e = np.zeros(inside.size)
        for _ in range(1 + REFINEMENTS):
            e += scipy.linalg.lapack.dpotrs(factor, -(pull[inside] + block @ e), lower=1)[0]
        direction[inside] = e
    values = product(gram, direction)
    return PathDirection(direction, values, float(fit.coefficients @ values), max(float(direction @ values), 0.0))


@dataclass(frozen=True, eq=False)
class BallPoint:
    """A point inside the ball with multipliers, and the gap that they leave."""

    alpha: Array
    multipliers: Array
    gap: float


class _BallProblem:
    """The data of the problem, and candidates for it."""

    def __init__(self, gram: Array, labels: Array, radius: float) -> None:
        self.gram, self.labels, self.radius = gram, labels, radius
        self.best = BallPoint(np.zeros(len(labels)), np.full(len(labels), 1.0 / len(labels)), math.inf)

    def offer(self, alpha: Array, fitted: Array, weights: Array) -> None:
        """Keep f = Σ α_j k(x_j, ·), drawn onto the ball if outside, with a = |w|/n, if its gap is smaller than the best so far.

        The gap is that of complementarity plus √c‖v‖ − ⟨v, f⟩, v = (1/n) Σ w_i k(x_i, ·).
        """
        n = len(self.labels)
        size = math.sqrt(max(float(alpha @ fitted), 0.0))
        if size > self.radius:
            alpha, fitted = alpha * (self.radius / size), fitted * (self.radius / size)
        pull = product(self.gram, weights)
        length = math.sqrt(max(float(weights @ pull), 0.0)) / n
        rest = max(self.radius * length - float(pull @ alpha) / n, 0.0)
        gap = complementarity(self.labels, weights, self.labels - fitted) / n + rest
        if gap < self.best.gap:
            self.best = BallPoint(alpha, np.abs(weights) / n, gap)

    def offer_fit(self, fit: SVMFit) -> float:
        """The fit, as it is and stretched to the sphere; returns ‖f‖."""
        alpha, fitted = fit.coefficients, self.labels - fit.residual
        size = math.sqrt(max(float(alpha @ fitted), 0.0))
        self.offer(alpha, fitted, fit.weights)
        if 0.0 < size < self.radius:
            self.offer(alpha * (self.radius / size), fitted * (self.radius / size), fit.weights)
        return size

    def offer_limit(self, fit: SVMFit, piece: PathDirection) -> None:
        """The point and the multipliers of C → ∞, as if the piece were the last one."""
        low, high = np.minimum(self.labels, 0.0), np.maximum(self.labels, 0.0)
        fitted = self.labels - fit.residual - fit.cost * piece.values
        self.offer(fit.coefficients - fit.cost * piece.direction, fitted, np.clip(piece.direction, low, high))


def _step(fit: SVMFit, piece: PathDirection, size: float, radius: float, low: float, high: float) -> tuple[float, Array | None]:
    """The next C, and the weights that the piece foretells for it if the step is one along the piece."""
    factor = radius / size
    if 1.0 / FAR < factor < FAR:
        reach = piece.reach(size, radius)
        cost = fit.cost + reach
        if low < cost < high and 0.5 < cost / fit.cost < 2.0:
            return cost, (fit.coefficients + reach * piece.direction) / cost
    slope = fit.cost * piece.inner / size**2
    wanted = math.log(factor) / slope if slope > 0.0 else math.copysign(math.inf, math.log(factor))
    cost = fit.cost * math.exp(min(max(wanted, -math.log(LEAP)), math.log(LEAP)))
    if not low < cost < high:
        cost = math.sqrt(low * high) if high < math.inf and low > 0.0 else fit.cost * (LEAP if cost >= high else 1.0 / LEAP)
    return cost, None


def ball_candidates(gram: Array, labels: Array, radius: float, goal: float) -> Iterator[BallPoint]:
    """Points of ‖f‖ ≤ radius with multipliers, of falling gap, until it is at most `goal` or C can no longer be told apart."""
    compile_kernels()
    ball = _BallProblem(gram, labels, radius)
    n = len(labels)
    pull = gram @ labels
    ball.offer(np.zeros(n), np.zeros(n), labels)
    size = math.sqrt(max(float(labels @ pull), 0.0))
    if size > 0.0:
        ball.offer(labels * (radius / size), pull * (radius / size), labels)
    yield ball.best
    if ball.best.gap <= goal:
        return
    low, high = 0.0, math.inf
    cost = radius / size if size > 0.0 else 1.0 / max(float(np.max(np.diagonal(gram))), 1e-300)
    fit, start = mean_fit(gram, labels, cost), labels
    stalls = 0
    while low * (1.0 + 1e-15) < high and 1e-300 < cost < 1e300 and stalls < STALLS:
        before = ball.best.gap
        for penalised in svm_fits(gram, labels, cost, goal=INNER_TOLERANCE * goal, start=start):
            fit = penalised
            yield ball.best
        size = ball.offer_fit(fit)
        piece = path_piece(gram, fit)
        if size < radius:
            ball.offer_limit(fit, piece)
            low = cost
        else:
            high = cost
        if ball.best.gap <= goal or size == 0.0:
            break
        yield ball.best
        stalls = stalls + 1 if ball.best.gap > 0.9 * before else 0
        cost, foretold = _step(fit, piece, size, radius, low, high)
        start = warm_start(fit, cost) if foretold is None else foretold
    yield ball.best
