"""The unit of a gap: what it is divided by, and how much of it is rounding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.arithmetic.interval import EPS

if TYPE_CHECKING:
    from simopt.core.arrays import Point

ROUNDING = 1e3 * EPS  # of the sizes of the objective's terms: a gap that is no larger is rounding, whatever the tolerance
INSIDE = 16  # and one for each entry of the point: roundings of terms that cancel inside of functions, which a bracket around 0 may have
EXCUSED = 1e-6  # of these: up to where a bracket around 0 is said to be near it


def ratio(gap: float, unit: Any) -> float:
    """gap / unit with 0/0 = 0 and x/0 = ∞; ∞ also for a unit that overflowed."""
    if gap == 0.0:
        return 0.0
    return gap / unit if 0.0 < unit < math.inf else math.inf


def as_cancelled(fraction: float, point: Point) -> float:
    """The relative size of a bracket around 0, from its fraction of the terms that cancel inside of functions.

    At most `INSIDE` roundings of these, and one for each entry of the point, are rounding; a larger fraction is more than `ROUNDING`.

    Residuals of size 0.1 of targets around 1e12 are 1e-13 of these, and known to three digits. A thousand roundings of the objective's
    terms are rounding, a thousand of a residual's terms may be the answer. A sum of n terms is known to n + 4 roundings in intervals.
    """
    terms = max((np.size(value) for value in point.values()), default=0) + INSIDE
    return fraction if fraction <= terms * EPS else max(fraction, math.nextafter(ROUNDING, 1.0))
