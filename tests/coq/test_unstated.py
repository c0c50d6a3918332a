"""Why a row has no theorem: by its verdict, kind, evidence and scope; what trying has shown comes first."""

from typing import Any

import pytest

from simopt.coq.unstated import reason, unstated


def row(name: str = "A", **changed: Any) -> dict[str, Any]:
    """An inequality that holds, exactly, of sampled instances."""
    return {"id": name, "verdict": "HOLDS", "kind": "inequality", "evidence": "exact", "scope": "sampled"} | changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, "no proof in symbols"),
        ({"evidence": "interval"}, "no proof in symbols"),
        ({"scope": "exhaustive"}, "state no formula"),
        ({"kind": "rate"}, "in the limit"),
        ({"kind": "high-probability"}, "the chance, over samples"),
        ({"kind": "in-expectation", "evidence": "interval"}, "the mean, over samples"),
        ({"kind": "rate", "evidence": "statistical"}, "draw samples"),
        ({"kind": "high-probability", "evidence": "float"}, "compute with floats"),
        ({"kind": "experiment", "evidence": "float"}, "an experiment"),
        ({"verdict": "NOT_RUN", "kind": "experiment", "evidence": None}, "data that are not here"),
        ({"verdict": "VACUOUS"}, "vacuous"),
    ],
)
def test_the_reason_is_told_from_the_verdict(changed: dict[str, Any], message: str) -> None:
    assert message in reason(row(**changed))


def test_rows_without_a_theorem_are_listed_by_reason() -> None:
    found = [row("A"), row("B"), row("C", evidence="float"), row("D", verdict="REFUTED"), row("E")]
    made = unstated(found, {"B"}, {"D": "one instance does not refute it", "B": "tried in vain"})
    assert list(made.values()) == [["A", "E"], ["C"], ["D"]]  # what is most frequent first, then by the words
    assert list(made)[-1] == "one instance does not refute it"
