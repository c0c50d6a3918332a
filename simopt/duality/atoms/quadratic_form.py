"""zᵀPz for positive definite P."""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.arithmetic.interval import EPS
from simopt.arrays import Array
from simopt.duality.atoms.base import Absorbs, Atom
from simopt.duality.vectors import Value, divisor, enclosing, floats, is_zero, known, nothing, vector


def least_eigenvalue(matrix: Array) -> float:
    """A proven lower bound on the least eigenvalue of P = (M + Mᵀ)/2, some half of it; 0 where none above 0 is found.

    If Cholesky's algorithm ends in floats for A = P − (μ + δ)I with δ ≥ γ tr(A)/(1 − γ), γ = (n + 1)u/(1 − (n + 1)u), then P − μI is
    positive semidefinite (Demmel 1989; Rump 2006). δ is taken four times as large, which also covers the rounding of P and A: it changes
    P by at most u‖P‖_F, and ‖P‖_F ≤ tr(P) where P is positive semidefinite.
    """
    n = len(matrix)
    matrix = 0.5 * matrix + 0.5 * matrix.T
    mu = 0.5 * float(np.linalg.eigvalsh(matrix)[0])
    if not mu > 0.0:
        return 0.0
    delta = 2.0 * (n + 3) * EPS * float(np.trace(matrix))
    try:
        np.linalg.cholesky(matrix - (mu + delta) * np.eye(n))
    except np.linalg.LinAlgError:
        return 0.0
    return mu


class QuadraticForm(Atom):
    """φ(z) = zᵀPz, (sφ)*(u) = uᵀP⁻¹u/(4s), bounded from above without P⁻¹: with any v, and ρ = u − 2sPv,
        (sφ)*(u) = s vᵀPv + ⟨v, ρ⟩ + ρᵀP⁻¹ρ/(4s) ≤ s vᵀPv + ⟨v, ρ⟩ + ‖ρ‖²/(4sμ),   μ ≤ λ_min(P) proven.
    v is what floats solve, so that ρ is their rounding. P is (M + Mᵀ)/2 of the matrix M that is given.
    The remainder is s dᵀPd − ⟨ρ, d⟩ + ‖ρ‖²/(4sμ) with d = z − v.
    """

    formula, conjugate_formula, domain_formula = "zᵀPz", "uᵀP⁻¹u/4", "ℝⁿ"
    absorbs = Absorbs.ALL

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix
        self.least = least_eigenvalue(matrix)

    @property
    def degree(self) -> float | None:
        return 2.0

    def _twice(self, num: Arithmetic, v: Value) -> Value:
        """2Pv."""
        return num.matvec(self.matrix, v) + num.rmatvec(self.matrix, v)

    def value(self, num: Arithmetic, z: Value) -> Value:
        return vector(num, num.pos(num.dot(z, num.matvec(self.matrix, z))))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u if divisor(num, s)[1].all() else num.zeros(len(u))

    def _split(self, num: Arithmetic, u: Value, s: Value) -> tuple[Value, Value, Value]:
        """v, ρ and the price ρᵀP⁻¹ρ/(4s) of ρ; of balls all that it may be."""
        v = num.lift(np.linalg.solve(self.matrix + self.matrix.T, floats(num, u)) / floats(num, s)[0])
        rho = u - self._twice(num, v) * s[np.zeros(len(u), dtype=np.intp)]
        price = vector(num, num.dot(rho, rho)) / (s * (num.lift(self.least) * 4))
        return v, rho, enclosing(num, num.zeros(1), price) if num is INTERVAL else price

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if not divisor(num, s)[1].all() or not known(num, num.sum(u)):
            return num.lift(0.0) if is_zero(num, u).all() else nothing(num)
        v, rho, price = self._split(num, u, s)
        return num.sum(s * num.dot(v, num.matvec(self.matrix, v)) + num.dot(v, rho) + price)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        if not divisor(num, s)[1].all():
            return num.sum(s * self.value(num, z))
        v, rho, price = self._split(num, u, s)
        d = z - v
        return num.pos(num.sum(s * num.pos(num.dot(d, num.matvec(self.matrix, d))) - num.dot(rho, d) + price))

    def slope(self, z: Array, s: Array) -> Array:
        return float(s[0]) * np.asarray(self._twice(FLOAT, z))
