"""Table 2 of Section 6.2: the other methods less L-Isotron, fold by fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simopt.claims import KAKADE_KALAI_KANADE_SHAMIR
from simopt.tables import Cell, Run, table
from simopt.theorems.kkks.printed_tables import OTHERS, SOURCES, TABLE_1, TABLE_2
from simopt.theorems.kkks.protocol import METHODS
from simopt.theorems.kkks.table1 import UNIT, farthest, measured

ERROR = "L-Iso, its error"


def why(cell: Cell, row: Sequence[Cell]) -> str:
    """One sentence, from the numbers, for a cell outside the printed range."""
    ours = next(other.ours for other in row if other.column == ERROR)
    printed, levels = cell.printed or 0.0, dict(zip(METHODS, TABLE_1[SOURCES[cell.row].printed], strict=True))
    side = "better" if cell.ours < printed else "worse"
    choices = "the descent of SIM is" if cell.column == "SIM" else "the rounds and the scale of the features are"
    return (
        f"{cell.column} does {side} against L-Isotron than printed, {cell.ours:+.3f} for {printed:+.2f}: L-Isotron has {ours:.2f} "
        f"(Table 1: {levels['L-Iso'][0]:.2f}), {cell.column} {ours + cell.ours:.2f} (Table 1: {levels[cell.column][0]:.2f}); "
        f"{choices} ours."
    )


@table(
    "kkks-table2",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Table 2, Section 6.2",
    rows=tuple(SOURCES),
    says="Mean squared error over the variance of y less that of L-Isotron on the same fold, mean and deviation over the folds; negative "
    "values are better than L-Isotron. The folds, choices and errors are those of kkks-table1, and so is the last column: the largest "
    "distance from a printed mean in standard errors of both means.",
    explain=why,
)
def table2(row: str, run: Run) -> Iterator[Cell]:
    """One data set."""
    errors = measured(row, run.seed, run.effort)
    pairs = zip(OTHERS, TABLE_2[SOURCES[row].printed], strict=True)
    cells = [Cell.of(row, name, errors[name] - errors["L-Iso"], printed=mean, printed_sd=sd, unit=UNIT) for name, (mean, sd) in pairs]
    yield from cells
    yield Cell.of(row, ERROR, errors["L-Iso"], unit=UNIT)
    yield farthest(cells, len(errors["L-Iso"]))
