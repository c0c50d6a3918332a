"""The monotone Lipschitz function nearest to given values in the largest distance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import Extended, Targets
from simopt.model.problem import ALL_CONES, Example, Image, Law, Problem, Rescale, change_of_units, problem
from simopt.problems.domains import chain
from simopt.problems.domains.chain import Positions
from simopt.problems.examples import chain as chain_cases
from simopt.problems.norms import squares

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class SupDistance(Problem):
    r"""min_x max_i |x_i − y_i|   subject to   0 ≤ x_{i+1} − x_i ≤ u_i = L (z_{i+1} − z_i),   z sorted.

    A linear programme. The rows x_i − y_i ≤ ε and y_i − x_i ≤ ε have multipliers p, m ≥ 0, with Σ p + m = 1 by ε's own row; the steps have
    τ = τ^+ − τ^−. Stationarity in x reads m_i − p_i = β_i := τ_{i−1} − τ_i, τ_0 = τ_n = 0. What is left is
        D(τ) = (Σ β_i y_i − Σ u_i τ_i^+)/‖β‖₁   (τ_i ≤ 0 where u_i = ∞; 0 for τ = 0, and where that is negative).
        P − D = (1/‖β‖₁) [Σ |β_i| (ε − sign(β_i)(y_i − x_i)) + Σ τ_i^+ (u_i − d_i) + τ_i^− d_i],   ε = max |x_i − y_i|.
    One pair (i, j) suffices: x_j ≤ x_i + c(i, j) with c = L(z_j − z_i) for j > i and 0 for j < i. Hence
        P* = ½ max_{i,j} [y_j − y_i − c(i, j)]_+.
    Both max_i (y_i − P* − c(j, i)) and min_i (y_i + P* + c(i, j)) are feasible, and every mean of the two is a solution.

    Parameters
    ----------
    positions : (n,) array
        z, non-decreasing.
    targets : (n,) array
        y.
    lipschitz : float
        L ≥ 0, possibly ∞.

    Point {"x": (n,)}, multipliers {"lipschitz": (n−1,), "monotone": (n−1,)} (others are implied). Scale: the objective at the best
    constant, (max y − min y)/2.
    Source: Kakade, Kalai, Kanade & Shamir 2011, Appendix B, for the class; the envelopes are McShane's.
    """

    name: ClassVar[str] = "sup-distance"
    title: ClassVar[str] = "monotone Lipschitz function nearest in the largest distance"
    source: ClassVar[str] = "Kakade, Kalai, Kanade & Shamir 2011, Appendix B"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("lipschitz",)
    by_hand: ClassVar[str] = "restoration in O(n) along the chain; time"

    positions: Positions
    targets: Targets
    lipschitz: Extended = 1.0

    @property
    def growth(self) -> int:
        """A largest absolute value."""
        return 1

    def __post_init__(self) -> None:
        super().__post_init__()
        chain.check_steps("lipschitz", self.positions, self.lipschitz)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Steps without an upper bound: L = ∞ and z_{i+1} > z_i."""
        return np.diff(self.positions) > 0 if self.lipschitz == math.inf else np.zeros(len(self.targets) - 1, dtype=bool)

    def steps(self, num: Arithmetic) -> Value:
        """u_i, with 0 in place of ∞ (see `free`)."""
        z = num.lift(self.positions)
        return (z[1:] - z[:-1]) * num.lift(0.0 if self.lipschitz == math.inf else self.lipschitz)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise ε subject to the rows `above`, x − y ≤ ε, `below`, y − x ≤ ε, `monotone` and, if L < ∞, `lipschitz` (else `ties`)."""
        import cvxpy as cp

        x, epsilon = cp.Variable(len(self.targets), name="x"), cp.Variable(name="epsilon")
        rows = [(x - self.targets <= epsilon).set_label("above"), (self.targets - x <= epsilon).set_label("below")]
        if len(self.targets) > 1:
            d, tied = x[1:] - x[:-1], np.flatnonzero(~self.free)
            rows.append((d >= 0).set_label("monotone"))
            if self.lipschitz < math.inf:
                bound = cp.Parameter(nonneg=True, name="lipschitz", value=self.lipschitz)
                rows.append((d <= bound * np.diff(self.positions)).set_label("lipschitz"))
            elif tied.size:
                rows.append((d[tied] <= 0).set_label("ties"))
        return cp.Problem(cp.Minimize(epsilon), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """max |x − y|."""
        return num.max(num.abs(num.lift(point["x"]) - num.lift(self.targets)))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """Steps clipped to [0, u], then shifted so that the residuals reach equally far up and down; y itself if it is constant."""
        given, y = num.lift(point["x"]), num.lift(self.targets)
        if np.all(self.targets == self.targets[0]):
            return {"x": y}
        rising = num.pos(given[1:] - given[:-1])
        steps = num.minimum(rising, self.steps(num))
        if np.any(self.free):
            steps = steps + (rising - steps) * num.lift(self.free.astype(float))
        x = num.concat([num.zeros(1), num.cumsum(steps)]) + y[0]
        r = y - x
        return {"x": x + (num.max(r) - num.max(r * -1)) / 2}

    def chain_multipliers(self, multipliers: Multipliers) -> Array:
        """τ_0, …, τ_n in floats, dual feasible; 0 if D(τ) would be negative."""
        tau = np.zeros(len(self.targets) + 1)
        every = np.arange(len(self.targets) - 1)
        for name, entries, sign in (("lipschitz", every, 1.0), ("ties", np.flatnonzero(~self.free), 1.0), ("monotone", every, -1.0)):
            if name in multipliers:
                tau[1:-1][entries] += sign * np.asarray(multipliers[name], dtype=float).reshape(-1)
        tau[1:-1][self.free] = np.minimum(tau[1:-1][self.free], 0.0)
        return tau if self._worth(FLOAT, tau) > 0.0 else np.zeros_like(tau)

    def _worth(self, num: Arithmetic, tau: Array) -> Value:
        t, y = num.lift(tau), num.lift(self.targets)
        return num.dot(t[:-1] - t[1:], y - y[0]) - num.dot(self.steps(num), num.pos(t[1:-1]))

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """(Σ βy − Σ uτ^+)/‖β‖₁, or 0."""
        tau = self.chain_multipliers(multipliers)
        if not np.any(tau):
            return num.lift(0.0)
        t = num.lift(tau)
        return self._worth(num, tau) / num.sum(num.abs(t[:-1] - t[1:]))

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(1/‖β‖₁) [Σ |β|(ε − sign(β)(y − x)) + Σ τ^+(u − d) + τ^− d], or ε for τ = 0."""
        tau, x = self.chain_multipliers(multipliers), num.lift(point["x"])
        epsilon = self.objective(point, num)
        if not np.any(tau):
            return epsilon
        t, d, r = num.lift(tau), x[1:] - x[:-1], num.lift(self.targets) - x
        beta = t[:-1] - t[1:]
        value = num.dot(num.pos(beta), num.pos(r * -1 + epsilon)) + num.dot(num.pos(beta * -1), num.pos(r + epsilon))
        value = value + num.dot(num.pos(t[1:-1]), num.pos(self.steps(num) - d)) + num.dot(num.pos(t[1:-1] * -1), num.pos(d))
        return value / num.sum(num.abs(beta))

    def groups(self) -> NDArray[np.intp]:
        """The first samples of the runs between which L bounds the climb: at equal z if L = ∞, else one run."""
        return np.concatenate([[0], np.flatnonzero(self.free) + 1])

    def worst_pair(self) -> tuple[int, int]:
        """Samples (i, j) for which y_j − y_i − c(i, j) is largest; (0, 0) if no such difference is positive. O(n)."""
        y, starts = self.targets, self.groups()
        climb = np.concatenate([[0.0], np.cumsum(self.steps(FLOAT))])
        j = int(np.argmax(y - np.minimum.accumulate(y[::-1])[::-1]))  # the fit may not fall
        pairs = [(0, 0), (j + int(np.argmin(y[j:])), j)]
        if starts.size == 1:  # it may not climb faster than L
            reach = y - climb
            j = int(np.argmax(reach - np.minimum.accumulate(reach)))
            pairs.append((int(np.argmin(reach[: j + 1])), j))
        else:
            k = int(np.argmax(np.maximum.reduceat(y, starts) - np.minimum.reduceat(y, starts)))
            part = y[starts[k] : starts[k + 1] if k + 1 < starts.size else None]
            pairs.append((int(starts[k]) + int(np.argmin(part)), int(starts[k]) + int(np.argmax(part))))
        return max(pairs, key=lambda pair: float(y[pair[1]] - y[pair[0]] - max(climb[pair[1]] - climb[pair[0]], 0.0)))

    def multipliers(self, point: Point) -> Multipliers:
        """½ on each step between the worst pair, whatever the point: the data alone give the optimal τ."""
        i, j = self.worst_pair()
        up, down = np.zeros(len(self.targets) - 1), np.zeros(len(self.targets) - 1)
        up[i:j] = np.where(self.free[i:j], 0.0, 0.5)
        down[j:i] = 0.5
        return {"lipschitz": up, "monotone": down}

    def trivial_point(self) -> Point:
        """The constant midway between the least and the greatest y."""
        return self.restore({"x": np.zeros(len(self.targets))})

    def normalised(self) -> tuple[SupDistance, Rescale]:
        """(y − c)/σ with c the best constant, z/ζ: L' = Lζ/σ, x = c + σx'; multipliers have no unit; σ, ζ powers of two."""
        c = float(self.trivial_point()["x"][0])
        sigma = squares.power_of_two(squares.largest(self.targets - c) or squares.largest(self.targets))
        zeta = squares.power_of_two(float(self.positions[-1] - self.positions[0]))
        bound = self.lipschitz * (zeta / sigma)
        if chain_cases.other_kind(self.lipschitz, bound):
            return self, Rescale()
        return SupDistance(self.positions / zeta, (self.targets - c) / sigma, bound), Rescale(
            lambda values: {key: sigma * np.asarray(value) + (c if key == "x" else 0.0) for key, value in values.items()}
        )

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Bounds that do and do not bind, ties, L = ∞ and L = 0; targets that are monotone already, constant targets, one sample."""
        z = np.sort(rng.uniform(size=20))
        y = z + 0.3 * rng.normal(size=20)
        yield Example("noise", cls(z, y, 2.0))
        yield Example("labels, steep", cls(z, (y > 0.5).astype(float), 20.0))
        yield Example("falling", cls(z, -z, 1.0))
        yield Example("too steep", cls(z, 5.0 * z, 1.0))
        yield Example("ties", cls(np.floor(6 * z), y, 0.3))
        yield Example("no bound", cls(z, y, math.inf))
        yield Example("ties, no bound", cls(np.floor(6 * z), np.floor(6 * z) + 0.1 * y, math.inf))
        yield Example("constant", cls(z, y, 0.0))
        yield Example("a member of the class", cls(z, np.tanh(z), 1.5), degenerate=True)
        yield Example("constant targets", cls(z, np.full(20, 3.0)), degenerate=True)
        yield Example("one sample", cls(np.array([1.0]), np.array([2.0])), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of y, of z; shift of y; reversal; duplication."""

        def by(problem: Any, s: float) -> Image:
            """y × s and L × s: values and error × s."""
            return Image(replace(problem, targets=problem.targets * s, lipschitz=problem.lipschitz * s), s, squares.scaling(x=s, epsilon=s))

        def stretch(problem: Any, rng: np.random.Generator) -> Image:
            """z × c and L / c bound the same differences."""
            c = float(2.0 ** rng.integers(-20, 21))
            return Image(replace(problem, positions=problem.positions * c, lipschitz=problem.lipschitz / c))

        def shift(problem: Any, rng: np.random.Generator) -> Image:
            """y + c and x + c have the same distance."""
            c = float(rng.normal())
            return Image(replace(problem, targets=problem.targets + c), 1.0, lambda values: {"x": np.asarray(values["x"]) + c})

        def reverse(problem: Any, rng: np.random.Generator) -> Image:
            """−z and −y from last to first are increasing again, and so are −x."""
            image = replace(problem, positions=-problem.positions[::-1], targets=-problem.targets[::-1])

            def turn(values: Multipliers) -> Multipliers:
                return {key: np.asarray(values[key])[::-1] for key in ("lipschitz", "monotone", "ties") if key in values}

            return Image(image, 1.0, lambda values: {"x": -np.asarray(values["x"])[::-1]}, turn)

        def duplicate(problem: Any, rng: np.random.Generator) -> Image:
            """Every point twice: the multiplier of a step within a pair is the mean of its two neighbours'."""

            def halve(values: Multipliers) -> Multipliers:
                tau = problem.chain_multipliers(values)
                full = np.empty(2 * len(tau) - 3)
                full[1::2], full[0::2] = tau[1:-1], 0.5 * (tau[:-1] + tau[1:])
                return {"lipschitz": np.maximum(full, 0.0), "monotone": np.maximum(-full, 0.0)}

            image = replace(problem, positions=np.repeat(problem.positions, 2), targets=np.repeat(problem.targets, 2))
            return Image(image, 1.0, lambda values: {"x": np.repeat(np.asarray(values["x"]), 2)}, halve)

        laws = {"positions × c, L / c": stretch, "targets + c": shift, "reversal": reverse, "duplication": duplicate}
        return [change_of_units("targets × s, L × s", by), *(Law(name, law) for name, law in laws.items())]

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
        """Recipe: as for lipschitz-isotonic, L defaulting to 2 std(y) per standard deviation of the feature."""
        z, targets = chain_cases.recipe(dataset, rng, samples, feature)
        return cls(z, targets, 2.0 * float(targets.std()) if lipschitz is None else lipschitz)
