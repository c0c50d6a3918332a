"""Definitions 12, 25 and 26, Theorem 14: the audit's numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simopt.theorems.kj.goodness.finite_domains import HALF, domain
from simopt.theorems.kj.ordinal.theorem_14 import (
    Labelled,
    Tight,
    beta,
    draw,
    four_points,
    in_units,
    kernel_value,
    loss,
    on_two_points,
    similarity_value,
    smallest,
    two_points,
)


def test_the_audits_numbers_of_the_four_points() -> None:
    """B_min ε₁γ²/γ₁² at e = ε₁/γ₁: .125 (.02), .1538 (.2), .1765 and .13 (.49) of the catalogue."""
    points = {e: Tight(**four_points(HALF, Fraction(e), Fraction(1))) for e in ("1/50", "1/5", "49/100")}
    found = {e: float(smallest(at) / in_units(at)) for e, at in points.items()}
    assert found["1/50"] == 0.125
    assert found["1/5"] == pytest.approx(0.1538, abs=5e-5)
    assert found["49/100"] == pytest.approx(0.13, abs=5e-3)


def test_the_audits_numbers_of_the_cross() -> None:
    g, e = Fraction(3, 10), Fraction(1, 10)
    for M, number in ((1, 0.2294), (3, 0.2475), (10, 0.2498), (100, 0.2500)):
        arms = (g, 0), (-g, 0), (0, Fraction(M)), (0, -Fraction(M))
        gram = [[a * c + b * d for c, d in arms] for a, b in arms]
        made = domain([e, e, HALF - e, HALF - e], gram, [2, 1, 2, 1], gamma=g, gamma_1=Fraction(1), share=e, classes=2)
        own = g**2 / (1 + g**2 / M**2)
        assert float(smallest(Tight(**made)) * e * own) == pytest.approx(number, abs=5e-5)


def test_two_points_need_all_of_the_quarter_and_half_of_the_labels_is_the_limit() -> None:
    for e in (Fraction(1, 7), HALF):
        made = Tight(**two_points(Fraction(1, 3), e, Fraction(5, 2)))
        assert smallest(made) == in_units(made) / 4
    beyond = Tight(**two_points(Fraction(1, 3), Fraction(3, 5), Fraction(5, 2)))
    assert smallest(beyond) < in_units(beyond) / 4


def test_goodness_of_both_kinds_on_two_points() -> None:
    made = on_two_points(0.5, 0.25, 2.0)
    here = Labelled(made["factor"], made["labels"], made["classes"], made["masses"])
    assert kernel_value(here, 0.5).high <= 1e-8
    assert kernel_value(here, 0.51).low > 1e-4
    bound = made["gamma_1"] ** 2 / (4 * made["epsilon_1"] * 0.25)
    assert similarity_value(here, made["gamma_1"], made["delta"], bound).low == pytest.approx(made["epsilon_1"])


def test_known_optima_are_optima() -> None:
    """½‖W‖² + C·loss at the drawn solution against small moves of (β, b), in floats."""
    rng = np.random.default_rng(0)
    drawn = [made for made in (draw(rng) for _ in range(1500)) if made is not None][:6]
    assert len(drawn) == 6
    for made in drawn:
        gram, C = np.array(made["gram"], dtype=float), float(made["C"])

        def value(a: np.ndarray, b: np.ndarray, made: dict = made, gram: np.ndarray = gram, C: float = C) -> float:
            return float(a @ gram @ a) / 2 + C * float(loss(made["masses"], made["labels"], list(gram @ a), list(b)))

        best, b = np.array(beta(made["alpha"], made["alpha_star"]), dtype=float), np.array(made["thresholds"], dtype=float)
        least = value(best, b)
        for size in (1e-3, 0.1, 1.0):
            for _ in range(20):
                assert value(best + size * rng.normal(size=len(best)), b + size * rng.normal(size=len(b))) >= least - 1e-9
