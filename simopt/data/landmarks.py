r"""The landmark map Ψ(x) = d^{-1/2} (K(x, l_1), …, K(x, l_d)): any similarity, symmetric or not, PSD or not, made into d features.

Features are computed in blocks of rows, so that n points with d landmarks take n d numbers only where a caller stores them. Memory maps and
Dask arrays are read a block at a time. Values that a similarity must not have are refused, naming the pair (i, j): point i, landmark j.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, NotFinite
from simopt.data.rows import Rows
from simopt.data.similarities import Similarity, SimilarityRule, named
from simopt.data.similarities.base import MEMORY, WORKING_COPIES, of_checked
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN

CHOSEN_BY = 5000  # points from which the parameters of a similarity given by name are chosen, where there are more
HEAD = 256  # entries by which columns are told apart before they are compared
ROUNDING = 1e-12  # by which |K| may exceed 1 and still count as bounded by 1

Values = Callable[[Array, Array], Any]


def similarity_name(similarity: Similarity | Values) -> str:
    """The name of a similarity in messages: its kind, or the name of the function."""
    if isinstance(similarity, Similarity):
        return similarity.kind or type(similarity).__name__
    return getattr(similarity, "__name__", type(similarity).__name__)


def bounded_by_one(similarity: Similarity | Values, purpose: str) -> None:
    """Refuse a similarity that declares that |K| may exceed 1; `purpose` is what needs |K| ≤ 1.

    A plain function declares nothing: its values are checked instead, see `checked_values`.
    """
    if isinstance(similarity, Similarity) and not similarity.bounded:
        size = f"only |K| ≤ {similarity.bound:g} is known" if math.isfinite(similarity.bound) else "no bound of |K| is known"
        raise InvalidProblem(
            f"similarity: {purpose} needs |K| ≤ 1, and of {similarity_name(similarity)} {size}; divide it by a bound, "
            "or take Normalised(…) of a PSD one"
        )


def checked_values(
    values: Any, shape: tuple[int, int], *, name: str = "similarity", first: int = 0, bounded: bool = False, second: str = "landmark"
) -> Array:
    """Similarities of points i = first, first + 1, … and landmarks j = 0, 1, …, if they are a finite matrix of this shape.

    Raises
    ------
    InvalidProblem
        for another shape, and for the first pair (i, j) whose value is not finite or, if `bounded`, exceeds 1 in modulus.
    """
    out = validate.numbers(name, values)
    if out.shape != shape:
        pairs = f"the pairs (i, j), i = {first}…{first + shape[0] - 1} (point), j = 0…{shape[1] - 1} ({second})"
        raise InvalidProblem(f"{name}: values of shape {out.shape} for {pairs}; expected {shape}, one row a point")
    with np.errstate(over="ignore", invalid="ignore"):
        usual = np.isfinite(np.sum(out)) and not bounded
    wrong = np.zeros(shape, dtype=bool) if usual else ~np.isfinite(out)
    if bounded:
        wrong |= np.abs(out) > 1.0 + ROUNDING
    if wrong.any():
        row, column = (int(i) for i in np.unravel_index(int(np.argmax(wrong)), shape))
        finite = math.isfinite(out[row, column])
        fault = "exceeds 1 in modulus, where |K| ≤ 1 is needed" if finite else "is not finite"
        pair = f"the pair (i, j) = ({first + row}, {column})"
        raise (InvalidProblem if finite else NotFinite)(
            f"{name}: {float(out[row, column]):g} for {pair}, point {first + row} and {second} {column}, {fault} "
            f"({int(wrong.sum())} of {wrong.size} values looked at); finite values{' up to 1' if bounded else ''} needed"
        )
    return out


def equal_columns(features: Array) -> tuple[tuple[int, int], ...]:
    """Pairs (i, j), i < j, of equal columns, i the first of its kind. Columns with equal first entries are compared."""
    head = np.ascontiguousarray(np.asarray(features[:HEAD]).T) + 0.0  # −0 becomes 0
    groups: dict[bytes, list[int]] = {}
    found: list[tuple[int, int]] = []
    for j, entries in enumerate(head):
        firsts = groups.setdefault(entries.tobytes(), [])
        origin = next((i for i in firsts if np.array_equal(features[:, i], features[:, j])), None)
        if origin is None:
            firsts.append(j)
        else:
            found.append((origin, j))
    return tuple(found)


def scaled(similarities: npt.ArrayLike, *, bounded: bool = False) -> Array:
    """Ψ = d^{-1/2} K from an (n, d) matrix of similarities K(x_i, l_j), which need not be square. `bounded` asks for |K| ≤ 1."""
    K = validate.numbers("similarities", similarities)
    if K.ndim != 2 or 0 in K.shape:
        raise InvalidProblem(f"similarities: shape {K.shape}, expected (n, d) with n points and d landmarks, at least one of each")
    return checked_values(K, K.shape, name="similarities", bounded=bounded) / math.sqrt(K.shape[1])


@dataclass(frozen=True, eq=False)
class LandmarkMap:
    """Ψ(x) = d^{-1/2} (K(x, l_1), …, K(x, l_d)).

    Parameters
    ----------
    similarity : Similarity or function
        K; a function takes points (n, p) and landmarks (d, p) and returns the (n, d) values.
    landmarks : (d, p) array
        l_1, …, l_d in rows. Equal ones are allowed, and listed in `duplicates`.
    bounded : bool
        whether |K| ≤ 1 is needed: a similarity that does not promise it is refused, and every value is checked.

    Attributes
    ----------
    duplicates : tuple of pairs
        (i, j), i < j: landmark j is equal to landmark i, the first of its kind. Their features are equal, and Ψ has linearly dependent
        columns: minimisers of a loss of Ψw are not unique then, unless w is penalised or bounded in norm.

    Raises
    ------
    InvalidProblem
        for landmarks that are no finite matrix, and from the calls for values of K that are not finite or have the wrong shape.
    """

    similarity: Similarity | Values
    landmarks: Array
    bounded: bool = False

    def __post_init__(self) -> None:
        if not callable(self.similarity):
            raise InvalidProblem(f"similarity: {self.similarity!r} is neither a similarity nor a function of points and landmarks")
        object.__setattr__(self, "landmarks", validate.matrix("landmarks", self.landmarks))
        if self.bounded:
            bounded_by_one(self.similarity, "the landmark map")

    def __repr__(self) -> str:
        of = f" ({len(self.duplicates)} of them equal to an earlier one)" if self.duplicates else ""
        K = repr(self.similarity) if isinstance(self.similarity, Similarity) else similarity_name(self.similarity)
        return f"<{self.d} landmarks{of} of {self.landmarks.shape[1]} coordinates, similarity {K}>"

    @classmethod
    def from_data(
        cls,
        X: Any,
        count: int,
        rng: np.random.Generator,
        similarity: str | SimilarityRule | Similarity | Values = DEFAULT_OF_KAR_JAIN,
        *,
        bounded: bool = False,
        memory: float = MEMORY,
    ) -> Self:
        """`count` landmarks drawn from the rows of X (array, memory map or Dask array) without replacement, in the order of X.

        The parameters of a similarity given by name are chosen from X, or from 5000 rows of it drawn after the landmarks.

        Raises
        ------
        InvalidProblem
            when there are fewer samples than landmarks.
        """
        rows = Rows.of("X", X, memory=memory, check_first=False)
        wanted = validate.whole("landmarks", count, minimum=1)
        if wanted > rows.n:
            raise InvalidProblem(f"landmarks: {wanted} asked for, but there are only {rows.n} samples to draw them from; {rows.n} at most")
        landmarks = rows.take(np.sort(rng.choice(rows.n, size=wanted, replace=False)))
        if isinstance(similarity, str | SimilarityRule):
            few = rows.n <= CHOSEN_BY
            similarity = named(similarity, rows if few else rows.take(np.sort(rng.choice(rows.n, size=CHOSEN_BY, replace=False))))
        return cls(similarity, landmarks, bounded)

    @property
    def d(self) -> int:
        """Number of landmarks, which is the number of features."""
        return len(self.landmarks)

    @cached_property
    def duplicates(self) -> tuple[tuple[int, int], ...]:
        """Pairs (i, j): landmark j is equal to the earlier landmark i."""
        _, first, inverse = np.unique(self.landmarks, axis=0, return_index=True, return_inverse=True)
        origin = first[inverse.reshape(-1)]
        return tuple((int(origin[j]), j) for j in range(self.d) if origin[j] != j)

    def __call__(self, X: Any, *, memory: float = MEMORY) -> Array:
        """Ψ of the rows of X, shape (n, d); one block of about `memory` bytes beside it."""
        rows = self._rows(X, memory)
        out = np.empty((rows.n, self.d))
        self._fill(rows, out, memory)
        return out

    def write(self, X: Any, out: Any, *, memory: float = MEMORY) -> None:
        """Write Ψ of the rows of X into `out`, an (n, d) array or memory map, block by block.

        Raises
        ------
        InvalidProblem
            for an `out` of another shape.
        """
        rows = self._rows(X, memory)
        if tuple(out.shape) != (rows.n, self.d):
            raise InvalidProblem(f"out: shape {tuple(out.shape)}, but {rows.n} points with {self.d} landmarks need {(rows.n, self.d)}")
        self._fill(rows, out, memory)

    def blocks(self, X: Any, *, memory: float = MEMORY) -> Iterator[tuple[slice, Array]]:
        """(rows, Ψ of X[rows]) over consecutive ranges of rows: points, features and working copies of K take about `memory` bytes.

        X is an (n, p) array, memory map or Dask array; one that is not in memory is read once.
        """
        return self._blocks(self._rows(X, memory), memory)

    def predict(self, X: Any, w: npt.ArrayLike, *, memory: float = MEMORY) -> Array:
        """f(x) = ⟨w, Ψ(x)⟩ for the rows of X, shape (n,), without storing Ψ. Equal features have equal values, in whatever rows."""
        rows = self._rows(X, memory)
        weights = validate.vector("w", w, length=self.d)
        out = np.empty(rows.n)
        for part, features in self._blocks(rows, memory):
            # not features @ weights: BLAS sums the last rows of a matrix in another order than the others, and ties in a ranking
            # would depend on the row and on the CPU
            np.einsum("ij,j->i", np.ascontiguousarray(features), weights, out=out[part])
        return out

    def lazy(self, X: Any) -> Any:
        """Ψ of a Dask array as a Dask array with the same blocks of rows, each computed when it is needed."""

        def features(points: Array, block_info: Any = None) -> Array:
            first = int(block_info[0]["array-location"][0][0]) if block_info else 0
            plain = np.ascontiguousarray(validate.numbers("X", points))
            if not np.all(np.isfinite(plain)):  # an infinite coordinate may have a finite similarity
                raise InvalidProblem(f"X: a coordinate of the points {first}…{first + len(plain) - 1} is not finite; finite numbers needed")
            return self._features(plain, first)

        if not callable(getattr(X, "map_blocks", None)):
            raise InvalidProblem(f"X: a Dask array needed, {type(X).__name__} given; call the map itself for arrays and memory maps")
        validate.lazy("X", X)
        whole = X.rechunk({1: -1})
        return whole.map_blocks(features, dtype=np.float64, chunks=(whole.chunks[0], (self.d,)), meta=np.empty((0, 0)))

    def _rows(self, X: Any, memory: float) -> Rows:
        rows = Rows.of("X", X, memory=validate.positive("memory", memory) / 2, check_first=False)
        if rows.width != self.landmarks.shape[1]:
            raise InvalidProblem(f"X: {rows.width} columns, but the landmarks have {self.landmarks.shape[1]}")
        return rows

    def _blocks(self, rows: Rows, memory: float) -> Iterator[tuple[slice, Array]]:
        step = max(1, int(memory / 2 / (8 * (rows.width + WORKING_COPIES * self.d))))
        for start, points in rows.blocks(step):
            yield slice(start, start + len(points)), self._features(points, start)

    def _fill(self, rows: Rows, out: Any, memory: float) -> None:
        for part, features in self._blocks(rows, memory):
            out[part] = features

    def _features(self, points: Array, first: int) -> Array:
        values = of_checked(self.similarity)(points, self.landmarks)
        name = f"similarity {similarity_name(self.similarity)}"
        return checked_values(values, (len(points), self.d), name=name, first=first, bounded=self.bounded) / math.sqrt(self.d)
