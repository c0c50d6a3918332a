r"""Functions of a symmetric matrix Z by its eigenvalues, as functions of the vector z = T vec(Z) of its n(n + 1)/2 entries.

T has the rows E_ii and E_ij + E_ji for i > j, so that Z_ij = z_ij/2. The multiplier u stands for the symmetric U = mat(Tᵀu): ⟨u, z⟩ =
⟨U, Z⟩, and U_ij = u_ij. A variable X has one entry in each row of T vec(X). For an X that is not symmetric z is that of (X + Xᵀ)/2.

Where the domain of the conjugate fixes tr U, T has the rows E_ii and (E_ii + E_jj + E_ij + E_ji)/2 instead. Then tr U = Σu.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import Arithmetic, Interval
from simopt.arithmetic.interval import scaled_exactly
from simopt.core.arrays import Array
from simopt.duality.atoms.base import Atom
from simopt.duality.graph.vectors import Indices, Value, full, inner, replaced

INSIDE = 2.0**-46  # times n and the largest eigenvalue: how far inside a projected multiplier lies, so that it is proven to be there

LEAST = -float(np.finfo(float).max)  # a margin where none is known, which is a fraction


def triangle(n: int) -> tuple[Indices, Indices]:
    """Row and column of each entry of z: the lower triangle, row by row."""
    return np.tril_indices(n)


def fold(n: int, trace: bool = False) -> Any:
    """T, sparse, for vec(Z) column by column; with `trace` the one that keeps the trace."""
    i, j = triangle(n)
    off, number = i != j, np.arange(len(i))
    below = number[off]
    if not trace:
        places = np.r_[number, below], np.r_[j * n + i, (i * n + j)[off]]
        return sp.csr_array((np.ones(len(places[0])), places), shape=(len(i), n * n))
    a, b = i[off], j[off]
    places = np.r_[number[~off], *(4 * [below])], np.r_[i[~off] * (n + 1), a * n + b, b * n + a, a * (n + 1), b * (n + 1)]
    return sp.csr_array((np.r_[np.ones(n), np.full(4 * len(a), 0.5)], places), shape=(len(i), n * n))


class SymmetricMatrixAtom(Atom):
    """A function of one symmetric n × n matrix; see the module.

    Attributes
    ----------
    n : int
    trace : bool
        whether T is the one that keeps the trace.
    """

    degree_formula = "–"
    trace: ClassVar[bool] = False

    def __init__(self, n: int) -> None:
        self.n, self.length = n, n * (n + 1) // 2
        i, j = np.indices((n, n))
        high, low = np.maximum(i, j), np.minimum(i, j)
        self._index, self._diagonal = high * (high + 1) // 2 + low, np.arange(n) * (np.arange(n) + 3) // 2

    def matrix(self, num: Arithmetic, z: Value) -> Value:
        """Z. Halves are exact but of the smallest floats, so that what is known exactly stays so."""
        if not self.trace:
            z, powers = self._mirrored(z), np.where(np.eye(self.n), 1.0, 0.5)
            return scaled_exactly(z, powers) if isinstance(z, Interval) else z * num.lift(powers)
        diagonal = z[self._diagonal]  # z_ij = (Z_ii + Z_jj)/2 + Z_ij
        i, j = triangle(self.n)
        half = num.lift(np.array(0.5))
        return self._mirrored(replaced(num, z - (diagonal[i] + diagonal[j]) * half, self._diagonal, diagonal))

    def dual_matrix(self, num: Arithmetic, u: Value) -> Value:
        """U."""
        if not self.trace:
            return self._mirrored(u)
        i, j = triangle(self.n)
        half = u * num.lift(np.where(i == j, 0.0, 0.5))
        sums = num.group_sum(num.concat([half, half]), np.concatenate([i, j]), self.n)
        return self._mirrored(replaced(num, half, self._diagonal, u[self._diagonal] + sums))

    def coordinates(self, dual: Array) -> Array:
        """The multiplier u of a symmetric U of floats."""
        i, j = triangle(self.n)
        u = (dual[i, j] + dual[j, i]) / 2
        if self.trace:
            u = np.where(i == j, 0.0, 2.0 * u)
            sums = np.bincount(i, weights=u, minlength=self.n) + np.bincount(j, weights=u, minlength=self.n)
            u[self._diagonal] = np.diag(dual) - sums / 2
        return np.asarray(u)

    def declared_dual(self, u: cp.Expression) -> cp.Expression:
        """U of a CVXPY vector."""
        if self.trace:
            return cp.reshape(fold(self.n, True).T @ u, (self.n, self.n), order="F")
        spread = sp.csr_array((np.ones(self.n**2), (np.arange(self.n**2), self._index.reshape(-1))), shape=(self.n**2, self.length))
        return cp.reshape(spread @ u, (self.n, self.n), order="F")

    def _mirrored(self, x: Value) -> Value:
        """The entries of the triangle at both of their places."""
        return Interval(x.mid[self._index], x.rad[self._index]) if isinstance(x, Interval) else x[self._index]

    @abstractmethod
    def distance(self, num: Arithmetic, u: Value, s: Value) -> float:
        """How far inside of the domain of the conjugate U lies, in eigenvalues; below 0 where it is not proven to lie there."""

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return full(num, max(self.distance(num, u, s), LEAST), self.length)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return num.pos(inner(num, s, self.value(num, z)) + self.conjugate(num, u, s) - inner(num, u, z))

    def drawn(self, e: Any, z: Any, by: float) -> Any:
        """φ as a CVXPY expression, changed so that slopes lie inside of the domain by the fraction `by`; φ itself where they do anyhow."""
        return e


def decomposed(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, in rising order, and eigenvectors of the symmetric part, in floats; nan where they are beyond the floats."""
    half = matrix / 2 + matrix.T / 2
    try:
        values, vectors = np.linalg.eigh(half)
    except np.linalg.LinAlgError:
        return np.full(len(half), np.nan), np.full(half.shape, np.nan)
    return values, vectors


def inverted(matrix: Array) -> Array:
    """A⁻¹ in floats; nan where an eigenvalue is 0 to rounding, though it counts as above 0."""
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.full(matrix.shape, np.nan)


def clipped(matrix: Array) -> Array:
    """A symmetric matrix of floats near the given one, none of whose eigenvalues is below some 2⁻⁴⁶ n of the largest."""
    values, vectors = decomposed(matrix)
    if not np.isfinite(values).all():
        return np.eye(len(matrix))
    edge = len(matrix) * INSIDE * float(np.max(np.abs(values), initial=0.0))
    found = (vectors * np.maximum(values, 2 * edge)) @ vectors.T
    return np.asarray((found + found.T) / 2)
