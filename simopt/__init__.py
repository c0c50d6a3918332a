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

The names below are imported at first use, so that `import simopt` is light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simopt.certificate import Certificate, certify
    from simopt.datasets import Dataset, load_dataset
    from simopt.driver import solve
    from simopt.problem import Problem
    from simopt.solution import Solution, Status
    from simopt.sweep import path

__version__ = "0.1.0"

_HOMES = {
    "Certificate": "simopt.certificate",
    "certify": "simopt.certificate",
    "Dataset": "simopt.datasets",
    "load_dataset": "simopt.datasets",
    "dual": "simopt.duality.dual_programme",
    "solve": "simopt.driver",
    "path": "simopt.sweep",
    "Problem": "simopt.problem",
    "Solution": "simopt.solution",
    "Status": "simopt.solution",
}

__all__ = ["Certificate", "Dataset", "Problem", "Solution", "Status", "__version__", "certify", "dual", "load_dataset", "path", "solve"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'simopt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
