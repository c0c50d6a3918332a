"""Frequencies and means with their intervals, each beside what it must not pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from simopt.report.svg import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Axis, Drawing

Shown = Mapping[str, Any]

ROW = 34.0
LONGEST = 46  # characters of a label


def frequencies(groups: Sequence[Shown]) -> Markup:
    """P(bad) of every group: the Clopper-Pearson interval as a bar, the frequency as a disc, delta as a line to stay left of."""
    ends = [value for g in groups for value in (g["high"], g["delta"]) if _positive(value)]
    high = max([*ends, 1e-12])
    low = min([g["delta"] for g in groups if _positive(g["delta"])] + [value for value in ends if value > 0], default=high)
    wide = high / low > 30
    axis = Axis(low / 10, min(high * 1.5, 1.0), LEFT, WIDTH - RIGHT, "log") if wide else Axis(0.0, high * 1.08, LEFT, WIDTH - RIGHT)
    rows = [(_frequency_label(g), g["low"], g["high"], _observed(g), g["delta"]) for g in groups]
    says = "; ".join(f"{label}: between {lo:.3g} and {hi:.3g}, allowed {delta:.3g}" for label, lo, hi, _, delta in rows)
    known = all(g["draws"] is None for g in groups)
    return _rows(axis, rows, f"probability of failure, {'known' if known else '99.9 % interval'}; the line is δ", says)


def means(groups: Sequence[Shown]) -> Markup:
    """The mean of every group with its interval, and its bound, which it must not pass to the right."""
    ends = [value for g in groups for value in (g["low"], g["high"], g["mean"], g["bound"]) if _finite(value)]
    spread = (max(ends) - min(ends)) or abs(max(ends)) or 1.0
    axis = Axis(min(ends) - 0.06 * spread, max(ends) + 0.06 * spread, LEFT, WIDTH - RIGHT)
    rows = [
        (
            _cut(f"{g['group']}: mean {g['mean']:.4g} of {g['draws']}".lstrip(": ")),
            g["low"] if _finite(g["low"]) else axis.low,
            g["high"] if _finite(g["high"]) else axis.high,
            g["mean"],
            g["bound"],
        )
        for g in groups
    ]
    says = "; ".join(f"{label}, between {lo:.3g} and {hi:.3g}, bound {bound:.3g}" for label, lo, hi, _, bound in rows)
    return _rows(axis, rows, "expectation with its interval; the line is the bound", says)


def _rows(axis: Axis, rows: Sequence[tuple[str, float, float, float | None, float]], name: str, description: str) -> Markup:
    drawing = Drawing(TOP + ROW * len(rows) + 6 + BOTTOM, description)
    for i, (label, low, high, seen, limit) in enumerate(rows):
        y = TOP + ROW * i + 24
        good, bad = high <= limit, low > limit
        kind = "ok" if good else "bad" if bad else "mid"
        drawing.text(axis.start, y - 11, label, "tick", "start")
        drawing.line(axis.start, y, axis.end, y, "guide")
        if axis(high) - axis(low) > 1:
            drawing.rect(axis(low), y - 4, axis(high) - axis(low), 8, f"{kind} soft")
        if seen is not None:
            drawing.mark(axis(seen), y, not bad, 3.6)
        drawing.line(axis(limit), y - 8, axis(limit), y + 8, "bound")
    drawing.below(axis, TOP + ROW * len(rows) + 6, name)
    return drawing.render()


def _frequency_label(group: Shown) -> str:
    if group["draws"] is None:
        return _cut(f"{group['group']}: known, {group['high']:.3g}".lstrip(": "))
    return _cut(f"{group['group']}: {group['bad']} of {group['draws']} draws bad".lstrip(": "))


def _observed(group: Shown) -> float | None:
    if group["draws"]:
        return float(group["bad"] / group["draws"])
    return float(group["high"]) if group["draws"] is None else None


def _cut(label: str) -> str:
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def _finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _positive(value: Any) -> bool:
    return _finite(value) and value > 0
