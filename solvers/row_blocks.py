"""The rows of a feature matrix in blocks that fit into the cache, whether it is an array, a memory map or a Dask array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simopt.arrays import Array
from simopt.solvers.two_hinges import Indices

CACHE = 1 << 16  # numbers in a block: half a megabyte, so that it stays in a core's own cache while it is used


class RowBlocks:
    """Blocks of consecutive rows of an (n, d) array, as views."""

    def __init__(self, features: Any) -> None:
        self.features = features
        self.shape: tuple[int, int] = features.shape
        n, d = self.shape
        self.step = max(1, min(n, max(CACHE // d, 64)))
        self._parts = [slice(start, min(start + self.step, n)) for start in range(0, n, self.step)]

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        for part in self._parts:
            yield part, self.features[part]

    def take(self, rows: Indices | slice) -> Array:
        """Copies of some of the rows."""
        return np.ascontiguousarray(self.features[rows])
