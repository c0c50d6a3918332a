"""Linear quantile regression with a ridge penalty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.model.problem import ALL_CONES, Example, Image, Law, Problem, Rescale, change_of_units, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class QuantileRegression(Problem):
    r"""min_w (1/n) Σ_i ρ(y_i − ⟨w, ψ_i⟩) + (λ/2)‖w‖²,   ρ(r) = max(τ r, (τ − 1) r).

    Dual, with a multiplier a of the row f = Ψw: ρ(r)/n = max a r over (τ − 1)/n ≤ a ≤ τ/n, and min_w (λ/2)‖w‖² − ⟨Ψᵀa, w⟩ is at w = Ψᵀa/λ:
        D(a) = ⟨a, y⟩ − ‖Ψᵀa‖²/(2λ).
    Every term of P − D = Σ (ρ(r_i)/n − a_i r_i) + (λ/2)‖w − Ψᵀa/λ‖² is non-negative, and (λ/2)‖w − w*‖² ≤ P(w) − P*.
    """

    name: ClassVar[str] = "quantile-regression"
    title: ClassVar[str] = "linear quantile regression with a ridge penalty"
    source: ClassVar[str] = "Koenker & Bassett 1978, with a penalty"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    features: Array
    targets: Array
    regularization: float = 0.1
    level: float = 0.5

    def __post_init__(self) -> None:
        targets = validate.vector("targets", self.targets)
        features = validate.matrix("features", self.features, rows=len(targets))
        strength, level = validate.positive("regularization", self.regularization), validate.positive("level", self.level)
        if level >= 1.0:
            raise InvalidProblem(f"level: {level:g} given, a number between 0 and 1 needed")
        freeze(self, features=features, targets=targets, regularization=strength, level=level)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise the pinball loss of y − f plus the penalty, subject to f = Ψw."""
        import cvxpy as cp

        n, d = self.features.shape
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        strength = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        loss = cp.sum(cp.maximum(self.level * (self.targets - f), (self.level - 1) * (self.targets - f))) / n
        return cp.Problem(cp.Minimize(loss + strength / 2 * cp.sum_squares(w)), [(f == self.features @ w).set_label("predictions")])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Any:
        """Pinball loss plus penalty."""
        w = num.lift(point["w"])
        return num.sum(self._loss(w, num)) + num.dot(w, w) * num.lift(self.regularization) / 2

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """w: every one is feasible."""
        return {"w": num.lift(point["w"])}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Any:
        """D at the multipliers clipped to their interval."""
        a = self._clipped(multipliers, num)
        g = num.rmatvec(self.features, a)
        return num.dot(a, num.lift(self.targets)) - num.dot(g, g) / (num.lift(self.regularization) * 2)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Any:
        """The sum of non-negative terms above."""
        w, a, strength = num.lift(point["w"]), self._clipped(multipliers, num), num.lift(self.regularization)
        rest = w - num.rmatvec(self.features, a) / strength
        return num.sum(self._loss(w, num) - a * self._residuals(w, num)) + num.dot(rest, rest) * strength / 2

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖w − w*‖ ≤ √(2 gap/λ)."""
        return float(np.sqrt(2.0 * max(gap, 0.0) / self.regularization))

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"w": np.zeros(self.features.shape[1])}

    def normalised(self) -> tuple[QuantileRegression, Rescale]:
        """Targets and features of size 1: y = σy', Ψ = κΨ', w = (σ/κ)w', λ = (κ²/σ)λ', a = a'."""
        sigma, kappa = (float(np.max(np.abs(x))) or 1.0 for x in (self.targets, self.features))
        natural = QuantileRegression(self.features / kappa, self.targets / sigma, self.regularization * sigma / kappa**2, self.level)
        return natural, Rescale(lambda p: {"w": np.asarray(p["w"]) * (sigma / kappa)})

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Three levels; targets 0, one sample."""
        features, noise = rng.normal(size=(20, 3)), rng.standard_t(3, size=20)
        for level in (0.1, 0.5, 0.9):
            yield Example(f"level {level}", cls(features, features @ [1.0, -2.0, 0.5] + noise, 0.05, level))
        yield Example("targets 0", cls(features, np.zeros(20)), degenerate=True)
        yield Example("one sample", cls(np.ones((1, 1)), np.array([3.0]), 10.0))

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of the targets; the other side of the distribution."""

        def scaled(p: QuantileRegression, s: float) -> Image:
            image = replace(p, targets=p.targets * s, regularization=p.regularization / s)
            return Image(image, s, lambda x: {"w": np.asarray(x["w"]) * s})

        def mirrored(p: QuantileRegression, rng: np.random.Generator) -> Image:
            image = replace(p, targets=-p.targets, level=1.0 - p.level)
            return Image(image, 1.0, lambda x: {"w": -x["w"]}, lambda v: {"predictions": -v["predictions"]})

        # λ‖w‖²/2 must grow by s like the loss: λ becomes λ/s
        return [change_of_units("targets × s, λ / s", scaled), Law("y → −y, τ → 1 − τ", mirrored)]

    @classmethod
    def from_data(
        cls, dataset: Dataset, rng: np.random.Generator, *, level: float = 0.5, regularization: float = 1e-2
    ) -> QuantileRegression:
        """Recipe: standardised columns and a constant one."""
        spread = np.std(dataset.features, axis=0)
        columns = (dataset.features - np.mean(dataset.features, axis=0)) / np.where(spread > 0, spread, 1.0)
        return cls(np.column_stack([columns, np.ones(len(columns))]), dataset.targets, regularization, level)

    def _residuals(self, w: Any, num: Arithmetic) -> Any:
        return num.lift(self.targets) - num.matvec(self.features, w)

    def _loss(self, w: Any, num: Arithmetic) -> Any:
        r, level = self._residuals(w, num), num.lift(self.level)
        return num.maximum(r * level, r * (level - 1)) / len(self.targets)

    def _clipped(self, multipliers: Multipliers, num: Arithmetic) -> Any:
        # n a is clipped rather than a, because (1/n) Σ is exact in fractions only where 1/n is not rounded first
        n, level = len(self.targets), num.lift(self.level)
        return num.clip(num.lift(multipliers["predictions"]) * n, level - 1, level) / n
