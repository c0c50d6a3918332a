r"""The weight of each sample in a mean loss Σ_i p_i ℓ_i: p_i = 1/n, or with weights w_i ≥ 0 the fraction p_i = w_i/Σ_j w_j.

A weight of 2 is the sample twice, a weight of 0 no sample, and a factor of all weights changes nothing. The multiplier of a hinge of
sample i lies in [0, p_i].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.model.problem import Image, Law
from simopt.problems.domains.chain import Weights

__all__ = ["SampleWeights", "Weights", "in_parts"]

Value = Any
Rows = NDArray[np.intp] | slice


@dataclass(frozen=True, eq=False)
class SampleWeights:
    """p_i of n samples, or of some of them: `weights` are theirs, and `every` those of all; None where all weigh the same."""

    n: int
    weights: Array | None = None
    every: Array | None = None

    @classmethod
    def of(cls, n: int, weights: Array | None) -> SampleWeights:
        """Those of all samples."""
        return cls(n, weights, weights)

    def on(self, rows: Rows) -> SampleWeights:
        """Those of some samples, each as often as its number stands there."""
        return self if self.weights is None else replace(self, weights=self.weights[rows])

    def each(self, num: Arithmetic) -> Value:
        """p, or the one number 1/n (in `num`: fl(1/n) may exceed 1/n)."""
        if self.weights is None:
            return _inverse(num, self.n)
        return num.lift(self.weights) / num.sum(num.lift(self.every))

    @property
    def floats(self) -> Array:
        """p as floats, of all n also where all weigh the same."""
        return np.full(self.n, 1.0 / self.n) if self.weights is None else np.asarray(self.each(FLOAT))

    def mean(self, num: Arithmetic, values: Value) -> Value:
        """Σ_i p_i values_i."""
        if self.weights is None:
            return num.sum(values) / self.n
        return num.dot(num.lift(self.weights), values) / num.sum(num.lift(self.every))

    def per_weight(self, num: Arithmetic, values: Value) -> Value:
        """values_i / p_i; of a sample that counts for nothing values_i, which is to be 0."""
        if self.weights is None:
            return values * self.n
        return values * num.sum(num.lift(self.every)) / num.lift(np.where(self.weights > 0, self.weights, 1.0))


@lru_cache(maxsize=64)  # of a few problems: a certificate in intervals asks for it twenty times
def _inverse(num: Arithmetic, n: int) -> Value:
    return num.lift(1.0) / n


def in_parts(select: Callable[[Any, NDArray[np.intp], Any], Image], field: str) -> Law:
    """The law that every sample may be cut into two, with parts of its weight; one of them may be 0.

    `select(problem, order, factors)` is the problem with the samples of `order`, whose multipliers are `factors` times the old ones.
    """

    def cut(problem: Any, rng: np.random.Generator) -> Image:
        """Every sample twice, with the fractions t and 1 − t of its weight, t in {0, 1/4, …, 1}."""
        n = len(getattr(problem, field))
        first = rng.integers(0, 5, size=n) / 4.0
        factors = np.column_stack([first, 1.0 - first]).ravel()
        image = select(problem, np.repeat(np.arange(n), 2), factors)
        weights = np.repeat(np.ones(n) if problem.weights is None else problem.weights, 2) * factors
        drawn: Any = image.problem
        return replace(image, problem=replace(drawn, weights=weights))

    return Law("samples in parts", cut)
