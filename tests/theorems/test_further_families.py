"""The lasso on landmarks and herding at m atoms as families: their functions, their radii, and what they are not equivalent to."""

import math

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian
from simopt.equivalence.decide import decide
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.samples import synthetic
from simopt.equivalence.training import TrainingSet
from simopt.theorems.kj.regression.svr_families import features_of
from simopt.theorems.kj.sparse.lasso_families import landmarked_lasso
from simopt.theorems.rmw.families import herding, mean_function, mean_penalised
from simopt.theorems.twins.equivalences import penalised
from simopt.theorems.twins.forms import twins


@pytest.fixture
def Z() -> TrainingSet:
    drawn = synthetic(10)
    return TrainingSet(drawn.features, drawn.targets, Gaussian(4.0))


@pytest.fixture
def labelled(Z: TrainingSet) -> TrainingSet:
    return Z.with_targets(np.where(Z.targets > 0, 1.0, -1.0))


def descent(features: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """The lasso by coordinate descent, which shares no code with the library."""
    n, w = len(y), np.zeros(features.shape[1])
    square = 2.0 / n * np.sum(features**2, axis=0)
    for _ in range(20_000):
        before = w.copy()
        for j in range(len(w)):
            slope = 2.0 / n * features[:, j] @ (y - features @ w) + square[j] * w[j]
            w[j] = np.sign(slope) * max(abs(slope) - lam, 0.0) / square[j]
        if np.max(np.abs(w - before)) <= 1e-15:
            break
    return w


@pytest.mark.parametrize("fraction", [0.03, 0.3, 0.9])
def test_the_lasso_is_that_of_coordinate_descent_within_its_radius(Z: TrainingSet, fraction: float) -> None:
    family = landmarked_lasso()
    domain = family.domain(Z)
    f, features = family(fraction * domain.high, Z), features_of(Z)
    w = descent(features, Z.targets, fraction * domain.high)
    assert np.linalg.norm(features.T @ f.coefficients - w) <= f.error + 1e-9
    assert f.norm() == pytest.approx(np.linalg.norm(w), rel=1e-6) and f.error <= 1e-4 * f.norm()
    np.testing.assert_allclose(descent(features, Z.targets, 1.001 * domain.high), 0.0)


@pytest.mark.slow
def test_the_lasso_has_no_ridge_and_knows_where_it_is_zero(Z: TrainingSet) -> None:
    (ridge,) = (penalised(twin) for twin in twins() if twin.names[0] == "landmarked-ridge")
    found = decide(landmarked_lasso(), ridge, Z, [0.1], resolution=1e-5)
    assert found.answer is Answer.FAILS and found.witness is not None and found.witness.distance > 0.01 * found.witness.norm
    with pytest.raises(InvalidProblem, match="0 for every λ"):
        landmarked_lasso().domain(Z.with_targets(np.zeros(Z.n)))


@pytest.mark.parametrize("steps", ["uniform", "line-search"])
def test_herding_is_a_staircase_towards_the_mean(labelled: TrainingSet, steps: str) -> None:
    family, mean = herding(steps), mean_function(labelled)
    for m in (1, 3, 7):
        f = family(m - 0.5, labelled)
        assert f.distance(family(m - 0.01, labelled)) == 0.0 and f.distance(family(m + 0.5, labelled)) > 0.0
        weights = labelled.targets * f.coefficients
        assert np.min(weights) >= 0.0 and np.sum(weights) == pytest.approx(1.0) and np.count_nonzero(weights) <= m
        if steps == "uniform":
            np.testing.assert_allclose(m * weights, np.round(m * weights), atol=1e-12)
    first, last = (family(m - 0.5, labelled).distance(mean) for m in (1, 10))
    assert last < first


def test_herding_picks_what_it_says(labelled: TrainingSet) -> None:
    """Algorithm 1 with weights 1/m, from the Gram matrix alone."""
    G = labelled.targets[:, None] * labelled.gram * labelled.targets
    picks: list[int] = []
    for m in range(1, 9):
        score = np.mean(G, axis=0) - (np.mean(G[picks], axis=0) if picks else 0.0)
        picks.append(int(np.argmax(score)))
        expected = labelled.targets * np.bincount(picks, minlength=labelled.n) / m
        np.testing.assert_allclose(herding()(m - 0.5, labelled).coefficients, expected, atol=1e-12)


def test_herding_is_not_the_mean(labelled: TrainingSet) -> None:
    found = decide(herding(), mean_penalised(), labelled, [0.5, 2.5, 2.7])
    assert found.answer is Answer.FAILS
    assert [(piece.low, piece.high) for piece in found.plateaus if piece.side == "source"] == [(2.5, 2.7)]
    assert all(math.isfinite(row.distance) for row in found.forward)
