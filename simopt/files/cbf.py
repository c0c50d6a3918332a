"""Reading CBF files (Conic Benchmark Format): linear objectives over linear, second-order, semidefinite, exponential and power cones.

The cones are F, L+, L-, L=, Q, QR, EXP, EXP*, and power cones POW and POW* in three dimensions whose two exponents sum to 1.
A file has one triangle of a symmetric matrix. Integers are kept. Other cones (SVECPSD) and sections (CHANGE) are refused by name.

Source: H. A. Friberg, *CBLIB 2014: a benchmark library for conic mixed-integer and continuous optimization* (2016), and the format's
reference, versions 1 to 4.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import scipy.sparse as sp

from simopt.core.arrays import Array
from simopt.files.cone_programme import ConeBlock, ConeProgramme
from simopt.files.content import SectionReader, TextFile, quoted, whole

VERSIONS = (1, 2, 3, 4)
ENTRIES = 1 << 22  # columns, rows, and entries of matrices together, that a file may declare: few bytes can ask for many
LEAST = {"F": 1, "L+": 1, "L-": 1, "L=": 1, "Q": 1, "QR": 2, "EXP": 3, "EXP*": 3}  # size of a cone
MOST = {"EXP": 3, "EXP*": 3}
POWER = re.compile(r"@(\d{1,9}):(POW\*?)")
COORDINATES = {
    "OBJFCOORD": 3, "OBJACOORD": 1, "FCOORD": 4, "ACOORD": 2, "BCOORD": 1, "HCOORD": 4, "DCOORD": 3
}  # section -> indices on its lines  # fmt: skip
Sparse = dict[tuple[int, ...], float]


def parse(source: TextFile) -> ConeProgramme:
    """The programme that a file says.

    Raises
    ------
    InvalidFile
        naming file, line and section.
    """
    return _CbfReader(source).programme()


class _CbfReader(SectionReader):
    """One pass over the lines; what a section says is collected by its indices."""

    def __init__(self, source: TextFile) -> None:
        super().__init__(source)
        self.remaining = self._lines()
        self.maximises = False
        self.declared = 0
        self.variables: list[ConeBlock] = []
        self.rows: list[ConeBlock] = []
        self.n = self.m = 0
        self.dimensions: list[int] = []
        self.orders: list[int] = []  # of matrices that are semidefinite
        self.integers: list[int] = []
        self.powers: dict[str, list[list[float]]] = {"POW": [], "POW*": []}
        self.offset = 0.0
        self.numbers: dict[str, Sparse] = {name: {} for name in COORDINATES}

    def _lines(self) -> Iterator[list[str]]:
        for at, line in self.source.lines():
            self.line = at
            fields = line.partition("#")[0].split()
            if fields:
                yield fields

    def _fields(self, *counts: int) -> list[str]:
        """The next line, which has one of these numbers of fields."""
        fields = next(self.remaining, None)
        if fields is None:
            self.fail("the file ends within the section", "it was cut short, or a count is too large")
        if len(fields) not in counts:
            self.fail(
                f"{quoted(' '.join(fields))} has {len(fields)} fields", f"{' or '.join(map(str, counts))} were expected; compare the counts"
            )
        return fields

    def _count(self, text: str, least: int = 0) -> int:
        value = whole(text)
        if value is None or value < least:
            self.fail(f"{quoted(text)} is no count", f"a whole number of at least {least}")
        return value

    def _index(self, text: str, below: int, what: str) -> int:
        value = whole(text)
        if value is None or not 0 <= value < below:
            self.fail(f"{what} {quoted(text)} is not there", f"a number from 0 to {below - 1}" if below else "none is declared before")
        return value

    def _reserve(self, entries: int) -> None:
        """Count what is declared before anything is made of it."""
        self.declared += entries
        if self.declared > ENTRIES:
            self.fail(
                f"more than {ENTRIES} columns, rows and entries of matrices are declared", "a smaller problem, or a count that is right"
            )

    def programme(self) -> ConeProgramme:
        """All sections, and what they say together."""
        sections: dict[str, Callable[[], None]] = {
            "OBJSENSE": self._sense, "VAR": self._variables, "CON": self._constraints, "INT": self._integers, "PSDVAR": self._matrices,
            "PSDCON": self._matrices, "POWCONES": self._powers, "POW*CONES": self._powers, "OBJBCOORD": self._constant,
            **dict.fromkeys(COORDINATES, self._coordinates),
        }  # fmt: skip
        for fields in self.remaining:
            self._begin(fields, sections)
            if self.section == "VER":
                self._version()
            else:
                sections[self.section]()
        self.section = ""
        if "OBJSENSE" not in self.seen:
            self.fail("the file ends without OBJSENSE", "MIN or MAX; it was cut short, or is no CBF file")
        if not self.n and not self.dimensions:
            self.fail("the file ends without variables", "a section VAR or PSDVAR; there is nothing to choose")
        return self._assembled()

    def _begin(self, heading: list[str], sections: Iterable[str]) -> None:
        name, self.section = heading[0], ""
        if len(heading) != 1 or name not in ("VER", *sections):
            self.fail(
                f"section {quoted(' '.join(heading))} is not read", f"VER, {', '.join(sections)} are; or the count before is too small"
            )
        self.section = name
        if name in self.seen:
            self.fail("appears twice", "one section of each kind")
        if (name == "VER") != (not self.seen):
            self.fail("is not the first section" if name == "VER" else "comes before VER", "a file begins with VER")
        self.seen.add(name)

    def _version(self) -> None:
        (version,) = self._fields(1)
        if whole(version) not in VERSIONS:
            self.fail(f"version {quoted(version)} is not known", f"{VERSIONS[0]} to {VERSIONS[-1]} are")

    def _sense(self) -> None:
        (sense,) = self._fields(1)
        if sense not in ("MIN", "MAX"):
            self.fail(f"{quoted(sense)} is neither MIN nor MAX", "one of them is needed")
        self.maximises = sense == "MAX"

    def _blocks(self) -> tuple[list[ConeBlock], int]:
        size, count = self._fields(2)
        total, number_of_cones, start = self._count(size), self._count(count), 0
        self._reserve(total)
        blocks = []
        for _ in range(number_of_cones):
            blocks.append(self._block(start, total))
            start += blocks[-1].size
            if start > total:
                self.fail(f"the cones have more than the {total} entries that are declared", "the sizes sum to that")
        if start != total:
            self.fail(f"the cones have {start} entries, {total} are declared", "the sizes sum to that")
        return blocks, total

    def _block(self, start: int, total: int) -> ConeBlock:
        """The cone of one line, from the entry `start` on; `total` is the size of all."""
        cone, width = self._fields(2)
        kind, power, least, most = cone, 0.0, 3, 3
        if match := POWER.fullmatch(cone):
            kind, power = match[2], self._power(match[2], match[1])
        elif cone in LEAST:
            least, most = LEAST[cone], max(MOST.get(cone, total), LEAST[cone])
        else:
            self.fail(f"cone {quoted(cone)} is not read", f"{', '.join(LEAST)}, @k:POW and @k:POW* are")
        size = self._count(width)
        if not least <= size <= most:
            self.fail(f"cone {quoted(cone)} of size {size}", f"{least} to {most}")
        return ConeBlock(kind, start, size, power)

    def _variables(self) -> None:
        self.variables, self.n = self._blocks()

    def _constraints(self) -> None:
        self.rows, self.m = self._blocks()

    def _power(self, kind: str, at: str) -> float:
        """α of a power cone."""
        exponents = self.powers[kind][self._index(at, len(self.powers[kind]), f"power cone {kind}")]
        if len(exponents) != 2 or sum(exponents) != 1.0:
            self.fail(f"power cone {at} has the exponents {quoted(' '.join(map(repr, exponents)))}", "two that sum to 1 are read")
        return exponents[0]

    def _powers(self) -> None:
        count, total = map(self._count, self._fields(2))
        self._reserve(total)
        cones = self.powers[self.section.removesuffix("CONES")]
        for _ in range(count):
            size = self._count(self._fields(1)[0], 1)
            total -= size
            if total < 0:
                self.fail("the cones have more exponents than are declared", "the sizes sum to the second number")
            cones.append([self.finite(self._fields(1)[0]) for _ in range(size)])
            if min(cones[-1]) <= 0.0:
                self.fail(f"exponent {min(cones[-1]):g}", "exponents above 0")
        if total:
            self.fail("the cones have fewer exponents than are declared", "the sizes sum to the second number")

    def _integers(self) -> None:
        for _ in range(self._count(self._fields(1)[0])):
            self.integers.append(self._index(self._fields(1)[0], self.n, "column"))
        if len(set(self.integers)) < len(self.integers):
            self.fail("a column appears twice", "keep one of them")

    def _matrices(self) -> None:
        orders = self.dimensions if self.section == "PSDVAR" else self.orders
        for _ in range(self._count(self._fields(1)[0])):
            order = self._count(self._fields(1)[0], 1)
            self._reserve(order * order)
            orders.append(order)

    def _constant(self) -> None:
        self.offset = self.finite(self._fields(1)[0])

    def _coordinates(self) -> None:
        name, numbers = self.section, self.numbers[self.section]
        indices = COORDINATES[name]
        heads: list[tuple[int, str]] = {
            "OBJFCOORD": [(len(self.dimensions), "variable")],
            "FCOORD": [(self.m, "row"), (len(self.dimensions), "variable")],
            "OBJACOORD": [(self.n, "column")],
            "ACOORD": [(self.m, "row"), (self.n, "column")],
            "BCOORD": [(self.m, "row")],
            "HCOORD": [(len(self.orders), "matrix"), (self.n, "column")],
            "DCOORD": [(len(self.orders), "matrix")],
        }[name]
        for _ in range(self._count(self._fields(1)[0])):
            fields = self._fields(indices + 1)
            at = [self._index(text, below, what) for text, (below, what) in zip(fields, heads, strict=False)]
            if indices > len(heads):
                order = (self.orders if name in ("HCOORD", "DCOORD") else self.dimensions)[at[0] if name != "FCOORD" else at[1]]
                pair = [self._index(text, order, "entry") for text in fields[len(heads) : indices]]
                at += sorted(pair, reverse=True)
            if tuple(at) in numbers:
                self.fail(f"a second number for {quoted(' '.join(fields[:indices]))}", "keep one of them")
            numbers[tuple(at)] = self.finite(fields[-1])

    def _vector(self, section: str, size: int) -> Array:
        vector = np.zeros(size)
        for (at,), value in self.numbers[section].items():
            vector[at] = value
        return vector

    def _assembled(self) -> ConeProgramme:
        weights: dict[int, Sparse] = {}
        for (j, r, c), value in self.numbers["OBJFCOORD"].items():
            weights.setdefault(j, {}).update(_both(0, r, c, self.dimensions[j], value))
        products: dict[int, Sparse] = {}
        for (i, j, r, c), value in self.numbers["FCOORD"].items():
            products.setdefault(j, {}).update(_both(i, r, c, self.dimensions[j], value))
        maps: list[Sparse] = [{} for _ in self.orders]
        for (k, j, r, c), value in self.numbers["HCOORD"].items():
            maps[k].update({(at, j): v for (_, at), v in _both(0, r, c, self.orders[k], value).items()})
        constants: list[Sparse] = [{} for _ in self.orders]
        for (k, r, c), value in self.numbers["DCOORD"].items():
            constants[k].update({(at, 0): v for (_, at), v in _both(0, r, c, self.orders[k], value).items()})
        integers = np.zeros(self.n, dtype=bool)
        integers[self.integers] = True
        return ConeProgramme(
            self.source.path,
            self.maximises,
            self.offset,
            self._vector("OBJACOORD", self.n),
            tuple(self.variables),
            integers,
            tuple(self.dimensions),
            {j: _sparse(values, 1, self.dimensions[j] ** 2) for j, values in weights.items()},
            tuple(self.rows),
            _sparse(self.numbers["ACOORD"], self.m, self.n),
            {j: _sparse(values, self.m, self.dimensions[j] ** 2) for j, values in products.items()},
            self._vector("BCOORD", self.m),
            tuple(_sparse(values, d * d, self.n) for values, d in zip(maps, self.orders, strict=True)),
            tuple(_sparse(values, d * d, 1) for values, d in zip(constants, self.orders, strict=True)),
        )


def _both(i: int, r: int, c: int, order: int, value: float) -> Sparse:
    """An entry of a symmetric matrix and its mirror image, in row i, with the matrix flat, column by column."""
    return {(i, r + order * c): value, (i, c + order * r): value}


def _sparse(values: Sparse, m: int, n: int) -> sp.csr_array:
    at = np.array(list(values), dtype=np.int64).reshape(-1, 2)
    matrix = sp.csr_array((np.array(list(values.values()), dtype=np.float64), (at[:, 0], at[:, 1])), shape=(m, n))
    matrix.eliminate_zeros()
    return matrix
