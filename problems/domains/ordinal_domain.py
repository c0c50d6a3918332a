r"""The margin loss of ordinal labels on a finite domain with masses, thresholds free: what goodness of similarities and of kernels share.

Labels 1 … r, thresholds b_1 … b_{r−1} (Kar & Jain's b_2 … b_r; their b_1 is −∞, b_{r+1} = ∞), margin m. A point of mass p_i, label k has
    below (k ≥ 2):      [b_{k−1} + m − f_i]_+,  multiplier c_i ∈ [0, p_i];      above (k ≤ r − 1):  [f_i − b_k + m]_+,  a_i ∈ [0, p_i].
The rows `order`, b_{j+1} − b_j ≥ Δ, have multipliers ν_j ≥ 0. With q = a − c (0 for hinges that are not there) the Lagrangian is
    m Σ (a + c) + Δ Σ ν + Σ q_i f_i + ⟨g, b⟩,   g_j = Σ_{label j+1} c − Σ_{label j} a + ν_j − ν_{j−1}.
If |f_i| ≤ M, some optimal b lies in −(M+m) − (r−1−j)Δ ≤ b_j ≤ M + m + (j−1)Δ (`kinds`). Then every a, c, ν gives a bound. Those with
g = 0, to which multipliers are also balanced (`balancing`), need no box.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import NonNegative
from simopt.model.problem import Problem
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.thresholds.balancing import RepairedMultipliers, spaced
from simopt.problems.thresholds.constant_scores import Classes, Grades, best_constant_thresholds
from simopt.problems.thresholds.sides import HingeSide, explicit

REPAIRS = ("balanced", "given")
OUTWARDS = 1.0 + 1e-14


class OrdinalDomain(Problem):
    """X = {1, …, N} with masses p and labels; a form declares the fields, in the order of its formula, and says what f may be."""

    by_hand: ClassVar[str] = "time: a derived certificate has to read the declaration, find a point inside and repair its multipliers"

    gram: Array
    labels: Grades
    classes: Classes
    masses: Probabilities | None
    delta: NonNegative

    @property
    def growth(self) -> int:
        """Hinges."""
        return 1

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.labels("labels", self.labels, allowed=range(1, self.classes + 1))

    # What a form defines.

    @property
    @abstractmethod
    def hinge_margin(self) -> float:
        """m."""

    @abstractmethod
    def reach(self) -> float:
        """M: a bound on |f_i| at the points of positive mass, rounded up."""

    @abstractmethod
    def predictions_at(self, point: Point, num: Arithmetic) -> Value:
        """f at all points, shape (N,)."""

    @abstractmethod
    def regular_dual(self, num: Arithmetic, q: Value) -> Value:
        """The least Σ q_i f_i."""

    @abstractmethod
    def regular_gap(self, num: Arithmetic, point: Point, q: Value) -> Value:
        """Σ q_i f_i at the point minus the least, as non-negative terms."""

    # Shared formulas.

    @property
    def mass(self) -> Array:
        """p, shape (N,)."""
        n = len(self.labels)
        return np.full(n, 1.0 / n) if self.masses is None else self.masses

    def masses_in(self, num: Arithmetic = FLOAT) -> Value:
        """p; 1/N in the arithmetic asked for if no masses were given."""
        n = len(self.labels)
        return (num.zeros(n) + num.lift(1.0)) / n if self.masses is None else num.lift(self.masses)

    @cached_property
    def sides(self) -> tuple[HingeSide, HingeSide]:
        """The hinges above and below."""
        return explicit(self.labels, self.classes)

    def arguments(self, num: Arithmetic, f: Value, b: Value) -> tuple[Value, Value]:
        """Arguments of the hinges above and below."""
        margin, (highs, lows) = num.lift(self.hinge_margin), self.sides
        return f[highs.rows] - b[highs.ends] + margin, b[lows.ends] - f[lows.rows] + margin

    def caps(self, num: Arithmetic) -> tuple[Value, Value]:
        """p of the rows above and below."""
        p, (highs, lows) = self.masses_in(num), self.sides
        return p[highs.rows], p[lows.rows]

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """Σ p_i of the hinges."""
        over, under = self.arguments(num, self.predictions_at(point, num), num.lift(point["thresholds"]))
        above, below = self.caps(num)
        return num.dot(above, num.pos(over)) + num.dot(below, num.pos(under))

    def feasible_thresholds(self, b: Array, num: Arithmetic) -> Value:
        """Thresholds made Δ-spaced by a running maximum of b_j − (j−1)Δ and clipped to the box: exact steps, summed in `num`."""
        reach, steps = self.reach() + self.hinge_margin, np.arange(self.classes - 1) * self.delta
        c = np.clip(np.maximum.accumulate(np.asarray(b, dtype=float).reshape(-1) - steps), -reach - steps[-1], reach)
        start = num.lift(c[:1])
        if self.classes == 2:
            return start
        rises = num.lift(np.maximum(np.diff(c), 0.0)) + num.lift(self.delta)
        return num.cumsum(num.concat([start, rises]))

    def repaired(self, num: Arithmetic, multipliers: Multipliers, repair: str) -> RepairedMultipliers:
        """a, c clipped to [0, p] and ν to ≥ 0, with g; or a and c balanced to g = 0, with the ν that follows from them."""
        highs, lows = self.sides
        sizes = (("above", highs.rows.size), ("below", lows.rows.size))
        given = [num.lift(_positive(multipliers.get(key), size)) for key, size in sizes]
        above, below = (num.minimum(multiplier, cap) for multiplier, cap in zip(given, self.caps(num), strict=True))
        if repair == "balanced":
            return spaced(num, highs, lows, above, below)
        g = lows.by_threshold(num, below) - highs.by_threshold(num, above)
        if self.classes == 2:
            return RepairedMultipliers(above, below, None, g)
        order = num.lift(_positive(multipliers.get("order"), self.classes - 2))
        return RepairedMultipliers(above, below, order, g + num.concat([order, num.zeros(1)]) - num.concat([num.zeros(1), order]))

    def best_repaired(self, num: Arithmetic, multipliers: Multipliers) -> RepairedMultipliers:
        """The given multipliers or the balanced ones, whichever bounds better in floats."""
        found = [self.repaired(FLOAT, multipliers, repair) for repair in REPAIRS]
        values = [float(self.bound_of(FLOAT, repaired)) for repaired in found]
        best = 0 if values[0] >= values[1] else 1
        return found[best] if num is FLOAT else self.repaired(num, multipliers, REPAIRS[best])

    def net_multipliers(self, num: Arithmetic, repaired: RepairedMultipliers) -> Value:
        """q = a − c of all points, shape (N,)."""
        highs, lows = self.sides
        return highs.by_sample(num, repaired.above) - lows.by_sample(num, repaired.below)

    def box(self) -> tuple[Array, Array]:
        """Bounds on the thresholds, rounded outwards."""
        reach, j = (self.reach() + self.hinge_margin) * OUTWARDS, np.arange(1.0, self.classes)
        spread = self.delta * OUTWARDS
        low: Array = -reach - (self.classes - 1 - j) * spread
        high: Array = reach + (j - 1) * spread
        return low, high

    def bound_of(self, num: Arithmetic, repaired: RepairedMultipliers) -> Value:
        """m Σ (a + c) + Δ Σ ν + the least Σ q f + the least ⟨g, b⟩ in the box."""
        total = (num.sum(repaired.above) + num.sum(repaired.below)) * num.lift(self.hinge_margin)
        total = total + self.regular_dual(num, self.net_multipliers(num, repaired))
        if repaired.order is not None:
            total = total + num.sum(repaired.order) * num.lift(self.delta)
        if repaired.imbalance is None:
            return total
        g, (low, high) = repaired.imbalance, self.box()
        return total + num.dot(num.pos(g), num.lift(low)) - num.dot(num.pos(g * -1), num.lift(high))

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """The better bound of the given and of the balanced multipliers."""
        return self.bound_of(num, self.best_repaired(num, multipliers))

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of hinges, order rows, f and the box; non-negative term by term for thresholds inside the box."""
        b, repaired = num.lift(point["thresholds"]), self.best_repaired(num, multipliers)
        over, under = self.arguments(num, self.predictions_at(point, num), b)
        above, below = self.caps(num)
        total = _left(num, over, repaired.above, above) + _left(num, under, repaired.below, below)
        total = total + self.regular_gap(num, point, self.net_multipliers(num, repaired))
        if repaired.order is not None:
            total = total + num.dot(repaired.order, num.pos(b[1:] - b[:-1] - num.lift(self.delta)))
        if repaired.imbalance is None:
            return total
        g, (low, high) = repaired.imbalance, self.box()
        return total + num.dot(num.pos(g), b - num.lift(low)) + num.dot(num.pos(g * -1), num.lift(high) - b)

    def multipliers(self, point: Point) -> Multipliers:
        """Subgradients of the hinges (0 at the kinks), which are then balanced."""
        over, under = self.arguments(FLOAT, self.predictions_at(point, FLOAT), np.asarray(point["thresholds"], dtype=float))
        above, below = self.caps(FLOAT)
        return {"above": above * (over > 0), "below": below * (under > 0), "order": np.zeros(self.classes - 2)}

    def constant_thresholds(self) -> Array:
        """The best thresholds for f = 0."""
        return best_constant_thresholds(self.labels, self.classes, self.hinge_margin, self.delta, self.mass)

    def scale(self) -> float:
        """The loss of f = 0 with its best thresholds, or the margin where that is 0 (then it is optimal)."""
        return float(self.objective(self.trivial_point())) or self.hinge_margin


def _left(num: Arithmetic, h: Value, multiplier: Value, cap: Value) -> Value:
    """Σ (p − a)[h]_+ + a[−h]_+."""
    return num.dot(num.pos(cap - multiplier), num.pos(h)) + num.dot(multiplier, num.pos(h * -1))


def _positive(values: Any, size: int) -> Array:
    if values is None:
        return np.zeros(size)
    out: Array = np.maximum(np.asarray(values, dtype=float).reshape(-1), 0.0)
    return out
