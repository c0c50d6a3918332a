"""The kernel support vector machine without intercept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt import validate
from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arrays import Array, Multipliers, Point
from simopt.problem import ALL_CONES, Example, Image, Law, Rescale, freeze, problem
from simopt.problems import _factor, _hinges, _recipes, _squares
from simopt.problems._factor import KernelProblem
from simopt.similarities import Similarity

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.datasets import Dataset

Value = Any


@problem
@dataclass(frozen=True, eq=False)
class HingeSVM(KernelProblem):
    r"""min_α (1/n) Σ_i [1 − y_i f_i]_+ + (λ/2) αᵀKα,   f = Kα,  y_i = ±1.

    Dual, with multipliers a_i ∈ [0, 1/n] of the rows 1 − y_i f_i ≤ slack_i:
        min_f Σ a_i(1 − y_i f_i) + (λ/2)‖f‖² is reached at f = (1/λ) Σ a_i y_i φ_i, so
        D(a) = Σ a_i − (1/(2λ)) ‖a∘y‖²_K.
    The gap is Σ (1/n − a_i)[h_i]_+ + a_i[−h_i]_+ with h_i = 1 − y_i f_i, plus (λ/2)‖α − (a∘y)/λ‖²_K: all non-negative.
    P(f) − P* ≥ (λ/2)‖f − f*‖²_H. A point suggests a_i = λ y_i α_i clipped to [0, 1/n].

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1; a single class is allowed.
    regularization : float
        λ > 0; LIBSVM's C is 1/(nλ).

    Point {"alpha": (n,)}, multipliers {"margins": (n,)}. Scale: 1, the loss at f = 0.
    Source: van Rooyen, Menon & Williamson 2015, §3.2; Steinwart, Hush & Scovel 2011 for the problem without intercept.
    """

    name: ClassVar[str] = "hinge-svm"
    title: ClassVar[str] = "kernel SVM without intercept"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §3.2"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    gram: Array
    labels: Array
    regularization: float

    def __post_init__(self) -> None:
        labels = validate.labels("labels", self.labels)
        freeze(self, labels=labels, regularization=validate.positive("regularization", self.regularization))
        self._check_gram(len(labels))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slack + (λ/2)‖u‖² subject to predictions f = F u and the rows `margins`, K ≈ F Fᵀ."""
        import cvxpy as cp

        n = len(self.labels)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        u = cp.Variable(self.factor.width, name="u")
        f, slack = cp.Variable(n, name="f"), cp.Variable(n, name="slack")
        rows = [
            (f == self.factor.matrix @ u).set_label("predictions"),
            (1 - cp.multiply(self.labels, f) <= slack).set_label("margins"),
            (slack >= 0).set_label("slack"),
        ]
        return cp.Problem(cp.Minimize(cp.sum(slack) / n + regularization / 2 * cp.sum_squares(u)), rows)

    def _arguments(self, num: Arithmetic, fitted: Value) -> Value:
        return num.lift(self.labels) * fitted * -1 + num.lift(1.0)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ [1 − y f]_+ + (λ/2) αᵀKα."""
        alpha = num.lift(point["alpha"])
        fitted = num.matvec(self.gram, alpha)
        penalty = num.pos(num.dot(alpha, fitted)) * num.lift(self.regularization) / 2
        return _hinges.mean_loss(num, self._arguments(num, fitted), n=len(self.labels)) + penalty

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α itself, or the α of a factor's coordinates u. Every α is feasible."""
        if "alpha" in point:
            return {"alpha": num.lift(point["alpha"])}
        return {"alpha": num.lift(self.factor.coefficients(point["u"], self.labels, 0.0))}

    def multipliers(self, point: Point) -> Multipliers:
        """a_i = λ y_i α_i, clipped to [0, 1/n]."""
        raw = self.regularization * self.labels * np.asarray(point["alpha"], dtype=float)
        return {"margins": np.clip(raw, 0.0, 1.0 / len(self.labels))}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """Σ a − ‖a∘y‖²_K/(2λ) with a clipped to [0, 1/n]."""
        a = _hinges.capped(num, multipliers["margins"], len(self.labels))
        square = _squares.squared_norm(num, self.gram, a * num.lift(self.labels))
        return num.sum(a) - square / (num.lift(self.regularization) * 2)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ (1/n − a)[h]_+ + a[−h]_+, plus (λ/2)‖α − (a∘y)/λ‖²_K."""
        alpha, strength = num.lift(point["alpha"]), num.lift(self.regularization)
        a = _hinges.capped(num, multipliers["margins"], len(self.labels))
        hinges = self._arguments(num, num.matvec(self.gram, alpha))
        rest = _squares.squared_norm(num, self.gram, alpha - a * num.lift(self.labels) / strength)
        return _hinges.slack(num, hinges, a, len(self.labels)) + rest * strength / 2

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖_H ≤ √(2 gap/λ)."""
        return math.sqrt(2.0 * max(gap, 0.0) / self.regularization)

    def normalised(self) -> tuple[HingeSVM, Rescale]:
        """K/κ with a power of four near max K_ii: λ' = λ/κ, α = α'/κ; values and multipliers unchanged."""
        kappa = _squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        natural = HingeSVM(_factor.rescaled(self.gram, 1.0 / kappa), self.labels, self.regularization / kappa)
        return natural, Rescale(_squares.times(alpha=1.0 / kappa, u=1.0 / math.sqrt(kappa)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Strong and weak λ, rank-deficient kernels; one class, one sample, K = 0, contradicting labels."""
        gaussian, y = _recipes.small_kernel(rng, 16)
        labels = np.where(y > 0, 1.0, -1.0)
        for strength in (1.0, 0.05, 1e-3):
            yield Example(f"λ = {strength:g}", cls(gaussian, labels, strength))
        features = rng.normal(size=(12, 3))
        yield Example("rank 3", cls(features @ features.T, np.where(features[:, 0] > 0, 1.0, -1.0), 0.1))
        yield Example("one class", cls(gaussian, np.ones(16), 0.1))
        yield Example("one sample", cls(np.ones((1, 1)), np.array([-1.0]), 0.5))
        yield Example("contradicting labels", cls(np.ones((2, 2)), np.array([1.0, -1.0]), 0.1), degenerate=True)
        yield Example("zero kernel", cls(np.zeros((3, 3)), np.array([1.0, -1.0, 1.0]), 1.0), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the kernel and λ, change of all labels, permutation, duplication."""

        def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
            c = float(4.0 ** rng.integers(-10, 11))
            image = replace(problem, gram=problem.gram * c, regularization=problem.regularization * c)
            return Image(image, 1.0, _squares.times(alpha=1.0 / c))

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, labels=-problem.labels), 1.0, _squares.times(alpha=-1.0))

        return [Law("kernel × c, λ × c", scale_kernel), Law("labels × −1", mirror), *_squares.sample_laws("labels")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = "gaussian",
        regularization: float = 1e-3,
    ) -> Self:
        """Recipe: at most `samples` rows (None: all), features as they are, Gaussian kernel with the mean squared distance as bandwidth.

        Labels are the targets of a binary data set; for other tasks, whether the target is above its median. λ = 1e-3 (C = 2 at n = 500).
        """
        inputs, labels = _recipes.binary_sample(dataset, rng, samples, standardise)
        return cls(_recipes.gram(inputs, similarity), labels, regularization)
