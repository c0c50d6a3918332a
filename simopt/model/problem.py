"""A problem: one convex programme with its data, its declaration, and the formulas that certify any answer to it."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Value
from simopt.core import fields, registry
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.core.frozen_matrix import FrozenMatrix
from simopt.core.memory_maps import mapped
from simopt.data.row_blocks import RowBlocks, RowPass, is_lazy
from simopt.model.entries import Shapes, shapes_of
from simopt.model.gap_unit import as_cancelled, ratio

if TYPE_CHECKING:
    import cvxpy as cp
    from typing_extensions import TypeIs

    from simopt.data.datasets import Dataset

ALL_CONES = frozenset({"soc", "power", "exp"})


def is_cvxpy(problem: object) -> TypeIs[cp.Problem]:
    """Whether this is a `cvxpy.Problem`. CVXPY is not imported: whoever has one has imported it."""
    cvxpy = sys.modules.get("cvxpy")
    return cvxpy is not None and isinstance(problem, cvxpy.Problem)


def _same(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(values)


@dataclass(frozen=True)
class Rescale:
    """The way back from a normalised problem: maps its points and multipliers to those of the original."""

    point: Callable[[Point], Point] = _same
    multipliers: Callable[[Multipliers], Multipliers] = _same

    @classmethod
    def together(cls, point: Callable[[Point], Point], multipliers: Callable[[Point, Multipliers], Multipliers]) -> Rescale:
        """One in which the way back of multipliers depends on the point, mapped back, that came with them."""
        last: list[Point] = [{}]

        def mapped_back(values: Point) -> Point:
            last[0] = point(values)
            return last[0]

        return cls(mapped_back, lambda values: multipliers(last[0], values))


@dataclass(frozen=True)
class Example:
    """An instance for the conformance suite. Degenerate ones (y = 0, one sample, ties, …) need not reach OPTIMAL in every back end."""

    name: str
    problem: Problem
    degenerate: bool = False


@dataclass(frozen=True)
class Image:
    """A problem transformed by a law: objective(point map(p)) of the image equals factor · objective(p) for every feasible p."""

    problem: Problem
    factor: float = 1.0
    point: Callable[[Point], Point] = _same
    multipliers: Callable[[Multipliers], Multipliers] = _same


@dataclass(frozen=True)
class Law:
    """A named transformation of problems with a known effect: scaling, permutation, duplication.

    A change of units also offers `by`, the same transformation with a given factor; see `change_of_units`.
    """

    name: str
    apply: Callable[[Any, np.random.Generator], Image]
    by: Callable[[Any, float], Image] | None = None


def change_of_units(name: str, by: Callable[[Any, float], Image], span: int = 30) -> Law:
    """The law that `by(problem, s)` holds for any s > 0; applied with random powers of two, |exponent| ≤ span, which leave no rounding."""
    return Law(name, lambda problem, rng: by(problem, float(2.0 ** rng.integers(-span, span + 1))), by)


def laws_of_samples(select: Callable[[Any, NDArray[np.intp], float], Image], field: str) -> list[Law]:
    """Laws of a mean over samples, of which `field` holds one entry each: their order does not matter, nor does giving each of them twice.

    `select(problem, order, weight)` is the problem with the samples of `order`, whose multipliers are `weight` times the old ones.
    """

    def count(problem: Any) -> int:
        return len(getattr(problem, field))

    return [
        Law("permutation", lambda problem, rng: select(problem, rng.permutation(count(problem)), 1.0)),
        Law("duplication", lambda problem, rng: select(problem, np.repeat(np.arange(count(problem)), 2), 0.5)),
    ]


@dataclass(frozen=True, eq=False)
class Problem(ABC):
    """One convex programme min_x P(x) with data; subclasses are frozen dataclasses of arrays and numbers.

    The contract: `declare` writes the programme in CVXPY as the paper does. `objective`, `restore` and `dual_bound` are the formulas that
    bound the optimum from above and below in any arithmetic, whoever produced the point and the multipliers.

    Fields are checked by their types (`simopt.core.fields`), copied and frozen. A `__post_init__` is only for what relates one field to
    another, and starts with `super().__post_init__()`.

    Attributes
    ----------
    name : str
        the problem's name on the command line.
    title, source : str
        one line for listings; the paper and where in it.
    arithmetics : tuple of str
        arithmetics that the formulas support.
    parameters : tuple of str
        scalar fields that are `cvxpy.Parameter`s of the declaration and can be swept by `path`.
    own_tolerance : bool
        whether a back end solves it once, at its own tolerance, in place of a sweep over tolerances.
    may_be_infeasible : bool
        whether some data leave no feasible point; only then do multipliers whose `dual_bound` is ∞ prove it.
    intervals_first : bool
        whether formulas are derived from the declaration: then intervals cost little more than floats, and less than a search.
    brief : bool
        whether bounds are sought with the given multipliers alone, where there are some.
    by_hand : str
        why formulas that could be derived from the declaration are written by hand, in one line; docs/benchmarks.md has measurements.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ()
    may_be_infeasible: ClassVar[bool] = False
    own_tolerance: ClassVar[bool] = False
    intervals_first: ClassVar[bool] = False
    brief: ClassVar[bool] = False
    by_hand: ClassVar[str] = ""

    def __init_subclass__(cls, same_programme: bool = False, **keywords: Any) -> None:
        """Refuse a declaration of its own beside formulas of another programme, unless it is the `same_programme`, written otherwise."""
        super().__init_subclass__(**keywords)
        others = [name for name in OF_ONE_PROGRAMME if _programme(_definer(cls, name)) not in (None, _definer(cls, "declare"))]
        if others and not same_programme:
            raise TypeError(
                f"{cls.__name__} declares a programme of its own, but has {', '.join(others)} of {_definer(cls, others[0]).__name__}, which"
                " would judge answers to it: give it a `name`, and put DeclaredProblem before that among the bases or write these anew;"
                f" of the same programme, written otherwise, say class {cls.__name__}(…, same_programme=True)"
            )

    def __post_init__(self) -> None:
        freeze(self, **fields.checked(self, vars(self).pop("_to_check", None)))  # all, unless `with_checked_fields` knows better

    @property
    def growth(self) -> int | None:
        """The degree in which the objective at the trivial point grows with the constants of the losses, from which others are subtracted.

        1 for hinges, absolute values and sums of a matrix's entries, 2 for squares; None where that value is no measure of what cancels.
        """
        return None

    @property
    def maximises(self) -> bool:
        """Whether the declaration is a maximum, P being the negative of its objective."""
        return False

    @abstractmethod
    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The programme as a plain `cvxpy.Problem` with named variables, parameters and constraints, using only the given cones."""

    def for_back_ends(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The declaration in the form that back ends are given; another one than `declare` only to get more multipliers from them."""
        return self.declare(cones=cones)

    def with_rows(self, *rows: Callable[..., Any], cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The declaration and further constraints, as an ordinary `cvxpy.Problem` that `solve` and `certify` take like any other.

        Each of `rows` is a function of some of the declaration's variables and parameters, by their names, that gives a constraint or a
        list of them: `problem.with_rows(lambda w: w >= 0)`. The certificate of the result is derived from its expressions.

        Raises
        ------
        UnknownName
            where an argument is no name of the declaration.
        InvalidProblem
            where a function gives something else than constraints.
        """
        import cvxpy as cp

        declared = self.declare(cones=cones)
        known = {**declared.var_dict, **declared.param_dict}
        added: list[Any] = []
        for number, function in enumerate(rows):
            if not callable(function):
                raise InvalidProblem(f"rows: a function needed in place {number}, such as lambda w: w >= 0, got {function!r:.60}")
            names = list(inspect.signature(function).parameters)
            for name in names:
                if name not in known:
                    raise UnknownName(f"variable or parameter of {self.name}", name, known)
            made = function(*(known[name] for name in names))
            for row in made if isinstance(made, list | tuple) else [made]:
                if not isinstance(row, cp.Constraint):
                    raise InvalidProblem(f"rows: place {number} gives {row!r:.60}, a constraint needed, such as w >= 0")
                added.append(row)
        return cp.Problem(declared.objective, [*declared.constraints, *added])

    def declare_dual(self) -> cp.Problem:
        """The dual of the declaration, derived: multipliers as variables, by name; see `simopt.dual`, whose errors are its."""
        import simopt  # duality builds on this module, and is reached through the package

        return simopt.dual(self)

    @abstractmethod
    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """P(x), straight from the formula."""

    @abstractmethod
    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """A feasible point near `point`, dependent variables recomputed; exactly feasible in this arithmetic."""

    def restore_roughly(self, point: Point, max_loss: float) -> Point:
        """As `restore` in floats, where the objective may be larger by `max_loss`; problems override it if that is cheaper."""
        return self.restore(point)

    def as_certified(self, num: Arithmetic) -> tuple[Problem, str]:
        """The problem whose bounds a certificate in this arithmetic gives, and its name where it is not quite this one, else "".

        It is another one only if a condition of weak duality cannot be proven for the data as they are, as K ⪰ 0 for a rounded matrix.
        """
        return self, ""

    @property
    def row_pass(self) -> RowPass | None:
        """The rows of the streamed field, which formulas and `normalised` read in no other way; None without such a field.

        A problem with a streamed field overrides it by a cached property.
        """
        return None

    def prefetch(  # noqa: B027 (nothing to be done by default)
        self, points: Sequence[tuple[Arithmetic, Point]], multipliers: Sequence[tuple[Arithmetic, Multipliers]]
    ) -> None:
        """Called before formulas are evaluated at these, the point itself first, if `row_pass` has several blocks: one pass may serve all.

        It may be too many, or too few.
        """

    @abstractmethod
    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """The dual's value after making the multipliers dual feasible: never above the optimum. `upper` is a known upper bound."""

    @abstractmethod
    def trivial_point(self) -> Point:
        """The point of no learning (w = 0, best constant)."""

    def point_shapes(self) -> Shapes:
        """The shapes of a point's entries; those of the trivial point, unless they can be told at less cost."""
        return shapes_of(self.trivial_point())

    @classmethod
    @abstractmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Small instances, degenerate ones included."""

    @classmethod
    @abstractmethod
    def from_data(cls, dataset: Dataset, rng: np.random.Generator, *args: Any, **options: Any) -> Self:
        """The recipe: data set and options to a problem; defaults are documented. Recipes name their options as keyword-only parameters."""

    @classmethod
    def holding(cls) -> dict[str, str]:
        """Numbers that a field holds as a whole, as a bound holds its radius, and that field: they are set and swept like fields."""
        return {}

    @classmethod
    def settable(cls) -> list[str]:
        """Names that `changed` takes: of fields, and of numbers that fields hold."""
        return [*(item.name for item in dataclasses.fields(cls)), *cls.holding()]

    @classmethod
    def recipe_options(cls) -> dict[str, inspect.Parameter]:
        """The keyword-only options of the recipe."""
        named = inspect.signature(cls.from_data).parameters.values()
        return {p.name: p for p in named if p.name not in ("dataset", "rng") and p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}

    @classmethod
    def each_form(cls) -> tuple[type[Problem], ...]:
        """The classes with a name of their own: this one; see `simopt.model.forms`."""
        return (cls,)

    @classmethod
    def registered(cls) -> tuple[type[Problem], ...]:
        """The classes to register for this class, once it is complete."""
        return cls.each_form()

    @classmethod
    def laws(cls) -> list[Law]:
        """Transformations with a known effect."""
        return []

    def multipliers(self, point: Point) -> Multipliers | None:
        """The dual candidate that a (restored) point alone suggests, if it suggests one."""
        return None

    def perturbed_dual_bound(self, multipliers: Multipliers, perturb: Callable[..., Any], upper: float = float("inf")) -> float:
        """`dual_bound` in floats of multipliers next to these, without a search for better ones; −∞ where that gives none."""
        return float(self.dual_bound(perturb(multipliers), upper=upper))

    def upper_to_rounding(self, point: Point, multipliers: Multipliers, upper: float = float("inf")) -> float:
        """The upper end of f(x) + Σ y_i |h_i(x)| in intervals at a float point, the last over rows that it violates; ∞ where unknown."""
        return float(INTERVAL.upper(self.objective(point, INTERVAL)))

    def moved_inside(self, multipliers: Multipliers) -> Iterator[Multipliers]:
        """Candidates near these multipliers with larger and larger margins in their domains, for proofs that need one; none by default."""
        yield from ()

    def ray(self) -> Multipliers | None:
        """Multipliers along which the dual grows without end, if the problem knows some: they prove that no point is feasible."""
        return None

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """P(x) − D(multipliers). Problems override this with a sum of non-negative terms, free of cancellation."""
        upper = self.objective(point, num)
        return upper - self.dual_bound(multipliers, num, num.upper(upper))

    def distance(self, gap: float, point: Point | None = None) -> float:
        """Radius, in the norm of the hypothesis space, of a ball around the point that holds every optimum, given its gap."""
        return float("inf")

    def gap_over_terms(self, point: Point, upper: float, lower: float, gap: float) -> float:
        """The gap as a fraction of Σ|terms|, the sizes of the objective's terms at the point, whose value is `upper`.

        By default the terms are taken to be ≥ 0, so that their sizes add up to the value. A bracket around 0 is also compared with the
        terms that cancel inside of the losses, where their `growth` d is known. Its measure is the δ for which δ^d times the objective at
        the trivial point is as large: for squares a residual is compared, and not its square. A few roundings of δ close (`as_cancelled`).

        A problem whose terms cancel otherwise may override this. It must not count a term for more than the data imply: a gap that it
        excuses as rounding counts as closed.
        """
        terms = ratio(gap, abs(upper))
        if self.growth is None:
            return terms
        inside: float = ratio(max(abs(upper), abs(lower), gap), self.scale()) ** (1.0 / self.growth)
        return min(terms, as_cancelled(inside, point))

    def scale(self) -> float:
        """The size of the objective before anything is learnt: its value at the trivial point."""
        return float(self.objective(self.trivial_point()))

    def normalised(self) -> tuple[Problem, Rescale]:
        """The same problem in natural units, and the way back."""
        return self, Rescale()

    def fingerprint(self) -> str:
        """Hash of the class and the content of all fields."""
        return hashed(self)

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        freeze(self, **state)  # pickling loses the read-only flag


P0 = TypeVar("P0", bound=Problem)

# what finds the solvers of a programme, and what certifies their answers
OF_ONE_PROGRAMME = (
    "name",
    "objective",
    "restore",
    "multipliers",
    "dual_bound",
    "ray",
    "gap",
    "distance",
    "trivial_point",
    "gap_over_terms",
    "growth",
    "scale",
    "normalised",
)


def _definer(cls: type, name: str) -> type:
    """The class that defines what `cls` has under a name; `object` if none does."""
    return next((place for place in cls.__mro__ if name in vars(place)), object)


def _programme(cls: type) -> type | None:
    """The class whose declaration the formulas of `cls` are about; None if they are about any."""
    owner = _definer(cls, "declare") if hasattr(cls, "declare") else None
    return owner if owner is not None and not getattr(vars(owner)["declare"], "__isabstractmethod__", False) else None


def hashed(value: Any) -> str:
    """Hash of the content of arrays, texts, numbers, and of what holds them."""
    digest = hashlib.sha256()
    _feed(digest, value)
    return _shortened(digest)


def _shortened(digest: hashlib._Hash) -> str:
    return digest.hexdigest()[:16]


def for_one_evaluation(problem: P0) -> P0:
    """The problem in an object of its own, whose `row_pass` remembers products while the data are taken to stay; itself if it has none."""
    rows = problem.row_pass
    if rows is None or rows.remembers:
        return problem
    other = object.__new__(type(problem))
    vars(other).update(vars(problem), row_pass=rows.for_one_evaluation())
    return other


def with_digest(problem: P0) -> tuple[P0, Callable[[], str | None]]:
    """The problem for one evaluation, and a function that then gives the fingerprint of data as they were read, without a pass of its own.

    It gives None if the `row_pass` was not read exactly once. The fingerprint is about the very blocks that formulas were given, and about
    the other fields as they are when it is called.
    """
    problem = for_one_evaluation(problem)
    rows = problem.row_pass
    if rows is None or not (is_lazy(rows.features) or rows.features.dtype == np.float64):  # blocks of another type are copies, not hashed
        return problem, lambda: None
    digest = hashlib.sha256(type(problem).__qualname__.encode())
    items = iter(dataclasses.fields(problem))
    for item in items:
        digest.update(item.name.encode())
        if (value := getattr(problem, item.name)) is rows.features:
            break
        _feed(digest, value)
    _head(digest, rows.features)
    rows.join(lambda _, block: digest.update(np.ascontiguousarray(block).data))
    after = tuple(items)

    def fingerprint() -> str | None:
        """The digest over all fields, or None before the rows have been read to their end."""
        if not rows.read_once:
            return None
        whole = digest.copy()
        for item in after:
            whole.update(item.name.encode())
            _feed(whole, getattr(problem, item.name))
        return _shortened(whole)

    return problem, fingerprint


def _head(digest: hashlib._Hash, value: Any) -> None:
    """The type and shape of an array. A mapped file, or an array in blocks, has the fingerprint of the same numbers in memory."""
    digest.update(b"ndarray" + str((value.dtype.str, value.shape)).encode())


def _feed(digest: hashlib._Hash, value: Any) -> None:
    """Content of arrays, in blocks; of dataclasses and containers, item by item (their repr would abbreviate long arrays)."""
    if isinstance(value, np.ndarray) or is_lazy(value):
        _head(digest, value)
    else:
        digest.update(type(value).__qualname__.encode())
    if isinstance(value, np.ndarray):
        rows = np.atleast_1d(value)
        for start in range(0, len(rows), 4096):
            digest.update(np.ascontiguousarray(rows[start : start + 4096]).tobytes())
    elif is_lazy(value):
        for _, block in RowBlocks(value):
            digest.update(np.ascontiguousarray(block).tobytes())
    elif dataclasses.is_dataclass(value):
        for item in dataclasses.fields(value):
            digest.update(item.name.encode())
            _feed(digest, getattr(value, item.name))
    elif isinstance(value, (tuple, list)):
        for entry in value:
            _feed(digest, entry)
    else:
        digest.update(repr(value).encode() + b";")


P = TypeVar("P", bound=type[Problem])


@dataclass_transform(frozen_default=True, eq_default=False)
def problem(cls: P) -> P:
    """Register a problem class under its `name`; one that is no dataclass becomes a frozen one without `==`."""
    if "__dataclass_params__" not in vars(cls):
        dataclass(frozen=True, eq=False)(cls)
    for form in cls.registered():
        registry.register("problem", form.name, form, cls.__module__)
    return cls


OWNED = 64 * 2**20  # bytes up to which a problem copies an array; of larger ones a solve compares the fingerprint before and after


def freeze(instance: Problem, **values: Any) -> None:
    """Set validated fields of a frozen dataclass in `__post_init__`; arrays become the problem's own (`own`)."""
    for key, value in values.items():
        object.__setattr__(instance, key, own(value) if isinstance(value, np.ndarray) else value)


def own(array: NDArray[Any]) -> NDArray[Any]:
    """The array in memory that nobody can write on, itself if it is already; above 64 MB, and of a file that is mapped, a read-only view.

    A read-only view is no protection: its `base` can be written on, and by a solver too. The bytes that hold a copy cannot.
    """
    if _immutable(array):
        return array
    if array.nbytes > OWNED or array.dtype.hasobject or mapped(array):
        if not array.flags.writeable:
            return array
        view = array.view()
        view.setflags(write=False)
        return view
    order: Any = "F" if array.flags.fnc else "C"
    return np.ndarray(array.shape, array.dtype, buffer=array.tobytes(order), order=order)


def _immutable(array: Any) -> bool:
    while not isinstance(array, bytes):
        if isinstance(array, FrozenMatrix):
            return array.immutable
        # unpickled arrays are writable although bytes are their base
        if array is None or (isinstance(array, np.ndarray) and array.flags.writeable):
            return False
        array = getattr(array, "base", None)
    return True


def owns_its_data(value: Any) -> bool:
    """Whether nobody can change the arrays in the fields of a problem, or in what they hold; a `cvxpy.Problem` has parameters."""
    if is_cvxpy(value):
        return False
    if dataclasses.is_dataclass(value):
        return all(owns_its_data(getattr(value, item.name)) for item in dataclasses.fields(value))
    if isinstance(value, (tuple, list)):
        return all(map(owns_its_data, value))
    return _immutable(value) if isinstance(value, np.ndarray) else not is_lazy(value)


def changed(problem: P0, **values: Any) -> P0:
    """The problem with other values of some fields, or of numbers that a field holds (`Problem.holding`)."""
    given, holding = dict(values), problem.holding()
    for field in dict.fromkeys(holding.values()):
        numbers = {name: given.pop(name) for name in values if holding.get(name) == field}
        if numbers:
            given[field] = dataclasses.replace(given.get(field, getattr(problem, field)), **numbers)
    return cast(P0, dataclasses.replace(cast(Any, problem), **given))


def twin(problem: P0) -> P0:
    """The same problem in an object of its own: what is set or cached on one is not seen by the other."""
    return with_fields(problem)


def as_it_is(problem: P0) -> P0:
    """The problem now: if others can write on its data, without anything that was computed of them before."""
    return problem if owns_its_data(problem) else twin(problem)


def with_fields(problem: P0, **values: Any) -> P0:
    """The problem in an object of its own, with other values of some fields that are known to be valid: they are not checked."""
    other = object.__new__(type(problem))
    other.__setstate__({**problem.__getstate__(), **values})
    return other


def with_checked_fields(problem: P0, **values: Any) -> P0:
    """The same, but values that are not the problem's own are checked by the types of their fields."""
    other = with_fields(problem, **values)
    vars(other)["_to_check"] = [name for name, value in values.items() if value is not getattr(problem, name)]
    other.__post_init__()
    return other
