"""ε-insensitive regression on landmark features with the sum of the absolute weights bounded, so that few landmarks are used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Multipliers, Point
from simopt.core.fields import NonNegative, Positive, Targets
from simopt.data.row_blocks import StreamedFeatures
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, problem, with_checked_fields
from simopt.problems import recipes
from simopt.problems.losses import insensitive
from simopt.problems.losses.insensitive import InsensitiveRegression, Smoothness
from simopt.problems.norms import vectors
from simopt.problems.sample_weights import Weights

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


def absolute_sum(num: Arithmetic, w: Value) -> Value:
    """‖w‖₁."""
    return num.sum(num.abs(w))


@problem
@dataclass(frozen=True, eq=False)
class SparseLandmarked(InsensitiveRegression):
    r"""min_w (1/n) Σ_i ℓ̃_β(⟨w, ψ_i⟩ − y_i)   subject to   ‖w‖₁ ≤ B,       ℓ̃_β(r) = min_v βv²/2 + max(|r − v| − ε, 0).

    Declared in this inf-convolution form. With v_i a variable, the two hinges of a sample are [y_i − ε − f_i + v_i]_+ (row `below`,
    multiplier q_i) and [f_i − v_i − y_i − ε]_+ (row `above`, multiplier p_i), f = Ψw. β = ∞ is the ε-insensitive loss itself (no v).
    Dual: c[h]_+ = max over 0 ≤ a ≤ c of ah with c = 1/n, min_v (β/2n)v² − (p − q)v = −n(p − q)²/(2β), and ‖·‖_∞ is dual to ‖·‖₁.
        P* ≥ min_{w,v} Σ q_i(y_i − ε − f_i + v_i) + p_i(f_i − v_i − y_i − ε) + (β/2n)v_i².
        D(p, q) = Σ (q_i − p_i) y_i − ε Σ (p_i + q_i) − (n/(2β)) Σ (p_i² + q_i²) − B ‖g‖_∞,   g = Ψᵀ(p − q).
    The gap is what the hinges leave (see `insensitive`) plus
        ⟨g, w⟩ + B‖g‖_∞ = (B − ‖w‖₁)‖g‖_∞ + Σ_j |w_j| (‖g‖_∞ + sign(w_j) g_j),
    all non-negative. For β < ∞ a point suggests p_i − q_i = ℓ̃_β'(r_i)/n, so that g is the gradient G of the loss. Then the hinges leave 0
    and the gap is ⟨G, w⟩ + B‖G‖_∞, the δ_t of Algorithm 2.

    Parameters
    ----------
    features : (n, d) array, memory map or Dask array
        Ψ, rows ψ_i; read in blocks, not copied.
    targets : (n,) array
        y.
    radius : float
        B > 0 (C_W in Algorithm 2).
    epsilon : float
        ε ≥ 0.
    smoothness : float
        β > 0, possibly ∞.
    weights : (n,) array, optional
        v ≥ 0, not all 0: the weight v_i/Σ v of sample i takes the place of 1/n throughout.

    Point {"w": (d,)}, multipliers {"above": (n,), "below": (n,)}.
    Scale: the loss at w = 0; where that is 0 (ε ≥ every |y_i|, so that w = 0 is optimal) it is ε. If y = 0, restore returns w = 0.
    Source: Kar & Jain 2012, Equation 2 and Appendix D.1; Shalev-Shwartz, Srebro & Zhang 2010.
    """

    name: ClassVar[str] = "sparse-landmarked"
    title: ClassVar[str] = "smoothed ε-insensitive regression on few landmarks, ‖w‖₁ ≤ B"
    source: ClassVar[str] = "Kar & Jain 2012, Equation 2 (Appendix D)"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("radius", "epsilon", "smoothness")

    features: StreamedFeatures
    targets: Targets
    radius: Positive
    epsilon: NonNegative = 0.1
    smoothness: Smoothness = 10.0
    weights: Weights | None = None

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks s.t. `predictions` f = Ψw, `below` y − f − ε ≤ slack, `above` f − y − ε ≤ slack and the `ball` ‖w‖₁ ≤ B.

        With β < ∞, f − v takes the place of f in the hinges, and (β/2n)‖v‖² is added.
        """
        import cvxpy as cp

        n, d = self.features.shape
        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
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
            (cp.norm1(w) <= radius).set_label("ball"),
        ]
        return cp.Problem(cp.Minimize(loss), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ ℓ̃_β(⟨w, ψ_i⟩ − y_i)."""
        return self.loss(num, num.lift(point["w"]))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, shrunk until ‖w‖₁ ≤ B if it lies outside, so that zeros stay zeros; 0 if y = 0."""
        if not np.any(self.targets):
            return {"w": num.zeros(self.features.shape[1])}
        w = np.asarray(num.mid(num.lift(point["w"])), dtype=float).reshape(-1)
        return {"w": vectors.inside_ball(num, w, self.radius, absolute_sum)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(p, q) with p, q clipped to [0, 1/n]."""
        value, g = self.lagrangian(num, multipliers)
        return value - num.max(num.abs(g)) * num.lift(self.radius)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of the hinges, plus (B − ‖w‖₁)‖g‖_∞ + Σ |w_j|(‖g‖_∞ + sign(w_j) g_j)."""
        w = num.lift(point["w"])
        if self.trivial_optimum(num, w, multipliers):
            return num.lift(0.0)
        rest, g = self.hinge_gap(num, w, multipliers)
        largest = num.max(num.abs(g))
        slack = num.pos(num.lift(self.radius) - absolute_sum(num, w)) * largest
        behind = num.dot(num.pos(w), num.pos(g + largest)) + num.dot(num.pos(w * -1), num.pos(g * -1 + largest))
        return rest + slack + behind

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B, which bounds ‖w − w*‖₁ and hence ‖w − w*‖₂: the loss is not strongly convex, and all that is known is the ball."""
        return 2.0 * self.radius

    def in_units(self, s: float, c: float) -> Self:
        """y, ε, 1/β × s and Ψ × c: B × s/c."""
        radius, epsilon, smoothness = self.radius * (s / c), self.epsilon * s, self.smoothness / s
        features, targets = vectors.scaled(self.features, c), self.targets * s
        return with_checked_fields(self, features=features, targets=targets, radius=radius, epsilon=epsilon, smoothness=smoothness)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive balls, ε = 0, more features than samples, β small, large and ∞; equal features, weights, y = 0, Ψ = 0."""
        for example, features, targets, epsilon, degenerate in insensitive.instances(rng):
            yield Example(example, cls(features, targets, 1.5, epsilon), degenerate)
        features, targets = recipes.small_regression(rng, 30, 6)
        for beta in (0.5, 1e3, math.inf):
            yield Example(f"β = {beta:g}", cls(features, targets, 1.5, 0.1, beta))
        yield Example("inactive ball", cls(features, targets, 50.0, 0.1, 3.0))
        yield Example("inactive ball, β = ∞, ε = 0", cls(features, targets, 50.0, 0.0, math.inf))
        twice = np.repeat(features, 2, axis=1)
        yield Example("equal features", cls(twice, targets, 1.0, 0.1))
        weights = rng.integers(1, 5, size=30) / 2.0
        weights[1] = 0.0
        for beta in (2.0, math.inf):
            yield Example(f"weights, one of them 0, β = {beta:g}", cls(features, targets, 1.5, 0.1, beta, weights))

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
        epsilon: float | None = None,
        smoothness: float | None = None,
        scaled: bool = False,
    ) -> Self:
        """Recipe: as for landmarked-svr, with more landmarks to choose from (None: 200, or all rows where there are fewer).

        ψ = (K(x, l_1), …, K(x, l_d)) itself, as in Theorems 8 and 9, whose B bounds Σ|w_j| for it. `scaled` divides ψ by √d, as Algorithm 1
        does, and √d B is the same problem then. Targets are centred at their median (w has no intercept). ε defaults to 0.1 standard
        deviations of y, 1/β to 0.1 of them, B to 30/√d, or 30 where ψ is scaled.
        """
        scaled = validate.truth("scaled", scaled)
        features, targets, spread = recipes.centred(
            dataset, rng, samples, landmarks, standardise, similarity, np.median, usual=200, scaled=scaled
        )
        unit = 1.0 if scaled else math.sqrt(features.shape[1])
        return cls(
            features,
            targets,
            30.0 * spread / unit if radius is None else radius,
            0.1 * spread if epsilon is None else epsilon,
            10.0 / spread if smoothness is None else smoothness,
        )
