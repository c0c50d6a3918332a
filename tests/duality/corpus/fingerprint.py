"""A name for what a problem says: the same expression trees over the same numbers have the same one, whatever their variables are called.

Numbers count to nine significant digits, and those a 10⁻¹² of the largest beside them as 0. The reason: a test that computes its data (AᵀA)
gets other last bits from another kernel of BLAS.
"""

from __future__ import annotations

import hashlib
import numbers
import types
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.atom import Atom
from cvxpy.atoms.perspective import perspective
from cvxpy.atoms.suppfunc import SuppFuncAtom
from cvxpy.constraints.constraint import Constraint
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import PartialProblem

DIGITS = 9
NOTHING = 1e-12


def fingerprint(problem: cp.Problem) -> str:
    """Sixteen hexadecimal digits of SHA-256 over the trees, a node by its type, its data and its arguments."""
    return _LeafOrder().of_problem(problem)[:16]


def attributes(leaf: cp.Variable | cp.Parameter) -> list[tuple[str, Any]]:
    """(name, value) of those that the leaf has."""
    return [(name, value) for name, value in leaf.attributes.items() if value is not None and value is not False]


class _LeafOrder:
    """The variables and parameters met so far, by the order of their appearance; and the nodes, since trees share them."""

    def __init__(self) -> None:
        self.leaves: dict[int, int] = {}
        self.nodes: dict[int, str] = {}

    def of_problem(self, problem: cp.Problem) -> str:
        return _hash(type(problem.objective).__name__, self.of(problem.objective.expr), *map(self.of, problem.constraints))

    def of(self, node: Any) -> str:
        """The hash of a node; a sum of sums is walked once."""
        if id(node) not in self.nodes:
            self.nodes[id(node)] = _hash(*self._parts(node))
        return self.nodes[id(node)]

    def _parts(self, node: Any) -> Iterable[str]:
        yield type(node).__name__
        match node:
            case cp.Constant():
                yield from self.data(node.value)
            case cp.Variable() | cp.Parameter():
                first = node.id not in self.leaves
                yield str(self.leaves.setdefault(node.id, len(self.leaves)))
                if first:
                    yield from self._leaf(node)
            case Constraint():
                yield from self.data(node.get_data()[:-1])  # the last one is its id
                yield from map(self.of, node.args)
            case PartialProblem():
                yield self.of_problem(node.args[0])
                yield from self.data(node.get_data()[:2])  # the third is the solver
            case SuppFuncAtom():
                yield from self.data([node.args[0], node._parent.x, *node._parent.constraints])
            case perspective():
                yield from self.data([node.f, node.f_recession, *node.args])
            case Atom() | indicator():
                yield str(node.shape)
                yield from self.data(node.get_data())
                yield from map(self.of, node.args)
            case _:
                raise TypeError(f"a {type(node).__name__} in an expression: say in {__name__} what it is made of")

    def _leaf(self, leaf: Any) -> Iterable[str]:
        yield str(leaf.shape)
        if isinstance(leaf, cp.Parameter):
            yield from self.data(leaf.value_sparse if leaf.sparse_idx is not None else leaf.value)
        for name, value in attributes(leaf):
            yield name
            yield from self.data(value)

    def data(self, value: Any) -> Iterable[str]:
        """Numbers, and what else nodes keep beside their arguments."""
        match value:
            case None | str() | bool() | np.bool_() | slice() | types.EllipsisType():
                yield str(value)
            case cp.Expression() | Constraint():
                yield self.of(value)
            case numbers.Number():
                yield from _numbers(np.asarray(float(value) if isinstance(value, Fraction) else value))
            case list() | tuple():
                yield f"{len(value)} of"
                for each in value:
                    yield from self.data(each)
            case np.ndarray():
                yield from _numbers(np.asarray(value))
            case _ if sp.issparse(value):
                entries = sp.coo_array(value)
                entries.sum_duplicates()
                yield f"sparse {entries.shape}"
                for places in entries.coords:
                    yield str(places.tolist())
                yield from _numbers(entries.data)
            case _:
                raise TypeError(f"{type(value).__name__} as the datum of a node: say in {__name__} what it is made of")


def _numbers(array: np.ndarray) -> Iterable[str]:
    if array.dtype == object:  # places of entries, slices
        yield str(array.tolist())
        return
    if np.iscomplexobj(array):
        yield from _numbers(array.real)
        array = array.imag
    flat = np.asarray(array, dtype=float).ravel(order="F")
    largest = np.max(np.abs(flat), where=np.isfinite(flat), initial=0.0)
    yield str(array.shape)
    yield " ".join("0" if abs(entry) <= NOTHING * largest else f"{entry:.{DIGITS - 1}e}" for entry in flat.tolist())


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
