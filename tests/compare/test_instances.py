"""Instances: sizes, generated data, condition numbers."""

import numpy as np
import pytest

from simopt.compare import instances
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.datasets import friedman
from simopt.model.problem import Problem
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.landmarked_ranking import LandmarkedRanking
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.problems.multiple_kernel_mean import MultipleKernelMean


def build(kind: type[Problem], size: int, conditioning: float | None = None, **settings: object) -> Problem:
    return instances.build(kind, None, size=size, conditioning=conditioning, settings=settings, seed=0)


@pytest.mark.parametrize("kappa", [1.0, 10.0, 1e6])
def test_features_get_their_condition_number_and_keep_their_norm(kappa: float) -> None:
    plain, made = build(LandmarkedSVR, 80), build(LandmarkedSVR, 80, kappa)
    assert isinstance(plain, LandmarkedSVR) and isinstance(made, LandmarkedSVR)
    assert np.linalg.cond(made.features) == pytest.approx(kappa, rel=1e-6)
    assert np.linalg.norm(made.features) == pytest.approx(np.linalg.norm(plain.features))
    assert np.array_equal(made.targets, plain.targets)


def test_gram_matrices_get_their_condition_number_and_keep_their_trace() -> None:
    plain, made = build(HingeSVM, 60), build(HingeSVM, 60, 1e4)
    assert isinstance(plain, HingeSVM) and isinstance(made, HingeSVM)
    assert np.linalg.cond(made.gram) == pytest.approx(1e4, rel=1e-6)
    assert np.trace(made.gram) == pytest.approx(np.trace(plain.gram))
    assert np.array_equal(made.gram, made.gram.T)


def test_stacks_of_gram_matrices_one_by_one() -> None:
    made = build(MultipleKernelMean, 40, 100.0)
    assert isinstance(made, MultipleKernelMean)
    assert [np.linalg.cond(one) for one in made.grams] == pytest.approx([100.0] * 3, rel=1e-6)


def test_no_matrix_no_condition_number() -> None:
    with pytest.raises(InvalidProblem, match="lipschitz-isotonic has no matrix"):
        instances.check_conditioning(LipschitzIsotonic)


def test_rankings_count_queries() -> None:
    assert instances.counts(LandmarkedRanking) == "queries"
    assert build(LandmarkedRanking, 7).objective is not None
    made = instances.generated(LandmarkedRanking, 7, np.random.default_rng(0))
    assert made.groups is not None and len(np.unique(made.groups)) == 7 and set(made.targets) == {0.0, 1.0, 2.0, 3.0, 4.0}


def test_more_samples_than_there_are() -> None:
    data = friedman(np.random.default_rng(0), n=20)
    with pytest.raises(InvalidProblem, match="sizes: 30 samples asked for, friedman has 20"):
        instances.build(LandmarkedSVR, data, size=30, conditioning=None, settings={}, seed=0)


def test_settings_are_options_of_the_recipe_or_fields() -> None:
    made = build(LandmarkedSVR, 50, landmarks=7, smoothness=2.0)
    assert isinstance(made, LandmarkedSVR) and made.features.shape == (50, 7) and made.smoothness == 2.0
    with pytest.raises(UnknownName, match="did you mean 'landmarks'"):
        build(LandmarkedSVR, 50, landmark=7)
