"""The mean classifier f(x) = Σ p_i y_i K(x_i, x) itself: nothing is fitted, and nothing of size n × m is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.rows import MEMORY, Rows
from simopt.data.similarities import Similarity, SimilarityRule
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.solvers.herding.gaussian_tiles import USELESS, Fast, Tiles
from simopt.solvers.herding.mean_embedding import VALUES
from simopt.solvers.herding.sample import WeightedSample


def weighted_sums(similarity: Similarity, centres: Rows, coefficients: Array, points: Any, *, memory: float = MEMORY) -> Array:
    """Σ_j c_j K(x_j, x) at the rows x of `points` (m, p), both read in blocks. O(n m p) time, `memory` bytes.

    Raises
    ------
    InvalidProblem
        when the numbers of columns differ, or points are not finite.
    """
    rows = Rows.of("X", points, memory=memory)
    if rows.width != centres.width:
        raise InvalidProblem(f"X: {rows.width} columns, expected {centres.width} as in the points of the classifier")
    fast = Fast.of(similarity, centres, "float64")
    tiles = Tiles("float64")
    out = np.zeros(rows.n)
    for start, block in rows.blocks(max(1, min(rows.step, 1 << 14))):
        both = np.zeros((2, len(block)))
        own = None if fast is None else fast.coordinates_at(block)
        # far from the centres exponents lose digits, or overflow
        near = fast is not None and own is not None and fast.relative * (fast.radius + float(np.max(own.lengths))) ** 2 <= USELESS
        for first in range(0, centres.n, centres.step):
            last = min(first + centres.step, centres.n)
            if near and fast is not None and own is not None:
                other = fast.coordinates(centres, first, last)
                tiles.add(own, other, np.zeros(len(block)), coefficients[first:last], both)
            else:
                _direct_sums(similarity, block, centres.block(first, last), coefficients[first:last], both[0])
        out[start : start + len(block)] = both[0]
    return out


def _direct_sums(similarity: Similarity, points: Array, centres: Array, coefficients: Array, sums: Array) -> None:
    for i in range(0, len(points), VALUES):
        for j in range(0, len(centres), VALUES):
            tile = similarity.values(points[i : i + VALUES], centres[j : j + VALUES])
            sums[i : i + VALUES] += tile @ coefficients[j : j + VALUES]


@dataclass(frozen=True, eq=False)
class MeanFunction:
    """f(x) = ⟨ω, φ(x)⟩ with ω = Σ p_i y_i φ(x_i), the classifier by average similarity (van Rooyen, Menon & Williamson 2015, (2))."""

    sample: WeightedSample

    def decision(self, X: Any) -> Array:
        """f at the rows of X (an array, a memory map or a Dask array), shape (m,). O(n m p)."""
        sample = self.sample
        return weighted_sums(sample.similarity, sample.rows, sample.target * sample.labels, X, memory=sample.rows.memory)

    def predict(self, X: Any) -> Array:
        """The sign of f at the rows of X: ±1, and 0 where f is exactly 0."""
        return np.sign(self.decision(X))


def mean_function(
    points: Any,
    labels: npt.ArrayLike,
    similarity: str | SimilarityRule | Similarity = DEFAULT_OF_RECIPES,
    *,
    target: npt.ArrayLike | None = None,
    memory: float = MEMORY,
) -> MeanFunction:
    """The mean classifier of labelled points, also of a memory map or a Dask array; `WeightedSample.of` says what is refused."""
    return MeanFunction(WeightedSample.of(points, labels, similarity, target, memory=memory))
