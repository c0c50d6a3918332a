r"""The stable order of many floats, from where they lie between the least and the greatest.

Cut [min z, max z] into 4^b equal intervals, about 16 times as many as there are numbers. The number of the interval that z_i is in does not
fall with z_i. Two stable passes, one over its lower b bits and one over its upper, bring the intervals into their order. An insertion sort
then orders the numbers within an interval. If it takes long, because numbers are crowded into a small part of the range, NumPy's merge sort
is called, which compares and takes six times as long.
Source: Knuth 1998, The Art of Computer Programming 3, §5.2.5 (radix) and §5.2.1 (insertion).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.compiled import kernel

FEW = 256  # numbers, below which NumPy is as fast
SPARE_BITS, MOST_BITS = 4, 13  # intervals are 2^SPARE_BITS times as many as numbers; their counts stay in the cache
MOVES = 4  # moves of the insertion sort for each number, beyond which it is given up; spread numbers take a tenth of one


@kernel
def _radix_sort(z: Any, low: Any, scale: Any, bits: Any, counts: Any, some: Any, at: Any, out: Any, order: Any) -> Any:
    """Sort z into `out` and its indices into `order`, by way of `some` and `at`; False if it gives up. `counts` is zeroed, (2, 2^b)."""
    m, last = z.size, (1 << (2 * bits)) - 1
    mask = (1 << bits) - 1
    for i in range(m):
        cell = min(np.int64((z[i] - low) * scale), last)
        counts[0, cell & mask] += 1
        counts[1, cell >> bits] += 1
    first, second = 0, 0
    for j in range(mask + 1):
        counts[0, j], first = first, first + counts[0, j]
        counts[1, j], second = second, second + counts[1, j]
    for i in range(m):
        digit = min(np.int64((z[i] - low) * scale), last) & mask
        k = counts[0, digit]
        counts[0, digit] = k + 1
        some[k], at[k] = z[i], i
    for i in range(m):
        digit = min(np.int64((some[i] - low) * scale), last) >> bits
        k = counts[1, digit]
        counts[1, digit] = k + 1
        out[k], order[k] = some[i], at[i]
    left = MOVES * m
    for i in range(1, m):
        value = out[i]
        if value < out[i - 1]:
            place, j = order[i], i
            while j > 0 and out[j - 1] > value:
                out[j], order[j] = out[j - 1], order[j - 1]
                j -= 1
            out[j], order[j] = value, place
            left -= i - j
            if left < 0:
                return False
    return True


def ordered(z: Array, spare: tuple[Array, NDArray[np.intp]] | None = None) -> tuple[NDArray[np.intp], Array]:
    """The order that `np.argsort(z, kind="stable")` gives, of numbers that need not be finite, and z in it. O(m) for spread numbers.

    >>> ordered(np.array([3.0, 1.0, 2.0, 1.0]))
    (array([1, 3, 2, 0]), array([1., 1., 2., 3.]))

    Parameters
    ----------
    z : (m,) array
    spare : pair of (m,) arrays, optional
        of floats and of indices, to be written on: a caller that sorts many times spares the machine fresh pages.
    """
    m = z.size
    if m >= FEW:
        z = np.ascontiguousarray(z)
        low = float(z.min())
        bits = min((m.bit_length() + SPARE_BITS + 1) // 2, MOST_BITS)
        with np.errstate(all="ignore"):
            scale = np.float64((1 << (2 * bits)) - 1) / (z.max() - low)
        if 0.0 < scale < math.inf:  # else all are equal, or some are not finite, or nearly not
            some, at = spare if spare is not None else (np.empty(m), np.empty(m, dtype=np.intp))
            out, order = np.empty(m), np.empty(m, dtype=np.intp)
            if _radix_sort(z, low, scale, bits, np.zeros((2, 1 << bits), dtype=np.int64), some, at, out, order):
                return order, out
    order = np.argsort(z, kind="stable")
    return order, z[order]
