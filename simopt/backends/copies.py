"""Copies of CVXPY's functions with other arguments.

CVXPY makes a copy of the arguments and of `get_data`. What a function holds beside these is lost: norm1 and norm_inf of CVXPY 1.9 forget
`keepdims`. The copy then has another shape, and a product with it may broadcast without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simopt.core.errors import Unreadable


def with_arguments(e: Any, arguments: Sequence[Any]) -> Any:
    """The function, the objective or the constraint e of other arguments, of the same shape.

    Raises
    ------
    Unreadable
        where CVXPY's copy has another shape.
    """
    import cvxpy as cp

    forgetful = type(e) in (cp.norm1, cp.norm_inf)
    copy = type(e)(arguments[0], axis=e.axis, keepdims=e.keepdims) if forgetful else e.copy(list(arguments))
    before, after = (getattr(each, "shape", None) for each in (e, copy))
    if before != after:
        raise Unreadable(f"a copy of {type(e).__name__} with the shape {after} and not {before}", str(e), "write it in another way")
    return copy
