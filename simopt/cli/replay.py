"""`simopt replay WITNESS`: the check of one witness file run again."""

from __future__ import annotations

from typing import Annotated

import typer

from simopt.cli.console import console, table
from simopt.cli.streams import complain
from simopt.ground.evidence import named


def replay(
    witness: Annotated[str, typer.Argument(metavar="WITNESS|ID", help="Witness file that verify left behind, or the claim it is of.")],
) -> None:
    """Check one witness again, on its instance.

    Exit status 0: the check of the file comes out as it did; 1: it comes out differently; 2: the file is unreadable.
    """
    from simopt.claims.enclosure import as_float
    from simopt.claims.replay import replay as rerun

    again = rerun(named(witness, "witness"))
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
    slack = min((as_float(check.low) for check in again.checks if check.name == found.check), default=float("nan"))
    said = "it replays" if again.same else "IT DOES NOT REPLAY"
    out.print(f"{again.verdict}; slack on file {found.slack:.6g}, here {slack:.6g}: {said}")
    raise typer.Exit(0 if again.same else 1)
