"""Reading MPS and QPS files, free or with fixed columns: min (or max) f + cᵀx + ½ xᵀQx subject to l ≤ Ax ≤ u and a ≤ x ≤ b.

The first row N is the objective, others of this kind are none. A number b for the objective under RHS says f = −b. A range r makes of a row
G with the right-hand side b the bounds [b, b + |r|], of L [b − |r|, b], of E [b, b + |r|] or, for r < 0, [b − |r|, b].
Columns lie in [0, ∞). A negative upper bound of one without a lower bound makes that −∞, and an integer of MARKER without any bound lies
in [0, 1]. QUADOBJ and QSECTION have one triangle of Q, QMATRIX all of it.

Each line is read once and each number as the nearest float. HiGHS's reader is not used: it drops entries of size 1e-12 and below and second
ones of a place, names no line, and does not end with some damaged files.

Source: the MPS format as MIPLIB and HiGHS read it; I. Maros and C. Mészáros, *A repository of convex quadratic programming problems*
(1999).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from simopt.core.errors import InvalidFile
from simopt.files.content import SectionReader, TextFile, quoted
from simopt.files.quadratic_programme import FileProgramme, widened

FIELDS = (slice(1, 3), slice(4, 12), slice(14, 22), slice(24, 36), slice(39, 47), slice(49, 61))  # of a line with fixed columns
BETWEEN = (slice(0, 1), slice(3, 4), slice(12, 14), slice(22, 24), slice(36, 39), slice(47, 49), slice(61, None))
SENSES = {"MIN": False, "MINIMIZE": False, "MINIMISE": False, "MAX": True, "MAXIMIZE": True, "MAXIMISE": True}
TRIANGLES = ("QUADOBJ", "QSECTION")
VALUED = {"UP", "LO", "FX", "UI", "LI"}  # kinds of bounds that have a number
BOUNDS = {*VALUED, "FR", "MI", "PL", "BV"}
ORDER = "the order is ROWS, COLUMNS, RHS, RANGES, BOUNDS"
AFTER = {"COLUMNS": "ROWS", **dict.fromkeys(("RHS", "RANGES", "BOUNDS", *TRIANGLES, "QMATRIX", "ENDATA"), "COLUMNS")}
INFINITIES = {"inf": math.inf, "infinity": math.inf}


def parse(source: TextFile) -> FileProgramme:
    """The programme that a file says, its fields separated by blanks or, where that fails, in fixed columns: names may have blanks then.

    Raises
    ------
    InvalidFile
        naming file, line and section.
    """
    free, fixed = _MpsReader(source, str.split), _MpsReader(source, _in_columns)
    try:
        return free.programme()
    except InvalidFile as error:
        try:
            return fixed.programme()
        except InvalidFile as other:
            raise (other if fixed.line > free.line else error) from None  # what was read further is what the file was meant to be


def _in_columns(line: str) -> list[str]:
    """The fields of a line with fixed columns; of one that has something beside them, no fields."""
    if "\t" in line or any(line[gap].strip() for gap in BETWEEN):
        return []
    return [field for field in (line[at].strip() for at in FIELDS) if field]


class _MpsReader(SectionReader):
    """One pass over the lines; what a section says is collected in arrays."""

    def __init__(self, source: TextFile, fields: Callable[[str], list[str]]) -> None:
        super().__init__(source)
        self.fields, self.name = fields, ""
        self.maximises: bool | None = None
        self.objective: str | None = None
        self.rows: dict[str, int] = {}  # name -> index; of rows N, −1
        self.kinds: list[str] = []
        self.columns: dict[str, int] = {}
        self.integers: list[bool] = []
        self.between_markers = False
        self.column_rows: set[str] = set()  # rows in which the present column has an entry
        self.cost, self.lower, self.upper = array("d"), array("d"), array("d")
        self.entry_rows, self.entry_columns, self.entries = array("q"), array("q"), array("d")
        self.sets: dict[str, str] = {}  # section -> name of its set
        self.right: dict[str, float] = {}
        self.ranges: dict[str, float] = {}
        self.bounds: dict[int, set[str]] = {}  # column -> kinds of its bounds
        self.quadratic: dict[tuple[int, int], float] = {}

    def programme(self) -> FileProgramme:
        """All lines, and what they say together."""
        sections: dict[str, Callable[[list[str]], None]] = {
            "OBJSENSE": self._sense, "ROWS": self._row, "COLUMNS": self._column, "RHS": self._right, "RANGES": self._range,
            "BOUNDS": self._bound, "QUADOBJ": self._square, "QSECTION": self._square, "QMATRIX": self._square,
        }  # fmt: skip
        ended = False
        for at, line in self.source.lines():
            self.line = at
            if not line or line[0] == "*" or line.isspace():
                continue
            if ended:
                self.fail("text after ENDATA", "one problem a file; cut it off")
            if line[0] not in " \t":
                ended = self._heading(line, sections)
            elif self.section not in sections:
                self.fail(f"{quoted(line.strip())} before any section", "a file begins with NAME or ROWS")
            else:
                sections[self.section](self.fields(line))
        if not ended:
            self.fail("the file ends without ENDATA", "it was cut short; fetch it again")
        return self._assembled()

    def _heading(self, line: str, sections: dict[str, Callable[[list[str]], None]]) -> bool:
        """Begin a section; whether it is the last."""
        first, *others = line.split()
        heading = first.upper()
        if self.section == "OBJSENSE" and heading in SENSES and not others:
            self._sense([heading])
            return False
        if self.between_markers:
            self.fail("ends with 'INTORG' and no 'INTEND'", "integers stand between two markers")
        known = heading in sections or heading in ("NAME", "ENDATA")
        self.section = heading if known else ""
        if not known:
            self.fail(f"section {quoted(first)} is not read", f"{', '.join((*sections, 'NAME', 'ENDATA'))} are")
        if heading in self.seen:
            self.fail("appears twice", "one section of each kind")
        if others and heading not in ("NAME", "OBJSENSE", "QSECTION"):
            self.fail(f"{quoted(' '.join(others))} behind the heading", "begin lines of data with a blank")
        self.seen.add(heading)
        if heading in AFTER and AFTER[heading] not in self.seen:
            self.fail(f"comes before {AFTER[heading]}", ORDER)
        if heading == "ROWS" and "COLUMNS" in self.seen:
            self.fail("comes after COLUMNS", ORDER)
        self._behind(heading, others)
        if len(self.seen & {"QMATRIX", *TRIANGLES}) > 1:
            self.fail("a second quadratic part", "one of QUADOBJ, QSECTION and QMATRIX")
        return heading == "ENDATA"

    def _behind(self, heading: str, others: list[str]) -> None:
        """What stands behind a heading, on its line."""
        if heading == "NAME":
            self.name = " ".join(others)
        if heading == "OBJSENSE" and others:
            self._sense(others)
        if heading == "QSECTION" and others and others != [self.objective]:
            self.fail(f"squares in the row {quoted(' '.join(others))}", "only the objective may have some")

    def _sense(self, fields: list[str]) -> None:
        if len(fields) != 1 or fields[0].upper() not in SENSES or self.maximises is not None:
            self.fail(f"{quoted(' '.join(fields))} is neither MIN nor MAX, or the second of them", "one of them is needed")
        self.maximises = SENSES[fields[0].upper()]

    def _row(self, fields: list[str]) -> None:
        if len(fields) != 2 or fields[0].upper() not in "NLGE" or len(fields[0]) != 1:
            self.fail(f"{quoted(' '.join(fields))} is no row", "a line is N, L, G or E, and a name")
        kind, name = fields[0].upper(), fields[1]
        if name in self.rows:
            self.fail(f"row {quoted(name)} appears twice", "each row has its own name")
        if kind == "N":
            self.objective = self.objective or name
            self.rows[name] = -1
            return
        self.rows[name] = len(self.kinds)
        self.kinds.append(kind)

    def _column(self, fields: list[str]) -> None:
        if len(fields) == 3 and fields[1].strip("'").upper() == "MARKER":
            self._marker(fields[2])
            return
        if len(fields) not in (3, 5):
            self.fail(f"{len(fields)} fields", "a line has a column and one or two pairs of row and number")
        name = fields[0]
        if not self.columns or self.columns.get(name) != len(self.integers) - 1:
            self._begin_column(name)
        for row, value in self._pairs(fields[1:]):
            if row in self.column_rows:
                self.fail(f"column {quoted(name)} has a second number in row {quoted(row)}", "keep one of them")
            self.column_rows.add(row)
            if row == self.objective:
                self.cost[-1] = value
            elif self.rows[row] >= 0 and value != 0.0:
                self.entry_rows.append(self.rows[row])
                self.entry_columns.append(len(self.integers) - 1)
                self.entries.append(value)

    def _marker(self, text: str) -> None:
        marker = text.strip("'").upper()
        if marker not in ("INTORG", "INTEND") or self.between_markers == (marker == "INTORG"):
            self.fail(f"marker {quoted(text)}", "'INTORG' and 'INTEND' in turn; sets (SOS) are not read")
        self.between_markers = marker == "INTORG"

    def _begin_column(self, name: str) -> None:
        if name in self.columns:
            self.fail(f"column {quoted(name)} appears twice", "the lines of a column stand together")
        self.columns[name] = len(self.integers)
        self.integers.append(self.between_markers)
        self.column_rows.clear()
        self.cost.append(0.0)
        self.lower.append(0.0)
        self.upper.append(math.inf)

    def _pairs(self, fields: list[str]) -> list[tuple[str, float]]:
        pairs = []
        for row, text in zip(fields[::2], fields[1::2], strict=True):
            if row not in self.rows:
                self.fail(f"row {quoted(row)} is not among the ROWS", "add it there, or correct the name")
            pairs.append((row, self.finite(text)))
        return pairs

    def _of_set(self, fields: list[str], has_set: bool) -> list[str]:
        """The fields without the name of the set, of which a file may have one."""
        name = fields[0] if has_set else ""
        if self.sets.setdefault(self.section, name) != name:
            self.fail(f"a second set, {quoted(name)}, beside {quoted(self.sets[self.section])}", "keep one of them")
        return fields[1:] if has_set else fields

    def _vector(self, fields: list[str], values: dict[str, float]) -> None:
        if not 2 <= len(fields) <= 5:
            self.fail(
                f"{len(fields)} fields", "a line has the name of the set, which may be missing, and one or two pairs of row and number"
            )
        for row, value in self._pairs(self._of_set(fields, len(fields) % 2 == 1)):
            if row in values:
                self.fail(f"a second number for row {quoted(row)}", "keep one of them")
            values[row] = value

    def _right(self, fields: list[str]) -> None:
        self._vector(fields, self.right)

    def _range(self, fields: list[str]) -> None:
        self._vector(fields, self.ranges)

    def _bound(self, fields: list[str]) -> None:
        kind = fields[0].upper() if fields else ""
        if kind not in BOUNDS:
            self.fail(f"bound {quoted(kind)} is not read", f"{', '.join(sorted(BOUNDS))} are; semi-continuous columns are not")
        rest, least = fields[1:], 2 if kind in VALUED else 1
        if not least <= len(rest) <= 3:
            self.fail(f"{len(fields)} fields", "a line has kind, set, column and, for some kinds, a number")
        rest = self._of_set(rest, len(rest) > least)
        if rest[0] not in self.columns:
            self.fail(f"column {quoted(rest[0])} is not among the COLUMNS", "add it there, or correct the name")
        at = self.columns[rest[0]]
        kinds = self.bounds.setdefault(at, set())
        if kind in kinds:
            self.fail(f"a second bound {kind} of column {quoted(rest[0])}", "keep one of them")
        kinds.add(kind)
        self._set_bound(at, kind, self._limit(rest[1]) if kind in VALUED else 0.0)

    def _set_bound(self, at: int, kind: str, value: float) -> None:
        if kind in ("UP", "UI", "FX"):
            self.upper[at] = value
        if kind in ("LO", "LI", "FX"):
            self.lower[at] = value
        if kind in ("FR", "MI"):
            self.lower[at] = -math.inf
        if kind in ("FR", "PL"):
            self.upper[at] = math.inf
        if kind == "BV":
            self.lower[at], self.upper[at] = 0.0, 1.0
        if kind in ("BV", "UI", "LI"):
            self.integers[at] = True

    def _limit(self, text: str) -> float:
        """A bound: a number, or infinite."""
        unsigned = text.lstrip("+-").lower()
        if unsigned in INFINITIES and len(text) - len(unsigned) < 2:
            return -INFINITIES[unsigned] if text[0] == "-" else INFINITIES[unsigned]
        return self.finite(text)

    def _square(self, fields: list[str]) -> None:
        if len(fields) not in (3, 5):
            self.fail(f"{len(fields)} fields", "a line has two columns and a number")
        for other, text in zip(fields[1::2], fields[2::2], strict=True):
            for name in (fields[0], other):
                if name not in self.columns:
                    self.fail(f"column {quoted(name)} is not among the COLUMNS", "add it there, or correct the name")
            pair = self.columns[fields[0]], self.columns[other]
            if pair in self.quadratic or (self.section in TRIANGLES and pair[::-1] in self.quadratic):
                self.fail(f"a second number for {quoted(fields[0])} and {quoted(other)}", "keep one of them")
            self.quadratic[pair] = self.finite(text)

    def _symmetric(self) -> sp.csc_array:
        """Q, of one triangle or all of it."""
        n = len(self.integers)
        if "QMATRIX" in self.seen:
            names = list(self.columns)
            for (i, j), value in self.quadratic.items():
                if self.quadratic.get((j, i), 0.0) != value:
                    self.section = "QMATRIX"
                    self.fail(f"is not symmetric in {quoted(names[i])} and {quoted(names[j])}", "give both entries, or one under QUADOBJ")
        else:
            self.quadratic |= {(j, i): value for (i, j), value in self.quadratic.items()}
        if not self.quadratic:
            return sp.csc_array((n, n))
        pairs = np.array(list(self.quadratic), dtype=np.int64)
        matrix = sp.csc_array((np.array(list(self.quadratic.values())), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        matrix.eliminate_zeros()
        return matrix

    def _row_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = np.zeros(len(self.kinds)), np.zeros(len(self.kinds))
        for name, i in self.rows.items():
            if i < 0:
                continue
            kind, right, width = self.kinds[i], self.right.get(name, 0.0), self.ranges.get(name)
            low, high = -math.inf if kind == "L" else right, math.inf if kind == "G" else right
            if width is not None and (kind == "L" or (kind == "E" and width < 0.0)):
                low = right - abs(width)
            elif width is not None:
                high = right + abs(width)
            lower[i], upper[i] = low, high
        return widened(lower), widened(upper)

    def _assembled(self) -> FileProgramme:
        if self.objective is None:
            self.section = "ROWS"
            self.fail("no row N", "the objective is the first row of this kind; one without entries may stand for none")
        lower, upper = np.array(self.lower), np.array(self.upper)
        for at in range(len(self.integers)):
            kinds = self.bounds.get(at, set())
            if self.integers[at] and not kinds:
                upper[at] = 1.0
            if upper[at] < 0.0 and not kinds & {"LO", "LI", "FX", "FR", "MI", "BV"}:
                lower[at] = -math.inf
        m, n = len(self.kinds), len(self.integers)
        offset = -self.right.get(self.objective, 0.0)
        return FileProgramme(
            self.source.path,
            self.name,
            bool(self.maximises),
            offset if offset else 0.0,
            np.array(self.cost),
            self._symmetric(),
            sp.csr_array((np.array(self.entries), (np.array(self.entry_rows), np.array(self.entry_columns))), shape=(m, n)),
            self._row_bounds(),
            (widened(lower), widened(upper)),
            np.array(self.integers, dtype=bool),
            tuple(self.columns),
            tuple(name for name, i in self.rows.items() if i >= 0),
        )
