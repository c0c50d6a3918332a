"""Table 1a as a picture: ours beside the printed values, and the error of a constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simopt.theorems.kj.printed_tables import KR, LAND_SP, MANHATTAN, SETS, SIGMOID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.reproduce import Reproduction

CONSTANT = "constant"
COLOURS = {KR: "tab:blue", LAND_SP: "tab:red"}
APART = 0.12  # of the distance between two sets


def plot(figure: Figure, done: Reproduction) -> None:
    """One panel a similarity, errors on a logarithmic axis: dots are ours, crosses are printed, bars two deviations (cut off at 0)."""
    rows = [row for row in done.rows if row.name in SETS and row.cells]
    figure.set_size_inches(10.0, 4.0)
    panels = figure.subplots(1, 2, sharey=True)
    for panel, similarity in zip(panels, (SIGMOID, MANHATTAN), strict=True):
        for place, row in enumerate(rows):
            cells = {cell.column: cell for cell in row.cells}
            for shift, method in ((-1, KR), (1, LAND_SP)):
                cell = cells[f"{similarity}, {method}"]
                for side, mark, value, sd in ((-1, "o", cell.ours, cell.sd), (1, "x", cell.printed, cell.printed_sd)):
                    if value is not None:
                        at, spread = place + APART * (2 * shift + 0.7 * side), 2.0 * (sd or 0.0)
                        low = min(spread, 0.99 * value)  # a logarithmic axis has no 0
                        panel.errorbar(at, value, yerr=[[low], [spread]], fmt=mark, ms=5, lw=1, color=COLOURS[method])
            panel.hlines(cells[CONSTANT].ours, place - 0.4, place + 0.4, colors="grey", linestyles="dotted")
        panel.set(title=similarity, yscale="log")
        panel.set_xticks(np.arange(len(rows)), [row.name for row in rows], rotation=20)
    panels[0].set_ylabel("MSE, y / max |y|")
    for method, colour in COLOURS.items():
        for mark, whose in (("o", "ours"), ("x", "printed")):
            panels[0].plot([], [], mark, color=colour, label=f"{method}, {whose}")
    panels[0].plot([], [], ":", color="grey", label=CONSTANT)
    panels[0].legend(frameon=False, fontsize="small")
