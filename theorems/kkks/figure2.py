"""Figure 2 of Section 6.2: the transfer functions of L-Isotron and of Isotron on concrete and communities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from simopt.claims.tables import Cell, Curve, Run, table
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.monotone_function import MonotoneFunction
from simopt.estimators.index_models.isotron import l_isotron
from simopt.theorems.kkks.figure1 import draw_functions, normalised
from simopt.theorems.kkks.printed_tables import SOURCES
from simopt.theorems.kkks.protocol import FOLDS, ROUNDS, Scaling, by_hold_out, folds
from simopt.theorems.kkks.synthetic import LEARNERS
from simopt.theorems.kkks.table1 import split_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

STEEP = 0.05  # share of the domain
STEPS = "Isotron: constant on most of its domain, most of its rise in a twentieth (1 = true)"
SMOOTH = "L-Isotron: neither (1 = true)"
FLAT, RISE, SLOPE, CHOSEN = (
    "share of the domain where u is constant",
    "share of its rise in the steepest twentieth",
    "largest slope",
    "rounds",
)


def steep_rise(u: MonotoneFunction, fraction: float) -> float:
    """The part of u's rise between its first and last node that happens on the steepest `fraction` of this interval; 0 for a constant u."""
    rises, widths = np.diff(u.values), np.diff(u.nodes)
    if rises.sum() <= 0:
        return 0.0
    order = np.argsort(-rises / widths, kind="stable")
    covered, climbed = (np.concatenate([[0.0], np.cumsum(part[order]) / part.sum()]) for part in (widths, rises))
    return float(np.interp(fraction, covered, climbed))


def flat_fraction(u: MonotoneFunction) -> float:
    """The part of the interval between the first and the last node on which u is constant; 1 for a single node."""
    rises, widths = np.diff(u.values), np.diff(u.nodes)
    return float(widths[rises == 0].sum() / widths.sum()) if widths.size else 1.0


def transfers(X: Array, y: Array, learners: Mapping[str, float] = LEARNERS) -> dict[str, tuple[MonotoneFunction, int]]:
    """u of both learners with the round chosen as in the tables; X scaled, y in [0, 1]."""
    found = {}
    for name, bound in learners.items():
        fit = by_hold_out(lambda A, b, bound=bound, **options: l_isotron(A, b, bound, **options), X, y, ROUNDS["L-Iso"])
        if not isinstance(fit.model.transfer, MonotoneFunction):
            raise InvalidProblem(f"{name}: its transfer function was not fitted")
        found[name] = fit.model.transfer, fit.chosen
    return found


def why(cell: Cell, row: Sequence[Cell]) -> str:
    """The two numbers behind a statement that fails."""
    name = cell.column.split(":")[0]
    found = {other.column: other for other in row}
    flat, rise = found[f"{name}: {FLAT}"], found[f"{name}: {RISE}"]
    return (
        f"{name}'s u is constant on {flat.ours:.2f} ± {flat.sd:.2f} of its domain, and {rise.ours:.2f} ± {rise.sd:.2f} of its rise is "
        "in the steepest twentieth."
    )


def plot(figure: Figure, done: Reproduction) -> None:
    """One panel a data set."""
    rows = [row for row in done.rows if row.curves]
    figure.set_size_inches(10.0, 4.2)
    for axes, row in zip(np.atleast_1d(figure.subplots(1, max(1, len(rows)))), rows, strict=False):
        draw_functions(axes, row.curves)
        axes.set_title(row.name)


@table(
    "kkks-figure2",
    place="Figure 2, Section 6.2",
    rows=("concrete", "communities"),
    says="u as found by L-Isotron (blue) and Isotron (red) on the training part of the first fold. No number is printed; stated is that "
    "Isotron's u is piecewise constant and L-Isotron's smoother, to which the 1 in 'printed' refers. Ours: the numbers that tell how far "
    "this is so, over the training parts of the folds, with 'most' for more than half; slopes in the units of the algorithm, whose "
    "features, rounds and L = 1 are those of kkks-table1. Between two samples u is interpolated, so a jump is a steep piece. Quick "
    "effort: four of the ten folds.",
    remark=why,
    plot=plot,
)
def figure2(row: str, run: Run) -> Iterator[Cell | Curve]:
    """The functions of the first fold, and what is measured on those of all."""
    source = SOURCES[row]
    common = split_run(source.dataset, run.seed, run.effort)
    data = common.dataset(source.dataset)
    X, y = source.features(data), (data.targets - data.targets.min()) / np.ptp(data.targets)
    measures: dict[str, list[float]] = {}
    for k, (train, _) in enumerate(folds(len(y), common.stream("folds"))[: run.count(4, FOLDS)]):
        for name, (u, chosen) in transfers(Scaling.of(X[train])(X[train]), y[train]).items():
            if k == 0:
                yield Curve(row, name, *normalised(u))
            values = {FLAT: flat_fraction(u), RISE: steep_rise(u, STEEP), SLOPE: u.lipschitz, CHOSEN: chosen}
            for what, value in values.items():
                measures.setdefault(f"{name}: {what}", []).append(value)
    stepped, smooth = ([most(measures, name, k) for k in range(run.count(4, FOLDS))] for name in ("Isotron", "L-Isotron"))
    yield Cell.of(row, STEPS, [all(both) for both in stepped], printed=1.0)
    yield Cell.of(row, SMOOTH, [not any(both) for both in smooth], printed=1.0)
    for column, numbers in measures.items():
        yield Cell.of(row, column, numbers)


def most(measures: dict[str, list[float]], name: str, k: int) -> tuple[bool, bool]:
    """Whether u is constant on more than half of its domain, and whether more than half of its rise is steep."""
    return measures[f"{name}: {FLAT}"][k] > 0.5, measures[f"{name}: {RISE}"][k] > 0.5
