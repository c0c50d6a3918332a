"""EXC: ordinal regression with learned thresholds, ‖w‖² penalised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt import validate
from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arrays import Point
from simopt.problem import ALL_CONES, Example, freeze, problem
from simopt.problems import _exc_cases, _hinges
from simopt.problems._exc import ThresholdProblem
from simopt.similarities import Similarity

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.datasets import Dataset

Value = Any


@problem
@dataclass(frozen=True, eq=False)
class EXCOrdinalPenalised(ThresholdProblem):
    r"""min_{w,b} (1/n) Σ_i [b_{y_i−1} + γ − ⟨w, ψ_i⟩]_+ + [⟨w, ψ_i⟩ − b_{y_i} + γ]_+ + (λ/2)‖w‖²   s.t.  b_{j+1} − b_j ≥ Δ.

    b_0 = −∞ and b_r = ∞: their hinges are absent. Dual, with p, q ∈ [0, 1/n], ν ≥ 0, g and g_b as in `simopt.problems._exc`:
        D = γ Σ (p + q) + Δ Σ ν − ‖g‖²/(2λ) + min over the box of ⟨g_b, b⟩.
    The box holds an optimal b: (λ/2)‖w*‖² ≤ P* ≤ U for any known upper bound U, so |⟨w*, ψ_i⟩| ≤ M = √(2U/λ) max_i ‖ψ_i‖. The gap is as
    in `EXCOrdinal` with ‖g + λw‖²/(2λ) for the term in w. P(w, b) − P* ≥ (λ/2)‖w − w*‖².

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
    regularization : float
        λ > 0.

    Point {"w": (d,), "thresholds": (r−1,)}. Multipliers {"below": one per sample of label ≥ 2, "above": one per sample of label ≤ r−1,
    "order": (r−2,)}, in the order of the samples; a row without entries may be missing.
    Scale: the loss at w = 0 with the best thresholds; where that is 0 (one class, then it is optimal), γ.
    Source: Kar & Jain 2012, §3.3 and Appendix E, in Tikhonov form (Δ-spacing); EXC is due to Chu & Keerthi 2005.
    """

    name: ClassVar[str] = "exc-ordinal-penalised"
    title: ClassVar[str] = "EXC ordinal regression, learned thresholds, ‖w‖² penalised"
    source: ClassVar[str] = "Kar & Jain 2012, §3.3 and Appendix E, in Tikhonov form"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("regularization", "gamma", "delta")

    regularization: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self._check()
        freeze(self, regularization=validate.positive("regularization", self.regularization))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks + (λ/2)‖w‖² subject to predictions f == Ψw and the rows `below`, `above`, `order`."""
        import cvxpy as cp

        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        delta = cp.Parameter(nonneg=True, name="delta", value=self.delta)
        w, loss, rows = self.declared(gamma, delta)
        return cp.Problem(cp.Minimize(loss + regularization / 2 * cp.sum_squares(w)), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ of the hinges + (λ/2)‖w‖²."""
        w = num.lift(point["w"])
        loss = self.loss(num, num.matvec(self.features, w), num.lift(point["thresholds"]))
        return loss + num.dot(w, w) * num.lift(self.regularization) / 2

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w as it is, thresholds Δ-spaced and inside the box of U = P(0)."""
        return {"w": num.lift(point["w"]), "thresholds": self.feasible_thresholds(num.mid(num.lift(point["thresholds"])), num)}

    def reach(self, upper: float) -> float:
        """√(2U/λ) max_i ‖ψ_i‖ with U the smaller of `upper` and the loss at the trivial point."""
        return math.sqrt(2.0 * min(upper, self._start) / self.regularization) * self.longest

    @cached_property
    def _start(self) -> float:
        return float(self.objective(self.trivial_point())) * (1.0 + 1e-12)

    def regular_dual(self, num: Arithmetic, g: Value) -> Value:
        """min_w (λ/2)‖w‖² + ⟨g, w⟩ = −‖g‖²/(2λ)."""
        return num.dot(g, g) / (num.lift(self.regularization) * -2)

    def regular_gap(self, num: Arithmetic, w: Value, g: Value) -> Value:
        """‖g + λw‖²/(2λ)."""
        return _hinges.penalty_term(num, w, g, self.regularization)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖w − w*‖ ≤ √(2 gap/λ)."""
        return math.sqrt(2.0 * max(gap, 0.0) / self.regularization)

    def in_units(self, s: float, c: float) -> Self:
        """γ, Δ × s and Ψ × c: λ × c²/s."""
        gamma, delta, strength = self.gamma * s, self.delta * s, self.regularization * (c / s * c)
        return replace(self, features=self.features * c, gamma=gamma, delta=delta, regularization=strength)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Margins and spacings, two classes, an empty class; one class, one sample, Ψ = 0."""
        for name, fields, degenerate in _exc_cases.instances(rng):
            yield Example(name, cls(**fields, regularization=0.05), degenerate)
        features, labels = _exc_cases.instance(rng, 24, 2, 3)
        yield Example("weak regularization", cls(features, labels, 3, 0.5, regularization=1e-5))

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
        gamma: float = 1.0,
        delta: float = 0.0,
        regularization: float = 1e-3,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Classes are the whole-numbered targets of an ordinal data set as they are, else `bins` (5) classes of equal frequency. γ = 1,
        Δ = 0, λ = 1e-3.
        """
        fields = _exc_cases.fields(dataset, rng, samples, landmarks, standardise, similarity, bins)
        return cls(**fields, gamma=gamma, delta=delta, regularization=regularization)
