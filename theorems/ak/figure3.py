"""Figure 3 of Audiffren and Kadri: test error of M-RLSR with m ≤ 1 and of KRR over the share of the training data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import simopt.claims as sc
from simopt.claims.tables import Cell, Curve, Run, table
from simopt.core.arrays import Array
from simopt.theorems.ak.protocol import POWERS, SYNTHETIC, Split, data, tuned_power, tuned_ridge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

SMALL = 10  # the ten powers 0.1, …, 1.0
MOST = 600  # samples at quick effort


@dataclass(frozen=True)
class Figure3Panel:
    """One panel: the data set and the printed m."""

    dataset: str
    power: float


SETTINGS = {
    "Concrete": Figure3Panel("concrete", 0.1),
    "Yacht": Figure3Panel("yacht", 0.5),
    "Housing": Figure3Panel("boston_housing", 0.4),
    "Synthetic": Figure3Panel(SYNTHETIC, 0.1),
}


@dataclass(frozen=True, eq=False)
class Learning:
    """Test errors over the fractions (columns) of one run.

    `m_rlsr` has λ fixed at its cross-validated value. `once` is KRR with one λ₂ = Φ(λ, Z), of the whole training part. `again` is KRR with
    Φ computed anew for each fraction. `tuned` is KRR with its own ten-fold cross-validation at each fraction.
    """

    m_rlsr: Array
    once: Array
    again: Array
    tuned: Array


def learn(split: Split, fractions: Array, power: float, *, tuned: bool = True) -> Learning:
    """One run; `tuned` asks for KRR with its own cross-validation, which costs most (NaN without)."""
    _, lam, ridge = tuned_power(split, power)
    rows = []
    for fraction in fractions:
        part = split.part(float(fraction))
        error, own = part.tested(power, lam)
        rows.append((error, ridge_error(part, ridge), ridge_error(part, own), tuned_ridge(part)[0] if tuned else math.nan))
    columns = np.array(rows).T
    return Learning(*columns)


def ridge_error(part: Split, log_ridge: float) -> float:
    """Test error of KRR with this log λ₂; f = 0 for λ₂ = ∞. Below 1e-300, λ₂ would underflow, and the path is constant there."""
    if log_ridge == math.inf:
        return math.sqrt(float(np.mean(np.square(part.targets[part.test])))) / part.top
    return part.tested(2.0, math.exp(max(log_ridge, -690.0)))[0]


def runs(row: str, trial: sc.Trial, count: int, limit: int | None) -> Iterator[Split]:
    """Random 70/30 splits of a panel's data."""
    for _ in range(count):
        source = data(SETTINGS[row].dataset, trial.rng)
        yield Split.of(source.features, source.targets, trial.rng, limit=limit)


def why(cell: Cell, row: Sequence[Cell]) -> str:
    """The printed m is the only number."""
    own, ridge = row[1], row[4]
    return (
        f"The m ≤ 1 with the least cross-validation error at λ = 1 is {cell.ours:.2g} in the mean; the curves use the printed m, and "
        f"with it M-RLSR has {own.ours:.3g} in the mean over the shares, KRR with its own cross-validation {ridge.ours:.3g}."
    )


def plot(figure: Figure, done: Reproduction) -> None:
    """Four panels."""
    rows = [row for row in done.rows if row.curves]
    for axes, row in zip(figure.subplots(2, 2).ravel(), rows, strict=False):
        for curve, style in zip(row.curves, ("-", "--", ":", "-."), strict=False):
            axes.semilogy(100 * curve.x, curve.y, style, label=curve.label)
        axes.set_title(row.name, fontsize=9)
        axes.tick_params(labelsize=7, which="both")
    figure.supxlabel("share of the training data (%)", fontsize=9)
    figure.supylabel("test RMSE / max y", fontsize=9)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, [label.split(", m")[0] for label in labels], loc="outside upper center", ncols=4, fontsize=8, frameon=False)


@table(
    "ak-figure3",
    place="Figure 3, Appendix E.1",
    rows=tuple(SETTINGS),
    says="Mean test error over the share of the training data of M-RLSR, m ≤ 1, and of KRR with λ₂ from Proposition 5.1 "
    "(which is stated for m > 1). With λ₂ computed anew on each share, the two learners are the same function. Ours: M-RLSR has the "
    "printed m and, at every share, the λ chosen by ten-fold cross-validation on the whole training part; λ₂ = Φ(λ, Z) of the whole "
    "training part is kept ('once'), or computed anew ('anew'); beside them KRR with its own cross-validation at each share. The kernel is "
    "that of the whole training part.",
    remark=why,
    plot=plot,
)
def figure3(row: str, run: Run) -> Iterator[Cell | Curve]:
    """The mean curves, the m that cross-validation takes, and the mean error over the shares below 100 %."""
    setting = SETTINGS[row]
    shares = np.linspace(0.1, 1.0, run.count(7, 19))
    results, powers = [], []
    for split in runs(row, run, run.count(2, 10), run.count(MOST, 10**9)):
        results.append(learn(split, shares, setting.power))
        powers.append(float(POWERS[int(np.argmin(split.validated[0][:SMALL, -1]))]))
    yield Cell.of(row, "m by cross-validation", powers, printed=setting.power)
    labels = {"m_rlsr": f"M-RLSR, m = {setting.power}", "once": "KRR, λ₂ = Φ once", "again": "KRR, λ₂ = Φ anew", "tuned": "KRR, own λ₂"}
    for name, label in labels.items():
        curve = np.mean([getattr(found, name) for found in results], axis=0)
        yield Curve(row, label, shares, curve)
        yield Cell(row, f"{label}: mean error below 100 %", float(np.mean(curve[:-1])))
