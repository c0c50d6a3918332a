"""The kernel support vector machine with intercept, its norm bounded (Ivanov form)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.problems import _margin_cases, _squares
from simopt.problems._margin_forms import BallMargins
from simopt.solving.problem import ALL_CONES, Example, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class HingeSVMBallBias(BallMargins):
    r"""min_{α,b} (1/n) Σ_i [1 − y_i(f_i + b)]_+   subject to   ‖f‖²_H = αᵀKα ≤ c,   f = Kα,  y_i = ±1.

    Dual, with multipliers a_i ∈ [0, 1/n] of the rows 1 − y_i(f_i + b) ≤ slack_i: the minimum over b is −∞ unless
        Σ a_i y_i = 0,   and then   D(a) = Σ a_i − √c ‖a∘y‖_K   as without intercept.
    Any multipliers are clipped to [0, 1/n] and those of the heavier class scaled down to Σ a_i y_i = 0 (`simopt.problems._intercept`).
    With h_i = 1 − y_i(f_i + b), v = Σ a_i y_i φ_i, t = ‖f‖ and s = ‖v‖ the gap is a sum of non-negative terms,
        Σ (1/n − a_i)[h_i]_+ + a_i[−h_i]_+   +   s(√c − t) + (t/2s)‖a∘y − (s/t)α‖²_K.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1; of a single class f = 0, b = ±1 makes no loss.
    capacity : float
        c > 0, the squared radius of the ball; b is not bounded.

    Point {"alpha": (n,), "bias": ()}, multipliers {"margins": (n,)}. A restored point has a best b for its α, the one nearest to the
    given one (without one, the middle of the best ones).
    Scale: the loss 2 min(n_+, n_−)/n of the best constant; where that is 0 (one class, the constant is optimal), 1.
    Source: van Rooyen, Menon & Williamson 2015, §3.2, with the intercept of Cortes & Vapnik 1995.
    """

    name: ClassVar[str] = "hinge-svm-ball-bias"
    title: ClassVar[str] = "kernel SVM with intercept, ‖f‖² ≤ c"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §3.2, with the intercept of Cortes & Vapnik 1995"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("capacity",)
    biased: ClassVar[bool] = True

    gram: Array
    labels: Array
    capacity: float

    def __post_init__(self) -> None:
        self._check()
        freeze(self, capacity=validate.positive("capacity", self.capacity))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slack s.t. `predictions` f = F u, K ≈ F Fᵀ, `margins` 1 − y(f + b) ≤ slack, and the `ball` ‖u‖² ≤ c."""
        import cvxpy as cp

        n = len(self.labels)
        capacity = cp.Parameter(nonneg=True, name="capacity", value=self.capacity)
        unit = _squares.power_of_two(math.sqrt(self.capacity))  # of u in the ball, for a second-order cone of size 1
        u, f, slack = cp.Variable(self.factor.width, name="u"), cp.Variable(n, name="f"), cp.Variable(n, name="slack")
        bias = cp.Variable(name="bias")
        rows = [
            (f == self.factor.matrix @ u).set_label("predictions"),
            (1 - cp.multiply(self.labels, f + bias) <= slack).set_label("margins"),
            (slack >= 0).set_label("slack"),
            (cp.sum_squares(u / unit) <= capacity / unit / unit).set_label("ball"),
        ]
        return cp.Problem(cp.Minimize(cp.sum(slack) / n), rows)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Active and inactive balls, unequal classes, rank-deficient kernels; one class, one sample, K = 0, contradicting labels."""
        gram, labels = _margin_cases.gaussian(rng)
        for capacity in (1.0, 10.0, 200.0):
            yield Example(f"c = {capacity:g}", cls(gram, labels, capacity))
        yield Example("a loss of 0", cls(gram, labels, 1e6))
        yield Example("unequal classes", cls(gram, np.where(np.arange(16) < 3, 1.0, -1.0), 10.0))
        for name, kernel, y, degenerate in _margin_cases.instances(rng):
            yield Example(name, cls(kernel, y, 0.5), degenerate)

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = "gaussian",
        capacity: float = 100.0,
    ) -> Self:
        """Recipe: rows, labels and kernel as for the penalised SVM; c = 100, ten times the norm of one k(x, ·) of the Gaussian kernel."""
        return cls(*_margin_cases.recipe(dataset, rng, samples, standardise, similarity), capacity)
