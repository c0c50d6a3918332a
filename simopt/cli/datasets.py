"""`simopt datasets`: which there are and where; `simopt datasets fetch`: download them with their terms shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from simopt.cli import completion
from simopt.cli.console import Json, console, emit, reserved, table

if TYPE_CHECKING:
    from simopt.data.datasets import Description

datasets = typer.Typer(help="List the papers' data sets, or fetch them.", rich_markup_mode=None)
HERE, FETCHED, FAILED = "here", "fetched", "NOT FETCHED"
HEADINGS = ("name", "", "where, or what to do", "terms")


@datasets.callback(invoke_without_command=True)
def _group(context: typer.Context, as_json: Json = False) -> None:
    """List the papers' data sets with their terms, and where each is; `fetch` downloads."""
    if context.invoked_subcommand is None:
        from simopt.cli.list import list_

        list_("datasets", as_json)
        if not as_json:
            console().print("`simopt datasets fetch NAME|all` downloads what is not here, its terms shown")


@datasets.command()
def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…|all", help="Data sets: see `simopt list datasets`.", autocompletion=completion.datasets)
    ],
    as_json: Json = False,
) -> None:
    """Download data sets from OpenML or UCI into the cache, their terms shown, and say where each is.

    A data set that is here already is checked and left alone. Exit status 0: all are here now; 1: some could not be fetched; 2: bad input.
    """
    from simopt.core.errors import InvalidProblem
    from simopt.data.datasets import describe, descriptions

    folded = [name.casefold() for name in names]
    if "friedman" in folded:
        raise InvalidProblem("datasets fetch: friedman is drawn, not fetched; load_dataset and --data have it everywhere")
    entries = descriptions() if folded == ["all"] else [describe(name) for name in names]
    with reserved(as_json):
        found = [_row(entry) for entry in {entry.name: entry for entry in entries}.values()]
    lines = [[row["name"], row["state"], row["where"] or row["reason"], row["licence"]] for row in found]
    emit(found, as_json, None, lambda: console().print(table(HEADINGS, lines, whole=HEADINGS[:2])))
    raise typer.Exit(1 if any(row["state"] == FAILED for row in found) else 0)


def _row(entry: Description) -> dict[str, Any]:
    """One data set: it was here, it is here now, or it could not be fetched and why."""
    from simopt.core.errors import InvalidProblem, MissingDataset
    from simopt.data.datasets import load_dataset
    from simopt.data.datasets.loader import where

    state, reason = HERE if where(entry) else FETCHED, None
    try:
        load_dataset(entry.name, fetch=True)
    except (InvalidProblem, MissingDataset) as error:
        state, reason = FAILED, str(error)
    path = where(entry)
    return {"name": entry.name, "state": state, "where": path and str(path), "reason": reason, "licence": entry.licence}
