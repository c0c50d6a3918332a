r"""Ridge regression with the linear kernel in rational arithmetic: every learner of sections 2 to 4 can be checked without rounding.

On ℝ^p with k(x, x') = ⟨x, x'⟩ the hypothesis space is ℝ^p itself, f(x) = ⟨w, x⟩ and ‖f‖_H = ‖w‖. The minimiser of
Σ (y − ⟨w, x⟩)² + μ ‖w‖² is w = (Σ x xᵀ + μ I)⁻¹ Σ y x: rational for rational data. Every positive semidefinite Gram matrix
G = F Fᵀ arises so, from the rows of F.

A sample is a triple (count, x, y). Numbers may be integers, fractions, formulas or symbols of `simopt.claims`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Vector = Sequence[Any]
Sample = tuple[Any, Vector, Any]

UNIT = ((1, 0), (0, 1), (-1, 0), (Fraction(3, 5), Fraction(4, 5)), (Fraction(4, 5), Fraction(-3, 5)), (Fraction(5, 13), Fraction(12, 13)))
"""Rational points of the unit circle."""


def ridge(samples: Sequence[Sample], penalty: Any, dimension: int) -> list[Any]:
    """w = argmin Σ count·(y − ⟨w, x⟩)² + μ ‖w‖², μ > 0; 0 for no samples at all (f_∅ = 0). O(|Z| p² + p³)."""
    if not samples:
        return [Fraction(0)] * dimension
    rows = []
    for i in range(dimension):
        row = [sum((c * x[i] * x[j] for c, x, _ in samples), penalty if i == j else 0) for j in range(dimension)]
        rows.append([*row, sum((c * y * x[i] for c, x, y in samples), 0)])
    return eliminated(rows)


def eliminated(rows: list[list[Any]]) -> list[Any]:
    """Solve a positive definite system, given with its right-hand side as last column; no pivot of such a system vanishes."""
    p = len(rows)
    # One fraction makes the divisions of integers exact; formulas swallow it.
    rows = [[Fraction(value) if isinstance(value, int) else value for value in row] for row in rows]
    for k in range(p):
        for i in range(k + 1, p):
            share = rows[i][k] / rows[k][k]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    w: list[Any] = [Fraction(0)] * p
    for k in reversed(range(p)):
        w[k] = (rows[k][p] - dot(rows[k][k + 1 : p], w[k + 1 :])) / rows[k][k]
    return w


def dot(x: Vector, y: Vector) -> Any:
    """⟨x, y⟩; 0 for empty vectors."""
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def minus(x: Vector, y: Vector) -> list[Any]:
    """x − y."""
    return [a - b for a, b in zip(x, y, strict=True)]


def size(samples: Sequence[Sample]) -> int:
    """|Z|, equal samples counted as often as they occur."""
    return sum(count for count, _, _ in samples)


def without(samples: Sequence[Sample], i: int) -> list[Sample]:
    """Z minus one sample of the i-th kind."""
    rest = [(count - (j == i), x, y) for j, (count, x, y) in enumerate(samples)]
    return [(count, x, y) for count, x, y in rest if count > 0]


def risk(samples: Sequence[Sample], w: Vector) -> Any:
    """(1/|Z|) Σ (y − ⟨w, x⟩)²."""
    return sum((c * (y - dot(w, x)) * (y - dot(w, x)) for c, x, y in samples), Fraction(0)) / size(samples)


def slope(samples: Sequence[Sample], w: Vector) -> list[Any]:
    """Gradient of the risk at w: −(2/|Z|) Σ (y − ⟨w, x⟩) x."""
    return [sum((-2 * c * (y - dot(w, x)) * x[j] for c, x, y in samples), Fraction(0)) / size(samples) for j in range(len(w))]


def loss_change(x: Vector, y: Any, w: Vector, v: Vector) -> Any:
    """|(y − ⟨w, x⟩)² − (y − ⟨v, x⟩)²|, as the product that does not cancel."""
    return abs((dot(w, x) - dot(v, x)) * (2 * y - dot(w, x) - dot(v, x)))


def random_samples(rng: np.random.Generator, count: int, dimension: int = 2, steps: int = 8) -> list[Sample]:
    """`count` samples with rational x in the unit ball and y in [−1, 1]; in the plane half of the x lie on the circle."""
    made: list[Sample] = []
    for _ in range(count):
        if dimension == 2 and rng.random() < 0.5:
            x: list[Any] = [Fraction(value) for value in UNIT[int(rng.integers(len(UNIT)))]]
        else:
            x = [Fraction(int(rng.integers(-steps, steps + 1)), steps) for _ in range(dimension)]
            length = sum(abs(value) for value in x)
            x = [value / max(length, Fraction(1)) for value in x]
        made.append((1, x, Fraction(int(rng.integers(-steps, steps + 1)), steps)))
    return made
