"""Random DCP problems whose optimum is planted: a point, slopes of every term there, and a linear term that makes the sum of the slopes 0.

All numbers are fractions with small powers of 2 below, so that the floats of the problem are they, exactly. That the point is optimal is
the subgradient inequality, nothing that is solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction as Q
from typing import Any

import cvxpy as cp
import numpy as np
from exact_values import Exact, Point, value
from flint import fmpq

Rng = np.random.Generator
Vector = list[Q]


@dataclass
class PlantedProblem:
    """A problem, and what is known of it in fractions once `change` has been called.

    points: values of the variables that may be feasible. optimal: whether the first of them is optimal. empty: no point is feasible.
    endless: the objective has no bound. parts: expressions whose sizes are what rounding in floats is measured by.
    """

    kind: str
    problem: cp.Problem
    points: list[Point]
    parts: list[Any]
    optimal: bool = False
    empty: bool = False
    endless: bool = False
    change: Callable[[], None] | None = None
    note: str = ""


def exact_float(x: Q) -> float:
    """The float that a fraction is."""
    found = float(x)
    assert Q(found) == x, f"{x} is no float"
    return found


def floats(values: Any) -> Any:
    """An array of fractions as floats, exactly."""
    given = np.asarray(values, dtype=object)
    found = np.empty(given.shape)
    for at in np.ndindex(given.shape):
        found[at] = exact_float(Q(given[at]))
    return found


def fractions(values: Sequence[Q]) -> Exact:
    """A vector of fractions as the evaluator knows them."""
    return np.array([fmpq(q.numerator, q.denominator) for q in map(Q, values)], dtype=object)


def some(rng: Rng, n: int, low: int = -4, high: int = 4) -> Vector:
    """Small dyadic numbers."""
    return [Q(int(rng.integers(low, high + 1)), int(rng.choice([1, 1, 2, 4]))) for _ in range(n)]


def matrix(rng: Rng, m: int, n: int) -> list[Vector]:
    """Small whole numbers, no row of zeros."""
    rows = [[Q(int(k)) for k in rng.integers(-3, 4, size=n)] for _ in range(m)]
    for row in rows:
        if not any(row):
            row[int(rng.integers(n))] = Q(1)
    return rows


def matvec(rows: list[Vector], x: Vector) -> Vector:
    """A x."""
    return [sum((a * b for a, b in zip(row, x, strict=True)), Q(0)) for row in rows]


# ── data, as numbers or parameters ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Data:
    """Makes constants and parameters with attributes of given numbers, and remembers the parameters."""

    rng: Rng
    fraction: float  # of the data that are parameters
    parameter_values: list[tuple[Any, Any]] = field(default_factory=list)  # parameter, its numbers

    def flip(self, fraction: float = 0.5) -> bool:
        """Whether to."""
        return bool(self.rng.random() < fraction)

    def of(self, numbers: Any, sign: int = 0) -> Any:
        """An expression with these numbers, of a sign that CVXPY knows where one is given."""
        plain = floats(numbers)
        if not self.flip(self.fraction):
            return cp.Constant(plain)
        form = int(self.rng.integers(7))
        if sign and form in (1, 3):
            form = 0
        if form == 1:
            other = self.rng.integers(-2, 3, size=plain.shape).astype(float)
            return self.parameter(plain - other) + self.parameter(other)
        if form == 2:
            return 2 * self.parameter(plain / 2, sign)
        if form == 3:
            return -self.parameter(-plain)
        if form == 4:
            half = np.broadcast_to(2.0 ** self.rng.integers(-1, 2, size=plain.shape), plain.shape).astype(float)
            return cp.multiply(self.parameter(half, abs(sign)), self.parameter(plain / half, sign))
        if form == 5 and plain.ndim == 1:
            longer = np.concatenate([[1.0 if sign >= 0 else -1.0], plain])
            return self.parameter(longer, sign)[1:]
        if form == 6 and plain.ndim == 2:
            return self.parameter(plain.T.copy(), sign).T
        return self.parameter(plain, sign)

    def parameter(self, plain: Any, sign: int = 0) -> Any:
        """One parameter, with an attribute that its numbers have."""
        kept: list[dict[str, Any]] = []
        if np.all(plain >= 0) and sign >= 0:
            kept += [{"nonneg": True}] + [{"pos": True}] * bool(np.all(plain > 0))
        if np.all(plain <= 0) and sign <= 0:
            kept += [{"nonpos": True}] + [{"neg": True}] * bool(np.all(plain < 0))
        if not sign:
            kept += [{}, {"bounds": [np.minimum(plain, 0) * 3 - 1, np.maximum(plain, 0) * 3 + 1]}]
            if np.all(plain == np.round(plain)):
                kept.append({"integer": True})
            if plain.ndim == 2 and plain.shape[0] == plain.shape[1]:
                kept += [{"symmetric": True}] * bool(np.all(plain == plain.T)) * 2
                kept += [{"diag": True}] * bool(np.all(plain == np.diag(np.diag(plain)))) * 2
            if plain.ndim == 2 and np.any(plain) and not np.all(plain):
                kept += [{"sparsity": tuple(np.nonzero(plain))}] * 2
        return self.keep(cp.Parameter(plain.shape, **kept[int(self.rng.integers(len(kept)))]), plain)

    def keep(self, parameter: Any, plain: Any) -> Any:
        """Give a parameter its numbers."""
        put(parameter, plain)
        self.parameter_values.append((parameter, plain))
        return parameter

    def semidefinite(self, factor: list[Vector]) -> tuple[Any, int]:
        """F Fᵀ, and the sign of what is returned: −1 where that is −F Fᵀ."""
        gram = np.array([matvec(factor, row) for row in factor], dtype=object)
        plain, form = floats(gram), int(self.rng.integers(9))
        n = len(plain)
        if not self.flip(self.fraction):
            return (cp.psd_wrap(plain) if self.flip() else cp.Constant(plain)), 1
        if form == 1:
            return self.keep(cp.Parameter((n, n), NSD=True), -plain), -1
        if form == 2:
            return cp.psd_wrap(self.keep(cp.Parameter((n, n), symmetric=True), plain)), 1
        if form == 3:
            return self.keep(cp.Parameter((n, n), PSD=True), plain / 2) + self.keep(cp.Parameter((n, n), PSD=True), plain / 2), 1
        if form == 4:
            return self.keep(cp.Parameter(nonneg=True), np.array(2.0)) * self.keep(cp.Parameter((n, n), PSD=True), plain / 2), 1
        if form == 5:
            larger = np.zeros((n + 1, n + 1))
            larger[:n, :n] = plain
            larger[n, n] = 1.0
            return cp.psd_wrap(self.keep(cp.Parameter((n + 1, n + 1), PSD=True), larger)[:n, :n]), 1
        if form == 6:
            return self.keep(cp.Parameter((n, n), PSD=True), plain).T, 1
        if form == 7:
            return cp.psd_wrap(self.keep(cp.Parameter((n, n)), plain)), 1
        return self.keep(cp.Parameter((n, n), PSD=True), plain), 1


def put(parameter: Any, plain: Any) -> None:
    """Give a parameter these numbers, the way its attributes want them."""
    if parameter.sparse_idx is None:
        parameter.value = np.array(plain, dtype=float)
        return
    import scipy.sparse as sp

    parameter.value_sparse = sp.coo_array(
        (np.asarray(plain, dtype=float)[parameter.sparse_idx], parameter.sparse_idx), shape=parameter.shape
    )


def rewrite(parameter: Any, plain: Any) -> None:
    """Write the numbers into the array that the parameter holds, which CVXPY does not see."""
    if parameter.sparse_idx is not None:
        parameter.value_sparse.data[...] = np.asarray(plain, dtype=float)[parameter.sparse_idx]
    elif np.ndim(plain):
        parameter.value[...] = plain
    else:
        parameter.value = np.array(plain, dtype=float)


# ── terms: (entries of z, z at the point, a slope there, value if it is a fraction, the expression, what makes the slope dyadic) ──────────


@dataclass
class Planted:
    """φ with r and g ∈ ∂φ(r); `unit`·g is dyadic; `value` is φ(r) where that is a fraction."""

    r: Vector
    g: Vector
    value: Q | None
    make: Callable[[Any], Any]
    unit: Q = Q(1)


def _sign(q: Q) -> int:
    return (q > 0) - (q < 0)


def _between(rng: Rng) -> Q:
    return Q(int(rng.integers(-4, 5)), 4)


def _fraction(rng: Rng, count: int) -> Vector:
    """Dyadic weights ≥ 0 that sum to 1."""
    parts = [Q(0)] * count
    for _ in range(4):
        parts[int(rng.integers(count))] += Q(1, 4)
    return parts


def sizes(rng: Rng, data: Data) -> Planted:
    r = [q if rng.random() < 0.6 else Q(0) for q in some(rng, int(rng.integers(1, 4)))]
    g = [Q(_sign(q)) if q else _between(rng) for q in r]
    return Planted(r, g, sum(map(abs, r)), lambda z: cp.norm1(z) if data.flip() else cp.sum(cp.abs(z)))


def hinges(rng: Rng, data: Data) -> Planted:
    r = [q if rng.random() < 0.6 else Q(0) for q in some(rng, int(rng.integers(1, 4)))]
    g = [Q(1) if q > 0 else abs(_between(rng)) if not q else Q(0) for q in r]
    make = lambda z: cp.sum(cp.pos(z)) if data.flip() else cp.sum(cp.maximum(z, data.of(np.zeros(len(r)))))  # noqa: E731
    return Planted(r, g, sum((max(q, Q(0)) for q in r), Q(0)), make)


def largest_size(rng: Rng, data: Data) -> Planted:
    m = int(rng.integers(1, 4))
    top = abs(some(rng, 1)[0])
    r = [top * int(rng.choice([-1, 1])) if rng.random() < 0.6 else top / 2 for _ in range(m)]
    at = [i for i in range(m) if abs(r[i]) == top]
    if not at:
        r[0], at = top, [0]
    weights, g = _fraction(rng, len(at)), [Q(0)] * m
    for i, w in zip(at, weights, strict=True):
        g[i] = w * (_sign(r[i]) if r[i] else int(rng.choice([-1, 0, 1])))
    return Planted(r, g, top, lambda z: cp.norm_inf(z) if data.flip() else cp.max(cp.abs(z)))


def largest_entry(rng: Rng, data: Data) -> Planted:
    m = int(rng.integers(1, 5))
    top = some(rng, 1)[0]
    r = [top if rng.random() < 0.5 else top - abs(some(rng, 1)[0]) for _ in range(m)]
    r[0] = top
    at = [i for i in range(m) if r[i] == top]
    g = [Q(0)] * m
    for i, w in zip(at, _fraction(rng, len(at)), strict=True):
        g[i] = w
    return Planted(r, g, top, lambda z: cp.max(z) if data.flip() else -cp.min(-z))


def largest_sum(rng: Rng, data: Data) -> Planted:
    m = int(rng.integers(2, 5))
    k = int(rng.integers(1, m + 1))
    top = some(rng, 1)[0]
    tied = int(rng.integers(1, m + 1))
    r = [top + 1 + i for i in range(k - 1)][: max(0, k - 1)] + [top] * tied
    r = (r + [top - 1 - i for i in range(m)])[:m]
    above, equal = sum(q > top for q in r), [i for i in range(m) if r[i] == top]
    left = Q(k - above)
    g = [Q(1) if q > top else Q(0) for q in r]
    for i in equal:
        g[i] = min(left, Q(1))
        left -= g[i]
    if len(equal) > 1 and g[equal[0]] == 1 and g[equal[-1]] == 0:
        g[equal[0]], g[equal[-1]] = Q(3, 4), Q(1, 4)
    order = rng.permutation(m)
    r, g = [r[i] for i in order], [g[i] for i in order]
    return Planted(r, g, sum(sorted(r)[::-1][:k]), lambda z: cp.sum_largest(z, k))


def huber(rng: Rng, data: Data) -> Planted:
    threshold = Q(int(rng.integers(1, 5)), 2)
    r = some(rng, int(rng.integers(1, 4)))
    g = [2 * q if abs(q) <= threshold else 2 * threshold * _sign(q) for q in r]
    found = sum((q * q if abs(q) <= threshold else 2 * threshold * abs(q) - threshold**2 for q in r), Q(0))
    m = data.of(np.array(threshold), 1) if data.flip() else exact_float(threshold)
    return Planted(r, g, found, lambda z: cp.sum(cp.huber(z, m)))


def squares(rng: Rng, data: Data) -> Planted:
    r = some(rng, int(rng.integers(1, 5)))
    form, below = int(rng.integers(4)), Q(2) ** int(rng.integers(-2, 3))
    scale = below if form == 3 else Q(1)
    makes = [cp.sum_squares, lambda z: cp.sum(cp.square(z)), lambda z: cp.sum(cp.power(z, 2))]
    t = data.of(np.array(below), 1) if form == 3 else None
    make = (lambda z: cp.quad_over_lin(z, t)) if form == 3 else makes[form]
    return Planted(r, [2 * q / scale for q in r], sum((q * q for q in r), Q(0)) / scale, make)


def form(rng: Rng, data: Data) -> Planted:
    m = int(rng.integers(1, 4))
    factor = matrix(rng, m, int(rng.integers(1, m + 1)))
    r = some(rng, m)
    gram = [matvec(factor, row) for row in factor]
    u = matvec(gram, r)
    given, sign = data.semidefinite(factor)
    make = lambda z: sign * cp.quad_form(z, given)  # noqa: E731
    return Planted(r, [2 * q for q in u], sum((a * b for a, b in zip(r, u, strict=True)), Q(0)), make)


def square_of_hinge(rng: Rng, data: Data) -> Planted:
    r = some(rng, int(rng.integers(1, 4)))
    make = lambda z: cp.sum(cp.square(cp.pos(z)))  # noqa: E731
    return Planted(r, [2 * max(q, Q(0)) for q in r], sum((max(q, Q(0)) ** 2 for q in r), Q(0)), make)


TRIPLES = [(3, 4, 5), (5, 12, 13), (8, 15, 17), (1, 2, 2, 3), (2, 3, 6, 7), (1, 4, 8, 9), (7, 24, 25)]


def euclidean(rng: Rng, data: Data) -> Planted:
    *legs, length = TRIPLES[int(rng.integers(len(TRIPLES)))]
    scale = Q(2) ** int(rng.integers(-2, 2))
    make = lambda z: cp.norm(z, 2)  # noqa: E731
    if rng.random() < 0.2:
        g = [Q(int(k), 4) for k in rng.integers(-2, 3, size=len(legs))]
        return Planted([Q(0)] * len(legs), g, Q(0), make)
    r = [q * scale * int(rng.choice([-1, 1])) for q in map(Q, legs)]
    return Planted(r, [q / (length * scale) for q in r], length * scale, make, Q(length))


def cubes(rng: Rng, data: Data) -> Planted:
    p = int(rng.choice([3, 4]))
    r = [abs(q) for q in some(rng, int(rng.integers(1, 3)), 1, 3)]
    return Planted(r, [p * q ** (p - 1) for q in r], sum((q**p for q in r), Q(0)), lambda z: cp.sum(cp.power(z, p)))


def half_cubes(rng: Rng, data: Data) -> Planted:
    roots = [Q(int(k), 2) for k in rng.integers(1, 5, size=int(rng.integers(1, 3)))]
    r = [q * q for q in roots]
    return Planted(r, [Q(3, 2) * q for q in roots], sum((q**3 for q in roots), Q(0)), lambda z: cp.sum(cp.power(z, 1.5)))


def inverse(rng: Rng, data: Data) -> Planted:
    r = [Q(2) ** int(k) for k in rng.integers(-2, 3, size=int(rng.integers(1, 3)))]
    return Planted(r, [-1 / q**2 for q in r], sum((1 / q for q in r), Q(0)), lambda z: cp.sum(cp.inv_pos(z)))


def minus_root(rng: Rng, data: Data) -> Planted:
    r = [Q(4) ** int(k) for k in rng.integers(-1, 3, size=int(rng.integers(1, 3)))]
    root = [Q(2) ** int(np.log2(float(q)) / 2) for q in r]
    return Planted(r, [-1 / (2 * q) for q in root], -sum(root), lambda z: -cp.sum(cp.sqrt(z)))


def over(rng: Rng, data: Data) -> Planted:
    t = Q(2) ** int(rng.integers(-1, 3))
    r = some(rng, int(rng.integers(1, 3)))
    square = sum((q * q for q in r), Q(0))
    make = lambda z: cp.quad_over_lin(z[:-1], z[-1])  # noqa: E731
    return Planted([*r, t], [2 * q / t for q in r] + [-square / t**2], square / t, make)


def minus_mean(rng: Rng, data: Data) -> Planted:
    a = Q(2) ** int(rng.integers(-1, 3))
    r, g = ([a, a], [Q(-1, 2)] * 2) if rng.random() < 0.5 else ([a, 4 * a], [Q(-1), Q(-1, 4)])
    return Planted(r, g, -a if r[1] == a else -2 * a, lambda z: -cp.geo_mean(z))


def exponentials(rng: Rng, data: Data) -> Planted:
    m = int(rng.integers(1, 3))
    return Planted([Q(0)] * m, [Q(1)] * m, Q(m), lambda z: cp.sum(cp.exp(z)))


def minus_logs(rng: Rng, data: Data) -> Planted:
    r = [Q(2) ** int(k) for k in rng.integers(-2, 3, size=int(rng.integers(1, 3)))]
    return Planted(r, [-1 / q for q in r], None, lambda z: -cp.sum(cp.log(z)))


def logistics(rng: Rng, data: Data) -> Planted:
    m = int(rng.integers(1, 3))
    return Planted([Q(0)] * m, [Q(1, 2)] * m, None, lambda z: cp.sum(cp.logistic(z)))


def log_sum(rng: Rng, data: Data) -> Planted:
    m, at = int(rng.choice([1, 2, 4])), some(rng, 1)[0]
    return Planted([at] * m, [Q(1, m)] * m, None, cp.log_sum_exp)


def minus_entropy(rng: Rng, data: Data) -> Planted:
    m = int(rng.integers(1, 3))
    return Planted([Q(1)] * m, [Q(1)] * m, Q(0), lambda z: -cp.sum(cp.entr(z)))


def divergence(rng: Rng, data: Data) -> Planted:
    a, plain = Q(2) ** int(rng.integers(-1, 3)), bool(rng.random() < 0.5)
    make = lambda z: cp.rel_entr(z[0], z[1]) if plain else cp.kl_div(z[0], z[1])  # noqa: E731
    return Planted([a, a], [Q(1), Q(-1)] if plain else [Q(0), Q(0)], Q(0), make)


POLYHEDRAL = [sizes, hinges, largest_size, largest_entry, largest_sum]
QUADRATIC = [squares, form, huber, square_of_hinge]
CONES = [euclidean, over, minus_mean]
POWERS = [cubes, half_cubes, inverse, minus_root]
EXPONENTIAL = [exponentials, minus_logs, logistics, log_sum, minus_entropy, divergence]
EVERY = POLYHEDRAL + QUADRATIC + CONES + POWERS + EXPONENTIAL


# ── variables ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Unknown:
    """A vector expression of variables, the values of these for a vector, what holds its entries, and its own slopes' share."""

    e: Any
    at: Callable[[Vector], Point]
    low: list[Q | None]
    high: list[Q | None]


def unknown(rng: Rng, data: Data, x: Vector) -> Unknown:
    """Variables with attributes, of which x is a value."""
    n, shape = len(x), int(rng.integers(7))
    low: list[Q | None] = [None] * n
    high: list[Q | None] = [None] * n
    said: dict[str, Any] = {}
    if shape in (0, 1, 2):
        choice = int(rng.integers(5))
        if choice == 1 and min(x) >= 0:
            said, low = {"nonneg": True}, [Q(0)] * n
        elif choice == 2 and max(x) <= 0:
            said, high = {"nonpos": True}, [Q(0)] * n
        elif choice >= 3:
            low = [q - int(rng.integers(0, 2)) * abs(some(rng, 1)[0]) for q in x]
            high = [q + int(rng.integers(1, 4)) for q in x]
            ends = [floats(low), floats(high)]
            if choice == 4:
                parameter_values = [data.keep(cp.Parameter(n), end) if data.flip(data.fraction) else end for end in ends]
                said = {"bounds": parameter_values}
            else:
                said = {"bounds": ends}
    if shape == 0 or (shape in (1, 2) and n < 2):
        v = cp.Variable(n, **said)
        return Unknown(v, lambda y: {v.id: fractions(y)}, low, high)
    if shape == 1:
        v = cp.Variable((n, 1), **{key: [_column(end, n) for end in ends] if key == "bounds" else ends for key, ends in said.items()})
        return Unknown(cp.reshape(v, (n,), order="F"), lambda y: {v.id: fractions(y).reshape(n, 1)}, low, high)
    if shape == 2:
        if not all(isinstance(given, bool) for given in said.values()):
            said, low, high = {}, [None] * n, [None] * n
        k = int(rng.integers(1, n))
        u, v = cp.Variable(k, **said), cp.Variable(n - k, **said)
        return Unknown(cp.hstack([u, v]), lambda y: {u.id: fractions(y[:k]), v.id: fractions(y[k:])}, low, high)
    if shape == 3 and n in (3, 6):
        k = 2 if n == 3 else 3
        v = cp.Variable((k, k), symmetric=True)
        rows, columns = np.triu_indices(k)
        places = [*rows, *columns], [*columns, *rows]  # both sides of the diagonal
        return Unknown(v[rows, columns], lambda y: {v.id: _filled((k, k), list(zip(*places, [*y, *y], strict=True)))}, low, high)
    if shape == 4 and n > 1:
        v = cp.Variable((n, n), diag=True)
        return Unknown(cp.diag(v), lambda y: {v.id: _filled((n, n), [(i, i, q) for i, q in enumerate(y)])}, low, high)
    if shape == 5:
        places = np.sort(rng.choice((n + 1) ** 2, size=n, replace=False))
        rows, columns = np.unravel_index(places, (n + 1, n + 1))
        v = cp.Variable((n + 1, n + 1), sparsity=(rows, columns))
        return Unknown(v[rows, columns], lambda y: {v.id: _filled((n + 1, n + 1), list(zip(rows, columns, y, strict=True)))}, low, high)
    if n % 2 == 0:
        v = cp.Variable((2, n // 2))
        return Unknown(cp.vec(v, order="F"), lambda y: {v.id: fractions(y).reshape((2, n // 2), order="F")}, low, high)
    v = cp.Variable(n)
    return Unknown(v, lambda y: {v.id: fractions(y)}, low, high)


def _column(end: Any, n: int) -> Any:
    return cp.reshape(end, (n, 1), order="F") if isinstance(end, cp.Expression) else end.reshape(n, 1)


def _filled(shape: tuple[int, int], entries: list[tuple[int, int, Q]]) -> Exact:
    found = np.full(shape, fmpq(0), dtype=object)
    for i, j, q in entries:
        found[i, j] = fmpq(q.numerator, q.denominator)
    return found


# ── affine maps ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def affine(rng: Rng, data: Data, rows: list[Vector], right: Vector, x: Any) -> Any:
    """A x − b, written in one of many ways."""
    m, n, way = len(rows), len(rows[0]), int(rng.integers(9))
    a = np.array(rows, dtype=object).reshape(m, n)
    b = np.array(right, dtype=object)
    if way == 1:
        return x @ data.of(a.T) - data.of(b)
    if way == 2:
        return cp.hstack([data.of(a[i]) @ x - data.of(b[i : i + 1]) for i in range(m)])
    if way == 3:
        return cp.sum(cp.multiply(data.of(a), cp.reshape(x, (1, n), order="F")), axis=1) - data.of(b)
    if way == 4:
        order = rng.permutation(n)
        return data.of(a[:, order]) @ x[order] - data.of(b)
    if way == 5:
        other = np.array(matrix(rng, m, n), dtype=object).reshape(m, n)
        return data.of(a - other) @ x + data.of(other) @ x - data.of(b)
    if way == 6:
        return -(data.of(b) - data.of(a) @ x)
    if way == 7:
        column = data.of(a) @ cp.reshape(x, (n, 1), order="F") - data.of(b.reshape(m, 1))
        return cp.vec(column, order="F")
    if way == 8:
        steps = np.array([[row[j] - row[j + 1] if j + 1 < n else row[j] for j in range(n)] for row in rows], dtype=object).reshape(m, n)
        return data.of(steps) @ cp.cumsum(x) - data.of(b)  # Σ (a_j − a_{j+1}) (x_1 + … + x_j)
    return data.of(a) @ x - data.of(b)


# ── whole problems ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def random_problem(
    rng: Rng, kind: str, terms: list[Any], fraction: float, zero: bool = False, tight: bool = False
) -> tuple[PlantedProblem, Data]:
    """A problem of these terms with a planted optimum, and its data.

    zero: the optimum is 0. tight: rows come in pairs that leave no room.
    """
    data = Data(rng, fraction)
    n = int(rng.integers(1, 7))
    x = some(rng, n)
    if rng.random() < 0.3:
        x = [abs(q) for q in x]
    own = unknown(rng, data, x)
    slope, parts, rows, best = [Q(0)] * n, [], [], Q(0)
    defined: list[tuple[Any, Any]] = []  # variables that others define, and their expressions
    rational = True

    def drawn(pick: list[Any]) -> tuple[Planted, list[Vector], Any]:
        term = pick[int(rng.integers(len(pick)))](rng, data)
        a = matrix(rng, len(term.r), n)
        right = [p - q for p, q in zip(matvec(a, x), term.r, strict=True)]
        z = affine(rng, data, a, right, own.e)
        if rng.random() < 0.15:
            y = cp.Variable(len(term.r))
            defined.append((y, z))
            rows.append(y == z)
            z = y
        return term, a, z

    def pull(a: list[Vector], g: Vector, w: Q) -> None:
        for row, q in zip(a, g, strict=True):
            for j in range(n):
                slope[j] += w * q * row[j]

    for _ in range(int(rng.integers(1, 4))):
        term, a, z = drawn(terms)
        w = term.unit * Q(2) ** int(rng.integers(-2, 3))
        pull(a, term.g, w)
        weighted = data.of(np.array(w), 1) * term.make(z)
        if term.value is None:
            rational = False
        else:
            best += w * term.value
            if rng.random() < 0.15:
                t = cp.Variable()
                defined.append((t, weighted))
                rows.append(weighted <= t)
                weighted = t
        parts.append(weighted)
    for _ in range(int(rng.integers(0, 3))):
        term, a, z = drawn([each for each in EVERY if each not in EXPONENTIAL] if rng.random() < 0.5 else POLYHEDRAL)
        active = bool(rng.random() < 0.7)
        assert term.value is not None
        if active:
            pull(a, term.g, term.unit * Q(int(rng.integers(0, 5)), 2))
        limit = term.value + (0 if active else Q(int(rng.integers(1, 4))))
        right = data.of(np.array(limit))
        if isinstance(made := term.make(z), cp.Pnorm) and rng.random() < 0.5:
            rows.append(cp.SOC(right, z))
        else:
            rows.append([made <= right, right >= made, made - right <= 0][int(rng.integers(3))])
    if rng.random() < 0.3 or tight:
        a = matrix(rng, 1, n)
        pull(a, some(rng, 1), Q(1))
        e, right = affine(rng, data, a, [Q(0)], own.e), matvec(a, x)
        rows += [e <= data.of(np.array(right)), e >= data.of(np.array(right))] if tight else [e == data.of(np.array(right))]
    for j in range(n):  # bounds that are active take a share
        held_low, held_high = own.low[j] == x[j], own.high[j] == x[j]
        if held_low and rng.random() < 0.7:
            slope[j] -= abs(some(rng, 1)[0])
        elif held_high and rng.random() < 0.7:
            slope[j] += abs(some(rng, 1)[0])
    if rng.random() < 0.3:  # a square takes what the slopes leave, in place of a linear term
        scale = [Q(2) ** int(k) for k in rng.integers(-1, 2, size=n)]
        right = [d * q + s / (2 * d) for d, q, s in zip(scale, x, slope, strict=True)]  # 2 d (d x − e) = −slope
        diagonal = np.array([[scale[i] if i == j else Q(0) for j in range(n)] for i in range(n)], dtype=object).reshape(n, n)
        parts.append(cp.sum_squares(data.of(diagonal) @ own.e - data.of(np.array(right, dtype=object))))
        best += sum((s * s / (4 * d * d) for d, s in zip(scale, slope, strict=True)), Q(0))
    elif any(slope):
        parts.append(data.of(np.array([-s for s in slope], dtype=object)) @ own.e)
        best -= sum((s * q for s, q in zip(slope, x, strict=True)), Q(0))
    offset = -best if zero and rational else some(rng, 1)[0] if rng.random() < 0.3 else Q(0)
    if offset:
        parts.append(data.of(np.array(offset)))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    problem = cp.Problem(cp.Maximize(-total) if rng.random() < 0.35 else cp.Minimize(total), rows)

    def at(y: Vector) -> Point:
        found = dict(own.at(y))
        for v, e in defined:
            found[v.id] = np.asarray(value(e, found), dtype=object)
        return found

    near = [x]
    for _ in range(3):
        step = Q(2) ** -int(rng.integers(0, 8))
        near.append([q + step * int(k) for q, k in zip(x, rng.integers(-1, 2, size=n), strict=True)])
    points = []
    for y in near:
        try:
            points.append(at(y))
        except (ArithmeticError, ZeroDivisionError):
            continue
    return PlantedProblem(kind, problem, points, parts, optimal=True), data


def changed(rng: Rng, case: PlantedProblem, data: Data, in_place: bool) -> PlantedProblem:
    """The same problem, whose parameters hold other numbers until `change` is called."""
    final = list(data.parameter_values)
    for parameter, plain in final:
        factor = 2.0 if parameter.attributes["integer"] or rng.random() < 0.5 else 0.5
        if parameter.ndim == 0 or parameter.sparse_idx is not None or rng.random() < 0.7:
            put(parameter, plain * factor)

    def change() -> None:
        for parameter, plain in final:
            (rewrite if in_place else put)(parameter, plain)

    case.change = change if final else None
    return case
