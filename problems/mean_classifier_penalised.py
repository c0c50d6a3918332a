"""The mean classifier in penalised form: linear loss plus the squared norm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array, Multipliers, Point
from simopt.problems import _factor, _margin_cases, _squares
from simopt.problems._factor import KernelProblem
from simopt.solving.problem import ALL_CONES, Example, Image, Law, Rescale, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

Value = Any


@problem
@dataclass(frozen=True, eq=False)
class MeanClassifierPenalised(KernelProblem):
    r"""min_α (1/n) Σ_i (1 − y_i f_i) + (λ/2) αᵀKα,   f = Kα,  y_i = ±1.

    With ω_S = (1/n) Σ y_i φ(x_i) this is 1 − ⟨ω_S, f⟩ + (λ/2)‖f‖², least at f* = ω_S/λ: the classifier by average similarity.
    Dual, with a multiplier v of the row f = Kα:
        min_f (1/n) Σ (1 − y_i f_i) + vᵀf is −∞ unless v = y/n, and then 1;      min_α (λ/2) αᵀKα − vᵀKα = −vᵀKv/(2λ),
        D = 1 − ‖ω_S‖²/(2λ), from the single dual point v = y/n, whatever multipliers are given.
    The gap is (λ/2)‖f − ω_S/λ‖². The hinge SVM with the same λ has this solution once λ ≥ max_i y_i ⟨ω_S, φ(x_i)⟩: then no hinge bends.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1.
    regularization : float
        λ > 0.

    Point {"alpha": (n,)}, multipliers {"predictions": (n,)} (not used). Scale: 1, the loss at f = 0. If ω_S = 0 the solution is f = 0.
    Source: van Rooyen, Menon & Williamson 2015, §3.2 with the linear loss of Theorem 2.
    """

    name: ClassVar[str] = "mean-classifier-penalised"
    title: ClassVar[str] = "mean classifier: linear loss, ‖f‖² penalised"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §3.2 with Theorem 2"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    gram: Array
    labels: Array
    regularization: float

    def __post_init__(self) -> None:
        labels = validate.labels("labels", self.labels)
        freeze(self, labels=labels, regularization=validate.positive("regularization", self.regularization))
        self._check_gram(len(labels))

    def _mean(self, num: Arithmetic) -> Value:
        """Coefficients y/n of ω_S."""
        return num.lift(self.labels) / len(self.labels)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise 1 − yᵀf/n + (λ/2)‖u‖² subject to predictions f = F u, K ≈ F Fᵀ."""
        import cvxpy as cp

        n = len(self.labels)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        u, f = cp.Variable(self.factor.width, name="u"), cp.Variable(n, name="f")
        predictions = (f == self.factor.matrix @ u).set_label("predictions")
        return cp.Problem(cp.Minimize(1 - self.labels @ f / n + regularization / 2 * cp.sum_squares(u)), [predictions])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """1 − (1/n) Σ y_i f_i + (λ/2) αᵀKα."""
        alpha = num.lift(point["alpha"])
        fitted = num.matvec(self.gram, alpha)
        penalty = num.pos(num.dot(alpha, fitted)) * num.lift(self.regularization) / 2
        return num.lift(1.0) - num.dot(num.lift(self.labels), fitted) / len(self.labels) + penalty

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α itself, or the α of a factor's coordinates u. Every α is feasible.

        The problem separates over the eigenvectors of K: in directions outside the factor, of which u says nothing, α = y/(nλ).
        """
        if "alpha" in point:
            return {"alpha": num.lift(point["alpha"])}
        factor = self.factor
        head = factor.vectors[:, : factor.rank]
        best = self.labels / (len(self.labels) * self.regularization)
        return {"alpha": num.lift(factor.coefficients(point["u"], self.labels, 0.0) + best - head @ (head.T @ best))}

    def multipliers(self, point: Point) -> Multipliers:
        """v = y/n."""
        return {"predictions": self.labels / len(self.labels)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """1 − ‖ω_S‖²/(2λ)."""
        return num.lift(1.0) - _squares.squared_norm(num, self.gram, self._mean(num)) / (num.lift(self.regularization) * 2)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(λ/2)‖α − y/(nλ)‖²_K."""
        strength = num.lift(self.regularization)
        return _squares.squared_norm(num, self.gram, num.lift(point["alpha"]) - self._mean(num) / strength) * strength / 2

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖_H = √(2 gap/λ)."""
        return math.sqrt(2.0 * max(gap, 0.0) / self.regularization)

    def normalised(self) -> tuple[MeanClassifierPenalised, Rescale]:
        """K/κ and λ/σ with powers of two near max K_ii and λ: α = α'/σ; the objective is 1 + (κ/σ)(P' − 1), with the same solutions."""
        kappa = _squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        sigma = _squares.power_of_two(self.regularization)
        natural = replace(self, gram=_factor.rescaled(self.gram, 1.0 / kappa), regularization=self.regularization / sigma)
        return natural, Rescale(_squares.times(alpha=1.0 / sigma, u=math.sqrt(kappa) / sigma, f=kappa / sigma))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Strong and weak λ, rank-deficient kernels, one class, one sample; ω_S = 0, K = 0."""
        gram, labels = _margin_cases.gaussian(rng)
        for strength in (1.0, 1e-3):
            yield Example(f"λ = {strength:g}", cls(gram, labels, strength))
        for name, kernel, y, _ in _margin_cases.instances(rng):
            yield Example(name, cls(kernel, y, 0.5), name in _margin_cases.WITHOUT_MEAN)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the kernel and λ, change of all labels, permutation, duplication."""

        def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
            c = float(4.0 ** rng.integers(-10, 11))
            image = replace(problem, gram=problem.gram * c, regularization=problem.regularization * c)
            return Image(image, 1.0, _squares.times(alpha=1.0 / c))

        return [Law("kernel × c, λ × c", scale_kernel), *_margin_cases.laws()]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = "gaussian",
        regularization: float = 1.0,
    ) -> Self:
        """Recipe: rows, labels and kernel as for the hinge SVM (at most `samples` rows, features as they are, Gaussian kernel); λ = 1."""
        return cls(*_margin_cases.recipe(dataset, rng, samples, standardise, similarity), regularization)
