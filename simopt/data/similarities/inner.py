"""Similarities that are functions of the inner product: linear and polynomial."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.data.similarities.base import Similarity
from simopt.data.similarities.points import inner, squared_norms


@dataclass(frozen=True)
class Linear(Similarity):
    """K(x, x') = <x, x'>. PSD; bounded on the unit ball only."""

    kind: ClassVar[str] = "linear"

    @property
    def psd(self) -> bool:
        return True

    @property
    def bound(self) -> float:
        return math.inf

    @property
    def takes_sparse(self) -> bool:
        return True

    def values(self, X: Array, Y: Array) -> Array:
        return inner(X, Y)

    def diagonal_values(self, X: Array) -> Array:
        return squared_norms(X)


@dataclass(frozen=True)
class Polynomial(Similarity):
    """K(x, x') = (a <x, x'> + c)^degree, degree a whole number >= 1.

    PSD if a >= 0 and c >= 0 (sums and products of PSD kernels), or if a = 0 and the constant c^degree is >= 0.
    """

    degree: int = 2
    a: float = 1.0
    c: float = 1.0
    kind: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", validate.whole("degree", self.degree, minimum=1))
        object.__setattr__(self, "a", validate.finite("a", self.a))
        object.__setattr__(self, "c", validate.finite("c", self.c))

    @property
    def psd(self) -> bool:
        return (self.a >= 0 and self.c >= 0) or (self.a == 0 and self.degree % 2 == 0)

    @property
    def bound(self) -> float:
        return float(abs(self.c)) ** self.degree if self.a == 0 else math.inf

    @property
    def takes_sparse(self) -> bool:
        return True

    def values(self, X: Array, Y: Array) -> Array:
        return self._apply(inner(X, Y))

    def diagonal_values(self, X: Array) -> Array:
        return self._apply(squared_norms(X))

    def _apply(self, products: Array) -> Array:
        out: Array = (self.a * products + self.c) ** self.degree
        return out
