"""`simopt recheck PROOF`: hand a proof file to the independent checker."""

from __future__ import annotations

from typing import Annotated

import typer

from simopt.cli.streams import complain
from simopt.ground.foreign_text import on_terminal


def recheck(
    proof: Annotated[str, typer.Argument(metavar="PROOF|ID", help="Proof file that verify left behind, or the claim it is of.")],
) -> None:
    """Check a proof file with the independent checker.

    It computes in rational arithmetic, knows nothing of the rest of simopt, and prints the statement that it checked. Then another process
    compares words and formulas with those of the claim in the catalogue, if it is known there. Exit status 0: it holds; 1: the file does
    not prove what it states, or is not the claim's own; 2: unreadable.
    """
    from simopt import recheck as checker
    from simopt.ground.evidence import named

    proof = named(proof, "proof")
    try:
        lines = [*checker.check(checker.read(proof)), _compared(proof)]
    except checker.Rejected as error:
        complain(f"{proof}: rejected, {error}")
        raise typer.Exit(1) from None
    except checker.Unreadable as error:
        complain(f"{proof}: {str(error).removeprefix(f'{proof}: ')}")
        raise typer.Exit(2) from None
    for line in lines:
        typer.echo(on_terminal(line))
    typer.echo("CHECKED")


def _compared(proof: str) -> str:
    """What `simopt.claims.authentic` says; in a process of its own, so that nothing of simopt is loaded where the file is checked."""
    import subprocess

    from simopt.ground.worker import module
    from simopt.recheck import Rejected

    done = subprocess.run(module("simopt.claims.authentic", proof), capture_output=True, text=True, check=False)
    said = (done.stdout or done.stderr).strip().splitlines()
    if done.returncode == 1 and done.stdout:
        raise Rejected(said[-1])
    return said[-1] if done.returncode == 0 and said else f"It was compared with no catalogue: {said[-1] if said else 'no answer'}."
