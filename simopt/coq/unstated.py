"""Why a row of the catalogue has no theorem: told from its kind and the evidence of its checks, as `simopt verify --output` wrote them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from simopt.claims.kinds import Evidence, Kind, Scope, Verdict

VERDICTS = "verdicts.json"
BY_KIND = {
    Kind.EXPERIMENT: "an experiment: its numbers are floats",
    Kind.HIGH_PROBABILITY: "speaks of the chance, over samples of any law; its checks enumerate finite worlds",
    Kind.IN_EXPECTATION: "speaks of the mean, over samples of any law; its checks enumerate finite worlds",
    Kind.RATE: "speaks of what happens in the limit; its checks take finitely many sizes",
}


def rows(evidence: Path) -> list[dict[str, Any]]:
    """The rows of a folder of evidence."""
    found: list[dict[str, Any]] = json.loads((evidence / VERDICTS).read_text(encoding="utf-8"))
    return found


def reason(row: Mapping[str, Any]) -> str:
    """Why there is no proof file from which a theorem could be made."""
    if row["verdict"] == Verdict.NOT_RUN:
        return "not run: it needs data that are not here"
    if row["verdict"] == Verdict.VACUOUS:
        return "vacuous: what it bounds is never as large"
    if row["kind"] == Kind.EXPERIMENT:
        return BY_KIND[Kind.EXPERIMENT]
    if row["evidence"] == Evidence.STATISTICAL:
        return "its checks draw samples, and decide by a test"
    if row["evidence"] == Evidence.FLOAT:
        return "its checks compute with floats"
    if row["kind"] in BY_KIND:
        return BY_KIND[Kind(row["kind"])]
    if row["scope"] == Scope.SAMPLED:
        return "speaks of more instances than can be listed, of which its checks took some, exactly or enclosed; no proof in symbols"
    return "its checks compare finished numbers, and state no formula"


def unstated(rows: list[dict[str, Any]], stated: Collection[str], known: Mapping[str, str]) -> dict[str, list[str]]:
    """Rows without a theorem, by reason; `known` are reasons that trying has shown."""
    why: dict[str, list[str]] = {}
    for row in rows:
        if row["id"] not in stated:
            why.setdefault(known.get(row["id"]) or reason(row), []).append(row["id"])
    return dict(sorted(why.items(), key=lambda item: (-len(item[1]), item[0])))
