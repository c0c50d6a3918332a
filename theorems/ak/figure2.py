"""Figure 2 of Audiffren and Kadri: error curves of KRR, of modified KRR and of M-RLSR with m = 1.5."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from simopt.claims.tables import Cell, Curve, Run, table
from simopt.theorems.ak.protocol import RIDGE, Split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

DATASETS = {"Yacht": "yacht", "Concrete": "concrete"}
POWER = 1.5
GRID = np.logspace(-14, 4, 91)


def plot(figure: Figure, done: Reproduction) -> None:
    """Three curves a panel over λ."""
    rows = [row for row in done.rows if row.curves]
    for axes, row in zip(np.atleast_1d(figure.subplots(1, max(1, len(rows)))), rows, strict=False):
        for curve in row.curves:
            axes.loglog(curve.x, curve.y, label=curve.label)
        axes.set_title(row.name)
        axes.set_xlabel("λ")
        axes.set_ylabel("test RMSE / max y")
        axes.legend(frameon=False)


@table(
    "ak-figure2",
    place="Figure 2, Appendix A",
    rows=tuple(DATASETS),
    says="Test error over λ of KRR, modified KRR (λ/|Z|) and M-RLSR (m = 1.5): one curve under three changes of the "
    "variable, so the minima are equal. The caption is cut where it names the second set ('Yatch hydrodynamic (left) and (right)'); we "
    "take Concrete. No numbers are printed. Ours: one random 70/30 split, data as they are, λ from 1e-14 to 1e4.",
    plot=plot,
)
def figure2(row: str, run: Run) -> Iterator[Cell | Curve]:
    """The curves, and the minimum of each with the place where it is taken."""
    source = run.dataset(DATASETS[row])
    split = Split.of(source.features, source.targets, run.stream("split", 0))
    n = split.train.size
    learners = {
        "KRR": (RIDGE, GRID),
        "modified KRR": (RIDGE, GRID / n),
        f"M-RLSR, m = {POWER}": (np.array([POWER]), GRID),
    }
    for label, (power, values) in learners.items():
        errors = np.sqrt(split.path.fits(power, values).mean_square[0]) / split.top
        best = int(np.argmin(errors))
        yield Curve(row, label, GRID, errors)
        yield Cell(row, f"{label}: least error on the grid", float(errors[best]))
        yield Cell(row, f"{label}: log10 λ there", math.log10(GRID[best]))
    yield Cell(row, "least error on the whole path", split.floor())
