"""The drawings of a comparison's page as SVG: certified gap against seconds, and profiles."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from simopt.compare.record import Record
from simopt.compare.statistics import Profile
from simopt.core.foreign_text import on_terminal
from simopt.report.svg import BOTTOM, RIGHT, SHAPES, TOP, WIDTH, Axis, Drawing

COLOURS = 8  # classes s0, s1, … of the style
SIGNS = tuple(name for name in SHAPES if name != "cross")  # a cross is a failure
HEIGHT, LEFT, LINE = 190.0, 52.0, 17.0
SMALLEST, LARGEST = 1e-16, 1e16  # gaps on a logarithmic axis, 0 among them
SHORTEST, FARTHEST = 1e-7, 1e12  # seconds, and what profiles are drawn over
LONGEST = 19  # letters of a name in a legend; those of some scripts are twice as wide
Markers = Mapping[str, tuple[str, str]]  # by solver its colour and its sign


def markers(names: Iterable[str]) -> Markers:
    """A colour and a sign for each solver, the same in all drawings of a page."""
    return {name: (f"s{i % COLOURS}", SIGNS[i % len(SIGNS)]) for i, name in enumerate(sorted(set(names)))}


def gap_curves(solvers: Mapping[str, Sequence[Record]], markers: Markers) -> Markup | None:
    """The smallest certified gap so far against seconds, a line for each run; a sweep is dotted, a cross an end without success.

    None where nothing was certified.
    """
    curves = [(name, run, curve) for name, runs in solvers.items() for run in runs if (curve := _curve(run))]
    if not curves:
        return None
    tol = _within(max(run.cell.tol for _, run, _ in curves), SMALLEST, LARGEST)
    seconds = [at for _, _, curve in curves for at, _ in curve]
    gaps = [tol, *(gap for _, _, curve in curves for _, gap in curve)]
    across = Axis(min(seconds) / 1.3, max(seconds) * 1.3, LEFT, WIDTH - RIGHT, "log")
    up = Axis(min(gaps) / 2, max(gaps) * 2, TOP + HEIGHT, TOP, "log")
    names = list(dict.fromkeys(name for name, _, _ in curves))
    drawing = _drawing(names, f"Smallest certified gap against seconds: {', '.join(names)}; tolerance {tol:g}")
    drawing.line(across.start, up(tol), across.end, up(tol), "bound dashed")
    for name, run, curve in curves:
        colour, sign = markers[name]
        places = [(across(at), up(gap)) for at, gap in curve]
        drawing.polyline(places, f"{colour} line{' dotted' if run.sampling == 'tolerance' else ''}")
        for x, y in places[:-1]:
            drawing.sign(x, y, sign, f"{colour} sign")
        drawing.sign(*places[-1], sign if run.success else "cross", f"{colour} {'sign' if run.success else 'line'}")
    return _finished(drawing, across, up, names, markers, "seconds, set-up included")


def _curve(run: Record) -> list[tuple[float, float]]:
    known = [(at, gap) for at, gap in run.descent() if math.isfinite(gap) and math.isfinite(at)]
    return [(_within(at, SHORTEST, FARTHEST), _within(gap, SMALLEST, LARGEST)) for at, gap in known]


def _within(value: float, low: float, high: float) -> float:
    """The nearest number of an axis."""
    return min(max(value, low), high)


def profile(profiles: Sequence[Profile], markers: Markers, name: str, least: float | None = None) -> Markup | None:
    """Fractions that rise in steps; from `least` on, or from the first step. None where nothing rises."""
    steps = {p.solver: [(x, y) for x, y in zip(p.ratios, p.fractions, strict=True) if 0 < x < FARTHEST] for p in profiles}
    ends = [x for each in steps.values() for x, _ in each]
    if not ends or not any(y for each in steps.values() for _, y in each):
        return None
    low = min(ends) / 1.3 if least is None else least
    across = Axis(low, max(2 * low, 1.3 * max(ends)), LEFT, WIDTH - RIGHT, "log")
    up = Axis(0.0, 1.0, TOP + HEIGHT, TOP)
    at_ends = ", ".join(f"{solver} {each[-1][1] if each else 0:.0%}" for solver, each in steps.items())
    drawing = _drawing(list(steps), f"Fraction of the instances against {name}; at the right end {at_ends}")
    for solver, each in steps.items():
        colour, sign = markers[solver]
        line, last = [], 0.0
        for x, y in each:
            line += [(across(x), up(last)), (across(x), up(y))]
            last = y
        drawing.polyline([*line, (across.end, up(last))], f"{colour} line")
        for x, y in each[:: max(1, len(each) // 6)]:
            drawing.sign(across(x), up(y), sign, f"{colour} sign")
    return _finished(drawing, across, up, list(steps), markers, name, "fraction of the instances")


def _drawing(names: Sequence[str], description: str) -> Drawing:
    rows = (len(names) + 1) // 2
    return Drawing(TOP + HEIGHT + BOTTOM + 6 + LINE * rows, on_terminal(description))


def _finished(drawing: Drawing, across: Axis, up: Axis, names: Sequence[str], markers: Markers, name: str, name_up: str = "") -> Markup:
    """With axes, and below them a legend in two columns."""
    drawing.beside(up, LEFT, name_up)
    drawing.below(across, TOP + HEIGHT, name)
    for i, solver in enumerate(names):
        colour, sign = markers[solver]
        x, y = LEFT + (i % 2) * (WIDTH - LEFT) / 2, TOP + HEIGHT + BOTTOM + 12 + LINE * (i // 2)
        drawing.line(x, y - 4, x + 18, y - 4, f"{colour} line")
        drawing.sign(x + 9, y - 4, sign, f"{colour} sign")
        drawing.text(x + 24, y, _cut(on_terminal(" ".join(solver.split()))), "tick", "start")
    return drawing.render()


def _cut(name: str) -> str:
    """As much of a name as fits."""
    widths = itertools.accumulate(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in name)
    fitting = sum(width <= LONGEST for width in widths)
    return name if fitting == len(name) else f"{name[: fitting - 1]}…"
