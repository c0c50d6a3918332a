"""Products of a constant and an expression, of every kind that CVXPY has: entry by entry, of matrices and stacks of them, kron, conv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from simopt.core.errors import Unreadable
from simopt.duality.graph.affine import Constant, Map, ProductMap, ScalingMap, SelectionMap, Totals
from simopt.duality.graph.vectors import Indices

if TYPE_CHECKING:
    from simopt.duality.reading.expressions import Expressions


def scaling(reader: Expressions, e: Any) -> Map:
    """c ∘ x."""
    factor, part = _sides(e)
    return ScalingMap(reader.factor(factor, e.shape), reader.broadcast(part, e.shape))


def quotient(reader: Expressions, e: Any) -> Map:
    """x / c."""
    part, factor = e.args
    if not factor.is_constant():
        raise Unreadable("a quotient of expressions", str(e), "divide by constants or parameters only")
    return ScalingMap(reader.factor(factor, e.shape), reader.broadcast(part, e.shape), divides=True)


def matrix_product(reader: Expressions, e: Any) -> Map:
    """A X, or X A = (Aᵀ Xᵀ)ᵀ; of arrays with more axes one product for each matrix of the last two."""
    left, right = e.args
    constant, _ = _sides(e)
    if max(left.ndim, right.ndim) > 2:
        return _of_stacks(reader, e)
    if constant is left:
        shape = left.shape if left.ndim == 2 else (1, left.size)
        return ProductMap(reader.factor(left, left.shape), shape, reader.map(right), right.shape[1] if right.ndim == 2 else 1)
    rows = left.shape[0] if left.ndim == 2 else 1
    shape = right.shape if right.ndim == 2 else (right.size, 1)
    return _from_the_right(reader.map(left), rows, _transposed(reader.factor(right, right.shape), shape), (shape[1], shape[0]))


def kronecker(reader: Expressions, e: Any) -> Map:
    """a_i x_j, each entry one product."""
    first, second = (_numbered(argument.shape) for argument in e.args)
    left = np.kron(first, np.ones_like(second)).reshape(-1, order="F")
    right = np.kron(np.ones_like(first), second).reshape(-1, order="F")
    one, other = (SelectionMap((_side(reader, a),), index) for a, index in zip(e.args, (left, right), strict=True))
    return ScalingMap(one, other) if e.args[0].is_constant() else ScalingMap(other, one)


def convolution(reader: Expressions, e: Any) -> Map:
    """Σ_{i + j = k} a_i x_j."""
    factor, part = _sides(e)
    i, j = (index.reshape(-1) for index in np.indices((factor.size, part.size)))
    return Totals(ScalingMap(SelectionMap((_side(reader, factor),), i), SelectionMap((reader.map(part),), j)), i + j, e.size)


def _sides(e: Any) -> tuple[Any, Any]:
    """The constant one of two factors, and the other."""
    one, other = e.args
    if not (one.is_constant() or other.is_constant()):
        raise Unreadable("a product of two expressions", str(e), "multiply by constants or parameters only")
    return (one, other) if one.is_constant() else (other, one)


def _side(reader: Expressions, e: Any) -> Map:
    return reader.factor(e, e.shape) if e.is_constant() else reader.map(e)


def _numbered(shape: tuple[int, ...]) -> Indices:
    """An array of this shape with the index of each entry in the flat array, column by column."""
    return np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape, order="F")


def _of_stacks(reader: Expressions, e: Any) -> Map:
    left, right = e.args
    first, second = _numbered(left.shape), _numbered(right.shape)
    first = first[None, :] if left.ndim == 1 else first
    second = second[:, None] if right.ndim == 1 else second
    batch = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    first, second = (np.broadcast_to(index, (*batch, *index.shape[-2:])) for index in (first, second))
    n, m = first.shape[-2], second.shape[-1]
    parts: list[Map] = []
    for at in np.ndindex(batch):
        one, other = (SelectionMap((_side(reader, a),), index[at].reshape(-1, order="F")) for a, index in ((left, first), (right, second)))
        if left.is_constant():
            parts.append(ProductMap(one, (n, first.shape[-1]), other, m))
        else:
            parts.append(_from_the_right(one, n, SelectionMap((other,), _turned(second.shape[-2], m)), (m, second.shape[-2])))
    order = np.moveaxis(_numbered((n, m, len(parts))), -1, 0).reshape((*batch, n, m))
    return SelectionMap(tuple(parts), order.reshape(-1, order="F"))


def _from_the_right(part: Map, rows: int, matrix: Map, shape: tuple[int, int]) -> Map:
    """(Aᵀ Xᵀ)ᵀ for X with `rows` rows; the matrix is Aᵀ, of this shape."""
    turned = SelectionMap((part,), _turned(rows, shape[1])) if rows > 1 else part
    out = ProductMap(matrix, shape, turned, rows)
    return SelectionMap((out,), _turned(shape[0], rows)) if rows > 1 and shape[0] > 1 else out


def _turned(rows: int, columns: int) -> Indices:
    """The index of the source of each entry of the transpose of a rows × columns matrix, both flat, column by column."""
    return _numbered((rows, columns)).T.reshape(-1, order="F")


def _transposed(matrix: Map, shape: tuple[int, int]) -> Map:
    if isinstance(matrix, Constant):
        read = matrix.read
        return Constant(lambda: _as_matrix(read(), shape).T, matrix.size, matrix.varies)
    return SelectionMap((matrix,), _turned(*shape))


def _as_matrix(values: Any, shape: tuple[int, int]) -> Any:
    return values if sp.issparse(values) else np.asarray(values, dtype=float).reshape(shape, order="F")
