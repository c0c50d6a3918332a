r"""Which points are landmarks, and the features in which their similarities are an inner product (Nyström).

    random      without replacement
    k-means++   far from one another in ℝᵖ: each next one with a chance that grows with the squared distance to those before
    greedy      each next one is the point that those before represent worst, by K(x, x) − k(x)ᵀ K_LL⁻¹ k(x) with k(x) = K(L, x):
                the pivots of a Cholesky factorisation, for a positive semidefinite K

Greedy choice reads the diagonal of K and one row a landmark, n d² flops in all. It ends early when nothing but rounding is left.

With the symmetric root K_LL^{-1/2} (of the pseudoinverse where K_LL is singular) the features K_LL^{-1/2} k(x) have the inner products
k(x)ᵀ K_LL⁺ k(x'), which are K(x, x') where x or x' is a landmark, and are below K on the diagonal elsewhere.

Source: Williams & Seeger 2001; Arthur & Vassilvitskii 2007; Fine & Scheinberg 2001 (pivots).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.norms.gram_factor import checked

SELECTIONS = ("random", "k-means++", "greedy")
EPSILON = float(np.finfo(np.float64).eps)
NEGATIVE = 1e-8  # of the largest K(x, x): a residual below −NEGATIVE times it is no rounding


def greedy(diagonal: Array, row: Callable[[int], Array], count: int) -> NDArray[np.intp]:
    """Places of at most `count` pivots among n points, in the order in which they were chosen; at least one.

    Parameters
    ----------
    diagonal : (n,) array
        K(x_i, x_i).
    row : function
        i ↦ K(x_i, x_j) for all j.

    Raises
    ------
    InvalidProblem
        when what is left of K(x, x) is negative beyond rounding: then K is not positive semidefinite.
    """
    left = np.array(diagonal, dtype=np.float64)
    largest = float(np.max(np.abs(left), initial=0.0))
    factor = np.empty((min(count, left.size), left.size))
    chosen: list[int] = []
    while len(chosen) < len(factor):
        worst = int(np.argmin(left))
        if left[worst] < -NEGATIVE * largest:
            raise InvalidProblem(
                f"similarity: not positive semidefinite, K(x, x) of training point {worst} less what {len(chosen)} others explain is "
                f"{left[worst]:.3g}; take selection='random' or 'k-means++'"
            )
        pivot = int(np.argmax(left))
        if chosen and left[pivot] <= left.size * EPSILON * largest:
            break
        chosen.append(pivot)
        if left[pivot] <= 0.0:  # K = 0
            break
        made = factor[: len(chosen) - 1]
        new = (np.asarray(row(pivot), dtype=np.float64) - made[:, pivot] @ made) / np.sqrt(left[pivot])
        factor[len(chosen) - 1] = new
        left -= np.square(new)
        left[chosen] = 0.0
    return np.array(chosen, dtype=np.intp)


def whitening(gram: Array) -> Array:
    """K_LL^{-1/2}, symmetric; 0 on eigenvectors whose eigenvalue is at most d ε times the largest.

    Raises
    ------
    InvalidProblem
        for landmarks whose similarities are not positive semidefinite (with the eigenvalue).
    """
    values, vectors = np.linalg.eigh(checked("similarity of the landmarks", gram))
    kept = values > values.size * EPSILON * max(float(values[-1]), 0.0)
    root: Array = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return root
