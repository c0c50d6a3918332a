"""Isotonic regression with a Lipschitz bound on the steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt import validate
from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arrays import Array, Multipliers, Point
from simopt.errors import InvalidProblem
from simopt.problem import ALL_CONES, Example, Image, Law, Problem, Rescale, change_of_units, freeze, problem
from simopt.problems import _recipes, _squares

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.datasets import Dataset

Value = Any


@problem
@dataclass(frozen=True, eq=False)
class LipschitzIsotonic(Problem):
    r"""min_x ½ Σ_i w_i (x_i − y_i)²   subject to   0 ≤ x_{i+1} − x_i ≤ u_i = L (z_{i+1} − z_i),   z sorted.

    Equal z have equal x. L = ∞ leaves isotonic regression. With multipliers a ≥ 0 of the Lipschitz rows and b ≥ 0 of the monotone rows,
    τ = a − b, τ_0 = τ_n = 0 and q_i = τ_{i−1} − τ_i, minimising ½w(x − y)² + qx at x = y − q/w gives the dual
        D(τ) = Σ q_i y_i − q_i²/(2w_i) − Σ u_i τ_i^+          (τ_i ≤ 0 where u_i = ∞).
    By Abel summation Σ q_i x_i = Σ τ_i d_i with d_i = x_{i+1} − x_i, so for feasible x the gap is a sum of non-negative terms,
        P − D = Σ ½w_i (x_i − y_i + q_i/w_i)² + Σ τ_i^+ (u_i − d_i) + τ_i^− d_i.
    A point with Σ w(x − y) = 0 suggests τ_i = Σ_{j≤i} w_j(x_j − y_j), for which the squares vanish.

    Parameters
    ----------
    positions : (n,) array
        z, non-decreasing.
    targets : (n,) array
        y.
    lipschitz : float
        L ≥ 0, possibly ∞.
    weights : (n,) array or None
        w > 0; None: all 1.

    Point {"x": (n,)}, multipliers {"lipschitz": (n−1,), "monotone": (n−1,)} (a row that is not declared may be missing).
    Scale: the objective at the best constant; where that is 0 (constant targets), ½ Σ w y². Where y = 0, restore returns x = 0.
    Source: Kakade, Kalai, Kanade & Shamir 2011, §4 (LPAV).
    """

    name: ClassVar[str] = "lipschitz-isotonic"
    title: ClassVar[str] = "isotonic regression with Lipschitz steps"
    source: ClassVar[str] = "Kakade, Kalai, Kanade & Shamir 2011, LPAV"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("lipschitz",)

    positions: Array
    targets: Array
    lipschitz: float = 1.0
    weights: Array | None = None

    def __post_init__(self) -> None:
        targets = validate.squarable("targets", validate.vector("targets", self.targets))
        n = len(targets)
        positions = validate.squarable("positions", validate.vector("positions", self.positions, length=n))
        falls = np.flatnonzero(np.diff(positions) < 0)
        if falls.size:
            i = int(falls[0])
            raise InvalidProblem(f"positions: not sorted, entry {i} is {positions[i]:g} and entry {i + 1} is {positions[i + 1]:g}")
        weights = np.ones(n) if self.weights is None else validate.squarable("weights", validate.vector("weights", self.weights, length=n))
        if np.any(weights <= 0):
            i = int(np.argmax(weights <= 0))
            raise InvalidProblem(f"weights: entry {i} is {weights[i]:g}, numbers > 0 needed")
        bound = math.inf if self.lipschitz == math.inf else validate.nonnegative("lipschitz", self.lipschitz)
        freeze(self, positions=positions, targets=targets, lipschitz=bound, weights=weights)

    @property
    def _weights(self) -> Array:
        return np.ones(len(self.targets)) if self.weights is None else self.weights

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Steps without an upper bound: L = ∞ and z_{i+1} > z_i."""
        return np.diff(self.positions) > 0 if self.lipschitz == math.inf else np.zeros(len(self.targets) - 1, dtype=bool)

    def steps(self, num: Arithmetic) -> Value:
        """u_i = L(z_{i+1} − z_i), with 0 in place of ∞ (see `free`)."""
        z = num.lift(self.positions)
        return (z[1:] - z[:-1]) * num.lift(0.0 if self.lipschitz == math.inf else self.lipschitz)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise ½ Σ w(x − y)² subject to the rows `monotone` and, if L < ∞, `lipschitz` (for L = ∞, ties by `ties`)."""
        import cvxpy as cp

        x = cp.Variable(len(self.targets), name="x")
        rows = []
        if len(self.targets) > 1:
            d = x[1:] - x[:-1]
            rows.append((d >= 0).set_label("monotone"))
            ties = np.flatnonzero(~self.free)
            if self.lipschitz < math.inf:
                bound = cp.Parameter(nonneg=True, name="lipschitz", value=self.lipschitz)
                rows.append((d <= bound * np.diff(self.positions)).set_label("lipschitz"))
            elif ties.size:
                rows.append((d[ties] <= 0).set_label("ties"))
        residual = cp.multiply(np.sqrt(self._weights), x - self.targets)
        return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(residual)), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """½ Σ w(x − y)²."""
        residual = num.lift(point["x"]) - num.lift(self.targets)
        return num.dot(num.lift(self._weights) * residual, residual) / 2

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """Steps clipped to [0, u_i], added up in `num`, then shifted so that Σ w(x − y) = 0."""
        if not np.any(self.targets):
            return {"x": num.zeros(len(self.targets))}
        given, x, w = num.lift(point["x"]), num.lift(np.full(1, self._mean())), num.lift(self._weights)
        if len(self.targets) > 1:  # from the mean, because of the shift: on an x[0] that is far off the steps would drown
            x = x[0] + num.concat([num.zeros(1), num.cumsum(self._clipped(num, given[1:] - given[:-1]))])
        shift = num.dot(w, num.lift(self.targets) - x) / num.sum(w)
        return {"x": x + shift}

    def _clipped(self, num: Arithmetic, d: Value) -> Value:
        rising = num.pos(d)
        below, free = num.minimum(rising, self.steps(num)), num.lift(self.free.astype(float))
        return below + (rising - below) * free if np.any(self.free) else below

    def prices(self, num: Arithmetic, multipliers: Multipliers) -> tuple[Value, Value]:
        """τ^+ (0 where u = ∞) and τ^−, from floats."""
        count = len(self.targets) - 1
        tau = np.zeros(count)
        if "lipschitz" in multipliers:
            tau += np.asarray(multipliers["lipschitz"], dtype=float).reshape(count)
        if "ties" in multipliers:
            tau[~self.free] += np.asarray(multipliers["ties"], dtype=float).reshape(-1)
        if "monotone" in multipliers:
            tau -= np.asarray(multipliers["monotone"], dtype=float).reshape(count)
        return num.lift(np.where(self.free, 0.0, np.maximum(tau, 0.0))), num.lift(np.maximum(-tau, 0.0))

    def _slopes(self, num: Arithmetic, multipliers: Multipliers) -> tuple[Value, Value, Value]:
        up, down = self.prices(num, multipliers)
        tau = up - down
        return up, down, num.concat([num.zeros(1), tau]) - num.concat([tau, num.zeros(1)])

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """Σ q(y − y_1) − q²/(2w) − Σ uτ^+ (Σ q = 0, so y_1 may be taken off)."""
        if len(self.targets) == 1:
            return num.lift(0.0)
        up, _, q = self._slopes(num, multipliers)
        y = num.lift(self.targets)
        return num.dot(q, y - y[0]) - num.dot(q / num.lift(self._weights), q) / 2 - num.dot(self.steps(num), up)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ ½w(x − y + q/w)² + Σ τ^+(u − d) + τ^− d."""
        if len(self.targets) == 1:
            return self.objective(point, num)
        up, down, q = self._slopes(num, multipliers)
        x, w = num.lift(point["x"]), num.lift(self._weights)
        if _squares.all_zero(num, self.targets, x, up, down):
            return num.lift(0.0)
        rest = x - num.lift(self.targets) + q / w
        d = x[1:] - x[:-1]
        return num.dot(w * rest, rest) / 2 + num.dot(up, num.pos(self.steps(num) - d)) + num.dot(down, num.pos(d))

    def multipliers(self, point: Point) -> Multipliers:
        """τ_i = Σ_{j≤i} w_j (x_j − y_j), summed from the nearer end."""
        force = self._weights * (np.asarray(point["x"], dtype=float) - self.targets)
        force = force - self._weights * (force.sum() / self._weights.sum())
        forward, backward = np.cumsum(force)[:-1], np.cumsum(force[::-1])[::-1][1:]
        half = len(force) // 2
        tau = np.concatenate([forward[:half], -backward[half:]])
        return {"lipschitz": np.where(self.free, 0.0, np.maximum(tau, 0.0)), "monotone": np.maximum(-tau, 0.0)}

    def distance(self, gap: float, point: Point | None = None) -> float:
        """√(2 gap/min w): the objective is strongly convex, ½ Σ w (x − x*)² ≤ gap."""
        return math.sqrt(2.0 * max(gap, 0.0) / float(self._weights.min()))

    def trivial_point(self) -> Point:
        """The weighted mean everywhere."""
        return {"x": np.full(len(self.targets), self._mean())}

    def _mean(self) -> float:
        first = float(self.targets[0])
        return first + float(self._weights @ (self.targets - first)) / float(self._weights.sum())

    def scale(self) -> float:
        """½ Σ w(y − mean)², or ½ Σ w y² for constant targets."""
        spread = 0.0 if np.all(self.targets == self.targets[0]) else float(self.objective(self.trivial_point()))
        return spread or 0.5 * float(self._weights @ self.targets**2)

    def normalised(self) -> tuple[LipschitzIsotonic, Rescale]:
        """(y − c)/σ with c the mean, z/ζ, w/ω: L' = Lζ/σ, x = c + σx', multipliers × ωσ, values × ωσ²; σ, ζ, ω powers of two."""
        centre = self._mean()
        sigma = _squares.power_of_two(_squares.largest(self.targets - centre) or _squares.largest(self.targets))
        zeta = _squares.power_of_two(float(self.positions[-1] - self.positions[0]))
        omega = _squares.power_of_two(_squares.largest(self._weights))
        bound = self.lipschitz * (zeta / sigma)
        if math.isinf(bound) != math.isinf(self.lipschitz) or (bound == 0.0) != (self.lipschitz == 0.0):
            return self, Rescale()  # another problem: the bound left float64
        targets = (self.targets - centre) / sigma
        natural = LipschitzIsotonic(self.positions / zeta, targets, bound, self._weights / omega)

        def back(values: Point) -> Point:
            return {key: centre + sigma * np.asarray(value) for key, value in values.items()}

        return natural, Rescale(back, _squares.times(lipschitz=omega * sigma, monotone=omega * sigma, ties=omega * sigma))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive bounds, weights, ties, L = ∞ and L = 0; constant and zero targets, one sample."""
        z = np.sort(rng.uniform(size=25))
        y = z + 0.3 * rng.normal(size=25)
        yield Example("noise", cls(z, y, 2.0))
        yield Example("labels, steep", cls(z, (y > 0.5).astype(float), 20.0))
        yield Example("weights", cls(z, y, 1.0, rng.uniform(0.1, 3.0, size=25)))
        yield Example("ties", cls(np.floor(6 * z), y, 0.3))
        yield Example("no bound", cls(z, y, math.inf))
        yield Example("constant", cls(z, y, 0.0))
        yield Example("constant targets", cls(z, np.full(25, 3.0), 1.0), degenerate=True)
        yield Example("zero targets", cls(z, np.zeros(25), 1.0), degenerate=True)
        yield Example("one sample", cls(np.array([1.0]), np.array([2.0]), 1.0), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of y and L, of z and 1/L, of the weights; reversal; duplication."""

        def scale_targets(problem: Any, s: float) -> Image:
            image = replace(problem, targets=problem.targets * s, lipschitz=problem.lipschitz * s)
            return Image(image, s * s, _squares.times(x=s), _squares.times(lipschitz=s, monotone=s, ties=s))

        def scale_positions(problem: Any, rng: np.random.Generator) -> Image:
            c = float(2.0 ** rng.integers(-20, 21))
            return Image(replace(problem, positions=problem.positions * c, lipschitz=problem.lipschitz / c))

        def scale_weights(problem: Any, rng: np.random.Generator) -> Image:
            c = float(2.0 ** rng.integers(-20, 21))
            multipliers = _squares.times(lipschitz=c, monotone=c, ties=c)
            return Image(replace(problem, weights=problem.weights * c), c, multipliers=multipliers)

        def reverse(problem: Any, rng: np.random.Generator) -> Image:
            fields = {"positions": -problem.positions[::-1], "targets": -problem.targets[::-1], "weights": problem.weights[::-1]}
            turned = {"x": -1.0, "lipschitz": 1.0, "monotone": 1.0, "ties": 1.0}

            def turn(values: dict[str, Any]) -> dict[str, Any]:
                return {key: np.asarray(value)[::-1] * turned[key] for key, value in values.items()}

            return Image(replace(problem, **fields), 1.0, turn, turn)

        def duplicate(problem: Any, rng: np.random.Generator) -> Image:
            """Each sample twice: twice the objective; the row between the two copies takes the mean of its neighbours' prices."""
            twice = {name: np.repeat(getattr(problem, name), 2) for name in ("positions", "targets", "weights")}

            def multipliers(values: Multipliers) -> Multipliers:
                up, down = problem.prices(FLOAT, values)
                tau = np.concatenate([[0.0], 2.0 * (up - down), [0.0]])
                full = np.empty(2 * len(problem.targets) - 1)
                full[1::2] = tau[1:-1]
                full[0::2] = 0.5 * (tau[:-1] + tau[1:])
                return {"lipschitz": np.maximum(full, 0.0), "monotone": np.maximum(-full, 0.0)}

            return Image(replace(problem, **twice), 2.0, lambda values: {"x": np.repeat(np.asarray(values["x"]), 2)}, multipliers)

        return [
            change_of_units("targets × s, L × s", scale_targets),
            Law("positions × c, L / c", scale_positions),
            Law("weights × c", scale_weights),
            Law("reversal", reverse),
            Law("duplication", duplicate),
        ]

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
        inputs, targets = _recipes.sample(dataset, rng, samples, True)
        column = _recipes.column(dataset, inputs, targets, feature)
        z = inputs[:, column]
        z = -z if float(z @ (targets - targets.mean())) < 0 else z
        order = np.argsort(z, kind="stable")
        bound = 2.0 * float(targets.std()) if lipschitz is None else lipschitz
        return cls(z[order], targets[order], bound)
