r"""Which points are landmarks, and the features in which their similarities are an inner product (Nyström).

    random      without replacement
    k-means++   far from one another in ℝᵖ: each next one with a chance that grows with the squared distance to those before
    greedy      each next one is the point that those before represent worst, by K(x, x) − k(x)ᵀ K_LL⁻¹ k(x) with k(x) = K(L, x):
                the pivots of a Cholesky factorisation, for a positive semidefinite K

Greedy choice reads the diagonal of K and one row a landmark, n d² flops in all. It ends early when nothing but rounding is left.
An object of a subclass of `LandmarkSelection` may be given in place of a name (docs/extending.md).

With the symmetric root K_LL^{-1/2} (of the pseudoinverse where K_LL is singular) the features K_LL^{-1/2} k(x) have the inner products
k(x)ᵀ K_LL⁺ k(x'). These are K(x, x') where x or x' is a landmark, and are below K on the diagonal elsewhere.

Source: Williams & Seeger 2001; Arthur & Vassilvitskii 2007; Fine & Scheinberg 2001 (pivots).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.norms.gram_factor import checked

EPSILON = float(np.finfo(np.float64).eps)
NEGATIVE = 1e-8  # of the largest K(x, x): a residual below −NEGATIVE times it is no rounding


@dataclass(frozen=True)
class Candidates:
    """The n points among which landmarks are chosen, by their similarity K.

    Attributes
    ----------
    points : (n, p) array, sparse matrix or None
        None where only similarities are known.
    weights : (n,) array or None
        of the points, ≥ 0; None where all weigh the same.
    diagonal : function
        () ↦ K(x_i, x_i) of all points, shape (n,).
    row : function
        i ↦ K(x_i, x_j) for all j, shape (n,).
    """

    n: int
    points: Any
    weights: Array | None
    diagonal: Callable[[], Array]
    row: Callable[[int], Array]


class LandmarkSelection(ABC):
    """Which points are landmarks.

    Attributes
    ----------
    needs_points : bool
        whether similarities alone are not enough.
    needs_psd : bool
        whether K must be positive semidefinite.
    """

    needs_points: ClassVar[bool] = False
    needs_psd: ClassVar[bool] = False

    @abstractmethod
    def select(self, candidates: Candidates, count: int, seed: int) -> NDArray[np.intp]:
        """Indices of at least one and at most `count` ≤ n points, each once, in any order; the same ones for the same seed."""


class KMeansPlusPlus(LandmarkSelection):
    """Far from one another in ℝᵖ."""

    needs_points = True

    def select(self, candidates: Candidates, count: int, seed: int) -> NDArray[np.intp]:
        """By scikit-learn's `kmeans_plusplus`."""
        from sklearn.cluster import kmeans_plusplus

        _, chosen = kmeans_plusplus(candidates.points, count, sample_weight=candidates.weights, random_state=seed)
        out: NDArray[np.intp] = chosen
        return out


class Greedy(LandmarkSelection):
    """The pivots of a Cholesky factorisation."""

    needs_psd = True

    def select(self, candidates: Candidates, count: int, seed: int) -> NDArray[np.intp]:
        """Nothing is drawn: the seed does not matter."""
        return greedy(candidates.diagonal(), candidates.row, count)


# None: the draw without replacement that every landmark map has
SELECTIONS: dict[str, LandmarkSelection | None] = {"random": None, "k-means++": KMeansPlusPlus(), "greedy": Greedy()}


def selection_rule(name: str, selection: str | LandmarkSelection) -> LandmarkSelection | None:
    """The rule, or the one of that name.

    Raises
    ------
    InvalidProblem
        for what is neither, with the names.
    """
    return selection if isinstance(selection, LandmarkSelection) else SELECTIONS[validate.choice(name, selection, list(SELECTIONS))]


def checked_indices(chosen: Any, n: int, count: int) -> NDArray[np.intp]:
    """The indices that a rule has chosen, in increasing order.

    Raises
    ------
    InvalidProblem
        for what are not between 1 and `count` distinct indices of n points.
    """
    out = np.asarray(chosen)
    if out.ndim != 1 or out.dtype.kind not in "iu" or not 1 <= out.size <= count or np.any((out < 0) | (out >= n)):
        raise InvalidProblem(f"selection: {validate.shown(chosen)} chosen; 1 to {count} indices from 0 to {n - 1} needed, in one dimension")
    if np.unique(out).size < out.size:
        raise InvalidProblem(f"selection: {validate.shown(chosen)} chosen; each index may be there once")
    return np.sort(out).astype(np.intp)


def greedy(diagonal: Array, row: Callable[[int], Array], count: int) -> NDArray[np.intp]:
    """Indices of at most `count` pivots among n points, in the order in which they were chosen; at least one.

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
