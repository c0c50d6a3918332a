"""On a bare clone NOT_RUN are exactly the claims that need a data set which may not be passed on; neither list is typed by hand."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from simopt.claims import Check, Claim, Instance, Trial, at_most, catalogue, runner
from simopt.claims.claim import InvalidClaim
from simopt.claims.each_set import claim_on_each, row
from simopt.claims.kinds import Verdict
from simopt.core.errors import MissingDataset
from simopt.data.datasets import describe

OURS = {claim.id: claim for claim in catalogue.claims() if claim.module.startswith("simopt.theorems.")}
SETS = {"Yacht": "yacht", "Abalone": "abalone", "Bodyfat": "bodyfat"}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No folder is named and nothing was ever fetched."""
    monkeypatch.delenv("SIMOPT_DATA", raising=False)
    monkeypatch.setenv("SIMOPT_CACHE", str(tmp_path))


def wanting(claim: Claim) -> tuple[str, ...]:
    """The data sets that a claim declares and the repository does not carry."""
    return tuple(name for name in claim.datasets if not describe(name).carried)


def missing(claim: Claim) -> tuple[str, ...]:
    """The data sets for want of which the runner does not begin."""
    try:
        runner.require(claim)
    except MissingDataset as error:
        return error.names
    return ()


@pytest.mark.usefixtures("bare")
def test_what_is_missing_on_a_bare_clone_is_what_may_not_be_passed_on() -> None:
    expected = {id: wanting(claim) for id, claim in OURS.items() if wanting(claim)}
    assert {id: missing(claim) for id, claim in OURS.items() if claim.datasets and missing(claim)} == expected
    assert expected and any(claim.datasets and id not in expected for id, claim in OURS.items())
    for id, names in expected.items():
        result = runner.run(id)
        assert result.verdict is Verdict.NOT_RUN and result.ok
        assert all(name in row.reason for row in result.rows.values() for name in names)


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("id", [id for id, claim in OURS.items() if claim.datasets and not wanting(claim)])
def test_claims_on_carried_data_are_decided_on_a_bare_clone(id: str) -> None:
    """So they ask for nothing that they do not declare."""
    result = runner.run(id)
    assert result.ok and Verdict.NOT_RUN not in {each.verdict for each in result.rows.values()}, str(result)


def each(trial: Trial, names: Sequence[str]) -> Iterator[Instance]:
    """One instance a set."""
    for name in names:
        yield {"row": name, "n": trial.dataset(SETS[name]).n}


@pytest.mark.usefixtures("bare")
def test_a_claim_on_each_set_is_two_claims_with_their_own_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simopt.claims.each_set.claim", lambda id, **fields: lambda function: made.update({id: fields}))
    made: dict[str, dict[str, object]] = {}

    def function(instance: Instance, trial: Trial) -> Iterator[Check]:
        yield at_most(instance["n"], 5000, row=row("T-2", trial))

    alone = {"-fetched": {"says": " So.", "cost": 9.0}}
    both = claim_on_each("T-1", SETS, says="On all the sets n ≤ 5000 (T-2).", instances=each, covers=["T-2"], alone=alone, cost=1.0)
    assert both(function) is function
    assert list(made) == ["T-1", "T-1-fetched"]
    carried, fetched = made["T-1"], made["T-1-fetched"]
    assert carried["says"] == "On Yacht and Abalone n ≤ 5000 (T-2)." and carried["covers"] == ["T-2"] and carried["cost"] == 1.0
    assert fetched["says"] == "On Bodyfat n ≤ 5000 (T-2-fetched). So." and fetched["covers"] == ["T-2-fetched"] and fetched["cost"] == 9.0
    assert carried["requires"] == ["dataset:yacht", "dataset:abalone"] and fetched["requires"] == ["dataset:bodyfat"]
    for said, sets in ((True, SETS), (False, {"Yacht": "yacht"})):
        with pytest.raises(InvalidClaim, match=f"claim T-3: all_carried={said}, but the repository"):
            claim_on_each("T-3", sets, says="", instances=each, all_carried=said)
