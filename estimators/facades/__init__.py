"""scikit-learn estimators of every method (extra `ml`): thin facades over the problems and solvers, each with its certificate."""

from importlib.util import find_spec

from simopt.core.extras import install

if find_spec("sklearn") is None:
    raise ImportError(f"simopt.estimators needs scikit-learn; install the extra with: {install('ml')}", name="sklearn")
