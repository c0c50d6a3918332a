"""scikit-learn's own checks of an estimator, for every estimator as it comes and in the forms that take another way through the code."""

import re
from pathlib import Path
from typing import Any

import pytest
from made_data import CHOOSING, with_few_choices
from sklearn.utils.estimator_checks import parametrize_with_checks

from simopt import estimators
from simopt.data.similarities import Gaussian, Linear
from simopt.estimators.base import KernelEstimator
from simopt.estimators.index_models.index_scaling import is_linear

DEFAULTS = [getattr(estimators, name)(**with_few_choices(name)) for name in estimators.__all__ if name not in CHOOSING]
FEW = [getattr(estimators, name)(**with_few_choices(name)) for name in CHOOSING]
FORMS = [
    estimators.GLMTronRegressor("identity", similarity="gaussian"),
    estimators.HerdedMeanClassifier(Gaussian(5.0), error=0.01),
    estimators.HerdedMeanClassifier("laplacian"),
    estimators.HingeSVMClassifier("laplacian", fit_intercept=False),
    estimators.LIsotronRegressor(float("inf"), similarity=Linear(), validation_fraction=0.2),
    estimators.LIsotronRegressor(similarity="gaussian"),
    estimators.LandmarkedOrdinalClassifier("manhattan", form="imc", radius=100.0),
    estimators.LandmarkedSVRegressor("sigmoid", regularization=1e-6),
    estimators.LipschitzIsotonicRegressor(float("inf"), feature="best", increasing="auto"),
    estimators.NadarayaWatsonRegressor(Gaussian(2.0)),
]
PRECOMPUTED = [
    estimators.GLMTronRegressor(similarity="precomputed"),
    estimators.HerdedMeanClassifier("precomputed"),
    estimators.HingeSVMClassifier("precomputed"),
    estimators.LIsotronRegressor(similarity="precomputed"),
    estimators.LandmarkedOrdinalClassifier("precomputed"),
    estimators.LandmarkedSVRegressor("precomputed"),
    estimators.MPowerRegressor("precomputed"),
    estimators.MeanSimilarityClassifier("precomputed"),
    estimators.NadarayaWatsonRegressor("precomputed"),
    estimators.SparseLandmarkedSVRegressor("precomputed"),
]

SHIFTED = "the check subtracts the mean from a Gram matrix; what is left is not positive semidefinite, and is refused as such"
CUT = "the check cuts a Gram matrix to integers (after float32 and float64, which pass); that is not positive semidefinite, and is refused"
TO_THE_GAP = (
    "the check asks for 7 digits of predictions, a gap of 1e-6 leaves fewer; tests/estimators/test_weights.py holds them to the gaps"
)
SO_NARROW = "similarities of points 20 apart, by a Gaussian of width 1, differ by more than the ratio of the weights, 1e7"
DRAWN = "samples are drawn to be held out, of a sample that is there twice other ones than of one of weight 2"
NO_LOSS = "in so large a ball a rule on 50 landmarks fits 50 samples without loss, whatever their weights"


def is_gram(estimator: Any) -> bool:
    """Whether the estimator takes a Gram matrix, which must be positive semidefinite."""
    return isinstance(estimator, KernelEstimator) and isinstance(estimator.similarity, str) and estimator.similarity == "precomputed"


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Checks that an estimator cannot pass, with the reason."""
    failing: dict[str, str] = {}
    if is_gram(estimator):
        failing["check_positive_only_tag_during_fit"] = SHIFTED
        failing["check_estimators_dtypes"] = CUT
    svr = isinstance(estimator, estimators.LandmarkedSVRegressor) and estimator.regularization is not None
    svr |= isinstance(estimator, estimators.LandmarkedSVRegressorCV) and not isinstance(estimator.regularizations, list)  # a whole grid
    if (
        svr
        or isinstance(estimator, estimators.LandmarkedOrdinalClassifier)
        or (isinstance(estimator, estimators.GLMTronRegressor) and not is_linear(estimator.similarity))
    ):
        failing["check_sample_weight_equivalence_on_dense_data"] = TO_THE_GAP
        if estimator.__sklearn_tags__().input_tags.sparse:
            failing["check_sample_weight_equivalence_on_sparse_data"] = TO_THE_GAP
    if isinstance(estimator, estimators.LIsotronRegressor) and estimator.validation_fraction > 0.0:
        failing["check_sample_weight_equivalence_on_dense_data"] = DRAWN
    if isinstance(estimator, estimators.LandmarkedOrdinalClassifier) and estimator.radius is not None:
        failing["check_class_weight_classifiers"] = NO_LOSS
    if is_gram(estimator) and isinstance(estimator, estimators.MeanSimilarityClassifier):
        failing["check_class_weight_classifiers"] = SO_NARROW
    return failing


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([*DEFAULTS, *FEW], expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(FORMS, expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks_of_other_forms(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([getattr(estimators, name)() for name in CHOOSING], expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks_of_whole_grids(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(PRECOMPUTED, expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks_of_precomputed_similarities(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_guide_names_every_check_that_is_expected_to_fail() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "estimators.md").read_text(encoding="utf-8")
    expected = {check for estimator in (*DEFAULTS, *FORMS, *PRECOMPUTED) for check in expected_failed_checks(estimator)}
    assert expected == set(re.findall(r"`(check_\w+)`", page)) - {"check_estimator"}


def test_every_estimator_is_named_on_the_page_of_its_method() -> None:
    pages = (Path(__file__).resolve().parents[2] / "docs" / "methods").glob("*.md")
    assert set(estimators.__all__) == set(re.findall(r"simopt\.estimators\.([A-Z]\w+)", "".join(page.read_text("utf-8") for page in pages)))
