"""`simopt recheck PROOF…`: hand proof files to the independent checker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from simopt.cli import completion
from simopt.cli.streams import complain
from simopt.core.foreign_text import on_terminal

CHECKED, REJECTED, UNREADABLE = 0, 1, 2  # exit statuses; of several files the worst
STATUSES = "checked", "rejected", "unreadable"


def recheck(
    proofs: Annotated[
        list[str],
        typer.Argument(
            metavar="PROOF|ID|FOLDER...",
            help="Proof files that verify left behind, claims, folders of files, or certificates that certify --save wrote.",
            autocompletion=completion.claims,
        ),
    ],
    coq: Annotated[
        str, typer.Option("--coq", metavar="DIR", help="Also write what was checked as theorems of Coq, a file a claim, into this folder.")
    ] = "",
) -> None:
    """Check proof files, and files of certificates, with the independent checkers.

    It computes in rational arithmetic, knows nothing of the rest of simopt, and prints the statements that it checked. Then another process
    compares words and formulas with those of the claim in the catalogue, if it is known there. A folder stands for all its *.proof.json.
    Several files take a line each, and a bad one stops no other. Exit status 0: all hold; 1: a file does not prove what it
    states, or is not the claim's own; 2: a file is unreadable. A certificate of a conic problem is compared with no catalogue;
    its bounds are proved of the data in it. With --coq what was checked is written as theorems of Coq, whose kernel is
    another program.
    """
    from simopt.core.evidence import files, several

    paths = files(proofs, "proof")
    exported: list[str] = []
    status = _many(paths, exported) if several(proofs) else _one(paths[0], exported)
    if coq and exported:
        _export(exported, coq)
    if status:
        raise typer.Exit(status)


def _export(proofs: Sequence[str], folder: str) -> None:
    """Write what was checked as files of Coq, and how the kernel is asked."""
    from simopt.coq.theory import write
    from simopt.recheck import read

    names = [write(read(proof), folder) for proof in proofs]
    asked = " && ".join(f"coqc -Q . Simopt {name}.v" for name in ("Simopt", *names[:1]))
    typer.echo(on_terminal(f"{len(names)} file{'' if len(names) == 1 else 's'} of Coq and Simopt.v in {folder}: cd {folder} && {asked}"))


def _one(proof: str, accepted: list[str]) -> int:
    """Print all that was checked of one file, or what is wrong with it."""
    lines, status = _checked([proof])[proof]
    if status == CHECKED and _is_bounds(lines):
        for line in lines:
            typer.echo(on_terminal(line))
        return status
    if status == CHECKED:
        said, status = _compared([proof])[proof]
        lines = [*lines, said, "CHECKED"] if status == CHECKED else [f"rejected, {said}"]
    if status == CHECKED:
        accepted.append(proof)
        for line in lines:
            typer.echo(on_terminal(line))
    else:
        complain(f"{proof}: {lines[0]}")
    return status


def _many(proofs: Sequence[str], accepted: list[str]) -> int:
    """Print a line a file, and how many came out how."""
    found = _checked(proofs)
    catalogue = _compared([proof for proof, (lines, status) in found.items() if status == CHECKED and not _is_bounds(lines)])
    counts = dict.fromkeys(STATUSES, 0)
    for proof, (lines, checked) in found.items():
        said, status = catalogue.get(proof, (lines[0], checked))
        if proof in catalogue:
            statements = sum(line.startswith("[") for line in lines)
            said = f"{statements} statement{'' if statements == 1 else 's'}. {said}" if status == CHECKED else f"rejected, {said}"
        counts[STATUSES[status]] += 1
        if status == CHECKED:
            if proof in catalogue:
                accepted.append(proof)
            else:
                said = lines[-1]
            typer.echo(on_terminal(f"CHECKED {proof}: {said}"))
        else:
            complain(f"{proof}: {said}")
    typer.echo(
        f"{len(proofs)} proof file{'s' * (len(proofs) != 1)}: " + ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    )
    return max(status for status, word in enumerate(STATUSES) if counts[word])


def _checked(proofs: Sequence[str]) -> dict[str, tuple[list[str], int]]:
    """The checker's answer to each file, and the exit status; in one process, and a new one after each file that kills it."""
    from contextlib import closing

    import simopt.recheck
    import simopt.recheck_certificate  # noqa: F401  # both here, so that a forked process has them
    from simopt.processes.worker import Died, Workers

    found: dict[str, tuple[list[str], int]] = {}
    with closing(Workers(_answer, fork=True)) as workers:
        for proof in proofs:
            try:
                found[proof] = workers.call(proof)
            except Died as error:
                found[proof] = [f"it cannot be checked ({error})"], UNREADABLE
    return found


def _answer(proof: str) -> tuple[list[str], int]:
    """The checker's answer to one file, and the exit status."""
    from simopt import recheck as checker
    from simopt import recheck_certificate as certificates

    try:
        document = checker.read(proof)
        return (certificates if checker.is_certificate(document) else checker).check(document), CHECKED
    except (checker.Rejected, certificates.NotProved) as error:
        return [f"rejected, {error}"], REJECTED
    except (checker.Unreadable, certificates.Malformed) as error:
        return [str(error).removeprefix(f"{proof}: ")], UNREADABLE


def _is_bounds(lines: Sequence[str]) -> bool:
    """Whether the checker's answer is about a certificate: no line of its answer to a proof file begins so."""
    return lines[-1].startswith("PROVED, of the problem in the file")


def _compared(proofs: Sequence[str]) -> dict[str, tuple[str, int]]:
    """The answer of `simopt.claims.authentic` to each file; in a process of its own, so that nothing of simopt is loaded here.

    A file that ends the process is compared with nothing, and the files after it are asked for again.
    """
    import subprocess

    from simopt.processes.worker import module

    found: dict[str, tuple[str, int]] = {}
    while left := [proof for proof in proofs if proof not in found]:
        done = subprocess.run(module("simopt.claims.authentic", *left), capture_output=True, text=True, check=False)
        answers = [line for line in done.stdout.splitlines() if line.startswith(("own ", "rejected "))]
        for proof, line in zip(left, answers, strict=False):
            word, _, said = line.partition(" ")
            found[proof] = said, REJECTED if word == "rejected" else CHECKED
        if left[-1] not in found:
            lost = next(proof for proof in left if proof not in found)
            words = done.stderr.strip().splitlines()
            found[lost] = f"It was compared with no catalogue: {words[-1] if words else 'no answer'}.", CHECKED
    return found
