"""Rates: the slope of a log-log fit against the exponent that a theorem states."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from simopt.claims.check import Check
from simopt.claims.enclosure import NotComparable
from simopt.claims.figure import fit
from simopt.claims.kinds import Evidence
from simopt.core.arrays import Array


def rate(
    sizes: Any,
    values: Any,
    slope: float,
    *,
    direction: Literal["at most", "at least", "equal"] = "at most",
    window: tuple[float, float] | None = None,
    tolerance: float = 0.1,
    name: str = "",
    row: str = "",
) -> Check:
    """Check that log(value) against log(size) has a slope at most (at least, equal to) `slope`, within `tolerance`.

    `values` is one number a size, or an array (size, repetition) of which means are fitted. Only sizes inside `window` count. The slack is
    tolerance minus the excess of the fitted slope, widened by two standard errors of the fit. A fit never refutes an O(·) with a hidden
    constant: what looks wrong is undecided, not refuted.
    """
    n = np.asarray(sizes, dtype=float)
    v = np.asarray(values, dtype=float)
    if v.ndim == 2:
        v = v.mean(axis=1)
    if n.shape != v.shape or n.ndim != 1:
        raise NotComparable(f"rate: sizes and values must agree, got shapes {n.shape} and {np.shape(values)}")
    inside = np.ones(n.size, dtype=bool) if window is None else (n >= window[0]) & (n <= window[1])
    if np.unique(n[inside]).size < 3:
        raise NotComparable("rate: a slope needs at least three different sizes inside the window")
    if not (np.all(n[inside] > 0) and np.all(v[inside] > 0) and np.all(np.isfinite(v[inside]))):
        raise NotComparable("rate: sizes and values must be positive and finite to be fitted on a log-log scale")
    if direction not in ("at most", "at least", "equal"):
        raise NotComparable(f"rate: direction is 'at most', 'at least' or 'equal', got {direction!r}")
    fitted, error = _slope(np.log(n[inside]), np.log(v[inside]))
    excess = {"at most": fitted - slope, "at least": slope - fitted, "equal": abs(fitted - slope)}[direction]
    error *= 2
    low = tolerance - excess - error
    shown = name or f"slope {fitted:.3f} ± {error:.3f}, {direction} {slope:g}"
    shown_fit = fit(n, v, (fitted, error), (direction, slope, tolerance), window)
    return Check(low, max(tolerance - excess + error, 0.0), Evidence.STATISTICAL, shown, row, measured=fitted, drawing=shown_fit)


def _slope(x: Array, y: Array) -> tuple[float, float]:
    """Least-squares slope and its standard error."""
    dx, dy = x - x.mean(), y - y.mean()
    slope = float(dx @ dy / (dx @ dx))
    rest = dy - slope * dx
    return slope, float(np.sqrt(rest @ rest / (x.size - 2) / (dx @ dx)))
