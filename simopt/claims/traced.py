"""Fractions that remember how they were computed, and what was decided on the way: a formula of a check that writes none.

A check compares finished numbers where it computes with an instance as it is. When it is run again on an instance of traced fractions, the
numbers that it compares are formulas in the instance's data, along the branches that were taken. Every comparison on the way is a condition
that holds for this instance. A refutation then says: these conditions hold, and the conclusion fails.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.claims.expression import Expr, inputs, rational
from simopt.claims.statement import Statement

MOST = 2000  # decisions of a theorem; one of 1200 takes the kernel two minutes


@dataclass
class FormulaTrace:
    """The formulas of one run, each made once, and the decisions that were taken."""

    made: dict[tuple[Any, ...], Expr] = field(default_factory=dict)
    decisions: dict[tuple[str, int, int], Statement] = field(default_factory=dict)

    def instance(self, values: Any, name: str = "") -> Any:
        """The instance with its fractions traced, each called by its place."""
        if isinstance(values, Mapping):
            return {key: self.instance(value, f"{name}_{key}" if name else str(key)) for key, value in values.items()}
        if isinstance(values, list | tuple):
            return type(values)(self.instance(value, f"{name}_{place}") for place, value in enumerate(values))
        if isinstance(values, np.ndarray) and values.dtype == object:
            out = np.empty(values.shape, dtype=object)
            for place in np.ndindex(values.shape):
                out[place] = self.instance(values[place], "_".join([name, *map(str, place)]))
            return out
        if type(values) is Fraction:
            plain = "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name)
            called = plain if plain.isidentifier() else f"x_{plain}"
            return Traced.of(values, self.built("input", lambda: inputs(**{called: values}), called), self)
        return values

    def built(self, symbol: str, make: Callable[[], Expr], *key: Any) -> Expr:
        """A formula, made once; it is kept, so that no other has its identity."""
        if (symbol, *key) not in self.made:
            self.made[(symbol, *key)] = make()
        return self.made[(symbol, *key)]

    def decide(self, relation: str, left: Expr, right: Expr) -> None:
        """Keep that a comparison came out so, unless it is one of finished numbers."""
        if left.op != "constant" or right.op != "constant":
            self.decisions.setdefault((relation, id(left), id(right)), Statement(relation, left, right))


class Traced(Fraction):
    """A fraction with its formula."""

    __slots__ = ("formula", "trace")
    formula: Expr
    trace: FormulaTrace

    @classmethod
    def of(cls, value: Fraction, formula: Expr, trace: FormulaTrace) -> Traced:
        """This value, computed so."""
        made = super().__new__(cls, value.numerator, value.denominator)
        made.formula, made.trace = formula, trace
        return made

    def __copy__(self) -> Traced:
        return self  # it never changes

    def __deepcopy__(self, memo: Any) -> Traced:
        return self

    def _with(self, other: Any, symbol: str, turned: bool) -> Any:
        plain = Fraction(self.numerator, self.denominator)
        if isinstance(other, np.ndarray) or not isinstance(other, Fraction | int) or isinstance(other, bool):
            return NotImplemented if not isinstance(other, float) else _apply(symbol, float(plain), other, turned)
        mine, theirs = self.formula, _known(self.trace, other)
        value = _apply(symbol, plain, Fraction(other.numerator, other.denominator), turned)
        left, right = (theirs, mine) if turned else (mine, theirs)
        formula = self.trace.built(symbol, lambda: _apply(symbol, left, right, False), id(left), id(right))
        return Traced.of(value, formula, self.trace)

    def __add__(self, other: Any) -> Any:
        return self._with(other, "+", False)

    def __radd__(self, other: Any) -> Any:
        return self._with(other, "+", True)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, "-", False)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, "-", True)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, "*", False)

    def __rmul__(self, other: Any) -> Any:
        return self._with(other, "*", True)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, "/", False)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, "/", True)

    def __neg__(self) -> Any:
        return 0 - self

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        formula = self.trace.built("abs", lambda: abs(self.formula), id(self.formula))
        return Traced.of(Fraction(abs(self.numerator), self.denominator), formula, self.trace)

    def __pow__(self, exponent: Any) -> Any:
        plain = Fraction(self.numerator, self.denominator)
        if not isinstance(exponent, int):
            return plain**exponent
        formula = self.trace.built("^", lambda: self.formula**exponent, id(self.formula), exponent)
        return Traced.of(Fraction(plain**exponent), formula, self.trace)

    def _compared(self, other: Any, holds: Callable[[Any, Any], bool]) -> Any:
        plain = Fraction(self.numerator, self.denominator)
        if isinstance(other, np.ndarray) or not isinstance(other, Fraction | int):
            return holds(plain, other) if isinstance(other, float) else NotImplemented
        theirs, number = _known(self.trace, other), Fraction(other.numerator, other.denominator)
        if plain == number:
            self.trace.decide("==", self.formula, theirs)
        else:
            self.trace.decide("<", *((self.formula, theirs) if plain < number else (theirs, self.formula)))
        return holds(plain, number)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, operator.ge)

    def __eq__(self, other: Any) -> Any:
        return self._compared(other, operator.eq)

    def __bool__(self) -> bool:
        return bool(self != 0)

    __hash__ = Fraction.__hash__


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def _apply(symbol: str, left: Any, right: Any, turned: bool) -> Any:
    return OPERATIONS[symbol](right, left) if turned else OPERATIONS[symbol](left, right)


def _known(trace: FormulaTrace, value: Any) -> Expr:
    """The formula of an operand; of a finished number the number."""
    if isinstance(value, Traced):
        return value.formula
    number = Fraction(value.numerator, value.denominator)
    return trace.built("constant", lambda: rational(number), number)
