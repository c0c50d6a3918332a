"""`simopt recheck PROOF`: hand a proof file to the independent checker."""

from __future__ import annotations

from typing import Annotated

import typer


def recheck(
    proof: Annotated[str, typer.Argument(metavar="PROOF|ID", help="Proof file that verify left behind, or the claim it is of.")],
) -> None:
    """Check a proof file with the independent checker.

    It computes in rational arithmetic, knows nothing of the rest of simopt, and prints the statement that it checked. Exit status 0: it
    holds; 1: the file does not prove what it states; 2: unreadable.
    """
    from simopt import recheck as checker
    from simopt.evidence import named

    proof = named(proof, "proof")
    try:
        lines = checker.check(checker.read(proof))
    except checker.Rejected as error:
        typer.echo(f"simopt: {proof}: rejected, {error}", err=True)
        raise typer.Exit(1) from None
    except checker.Unreadable as error:
        typer.echo(f"simopt: {proof}: {str(error).removeprefix(f'{proof}: ')}", err=True)
        raise typer.Exit(2) from None
    for line in lines:
        typer.echo(line)
    typer.echo("CHECKED")
