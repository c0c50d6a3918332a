"""The leaves of a problem: its variables, constants and parameters, also those that CVXPY does not list.

CVXPY lists them once for each problem, before a constraint is appended. It leaves out what a function holds beside its arguments: the M of
a Huber function, the function in a perspective.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
from cvxpy.atoms.atom import Atom
from cvxpy.atoms.suppfunc import SuppFuncAtom
from cvxpy.expressions.leaf import Leaf

HOLDERS = (cp.Expression, cp.Constraint, cp.Problem, cp.Minimize, cp.Maximize)


def is_made_of_arguments(e: Any) -> bool:
    """Whether arguments and data are all that a function is made of, so that CVXPY makes it anew of others."""
    known = isinstance(e, Leaf) or (isinstance(e, Atom) and type(e).__module__.startswith("cvxpy."))
    return known and not isinstance(e, (cp.perspective, SuppFuncAtom))


def leaves(problem: cp.Problem) -> tuple[Any, ...] | None:
    """Each leaf once; None where a function holds numbers that cannot be seen."""
    found, seen = list[Any](), set[int]()
    left: list[Any] = [problem]
    while left:
        e = left.pop()
        if id(e) in seen:
            continue
        seen.add(id(e))
        if isinstance(e, Leaf):
            found.append(e)
            left += _expressions_among(e.attributes.get("bounds"))
        elif isinstance(e, SuppFuncAtom) or not type(e).__module__.startswith("cvxpy."):
            return None
        else:
            try:
                left += _parts(e)
            except AttributeError:  # an atom that another CVXPY has made
                return None
    return tuple(found)


def _parts(e: Any) -> Iterator[Any]:
    if isinstance(e, cp.Problem):
        yield e.objective
        yield from e.constraints
        return
    yield from _expressions_among(e.args)
    yield from _expressions_among(e.get_data())
    if isinstance(e, cp.perspective):
        yield from _expressions_among((e.f, e.f_recession))


def _expressions_among(items: Any) -> Iterator[Any]:
    """The expressions, constraints and problems among items and lists of them."""
    if isinstance(items, HOLDERS):
        yield items
    elif isinstance(items, list | tuple):
        for item in items:
            yield from _expressions_among(item)
