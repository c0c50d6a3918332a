"""What fits and predicts: herds, single-index models, rules for ordered labels and rankers, and scikit-learn estimators of every method.

The estimators (extra `ml`) are thin facades over the problems and solvers, each with its certificate; the rest does without scikit-learn.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simopt.estimators.glm_tron import GLMTronRegressor
    from simopt.estimators.herded_mean import HerdedMeanClassifier
    from simopt.estimators.hinge_svm import HingeSVMClassifier
    from simopt.estimators.l_isotron import LIsotronRegressor
    from simopt.estimators.landmarked_ordinal import LandmarkedOrdinalClassifier
    from simopt.estimators.landmarked_svr import LandmarkedSVRegressor
    from simopt.estimators.lipschitz_isotonic import LipschitzIsotonicRegressor
    from simopt.estimators.m_power import MPowerRegressor
    from simopt.estimators.mean_classifier import MeanSimilarityClassifier
    from simopt.estimators.nadaraya_watson import NadarayaWatsonRegressor
    from simopt.estimators.sparse_landmarked_svr import SparseLandmarkedSVRegressor

_HOMES = {
    "GLMTronRegressor": "simopt.estimators.glm_tron",
    "HerdedMeanClassifier": "simopt.estimators.herded_mean",
    "HingeSVMClassifier": "simopt.estimators.hinge_svm",
    "LIsotronRegressor": "simopt.estimators.l_isotron",
    "LandmarkedOrdinalClassifier": "simopt.estimators.landmarked_ordinal",
    "LandmarkedSVRegressor": "simopt.estimators.landmarked_svr",
    "LipschitzIsotonicRegressor": "simopt.estimators.lipschitz_isotonic",
    "MPowerRegressor": "simopt.estimators.m_power",
    "MeanSimilarityClassifier": "simopt.estimators.mean_classifier",
    "NadarayaWatsonRegressor": "simopt.estimators.nadaraya_watson",
    "SparseLandmarkedSVRegressor": "simopt.estimators.sparse_landmarked_svr",
}

__all__ = [
    "GLMTronRegressor",
    "HerdedMeanClassifier",
    "HingeSVMClassifier",
    "LIsotronRegressor",
    "LandmarkedOrdinalClassifier",
    "LandmarkedSVRegressor",
    "LipschitzIsotonicRegressor",
    "MPowerRegressor",
    "MeanSimilarityClassifier",
    "NadarayaWatsonRegressor",
    "SparseLandmarkedSVRegressor",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simopt.estimators' has no attribute {name!r}")
    if find_spec("sklearn") is None:
        raise ImportError("simopt.estimators needs scikit-learn; install the extra with: pip install 'simopt-convex[ml]'", name="sklearn")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
