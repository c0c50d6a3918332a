"""The similarities of Kar and Jain's experiments that are not positive semidefinite."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.data.similarities import distances
from simopt.data.similarities.base import Similarity


@dataclass(frozen=True)
class Sigmoid(Similarity):
    """K(x, x') = tanh(a <x, x'> + r). Kar and Jain (section 4) take r = -1 and a = 1 / p, p the dimension: `Sigmoid.for_dimension(p)`.

    Not PSD, since the power series of tanh has negative coefficients; the constant case a = 0 is, where r >= 0. Between -1 and 1.
    """

    a: float
    r: float = -1.0
    kind: ClassVar[str] = "sigmoid"

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", validate.finite("a", self.a))
        object.__setattr__(self, "r", validate.finite("r", self.r))

    @classmethod
    def for_dimension(cls, dimension: int) -> Sigmoid:
        """a = 1 / dimension, r = -1."""
        return cls(1.0 / validate.whole("dimension", dimension, minimum=1), -1.0)

    @property
    def psd(self) -> bool:
        return self.a == 0 and self.r >= 0

    @property
    def bound(self) -> float:
        return 1.0

    def values(self, X: Array, Y: Array) -> Array:
        out: Array = X @ Y.T
        out *= self.a
        out += self.r
        return np.tanh(out, out=out)

    def diagonal_values(self, X: Array) -> Array:
        out: Array = np.tanh(self.a * np.einsum("ij,ij->i", X, X) + self.r)
        return out


@dataclass(frozen=True)
class Manhattan(Similarity):
    """K(x, x') = -||x - x'||_1 (Kar and Jain, section 4). Not PSD: the trace of a Gram matrix is 0. Not bounded."""

    kind: ClassVar[str] = "manhattan"
    null_diagonal: ClassVar[bool] = True

    @property
    def psd(self) -> bool:
        return False

    @property
    def bound(self) -> float:
        return math.inf

    def values(self, X: Array, Y: Array) -> Array:
        return -distances.manhattan(X, Y)

    def diagonal_values(self, X: Array) -> Array:
        return np.zeros(X.shape[0])


@dataclass(frozen=True)
class Euclidean(Similarity):
    """K(x, x') = -||x - x'||_2^2 (Kar and Jain, appendix G), or -||x - x'||_2 if not `squared`. Not PSD: zero trace. Not bounded."""

    squared: bool = True
    kind: ClassVar[str] = "euclidean"
    null_diagonal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "squared", validate.truth("squared", self.squared))

    @property
    def psd(self) -> bool:
        return False

    @property
    def bound(self) -> float:
        return math.inf

    def values(self, X: Array, Y: Array) -> Array:
        square = distances.squared(X, Y)
        return -square if self.squared else -np.sqrt(square)

    def diagonal_values(self, X: Array) -> Array:
        return np.zeros(X.shape[0])
