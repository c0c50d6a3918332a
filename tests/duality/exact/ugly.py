"""Random problems of ugly numbers whose optimum is planted, and the points, multipliers and bases with which they are attacked.

Rows that are stored twice or differ by 2⁻⁴⁰ or 2⁻⁵⁰, rows and columns of sizes from 2⁻⁴⁰ to 2⁴⁰, equalities that follow from others,
vertices where many rows meet, and boxes of one point or of none. That the planted point is optimal is the subgradient inequality, as in
`planted.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

import cvxpy as cp
import numpy as np
from exact_values import Exact
from planted import (
    Data,
    Planted,
    PlantedProblem,
    Vector,
    euclidean,
    floats,
    form,
    fractions,
    hinges,
    huber,
    largest_entry,
    largest_size,
    largest_sum,
    matrix,
    matvec,
    over,
    sizes,
    square_of_hinge,
    squares,
)

from simopt.arithmetic import Interval
from simopt.duality.vertices import simplex
from simopt.duality.vertices.linear_programme import LinearProgramme
from simopt.duality.vertices.vertex import SimplexBasis

Rng = np.random.Generator

KINKS = [sizes, hinges, largest_size, largest_entry]
CURVES = [squares, form, form, huber, square_of_hinge]
NORMS = [euclidean, euclidean, over, largest_sum]
KINDS: dict[str, list[Any]] = {
    "linear": [],
    "integer": [],
    "kinks": KINKS,
    "quadratic": CURVES,
    "sparse quadratic": [],
    "norms": NORMS,
    "mixed": [*KINKS, *CURVES, *NORMS],
}
LINEAR = ("linear", "integer", "kinks")
DRAWN = (*KINDS, *LINEAR)  # linear programmes twice as often
EMPTY = 0.06  # the fraction of problems without a point
BY_A_HAIR = "by a hair"  # so near to a feasible problem that rounding at a point far away may hide it from floats
HUGE = 1e12
NEAR = ("as it is", "searched", "of the solve", "moved by 1e-3", "moved by 1e-9", "of one row alone")  # not far from an optimum


def ugly_problem(seed: int, number: int) -> PlantedProblem:
    """Problem `number` of a seed, and always the same."""
    attempt = 0
    while True:
        rng = np.random.default_rng([seed, number, attempt])
        try:
            return _empty(rng) if rng.random() < EMPTY else _planted(rng)
        except AssertionError:  # a number of it is no float
            attempt += 1


def _dyadic(rng: Rng, largest: int, fraction: float) -> Q:
    """A power of 2, which is 1 but for a fraction of the draws."""
    return Q(2) ** int(rng.integers(-largest, largest + 1)) if rng.random() < fraction else Q(1)


class _Programme:
    """What has been written of a problem: variables x̃ = Dx, rows, terms, and the sum of the slopes at x."""

    def __init__(self, rng: Rng, kind: str) -> None:
        self.rng, self.kind = rng, kind
        n = int(rng.integers(2, 6))
        self.x = [Q(int(k), 1 if kind == "integer" else int(rng.choice([1, 1, 2]))) for k in rng.integers(-3, 4, size=n)]
        largest = 0 if kind == "integer" or rng.random() < 0.5 else int(rng.choice([10, 40]))
        self.columns = [_dyadic(rng, largest, 0.7) for _ in range(n)]
        self.row_size = 0 if kind == "integer" or rng.random() < 0.4 else int(rng.choice([10, 40]))
        self.slope = [Q(0)] * n
        self.variable = cp.Variable(n, name="x", **self._attributes())
        self.rows: list[Any] = []
        self.parts: list[Any] = []

    def _attributes(self) -> dict[str, Any]:
        """Bounds of a variable as attributes of it, active at some entries."""
        if self.rng.random() < 0.7:
            return {}
        low = [q - int(self.rng.choice([0, 0, 1, 5])) for q in self.x]
        high = [q + int(self.rng.choice([0, 1, 1, 5])) for q in self.x]
        for j, (a, q, b) in enumerate(zip(low, self.x, high, strict=True)):
            self.slope[j] += int(self.rng.integers(0, 4)) * ((q == b) - (q == a) if self.rng.random() < 0.7 else 0)
        return {"bounds": [floats(self._scaled(low)), floats(self._scaled(high))]}

    def _scaled(self, x: Vector) -> Vector:
        return [d * q for d, q in zip(self.columns, x, strict=True)]

    def pull(self, rows: list[Vector], multipliers: Vector) -> None:
        """Add the slopes of rows with these multipliers."""
        for row, q in zip(rows, multipliers, strict=True):
            for j, a in enumerate(row):
                self.slope[j] += q * a

    def of_columns(self, rows: list[Vector]) -> Any:
        """A D⁻¹ in floats."""
        return floats([[a / d for a, d in zip(row, self.columns, strict=True)] for row in rows])

    def inequalities(self) -> None:
        """Rows of small whole numbers, some of them twice, nearly twice, or sums of others; many of them active."""
        rng, n = self.rng, len(self.x)
        rows = matrix(rng, int(rng.integers(1, 6)), n)
        slack = [Q(int(rng.choice([0, 0, 0, 1, 4]))) for _ in rows]
        for i in rng.integers(len(rows), size=int(rng.integers(0, 4))).tolist():
            nearly, right = list(rows[i]), slack[i]
            apart = Q(2) ** -int(rng.choice([40, 50]))
            match int(rng.integers(4)):
                case 0:
                    nearly[int(rng.integers(n))] += apart
                case 1:
                    right = right + apart
                case 2:
                    other = int(rng.integers(len(rows)))
                    nearly, right = [a + b for a, b in zip(nearly, rows[other], strict=True)], right + slack[other]
            rows.append(nearly)
            slack.append(right)
        y = [Q(int(rng.integers(0, 4)) * int(rng.random() < 0.5)) if not s else Q(0) for s in slack]
        self.pull(rows, y)
        limits = [a + s for a, s in zip(matvec(rows, self.x), slack, strict=True)]
        self._write(rows, limits, equal=False)

    def equalities(self) -> None:
        """Rows that hold with equality; some follow from others."""
        rng, n = self.rng, len(self.x)
        rows = matrix(rng, int(rng.integers(1, n)), n)
        for i, j in rng.integers(len(rows), size=(int(rng.integers(0, 3)), 2)).tolist():
            k = int(rng.integers(-1, 2))
            rows.append([a + k * b for a, b in zip(rows[i], rows[j], strict=True)])
        self.pull(rows, [Q(int(k)) for k in rng.integers(-3, 4, size=len(rows))])
        self._write(rows, matvec(rows, self.x), equal=True)

    def _write(self, rows: list[Vector], right: Vector, equal: bool) -> None:
        scale = [_dyadic(self.rng, self.row_size, 0.7) for _ in rows]
        left = self.of_columns([[s * a for a in row] for s, row in zip(scale, rows, strict=True)]) @ self.variable
        limits = floats([s * b for s, b in zip(scale, right, strict=True)])
        if equal:
            self.rows.append(left == limits if self.rng.random() < 0.7 else limits - left == 0)
        else:
            self.rows.append(left <= limits if self.rng.random() < 0.7 else limits >= left)

    def box(self) -> None:
        """Bounds as rows, of factor 1 or another one; where both ends are the same the box is one point."""
        for j, q in enumerate(self.x):
            draw = self.rng.random()
            s = Q(1) if self.rng.random() < 0.7 else Q(int(self.rng.integers(2, 6))) * _dyadic(self.rng, self.row_size, 0.5)
            left = floats([s / self.columns[j]])[0] * self.variable[j]
            if draw < 0.45:
                self.rows.append(left >= floats([s * q])[0])
                self.slope[j] -= int(self.rng.integers(0, 4))
            if draw < 0.15 or 0.45 <= draw < 0.65:
                self.rows.append(left <= floats([s * q])[0])
                self.slope[j] += int(self.rng.integers(0, 4))
            elif draw < 0.8:
                self.rows += [left <= floats([s * (q + 3)])[0], left >= floats([s * (q - 5)])[0]]

    def drawn(self, terms: list[Any]) -> tuple[Planted, list[Vector], Any]:
        """A term at the planted point, the rows of its argument, and that argument; sometimes two rows of it are nearly the same."""
        rng, n = self.rng, len(self.x)
        term = terms[int(rng.integers(len(terms)))](rng, Data(rng, 0.0))
        rows = matrix(rng, len(term.r), n)
        if len(rows) > 1 and rng.random() < 0.3:
            rows[1] = list(rows[0])
            rows[1][int(rng.integers(n))] += Q(2) ** -40 * int(rng.integers(0, 2))
        right = [p - q for p, q in zip(matvec(rows, self.x), term.r, strict=True)]
        return term, rows, self.of_columns(rows) @ self.variable - floats(right)

    def term(self, terms: list[Any]) -> None:
        """A term of the objective."""
        term, rows, argument = self.drawn(terms)
        weight = term.unit * _dyadic(self.rng, self.row_size // 4, 0.5)
        self.pull(rows, [weight * g for g in term.g])
        self.parts.append(floats([weight])[0] * term.make(argument))

    def limit(self, terms: list[Any]) -> None:
        """A row φ(z) ≤ b, active or not."""
        term, rows, argument = self.drawn(terms)
        active = bool(self.rng.random() < 0.7)
        assert term.value is not None
        if active:
            multiplier = term.unit * int(self.rng.integers(0, 3))
            self.pull(rows, [multiplier * g for g in term.g])
        self.rows.append(term.make(argument) <= floats([term.value + (0 if active else int(self.rng.integers(1, 4)))])[0])

    def sparse_form(self) -> None:
        """xᵀPx with the sparse P = FFᵀ of few columns, most of its rows 0."""
        rng, n = self.rng, len(self.x)
        factor = [[Q(int(k)) for k in row] for row in rng.integers(-2, 3, (n, int(rng.integers(1, 3)))) * (rng.random((n, 1)) < 0.6)]
        gram = [matvec(factor, row) for row in factor]
        self.pull([[2 * q for q in matvec(gram, self.x)]], [Q(1)])
        over_columns = [[a / d / e for a, e in zip(row, self.columns, strict=True)] for row, d in zip(gram, self.columns, strict=True)]
        self.parts.append(cp.quad_form(self.variable, cp.psd_wrap(floats(over_columns))))

    def planted(self) -> PlantedProblem:
        """The problem, whose linear term makes the sum of the slopes 0."""
        rng = self.rng
        cost = floats([-s / d for s, d in zip(self.slope, self.columns, strict=True)])
        if cost.any() or not self.parts:
            self.parts.append(cost @ self.variable)
        if rng.random() < 0.3:
            self.parts.append(cp.Constant(float(rng.integers(-4, 5)) / 2))
        total = sum(self.parts[1:], self.parts[0])
        problem = cp.Problem(cp.Maximize(-total) if rng.random() < 0.3 else cp.Minimize(total), self.rows)
        near = [self.x]
        for _ in range(2):
            step = Q(2) ** -int(rng.integers(0, 45))
            near.append([q + step * int(k) for q, k in zip(self.x, rng.integers(-1, 2, size=len(self.x)), strict=True)])
        points: list[dict[int, Exact]] = [{self.variable.id: fractions(self._scaled(x))} for x in near]
        return PlantedProblem(self.kind, problem, points, self.parts, optimal=True)


def _planted(rng: Rng) -> PlantedProblem:
    kind = DRAWN[int(rng.integers(len(DRAWN)))]
    terms, written = KINDS[kind], _Programme(rng, kind)
    if kind == "sparse quadratic":
        written.sparse_form()
    for _ in range(int(rng.integers(1, 3)) if terms else 0):
        written.term(terms)
    if rng.random() < 0.85:
        written.inequalities()
    if rng.random() < 0.5:
        written.equalities()
    if rng.random() < 0.7:
        written.box()
    if terms and rng.random() < 0.4:
        written.limit(terms)
    return written.planted()


def _empty(rng: Rng) -> PlantedProblem:
    """Rows that contradict each other, by as little as 2⁻⁵⁰ of their numbers."""
    n, scale = int(rng.integers(1, 4)), float(_dyadic(rng, 40, 0.5))
    x, apart = cp.Variable(n, name="x"), 2.0 ** -int(rng.choice([1, 20, 30, 40, 50]))
    a, end = rng.integers(1, 4, n).astype(float), float(rng.integers(-1, 2))
    above, below = scale * (end + apart), scale * end
    rows: list[Any] = [
        [x[0] >= above, x[0] <= below],
        [(scale * a) @ x >= above, (scale * a) @ x <= below],
        [(scale * a) @ x == above, (2 * scale * a) @ x == 2 * below],
        [a @ x >= end + apart, cp.norm1(x) <= 1.0, a @ x <= end],
    ][int(rng.integers(4))]
    cost = rng.integers(-3, 4, n).astype(float)
    part = cost @ x if rng.random() < 0.5 else cp.sum_squares(x - cost)
    free: list[Any] = [x >= -9.0, x <= 9.0] if rng.random() < 0.5 else []
    note = BY_A_HAIR if apart < 0.5 else ""
    return PlantedProblem("empty", cp.Problem(cp.Minimize(part), [*rows, *free]), [], [part], empty=True, note=note)


# ── points, multipliers and bases ────────────────────────────────────────────────────────────────────────────────────────────────────────

Leaves = dict[str, Any]


def attacks(
    rng: Rng, point: Leaves, multipliers: Leaves, other_point: Leaves, other_multipliers: Leaves
) -> Iterator[tuple[str, Leaves, Leaves]]:
    """Points and multipliers, random, perturbed and adversarial, by what they are; those of a solver and of another problem are given."""
    size = {name: max(float(np.max(np.abs(u), initial=0.0)), 1.0) for name, u in multipliers.items()}
    zeros = {name: np.zeros_like(u) for name, u in multipliers.items()}

    def moved(values: Leaves, by: float) -> Leaves:
        return {name: v * (1.0 + by * rng.normal(size=np.shape(v))) + by * rng.normal(size=np.shape(v)) for name, v in values.items()}

    def random(values: Leaves) -> Leaves:
        return {name: rng.normal(size=np.shape(v)) * 10.0 ** rng.integers(-6, 7) for name, v in values.items()}

    def of_others(values: Leaves, others: Leaves) -> Leaves:
        numbers = np.concatenate([np.ravel(v) for v in others.values()] or [np.zeros(1)])
        return {name: np.resize(numbers, np.shape(v)) for name, v in values.items()}

    yield "of the solve", point, multipliers
    yield "moved by 1e-3", moved(point, 1e-3), moved(multipliers, 1e-3)
    yield "moved by 1e-9", moved(point, 1e-9), moved(multipliers, 1e-9)
    one = dict(zeros)
    if one:
        name = sorted(one)[int(rng.integers(len(one)))]
        one[name] = multipliers[name]
    yield "of one row alone", point, one
    yield "random", random(point), random(multipliers)
    yield "of the other sign", {name: -v for name, v in point.items()}, {name: -u for name, u in multipliers.items()}
    large = HUGE if rng.random() < 0.8 else 1e300
    yield "huge", {name: large * v for name, v in random(point).items()}, {name: large * u for name, u in random(multipliers).items()}
    yield "0", {name: np.zeros_like(v) for name, v in point.items()}, zeros
    ends = {name: rng.choice([-1.0, 0.0, 1.0], size=np.shape(u)) * size[name] for name, u in multipliers.items()}
    yield "at ends", {name: np.round(v) for name, v in point.items()}, ends
    yield "of another problem", of_others(point, other_point), of_others(multipliers, other_multipliers)


def bases(rng: Rng, linear: LinearProgramme) -> Iterator[SimplexBasis]:
    """The basis that HiGHS ends with, that of other right-hand sides, bases with columns and rows exchanged, and any others."""
    height, n = linear.matrix.shape
    shift = 1.0 + 10.0 ** -rng.integers(1, 12) * rng.normal(size=height)
    other = replace(linear, constants=Interval(linear.constants.mid * shift + (rng.random(height) < 0.3) * rng.normal(size=height)))
    for programme in (linear, other):
        basis = simplex._optimal_basis(programme, None)
        if basis is None:
            continue
        yield basis
        for _ in range(3):
            basic, tight = basis.basic.copy(), basis.tight.copy()
            for mask in (basic, tight):
                for _ in range(int(rng.integers(0, 3))):
                    (inside,), (outside,) = np.nonzero(mask), np.nonzero(~mask)
                    if len(inside) and len(outside):
                        mask[rng.choice(inside)], mask[rng.choice(outside)] = False, True
            yield replace(basis, basic=basic, tight=tight, at_upper=_some(rng, n, float(rng.choice([0.0, 0.3, 1.0]))))
    for _ in range(3):
        k = int(rng.integers(0, min(height, n) + 1))
        yield SimplexBasis(rng.permutation(n) < k, rng.permutation(height) < k, _some(rng, n, float(rng.choice([0.0, 0.5, 1.0]))))


def _some(rng: Rng, n: int, fraction: float) -> Any:
    return rng.random(n) < fraction


def any_multipliers(rng: Rng, linear: LinearProgramme) -> Iterator[Any]:
    """Multipliers of the rows, of any size."""
    height = len(linear.equality)
    yield rng.normal(size=height) * 10.0 ** rng.integers(-12, 13)
    yield np.round(rng.normal(size=height))
    yield np.full(height, rng.choice([-1e300, 1e300, 1e12, 0.0]))


def ugly_system(seed: int) -> tuple[Any, Any, Any, Any]:
    """A square matrix and a right-hand side with their radii: rows nearly twice, of all sizes, and every tenth large with few entries."""
    rng, large = np.random.default_rng([seed, 2]), seed % 10 == 0
    n = int(rng.integers(130, 150)) if large else int(rng.integers(1, 9))
    a = rng.integers(-3, 4, (n, n)).astype(float)
    if large:
        a = a * _some(rng, n * n, float(rng.choice([1.0, 1.5, 3.0])) / n).reshape(n, n) + np.diag(rng.integers(1, 4, n).astype(float))
        a = (np.tril(a) if rng.random() < 0.5 else a)[:, rng.permutation(n)]
    for i, j in rng.integers(n, size=(int(rng.integers(0, 3)), 2)).tolist():
        if i != j:
            a[i] = a[j]
            a[i, int(rng.integers(n))] += 2.0 ** -int(rng.choice([20, 40, 46]))
    largest = int(rng.choice([0, 40, 300]))
    rows, columns = (2.0 ** rng.integers(-largest, largest + 1, n) for _ in range(2))
    a, b = rows[:, None] * a * columns, rows * rng.integers(-3, 4, n) * _some(rng, n, float(rng.choice([0.3, 1.0])))
    uncertain = rng.random() < 0.4
    return a, np.abs(a) * 2.0 ** -int(rng.choice([30, 44, 50])) * uncertain, b, np.abs(b) * 2.0**-40 * uncertain
