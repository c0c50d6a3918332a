"""Arithmetic: INTERVAL contains the real value (computed in fractions), RATIONAL is exact, and neither fails silently."""

import math
import operator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Interval, NotRational
from simopt.arithmetic.interval import _next

finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e-290, 1e-290),
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e300, -1e300, 1 / 3, 1e-155]),
)
vectors = st.lists(st.tuples(finite, finite), min_size=1, max_size=7)
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def contains(interval: Any, value: Fraction) -> bool:
    low, high = INTERVAL.lower(interval), INTERVAL.upper(interval)
    return (low == -np.inf or Fraction(low) <= value) and (high == np.inf or value <= Fraction(high))


def interval_with(value: float, radius: float) -> tuple[Interval, list[Fraction]]:
    """An interval and three real numbers in it: both ends and the middle."""
    radius = abs(radius)
    return Interval(value, radius), [Fraction(value) - Fraction(radius), Fraction(value), Fraction(value) + Fraction(radius)]


@settings(max_examples=400, deadline=None)
@given(finite, finite, finite, finite, st.sampled_from("+-*/"))
@example(1e-310, 0.0, 1e-10, 0.0, "/")
@example(1.0, 0.0, 1e-300, 1e-310, "/")
@example(1e-320, 0.0, 1e-300, 1e-310, "/")
@example(1.0, 0.0, 1.7976931348623157e308, 1.7976931348623157e308, "/")
def test_operators_contain_every_pair_of_members(a: float, ra: float, b: float, rb: float, sign: str) -> None:
    one, members = interval_with(a, ra)
    two, others = interval_with(b, rb)
    operation = OPERATIONS[sign]
    with np.errstate(all="ignore"):
        try:
            result = operation(one, two)
        except ZeroDivisionError:
            assert sign == "/" and abs(Fraction(b)) <= abs(Fraction(rb)) + Fraction(math.ulp(b))
            return
    for x in members:
        for y in others:
            assert contains(result, operation(x, y)), (x, y)


@settings(max_examples=300, deadline=None)
@given(vectors)
@example([(1e10, 1e-310)])
@example([(1e300, 5e-324), (1e300, -5e-324)])
def test_sums_of_products_contain_the_exact_value(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array(column) for column in zip(*pairs, strict=True))
    exact = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    with np.errstate(all="ignore"):
        assert contains(INTERVAL.dot(INTERVAL.lift(x), INTERVAL.lift(y)), exact)
        assert contains(INTERVAL.matvec(x[None, :], INTERVAL.lift(y))[0], exact)
        assert contains(INTERVAL.rmatvec(x[:, None], INTERVAL.lift(y))[0], exact)
        assert contains(INTERVAL.sum(INTERVAL.lift(x)), sum(map(Fraction, x.tolist()), Fraction(0)))
        partial = INTERVAL.cumsum(INTERVAL.lift(x))
    for i in range(len(x)):
        assert contains(partial[i], sum(map(Fraction, x[: i + 1].tolist()), Fraction(0)))


@settings(max_examples=200, deadline=None)
@given(vectors, st.data())
def test_products_of_wide_intervals_contain_products_of_members(pairs: list[tuple[float, float]], data: st.DataObject) -> None:
    x, rx = (np.array(column) for column in zip(*pairs, strict=True))
    y, ry = (np.array(data.draw(st.lists(finite, min_size=len(x), max_size=len(x)))) for _ in range(2))
    signs = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=2 * len(x), max_size=2 * len(x)))
    inside = [Fraction(m) + s * abs(Fraction(r)) for m, r, s in zip([*x, *y], [*rx, *ry], signs, strict=True)]
    exact = sum((a * b for a, b in zip(inside[: len(x)], inside[len(x) :], strict=True)), Fraction(0))
    one, two = Interval(x, np.abs(rx)), Interval(y, np.abs(ry))
    with np.errstate(all="ignore"):
        assert contains(INTERVAL.dot(one, two), exact)
        assert contains(INTERVAL.matvec(Interval(x[None, :], np.abs(rx)[None, :]), two)[0], exact)


@settings(max_examples=200, deadline=None)
@given(finite, finite, finite, st.sampled_from([-1, 0, 1]))
def test_lattice_operations_contain_their_members(a: float, r: float, b: float, side: int) -> None:
    interval, members = interval_with(a, r)
    x, y = members[side + 1], Fraction(b)
    with np.errstate(all="ignore"):
        assert contains(INTERVAL.abs(interval), abs(x))
        assert contains(INTERVAL.pos(interval), max(x, Fraction(0)))
        assert contains(INTERVAL.minimum(interval, INTERVAL.lift(b)), min(x, y))
        assert contains(INTERVAL.maximum(interval, INTERVAL.lift(b)), max(x, y))
        assert contains(INTERVAL.clip(interval, -1.0, 1.0), min(max(x, Fraction(-1)), Fraction(1)))
        assert contains(INTERVAL.max(INTERVAL.concat([interval, INTERVAL.lift(b)])), max(x, y))


@settings(max_examples=200, deadline=None)
@given(st.floats(0, 1e300), st.floats(0, 1e3))
def test_roots_and_powers_contain_the_real_value(a: float, radius: float) -> None:
    interval, members = interval_with(a, radius)
    with np.errstate(all="ignore"):
        root, power = INTERVAL.sqrt(interval), INTERVAL.power(interval, 1.5)
    for x in members:
        if x >= 0:
            low, high = max(INTERVAL.lower(root), 0.0), INTERVAL.upper(root)
            assert Fraction(low) ** 2 <= x <= Fraction(high) ** 2
            low, high = max(INTERVAL.lower(power), 0.0), INTERVAL.upper(power)
            assert Fraction(low) ** 2 <= x**3 and (high == np.inf or x**3 <= Fraction(high) ** 2)


def test_negative_and_zero_powers_at_the_border() -> None:
    assert INTERVAL.upper(INTERVAL.power(INTERVAL.lift(0.0), -0.5)) == np.inf
    assert contains(INTERVAL.power(Interval(0.5, 0.25), -1.0), Fraction(4, 3))
    assert contains(INTERVAL.power(Interval(0.5, 0.25), -1.0), Fraction(4))
    assert contains(INTERVAL.power(INTERVAL.lift(0.0), 0.0), Fraction(1))


@settings(max_examples=100, deadline=None)
@given(vectors)
def test_norm_contains_the_real_norm(pairs: list[tuple[float, float]]) -> None:
    x = np.array([a for a, _ in pairs])
    assume(np.max(np.abs(x)) < 1e150)
    interval = INTERVAL.norm(INTERVAL.lift(x))
    square = sum((Fraction(a) ** 2 for a in x.tolist()), Fraction(0))
    assert Fraction(max(INTERVAL.lower(interval), 0.0)) ** 2 <= square <= Fraction(INTERVAL.upper(interval)) ** 2


def test_intervals_are_narrow() -> None:
    """Containment alone would be met by (−∞, ∞)."""
    rng = np.random.default_rng(0)
    a, x = rng.standard_normal((40, 30)), rng.standard_normal(30)
    intervals = INTERVAL.matvec(a, INTERVAL.lift(x))
    assert np.max(intervals.rad) < 1e-12
    assert INTERVAL.upper(INTERVAL.norm(intervals)) - INTERVAL.lower(INTERVAL.norm(intervals)) < 1e-11
    third = INTERVAL.lift(1.0) / 3
    assert INTERVAL.upper(third) - INTERVAL.lower(third) < 1e-15


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, np.maximum, np.less])
@pytest.mark.parametrize("other", [0.0, np.float64(0.0), np.zeros(3), Interval(np.zeros(3))])
def test_comparisons_of_intervals_are_refused(compare: Any, other: Any) -> None:
    interval = Interval(np.zeros(3), 1e-3)
    for pair in ((interval, other), (other, interval)):
        with pytest.raises(TypeError):
            compare(*pair)


def test_an_interval_is_neither_true_nor_a_float() -> None:
    with pytest.raises(TypeError):
        bool(Interval(1.0))
    with pytest.raises(TypeError):
        float(Interval(1.0))
    with pytest.raises(ZeroDivisionError):
        INTERVAL.lift(1.0) / Interval(0.0, 1e-300)


def test_overflow_gives_infinite_ends_never_nan() -> None:
    with np.errstate(all="ignore"):
        huge = INTERVAL.lift(1e308) * 10.0
        nothing = huge - huge
    for interval in (huge, nothing):
        assert INTERVAL.lower(interval) <= 1e308 and INTERVAL.upper(interval) == np.inf


@settings(max_examples=200, deadline=None)
@given(vectors, finite)
def test_rational_is_exact_whatever_meets_it(pairs: list[tuple[float, float]], c: float) -> None:
    x, y = (np.array(column) for column in zip(*pairs, strict=True))
    fx, fy = [Fraction(v) for v in x.tolist()], [Fraction(v) for v in y.tolist()]
    exact = sum((a * b for a, b in zip(fx, fy, strict=True)), Fraction(0))
    lx = RATIONAL.lift(x)
    assert RATIONAL.dot(lx, RATIONAL.lift(y)) == exact
    assert RATIONAL.matvec(y[None, :], lx)[0] == exact
    assert RATIONAL.sum(c * lx + y - np.float64(c)) == Fraction(c) * sum(fx) + sum(fy) - len(fx) * Fraction(c)
    assert RATIONAL.max(RATIONAL.minimum(lx, c)) == max(min(v, Fraction(c)) for v in fx)
    assert list(RATIONAL.cumsum(lx))[-1] == sum(fx)
    assert RATIONAL.sum(RATIONAL.pos(lx)) + RATIONAL.sum(RATIONAL.pos(-lx)) == RATIONAL.sum(RATIONAL.abs(lx))


def test_a_float_does_not_make_a_fraction_inexact() -> None:
    """Python's Fraction(1, 3) * 0.5 is a float; the formulas would lose their exactness without a word."""
    third = RATIONAL.lift(1) / 3
    for value in (
        0.5 * third,
        third * 0.5,
        third + 0.1,
        0.1 - third,
        1.0 / third,
        np.float64(0.1) * third,
        -third * 0.1,
        abs(third) ** 2 * 0.1,
    ):
        assert isinstance(value, Fraction)
    assert third * 3 == 1 and (third + 0.1) - Fraction(0.1) == Fraction(1, 3)
    big = RATIONAL.lift(np.int64(2**62)) * np.int64(4)
    assert big == 2**64
    assert RATIONAL.sum(RATIONAL.lift([np.int64(2**62)] * 4)) == 2**64


@settings(max_examples=200, deadline=None)
@given(st.fractions(), st.integers(1, 400))
def test_rational_ends_are_the_nearest_floats_outside(x: Fraction, stretch: int) -> None:
    value = x / 3**stretch
    low, high = RATIONAL.lower(value), RATIONAL.upper(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert high == low or high == np.nextafter(low, np.inf)
    assert RATIONAL.upper(Fraction(10) ** 400) == np.inf and RATIONAL.lower(Fraction(10) ** 400) == np.finfo(float).max


def test_rational_refuses_what_is_not_rational() -> None:
    assert RATIONAL.norm(RATIONAL.lift([3.0, 4.0])) == 5
    assert RATIONAL.power(RATIONAL.lift(4.0), 1.5) == 8 and RATIONAL.power(RATIONAL.lift(4.0), -0.5) == Fraction(1, 2)
    for refused in (
        lambda: RATIONAL.sqrt(RATIONAL.lift(2.0)),
        lambda: RATIONAL.power(RATIONAL.lift(2.0), 1 / 3),
        lambda: RATIONAL.sqrt(RATIONAL.lift(-1.0)),
        lambda: RATIONAL.lift(2.0) ** 0.5,
    ):
        with pytest.raises(NotRational):
            refused()


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: str(num.name))
def test_every_arithmetic_evaluates_the_same_formula(num: Any) -> None:
    """The whole interface once, on numbers for which every step is exact."""
    a = np.array([[1.0, 2.0], [3.0, -4.0]])
    x = num.lift([3.0, -4.0])
    value = num.sum(num.abs(num.matvec(a, x))) / 2 + 1.5 * num.norm(x) - num.dot(x, num.rmatvec(a, x))
    value = value + num.max(num.concat([x, num.zeros(2), num.lift(7.0)])) * num.sum(num.clip(x, -1.0, 1.0)) + num.power(num.lift(4.0), 0.5)
    expected = (5.0 + 25.0) / 2 + 1.5 * 5.0 + 115.0 + 7.0 * 0.0 + 2.0  # A x = (−5, 25), Aᵀ x = (−9, 22), x·Aᵀx = −115
    assert num.lower(value) <= expected <= num.upper(value)
    assert num.upper(value) - num.lower(value) < 1e-11
    assert np.allclose(num.mid(num.lift([1.0, 2.0])), [1.0, 2.0])


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.floats(-800, 800), st.floats(-1e300, -1e3), st.floats(1e3, 1e300)), st.floats(0, 1))
@example(-745.1, 0.0)
@example(709.8, 0.0)
@example(-699.0, 0.0)
def test_exponentials_contain_their_members(x: float, r: float) -> None:
    with np.errstate(all="ignore"):
        interval = INTERVAL.exp(Interval(x, r))
    with localcontext(Context(prec=60, Emax=10**9, Emin=-(10**9))):
        ends = [(Decimal(x) + sign * Decimal(r)) for sign in (-1, 0, 1)]
        values = [end.exp() if abs(end) < 10**7 else Decimal(0) if end < 0 else Decimal(10) ** 10**6 for end in ends]
        low, high = Decimal(INTERVAL.lower(interval)), Decimal(INTERVAL.upper(interval))
        assert all(low <= value <= high for value in values)
        # Below e^-672 = 2^-1022 / eps the radius of an interval is subnormal, and no longer a few units in the last place of the midpoint.
        assert r > 0 or not -672 <= x <= 700 or high - low <= Decimal("2e-15") * values[1]


@settings(max_examples=200, deadline=None)
@given(st.floats(5e-324, 1e300), st.floats(0, 1))
@example(1.0, 0.0)
@example(5e-324, 0.0)
def test_logarithms_contain_their_members(x: float, fraction: float) -> None:
    radius = fraction * x
    interval = INTERVAL.log(Interval(x, radius))
    with localcontext(Context(prec=60)):
        members = [Decimal(x) + sign * Decimal(radius) for sign in (-1, 0, 1)]
        low, high = INTERVAL.lower(interval), INTERVAL.upper(interval)
        for member in members:
            if member > 0:
                assert (low == -np.inf or Decimal(low) <= member.ln()) and member.ln() <= Decimal(high)
    assert INTERVAL.lower(INTERVAL.log(Interval(1.0, 1.0))) == -np.inf


def test_fractions_have_no_exponentials_and_logarithms() -> None:
    for function in (RATIONAL.exp, RATIONAL.log):
        with pytest.raises(NotRational, match="use INTERVAL"):
            function(RATIONAL.lift(2.0))
    assert FLOAT.log(FLOAT.exp(2.0)) == pytest.approx(2.0)


SIZES = [1.0, 1 / 3, 5e-324, 2.0**-1060, 1e-308, 1e-200, 1e-155, 1e154, 1e155, 1e200, 1.7e308, float(np.finfo(float).max)]


def of_all_sizes(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.asarray(rng.choice(SIZES, n) * rng.choice([-1.0, 1.0, 0.0, 0.5], n, p=[0.4, 0.4, 0.1, 0.1]))


@pytest.mark.slow
def test_no_size_of_numbers_makes_an_enclosure_exclude_the_truth() -> None:
    """Overflow, underflow and both at once, against fractions: 3000 sums of products and what is made of them afterwards."""
    rng = np.random.default_rng(0)
    for _ in range(3000):
        n = int(rng.integers(1, 6))
        x, y = of_all_sizes(rng, n), of_all_sizes(rng, n)
        exact = [Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)]
        value, extra = sum(exact, Fraction(0)), of_all_sizes(rng, 2)
        with np.errstate(all="ignore"):
            dot, products = INTERVAL.dot(x, y), INTERVAL.lift(x) * INTERVAL.lift(y)
            rows = INTERVAL.matvec(np.stack([x, y]), y)
            assert contains(dot, value) and contains(INTERVAL.sum(products), value) and contains(rows[0], value)
            assert contains(rows[1], sum((Fraction(b) ** 2 for b in y), Fraction(0)))
            assert contains(INTERVAL.cumsum(products)[n - 1], value)
            assert contains(INTERVAL.pos(dot), max(value, Fraction(0))) and contains(INTERVAL.abs(dot), abs(value))
            assert contains(INTERVAL.clip(dot, -1.0, 2.0), min(max(value, Fraction(-1)), Fraction(2)))
            assert contains(INTERVAL.max(products), max(exact))
            assert contains(dot * extra[0] + extra[1], value * Fraction(extra[0]) + Fraction(extra[1]))
            square = INTERVAL.power(INTERVAL.abs(dot), 2.0)
            assert contains(square, value**2) and contains(INTERVAL.power(INTERVAL.sqrt(square), 2.0), value**2)
            if extra[0]:
                assert contains(dot / extra[0], value / Fraction(extra[0]))


def test_a_float_that_overflowed_in_a_sum_does_not_come_back_as_a_number() -> None:
    """1e200² − 1e200² may be anything: no clipping, root, minimum or division makes a finite number of what a sum lost."""
    rng = np.random.default_rng(1)
    for _ in range(2000):
        n = int(rng.integers(1, 6))
        x, y = of_all_sizes(rng, n), of_all_sizes(rng, n)
        with np.errstate(all="ignore"):
            products = x * y
            rows = FLOAT.matvec(np.stack([x, y]), y)
            for value in (FLOAT.dot(x, y), FLOAT.sum(products), rows[0], FLOAT.cumsum(products)[-1]):
                if np.isfinite(value):
                    continue
                assert np.isnan(value)
                made = (FLOAT.pos(value), FLOAT.sqrt(value), FLOAT.power(value, 1.5), FLOAT.clip(value, 0.0, 1.0), 1.0 / value)
                assert all(np.isnan(v) for v in made)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_the_positive_part_of_an_overflow_is_not_zero(shape: tuple[int, ...]) -> None:
    lost = np.full(shape, -np.inf)
    assert np.all(np.isnan(FLOAT.pos(lost if shape else -np.inf))) and np.all(np.isnan(FLOAT.pos(np.full(shape, np.nan))))
    assert np.all(FLOAT.pos(np.full(shape, -3.0)) == 0.0) and FLOAT.pos(np.zeros(0)).size == 0
    with np.errstate(all="ignore"):
        interval = INTERVAL.pos(INTERVAL.lift(np.full(shape, -1e200)) * 1e200 + INTERVAL.lift(np.full(shape, 1e200)) * 2e200)
    assert np.all(interval.low <= 1e300) and np.all(interval.high == np.inf)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("block", [1, 7, 40, 1 << 18])
def test_absolute_values_in_blocks_are_those_of_the_whole_matrix(order: Any, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(block)
    matrix, x = np.asarray(rng.standard_normal((9, 13)), order=order), rng.standard_normal(13)
    monkeypatch.setattr("simopt.arithmetic.interval.BLOCK", block)
    interval = INTERVAL.matvec(matrix, x)
    exact = [sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, x, strict=True)), Fraction(0)) for row in matrix]
    assert all(
        Fraction(float(low)) <= value <= Fraction(float(high)) for low, value, high in zip(interval.low, exact, interval.high, strict=True)
    )
    assert interval.rad == pytest.approx(17 * 2.0**-52 * np.abs(matrix) @ np.abs(x), rel=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
def test_the_product_with_a_unit_vector_is_a_column_without_rounding(kind: Any) -> None:
    matrix = np.random.default_rng(0).normal(size=(4, 3))
    column = INTERVAL.matvec(kind(matrix), np.array([0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(column.mid, matrix[:, 1])
    assert not column.rad.any()
    assert INTERVAL.matvec(kind(matrix), np.array([0.0, 2.0 / 3.0, 0.0])).rad.all()  # a product with another number is rounded
    wide = INTERVAL.matvec(Interval(matrix, np.full((4, 3), 1e-3)), np.array([0.0, 1.0, 0.0]))
    assert np.all(wide.low <= matrix[:, 1] - 1e-3) and np.all(wide.high >= matrix[:, 1] + 1e-3)


def test_a_place_that_is_stored_twice_is_a_sum_in_a_column_too() -> None:
    twice = sp.csr_array((np.array([0.1, 0.2]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    column = INTERVAL.matvec(twice, np.array([1.0]))
    assert Fraction(float(column.low[0])) <= Fraction(0.1) + Fraction(0.2) <= Fraction(float(column.high[0]))


ALL = (-np.inf, np.inf)


def ends(interval: Interval) -> tuple[Any, Any]:
    return interval.low.tolist(), interval.high.tolist()


def is_exactly(interval: Interval, value: Any) -> bool:
    return ends(interval) == (np.asarray(value, dtype=float).tolist(),) * 2 and not interval.rad.any()


@settings(max_examples=300, deadline=None)
@given(finite, finite)
@example(1e308, 1e308)
@example(5e-324, 0.0)
def test_what_is_exactly_zero_stays_so(value: float, radius: float) -> None:
    """Nothing is known of a number that overflowed but that it is one: 0 times it is 0."""
    zero, interval, unknown = INTERVAL.lift(0.0), Interval(value, abs(radius)), Interval(0.0, np.inf)
    with np.errstate(all="ignore"):
        for product in (zero * interval, interval * zero, zero * unknown, unknown * 0.0, interval * 0.0 * unknown):
            assert is_exactly(product, 0.0)
        assert is_exactly(zero + zero - zero, 0.0) and is_exactly(INTERVAL.sqrt(zero), 0.0) and is_exactly(INTERVAL.abs(zero), 0.0)
        assert is_exactly(INTERVAL.lift(value) - value, 0.0) and is_exactly(INTERVAL.pos(INTERVAL.lift(-abs(value))), 0.0)
        assert is_exactly(INTERVAL.abs(INTERVAL.lift(value)), abs(value)) and is_exactly(
            INTERVAL.clip(INTERVAL.lift(value), value, value), value
        )
        both = INTERVAL.concat([zero, interval, unknown])
        assert is_exactly((both * INTERVAL.lift(np.zeros(3))), np.zeros(3)) and is_exactly(both * np.array([1.0, 0.0, 0.0]), np.zeros(3))
        assert is_exactly(INTERVAL.dot(both, np.array([1.0, 0.0, 0.0])), 0.0) and is_exactly(INTERVAL.dot(np.zeros(3), both), 0.0)
        assert is_exactly(INTERVAL.cumsum(both)[:1], [0.0])
        if abs(value) > abs(radius):
            assert is_exactly(zero / interval, 0.0)
        matrix = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        for form in (matrix, scipy.sparse.csr_array(matrix), scipy.sparse.csc_array(matrix), Interval(matrix)):
            rows = INTERVAL.matvec(form, both)
            assert is_exactly(rows[:2], np.zeros(2)) and contains(rows[2], Fraction(value)) and ends(rows[3]) == ALL
            assert is_exactly(INTERVAL.matvec(form, INTERVAL.zeros(3)), np.zeros(4))
            assert is_exactly(INTERVAL.rmatvec(form, INTERVAL.concat([unknown, zero, zero, zero])), np.zeros(3))


def test_an_infinity_that_was_lifted_is_no_number_and_zero_times_it_may_be_anything() -> None:
    zero = INTERVAL.lift(0.0)
    with np.errstate(all="ignore"):
        for lifted in (np.inf, -np.inf, np.nan):
            for interval in (zero * lifted, INTERVAL.lift(lifted) * zero, INTERVAL.dot(np.array([0.0, 1.0]), np.array([lifted, 1.0]))):
                assert ends(interval) == ALL
            assert ends(INTERVAL.matvec(np.array([[0.0, 1.0]]), np.array([lifted, 1.0]))) == ([-np.inf], [np.inf])


def test_products_that_underflow_together_are_not_lost_however_many_they_are() -> None:
    """(1.2e-162)² is below half of the smallest float, but a million of them are not."""
    n, x = 1_000_000, 1.2e-162
    exact, column = n * Fraction(x) ** 2, np.full(n, x)
    for interval in (
        INTERVAL.dot(column, column),
        INTERVAL.matvec(column[None], column)[0],
        INTERVAL.matvec(scipy.sparse.csr_array(column[None]), column)[0],
        INTERVAL.sum(INTERVAL.lift(column) * column),
        INTERVAL.group_sum(INTERVAL.lift(column) * column, np.zeros(n, dtype=int), 1)[0],
    ):
        assert contains(interval, exact) and float(interval.rad) > 0.0


@settings(max_examples=500, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_next_float_is_numpys(x: float) -> None:
    array = np.array([[x + 0.0]])
    with np.errstate(all="ignore"):
        for direction, end in ((-1, -np.inf), (1, np.inf)):
            assert _next(array, direction).tolist() == ([[np.nextafter(x, end)]] if x else [[0.0]])


def test_hulls_hold_their_ends_and_little_more() -> None:
    rng = np.random.default_rng(6)
    low = of_all_sizes(rng, 2000)
    high = np.where(rng.uniform(size=2000) < 0.3, low, np.maximum(low, of_all_sizes(rng, 2000)))
    interval = Interval.hull(low, high)
    assert np.all(interval.low <= low) and np.all(high <= interval.high)
    assert is_exactly(interval[low == high], low[low == high])
    step = Interval.hull(1.0, 1.0 + 2.0**-52)
    assert ends(step)[1] - ends(step)[0] <= 4 * 2.0**-52


def fractions(values: Any) -> list[Fraction]:
    return [Fraction(v) for v in np.ravel(values).tolist()]


FORMATS = ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"]


@pytest.mark.parametrize("form", FORMATS)
def test_products_with_sparse_matrices_contain_the_exact_ones_forward_and_adjoint(form: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        n, d = (int(k) for k in rng.integers(1, 6, 2))
        dense = of_all_sizes(rng, n * d).reshape(n, d) * (rng.uniform(size=(n, d)) < 0.5)
        matrix = scipy.sparse.coo_array(dense).asformat(form)
        for given_to, transposed, length in ((dense, False, d), (dense.T, True, n)):
            x, radius, side = of_all_sizes(rng, length), np.abs(of_all_sizes(rng, length)), rng.choice([-1, 0, 1], length)
            radius = radius * (rng.uniform(size=length) < 0.5)
            member = [m + int(s) * r for m, r, s in zip(fractions(x), fractions(radius), side, strict=True)]
            exact = [sum((Fraction(a) * b for a, b in zip(row, member, strict=True)), Fraction(0)) for row in given_to.tolist()]
            with np.errstate(all="ignore"):
                interval = (INTERVAL.rmatvec if transposed else INTERVAL.matvec)(matrix, Interval(x, radius))
                plain = (FLOAT.rmatvec if transposed else FLOAT.matvec)(matrix, x)
                thin = (INTERVAL.rmatvec if transposed else INTERVAL.matvec)(matrix, x)
            assert all(contains(interval[i], value) for i, value in enumerate(exact))
            assert np.all(np.isnan(plain) | ((thin.low <= plain) & (plain <= thin.high)))
            found = (RATIONAL.rmatvec if transposed else RATIONAL.matvec)(matrix, RATIONAL.lift(x))
            assert list(found) == [
                sum((Fraction(a) * Fraction(b) for a, b in zip(r, x.tolist(), strict=True)), Fraction(0)) for r in given_to.tolist()
            ]


def test_the_radius_of_a_sparse_product_counts_the_entries_of_a_row_and_not_the_columns() -> None:
    rng = np.random.default_rng(8)
    n = 4000
    matrix = scipy.sparse.eye_array(n, format="csr") * 3.0
    matrix = scipy.sparse.vstack([matrix, scipy.sparse.csr_array(np.ones((1, n)))], format="csr")
    x = rng.uniform(1.0, 2.0, n)
    for form in (matrix, matrix.tocsc()):
        interval = INTERVAL.matvec(form, x)
        assert np.all(interval.rad[:n] <= 8 * 2.0**-52 * np.abs(interval.mid[:n]))
        assert n / 2 * 2.0**-52 * interval.mid[n] <= interval.rad[n] <= 2 * n * 2.0**-52 * interval.mid[n]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_entries_that_are_stored_twice_are_two_terms_and_stay_so(form: str) -> None:
    """SciPy adds them in floats when it changes formats: 1e30 + 1 − 1e30 would become 0."""
    entries, row, column = np.array([1e30, 1.0, -1e30, 5.0]), np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1])
    if form == "csr":
        matrix = scipy.sparse.csr_array((entries, column, np.array([0, 3, 4])), shape=(2, 2))
    elif form == "csc":
        matrix = scipy.sparse.csc_array((entries, row, np.array([0, 3, 4])), shape=(2, 2))
    else:
        matrix = scipy.sparse.coo_array((entries, (row, column)), shape=(2, 2))
    x = np.array([1.0, 2.0])
    for product in (lambda num: num.matvec(matrix, num.lift(x)), lambda num: num.rmatvec(matrix, num.lift(x))):
        interval = product(INTERVAL)
        assert contains(interval[0], Fraction(1)) and contains(interval[1], Fraction(10)) and list(product(RATIONAL)) == [1, 10]
    assert matrix.nnz == 4 and matrix.data.tolist() == entries.tolist()


def test_a_diagonal_of_a_million_entries_is_no_square_of_them() -> None:
    n = 1_000_000
    x = np.linspace(-1.0, 1.0, n)
    for matrix in (scipy.sparse.diags_array(np.full(n, 2.0)), scipy.sparse.eye_array(n, format="csc") * 2):
        interval = INTERVAL.rmatvec(matrix, INTERVAL.matvec(matrix, x))
        assert (
            np.all(interval.low <= 4 * x) and np.all(4 * x <= interval.high) and np.all(interval.rad <= 11 * 2.0**-52 * np.abs(4 * x))
        )  # 5 for each product
        assert np.array_equal(FLOAT.matvec(matrix, x), 2 * x)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(finite, finite, st.integers(0, 3), st.sampled_from([-1, 0, 1])), min_size=1, max_size=9))
def test_sums_and_maxima_of_groups_contain_those_of_members(entries: list[tuple[float, float, int, int]]) -> None:
    x, radius, groups, side = (np.array(column) for column in zip(*entries, strict=True))
    radius = np.abs(radius)
    member = [m + int(s) * r for m, r, s in zip(fractions(x), fractions(radius), side, strict=True)]
    with np.errstate(all="ignore"):
        sums = INTERVAL.group_sum(Interval(x, radius), groups, 5)
    kept, places = np.unique(groups, return_inverse=True)
    with np.errstate(all="ignore"):
        tops = INTERVAL.group_max(Interval(x, radius), places, len(kept))
    exact = RATIONAL.group_sum(RATIONAL.lift(x), groups, 5)
    largest = RATIONAL.group_max(RATIONAL.lift(x), places, len(kept))
    for g in range(5):
        parts = [value for value, own in zip(member, groups, strict=True) if own == g]
        assert contains(sums[g], sum(parts, Fraction(0)))
        assert exact[g] == sum((value for value, own in zip(fractions(x), groups, strict=True) if own == g), Fraction(0))
        if not parts:
            assert is_exactly(sums[g], 0.0)
        else:
            j = kept.tolist().index(g)
            assert contains(tops[j], max(parts))
            assert largest[j] == max(value for value, own in zip(fractions(x), groups, strict=True) if own == g)
    assert FLOAT.group_max(x, places, len(kept)).tolist() == [float(v) for v in largest]


def test_what_is_alone_in_its_group_is_only_put_in_its_place() -> None:
    x = np.array([0.1, -0.2, 0.3])
    assert is_exactly(INTERVAL.group_sum(x, [4, 0, 2], 6), [-0.2, 0.0, 0.3, 0.0, 0.1, 0.0])
    assert is_exactly(INTERVAL.group_max(x, [2, 0, 1], 3), [-0.2, 0.3, 0.1])
    ones = INTERVAL.group_sum(np.ones(1000), np.repeat([0, 1], [10, 990]), 2)
    assert 5 * 10 * 2.0**-53 <= ones.rad[0] <= 40 * 10 * 2.0**-52 and 100 * 990 * 2.0**-53 <= ones.rad[1]
    assert np.isnan(FLOAT.group_max(np.array([-np.inf, 1.0]), [0, 0], 1)[0])
    with np.errstate(all="ignore"):
        assert np.isnan(FLOAT.group_sum(np.array([1e308, 1e308, 1.0]), [0, 0, 1], 2)[0])


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: str(num.name))
def test_groups_that_are_none_are_named(num: Any) -> None:
    x = num.lift([1.0, 2.0])
    for groups, count, message in (
        ([0, 3], 2, "entry 1 is in group 3, where there are groups 0 to 1"),
        ([-1, 0], 2, "entry 0 is in group -1"),
    ):
        for operation in (num.group_sum, num.group_max):
            with pytest.raises(ValueError, match=message):
                operation(x, groups, count)
    with pytest.raises(ValueError, match="group 1 of 3 is empty"):
        num.group_max(x, [0, 2], 3)


def test_no_chain_of_operations_loses_the_truth_however_large_or_small_it_grows() -> None:
    """Random formulas over intervals of all sizes, each step against fractions: overflow, underflow, exact zeros and all that follows."""
    rng = np.random.default_rng(9)
    lost = zeros = 0
    for _ in range(400):
        n = 3
        pool: list[tuple[Interval, list[Fraction]]] = []
        for _ in range(3):
            x, r = of_all_sizes(rng, n), np.abs(of_all_sizes(rng, n)) * (rng.uniform(size=n) < 0.3)
            side = rng.choice([-1, 0, 1], n)
            pool.append((Interval(x, r), [m + int(s) * e for m, e, s in zip(fractions(x), fractions(r), side, strict=True)]))
        for _ in range(7):
            (a, u), (b, v) = pool[rng.integers(len(pool))], pool[rng.integers(len(pool))]
            matrix = of_all_sizes(rng, n * n).reshape(n, n)
            groups = rng.permutation([0, 1, 2]) if rng.uniform() < 0.5 else np.array([0, 1, 2])
            if rng.uniform() < 0.3:
                groups = np.array([0, 0, 1])
            step = rng.integers(11)
            with np.errstate(all="ignore"):
                if step == 0:
                    made, true = a + b, [p + q for p, q in zip(u, v, strict=True)]
                elif step == 1:
                    made, true = a - b, [p - q for p, q in zip(u, v, strict=True)]
                elif step == 2:
                    made, true = a * b, [p * q for p, q in zip(u, v, strict=True)]
                elif step == 3:
                    try:
                        made, true = a / b, [p / q for p, q in zip(u, v, strict=True)]
                    except ZeroDivisionError:
                        continue
                elif step == 4:
                    made, true = INTERVAL.maximum(a, b), [max(p, q) for p, q in zip(u, v, strict=True)]
                elif step == 5:
                    made, true = INTERVAL.minimum(INTERVAL.abs(a), b), [min(abs(p), q) for p, q in zip(u, v, strict=True)]
                elif step == 6:
                    made, true = INTERVAL.pos(a), [max(p, Fraction(0)) for p in u]
                elif step == 7:
                    form = scipy.sparse.csr_array(matrix) if rng.uniform() < 0.5 else matrix
                    made, true = (
                        INTERVAL.matvec(form, a),
                        [sum((f * p for f, p in zip(fractions(row), u, strict=True)), Fraction(0)) for row in matrix],
                    )
                elif step == 8:
                    made, true = INTERVAL.cumsum(a), [sum(u[: i + 1], Fraction(0)) for i in range(n)]
                elif step == 9:
                    made = INTERVAL.group_sum(a, groups, n)
                    true = [sum((p for p, g in zip(u, groups, strict=True) if g == j), Fraction(0)) for j in range(n)]
                else:
                    one, two = INTERVAL.dot(a, b), INTERVAL.sum(a)
                    exact = sum((p * q for p, q in zip(u, v, strict=True)), Fraction(0))
                    made, true = INTERVAL.concat([one, two, a[0]]), [exact, sum(u, Fraction(0)), u[0]]
                assert not np.isnan(made.rad).any() and np.all(made.rad >= 0.0) and np.isfinite(made.mid).all()
                assert all(contains(made[i], value) for i, value in enumerate(true)), step
                unknown = np.isinf(made.rad)
                assert np.all(made.low[unknown] == -np.inf) and np.all(made.high[unknown] == np.inf)
                beyond = [abs(value) > Fraction(float(np.finfo(float).max)) for value in true]
                assert np.all(~np.isfinite(made.high - made.low)[np.array(beyond)])
            lost, zeros = lost + int(unknown.any()), zeros + int(((made.mid == 0) & (made.rad == 0)).any())
            if max(abs(value.numerator).bit_length() + value.denominator.bit_length() for value in true) < 60_000:
                pool.append((made, true))
    assert lost > 100 and zeros > 100  # the sizes do what they are chosen for
