"""CVXPY's functions of matrices and its semidefinite constraints as terms.

CVXPY demands Z = Zᵀ of the argument of such a function, other than log det, which is that of the symmetric part. Rows for that are added
where Z(x) is not symmetric for every x, as far as floats can tell; else Z counts as its symmetric part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints import PSD

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, NotRational
from simopt.arithmetic.eigenvalues import EXACT_ROWS
from simopt.arithmetic.matrix_logarithm import matrix_logarithm, symmetrised
from simopt.duality.atoms.log_determinant import NegativeLogDeterminant
from simopt.duality.atoms.matrix_fraction import MatrixFraction
from simopt.duality.atoms.matrix_norm import MatrixNorm, NuclearNorm, SpectralNorm
from simopt.duality.atoms.quantum_entropy import NegativeQuantumEntropy
from simopt.duality.atoms.quantum_relative_entropy import QuantumRelativeEntropy
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.atoms.sum_largest_eigenvalues import SumLargestEigenvalues
from simopt.duality.atoms.symmetric_matrix import SymmetricMatrixAtom, fold, triangle
from simopt.duality.atoms.trace_inverse import TraceInverse
from simopt.duality.atoms.trace_logarithm import NegativeTraceLogarithm
from simopt.duality.graph.affine import (
    Constant,
    Evaluated,
    Key,
    Map,
    Picks,
    ProductMap,
    Reference,
    ScalingMap,
    SelectionMap,
    SumMap,
    dense,
    matrix_of,
    stacked,
)
from simopt.duality.graph.matrix_terms import SEMIDEFINITE, symmetric_part
from simopt.duality.graph.programme import Programme, Row, Term, VariableBound
from simopt.duality.graph.vectors import Value, vector
from simopt.duality.reading.leaves import generic

if TYPE_CHECKING:
    from simopt.core.arrays import Array
    from simopt.duality.reading.expressions import Expressions
    from simopt.duality.reading.library import AtomContext

SYMMETRIC = 1e-12  # of the largest entry: an asymmetry that counts as rounding
NODES = (
    4,
    4,
)  # quadrature nodes and square roots of CVXPY's approximation; its own (3, 3) leaves a gap of 1e-8, and more than these cost time


def folded(whole: Map, n: int, trace: bool = False) -> Map:
    """T vec(Z), the argument of a function of a symmetric matrix; a constant keeps its exact entries, so that fractions can decide."""
    if trace:
        matrix = fold(n, trace=True)
        return ProductMap(Constant.of(matrix), matrix.shape, whole)
    i, j = triangle(n)
    below, above = SelectionMap((whole,), j * n + i), SelectionMap((whole,), i * n + j)
    sums = SumMap((below, ScalingMap(Constant.of((i != j).astype(float)), above)))
    return sums if whole.below or n > EXACT_ROWS else Evaluated(lambda num: _exact_floats(num, sums), len(i))


def _exact_floats(num: Arithmetic, constant: Map) -> Value:
    """Constants in intervals without a radius, where they are floats."""
    if num is INTERVAL:
        with suppress(NotRational):
            exact = constant.constant(RATIONAL)
            floats = np.array([float(x) for x in exact])
            if all(Fraction(a) == b for a, b in zip(floats.tolist(), exact, strict=True)):
                return num.lift(floats)
    return constant.constant(num)


def cones(reader: Expressions, name: str, constraint: Any) -> Iterator[Term]:
    """A term for each matrix that has to be semidefinite; those of a batch have its index behind the name."""
    z = constraint.args[0]
    for at in np.ndindex(z.shape[:-2]):
        own = f"{name} {at}" if at else name
        yield _cone(reader, own, z[at] >> 0 if at else constraint)


def _cone(reader: Expressions, name: str, constraint: Any) -> Term:
    if name in reader.faces:
        face, z = reader.faces[name], symmetric_part(constraint.args[0])
        if face.restricted:
            reader.required.append((z @ face.null_space == 0).set_label(f"face of {name}"))
        constraint = PSD(face.across.T @ z @ face.across)
    z = constraint.args[0]
    atom, key = SemidefiniteCone(z.shape[0]), next(reader.keys)
    none = np.zeros(atom.length, dtype=np.intp)
    return Term(key, name, atom, folded(reader.map(z), atom.n), 1, 1, none, none.astype(bool), constraint, ((0, atom.length),))


def declared_cones(reader: Expressions, name: str, v: Any) -> Iterator[Term]:
    """The cone of a variable that is semidefinite by attribute."""
    for attribute, sign in SEMIDEFINITE.items():
        if v.attributes.get(attribute):
            yield from cones(reader, f"{name} {attribute}", PSD(v if sign > 0 else -v))


def with_cones(objective: Map, terms: list[Term]) -> Map:
    """The objective, and 0 where the cones hold."""
    return SumMap((objective, *(Reference(term.key, 1) for term in terms))) if terms else objective


def fixed_entries(programme: Programme) -> None:
    """Turn equality rows with one entry of one leaf in each entry, or none and 0 = 0 as masks leave it, into bounds from both sides.

    A bound takes every residual, is satisfied exactly, and needs no pivot: diag(X) = 1, or masks. Where a factor is not ±1 the end is
    rounded. Hence such a row stays a row where another one fixes an entry of it: two ends would not meet.
    """
    patterns = {row.key: pattern for row in programme.rows if (pattern := _fixing(programme, row)) is not None}
    exact = {key: bool(np.all(np.abs(pattern.factors[pattern.rows]) == 1.0)) for key, pattern in patterns.items()}
    fixed = set[tuple[Key, int]]()
    for row in sorted((row for row in programme.rows if row.key in patterns), key=lambda row: not exact[row.key]):
        leaf, columns, taken = row.map.below[0], patterns[row.key].columns, patterns[row.key].rows
        entries = {(leaf, column) for column in columns[taken].tolist()}
        if exact[row.key] or (len(entries) == len(taken) and not entries & fixed):
            fixed |= entries
            programme.bounds.setdefault(leaf, []).append(VariableBound(row, columns))
        else:
            del patterns[row.key]
    programme.rows = [row for row in programme.rows if row.key not in patterns]


def _fixing(programme: Programme, row: Row) -> Picks | None:
    """The entries that an equality row fixes, one in each entry of it, or none where it is 0 = 0; None where it does not."""
    keys = row.map.below
    pattern = row.map.pattern(keys[0]) if row.equality and len(keys) == 1 and keys[0] in programme.leaves else None
    if not isinstance(pattern, Picks) or not len(pattern.rows) or not np.all(np.abs(pattern.factors[pattern.rows]) > 0.0):
        return None
    if len(pattern.rows) < row.map.size:
        if row.sides is None or any(side.parameters() for side in row.sides):  # a parameter may come to be another number
            return None
        rest = row.map.value(INTERVAL, {keys[0]: INTERVAL.zeros(programme.leaves[keys[0]].size)})[pattern.columns < 0]
        if np.any(rest.mid != 0.0) or np.any(rest.rad != 0.0):
            return None
    return pattern


def _require_symmetric(reader: Expressions, z: Any) -> None:
    if z.shape[-1] > 1 and not _symmetric_at_random(z):
        reader.required.append(cp.upper_tri(z) == cp.upper_tri(z.T))


def _symmetric_at_random(z: Any) -> bool:
    """Whether Z is symmetric up to rounding where variables and parameters have values of no symmetry but the declared one.

    What the variables add is measured by itself, and each constant too: beside large constants an asymmetry would look like rounding.
    A symmetry of a parameter's present value counts for nothing, since the next value is judged by the same reading.
    """
    rng, before = np.random.default_rng(0), [(leaf, leaf.value) for leaf in (*z.parameters(), *z.variables())]
    try:
        for parameter in z.parameters():
            parameter.save_value(generic(parameter, rng))
        values: list[Array] = []
        for factor in (0.0, 1.0):
            for v in z.variables():
                v.save_value(factor * generic(v, rng))
            value = z.value
            if value is None:
                return False
            values.append(np.asarray(dense(value), dtype=float))
        constant, added = values[0], values[1] - values[0]
        rounding = 8 * np.finfo(float).eps * np.maximum(np.abs(constant), np.abs(constant.T))
        alike = np.abs(constant - constant.T) <= SYMMETRIC * np.maximum(np.abs(constant), np.abs(constant.T))
        return bool(np.all(alike) and np.all(np.abs(added - added.T) <= SYMMETRIC * np.max(np.abs(added)) + rounding))
    finally:
        for leaf, value in before:
            leaf.save_value(value)


def _of_symmetric(at: AtomContext, atom: SymmetricMatrixAtom, sign: int = 1) -> Map:
    z = at.expression.args[0]
    if not isinstance(atom, NegativeLogDeterminant):
        _require_symmetric(at.reader, z)
    argument, none = at.reader.argument(at.expression), np.zeros(atom.length, dtype=np.intp)
    own = replace(
        argument,
        map=folded(argument.map, atom.n, atom.trace),
        monotonicity=none,
        proper=none.astype(bool),
        parts=((0, atom.length),),
    )
    return at.reader.term(at.expression, atom, own, sign)


def _largest(at: AtomContext) -> Map:
    """λ_max and the sum of the largest eigenvalues; of a batch one for each matrix."""
    e = at.expression
    z, k = e.args[0], float(getattr(e, "k", 1.0))
    if z.ndim > 2:
        each = [type(e)(z[i], e.k) if hasattr(e, "k") else type(e)(z[i]) for i in np.ndindex(z.shape[:-2])]
        written = cp.reshape(cp.hstack(each), e.shape, order="C")
    elif k < z.shape[0]:
        return _of_symmetric(at, SumLargestEigenvalues(z.shape[0], k))
    else:
        _require_symmetric(at.reader, z)
        written = cp.trace(z)
    at.reader.rewritten[id(e)] = (e, written)
    return at.reader.map(written)


def of_symmetric(make: Callable[[int], SymmetricMatrixAtom], sign: int = 1) -> Callable[[AtomContext], Map]:
    """The reader of a function of one symmetric matrix."""
    return lambda at: _of_symmetric(at, make(at.expression.args[0].shape[0]), sign)


def matrix_norm(make: Callable[[tuple[int, int]], MatrixNorm]) -> Callable[[AtomContext], Map]:
    """The reader of a norm of a matrix; a vector is a matrix of one column."""

    def read(at: AtomContext) -> Map:
        shape = (*at.expression.args[0].shape, 1, 1)
        return at.term(make((shape[0], shape[1])))

    return read


def matrix_fraction(at: AtomContext) -> Map:
    """tr XᵀP⁻¹X."""
    x, p = at.expression.args
    _require_symmetric(at.reader, p)
    atom = MatrixFraction(x.shape[0], x.shape[1] if x.ndim == 2 else 1)
    argument, none = at.reader.argument(at.expression, (0, 1)), np.zeros(atom.length, dtype=np.intp)
    own = replace(
        argument,
        map=stacked([at.reader.map(x), folded(at.reader.map(p), atom.n)]),
        monotonicity=none,
        proper=none.astype(bool),
        parts=((0, x.size), (1, atom.cone.length)),
    )
    return at.reader.term(at.expression, atom, own, 1)


def quantum_relative_entropy(at: AtomContext) -> Map:
    """tr X log X − tr X log Y. CVXPY approximates it by rational functions; what is read is the function itself.

    With a constant Y it is an entropy and a linear term, whose coefficient −log Y is enclosed; with a constant X it is a function of Y.
    """
    e, reader = at.expression, at.reader
    x, y = e.args
    if any(z.is_constant() and z.parameters() for z in (x, y)):
        raise at.refuse("a relative entropy of matrices with a parameter, which CVXPY cannot solve either", "give its value as a constant")
    if y.is_constant():
        return _to_fixed(at)
    if e.quad_approx != NODES:
        written = cp.quantum_rel_entr(x, y, NODES)
        reader.rewritten[id(e)] = (e, written)
        return reader.map(written)
    for z in (x, y):
        _require_symmetric(reader, z)
    if x.is_constant():
        return _of_fixed(at)
    n = x.shape[0]
    atom = QuantumRelativeEntropy(n)
    argument, none = reader.argument(e, (0, 1)), np.zeros(atom.length, dtype=np.intp)
    own = replace(
        argument,
        map=stacked([folded(reader.map(x), n), folded(reader.map(y), n)]),
        monotonicity=none,
        proper=none.astype(bool),
        parts=((0, atom.cone.length), (1, atom.cone.length)),
    )
    return reader.term(e, atom, own, 1)


def _to_fixed(at: AtomContext) -> Map:
    """tr X log X + ⟨−log C, X⟩."""
    e, reader = at.expression, at.reader
    x, n = e.args[0], e.args[1].shape[0]
    fixed = Constant.of(np.asarray(dense(e.args[1].value), dtype=float))
    near = matrix_logarithm(FLOAT, _constant_matrix(FLOAT, fixed, n))
    if near is None or matrix_logarithm(INTERVAL, _constant_matrix(INTERVAL, fixed, n)) is None:
        raise at.refuse("a relative entropy to a constant that is not proven to be positive definite", "give a definite matrix")
    entropy = -cp.von_neumann_entr(x)
    reader.rewritten[id(e)] = (e, entropy - cp.sum(cp.multiply(near, x)))

    def slope(num: Arithmetic) -> Value:
        return -vector(num, matrix_logarithm(num, _constant_matrix(num, fixed, n)))

    return SumMap((reader.map(entropy), ProductMap(Evaluated(slope, n * n), (1, n * n), reader.map(x))))


def _of_fixed(at: AtomContext) -> Map:
    """tr M log M, a number, − tr M log Y."""
    e, reader = at.expression, at.reader
    m, y = e.args
    fixed, n = reader.factor(m, m.shape), m.shape[0]
    atom = NegativeTraceLogarithm(n, lambda num: _constant_matrix(num, fixed, n))
    argument, none = reader.argument(e, (1,)), np.zeros(atom.length, dtype=np.intp)
    own = replace(argument, map=folded(reader.map(y), n), monotonicity=none, proper=none.astype(bool), parts=((1, atom.length),))
    entropy = reader.map(-cp.von_neumann_entr(m))  # a constant expression, which a perspective multiplies by its t
    return SumMap((entropy, reader.term(e, atom, own, 1)))


def _constant_matrix(num: Arithmetic, constant: Map, n: int) -> Value:
    """The symmetric part of a constant; the constant itself, exactly, where it is symmetric."""
    matrix = num.lift(matrix_of(num, constant, (n, n)))
    return matrix if np.array_equal(num.mid(matrix), num.mid(matrix).T) else symmetrised(num, matrix)


MATRIX_FUNCTIONS: dict[type, Callable[[AtomContext], Map]] = {
    cp.lambda_max: _largest,
    cp.lambda_sum_largest: _largest,
    cp.log_det: of_symmetric(NegativeLogDeterminant, -1),
    cp.tr_inv: of_symmetric(TraceInverse),
    cp.von_neumann_entr: of_symmetric(NegativeQuantumEntropy, -1),
    cp.sigma_max: matrix_norm(SpectralNorm),
    cp.normNuc: matrix_norm(NuclearNorm),
    cp.MatrixFrac: matrix_fraction,
    cp.quantum_rel_entr: quantum_relative_entropy,
}
