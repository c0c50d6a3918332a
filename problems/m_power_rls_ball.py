"""M-RLSR in its constrained (Ivanov) form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.data.similarities import Similarity
from simopt.ground.arrays import Array, Multipliers, Point
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
ROOM = 4e-15  # relative room below the radius to which a restored point is drawn, before it is checked


@problem
@dataclass(frozen=True, eq=False)
class MPowerRLSBall(KernelProblem):
    r"""min_α (1/n) ‖y − Kα‖²   subject to   (αᵀKα)^{m/2} ≤ Γ,   that is ‖f‖_H ≤ B = Γ^{1/m}.

    Dual, with a multiplier v of the row f = Kα:
        min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖²;      min over ‖f‖ ≤ B of −⟨v, f⟩ = −B √(vᵀKv),
        D(v) = vᵀy − (n/4)‖v‖² − B s,   s = √(vᵀKv).
    For feasible α and any v, with t = √(αᵀKα), the gap is a sum of three non-negative terms:
        P − D = (n/4)‖v − (2/n)(y − Kα)‖² + s(B − t) + (t/2s)‖v − (s/t)α‖²_K.
    A point suggests v = (2μ/n)α with μ = ⟨y − Kα, Kα⟩/t², the ridge parameter that fits its residual best.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    targets : (n,) array
        y.
    radius : float
        Γ > 0, the bound on ‖f‖^m as the paper writes it.
    power : float
        m > 0. The feasible set depends on Γ^{1/m} only and is convex for every m; for m < 1 it is declared as ‖u‖ ≤ Γ^{1/m}.

    Point {"alpha": (n,)}, multipliers {"predictions": (n,)}. Scale: ‖y‖²/n.
    Source: Audiffren & Kadri 2014, proof of Proposition 5.1.
    """

    name: ClassVar[str] = "m-power-rls-ball"
    title: ClassVar[str] = "M-RLSR in constrained form"
    source: ClassVar[str] = "Audiffren & Kadri 2014, proof of Proposition 5.1"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("radius",)

    gram: Gram
    targets: Targets
    radius: Positive
    power: norm_power.Exponent = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(math.log(self.radius)) > 700.0 * self.power:
            raise InvalidProblem(f"radius: the bound Γ^(1/m) on the norm leaves float64 for Γ = {self.radius:g}, m = {self.power:g}")

    @property
    def norm_bound(self) -> float:
        """B = Γ^{1/m}."""
        return float(self.radius ** (1.0 / self.power))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n)‖y − f‖² subject to f = F u and ‖u‖^m ≤ Γ, K ≈ F Fᵀ (exact power cone, or second-order cones without one)."""
        import cvxpy as cp

        n = len(self.targets)
        u = cp.Variable(self.factor.width, name="u")
        f = cp.Variable(n, name="f")
        predictions = (f == self.factor.matrix @ u).set_label("predictions")
        if self.power < 1:
            ball = cp.norm(u, 2) <= self.norm_bound
        else:
            radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
            size = squares.power_of_two(self.norm_bound)
            t = cp.norm(u if size == 1.0 else u / size, 2)
            if self.power == 1:
                power = t
            elif self.power == 2 and size == 1.0:
                power = cp.sum_squares(u)
            else:
                power = cp.power(t, self.power, approx="power" not in cones)
            ball = power <= radius / size**self.power
        return cp.Problem(cp.Minimize(cp.sum_squares(self.targets - f) / n), [predictions, ball.set_label("ball")])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n)‖y − Kα‖²."""
        residual = num.lift(self.targets) - num.matvec(self.gram, num.lift(point["alpha"]))
        return squares.mean_square(num, residual, len(self.targets))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α, or the α of a factor's coordinates u, drawn back into the ball; with bounds on the norm in `num` that prove it is inside."""
        if "alpha" in point:
            return {"alpha": self._inside(num.mid(num.lift(point["alpha"])), num)}
        u = np.asarray(point["u"], dtype=float).reshape(-1)
        factor = self.factor
        image = factor.matrix @ u
        square = float(u @ u)
        mu = max(float((self.targets - image) @ image) / square, 0.0) if square > 0 else 0.0
        # With a multiplier near 0 the directions outside the factor would take norm that the ball does not have: keep the better point.
        full, bare = (self._inside(factor.coefficients(u, self.targets, value), num) for value in (mu, 0.0))
        return {"alpha": min((full, bare), key=lambda alpha: float(self.objective({"alpha": num.mid(alpha)})))}

    def _inside(self, alpha: Array, num: Arithmetic) -> Value:
        room, bound = ROOM, num.lower(self._bound(num))
        while True:
            lifted = num.lift(alpha)
            t = num.upper(num.sqrt(squares.squared_norm(num, self.gram, lifted)))
            if t <= bound or not np.any(alpha):
                return lifted
            alpha = alpha * (bound / t * (1.0 - room)) if math.isfinite(t) else np.zeros_like(alpha)
            room *= 4.0

    def _bound(self, num: Arithmetic) -> Value:
        return norm_power.power(num, num.lift(self.radius), 1.0 / self.power)

    def multipliers(self, point: Point) -> Multipliers:
        """The best of `squares.candidates` with μ = ⟨y − Kα, Kα⟩/t² (at α = 0: v = (2/n)y)."""
        alpha = np.asarray(point["alpha"], dtype=float)
        fitted = self.gram @ alpha
        square = float(alpha @ fitted)
        mu = max(float((self.targets - fitted) @ fitted) / square, 0.0) if square > 0 else 0.0
        return min(squares.candidates(self.gram, self.targets, alpha, mu), key=lambda v: float(self.gap({"alpha": alpha}, v)))

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v) = vᵀy − (n/4)‖v‖² − B√(vᵀKv); every v is dual feasible."""
        v = num.lift(multipliers["predictions"])
        s = num.sqrt(squares.squared_norm(num, self.gram, v))
        return squares.dual_term(num, v, num.lift(self.targets), len(self.targets)) - self._bound(num) * s

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(n/4)‖v − (2/n)(y − Kα)‖² + s(B − t) + (t/2s)‖v − (s/t)α‖²_K."""
        alpha, v = num.lift(point["alpha"]), num.lift(multipliers["predictions"])
        if squares.all_zero(num, self.targets, alpha, v):
            return num.lift(0.0)
        fitted = num.matvec(self.gram, alpha)
        t = num.sqrt(num.pos(num.dot(alpha, fitted)))
        s = num.sqrt(squares.squared_norm(num, self.gram, v))
        first = squares.misfit(num, v, num.lift(self.targets) - fitted, len(self.targets))
        return first + s * num.pos(self._bound(num) - t) + power_units.angle(num, self.gram, alpha, v, t, s)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """The smaller of 2B and what `spread` gives for the multipliers that the point suggests; 2B without a point."""
        return 2.0 * self.norm_bound if point is None else self.spread(point, self.multipliers(point))

    def spread(self, point: Point, multipliers: Multipliers) -> float:
        r"""R with ‖f − f*‖_H ≤ R = min(2B, 2√(2Bg/s)), where g = P(f) − D(v) and s = ‖v‖_H.

        The objective is not strongly convex in H, but the ball is: for ‖f‖ ≤ B the last two terms of the gap are Bs − ⟨v, f⟩, and
            ‖f − (B/s)v‖² = ‖f‖² + B² − (2B/s)⟨v, f⟩ ≤ (2B/s)(Bs − ⟨v, f⟩) ≤ (2B/s)(P(f) − D(v)).
        f and f* both have P − D(v) ≤ g, so both lie within √(2Bg/s) of (B/s)v. Where the ball is not active g ≥ s(B − t) keeps R large
        however small s is. (A lower bound of s: that of a v in the null space of K is rounding.)
        """
        bound = self.norm_bound
        s = INTERVAL.lower(INTERVAL.sqrt(squares.squared_norm(INTERVAL, self.gram, INTERVAL.lift(multipliers["predictions"]))))
        gap = float(self.gap(point, multipliers))
        return min(2.0 * bound, 2.0 * math.sqrt(2.0 * bound / s * gap)) if s > 0.0 and gap >= 0.0 else 2.0 * bound

    def normalised(self) -> tuple[MPowerRLSBall, Rescale]:
        """y/σ and K/κ with powers of two: Γ' = Γ(√κ/σ)^m, α = α'σ/κ, values × σ² (see `power_units.units`)."""
        sigma, kappa = power_units.units(self.gram, self.targets, self.power, radius=self.radius)
        radius = power_units.exact_product(self.radius, ((sigma, -self.power), (kappa, self.power / 2.0)))
        natural = MPowerRLSBall(gram_factor.rescaled(self.gram, 1.0 / kappa), self.targets / sigma, radius, self.power)
        return natural, squares.kernel_rescale(sigma, kappa)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive balls, powers below and above 2; y = 0, KY = 0 and one sample."""
        gaussian, y = recipes.small_kernel(rng, 14)
        for m, radius in ((1.5, 1.0), (3.0, 2.0), (2.0, 1.0), (1.0, 0.5)):
            yield Example(f"m = {m:g}", cls(gaussian, y, radius, m))
        features = rng.normal(size=(10, 3))
        yield Example("inactive ball", cls(features @ features.T, features[:, 0] + 0.3 * rng.normal(size=10), 30.0, 2.5))
        yield Example("one sample", cls(np.ones((1, 1)), np.array([2.0]), 0.5, 3.0))
        yield Example("zero targets", cls(gaussian, np.zeros(14), 1.0, 1.5), degenerate=True)
        yield Example("K y = 0", cls(np.ones((2, 2)), np.array([1.0, -1.0]), 0.1, 3.0), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the targets and of the kernel, permutation, duplication."""

        def scale_targets(problem: Any, s: float) -> Image:
            radius = power_units.exact_product(problem.radius, ((s, problem.power),))
            both = squares.times(alpha=s, predictions=s)
            return Image(replace(problem, targets=problem.targets * s, radius=radius), s * s, both, both)

        def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
            c = float(4.0 ** rng.integers(-10, 11))
            radius = power_units.exact_product(problem.radius, ((c, -problem.power / 2.0),))
            return Image(replace(problem, gram=problem.gram * c, radius=radius), 1.0, squares.times(alpha=1.0 / c))

        scalings = [change_of_units("targets × s, Γ × s^m", scale_targets), Law("kernel × c, Γ × c^(−m/2)", scale_kernel)]
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
        radius: float | None = None,
        power: float = 1.5,
    ) -> Self:
        """Recipe: rows and kernel as for kernel ridge regression; by default B = ½‖y‖²/√(yᵀKy), half the norm at which cKy reaches y."""
        inputs, targets = recipes.sample(dataset, rng, samples, standardise)
        K = recipes.gram(inputs, similarity)
        if radius is None:
            energy = math.sqrt(max(float(targets @ (K @ targets)), 0.0))
            radius = (0.5 * float(targets @ targets) / energy) ** power if energy > 0 else 1.0
        return cls(K, targets, radius, power)
