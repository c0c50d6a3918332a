"""Radii of intervals: no smaller than rounding needs where many small things add up, and no larger than it explains."""

from fractions import Fraction

import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Interval

ULP = 2.0**-52


def width(interval: Interval) -> float:
    return INTERVAL.upper(interval) - INTERVAL.lower(interval)


def test_what_each_addition_of_radii_rounds_off_is_not_lost() -> None:
    """1 + 2⁻⁵⁴ is 1 in floats, a hundred times over."""
    total, reach = Interval(0.0, 1.0), Fraction(1)
    for _ in range(100):
        total, reach = total + Interval(0.0, 2.0**-54), reach + Fraction(1, 2**54)
    assert Fraction(INTERVAL.upper(total)) >= reach and Fraction(INTERVAL.lower(total)) <= -reach


@pytest.mark.parametrize("n", [3, 100, 1000])
def test_sums_of_intervals_around_zero_reach_as_far_as_their_radii_together(n: int) -> None:
    intervals = Interval(np.zeros(n), np.full(n, 0.1))
    reach = n * Fraction(0.1)
    for total in (INTERVAL.sum(intervals), INTERVAL.cumsum(intervals)[-1], INTERVAL.dot(intervals, INTERVAL.lift(np.ones(n)))):
        assert Fraction(INTERVAL.upper(total)) >= reach and Fraction(INTERVAL.lower(total)) <= -reach
        assert INTERVAL.upper(total) <= float(reach) * (1 + 4 * (n + 20) * ULP)


def test_products_of_wide_intervals_reach_to_the_product_of_their_ends() -> None:
    wide = Interval(np.full(4, 1.0), np.full(4, 3.0))
    for product in (INTERVAL.dot(wide, wide), INTERVAL.sum(wide * wide)):
        assert INTERVAL.upper(product) >= 4 * 16 and INTERVAL.lower(product) <= -4 * 8


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_sums_of_products_allow_for_rounding_whatever_the_signs(sign: float) -> None:
    rng = np.random.default_rng(3)
    x, a = sign * rng.uniform(0.5, 1.5, 200), rng.uniform(0.5, 1.5, 200)
    exact = sum((Fraction(p) * Fraction(q) for p, q in zip(x.tolist(), a.tolist(), strict=True)), Fraction(0))
    for interval in (INTERVAL.dot(INTERVAL.lift(a), INTERVAL.lift(x)), INTERVAL.matvec(a[None], INTERVAL.lift(x))[0]):
        assert Fraction(INTERVAL.lower(interval)) <= exact <= Fraction(INTERVAL.upper(interval))
        # n terms in any order are off by γ_n Σ|terms|: a smaller allowance holds by luck
        assert 200 * ULP / 2 * float(abs(exact)) <= float(interval.rad) <= 2000 * ULP * float(abs(exact))


@pytest.mark.parametrize("x", [1e-200, 0.5, 1.0, 3.0, 1e200])
def test_powers_exponentials_and_logarithms_are_a_few_units_wide(x: float) -> None:
    for exponent in (-1.5, -0.3, 0.5, 1.4):
        power = INTERVAL.power(INTERVAL.lift(x), exponent)
        assert width(power) <= 16 * ULP * INTERVAL.upper(power) + 1e-300
    logarithm = INTERVAL.log(INTERVAL.lift(x))
    assert width(logarithm) <= 16 * ULP * abs(np.log(x)) + 1e-300
    exponential = INTERVAL.exp(INTERVAL.lift(min(x, 700.0)))
    assert width(exponential) <= 16 * ULP * INTERVAL.upper(exponential)


def test_the_ends_of_an_interval_are_its_own() -> None:
    for radius in (1.0, 0.5, 2.0):
        interval = Interval(0.25, radius)
        assert INTERVAL.lower(interval) <= 0.25 - radius < INTERVAL.lower(interval) + 1e-12
        assert INTERVAL.upper(interval) >= 0.25 + radius > INTERVAL.upper(interval) - 1e-12
    assert INTERVAL.lower(Interval(0.25)) == INTERVAL.upper(Interval(0.25)) == 0.25


def test_functions_at_the_ends_of_their_domains() -> None:
    assert INTERVAL.upper(INTERVAL.power(INTERVAL.lift(0.0), 0.5)) < 1e-300
    everything = Interval(0.0, np.inf)
    assert INTERVAL.upper(INTERVAL.exp(everything)) == np.inf and INTERVAL.lower(INTERVAL.exp(everything)) <= 0.0
    assert INTERVAL.lower(INTERVAL.log(Interval(0.5, 0.5))) == -np.inf


def test_floats_keep_signs_and_sizes() -> None:
    assert FLOAT.norm(np.array([-3.0, -4.0])) == 5.0
    assert FLOAT.norm(np.array([-3e200, -4e200])) == pytest.approx(5e200)
    assert FLOAT.norm(np.array([-3e-200, 4e-200])) == pytest.approx(5e-200)
    assert FLOAT.abs(-2.0) == 2.0 and FLOAT.abs(np.array([-2.0, 3.0])).tolist() == [2.0, 3.0]
    assert np.isnan(FLOAT.pos(np.array([-np.inf, 1.0]))[0]) and FLOAT.pos(np.array([-1.0, np.inf])).tolist() == [0.0, np.inf]


def test_sums_of_floats_are_sums_or_nothing() -> None:
    assert FLOAT.sum(np.array([1.0, 2.0])) == 3.0 and FLOAT.dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11.0
    with np.errstate(over="ignore"):
        assert np.isnan(FLOAT.sum(np.full(2, 1e308))) and np.isnan(FLOAT.dot(np.full(2, 1e200), np.full(2, 1e200)))
    for lifted in (RATIONAL.lift(0.1), RATIONAL.lift([0.1])[0], RATIONAL.lift(RATIONAL.lift([0.1]))[0]):
        assert isinstance(lifted, Fraction) and lifted == Fraction(0.1)


def test_fractions_beyond_the_floats_end_at_the_largest_of_them() -> None:
    huge, largest = Fraction(10) ** 400, float(np.finfo(float).max)
    assert (RATIONAL.lower(huge), RATIONAL.upper(huge)) == (largest, np.inf)
    assert (RATIONAL.lower(-huge), RATIONAL.upper(-huge)) == (-np.inf, -largest)
    assert (RATIONAL.lower(np.inf), RATIONAL.upper(-np.inf)) == (np.inf, -np.inf)


def test_roots_of_small_fractions_are_exact_and_others_refused() -> None:
    assert RATIONAL.sqrt(Fraction(1, 4)) == Fraction(1, 2) and RATIONAL.sqrt(Fraction(0)) == 0
    for value in (Fraction(1, 2), Fraction(4, 3), Fraction(3, 4)):
        with pytest.raises(ArithmeticError, match="not rational"):
            RATIONAL.sqrt(value)
    assert RATIONAL.power(RATIONAL.lift(2.0), 3) == 8 and RATIONAL.power(RATIONAL.lift(2.0), -2) == Fraction(1, 4)
