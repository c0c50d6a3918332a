"""The error over the number of landmarks in ordinal regression, for Figures 1b, 2c and 2d."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

import simopt.claims as sc
from simopt.claims.tables import Cell, Curve, Run
from simopt.core.arrays import Array
from simopt.theorems.kj.experiments.landmark_curves import panels
from simopt.theorems.kj.experiments.ordinal_protocol import SPLITS, OrdinalLandmarks, kernel_regression
from simopt.theorems.kj.experiments.printed_ordinal import ORLAND
from simopt.theorems.kj.experiments.printed_tables import KR, SIMILARITIES
from simopt.theorems.kj.experiments.table1b import CONSTANT_FIT, SHIFTED, SPACED, UNIT, split_run, splits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

COUNTS = (5, 10, 20, 50, 100)
FEWER = 3  # splits at quick effort
FLAT = (KR, SHIFTED, CONSTANT_FIT)
COLOURS = {ORLAND: "tab:blue", SPACED: "tab:green", KR: "tab:red", SHIFTED: "tab:orange", CONSTANT_FIT: "black"}

Errors = dict[str, Array]


@lru_cache(maxsize=64)
def curves(name: str, similarity: str, seed: int, effort: sc.Effort) -> tuple[tuple[int, ...], Errors]:
    """Numbers of landmarks, and errors (splits, numbers) of the methods, (splits, 1) of those that have no landmarks."""
    kind = SIMILARITIES[similarity]
    run = split_run(name, seed, effort)
    rows: dict[str, list[list[float]]] = {method: [] for method in (ORLAND, SPACED, *FLAT)}
    numbers: tuple[int, ...] = COUNTS
    for k, split in enumerate(islice(splits(name, seed, effort), run.count(FEWER, SPLITS))):
        landmarks = OrdinalLandmarks.of(split, kind, run.stream("landmarks", k), pool=max(COUNTS))
        numbers = tuple(d for d in COUNTS if d <= landmarks.train.shape[1])
        rows[ORLAND].append([landmarks.orland(d) for d in numbers])
        rows[SPACED].append([landmarks.orland(d, 1.0) for d in numbers])
        for method, error in zip((KR, SHIFTED), kernel_regression(split, kind), strict=True):
            rows[method].append([error])
        rows[CONSTANT_FIT].append([split.constant()])
    return numbers, {method: np.array(values) for method, values in rows.items()}


def below(similarity: str, other: str) -> str:
    """The column that says whether the mean error of ORLand is below another's at every number of landmarks."""
    return f"{similarity}: {ORLAND} below {other} at every number (1 = true)"


def falling(similarity: str) -> str:
    """The column that says whether the mean error is less with the most landmarks than with the fewest."""
    return f"{similarity}: {ORLAND} less with most landmarks than with fewest (1 = true)"


def row(name: str, similarities: Sequence[str], run: Run) -> Iterator[Cell | Curve]:
    """Curves and cells of a set, with what the paper says of its plots as 1 in 'printed'."""
    for similarity in similarities:
        numbers, errors = curves(name, similarity, run.seed, run.effort)
        means = {method: values.mean(axis=0) for method, values in errors.items()}
        for method in errors:
            line = np.broadcast_to(means[method], len(numbers)).copy()
            yield Curve(name, f"{similarity}: {method}", np.array(numbers, dtype=float), line)
        yield Cell(name, below(similarity, KR), float(np.all(means[ORLAND] < means[KR])), printed=1.0)
        yield Cell(name, falling(similarity), float(means[ORLAND][-1] < means[ORLAND][0]), printed=1.0)
        yield Cell(name, below(similarity, CONSTANT_FIT), float(np.all(means[ORLAND] < means[CONSTANT_FIT])))
        for method in (ORLAND, SPACED):
            for j, d in enumerate(numbers):
                yield Cell.of(name, f"{similarity}: {method}, {d}", errors[method][:, j], unit=UNIT)
        for method in FLAT:
            yield Cell.of(name, f"{similarity}: {method}", errors[method][:, 0], unit=UNIT)


def why(cell: Cell, cells: Sequence[Cell]) -> str:
    """The numbers behind a statement that fails."""
    similarity = cell.column.split(":")[0]
    found = {other.column: other for other in cells}
    numbers = [d for d in COUNTS if f"{similarity}: {ORLAND}, {d}" in found]

    def numbers_of(method: str) -> str:
        values = [found[f"{similarity}: {method}, {d}"].ours for d in numbers]
        return f"{method} {', '.join(f'{value:.3g}' for value in values)}"

    flat = ", ".join(f"{method} {found[f'{similarity}: {method}'].ours:.3g}" for method in FLAT)
    return f"{similarity}, with {', '.join(map(str, numbers))} landmarks: {numbers_of(ORLAND)}; {numbers_of(SPACED)}; {flat}."


def plot(figure: Figure, done: Reproduction) -> None:
    """One panel a set and similarity, the number of landmarks on a logarithmic axis."""
    panels(figure, done, COLOURS, FLAT, "linear", UNIT)
