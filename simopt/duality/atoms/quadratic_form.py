"""zᵀPz for positive definite P, and for positive semidefinite P."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.arithmetic.definite import least_eigenvalue, semidefinite_rank
from simopt.arithmetic.interval import as_interval
from simopt.duality.atoms.base import Absorbs, Atom, Priced
from simopt.duality.graph.vectors import Indices, Value, divisor, enclosing, floats, is_zero, known, nothing, vector
from simopt.ground.arrays import Array
from simopt.ground.errors import Unreadable

LARGEST = 30  # rows of a matrix whose rank is decided in fractions
APART = 1e-6  # relatively: a multiplier so far outside of the range of P is no rounded one of its elements


@dataclass(frozen=True)
class Support:
    """Rows of P ⪰ 0, as many as its rank, whose principal submatrix has no eigenvalue below `least` > 0.

    Nor then has P one between 0 and `least`: by Cauchy's interlacing the r-th largest eigenvalue is not below those of the submatrix.
    """

    rows: Indices
    least: float


def support(matrix: Any) -> Support | None:
    """The support of (M + Mᵀ)/2 for a square M of floats or balls; None where it is not proven to be positive semidefinite.

    What floats do not prove, fractions decide, of matrices that are small and known exactly.
    """
    given = as_interval(matrix)
    half = (given + given.T) * 0.5
    if not (np.isfinite(given.mid).all() and np.isfinite(half.mid).all()):
        return None
    n, least = len(half), least_eigenvalue(half)
    if least > 0.0:
        return Support(np.arange(n), least)
    if given.rad.any() or n > LARGEST:
        return None
    exact = RATIONAL.lift(given.mid)
    exact = (exact + exact.T) / 2
    rank = semidefinite_rank(exact)
    if rank is None:
        return None
    rows = _pivots(half.mid, rank)
    least = _least(exact[np.ix_(rows, rows)]) if rank else 1.0
    return Support(rows, least) if least > 0.0 else None


def _least(matrix: Any) -> float:
    """A float not above the least eigenvalue of a definite matrix of fractions: the first that is, of fractions of its trace; else 0."""
    n, trace = len(matrix), float(sum(np.diag(matrix)))
    for power in range(4, 124, 8):
        least = trace * 2.0**-power
        if semidefinite_rank(matrix - RATIONAL.lift(np.diag(np.full(n, least)))) is not None:
            return least
    return 0.0


def _pivots(matrix: Array, rank: int) -> Indices:
    """The rows of the largest pivots of a symmetric elimination."""
    rest, rows = matrix.copy(), []
    for _ in range(rank):
        i = int(np.argmax(np.diag(rest)))
        rows.append(i)
        rest = rest - np.outer(rest[:, i], rest[i]) / rest[i, i]
        rest[rows, rows] = -np.inf
    return np.sort(np.array(rows, dtype=np.intp))


def root(matrix: Array) -> Array:
    """F with FFᵀ = (M + Mᵀ)/2 ⪰ 0 in floats, without the directions in which that is 0 to rounding."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    kept = values > len(values) * np.finfo(float).eps * values.max(initial=0.0)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


class SemidefiniteForm(Atom):
    """φ(z) = zᵀPz, P ⪰ 0, (sφ)*(u) = uᵀP⁺u/(4s) for u = 2sPv, bounded from above without P⁺: with any v, and ρ = u − 2sPv,
        (sφ)*(u) = s vᵀPv + ⟨v, ρ⟩ + ρᵀP⁺ρ/(4s) ≤ s vᵀPv + ⟨v, ρ⟩ + ‖ρ‖²/(4sμ),   μ > 0 not above any eigenvalue of P but 0, proven.
    v is what floats solve, so that ρ is their rounding, and u is in the range of P since `project` makes it as 2sPv.
    P is (M + Mᵀ)/2 of the matrix M that is given. The remainder is s dᵀPd − ⟨ρ, d⟩ + ‖ρ‖²/(4sμ) with d = z − v.

    Parameters
    ----------
    matrix : function
        M in an arithmetic, read each time: it may be a parameter. Where P is not proven to be semidefinite every multiplier costs ∞.
    """

    formula, conjugate_formula, domain_formula = "zᵀPz, P ⪰ 0", "uᵀP⁺u/4", "range of P"
    degree_formula = "2"

    def __init__(self, matrix: Callable[[Arithmetic], Any]) -> None:
        self.matrix = matrix
        self._seen: tuple[Array, Array] | None = None
        self._support: Support | None = None

    @property
    def degree(self) -> float | None:
        return 2.0

    def support(self) -> Support | None:
        """The support of P as it is now."""
        now = as_interval(self.matrix(INTERVAL))
        if self._seen is None or not (np.array_equal(self._seen[0], now.mid) and np.array_equal(self._seen[1], now.rad)):
            self._seen, self._support = (now.mid.copy(), now.rad.copy()), support(now)
        return self._support

    def _twice(self, num: Arithmetic, v: Value) -> Value:
        """2Pv."""
        matrix = self.matrix(num)
        return num.matvec(matrix, v) + num.rmatvec(matrix, v)

    def value(self, num: Arithmetic, z: Value) -> Value:
        return vector(num, num.pos(num.dot(z, num.matvec(self.matrix(num), z))))

    def _solved(self, num: Arithmetic, found: Support, u: Value, s: Value) -> Value:
        """v with 2sPv = u on the rows of the support, by floats."""
        matrix, rows, v = np.asarray(self.matrix(FLOAT), dtype=float), found.rows, np.zeros(len(u))
        part = matrix[np.ix_(rows, rows)]
        v[rows] = np.linalg.lstsq(part + part.T, floats(num, u)[rows])[0] / floats(num, s)[0]  # which may be singular in floats
        return num.lift(np.where(np.isfinite(v), v, 0.0))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """2sPv with the entries of u on the rows of the support."""
        found = self.support()
        if found is None or not divisor(num, s)[1].all():
            return num.zeros(len(u))
        return self._twice(num, self._solved(num, found, u, s)) * s[np.zeros(len(u), dtype=np.intp)]

    def _split(self, num: Arithmetic, found: Support, u: Value, s: Value) -> tuple[Value, Value, Value]:
        """v, ρ and the price ρᵀP⁺ρ/(4s) of ρ; of balls all that it may be."""
        v = self._solved(num, found, u, s)
        rho = u - self._twice(num, v) * s[np.zeros(len(u), dtype=np.intp)]
        price = vector(num, num.dot(rho, rho)) / (s * (num.lift(found.least) * 4))
        return v, rho, enclosing(num, num.zeros(1), price) if num is INTERVAL else price

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        found = self.support()
        if found is None or not divisor(num, s)[1].all() or not known(num, num.sum(u)):
            return num.lift(0.0) if is_zero(num, u).all() else nothing(num)
        v, rho, price = self._split(num, found, u, s)
        if np.linalg.norm(floats(num, rho)) > APART * np.linalg.norm(floats(num, u)):
            return nothing(num)
        return num.sum(s * num.dot(v, num.matvec(self.matrix(num), v)) + num.dot(v, rho) + price)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        found = self.support()
        if found is None or not divisor(num, s)[1].all():
            return num.sum(s * self.value(num, z))
        v, rho, price = self._split(num, found, u, s)
        d = z - v
        return num.pos(num.sum(s * num.pos(num.dot(d, num.matvec(self.matrix(num), d))) - num.dot(rho, d) + price))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> Priced:
        """The least ‖w‖²/(4s) with Fw = u, P = FFᵀ."""
        if self.support() is None:
            raise Unreadable("its conjugate cannot be declared, as the matrix is not proven to be semidefinite")
        factor = root(np.asarray(self.matrix(FLOAT), dtype=float))
        w = cp.Variable(factor.shape[1], name=f"root of {u.name()}")
        return cp.quad_over_lin(w, 4 * s), [factor @ w == u]

    def slope(self, z: Array, s: Array) -> Array:
        return float(s[0]) * np.asarray(self._twice(FLOAT, z))


class QuadraticForm(SemidefiniteForm):
    """φ(z) = zᵀPz of a positive definite P, which absorbs any multiplier; see `SemidefiniteForm`."""

    formula, conjugate_formula, domain_formula = "zᵀPz, P ≻ 0", "uᵀP⁻¹u/4", "ℝⁿ"
    absorbs = Absorbs.ALL

    def support(self) -> Support | None:
        found = super().support()
        return found if found is not None and len(found.rows) == len(self.matrix(FLOAT)) else None

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u if divisor(num, s)[1].all() else num.zeros(len(u))
