"""Rules of one's own: step rules of herding, widths of kernels, choices of landmarks. Objects stand where names do."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.landmarks import LandmarkMap
from simopt.data.similarities import Gaussian, GaussianWidth, Laplacian, Scaled, SimilarityRule, named
from simopt.data.similarities.defaults import DEFAULT_KERNEL, DEFAULT_OF_MEANS, DEFAULT_OF_RECIPES, DEFAULT_ON_LANDMARKS, WIDTHS
from simopt.data.similarities.named import RULES, takes_sparse
from simopt.estimators import (
    HerdedMeanClassifier,
    HingeSVMClassifier,
    LandmarkedRidgeCV,
    LandmarkedRidgeRegressor,
    LandmarkTransformer,
    MeanSimilarityClassifier,
    NadarayaWatsonRegressor,
)
from simopt.estimators.herding.herd import herd
from simopt.estimators.landmarked.landmark_choice import SELECTIONS, Candidates, Greedy, LandmarkSelection
from simopt.estimators.widths import WIDTH_RULES, LeaveOneOutWidth, WidthRule, width_rule
from simopt.problems.herding import Herding
from simopt.solvers.herding.frank_wolfe import STEPS
from simopt.solvers.herding.frank_wolfe_steps import STEP_TAKEN, LineSearch, StepRule
from simopt.solvers.herding.walk import Walk
from simopt.solving.entry_points import solve

rng = np.random.default_rng(3)
X = rng.normal(size=(80, 2))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0.0, 1.0, -1.0)


class Halves(StepRule):
    """ω̃ ← (ω̃ + ψ_s)/2, at most `most` times."""

    keeps_columns = False

    def __init__(self, most: int = 40) -> None:
        self.most = most
        self.done = 0

    def step(self, walk: Walk, scores: Array, s: int, gap: float, may_grow: bool) -> str:
        """Half of the way."""
        if self.done >= self.most:
            return "halved often enough"
        if not may_grow and s not in walk:
            return "no atom is left"
        self.done += 1
        walk.shift(s, walk.mass)
        return STEP_TAKEN


@dataclass(frozen=True)
class FirstPoints(LandmarkSelection):
    """The first points, or what `wrong` says."""

    wrong: Any = None

    def select(self, candidates: Candidates, count: int, seed: int) -> Any:
        """0, 1, …, in falling order."""
        assert candidates.diagonal().shape == candidates.row(0).shape == (candidates.n,)
        return np.arange(count)[::-1] if self.wrong is None else self.wrong


@dataclass(frozen=True)
class HalfWidth(SimilarityRule):
    """A Laplacian of half the mean distance."""

    def choose(self, X: Array, weights: Array | None = None) -> Laplacian:
        """Laplacian."""
        return Laplacian(0.5 * Laplacian.mean_distance(X, weights).width)


@dataclass(frozen=True)
class ByClasses(WidthRule):
    """Narrower for more classes; for targets by their standard deviation."""

    def for_classes(self, X: Array, classes: Any, weights: Array | None, counts: Array | None) -> Gaussian:
        """2/k."""
        return Gaussian(2.0 / len(np.unique(classes)))

    def for_targets(self, X: Array, y: Array, weights: Array | None, shift: float) -> Gaussian:
        """1/(1 + σ)."""
        return Gaussian(1.0 / (1.0 + float(np.std(y))))


def test_a_step_rule_of_ones_own_stands_where_a_name_does() -> None:
    own = herd(X, Y, Gaussian(2.0), atoms=80, steps=Halves(12))
    assert own.message == "halved often enough" and len(own.picks) == 13 and own.provenance["steps"] == "Halves"
    model = HerdedMeanClassifier(Gaussian(2.0), error=None, atoms=80, steps=Halves(12)).fit(X, Y)
    assert len(model.herd_.picks) == 13 and clone(model).steps.most == 12
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_rule_begins_anew_with_each_run() -> None:
    rule = Halves(5)
    one, two = (herd(X, Y, Gaussian(2.0), atoms=80, steps=rule) for _ in range(2))
    assert rule.done == 0
    np.testing.assert_array_equal(one.picks, two.picks)
    blocks = herd(X, Y, Gaussian(2.0), atoms=20, steps=rule, block_size=40)
    assert blocks.error > 0.0 and len(blocks) > 0


@pytest.mark.parametrize("name", STEPS)
def test_the_rule_of_a_name_takes_the_steps_of_that_name(name: str) -> None:
    by_name, by_object = (herd(X, Y, Gaussian(2.0), atoms=10, steps=steps) for steps in (name, STEPS[name]()))
    np.testing.assert_array_equal(by_name.picks, by_object.picks)
    np.testing.assert_array_equal(by_name.weights, by_object.weights)


def test_the_solver_takes_rules_too() -> None:
    problem = Herding(Gaussian(2.0).gram(X), Y)
    one, two = (solve(problem, "frank-wolfe", steps=steps, tol=1e-3) for steps in ("line-search", LineSearch()))
    assert one.value == two.value


@pytest.mark.parametrize("steps", ["nearest", LineSearch, 3, None])
def test_what_is_no_step_rule_is_refused_with_the_names(steps: Any) -> None:
    with pytest.raises(UnknownName, match="unknown steps .*line-search"):
        herd(X, Y, Gaussian(2.0), atoms=3, steps=steps)


def test_landmarks_chosen_by_an_object() -> None:
    model = LandmarkTransformer("gaussian", landmarks=7, selection=FirstPoints()).fit(X)
    np.testing.assert_array_equal(model.landmark_indices_, np.arange(7))
    np.testing.assert_array_equal(model.landmark_map_.landmarks, X[:7])
    gram = Gaussian(2.0).gram(X)
    precomputed = LandmarkedRidgeRegressor("precomputed", landmarks=5, selection=FirstPoints()).fit(gram, Y)
    np.testing.assert_array_equal(precomputed.landmark_indices_, np.arange(5))
    assert LandmarkedRidgeCV("gaussian", landmarks=6, selection=FirstPoints(), regularizations=3).fit(X, Y).coef_.shape == (6,)


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for name, rule in SELECTIONS.items() if rule is not None])
def test_the_choice_of_a_name_is_that_of_its_object(name: str, rule: LandmarkSelection) -> None:
    one, two = (LandmarkTransformer(landmarks=9, selection=each, random_state=4).fit(X) for each in (name, rule))
    np.testing.assert_array_equal(one.landmark_indices_, two.landmark_indices_)


def test_landmarks_by_object_are_found_by_a_search() -> None:
    search = GridSearchCV(LandmarkedRidgeRegressor(landmarks=10, random_state=0), {"selection": ["random", Greedy(), FirstPoints()]}, cv=3)
    assert search.fit(X, Y).best_score_ > 0.2


@pytest.mark.parametrize("wrong", [[], [0, 0], [-1], [80], [0.5], [[0, 1]], list(range(8))])
def test_what_is_no_choice_of_landmarks_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidProblem, match="selection: "):
        LandmarkTransformer("gaussian", landmarks=7, selection=FirstPoints(wrong)).fit(X)


@pytest.mark.parametrize("selection", ["nearest", Greedy, 3, None])
def test_what_is_no_rule_of_choice_is_refused_with_the_names(selection: Any) -> None:
    with pytest.raises(UnknownName, match=r"unknown selection .*k-means\+\+"):
        LandmarkTransformer("gaussian", landmarks=7, selection=selection).fit(X)


def test_a_rule_stands_where_the_name_of_a_similarity_does() -> None:
    half = Laplacian(0.5 * Laplacian.mean_distance(X).width)
    assert HingeSVMClassifier(HalfWidth()).fit(X, Y).similarity_ == half
    assert MeanSimilarityClassifier(HalfWidth()).fit(X, Y).similarity_ == half
    assert LandmarkMap.from_data(X, 5, np.random.default_rng(0), HalfWidth()).similarity == half
    assert herd(X, Y, HalfWidth(), atoms=3).similarity == half
    assert named(HalfWidth(), X) == half and not takes_sparse(HalfWidth()) and takes_sparse(GaussianWidth())


def test_widths_are_multiples_of_the_default() -> None:
    usual = named(DEFAULT_KERNEL, X)
    assert isinstance(usual, Scaled) and isinstance(usual.base, Gaussian)
    wide = GaussianWidth(2.0).choose(X)
    assert isinstance(wide, Scaled) and isinstance(wide.base, Gaussian) and wide.base.mu == 4.0 * usual.base.mu
    assert GaussianWidth().choose(X) == usual
    with pytest.raises(InvalidProblem, match="factor"):
        GaussianWidth(0.0)


def test_a_width_rule_of_ones_own_sees_what_is_to_be_predicted() -> None:
    assert MeanSimilarityClassifier(ByClasses()).fit(X, Y).similarity_ == Gaussian(1.0)
    assert HerdedMeanClassifier(ByClasses()).fit(X, Y).herd_.similarity == Gaussian(1.0)
    assert NadarayaWatsonRegressor(ByClasses()).fit(X, Y).similarity_ == Gaussian(1.0 / (1.0 + float(np.std(Y))))


@pytest.mark.parametrize("estimator", [MeanSimilarityClassifier, HerdedMeanClassifier, NadarayaWatsonRegressor])
def test_the_rule_called_auto_leaves_out_one_point_at_a_time(estimator: Any) -> None:
    by_name, by_object = (estimator(similarity).fit(X, Y) for similarity in ("auto", LeaveOneOutWidth()))
    assert by_name.similarity_ == by_object.similarity_ and estimator().similarity == DEFAULT_OF_MEANS == "auto"
    one = estimator(LeaveOneOutWidth((0.5,))).fit(X, Y).similarity_
    assert one.base.mu == 0.5 * named(DEFAULT_KERNEL, X).base.mu  # type: ignore[attr-defined]
    assert clone(estimator(LeaveOneOutWidth((0.5,)))).similarity == LeaveOneOutWidth((0.5,))


@pytest.mark.parametrize("widths", [(), (0.0,), (1.0, -1.0), (np.nan,)])
def test_widths_that_are_none_are_refused(widths: Any) -> None:
    with pytest.raises(InvalidProblem, match="widths"):
        LeaveOneOutWidth(widths)


def test_all_defaults_stand_in_one_place() -> None:
    assert {DEFAULT_KERNEL, DEFAULT_ON_LANDMARKS, DEFAULT_OF_RECIPES} <= set(RULES) and set(WIDTH_RULES) == {DEFAULT_OF_MEANS}
    assert width_rule(DEFAULT_OF_MEANS) == LeaveOneOutWidth(WIDTHS) and width_rule(DEFAULT_KERNEL) is None
    assert LandmarkTransformer().similarity == LandmarkedRidgeCV().similarity == DEFAULT_ON_LANDMARKS
    assert HingeSVMClassifier().similarity == DEFAULT_KERNEL
