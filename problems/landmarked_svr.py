"""ε-insensitive support vector regression on landmark features, with ‖w‖ bounded (Ivanov form)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array, Multipliers, Point
from simopt.problems import _hinges, _svr_cases
from simopt.problems._svr import InsensitiveRegression
from simopt.solving.problem import ALL_CONES, Example, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

Value = Any


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedSVR(InsensitiveRegression):
    r"""min_w (1/n) Σ_i max(|⟨w, ψ_i⟩ − y_i| − ε, 0)   subject to   ‖w‖₂ ≤ B.

    Two hinges a sample, [y_i − ε − f_i]_+ (row `below`, multiplier q_i) and [f_i − y_i − ε]_+ (row `above`, multiplier p_i), f = Ψw.
    Dual: c[h]_+ = max over 0 ≤ a ≤ c of ah with c = 1/n, so for 0 ≤ p, q ≤ 1/n
        P* ≥ min_w Σ q_i(y_i − ε − f_i) + p_i(f_i − y_i − ε) = Σ (q_i − p_i) y_i − ε Σ (p_i + q_i) + min_{‖w‖≤B} ⟨Ψᵀ(p − q), w⟩,
        D(p, q) = Σ (q_i − p_i) y_i − ε Σ (p_i + q_i) − B ‖Ψᵀ(p − q)‖.
    With a smoothness β < ∞ the loss is ℓ̃_β(r) = min_v βv²/2 + max(|r − v| − ε, 0) (§3.2): f_i − v_i stands in the rows in place of f_i, the
    objective gains (β/(2n))‖v‖², and the dual, as min_v (β/2n)v² − av = −n a²/(2β), loses (n/(2β)) Σ (p_i² + q_i²).
    For β = ∞ the gap is Σ over both hinges of (1/n − a)[h]_+ + a[−h]_+, plus ⟨g, w⟩ + B‖g‖ with g = Ψᵀ(p − q): all non-negative;
    for β < ∞ see `_smoothed_insensitive`.

    Parameters
    ----------
    features : (n, d) array, memory map or Dask array
        Ψ, rows ψ_i; read in blocks, not copied.
    targets : (n,) array
        y.
    radius : float
        B > 0.
    epsilon : float
        ε ≥ 0.
    smoothness : float
        β > 0 of the smoothed loss; ∞ (the default) is ℓ_ε itself.

    Point {"w": (d,)}, multipliers {"above": (n,), "below": (n,)}.
    Scale: the loss at w = 0; where that is 0 (ε ≥ every |y_i|, so that w = 0 is optimal) it is ε. Where y = 0, restore returns w = 0.
    Source: Kar & Jain 2012, Algorithm 1 with §3.1. The form with a variable f is the one that canonicalises fastest.
    """

    name: ClassVar[str] = "landmarked-svr"
    title: ClassVar[str] = "ε-insensitive regression on landmarks, ‖w‖ ≤ B"
    source: ClassVar[str] = "Kar & Jain 2012, Algorithm 1 with §3.1"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("radius", "epsilon", "smoothness")

    features: Array
    targets: Array
    radius: float
    epsilon: float = 0.1
    smoothness: float = math.inf

    def __post_init__(self) -> None:
        self._check()
        freeze(self, radius=validate.positive("radius", self.radius))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks s.t. `predictions` f = Ψw, `below` y − f − ε ≤ slack, `above` f − y − ε ≤ slack and the `ball` ‖w‖ ≤ B.

        With β < ∞, f − v takes the place of f in the hinges, and (β/2n)‖v‖² is added.
        """
        import cvxpy as cp

        n, d = self.features.shape
        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
        epsilon = cp.Parameter(nonneg=True, name="epsilon", value=self.epsilon)
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        below, above = cp.Variable(n, name="slack_below"), cp.Variable(n, name="slack_above")
        loss, residual = cp.sum(below + above) / n, f - self.targets
        if self.smoothness < math.inf:
            beta, v = cp.Parameter(nonneg=True, name="smoothness", value=self.smoothness), cp.Variable(n, name="v")
            loss, residual = loss + beta / 2 * cp.sum_squares(v) / n, residual - v
        rows = [
            (f == np.asarray(self.features) @ w).set_label("predictions"),
            (-residual - epsilon <= below).set_label("below"),
            (residual - epsilon <= above).set_label("above"),
            (below >= 0).set_label("slack_below"),
            (above >= 0).set_label("slack_above"),
            (cp.norm(w, 2) <= radius).set_label("ball"),
        ]
        return cp.Problem(cp.Minimize(loss), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ ℓ̃_β(⟨w, ψ_i⟩ − y_i)."""
        return self.loss(num, num.lift(point["w"]))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, drawn back into the ball if it lies outside; 0 if y = 0."""
        if not np.any(self.targets):
            return {"w": num.zeros(self.features.shape[1])}
        return {"w": _hinges.inside_ball(num, np.asarray(num.mid(num.lift(point["w"])), dtype=float).reshape(-1), self.radius)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(p, q) with p, q clipped to [0, 1/n]."""
        value, g = self.lagrangian(num, multipliers)
        return value - num.norm(g) * num.lift(self.radius)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ of what each hinge leaves, plus ⟨g, w⟩ + B‖g‖."""
        w = num.lift(point["w"])
        if self.settled(num, w, multipliers):
            return num.lift(0.0)
        rest, g = self.hinge_gap(num, w, multipliers)
        return rest + _hinges.ball_term(num, w, g, self.radius)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B: the loss is not strongly convex, and all that is known is the ball."""
        return 2.0 * self.radius

    def in_units(self, s: float, c: float) -> Self:
        """y, ε, 1/β × s and Ψ × c: B × s/c."""
        radius, epsilon, smoothness = self.radius * (s / c), self.epsilon * s, self.smoothness / s
        features, targets = _hinges.times_unit(self.features, c), self.targets * s
        return replace(self, features=features, targets=targets, radius=radius, epsilon=epsilon, smoothness=smoothness)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive balls, ε = 0, more features than samples, smoothed losses; ε above every |y|, y = 0, Ψ = 0."""
        for example, features, targets, epsilon, degenerate in _svr_cases.instances(rng):
            yield Example(example, cls(features, targets, 1.5, epsilon), degenerate)
        features, targets = _svr_cases.instance(rng, 30, 4)
        yield Example("inactive ball", cls(features, targets, 50.0, 0.1))
        for beta in (0.5, 20.0):
            yield Example(f"smoothed, β = {beta:g}", cls(features, targets, 1.5, 0.1, beta))
        yield Example("smoothed, inactive ball, ε = 0", cls(features, targets, 50.0, 0.0, 3.0))

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
        epsilon: float | None = None,
        smoothness: float = math.inf,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Targets are centred at their median (w has no intercept). ε defaults to 0.1 standard deviations of y, B to 10 of them.
        """
        features, targets, spread = _svr_cases.recipe(dataset, rng, samples, landmarks, standardise, similarity)
        return cls(features, targets, 10.0 * spread if radius is None else radius, 0.1 * spread if epsilon is None else epsilon, smoothness)
