"""EXC with given thresholds, ‖w‖ bounded or penalised: what Kar & Jain ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.core.arrays import Array
from simopt.core.fields import Features, Positive
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.forms import Forms
from simopt.model.problem import ALL_CONES, Example, problem
from simopt.problems.bounds import Ball, Bound, Penalty
from simopt.problems.examples import exc as exc_cases
from simopt.problems.sample_weights import Weights
from simopt.problems.thresholds.constant_scores import Classes, Grades, equispaced, listed
from simopt.problems.thresholds.kinds import FixedThresholds
from simopt.problems.thresholds.scores import LinearScores

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class EXCFixed(FixedThresholds, LinearScores):
    r"""min_w (1/n) Σ_i [b_{y_i−1} + γ − ⟨w, ψ_i⟩]_+ + [⟨w, ψ_i⟩ − b_{y_i} + γ]_+ + R(w).

    R(w) = 0 on ‖w‖ ≤ B, or (λ/2)‖w‖². b_0 = −∞ and b_r = ∞: their hinges are absent.
    Multipliers in [0, 1/n]: p of the second hinge (row `above`), q of the first (row `below`).
    With s_i = p_i − q_i, g = Ψᵀs: R*(−g) = B‖g‖, or ‖g‖²/(2λ).
    D = Σ q_i (γ + b_{y_i−1}) + p_i (γ − b_{y_i}) − R*(−g): the thresholds are data, and every p, q is dual feasible.
    The gap is Σ (1/n − a)[h]_+ + a[−h]_+ over the hinges, plus R(w) + ⟨g, w⟩ + R*(−g) (`simopt.problems.bounds`): all
    non-negative.

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ_i.
    labels : (n,) array
        y_i in 1, …, r; classes may be empty.
    classes : int
        r ≥ 2.
    thresholds : (r−1,) array
        b_1 < … < b_{r−1}.
    gamma : float
        margin γ > 0.
    bound : Ball(radius=B) or Penalty(regularization=λ)
        B > 0, λ > 0; with a penalty P − P* ≥ (λ/2)‖w − w*‖².
    weights : (n,) array, optional
        v ≥ 0, not all 0: the weight v_i/Σ v of sample i takes the place of 1/n throughout.

    Point {"w": (d,)}. Multipliers {"below": one per sample of label ≥ 2, "above": one per sample of label ≤ r−1}, in the order
    of the samples; a row without entries may be missing.
    Scale: the loss at w = 0; where that is 0 (then it is optimal), γ.
    Source: Kar & Jain 2012, §4: EXC with fixed equi-spaced thresholds, as ORLand has them.
    """

    source: ClassVar[str] = "Kar & Jain 2012, §4 and Appendix E"
    forms: ClassVar[Forms] = {
        "ball": {
            "name": "exc-fixed",
            "title": "EXC ordinal regression, given thresholds, ‖w‖ ≤ B",
            "arithmetics": ("float", "interval"),
            "parameters": ("radius", "gamma"),
        },
        "penalty": {
            "name": "exc-fixed-penalised",
            "title": "EXC ordinal regression, given thresholds, ‖w‖² penalised",
            "source": "Kar & Jain 2012, §4 and Appendix E, in Tikhonov form",
            "arithmetics": ("float", "interval", "rational"),
            "parameters": ("regularization", "gamma"),
        },
    }

    features: Features
    labels: Grades
    classes: Classes
    thresholds: Array
    gamma: Positive = 1.0
    bound: Bound = field(kw_only=True)
    weights: Weights | None = field(default=None, kw_only=True)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks s.t. `predictions` f = Ψw, `below` b + γ − f, `above` f − b + γ ≤ slack, and the bound of w."""
        import cvxpy as cp

        n, (above, below) = len(self.labels), self.sides
        p = np.ones(n) / n if self.weights is None else self.weights / np.sum(self.weights)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        w, f = cp.Variable(self.features.shape[1], name="w"), cp.Variable(n, name="f")
        b = self.thresholds
        loss, rows = 0, [(f == self.features @ w).set_label("predictions")]
        if below.rows.size:
            slack = cp.Variable(below.rows.size, name="slack_below")
            rows += [(b[below.ends] + gamma - f[below.rows] <= slack).set_label("below"), (slack >= 0).set_label("slack_below")]
            loss += p[below.rows] @ slack
        if above.rows.size:
            slack = cp.Variable(above.rows.size, name="slack_above")
            rows += [(f[above.rows] - b[above.ends] + gamma <= slack).set_label("above"), (slack >= 0).set_label("slack_above")]
            loss += p[above.rows] @ slack
        if isinstance(self.bound, Ball):
            radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
            rows.append((cp.norm(w, 2) <= radius).set_label("ball"))
            return cp.Problem(cp.Minimize(loss), rows)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        return cp.Problem(cp.Minimize(loss + regularization / 2 * cp.sum_squares(w)), rows)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Steps equal and unequal, two classes, an empty class, weights; one class, one sample, Ψ = 0."""
        yield from exc_cases.bounded(cls, exc_cases.fixed_instances(rng), rng, thresholds=np.array([-0.7, 0.4]))

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
        thresholds: str | Sequence[float] | None = None,
        spacing: float = 1.0,
        centre: float = 0.0,
        gamma: float = 0.5,
        radius: float | None = None,
        regularization: float | None = None,
    ) -> Self:
        """Recipe: all rows, or `samples` of them, standardised; `landmarks` of them (50, or all of fewer); a Gaussian with Kar & Jain's σ.

        Whole-numbered targets are the classes where at most 20 numbers lie from the least to the greatest, or the data set is ordinal.
        Other targets are cut into `bins` (5) classes of equal frequency.
        `thresholds` are numbers, or one text with commas; by default b_j = centre + spacing (j − r/2). Then, with the default spacing,
        centre and γ = ½, the loss of an inner class y is |⟨w, ψ⟩ − (y − (r + 1)/2)|. B = 10, or λ = 1e-3.
        """
        fields = exc_cases.fields(dataset, rng, samples, landmarks, standardise, similarity, bins)
        given = equispaced(fields["classes"], spacing, centre) if thresholds is None else listed("thresholds", thresholds)
        bound = cls.bounded(cls.either(ball=Ball(10.0), penalty=Penalty(1e-3)), radius=radius, regularization=regularization)
        return cls(**fields, thresholds=given, gamma=gamma, bound=bound)
