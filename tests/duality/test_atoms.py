"""Every atom: Fenchel and Young's inequality, its remainder, the conjugate against a grid, scale 0, and one answer in three arithmetics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, NotRational
from simopt.duality.atoms.absolute import Absolute
from simopt.duality.atoms.base import Absorbs, Atom, Elementwise
from simopt.duality.atoms.entropy import Entropy
from simopt.duality.atoms.euclidean import EuclideanNorm
from simopt.duality.atoms.exponential import Exponential
from simopt.duality.atoms.geometric_mean import NegativeGeometricMean
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.largest_size import LargestSize
from simopt.duality.atoms.log_sum_exp import LogSumExp
from simopt.duality.atoms.logarithm import NegativeLogarithm
from simopt.duality.atoms.logistic import Logistic
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.atoms.power import Power
from simopt.duality.atoms.power_norm import PowerNorm
from simopt.duality.atoms.quadratic_form import QuadraticForm, least_eigenvalue
from simopt.duality.atoms.square import Square
from simopt.duality.atoms.sum_largest import SumLargest
from simopt.duality.vectors import full, known

N = 4
PAIRS = np.array([0, 1, 1, 0])
MATRIX = np.array([[3.0, 1.0, 0.0, 0.5], [1.0, 2.0, 0.25, 0.0], [0.0, 0.25, 1.5, 0.0], [0.5, 0.0, 0.0, 1.0]])
SKEW = np.triu(np.ones((4, 4)), 1) - np.tril(np.ones((4, 4)), -1)


@dataclass(frozen=True)
class Case:
    """An atom of N entries with m scales, and the function itself, written once more."""

    atom: Atom
    m: int
    formula: Callable[[Any], Any]  # of one group, or of one entry
    low: float = -4.0  # the domain of z
    high: float = 4.0


def elementwise(atom: Atom, formula: Callable[[Any], Any], low: float = -4.0) -> Case:
    return Case(atom, N, formula, low)


def huber(z: Any) -> Any:
    return np.where(np.abs(z) <= 0.75, z * z, 1.5 * np.abs(z) - 0.75**2)


def in_pairs(function: Callable[[Any], float]) -> Callable[[Any], Any]:
    return lambda z: np.array([function(z[PAIRS == 0]), function(z[PAIRS == 1])])


WEIGHTS = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 8), Fraction(1, 4))
CASES = {
    "square": elementwise(Square(), lambda z: z**2),
    "absolute": elementwise(Absolute(), np.abs),
    "huber": elementwise(Huber(lambda num: num.lift(0.75)), huber),
    "exponential": elementwise(Exponential(), np.exp),
    "logistic": elementwise(Logistic(), lambda z: np.logaddexp(0.0, z)),
    "logarithm": elementwise(NegativeLogarithm(), lambda z: -np.log(z), 1e-3),
    "entropy": elementwise(Entropy(), lambda z: np.where(z > 0, z * np.log(np.maximum(z, 1e-300)), 0.0), 0.0),
    "cube": elementwise(Power(3.0), lambda z: z**3.0, 0.0),
    "fourth power": elementwise(Power(4.0), lambda z: z**4.0),
    "power 1.5": elementwise(Power(1.5), lambda z: z**1.5, 0.0),
    "power 1.2": elementwise(Power(1.2), lambda z: z**1.2, 0.0),
    "power 2.7": elementwise(Power(2.7), lambda z: z**2.7, 0.0),
    "euclidean": Case(EuclideanNorm(PAIRS, 2), 2, in_pairs(np.linalg.norm)),
    "euclidean, one group": Case(EuclideanNorm(np.zeros(N, int), 1), 1, lambda z: np.array([np.linalg.norm(z)])),
    "largest size": Case(LargestSize(PAIRS, 2), 2, in_pairs(lambda z: np.max(np.abs(z)))),
    "3-norm": Case(PowerNorm(PAIRS, 2, 3.0), 2, in_pairs(lambda z: np.sum(np.abs(z) ** 3) ** (1 / 3))),
    "1.3-norm": Case(PowerNorm(np.zeros(N, int), 1, 1.3), 1, lambda z: np.array([np.sum(np.abs(z) ** 1.3) ** (1 / 1.3)])),
    "maximum": Case(Maximum(PAIRS, 2), 2, in_pairs(np.max)),
    "maximum with a constant": Case(Maximum(PAIRS, 2, np.array([False, False, True, True])), 2, in_pairs(np.max)),
    "two largest": Case(SumLargest(2), 1, lambda z: np.array([np.sort(z)[2:].sum()])),
    "2.5 largest": Case(SumLargest(2.5), 1, lambda z: np.array([np.sort(z)[2:].sum() + 0.5 * np.sort(z)[1]])),
    "log sum exp": Case(LogSumExp(PAIRS, 2), 2, in_pairs(np.logaddexp.reduce)),
    "geometric mean": Case(NegativeGeometricMean(WEIGHTS), 1, lambda z: -np.array([np.prod(z ** np.array(WEIGHTS, float))]), 0.0),
    "quadratic form, not symmetric": Case(QuadraticForm(MATRIX + SKEW), 1, lambda z: np.array([z @ MATRIX @ z])),
    "quadratic form": Case(QuadraticForm(MATRIX), 1, lambda z: np.array([z @ MATRIX @ z])),
}
RATIONALS = ("square", "absolute", "huber", "largest size", "maximum", "maximum with a constant", "two largest", "2.5 largest")
cases = pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
numbers = st.floats(-4.0, 4.0, allow_nan=False).map(lambda x: round(x, 3))


@st.composite
def instances(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    vectors = [np.array(draw(st.lists(numbers, min_size=N, max_size=N))) for _ in range(3)]
    return vectors[0], vectors[1], np.round(np.abs(vectors[2]), 1)


def placed(case: Case, z: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """z in the domain, a scale for each function; every other instance has its first scale 0."""
    return np.clip(np.abs(z) if case.low >= 0 else z, case.low, case.high), s[: case.m]


def lifted(num: Arithmetic, *vectors: np.ndarray) -> list[Any]:
    return [num.lift(v) for v in vectors]


@cases
@settings(max_examples=60, deadline=None)
@given(drawn=instances())
def test_fenchel_and_youngs_inequality_and_its_remainder(case: Case, drawn: Any) -> None:
    z, u, s = drawn
    z, s = placed(case, z, s)
    atom = case.atom
    np.testing.assert_allclose(atom.value(FLOAT, z), case.formula(z), rtol=1e-12, atol=1e-12)
    u = atom.project(FLOAT, u, s)
    np.testing.assert_allclose(atom.project(FLOAT, u, s), u, rtol=1e-9, atol=1e-12)
    conjugate = atom.conjugate(FLOAT, u, s)
    assert math.isfinite(conjugate)
    left = float(s @ case.formula(z) + conjugate - u @ z)
    size = 1.0 + abs(conjugate) + float(np.abs(u) @ np.abs(z)) + float(s @ np.abs(case.formula(z)))
    assert left >= -1e-12 * size
    assert abs(atom.remainder(FLOAT, z, u, s) - left) <= 1e-9 * size


@cases
@settings(max_examples=40, deadline=None)
@given(drawn=instances())
def test_balls_hold_what_fractions_or_floats_say(case: Case, drawn: Any, request: pytest.FixtureRequest) -> None:
    z, u, s = drawn
    z, s = placed(case, z, s)
    atom = case.atom
    ball = lifted(INTERVAL, z, u, s)
    ball[1] = atom.project(INTERVAL, ball[1], ball[2])
    exact: list[Any] = [z, atom.project(FLOAT, u, s), s]
    room = 1e-11 * (1.0 + float(np.abs(z).sum() + np.abs(exact[1]).sum() + s.sum()) ** 4)
    arithmetic: Arithmetic = FLOAT
    if any(request.node.callspec.id == name for name in RATIONALS):
        arithmetic, room = RATIONAL, 0.0
        exact = lifted(RATIONAL, z, u, s)
        exact[1] = atom.project(RATIONAL, exact[1], exact[2])
    with np.errstate(all="ignore"):  # as the sweeps do: what overflows is in the ball of all numbers
        pairs = [
            (INTERVAL.sum(atom.value(INTERVAL, ball[0])), arithmetic.sum(atom.value(arithmetic, exact[0]))),
            (atom.conjugate(INTERVAL, ball[1], ball[2]), atom.conjugate(arithmetic, exact[1], exact[2])),
            (atom.remainder(INTERVAL, *ball), atom.remainder(arithmetic, *exact)),
        ]
    for enclosure, value in pairs:
        low, high = INTERVAL.lower(enclosure), INTERVAL.upper(enclosure)
        assert (low == -math.inf or Fraction(low) <= Fraction(value) + Fraction(room)) and (
            high == math.inf or Fraction(value) <= Fraction(high) + Fraction(room)
        )


@cases
def test_the_remainder_is_zero_at_the_slope_and_does_not_cancel(case: Case) -> None:
    """z and u = the slope at z: the remainder is rounding squared (or rounding, of gauges), where the difference is rounding itself."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        z, s = placed(case, rng.uniform(0.1, 4.0, N) * rng.choice([-1.0, 1.0], N), rng.uniform(0.1, 3.0, N))
        u = case.atom.slope(z, s)
        assert 0.0 <= case.atom.remainder(FLOAT, z, u, s) <= 1e-14 * (1.0 + np.abs(u) @ np.abs(z))
        near = z * (1.0 + 1e-7)
        ball = lifted(INTERVAL, near, u, s)
        left = case.atom.remainder(FLOAT, near, u, s)
        assert left >= 0.0
        assert INTERVAL.lower(case.atom.remainder(INTERVAL, *ball)) <= left + 1e-15
        assert left <= INTERVAL.upper(case.atom.remainder(INTERVAL, *ball)) + 1e-15


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.m == N])
def test_the_conjugate_is_the_supremum_on_a_grid_and_the_biconjugate_the_function(name: str) -> None:
    case = CASES[name]
    grid = np.linspace(case.low, 12.0, 40001) if case.low >= 0 else np.linspace(-12.0, 12.0, 40001)
    values = case.formula(grid)
    for u in (-1.3, -0.4, 0.0, 0.3, 0.9, 1.4):
        for scale in (0.5, 1.0, 2.0):
            projected = case.atom.project(FLOAT, np.full(1, u), np.full(1, scale))
            best = np.max(grid * projected[0] - scale * values)
            found = case.atom.conjugate(FLOAT, projected, np.full(1, scale))
            assert found >= best - 1e-9
            if abs(grid[np.argmax(grid * projected[0] - scale * values)]) < 11.9:  # the supremum is inside of the grid
                assert found <= best + 1e-5
    prices, atom = np.linspace(-8.0, 8.0, 3201), case.atom
    assert isinstance(atom, Elementwise)
    one = np.ones(len(prices))
    kept = atom.project(FLOAT, prices, one)
    shadow = np.where(kept == prices, atom.conjugates(FLOAT, kept, one), np.inf)
    for z in (0.25, 0.5, 1.0):
        finite = np.isfinite(shadow)
        assert np.max(z * prices[finite] - shadow[finite]) == pytest.approx(float(case.formula(np.full(1, z))[0]), abs=1e-4)


@cases
@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_scale_zero_costs_nothing_at_zero_and_everything_elsewhere(case: Case, num: Arithmetic) -> None:
    zero, s = num.zeros(N), num.zeros(case.m)
    try:
        assert num.upper(case.atom.conjugate(num, zero, s)) <= 1e-300
        for sign in (1.0, -1.0):
            u = full(num, sign, N)
            free = sign < 0 and case.low >= 0 and case.m == N and not isinstance(case.atom, Power)
            free = free or (sign < 0 and isinstance(case.atom, (NegativeGeometricMean, Power)) and case.low >= 0)
            found = case.atom.conjugate(num, u, s)
            assert known(num, found) == free  # on z ≥ 0 a negative multiplier costs nothing
        projected = case.atom.project(num, full(num, 1.0, N), s)
        assert known(num, case.atom.conjugate(num, projected, s))
    except NotRational:
        assert num is RATIONAL


@cases
def test_what_is_outside_of_the_domain_costs_everything(case: Case) -> None:
    s = np.ones(case.m)
    for u in (np.full(N, 200.0), np.full(N, -200.0)):
        inside = np.allclose(case.atom.project(FLOAT, u, s), u)
        assert math.isfinite(case.atom.conjugate(FLOAT, u, s)) == inside


@cases
def test_atoms_that_absorb_say_so(case: Case) -> None:
    atom, s = case.atom, np.full(case.m, 1e-3)
    u = np.array([5.0, 6.0, 7.0, 8.0])
    if atom.absorbs is Absorbs.ALL:
        assert math.isfinite(atom.conjugate(FLOAT, u / 1e3, s)) and np.array_equal(atom.project(FLOAT, u, s), u)
    if atom.absorbs is Absorbs.SCALED:
        need = atom.need(FLOAT, u)
        assert atom.conjugate(FLOAT, u, need) == 0.0 and math.isinf(atom.conjugate(FLOAT, u, need * 0.999))
    if atom.degree is not None:
        z = np.array([1.0, 2.0, 0.5, 1.5])
        np.testing.assert_allclose(atom.value(FLOAT, 2.0 * z), 2.0**atom.degree * atom.value(FLOAT, z), rtol=1e-13)


def test_the_least_eigenvalue_is_bounded_from_below_and_never_invented() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 3, 20):
        a = rng.normal(size=(n, n))
        known_least = np.linalg.eigvalsh(a @ a.T + np.eye(n))[0]
        assert 0.2 < least_eigenvalue(a @ a.T + np.eye(n)) <= known_least
    assert least_eigenvalue(np.ones((2, 2))) == 0.0
    assert least_eigenvalue(np.diag([1.0, -1e-12])) == 0.0
    assert least_eigenvalue(np.diag([1.0, 1e-17])) == 0.0  # positive, but not provably in floats


def test_logarithms_reach_the_ends() -> None:
    atom = Entropy()
    assert atom.value(FLOAT, np.zeros(1))[0] == 0.0
    ball = atom.value(INTERVAL, INTERVAL.lift(np.zeros(1)))
    assert ball.low[0] <= 0.0 <= ball.high[0] <= 1e-300
    far = Logistic().remainder(FLOAT, np.array([800.0, -800.0]), np.array([1.0, 0.0]), np.ones(2))
    assert 0.0 <= far <= 1e-300
    assert Logistic().value(FLOAT, np.array([800.0]))[0] == 800.0
