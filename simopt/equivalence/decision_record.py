"""A decision as plain data for JSON, and back: nothing is lost, ∞ and nan included."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from simopt.core import jsonio
from simopt.core.errors import InvalidFile
from simopt.equivalence.decide import Decision, Jump, Plateau
from simopt.equivalence.decide_strong import OneMap, StrongDecision
from simopt.equivalence.family import Interval
from simopt.equivalence.map_search import MapOutcome, MapValue
from simopt.equivalence.strong import StrongWitness

# JSON has no words for ∞ and nan: null stands for the one of them that a field can be.
NULLS = {"low": -math.inf, "high": math.inf, "errors": math.inf, "error": math.inf}
ANSWERS = {"answer": "answer", "sentence": "sentence", "reason": "reason", "found": "counts", "monotone": "monotone"}  # key: property


def described(decision: Decision) -> dict[str, Any]:
    """Every field, with the answer, the sentence, the reason, what is found and which way Φ goes beside them."""
    made: dict[str, Any] = {**{key: getattr(decision, name) for key, name in ANSWERS.items()}, **jsonio.plain(decision)}
    return {name: jsonio.plain(value) for name, value in made.items()}


def recalled(record: Mapping[str, Any]) -> Decision:
    """The decision that `described` tells.

    Raises
    ------
    InvalidFile
        where something is missing, or of another sort.
    """
    try:
        one, two = (Interval(*(_number(name, domain[name]) for name in ("low", "high"))) for domain in record["domains"])
        asked, back = record["wanted"]
        return Decision(
            source=str(record["source"]),
            target=str(record["target"]),
            samples=int(record["samples"]),
            fingerprint=str(record["fingerprint"]),
            resolution=float(record["resolution"]),
            domains=(one, two),
            forward=tuple(map(_row, record["forward"])),
            backward=tuple(map(_row, record["backward"])),
            wanted=(int(asked), int(back)),
            plateaus=tuple(Plateau(**piece) for piece in record["plateaus"]),
            jumps=tuple(Jump(**jump) for jump in record["jumps"]),
            continuous=bool(record.get("continuous", True)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFile(f"decision: {error!r}; a decision as `simopt equivalence --json` writes it needed") from error


def described_strong(decision: StrongDecision) -> dict[str, Any]:
    """The answer, the samples themselves, one μ for all at each λ, the witnesses by the numbers of their samples, and a decision each."""
    number = {id(Z): i for i, Z in enumerate(decision.sets)}

    def against(witness: StrongWitness) -> dict[str, Any]:
        ends = {"one": number[id(witness.one)], "two": number[id(witness.two)]}
        return {item.name: ends.get(item.name, getattr(witness, item.name)) for item in fields(witness)}

    def served(rows: tuple[OneMap, ...]) -> Any:
        return jsonio.plain(rows)

    return {
        "answer": jsonio.plain(decision.answer),
        "among_one_size": jsonio.plain(decision.among_one_size),
        "strength": jsonio.plain(decision.strength),
        "sentence": decision.sentence,
        "reason": decision.reason,
        "sets": [
            {"fingerprint": Z.fingerprint(), "inputs": jsonio.plain(Z.inputs), "targets": jsonio.plain(Z.targets)} for Z in decision.sets
        ],
        "wanted": decision.wanted,
        "left_out": list(decision.left_out),
        "one_map": served(decision.rows),
        "one_map_same_size": served(decision.same_size),
        "witnesses": jsonio.plain([against(witness) for witness in decision.witnesses]),
        "witnesses_same_size": jsonio.plain([against(witness) for witness in decision.sized]),
        "weak": [described(report) for report in decision.weak],
    }


def _row(record: Mapping[str, Any]) -> MapValue:
    as_it_is = ("outcome", "reason", "fits")
    values = {each.name: record[each.name] for each in fields(MapValue)}
    values = {name: value if name in as_it_is else _number(name, value) for name, value in values.items()}
    return MapValue(**{**values, "outcome": MapOutcome(record["outcome"])})


def _number(name: str, value: Any) -> float:
    return NULLS.get(name, math.nan) if value is None else float(value)
