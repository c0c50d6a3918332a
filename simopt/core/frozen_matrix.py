"""Matrices whose memory nobody can write on, and products with them that are remembered."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from simopt.core.arrays import Array

SMALL = 100  # rows below which a product takes no longer than the search for it
REMEMBERED = 16  # products with a matrix: the formulas of an evaluation need few different ones, each several times
LARGE = 512  # rows of a symmetric matrix from which on half of it is read for a product: below it lies in the cache


class FrozenMatrix:
    """The `base` of a read-only array, which is the one view of its memory.

    NumPy finds no way to write on it: the array is read-only, and its base offers no buffer. So what is computed of the matrix once stays
    true: products with it are remembered, and whether it has an entry below 0.

    Parameters
    ----------
    array : array
        the memory. It is made read-only.
    immutable : bool
        whether nobody else holds the memory, or another way to write on it.
    """

    symmetric = False  # of a subclass: whether its matrices are, to the last bit

    def __init__(self, array: Array, *, immutable: bool) -> None:
        array.setflags(write=False)
        self._memory, self.immutable = array, immutable
        self.__array_interface__ = array.__array_interface__  # by which numpy makes the array
        self._products: tuple[tuple[bytes, Array], ...] = ()

    def product(self, x: Array) -> Array:
        """K x for a matrix K, whose entries are finite. For x = 0, or one of the last few, it only compares x."""
        if not self.immutable or len(self._memory) < SMALL:
            return self._matvec(x)
        if not x.any():
            return np.zeros(len(self._memory))
        key = x.tobytes()
        for known, image in self._products:
            if known == key:
                return image.copy()
        out = self._matvec(x)
        self._products = (*self._products[1 - REMEMBERED :], (key, out.copy()))  # one assignment: other threads see either
        return out

    def _matvec(self, x: Array) -> Array:
        """K x; also where half of K is read, an entry is a sum of n products."""
        K = self._memory
        if self.symmetric and len(K) >= LARGE and x.dtype == K.dtype and (K.flags.c_contiguous or K.flags.f_contiguous):
            from scipy.linalg.blas import dsymv

            half: Array = dsymv(1.0, K if K.flags.f_contiguous else K.T, x, lower=1)
            return half
        out: Array = K @ x
        return out

    @cached_property
    def nonnegative(self) -> bool:
        """Whether it is known that no entry is below 0: then |K| = K. O(n²), once."""
        return self.immutable and bool(self._memory.min(initial=0.0) >= 0.0)


def freeze_matrix(array: Array) -> Array:
    """The same array without a way to write on it. No copy: the caller must have made it, and keep no view of it."""
    return np.asarray(FrozenMatrix(array, immutable=True))


def matvec(matrix: Array, x: Array) -> Array:
    """A x; what the base of A remembers is not multiplied again."""
    base = base_of(matrix)
    if base is None or not (isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype == np.float64):
        out: Array = matrix @ x
        return out
    return base.product(x)


def base_of(array: object) -> FrozenMatrix | None:
    """The `FrozenMatrix` that a whole array is of; None for any other array."""
    base = getattr(array, "base", None)
    return base if isinstance(base, FrozenMatrix) else None
