"""Herding: the nearest point to ω_P of a convex hull of labelled feature vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import Labels
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_RECIPES
from simopt.model.problem import ALL_CONES, Example, Image, Law, Rescale, change_of_units, freeze, laws_of_samples, problem
from simopt.problems import recipes
from simopt.problems.domains import simplex
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.norms import gram_factor, squares
from simopt.problems.norms.gram_factor import Gram, KernelProblem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

EPS = float(np.finfo(np.float64).eps)


@problem
@dataclass(frozen=True, eq=False)
class Herding(KernelProblem):
    r"""min over w ∈ Δ_k of ‖ω_P − Σ_j w_j ψ_j‖²_H,   ψ_j = y_j φ(x_j),   ω_P = Σ_i p_i ψ_i,   j among the candidates.

    With G_ij = y_i y_j K_ij the value is cᵀGc, c = p − w (w = 0 off the candidates). This is a quadratic form of a difference, so that a
    small error is not a difference of large numbers.
    Dual: ‖a‖² ≥ 2⟨v, a⟩ − ‖v‖² for every v ∈ H. So with a = ω_P − ω and the hull's support function
        P* ≥ D(v) = 2 min_j ⟨v, ω_P − ψ_j⟩ − ‖v‖²,     and over v' = tv, t ≥ 0:     P* ≥ ([min_j ⟨v, ω_P − ψ_j⟩]_+)²/‖v‖².
    v = Σ β_i ψ_i is given by its weights β; only its direction counts, t is chosen (in floats; every t bounds). The gap is
        ‖(ω_P − ω) − tv‖² + 2t Σ_j w_j (max_l ⟨v, ψ_l⟩ − ⟨v, ψ_j⟩) ≥ 0.
    A point suggests v = ω_P − ω; with t = 1 that is the Frank–Wolfe gap 2 Σ w_j (g_j − min g), g_j = ⟨ω − ω_P, ψ_j⟩.
    P(ω) − P* ≥ ‖ω − ω*‖², so ‖ω − ω*‖ ≤ √gap.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1.
    candidates : (k,) integer array, optional
        indices of the atoms ψ_j, each once; None: all points (then w = p is optimal, with value 0).
    target : (n,) array, optional
        weights p_i ≥ 0 of ω_P with sum 1; None: 1/n each.

    Point {"weights": (k,)}, multipliers {"direction": (n,)} (β), or those of the declared row `difference`.
    Scale: ‖ω_P‖². If that is 0 to rounding, max_i ‖φ(x_i)‖² = max_i K_ii.
    Source: van Rooyen, Menon & Williamson 2015, §6 and Algorithm 1; Bach, Lacoste-Julien & Obozinski 2012.
    """

    name: ClassVar[str] = "herding"
    title: ClassVar[str] = "herding: the point of a hull of labelled feature vectors nearest to their mean"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §6"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")

    gram: Gram
    labels: Labels
    candidates: NDArray[np.intp] | None = None
    target: Probabilities | None = None

    @property
    def growth(self) -> int:
        """A sum of the entries of K, weighted."""
        return 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.candidates is not None:
            freeze(self, candidates=simplex.indices("candidates", self.candidates, len(self.labels)))

    @property
    def atoms(self) -> NDArray[np.intp]:
        """Indices of the atoms, shape (k,)."""
        return np.arange(len(self.labels)) if self.candidates is None else self.candidates

    def target_weights(self, num: Arithmetic = FLOAT) -> Value:
        """p, shape (n,); 1/n in the arithmetic asked for if no target was given."""
        n = len(self.labels)
        return (num.zeros(n) + num.lift(1.0)) / n if self.target is None else num.lift(self.target)

    def scattered(self, weights: Value, num: Arithmetic = FLOAT) -> Value:
        """w as weights of all points, shape (n,): 0 off the candidates."""
        if self.candidates is None:
            return num.lift(weights)
        k = len(self.candidates)
        index = np.full(len(self.labels), k)
        index[self.candidates] = np.arange(k)
        return num.concat([num.lift(weights), num.zeros(1)])[index]

    def difference(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """c = p − w, the weights of ω_P − ω, shape (n,)."""
        return self.target_weights(num) - self.scattered(point["weights"], num)

    def scores(self, c: Value, num: Arithmetic = FLOAT) -> Value:
        """⟨Σ c_i ψ_i, ψ_l⟩ for all points l: G c, shape (n,). O(n²)."""
        y = num.lift(self.labels)
        return y * num.matvec(self.gram, y * c)

    def _square(self, num: Arithmetic, c: Value) -> Value:
        """cᵀGc; exactly 0 if K = 0, also where radii of intervals would say otherwise."""
        return squares.squared_norm(num, self.gram, num.lift(self.labels) * c) if np.any(np.diagonal(self.gram)) else num.lift(0.0)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise ‖d‖² subject to `difference` d = Fᵀ(y∘p) − F_Jᵀ(y_J∘w), w ≥ 0 (`nonneg`), Σ w = 1 (`simplex`); K ≈ F Fᵀ."""
        import cvxpy as cp

        mean, atoms = self._in_factor()
        weights, d = cp.Variable(atoms.shape[1], name="weights"), cp.Variable(len(mean), name="difference")
        rows = [
            (d == mean - atoms @ weights).set_label("difference"),
            (weights >= 0).set_label("nonneg"),
            (cp.sum(weights) == 1).set_label("simplex"),
        ]
        return cp.Problem(cp.Minimize(cp.sum_squares(d)), rows)

    def _in_factor(self) -> tuple[Array, Array]:
        """ω_P and the atoms (columns) in the coordinates of the factor."""
        signed = self.factor.matrix.T * self.labels
        return signed @ self.target_weights(), signed[:, self.atoms]

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """cᵀGc with c = p − w."""
        return self._square(num, self.difference(point, num))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """max(w, 0) divided by its sum; equal weights if no w_j is positive."""
        return {"weights": simplex.on_simplex(num, point["weights"])}

    def multipliers(self, point: Point) -> Multipliers:
        """β = p − w: v = ω_P − ω."""
        return {"direction": self.difference(point)}

    def _direction(self, multipliers: Multipliers) -> Array:
        """β, or that of a factor's coordinates −v: the multiplier of the row d = ω_P − ω is −2d at the solution."""
        if "direction" in multipliers or "difference" not in multipliers:
            return np.asarray(multipliers["direction"], dtype=float)
        factor = self.factor
        head = -np.asarray(multipliers["difference"], dtype=float)[: factor.rank]
        out: Array = self.labels * (factor.vectors[:, : factor.rank] @ (head / np.sqrt(factor.values[: factor.rank])))
        return out

    def _scaled(self, multipliers: Multipliers) -> Array:
        """t β with the best t ≥ 0: in floats, one and the same in every arithmetic."""
        beta = self._direction(multipliers)
        beta = beta / squares.power_of_two(squares.largest(beta))
        margin, square = self._margin(FLOAT, beta), self._square(FLOAT, beta)
        t = max(margin, 0.0) / square if square > 0.0 else 0.0
        return beta * t if math.isfinite(t) else np.zeros_like(beta)

    def _margin(self, num: Arithmetic, beta: Value) -> Value:
        """min_j ⟨v, ω_P − ψ_j⟩."""
        scores = self.scores(beta, num)
        return num.dot(self.target_weights(num), scores) - num.max(scores[self.atoms])

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """2 min_j ⟨tv, ω_P − ψ_j⟩ − ‖tv‖² with the best t ≥ 0; 0 at t = 0."""
        scaled = self._scaled(multipliers)
        if not np.any(scaled):
            return num.lift(0.0)
        return self._margin(num, num.lift(scaled)) * 2 - self._square(num, num.lift(scaled))

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """‖(ω_P − ω) − tv‖² + 2 Σ_j w_j (max_l ⟨tv, ψ_l⟩ − ⟨tv, ψ_j⟩)."""
        scaled = self._scaled(multipliers)
        if not np.any(scaled):
            return self.objective(point, num)
        scores = self.scores(num.lift(scaled), num)[self.atoms]
        behind = num.dot(num.lift(point["weights"]), num.pos(num.max(scores) - scores))
        return self._square(num, self.difference(point, num) - num.lift(scaled)) + behind * 2

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖ω − ω*‖_H ≤ √gap."""
        return math.sqrt(max(gap, 0.0))

    def trivial_point(self) -> Point:
        """Equal weights: the mean of the candidates."""
        k = len(self.atoms)
        return {"weights": np.full(k, 1.0 / k)}

    def scale(self) -> float:
        """‖ω_P‖², or max_i K_ii where that is no more than the rounding error of the quadratic form."""
        p = self.target_weights()
        square = float(self._square(FLOAT, p))
        lengths = np.sqrt(np.maximum(np.diagonal(self.gram), 0.0))
        noise = len(p) * EPS * float(p @ lengths) ** 2
        return square if square > noise else float(np.max(lengths)) ** 2

    def normalised(self) -> tuple[Herding, Rescale]:
        """K/κ with a power of four near max K_ii: the same weights and directions, values divided by κ."""
        kappa = squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        natural = Herding(gram_factor.rescaled(self.gram, 1.0 / kappa), self.labels, self.candidates, self.target)
        back = squares.scaling(difference=math.sqrt(kappa))
        return natural, Rescale(back, lambda values: {"direction": natural._direction(values)})

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Hulls of all points and of fewer, weighted targets, one class, one candidate; ω_P = 0, K = 0, duplicated points."""
        gaussian, y = recipes.small_kernel(rng, 16)
        labels = np.where(y > 0, 1.0, -1.0)
        yield Example("five candidates", cls(gaussian, labels, np.array([0, 3, 4, 9, 15])))
        yield Example("all points", cls(gaussian, labels))
        p = rng.exponential(size=16)
        yield Example("weighted target", cls(gaussian, labels, np.array([14, 2, 7]), p / p.sum()))
        yield Example("one class", cls(gaussian, np.ones(16), np.arange(4)))
        yield Example("one candidate", cls(gaussian, labels, np.array([5])))
        features = rng.normal(size=(12, 3))
        rank3, sides = features @ features.T, np.where(features[:, 0] > 0, 1.0, -1.0)
        yield Example("rank 3", cls(rank3, sides, np.arange(6)))
        twice = np.repeat(np.arange(6), 2)
        yield Example("duplicated points", cls(rank3[np.ix_(twice, twice)], sides[twice], np.arange(8)), degenerate=True)
        yield Example("contradicting labels", cls(np.ones((2, 2)), np.array([1.0, -1.0])), degenerate=True)
        yield Example("zero kernel", cls(np.zeros((3, 3)), np.array([1.0, -1.0, 1.0])), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Units of the kernel, change of all labels, permutation, duplication."""

        def by(problem: Any, s: float) -> Image:
            return Image(replace(problem, gram=problem.gram * s), s)

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, labels=-problem.labels))

        return [change_of_units("kernel × s", by), Law("labels × −1", mirror), *laws_of_samples(_selected, "labels")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 500,
        standardise: bool = False,
        similarity: str | Similarity = DEFAULT_OF_RECIPES,
        candidates: int | None = 50,
    ) -> Self:
        """Recipe: rows, labels and kernel as for the hinge SVM; `candidates` of the rows, drawn at random, are the atoms.

        None (or more than there are rows) takes all rows, where uniform weights are optimal with value 0.
        """
        inputs, labels = recipes.binary_sample(dataset, rng, samples, standardise)
        n = len(labels)
        few = None if candidates is None else min(validate.whole("candidates", candidates, minimum=1), n)
        chosen = None if few is None or few == n else np.sort(rng.choice(n, size=few, replace=False))
        return cls(recipes.gram(inputs, similarity), labels, chosen)


def _selected(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
    """The problem on the samples of `order`; every copy of a candidate is a candidate, weights and β are multiplied by `weight`."""
    rank = np.full(len(problem.labels), -1)
    rank[problem.atoms] = np.arange(len(problem.atoms))
    copies = np.flatnonzero(rank[order] >= 0)
    image = replace(
        problem,
        gram=problem.gram[np.ix_(order, order)],
        labels=problem.labels[order],
        candidates=None if problem.candidates is None else copies,
        target=None if problem.target is None else problem.target[order] * weight,
    )

    def point(values: Point) -> Point:
        return {"weights": np.asarray(values["weights"])[rank[order[copies]]] * weight}

    def multipliers(values: Multipliers) -> Multipliers:
        return {"direction": np.asarray(values["direction"])[order] * weight}

    return Image(image, 1.0, point, multipliers)
