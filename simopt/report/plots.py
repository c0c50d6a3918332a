"""Which plots show a verdict: chosen by what the run kept of the checks behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from simopt.report import curves, distributions, intervals

PATHS, FITS = 1, 3  # drawings of a kind; of the paths those closest to their bounds


@dataclass(frozen=True)
class Plot:
    """One drawing and what it shows, in a line."""

    kind: str
    caption: str
    drawing: Markup


def plots(measured: Mapping[str, Any] | None, resolution: float = 0.0) -> list[Plot]:
    """The drawings of one row; none only if nothing was checked."""
    if measured is None:
        return []
    made = list(_figures(measured))
    drawn = sum(1 for figure in measured["figures"] if figure["kind"] in ("frequency", "mean", "rate"))
    if measured["compared"] > drawn or not made:
        made += list(_distribution(measured, resolution))
    if measured["facts"]:
        made.append(Plot("facts", "Facts that are true or false", distributions.facts(measured["facts"])))
    vacuous = measured["checks"].get("vacuous", 0)
    if not made and vacuous:
        made.append(Plot("facts", "Cases in which the claim says nothing", distributions.facts({"vacuous": vacuous})))
    return made


def _figures(measured: Mapping[str, Any]) -> Iterator[Plot]:
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for figure in measured["figures"]:
        by_kind.setdefault(figure["kind"], []).append(figure)
    more = measured["drawn"] > len(measured["figures"])
    closest = f" ({len(measured['figures'])} of {measured['drawn']}, the closest)" if more else ""
    if groups := by_kind.get("frequency"):
        yield Plot("frequency", f"How often the bound failed{closest}", intervals.frequencies(groups))
    if groups := [g for g in by_kind.get("mean", []) if g["mean"] is not None and g["bound"] is not None]:
        yield Plot("mean", f"Means of the draws{closest}", intervals.means(groups))
    for figure in by_kind.get("rate", [])[:FITS]:
        yield Plot("rate", "The fitted rate and the claimed one", curves.rate(figure))
    lines = [figure for figure in by_kind.get("path", []) if _drawable(figure)]
    for figure in sorted(lines, key=_quotient)[:PATHS]:
        yield Plot("path", f"Entry by entry along an array of {figure['entries']}", curves.path(figure))


def _distribution(measured: Mapping[str, Any], resolution: float) -> Iterator[Plot]:
    points = [point for point in measured["points"] if any(value is not None for value in point)]
    if not points:
        return
    shown, all_of_them = len(points), measured["compared"]
    sample = f"{shown} of {all_of_them} comparisons" if shown < all_of_them else f"{shown} comparison{'' if shown == 1 else 's'}"
    slacks = [slack for slack, _ in points if slack is not None and math.isfinite(slack)]
    with_ratio = [point for point in points if point[1] is not None]
    if len(with_ratio) >= 0.5 * len(points):
        yield Plot("ratio", f"How much of the bound is used: {sample}", distributions.ratios(points))
        if len(with_ratio) == len(points):
            return
        points = [point for point in points if point[1] is None]
        slacks = [slack for slack, _ in points if slack is not None and math.isfinite(slack)]
        sample = "those without a ratio"
    if not slacks:
        return
    if max(slacks) <= 0 and min(slacks) >= -max(1e-3, resolution):
        yield Plot("equality", f"Differences of two sides: {sample}", distributions.equalities(points, resolution))
    else:
        yield Plot("slack", f"Room left by the checks: {sample}", distributions.slacks(points, resolution))


def _drawable(figure: Mapping[str, Any]) -> bool:
    return any(value is not None and math.isfinite(value) for value in figure["measured"])


def _quotient(figure: Mapping[str, Any]) -> float:
    pairs = [(m, b) for m, b in zip(figure["measured"], figure["bound"], strict=True) if m is not None and b is not None]
    sign = 1.0 if figure["upper"] else -1.0
    return min((sign * (b - m) / (abs(b) + abs(m) or 1.0) for m, b in pairs), default=math.inf)
