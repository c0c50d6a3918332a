"""Least squares on landmark features, with ‖w‖² penalised (Tikhonov form)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.problems.norms import landmark_squares, vectors
from simopt.problems.norms.landmark_forms import SquaresPenalised
from simopt.solving.problem import ALL_CONES, Example, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedRidge(SquaresPenalised):
    r"""min_w (1/n) ‖y − Ψw‖² + λ ‖w‖².

    λ is that of `KernelRidge`: with K = ΨΨᵀ and w = Ψᵀα the two are the same problem (scikit-learn's `alpha` is nλ).
    Dual, with a multiplier v of the row f = Ψw:
        min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖²;      min_w λ‖w‖² − ⟨Ψᵀv, w⟩ = −‖Ψᵀv‖²/(4λ)   at w = Ψᵀv/(2λ),
        D(v) = vᵀy − (n/4)‖v‖² − ‖Ψᵀv‖²/(4λ).
    The gap is a sum of two squares, (n/4)‖v − (2/n)(y − Ψw)‖² + λ‖w − Ψᵀv/(2λ)‖², and P(w) − P* ≥ λ‖w − w*‖².

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ_i.
    targets : (n,) array
        y.
    regularization : float
        λ > 0.

    Point {"w": (d,)}, multipliers {"predictions": (n,)}. Scale: ‖y‖²/n. Where y = 0, restore returns w = 0.
    Source: Kar & Jain 2012, §3.2 (squared loss as the surrogate); Hoerl & Kennard 1970.
    """

    name: ClassVar[str] = "landmarked-ridge"
    title: ClassVar[str] = "least squares on landmarks, ‖w‖² penalised"
    source: ClassVar[str] = "Kar & Jain 2012, §3.2 with the squared loss"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    features: Array
    targets: Array
    regularization: float

    def __post_init__(self) -> None:
        self._check()
        freeze(self, regularization=validate.positive("regularization", self.regularization))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n)‖y − f‖² + λ‖w‖² s.t. `predictions` f = Ψw."""
        import cvxpy as cp

        n, d = self.features.shape
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        predictions = (f == self.features @ w).set_label("predictions")
        return cp.Problem(cp.Minimize(cp.sum_squares(self.targets - f) / n + regularization * cp.sum_squares(w)), [predictions])

    def in_units(self, s: float, c: float) -> Self:
        """y × s and Ψ × c: λ × c²."""
        features = vectors.times_unit(self.features, c)
        return replace(self, features=features, targets=self.targets * s, regularization=self.regularization * c * c)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Strong and weak λ, more features than samples, equal features; y = 0, Ψ = 0."""
        for name, features, targets, degenerate in landmark_squares.instances(rng):
            yield Example(name, cls(features, targets, 0.1), degenerate)
            if name == "three features":
                yield Example("weak regularization", cls(features, targets, 1e-5))

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = None,
        landmarks: int | None = None,
        standardise: bool = True,
        similarity: str | Similarity = "gaussian-mean-distance",
        regularization: float = 1e-3,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Targets are centred at their mean (w has no intercept). λ is 1e-3 unless given: for a similarity bounded by 1, ‖ψ_i‖ ≤ 1.
        """
        features, targets, _ = landmark_squares.recipe(dataset, rng, samples, landmarks, standardise, similarity)
        return cls(features, targets, regularization)
