"""A similarity of points whose columns have units of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities.base import Similarity
from simopt.data.similarities.combine import Derived
from simopt.data.similarities.points import largest, points, scaled_columns, variances

ALIKE = 1e-12  # of the largest |x_ij| of a column: a standard deviation that is not above it is rounding


@dataclass(frozen=True)
class Scaled(Derived):
    """K(Dx, Dx') with D = diag(factors): each column is multiplied by its factor, 0 leaves it out. Bounded as K is."""

    factors: tuple[float, ...]
    kind: ClassVar[str] = "scaled"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "factors", tuple(validate.vector("factors", self.factors).tolist()))

    @classmethod
    def standardised(
        cls, rule: Callable[[Array, Array | None], Similarity], X: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> Self:
        """The factors are 1/s_k, s_k the standard deviation of column k of X (n, p), or 0 if it is constant; K by `rule` on XD. O(n p).

        With weights w ≥ 0 a point counts w times.
        """
        given = points("X", X, sparse=True)
        n = given.shape[0]
        mass = None if weights is None else validate.weights("weights", weights, length=n, like="X")
        probabilities = np.full(n, 1.0 / n) if mass is None else mass / mass.sum()
        size = largest(given)
        unit = np.where(size > 1e-290, size, 1.0)  # so that squares neither overflow nor vanish
        deviation = np.sqrt(variances(scaled_columns(given, 1.0 / unit), probabilities))
        varies = (deviation > ALIKE) & (size > 1e-290)
        factors = np.where(varies, 1.0 / np.where(varies, deviation, 1.0) / unit, 0.0)
        return cls(rule(scaled_columns(given, factors), mass), tuple(factors.tolist()))

    @property
    def bound(self) -> float:
        return self.base.bound

    def values(self, X: Array, Y: Array) -> Array:
        return self.base.values(self._scaled(X), self._scaled(Y))

    def diagonal_values(self, X: Array) -> Array:
        return self.base.diagonal_values(self._scaled(X))

    def _scaled(self, X: Array) -> Array:
        if X.shape[1] != len(self.factors):
            raise InvalidProblem(f"similarity scaled: {X.shape[1]} columns, but there are {len(self.factors)} factors, one a column")
        out: Array = scaled_columns(X, self._array)
        return out

    @cached_property
    def _array(self) -> Array:
        return np.array(self.factors)
