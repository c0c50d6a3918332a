"""A public function that takes arrays or numbers, one valid call of it, and what it makes of strange values in their place."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from counted import case
from strange import BEYOND, NOTHING, Strange, arrays, extremes, lazy_arrays, numbers

from simopt.core.errors import InvalidProblem

LEFT_OUT = {"seconds", "provenance", "trace", "home", "similarity", "problem", "versions"}  # of what comes out: clocks, and what went in
REMEDY = re.compile(
    r"need|expect|must|first|give|remove|allowed|at least|at most|there (is|are)|did you mean|creasing|sort|outside|not defined|empty"
    r"|classes are|only|from \d|between|[<>≤≥]"
)


@dataclass(frozen=True)
class Fresh:
    """An argument that is made anew for each call: a generator of random numbers is another one after it."""

    make: Callable[[], Any]


@dataclass(frozen=True)
class EntryPoint:
    """One valid call.

    `named` names a parameter as its messages do, where that is another name. `admits` lists the strange values that mean something here
    (∞ is no bound), `only` the ones that are walked where most mean something (a text is a query's id). `leaves` are parameters that are
    not walked, with the reason. `slow` calls get a part of the catalogue unless all of it is asked for. Where the result may be
    `undefined`, nan says so. `how` is called in place of what the key names; refusals of `foreign` parameters are scikit-learn's messages.
    """

    key: str
    arguments: dict[str, Any]
    on: Callable[[], Any] | None = None
    then: Callable[[Any], Any] | None = None
    named: dict[str, str] = field(default_factory=dict)
    admits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    leaves: dict[str, str] = field(default_factory=dict)
    only: dict[str, tuple[str, ...]] = field(default_factory=dict)
    slow: bool = False
    undefined: bool = False
    how: Callable[..., Any] | None = None
    foreign: tuple[str, ...] = ()
    rtol: float = 1e-9

    @property
    def function(self) -> Callable[..., Any]:
        """What is called: what the key names, unless `how` says otherwise."""
        if self.how is not None:
            return self.how
        home, _, path = self.key.partition(":")
        found: Any = import_module(f"simopt.{home}" if home else "simopt")
        names = path.split(".")
        for name in names[:-1] if self.on else names:
            found = getattr(found, name)
        if self.on is None:
            return found  # type: ignore[no-any-return]
        made = self.on()
        return made if names[-1] == "__call__" else getattr(made, names[-1])  # type: ignore[no-any-return]

    def call(self, **changed: Any) -> Any:
        """The result, in terms of plain numbers."""
        values = {name: value.make() if isinstance(value, Fresh) else value for name, value in {**self.arguments, **changed}.items()}
        function = self.function
        positional = [
            values.pop(p.name) for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_ONLY and p.name in values
        ]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            out = function(*positional, **values)
            return plain(self.then(out) if self.then else out)

    def walked(self) -> Iterator[tuple[str, Strange]]:
        """Every parameter with every strange value in its place."""
        for name, value in self.arguments.items():
            if name in self.leaves or isinstance(value, Fresh):
                continue
            for strange in catalogue(value):
                if name == "seed" and isinstance(strange.value, int | np.uint64) and strange.name in BEYOND:
                    continue  # an integer of any size is a seed
                if strange.name in self.only.get(name, (strange.name,)) and not (self.foreign and strange.name in EXTREMES):
                    yield name, strange


def catalogue(value: Any) -> Iterator[Strange]:
    """The strange values that stand for a clean one."""
    if isinstance(value, np.ndarray) or (isinstance(value, list) and value and all(isinstance(v, float) for v in value)):
        yield from arrays(value)
        yield from lazy_arrays(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from numbers(value)
        yield from extremes(value)


def fault(entry: EntryPoint, name: str, strange: Strange, clean: Any) -> str | None:
    """What is wrong with how the entry point takes a strange value; None for nothing."""
    if strange.name in entry.admits.get(name, ()):
        return None
    case()
    word = entry.named.get(name, name)
    if strange.name in SHAPES or strange.name in EXTREMES:  # may show where they meet another parameter
        word = "|".join({*entry.arguments, *entry.named.values()})
    try:
        found = entry.call(**{name: strange.value})
    except (ValueError, TypeError) as error:
        said = str(error)
        if (strange.name in EXTREMES and isinstance(error, InvalidProblem)) or name in entry.foreign:
            return None
        if "\n" in said:
            return f"a message of several lines: {said!r}"
        if not re.search(rf"(?i)(?<![a-z])({word})", said):
            return f"{type(error).__name__} without the name {word!r}: {said!r}"
        if strange.index is not None and not re.search(rf"(?<!\d){strange.index[0]}(?!\d)", said):
            return f"no index {strange.index}: {said!r}"
        return None if REMEDY.search(said) else f"no remedy: {said!r}"
    except Exception as error:
        if strange.name in EXTREMES and type(error) in (ArithmeticError, OverflowError) and "(34" not in str(error):
            return None  # said on purpose, as where an iteration does not converge
        return f"{type(error).__name__}: {error}"
    if strange.name in EXTREMES:
        return None if entry.undefined or holds_nan(clean) or not holds_nan(found) else "nan comes out"
    if strange.means is NOTHING:
        return f"taken, and gives {shortly(found)}"
    try:
        expected = entry.call(**{name: strange.means})
    except (ValueError, TypeError) as error:
        return f"taken, though what it means is refused: {error}"
    return None if same(found, expected, entry.rtol) else f"gives {shortly(found)}, and what it means gives {shortly(expected)}"


SHAPES = {"empty", "0-d", "a number", "one axis more", "one axis less"}
EXTREMES = {strange.name for kind in (1, 1.0) for strange in extremes(kind)}


def shortly(result: Any) -> str:
    """A few words of it."""
    text = repr(result)
    return text if len(text) < 120 else text[:117] + "…"


def plain(value: Any, depth: int = 0) -> Any:
    """Numbers, truths and texts in lists, of whatever a function returns."""
    if depth > 8 or value is None or isinstance(value, str | bool | np.bool_):
        return value
    if isinstance(value, int | float | np.number):
        return float(value)
    if isinstance(value, np.ndarray):
        return [str(value.dtype.kind), value.astype(float)] if value.dtype.kind in "biuf" else value.tolist()
    if isinstance(value, Mapping):
        return [[str(key), plain(item, depth + 1)] for key, item in value.items() if key not in LEFT_OUT]
    if dataclasses.is_dataclass(value):
        return [
            plain(getattr(value, item.name), depth + 1) for item in dataclasses.fields(value) if item.name not in LEFT_OUT and item.repr
        ]
    if isinstance(value, Iterable):
        return [plain(item, depth + 1) for item in value]
    if callable(getattr(value, "compute", None)):
        return plain(value.compute(), depth + 1)
    return type(value).__name__


def same(one: Any, two: Any, rtol: float) -> bool:
    """Whether two plain results are equal up to rounding."""
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return one.shape == two.shape and bool(np.allclose(one, two, rtol=rtol, atol=rtol, equal_nan=True))
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(same(a, b, rtol) for a, b in zip(one, two, strict=True))
    if isinstance(one, float) and isinstance(two, float):
        return one == two or (math.isnan(one) and math.isnan(two)) or math.isclose(one, two, rel_tol=rtol, abs_tol=rtol)
    return bool(one == two)


def holds_nan(result: Any) -> bool:
    """Whether there is nan anywhere in a plain result."""
    if isinstance(result, list):
        return any(holds_nan(item) for item in result)
    return bool(np.isnan(result).any()) if isinstance(result, np.ndarray | float) else False
