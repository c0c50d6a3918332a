"""M-RLSR: regularized least squares with a power of the norm as its penalty, or bounded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Positive, Targets
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.model import uniform_convexity
from simopt.model.forms import Forms
from simopt.model.problem import ALL_CONES, Example, Image, Law, Rescale, change_of_units, problem
from simopt.problems import recipes
from simopt.problems.bounds import Bounded, Limit
from simopt.problems.norms import gram_factor, norm_power, power_units, squares, vectors
from simopt.problems.norms.gram_factor import Factor, Gram, KernelProblem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


def weighted(gram: Array, targets: Array, bound: PowerPenalty | PowerBall, weights: Array) -> tuple[MPowerRLS, Array]:
    r"""min_α Σ_i p_i (y_i − (Kα)_i)² + ρ(‖f‖_H), p_i = w_i/Σ w, as a problem of means in β, and the d with α = d∘β.

    With d_i = √(n p_i), D = diag(d) and α = Dβ the loss is (1/n)‖Dy − DKDβ‖², and ‖f‖²_H = βᵀDKDβ. So it is M-RLSR with the targets Dy and
    the kernel DKD, which is positive semidefinite as K is. No solution is lost where d_i = 0, as then f is best without k(·, x_i).

    Raises
    ------
    InvalidProblem
        for weights that are not numbers ≥ 0, one for each target and not all 0, and for what `MPowerRLS` refuses.
    """
    w = validate.weights("weights", weights, length=len(targets), like="targets")
    d: Array = np.sqrt(len(w) * (w / w.sum()))
    K = gram_factor.checked("gram", gram, len(w))
    return MPowerRLS(gram_factor.trusted(np.outer(d, d) * K), d * np.asarray(targets, dtype=float), bound), d


@dataclass(frozen=True)
class PowerPenalty(Limit):
    """ρ(t) = λt^m of t = ‖f‖, λ > 0, m > 0; convex for m ≥ 1."""

    regularization: Positive
    power: norm_power.Exponent = 2.0

    @property
    def convex(self) -> bool:
        """m ≥ 1."""
        return self.power >= 1

    @property
    def steepest(self) -> float:
        """λ for m = 1, else ∞: ρ* is finite for s ≤ sup ρ', and 0 there if that is."""
        return self.regularization if self.power == 1 else math.inf

    def norm(self, num: Arithmetic, alpha: Value, image: Value) -> Value:
        """t from α and Kα: also one whose square leaves the floats, for t^m may not."""
        return norm_power.norm(num, alpha, image)

    def conjugate(self, num: Arithmetic, s: Value) -> Value:
        """ρ*(s) = (m−1)λτ^m,  τ = (s/(λm))^{1/(m−1)}, for m > 1."""
        return norm_power.conjugate(num, s, self.regularization, self.power)

    def fenchel_young(self, num: Arithmetic, t: Value, s: Value) -> Value:
        """ρ(t) + ρ*(s) − st ≥ 0."""
        if self.power == 1:
            return num.pos(num.lift(self.regularization) - s) * t
        return norm_power.fenchel_young(num, t, s, self.regularization, self.power)

    def inside(self, num: Arithmetic, alpha: Any, gram: Array) -> Value:
        """α as it is."""
        return num.lift(alpha)

    def unit(self, factor: Factor, targets: Array) -> float:
        """A power of two near ‖u*‖ where ‖u‖^m is far from 1 (7^12 is 1e10)."""
        return power_units.norm_unit(factor, targets, self.regularization, self.power)

    def in_units(self, s: float, c: float) -> PowerPenalty:
        """y × s and K × c: λ × s^{2−m} c^{m/2}."""
        return replace(self, regularization=power_units.exact_product(self.regularization, ((s, 2.0 - self.power), (c, self.power / 2.0))))


@dataclass(frozen=True)
class PowerBall(Limit):
    """ρ(t) = 0 on t^m ≤ Γ, Γ > 0, m > 0, that is t ≤ B = Γ^{1/m}: convex for every m."""

    radius: Positive
    power: norm_power.Exponent = 2.0
    convex: ClassVar[bool] = True
    steepest: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(math.log(self.radius)) > 700.0 * self.power:
            raise InvalidProblem(f"radius: the bound Γ^(1/m) on the norm leaves float64 for Γ = {self.radius:g}, m = {self.power:g}")

    @property
    def norm_bound(self) -> float:
        """B."""
        return float(self.radius ** (1.0 / self.power))

    def size(self, num: Arithmetic) -> Value:
        """B."""
        return norm_power.power(num, num.lift(self.radius), 1.0 / self.power)

    def norm(self, num: Arithmetic, alpha: Value, image: Value) -> Value:
        """t from α and Kα."""
        return num.sqrt(num.pos(num.dot(alpha, image)))

    def conjugate(self, num: Arithmetic, s: Value) -> Value:
        """ρ*(s) = Bs."""
        return self.size(num) * s

    def fenchel_young(self, num: Arithmetic, t: Value, s: Value) -> Value:
        """ρ(t) + ρ*(s) − st = s(B − t) ≥ 0."""
        return s * num.pos(self.size(num) - t)

    def inside(self, num: Arithmetic, alpha: Any, gram: Array) -> Value:
        """α drawn back until bounds on ‖f‖ in `num` prove that f is in the ball."""
        radius = num.lower(self.size(num))
        return vectors.inside_ball(num, num.mid(num.lift(alpha)), radius, lambda num, a: num.sqrt(squares.squared_norm(num, gram, a)))

    def unit(self, factor: Factor, targets: Array) -> float:
        """A power of two near B."""
        return squares.power_of_two(self.norm_bound)

    def in_units(self, s: float, c: float) -> PowerBall:
        """y × s and K × c: Γ × s^m c^{−m/2}."""
        return replace(self, radius=power_units.exact_product(self.radius, ((s, self.power), (c, -self.power / 2.0))))


@problem
@dataclass(frozen=True, eq=False)
class MPowerRLS(Bounded, KernelProblem):
    r"""min_α (1/n) ‖y − Kα‖² + ρ(‖f‖_H),   f = Σ_j α_j k(·, x_j),  ‖f‖²_H = αᵀKα;   ρ(t) = λt^m, or 0 on t^m ≤ Γ, that is t ≤ B = Γ^{1/m}.

    Dual, with a multiplier v of the row f = Kα and s = √(vᵀKv):
        min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖²;      min_α ρ(‖α‖_K) − vᵀKα = −ρ*(s),
        D(v) = vᵀy − (n/4)‖v‖² − ρ*(s),      ρ*(s) = Bs, or (m−1)λτ^m with τ = (s/(λm))^{1/(m−1)}; m = 1: 0 subject to s ≤ λ.
    For feasible α and any v, with t = √(αᵀKα), the gap is a sum of three non-negative terms.
        P − D = (n/4)‖v − (2/n)(y − Kα)‖² + [ρ(t) + ρ*(s) − st] + (t/2s)‖v − (s/t)α‖²_K,
    in the ball with s(B − t) for [·]. A point suggests v = (2μ/n)α, where μ = (nλm/2) t^{m−2} makes the last two vanish and the first
    (1/n)‖y − (K + μI)α‖². In the ball μ = ⟨y − Kα, Kα⟩/t², the ridge parameter that fits its residual best.
    Every penalised solution f ≠ 0 is that of kernel ridge regression with nλ' = μ. λt^m is convex for m ≥ 1; with m = 1 the solution is 0
    as soon as λ ≥ (2/n)√(yᵀKy), and for m < 1 only stationary points can be had (`simopt.solvers.power.stationary`).

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    targets : (n,) array
        y.
    bound : PowerPenalty(regularization=λ, power=m) or PowerBall(radius=Γ, power=m)
        λ, Γ, m > 0; Γ bounds ‖f‖^m as the paper writes it. m = 2 where it is not given.

    Point {"alpha": (n,)}, multipliers {"predictions": (n,)}. Scale: ‖y‖²/n.
    Source: Audiffren & Kadri 2014, equation (8), and in a ball the proof of Proposition 5.1; gap and pitfalls: our derivation.
    """

    forms: ClassVar[Forms] = {
        "penalty": {
            "name": "m-power-rls",
            "title": "M-RLSR: least squares with the m-th power of the norm",
            "source": "Audiffren & Kadri 2014, (8)",
            "parameters": ("regularization",),
        },
        "ball": {
            "name": "m-power-rls-ball",
            "title": "M-RLSR in constrained form",
            "source": "Audiffren & Kadri 2014, proof of Proposition 5.1",
            "parameters": ("radius",),
        },
    }
    bounds: ClassVar[Mapping[str, type[Limit]]] = {"penalty": PowerPenalty, "ball": PowerBall}
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    by_hand: ClassVar[str] = "m < 1 is not convex, its stationary points are judged and not declared; time"

    gram: Gram
    targets: Targets
    bound: PowerPenalty | PowerBall

    @property
    def growth(self) -> int:
        """Squares."""
        return 2

    @property
    def power(self) -> float:
        """m."""
        return self.bound.power

    @property
    def norm_bound(self) -> float:
        """B = Γ^{1/m}; ∞ of a penalty."""
        return self.bound.norm_bound if isinstance(self.bound, PowerBall) else math.inf

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n)‖y − f‖² + λ‖u‖^m s.t. `predictions` f = F u, K ≈ F Fᵀ, or instead of the penalty s.t. the `ball` ‖u‖^m ≤ Γ.

        ‖u‖^m is one exact power cone or, without it, second-order cones. Far from 1 it would leave the cone ill conditioned: it is written
        c^m (‖u‖/c)^m, c a power of two. The ball with m < 1 is ‖u‖ ≤ B.

        Raises
        ------
        InvalidProblem
            for λ‖u‖^m with m < 1, where the problem is not convex.
        """
        if not self.bound.convex:
            raise InvalidProblem(
                f"power: the problem is not convex for m = {self.power:g} < 1 (t ↦ t^m is concave), so it has no convex declaration and no "
                "dual that closes; simopt.solvers.power.stationary enumerates its stationary points and certifies the global minimiser"
            )
        import cvxpy as cp

        m, c = self.power, self.bound.unit(self.factor, self.targets)
        u, f = cp.Variable(self.factor.width, name="u"), cp.Variable(len(self.targets), name="f")
        loss = cp.sum_squares(self.targets - f) / len(self.targets)
        predictions = (f == self.factor.matrix @ u).set_label("predictions")
        norm = cp.norm(u if c == 1.0 else u / c, 2)
        if m <= 1:
            power = norm
        elif m == 2 and c == 1.0:
            power = cp.sum_squares(u)
        else:
            power = cp.power(norm, m, approx="power" not in cones)
        if isinstance(self.bound, PowerPenalty):
            regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
            penalty = power if c == 1.0 else c**m * power
            return cp.Problem(cp.Minimize(loss + regularization * penalty), [predictions])
        if m < 1:
            ball = cp.norm(u, 2) <= self.norm_bound
        else:
            radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
            ball = power <= radius / c**m
        return cp.Problem(cp.Minimize(loss), [predictions, ball.set_label("ball")])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n)‖y − Kα‖², penalised + λ(αᵀKα)^{m/2}."""
        alpha = num.lift(point["alpha"])
        fitted = num.matvec(self.gram, alpha)
        loss, bound = squares.mean_square(num, num.lift(self.targets) - fitted, len(self.targets)), self.bound
        if isinstance(bound, PowerBall):
            return loss
        return loss + norm_power.penalty(num, bound.norm(num, alpha, fitted), bound.regularization, bound.power)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α, or the α of a factor's coordinates u and their μ (see `Factor.coefficients`); drawn back into the ball, where there is one."""
        if "alpha" in point:
            return {"alpha": self.bound.inside(num, point["alpha"], self.gram)}
        u, factor = np.asarray(point["u"], dtype=float).reshape(-1), self.factor
        if isinstance(self.bound, PowerPenalty):
            return {"alpha": num.lift(factor.coefficients(u, self.targets, self.ridge(FLOAT.norm(u))))}
        mu = self._fitting(factor.matrix @ u, float(u @ u))
        # With a multiplier near 0 the directions outside the factor would take norm that the ball does not have: keep the better point.
        full, bare = (self.bound.inside(num, factor.coefficients(u, self.targets, value), self.gram) for value in (mu, 0.0))
        return {"alpha": min((full, bare), key=lambda alpha: float(self.objective({"alpha": num.mid(alpha)})))}

    def ridge(self, t: float) -> float:
        """μ = (nλm/2) t^{m−2}: the kernel ridge parameter nλ' that has the same penalised solution, when ‖f‖ = t > 0; 0 for t = 0."""
        if t == 0.0:
            return 0.0
        log_mu = math.log(len(self.targets) * self.regularization * self.power / 2.0) + (self.power - 2.0) * math.log(t)
        return math.exp(min(log_mu, 700.0))

    def _fitting(self, fitted: Array, square: float) -> float:
        """μ = ⟨y − f, f⟩/t² for t² > 0."""
        return max(float((self.targets - fitted) @ fitted) / square, 0.0) if square > 0.0 else 0.0

    def multipliers(self, point: Point) -> Multipliers | None:
        """The best of v = (2μ/n)α, v = (2/n)(y − Kα) and, if K's factor is at hand, a mixture (`squares.candidates`); None for λt^m, m < 1.

        At α = 0, and where a norm of 1e-9 should be one of 1e-1200 (m near 1), μ says nothing and the second is best.
        """
        if not self.bound.convex:
            return None
        alpha = np.asarray(point["alpha"], dtype=float)
        fitted = FLOAT.matvec(self.gram, alpha)
        square = FLOAT.dot(alpha, fitted)
        mu = self.ridge(math.sqrt(FLOAT.pos(square))) if isinstance(self.bound, PowerPenalty) else self._fitting(fitted, square)
        return min(squares.candidates(self.gram, self.targets, alpha, mu), key=lambda v: _or_infinite(self.gap({"alpha": alpha}, v)))

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v); for λt first with v scaled to s ≤ λ, for λt^m, m < 1, only D = 0 is known."""
        if not self.bound.convex:
            return num.lift(0.0)
        v, s = self._feasible(num, num.lift(multipliers["predictions"]))
        linear = squares.dual_term(num, v, num.lift(self.targets), len(self.targets))
        return linear - self.bound.conjugate(num, s) if self.bound.steepest == math.inf else linear

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(n/4)‖v − (2/n)(y − Kα)‖² + [ρ(t) + ρ*(s) − st] + (t/2s)‖v − (s/t)α‖²_K."""
        if not self.bound.convex:
            return self.objective(point, num)
        alpha = num.lift(point["alpha"])
        if squares.all_zero(num, self.targets, alpha, num.lift(multipliers["predictions"])):
            return num.lift(0.0)
        v, s = self._feasible(num, num.lift(multipliers["predictions"]))
        fitted = num.matvec(self.gram, alpha)
        t = self.bound.norm(num, alpha, fitted)
        first = squares.misfit(num, v, num.lift(self.targets) - fitted, len(self.targets))
        return first + self.bound.fenchel_young(num, t, s) + power_units.angle(num, self.gram, alpha, v, t, s)

    def _feasible(self, num: Arithmetic, v: Value) -> tuple[Value, Value]:
        """v and s = ‖v‖_K, scaled into the domain of ρ*."""
        s = num.sqrt(squares.squared_norm(num, self.gram, v))
        if num.upper(s) > self.bound.steepest:
            shrink = num.lift(self.bound.steepest / num.upper(s) * (1.0 - 4e-16))
            return v * shrink, s * shrink
        return v, s

    def distance(self, gap: float, point: Point | None = None) -> float:
        """Radius of a ball around f in H that holds f* (see `simopt.model.uniform_convexity`).

        In the ball the smaller of 2B and what `ball_distance` gives for the multipliers that the point suggests; 2B without a point.
        """
        if isinstance(self.bound, PowerBall):
            suggested = None if point is None else self.multipliers(point)
            return 2.0 * self.norm_bound if point is None or suggested is None else self.ball_distance(point, suggested)
        t = None if point is None else math.sqrt(squares.squared_norm(FLOAT, self.gram, np.asarray(point["alpha"], dtype=float)))
        upper = self.scale() + gap if point is None else float(self.objective(point))
        return uniform_convexity.distance(max(gap, 0.0), t, self.regularization, self.power, upper)

    def ball_distance(self, point: Point, multipliers: Multipliers) -> float:
        r"""R with ‖f − f*‖_H ≤ R = min(2B, 2√(2Bg/s)) in the ball, where g = P(f) − D(v) and s = ‖v‖_H.

        The objective is not strongly convex in H, but the ball is: for ‖f‖ ≤ B the last two terms of the gap are Bs − ⟨v, f⟩. Then
            ‖f − (B/s)v‖² = ‖f‖² + B² − (2B/s)⟨v, f⟩ ≤ (2B/s)(Bs − ⟨v, f⟩) ≤ (2B/s)(P(f) − D(v)).
        f and f* both have P − D(v) ≤ g, so both lie within √(2Bg/s) of (B/s)v. If the ball is not active, g ≥ s(B − t) keeps R large
        however small s is. (A lower bound of s: that of a v in the null space of K is rounding.)
        """
        bound = self.norm_bound
        s = INTERVAL.lower(INTERVAL.sqrt(squares.squared_norm(INTERVAL, self.gram, INTERVAL.lift(multipliers["predictions"]))))
        gap = float(self.gap(point, multipliers))
        return min(2.0 * bound, 2.0 * math.sqrt(2.0 * bound / s * gap)) if s > 0.0 and gap >= 0.0 else 2.0 * bound

    def normalised(self) -> tuple[Self, Rescale]:
        """y/σ and K/κ with powers of two: λ' = λσ^{m−2}κ^{−m/2}, Γ' = Γ(√κ/σ)^m, α = α'σ/κ, values × σ² (see `power_units.units`)."""
        sigma, kappa = power_units.units(self.gram, self.targets, self.power, strength=self.regularization, radius=self.radius)
        gram, bound = gram_factor.rescaled(self.gram, 1.0 / kappa), self.bound.in_units(1.0 / sigma, 1.0 / kappa)
        return replace(self, gram=gram, targets=self.targets / sigma, bound=bound), squares.kernel_rescale(sigma, kappa)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Powers below and above 2, m = 1, rank-deficient kernels, active and inactive balls; y = 0, KY = 0 and one sample."""
        kind = cls.either(penalty=PowerPenalty, ball=PowerBall)
        gaussian, y = recipes.small_kernel(rng, 14)
        for m, number in cls.either(
            penalty=((1.5, 1e-2), (3.0, 1e-3), (1.1, 0.05), (2.0, 1e-2), (1.0, 0.1)),
            ball=((1.5, 1.0), (3.0, 2.0), (2.0, 1.0), (1.0, 0.5)),
        ):
            yield Example(f"m = {m:g}", cls(gaussian, y, kind(number, m)))
        features = rng.normal(size=(10, 3))
        name, number = cls.either(penalty=("rank 3, m = 2.5", 0.1), ball=("inactive ball", 30.0))
        yield Example(name, cls(features @ features.T, features[:, 0] + 0.3 * rng.normal(size=10), kind(number, 2.5)))
        yield Example("one sample", cls(np.ones((1, 1)), np.array([2.0]), kind(0.5, 3.0)))
        if kind is PowerPenalty:
            yield Example("m = 1 with solution 0", cls(gaussian, y, PowerPenalty(10.0, 1.0)), degenerate=True)
        yield Example("zero targets", cls(gaussian, np.zeros(14), kind(cls.either(penalty=1e-2, ball=1.0), 1.5)), degenerate=True)
        yield Example("K y = 0", cls(np.ones((2, 2)), np.array([1.0, -1.0]), kind(0.1, 3.0)), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the targets and of the kernel, permutation, duplication."""

        def scale_targets(problem: Any, s: float) -> Image:
            both = squares.scaling(alpha=s, predictions=s)
            return Image(replace(problem, targets=problem.targets * s, bound=problem.bound.in_units(s, 1.0)), s * s, both, both)

        def scale_kernel(problem: Any, rng: np.random.Generator) -> Image:
            c = float(4.0 ** rng.integers(-10, 11))
            image = replace(problem, gram=problem.gram * c, bound=problem.bound.in_units(1.0, c))
            return Image(image, 1.0, squares.scaling(alpha=1.0 / c))

        by_targets, by_kernel = cls.either(penalty=("λ × s^(2−m)", "λ × c^(m/2)"), ball=("Γ × s^m", "Γ × c^(−m/2)"))
        scalings = [change_of_units(f"targets × s, {by_targets}", scale_targets), Law(f"kernel × c, {by_kernel}", scale_kernel)]
        return scalings + squares.sample_laws("targets")

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 1000,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_RECIPES,
        radius: float | None = None,
        regularization: float | None = None,
        power: float = 1.5,
    ) -> Self:
        """Recipe: rows and kernel as for kernel ridge regression; λ = 1e-2 and m of the paper's Figure 1.

        In the ball B = ½‖y‖²/√(yᵀKy), half the norm at which cKy reaches y.
        """
        inputs, targets = recipes.sample(dataset, rng, samples, standardise)
        K = recipes.gram(inputs, similarity)
        if cls.key == "penalty":
            return cls(K, targets, cls.bounded(PowerPenalty(1e-2, power), radius=radius, regularization=regularization))
        energy = math.sqrt(max(float(targets @ (K @ targets)), 0.0))
        usual = (0.5 * float(targets @ targets) / energy) ** power if energy > 0 else 1.0
        return cls(K, targets, cls.bounded(PowerBall(usual, power), radius=radius, regularization=regularization))


def _or_infinite(gap: float) -> float:
    return math.inf if math.isnan(gap) else gap
