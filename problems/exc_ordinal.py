"""EXC: ordinal regression with learned thresholds, ‖w‖ bounded or ‖w‖² penalised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.core.fields import Features, NonNegative, Positive
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.forms import Forms
from simopt.model.problem import ALL_CONES, Example, problem
from simopt.problems.bounds import Ball, Bound, Penalty
from simopt.problems.examples import exc as exc_cases
from simopt.problems.sample_weights import Weights
from simopt.problems.thresholds.constant_scores import Classes, Grades
from simopt.problems.thresholds.kinds import SpacedThresholds
from simopt.problems.thresholds.scores import LinearScores

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class EXCOrdinal(SpacedThresholds, LinearScores):
    r"""min_{w,b} (1/n) Σ_i [b_{y_i−1} + γ − ⟨w, ψ_i⟩]_+ + [⟨w, ψ_i⟩ − b_{y_i} + γ]_+ + R(w)   s.t.  b_{j+1} − b_j ≥ Δ.

    R(w) = 0 on ‖w‖ ≤ B, or (λ/2)‖w‖². b_0 = −∞ and b_r = ∞: their hinges are absent. Multipliers p (hinges above), q (below) in [0, 1/n],
    ν ≥ 0.
    With s_i = p_i − q_i, g = Ψᵀs: R*(−g) = B‖g‖, or ‖g‖²/(2λ).
    The Lagrangian has the term ⟨g_b, b⟩, g_b,j = Σ_{y=j+1} q − Σ_{y=j} p + ν_j − ν_{j−1}. So g_b must be 0, and then
        D = γ Σ (p + q) + Δ Σ ν − R*(−g).
    Any multipliers are repaired to g_b = 0 exactly (`balancing`), or bounded by a box that holds an optimal b
    (`kinds`), whichever bounds better.
    The gap is Σ (1/n − a)[h]_+ + a[−h]_+ over the hinges, plus Σ ν_j(b_{j+1} − b_j − Δ), plus R(w) + ⟨g, w⟩ + R*(−g)
    (`simopt.problems.bounds`): all non-negative.

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ_i.
    labels : (n,) array
        y_i in 1, …, r; classes may be empty.
    classes : int
        r ≥ 2.
    gamma, delta : float
        margin γ > 0 and spacing Δ ≥ 0 of the thresholds.
    bound : Ball(radius=B) or Penalty(regularization=λ)
        B > 0, λ > 0; with a penalty P − P* ≥ (λ/2)‖w − w*‖².
    weights : (n,) array, optional
        v ≥ 0, not all 0: the weight v_i/Σ v of sample i takes the place of 1/n throughout.

    Point {"w": (d,), "thresholds": (r−1,)}. Multipliers {"below": one per sample of label ≥ 2, "above": one per sample of label ≤ r−1,
    "order": (r−2,)}, in the order of the samples; a row without entries may be missing.
    Scale: the loss at w = 0 with the best thresholds; where that is 0 (one class, then it is optimal), γ.
    Source: Kar & Jain 2012, §3.3 and Appendix E (Δ-spacing); EXC is due to Chu & Keerthi 2005.
    """

    source: ClassVar[str] = "Kar & Jain 2012, §3.3 and Appendix E"
    forms: ClassVar[Forms] = {
        "ball": {
            "name": "exc-ordinal",
            "title": "EXC ordinal regression, learned thresholds, ‖w‖ ≤ B",
            "arithmetics": ("float", "interval"),
            "parameters": ("radius", "gamma", "delta"),
        },
        "penalty": {
            "name": "exc-ordinal-penalised",
            "title": "EXC ordinal regression, learned thresholds, ‖w‖² penalised",
            "source": "Kar & Jain 2012, §3.3 and Appendix E, in Tikhonov form",
            "arithmetics": ("float", "interval", "rational"),
            "parameters": ("regularization", "gamma", "delta"),
        },
    }

    features: Features
    labels: Grades
    classes: Classes
    gamma: Positive = 1.0
    delta: NonNegative = 0.0
    bound: Bound = field(kw_only=True)
    weights: Weights | None = field(default=None, kw_only=True)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks s.t. `predictions` f = Ψw, `below` b + γ − f, `above` f − b + γ ≤ slack, `order`, and the bound of w."""
        import cvxpy as cp

        n, (above, below) = len(self.labels), self.sides
        p = np.ones(n) / n if self.weights is None else self.weights / np.sum(self.weights)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        delta = cp.Parameter(nonneg=True, name="delta", value=self.delta)
        w, f = cp.Variable(self.features.shape[1], name="w"), cp.Variable(n, name="f")
        b = cp.Variable(self.classes - 1, name="thresholds")
        loss, rows = 0, [(f == self.features @ w).set_label("predictions")]
        if below.rows.size:
            slack = cp.Variable(below.rows.size, name="slack_below")
            rows += [(b[below.ends] + gamma - f[below.rows] <= slack).set_label("below"), (slack >= 0).set_label("slack_below")]
            loss += p[below.rows] @ slack
        if above.rows.size:
            slack = cp.Variable(above.rows.size, name="slack_above")
            rows += [(f[above.rows] - b[above.ends] + gamma <= slack).set_label("above"), (slack >= 0).set_label("slack_above")]
            loss += p[above.rows] @ slack
        if self.classes > 2:
            rows.append((b[:-1] + delta <= b[1:]).set_label("order"))
        if isinstance(self.bound, Ball):
            radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
            rows.append((cp.norm(w, 2) <= radius).set_label("ball"))
            return cp.Problem(cp.Minimize(loss), rows)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        return cp.Problem(cp.Minimize(loss + regularization / 2 * cp.sum_squares(w)), rows)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Margins and spacings, two classes, an empty class, weights; one class, one sample, Ψ = 0."""
        yield from exc_cases.bounded(cls, exc_cases.instances(rng), rng)

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
        bins: int | None = None,
        gamma: float = 1.0,
        delta: float = 0.0,
        radius: float | None = None,
        regularization: float | None = None,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Classes are the labels of a binary or ordinal data set, whole-numbered targets of another (up to 20 from the least on), else
        `bins` (5) classes of equal frequency. γ = 1, Δ = 0, B = 10, or λ = 1e-3.
        """
        fields = exc_cases.fields(dataset, rng, samples, landmarks, standardise, similarity, bins)
        bound = cls.bounded(cls.either(ball=Ball(10.0), penalty=Penalty(1e-3)), radius=radius, regularization=regularization)
        return cls(**fields, gamma=gamma, delta=delta, bound=bound)
