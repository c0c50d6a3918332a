"""M-RLSR: regularized least squares with a power of the norm as its penalty."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.data.similarities import Similarity
from simopt.ground.arrays import Multipliers, Point
from simopt.ground.errors import InvalidProblem
from simopt.ground.fields import Positive, Targets
from simopt.problems.cases import recipes
from simopt.problems.norms import gram_factor, norm_power, power_units, squares
from simopt.problems.norms.gram_factor import Gram, KernelProblem
from simopt.solving.problem import ALL_CONES, Example, Image, Law, Rescale, change_of_units, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

Value = Any


@problem
@dataclass(frozen=True, eq=False)
class MPowerRLS(KernelProblem):
    r"""min_α (1/n) ‖y − Kα‖² + λ (αᵀKα)^{m/2},   f = Σ_j α_j k(·, x_j),  ‖f‖²_H = αᵀKα.

    Dual, with a multiplier v of the row f = Kα and s = √(vᵀKv):
        min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖²;      min_α λ‖α‖_K^m − vᵀKα = −(m−1)λτ^m,  τ = (s/(λm))^{1/(m−1)},
        D(v) = vᵀy − (n/4)‖v‖² − (m−1) λ (s/(λm))^{m/(m−1)};      m = 1: D(v) = vᵀy − (n/4)‖v‖² subject to s ≤ λ.
    For any α and v, with t = √(αᵀKα), the gap is a sum of three non-negative terms:
        P − D = (n/4)‖v − (2/n)(y − Kα)‖² + [λt^m + (m−1)λτ^m − st] + (t/2s)‖v − (s/t)α‖²_K.
    A point suggests v = (2μ/n)α with μ = (nλm/2) t^{m−2}; then the last two vanish and the first is (1/n)‖y − (K + μI)α‖².
    Every solution f ≠ 0 is that of kernel ridge regression with nλ' = μ. The problem is convex for m ≥ 1; with m = 1 the solution is 0
    as soon as λ ≥ (2/n)√(yᵀKy). For 0 < m < 1 it is not convex: only stationary points can be had (`simopt.solvers.power.stationary`).

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    targets : (n,) array
        y.
    regularization : float
        λ > 0.
    power : float
        m > 0.

    Point {"alpha": (n,)}, multipliers {"predictions": (n,)}. Scale: ‖y‖²/n.
    Source: Audiffren & Kadri 2014, equation (8); gap and pitfalls: our derivation.
    """

    name: ClassVar[str] = "m-power-rls"
    title: ClassVar[str] = "M-RLSR: least squares with the m-th power of the norm"
    source: ClassVar[str] = "Audiffren & Kadri 2014, (8)"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    gram: Gram
    targets: Targets
    regularization: Positive
    power: norm_power.Exponent = 2.0

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n)‖y − f‖² + λ‖u‖^m s.t. f = F u, K ≈ F Fᵀ, by one exact power cone or, without it, by second-order cones.

        Far from 1 (7^12 is 1e10) ‖u‖^m would leave the cone ill conditioned: there it is written c^m (‖u‖/c)^m, c a power of two near ‖u‖.

        Raises
        ------
        InvalidProblem
            for m < 1, where the problem is not convex.
        """
        self._demand_convexity()
        import cvxpy as cp

        n = len(self.targets)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        u = cp.Variable(self.factor.width, name="u")
        f = cp.Variable(n, name="f")
        predictions = (f == self.factor.matrix @ u).set_label("predictions")
        size = power_units.norm_unit(self.factor, self.targets, self.regularization, self.power)
        if self.power == 1:
            penalty = cp.norm(u, 2)
        elif self.power == 2:
            penalty = cp.sum_squares(u)
        elif size == 1.0:
            penalty = cp.power(cp.norm(u, 2), self.power, approx="power" not in cones)
        else:
            penalty = size**self.power * cp.power(cp.norm(u / size, 2), self.power, approx="power" not in cones)
        return cp.Problem(cp.Minimize(cp.sum_squares(self.targets - f) / n + regularization * penalty), [predictions])

    def _demand_convexity(self) -> None:
        if self.power < 1:
            raise InvalidProblem(
                f"power: the problem is not convex for m = {self.power:g} < 1 (t ↦ t^m is concave), so it has no convex declaration and no "
                "dual that closes; solvers.stationary enumerates its stationary points and certifies the global minimiser"
            )

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n)‖y − Kα‖² + λ(αᵀKα)^{m/2}."""
        alpha = num.lift(point["alpha"])
        fitted = num.matvec(self.gram, alpha)
        penalty = norm_power.penalty(num, norm_power.norm(num, alpha, fitted), self.regularization, self.power)
        return squares.mean_square(num, num.lift(self.targets) - fitted, len(self.targets)) + penalty

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α itself, or the α of a factor's coordinates u with μ = (nλm/2)‖u‖^{m−2} (see `Factor.coefficients`). Every α is feasible."""
        if "alpha" in point:
            return {"alpha": num.lift(point["alpha"])}
        t = FLOAT.norm(np.asarray(point["u"], dtype=float).reshape(-1))
        if t == 0.0:
            return {"alpha": num.lift(np.zeros(len(self.targets)))}
        return {"alpha": num.lift(self.factor.coefficients(point["u"], self.targets, self.ridge(t)))}

    def ridge(self, t: float) -> float:
        """μ = (nλm/2) t^{m−2}: the kernel ridge parameter nλ' that has the same solution, when ‖f‖ = t > 0."""
        log_mu = math.log(len(self.targets) * self.regularization * self.power / 2.0) + (self.power - 2.0) * math.log(t)
        return math.exp(min(log_mu, 700.0))

    def multipliers(self, point: Point) -> Multipliers | None:
        """The best of v = (2μ/n)α, v = (2/n)(y − Kα) and, if K's factor is at hand, a mixture (`squares.candidates`); None for m < 1.

        At α = 0, and where a norm of 1e-9 should be one of 1e-1200 (m near 1), μ says nothing and the second is best.
        """
        if self.power < 1:
            return None
        alpha = np.asarray(point["alpha"], dtype=float)
        t = math.sqrt(squares.squared_norm(FLOAT, self.gram, alpha))
        choices = squares.candidates(self.gram, self.targets, alpha, self.ridge(t) if t > 0.0 else 0.0)
        return min(choices, key=lambda v: _or_infinite(self.gap({"alpha": alpha}, v)))

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v); for m = 1 v is first scaled to s ≤ λ, for m < 1 only D = 0 is known."""
        if self.power < 1:
            return num.lift(0.0)
        v, s = self._feasible(num, num.lift(multipliers["predictions"]))
        linear = squares.dual_term(num, v, num.lift(self.targets), len(self.targets))
        return linear if self.power == 1 else linear - norm_power.conjugate(num, s, self.regularization, self.power)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(n/4)‖v − (2/n)(y − Kα)‖² + [λt^m + (m−1)λτ^m − st] + (t/2s)‖v − (s/t)α‖²_K."""
        if self.power < 1:
            return self.objective(point, num)
        alpha = num.lift(point["alpha"])
        if squares.all_zero(num, self.targets, alpha, num.lift(multipliers["predictions"])):
            return num.lift(0.0)
        v, s = self._feasible(num, num.lift(multipliers["predictions"]))
        fitted = num.matvec(self.gram, alpha)
        t = norm_power.norm(num, alpha, fitted)
        first = squares.misfit(num, v, num.lift(self.targets) - fitted, len(self.targets))
        if self.power == 1:
            second = num.pos(num.lift(self.regularization) - s) * t
        else:
            second = norm_power.fenchel_young(num, t, s, self.regularization, self.power)
        return first + second + power_units.angle(num, self.gram, alpha, v, t, s)

    def _feasible(self, num: Arithmetic, v: Value) -> tuple[Value, Value]:
        """v and s = ‖v‖_K, scaled to s ≤ λ for m = 1."""
        s = num.sqrt(squares.squared_norm(num, self.gram, v))
        if self.power == 1 and num.upper(s) > self.regularization:
            shrink = num.lift(self.regularization / num.upper(s) * (1.0 - 4e-16))
            return v * shrink, s * shrink
        return v, s

    def distance(self, gap: float, point: Point | None = None) -> float:
        """Radius of a ball around f in H that holds f* (see `power_units.distance`)."""
        t = None if point is None else math.sqrt(squares.squared_norm(FLOAT, self.gram, np.asarray(point["alpha"], dtype=float)))
        upper = self.scale() + gap if point is None else float(self.objective(point))
        return power_units.distance(max(gap, 0.0), upper, t, self.regularization, self.power)

    def normalised(self) -> tuple[MPowerRLS, Rescale]:
        """y/σ and K/κ with powers of two: λ' = λσ^{m−2}κ^{−m/2}, α = α'σ/κ, values × σ² (see `power_units.units`)."""
        sigma, kappa = power_units.units(self.gram, self.targets, self.power, strength=self.regularization)
        strength = power_units.exact_product(self.regularization, ((sigma, self.power - 2.0), (kappa, -self.power / 2.0)))
        natural = MPowerRLS(gram_factor.rescaled(self.gram, 1.0 / kappa), self.targets / sigma, strength, self.power)
        return natural, squares.kernel_rescale(sigma, kappa)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Powers below and above 2, rank-deficient kernels, m = 1; y = 0, KY = 0 and one sample."""
        gaussian, y = recipes.small_kernel(rng, 14)
        for m, strength in ((1.5, 1e-2), (3.0, 1e-3), (1.1, 0.05), (2.0, 1e-2), (1.0, 0.1)):
            yield Example(f"m = {m:g}", cls(gaussian, y, strength, m))
        features = rng.normal(size=(10, 3))
        yield Example("rank 3, m = 2.5", cls(features @ features.T, features[:, 0] + 0.3 * rng.normal(size=10), 0.1, 2.5))
        yield Example("one sample", cls(np.ones((1, 1)), np.array([2.0]), 0.5, 3.0))
        yield Example("m = 1 with solution 0", cls(gaussian, y, 10.0, 1.0), degenerate=True)
        yield Example("zero targets", cls(gaussian, np.zeros(14), 1e-2, 1.5), degenerate=True)
        yield Example("K y = 0", cls(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, -1.0]), 0.1, 3.0), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the targets and of the kernel, permutation, duplication."""

        def scale_targets(problem: Any, s: float) -> Image:
            strength = power_units.exact_product(problem.regularization, ((s, 2.0 - problem.power),))
            both = squares.times(alpha=s, predictions=s)
            return Image(replace(problem, targets=problem.targets * s, regularization=strength), s * s, both, both)

        def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
            c = float(4.0 ** rng.integers(-10, 11))
            strength = power_units.exact_product(problem.regularization, ((c, problem.power / 2.0),))
            return Image(replace(problem, gram=problem.gram * c, regularization=strength), 1.0, squares.times(alpha=1.0 / c))

        scalings = [change_of_units("targets × s, λ × s^(2−m)", scale_targets), Law("kernel × c, λ × c^(m/2)", scale_kernel)]
        return scalings + squares.sample_laws("targets")

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 1000,
        standardise: bool = True,
        similarity: str | Similarity = "gaussian",
        regularization: float = 1e-2,
        power: float = 1.5,
    ) -> Self:
        """Recipe: rows and kernel as for kernel ridge regression; λ and m of the paper's Figure 1."""
        inputs, targets = recipes.sample(dataset, rng, samples, standardise)
        return cls(recipes.gram(inputs, similarity), targets, regularization, power)


def _or_infinite(gap: float) -> float:
    return math.inf if math.isnan(gap) else gap
