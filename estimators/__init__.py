"""scikit-learn estimators of every method (extra `ml`): thin facades over the problems and solvers, each with its certificate."""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("simopt.estimators needs scikit-learn; install the extra with: pip install 'simopt-convex[ml]'", name="sklearn")

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
