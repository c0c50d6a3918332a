"""The mean classifier: linear loss over the unit ball."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array, Multipliers, Point
from simopt.problems import _factor, _margin_cases, _squares, _unit_ball
from simopt.problems._factor import KernelProblem
from simopt.solving.problem import ALL_CONES, Example, Law, Rescale, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

Value = Any


@problem
@dataclass(frozen=True, eq=False)
class MeanClassifier(KernelProblem):
    r"""min over ‖f‖_H ≤ 1 of (1/n) Σ_i (1 − y_i f(x_i)),   f = Σ_j α_j k(·, x_j),  y_i = ±1.

    With ω_S = (1/n) Σ y_i φ(x_i) the loss is 1 − ⟨ω_S, f⟩, so by Cauchy–Schwarz P* = 1 − ‖ω_S‖, reached at f = ω_S/‖ω_S‖: the
    classifier by average similarity. The dual, with a multiplier v of a row f = Kα, is −∞ off the single point v = y/n:
        min_f (1/n) Σ (1 − y_i f_i) + vᵀf = 1,    min over ‖f‖ ≤ 1 of −⟨v, f⟩ = −√(vᵀKv),    D = 1 − ‖ω_S‖, whatever multipliers are given.
    For ‖f‖ = t ≤ 1 the gap is ‖ω_S‖ − ⟨ω_S, f⟩ = ‖ω_S‖(1 − t) + (t/(2‖ω_S‖)) ‖ω_S − (‖ω_S‖/t) f‖².

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1.

    Point {"alpha": (n,)}, multipliers {"predictions": (n,)} (not used). Scale: 1, the loss at f = 0.
    Source: van Rooyen, Menon & Williamson 2015, Theorem 2.
    """

    name: ClassVar[str] = "mean-classifier"
    title: ClassVar[str] = "mean classifier: linear loss over the unit ball"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, Theorem 2"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")

    gram: Array
    labels: Array

    def __post_init__(self) -> None:
        labels = validate.labels("labels", self.labels)
        freeze(self, labels=labels)
        self._check_gram(len(labels))

    def _mean(self, num: Arithmetic) -> Value:
        """Coefficients y/n of ω_S."""
        return num.lift(self.labels) / len(self.labels)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ (1 − y_i (F u)_i) = 1 − ⟨Fᵀy/n, u⟩ subject to the ball ‖u‖ ≤ 1, K ≈ F Fᵀ; linear, so it needs no variable f."""
        import cvxpy as cp

        u = cp.Variable(self.factor.width, name="u")
        mean = self.factor.matrix.T @ self.labels / len(self.labels)
        return cp.Problem(cp.Minimize(1 - mean @ u), [(cp.norm(u, 2) <= 1).set_label("ball")])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """1 − (1/n) Σ y_i f_i."""
        fitted = num.matvec(self.gram, num.lift(point["alpha"]))
        return num.lift(1.0) - num.dot(num.lift(self.labels), fitted) / len(self.labels)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α (or that of a factor's coordinates u), drawn back into the unit ball."""
        if "alpha" in point:
            alpha = np.asarray(num.mid(num.lift(point["alpha"])), dtype=float)
        else:
            alpha = self.factor.coefficients(point["u"], self.labels, 0.0)
        return {"alpha": _unit_ball.inside(num, self.gram, alpha)}

    def multipliers(self, point: Point) -> Multipliers:
        """v = y/n."""
        return {"predictions": self.labels / len(self.labels)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """1 − ‖ω_S‖."""
        return num.lift(1.0) - _unit_ball.length(num, self.gram, self._mean(num))

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """‖ω_S‖(1 − t) + (t/(2‖ω_S‖)) ‖ω_S − (‖ω_S‖/t) f‖²."""
        return _unit_ball.slack(num, self.gram, self._mean(num), num.lift(point["alpha"]))

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖² = t² + 1 − 2⟨f, ω_S⟩/‖ω_S‖ ≤ 2(1 − ⟨f, ω_S⟩/‖ω_S‖) = 2 gap/‖ω_S‖; 2 (the ball) if ω_S = 0."""
        return _unit_ball.distance(gap, self.gram, self._mean(FLOAT))

    def normalised(self) -> tuple[MeanClassifier, Rescale]:
        """K/κ with a power of four near max K_ii: α = α'/√κ; the loss is 1 − √κ(1 − P'), with the same solutions."""
        kappa = _squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        root = math.sqrt(kappa)
        return MeanClassifier(_factor.rescaled(self.gram, 1.0 / kappa), self.labels), Rescale(_squares.times(alpha=1.0 / root))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Gaussian and rank-deficient kernels, one class, one sample; ω_S = 0, K = 0."""
        gram, labels = _margin_cases.gaussian(rng)
        yield Example("gaussian kernel", cls(gram, labels))
        for name, kernel, y, _ in _margin_cases.instances(rng):
            yield Example(name, cls(kernel, y), name in _margin_cases.WITHOUT_MEAN)

    @classmethod
    def laws(cls) -> list[Law]:
        """Change of all labels, permutation, duplication."""
        return _margin_cases.laws()

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = "gaussian",
    ) -> Self:
        """Recipe: rows, labels and kernel as for the hinge SVM (at most `samples` rows, features as they are, Gaussian kernel)."""
        return cls(*_margin_cases.recipe(dataset, rng, samples, standardise, similarity))
