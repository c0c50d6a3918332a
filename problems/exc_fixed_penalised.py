"""EXC with given thresholds, ‖w‖² penalised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.data.similarities import Similarity
from simopt.ground.arrays import Array, Point
from simopt.problems import _exc_cases
from simopt.problems._exc_scores import PenalisedScores
from simopt.problems._exc_start import equispaced, listed
from simopt.problems._exc_thresholds import FixedThresholds
from simopt.solving.problem import ALL_CONES, Example, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class EXCFixedPenalised(FixedThresholds, PenalisedScores):
    r"""min_w (1/n) Σ_i [b_{y_i−1} + γ − ⟨w, ψ_i⟩]_+ + [⟨w, ψ_i⟩ − b_{y_i} + γ]_+ + (λ/2)‖w‖².

    b_0 = −∞ and b_r = ∞: their hinges are absent. Multipliers p (hinges above), q (below) in [0, 1/n].
    With s_i = p_i − q_i, g = Ψᵀs: min_w (λ/2)‖w‖² + ⟨g, w⟩ = −‖g‖²/(2λ).
    D = Σ q_i (γ + b_{y_i−1}) + p_i (γ − b_{y_i}) − ‖g‖²/(2λ): the thresholds are data, and every p, q is dual feasible.
    The gap is Σ (1/n − a)[h]_+ + a[−h]_+ over the hinges, plus ‖g + λw‖²/(2λ): all non-negative.
    P − P* ≥ (λ/2)‖w − w*‖².

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
    regularization : float
        λ > 0.

    Point {"w": (d,)}. Multipliers {"below": one per sample of label ≥ 2, "above": one per sample of label ≤ r−1}, in the order
    of the samples; a row without entries may be missing.
    Scale: the loss at w = 0; where that is 0 (then it is optimal), γ.
    Source: Kar & Jain 2012, §4, in Tikhonov form: EXC with fixed equi-spaced thresholds, as ORLand has them.
    """

    name: ClassVar[str] = "exc-fixed-penalised"
    title: ClassVar[str] = "EXC ordinal regression, given thresholds, ‖w‖² penalised"
    source: ClassVar[str] = "Kar & Jain 2012, §4 and Appendix E, in Tikhonov form"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization", "gamma")

    features: Array
    labels: Array
    classes: int
    thresholds: Array
    gamma: float = 1.0
    regularization: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self._check()

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks + (λ/2)‖w‖² s.t. `predictions` f = Ψw and `below` b + γ − f, `above` f − b + γ ≤ slack."""
        import cvxpy as cp

        n, (above, below) = len(self.labels), self.sides
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        w, f = cp.Variable(self.features.shape[1], name="w"), cp.Variable(n, name="f")
        b = self.thresholds
        loss, rows = 0, [(f == self.features @ w).set_label("predictions")]
        if below.rows.size:
            slack = cp.Variable(below.rows.size, name="slack_below")
            rows += [(b[below.ends] + gamma - f[below.rows] <= slack).set_label("below"), (slack >= 0).set_label("slack_below")]
            loss += cp.sum(slack)
        if above.rows.size:
            slack = cp.Variable(above.rows.size, name="slack_above")
            rows += [(f[above.rows] - b[above.ends] + gamma <= slack).set_label("above"), (slack >= 0).set_label("slack_above")]
            loss += cp.sum(slack)
        return cp.Problem(cp.Minimize(loss / n + regularization / 2 * cp.sum_squares(w)), rows)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w as it is."""
        return self.inside(num, point)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Steps equal and unequal, two classes, an empty class; one class, one sample, Ψ = 0."""
        for name, fields, degenerate in _exc_cases.fixed_instances(rng):
            yield Example(name, cls(**fields, regularization=0.05), degenerate)
        features, labels = _exc_cases.instance(rng, 24, 2, 3)
        yield Example("weak regularization", cls(features, labels, 3, np.array([-0.7, 0.4]), 0.5, regularization=1e-5))

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
        bins: int | None = None,
        thresholds: str | Sequence[float] | None = None,
        spacing: float = 1.0,
        centre: float = 0.0,
        gamma: float = 0.5,
        regularization: float = 1e-3,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Classes are whole-numbered targets as they are (up to 20 from the least on), else `bins` (5) classes of equal frequency.
        `thresholds` are numbers, also as one text with commas; None: b_j = centre + spacing (j − r/2). With the defaults labels minus
        (r + 1)/2 are halfway between these, and with γ = ½ the loss of inner classes is the distance to that. λ = 1e-3.
        """
        fields = _exc_cases.fields(dataset, rng, samples, landmarks, standardise, similarity, bins)
        given = equispaced(fields["classes"], spacing, centre) if thresholds is None else listed("thresholds", thresholds)
        return cls(**fields, thresholds=given, gamma=gamma, regularization=regularization)
