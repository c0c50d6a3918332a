"""Kernel ridge regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Multipliers, Point
from simopt.core.fields import Positive, Targets
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.model.problem import ALL_CONES, Example, Image, Law, Rescale, change_of_units, problem
from simopt.problems import recipes
from simopt.problems.norms import gram_factor, squares
from simopt.problems.norms.gram_factor import Gram, KernelProblem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class KernelRidge(KernelProblem):
    r"""min_α (1/n) ‖y − Kα‖² + λ αᵀKα,   f = Σ_j α_j k(·, x_j),  ‖f‖²_H = αᵀKα.

    Dual, with a multiplier v of the row f = Kα:
        min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖²   at f = y − (n/2) v;      min_α λ αᵀKα − vᵀKα = −vᵀKv/(4λ)   at α = v/(2λ),
        D(v) = vᵀy − (n/4)‖v‖² − vᵀKv/(4λ).
    For any α and v the gap is a sum of two squares, P − D = (n/4)‖v − (2/n)(y − Kα)‖² + λ ‖α − v/(2λ)‖²_K, and P(f) − P* ≥ λ‖f − f*‖²_H.
    A point suggests v = 2λα, for which the gap is (1/n)‖y − (K + nλ I)α‖².

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    targets : (n,) array
        y.
    regularization : float
        λ > 0; scikit-learn's `alpha` is nλ.

    Point {"alpha": (n,)}, multipliers {"predictions": (n,)}. Scale: ‖y‖²/n.
    Source: Saunders, Gammerman & Vovk 1998; Audiffren & Kadri 2014, equation (8) with m = 2.
    """

    name: ClassVar[str] = "kernel-ridge"
    title: ClassVar[str] = "kernel ridge regression"
    source: ClassVar[str] = "Audiffren & Kadri 2014, (8) with m = 2"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    gram: Gram
    targets: Targets
    regularization: Positive

    @property
    def growth(self) -> int:
        """Squares."""
        return 2

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n)‖y − f‖² + λ‖u‖² subject to f = F u, K ≈ F Fᵀ."""
        import cvxpy as cp

        n = len(self.targets)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        u = cp.Variable(self.factor.width, name="u")
        f = cp.Variable(n, name="f")
        predictions = (f == self.factor.matrix @ u).set_label("predictions")
        return cp.Problem(cp.Minimize(cp.sum_squares(self.targets - f) / n + regularization * cp.sum_squares(u)), [predictions])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n)‖y − Kα‖² + λ αᵀKα."""
        alpha = num.lift(point["alpha"])
        fitted = num.matvec(self.gram, alpha)
        penalty = num.pos(num.dot(alpha, fitted)) * num.lift(self.regularization)
        return squares.mean_square(num, num.lift(self.targets) - fitted, len(self.targets)) + penalty

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α itself, or the α of a factor's coordinates u (see `Factor.coefficients`, μ = nλ). Every α is feasible."""
        if "alpha" in point:
            return {"alpha": num.lift(point["alpha"])}
        return {"alpha": num.lift(self.factor.coefficients(point["u"], self.targets, len(self.targets) * self.regularization))}

    def multipliers(self, point: Point) -> Multipliers:
        """v = 2λα, or a better one of `squares.candidates` with μ = nλ."""
        alpha = np.asarray(point["alpha"], dtype=float)
        mu = len(self.targets) * self.regularization
        return min(squares.candidates(self.gram, self.targets, alpha, mu), key=lambda v: float(self.gap({"alpha": alpha}, v)))

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v) = vᵀy − (n/4)‖v‖² − vᵀKv/(4λ); every v is dual feasible."""
        v = num.lift(multipliers["predictions"])
        linear = squares.dual_term(num, v, num.lift(self.targets), len(self.targets))
        return linear - squares.squared_norm(num, self.gram, v) / (num.lift(self.regularization) * 4)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(n/4)‖v − (2/n)(y − Kα)‖² + λ‖α − v/(2λ)‖²_K."""
        alpha, v = num.lift(point["alpha"]), num.lift(multipliers["predictions"])
        if squares.all_zero(num, self.targets, alpha, v):
            return num.lift(0.0)
        strength = num.lift(self.regularization)
        residual = num.lift(self.targets) - num.matvec(self.gram, alpha)
        rest = squares.squared_norm(num, self.gram, alpha - v / (strength * 2))
        return squares.misfit(num, v, residual, len(self.targets)) + rest * strength

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖_H ≤ √(gap/λ), because λ‖·‖² is strongly convex."""
        return float(np.sqrt(max(gap, 0.0) / self.regularization))

    def normalised(self) -> tuple[KernelRidge, Rescale]:
        """y/σ and K/κ with powers of two near the largest entries: (1/n)‖y/σ − K/κ α'‖² + (λ/κ) α'ᵀ(K/κ)α', α = α'σ/κ, values × σ²."""
        sigma = squares.power_of_two(squares.largest(self.targets))
        kappa = squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        natural = KernelRidge(gram_factor.rescaled(self.gram, 1.0 / kappa), self.targets / sigma, self.regularization / kappa)
        return natural, squares.kernel_rescale(sigma, kappa)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Gaussian and rank-deficient kernels, strong and weak λ; y = 0, K = 0 and one sample."""
        gaussian, y = recipes.small_kernel(rng, 14)
        yield Example("gaussian kernel", cls(gaussian, y, 1e-2))
        yield Example("weak regularization", cls(gaussian, y, 1e-5))
        features = rng.normal(size=(10, 3))
        yield Example("rank 3", cls(features @ features.T, features[:, 0] + 0.3 * rng.normal(size=10), 0.1))
        yield Example("zero targets", cls(gaussian, np.zeros(14), 1e-2), degenerate=True)
        yield Example("zero kernel", cls(np.zeros((3, 3)), np.ones(3), 1.0), degenerate=True)
        yield Example("one sample", cls(np.ones((1, 1)), np.array([2.0]), 0.5))

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the targets and of the kernel, sign, permutation, duplication."""

        def scale_targets(problem: Any, s: float) -> Image:
            both = squares.scaling(alpha=s, predictions=s)
            return Image(replace(problem, targets=problem.targets * s), s * s, both, both)

        def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
            c = float(4.0 ** rng.integers(-10, 11))
            image = replace(problem, gram=problem.gram * c, regularization=problem.regularization * c)
            return Image(image, 1.0, squares.scaling(alpha=1.0 / c))

        return [change_of_units("targets × s", scale_targets), Law("kernel × c, λ × c", scale_kernel), *squares.sample_laws("targets")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 1000,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_RECIPES,
        regularization: float = 1e-2,
    ) -> Self:
        """Recipe: at most `samples` rows drawn at random (None: all), standardised features, a Gaussian kernel exp(−‖x−x'‖²/μ).

        μ is the mean squared distance between the rows used, as in Audiffren & Kadri; `similarity` replaces the kernel. Targets stay as
        they are.
        """
        inputs, targets = recipes.sample(dataset, rng, samples, standardise)
        return cls(recipes.gram(inputs, similarity), targets, regularization)
