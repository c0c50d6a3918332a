r"""−tr M log Y for a constant M ⪰ 0: relative entropies to a fixed state.

Let s > 0. As log is concave, Y ↦ tr M log Y lies below its tangent at any Y₀ ≻ 0. So if −V ⪰ sK for K = D log(Y₀)[M], then for all Y ≻ 0

    ⟨V, Y⟩ + s tr M log Y ≤ ⟨V + sK, Y⟩ + s(tr M log Y₀ − ⟨K, Y₀⟩) ≤ s(tr M log Y₀ − tr M),

as ⟨K, Y₀⟩ = tr M. Y₀/c has cK in place of K. A maximiser Y₀ has equality, so a Y₀ of floats near one gives a bound near the supremum; it
needs no proof.
"""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import scipy.linalg

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.arithmetic.eigenvalues import is_semidefinite, least_bound
from simopt.arithmetic.matrix_logarithm import EnclosedSpectrum, divided_differences, matrix_logarithm
from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.atoms.base import DeclaredConjugate
from simopt.duality.atoms.semidefinite_cone import DecreasingMatrixAtom
from simopt.duality.atoms.spectral_newton import Model, ascended, logarithm_curvature
from simopt.duality.graph.vectors import above, is_zero, nothing, vector

SPARE = 2.0**-50  # times n: by how much c is less than what floats find, so that −V ⪰ csK is proven
TRIES, MORE = 15, 4.0  # how often c is made smaller, each time by so many times as much
SINGULAR = 2.0**-40  # of the largest entry of M: what is added to it where the maximiser is sought, as there is none for singular M
SMALLEST = float(np.finfo(float).tiny)


class NegativeTraceLogarithm(DecreasingMatrixAtom):
    """φ(Y) = −tr M log Y for Y ≻ 0, (sφ)*(V) = min {s(tr M log Y₀ − tr M) : −V ⪰ s D log(Y₀)[M], Y₀ ≻ 0}.

    Parameters
    ----------
    n : int
    weight : callable
        M, n × n, in the arithmetic asked for. Where it is not proven to be semidefinite there is no bound.
    """

    formula, conjugate_formula = "−tr M log Y", "min {tr M log Y − tr M : −V ⪰ D log(Y)[M]}"

    def __init__(self, n: int, weight: Callable[[Arithmetic], Value]) -> None:
        super().__init__(n)
        self.weight = weight

    def doubt(self, num: Arithmetic) -> str:
        return "" if is_semidefinite(num, self.weight(num)) else "the matrix M of −tr M log Y is not proven to be positive semidefinite"

    def value(self, num: Arithmetic, z: Value) -> Value:
        logarithm = matrix_logarithm(num, self.matrix(num, z))
        return vector(num, nothing(num) if logarithm is None else -trace_of_product(num, self.weight(num), logarithm))

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if not above(num, s).all():
            return num.lift(0.0) if is_zero(num, s).all() and self.distance(num, u, s) >= 0.0 else nothing(num)
        falls, weight = -self.dual_matrix(num, u), self.weight(num)
        if not self.distance(num, u, s) >= 0.0 or self.doubt(num):
            return nothing(num)
        near = self._maximiser(np.asarray(num.mid(falls)) / float(num.mid(s)[0]), np.asarray(num.mid(weight)))
        spectrum = None if near is None else EnclosedSpectrum.of(num, *near)
        if spectrum is None:
            return nothing(num)
        slope, turned = spectrum.derivative(weight) * s[0], spectrum.turned(falls)
        largest = largest_factor(np.asarray(num.mid(turned)), np.asarray(num.mid(slope)))
        if not 0.0 < largest < np.inf:
            return nothing(num)
        for number in range(TRIES):
            factor = largest * (1.0 - self.n * SPARE * MORE**number)
            if least_bound(num, turned - slope * factor) >= 0.0:
                trace = num.sum(weight[np.arange(self.n), np.arange(self.n)])
                logarithm = trace_of_product(num, weight, spectrum.logarithm())
                return s[0] * (logarithm - trace * (num.log(num.lift(factor)) + 1.0))
        return nothing(num)

    def _maximiser(self, falls: Array, weight: Array) -> tuple[Array, Array] | None:
        """Eigenvalues and eigenvectors of a Y₀ in floats near the maximiser of tr M log Y − ⟨W, Y⟩ for a W ≻ 0 and a definite M."""
        if not (np.isfinite(falls).all() and np.isfinite(weight).all()):
            return None
        definite = weight + np.eye(self.n) * SINGULAR * float(np.max(np.abs(weight)))

        def model(values: Array, vectors: Array) -> Model:
            inner, outer = vectors.T @ definite @ vectors, vectors.T @ falls @ vectors
            value = float(np.diag(inner) @ np.log(values) - np.diag(outer) @ values)
            gradient = inner * np.asarray(divided_differences(FLOAT, values)) - outer
            return Model(value, gradient, logarithm_curvature(values, inner))

        lowest, vectors = np.linalg.eigh(falls)
        root = vectors / np.sqrt(np.maximum(lowest, SINGULAR * max(float(lowest[-1]), SMALLEST)))
        return ascended(vectors @ (root.T @ definite @ root) @ vectors.T, model)

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        raise Unreadable("the conjugate of a trace of a matrix logarithm", str(u))

    def slope(self, z: Array, s: Array) -> Array:
        values, vectors = np.linalg.eigh(self.matrix(FLOAT, z))
        spectrum = EnclosedSpectrum(FLOAT, np.maximum(values, np.finfo(float).tiny), vectors)
        return self.coordinates(-s[0] * np.asarray(spectrum.turned_back(spectrum.derivative(self.weight(FLOAT)))))


def trace_of_product(num: Arithmetic, a: Value, b: Value) -> Value:
    """tr AᵀB, a scalar."""
    return num.dot(vector(num, a), vector(num, b))


def largest_factor(falls: Array, slope: Array) -> float:
    """The largest c with W ⪰ cK, in floats; 0 where there is none."""
    try:
        largest = float(scipy.linalg.eigh((slope + slope.T) / 2, falls, eigvals_only=True)[-1])
    except (np.linalg.LinAlgError, ValueError):
        return 0.0
    return 1.0 / largest if largest > 0.0 else 0.0
