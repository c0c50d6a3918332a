r"""Gaussian similarities at the speed of a matrix product, with a bound on what rounding did to them.

With u = (x − centre) √(log₂ e / μ) the similarity is 2^t, t = −‖u − u'‖² = ⟨(2u, −‖u‖², 1), (u', 1, −‖u'‖²)⟩. One matrix product gives a
tile of exponents. One pass over the tile, while it is in cache, turns them into powers and adds them up along rows and columns.

Error. In arithmetic of unit v (2^-24 or 2^-53) a sum of m products is wrong by at most (m v)(‖u‖ + ‖u'‖)². Rounding the points, their
scale and their squares costs less than another c v (‖u‖ + ‖u'‖)², c = 10 (4 in float32). So |δt| ≤ (m + c) v (‖u‖ + ‖u'‖)², and the
power is wrong by the factor 1 ± (log 2 |δt| + POWER v). Long products are cut into pieces of PIECE terms in float32, so that m is PIECE
and the number of pieces. Powers below 2^LOWEST are given as 2^LOWEST.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.core.threads import in_order
from simopt.data.rows import Indices, Rows
from simopt.data.similarities import Gaussian, Similarity

Floats = npt.NDArray[np.floating[Any]]
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
TILE = {
    "float32": 448,
    "float64": 384,
}  # rows and columns of a tile: it stays in the second-level cache; of a power of two rows collide there
PIECE = 64
CHUNK = 1 << 21  # numbers of points that are transformed at one time
GROUP = 16  # rows whose float32 column sums are added before they go into float64
POWER = 8.0  # units that the power of two is wrong by, from the polynomial and its rounding
SUMS = GROUP + 4.0  # units that float32 sums over a group are wrong by, with their products and weights
LOWEST = {"float32": -125.0, "float64": -1020.0}
USELESS = 1e-2  # relative error of a similarity from which on fast tiles are not used; below, second-order terms are 1 % of it


@kernel(any_order=True)
def powers_and_sums32(
    tile: Floats, rows: Floats, columns: Floats, lengths: Array, others: Array, along: Array, down: Array, part: Floats
) -> None:
    """tile ← 2^tile in place, and its sums: along[0] += tile·columns, down[0] += rowsᵀ·tile; [1]: times (‖u‖ + max ‖u'‖)².

    Along rows four terms are added in float32 and the rest in float64, down columns GROUP terms in float32. `part` is workspace, as long as
    a row. The polynomial has the smallest relative error on [−½, ½] of those of degree 5 with value 1 at 0: 1.6 units,
    and 1.9 with its coefficients rounded to float32.
    """
    one = np.float32(1.0)
    sums = np.zeros(tile.shape[1])
    quarter = tile.shape[1] // 4
    longest = np.max(others)
    for first in range(0, tile.shape[0], 16):
        for j in range(tile.shape[1]):
            part[j] = np.float32(0.0)
        for i in range(first, min(tile.shape[0], first + 16)):
            weight = rows[i]
            for j in range(tile.shape[1]):
                x = max(tile[i, j], np.float32(-125.0))
                whole = np.floor(x + np.float32(0.5))
                r = x - whole
                p = np.float32(0.00967151) + r * np.float32(0.00132647)
                p = one + r * (np.float32(0.69314698) + r * (np.float32(0.24022242) + r * (np.float32(0.05550734) + r * p)))
                power = p * np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
                tile[i, j] = power
                part[j] += weight * power
            total = 0.0
            for j in range(quarter):  # four at a time in float32, since every change to float64 costs as much as several sums
                a, b, c = j + quarter, j + 2 * quarter, j + 3 * quarter
                total += np.float64(columns[j] * tile[i, j] + columns[a] * tile[i, a] + columns[b] * tile[i, b] + columns[c] * tile[i, c])
            for j in range(4 * quarter, tile.shape[1]):
                total += np.float64(columns[j] * tile[i, j])
            along[0, i] += total
            along[1, i] += total * (lengths[i] + longest) ** 2
        for j in range(tile.shape[1]):
            sums[j] += np.float64(part[j])
    longest = np.max(lengths)
    for j in range(tile.shape[1]):
        down[0, j] += sums[j]
        down[1, j] += sums[j] * (others[j] + longest) ** 2


@kernel(any_order=True)
def powers_and_sums64(
    tile: Floats, rows: Floats, columns: Floats, lengths: Array, others: Array, along: Array, down: Array, part: Floats
) -> None:
    """The same sums in float64; the tile stays as it is, and `part` is not used."""
    sums = np.zeros(tile.shape[1])
    longest = np.max(others)
    for i in range(tile.shape[0]):
        total = 0.0
        weight = rows[i]
        for j in range(tile.shape[1]):
            x = max(tile[i, j], -1020.0)
            whole = np.floor(x + 0.5)
            r = (x - whole) * 0.6931471805599453
            p = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600))))
            p = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * p)))))))
            value = p * np.int64(np.int64(np.int32(whole) + np.int32(1023)) << np.int64(52)).view(np.float64)
            total += columns[j] * value
            sums[j] += weight * value
        along[0, i] += total
        along[1, i] += total * (lengths[i] + longest) ** 2
    longest = np.max(lengths)
    for j in range(tile.shape[1]):
        down[0, j] += sums[j]
        down[1, j] += sums[j] * (others[j] + longest) ** 2


@kernel(any_order=True)
def signed_powers32(exponents: Floats, signs: Floats, sign: float) -> None:
    """exponents ← sign · signs · 2^exponents, one column of the signed Gram matrix."""
    one = np.float32(1.0)
    for i in range(exponents.size):
        x = max(exponents[i], np.float32(-125.0))
        whole = np.floor(x + np.float32(0.5))
        r = (x - whole) * np.float32(0.6931471805599453)
        p = np.float32(1 / 120) + r * np.float32(1 / 720)
        p = one + r * (one + r * (np.float32(1 / 2) + r * (np.float32(1 / 6) + r * (np.float32(1 / 24) + r * p))))
        power = p * np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
        exponents[i] = np.float32(sign) * signs[i] * power


@kernel(any_order=True)
def signed_powers64(exponents: Floats, signs: Floats, sign: float) -> None:
    """The same in float64."""
    for i in range(exponents.size):
        x = max(exponents[i], -1020.0)
        whole = np.floor(x + 0.5)
        r = (x - whole) * 0.6931471805599453
        p = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600))))
        p = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * p)))))))
        power = p * np.int64(np.int64(np.int32(whole) + np.int32(1023)) << np.int64(52)).view(np.float64)
        exponents[i] = sign * signs[i] * power


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Points as the columns (u, 1, −‖u‖²) of tiles, and ‖u‖."""

    columns: Floats
    lengths: Array

    def rows(self, part: slice) -> Floats:
        """The rows (2u, −‖u‖², 1) of tiles for some of the points."""
        chosen = self.columns[:, part]
        out = np.empty(chosen.shape[::-1], dtype=chosen.dtype)
        np.multiply(chosen[:-2].T, 2, out=out[:, :-2])
        out[:, -2], out[:, -1] = chosen[-1], 1
        return out

    def row(self, j: int) -> Floats:
        """`rows` of one point."""
        out = np.empty(len(self.columns), dtype=self.columns.dtype)
        np.multiply(self.columns[:-2, j], 2, out=out[:-2])
        out[-2], out[-1] = self.columns[-1, j], 1
        return out

    def __getitem__(self, part: slice) -> Coordinates:
        return Coordinates(self.columns[:, part], self.lengths[part])

    def permuted(self, order: Indices) -> Coordinates:
        """A copy in another order, each point's numbers side by side: a tile's share is one piece of memory then, the product faster."""
        return Coordinates(np.ascontiguousarray(self.columns.T[order]).T, self.lengths[order])


@dataclass(frozen=True, eq=False)
class Fast:
    """The points of one sample in the form in which fast tiles take them.

    Attributes
    ----------
    centre, scale : array of p numbers, float
        u = (x − centre)·scale.
    precision : str
        "float32" or "float64".
    lengths, radius : (n,) array, float
        ‖u_i‖ and the largest of them.
    relative : float
        c with |K̂ − K| ≤ (c (‖u‖ + ‖u'‖)² + POWER v) K.
    coordinates_of_all : Coordinates or None
        of all points, if these are in memory anyway or the coordinates fit into half of it.
    """

    centre: Array
    scale: float
    precision: str
    lengths: Array
    radius: float
    relative: float
    coordinates_of_all: Coordinates | None

    @classmethod
    def of(cls, similarity: Similarity, rows: Rows, precision: str) -> Fast | None:
        """Fast tiles for these points; None where they do not apply or would lose too many digits."""
        if precision == "direct" or not isinstance(similarity, Gaussian):
            return None
        # any centre is right; a central one keeps the numbers, and so their rounding, small
        centre = rows.take(np.linspace(0, rows.n - 1, min(rows.n, 4096)).astype(np.intp)).mean(axis=0)
        scale = math.sqrt(math.log2(math.e) / similarity.mu)
        width = rows.width + 2.0
        terms = width if precision == "float64" or width <= PIECE else PIECE + width / PIECE + 1.0
        points = 10.0 if precision == "float64" else 4.0  # in float32 the error of centre and scale does not count
        relative = math.log(2.0) * (terms + points) * UNIT[precision] * 1.01
        lengths = np.empty(rows.n)
        keep = rows.resident or width * rows.n * np.dtype(precision).itemsize <= rows.memory / 2
        columns = np.empty((rows.width + 2, rows.n if keep else 0), dtype=precision)
        for start, block in rows.blocks(max(1, min(rows.step, CHUNK // rows.width))):
            found = _factors(block, centre, scale, precision)
            lengths[start : start + len(block)] = found.lengths
            if keep:
                columns[:, start : start + len(block)] = found.columns
        coordinates_of_all = Coordinates(columns, lengths) if keep else None
        radius = float(np.max(lengths))
        useful = math.isfinite(radius) and relative * (2.0 * radius) ** 2 <= USELESS
        return cls(centre, scale, precision, lengths, radius, relative, coordinates_of_all) if useful else None

    def coordinates(self, rows: Rows, start: int, stop: int) -> Coordinates:
        """Those of the rows start … stop − 1."""
        if self.coordinates_of_all is not None:
            return self.coordinates_of_all[start:stop]
        return _factors(rows.block(start, stop), self.centre, self.scale, self.precision)

    def coordinates_at(self, points: Array) -> Coordinates:
        """Those of other points (b, p)."""
        return _factors(points, self.centre, self.scale, self.precision)


def _factors(points: Array, centre: Array, scale: float, precision: str) -> Coordinates:
    with np.errstate(over="ignore", invalid="ignore"):
        u = ((points - centre) * scale).astype(precision)
        squares = np.einsum("ij,ij->i", u, u, dtype=np.float64)
        rows = np.empty((len(u), u.shape[1] + 2), dtype=precision)
        rows[:, :-2], rows[:, -2], rows[:, -1] = u, 1, -squares
    return Coordinates(rows.T, np.sqrt(np.where(np.isnan(squares), np.inf, squares)))


class Tiles:
    """Sums over tiles of one precision, in buffers of each thread that are used again."""

    def __init__(self, precision: str) -> None:
        self.size = TILE[precision]
        self._type = np.dtype(precision)
        self._own = threading.local()

    @property
    def _buffers(self) -> tuple[Floats, Floats]:
        """Buffers for a tile and for a row of it."""
        made: tuple[Floats, Floats] | None = getattr(self._own, "buffers", None)
        if made is None:
            made = self._own.buffers = np.empty(self.size * self.size, dtype=self._type), np.empty(self.size, dtype=self._type)
        return made

    def add(self, one: Coordinates, two: Coordinates, rows: Array, columns: Array, along: Array, down: Array | None = None) -> None:
        """Sums of weighted similarities over a rectangle, tile by tile; the weights are rounded to the precision of the tiles.

        along[0]_i += Σ_j K(u_i, u'_j) columns_j and down[0]_j += Σ_i rows_i K(u_i, u'_j); along[1] and down[1] get the same sums with
        each term times a bound on (‖u_i‖ + ‖u'_j‖)², for the error. `down` None: only the first.
        """
        first, second = rows.astype(self._type), columns.astype(self._type)
        run = powers_and_sums32 if self._type == np.float32 else powers_and_sums64

        def strip(a: slice) -> Array:
            left, below, part = one.rows(a), np.zeros((2, len(columns))), self._buffers[1]
            for b in (slice(j, j + self.size) for j in range(0, len(columns), self.size)):
                tile = self._exponents(left, two.columns[:, b])
                run(tile, first[a], second[b], one.lengths[a], two.lengths[b], along[:, a], below[:, b], part)
            return below

        for below in in_order(strip, (slice(i, i + self.size) for i in range(0, len(rows), self.size))):
            if down is not None:
                down += below

    def _exponents(self, left: Floats, right: Floats) -> Floats:
        tile = self._buffers[0][: len(left) * right.shape[1]].reshape(len(left), right.shape[1])
        if self._type == np.float64 or left.shape[1] <= PIECE:
            return np.dot(left, right, out=tile)
        np.dot(left[:, :PIECE], right[:PIECE], out=tile)
        for start in range(PIECE, left.shape[1], PIECE):
            tile += left[:, start : start + PIECE] @ right[start : start + PIECE]
        return tile
