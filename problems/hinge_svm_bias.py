"""The kernel support vector machine with intercept, the form that LIBSVM solves."""

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
class HingeSVMBias(PenalisedMargins):
    r"""min_{α,b} (1/n) Σ_i [1 − y_i(f_i + b)]_+ + (λ/2) αᵀKα,   f = Kα,  y_i = ±1.

    Dual, with multipliers a_i ∈ [0, 1/n] of the rows 1 − y_i(f_i + b) ≤ slack_i: the minimum over b of −b Σ a_i y_i is −∞ unless
        Σ a_i y_i = 0,   and then   D(a) = Σ a_i − (1/(2λ)) ‖a∘y‖²_K   as without intercept.
    Any multipliers are clipped to [0, 1/n] and those of the heavier class scaled down to Σ a_i y_i = 0 (`simopt.problems._intercept`).
    The gap is Σ (1/n − a_i)[h_i]_+ + a_i[−h_i]_+ with h_i = 1 − y_i(f_i + b), plus (λ/2)‖α − (a∘y)/λ‖²_K: all non-negative.
    P(f, b) − P* ≥ (λ/2)‖f − f*‖²_H; f* is unique, the best b for it need not be. A point suggests a_i = λ y_i α_i clipped and balanced.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1; of a single class f = 0, b = ±1 makes no loss.
    regularization : float
        λ > 0; LIBSVM's C is 1/(nλ).

    Point {"alpha": (n,), "bias": ()}, multipliers {"margins": (n,)}. A restored point has a best b for its α, the one nearest to the
    given one (without one, the middle of the best ones).
    Scale: the loss 2 min(n_+, n_−)/n of the best constant; where that is 0 (one class, the constant is optimal), 1.
    Source: van Rooyen, Menon & Williamson 2015, §3.2, with the intercept of Cortes & Vapnik 1995.
    """

    name: ClassVar[str] = "hinge-svm-bias"
    title: ClassVar[str] = "kernel SVM with intercept"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §3.2, with the intercept of Cortes & Vapnik 1995"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)
    biased: ClassVar[bool] = True

    gram: Array
    labels: Array
    regularization: float

    def __post_init__(self) -> None:
        self._check()
        freeze(self, regularization=validate.positive("regularization", self.regularization))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slack + (λ/2)‖u‖² s.t. `predictions` f = F u, K ≈ F Fᵀ, and `margins` 1 − y(f + b) ≤ slack."""
        import cvxpy as cp

        n = len(self.labels)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        u, f, slack = cp.Variable(self.factor.width, name="u"), cp.Variable(n, name="f"), cp.Variable(n, name="slack")
        bias = cp.Variable(name="bias")
        rows = [
            (f == self.factor.matrix @ u).set_label("predictions"),
            (1 - cp.multiply(self.labels, f + bias) <= slack).set_label("margins"),
            (slack >= 0).set_label("slack"),
        ]
        return cp.Problem(cp.Minimize(cp.sum(slack) / n + regularization / 2 * cp.sum_squares(u)), rows)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Strong and weak λ, unequal classes, rank-deficient kernels; one class, one sample, K = 0, contradicting labels."""
        gram, labels = _margin_cases.gaussian(rng)
        for strength in (1.0, 0.05, 1e-3):
            yield Example(f"λ = {strength:g}", cls(gram, labels, strength))
        yield Example("unequal classes", cls(gram, np.where(np.arange(16) < 3, 1.0, -1.0), 0.01))
        for name, kernel, y, degenerate in _margin_cases.instances(rng):
            yield Example(name, cls(kernel, y, 0.1), degenerate)

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
        """Recipe: as for the hinge SVM without intercept (at most `samples` rows, features as they are, Gaussian kernel), λ = 1e-3."""
        return cls(*_margin_cases.recipe(dataset, rng, samples, standardise, similarity), regularization)
