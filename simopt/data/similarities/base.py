"""A similarity: a function of two points that knows its properties, and its values in blocks."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.similarities.points import points

if TYPE_CHECKING:
    from simopt.data.similarities.combine import Product, Sum

MEMORY = 64 * 2**20  # bytes that one block of similarities may take
OWN = "simopt.data.similarities."  # where the similarities of simopt are defined
PANEL = 128  # rows of a symmetric matrix that are computed at once, up to the diagonal: few enough that nearly half of it is spared
WORKING_COPIES = 3  # arrays of the block's size that exist at once while it is computed

_kinds: dict[str, type[Similarity]] = {}


@dataclasses.dataclass(frozen=True)
class Similarity(ABC):
    """K(x, x'), called on points in rows: (n, p) and (m, p) arrays give the (n, m) array of K(x_i, x'_j).

    Subclasses are frozen dataclasses whose fields are numbers, strings or other similarities, with a `kind` under which they are
    written to JSON. The properties that a subclass declares must hold for every set of points, not only for the likely ones.

    An object of any subclass can be given where a recipe or an estimator takes a similarity. To be taken by name as well, on the command
    line too, it needs a rule that chooses its parameters from the points: see `add_similarity`.
    """

    kind: ClassVar[str] = ""
    null_diagonal: ClassVar[bool] = False  # whether K(x, x) = 0 at every x

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if cls.kind:
            owner = _kinds.setdefault(cls.kind, cls)
            if (owner.__module__, owner.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ValueError(f"similarity kind {cls.kind!r} is defined twice: in {owner.__module__} and in {cls.__module__}")

    @property
    @abstractmethod
    def psd(self) -> bool:
        """True only if every Gram matrix (K(x_i, x_j))_ij is positive semidefinite."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """A number that |K(x, x')| never exceeds; infinity if none is known."""

    @property
    def bounded(self) -> bool:
        """True only if |K(x, x')| <= 1 for all points."""
        return self.bound <= 1

    @property
    def symmetric(self) -> bool:
        """True only if K(x, x') = K(x', x) for all points."""
        return True

    @property
    def takes_sparse(self) -> bool:
        """Whether `values` and `diagonal_values` also take points that are sparse matrices by rows (csr_array)."""
        return False

    @abstractmethod
    def values(self, X: Array, Y: Array) -> Array:
        """The (n, m) array of similarities between the rows of two float64 arrays with the same number of columns."""

    def diagonal_values(self, X: Array) -> Array:
        """K(x_i, x_i) for each row of a float64 array, shape (n,). O(n) evaluations; a subclass may know better."""
        return np.array([float(self.values(row, row)[0, 0]) for row in (X[i : i + 1] for i in range(X.shape[0]))], dtype=np.float64)

    def diagonal(self, X: npt.ArrayLike) -> Array:
        """K(x_i, x_i) for each row of X, shape (n,).

        Raises
        ------
        InvalidProblem
            when X is not a finite matrix.
        """
        return self.diagonal_values(points("X", X, sparse=self.takes_sparse))

    def __call__(self, X: npt.ArrayLike, Y: npt.ArrayLike | None = None) -> Array:
        """Similarities between the rows of X (n, p) and of Y (m, p), shape (n, m); `Y=None` means Y = X.

        Raises
        ------
        InvalidProblem
            when X or Y is not a finite matrix, or their numbers of columns differ.
        """
        return self.values(*self._points(X, Y))

    def gram_blocks(self, X: npt.ArrayLike, Y: npt.ArrayLike | None = None, *, memory: int = MEMORY) -> Iterator[tuple[slice, Array]]:
        """Yield (rows, K(X[rows], Y)) over consecutive ranges of rows, each computed in about `memory` bytes (at least one row)."""
        return self._blocks(*self._points(X, Y), validate.positive("memory", memory))

    def _blocks(self, left: Array, right: Array, memory: float) -> Iterator[tuple[slice, Array]]:
        step = max(1, int(memory) // max(1, 8 * WORKING_COPIES * right.shape[0]))
        for start in range(0, left.shape[0], step):
            rows = slice(start, min(start + step, left.shape[0]))
            yield rows, self.values(left[rows], right)

    def _points(self, X: npt.ArrayLike, Y: npt.ArrayLike | None) -> tuple[Array, Array]:
        left = points("X", X, sparse=self.takes_sparse)
        right = left if Y is None else points("Y", Y, sparse=self.takes_sparse)
        if left.shape[1] != right.shape[1]:
            raise InvalidProblem(f"similarity {self.kind}: X has {left.shape[1]} columns and Y has {right.shape[1]}; they must agree")
        return left, right

    def gram(self, X: npt.ArrayLike, *, memory: int = MEMORY) -> Array:
        """K(X, X), shape (n, n), in n^2 numbers and one block of memory. Of a symmetric K half of the entries are evaluated.

        Raises
        ------
        InvalidProblem
            when X is not a finite matrix.
        """
        given, most = points("X", X, sparse=self.takes_sparse), validate.positive("memory", memory)
        n = given.shape[0]
        out = np.empty((n, n))
        if not self.symmetric:
            for rows, block in self._blocks(given, given, most):
                out[rows] = block
            return out
        step = max(1, min(PANEL, int(most) // max(1, 8 * WORKING_COPIES * n)))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            block = self.values(given[rows], given[: rows.stop])
            out[rows, :start] = block[:, :start]
            out[:start, rows] = block[:, :start].T
            corner = np.tril(block[:, start:])
            out[rows, rows] = corner + np.tril(corner, -1).T
        return out

    def to_json(self) -> dict[str, Any]:
        """Kind and parameters as plain JSON values; `from_json` undoes it exactly."""
        return {"kind": self.kind, **{f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The fields by name, as in scikit-learn; `deep`: those of similarities in it too.

        Names of a part's fields begin with its name and two underscores (`base__mu`), for one of several also its number (`terms__0__mu`).
        """
        out: dict[str, Any] = {}
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            for place, part in _parts(item.name, value).items() if deep else ():
                out |= {f"{place}__{name}": inner for name, inner in part.get_params().items()}
            out[item.name] = value
        return out

    def set_params(self, **params: Any) -> Self:
        """A copy with these parameters, under the names of `get_params`; the similarity itself stays as it is: it is frozen.

        Raises
        ------
        UnknownName
            for a parameter that it does not have.
        InvalidProblem
            for a value that it does not take.
        """
        plain = {name: value for name, value in params.items() if "__" not in name}
        names = [item.name for item in dataclasses.fields(self)]
        for name in plain:
            if name not in names:
                raise UnknownName(f"parameter of the {self.kind} similarity", name, names)
        changed = dataclasses.replace(self, **plain)
        fields: dict[str, Any] = {item.name: getattr(changed, item.name) for item in dataclasses.fields(changed)}
        inner: dict[str, dict[str, Any]] = {}
        parts = {place: part for name, value in fields.items() for place, part in _parts(name, value).items()}
        for name in params.keys() - plain.keys():
            place = max((place for place in parts if name.startswith(f"{place}__")), key=len, default="")
            if not place:
                raise UnknownName(f"parameter of the {self.kind} similarity", name, self.get_params())
            inner.setdefault(place, {})[name.removeprefix(f"{place}__")] = params[name]
        for place, values in inner.items():
            name, _, number = place.partition("__")
            part = parts[place].set_params(**values)
            fields[name] = part if not number else tuple(part if i == int(number) else old for i, old in enumerate(fields[name]))
        return dataclasses.replace(changed, **fields) if inner else changed

    def __sklearn_clone__(self) -> Self:
        """Itself, for nobody can change it."""
        return self

    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits of the hash of kind and parameters."""
        text = json.dumps(self.to_json(), sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __add__(self, other: Similarity) -> Sum:
        if not isinstance(other, Similarity):
            return NotImplemented
        made: Sum = _made("sum", terms=(self, other))
        return made

    def __mul__(self, other: Similarity | float) -> Sum | Product:
        if not isinstance(other, Similarity | int | float | np.number):
            return NotImplemented
        made: Sum | Product
        if isinstance(other, Similarity):
            made = _made("product", factors=(self, other))
        else:
            made = _made("sum", terms=(self,), weights=(float(other),))
        return made

    __rmul__ = __mul__


def of_checked(similarity: Similarity | Callable[[Array, Array], Any]) -> Callable[[Array, Array], Any]:
    """The function for validated points: `values` of a similarity, which does not check them again."""
    return similarity.values if isinstance(similarity, Similarity) else similarity


def of_simopt(similarity: Similarity) -> bool:
    """Whether a similarity and its parts are all simopt's own, so that its declared properties are proven and tested here."""
    parts = [value for item in dataclasses.fields(similarity) for value in _several(getattr(similarity, item.name))]
    inner = [part for part in parts if isinstance(part, Similarity)]
    return type(similarity).__module__.startswith(OWN) and all(of_simopt(part) for part in inner)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def from_json(description: Mapping[str, Any]) -> Similarity:
    """Rebuild the similarity that `to_json` described.

    Raises
    ------
    UnknownName
        for a kind that no class has.
    InvalidProblem
        for parameters that the class does not take.
    """
    fields = dict(description)
    kind = str(fields.pop("kind", ""))
    if kind not in _kinds:
        raise UnknownName("similarity", kind, _kinds)
    try:
        return _kinds[kind](**{name: _rebuilt(value) for name, value in fields.items()})
    except TypeError as error:
        raise InvalidProblem(f"similarity {kind}: {error}") from error


def _made(kind: str, **fields: Any) -> Any:
    """A sum or a product, itself a similarity: found by its kind, as `from_json` finds it."""
    return _kinds[kind](**fields)


def kinds() -> list[str]:
    """The kinds that `from_json` knows, sorted."""
    return sorted(_kinds)


def _parts(name: str, value: Any) -> dict[str, Similarity]:
    """The similarities in a field, by the names that their parameters have before them."""
    if isinstance(value, Similarity):
        return {name: value}
    several = value if isinstance(value, tuple) else ()
    return {f"{name}__{i}": part for i, part in enumerate(several) if isinstance(part, Similarity)}


def _plain(value: Any) -> Any:
    if isinstance(value, Similarity):
        return value.to_json()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _rebuilt(value: Any) -> Any:
    if isinstance(value, Mapping):
        return from_json(value)
    return tuple(_rebuilt(item) for item in value) if isinstance(value, list | tuple) else value
