"""Tables 1a and 1b as pictures: ours beside the printed values, and the error of a constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simopt.theorems.kj.experiments.printed_tables import KR, MANHATTAN, SIGMOID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

APART = 0.12  # of the distance between two sets


@dataclass(frozen=True)
class BesidePrinted:
    """One panel a similarity, errors on a logarithmic axis: dots are ours, crosses are printed, bars two deviations (cut off at 0).

    `column` names the cell of a similarity and a method, `constant` that of the constant.
    """

    sets: tuple[str, ...]
    method: str
    column: str
    constant: str
    unit: str

    def __call__(self, figure: Figure, done: Reproduction) -> None:
        """Draw what is done."""
        colours = {KR: "tab:blue", self.method: "tab:red"}
        rows = [row for row in done.rows if row.name in self.sets and row.cells]
        figure.set_size_inches(10.0, 4.0)
        panels = figure.subplots(1, 2, sharey=True)
        for panel, similarity in zip(panels, (SIGMOID, MANHATTAN), strict=True):
            for place, row in enumerate(rows):
                cells = {cell.column: cell for cell in row.cells}
                for shift, method in ((-1, KR), (1, self.method)):
                    cell = cells[self.column.format(similarity, method)]
                    for side, mark, value, sd in ((-1, "o", cell.ours, cell.sd), (1, "x", cell.printed, cell.printed_sd)):
                        if value is not None:
                            at, spread = place + APART * (2 * shift + 0.7 * side), 2.0 * (sd or 0.0)
                            low = min(spread, 0.99 * value)  # a logarithmic axis has no 0
                            panel.errorbar(at, value, yerr=[[low], [spread]], fmt=mark, ms=5, lw=1, color=colours[method])
                panel.hlines(cells[self.constant].ours, place - 0.4, place + 0.4, colors="grey", linestyles="dotted")
            panel.set(title=similarity, yscale="log")
            panel.set_xticks(np.arange(len(rows)), [row.name for row in rows], rotation=20)
        panels[0].set_ylabel(self.unit)
        for method, colour in colours.items():
            for mark, whose in (("o", "ours"), ("x", "printed")):
                panels[0].plot([], [], mark, color=colour, label=f"{method}, {whose}")
        panels[0].plot([], [], ":", color="grey", label=self.constant)
        figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize="small")
