"""Lists grouped by query id: rows that do not stand together, errors that name query and document."""

import math

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.data import relevance as lists
from simopt.data.queries import Queries, defined

QID = [7, 3, 7, 3, 7]
RELEVANCE = [1, 0, 0, 2, 2]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_rows_are_grouped_in_the_order_of_appearance():
    found = Queries.of(RELEVANCE, QID)
    assert found.names == ("7", "3")
    assert [list(rows) for rows in found.rows] == [[0, 2, 4], [1, 3]]
    assert list(found.sizes) == [3, 2]
    assert (len(found), found.n) == (2, 5)
    assert found.eta()[[0, 2, 4]] == pytest.approx(lists.eta([1, 0, 2]))
    assert found.eta("binary")[[1, 3]] == pytest.approx([0.0, 1.0])


def test_text_and_floats_name_queries():
    assert Queries.of([0, 1, 1, 0], ["b", "b", "a", "a"]).names == ("b", "a")
    assert Queries.of([0, 1], [4.0, 4.0]).names == ("4",)
    assert Queries.of([0, 1], np.array(["x", "x"], dtype=object)).names == ("x",)


def test_ndcg_query_by_query(rng):
    found, scores = Queries.of(RELEVANCE, QID), rng.normal(size=5)
    several = found.ndcg(scores, k=[1, 2, 10])
    assert several.shape == (2, 3)
    assert several[1, 0] == lists.ndcg(scores[[1, 3]], [0, 2], k=1)
    assert found.ndcg(scores, k=2) == pytest.approx(several[:, 1])
    assert found.ndcg(scores) == pytest.approx(several[:, 2])
    assert [list(rows) for rows in found.rankings([0, 5, 1, 5, 1])] == [[2, 4, 0], [1, 3]]


def test_a_subset_keeps_lists_whole(rng):
    found, scores = Queries.of(RELEVANCE, QID), rng.normal(size=5)
    rows, part = found.subset([1])
    assert list(rows) == [1, 3]
    assert part.names == ("3",)
    assert part.ndcg(scores[rows]) == pytest.approx(found.ndcg(scores)[1:])
    rows, turned = found.subset([1, 0])
    assert turned.ndcg(scores[rows]) == pytest.approx(found.ndcg(scores)[::-1])
    for wrong in ([], [2], [0, 0], [-1]):
        with pytest.raises(InvalidProblem, match="queries"):
            found.subset(wrong)


def test_lists_of_tables_are_stacked(rng):
    X, found = Queries.stacked([rng.normal(size=(2, 3)), rng.normal(size=(3, 3))], [[0, 1], [1, 0, 2]])
    assert X.shape == (5, 3)
    assert list(found.sizes) == [2, 3]


@pytest.mark.parametrize(
    ("relevance", "qid", "message"),
    [
        ([1, 0, 1], [1, 1, 2], r"query 2: one document \(row 2\)"),
        ([1, 0, 0, 0], ["a", "a", "b", "b"], "query b: all 2 documents have relevance 0.*undefined"),
        ([1, 0, -1, 1], [5, 6, 5, 6], r"document 1 of query 5 \(row 2\) has relevance -1"),
        ([1, 0, math.nan, 1], [5, 6, 6, 5], r"document 1 of query 6 \(row 2\) has relevance nan"),
        ([1, 0], [1.0, math.nan], "row 1 has none"),
        ([1, 0], ["a", None], "row 1 has none"),
        ([1, 0, 2], [1, 1], "shape"),
        ([], [], "no documents"),
        (["x", 0], [1, 1], "not numbers"),
        ([1j, 0], [1, 1], "complex"),
        ([[1, 0], [1]], [1, 1], "relevance: not a rectangular array of numbers, row 0 has 2 entries and row 1 has 1; "),
        ([1, 0], [[1], [1, 2]], "qid: not a rectangular"),
        ([[1, 0]], [[1, 1]], "qid: shape"),
        (np.ma.masked_array([1.0, 0.0], [True, False]), [1, 1], "masked"),
        ([1.0, 0.0], np.ma.masked_array([1, 1], [True, False]), "qid: 1 of 2 values is masked"),
    ],
)
def test_the_query_at_fault_is_named(relevance, qid, message):
    with pytest.raises(InvalidProblem, match=message):
        Queries.of(relevance, qid)


def test_unequal_features_and_lists_are_refused(rng):
    with pytest.raises(InvalidProblem, match="documents of query 1 have 4 features, those of query 0 3"):
        Queries.stacked([rng.normal(size=(2, 3)), rng.normal(size=(2, 4))], [[0, 1], [1, 0]])
    with pytest.raises(InvalidProblem, match="features of query 1.*expected 3"):
        Queries.stacked([rng.normal(size=(2, 3)), rng.normal(size=(2, 3))], [[0, 1], [1, 0, 2]])
    with pytest.raises(InvalidProblem, match="1 lists of features and 2"):
        Queries.stacked([rng.normal(size=(2, 3))], [[0, 1], [1, 0]])
    with pytest.raises(InvalidProblem, match="none given"):
        Queries.stacked([], [])


def test_defined_says_which_rows_to_keep():
    relevance, qid = [1, 0, 0, 0, 5, 1], [1, 1, 2, 2, 3, 1]
    assert list(defined(relevance, qid)) == [True, True, False, False, False, True]
    keep = defined(relevance, qid)
    assert len(Queries.of(np.array(relevance)[keep], np.array(qid)[keep])) == 1
