"""The kernel support vector machine: its norm penalised or bounded, without or with intercept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Value
from simopt.core.arrays import Multipliers, Point
from simopt.core.fields import Labels
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.model.forms import Forms
from simopt.model.problem import ALL_CONES, Example, Law, Rescale, problem
from simopt.problems.bounds import Bound, Bounded, Capacity, Penalty
from simopt.problems.examples import margins as margin_cases
from simopt.problems.losses import hinge_rows, intercepts
from simopt.problems.norms import gram_factor, squares
from simopt.problems.norms.gram_factor import Gram, KernelProblem
from simopt.problems.sample_weights import SampleWeights, Weights

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class HingeSVM(Bounded, KernelProblem):
    r"""min_{α,b} (1/n) Σ_i [1 − y_i(f_i + b)]_+ + R(f),   f = Kα,  y_i = ±1;  b = 0 without intercept.

    R(f) = (λ/2)‖f‖²_H = (λ/2) αᵀKα, or 0 on the ball ‖f‖²_H ≤ c. Let a_i ∈ [0, 1/n] be the multipliers of the rows
    1 − y_i(f_i + b) ≤ slack_i, and v = Σ_i a_i y_i φ_i. They leave
        min over f and b of Σ a_i − ⟨v, f⟩ − b Σ a_i y_i + R(f).
        D(a) = Σ a_i − R*(v),    R*(v) = ‖v‖²/(2λ)   or   √c ‖v‖.
    The minimum is reached at f = v/λ or (√c/‖v‖) v. An intercept demands Σ a_i y_i = 0: D is −∞ otherwise. Any multipliers are clipped to
    [0, 1/n], and with an intercept those of the heavier class scaled down to Σ a_i y_i = 0 (`simopt.problems.losses.intercepts`).
    With h_i = 1 − y_i(f_i + b) the gap is a sum of non-negative terms (`simopt.problems.bounds`),
        P − D = Σ_i (1/n − a_i)[h_i]_+ + a_i[−h_i]_+   +   R(f) + R*(v) − ⟨v, f⟩.
    Penalised, P − P* ≥ (λ/2)‖f − f*‖²_H, where f* is unique, the best b for it need not be; a point suggests a_i = λ y_i α_i, clipped.
    In a ball v = λf at the solution, for the λ ≥ 0 at which the penalised form has the same solution. If c allows a loss of 0, every f
    without loss is a solution. For c ≤ 1, ‖φ(x_i)‖ ≤ 1 and no intercept no hinge is inactive and the solution is the mean classifier,
    √c ω_S/‖ω_S‖. With weights the weight p_i = w_i/Σ w of sample i takes the place of 1/n throughout.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1; a single class is allowed. With an intercept f = 0, b = ±1 then makes no loss.
    bound : Penalty(regularization=λ) or Capacity(capacity=c)
        λ > 0, LIBSVM's C is 1/(nλ); or c > 0, the squared radius of the ball. b is not bounded.
    intercept : bool
        whether there is b.
    weights : (n,) array, optional
        w ≥ 0, not all 0; None: all the same.

    Point {"alpha": (n,)}, with an intercept also {"bias": ()}; multipliers {"margins": (n,)}. A restored point has a best b for its α, the
    one nearest to the given one (without one, the middle of the best ones).
    Scale: 1, the loss at f = 0; with an intercept the loss 2 min(n_+, n_−)/n of the best constant, where that is 0 (one class, the constant
    is optimal), 1.
    Source: van Rooyen, Menon & Williamson 2015, §3.2; Steinwart, Hush & Scovel 2011 for the problem without intercept, Cortes & Vapnik 1995
    for that with intercept, the form that LIBSVM solves.
    """

    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §3.2"
    forms: ClassVar[Forms] = {
        "penalty": {
            "name": "hinge-svm",
            "title": "kernel SVM without intercept",
            "arithmetics": ("float", "interval", "rational"),
            "parameters": ("regularization",),
        },
        "penalty_intercept": {
            "name": "hinge-svm-bias",
            "title": "kernel SVM with intercept",
            "source": "van Rooyen, Menon & Williamson 2015, §3.2, with the intercept of Cortes & Vapnik 1995",
            "arithmetics": ("float", "interval", "rational"),
            "parameters": ("regularization",),
        },
        "ball": {
            "name": "hinge-svm-ball",
            "title": "kernel SVM without intercept, ‖f‖² ≤ c",
            "arithmetics": ("float", "interval"),
            "parameters": ("capacity",),
        },
        "ball_intercept": {
            "name": "hinge-svm-ball-bias",
            "title": "kernel SVM with intercept, ‖f‖² ≤ c",
            "source": "van Rooyen, Menon & Williamson 2015, §3.2, with the intercept of Cortes & Vapnik 1995",
            "arithmetics": ("float", "interval"),
            "parameters": ("capacity",),
            "by_hand": "judged with K itself, not with the truncated factor that is declared",
        },
    }
    bounds: ClassVar[dict[str, type[Bound]]] = {
        "penalty": Penalty,
        "penalty_intercept": Penalty,
        "ball": Capacity,
        "ball_intercept": Capacity,
    }

    gram: Gram
    labels: Labels
    bound: Bound
    intercept: bool = False
    weights: Weights | None = None

    @property
    def growth(self) -> int:
        """Hinges of the margin 1."""
        return 1

    @cached_property
    def sample_weights(self) -> SampleWeights:
        """1/n, or p."""
        return SampleWeights.of(len(self.labels), self.weights)

    def taken(self) -> str:
        """By the type of the bound, and whether there is an intercept."""
        return super().taken() + ("_intercept" if self.intercept else "")

    @property
    def capacity(self) -> float:
        """c; ∞ of a penalty."""
        return self.bound.capacity if isinstance(self.bound, Capacity) else math.inf

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slack, or Σ p slack, s.t. `predictions` f = F u, K ≈ F Fᵀ, and `margins` 1 − y(f + b) ≤ slack.

        Penalised, the objective has (λ/2)‖u‖² too; else there is the `ball` ‖u‖² ≤ c.
        """
        import cvxpy as cp

        n = len(self.labels)
        u, f, slack = cp.Variable(self.factor.width, name="u"), cp.Variable(n, name="f"), cp.Variable(n, name="slack")
        values = f + cp.Variable(name="bias") if self.intercept else f
        p = np.ones(n) / n if self.weights is None else self.weights / np.sum(self.weights)
        loss = p @ slack
        rows = [
            (f == self.factor.matrix @ u).set_label("predictions"),
            (1 - cp.multiply(self.labels, values) <= slack).set_label("margins"),
            (slack >= 0).set_label("slack"),
        ]
        if isinstance(self.bound, Penalty):
            regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
            return cp.Problem(cp.Minimize(loss + regularization / 2 * cp.sum_squares(u)), rows)
        capacity = cp.Parameter(nonneg=True, name="capacity", value=self.capacity)
        unit = squares.power_of_two(math.sqrt(self.capacity))  # of u in the ball, for a second-order cone of size 1
        rows.append((cp.sum_squares(u / unit) <= capacity / unit / unit).set_label("ball"))
        return cp.Problem(cp.Minimize(loss), rows)

    def arguments(self, num: Arithmetic, point: Point, fitted: Value) -> Value:
        """h_i = 1 − y_i(f_i + b)."""
        values = fitted + num.lift(point["bias"]) if self.intercept else fitted
        return num.lift(self.labels) * values * -1 + num.lift(1.0)

    def admitted_multipliers(self, num: Arithmetic, multipliers: Multipliers) -> Value:
        """a clipped to [0, 1/n]; with an intercept also balanced to Σ a_i y_i = 0."""
        capped = hinge_rows.capped(num, multipliers["margins"], self.sample_weights)
        return intercepts.balanced(num, capped, self.labels) if self.intercept else capped

    def slope(self, num: Arithmetic, a: Value) -> Value:
        """−v, the slope of Σ a_i(1 − y_i f_i) in f, by its coefficients."""
        return -(a * num.lift(self.labels))

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ [1 − y_i(f_i + b)]_+ + R(f)."""
        alpha = num.lift(point["alpha"])
        fitted = num.matvec(self.gram, alpha)
        loss = self.sample_weights.mean(num, num.pos(self.arguments(num, point, fitted)))
        return loss + self.bound.value(num, alpha, fitted)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α (or the α of a factor's coordinates u) drawn into the bound; of the best b for it the one nearest to the given one."""
        given = point["alpha"] if "alpha" in point else self.factor.coefficients(point["u"], self.labels, 0.0)
        alpha = self.bound.inside(num, given, self.gram)
        if not self.intercept:
            return {"alpha": alpha}
        bias = intercepts.best_intercept(num, num.matvec(self.gram, alpha), self.labels, point.get("bias"), self.weights)
        return {"alpha": alpha, "bias": bias}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """Σ a_i − R*(v) after the repair of a."""
        a = self.admitted_multipliers(num, multipliers)
        return num.sum(a) + self.bound.dual(num, self.slope(num, a), self.gram)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ (1/n − a)[h]_+ + a[−h]_+, plus R(f) + R*(v) − ⟨v, f⟩."""
        alpha, a = num.lift(point["alpha"]), self.admitted_multipliers(num, multipliers)
        hinges = self.arguments(num, point, num.matvec(self.gram, alpha))
        return hinge_rows.slack(num, hinges, a, self.sample_weights) + self.bound.gap(num, alpha, self.slope(num, a), self.gram)

    def multipliers(self, point: Point) -> Multipliers:
        """Penalised, a_i = λ y_i α_i, clipped to [0, 1/n]; else the better of two.

        In a ball the solution with multipliers a is a multiple of v = Σ a_i y_i k(x_i, ·); if it has a loss, some a_i is 1/n. So y∘α
        is stretched until an entry is 1/n and none more, and tried beside the subgradient of the hinges.
        """
        alpha, weight = np.asarray(point["alpha"], dtype=float), self.sample_weights.floats
        if isinstance(self.bound, Penalty):
            return {"margins": np.clip(self.regularization * self.labels * alpha, 0.0, weight)}
        along = np.maximum(self.labels * alpha, 0.0)
        largest = float(np.max(along / np.where(weight > 0, weight, math.inf)))
        wrong = self.arguments(FLOAT, point, self.gram @ alpha) > 0
        tries: list[Multipliers] = [{"margins": np.where(wrong, weight, 0.0)}]
        if largest > 0.0 and np.any(wrong):
            tries.append({"margins": np.minimum(along / largest, weight)})
        return max(tries, key=lambda given: float(self.dual_bound(given)))

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖_H, from the bound; in a ball `ball_distance` of the multipliers that the point suggests. Nothing for an intercept."""
        if point is None or isinstance(self.bound, Penalty):
            return self.bound.distance(gap)
        return self.ball_distance(point, self.multipliers(point))

    def ball_distance(self, point: Point, multipliers: Multipliers) -> float:
        r"""R with ‖f − f*‖_H ≤ R = min(2B, 2√(2Bg/s)) in a ball, where B = √c, g = P(f) − D(a) and s = ‖v‖_H.

        The loss is not strongly convex in H, but the ball is: for ‖f‖ ≤ B the last terms of the gap are Bs − ⟨v, f⟩. Then
            ‖f − (B/s)v‖² ≤ 2B² − (2B/s)⟨v, f⟩ = (2B/s)(Bs − ⟨v, f⟩) ≤ (2B/s)(P(f) − D(a)).
        f and f* both have P − D(a) ≤ g, so both lie within √(2Bg/s) of (B/s)v. (s is bounded below in intervals.)
        """
        radius = math.sqrt(self.capacity)
        v = self.slope(INTERVAL, self.admitted_multipliers(INTERVAL, multipliers))
        s = INTERVAL.lower(INTERVAL.sqrt(squares.squared_norm(INTERVAL, self.gram, v)))
        gap = float(self.gap(point, multipliers))
        return min(2.0 * radius, 2.0 * math.sqrt(2.0 * radius / s * gap)) if s > 0.0 and gap >= 0.0 else 2.0 * radius

    def trivial_point(self) -> Point:
        """α = 0, with the best constant as intercept."""
        zero = super().trivial_point()
        return {**zero, "bias": np.asarray(intercepts.best_constant(self.labels, self.weights)[0])} if self.intercept else zero

    def scale(self) -> float:
        """1, the loss at f = 0; with an intercept 2 min(n_+, n_−)/n, that of the best constant, or 1 where one class alone makes it 0."""
        return intercepts.best_constant(self.labels, self.weights)[1] or 1.0 if self.intercept else 1.0

    def normalised(self) -> tuple[Self, Rescale]:
        """K/κ with a power of four near max K_ii: λ' = λ/κ, c' = cκ, α = α'/κ; values, intercept and multipliers unchanged."""
        kappa = squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        root = math.sqrt(kappa)
        natural = replace(self, gram=gram_factor.rescaled(self.gram, 1.0 / kappa), bound=self.bound.in_units(root, 1.0))
        return natural, Rescale(squares.scaling(alpha=1.0 / kappa, u=1.0 / root))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Strong and weak λ, active and inactive balls, unequal classes, weights; low rank, one class, one sample, K = 0, ties."""
        gram, labels = margin_cases.gaussian(rng)
        intercept = cls.key.endswith("intercept")
        bounds: dict[str, Bound]
        unequal: Bound
        usual: Bound
        if cls.bounds[cls.key] is Penalty:
            bounds = {f"λ = {strength:g}": Penalty(strength) for strength in (1.0, 0.05, 1e-3)}
            unequal, usual = Penalty(0.01), Penalty(0.1)
        else:
            bounds = {f"c = {capacity:g}": Capacity(capacity) for capacity in (1.0, 10.0, 200.0)}
            bounds["a loss of 0"] = Capacity(1e6)
            unequal, usual = Capacity(10.0), Capacity(0.5)
        for name, bound in bounds.items():
            yield Example(name, cls(gram, labels, bound, intercept))
        if intercept:
            yield Example("unequal classes", cls(gram, np.where(np.arange(16) < 3, 1.0, -1.0), unequal, intercept))
        for name, kernel, y, degenerate in margin_cases.instances(rng):
            hard = name in margin_cases.WITHOUT_MEAN if cls.key == "penalty" else degenerate
            yield Example(name, cls(kernel, y, usual, intercept), hard)
        yield Example("weights, one of them 0", cls(gram, labels, usual, intercept, margin_cases.weights(rng, len(labels))))

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the kernel and the bound, change of all labels, permutation, duplication."""
        name = "kernel × c, λ × c" if cls.bounds[cls.key] is Penalty else "kernel × s, c / s"
        return [margin_cases.kernel_law(name), *margin_cases.laws(), squares.parts_law("labels")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = DEFAULT_OF_RECIPES,
        regularization: float | None = None,
        capacity: float | None = None,
    ) -> Self:
        """Recipe: at most `samples` rows (None: all), features as they are, Gaussian kernel with the mean squared distance as bandwidth.

        Labels are targets that are ±1; of two other values the larger is +1; else whether the target is above its median.
        λ = 1e-3 (C = 2 at n = 500), or c = 100, ten times the norm of one k(x, ·) of the Gaussian kernel.
        """
        gram, labels = margin_cases.recipe(dataset, rng, samples, standardise, similarity)
        usual = Penalty(1e-3) if cls.bounds[cls.key] is Penalty else Capacity(100.0)
        bound = cls.bounded(usual, regularization=regularization, capacity=capacity)
        return cls(gram, labels, bound, cls.key.endswith("intercept"))
