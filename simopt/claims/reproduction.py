"""Recompute a paper's table or figure, row by row, beside the printed numbers: the program behind `simopt reproduce`.

How a table is written stands in `simopt.claims.tables`, whose names can be imported from here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simopt.claims.kinds import Effort
from simopt.claims.tables import INSIDE, NEAR, NOT_PRINTED, OTHER, OUTSIDE, Cell, Curve, Hypothesis, Run, Table, TableRow, Tried, table
from simopt.core import registry
from simopt.core.errors import InvalidProblem, NotAvailable
from simopt.core.extras import needed
from simopt.core.writing import replacing, try_folder
from simopt.solving.provenance import versions

__all__ = [
    "Cell",
    "Curve",
    "Hypothesis",
    "Reproduction",
    "Run",
    "Table",
    "TableRow",
    "compute",
    "draw",
    "find",
    "matching",
    "reproduce",
    "table",
]


@dataclass
class Reproduction:
    """The finished part of a table; `requested` are the rows that were asked for, None for all."""

    table: Table
    effort: Effort
    seed: int
    rows: list[TableRow] = field(default_factory=list)
    requested: tuple[str, ...] | None = None

    @property
    def complete(self) -> bool:
        """Whether every row that was asked for has been tried."""
        return len(self.rows) == len(self.table.rows if self.requested is None else self.requested)

    def count(self, agreement: str) -> int:
        """Number of cells with this agreement."""
        return sum(cell.agreement == agreement for row in self.rows for cell in row.cells)

    @property
    def unexplained(self) -> list[Cell]:
        """Cells outside the printed range that nothing of what was tried explains."""
        return [cell for row in self.rows for cell in row.unexplained]

    @property
    def far(self) -> list[Cell]:
        """Cells inside the printed range, but more than two standard errors of the means away."""
        cells = [cell for row in self.rows for cell in row.cells if cell.agreement == INSIDE]
        return [cell for cell in cells if cell.standard_errors is not None and cell.standard_errors > NEAR]

    @property
    def seen(self) -> str:
        """The sentence of the table about the finished rows; "" without such a sentence or without rows."""
        rows = [row for row in self.rows if row.not_run is None]
        return self.table.seen(rows).strip() if self.table.seen is not None and rows else ""

    def describe(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        words = {word.replace(" ", "_"): self.count(word) for word in (INSIDE, OUTSIDE, NOT_PRINTED, OTHER)}
        return {
            "format": "simopt-table/1",
            **self.table.describe(),
            "rows": [row.describe() for row in self.rows],
            "asked": list(self.table.rows if self.requested is None else self.requested),
            "effort": self.effort.value,
            "seed": self.seed,
            "complete": self.complete,
            "seen": self.seen or None,
            "counts": {
                **words,
                "unexplained": len(self.unexplained),
                "inside_but_beyond_two_standard_errors": len(self.far),
                "rows_not_run": sum(row.not_run is not None for row in self.rows),
            },
            "versions": versions(),
        }


def find(name: str) -> Table:
    """The table of this name.

    Raises
    ------
    UnknownName
        with the nearest name.
    """
    found: Table = registry.find("table", name)
    return found


def reproduce(name: str, effort: str | Effort = Effort.QUICK, seed: int = 0, rows: Sequence[str] | None = None) -> Reproduction:
    """Compute a table, or those of its rows that `matching` finds for `rows`, and return it."""
    chosen = find(name)
    requested = None if rows is None else matching(chosen, rows)
    done = Reproduction(chosen, Effort(effort), seed, requested=requested)
    done.rows.extend(compute(chosen, Effort(effort), seed, requested))
    return done


def matching(chosen: Table, texts: Iterable[str]) -> tuple[str, ...]:
    """The rows of a table that are meant, in the table's order.

    A text is the label of a row, or a list of labels with commas between them; what is no label stands for all labels that contain it.
    Letter case and the difference between `-` and `_` do not matter.

    Raises
    ------
    InvalidProblem
        for a text that no label contains, with all labels.
    """
    meant: set[str] = set()
    for text in texts:
        labels = {registry.fold(row): row for row in chosen.rows}
        for piece in [text] if registry.fold(text.strip()) in labels else text.split(","):
            wanted = registry.fold(piece.strip())
            found = [labels[wanted]] if wanted in labels else [row for label, row in labels.items() if wanted and wanted in label]
            if not found:
                raise InvalidProblem(f"rows: {piece.strip()!r} is in no label of {chosen.name}, which has {'; '.join(chosen.rows)}")
            meant.update(found)
    return tuple(row for row in chosen.rows if row in meant)


def compute(chosen: Table, effort: Effort = Effort.QUICK, seed: int = 0, rows: Sequence[str] | None = None) -> Iterator[TableRow]:
    """Yield the rows of a table (or some of them) as they are done; a row that lacks data or an extra is yielded with its reason.

    Raises
    ------
    NotAvailable
        when something that the whole table requires is missing.
    """
    whole = Run(chosen.name, "", seed, effort)
    for need in chosen.requires:
        kind, _, what = need.rpartition(":")
        _ = whole.dataset(what) if kind == "dataset" else whole.require(what)
    for row in chosen.rows if rows is None else rows:
        start = time.perf_counter()
        run = Run(chosen.name, row, seed, effort)
        try:
            found = list(chosen.compute(row, run))
        except NotAvailable as error:
            yield TableRow(row, not_run=str(error), seconds=time.perf_counter() - start)
            continue
        cells = tuple(item for item in found if isinstance(item, Cell))
        curves = tuple(item for item in found if isinstance(item, Curve))
        remarks = tuple(_remark(chosen, cell, cells) for cell in cells)
        tried = tuple(_tried(chosen, cells, run))
        yield TableRow(row, cells, curves, remarks, time.perf_counter() - start, tried=tried)


def _remark(chosen: Table, cell: Cell, row: Sequence[Cell]) -> str:
    missed = cell.printed is not None and not cell.met
    return chosen.remark(cell, row).strip() if missed and chosen.remark is not None else ""


def _tried(chosen: Table, row: Sequence[Cell], run: Run) -> Iterator[Tried]:
    """The hypotheses, computed one after the other until one explains every cell outside."""
    outside = sum(cell.agreement == OUTSIDE for cell in row)
    variants = list(chosen.suppose(row, run)) if outside and chosen.suppose is not None else []
    for hypothesis in variants:  # all count, also those that come after what explains everything: the list stood before the results
        try:
            one = Tried(hypothesis.says, tuple(hypothesis.cells()), variants=len(variants))
        except NotAvailable as error:
            one = Tried(hypothesis.says, missing=str(error), variants=len(variants))
        yield one
        if len(one.explained(row)) == outside:
            return


def prepare(chosen: Table, folder: str | Path) -> Path:
    """The folder for the picture of a table, made and tried: called before a long run, so that what would stop it is known then.

    Raises
    ------
    NotAvailable
        when matplotlib is not installed, or the table has nothing to draw.
    OSError
        with the path, when the folder cannot be made or written to.
    """
    if chosen.plot is None:
        raise NotAvailable(f"{chosen.name} has no picture; --plot is for figures")
    needed("matplotlib", "--plot", "plot")
    return try_folder(folder)


def draw(done: Reproduction, folder: str | Path) -> Path:
    """Draw what is done into `folder`/<name>.png and return the path.

    Raises
    ------
    NotAvailable, OSError
        as `prepare`, and when the file cannot be written.
    """
    path = prepare(done.table, folder) / f"{done.table.name}.png"
    figure = needed("matplotlib.figure", "--plot", "plot").Figure(layout="constrained")
    assert done.table.plot is not None
    done.table.plot(figure, done)
    with replacing(path) as out:
        figure.savefig(out, format="png", dpi=150)
    return path
