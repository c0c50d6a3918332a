"""What the estimators use of scikit-learn (extra `ml`), imported in one place, which says how to get it."""

from importlib.util import find_spec

from simopt.core.extras import install

if find_spec("sklearn") is None:
    raise ImportError(f"simopt.estimators needs scikit-learn; install the extra with: {install('ml')}", name="sklearn")

from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
    is_classifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ConvergenceWarning",
    "RegressorMixin",
    "TransformerMixin",
    "check_classification_targets",
    "check_cv",
    "check_is_fitted",
    "check_random_state",
    "check_scoring",
    "clone",
    "column_or_1d",
    "get_tags",
    "is_classifier",
    "validate_data",
]
