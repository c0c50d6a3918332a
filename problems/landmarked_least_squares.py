"""Least squares on landmark features, with ‖w‖ bounded (Ivanov form)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt import validate
from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.arrays import Array, Multipliers, Point
from simopt.problem import ALL_CONES, Example, freeze, problem
from simopt.problems import _hinges, _landmark_squares
from simopt.problems._landmark_squares import LandmarkSquares, Value
from simopt.similarities import Similarity

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedLeastSquares(LandmarkSquares):
    r"""min_w (1/n) ‖y − Ψw‖²   subject to   ‖w‖₂ ≤ B.

    Dual, with a multiplier v of the row f = Ψw and g = Ψᵀv:
        min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖²;      min over ‖w‖ ≤ B of −⟨g, w⟩ = −B‖g‖,
        D(v) = vᵀy − (n/4)‖v‖² − B‖Ψᵀv‖.
    The gap is (n/4)‖v − (2/n)(y − Ψw)‖² + (B‖g‖ − ⟨g, w⟩), the second term written as (B − ‖w‖)‖g‖ + ½‖w‖‖g‖·‖w/‖w‖ − g/‖g‖‖².
    Where the ball is active, the solution is that of `LandmarkedRidge` with the λ for which ‖w‖ = B.

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ_i.
    targets : (n,) array
        y.
    radius : float
        B > 0.

    Point {"w": (d,)}, multipliers {"predictions": (n,)}. Scale: ‖y‖²/n. Where y = 0, restore returns w = 0.
    Source: Kar & Jain 2012, Algorithm 1 with the squared loss (§3.2).
    """

    name: ClassVar[str] = "landmarked-least-squares"
    title: ClassVar[str] = "least squares on landmarks, ‖w‖ ≤ B"
    source: ClassVar[str] = "Kar & Jain 2012, Algorithm 1 with the squared loss"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("radius",)

    features: Array
    targets: Array
    radius: float

    def __post_init__(self) -> None:
        self._check()
        freeze(self, radius=validate.positive("radius", self.radius))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n)‖y − f‖² subject to predictions f == Ψw and the ball ‖w‖ ≤ B."""
        import cvxpy as cp

        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
        w, loss, predictions = self.declared()
        return cp.Problem(cp.Minimize(loss), [predictions, (cp.norm(w, 2) <= radius).set_label("ball")])

    def declare_dual(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Maximise vᵀy − (n/4)‖v‖² − B‖g‖ subject to g = Ψᵀv; v is called `predictions`."""
        import cvxpy as cp

        g, value, gradient = self.declared_dual()
        return cp.Problem(cp.Maximize(value - self.radius * cp.norm(g, 2)), [gradient])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n)‖y − Ψw‖²."""
        return self.loss(num, num.lift(point["w"]))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, drawn back into the ball if it lies outside; 0 if y = 0."""
        if not np.any(self.targets):
            return {"w": num.zeros(self.features.shape[1])}
        return {"w": _hinges.inside_ball(num, np.asarray(num.mid(num.lift(point["w"])), dtype=float).reshape(-1), self.radius)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v); every v is dual feasible."""
        v = num.lift(multipliers["predictions"])
        return self.fixed_part(num, v) - num.norm(num.rmatvec(self.features, v)) * num.lift(self.radius)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(n/4)‖v − (2/n)(y − Ψw)‖² + B‖g‖ − ⟨g, w⟩, free of cancellation."""
        w, v = num.lift(point["w"]), num.lift(multipliers["predictions"])
        if self.settled(num, w, v):
            return num.lift(0.0)
        return self.square_gap(num, w, v) + _hinges.ball_term(num, w, num.rmatvec(self.features, v) * -1, self.radius)

    def distance(self, gap: float, point: Point | None = None) -> float:
        r"""min(2B, 2√(2Bh/s)) with s = ‖Ψᵀv‖ and h = P(w) − D(v), v the multipliers that the point suggests; 2B without a point.

        The objective need not be strongly convex, but the ball is: for ‖w‖ ≤ B the last terms of the gap are Bs − ⟨g, w⟩, and
        ‖w − (B/s)g‖² = ‖w‖² + B² − (2B/s)⟨g, w⟩ ≤ (2B/s)(Bs − ⟨g, w⟩) ≤ (2B/s)h. Both w and w* satisfy this.
        """
        if point is None:
            return 2.0 * self.radius
        known = self.multipliers(point)
        s = INTERVAL.lower(INTERVAL.norm(INTERVAL.rmatvec(self.features, INTERVAL.lift(known["predictions"]))))
        height = float(self.gap(point, known))
        return min(2.0 * self.radius, 2.0 * math.sqrt(2.0 * self.radius / s * height)) if s > 0.0 and height >= 0.0 else 2.0 * self.radius

    def in_units(self, s: float, c: float) -> Self:
        """y × s and Ψ × c: B × s/c."""
        features = _hinges.times_unit(self.features, c)
        return replace(self, features=features, targets=self.targets * s, radius=self.radius * (s / c))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive balls, more features than samples, equal features; y = 0, Ψ = 0."""
        for name, features, targets, degenerate in _landmark_squares.instances(rng):
            yield Example(name, cls(features, targets, 1.0), degenerate)
            if name == "three features":
                yield Example("inactive ball", cls(features, targets, 50.0))
                yield Example("small ball", cls(features, targets, 1e-3))

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = None,
        landmarks: int | None = None,
        standardise: bool = True,
        similarity: str | Similarity = "gaussian-mean-distance",
        radius: float | None = None,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Targets are centred at their mean (w has no intercept). B defaults to 10 standard deviations of y.
        """
        features, targets, spread = _landmark_squares.recipe(dataset, rng, samples, landmarks, standardise, similarity)
        return cls(features, targets, 10.0 * spread if radius is None else radius)
