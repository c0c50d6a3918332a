"""Plain data that a plot of one check needs, beyond its slack: a frequency with its interval, a fit, an array along its bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from simopt.core.arrays import Array

Figure = Mapping[str, Any]
Entry = TypeVar("Entry")

LEAST, LONGEST, POINTS = 8, 100_000, 80  # entries of an array that make a path, entries looked at, entries kept


def frequency(group: str, low: float, high: float, delta: float, bad: int | None = None, draws: int | None = None) -> Figure:
    """An interval for a probability beside the delta that it must not pass; without draws the probability is known."""
    return {"kind": "frequency", "group": group, "bad": bad, "draws": draws, "low": min(low, high), "high": high, "delta": delta}


def mean(group: str, value: float, low: float, high: float, bound: float, draws: int) -> Figure:
    """An interval for an expectation beside its bound."""
    return {"kind": "mean", "group": group, "draws": draws, "mean": value, "low": min(low, high), "high": high, "bound": bound}


def fit(sizes: Array, values: Array, fitted: tuple[float, float], claimed: tuple[str, float, float], window: Any) -> Figure:
    """Points of a log-log fit with the slope that was fitted (and its error) and what is claimed: direction, slope, tolerance."""
    direction, slope, tolerance = claimed
    return {
        "kind": "rate",
        "sizes": thinned([float(size) for size in sizes]),
        "values": thinned([float(value) for value in values]),
        "fitted": fitted[0],
        "error": fitted[1],
        "slope": slope,
        "direction": direction,
        "tolerance": tolerance,
        "window": None if window is None else [float(edge) for edge in window],
    }


def path(pairs: Sequence[tuple[float | None, float | None]], upper: bool) -> Figure | None:
    """An array compared with its bounds entry by entry: what is measured along a path, and what it must stay below or above."""
    if not LEAST <= len(pairs) <= LONGEST:
        return None
    kept = thinned(pairs)
    measured, bound = ([pair[side] for pair in kept] for side in (0, 1))
    return {"kind": "path", "measured": measured, "bound": bound, "upper": upper, "entries": len(pairs)}


def thinned(values: Sequence[Entry]) -> list[Entry]:
    """At most POINTS entries of a longer list, evenly spaced, both ends included."""
    if len(values) <= POINTS:
        return list(values)
    return [values[round(i * (len(values) - 1) / (POINTS - 1))] for i in range(POINTS)]
