"""What fits and predicts: herds, single-index models, rules for ordered labels and rankers, and scikit-learn estimators of every method.

The names below are of the latter, which need the extra `ml` and are imported at first use; the rest does without scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simopt.estimators.facades.glm_tron import GLMTronRegressor
    from simopt.estimators.facades.herded_mean import HerdedMeanClassifier
    from simopt.estimators.facades.hinge_svm import HingeSVMClassifier
    from simopt.estimators.facades.hinge_svm_cv import HingeSVMClassifierCV
    from simopt.estimators.facades.l_isotron import LIsotronRegressor
    from simopt.estimators.facades.landmark_transformer import LandmarkTransformer
    from simopt.estimators.facades.landmarked_ordinal import LandmarkedOrdinalClassifier
    from simopt.estimators.facades.landmarked_ordinal_cv import LandmarkedOrdinalClassifierCV
    from simopt.estimators.facades.landmarked_ridge import LandmarkedRidgeRegressor
    from simopt.estimators.facades.landmarked_ridge_cv import LandmarkedRidgeCV
    from simopt.estimators.facades.landmarked_svr import LandmarkedSVRegressor
    from simopt.estimators.facades.landmarked_svr_cv import LandmarkedSVRegressorCV
    from simopt.estimators.facades.lipschitz_isotonic import LipschitzIsotonicRegressor
    from simopt.estimators.facades.m_power import MPowerRegressor
    from simopt.estimators.facades.m_power_cv import MPowerRegressorCV
    from simopt.estimators.facades.mean_classifier import MeanSimilarityClassifier
    from simopt.estimators.facades.nadaraya_watson import NadarayaWatsonRegressor
    from simopt.estimators.facades.sparse_landmarked_svr import SparseLandmarkedSVRegressor

_HOMES = {
    "GLMTronRegressor": "simopt.estimators.facades.glm_tron",
    "HerdedMeanClassifier": "simopt.estimators.facades.herded_mean",
    "HingeSVMClassifier": "simopt.estimators.facades.hinge_svm",
    "HingeSVMClassifierCV": "simopt.estimators.facades.hinge_svm_cv",
    "LIsotronRegressor": "simopt.estimators.facades.l_isotron",
    "LandmarkTransformer": "simopt.estimators.facades.landmark_transformer",
    "LandmarkedOrdinalClassifier": "simopt.estimators.facades.landmarked_ordinal",
    "LandmarkedOrdinalClassifierCV": "simopt.estimators.facades.landmarked_ordinal_cv",
    "LandmarkedRidgeCV": "simopt.estimators.facades.landmarked_ridge_cv",
    "LandmarkedRidgeRegressor": "simopt.estimators.facades.landmarked_ridge",
    "LandmarkedSVRegressor": "simopt.estimators.facades.landmarked_svr",
    "LandmarkedSVRegressorCV": "simopt.estimators.facades.landmarked_svr_cv",
    "LipschitzIsotonicRegressor": "simopt.estimators.facades.lipschitz_isotonic",
    "MPowerRegressor": "simopt.estimators.facades.m_power",
    "MPowerRegressorCV": "simopt.estimators.facades.m_power_cv",
    "MeanSimilarityClassifier": "simopt.estimators.facades.mean_classifier",
    "NadarayaWatsonRegressor": "simopt.estimators.facades.nadaraya_watson",
    "SparseLandmarkedSVRegressor": "simopt.estimators.facades.sparse_landmarked_svr",
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
