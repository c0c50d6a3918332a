"""Fractions that remember how they were computed: values as of fractions, formulas that recheck evaluates to them, decisions that hold."""

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simopt import recheck
from simopt.claims.check import at_most, equal
from simopt.claims.statement import Statement, serialise
from simopt.claims.traced import FormulaTrace, Traced

NUMBERS = st.fractions(min_value=-10, max_value=10, max_denominator=50)


def checked(statement: Statement) -> tuple[bool, Any]:
    """What the independent evaluator says: whether the hypotheses hold, and the claim."""
    template, values = serialise(statement)
    names = {name: (Fraction(value), Fraction(value)) for name, value in values.items()}
    return recheck.conditions(template, names, recheck.Work())


def computed(a: Any, b: Any, c: Any) -> Any:
    """A computation with branches."""
    x = max(a, b) - 2 * c
    y = abs(x) / 3 if x < a else x * x + 1
    return sum([y, -b, Fraction(1, 7)]) * (c if c else 5) + (a - b) ** 2


@given(NUMBERS, NUMBERS, NUMBERS)
def test_values_are_those_of_fractions_and_the_formula_says_so(a: Fraction, b: Fraction, c: Fraction) -> None:
    trace = FormulaTrace()
    seen = trace.instance({"a": a, "b": b, "c": c})
    found = computed(seen["a"], seen["b"], seen["c"])
    assert isinstance(found, Traced) and Fraction(found) == computed(a, b, c)
    assert all(checked(decision) == (True, True) for decision in trace.decisions.values())
    statement = equal(found, computed(a, b, c)).statement
    assert statement is not None
    assert checked(Statement("==", statement.left, statement.right, tuple(trace.decisions.values()))) == (True, True)


def test_a_check_that_compares_them_states_a_formula() -> None:
    seen = FormulaTrace().instance({"p": [Fraction(1, 3), Fraction(2, 3)]})
    check = at_most(seen["p"][0] + seen["p"][1], Fraction(1, 2))
    assert check.statement is not None
    assert serialise(check.statement)[1] == {"p_0": "1/3", "p_1": "2/3"}
    assert at_most(Fraction(1), Fraction(1, 2)).statement is None


def test_what_is_no_fraction_stays_and_copies_are_the_same() -> None:
    given_ = {"n": 3, "name": "x", "x": 0.5, "flag": True, "z": np.array([Fraction(1), Fraction(2)], dtype=object)}
    seen = FormulaTrace().instance(given_)
    assert seen["n"] == 3 and type(seen["n"]) is int and seen["x"] == 0.5 and seen["flag"] is True
    assert copy.deepcopy(seen)["z"][1] is seen["z"][1]
    assert (seen["z"] * 2)[1] == 4 and isinstance((seen["z"] * 2)[1], Traced)
    assert seen["z"][0] * 0.5 == 0.5 and type(seen["z"][0] * 0.5) is float


@pytest.mark.parametrize("turned", [False, True])
def test_a_fraction_on_either_side_is_traced(turned: bool) -> None:
    x = FormulaTrace().instance({"x": Fraction(3)})["x"]
    for made in (Fraction(1, 2) - x, 2 / x, 1 + x) if turned else (x - Fraction(1, 2), x / 2, x + 1):
        assert isinstance(made, Traced)


@pytest.mark.parametrize("turned", [False, True])
def test_a_comparison_with_an_array_is_decided_entry_by_entry(turned: bool) -> None:
    trace = FormulaTrace()
    seen = trace.instance({"x": Fraction(3), "z": np.array([Fraction(1), Fraction(3), Fraction(4)], dtype=object)})
    found = seen["z"] > seen["x"] if turned else seen["x"] < seen["z"]
    assert found.tolist() == [False, False, True] and len(trace.decisions) == 3
    assert (seen["x"] < np.array([1.0, 4.0])).tolist() == [False, True] and (seen["x"] < 3.5) is True
