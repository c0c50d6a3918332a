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

The names below are imported at first use, so that `import simopt` is light. No module of simopt bears one of them, since importing it would
put it in the place of the function.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simopt.core import moved

if TYPE_CHECKING:
    from simopt.backends.table import BackEnd, add_back_end
    from simopt.certificates.certificate import Certificate
    from simopt.claims.reproduction import reproduce
    from simopt.claims.verification import verify
    from simopt.compare.comparison import compare_solvers
    from simopt.conic.file import save_certificate
    from simopt.core.errors import InvalidProblem, NotAvailable, UnknownName
    from simopt.data.datasets import Dataset, load_dataset
    from simopt.data.landmarks import LandmarkMap
    from simopt.equivalence.equivalence import Equivalence
    from simopt.equivalence.family import Family
    from simopt.equivalence.map_search import find_map
    from simopt.equivalence.strong import verify_strong
    from simopt.equivalence.training import TrainingSet
    from simopt.equivalence.weak import verify_weak
    from simopt.files.formats import read, write
    from simopt.model.problem import Problem
    from simopt.model.status import Status
    from simopt.solving.entry_points import certify, dual, solve
    from simopt.solving.solution import Solution
    from simopt.solving.sweep import path

__version__ = "0.1.0"

moved.install()

_HOMES = {
    "BackEnd": "simopt.backends.table",
    "add_back_end": "simopt.backends.table",
    "Certificate": "simopt.certificates.certificate",
    "certify": "simopt.solving.entry_points",
    "compare_solvers": "simopt.compare.comparison",
    "Dataset": "simopt.data.datasets",
    "load_dataset": "simopt.data.datasets",
    "save_certificate": "simopt.conic.file",
    "solve": "simopt.solving.entry_points",
    "dual": "simopt.solving.entry_points",
    "Equivalence": "simopt.equivalence.equivalence",
    "InvalidProblem": "simopt.core.errors",
    "NotAvailable": "simopt.core.errors",
    "UnknownName": "simopt.core.errors",
    "Family": "simopt.equivalence.family",
    "LandmarkMap": "simopt.data.landmarks",
    "find_map": "simopt.equivalence.map_search",
    "Problem": "simopt.model.problem",
    "reproduce": "simopt.claims.reproduction",
    "Solution": "simopt.solving.solution",
    "Status": "simopt.model.status",
    "verify_strong": "simopt.equivalence.strong",
    "path": "simopt.solving.sweep",
    "read": "simopt.files.formats",
    "write": "simopt.files.formats",
    "TrainingSet": "simopt.equivalence.training",
    "verify": "simopt.claims.verification",
    "verify_weak": "simopt.equivalence.weak",
}

__all__ = [
    "BackEnd",
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
    "add_back_end",
    "certify",
    "compare_solvers",
    "dual",
    "find_map",
    "load_dataset",
    "path",
    "read",
    "reproduce",
    "save_certificate",
    "solve",
    "verify",
    "verify_strong",
    "verify_weak",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'simopt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
