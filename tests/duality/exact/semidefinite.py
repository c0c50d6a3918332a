"""Random semidefinite problems whose optimum is known by construction: planted pairs X = BBᵀ and S = NNᵀ with BᵀN = 0.

All data are small whole numbers times powers of two, so that the floats of a problem are they, exactly. Multipliers that are planted prove
the optimum by weak duality. Some problems have no interior on the primal side, on the dual side, or on both; some have no optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as Q
from typing import Any

import cvxpy as cp
import numpy as np
from assessed import Truth
from exact_values import PRECISION, high, low
from flint import arb, ctx, fmpq, fmpq_mat, fmpz_mat
from planted import floats

Rng = np.random.Generator
Matrix = Any  # an array of fractions
SKEWED = 0.3  # the fraction of problems whose matrices are not symmetric


@dataclass
class PlantedMatrices:
    """A problem of matrices, and what its infimum or supremum is: a fraction, an enclosure, or ±∞.

    size: what the objective's parts are in size near an optimal point.
    """

    kind: str
    problem: cp.Problem
    optimum: Any
    size: Q = Q(1)
    note: str = ""


class KnownOptimum(Truth):
    """What is known of a problem of matrices, as the truth that bounds are compared with."""

    def __init__(self, drawn: PlantedMatrices) -> None:
        self.maximises = isinstance(drawn.problem.objective, cp.Maximize)
        self.points, self.size = [], drawn.size
        if isinstance(drawn.optimum, float):
            self.least = self.reached = -drawn.optimum if self.maximises else drawn.optimum
            return
        ends = [drawn.optimum] * 2 if isinstance(drawn.optimum, Q) else [low(drawn.optimum), high(drawn.optimum)]
        self.least, self.reached = (-ends[1], -ends[0]) if self.maximises else ends


# ── matrices of fractions ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def whole(rng: Rng, shape: tuple[int, ...], largest: int = 2) -> Matrix:
    """Whole numbers."""
    return _fractions(rng.integers(-largest, largest + 1, shape))


def _fractions(values: Any) -> Matrix:
    given = np.asarray(values)
    out = np.empty(given.shape, dtype=object)
    for at in np.ndindex(given.shape):
        out[at] = Q(int(given[at]))
    return out


def unit(n: int) -> Matrix:
    """The identity."""
    return _fractions(np.eye(n, dtype=int))


def inner(a: Matrix, b: Matrix) -> Q:
    """⟨A, B⟩."""
    return sum((p * q for p, q in zip(np.ravel(a), np.ravel(b), strict=True)), Q(0))


def sizes(a: Matrix, b: Matrix) -> Q:
    """⟨|A|, |B| + 1⟩: a solver's point is not exactly 0 where B is."""
    return inner(np.abs(a), np.abs(b) + 1)


def symmetric(rng: Rng, n: int) -> Matrix:
    """A symmetric matrix of whole numbers, often with few entries."""
    a = np.tril(whole(rng, (n, n))) * _fractions(rng.random((n, n)) < rng.choice([0.3, 1.0]))
    return a + a.T


def skew(rng: Rng, n: int) -> Matrix:
    """A matrix A = −Aᵀ of whole numbers."""
    a = np.tril(whole(rng, (n, n)), -1)
    return a - a.T


def null_space(b: Matrix) -> Matrix:
    """Whole columns that span the null space of Bᵀ."""
    n, r = b.shape
    if not r:
        return unit(n)
    basis, rank = fmpz_mat(r, n, [int(q) for q in np.ravel(b.T)]).nullspace()
    return _fractions([[int(basis[i, j]) for j in range(rank)] for i in range(n)]).reshape(n, rank)


def inverse(a: Matrix) -> Matrix:
    """A⁻¹."""
    n = len(a)
    solved = fmpq_mat(n, n, [fmpq(q.numerator, q.denominator) for q in np.ravel(a)]).inv()
    out = np.empty((n, n), dtype=object)
    for at in np.ndindex(n, n):
        out[at] = Q(int(solved[at].p), int(solved[at].q))
    return out


def determinant(a: Matrix) -> Q:
    """det A."""
    found = fmpq_mat(len(a), len(a), [fmpq(q.numerator, q.denominator) for q in np.ravel(a)]).det()
    return Q(int(found.p), int(found.q))


def definite(rng: Rng, n: int) -> Matrix:
    """A definite matrix of whole numbers, whose inverse has whole numbers too in half of the draws."""
    lower = np.tril(whole(rng, (n, n)), -1) + unit(n)
    return lower @ lower.T + (unit(n) if rng.random() < 0.5 else 0)


def planted_pair(rng: Rng, n: int) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """X ⪰ 0, S ⪰ 0 with XS = 0, and whole columns that span the range and the null space of X."""
    b = whole(rng, (n, int(rng.integers(0, n + 1))))
    free = null_space(b)
    factor = free @ whole(rng, (free.shape[1], int(rng.integers(0, free.shape[1] + 1))), 1)
    return b @ b.T, factor @ factor.T, b, free


def orthogonal(rng: Rng, n: int) -> list[Matrix]:
    """Orthogonal vectors whose squares are powers of two; the squares are the same in each draw of a kind."""
    plain = unit(n)
    pair = _fractions([[1, 1], [1, -1]])
    at = 0
    while at + 1 < n:
        plain[at : at + 2, at : at + 2] = pair
        at += 2
    if n == 4 and rng.random() < 0.5:
        plain = np.kron(pair, pair)
    return list(plain[rng.permutation(n)].T)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def dyadic(rng: Rng, largest: int) -> Q:
    """A power of two."""
    return Q(2) ** int(rng.integers(-largest, largest + 1))


def written_inner(rng: Rng, a: Matrix, x: Any) -> Any:
    """⟨A, X⟩ in CVXPY's functions."""
    plain = floats(a)
    draw = int(rng.integers(4))
    if draw == 0:
        return cp.trace(plain.T @ x)
    if draw == 1:
        return cp.sum(cp.multiply(plain, x))
    if draw == 2:
        return plain.reshape(-1, order="F") @ cp.vec(x, order="F")
    return cp.trace(cp.Parameter(plain.shape, value=plain).T @ x)


def written_cone(rng: Rng, z: Any, n: int) -> list[Any]:
    """Rows that say Z ⪰ 0."""
    draw = int(rng.integers(7))
    if draw == 0:
        return [z >> 0]
    if draw == 1:
        return [-z << 0]
    if draw == 2:
        twist = floats(np.tril(whole(rng, (n, n)), -1) + unit(n))
        return [twist @ z @ twist.T >> 0]
    if draw == 3:
        tall = floats(np.concatenate([unit(n), whole(rng, (1, n))]))
        return [tall @ z @ tall.T >> 0]
    if draw == 4:
        return [cp.kron(np.array([[2.0, 1.0], [1.0, 2.0]]), z) >> 0]
    if draw == 5:
        shift = floats(symmetric(rng, n))
        return [z + shift >> shift]
    return [cp.bmat([[z, np.zeros((n, 1))], [np.zeros((1, n)), np.ones((1, 1))]]) >> 0]


def matrix_variable(rng: Rng, n: int, name: str, skewed: bool) -> tuple[Any, list[Any]]:
    """An expression of a matrix X ⪰ 0, and its rows."""
    if skewed:
        x = cp.Variable((n, n), name=name)
        return x, written_cone(rng, x, n)
    draw = int(rng.integers(4))
    if draw == 0:
        return cp.Variable((n, n), name=name, PSD=True), []
    if draw == 1:
        return -cp.Variable((n, n), name=name, NSD=True), []
    x = cp.Variable((n, n), name=name, symmetric=True)
    return x, written_cone(rng, x, n)


def posed(rng: Rng, kind: str, total: Any, rows: list[Any], optimum: Any, size: Q, note: str = "") -> PlantedMatrices:
    """The problem of a minimum, times a power of two, and sometimes as a maximum."""
    scale = dyadic(rng, 30) if rng.random() < 0.2 else Q(1)
    sign = -1 if rng.random() < 0.3 else 1
    wanted = float(sign * scale) * total if (sign, scale) != (1, 1) else total
    objective = cp.Maximize(wanted) if sign < 0 else cp.Minimize(wanted)
    if isinstance(optimum, float):
        exact: Any = sign * optimum
    elif isinstance(optimum, Q):
        exact = sign * scale * optimum
    else:
        exact = optimum * fmpq(sign * scale.numerator, scale.denominator)
    order = rng.permutation(len(rows))
    return PlantedMatrices(kind, cp.Problem(objective, [rows[i] for i in order]), exact, scale * size, note)


# ── problems of matrices ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def standard(rng: Rng) -> PlantedMatrices:
    """min ⟨C, X⟩ with rows ⟨A_i, X⟩ = b_i or ≤ b_i, fixed entries, bounds of entries and faces, for one matrix or two."""
    notes = []
    blocks = 1 if rng.random() < 0.75 else 2
    ns = [int(rng.integers(2, 6 if blocks == 1 else 4)) for _ in range(blocks)]
    skewed = rng.random() < SKEWED
    pairs = [planted_pair(rng, n) for n in ns]
    xs = [pair[0] + (skew(rng, n) if skewed else 0) for pair, n in zip(pairs, ns, strict=True)]
    costs = [pair[1] for pair in pairs]
    ds = [np.diag([dyadic(rng, 15) for _ in range(n)]) if rng.random() < 0.2 else unit(n) for n in ns]
    inverses = [np.diag([1 / d[j, j] for j in range(len(d))]) for d in ds]
    written = [matrix_variable(rng, n, f"X{k}", skewed) for k, n in enumerate(ns)]
    rows = [row for _, each in written for row in each]

    def left(parts: list[Matrix], scale: Q = Q(1)) -> Any:
        return sum(written_inner(rng, scale * e @ a @ e, x) for a, (x, _), e in zip(parts, written, inverses, strict=True))

    def value(parts: list[Matrix]) -> Q:
        return sum((inner(a, x) for a, x in zip(parts, xs, strict=True)), Q(0))

    def pull(parts: list[Matrix], multiplier: Q) -> None:
        for k, a in enumerate(parts):
            costs[k] = costs[k] + multiplier * a

    flat = rng.random() < 0.25  # a direction along which the solutions, or all points, have no end
    axes = [pair[2][:, 0] if flat and pair[2].shape[1] else np.array([Q(0)] * n, dtype=object) for pair, n in zip(pairs, ns, strict=True)]
    if flat:
        notes.append("dual face")

    def drawn(k: int) -> Matrix:
        a = symmetric(rng, ns[k]) + (skew(rng, ns[k]) if skewed else 0)
        w = axes[k]
        square = inner(w, w)
        return a if not square else square**2 * a - inner(w, a @ w) * np.outer(w, w)

    equalities = []
    for _ in range(int(rng.integers(0, 4))):
        parts = [drawn(k) for k in range(blocks)]
        equalities.append(parts)
        scale = dyadic(rng, 20) if rng.random() < 0.2 else Q(1)
        pull(parts, Q(int(rng.integers(-3, 4))))
        rows.append(left(parts, scale) == floats([scale * value(parts)])[0])
    if equalities and rng.random() < 0.3:
        notes.append("redundant")
        parts = [sum((int(rng.integers(-2, 3)) * a[k] for a in equalities), 0 * equalities[0][k]) for k in range(blocks)]
        parts = [equalities[0][k] * 2 for k in range(blocks)] if rng.random() < 0.5 else parts
        combined = [np.asarray(a, dtype=object) for a in parts]
        rows.append(left(combined) == floats([value(combined)])[0])
    for _ in range(int(rng.integers(0, 3))):
        parts, slack = [drawn(k) for k in range(blocks)], Q(int(rng.choice([0, 0, 1, 4])))
        pull(parts, -Q(int(rng.integers(0, 3))) if not slack else Q(0))
        rows.append(left(parts) <= floats([value(parts) + slack])[0])
    for k, n in enumerate(ns):
        x, _ = written[k]
        if rng.random() < 0.35 and not flat:
            notes.append("fixed")
            own = floats(ds[k] @ xs[k] @ ds[k])
            y = whole(rng, (n, n))
            draw = int(rng.integers(3))
            if draw == 0:
                pull([np.diag(np.diag(y)) if j == k else 0 * costs[j] for j in range(blocks)], Q(1))
                rows.append(cp.diag(x) == np.diag(own))
            elif draw == 1:
                mask = _fractions(rng.random((n, n)) < 0.4)
                mask = mask if skewed or rng.random() < 0.5 else np.maximum(mask, mask.T)
                pull([y * mask if j == k else 0 * costs[j] for j in range(blocks)], Q(1))
                rows.append(cp.multiply(floats(mask), x) == floats(mask) * own)
            else:
                i, j = (int(q) for q in rng.integers(n, size=2))
                y[:] = y * _fractions(np.outer(np.arange(n) == i, np.arange(n) == j))
                pull([y if j == k else 0 * costs[j] for j in range(blocks)], Q(1))
                rows.append(x[i, j] == own[i, j])
        if rng.random() < 0.2 and not flat:
            notes.append("bounds")
            y = np.abs(whole(rng, (n, n)))
            slack = np.abs(whole(rng, (n, n), 1))
            y = np.where(slack == 0, y, Q(0))
            pull([y if j == k else 0 * costs[j] for j in range(blocks)], Q(1))
            rows.append(x >= floats(ds[k] @ (xs[k] - slack) @ ds[k]))
        free = pairs[k][3]
        if rng.random() < 0.25 and free.shape[1]:
            notes.append("primal face")
            v = free[:, 0]
            rows.append(written_inner(rng, inverses[k] @ np.outer(v, v) @ inverses[k], x) == 0)
            pull([np.outer(v, v) if j == k else 0 * costs[j] for j in range(blocks)], Q(int(rng.integers(-3, 2))))
            if rng.random() < 0.5:  # Xv = 0 for every feasible X, yet no multiplier proves it
                notes.append("no dual point")
                a = whole(rng, (ns[k],))
                pull([np.outer(a, v) + np.outer(v, a) if j == k else 0 * costs[j] for j in range(blocks)], Q(1))
    constant = Q(int(rng.integers(-4, 5)), 2)
    size = sum((sizes(c, x) for c, x in zip(costs, xs, strict=True)), abs(constant))
    return posed(rng, "standard", left(costs) + float(constant), rows, value(costs) + constant, size, ", ".join(dict.fromkeys(notes)))


# ── functions of Z(x) = F₀ + Σ x_i F_i ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class PlantedFunction:
    """φ(Z), its value and a slope G at a planted Z; the weight is in all of them.

    symmetric: whether CVXPY demands it of Z. folded: whether Z counts as its symmetric part.
    """

    z: Matrix
    slope: Matrix
    value: Any
    make: Callable[[Any], Any]
    symmetric: bool = True
    folded: bool = False
    cone: bool = False


def _cone(rng: Rng) -> PlantedFunction:
    n = int(rng.integers(1, 5))
    z, dual, _, _ = planted_pair(rng, n)
    return PlantedFunction(z, -dual, Q(0), lambda e: written_cone(rng, e, n), False, True, True)


def _values_and_weights(rng: Rng, n: int, k: Q) -> tuple[list[Q], list[Q]]:
    """Falling eigenvalues, many of them tied, and weights in [0, 1] of sum k of the largest ones."""
    values = sorted((Q(int(v)) for v in rng.integers(-2, 3, n)), reverse=True)
    weights, rest = [Q(0)] * n, k
    for j in range(n):
        weights[j] = min(Q(1), rest)
        rest -= weights[j]
    for i in range(n - 1):
        if values[i] == values[i + 1] and rng.random() < 0.7:
            weights[i] = weights[i + 1] = (weights[i] + weights[i + 1]) / 2
    return values, weights


def _projectors(rng: Rng, n: int) -> list[Matrix]:
    return [np.outer(v, v) / inner(v, v) for v in orthogonal(rng, n)]


def _eigenvalues(rng: Rng) -> PlantedFunction:
    n = int(rng.integers(2, 6))
    k = Q(1) if rng.random() < 0.5 else Q(int(rng.integers(1, 2 * n)), 2)
    values, weights = _values_and_weights(rng, n, k)
    each = _projectors(rng, n)
    z = sum(v * p for v, p in zip(values, each, strict=True))
    slope = sum(w * p for w, p in zip(weights, each, strict=True))
    size = inner(z, slope)
    if k == 1 and rng.random() < 0.7:
        return PlantedFunction(z, slope, size, cp.lambda_max if rng.random() < 0.5 else lambda e: -cp.lambda_min(-e))
    return PlantedFunction(z, slope, size, lambda e: cp.lambda_sum_largest(e, float(k)))


def _singular_values(rng: Rng) -> PlantedFunction:
    n = int(rng.integers(2, 5))
    state = rng.bit_generator.state
    left = orthogonal(rng, n)
    rng.bit_generator.state = state
    right = [v[::-1] for v in orthogonal(rng, n)]
    values = sorted((Q(int(v)) for v in rng.integers(0, 3, n)), reverse=True)
    each = [np.outer(u, v) / inner(v, v) for u, v in zip(left, right, strict=True)]
    z = sum(v * p for v, p in zip(values, each, strict=True))
    if rng.random() < 0.5:
        tied = [j for j in range(n) if values[j] == values[0]]
        first, second = tied[0], tied[-1]
        slope = (each[first] + each[second]) / 2 if values[0] else each[0] * int(rng.integers(-1, 2))
        return PlantedFunction(z, slope, values[0], cp.sigma_max, False)
    slope = sum(p * (Q(1) if v else Q(int(rng.integers(-2, 3)), 2)) for v, p in zip(values, each, strict=True))
    return PlantedFunction(z, slope, sum(values, Q(0)), cp.normNuc, False)


def _logarithm(x: Q) -> Any:
    ctx.prec = PRECISION
    return arb(fmpq(x.numerator, x.denominator)).log()


def _log_det(rng: Rng) -> PlantedFunction:
    n = int(rng.integers(1, 5))
    z = definite(rng, n)
    weight = determinant(z)
    value = -_logarithm(weight) * int(weight)
    return PlantedFunction(z, -weight * inverse(z), value, lambda e: -float(weight) * cp.log_det(e), False, True)


def _tr_inv(rng: Rng) -> PlantedFunction:
    n = int(rng.integers(1, 4))
    z = definite(rng, n)
    weight, inverted = determinant(z) ** 2, inverse(z)
    return PlantedFunction(z, -weight * inverted @ inverted, weight * np.trace(inverted), lambda e: float(weight) * cp.tr_inv(e))


FUNCTIONS = (_cone, _cone, _cone, _eigenvalues, _eigenvalues, _singular_values, _log_det, _tr_inv)


def _total(values: list[Any]) -> Any:
    """A sum of fractions and enclosures."""
    exact = sum((v for v in values if isinstance(v, Q)), Q(0))
    others = [v for v in values if not isinstance(v, Q)]
    if not others:
        return exact
    ctx.prec = PRECISION
    return sum(others, arb(fmpq(exact.numerator, exact.denominator)))


def affine(rng: Rng) -> PlantedMatrices:
    """Functions and cones of matrices that are affine in a vector x, as terms of the objective or as rows φ(Z(x)) ≤ b."""
    m = int(rng.integers(1, 5))
    x = cp.Variable(m, name="x")
    planted = [Q(int(k)) for k in rng.integers(-2, 3, m)]
    scale = [dyadic(rng, 15) if rng.random() < 0.1 else Q(1) for _ in range(m)]
    cost, values, parts, rows, size, notes = [Q(0)] * m, [], [], [], Q(0), []
    for _ in range(int(rng.integers(1, 4))):
        drawn = FUNCTIONS[int(rng.integers(len(FUNCTIONS)))](rng)
        n = len(drawn.z)
        skewed = rng.random() < SKEWED and n > 1
        matrices = [whole(rng, (n, n)) if skewed or (not drawn.symmetric and not drawn.cone) else symmetric(rng, n) for _ in range(m)]
        z, slope = drawn.z, drawn.slope
        if skewed:
            notes.append("unsymmetric")
            if drawn.folded:
                z = z + skew(rng, n)
            elif drawn.symmetric:
                slope = slope + skew(rng, n)
        first = z - sum(q * a for q, a in zip(planted, matrices, strict=True))
        if rng.random() < 0.5:
            argument: Any = floats(first) + sum(x[i] * floats(a / s) for i, (a, s) in enumerate(zip(matrices, scale, strict=True)))
        else:
            stacked = floats(np.array([np.ravel(a / s, order="F") for a, s in zip(matrices, scale, strict=True)], dtype=object).T)
            argument = cp.reshape(stacked @ x, (n, n), order="F") + floats(first)
        made = drawn.make(argument)
        active = Q(1)
        if drawn.cone:
            rows += made
        elif isinstance(drawn.value, Q) and rng.random() < 0.35:
            active = Q(int(rng.integers(0, 3)))
            try:
                limit = floats([drawn.value + (0 if active else 1)])[0]
            except AssertionError:
                limit, active = math.ceil(drawn.value), Q(0)
            rows.append(made <= limit)
        else:
            parts.append(made)
            values.append(drawn.value)
            size += abs(drawn.value if isinstance(drawn.value, Q) else high(drawn.value))
        size += active * sizes(first, slope)
        for i, a in enumerate(matrices):
            cost[i] -= active * inner(a, slope)
    for _ in range(int(rng.integers(0, 3))):
        a, y = whole(rng, (m,)), Q(int(rng.integers(-2, 3)))
        slack = Q(int(rng.choice([0, 1])))
        left, right = floats(np.array([q / s for q, s in zip(a, scale, strict=True)], dtype=object)) @ x, inner(a, planted)
        if rng.random() < 0.5:
            rows.append(left == float(right))
        else:
            rows.append(left <= float(right + slack))
            y = Q(0) if slack else -abs(y)
        for i in range(m):
            cost[i] += y * a[i]
    own = floats(np.array([c / s for c, s in zip(cost, scale, strict=True)], dtype=object))
    values.append(sum((c * q for c, q in zip(cost, planted, strict=True)), Q(0)))
    size += sum((abs(c * q) for c, q in zip(cost, planted, strict=True)), Q(0))
    return posed(rng, "affine", sum(parts[1:], parts[0]) + own @ x if parts else own @ x, rows, _total(values), size, ", ".join(notes[:1]))


def barrier(rng: Rng) -> PlantedMatrices:
    """min ⟨S, X⟩ + φ(X) for one matrix X, whose optimum is known in closed form."""
    n = int(rng.integers(1, 5))
    draw = int(rng.integers(4))
    attributes = [{"PSD": True}, {"symmetric": True}][int(rng.integers(2))]
    x = cp.Variable((n, n), name="X", **attributes)
    if draw == 0:
        s = definite(rng, n)
        optimum, function = _total([Q(n), _logarithm(determinant(s))]), -cp.log_det(x)
    elif draw == 1:
        root = definite(rng, n)
        s, optimum, function = root @ root, 2 * np.trace(root), cp.tr_inv(x)
    elif draw == 2:
        at, y = definite(rng, n), whole(rng, (n, int(rng.integers(1, 3))))
        a = at @ y
        s, optimum, function = y @ y.T, 2 * inner(a, y), cp.matrix_frac(floats(a), x)
    else:
        exponents = [Q(int(k), 2) for k in rng.integers(-4, 5, n)]
        s = sum(q * p for q, p in zip(exponents, _projectors(rng, n), strict=True))
        ctx.prec = PRECISION
        optimum = -sum((arb(fmpq(-q.numerator, q.denominator) - 1).exp() for q in exponents), arb(0))
        function = -cp.von_neumann_entr(x)
    rows = written_cone(rng, x, n) if rng.random() < 0.2 else []
    total = written_inner(rng, np.asarray(s, dtype=object), x) + function
    size = 2 * abs(optimum if isinstance(optimum, Q) else high(optimum)) + n
    return posed(rng, "barrier", total, rows, optimum, size, ["log_det", "tr_inv", "matrix_frac", "entropy"][draw])


def hermitian(rng: Rng) -> PlantedMatrices:
    """A planted pair of Hermitian matrices, whose real forms are [[A, −B], [B, A]]."""
    n = int(rng.integers(2, 4))
    b = whole(rng, (n, int(rng.integers(1, n)), 2), 1)
    real, imaginary = b[..., 0], b[..., 1]
    both = np.block([[real, -imaginary], [imaginary, real]])
    free = null_space(both)
    half = free[:, : free.shape[1] // 2]
    v, w = half[:n], half[n:]  # (v, w) in the null space means that v + iw is orthogonal to all columns

    def gram(p: Matrix, q: Matrix) -> tuple[Matrix, Matrix]:
        return p @ p.T + q @ q.T, q @ p.T - p @ q.T

    x, s = gram(real, imaginary), gram(v, w)
    variable = cp.Variable((n, n), name="X", hermitian=True)
    rows: list[Any] = [variable >> 0]

    def left(a: tuple[Matrix, Matrix]) -> Any:
        return cp.real(cp.trace((floats(a[0]) + 1j * floats(a[1])) @ variable))

    def value(a: tuple[Matrix, Matrix]) -> Q:
        """Re tr AX, for A and X Hermitian ⟨Re A, Re X⟩ + ⟨Im A, Im X⟩."""
        return inner(a[0], x[0]) + inner(a[1], x[1])

    cost = s
    for _ in range(int(rng.integers(0, 4))):
        a = (symmetric(rng, n), skew(rng, n))
        y = int(rng.integers(-2, 3))
        cost = (cost[0] + y * a[0], cost[1] + y * a[1])
        rows.append(left(a) == float(value(a)))
    if rng.random() < 0.4:
        y = whole(rng, (n,))
        cost = (cost[0] + np.diag(y), cost[1])
        rows.append(cp.real(cp.diag(variable)) == floats(np.diag(x[0])))
    return posed(rng, "hermitian", left(cost), rows, value(cost), sizes(cost[0], x[0]) + sizes(cost[1], x[1]))


# ── no optimum, and optima that are not attained ─────────────────────────────────────────────────────────────────────────────────────────


def empty(rng: Rng) -> PlantedMatrices:
    """No feasible point: by a combination of rows that is semidefinite, by as little as 2⁻⁴⁰, or with no such combination."""
    n = int(rng.integers(2, 5))
    x, rows = matrix_variable(rng, n, "X", rng.random() < SKEWED)
    draw = int(rng.integers(4))
    if draw == 3:  # [[x, 1], [1, 0]] ⪰ 0
        t = floats(np.tril(whole(rng, (n, n)), -1) + unit(n))
        core = t @ x @ t.T
        rows += [core[1, 1] == 0, core[0, 1] + core[1, 0] == 2 * 2.0 ** -int(rng.choice([0, 20]))]
        note = "no proof by multipliers"
    else:
        apart = Q(2) ** -int(rng.choice([0, 10, 20, 30, 40]))
        factor = whole(rng, (n, int(rng.integers(0, n + 1))))
        last, right = factor @ factor.T, -apart
        for _ in range(int(rng.integers(0, 3))):
            a, y, b = symmetric(rng, n), int(rng.integers(-2, 3)), Q(int(rng.integers(-3, 4)))
            rows.append(written_inner(rng, a, x) == float(b))
            last, right = last - y * a, right - y * b
        rows.append(written_inner(rng, last, x) == floats([right])[0] if draw else written_inner(rng, last, x) <= floats([right])[0])
        note = "by a hair" if apart < Q(1, 2) else ""
    return posed(rng, "empty", written_inner(rng, symmetric(rng, n), x), rows, math.inf, Q(1), note)


def endless(rng: Rng) -> PlantedMatrices:
    """An objective without bound, along vvᵀ."""
    n = int(rng.integers(2, 5))
    pair = planted_pair(rng, n)
    v = pair[2][:, 0] if pair[2].shape[1] else whole(rng, (n,))
    v = v if any(v) else unit(n)[0]
    square = inner(v, v)
    skewed = rng.random() < SKEWED
    x, rows = matrix_variable(rng, n, "X", skewed)

    def flat() -> Matrix:
        a = symmetric(rng, n) + (skew(rng, n) if skewed else 0)
        return square**2 * a - inner(v, a @ v) * np.outer(v, v)

    for _ in range(int(rng.integers(0, 3))):
        a = flat()
        limit = float(inner(a, pair[0]))
        rows.append(written_inner(rng, a, x) == limit if rng.random() < 0.5 else written_inner(rng, a, x) <= limit)
    down = Q(2) ** -int(rng.choice([0, 0, 20, 40]))
    cost = flat() - down * unit(n)
    return posed(rng, "endless", written_inner(rng, cost, x), rows, -math.inf, Q(1), "by a hair" if down < 1 else "")


def notorious(rng: Rng) -> PlantedMatrices:
    """Examples of the literature: a gap between primal and dual, optima that are not attained, feasible sets of one point."""
    draw = int(rng.integers(8))
    scale = float(dyadic(rng, 10))
    x = cp.Variable(2, name="x")
    if draw == 0:  # the primal optimum is 0, that of the dual is −1
        z = cp.bmat([[0, x[0], 0], [x[0], x[1], 0], [0, 0, x[0] + 1]])
        return posed(rng, "notorious", scale * x[0], [z >> 0], Q(0), Q(scale), "gap")
    if draw == 1:  # inf x₀ with x₀x₁ ≥ 1
        return posed(rng, "notorious", scale * x[0], [cp.bmat([[x[0], 1], [1, x[1]]]) >> 0], Q(0), Q(scale), "not attained")
    if draw == 2:  # X = 0 alone
        matrix = cp.Variable((3, 3), name="X", PSD=True)
        return posed(rng, "notorious", cp.sum(matrix) + 1, [cp.trace(matrix) == 0], Q(1), Q(1), "one point")
    if draw == 3:  # a chain of squares: t₀ ≥ 2, t₁ ≥ t₀², t₂ ≥ t₁²
        t = cp.Variable(3, name="t")
        rows = [cp.bmat([[t[i + 1], t[i]], [t[i], 1]]) >> 0 for i in range(2)]
        return posed(rng, "notorious", scale * t[2], [*rows, t[0] >= 2], Q(16) * Q(scale), Q(16) * Q(scale), "chain")
    if draw == 4:  # X₀₀ = 0 forces X₀₁ = 0
        matrix = cp.Variable((2, 2), name="X", symmetric=True)
        rows = [matrix >> 0, matrix[0, 0] == 0]
        return posed(rng, "notorious", scale * matrix[0, 1] + matrix[1, 1], rows, Q(0), Q(1), "both faces")
    if draw == 5:  # rows that are not symmetric: X₀₁ alone of an X without symmetry is free
        matrix = cp.Variable((2, 2), name="X")
        return posed(rng, "notorious", matrix[0, 1], [matrix >> 0, cp.trace(matrix) == 2], -math.inf, Q(1), "skew")
    if draw == 6:  # the sum of both entries is not
        matrix = cp.Variable((2, 2), name="X")
        rows = [matrix >> 0, cp.trace(matrix) == 2 * scale]
        return posed(rng, "notorious", matrix[0, 1] + matrix[1, 0], rows, Q(-2) * Q(scale), Q(2) * Q(scale), "sum")
    matrix = cp.Variable((2, 2), name="X")  # λ_max demands symmetry: X₀₁ = X₁₀ = 1
    rows = [matrix[0, 1] == scale, cp.diag(matrix) >= -scale]
    return posed(rng, "notorious", cp.lambda_max(matrix) + matrix[1, 0], rows, Q(scale), 2 * Q(scale), "demanded")


KINDS = (standard, standard, standard, standard, affine, affine, affine, affine, barrier, hermitian, empty, endless, notorious)


def semidefinite_problem(seed: int, number: int) -> PlantedMatrices:
    """Problem `number` of a seed, and always the same."""
    attempt = 0
    while True:
        rng = np.random.default_rng([seed, number, attempt, 38])
        try:
            return KINDS[int(rng.integers(len(KINDS)))](rng)
        except AssertionError:  # a number of it is no float
            attempt += 1
