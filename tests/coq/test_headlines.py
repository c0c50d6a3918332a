"""The headline results in full: every theorem is of a claim, and the kernel accepts the file and refuses its mutants."""

from pathlib import Path

import pytest

from simopt.claims import catalogue
from simopt.claims.claim import COQ_THEOREM
from simopt.coq.headlines import FILES, HEADLINES, Headline
from simopt.coq.kernel import THEOREM, CoqKernel, available
from simopt.coq.preludes import needed, source
from simopt.core import registry

needs_coq = pytest.mark.skipif(not available(), reason="there is no coqc with coq-interval here")


def test_every_theorem_is_of_a_claim() -> None:
    registry.load("theorems")
    claims = dict(registry.items("claim"))
    for headline in HEADLINES:
        assert headline.claim in claims


def test_every_theorem_that_a_claim_names_is_one_of_its_own() -> None:
    for claim in catalogue.claims():
        theorems = {theorem for headline in HEADLINES if headline.claim == claim.id for theorem in headline.theorems}
        assert {*COQ_THEOREM.findall(" ".join([claim.defeats, *map(claim.left, claim.rows)]))} <= theorems, claim.id


@pytest.mark.parametrize("name", FILES)
def test_every_theorem_of_a_file_is_of_a_claim(name: str) -> None:
    claimed = {theorem for headline in HEADLINES if headline.file == name for theorem in headline.theorems}
    assert claimed == set(THEOREM.findall(source(name)))


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_assumed_or_left_out(name: str) -> None:
    for text in (source(name), *map(source, needed(source(name)))):
        words = set(text.replace(".", " ").split())
        assert not words & {"Axiom", "Admitted", "admit", "Parameter", "Conjecture", "Hypothesis", "Variable", "Abort"}
    assert needed(source(name)) == (["Spaces", "Isotron"] if name == "Quantifiers" else ["Spaces"])


@pytest.mark.parametrize("headline", HEADLINES, ids=[each.claim for each in HEADLINES])
def test_a_mutant_changes_a_statement_once(headline: Headline) -> None:
    assert headline.mutant() != source(headline.file)


@needs_coq
@pytest.mark.slow
def test_the_kernel_accepts_them_and_refuses_the_mutants(tmp_path: Path) -> None:
    kernel = CoqKernel(tmp_path)
    for name in FILES:
        result = kernel.check(name, source(name))
        assert result.accepted, result.message
        assert not result.foreign
    for headline in HEADLINES:
        false = kernel.refused("mutant", headline.mutant())
        assert false.accepted, f"{headline.claim}: {false.message}"
