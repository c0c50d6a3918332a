"""Figures 2a and 2b of Appendix G: the error over the number of landmarks with the Gaussian and the Euclidean similarity."""

from __future__ import annotations

from collections.abc import Iterator

from simopt.claims.tables import Cell, Curve, Run, table
from simopt.theorems.kj.experiments import landmark_curves
from simopt.theorems.kj.experiments.printed_tables import EUCLIDEAN, GAUSSIAN, SETS


@table(
    "kj-figure2ab",
    place="Figures 2a and 2b, Appendix G",
    rows=tuple(SETS),
    says="Mean squared error over the number of landmarks for RegLand, RegLand-Sp and KR with the Gaussian, sigma the mean distance of "
    "training points (Figure 2a), and -|x - y|^2 (Figure 2b); splits, choices and unit are those of kj-table1a. No number is printed; the "
    "1 in 'printed' refers to what Section 4 says of its own plots: less error than KR at 5, 10, 20, 50 and 100 landmarks, RegLand-Sp less "
    "than RegLand. Note that -|x - l|^2 is an affine function of x and |x|^2: whatever the number of landmarks, it has d + 2 independent "
    "features at most. Quick effort: 3000 samples of each set.",
    remark=landmark_curves.why,
    plot=landmark_curves.plot,
)
def figure2ab(row: str, run: Run) -> Iterator[Cell | Curve]:
    """One data set."""
    yield from landmark_curves.row(row, (GAUSSIAN, EUCLIDEAN), run)
