r"""Is a symmetric matrix positive definite? Proven in floats by one Cholesky factorisation, decided in fractions by an elimination.

Floats (Rump). Let Cholesky's factorisation of a symmetric C end, in floats, with a factor R. Each entry of R comes from a sum of products
in any order, a quotient, also one by a rounded reciprocal, or a root. Then (Higham 2002, Lemma 8.4 and Theorem 10.3) RᵀR = C + E,
    |E_ij| ≤ γ ‖r_i‖‖r_j‖,    ‖r_j‖² ≤ c_jj/(1 − γ),    γ = (n + 2)u/(1 − (n + 2)u),
r_j the columns of R, and with it xᵀCx ≥ −γ/(1 − γ) (Σ_j √c_jj |x_j|)² ≥ −(n + 2)u/(1 − 2(n + 2)u) tr(C) ‖x‖², by Cauchy and Schwarz.
So B is positive definite if C = B − εI, ε = 1.05(n + 4)u tr(B), has such a factor. Before that A is scaled to B = SAS, S powers of two with
½ ≤ b_jj < 2. That changes no sign, makes the test equally sharp for entries of all sizes, and underflow harmless. Each of the n² entries
loses at most 2⁻⁵³⁰ in the scaling and (n + 2)2⁻¹⁰⁷⁴ in the factorisation. A 21st of ε, more than nu/40, is to spare, as tr(B) ≥ ½.

Large sparse matrices. Let L D Lᵀ, with D ≥ 0, be near M = A − σI. Then L D Lᵀ ⪰ 0, so

    A = σI + L D Lᵀ + (M − L D Lᵀ) ⪰ (σ − δ) I,    δ ≥ ‖M − L D Lᵀ‖_∞ ≥ ‖M − L D Lᵀ‖₂,

as the difference is symmetric. It is computed, with bounds of what rounding adds; no analysis of the factorisation is needed. δ is that of
sums of few terms, some n² times less than ε for a matrix with a few entries in each row.

Fractions. Symmetric elimination without fractions (Bareiss): all entries stay integers, minors of A times a power of the common
denominator. A is positive semidefinite if and only if no pivot is negative and the rest of the row of one that is 0 is 0.

Source: S. M. Rump, Verification of positive definiteness, BIT 46 (2006); E. H. Bareiss, Sylvester's identity and multistep
integer-preserving Gaussian elimination, Math. Comp. 22 (1968).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from simopt.arithmetic.interval import EPS, INTERVAL, TINY, Interval, as_interval
from simopt.arithmetic.rational import RATIONAL
from simopt.core.arrays import Array

ROUNDS = 12  # times that a bound which cannot be proven is moved away, four times as far each
EXACT_ROWS = 20  # up to which fractions decide, in some milliseconds, what floats cannot prove
TRIED = (0.3, 0.6, 1.02)  # of ε: shifts δ that are tried before eigenvalues are computed
TRIED_EXACTLY = (1e-3, 1e-2, 1e-1)  # of ε, where fractions decide
NEAR = 1e-9  # of the largest entry of the diagonal: a λ of a sparse matrix that is not farther below 0 is taken
LARGE, FILLED = 128, 0.2  # rows from which, and the fraction of entries up to which, a matrix is factorised as a sparse one
BELOW = (0.9, 0.4, 0.1)  # of the least eigenvalue that floats see: where σ is tried
ABOVE_0 = tuple(-(4.0**power) for power in range(0, 12, 2))  # times eps and the largest row sum: σ where the matrix may be singular
BEYOND = (1.02, 1.5, 3.0, 10.0, 100.0)  # of ε: how far above −λ, of floats, δ is tried


def is_definite(matrix: Any) -> bool:
    """Whether the symmetric A, of floats or intervals, is proven to be positive definite. No does not say that it is not. O(n³).

    Raises
    ------
    ValueError
        where the matrix is not square, finite or symmetric, naming the entry.
    """
    mid, spread = _symmetric(matrix)
    return _exceeds(mid, spread)


def least_eigenvalue(matrix: Any) -> float:
    """A float λ with A ⪰ λI proven, for the symmetric A of floats or intervals; −∞ where its sums overflow. O(n³).

    Candidates come from eigenvalues in floats, of A and of A scaled, and count when A − λI is proven to be definite. The candidate of
    Gershgorin's discs needs no proof. λ is below the least eigenvalue by at most some 16 n(n + 4) u max a_jj. That is the shift that
    `is_definite` needs, and a factor 4 from one candidate to the next. Of a large sparse A whose least eigenvalue is above 0 it is a
    fraction of that, and for a singular one it is below 0 by no more than rounding in L D Lᵀ. Errors as for `is_definite`.
    """
    mid, spread = _symmetric(matrix)
    n, diagonal = len(mid), np.diag(mid)
    if n >= LARGE and np.count_nonzero(mid) <= FILLED * n * n:
        with np.errstate(all="ignore"):
            sparsely = _sparse_least_eigenvalue(mid, float(np.max(spread.high)))
        if sparsely > NEAR * -float(np.max(diagonal)):
            return sparsely
    with np.errstate(all="ignore"):
        discs = as_interval(diagonal) + np.abs(diagonal) - INTERVAL.matvec(np.abs(mid), np.ones(n)) - spread
        candidates = [0.0, *(np.linalg.eigvalsh(mid)[0] - _epsilon(np.abs(diagonal)) * 4.0 ** np.arange(ROUNDS))]
        if np.min(diagonal) > 0.0:
            scaled, powers = _scaled(mid, diagonal, diagonal)
            if np.isfinite(scaled).all():
                above = np.linalg.eigvalsh(scaled)[0] - _epsilon(np.diag(scaled))
                candidates.append(above / 2 / np.max(powers) ** 2)
    proven = float(np.min(discs.low))
    for candidate in sorted(candidates, reverse=True):
        if candidate > proven and _exceeds(mid, spread + candidate):
            return float(candidate)
    return proven


def _sparse_least_eigenvalue(mid: Array, radius: float) -> float:
    """The same by L D Lᵀ: of A, or of A scaled to entries near 1 on the diagonal, whose eigenvalues are those of A over powers of two."""
    a, diagonal = sp.csc_array(mid), np.diag(mid)
    found = [_shifted_least(a)]
    if np.min(diagonal) > 0.0:
        scaled, powers = _scaled(mid, diagonal, diagonal)
        least = _shifted_least(sp.csc_array(scaled)) if np.isfinite(scaled).all() else -math.inf
        end = float(np.max(powers) if least > 0.0 else np.min(powers))  # its square may overflow
        found.append(least / end / end - len(mid) * 2.0**-500)
    return math.nextafter(max(found) - radius, -math.inf)


def _shifted_least(a: Any) -> float:
    """The largest σ − δ of the σ that are tried; −∞ where none gives a number."""
    try:
        factors = splu(sp.csc_matrix(a), "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})
    except RuntimeError:
        least = 0.0
    else:
        v = np.cos(np.arange(a.shape[0], dtype=float))  # of no structure
        for _ in range(ROUNDS):
            v = factors.solve(v / np.linalg.norm(v))
        least = 1.0 / float(np.linalg.norm(v))
    size = EPS * float(np.max(abs(a).sum(axis=0), initial=0.0))
    for shift in (*(share * least for share in BELOW if share * least > size), *(share * size for share in ABOVE_0)):
        proven = math.nextafter(shift - factor_distance(a, shift), -math.inf)
        if proven > -math.inf:
            return proven
    return -math.inf


def factor_distance(symmetric: Any, shift: float) -> float:
    """‖A − σI − L D Lᵀ‖_∞ at most, for the factors that floats compute; ∞ where one of D is negative, or rows and columns part."""
    n = symmetric.shape[0]
    shifted = sp.csc_array(symmetric - shift * sp.eye_array(n))
    try:
        factors = splu(sp.csc_matrix(shifted), "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return math.inf
    diagonal, lower = factors.U.diagonal(), sp.csr_array(factors.L)
    if not (np.array_equal(factors.perm_r, factors.perm_c) and np.all(diagonal >= 0.0)):
        return math.inf
    order = np.argsort(factors.perm_r)
    left = shifted[order][:, order] - lower @ (sp.diags_array(diagonal) @ lower.T)
    terms, ones = int(np.diff(lower.indptr).max()), np.ones(n)
    rounding = (terms + 8) * EPS * (abs(lower) @ (diagonal * (abs(lower).T @ ones)) + abs(shifted)[order] @ ones)
    faint = n * terms * TINY * max(1.0, float(abs(lower).max()))  # d l_jk may underflow before it is multiplied by a large l_ik
    sums = (abs(left) @ ones + rounding) * (1.0 + (n + 8) * EPS) + faint
    return float(np.max(sums)) if np.isfinite(sums).all() else math.inf


def semidefinite_shift(matrix: Any) -> float:
    """The least δ ≥ 0 found for which A + δI, its diagonal rounded (`shifted`), is proven to be positive semidefinite. O(n³).

    A is a symmetric matrix of floats. δ = 0 is proven by one factorisation where A is definite by more than ε, or by fractions where n is
    small. Otherwise δ is some ε − λ, λ the least eigenvalue, with three digits: two to four factorisations, and eigenvalues where λ < 0 by
    more than rounding. ∞ where nothing is proven, as sums overflow. Errors as for `is_definite`.
    """
    mid, _ = _symmetric(matrix)
    with np.errstate(all="ignore"):
        definite = not np.any(mid) or _proven(mid, evenly=False) or _proven(mid, evenly=True)
        if definite or (len(mid) <= EXACT_ROWS and semidefinite_rank(mid) is not None):
            return 0.0
        if len(mid) <= EXACT_ROWS:
            exact = (_three_digits(share * _epsilon(np.abs(np.diag(mid)))) for share in TRIED_EXACTLY)
            found = next((shift for shift in exact if semidefinite_rank(shifted(mid, shift)) is not None), None)
            if found is not None:
                return found
        return next((shift for shift in _shifts(mid) if _proven(shifted(mid, shift), evenly=True)), math.inf)


def _shifts(mid: Array) -> Iterator[float]:
    """Candidates, from below: ε, as if λ were 0, and then those beyond −λ, for which eigenvalues are computed."""
    step = _epsilon(np.abs(np.diag(mid)))
    yield from (_three_digits(share * step) for share in TRIED)
    below = max(-float(np.linalg.eigvalsh(mid)[0]), 0.0)
    beyond = (_three_digits(below + share * (step + _epsilon(np.full(len(mid), below)))) for share in BEYOND)
    yield from (shift for shift in beyond if math.isfinite(shift))


def shifted(matrix: Array, shift: float) -> Array:
    """A + δI as NumPy adds them: a matrix of floats, whose diagonal is rounded."""
    out = np.array(matrix)
    out.flat[:: len(out) + 1] += shift
    return out


def semidefinite_rank(matrix: Any) -> int | None:
    """The rank of a symmetric A of floats or fractions if it is positive semidefinite, else None; n says definite. Exact.

    O(n³) operations on integers of up to n times the digits of an entry. Errors as for `is_definite`.
    """
    exact = RATIONAL.lift(matrix)
    check_symmetric(exact, lambda: exact != exact.T)
    common = math.lcm(*(entry.denominator for entry in exact.flat))
    rest = np.array([int(entry * common) for entry in exact.flat], dtype=object).reshape(exact.shape)
    rank, last = 0, 1
    while len(rest):
        pivot, row = rest[0, 0], rest[0, 1:]
        if pivot < 0 or (pivot == 0 and np.any(row != 0)):
            return None
        rest = rest[1:, 1:]
        if pivot > 0:
            rest = (pivot * rest - np.outer(row, row)) // last  # without remainder
            rank, last = rank + 1, pivot
    return rank


def _proven(mid: Array, *, evenly: bool) -> bool:
    """Whether A is proven to be definite."""
    return _exceeds(mid, as_interval(np.zeros(len(mid))), evenly=evenly)


def _three_digits(x: float) -> float:
    """x, some thousandths above it."""
    return float(f"{1.006 * x:.2e}")


def _exceeds(mid: Array, bound: Interval, *, evenly: bool = False) -> bool:
    """Whether A − diag(bound) is proven to be positive definite.

    Scaling `evenly` takes the power for the largest entry for all of them. It makes the test sharper where A is nearly singular and its
    diagonal uneven: ε is that of tr(A), and not of n max a_jj. Then only the largest b_jj is sure to be at least ½. So tr(B) ≥ ½ and
    ε ≥ 1.05(n + 4)u/2, of which a 21st is still more than nu/40: underflow is harmless there, too.
    """
    diagonal = (as_interval(np.diag(mid)) - bound).low
    if not np.min(diagonal, initial=np.inf) > 0.0:
        return False
    scaled, powers = _scaled(mid, diagonal, np.full_like(diagonal, np.max(diagonal)) if evenly else diagonal)
    squares = diagonal * powers * powers
    if not np.max(np.abs(scaled), initial=0.0) < 2.0:  # |b_ij|² ≤ b_ii b_jj < 4 for a definite B
        return False
    np.fill_diagonal(scaled, np.nextafter(squares - _epsilon(squares), -np.inf))
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        return False
    return bool(np.all(np.diag(factor) > 0.0))  # nan is not


def _epsilon(diagonal: Array) -> float:
    """ε."""
    return float(1.05 * (len(diagonal) + 4) * (EPS / 2) * np.sum(diagonal))


def _scaled(mid: Array, diagonal: Array, sizes: Array) -> tuple[Array, Array]:
    """SAS and S, powers of two that bring the sizes, as a rule the positive diagonal in place of that of A, between ½ and 2."""
    powers = np.ldexp(1.0, -(np.frexp(sizes)[1] // 2))
    with np.errstate(over="ignore"):
        scaled: Array = mid * powers[:, None] * powers
    np.fill_diagonal(scaled, diagonal * powers * powers)
    return scaled, powers


def _symmetric(matrix: Any) -> tuple[Array, Interval]:
    """Midpoints, and the row sums of the radii: a symmetric |E| ≤ R has E ⪰ −diag(R 1)."""
    interval = as_interval(matrix)
    check_symmetric(interval.mid, lambda: (interval.mid != interval.mid.T) | (interval.rad != interval.rad.T) | ~np.isfinite(interval.mid))
    return interval.mid, INTERVAL.matvec(interval.rad, np.ones(len(interval.mid)))


def check_symmetric(entries: Any, unlike: Callable[[], Any]) -> None:
    """A ValueError where the array is not square or empty, or names the first entry that is `unlike` its counterpart."""
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1] or not entries.size:
        raise ValueError(f"matrix: shape {entries.shape}, where a symmetric matrix is square and not empty")
    wrong = unlike()
    if np.any(wrong):
        i, j = (int(index) for index in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
        raise ValueError(
            f"matrix: {entries[i, j]} at ({i}, {j}) and {entries[j, i]} at ({j}, {i}), where a finite symmetric matrix is needed; "
            "take (A + Aᵀ)/2, or declare what is meant"
        )
