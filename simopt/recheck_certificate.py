"""Check a certificate file in exact fractions: one module, standard library only: `python recheck_certificate.py FILE`.

The file has a conic problem, min ½xᵀPx + cᵀx + d subject to Ax + s = b and s ∈ K, with a point, multipliers and bounds. K is a product of
zero, nonnegative, second-order and semidefinite cones. This program proves the bounds, or says what fails:

    s = b − Ax ∈ K                            ⟹  optimum ≤ ½xᵀPx + cᵀx + d
    Pw + Aᵀz + c = 0, z ∈ K*, P ⪰ 0           ⟹  optimum ≥ −½wᵀPw − bᵀz + d
    Aᵀz = 0, z ∈ K*, bᵀz < 0                  ⟹  no point is feasible (Farkas)
    x feasible, Pr = 0, −Ar ∈ K, cᵀr < 0      ⟹  the objective falls without end along r

A semidefinite cone of order k has k² rows, column by column; a matrix S is in it if its symmetric part is ⪰ 0, and Z is in its dual if
Z = Zᵀ ⪰ 0. Nothing is rounded but what is printed, and that outwards. The work is paid before it is done; a file that costs more than
a few minutes is refused. That the conic problem is the one that somebody meant is not checked.
"""

from __future__ import annotations

import decimal
import hashlib
import json
import math
import operator
import os
import re
import select
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

FORMAT = "simopt-conic-certificate/1"
LETTERS = 1 << 25  # of a file
BITS = 1 << 18  # of a number
BUDGET = 1e9  # operations on short integers, each a fifth of a microsecond or less, that a file may cost
PATIENCE = 10  # seconds until the first letter comes
SIZE = 1 << 20  # of variables, of rows
WIDTH = 300  # letters of the file's own words that are printed
INTEGER = "(?:[0-9]{1,20}|0x[0-9a-f]+)"
RATIONAL = re.compile(f"(-?)({INTEGER})(?:/({INTEGER}))?")
FLOAT = re.compile(r"(-?)0x([01])\.([0-9a-f]{1,13})p([+-][0-9]{1,4})")  # as float.hex writes it
CONES = ("zero", "nonnegative", "second-order", "semidefinite")
DATA = ("maximise", "variables", "cones", "size", "P", "c", "A", "b", "d")  # what the digest is of
VARIABLE = {"name": str, "shape": list, "offset": int, "size": int, "layout": str}
KINDS = {"bounds": ("x", "w", "z"), "infeasible": ("z",), "unbounded": ("x", "direction")}  # what is stated -> the vectors that prove it
KEYS = {"format", "source", *DATA, "digest", "states", "proof", "bounds", "unproven"}
PROVED, NOT_PROVED, MALFORMED = 0, 1, 2  # exit statuses
Entries = list[tuple[int, Fraction]]
Vector = tuple[list[int], int]  # numerators, and their common denominator


class NotProved(Exception):
    """The file does not prove what it states."""


class Malformed(Exception):
    """The file is damaged, too large, or of a format that this program does not know."""


class Budget:
    """What is left of the work that a file may cost."""

    def __init__(self) -> None:
        self.left = BUDGET

    def pay(self, count: int, bits: int = 0) -> None:
        """Pay for products of integers of so many bits; measured, their time grows like 1 + (bits/500)^1.6."""
        self.left -= count * (1.0 + (bits / 500) ** 1.6)
        if bits > 8 * BITS or self.left < 0:
            raise Malformed("a number or the work on the file becomes too large")

    def pay_division(self, count: int, bits: int, by: int) -> None:
        """Pay for quotients and greatest common divisors, whose time grows like the product of both lengths."""
        self.pay(count + count * bits * by // 100_000)
        self.pay(0, bits)

    def pay_sum(self, *values: Fraction) -> None:
        """Pay for a sum of fractions, which is reduced."""
        sizes = [value.denominator.bit_length() + value.numerator.bit_length() for value in values]
        self.pay_division(3, sum(sizes), max(sizes))

    def pay_product(self, count: int, bits: int, by: int) -> None:
        """Pay for products of long integers with shorter ones."""
        short, long = sorted((bits + 1, by + 1))
        self.pay(count * (1 + long // short), short)
        self.pay(0, long)


def number(text: Any) -> Fraction:
    """The rational number that a text says: "p/q", of decimal integers of at most 20 digits or of hexadecimal ones, or a float in hex."""
    if not isinstance(text, str):
        raise Malformed(f"{_brief(text)} is no number; a text such as '3', '-1/3' or '0x1.8p+1' is needed")
    if match := FLOAT.fullmatch(text):
        sign, head, tail, exponent = match.groups()
        power = int(exponent) - 4 * len(tail)
        if abs(power) > 1200:
            raise Malformed(f"{text} is no double")
        size = int(head + tail, 16)
        value = Fraction(size << power) if power >= 0 else Fraction(size, 1 << -power)
    elif (match := RATIONAL.fullmatch(text)) and len(text) <= BITS // 2:
        sign, top, below = match.groups()
        low = _integer(below or "1")
        if not low:
            raise Malformed(f"{_brief(text)} divides by zero")
        value = Fraction(_integer(top), low)
    else:
        raise Malformed(f"{_brief(text)} is no number; '3', '-1/3' or '0x1.8p+1' are")
    return -value if sign else value


def _integer(text: str) -> int:
    return int(text, 16) if text.startswith("0x") else int(text)


def _brief(value: Any) -> str:
    shown = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__
    return _printable(shown, 40)


def _printable(text: str, most: int = WIDTH) -> str:
    """What a terminal cannot obey, and no more of it than one reads."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:most]) + ("…" if len(text) > most else "")


def _pay_number(text: Any, budget: Budget) -> None:
    """For what reading a number costs: a fraction is reduced."""
    bits = 4 * len(text) if isinstance(text, str) and len(text) <= BITS // 2 else 0
    budget.pay_division(2, bits, bits // 4 if isinstance(text, str) and "/" in text else 0)


def _vector(values: Any, size: int, name: str, budget: Budget) -> list[Fraction]:
    if not isinstance(values, list) or len(values) != size:
        raise Malformed(f"{name} must be a list of {size} numbers")
    for text in values:
        _pay_number(text, budget)
    return [number(text) for text in values]


def _common(values: list[Fraction], budget: Budget) -> Vector:
    """The vector over one denominator."""
    below = _common_denominator(values, budget)
    for value in values:
        budget.pay_division(1, below.bit_length(), value.denominator.bit_length())
        budget.pay_product(1, below.bit_length(), value.numerator.bit_length())
    return [value.numerator * (below // value.denominator) for value in values], below


def _common_denominator(values: list[Fraction], budget: Budget) -> int:
    below = 1
    for denominator in dict.fromkeys(value.denominator for value in values):
        budget.pay_division(4, below.bit_length(), denominator.bit_length())
        below = math.lcm(below, denominator)
    return below


def _bits(values: list[int]) -> int:
    return max((value.bit_length() for value in values), default=0)


def _dot(entries: Entries, vector: Vector, bits: int, budget: Budget) -> Fraction:
    """Σ a_j v_j; `bits` is the length of the longest number of v."""
    below = _common_denominator([a for _, a in entries], budget)
    size = below.bit_length()
    longest = max((a.numerator.bit_length() for _, a in entries), default=0)
    budget.pay_division(len(entries), size, max((a.denominator.bit_length() for _, a in entries), default=0))
    budget.pay_product(2 * len(entries) + 2, bits, longest + size)
    total = sum(a.numerator * (below // a.denominator) * vector[0][j] for j, a in entries)
    if not total:
        return Fraction(0)
    budget.pay_division(3, total.bit_length(), size + vector[1].bit_length())
    return Fraction(total, below * vector[1])


class ConicProblem:
    """min ½xᵀPx + cᵀx + d subject to Ax + s = b, s ∈ K, as a file states it."""

    def __init__(self, document: dict[str, Any], budget: Budget) -> None:
        self.budget = budget
        _check_variables(document["variables"], _count(document["size"], "size"))
        self.maximises = document["maximise"]
        if type(self.maximises) is not bool:
            raise Malformed("maximise must be true or false")
        self.size = _count(document["size"], "size")
        self.cones = _cones(document["cones"])
        self.heights = [size * size if kind == "semidefinite" else size for kind, size in self.cones]
        self.height = sum(self.heights)
        if self.height > SIZE:
            raise Malformed(f"more than {SIZE} rows")
        self.c = _vector(document["c"], self.size, "c", budget)
        self.b = _vector(document["b"], self.height, "b", budget)
        self.d = _vector([document["d"]], 1, "d", budget)[0]
        self.P: list[Entries] = [[] for _ in range(self.size)]
        for i, j, value in _triples(document["P"], self.size, self.size, "P", budget):
            if i > j:
                raise Malformed(f"P: entry ({i}, {j}) is below the diagonal; the upper triangle is written")
            self.P[i].append((j, value))
            if i != j:
                self.P[j].append((i, value))
        self.rows: list[Entries] = [[] for _ in range(self.height)]
        self.columns: list[Entries] = [[] for _ in range(self.size)]
        for i, j, value in _triples(document["A"], self.height, self.size, "A", budget):
            self.rows[i].append((j, value))
            self.columns[j].append((i, value))

    def product(self, entries: list[Entries], vector: list[Fraction]) -> list[Fraction]:
        """Of a matrix, row by row, with a vector."""
        common = _common(vector, self.budget)
        bits = max(_bits(common[0]), common[1].bit_length())
        return [_dot(row, common, bits, self.budget) if row else Fraction(0) for row in entries]

    def inner(self, one: list[Fraction], other: list[Fraction]) -> Fraction:
        """⟨u, v⟩."""
        common = _common(other, self.budget)
        pairs = [(j, value) for j, value in enumerate(one) if value]
        left, below = _common([value for _, value in pairs], self.budget)
        self.budget.pay_product(2 + len(pairs), _bits(left), _bits(common[0]))
        total = sum(a * common[0][j] for a, (j, _) in zip(left, pairs, strict=True))
        self.budget.pay_division(3, total.bit_length(), below.bit_length() + common[1].bit_length())
        return Fraction(total, below * common[1])

    def objective(self, x: list[Fraction]) -> Fraction:
        """½xᵀPx + cᵀx + d."""
        return self.inner(self.product(self.P, x), x) / 2 + self.inner(self.c, x) + self.d

    def slack(self, x: list[Fraction], right: list[Fraction]) -> list[Fraction]:
        """`right` − Ax."""
        moved = self.product(self.rows, x)
        for value, other in zip(right, moved, strict=True):
            self.budget.pay_sum(value, other)
        return [value - other for value, other in zip(right, moved, strict=True)]

    def check_in_cone(self, s: list[Fraction], what: str, dual: bool = False) -> None:
        """Whether s ∈ K, or s ∈ K*.

        Raises
        ------
        NotProved
            with the cone that s is not in.
        """
        start = 0
        for index, ((kind, size), height) in enumerate(zip(self.cones, self.heights, strict=True)):
            part = s[start : start + height]
            where = f"{what} is not in {'the dual of ' if dual else ''}cone {index} ({kind}, rows {start} to {start + height - 1})"
            if kind == "zero" and not dual and any(part):
                row = next(i for i, value in enumerate(part) if value)
                raise NotProved(f"{where}: row {start + row} leaves {decimal_text(part[row], True)}")
            if kind == "nonnegative" and any(value < 0 for value in part):
                row = next(i for i, value in enumerate(part) if value < 0)
                raise NotProved(f"{where}: row {start + row} is {decimal_text(part[row], True)}")
            if kind == "second-order" and not self._second_order(part):
                raise NotProved(where)
            if kind == "semidefinite" and not self._semidefinite(part, size, dual, where):
                raise NotProved(where)
            start += height

    def _second_order(self, part: list[Fraction]) -> bool:
        """Whether t ≥ ‖u‖, by t ≥ 0 and t² ≥ Σ u_i²."""
        whole = _common(part, self.budget)[0]
        self.budget.pay(len(whole), _bits(whole))
        return whole[0] >= 0 and whole[0] ** 2 >= sum(value * value for value in whole[1:])

    def _semidefinite(self, part: list[Fraction], size: int, dual: bool, where: str) -> bool:
        whole = _common(part, self.budget)[0]
        matrix = [[whole[i + size * j] for j in range(size)] for i in range(size)]
        if dual and any(matrix[i][j] != matrix[j][i] for i in range(size) for j in range(i)):
            raise NotProved(f"{where}: the matrix is not symmetric")
        rows = [{j: matrix[i][j] + matrix[j][i] for j in range(size) if matrix[i][j] + matrix[j][i]} for i in range(size)]
        return is_semidefinite(rows, self.budget)

    def check_convex(self) -> None:
        """Whether P ⪰ 0.

        Raises
        ------
        NotProved
            where it is not.
        """
        whole = _common([value for row in self.P for _, value in row], self.budget)[0]
        values = iter(whole)
        if not is_semidefinite([{j: next(values) for j, _ in row} for row in self.P], self.budget):
            raise NotProved("P is not positive semidefinite, so that the dual proves nothing")


def is_semidefinite(rows: list[dict[int, int]], budget: Budget) -> bool:
    """Whether a symmetric matrix of integers is ⪰ 0, block by block: by a rounded factor where it is definite, else by an exact one."""
    seen = [False] * len(rows)
    for first in range(len(rows)):
        block, left = [], [] if seen[first] else [first]
        while left:
            i = left.pop()
            if not seen[i]:
                seen[i] = True
                block.append(i)
                left += rows[i]
        size = len(block)
        budget.pay(size**3 // 3 + size**2)
        matrix = [[rows[i].get(j, 0) for j in block] for i in block]
        if size and not (_is_definite(matrix) or _has_factors(matrix, budget)):
            return False
    return True


def _is_definite(matrix: list[list[int]]) -> bool:
    """Whether S = LLᵀ + R with an R of dominant diagonal: then both are ⪰ 0, however L was rounded.

    S is rounded to 128 bits before, 2^r S = S̃ + E with 0 ≤ E_ij < 1, so that S̃ − kI takes its place, k the order. L is the factor of
    S̃ − μI, with a μ above what the rounding of L does.
    """
    size = len(matrix)
    longest = max(_bits(row) for row in matrix)
    shift = longest - 128
    a = [
        [value >> shift for value in row[: i + 1]] if shift > 0 else [value << -shift for value in row[: i + 1]]
        for i, row in enumerate(matrix)
    ]
    if min(row[-1] for row in a) <= 0:
        return False
    margin = (2 * size + 2) * (math.isqrt(max(row[-1] for row in a)) + 1) + size
    factor: list[list[int]] = []
    for i, row in enumerate(a):
        made: list[int] = []
        for j in range(i):
            made.append((row[j] - sum(map(operator.mul, made, factor[j]))) // factor[j][j])
        pivot = row[i] - margin - sum(value * value for value in made)
        if pivot <= 0:
            return False
        made.append(max(math.isqrt(pivot), 1))
        factor.append(made)
    outside = [0] * size
    inside = [0] * size
    for i, row in enumerate(a):
        for j in range(i):
            left = abs(row[j] - sum(map(operator.mul, factor[i], factor[j])))
            outside[i] += left
            outside[j] += left
        inside[i] = row[i] - size - sum(value * value for value in factor[i])
    return all(one >= other for one, other in zip(inside, outside, strict=True))


def _has_factors(matrix: list[list[int]], budget: Budget) -> bool:
    """Whether S = LDLᵀ with D ≥ 0, by elimination without fractions (Bareiss): every pivot is a minor, and divides what follows."""
    size, before = len(matrix), 1
    a = [row[: i + 1] for i, row in enumerate(matrix)]
    for k in range(size):
        pivot = a[k][k]
        if pivot < 0 or (not pivot and any(a[i][k] for i in range(k, size))):
            return False
        if pivot:
            longest = max(pivot.bit_length(), *(_bits(a[i][k:]) for i in range(k, size)))
            budget.pay((size - k) ** 2 // 2, longest)
            for i in range(k + 1, size):
                factor = a[i][k]
                a[i][k + 1 :] = [(pivot * value - factor * a[j][k]) // before for j, value in enumerate(a[i][k + 1 :], k + 1)]
            before = pivot
    return True


def _count(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value <= SIZE:
        raise Malformed(f"{name} must be a whole number between 0 and {SIZE}")
    return value


def _check_variables(values: Any, size: int) -> None:
    """Whether each variable is said to be a part of x: the names are the file's own, and no bound depends on them."""
    if not isinstance(values, list) or not all(isinstance(row, dict) and row.keys() == VARIABLE.keys() for row in values):
        raise Malformed(f"variables must be a list of objects with {', '.join(VARIABLE)}")
    for row in values:
        if not all(type(row[name]) is kind for name, kind in VARIABLE.items()) or not all(type(n) is int for n in row["shape"]):
            raise Malformed("a variable has a name and a layout, which are texts, a shape, an offset and a size")
        if not (0 <= row["offset"] and 0 <= row["size"] <= size - row["offset"]):
            raise Malformed("a variable is no part of x")


def _cones(values: Any) -> list[tuple[str, int]]:
    if not isinstance(values, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in values):
        raise Malformed("cones must be a list of [kind, size]")
    for kind, size in values:
        if kind not in CONES:
            raise Malformed(f"a cone {_brief(kind)} is not known here; {', '.join(CONES)} are")
        if _count(size, "the size of a cone") < 1:
            raise Malformed("a cone has a row at least")
    return [(kind, size) for kind, size in values]


def _triples(values: Any, height: int, width: int, name: str, budget: Budget) -> list[tuple[int, int, Fraction]]:
    if not isinstance(values, list):
        raise Malformed(f"{name} must be a list of [row, column, number]")
    made: dict[tuple[int, int], Fraction] = {}
    for entry in values:
        if not isinstance(entry, list) or len(entry) != 3 or type(entry[0]) is not int or type(entry[1]) is not int:
            raise Malformed(f"{name} must be a list of [row, column, number]")
        i, j, text = entry
        if not (0 <= i < height and 0 <= j < width) or (i, j) in made:
            raise Malformed(f"{name}: entry ({_brief(i)}, {_brief(j)}) is outside of the matrix, or there twice")
        _pay_number(text, budget)
        made[i, j] = number(text)
    return [(i, j, value) for (i, j), value in made.items() if value]


def check(document: Any) -> list[str]:
    """Lines that say what a parsed file proves; the last one begins with PROVED.

    Raises
    ------
    NotProved
        where something fails.
    Malformed
        where the file is none of this format.
    """
    version = document.get("format") if isinstance(document, dict) else None
    if version != FORMAT:
        raise Malformed(f"format {_brief(version)} is not known here; this program reads {FORMAT!r}")
    try:
        if document.keys() != KEYS:
            wrong = sorted(map(str, document.keys() ^ KEYS))
            raise Malformed(f"the field {_brief(wrong[0])} is {'missing' if wrong[0] in KEYS else 'not known here'}")
        if document["digest"] != digest(document):
            raise NotProved("the digest does not fit: the data were altered or damaged after they were written")
        return _checked(document, ConicProblem(document, Budget()))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise Malformed(f"the file is damaged: {type(error).__name__}: {_printable(str(error))}") from error


def _checked(document: dict[str, Any], problem: ConicProblem) -> list[str]:
    states, proof, unproven = document["states"], document["proof"], document["unproven"]
    if not isinstance(states, str) or states not in KINDS or not isinstance(proof, dict) or proof.keys() != {*KINDS[states]}:
        raise Malformed(f"states must be one of {', '.join(KINDS)}, and proof an object with the vectors that it needs")
    if not isinstance(document["source"], str) or not isinstance(unproven, list) or not all(isinstance(text, str) for text in unproven):
        raise Malformed("source must be a text, unproven a list of texts")
    claimed = document["bounds"]
    if not isinstance(claimed, dict) or claimed.keys() != {"lower", "upper"}:
        raise Malformed("bounds must be an object with lower and upper")
    lines = [_described(problem), f"source, in the file's own words: {_printable(document['source'])}"]
    if states == "bounds":
        lines += _bounds(problem, proof, claimed)
    elif claimed["lower"] is not None or claimed["upper"] is not None:
        raise NotProved(f"a problem that is {states} has no bounds")
    elif states == "infeasible":
        lines.append(_infeasible(problem, proof))
    else:
        lines.append(_unbounded(problem, proof))
    own = [f"not proved, in the file's own words: {_printable(text)}" for text in unproven[:4]]
    return [*lines[:-1], *own, lines[-1]]


def _described(problem: ConicProblem) -> str:
    parts = [f"{kind} {sum(n for other, n in problem.cones if other == kind)}" for kind in CONES[:2] if kind in dict(problem.cones)]
    for kind in CONES[2:]:
        sizes = [n for other, n in problem.cones if other == kind]
        if sizes:
            parts.append(f"{kind} {len(sizes)} of {'order' if kind == CONES[3] else 'size'} {min(sizes)} to {max(sizes)}")
    sense = "maximum of minus a" if problem.maximises else "minimum of a"
    kind = "quadratic" if any(problem.P) else "linear"
    return f"{sense} {kind} objective over {problem.size} numbers and {problem.height} rows ({', '.join(parts) or 'none'})"


def _bounds(problem: ConicProblem, proof: dict[str, Any], claimed: dict[str, Any]) -> list[str]:
    """Both bounds, or the one for which there is a proof; what is claimed must follow from what is proved."""
    value = dual = None
    if proof["x"] is not None:
        value = upper_bound(problem, _vector(proof["x"], problem.size, "x", problem.budget))
    if proof["z"] is not None:
        z = _vector(proof["z"], problem.height, "z", problem.budget)
        w = [Fraction(0)] * problem.size if proof["w"] is None else _vector(proof["w"], problem.size, "w", problem.budget)
        dual = lower_bound(problem, w, z)
    elif proof["w"] is not None:
        raise Malformed("w without z proves nothing")
    if value is None and dual is None:
        raise NotProved("there is neither a point nor are there multipliers")
    lower, upper = (dual, value) if not problem.maximises else (None if value is None else -value, None if dual is None else -dual)
    lines = []
    for name, proved, up in (("lower", lower, False), ("upper", upper, True)):
        if (proved is None) != (claimed[name] is None):
            raise NotProved(f"a {name} bound is {'claimed without a proof' if proved is None else 'proved but not stated'}")
        if proved is None:
            lines.append(f"{name} bound: none")
            continue
        stated = _vector([claimed[name]], 1, name, problem.budget)[0]
        if (stated < proved) if up else (stated > proved):
            raise NotProved(f"the {name} bound {decimal_text(stated, not up)} is stated, but only {decimal_text(proved, up)} is proved")
        lines.append(f"{name} bound: {decimal_text(proved, up)}")
    if lower is None or upper is None:
        return [
            *lines,
            f"PROVED, of the problem in the file: {'lower bound ≤ optimum' if upper is None else 'optimum ≤ upper bound'}; no other bound",
        ]
    if lower > upper:
        raise NotProved("the bounds contradict each other")
    return [*lines, f"gap: {decimal_text(upper - lower, True)}", "PROVED, of the problem in the file: lower bound ≤ optimum ≤ upper bound"]


def upper_bound(problem: ConicProblem, x: list[Fraction]) -> Fraction:
    """The objective at a feasible point.

    Raises
    ------
    NotProved
        where x is not feasible.
    """
    problem.check_in_cone(problem.slack(x, problem.b), "s = b − Ax")
    return problem.objective(x)


def lower_bound(problem: ConicProblem, w: list[Fraction], z: list[Fraction]) -> Fraction:
    """−½wᵀPw − bᵀz + d, for feasible multipliers.

    Raises
    ------
    NotProved
        where they are not feasible, or P is not semidefinite.
    """
    problem.check_in_cone(z, "z", dual=True)
    moved, gradient = problem.product(problem.P, w), problem.product(problem.columns, z)
    for j, parts in enumerate(zip(moved, gradient, problem.c, strict=True)):
        problem.budget.pay_sum(*parts)
        if sum(parts):
            raise NotProved(f"Pw + Aᵀz + c = 0 fails: entry {j} is {decimal_text(sum(parts, Fraction(0)), True)}")
    problem.check_convex()
    return problem.d - problem.inner(moved, w) / 2 - problem.inner(problem.b, z)


def _infeasible(problem: ConicProblem, proof: dict[str, Any]) -> str:
    z = _vector(proof["z"], problem.height, "z", problem.budget)
    problem.check_in_cone(z, "z", dual=True)
    for j, value in enumerate(problem.product(problem.columns, z)):
        if value:
            raise NotProved(f"Aᵀz = 0 fails: entry {j} is {decimal_text(value, True)}")
    if problem.inner(problem.b, z) >= 0:
        raise NotProved("bᵀz < 0 fails")
    return "PROVED, of the problem in the file: no point is feasible"


def _unbounded(problem: ConicProblem, proof: dict[str, Any]) -> str:
    upper_bound(problem, _vector(proof["x"], problem.size, "x", problem.budget))
    direction = _vector(proof["direction"], problem.size, "direction", problem.budget)
    problem.check_in_cone(problem.slack(direction, [Fraction(0)] * problem.height), "−Ar")
    if any(problem.product(problem.P, direction)):
        raise NotProved("Pr = 0 fails")
    if problem.inner(problem.c, direction) >= 0:
        raise NotProved("cᵀr < 0 fails")
    return f"PROVED, of the problem in the file: the objective {'rises' if problem.maximises else 'falls'} without end"


def decimal_text(value: Fraction, up: bool) -> str:
    """17 digits of a number, rounded up or down."""
    if not value:
        return "0"
    power = (abs(value.numerator).bit_length() - value.denominator.bit_length()) * 30103 // 100000 - 17  # |value| is some 10^(power + 17)
    if abs(power) > BITS:
        raise Malformed("a bound becomes too large")
    scaled = value / Fraction(10) ** power
    digits = math.ceil(scaled) if up else math.floor(scaled)
    while abs(digits) >= 10**17:
        digits, power = (-(-digits // 10) if up else digits // 10), power + 1
    while digits and digits % 10 == 0:
        digits, power = digits // 10, power + 1
    return f"{decimal.Decimal(digits).scaleb(power):f}" if -22 < power < 6 else str(decimal.Decimal(digits).scaleb(power))


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of the data in the file: of the problem, not of its proof."""
    return hashlib.sha256(json.dumps({key: document[key] for key in DATA}, sort_keys=True).encode()).hexdigest()


def read(path: str) -> Any:
    """Parse a certificate file.

    Raises
    ------
    Malformed
        when it cannot be read, is too large or no JSON, or has NaN, ∞ or a key twice.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is there twice")
        return dict(pairs)

    def refused(text: str) -> Any:
        raise ValueError(f"{text} is no number of JSON")

    try:
        with open(path, encoding="utf-8", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
            if not file.seekable():  # a pipe, and perhaps one that nobody writes to
                if not select.select([file], [], [], PATIENCE)[0]:
                    raise ValueError(f"nothing came from it for {PATIENCE} s")
                os.set_blocking(file.fileno(), True)
            text = file.read(LETTERS + 1)
        if len(text) > LETTERS:
            raise ValueError("the file is too large")
        return json.loads(text, object_pairs_hook=once, parse_constant=refused)
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"{path}: {_printable(str(error))}") from error


def main(arguments: list[str]) -> int:
    """Check the file named on the command line; exit status 0 proved, 1 not proved, 2 malformed."""

    def document() -> Any:
        if len(arguments) != 1:
            raise Malformed("usage: python recheck_certificate.py FILE")
        return read(arguments[0])

    return report(document)


def report(document: Callable[[], Any]) -> int:
    """Print what the document proves, or on standard error the line that says what fails; returns the exit status."""
    try:
        sys.stdout.write("\n".join([*check(document()), ""]))
    except (NotProved, Malformed) as error:
        sys.stderr.write(f"{'NOT PROVED' if isinstance(error, NotProved) else 'MALFORMED'}: {error}\n")
        return NOT_PROVED if isinstance(error, NotProved) else MALFORMED
    return PROVED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
