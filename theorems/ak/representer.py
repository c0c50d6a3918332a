r"""Appendix C, display (11): f_Z = Σ α_i k(·, x_i), 'exactly the form of the representer theorem'."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.theorems.ak.rational_power import objective
from simopt.theorems.ak.rational_ridge import dot, eliminated, minus

POWERS = (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4))


def functions_outside_the_span(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Linear kernel on ℝ⁴, one to three independent inputs, and a w outside their span; every kind of power."""
    made = 0
    while made < trial.count(30, 300):
        count = int(trial.rng.integers(1, 4))
        rows = trial.rng.integers(-3, 4, (count + 1, 4))
        if np.linalg.matrix_rank(rows) <= count:
            continue
        *inputs_, w = ([Fraction(int(v), 2) for v in row] for row in rows)
        targets = [Fraction(int(v), 2) for v in trial.rng.integers(-4, 5, count)]
        yield {
            "inputs": inputs_,
            "targets": targets,
            "w": w,
            "power": POWERS[made % 6],
            "lam": Fraction(2) ** int(trial.rng.integers(-4, 5)),
        }
        made += 1


def coefficients(x: list[list[Fraction]], w: list[Fraction]) -> list[Fraction]:
    """α with Σ α_i x_i the projection of w on the span of the x_i, which are independent."""
    return eliminated([[*(dot(a, b) for b in x), dot(a, w)] for a in x])


@sc.claim(
    "AK-11",
    place="Appendix C, (11)",
    kind=sc.EXISTENCE,
    says=r"Let λ > 0 and **m > 0**. Every minimiser of (8) is f_Z = Σ α_i k(·, x_i): let f = g + h, g = Σ α_i k(·, x_i) and h orthogonal "
    r"to all k(·, x_i). Then f(x_i) = g(x_i) for all i and ‖f‖² = ‖g‖² + ‖h‖², so that the objective at f exceeds that at g by λ(‖f‖^m − "
    r"‖g‖^m), which is positive unless h = 0. (Linear kernel on ℝ⁴, one to three samples, m = 1/2, 1, 3/2, 2, 3, 4.)",
    instances=functions_outside_the_span,
    resolution=0.0,
    knobs={"left out": 0},
    mutants={"the span of all inputs but the first": {"left out": 1}},
    note="The paper has m > 1 and divides by ‖f_Z‖^{m−2}, where f_Z = 0 (K Y = 0, AK-T1deg) would need a word; the argument here, which is "
    "that of [17], has no derivative, and no division: (11) holds for the m ≤ 1 of Appendix E too, where the objective is not "
    "differentiable at 0. Theorem 2 calls α 'the solution of (11)', which is no problem: (12) is meant, and Theorem 1 has (8). That α "
    "verifies the equation after (12) is AK-T1sys+.",
)
def minimisers_are_in_the_span(
    inputs: list[list[Fraction]], w: list[Fraction], power: Fraction, targets: list[Fraction], lam: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """The projection, its values at the inputs, both squared norms and both objectives."""
    x, m = inputs, power
    used = x[trial["left out"] :]
    alpha = coefficients(used, w) if used else []
    g = [dot(alpha, [point[j] for point in used]) for j in range(len(w))]
    h = minus(w, g)
    yield sc.equal([dot(w, point) for point in x], [dot(g, point) for point in x], "f(x_i) and g(x_i)")
    yield sc.equal(dot(w, w), dot(g, g) + dot(h, h), "‖f‖²")
    samples = [(1, point, y) for point, y in zip(x, targets, strict=True)]
    yield sc.at_least(objective(samples, w, lam, m), objective(samples, g, lam, m), f"objective, m = {m}", strict=True)
