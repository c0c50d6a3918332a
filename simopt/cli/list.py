"""`simopt list`: what is registered, ours and other people's, and the plug-ins that could not be imported."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from simopt.cli.console import Json, console, emit, one_line, reserved, table
from simopt.cli.streams import complain

if TYPE_CHECKING:
    from simopt.core.registry import Failure

What = Literal["problems", "solvers", "theorems", "equivalences", "datasets", "tables"]
GROUPS = {"problems": ("problems",), "solvers": ("problems", "solvers"), "theorems": ("theorems",), "equivalences": ("theorems",)}
COLUMNS = {
    "problems": ("name", "title", "source", "solvers"),
    "solvers": ("name", "problem", "summary"),
    "theorems": ("id", "title", "expected", "covers", "section", "place", "kind", "corrects", "defect"),
    "equivalences": ("name", "kind", "summary"),
    "datasets": ("name", "title", "n", "d", "task", "papers", "terms", "carried", "where"),
    "tables": ("name", "paper", "place", "rows", "says"),
}
NARROW = 110  # below so many columns a list leaves out what `simopt show` tells
WIDER = {"theorems": 200}  # columns that all of a claim takes
ENDLESS = 10_000  # columns in a pipe, where each thing has its line and is whole
ON_NARROW = {
    **COLUMNS,
    "problems": ("name", "title"),
    "theorems": ("id", "expected", "title"),
    "datasets": ("name", "n", "d", "terms", "carried", "here"),
    "tables": ("name", "paper", "place"),
}
WHOLE = ("id", "name", "paper", "kind", "expected")
CUT = {"problems": ("title", "source", "solvers"), "theorems": ("title", "covers", "section", "place", "corrects", "defect")}  # a line each


def list_(what: Annotated[What, typer.Argument(help="What to list.")], as_json: Json = False) -> None:
    """List problems, solvers, theorems, data sets and the like."""
    from simopt.core import registry

    groups = {"tables": ("theorems",), "datasets": ()}.get(what) or GROUPS.get(what, ())
    with reserved(as_json):
        titles = what == "theorems" and not as_json
        found = _read() if what == "problems" and not registry.foreign("problems", "solvers") else None
        if found is None:
            if groups:
                registry.load(*groups)
            found = _titled() if titles else rows(what)
    concerned = (*groups, "backends") if what == "solvers" else groups
    failed = [failure for failure in registry.failures() if failure.group in concerned]
    if as_json:
        _warn(failed)
        # Every object of `list theorems --json` is a claim; elsewhere a plug-in that failed is an object of its own.
        extra = [] if what == "theorems" else [{"name": f.source, "group": f.group, "failed": f.reason} for f in failed]
        emit([*found, *extra], True)
        return
    out = console()
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        out.width = ENDLESS
    columns = (COLUMNS if out.width >= WIDER.get(what, NARROW) else ON_NARROW)[what]
    lines = [[_text(row.get(column)) for column in columns] for row in found]
    if what in CUT:
        lines = one_line(columns, lines, CUT[what], out.width)
    out.print(table(columns, lines, right=("n", "d"), whole=columns if what in CUT else WHOLE))
    families = sum(row.get("kind") == "family" for row in found)
    out.print(f"{len(found) - families} {what}" + (f", {families} families" if families else ""))
    if what == "solvers":
        out.print("and, by CVXPY's name, whatever else CVXPY has installed")
    for failure in failed:
        out.print(f"failed to import: {failure.source} (simopt.{failure.group}): {failure.reason}", style="red")


def rows(what: What) -> list[dict[str, Any]]:
    """Plain data of everything of one sort that is registered."""
    return {
        "problems": _problems,
        "solvers": _solvers,
        "theorems": _theorems,
        "equivalences": _equivalences,
        "datasets": _datasets,
        "tables": _tables,
    }[what]()


def _read() -> list[dict[str, Any]] | None:
    """Our problems, if their sources tell what is listed: that takes a tenth of the time of importing them."""
    from simopt.core import sources

    try:
        return sources.problems()
    except sources.Unread:
        return None


def _problems() -> list[dict[str, Any]]:
    from simopt.core import registry
    from simopt.solving.solver import solvers_of

    return [
        {
            "name": name,
            "title": kind.title,
            "source": kind.source,
            "solvers": [spec.name for spec in solvers_of(kind)],
            "parameters": kind.parameters,
            "arithmetics": kind.arithmetics,
            "module": registry.module_of("problem", name),
        }
        for name, kind in registry.items("problem")
    ]


def _solvers() -> list[dict[str, Any]]:
    from simopt.backends.table import listed
    from simopt.core import registry

    own = [
        {"name": spec.name, "problem": key.rpartition("@")[2], "summary": spec.summary, "options": list(spec.options)}
        for key, spec in registry.items("solver")
    ]
    back_ends = [
        {
            "name": b.name,
            "problem": "any",
            "summary": b.missing or f"CVXPY back end, cones: {', '.join(sorted(b.cones)) or 'none'}",
            "options": b.options,
        }
        for b in listed()
    ]
    return own + back_ends


def _theorems() -> list[dict[str, Any]]:
    from simopt.claims.catalogue import list_claims

    return list_claims()


def _titled() -> list[dict[str, Any]]:
    from simopt.claims.catalogue import claims

    return [{**claim.describe(), "title": claim.function.__name__.replace("_", " ")} for claim in claims()]


def _equivalences() -> list[dict[str, Any]]:
    from simopt.core import registry

    return [
        {"name": name, "kind": kind, "summary": entry.summary, "module": registry.module_of(kind, name)}
        for kind in ("equivalence", "family")
        for name, entry in registry.items(kind)
    ]


def _datasets() -> list[dict[str, Any]]:
    from simopt.data.datasets import descriptions
    from simopt.data.datasets.loader import where

    found = [(entry, where(entry)) for entry in descriptions()]
    return [{**entry.to_json(), "terms": entry.terms, "where": path and str(path), "here": path is not None} for entry, path in found]


def _tables() -> list[dict[str, Any]]:
    from simopt.core import registry

    return [entry.describe() for _, entry in registry.items("table")]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        parts = [str(part) for part in value]
        return ("; " if any("," in part for part in parts) else ", ").join(parts)
    return "" if value is None else str(value)


def _warn(failed: list[Failure]) -> None:
    for failure in (each for each in failed if not each.reported):
        complain(f"{failure.source} failed to import: {failure.reason}")
