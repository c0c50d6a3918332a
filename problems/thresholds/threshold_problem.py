r"""Ordinal regression with thresholds: what all forms of EXC and IMC have in common.

Labels 1 … r, scores f_i, thresholds b_1 … b_{r−1}. The loss is the mean over the samples of the sums of their hinges (`sides`),
    above:  [f_i − b_j + γ]_+,  multiplier p_ij ∈ [0, 1/n];        below:  [b_j + γ − f_i]_+,  multiplier q_ij ∈ [0, 1/n].
With s_i = Σ_j p_ij − q_ij the Lagrangian is γ Σ (p + q) + ⟨s, f⟩ + a term in the thresholds, plus what bounds or penalises f, R. So
    dual = γ Σ (p + q) + (what the thresholds leave) + min_f R(f) + ⟨s, f⟩.
    gap  = Σ (1/n − a)[h]_+ + a[−h]_+ over the hinges + (what the thresholds leave) + R(f) + ⟨s, f⟩ − its minimum.
If samples have weights, these over their sum (`problems.sample_weights`) stand in place of 1/n.
A problem takes its thresholds (fixed, learned, implicit) from `kinds` and its R from `scores`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Positive
from simopt.model.problem import Law, Problem, Rescale
from simopt.problems.examples import exc as exc_cases
from simopt.problems.losses import hinge_rows
from simopt.problems.sample_weights import SampleWeights
from simopt.problems.thresholds.balancing import RepairedMultipliers
from simopt.problems.thresholds.constant_scores import Classes, Grades
from simopt.problems.thresholds.sides import HingeSide, Indices, check_labels


class ThresholdProblem(Problem):
    """Formulas of all forms; a problem declares the fields, in the order of its formula."""

    labels: Grades
    classes: Classes
    gamma: Positive
    by_hand: ClassVar[str] = "time: a derived certificate has to read the declaration, find a point inside and repair its multipliers"
    repairs: ClassVar[tuple[str, ...]] = ("given",)  # ways to make multipliers admissible, of which the better bound is kept

    @property
    def growth(self) -> int:
        """Hinges."""
        return 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_labels(self.labels, self.classes)

    # What the thresholds define.

    @property
    @abstractmethod
    def sides(self) -> tuple[HingeSide, HingeSide]:
        """The hinges above and below."""

    @property
    def order_rows(self) -> int | None:
        """Number of spacing rows; None where thresholds are given."""
        return 0

    @abstractmethod
    def ends(self, num: Arithmetic, point: Point) -> Value:
        """b, shape (r−1,)."""

    @abstractmethod
    def admitted(self, num: Arithmetic, multipliers: Multipliers, repair: str) -> RepairedMultipliers:
        """Multipliers made admissible in one of the ways of `repairs`."""

    @abstractmethod
    def ends_dual(self, num: Arithmetic, repaired: RepairedMultipliers, upper: float) -> Value:
        """The part of the thresholds in the dual; `upper` is a known upper bound on the optimum."""

    @abstractmethod
    def ends_gap(self, num: Arithmetic, repaired: RepairedMultipliers, b: Value, upper: float) -> Value:
        """Their part of the gap."""

    @abstractmethod
    def ends_in_units(self, s: float) -> dict[str, Any]:
        """γ and the other fields that are in the units of the scores, times s."""

    # What R defines.

    @abstractmethod
    def scores(self, num: Arithmetic, point: Point) -> Value:
        """f, shape (n,)."""

    @abstractmethod
    def inside(self, num: Arithmetic, point: Point) -> Point:
        """The parts of the scores, drawn into the bound."""

    @abstractmethod
    def regular(self, num: Arithmetic, point: Point, f: Value) -> Value:
        """R at a feasible point."""

    @abstractmethod
    def regular_dual(self, num: Arithmetic, s: Value) -> Value:
        """min_f R(f) + ⟨s, f⟩."""

    @abstractmethod
    def regular_gap(self, num: Arithmetic, point: Point, s: Value) -> Value:
        """R(f) + ⟨s, f⟩ minus its minimum, as non-negative terms."""

    @abstractmethod
    def reach(self, upper: float) -> float:
        """M: a bound on |f_i| for the optimal f, given an upper bound on the optimum."""

    @abstractmethod
    def in_units(self, s: float, c: float) -> Self:
        """The same problem with values, thresholds and scores × s, and features (of a kernel: the kernel) × c."""

    @abstractmethod
    def units(self) -> tuple[float, float]:
        """Powers of two near the size of the scores, and of the features (of four, near that of the kernel)."""

    @abstractmethod
    def from_units(self, sigma: float, kappa: float) -> Rescale:
        """The way back from values / σ and features / κ."""

    @abstractmethod
    def zero(self) -> Point:
        """f = 0, without thresholds."""

    # Shared formulas.

    def changed(self, **fields: Any) -> Self:
        """The same problem with other values of some fields."""
        this: Any = self
        image: Self = replace(this, **fields)
        return image

    @cached_property
    def high_rows(self) -> Indices:
        """Samples of the hinges above, in their order."""
        return self.sides[0].rows

    @cached_property
    def low_rows(self) -> Indices:
        """Samples of the hinges below, in their order."""
        return self.sides[1].rows

    @cached_property
    def high_ends(self) -> Indices:
        """Thresholds (from 0) of the hinges above."""
        return self.sides[0].ends

    @cached_property
    def low_ends(self) -> Indices:
        """Thresholds (from 0) of the hinges below."""
        return self.sides[1].ends

    @cached_property
    def sample_weights(self) -> tuple[SampleWeights, SampleWeights]:
        """1/n, or the shares of the samples, of the hinges above and below."""
        every = SampleWeights.of(len(self.labels), getattr(self, "weights", None))
        return every.on(self.high_rows), every.on(self.low_rows)

    def arguments(self, num: Arithmetic, f: Value, b: Value) -> tuple[Value, Value]:
        """Arguments of the hinges above and below."""
        gamma = num.lift(self.gamma)
        return f[self.high_rows] - b[self.high_ends] + gamma, b[self.low_ends] - f[self.low_rows] + gamma

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ of all hinges + R."""
        f = self.scores(num, point)
        return self._value(num, point, f)

    def _value(self, num: Arithmetic, point: Point, f: Value) -> Value:
        over, under = self.arguments(num, f, self.ends(num, point))
        above, below = self.sample_weights
        return above.mean(num, num.pos(over)) + below.mean(num, num.pos(under)) + self.regular(num, point, f)

    def capped(self, num: Arithmetic, multipliers: Multipliers) -> tuple[Value, Value]:
        """p and q clipped to [0, 1/n]; missing rows have none."""
        sizes = {"above": self.high_rows.size, "below": self.low_rows.size}
        pairs = zip(sizes.items(), self.sample_weights, strict=True)
        above, below = (hinge_rows.capped(num, entry(multipliers, key, size), sample_weights) for (key, size), sample_weights in pairs)
        return above, below

    def net(self, num: Arithmetic, repaired: RepairedMultipliers) -> Value:
        """s_i = Σ_j p_ij − q_ij."""
        highs, lows = self.sides
        return highs.by_sample(num, repaired.above) - lows.by_sample(num, repaired.below)

    def lower(self, num: Arithmetic, repaired: RepairedMultipliers, upper: float) -> Value:
        """The dual at admissible multipliers."""
        margins = (num.sum(repaired.above) + num.sum(repaired.below)) * num.lift(self.gamma)
        return margins + self.ends_dual(num, repaired, upper) + self.regular_dual(num, self.net(num, repaired))

    def refined(self, multipliers: Multipliers) -> Multipliers | None:
        """Multipliers near the given ones that may bound better, if the form knows any."""
        return None

    def _best(self, num: Arithmetic, multipliers: Multipliers, upper: float) -> RepairedMultipliers:
        """The multipliers made admissible in the way that bounds best (judged in floats)."""
        refined = self.refined(multipliers)
        tries = [(given, repair) for given in (multipliers, refined) if given is not None for repair in self.repairs]
        if len(tries) == 1:
            return self.admitted(num, *tries[0])
        bounds = [float(self.lower(FLOAT, self.admitted(FLOAT, *pair), upper)) for pair in tries]
        return self.admitted(num, *tries[int(np.argmax([-math.inf if math.isnan(bound) else bound for bound in bounds]))])

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """The best bound of the repaired multipliers."""
        return self.lower(num, self._best(num, multipliers, upper), upper)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of hinges, thresholds and R."""
        f, b = self.scores(num, point), self.ends(num, point)
        upper = num.upper(self._value(num, point, f))
        repaired = self._best(num, multipliers, upper)
        over, under = self.arguments(num, f, b)
        above, below = self.sample_weights
        hinges = hinge_rows.slack(num, over, repaired.above, above) + hinge_rows.slack(num, under, repaired.below, below)
        return hinges + self.ends_gap(num, repaired, b, upper) + self.regular_gap(num, point, self.net(num, repaired))

    def multipliers(self, point: Point) -> Multipliers:
        """Subgradients of the hinges (0 at the kinks, where a point does not determine them)."""
        over, under = self.arguments(FLOAT, self.scores(FLOAT, point), self.ends(FLOAT, point))
        above, below = (sample_weights.each(FLOAT) for sample_weights in self.sample_weights)
        return {"above": above * (over > 0), "below": below * (under > 0)}

    def scale(self) -> float:
        """Loss at the trivial point, or γ where that is 0 (then it is optimal)."""
        return self.start or self.gamma

    @cached_property
    def start(self) -> float:
        """Loss at the trivial point."""
        return float(self.objective(self.trivial_point()))

    def score_size(self) -> float:
        """γ, or the loss at f = 0 where that is more: large spacings, or given thresholds far from 0, make scores large."""
        return max(self.gamma, self.start)

    def normalised(self) -> tuple[Self, Rescale]:
        """Scores and values over a power of two near their size, features over one near theirs; multipliers are pure numbers."""
        sigma, kappa = self.units()
        return self.in_units(1.0 / sigma, 1.0 / kappa), self.from_units(sigma, kappa)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of γ, thresholds and what bounds f together; of the features; reversal of the labels; permutation; duplication."""
        return exc_cases.laws()


def entry(multipliers: Multipliers, key: str, size: int) -> Array:
    """The entry as a vector ≥ 0; zeros where it is missing.

    Raises
    ------
    InvalidProblem
        when it has another size.
    """
    if key not in multipliers:
        return np.zeros(size)
    values: Array = np.maximum(np.asarray(multipliers[key], dtype=float).reshape(-1), 0.0)
    if values.size != size:
        raise InvalidProblem(f"multipliers: {key} has {values.size} values, expected {size}")
    return values
