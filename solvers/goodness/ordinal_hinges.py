r"""Ordinal goodness by a dense interior-point method, of similarities in the box |v| ≤ 1 and of kernels in the ball ‖u‖ ≤ R, R = 1/γ.

With f = Gx, G = B K diag(p) or a factor of K, and hinges h = m − M(f_i − b_e) (solvers/goodness/ordinal_margins.py)
    min Σ p·s   subject to   s ≥ h, s ≥ 0, b_{j+1} − b_j ≥ Δ_j, x in the box or the ball.
Slacks s, t = s − h, o = Cb − Δ have the multipliers p − a, a, ν. The box has v + 1, 1 − v with z_l, z_u, the ball ω = ½(R² − ‖u‖²) with λ.
A step (solvers/interior) solves with AᵀEA, A = (G, −columns), E = 1/(t/a + s/(p − a)), plus what the box or the ball and the
spacing add. That is one symmetric product and one Cholesky factorisation of order N + r − 1 an iteration, in 10 to 25 iterations. The start
need not be feasible. Every iterate is judged by the certificate of the problem.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from typing import ClassVar

import numpy as np
import scipy.linalg

from simopt.core.arrays import Array, Point
from simopt.problems.domains.ordinal_domain import OrdinalDomain
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solvers.goodness.ball_hinges import pivoted
from simopt.solvers.goodness.ordinal_margins import Margins
from simopt.solvers.goodness.ordinal_regions import BallRegion, BoxRegion, Region
from simopt.solvers.interior.pairs import InteriorState, Pairs, Parts, cholesky, solved, weighted_gram
from simopt.solvers.interior.predictor_corrector import Lengths
from simopt.solving.solution import Iterate

RESISTANCES = (1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10)  # added to the diagonal of the Newton matrix, relative to it: the first that does


class OrdinalHinges(Pairs):
    """The programme above, with G or a factor of K. Every iterate has the gap of the problem's certificate, as `judged` has it."""

    corrections: ClassVar[int] = 0
    patience: ClassVar[int] = 16  # the first iterations gain little where the start is far from the thresholds

    def __init__(self, problem: OrdinalDomain, G: Array, margins: Margins, region: Region, goal: float) -> None:
        self.problem, self.G, self.margins, self.region, self.goal = problem, G, margins, region, goal
        self.joint = region.joint
        self.x = self.start()
        self.update_gap()

    def start(self) -> InteriorState:
        """a = p/2, the thresholds of constant predictions, and slacks > 0; it need not be feasible."""
        margins, region = self.margins, self.region
        a = 0.5 * margins.caps
        mean_mass = float(np.mean(margins.caps))
        at, slacks, multipliers = region.start(self.G.T @ margins.by_point(margins.signs * a), mean_mass)
        b = self.problem.constant_thresholds()[margins.needed]
        h = margins.arguments(self.G @ at, b)
        slack = max(float(np.mean(np.abs(h))), 0.1 * self.problem.hinge_margin)
        s = np.maximum(h, 0.0) + slack
        o = np.maximum(np.diff(b) - margins.spacing, 0.0) + slack
        return InteriorState((at, b), (s, s - h, o, *slacks), (margins.caps - a, a, np.full(len(o), mean_mass), *multipliers))

    @abstractmethod
    def point(self) -> Point:
        """The point of the problem."""

    def update_gap(self) -> None:
        """The gap of the certificate, where the sum of the products of slacks and multipliers says that it may have closed."""
        point, multipliers = self.point(), self.margins.multipliers(np.clip(self.x.multipliers[1], 0.0, self.margins.caps))
        self.gap = float(sum(np.sum(part) for part in self.x.products()))
        if self.gap <= self.goal:
            self.gap = float(self.problem.gap(self.problem.restore(point), multipliers))
        self.result = Iterate(point, multipliers, self.gap)

    def factorise(self) -> None:
        """The symmetric system in the weights and the thresholds, whose block of thresholds is tridiagonal."""
        x, G, margins = self.x, self.G, self.margins
        (s, t, o), (u, a, nu), (at, b) = x.slacks[:3], x.multipliers[:3], x.free
        n, count = G.shape[1], len(b)
        self.E = 1.0 / (t / a + s / u)
        matrix = np.zeros((n + count, n + count), order="F")
        matrix[:n, :n] = weighted_gram(G, margins.by_point(self.E))
        matrix[n:, :n] = -(margins.columns * self.E[:, None]).T @ G[margins.rows]
        ratio = nu / o
        inner = np.diag(margins.by_threshold(self.E) + np.append(ratio, 0.0) + np.append(0.0, ratio))
        inner[np.arange(count - 1), np.arange(1, count)] = inner[np.arange(1, count), np.arange(count - 1)] = -ratio
        matrix[n:, n:] = inner
        self.region.matrix(x, matrix)
        self.factor = _factorised(matrix)
        rows = t - s + margins.arguments(G @ at, b)
        order = np.diff(b) - margins.spacing - o
        in_x = G.T @ margins.by_point(margins.signs * a) + self.region.r_dual(x)
        in_b = -margins.by_threshold(margins.signs * a) + _transposed_steps(nu)
        self.residuals = rows, margins.caps - a - u, order, in_x, in_b, *self.region.r_primal(x)

    def corrector_residuals(self, residuals: Parts, predictor: InteriorState) -> Parts:
        return *residuals[:5], *self.region.corrector_r_primal(residuals[5:], predictor.free[0])

    def solve(self, r_comp: Parts, residuals: Parts) -> InteriorState:
        """The step in weights and thresholds by that factor; hinges, order rows and the region's rows follow."""
        x, margins, M = self.x, self.margins, self.margins.signs
        (s, t, o), (u, a, nu) = x.slacks[:3], x.multipliers[:3]
        (us, at, on), (rows, sums, order, in_x, in_b) = r_comp[:3], residuals[:5]
        rho = rows - (us - s * sums) / u + at / a
        push = M * self.E * rho
        rhs_x = in_x + self.G.T @ margins.by_point(push) + self.region.rhs(x, r_comp[3:], residuals[5:])
        rhs_b = in_b - margins.by_threshold(push) + _transposed_steps((on - nu * order) / o)
        step = solved(self.factor, np.concatenate([rhs_x, rhs_b]))
        dx, db = step[: len(rhs_x)], step[len(rhs_x) :]
        da = self.E * (rho - M * ((self.G @ dx)[margins.rows] - db[margins.ends]))
        du = sums - da
        do = order + np.diff(db)
        slacks, multipliers = self.region.direction(x, dx, r_comp[3:], residuals[5:])
        return InteriorState((dx, db), ((us - s * du) / u, (at - t * da) / a, do, *slacks), (du, da, (on - nu * do) / o, *multipliers))

    def advance(self, move: InteriorState, lengths: Lengths) -> None:
        super().advance(move, lengths)
        self.x = self.region.with_longest_slack(self.x)


class SimilarityHinges(OrdinalHinges):
    """In the box |v| ≤ 1, with G = B K diag(p). N × N memory, 4N³/3 flops an iteration."""

    def __init__(self, problem: OrdinalGoodness, margins: Margins, goal: float) -> None:
        G = problem.gram[np.ix_(margins.support, margins.support)] * (problem.bound * problem.mass[margins.support])
        super().__init__(problem, np.asfortranarray(G), margins, BoxRegion(len(G)), goal)

    def point(self) -> Point:
        """v and the thresholds."""
        at, b = self.x.free
        return {"v": self.margins.scatter(at), "thresholds": self.margins.thresholds(b)}


class KernelHinges(OrdinalHinges):
    """In the ball ‖u‖ ≤ R of a factor F of K. n r² + r³/3 flops an iteration, r the numerical rank of K.

    The answer is judged by Kα, which is off by up to n ε |K||α|, and |α| grows to R/√(smallest eigenvalue used). Where that exceeds the
    tolerance the gap may stay open. Measured on K = 1 + 1e-8 XXᵀ/n, n = 21 to 38: ‖α‖₁ = 2e10 at γ = 1e-5, gap/scale 6e-8 to 3e-6 in all of
    10 runs. 4e-7 in one of 10 at γ = 1e-4; 1e-8 in all at the other γ from 1e-1 to 1e-6.
    """

    def __init__(self, problem: KernelOrdinalGoodness, margins: Margins, goal: float) -> None:
        F, self.pivots = pivoted(problem.gram[np.ix_(margins.support, margins.support)])
        super().__init__(problem, F, margins, BallRegion(1.0 / problem.gamma), goal)

    def point(self) -> Point:
        """α with Fᵀα = u, and the thresholds: q/λ, or the one supported on the pivots; the smaller of the two costs fewer digits in Kα."""
        F, margins, (u, b), (_, a, _, strength) = self.G, self.margins, self.x.free, self.x.multipliers
        alpha, r = np.zeros(len(F)), len(self.pivots)
        if r:
            alpha[self.pivots] = scipy.linalg.solve_triangular(F[self.pivots], u, lower=True, trans=1)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            first = margins.by_point(margins.signs * np.clip(a, 0.0, margins.caps)) / strength
            near = float(np.linalg.norm(F.T @ first - u)) <= 1e-12 * float(np.linalg.norm(u))
        if near and float(np.sum(np.abs(first))) < float(np.sum(np.abs(alpha))):
            alpha = first
        return {"alpha": margins.scatter(alpha), "thresholds": margins.thresholds(b)}


def ordinal_iterates(problem: OrdinalGoodness | KernelOrdinalGoodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates of either, in natural units."""
    margins, goal = Margins(problem), tol * problem.scale()
    if not len(margins.needed):
        yield Iterate(problem.trivial_point(), margins.multipliers(np.zeros(0)), 0.0)
        return
    run = SimilarityHinges(problem, margins, goal) if isinstance(problem, OrdinalGoodness) else KernelHinges(problem, margins, goal)
    for at in run.iterates(goal, max_iter):
        yield at.result


def _factorised(matrix: Array) -> Array:
    """The Cholesky factor of a matrix whose lower triangle is given, with the least resistance that makes it positive definite.

    If constants are among the f, moving them with b changes no hinge, and a ball that is not reached hardly resists. So the pivot of that
    direction is rounding, of either sign, and a step along it would be, too. Resistance damps it and leaves the other steps as they are.
    """
    at = np.diag_indices(len(matrix))
    for resistance in RESISTANCES:
        attempt = matrix.copy(order="F")
        attempt[at] *= 1.0 + resistance
        with suppress(np.linalg.LinAlgError):
            return cholesky(attempt)
    raise np.linalg.LinAlgError("the Newton matrix is not positive definite, whatever is added to its diagonal")


def _transposed_steps(nu: Array) -> Array:
    """Cᵀν for (Cb)_j = b_{j+1} − b_j."""
    out: Array = np.append(0.0, nu) - np.append(nu, 0.0)
    return out
