"""CVXPY's diagonals, rewritten so that a product with a matrix takes them for vectors.

CVXPY 1.9 gives diag(X) the shape (n, 1) where a product takes it for (n,). Its compiled canonicalisation then reads out of bounds, and the
process may end with a segmentation fault. vec(diag(X)) has the right shape. A partial optimum stays as it is: CVXPY solves it by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simopt.backends.copies import with_arguments


def copied(e: Any, arguments: Sequence[Any]) -> Any:
    """e of other arguments, with vec(diag(X)) for a diagonal that e multiplies by a matrix."""
    import cvxpy as cp
    from cvxpy.atoms.affine.binary_operators import MulExpression
    from cvxpy.atoms.affine.diag import diag_mat

    first, *others = arguments
    if isinstance(e, MulExpression) and first.ndim == 1 and others[0].ndim == 2 and diag_mat in first.atoms():
        first = cp.vec(first, order="F")
    return e if all(old is new for old, new in zip(e.args, (first, *others), strict=True)) else with_arguments(e, [first, *others])


def flattened(problem: Any) -> Any:
    """The problem with all diagonals rewritten; itself if there is none. Variables, parameters and ids of constraints are the same."""
    import cvxpy as cp
    from cvxpy.atoms.affine.diag import diag_mat

    if diag_mat not in problem.atoms():
        return problem
    known: dict[int, tuple[Any, Any]] = {}  # with the original, so that its id is not reused

    def written(e: Any) -> Any:
        if id(e) not in known:
            known[id(e)] = (e, copied(e, [written(argument) for argument in e.args]) if e.args else e)
        return known[id(e)][1]

    return cp.Problem(written(problem.objective), [written(row) for row in problem.constraints])
