"""ε-insensitive support vector regression on landmark features, with ‖w‖² penalised (Tikhonov form)."""

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
class LandmarkedSVRPenalised(InsensitiveRegression):
    r"""min_w (1/n) Σ_i max(|⟨w, ψ_i⟩ − y_i| − ε, 0) + (λ/2) ‖w‖².

    Two hinges a sample as in `LandmarkedSVR`, multipliers p (row `above`) and q (row `below`) in [0, 1/n], g = Ψᵀ(p − q).
    Dual: min_w (λ/2)‖w‖² + ⟨g, w⟩ = −‖g‖²/(2λ) at w = −g/λ, so
        D(p, q) = Σ (q_i − p_i) y_i − ε Σ (p_i + q_i) − ‖g‖²/(2λ).
    With a smoothness β < ∞ the loss is ℓ̃_β (β = ∞: max(|r| − ε, 0)), as in `LandmarkedSVR`, and the dual loses (n/(2β)) Σ (p_i² + q_i²).
    For β = ∞ the gap is Σ over both hinges of (1/n − a)[h]_+ + a[−h]_+, plus ‖g + λw‖²/(2λ); for β < ∞ see `_smoothed_insensitive`.
    P(w) − P* ≥ (λ/2)‖w − w*‖².

    Parameters
    ----------
    features : (n, d) array, memory map or Dask array
        Ψ, rows ψ_i; read in blocks, not copied.
    targets : (n,) array
        y.
    regularization : float
        λ > 0; LIBLINEAR's C is 1/(nλ).
    epsilon : float
        ε ≥ 0.
    smoothness : float
        β > 0 of the smoothed loss; ∞ (the default) is ℓ_ε itself.

    Point {"w": (d,)}, multipliers {"above": (n,), "below": (n,)}.
    Scale: the loss at w = 0; where that is 0 (ε ≥ every |y_i|, so that w = 0 is optimal) it is ε. Where y = 0, restore returns w = 0.
    Source: Kar & Jain 2012, §3.1 in Tikhonov form; Ho & Lin 2012 for the primal without intercept.
    """

    name: ClassVar[str] = "landmarked-svr-penalised"
    title: ClassVar[str] = "ε-insensitive regression on landmarks, ‖w‖² penalised"
    source: ClassVar[str] = "Kar & Jain 2012, §3.1 in Tikhonov form"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("regularization", "epsilon", "smoothness")

    features: Array
    targets: Array
    regularization: float
    epsilon: float = 0.1
    smoothness: float = math.inf

    def __post_init__(self) -> None:
        self._check()
        freeze(self, regularization=validate.positive("regularization", self.regularization))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks + (λ/2)‖w‖² s.t. `predictions` f = Ψw, `below` y − f − ε ≤ slack and `above` f − y − ε ≤ slack.

        With β < ∞, f − v takes the place of f in the hinges, and (β/2n)‖v‖² is added.
        """
        import cvxpy as cp

        n, d = self.features.shape
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
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
        ]
        return cp.Problem(cp.Minimize(loss + regularization / 2 * cp.sum_squares(w)), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ ℓ̃_β(⟨w, ψ_i⟩ − y_i) + (λ/2)‖w‖²."""
        w = num.lift(point["w"])
        return self.loss(num, w) + num.dot(w, w) * num.lift(self.regularization) / 2

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w itself, since every w is feasible; 0 if y = 0."""
        if not np.any(self.targets):
            return {"w": num.zeros(self.features.shape[1])}
        return {"w": num.lift(point["w"])}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(p, q) with p, q clipped to [0, 1/n]."""
        value, g = self.lagrangian(num, multipliers)
        return value - num.dot(g, g) / (num.lift(self.regularization) * 2)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ of what each hinge leaves, plus ‖g + λw‖²/(2λ)."""
        w = num.lift(point["w"])
        if self.settled(num, w, multipliers):
            return num.lift(0.0)
        rest, g = self.hinge_gap(num, w, multipliers)
        return rest + _hinges.penalty_term(num, w, g, self.regularization)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖w − w*‖ ≤ √(2 gap/λ), because the penalty is λ-strongly convex."""
        return float(np.sqrt(2.0 * max(gap, 0.0) / self.regularization))

    def in_units(self, s: float, c: float) -> Self:
        """y, ε, 1/β × s and Ψ × c: λ × c²/s."""
        strength, epsilon, smoothness = self.regularization * (c / s * c), self.epsilon * s, self.smoothness / s
        features, targets = _hinges.times_unit(self.features, c), self.targets * s
        return replace(self, features=features, targets=targets, regularization=strength, epsilon=epsilon, smoothness=smoothness)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Strong and weak λ, ε = 0, more features than samples, smoothed losses; ε above every |y|, y = 0, Ψ = 0."""
        for example, features, targets, epsilon, degenerate in _svr_cases.instances(rng):
            yield Example(example, cls(features, targets, 0.05, epsilon), degenerate)
        features, targets = _svr_cases.instance(rng, 30, 4)
        yield Example("weak regularization", cls(features, targets, 1e-5, 0.1))
        for beta in (0.5, 20.0):
            yield Example(f"smoothed, β = {beta:g}", cls(features, targets, 0.05, 0.1, beta))
        yield Example("smoothed, weak regularization, ε = 0", cls(features, targets, 1e-5, 0.0, 3.0))

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
        regularization: float | None = None,
        epsilon: float | None = None,
        smoothness: float = math.inf,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Targets are centred at their median (w has no intercept). ε defaults to 0.1 standard deviations of y, λ to 1e-3/std(y).
        """
        features, targets, spread = _svr_cases.recipe(dataset, rng, samples, landmarks, standardise, similarity)
        strength = 1e-3 / spread if regularization is None else regularization
        return cls(features, targets, strength, 0.1 * spread if epsilon is None else epsilon, smoothness)
