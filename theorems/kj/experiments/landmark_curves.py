"""The error over the number of landmarks, for the figures of Section 4 and Appendix G."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

import simopt.claims as sc
from simopt.claims.tables import Cell, Curve, Run
from simopt.core.arrays import Array
from simopt.theorems.kj.experiments.printed_tables import KR, LAND, LAND_SP, SETS, SIMILARITIES
from simopt.theorems.kj.experiments.protocol import Landmarks, kernel_regression
from simopt.theorems.kj.experiments.table1a import CONSTANT_FIT, RIDGE, SHIFTED, UNIT, split_run, splits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

COUNTS = (5, 10, 20, 50, 100)
FLAT = (KR, SHIFTED, CONSTANT_FIT)
USED = "landmarks that RegLand-Sp takes of 100"
COLOURS = {LAND: "tab:blue", LAND_SP: "tab:green", KR: "tab:red", RIDGE: "tab:purple", SHIFTED: "tab:orange", CONSTANT_FIT: "black"}

Errors = dict[str, Array]


@lru_cache(maxsize=64)
def curves(dataset: str, similarity: str, seed: int, effort: sc.Effort) -> tuple[tuple[int, ...], Errors]:
    """Numbers of landmarks, and errors (splits, numbers) of the methods, (splits, 1) of those that have no landmarks."""
    name = SIMILARITIES[similarity]
    run = split_run(dataset, seed, effort)
    rows: dict[str, list[list[float]]] = {method: [] for method in (LAND, LAND_SP, RIDGE, *FLAT, USED)}
    numbers: tuple[int, ...] = COUNTS
    for k, split in enumerate(splits(dataset, seed, effort)):
        landmarks = Landmarks.of(split, name, run.stream("landmarks", k))
        numbers = tuple(d for d in COUNTS if d <= landmarks.train.shape[1])
        sparse, used = landmarks.sparse(numbers)
        rows[LAND_SP].append(sparse)
        rows[USED].append([used[-1]])
        rows[LAND].append([landmarks.reg_land(d) for d in numbers])
        rows[RIDGE].append([landmarks.ridge(d) for d in numbers])
        for method, error in zip((KR, SHIFTED), kernel_regression(split, name), strict=True):
            rows[method].append([error])
        rows[CONSTANT_FIT].append([split.constant()])
    return numbers, {method: np.array(values) for method, values in rows.items()}


def below(similarity: str, method: str, other: str) -> str:
    """The column that says whether the mean error of one method is below another's at every number of landmarks."""
    return f"{similarity}: {method} below {other} at every number (1 = true)"


def falling(similarity: str, method: str) -> str:
    """The column that says whether the mean error is less with the most landmarks than with the fewest."""
    return f"{similarity}: {method} less with most landmarks than with fewest (1 = true)"


def row(name: str, similarities: Sequence[str], run: Run) -> Iterator[Cell | Curve]:
    """Curves and cells of a data set, with what the paper says of all the plots as 1 in 'printed'."""
    for similarity in similarities:
        numbers, errors = curves(SETS[name], similarity, run.seed, run.effort)
        means = {method: values.mean(axis=0) for method, values in errors.items()}
        for method in (LAND, LAND_SP, RIDGE, *FLAT):
            yield Curve(
                name, f"{similarity}: {method}", np.array(numbers, dtype=float), np.broadcast_to(means[method], len(numbers)).copy()
            )
        for method in (LAND, LAND_SP):
            yield Cell(name, below(similarity, method, KR), float(np.all(means[method] < means[KR])), printed=1.0)
            yield Cell(name, falling(similarity, method), float(means[method][-1] < means[method][0]), printed=1.0)
        yield Cell(name, below(similarity, LAND_SP, LAND), float(np.all(means[LAND_SP] < means[LAND])), printed=1.0)
        for method in (LAND, LAND_SP, RIDGE):
            for j, d in enumerate(numbers):
                yield Cell.of(name, f"{similarity}: {method}, {d}", errors[method][:, j], unit=UNIT)
        for method in FLAT:
            yield Cell.of(name, f"{similarity}: {method}", errors[method][:, 0], unit=UNIT)
        yield Cell.of(name, f"{similarity}: {USED}", errors[USED][:, 0])


def why(cell: Cell, cells: Sequence[Cell]) -> str:
    """The numbers behind a statement that fails."""
    similarity = cell.column.split(":")[0]

    def numbers_of(method: str) -> str:
        start = f"{similarity}: {method}"
        wanted = {start, *(f"{start}, {d}" for d in COUNTS)}
        return f"{method} {', '.join(f'{other.ours:.2g}' for other in cells if other.column in wanted)}"

    named = [method for method in (LAND_SP, LAND, KR) if f" {method} " in f" {cell.column} "]
    counts = [other.column.rsplit(", ", 1)[1] for other in cells if other.column.startswith(f"{similarity}: {LAND}, ")]
    constant = numbers_of(CONSTANT_FIT) if KR in named else ""
    listed = [*(numbers_of(method) for method in named), *[constant] * bool(constant)]
    return f"{similarity}, with {', '.join(counts)} landmarks: {'; '.join(listed)}."


def plot(figure: Figure, done: Reproduction) -> None:
    """One panel a data set and similarity; both axes logarithmic."""
    panels(figure, done, COLOURS, FLAT, "log", UNIT)


def panels(figure: Figure, done: Reproduction, colours: Mapping[str, str], flat: Collection[str], scale: str, unit: str) -> None:
    """One panel a data set and similarity for curves labelled "similarity: method"; `scale` is that of the errors."""
    rows = [row for row in done.rows if row.curves]
    names = list(dict.fromkeys(curve.label.split(": ")[0] for row in rows for curve in row.curves)) or [""]
    figure.set_size_inches(4.0 * max(1, len(rows)), 3.6 * len(names))
    axes = np.asarray(figure.subplots(len(names), max(1, len(rows)), squeeze=False))
    for k, row in enumerate(rows):
        for i, similarity in enumerate(names):
            panel = axes[i, k]
            for curve in row.curves:
                kind, label = curve.label.split(": ")
                if kind == similarity:
                    panel.plot(curve.x, curve.y, label=label, color=colours[label], linestyle="--" if label in flat else "-")
            panel.set(title=f"{row.name}, {similarity}", xscale="log", yscale=scale, xlabel="landmarks", ylabel=unit)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=2 * max(1, len(rows)))
