"""The form in which a comparison gives a `cvxpy.Problem` to back ends: the one in which `problem.solve` gives it to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simopt.core.errors import InvalidProblem

if TYPE_CHECKING:
    from simopt.model.problem import Problem, Rescale


def as_written(problem: Problem) -> tuple[Problem, Rescale] | None:
    """The problem as its user wrote it, and the way back; None for one of the catalogue, and where a constraint has no copy.

    Another form, such as simopt's graph form, may be harder for a back end, or easier.
    """
    from simopt.duality.declared import Declared
    from simopt.duality.written_form import WrittenForm

    if type(problem) is not Declared:
        return None
    form, back = WrittenForm(problem.programme).normalised()
    try:
        form.for_back_ends()
    except InvalidProblem:
        return None
    return form, back
