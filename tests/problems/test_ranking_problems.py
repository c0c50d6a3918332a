"""Ranking problems against what they reduce to: least squares on η, the paper's closed form, goodness of documents; and bad lists."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.data.datasets import Dataset, load_dataset
from simopt.data.relevance import eta
from simopt.problems.bounds import Ball, Bound, Ridge
from simopt.problems.goodness import Goodness
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.problems.kernel_ranking import KernelRanking
from simopt.problems.landmarked_least_squares import LandmarkedLeastSquares
from simopt.problems.landmarked_ranking import LandmarkedRanking
from simopt.problems.ranking_goodness import RankingGoodness
from simopt.solving.entry_points import solve

QID = np.array([4, 4, 9, 9, 9, 4, 2, 2])
RELEVANCE = np.array([1.0, 0.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0])


def features(d: int = 3) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).normal(size=(len(QID), d))


def stacked_eta(logarithm: str = "natural") -> np.ndarray[Any, Any]:
    out = np.empty(len(QID))
    for query in np.unique(QID):
        out[QID == query] = eta(RELEVANCE[QID == query], logarithm)
    return out


@pytest.mark.parametrize("logarithm", ["natural", "binary"])
def test_the_loss_is_a_mean_over_queries_of_sums_over_documents(logarithm: str) -> None:
    psi, w = features(), np.array([0.3, -0.2, 0.5])
    by_query = [np.sum((eta(RELEVANCE[QID == q], logarithm) - psi[QID == q] @ w) ** 2) for q in (4, 9, 2)]
    ball = LandmarkedRanking(psi, RELEVANCE, QID, Ball(5.0), logarithm)
    penalised = LandmarkedRanking(psi, RELEVANCE, QID, Ridge(0.1), logarithm)
    assert ball.objective({"w": w}) == pytest.approx(np.mean(by_query), rel=1e-13)
    assert penalised.objective({"w": w}) == pytest.approx(np.mean(by_query) + 0.1 * w @ w, rel=1e-13)


def test_they_are_least_squares_on_normalised_relevance() -> None:
    psi, m = features(), len(QID) / 3
    ours = solve(LandmarkedRanking(psi, RELEVANCE, QID, Ridge(0.2)), tol=1e-12)
    theirs = solve(LandmarkedLeastSquares(psi, stacked_eta(), Ridge(0.2 / m)), tol=1e-12)
    assert ours.optimal and theirs.optimal and ours.point is not None and theirs.point is not None
    assert ours.point["w"] == pytest.approx(theirs.point["w"], rel=1e-9)
    assert ours.value == pytest.approx(m * theirs.value, rel=1e-10)
    ball = solve(LandmarkedRanking(psi, RELEVANCE, QID, Ball(0.05)), tol=1e-10)
    plain = solve(LandmarkedLeastSquares(psi, stacked_eta(), Ball(0.05)), tol=1e-10)
    assert ball.point is not None and plain.point is not None
    assert ball.point["w"] == pytest.approx(plain.point["w"], rel=1e-6)
    assert np.linalg.norm(ball.point["w"]) == pytest.approx(0.05)


def domain(seed: int = 3) -> tuple[np.ndarray[Any, Any], dict[str, Any], np.ndarray[Any, Any]]:
    """A kernel on four documents and all lists of three of them, drawn independently, less those without a relevant one; μ by count."""
    rng = np.random.default_rng(seed)
    inputs, grades = rng.normal(size=(4, 2)), np.array([0.0, 1.0, 2.0, 0.0])
    gram = np.exp(-0.5 * np.sum((inputs[:, None] - inputs[None]) ** 2, axis=2))
    single = rng.dirichlet(np.ones(4))
    lists = [x for x in itertools.product(range(4), repeat=3) if np.any(grades[list(x)])]
    p = np.array([np.prod(single[list(x)]) for x in lists])
    p /= p.sum()
    entries = np.array(lists).reshape(-1)
    fields = {"relevance": grades[entries], "qid": np.repeat(np.arange(len(lists)), 3), "documents": entries, "probabilities": p}
    mu = np.array([sum(q * x.count(z) for q, x in zip(p, lists, strict=True)) / 3 for z in range(4)])
    return gram, fields, mu


def test_the_closed_form_of_the_paper() -> None:
    gram, fields, mu = domain()
    problem = KernelRanking(gram, cost=4.0, **fields)
    assert problem.document_mass == pytest.approx(3.0 * mu)
    P, m = np.diag(mu), 3.0
    alpha = np.linalg.solve(P @ gram + np.eye(4) / (2 * m * 4.0), P @ problem.expected)
    found = solve(problem, tol=1e-13)
    assert found.optimal and found.point is not None
    assert found.point["alpha"] == pytest.approx(alpha, rel=1e-9)
    f = gram @ alpha
    assert alpha == pytest.approx(2 * m * 4.0 * mu * (problem.expected - f), rel=1e-9)
    constant = float(problem.mass @ (problem.targets - problem.expected[problem.entries]) ** 2)
    reduced = 0.5 * alpha @ f + 4.0 * (m * mu @ (f - problem.expected) ** 2 + constant)
    assert found.value == pytest.approx(reduced, rel=1e-10)


@pytest.mark.parametrize("cost", [1e-6, 1.0, 1e6, 1e10])
def test_the_linear_system_closes_for_weak_and_strong_penalties(cost: float) -> None:
    gram, fields, _ = domain()
    twice = np.tile(np.arange(4), 2)  # a singular kernel
    for K, lists in ((gram, fields), (gram[np.ix_(twice, twice)], {"relevance": RELEVANCE, "qid": QID})):
        assert solve(KernelRanking(K, cost=cost, **lists), "closed-form", tol=1e-9).optimal


@pytest.mark.parametrize("bound", [0.2, 2.0, 40.0])
def test_goodness_of_lists_is_goodness_of_documents_plus_a_constant(bound: float) -> None:
    gram, fields, mu = domain()
    sign = np.where(np.random.default_rng(0).uniform(size=(4, 4)) < 0.5, -1.0, 1.0)
    for K in (gram, sign):
        problem = RankingGoodness(K, bound=bound, **fields)
        ours = solve(problem, tol=1e-10)
        theirs = solve(Goodness(K, problem.expected, bound, mu / mu.sum(), loss="squared"), tol=1e-10)
        constant = float(problem.mass @ (problem.targets - problem.expected[problem.entries]) ** 2)
        assert ours.optimal and theirs.optimal
        assert ours.value == pytest.approx(3.0 * theirs.value + constant, rel=1e-7)


def test_weights_of_goodness_are_bounded_and_give_the_predictions() -> None:
    gram, fields, mu = domain()
    problem = RankingGoodness(gram, bound=2.0, **fields)
    found = solve(problem, tol=1e-10)
    assert found.point is not None
    w = problem.weights(found.point)
    assert np.max(np.abs(w)) <= 2.0
    assert problem.predictions(found.point["v"]) == pytest.approx((gram @ (mu * w))[fields["documents"]], rel=1e-12)


def test_definition_29_is_the_kernel_goodness_of_documents() -> None:
    gram, fields, mu = domain()
    problem = KernelRanking(gram, cost=50.0, **fields)
    found = solve(problem, tol=1e-12)
    assert found.point is not None
    alpha = found.point["alpha"]
    norm = float(np.sqrt(alpha @ gram @ alpha))
    loss = float(problem.mass @ (problem.predictions(alpha) - problem.targets) ** 2)
    best = solve(KernelGoodness(gram, problem.expected, 1.0 / norm, mu / mu.sum(), loss="squared"), tol=1e-10)
    constant = float(problem.mass @ (problem.targets - problem.expected[problem.entries]) ** 2)
    assert loss == pytest.approx(3.0 * best.value + constant, rel=1e-6)


@pytest.mark.parametrize("bound", [Ball(1.0), Ridge(1.0)])
@pytest.mark.parametrize(
    ("relevance", "qid", "message"),
    [
        (np.where(QID == 2, 0.0, RELEVANCE), QID, "query 2: all 2 documents have relevance 0.*undefined"),
        (RELEVANCE, np.where(np.arange(8) == 7, 11, QID), "query 2: one document"),
        (np.where(np.arange(8) == 4, -1.0, RELEVANCE), QID, r"document 2 of query 9 \(row 4\)"),
        (np.where(np.arange(8) == 4, np.nan, RELEVANCE), QID, r"document 2 of query 9 \(row 4\)"),
        (RELEVANCE[:-1], QID, "qid: shape"),
        (RELEVANCE, [[1], [1, 2]], "qid: not a rectangular"),
        (RELEVANCE, [None, *QID[1:]], "qid: row 0 has none"),
        (RELEVANCE[:-2], QID[:-2], "features.*expected 6"),
    ],
)
def test_lists_without_normalised_relevance_are_refused(bound: Bound, relevance: Any, qid: Any, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        LandmarkedRanking(features(), relevance, qid, bound)


def test_fields_of_a_domain_are_checked() -> None:
    gram, fields, _ = domain()
    for kind, bounds in ((RankingGoodness, {"bound": 1.0}), (KernelRanking, {"cost": 1.0})):
        for change, message in (
            ({"documents": np.full(len(fields["qid"]), 4)}, "documents: entry 0 is 4, whole numbers from 0 to 3"),
            ({"documents": np.full(len(fields["qid"]), 0.5)}, "documents: entry 0 is 0.5"),
            ({"documents": None}, "gram: shape"),
            ({"documents": fields["documents"][:-1]}, "documents"),
            ({"probabilities": fields["probabilities"] * 2.0}, "probabilities"),
            ({"logarithm": 2.0}, "logarithm"),
        ):
            with pytest.raises(InvalidProblem, match=message):
                kind(gram, **{**fields, **change}, **bounds)
        with pytest.raises(InvalidProblem, match="query 1 is 0"):
            few = {"relevance": [1.0, 0.0, 1.0, 0.0], "qid": [0, 0, 1, 1], "probabilities": [1.0, 0.0]}
            kind(np.eye(4), **few, **bounds)
        with pytest.raises(InvalidProblem, match="gram"):
            kind(np.ones((4, 3)), **fields, **bounds)


def own(columns: tuple[str, ...]) -> Dataset:
    table = np.column_stack([features(), QID])
    return Dataset("own", table, columns, RELEVANCE)


def test_a_column_of_query_ids_is_no_feature() -> None:
    problem = LandmarkedRanking.from_data(own(("a", "b", "c", "qid")), np.random.default_rng(0), landmarks=2)
    assert problem.queries.names == ("4", "9", "2")
    assert problem.features.shape == (8, 2)
    linear = LandmarkedRanking.from_data(
        own(("a", "b", "c", "qid")), np.random.default_rng(0), landmarks=8, similarity="linear", standardise=False
    )
    assert np.linalg.matrix_rank(linear.features) == 3
    with pytest.raises(InvalidProblem, match="no query ids"):
        LandmarkedRanking.from_data(own(("a", "b", "c", "d")), np.random.default_rng(0))


def test_queries_of_ohsumed_are_taken_whole_and_one_has_no_relevant_document() -> None:
    data = load_dataset("ohsumed")
    assert data.groups is not None
    whole = LandmarkedRanking.from_data(data, np.random.default_rng(0), landmarks=5)
    silent = [q for q in np.unique(data.groups) if not np.any(data.targets[data.groups == q])]
    assert (len(np.unique(data.groups)), len(silent), len(whole.queries)) == (106, 1, 105)
    assert len(whole.relevance) == data.n - np.count_nonzero(data.groups == silent[0])
    some = LandmarkedRanking.from_data(data, np.random.default_rng(0), queries=3, landmarks=5)
    for name, size in zip(some.queries.names, some.queries.sizes, strict=True):
        assert size == np.count_nonzero(data.groups == float(name))
    assert len(some.queries) == 3
    assert data.d == 45 and not {"qid", "subset"} & set(data.feature_names)


CASES = [
    pytest.param(example.problem, id=f"{kind.name}: {example.name}")
    for kind in (*LandmarkedRanking.each_form(), KernelRanking, RankingGoodness)
    for example in kind.examples(np.random.default_rng(11))
]


@pytest.mark.parametrize("problem", CASES)
def test_solvers_bring_multipliers_that_close_in_intervals(problem: Any) -> None:
    found = solve(problem, tol=1e-8, rigorous=True)
    assert found.certificate is not None
    assert found.certificate.arithmetic == "interval"
    assert found.optimal


def test_long_lists_and_large_relevances() -> None:
    rng = np.random.default_rng(0)
    qid = np.repeat([0, 1], [2000, 3])
    relevance = np.concatenate([rng.integers(0, 5, size=2000), [0.0, 400.0, 399.0]]).astype(float)
    problem = LandmarkedRanking(rng.normal(size=(2003, 6)), relevance, qid, Ball(0.01))
    assert np.all((problem.targets >= 0.0) & (problem.targets <= np.log(2.0)))
    assert problem.targets[-2] == pytest.approx(1.0 / (1.0 / np.log(2.0) + 0.5 / np.log(3.0)), rel=1e-12)
    assert solve(problem, tol=1e-9).optimal


def test_a_pickled_problem_keeps_its_lists() -> None:
    import copy
    import pickle

    problem = LandmarkedRanking(features(), RELEVANCE, QID.astype(str), Ball(1.0), "binary")
    for twin in (pickle.loads(pickle.dumps(problem)), copy.copy(problem)):
        assert np.array_equal(twin.targets, problem.targets) and not twin.targets.flags.writeable
        assert twin.queries.names == problem.queries.names
        assert twin.count == problem.count == 3
