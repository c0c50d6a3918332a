"""The identity behind a certificate: objective − bound as what rows, parts and squares give away, in fractions.

The backward sweep (`simopt.duality`) says which multipliers it used. It is done once more over the exact forms, from the objective to the
variables. The multipliers leave a constant, the bound D, and a sum of terms that are ≥ 0 at every feasible point:

    f − D = Σ y(−g)  +  Σ u(part − z)  +  Σ c ℓ²,

rows g ≤ 0, parts that are the largest of some z (or |z|), and squares of affine forms. Duality.v checks this identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.coq.programme import ExactProgramme, Form
from simopt.coq.term import CoqTerm, walk
from simopt.coq.theory import NoTheorem
from simopt.duality.atoms.absolute import Absolute
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.atoms.square import Square
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Definition, Epigraph, Term

NONE = Fraction(0)


@dataclass
class Decomposition:
    """The multiplier of each row, by key and entry, and of each part; the squares that remain; the bound that is left."""

    bound: Fraction = NONE
    rows: dict[tuple[Key, int], Fraction] = field(default_factory=dict)
    parts: dict[int, list[Fraction]] = field(default_factory=dict)  # by the identity of the part
    squares: list[tuple[Fraction, Form]] = field(default_factory=list)


def decompose(exact: ExactProgramme, used: Mapping[Key, Any]) -> Decomposition:
    """The identity from the multipliers that a sweep used.

    Raises
    ------
    NoTheorem
        where they leave something that no bound of a variable takes: an implied bound is none of the declaration.
    """
    return _Decomposer(exact, used).run()


class _Decomposer:
    """`into` has the coefficients of the values so far: f − D ≥ `into` − (constants), as in the backward sweep."""

    def __init__(self, exact: ExactProgramme, used: Mapping[Key, Any]) -> None:
        self.exact, self.used = exact, used
        self.into = exact.objective
        self.result = Decomposition()

    def run(self) -> Decomposition:
        """Rows, then nodes from the last to the first, then the bounds of the variables."""
        programme = self.exact.programme
        for row in programme.rows:
            self._take(row.key, self._multipliers(row.key, len(self.exact.rows[row.key])))
        for node in reversed(programme.nodes):
            if isinstance(node, Definition):
                self._define(node)
            elif isinstance(node, Epigraph):
                u = self._multipliers(node.key, sum(row.map.size for row in node.rows))
                for row in node.rows:
                    own, u = u[: row.map.size], u[row.map.size :]
                    self._take(row.key, own)
            else:
                self._term(node)
        for leaf in programme.leaves.values():
            for place in range(leaf.size):
                self._bound(leaf.key, place)
        if self.into.factors:
            left = ", ".join(self.exact.names.get(each, each) for each in self._left())
            raise NoTheorem(f"multipliers leave {left}: what takes it is no bound of the declaration")
        self.result.bound = self.into.constant
        return self.result

    def _left(self) -> list[str]:
        names = list(self.exact.names)
        return [names[k] if k < len(names) else f"value {k}" for k in self.into.factors]

    def _multipliers(self, key: Key, n: int) -> list[Fraction]:
        return [Fraction(x) for x in np.asarray(self.used[key], dtype=object)] if key in self.used else [NONE] * n

    def _take(self, key: Key, multipliers: list[Fraction]) -> None:
        """Add y g to the Lagrangian."""
        for place, (y, form) in enumerate(zip(multipliers, self.exact.rows[key], strict=True)):
            if y:
                self.result.rows[key, place] = self.result.rows.get((key, place), NONE) + y
                self.into = self.into.plus(y, form)

    def _define(self, node: Definition) -> None:
        """The multiplier that leaves nothing at the variable which the equality gives."""
        start = self.exact.start[node.key]
        wanted = [self.into.factors.get(start + int(column), NONE) for column in node.columns]
        rows = self.exact.rows[node.row.key]
        self._take(
            node.row.key,
            [
                -c / rows[i].factors[start + int(column)] if c else NONE
                for i, (c, column) in enumerate(zip(wanted, node.columns, strict=True))
            ],
        )

    def _term(self, node: Term) -> None:
        """s φ(z) ≥ ⟨u, z⟩ − (sφ)*(u), and what it gives away."""
        start, count = self.exact.start[node.key], self.exact.size[node.key]
        scales = [self.into.factors.get(start + j, NONE) * node.sign for j in range(count)]
        z = self.exact.arguments[node.key]
        if not any(scales):
            return
        u = self._multipliers(node.key, len(z))
        values = [self.exact.expressions[start + j] for j in range(count)]
        values = values if node.sign > 0 else [self.exact.terms.opposite(value) for value in values]
        self.into = Form({k: c for k, c in self.into.factors.items() if not start <= k < start + count}, self.into.constant)
        for factor, form in zip(u, z, strict=True):
            self.into = self.into.plus(factor, form)
        atom = node.atom
        if isinstance(atom, Maximum):
            for j, part in enumerate(values):
                self._part(part, [u[i] for i in np.flatnonzero(atom.group == j)], scales[j])
        elif isinstance(atom, Absolute):
            for part, s, each in zip(values, scales, u, strict=True):
                self._part(part, [(s + each) / 2, (s - each) / 2], s)
        elif isinstance(atom, Square):
            for s, each, form in zip(scales, u, z, strict=True):
                self._square(node, s, each, form)
        elif isinstance(atom, Huber):
            for value, s, each in zip(values, scales, u, strict=True):
                self._huber(node, value, s, each)
        else:
            self._form(node, scales[0], u, z)

    def _part(self, part: CoqTerm, taken: list[Fraction], scale: Fraction) -> None:
        if sum(taken) != scale or min(taken) < 0:
            raise NoTheorem("the multipliers of a part are none that are ≥ 0 with its scale as their sum")
        if part.op in ("max", "abs"):
            self._add_part(part, taken)

    def _add_part(self, part: CoqTerm, taken: list[Fraction]) -> None:
        old = self.result.parts.get(id(part), [NONE] * len(taken))
        self.result.parts[id(part)] = [a + b for a, b in zip(old, taken, strict=True)]

    def _square(self, node: Term, s: Fraction, u: Fraction, form: Form) -> None:
        """s z² = uz − u²/(4s) + s(z − u/(2s))²."""
        if not s and not u:
            return
        if s <= 0:
            raise NoTheorem(f"{node.name}: a square with a scale that is not positive")
        self.into = Form(self.into.factors, self.into.constant - u * u / (4 * s))
        self.result.squares.append((s, form.plus(Fraction(-1), Form({}, u / (2 * s)))))

    def _huber(self, node: Term, value: CoqTerm, s: Fraction, u: Fraction) -> None:
        """s(m² + 2M(|z| − m)) = uz − u²/(4s) + s(m − |u|/(2s))² + (2Ms − |u|)(|z| − m) + |u|(|z| ∓ z), m = min(|z|, M)."""
        if not s and not u:
            return
        least = next(each for each in walk([value]) if each.op == "min")
        size, cap = least.args
        if s <= 0 or abs(u) > 2 * s * cap.number:
            raise NoTheorem(f"{node.name}: a multiplier outside of the domain of the conjugate")
        self.into = Form(self.into.factors, self.into.constant - u * u / (4 * s))
        self._add_part(size, [max(u, NONE), max(-u, NONE)])
        self._add_part(least, [2 * s * cap.number - abs(u), NONE])
        self.result.squares.append((s, Form({self.exact.index(least): Fraction(1)}, -abs(u) / (2 * s))))

    def _form(self, node: Term, s: Fraction, u: list[Fraction], z: list[Form]) -> None:
        """s zᵀPz = ⟨u, z⟩ − Σ s d t² + Σ s d (ℓz − t)² with P = Σ d ℓℓᵀ by elimination, u = Σ 2 s d t ℓ."""
        rest, left = [list(row) for row in self.exact.matrices[node.key]], list(u)
        n = len(rest)
        for _ in range(n):
            k = max(range(n), key=lambda i: rest[i][i])
            d = rest[k][k]
            if d <= 0:
                break
            line = [rest[k][j] / d for j in range(n)]
            t = left[k] / (2 * s * d)
            for i in range(n):
                left[i] -= 2 * s * d * t * line[i]
                if line[i]:
                    for j in range(n):
                        rest[i][j] -= d * line[i] * line[j]
            form = Form({}, -t)
            for c, each in zip(line, z, strict=True):
                form = form.plus(c, each)
            self.into = Form(self.into.factors, self.into.constant - s * d * t * t)
            self.result.squares.append((s * d, form))
        if any(left) or any(map(any, rest)):
            raise NoTheorem(f"{node.name}: no sum of squares, or a multiplier outside of its range")

    def _bound(self, key: Key, entry: int) -> None:
        """The nearest bound c x + b ≤ 0 of a variable takes what is left at its entry."""
        k = self.exact.start[key] + entry
        r = self.into.factors.get(k, NONE)
        if not r:
            return
        ends: list[tuple[Fraction, Key, int, Fraction]] = []
        for bound in self.exact.programme.bounds.get(key, []):
            for i, form in enumerate(self.exact.rows[bound.row.key]):
                c = form.factors.get(k, NONE)
                if c * r < 0:  # r > 0 needs one from below, which is c < 0
                    ends.append((r * form.constant / -c, bound.row.key, i, -r / c))
        if ends:
            _, row, i, y = max(ends, key=lambda end: end[0])
            self._take(row, [y if entry == i else NONE for entry in range(len(self.exact.rows[row]))])
