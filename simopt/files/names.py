"""The names that a file has for its columns and rows, beside the `cvxpy.Problem` that was read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simopt.core.errors import InvalidProblem

if TYPE_CHECKING:
    import cvxpy as cp

ATTRIBUTE = "file_names"  # of a problem that was read


@dataclass(frozen=True)
class FileNames:
    """Names of columns and rows.

    Attributes
    ----------
    name : str
        of the problem, as the file says.
    columns : tuple of str
        the entries of the variable x, in order; empty for a format without names.
    constraints : dict
        label of a constraint -> the names of its rows, or of the columns that it bounds.
    """

    name: str
    columns: tuple[str, ...]
    constraints: Mapping[str, tuple[str, ...]]

    def values(self, problem: cp.Problem) -> dict[str, float]:
        """Column -> the present value of its entry of x; nothing for a problem of matrices alone.

        Raises
        ------
        InvalidProblem
            where x has no value.
        """
        x = next((variable for variable in problem.variables() if variable.name() == "x"), None)
        if x is None:
            return {}
        if x.value is None:
            raise InvalidProblem("x: has no value; solve the problem first")
        return dict(zip(self.columns, np.asarray(x.value).tolist(), strict=True))


def named(problem: cp.Problem, names: FileNames) -> cp.Problem:
    """The problem, which from now on has these names."""
    setattr(problem, ATTRIBUTE, names)
    return problem


def file_names(problem: cp.Problem) -> FileNames:
    """The names of a problem that `simopt.read` has made.

    Raises
    ------
    InvalidProblem
        for a problem that was not read from a file.
    """
    result = getattr(problem, ATTRIBUTE, None)
    if not isinstance(result, FileNames):
        raise InvalidProblem("problem: was not read from a file, so that it has no names of rows and columns")
    return result
