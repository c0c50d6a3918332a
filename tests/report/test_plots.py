"""Drawings: the right one for what was kept, inside its frame, and no trouble with odd numbers."""

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.claims import at_most, outcome
from simopt.claims.check import Outcome
from simopt.claims.measured import FIGURES, POINTS, SHOWN, Ledger, pooled
from simopt.report import counterexample
from simopt.report.plots import plots
from simopt.report.svg import Axis, label


def measured(points: list[list[float | None]], **fields: Any) -> dict[str, Any]:
    return {"checks": {}, "facts": {}, "compared": len(points), "points": points, "telling": [], "figures": [], "drawn": 0} | fields


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
def test_axis_is_increasing_and_its_ticks_lie_on_it(scale: str) -> None:
    axis = Axis(1e-3 if scale == "log" else -2.0, 70.0, 10.0, 400.0, scale, 0.01)
    places = [axis(value) for value in np.linspace(axis.low, axis.high, 50)]
    assert places == sorted(places) and math.isclose(places[0], 10) and math.isclose(places[-1], 400)
    assert axis(1e9) == 400 and 2 <= len(axis.ticks()) <= 7
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks())


def test_labels_are_short() -> None:
    assert [label(value) for value in (0, 1e-9, -1e6, 0.25, -3)] == ["0", "10⁻⁹", "−10⁶", "0.25", "−3"]


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        ([[0.5, 0.5], [0.1, 0.9]], "ratio"),
        ([[0.0, None], [-1e-16, None]], "equality"),
        ([[3.0, None], [-2.0, None]], "slack"),
        ([[0.0, None]] * 100, "equality"),
        ([[1e-300, None], [1e300, None]], "slack"),
        ([[-5.0, 1e12], [0.5, 0.1]], "ratio"),
        ([[None, None], [1.0, None]], "slack"),
    ],
)
def test_distribution_by_what_there_is(points: list[list[float | None]], kind: str) -> None:
    (plot,) = plots(measured(points), 1e-9)
    assert plot.kind == kind and "nan" not in plot.drawing and "inf" not in plot.drawing
    numbers = [float(x) for x in re.findall(r' (?:cx|x|x1|x2)="([^"]*)"', plot.drawing)]
    assert all(-1 <= x <= 421 for x in numbers)


def test_what_is_violated_is_a_cross_and_not_only_a_colour() -> None:
    (plot,) = plots(measured([[0.5, 0.5], [-0.5, 1.5]]))
    assert plot.drawing.count("<circle") == 1 and plot.drawing.count('class="bad stroke"') == 1


def test_nothing_kept_draws_nothing() -> None:
    assert plots(None) == [] and plots(measured([])) == []


@pytest.mark.parametrize("wild", [math.inf, -math.inf, math.nan, None])
def test_odd_numbers_in_figures(wild: float | None) -> None:
    path = {"kind": "path", "measured": [1.0, wild, 3.0], "bound": [wild, 4.0, 4.0], "upper": True, "entries": 3}
    mean = {"kind": "mean", "group": "", "draws": 10, "mean": 1.0, "low": -math.inf, "high": math.inf, "bound": 2.0}
    made = plots(measured([], figures=[path, mean], drawn=2))
    assert {plot.kind for plot in made} == {"path", "mean"}
    assert all("nan" not in plot.drawing and "inf" not in plot.drawing for plot in made)


def test_ledger_is_bounded_and_keeps_the_worst() -> None:
    ledger = Ledger()
    for i in range(10_000):
        ledger.add(at_most(float((i * 37) % 10_000), 9_999.5, f"check {i}"), Outcome.SATISFIED)
    kept = ledger.document()
    assert kept["compared"] == 10_000 and POINTS / 2 <= len(kept["points"]) <= POINTS and len(kept["telling"]) == SHOWN
    assert [entry["slack"] for entry in kept["telling"]] == [0.5 + i for i in range(SHOWN)]
    ratios = np.sort([ratio for _, ratio in kept["points"]])
    assert np.abs(ratios - np.linspace(0, 1, len(ratios))).max() < 0.05  # spread over all of them


def test_ledger_of_a_claim_that_asks_for_some_keeps_the_best() -> None:
    ledger = Ledger(largest_slack=True)
    for i in range(50):
        ledger.add(at_most(i, 100, f"check {i}"), Outcome.SATISFIED)
    assert [entry["slack"] for entry in ledger.document()["telling"]][:2] == [100, 99]


def test_figures_are_bounded_and_the_closest_are_kept() -> None:
    ledger = Ledger()
    for i in range(40):
        ledger.add(at_most(np.arange(10.0), 100.0 + i, f"path {i}"), Outcome.SATISFIED)
    kept = ledger.document()
    assert len(kept["figures"]) == FIGURES and kept["drawn"] == 40
    assert [figure["bound"][0] for figure in kept["figures"]] == [100.0 + i for i in range(FIGURES)]


def test_seeds_are_pooled() -> None:
    documents = []
    for seed in range(3):
        ledger = Ledger()
        ledger.add(at_most(seed, 5, f"seed {seed}"), Outcome.SATISFIED)
        documents.append(ledger.document())
    both = pooled(documents)
    assert both is not None and both["compared"] == 3 and both["checks"] == {"satisfied": 3} and len(both["points"]) == 3
    assert {entry["name"] for entry in both["telling"]} == {"seed 0", "seed 1", "seed 2"} and pooled([]) is None


def test_a_draw_alone_is_not_drawn() -> None:
    assert outcome(True, 0.5).drawing is None


def test_witness_in_words() -> None:
    assert counterexample.written([1, -2.5, True]) == "(1, −2.5, yes)"
    assert counterexample.written(np.eye(2)) == "(1, 0)\n(0, 1)"
    world = [(Fraction(2, 3), -1, [Fraction(0), Fraction(1, 8)]), (Fraction(1, 3), 1, [Fraction(-4, 5), Fraction(3, 5)])]
    assert counterexample.written(world) == "(2/3, −1, (0, 1/8))\n(1/3, 1, (−4/5, 3/5))"
    assert counterexample.written(list(range(100))) == "(0, 1, 2, 3, 4, 5, 6, 7, … 100 in all)"
    assert len(counterexample.written({str(i): "x" * 1000 for i in range(9)})) <= counterexample.LONGEST
    assert counterexample.shown(None) is None
    missing = counterexample.shown(Path("no/such/file.json"))
    assert missing is not None and "not a readable witness file" in missing.trouble
