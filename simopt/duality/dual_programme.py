"""The dual programme of a declared problem, as a problem for CVXPY: the backward sweep with multipliers that are variables.

The problem min ⟨c, x⟩ + Σ_i s_i φ_i(A_i x + b_i) subject to rows Gx ≤ h, Fx = g has Fenchel's dual

    max  Σ_i ⟨u_i, b_i⟩ − (s_iφ_i)*(u_i) − ⟨y, h⟩ − ⟨v, g⟩   subject to   c + Σ_i A_iᵀu_i + Gᵀy + Fᵀv = 0,  y ≥ 0.

If terms stand in rows or in the arguments of others, the multipliers of those determine the scale s_i ≥ 0 of a term. Then
(s, u) ↦ (sφ)*(u) is convex in both, as a supremum of linear functions. Each atom declares its own (`Atom.declared_conjugate`).

No variable is a definition, an epigraph or in a box here. Every declared row has a multiplier, and every variable its row of stationarity,
so that each programme can be read off from the other.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.core.errors import Unreadable
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.atoms.symmetric_matrix import triangle
from simopt.duality.graph.affine import Map, Residual
from simopt.duality.graph.programme import Definition, Epigraph, Leaf, Programme, Term
from simopt.duality.graph.symbolic import SYMBOLIC, Symbol, expression
from simopt.duality.graph.vectors import Value, broadcast
from simopt.duality.reading.reader import read


def dual(problem: cp.Problem) -> cp.Problem:
    """The dual programme; see `simopt.dual`."""
    return _Dual(read(problem)).problem


class _Dual:
    def __init__(self, programme: Programme) -> None:
        self.into: Residual = {}
        self.gains: list[cp.Expression] = []
        self.constraints: list[cp.Constraint] = []
        for row in programme.every_row:
            self._pull(row.map, Symbol(cp.Variable(row.shape, name=row.name, nonneg=not row.equality)))
        self._pull(programme.objective, np.ones(1))
        for term in reversed(programme.terms):
            if term.key in self.into:
                self._term(term, self.into.pop(term.key))
        for each in programme.every_variable:
            if each.key in self.into:
                self._stationary(each, expression(broadcast(SYMBOLIC, self.into[each.key], each.size)))
        value = sum(self.gains[1:], start=self.gains[0]) if self.gains else cp.Constant(0.0)
        self.problem = cp.Problem(cp.Minimize(-value) if programme.maximises else cp.Maximize(value), self.constraints)

    def _require(self, constraint: cp.Constraint, label: str) -> None:
        self.constraints.append(constraint.set_label(label))

    def _pull(self, below: Map, u: Value) -> None:
        self._gain(expression(below.pull(SYMBOLIC, u, self.into)))

    def _gain(self, value: cp.Expression) -> None:
        if not value.is_zero():
            self.gains.append(value[0] if value.ndim else value)

    def _stationary(self, each: Leaf | Definition | Epigraph, r: cp.Expression) -> None:
        """r = 0, with the sign at which the multiplier is the variable."""
        entry_index = each.entry_index if isinstance(each, Leaf) else None
        r = cp.reshape(r, each.shape, order="F") if entry_index is None else r[np.unique(entry_index[entry_index >= 0])]
        self._require(-r == 0, each.name)

    def _cone(self, term: Term, cone: SemidefiniteCone) -> None:
        """U ⪰ 0, the dual value of CVXPY's constraint; the multiplier is −U."""
        dual = cp.Variable((cone.n, cone.n), name=term.name, PSD=True)
        i, j = triangle(cone.n)
        self._pull(term.argument, Symbol(-cp.vec(dual, order="F")[j * cone.n + i]))

    def _term(self, term: Term, s: Value) -> None:
        scale = expression(broadcast(SYMBOLIC, s if term.sign > 0 else -s, term.size))
        if isinstance(term.atom, SemidefiniteCone):
            self._cone(term, term.atom)
            return
        u = cp.Variable(term.argument.size, name=term.name)
        try:
            conjugate, domain = term.atom.declared_conjugate(u, scale)
        except Unreadable as error:
            raise Unreadable(f"{term.name}: {error}", str(term.source)) from error
        self._gain(-conjugate)
        if not scale.is_nonneg():
            self._require(scale >= 0, f"scale of {term.name}")
        if np.any(term.monotonicity):
            self._require(cp.multiply(term.monotonicity, u) >= 0, f"sign of {term.name}")
        for number, constraint in enumerate(domain, 1):
            self._require(constraint, f"domain of {term.name}" if len(domain) == 1 else f"domain of {term.name}, {number}")
        self._pull(term.argument, Symbol(u))
