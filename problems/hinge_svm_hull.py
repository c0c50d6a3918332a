"""The support vector machine restricted to the convex hull of the labelled feature vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import Labels, Positive
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.model.problem import ALL_CONES, Example, Image, Law, Rescale, problem
from simopt.problems.domains import simplex
from simopt.problems.examples import margins as margin_cases
from simopt.problems.losses import hinge_rows
from simopt.problems.norms import squares
from simopt.problems.norms.gram_factor import Gram, KernelProblem
from simopt.problems.sample_weights import SampleWeights

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class HingeSVMHull(KernelProblem):
    r"""min over w ∈ Δ_n of (1/n) Σ_i [1 − y_i f(x_i)]_+ + (λ/2)‖f‖²_H,   f = Σ_j w_j ψ_j,  ψ_j = y_j k(x_j, ·),  y_i = ±1.

    This is not the SVM: that one may take any multiple of such an f, and its best multiple is seldom in the hull. With G_ij = y_i y_j K_ij
    the margins are y_i f(x_i) = (Gw)_i and ‖f‖² = wᵀGw. If K_ii ≤ 1, no margin exceeds 1, every hinge is linear, the loss is 1 − ⟨ω_S, f⟩,
    and for λ = 1 the objective is 1 + ½‖f − ω_S‖² − ½‖ω_S‖². This is herding, with solution ω_S, that is w = 1/n. Elsewhere not. Dual: take
    multipliers a_i ∈ [0, 1/n] of the rows 1 − (Gw)_i ≤ slack_i, and any v = Σ β_j ψ_j. Since ½‖f‖² ≥ ⟨v, f⟩ − ½‖v‖²,
        P(w) ≥ Σ a − aᵀGw + λβᵀGw − (λ/2)βᵀGβ,      D(a, β) = Σ a + min_j g_j − (λ/2)βᵀGβ,   g = G(λβ − a).
    At the solution β = w is best: g_j is then the slope of the Lagrangian towards ψ_j. With h = 1 − Gw the gap is a sum of non-negative
    terms, Σ (1/n − a_i)[h_i]_+ + a_i[−h_i]_+  +  (λ/2)‖w − β‖²_G  +  Σ_j w_j (g_j − min g).   P(f) − P* ≥ (λ/2)‖f − f*‖².

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1; a single class is allowed.
    regularization : float
        λ > 0.

    Point {"weights": (n,)}; multipliers {"margins": (n,), "direction": (n,)} (a and β), or for β those of the declared row `coordinates`.
    Scale: 1, the loss at f = 0 (which the hull need not hold), or the objective at w = 1/n where that is larger.
    Source: van Rooyen, Menon & Williamson 2015, §6.6.
    """

    name: ClassVar[str] = "hinge-svm-hull"
    title: ClassVar[str] = "SVM restricted to the convex hull of the labelled feature vectors"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §6.6"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    gram: Gram
    labels: Labels
    regularization: Positive

    @property
    def atoms(self) -> Array:
        """Rows y_j F_j: the ψ_j in the coordinates of the factor, shape (n, r)."""
        out: Array = self.labels[:, None] * self.factor.matrix
        return out

    def scores(self, num: Arithmetic, weights: Value) -> Value:
        """⟨Σ_j w_j ψ_j, ψ_i⟩ for all i: Gw, shape (n,). O(n²)."""
        y = num.lift(self.labels)
        return y * num.matvec(self.gram, y * weights)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/n) Σ slack + (λ/2)‖u‖² subject to predictions f = F u, rows `margins`, and `coordinates` u = Fᵀ(y∘w), w ∈ Δ_n."""
        import cvxpy as cp

        n = len(self.labels)
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        weights, u = cp.Variable(n, name="weights"), cp.Variable(self.factor.width, name="u")
        f, slack = cp.Variable(n, name="f"), cp.Variable(n, name="slack")
        rows = [
            (u == self.atoms.T @ weights).set_label("coordinates"),
            (f == self.factor.matrix @ u).set_label("predictions"),
            (1 - cp.multiply(self.labels, f) <= slack).set_label("margins"),
            (slack >= 0).set_label("slack"),
            (weights >= 0).set_label("nonneg"),
            (cp.sum(weights) == 1).set_label("simplex"),
        ]
        return cp.Problem(cp.Minimize(cp.sum(slack) / n + regularization / 2 * cp.sum_squares(u)), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """(1/n) Σ [1 − (Gw)_i]_+ + (λ/2) wᵀGw."""
        weights = num.lift(point["weights"])
        margins = self.scores(num, weights)
        penalty = num.pos(num.dot(weights, margins)) * num.lift(self.regularization) / 2
        return SampleWeights(len(self.labels)).mean(num, num.pos(num.lift(1.0) - margins)) + penalty

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """max(w, 0) divided by its sum; equal weights if no w_j is positive."""
        return {"weights": simplex.on_simplex(num, point["weights"])}

    def multipliers(self, point: Point) -> Multipliers:
        """β = w, and for a the better of 1/n where the margin is below 1 and 1/n everywhere (the loss without its bend)."""
        weights, mass = np.asarray(point["weights"], dtype=float), 1.0 / len(self.labels)
        wrong = self.scores(FLOAT, weights) < 1.0
        tries = [{"margins": np.where(rows, mass, 0.0), "direction": weights} for rows in (wrong, np.ones_like(wrong))]
        return max(tries, key=lambda given: float(self.dual_bound(given)))

    def direction(self, multipliers: Multipliers) -> Array:
        """β, or the β of a factor's coordinates: a multiplier ν of the row `coordinates` has λv + ν = Σ a_i ψ_i at the solution."""
        if "direction" in multipliers or "coordinates" not in multipliers:
            return np.asarray(multipliers["direction"], dtype=float)
        factor, a = self.factor, np.asarray(multipliers["margins"], dtype=float)
        v = (self.atoms.T @ a - np.asarray(multipliers["coordinates"], dtype=float).reshape(-1)) / self.regularization
        head = v[: factor.rank] / np.sqrt(factor.values[: factor.rank])
        out: Array = self.labels * (factor.vectors[:, : factor.rank] @ head)
        return out

    def _dual_terms(self, num: Arithmetic, multipliers: Multipliers) -> tuple[Value, Value, Value, Value]:
        """a clipped to [0, 1/n], β, Gβ and g = G(λβ − a)."""
        a = hinge_rows.capped(num, multipliers["margins"], SampleWeights(len(self.labels)))
        beta = num.lift(self.direction(multipliers))
        along = self.scores(num, beta)
        return a, beta, along, along * num.lift(self.regularization) - self.scores(num, a)

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """Σ a + min g − (λ/2) βᵀGβ with a clipped to [0, 1/n]."""
        a, beta, along, slopes = self._dual_terms(num, multipliers)
        square = num.pos(num.dot(beta, along))
        return num.sum(a) - num.max(slopes * -1) - square * num.lift(self.regularization) / 2

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """Σ (1/n − a)[h]_+ + a[−h]_+, plus (λ/2)‖w − β‖²_G, plus Σ_j w_j (g_j − min g)."""
        weights = num.lift(point["weights"])
        a, beta, _, slopes = self._dual_terms(num, multipliers)
        hinges = hinge_rows.slack(num, num.lift(1.0) - self.scores(num, weights), a, SampleWeights(len(self.labels)))
        apart = squares.squared_norm(num, self.gram, num.lift(self.labels) * (weights - beta))
        behind = num.dot(weights, num.pos(slopes + num.max(slopes * -1)))
        return hinges + apart * num.lift(self.regularization) / 2 + behind

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖f − f*‖_H ≤ √(2 gap/λ)."""
        return math.sqrt(2.0 * max(gap, 0.0) / self.regularization)

    def trivial_point(self) -> Point:
        """Equal weights: f = ω_S, the mean classifier's direction."""
        n = len(self.labels)
        return {"weights": np.full(n, 1.0 / n)}

    def scale(self) -> float:
        """1, or the objective at equal weights where that is larger."""
        return max(1.0, float(self.objective(self.trivial_point())))

    def normalised(self) -> tuple[Self, Rescale]:
        """The problem itself: weights have no unit, and that of K is fixed by the margin 1. Multipliers come back as a and β."""
        return self, Rescale(multipliers=lambda given: {"margins": np.asarray(given["margins"]), "direction": self.direction(given)})

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Herding (λ = 1, K_ii ≤ 1) and other λ, kernels whose hinges bend, rank-deficient ones; one class, one sample, ties, K = 0."""
        gram, labels = margin_cases.gaussian(rng)
        for strength in (1.0, 0.1, 1e-3):
            yield Example(f"λ = {strength:g}", cls(gram, labels, strength))
        for strength in (0.5, 1e-3):
            yield Example(f"margins beyond 1, λ = {strength:g}", cls(16.0 * gram, labels, strength))
        for name, kernel, y, degenerate in margin_cases.instances(rng):
            yield Example(name, cls(kernel, y, 0.5), degenerate)

    @classmethod
    def laws(cls) -> list[Law]:
        """Change of all labels, permutation, duplication (weights and β are halved)."""

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(cls(problem.gram, -problem.labels, problem.regularization))

        return [Law("labels × −1", mirror), *squares.sample_laws("labels")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = DEFAULT_OF_RECIPES,
        regularization: float = 0.1,
    ) -> Self:
        """Recipe: rows, labels and kernel as for the hinge SVM (at most `samples` rows, features as they are, Gaussian kernel); λ = 0.1."""
        return cls(*margin_cases.recipe(dataset, rng, samples, standardise, similarity), regularization)
