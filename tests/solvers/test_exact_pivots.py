"""Pivots in ℚ from any basis: the optimum does not depend on where they begin, and what is infeasible is proved so."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from simopt.solvers.goodness.exact import exact_goodness
from simopt.solvers.goodness.exact_pivots import BASIC, LOWER, NEITHER, UPPER, NoFeasiblePoint, optimal_vertex
from simopt.solvers.goodness.exact_programme import exact_programme

NUMBER = st.integers(-2, 2).map(Fraction)
END = st.none() | NUMBER


@st.composite
def programmes(draw: Any) -> tuple[Any, ...]:
    """Small, with ties, dependent rows, columns without ends, fixed ones, and a start that may be no basis at all."""
    m, n = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    matrix = [[draw(NUMBER) for _ in range(n)] for _ in range(m)]
    pairs = [sorted((draw(NUMBER), draw(NUMBER))) for _ in range(n + m)]
    keep = [draw(st.sampled_from([(True, True), (True, False), (False, True), (False, False)])) for _ in pairs]
    low = [pair[0] if held[0] else None for pair, held in zip(pairs, keep, strict=True)]
    high = [pair[1] if held[1] else None for pair, held in zip(pairs, keep, strict=True)]
    start = [draw(st.sampled_from([BASIC, LOWER, UPPER, NEITHER])) for _ in pairs]
    return [draw(NUMBER) for _ in range(n)], matrix, low, high, start


@given(programmes())
def test_every_start_ends_where_floats_end(programme: tuple[Any, ...]) -> None:
    costs, matrix, low, high, start = programme
    n = len(costs)
    rows = np.array(matrix, dtype=float).reshape(-1, n)
    bounds = [(None if a is None else float(a), None if b is None else float(b)) for a, b in zip(low, high, strict=True)]
    sides = [
        (sign * row, sign * end)
        for row, ends in zip(rows, bounds[n:], strict=True)
        for sign, end in zip((-1, 1), ends, strict=True)
        if end is not None
    ]
    upper = {"A_ub": np.array([row for row, _ in sides]), "b_ub": np.array([end for _, end in sides])} if sides else {}
    found = scipy.optimize.linprog([float(c) for c in costs], bounds=bounds[:n], options={"presolve": False}, **upper)
    arguments = (costs, matrix, low[:n], high[:n], low[n:], high[n:], start)
    if found.status == 2:
        with pytest.raises(NoFeasiblePoint):
            exact_programme(*arguments)
    elif found.status == 3:
        with pytest.raises(ArithmeticError, match="no minimum"):
            exact_programme(*arguments)
    else:
        assert float(exact_programme(*arguments).value) == pytest.approx(found.fun, abs=1e-7)
        assert exact_programme(*arguments).value == exact_programme(*arguments[:-1]).value


def test_an_example_that_cycles_by_the_largest_slope() -> None:
    # V. Chvátal, "Linear Programming" (1983), chapter 3: degenerate at 0, where the rule of the largest slope returns after six exchanges
    costs = [Fraction(c) for c in (-10, 57, 9, 24)]
    rows = [[Fraction(1, 2), Fraction(-11, 2), Fraction(-5, 2), 9], [Fraction(1, 2), Fraction(-3, 2), Fraction(-1, 2), 1], [1, 0, 0, 0]]
    values, multipliers = optimal_vertex(costs, [[Fraction(a) for a in row] for row in rows], [Fraction(0)] * 4 + [None] * 3,
                                         [None] * 4 + [Fraction(0), Fraction(0), Fraction(1)], [LOWER] * 4 + [BASIC] * 3)  # fmt: skip
    assert sum(c * x for c, x in zip(costs, values, strict=True)) == -1 == multipliers[2]


def test_masses_that_balance_up_to_one_rounding() -> None:
    """K = 1 everywhere: the free weight of the optimal basis is a rounding away from its end, where floats call the basis degenerate."""
    masses = [Fraction(p) for p in (0.5, 0.0, 1 / 6, 1 / 3)]
    for bound in (1, 64, 2**20):
        found = exact_goodness(np.ones((4, 4)), [-1, -1, 1, 1], bound, [p / sum(masses) for p in masses], "hinge")
        assert found.exact
    with pytest.raises(NoFeasiblePoint) as caught:
        exact_programme([Fraction(0)], [[Fraction(1)], [Fraction(1)]], [None], [None], [Fraction(1, 10**30), None], [None, Fraction(0)])
    assert caught.value.multipliers[0] > 0 > caught.value.multipliers[1]


def test_a_mass_that_is_0_in_floats_counts() -> None:
    tiny = Fraction(1, 10**400)
    found = exact_goodness([[1, 0], [0, 1]], [1, -1], 1, [tiny, 1 - tiny])
    assert found.exact and found.lower == 1 - tiny**2 - (1 - tiny) ** 2


def test_ends_in_the_wrong_order_and_other_lengths_are_refused() -> None:
    one, two = Fraction(1), Fraction(2)
    with pytest.raises(ValueError, match="ends 0: 2 > 1"):
        exact_programme([one], [[one]], [two], [one], [None], [None])
    with pytest.raises(ValueError, match="2 lower and 2 upper ends and 1 sides for 2 columns and rows"):
        optimal_vertex([one], [[one]], [one, None], [None, None], [BASIC])
