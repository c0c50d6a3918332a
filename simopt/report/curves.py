"""Fits of rates on log-log axes, and arrays along their bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from simopt.report.svg import BOTTOM, RIGHT, TOP, WIDTH, Axis, Drawing

HEIGHT = 170.0
LEFT = 62.0
WIDE = 50.0  # ratio of the largest to the smallest value beyond which a path is drawn on a logarithmic axis
FEW = 30  # entries that are drawn one by one
SIGNS = {"at most": "≤", "at least": "≥", "equal": "="}


def rate(figure: Mapping[str, Any]) -> Markup:
    """Values against sizes, the fitted slope through them, and the claimed slope through their centre."""
    pairs = [(x, y) for x, y in zip(figure["sizes"], figure["values"], strict=True) if _positive(x) and _positive(y)]
    low, high = figure["window"] or (0.0, math.inf)
    low, high = low or 0.0, math.inf if high is None else high
    inside = [(x, y) for x, y in pairs if low <= x <= high]
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    across = Axis(min(xs) / 1.15, max(xs) * 1.15, LEFT, WIDTH - RIGHT, "log")
    up = Axis(min(ys) / 1.4, max(ys) * 1.4, TOP + HEIGHT, TOP, "log")
    claimed = f"slope {SIGNS[figure['direction']]} {figure['slope']:g} claimed".replace("-", "−")
    fitted = f"{figure['fitted']:.3f} ± {figure['error']:.3f} fitted".replace("-", "−")
    drawing = Drawing(TOP + HEIGHT + BOTTOM + 38, f"{claimed}, {fitted}")
    centre = (float(np.log([x for x, _ in inside]).mean()), float(np.log([y for _, y in inside]).mean()))
    ends = [math.log(max(low, across.low)), math.log(min(high, across.high))]
    for slope, kind in ((figure["slope"], "bound dashed"), (figure["fitted"], "fit")):
        line = [(x, centre[1] + slope * (x - centre[0])) for x in np.linspace(ends[0], ends[1], 40)]
        drawing.polyline([(across(math.exp(x)), up(math.exp(y))) for x, y in line if math.log(up.low) <= y <= math.log(up.high)], kind)
    for x, y in pairs:
        drawing.mark(across(x), up(y), True, 3.4 if low <= x <= high else 1.8)
    drawing.beside(up, LEFT)
    drawing.below(across, TOP + HEIGHT, "size")
    _legend(drawing, TOP + HEIGHT + BOTTOM + 12, [("fit", fitted), ("bound dashed", claimed)])
    return drawing.render()


def path(figure: Mapping[str, Any]) -> Markup:
    """The measured values along an array, and their bound: above them where it is an upper one."""
    measured, bound = figure["measured"], figure["bound"]
    values = [float(v) for v in (*measured, *bound) if v is not None and math.isfinite(v)]
    logarithmic = min(values) > 0 and max(values) / min(values) > WIDE
    if logarithmic:
        up = Axis(min(values) / 1.2, max(values) * 1.2, TOP + HEIGHT, TOP, "log")
    else:
        spread = (max(values) - min(values)) or abs(max(values)) or 1.0
        up = Axis(min(values) - 0.05 * spread, max(values) + 0.05 * spread, TOP + HEIGHT, TOP)
    across = Axis(1.0, float(figure["entries"]), LEFT, WIDTH - RIGHT)
    side = "upper" if figure["upper"] else "lower"
    drawing = Drawing(TOP + HEIGHT + BOTTOM + 38, f"{figure['entries']} entries, measured between {min(values):.3g} and {max(values):.3g}")
    if len(measured) > FEW:
        drawing.polyline(_points(bound, across, up, figure["entries"]), "bound dashed")
        drawing.polyline(_points(measured, across, up, figure["entries"]), "fit")
    else:
        for x, y in _points(bound, across, up, figure["entries"]):
            drawing.line(x - 5, y, x + 5, y, "bound")
        for i, value in enumerate(measured):
            limit = bound[i]
            if value is None or not math.isfinite(value):
                continue
            agrees = limit is None or (value <= limit if figure["upper"] else value >= limit) or math.isclose(value, limit, abs_tol=1e-12)
            ((x, y),) = _points([value], across, up, 1)
            x = across(1 + i * (figure["entries"] - 1) / max(len(measured) - 1, 1))
            drawing.mark(x, y, agrees, 3.0)
    drawing.beside(up, LEFT)
    drawing.below(across, TOP + HEIGHT, "entry")
    lined = "bound dashed" if len(measured) > FEW else "bound"
    _legend(drawing, TOP + HEIGHT + BOTTOM + 12, [("fit", "measured"), (lined, f"{side} bound")])
    return drawing.render()


def _points(values: Sequence[float | None], across: Axis, up: Axis, entries: int) -> list[tuple[float, float]]:
    last = max(len(values) - 1, 1)
    places = [1 + i * (entries - 1) / last for i in range(len(values))]
    return [(across(x), up(v)) for x, v in zip(places, values, strict=True) if v is not None and math.isfinite(v)]


def _legend(drawing: Drawing, y: float, entries: Sequence[tuple[str, str]]) -> None:
    for i, (kind, words) in enumerate(entries):
        drawing.line(LEFT, y - 4 + 16 * i, LEFT + 22, y - 4 + 16 * i, kind)
        drawing.text(LEFT + 28, y + 16 * i, words, "tick", "start")


def _positive(value: Any) -> bool:
    return value is not None and math.isfinite(value) and value > 0
