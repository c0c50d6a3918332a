r"""The hinges of ordinal goodness without what is not there: points of mass 0, empty classes, and thresholds that no hinge needs.

A threshold is needed if a hinge of an occupied class meets it from either side. Between occupied classes k < l these are b_k and b_{l−1}
(one and the same for l = k + 1), Δ(l − 1 − k) apart. Thresholds below the first or above the last occupied class go out of the way of
every prediction. Without that, multipliers that balance would lie on the boundary, and interior-point methods have no path to follow.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array, Multipliers
from simopt.problems.domains.ordinal_domain import OrdinalDomain

Indices = NDArray[np.intp]


class Margins:
    """Hinges m − M(f_i − b_e), M = −1 above and 1 below, of the points of positive mass against the needed thresholds.

    Attributes
    ----------
    support : (n,) array of indices
        points of positive mass, in terms of which `rows` count.
    needed : (t,) array of indices
        thresholds, from 0.
    rows, ends, signs, caps : (h,) arrays
        point, index in `needed`, M and p of each hinge; those above first.
    spacing : (t − 1,) array
        how far apart the needed thresholds have to be.
    """

    def __init__(self, problem: OrdinalDomain) -> None:
        self.problem = problem
        mass, labels = problem.mass, problem.labels.astype(np.intp)
        self.support: Indices = np.flatnonzero(mass > 0)
        marks = labels[self.support]
        self.occupied: Indices = np.unique(marks)
        pairs = zip(self.occupied[:-1], self.occupied[1:], strict=True)
        self.needed: Indices = np.array(sorted({int(e) for k, last in pairs for e in (k - 1, last - 2)}), dtype=np.intp)
        self.high: Indices = np.flatnonzero(marks < self.occupied[-1])
        self.low: Indices = np.flatnonzero(marks > self.occupied[0])
        self.rows: Indices = np.concatenate([self.high, self.low])
        met = np.concatenate([marks[self.high] - 1, marks[self.low] - 2])
        self.ends: Indices = np.searchsorted(self.needed, met)
        self.signs: Array = np.concatenate([np.full(self.high.size, -1.0), np.ones(self.low.size)])
        self.caps: Array = mass[self.support][self.rows]
        self.spacing: Array = problem.delta * np.diff(self.needed).astype(float)

    @cached_property
    def columns(self) -> Array:
        """The indicator of the hinges of each needed threshold, shape (h, t)."""
        out: Array = (self.ends[:, None] == np.arange(len(self.needed))).astype(float)
        return out

    def arguments(self, f: Array, b: Array) -> Array:
        """m − M(f − b) of all hinges; f of the points of positive mass, b of the needed thresholds."""
        out: Array = self.problem.hinge_margin - self.signs * (f[self.rows] - b[self.ends])
        return out

    def by_point(self, values: Array) -> Array:
        """Sums over the hinges of each point of positive mass, shape (n,)."""
        out: Array = np.bincount(self.rows, values, minlength=len(self.support)).astype(float)
        return out

    def by_threshold(self, values: Array) -> Array:
        """Sums over the hinges of each needed threshold, shape (t,)."""
        out: Array = np.bincount(self.ends, values, minlength=len(self.needed)).astype(float)
        return out

    def thresholds(self, b: Array) -> Array:
        """All r − 1 of them: Δ apart where nothing needs them, and out of the way before the first and after the last occupied class."""
        problem = self.problem
        out, delta, far = np.zeros(problem.classes - 1), problem.delta, problem.reach() + problem.hinge_margin
        for index, j in enumerate(self.needed):
            until = self.needed[index + 1] if index + 1 < len(self.needed) else problem.classes - 1
            out[j:until] = b[index] + delta * np.arange(until - j)
        below, above = self.occupied[0] - 1, self.occupied[-1] - 1  # thresholds before `below`, and from `above` on
        first = min(out[below] - delta, -far) if len(self.needed) else -far
        out[:below] = first - delta * np.arange(below - 1, -1, -1)
        last = max(out[above - 1] + delta, far) if len(self.needed) else far
        out[above:] = last + delta * np.arange(problem.classes - 1 - above)
        return out

    def scatter(self, values: Array) -> Array:
        """Values of the points of positive mass, and 0 elsewhere, shape (N,)."""
        out = np.zeros(len(self.problem.labels))
        out[self.support] = values
        return out

    def multipliers(self, a: Array) -> Multipliers:
        """One per hinge of the problem, from those of the hinges here; no ν, which balancing finds."""
        highs, lows = self.problem.sides
        index = self.high.size
        above, below = np.zeros(self.problem.labels.size), np.zeros(self.problem.labels.size)
        above[self.support[self.high]], below[self.support[self.low]] = a[:index], a[index:]
        return {"above": above[highs.rows], "below": below[lows.rows], "order": np.zeros(self.problem.classes - 2)}
