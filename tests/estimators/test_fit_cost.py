"""What a fit does not pay for: proofs that exist, samples that do not count, solvers that can win nothing. And what it still checks."""

import pickle
import time
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import simopt
from simopt import estimators
from simopt.arithmetic import INTERVAL
from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.core.frozen_matrix import LARGE, FrozenMatrix, base_of, freeze_matrix
from simopt.data.similarities import Gaussian, Linear, Similarity, SimilarityRule
from simopt.data.similarities.base import of_simopt
from simopt.estimators.base import KernelEstimator
from simopt.estimators.ordinal import ordinal
from simopt.model.problem import owns_its_data
from simopt.model.status import Status
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.norms.gram_factor import checked, of_points, rescaled
from simopt.solving.entry_points import certify


@dataclass(frozen=True)
class Boaster(Similarity):
    """−‖x − x'‖², which is not PSD whatever it says of itself."""

    kind: ClassVar[str] = ""

    @property
    def psd(self) -> bool:
        return True

    @property
    def bound(self) -> float:
        return np.inf

    def values(self, X: Any, Y: Any) -> Any:
        return -((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)


def test_only_the_word_of_simopts_own_similarities_is_taken() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert of_simopt(Gaussian(1.0)) and of_simopt(Gaussian(1.0) * 0.5 + Gaussian(2.0))
    for liar in (Boaster(), Boaster() + Gaussian(1.0)):
        assert liar.psd and not of_simopt(liar)
        with pytest.raises(InvalidProblem, match="eigenvalue"):
            of_points(liar, X)
        with pytest.raises(InvalidProblem, match="eigenvalue"):
            estimators.MPowerRegressor(liar).fit(X, X[:, 0])


def test_a_trusted_gram_matrix_is_that_of_the_similarity_and_cannot_be_written_on() -> None:
    X = np.random.default_rng(1).normal(size=(700, 3))
    K = of_points(Gaussian(2.0), X)
    np.testing.assert_allclose(K, Gaussian(2.0)(X), rtol=1e-13)
    assert np.array_equal(K, K.T)
    problem = HingeSVM(K, np.where(X[:, 0] > 0, 1.0, -1.0), Penalty(0.1))
    assert owns_its_data(problem) and problem.gram is K
    with pytest.raises(ValueError, match="WRITEABLE"):
        K.setflags(write=True)


def test_the_base_remembers_products_of_the_same_vector_only() -> None:
    rng = np.random.default_rng(2)
    A = freeze_matrix(rng.normal(size=(40, 40)))
    base = base_of(A)
    assert base is not None and not base.nonnegative and base_of(A[:3]) is None
    for _ in range(3):
        for x in rng.normal(size=(12, 40)):
            first = base.product(x)
            first[0] = np.nan  # the caller's own
            np.testing.assert_array_equal(base.product(x), A @ x)
            x[3] += 1.0
            np.testing.assert_array_equal(base.product(x), A @ x)


def test_products_read_half_of_a_symmetric_matrix_and_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(LARGE + 40, 3))
    for K in (of_points(Gaussian(2.0), X), rescaled(of_points(Linear(), X), 0.25), checked("K", np.asfortranarray(Gaussian(2.0)(X)))):
        base, x = base_of(K), rng.normal(size=len(X))
        assert base is not None and base.symmetric
        slack = len(X) * np.finfo(float).eps * (np.abs(K) @ np.abs(x))
        assert np.all(np.abs(base.product(x) - K @ x) <= slack)
        ball = INTERVAL.matvec(K, INTERVAL.lift(x))
        for row in range(0, len(X), 97):  # the ball has the sum in fractions, whichever half was read
            exact = sum(Fraction(float(k)) * Fraction(float(v)) for k, v in zip(K[row], x, strict=True))
            assert abs(Fraction(float(ball.mid[row])) - exact) <= Fraction(float(ball.rad[row]))


def test_a_product_that_a_judge_asks_for_again_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    asked: list[bytes] = []
    multiply = FrozenMatrix._matvec

    def counted(self: FrozenMatrix, x: Any) -> Any:
        asked.append(x.tobytes())
        return multiply(self, x)

    monkeypatch.setattr(FrozenMatrix, "_matvec", counted)
    problem = HingeSVM(of_points(Gaussian(1.0), X), y, Penalty(1e-3), True)
    solution = simopt.solve(problem, record=False)
    certify(problem, solution.point, solution.multipliers)
    assert 5 <= len(asked) == len(set(asked))


def test_without_a_record_the_answer_and_its_certificate_are_the_same() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    problem = HingeSVM(Gaussian(1.0).gram(X), np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0), Penalty(1e-3), True)
    whole, brief = simopt.solve(problem), simopt.solve(problem, record=False)
    assert whole.optimal and brief.optimal and whole.provenance.fingerprint == problem.fingerprint() and brief.provenance.fingerprint == ""
    assert 1 <= len(brief.trace.samples) <= len(whole.trace.samples)
    assert abs(whole.certificate.upper - brief.certificate.upper) <= whole.certificate.gap + brief.certificate.gap
    with pytest.raises(InvalidProblem, match="record"):
        simopt.solve(problem, record=1)


def test_only_support_vectors_are_kept() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] > 0.2, "b", "a")
    model = estimators.HingeSVMClassifier(Gaussian(1.0), regularization=1e-3).fit(X, y)
    assert len(model.support_) < 200 and np.all(model.dual_coef_ != 0.0)
    np.testing.assert_array_equal(model.X_fit_, X[model.support_])
    alpha = np.zeros(400)
    alpha[model.support_] = model.dual_coef_
    np.testing.assert_allclose(model.decision_function(X), Gaussian(1.0)(X) @ alpha + model.intercept_, atol=1e-12)
    given = estimators.HingeSVMClassifier("precomputed", regularization=1e-3).fit(Gaussian(1.0)(X), y)
    np.testing.assert_allclose(given.decision_function(Gaussian(1.0)(X)), model.decision_function(X), atol=1e-3)
    assert len(pickle.dumps(model)) < 40_000


Calls = list[tuple[str, float]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Which solvers a fit asked, and the seconds that each was given."""
    asked: Calls = []

    def counted(problem: Any, name: str, **options: Any) -> Any:
        asked.append((name, options["time_limit"]))
        return simopt.solve(problem, name, **options)

    monkeypatch.setattr(ordinal, "solve", counted)
    return asked


def sine(n: int, dimension: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, dimension))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(("dimension", "seed"), [(1, 0), (2, 0), (3, 0), (3, 1), (3, 2)])
def test_no_solver_is_asked_that_costs_more_than_it_may_win(calls: Calls, dimension: int, seed: int) -> None:
    """Balls so large that no certificate closes: CLARABEL took seconds to find points that were ten times worse than none."""
    X, y = sine(400, dimension, seed)
    model = estimators.LandmarkedSVRegressor(Gaussian(20.0), landmarks=150, radius=1e7, time_limit=10.0, random_state=0)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    spent = time.perf_counter() - begin
    gap = model.certificate_.relative_gap
    assert gap <= ordinal.WORTH and [name for name, _ in calls] == (["newton"] if gap <= ordinal.NEARLY else ["newton", "interior-point"])
    assert all(time_left <= max(ordinal.PATIENCE * spent, 1.0) for _, time_left in calls[1:])


def test_the_clock_ends_a_fit_that_cannot_close(calls: Calls) -> None:
    X, y = sine(400, 2, 5)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        estimators.LandmarkedSVRegressor(Gaussian(20.0), landmarks=100, radius=1e9, tol=1e-15, random_state=0, time_limit=0.01).fit(X, y)
    assert len(calls) <= 2 and all(time_left <= 0.01 for _, time_left in calls)


def test_a_back_end_is_asked_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def unable(problem: Any, name: str, **options: Any) -> Any:
        asked.append(name)
        found = simopt.solve(problem, name, **options)
        return found if name == "clarabel" else replace(found, status=Status.FAILED, point=None, certificate=None)

    monkeypatch.setattr(ordinal, "solve", unable)
    X, y = sine(100, 2, 6)
    model = estimators.LandmarkedSVRegressor(Gaussian(2.0), landmarks=20, random_state=0).fit(X, y)
    assert asked == ["newton", "interior-point", "clarabel"] and model.certificate_.closes(1e-6)


def test_of_the_function_zero_one_training_point_is_kept() -> None:
    fitted = SimpleNamespace(_weighted_rows=None, _precomputed=False, X_fit_=np.arange(10.0).reshape(5, 2))
    KernelEstimator._keep(fitted, np.zeros(5))  # type: ignore[arg-type]
    assert fitted.support_.tolist() == [0] and fitted.dual_coef_.tolist() == [0.0] and fitted.X_fit_.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("estimator", [estimators.LandmarkedSVRegressor(), estimators.LandmarkedOrdinalClassifier()])
def test_points_that_were_checked_are_not_searched_again(estimator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside scikit-learn's own check; nor are the rows that the similarity is chosen from, and the landmarks."""
    searched: Counter[bytes] = Counter()
    plain = validate.all_finite

    def counted(name: str, x: Any) -> Any:
        searched[x.tobytes()] += 1
        return plain(name, x)

    monkeypatch.setattr(validate, "all_finite", counted)
    X = np.random.default_rng(0).normal(size=(600, 3))  # more than there are landmarks
    estimator.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]) + 1.0)
    assert searched and searched[X.tobytes()] <= 1 and searched[estimator.landmark_map_.landmarks.tobytes()] <= 1


def test_an_ordinal_fit_compares_points_with_landmarks_once() -> None:
    compared: list[tuple[int, int]] = []

    def similarity(points: Any, landmarks: Any) -> Any:
        compared.append((len(points), len(landmarks)))
        return Gaussian(1.0)(points, landmarks)

    X = np.random.default_rng(0).normal(size=(600, 3))
    estimators.LandmarkedOrdinalClassifier(similarity, landmarks=20).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert compared == [(600, 20)]


def test_a_rule_of_somebody_else_gets_points_that_it_cannot_write_on() -> None:
    writeable: list[bool] = []

    class Rule(SimilarityRule):
        def choose(self, X: Any, weights: Any = None) -> Similarity:
            writeable.append(X.flags.writeable)
            return Gaussian(1.0)

    X = np.random.default_rng(0).normal(size=(40, 3))
    estimators.LandmarkedSVRegressor(Rule()).fit(X, X[:, 0])
    assert writeable == [False] and X.flags.writeable
