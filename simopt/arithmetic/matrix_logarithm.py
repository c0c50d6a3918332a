r"""The logarithm of a symmetric matrix and its derivative: floats, or proven intervals.

Let Q be floats with ε ≥ ‖QᵀQ − I‖, ε < ½, and Q̂ its orthogonal polar factor. The singular values σ of Q have |σ − 1| ≤ |σ² − 1| ≤ ε. So
‖Q̂ − Q‖ ≤ ε, and each entry of Q̂ is within ε of that of Q. With floats Λ the matrix Â = Q̂ΛQ̂ᵀ is one whose eigenvalues are exactly these
floats and whose eigenvectors are enclosed. Then f(Â) = Q̂ f(Λ) Q̂ᵀ, and (Daleckii and Krein)

    D log(Â)[M] = Q̂ (Γ ∘ (Q̂ᵀMQ̂)) Q̂ᵀ,    Γ_ij = (log λ_i − log λ_j)/(λ_i − λ_j),    Γ_ii = 1/λ_i.

Any other matrix A is near such an Â: for A, Â ⪰ mI, m > 0,

    ‖log A − log Â‖ ≤ ‖A − Â‖/m,

as log A − log Â = ∫ (A + t)⁻¹(A − Â)(Â + t)⁻¹ dt over t ≥ 0.

Source: R. Bhatia, Matrix Analysis (1997), §V.3 and §X.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.arithmetic.base import Arithmetic, NotRational, Value
from simopt.arithmetic.eigenvalues import least_bound, singular_values
from simopt.arithmetic.floating import FLOAT
from simopt.arithmetic.interval import EPS, INTERVAL, Interval, as_interval, scaled_exactly
from simopt.arithmetic.rational import RATIONAL
from simopt.arithmetic.residual import residual
from simopt.core.arrays import Array

WIDE = 1e150  # a quotient of eigenvalues beyond which none is subtracted from the other
MOST = 0.5  # a larger ‖QᵀQ − I‖ is of no orthogonal matrix


@dataclass(frozen=True)
class EnclosedSpectrum:
    """The matrix Q̂ΛQ̂ᵀ: its eigenvalues are these floats, and `vectors` is Q̂, enclosed in intervals or as floats."""

    num: Arithmetic
    values: Array
    vectors: Value

    @classmethod
    def of(cls, num: Arithmetic, values: Array, vectors: Array) -> EnclosedSpectrum | None:
        """That of floats Λ and Q; None where Q is not proven to be near an orthogonal matrix.

        Raises
        ------
        NotRational
            for fractions.
        """
        if num is RATIONAL:
            raise NotRational("eigenvectors are not rational; use INTERVAL")
        if num is FLOAT:
            return cls(num, values, vectors)
        n = len(vectors)
        skew = (
            _norm(residual(as_interval(np.ascontiguousarray(vectors.T)), as_interval(np.eye(n)), vectors))
            if np.isfinite(vectors).all()
            else np.inf
        )
        return cls(num, values, Interval(vectors, np.full(vectors.shape, skew))) if skew < MOST else None

    def of_values(self, values: Value) -> Value:
        """Q̂ diag(values) Q̂ᵀ."""
        return symmetrised(self.num, _product(self.num, self.vectors * values, self.vectors.T))

    def turned(self, a: Value) -> Value:
        """Q̂ᵀAQ̂."""
        return symmetrised(self.num, _product(self.num, self.vectors.T, _product(self.num, a, self.vectors)))

    def logarithm(self) -> Value:
        """log(Q̂ΛQ̂ᵀ) for Λ > 0."""
        return self.of_values(self.num.log(self.num.lift(self.values)))

    def derivative(self, a: Value) -> Value:
        """Q̂ᵀ D log(Q̂ΛQ̂ᵀ)[A] Q̂ for Λ > 0: in the eigenvectors, where small eigenvalues do not blur the large ones."""
        return self.turned(a) * divided_differences(self.num, self.values)

    def turned_back(self, a: Value) -> Value:
        """Q̂AQ̂ᵀ."""
        return symmetrised(self.num, _product(self.num, self.vectors, _product(self.num, a, self.vectors.T)))


def divided_differences(num: Arithmetic, values: Array) -> Value:
    """Γ of floats λ > 0, n × n.

    With h = (λ_i − λ_j)/λ_j for λ_i > λ_j it is log(1 + h)/(h λ_j), which does not cancel; where h may overflow, the quotient itself.
    """
    high, low = np.maximum(values[:, None], values), np.minimum(values[:, None], values)
    same, wide = high == low, high / WIDE > low
    near, lowest = num.lift(np.where(same | wide, 2.0 * low, high)), num.lift(low)
    rise = (near - lowest) / lowest
    slope = num.log1p(rise) / rise / lowest
    farther, nearer = num.lift(np.where(wide, high, 2.0)), num.lift(np.where(wide, low, 1.0))
    quotient = (num.log(farther) - num.log(nearer)) / (farther - nearer)
    return _chosen(same, num.lift(np.ones(low.shape)) / lowest, _chosen(wide, quotient, slope))


def _chosen(where: Any, x: Value, y: Value) -> Value:
    if isinstance(x, Interval):
        return Interval(np.where(where, x.mid, y.mid), np.where(where, x.rad, y.rad))
    return np.where(where, x, y)


def matrix_logarithm(num: Arithmetic, a: Value) -> Value | None:
    """log A of a symmetric A, n × n; None where A is not proven to be positive definite. O(n³).

    Floats take λ > 0 for a proof. A row that meets no other one, as its entries off the diagonal are exactly 0, has the logarithm of its
    diagonal entry in the same place.

    Raises
    ------
    ValueError
        where the matrix is not square or not symmetric, naming the entry.
    NotRational
        for fractions.
    """
    if num is RATIONAL:
        raise NotRational("logarithms are not rational; use INTERVAL")
    if num is FLOAT:
        return _float_logarithm(num.lift(a))
    matrix: Interval = num.lift(a)
    if not least_bound(num, matrix) > 0.0:
        return None
    n = len(matrix)
    live = ((matrix.mid != 0.0) | (matrix.rad != 0.0)) & ~np.eye(n, dtype=bool)
    joined = np.flatnonzero((live | live.T).any(axis=1))
    alone = np.setdiff1d(np.arange(n), joined)
    mid, rad = np.zeros((n, n)), np.zeros((n, n))
    own = INTERVAL.log(matrix[alone, alone])
    mid[alone, alone], rad[alone, alone] = own.mid, own.rad
    if len(joined):
        block = np.ix_(joined, joined)
        rest = _enclosed_logarithm(matrix[block])
        if rest is None:
            return None
        mid[block], rad[block] = rest.mid, rest.rad
    return Interval(mid, rad)


def symmetrised(num: Arithmetic, a: Value) -> Value:
    """(A + Aᵀ)/2, which is A where that is known to be symmetric."""
    return (a + a.T) * num.lift(np.array(0.5))


def _product(num: Arithmetic, a: Value, b: Value) -> Value:
    return as_interval(INTERVAL.matvec(a, b)) if num is INTERVAL else a @ b


def _norm(a: Interval) -> float:
    """‖A‖₂ at most."""
    return float(INTERVAL.max(singular_values(INTERVAL, a)).high)


def _float_logarithm(a: Array) -> Array | None:
    if not least_bound(FLOAT, a) > 0.0:  # which refuses what is not symmetric, and is −∞ where an entry is not finite
        return None
    values, vectors = np.linalg.eigh(a)
    if not values[0] > 0.0:
        return None
    logarithm: Array = EnclosedSpectrum(FLOAT, values, vectors).logarithm()
    return logarithm


def _enclosed_logarithm(a: Interval) -> Interval | None:
    """log A of a definite A without rows that meet no other."""
    power = int(np.frexp(np.max(np.abs(a.mid)))[1])
    scale = math.ldexp(1.0, -power) if abs(power) < 1000 else 1.0
    b = symmetrised(INTERVAL, scaled_exactly(a, np.full(a.shape, scale)))
    try:
        values, vectors = np.linalg.eigh(b.mid)
    except np.linalg.LinAlgError:
        return None
    least = least_bound(INTERVAL, b)
    if not (np.isfinite(values).all() and least > 0.0):
        return None
    values = np.maximum(values, least)
    spectrum = EnclosedSpectrum.of(INTERVAL, values, vectors)
    if spectrum is None:
        return None
    near = as_interval(vectors)
    rest = _norm(_product(INTERVAL, near.T, _product(INTERVAL, b, near)) - np.diag(values))  # of QᵀBQ, and Q̂ᵀBQ̂ is near
    skew = float(np.max(spectrum.vectors.rad))
    error = (rest + skew * (2.0 + skew) * _norm(b)) / least * (1.0 + 8 * EPS)
    logarithm = spectrum.logarithm() - np.eye(len(values)) * INTERVAL.log(INTERVAL.lift(scale))
    return as_interval(logarithm + Interval(np.zeros(a.shape), np.full(a.shape, error)))
