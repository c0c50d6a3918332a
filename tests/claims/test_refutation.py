"""Refutations as theorems: numbers at which the two sides of an identity differ, and what leaves none."""

from fractions import Fraction

import pytest

from simopt.claims.check import equal
from simopt.claims.expression import Expr, symbols
from simopt.claims.refutation import _point
from simopt.claims.statement import serialise
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
