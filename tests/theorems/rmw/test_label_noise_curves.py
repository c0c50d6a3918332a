"""The label-noise curves on MNIST: what a draw flips, what the mean and the SVM have in common, and the table itself."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import simopt.claims.reproduction
from simopt.claims.kinds import Effort
from simopt.claims.tables import Run
from simopt.theorems.rmw import label_noise_curves as curves
from simopt.theorems.rmw.label_noise_curves import KERNELS, Digits, accuracies, digits, mean, noisy, svm


def small(row: str, monkeypatch: pytest.MonkeyPatch, n: int = 120) -> Digits:
    monkeypatch.setattr(curves, "QUICK", n)
    return digits(row, Run("rmw-label-noise", row, 0, Effort.QUICK))


def test_flipped_labels_stay_flipped_along_a_curve() -> None:
    rng = np.random.default_rng(0)
    labels, draw = np.where(rng.random(4000) < 0.3, 1.0, -1.0), rng.random(4000)
    flips = [noisy(labels, rate, draw) != labels for rate in curves.RATES]
    assert not flips[0].any()
    assert all(np.all(after | ~before) for before, after in itertools.pairwise(flips))
    assert [flip.mean() for flip in flips] == pytest.approx(list(curves.RATES), abs=0.03)


def test_a_score_of_zero_counts_half() -> None:
    data = Digits(np.eye(2), np.eye(2), np.ones(2), np.array([1.0, -1.0]), None, None)
    assert data.accuracy(np.array([0.0, -2.0])) == 0.75
    assert data.accuracy(np.zeros(2)) == 0.5


def test_features_lie_in_the_unit_ball_and_are_centred(monkeypatch: pytest.MonkeyPatch) -> None:
    data = small("linear", monkeypatch)
    assert data.features is not None
    assert np.abs(data.features.mean(axis=0)).max() < 1e-12
    assert np.diag(data.gram).max() == pytest.approx(1.0)
    assert data.across.shape == (1984, 120)


@pytest.mark.parametrize("row", list(KERNELS))
def test_above_the_threshold_the_svm_is_the_mean(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = small(row, monkeypatch)
    labels = noisy(data.labels, 0.2, np.random.default_rng(1).random(120))
    threshold = float(np.max(labels * (data.gram @ labels)))  # of λ, times n
    above, below = svm(data, [0.99 / threshold, 1e4], labels)
    assert above == mean(data, labels)
    if row != "Gaussian, bandwidth 1":  # there K is almost the identity, and one function is as good as another
        assert below != above


def test_noise_in_expectation_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = small("Gaussian, bandwidth 2.5", monkeypatch)
    assert mean(data, (1 - 2 * 0.45) * data.labels) == mean(data, data.labels)


def test_logistic_regression_only_where_there_are_features(monkeypatch: pytest.MonkeyPatch) -> None:
    data = small("linear", monkeypatch)
    assert list(accuracies(data, data.labels)) == ["mean", "SVM, C = 1", "SVM, C = 100", "logistic, C = 1", "logistic, C = 100"]
    assert len(accuracies(replace(data, features=None, test_features=None), data.labels)) == 3


def test_the_table_runs_and_draws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    small("linear", monkeypatch)
    monkeypatch.setattr(curves, "RATES", np.array(curves.SHOWN))
    done = simopt.claims.reproduction.reproduce("rmw-label-noise")
    assert [row.not_run for row in done.rows] == [None] * len(KERNELS)
    assert [len(row.curves) for row in done.rows] == [5, 3, 3]
    for row in done.rows:
        clean = {cell.column: cell.ours for cell in row.cells if cell.column.endswith("σ = 0") and cell.unit}
        assert all(value > 0.8 for value in clean.values())
    pytest.importorskip("matplotlib")
    assert simopt.claims.reproduction.draw(done, tmp_path).stat().st_size > 1000
