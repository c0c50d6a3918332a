"""Defects that ugly input brought to light in ordinal rules, rankers and relevance lists."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.core.errors import InvalidFile, InvalidProblem, UnknownName
from simopt.data.queries import Queries
from simopt.data.relevance import list_norm
from simopt.estimators.ordinal.ordinal import ordinal
from simopt.estimators.ordinal.ordinal_rule import OrdinalRule
from simopt.estimators.ranking.ranker import LandmarkedRanker, rank

POINTS = np.random.default_rng(0).normal(size=(24, 2))
LABELS = 1 + (POINTS[:, 0] > -0.4).astype(int) + (POINTS[:, 0] > 0.5)
QUERIES, RELEVANCE = np.repeat(np.arange(6), 4), np.tile([2.0, 0.0, 1.0, 0.0], 6)


@pytest.fixture(scope="module")
def rule() -> OrdinalRule:
    return ordinal(POINTS, LABELS, landmarks=5)


@pytest.fixture(scope="module")
def ranker() -> LandmarkedRanker:
    return rank(POINTS, RELEVANCE, QUERIES, landmarks=5)


@pytest.mark.parametrize("seed", [-1, "a", 1.5, None])
def test_a_seed_that_is_none_is_named(seed: Any) -> None:
    with pytest.raises(InvalidProblem, match=r"^seed: .* a whole number >= 0 needed"):
        ordinal(POINTS, LABELS, seed=seed)
    with pytest.raises(InvalidProblem, match=r"^seed: "):
        rank(POINTS, RELEVANCE, QUERIES, seed=seed)


def test_large_seeds_are_told_apart() -> None:
    first, second = (ordinal(POINTS, LABELS, landmarks=3, seed=2**60 + k) for k in (0, 1))
    assert not np.array_equal(first.landmarks, second.landmarks)


def test_a_score_that_is_no_number_gets_no_label(rule: OrdinalRule) -> None:
    with pytest.raises(InvalidProblem, match="^scores: 1 of 2 are NaN .first at index 1"):
        rule.labels_of([0.0, np.nan])
    assert rule.labels_of([-np.inf, np.inf]).tolist() == [1, 3]


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [None] * 5},
        {"gamma": "a"},
        {"gamma": 0.0},
        {"delta": -1.0},
        {"form": "other"},
        {"counts": [-1, 12, 13]},
        {"counts": [1.5, 12, 13]},
        {"thresholds": [None, None]},
        {"thresholds": {}},
        {"certificate": None},
        {"certificate": 3},
        {"similarity": None},
    ],
)
def test_files_that_hold_no_rule_are_refused(rule: OrdinalRule, tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "rule.json"
    rule.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(InvalidFile, match="not a whole ordinal rule"):
        OrdinalRule.load(path)


@pytest.mark.parametrize("change", [{"weights": [None] * 5}, {"logarithm": "10"}, {"certificate": None}])
def test_files_that_hold_no_ranker_are_refused(ranker: LandmarkedRanker, tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "ranker.json"
    ranker.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(InvalidFile, match="not a whole ranker"):
        LandmarkedRanker.load(path)


def test_what_was_written_by_another_version_is_read(rule: OrdinalRule, tmp_path: Path) -> None:
    path = tmp_path / "rule.json"
    rule.save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    record["provenance"]["versions"]["simopt"] = "99.0"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert np.array_equal(OrdinalRule.load(path).predict(POINTS), rule.predict(POINTS))
    path.write_text(json.dumps({**record, "format": "simopt-ordinal-rule-2"}), encoding="utf-8")
    with pytest.raises(InvalidFile, match="not an ordinal rule of format simopt-ordinal-rule-1"):
        OrdinalRule.load(path)


def test_a_rule_of_unknown_form_is_not_made(rule: OrdinalRule) -> None:
    with pytest.raises(UnknownName):
        dataclasses.replace(rule, form="other")


def test_one_cut_is_a_number(ranker: LandmarkedRanker) -> None:
    several = ranker.evaluate(POINTS, RELEVANCE, QUERIES, cuts=(3,))
    for one in (3, np.int64(3)):
        assert ranker.evaluate(POINTS, RELEVANCE, QUERIES, cuts=one).mean == several.mean
    lists = Queries.of(RELEVANCE, QUERIES)
    assert np.array_equal(lists.ndcg(POINTS[:, 0], k=np.int64(3)), lists.ndcg(POINTS[:, 0], k=3))


def test_queries_are_stacked_from_any_iterables() -> None:
    tables, lists = Queries.stacked((POINTS[k : k + 4] for k in (0, 4)), (RELEVANCE[k : k + 4] for k in (0, 4)))
    assert tables.shape == (8, 2)
    assert len(lists) == 2


@pytest.mark.parametrize("v", [["a"], [1.0, np.nan], [], [[1.0]]])
def test_the_norm_of_no_list_is_refused(v: Any) -> None:
    with pytest.raises(InvalidProblem, match="^v: "):
        list_norm(v)
