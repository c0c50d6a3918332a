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

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from simopt.arithmetic.base import Arithmetic, Value
from simopt.arithmetic.floating import FLOAT
from simopt.arithmetic.interval import EPS, INTERVAL, SMALLEST, TINY, Interval, as_interval
from simopt.arithmetic.rational import RATIONAL, Exact
from simopt.core.arrays import Array

ROUNDS = 6  # of refinement, and of the search for v
BUNDLE = 64  # rows of small blocks that are solved as one
HALVES = 2.0**27 + 1.0  # Veltkamp's constant: splits a float in two halves
ABSENT = -(1 << 20)  # the exponent of 0

Indices = NDArray[np.intp]


def solve(num: Arithmetic, matrix: Any, right: Any) -> Value | None:
    """The solution x of A x = b, for one right-hand side (n) or several (n × k); None where there is none, or none is proven. O(n³).

    FLOAT: by an LU factorisation, refined. INTERVAL: for A and b of floats or intervals, enclosures of the solutions for all matrices and
    right-hand sides in them. None also where A may be singular, as far as floats can tell: at a condition of some 10¹⁴, scaled. RATIONAL:
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
        return _exact(matrix, right)
    with np.errstate(all="ignore"):
        found = _by_blocks(num, as_interval(matrix), as_interval(right))
    return found.mid if found is not None and num is FLOAT else found


def as_array(values: Any) -> Any:
    """The array that has the shape: the midpoints of intervals."""
    return values.mid if isinstance(values, Interval) else np.asarray(values)


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


def forced(pattern: Any) -> tuple[Indices, Indices]:
    """Rows with one entry each, once the columns of the rows before them are left out, and the columns of these entries.

    A choice of columns in which these rows are independent has no other way. Rows and columns form a triangle.
    """
    by_row, by_column = sp.csr_array(pattern), sp.csc_array(pattern)
    counts, taken = np.diff(by_row.indptr).tolist(), np.zeros(by_row.shape[1], dtype=bool)
    rows, columns = list[int](), list[int]()
    queue = [i for i, count in enumerate(counts) if count == 1]
    for i in queue:
        if counts[i] != 1:  # another row has taken its column
            continue
        entries = by_row.indices[by_row.indptr[i] : by_row.indptr[i + 1]]
        column = int(entries[~taken[entries]][0])
        taken[column] = True
        rows.append(i)
        columns.append(column)
        for other in by_column.indices[by_column.indptr[column] : by_column.indptr[column + 1]].tolist():
            counts[other] -= 1
            if counts[other] == 1:
                queue.append(other)
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)


def with_unit_rows(matrix: Array) -> Array:
    """Each row over its largest entry; rows of zeros stay."""
    largest = np.max(np.abs(matrix), axis=1, keepdims=True, initial=0.0)
    scaled: Array = matrix / np.where(largest > 0.0, largest, 1.0)
    return scaled


def pivoted(matrix: Array) -> tuple[Array, Indices]:
    """The sizes of the diagonal of R in a QR factorisation with column pivoting, and the order of the columns."""
    triangle, order = la.qr(matrix, mode="r", pivoting=True, check_finite=False)
    return np.abs(np.diag(triangle)), order


def _by_blocks(num: Arithmetic, a: Interval, b: Interval) -> Interval | None:
    """The solution, each block of A solved by itself."""
    parts = blocks((a.mid != 0.0) | (a.rad != 0.0))
    if len(parts) <= 1:
        return _scaled(num, a, b)
    if any(len(rows) != len(columns) for rows, columns in parts):
        return None
    bundle = np.cumsum([len(rows) for rows, _ in parts]) // BUNDLE  # small blocks together, as each solve has a cost of its own
    mid, rad = np.zeros(b.shape), np.zeros(b.shape)
    for _, bundled in groupby(zip(bundle, parts, strict=True), key=itemgetter(0)):
        rows, columns = (np.concatenate(side) for side in zip(*(part for _, part in bundled), strict=True))
        found = _scaled(num, a[np.ix_(rows, columns)], b[rows])
        if found is None:
            return None
        mid[columns], rad[columns] = found.mid, found.rad
    return Interval(mid, rad)


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


def _improved(a: Interval, b: Interval, solved: Callable[[Array], Array]) -> Array:
    """The solution, corrected by that for the residual as long as the corrections fall."""
    x, last = solved(b.mid), np.full(b.shape[1], np.inf)
    for _ in range(ROUNDS):
        step = solved(_residual(a, b, x).mid)
        size = np.abs(step).max(axis=0, initial=0.0)
        falls = size < 0.5 * last
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
    near = _size(INTERVAL.matvec(inverse, _residual(a, b, x)))
    alpha = (INTERVAL.matvec(away, near) / least[:, None]).high.max(axis=0, initial=0.0)
    far = (near + as_interval(v)[:, None] * alpha).high
    return Interval(x, (near + INTERVAL.matvec(away, far)).high)


def _size(x: Interval) -> Array:
    """|x| at most."""
    out: Array = INTERVAL.abs(x).high
    return out


def _residual(a: Interval, b: Interval, x: Array) -> Interval:
    r"""b − A x, the midpoints summed as if with twice as many bits: off by at most u|r| + γ²(|b| + |A||x|), γ = (n + 1)u/(1 − (n + 1)u)."""
    total, rest = b.mid.copy(), np.zeros(b.shape)
    for j in range(len(x)):
        product, error = _two_product(-a.mid[:, j, None], x[j])
        total, lost = _two_sum(total, product)
        rest += error + lost
    mid = total + rest
    gamma = (len(x) + 4) * EPS
    size = np.abs(a.mid) @ np.abs(x)
    rad = b.rad + EPS * np.abs(mid) + gamma * gamma * (np.abs(b.mid) + size) + np.where(x.any(axis=0), len(x) * TINY, 0.0)
    if a.rad.any():
        rad = rad + INTERVAL.matvec(a.rad, np.abs(x)).high
    return Interval(mid, rad * (1.0 + gamma))


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """x + y = s + e exactly (Knuth)."""
    s = x + y
    z = s - x
    return s, (x - (s - z)) + (y - z)


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """x y = p + e exactly, unless something underflows (Dekker); nan where the halves overflow."""

    def halves(z: Array) -> tuple[Array, Array]:
        c = HALVES * z
        upper = c - (c - z)
        return upper, z - upper

    p = x * y
    (a, b), (c, d) = halves(x), halves(y)
    return p, b * d - (((p - a * c) - b * c) - a * d)
