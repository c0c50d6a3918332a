"""Convex potentials of linear classifiers on a finite distribution, with ‖w‖ bounded."""

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
from simopt.core.fields import Features, Labels, NonNegative, Number, OneOf, Positive, arguments
from simopt.model.problem import ALL_CONES, Example, Image, Law, Problem, Rescale, change_of_units, freeze, laws_of_samples, problem
from simopt.problems import recipes
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.losses.margin_losses import POTENTIALS, MarginPotential
from simopt.problems.norms import squares, vectors

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class ConvexPotential(Problem):
    r"""min over ‖w‖₂ ≤ B of Σ_i p_i φ(y_i⟨w, x_i⟩),   φ one of hinge, logistic, exponential, squared-hinge,  y_i = ±1.

    Dual: φ(z) = max_s −sz − φ*(−s) over s ≥ 0 in the domain of the conjugate (losses/margin_losses.py lists both). With a_i = p_i s_i and
    z_i = y_i⟨w, x_i⟩, exchange min and max, and minimise −⟨Σ a_i y_i x_i, w⟩ over the ball. That leaves
        D(a) = −Σ p_i φ*(−a_i/p_i) − B ‖Σ a_i y_i x_i‖,     0 ≤ a_i (≤ p_i for hinge and logistic),
    a_i the multiplier of a row z_i = y_i⟨w, x_i⟩. For the hinge D = Σ a_i − B‖·‖, for the squared hinge Σ a_i − a_i²/(4p_i) − B‖·‖. The gap
    is Σ of the Fenchel–Young remainders p_i(φ(z_i) + φ*(−a_i/p_i)) + a_i z_i, plus B‖g‖ − ⟨g, w⟩ with g = Σ a_i y_i x_i, all ≥ 0. D(0) = 0,
    so that an a with D(a) < 0 is replaced by 0. A point suggests a_i = −p_i φ'(z_i). That is exact, except at the kink of the hinge: there
    a point does not determine the multiplier.

    Parameters
    ----------
    features : (n, d) array
        rows x_i.
    labels : (n,) array
        y_i = ±1; one class is allowed.
    probabilities : (n,) array, optional
        p_i ≥ 0 with sum 1 (to 1e-9; the floats given are the data, exactly); None: 1/n each.
    potential : str
        "hinge", "logistic", "exponential" or "squared-hinge".
    radius : float
        B > 0; large enough (‖w‖ < B at the solution) it is the unconstrained problem.

    Point {"w": (d,)}, multipliers {"margins": (n,)}. Scale: φ(0) Σ p, the loss at w = 0. Objectives of the hinges can be had in fractions.
    Source: van Rooyen, Menon & Williamson 2015, §4.4, Definition 9 and §9; Long & Servedio 2010.
    """

    name: ClassVar[str] = "convex-potential"
    title: ClassVar[str] = "a convex potential of the margin on a finite distribution, ‖w‖ ≤ B"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §4.4 and §9"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("radius",)
    by_hand: ClassVar[str] = "time: a derived certificate has to read the declaration, find a point inside and repair its multipliers"

    features: Features
    labels: Labels
    probabilities: Probabilities | None = None
    potential: Annotated[str, OneOf(POTENTIALS)] = "hinge"
    radius: Positive = 1.0

    @property
    def growth(self) -> int:
        """φ(0) is a constant of the loss, whatever the data are."""
        return 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.probabilities is None:
            freeze(self, probabilities=np.full(len(self.labels), 1.0 / len(self.labels)))

    @property
    def phi(self) -> MarginPotential:
        """φ and its conjugate."""
        return POTENTIALS[self.potential]

    @property
    def mass(self) -> Array:
        """p, shape (n,)."""
        return np.asarray(self.probabilities)

    @cached_property
    def support(self) -> NDArray[np.intp]:
        """Indices of the samples with p_i > 0; the others count for nothing, even where φ overflows."""
        return np.flatnonzero(self.mass > 0)

    @cached_property
    def _signed(self) -> Array:
        """Rows y_i x_i of the samples with p_i > 0."""
        return (self.labels[:, None] * self.features)[self.support]

    @property
    def _support_masses(self) -> Array:
        return self.mass[self.support]

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise Σ p φ(z) s.t. `margins` z = y∘(Xw) and the `ball` ‖w‖ ≤ B; samples of mass 0 count for nothing.

        Raises
        ------
        InvalidProblem
            for logistic and exponential without the exponential cone.
        """
        import cvxpy as cp

        if self.phi.exponential_cone and "exp" not in cones:
            raise InvalidProblem(f"potential: {self.potential} needs the exponential cone, which this solver lacks")
        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
        w, z = cp.Variable(self.features.shape[1], name="w"), cp.Variable(len(self.labels), name="z")
        t = z[self.support]
        phi = {
            "hinge": cp.pos(1 - t),
            "squared-hinge": cp.square(cp.pos(1 - t)),
            "logistic": cp.logistic(-t),
            "exponential": cp.exp(-t),
        }[self.potential]
        rows = [(z == (self.labels[:, None] * self.features) @ w).set_label("margins"), (cp.norm(w, 2) <= radius).set_label("ball")]
        return cp.Problem(cp.Minimize(self._support_masses @ phi), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """Σ p φ(y⟨w, x⟩)."""
        return num.dot(num.lift(self._support_masses), self.phi.value(num, num.matvec(self._signed, num.lift(point["w"]))))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w, drawn back into the ball if it lies outside."""
        return {"w": vectors.inside_ball(num, np.asarray(num.mid(num.lift(point["w"])), dtype=float).reshape(-1), self.radius)}

    def multipliers(self, point: Point) -> Multipliers:
        """a = −p φ'(z), 0 where p = 0."""
        a = np.zeros(len(self.labels))
        a[self.support] = self._support_masses * self.phi.slope(self._signed @ np.asarray(point["w"], dtype=float))
        return {"margins": a}

    def _admitted_multipliers(self, multipliers: Multipliers) -> Array:
        """a of the samples with p_i > 0, in the domain of the conjugate; 0 if D(a) < 0 (in floats: the same a in every arithmetic)."""
        a = self.phi.admitted_multipliers(self._support_masses, np.asarray(multipliers["margins"], dtype=float).reshape(-1)[self.support])
        return a if self._bound(FLOAT, a) > 0.0 else np.zeros_like(a)

    def _bound(self, num: Arithmetic, a: Array) -> Value:
        fixed = num.sum(self.phi.conjugate(num, self._support_masses, a)) * -1
        return fixed - num.norm(num.rmatvec(self._signed, num.lift(a))) * num.lift(self.radius)

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """−Σ p φ*(−a/p) − B‖Σ a_i y_i x_i‖ with a clipped into the domain of the conjugate, or 0: potentials are not negative."""
        a = self._admitted_multipliers(multipliers)
        return self._bound(num, a) if np.any(a) else num.lift(0.0)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ of the Fenchel–Young remainders, plus B‖g‖ − ⟨g, w⟩."""
        w, a = num.lift(point["w"]), self._admitted_multipliers(multipliers)
        remainder = num.sum(self.phi.slack(num, self._support_masses, a, num.matvec(self._signed, w)))
        return remainder + vectors.ball_term(num, w, num.rmatvec(self._signed, num.lift(a * -1.0)), self.radius)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B: the loss is not strongly convex on the whole ball, and all that is known is the ball."""
        return 2.0 * self.radius

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"w": np.zeros(self.features.shape[1])}

    def normalised(self) -> tuple[ConvexPotential, Rescale]:
        """X/κ with a power of two near max ‖x_i‖ (near 1/B if X = 0), B κ: w = w'/κ; margins, values and multipliers unchanged."""
        kappa = squares.power_of_two(vectors.largest_row(self.features) or 1.0 / self.radius)
        return self._in_units(1.0 / kappa), Rescale(squares.scaling(w=1.0 / kappa))

    def _in_units(self, c: float) -> Self:
        return replace(self, features=self.features * c, radius=self.radius / c)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Each potential on Long and Servedio's three points with noise and on random ones, small and large balls; X = 0, p_i = 0."""
        corner, labels, mass = three_points(0.1, 0.2)
        features = rng.normal(size=(20, 3)) / np.sqrt(3)
        noisy = np.where(features @ np.array([1.0, -1.0, 0.5]) + 0.5 * rng.normal(size=20) > 0, 1.0, -1.0)
        weights = rng.exponential(size=20)
        for potential in POTENTIALS:
            yield Example(f"{potential}: three points, inactive ball", cls(corner, labels, mass, potential, 3.0))
            yield Example(f"{potential}: random, small ball", cls(features, noisy, weights / weights.sum(), potential, 0.5))
            yield Example(f"{potential}: random, large ball", cls(features, noisy, None, potential, 30.0))
            yield Example(f"{potential}: zero features", cls(np.zeros((3, 2)), labels[:3], None, potential), degenerate=True)
        yield Example("one class", cls(features, np.ones(20), None, "logistic", 2.0))
        yield Example("a sample of no mass", cls(np.eye(3), np.ones(3), np.array([0.5, 0.0, 0.5]), "logistic"), degenerate=True)
        opposed = cls(np.ones((2, 1)), np.array([1.0, -1.0]), None, "exponential")
        yield Example("contradicting labels", opposed, degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of the features, change of all labels and features, permutation, duplication."""

        def by(problem: Any, s: float) -> Image:
            return Image(problem._in_units(s), 1.0, squares.scaling(w=1.0 / s))

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, labels=-problem.labels, features=-problem.features))

        def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
            fields = {name: getattr(problem, name)[order] for name in ("features", "labels")}
            image = replace(problem, probabilities=problem.mass[order] * weight, **fields)
            return Image(image, 1.0, multipliers=lambda given: {"margins": np.asarray(given["margins"])[order] * weight})

        return [change_of_units("features × s", by), Law("labels and features × −1", mirror), *laws_of_samples(select, "labels")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = True,
        potential: str = "logistic",
        radius: float = 10.0,
    ) -> Self:
        """Recipe: at most `samples` rows, standardised and divided by √d so that ‖x‖ is about 1, each of probability 1/n.

        Labels are targets that are ±1; of two other values the larger is +1; else whether the target is above its median. No intercept.
        """
        inputs, labels = recipes.binary_sample(dataset, rng, samples, standardise)
        return cls(inputs / np.sqrt(inputs.shape[1]), labels, None, potential, radius)


@arguments
def three_points(gamma: Number, noise: NonNegative) -> tuple[Array, Array, Array]:
    """Long and Servedio's points (1, 0), (γ, 5γ), (γ, −γ) of mass ¼, ¼, ½ and label 1, each label changed with probability `noise`.

    Returns features (6, 2), labels (6,) and probabilities (6,): the clean copies first.
    """
    points = np.array([[1.0, 0.0], [gamma, 5.0 * gamma], [gamma, -gamma]])
    mass = np.array([0.25, 0.25, 0.5])
    return np.vstack([points, points]), np.repeat([1.0, -1.0], 3), np.concatenate([mass * (1.0 - noise), mass * noise])
