"""ε-insensitive support vector regression on landmark features, ‖w‖ bounded or ‖w‖² penalised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Multipliers, Point
from simopt.core.fields import NonNegative, Targets
from simopt.data.row_blocks import StreamedFeatures
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.forms import Forms
from simopt.model.problem import ALL_CONES, Example, problem, with_checked_fields
from simopt.problems import recipes
from simopt.problems.bounds import Ball, Bound, Bounded, Penalty
from simopt.problems.losses import insensitive
from simopt.problems.losses.insensitive import InsensitiveRegression, Smoothness
from simopt.problems.norms import vectors
from simopt.problems.sample_weights import Weights

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedSVR(Bounded, InsensitiveRegression):
    r"""min_w (1/n) Σ_i max(|⟨w, ψ_i⟩ − y_i| − ε, 0) + R(w),   R(w) = 0 on ‖w‖₂ ≤ B, or (λ/2)‖w‖².

    Two hinges a sample, [y_i − ε − f_i]_+ (row `below`, multiplier q_i) and [f_i − y_i − ε]_+ (row `above`, multiplier p_i), f = Ψw.
    Dual: c[h]_+ = max over 0 ≤ a ≤ c of ah with c = 1/n. Let 0 ≤ p, q ≤ 1/n and g = Ψᵀ(p − q). Then
        P* ≥ min_w Σ q_i(y_i − ε − f_i) + p_i(f_i − y_i − ε) + R(w) = Σ (q_i − p_i) y_i − ε Σ (p_i + q_i) + min_w ⟨g, w⟩ + R(w).
        D(p, q) = Σ (q_i − p_i) y_i − ε Σ (p_i + q_i) − R*(−g),     R*(−g) = B‖g‖, or ‖g‖²/(2λ).
    With a smoothness β < ∞ the loss is ℓ̃_β(r) = min_v βv²/2 + max(|r − v| − ε, 0) (§3.2). f_i − v_i then stands in the rows in place of
    f_i, the objective gains (β/(2n))‖v‖², and the dual, as min_v (β/2n)v² − av = −n a²/(2β), loses (n/(2β)) Σ (p_i² + q_i²).
    For β = ∞ the gap is Σ over both hinges of (1/n − a)[h]_+ + a[−h]_+, plus R(w) + ⟨g, w⟩ + R*(−g) (`simopt.problems.bounds`): all
    non-negative; for β < ∞ see `simopt.problems.losses.insensitive`.

    Parameters
    ----------
    features : (n, d) array, memory map or Dask array
        Ψ, rows ψ_i; read in blocks, not copied.
    targets : (n,) array
        y.
    bound : Ball(radius=B) or Penalty(regularization=λ)
        B > 0, λ > 0; LIBLINEAR's C is 1/(nλ). With a penalty P(w) − P* ≥ (λ/2)‖w − w*‖².
    epsilon : float
        ε ≥ 0.
    smoothness : float
        β > 0 of the smoothed loss; ∞ (the default) is ℓ_ε itself.
    weights : (n,) array, optional
        v ≥ 0, not all 0: the weight v_i/Σ v of sample i takes the place of 1/n throughout.

    Point {"w": (d,)}, multipliers {"above": (n,), "below": (n,)}.
    Scale: the loss at w = 0; where that is 0 (ε ≥ every |y_i|, so that w = 0 is optimal) it is ε. If y = 0, restore returns w = 0.
    Source: Kar & Jain 2012, Algorithm 1 with §3.1; Ho & Lin 2012 for the penalised primal without intercept. The form with a variable f is
    the one that canonicalises fastest.
    """

    forms: ClassVar[Forms] = {
        "ball": {
            "name": "landmarked-svr",
            "title": "ε-insensitive regression on landmarks, ‖w‖ ≤ B",
            "source": "Kar & Jain 2012, Algorithm 1 with §3.1",
            "parameters": ("radius", "epsilon", "smoothness"),
        },
        "penalty": {
            "name": "landmarked-svr-penalised",
            "title": "ε-insensitive regression on landmarks, ‖w‖² penalised",
            "source": "Kar & Jain 2012, §3.1 in Tikhonov form",
            "parameters": ("regularization", "epsilon", "smoothness"),
        },
    }

    features: StreamedFeatures
    targets: Targets
    bound: Bound
    epsilon: NonNegative = 0.1
    smoothness: Smoothness = math.inf
    weights: Weights | None = None

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks s.t. `predictions` f = Ψw, `below` y − f − ε ≤ slack, `above` f − y − ε ≤ slack and the bound of w.

        With β < ∞, f − v takes the place of f in the hinges, and (β/2n)‖v‖² is added.
        """
        import cvxpy as cp

        n, d = self.features.shape
        epsilon = cp.Parameter(nonneg=True, name="epsilon", value=self.epsilon)
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        below, above = cp.Variable(n, name="slack_below"), cp.Variable(n, name="slack_above")
        p = np.ones(n) / n if self.weights is None else self.weights / np.sum(self.weights)
        loss, residual = p @ (below + above), f - self.targets
        if self.smoothness < math.inf:
            beta, v = cp.Parameter(nonneg=True, name="smoothness", value=self.smoothness), cp.Variable(n, name="v")
            loss, residual = loss + beta / 2 * cp.sum_squares(cp.multiply(np.sqrt(p), v)), residual - v
        rows = [
            (f == np.asarray(self.features) @ w).set_label("predictions"),
            (-residual - epsilon <= below).set_label("below"),
            (residual - epsilon <= above).set_label("above"),
            (below >= 0).set_label("slack_below"),
            (above >= 0).set_label("slack_above"),
        ]
        if isinstance(self.bound, Ball):
            radius = cp.Parameter(nonneg=True, name="radius", value=self.bound.radius)
            return cp.Problem(cp.Minimize(loss), [*rows, (cp.norm(w, 2) <= radius).set_label("ball")])
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        return cp.Problem(cp.Minimize(loss + regularization / 2 * cp.sum_squares(w)), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ ℓ̃_β(⟨w, ψ_i⟩ − y_i) + R(w)."""
        w = num.lift(point["w"])
        return self.loss(num, w) + self.bound.value(num, w)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, drawn back into the ball if it lies outside; 0 if y = 0."""
        return {"w": self.bound.inside(num, point["w"]) if np.any(self.targets) else num.zeros(self.features.shape[1])}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(p, q) with p, q clipped to [0, 1/n]."""
        value, g = self.lagrangian(num, multipliers)
        return value + self.bound.dual(num, g)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ of what each hinge leaves, plus R(w) + ⟨g, w⟩ + R*(−g)."""
        w = num.lift(point["w"])
        if self.trivial_optimum(num, w, multipliers):
            return num.lift(0.0)
        rest, g = self.hinge_gap(num, w, multipliers)
        return rest + self.bound.gap(num, w, g)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖w − w*‖, from the bound: the loss is not strongly convex."""
        return self.bound.distance(gap)

    def in_units(self, s: float, c: float) -> Self:
        """y, ε, 1/β × s and Ψ × c: w × s/c."""
        features, targets, bound = vectors.scaled(self.features, c), self.targets * s, self.bound.in_units(s / c, s)
        return with_checked_fields(
            self, features=features, targets=targets, bound=bound, epsilon=self.epsilon * s, smoothness=self.smoothness / s
        )

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive bounds, ε = 0, more features than samples, smoothed losses; ε above every |y|, y = 0, Ψ = 0."""
        bound = cls.either(ball=Ball(1.5), penalty=Penalty(0.05))
        name, loose = cls.either(ball=("inactive ball", Ball(50.0)), penalty=("weak regularization", Penalty(1e-5)))
        for example, features, targets, epsilon, degenerate in insensitive.instances(rng):
            yield Example(example, cls(features, targets, bound, epsilon), degenerate)
        features, targets = recipes.small_regression(rng, 30, 4)
        yield Example(name, cls(features, targets, loose, 0.1))
        for beta in (0.5, 20.0):
            yield Example(f"smoothed, β = {beta:g}", cls(features, targets, bound, 0.1, beta))
        yield Example(f"smoothed, {name}, ε = 0", cls(features, targets, loose, 0.0, 3.0))
        weights = rng.integers(1, 5, size=30) / 2.0
        weights[1] = 0.0
        yield Example("weights, one of them 0", cls(features, targets, bound, 0.1, weights=weights))
        yield Example("weights, smoothed", cls(features, targets, bound, 0.1, 2.0, weights))

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = None,
        landmarks: int | None = None,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        radius: float | None = None,
        regularization: float | None = None,
        epsilon: float | None = None,
        smoothness: float = math.inf,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Targets are centred at their median (w has no intercept). ε defaults to 0.1 std(y), B to 10 std(y), λ to 1e-3/std(y).
        """
        features, targets, spread = recipes.centred(dataset, rng, samples, landmarks, standardise, similarity, np.median)
        usual = cls.either(ball=Ball(10.0 * spread), penalty=Penalty(1e-3 / spread))
        bound = cls.bounded(usual, radius=radius, regularization=regularization)
        return cls(features, targets, bound, 0.1 * spread if epsilon is None else epsilon, smoothness)
