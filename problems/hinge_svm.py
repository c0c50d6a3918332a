"""The kernel support vector machine without intercept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.problems import _margin_cases
from simopt.problems._margin_forms import PenalisedMargins
from simopt.solving.problem import ALL_CONES, Example, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class HingeSVM(PenalisedMargins):
    r"""min_α (1/n) Σ_i [1 − y_i f_i]_+ + (λ/2) αᵀKα,   f = Kα,  y_i = ±1.

    Dual, with multipliers a_i ∈ [0, 1/n] of the rows 1 − y_i f_i ≤ slack_i:
        min_f Σ a_i(1 − y_i f_i) + (λ/2)‖f‖² is reached at f = (1/λ) Σ a_i y_i φ_i, so
        D(a) = Σ a_i − (1/(2λ)) ‖a∘y‖²_K.
    The gap is Σ (1/n − a_i)[h_i]_+ + a_i[−h_i]_+ with h_i = 1 − y_i f_i, plus (λ/2)‖α − (a∘y)/λ‖²_K: all non-negative.
    P(f) − P* ≥ (λ/2)‖f − f*‖²_H. A point suggests a_i = λ y_i α_i clipped to [0, 1/n].

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1; a single class is allowed.
    regularization : float
        λ > 0; LIBSVM's C is 1/(nλ).

    Point {"alpha": (n,)}, multipliers {"margins": (n,)}. Scale: 1, the loss at f = 0.
    Source: van Rooyen, Menon & Williamson 2015, §3.2; Steinwart, Hush & Scovel 2011 for the problem without intercept.
    """

    name: ClassVar[str] = "hinge-svm"
    title: ClassVar[str] = "kernel SVM without intercept"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §3.2"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    gram: Array
    labels: Array
    regularization: float

    def __post_init__(self) -> None:
        self._check()
        freeze(self, regularization=validate.positive("regularization", self.regularization))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slack + (λ/2)‖u‖² s.t. `predictions` f = F u, K ≈ F Fᵀ, and `margins` 1 − y f ≤ slack."""
        import cvxpy as cp

        n = len(self.labels)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        u, f, slack = cp.Variable(self.factor.width, name="u"), cp.Variable(n, name="f"), cp.Variable(n, name="slack")
        rows = [
            (f == self.factor.matrix @ u).set_label("predictions"),
            (1 - cp.multiply(self.labels, f) <= slack).set_label("margins"),
            (slack >= 0).set_label("slack"),
        ]
        return cp.Problem(cp.Minimize(cp.sum(slack) / n + regularization / 2 * cp.sum_squares(u)), rows)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Strong and weak λ, rank-deficient kernels; one class, one sample, K = 0, contradicting labels."""
        gram, labels = _margin_cases.gaussian(rng)
        for strength in (1.0, 0.05, 1e-3):
            yield Example(f"λ = {strength:g}", cls(gram, labels, strength))
        for name, kernel, y, _ in _margin_cases.instances(rng):
            yield Example(name, cls(kernel, y, 0.1), name in _margin_cases.WITHOUT_MEAN)

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = "gaussian",
        regularization: float = 1e-3,
    ) -> Self:
        """Recipe: at most `samples` rows (None: all), features as they are, Gaussian kernel with the mean squared distance as bandwidth.

        Labels are targets that are ±1; of two other values the larger is +1; else whether the target is above its median.
        λ = 1e-3 (C = 2 at n = 500).
        """
        return cls(*_margin_cases.recipe(dataset, rng, samples, standardise, similarity), regularization)
