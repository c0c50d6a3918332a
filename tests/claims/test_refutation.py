"""Refutations as theorems: numbers at which the two sides of an identity differ, and what leaves none."""

from fractions import Fraction

import pytest

from simopt.claims.check import at_least, at_most, equal, probability
from simopt.claims.expression import Expr, inputs, symbols
from simopt.claims.statement import serialise
from simopt.coq.refutation import _point
from simopt.coq.theory import NoTheorem, refutation


def stated(left: Expr, right: Expr) -> tuple[dict[str, object], dict[str, object]]:
    statement = equal(left, right).statement
    assert statement is not None
    return serialise(statement)


def test_the_sides_of_a_false_identity_differ_at_the_numbers_that_are_found() -> None:
    x, y = symbols("x y")
    template, values = stated(x / y, (x + 1) / y)
    point = _point(template, values)
    a, b = (Fraction(point[name]) for name in ("x", "y"))
    assert b != 0 and a / b != (a + 1) / b
    text = refutation(["words"], "r", template | {"symbols": [], "names": ["x", "y"], "rows": [[point["x"], point["y"]]]})
    assert "y != 0 /\\\n  ~ (x / y == (x + 1) / y)" in text


def test_of_a_true_one_none_are() -> None:
    x, y = symbols("x y")
    with pytest.raises(NoTheorem, match="no numbers were found"):
        _point(*stated((x + y) ** 2, x * x + 2 * x * y + y * y))


def test_of_a_list_that_fails_the_worst_entry_is_stated_and_of_one_that_holds_nothing() -> None:
    a, b, c = inputs(a=1, b=3, c=2)
    for failing, sides in ((at_most([a, b, c], [1, 1, 1]), ("b", "1")), (at_least([a, b, c], [3, 3, 3]), ("3", "a"))):
        assert failing.statement is not None
        template, _ = serialise(failing.statement)
        assert template["claim"] == ["<=", *sides]
    assert at_most([a, b, c], [3, 3, 3]).statement is None
    assert at_most([a, b], [1, 3], strict=True).statement is not None  # 1 < 1 fails, and so does one of the list
    assert at_most([a, b, c], [3, 3, 3]).assuming(at_most(a, b)).statement is None


def test_a_probability_is_refuted_by_its_lower_end_and_shown_by_none_alone() -> None:
    p = inputs(p=Fraction(1, 2))
    failing = probability(p**2, 1, Fraction(1, 5))
    assert failing.statement is not None
    template, values = serialise(failing.statement)
    assert template["steps"] == [["^", "p", 2]] and template["claim"] == ["<=", 0, "1/5"] and values == {"p": "1/2"}
    assert (failing.low, failing.high) == (Fraction(-4, 5), Fraction(-1, 20))
    assert probability(0, p**2, Fraction(1, 3)).statement is None
    assert probability(p**2, 1, Fraction(1, 3)).statement is None
