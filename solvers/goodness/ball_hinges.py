r"""Goodness of a PSD kernel: an interior-point method in a factor of K for the linear losses, a secular equation for the squared one.

Linear losses. Let K = F Fᵀ (pivoted Cholesky, F of shape (n, r)), W = Fu, R = 1/γ, and hinges h_b = c_b − M_b Fu as in
solvers/goodness/box_hinges.py. The multiplier λ of ω = ½(R² − ‖u‖²) ≥ 0 joins the unknowns. λu = Fᵀq, q = Σ_b M_b a_b, and every iteration
solves with λI + FᵀEF + (λ/ω)uuᵀ, one symmetric product and one Cholesky factorisation of order r. No search over λ is needed.
Squared loss. With M = √p K √p = V diag(s) Vᵀ and c = Vᵀ(√p y) the solution is c/(s + μ), ‖W‖² = Σ s c²/(s + μ)² = R² or μ = 0. Newton's
method on 1/‖W‖ − 1/R, which is concave in μ, rises from μ = 0 to the root without overshooting.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np
import scipy.linalg

from simopt.core.arrays import Array
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.solvers.goodness.box_hinges import scatter
from simopt.solvers.interior.pairs import InteriorState, Pairs, Parts, cholesky, solved, weighted_gram
from simopt.solvers.interior.predictor_corrector import Lengths
from simopt.solving.solution import Iterate

EPS = float(np.finfo(np.float64).eps)
NEWTON = 60  # steps of the secular equation


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


class BallHinges(Pairs):
    """min Σ p ℓ(Fu, y) over ‖u‖ ≤ R for the points of positive mass, in natural units.

    Slacks s, t, ω with multipliers p − a, a, λ; blocks of hinges are rows. λu is bilinear, so that all go equally far.
    """

    joint = True
    corrections: ClassVar[int] = 0
    back: ClassVar[float] = 0.99
    patience: ClassVar[int] = 12

    def __init__(self, problem: KernelGoodness, goal: float) -> None:
        self.problem, self.goal = problem, goal
        y, self.p, self.radius = problem.support_targets(), problem.support_masses(), 1.0 / problem.gamma
        self.F, self.pivots = pivoted(problem.core)
        if problem.loss == "hinge":
            self.signs, self.c = y[None, :], np.full((1, len(y)), problem.margin)
        else:
            self.signs = np.array([[-1.0], [1.0]]) * np.ones(len(y))
            self.c = np.vstack([-y - problem.epsilon, y - problem.epsilon])
        self.x = self.start()
        self.update_gap()

    def q(self, a: Array) -> Array:
        """Σ_b M_b a_b."""
        out: Array = np.sum(self.signs * a, axis=0)
        return out

    def start(self) -> InteriorState:
        """a = p/2, u = RFᵀq/(√2‖Fᵀq‖) and λ = √2‖Fᵀq‖/R: all equations hold."""
        a = np.tile(0.5 * self.p, (len(self.c), 1))
        pull = self.F.T @ self.q(a)
        size = float(np.linalg.norm(pull))
        u = pull * (self.radius / (math.sqrt(2.0) * size)) if size > 0.0 else np.zeros(self.F.shape[1])
        h = self.c - self.signs * (self.F @ u)
        slack = max(float(np.mean(np.abs(h))), 1e-3)
        s, omega = np.maximum(h, 0.0) + slack, 0.5 * (self.radius**2 - float(u @ u))
        strength = math.sqrt(2.0) * size / self.radius or float(np.mean(self.p)) * slack / omega
        return InteriorState((u,), (s, s - h, np.array([omega])), (self.p - a, a, np.array([strength])))

    def update_gap(self) -> None:
        """The iterate with its gap in u and, where that has closed, the gap of the certificate.

        The certificate has Kα in the place of Fu. Rounding of Kα is up to n ε |K||α|, and |α| grows to ‖W‖/√(smallest eigenvalue). For the
        Hilbert matrix of order 7 and ‖W‖ = 5e4 that is 8e8, and Kα is off by 1e-9 to 1e-8. The iterations that follow leave all of the
        tolerance to that.
        """
        (u,), (_, a, strength) = self.x.free, self.x.multipliers
        length = float(np.linalg.norm(u))
        u = u * min(1.0, self.radius / length) if length > 0.0 else u  # drawn into the ball
        a = np.clip(a, 0.0, self.p)
        q = self.q(a)
        upper = float(np.sum(self.p * np.maximum(self.c - self.signs * (self.F @ u), 0.0)))
        gap = upper - float(np.sum(a * self.c)) + self.radius * float(np.linalg.norm(self.F.T @ q))
        result = _iterate(self.problem, self.alpha(u, q, float(strength[0])), q, max(gap, 0.0))
        if gap <= self.goal and result.multipliers is not None:
            result = replace(result, gap=float(self.problem.gap(self.problem.restore(result.point), result.multipliers)))
        self.result, self.gap = result, result.gap

    def alpha(self, u: Array, q: Array, strength: float) -> Array:
        """α with Fᵀα = u: q/λ, or the one supported on the pivots; the smaller of the two costs fewer digits in Kα."""
        other = np.zeros(len(self.p))
        r = len(self.pivots)
        if r:
            other[self.pivots] = scipy.linalg.solve_triangular(self.F[self.pivots], u, lower=True, trans=1)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            first = q / strength
            error = float(np.linalg.norm(self.F.T @ first - u))
        near = error <= 1e-12 * self.radius
        return first if near and float(np.sum(np.abs(first))) < float(np.sum(np.abs(other))) else other

    def factorise(self) -> None:
        """Cholesky of ωI + Fᵀ diag(E) F + (ω/slack) uuᵀ, what is left when hinges and the ball's row are eliminated."""
        (u,), (s, t, omega), (rest, a, strength) = self.x.free, self.x.slacks, self.x.multipliers
        self.E = 1.0 / (t / a + s / rest)
        matrix = weighted_gram(self.F, np.sum(self.E, axis=0))
        matrix = scipy.linalg.blas.dsyr(float(strength[0] / omega[0]), u, a=matrix, lower=1, overwrite_a=1)
        matrix.flat[:: len(u) + 1] += strength[0]
        self.factor = cholesky(matrix)
        rows = self.c - (s + self.signs * (self.F @ u) - t)
        inside = 0.5 * (self.radius**2 - u @ u) - omega
        self.residuals = rows, self.p - a - rest, self.F.T @ self.q(a) - strength * u, inside

    def corrector_residuals(self, residuals: Parts, predictor: InteriorState) -> Parts:
        (du,) = predictor.free
        return *residuals[:3], residuals[3] - 0.5 * float(du @ du)

    def solve(self, r_comp: Parts, residuals: Parts) -> InteriorState:
        """The step in u by that factor; hinges and the ball's row follow."""
        (u,), (s, t, omega), (rest, a, strength) = self.x.free, self.x.slacks, self.x.multipliers
        (rest_s, at, last), (rows, sums, stationary, inside) = r_comp, residuals
        rho = rows - (rest_s - s * sums) / rest + at / a
        rhs = stationary + self.F.T @ self.q(self.E * rho) - u * ((last - strength * inside) / omega)
        du = solved(self.factor, rhs)
        da = self.E * (rho - self.signs * (self.F @ du))
        drest, domega = sums - da, inside - u @ du
        slacks = (rest_s - s * drest) / rest, (at - t * da) / a, domega
        return InteriorState((du,), slacks, (drest, da, (last - strength * domega) / omega))

    def advance(self, move: InteriorState, lengths: Lengths) -> None:
        """Raises ω to ½(R² − ‖u‖²): its tangent may say that the ball ends before it does, and short steps would follow."""
        super().advance(move, lengths)
        (u,), (s, t, omega) = self.x.free, self.x.slacks
        self.x = self.x._replace(slacks=(s, t, np.maximum(omega, 0.5 * (self.radius**2 - float(u @ u)))))


def ball_iterates(problem: KernelGoodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates for the insensitive and the hinge loss, in natural units. n r² + r³/3 flops an iteration, r the numerical rank of K."""
    goal = tol * problem.scale()
    for at in BallHinges(problem, goal).iterates(goal, max_iter):
        yield at.result


def squared(problem: KernelGoodness) -> Iterate:
    """The solution for the squared loss. One eigendecomposition of order n."""
    root = np.sqrt(problem.support_masses())
    s, V = scipy.linalg.eigh(problem.core * root * root[:, None], driver="evd")
    real = s > len(s) * EPS * max(float(s[-1]), 0.0)
    c = V.T @ (root * problem.support_targets())
    kept, known = s[real], c[real]
    mu, radius = 0.0, 1.0 / problem.gamma
    for _ in range(NEWTON if len(kept) else 0):
        ratio = known / (kept + mu)
        square = float(kept @ ratio**2)
        length = np.sqrt(square)
        if length <= radius * (1.0 + 2 * EPS):
            break
        # d‖W‖/dμ = −Σ s c²/(s + μ)³ / ‖W‖, and Newton's step for 1/‖W‖ = 1/R is (‖W‖/R − 1)‖W‖²/Σ s c²/(s + μ)³
        mu += (length / radius - 1.0) * square / float(kept @ (ratio**2 / (kept + mu)))
    beta, left = np.zeros(len(s)), c.copy()
    beta[real] = known / (kept + mu)
    left[real] = mu * beta[real]
    return _iterate(problem, root * (V @ beta), 2.0 * root * (V @ left), 0.0)


def _iterate(problem: KernelGoodness, alpha: Array, q: Array, gap: float) -> Iterate:
    """With zeros where there is no mass."""
    return Iterate({"alpha": scatter(problem, alpha)}, {"predictions": scatter(problem, q)}, gap)
