"""Check a proof file with rational arithmetic: one module, standard library only.

    python recheck.py FILE          or          simopt recheck FILE

A proof file states inequalities between rational formulas and the instances (or finite ranges, or free symbols) for which they are meant.
This program evaluates every formula itself, in exact rational arithmetic; it reads no slack and no verdict from the file, and prints the
statement that it checked. Roots, exponentials and logarithms enter as enclosures, which it confirms before it uses them.
"""

import hashlib
import itertools
import json
import math
import sys
from fractions import Fraction
from typing import Any

FORMAT = "simopt-proof/1"
RELATIONS = ("<=", "<", "==")
BITS = 220
Bounds = tuple[Fraction, Fraction]
Monomials = dict[tuple[tuple[str, int], ...], Fraction]


class Rejected(Exception):
    """The file does not prove what it states."""


class Unreadable(Exception):
    """The file is corrupt, or of a format that this program does not know."""


# Enclosures of roots, exponentials and logarithms, by integer arithmetic.


def root_bounds(x: Fraction, order: int, bits: int = BITS) -> Bounds:
    """Two rationals around the root of the given order of x ≥ 0, at most 2^-bits apart (relative to 1)."""
    if x < 0 or order < 1:
        raise Rejected(f"root of order {order} of {x}")
    scaled = (x.numerator << (order * bits)) // x.denominator
    low = _integer_root(scaled, order)
    exact = low**order == scaled and (x.numerator << (order * bits)) % x.denominator == 0
    return Fraction(low, 1 << bits), Fraction(low + (0 if exact else 1), 1 << bits)


def _integer_root(n: int, order: int) -> int:
    if n == 0:
        return 0
    guess = 1 << (n.bit_length() // order + 1)
    while True:
        better = ((order - 1) * guess + n // guess ** (order - 1)) // order
        if better >= guess:
            return guess
        guess = better


def exp_bounds(x: Fraction, bits: int = BITS) -> Bounds:
    """Two rationals around exp(x): Taylor's polynomial at x/2^k in [0, 1/2] with its remainder, then k squarings rounded outward."""
    if x < 0:
        below, above = exp_bounds(-x, bits)
        return 1 / above, 1 / below
    halvings = (x.numerator // x.denominator).bit_length() + 1
    small = x / 2**halvings
    digits = bits + 2 * halvings + 20
    term, total = Fraction(1), Fraction(1)
    n = 0
    while abs(term) * 2**digits > 1:
        n += 1
        term = term * small / n
        total += term
    low, high = _down(total - abs(term), digits), _up(total + abs(term), digits)
    for _ in range(halvings):
        low, high = _down(low * low, digits), _up(high * high, digits)
    return low, high


def log_bounds(x: Fraction, bits: int = BITS) -> Bounds:
    """Two rationals around log(x), x > 0: bisection from a floating-point start, each end confirmed through exp."""
    if x <= 0:
        raise Rejected(f"logarithm of {x}")
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    power = Fraction(1 << max(shift, 0), 1 << max(-shift, 0))
    guess = shift * Fraction(math.log(2)) + Fraction(math.log(x / power))
    for _ in range(5):  # Halley's method on exp; only the confirmation below counts
        value = exp_bounds(guess, bits)[0]
        guess = _down(guess + 2 * (x - value) / (x + value), bits + 20)
    step = Fraction(1, 2**bits)
    low, high = guess - step, guess + step
    while exp_bounds(low, bits + 40)[1] > x:
        low -= step
        step *= 2
    while exp_bounds(high, bits + 40)[0] < x:
        high += step
        step *= 2
    return low, high


def _down(x: Fraction, bits: int) -> Fraction:
    return Fraction((x.numerator << bits) // x.denominator, 1 << bits)


def _up(x: Fraction, bits: int) -> Fraction:
    return -_down(-x, bits)


# Formulas: a list of steps [operation, argument, ...]; arguments are numbers of earlier steps, names, or rationals "p/q".


def evaluate(steps: list[list[Any]], names: dict[str, Bounds]) -> list[Bounds]:
    """Value of every step, as the two ends of an enclosure (equal where no root, exp or log occurs)."""
    done: list[Bounds] = []
    for step in steps:
        op, rest = step[0], step[1:]
        if op in ("root", "exp", "log"):
            done.append(_confirmed(op, _value(rest[0], done, names), rest[1:], names))
        elif op == "^":
            done.append(_power(_value(rest[0], done, names), int(rest[1])))
        else:
            done.append(_apply(op, [_value(ref, done, names) for ref in rest]))
    return done


def _value(ref: int | str, done: list[Bounds], names: dict[str, Bounds]) -> Bounds:
    if isinstance(ref, int):
        return done[ref]
    if ref in names:
        return names[ref]
    number = Fraction(ref)
    return number, number


def _apply(op: str, args: list[Bounds]) -> Bounds:
    if op in ("+", "sum"):
        return sum((a for a, _ in args), Fraction(0)), sum((b for _, b in args), Fraction(0))
    if op == "-":
        (a, b), (c, d) = args
        return a - d, b - c
    if op == "*":
        (a, b), (c, d) = args
        corners = sorted((a * c, a * d, b * c, b * d))
        return corners[0], corners[-1]
    if op == "/":
        (a, b), divisor = args
        return _apply("*", [(a, b), _power(divisor, -1)])
    if op == "abs":
        ((a, b),) = args
        return (Fraction(0) if a < 0 < b else min(abs(a), abs(b))), max(abs(a), abs(b))
    if op in ("min", "max"):
        lows, highs = sorted(a for a, _ in args), sorted(b for _, b in args)
        return (lows[0], highs[0]) if op == "min" else (lows[-1], highs[-1])
    raise Unreadable(f"unknown operation {op!r}")


def _power(base: Bounds, exponent: int) -> Bounds:
    a, b = base
    if exponent < 0 and a <= 0 <= b:
        raise Rejected("division by something that may be zero")
    ends = (a**exponent, b**exponent)
    return (Fraction(0) if exponent > 0 and exponent % 2 == 0 and a < 0 < b else min(ends)), max(ends)


def _confirmed(op: str, x: Bounds, rest: list[Any], names: dict[str, Bounds]) -> Bounds:
    low, high = names[rest[-1]]
    if op == "root":
        order = int(rest[0])
        sound = x[0] >= 0 and order >= 1 and (low <= 0 or low**order <= x[0]) and high >= 0 and high**order >= x[1]
    elif op == "exp":
        sound = low <= exp_bounds(x[0])[0] and exp_bounds(x[1])[1] <= high
    else:
        sound = x[0] > 0 and exp_bounds(low)[1] <= x[0] and x[1] <= exp_bounds(high)[0]
    if not sound:
        raise Rejected(f"[{float(low)}, {float(high)}] does not enclose the {op} of [{float(x[0])}, {float(x[1])}]")
    return low, high


def compare(relation: str, left: Bounds, right: Bounds) -> bool:
    """Whether the relation holds for every pair of values in the two enclosures."""
    if relation == "==":
        return left[0] == left[1] == right[0] == right[1]
    return left[1] < right[0] if relation == "<" else left[1] <= right[0]


def conditions(statement: dict[str, Any], names: dict[str, Bounds]) -> tuple[bool, bool]:
    """Whether the hypotheses hold on one instance, and whether the claim does."""
    done = evaluate(statement["steps"], names)
    holds = [compare(r, _value(a, done, names), _value(b, done, names)) for r, a, b in [*statement["where"], statement["claim"]]]
    return all(holds[:-1]), holds[-1]


# Identities in free symbols: both sides as quotients of polynomials.


def identity(statement: dict[str, Any]) -> bool:
    """Whether the two sides agree as rational functions of the symbols (wherever no denominator vanishes)."""
    done: list[tuple[Monomials, Monomials]] = []
    for op, *rest in statement["steps"]:
        exponent = int(rest.pop()) if op == "^" else 1
        done.append(_quotient(op, [_polynomial(ref, done) for ref in rest], exponent))
    relation, a, b = statement["claim"]
    (p, q), (r, s) = _polynomial(a, done), _polynomial(b, done)
    return relation == "==" and _product(p, s) == _product(r, q)


def _polynomial(ref: int | str, done: list[tuple[Monomials, Monomials]]) -> tuple[Monomials, Monomials]:
    if isinstance(ref, int):
        return done[ref]
    one: Monomials = {(): Fraction(1)}
    if ref.isidentifier():
        return {((ref, 1),): Fraction(1)}, one
    return ({(): Fraction(ref)} if Fraction(ref) else {}), one


def _quotient(op: str, args: list[tuple[Monomials, Monomials]], exponent: int) -> tuple[Monomials, Monomials]:
    if op == "^":
        p, q = args[0] if exponent >= 0 else args[0][::-1]
        result: tuple[Monomials, Monomials] = ({(): Fraction(1)}, {(): Fraction(1)})
        for _ in range(abs(exponent)):
            result = _quotient("*", [result, (p, q)], 1)
    elif op in ("*", "/"):
        (p, q), (r, s) = args if op == "*" else (args[0], args[1][::-1])
        result = _product(p, r), _product(q, s)
    elif op in ("+", "-", "sum"):
        result = {}, {(): Fraction(1)}
        for i, (p, q) in enumerate(args):
            sign = Fraction(-1 if op == "-" and i else 1)
            same = result[1] == q
            top = _sum(result[0] if same else _product(result[0], q), p if same else _product(p, result[1]), sign)
            result = top, (q if same else _product(result[1], q))
    else:
        raise Unreadable(f"{op!r} has no meaning for free symbols")
    if not result[1]:
        raise Rejected("division by zero")
    return result


def _sum(p: Monomials, q: Monomials, sign: Fraction) -> Monomials:
    out = dict(p)
    for key, value in q.items():
        out[key] = out.get(key, Fraction(0)) + sign * value
    return {key: value for key, value in out.items() if value}


def _product(p: Monomials, q: Monomials) -> Monomials:
    out: Monomials = {}
    for (a, x), (b, y) in itertools.product(p.items(), q.items()):
        powers = dict(a)
        for name, power in b:
            powers[name] = powers.get(name, 0) + power
        key = tuple(sorted(powers.items()))
        out[key] = out.get(key, Fraction(0)) + x * y
    return {key: value for key, value in out.items() if value}
