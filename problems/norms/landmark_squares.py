r"""Least squares on landmark features, whatever bounds w: (1/n)‖y − Ψw‖², its conjugate, and what both forms share.

With a multiplier v of the row f = Ψw, min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖² at f = y − (n/2)v, and w is left with R(w) − ⟨Ψᵀv, w⟩.
A point suggests v = (2/n)(y − Ψw), for which the squares of the gap vanish. With K = ΨΨᵀ and w = Ψᵀα this is regression in the RKHS of K:
the penalised form is `KernelRidge` with the same λ, the ball is `MPowerRLSBall` with m = 1 and Γ = B. n is the number of samples, or, for
rankings, of queries: the loss of a query is the sum over its documents (`count`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import Arithmetic
from simopt.data.landmarks import equal_columns
from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array, Multipliers, Point
from simopt.problems.cases import recipes
from simopt.problems.norms import squares, vectors
from simopt.solving.problem import Image, Law, Problem, Rescale, change_of_units, freeze, laws_of_samples

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

Value = Any


class LandmarkSquares(Problem):
    """Formulas of both forms; a form declares the fields, in the order of its formula, and adds what bounds w."""

    features: Array
    targets: Array

    @property
    def count(self) -> int:
        """n of the formulas, by which the sum of squares is divided: the number of samples, unless a problem says otherwise."""
        return len(self.targets)

    def _check(self) -> None:
        targets = validate.squarable("targets", validate.vector("targets", self.targets))
        features = validate.squarable("features", validate.matrix("features", self.features, rows=len(targets)))
        freeze(self, features=features, targets=targets)

    @abstractmethod
    def in_units(self, s: float, c: float) -> Self:
        """The same problem with y multiplied by s and Ψ by c: values × s², w × s/c, v × s."""

    def residual(self, num: Arithmetic, w: Value) -> Value:
        """y − Ψw."""
        return num.lift(self.targets) - num.matvec(self.features, w)

    def loss(self, num: Arithmetic, w: Value) -> Value:
        """(1/n)‖y − Ψw‖²."""
        return squares.mean_square(num, self.residual(num, w), self.count)

    def fixed_part(self, num: Arithmetic, v: Value) -> Value:
        """vᵀy − (n/4)‖v‖²."""
        return squares.conjugate(num, v, num.lift(self.targets), self.count)

    def square_gap(self, num: Arithmetic, w: Value, v: Value) -> Value:
        """(n/4)‖v − (2/n)(y − Ψw)‖²."""
        return squares.misfit(num, v, self.residual(num, w), self.count)

    def settled(self, num: Arithmetic, w: Value, v: Value) -> bool:
        """Whether y, w and v are all 0: then every term of the gap is 0, also where radii of intervals would say otherwise."""
        return squares.all_zero(num, self.targets, w, v)

    def multipliers(self, point: Point) -> Multipliers:
        """v = (2/n)(y − Ψw)."""
        residual = self.targets - self.features @ np.asarray(point["w"], dtype=float)
        return {"predictions": residual * (2.0 / self.count)}

    @property
    def duplicates(self) -> tuple[tuple[int, int], ...]:
        """Pairs (i, j) of equal features, i the first of its kind: landmarks that were drawn twice, or are alike to every sample."""
        return equal_columns(self.features)

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"w": np.zeros(self.features.shape[1])}

    def target_unit(self) -> float:
        """A power of two near max |y_i|."""
        return squares.power_of_two(squares.largest(self.targets))

    def normalised(self) -> tuple[Self, Rescale]:
        """y/σ and Ψ/κ with powers of two near max |y_i| and max ‖ψ_i‖: w = w'σ/κ, f = f'σ, v = v'σ, values × σ².

        κ = 1, and Ψ itself, where that is nearly so (see `vectors.row_unit`).
        """
        sigma = self.target_unit()
        kappa = vectors.row_unit(self.features)
        back = Rescale(squares.times(w=sigma / kappa, f=sigma), squares.times(predictions=sigma))
        return self.in_units(1.0 / sigma, 1.0 / kappa), back

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the targets and of the features together with what bounds w; sign; permutation; duplication."""

        def scale_targets(problem: Any, s: float) -> Image:
            both = squares.times(w=s, predictions=s)
            return Image(problem.in_units(s, 1.0), s * s, both, both)

        def scale_features(problem: Any, rng: np.random.Generator) -> Image:
            c = float(2.0 ** rng.integers(-20, 21))
            return Image(problem.in_units(1.0, c), 1.0, squares.times(w=1.0 / c))

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            both = squares.times(w=-1.0, predictions=-1.0)
            return Image(replace(problem, targets=-problem.targets), 1.0, both, both)

        def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
            image = replace(problem, features=problem.features[order], targets=problem.targets[order])
            return Image(image, 1.0, multipliers=lambda values: {"predictions": np.asarray(values["predictions"])[order] * weight})

        return [
            change_of_units("targets × s", scale_targets),
            Law("features × c", scale_features),
            Law("targets × −1", mirror),
            *laws_of_samples(select, "targets"),
        ]


def instances(rng: np.random.Generator) -> Iterator[tuple[str, Array, Array, bool]]:
    """Name, features, targets, degenerate."""
    features, targets = recipes.small_regression(rng, 24, 3)
    yield "three features", features, targets, False
    wide, some = recipes.small_regression(rng, 6, 10)
    yield "more features than samples", wide, some, False
    yield "equal features", np.repeat(features, 2, axis=1), targets, False
    yield "one sample", np.ones((1, 1)), np.array([4.0]), False
    yield "zero targets", features, np.zeros(24), True
    yield "zero features", np.zeros((5, 2)), np.arange(5.0), True


def recipe(
    dataset: Dataset,
    rng: np.random.Generator,
    samples: int | None,
    landmarks: int | None,
    standardise: bool,
    similarity: str | Similarity,
) -> tuple[Array, Array, float]:
    """Features, targets centred at their mean (w has no intercept), and the standard deviation of the targets (1 where it is 0)."""
    features, targets = recipes.landmarked(dataset, rng, samples, landmarks, standardise, similarity)
    return features, targets - np.mean(targets), float(np.std(targets)) or 1.0
