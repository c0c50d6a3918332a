"""NDCG of rankers on OHSUMED, query by query: landmarked ones against a linear one, a single feature, and a random order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

import simopt.claims as sc
from simopt.claims.tables import Cell, Curve, Run, TableRow, table
from simopt.theorems.kj.experiments.ohsumed import CUTS, DATA, FEATURE, LANDMARKED, LINEAR, METHODS, RANDOM, measured
from simopt.theorems.kj.experiments.printed_tables import GAUSSIAN, MANHATTAN, SIGMOID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

TOGETHER = "less linear"
PAIRED = "sd: standard error"
COLOURS = {SIGMOID: "tab:blue", MANHATTAN: "tab:green", GAUSSIAN: "tab:red", LINEAR: "black", FEATURE: "tab:orange", RANDOM: "grey"}
SEEN_AT = 10  # k of the sentence


def difference(method: str, k: int, seed: int, effort: sc.Effort) -> Cell:
    """The mean over queries of NDCG@k less that of the linear ranker, with its standard error."""
    ours, linear = (np.concatenate(measured(name, seed, effort))[:, CUTS.index(k)] for name in (method, LINEAR))
    change = ours - linear
    error = float(np.std(change, ddof=1)) / math.sqrt(len(change))
    return Cell(TOGETHER, f"{method}, NDCG@{k}", float(np.mean(change)), error, unit=PAIRED)


def seen(rows: Sequence[TableRow]) -> str:
    """The differences to the linear ranker, in multiples of their standard errors; the paper prints no ranking numbers."""
    found = {(cell.row, cell.column): cell for row in rows for cell in row.cells}
    start = "The paper prints no numbers for ranking."
    levels = {method: found[method, f"NDCG@{SEEN_AT}"].ours for method in METHODS if (method, f"NDCG@{SEEN_AT}") in found}
    changes = [cell for (row, column), cell in found.items() if row == TOGETHER and column.endswith(f"@{SEEN_AT}")]
    if not changes:
        return start
    best = max(changes, key=lambda cell: cell.ours)
    above, below = ([cell for cell in changes if sign * cell.ours > 2.0 * cell.sd] for sign in (1.0, -1.0))
    name = best.column.rsplit(", ", 1)[0]
    counted = f"{len(above)} are above the linear one by more than two standard errors over queries, and {len(below)} below"
    if not above and not below:
        counted = "none differs from the linear one by more than two standard errors over queries"
    told = (
        f"{start} In NDCG@{SEEN_AT}, of {len(changes)} landmarked rankers {counted}; the best, {name}, differs from it by "
        f"{best.ours:+.4f} ± {best.sd:.4f}"
    )
    beside = ", ".join(f"{method} {levels[method]:.3f}" for method in (LINEAR, FEATURE, RANDOM) if method in levels)
    return f"{told} ({beside})." if beside else f"{told}."


def plot(figure: Figure, done: Reproduction) -> None:
    """NDCG@k over k, a line for each ranker; more landmarks are drawn thicker."""
    figure.set_size_inches(7.0, 4.5)
    axes = figure.subplots()
    counts = sorted({count for _, count in LANDMARKED.values()})
    for curve in (curve for row in done.rows for curve in row.curves):
        kind, count = LANDMARKED.get(curve.label, (curve.label, counts[-1]))
        style = "-" if curve.label in LANDMARKED else "--"
        axes.plot(curve.x, curve.y, style, color=COLOURS[kind], linewidth=1.0 + counts.index(count), label=curve.label)
    axes.set(xlabel="k", ylabel="NDCG@k", title="OHSUMED, mean over five folds")
    axes.set_xticks(list(CUTS))
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


@table(
    "kj-ohsumed",
    place="Appendix F, tried on OHSUMED",
    rows=(*METHODS, TOGETHER),
    says="NDCG@1 to NDCG@10 of the landmarked ranker of Appendix F, mean and deviation over the five folds of LETOR 3.0. The paper "
    "proposes the ranker and prints no numbers. Ours: three subsets of queries for training, one for choosing the penalty among nine (by "
    "NDCG@10), one for testing; features standardised; landmarks drawn at random from the training documents (full effort: the mean of "
    "five draws). Beside it the linear ranker, the same fit to the 45 features; the single feature, upwards or downwards, that is best on "
    "training and validation queries; the expectation of a random order. Ties are averaged. One query has no relevant document, and no "
    "NDCG; it is left out. The last row is the difference to the linear ranker query by query, with its standard error over the "
    "queries in place of a deviation.",
    requires=(f"dataset:{DATA}",),
    plot=plot,
    seen=seen,
)
def ohsumed(row: str, run: Run) -> Iterator[Cell | Curve]:
    """One ranker, or the differences."""
    if row == TOGETHER:
        yield from (difference(method, k, run.seed, run.effort) for method in LANDMARKED for k in (1, 5, 10))
        return
    means = np.array([fold.mean(axis=0) for fold in measured(row, run.seed, run.effort)])
    for j, k in enumerate(CUTS):
        yield Cell.of(row, f"NDCG@{k}", means[:, j])
    yield Curve(row, row, np.array(CUTS, dtype=float), means.mean(axis=0))
