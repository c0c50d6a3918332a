"""The mean classifier: linear loss over the unit ball, or with the squared norm penalised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Multipliers, Point
from simopt.core.fields import Labels
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.model.forms import Forms
from simopt.model.problem import ALL_CONES, Example, Law, Rescale, problem
from simopt.problems.bounds import Bound, Bounded, Penalty, UnitBall
from simopt.problems.examples import margins as margin_cases
from simopt.problems.norms import gram_factor, squares, unit_ball
from simopt.problems.norms.gram_factor import Gram, KernelProblem
from simopt.problems.sample_weights import SampleWeights, Weights

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class MeanClassifier(Bounded, KernelProblem):
    r"""min_α (1/n) Σ_i (1 − y_i f_i) + R(f),   f = Kα,  y_i = ±1;   R(f) = 0 on ‖f‖_H ≤ 1, or (λ/2)‖f‖² = (λ/2) αᵀKα.

    With ω_S = (1/n) Σ y_i φ(x_i) this is 1 − ⟨ω_S, f⟩ + R(f): the classifier by average similarity. By Cauchy–Schwarz P* = 1 − ‖ω_S‖ in the
    ball, reached at f = ω_S/‖ω_S‖; penalised P* = 1 − ‖ω_S‖²/(2λ), reached at f = ω_S/λ.
    The dual, with a multiplier v of a row f = Kα, is −∞ off the single point v = y/n.
        min_f (1/n) Σ (1 − y_i f_i) + vᵀf = 1,      D = 1 + min_f R(f) − ⟨ω_S, f⟩ = P*, whatever multipliers are given.
    The gap is (λ/2)‖f − ω_S/λ‖², or for ‖f‖ = t ≤ 1
        ‖ω_S‖ − ⟨ω_S, f⟩ = ‖ω_S‖(1 − t) + (t/(2‖ω_S‖)) ‖ω_S − (‖ω_S‖/t) f‖².
    The hinge SVM with the same λ has the penalised solution once λ ≥ max_i y_i ⟨ω_S, φ(x_i)⟩: then no hinge bends.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1.
    bound : UnitBall() or Penalty(regularization=λ)
        the ball, or λ > 0.
    weights : (n,) array, optional
        w ≥ 0, not all 0: the weight p_i = w_i/Σ w of sample i takes the place of 1/n throughout.

    Point {"alpha": (n,)}, multipliers {"predictions": (n,)} (not used). Scale: 1, the loss at f = 0. If ω_S = 0 every f in the ball is
    a solution, and the penalised one is f = 0.
    Source: van Rooyen, Menon & Williamson 2015, Theorem 2; penalised, §3.2 with the linear loss of Theorem 2.
    """

    forms: ClassVar[Forms] = {
        "ball": {
            "name": "mean-classifier",
            "title": "mean classifier: linear loss over the unit ball",
            "source": "van Rooyen, Menon & Williamson 2015, Theorem 2",
            "arithmetics": ("float", "interval"),
            "parameters": (),
        },
        "penalty": {
            "name": "mean-classifier-penalised",
            "title": "mean classifier: linear loss, ‖f‖² penalised",
            "source": "van Rooyen, Menon & Williamson 2015, §3.2 with Theorem 2",
            "arithmetics": ("float", "interval", "rational"),
            "parameters": ("regularization",),
        },
    }
    bounds: ClassVar[dict[str, type[Bound]]] = {"ball": UnitBall, "penalty": Penalty}

    gram: Gram
    labels: Labels
    bound: Bound = field(default_factory=UnitBall)
    weights: Weights | None = None

    @property
    def growth(self) -> int:
        """1 − yf is linear."""
        return 1

    @cached_property
    def sample_weights(self) -> SampleWeights:
        """1/n, or p."""
        return SampleWeights.of(len(self.labels), self.weights)

    def mean(self, num: Arithmetic) -> Value:
        """Coefficients y/n of ω_S, or p∘y."""
        return num.lift(self.labels) * self.sample_weights.each(num)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise 1 − yᵀf/n + (λ/2)‖u‖² subject to predictions f = F u, K ≈ F Fᵀ.

        Over the `ball` ‖u‖ ≤ 1 it is linear, 1 − ⟨Fᵀy/n, u⟩, and needs no variable f.
        """
        import cvxpy as cp

        n = len(self.labels)
        p = np.ones(n) / n if self.weights is None else self.weights / np.sum(self.weights)
        u = cp.Variable(self.factor.width, name="u")
        if not isinstance(self.bound, Penalty):
            mean = self.factor.matrix.T @ (p * self.labels)
            return cp.Problem(cp.Minimize(1 - mean @ u), [(cp.norm(u, 2) <= 1).set_label("ball")])
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        f = cp.Variable(n, name="f")
        predictions = (f == self.factor.matrix @ u).set_label("predictions")
        return cp.Problem(cp.Minimize(1 - (p * self.labels) @ f + regularization / 2 * cp.sum_squares(u)), [predictions])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """1 − (1/n) Σ y_i f_i + R(f), or 1 − Σ p_i y_i f_i + R(f)."""
        alpha = num.lift(point["alpha"])
        fitted = num.matvec(self.gram, alpha)
        return num.lift(1.0) - num.dot(self.mean(num), fitted) + self.bound.value(num, alpha, fitted)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α, or the α of a factor's coordinates u, drawn into the bound.

        The penalised problem separates over the eigenvectors of K: in directions outside the factor, of which u says nothing, α = y/(nλ).
        """
        if "alpha" in point:
            return {"alpha": self.bound.inside(num, point["alpha"], self.gram)}
        factor = self.factor
        alpha = factor.coefficients(point["u"], self.labels, 0.0)
        if isinstance(self.bound, Penalty):
            head = factor.vectors[:, : factor.rank]
            best = self.mean(FLOAT) / self.regularization
            alpha = alpha + best - head @ (head.T @ best)
        return {"alpha": self.bound.inside(num, alpha, self.gram)}

    def multipliers(self, point: Point) -> Multipliers:
        """v = y/n, or p∘y."""
        return {"predictions": self.mean(FLOAT)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """1 − ‖ω_S‖, or 1 − ‖ω_S‖²/(2λ)."""
        return num.lift(1.0) + self.bound.dual(num, -self.mean(num), self.gram)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """R(f) − ⟨ω_S, f⟩ minus its minimum."""
        return self.bound.gap(num, num.lift(point["alpha"]), -self.mean(num), self.gram)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖_H = √(2 gap/λ); in the ball √(2 gap/‖ω_S‖), or 2 (the ball) if ω_S = 0.

        There ‖f − f*‖² = t² + 1 − 2⟨f, ω_S⟩/‖ω_S‖ ≤ 2(1 − ⟨f, ω_S⟩/‖ω_S‖) = 2 gap/‖ω_S‖.
        """
        if isinstance(self.bound, Penalty):
            return self.bound.distance(gap)
        return unit_ball.distance(gap, self.gram, self.mean(FLOAT))

    def normalised(self) -> tuple[Self, Rescale]:
        """K/κ and λ/σ with powers of two near max K_ii and λ: α = α'/σ; the objective is 1 + (κ/σ)(P' − 1), with the same solutions.

        In the ball σ = √κ: it stays.
        """
        kappa = squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        root = math.sqrt(kappa)
        sigma = squares.power_of_two(self.regularization) if isinstance(self.bound, Penalty) else root
        natural = replace(self, gram=gram_factor.rescaled(self.gram, 1.0 / kappa), bound=self.bound.in_units(1.0, 1.0 / sigma))
        return natural, Rescale(squares.scaling(alpha=1.0 / sigma, u=root / sigma, f=kappa / sigma))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Strong and weak λ, weights, rank-deficient kernels, one class, one sample; ω_S = 0, K = 0."""
        gram, labels = margin_cases.gaussian(rng)
        bounds: dict[str, Bound] = cls.either(
            ball={"gaussian kernel": UnitBall()}, penalty={f"λ = {strength:g}": Penalty(strength) for strength in (1.0, 1e-3)}
        )
        for name, bound in bounds.items():
            yield Example(name, cls(gram, labels, bound))
        for name, kernel, y, _ in margin_cases.instances(rng):
            bound = cls.either(ball=UnitBall(), penalty=Penalty(0.5))
            yield Example(name, cls(kernel, y, bound), name in margin_cases.WITHOUT_MEAN)
        yield Example(
            "weights, one of them 0", cls(gram, labels, cls.either(ball=UnitBall(), penalty=Penalty(0.5)), margin_cases.weights(rng, 16))
        )

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the kernel and λ, change of all labels, permutation, duplication."""
        scalings = cls.either(ball=[], penalty=[margin_cases.kernel_law("kernel × c, λ × c")])
        return [*scalings, *margin_cases.laws(), squares.parts_law("labels")]

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
    ) -> Self:
        """Recipe: rows, labels and kernel as for the hinge SVM (at most `samples` rows, features as they are, Gaussian kernel); λ = 1."""
        bound = cls.bounded(cls.either(ball=UnitBall(), penalty=Penalty(1.0)), regularization=regularization)
        return cls(*margin_cases.recipe(dataset, rng, samples, standardise, similarity), bound)
