"""The Bayes-optimal classifier of linear loss on a finite domain: a linear programme with a closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Multipliers, Point
from simopt.model.problem import ALL_CONES, Example, Image, Law, Problem, laws_of_samples, problem
from simopt.problems import recipes
from simopt.problems.domains.simplex import JointProbabilities

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class BayesLinearLoss(Problem):
    r"""min over f ∈ [−1, 1]^X of Σ_{x,y} p(x, y)(1 − y f(x)),   X = {1, …, m},  y = ±1.

    With d_x = p(x, 1) − p(x, −1) the objective is Σ p − Σ_x d_x f_x. Dual, with multipliers a ≥ 0 of f ≤ 1 and b ≥ 0 of f ≥ −1:
        D(a, b) = Σ p − Σ (a + b)  subject to  a − b = d.
    What a and b have in common only lowers D, so the best are a = [d]_+, b = [−d]_+. Then P* = Σ p − Σ_x |d_x| = E(1 − |1 − 2η(x)|). It is
    reached at f = sign(d), the Bayes classifier, and for d_x = 0 (η = ½) at any f_x. The gap is Σ_x [d_x]_+(1 − f_x) + [−d_x]_+(1 + f_x).

    Parameters
    ----------
    probabilities : (m, 2) array
        columns p(x, −1) and p(x, +1), all ≥ 0, with sum 1 (to 1e-9; the floats given are the data, exactly).

    Point {"f": (m,)}, multipliers {"upper": (m,), "lower": (m,)}: any are repaired to a and b above. Scale: Σ p = 1, the loss at f = 0.
    Source: van Rooyen, Menon & Williamson 2015, Theorem 1 and its proof.
    """

    name: ClassVar[str] = "bayes-linear-loss"
    title: ClassVar[str] = "Bayes-optimal linear loss on a finite domain"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, Theorem 1"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    by_hand: ClassVar[str] = "time: the optimum is a closed form, found before its declaration is read"

    probabilities: JointProbabilities

    @property
    def growth(self) -> int:
        """1 − yf is linear."""
        return 1

    def signed_mass(self, num: Arithmetic = FLOAT) -> Value:
        """d_x = p(x, 1) − p(x, −1), shape (m,)."""
        p = num.lift(self.probabilities)
        return p[:, 1] - p[:, 0]

    def _mass(self, num: Arithmetic) -> Value:
        return num.sum(num.lift(self.probabilities.ravel()))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise Σ p(x, y)(1 − y f(x)) subject to the rows `upper`, f ≤ 1, and `lower`, f ≥ −1."""
        import cvxpy as cp

        f = cp.Variable(len(self.probabilities), name="f")
        negative, positive = self.probabilities.T
        rows = [(f <= 1).set_label("upper"), (f >= -1).set_label("lower")]
        return cp.Problem(cp.Minimize(negative @ (1 + f) + positive @ (1 - f)), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """Σ p(x, y)(1 − y f(x)), summed as it stands."""
        f, p, one = num.lift(point["f"]), num.lift(self.probabilities), num.lift(1.0)
        return num.dot(p[:, 0], f + one) + num.dot(p[:, 1], f * -1 + one)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """f clipped to [−1, 1]."""
        return {"f": num.clip(num.lift(point["f"]), -1.0, 1.0)}

    def multipliers(self, point: Point) -> Multipliers:
        """a = [d]_+, b = [−d]_+."""
        d = self.signed_mass()
        return {"upper": np.maximum(d, 0.0), "lower": np.maximum(-d, 0.0)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """Σ p − Σ |d|, whatever the multipliers."""
        return self._mass(num) - num.sum(num.abs(self.signed_mass(num)))

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ [d]_+(1 − f) + [−d]_+(1 + f)."""
        d, f, one = self.signed_mass(num), num.lift(point["f"]), num.lift(1.0)
        return num.dot(num.pos(d), num.pos(f * -1 + one)) + num.dot(num.pos(d * -1), num.pos(f + one))

    def distance(self, gap: float, point: Point | None = None) -> float:
        """max_x |f_x − f*_x| ≤ gap/min |d|, and never more than 2; 2 where some d_x is 0, for then f_x is free."""
        least = float(np.min(np.abs(self.signed_mass())))
        return min(2.0, max(gap, 0.0) / least) if least > 0 else 2.0

    def trivial_point(self) -> Point:
        """f = 0."""
        return {"f": np.zeros(len(self.probabilities))}

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Random, noise-free and nearly balanced worlds, one point, points of no mass; η = ½ everywhere."""
        p = rng.exponential(size=(7, 2))
        yield Example("seven points", cls(p / p.sum()))
        yield Example("noise-free", cls(np.array([[0.25, 0.0], [0.0, 0.5], [0.25, 0.0]])))
        yield Example("one point", cls(np.array([[0.25, 0.75]])))
        yield Example("nearly balanced", cls(0.125 + 1e-3 * np.array([[1.0, -1.0], [0.5, 0.0], [-1.0, 1.0], [0.25, -0.75]])))
        yield Example("points of no mass", cls(np.array([[0.0, 0.0], [0.5, 0.25], [0.0, 0.25]])), degenerate=True)
        yield Example("η = ½", cls(np.full((2, 2), 0.25)), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Change of all labels, permutation of X, and every point split in two of half its mass."""

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            """All labels change their sign, and f with them."""
            image = replace(problem, probabilities=problem.probabilities[:, ::-1])
            return Image(image, 1.0, lambda x: {"f": -np.asarray(x["f"])}, lambda v: {"upper": v["lower"], "lower": v["upper"]})

        def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
            """The points of X in this order, repeated ones included, each with `weight` times its mass."""
            image = replace(problem, probabilities=problem.probabilities[order] * weight)

            def mapped(values: Multipliers) -> Multipliers:
                return {name: np.asarray(values[name])[order] * weight for name in ("upper", "lower")}

            return Image(image, 1.0, lambda x: {"f": np.asarray(x["f"])[order]}, mapped)

        return [Law("labels × −1", mirror), *laws_of_samples(select, "probabilities")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = None,
        feature: str | int | None = None,
        bins: int = 20,
    ) -> Self:
        """Recipe: the frequencies of (bin of one feature, label) in a data set are the world.

        `feature` (name or index; None: the one that correlates best with the labels) is cut at its quantiles into at most `bins` bins;
        equal values share one. All rows, or at most `samples`. Labels are targets that are ±1; of two other values the larger is +1; else
        whether the target is above its median.
        """
        inputs, labels = recipes.binary_sample(dataset, rng, samples, standardise=False)
        values = inputs[:, recipes.column(dataset, inputs, labels, feature)]
        count = validate.whole("bins", bins, minimum=1)
        cuts = np.unique(np.quantile(values, np.arange(1, count) / count))
        cell = np.searchsorted(cuts, values, side="left")
        table = np.zeros((len(cuts) + 1, 2))
        np.add.at(table, (cell, (labels > 0).astype(int)), 1.0)
        return cls(table[table.any(axis=1)] / len(labels))
