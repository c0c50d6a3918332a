"""EXC: ordinal regression with learned thresholds, ‖w‖ bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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
class EXCOrdinal(ThresholdProblem):
    r"""min_{w,b} (1/n) Σ_i [b_{y_i−1} + γ − ⟨w, ψ_i⟩]_+ + [⟨w, ψ_i⟩ − b_{y_i} + γ]_+   s.t.  b_{j+1} − b_j ≥ Δ,  ‖w‖₂ ≤ B.

    b_0 = −∞ and b_r = ∞: their hinges are absent. Dual, with p, q ∈ [0, 1/n], ν ≥ 0, g and g_b as in `simopt.problems._exc`:
        D = γ Σ (p + q) + Δ Σ ν − B‖g‖ + min over the box of ⟨g_b, b⟩,
    where the box, with M = B max_i ‖ψ_i‖, holds an optimal b. The gap is Σ (1/n − a)[h]_+ + a[−h]_+ over the hinges, plus
    Σ ν_j(b_{j+1} − b_j − Δ), plus ⟨g, w⟩ + B‖g‖, plus Σ g_b,j^+(b_j − low_j) + g_b,j^−(high_j − b_j): all non-negative.

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
    radius : float
        B > 0.

    Point {"w": (d,), "thresholds": (r−1,)}. Multipliers {"below": one per sample of label ≥ 2, "above": one per sample of label ≤ r−1,
    "order": (r−2,)}, in the order of the samples; a row without entries may be missing.
    Scale: the loss at w = 0 with the best thresholds; where that is 0 (one class, then it is optimal), γ.
    Source: Kar & Jain 2012, §3.3 and Appendix E (Δ-spacing); EXC is due to Chu & Keerthi 2005.
    """

    name: ClassVar[str] = "exc-ordinal"
    title: ClassVar[str] = "EXC ordinal regression, learned thresholds, ‖w‖ ≤ B"
    source: ClassVar[str] = "Kar & Jain 2012, §3.3 and Appendix E"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("radius", "gamma", "delta")

    radius: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self._check()
        freeze(self, radius=validate.positive("radius", self.radius))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slacks subject to predictions f == Ψw, the rows `below`, `above`, `order`, and the ball ‖w‖ ≤ B."""
        import cvxpy as cp

        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        delta = cp.Parameter(nonneg=True, name="delta", value=self.delta)
        w, loss, rows = self.declared(gamma, delta)
        return cp.Problem(cp.Minimize(loss), [*rows, (cp.norm(w, 2) <= radius).set_label("ball")])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ of the hinges."""
        return self.loss(num, num.matvec(self.features, num.lift(point["w"])), num.lift(point["thresholds"]))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w drawn back into the ball, thresholds Δ-spaced and inside the box."""
        w = _hinges.inside_ball(num, np.asarray(num.mid(num.lift(point["w"])), dtype=float).reshape(-1), self.radius)
        return {"w": w, "thresholds": self.feasible_thresholds(num.mid(num.lift(point["thresholds"])), num)}

    def reach(self, upper: float) -> float:
        """B max_i ‖ψ_i‖."""
        return self.radius * self.longest

    def regular_dual(self, num: Arithmetic, g: Value) -> Value:
        """min over ‖w‖ ≤ B of ⟨g, w⟩ = −B‖g‖."""
        return num.norm(g) * num.lift(self.radius) * -1

    def regular_gap(self, num: Arithmetic, w: Value, g: Value) -> Value:
        """⟨g, w⟩ + B‖g‖."""
        return _hinges.ball_term(num, w, g, self.radius)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B in w: the loss is not strongly convex, and all that is known is the ball."""
        return 2.0 * self.radius

    def in_units(self, s: float, c: float) -> Self:
        """γ, Δ × s and Ψ × c: B × s/c."""
        gamma, delta, radius = self.gamma * s, self.delta * s, self.radius * (s / c)
        return replace(self, features=self.features * c, gamma=gamma, delta=delta, radius=radius)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Margins and spacings, two classes, an empty class; one class, one sample, Ψ = 0."""
        for name, fields, degenerate in _exc_cases.instances(rng):
            yield Example(name, cls(**fields, radius=3.0), degenerate)
        features, labels = _exc_cases.instance(rng, 24, 2, 3)
        yield Example("inactive ball", cls(features, labels, 3, 0.5, radius=200.0))

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
        radius: float = 10.0,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Classes are the whole-numbered targets of an ordinal data set as they are, else `bins` (5) classes of equal frequency. γ = 1,
        Δ = 0, B = 10.
        """
        fields = _exc_cases.fields(dataset, rng, samples, landmarks, standardise, similarity, bins)
        return cls(**fields, gamma=gamma, delta=delta, radius=radius)
