r"""Units of single-index models: points with ‖x‖ ≤ 1 and targets in [0, 1], as Kakade, Kalai, Kanade & Shamir 2011 ask for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Linear


class TargetRange(NamedTuple):
    """y ↔ (y − low)/(high − low)."""

    low: float
    high: float

    @classmethod
    def of(cls, y: Array, target_range: Any) -> TargetRange:
        """The range given; without one [0, 1] if it holds y, else from the least to the greatest y (one more where they are equal).

        Raises
        ------
        InvalidProblem
            for what is no pair low < high.
        """
        if target_range is None:
            least, greatest = float(y.min()), float(y.max())
            if least >= 0.0 and greatest <= 1.0:
                return cls(0.0, 1.0)
            return cls(least, greatest if greatest > least else least + 1.0)
        if np.shape(target_range) != (2,):
            raise InvalidProblem(f"target_range: {target_range!r} given, a pair (low, high) needed")
        low, high = (validate.finite("target_range", end) for end in target_range)
        if not low < high:
            raise InvalidProblem(f"target_range: ({low:g}, {high:g}) given; the first end must be below the second")
        return cls(low, high)

    def down(self, y: Array) -> Array:
        """To [0, 1]."""
        return (y - self.low) / (self.high - self.low)

    def up(self, fractions: Array) -> Array:
        """From [0, 1]."""
        return self.low + (self.high - self.low) * fractions


def is_linear(similarity: Any) -> bool:
    """Whether the similarity is ⟨x, x'⟩, for which w itself is at hand and n × n similarities are not needed."""
    return similarity == "linear" if isinstance(similarity, str) else isinstance(similarity, Linear)


def whitening(X: Array) -> Array:
    """W (p, r) with (1/n) Wᵀ XᵀX W = I for the rank r of X; one zero column where X = 0. O(n p²).

    In the coordinates Wᵀx a step of length 1 descends for every 1-Lipschitz transfer function, whatever the units of the columns and
    however far a point lies out. Directions that X does not have, to rounding, are left out.
    """
    unit = largest_length(X)
    _, lengths, directions = np.linalg.svd(X / unit, full_matrices=False)
    kept = lengths > max(X.shape) * np.finfo(np.float64).eps * lengths[0]
    if not np.any(kept):
        return np.zeros((X.shape[1], 1))
    out: Array = directions[kept].T / (lengths[kept] / np.sqrt(len(X)) * unit)
    return out


def largest_eigenvalue(K: Array) -> float:
    """λ_max of a positive semidefinite K."""
    from scipy.linalg import eigh

    n = len(K)
    return max(float(eigh(K, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0]), 0.0)


def largest_length(X: Array) -> float:
    """max ‖x_i‖ of the rows of X; 1 where all are 0. The squares are formed in units of the largest |x_ij|, so that they neither
    overflow nor vanish.
    """
    unit = float(max(np.max(X), -np.min(X)))
    if unit == 0.0:
        return 1.0
    scaled = X / unit
    return unit * float(np.sqrt(np.max(np.einsum("ij,ij->i", scaled, scaled))))
