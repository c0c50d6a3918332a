"""Directions that no multiplier sees: the residual of stationarity along them is 0, whatever the multipliers are.

The residual is r = Σ Aᵀu over the maps Ax + b of the objective, rows and terms. If A d = 0 for all of them, entries with u = 0 aside, then
⟨r, d⟩ = Σ ⟨u, A d⟩ = 0. Hence if r is 0 at all entries of d but one, it is 0 there, too. Interval arithmetic would not prove it: x + y that
occurs only as a sum leaves two residuals, each of them an interval around 0. If a term's multipliers have a fixed sum, A d may be τ in all
entries. Then ⟨u, A d⟩ = τ Σu, as if the term's value moved by τ times the sum. If its multipliers are u = Pw, PᵀA d = 0 suffices. Such
directions are guessed in floats and proven in fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from simopt.arithmetic import FLOAT, RATIONAL, Arithmetic
from simopt.arithmetic.linear import blocks
from simopt.core.errors import InvalidProblem
from simopt.duality.evaluation.fixed_multipliers import groups
from simopt.duality.evaluation.gradients import gradients
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Definition, Epigraph, Programme, Term
from simopt.duality.graph.vectors import Indices, Mask

MOST = 10_000  # fractions in the proofs
SIMPLE = (4096, 10**6, 10**8)  # the largest denominator of a guess, and of further ones
ROUNDING = 1e-11  # of the sizes in a sum of squares: a larger one is not 0 in fractions either


@dataclass(frozen=True)
class Lineality:
    """The directions of a programme in these entries of leaves; `idle` masks the multipliers that are exactly 0."""

    programme: Programme
    entries: Mapping[Key, Indices]
    idle: Mapping[Key, Mask]

    def following(self, stationary: Mask, wanted: Indices) -> Indices:
        """The wanted entries, by their indices, whose residual is 0 because that of the stationary ones is."""
        size = sum(row.map.size for row in self.programme.rows) + sum(each.argument.size for each in self._convex())
        if not len(wanted) or len(wanted) * (size + len(stationary)) > MOST:
            return np.zeros(0, dtype=np.intp)
        gram, free = self._gram(), np.flatnonzero(stationary)
        sizes, found = abs(gram), []
        linked = -gram[free][:, wanted].toarray()
        steps = np.zeros(linked.shape)
        for some, _ in blocks(gram[free][:, free]):
            if linked[some].any():
                steps[some] = la.lstsq(gram[free[some]][:, free[some]].toarray(), linked[some], lapack_driver="gelsy")[0]
        for number, step in zip(wanted, steps.T, strict=True):
            for largest in SIMPLE:
                d = np.full(len(stationary), Fraction(0))
                d[free] = [Fraction(c).limit_denominator(largest) for c in step]
                d[number] = Fraction(1)
                guess = d.astype(float)
                if guess @ (gram @ guess) <= ROUNDING * (np.abs(guess) @ (sizes @ np.abs(guess))) and self._still(d):
                    found.append(number)
                    break
        return np.array(found, dtype=np.intp)

    def _convex(self) -> list[Term | Epigraph]:
        return [node for node in self.programme.nodes if not isinstance(node, Definition)]

    def _live(self, key: Key, n: int) -> Indices:
        return np.flatnonzero(~self.idle[key]) if key in self.idle else np.arange(n)

    def _gram(self) -> Any:
        """Σ of the squares of what has to be 0, as a sparse matrix in floats."""
        parts: list[Any] = []

        def follow(node: Term | Epigraph, rows: Any) -> Any:
            n, width = rows.shape
            if (matrix := _image(node, FLOAT)) is not None:
                parts.append(sp.csr_array(matrix.T @ rows) if len(self._live(node.key, n)) else rows[:0])
                return sp.csr_array((_outputs(node), width))
            live, (group, count) = self._live(node.key, n), groups(node.atom, n)
            weight = 1.0 / np.maximum(np.bincount(group[live], minlength=count), 1)
            mean = sp.csr_array((weight[group[live]], (group[live], live)), shape=(count, n)) @ rows * (node.atom.total or 0.0)
            parts.append(rows[live] - mean[group[live]] / (node.atom.total or 1.0))
            return _valued(node) * mean if node.atom.total else sp.csr_array((_outputs(node), width))

        at = gradients(self.programme, self.entries, follow)
        parts += [at.rows(row.map)[self._live(row.key, row.map.size)] for row in self.programme.rows]
        matrix = sp.vstack([at.rows(self.programme.objective), *parts], format="csr")
        return sp.csr_array(matrix.T @ matrix)

    def _still(self, d: Any) -> bool:
        """Whether this is such a direction, decided in fractions."""
        values, start = {key: RATIONAL.zeros(leaf.size) for key, leaf in self.programme.leaves.items()}, 0
        for key, chosen in self.entries.items():
            values[key][chosen] = d[start : start + len(chosen)]
            start += len(chosen)
        try:
            for node in self.programme.nodes:
                if isinstance(node, Definition):
                    values[node.key] = RATIONAL.zeros(len(node.columns))
                    step = -node.row.map.value(RATIONAL, values, linear=True) / RATIONAL.lift(node.factors)
                    values[node.key] = RATIONAL.group_sum(step, node.columns, len(node.columns))
                elif not self._passes(node, values):
                    return False
            live_maps = [(self.programme.objective, np.arange(1))]
            live_maps += [(row.map, self._live(row.key, row.map.size)) for row in self.programme.rows]
            return not any(np.any(below.value(RATIONAL, values, linear=True)[live] != 0) for below, live in live_maps)
        except (InvalidProblem, ArithmeticError, ValueError):  # the data are no fractions
            return False

    def _passes(self, node: Term | Epigraph, values: dict[Key, Any]) -> bool:
        """Whether a term's multipliers see the direction not at all, or alike in all entries of a group, which is the step of its value."""
        values[node.key] = RATIONAL.zeros(_outputs(node))
        z = node.argument.value(RATIONAL, values, linear=True)
        live = self._live(node.key, len(z))
        if (matrix := _image(node, RATIONAL)) is not None and len(live):
            return not np.any(RATIONAL.rmatvec(matrix, z) != 0)
        if node.atom.total is None:
            return not np.any(z[live] != 0)
        group, count = groups(node.atom, len(z))
        step = RATIONAL.zeros(count)
        step[group[live]] = z[live]
        values[node.key] = step * Fraction(_valued(node) * node.atom.total)
        return not np.any(z[live] != step[group[live]])


def _image(node: Term | Epigraph, num: Arithmetic) -> Any:
    """A with u = Aw, if there is one; None where entries of u are cut off for their sign, which leads out of the range."""
    return None if isinstance(node, Term) and np.any(node.monotonicity != 0) else node.atom.image(num)


def _outputs(node: Term | Epigraph) -> int:
    return node.size if isinstance(node, Term) else node.atom.count


def _valued(node: Term | Epigraph) -> int:
    return node.sign if isinstance(node, Term) else 1
