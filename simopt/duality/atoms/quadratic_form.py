"""zᵀPz for positive definite P, for positive semidefinite P, and, over bounded z, for P that is semidefinite up to rounding only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.linalg

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, NotRational
from simopt.arithmetic.definite import least_eigenvalue, semidefinite_rank
from simopt.arithmetic.interval import as_interval
from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.atoms.base import Atom, ConjugateDomain, DeclaredConjugate
from simopt.duality.graph.vectors import Indices, Value, broadcast, divisor, enclosing, floats, is_zero, known, nothing, vector

LARGEST = 30  # the most rows of a matrix whose rank is decided in fractions
APART = 1e-6  # relative: a multiplier farther outside of the range of P is not explained by rounding
EPS = float(np.finfo(float).eps)
ROUNDINGS = 4  # times n eps λ_max: a float eigenvalue that is not farther below 0 counts as 0
WELL = 1e-10  # a reciprocal condition from which Cholesky's factor is taken
ABOVE = 1.0625  # times the proven `missing`: the shift that makes P definite


@dataclass(frozen=True)
class RankRows:
    """Rows of P ⪰ 0, as many as its rank, whose principal submatrix has no eigenvalue below `least` > 0.

    Then P has no eigenvalue between 0 and `least`: by Cauchy's interlacing its r-th largest is not below those of the submatrix.
    """

    rows: Indices
    least: float


@dataclass(frozen=True)
class Shift:
    """δ ≥ 0 and the support of P + δI, proven to be semidefinite; for δ > 0, `radius` ≥ ‖z‖² over the relevant z."""

    support: RankRows
    by: float = 0.0
    radius: float = 0.0


def support(matrix: Any, fractions: Callable[[], Any] | None = None) -> RankRows | None:
    """The support of (M + Mᵀ)/2 for a square M of floats or intervals; None where it is not proven to be positive semidefinite.

    Fractions decide cases that floats do not, if the matrix is small and known exactly. It is M itself if M has no radius, or the value of
    `fractions` for a sum that intervals enclose.
    """
    given = as_interval(matrix)
    half = (given + given.T) * 0.5
    if not (np.isfinite(given.mid).all() and np.isfinite(half.mid).all()):
        return None
    n, least = len(half), least_eigenvalue(half)
    if least > 0.0:
        return RankRows(np.arange(n), least)
    live = np.flatnonzero((half.mid != 0.0).any(axis=1) | (half.rad != 0.0).any(axis=1))  # rows of zeros change no sign
    if len(live) < n:
        least = least_eigenvalue(half[np.ix_(live, live)]) if len(live) else 1.0
        if least > 0.0:
            return RankRows(live, least)
    if n > LARGEST:
        return None
    exact = RATIONAL.lift(given.mid) if not given.rad.any() else None if fractions is None else fractions()
    if exact is None:
        return None
    exact = (exact + exact.T) / 2
    rank = semidefinite_rank(exact)
    if rank is None:
        return None
    rows = _pivots(half.mid, rank)
    least = _least(exact[np.ix_(rows, rows)]) if rank else 1.0
    return RankRows(rows, least) if least > 0.0 else None


def rounded(matrix: Array) -> RankRows | None:
    """The support in floats: eigenvalues that are 0 to rounding count as 0; None if one is below that."""
    half = (matrix + matrix.T) / 2
    if not np.isfinite(half).all():
        return None
    values = np.linalg.eigvalsh(half)
    edge = ROUNDINGS * len(half) * EPS * float(np.max(np.abs(values), initial=0.0))
    if values[0] < -edge:
        return None
    rows = _pivots(half, int(np.sum(values > edge)))
    least = float(np.linalg.eigvalsh(half[np.ix_(rows, rows)])[0]) if len(rows) else 1.0
    return RankRows(rows, least) if least > 0.0 else None


def missing(matrix: Any) -> float:
    """A λ ≥ 0 with P + λI ⪰ 0 proven; ∞ where none is found. The errors are those of `least_eigenvalue`."""
    given = as_interval(matrix)
    half = (given + given.T) * 0.5
    return max(0.0, -least_eigenvalue(half)) if np.isfinite(half.mid).all() else math.inf


def _least(matrix: Any) -> float:
    """A float not above the least eigenvalue of a definite matrix of fractions: the first proven power of 2 times its trace; else 0."""
    n, trace = len(matrix), float(sum(np.diag(matrix)))
    for power in range(4, 124, 8):
        least = trace * 2.0**-power
        if semidefinite_rank(matrix - RATIONAL.lift(np.diag(np.full(n, least)))) is not None:
            return least
    return 0.0


def _pivots(matrix: Array, rank: int) -> Indices:
    """The rows of the largest pivots of a symmetric elimination."""
    order = scipy.linalg.lapack.dpstrf(matrix, tol=0.0, lower=1)[1]
    return np.sort(np.asarray(order[:rank], dtype=np.intp) - 1)


def _factorised(matrix: Array) -> Callable[[Array], Array]:
    """The solution of a symmetric system for its right-hand side, in floats; the shortest of least squares where it is nearly singular."""
    try:
        factor, lower = scipy.linalg.cho_factor(matrix, check_finite=False)
        reciprocal, _ = scipy.linalg.lapack.dpocon(factor, float(np.abs(matrix).sum(axis=0).max(initial=0.0)))
        if reciprocal > WELL:
            return lambda right: np.asarray(scipy.linalg.cho_solve((factor, lower), right, check_finite=False))
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(matrix)
    kept = np.abs(values) > len(values) * EPS * np.abs(values).max(initial=0.0)
    part, sizes = vectors[:, kept], values[kept]
    return lambda right: np.asarray(part @ ((part.T @ right) / sizes))


def root(matrix: Array) -> Array:
    """F with FFᵀ = (M + Mᵀ)/2 ⪰ 0 in floats, without the directions in which that is 0 to rounding."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    positive = values > len(values) * np.finfo(float).eps * values.max(initial=0.0)
    return np.asarray(vectors[:, positive] * np.sqrt(values[positive]))


class SemidefiniteForm(Atom):
    """φ(z) = zᵀPz, P ⪰ 0, (sφ)*(u) = uᵀP⁺u/(4s), bounded from above without P⁺. For any v and ρ = u − 2sPv

        (sφ)*(u) = s vᵀPv + ⟨v, ρ⟩ + ρᵀP⁺ρ/(4s) ≤ s vᵀPv + ⟨v, ρ⟩ + ‖ρ‖²/(4sμ),

    where μ > 0 is a proven lower bound of the nonzero eigenvalues of P. v solves u = 2sPv in floats, so that ρ is rounding. u is in the
    range of P, since `project` computes it as 2sPv. P is (M + Mᵀ)/2 of the given matrix M. The remainder is s dᵀPd − ⟨ρ, d⟩ + ‖ρ‖²/(4sμ)
    with d = z − v.

    If P ⪰ 0 is not proven, P + δI is taken with a δ for which it is. φ(z) ≥ zᵀ(P + δI)z − δr for all z with ‖z‖² ≤ r. Hence the conjugate
    over these z is at most that of P + δI plus sδr, and the remainder has sδ(r − ‖z‖²) more. Floats take P for semidefinite if its least
    eigenvalue is 0 to their rounding. If no r is known, the conjugate is ∞ for every multiplier, as the supremum over all z is.

    Parameters
    ----------
    matrix : function
        M in an arithmetic, read each time: it may be a parameter.

    Attributes
    ----------
    largest : function
        r, a proven bound of ‖z‖² over the relevant points; ∞ until it is set.
    """

    formula, conjugate_formula, domain_formula = "zᵀPz, P ⪰ 0", "uᵀP⁺u/4", "range of P"
    degree_formula = "2"
    expanded = True

    def __init__(self, matrix: Callable[[Arithmetic], Any]) -> None:
        self.matrix = matrix
        self.largest: Callable[[], float] = lambda: math.inf
        self._seen: tuple[Array, Array] | None = None
        self._support: RankRows | None = None
        self._missing = math.inf
        self._factors: dict[float, Any] = {}  # of the rows of the support, by δ

    @property
    def degree(self) -> float | None:
        return 2.0

    def _refresh(self) -> Any:
        """The present matrix; if it has changed, the support is computed anew."""
        now = as_interval(self.matrix(INTERVAL))
        if self._seen is None or not (np.array_equal(self._seen[0], now.mid) and np.array_equal(self._seen[1], now.rad)):
            self._seen, self._support = (now.mid.copy(), now.rad.copy()), support(now, self._fractions)
            self._missing = 0.0 if self._support is not None else missing(now)
            self._factors = {}
            vars(self).pop("_by_rounding", None)
        return now

    def _fractions(self) -> Any:
        """The matrix in fractions; None where it has none."""
        try:
            return self.matrix(RATIONAL)
        except NotRational:
            return None

    @cached_property
    def _by_rounding(self) -> RankRows | None:
        """The support of the present P in floats."""
        assert self._seen is not None
        return rounded(self._seen[0]) if np.isfinite(self._seen[0]).all() else None

    def support(self) -> RankRows | None:
        """The support of the present P; None where P ⪰ 0 is not proven, or its rank is not."""
        self._refresh()
        return self._support

    @property
    def least_eigenvalue(self) -> float:
        """A proven lower bound of the eigenvalues of the present P; −∞ where there is none."""
        support = SemidefiniteForm.support(self)
        assert self._seen is not None
        return -self._missing if support is None else support.least if len(support.rows) == len(self._seen[0]) else 0.0

    def shift(self, num: Arithmetic) -> Shift | None:
        """The δ that this arithmetic needs, with the support of P + δI; None if there is none for which a bound of z is known."""
        support = self.support()
        if support is None and num is FLOAT:
            support = self._by_rounding
        if support is not None:
            return Shift(support)
        assert self._seen is not None
        lacks, n = self._missing, len(self._seen[0])
        by = lacks * ABOVE + n * EPS * float(np.max(np.abs(self._seen[0]), initial=0.0))
        least = (by - lacks) * (1.0 - 1e-9)
        if not (math.isfinite(by) and least > 0.0):
            return None
        radius = self.largest()
        return Shift(RankRows(np.arange(n), least), by, radius) if radius < math.inf else None

    def doubt(self, num: Arithmetic) -> str:
        """Why there is no conjugate in this arithmetic; empty where there is one."""
        if self.shift(num) is not None:
            return ""
        below = f" (its least eigenvalue may be {-self._missing:.3g})" if 0.0 < self._missing < math.inf else ""
        return f"its matrix is not proven to be positive semidefinite{below}, and no bounds hold its argument"

    def _twice(self, num: Arithmetic, v: Value, by: float = 0.0) -> Value:
        """2(P + δI)v."""
        matrix = self.matrix(num)
        twice = num.matvec(matrix, v) + num.rmatvec(matrix, v)
        return twice + v * num.lift(by) * 2 if by else twice

    def _form(self, num: Arithmetic, v: Value, by: float) -> Value:
        """vᵀ(P + δI)v."""
        form = num.dot(v, num.matvec(self.matrix(num), v))
        return form + num.dot(v, v) * num.lift(by) if by else form

    def value(self, num: Arithmetic, z: Value) -> Value:
        form = num.dot(z, num.matvec(self.matrix(num), z))
        shift = self.shift(num)
        return vector(num, num.pos(form) if shift is not None and not shift.by else form)

    def _solved(self, num: Arithmetic, shift: Shift, u: Value, s: Value) -> Value:
        """v with 2s(P + δI)v = u on the rows of the support, in floats."""
        rows, v = shift.support.rows, np.zeros(len(u))
        if shift.by not in self._factors:
            part = np.asarray(self.matrix(FLOAT), dtype=float)[np.ix_(rows, rows)] + shift.by * np.eye(len(rows))
            self._factors[shift.by] = _factorised(part + part.T)
        v[rows] = self._factors[shift.by](floats(num, u)[rows]) / floats(num, s)[0]
        return num.lift(np.where(np.isfinite(v), v, 0.0))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """2sPv, v for P + δI and the entries of u on the rows of the support."""
        shift = self.shift(num)
        if shift is None or not divisor(num, s)[1].all():
            return num.zeros(len(u))
        return self._twice(num, self._solved(num, shift, u, s)) * s[np.zeros(len(u), dtype=np.intp)]

    def _split(self, num: Arithmetic, shift: Shift, u: Value, s: Value) -> tuple[Value, Value, Value]:
        """v, ρ and the term ρᵀ(P + δI)⁺ρ/(4s), bounded from above; in intervals all its possible values."""
        v = self._solved(num, shift, u, s)
        rho = u - self._twice(num, v, shift.by) * s[np.zeros(len(u), dtype=np.intp)]
        penalty = vector(num, num.dot(rho, rho)) / (s * (num.lift(shift.support.least) * 4))
        return v, rho, enclosing(num, num.zeros(1), penalty) if num is INTERVAL else penalty

    def image(self, num: Arithmetic) -> Any:
        """2P."""
        matrix = self.matrix(num)
        return matrix + matrix.T

    def preimage(self, u: Array) -> Array:
        shift = self.shift(FLOAT)
        return np.zeros(len(u)) if shift is None else np.asarray(self._solved(FLOAT, shift, u, np.ones(1)))

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return broadcast(num, s, len(u))

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if is_zero(num, s).all() and is_zero(num, u).all():
            return num.lift(0.0)
        shift, nought = self.shift(num), is_zero(num, u).all()
        if nought and (self._missing == 0.0 or (shift is not None and not shift.by)):
            return num.lift(0.0)  # inf φ = 0
        if shift is None or not divisor(num, s)[1].all() or not known(num, num.sum(u)):
            return nothing(num)
        v, rho, penalty = self._split(num, shift, u, s)
        partial = len(shift.support.rows) < len(u)  # a definite matrix has every u in its range
        if partial and np.linalg.norm(floats(num, rho)) > APART * np.linalg.norm(floats(num, u)):
            return nothing(num)
        if shift.by:
            penalty = penalty + s * (num.lift(shift.by) * num.lift(shift.radius))
        return num.sum(s * self._form(num, v, shift.by) + num.dot(v, rho) + penalty)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        shift = self.shift(num)
        if shift is None or not divisor(num, s)[1].all():
            return num.sum(s * self.value(num, z))
        v, rho, penalty = self._split(num, shift, u, s)
        d = z - v
        if shift.by:
            penalty = penalty + s * num.pos(num.lift(shift.radius) - num.dot(z, z)) * num.lift(shift.by)
        return num.pos(num.sum(s * num.pos(self._form(num, d, shift.by)) - num.dot(rho, d) + penalty))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        """The least ‖w‖²/(4s) with Fw = u, P = FFᵀ."""
        if self.support() is None:
            raise Unreadable("its conjugate cannot be declared, as the matrix is not proven to be semidefinite")
        factor = root(np.asarray(self.matrix(FLOAT), dtype=float))
        w = cp.Variable(factor.shape[1], name=f"root of {u.name()}")
        return cp.quad_over_lin(w, 4 * s), [factor @ w == u]

    def slope(self, z: Array, s: Array) -> Array:
        shift = self.shift(FLOAT)
        return float(s[0]) * np.asarray(self._twice(FLOAT, z, 0.0 if shift is None else shift.by))


class QuadraticForm(SemidefiniteForm):
    """φ(z) = zᵀPz of a positive definite P, whose conjugate has a full domain; see `SemidefiniteForm`."""

    formula, conjugate_formula, domain_formula = "zᵀPz, P ≻ 0", "uᵀP⁻¹u/4", "ℝⁿ"
    conjugate_domain = ConjugateDomain.FULL

    def of_any_rank(self) -> SemidefiniteForm:
        """The same function for a P that is not proven to be definite."""
        form = SemidefiniteForm(self.matrix)
        vars(form).update(vars(self))
        return form

    def support(self) -> RankRows | None:
        support = super().support()
        return support if support is not None and len(support.rows) == len(self.matrix(FLOAT)) else None

    def shift(self, num: Arithmetic) -> Shift | None:
        shift = super().shift(num)
        return shift if shift is not None and len(shift.support.rows) == len(self.matrix(FLOAT)) else None

    def image(self, num: Arithmetic) -> Any:
        return None

    def preimage(self, u: Array) -> Array:
        return u

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u if divisor(num, s)[1].all() else num.zeros(len(u))
