"""Formulas of a proof file as terms: what is added to nothing or multiplied by one is left out, equal parts are one object.

A term is printed in the notation of mathematics, which is the same over Q and over R. It is also printed as data of the type `term` of
Simopt.v, which its verified evaluator reads.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

ZERO = Fraction(0)
SUM, PRODUCT, MINUS, POWER, ATOM = 50, 40, 35, 30, 0  # levels of Coq's notations: the smaller, the tighter
LONG = 14  # letters of a part that is worth a name where it occurs more than once
DEEP = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "min": "Min", "max": "Max", "abs": "Abs", "exp": "Exp", "log": "Ln", "opp": "Opp"}
REAL = {"abs": "Rabs", "min": "Rmin", "max": "Rmax", "exp": "exp", "log": "ln"}
RATIONAL = {"abs": "Qabs", "min": "Qmin", "max": "Qmax"}


@dataclass(frozen=True, eq=False)
class CoqTerm:
    """One operation on terms; `number` of a constant, `name` of a variable, `order` of a power or a root."""

    op: str
    args: tuple[CoqTerm, ...] = ()
    number: Fraction = ZERO
    name: str = ""
    order: int = 0

    @property
    def closed(self) -> bool:
        """Whether this is a number as it stands."""
        return self.op == "number"


class Terms:
    """The terms of one statement, each made once."""

    def __init__(self, keep_zeros: bool = False) -> None:
        self._made: dict[Any, CoqTerm] = {}
        self._keep_zeros = keep_zeros

    def _new(self, op: str, *args: CoqTerm, number: Fraction = ZERO, name: str = "", order: int = 0) -> CoqTerm:
        key = (op, tuple(map(id, args)), number, name, order)
        return self._made.setdefault(key, CoqTerm(op, args, number, name, order))

    def number(self, value: Fraction | int | str) -> CoqTerm:
        """Return a rational constant."""
        return self._new("number", number=Fraction(value))

    def variable(self, name: str) -> CoqTerm:
        """Return an input or a symbol."""
        return self._new("variable", name=name)

    def add(self, a: CoqTerm, b: CoqTerm) -> CoqTerm:
        """a + b; nothing where one of them is 0, a − c for b = −c."""
        if _is(a, 0) or _is(b, 0):
            return b if _is(a, 0) else a
        if b.op == "opp":
            return self.subtract(a, b.args[0])
        return self.subtract(a, self.number(-b.number)) if b.closed and b.number < 0 else self._new("+", a, b)

    def subtract(self, a: CoqTerm, b: CoqTerm) -> CoqTerm:
        """a − b; −b for a = 0, and a for b = 0."""
        if _is(b, 0):
            return a
        if _is(a, 0):
            return self.opposite(b)
        if b.op == "opp":
            return self.add(a, b.args[0])
        return self.add(a, self.number(-b.number)) if b.closed and b.number < 0 else self._new("-", a, b)

    def opposite(self, a: CoqTerm) -> CoqTerm:
        """−a."""
        if a.closed:
            return self.number(-a.number)
        return a.args[0] if a.op == "opp" else self._new("opp", a)

    def multiply(self, a: CoqTerm, b: CoqTerm) -> CoqTerm:
        """a·b; b for a = 1, −b for a = −1, and 0 for a = 0."""
        for one, other in ((a, b), (b, a)):
            if _is(one, 0) and not self._keep_zeros:
                return one
            if _is(one, 1) or _is(one, -1):
                return other if one.number == 1 else self.opposite(other)
        return self._new("*", a, b)

    def divide(self, a: CoqTerm, b: CoqTerm) -> CoqTerm:
        """a/b; a for b = 1. The quotient of two whole numbers is a number."""
        if _is(b, 1):
            return a
        if a.closed and b.closed and b.number and a.number.denominator == b.number.denominator == 1:
            return self.number(a.number / b.number)
        return self._new("/", a, b)

    def power(self, a: CoqTerm, n: int) -> CoqTerm:
        """a^n; 1/a^−n for n < 0."""
        if n < 0:
            return self.divide(self.number(1), self.power(a, -n))
        return a if n == 1 else self._new("^", a, order=n)

    def apply(self, op: str, args: list[CoqTerm], order: int) -> CoqTerm:
        """One step of a proof file."""
        if op == "sum":
            total = args[0]
            for term in args[1:]:
                total = self.add(total, term)
            return total
        if op in ("min", "max"):
            most = args[-1]
            for term in reversed(args[:-1]):
                most = term if term is most else self._new(op, term, most)
            return most
        if op == "^":
            return self.power(args[0], order)
        binary = {"+": self.add, "-": self.subtract, "*": self.multiply, "/": self.divide}
        return binary[op](*args) if op in binary else self._new(op, *args, order=order if op == "root" else 0)


def _is(term: CoqTerm, value: int) -> bool:
    return term.closed and term.number == value


def walk(tops: Iterable[CoqTerm]) -> Iterator[CoqTerm]:
    """Every term below, each once, arguments before what is made of them."""
    seen: set[int] = set()
    for top in tops:
        stack = [(top, False)]
        while stack:
            term, ready = stack.pop()
            if id(term) in seen:
                continue
            if ready:
                seen.add(id(term))
                yield term
            else:
                stack.append((term, True))
                stack.extend((arg, False) for arg in reversed(term.args))


class Printer:
    """Prints terms that share parts: long parts that occur more than once get names, in `parts`."""

    def __init__(self, tops: list[CoqTerm], variables: dict[str, str], real: bool) -> None:
        self.variables = variables
        self.functions = REAL if real else RATIONAL
        self.parts: list[tuple[str, CoqTerm]] = []
        self._names: dict[int, str] = {}
        self._texts: dict[int, tuple[str, int]] = {}
        self.bodies: list[str] = []
        every = list(walk(tops))
        uses = Counter([id(arg) for term in every for arg in term.args] + [id(top) for top in tops])
        taken = set(variables.values())
        for term in every:
            text, level = self._spelt(term)
            if term.args and ((uses[id(term)] > 1 and len(text) > LONG) or len(text) > 600):
                name = next(name for k in range(len(self.parts) + 1, 10**6) if (name := f"part{k}") not in taken)
                taken.add(name)
                self.parts.append((name, term))
                self.bodies.append(text)
                self._names[id(term)] = name
                text, level = name, ATOM
            self._texts[id(term)] = text, level

    def text(self, term: CoqTerm, level: int = 99) -> str:
        """The term where an operand of this level may stand."""
        text, own = self._texts[id(term)]
        return f"({text})" if own > level else text

    def _spelt(self, term: CoqTerm) -> tuple[str, int]:
        op, args = term.op, term.args
        if op == "number":
            number = term.number
            text = str(number.numerator) + (f" / {number.denominator}" if number.denominator > 1 else "")
            return (f"({text})", ATOM) if number < 0 else (text, PRODUCT if number.denominator > 1 else ATOM)
        if op == "variable":
            return self.variables[term.name], ATOM
        if op in ("+", "-"):
            return f"{self.text(args[0], SUM)} {op} {self.text(args[1], SUM - 1)}", SUM
        if op in ("*", "/"):
            return f"{self.text(args[0], PRODUCT)} {op} {self.text(args[1], PRODUCT - 1)}", PRODUCT
        if op == "opp":
            return f"- {self.text(args[0], MINUS - 1)}", MINUS
        if op == "^":
            return f"{self.text(args[0], POWER - 1)} ^ {term.order}", POWER
        if op == "root":
            inner = self.text(args[0], 9)
            return (f"sqrt {inner}" if term.order == 2 else f"Rpower {inner} (1 / {term.order})"), 10
        return " ".join([self.functions[op], *(self.text(arg, 9) for arg in args)]), 10

    def deep(self, term: CoqTerm, indices: dict[str, int], inside: bool = False) -> str:
        """The term as data of Simopt.v, with the place of every input and of every part that has a name."""
        places = {key: indices[name] for key, name in self._names.items() if name in indices}
        places |= {id(each): indices[self.variables[each.name]] for each in walk([term]) if each.op == "variable"}
        return data(term, places, inside)


def data(term: CoqTerm, indices: Mapping[int, int], inside: bool = False) -> str:
    """The term as data of Simopt.v; what has a place, by its identity, is what stands there. `inside` spells out the term itself."""
    if not inside and id(term) in indices:
        return f"(Var {indices[id(term)]})"
    if term.op == "number":
        p, q = term.number.numerator, term.number.denominator
        whole = f"({p})" if p < 0 else str(p)
        return f"(Num {whole})" if q == 1 else f"(Frac {whole} {q})"
    args = " ".join(data(arg, indices) for arg in term.args)
    if term.op == "root":
        return f"(Sqrt {args})" if term.order == 2 else f"(Root {term.order} {args})"
    return f"(Pow {args} {term.order})" if term.op == "^" else f"({DEEP[term.op]} {args})"


RESERVED = frozenset(
    "as at cofix else end exists fix for forall fun if in let match return Set Prop SProp Type then using where with mod every "
    "R Q Z N O S I F E PI INR IZR exp ln sqrt sin cos tan Rabs Rmin Rmax Rpower Qabs Qmin Qmax plus minus times over power "
    "Var Num Frac Opp Abs Sqrt Root Exp Ln Pow Add Sub Mul Div Min Max Exact Wide Le Lt Eql NotLe NotLt Eq Gt Both Bind "
    "xH xI xO Z0 Zpos Zneg Let AtMost Equal AtLeast Polynomial "
    "nil cons pair inl inr left right true false Some None tt conj".split()
)


def identifier(name: str) -> str:
    """The name as an identifier of Coq that is no word of the language and no constructor."""
    plain = re.sub(r"[^A-Za-z0-9_]", lambda found: f"u{ord(found[0]):x}", name)
    return f"{plain}_" if plain in RESERVED or plain.startswith(("part", "given", "proved")) else plain
