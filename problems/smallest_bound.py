"""The smallest bound B for which a similarity is (ε₀, B)-good."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.core.fields import NonNegative, Positive, Targets
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, Image, Law, Rescale, change_of_units, freeze, laws_of_samples, problem
from simopt.problems.domains import slater
from simopt.problems.domains.finite_domain import FiniteDomain, LossName, Similarities
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.examples import goodness as goodness_cases
from simopt.problems.norms import squares

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


def level(name: str, value: Any) -> float:
    """A number > 0: no point has a loss below 0, so that none could be restored."""
    if validate.finite(name, value) == 0.0:
        raise InvalidProblem(f"{name}: 0 given, a number > 0 needed; exact_smallest_bound of simopt.solvers.goodness.exact admits 0")
    return validate.positive(name, value)


Level = Annotated[float, level]
EPS = float(np.finfo(np.float64).eps)


@problem
@dataclass(frozen=True, eq=False)
class SmallestBound(FiniteDomain):
    r"""min over w of B = max_j |w_j| subject to Σ_i p_i ℓ(f_i, y_i) ≤ ε₀,   f_i = Σ_j p_j w_j K(x_i, x_j).

    The inverse of B ↦ ε₀(B) of `Goodness`, whose dual gives this one. Take any q that the loss admits, and g_j = Σ_i q_i K(x_i, x_j). Then
        ε₀ ≥ Σ_i p_i ℓ(f_i, y_i) ≥ Σ_i c_i(q_i) − B Σ_j p_j |g_j|.     So     B ≥ D(q) = (Σ_i c_i(q_i) − ε₀) / Σ_j p_j |g_j|,
    which is 0 or more. If g = 0 although Σ c(q) > ε₀, no weights reach ε₀: D = ∞ proves that the problem is infeasible (in floats, where
    every g_j is rounding error). Duplicated points with different targets, or a constant K, have such a q. The squared loss has the best
    multiple of q in closed form. The gap is, all terms being ≥ 0,
        (Σ_j p_j (B|g_j| − w_j g_j) + Σ_i (p_i ℓ(f_i, y_i) − c_i(q_i) + q_i f_i) + ε₀ − Σ_i p_i ℓ(f_i, y_i)) / Σ_j p_j |g_j|.
    A point that misses the level is blended with one well inside it (problems/domains/slater.py), by as little as convexity allows.

    Parameters
    ----------
    gram, targets, masses, loss, epsilon, margin
        as for `Goodness`.
    level : float
        ε₀ > 0. (ε₀ = 0 has no interior; `exact_smallest_bound` of solvers/goodness/exact.py admits it.)

    Point {"w": (N,)}, multipliers {"predictions": (N,), "level": ()}: λq and λ of the declared rows.
    Scale: max |w_j| where the segment from w = 0 to the inner point meets the level, an upper bound on B. If w = 0 suffices, or no w does,
    max |y_i| (or the margin) over max |K_ij|.
    Source: Kar & Jain 2012, Definition 2 and Theorem 6.
    """

    name: ClassVar[str] = "smallest-bound"
    title: ClassVar[str] = "the smallest B for which a similarity is (ε₀, B)-good"
    source: ClassVar[str] = "Kar & Jain 2012, Definition 2 and Theorem 6"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("level", "epsilon")
    may_be_infeasible: ClassVar[bool] = True
    by_hand: ClassVar[str] = "a ray in closed form proves that no bound is enough"

    gram: Similarities
    targets: Targets
    level: Level
    masses: Probabilities | None = None
    loss: LossName = "insensitive"
    epsilon: NonNegative = 0.0
    margin: Positive = 1.0

    @cached_property
    def inner(self) -> Array | None:
        """Weights of the points of positive mass with a loss below the level; None where there are none. Found in natural units."""
        sigma, kappa = self.target_unit(), squares.power_of_two(squares.largest(self.gram))
        twin = self.in_units(1.0 / sigma, 1.0 / kappa)
        p = twin.support_masses()
        if twin.loss_at_zero() <= twin.level:
            return np.zeros(len(p))
        found = slater.inner_weights(twin.core * p, twin.support_targets(), p, twin.loss_function, twin.level)
        return None if found is None else found * (sigma / kappa)

    def ray(self) -> Multipliers | None:
        """q of the least loss over all w, where Kᵀq = 0: D = ∞ if that loss is above the level. Found in natural units."""
        if self.inner is not None:
            return None
        sigma, kappa = self.target_unit(), squares.power_of_two(squares.largest(self.gram))
        twin = self.in_units(1.0 / sigma, 1.0 / kappa)
        found = slater.ray(twin.core * twin.support_masses(), twin.support_targets(), twin.support_masses(), twin.loss_function)
        if found is None:
            return None
        q = np.zeros(len(self.targets))
        q[self.support] = found * self.multiplier_unit(sigma)
        return {"predictions": q, "level": np.array(1.0)}

    def predictions(self, w: Value, num: Arithmetic = FLOAT) -> Value:
        """f_i = Σ_j p_j w_j K_ij at the points of positive mass; w of those."""
        return num.matvec(self.core, self.support_masses(num) * w)

    def attained(self, w: Value, num: Arithmetic = FLOAT) -> Value:
        """Σ p_i ℓ(f_i, y_i) of weights of the points of positive mass."""
        return self.mean_loss(num, self.predictions(w, num))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise t s.t. |w| ≤ t (`upper`, `lower`), `predictions` f = K(p∘w), Σ pℓ(f, y) ≤ ε₀ (`level`) and the rows of the loss."""
        import cvxpy as cp

        p, y, n = self.support_masses(), self.support_targets(), len(self.targets)
        level = cp.Parameter(nonneg=True, name="level", value=self.level)
        w, f, t = cp.Variable(n, name="w"), cp.Variable(n, name="f"), cp.Variable(name="t")
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
            (f == (self.gram * self.mass) @ w).set_label("predictions"),
            (loss <= level).set_label("level"),
            (w <= t).set_label("upper"),
            (-w <= t).set_label("lower"),
        ]
        return cp.Problem(cp.Minimize(t), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """max |w_j|; ∞ if there is no inner point and w misses the level."""
        w = num.lift(point["w"])[self.support]
        if self.inner is None and num.upper(self.attained(w, num)) > self.level:
            return math.inf
        return num.max(num.abs(w))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, blended with the inner point until its loss is at most ε₀; 0 where w = 0 is feasible. Weights off the masses are 0."""
        values = np.asarray(num.mid(num.lift(point["w"])), dtype=float).reshape(-1)[self.support]
        w, inner = num.lift(values), self.inner
        if inner is not None:
            loss, goal = self.attained(w, num), num.lift(self.level)
            if num.upper(loss - goal) > 0.0:
                w = self._blended(num, w, loss, goal)
        return {"w": w if len(self.support) == len(self.targets) else self._scattered(num, w)}

    def _blended(self, num: Arithmetic, w: Value, loss: Value, goal: Value) -> Value:
        """(1 − θ)w + θw° with θ = (loss − ε₀)/(loss − loss°), so that the loss is at most ε₀; w° itself where θ is no number."""
        inner = num.lift(self.inner)
        slack = loss - self.attained(inner, num)
        if not np.any(self.inner) or not (num.lower(slack) > 0.0 and math.isfinite(num.upper(loss))):
            return inner
        theta = num.minimum(num.pos(loss - goal) / slack, num.lift(1.0))
        return w * (num.lift(1.0) - theta) + inner * theta

    def _scattered(self, num: Arithmetic, values: Value) -> Value:
        index = np.full(len(self.targets), len(self.support))
        index[self.support] = np.arange(len(self.support))
        return num.concat([values, num.zeros(1)])[index]

    def multipliers(self, point: Point) -> Multipliers:
        """q_i = −p_i ∂ℓ/∂f at f_i, λ = 1."""
        return {"predictions": self.suggested(self.predictions(np.asarray(point["w"], dtype=float)[self.support])), "level": np.array(1.0)}

    def _dual_terms(self, num: Arithmetic, multipliers: Multipliers) -> tuple[Value, Value, Value, bool]:
        """q, g, Σ_j p_j|g_j| and whether g is 0 (in floats: nothing but rounding)."""
        strength = float(np.asarray(multipliers["level"]).reshape(()))
        factor = 1.0 / strength if strength > 0.0 and math.isfinite(1.0 / strength) else 0.0
        if self.loss == "squared":
            factor *= self._multiple(multipliers, factor)
        q = self.admitted_multipliers(num, multipliers, factor)
        g = num.rmatvec(self.core, q)
        total = num.dot(self.support_masses(num), num.abs(g))
        if num is FLOAT:  # column by column: small ones must not hide behind the rounding errors of large ones
            noise = len(g) * EPS * (np.abs(self.core).T @ np.abs(q))
            return q, g, total, bool(np.all(np.abs(g) <= 4.0 * noise))
        return q, g, total, num.upper(total) == 0.0

    def _multiple(self, multipliers: Multipliers, factor: float) -> float:
        """θ with the largest D(θq), √(ε₀/Σ q²/(4p)); 1 where that is no number."""
        q = self.admitted_multipliers(FLOAT, multipliers, factor)
        size = float(np.sum(q * q / (4.0 * self.support_masses())))
        return math.sqrt(self.level / size) if size > 0.0 and math.isfinite(size) else 1.0

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """(Σ c(q) − ε₀)/Σ_j p_j|g_j|, or 0; ∞ if g = 0 and Σ c(q) > ε₀."""
        q, _, total, flat = self._dual_terms(num, multipliers)
        excess = self.fixed_part(num, q) - num.lift(self.level)
        if num.lower(excess) <= 0.0:
            return num.lift(0.0)
        if flat:
            return math.inf
        bound = excess / total if num.lower(total) > 0.0 else num.lift(0.0)
        return bound if num.lower(bound) < math.inf else num.lift(0.0)  # a quotient that overflowed is no proof of infeasibility

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of box, losses and level, over Σ_j p_j|g_j|; B itself where the bound is 0."""
        q, g, total, flat = self._dual_terms(num, multipliers)
        bound = self.objective(point, num)
        if num.upper(bound) == math.inf:
            return math.inf
        if num.lower(self.fixed_part(num, q) - num.lift(self.level)) <= 0.0 or flat or num.lower(total) <= 0.0:
            return bound
        w = num.lift(point["w"])[self.support]
        f = self.predictions(w, num)
        behind = num.dot(self.support_masses(num), num.pos(num.abs(g) * bound - w * g))
        return (behind + self.loss_gap(num, q, f) + num.pos(num.lift(self.level) - self.mean_loss(num, f))) / total

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B in max |w_j|."""
        return 2.0 * (self.scale() if point is None else float(self.objective(point)))

    def trivial_point(self) -> Point:
        """w = 0 made feasible: a multiple of the inner point."""
        return self.restore({"w": np.zeros(len(self.targets))})

    def scale(self) -> float:
        """max |w_j| of the trivial point; where that is 0 or ∞, max |y_i| (or the margin) over max |K_ij|, or 1 if that is none."""
        size = float(self.objective(self.trivial_point()))
        if 0.0 < size < math.inf:
            return size
        y, k = self.margin if self.loss == "hinge" else squares.largest(self.targets), squares.largest(self.gram)
        return y / k if y > 0.0 and 0.0 < k and 0.0 < y / k < math.inf else 1.0

    def in_units(self, s: float, c: float) -> Self:
        """y, ε (or the margin) × s and K × c, ε₀ × s (s² if squared): w × s/c."""
        factor = s * s if self.loss == "squared" else s
        return replace(self, gram=self.gram * c, level=self.level * factor, **self.in_target_units(s))

    def normalised(self) -> tuple[Self, Rescale]:
        """Targets in units of σ, and K in those that make the trivial point's max |w_j| about 1 (powers of two)."""
        sigma = self.target_unit()
        kappa = sigma / squares.power_of_two(self.scale())
        factor = sigma / kappa
        back = squares.scaling(predictions=self.multiplier_unit(sigma))
        natural = self.in_units(1.0 / sigma, 1.0 / kappa)
        freeze(natural, inner=None if self.inner is None else self.inner / factor)  # it took programmes of its own to find
        return natural, Rescale(squares.scaling(w=factor, t=factor, f=sigma, slack=sigma), back)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """The examples of `Goodness` at the first of a few shares of the loss of w = 0 that can be reached; a level above that loss."""
        for name, gram, targets, options, degenerate in goodness_cases.instances(rng):
            whole = cls(gram, targets, 1.0, **{key: value for key, value in options.items() if key != "bound"})
            levels = [share * whole.loss_at_zero() for share in (0.4, 0.7, 0.9, 0.97) if whole.loss_at_zero() > 0.0]
            reached = (candidate for level in levels if (candidate := replace(whole, level=level)).inner is not None)
            found = next(reached, None)
            if found is not None:
                yield Example(name, found, degenerate)
        yield Example("w = 0 suffices", cls(np.eye(3), np.array([1.0, -2.0, 0.5]), 10.0), degenerate=True)
        yield Example("zero similarity, w = 0 suffices", cls(np.zeros((2, 2)), np.array([1.0, -1.0]), 1.0), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of the targets and of K, change of sign, permutation, every point split in two of half its mass."""

        def by(problem: Any, s: float) -> Image:
            return Image(problem.in_units(s, 1.0), s, squares.scaling(w=s), squares.scaling(predictions=problem.multiplier_unit(s)))

        def scale_similarity(problem: Any, rng: np.random.Generator) -> Image:
            c = float(2.0 ** rng.integers(-20, 21))
            return Image(problem.in_units(1.0, c), 1.0 / c, squares.scaling(w=1.0 / c))

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            flip = squares.scaling(w=-1.0, predictions=-1.0)
            return Image(replace(problem, targets=-problem.targets), 1.0, flip, flip)

        def select(problem: Any, order: Any, weight: float) -> Image:
            """The samples in this order, repeated ones included, each with `weight` times its mass and its multiplier."""

            def multipliers(values: Multipliers) -> Multipliers:
                return {"predictions": np.asarray(values["predictions"])[order] * weight, "level": values["level"]}

            def point(values: Point) -> Point:
                return {"w": np.asarray(values["w"])[order]}

            return Image(goodness_cases.selected(problem, order, weight).problem, 1.0, point, multipliers)

        return [
            change_of_units("units of f × s", by),
            Law("similarity × c", scale_similarity),
            Law("targets × −1", mirror),
            *laws_of_samples(select, "targets"),
        ]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 100,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        share: float = 0.5,
        loss: str = "insensitive",
        epsilon: float | None = None,
        margin: float = 1.0,
    ) -> Self:
        """Recipe: the domain, masses, targets and ε of the recipe of `Goodness`; ε₀ is `share` (½) of the loss of w = 0."""
        gram, targets, options = goodness_cases.recipe(dataset, rng, samples, standardise, similarity, loss, epsilon, margin)
        whole = cls(gram, targets, 1.0, **options)
        return replace(whole, level=validate.positive("share", share) * whole.loss_unit())
