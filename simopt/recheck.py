"""Check a proof file with rational arithmetic: one module, standard library only: `python recheck.py FILE` or `simopt recheck FILE`.

A proof file states inequalities between rational formulas and the instances (or finite ranges, or free symbols) for which they are meant.
This program evaluates every formula itself, in exact rational arithmetic; it reads no slack and no verdict from the file, and prints the
statement that it checked. Roots, exponentials and logarithms enter as enclosures, which it confirms before it uses them. Each statement is
the claim itself (or one case of it), or a step of its proof; of steps the file says in words what they leave to be shown.
"""

import functools
import hashlib
import itertools
import json
import math
import re
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

FORMAT = "simopt-proof/2"
LARGE = 1 << 16  # bits of a number, terms of a product of polynomials: what needs more is refused before it is computed
NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
ARGUMENTS = {"+": 2, "-": 2, "*": 2, "/": 2, "^": 2, "abs": 1, "root": 3, "exp": 2, "log": 2, "sum": 0, "min": 0, "max": 0}  # 0: any
LEADING = ("^", "root", "exp", "log")  # operations of which only the first argument is a formula
Bounds = tuple[Fraction, Fraction]
Monomials = dict[tuple[tuple[str, int], ...], Fraction]
Quotient = tuple[Monomials, Monomials]
ROLES = {"claim": "the claim itself", "step": "a step of the proof"}
UNIT: Monomials = {(): Fraction(1)}


class Rejected(Exception):
    """The file does not prove what it states."""


class Unreadable(Exception):
    """The file is corrupt, or of a format that this program does not know."""


@functools.lru_cache(maxsize=1024)  # one proof confirms the same few logarithms on every instance
def exp_bounds(x: Fraction, bits: int = 220) -> Bounds:
    """Two rationals around exp(x): Taylor's polynomial at x/2^k in [0, 1/2] with its remainder, then k squarings rounded outward."""
    if x < 0:
        below, above = exp_bounds(-x, bits)
        return 1 / above, 1 / below
    halvings = (x.numerator // x.denominator).bit_length() + 1
    _affordable(1 << halvings + 2)
    digits = bits + 2 * halvings + 20
    small = _down(x / 2**halvings, digits)
    cut = Fraction(0 if small * 2**halvings == x else 2, 2**digits)  # rounding x/2^k down lowers its exponential by less than this
    terms = [Fraction(1)]
    while abs(terms[-1]) * 2**digits > 1:
        terms.append(terms[-1] * small / len(terms))
    low, high = _down(sum(terms) - abs(terms[-1]), digits), -_down(-sum(terms) - abs(terms[-1]) - cut, digits)
    for _ in range(halvings):
        low, high = _down(low * low, digits), -_down(-high * high, digits)
    return low, high


def _down(x: Fraction, bits: int) -> Fraction:
    return Fraction((x.numerator << bits) // x.denominator, 1 << bits)


def _affordable(times: int, *numbers: Fraction) -> None:
    if times * max((max(x.numerator.bit_length(), x.denominator.bit_length()) for x in numbers), default=1) > LARGE:
        raise Unreadable("a number or a polynomial becomes too large")


def evaluate(steps: list[list[Any]], names: dict[str, Bounds]) -> list[Bounds]:
    """Enclosures of all steps [operation, argument, ...]; an argument is the number of an earlier step, an input, or a rational "p/q"."""
    done: list[Bounds] = []
    for op, *rest in steps:
        args = [_value(ref, done, names) for ref in (rest[:1] if op in LEADING else rest)]
        done.append(_confirmed(op, args[0], rest[1:], names) if op in LEADING[1:] else _apply(op, args, rest[-1]))
        _affordable(1, *done[-1])
    return done


def _value(ref: int | str, done: list[Bounds], names: dict[str, Bounds]) -> Bounds:
    if isinstance(ref, int):
        return done[ref]
    return names[ref] if ref in names else (Fraction(ref), Fraction(ref))


def _apply(op: str, args: list[Bounds], exponent: Any) -> Bounds:
    lows, highs = [low for low, _ in args], [high for _, high in args]
    if op in ("+", "sum"):
        return sum(lows, Fraction(0)), sum(highs, Fraction(0))
    if op == "-":
        return lows[0] - highs[1], highs[0] - lows[1]
    if op == "*":
        corners = [a * b for a in args[0] for b in args[1]]
        return min(corners), max(corners)
    if op == "/":
        return _apply("*", [args[0], _apply("^", args[1:], -1)], None)
    if op == "abs":
        return max(lows[0], -highs[0], Fraction(0)), max(-lows[0], highs[0])
    if op == "^":
        _affordable(abs(exponent), *args[0])
        if exponent < 0 and lows[0] <= 0 <= highs[0]:
            raise Rejected("division by something that may be zero")
        ends = [end**exponent for end in args[0]]
        return (Fraction(0) if exponent > 0 and exponent % 2 == 0 and lows[0] < 0 < highs[0] else min(ends)), max(ends)
    return (min(lows), min(highs)) if op == "min" else (max(lows), max(highs))


def _confirmed(op: str, x: Bounds, rest: list[Any], names: dict[str, Bounds]) -> Bounds:
    low, high = names[rest[-1]]
    if op == "root":
        _affordable(abs(rest[0]), low, high)
        sound = rest[0] >= 1 and x[0] >= 0 and (low <= 0 or low ** rest[0] <= x[0]) and high >= 0 and high ** rest[0] >= x[1]
    elif op == "exp":
        sound = low <= exp_bounds(x[0])[0] and exp_bounds(x[1])[1] <= high
    else:
        sound = x[0] > 0 and exp_bounds(low)[1] <= x[0] and x[1] <= exp_bounds(high)[0]
    if not sound:
        raise Rejected(f"{rest[-1]} does not enclose the {op} that it stands for")
    return low, high


def conditions(statement: dict[str, Any], names: dict[str, Bounds]) -> tuple[bool, bool]:
    """Whether the hypotheses hold on one instance, and whether the claim does, for all values in the enclosures."""
    done = evaluate(statement["steps"], names)
    holds = []
    for relation, left, right in (*statement["where"], statement["claim"]):
        (a, b), (c, d) = _value(left, done, names), _value(right, done, names)
        holds.append({"==": a == b == c == d, "<": b < c, "<=": b <= c}[relation])
    return all(holds[:-1]), holds[-1]


def identity(statement: dict[str, Any]) -> bool:
    """Whether the two sides, as quotients of polynomials in the symbols, agree (wherever no denominator vanishes)."""
    done: list[Quotient] = []
    for op, *rest in statement["steps"]:
        done.append(_quotient(op, [_polynomial(ref, done) for ref in (rest[:1] if op in LEADING else rest)], rest[-1]))
    relation, a, b = statement["claim"]
    (p, q), (r, s) = _polynomial(a, done), _polynomial(b, done)
    return relation == "==" and _product(p, s) == _product(r, q)


def _polynomial(ref: int | str, done: list[Quotient]) -> Quotient:
    if isinstance(ref, int):
        return done[ref]
    return _sum({((ref, 1),): Fraction(1)} if ref.isidentifier() else {(): Fraction(ref)}, {}), UNIT


def _quotient(op: str, args: list[Quotient], exponent: Any) -> Quotient:
    if op not in ("+", "-", "*", "/", "^", "sum"):
        raise Unreadable(f"{op!r} has no meaning for free symbols")
    _affordable(abs(exponent) if op == "^" else 1)
    top, low = (UNIT, UNIT) if op == "^" else args[0]
    for p, q in args * abs(exponent) if op == "^" else args[1:]:
        if op in ("*", "/", "^"):
            r, s = (q, p) if op == "/" or (op == "^" and exponent < 0) else (p, q)
            top, low = _product(top, r), _product(low, s)
        else:
            r = _product(p, {(): Fraction(-1 if op == "-" else 1)})
            top, low = (_sum(top, r), q) if low == q else (_sum(_product(top, q), _product(r, low)), _product(low, q))
        if not low:
            raise Rejected("division by zero")
    return top, low


def _sum(p: Monomials, q: Monomials) -> Monomials:
    total = {key: p.get(key, Fraction(0)) + q.get(key, Fraction(0)) for key in {**p, **q}}
    return {key: value for key, value in total.items() if value}


def _product(p: Monomials, q: Monomials) -> Monomials:
    out: Monomials = {}
    _affordable(len(p) * len(q))
    for (a, x), (b, y) in itertools.product(p.items(), q.items()):
        key = tuple(sorted((Counter(dict(a)) + Counter(dict(b))).items()))
        out[key] = out.get(key, Fraction(0)) + x * y
    _affordable(1, *out.values())
    return _sum(out, {})


def check(document: Any) -> list[str]:
    """Lines that say what a parsed proof file proves; raises Rejected if it does not, Unreadable if its format is not known."""
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise Unreadable(f"format {found!r} is not known here; this program reads {FORMAT!r}")
    try:
        if document.get("digest") != digest(document):
            raise Rejected("the digest does not fit: the file was altered or damaged after it was written")
        lines = [f"{document['row']} ({document['place']}), in words: {document['says']}"]
        for number, statement in enumerate(document["statements"], 1):
            _well_formed(statement)
            title = f"[{number}] {ROLES[statement['role']]}" + (f": {statement['name']}" if statement["name"] else "")
            lines += [title, f"    {render(statement)}", f"    {_checked(statement)}"]
        left = _left(document) if len(lines) > 1 else []
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise Unreadable(f"the file is damaged: {type(error).__name__}: {error}") from error
    if len(lines) == 1:
        raise Rejected("the file states nothing")
    lines += [f"STEPS, not the whole sentence; what remains: {'; '.join(left)}"] if left else []
    return ["".join(letter if letter.isprintable() else " " for letter in line) for line in lines]


def _left(document: dict[str, Any]) -> list[str]:
    """What the steps of the file leave to be shown, in words: nothing without steps, and something with them."""
    left = document["remains"]
    if not (isinstance(left, list) and all(isinstance(words, str) and words.strip() for words in left)):
        raise Unreadable("what remains must be a list of words")
    if bool(left) != any(statement["role"] == "step" for statement in document["statements"]):
        raise Rejected("a file with steps must say what remains to be shown, and one without has nothing left")
    return left


def _well_formed(statement: dict[str, Any]) -> None:
    """Refuse whatever could be printed as one thing and computed as another."""
    names = list(statement.get("ranges") or statement["names"])
    known = {*names, *statement["symbols"]}
    if len(set(names)) < len(names) or not all(name.isidentifier() for name in known):
        raise Unreadable("inputs and symbols must be called by identifiers, each by its own")
    refs: list[tuple[int, Any]] = []
    for number, (op, *rest) in enumerate(statement["steps"]):
        if not rest or ARGUMENTS.get(op, -1) not in (0, len(rest)) or (op in ("^", "root") and type(rest[1]) is not int):
            raise Unreadable(f"step {number}: {op!r} with {len(rest)} arguments has no meaning here")
        refs += [(number, ref) for ref in (rest[:1] if op in LEADING else rest)]
    for relation, *pair in (statement["claim"], *statement["where"]):
        if relation not in ("<=", "<", "==") or len(pair) != 2:
            raise Unreadable("formulas must be compared by <=, < or ==")
        refs += [(len(statement["steps"]), ref) for ref in pair]
    for number, ref in refs:
        if not (type(ref) is int and 0 <= ref < number) and not (isinstance(ref, str) and (ref in known or NUMBER.fullmatch(ref))):
            raise Unreadable(f"{ref!r} is no input, no earlier step and no rational number")


def _checked(statement: dict[str, Any]) -> str:
    if statement["symbols"]:
        if statement["where"] or not identity(statement):
            raise Rejected(f"not an identity: {render(statement)}")
        return f"for all values of {', '.join(statement['symbols'])} where no denominator vanishes: identical polynomials"
    ranges = statement.get("ranges") or {}
    size = math.prod(high - low + 1 for low, high in ranges.values()) if ranges else len(statement["rows"])
    if size > 16 * LARGE:
        raise Unreadable(f"{size} cases are too large a number")
    table: Any = itertools.product(*(range(a, b + 1) for a, b in ranges.values())) if ranges else statement["rows"]
    names, listed, count = list(ranges or statement["names"]), "", 0
    for row in table:
        given, holds = conditions(statement, {name: _ends(value) for name, value in zip(names, row, strict=True)})
        shown = ", ".join(f"{name} = {value}" for name, value in zip(names, row, strict=True) if not isinstance(value, list))[:500]
        if not (holds if given else ranges):
            raise Rejected(f"{'false' if given else 'a hypothesis fails'} for {shown or 'its inputs'}: {render(statement)}")
        listed += f"; {shown}" if shown and len(listed) < 300 else ""
        count += given
    if not count:
        raise Rejected("no instance satisfies the hypotheses")
    box = "for all " + ", ".join(f"{n} in {a}..{b}" for n, (a, b) in ranges.items())
    cases = f"all {count} cases" if count == size else f"the {count} of {size} cases that satisfy the hypotheses"
    return f"{box if ranges else f'on the instances of the file{listed}' + '; ...' * (listed.count(';') < size)}: true in {cases}"


def _ends(value: Any) -> Bounds:
    low, high = map(str, value if isinstance(value, list) else (value, value))
    if not (NUMBER.fullmatch(low) and NUMBER.fullmatch(high) and Fraction(low) <= Fraction(high)):
        raise Unreadable(f"{value!r} is no rational number and no enclosure")
    return Fraction(low), Fraction(high)


def render(statement: dict[str, Any]) -> str:
    """The statement in ordinary notation; long parts are named #0, #1, ... and spelt out behind it."""
    shown: list[str] = []
    parts: list[str] = []
    for number, (op, *rest) in enumerate(statement["steps"]):
        args = [shown[ref] if isinstance(ref, int) else ref for ref in (rest[:1] if op in LEADING else rest)]
        if op in ("+", "-", "*", "/", "^"):
            args = [f"({arg})" if re.search(r"^-|^[0-9]+/|\^-?[0-9]+$", arg) and (op in "/^" or arg[0] == "-") else arg for arg in args]
            text = f"{args[0]}^{rest[1]}" if op == "^" else f"({f' {op} '.join(args)})"
        else:
            text = f"{op}{rest[1] if op == 'root' else ''}({', '.join(args)})"
        if len(text) > 120:
            parts.append(f";  #{number} = {text}")
            text = f"#{number}"
        shown.append(text)
    sides = [[r, *(shown[ref] if isinstance(ref, int) else ref for ref in pair)] for r, *pair in (statement["claim"], *statement["where"])]
    return "  given ".join(f"{left} {relation} {right}" for relation, left, right in sides) + "".join(parts)


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of everything else in the file; it guards against accidents, the arithmetic against the rest."""
    return hashlib.sha256(json.dumps({key: document[key] for key in document if key != "digest"}, sort_keys=True).encode()).hexdigest()


def read(path: str) -> Any:
    """Parse a proof file."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, object_pairs_hook=once)
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: {error}") from error


def main(arguments: list[str]) -> int:
    """Check the file named on the command line; exit status 0 checked, 1 rejected, 2 unreadable."""
    try:
        if len(arguments) != 1:
            raise Unreadable("usage: python recheck.py FILE")
        sys.stdout.write("\n".join([*check(read(arguments[0])), "CHECKED\n"]))
    except (Rejected, Unreadable) as error:
        sys.stderr.write(f"{type(error).__name__.upper()}: {error}\n")
        return 1 if isinstance(error, Rejected) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
