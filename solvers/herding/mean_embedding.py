r"""The mean ω = Σ p_i y_i φ(x_i) of labelled feature vectors, without an n × n matrix: its values at the points and its norm.

All n² similarities are looked at once, in tiles, and none is kept. With A±_i = Σ_{y_j = ±1} p_j K(x_i, x_j),

    ⟨ω, ψ_i⟩ = y_i (A⁺_i − A⁻_i),   ψ_i = y_i φ(x_i),      ‖ω‖² = Σ p_i ⟨ω, ψ_i⟩.

Rows are sorted by class, so that A⁺ and A⁻ cost no more than their difference; A⁺ + A⁻ then says what relative errors of the similarities
can amount to. For Gaussian similarities a tile is one matrix product and one pass (`gaussian_tiles`), in float32 or float64; any other
similarity is asked for its own values. Bounds on all rounding errors are part of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.threads import in_order
from simopt.data.rows import MEMORY, Indices
from simopt.data.similarities import Similarity, SimilarityRule
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.solvers.herding.gaussian_tiles import LOWEST, POWER, SUMS, UNIT, Coordinates, Fast, Tiles
from simopt.solvers.herding.sample import EPS, WeightedSample

PRECISIONS = ("float32", "float64", "direct")
VALUES = 512  # rows and columns of a tile of values that the similarity itself computes


@dataclass(frozen=True, eq=False)
class MeanEmbedding:
    """The inner products of ω = Σ p_i ψ_i that herding needs.

    Attributes
    ----------
    values : (n,) array
        ⟨ω, ψ_i⟩.
    square : float
        ‖ω‖².
    value_errors : (n,) array
        bounds on what rounding did to `values`.
    square_error : float
        the same for `square`.
    lengths : (n,) array
        ‖ψ_i‖ = √K(x_i, x_i).
    precision : str
        "float32", "float64" or "direct".
    """

    values: Array
    square: float
    value_errors: Array
    square_error: float
    lengths: Array
    precision: str

    @property
    def vanishes(self) -> bool:
        """Whether ω = 0 cannot be excluded: ‖ω‖² is no larger than its rounding error."""
        return self.square <= self.square_error


def mean_embedding(
    points: Any,
    labels: npt.ArrayLike | None,
    similarity: str | SimilarityRule | Similarity = DEFAULT_OF_RECIPES,
    *,
    target: npt.ArrayLike | None = None,
    precision: str = "float64",
    memory: float = MEMORY,
) -> MeanEmbedding:
    """⟨ω, ψ_i⟩ for all points and ‖ω‖², ω = Σ p_i y_i φ(x_i), with bounds on their rounding errors.

    n²/2 similarities, O(n² p) time, a few vectors of n numbers and about `memory` bytes (and two copies of points that are in memory).

    Parameters
    ----------
    points : (n, p) array, memory map or Dask array
    labels : (n,) array or None
        y_i = ±1; None: all +1.
    similarity : str, SimilarityRule or Similarity
        positive semidefinite.
    target : (n,) array, optional
        p; 1/n each by default.
    precision : str
        "float32" or "float64" for fast tiles of a Gaussian similarity, "direct" for the similarity's own values. If fast tiles would lose
        too many digits (points that lie far apart in units of the bandwidth), and for other similarities, it is "direct".

    Raises
    ------
    InvalidProblem
        see `WeightedSample.of`.
    """
    sample = WeightedSample.of(points, labels, similarity, target, memory=memory)
    return embed(sample, Fast.of(sample.similarity, sample.rows, validate.choice("precision", precision, PRECISIONS)))


def embed(sample: WeightedSample, fast: Fast | None) -> MeanEmbedding:
    """`mean_embedding` of data that have been checked, by fast tiles or (None) by the similarity's own values."""
    lengths, p = sample.lengths(), sample.target
    source: _BlockSource = _Values(sample.similarity) if fast is None else _GaussianTiles(fast)
    unit = float(np.max(p))
    below, above, spread = _class_sums(sample, p / unit, source) * unit  # weights of order 1 whatever n is, for float32
    values = sample.labels * (above - below)
    chain = (source.size + sample.n / 16.0 + 8.0) * EPS  # float64 additions behind one value
    if fast is None:
        magnitudes = lengths * float(p @ lengths)
        errors = 1.01 * (sample.value_error + chain) * magnitudes
    else:
        magnitudes = below + above
        rest = (POWER + (SUMS if fast.precision == "float32" else 0.0)) * UNIT[fast.precision]
        errors = 1.01 * (fast.relative * spread + (rest + chain) * magnitudes) + 2.0 ** LOWEST[fast.precision]
    # np.sum adds pairwise: its error is below 64 units of the sum of the magnitudes for every n that fits into memory
    square_error = float(np.sum(p * errors)) * 1.01 + 64.0 * EPS * float(np.sum(p * magnitudes))
    return MeanEmbedding(values, float(np.sum(p * values)), errors, square_error, lengths, "direct" if fast is None else fast.precision)


class _BlockSource(Protocol):
    """Blocks of points in the form that its `add` takes; `add` sums similarities over rectangles, see `Tiles.add`."""

    size: int

    def order(self, sample: WeightedSample, start: int, stop: int) -> Indices:
        """start … stop − 1 sorted by class."""
        ...

    def prepare(self, sample: WeightedSample, start: int, order: Indices) -> Any:
        """The points x_i, i in `order`, all from `start` on."""
        ...

    def add(self, one: Any, two: Any, rows: Array, columns: Array, along: Array, down: Array | None) -> None:
        """along[0]_i += Σ_j K(u_i, u'_j) columns_j and, unless None, down[0]_j += Σ_i rows_i K(u_i, u'_j)."""
        ...


class _Values:
    """The similarity's own values, tile by tile. They have no spread."""

    size = VALUES

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    def order(self, sample: WeightedSample, start: int, stop: int) -> Indices:
        return start + np.argsort(sample.labels[start:stop], kind="stable")

    def prepare(self, sample: WeightedSample, start: int, order: Indices) -> Array:
        return sample.rows.block(start, start + len(order))[order - start]

    def add(self, one: Array, two: Array, rows: Array, columns: Array, along: Array, down: Array | None) -> None:
        for a in (slice(i, i + self.size) for i in range(0, len(one), self.size)):
            for b in (slice(j, j + self.size) for j in range(0, len(two), self.size)):
                tile = self._similarity.values(one[a], two[b])
                along[0, a] += tile @ columns[b]
                if down is not None:
                    down[0, b] += rows[a] @ tile


class _GaussianTiles(Tiles):
    """Gaussian tiles in one precision. Points of a class are sorted by their lengths, so that a tile has one length, nearly."""

    def __init__(self, fast: Fast) -> None:
        super().__init__(fast.precision)
        self._fast = fast

    def order(self, sample: WeightedSample, start: int, stop: int) -> Indices:
        return start + np.lexsort((self._fast.lengths[start:stop], sample.labels[start:stop]))

    def prepare(self, sample: WeightedSample, start: int, order: Indices) -> Coordinates:
        return self._fast.coordinates(sample.rows, start, start + len(order)).permuted(order - start)


def _class_sums(sample: WeightedSample, p: Array, source: _BlockSource) -> Array:
    """A⁻, A⁺ and the spread as the rows of a (3, n) array."""
    step = sample.rows.step
    sums = np.zeros((2, 2, sample.n))  # by class: the sum, and its spread
    for start in range(0, sample.n, step):
        one = _SampleBlock(sample, p, source, start, min(start + step, sample.n))
        _triangle(source, one)
        for other in range(start + step, sample.n, step):
            two = _SampleBlock(sample, p, source, other, min(other + step, sample.n))
            for left in one.segments:
                for right in two.segments:
                    _rectangle(source, one, left, two, right)
            sums[:, :, two.order] += two.sums
        sums[:, :, one.order] += one.sums
    return np.array([sums[0, 0], sums[1, 0], sums[0, 1] + sums[1, 1]])


class _SampleBlock:
    """Consecutive rows of the sample, sorted by class, with their weights and their sums so far."""

    def __init__(self, sample: WeightedSample, p: Array, source: _BlockSource, start: int, stop: int) -> None:
        self.order = source.order(sample, start, stop)
        self.points = source.prepare(sample, start, self.order)
        self.weights = p[self.order]
        self.sums = np.zeros((2, 2, stop - start))
        middle = int(np.searchsorted(sample.labels[self.order], 0.0))
        parts = ((0, slice(0, middle)), (1, slice(middle, stop - start)))
        self.segments = [(label, part) for label, part in parts if part.stop > part.start]


def _triangle(source: _BlockSource, block: _SampleBlock) -> None:
    """All pairs inside one block, each once: squares on the diagonal, and rectangles of one class by one class to their right.

    A strip of them, a square and what lies to its right, has sums of its own, so that several strips may be worked on at once.
    """
    strips = (
        (index, slice(start, min(start + source.size, segment.stop)))
        for index, (_, segment) in enumerate(block.segments)
        for start in range(segment.start, segment.stop, source.size)
    )

    def strip(item: tuple[int, slice]) -> tuple[slice, int, Array, Array]:
        index, own = item
        label, segment = block.segments[index]
        points, weights = block.points[own], block.weights[own]
        along, down = np.zeros((2, 2, own.stop - own.start)), np.zeros((2, len(block.weights) - own.stop))
        source.add(points, points, weights, weights, along[label], None)
        for other, right in ((label, slice(own.stop, segment.stop)), *block.segments[index + 1 :]):
            if right.stop > right.start:
                below = down[:, right.start - own.stop : right.stop - own.stop]
                source.add(points, block.points[right], weights, block.weights[right], along[other], below)
        return own, label, along, down

    for own, label, along, down in in_order(strip, strips):
        block.sums[:, :, own] += along
        block.sums[label][:, own.stop :] += down


def _rectangle(source: _BlockSource, one: _SampleBlock, left: tuple[int, slice], two: _SampleBlock, right: tuple[int, slice]) -> None:
    """Pairs of two segments of one class each, in both directions."""
    (own, i), (other, j) = left, right
    along, down = one.sums[other][:, i], two.sums[own][:, j]
    source.add(one.points[i], two.points[j], one.weights[i], two.weights[j], along, down)
