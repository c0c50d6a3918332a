"""Figures 2c and 2d of Appendix G: the ordinal error over the number of landmarks with Manhattan and the Gaussian."""

from __future__ import annotations

from collections.abc import Iterator

from simopt.claims.tables import Cell, Curve, Run, table
from simopt.theorems.kj.experiments import ordinal_curves
from simopt.theorems.kj.experiments.printed_ordinal import ORDINAL_SETS
from simopt.theorems.kj.experiments.printed_tables import GAUSSIAN, MANHATTAN


@table(
    "kj-figure2cd",
    place="Figures 2c and 2d, Appendix G",
    rows=tuple(ORDINAL_SETS),
    says="Mean absolute error over the number of landmarks for ORLand and KR with Manhattan (Figure 2c) and the Gaussian, sigma the mean "
    "distance of training points (Figure 2d); splits and choices are those of kj-table1b. No number is printed; the 1 in 'printed' refers "
    "to what Section 4 says of its own plots, as in kj-figure1b. Which sets the panels show is not in the text: all six are here. Quick "
    "effort: three of the five splits, 3000 samples of each set.",
    remark=ordinal_curves.why,
    plot=ordinal_curves.plot,
)
def figure2cd(row: str, run: Run) -> Iterator[Cell | Curve]:
    """One data set."""
    yield from ordinal_curves.row(row, (MANHATTAN, GAUSSIAN), run)
