"""`simopt recheck PROOF`: hand a proof file to the independent checker."""

from __future__ import annotations

from typing import Annotated

import typer


def recheck(proof: Annotated[str, typer.Argument(metavar="PROOF", help="Proof file that verify left behind.")]) -> None:
    """Check a proof file with the independent checker.

    It computes in rational arithmetic, knows nothing of the rest of simopt, and prints the statement that it checked. Then words and
    formulas are compared with those of the claim in the catalogue, if it is known here. Exit status 0: it holds; 1: the file does not
    prove what it states, or is not the claim's own; 2: unreadable.
    """
    from simopt import recheck as checker
    from simopt.claims.authentic import compared

    try:
        document = checker.read(proof)
        lines = [*checker.check(document), compared(document)]
    except checker.Rejected as error:
        typer.echo(f"simopt: {proof}: rejected, {error}", err=True)
        raise typer.Exit(1) from None
    except checker.Unreadable as error:
        typer.echo(f"simopt: {proof}: {str(error).removeprefix(f'{proof}: ')}", err=True)
        raise typer.Exit(2) from None
    for line in lines:
        typer.echo(line)
    typer.echo("CHECKED")
