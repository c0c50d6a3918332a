r"""How a paper's table or figure is written, to be recomputed beside the printed numbers by `simopt reproduce`.

A table is a function that computes one row at a time, and a header::

    from collections.abc import Iterator, Sequence

    from simopt.claims.tables import Cell, Hypothesis, Run, table

    def errors(row: str, run: Run, scaled: bool) -> Iterator[Cell]:
        data = run.dataset("concrete")                     # NotAvailable makes this row "not run", the others go on
        errors = [… for _ in range(run.count(3, 10))]      # counts by effort, randomness from run.rng(…)
        yield Cell.of(row, "KRR", errors, printed=0.165, printed_sd=0.01, printed_runs=10, unit="RMSE / max y")

    def otherwise(row: Sequence[Cell], run: Run) -> Iterator[Hypothesis]:
        yield Hypothesis("with standardised inputs", lambda: errors(run.row, run, scaled=True))

    @table(
        "ak-table1", place="Table 1", rows=("Concrete", "Yacht", "Synthetic"), requires=(),
        says="Test error of kernel ridge and M-RLSR. Choices of ours: …", suppose=otherwise,
    )
    def table1(row: str, run: Run) -> Iterator[Cell]:
        yield from errors(row, run, scaled=False)

Every cell gets a computed word: `inside` the printed mean ± 2 √(sd² + our sd²), or rounded to it, `outside`, or `not printed` where the
paper gives no number. That margin is one of single runs, and wide: beside it stand the standard errors of the two means by which they are
apart. A cell of a reading that the paper probably does not mean (`other`) is listed beside the cells as `other reading`. It is neither
inside nor outside, needs no explanation, and decides no exit status.

An outside cell is unexplained until a computation explains it. `suppose(cells of the row, run)` yields what the authors may have done
instead, in a fixed order, each with the cells of the row computed so. A computation explains a cell whose printed mean is then at most two
standard errors of the means away. It must also move the cell by more than noise moves the best of all variants on the list
(`Tried.explains`). One row was computed in one way: of all that was tried only the hypothesis that explains most of its cells counts, of
equals the first. `remark(cell, cells of its row)` is a sentence, made from the numbers, that stands beside an outside cell, or another
reading that misses the printed number, and explains nothing. Figures yield `Curve`s beside their cells. `plot(figure, reproduction)` draws
on a matplotlib Figure. `seen(rows)` is one sentence, made from the numbers, about the rows that are done: where the paper prints nothing it
is what the table says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

from simopt.claims.kinds import Effort
from simopt.claims.papers import Paper, of_package
from simopt.claims.trial import Trial
from simopt.core import registry
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction
    from simopt.data.datasets import Dataset

INSIDE, OUTSIDE, NOT_PRINTED, OTHER = "inside", "outside", "not printed", "other reading"
NEAR = 2.0  # standard errors of the means within which a variant has the printed number
LEVEL = 0.05  # chance that noise alone makes one variant or another differ


@dataclass(frozen=True)
class Cell:
    """One number of ours beside one printed number; standard deviations are those of single runs, as the papers report them.

    `runs` and `printed_runs` are the numbers of runs behind the two means, 0 where there are none or the paper gives none. `rounding` is
    half a unit of the last printed place. `other` says that the number belongs to another reading than the one that the table takes.
    """

    row: str
    column: str
    ours: float
    sd: float = 0.0
    printed: float | None = None
    printed_sd: float | None = None
    unit: str = ""
    runs: int = 0
    printed_runs: int = 0
    rounding: float = 0.0
    other: bool = False

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
        printed_runs: int = 0,
        rounding: float = 0.0,
        other: bool = False,
    ) -> Cell:
        """A cell from repeated measurements: their mean and standard deviation (n − 1; 0 for a single one)."""
        measured = np.asarray(list(values), dtype=float)
        if measured.size == 0:
            raise InvalidProblem(f"cell {row}, {column}: no measurements")
        sd = float(measured.std(ddof=1)) if measured.size > 1 else 0.0
        return cls(row, column, float(measured.mean()), sd, printed, printed_sd, unit, measured.size, printed_runs, rounding, other)

    @property
    def margin(self) -> float | None:
        """max(2 √(printed sd² + our sd²), rounding); None where nothing is printed. An sd that the paper does not give counts as 0."""
        return None if self.printed is None else max(2.0 * math.hypot(self.printed_sd or 0.0, self.sd), self.rounding)

    @property
    def met(self) -> bool:
        """Whether a number is printed and ours lies within the margin, whatever the reading."""
        return self.printed is not None and self.margin is not None and abs(self.ours - self.printed) <= self.margin

    @property
    def agreement(self) -> str:
        """`inside`, `outside`, `not printed` or, beside a printed number that the reading is not meant to give, `other reading`."""
        if self.printed is None:
            return NOT_PRINTED
        return OTHER if self.other else INSIDE if self.met else OUTSIDE

    @property
    def standard_errors(self) -> float | None:
        """(|ours − printed| − rounding)₊ / √(printed sd²/printed runs + our sd²/runs), as if runs were independent.

        None where one of the two means has no standard error: nothing printed, one run only, no deviation or number of runs in the paper.
        """
        if self.printed is None or self.printed_sd is None or self.printed_runs < 1 or self.runs < 2:
            return None
        error = math.hypot(self.printed_sd / math.sqrt(self.printed_runs), self.sd / math.sqrt(self.runs))
        return max(0.0, abs(self.ours - self.printed) - self.rounding) / error if error > 0 else None

    @property
    def has_printed_mean(self) -> bool:
        """Whether |ours − printed| − rounding ≤ 2 √(printed sd²/printed runs + our sd²/runs).

        These are standard errors of means. One run has the deviation of single runs, which the paper prints. A deviation or a number of
        runs that nobody knows counts as 0: less is met then, never more.
        """
        if self.printed is None:
            return False
        theirs = (self.printed_sd or 0.0) / math.sqrt(self.printed_runs) if self.printed_runs else 0.0
        ours = self.sd / math.sqrt(self.runs) if self.runs > 1 else (self.printed_sd or 0.0) * (self.runs == 1)
        return abs(self.ours - self.printed) - self.rounding <= NEAR * math.hypot(theirs, ours)


def _plain(cell: Cell, names: Iterable[str]) -> dict[str, Any]:
    return {"word" if name == "agreement" else name: getattr(cell, name) for name in names}  # the key of records


def noise_bound(first: Cell, second: Cell, variants: int) -> float:
    r"""How far two of our means are apart by noise alone, at most, with the chance 1 − 0.05 for the best of so many variants.

    The bound is t √(s₁²/n₁ + s₂²/n₂). Here t is the two-sided quantile of Student's distribution, with Welch's degrees of freedom, at the
    level 1 − (1 − 0.05)^{1/k} of Šidák, k = `variants`. If no variant changed anything, one of them would pass with a chance of at most 5 %
    (Šidák, Rectangular confidence regions, 1967; dependence between the variants only lowers it). The means are compared as if they were
    independent; on the same splits they are nearer. One run alone has the deviation of the other cell, and no degrees of freedom of its
    own; two such runs tell nothing, and the bound is ∞. A number without runs does not scatter.
    """
    known = [(cell.sd**2 / cell.runs, cell.runs - 1) for cell in (first, second) if cell.runs > 1]
    alone = sum(cell.runs == 1 for cell in (first, second))
    if alone and not known:
        return math.inf
    if alone:
        (part, degrees), runs = known[0], max(first.runs, second.runs)
        known = [(part * (1 + runs), degrees)]
    variance = sum(part for part, _ in known)
    if variance == 0.0:
        return 0.0
    freedom = variance**2 / sum(part**2 / degrees for part, degrees in known)
    each = -math.expm1(math.log1p(-LEVEL) / variants)
    return float(student.isf(each / 2.0, freedom)) * math.sqrt(variance)


@dataclass(frozen=True)
class Hypothesis:
    """Another protocol that the authors may have used, as the end of a sentence ("with standardised inputs"), and its cells."""

    says: str
    cells: Callable[[], Iterable[Cell]]


@dataclass(frozen=True)
class Tried:
    """A hypothesis that was computed; `missing` is the reason why it could not be, `variants` how many there are on its list."""

    says: str
    cells: tuple[Cell, ...] = ()
    missing: str | None = None
    variants: int = 1

    def of(self, cell: Cell) -> Cell | None:
        """The same column, computed so; None for one that the hypothesis leaves as it is."""
        return next((other for other in self.cells if other.column == cell.column), None)

    def explains(self, cell: Cell, row: Sequence[Cell]) -> bool:
        """Whether an outside cell has its printed mean so, is moved by more than noise; and no cell of the row that was inside leaves.

        Has it: within two standard errors of the means (`Cell.has_printed_mean`), not of single runs. Moved: by more than
        `noise_bound` for all the variants on the list, and nearer; the more are tried, the more one must change. None leaves: what
        explains one number of a row by contradicting another is not what was done.
        """
        found = self.of(cell)
        if found is None or found.printed is None or found.printed != cell.printed or cell.agreement != OUTSIDE:
            return False
        kept = all(other.agreement != INSIDE or (self.of(other) or other).agreement == INSIDE for other in row)
        nearer = abs(found.ours - found.printed) < abs(cell.ours - found.printed)
        moved = abs(found.ours - cell.ours) > noise_bound(cell, found, self.variants)
        return found.met and found.has_printed_mean and kept and nearer and moved

    def explained(self, row: Sequence[Cell]) -> tuple[Cell, ...]:
        """The outside cells of the row that it explains."""
        return tuple(cell for cell in row if self.explains(cell, row))

    def summary(self, cell: Cell) -> str:
        """Its value of a cell, in a few words; "" where it leaves the cell as it is."""
        if self.missing is not None:
            return f"{self.says} not run ({self.missing})"
        found = self.of(cell)
        if found is None:
            return ""
        away = "" if found.standard_errors is None else f" ({found.standard_errors:.3g} s.e.)"
        return f"{self.says} {found.ours:.3g}" + (f" ± {found.sd:.1g}" if found.sd > 0 else "") + away

    def describe(self) -> dict[str, Any]:
        """Plain data."""
        names = ("column", "ours", "sd", "runs", "printed", "standard_errors", "agreement")
        cells = [_plain(cell, names) for cell in self.cells]
        return {"says": self.says, "cells": cells, "missing": self.missing, "variants": self.variants}


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a figure."""

    row: str
    label: str
    x: Array
    y: Array


Remark = Callable[[Cell, Sequence[Cell]], str]
Suppose = Callable[[Sequence[Cell], "Run"], Iterable[Hypothesis]]
Compute = Callable[[str, "Run"], Iterable["Cell | Curve"]]
Plot = Callable[["Figure", "Reproduction"], None]
Seen = Callable[[Sequence["TableRow"]], str]


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
    remark: Remark | None = None
    plot: Plot | None = None
    seen: Seen | None = None
    suppose: Suppose | None = None

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
class TableRow:
    """One finished row; `not_run` is the reason why it could not be computed."""

    name: str
    cells: tuple[Cell, ...] = ()
    curves: tuple[Curve, ...] = ()
    remarks: tuple[str, ...] = ()  # one for each cell, empty for those that have the printed number, or none
    seconds: float = 0.0
    not_run: str | None = None
    tried: tuple[Tried, ...] = ()

    @cached_property
    def likeliest(self) -> Tried | None:
        """The hypothesis that explains most cells, of equals the first; None if none explains any."""
        best = max(self.tried, key=lambda one: len(one.explained(self.cells)), default=None)
        return best if best is not None and best.explained(self.cells) else None

    @property
    def unexplained(self) -> tuple[Cell, ...]:
        """Outside cells that the likeliest hypothesis leaves outside."""
        return tuple(cell for cell in self.cells if cell.agreement == OUTSIDE and self.explanation(cell) is None)

    def explanation(self, cell: Cell) -> Tried | None:
        """The explanation of an outside cell: the likeliest hypothesis, or nothing."""
        best = self.likeliest
        return best if best is not None and best.explains(cell, self.cells) else None

    def why(self, cell: Cell, remark: str = "") -> str:
        """For an outside cell: what explains it, or that nothing does, with all that was tried, and the remark; for others the remark."""
        if cell.agreement != OUTSIDE:
            return remark
        reason = self.explanation(cell)
        rest = "; ".join(text for one in self.tried if one is not reason and (text := one.summary(cell)))
        if reason is None:
            start = "UNEXPLAINED" + (f", tried: {rest}" if rest else "")
        else:
            start = f"explained: {reason.summary(cell)} beside the printed {cell.printed:.3g}" + (f" (tried: {rest})" if rest else "")
        return f"{start}. {remark}".strip()

    def describe(self) -> dict[str, Any]:
        """Plain data."""
        names = ("column", "ours", "sd", "runs", "printed", "printed_sd", "printed_runs", "standard_errors", "unit", "margin", "agreement")
        cells = []
        for cell, remark in zip(self.cells, self.remarks, strict=True):
            reason = self.explanation(cell)
            own = {"explained_by": reason and reason.says, "why": self.why(cell, remark)}
            cells.append({**_plain(cell, names), **own})
        curves = [{"label": curve.label, "x": curve.x, "y": curve.y} for curve in self.curves]
        tried = [one.describe() for one in self.tried]
        return {"row": self.name, "cells": cells, "curves": curves, "tried": tried, "seconds": self.seconds, "not_run": self.not_run}


class Run(Trial):
    """The services for a row: seeded randomness, counts by effort, data sets and optional modules."""

    def __init__(self, table: str, row: str, seed: int, effort: Effort) -> None:
        super().__init__(f"{table}|{row}", seed, 0, effort, {})
        self.row = row

    def dataset(self, name: str, **options: Any) -> Dataset:
        """Data set by name, as for a claim: never downloaded; NotAvailable, which makes the row "not run", says what to do."""
        found: Dataset = super().dataset(name, **options)
        return found

    def stream(self, *labels: object) -> np.random.Generator:
        """A generator for one split or repetition, the same whatever else the row draws."""
        return Trial("|".join(map(str, (self.claim, *labels))), self.seed, 0, self.effort, {}).rng


def table(
    name: str,
    *,
    place: str,
    says: str,
    rows: Sequence[str],
    paper: Paper | None = None,
    requires: Sequence[str] = (),
    remark: Remark | None = None,
    plot: Plot | None = None,
    seen: Seen | None = None,
    suppose: Suppose | None = None,
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
    paper : Paper, optional
        the one in whose folder `simopt.theorems.<key>` the function stands, unless another is named.
    requires : sequence of str
        "dataset:NAME" or module names without which no row can be computed. A row asks `run` for what only it needs.
    remark, plot, seen, suppose : callables, optional
        see the module's docstring.
    """
    if not rows or len(set(rows)) != len(rows):
        raise InvalidProblem(f"table {name}: rows must be a non-empty list of distinct names, got {list(rows)}")

    def add(compute: Compute) -> Compute:
        """Register the function's table, by default for the paper of its folder."""
        own = paper or of_package(compute.__module__)
        if own is None:
            raise InvalidProblem(
                f"table {name} in {compute.__module__}: paper= is missing; only tables in the folders of our papers go without"
            )
        made = Table(name, own, place, says, tuple(rows), compute, tuple(requires), remark, plot, seen, suppose)
        registry.register("table", name, made, compute.__module__, compute.__qualname__)
        return compute

    return add
