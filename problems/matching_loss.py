"""The matching loss of a generalised linear model with known transfer function, ‖w‖ bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Features, OneOf, Positive, Targets
from simopt.model.gap_unit import ratio
from simopt.model.problem import ALL_CONES, Example, Image, Law, Problem, Rescale, change_of_units, laws_of_samples, problem
from simopt.problems import recipes
from simopt.problems.losses import gaussian
from simopt.problems.losses.transfers import TRANSFERS, Integrated
from simopt.problems.norms import squares, vectors
from simopt.problems.sample_weights import SampleWeights, Weights, in_parts

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

SEVERAL = 16.0  # units of the transfer: where sizes of terms are added up, a prediction f counts as at most this
WIDEST = 500  # features beyond which the point's multipliers are not corrected by a Newton step, which costs d³


@problem
@dataclass(frozen=True, eq=False)
class MatchingLoss(Problem):
    r"""min over ‖w‖₂ ≤ W of (1/m) Σ_i U(⟨w, x_i⟩) − y_i⟨w, x_i⟩,   U' = u the transfer function.

    u non-decreasing makes U convex; the gradient is (1/m) Σ (u(⟨w, x_i⟩) − y_i) x_i, so that a step of GLM-tron is one of gradient descent.
    Dual: U(f) = max_s sf − U*(s). With f = Xw, exchange min and max, and minimise (1/m)⟨Xᵀ(s − y), w⟩ over the ball. That leaves
        D(s) = −(1/m) Σ U*(s_i) − W‖g‖,   g = (1/m) Xᵀ(s − y),   s_i in the domain of U* ([0, 1], but ℝ for the identity),
    with multipliers (y − s)/m of the row f = Xw. The gap is the sum of the Fenchel–Young remainders and of what the ball leaves, all ≥ 0:
        P − D = (1/m) Σ [U(f_i) + U*(s_i) − s_i f_i] + W‖g‖ + ⟨g, w⟩.
    A point suggests s = u(f), for which only the last part is left, or s = u(f) + u'(f)∘Xv with the Newton step v. (H + μI)v = −(g + μw),
    H = (1/m) Σ u'(f_i) x_i x_iᵀ, μ ≥ 0 the ball's multiplier. The gap of the second is of second order (problems/losses/transfers.py lists
    U and U*).

    Parameters
    ----------
    features : (m, d) array
        rows x_i; for a kernel, the rows of a factor F of its Gram matrix, K = FFᵀ.
    targets : (m,) array
        y_i, in [0, 1] but for the identity.
    transfer : str
        "identity", "logistic", "probit" or "clipped" ((1 + t)/2 in [0, 1]).
    radius : float
        W > 0.
    weights : (m,) array, optional
        v ≥ 0, not all 0: the weight p_i = v_i/Σ v of sample i takes the place of 1/m throughout.

    Point {"w": (d,)}, multipliers {"predictions": (m,)}. Scale: U(0), the loss at w = 0; for the identity, where that is 0, mean(y²)/2.
    The probit is declared to CVXPY as a mixture of 61 logistic functions, which differs from it by 2e-7, and from U by 5e-9.
    Source: Kakade, Kalai, Kanade & Shamir 2011, Algorithm 1; Auer, Herbster & Warmuth 1996 for matching losses.
    """

    name: ClassVar[str] = "matching-loss"
    title: ClassVar[str] = "matching loss of a generalised linear model, ‖w‖ ≤ W"
    source: ClassVar[str] = "Kakade, Kalai, Kanade & Shamir 2011, Algorithm 1"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("radius",)
    by_hand: ClassVar[str] = "the probit, which is declared by a quadrature of logistics; time"

    features: Features
    targets: Targets
    transfer: Annotated[str, OneOf(TRANSFERS)] = "logistic"
    radius: Positive = 1.0
    weights: Weights | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        outside = (self.targets < 0.0) | (self.targets > 1.0)
        if self.link.bounded and np.any(outside):
            i = int(np.argmax(outside))
            raise InvalidProblem(
                f"targets: {int(outside.sum())} of {outside.size} lie outside of [0, 1], the range of the {self.transfer} transfer "
                f"(first at index {i}: {self.targets[i]:g}); rescale them, or use the identity"
            )

    @cached_property
    def sample_weights(self) -> SampleWeights:
        """1/m, or p."""
        return SampleWeights.of(len(self.targets), self.weights)

    @property
    def link(self) -> Integrated:
        """u, U and U*."""
        return TRANSFERS[self.transfer]

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/m) Σ U(f) − yf, or Σ p (U(f) − yf), s.t. `predictions` f = Xw and the `ball` ‖w‖ ≤ W.

        CVXPY has no atom for the U of the probit, tΦ(t) + φ(t): it gets a mixture of logistic functions (`gaussian.mixture`).

        Raises
        ------
        InvalidProblem
            for logistic and probit without the exponential cone.
        """
        import cvxpy as cp

        if self.link.exponential_cone and "exp" not in cones:
            raise InvalidProblem(f"transfer: {self.transfer} needs the exponential cone, which this solver lacks")
        m, d = self.features.shape
        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
        w, f = cp.Variable(d, name="w"), cp.Variable(m, name="f")
        p = np.ones(m) / m if self.weights is None else self.weights / np.sum(self.weights)
        if self.transfer == "identity":
            U = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(p), f))
        elif self.transfer == "logistic":
            U = p @ cp.logistic(f)
        elif self.transfer == "clipped":
            U = p @ cp.huber(cp.pos(1 + f) / 2, 1)
        else:
            nodes, parts = gaussian.mixture()
            spread = np.ones((nodes.size, 1)) @ cp.reshape(f, (1, m), order="C") - nodes[:, None]
            U = gaussian.WIDTH * (parts @ cp.logistic(spread / gaussian.WIDTH) @ p)
        rows = [(f == self.features @ w).set_label("predictions"), (cp.norm(w, 2) <= radius).set_label("ball")]
        return cp.Problem(cp.Minimize(U - (p * self.targets) @ f), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/m) Σ U(f) − yf."""
        f = num.matvec(self.features, num.lift(point["w"]))
        return self.sample_weights.mean(num, self.link.value(num, f)) - self.sample_weights.mean(num, num.lift(self.targets) * f)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, drawn back into the ball if it lies outside."""
        return {"w": vectors.inside_ball(num, np.asarray(num.mid(num.lift(point["w"])), dtype=float).reshape(-1), self.radius)}

    def multipliers(self, point: Point) -> Multipliers:
        """(y − s)/m, or p∘(y − s), with s = u(f), or s = u(f) + u'(f)∘Xv with the Newton step v, whichever has the smaller gap."""
        w = np.asarray(point["w"], dtype=float)
        f, p = self.features @ w, self.sample_weights.floats
        s = self.link.transfer(f)
        plain = {"predictions": (self.targets - s) * p}
        if len(w) > WIDEST:
            return plain
        g, slope = self.features.T @ ((s - self.targets) * p), self.link.slope(f)
        corrected = {"predictions": (self.targets - s - slope * (self.features @ self.newton_step(w, g, slope))) * p}
        return min((plain, corrected), key=lambda v: float(self.gap({"w": w}, v)))

    def newton_step(self, w: Array, g: Array, slope: Array) -> Array:
        """The least v with (H + μI)v = −(g + μw), H = (1/m) Σ slope_i x_i x_iᵀ, μ = [−⟨g, w⟩]_+/W² where w lies on the ball, else 0."""
        length = vectors.length_of(w)
        mu = max(0.0, -float(g @ w) / length**2) if length >= self.radius * (1.0 - 1e-9) else 0.0
        H = (self.features.T * (slope * self.sample_weights.floats)) @ self.features
        values, basis = np.linalg.eigh(H)
        invertible = (values > 1e-13 * max(float(values[-1]), 0.0)) | (mu > 0)
        inverse = np.divide(1.0, np.maximum(values, 0.0) + mu, out=np.zeros_like(values), where=invertible)
        step: Array = -basis @ (inverse * (basis.T @ (g + mu * w)))
        return step

    def _parameter(self, multipliers: Multipliers) -> Array:
        """θ of s = y − mλ, or y − λ/p, in the domain of U*; floats, the same in every arithmetic."""
        given = np.asarray(multipliers["predictions"], dtype=float).reshape(-1)
        return self.link.parameter(self.targets - self.sample_weights.per_weight(FLOAT, given))

    def _pull(self, num: Arithmetic, theta: Array) -> Value:
        """g = (1/m) Xᵀ(s − y), or Xᵀ(p∘(s − y))."""
        return num.rmatvec(self.features, (self.link.at(num, theta) - num.lift(self.targets)) * self.sample_weights.each(num))

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """−(1/m) Σ U*(s) − W‖g‖ with s clipped into the domain of U*."""
        theta = self._parameter(multipliers)
        conjugate = self.sample_weights.mean(num, self.link.conjugate(num, theta))
        return conjugate * -1 - num.norm(self._pull(num, theta)) * num.lift(self.radius)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """(1/m) Σ of the Fenchel–Young remainders, plus W‖g‖ + ⟨g, w⟩."""
        w, theta = num.lift(point["w"]), self._parameter(multipliers)
        remainder = self.sample_weights.mean(num, self.link.slack(num, theta, num.matvec(self.features, w)))
        return remainder + vectors.ball_term(num, w, self._pull(num, theta), self.radius)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2W: the loss need not be strongly convex, and all that is known is the ball."""
        return 2.0 * self.radius

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"w": np.zeros(self.features.shape[1])}

    def gap_over_terms(self, point: Point, upper: float, lower: float, gap: float) -> float:
        """Terms are U(f_i) and y_i f_i, which cancel where a prediction is certain; f counts for at most `SEVERAL` units of the transfer.

        The identity has no unit of f: its terms are taken to be ≥ 0.
        """
        over_bounds = super().gap_over_terms(point, upper, lower, gap)
        if not self.link.bounded:
            return over_bounds
        f = np.clip(self.features @ np.asarray(point["w"], dtype=float), -SEVERAL, SEVERAL)
        terms = self.sample_weights.mean(FLOAT, self.link.value(FLOAT, f)) + self.sample_weights.mean(FLOAT, np.abs(self.targets * f))
        return min(over_bounds, ratio(gap, terms))

    def scale(self) -> float:
        """U(0), for the identity mean(y²)/2."""
        if self.link.bounded:
            return float(self.objective(self.trivial_point()))
        return 0.5 * float(self.sample_weights.mean(FLOAT, np.square(self.targets)))

    def normalised(self) -> tuple[MatchingLoss, Rescale]:
        """X/κ, W κ/σ, y/σ with κ near max ‖x_i‖ and, for the identity, σ near max |y| (else 1): w = w'σ/κ, multipliers × σ."""
        sigma = 1.0 if self.link.bounded else squares.power_of_two(squares.largest(self.targets))
        kappa = squares.power_of_two(vectors.largest_row(self.features) or sigma / self.radius)
        natural = replace(self, features=self.features / kappa, targets=self.targets / sigma, radius=self.radius * (kappa / sigma))
        return natural, Rescale(squares.scaling(w=sigma / kappa, f=sigma), squares.scaling(predictions=sigma))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Each transfer with an active and an inactive ball; more features than samples; zero features, one sample, zero targets."""
        features = rng.normal(size=(14, 3)) / np.sqrt(3)
        signal = features @ np.array([1.0, -1.0, 0.5])
        labels = (rng.uniform(size=14) < TRANSFERS["logistic"].transfer(3.0 * signal)).astype(float)
        for transfer, link in TRANSFERS.items():
            scores = signal + 0.3 * rng.normal(size=14)
            yield Example(f"{transfer}: small ball", cls(features, labels, transfer, 0.5))
            yield Example(f"{transfer}: large ball", cls(features, link.transfer(scores), transfer, 20.0))
            weights = rng.integers(1, 5, size=14) / 2.0
            weights[1] = 0.0
            yield Example(f"{transfer}: weights, one of them 0", cls(features, labels, transfer, 1.0, weights))
        wide = rng.normal(size=(6, 10)) / np.sqrt(10)
        yield Example("more features than samples", cls(wide, rng.uniform(size=6), "logistic", 1.0))
        for transfer in TRANSFERS:
            yield Example(f"{transfer}: zero features", cls(np.zeros((3, 2)), np.array([0.0, 0.5, 1.0]), transfer), degenerate=True)
            yield Example(f"{transfer}: one sample", cls(np.ones((1, 1)), np.ones(1), transfer, 3.0), degenerate=True)
        yield Example("identity: zero targets", cls(features, np.zeros(14), "identity"), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of the features, their signs, permutation, duplication."""

        def by(problem: Any, s: float) -> Image:
            return Image(replace(problem, features=problem.features * s, radius=problem.radius / s), 1.0, squares.scaling(w=1.0 / s))

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, features=-problem.features), 1.0, squares.scaling(w=-1.0))

        def select(problem: Any, order: NDArray[np.intp], weight: Any) -> Image:
            own = {} if problem.weights is None else {"weights": problem.weights[order]}
            image = replace(problem, features=problem.features[order], targets=problem.targets[order], **own)
            return Image(image, 1.0, multipliers=lambda given: {"predictions": np.asarray(given["predictions"])[order] * weight})

        return [
            change_of_units("features × s", by),
            Law("features × −1", mirror),
            *laws_of_samples(select, "targets"),
            in_parts(select, "targets"),
        ]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        transfer: str = "logistic",
        radius: float = 10.0,
    ) -> Self:
        """Recipe: at most `samples` rows, standardised, with a constant feature, over √(d + 1), so that ‖x‖ is about 1.

        Targets are brought to [0, 1] by their least and greatest value, as in the paper's experiments (±1 becomes 0 and 1).
        """
        inputs, targets = recipes.sample(dataset, rng, samples, True)
        features = np.column_stack([inputs, np.ones(len(targets))]) / np.sqrt(inputs.shape[1] + 1)
        low, high = float(dataset.targets.min()), float(dataset.targets.max())
        return cls(features, (targets - low) / (high - low) if high > low else np.zeros(len(targets)), transfer, radius)
