"""A declared programme in exact numbers: its variables, rows and objective as terms of Coq, and the affine maps between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.arithmetic import RATIONAL
from simopt.coq.term import CoqTerm, Terms, identifier
from simopt.coq.theory import NoTheorem
from simopt.duality.atoms.absolute import Absolute
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.atoms.quadratic_form import SemidefiniteForm
from simopt.duality.atoms.square import Square
from simopt.duality.graph.affine import Key, Map
from simopt.duality.graph.programme import Programme, Term

LARGEST = 60_000  # products of sizes: beyond it a file is no reading matter


@dataclass(frozen=True)
class Form:
    """Σ c_k v_k + b over the values v_k of a programme: what it declares, and what its terms make of that."""

    factors: dict[int, Fraction]
    constant: Fraction

    def plus(self, scale: Fraction, other: Form) -> Form:
        """This and so many times another."""
        total = dict(self.factors)
        for k, c in other.factors.items():
            total[k] = total.get(k, Fraction(0)) + scale * c
        return Form({k: c for k, c in total.items() if c}, self.constant + scale * other.constant)


@dataclass
class ExactProgramme:
    """min f(v) over the declared variables, subject to rows, all of it in fractions and as terms.

    Values are numbered: the variables first, then what nonlinear terms make, entry by entry. `rows` has of each row its entries g, which
    are ≤ 0, or = 0; `expressions` what each value is as a term of Coq. |z|, the largest and the least of several are parts that the
    certificate may take a share of; a square is written out.
    """

    programme: Programme
    terms: Terms = field(default_factory=Terms)
    start: dict[Key, int] = field(default_factory=dict)
    size: dict[Key, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    expressions: list[CoqTerm] = field(default_factory=list)
    arguments: dict[Key, list[Form]] = field(default_factory=dict)
    rows: dict[Key, list[Form]] = field(default_factory=dict)
    matrices: dict[Key, list[list[Fraction]]] = field(default_factory=dict)
    parts: set[int] = field(default_factory=set)  # identities of terms: the links of a chain of max are none

    def __post_init__(self) -> None:
        for variable in self.programme.every_variable:
            self._declare(variable.key, variable.name, variable.size, variable.shape)
        for node in self.programme.nodes:
            if isinstance(node, Term):
                self.arguments[node.key] = self.forms(node.argument)
                self._value(node, [self.term(form) for form in self.arguments[node.key]])
        self.rows = {row.key: self.forms(row.map) for row in self.programme.every_row}
        (self.objective,) = self.forms(self.programme.objective)

    @property
    def variables(self) -> int:
        """How many numbers a point has."""
        return len(self.names)

    def _declare(self, key: Key, name: str, size: int, shape: tuple[int, ...]) -> None:
        self.start[key], self.size[key] = len(self.expressions), size
        plain = identifier(name)
        for entry in range(size):
            index = np.unravel_index(entry, shape, order="F") if len(shape) > 1 and np.prod(shape) == size else (entry,)
            own = plain if not shape else "_".join([plain, *(str(int(i) + 1) for i in index)])
            self.names[f"{key} {entry}"] = own
            self.expressions.append(self.terms.variable(f"{key} {entry}"))
        if len(set(self.names.values())) < len(self.names):
            raise NoTheorem(f"two variables are called alike in Coq: {name}")

    def _value(self, node: Term, z: list[CoqTerm]) -> None:
        """The entries of a nonlinear term."""
        terms, atom = self.terms, node.atom
        if isinstance(atom, Maximum):
            made = [self._part("max", [z[i] for i in np.flatnonzero(atom.group == j)]) for j in range(atom.count)]
        elif isinstance(atom, Absolute):
            made = [self._part("abs", [each]) for each in z]
        elif isinstance(atom, Square):
            made = [terms.power(each, 2) for each in z]
        elif isinstance(atom, Huber):
            made = [self._huber(each, m) for each, m in zip(z, self._thresholds(atom, len(z)), strict=True)]
        elif isinstance(atom, SemidefiniteForm):
            self.matrices[node.key] = _symmetric(atom.matrix(RATIONAL))
            made = [self._quadratic(self.matrices[node.key], z)]
        else:
            raise NoTheorem(f"{node.name}: {type(atom).__name__} is no square, no largest of several and no absolute value")
        self.start[node.key], self.size[node.key] = len(self.expressions), len(made)
        self.expressions += made if node.sign > 0 else [terms.opposite(each) for each in made]

    def _part(self, op: str, z: list[CoqTerm]) -> CoqTerm:
        made = self.terms.apply(op, z, 0)
        self.parts |= {id(made)} if made.op == op else set()
        return made

    @staticmethod
    def _thresholds(atom: Huber, n: int) -> list[Fraction]:
        m = np.asarray(RATIONAL.lift(atom.threshold(RATIONAL)), dtype=object).reshape(-1)
        return [Fraction(m[i if len(m) > 1 else 0]) for i in range(n)]

    def _huber(self, z: CoqTerm, threshold: Fraction) -> CoqTerm:
        """m² + 2M(|z| − m) with m = min(|z|, M)."""
        terms, size = self.terms, self._part("abs", [z])
        least = self._part("min", [size, terms.number(threshold)])
        return terms.add(terms.power(least, 2), terms.multiply(terms.number(2 * threshold), terms.subtract(size, least)))

    def _quadratic(self, matrix: list[list[Fraction]], z: list[CoqTerm]) -> CoqTerm:
        terms, total = self.terms, self.terms.number(0)
        for i, row in enumerate(matrix):
            for j in range(i, len(row)):
                product = terms.power(z[i], 2) if i == j else terms.multiply(z[i], z[j])
                total = self._added(total, row[j] * (1 if i == j else 2), product)
        return total

    def _added(self, total: CoqTerm, c: Fraction, term: CoqTerm) -> CoqTerm:
        """The sum of what there is and c times a term, without factors 1 and signs that meet."""
        if not c:
            return total
        scaled = self.terms.multiply(self.terms.number(abs(c)), term)
        return self.terms.add(total, scaled) if c > 0 else self.terms.subtract(total, scaled)

    def index(self, term: CoqTerm) -> int:
        """The number of a value that is this term, which becomes one if it was none."""
        if term not in self.expressions:
            self.expressions.append(term)
        return self.expressions.index(term)

    def term(self, form: Form) -> CoqTerm:
        """An affine form as a term."""
        total = self.terms.number(0)
        for k, c in sorted(form.factors.items(), key=lambda item: (item[1] < 0, item[0])):
            total = self._added(total, c, self.expressions[k])
        return self._added(total, form.constant, self.terms.number(1))

    def relation(self, form: Form) -> tuple[CoqTerm, CoqTerm]:
        """g ≤ 0 as two sides, what counts negatively on the right."""
        left = Form({k: c for k, c in form.factors.items() if c > 0}, max(form.constant, Fraction(0)))
        right = Form({k: -c for k, c in form.factors.items() if c < 0}, max(-form.constant, Fraction(0)))
        return self.term(left), self.term(right)

    def forms(self, below: Map) -> list[Form]:
        """The rows of a map in fractions, found by its values at unit vectors."""
        sizes = {key: self.size[key] for key in below.below}
        if below.size * sum(sizes.values()) > LARGEST:
            raise NoTheorem(f"{below.size} rows of {sum(sizes.values())} numbers are more than anybody reads")
        at = {key: RATIONAL.zeros(n) for key, n in sizes.items()}
        constants = below.value(RATIONAL, at)
        found: list[dict[int, Fraction]] = [{} for _ in range(below.size)]
        for key, n in sizes.items():
            for j in range(n):
                unit = RATIONAL.zeros(n)
                unit[j] = RATIONAL.lift(1.0)
                column = below.value(RATIONAL, {**at, key: unit}, linear=True)
                for i, c in enumerate(column):
                    if c:
                        found[i][self.start[key] + j] = Fraction(c)
        return [Form(factors, Fraction(b)) for factors, b in zip(found, constants, strict=True)]

    def entries(self, values: Mapping[Key, Any]) -> list[Fraction]:
        """The numbers of a point, in the order of the variables."""
        return [Fraction(x) for variable in self.programme.every_variable for x in values[variable.key]]


def _symmetric(matrix: Any) -> list[list[Fraction]]:
    n = len(matrix)
    return [[(Fraction(matrix[i][j]) + Fraction(matrix[j][i])) / 2 for j in range(n)] for i in range(n)]
