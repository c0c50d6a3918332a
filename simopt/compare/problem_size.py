"""What a problem is as a cone programme: its class, by the cones that its declaration needs, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simopt.core.errors import InvalidProblem

if TYPE_CHECKING:
    from simopt.model.problem import Problem

BY_CONES = {"second-order cones": "SOCP", "semidefinite cones": "SDP", "exponential cones": "exponential", "power cones": "power"}
REMEMBERED = 64  # sizes in one process
_sizes: dict[str, ProblemSize] = {}  # by fingerprint: a process has several solvers run on one instance


@dataclass(frozen=True)
class ProblemSize:
    """Class and size.

    Attributes
    ----------
    problem_class : str
        "LP", "QP", "SOCP", "SDP", "exponential", "power", or "mixed" for cones of several kinds. A quadratic objective is no cone.
    variables : int
        numbers in the variables of the declaration.
    nonzeros : int
        entries of A and P in min ½ xᵀPx + cᵀx with b − Ax in a cone: what CVXPY makes of the declaration's graph form for CLARABEL.
    """

    problem_class: str = ""
    variables: int = 0
    nonzeros: int = 0


def problem_size(problem: Problem) -> ProblemSize:
    """Class and size of a problem; the class is "" and the numbers are 0 where CVXPY makes no cone programme of it."""
    name = problem.fingerprint()
    if name not in _sizes:
        if len(_sizes) >= REMEMBERED:
            _sizes.clear()
        _sizes[name] = _measured(problem)
    return _sizes[name]


def _measured(problem: Problem) -> ProblemSize:
    from simopt.backends import adapter
    from simopt.backends.table import CLARABEL
    from simopt.compare.own_problems import parts
    from simopt.core.threads import quiet
    from simopt.solving.run import FAILURES

    try:
        with quiet():
            data = adapter.canonicalise(problem.for_back_ends(cones=CLARABEL.cones), CLARABEL)[0]
    except (adapter.Refused, InvalidProblem, *FAILURES):
        return ProblemSize()
    present = parts(data)
    classes = {BY_CONES[each] for each in present if each in BY_CONES}
    if len(classes) > 1:
        problem_class = "mixed"
    else:
        problem_class = classes.pop() if classes else "QP" if present else "LP"
    matrices = [data[name] for name in ("A", "P") if data.get(name) is not None]
    return ProblemSize(problem_class, sum(v.size for v in problem.declare().variables()), sum(int(each.nnz) for each in matrices))
