"""The ranking table: folds of LETOR, what is left out, the sentence, the picture; on a small set that stands in for OHSUMED."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simopt.claims.reproduction
from simopt.claims.kinds import Effort
from simopt.claims.tables import Cell, Run, TableRow
from simopt.core.errors import InvalidProblem
from simopt.data import relevance
from simopt.data.datasets import Dataset, load_dataset
from simopt.data.landmarks import LandmarkMap
from simopt.data.similarities import named
from simopt.theorems.kj.experiments import ohsumed, ohsumed_table
from simopt.theorems.kj.experiments.ohsumed import CUTS, FEATURE, LANDMARKED, LINEAR, METHODS, RANDOM, Fold


def made(documents: int = 8, queries: int = 20, d: int = 4) -> Dataset:
    """The first feature, bent, decides the relevance; query 3 has no relevant document; feature 4 is constant."""
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(1.0, queries + 1), documents)
    X = rng.uniform(size=(len(qid), d))
    X[:, d - 1] = 0.5
    r = np.clip(np.round(3.0 * (1.0 - 2.0 * np.abs(X[:, 0] - 0.5)) - 0.7 + 0.2 * rng.normal(size=len(qid))), 0.0, 2.0)
    r[::documents] = np.maximum(r[::documents], 1.0)
    r[qid == 3] = 0.0
    folds = 1.0 + (qid - 1) % 5
    return Dataset("made", X, tuple(f"x{j}" for j in range(d)), r, "ranking", groups=qid, folds=folds)


def forget() -> None:
    ohsumed.measured.cache_clear()
    ohsumed.loaded.cache_clear()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[Dataset]:
    data = made()
    monkeypatch.setattr(Run, "dataset", lambda self, name, **options: data)
    forget()
    yield data
    forget()


def test_folds_are_those_of_letor(small: Dataset) -> None:
    assert small.groups is not None and small.folds is not None
    fold = Fold.of(small, 1)
    names = {part: set(map(float, getattr(fold, part).lists.names)) for part in ("train", "valid", "test")}
    subset = {q: small.folds[small.groups == q][0] for q in np.unique(small.groups)}
    assert {subset[q] for q in names["test"]} == {1.0}
    assert {subset[q] for q in names["valid"]} == {5.0}
    assert {subset[q] for q in names["train"]} == {2.0, 3.0, 4.0}
    assert 3.0 not in set().union(*names.values())
    assert sum(map(len, names.values())) == 19
    assert fold.train.X[:, :3].mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert fold.train.X[:, :3].std(axis=0) == pytest.approx(np.ones(3))
    with pytest.raises(InvalidProblem, match="no query ids"):
        Fold.of(Dataset("none", small.features, small.feature_names, small.targets), 1)


def test_the_linear_ranker_is_the_least_squares_fit_of_the_features(small: Dataset) -> None:
    fold = Fold.of(small, 2)
    eta = fold.train.lists.eta()
    best: tuple[float, Any] = (-1.0, None)
    X = fold.train.X / 2.0  # over √4
    for strength in ohsumed.STRENGTHS:
        penalty = strength * np.sum(X**2)
        w = np.linalg.solve(X.T @ X + penalty * np.eye(4), X.T @ eta)
        worth = fold.valid.chosen_by(fold.valid.X @ w)
        best = (worth, w) if worth > best[0] else best
    assert fold.linear() == pytest.approx(fold.test.ndcg(fold.test.X @ best[1]))


def test_the_best_feature_and_the_random_order(small: Dataset) -> None:
    fold = Fold.of(small, 3)
    found = [fold.test.ndcg(sign * fold.test.X[:, j]) for j in range(3) for sign in (1.0, -1.0)]
    assert any(np.array_equal(fold.single_feature(), each) for each in found)
    chance = np.array([[relevance.random_ndcg(r, k=k) for k in CUTS] for _, _, r in fold.test.lists.items()])
    assert fold.random() == pytest.approx(chance)


def test_landmarks_are_part_of_more_landmarks(small: Dataset) -> None:
    fold = Fold.of(small, 1)
    few, many = (ohsumed.landmarks(fold, named("manhattan", fold.train.X), count, np.random.default_rng(3)) for count in (5, 20))
    assert isinstance(few, LandmarkMap)
    assert np.array_equal(many.landmarks[:5], few.landmarks)


def test_the_table_on_a_small_set(small: Dataset, tmp_path: Path) -> None:
    done = simopt.claims.reproduction.reproduce("kj-ohsumed")
    assert done.complete and done.unexplained == []
    assert [row.name for row in done.rows] == [*METHODS, ohsumed_table.TOGETHER]
    rows = {row.name: {cell.column: cell for cell in row.cells} for row in done.rows}
    assert all(set(rows[method]) == {f"NDCG@{k}" for k in CUTS} for method in METHODS)
    assert all(cell.printed is None and 0.0 <= cell.ours <= 1.0 for method in METHODS for cell in rows[method].values())
    for method in LANDMARKED:  # the bent feature is beyond a linear ranker
        assert rows[method]["NDCG@5"].ours > rows[LINEAR]["NDCG@5"].ours
    per_query = [np.concatenate(ohsumed.measured(name, 0, Effort.QUICK))[:, 4] for name in (next(iter(LANDMARKED)), LINEAR)]
    change = per_query[0] - per_query[1]
    cell = rows[ohsumed_table.TOGETHER][f"{next(iter(LANDMARKED))}, NDCG@5"]
    assert (cell.ours, cell.sd) == pytest.approx((np.mean(change), np.std(change, ddof=1) / np.sqrt(19)))
    assert done.seen.startswith("The paper prints no numbers for ranking.") and "of 6 landmarked rankers" in done.seen
    assert json.loads(json.dumps(done.describe(), default=list))["seen"] == done.seen
    assert simopt.claims.reproduction.draw(done, tmp_path).is_file()


def test_the_sentence_counts_what_is_beyond_two_standard_errors() -> None:
    last = ohsumed_table.TOGETHER
    cells = (Cell(last, "a, NDCG@10", 0.03, 0.01), Cell(last, "b, NDCG@10", -0.03, 0.01), Cell(last, "c, NDCG@10", 0.01, 0.01))
    told = ohsumed_table.seen([TableRow(last, cells)])
    assert "of 3 landmarked rankers 1 are above" in told and "and 1 below" in told
    assert "the best, a, differs from it by +0.0300 ± 0.0100." in told
    assert "of 1 landmarked rankers none differs from the linear one" in ohsumed_table.seen([TableRow(last, cells[2:])])
    beside = [TableRow(name, (Cell(name, "NDCG@10", value),)) for name, value in ((LINEAR, 0.4), (FEATURE, 0.3), (RANDOM, 0.2))]
    assert ohsumed_table.seen([*beside, TableRow(last, cells)]).endswith("(linear 0.400, single best feature 0.300, random order 0.200).")
    assert ohsumed_table.seen(beside) == "The paper prints no numbers for ranking."


def test_the_known_queries_of_ohsumed() -> None:
    data = load_dataset("ohsumed")
    sizes = [len(Fold.of(data, number).test.lists) for number in range(1, 6)]
    assert sum(sizes) == 105 and set(sizes) <= {20, 21, 22}


@pytest.mark.slow
def test_on_ohsumed_every_ranker_is_far_above_a_random_order() -> None:
    forget()
    chance = np.concatenate(ohsumed.measured(RANDOM, 0, Effort.QUICK)).mean(axis=0)
    for method in METHODS[:-1]:
        assert np.all(np.concatenate(ohsumed.measured(method, 0, Effort.QUICK)).mean(axis=0) > 1.5 * chance)
