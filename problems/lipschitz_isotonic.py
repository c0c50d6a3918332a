"""Isotonic regression with bounds on the slopes and on the range."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import Axes, Extended, Targets
from simopt.model.problem import ALL_CONES, Example, Law, Problem, Rescale, freeze, problem
from simopt.problems.domains import chain
from simopt.problems.domains.chain import High, Low, Slopes, UnboundedSlopes, Weights
from simopt.problems.examples import chain as chain_cases
from simopt.problems.norms import squares

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

Sorted = Annotated[Array, partial(chain.positions, remedy="sort the samples, or call lipschitz_isotonic, which does"), Axes("n")]


@problem
@dataclass(frozen=True, eq=False)
class LipschitzIsotonic(Problem):
    r"""min_x ½ Σ_i w_i (x_i − y_i)²   subject to   l_i ≤ x_{i+1} − x_i ≤ u_i and lo ≤ x ≤ hi,   z sorted,
    l_i = a_i (z_{i+1} − z_i) and u_i = min(L, b_i)(z_{i+1} − z_i), with slopes 0 ≤ a_i ≤ b_i of each interval (a = 0, b = ∞ by default).

    Equal z have equal x. L = ∞ leaves isotonic regression. The range binds at its ends, x_1 ≥ lo and x_n ≤ hi. The multipliers are τ^+ of
    the upper rows, τ^− of the lower ones, −τ_0 ≥ 0 of x_1 ≥ lo, −τ_n ≥ 0 of x_n ≤ hi. With q_i = τ_{i−1} − τ_i, minimise ½w(x − y)² + qx
    at x = y − q/w (q = 0 where w = 0). The dual is
        D(τ) = Σ q_i y_i − q_i²/(2w_i) − Σ u_i τ_i^+ + Σ l_i τ_i^− − τ_0 lo + τ_n hi          (τ_i ≤ 0 where u_i = ∞).
    By Abel summation Σ q_i x_i = Σ τ_i d_i + τ_0 x_1 − τ_n x_n, d_i = x_{i+1} − x_i. For feasible x the gap is a sum of non-negative terms.
        P − D = Σ ½w_i (x_i − y_i + q_i/w_i)² + Σ τ_i^+ (u_i − d_i) + τ_i^− (d_i − l_i) − τ_0 (x_1 − lo) − τ_n (hi − x_n).
    A point suggests τ_i = τ_0 + Σ_{j≤i} w_j(x_j − y_j), for which the squares vanish.

    Parameters
    ----------
    positions : (n,) array
        z, non-decreasing.
    targets : (n,) array
        y.
    lipschitz : float
        L ≥ 0, possibly ∞.
    weights : (n,) array or None
        w ≥ 0, not all 0; None: all 1. At w = 0 the fit is interpolated, and not unique.
    lower_slopes, upper_slopes : (n−1,) arrays or None
        a and b, b possibly ∞.
    low, high : float or None
        lo and hi; None: no bound.
    outside : str
        what becomes of targets outside of [lo, hi]: "refuse", "clip" (to the range), or "keep" (the range bounds the fit only).

    Point {"x": (n,)}, multipliers {"lipschitz": (n−1,), "monotone": (n−1,), "upper": (of the steps `capped`,), "low": (), "high": ()} (a
    row that is not declared may be missing). Scale: the objective at the fit that rises least (the best constant, where a = 0); where that
    fits y, ½ Σ w y² (see `scale`). If y = 0 is fitted by 0, restore returns x = 0.
    Source: Kakade, Kalai, Kanade & Shamir 2011, §4 (LPAV), for a = 0, b = ∞ and [lo, hi] = [0, 1].
    """

    name: ClassVar[str] = "lipschitz-isotonic"
    title: ClassVar[str] = "isotonic regression with bounds on slopes and range"
    source: ClassVar[str] = "Kakade, Kalai, Kanade & Shamir 2011, LPAV"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("lipschitz",)
    by_hand: ClassVar[str] = "restoration and multipliers in O(n) along the chain; time"

    positions: Sorted
    targets: Targets
    lipschitz: Extended = 1.0
    weights: Weights | None = None
    lower_slopes: Slopes | None = None
    upper_slopes: UnboundedSlopes | None = None
    low: Low = None
    high: High = None
    outside: str = "refuse"

    @property
    def growth(self) -> int:
        """Squares."""
        return 2

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.targets)
        for name in ("lower_slopes", "upper_slopes"):
            chain.check_count(name, getattr(self, name), n)
        targets = chain.in_range(self.targets, self.low, self.high, self.outside)
        freeze(self, targets=targets, weights=np.ones(n) if self.weights is None else self.weights)
        chain.check_bounds(self.positions, self.lower_slopes, self.steepest, self.low, self.high)

    @property
    def mass(self) -> Array:
        """w, shape (n,)."""
        return np.ones(len(self.targets)) if self.weights is None else self.weights

    @cached_property
    def centre(self) -> float:
        """The weighted mean of y."""
        first = float(self.targets[np.argmax(self.mass > 0)])
        return first + float(self.mass @ (self.targets - first)) / float(self.mass.sum())

    @cached_property
    def _void(self) -> bool:
        """Whether y = 0 is fitted by 0."""
        return self._holds(0.0) and not np.any(self.mass * self.targets) and not np.any(self.least_steps(FLOAT))

    def _holds(self, value: float) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    @cached_property
    def steepest(self) -> Array | float:
        """min(L, b), a number where all b = ∞."""
        return self.lipschitz if self.upper_slopes is None else np.minimum(self.lipschitz, self.upper_slopes)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Steps without an upper bound: min(L, b_i) = ∞ and z_{i+1} > z_i."""
        return np.isinf(self.steepest) & (np.diff(self.positions) > 0)

    @cached_property
    def capped(self) -> NDArray[np.intp]:
        """Steps of the row `upper`: b_i < ∞, and ties where L = ∞."""
        bounded = np.zeros(len(self.free), dtype=bool) if self.upper_slopes is None else np.isfinite(self.upper_slopes)
        return np.flatnonzero(bounded | (~self.free & (self.lipschitz == math.inf)))

    @property
    def caps(self) -> Array:
        """b_i (z_{i+1} − z_i) of the steps `capped`; 0 for ties, where b may be ∞."""
        rise = np.diff(self.positions)[self.capped]
        if self.upper_slopes is None:
            return np.zeros_like(rise)
        return rise * np.where(rise > 0, self.upper_slopes[self.capped], 0.0)

    def steps(self, num: Arithmetic) -> Value:
        """u_i, with 0 in place of ∞ (see `free`)."""
        z = num.lift(self.positions)
        return (z[1:] - z[:-1]) * num.lift(np.where(np.isinf(self.steepest), 0.0, self.steepest))

    def least_steps(self, num: Arithmetic) -> Value:
        """l_i."""
        if self.lower_slopes is None:
            return num.zeros(len(self.targets) - 1)
        z = num.lift(self.positions)
        return (z[1:] - z[:-1]) * num.lift(self.lower_slopes)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise ½ Σ w(x − y)² s.t. `monotone` d ≥ l, `lipschitz` (if L < ∞), `upper` (of steps with a bound b), `low`, `high`."""
        import cvxpy as cp

        x, rows = cp.Variable(len(self.targets), name="x"), []
        if len(self.targets) > 1:
            d = x[1:] - x[:-1]
            rows.append((d >= self.least_steps(FLOAT)).set_label("monotone"))
            if self.lipschitz < math.inf:
                bound = cp.Parameter(nonneg=True, name="lipschitz", value=self.lipschitz)
                rows.append((d <= bound * np.diff(self.positions)).set_label("lipschitz"))
            if self.capped.size:
                rows.append((d[self.capped] <= self.caps).set_label("upper"))
        if self.low is not None:
            rows.append((x[0] >= self.low).set_label("low"))
        if self.high is not None:
            rows.append((x[-1] <= self.high).set_label("high"))
        return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(cp.multiply(np.sqrt(self.mass), x - self.targets))), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """½ Σ w(x − y)²."""
        residual = num.lift(point["x"]) - num.lift(self.targets)
        return num.dot(num.lift(self.mass) * residual, residual) / 2

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """Steps clipped to [l, u], drawn towards l if they climb more than the range holds; shifted to Σ w(x − y) = 0 or into the range."""
        if self._void:
            return {"x": num.zeros(len(self.targets))}
        given, w, c = num.lift(point["x"]), num.lift(self.mass), num.lift(self.centre)
        least = self.least_steps(num)
        d = self._clipped(num, given[1:] - given[:-1], least)
        if self.low is not None and self.high is not None:
            excess = d - least
            budget = num.lift(self.high) - num.lift(self.low) - num.sum(least)
            d = least + excess * chain.fitting_fraction(num, num.sum(excess), budget)
        climb = num.concat([num.zeros(1), num.cumsum(d)])
        x = climb + c  # from the centre: on an x[0] that is far off the steps would drown
        shift = num.dot(w, num.lift(self.targets) - x) / num.sum(w)
        if self.high is not None:
            shift = num.minimum(shift, num.lift(self.high) - x[-1])
        if self.low is not None:
            shift = num.maximum(shift, num.lift(self.low) - c)
        x = x + shift
        x = x if self.high is None else num.minimum(x, num.lift(self.high))  # to rounding it is there already
        return {"x": x if self.low is None else num.maximum(x, num.lift(self.low))}

    def _clipped(self, num: Arithmetic, d: Value, least: Value) -> Value:
        rising = num.maximum(d, least)
        below, free = num.minimum(rising, self.steps(num)), num.lift(self.free.astype(float))
        return below + (rising - below) * free if np.any(self.free) else below

    def chain_multipliers(self, multipliers: Multipliers) -> Array:
        """τ_0, …, τ_n from any multipliers, dual feasible."""
        tau = np.zeros(len(self.targets) + 1)
        inner, every = tau[1:-1], slice(None)
        for name, entries, sign in (("lipschitz", every, 1.0), ("upper", self.capped, 1.0), ("monotone", every, -1.0)):
            if name in multipliers:
                inner[entries] += sign * np.asarray(multipliers[name], dtype=float).reshape(-1)
        for name, end in (("low", 0), ("high", -1)):
            if name in multipliers:
                tau[end] = -float(np.asarray(multipliers[name]).reshape(()))
        return chain.dual_feasible(tau, self.free, self.mass, self.low, self.high)

    def as_multipliers(self, tau: Array) -> Multipliers:
        """The multipliers of the rows for τ_0, …, τ_n."""
        up = np.where(self.free, 0.0, np.maximum(tau[1:-1], 0.0))
        rows = {"lipschitz": up, "monotone": np.maximum(-tau[1:-1], 0.0)}
        ends = {"low": (self.low, tau[0]), "high": (self.high, tau[-1])}
        return rows | {name: np.asarray(max(-end, 0.0)) for name, (bound, end) in ends.items() if bound is not None}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(τ), with y, lo and hi counted from one c: Σ q = τ_0 − τ_n."""
        tau = self.chain_multipliers(multipliers)
        t, c = num.lift(tau), num.lift(self.centre)
        q = t[:-1] - t[1:]
        value = num.dot(q, num.lift(self.targets) - c) - num.dot(q / num.lift(chain.divisor(self.mass)), q) / 2
        value = value - num.dot(self.steps(num), num.pos(t[1:-1])) + num.dot(self.least_steps(num), num.pos(t[1:-1] * -1))
        for end, bound, sign in ((0, self.low, -1.0), (-1, self.high, 1.0)):
            value = value if bound is None else value + t[end] * (num.lift(bound) - c) * sign
        return value

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ ½w(x − y + q/w)² + Σ τ^+(u − d) + τ^−(d − l) − τ_0(x_1 − lo) − τ_n(hi − x_n)."""
        tau, x = self.chain_multipliers(multipliers), num.lift(point["x"])
        if squares.all_zero(num, self.mass * self.targets, x, tau):
            return num.lift(0.0)
        t, w = num.lift(tau), num.lift(self.mass)
        rest = x - num.lift(self.targets) + (t[:-1] - t[1:]) / num.lift(chain.divisor(self.mass))
        d, least = x[1:] - x[:-1], self.least_steps(num)
        value = num.dot(w * rest, rest) / 2 + num.dot(num.pos(t[1:-1]), num.pos(self.steps(num) - d))
        value = value + num.dot(num.pos(t[1:-1] * -1), num.pos(d - least))
        for end, bound, inward in ((0, self.low, 1.0), (-1, self.high, -1.0)):
            value = value if bound is None else value - t[end] * num.pos((x[end] - num.lift(bound)) * inward)
        return value

    def multipliers(self, point: Point) -> Multipliers:
        """τ_i = τ_0 + Σ_{j≤i} w_j (x_j − y_j), summed from the nearer end; τ_0 from the end of the range that x touches."""
        x = np.asarray(point["x"], dtype=float)
        touch = chain.ROUNDING * max(squares.largest(x), *(abs(bound or 0.0) for bound in (self.low, self.high)))
        pressed = (self.low is not None and bool(x[0] - self.low <= touch), self.high is not None and bool(self.high - x[-1] <= touch))
        above = np.where(self.free, math.inf, np.maximum(self.steps(FLOAT) - np.diff(x), 0.0))
        below = np.maximum(np.diff(x) - self.least_steps(FLOAT), 0.0)
        return self.as_multipliers(chain.suggested(self.mass * (x - self.targets), self.mass, pressed, below, above))

    def distance(self, gap: float, point: Point | None = None) -> float:
        """√(2 gap/min w): the objective is strongly convex, ½ Σ w (x − x*)² ≤ gap; ∞ where a weight is 0."""
        least = float(self.mass.min())
        return math.sqrt(2.0 * max(gap, 0.0) / least) if least > 0 else math.inf

    def trivial_point(self) -> Point:
        """The fit that rises least: the weighted mean everywhere if a = 0 and the range holds it."""
        return self.restore({"x": np.zeros(len(self.targets))})

    def scale(self) -> float:
        """½ Σ w(y − t)² with t the trivial point.

        Where t fits y, it is ½ Σ w y², or ½ Σ w times the square of the climb, the sum of the least steps, if there is one.
        """
        if self._void:
            return 0.0
        t, held, climb = self.trivial_point()["x"], self.mass > 0, float(np.sum(self.least_steps(FLOAT)))
        y = self.targets[held]
        if climb > 0.0:
            fits = squares.largest(t[held] - y) <= chain.ROUNDING * squares.largest(t)
        else:
            fits = self._holds(y[0]) and bool(np.all(y == y[0]))
        if fits:
            return 0.5 * (float(self.mass.sum()) * climb**2 or float(self.mass @ self.targets**2))
        return float(self.objective({"x": t}))

    def normalised(self) -> tuple[LipschitzIsotonic, Rescale]:
        """(y − c)/σ with c the mean, z/ζ, w/ω: slopes × ζ/σ, x = c + σx', multipliers × ωσ, values × ωσ²; σ, ζ, ω powers of two."""
        units = chain_cases.natural_units(self)
        if units is None:
            return self, Rescale()
        fields, centre, sigma, omega = units

        def back(values: Point) -> Point:
            return {key: centre + sigma * np.asarray(value) for key, value in values.items()}

        return replace(self, **fields), Rescale(back, squares.scaling(**dict.fromkeys(chain_cases.ROWS, omega * sigma)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive bounds on slopes and range, weights, ties, L = ∞ and L = 0; constant and zero targets, one sample."""
        for name, fields, degenerate in chain_cases.instances(rng):
            yield Example(name, cls(**fields), degenerate)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of y, of z, of the weights; shift of y; reversal; duplication."""
        return chain_cases.laws()

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = None,
        feature: str | int | None = None,
        lipschitz: float | None = None,
    ) -> Self:
        """Recipe: all rows (or `samples`), along one standardised feature: by default the one that correlates best with the target.

        A feature that correlates negatively is negated, so that the fit increases. L defaults to 2 std(y) per standard deviation of z.
        """
        z, targets = chain_cases.recipe(dataset, rng, samples, feature)
        return cls(z, targets, 2.0 * float(targets.std()) if lipschitz is None else lipschitz)
