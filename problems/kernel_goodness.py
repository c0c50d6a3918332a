"""Goodness of a positive semidefinite kernel on a finite domain: the smallest loss at margin γ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Multipliers, Point
from simopt.core.fields import NonNegative, Positive, Targets
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, Law, Rescale, problem
from simopt.problems.domains.finite_domain import FiniteDomain, LossName
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.examples import goodness as goodness_cases
from simopt.problems.norms import gram_factor, power_units, squares, unit_ball, vectors
from simopt.problems.norms.cosines import CosineNorm
from simopt.problems.norms.gram_factor import Gram

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class KernelGoodness(FiniteDomain, CosineNorm):
    r"""min over ‖W‖_H ≤ 1/γ of Σ_i p_i ℓ(⟨W, φ(x_i)⟩, y_i),   W = Σ_j α_j φ(x_j),  ⟨W, φ(x_i)⟩ = (Kα)_i.

    Definition 4 has W = W*/γ with ‖W*‖ = 1; "≤" is what the proofs use, and what makes goodness monotone in γ. With "=", one point with
    K = y = 1 has absolute loss 0 at γ = 1 but 1 at γ = ½.
    The losses are maxima of affine functions, p_i ℓ(f_i, y_i) = max_q c_i(q) − q f_i (problems/losses/prediction_losses.py). Exchange min
    and max, and minimise −⟨v, W⟩ with v = Σ_i q_i φ(x_i) over the ball. By Cauchy–Schwarz this leaves
        D(q) = Σ_i c_i(q_i) − (1/γ) √(qᵀKq),
    a bound for any q, clipped to what the loss admits. With t = ‖W‖ and s = ‖v‖ the gap is a sum of non-negative terms,
        Σ_i p_i ℓ(f_i, y_i) − c_i(q_i) + q_i f_i   +   s(1/γ − t) + (t/2s)‖v − (s/t)W‖².

    Parameters
    ----------
    gram : (N, N) array
        K, symmetric positive semidefinite.
    targets : (N,) array
        y_i; ±1 for the hinge.
    gamma : float
        γ > 0.
    masses : (N,) array, optional
        p_i ≥ 0 with sum 1 (to 1e-9; the floats given are the data, exactly); None: 1/N each.
    loss : str
        "insensitive", [|f − y| − ε]_+ (ε = 0: absolute); "hinge", [m − yf]_+; "squared", (f − y)².
    epsilon, margin : float
        ε ≥ 0 of the insensitive loss; m > 0 of the hinge.

    Point {"alpha": (N,)}, multipliers {"predictions": (N,)}, q.
    Scale: the loss at W = 0; where that is 0 it is ε. If y = 0 and ε = 0, restore returns W = 0.
    Source: Kar & Jain 2012, Definition 4, with the losses of §3.1.
    """

    name: ClassVar[str] = "kernel-goodness"
    title: ClassVar[str] = "goodness ε₀(γ) of a positive semidefinite kernel on a finite domain"
    source: ClassVar[str] = "Kar & Jain 2012, Definition 4"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("gamma", "epsilon")

    gram: Gram
    targets: Targets
    gamma: Positive
    masses: Probabilities | None = None
    loss: LossName = "insensitive"
    epsilon: NonNegative = 0.0
    margin: Positive = 1.0

    def predictions(self, alpha: Value, num: Arithmetic = FLOAT) -> Value:
        """Kα at the points of positive mass."""
        return num.matvec(self.gram, num.lift(alpha))[self.support]

    def scattered(self, num: Arithmetic, q: Value) -> Value:
        """q as multipliers of all points, 0 where there is no mass, shape (N,)."""
        if len(self.support) == len(self.targets):
            return q
        index = np.full(len(self.targets), len(self.support))
        index[self.support] = np.arange(len(self.support))
        return num.concat([q, num.zeros(1)])[index]

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise Σ pℓ(f, y) s.t. `predictions` f = Fu, the ball γ‖u‖ ≤ 1 and the rows of the loss; K ≈ F Fᵀ."""
        import cvxpy as cp

        p, y, n = self.support_masses(), self.support_targets(), len(self.targets)
        gamma = cp.Parameter(nonneg=True, name="gamma", value=self.gamma)
        u, f, slack = cp.Variable(self.factor.width, name="u"), cp.Variable(n, name="f"), cp.Variable(len(y), name="slack")
        counted = f if len(y) == n else f[self.support]  # points of mass 0 count for nothing
        loss, rows = p @ slack, [(slack >= 0).set_label("nonneg")]
        if self.loss == "insensitive":
            epsilon = cp.Parameter(nonneg=True, name="epsilon", value=self.epsilon)
            rows = [(counted - y - epsilon <= slack).set_label("above"), (y - epsilon - counted <= slack).set_label("below"), *rows]
        elif self.loss == "hinge":
            rows = [(self.margin - cp.multiply(y, counted) <= slack).set_label("margins"), *rows]
        else:
            loss, rows = cp.sum_squares(cp.multiply(np.sqrt(p), counted - y)), []
        rows += [
            (f == self.factor.matrix @ u).set_label("predictions"),
            (gamma * cp.norm(u, 2) <= 1).set_label("ball"),
        ]
        return cp.Problem(cp.Minimize(loss), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """Σ p_i ℓ(f_i, y_i)."""
        return self.mean_loss(num, self.predictions(point["alpha"], num))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α (or that of a factor's coordinates u), drawn back until γ‖W‖ ≤ 1; 0 if y = 0 and ε = 0."""
        if self.trivial:
            return {"alpha": num.zeros(len(self.targets))}
        if "alpha" in point:
            alpha = np.asarray(num.mid(num.lift(point["alpha"])), dtype=float)
        else:
            alpha = self.factor.coefficients(point["u"], np.ones(len(self.targets)), 0.0)
        return {"alpha": vectors.inside_ball(num, alpha, 1.0, self._relative_norm)}

    def _relative_norm(self, num: Arithmetic, alpha: Value) -> Value:
        """γ‖W‖."""
        return self.norm(num, alpha) * num.lift(self.gamma)

    def multipliers(self, point: Point) -> Multipliers:
        """q_i = −p_i ∂ℓ/∂f at f_i: exact away from kinks, where a point does not determine them."""
        return {"predictions": self.suggested(self.predictions(np.asarray(point["alpha"], dtype=float)))}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """Σ c(q) − √(qᵀKq)/γ with q clipped."""
        q = self.admitted_multipliers(num, multipliers)
        return self.fixed_part(num, q) - self.norm(num, self.scattered(num, q)) / num.lift(self.gamma)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of the losses, plus s(1/γ − t), plus that of Cauchy–Schwarz, st − ⟨v, W⟩."""
        if self.trivial_optimum(num, num.lift(point["alpha"]), multipliers):
            return num.lift(0.0)
        q, alpha = self.admitted_multipliers(num, multipliers), num.lift(point["alpha"])
        v, left = self.scattered(num, q), self.loss_gap(num, q, self.predictions(alpha, num))
        if num is FLOAT:
            return left + vectors.ball_term(num, self.coordinates(alpha), -self.coordinates(v), 1.0 / self.gamma)
        s, t = unit_ball.length(num, self.gram, v), unit_ball.length(num, self.gram, alpha)
        outer = s * num.pos(num.lift(1.0) / num.lift(self.gamma) - t)
        return left + outer + power_units.angle(num, self.gram, alpha, v, t, s)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2/γ: no loss here is strongly convex in W, and all that is known is the ball."""
        return 2.0 / self.gamma

    def in_units(self, s: float, c: float) -> Self:
        """y, ε (or the margin) × s and features φ × c, K × c²: γ × c/s, α × s/c²."""
        return replace(self, gram=gram_factor.rescaled(self.gram, c * c), gamma=self.gamma * (c / s), **self.in_target_units(s))

    def normalised(self) -> tuple[Self, Rescale]:
        """y/σ, ε/σ (or the margin/σ) and K/κ with powers of two near max |y_i| and of four near max K_ii; q × σ if squared."""
        sigma, kappa = self.target_unit(), squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        back = squares.kernel_rescale(sigma, kappa)
        return self.in_units(1.0 / sigma, kappa**-0.5), Rescale(back.point, squares.scaling(predictions=self.multiplier_unit(sigma)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Every loss, small and large balls, Kar & Jain's four points, masses of 0, rank-deficient kernels; one point, K = 0, y = 0."""
        for name, gram, targets, options, degenerate in goodness_cases.kernels(rng):
            yield Example(name, cls(gram, targets, **options), degenerate)

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of the targets and of φ, change of sign, permutation, every point split in two of half its mass."""
        return goodness_cases.kernel_laws()

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 100,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        gamma: float = 0.1,
        loss: str = "insensitive",
        epsilon: float | None = None,
        margin: float = 1.0,
    ) -> Self:
        """Recipe: the domain, masses, targets and ε of the recipe of `Goodness`, with γ = 0.1 by default."""
        gram, targets, options = goodness_cases.recipe(dataset, rng, samples, standardise, similarity, loss, epsilon, margin)
        return cls(gram, targets, gamma, **options)
