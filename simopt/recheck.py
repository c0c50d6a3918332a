"""Check a proof file with rational arithmetic: one module, standard library only: `python recheck.py FILE` or `simopt recheck FILE`.

A proof file states inequalities between rational formulas and the instances (or finite ranges, or free symbols) for which they are meant.
This program evaluates every formula itself, in exact rational arithmetic; it reads no slack and no verdict from the file, and prints the
statement that it checked. Roots, exponentials and logarithms enter as enclosures, which it confirms before it uses them. Each statement is
the claim itself (or one case of it), or a step of its proof; of steps the file says in words what they leave to be shown. What a file
costs is estimated and paid before each operation; one that costs more than a few minutes is refused. Certificates of conic problems are
handed to `recheck_certificate.py` beside this file.
"""

import functools
import hashlib
import importlib
import itertools
import json
import os
import re
import select
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

FORMAT = "simopt-proof/2"
CERTIFICATE = "simopt-conic-certificate/"  # formats that the module beside this one checks
LARGE = 1 << 16  # bits of a number, terms of a product of polynomials: what needs more is refused before it is computed
CASES = 1 << 20  # of one statement
BUDGET = 12_000_000  # operations on short numbers, some five microseconds each, that a whole file may cost
LETTERS = 1 << 25  # of a file
PATIENCE = 10  # seconds until the first letter comes
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


class Refuted(Rejected):
    """The file states something that is false."""


class Unreadable(Exception):
    """The file is corrupt, too large, or of a format that this program does not know."""


class Work:
    """What is left of the work that a file may cost; it is paid before it is done."""

    def __init__(self) -> None:
        self.left = BUDGET

    def pay(self, count: int, bits: int = 0) -> None:
        """Pay for operations on fractions of so many bits: measured, their time grows like 1 + bits/128 + (bits/640)^2."""
        self.left -= count * (1 + (bits >> 7) + (bits // 640) ** 2)
        if bits > LARGE or self.left < 0:
            raise Unreadable("a number, a polynomial or the work on the file becomes too large")


def _bits(*numbers: Fraction) -> int:
    return max((max(x.numerator.bit_length(), x.denominator.bit_length()) for x in numbers), default=0)


@functools.lru_cache(maxsize=1024)  # one proof confirms the same few logarithms on every instance
def exp_bounds(x: Fraction, bits: int = 220) -> Bounds:
    """Two rationals around exp(x): Taylor's polynomial at x/2^k in [0, 1/2] with its remainder, then k squarings rounded outward."""
    if x < 0:
        low, high = exp_bounds(-x, bits)
        return 1 / high, 1 / low
    halvings = (x.numerator // x.denominator).bit_length() + 1
    if halvings > 14:
        raise Unreadable("an exponential becomes too large")
    digits = bits + 2 * halvings + 20
    one, count = 1 << digits, 0
    small = (x.numerator << digits) // (x.denominator << halvings)  # in units of 2^-digits, as all that follows
    below = above = least = most = one
    while most > 1 and small:
        count += 1
        least, most = (least * small >> digits) // count, -((-most * small >> digits) // count)
        below, above = below + least, above + most
    # what the polynomial leaves out is less than its last term; rounding x/2^k down lowers its exponential by less than two units
    cut = 0 if small * x.denominator << halvings == x.numerator << digits else 2
    low, high = Fraction(below - (most if small else 0), one), Fraction(above + (most if small else 0) + cut, one)
    for _ in range(halvings):
        low, high = _down(low * low, digits), -_down(-high * high, digits)
    return low, high


def _down(x: Fraction, bits: int) -> Fraction:
    return Fraction((x.numerator << bits) // x.denominator, 1 << bits)


def evaluate(steps: list[list[Any]], names: dict[str, Bounds], work: Work) -> list[Bounds]:
    """Enclosures of all steps [operation, argument, ...]; an argument is the number of an earlier step, an input, or a rational "p/q"."""
    done: list[Bounds] = []
    for op, *rest in steps:
        args = [_value(ref, done, names, work) for ref in (rest[:1] if op in LEADING else rest)]
        done.append(_confirmed(op, args[0], rest[1:], names, work) if op in LEADING[1:] else _apply(op, args, rest[-1], work))
        work.pay(1, _bits(*done[-1]))
    return done


def _value(ref: int | str, done: list[Bounds], names: dict[str, Bounds], work: Work) -> Bounds:
    if isinstance(ref, int):
        return done[ref]
    if ref in names:
        return names[ref]
    work.pay(1, 4 * len(ref))
    return Fraction(ref), Fraction(ref)


def _apply(op: str, args: list[Bounds], exponent: Any, work: Work) -> Bounds:
    if op in ("+", "sum"):
        below = above = Fraction(0)
        for low, high in args:  # one by one: a sum of many long fractions is longer than each of them
            work.pay(2, _bits(below, above, low, high))
            below, above = below + low, above + high
        return below, above
    lows, highs = [low for low, _ in args], [high for _, high in args]
    work.pay(4 + len(args), _bits(*lows, *highs))
    if op == "-":
        return lows[0] - highs[1], highs[0] - lows[1]
    if op == "*":
        corners = [a * b for a in args[0] for b in args[1]]
        return min(corners), max(corners)
    if op == "/":
        return _apply("*", [args[0], _apply("^", args[1:], -1, work)], None, work)
    if op == "abs":
        return max(lows[0], -highs[0], Fraction(0)), max(-lows[0], highs[0])
    if op == "^":
        work.pay(2, abs(exponent) * _bits(*args[0]))
        if exponent < 0 and lows[0] <= 0 <= highs[0]:
            raise Rejected("division by something that may be zero")
        ends = [end**exponent for end in args[0]]
        return (Fraction(0) if exponent > 0 and exponent % 2 == 0 and lows[0] < 0 < highs[0] else min(ends)), max(ends)
    return (min(lows), min(highs)) if op == "min" else (max(lows), max(highs))


def _confirmed(op: str, x: Bounds, rest: list[Any], names: dict[str, Bounds], work: Work) -> Bounds:
    low, high = names[rest[-1]]
    work.pay(100 if op != "root" else 1, _bits(*x, low, high))
    if op == "root":
        work.pay(4, abs(rest[0]) * _bits(low, high))
        sound = rest[0] >= 1 and x[0] >= 0 and (low <= 0 or low ** rest[0] <= x[0]) and high >= 0 and high ** rest[0] >= x[1]
    elif op == "exp":
        sound = low <= exp_bounds(x[0])[0] and exp_bounds(x[1])[1] <= high
    else:
        sound = x[0] > 0 and exp_bounds(low)[1] <= x[0] and x[1] <= exp_bounds(high)[0]
    if not sound:
        raise Rejected(f"{rest[-1]} does not enclose the {op} that it stands for")
    return low, high


def conditions(statement: dict[str, Any], names: dict[str, Bounds], work: Work) -> tuple[bool, bool | None]:
    """Whether the hypotheses hold on one instance, and whether the claim does: for all values in the enclosures, for none, or undecided."""
    done = evaluate(statement["steps"], names, work)
    holds: list[bool | None] = []
    for relation, left, right in (*statement["where"], statement["claim"]):
        (a, b), (c, d) = _value(left, done, names, work), _value(right, done, names, work)
        work.pay(4, _bits(a, b, c, d))
        for_all = {"==": a == b == c == d, "<": b < c, "<=": b <= c}[relation]
        for_none = {"==": b < c or d < a, "<": a >= d, "<=": a > d}[relation]
        holds.append(True if for_all else False if for_none else None)
    return all(holds[:-1]), holds[-1]


def identity(statement: dict[str, Any], work: Work) -> bool:
    """Whether the two sides, as quotients of polynomials in the symbols, agree (wherever no denominator vanishes)."""
    done: list[Quotient] = []
    for op, *rest in statement["steps"]:
        args = [_polynomial(ref, done, work) for ref in (rest[:1] if op in LEADING else rest)]
        done.append(_quotient(op, args, rest[-1], work))
    relation, a, b = statement["claim"]
    (p, q), (r, s) = _polynomial(a, done, work), _polynomial(b, done, work)
    return relation == "==" and _product(p, s, work) == _product(r, q, work)


def _polynomial(ref: int | str, done: list[Quotient], work: Work) -> Quotient:
    if isinstance(ref, int):
        return done[ref]
    work.pay(1, 0 if ref.isidentifier() else 4 * len(ref))
    return _sum({((ref, 1),): Fraction(1)} if ref.isidentifier() else {(): Fraction(ref)}, {}, work), UNIT


def _quotient(op: str, args: list[Quotient], exponent: Any, work: Work) -> Quotient:
    if op not in ("+", "-", "*", "/", "^", "sum"):
        raise Unreadable(f"{op!r} has no meaning for free symbols")
    if op == "^":
        p, q = args[0] if exponent >= 0 else args[0][::-1]
        if not q:
            raise Rejected("division by zero")
        return _power(p, abs(exponent), work), _power(q, abs(exponent), work)
    top, low = args[0]
    for p, q in args[1:]:
        if op in ("*", "/"):
            r, s = (q, p) if op == "/" else (p, q)
            top, low = _product(top, r, work), _product(low, s, work)
        else:
            r = _product(p, {(): Fraction(-1 if op == "-" else 1)}, work)
            work.pay(len(low))
            if low == q:
                top = _sum(top, r, work)
            else:
                top, low = _sum(_product(top, q, work), _product(r, low, work), work), _product(low, q, work)
        if not low:
            raise Rejected("division by zero")
    return top, low


def _power(p: Monomials, exponent: int, work: Work) -> Monomials:
    """By repeated squaring."""
    work.pay(1, exponent)
    out = UNIT
    for bit in bin(exponent)[2:]:
        out = _product(out, out, work)
        out = _product(out, p, work) if bit == "1" else out
    return out


def _longest(p: Monomials) -> int:
    return max((_bits(x) for x in p.values()), default=0)


def _sum(p: Monomials, q: Monomials, work: Work) -> Monomials:
    work.pay(len(p) + len(q), _longest(p) + _longest(q))
    total = {key: p.get(key, Fraction(0)) + q.get(key, Fraction(0)) for key in {**p, **q}}
    return {key: value for key, value in total.items() if value}


def _product(p: Monomials, q: Monomials, work: Work) -> Monomials:
    out: Monomials = {}
    if len(p) * len(q) > LARGE:
        raise Unreadable("a polynomial becomes too large")
    work.pay(10 * len(p) * len(q), _longest(p) + _longest(q))
    for (a, x), (b, y) in itertools.product(p.items(), q.items()):
        key = tuple(sorted((Counter(dict(a)) + Counter(dict(b))).items()))
        work.pay(len(key), _bits(out.get(key, UNIT[()])))
        out[key] = out.get(key, Fraction(0)) + x * y
    return _sum(out, {}, work)


def check(document: Any) -> list[str]:
    """Lines that say what a parsed proof file proves; raises Rejected if it does not, Unreadable if its format is not known."""
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise Unreadable(f"format {found!r} is not known here; this program reads {FORMAT!r}")
    work = Work()
    try:
        if document.get("digest") != digest(document):
            raise Rejected("the digest does not fit: the file was altered or damaged after it was written")
        lines = [f"{document['row']} ({document['place']}), in words: {document['says']}"]
        for number, statement in enumerate(document["statements"], 1):
            _well_formed(statement, work)
            title = f"[{number}] {ROLES[statement['role']]}" + (f": {statement['name']}" if statement["name"] else "")
            lines += [title, f"    {render(statement)}", f"    {_checked(statement, work)}"]
        left = _left(document) if len(lines) > 1 else []
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
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


def _enclosures(statement: dict[str, Any]) -> set[str]:
    """Names of the enclosures of roots, exponentials and logarithms, which are confirmed; all other inputs are shown."""
    return {rest[-1] for op, *rest in statement["steps"] if op in LEADING[1:]}


def _well_formed(statement: dict[str, Any], work: Work) -> None:
    """Refuse whatever could be printed as one thing and computed as another."""
    names = list(statement.get("ranges") or statement["names"])
    known = {*names, *statement["symbols"]}
    if len(set(names)) < len(names) or not all(name.isidentifier() for name in known) or not {*statement.get("computed", [])} <= {*names}:
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
    work.pay(4 * len(refs) + len(names))
    known -= _enclosures(statement)  # formulas have them by the number of their step, whose operation is printed
    for number, ref in refs:
        if not (type(ref) is int and 0 <= ref < number) and not (isinstance(ref, str) and (ref in known or NUMBER.fullmatch(ref))):
            raise Unreadable(f"{ref!r} is no input, no earlier step and no rational number")


def _checked(statement: dict[str, Any], work: Work) -> str:
    if statement["symbols"]:
        if statement["where"] or not identity(statement, work):
            raise Refuted(f"not an identity: {render(statement)}")
        vanishing = " where no denominator vanishes" if where(statement) else ""
        return f"for all values of {', '.join(statement['symbols'])}{vanishing}: identical polynomials"
    ranges = statement.get("ranges") or {}
    size = _cases(ranges) if ranges else len(statement["rows"])
    if size * len(statement["steps"]) > work.left:
        raise Unreadable("the cases are too large a number for so many steps")
    table: Any = itertools.product(*(range(a, b + 1) for a, b in ranges.values())) if ranges else statement["rows"]
    names, hidden, listed, count = list(ranges or statement["names"]), _enclosures(statement), "", 0
    for row in table:
        given, holds = conditions(statement, {name: _ends(value) for name, value in zip(names, row, strict=True)}, work)
        if not (holds if given else ranges):
            kind, word = (Refuted, "false") if given and holds is False else (Rejected, "undecided" if given else "a hypothesis fails")
            raise kind(f"{word} for {_shown(names, row, hidden) or 'its inputs'}: {render(statement)}")
        listed += f"; {_shown(names, row, hidden)}" if len(listed) < 300 and set(names) - hidden else ""
        count += given
    if not count:
        raise Rejected("no instance satisfies the hypotheses")
    box = "for all " + ", ".join(f"{n} in {a}..{b}" for n, (a, b) in ranges.items())
    cases = f"all {count} cases" if count == size else f"the {count} of {size} cases that satisfy the hypotheses"
    made = f"; computed, and no data: {', '.join(statement['computed'])}" if statement.get("computed") else ""
    return f"{box if ranges else f'on the instances of the file{listed}' + '; ...' * (listed.count(';') < size)}: true in {cases}{made}"


def _cases(ranges: dict[str, list[int]]) -> int:
    """Number of points of a box, refused before it is walked if it is empty or too large."""
    size = 1
    for low, high in ranges.values():
        if type(low) is not int or type(high) is not int or high < low:
            raise Rejected("a range goes from one integer up to another")
        size *= high - low + 1
        if size > CASES:
            raise Unreadable("the cases are too large a number")
    return size


def _shown(names: list[str], row: Any, hidden: set[str]) -> str:
    """The inputs of one case; of a long list the beginning, and how many more there are."""
    parts = [
        f"{name} in [{value[0]}, {value[1]}]" if isinstance(value, list) else f"{name} = {value}"
        for name, value in zip(names, row, strict=True)
        if name not in hidden
    ]
    lengths = list(itertools.accumulate(len(part) + 2 for part in parts))
    kept = sum(length <= 500 for length in lengths)
    return ", ".join([*parts[:kept], *([f"and {len(parts) - kept} more inputs"] if kept < len(parts) else [])])


def _ends(value: Any) -> Bounds:
    low, high = map(str, value if isinstance(value, list) else (value, value))
    if not (NUMBER.fullmatch(low) and NUMBER.fullmatch(high) and Fraction(low) <= Fraction(high)):
        raise Unreadable(f"{value!r} is no rational number and no enclosure")
    return Fraction(low), Fraction(high)


def where(statement: dict[str, Any]) -> list[str]:
    """The conditions of a statement in symbols: it says nothing where something that it divides by is zero."""
    return _nonzero(statement, _spelt(statement)[0])


def _nonzero(statement: dict[str, Any], shown: list[str]) -> list[str]:
    if not statement["symbols"]:
        return []  # division by zero is refused where the numbers are known
    by = [rest[1] if op == "/" else rest[0] for op, *rest in statement["steps"] if op == "/" or (op == "^" and rest[1] < 0)]
    return list(dict.fromkeys(f"{shown[r] if isinstance(r, int) else r} != 0" for r in by if isinstance(r, int) or not NUMBER.fullmatch(r)))


def render(statement: dict[str, Any]) -> str:
    """The statement in ordinary notation; long parts are named #0, #1, ... and spelt out behind it."""
    shown, parts = _spelt(statement)
    sides = [[r, *(shown[ref] if isinstance(ref, int) else ref for ref in pair)] for r, *pair in (statement["claim"], *statement["where"])]
    stated = "  given ".join(f"{left} {relation} {right}" for relation, left, right in sides)
    zero = _nonzero(statement, shown)
    return stated + (f"  where {', '.join(zero)}" if zero else "") + "".join(parts)


def _spelt(statement: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Every step in ordinary notation, or the name of a long one; and the long ones by their names."""
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
    return shown, parts


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
        with open(path, encoding="utf-8", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
            if not file.seekable():  # a pipe, and perhaps one that nobody writes to
                if not select.select([file], [], [], PATIENCE)[0]:
                    raise ValueError(f"nothing came from it for {PATIENCE} s")
                os.set_blocking(file.fileno(), True)
            text = file.read(LETTERS + 1)
        if len(text) > LETTERS:
            raise ValueError("the file is too large")
        return json.loads(text, object_pairs_hook=once)
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"{path}: {error}") from error


def is_certificate(document: Any) -> bool:
    """Whether a parsed file is a certificate of a conic problem, for which there is a program of its own."""
    return isinstance(document, dict) and str(document.get("format")).startswith(CERTIFICATE)


def _beside() -> Any:
    """`recheck_certificate`, of this package or in the folder of this file."""
    try:
        return importlib.import_module(f"{__package__}.recheck_certificate" if __package__ else "recheck_certificate")
    except ImportError as error:
        raise Unreadable("a certificate of a conic problem is checked by recheck_certificate.py, which is not beside this file") from error


def main(arguments: list[str]) -> int:
    """Check the file named on the command line; exit status 0 checked, 1 rejected, 2 unreadable."""
    try:
        if len(arguments) != 1:
            raise Unreadable("usage: python recheck.py FILE")
        document = read(arguments[0])
        if is_certificate(document):
            return int(_beside().report(lambda: document))
        lines = [*check(document), "(The words are the file's own: they were compared with no catalogue; `simopt recheck` does.)"]
        sys.stdout.write("\n".join([*lines, "CHECKED\n"]))
    except (Rejected, Unreadable) as error:
        sys.stderr.write(f"{type(error).__name__.upper()}: {error}\n")
        return 1 if isinstance(error, Rejected) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
