"""What the orders of losses of sections 4.3 to 5.1 of van Rooyen, Menon & Williamson rest on."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from simopt.claims import catalogue, symbols
from simopt.theorems.rmw.class_conditional import contaminated
from simopt.theorems.rmw.loss_orders import (
    as_pair,
    collinearity,
    corrected,
    correction,
    differences,
    disagreement,
    excess,
    fits_theorem_13,
    label_free,
    noisy,
    under_noise,
)
from simopt.theorems.rmw.order_equivalence import DIRECTIONS, EVENTS, RATES, robust_by_definition, table
from simopt.theorems.rmw.potentials import NOT_POTENTIALS, POTENTIALS, Potential, random_mixture
from simopt.theorems.rmw.variable_noise import risks
from simopt.theorems.small_worlds.worlds import flipped, linear, mean, risk, zero_one
from tests.theorems.conftest import quick


def test_the_correction_undoes_the_noise() -> None:
    rng = np.random.default_rng(0)
    for rate in RATES:
        loss = {event: Fraction(int(v), 7) for event, v in zip(EVENTS, rng.integers(-20, 20, len(EVENTS)), strict=True)}
        assert correction(under_noise(loss, rate), rate) == under_noise(correction(loss, rate), rate) == loss
    a, b, s = Fraction(3), Fraction(-1, 2), Fraction(1, 5)
    assert noisy(corrected(a, b, s, s), corrected(b, a, s, s), s) == a


def test_integer_differences_decide_the_order_of_integer_losses() -> None:
    rng = np.random.default_rng(1)
    wider = list(differences(EVENTS, 4))
    for _ in range(30):
        first, second = (table(list(rng.integers(0, 3, len(EVENTS)))) for _ in range(2))
        assert (disagreement(first, second, DIRECTIONS) is None) == (disagreement(first, second, wider) is None)
        affine = {event: 3 * value + 5 for event, value in first.items()}
        assert disagreement(first, affine, DIRECTIONS) is None
        if len(set(first.values())) > 1:
            assert disagreement(first, {event: -value for event, value in first.items()}, DIRECTIONS) is not None


def test_a_difference_is_a_pair_of_distributions() -> None:
    d = {EVENTS[0]: Fraction(2), EVENTS[1]: Fraction(-1), EVENTS[2]: Fraction(-1)}
    first, second = as_pair(d)
    assert sum(first.values()) == sum(second.values()) == 1
    loss = table([2, 0, 1, 1])
    assert excess(loss, first) - excess(loss, second) == excess(loss, d) / 2


@pytest.mark.parametrize("rate", RATES)
def test_linear_loss_and_guesses_are_robust_and_hinge_loss_is_not(rate: Fraction) -> None:
    for loss, robust in ((linear, True), (zero_one("C"), True), (zero_one("A"), False), (zero_one("B"), False)):
        values = {(y, v): Fraction(loss(y, 2 * v - 1 if loss is linear else v)) for y, v in EVENTS}
        assert robust_by_definition(values, rate) == robust
        assert robust == (fits_theorem_13(values) or label_free(values))
    hinge = {(y, v): max(1 - y * Fraction(v), Fraction(0)) for v in (0, 2) for y in (1, -1)}
    assert disagreement(hinge, under_noise(hinge, rate), differences(tuple(hinge), 3)) is not None


def test_a_loss_of_score_plus_a_loss_of_label_keeps_argmins_without_being_robust() -> None:
    loss = {(y, v): Fraction(v + (y == 1)) for y, v in EVENTS}
    rate = Fraction(1, 4)
    assert not robust_by_definition(loss, rate)
    for mass, labels in itertools.product((Fraction(1, 3), Fraction(1, 2)), itertools.product((1, -1), repeat=2)):
        orders = []
        for each in (loss, under_noise(loss, rate)):
            values = {f: mass * each[labels[0], f[0]] + (1 - mass) * each[labels[1], f[1]] for f in itertools.product((0, 1), repeat=2)}
            orders.append([(values[f] > values[g]) - (values[f] < values[g]) for f in values for g in values])
        assert orders[0] == orders[1]


def test_three_points_lie_on_a_line() -> None:
    a, b = [Fraction(v) for v in (0, 1, 3)], [Fraction(v) for v in (5, 7, 11)]
    assert collinearity(a, b) == 0
    assert collinearity(a, [*b[:2], Fraction(12)]) != 0


def test_noise_shortens_the_mean_and_mixes_the_risk() -> None:
    world = [(Fraction(1, 3), 1, [Fraction(1), Fraction(2)]), (Fraction(2, 3), -1, [Fraction(-1), Fraction(1, 2)])]
    rate = Fraction(2, 7)
    noise = flipped(world, rate)
    assert sum(p for p, _, _ in noise) == 1
    assert mean(noise) == [(1 - 2 * rate) * value for value in mean(world)]
    assert risk(noise, linear, lambda phi: phi[0]) == (1 - 2 * rate) * risk(world, linear, lambda phi: phi[0]) + 2 * rate


def test_numbers_of_the_audit_for_theorem_17() -> None:
    claim = catalogue.find("RMW-T17")
    (instance,) = claim.instances(quick("RMW-T17"))
    clean, rough = risks(instance["events"], instance["sum"])
    assert clean == [Fraction(-1, 2), Fraction(-3, 20)]
    assert rough.index(min(rough)) == 1
    assert Fraction(-3, 20) > min(clean) / Fraction(1, 5) == Fraction(-5, 2)


@pytest.mark.parametrize("name", [*POTENTIALS, *NOT_POTENTIALS])
def test_slopes_are_those_of_the_values(name: str) -> None:
    psi = (POTENTIALS | NOT_POTENTIALS)[name]
    for v in (Fraction(-7, 5), Fraction(-1, 5), Fraction(1, 5), Fraction(9, 5)):
        h = Fraction(1, 10**5)
        assert float(psi.value(v + h) - psi.value(v)) / float(h) == pytest.approx(float(psi.slope(v)), abs=1e-4)


def test_random_mixtures_are_potentials() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        weights, bends = random_mixture(rng)
        assert min(weights) > 0
        assert max(bends) > 0
        assert all(collinearity.denominator == 5 for collinearity in bends)


def test_symbols_have_no_hidden_values() -> None:
    a, b, s = symbols("a b s")
    with pytest.raises(TypeError):
        float(corrected(a, b, s, s))


def test_noise_rates_make_the_contaminations_of_section_5_1() -> None:
    """Two points with two labels each, flipped at rates of their own: the class distributions after noise are the mixtures."""
    prior, up, down = Fraction(2, 5), [Fraction(1, 4), Fraction(3, 4)], [Fraction(2, 3), Fraction(1, 3)]
    s1, s2 = Fraction(1, 3), Fraction(1, 5)
    noisy_up = [prior * (1 - s1) * p + (1 - prior) * s2 * q for p, q in zip(up, down, strict=True)]
    share = sum(noisy_up)
    alpha, beta = (1 - prior) * s2 / share, prior * s1 / (1 - share)
    assert [mass / share for mass in noisy_up] == contaminated(up, down, alpha, beta)[0]
    assert 0 < beta < prior < 1 - alpha and share == (prior - beta) / (1 - alpha - beta)
    assert (alpha, beta) != (s2, s1)


@pytest.mark.parametrize("psi", POTENTIALS.values(), ids=POTENTIALS)
@pytest.mark.parametrize("eta", [Fraction(k, 16) for k in (1, 5, 7, 9, 12, 15)])
def test_potentials_are_least_on_the_side_of_linear_loss(psi: Potential, eta: Fraction) -> None:
    grid = [Fraction(k, 32) for k in range(-160, 161)]
    risks_there = {v: float(eta * psi.value(v) + (1 - eta) * psi.value(-v)) for v in grid}
    assert (min(risks_there, key=risks_there.__getitem__) > 0) == (2 * eta > 1)
