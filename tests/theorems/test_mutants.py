"""Every claim of the catalogue can fail: each of its mutants changes the verdict."""

import pytest

from simopt.claims import catalogue
from simopt.claims.kinds import Effort
from simopt.claims.mutants import run_mutants

OURS = [claim.id for claim in catalogue.claims() if claim.module.startswith("simopt.theorems.") and claim.mutants]


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_every_mutant_changes_the_verdict(name: str) -> None:
    results = run_mutants(catalogue.find(name), Effort.QUICK, 0)
    assert results
    assert {mutant.name: mutant.reason for mutant in results if not mutant.caught} == {}
