"""Types of fields that say what is checked: `features: Matrix`, `targets: Vector`, `delta: Positive = 1.0`.

The types are `Annotated` with axes, named by letters (one letter is one length in all fields of a problem), and with functions like those
of `simopt.core.validate`, (name, value) → value. Axes that stand first also check for a finite vector or matrix; after a function they
leave that to it. Own types are written alike:

    Probabilities = Annotated[Array, Axes("n", "k"), my_check]

A field of type `Probabilities | None` may be None.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

P = ParamSpec("P")
R = TypeVar("R")
Check = Callable[[str, Any], Any]


@dataclass(frozen=True, init=False)
class Axes:
    """The letters of an array's axes. Fields that `leads`, as targets do, are checked first: the others have to be as long."""

    letters: tuple[str, ...]
    leads: bool

    def __init__(self, *letters: str, leads: bool = False) -> None:
        object.__setattr__(self, "letters", letters)
        object.__setattr__(self, "leads", leads)

    def __call__(self, name: str, value: Any) -> Array:
        return validate.vector(name, value) if len(self.letters) == 1 else validate.matrix(name, value)


@dataclass(frozen=True)
class OneOf:
    """A text, one of those that are `allowed`."""

    allowed: Collection[str]

    def __call__(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidProblem(f"{name}: {value!r} given, one of {', '.join(self.allowed)} needed")
        return validate.choice(name, value, self.allowed)


def extended(name: str, value: Any) -> float:
    """A number ≥ 0, or ∞."""
    return np.inf if isinstance(value, float) and value == np.inf else validate.nonnegative(name, value)


Matrix = Annotated[Array, Axes("n", "d")]
Vector = Annotated[Array, Axes("n")]
Features = Annotated[Array, Axes("n", "d"), validate.squarable]
Targets = Annotated[Array, Axes("n", leads=True), validate.squarable]
Labels = Annotated[Array, validate.labels, Axes("n", leads=True)]
Positive = Annotated[float, validate.positive]
NonNegative = Annotated[float, validate.nonnegative]
Extended = Annotated[float, extended]
Number = Annotated[float, validate.finite]
Count = Annotated[int, partial(validate.whole, minimum=1)]
InUnit = Annotated[float, validate.between_0_and_1]


class FieldChecks(NamedTuple):
    """Checks of a field, read off its type."""

    checks: tuple[Check, ...]
    axes: Axes | None
    letters: tuple[str, ...]
    optional: bool

    @classmethod
    def of(cls, hint: Any) -> FieldChecks:
        """Those of `Annotated[…]`, or `Annotated[…] | None`."""
        kinds = (hint, *get_args(hint))
        behind: tuple[Any, ...] = next((found for kind in kinds if (found := getattr(kind, "__metadata__", ()))), ())
        axes = next((item for item in behind if isinstance(item, Axes)), None)
        checks = tuple(item for item in behind if callable(item) and (item is not axes or item is behind[0]))
        return cls(checks or (_finite,), axes, axes.letters if axes else (), type(None) in kinds)


def checked(instance: Any, names: Collection[str] | None = None) -> dict[str, Any]:
    """Values of the fields of a dataclass, checked by its types; numbers and arrays of other types have to be finite.

    With `names`, only the lengths of the other fields are checked: their values are known to be valid.

    Raises
    ------
    InvalidProblem
        naming the field, and of lengths that disagree both.
    """
    lengths: dict[str, int] = {}
    values: dict[str, Any] = {}
    declared = _field_checks(instance.__class__)
    for name, (checks, _, letters, optional) in declared.items():
        value = getattr(instance, name)
        if value is None and optional:
            continue
        if letters and lengths:  # the rows are counted before they are checked
            shape: tuple[int, ...] = getattr(value, "shape", ())
            if len(shape) == len(letters) and lengths.get(letters[0], shape[0]) != shape[0]:
                raise _disagreement(declared, name, shape, 0, lengths[letters[0]], values)
        for check in checks if names is None or name in names else ():
            value = check(name, value)
        if letters:
            shape = value.shape
            for axis, letter in enumerate(letters):
                if lengths.setdefault(letter, shape[axis]) != shape[axis]:
                    raise _disagreement(declared, name, shape, axis, lengths[letter], values)
        values[name] = value
    return values


def _disagreement(
    declared: dict[str, FieldChecks], name: str, shape: tuple[int, ...], axis: int, known: int, values: dict[str, Any]
) -> InvalidProblem:
    """The error that an axis is not as long as in the first field that has its letter; of a stack of matrices it names the first."""
    letters = declared[name].letters
    other = next((item for item in values if letters[axis] in declared[item].letters), name)
    leader, each, inner = declared[other].axes, name + "[0]" * (len(shape) - 2), shape[-2:]
    if leader is None or not leader.leads:
        return InvalidProblem(f"{each}: shape {inner}, but {letters[axis]} = {known} in {other}")
    if len(inner) == 1:
        return InvalidProblem(f"{each}: {validate.counted(shape[axis], 'value')}, expected {known}, as many as {other}")
    noun = "column" if axis == len(shape) - 1 else "row"
    has, needed, there = validate.counted(shape[axis], noun), validate.counted(known, noun), validate.counted(known, "value")
    return InvalidProblem(f"{each}: shape {inner} has {has}, expected {needed}: {other} has {there}")


def arguments(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose parameters are checked by their types, `bound: Positive` say; those of other types are left alone.

    The call raises InvalidProblem naming the parameter. It takes microseconds: this is for functions that are rarely called.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def with_checked(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature.bind(*args, **kwargs)
        for name, checks in _checks(function).items():
            for check in checks if name in given.arguments else ():
                given.arguments[name] = check(name, given.arguments[name])
        return function(*given.args, **given.kwargs)

    return with_checked


@cache
def _checks(function: Callable[..., Any]) -> dict[str, tuple[Check, ...]]:
    hints = get_type_hints(function, include_extras=True)
    return {name: FieldChecks.of(hint).checks for name, hint in hints.items() if get_origin(hint) is Annotated}


def is_nonnegative(kind: type, name: str) -> bool:
    """Whether the type of a field says that it is ≥ 0."""
    declared = _field_checks(kind).get(name)
    return declared is not None and bool({validate.positive, validate.nonnegative} & set(declared.checks))


@cache
def _field_checks(kind: type) -> dict[str, FieldChecks]:
    """By field; those that lead come first."""
    hints = get_type_hints(kind, include_extras=True)
    declared = {item.name: FieldChecks.of(hints[item.name]) for item in dataclasses.fields(kind) if item.init}
    return dict(sorted(declared.items(), key=lambda item: item[1].axes is None or not item[1].axes.leads))


def _finite(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (validate.vector if value.ndim == 1 else validate.matrix)(name, value)
    return validate.finite(name, value) if isinstance(value, float) else value
