"""Completion in the shell: names of problems, of their solvers, of claims and papers, of tables, equivalences and data sets.

The names are read from sources, where that is enough, so that a press of the key costs no imports. A key that finds nothing, or meets an
error, says nothing: what is wrong is told when the command runs. A command that takes files, too, completes those if no name begins
so.
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
    """Problems with their solvers."""
    from simopt.cli.list import rows
    from simopt.core import registry, sources

    if not registry.foreign("problems", "solvers"):
        with suppress(sources.Unread):
            return sources.problems()
    registry.load("problems", "solvers")
    return rows("problems")


def _problems() -> list[str]:
    return [row["name"] for row in _rows()]


def _solvers(ctx: typer.Context | None = None) -> list[str]:
    """Those of the problem that stands before (else of any), and the back ends that are installed."""
    from simopt.backends.table import listed
    from simopt.core.registry import fold

    before = [] if ctx is None else [ctx.params.get("problem") or "", *ctx.args]  # click leaves it in `args` until the line is complete
    rows = _rows()
    chosen = [row for row in rows if fold(row["name"]) in map(fold, before)] or rows
    return [*(name for row in chosen for name in row["solvers"]), *(backend.name for backend in listed() if backend.missing is None)]


def _claims() -> list[str]:
    from simopt.claims.each_set import FETCHED
    from simopt.cli.list import rows
    from simopt.core import registry, sources

    if not registry.foreign("theorems"):
        with suppress(sources.Unread):
            parts = sources.registered("theorems", "claim_on_each")
            fetched = [name + FETCHED for name, said in parts if not said.get("all_carried", False)]
            return [*(name for name, _ in sources.registered("theorems", "claim")), *(name for name, _ in parts), *fetched]
    registry.load("theorems")
    return [row["id"] for row in rows("theorems")]


def _papers() -> list[str]:
    from simopt.claims.papers import PAPERS

    return list(PAPERS)


def _made(*kinds: str) -> list[str]:
    """Names that theorems register beside claims: tables, equivalences and families."""
    from simopt.core import registry, sources

    if not registry.foreign("theorems"):
        with suppress(sources.Unread):
            return [name for kind in kinds for name, _ in sources.registered("theorems", kind)]
    registry.load("theorems")
    return [name for kind in kinds for name in registry.names(kind)]


def _datasets() -> list[str]:
    from simopt.data.datasets import descriptions

    return [entry.name for entry in descriptions()]


@beginning
def problems(ctx: typer.Context) -> list[str]:
    """All problems."""
    return _problems()


ProblemName = Annotated[
    str, typer.Argument(metavar="PROBLEM", help="Name of the problem: see `simopt list problems`.", autocompletion=problems)
]


@beginning
def solvers(ctx: typer.Context) -> list[str]:
    """Those of the problem that stands before, the back ends that are installed, and `all`."""
    return [*_solvers(ctx), "all"]


def solver_lists(ctx: typer.Context, incomplete: str) -> list[str]:
    """Those of the problem that stands before and the back ends, also after a comma."""
    before, comma, last = incomplete.rpartition(",")
    names = beginning(_solvers)(ctx, last)
    return [f"{before}{comma}{name}" for name in names]


@beginning
def datasets(ctx: typer.Context) -> list[str]:
    """All data sets."""
    return _datasets()


@beginning
def claims(ctx: typer.Context) -> list[str]:
    """Ids of all claims."""
    return _claims()


@beginning
def claims_and_papers(ctx: typer.Context) -> list[str]:
    """Ids of all claims, and keys of papers."""
    return [*_claims(), *_papers()]


@beginning
def tables(ctx: typer.Context) -> list[str]:
    """All tables and figures."""
    return _made("table")


@beginning
def families(ctx: typer.Context) -> list[str]:
    """All families: also the two forms of every problem that has a penalty and a ball."""
    forms: dict[str, list[dict[str, Any]]] = {}
    for row in _rows():
        forms.setdefault(row["module"], []).append(row)
    numbers = {module: {row["parameters"][0] for row in rows if row["parameters"]} for module, rows in forms.items()}
    both = [module for module, found in numbers.items() if "regularization" in found and found & {"radius", "capacity"}]
    return [*_made("family"), *(row["name"] for module in both for row in forms[module])]


@beginning
def everything(ctx: typer.Context) -> list[str]:
    """All that can be shown."""
    return [*_problems(), *_solvers(), *_claims(), *_papers(), *_made("table", "equivalence", "family"), *_datasets()]
