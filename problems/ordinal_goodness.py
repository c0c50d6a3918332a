"""Goodness of a similarity for ordinal regression on a finite domain: the least margin loss ε₀(B), thresholds free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Point
from simopt.core.fields import NonNegative, Positive
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, Law, Rescale, problem
from simopt.problems.domains.finite_domain import Similarities
from simopt.problems.domains.ordinal_domain import OrdinalDomain
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.examples import exc as exc_cases
from simopt.problems.examples import ordinal as ordinal_cases
from simopt.problems.norms import squares
from simopt.problems.thresholds.constant_scores import Classes, Grades

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class OrdinalGoodness(OrdinalDomain):
    r"""ε₀(B) = min over |w_j| ≤ B and b of Σ_i p_i [b_{y_i−1} + γ − f_i]_+ + [f_i − b_{y_i} + γ]_+,  f_i = Σ_j p_j w_j K(x_i, x_j),

    subject to b_{j+1} − b_j ≥ Δ; b_0 = −∞ and b_r = ∞, their hinges are absent. K is (ε₀, B)-good for Δ-spaced thresholds and γ-margin
    loss exactly if ε₀(B) ≤ ε₀. Declared with w = Bv, |v_j| ≤ 1. Let a, c, ν, q = a − c and g be as in domains/ordinal_domain.py. Then
        D = γ Σ (a + c) + Δ Σ ν − B Σ_j p_j |Σ_i q_i K(x_i, x_j)| + min over the box of ⟨g, b⟩.
    The box, with M = B max_i Σ_j p_j |K(x_i, x_j)|, holds an optimal b. The gap is a sum of terms ≥ 0. The hinges
    leave Σ (p − a)[h]_+ + a[−h]_+, the spacing rows Σ ν_j (b_{j+1} − b_j − Δ), the weights B Σ_j p_j (|k_j| + v_j k_j) with k = Kᵀq. The
    box leaves Σ g_j^+(b_j − low_j) + g_j^−(high_j − b_j). The value depends on B and K through BK only, and (γ, Δ, B) × s makes it s times
    as large.

    Parameters
    ----------
    gram : (N, N) array
        K(x_i, x_j), of any sign, not necessarily symmetric.
    labels : (N,) array
        y_i in 1, …, r; classes may be empty.
    classes : int
        r ≥ 2.
    bound : float
        B > 0.
    masses : (N,) array, optional
        p_i ≥ 0 with sum 1 (to 1e-9; the floats given are the data, exactly); None: 1/N each.
    gamma, delta : float
        margin γ > 0 and spacing Δ ≥ 0 of the thresholds (Δ = 0: ordered, which the paper means but does not say).

    Point {"v": (N,), "thresholds": (r−1,)} (w = Bv). Multipliers {"below": one per point of label ≥ 2, "above": one per point of label
    ≤ r−1, "order": (r−2,)}; a row without entries may be missing. All formulas stay in ℚ.
    Scale: the loss at w = 0 with the best thresholds; where that is 0 (one class, then it is optimal), γ.
    Source: Kar & Jain 2012, Definition 12, with the Δ-spacing of Theorem 13.
    """

    name: ClassVar[str] = "ordinal-goodness"
    title: ClassVar[str] = "goodness ε₀(B) of a similarity for ordinal regression, thresholds free"
    source: ClassVar[str] = "Kar & Jain 2012, Definition 12"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("bound", "gamma", "delta")

    gram: Similarities
    labels: Grades
    classes: Classes
    bound: Positive
    masses: Probabilities | None = None
    gamma: Positive = 1.0
    delta: NonNegative = 0.0

    @property
    def hinge_margin(self) -> float:
        """γ."""
        return self.gamma

    @cached_property
    def _row_sums(self) -> float:
        """max over the points of positive mass of Σ_j p_j |K_ij|, rounded up."""
        n = len(self.labels)
        return float(np.max((np.abs(self.gram) @ self.mass)[self.mass > 0])) * (1.0 + 1e-15 * (n + 10))

    def reach(self) -> float:
        """M = B max_i Σ_j p_j |K_ij|."""
        return self.bound * self._row_sums

    def predictions(self, v: Value, num: Arithmetic = FLOAT) -> Value:
        """f_i = B Σ_j p_j v_j K_ij."""
        return num.matvec(self.gram, self.masses_in(num) * num.lift(v)) * num.lift(self.bound)

    def predictions_at(self, point: Point, num: Arithmetic) -> Value:
        """f at all points."""
        return self.predictions(point["v"], num)

    def weights(self, point: Point) -> Array:
        """w = Bv, shape (N,)."""
        return self.bound * np.asarray(point["v"], dtype=float)

    def regular_dual(self, num: Arithmetic, q: Value) -> Value:
        """−B Σ_j p_j |Σ_i q_i K_ij|."""
        return num.dot(self.masses_in(num), num.abs(num.rmatvec(self.gram, q))) * num.lift(self.bound) * -1

    def regular_gap(self, num: Arithmetic, point: Point, q: Value) -> Value:
        """B Σ_j p_j (|k_j| + v_j k_j), k = Kᵀq."""
        k = num.rmatvec(self.gram, q)
        return num.dot(self.masses_in(num), num.pos(num.abs(k) + num.lift(point["v"]) * k)) * num.lift(self.bound)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise Σ p slacks s.t. `predictions` f = B K(p∘v), |v| ≤ 1, `below` b + γ − f, `above` f − b + γ ≤ slack, `order`."""
        import cvxpy as cp

        n, (above, below), (p_above, p_below) = len(self.labels), self.sides, self.caps(FLOAT)
        bound = cp.Parameter(nonneg=True, name="bound", value=self.bound)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        delta = cp.Parameter(nonneg=True, name="delta", value=self.delta)
        v, f = cp.Variable(n, name="v"), cp.Variable(n, name="f")
        b = cp.Variable(self.classes - 1, name="thresholds")
        loss, rows = cp.Constant(0.0), []
        if below.rows.size:
            slack = cp.Variable(below.rows.size, name="slack_below")
            rows += [(b[below.ends] + gamma - f[below.rows] <= slack).set_label("below"), (slack >= 0).set_label("slack_below")]
            loss += p_below @ slack
        if above.rows.size:
            slack = cp.Variable(above.rows.size, name="slack_above")
            rows += [(f[above.rows] - b[above.ends] + gamma <= slack).set_label("above"), (slack >= 0).set_label("slack_above")]
            loss += p_above @ slack
        if self.classes > 2:
            rows.append((b[:-1] + delta <= b[1:]).set_label("order"))
        rows += [
            (f == bound * ((self.gram * self.mass) @ v)).set_label("predictions"),
            (v <= 1).set_label("upper"),
            (v >= -1).set_label("lower"),
        ]
        return cp.Problem(cp.Minimize(loss), rows)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """v clipped to [−1, 1], thresholds Δ-spaced and inside the box."""
        thresholds = self.feasible_thresholds(num.mid(num.lift(point["thresholds"])), num)
        return {"v": num.clip(num.lift(point["v"]), -1.0, 1.0), "thresholds": thresholds}

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B in max |w_j|: a linear programme need not have one solution, and all that is known is the box."""
        return 2.0 * self.bound

    def trivial_point(self) -> Point:
        """w = 0 with the best thresholds."""
        return {"v": np.zeros(len(self.labels)), "thresholds": self.constant_thresholds()}

    def in_units(self, s: float, c: float) -> Self:
        """γ, Δ × s and K × c: B × s/c, thresholds × s, the same v."""
        return replace(self, gram=self.gram * c, bound=self.bound * (s / c), gamma=self.gamma * s, delta=self.delta * s)

    def normalised(self) -> tuple[Self, Rescale]:
        """γ/σ, Δ/σ and K/κ with powers of two near γ and max |K_ij|: the same v, thresholds × σ; multipliers are pure numbers."""
        sigma, kappa = squares.power_of_two(self.gamma), squares.power_of_two(squares.largest(self.gram))
        back = squares.scaling(thresholds=sigma, f=sigma, slack_below=sigma, slack_above=sigma)
        return self.in_units(1.0 / sigma, 1.0 / kappa), Rescale(back)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Kernels and random signs, margins and spacings, two classes, an empty class, masses of 0; one class, one point, K = 0."""
        for name, fields, degenerate in ordinal_cases.instances(rng):
            yield Example(name, cls(**fields), degenerate)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of γ, Δ and B together; of K; reversal of the labels; permutation; every point split in two of half its mass."""
        return ordinal_cases.laws()

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 100,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        bins: int | None = None,
        bound: float = 10.0,
        gamma: float = 1.0,
        delta: float = 0.0,
    ) -> Self:
        """Recipe: at most `samples` rows, standardised, are the domain, with equal masses; the default similarity has Kar & Jain's σ.

        Classes are the labels of a binary or ordinal data set, whole-numbered targets of another (up to 20 from the least on), else
        `bins` (5) classes of equal frequency. B = 10, γ = 1, Δ = 0.
        """
        fields = exc_cases.kernel_fields(dataset, rng, samples, standardise, similarity, bins)
        return cls(**fields, bound=bound, gamma=gamma, delta=delta)
