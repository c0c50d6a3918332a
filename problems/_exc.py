r"""EXC ordinal regression without its bound on w: two hinges a sample whose ends are learned thresholds, and the order of the thresholds.

Labels 1 … r, thresholds b_1 … b_{r−1}. A sample of label k has the hinges
    below (k ≥ 2):      [b_{k−1} + γ − f_i]_+,  multiplier q_i;        above (k ≤ r − 1):  [f_i − b_k + γ]_+,  multiplier p_i,
and the rows `order`, b_{j+1} − b_j ≥ Δ, have multipliers ν_j ≥ 0. The Lagrangian is
    γ Σ (p + q) + Δ Σ ν + ⟨g, w⟩ + ⟨g_b, b⟩,   g = Ψᵀ(p − q),   g_b,j = Σ_{label j+1} q − Σ_{label j} p + ν_j − ν_{j−1}.

Bounded thresholds. If |f_i| ≤ M for all i, then for every b there is one that is no worse, with −(M+γ) − (r−1−j)Δ ≤ b_j ≤ M + γ + (j−1)Δ:
clip c_j = b_j − jΔ to [−(M+γ) − (r−1)Δ, M + γ − Δ]. Clipping keeps c increasing, hence the spacing; a threshold that is lowered this way
stays ≥ M + γ, where the hinges [f − b_j + γ]_+ are 0 and [b_j + γ − f]_+ increase in b_j; likewise one that is raised. (No class need
occur.) So any p, q in [0, 1/n] and ν ≥ 0 give a bound: min over that box of ⟨g_b, b⟩ is finite. Multipliers are also *repaired* to g_b = 0
by shrinking those of whole classes; the better of the two bounds is kept.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from simopt import validate
from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arrays import Array, Multipliers, Point
from simopt.problem import Law, Problem, Rescale, freeze
from simopt.problems import _exc_cases, _hinges, _squares

if TYPE_CHECKING:
    import cvxpy as cp

Value = Any
Prices = tuple[Array, Array, Array]  # p, q, ν


@dataclass(frozen=True, eq=False)
class ThresholdProblem(Problem):
    """Fields and formulas of both forms of EXC; a form adds what bounds w."""

    features: Array
    labels: Array
    classes: int
    gamma: float = 1.0
    delta: float = 0.0

    def _check(self) -> None:
        classes = validate.whole("classes", self.classes, minimum=2)
        labels = validate.labels("labels", self.labels, allowed=tuple(range(1, classes + 1)))
        features = validate.squarable("features", validate.matrix("features", self.features, rows=len(labels)))
        gamma, delta = validate.positive("gamma", self.gamma), validate.nonnegative("delta", self.delta)
        freeze(self, features=features, labels=labels, classes=classes, gamma=gamma, delta=delta)

    # What a form defines.

    @abstractmethod
    def in_units(self, s: float, c: float) -> Self:
        """The same problem with γ, Δ multiplied by s and Ψ by c: thresholds and values × s, w × s/c."""

    @abstractmethod
    def reach(self, upper: float) -> float:
        """M: a bound on |⟨w, ψ_i⟩| for the optimal w, given an upper bound on the optimum."""

    @abstractmethod
    def regular_dual(self, num: Arithmetic, g: Value) -> Value:
        """min_w of the term that bounds w plus ⟨g, w⟩."""

    @abstractmethod
    def regular_gap(self, num: Arithmetic, w: Value, g: Value) -> Value:
        """That term at w plus ⟨g, w⟩ minus its minimum, as non-negative terms."""

    # Shared formulas.

    @cached_property
    def longest(self) -> float:
        """max_i ‖ψ_i‖, rounded up."""
        return _hinges.largest_row(self.features) * (1.0 + 1e-14)

    @cached_property
    def low_rows(self) -> NDArray[np.intp]:
        """Samples of label ≥ 2, which have a hinge `below`."""
        return np.flatnonzero(self.labels >= 2)

    @cached_property
    def high_rows(self) -> NDArray[np.intp]:
        """Samples of label ≤ r − 1, which have a hinge `above`."""
        return np.flatnonzero(self.labels <= self.classes - 1)

    @cached_property
    def low_ends(self) -> NDArray[np.intp]:
        """Index (from 0) of the threshold below each of `low_rows`."""
        return self.labels[self.low_rows].astype(np.intp) - 2

    @cached_property
    def high_ends(self) -> NDArray[np.intp]:
        """Index (from 0) of the threshold above each of `high_rows`."""
        return self.labels[self.high_rows].astype(np.intp) - 1

    def arguments(self, num: Arithmetic, f: Value, b: Value) -> tuple[Value, Value]:
        """Arguments of the hinges above and below."""
        gamma = num.lift(self.gamma)
        return f[self.high_rows] - b[self.high_ends] + gamma, b[self.low_ends] - f[self.low_rows] + gamma

    def loss(self, num: Arithmetic, f: Value, b: Value) -> Value:
        """(1/n) Σ of all hinges."""
        return _hinges.mean_loss(num, *self.arguments(num, f, b), n=len(self.labels))

    def feasible_thresholds(self, b: Array, num: Arithmetic) -> Value:
        """Thresholds made Δ-spaced by a running maximum of b_j − jΔ and clipped to the box: a start and exact steps, added up in `num`."""
        reach = self.reach(math.inf) + self.gamma
        steps = np.arange(1, self.classes) * self.delta
        c = np.maximum.accumulate(np.asarray(b, dtype=float).reshape(-1) - steps)
        c = np.clip(c, -reach - (self.classes - 1) * self.delta, reach - self.delta)
        rises = num.lift(np.maximum(np.diff(c), 0.0)) + num.lift(self.delta)
        start = num.lift(c[:1]) + num.lift(self.delta)
        return start if self.classes == 2 else num.cumsum(num.concat([start, rises]))

    def prices(self, multipliers: Multipliers) -> Prices:
        """p and q clipped to [0, 1/n], ν to ≥ 0; missing rows have none."""
        n = len(self.labels)
        above = _positive(multipliers.get("above"), len(self.high_rows))
        below = _positive(multipliers.get("below"), len(self.low_rows))
        order = _positive(multipliers.get("order"), self.classes - 2)
        return np.minimum(above, 1.0 / n), np.minimum(below, 1.0 / n), order

    def repaired(self, prices: Prices) -> Prices:
        """Multipliers with g_b = 0 to rounding: those of whole classes are shrunk until running sums give a ν ≥ 0.

        With A_j = Σ_{label j+1} q and C_j = Σ_{label j} p, g_b = 0 says ν_j = Σ_{i≤j} (C_i − A_i) ≥ 0 and that the last of them is 0.
        """
        above, below, _ = prices
        count = self.classes - 1
        low = np.bincount(self.low_ends, weights=below, minlength=count)
        high = np.bincount(self.high_ends, weights=above, minlength=count)
        kept_low, kept_high = low.copy(), high.copy()
        running = np.zeros(count + 1)
        for j in range(count):
            kept_low[j] = min(low[j], running[j] + high[j])
            running[j + 1] = max(running[j] + high[j] - kept_low[j], 0.0)
        excess = running[count]
        for j in range(count - 1, -1, -1):
            cut = min(excess, kept_high[j])
            kept_high[j] -= cut
            running[j + 1] -= excess
            excess -= cut
        below = below * np.divide(kept_low, low, out=np.ones(count), where=low > 0)[self.low_ends]
        above = above * np.divide(kept_high, high, out=np.ones(count), where=high > 0)[self.high_ends]
        return above, below, np.maximum(running[1:count], 0.0)

    def best_prices(self, multipliers: Multipliers, upper: float) -> Prices:
        """The given multipliers or the repaired ones, whichever bounds better."""
        given = self.prices(multipliers)
        mended = self.repaired(given)
        return max(given, mended, key=lambda prices: float(self.bound(FLOAT, prices, upper)))

    def gradients(self, num: Arithmetic, prices: Prices) -> tuple[Value, Value, tuple[Value, Value, Value]]:
        """g, g_b and the lifted prices."""
        n = len(self.labels)
        full = np.zeros((2, n))
        full[0, self.high_rows], full[1, self.low_rows] = prices[:2]
        lifted = [_hinges.capped(num, price, n) for price in full]
        g = num.rmatvec(self.features, lifted[0] - lifted[1])
        above, below, order = lifted[0][self.high_rows], lifted[1][self.low_rows], num.lift(prices[2])
        count = self.classes - 1
        g_b = num.matvec(_indicator(self.low_ends, count), below) - num.matvec(_indicator(self.high_ends, count), above)
        if count > 1:
            g_b = g_b + num.concat([order, num.zeros(1)]) - num.concat([num.zeros(1), order])
        return g, g_b, (above, below, order)

    def box(self, upper: float) -> tuple[Array, Array]:
        """Bounds on the thresholds, rounded outwards."""
        reach = (self.reach(upper) + self.gamma) * (1.0 + 1e-14)
        j = np.arange(1.0, self.classes)
        spread = self.delta * (1.0 + 1e-14)
        low: Array = -reach - (self.classes - 1 - j) * spread
        high: Array = reach + (j - 1) * spread
        return low, high

    def bound(self, num: Arithmetic, prices: Prices, upper: float) -> Value:
        """γ Σ (p + q) + Δ Σ ν + min over w + min over the box of ⟨g_b, b⟩."""
        g, g_b, (above, below, order) = self.gradients(num, prices)
        low, high = self.box(upper)
        margins = (num.sum(above) + num.sum(below)) * num.lift(self.gamma)
        if self.classes > 2:
            margins = margins + num.sum(order) * num.lift(self.delta)
        ends = num.dot(num.pos(g_b), num.lift(low)) - num.dot(num.pos(g_b * -1), num.lift(high))
        return margins + self.regular_dual(num, g) + ends

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """The better bound of the given and of the repaired multipliers."""
        return self.bound(num, self.best_prices(multipliers, upper), upper)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """What hinges, order rows, the term in w and the box leave; non-negative term by term for thresholds inside the box."""
        w, b = num.lift(point["w"]), num.lift(point["thresholds"])
        upper = num.upper(self.objective(point, num))
        prices = self.best_prices(multipliers, upper)
        g, g_b, (above, below, order) = self.gradients(num, prices)
        low, high = self.box(upper)
        over, under = self.arguments(num, num.matvec(self.features, w), b)
        n = len(self.labels)
        total = _hinges.slack(num, over, above, n) + _hinges.slack(num, under, below, n) + self.regular_gap(num, w, g)
        if self.classes > 2:
            total = total + num.dot(order, num.pos(b[1:] - b[:-1] - num.lift(self.delta)))
        return total + num.dot(num.pos(g_b), b - num.lift(low)) + num.dot(num.pos(g_b * -1), num.lift(high) - b)

    def multipliers(self, point: Point) -> Multipliers:
        """Subgradients of the hinges (0 at the kinks), which the repair then balances."""
        w, b = (np.asarray(point[key], dtype=float) for key in ("w", "thresholds"))
        over, under = self.arguments(FLOAT, self.features @ w, b)
        share = 1.0 / len(self.labels)
        return {"above": share * (over > 0), "below": share * (under > 0), "order": np.zeros(self.classes - 2)}

    def trivial_point(self) -> Point:
        """w = 0 with the best thresholds."""
        thresholds = best_constant_thresholds(self.labels, self.classes, self.gamma, self.delta)
        return {"w": np.zeros(self.features.shape[1]), "thresholds": thresholds}

    def scale(self) -> float:
        """Loss at the trivial point, or γ where that is 0 (then it is optimal)."""
        return float(self.objective(self.trivial_point())) or self.gamma

    def normalised(self) -> tuple[Self, Rescale]:
        """γ/σ, Δ/σ, Ψ/κ with powers of two near γ and max ‖ψ_i‖: w = w'σ/κ, b = b'σ, f = f'σ, values × σ; multipliers are pure numbers."""
        sigma, kappa = _squares.power_of_two(self.gamma), _squares.power_of_two(self.longest)
        back = _squares.times(w=sigma / kappa, thresholds=sigma, f=sigma, slack_below=sigma, slack_above=sigma)
        return self.in_units(1.0 / sigma, 1.0 / kappa), Rescale(back)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of γ, Δ and what bounds w together; of the features; reversal of the labels; permutation; duplication."""
        return _exc_cases.laws()

    def declared(self, gamma: cp.Parameter, delta: cp.Parameter) -> tuple[cp.Variable, cp.Expression, list[cp.Constraint]]:
        """w, the mean loss, and the rows predictions, below, above, order."""
        import cvxpy as cp

        n, d = self.features.shape
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        b = cp.Variable(self.classes - 1, name="thresholds")
        rows = [(f == self.features @ w).set_label("predictions")]
        losses = []
        hinges = []
        if self.low_rows.size:
            hinges.append(("below", b[self.low_ends] + gamma - f[self.low_rows]))
        if self.high_rows.size:
            hinges.append(("above", f[self.high_rows] - b[self.high_ends] + gamma))
        for label, argument in hinges:
            slack = cp.Variable(argument.size, name=f"slack_{label}")
            rows += [(argument <= slack).set_label(label), (slack >= 0).set_label(f"slack_{label}")]
            losses.append(cp.sum(slack))
        if self.classes > 2:
            rows.append((b[:-1] + delta <= b[1:]).set_label("order"))
        return w, sum(losses) / n, rows


def _positive(values: Any, size: int) -> Array:
    if values is None:
        return np.zeros(size)
    out: Array = np.maximum(np.asarray(values, dtype=float).reshape(-1), 0.0)
    return out


def _indicator(ends: NDArray[np.intp], count: int) -> Array:
    """Rows of 0 and 1 that add up multipliers by threshold."""
    out: Array = (ends[None, :] == np.arange(count)[:, None]).astype(float)
    return out


def best_constant_thresholds(labels: Array, classes: int, gamma: float, delta: float, masses: Array | None = None) -> Array:
    """Thresholds that minimise the loss at f = 0: Σ_j n_{j+1}[b_j + γ]_+ + n_j[γ − b_j]_+, Δ-spaced; n_j counts samples, or adds masses.

    In c_j = b_j − jΔ this is a piecewise linear isotonic problem, so some optimum has every c_j at one of the kinks ±γ − iΔ: a dynamic
    programme over them. O(r²).
    """
    j = np.arange(1, classes)
    counts = np.bincount(labels.astype(np.intp), masses, minlength=classes + 1)[1:]
    kinks = np.unique(np.concatenate([gamma - j * delta, -gamma - j * delta]))
    b = kinks[None, :] + (j * delta)[:, None]
    cost = counts[1:, None] * np.maximum(b + gamma, 0.0) + counts[:-1, None] * np.maximum(gamma - b, 0.0)
    best = np.zeros((classes - 1, kinks.size))
    origin = np.zeros((classes - 1, kinks.size), dtype=np.intp)
    for row in range(classes - 1):
        before = best[row - 1] if row else np.zeros(kinks.size)
        smallest = np.minimum.accumulate(before)
        fresh = np.concatenate([[True], before[1:] < smallest[:-1]])
        origin[row] = np.maximum.accumulate(np.where(fresh, np.arange(kinks.size), 0))
        best[row] = cost[row] + smallest
    choice = int(np.argmin(best[-1]))
    out = np.zeros(classes - 1)
    for row in range(classes - 2, -1, -1):
        out[row] = kinks[choice] + j[row] * delta
        choice = int(origin[row][choice])
    return out
