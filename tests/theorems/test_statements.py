"""A numbered statement of a paper stands in one file: its proof steps, counterexamples, best constants and corrections with it."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from simopt.claims import catalogue
from simopt.claims.claim import Claim
from simopt.claims.papers import PAPERS

WORDS = {"Thm": "Theorem", "T": "Theorem", "L": "Lemma", "P": "Proposition", "Cor": "Corollary", "Def": "Definition", "D": "Definition",
         "R": "Remark"}  # fmt: skip
NUMBERS = {"ak": r"(?:[A-Z]\.)?\d+(?:\.\d+)?"}  # Proposition 4.7, Lemma D.2; of the other papers plain numbers
NOT_YET = "left to be put together"
IN_SEVERAL: dict[str, dict[str, str]] = {  # why a statement must stand in more than one file
    "ak": dict.fromkeys(["Theorem 1", "Theorem 3", "Proposition 4.7", "Proposition 5.1", "Definition 3.3"], NOT_YET),
    "kj": {},
    "kkks": dict.fromkeys(["Theorem 1", "Theorem 2", "Lemma 1", "Lemma 3", "Lemma 7", "Proposition 1"], NOT_YET),
    "rmw": {"Theorem 1": NOT_YET},
}


def statement(claim: Claim) -> str | None:
    """The numbered statement that a claim is about: that of its id, else the one with which its place begins."""
    number = NUMBERS.get(claim.paper.key, r"\d+")
    named = re.match(rf"({'|'.join(WORDS)})({number})", claim.id.removeprefix(f"{claim.paper.prefix}-"))
    if named:
        return f"{WORDS[named[1]]} {named[2]}"
    placed = re.match(rf"(?:proof of |after )?({'|'.join(set(WORDS.values()))}) ({number})", claim.place, re.IGNORECASE)
    return f"{placed[1].capitalize()} {placed[2]}" if placed else None


@pytest.mark.parametrize("paper", PAPERS)
def test_statement_stands_in_one_file(paper: str) -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for claim in catalogue.claims():
        about = statement(claim)
        if claim.paper.key == paper and claim.module.startswith("simopt.theorems.") and about:
            homes[about].add(claim.module)
    assert len(homes) > 5
    spread = {about: sorted(modules) for about, modules in homes.items() if len(modules) > 1}
    assert spread.keys() == IN_SEVERAL[paper].keys(), spread
