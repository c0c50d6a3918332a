"""Least squares on landmark features, with ‖w‖ bounded (Ivanov form)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.problems.norms import landmark_squares, vectors
from simopt.problems.norms.landmark_forms import SquaresInBall
from simopt.solving.problem import ALL_CONES, Example, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedLeastSquares(SquaresInBall):
    r"""min_w (1/n) ‖y − Ψw‖²   subject to   ‖w‖₂ ≤ B.

    Dual, with a multiplier v of the row f = Ψw and g = Ψᵀv:
        min_f (1/n)‖y − f‖² + vᵀf = vᵀy − (n/4)‖v‖²;      min over ‖w‖ ≤ B of −⟨g, w⟩ = −B‖g‖,
        D(v) = vᵀy − (n/4)‖v‖² − B‖Ψᵀv‖.
    The gap is (n/4)‖v − (2/n)(y − Ψw)‖² + (B‖g‖ − ⟨g, w⟩), the second term written as (B − ‖w‖)‖g‖ + ½‖w‖‖g‖·‖w/‖w‖ − g/‖g‖‖².
    Where the ball is active, the solution is that of `LandmarkedRidge` with the λ for which ‖w‖ = B.

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ_i.
    targets : (n,) array
        y.
    radius : float
        B > 0.

    Point {"w": (d,)}, multipliers {"predictions": (n,)}. Scale: ‖y‖²/n. Where y = 0, restore returns w = 0.
    Source: Kar & Jain 2012, Algorithm 1 with the squared loss (§3.2).
    """

    name: ClassVar[str] = "landmarked-least-squares"
    title: ClassVar[str] = "least squares on landmarks, ‖w‖ ≤ B"
    source: ClassVar[str] = "Kar & Jain 2012, Algorithm 1 with the squared loss"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("radius",)

    features: Array
    targets: Array
    radius: float

    def __post_init__(self) -> None:
        self._check()
        freeze(self, radius=validate.positive("radius", self.radius))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n)‖y − f‖² s.t. `predictions` f = Ψw and the `ball` ‖w‖ ≤ B."""
        import cvxpy as cp

        n, d = self.features.shape
        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        rows = [(f == self.features @ w).set_label("predictions"), (cp.norm(w, 2) <= radius).set_label("ball")]
        return cp.Problem(cp.Minimize(cp.sum_squares(self.targets - f) / n), rows)

    def in_units(self, s: float, c: float) -> Self:
        """y × s and Ψ × c: B × s/c."""
        features = vectors.times_unit(self.features, c)
        return replace(self, features=features, targets=self.targets * s, radius=self.radius * (s / c))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive balls, more features than samples, equal features; y = 0, Ψ = 0."""
        for name, features, targets, degenerate in landmark_squares.instances(rng):
            yield Example(name, cls(features, targets, 1.0), degenerate)
            if name == "three features":
                yield Example("inactive ball", cls(features, targets, 50.0))
                yield Example("small ball", cls(features, targets, 1e-3))

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
        radius: float | None = None,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Targets are centred at their mean (w has no intercept). B defaults to 10 standard deviations of y.
        """
        features, targets, spread = landmark_squares.recipe(dataset, rng, samples, landmarks, standardise, similarity)
        return cls(features, targets, 10.0 * spread if radius is None else radius)
