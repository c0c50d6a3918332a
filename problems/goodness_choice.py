"""Goodness of a similarity when only a share τ of the points may carry weight: a choice function, relaxed to shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import InvalidProblem
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


def unit_fraction(name: str, value: Any) -> float:
    """A number in (0, 1]."""
    out = validate.positive(name, value)
    if out > 1.0:
        raise InvalidProblem(f"{name}: {out:g} given, a number in (0, 1] needed, being the mass of the chosen points")
    return out


UnitFraction = Annotated[float, unit_fraction]


@problem
@dataclass(frozen=True, eq=False)
class GoodnessChoice(FiniteDomain):
    r"""min over |w_j| ≤ B and 0 ≤ R_j ≤ 1 with Σ_j p_j R_j = τ of Σ_i p_i ℓ(f_i, y_i),   f_i = (1/τ) Σ_j p_j R_j w_j K(x_i, x_j).

    Definition 7 has R_j ∈ {0, 1} and f = E[w(x')K(·, x') | R(x') = 1]; here R_j = P(R = 1 | x_j), as the proof of Theorem 10 reads it.
    With u = Rw = Bv it is convex: |v_j| ≤ R_j. (`goodness_choice.exhaustive` in solvers tries every R ∈ {0, 1}^N.) Masses that only sum
    to 1 up to rounding leave Σ p R = τ Σ p.
    Dual: let p_i ℓ(f_i, y_i) = max_q c_i(q) − q f_i and g_j = Σ_i q_i K(x_i, x_j). Minimising −(B/τ) Σ p_j v_j g_j leaves a fractional
    knapsack, max Σ p_j R_j |g_j|. Its own dual has one number t ≥ 0:
        D(q, t) = Σ_i c_i(q_i) − (B/τ) (tτ Σ p + Σ_j p_j [|g_j| − t]_+).
    Any q, clipped, and any t bound from below; the best t is the |g_j| at which the largest ones have mass τ. The gap is
        Σ_i p_i ℓ(f_i, y_i) − c_i(q_i) + q_i f_i   +   (B/τ) Σ_j p_j ((1 − R_j)[|g_j| − t]_+ + R_j [t − |g_j|]_+ + R_j|g_j| − v_j g_j).

    Parameters
    ----------
    gram, targets, bound, masses, loss, epsilon, margin
        as for `Goodness`.
    density : float
        τ in (0, 1]; τ = 1 is `Goodness`.

    Point {"v": (N,), "R": (N,)}, w = Bv/R; multipliers {"predictions": (N,)}, q. All formulas stay in ℚ.
    Scale: the loss at w = 0; where that is 0 it is ε. If y = 0 and ε = 0, restore returns v = 0.
    Source: Kar & Jain 2012, Definition 7 and Theorem 10.
    """

    name: ClassVar[str] = "goodness-choice"
    title: ClassVar[str] = "goodness of a similarity with a choice function of density τ"
    source: ClassVar[str] = "Kar & Jain 2012, Definition 7"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("bound", "epsilon")
    by_hand: ClassVar[str] = "time; where next to no point is feasible, derived restoration proves none to be"

    gram: Similarities
    targets: Targets
    bound: Positive
    density: UnitFraction
    masses: Probabilities | None = None
    loss: LossName = "insensitive"
    epsilon: NonNegative = 0.0
    margin: Positive = 1.0

    def ratio(self, num: Arithmetic) -> Value:
        """B/τ."""
        return num.lift(self.bound) / num.lift(self.density)

    def chosen_mass(self, num: Arithmetic) -> Value:
        """τ Σ p."""
        return num.sum(self.support_masses(num)) * num.lift(self.density)

    def predictions(self, v: Value, num: Arithmetic = FLOAT) -> Value:
        """f_i = (B/τ) Σ_j p_j v_j K_ij at the points of positive mass."""
        return num.matvec(self.core, self.support_masses(num) * num.lift(v)[self.support]) * self.ratio(num)

    def influence(self, num: Arithmetic, q: Value) -> Value:
        """g_j = Σ_i q_i K_ij at the points of positive mass."""
        return num.rmatvec(self.core, q)

    def threshold(self, multipliers: Multipliers) -> float:
        """t: the |g_j| at which the masses of the largest ones reach τ (in floats, the same in every arithmetic)."""
        sizes = np.abs(self.influence(FLOAT, self.admitted_multipliers(FLOAT, multipliers)))
        order = np.argsort(-sizes, kind="stable")
        reached = int(np.searchsorted(np.cumsum(self.support_masses()[order]), self.chosen_mass(FLOAT)))
        return float(sizes[order[min(reached, len(order) - 1)]])

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise Σ pℓ(f, y) s.t. `predictions` f = (B/τ) K(p∘v), |v| ≤ R (`upper`, `lower`), R ≤ 1 (`cap`), p·R = τ (`density`)."""
        import cvxpy as cp

        p, y, n = self.support_masses(), self.support_targets(), len(self.targets)
        bound = cp.Parameter(nonneg=True, name="bound", value=self.bound)
        v, R, f = cp.Variable(n, name="v"), cp.Variable(n, name="R"), cp.Variable(n, name="f")
        slack = cp.Variable(len(y), name="slack")
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
            (f == bound * ((self.gram * (self.mass / self.density)) @ v)).set_label("predictions"),
            (v <= R).set_label("upper"),
            (-v <= R).set_label("lower"),
            (R <= 1).set_label("cap"),
            (self.mass @ R == float(self.chosen_mass(FLOAT))).set_label("density"),
        ]
        return cp.Problem(cp.Minimize(loss), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """Σ p_i ℓ(f_i, y_i)."""
        return self.mean_loss(num, self.predictions(point["v"], num))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """v clipped to [−1, 1] and shrunk until Σ p|v| ≤ τ; R clipped to [|v|, 1] and moved towards |v| or 1 until Σ p R = τ."""
        n, c, one = len(self.targets), self.support, num.lift(1.0)
        v = num.zeros(n) if self.trivial else num.clip(num.lift(point["v"]), -1.0, 1.0)
        p, goal = self.support_masses(num), self.chosen_mass(num)
        carried = num.dot(p, num.abs(v)[c])
        if num.lower(carried) > 0.0:
            v = v * num.minimum(one, goal / carried)
        least = num.abs(v)
        R = num.maximum(least, num.minimum(num.lift(point["R"]), one))
        excess = num.dot(p, R[c]) - goal
        down, up = R - least, num.pos(one - R)
        for slack, lack in ((down * -1, excess), (up, excess * -1)):
            size = num.dot(p, num.abs(slack)[c])
            if num.lower(size) > 0.0:
                R = R + slack * (num.pos(lack) / size)
        return {"v": v, "R": num.maximum(least, num.minimum(R, one))}

    def multipliers(self, point: Point) -> Multipliers:
        """q_i = −p_i ∂ℓ/∂f at f_i: exact away from kinks, where a point does not determine them."""
        return {"predictions": self.suggested(self.predictions(np.asarray(point["v"], dtype=float)))}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(q, t) with q clipped and the best t."""
        q, t = self.admitted_multipliers(num, multipliers), num.lift(self.threshold(multipliers))
        excess = num.dot(self.support_masses(num), num.pos(num.abs(self.influence(num, q)) - t))
        return self.fixed_part(num, q) - (self.chosen_mass(num) * t + excess) * self.ratio(num)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of the losses, plus those of the knapsack and its dual."""
        if self.trivial_optimum(num, num.lift(point["v"]), multipliers):
            return num.lift(0.0)
        q, t = self.admitted_multipliers(num, multipliers), num.lift(self.threshold(multipliers))
        whole, R = num.lift(point["v"]), num.lift(point["R"])[self.support]
        v, g = whole[self.support], self.influence(num, q)
        size = num.abs(g)
        behind = num.pos(num.lift(1.0) - R) * num.pos(size - t) + R * num.pos(t - size) + num.pos(R * size - v * g)
        return self.loss_gap(num, q, self.predictions(whole, num)) + num.dot(self.support_masses(num), behind) * self.ratio(num)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B in max |u_j|, u = Rw: a linear programme need not have one solution, and all that is known is the box."""
        return 2.0 * self.bound

    def trivial_point(self) -> Point:
        """w = 0, R = τ."""
        n = len(self.targets)
        return {"v": np.zeros(n), "R": np.full(n, self.density)}

    def in_units(self, s: float, c: float) -> Self:
        """y, ε (or the margin) × s and K × c: B × s/c, the same v and R."""
        return replace(self, gram=self.gram * c, bound=self.bound * (s / c), **self.in_target_units(s))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """The examples of `Goodness` with several densities; τ = 1, and a choice that needs a random R."""
        for index, (name, gram, targets, options, degenerate) in enumerate(goodness_cases.instances(rng)):
            yield Example(name, cls(gram, targets, density=(0.5, 0.25, 1.0, 0.1)[index % 4], **options), degenerate)
        yield Example("one point, half of it", cls(np.ones((1, 1)), np.array([0.5]), 0.5, 0.5))

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
        density: float = 0.2,
        loss: str = "insensitive",
        epsilon: float | None = None,
        margin: float = 1.0,
    ) -> Self:
        """Recipe: that of `Goodness`, with τ = 0.2 by default."""
        gram, targets, options = goodness_cases.recipe(dataset, rng, samples, standardise, similarity, loss, epsilon, margin)
        return cls(gram, targets, bound, density, **options)
