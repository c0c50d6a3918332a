r"""The three kinds of thresholds: given; learned with explicit constraints and spacing rows (EXC); learned with implicit ones (IMC).

Bounded thresholds. Let |f_i| ≤ M for all i. For every b there is one that is no worse and lies in a box:
    IMC   −(M+γ) ≤ b_j ≤ M + γ;        EXC   −(M+γ) − (r−1−j)Δ ≤ b_j ≤ M + γ + (j−1)Δ.
IMC: clip b_j. Beyond M + γ the hinges [f − b_j + γ]_+ are 0 and [b_j + γ − f]_+ increase in b_j; likewise below −(M+γ).
EXC: clip c_j = b_j − jΔ to [−(M+γ) − (r−1)Δ, M + γ − Δ]. Clipping keeps c increasing, hence the spacing; a threshold that is lowered this
way stays ≥ M + γ, one that is raised ≤ −(M+γ), and the same argument holds. (No class need occur.)
So any multipliers give a bound, with the minimum of ⟨g_b, b⟩ over the box. Multipliers are also balanced to g_b = 0 (`balancing`), which
needs no box; the better of the two bounds is kept.

Order of IMC. At given f the loss of threshold j is L_j(b) = Σ_{y_i ≤ j} [f_i − b + γ]_+ + Σ_{y_i > j} [b + γ − f_i]_+. L_{j+1} − L_j
= Σ_{y_i = j+1} [f_i − b + γ]_+ − [b + γ − f_i]_+ falls in b with slope ≤ −1 a sample (γ > 0: one of the two hinges is active at any b).
Hence if b_j > b_{j+1}, exchanging them does not raise the loss, and lowers it if class j + 1 occurs. So sorted thresholds are no worse, and
optimal ones are sorted by themselves wherever all inner classes occur.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.arithmetic.interval import EPS
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.core.fields import NonNegative
from simopt.model.problem import freeze
from simopt.problems.thresholds import balancing, constant_scores
from simopt.problems.thresholds.balancing import RepairedMultipliers
from simopt.problems.thresholds.sides import HingeSide, explicit, implicit
from simopt.problems.thresholds.threshold_problem import ThresholdProblem, entry

OUTWARDS = 1.0 + 1e-14  # rounds the ends of the box outwards


class FixedThresholds(ThresholdProblem):
    """Thresholds that are data: Σ q b_below − Σ p b_above stands in the dual, and nothing is left of the gap."""

    thresholds: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze(self, thresholds=increasing("thresholds", self.thresholds, self.classes))

    @cached_property
    def sides(self) -> tuple[HingeSide, HingeSide]:
        """The hinges of EXC."""
        return explicit(self.labels, self.classes)

    @property
    def order_rows(self) -> int | None:
        """None: the thresholds are given."""
        return None

    def ends(self, num: Arithmetic, point: Point) -> Value:
        """The given ones."""
        return num.lift(self.thresholds)

    def admitted(self, num: Arithmetic, multipliers: Multipliers, repair: str) -> RepairedMultipliers:
        """p and q clipped to [0, 1/n], and 0 at the hinges that no score within reach makes active: far ones would cost b · rounding."""
        reach, b = self.reach(math.inf) + self.gamma, self.thresholds
        near = {"above": b[self.high_ends] < reach, "below": b[self.low_ends] > -reach}
        rows = {key: np.where(near[key], entry(multipliers, key, near[key].size), 0.0) for key in near}
        return RepairedMultipliers(*self.capped(num, rows))

    def ends_dual(self, num: Arithmetic, repaired: RepairedMultipliers, upper: float) -> Value:
        """Σ q b_below − Σ p b_above."""
        b = num.lift(self.thresholds)
        return num.dot(repaired.below, b[self.low_ends]) - num.dot(repaired.above, b[self.high_ends])

    def ends_gap(self, num: Arithmetic, repaired: RepairedMultipliers, b: Value, upper: float) -> Value:
        """0."""
        return num.lift(0.0)

    def ends_in_units(self, s: float) -> dict[str, Any]:
        """γ and the thresholds × s."""
        return {"gamma": self.gamma * s, "thresholds": self.thresholds * s}

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """Scores drawn into the bound."""
        return self.inside(num, point)

    def trivial_point(self) -> Point:
        """f = 0."""
        return self.zero()


class LearnedThresholds(ThresholdProblem):
    """Thresholds that are variables, in whatever way their order comes about."""

    repairs: ClassVar[tuple[str, ...]] = ("balanced", "given")

    def ends(self, num: Arithmetic, point: Point) -> Value:
        """The point's."""
        return num.lift(point["thresholds"])

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """Scores drawn into the bound, thresholds in order and inside the box."""
        return {**self.inside(num, point), "thresholds": self.feasible_thresholds(num, point["thresholds"])}

    @abstractmethod
    def feasible_thresholds(self, num: Arithmetic, b: Value) -> Value:
        """Thresholds near b that are in order and inside the box."""

    def box(self, upper: float) -> tuple[Array, Array]:
        """Bounds that some optimal thresholds satisfy, rounded outwards."""
        reach = np.full(self.classes - 1, (self.reach(upper) + self.gamma) * OUTWARDS)
        return -reach, reach

    def imbalance(self, num: Arithmetic, above: Value, below: Value) -> Value:
        """A_j − C_j."""
        highs, lows = self.sides
        return lows.by_threshold(num, below) - highs.by_threshold(num, above)

    def ends_dual(self, num: Arithmetic, repaired: RepairedMultipliers, upper: float) -> Value:
        """min over the box of ⟨g_b, b⟩; 0 for g_b = 0."""
        if repaired.imbalance is None:
            return num.lift(0.0)
        low, high = self.box(upper)
        return num.dot(num.pos(repaired.imbalance), num.lift(low)) - num.dot(num.pos(repaired.imbalance * -1), num.lift(high))

    def ends_gap(self, num: Arithmetic, repaired: RepairedMultipliers, b: Value, upper: float) -> Value:
        """Σ g_b,j^+ (b_j − low_j) + g_b,j^− (high_j − b_j): non-negative in the box."""
        if repaired.imbalance is None:
            return num.lift(0.0)
        low, high = self.box(upper)
        return num.dot(num.pos(repaired.imbalance), b - num.lift(low)) + num.dot(num.pos(repaired.imbalance * -1), num.lift(high) - b)


class SpacedThresholds(LearnedThresholds):
    """EXC: hinges against the next thresholds, rows `order`, b_{j+1} − b_j ≥ Δ, with multipliers ν ≥ 0."""

    delta: NonNegative

    @cached_property
    def sides(self) -> tuple[HingeSide, HingeSide]:
        """The hinges of EXC."""
        return explicit(self.labels, self.classes)

    @property
    def order_rows(self) -> int | None:
        """r − 2."""
        return self.classes - 2

    def feasible_thresholds(self, num: Arithmetic, b: Value) -> Value:
        """Thresholds made Δ-spaced by a running maximum of b_j − (j−1)Δ and clipped to the box, with exact steps that `num` adds up.

        Where two neighbours stay as they are, farther apart than Δ whatever the rounding of their difference, nothing has to be added up:
        there a chain of thresholds ends. Within a chain steps are added outwards from the threshold nearest 0 that stays as it is, which
        has the smallest rounding. Otherwise a threshold near 0 would be rounded for nothing beside a large Δ.
        """
        reach, steps = self.reach(math.inf) + self.gamma, np.arange(self.classes - 1) * self.delta
        given = np.asarray(num.mid(num.lift(b)), dtype=float).reshape(-1)
        c = np.clip(np.maximum.accumulate(given - steps), -reach - steps[-1], reach)
        stays = c == given - steps
        rounding = 4.0 * given.size * EPS * (float(np.max(np.abs(given))) + float(steps[-1]) + self.delta)
        ends = np.flatnonzero(stays[1:] & stays[:-1] & (np.diff(given) - rounding > self.delta)) + 1
        if ends.size == given.size - 1 and np.all(stays):
            return num.lift(given)
        rises, out = np.maximum(np.diff(c), 0.0), []
        for chain in np.split(np.arange(given.size), ends):
            anchor = chain[np.argmin(np.where(stays[chain], np.abs(given[chain]), math.inf))]
            start = num.lift(np.where(stays, given, c)[anchor : anchor + 1])
            risen = num.lift(rises[chain[0] : chain[-1]]) + num.lift(self.delta)
            before = anchor - chain[0]
            below = num.cumsum(num.concat([start, risen[:before][::-1] * -1]))[1:][::-1]
            out.append(num.concat([below, num.cumsum(num.concat([start, risen[before:]]))]))
        return num.concat(out)

    def box(self, upper: float) -> tuple[Array, Array]:
        """Bounds on the thresholds, rounded outwards."""
        low, high = super().box(upper)
        j = np.arange(1.0, self.classes)
        spread = self.delta * OUTWARDS
        return low - (self.classes - 1 - j) * spread, high + (j - 1) * spread

    def admitted(self, num: Arithmetic, multipliers: Multipliers, repair: str) -> RepairedMultipliers:
        """p, q clipped to [0, 1/n] and ν to ≥ 0; or p and q balanced, with the ν that follows from them."""
        above, below = self.capped(num, multipliers)
        if repair == "balanced":
            return balancing.spaced(num, *self.sides, above, below)
        imbalance = self.imbalance(num, above, below)
        if self.classes == 2:
            return RepairedMultipliers(above, below, None, imbalance)
        order = num.lift(entry(multipliers, "order", self.classes - 2))
        return RepairedMultipliers(above, below, order, imbalance + num.concat([order, num.zeros(1)]) - num.concat([num.zeros(1), order]))

    def ends_dual(self, num: Arithmetic, repaired: RepairedMultipliers, upper: float) -> Value:
        """Δ Σ ν + min over the box of ⟨g_b, b⟩."""
        rest = super().ends_dual(num, repaired, upper)
        return rest if repaired.order is None else rest + num.sum(repaired.order) * num.lift(self.delta)

    def ends_gap(self, num: Arithmetic, repaired: RepairedMultipliers, b: Value, upper: float) -> Value:
        """Σ ν_j(b_{j+1} − b_j − Δ), and what the box leaves."""
        rest = super().ends_gap(num, repaired, b, upper)
        return rest if repaired.order is None else rest + num.dot(repaired.order, num.pos(b[1:] - b[:-1] - num.lift(self.delta)))

    def ends_in_units(self, s: float) -> dict[str, Any]:
        """γ and Δ × s."""
        return {"gamma": self.gamma * s, "delta": self.delta * s}

    def multipliers(self, point: Point) -> Multipliers:
        """Subgradients of the hinges; ν = 0, for balancing finds its own."""
        return {**super().multipliers(point), "order": np.zeros(self.classes - 2)}

    def trivial_point(self) -> Point:
        """f = 0 with the best thresholds."""
        best = constant_scores.best_constant_thresholds(self.labels, self.classes, self.gamma, self.delta, getattr(self, "weights", None))
        return {**self.zero(), "thresholds": best}


class ImplicitThresholds(LearnedThresholds):
    """IMC: hinges against all thresholds; their order needs no rows."""

    @cached_property
    def sides(self) -> tuple[HingeSide, HingeSide]:
        """The hinges of IMC."""
        return implicit(self.labels, self.classes)

    def feasible_thresholds(self, num: Arithmetic, b: Value) -> Value:
        """All are feasible; sorted and clipped to the box they are no worse."""
        reach = self.reach(math.inf) + self.gamma
        return num.lift(np.clip(np.sort(np.asarray(num.mid(num.lift(b)), dtype=float).reshape(-1)), -reach, reach))

    def admitted(self, num: Arithmetic, multipliers: Multipliers, repair: str) -> RepairedMultipliers:
        """p, q clipped to [0, 1/n]; or balanced as well."""
        above, below = self.capped(num, multipliers)
        if repair == "balanced":
            return balancing.separate(num, *self.sides, above, below)
        return RepairedMultipliers(above, below, None, self.imbalance(num, above, below))

    def ends_in_units(self, s: float) -> dict[str, Any]:
        """γ × s."""
        return {"gamma": self.gamma * s}

    def trivial_point(self) -> Point:
        """f = 0 with the best thresholds."""
        best = constant_scores.best_separate_thresholds(self.labels, self.classes, self.gamma, getattr(self, "weights", None))
        return {**self.zero(), "thresholds": best}


def increasing(name: str, thresholds: Any, classes: int) -> Array:
    """r − 1 numbers, each greater than the one before.

    Raises
    ------
    InvalidProblem
        for another number of them, or naming the first pair that is out of order.
    """
    out = validate.vector(name, thresholds)
    if out.size != classes - 1:
        raise InvalidProblem(f"{name}: {out.size} given, {classes} classes need {classes - 1}, one between each two neighbours")
    wrong = np.diff(out) <= 0
    if np.any(wrong):
        j = int(np.argmax(wrong))
        raise InvalidProblem(
            f"{name}: not increasing, entry {j} is {out[j]:.9g} and entry {j + 1} is {out[j + 1]:.9g}; sort them, without ties"
        )
    return out
