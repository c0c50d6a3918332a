"""Families as the command line names them: `m-power-rls[power=1.5]`, `FILE.py:family` or `MODULE:family`."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from simopt.cli import settings
from simopt.cli.interception import names_of, started_from
from simopt.core import registry
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.equivalence.family import Entry, Family

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
    entry: Entry = registry.find("family", known)
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
    with started_from(Path.cwd(), [home]):
        known = names_of(home)
        if name not in known:
            raise UnknownName(f"family of {home}", name, [each for each, value in known.items() if callable(value) and each[0] != "_"])
        made: Any = known[name]
        if not isinstance(made, Family) and callable(made):
            wanted = [p.name for p in inspect.signature(made).parameters.values() if p.default is p.empty and p.kind not in (2, 4)]
            if wanted:
                raise InvalidProblem(f"{text}: it needs {', '.join(wanted)}; {NEEDED}")
            made = made()
    if not isinstance(made, Family):
        raise InvalidProblem(f"{text}: {type(made).__name__} found; {NEEDED}")
    return made
