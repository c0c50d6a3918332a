r"""Goodness of a similarity by a dense interior-point method on the scaled weights, stopped by the true certificate.

With f = Gv, G = B K diag(p), and hinges h_b = c_b − M_b f (one block, M = y, for the hinge loss; two, M = ∓1, for the insensitive one)
    min Σ_b p·s_b   subject to   s_b ≥ h_b, s_b ≥ 0, −1 ≤ v ≤ 1.
Slacks s, t = s − h, l = v + 1, r = 1 − v have the multipliers u = p − a, a, z_l and z_u. A step (solvers/interior) solves with
GᵀEG + diag(z_l/l + z_u/r), E = Σ_b 1/(t_b/a_b + s_b/u_b). An iteration costs one symmetric product and one Cholesky factorisation of order
N, 4N³/3 flops; there are 10 to 20 iterations. The start is feasible for both programmes, so that only rounding is ever off.
q = Σ_b M_b a_b, clipped, bounds from below, and P(v) − D(q) costs two products with G: the method ends when that closes. At large B
rounding stops it before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from simopt.core.arrays import Array
from simopt.problems.domains.finite_domain import FiniteDomain
from simopt.problems.goodness import Goodness
from simopt.solvers.interior.pairs import InteriorState, Pairs, Parts, cholesky, solved, weighted_gram
from simopt.solving.solution import Iterate


class BoxHinges(Pairs):
    """The linear programme above over the n points of positive mass, in natural units. Blocks of hinges are rows of s, t, u, a."""

    patience: ClassVar[int] = 7

    def __init__(self, problem: Goodness) -> None:
        y, self.p = problem.support_targets(), problem.support_masses()
        self.G = np.asfortranarray(problem.core * (problem.bound * self.p))
        if problem.loss == "hinge":
            self.signs, self.c = y[None, :], np.full((1, len(y)), problem.margin)
        else:
            self.signs = np.array([[-1.0], [1.0]]) * np.ones(len(y))
            self.c = np.vstack([-y - problem.epsilon, y - problem.epsilon])
        self.x = self.start()
        self.update_gap()

    def start(self) -> InteriorState:
        """v = 0, a = p/2, and slacks and multipliers of the box that make both programmes feasible, with products of one size."""
        a = np.tile(0.5 * self.p, (len(self.c), 1))
        pull = self.G.T @ self.q(a)
        mean_mass = float(np.mean(self.p))
        slack = max(float(np.mean(np.abs(self.c))), 0.2 * float(np.mean(np.abs(pull))) / mean_mass, 1e-3)
        s = np.maximum(self.c, 0.0) + slack
        low = np.maximum(-pull, 0.0) + slack * mean_mass
        one = np.ones(len(self.p))
        return InteriorState((0.0 * one,), (s, s - self.c, one, one), (self.p - a, a, low, low + pull))

    def q(self, a: Array) -> Array:
        """Σ_b M_b a_b."""
        out: Array = np.sum(self.signs * a, axis=0)
        return out

    def update_gap(self) -> None:
        """v, q = Σ_b M_b a_b with a clipped to [0, p], and P(v) − D(q). Two products with G."""
        (self.v,), a = self.x.free, np.clip(self.x.multipliers[1], 0.0, self.p)
        self.multipliers = self.q(a)
        self.f = self.G @ self.v
        dual = float(np.sum(a * self.c)) - float(np.sum(np.abs(self.G.T @ self.multipliers)))
        self.gap = float(np.sum(self.p * np.maximum(self.c - self.signs * self.f, 0.0))) - dual

    def factorise(self) -> None:
        (s, t, left, right), (u, a, low, high) = self.x.slacks, self.x.multipliers
        self.E = 1.0 / (t / a + s / u)
        matrix = weighted_gram(self.G, np.sum(self.E, axis=0))
        matrix.flat[:: len(self.p) + 1] += low / left + high / right
        self.factor = cholesky(matrix)
        self.residuals = self.c - (s + self.signs * self.f - t), self.p - a - u, self.G.T @ self.q(a) + low - high

    def solve(self, r_comp: Parts, residuals: Parts) -> InteriorState:
        """The step in v by the factor; hinges and the box follow."""
        (s, t, left, right), (u, a, low, high) = self.x.slacks, self.x.multipliers
        (us, at, zl, zr), (rows, sums, columns) = r_comp, residuals
        rho = rows - (us - s * sums) / u + at / a
        dv = solved(self.factor, columns + self.G.T @ self.q(self.E * rho) + zl / left - zr / right)
        da = self.E * (rho - self.signs * (self.G @ dv))
        du = sums - da
        slacks = (us - s * du) / u, (at - t * da) / a, dv, -dv
        return InteriorState((dv,), slacks, (du, da, (zl - low * dv) / left, (zr + high * dv) / right))


def hinge_iterates(problem: Goodness, tol: float, max_iter: int) -> Iterator[Iterate]:
    """Iterates of a `Goodness` problem with the insensitive or the hinge loss, in natural units, until rounding stops them."""
    for at in BoxHinges(problem).iterates(tol * problem.scale(), max_iter):
        yield Iterate({"v": scatter(problem, at.v)}, {"predictions": scatter(problem, at.multipliers)}, max(at.gap, 0.0))


def scatter(problem: FiniteDomain, values: Array) -> Array:
    """Values of the points of positive mass, and 0 elsewhere."""
    out = np.zeros(len(problem.targets))
    out[problem.support] = values
    return out
