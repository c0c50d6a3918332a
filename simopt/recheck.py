"""Check a proof file with rational arithmetic: one module, standard library only.

    python recheck.py FILE          or          simopt recheck FILE

A proof file states inequalities between rational formulas and the instances (or finite ranges, or free symbols) for which they are meant.
This program evaluates every formula itself, in exact rational arithmetic; it reads no slack and no verdict from the file, and prints the
statement that it checked. Roots, exponentials and logarithms enter as enclosures, which it confirms before it uses them.
"""

import hashlib
import itertools
import json
import sys
from fractions import Fraction
from typing import Any

FORMAT = "simopt-proof/1"
BITS = 220
Bounds = tuple[Fraction, Fraction]
Monomials = dict[tuple[tuple[str, int], ...], Fraction]


class Rejected(Exception):
    """The file does not prove what it states."""


class Unreadable(Exception):
    """The file is corrupt, or of a format that this program does not know."""


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
    low, high = _down(total - abs(term), digits), -_down(-total - abs(term), digits)
    for _ in range(halvings):
        low, high = _down(low * low, digits), -_down(-high * high, digits)
    return low, high


def _down(x: Fraction, bits: int) -> Fraction:
    return Fraction((x.numerator << bits) // x.denominator, 1 << bits)


def evaluate(steps: list[list[Any]], names: dict[str, Bounds]) -> list[Bounds]:
    """Value of every step [operation, argument, ...] as the two ends of an enclosure, equal where no root, exp or log occurs.

    An argument is the number of an earlier step, the name of an input, or a rational "p/q".
    """
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
        return _apply("*", [args[0], _power(args[1], -1)])
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


def identity(statement: dict[str, Any]) -> bool:
    """Whether the two sides, as quotients of polynomials in the symbols, agree (wherever no denominator vanishes)."""
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
    top: Monomials = {((ref, 1),): Fraction(1)} if ref.isidentifier() else {(): Fraction(ref)}
    return {key: value for key, value in top.items() if value}, {(): Fraction(1)}


def _quotient(op: str, args: list[tuple[Monomials, Monomials]], exponent: int) -> tuple[Monomials, Monomials]:
    if op == "^":
        p, q = args[0] if exponent >= 0 else args[0][::-1]
        result: tuple[Monomials, Monomials] = ({(): Fraction(1)}, {(): Fraction(1)})
        for _ in range(abs(exponent)):
            result = _quotient("*", [result, (p, q)], 1)
    elif op in ("*", "/"):
        (p, q), (r, s) = args[0], args[1][:: 1 if op == "*" else -1]
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


def check(document: Any) -> list[str]:
    """Check a parsed proof file and return the lines that say what was checked.

    Raises Rejected if the file does not prove what it states, Unreadable if it is not a proof file of a known format.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else type(document).__name__
        raise Unreadable(f"format {found!r} is not known here; this program reads {FORMAT!r}")
    if document.get("digest") != digest(document):
        raise Rejected("the digest does not fit: the file was altered or damaged after it was written")
    try:
        lines = [f"{document['row']} ({document['place']}): {document['says']}"]
        for number, statement in enumerate(document["statements"], 1):
            lines += [f"[{number}] {statement['name']}".rstrip(), f"    {render(statement)}", f"    {_checked(statement)}"]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"the file is damaged: {type(error).__name__}: {error}") from error
    if len(lines) == 1:
        raise Rejected("the file states nothing")
    return lines


def _checked(statement: dict[str, Any]) -> str:
    if statement["symbols"]:
        if statement["where"] or not identity(statement):
            raise Rejected(f"not an identity: {render(statement)}")
        return f"for all values of {', '.join(statement['symbols'])} where no denominator vanishes: identical polynomials"
    ranges = statement.get("ranges")
    if ranges:
        table: Any = itertools.product(*(range(int(low), int(high) + 1) for low, high in ranges.values()))
    else:
        table = statement["rows"]
    names = list(ranges or statement["names"])
    if not all(name.isidentifier() for name in names) or statement["claim"][0] not in ("<=", "<", "=="):
        raise Unreadable("inputs must be called by identifiers and compared by <=, < or ==")
    count = 0
    for row in table:
        given, holds = conditions(statement, {name: _ends(value) for name, value in zip(names, row, strict=True)})
        shown = ", ".join(f"{name} = {value}" for name, value in zip(names, row, strict=True))
        if given and not holds:
            raise Rejected(f"false for {shown}: {render(statement)}")
        if not given and not ranges:
            raise Rejected(f"a hypothesis fails for {shown}: {render(statement)}")
        count += given
    if not count:
        raise Rejected("no instance satisfies the hypotheses")
    where = "for all " + ", ".join(f"{n} in {a}..{b}" for n, (a, b) in ranges.items()) if ranges else "on the instances of the file"
    return f"{where}: true in all {count} cases"


def _ends(value: Any) -> Bounds:
    return (Fraction(value[0]), Fraction(value[1])) if isinstance(value, list) else (Fraction(value), Fraction(value))


def render(statement: dict[str, Any]) -> str:
    """The statement in ordinary notation; long parts are named t0, t1, ... and spelt out behind it."""
    shown: list[str] = []
    parts: list[str] = []
    for number, (op, *rest) in enumerate(statement["steps"]):
        args = [shown[ref] if isinstance(ref, int) else str(ref) for ref in (rest[:1] if op in ("^", "root", "exp", "log") else rest)]
        if op in ("+", "-", "*", "/"):
            text = f"({f' {op} '.join(args)})"
        else:
            text = f"{args[0]}^{rest[1]}" if op == "^" else f"{op}{rest[1] if op == 'root' else ''}({', '.join(args)})"
        if len(text) > 120:
            parts.append(f"t{number} = {text}")
            text = f"t{number}"
        shown.append(text)
    sides = [[r, *(shown[ref] if isinstance(ref, int) else ref for ref in pair)] for r, *pair in (statement["claim"], *statement["where"])]
    formulas = [f"{left} {relation} {right}" for relation, left, right in sides]
    return formulas[0] + "".join(f"  given {formula}" for formula in formulas[1:]) + "".join(f";  {part}" for part in parts)


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of everything else in the file; it guards against accidents, the arithmetic against the rest."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read(path: str) -> Any:
    """Parse a proof file."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: {error}") from error


def main(arguments: list[str]) -> int:
    """Check the file named on the command line; exit status 0 checked, 1 rejected, 2 unreadable."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python recheck.py FILE\n")
        return 2
    try:
        sys.stdout.write("\n".join([*check(read(arguments[0])), "CHECKED\n"]))
    except (Rejected, Unreadable) as error:
        sys.stderr.write(f"{type(error).__name__.upper()}: {error}\n")
        return 1 if isinstance(error, Rejected) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
