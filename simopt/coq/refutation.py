"""A refutation as a theorem: for the instance of a witness every hypothesis holds and the conclusion fails."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from simopt import recheck
from simopt.claims.check import Check, Outcome
from simopt.claims.claim import Claim
from simopt.claims.isolation import isolated_process
from simopt.claims.kinds import Evidence, Quantifier
from simopt.claims.replay import TIME
from simopt.claims.replay import check as check_again
from simopt.claims.statement import Statement, TooLong, serialise
from simopt.claims.traced import MOST, FormulaTrace
from simopt.claims.witness import BadWitness, Witness
from simopt.coq.theory import NoTheorem, refutation, title, written

TRIED = 20  # points at which the sides of an identity are compared


def theorem(path: str | Path) -> tuple[str, str]:
    """Run a witness again; the name and the text of a file of Coq that states its failing check.

    Raises
    ------
    NoTheorem
        if no check fails here, if one instance refutes nothing, or if the check that fails states no formula.
    BadWitness
        if the file is no witness, or its instance none that the claim can check.
    """
    with isolated_process() as process:
        _, _, made = process.call(_theorem, path, 2 * TIME)
    name, text = made
    return name, text


def _theorem(claim: Claim, witness: Witness, path: str) -> tuple[str, str]:
    checks, _ = check_again(claim, witness, path)
    failing = [check for check in checks if check.outcome(claim.resolution) is Outcome.REFUTED]
    if not failing:
        raise NoTheorem("its witness shows what holds: no check fails on this instance")
    if claim.quantifier is Quantifier.SOME:
        raise NoTheorem("the claim says that there is an instance: one that fails does not refute it")
    stated = [check for check in failing if check.statement is not None and check.evidence.rigorous and not check.remains]
    given = "every hypothesis that is stated holds"
    decisions: tuple[Statement, ...] = ()
    if not stated:
        if not any(check.evidence.rigorous for check in failing):
            raise NoTheorem("the check that fails compares floats, and is no proof")
        stated, decisions = _traced(claim, witness, path)
        given = "all that its check decides on the way comes out so (numbers were computed from what is no fraction of it)"
    check = next((check for check in stated if check.name == witness.check), stated[0])
    name = f"{title(witness.row)}_refuted"
    constants = ", ".join(f"{each} = {witness.instance[each]}" for each in claim.constants if each in witness.instance)
    heading = [
        f"{witness.row}, {claim.paper}, {claim.place}",
        f"NOT TRUE{f' with {constants}' if constants else ''}: {claim.says}",
        f"For this instance {given}, and this fails: {check.name or 'the claim'}.",
        *([f"Every value: {claim.defeats}"] if claim.defeats else []),
    ]
    try:
        assert check.statement is not None
        statement = replace(check.statement, hypotheses=(*check.statement.hypotheses, *decisions))
        template, values = serialise(statement)
        if template["symbols"]:
            values |= _point(template, values)
            template |= {"symbols": []}
        names = sorted(values)
        return name, refutation(heading, name, template | {"names": names, "rows": [[values[each] for each in names]]})
    except (TooLong, ValueError) as error:
        raise NoTheorem(str(error)) from error


def _traced(claim: Claim, witness: Witness, path: str) -> tuple[list[Check], tuple[Statement, ...]]:
    """The checks that fail on the instance of a witness as formulas of its data, and what was decided on the way.

    Raises
    ------
    NoTheorem
        where what is compared does not come from fractions of the instance, or after more decisions than anybody reads.
    """
    trace = FormulaTrace()
    try:
        checks, _ = check_again(claim, witness, path, seen_as=trace.instance)
    except BadWitness as error:
        raise NoTheorem("its check computes with more than fractions, and states no formula") from error
    failing = [check for check in checks if check.outcome(claim.resolution) is Outcome.REFUTED]
    stated = [check for check in failing if check.statement is not None and check.evidence.rigorous]
    if all(check.evidence is Evidence.INTERVAL for check in failing if check.evidence.rigorous) and not stated:
        raise NoTheorem("its check compares enclosures, and states no formula")
    if not stated or all(check.name != witness.check for check in stated):
        raise NoTheorem("what its check compares is computed from no fractions of the instance, and it states no formula")
    if len(trace.decisions) > MOST:
        raise NoTheorem(f"its check states no formula, and takes more than {MOST} decisions on the way")
    return stated, tuple(trace.decisions.values())


def _point(template: dict[str, Any], values: dict[str, Any]) -> dict[str, str]:
    """Numbers for the symbols of an identity at which its two sides differ.

    Raises
    ------
    NoTheorem
        where none of those that are tried is one: the sides agree, or divide by zero.
    """
    known = {name: (Fraction(value), Fraction(value)) for name, value in values.items() if not isinstance(value, list)}
    for shift in range(1, TRIED + 1):
        point = {name: Fraction(shift + place, place + 1) for place, name in enumerate(template["symbols"], 1)}
        try:
            given, holds = recheck.conditions(template, known | {name: (x, x) for name, x in point.items()}, recheck.Work())
        except recheck.Rejected:
            continue
        if given and holds is False:
            return {name: str(x) for name, x in point.items()}
    raise NoTheorem("a statement in symbols, and no numbers were found at which its sides differ")


def write(path: str | Path, folder: str | Path) -> str:
    """Write the theorem of a witness, and what it stands on, into a folder; the name of the file. Raises what `theorem` does."""
    return written(folder, *theorem(path))
