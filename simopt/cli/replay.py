"""`simopt replay WITNESS`: the check of one witness file run again."""

from __future__ import annotations

from typing import Annotated

import typer

from simopt.cli.console import console, table


def replay(witness: Annotated[str, typer.Argument(metavar="WITNESS", help="Witness file that verify left behind.")]) -> None:
    """Check one witness again, on its instance.

    Exit status 0: the check of the file comes out as it did; 1: it comes out differently; 2: the file is unreadable.
    """
    from simopt.claims.replay import replay as rerun

    again = rerun(witness)
    out = console()
    if again.warning:
        typer.echo(f"simopt: warning: {again.warning}", err=True)
    found = again.witness
    out.print(f"{found.row} ({again.claim.paper}, {again.claim.place})")
    out.print(again.claim.says)
    out.print(f"instance {found.index} of seed {found.seed}, {found.effort} effort")
    rows = [
        (
            check.name,
            check.outcome(again.claim.resolution).value,
            f"{float(check.low):.6g}",
            f"{float(check.high):.6g}",
            check.evidence.value,
        )
        for check in again.checks
    ]
    out.print(table(("check", "outcome", "slack from", "to", "evidence"), rows, right=("slack from", "to")))
    resolution = again.claim.resolution
    here = [check for check in again.checks if check.name == found.check]
    same = any((float(check.low) < -resolution) == (found.slack < -resolution) for check in here)
    slack = min((float(check.low) for check in here), default=float("nan"))
    out.print(f"{again.verdict}; slack on file {found.slack:.6g}, here {slack:.6g}: " + ("it replays" if same else "IT DOES NOT REPLAY"))
    raise typer.Exit(0 if same else 1)
