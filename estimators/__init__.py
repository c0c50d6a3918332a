"""Estimators: herds, single-index models, rules for ordered labels and rankers, and scikit-learn estimators of every method.

The names below are of the latter, which need the extra `ml` and are imported at first use; the rest does without scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simopt.estimators.herding.herded_mean import HerdedMeanClassifier
    from simopt.estimators.herding.mean_classifier import MeanSimilarityClassifier
    from simopt.estimators.index_models.glm_tron import GLMTronRegressor
    from simopt.estimators.index_models.l_isotron import LIsotronRegressor
    from simopt.estimators.index_models.lipschitz_isotonic import LipschitzIsotonicRegressor
    from simopt.estimators.kernel_regression.m_power import MPowerRegressor
    from simopt.estimators.kernel_regression.m_power_cv import MPowerRegressorCV
    from simopt.estimators.kernel_regression.nadaraya_watson import NadarayaWatsonRegressor
    from simopt.estimators.landmarked.landmark_transformer import LandmarkTransformer
    from simopt.estimators.landmarked.landmarked_ridge import LandmarkedRidgeRegressor
    from simopt.estimators.landmarked.landmarked_ridge_cv import LandmarkedRidgeCV
    from simopt.estimators.landmarked.landmarked_svr import LandmarkedSVRegressor
    from simopt.estimators.landmarked.landmarked_svr_cv import LandmarkedSVRegressorCV
    from simopt.estimators.landmarked.sparse_landmarked_svr import SparseLandmarkedSVRegressor
    from simopt.estimators.ordinal.landmarked_ordinal import LandmarkedOrdinalClassifier
    from simopt.estimators.ordinal.landmarked_ordinal_cv import LandmarkedOrdinalClassifierCV
    from simopt.estimators.svm.hinge_svm import HingeSVMClassifier
    from simopt.estimators.svm.hinge_svm_cv import HingeSVMClassifierCV

_HOMES = {
    "GLMTronRegressor": "simopt.estimators.index_models.glm_tron",
    "HerdedMeanClassifier": "simopt.estimators.herding.herded_mean",
    "HingeSVMClassifier": "simopt.estimators.svm.hinge_svm",
    "HingeSVMClassifierCV": "simopt.estimators.svm.hinge_svm_cv",
    "LIsotronRegressor": "simopt.estimators.index_models.l_isotron",
    "LandmarkTransformer": "simopt.estimators.landmarked.landmark_transformer",
    "LandmarkedOrdinalClassifier": "simopt.estimators.ordinal.landmarked_ordinal",
    "LandmarkedOrdinalClassifierCV": "simopt.estimators.ordinal.landmarked_ordinal_cv",
    "LandmarkedRidgeCV": "simopt.estimators.landmarked.landmarked_ridge_cv",
    "LandmarkedRidgeRegressor": "simopt.estimators.landmarked.landmarked_ridge",
    "LandmarkedSVRegressor": "simopt.estimators.landmarked.landmarked_svr",
    "LandmarkedSVRegressorCV": "simopt.estimators.landmarked.landmarked_svr_cv",
    "LipschitzIsotonicRegressor": "simopt.estimators.index_models.lipschitz_isotonic",
    "MPowerRegressor": "simopt.estimators.kernel_regression.m_power",
    "MPowerRegressorCV": "simopt.estimators.kernel_regression.m_power_cv",
    "MeanSimilarityClassifier": "simopt.estimators.herding.mean_classifier",
    "NadarayaWatsonRegressor": "simopt.estimators.kernel_regression.nadaraya_watson",
    "SparseLandmarkedSVRegressor": "simopt.estimators.landmarked.sparse_landmarked_svr",
}

__all__ = [
    "GLMTronRegressor",
    "HerdedMeanClassifier",
    "HingeSVMClassifier",
    "HingeSVMClassifierCV",
    "LIsotronRegressor",
    "LandmarkTransformer",
    "LandmarkedOrdinalClassifier",
    "LandmarkedOrdinalClassifierCV",
    "LandmarkedRidgeCV",
    "LandmarkedRidgeRegressor",
    "LandmarkedSVRegressor",
    "LandmarkedSVRegressorCV",
    "LipschitzIsotonicRegressor",
    "MPowerRegressor",
    "MPowerRegressorCV",
    "MeanSimilarityClassifier",
    "NadarayaWatsonRegressor",
    "SparseLandmarkedSVRegressor",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simopt.estimators' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
