"""Families as the command line names them: `m-power-rls[power=1.5]`, `FILE.py:family` or `MODULE:family`."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simopt.cli import settings
from simopt.compare.interception import started_from
from simopt.core import registry
from simopt.core.errors import InvalidProblem, NotAvailable, UnknownName
from simopt.equivalence.family import Family, Interval, RegistryEntry
from simopt.equivalence.training import KernelFunction, TrainingSet

NEEDED = "a Family, or a function without arguments that returns one, needed"
EXAMPLE = "a family such as kernel-ridge, m-power-rls[power=1.5] or mine.py:family"


def family_of(text: str) -> Family:
    """The family that a text names.

    Raises
    ------
    UnknownName
        for a name that nothing is registered under, or an option that the family has not, with the nearest.
    InvalidProblem
        for what is no family.
    OSError
        where the file cannot be read.
    """
    home, colon, name = text.rpartition(":")
    if colon and name.isidentifier():
        return _own(text, home, name)
    known, options = settings.with_options("family", text, EXAMPLE)
    entry: RegistryEntry = registry.find("family", known)
    taken = inspect.signature(entry.build).parameters
    for option in options:
        if option not in taken:
            raise UnknownName(f"option of the family {entry.name}", option, taken)
    try:
        made = entry.build(**options)
    except TypeError as error:
        shown = ", ".join(f"{option}={value!r}" for option, value in options.items())
        raise InvalidProblem(f"{text}: the family cannot be made of {shown or 'no options'} ({error})") from error
    if not isinstance(made, Family):
        raise InvalidProblem(f"{text}: {type(made).__name__} registered, a Family needed")
    return made


def _own(text: str, home: str, name: str) -> Family:
    """The family of a file or module: a Family, or what a function without arguments returns."""
    from simopt.compare.own_problems import names_of

    with started_from(Path.cwd(), [home]):
        known = names_of(home)
        if name not in known:
            raise UnknownName(f"family of {home}", name, [each for each, value in known.items() if callable(value) and each[0] != "_"])
        made: Any = known[name]
        if not isinstance(made, Family) and callable(made):
            wanted = [p.name for p in inspect.signature(made).parameters.values() if p.default is p.empty and p.kind not in (2, 4)]
            if wanted:
                raise InvalidProblem(f"{text}: it needs {', '.join(wanted)}; {NEEDED}")
            with blamed(text, home, NEEDED):
                made = made()
    if not isinstance(made, Family):
        raise InvalidProblem(f"{text}: {type(made).__name__} found; {NEEDED}")
    return _guarded(made, text, home)


def _guarded(own: Family, text: str, home: str) -> Family:
    """The family, with what its code raises told in one line. A fit without a result raises ArithmeticError: that is for the search."""

    def fit(parameter: float, Z: TrainingSet) -> KernelFunction:
        with blamed(f"{text}: its fit at {parameter:g}", home, "raise ArithmeticError where there is no function", fitting=True):
            return own.fit(parameter, Z)

    def domain(Z: TrainingSet) -> Interval:
        with blamed(f"{text}: its domain", home, "an Interval for each training set needed"):
            return own.domain(Z)

    return replace(own, fit=fit, domain=domain)


@contextmanager
def blamed(what: str, home: str, remedy: str, *, fitting: bool = False) -> Iterator[None]:
    """What the code of a file raises, as one line: the exception, the line of the file, and the remedy.

    Errors of simopt are told as they are; so are those of files that are missing. Of a fit those of arithmetic and linear algebra are
    ArithmeticErrors.
    """
    try:
        yield
    except (InvalidProblem, UnknownName, NotAvailable):
        raise
    except np.linalg.LinAlgError as error:
        raise (ArithmeticError if fitting else InvalidProblem)(_blame(what, home, remedy, error)) from error
    except (Exception, SystemExit) as error:
        if (fitting and isinstance(error, ArithmeticError)) or (isinstance(error, OSError) and error.filename is not None):
            raise
        raise InvalidProblem(_blame(what, home, remedy, error)) from error


def _blame(what: str, home: str, remedy: str, error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == home]
    number = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    where = "" if number is None else f" in line {number}"
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{what} raised {type(error).__name__}{where}: {said}; {remedy}"
