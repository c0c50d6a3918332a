"""Similarities made of others: weighted sums, products, and normalisation to K(x, x) = 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities.base import Similarity


@dataclass(frozen=True)
class Sum(Similarity):
    """K = sum_k c_k K_k with real weights (default: all 1).

    PSD if every K_k with c_k != 0 is PSD and has c_k > 0; |K| <= sum |c_k| bound_k. Both rules are sufficient, not necessary.
    """

    terms: tuple[Similarity, ...]
    weights: tuple[float, ...] = ()
    kind: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        _check_parts("terms", self.terms)
        weights = tuple(validate.vector("weights", self.weights, minimum=0).tolist()) or (1.0,) * len(self.terms)
        if len(weights) != len(self.terms):
            raise InvalidProblem(f"weights: {len(weights)} of them for {len(self.terms)} terms, one for each needed")
        object.__setattr__(self, "terms", tuple(self.terms))
        object.__setattr__(self, "weights", weights)

    def _parts(self) -> list[tuple[float, Similarity]]:
        return [(c, term) for c, term in zip(self.weights, self.terms, strict=True) if c != 0]

    @property
    def psd(self) -> bool:
        return all(c > 0 and term.psd for c, term in self._parts())

    @property
    def bound(self) -> float:
        return math.fsum(abs(c) * term.bound for c, term in self._parts())

    @property
    def symmetric(self) -> bool:
        return all(term.symmetric for _, term in self._parts())

    @property
    def takes_sparse(self) -> bool:
        return all(term.takes_sparse for term in self.terms)

    def values(self, X: Array, Y: Array) -> Array:
        out = np.zeros((X.shape[0], Y.shape[0]))
        for c, term in self._parts():
            out += c * term.values(X, Y)
        return out

    def diagonal_values(self, X: Array) -> Array:
        out = np.zeros(X.shape[0])
        for c, term in self._parts():
            out += c * term.diagonal_values(X)
        return out


@dataclass(frozen=True)
class Product(Similarity):
    """K = prod_k K_k. PSD if every K_k is (Schur's product theorem); |K| is at most the product of the bounds."""

    factors: tuple[Similarity, ...]
    kind: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        _check_parts("factors", self.factors)
        object.__setattr__(self, "factors", tuple(self.factors))

    @property
    def psd(self) -> bool:
        return all(factor.psd for factor in self.factors)

    @property
    def bound(self) -> float:
        total = math.prod(factor.bound for factor in self.factors)
        return math.inf if math.isnan(total) else total

    @property
    def symmetric(self) -> bool:
        return all(factor.symmetric for factor in self.factors)

    @property
    def takes_sparse(self) -> bool:
        return all(factor.takes_sparse for factor in self.factors)

    def values(self, X: Array, Y: Array) -> Array:
        return reduce(np.multiply, (factor.values(X, Y) for factor in self.factors))

    def diagonal_values(self, X: Array) -> Array:
        return reduce(np.multiply, (factor.diagonal_values(X) for factor in self.factors))


@dataclass(frozen=True)
class Derived(Similarity):
    """A similarity made of another, K: PSD and symmetric if K is, and for sparse points if K takes them."""

    base: Similarity

    def __post_init__(self) -> None:
        _check_parts("base", (self.base,))

    @property
    def psd(self) -> bool:
        return self.base.psd

    @property
    def symmetric(self) -> bool:
        return self.base.symmetric

    @property
    def takes_sparse(self) -> bool:
        return self.base.takes_sparse


@dataclass(frozen=True)
class Normalised(Derived):
    """K(x, x') / sqrt(K(x, x) K(x', x')), for points with K(x, x) > 0; another point is an error.

    A base whose K(x, x) is 0 everywhere (negative distances: Manhattan, Euclidean) is refused at once.

    PSD if K is (it is D K D with D diagonal), and then bounded by 1 (Cauchy and Schwarz). For a K that is not PSD neither is known.
    """

    kind: ClassVar[str] = "normalised"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base.null_diagonal:
            raise InvalidProblem(f"base: K(x, x) = 0 at every x for the {self.base.kind} similarity; normalising it needs K(x, x) > 0")

    @property
    def bound(self) -> float:
        return 1.0 if self.base.psd else math.inf

    def values(self, X: Array, Y: Array) -> Array:
        out = self.base.values(X, Y) / self._size("X", X)[:, None]
        out /= self._size("Y", Y)[None, :]
        # Rounding may leave a value an ulp or two outside [-1, 1], where the exact one cannot be.
        return np.clip(out, -1.0, 1.0, out=out) if self.bounded else out

    def diagonal_values(self, X: Array) -> Array:
        return np.ones(self._size("X", X).shape[0])

    def _size(self, name: str, X: Array) -> Array:
        own = self.base.diagonal_values(X)
        wrong = ~(own > 0)
        if wrong.any():
            first = int(np.argmax(wrong))
            raise InvalidProblem(
                f"{name}: K(x, x) = {float(own[first]):g} at row {first}; normalising the {self.base.kind} similarity needs K(x, x) > 0"
            )
        out: Array = np.sqrt(own)
        return out


def _check_parts(name: str, parts: tuple[Similarity, ...]) -> None:
    if not parts:
        raise InvalidProblem(f"{name}: none given, at least one similarity needed")
    for part in parts:
        if not isinstance(part, Similarity):
            raise InvalidProblem(f"{name}: {part!r} is not a similarity")
