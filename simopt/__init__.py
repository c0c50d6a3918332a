"""The frame: what a similarity, a problem, a certificate and a claim are, and the programs that people run.

    >>> import numpy as np
    >>> import simopt
    >>> from simopt.problems.kernel_ridge import KernelRidge
    >>> problem = KernelRidge(np.eye(2), np.array([3.0, 0.0]), regularization=0.5)
    >>> solution = simopt.solve(problem)                      # a Solution with a certificate
    >>> solution.optimal, round(float(solution.point["alpha"][0]), 9)
    (True, 1.5)
    >>> found = simopt.certify(problem, {"alpha": np.array([1.0, 0.0])})       # judge any point
    >>> found.lower <= solution.certificate.upper < found.upper
    True

An ordinary `cvxpy.Problem` may stand in the place of `problem`: its certificate is derived from what it says.

The names below are imported at first use, so that `import simopt` is light; no module of simopt bears one of them, since importing it would
put it in the place of the function.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simopt.certificate import Certificate, certify
    from simopt.datasets import Dataset, load_dataset
    from simopt.driver import solve
    from simopt.duality.dual_programme import dual
    from simopt.equivalence import Equivalence
    from simopt.errors import InvalidProblem, NotAvailable, UnknownName
    from simopt.family import Family
    from simopt.landmarks import LandmarkMap
    from simopt.map_search import find_map
    from simopt.problem import Problem
    from simopt.reproduction import reproduce
    from simopt.solution import Solution, Status
    from simopt.strong import verify_strong
    from simopt.sweep import path
    from simopt.training import TrainingSet
    from simopt.verification import verify
    from simopt.weak import verify_weak

__version__ = "0.1.0"

_HOMES = {
    "Certificate": "simopt.certificate",
    "certify": "simopt.certificate",
    "Dataset": "simopt.datasets",
    "load_dataset": "simopt.datasets",
    "solve": "simopt.driver",
    "dual": "simopt.duality.dual_programme",
    "Equivalence": "simopt.equivalence",
    "InvalidProblem": "simopt.errors",
    "NotAvailable": "simopt.errors",
    "UnknownName": "simopt.errors",
    "Family": "simopt.family",
    "LandmarkMap": "simopt.landmarks",
    "find_map": "simopt.map_search",
    "Problem": "simopt.problem",
    "reproduce": "simopt.reproduction",
    "Solution": "simopt.solution",
    "Status": "simopt.solution",
    "verify_strong": "simopt.strong",
    "path": "simopt.sweep",
    "TrainingSet": "simopt.training",
    "verify": "simopt.verification",
    "verify_weak": "simopt.weak",
}

__all__ = [
    "Certificate",
    "Dataset",
    "Equivalence",
    "Family",
    "InvalidProblem",
    "LandmarkMap",
    "NotAvailable",
    "Problem",
    "Solution",
    "Status",
    "TrainingSet",
    "UnknownName",
    "__version__",
    "certify",
    "dual",
    "find_map",
    "load_dataset",
    "path",
    "reproduce",
    "solve",
    "verify",
    "verify_strong",
    "verify_weak",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'simopt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
