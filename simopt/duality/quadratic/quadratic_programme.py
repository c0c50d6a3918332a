"""A declaration as min ½⟨x, Qx⟩ + ⟨c, x⟩ + c₀ over a polyhedron A x + b ≤ 0 or = 0, low ≤ x ≤ high, its numbers exact or enclosed.

x is that of `LinearProgramme`. Squares and quadratic forms t = φ(Lx + l) with factors s ≥ 0 in the objective, and nowhere else, are put
into it: Q is the sum of all LᵀWL, with W = 2s for squares and s(P + Pᵀ) for zᵀPz. No L has entries for maxima or absolute values, as a
larger value of these need not make φ larger.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import INTERVAL, Interval
from simopt.arithmetic.interval import EPS, TINY, as_interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.core.arrays import Array
from simopt.duality.atoms.quadratic_form import SemidefiniteForm
from simopt.duality.atoms.square import Square
from simopt.duality.graph.leaf_values import changing
from simopt.duality.graph.programme import Programme, Term
from simopt.duality.vertices.linear_programme import LinearProgramme

QUADRATIC = (Square, SemidefiniteForm)
PRODUCTS = 2_000_000  # in Q at most: with more, forms are better evaluated one after the other


@dataclass(frozen=True, eq=False)
class QuadraticProgramme:
    """Q, c and c₀; `linear` has the rows and the bounds. Q − diag(`curvature`) ⪰ 0 is proven, the curvature being negative by rounding."""

    linear: LinearProgramme
    hessian: IntervalMatrix
    slope: Interval
    offset: Interval
    curvature: Array

    @classmethod
    def of(cls, programme: Programme) -> QuadraticProgramme | None:
        """The present numbers of a programme, kept; None where it is no such programme, or a linear one, or Q has too many products."""
        kind = ("quadratic", *changing(programme.problem))
        return cast("QuadraticProgramme | None", programme.optima.of(kind, {}, lambda _: cls.of_present_numbers(programme)))

    @classmethod
    def of_present_numbers(cls, programme: Programme) -> QuadraticProgramme | None:
        """The same, read anew."""
        forms = [term for term in programme.terms if isinstance(term.atom, QUADRATIC)]
        linear = LinearProgramme.of(programme, apart=forms) if forms else None
        if linear is None:
            return None
        cost, width = linear.cost.dense()[0], len(linear.low)
        found = cls(linear, IntervalMatrix(sp.csr_array((width, width))), cost, linear.offset[0], np.zeros(width))
        put = np.zeros(width, dtype=bool)
        for term in forms:
            own = linear.index_of(term)
            put[own] = True
            added = found.with_term(term, cost[own] * float(term.sign))
            if added is None:
                return None
            found = added
        if linear.matrix.mid[:, np.flatnonzero(put)].nnz or np.isfinite(linear.low[put]).any() or np.isfinite(linear.high[put]).any():
            return None  # a row has one of them
        slope = Interval(np.where(put, 0.0, found.slope.mid), np.where(put, 0.0, found.slope.rad))
        low, high = np.where(put, 0.0, linear.low), np.where(put, 0.0, linear.high)
        return replace(found, linear=replace(linear, low=low, high=high), slope=slope)

    def with_term(self, term: Term, factors: Interval) -> QuadraticProgramme | None:
        """s φ(Lx + l) added."""
        if not np.all(factors.low >= 0.0):
            return None
        matrix, constant = self.linear.read(term.argument)
        if any(matrix.mid[:, self.linear.index_of(v)].nnz for v in self.linear.variables if isinstance(v, Term)):
            return None
        counts = np.diff(matrix.mid.indptr).astype(float)
        if isinstance(term.atom, Square):
            if counts @ counts > PRODUCTS:
                return None
            rad = sp.diags_array(2.0 * factors.rad, format="csr") if factors.rad.any() else None
            weights = IntervalMatrix(sp.diags_array(2.0 * factors.mid, format="csr"), rad)
            least = (factors * 2.0).low
        else:
            assert isinstance(term.atom, SemidefiniteForm)
            given, bound = as_interval(term.atom.matrix(INTERVAL)), term.atom.least_eigenvalue
            if bound == -np.inf or np.count_nonzero(given.mid) * float(counts.max(initial=0.0)) ** 2 > PRODUCTS:
                return None
            weights = IntervalMatrix.of((given + given.T) * factors)
            least = np.full(len(given), float(((factors * 2.0) * Interval(np.array([bound]))).low[0]))
        selects = matrix.exact and np.max(counts, initial=0.0) <= 1.0  # else Lᵀ diag(least) L is not diagonal
        if not selects and np.any(least < 0.0):
            return None
        slope, across = weights.matvec(constant), matrix.T
        return QuadraticProgramme(
            self.linear,
            self.hessian + across @ weights @ matrix,
            self.slope + across.matvec(slope),
            self.offset + INTERVAL.dot(constant, slope) * 0.5,
            self._curvature_with(matrix.mid, least) if selects else self.curvature,
        )

    def _curvature_with(self, matrix: Any, weights: Array) -> Array:
        """q_j + Σ_i a_ij² w_i, rounded down, for weights of one sign; q_j itself where all a_ij w_i are 0."""
        more = matrix.multiply(matrix).T @ weights
        least = np.nextafter(self.curvature + (more - np.abs(more) * ((matrix.shape[0] + 8) * EPS) - TINY), -np.inf)
        touched = abs(matrix).T @ (weights < 0.0) > 0.0  # the product may be 0 by underflow
        found: Array = np.where(touched, least, np.maximum(self.curvature, least))
        return found

    def gradient(self, x: Interval) -> Interval:
        """Qx + c."""
        return self.hessian.matvec(x) + self.slope

    def value(self, x: Interval) -> Interval:
        """½⟨x, Qx⟩ + ⟨c, x⟩ + c₀."""
        found: Interval = INTERVAL.dot(x, self.hessian.matvec(x)) * 0.5 + INTERVAL.dot(x, self.slope) + self.offset
        return found
