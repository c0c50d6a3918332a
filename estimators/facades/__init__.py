"""scikit-learn estimators of every method (extra `ml`): thin facades over the problems and solvers, each with its certificate."""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("simopt.estimators needs scikit-learn; install the extra with: pip install 'simopt-convex[ml]'", name="sklearn")
