"""Every atom: Fenchel and Young's inequality, its remainder, the conjugate against a grid, scale 0, and one answer in three arithmetics."""

from __future__ import annotations

import inspect
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simopt.duality.atoms
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval, NotRational
from simopt.duality.atoms.absolute import Absolute
from simopt.duality.atoms.base import Atom, ConjugateDomain, Elementwise, GroupNorm
from simopt.duality.atoms.concave_homogeneous import ConcaveHomogeneous
from simopt.duality.atoms.concave_norm import NegativePowerNorm
from simopt.duality.atoms.decreasing_power import DecreasingPower
from simopt.duality.atoms.entropy import Entropy
from simopt.duality.atoms.euclidean import EuclideanNorm
from simopt.duality.atoms.exponential import Exponential
from simopt.duality.atoms.geometric_mean import NegativeGeometricMean
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.largest_size import LargestSize
from simopt.duality.atoms.log_sum_exp import LogSumExp
from simopt.duality.atoms.logarithm import NegativeLogarithm
from simopt.duality.atoms.logistic import LogisticAtom
from simopt.duality.atoms.matrix_fraction import MatrixFraction
from simopt.duality.atoms.matrix_norm import NuclearNorm, SpectralNorm
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.atoms.perspective import Perspective
from simopt.duality.atoms.power import Power
from simopt.duality.atoms.power_norm import PowerNorm
from simopt.duality.atoms.quadratic_form import LARGEST, QuadraticForm, SemidefiniteForm, support
from simopt.duality.atoms.quantum_relative_entropy import QuantumRelativeEntropy
from simopt.duality.atoms.square import Square
from simopt.duality.atoms.sum_largest import SumLargest
from simopt.duality.atoms.symmetric_matrix import SymmetricMatrixAtom
from simopt.duality.atoms.total import Total
from simopt.duality.graph.vectors import full, known

N = 4
PAIRS = np.array([0, 1, 1, 0])
MATRIX = np.array([[3.0, 1.0, 0.0, 0.5], [1.0, 2.0, 0.25, 0.0], [0.0, 0.25, 1.5, 0.0], [0.5, 0.0, 0.0, 1.0]])
FLAT = np.outer([1.0, 0.5, 0.0, -2.0], [1.0, 0.5, 0.0, -2.0]) + np.outer([0.0, 1.0, 1.0, 0.25], [0.0, 1.0, 1.0, 0.25])  # of rank 2
SKEW = np.triu(np.ones((4, 4)), 1) - np.tril(np.ones((4, 4)), -1)


@dataclass(frozen=True)
class AtomFormula:
    """An atom of N entries with m scales, and the function itself, written once more."""

    atom: Atom
    m: int
    formula: Callable[[Any], Any]  # of one group, or of one entry
    low: float = -4.0  # the domain of z
    high: float = 4.0


def elementwise(atom: Atom, formula: Callable[[Any], Any], low: float = -4.0) -> AtomFormula:
    return AtomFormula(atom, N, formula, low)


def huber(z: Any) -> Any:
    return np.where(np.abs(z) <= 0.75, z * z, 1.5 * np.abs(z) - 0.75**2)


def in_pairs(function: Callable[[Any], float]) -> Callable[[Any], Any]:
    return lambda z: np.array([function(z[PAIRS == 0]), function(z[PAIRS == 1])])


norm = np.linalg.norm
THIRDS = (Fraction(1, 3), Fraction(1, 6), Fraction(1, 6), Fraction(1, 3))
WEIGHTS = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 8), Fraction(1, 4))
CASES = {
    "square": elementwise(Square(), lambda z: z**2),
    "absolute": elementwise(Absolute(), np.abs),
    "huber": elementwise(Huber(lambda num: num.lift(0.75)), huber),
    "exponential": elementwise(Exponential(), np.exp),
    "logistic": elementwise(LogisticAtom(), lambda z: np.logaddexp(0.0, z)),
    "logarithm": elementwise(NegativeLogarithm(), lambda z: -np.log(z), 1e-3),
    "entropy": elementwise(Entropy(), lambda z: np.where(z > 0, z * np.log(np.maximum(z, 1e-300)), 0.0), 0.0),
    "cube": elementwise(Power(3.0), lambda z: z**3.0, 0.0),
    "fourth power": elementwise(Power(4.0), lambda z: z**4.0),
    "power 1.5": elementwise(Power(1.5), lambda z: z**1.5, 0.0),
    "power 1.2": elementwise(Power(1.2), lambda z: z**1.2, 0.0),
    "power 2.7": elementwise(Power(2.7), lambda z: z**2.7, 0.0),
    "euclidean": AtomFormula(EuclideanNorm(PAIRS, 2), 2, in_pairs(np.linalg.norm)),
    "euclidean, one group": AtomFormula(EuclideanNorm.of(N), 1, lambda z: np.array([np.linalg.norm(z)])),
    "largest size": AtomFormula(LargestSize(PAIRS, 2), 2, in_pairs(lambda z: np.max(np.abs(z)))),
    "3-norm": AtomFormula(PowerNorm(PAIRS, 2, 3.0), 2, in_pairs(lambda z: np.sum(np.abs(z) ** 3) ** (1 / 3))),
    "1.3-norm": AtomFormula(PowerNorm(np.zeros(N, int), 1, 1.3), 1, lambda z: np.array([np.sum(np.abs(z) ** 1.3) ** (1 / 1.3)])),
    "maximum": AtomFormula(Maximum(PAIRS, 2), 2, in_pairs(np.max)),
    "maximum with a constant": AtomFormula(Maximum(PAIRS, 2, np.array([False, False, True, True])), 2, in_pairs(np.max)),
    "two largest": AtomFormula(SumLargest(2), 1, lambda z: np.array([np.sort(z)[2:].sum()])),
    "2.5 largest": AtomFormula(SumLargest(2.5), 1, lambda z: np.array([np.sort(z)[2:].sum() + 0.5 * np.sort(z)[1]])),
    "log sum exp": AtomFormula(LogSumExp(PAIRS, 2), 2, in_pairs(np.logaddexp.reduce)),
    "geometric mean": AtomFormula(NegativeGeometricMean(WEIGHTS), 1, lambda z: -np.array([np.prod(z ** np.array(WEIGHTS, float))]), 0.0),
    "mean with thirds": AtomFormula(NegativeGeometricMean(THIRDS), 1, lambda z: -np.array([np.prod(z ** np.array(THIRDS, float))]), 0.0),
    "root": elementwise(DecreasingPower(0.5), lambda z: -np.sqrt(z), 0.0),
    "power 0.3": elementwise(DecreasingPower(0.3), lambda z: -(z**0.3), 0.0),
    "reciprocal": elementwise(DecreasingPower(-1.0), lambda z: 1 / z, 1e-2),
    "power -2.5": elementwise(DecreasingPower(-2.5), lambda z: z**-2.5, 1e-1),
    "0.5-norm": AtomFormula(NegativePowerNorm(0.5), 1, lambda z: -np.array([np.sum(z**0.5) ** 2]), 0.0),
    "harmonic": AtomFormula(NegativePowerNorm(-1.0), 1, lambda z: -np.array([1 / np.sum(1 / z)]), 1e-2),
    "-1.7-norm": AtomFormula(NegativePowerNorm(-1.7), 1, lambda z: -np.array([np.sum(z**-1.7) ** (-1 / 1.7)]), 1e-2),
    "relative entropy": AtomFormula(Perspective(Entropy(), 2, 2), 2, lambda z: z[:2] * np.log(z[:2] / z[2:]), 1e-3),
    "divergence": AtomFormula(Perspective(Entropy(1.0), 2, 2), 2, lambda z: z[:2] * np.log(z[:2] / z[2:]) - z[:2] + z[2:], 1e-3),
    "squares over a number": AtomFormula(Perspective(Total(Square()), 3, 1), 1, lambda z: np.array([np.sum(z[:3] ** 2) / z[3]]), 1e-3),
    "exponential cone": AtomFormula(Perspective(Exponential(), 2, 2), 2, lambda z: z[2:] * np.exp(z[:2] / z[2:]), 0.25),
    "sum of squares": AtomFormula(Total(Square()), 1, lambda z: np.array([np.sum(z**2)])),
    "perspective of a norm": AtomFormula(Perspective(EuclideanNorm(np.zeros(3, int), 1), 3, 1), 1, lambda z: np.array([norm(z[:3])]), 1e-3),
    "quadratic form, not symmetric": AtomFormula(QuadraticForm(lambda num: MATRIX + SKEW), 1, lambda z: np.array([z @ MATRIX @ z])),
    "quadratic form": AtomFormula(QuadraticForm(lambda num: MATRIX), 1, lambda z: np.array([z @ MATRIX @ z])),
    "spectral norm": AtomFormula(SpectralNorm((2, 2)), 1, lambda z: np.array([norm(z.reshape(2, 2), 2)])),
    "nuclear norm": AtomFormula(NuclearNorm((2, 2)), 1, lambda z: np.array([norm(z.reshape(2, 2), "nuc")])),
    "matrix fraction": AtomFormula(MatrixFraction(1, 3), 1, lambda z: np.array([np.sum(z[:3] ** 2) / z[3]]), 1e-3),
    "semidefinite form": AtomFormula(SemidefiniteForm(lambda num: FLAT), 1, lambda z: np.array([z @ FLAT @ z])),
}
RATIONALS = ("square", "absolute", "huber", "largest size", "maximum", "maximum with a constant", "two largest", "2.5 largest")
cases = pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
numbers = st.floats(-4.0, 4.0, allow_nan=False).map(lambda x: round(x, 3))


@st.composite
def instances(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    vectors = [np.array(draw(st.lists(numbers, min_size=N, max_size=N))) for _ in range(3)]
    return vectors[0], vectors[1], np.round(np.abs(vectors[2]), 1)


def placed(case: AtomFormula, z: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """z in the domain, a scale for each function; every other instance has its first scale 0."""
    return np.clip(np.abs(z) if case.low >= 0 else z, case.low, case.high), s[: case.m]


def domain_is_nonnegative(atom: Atom) -> bool:
    """Whether the domain of φ is z ≥ 0, or its inside, so that a negative multiplier costs nothing for s = 0."""
    if isinstance(atom, Perspective):
        return domain_is_nonnegative(atom.atom)
    odd = isinstance(atom, Power) and not atom.even
    return odd or isinstance(atom, (ConcaveHomogeneous, DecreasingPower, Entropy, NegativeLogarithm))


def lifted(num: Arithmetic, *vectors: np.ndarray) -> list[Any]:
    return [num.lift(v) for v in vectors]


@pytest.mark.thorough
@cases
@settings(max_examples=60, deadline=None)
@given(drawn=instances())
def test_fenchel_and_youngs_inequality_and_its_remainder(case: AtomFormula, drawn: Any) -> None:
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


@pytest.mark.thorough
@cases
@settings(max_examples=40, deadline=None)
@given(drawn=instances())
def test_intervals_contain_the_values_of_fractions_or_floats(case: AtomFormula, drawn: Any, request: pytest.FixtureRequest) -> None:
    z, u, s = drawn
    z, s = placed(case, z, s)
    atom = case.atom
    interval = lifted(INTERVAL, z, u, s)
    interval[1] = atom.project(INTERVAL, interval[1], interval[2])
    exact: list[Any] = [z, atom.project(FLOAT, u, s), s]
    margin = 1e-11 * (1.0 + float(np.abs(z).sum() + np.abs(exact[1]).sum() + s.sum()) ** 4)
    arithmetic: Arithmetic = FLOAT
    if any(request.node.callspec.id == name for name in RATIONALS):
        arithmetic, margin = RATIONAL, 0.0
        exact = lifted(RATIONAL, z, u, s)
        exact[1] = atom.project(RATIONAL, exact[1], exact[2])
    pairs = [
        (INTERVAL.sum(atom.value(INTERVAL, interval[0])), arithmetic.sum(atom.value(arithmetic, exact[0]))),
        (atom.conjugate(INTERVAL, interval[1], interval[2]), atom.conjugate(arithmetic, exact[1], exact[2])),
        (atom.remainder(INTERVAL, *interval), atom.remainder(arithmetic, *exact)),
    ]
    for enclosure, value in pairs:
        low, high = INTERVAL.lower(enclosure), INTERVAL.upper(enclosure)
        assert (low == -math.inf or Fraction(low) <= Fraction(value) + Fraction(margin)) and (
            high == math.inf or Fraction(value) <= Fraction(high) + Fraction(margin)
        )


@cases
def test_the_remainder_is_zero_at_the_slope_and_does_not_cancel(case: AtomFormula) -> None:
    """z and u = the slope at z: the remainder is rounding squared (or rounding, of gauges), where the difference is rounding itself."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        z, s = placed(case, rng.uniform(0.1, 4.0, N) * rng.choice([-1.0, 1.0], N), rng.uniform(0.1, 3.0, N))
        u = case.atom.slope(z, s)
        assert 0.0 <= case.atom.remainder(FLOAT, z, u, s) <= 1e-14 * (1.0 + np.abs(u) @ np.abs(z))
        near = z * (1.0 + 1e-7)
        interval = lifted(INTERVAL, near, u, s)
        left = case.atom.remainder(FLOAT, near, u, s)
        assert left >= 0.0
        assert INTERVAL.lower(case.atom.remainder(INTERVAL, *interval)) <= left + 1e-15
        assert left <= INTERVAL.upper(case.atom.remainder(INTERVAL, *interval)) + 1e-15


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
    multipliers, atom = np.linspace(-8.0, 8.0, 3201), case.atom
    assert isinstance(atom, Elementwise)
    one = np.ones(len(multipliers))
    kept = atom.project(FLOAT, multipliers, one)
    shadow = np.where(kept == multipliers, atom.conjugates(FLOAT, kept, one), np.inf)
    for z in (0.25, 0.5, 1.0, 2.0):
        if not abs(float(atom.slope(np.full(1, z), np.ones(1))[0])) < 7.9:
            continue  # the multiplier is not among these
        finite = np.isfinite(shadow)
        assert np.max(z * multipliers[finite] - shadow[finite]) == pytest.approx(float(case.formula(np.full(1, z))[0]), abs=1e-4)


@cases
@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_scale_zero_costs_nothing_at_zero_and_everything_elsewhere(case: AtomFormula, num: Arithmetic) -> None:
    zero, s = num.zeros(N), num.zeros(case.m)
    try:
        assert num.upper(case.atom.conjugate(num, zero, s)) <= 1e-300
        for sign in (1.0, -1.0):
            u = full(num, sign, N)
            free = sign < 0 and case.low >= 0 and domain_is_nonnegative(case.atom)
            found = case.atom.conjugate(num, u, s)
            assert known(num, found) == free  # on z ≥ 0 a negative multiplier costs nothing
        projected = case.atom.project(num, full(num, 1.0, N), s)
        assert known(num, case.atom.conjugate(num, projected, s))
    except NotRational:
        assert num is RATIONAL


@cases
def test_what_is_outside_of_the_domain_costs_everything(case: AtomFormula) -> None:
    s = np.ones(case.m)
    for u in (np.full(N, 200.0), np.full(N, -200.0)):
        inside = np.allclose(case.atom.project(FLOAT, u, s), u)
        assert math.isfinite(case.atom.conjugate(FLOAT, u, s)) == inside


@cases
def test_the_declared_conjugate_is_the_conjugate_whether_the_scale_is_a_number_or_not(case: AtomFormula) -> None:
    rng = np.random.default_rng(2)
    z, s = placed(case, rng.uniform(-2.0, 2.0, N), rng.uniform(0.5, 2.0, N))
    u = case.atom.inward(case.atom.slope(z, s), 1e-3)
    conjugate = case.atom.conjugate(FLOAT, u, s)
    for scale, fixed in ((cp.Constant(s), True), (cp.Variable(case.m), False)):
        multiplier = cp.Variable(N, name="u")
        cost, domain = case.atom.declared_conjugate(multiplier, scale)
        declared = cp.Problem(cp.Minimize(cost), [*domain, multiplier == u, *([] if fixed else [scale == s])])
        assert declared.is_dcp()
        assert declared.solve(solver="CLARABEL") == pytest.approx(conjugate, rel=1e-6, abs=1e-6)


@cases
@pytest.mark.parametrize("num", [FLOAT, INTERVAL], ids=lambda num: num.name)
def test_one_entry_outside_of_the_domain_costs_everything(case: AtomFormula, num: Arithmetic) -> None:
    """From a multiplier inside one entry is moved, another sign, half, twice or far: finite is what a projection would leave as it is."""
    s = np.linspace(1.0, 1.5, case.m)
    inside = case.atom.project(FLOAT, case.atom.slope(np.array([0.5, 1.0, 2.0, 0.75]), s), s)
    outside = 0
    for i in range(len(inside)):
        for moved in (-inside[i], inside[i] / 2, 2 * inside[i], inside[i] + 50.0, inside[i] - 50.0):
            u = inside.copy()
            u[i] = moved
            kept = case.atom.project(FLOAT, u, s)
            conjugate = case.atom.conjugate(num, num.lift(u), num.lift(s))
            if np.max(np.abs(kept - u)) > 1e-6:
                assert not known(num, conjugate)
                outside += 1
            elif num is FLOAT:
                assert known(num, conjugate)
    assert outside or np.array_equal(case.atom.project(FLOAT, np.full(len(inside), -7.0), s), np.full(len(inside), -7.0))


@pytest.mark.parametrize("kind", [Maximum, LogSumExp, SumLargest])
def test_of_many_multipliers_a_sum_that_is_right_to_rounding_is_right(kind: Any) -> None:
    n, s = 100_000, np.full(1, 0.3)
    atom = SumLargest(2.5) if kind is SumLargest else kind(np.zeros(n, int), 1)
    u = atom.project(FLOAT, np.random.default_rng(6).uniform(size=n), s)
    assert math.isfinite(atom.conjugate(FLOAT, u, s)) and math.isfinite(atom.conjugate(FLOAT, u * (1.0 + 1e-14), s))
    assert not math.isfinite(atom.conjugate(FLOAT, u * (1.0 + 1e-6), s))


@cases
def test_the_conjugate_for_a_scale_that_may_be_0_is_unknown_or_that_of_the_largest(case: AtomFormula) -> None:
    """An interval [−r, r] stands for a scale in [0, r]: the conjugate must be large enough for r, too."""
    r = 2.0**-10
    s = Interval(np.zeros(case.m), np.full(case.m, r))
    for u in (0.0, -0.5 * r, -1.0, 0.5 * r):
        kept = case.atom.project(FLOAT, np.full(N, u), np.full(case.m, r))
        conjugate = case.atom.conjugate(INTERVAL, INTERVAL.lift(kept), s)
        assert not known(INTERVAL, conjugate) or INTERVAL.upper(conjugate) >= case.atom.conjugate(FLOAT, kept, np.full(case.m, r)) * (
            1.0 - 1e-9
        )


@pytest.mark.parametrize("name", ["euclidean", "largest size", "3-norm", "maximum", "maximum with a constant", "log sum exp"])
def test_a_group_outside_of_the_domain_leaves_the_others_as_they_are(name: str) -> None:
    atom, s = CASES[name].atom, np.ones(2)
    alone = atom.project(FLOAT, np.array([0.25, 0.125, 0.0, 0.0]), s)
    both = atom.project(FLOAT, np.array([0.25, 50.0, 0.0, 0.0]), s)
    np.testing.assert_array_equal(both[PAIRS == 0], alone[PAIRS == 0])
    assert math.isfinite(atom.conjugate(FLOAT, both, s))


@cases
def test_inward_of_the_domain_is_in_the_domain(case: AtomFormula) -> None:
    s = np.ones(case.m)
    for size in (0.25, -0.25):
        u = case.atom.inward(case.atom.project(FLOAT, np.append(np.full(N - 1, size), 0.0), s), 1e-3)
        assert case.atom.total is not None or math.isfinite(case.atom.conjugate(FLOAT, u, s))


@cases
def test_the_declared_conjugate_is_the_conjugate(case: AtomFormula) -> None:
    s = np.linspace(1.0, 1.5, case.m)
    u = case.atom.project(FLOAT, case.atom.slope(np.array([0.5, 1.0, 2.0, 0.75]), s), s)
    u, scale = u if case.atom.total is not None else case.atom.inward(u, 1e-6), cp.Variable(case.m)
    multiplier = cp.Variable(N)
    try:
        conjugate, rows = case.atom.declared_conjugate(multiplier, scale)
    except NotImplementedError:
        return
    found = cp.Problem(cp.Minimize(conjugate), [*rows, multiplier == u, scale == s]).solve(solver="CLARABEL")
    assert found == pytest.approx(case.atom.conjugate(FLOAT, u, s), rel=1e-5, abs=1e-6)


@cases
@settings(max_examples=20, deadline=None)
@given(drawn=instances())
def test_a_multiplier_may_move_by_its_margin_and_has_a_larger_one_inside(case: AtomFormula, drawn: Any) -> None:
    z, u, s = drawn
    z, s = placed(case, z, s)
    atom, s = case.atom, s + 0.125
    u = atom.inward(atom.project(FLOAT, u, s), 1e-3)
    margin = np.asarray(atom.margin(FLOAT, u, s)) * (0.0 if atom.total is not None else 1.0)  # where a sum is fixed none moves by itself
    for i in np.flatnonzero((margin > 0.0) & np.isfinite(margin)):
        for side in (0.999, -0.999):
            step = np.zeros(len(u))
            step[i] = side * margin[i]
            matrix = atom.image(FLOAT)
            assert math.isfinite(atom.conjugate(FLOAT, u + (step if matrix is None else matrix @ step), s))
    if isinstance(atom, (GroupNorm, ConcaveHomogeneous, Perspective)) and np.all(u != 0.0):
        assert np.all(margin[-case.m :] > 0.0)


@cases
@settings(max_examples=20, deadline=None)
@given(drawn=instances())
def test_multipliers_in_the_range_of_a_matrix_are_images_of_their_preimages(case: AtomFormula, drawn: Any) -> None:
    z, u, s = drawn
    atom, s = case.atom, placed(case, z, s)[1] + 0.125
    u = atom.project(FLOAT, u, s)
    matrix, x = atom.image(FLOAT), atom.preimage(u)
    assert np.allclose(u, x if matrix is None else matrix @ x, rtol=1e-9, atol=1e-9 * float(np.max(np.abs(u), initial=0.0)))
    for num in (INTERVAL, RATIONAL):
        assert (atom.image(num) is None) == (matrix is None)


@cases
def test_the_domain_of_a_conjugate_is_as_declared(case: AtomFormula) -> None:
    atom, s = case.atom, np.full(case.m, 1e-3)
    u = np.array([5.0, 6.0, 7.0, 8.0])
    if atom.conjugate_domain is ConjugateDomain.FULL:
        assert math.isfinite(atom.conjugate(FLOAT, u / 1e3, s)) and np.array_equal(atom.project(FLOAT, u, s), u)
    if atom.conjugate_domain is ConjugateDomain.BALL:
        need = atom.need(FLOAT, u)
        assert atom.conjugate(FLOAT, u, need) == 0.0 and math.isinf(atom.conjugate(FLOAT, u, need * 0.999))
    assert atom.degree_formula in (("–",) if atom.degree is None else ("p", f"{atom.degree:g}"))
    if atom.degree is not None:
        z = np.array([1.0, 2.0, 0.5, 1.5])
        np.testing.assert_allclose(atom.value(FLOAT, 2.0 * z), 2.0**atom.degree * atom.value(FLOAT, z), rtol=1e-13)


def test_every_atom_of_the_folder_has_a_case_and_the_formulas_of_the_table() -> None:
    """Functions of symmetric matrices have theirs in test_semidefinite.py and test_quantum_relative_entropy.py."""
    found = set()
    for module in pkgutil.iter_modules(simopt.duality.atoms.__path__):
        for cls in vars(import_module(f"{simopt.duality.atoms.__name__}.{module.name}")).values():
            if isinstance(cls, type) and issubclass(cls, Atom) and not inspect.isabstract(cls):
                found.add(cls)
                assert cls.formula and cls.conjugate_formula and cls.domain_formula
    elsewhere = {atom for atom in found if issubclass(atom, (SymmetricMatrixAtom, QuantumRelativeEntropy))}
    assert found - elsewhere == {type(case.atom) for case in CASES.values()}


def test_a_support_is_proven_and_never_invented() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 3, 20):
        a = rng.normal(size=(n, n))
        found = support(a @ a.T + np.eye(n))
        assert found is not None and len(found.rows) == n
        assert 0.0 < found.least <= np.linalg.eigvalsh(a @ a.T + np.eye(n))[0]
    for rank, matrix in ((1, np.ones((3, 3))), (0, np.zeros((2, 2))), (2, FLAT)):
        found = support(matrix)
        assert found is not None and len(found.rows) == rank
        assert all(value < 1e-12 or value >= found.least for value in np.linalg.eigvalsh(matrix))
    assert support(np.diag([1.0, -1e-12])) is None
    assert support(np.array([[1.0, 0.5], [0.5, 0.25 - 1e-17]])) is not None  # the entry is 0.25
    assert support(np.array([[1.0, 0.5], [0.5, np.nextafter(0.25, 0.0)]])) is None
    assert support(np.array([[1.0, np.inf], [np.inf, 1.0]])) is None


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_a_semidefinite_form_pays_for_multipliers_in_the_range_alone(num: Arithmetic) -> None:
    """Off the range the supremum is ∞; what is projected lies in it."""
    atom, s = SemidefiniteForm(lambda num: FLAT), num.lift(np.array([2.0]))
    off = np.linalg.svd(FLAT)[2][-1]
    assert not known(num, atom.conjugate(num, num.lift(off), s))
    inside = atom.project(num, num.lift(off + 4.0 * FLAT @ np.array([1.0, 0.0, 2.0, 0.0])), s)
    conjugate = atom.conjugate(num, inside, s)
    z = np.array([0.3, -1.0, 2.0, 0.5])
    assert num.upper(conjugate) >= num.lower(num.dot(inside, num.lift(z)) - num.sum(s * atom.value(num, num.lift(z)))) - 1e-12
    assert float(np.linalg.norm(np.asarray(num.mid(inside)) @ np.linalg.svd(FLAT)[2][2:].T)) < 1e-9


def test_a_perspective_at_zero_is_zero_there_and_known_nowhere_else() -> None:
    """0 log(0/y) = 0; at (0, 0) it is 0, at (z, 0) unknown, and no such point counts as one of the domain."""
    for num in (FLOAT, INTERVAL):
        atom, never = Perspective(Entropy(), 2, 2), np.zeros(4, dtype=bool)
        z = num.lift(np.array([0.0, 0.0, 3.0, 0.0]))
        assert atom.inside(num, z, never).all()
        assert num.lower(num.sum(atom.value(num, z))) == num.upper(num.sum(atom.value(num, z))) == 0.0
        assert not atom.inside(num, num.lift(np.array([0.0, 1e-300, 3.0, 0.0])), never).all()
        assert not atom.inside(num, num.lift(np.array([1.0, 1.0, 3.0, -1.0])), never).all()
        assert not known(num, atom.conjugate(num, num.lift(np.array([0.0, 0.0, -1.0, 1e-9])), num.zeros(2)))


def test_logarithms_reach_the_ends() -> None:
    atom = Entropy()
    assert atom.value(FLOAT, np.zeros(1))[0] == 0.0
    interval = atom.value(INTERVAL, INTERVAL.lift(np.zeros(1)))
    assert interval.low[0] <= 0.0 <= interval.high[0] <= 1e-300
    far = LogisticAtom().remainder(FLOAT, np.array([800.0, -800.0]), np.array([1.0, 0.0]), np.ones(2))
    assert 0.0 <= far <= 1e-300
    assert LogisticAtom().value(FLOAT, np.array([800.0]))[0] == 800.0


@pytest.mark.parametrize("p", [3.0, 1.3])
def test_the_remainder_of_a_norm_near_zero_is_that_of_every_point_in_the_interval(p: float) -> None:
    """s‖z‖ − ⟨u, z⟩ where z may be 0, so that Young's inequality is of no use: each z of the interval has a remainder in the result."""
    atom, u, s, r = PowerNorm(np.zeros(2, int), 1, p), np.array([1.0, -2.0]), np.array([4.0]), 0.25
    found = atom.remainder(INTERVAL, Interval.hull(np.full(2, -r), np.full(2, r)), INTERVAL.lift(u), INTERVAL.lift(s))
    for z in (np.zeros(2), np.array([r, r]), np.array([-r, r]), np.array([r, -r])):
        assert INTERVAL.lower(found) <= 4.0 * np.linalg.norm(z, p) - u @ z <= INTERVAL.upper(found)


def test_remainders_of_absolute_values_are_never_below_zero() -> None:
    """|u||z| − uz is 0 or more, in intervals as well: their lower ends add up to no more than the remainder."""
    z, u, s = Interval.hull(np.full(2, -0.5), np.full(2, 0.5)), INTERVAL.lift(np.array([1.0, -1.0])), INTERVAL.lift(np.ones(2))
    assert np.all(Absolute().remainders(INTERVAL, z, u, s).low >= -1e-14)  # the ends of a midpoint and a radius are rounded


@pytest.mark.parametrize("n", [2, LARGEST])
def test_fractions_decide_up_to_the_largest_size(n: int) -> None:
    """Ones are of rank 1: in floats their least eigenvalue is rounding of either sign."""
    found = support(np.ones((n, n)))
    assert found is not None and len(found.rows) == 1
    assert support(np.ones((n, n)) - 2.0**-20 * np.eye(n)) is None
