r"""M-RLSR in rational arithmetic: the secular function of Theorem 1, powers of norms as enclosures, and minimisers by construction.

With the linear kernel on ℝ^p, H is ℝ^p and f(x) = ⟨w, x⟩. The minimiser of (1/N) Σ (y − ⟨w, x⟩)² + λ ‖w‖^m is irrational as a rule.
But data can be found for which a chosen w is the minimiser, since the first-order condition (Nλm/2) ‖w‖^{m−2} w = Σ (y − ⟨w, x⟩) x is
linear in the targets. It is sufficient for m > 1, where the problem is convex.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.theorems.ak.rational_ridge import UNIT, Sample, dot, minus


def fractional(x: Any, exponent: Fraction | int) -> sc.Expr:
    """x^e for x > 0 (x ≥ 0 if e ≥ 0) and a rational e = p/q: exact for q = 1, else the enclosed q-th root of x^|p|."""
    e = Fraction(exponent)
    power = sc.rational(x) ** abs(e.numerator)
    taken = power if e.denominator == 1 else sc.root(power, e.denominator)
    return 1 / taken if e < 0 else taken


def squared_path_norm(d: Sequence[Any], y: Sequence[Any], shift: Any) -> sc.Expr:
    """S = Σ 4 d_i y_i² / (2 d_i + shift)², the squared norm of f at λmnC = shift; eigenvalues 0 add nothing, also at shift 0."""
    return sc.total(4 * a * b**2 / (2 * a + shift) ** 2 for a, b in zip(d, y, strict=True) if float(a) > 0)


def secular(d: Sequence[Any], y: Sequence[Any], lam: Any, m: Fraction, C: Any) -> sc.Expr:
    """F(C) = S^{m/2−1} − C with S at λmnC: equation (10)."""
    shift = sc.rational(lam) * m * len(d) * C
    return fractional(squared_path_norm(d, y, shift), m / 2 - 1) - sc.rational(C)


def objective(samples: Sequence[Sample], w: Sequence[Any], lam: Any, m: Fraction) -> sc.Expr:
    """(1/n) Σ count·(y − ⟨w, x⟩)² + λ ‖w‖^m."""
    n = sum(count for count, _, _ in samples)
    risk: sc.Expr = sc.total(count * (y - dot(w, x)) ** 2 for count, x, y in samples) / n
    return risk + sc.rational(lam) * fractional(dot(w, w), m / 2)


def duality_map(w: Sequence[Fraction], norm: Fraction, m: Fraction, root_of_norm: Fraction) -> list[Fraction]:
    """‖w‖^{m−2} w, for ‖w‖ = `norm` = `root_of_norm`² and 2m a whole number: rational."""
    if norm != root_of_norm**2 or (2 * m).denominator != 1:
        raise ValueError("the norm must be the square of root_of_norm, and 2m a whole number")
    return [root_of_norm ** int(2 * (m - 2)) * value for value in w]


def square_norm_vector(rng: np.random.Generator) -> tuple[list[Fraction], Fraction]:
    """A rational vector of the plane and the rational r with ‖w‖ = r²."""
    direction = UNIT[int(rng.integers(len(UNIT)))]
    r = Fraction(int(rng.integers(1, 9)), 4)
    return [r**2 * Fraction(value) for value in direction], r


def leave_one_out_pair(
    rng: np.random.Generator, m: Fraction, lam: Fraction, renewed: bool = False
) -> tuple[list[Sample], list[Fraction], list[Fraction]]:
    """(Z, f_Z, f_{Z^i}) in the plane with the first sample left out: both minimisers exact, for 2m a whole number.

    There are three samples. The targets of the last two solve the condition of a chosen f_{Z^i}. The first input is then what the condition
    of a chosen f_Z lacks, with residual 1. `renewed` says that Z^i divides by n − 1 = 2, not by n = 3.
    """
    w, r = square_norm_vector(rng)
    v, s = square_norm_vector(rng)
    others = [[Fraction(1), Fraction(int(rng.integers(-4, 5)), 4)], [Fraction(int(rng.integers(-2, 3)), 4), Fraction(1)]]
    n = 3
    wanted = [(n - renewed) * lam * m / 2 * value for value in duality_map(v, s**2, m, s)]
    (a, b), (c, e) = others
    determinant = a * e - b * c
    residuals = [(wanted[0] * e - wanted[1] * c) / determinant, (a * wanted[1] - b * wanted[0]) / determinant]
    rest: list[Sample] = [(1, x, res + dot(v, x)) for x, res in zip(others, residuals, strict=True)]
    goal = [n * lam * m / 2 * value for value in duality_map(w, r**2, m, r)]
    covered = [sum((x[j] * (y - dot(w, x)) for _, x, y in rest), Fraction(0)) for j in range(2)]
    first = minus(goal, covered)
    return [(1, first, 1 + dot(w, first)), *rest], w, v
