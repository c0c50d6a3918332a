"""Maximum mean discrepancy as a second-order cone programme."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import Axes
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.model.problem import ALL_CONES, Example, Image, Law, Rescale, change_of_units, problem
from simopt.problems import recipes
from simopt.problems.norms import gram_factor, squares, unit_ball
from simopt.problems.norms.gram_factor import Gram, KernelProblem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

TwoSamples = Annotated[Array, partial(validate.labels, both=True), Axes("n", leads=True)]


@problem
@dataclass(frozen=True, eq=False)
class MaximumMeanDiscrepancy(KernelProblem):
    r"""max over ‖f‖_H ≤ 1 of ½(E₊ f − E₋ f), written as min over ‖f‖_H ≤ 1 of −½(E₊ f − E₋ f): P* = −MMD.

    E± f is the mean of f over the samples of one label, ⟨μ±, f⟩ with μ± = (1/n±) Σ_{y_i = ±1} φ(x_i). With the witness
    m = ½(μ₊ − μ₋) = Σ d_i φ(x_i), d_i = y_i/(2n_{y_i}), the objective is −⟨m, f⟩. By Cauchy–Schwarz
        MMD = ‖m‖ = ½‖μ₊ − μ₋‖,  reached at f = m/‖m‖  (an absolute value around the difference changes nothing: the ball is symmetric).
    Dual: min_f −⟨m, f⟩ + t(‖f‖ − 1) is −t for t ≥ ‖m‖ and −∞ below, so the best bound is −‖m‖, whatever multipliers are given.
    The gap is ‖m‖(1 − ‖f‖) and what Cauchy–Schwarz leaves. If n₊ = n₋, then m = ω_S and MMD = ‖ω_S‖.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1; both must occur.

    Point {"alpha": (n,)}, f = Σ α_j k(·, x_j); multipliers {"predictions": (n,)} (not used).
    Scale: max_i ‖φ(x_i)‖ = max_i √K_ii, which no MMD exceeds (the objective at f = 0 is 0).
    Source: van Rooyen, Menon & Williamson 2015, §3.1; Gretton et al. 2012.
    """

    name: ClassVar[str] = "mmd"
    title: ClassVar[str] = "maximum mean discrepancy between the two classes"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §3.1"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")

    gram: Gram
    labels: TwoSamples

    @property
    def growth(self) -> int:
        """The length of a difference of means."""
        return 1

    def witness(self, num: Arithmetic = FLOAT) -> Value:
        """Coefficients d_i = y_i/(2n_{y_i}) of m = ½(μ₊ − μ₋), shape (n,)."""
        positive = self.labels > 0
        counts = np.where(positive, np.count_nonzero(positive), np.count_nonzero(~positive)).astype(float)
        return num.lift(self.labels) / num.lift(2.0 * counts)

    def discrepancy(self) -> float:
        """MMD = ‖m‖ in floats, O(n²)."""
        return float(unit_ball.length(FLOAT, self.gram, self.witness()))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise −⟨Fᵀd, u⟩ subject to the ball ‖u‖ ≤ 1, K ≈ F Fᵀ."""
        import cvxpy as cp

        u = cp.Variable(self.factor.width, name="u")
        return cp.Problem(cp.Minimize(-(self.factor.matrix.T @ self.witness()) @ u), [(cp.norm(u, 2) <= 1).set_label("ball")])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """−½(E₊ f − E₋ f) = −dᵀKα."""
        return unit_ball.pairing(num, self.gram, self.witness(num), num.lift(point["alpha"])) * -1

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α (or that of a factor's coordinates u), drawn back into the unit ball."""
        if "alpha" in point:
            alpha = np.asarray(num.mid(num.lift(point["alpha"])), dtype=float)
        else:
            alpha = self.factor.coefficients(point["u"], self.labels, 0.0)
        return {"alpha": unit_ball.inside(num, self.gram, alpha)}

    def multipliers(self, point: Point) -> Multipliers:
        """d, the multiplier that a row f = Kα would have."""
        return {"predictions": self.witness()}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """−‖m‖."""
        return unit_ball.length(num, self.gram, self.witness(num)) * -1

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """‖m‖(1 − ‖f‖) and what Cauchy–Schwarz leaves of ‖m‖‖f‖ − ⟨m, f⟩."""
        return unit_ball.slack(num, self.gram, self.witness(num), num.lift(point["alpha"]))

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖ ≤ √(2 gap/‖m‖), at most 2."""
        return unit_ball.distance(gap, self.gram, self.witness())

    def scale(self) -> float:
        """max_i √K_ii."""
        return math.sqrt(max(float(np.max(np.diagonal(self.gram))), 0.0))

    def normalised(self) -> tuple[MaximumMeanDiscrepancy, Rescale]:
        """K/κ with a power of four near max K_ii: α = α'/√κ, values divided by √κ."""
        kappa = squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        natural = MaximumMeanDiscrepancy(gram_factor.rescaled(self.gram, 1.0 / kappa), self.labels)
        return natural, Rescale(squares.scaling(alpha=1.0 / math.sqrt(kappa)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Balanced and unbalanced classes, rank-deficient kernels, two samples; equal means, K = 0."""
        gaussian, y = recipes.small_kernel(rng, 16)
        yield Example("gaussian kernel", cls(gaussian, np.where(y > 0, 1.0, -1.0)))
        yield Example("balanced", cls(gaussian, np.where(y > np.median(y), 1.0, -1.0)))
        yield Example("one against fifteen", cls(gaussian, np.where(y == y.max(), 1.0, -1.0)))
        features = rng.normal(size=(12, 3))
        yield Example("rank 3", cls(features @ features.T, np.where(features[:, 0] > 0, 1.0, -1.0)))
        yield Example("two samples", cls(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, -1.0])))
        yield Example("equal means", cls(np.ones((2, 2)), np.array([1.0, -1.0])), degenerate=True)
        yield Example("zero kernel", cls(np.zeros((3, 3)), np.array([1.0, -1.0, 1.0])), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of the feature map, change of all labels, permutation, duplication."""

        def by(problem: Any, s: float) -> Image:
            return Image(replace(problem, gram=problem.gram * s**2), s, squares.scaling(alpha=1.0 / s))

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, labels=-problem.labels), 1.0, squares.scaling(alpha=-1.0))

        return [change_of_units("φ × s", by), Law("labels × −1", mirror), *squares.sample_laws("labels")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = DEFAULT_OF_RECIPES,
    ) -> Self:
        """Recipe: rows, labels and kernel as for the hinge SVM (at most `samples` rows, features as they are, Gaussian kernel)."""
        inputs, labels = recipes.binary_sample(dataset, rng, samples, standardise)
        return cls(recipes.gram(inputs, similarity), labels)
