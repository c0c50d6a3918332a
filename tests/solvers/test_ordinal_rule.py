"""Ordinal rules: thresholds and margins by their definition, classes without samples, files, pictures, and what is refused."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.core.arrays import Array
from simopt.core.errors import InvalidFile, InvalidProblem, UnknownName
from simopt.data.similarities import Gaussian
from simopt.estimators.ordinal import ordinal as module
from simopt.estimators.ordinal.ordinal import NEARLY, OrdinalRule, equispaced, ordinal, threshold_shift, training_labels
from simopt.model.status import Status
from simopt.problems.bounds import Penalty
from simopt.problems.exc_ordinal import EXCOrdinal

TIGHT = 1e-6


def sample(n: int = 90, classes: int = 4, seed: int = 0) -> tuple[Array, Array]:
    """Labels cut from a noisy bent function at equal frequencies."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    score = np.tanh(X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.2 * rng.normal(size=n)
    return X, 1.0 + np.floor(np.argsort(np.argsort(score)) * classes / n)


def fitted(**options: Any) -> tuple[OrdinalRule, Array, Array]:
    X, y = sample()
    return ordinal(X, y, Gaussian(1.0), landmarks=12, tol=TIGHT, **options), X, y


def hinges(scores: Array, y: Array, b: Array, gamma: float) -> float:
    ends = np.concatenate([[-math.inf], b, [math.inf]])
    index = y.astype(int)
    below, above = ends[index - 1] + gamma - scores, scores - ends[index] + gamma
    return float(np.mean(np.maximum(below, 0.0) + np.maximum(above, 0.0)))


@pytest.mark.parametrize("options", [{}, {"radius": 5.0}, {"delta": 0.7}, {"thresholds": "equispaced"}, {"form": "imc"}])
def test_labels_are_intervals_of_the_score_and_thresholds_are_in_order(options: dict[str, Any]) -> None:
    rule, X, y = fitted(**options)
    scores, labels = rule.scores(X), rule.predict(X)
    assert scores == pytest.approx(rule.map(X) @ rule.weights)
    assert rule.certificate.relative_gap <= TIGHT
    assert np.all(np.diff(rule.thresholds) >= options.get("delta", 0.0) * (1 - 1e-12))
    for f, label in zip(scores, labels, strict=True):
        low, high = rule.intervals[label - 1]
        assert low <= f < high
    assert np.mean(np.abs(labels - y)) < np.mean(np.abs(np.median(y) - y))


def test_a_score_at_a_threshold_belongs_to_the_upper_class() -> None:
    rule, _, _ = fitted()
    tied = replace(rule, thresholds=np.array([0.0, 1.0, 1.0]))
    assert tied.labels_of([-0.1, 0.0, 0.5, 1.0, 2.0]).tolist() == [1, 2, 2, 4, 4]
    assert tied.never == (3,)


def test_margins_are_distances_to_the_ends_of_the_interval() -> None:
    rule, X, y = fitted()
    scores = rule.scores(X)
    ends = np.concatenate([[-math.inf], rule.thresholds, [math.inf]])
    expected = [min(f - ends[int(k) - 1], ends[int(k)] - f) for f, k in zip(scores, y, strict=True)]
    margins = rule.margins(X, y)
    assert margins == pytest.approx(expected)
    assert np.array_equal(margins < 0, rule.predict(X) != y)
    assert np.all(rule.margins(X) >= 0)
    found = rule.evaluate(X, y)
    assert found.violated == np.mean(margins < rule.gamma)
    free = margins >= rule.gamma
    assert hinges(scores[free], y[free], np.asarray(rule.thresholds), rule.gamma) == 0.0


def test_errors_are_those_of_the_confusion() -> None:
    rule, X, y = fitted()
    found, labels = rule.evaluate(X, y), rule.predict(X)
    assert found.absolute == pytest.approx(np.mean(np.abs(labels - y)))
    assert found.wrong == pytest.approx(np.mean(labels != y))
    away = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    assert found.confusion.sum() == len(y) and (found.confusion * away).sum() / len(y) == pytest.approx(found.absolute)
    assert "90 samples" in str(found)


@pytest.mark.parametrize("bound", [{"radius": 4.0}, {"regularization": 0.01}])
def test_the_loss_is_that_of_the_problem_and_its_certificate_holds(bound: dict[str, float]) -> None:
    rule, X, y = fitted(gamma=0.8, **bound)
    loss = hinges(rule.scores(X), y, np.asarray(rule.thresholds), 0.8)
    value = loss + 0.5 * bound.get("regularization", 0.0) * float(rule.weights @ rule.weights)
    assert rule.certificate.lower - 1e-9 <= value <= rule.certificate.upper + 1e-9
    assert "radius" not in bound or np.linalg.norm(rule.weights) <= 4.0 * (1 + 1e-12)


def test_the_default_margin_of_given_thresholds_is_half_their_least_step() -> None:
    assert equispaced(4).tolist() == [1.5, 2.5, 3.5]
    assert fitted(thresholds="equispaced")[0].gamma == 0.5
    given = fitted(thresholds=[1.0, 1.4, 3.0])[0]
    assert given.gamma == pytest.approx(0.2) and given.thresholds.tolist() == [1.0, 1.4, 3.0]


def gapped(**options: Any) -> tuple[OrdinalRule, Array, Array]:
    """Labels 3, 4, 6, 7 of 1 … 8."""
    X, y = sample()
    spread = np.array([0, 3, 4, 6, 7])[y.astype(int)].astype(float)
    return ordinal(X, spread, Gaussian(1.0), landmarks=12, classes=8, tol=TIGHT, **options), X, spread


@pytest.mark.parametrize("form", ["exc", "imc"])
def test_classes_without_samples_are_never_predicted_without_spacing(form: str) -> None:
    rule, X, y = gapped(form=form)
    assert rule.missing == (1, 2, 5, 8)
    assert set(rule.missing) <= set(rule.never)
    assert np.isneginf(rule.thresholds[:2]).all() and np.isposinf(rule.thresholds[6:]).all()
    assert rule.thresholds[3] == rule.thresholds[4]
    assert not set(rule.predict(10.0 * X)) & set(rule.missing)
    assert rule.evaluate(X, y).confusion.shape == (8, 8)
    assert "without samples 1, 2, 5, 8" in str(rule)


def test_classes_without_samples_keep_an_interval_with_spacing() -> None:
    rule, X, y = gapped(delta=0.6)
    low, high = rule.intervals[4]
    assert high - low == pytest.approx(0.6)
    assert rule.never == () and np.all(np.diff(rule.thresholds) >= 0.6 - 1e-12)
    scores = rule.scores(X)
    assert rule.thresholds[1] == pytest.approx(min(scores[y == 3].min() - rule.gamma, rule.thresholds[2] - 0.6))
    assert rule.thresholds[6] == pytest.approx(max(scores[y == 7].max() + rule.gamma, rule.thresholds[5] + 0.6))


@pytest.mark.parametrize("delta", [0.0, 0.6])
def test_moving_thresholds_of_empty_classes_does_not_raise_the_loss(delta: float) -> None:
    rule, X, y = gapped(delta=delta, regularization=0.01)
    value = hinges(rule.scores(X), y, np.asarray(rule.thresholds), 1.0) + 0.005 * float(rule.weights @ rule.weights)
    assert value <= rule.certificate.upper + 1e-12
    problem = EXCOrdinal(rule.map(X), y, 8, 1.0, delta, bound=Penalty(0.01))
    finite = np.clip(np.asarray(rule.thresholds), -1e3, 1e3)  # ∓∞ stands for anything far enough
    assert problem.objective({"w": rule.weights, "thresholds": finite}) == pytest.approx(value)


def test_shifted_thresholds_of_random_scores() -> None:
    rng = np.random.default_rng(3)
    for delta in (0.0, 0.5) * 10:
        y = np.array([2, 2, 5, 5, 6, 6, 6])
        scores = rng.normal(size=y.size)
        b = -4.0 + np.cumsum(delta + rng.exponential(size=7))
        moved = threshold_shift(b, scores, y, np.bincount(y, minlength=9)[1:], 1.0, delta)
        steps = np.diff(moved[np.isfinite(moved)])
        assert np.all(steps >= delta - 1e-12)
        assert hinges(scores, y, moved, 1.0) <= hinges(scores, y, b, 1.0) + 1e-12


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files_and_pickles_give_the_same_rule(tmp_path: Path, suffix: str) -> None:
    rule, X, _ = gapped()
    path = tmp_path / f"rule{suffix}"
    rule.save(path)
    for other in (OrdinalRule.load(path), pickle.loads(pickle.dumps(rule))):
        assert np.array_equal(other.thresholds, rule.thresholds) and np.array_equal(other.counts, rule.counts)
        assert np.array_equal(other.scores(X), rule.scores(X))
        assert other.certificate == rule.certificate and other.provenance == rule.provenance
        assert (other.gamma, other.delta, other.form) == (rule.gamma, rule.delta, rule.form)


def test_files_that_hold_no_rule_are_refused(tmp_path: Path) -> None:
    rule, X, y = fitted()
    with pytest.raises(InvalidProblem, match=r"\.npz or \.json"):
        rule.save(tmp_path / "rule.txt")
    (tmp_path / "rule.json").write_text('{"format": "simopt-ordinal-rule-1", "weights": [1.0]}')
    with pytest.raises(InvalidFile, match="not a whole ordinal rule"):
        OrdinalRule.load(tmp_path / "rule.json")
    own = ordinal(X, y, lambda A, B: np.exp(-np.abs(A[:, :1] - B[:, 0])), landmarks=8, tol=1e-4)
    with pytest.raises(InvalidProblem, match="function of your own"):
        own.save(tmp_path / "own.npz")


def test_pictures_show_all_samples() -> None:
    rule, X, y = gapped()
    axes = rule.plot(X, y).axes[0]
    assert sum(len(found.get_offsets()) for found in axes.collections) == len(y)
    assert {text.get_text() for text in axes.texts} == {"3", "4", "6", "7"}


def test_arrays_of_a_rule_are_read_only_and_thresholds_must_be_in_order() -> None:
    rule, _, _ = fitted()
    with pytest.raises(ValueError, match="read-only"):
        rule.thresholds[0] = 5.0
    with pytest.raises(InvalidProblem, match="index 1"):
        replace(rule, thresholds=np.array([0.0, 2.0, 1.0]))


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        ([1, 2, 2.5, 3], None, r"2\.5 at index 2 is not a whole number"),
        ([1, 2, 0, 3], None, r"0 at index 2 is not in 1, …, 3.*add 1"),
        ([-1, -1, -2, -1], None, r"-1 at index 0 is not in 1, …, r \(4 of 4 are not\); add 3 to all"),
        ([1, 2, 5, 3], 4, r"5 at index 2 is not in 1, …, 4.*classes=5"),
        ([2, 2, 2, 2], 3, r"all 4 samples have the label 2"),
        ([1, 2, math.nan, 3], None, r"not finite \(first at index 2\)"),
        ([1, 2, 3], None, r"3 values, expected 4"),
        ([1, 2, 500001, 3], None, r"largest is 500001, of 4 samples.*number the classes"),
    ],
)
def test_labels_that_are_refused(labels: list[float], classes: int | None, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        training_labels(labels, classes, 4)
    with pytest.raises(InvalidProblem, match=message):
        ordinal(np.eye(4), labels, classes=classes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0.0}, "gamma"),
        ({"delta": -1.0}, "delta"),
        ({"thresholds": [1.0, 3.0, 2.0]}, r"entry 1 is 3 and entry 2 is 2"),
        ({"thresholds": [1.0, 2.0]}, "2 given, 4 classes need 3"),
        ({"radius": 1.0, "regularization": 1.0}, "both given"),
        ({"radius": -1.0}, "radius"),
        ({"form": "imc", "delta": 0.5}, "delta"),
        ({"form": "imc", "thresholds": "equispaced"}, "thresholds"),
        ({"thresholds": "equispaced", "delta": 0.5}, "delta"),
        ({"landmarks": 0}, "landmarks"),
        ({"landmarks": np.ones((2, 3))}, "landmarks"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    X, y = sample(20)
    with pytest.raises(InvalidProblem, match=message):
        ordinal(X, y, **options)


def test_words_that_do_not_exist_are_named() -> None:
    X, y = sample(20)
    for options in ({"form": "excc"}, {"thresholds": "learnt"}, {"solver": "newtonn"}):
        with pytest.raises(UnknownName):
            ordinal(X, y, **options)


@pytest.mark.parametrize("labels", [[1.0, 9.0], [1.0, 1.5], [0.0, 1.0], [1.0]])
def test_labels_unknown_to_the_rule_are_refused_where_it_is_judged(labels: list[float]) -> None:
    rule, X, _ = fitted()
    for judge in (rule.evaluate, rule.margins, rule.plot):
        with pytest.raises(InvalidProblem, match="labels"):
            judge(X[:2], labels)


def test_landmarks_may_be_given_or_counted_and_are_drawn_by_the_seed() -> None:
    X, y = sample()
    few = ordinal(X, y, Gaussian(1.0), landmarks=X[:5], tol=1e-4)
    assert np.array_equal(few.landmarks, X[:5])
    one, other = (ordinal(X, y, landmarks=5, seed=seed, tol=1e-4) for seed in (1, 2))
    assert not np.array_equal(one.landmarks, other.landmarks)
    assert len(ordinal(X[:20], y[:20], landmarks=50, tol=1e-4).landmarks) == 20


@pytest.mark.parametrize(("fraction", "solves"), [(0.5, 2), (0.5 * NEARLY, 1)])
def test_a_solver_that_leaves_the_certificate_open_is_followed_by_the_next_unless_little_is_left(
    monkeypatch: pytest.MonkeyPatch, fraction: float, solves: int
) -> None:
    X, y = sample()
    first = ordinal(X, y, Gaussian(1.0), landmarks=12, tol=TIGHT).provenance["solver"]
    real, tried = module.solve, []

    def open_at_first(problem: Any, solver: str | None = None, **options: Any) -> Any:
        tried.append(solver)
        found = real(problem, solver, **options)
        if len(tried) > 1:
            return found
        gap = fraction * found.certificate.scale
        left = replace(found.certificate, lower=found.certificate.upper - gap, gap=gap, relative_gap=fraction)
        return replace(found, status=Status.GAP_OPEN, certificate=left)

    monkeypatch.setattr(module, "solve", open_at_first)
    rule = ordinal(X, y, Gaussian(1.0), landmarks=12, tol=TIGHT)
    assert tried[0] == first and len(tried) == solves
    assert rule.provenance["solver"] == tried[-1]
    assert rule.certificate.relative_gap == fraction if solves == 1 else rule.certificate.relative_gap <= TIGHT


def test_rules_do_not_depend_on_the_unit_of_the_similarity() -> None:
    X, y = sample()
    found = []
    for unit in (1.0, 1e4):
        rule = ordinal(X, y, lambda A, B, unit=unit: unit * np.exp(-np.abs(A[:, :1] - B[:, 0])), landmarks=8, tol=1e-8)
        found.append((rule.predict(X), np.asarray(rule.thresholds)))
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-4)
    assert np.mean(found[0][0] != found[1][0]) < 0.05


@pytest.mark.parametrize(("delta", "expected"), [(1.0, [1.0, 2.0, 3.0]), (0.0, [2.0, 2.0, 2.0]), (9.0, [-1.0, 2.0, 5.0])])
def test_thresholds_between_two_classes_stand_around_their_mean(delta: float, expected: list[float]) -> None:
    """Classes 2 and 3 have no samples: three thresholds between 1 and 4, δ apart, and none beyond where the outer ones were."""
    y, scores = np.array([1, 4]), np.array([-5.0, 9.0])
    moved = threshold_shift(np.array([-1.0, 2.0, 5.0]), scores, y, np.array([1, 0, 0, 1]), 1.0, delta)
    assert moved.tolist() == expected
