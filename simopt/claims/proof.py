"""Proof files: what a PROVED claim, or one that holds by exact steps, leaves for `simopt.recheck`, collected while its checks run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import copy
from math import prod
from typing import Any

from simopt import recheck
from simopt.claims import input_origins
from simopt.claims.check import Check
from simopt.claims.claim import Claim
from simopt.claims.statement import TooLong, serialise

MAX_ROWS = 200_000
REMEDY = "form it in the formula from shorter numbers, or make it an entry of the instance"


class Collector:
    """Formulas of the checks of one row, with equal formulas put together; `complete` while every check had one.

    A statement is the claim (one of its cases), or a step of its proof if the check or the claim says what `remains` to be shown. With
    `symbols_only` a formula about numbers that is the claim makes the proof incomplete: instances that are not all there are prove nothing.
    `computed` has the names of all inputs that are no data of their instance. It also has all long numbers in formulas that are no data and
    do not stand in `says` (`input_origins` says what is long). In a step these may stand. In the claim one of them that no hypothesis
    speaks of makes the proof incomplete.
    """

    def __init__(self, symbols_only: bool = False, remains: str = "", says: str = "") -> None:
        self.symbols_only = symbols_only
        self.remains = remains
        self.in_words = input_origins.in_words(says)
        self.left: dict[str, None] = {}  # what remains, each once, in order
        self.states_claim = False
        self.numeric = False
        self.complete = True
        self.rows = 0
        self.computed: dict[str, None] = {}
        self.refused = ""  # why there is no proof, where that is news
        self._tables: dict[str, tuple[dict[str, Any], dict[tuple[str, ...], list[Any]]]] = {}

    def add(self, check: Check, data: frozenset[str]) -> None:
        """Take the statement of one more check on an instance with these data.

        A check makes a proof impossible if it has no statement, one that is too long, or evidence that is not rigorous. So does one that
        the class does not allow, and one beyond the first MAX_ROWS.
        """
        if not self.complete:
            return
        stated = check.statement
        remains = check.remains or self.remains
        usable = stated is not None and check.evidence.rigorous and self.rows < MAX_ROWS
        if stated is None or not usable or (self.symbols_only and not stated.symbolic and not remains):
            self.give_up()
            return
        try:
            template, values = serialise(stated)
        except TooLong:
            self.give_up()
            return
        found = input_origins.computed(template, values, data, self.in_words)
        if not remains and (bare := input_origins.unexplained(template, found)):
            self.give_up()
            self.refused = f"no proof file: {', '.join(bare):.200} computed, neither data of the instance nor in a hypothesis; {REMEDY}"
            return
        self.computed |= dict.fromkeys(found)
        names = sorted(values)
        template |= {"role": "step" if remains else "claim", "name": check.name, "names": names}
        key = json.dumps(template, sort_keys=True)
        row = [values[name] for name in names]
        self._tables.setdefault(key, (template, {}))[1].setdefault(tuple(map(str, row)), row)
        self.rows += 1
        self.numeric |= not stated.symbolic
        self.states_claim |= not remains
        if remains:
            self.left.setdefault(remains)

    def give_up(self) -> None:
        """Forget the formulas: there will be no proof."""
        self.complete = False
        self._tables.clear()

    def as_steps(self, remains: str) -> Collector:
        """The same formulas as steps of a proof, which leave this to be shown."""
        made = copy(self)
        made.left, made.states_claim = {**self.left, remains: None}, False
        made._tables = {key: (template | {"role": "step"}, table) for key, (template, table) in self._tables.items()}
        return made

    @property
    def symbols(self) -> set[str]:
        """Free symbols of the formulas."""
        return {symbol for template, _ in self._tables.values() for symbol in template["symbols"]}

    @property
    def formulas(self) -> int:
        """Number of different formulas so far."""
        return len(self._tables)

    def statements(self) -> list[dict[str, Any]]:
        """Each formula with the table of its instances, or with the ranges of integers that generate the table."""
        made = []
        for template, table in self._tables.values():
            rows = list(table.values())
            ranges = _ranges(template["names"], rows)
            computed = [name for name in template["names"] if name in self.computed]
            found = {"computed": computed} if computed else {}
            made.append(template | found | ({"ranges": ranges} if ranges else {"rows": rows}))
        return made


def _ranges(names: list[str], rows: list[list[Any]]) -> dict[str, list[int]] | None:
    """The box of integers of which `rows` are all points, if they are."""
    if not names or len(rows) < 2 or not all(isinstance(value, str) and value.lstrip("-").isdigit() for row in rows for value in row):
        return None
    box = {}
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        numbers = [int(value) for value in values]
        box[name] = [min(numbers), max(numbers)]
    return box if prod(high - low + 1 for low, high in box.values()) == len(rows) else None


def document(claim: Claim, row: str, scope: str, proof: Collector, version: str) -> dict[str, Any]:
    """Contents of the proof file of one row, with its digest."""
    made: dict[str, Any] = {
        "format": recheck.FORMAT,
        "simopt": version,
        "claim": claim.id,
        "row": row,
        "place": f"{claim.paper}, {claim.place}",
        "says": claim.says,
        "quantifier": claim.quantifier.value,
        "scope": scope,
        "remains": list(proof.left),
        "statements": proof.statements(),
    }
    return made | {"digest": recheck.digest(made)}


def examine(document: dict[str, Any]) -> None:
    """Hand a proof file to `recheck`.

    Raises
    ------
    recheck.Refuted
        if it says that a statement is false.
    recheck.Rejected, recheck.Unreadable
        if it does not accept the file for another reason.
    """
    recheck.check(json.loads(json.dumps(document)))


def conditions(statements: Iterable[dict[str, Any]]) -> str:
    """Under which conditions statements in symbols hold, in words: what they divide by is not zero."""
    words = dict.fromkeys(part for statement in statements for part in recheck.where(statement))
    short = [part for part in words if "#" not in part]  # long parts have names in their file only
    return ", ".join([*short, *([f"and {len(words) - len(short)} longer ones"] if len(short) < len(words) else [])])
