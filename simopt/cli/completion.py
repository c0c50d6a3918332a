"""What the shell completes: names of problems, of their solvers, and of data sets.

The names are read from sources, where that is enough, so that a press of the key costs no imports. A key that finds nothing, or meets an
error, says nothing: what is wrong is told when the command runs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Annotated, Any

import typer

Completer = Callable[[typer.Context, str], list[str]]


def beginning(names: Callable[[typer.Context], list[str]]) -> Completer:
    """The names that begin with what stands there already."""

    @wraps(names)
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        with suppress(Exception):
            return sorted({name for name in names(ctx) if name.startswith(incomplete)})
        return []

    complete.__annotations__ = {"ctx": typer.Context, "incomplete": str, "return": list[str]}  # by which typer hands them over
    del complete.__wrapped__  # else typer looks at the arguments of `names`
    return complete


def _rows() -> list[dict[str, Any]]:
    from simopt.cli.list import rows
    from simopt.ground import registry, sources

    if not registry.foreign("problems", "solvers"):
        with suppress(sources.Unread):
            return sources.problems()
    registry.load("problems", "solvers")
    return rows("problems")


@beginning
def problems(ctx: typer.Context) -> list[str]:
    """All problems."""
    return [row["name"] for row in _rows()]


ProblemName = Annotated[
    str, typer.Argument(metavar="PROBLEM", help="Name of the problem: see `simopt list problems`.", autocompletion=problems)
]


@beginning
def solvers(ctx: typer.Context) -> list[str]:
    """Those of any problem, the three back ends that come with simopt, and `all`."""
    from simopt.solving.backends.table import FIRST_CLASS

    return [*(name for row in _rows() for name in row["solvers"]), *(backend.name for backend in FIRST_CLASS), "all"]


@beginning
def datasets(ctx: typer.Context) -> list[str]:
    """All data sets."""
    from simopt.data.datasets import descriptions

    return [entry.name for entry in descriptions()]
