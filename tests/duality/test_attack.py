"""Declarations made to mislead: each once gave a bound that was wrong, or an error without a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.core.errors import Unreadable
from simopt.duality import Declared
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.square import Square

ARITHMETICS = [FLOAT, INTERVAL, RATIONAL]
each_arithmetic = pytest.mark.parametrize("num", ARITHMETICS, ids=lambda num: num.name)


def lower(declared: Declared, num: Arithmetic, **multipliers: Any) -> float:
    return num.lower(declared.dual_bound({name.replace("_", " "): values for name, values in multipliers.items()}, num))


def upper(declared: Declared, num: Arithmetic, x: float = 0.0) -> float:
    point = {leaf.name: np.full(leaf.shape, x) for leaf in declared.programme.leaves.values()}
    return num.upper(declared.objective(declared.restore(point, num), num))


@each_arithmetic
def test_a_factor_that_has_become_0_leaves_a_row_that_nothing_satisfies(num: Arithmetic) -> None:
    """p x ≤ −1 with p = 0 is 0 ≤ −1; p x ≤ 1 is no row at all."""
    x, p, right = cp.Variable(2, name="x"), cp.Parameter(2, value=[1.0, 1.0]), cp.Parameter(value=-1.0)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.multiply(p, x) <= right]))
    assert upper(declared, num) == pytest.approx(2.0)
    p.value = np.array([1.0, 0.0])
    assert upper(declared, num) == np.inf
    right.value = 1.0
    assert upper(declared, num) == pytest.approx(0.0)


@each_arithmetic
def test_a_factor_that_has_become_0_takes_a_closing_term_away(num: Arithmetic) -> None:
    """(p x − 1)² + x has a closing term for p ≠ 0; for p = 0 there is no optimum, and nothing is divided by 0."""
    x, p = cp.Variable(2, name="x"), cp.Parameter(name="p", value=2.0)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(p * x - 1) + cp.sum(x))))
    assert lower(declared, num) == pytest.approx(2 * (1 / 2 - 1 / 16))
    p.value = 0.0
    assert lower(declared, num) == -np.inf
    assert "may be 0" in declared.open({}, num=num)[0]


@each_arithmetic
def test_a_factor_whose_sign_rounding_hides_proves_nothing(num: Arithmetic) -> None:
    """1 + 2^−60 − 1 > 0 in fractions, 0 in floats: (1 + 2^−60 − 1) x ≤ −1 says x ≤ −2^60, and the optimum is 2^120."""
    x, parts = cp.Variable(name="x"), [cp.Parameter(value=value) for value in (1.0, 2.0**-60, -1.0)]
    declared = Declared.of(cp.Problem(cp.Minimize(cp.square(x)), [sum(parts) * x <= -1]))
    assert upper(declared, num) >= 2.0**120
    assert num is not RATIONAL or upper(declared, num) == 2.0**120


def test_two_ends_that_round_to_one_interval_may_leave_nothing_between_them() -> None:
    """1 + 2^−60 ≤ x ≤ 1 − 2^−60: one interval, no number."""
    x, one, small = cp.Variable(name="x"), cp.Parameter(value=1.0), cp.Parameter(value=2.0**-60)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.square(x)), [x >= one + small, x <= one - small]))
    assert upper(declared, INTERVAL) == upper(declared, RATIONAL) == np.inf
    small.value = 0.0
    assert upper(declared, INTERVAL) == pytest.approx(1.0)
    assert upper(declared, RATIONAL) == 1.0


@each_arithmetic
def test_a_variable_that_only_constants_bound_is_no_number_when_its_cost_falls(num: Arithmetic) -> None:
    """min p t with t ≥ 3 is 3p for p ≥ 0, and −∞ else."""
    t, p = cp.Variable(name="t"), cp.Parameter(value=1.0)
    declared = Declared.of(cp.Problem(cp.Minimize(p * t), [t >= 3]))
    assert lower(declared, num) == pytest.approx(3.0)
    p.value = -1.0
    assert lower(declared, num) == -np.inf
    assert "t: no closing term" in declared.open({}, num=num)[0]


@pytest.mark.parametrize("num", [INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_a_cost_whose_sign_rounding_hides_makes_no_epigraph(num: Arithmetic) -> None:
    """The cost 1 − 2^−60 − 1 < 0 of t ≥ x is 0 in floats: there is no optimum."""
    x, t, parts = cp.Variable(name="x"), cp.Variable(name="t"), [cp.Parameter(value=value) for value in (1.0, -(2.0**-60), -1.0)]
    declared = Declared.of(cp.Problem(cp.Minimize(sum(parts) * t), [t >= x, x >= 0, x <= 1]))
    assert lower(declared, num) == -np.inf


def test_an_idle_row_in_an_epigraph_is_no_obstacle_to_intervals() -> None:
    """2t ≤ 9 with the multiplier 0 adds an interval around 0 to the scale of t; its factor is known to be positive."""
    x, t = cp.Variable(name="x"), cp.Variable(name="t")
    declared = Declared.of(cp.Problem(cp.Minimize(cp.square(x)), [x <= t, 2 * t <= 9]))
    assert lower(declared, INTERVAL) == pytest.approx(0.0)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a negative denominator": lambda x: cp.quad_over_lin(x, -1.0),
    "the denominator 0": lambda x: cp.quad_over_lin(x, 0.0),
    "a norm of nothing": lambda x: cp.sum_squares(x) + cp.norm(x[0:0], 2),
    "a sum of no sizes": lambda x: cp.sum_squares(x) + cp.sum(cp.abs(x[0:0])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_reader_does_not_know_it_refuses_by_name(name: str) -> None:
    """A negative denominator was read as a quotient; the others ended in errors of Python."""
    objective = REFUSED[name](cp.Variable(2, name="x"))
    with pytest.raises(Unreadable, match="denominator|no entries"):
        Declared.of(cp.Problem(cp.Minimize(objective)))


@each_arithmetic
def test_a_denominator_that_is_not_positive_has_no_values(num: Arithmetic) -> None:
    x, p = cp.Variable(2, name="x"), cp.Parameter(name="p", value=2.0)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.quad_over_lin(x - 1, p))))
    assert upper(declared, num) == pytest.approx(1.0)
    for p.value in (0.0, -1.0):
        assert upper(declared, num) == np.inf


COMPUTED: dict[str, Callable[[Any, Any], Any]] = {
    "a factor": lambda x, p: cp.sum_squares(x - 1) + cp.square(p) * x[0],
    "a denominator": lambda x, p: cp.sum_squares(x - 1) + x[0] / cp.inv_pos(cp.square(p)),
    "a matrix": lambda x, p: cp.sum_squares(x - 1) + cp.sum((cp.abs(p) * np.diag([2.0, 0.0])) @ x),
    "a matrix on the right": lambda x, p: cp.sum_squares(x - 1) + cp.sum(x @ (cp.abs(p) * np.diag([2.0, 0.0]))),
}


@each_arithmetic
@pytest.mark.parametrize("name", COMPUTED)
def test_functions_of_parameters_are_numbers_of_the_arithmetic_and_read_anew(name: str, num: Arithmetic) -> None:
    """min (x − 1)² + c x with c = p² or 2|p| is c − c²/4: once such factors ended in errors of Python."""
    x, p = cp.Variable(2, name="x"), cp.Parameter(name="p", value=-2.0)
    declared = Declared.of(cp.Problem(cp.Minimize(COMPUTED[name](x, p))))
    for p.value in (-2.0, 1.0):
        c = 2.0 * abs(p.value) if "matrix" in name else p.value**2
        assert lower(declared, num) == pytest.approx(c - c * c / 4)


@each_arithmetic
def test_products_of_stacks_are_products_of_each_of_their_matrices(num: Arithmetic) -> None:
    """They were read as products of two axes: wrong problems with plausible numbers."""
    given = np.arange(12.0).reshape(3, 2, 2) / 4
    for expression, value in (
        (lambda x: cp.Variable((3, 2, 2), name="x") @ np.array([[1.0, 2.0], [0.0, 1.0]]), given @ np.array([[1.0, 2.0], [0.0, 1.0]])),
        (lambda x: np.array([[1.0, 2.0], [0.0, 1.0]]) @ cp.Variable((3, 2, 2), name="x"), np.array([[1.0, 2.0], [0.0, 1.0]]) @ given),
        (lambda x: given @ cp.Variable((3, 2, 2), name="x"), given @ given),
    ):
        declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(expression(None) - 1))))
        assert num.upper(declared.objective({"x": given}, num)) == pytest.approx(np.sum((value - 1) ** 2))


@each_arithmetic
@pytest.mark.parametrize("atom", [Square(), Huber(lambda num: num.lift(2.0**200))], ids=["square", "huber"])
def test_a_multiplier_whose_square_leaves_the_floats_has_a_conjugate(num: Arithmetic, atom: Square | Huber) -> None:
    """u²/(4s), for u² = 2^−1200 below all floats and 2^1200 above them."""
    for s, u in ((2.0**-500, 2.0**-600), (2.0**500, 2.0**600)):
        found = atom.conjugate(num, num.lift(np.array([u])), num.lift(np.array([s])))
        assert num.lower(found) == pytest.approx(u / (4 * s) * u, rel=1e-9, abs=0.0)


def test_norms_of_rows_whose_squares_leave_the_floats_are_norms() -> None:
    """min s Σ_i (‖x_i‖ + ⟨2, x_i⟩) over |x| ≤ 1 is s Σ_i (√2 − 4), for s² below all floats."""
    s, x = 2.0**-600, cp.Variable((2, 2), name="x")
    objective = s * cp.sum(cp.norm(x, 2, axis=1)) + 2 * s * cp.sum(x)
    declared = Declared.of(cp.Problem(cp.Minimize(objective), [x <= 1, x >= -1]))
    found = lower(declared, FLOAT, PnormApprox_1=np.full(4, -2 * s))
    assert found <= 2 * s * (np.sqrt(2) - 4) * (1 - 1e-9)
    assert found > -np.inf
