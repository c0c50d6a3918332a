"""Tables of numbers in text: CSV with a header, plain columns, and ARFF. Errors name the file, the line and the column."""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

Codes = Mapping[str, Mapping[str, float]]  # column -> the number for each category
MISSING = frozenset({"", "na", "n/a", "nan", "?", "null", "none", "-"})  # what spreadsheets and statistics programs write for it
SHOWN = 80  # letters of a cell, a name or an answer in a message
END = "."  # of a row that is being read
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class NumberTable:
    """Named columns of finite numbers, shape (n, number of columns)."""

    columns: tuple[str, ...]
    values: Array

    def column(self, name: str) -> Array:
        """The values of one column, shape (n,)."""
        out: Array = self.values[:, self.columns.index(name)]
        return out


def shown(text: str) -> str:
    """Text of a file or of a server for a message: as it is if it can be printed in one line, and no more than its beginning."""
    cut = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return cut if cut.isprintable() else repr(cut)


def read_csv(text: str, where: str) -> NumberTable:
    """A table with one header row; the separator is the first of `;`, tab and `,` that the header has outside of quotes.

    Lines end with LF, CR LF or CR, and with nothing else that Unicode calls a line.

    Raises
    ------
    InvalidProblem
        naming line and column: no text, no header, two columns of one name, no rows, rows of another length, or quotes that are not closed.
        Also cells that are empty, no numbers, or not finite.
    """
    text = text.removeprefix("\ufeff")
    lines = _lines(text, where)
    if not lines[0].strip():
        raise InvalidProblem(f"{where}: {'line 1 is empty; put the names of the columns there' if text.strip() else 'the file is empty'}")
    unquoted = _QUOTED.sub("", lines[0])
    separator = next((mark for mark in ";\t," if mark in unquoted), ",")
    header = _row(lines[0], 1, where, delimiter=separator)
    if all(_is_number(cell) for cell in header):
        raise InvalidProblem(f"{where}: no header, line 1 holds numbers only; put the names of the columns first")
    name, times = Counter(header).most_common(1)[0]
    if times > 1:
        raise InvalidProblem(f"{where}: {'two' if times == 2 else times} columns are called {_quoted(name)}; give each a name of its own")
    if not any(line.strip() for line in lines[1:]):
        raise InvalidProblem(f"{where}: no rows after the header")
    return NumberTable(tuple(header), _numbers(lines, 1, separator, header, where))


def _numbers(lines: Sequence[str], first: int, separator: str, header: Sequence[str], where: str) -> Array:
    """The numbers in `lines[first:]`: fast when all is well, and cell by cell when it is not."""
    try:
        values: Array = np.loadtxt(io.StringIO("\n".join(lines[first:])), delimiter=separator, ndmin=2, comments=None)
    except ValueError:
        values = np.empty((0, 0))
    if values.shape[1:] == (len(header),) and bool(np.all(np.isfinite(values))):
        return values
    rows = [
        (number, _row(line, number, where, delimiter=separator, skipinitialspace=True))
        for number, line in enumerate(lines[first:], first + 1)
        if line.strip()
    ]
    return parse(rows, header, {}, where)


def _lines(text: str, where: str) -> list[str]:
    """The lines of a text, of which there is at least one.

    `str.splitlines` would end them at form feeds and other control characters as well, where editors and other programs do not.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if "\0" in text:
        bad = next(number for number, line in enumerate(lines, 1) if "\0" in line)
        raise InvalidProblem(f"{where}: line {bad} holds a NUL byte, so that this is UTF-16 or no text; save the file as UTF-8")
    return lines


def _row(line: str, number: int, where: str, delimiter: str = ",", **form: Any) -> list[str]:
    """The cells of one line, quoted or not."""
    try:  # the last cell is ours, unless a quote that nobody closes has swallowed it
        *cells, last = next(csv.reader([f"{line}{delimiter}{END}"], delimiter=delimiter, **form))
    except csv.Error as error:
        raise InvalidProblem(f"{where}: line {number} cannot be read ({error}); is it a table of numbers?") from error
    if last != END:
        raise InvalidProblem(f"{where}: line {number} opens a quote and does not close it; a cell must end on its line")
    return [cell.strip() for cell in cells]


def parse(rows: Sequence[tuple[int, Sequence[str]]], columns: Sequence[str], codes: Codes, where: str) -> Array:
    """Numbers from rows of cells, each with its line number; `codes` gives the numbers of categories."""
    out = np.empty((len(rows), len(columns)))
    for i, (line, cells) in enumerate(rows):
        if len(cells) != len(columns):
            raise InvalidProblem(f"{where}: line {line} has {len(cells)} cells, expected {len(columns)}")
        for j, (cell, name) in enumerate(zip(cells, columns, strict=True)):
            words = codes.get(name)
            if words is not None and cell in words:
                out[i, j] = words[cell]
                continue
            if not _is_number(cell):
                wrong = f"line {line}, column {j + 1} ({shown(name)}) {_what(cell)}"
                raise InvalidProblem(f"{where}: {wrong}{_others(rows, columns, codes, cell)}")
            out[i, j] = float(cell)
            if not math.isfinite(out[i, j]):
                raise InvalidProblem(f"{where}: line {line}, column {j + 1} ({shown(name)}) holds {_quoted(cell)}, which is not finite")
    return out


def _what(cell: str) -> str:
    if not cell:
        return "is empty"
    if cell.casefold() in MISSING:
        return f"holds {_quoted(cell)}, a missing value"
    return f"holds {_quoted(cell)}, not a number" + (" (write a point for the comma)" if _is_number(cell.replace(",", ".")) else "")


def _quoted(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")


def _others(rows: Sequence[tuple[int, Sequence[str]]], columns: Sequence[str], codes: Codes, cell: str) -> str:
    """How many cells of which columns are no numbers, if there are several, and what to do."""
    bad = [
        (name, other)
        for _, row in rows
        for name, other in zip(columns, row, strict=False)
        if not _is_number(other) and other not in codes.get(name, ())
    ]
    names = list(dict.fromkeys(name for name, _ in bad))
    some = ", ".join(map(shown, names[:5])) + (", …" if len(names) > 5 else "")
    remedy = "fill them in or leave those rows out" if cell.casefold() in MISSING else "code words as numbers or leave those columns out"
    return "" if len(bad) < 2 else f"; {len(bad)} cells are missing or no numbers, in {some}: {remedy}"


def cells(text: str, where: str, *, header: bool = False) -> list[tuple[int, list[str]]]:
    """Rows of plain cells with their line numbers, separated by `;`, `,` or white space, whichever comes first in that order."""
    lines = [(number, line) for number, line in enumerate(_lines(text, where), 1) if line.strip()]
    if header:
        lines = lines[1:]
    separator = next((mark for mark in ";," if lines and mark in lines[0][1]), None)
    return [(number, [cell.strip().strip('"') for cell in line.split(separator)]) for number, line in lines]


_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)


def arff_cells(text: str, where: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the attributes of a dense ARFF file, and its rows of cells with their line numbers."""
    names: list[str] = []
    rows: list[tuple[int, list[str]]] = []
    inside = False
    for number, line in enumerate(_lines(text, where), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("%"):
            continue
        if inside:
            if stripped.startswith("{"):
                raise InvalidProblem(f"{where}: line {number} is a row of a sparse ARFF file; a dense one is needed")
            rows.append((number, _row(stripped, number, where, quotechar="'", skipinitialspace=True)))
        elif stripped.lower().startswith("@data"):
            inside = True
        elif match := _ATTRIBUTE.match(stripped):
            names.append(match[1].strip("'\""))
    if not inside or not names:
        raise InvalidProblem(f"{where}: not an ARFF file, it has no {'attributes' if not names else '@data line'}")
    return names, rows


def write_csv(table: NumberTable) -> str:
    """The table with its header, each number as the shortest decimal that gives the double back, lines ended by LF."""
    lines = [",".join(table.columns)]
    lines += [",".join(_shortest(value) for value in row) for row in table.values.tolist()]
    return "\n".join(lines) + "\n"


def _shortest(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and cell.isascii()  # Python reads 1_000 and the digits of all scripts, other programs do not
