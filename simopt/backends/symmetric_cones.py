r"""Symmetric cones and the scaling of Nesterov and Todd: W with Wz = W⁻ᵀs = λ for s and z inside of a cone.

The orthant has λ = √(sz), entry by entry. A semidefinite matrix is the vector of its upper triangle, column by column, with entries beside
the diagonal times √2. There S = LLᵀ, Z = MMᵀ and MᵀL = UΛVᵀ give WZ = RᵀZR, R = LVΛ^{−½}, and λ = Λ. In the second-order cone W is a
multiple of 2vvᵀ − J, J = diag(1, −1, …, −1). The product is that of the cone's Jordan algebra, e its unit, and `degree` the rank of e.

Source: L. Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010), §4.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from simopt.core.arrays import Array


class SymmetricCone(ABC):
    """A cone of vectors; W and λ are those of the last `scale`, and vectors may be rows of a matrix where they are scaled.

    Attributes
    ----------
    degree : int
    unit : array
        e.
    scaled : array
        λ.
    """

    degree: int
    unit: Array
    scaled: Array

    @abstractmethod
    def scale(self, s: Array, z: Array) -> None:
        """Compute W and λ; a LinAlgError where s or z is not inside."""

    @abstractmethod
    def primal(self, v: Array) -> Array:
        """W⁻ᵀv."""

    @abstractmethod
    def primal_back(self, v: Array) -> Array:
        """Wᵀv."""

    @abstractmethod
    def dual_back(self, v: Array) -> Array:
        """W⁻¹v."""

    @abstractmethod
    def product(self, a: Array, b: Array) -> Array:
        """a ∘ b."""

    @abstractmethod
    def quotient(self, v: Array) -> Array:
        """The a with λ ∘ a = v."""

    @abstractmethod
    def depth(self, d: Array) -> float:
        """The largest t with λ + αd in the cone for all α ≤ 1/t; 0 where all α will do."""


class Orthant(SymmetricCone):
    """v ≥ 0."""

    def __init__(self, size: int) -> None:
        self.degree, self.unit = size, np.ones(size)

    def scale(self, s: Array, z: Array) -> None:
        if np.min(s) <= 0.0 or np.min(z) <= 0.0:
            raise np.linalg.LinAlgError
        self._w, self.scaled = np.sqrt(s / z), np.sqrt(s * z)

    def primal(self, v: Array) -> Array:
        return v / self._w

    def primal_back(self, v: Array) -> Array:
        return v * self._w

    dual_back = primal

    def product(self, a: Array, b: Array) -> Array:
        return a * b

    def quotient(self, v: Array) -> Array:
        return v / self.scaled

    def depth(self, d: Array) -> float:
        return float(np.max(-d / self.scaled, initial=0.0))


class SecondOrderCone(SymmetricCone):
    """v₀ ≥ ‖(v₁, v₂, …)‖."""

    def __init__(self, size: int) -> None:
        self.degree, self.unit = 1, np.eye(size)[0]
        self._j = 2.0 * self.unit - 1.0

    def scale(self, s: Array, z: Array) -> None:
        a, b = _hyperbolic(s), _hyperbolic(z)
        mean = (s / a + self._j * z / b) / math.sqrt(2.0 * (1.0 + float(s @ z) / (a * b)))
        self._factor, self._v = math.sqrt(a / b), (mean + self.unit) / math.sqrt(2.0 * (mean[0] + 1.0))
        self.scaled = self.primal_back(z)

    def primal(self, v: Array) -> Array:
        return (2.0 * np.multiply.outer((self._j * v) @ self._v, self._j * self._v) - self._j * v) / self._factor

    def primal_back(self, v: Array) -> Array:
        return self._factor * (2.0 * np.multiply.outer(v @ self._v, self._v) - self._j * v)

    dual_back = primal

    def product(self, a: Array, b: Array) -> Array:
        return np.append(a @ b, a[0] * b[1:] + b[0] * a[1:])

    def quotient(self, v: Array) -> Array:
        first = float((self._j * self.scaled) @ v) / _hyperbolic(self.scaled) ** 2
        return np.append(first, (v[1:] - first * self.scaled[1:]) / self.scaled[0])

    def depth(self, d: Array) -> float:
        size = _hyperbolic(self.scaled)
        near, d = self.scaled / size, d / size
        first = float((self._j * near) @ d)
        rest = d[1:] - (d[0] + first) / (near[0] + 1.0) * near[1:]
        return max(float(np.linalg.norm(rest)) - first, 0.0)


class SemidefiniteTriangle(SymmetricCone):
    """V ⪰ 0, of order n."""

    def __init__(self, order: int) -> None:
        rows, columns = np.triu_indices(order)
        by_columns = np.lexsort((rows, columns))
        self._i, self._j = rows[by_columns], columns[by_columns]
        self._factors = np.where(self._i == self._j, 1.0, math.sqrt(2.0))
        self.order, self.degree, self.unit = order, order, self._vector(np.eye(order))

    def scale(self, s: Array, z: Array) -> None:
        left, right = np.linalg.cholesky(self._matrix(s)), np.linalg.cholesky(self._matrix(z))
        u, self._values, vt = np.linalg.svd(right.T @ left)
        root = np.sqrt(self._values)
        self._r, self._inverse, self.scaled = left @ vt.T / root, (u / root).T @ right.T, self._vector(np.diag(self._values))

    def primal(self, v: Array) -> Array:
        return self._congruent(self._inverse, v)

    def primal_back(self, v: Array) -> Array:
        return self._congruent(self._r, v)

    def dual_back(self, v: Array) -> Array:
        return self._congruent(self._inverse.T, v)

    def product(self, a: Array, b: Array) -> Array:
        product = self._matrix(a) @ self._matrix(b)
        return self._vector((product + product.T) / 2)

    def quotient(self, v: Array) -> Array:
        return self._vector(2.0 * self._matrix(v) / (self._values[:, None] + self._values))

    def depth(self, d: Array) -> float:
        root = np.sqrt(self._values)
        return max(-float(np.linalg.eigvalsh(self._matrix(d) / root[:, None] / root)[0]), 0.0)

    def _congruent(self, factor: Array, v: Array) -> Array:
        return self._vector(factor @ self._matrix(v) @ factor.T)

    def _matrix(self, v: Array) -> Array:
        found = np.zeros((*v.shape[:-1], self.order, self.order))
        found[..., self._i, self._j] = found[..., self._j, self._i] = v / self._factors
        return found

    def _vector(self, matrix: Any) -> Array:
        return np.asarray(matrix[..., self._i, self._j] * self._factors)


class ConeProduct(SymmetricCone):
    """Vectors whose consecutive parts are in these cones."""

    def __init__(self, cones: Sequence[SymmetricCone]) -> None:
        self.cones, self.degree, self.unit = cones, sum(cone.degree for cone in cones), np.concatenate([cone.unit for cone in cones])
        ends = np.cumsum([len(cone.unit) for cone in cones])
        self._parts = [slice(end - len(cone.unit), end) for cone, end in zip(cones, ends, strict=True)]

    def scale(self, s: Array, z: Array) -> None:
        for cone, part in zip(self.cones, self._parts, strict=True):
            cone.scale(s[part], z[part])
        self.scaled = np.concatenate([cone.scaled for cone in self.cones])

    def primal(self, v: Array) -> Array:
        return self._of_each("primal", v)

    def primal_back(self, v: Array) -> Array:
        return self._of_each("primal_back", v)

    def dual_back(self, v: Array) -> Array:
        return self._of_each("dual_back", v)

    def product(self, a: Array, b: Array) -> Array:
        return self._of_each("product", a, b)

    def quotient(self, v: Array) -> Array:
        return self._of_each("quotient", v)

    def depth(self, d: Array) -> float:
        return max(cone.depth(d[part]) for cone, part in zip(self.cones, self._parts, strict=True))

    def _of_each(self, name: str, *vectors: Array) -> Array:
        each = zip(self.cones, self._parts, strict=True)
        return np.concatenate([getattr(cone, name)(*(v[..., part] for v in vectors)) for cone, part in each], axis=-1)


def _hyperbolic(v: Array) -> float:
    """(vᵀJv)^½; a LinAlgError where v is not inside of the second-order cone."""
    rest = float(np.linalg.norm(v[1:]))
    if not v[0] > rest:
        raise np.linalg.LinAlgError
    return math.sqrt((float(v[0]) - rest) * (float(v[0]) + rest))
