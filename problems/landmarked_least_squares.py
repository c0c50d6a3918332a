"""Least squares on landmark features, ‖w‖ bounded or ‖w‖² penalised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt.core.fields import Features, Targets
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.forms import Forms
from simopt.model.problem import ALL_CONES, Example, Image, Law, change_of_units, laws_of_samples, problem
from simopt.problems import recipes
from simopt.problems.bounds import Ball, Bound, Ridge
from simopt.problems.losses.landmark_squares import LandmarkSquares
from simopt.problems.norms import squares, vectors

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedLeastSquares(LandmarkSquares):
    r"""min_w (1/n) ‖y − Ψw‖² + R(w),   R(w) = 0 on ‖w‖₂ ≤ B, or λ‖w‖².

    Dual, with a multiplier v of the row f = Ψw:
        D(v) = vᵀy − (n/4)‖v‖² − R*(Ψᵀv),      R*(g) = B‖g‖, or ‖g‖²/(4λ).
    The gap is (n/4)‖v − (2/n)(y − Ψw)‖² + R(w) − ⟨g, w⟩ + R*(g), g = Ψᵀv (`simopt.problems.losses.landmark_squares`). λ is that of
    `KernelRidge`: with K = ΨΨᵀ and w = Ψᵀα the two are the same problem (scikit-learn's `alpha` is nλ). If the ball is active, the solution
    is that with the λ for which ‖w‖ = B.

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ_i.
    targets : (n,) array
        y.
    bound : Ball(radius=B) or Ridge(regularization=λ)
        B > 0, λ > 0; with λ P(w) − P* ≥ λ‖w − w*‖².

    Point {"w": (d,)}, multipliers {"predictions": (n,)}. Scale: ‖y‖²/n. If y = 0, restore returns w = 0.
    Source: Kar & Jain 2012, Algorithm 1 with the squared loss as the surrogate (§3.2); Hoerl & Kennard 1970 for the penalty.
    """

    forms: ClassVar[Forms] = {
        "ball": {
            "name": "landmarked-least-squares",
            "title": "least squares on landmarks, ‖w‖ ≤ B",
            "source": "Kar & Jain 2012, Algorithm 1 with the squared loss",
            "arithmetics": ("float", "interval"),
            "parameters": ("radius",),
        },
        "penalty": {
            "name": "landmarked-ridge",
            "title": "least squares on landmarks, ‖w‖² penalised",
            "source": "Kar & Jain 2012, §3.2 with the squared loss",
            "arithmetics": ("float", "interval", "rational"),
            "parameters": ("regularization",),
        },
    }

    features: Features
    targets: Targets
    bound: Bound

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n)‖y − f‖² s.t. `predictions` f = Ψw and the `ball` ‖w‖ ≤ B, or plus λ‖w‖²."""
        import cvxpy as cp

        n, d = self.features.shape
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        loss, predictions = cp.sum_squares(self.targets - f) / n, (f == self.features @ w).set_label("predictions")
        if isinstance(self.bound, Ball):
            radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
            return cp.Problem(cp.Minimize(loss), [predictions, (cp.norm(w, 2) <= radius).set_label("ball")])
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        return cp.Problem(cp.Minimize(loss + regularization * cp.sum_squares(w)), [predictions])

    def in_units(self, s: float, c: float) -> Self:
        """y × s and Ψ × c: B × s/c, λ × c²."""
        features = vectors.scaled(self.features, c)
        return replace(self, features=features, targets=self.targets * s, bound=self.bound.in_units(s / c, s * s))

    def target_unit(self) -> float:
        """A power of two near max |y_i|."""
        return squares.power_of_two(squares.largest(self.targets))

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the targets and of the features together with what bounds w; sign; permutation; duplication."""

        def scale_targets(problem: Any, s: float) -> Image:
            both = squares.scaling(w=s, predictions=s)
            return Image(problem.in_units(s, 1.0), s * s, both, both)

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            both = squares.scaling(w=-1.0, predictions=-1.0)
            return Image(replace(problem, targets=-problem.targets), 1.0, both, both)

        def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
            image = replace(problem, features=problem.features[order], targets=problem.targets[order])
            return Image(image, 1.0, multipliers=lambda values: {"predictions": np.asarray(values["predictions"])[order] * weight})

        return [
            change_of_units("targets × s", scale_targets),
            *super().laws(),
            Law("targets × −1", mirror),
            *laws_of_samples(select, "targets"),
        ]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Bounds of several sizes, active and not, more features than samples, equal features; y = 0, Ψ = 0."""
        bound = cls.either(ball=Ball(1.0), penalty=Ridge(0.1))
        features, targets = recipes.small_regression(rng, 24, 3)
        yield Example("three features", cls(features, targets, bound))
        others: dict[str, Bound] = cls.either(
            ball={"inactive ball": Ball(50.0), "small ball": Ball(1e-3)}, penalty={"weak regularization": Ridge(1e-5)}
        )
        for name, other in others.items():
            yield Example(name, cls(features, targets, other))
        wide, some = recipes.small_regression(rng, 6, 10)
        yield Example("more features than samples", cls(wide, some, bound))
        yield Example("equal features", cls(np.repeat(features, 2, axis=1), targets, bound))
        yield Example("one sample", cls(np.ones((1, 1)), np.array([4.0]), bound))
        yield Example("zero targets", cls(features, np.zeros(24), bound), degenerate=True)
        yield Example("zero features", cls(np.zeros((5, 2)), np.arange(5.0), bound), degenerate=True)

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = None,
        landmarks: int | None = None,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        radius: float | None = None,
        regularization: float | None = None,
    ) -> Self:
        """Recipe: all rows (or `samples`), standardised, `landmarks` of them (None: 50, or all of fewer), a Gaussian with Kar & Jain's σ.

        Targets are centred at their mean (w has no intercept). B defaults to 10 standard deviations of y, λ to 1e-3: for a similarity
        bounded by 1, ‖ψ_i‖ ≤ 1.
        """
        features, targets, spread = recipes.centred(dataset, rng, samples, landmarks, standardise, similarity, np.mean)
        usual = cls.either(ball=Ball(10.0 * spread), penalty=Ridge(1e-3))
        return cls(features, targets, cls.bounded(usual, radius=radius, regularization=regularization))
