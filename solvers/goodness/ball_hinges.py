r"""Goodness of a PSD kernel: an interior-point method in a factor of K for the linear losses, a secular equation for the squared one.

Linear losses. With K = F Fᵀ (pivoted Cholesky, F of shape (n, r)), W = Fu, R = 1/γ and hinges h_b = c_b − M_b Fu as in
solvers/goodness/box_hinges.py, the multiplier λ of ω = ½(R² − ‖u‖²) ≥ 0 joins the unknowns: λu = Fᵀq, q = Σ_b M_b a_b, and every
iteration solves with λI + FᵀEF + (λ/ω)uuᵀ, one symmetric product and one Cholesky factorisation of order r. No search over λ is needed.
Squared loss. With M = √p K √p = V diag(s) Vᵀ and c = Vᵀ(√p y) the solution is c/(s + μ), ‖W‖² = Σ s c²/(s + μ)² = R² or μ = 0. Newton's
method on 1/‖W‖ − 1/R, which is concave in μ, rises from μ = 0 to the root without overshooting.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from simopt.ground.arrays import Array
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.solving.solution import Iterate

EPS = float(np.finfo(np.float64).eps)
BACK = 0.99  # share of the way to the boundary
PATIENCE = 12  # iterations in which the gap must be halved
NEWTON = 60  # steps of the secular equation
Six = tuple[Array, Array, Array, Array, Array, Array]


def pivoted(gram: Array) -> tuple[Array, Array]:
    """F with K = F Fᵀ to rounding and the pivots, shapes (n, r) and (r,): Cholesky of K_ij/√(K_ii K_jj) with complete pivoting.

    It stops at n ε: rounding is relative to the size of each φ(x_i), not to that of the largest.
    """
    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    size[size == 0.0] = 1.0
    lower, order, rank, _ = scipy.linalg.lapack.dpstrf(np.asfortranarray(gram / size / size[:, None]), lower=1, tol=len(gram) * EPS)
    order = order - 1
    factor = np.zeros((len(gram), max(rank, 1)), order="F")
    if np.any(np.diagonal(gram) > 0.0):
        factor[order, :] = np.tril(lower)[:, : max(rank, 1)]
    factor *= size[:, None]
    return factor, order[:rank]


@dataclass(frozen=True)
class State:
    """u; then s, t, ω and their multipliers p − a, a, λ. Blocks of hinges are rows, shape (b, n); ω and λ have shape (1,). Also a step."""

    u: Array
    parts: Six

    @property
    def multiplier(self) -> float:
        """λ."""
        return float(self.parts[5][0])


class BallHinges:
    """min Σ p ℓ(Fu, y) over ‖u‖ ≤ R for the points of positive mass, in natural units."""

    def __init__(self, problem: KernelGoodness) -> None:
        y, self.p, self.radius = problem.aims(), problem.charges(), 1.0 / problem.gamma
        self.F, self.pivots = pivoted(problem.core)
        if problem.loss == "hinge":
            self.signs, self.c = y[None, :], np.full((1, len(y)), problem.margin)
        else:
            self.signs = np.array([[-1.0], [1.0]]) * np.ones(len(y))
            self.c = np.vstack([-y - problem.epsilon, y - problem.epsilon])

    def q(self, a: Array) -> Array:
        """Σ_b M_b a_b."""
        out: Array = np.sum(self.signs * a, axis=0)
        return out

    def start(self) -> State:
        """a = p/2, u = RFᵀq/(√2‖Fᵀq‖) and λ = √2‖Fᵀq‖/R: all equations hold."""
        a = np.tile(0.5 * self.p, (len(self.c), 1))
        pull = self.F.T @ self.q(a)
        size = float(np.linalg.norm(pull))
        u = pull * (self.radius / (math.sqrt(2.0) * size)) if size > 0.0 else np.zeros(self.F.shape[1])
        h = self.c - self.signs * (self.F @ u)
        room = max(float(np.mean(np.abs(h))), 1e-3)
        s, omega = np.maximum(h, 0.0) + room, 0.5 * (self.radius**2 - float(u @ u))
        strength = math.sqrt(2.0) * size / self.radius or float(np.mean(self.p)) * room / omega
        return State(u, (s, s - h, np.array([omega]), self.p - a, a, np.array([strength])))

    def judged(self, x: State) -> tuple[Array, Array, float]:
        """u drawn into the ball, q clipped, and P − D. ‖Fᵀq‖ ≤ λ‖u‖ + ‖Fᵀq − λu‖, which loses no digits where it is small."""
        length = float(np.linalg.norm(x.u))
        u = x.u * min(1.0, self.radius / length) if length > 0.0 else x.u
        a = np.clip(x.parts[4], 0.0, self.p)
        q = self.q(a)
        upper = float(np.sum(self.p * np.maximum(self.c - self.signs * (self.F @ u), 0.0)))
        return u, q, upper - float(np.sum(a * self.c)) + self.radius * float(np.linalg.norm(self.F.T @ q))

    def alpha(self, u: Array, q: Array, strength: float) -> Array:
        """α with Fᵀα = u: q/λ, or the one supported on the pivots; the smaller of the two costs fewer digits in Kα."""
        other = np.zeros(len(self.p))
        r = len(self.pivots)
        if r:
            other[self.pivots] = scipy.linalg.solve_triangular(self.F[self.pivots], u, lower=True, trans=1)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            first = q / strength
            off = float(np.linalg.norm(self.F.T @ first - u))
        near = off <= 1e-12 * self.radius
        return first if near and float(np.sum(np.abs(first))) < float(np.sum(np.abs(other))) else other


class Newton:
    """The Newton system at one state, factorised once.

    Raises
    ------
    LinAlgError
        when rounding has made the matrix indefinite.
    """

    def __init__(self, ball: BallHinges, x: State) -> None:
        self.ball, self.x = ball, x
        s, t, omega, rest, a, strength = x.parts
        self.E = 1.0 / (t / a + s / rest)
        weighted = np.asfortranarray(np.sqrt(np.sum(self.E, axis=0))[:, None] * ball.F)
        matrix = scipy.linalg.blas.dsyrk(1.0, weighted, trans=1, lower=1)
        matrix = scipy.linalg.blas.dsyr(float(strength[0] / omega[0]), x.u, a=matrix, lower=1, overwrite_a=1)
        matrix.flat[:: len(x.u) + 1] += strength[0]
        self.factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} of the Newton matrix is not positive")
        self.rows = ball.c - (s + ball.signs * (ball.F @ x.u) - t)
        self.sums = ball.p - a - rest
        self.stationary = ball.F.T @ ball.q(a) - strength * x.u
        self.inside = 0.5 * (ball.radius**2 - x.u @ x.u) - omega

    def direction(self, lacking: tuple[Array, Array, Array], curved: float = 0.0) -> State:
        """The step that adds `lacking` to (p − a)s, a t and λω and removes what is infeasible; `curved` is ½‖du‖² of the predictor."""
        ball, (s, t, omega, rest, a, strength) = self.ball, self.x.parts
        rest_s, at, last = lacking
        rho = self.rows - (rest_s - s * self.sums) / rest + at / a
        ahead = self.inside - curved
        rhs = self.stationary + ball.F.T @ ball.q(self.E * rho) - self.x.u * ((last - strength * ahead) / omega)
        du, _ = scipy.linalg.lapack.dpotrs(self.factor, rhs, lower=1)
        da = self.E * (rho - ball.signs * (ball.F @ du))
        drest = self.sums - da
        domega = ahead - self.x.u @ du
        return State(du, ((rest_s - s * drest) / rest, (at - t * da) / a, domega, drest, da, (last - strength * domega) / omega))


def _products(x: State) -> tuple[Array, Array, Array]:
    s, t, omega, rest, a, strength = x.parts
    return rest * s, a * t, strength * omega


def _mean(products: tuple[Array, Array, Array]) -> float:
    return float(sum(np.sum(part) for part in products)) / sum(part.size for part in products)


def _reach(x: State, d: State) -> float:
    """The largest step in (0, 1] that keeps all parts ≥ 0."""
    return 1.0 / max(1.0, *(-float(np.min(change / value)) for value, change in zip(x.parts, d.parts, strict=True)))


def _moved(x: State, d: State, step: float) -> State:
    s, t, omega, rest, a, strength = (one + step * two for one, two in zip(x.parts, d.parts, strict=True))
    return State(x.u + step * d.u, (s, t, omega, rest, a, strength))


def advance(ball: BallHinges, x: State) -> State:
    """One predictor–corrector step; λu is bilinear, so that primal and dual variables go equally far."""
    newton, products = Newton(ball, x), _products(x)
    mu = _mean(products)
    affine = newton.direction((-products[0], -products[1], -products[2]))
    aim = (_mean(_products(_moved(x, affine, _reach(x, affine)))) / mu) ** 3 * mu
    second = _products(affine)
    lacking = (aim - products[0] - second[0], aim - products[1] - second[1], aim - products[2] - second[2])
    step = newton.direction(lacking, 0.5 * float(affine.u @ affine.u))
    return _roomy(ball, _moved(x, step, min(1.0, BACK * _reach(x, step))))


def _roomy(ball: BallHinges, x: State) -> State:
    """ω raised to ½(R² − ‖u‖²): its tangent may say that the ball ends where there is room left, and short steps would follow."""
    s, t, omega, rest, a, strength = x.parts
    return State(x.u, (s, t, np.maximum(omega, 0.5 * (ball.radius**2 - float(x.u @ x.u))), rest, a, strength))


def ball_iterates(problem: KernelGoodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates for the insensitive and the hinge loss, in natural units. n r² + r³/3 flops an iteration, r the numerical rank of K."""
    ball, goal = BallHinges(problem), tol * problem.scale()
    x, mark, since = ball.start(), np.inf, 0
    for _ in range(max_iter):
        found = _judged(problem, ball, x, goal)
        yield found
        since, mark = (0, found.gap) if found.gap <= 0.5 * mark else (since + 1, mark)
        if found.gap <= goal or since >= PATIENCE:
            return
        try:
            x = advance(ball, x)
        except np.linalg.LinAlgError:
            return
        if not (np.all(np.isfinite(x.u)) and np.all(np.isfinite(x.parts[4]))):
            return


def _judged(problem: KernelGoodness, ball: BallHinges, x: State, goal: float) -> Iterate:
    """With the gap in u and, where that has closed, the gap of the certificate.

    The certificate has Kα in the place of Fu. Rounding of Kα is up to n ε |K||α|, and |α| grows to ‖W‖/√(smallest eigenvalue): 8e8 for the
    Hilbert matrix of order 7 and ‖W‖ = 5e4, whose Kα is off by 1e-9 to 1e-8. The iterations that follow leave all of the tolerance to that.
    """
    u, q, gap = ball.judged(x)
    found = _iterate(problem, ball.alpha(u, q, x.multiplier), q, max(gap, 0.0))
    if gap > goal or found.multipliers is None:
        return found
    return replace(found, gap=float(problem.gap(problem.restore(found.point), found.multipliers)))


def squared(problem: KernelGoodness) -> Iterate:
    """The solution for the squared loss. One eigendecomposition of order n."""
    root = np.sqrt(problem.charges())
    s, V = scipy.linalg.eigh(problem.core * root * root[:, None], driver="evd")
    real = s > len(s) * EPS * max(float(s[-1]), 0.0)
    c = V.T @ (root * problem.aims())
    kept, known = s[real], c[real]
    mu, radius = 0.0, 1.0 / problem.gamma
    for _ in range(NEWTON if len(kept) else 0):
        share = known / (kept + mu)
        square = float(kept @ share**2)
        length = np.sqrt(square)
        if length <= radius * (1.0 + 2 * EPS):
            break
        # d‖W‖/dμ = −Σ s c²/(s + μ)³ / ‖W‖, and Newton's step for 1/‖W‖ = 1/R is (‖W‖/R − 1)‖W‖²/Σ s c²/(s + μ)³
        mu += (length / radius - 1.0) * square / float(kept @ (share**2 / (kept + mu)))
    beta, left = np.zeros(len(s)), c.copy()
    beta[real] = known / (kept + mu)
    left[real] = mu * beta[real]
    return _iterate(problem, root * (V @ beta), 2.0 * root * (V @ left), 0.0)


def _iterate(problem: KernelGoodness, alpha: Array, q: Array, gap: float) -> Iterate:
    """With zeros where there is no mass."""
    whole, prices = np.zeros(len(problem.targets)), np.zeros(len(problem.targets))
    whole[problem.charged], prices[problem.charged] = alpha, q
    return Iterate({"alpha": whole}, {"predictions": prices}, gap)
