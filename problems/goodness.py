"""Goodness of a similarity on a finite domain: the smallest loss ε₀(B) of predictors whose weights are bounded by B."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import NonNegative, Positive, Targets
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, Law, problem
from simopt.problems.domains.finite_domain import FiniteDomain, LossName, Similarities
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.examples import goodness as goodness_cases

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class Goodness(FiniteDomain):
    r"""ε₀(B) = min over |w_j| ≤ B of Σ_i p_i ℓ(f_i, y_i),   f_i = Σ_j p_j w_j K(x_i, x_j) = E_{x'} w(x') K(x_i, x').

    K is (ε₀, B)-good exactly if ε₀(B) ≤ ε₀. Declared with w = Bv, |v_j| ≤ 1: with |w| ≤ B conic solvers return wrong values at large B.
    The losses are maxima of affine functions, p_i ℓ(f_i, y_i) = max_q c_i(q) − q f_i (problems/losses/prediction_losses.py).
    min over |v_j| ≤ 1 of −B Σ_j p_j v_j g_j with g_j = Σ_i q_i K(x_i, x_j) is −B Σ_j p_j |g_j|. So
        D(q) = Σ_i c_i(q_i) − B Σ_j p_j |Σ_i q_i K(x_i, x_j)|.
    The dual of the box is an ℓ₁ norm, finite everywhere: any q, clipped to what the loss admits, bounds ε₀(B) from below.
    The gap is Σ_i p_i ℓ(f_i, y_i) − c_i(q_i) + q_i f_i, plus B Σ_j p_j (|g_j| − v_j g_j), all terms ≥ 0.
    For each q, D is a falling line in B: ε₀, the highest of them, is convex and falls, and −Σ_j p_j|g_j| at an optimal q is its slope.

    Parameters
    ----------
    gram : (N, N) array
        K(x_i, x_j), of any sign, not necessarily symmetric.
    targets : (N,) array
        y_i; ±1 for the hinge.
    bound : float
        B > 0.
    masses : (N,) array, optional
        p_i ≥ 0 with sum 1 (to 1e-9; the floats given are the data, exactly); None: 1/N each.
    loss : str
        "insensitive", [|f − y| − ε]_+ (ε = 0: absolute); "hinge", [m − yf]_+; "squared", (f − y)².
    epsilon, margin : float
        ε ≥ 0 of the insensitive loss; m > 0 of the hinge.

    Point {"v": (N,)} (w = Bv), multipliers {"predictions": (N,)}, q. All formulas stay in ℚ.
    Scale: the loss at w = 0; where that is 0 (ε ≥ every |y_i|, so that w = 0 is optimal) it is ε. If y = 0 and ε = 0, restore returns
    w = 0.
    Source: Kar & Jain 2012, Definition 2, with the losses of §3.1.
    """

    name: ClassVar[str] = "goodness"
    title: ClassVar[str] = "goodness ε₀(B) of a similarity on a finite domain"
    source: ClassVar[str] = "Kar & Jain 2012, Definition 2"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("bound", "epsilon")
    by_hand: ClassVar[str] = "time: a derived certificate has to read the declaration, find a point inside and repair its multipliers"

    gram: Similarities
    targets: Targets
    bound: Positive
    masses: Probabilities | None = None
    loss: LossName = "insensitive"
    epsilon: NonNegative = 0.0
    margin: Positive = 1.0

    def predictions(self, v: Value, num: Arithmetic = FLOAT) -> Value:
        """f_i = B Σ_j p_j v_j K_ij at the points of positive mass."""
        return num.matvec(self.core, self.support_masses(num) * num.lift(v)[self.support]) * num.lift(self.bound)

    def influence(self, num: Arithmetic, q: Value) -> Value:
        """g_j = Σ_i q_i K_ij at the points of positive mass."""
        return num.rmatvec(self.core, q)

    def weights(self, point: Point) -> Array:
        """w = Bv, shape (N,)."""
        return self.bound * np.asarray(point["v"], dtype=float)

    def slope(self, multipliers: Multipliers) -> float:
        """−Σ_j p_j |g_j|: B ↦ ε₀(B) lies above the line through (B, D(q)) with this slope; at an optimal q they touch."""
        return -float(self.support_masses() @ np.abs(self.influence(FLOAT, self.admitted_multipliers(FLOAT, multipliers))))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise Σ pℓ(f, y) s.t. `predictions` f = B K(p∘v), |v| ≤ 1 (`upper`, `lower`) and the rows of the loss."""
        import cvxpy as cp

        p, y, n = self.support_masses(), self.support_targets(), len(self.targets)
        bound = cp.Parameter(nonneg=True, name="bound", value=self.bound)
        v, f, slack = cp.Variable(n, name="v"), cp.Variable(n, name="f"), cp.Variable(len(y), name="slack")
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
            (f == bound * ((self.gram * self.mass) @ v)).set_label("predictions"),
            (v <= 1).set_label("upper"),
            (v >= -1).set_label("lower"),
        ]
        return cp.Problem(cp.Minimize(loss), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """Σ p_i ℓ(f_i, y_i)."""
        return self.mean_loss(num, self.predictions(point["v"], num))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """v clipped to [−1, 1]; 0 if y = 0 and ε = 0."""
        return {"v": num.zeros(len(self.targets)) if self.trivial else num.clip(num.lift(point["v"]), -1.0, 1.0)}

    def multipliers(self, point: Point) -> Multipliers:
        """q_i = −p_i ∂ℓ/∂f at f_i: exact away from kinks, where a point does not determine them."""
        return {"predictions": self.suggested(self.predictions(np.asarray(point["v"], dtype=float)))}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """Σ c(q) − B Σ_j p_j |g_j| with q clipped."""
        q = self.admitted_multipliers(num, multipliers)
        return self.fixed_part(num, q) - num.dot(self.support_masses(num), num.abs(self.influence(num, q))) * num.lift(self.bound)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of the losses, plus B Σ_j p_j (|g_j| − v_j g_j)."""
        if self.trivial_optimum(num, num.lift(point["v"]), multipliers):
            return num.lift(0.0)
        q, v = self.admitted_multipliers(num, multipliers), num.lift(point["v"])
        g = self.influence(num, q)
        behind = num.dot(self.support_masses(num), num.pos(num.abs(g) - v[self.support] * g))
        return self.loss_gap(num, q, self.predictions(v, num)) + behind * num.lift(self.bound)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B in max |w_j|: a linear programme need not have one solution, and all that is known is the box."""
        return 2.0 * self.bound

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"v": np.zeros(len(self.targets))}

    def in_units(self, s: float, c: float) -> Self:
        """y, ε (or the margin) × s and K × c: B × s/c, the same v."""
        return replace(self, gram=self.gram * c, bound=self.bound * (s / c), **self.in_target_units(s))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Every loss, kernels and asymmetric similarities, small and large B, masses of 0; K = 0 and constant, one point, y = 0."""
        for name, gram, targets, options, degenerate in goodness_cases.instances(rng):
            yield Example(name, cls(gram, targets, **options), degenerate)

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of the targets and of K, change of sign, permutation, every point split in two of half its mass."""
        return goodness_cases.laws()

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 100,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        bound: float = 10.0,
        loss: str = "insensitive",
        epsilon: float | None = None,
        margin: float = 1.0,
    ) -> Self:
        """Recipe: at most `samples` rows, standardised, are the domain, with equal masses; the default similarity has Kar & Jain's σ.

        Targets are centred at their median and divided by their standard deviation (w has no intercept); ε defaults to 0.1 for the
        insensitive loss. For the hinge, labels as for the hinge SVM (±1, or whether the target is above its median).
        """
        gram, targets, options = goodness_cases.recipe(dataset, rng, samples, standardise, similarity, loss, epsilon, margin)
        return cls(gram, targets, bound, **options)
