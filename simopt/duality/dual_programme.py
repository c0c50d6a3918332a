r"""The dual programme of a declared problem, as a problem for CVXPY: the backward sweep with multipliers that are variables.

Maximise D(y, v, u) + min ⟨r, x⟩ over the bounds: y ≥ 0 of rows g ≤ 0, v of rows h = 0, u of terms with (sφ)*(u) < ∞, the residual r = 0 in
entries of leaves that have no bound. Multipliers of rows bear the names of the rows. Where the problem maximises, this is the dual of
minimising its negative.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT
from simopt.duality.affine import Residual
from simopt.duality.bounds import box
from simopt.duality.programme import Definition, Leaf, Programme
from simopt.duality.reader import read
from simopt.duality.symbolic import SYMBOLIC, Symbol
from simopt.errors import Unreadable
from simopt.problem import Problem


def dual_programme(problem: cp.Problem) -> cp.Problem:
    """max D, equal to the problem's minimum (of its negative, if it maximises) where strong duality holds.

    Raises
    ------
    Unreadable
        where the reader refuses the problem, or a term has no conjugate that CVXPY can be told.
    """
    return _Dual(read(problem)).problem


def dual(problem: cp.Problem | Problem) -> cp.Problem:
    """The dual programme of a `cvxpy.Problem`, or of what a problem of simopt declares."""
    return dual_programme(problem.declare() if isinstance(problem, Problem) else problem)


class _Dual:
    def __init__(self, programme: Programme) -> None:
        self.into: Residual = {}
        self.value: Any = 0.0
        self.constraints: list[Any] = []
        for row in programme.rows:
            self._pull(row.map, cp.Variable(row.map.size, name=row.name, nonneg=not row.equality))
        self._pull(programme.objective, np.ones(1))
        for node in reversed(programme.nodes):
            s = self.into.pop(node.key, None)
            if s is None:
                continue
            if isinstance(node, Definition):
                self._pull(node.row.map, -s[node.columns] / node.factors)
            else:
                self._term(node, s)
            if not hasattr(node, "sign"):  # the map below a variable holds the variable
                self.into.pop(node.key, None)
        for leaf in programme.leaves.values():
            self._leaf(programme, leaf)
        self.problem = cp.Problem(cp.Maximize(self.value), self.constraints)

    def _pull(self, below: Any, u: Any) -> None:
        part = below.pull(SYMBOLIC, Symbol(u) if isinstance(u, cp.Expression) else u, self.into)
        self.value = self.value + cp.sum(part.expression if isinstance(part, Symbol) else part)

    def _term(self, node: Any, s: Any) -> None:
        sign = getattr(node, "sign", 1)
        scale = cp.Constant(sign * s) if isinstance(s, np.ndarray) else sign * s.expression
        u = cp.Variable(node.argument.size, name=node.name)
        bend = getattr(node, "bend", np.zeros(u.size))
        try:
            price, domain = node.atom.declared_conjugate(u, scale)
        except NotImplementedError as error:
            raise Unreadable(f"{node.name}: its conjugate is not known to CVXPY", str(getattr(node, "source", ""))) from error
        self.constraints += [*domain, scale >= 0, *([cp.multiply(bend, u) >= 0] if np.any(bend) else [])]
        self.value = self.value - price
        self._pull(node.argument, u)

    def _leaf(self, programme: Programme, leaf: Leaf) -> None:
        r = self.into.get(leaf.key, np.zeros(leaf.size))
        r = cp.Constant(r) if isinstance(r, np.ndarray) else r.expression
        r = r if r.size == leaf.size else r[np.zeros(leaf.size, dtype=int)]
        ends = box(FLOAT, programme, leaf)
        if ends.rest:
            raise Unreadable(f"{leaf.name}: a row bounds it with a factor 0")
        low, high = np.flatnonzero(ends.below & ~ends.above), np.flatnonzero(ends.above & ~ends.below)
        both, free = np.flatnonzero(ends.below & ends.above), np.flatnonzero(~ends.below & ~ends.above)
        for at, end, sign in ((low, ends.low, 1), (high, ends.high, -1)):
            if at.size:
                self.constraints.append(sign * r[at] >= 0)
                self.value = self.value + end[at] @ r[at]
        if both.size:
            self.value = self.value + cp.sum(cp.minimum(cp.multiply(ends.low[both], r[both]), cp.multiply(ends.high[both], r[both])))
        if free.size:
            self.constraints.append((r[free] == 0).set_label(leaf.name))
