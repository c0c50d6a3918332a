"""Exponentials and logarithms of whole arrays: every value against Arb, in thousands of bits where so much is lost."""

from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Interval, NotRational, elementary

U = 2.0**-53
BITS = 2400  # (1 + h) log(1 + h) − h of h = 2⁻¹⁰⁷⁴ is h²/2
TRUE: dict[str, Callable[[Any], Any]] = {
    "exp": lambda x: x.exp(),
    "expm1": lambda x: x.expm1(),
    "log": lambda x: x.log(),
    "log1p": lambda x: x.log1p(),
    "xlogx": lambda x: x * x.log() if x != 0 else flint.arb(0),
    "bennett": lambda x: (1 + x) * x.log1p() - x if x != -1 else flint.arb(1),
}
WIDTH = {"exp": 1.1, "expm1": 3.1, "log": 1.2, "log1p": 2.2, "xlogx": 2.2, "bennett": 24.0}  # bound of the error over u|value|
LEFT_END = {"exp": -np.inf, "expm1": -np.inf, "log": 0.0, "log1p": -1.0, "xlogx": 0.0, "bennett": -1.0}


def arguments(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Of all sizes, from subnormal to huge, near 1, near the ends of the domain, at and between the break points of the tables."""
    steps = rng.integers(-2 * 64, 2 * 64, n)
    cells = rng.integers(180, 363, n) / 256
    parts = [
        rng.choice([-1.0, 1.0], n) * 2.0 ** rng.uniform(-1074, 1023.99, n),
        rng.integers(1, 2**20, n) * 2.0**-1074,
        rng.uniform(-750.0, 710.0, n),
        rng.normal(size=n),
        1.0 + rng.normal(size=n) * 2.0 ** rng.uniform(-53, -1, n),
        -1.0 + 2.0 ** rng.uniform(-53, 0, n),
        steps * (np.log(2.0) / 128) * (1 + rng.integers(-4, 5, n) * 2.0**-52),
        cells * (1 + rng.integers(-4, 5, n) * 2.0**-52),
        cells * (1 + rng.integers(-4, 5, n) * 2.0**-52) - 1.0,
        rng.choice([-0.125, 0.125], n) * (1 + rng.integers(-4, 5, n) * 2.0**-52),
        rng.choice([1.0, 0.5, 2.0, -745.1332191019412, 709.782712893384, np.finfo(float).max, np.finfo(float).tiny, np.exp(-1.0)], n),
    ]
    x = rng.choice(np.concatenate(parts), n, replace=False)
    inside = x > LEFT_END[name] if name not in ("xlogx", "bennett") else x >= LEFT_END[name]
    return np.asarray(np.where(inside, x, rng.uniform(0.0, 3.0, n)))


def enclosed(name: str, x: np.ndarray) -> None:
    value, error = getattr(elementary, name)(x)
    assert value.shape == error.shape == x.shape and np.all(error >= 0.0)
    largest = flint.arb(float(np.finfo(float).max))
    with flint.ctx.workprec(BITS):
        for argument, found, bound in zip(x.tolist(), value.tolist(), error.tolist(), strict=True):
            true = TRUE[name](flint.arb(argument))
            if np.isinf(found):
                assert found > 0 and true > largest * (1 - U), (name, argument)
                continue
            assert abs(true - flint.arb(found)) <= flint.arb(bound), (name, argument)
            assert bound <= WIDTH[name] * U * abs(found) + 1e-321, (name, argument)


@pytest.mark.parametrize("name", TRUE)
def test_every_value_is_as_near_to_the_true_one_as_it_says(name: str) -> None:
    rng = np.random.default_rng(0)
    enclosed(name, arguments(name, rng, 1000))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", TRUE)
def test_every_one_of_a_hundred_thousand_values_is_as_near_as_it_says(name: str, seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    enclosed(name, arguments(name, rng, 10_000))


@pytest.mark.parametrize("name", ["exp", "log", "log1p"])
def test_the_errors_that_are_counted_are_the_errors_of_both_parts_together(name: str) -> None:
    """high + low is far nearer than one float is: the derivation is put to the test, without the last rounding that would hide it."""
    x = arguments(name, np.random.default_rng(2), 1000)
    with np.errstate(all="ignore"):
        if name == "exp":
            x = x[np.abs(x) < 700]
            k, high, low, error = elementary._exp_parts(x)
        else:
            high, low, error = getattr(elementary, f"_{name}_parts")(x)
            k = np.zeros_like(x)
    with flint.ctx.workprec(BITS):
        for argument, power, a, b, bound in zip(x.tolist(), k.tolist(), high.tolist(), low.tolist(), error.tolist(), strict=True):
            true = TRUE[name](flint.arb(argument)) * flint.arb(2) ** -int(power)
            assert abs(true - flint.arb(a) - flint.arb(b)) <= flint.arb(bound), argument
            if name != "log1p":
                assert bound <= 2.0**-2 * U * abs(a) or abs(argument) < 2.0**-6, argument


def test_values_that_are_floats_are_exact_and_ends_are_infinite() -> None:
    for name, x, expected in (
        ("exp", 0.0, 1.0),
        ("expm1", 0.0, 0.0),
        ("log", 1.0, 0.0),
        ("log1p", 0.0, 0.0),
        ("xlogx", 0.0, 0.0),
        ("xlogx", 1.0, 0.0),
        ("bennett", 0.0, 0.0),
        ("bennett", -1.0, 1.0),
    ):
        interval = getattr(INTERVAL, name)(INTERVAL.lift(x))
        assert INTERVAL.lower(interval) == expected == INTERVAL.upper(interval), (name, x)
    for name, x, end in (("log", 0.0, -np.inf), ("log1p", -1.0, -np.inf), ("exp", 710.0, np.inf), ("expm1", 1e300, np.inf)):
        value, error = getattr(elementary, name)(x)
        assert value == end and error == 0.0, (name, x)
        interval = getattr(INTERVAL, name)(INTERVAL.lift(x))
        assert (INTERVAL.lower(interval), INTERVAL.upper(interval)) == (-np.inf, np.inf), (name, x)
    assert elementary.exp(-np.inf)[0] == 0.0 and elementary.expm1(-np.inf)[0] == -1.0
    for name in ("exp", "expm1", "log", "log1p", "xlogx", "bennett"):
        assert getattr(elementary, name)(np.inf)[0] == np.inf
        assert getattr(elementary, name)(np.zeros((2, 0, 3)))[0].shape == (2, 0, 3)


@pytest.mark.parametrize("name", TRUE)
def test_the_image_of_an_interval_holds_the_values_of_its_members(name: str) -> None:
    """Narrow and wide intervals, also around the bottom of x log x and of Bennett's function, and across the end of the domain."""
    rng = np.random.default_rng(3)
    x = arguments(name, rng, 600)
    bottoms = {"xlogx": np.exp(-1.0), "bennett": 0.0}
    x[:100] = bottoms.get(name, 1.0) + rng.normal(size=100) * 2.0 ** rng.uniform(-60, 0, 100)
    x = np.maximum(x, LEFT_END[name])
    radius = np.abs(x) * 2.0 ** rng.uniform(-60, 3, 600) * (rng.uniform(size=600) < 0.9)
    radius[:100] = 2.0 ** rng.uniform(-60, 0, 100)
    with np.errstate(all="ignore"):
        interval = getattr(INTERVAL, name)(Interval(x, radius))
    for i in range(600):
        low, high = float(interval.low[i]), float(interval.high[i])
        assert not np.isnan(low) and not np.isnan(high)
        with flint.ctx.workprec(BITS):
            middle, r = flint.arb(float(x[i])), flint.arb(float(radius[i]))
            for share in (-1.0, 1.0, 0.0, float(rng.uniform(-1, 1))):
                member = middle + r * share
                if not member > LEFT_END[name] and not (name in bottoms and member >= LEFT_END[name]):
                    continue
                true = TRUE[name](member)
                assert (low == -np.inf or flint.arb(low) <= true) and (high == np.inf or true <= flint.arb(high)), (name, x[i], radius[i])
            if name in bottoms and abs(middle - (flint.arb(-1).exp() if name == "xlogx" else 0)) < r:
                least = -flint.arb(-1).exp() if name == "xlogx" else flint.arb(0)
                assert low == -np.inf or flint.arb(low) <= least


def test_images_of_intervals_are_hardly_wider_than_they_must_be() -> None:
    x, r = np.array([0.3, 1.7, 40.0]), 1e-3
    for name, slope in (
        ("exp", np.exp),
        ("expm1", np.exp),
        ("log", lambda t: 1 / t),
        ("log1p", lambda t: 1 / (1 + t)),
        ("xlogx", lambda t: 1 + np.log(t)),
        ("bennett", np.log1p),
    ):
        interval = getattr(INTERVAL, name)(Interval(x, r))
        np.testing.assert_allclose(interval.rad, np.abs(slope(x)) * r, rtol=0.01)
    assert INTERVAL.lower(INTERVAL.xlogx(Interval(0.5, 0.5))) == pytest.approx(-np.exp(-1), abs=1e-15)
    assert INTERVAL.upper(INTERVAL.xlogx(Interval(0.5, 0.5))) <= 1e-15
    # which the intervals about it are, to a thousandth part: the least value is that at the bottom, not less
    near = INTERVAL.bennett(Interval(1e-9, 2e-9))
    assert INTERVAL.lower(near) <= 0.0 and INTERVAL.upper(near) <= 4.6e-18


def test_floats_know_the_same_functions() -> None:
    rng = np.random.default_rng(4)
    for name in TRUE:
        x = arguments(name, rng, 300)
        with np.errstate(all="ignore"):
            value, interval = getattr(FLOAT, name)(x), getattr(INTERVAL, name)(INTERVAL.lift(x))
        finite = np.isfinite(value) & np.isfinite(interval.rad)
        assert np.all(np.abs(value - interval.mid)[finite] <= (8 * U * np.abs(interval.mid) + interval.rad + 1e-321)[finite]), name
        assert finite.sum() > 200
    for name in ("xlogx", "bennett"):
        assert np.isnan(getattr(FLOAT, name)(np.array([-np.inf]))[0]) and np.isnan(getattr(FLOAT, name)(np.array([np.nan]))[0])
    assert FLOAT.xlogx(-1e-18) == 0.0 and FLOAT.bennett(-1.0 - 1e-15) == 1.0 and FLOAT.bennett(0.0) == 0.0


def test_fractions_know_none_of_them() -> None:
    for name in TRUE:
        with pytest.raises(NotRational, match="use INTERVAL"):
            getattr(RATIONAL, name)(RATIONAL.lift([2.0]))


def test_relative_entropy_is_a_multiple_of_bennetts_function() -> None:
    """t b(s/t − 1) = s log(s/t) − s + t, which cancels to nothing where s is near t."""
    rng = np.random.default_rng(5)
    s = rng.uniform(0.0, 1.0, 200)
    t = s * (1 + rng.normal(size=200) * 2.0 ** rng.uniform(-40, -1, 200))
    t = np.where(t > 0, t, 0.5)
    interval = INTERVAL.lift(t) * INTERVAL.bennett((INTERVAL.lift(s) - t) / t)
    with flint.ctx.workprec(300):
        for a, b, low, high in zip(s.tolist(), t.tolist(), interval.low.tolist(), interval.high.tolist(), strict=True):
            one, two = flint.arb(a), flint.arb(b)
            true = one * (one / two).log() - one + two
            assert flint.arb(low) <= true <= flint.arb(high)
            assert high - low <= 1e-12 * high + 1e-40
