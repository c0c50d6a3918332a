"""The leaves of a problem: its variables, constants and parameters, also those that CVXPY does not list.

CVXPY lists them once for each problem, before a constraint is appended. It leaves out what a function holds beside its arguments: the M of
a Huber function, the function in a perspective.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.atom import Atom
from cvxpy.atoms.suppfunc import SuppFuncAtom
from cvxpy.expressions.leaf import Leaf

from simopt.core.arrays import Array
from simopt.duality.graph.vectors import Indices

SYMMETRIC = ("symmetric", "PSD", "NSD")  # attributes of leaves with x_ij = x_ji
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


def unique(names: Sequence[str]) -> list[str]:
    """Each name, with a number behind it where it was met before; that of another is not taken."""
    taken, out = set[str](), list[str]()
    for name in names:
        own, count = name, 1
        while own in taken or (count > 1 and own in names):
            count += 1
            own = f"{name} ({count})"
        taken.add(own)
        out.append(own)
    return out


def structure(v: Any) -> Indices | None:
    """Where a structured variable's entries are found among all of them, flat; −1 for those that are 0; None without structure."""
    number = np.arange(v.size).reshape(v.shape, order="F")
    if any(v.attributes.get(name) for name in SYMMETRIC):
        return np.minimum(number, np.swapaxes(number, -1, -2)).reshape(-1, order="F")
    if v.attributes.get("diag"):
        return np.where(np.eye(v.shape[-1], dtype=bool), number, -1).reshape(-1, order="F")
    if v.sparse_idx is not None:
        places = np.full(v.shape, -1)
        places[v.sparse_idx] = number[v.sparse_idx]
        return places.reshape(-1, order="F")
    return None


def generic(leaf: Any, rng: np.random.Generator) -> Array:
    """Random numbers with the structure and the sign of a leaf, and with no other of its attributes: in bounds all might be equal."""
    numbers = rng.uniform(0.5, 1.0, leaf.size) * (-1.0 if leaf.is_nonpos() else 1.0)
    source = structure(leaf)
    own: Array = numbers if source is None else np.where(source < 0, 0.0, numbers[source])
    return own.reshape(leaf.shape, order="F")
