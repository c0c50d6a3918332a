"""Linear loss over the convex hull of the unit balls of several kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes, Labels
from simopt.data.similarities import Gaussian, Similarity
from simopt.model.problem import ALL_CONES, Example, Image, Law, Problem, Rescale, laws_of_samples, problem, with_fields
from simopt.problems import recipes
from simopt.problems.norms import gram_factor, power_units, squares, unit_ball, vectors
from simopt.problems.norms.gram_factor import Factor

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

EPS = float(np.finfo(np.float64).eps)


def stack(name: str, grams: npt.ArrayLike) -> Array:
    """k valid Gram matrices of one size as one array; the array itself if it is one already."""
    try:
        count = np.shape(grams)
    except ValueError as error:
        raise InvalidProblem(f"{name}: Gram matrices of one size needed ({error})") from error
    size = count[-1] if count else "n"
    if len(count) != 3 or count[0] == 0:
        raise InvalidProblem(f"{name}: shape {count}, expected (k, {size}, {size}): one Gram matrix for each of k ≥ 1 kernels")
    given: Any = grams
    parts = [gram_factor.checked(f"{name}[{i}]", given[i]) for i in range(count[0])]
    whole = isinstance(grams, np.ndarray) and grams.dtype == np.float64
    if whole and all(np.array_equal(part, given[i]) for i, part in enumerate(parts)):
        return np.asarray(grams)
    return np.stack(parts)


Grams = Annotated[Array, stack, Axes("k", "n", "n")]


@problem
@dataclass(frozen=True, eq=False)
class MultipleKernelMean(Problem):
    r"""min over co(B_1 ∪ … ∪ B_k) of (1/n) Σ_j (1 − y_j f(x_j)),   B_i the unit ball of the RKHS of kernel K_i,  y_j = ±1.

    The hull is {f = Σ f_i : Σ ‖f_i‖_i ≤ 1}, a ball of the group norm. Σ_i μ_i g_i with ‖g_i‖ ≤ 1 has f_i = μ_i g_i of norms with sum
    ≤ 1, and f_i = ‖f_i‖ (f_i/‖f_i‖) the other way round. With ω^i = (1/n) Σ y_j φ_i(x_j) the loss is 1 − Σ_i ⟨ω^i, f_i⟩. So
        P* = 1 − max_i ‖ω^i‖ = min_i (1 − ‖ω_S^i‖),  reached at f = ω^i/‖ω^i‖ of a kernel with the longest mean (of several: a tie).
    Dual: min_f −Σ ⟨ω^i, f_i⟩ + s(Σ ‖f_i‖ − 1) is −s if s ≥ every ‖ω^i‖ and −∞ else: D = 1 − max_i ‖ω^i‖, whatever multipliers are given.
    With s = max_i ‖ω^i‖ and t_i = ‖f_i‖ the gap is s(1 − Σ t_i) + Σ t_i (s − ‖ω^i‖) + Σ (‖ω^i‖ t_i − ⟨ω^i, f_i⟩), all ≥ 0.

    Parameters
    ----------
    grams : (k, n, n) array
        K_1, …, K_k, each symmetric positive semidefinite.
    labels : (n,) array
        y_j = ±1.

    Point {"alpha": (k, n)}, f_i = Σ_j α_ij k_i(·, x_j); multipliers {"predictions": (n,)} (not used). Scale: 1, the loss at f = 0.
    Source: van Rooyen, Menon & Williamson 2015, §3.4.
    """

    name: ClassVar[str] = "multiple-kernel-mean"
    title: ClassVar[str] = "linear loss over the convex hull of the unit balls of several kernels"
    source: ClassVar[str] = "van Rooyen, Menon & Williamson 2015, §3.4"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    by_hand: ClassVar[str] = "judged with the kernels themselves, not with the truncated factors that are declared; time"

    grams: Grams
    labels: Labels

    @property
    def growth(self) -> int:
        """1 − yf is linear."""
        return 1

    @cached_property
    def kernels(self) -> tuple[Array, ...]:
        """The k Gram matrices; each keeps its factor."""
        return tuple(gram_factor.trusted(gram) for gram in self.grams)

    def as_certified(self, num: Arithmetic) -> tuple[Problem, str]:
        """The problem with K_i + δ_iI where K_i ⪰ 0 is not proven (see `gram_factor.certified`); made once."""
        raised = [gram_factor.certified(gram, num, f"grams[{i}]") for i, gram in enumerate(self.kernels)]
        name = ", ".join(said for _, said in raised if said)
        if all(one is gram for (one, _), gram in zip(raised, self.kernels, strict=True)):
            return self, name
        made: MultipleKernelMean | None = vars(self).get("_as_certified")
        if made is None:
            made = with_fields(self, grams=np.stack([one for one, _ in raised]))
            vars(made)["kernels"] = tuple(one for one, _ in raised)  # which have the factors
            vars(self)["_as_certified"] = made
        return made, name

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Their truncated factors."""
        return tuple(gram_factor.factor_of(gram) for gram in self.kernels)

    def _mean(self, num: Arithmetic) -> Value:
        """Coefficients y/n, common to all ω^i."""
        return num.lift(self.labels) / len(self.labels)

    def _mean_lengths(self, num: Arithmetic) -> list[Value]:
        return [unit_ball.length(num, gram, self._mean(num)) for gram in self.kernels]

    def lengths(self) -> Array:
        """‖ω^i‖ of each kernel in floats, shape (k,). O(k n²)."""
        return np.array(self._mean_lengths(FLOAT))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise 1 − Σ_i ⟨F_iᵀy/n, u_i⟩ subject to the row `ball`, Σ_i ‖u_i‖ ≤ 1, K_i ≈ F_i F_iᵀ; variables u0, u1, …"""
        import cvxpy as cp

        u = [cp.Variable(factor.width, name=f"u{i}") for i, factor in enumerate(self.factors)]
        gain = sum(mean @ part for mean, part in zip(self._in_factors(), u, strict=True))
        return cp.Problem(cp.Minimize(1 - gain), [(sum(cp.norm(part, 2) for part in u) <= 1).set_label("ball")])

    def _in_factors(self) -> list[Array]:
        return [factor.matrix.T @ self._mean(FLOAT) for factor in self.factors]

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """1 − Σ_i ⟨ω^i, f_i⟩."""
        alpha, mean = num.lift(point["alpha"]), self._mean(num)
        gain = num.lift(0.0)
        for i, gram in enumerate(self.kernels):
            gain = gain + unit_ball.pairing(num, gram, mean, alpha[i])
        return num.lift(1.0) - gain

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α (or those of the factors' coordinates u0, u1, …), drawn back until Σ ‖f_i‖ ≤ 1."""
        alpha = self._coefficients({key: num.mid(num.lift(value)) for key, value in point.items()})

        def norm(arithmetic: Arithmetic, a: Value) -> Value:
            return sum((unit_ball.length(arithmetic, gram, a[i]) for i, gram in enumerate(self.kernels)), arithmetic.lift(0.0))

        return {"alpha": vectors.inside_ball(num, alpha, 1.0, norm)}

    def _coefficients(self, point: Point) -> Array:
        if "alpha" in point:
            return np.asarray(point["alpha"], dtype=float)
        return np.stack([factor.coefficients(point[f"u{i}"], self.labels, 0.0) for i, factor in enumerate(self.factors)])

    def multipliers(self, point: Point) -> Multipliers:
        """y/n, the multiplier that a row f = Σ K_i α_i would have."""
        return {"predictions": self.labels / len(self.labels)}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """1 − max_i ‖ω^i‖."""
        return num.lift(1.0) - num.max(num.concat(self._mean_lengths(num)))

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """s(1 − Σ t_i) + Σ t_i (s − ‖ω^i‖) + what Cauchy–Schwarz leaves in each kernel."""
        alpha, mean, sizes = num.lift(point["alpha"]), self._mean(num), self._mean_lengths(num)
        s, one = num.max(num.concat(sizes)), num.lift(1.0)
        if not num.lower(s) > 0.0:  # no mean is surely there: what the terms have in common would only widen the bound
            return num.pos(s - (one - self.objective(point, num)))
        total, rest = num.lift(0.0), num.lift(0.0)
        for i, gram in enumerate(self.kernels):
            t = unit_ball.length(num, gram, alpha[i])
            angle = power_units.angle(num, gram, alpha[i], mean, t, sizes[i])
            total, rest = total + t, rest + t * num.pos(s - sizes[i]) + angle
        return s * num.pos(one - total) + rest

    def distance(self, gap: float, point: Point | None = None) -> float:
        r"""Σ_i ‖f_i − f*_i‖ ≤ g/δ + √(2g/δ), δ = s − (the second longest mean, 0 if k = 1), and never more than 2.

        From the gap's terms Σ_{i≠b} t_i ≤ g/δ for the best kernel b, and ⟨ω^b, f_b⟩ ≥ s − g − (s − δ)g/δ = s − sg/δ, so
        ‖f_b − ω^b/s‖² ≤ 2(1 − ⟨ω^b, f_b⟩/s) ≤ 2g/δ. With a tie (δ = 0 to rounding) the optimum is not unique: 2.
        """
        ordered = np.sort(self.lengths())[::-1]
        lead = float(ordered[0] - ordered[1]) if len(ordered) > 1 else float(ordered[0])
        if lead <= len(self.labels) * EPS * float(ordered[0]):
            return 2.0
        ratio = max(gap, 0.0) / lead
        return min(2.0, ratio + math.sqrt(2.0 * ratio))

    def trivial_point(self) -> Point:
        """α = 0."""
        return {"alpha": np.zeros(self.grams.shape[:2])}

    def normalised(self) -> tuple[MultipleKernelMean, Rescale]:
        """K_i/κ with one power of four near the largest diagonal entry: α = α'/√κ; the loss is 1 − √κ(1 − P'), with the same solutions."""
        kappa = squares.power_of_four(max(float(np.max(np.diagonal(gram))) for gram in self.kernels))
        natural = self if kappa == 1.0 else replace(self, grams=self.grams * (1.0 / kappa))
        # coordinates of a factor mean something only with that factor, so that coefficients are what goes back
        return natural, Rescale(lambda point: {"alpha": natural._coefficients(point) / math.sqrt(kappa)})

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Bandwidths, kernels of low rank and of unequal size, one kernel, a zero kernel among others; ties, ω_S = 0."""
        inputs = rng.normal(size=(14, 2))
        labels = np.where(np.sin(2.0 * inputs[:, 0]) + 0.3 * rng.normal(size=14) > 0, 1.0, -1.0)
        gaussians = np.stack([Gaussian(width).gram(inputs) for width in (0.3, 1.0, 3.0)])
        linear = inputs @ inputs.T
        yield Example("three bandwidths", cls(gaussians, labels))
        yield Example("linear and gaussian", cls(np.stack([linear, gaussians[1]]), labels))
        yield Example("unequal sizes", cls(np.stack([1e-3 * linear, 4.0 * gaussians[0]]), labels))
        yield Example("one kernel", cls(gaussians[:1], labels))
        yield Example("a zero kernel", cls(np.stack([np.zeros((14, 14)), gaussians[1]]), labels))
        yield Example("one class", cls(gaussians, np.ones(14)))
        yield Example("tie", cls(np.stack([gaussians[1], gaussians[1]]), labels), degenerate=True)
        yield Example("contradicting labels", cls(np.ones((2, 2, 2)), np.array([1.0, -1.0])), degenerate=True)
        yield Example("zero kernels", cls(np.zeros((2, 3, 3)), np.array([1.0, -1.0, 1.0])), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Change of all labels, order of the kernels, permutation and duplication of the samples."""

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, labels=-problem.labels), 1.0, squares.scaling(alpha=-1.0))

        def reorder(problem: Any, rng: np.random.Generator) -> Image:
            order = rng.permutation(len(problem.grams))
            return Image(replace(problem, grams=problem.grams[order]), 1.0, lambda x: {"alpha": np.asarray(x["alpha"])[order]})

        def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
            image = replace(problem, grams=problem.grams[:, order[:, None], order], labels=problem.labels[order])
            return Image(image, 1.0, lambda x: {"alpha": np.asarray(x["alpha"])[:, order] * weight})

        return [Law("labels × −1", mirror), Law("order of the kernels", reorder), *laws_of_samples(select, "labels")]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        samples: int | None = 300,
        standardise: bool = False,
        similarities: str | Similarity | Sequence[str | Similarity] = ("gaussian", "gaussian-mean-distance", "laplacian"),
    ) -> Self:
        """Recipe: rows and labels as for the hinge SVM, at most `samples` of them, one kernel for each of `similarities`.

        These are similarities, or names of them, also as one text with commas. The default three have k(x, x) = 1: comparable unit balls.
        """
        inputs, labels = recipes.binary_sample(dataset, rng, samples, standardise)
        named = similarities.split(",") if isinstance(similarities, str) else similarities
        chosen = [named] if isinstance(named, Similarity) else [x.strip() if isinstance(x, str) else x for x in named]
        if not chosen:
            raise InvalidProblem("similarities: none given, at least one kernel needed")
        return cls(np.stack([recipes.gram(inputs, similarity) for similarity in chosen]), labels)
