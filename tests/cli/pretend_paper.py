"""A plug-in for the tests: claims of every outcome and a small table, about no real paper."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simopt.claims import (
    COUNTEREXAMPLE,
    DEFINITION,
    HOLDS,
    IDENTITY,
    INEQUALITY,
    REFUTED,
    SUBSTANTIVE,
    Check,
    Instance,
    Paper,
    Trial,
    at_most,
    claim,
    equal,
    inputs,
    true,
)
from simopt.claims.reproduction import Cell, Curve, Hypothesis, Reproduction, Run, table
from simopt.core.errors import NotAvailable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRETEND = Paper("pretend", "PP", "A. Nobody", "Pretend Theorems", 2000, "Nowhere", sections=("first",))


def small_integers(trial: Trial) -> Iterator[Instance]:
    """The integers 0 to 4."""
    for n in range(5):
        yield {"n": n}


@claim(
    "PP-proved", paper=PRETEND, section="first", place="Lemma 1", kind=INEQUALITY, expected=HOLDS, says="n ≤ n² for n = 0, …, 4.",
    instances=small_integers, exhaustive=True, knobs={"power": 2}, mutants={"power 0": {"power": 0}}, note="nothing deep", cost=9.0,
)  # fmt: skip
def squares_grow(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The integer against its square."""
    n = inputs(n=instance["n"])
    yield at_most(n, n ** trial["power"], "n against its power")


@claim(
    "PP-refuted", paper=PRETEND, place="Lemma 2", kind=INEQUALITY, expected=REFUTED, defect=SUBSTANTIVE, says="n² ≤ 3 for n = 0, …, 4.",
    instances=small_integers, knobs={"bound": 3}, mutants={"bound 16": {"bound": 16}}, covers=("PP-also",),
)  # fmt: skip
def squares_stay_small(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The square against the bound, and twice the square against twice the bound."""
    yield at_most(instance["n"] ** 2, trial["bound"], "square")
    yield at_most(2 * instance["n"] ** 2, 2 * trial["bound"], "double", row="PP-also")


@claim(
    "PP-unexpected", paper=PRETEND, section="last", place="Lemma 3", kind=IDENTITY, expected=HOLDS, says="1.5 = 1.25.",
    instances=lambda trial: iter([{"x": 1.5}]), knobs={"y": 1.25}, mutants={"y = 1.5": {"y": 1.5}},
)  # fmt: skip
def not_so(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Two numbers that differ."""
    yield equal(instance["x"], trial["y"], "[bold]markup[/bold]")


@claim(
    "PP-missing", paper=PRETEND, place="Table 1", kind=DEFINITION, expected=HOLDS, says="Something about data that nobody has.",
    instances=small_integers, no_mutant="a definition", requires=("no_such_module_anywhere",),
)  # fmt: skip
def no_data(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Never run."""
    yield true(True)


@claim(
    "PP-slow", paper=PRETEND, place="Remark", kind=COUNTEREXAMPLE, expected=HOLDS, says="Waiting takes time.",
    instances=lambda trial: iter([{}]), no_mutant="a counterexample", cost=0.1,
)  # fmt: skip
def slow(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Sleeps for a minute."""
    wait(60)
    yield true(True)


def wait(seconds: int) -> None:
    """Sleeps, after telling a test that listens that it has begun."""
    if seconds and "PP_BEGUN" in os.environ:
        Path(os.environ["PP_BEGUN"]).write_text("begun")
    time.sleep(seconds)


def remark(cell: Cell, row: Sequence[Cell]) -> str:
    """How far out, and of how many."""
    return f"{cell.ours:.3g} is far above {cell.printed or 0.0:.3g}; {len(row)} cells"


def otherwise(row: Sequence[Cell], run: Run) -> Iterator[Hypothesis]:
    """A factor that is too large, one that is right."""
    for factor in (0.5, 0.1):
        yield Hypothesis(f"with {factor:g} of it", lambda factor=factor: [replace(row[0], ours=factor * row[0].ours, sd=0.1)])


def picture(figure: Figure, done: Reproduction) -> None:
    """All curves."""
    axes = figure.subplots()
    for row in done.rows:
        for curve in row.curves:
            axes.plot(curve.x, curve.y, label=curve.label)


@table(
    "pretend-table", paper=PRETEND, place="Table 1", says="Numbers of no meaning.", rows=("near", "far", "absent", "slow"),
    remark=remark, plot=picture, suppose=otherwise,
)  # fmt: skip
def pretend_table(row: str, run: Run) -> Iterator[Cell | Curve]:
    """One cell near the printed one, one far from it, a row without data, and one that takes a minute at full effort."""
    if row == "absent":
        raise NotAvailable("data set nobody is not here")
    if row == "slow":
        wait(run.count(0, 60))
    factor = 10.0 if row == "far" else 1.0
    yield Cell.of(row, "A", factor * np.array([1.9, 2.0, 2.1]), printed=2.1, printed_sd=0.1, unit="m", printed_runs=4)
    yield Cell.of(row, "B", run.stream("b").normal(size=3))
    yield Curve(row, "line", np.arange(3.0), factor * np.arange(3.0))
