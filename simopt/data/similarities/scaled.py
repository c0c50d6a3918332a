"""A similarity of points whose columns have units of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from simopt.data.similarities.base import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem

ALIKE = 1e-12  # of the largest |x_ij| of a column: a standard deviation that is not above it is rounding


@dataclass(frozen=True)
class Scaled(Similarity):
    """K(Dx, Dx') with D = diag(factors): each column is multiplied by its factor, 0 leaves it out.

    PSD, bounded and symmetric as K is.
    """

    base: Similarity
    factors: tuple[float, ...]
    kind: ClassVar[str] = "scaled"

    def __post_init__(self) -> None:
        if not isinstance(self.base, Similarity):
            raise InvalidProblem(f"base: {self.base!r} is not a similarity")
        object.__setattr__(self, "factors", tuple(validate.vector("factors", self.factors).tolist()))

    @classmethod
    def standardised(
        cls, rule: Callable[[Array, Array | None], Similarity], X: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> Self:
        """The factors 1/s_k, s_k the standard deviation of column k of X (n, p), 0 where it is constant; K by `rule` on XD. O(n p).

        With weights w ≥ 0 a point counts w times.
        """
        points = validate.matrix("X", X)
        mass = None if weights is None else validate.weights("weights", weights, length=len(points), like="X")
        shares = np.full(len(points), 1.0 / len(points)) if mass is None else mass / mass.sum()
        largest = np.max(np.abs(points), axis=0)
        unit = np.where(largest > 1e-290, largest, 1.0)  # so that squares neither overflow nor vanish
        around = points / unit
        around -= shares @ around
        spread = np.sqrt(shares @ np.square(around))
        varies = (spread > ALIKE) & (largest > 1e-290)
        factors = np.where(varies, 1.0 / np.where(varies, spread, 1.0) / unit, 0.0)
        return cls(rule(points * factors, mass), tuple(factors.tolist()))

    @property
    def psd(self) -> bool:
        return self.base.psd

    @property
    def bound(self) -> float:
        return self.base.bound

    @property
    def symmetric(self) -> bool:
        return self.base.symmetric

    def values(self, X: Array, Y: Array) -> Array:
        return self.base.values(self._scaled(X), self._scaled(Y))

    def diagonal_values(self, X: Array) -> Array:
        return self.base.diagonal_values(self._scaled(X))

    def _scaled(self, X: Array) -> Array:
        if X.shape[1] != len(self.factors):
            raise InvalidProblem(f"similarity scaled: {X.shape[1]} columns, but there are {len(self.factors)} factors, one a column")
        out: Array = X * np.array(self.factors)
        return out
