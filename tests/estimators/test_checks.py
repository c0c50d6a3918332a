"""scikit-learn's own checks of an estimator, for every estimator as it comes and in the forms that take another way through the code."""

from typing import Any

import pytest
from sklearn.base import is_regressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from simopt import estimators
from simopt.errors import InvalidProblem
from simopt.estimators.base import KernelEstimator
from simopt.similarities import Gaussian, Linear

DEFAULTS = [getattr(estimators, name)() for name in estimators.__all__]
FORMS = [
    estimators.GLMTronRegressor("identity", similarity="gaussian"),
    estimators.HerdedMeanClassifier(Gaussian(5.0), error=0.01),
    estimators.HingeSVMClassifier("laplacian", fit_intercept=False),
    estimators.LIsotronRegressor(float("inf"), similarity=Linear(), validation_fraction=0.2),
    estimators.LIsotronRegressor(similarity="gaussian"),
    estimators.LandmarkedOrdinalClassifier("manhattan", form="imc", radius=100.0),
    estimators.LandmarkedSVRegressor("sigmoid", regularization=1e-6),
    estimators.LipschitzIsotonicRegressor(float("inf"), increasing="auto"),
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

NAMED = (
    "the width of a similarity given by name is chosen from the points, of which repeating makes more and weighting does not; "
    "with the width given the check passes"
)
SHIFTED = "the check subtracts the mean from a Gram matrix; what is left is not positive semidefinite, and is refused as such"
ROUNDED = "a Gram matrix rounded to float32 or cut to integers is not positive semidefinite (to 1e-8 of its norm), and is refused as such"
DIRECTION = (
    "with the check's inner products an ordinal rule cuts along one direction, in which its three blobs do not lie one after another"
)


def is_gram(estimator: Any) -> bool:
    """Whether the estimator takes a Gram matrix, which must be positive semidefinite."""
    return isinstance(estimator, KernelEstimator) and isinstance(estimator.similarity, str) and estimator.similarity == "precomputed"


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Checks that an estimator cannot pass, with the reason."""
    failing: dict[str, str] = {}
    if isinstance(estimator, estimators.HerdedMeanClassifier) and isinstance(estimator.similarity, str):
        failing["check_sample_weight_equivalence_on_dense_data"] = NAMED
    if is_gram(estimator):
        failing["check_positive_only_tag_during_fit"] = SHIFTED
        failing["check_estimators_dtypes"] = ROUNDED
    if isinstance(estimator, estimators.LandmarkedOrdinalClassifier) and estimator.similarity == "precomputed":
        failing["check_classifiers_train"] = DIRECTION
    return failing


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([*DEFAULTS, *FORMS, *PRECOMPUTED], expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    if is_gram(estimator) and is_regressor(estimator) and getattr(check, "keywords", {}).get("X_dtype") == "float32":
        with pytest.raises(InvalidProblem, match="not positive semidefinite"):
            check(estimator)
        pytest.xfail(ROUNDED)  # here, since the check of the same name passes in float64
    check(estimator)
