"""`simopt replay WITNESS…`: the checks of witness files run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from simopt.cli import completion
from simopt.cli.console import console, table
from simopt.cli.streams import complain
from simopt.core.evidence import files, several
from simopt.core.foreign_text import on_terminal

if TYPE_CHECKING:
    from simopt.claims.replay import Replay

SAME, DIFFERENT, UNREADABLE = 0, 1, 2  # exit statuses; of several files the worst
STATUSES = "replay", "do not replay", "unreadable"


def replay(
    witnesses: Annotated[
        list[str],
        typer.Argument(
            metavar="WITNESS|ID|FOLDER...",
            help="Witness files of verify, claims, or folders of files.",
            autocompletion=completion.claims,
        ),
    ],
    coq: Annotated[
        str, typer.Option("--coq", metavar="DIR", help="Also write what is refuted as theorems of Coq, a file a claim, into this folder.")
    ] = "",
) -> None:
    """Check witnesses again, each on its instance.

    A folder stands for all its *.witness.json. Several files take a line each, and a bad one stops no other. Exit status
    0: the checks of the files come out as they did; 1: one comes out differently; 2: a file is unreadable.
    """
    paths = files(witnesses, "witness")
    status = _many(paths) if several(witnesses) else _one(paths[0])
    if coq:
        _export(paths, coq)
    raise typer.Exit(status)


def _export(paths: Sequence[str], folder: str) -> None:
    """Write the refutations that state a formula as files of Coq, and say why the others leave none."""
    from simopt.coq.refutation import write
    from simopt.coq.theory import NoTheorem
    from simopt.core.errors import InvalidFile

    for path in paths:
        try:
            typer.echo(on_terminal(f"{folder}/{write(path, folder)}.v"))
        except NoTheorem as error:
            complain(f"{path}: no theorem, {error}")
        except InvalidFile as error:
            complain(f"{path}: {error}")


def _one(witness: str) -> int:
    """Print all that the check of one file says now."""
    from simopt.claims.enclosure import as_float
    from simopt.claims.replay import replay as rerun

    again = rerun(witness)
    out = console()
    if again.warning:
        complain(f"warning: {again.warning}")
    found = again.witness
    out.print(f"{found.row} ({again.claim.paper}, {again.claim.place})")
    out.print(again.claim.says)
    out.print(f"instance {found.index} of seed {found.seed}, {found.effort} effort")
    rows = [
        (
            check.name,
            check.outcome(again.claim.resolution).value,
            f"{as_float(check.low):.6g}",
            f"{as_float(check.high):.6g}",
            check.evidence.value,
        )
        for check in again.checks
    ]
    out.print(table(("check", "outcome", "slack from", "to", "evidence"), rows, right=("slack from", "to")))
    out.print(_result_text(again))
    return SAME if again.same else DIFFERENT


def _many(witnesses: Sequence[str]) -> int:
    """Print a line a file, and how many came out how."""
    from simopt.claims.replay import replays

    out = console()
    counts = [0, 0, 0]
    with replays() as rerun:
        for witness in witnesses:
            again = _again(rerun, witness)
            if again is None:
                counts[UNREADABLE] += 1
                continue
            if again.warning:
                complain(f"warning: {witness}: {again.warning}")
            counts[SAME if again.same else DIFFERENT] += 1
            out.print(f"{again.witness.row}: {_result_text(again)}", soft_wrap=True)
    out.print(f"{len(witnesses)} witnesses: " + ", ".join(f"{count} {word}" for count, word in zip(counts, STATUSES, strict=True) if count))
    return max(status for status, count in enumerate(counts) if count)


def _again(rerun: Callable[[str], Replay], witness: str) -> Replay | None:
    """The replay of one file of several; None, once it is told what is wrong with it."""
    from simopt.cli.errors import expected

    try:
        return rerun(witness)
    except Exception as error:
        line = expected(error)
        if line is None:
            raise
        complain(line if witness in line else f"{witness}: {line}")
        return None


def _result_text(again: Replay) -> str:
    """The verdict, the slack on file and the one found now, and whether they say the same."""
    from simopt.claims.enclosure import as_float

    found = again.witness
    slack = min((as_float(check.low) for check in again.checks if check.name == found.check), default=float("nan"))
    said = "it replays" if again.same else "IT DOES NOT REPLAY"
    return f"{again.verdict}; slack on file {found.slack:.6g}, here {slack:.6g}: {said}"
