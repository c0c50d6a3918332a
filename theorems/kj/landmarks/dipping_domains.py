r"""Finite domains on which a sample serves as landmarks and as training set at once (Appendix B), in exact arithmetic.

A domain has points 0, …, N − 1 with masses p_x, a similarity K(x, x') with |K| ≤ 1 and targets y(x); the loss is |f(x) − y(x)|, so that
C_L = 1. For S = (x_1, …, x_n) and ‖w‖_∞ ≤ B, f(x) = (1/n) Σ_i w_i K(x, x_i), and g(S) = sup_w (L_f − L̂^S_f) = sup_w Σ_x (p_x − q_x)
|f(x) − y(x)| with q_x the share of x in S. If |y| ≥ B everywhere, |f − y| = |y| − f sign y is linear in w and g(S) has a closed form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.kj.landmarks.piecewise_linear import box, largest, mass_differences
from simopt.theorems.small_worlds.exact_tails import Counts, multinomial
from simopt.theorems.small_worlds.sampled_worlds import weights

ONE, ZERO = Fraction(1), Fraction(0)


class Domain(NamedTuple):
    """Masses p, similarity K, targets y, a bound B of the weights, and the size n of a sample."""

    masses: Sequence[Fraction]
    gram: Sequence[list[Fraction]]
    targets: Sequence[Fraction]
    B: Fraction
    n: int


def domain(masses: Sequence[Fraction], gram: Sequence[Sequence[Any]], targets: Sequence[Any], bound: Any, n: int) -> sc.Instance:
    """A domain as plain data: rows of `gram` are x, columns x'."""
    return {
        "masses": list(masses),
        "gram": [[Fraction(k) for k in row] for row in gram],
        "targets": [Fraction(y) for y in targets],
        "B": Fraction(bound),
        "n": n,
    }


def indistinct(similarity: int, targets: Sequence[Any], n: int) -> sc.Instance:
    """Two points with equal chances, the same similarity everywhere and B = 1: no f tells them apart."""
    return domain([Fraction(1, 2)] * 2, [[similarity] * 2] * 2, targets, 1, n)


def alone(count: int, n: int, bound: Any = 1) -> sc.Instance:
    """K = 1 but K(x, x) = −1 on `count` points of equal mass, y = −B: every landmark misjudges itself."""
    gram = [[-1 if i == j else 1 for j in range(count)] for i in range(count)]
    return domain([Fraction(1, count)] * count, gram, [-Fraction(bound)] * count, bound, n)


def largest_gap(here: Domain, counts: Counts) -> Fraction:
    """g(S) of a sample in which point x occurs counts[x] times, exactly; at most three points may occur."""
    n = sum(counts)
    marks = [x for x, k in enumerate(counts) if k]
    coefficients = mass_differences(here.masses, counts)
    slopes = [[row[x] / n for x in marks] for row in here.gram]
    return largest(coefficients, slopes, here.targets, box([counts[x] * here.B for x in marks]))


def signed_differences(masses: Sequence[Fraction], targets: Sequence[Fraction], counts: Counts) -> list[Fraction]:
    """c_x sign(y_x), where sign 0 = −1."""
    return [c if y > 0 else -c for c, y in zip(mass_differences(masses, counts), targets, strict=True)]


def linear_gap(here: Domain, counts: Counts) -> Fraction:
    """g(S) where |y| ≥ B: Σ_x c_x |y_x| + (B/n) Σ_i |Σ_x c_x sign(y_x) K(x, x_i)|."""
    masses, gram, targets, B, _ = here
    n = sum(counts)
    c, signed = mass_differences(masses, counts), signed_differences(masses, targets, counts)
    total = sum((a * abs(y) for a, y in zip(c, targets, strict=True)), ZERO)
    for j, k in enumerate(counts):
        if k:
            total += B * k * abs(sum((a * row[j] for a, row in zip(signed, gram, strict=True)), ZERO)) / n
    return total


def is_linear(B: Any, targets: Any) -> bool:
    """Whether |y| ≥ B on the whole domain."""
    return all(abs(y) >= B for y in targets)


def gaps(here: Domain) -> Iterator[tuple[Fraction, Fraction]]:
    """Values of g(S) with their probabilities, over all samples of n points."""
    gap = linear_gap if is_linear(here.B, here.targets) else largest_gap
    for drawn, mass in multinomial(here.n, tuple(here.masses)):
        yield gap(here, drawn), mass


def mean_gap(here: Domain) -> Fraction:
    """E g(S)."""
    return sum((g * mass for g, mass in gaps(here)), ZERO)


def random_domain(rng: np.random.Generator, points: int, n: int, *, reach: int = 4) -> sc.Instance:
    """K in {−1, −1/2, 0, 1/2, 1}, mostly ±1; y a multiple of 1/4 of size at most reach/4; B = 1."""
    gram = [[Fraction(int(rng.choice([-2, -2, -1, 0, 1, 2, 2])), 2) for _ in range(points)] for _ in range(points)]
    targets = [Fraction(int(rng.integers(-reach, reach + 1)), 4) for _ in range(points)]
    return domain(weights(rng, points), gram, targets, 1, n)


def small_domains(trial: sc.Trial, *, reach: int = 4) -> Iterator[sc.Instance]:
    """Random domains of 2 to 4 points, n ≤ 3."""
    for _ in range(trial.count(10, 60)):
        points = int(trial.rng.integers(2, 5))
        yield random_domain(trial.rng, points, int(trial.rng.integers(1, 4 if points < 4 else 3)), reach=reach)


def decoded_domain(point: Array, trial: sc.Trial) -> sc.Instance:
    """Three points, n = 1 or 2, from the cube [0, 1]^15: nine similarities, three targets in [−1, 1], two masses, n."""
    u = [Fraction(round(32 * float(value)), 32) for value in point]
    gram = [[2 * u[3 * i + j] - 1 for j in range(3)] for i in range(3)]
    parts = [u[12] + Fraction(1, 32), u[13] + Fraction(1, 32), Fraction(1, 2)]
    return domain([part / sum(parts) for part in parts], gram, [2 * y - 1 for y in u[9:12]], 1, 1 + (u[14] > Fraction(1, 2)))
