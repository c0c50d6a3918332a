"""Kernel regression of Nadaraya and Watson as a convex programme, for similarities of either sign."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import Axes, Targets
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, Law, Problem, Rescale, problem
from simopt.problems import recipes
from simopt.problems.domains import weighted_mean
from simopt.problems.norms import squares

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class KernelRegression(Problem):
    r"""min_c ½ Σ_q σ_q Σ_i K(x_q, x_i) (c_q − y_i)²,   σ_q = sign s_q,  s_q = Σ_i K(x_q, x_i) ≠ 0;   solved by c_q = Σ_i K_qi y_i / s_q.

    The signs σ express that the predictor Σ_i y_i K_qi / Σ_i K_qi is the same for K and for −K. But without σ the programme of K is convex
    in c_q only where s_q > 0. The one of −K is its negative, concave and unbounded below, and the predictor is its *worst* point. Take a
    similarity with negative values, such as the Manhattan −‖x − x'‖₁. Kernel regression is then a weighted mean with the weights −K, that
    is ‖x − x'‖₁: it trusts the points that are *least* similar most. `negative_queries` lists the queries that this happens to. Single K_qi
    may have the other sign than s_q; the predictions may then leave the range of y.

    Dual: with z_q = √|s_q| c_q (multipliers a) and t_q = Σ_i K_qi y_i the objective is ½‖z‖² − Σ σ_q t_q c_q + ½ Σ_q σ_q Σ_i K_qi y_i²,
        min_z ½‖z‖² + aᵀz = −½‖a‖².   c is free, which asks for √|s_q| a_q = −σ_q t_q, the normal equation of query q. So
        D(a) = ½ Σ_q σ_q Σ_i K_qi y_i² − ½‖a‖²   at the only feasible a, to which all multipliers are repaired.
    The gap is ½ Σ_q |s_q| (c_q − t_q/s_q)².

    Parameters
    ----------
    similarities : (m, n) array
        K_qi of m queries to n samples. No row may sum to 0 (to rounding): the predictor is not defined there.
    targets : (n,) array
        y.

    Point {"c": (m,)}, multipliers {"predictions": (m,)}. Scale: ½ Σ_q Σ_i |K_qi| (y_i − ȳ)², which is the objective at c = ȳ, the mean, if
    no row has both signs (otherwise that may be negative). If y is constant, restore returns that constant.
    Source: Nadaraya 1964, Watson 1964; Kar & Jain 2012, §4, the baseline KR.
    """

    name: ClassVar[str] = "kernel-regression"
    title: ClassVar[str] = "kernel regression (Nadaraya–Watson)"
    source: ClassVar[str] = "Kar & Jain 2012, §4; Nadaraya 1964, Watson 1964"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    by_hand: ClassVar[str] = "time: the optimum is a closed form, found before its declaration is read"

    similarities: Annotated[Array, Axes("m", "n"), validate.squarable]
    targets: Targets

    @property
    def growth(self) -> int:
        """Squares."""
        return 2

    def __post_init__(self) -> None:
        super().__post_init__()
        empty = weighted_mean.without_weight(self.similarities)
        if empty.any():
            raise weighted_mean.undefined(self.similarities, empty)

    @cached_property
    def signs(self) -> Array:
        """σ_q = ±1, shape (m,)."""
        return np.where(np.sum(self.similarities, axis=1) > 0, 1.0, -1.0)

    @property
    def negative_queries(self) -> NDArray[np.intp]:
        """Queries q with Σ_i K_qi < 0: the weights of their means are −K."""
        return np.flatnonzero(self.signs < 0)

    @cached_property
    def centre(self) -> float:
        """ȳ, exact for constant targets."""
        return weighted_mean.centre(self.targets)

    def deviations(self, num: Arithmetic) -> Value:
        """y − ȳ."""
        return num.lift(self.targets) - num.lift(self.centre)

    def row_sums(self, num: Arithmetic) -> Value:
        """|s_q|."""
        return num.matvec(self.similarities, num.lift(np.ones(len(self.targets)))) * num.lift(self.signs)

    def pulls(self, num: Arithmetic) -> Value:
        """σ_q Σ_i K_qi (y_i − ȳ)."""
        return num.matvec(self.similarities, self.deviations(num)) * num.lift(self.signs)

    def mean_square_deviation(self, num: Arithmetic) -> Value:
        """½ Σ_q σ_q Σ_i K_qi (y_i − ȳ)²."""
        d = self.deviations(num)
        return num.dot(num.rmatvec(self.similarities, num.lift(self.signs)), d * d) / 2

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise ½‖z‖² − Σ σ_q t_q c_q + ½ Σ_q σ_q Σ_i K_qi y_i² subject to predictions z == √|s| ∘ c."""
        import cvxpy as cp

        m = len(self.similarities)
        c, z = cp.Variable(m, name="c"), cp.Variable(m, name="z")
        roots, pulls, mean_square_deviation = self._moments()
        predictions = (z == cp.multiply(roots, c)).set_label("predictions")
        return cp.Problem(cp.Minimize(cp.sum_squares(z) / 2 - pulls @ c + mean_square_deviation), [predictions])

    def _moments(self) -> tuple[Array, Array, float]:
        """√|s|, σ∘t and ½ Σ σ K y², of y as it is."""
        K, y = self.similarities, self.targets
        return np.sqrt(np.abs(K.sum(axis=1))), self.signs * (K @ y), 0.5 * float((self.signs @ K) @ y**2)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """½ Σ_q σ_q Σ_i K_qi (c_q − y_i)², expanded around ȳ."""
        e = num.lift(point["c"]) - num.lift(self.centre)
        return num.dot(self.row_sums(num) * e, e) / 2 - num.dot(self.pulls(num), e) + self.mean_square_deviation(num)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """c itself, since every c is feasible; the constant of constant targets."""
        return {"c": num.lift(np.full(len(self.similarities), self.centre)) if self._constant else num.lift(point["c"])}

    @property
    def _constant(self) -> bool:
        return bool(np.all(self.targets == self.targets[0]))

    def multipliers(self, point: Point) -> Multipliers:
        """a_q = −σ_q t_q/√|s_q|, whatever the point."""
        roots, pulls, _ = self._moments()
        return {"predictions": -pulls / roots}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """½ Σ_q σ_q Σ_i K_qi (y_i − ȳ)² − ½ Σ_q t'_q²/|s_q| with t'_q = Σ_i K_qi (y_i − ȳ): the optimum, from any multipliers."""
        pulls = self.pulls(num)
        return self.mean_square_deviation(num) - num.sum(pulls * pulls / self.row_sums(num)) / 2

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """½ Σ_q |s_q| (c_q − t_q/s_q)²."""
        if self._constant and not np.any(np.asarray(num.mid(num.lift(point["c"]))) - self.centre):
            return num.lift(0.0)
        sums = self.row_sums(num)
        off = num.lift(point["c"]) - num.lift(self.centre) - self.pulls(num) / sums
        return num.dot(sums * off, off) / 2

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖c − c*‖ ≤ √(2 gap/min_q |s_q|)."""
        return math.sqrt(2.0 * max(gap, 0.0) / float(np.min(self.row_sums(FLOAT))))

    def trivial_point(self) -> Point:
        """c_q = ȳ for every query."""
        return {"c": np.full(len(self.similarities), self.centre)}

    def scale(self) -> float:
        """½ Σ_q Σ_i |K_qi| (y_i − ȳ)²."""
        return 0.5 * float(np.sum(np.abs(self.similarities), axis=0) @ (self.targets - self.centre) ** 2)

    def normalised(self) -> tuple[KernelRegression, Rescale]:
        """(y − ȳ)/σ and K/κ with powers of two: c = c'σ + ȳ, values × κσ²; a = √κ(σa' − √|s'| ȳ)."""
        sigma = squares.power_of_two(squares.largest(self.targets - self.centre))
        kappa = squares.power_of_four(squares.largest(self.similarities))
        natural = KernelRegression(self.similarities / kappa, (self.targets - self.centre) / sigma)
        root, centre = math.sqrt(kappa), self.centre

        def point(values: Point) -> Point:
            rest = {"z": root * (np.asarray(values["z"]) * sigma + natural._moments()[0] * centre)} if "z" in values else {}
            return {"c": np.asarray(values["c"]) * sigma + centre, **rest}

        def multipliers(values: Multipliers) -> Multipliers:
            return {"predictions": root * (np.asarray(values["predictions"]) * sigma - natural._moments()[0] * centre)}

        return natural, Rescale(point, multipliers)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """A Gaussian, −1-norms, both signs in a row, far from 0; constant targets, one sample."""
        yield from (Example(name, cls(K, y), degenerate) for name, K, y, degenerate in weighted_mean.instances(rng))

    @classmethod
    def laws(cls) -> list[Law]:
        """K → −K changes nothing; scaling of targets and of similarities; shift of the targets; permutations; duplication."""
        return weighted_mean.laws()

    def with_data(self, similarities: Array, targets: Array) -> Self:
        """The same problem with other data."""
        return replace(self, similarities=similarities, targets=targets)

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 1000,
        queries: float = 0.2,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        shift: float = 0.0,
    ) -> Self:
        """Recipe: at most `samples` rows (None: all), standardised; a random fraction `queries` of them is predicted from the others.

        K is a Gaussian with Kar & Jain's σ, plus `shift`; "sigmoid" and "manhattan" are those of the paper. Targets stay as they are.
        """
        inputs, targets = recipes.sample(dataset, rng, samples, standardise)
        known, asked = weighted_mean.split(len(targets), queries, rng)
        K = recipes.resolve(similarity, inputs[known])(inputs[asked], inputs[known])
        return cls(K + validate.finite("shift", shift), targets[known])
