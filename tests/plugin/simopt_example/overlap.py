"""A similarity of one's own: what two bags of words have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simopt.core.arrays import Array
from simopt.data.similarities import Similarity, add_similarity


@dataclass(frozen=True)
class Overlap(Similarity):
    """K(x, y) = s/(1 + s) of the sum s = Σ_j min(|x_j|, |y_j|)."""

    kind: ClassVar[str] = "overlap"
    psd: ClassVar[bool] = False
    bound: ClassVar[float] = 1.0

    def values(self, X: Array, Y: Array) -> Array:
        """All pairs."""
        common = np.minimum(np.abs(X)[:, None, :], np.abs(Y)[None, :, :]).sum(axis=2)
        return common / (1.0 + common)


add_similarity("overlap", lambda X, weights: Overlap())
