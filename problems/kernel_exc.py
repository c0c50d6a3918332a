"""EXC in an RKHS: ordinal regression without landmarks, learned thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.core.fields import NonNegative, Positive
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.model.problem import ALL_CONES, Example, problem
from simopt.problems.examples import exc as exc_cases
from simopt.problems.norms.gram_factor import Gram
from simopt.problems.thresholds.constant_scores import Classes, Grades
from simopt.problems.thresholds.kinds import SpacedThresholds
from simopt.problems.thresholds.scores import KernelScores

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class KernelEXC(SpacedThresholds, KernelScores):
    r"""min_{α,b} (1/n) Σ_i [b_{y_i−1} + γ − f_i]_+ + [f_i − b_{y_i} + γ]_+ + (λ/2) αᵀKα   s.t.  b_{j+1} − b_j ≥ Δ,   f = Kα.

    b_0 = −∞ and b_r = ∞: their hinges are absent. Multipliers p (hinges above), q (below) in [0, 1/n], ν ≥ 0.
    With s_i = p_i − q_i: min_f (λ/2)‖f‖² + Σ s_i f_i = −sᵀKs/(2λ).
    The Lagrangian has the term ⟨g_b, b⟩, g_b,j = Σ_{y=j+1} q − Σ_{y=j} p + ν_j − ν_{j−1}. So g_b must be 0, and then
        D = γ Σ (p + q) + Δ Σ ν − sᵀKs/(2λ).
    Any multipliers are repaired to g_b = 0 exactly (`balancing`), or bounded by a box that holds an optimal b
    (`kinds`), whichever bounds better.
    The gap is Σ (1/n − a)[h]_+ + a[−h]_+ over the hinges, plus Σ ν_j(b_{j+1} − b_j − Δ), plus (λ/2)‖α + s/λ‖²_K: all non-negative.
    P − P* ≥ (λ/2)‖f − f*‖²_H.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i in 1, …, r; classes may be empty.
    classes : int
        r ≥ 2.
    gamma, delta : float
        margin γ > 0 and spacing Δ ≥ 0 of the thresholds.
    regularization : float
        λ > 0.

    Point {"alpha": (n,), "thresholds": (r−1,)}. Multipliers {"below": one per sample of label ≥ 2, "above": one per sample of label ≤ r−1,
    "order": (r−2,)}, in the order of the samples; a row without entries may be missing.
    Scale: the loss at α = 0 with the best thresholds; where that is 0 (one class, then it is optimal), γ.
    Source: Chu & Keerthi 2005, in the form of Kar & Jain 2012, Definition 26 (Δ-spacing).
    """

    name: ClassVar[str] = "kernel-exc"
    title: ClassVar[str] = "EXC ordinal regression in an RKHS, learned thresholds"
    source: ClassVar[str] = "Chu & Keerthi 2005; Kar & Jain 2012, Definition 26"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization", "gamma", "delta")

    gram: Gram
    labels: Grades
    classes: Classes
    gamma: Positive = 1.0
    delta: NonNegative = 0.0
    regularization: Positive = field(kw_only=True)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks + (λ/2)‖u‖² s.t. `predictions` f = Fu, K ≈ FFᵀ, `below` b + γ − f, `above` f − b + γ ≤ slack, `order`."""
        import cvxpy as cp

        n, (above, below) = len(self.labels), self.sides
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        delta = cp.Parameter(nonneg=True, name="delta", value=self.delta)
        u, f = cp.Variable(self.factor.width, name="u"), cp.Variable(n, name="f")
        b = cp.Variable(self.classes - 1, name="thresholds")
        loss, rows = 0, [(f == self.factor.matrix @ u).set_label("predictions")]
        if below.rows.size:
            slack = cp.Variable(below.rows.size, name="slack_below")
            rows += [(b[below.ends] + gamma - f[below.rows] <= slack).set_label("below"), (slack >= 0).set_label("slack_below")]
            loss += cp.sum(slack)
        if above.rows.size:
            slack = cp.Variable(above.rows.size, name="slack_above")
            rows += [(f[above.rows] - b[above.ends] + gamma <= slack).set_label("above"), (slack >= 0).set_label("slack_above")]
            loss += cp.sum(slack)
        if self.classes > 2:
            rows.append((b[:-1] + delta <= b[1:]).set_label("order"))
        return cp.Problem(cp.Minimize(loss / n + regularization / 2 * cp.sum_squares(u)), rows)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Margins and spacings, two classes, an empty class; one class, one sample, K = 0."""
        for name, fields, degenerate in exc_cases.kernel_instances(rng):
            yield Example(name, cls(**fields, regularization=0.05), degenerate)
        gram, labels = exc_cases.kernel_instance(rng, 24, 3)
        yield Example("weak regularization", cls(gram, labels, 3, 0.5, regularization=1e-5))

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_RECIPES,
        bins: int | None = None,
        gamma: float = 1.0,
        delta: float = 0.0,
        regularization: float = 1e-3,
    ) -> Self:
        """Recipe: at most `samples` rows drawn at random (None: all), standardised, a Gaussian kernel exp(−‖x−x'‖²/μ), μ the mean ‖x−x'‖².

        Classes are the labels of a binary or ordinal data set, whole-numbered targets of another (up to 20 from the least on), else
        `bins` (5) classes of equal frequency. γ = 1, Δ = 0, λ = 1e-3.
        """
        fields = exc_cases.kernel_fields(dataset, rng, samples, standardise, similarity, bins)
        return cls(**fields, gamma=gamma, delta=delta, regularization=regularization)
