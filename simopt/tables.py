r"""How a paper's table or figure is written, to be recomputed beside the printed numbers by `simopt reproduce`.

A table is a function that computes one row at a time, and a header::

    from collections.abc import Iterator, Sequence

    from simopt.claims import AUDIFFREN_KADRI
    from simopt.tables import Cell, Run, table

    def why(cell: Cell, row: Sequence[Cell]) -> str:
        return f"The paper's {cell.printed:.3g} lies below the noise floor, 0.036." if cell.row == "Synthetic" else ""

    @table(
        "ak-table1", paper=AUDIFFREN_KADRI, place="Table 1", rows=("Concrete", "Yacht", "Synthetic"), requires=(),
        says="Test error of kernel ridge and M-RLSR. Choices of ours: …", explain=why,
    )
    def table1(row: str, run: Run) -> Iterator[Cell]:
        data = run.dataset("concrete")                     # NotAvailable makes this row "not run", the others go on
        errors = [… for _ in range(run.count(3, 10))]      # counts by effort, randomness from run.rng(…)
        yield Cell.of(row, "KRR", errors, printed=0.165, printed_sd=0.01, unit="RMSE / max y")

Every cell gets a computed word: `inside` the printed mean ± 2 √(sd² + our sd²), `outside`, or `not printed` where the paper gives no
number. For an outside cell `explain(cell, cells of its row)` returns a sentence made from the numbers; an outside cell without one is
counted as unexplained. Figures yield `Curve`s beside their cells. `plot(figure, reproduction)` draws on a matplotlib Figure. `seen(rows)`
is one sentence, made from the numbers, about the rows that are done: where the paper prints nothing it is what the table says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt import registry
from simopt.arrays import Array
from simopt.claims.kinds import Effort
from simopt.claims.papers import Paper
from simopt.claims.trial import Trial
from simopt.errors import InvalidProblem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.datasets import Dataset
    from simopt.reproduce import Reproduction

INSIDE, OUTSIDE, NOT_PRINTED = "inside", "outside", "not printed"


@dataclass(frozen=True)
class Cell:
    """One number of ours beside one printed number; standard deviations are those of the means' scatter as the paper reports it."""

    row: str
    column: str
    ours: float
    sd: float = 0.0
    printed: float | None = None
    printed_sd: float | None = None
    unit: str = ""

    @classmethod
    def of(
        cls,
        row: str,
        column: str,
        values: Iterable[float],
        *,
        printed: float | None = None,
        printed_sd: float | None = None,
        unit: str = "",
    ) -> Cell:
        """A cell from repeated measurements: their mean and standard deviation (n − 1; 0 for a single one)."""
        measured = np.asarray(list(values), dtype=float)
        if measured.size == 0:
            raise InvalidProblem(f"cell {row}, {column}: no measurements")
        sd = float(measured.std(ddof=1)) if measured.size > 1 else 0.0
        return cls(row, column, float(measured.mean()), sd, printed, printed_sd, unit)

    @property
    def margin(self) -> float | None:
        """2 √(printed sd² + our sd²); None where nothing is printed. An sd that the paper does not give counts as 0."""
        return None if self.printed is None else 2.0 * math.hypot(self.printed_sd or 0.0, self.sd)

    @property
    def word(self) -> str:
        """`inside`, `outside` or `not printed`."""
        if self.printed is None or self.margin is None:
            return NOT_PRINTED
        return INSIDE if abs(self.ours - self.printed) <= self.margin else OUTSIDE


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a figure."""

    row: str
    label: str
    x: Array
    y: Array


Explain = Callable[[Cell, Sequence[Cell]], str]
Compute = Callable[[str, "Run"], Iterable["Cell | Curve"]]
Plot = Callable[["Figure", "Reproduction"], None]
Seen = Callable[[Sequence["Row"]], str]


@dataclass(frozen=True, eq=False)
class Table:
    """A registered table or figure."""

    name: str
    paper: Paper
    place: str
    says: str
    rows: tuple[str, ...]
    compute: Compute
    requires: tuple[str, ...] = ()
    explain: Explain | None = None
    plot: Plot | None = None
    seen: Seen | None = None

    def describe(self) -> dict[str, Any]:
        """Plain data for listings."""
        return {
            "name": self.name,
            "paper": self.paper.key,
            "place": self.place,
            "says": self.says,
            "rows": list(self.rows),
            "requires": list(self.requires),
            "plot": self.plot is not None,
        }


@dataclass(frozen=True)
class Row:
    """One finished row; `not_run` is the reason why it could not be computed."""

    name: str
    cells: tuple[Cell, ...] = ()
    curves: tuple[Curve, ...] = ()
    sentences: tuple[str, ...] = ()  # one for each cell, empty for those inside
    seconds: float = 0.0
    not_run: str | None = None

    def describe(self) -> dict[str, Any]:
        """Plain data."""
        cells = [
            {
                **{name: getattr(cell, name) for name in ("column", "ours", "sd", "printed", "printed_sd", "unit", "margin", "word")},
                "why": why,
            }
            for cell, why in zip(self.cells, self.sentences, strict=True)
        ]
        curves = [{"label": curve.label, "x": curve.x, "y": curve.y} for curve in self.curves]
        return {"row": self.name, "cells": cells, "curves": curves, "seconds": self.seconds, "not_run": self.not_run}


class Run(Trial):
    """What a row may ask for: seeded randomness, counts by effort, data sets and optional modules."""

    def __init__(self, table: str, row: str, seed: int, effort: Effort) -> None:
        super().__init__(f"{table}|{row}", seed, 0, effort, {})
        self.row = row

    def dataset(self, name: str, **options: Any) -> Dataset:
        """Data set by name, downloaded if it is not there (claims never download; tables may); options of `load_dataset`."""
        from simopt.datasets import load_dataset

        return load_dataset(name, **{"fetch": True, **options})

    def stream(self, *labels: object) -> np.random.Generator:
        """A generator for one split or repetition, the same whatever else the row draws."""
        return Trial("|".join(map(str, (self.claim, *labels))), self.seed, 0, self.effort, {}).rng


def table(
    name: str,
    *,
    paper: Paper,
    place: str,
    says: str,
    rows: Sequence[str],
    requires: Sequence[str] = (),
    explain: Explain | None = None,
    plot: Plot | None = None,
    seen: Seen | None = None,
) -> Callable[[Compute], Compute]:
    """Register the decorated function `(row, run) -> Iterator[Cell | Curve]` as a table or figure of a paper.

    Parameters
    ----------
    name : str
        command-line name, such as "ak-table1".
    says : str
        what the table shows, by which protocol, and which choices are ours.
    rows : sequence of str
        names of the rows, computed one after the other.
    requires : sequence of str
        "dataset:NAME" or module names without which no row can be computed. What only one row needs is asked of `run` there.
    explain, plot, seen : callables, optional
        see the module's docstring.
    """
    if not rows or len(set(rows)) != len(rows):
        raise InvalidProblem(f"table {name}: rows must be a non-empty list of distinct names, got {list(rows)}")

    def add(compute: Compute) -> Compute:
        made = Table(name, paper, place, says, tuple(rows), compute, tuple(requires), explain, plot, seen)
        registry.register("table", name, made, compute.__module__, compute.__qualname__)
        return compute

    return add
