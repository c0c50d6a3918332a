r"""A fit as one step: the estimator is the old one or the new one, whole, wherever the fit ends; and what it keeps holds no clock readings.

The body of `fit` runs on a fresh object, which has the parameters and nothing else. Its attributes become those of the estimator in one
assignment, the last thing that happens. An exception or Ctrl-C at any line before it leaves the estimator as it was: fitted as before, or
not fitted. A model that another thread looks at meanwhile is whole, too.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simopt.arithmetic.sparse import is_sparse
from simopt.core import validate
from simopt.core.errors import InvalidProblem, NotFinite

FITS = ("fit", "fit_transform")
CLOCKS = ("seconds", "setup_seconds", "solve_seconds")  # fields and keys that hold clock readings
COEFFICIENTS = ("coef_", "dual_coef_", "intercept_")  # of which a model is made
HERE, PROPERTIES = os.path.join(os.path.dirname(__file__), ""), functools.__file__
UNKNOWN = float("nan")  # the reading of a clock that was not kept


def at_once(fit: Callable[..., Any]) -> Callable[..., Any]:
    """`fit`, whose attributes are all assigned at its end, or none of them. The clock of the fit (`_began`) runs meanwhile.

    Raises
    ------
    InvalidProblem
        when something overflows because of data whose squares float64 cannot hold (`measure`), naming them.
    """

    @functools.wraps(fit)
    def whole(self: Any, *args: Any, **options: Any) -> Any:
        """Run `fit` on an unfitted copy, and take over all its attributes once every coefficient is known to be finite."""
        fresh = object.__new__(type(self))
        fresh.__dict__ = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        fresh._began = time.perf_counter()
        try:
            out = fit(fresh, *args, **options)
            for name in COEFFICIENTS:
                validate.all_finite(name, np.asarray(vars(fresh).get(name, 0.0)))
        except NotFinite as error:
            if not (size := vars(fresh).get("_size")):
                raise
            raise InvalidProblem(f"{size} ({error})") from error
        for name in ("_began", "_size"):
            vars(fresh).pop(name, None)
        self.__dict__ = fresh.__dict__
        return self if out is fresh else out

    return whole


def measure(estimator: Any, **data: Any) -> None:
    """Remember, while the estimator is fitted, which of its data have entries whose squares float64 cannot hold."""
    for name, values in data.items():
        try:
            validate.squarable(name, values.data if is_sparse(values) else values)
        except InvalidProblem as error:
            estimator._size = str(error)
            return


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line outside of this package that called `fit`."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and (frame.f_code.co_filename.startswith(HERE) or frame.f_code.co_filename == PROPERTIES):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def unclocked(value: Any, seen: dict[int, tuple[Any, Any]]) -> Any:
    """The value with nan for each clock reading in it: in records, tuples and mappings. What holds none is the value itself.

    `seen` maps the identity of a value to the value and its result: what was one object stays one object.
    """
    if id(value) in seen:
        return seen[id(value)][1]
    out = value
    if isinstance(value, tuple) and type(value) is tuple:
        parts = tuple(unclocked(part, seen) for part in value)
        out = parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    elif isinstance(value, Mapping):
        items = {key: _reading(key, item, seen) for key, item in value.items()}
        out = items if any(items[key] is not value[key] for key in items) else value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {item.name: getattr(value, item.name) for item in dataclasses.fields(value) if item.init}
        changed = {name: _reading(name, item, seen) for name, item in fields.items()}
        changed = {name: item for name, item in changed.items() if item is not fields[name]}
        out = dataclasses.replace(value, **changed) if changed else value
    seen[id(value)] = value, out
    return out


def _reading(name: Any, value: Any, seen: dict[int, tuple[Any, Any]]) -> Any:
    """The part of that name."""
    if name not in CLOCKS:
        return unclocked(value, seen)
    return dict.fromkeys(value, UNKNOWN) if isinstance(value, Mapping) else UNKNOWN
