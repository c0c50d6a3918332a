"""The public ranker: scores, rankings and NDCG of a fit, files that bring it back, and lists that it refuses."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.core.errors import InvalidFile, InvalidProblem, UnknownName
from simopt.data import relevance as relevances
from simopt.data.datasets import load_dataset
from simopt.data.queries import Queries
from simopt.data.relevance import eta
from simopt.data.similarities import Manhattan
from simopt.estimators.ranking.ranker import LandmarkedRanker, rank


def toy(seed: int = 0, queries: int = 12) -> tuple[Any, Any, Any]:
    """Documents of which the first coordinate decides the relevance, in lists of 3 to 9; rows shuffled."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(queries) + 100, rng.integers(3, 10, size=queries)))
    X = rng.uniform(-1.0, 1.0, size=(len(qid), 4))
    r = np.clip(np.round(1.5 * X[:, 0] + 0.7), 0.0, 2.0)
    for query in np.unique(qid):
        r[np.flatnonzero(qid == query)[0]] = 1.0
    return X, r, qid


def test_the_weights_solve_the_normal_equations() -> None:
    X, r, qid = toy()
    found = rank(X, r, qid, "gaussian-mean-distance", landmarks=10, regularization=0.05)
    psi, lists = found.map(X), Queries.of(r, qid)
    target = lists.eta()
    normal = psi.T @ psi / len(lists) + 0.05 * np.eye(10)
    assert found.weights == pytest.approx(np.linalg.solve(normal, psi.T @ target / len(lists)), rel=1e-8)
    assert found.certificate.relative_gap <= 1e-8
    assert found.scores(X) == pytest.approx(psi @ found.weights, rel=1e-12)


def test_the_ball_bounds_the_weights() -> None:
    X, r, qid = toy()
    free = rank(X, r, qid, landmarks=10, regularization=1e-6)
    tight = rank(X, r, qid, landmarks=10, radius=0.1)
    assert np.linalg.norm(free.weights) > 0.1
    assert np.linalg.norm(tight.weights) <= 0.1
    assert tight.provenance["radius"] == 0.1
    assert tight.provenance["solver"] == "secular"


def test_it_learns_what_decides_the_relevance() -> None:
    X, r, qid = toy(0, queries=40)
    X2, r2, qid2 = toy(1, queries=40)
    found = rank(X, r, qid, landmarks=60)
    told = found.evaluate(X2, r2, qid2, cuts=(1, 5))
    chance = np.mean([relevances.random_ndcg(r2[qid2 == query], k=5) for query in np.unique(qid2)])
    assert told.mean[5] > 0.5 * (1.0 + chance)
    assert told.ndcg.shape == (40, 2)
    assert told.loss == pytest.approx(np.mean([np.sum((found.scores(X2[qid2 == q]) - eta(r2[qid2 == q])) ** 2) for q in np.unique(qid2)]))
    assert "40 queries: NDCG @1 " in str(told)


def test_rankings_are_rows_of_each_query_from_the_highest_score() -> None:
    X, r, qid = toy()
    found = rank(X, r, qid, landmarks=8)
    orders = found.rankings(X, qid)
    scores = found.scores(X)
    first = qid[np.sort(np.unique(qid, return_index=True)[1])]
    for query, rows in zip(first, orders, strict=True):
        assert set(rows) == set(np.flatnonzero(qid == query))
        assert np.all(np.diff(scores[rows]) <= 0.0)
    assert list(found.rankings(X)[0]) == list(np.argsort(-scores, kind="stable"))
    same = found.rankings(np.repeat(X[:1], 5, axis=0), [1, 2, 1, 2, 1])
    assert [list(rows) for rows in same] == [[0, 2, 4], [1, 3]]


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13, 67])
def test_equal_documents_have_equal_scores_wherever_they_stand(count: int) -> None:
    """BLAS sums the rows that do not fill one of its tiles in another order; how many rows those are depends on the CPU."""
    X, r, qid = toy()
    for similarity in ("gaussian-mean-distance", Manhattan()):
        found = rank(X, r, qid, similarity, landmarks=11)
        for document in X[:5]:
            assert len(set(found.scores(np.repeat(document[None, :], count, axis=0)))) == 1


def test_the_logarithm_scales_the_scores_and_leaves_the_order() -> None:
    X, r, qid = toy()
    one, two = (rank(X, r, qid, landmarks=8, regularization=0.1, logarithm=name) for name in ("natural", "binary"))
    assert two.scores(X) == pytest.approx(one.scores(X) / np.log(2.0), rel=1e-8)
    assert two.evaluate(X, r, qid).ndcg == pytest.approx(one.evaluate(X, r, qid).ndcg)


def test_queries_without_normalised_relevance_are_refused_or_left_out() -> None:
    X, r, qid = toy()
    r[qid == 103] = 0.0
    r, qid, X = np.append(r, 2.0), np.append(qid, 999), np.vstack([X, X[:1]])
    with pytest.raises(InvalidProblem, match="query 103: all.*leave_out=True"):
        rank(X, r, qid)
    with pytest.raises(InvalidProblem, match="query 999: one document.*leave_out=True"):
        rank(X[qid != 103], r[qid != 103], qid[qid != 103])
    found = rank(X, r, qid, landmarks=8, leave_out=True)
    assert set(found.left_out) == {"103", "999"}
    keep = (qid != 103) & (qid != 999)
    plain = rank(X[keep], r[keep], qid[keep], landmarks=8)
    assert plain.weights == pytest.approx(found.weights, rel=1e-12)
    with pytest.raises(InvalidProblem, match="query"):
        found.evaluate(X, r, qid)
    told = found.evaluate(X, r, qid, leave_out=True)
    assert told.left_out == found.left_out
    assert told.ndcg == pytest.approx(plain.evaluate(X[keep], r[keep], qid[keep]).ndcg)
    with pytest.raises(InvalidProblem, match="no query has two documents"):
        rank(X, 0.0 * r, qid, leave_out=True)


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files_bring_the_same_ranker_back(tmp_path: Path, suffix: str) -> None:
    X, r, qid = toy()
    found = rank(X, r, qid, Manhattan(), landmarks=7, radius=0.5)
    found.save(tmp_path / f"ranker{suffix}")
    again = LandmarkedRanker.load(tmp_path / f"ranker{suffix}")
    assert np.array_equal(again.scores(X), found.scores(X))
    assert again.certificate == found.certificate
    assert (again.logarithm, again.left_out, str(again)) == (found.logarithm, found.left_out, str(found))
    assert again.provenance["queries"] == 12
    assert np.array_equal(pickle.loads(pickle.dumps(found)).scores(X), found.scores(X))


def test_what_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    X, r, qid = toy()
    found = rank(X, r, qid, lambda a, b: a @ b.T, landmarks=3)
    with pytest.raises(InvalidProblem, match="function of your own"):
        found.save(tmp_path / "ranker.npz")
    (tmp_path / "other.json").write_text('{"format": "simopt-ranker-1", "weights": [1.0]}')
    with pytest.raises(InvalidFile, match="not a whole ranker"):
        LandmarkedRanker.load(tmp_path / "other.json")
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0] = 1.0


def test_bad_arguments_are_named() -> None:
    X, r, qid = toy()
    for options, words in (
        ({"radius": 1.0, "regularization": 1.0}, "radius, regularization"),
        ({"radius": -1.0}, "radius"),
        ({"regularization": 0.0}, "regularization"),
        ({"landmarks": 0}, "landmarks"),
        ({"landmarks": np.ones((2, 3))}, "landmarks"),
    ):
        with pytest.raises(InvalidProblem, match=words):
            rank(X, r, qid, **options)
    with pytest.raises(InvalidProblem, match="relevance: shape"):
        rank(X, r[:-1], qid[:-1])
    with pytest.raises(InvalidProblem, match="qid: shape"):
        rank(X, r, qid[:-1])
    with pytest.raises(InvalidProblem, match="relevance: not a rectangular array of numbers, row 0"):
        rank(X, [[1.0], [1.0, 2.0]], qid)
    with pytest.raises(InvalidProblem, match="points: 2 tables, one of all documents needed.*Queries.stacked"):
        rank([X[:4], X[4:]], r, qid)
    with pytest.raises(InvalidProblem, match=r"document 0 of query \d+ \(row 0\)"):
        rank(X, np.where(np.arange(len(r)) == 0, -1.0, r), qid)
    with pytest.raises(InvalidProblem, match="points"):
        rank(np.where(np.arange(len(r))[:, None] == 3, np.nan, X), r, qid)
    with pytest.raises(UnknownName):
        rank(X, r, qid, leave_out=False, solver="seculr")
    found = rank(X, r, qid, landmarks=4)
    with pytest.raises(InvalidProblem, match="columns"):
        found.scores(X[:, :2])
    with pytest.raises(InvalidProblem, match="cuts: 0"):
        found.evaluate(X, r, qid, cuts=(0,))


def test_given_landmarks_are_kept() -> None:
    X, r, qid = toy()
    found = rank(X, r, qid, landmarks=X[:5])
    assert np.array_equal(found.landmarks, X[:5])
    assert "5 landmarks" in str(found)


def test_ohsumed_is_ranked_better_than_at_random() -> None:
    data = load_dataset("ohsumed")
    assert data.groups is not None and data.folds is not None
    train = data.folds != 1.0
    found = rank(data.features[train], data.targets[train], data.groups[train], "gaussian-mean-distance", leave_out=True)
    told = found.evaluate(data.features[~train], data.targets[~train], data.groups[~train], leave_out=True)
    lists = [data.targets[~train][data.groups[~train] == float(name)] for name in told.names]
    for k in (1, 5, 10):
        assert told.mean[k] > 1.2 * np.mean([relevances.random_ndcg(r, k=k) for r in lists])
