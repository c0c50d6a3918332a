"""The slack of the checks: ratios of measured to bound, slacks around zero, and yes-or-no facts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from simopt.report.svg import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Axis, Drawing

BINS = 40
HIGHEST = 92.0  # of a stack of marks
FAR = 1.6  # ratios beyond are drawn here
LABELS = {"satisfied": "true", "vacuous": "where nothing is said", "undecided": "undecided", "refuted": "false"}
SMALLEST = 1e-15  # slacks below are drawn at zero


def ratios(points: Sequence[Sequence[float | None]]) -> Markup:
    """Measured over bound (or bound over measured, where the bound lies below), 1 where the bound is attained."""
    values = [float(ratio) for _, ratio in points if ratio is not None]
    high = 1.04 if max(values) <= 1.02 else min(FAR, max(values) * 1.05)
    axis = Axis(0.0, high, LEFT, WIDTH - RIGHT)
    over = sum(value > 1 for value in values)
    says = f"{len(values)} ratios of measured to bound, the largest {max(values):.4g}; {over} beyond 1"
    drawing = Drawing(TOP + HIGHEST + 16 + BOTTOM, says)
    base = TOP + HIGHEST + 16
    drawing.line(axis(1.0), TOP, axis(1.0), base, "bound")
    drawing.text(axis(1.0) - 4, TOP + 9, "bound", "boundname", "end")
    if max(values) > high:
        drawing.text(axis.end, TOP + 9, f"up to {max(values):.3g}", "tick", "end")
    _stack(drawing, axis, base, [(value, value <= 1 + 1e-12) for value in values])
    drawing.below(axis, base, "share of the bound that is used (1: attained; beyond: violated)")
    return drawing.render()


def slacks(points: Sequence[Sequence[float | None]], resolution: float) -> Markup:
    """Signed slacks on an axis that is logarithmic on both sides of zero; positive slack lies on the right."""
    values = [float(slack) for slack, _ in points if slack is not None and math.isfinite(slack)]
    inside = max(resolution, SMALLEST)
    nonzero = [abs(value) for value in values if abs(value) > SMALLEST]
    linear = max(SMALLEST, min(nonzero, default=inside))
    high, low = max([*values, linear]), min([*values, -linear])
    axis = Axis(-linear if low > -linear else low * 1.2, high * 1.2, LEFT, WIDTH - RIGHT, "symlog", linear)
    says = f"{len(values)} slacks between {min(values, default=0):.3g} and {max(values, default=0):.3g}"
    drawing = Drawing(TOP + HIGHEST + 16 + BOTTOM, says)
    base = TOP + HIGHEST + 16
    drawing.line(axis(0.0), TOP, axis(0.0), base, "bound")
    drawing.text(axis(0.0) + 4, TOP + 9, "0", "boundname", "start")
    _stack(drawing, axis, base, [(value, value >= -inside) for value in values])
    drawing.below(axis, base, "slack (right of 0: room left; left: violated)")
    return drawing.render()


def equalities(points: Sequence[Sequence[float | None]], resolution: float) -> Markup:
    """Differences of the two sides of identities, those that are zero to the last digit apart, against the resolution."""
    values = [abs(float(slack)) for slack, _ in points if slack is not None and math.isfinite(slack)]
    zeros = sum(value <= SMALLEST for value in values)
    rest = [value for value in values if value > SMALLEST]
    limit = max(resolution, SMALLEST)
    low, high = min([*rest, limit]) / 3, max([*rest, limit]) * 3
    start = LEFT + 70
    axis = Axis(low, high, start, WIDTH - RIGHT, "log")
    says = f"{len(values)} differences, {zeros} of them zero, the largest {max(values, default=0):.3g}"
    drawing = Drawing(TOP + HIGHEST + 16 + BOTTOM, says)
    base = TOP + HIGHEST + 16
    if resolution > 0:
        drawing.line(axis(limit), TOP, axis(limit), base, "bound")
        drawing.text(axis(limit) - 4, TOP + 9, "resolution", "boundname", "end")
    _stack(drawing, axis, base, [(value, value <= limit) for value in rest])
    tall = HIGHEST * min(1.0, zeros / max(len(values), 1))
    drawing.rect(LEFT + 8, base - tall, 34, tall, "ok soft")
    drawing.text(LEFT + 25, base - tall - 5, str(zeros), "tick")
    drawing.line(LEFT, base, LEFT + 50, base, "axis")
    drawing.text(LEFT + 25, base + 16, "exactly 0", "tick")
    drawing.below(axis, base, "difference of the two sides")
    return drawing.render()


def facts(counts: Mapping[str, int]) -> Markup:
    """Yes-or-no facts, one square each (several each, when there are many)."""
    total = sum(counts.values())
    worth = max(1, math.ceil(total / 240))
    kinds = [kind for kind in LABELS for _ in range(math.ceil(counts.get(kind, 0) / worth))]
    side, gap, across = 11.0, 3.0, 28
    rows = max(1, math.ceil(len(kinds) / across))
    said = ", ".join(f"{counts[kind]} {LABELS[kind]}" for kind in LABELS if counts.get(kind))
    drawing = Drawing(TOP + rows * (side + gap) + 26, f"{total} facts: {said}")
    for i, kind in enumerate(kinds):
        x, y = LEFT + (i % across) * (side + gap), TOP + (i // across) * (side + gap)
        if kind == "refuted":
            drawing.mark(x + side / 2, y + side / 2, False, side / 2 - 1)
        else:
            drawing.rect(x, y, side, side, {"satisfied": "ok", "vacuous": "hollow"}.get(kind, "mid"))
    each = "" if worth == 1 else f"; a square stands for {worth}"
    drawing.text(LEFT, drawing.height - 8, f"{said}{each}", "name", "start")
    return drawing.render()


def _stack(drawing: Drawing, axis: Axis, base: float, values: Sequence[tuple[float, bool]]) -> None:
    """Marks on top of each other where there are few, bars where there are many."""
    width = (axis.end - axis.start) / BINS
    bins: dict[tuple[int, bool], int] = {}
    for value, good in values:
        place = min(BINS - 1, int((axis(value) - axis.start) / width))
        bins[place, good] = bins.get((place, good), 0) + 1
    tallest = max((bins.get((place, True), 0) + bins.get((place, False), 0) for place in range(BINS)), default=1)
    marks = tallest * 9 <= HIGHEST
    unit = 9.0 if marks else HIGHEST / tallest
    for place in range(BINS):
        x = axis.start + place * width
        kept, lost = bins.get((place, True), 0), bins.get((place, False), 0)
        if marks:
            for i in range(kept + lost):
                drawing.mark(x + width / 2, base - 6 - 9 * i, i < kept)
            continue
        if kept:
            drawing.rect(x + 0.7, base - unit * kept, width - 1.4, unit * kept, "ok soft")
        if lost:
            drawing.rect(x + 0.7, base - unit * (kept + lost), width - 1.4, unit * lost, "bad soft")
    if not marks:
        drawing.text(axis.start, TOP + 9, f"tallest bar: {tallest}", "tick", "start")
