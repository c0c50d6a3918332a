r"""Which hinges a sample has against which thresholds, and the sums over them that a dual needs.

Explicit constraints (EXC) give a sample of label k one hinge against each threshold next to its class,
    below (k ≥ 2):  [b_{k−1} + γ − f_i]_+,        above (k ≤ r − 1):  [f_i − b_k + γ]_+.
Implicit ones (IMC) give one hinge against every threshold,
    below (j < k):  [b_j + γ − f_i]_+,            above (j ≥ k):      [f_i − b_j + γ]_+.
Hinges are ordered by sample and then by threshold; thresholds are counted from 0 here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from simopt.arithmetic import Arithmetic, Value
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class HingeSide:
    """The hinges above, or those below: sample `rows[m]` against threshold `ends[m]`.

    Attributes
    ----------
    rows, ends : (m,) arrays of indices
        lexicographically increasing pairs.
    samples, count : int
        n, and the number of thresholds r − 1.
    """

    rows: Indices
    ends: Indices
    samples: int
    count: int

    @cached_property
    def _groups(self) -> list[Indices]:
        """Hinges of each threshold."""
        order = np.argsort(self.ends, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.ends, minlength=self.count))[:-1])

    @cached_property
    def _ranks(self) -> list[Indices]:
        """The k-th hinge of each sample, k = 0, 1, …; m (none) where it has fewer."""
        m = self.rows.size
        starts = np.searchsorted(self.rows, np.arange(self.samples))
        per_sample = np.bincount(self.rows, minlength=self.samples)
        return [np.where(k < per_sample, starts + k, m) for k in range(int(per_sample.max(initial=0)))]

    def by_threshold(self, num: Arithmetic, values: Value) -> Value:
        """Sums of one value a hinge over the hinges of each threshold, (count,)."""
        return num.concat([num.sum(values[group]) for group in self._groups])

    def by_sample(self, num: Arithmetic, values: Value) -> Value:
        """Sums of one value a hinge over the hinges of each sample, (n,)."""
        padded = num.concat([values, num.zeros(1)]) if self.rows.size else num.zeros(1)
        total = num.zeros(self.samples)
        for rank in self._ranks:
            total = total + padded[rank]
        return total

    def table(self, values: Array) -> Array:
        """Values in a table (n, count), NaN where a sample has no such hinge."""
        out = np.full((self.samples, self.count), np.nan)
        out[self.rows, self.ends] = values
        return out

    def from_table(self, table: Array) -> Array:
        """The entries of a table (n, count), one a hinge."""
        out: Array = table[self.rows, self.ends]
        return out


def explicit(labels: Array, classes: int) -> tuple[HingeSide, HingeSide]:
    """Hinges above and below of EXC."""
    y, n, count = labels.astype(np.intp), len(labels), classes - 1
    high, low = np.flatnonzero(y <= count), np.flatnonzero(y >= 2)
    return HingeSide(high, y[high] - 1, n, count), HingeSide(low, y[low] - 2, n, count)


def implicit(labels: Array, classes: int) -> tuple[HingeSide, HingeSide]:
    """Hinges above and below of IMC."""
    is_above = np.arange(1, classes)[None, :] >= labels[:, None]
    n, count = is_above.shape
    high_rows, high_ends = np.nonzero(is_above)
    low_rows, low_ends = np.nonzero(~is_above)
    return HingeSide(high_rows, high_ends, n, count), HingeSide(low_rows, low_ends, n, count)


def check_labels(labels: Array, classes: int) -> None:
    """Whole numbers 1 … r. Classes may be empty, and one alone is a problem that constants solve: neither is an error here."""
    broken = labels != np.round(labels)
    if np.any(broken):
        first = int(np.argmax(broken))
        raise InvalidProblem(
            f"labels: {int(broken.sum())} of {labels.size} are not whole numbers (first at index {first}: {labels[first]:g}); "
            f"number the classes 1, …, {classes}"
        )
    outside = (labels < 1) | (labels > classes)
    if np.any(outside):
        first = int(np.argmax(outside))
        low, high = int(labels.min()), int(labels.max())
        remedy = f"set classes to {high} or more" if low >= 1 else f"add {1 - low} to them, and set classes to {high - low + 1} or more"
        raise InvalidProblem(
            f"labels: {int(outside.sum())} of {labels.size} are outside of 1, …, {classes} "
            f"(first at index {first}: {labels[first]:g}); {remedy}"
        )


def _indicator(rows: Indices, size: int) -> scipy.sparse.csr_array:
    m = rows.size
    return scipy.sparse.csr_array((np.ones(m), (rows, np.arange(m))), shape=(size, m))
