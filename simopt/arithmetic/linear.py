r"""A x = b for a square matrix: by floats, in intervals proven to hold the solution, or in fractions.

Intervals (Krawczyk, Rump). Let R be near the inverse of A, x̃ near the solution, r = b − A x̃, and E ≥ |I − RA| entry by entry. Then

    x − x̃ = Rr + (I − RA)(x − x̃),    so    |x − x̃| ≤ d + E|x − x̃|,    d = |Rr|.

If Ev < v for a v > 0, the spectral radius of E is below 1 (Collatz). Then A has an inverse, and |x − x̃| ≤ w for every w ≥ d + Ew.
One is w = d + αv with α the largest (Ed)_i/(v − Ev)_i, and d + Ew is another. The bound holds for every A and b in their intervals.

The residual is summed in twice the working precision (Dot2). So x̃ is refined to the floats next to the solution if R is an inverse at all,
and d is as small as their distance. Before, rows and columns are scaled by powers of two.

Source: S. M. Rump, Verification methods, Acta Numerica 19 (2010), §10; T. Ogita, S. M. Rump and S. Oishi, Accurate sum and dot product,
SIAM J. Sci. Comput. 26 (2005).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from simopt.arithmetic.base import Arithmetic, Value
from simopt.arithmetic.floating import FLOAT
from simopt.arithmetic.interval import EPS, INTERVAL, SMALLEST, TINY, Interval, as_interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.rational import RATIONAL, Exact
from simopt.arithmetic.residual import residual
from simopt.arithmetic.singular_value import least_singular_value, norms
from simopt.arithmetic.triangular import Block, block_triangular
from simopt.core.arrays import Array

ROUNDS = 6  # of refinement, and of the search for v
BUNDLE = 64  # rows of small blocks that are solved as one
LARGE = 128  # rows of a block that is factorised as a sparse matrix, where few entries are not 0
DENSE = 2000  # rows of a block that is inverted
GROWN = 1e-6  # of the solution: a larger distance is not taken without another bound
FILLED = 0.2  # the fraction of entries up to which they are few
ABSENT = -(1 << 20)  # the exponent of 0

Indices = NDArray[np.intp]


def solve(num: Arithmetic, matrix: Any, right: Any) -> Value | None:
    """The solution x of A x = b, for one right-hand side (n) or several (n × k); None where there is none, or none is proven. O(n³).

    A is dense, or sparse (of floats, or an `IntervalMatrix`). FLOAT: by an LU factorisation, refined.
    INTERVAL: for A and b of floats or intervals, enclosures of the solutions for all matrices and
    right-hand sides in them. None also where A may be singular, as far as floats can tell: at a condition of some 10¹⁴, scaled. If A falls
    into blocks, one with 0 on the right has the enclosure 0, which is one of its solutions. RATIONAL:
    the exact solution; None where A is singular.

    Raises
    ------
    ValueError
        where the matrix is not square, or the right-hand side has another number of rows.
    """
    shape, rows = np.shape(as_array(matrix)), np.shape(as_array(right))
    if len(shape) != 2 or shape[0] != shape[1] or len(rows) not in (1, 2) or rows[0] != shape[0]:
        raise ValueError(f"matrix: shape {shape} and a right-hand side of shape {rows}, where n × n and n or n × k are needed")
    if num is RATIONAL:
        return _exact(matrix.toarray() if sp.issparse(matrix) else matrix, right)
    with np.errstate(all="ignore"):
        sparse = isinstance(matrix, IntervalMatrix) or sp.issparse(matrix)
        found = _by_blocks(num, IntervalMatrix.of(matrix) if sparse else as_interval(matrix), as_interval(right))
    return found.mid if found is not None and num is FLOAT else found


def as_array(values: Any) -> Any:
    """The array that has the shape: the midpoints of intervals."""
    return values.mid if isinstance(values, Interval | IntervalMatrix) else values if sp.issparse(values) else np.asarray(values)


def _exact(matrix: Any, right: Any) -> Value | None:
    import flint

    def fractions(values: Any) -> Any:
        entries = [flint.fmpq(*map(int, x.as_integer_ratio())) for x in np.ravel(RATIONAL.lift(values))]
        return flint.fmpq_mat(len(values), len(entries) // max(len(values), 1), entries)

    try:
        found = fractions(matrix).solve(fractions(right)) if len(matrix) else None
    except ZeroDivisionError:
        return None
    entries = [] if found is None else [Exact(int(x.p), int(x.q)) for x in found.entries()]
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out.reshape(np.shape(right))


def blocks(pattern: Any) -> list[tuple[Indices, Indices]]:
    """The rows and the columns of each block of a sparse matrix: the connected components of the graph with an edge for each entry."""
    graph = sp.coo_array(pattern)
    height, width = graph.shape
    edges = sp.coo_array((np.ones(graph.nnz), (graph.row, height + graph.col)), shape=(height + width, height + width))
    count, labels = connected_components(edges, directed=False)
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(labels, minlength=count))[:-1])
    return [(part[part < height], part[part >= height] - height) for part in parts]


def bundled(parts: Sequence[tuple[Indices, Indices]]) -> Iterator[tuple[Indices, Indices]]:
    """Small blocks together, as each system that is solved has a cost of its own: bundles of some BUNDLE rows, in order."""
    bundle = np.cumsum([len(rows) for rows, _ in parts]) // BUNDLE
    for _, members in groupby(zip(bundle, parts, strict=True), key=itemgetter(0)):
        rows, columns = (np.concatenate(side) for side in zip(*(part for _, part in members), strict=True))
        yield rows, columns


def _by_blocks(num: Arithmetic, a: Interval | IntervalMatrix, b: Interval) -> Interval | None:
    """The solution, each block of A solved by itself; 0 solves a block with 0 on the right, whether or not it is regular."""
    parts = blocks(_filled(a))
    if any(len(rows) != len(columns) for rows, columns in parts):
        return None
    live = (b.mid != 0.0) | (b.rad != 0.0)
    live = live if live.ndim == 1 else live.any(axis=1)
    if num is INTERVAL and len(parts) > 1:
        parts = [part for part in parts if live[part[0]].any()]
    mid, rad = np.zeros(b.shape), np.zeros(b.shape)
    for rows, columns in bundled(parts):
        found = _block(num, a, b, rows, columns)
        if found is None:
            return None
        mid[columns], rad[columns] = found.mid, found.rad
    return Interval(mid, rad)


def _filled(a: Interval | IntervalMatrix) -> Any:
    """The places of the entries that are not 0."""
    if isinstance(a, Interval):
        return (a.mid != 0.0) | (a.rad != 0.0)
    return abs(a.mid) if a.exact else abs(a.mid) + a.rad


def _block(num: Arithmetic, a: Interval | IntervalMatrix, b: Interval, rows: Indices, columns: Indices) -> Interval | None:
    """The solution of a block: as a sparse system if it is large and has few entries."""
    if isinstance(a, Interval):
        return _scaled(num, a[np.ix_(rows, columns)], b[rows])
    part = a[rows].columns(columns)
    if len(rows) >= LARGE and part.nnz <= FILLED * len(rows) ** 2:
        found = _sparse(num, part, b[rows])
        if found is not None:
            return found
    return _scaled(num, part.dense(), b[rows]) if len(rows) <= DENSE else None


def _sparse(num: Arithmetic, a: IntervalMatrix, b: Interval) -> Interval | None:
    """The solution of a sparse system, by its LU factorisation; None where it is singular, or not proven to be regular in this way.

    In intervals the residual r of the refined x̃ is tiny. A e = r is solved by substitution in the block triangular form, where intervals
    may grow from block to block, or bounded by the least singular value, with one number for all entries.
    """
    shape = b.shape
    right = Interval(b.mid.reshape(len(b), -1), b.rad.reshape(len(b), -1))
    if not all(np.isfinite(part).all() for part in (a.mid.data, a.rad.data, right.mid, right.rad)):
        return None
    rows, columns = exponents_of(a.mid)
    scaled = IntervalMatrix(rescaled(a.mid, rows, columns), None if a.exact else rescaled(a.rad, rows, columns, SMALLEST))
    shifted = Interval(np.ldexp(right.mid, -rows[:, None]), np.ldexp(right.rad, -rows[:, None]) + SMALLEST * (right.rad > 0.0))
    if not (_unchanged(a.mid, scaled.mid, rows, columns) and np.array_equal(np.ldexp(shifted.mid, rows[:, None]), right.mid)):
        return None  # something underflows
    try:
        factors = splu(sp.csc_matrix(scaled.mid))
    except RuntimeError:
        return None
    x = _improved(scaled, shifted, lambda side: np.asarray(factors.solve(side)))
    if num is FLOAT:
        found = Interval(np.ldexp(x, -columns[:, None]))
    else:
        away = _away(scaled, factors, residual(scaled, shifted, x), x)
        if away is None:
            return None
        found = Interval(np.ldexp(x, -columns[:, None]), np.ldexp(away, -columns[:, None]) + SMALLEST)
    known = np.isfinite(found.mid).all() and np.isfinite(found.rad).all()
    return Interval(found.mid.reshape(shape), found.rad.reshape(shape)) if known else None


def _away(a: IntervalMatrix, factors: Any, left: Interval, x: Array) -> Array | None:
    """|e| at most for every e with A e = r; None where nothing is proven.

    By substitution where all blocks are small; and by σ where one is large, or intervals grow from block to block.
    """
    parts, size = block_triangular(_filled(a)), _size(left)
    if parts is None:
        return None
    if max(len(rows) for rows, _ in parts) > LARGE:
        beside = _beside(a, factors, left)
        return _substituted(a, parts, size) if beside is None else beside
    away = _substituted(a, parts, size)
    if away is not None and float(np.max(away)) <= GROWN * float(np.max(np.abs(x), initial=0.0)):
        return away
    beside = _beside(a, factors, left)
    return away if beside is None else beside if away is None else np.minimum(away, beside)


def _beside(a: IntervalMatrix, factors: Any, left: Interval) -> Array | None:
    """|e| at most for every e with A e = r: that of another correction ẽ, and ‖r − Aẽ‖₂/σ; None where no σ is proven."""
    least = least_singular_value(a, factors)
    if not least > 0.0:
        return None
    step = np.asarray(factors.solve(left.mid))
    further = norms(_size(residual(a, left, step))) / least
    found: Array = (np.abs(step) + further) * (1.0 + 8 * EPS) + TINY
    return found


def exponents_of(matrix: Any) -> tuple[Any, Any]:
    """Exponents of the largest entry of each row, and then of each column."""
    entries = sp.coo_array(matrix)
    exponents = np.where(entries.data != 0.0, np.frexp(entries.data)[1], ABSENT)
    rows, columns = np.full(matrix.shape[0], ABSENT), np.full(matrix.shape[1], ABSENT)
    np.maximum.at(rows, entries.row, exponents)
    rows = np.where(rows == ABSENT, 0, rows)
    np.maximum.at(columns, entries.col, exponents - rows[entries.row])
    return rows, np.where(columns < ABSENT // 2, 0, columns)


def rescaled(matrix: Any, rows: Any, columns: Any, more: float = 0.0) -> Any:
    """Entries over powers of two of their rows and columns, and a little more."""
    by_row = sp.csr_array(matrix)
    at = np.repeat(np.arange(by_row.shape[0]), np.diff(by_row.indptr))
    data = np.ldexp(by_row.data, -rows[at] - columns[by_row.indices]) + more
    return sp.csr_array((data, by_row.indices, by_row.indptr), shape=by_row.shape)


def _unchanged(matrix: Any, scaled: Any, rows: Any, columns: Any) -> bool:
    """Whether no entry has lost a bit."""
    return np.array_equal(rescaled(scaled, -rows, -columns).data, sp.csr_array(matrix).data)


def _substituted(a: IntervalMatrix, parts: Sequence[Block], size: Array) -> Array | None:
    """w ≥ |e| for every e with A e = r and |r| ≤ size, block by block; None where a block on the diagonal is not proven to be regular."""
    sizes = (abs(a.mid) + a.rad).tocsr()
    data, indices, starts = sizes.data, sizes.indices, sizes.indptr.tolist()
    diagonal = _diagonal(a, parts)
    out = np.zeros(size.shape)
    for number, (rows, columns) in enumerate(parts):
        if len(rows) == 1:
            i, j = int(rows[0]), int(columns[0])
            part = slice(starts[i], starts[i + 1])  # its own column is 0 yet
            reach = (size[i] + data[part] @ out[indices[part]]) * (1.0 + (starts[i + 1] - starts[i] + 8) * EPS) + TINY
            if not diagonal[number] > 0.0:
                return None
            out[j] = reach / diagonal[number] * (1.0 + 4 * EPS) + TINY
            continue
        reach = (size[rows] + sizes[rows] @ out) * (1.0 + (sizes.shape[1] + 8) * EPS) + TINY  # the block's own entries are 0 yet
        if len(rows) > DENSE:
            return None
        found = _proven(a[rows].columns(columns).dense(), Interval(np.zeros(reach.shape), reach))
        if found is None:
            return None
        out[columns] = found.rad
    return out


def _diagonal(a: IntervalMatrix, parts: Sequence[Block]) -> Array:
    """A lower bound of the size of the first entry of each block."""
    rows, columns = (np.array([int(side[0]) for side in sides]) for sides in zip(*parts, strict=True))
    size = np.abs(np.asarray(a.mid[rows, columns]).reshape(-1))
    least: Array = size if a.exact else (size - np.asarray(a.rad[rows, columns]).reshape(-1)) * (1.0 - 4 * EPS)
    return least


def _scaled(num: Arithmetic, a: Interval, b: Interval) -> Interval | None:
    """The solution of the system whose rows, columns and right-hand sides are scaled to a largest entry near 1, scaled back."""
    shape, columns = b.shape, b.shape[1] if len(b.shape) == 2 else 1
    right = Interval(b.mid.reshape(len(b), columns), b.rad.reshape(len(b), columns))
    if not all(np.isfinite(part).all() for part in (a.mid, a.rad, right.mid, right.rad)):
        return None
    exponents = np.where(a.mid != 0.0, np.frexp(a.mid)[1], ABSENT)
    rows = exponents.max(axis=1, initial=ABSENT)
    across = (exponents - rows[:, None]).max(axis=0, initial=ABSENT)
    if min(rows.min(initial=0), across.min(initial=0)) < ABSENT // 2:  # of nothing but zeros
        return None
    sizes = (np.where(right.mid != 0.0, np.frexp(right.mid)[1], ABSENT) - rows[:, None]).max(axis=0, initial=ABSENT)
    sizes = np.where(sizes < ABSENT // 2, 0, sizes)
    system = _shifted(a, -rows[:, None] - across)
    found = (_proven if num is INTERVAL else _refined)(system, _shifted(right, -rows[:, None] - sizes))
    if found is None:
        return None
    x = _shifted(found, sizes - across[:, None])
    known = np.isfinite(x.mid).all() and np.isfinite(x.rad).all()
    return Interval(x.mid.reshape(shape), x.rad.reshape(shape)) if known else None


def _shifted(x: Interval, exponents: NDArray[np.int_]) -> Interval:
    """x times powers of two: exact, but for what underflows."""

    def shift(part: Array) -> tuple[Array, Array]:
        moved = np.ldexp(part, exponents)
        return moved, np.where(np.ldexp(moved, -exponents) == part, 0.0, SMALLEST)

    (mid, lost), (rad, missing) = shift(x.mid), shift(x.rad)
    lost = lost + missing
    return Interval(mid, np.where(lost > 0.0, (rad + lost) * (1.0 + 4 * EPS), rad))


def _refined(a: Interval, b: Interval) -> Interval | None:
    from scipy.linalg.lapack import dgetrf, dgetrs

    if not len(a):
        return b
    factors, pivots, singular = dgetrf(a.mid)
    return None if singular else Interval(_improved(a, b, lambda right: np.asarray(dgetrs(factors, pivots, right)[0])))


def _improved(a: Interval | IntervalMatrix, b: Interval, solved: Callable[[Array], Array]) -> Array:
    """The solution, corrected by that for the residual as long as the corrections fall."""
    x, last = solved(b.mid), np.full(b.shape[1], np.inf)
    for _ in range(ROUNDS):
        step = solved(residual(a, b, x).mid)
        size = np.abs(step).max(axis=0, initial=0.0)
        falls = size < 0.5 * last
        if not falls.any():
            break
        x, last = np.where(falls, x + step, x), np.where(falls, size, 0.0)
    return x


def _proven(a: Interval, b: Interval) -> Interval | None:
    try:
        inverse = np.linalg.inv(a.mid)
    except np.linalg.LinAlgError:
        return None
    away = _size(INTERVAL.matvec(inverse, a) - np.eye(len(a)))
    v = np.ones(len(a))
    for _ in range(ROUNDS):
        v = 1.0 + away @ v
    least = (as_interval(v) - INTERVAL.matvec(away, v)).low
    if not np.all(least > 0.0):  # as nan is not
        return None
    x = _improved(a, b, lambda right: inverse @ right)
    near = _size(INTERVAL.matvec(inverse, residual(a, b, x)))
    alpha = (INTERVAL.matvec(away, near) / least[:, None]).high.max(axis=0, initial=0.0)
    far = (near + as_interval(v)[:, None] * alpha).high
    return Interval(x, (near + INTERVAL.matvec(away, far)).high)


def _size(x: Interval) -> Array:
    """|x| at most."""
    out: Array = INTERVAL.abs(x).high
    return out
