"""A numbered statement of a paper stands in one file: its proof steps, counterexamples, best constants and corrections with it."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from simopt.claims import catalogue
from simopt.claims.claim import Claim
from simopt.claims.papers import PAPERS

TERMS = {"Thm": "Theorem", "T": "Theorem", "L": "Lemma", "P": "Proposition", "Cor": "Corollary", "Def": "Definition", "D": "Definition",
         "R": "Remark"}  # fmt: skip
NUMBERS = {"ak": r"(?:[A-Z]\.)?\d+(?:\.\d+)?"}  # Proposition 4.7, Lemma D.2; of the other papers plain numbers
ELSEWHERE = {  # claims that name a statement, and why they stand apart from it
    "AK-D3.3b": "the equivalence with Ivanov's form, which the paper states in passing after Definition 3.4",
    "KJ-H1": "a hypothesis that Lemma 15 and three theorems leave out alike",
    "KJ-E1c": "from Definition 25 to the goodness of the regression problem; it is of both",
    "KJ-E1c+": "the correction of KJ-E1c",
}


def statement(claim: Claim) -> str | None:
    """The numbered statement that a claim is about: that of its id, else of its place. What stands "after" one is a remark."""
    number = NUMBERS.get(claim.paper.key, r"\d+")
    named = re.match(rf"({'|'.join(TERMS)})({number})", claim.id.removeprefix(f"{claim.paper.prefix}-"))
    if named:
        return f"{TERMS[named[1]]} {named[2]}"
    placed = re.match(
        rf"(?:(?:Section|Appendix) [\w.]+, )?(?:proof of )?({'|'.join(set(TERMS.values()))}) ({number})", claim.place, re.IGNORECASE
    )
    return f"{placed[1].capitalize()} {placed[2]}" if placed else None


@pytest.mark.parametrize("paper", PAPERS)
def test_statement_stands_in_one_file(paper: str) -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    apart: dict[str, tuple[str, str]] = {}
    for claim in catalogue.claims():
        about = statement(claim)
        if claim.paper.key == paper and claim.module.startswith("simopt.theorems.") and about:
            if claim.id in ELSEWHERE:
                apart[claim.id] = about, claim.module
            else:
                homes[about].add(claim.module)
    assert len(homes) > 5
    assert all(len(modules) == 1 for modules in homes.values()), {about: modules for about, modules in homes.items() if len(modules) > 1}
    assert all(module not in homes[about] for about, module in apart.values()), apart
