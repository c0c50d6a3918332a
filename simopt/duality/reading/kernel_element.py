"""Elements of a kernel's space, given by the kernel's matrix and their coefficients: no factor of the matrix, and no inverse.

For f = Σ_j α_j k(x_j, ·) the values at the points are Kα, and ‖f‖² = αᵀKα. Suppose that a variable α occurs only in Kα, and once in αᵀKα.
Then everything that a sweep pulls back to it has the form ⟨q, Kα⟩, where q was pulled back to the values. The sweep keeps q instead of Kq:

    ⟨q, Kα⟩ + s αᵀKα = s dᵀKd − qᵀKq/(4s) ≥ −qᵀKq/(4s),   d = α + q/(2s),   for K ⪰ 0 and s > 0,

so that stationarity is exact for every q, also for a singular or nearly singular K. K ⪰ 0 is proven where the form is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import Atom, ConjugateDomain, DeclaredConjugate
from simopt.duality.atoms.quadratic_form import QuadraticForm, SemidefiniteForm, root
from simopt.duality.graph.affine import MIXED, Constant, Key, Map, Pattern, ProductMap, Reference, Residual
from simopt.duality.graph.programme import Programme, Term
from simopt.duality.graph.vectors import Value, divisor, is_zero, known, nothing, vector


@dataclass(frozen=True, eq=False)
class Evaluation(ProductMap):
    """Kα, the values of f. The multiplier of the values is pulled back to α unchanged."""

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        return self.part.pull(num, u, into)

    def pattern(self, key: Key) -> Pattern:
        return MIXED if key in self.below else None


class SquaredNorm(Atom):
    """φ(α) = αᵀKα, K ⪰ 0, with u paired with the values: (sφ)*(u) = sup ⟨u, Kα⟩ − sφ(α) = uᵀKu/(4s); the remainder is s dᵀKd, d = α − u/2s.

    Parameters
    ----------
    matrix : function
        K in an arithmetic, which is symmetric and proven to be positive semidefinite.
    """

    formula, conjugate_formula, domain_formula = "αᵀKα, u paired with Kα", "uᵀKu/4", "ℝⁿ"
    conjugate_domain = ConjugateDomain.FULL

    def __init__(self, matrix: Callable[[Arithmetic], Any]) -> None:
        self.matrix = matrix

    @property
    def degree(self) -> float | None:
        return 2.0

    def value(self, num: Arithmetic, z: Value) -> Value:
        return vector(num, num.pos(num.dot(z, num.matvec(self.matrix(num), z))))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u if divisor(num, s)[1].all() else num.zeros(len(u))

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if not divisor(num, s)[1].all() or not known(num, num.sum(u)):
            return num.lift(0.0) if is_zero(num, u).all() else nothing(num)
        return num.sum(self.value(num, u) / (s * 4))

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        half = u / (divisor(num, s)[0] * 2)[np.zeros(len(u), dtype=np.intp)]
        return num.sum(s * self.value(num, z - half))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.quad_over_lin(root(np.asarray(self.matrix(FLOAT), dtype=float)).T @ u, 4 * s), []

    def slope(self, z: Array, s: Array) -> Array:
        return 2.0 * float(s[0]) * z


def elements(programme: Programme) -> None:
    """Treat variables that occur only in Kα and αᵀKα as coefficients of elements."""
    for term in [term for term in programme.terms if isinstance(term.atom, (QuadraticForm, SemidefiniteForm))]:
        _recognise(programme, term)


def _recognise(programme: Programme, term: Term) -> None:
    below, atom = term.argument, term.atom
    assert isinstance(atom, (QuadraticForm, SemidefiniteForm))
    if not (isinstance(below, Reference) and below.key in programme.leaves and term.sign > 0) or term.source.args[1].parameters():
        return
    matrix = np.asarray(atom.matrix(FLOAT), dtype=float)
    if not np.array_equal(matrix, matrix.T) or atom.support() is None:
        return
    try:
        objective = _evaluated(programme.objective, below.key, matrix)
        rows = [replace(row, map=_evaluated(row.map, below.key, matrix)) for row in programme.rows]
        others = {
            each.key: replace(each, argument=_evaluated(each.argument, below.key, matrix)) for each in programme.terms if each is not term
        }
    except _Elsewhere:
        return
    others[term.key] = replace(term, atom=SquaredNorm(atom.matrix))
    programme.objective, programme.rows, programme.terms = objective, rows, [others[each.key] for each in programme.terms]


class _Elsewhere(Exception):
    """The variable occurs elsewhere."""


def _evaluated(below: Map, key: Key, matrix: Array) -> Map:
    """The map with Kα as an evaluation."""
    if key not in below.below:
        return below
    if isinstance(below, Reference):
        raise _Elsewhere
    if isinstance(below, ProductMap) and isinstance(below.part, Reference) and _is(below, matrix):
        return Evaluation(below.matrix, below.shape, below.part)
    changed: dict[str, Any] = {}
    for item in fields(below):  # type: ignore[arg-type]
        value = getattr(below, item.name)
        if isinstance(value, Map):
            changed[item.name] = _evaluated(value, key, matrix)
        elif isinstance(value, tuple) and any(isinstance(part, Map) for part in value):
            changed[item.name] = tuple(_evaluated(part, key, matrix) for part in value)
    return replace(below, **changed)  # type: ignore[type-var]


def _is(below: ProductMap, matrix: Array) -> bool:
    """Whether a product has this matrix."""
    if not isinstance(below.matrix, Constant) or below.matrix.varies or below.columns > 1 or below.shape != matrix.shape:
        return False
    read = below.matrix.read()
    return np.array_equal((read.toarray() if hasattr(read, "toarray") else np.asarray(read)).reshape(below.shape, order="F"), matrix)
