r"""Eigenvalues, singular values and log det of small dense matrices: floats, or proven intervals; and is a matrix semidefinite?

Eigenvalues. Let A be symmetric, Q near orthogonal and Λ a diagonal of floats, and φ ≥ ‖QᵀAQ − Λ‖, ε ≥ ‖QᵀQ − I‖. Then (Weyl) the k-th
eigenvalue of QᵀAQ differs from Λ_k by at most φ, and (Ostrowski) it is that of A times a number between 1 − ε and 1 + ε:

    λ_k(A) ∈ (Λ_k ± φ)/(1 ± ε).

With C near AQ, φ = ‖QᵀC − Λ‖ + √(1 + ε) ‖AQ − C‖: what rounds in the first product is not multiplied with |Qᵀ|. A matrix within R of A,
entry by entry, has eigenvalues within ‖R‖ of those of A (Weyl).

Singular values. In the same way, for AV near UΣ,

    σ_k(A) ∈ (Σ_k √(1 ± ‖UᵀU − I‖) ± ‖AV − UΣ‖)/√(1 ± ‖VᵀV − I‖).

log det. Let A = LLᵀ nearly, R near L⁻¹ lower triangular, and RARᵀ = I + F with ‖F‖ ≤ φ < 1. Then A is definite, and

    log det A ∈ −2 Σ log r_ii + tr F − ½‖F‖_F² ± φ‖F‖_F²/(3(1 − φ)),

as |log(1 + x) − x + x²/2| ≤ |x|³/(3(1 − φ)) for |x| ≤ φ. F does not change when rows and columns of A are scaled, so it is small for
matrices of any scales that are far from singular once they are scaled. Of nearly singular ones the radius of F is far larger than F. Then
F = R(ARᵀ − L) + (RL − I), each difference summed with twice as many bits.

A row that meets no other one, as its entries off the diagonal are exactly 0, has its diagonal entry for an eigenvalue, without rounding.
Likewise for singular values and an entry that is alone in its row and its column. All matrices are scaled by powers of two before.

`singular_value` is about the least singular value of a large sparse matrix.

Source: S. M. Rump, Verification methods, Acta Numerica 19 (2010), §10 and §13; A. M. Ostrowski, A quantitative formulation of Sylvester's
law of inertia, Proc. Nat. Acad. Sci. 45 (1959).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg as la

from simopt.arithmetic.base import Arithmetic, NotRational, Value
from simopt.arithmetic.definite import check_symmetric, is_definite, least_eigenvalue, semidefinite_rank
from simopt.arithmetic.floating import FLOAT
from simopt.arithmetic.interval import EPS, INTERVAL, SMALLEST, Interval, as_interval
from simopt.arithmetic.precision import workprec
from simopt.arithmetic.rational import RATIONAL
from simopt.arithmetic.residual import residual
from simopt.arithmetic.singular_value import norms
from simopt.core.arrays import Array

EXACT_ROWS = 40  # up to which fractions decide, in some 50 milliseconds, what intervals do not prove
WIDE = 1e-10  # a radius of log det, relative to max(1, |log det|), beyond which sums with twice as many bits are worth their time
ROUNDED = 2.0**-50  # times n and ‖A‖: an eigenvalue that floats put this far below 0 may be 0


def eigenvalues(num: Arithmetic, a: Value) -> Value:
    """The n eigenvalues of a symmetric A, in rising order. O(n³).

    Floats are nan, and intervals infinitely wide, where an entry is not finite.

    Raises
    ------
    ValueError
        where the matrix is not square or not symmetric (radii need not be), naming the entry.
    NotRational
        for fractions, unless A is diagonal.
    """
    if num is RATIONAL:
        exact = _lifted(num, a)
        if np.any(exact[_off_diagonal(len(exact))] != 0):
            raise NotRational("the eigenvalues of a matrix are rational as a rule only where it is diagonal; use INTERVAL")
        return np.sort(np.diag(exact))
    if num is FLOAT:
        floats = _lifted(num, a)
        try:
            return np.linalg.eigvalsh(floats) if np.isfinite(floats).all() else np.full(len(floats), np.nan)
        except np.linalg.LinAlgError:
            return np.full(len(floats), np.nan)
    matrix = _lifted(num, a)
    if not _is_finite(matrix):
        return _unknown(len(matrix))
    alone, rest = _separated(matrix)
    if rest is None:
        return alone
    return _in_order(alone, _enclosed(rest)) if len(alone) else _enclosed(rest)


def singular_values(num: Arithmetic, a: Value) -> Value:
    """The min(p, q) singular values of a p × q matrix, in falling order. O(pq min(p, q)). What is not finite: as for `eigenvalues`.

    Raises
    ------
    ValueError
        where `a` has not two axes.
    NotRational
        for fractions.
    """
    if num is RATIONAL:
        raise NotRational("singular values are roots; use INTERVAL")
    matrix = num.lift(a)
    if len(np.shape(num.mid(matrix))) != 2:
        raise ValueError(f"matrix: shape {np.shape(num.mid(matrix))}, where a matrix has two axes")
    n = min(matrix.shape)
    if num is FLOAT:
        try:
            return np.linalg.svd(matrix, compute_uv=False) if np.isfinite(matrix).all() else np.full(n, np.nan)
        except np.linalg.LinAlgError:
            return np.full(n, np.nan)
    if not _is_finite(matrix):
        return _unknown(n)
    entries = _is_live(matrix)
    alone = entries & (entries.sum(axis=1) == 1)[:, None] & (entries.sum(axis=0) == 1)
    rows, columns = (entries & ~alone).any(axis=1), (entries & ~alone).any(axis=0)
    parts = [INTERVAL.abs(matrix[alone])]
    if rows.any():
        parts.append(_singular_values(matrix[np.ix_(rows, columns)]))
    zeros = n - sum(len(part) for part in parts)
    return _in_order(*parts, INTERVAL.zeros(zeros))[::-1]


def is_semidefinite(num: Arithmetic, a: Value) -> bool:
    """Whether A ⪰ 0: to rounding in floats, proven in intervals (no does not say that it is not), decided in fractions.

    To rounding: λ_min ≥ −2⁻⁵⁰ n ‖A‖, or few singular matrices would count as semidefinite. Fractions take O(n³) operations on integers.
    A ValueError as for `eigenvalues`.
    """
    if num is FLOAT:
        return least_bound(num, a) >= 0.0
    matrix = _lifted(num, a)
    if num is RATIONAL:
        return semidefinite_rank(matrix) is not None
    if not _is_finite(matrix):
        return False
    alone, rest = _separated(matrix)
    return bool(np.all(alone.mid >= alone.rad)) and (rest is None or _proven_semidefinite(rest))


def least_bound(num: Arithmetic, a: Value) -> float:
    """A float that is not above the least eigenvalue of a symmetric A; −∞ where none is known.

    It is 0 where A ⪰ 0 is all that is proven, and of fractions 0 or −∞, as A is semidefinite or not. Of floats it is λ_min + 2⁻⁵⁰ n ‖A‖,
    which is not below 0 just for a matrix that `is_semidefinite`. A ValueError as for `eigenvalues`.
    """
    if num is FLOAT:
        values = eigenvalues(num, a)
        bound = float(values[0] + len(values) * ROUNDED * np.max(np.abs(values)))
        return bound if math.isfinite(bound) else -math.inf
    if num is RATIONAL:
        return 0.0 if is_semidefinite(num, a) else -math.inf
    matrix = _lifted(num, a)
    if not _is_finite(matrix):
        return -math.inf
    alone, rest = _separated(matrix)
    least = float(np.min(alone.low, initial=np.inf))
    return least if rest is None else min(least, _least_bound(rest))


def log_determinant(num: Arithmetic, a: Value) -> Value | None:
    """log det A of a symmetric A as a scalar; None where A is not proven to be positive definite. O(n³).

    In floats that A has a Cholesky factor counts as proven.

    Raises
    ------
    ValueError
        as for `eigenvalues`.
    NotRational
        for fractions.
    """
    if num is RATIONAL:
        raise NotRational("logarithms are not rational; use INTERVAL")
    matrix = _lifted(num, a)
    if num is FLOAT:
        factor = _cholesky(matrix)
        return None if factor is None else 2.0 * float(np.sum(np.log(np.diag(factor))))
    diagonal = np.diag(matrix.mid)
    if not _is_finite(matrix) or not np.all(diagonal > np.diag(matrix.rad)):
        return None
    powers = -(np.frexp(diagonal)[1] // 2)
    scaled = _scaled(matrix, powers[:, None] + powers)
    if not np.max(np.abs(scaled.mid)) < 2.0:  # |b_ij|² ≤ b_ii b_jj < 4 for a definite B
        return None
    with np.errstate(all="ignore"):  # the inverse of a factor may be huge
        value = _log_determinant(scaled)
    if value is None and not scaled.rad.any() and len(scaled) <= EXACT_ROWS:
        value = _exact_log_determinant(scaled.mid)
    return None if value is None else value - INTERVAL.log(INTERVAL.lift(2.0)) * float(2 * np.sum(powers))


def _lifted(num: Arithmetic, a: Value) -> Value:
    """A square matrix that is symmetric where its entries are finite; the smaller of both radii, as all that is meant is symmetric."""
    if num is RATIONAL:
        exact = num.lift(a)
        check_symmetric(exact, lambda: exact != exact.T)
        return exact
    matrix = num.lift(a)
    mid = np.asarray(num.mid(matrix))
    check_symmetric(mid, lambda: (mid != mid.T) & np.isfinite(mid) & np.isfinite(mid.T))
    return Interval(mid, np.minimum(matrix.rad, matrix.rad.T)) if num is INTERVAL else matrix


def _is_finite(a: Interval) -> bool:
    return bool(np.isfinite(a.mid).all() and np.isfinite(a.rad).all())


def _is_live(a: Interval) -> Any:
    """The entries that are not known to be 0."""
    return (a.mid != 0.0) | (a.rad != 0.0)


def _unknown(n: int) -> Interval:
    return Interval(np.zeros(n), np.inf)


def _off_diagonal(n: int) -> Any:
    return ~np.eye(n, dtype=bool)


def _separated(a: Interval) -> tuple[Interval, Interval | None]:
    """Diagonal entries of rows that meet no other row, in rising order, and the matrix of the other rows, if there are any."""
    others = (_is_live(a) & _off_diagonal(len(a))).any(axis=1)
    single = np.flatnonzero(~others)
    alone = _in_order(a[single, single])
    return alone, a[np.ix_(others, others)] if others.any() else None


def _in_order(*parts: Interval) -> Interval:
    """Numbers in rising order: the k-th is between the k-th of the lower ends and the k-th of the upper ones."""
    full = [part for part in parts if len(part)]
    whole: Interval = INTERVAL.concat(full) if full else INTERVAL.zeros(0)
    return Interval.hull(np.sort(whole.low), np.sort(whole.high))


def _scaled(x: Interval, powers: Any) -> Interval:
    """x times 2 to these powers; an interval of more radius where something underflows, and of infinite radius where it overflows."""
    with np.errstate(all="ignore"):
        mid, rad = np.ldexp(x.mid, powers), np.ldexp(x.rad, powers)
        lost = (np.ldexp(mid, -powers) != x.mid) | (np.ldexp(rad, -powers) != x.rad)
        rad = np.where(lost, np.nextafter(rad + SMALLEST, np.inf), rad)
    known = np.isfinite(mid) & np.isfinite(rad)
    return Interval(np.where(known, mid, 0.0), np.where(known, rad, np.inf))


def _to_one(a: Interval) -> tuple[Interval, int]:
    """B and p, with A = 2^p B and the largest midpoint of B in size between ½ and 1."""
    power = int(np.frexp(np.max(np.abs(a.mid)))[1])
    return _scaled(a, -power), power


def _enclosed(a: Interval) -> Interval:
    """The eigenvalues of A of finite entries."""
    b, power = _to_one(a)
    try:
        values, q = np.linalg.eigh(b.mid)
    except np.linalg.LinAlgError:
        return _unknown(len(a))
    skew = _skew(q)
    if not (skew < 0.5 and np.isfinite(values).all() and _is_finite(b)):
        return _unknown(len(a))
    product = INTERVAL.matvec(b.mid, as_interval(q))
    rest = INTERVAL.matvec(q.T, as_interval(product.mid)) - np.diag(values)
    bound = (_norm(rest) + math.sqrt(1.0 + skew) * _norm(Interval(product.rad))) * (1.0 + 8 * EPS)
    near = Interval(values, np.full(len(values), bound)) / Interval(1.0, skew)
    return _scaled(near + Interval(0.0, _norm(Interval(b.rad))), power)


def _singular_values(a: Interval) -> Interval:
    """The singular values of A of finite entries."""
    b, power = _to_one(a if a.shape[0] >= a.shape[1] else a.T)
    n = b.shape[1]
    try:
        u, values, vt = np.linalg.svd(b.mid, full_matrices=False)
    except np.linalg.LinAlgError:
        return _unknown(n)
    left, right = _skew(u), _skew(vt.T)
    if not (left < 0.5 and right < 0.5 and np.isfinite(values).all() and _is_finite(b)):
        return _unknown(n)
    bound = _norm(INTERVAL.matvec(b.mid, as_interval(vt.T)) - as_interval(u) * values)
    near = as_interval(values) * INTERVAL.sqrt(Interval(1.0, left)) + Interval(0.0, bound)
    enclosed: Interval = near / INTERVAL.sqrt(Interval(1.0, right)) + Interval(0.0, _norm(Interval(b.rad)))
    return INTERVAL.pos(_scaled(enclosed, power))  # type: ignore[no-any-return]


def _proven_semidefinite(a: Interval) -> bool:
    """Whether A of finite entries is proven to be positive semidefinite."""
    if np.min(np.diag(a.mid)) <= 0.0:
        return False
    with np.errstate(all="ignore"):
        if is_definite(a):
            return True
    if a.rad.any() or len(a) > EXACT_ROWS or float(_enclosed(a).high[0]) < 0.0:
        return False
    return semidefinite_rank(a.mid) is not None


def _least_bound(a: Interval) -> float:
    """A lower bound of the least eigenvalue of A of finite entries."""
    b, power = _to_one(a)
    if not _is_finite(b):
        return -math.inf
    bound = max(least_eigenvalue(b), float(_enclosed(b).low[0]))
    if bound < 0.0 and _proven_semidefinite(a):
        return 0.0
    return float(_scaled(as_interval(bound), power).low)


def _cholesky(a: Array) -> Array | None:
    """The lower factor in floats, if there is one."""
    try:
        factor = np.asarray(np.linalg.cholesky(a), dtype=float)
    except np.linalg.LinAlgError:
        return None
    return factor if np.isfinite(factor).all() and np.all(np.diag(factor) > 0.0) else None


def _log_determinant(a: Interval) -> Interval | None:
    """log det A by an approximate factor, if it proves that A is definite."""
    factor = _cholesky(a.mid)
    if factor is None:
        return None
    r = np.tril(la.solve_triangular(factor, np.eye(len(a)), lower=True))
    if not (np.isfinite(r).all() and np.all(np.diag(r) > 0.0)):
        return None
    value = _of_factor(r, INTERVAL.matvec(r, INTERVAL.matvec(a, as_interval(np.ascontiguousarray(r.T)))) - np.eye(len(a)))
    if value is not None and (a.rad.any() or value.rad <= WIDE * max(1.0, abs(float(value.mid)))):
        return value
    left = INTERVAL.matvec(r, -residual(a, as_interval(factor), np.ascontiguousarray(r.T)))
    sharper = _of_factor(r, left - residual(as_interval(r), as_interval(np.eye(len(a))), factor))
    return value if sharper is None else sharper


def _of_factor(r: Array, rest: Interval) -> Interval | None:
    """log det A, where RARᵀ = I + F; None where ‖F‖ may be too large."""
    bound = _norm(rest)
    if not bound < 0.5:
        return None
    square = INTERVAL.sum(rest * rest)
    third = bound * INTERVAL.upper(square) / (3.0 * (1.0 - bound)) * (1.0 + 16 * EPS) + SMALLEST
    logarithm = INTERVAL.sum(Interval(np.diag(rest.mid), np.diag(rest.rad))) - square * 0.5 + Interval(0.0, third)
    return logarithm - INTERVAL.sum(INTERVAL.log(as_interval(np.diag(r)))) * 2.0  # type: ignore[no-any-return]


def _exact_log_determinant(a: Array) -> Interval | None:
    """log det A for floats, by a determinant of integers; None where A is not positive definite."""
    if float(_enclosed(as_interval(a)).high[0]) <= 0.0 or semidefinite_rank(a) != len(a):
        return None
    import flint

    ratios = [x.as_integer_ratio() for x in a.ravel().tolist()]
    common = max(bottom for _, bottom in ratios)  # all are powers of two
    determinant = flint.fmpz_mat(len(a), len(a), [top * (common // bottom) for top, bottom in ratios]).det()
    with workprec(128):
        value = flint.arb(flint.fmpq(determinant, flint.fmpz(common) ** len(a))).log()
        mid, rad = float(value.mid()), float(value.rad())
    return Interval(mid, rad + EPS * abs(mid) + SMALLEST)


def _skew(q: Array) -> float:
    """‖QᵀQ − I‖ at most."""
    return _norm(INTERVAL.matvec(q.T, as_interval(q)) - np.eye(q.shape[1]))


def _sizes(a: Interval) -> Array:
    """|A| at most, entry by entry."""
    return np.where(a.rad > 0.0, np.nextafter(np.abs(a.mid) + a.rad, np.inf), np.abs(a.mid))


def _norm(a: Interval) -> float:
    """‖A‖₂ at most: the smaller one of (‖A‖₁‖A‖_∞)^½ and ‖A‖_F."""
    sizes = _sizes(a)
    rows, columns = (float(np.max(sizes.sum(axis=axis), initial=0.0)) for axis in (0, 1))
    sums = math.sqrt(rows) * math.sqrt(columns) * (1.0 + (sum(a.shape) + 8) * EPS)
    return min(sums, _frobenius(sizes))


def _frobenius(sizes: Array) -> float:
    """(Σ a_ij²)^½ at most, of numbers ≥ 0."""
    if not np.any(sizes):
        return 0.0
    return float(norms(sizes.reshape(-1, 1))[0]) if np.isfinite(sizes).all() else math.inf
