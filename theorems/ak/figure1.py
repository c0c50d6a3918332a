"""Figure 1 of Audiffren and Kadri: M-RLSR with λ and KRR with the λ₂ that belongs to it on Z₁, compared on Z₁, …, Z₄."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simopt.claims.tables import Cell, Curve, Run, table
from simopt.core.arrays import Array
from simopt.data.datasets import Dataset, friedman
from simopt.data.similarities import Gaussian
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.solvers.squares.cross_validation import cross_validate
from simopt.theorems.ak.equivalences import m_power_rls_to_kernel_ridge
from simopt.theorems.ak.protocol import SYNTHETIC

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

PARTS = 4
DECADES = np.logspace(-7, 2, 10)  # the printed λ are powers of ten


@dataclass(frozen=True)
class Figure1Half:
    """One half of the figure: the data set, the printed m, λ and λ₂."""

    dataset: str
    power: float
    regularization: float
    ridge: float


SETTINGS = {"Concrete": Figure1Half("concrete", 1.5, 1e-2, 5.6e-4), "Synthetic": Figure1Half(SYNTHETIC, 1.2, 1e-5, 6.5e-7)}
TREATMENTS = ("y as it is", "y / max y", "y standardised")


def treated(targets: Array, treatment: str) -> Array:
    """The targets as they are, divided by their maximum, or with mean 0 and variance 1."""
    if treatment == "y / max y":
        scaled: Array = targets / targets.max()
        return scaled
    if treatment == "y standardised":
        out: Array = (targets - targets.mean()) / targets.std()
        return out
    return targets


def quarters(source: Dataset, rng: np.random.Generator, treatment: str = TREATMENTS[0]) -> list[TrainingSet]:
    """Z₁, …, Z₄: a random split into four parts of equal size (the rest is left out), with one kernel, μ from all inputs."""
    kernel = Gaussian.mean_squared_distance(source.features)
    size, order, y = source.n // PARTS, rng.permutation(source.n), treated(source.targets, treatment)
    parts = [order[k * size : (k + 1) * size] for k in range(PARTS)]
    return [TrainingSet(source.features[part], y[part], kernel) for part in parts]


def both(setting: Figure1Half, parts: Sequence[TrainingSet]) -> Iterator[tuple[KernelFunction, KernelFunction]]:
    """On each part the M-RLSR function for λ and the KRR function for Φ(λ, Z₁)."""
    link = m_power_rls_to_kernel_ridge(setting.power)
    ridge = link(setting.regularization, parts[0])
    for Z in parts:
        yield link.source(setting.regularization, Z), link.target(ridge, Z)


def implied(setting: Figure1Half, sources: Iterator[tuple[Dataset, np.random.Generator]], treatment: str) -> list[float]:
    """λ₂ = Φ(λ, Z₁) of Proposition 5.1 for the printed m and λ, one value a split."""
    link = m_power_rls_to_kernel_ridge(setting.power)
    return [link(setting.regularization, quarters(source, rng, treatment)[0]) for source, rng in sources]


def sources(row: str, run: Run) -> Iterator[tuple[Dataset, np.random.Generator]]:
    """The data of each split with the generator that splits them; the same splits for each treatment."""
    for k in range(run.count(4, 20)):
        rng = run.stream("split", k)
        yield (friedman(rng) if SETTINGS[row].dataset == SYNTHETIC else run.dataset(SETTINGS[row].dataset)), rng


def why(cell: Cell, row: Sequence[Cell]) -> str:
    """A remark where a printed parameter is not met."""
    if cell.printed is None:
        return ""
    if cell.column.startswith("λ by"):
        return (
            f"Our cross-validation on this Z₁ takes λ = {cell.ours:.1g} and not {cell.printed:.1g}; "
            "the paper does not say which values it tried."
        )
    factor = max(cell.printed / cell.ours, cell.ours / cell.printed)
    others = [c for c in row if c.column.startswith("λ₂") and c.met]
    if others:
        return f"Off by a factor {factor:.3g} with these targets; with {others[0].column[4:]} the printed value is met."
    lower = max(cell.printed / 10 / cell.ours, cell.ours / (cell.printed / 10))
    return (
        f"Off by a factor {factor:.3g}; none of the treatments tried gives the printed value; were its exponent one lower, it would be off "
        f"by a factor {lower:.3g}."
    )


def plot(figure: Figure, done: Reproduction) -> None:
    """Bars of the distances, one panel a data set."""
    rows = [row for row in done.rows if row.curves]
    for axes, row in zip(np.atleast_1d(figure.subplots(1, max(1, len(rows)))), rows, strict=False):
        curve = row.curves[0]
        axes.bar(curve.x, curve.y, color="tab:blue", width=0.6)
        axes.set_xticks(curve.x, [f"$Z_{int(k)}$" for k in curve.x])
        axes.set_title(row.name)
        axes.set_ylabel("$\\|f - g\\|_H$")


@table(
    "ak-figure1",
    place="Figure 1, Section 5.3",
    rows=tuple(SETTINGS),
    says="‖M-RLSR(λ) − KRR(λ₂)‖_H on four parts of the data, λ₂ = Φ(λ, Z₁) by Proposition 5.1: 0 on Z₁, positive on Z₂, "
    "Z₃, Z₄ (the caption says Z₁, Z₂ and Z₃). The heights of the bars are not printed as numbers; λ₂ is. Ours: four parts of equal size, "
    "inputs as they are, μ over all inputs, mean and sd over random splits, λ by ten-fold cross-validation on Z₁ among decades. Targets "
    "are taken as they are, for no other unit is mentioned; divided by max y, and standardised, they are other readings.",
    remark=why,
    plot=plot,
)
def figure1(row: str, run: Run) -> Iterator[Cell | Curve]:
    """λ₂ for each treatment of the targets, λ by cross-validation, and the four distances."""
    setting = SETTINGS[row]
    for treatment in TREATMENTS:
        found = implied(setting, sources(row, run), treatment)
        yield Cell.of(row, f"λ₂, {treatment}", found, printed=setting.ridge, other=treatment != TREATMENTS[0])
    source, rng = next(sources(row, run))
    parts = quarters(source, rng)
    chosen = cross_validate(parts[0].gram, parts[0].targets, DECADES, np.array([setting.power]), folds=10, rng=rng)
    yield Cell(row, "λ by cross-validation", chosen.regularization, printed=setting.regularization)
    distances, sizes = [], []
    for f, g in both(setting, parts):
        distances.append(f.distance(g))
        sizes.append(f.norm())
    for k, distance in enumerate(distances, 1):
        yield Cell(row, f"‖f − g‖ on Z{k}", distance)
    yield Cell(row, "‖f‖ on Z1", sizes[0])
    yield Curve(row, "distance", np.arange(1.0, PARTS + 1), np.array(distances))
