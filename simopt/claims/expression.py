"""Rational formulas that compute their exact value and remember how, so that a proof file can state them.

An `Expr` is a number with a history. The operations + − × ÷, integer powers, abs, min, max and sums over rationals are evaluated at once
with `Fraction`. Roots, exponentials and logarithms carry a rational enclosure that rational arithmetic confirms. `symbols` have no value:
two formulas in symbols are equal if they agree as rational functions. `simopt.recheck` evaluates the same history without this module.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.claims.transcendent import exp_bounds, log_bounds, root_bounds

INFINITY = float("inf")
DIGITS = 4300  # of a number that is written out: Python reads no more
WRITTEN = re.compile(
    rf"\s*[+-]?(\d{{1,{DIGITS}}}(/\d{{1,{DIGITS}}})?|\d{{0,{DIGITS}}}\.\d{{0,{DIGITS}}})(e[+-]?\d{{1,3}})?\s*", re.IGNORECASE
)
BITS = 1 << 20  # of a power
SMALL = 8  # powers that a formula spells out, such as squares; larger ones may come from data
ENCLOSED = "enclosed"  # what serialise calls enclosures of roots, exponentials and logarithms, with the number of the step
Bounds = tuple[Fraction, Fraction]
_BINARY: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


@dataclass(frozen=True, eq=False)
class Expr:
    """A rational formula; `low` ≤ value ≤ `high`, equal unless a root, exp or log occurs in it."""

    op: str
    args: tuple[Expr, ...] = ()
    low: Fraction | float = Fraction(0)
    high: Fraction | float = Fraction(0)
    name: str = ""
    order: int = 0
    symbolic: bool = False

    @classmethod
    def constant(cls, value: Fraction | int) -> Expr:
        """Return the formula that is just this number."""
        number = Fraction(value)
        return cls("constant", (), number, number)

    def __add__(self, other: Any) -> Expr:
        return _build("+", self, other)

    def __radd__(self, other: Any) -> Expr:
        return _build("+", other, self)

    def __sub__(self, other: Any) -> Expr:
        return _build("-", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return _build("-", other, self)

    def __mul__(self, other: Any) -> Expr:
        return _build("*", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return _build("*", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return _build("/", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return _build("/", other, self)

    def __neg__(self) -> Expr:
        return _build("-", 0, self)

    def __pow__(self, exponent: int) -> Expr:
        if isinstance(exponent, bool) or not isinstance(exponent, int | np.integer):
            raise TypeError(f"only integer powers stay rational, got {exponent!r}; use root(x, n)")
        return _node("^", (self,), order=int(exponent))

    def __abs__(self) -> Expr:
        return _node("abs", (self,))

    def __float__(self) -> float:
        if self.symbolic:
            raise TypeError("a formula in symbols has no value")
        return float((self.low + self.high) / 2)

    def __bool__(self) -> bool:
        raise TypeError("a formula has no truth value; compare its parts with at_most, at_least or equal")

    def _refuse(self, other: Any) -> bool:
        raise TypeError("formulas are compared with at_most, at_least or equal, which keep the statement")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse


def rational(value: Any) -> Expr:
    """Turn an integer, a Fraction or "p/q" into a formula.

    Floats are refused, because 0.1 is not one tenth, and so are NumPy's integers, which wrap around: what was computed with them may be
    anything. As data of an instance (`inputs`) they are what they are.
    """
    if isinstance(value, Expr):
        return value
    if isinstance(formula := getattr(value, "formula", None), Expr):  # a fraction that knows it
        return formula
    if isinstance(value, np.integer) or (isinstance(value, Fraction) and type(value.numerator) is not int):
        raise TypeError(f"formulas take Python's integers, got {value!r}; compute with int(…), NumPy's integers wrap around")
    if isinstance(value, str) and not WRITTEN.fullmatch(value):  # Fraction would compute 1e100000000
        raise ValueError(f"{value[:40]!r} is no fraction p/q of at most {DIGITS} digits; write powers of ten as such")
    if isinstance(value, str | Fraction | int) and not isinstance(value, bool):
        return Expr.constant(Fraction(value))
    raise TypeError(f"formulas take integers and fractions, got {value!r}; write Fraction(1, 10) for 0.1")


def inputs(**values: Any) -> Any:
    """Name the data of an instance: one `Expr` for a number, an object array for a list or array (x → x_0, x_1, …).

    Returns the inputs in the order given (the single one, if there is only one). Checks of the same shape share their formula in the
    proof file when their data have names.
    """
    made = [_named(name, value) for name, value in values.items()]
    return made[0] if len(made) == 1 else tuple(made)


def _checked_name(name: str) -> str:
    if not name.isidentifier() or name.removeprefix(ENCLOSED).isdigit():
        raise ValueError(f"{name!r} cannot name an input or a symbol; use letters, digits and _, and not {ENCLOSED}0, {ENCLOSED}1, …")
    return name


def _named(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray | list | tuple):
        array = np.array(value, dtype=object)
        out = np.empty(array.shape, dtype=object)
        for where in np.ndindex(array.shape):
            out[where] = _named("_".join([name, *map(str, where)]), array[where])
        return out
    number = rational(int(value) if isinstance(value, np.integer) else value)
    return Expr("input", (), number.low, number.high, name=_checked_name(name))


def symbols(names: str) -> tuple[Expr, ...]:
    """Free variables, separated by spaces, for identities between rational functions."""
    return tuple(Expr("symbol", (), -INFINITY, INFINITY, name=_checked_name(name), symbolic=True) for name in names.split())


def total(terms: Iterable[Any]) -> Expr:
    """Sum of any number of terms as one node; 0 where there are none (a proof file has no step without arguments)."""
    added = tuple(rational(term) for term in terms)
    return _node("sum", added) if added else rational(0)


def minimum(*terms: Any) -> Expr:
    """Smallest of the terms."""
    return _node("min", tuple(rational(term) for term in terms))


def maximum(*terms: Any) -> Expr:
    """Largest of the terms."""
    return _node("max", tuple(rational(term) for term in terms))


def root(value: Any, order: int = 2, bits: int = 200) -> Expr:
    """Enclosure of the root of the given order of a formula that is ≥ 0, to about `bits` binary digits."""
    x = rational(value)
    if x.symbolic or x.low < 0:
        raise ValueError("root needs a non-negative value")
    low = root_bounds(Fraction(x.low), order, bits)[0]
    return Expr("root", (x,), low, root_bounds(Fraction(x.high), order, bits)[1], order=order)


def exp(value: Any, bits: int = 200) -> Expr:
    """Enclosure of the exponential, to about `bits` binary digits."""
    x = rational(value)
    return Expr("exp", (x,), exp_bounds(Fraction(x.low), bits)[0], exp_bounds(Fraction(x.high), bits)[1])


def log(value: Any, bits: int = 200) -> Expr:
    """Enclosure of the natural logarithm of a formula that is > 0, to about `bits` binary digits."""
    x = rational(value)
    if x.symbolic or x.low <= 0:
        raise ValueError("log needs a positive value")
    return Expr("log", (x,), log_bounds(Fraction(x.low), bits)[0], log_bounds(Fraction(x.high), bits)[1])


def _build(op: str, left: Any, right: Any) -> Expr:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        deferred: Expr = NotImplemented  # NumPy then applies the operation to every entry
        return deferred
    return _node(op, (rational(left), rational(right)))


def _node(op: str, args: tuple[Expr, ...], order: int = 0) -> Expr:
    if any(arg.symbolic for arg in args):
        return Expr(op, args, -INFINITY, INFINITY, order=order, symbolic=True)
    if all(arg.low is arg.high for arg in args):
        value = _value(op, [Fraction(arg.low) for arg in args], order)
        return Expr(op, args, value, value, order=order)
    low, high = _bounds(op, [(Fraction(arg.low), Fraction(arg.high)) for arg in args], order)
    return Expr(op, args, low, high, order=order)


def _payable(bases: list[Fraction], order: int) -> None:
    """Refuse a power that has more bits than any number of a proof, before it is computed: nothing stops it once it is begun."""
    if abs(order) * max(max(x.numerator.bit_length(), x.denominator.bit_length()) - 1 for x in bases) > BITS:
        raise OverflowError(f"a formula takes a power of more than {BITS} bits")


def _value(op: str, args: list[Fraction], order: int) -> Fraction:
    if op in _BINARY:
        return _BINARY[op](*args)
    if op == "^":
        if abs(order) > SMALL:
            _payable(args, order)
        return Fraction(args[0] ** order)
    if op == "abs":
        return abs(args[0])
    if op == "sum":
        return sum(args, Fraction(0))
    return min(args) if op == "min" else max(args)


def _bounds(op: str, args: list[Bounds], order: int) -> Bounds:
    lows, highs = [low for low, _ in args], [high for _, high in args]
    if op in ("+", "sum"):
        return sum(lows, Fraction(0)), sum(highs, Fraction(0))
    if op == "-":
        return lows[0] - highs[1], highs[0] - lows[1]
    if op in ("*", "/"):
        if op == "/" and lows[1] <= 0 <= highs[1]:
            raise ZeroDivisionError("a formula divides by something that may be zero")
        second = (lows[1], highs[1]) if op == "*" else (1 / lows[1], 1 / highs[1])
        corners = [a * b for a in {lows[0], highs[0]} for b in set(second)]
        return min(corners), max(corners)
    if op == "^":
        if abs(order) > SMALL:
            _payable([lows[0], highs[0]], order)
        if order < 0 and lows[0] <= 0 <= highs[0]:
            raise ZeroDivisionError("a formula takes a negative power of something that may be zero")
        ends = (lows[0] ** order, highs[0] ** order)
        crosses = order > 0 and order % 2 == 0 and lows[0] < 0 < highs[0]
        return (Fraction(0) if crosses else min(ends)), max(ends)
    if op == "abs":
        ends = (abs(lows[0]), abs(highs[0]))
        return (Fraction(0) if lows[0] < 0 < highs[0] else min(ends)), max(ends)
    return (min(lows), min(highs)) if op == "min" else (max(lows), max(highs))
