"""Statements of a claim that the kernel of Coq has checked: looked up in a folder of `make coq` by the digest of the file.

The theorem is made anew from the proof file or witness of this run. Only if the folder's ledger has an answer to exactly this text, with
what it stands on, is it shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from simopt import recheck
from simopt.claims.witness import BadWitness
from simopt.coq.headlines import HEADLINES
from simopt.coq.kernel import LEDGER, Result, digest_of, ledger
from simopt.coq.preludes import needed, source
from simopt.coq.refutation import theorem
from simopt.coq.theory import NoTheorem, export, title
from simopt.core.errors import NotAvailable, UnknownName

LONGEST = 6000  # letters of theorems that a page shows
STATED = re.compile(r"^Theorem .*?\.(?=\nProof)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class CheckedTheorems:
    """Theorems that the kernel has accepted: their text, how many there are, what they assume, and the command that has them checked."""

    text: str
    count: int
    assumptions: tuple[str, ...]
    command: str


class KernelAnswers:
    """The answers of a folder.

    Raises
    ------
    NotAvailable
        when the folder has no ledger.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not (self.folder / LEDGER).is_file():
            raise NotAvailable(f"--kernel: {folder} has no {LEDGER}; `make coq` leaves one in build/coq")

    @cached_property
    def _known(self) -> Mapping[str, Result]:
        return ledger(self.folder / LEDGER)

    def of(self, name: str, row: Mapping[str, Any]) -> CheckedTheorems | None:
        """The checked statements of a row: its proof file, its refutation, or a headline result."""
        for headline in HEADLINES:
            file = headline.file
            if headline.claim == name and (result := self._accepted(file, source(file))):
                stated = [each for each in STATED.findall(source(file)) if each.split()[1] in headline.theorems]
                return _shown(stated, result, f"{_compiled([*needed(source(file)), file])}, which are in simopt/coq")
        try:
            called, text, made = self._theorem(name, row)
        except (NoTheorem, BadWitness, NotAvailable, UnknownName, recheck.Rejected, recheck.Unreadable):
            return None
        result = self._accepted(called, text)
        if result is None:
            return None
        return _shown(STATED.findall(text), result, f"{made} --coq DIR && cd DIR && {_compiled([*needed(text), called])}")

    def _theorem(self, name: str, row: Mapping[str, Any]) -> tuple[str, str, str]:
        """Name and text of the file, and the command that writes it."""
        if row["proof"]:
            document = recheck.read(row["proof"])
            recheck.check(document)
            return title(name), export(document), f"simopt recheck {row['proof']}"
        if row["verdict"] == "REFUTED" and row["witness"]:
            return *theorem(row["witness"]), f"simopt replay {row['witness']}"
        raise NoTheorem("neither a proof file nor a counterexample")

    def _accepted(self, name: str, text: str) -> Result | None:
        found = self._known.get(name)
        return found if found and found.accepted and not found.foreign and found.digest == digest_of(text) else None


def _compiled(names: list[str]) -> str:
    return " && ".join(f"coqc -Q . Simopt {each}.v" for each in names)


def _shown(stated: list[str], result: Result, command: str) -> CheckedTheorems:
    text = "\n\n".join(stated)
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()}\n…"
    axioms = {"63-bit integers" if "nt63." in axiom else axiom.rpartition(".")[2] for axiom in result.assumptions}
    return CheckedTheorems(shown, len(stated), tuple(sorted(axioms)), command)
