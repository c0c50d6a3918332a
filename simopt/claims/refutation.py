"""A refutation as a theorem: for the instance of a witness every hypothesis holds and the conclusion fails."""

from __future__ import annotations

from pathlib import Path

from simopt.claims.check import Outcome
from simopt.claims.kinds import Quantifier
from simopt.claims.replay import replay
from simopt.claims.statement import TooLong, serialise
from simopt.coq.theory import NoTheorem, refutation, title, written


def write(path: str | Path, folder: str | Path) -> str:
    """Run a witness again and write its failing check as a file of Coq, with the prelude; the name of the file.

    Raises
    ------
    NoTheorem
        if no check fails here, if one instance refutes nothing, or if the check that fails states no formula.
    BadWitness
        if the file is no witness.
    """
    again = replay(path)
    claim, found = again.claim, again.witness
    failing = [check for check in again.checks if check.outcome(claim.resolution) is Outcome.REFUTED]
    if not failing:
        raise NoTheorem("no check fails on this instance")
    if claim.quantifier is Quantifier.SOME:
        raise NoTheorem("the claim says that there is an instance: one that fails does not refute it")
    stated = [check for check in failing if check.statement is not None and check.evidence.rigorous and not check.remains]
    if not stated:
        raise NoTheorem("the check that fails compares numbers and states no formula")
    check = next((check for check in stated if check.name == found.check), stated[0])
    name = f"{title(found.row)}_refuted"
    heading = [
        f"{found.row}, {claim.paper}, {claim.place}",
        f"NOT TRUE: {claim.says}",
        f"For this instance every hypothesis that is stated holds, and this fails: {check.name or 'the claim'}.",
    ]
    try:
        assert check.statement is not None
        template, values = serialise(check.statement)
        names = sorted(values)
        text = refutation(heading, name, template | {"names": names, "rows": [[values[each] for each in names]]})
    except (TooLong, ValueError) as error:
        raise NoTheorem(str(error)) from error
    return written(folder, name, text)
