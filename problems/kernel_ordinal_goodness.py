"""Goodness of a positive semidefinite kernel for ordinal regression on a finite domain: the least loss at margin γ, thresholds free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Point
from simopt.core.fields import NonNegative, Positive
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, Law, Rescale, problem
from simopt.problems.domains.ordinal_domain import OrdinalDomain
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.examples import exc as exc_cases
from simopt.problems.examples import ordinal as ordinal_cases
from simopt.problems.norms import gram_factor, power_units, squares, unit_ball, vectors
from simopt.problems.norms.cosines import CosineNorm
from simopt.problems.norms.gram_factor import Gram
from simopt.problems.thresholds.constant_scores import Classes, Grades

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class KernelOrdinalGoodness(OrdinalDomain, CosineNorm):
    r"""min over ‖W‖_H ≤ 1/γ and b of Σ_i p_i [b_{y_i−1} + 1 − f_i]_+ + [f_i − b_{y_i} + 1]_+,  f_i = ⟨W, φ(x_i)⟩ = (Kα)_i,

    subject to b_{j+1} − b_j ≥ Δ; b_0 = −∞ and b_r = ∞. Definition 26 has W = W*/γ with ‖W*‖ = 1, and no order of the thresholds; "≤" is
    what the proof of Theorem 14 uses. The margin is 1, and the thresholds are measured in it. Let a, c, ν, q = a − c and g be as in
    `simopt.problems.domains.ordinal_domain`, and u = Σ q_i φ(x_i). Then
        D = Σ (a + c) + Δ Σ ν − (1/γ) √(qᵀKq) + min over the box of ⟨g, b⟩.
    With M = max_i √K_ii / γ the box holds an optimal b. With t = ‖W‖ and s = ‖u‖ the gap is, beside the terms of hinges, order and
    box, s(1/γ − t) + (t/2s)‖u + (s/t)W‖²: all ≥ 0.

    Parameters
    ----------
    gram : (N, N) array
        K, symmetric positive semidefinite.
    labels : (N,) array
        y_i in 1, …, r; classes may be empty.
    classes : int
        r ≥ 2.
    gamma : float
        γ > 0.
    masses : (N,) array, optional
        p_i ≥ 0 with sum 1 (to 1e-9; the floats given are the data, exactly); None: 1/N each.
    delta : float
        spacing Δ ≥ 0 of the thresholds, in units of the margin 1.

    Point {"alpha": (N,), "thresholds": (r−1,)}. Multipliers as in `OrdinalGoodness`.
    Scale: the loss at W = 0 with the best thresholds; where that is 0 (one class, then it is optimal), 1.
    Source: Kar & Jain 2012, Definition 26.
    """

    name: ClassVar[str] = "kernel-ordinal-goodness"
    title: ClassVar[str] = "goodness ε₀(γ) of a positive semidefinite kernel for ordinal regression, thresholds free"
    source: ClassVar[str] = "Kar & Jain 2012, Definition 26"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("gamma", "delta")

    gram: Gram
    labels: Grades
    classes: Classes
    gamma: Positive
    masses: Probabilities | None = None
    delta: NonNegative = 0.0

    @property
    def hinge_margin(self) -> float:
        """1."""
        return 1.0

    def reach(self) -> float:
        """max_i √K_ii / γ over the points of positive mass."""
        return float(np.sqrt(np.max(np.diagonal(self.gram)[self.mass > 0], initial=0.0))) / self.gamma * (1.0 + 1e-14)

    def predictions_at(self, point: Point, num: Arithmetic) -> Value:
        """Kα."""
        return num.matvec(self.gram, num.lift(point["alpha"]))

    def regular_dual(self, num: Arithmetic, q: Value) -> Value:
        """−√(qᵀKq)/γ."""
        return self.norm(num, q) / num.lift(self.gamma) * -1

    def regular_gap(self, num: Arithmetic, point: Point, q: Value) -> Value:
        """s(1/γ − t) and what Cauchy–Schwarz leaves of st + ⟨u, W⟩."""
        alpha = num.lift(point["alpha"])
        if num is FLOAT:
            return vectors.ball_term(num, self.coordinates(alpha), self.coordinates(q), 1.0 / self.gamma)
        s, t = unit_ball.length(num, self.gram, q), unit_ball.length(num, self.gram, alpha)
        outer = s * num.pos(num.lift(1.0) / num.lift(self.gamma) - t)
        return outer + power_units.angle(num, self.gram, alpha, q * -1, t, s)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise Σ p slacks s.t. `predictions` f = Fu, K ≈ F Fᵀ, γ‖u‖ ≤ 1, `below` b + 1 − f, `above` f − b + 1 ≤ slack, `order`."""
        import cvxpy as cp

        n, (above, below), (p_above, p_below) = len(self.labels), self.sides, self.caps(FLOAT)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        delta = cp.Parameter(nonneg=True, name="delta", value=self.delta)
        u, f = cp.Variable(self.factor.width, name="u"), cp.Variable(n, name="f")
        b = cp.Variable(self.classes - 1, name="thresholds")
        loss, rows = cp.Constant(0.0), []
        if below.rows.size:
            slack = cp.Variable(below.rows.size, name="slack_below")
            rows += [(b[below.ends] + 1.0 - f[below.rows] <= slack).set_label("below"), (slack >= 0).set_label("slack_below")]
            loss += p_below @ slack
        if above.rows.size:
            slack = cp.Variable(above.rows.size, name="slack_above")
            rows += [(f[above.rows] - b[above.ends] + 1.0 <= slack).set_label("above"), (slack >= 0).set_label("slack_above")]
            loss += p_above @ slack
        if self.classes > 2:
            rows.append((b[:-1] + delta <= b[1:]).set_label("order"))
        rows += [
            (f == self.factor.matrix @ u).set_label("predictions"),
            (gamma * cp.norm(u, 2) <= 1).set_label("ball"),
        ]
        return cp.Problem(cp.Minimize(loss), rows)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α (or that of a factor's coordinates u), drawn back until γ‖W‖ ≤ 1; thresholds Δ-spaced and inside the box."""
        if "alpha" in point:
            alpha = np.asarray(num.mid(num.lift(point["alpha"])), dtype=float)
        else:
            alpha = self.factor.coefficients(point["u"], np.ones(len(self.labels)), 0.0)
        drawn = vectors.inside_ball(num, alpha, 1.0, lambda arithmetic, a: self.norm(arithmetic, a) * arithmetic.lift(self.gamma))
        return {"alpha": drawn, "thresholds": self.feasible_thresholds(num.mid(num.lift(point["thresholds"])), num)}

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2/γ in W: the loss is not strongly convex, and all that is known is the ball."""
        return 2.0 / self.gamma

    def trivial_point(self) -> Point:
        """W = 0 with the best thresholds."""
        return {"alpha": np.zeros(len(self.labels)), "thresholds": self.constant_thresholds()}

    def in_units(self, c: float) -> Self:
        """Features φ × c, K × c²: γ × c, α/c², the same thresholds."""
        return replace(self, gram=gram_factor.rescaled(self.gram, c * c), gamma=self.gamma * c)

    def normalised(self) -> tuple[Self, Rescale]:
        """K/κ, γ/√κ with a power of four near max K_ii: α/κ, u/√κ, the same thresholds."""
        kappa = squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        return self.in_units(kappa**-0.5), Rescale(squares.scaling(alpha=1.0 / kappa, u=kappa**-0.5))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Small and large balls, spacings, two classes, an empty class, masses of 0, low rank; one class, one point, K = 0."""
        for name, fields, degenerate in ordinal_cases.kernels(rng):
            yield Example(name, cls(**fields), degenerate)

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of φ; reversal of the labels; permutation; every point split in two of half its mass."""
        return ordinal_cases.kernel_laws()

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
        gamma: float = 0.1,
        delta: float = 0.0,
    ) -> Self:
        """Recipe: domain, masses and classes of the recipe of `OrdinalGoodness`; γ = 0.1, Δ = 0."""
        fields = exc_cases.kernel_fields(dataset, rng, samples, standardise, similarity, bins)
        return cls(**fields, gamma=gamma, delta=delta)
