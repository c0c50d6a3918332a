"""`simopt reproduce TABLE`: a paper's table or figure recomputed, row by row, beside the printed numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simopt.cli import completion
from simopt.cli.console import Effort, Json, Output, Steps, check_output, console, emit, number, reserved, table
from simopt.cli.streams import say

if TYPE_CHECKING:
    from simopt.claims.reproduction import Reproduction
    from simopt.claims.tables import Cell, TableRow

INTERRUPTED = 130
MOST_BESIDE = 20  # numbers in a paragraph
STYLES = {"inside": "green", "outside": "yellow", "not printed": "dim", "other reading": "dim"}


def reproduce(
    name: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="Name of the table or figure: see `simopt list tables`.", autocompletion=completion.tables),
    ],
    effort: Effort = "quick",
    rows: Annotated[list[str] | None, typer.Option("--rows", metavar="ROW[,ROW]", help="Only rows with these (parts of) labels.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every number a line, also what the paper does not print.")] = False,
    as_json: Json = False,
    output: Output = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="DIR", help="Draw the figure into this folder.")] = None,
) -> None:
    """Recompute a table or figure beside the printed numbers.

    Numbers that the paper does not print (baselines, say) are listed below the table.
    Each cell is inside or outside the printed mean ± 2 √(sd² + our sd²), or rounds to it; s.e. are the standard errors of the two means
    between them. A cell outside is explained where something that the paper leaves open, done otherwise, moves it to within two s.e. of the
    printed mean, and by more than noise moves the best of all variants tried. Other readings are listed, and are no cells. Nothing is
    downloaded. Exit status 0: every cell outside is explained (rows whose data are missing are not run, and fail nothing); 1: not. Status
    2: bad input, or a file could not be written; 130: interrupted, what was done is shown.
    """
    from simopt.claims import reproduction as program
    from simopt.claims.kinds import Effort as Efforts

    check_output(output)
    with reserved(as_json):
        chosen = program.find(name)
    if plot is not None:
        program.prepare(chosen, plot)
    asked = program.matching(chosen, rows) if rows else None
    done = program.Reproduction(chosen, Efforts(effort), 0, requested=asked)
    stopped = False
    try:
        with reserved(as_json), Steps(chosen.name, len(asked or chosen.rows)) as steps:
            for row in program.compute(chosen, done.effort, done.seed, asked):
                done.rows.append(row)
                steps.step(f"{row.name}: {(row.not_run and 'not run') or _counts_text(row)} ({row.seconds:.1f} s)")
    except KeyboardInterrupt:
        stopped = True

    def picture() -> None:
        if plot is not None and done.rows:
            drawn = f"picture: {program.draw(done, plot)}"
            say(drawn) if as_json else console().print(drawn, soft_wrap=True)

    emit(done.describe(), as_json, output, lambda: _show(done, stopped, everything), picture)
    raise typer.Exit(INTERRUPTED if stopped else 1 if done.unexplained else 0)


def _counts_text(row: TableRow) -> str:
    count = {word: sum(cell.agreement == word for cell in row.cells) for word in STYLES}
    return ", ".join(f"{many} {word}" for word, many in count.items() if many) or f"{len(row.curves)} curves"


def _show(done: Reproduction, stopped: bool, everything: bool) -> None:
    from rich.text import Text

    out = console()
    out.print(f"{done.table.name}: {done.table.paper}, {done.table.place}")
    out.print(done.table.says)
    cells = [cell for row in done.rows for cell in row.cells]
    printed = [cell for cell in cells if cell.printed is not None]
    headings = ("row", "column", "ours", "sd", "printed", "sd ", "unit", "s.e.", "")
    listed = cells if everything or not printed else printed
    shown: list[list[str | Text]] = [[*_line(cell), Text(cell.agreement, style=STYLES[cell.agreement])] for cell in listed]
    out.print(table(headings, shown, right=("ours", "sd", "printed", "sd ", "s.e.")))
    if len(listed) < len(cells):
        for row in done.rows:
            _show_beside(row)
    for row in done.rows:
        for cell, remark in zip(row.cells, row.remarks, strict=True):
            if why := row.why(cell, remark):
                out.print(Text(f"{cell.row}, {cell.column}: {why}"))
    if done.seen:
        out.print(Text(done.seen))
    for row in done.rows:
        if row.not_run is not None:
            out.print(f"{row.name}: NOT RUN, {row.not_run}")
    beside = {"inside": (len(done.far), "beyond 2 s.e."), "outside": (len(done.unexplained), "UNEXPLAINED"), "not printed": (0, "")}
    if done.count("other reading"):
        beside["other reading"] = 0, ""
    counts = ", ".join(f"{done.count(word)} {word}" + (f" ({many} {what})" if many else "") for word, (many, what) in beside.items())
    idle = sum(row.not_run is not None for row in done.rows)
    rows = f"{len(done.rows)} of {len(done.table.rows)} rows" + (f" ({idle} NOT RUN)" if idle else "")
    out.print(f"{rows}, {done.effort} effort: {counts}" + (" (interrupted)" if stopped else ""))


def _show_beside(row: TableRow) -> None:
    """Numbers that the paper does not print, in one paragraph a row; very many are only counted."""
    from rich.text import Text

    cells = [cell for cell in row.cells if cell.printed is None]
    if len(cells) > MOST_BESIDE:
        told = f"{len(cells)} numbers (--all lists them)"
    else:
        told = "; ".join(f"{cell.column} {number(cell.ours, '.3g')}" + (f" ± {number(cell.sd, '.1g')}" * (cell.sd > 0)) for cell in cells)
    if cells:
        console().print(Text(f"{row.name}, not printed: {told}", style=STYLES["not printed"]))


def _line(cell: Cell) -> list[str]:
    return [
        cell.row,
        cell.column,
        number(cell.ours, ".4g"),
        number(cell.sd, ".2g"),
        number(cell.printed, ".4g"),
        number(cell.printed_sd, ".4g"),  # as the paper has it
        cell.unit,
        number(cell.standard_errors, ".1f"),
    ]
