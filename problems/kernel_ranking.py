"""Ranking in an RKHS: squared loss of lists plus half the squared norm, the programme in the proof of Theorem 31."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import Positive
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, Image, Law, Rescale, laws_of_samples, problem
from simopt.problems.domains import list_domain
from simopt.problems.domains.list_domain import ListDomain
from simopt.problems.domains.ranked_lists import Identifiers
from simopt.problems.norms import gram_factor, squares
from simopt.problems.norms.gram_factor import Gram, KernelProblem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class KernelRanking(ListDomain, KernelProblem):
    r"""min_W ½‖W‖² + C E_x ‖f(x; W) − η(r(x))‖²,   f_i = ⟨W, φ(z_i)⟩,  W = Σ_z α_z φ(z).

    Let o be the entries of all lists, D_o the probability of the list and z_o the document (problems/domains/list_domain.py). Then the loss
    is Σ_o D_o ((Kα)_{z_o} − η_o)² = m Σ_z μ_z ((Kα)_z − r̃_z)² + a constant. The solution is the paper's
        α = (PK + I/(2mC))⁻¹ P r̃,   P = diag(μ),     so that α_z = 2mC μ_z (r̃_z − f_z).
    Dual, with a multiplier v_o of the row f_o = ⟨W, φ(z_o)⟩:
        min_f C D_o (f − η_o)² + v_o f = v_o η_o − v_o²/(4CD_o);      min_W ½‖W‖² − ⟨V, W⟩ = −½‖V‖²,  V = Σ_o v_o φ(z_o),
        D(v) = Σ_o v_o η_o − v_o²/(4CD_o) − ½‖V‖².
    The gap is a sum of two squares, Σ_o CD_o (η_o − f_o − v_o/(2CD_o))² + ½‖W − V‖², and P(W) − P* ≥ ½‖W − W*‖².
    Definition 29 itself, the least loss with ‖W‖ ≤ 1/γ, is `KernelGoodness` with the squared loss, masses μ and targets r̃, times m, plus
    the constant.

    Parameters
    ----------
    gram : (N, N) array
        K between the query-document pairs, symmetric positive semidefinite.
    relevance : (n,) array
        r ≥ 0 of every entry of every list.
    qid : (n,) array
        which list an entry belongs to; each needs two entries, one of them relevant.
    cost : float
        C > 0.
    documents : (n,) array of whole numbers, optional
        which row of K an entry is; None: entry i is row i.
    probabilities : (q,) array, optional
        of the lists, > 0 with sum 1, in the order in which they appear; None: 1/q each.
    logarithm : str
        of the discount F: "natural" or "binary".

    η as computed in float64 is the data. Point {"alpha": (N,)}, multipliers {"predictions": (n,)}. Scale: the objective at W = 0.
    Source: Kar & Jain 2012, Appendix F, proof of Theorem 31.
    """

    name: ClassVar[str] = "kernel-ranking"
    title: ClassVar[str] = "ranking in an RKHS by squared loss, ½‖W‖² penalised"
    source: ClassVar[str] = "Kar & Jain 2012, Appendix F, Theorem 31"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("cost",)

    gram: Gram
    relevance: Array
    qid: Identifiers
    cost: Positive
    documents: npt.NDArray[np.intp] | None = None
    probabilities: Array | None = None
    logarithm: str = "natural"

    def predictions(self, alpha: Value, num: Arithmetic = FLOAT) -> Value:
        """(Kα)_{z_o} of every entry."""
        return num.matvec(self.gram, num.lift(alpha))[self.entries]

    def pooled(self, num: Arithmetic, v: Value) -> Value:
        """Σ_{o: z_o = z} v_o, the coefficients of V, (N,)."""
        if self.documents is None:
            return v
        incidence = np.zeros((len(self.entries), len(self.gram)))
        incidence[np.arange(len(self.entries)), self.entries] = 1.0
        return num.rmatvec(incidence, v)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise ½‖u‖² + C Σ D(f − η)² s.t. `predictions` f = F u, K ≈ F Fᵀ."""
        import cvxpy as cp

        cost = cp.Parameter(nonneg=True, name="cost", value=self.cost)
        u, f = cp.Variable(self.factor.width, name="u"), cp.Variable(len(self.relevance), name="f")
        loss = cp.sum_squares(cp.multiply(np.sqrt(self.mass), f - self.targets))
        predictions = (f == self.factor.matrix[self.entries] @ u).set_label("predictions")
        return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u) + cost * loss), [predictions])

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """½αᵀKα + C Σ D_o (f_o − η_o)²."""
        alpha = num.lift(point["alpha"])
        loss = self.mean_loss(num, self.predictions(alpha, num))
        return squares.squared_norm(num, self.gram, alpha) / 2 + loss * num.lift(self.cost)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """α itself; of a factor's coordinates u, the better of u/√d and of the α_z = Σ 2CD_o(η_o − f_o) that f = Fu suggests."""
        if "alpha" in point:
            return {"alpha": num.lift(point["alpha"])}
        u = np.asarray(point["u"], dtype=float).reshape(-1)
        direct = self.factor.coefficients(u, np.ones(len(self.gram)), 0.0)
        fitted = 2.0 * self.cost * self.mass * (self.targets - (self.factor.matrix @ u)[self.entries])
        pooled = np.asarray(np.bincount(self.entries, weights=fitted, minlength=len(self.gram)), dtype=float)
        better = float(self.objective({"alpha": direct})) <= float(self.objective({"alpha": pooled}))
        return {"alpha": num.lift(direct if better else pooled)}

    def multipliers(self, point: Point) -> Multipliers:
        """v_o = D_o(2C(η_o − r̃_z) + α_z/(mμ_z)), for which V = W, or 2CD_o(η_o − f_o), for which the first square vanishes: the better."""
        alpha = np.asarray(point["alpha"], dtype=float)
        ratio = np.divide(alpha, self.document_mass, out=np.zeros_like(alpha), where=self.document_mass > 0)
        spread = self.mass * (2.0 * self.cost * (self.targets - self.expected[self.entries]) + ratio[self.entries])
        fitted = 2.0 * self.cost * self.mass * (self.targets - self.predictions(alpha))
        return min(({"predictions": spread}, {"predictions": fitted}), key=lambda known: float(self.gap(point, known)))

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(v); every v is dual feasible."""
        v = num.lift(multipliers["predictions"])
        return self.fixed_part(num, v, num.lift(self.cost)) - squares.squared_norm(num, self.gram, self.pooled(num, v)) / 2

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of the squares of the loss, plus ½‖W − V‖²."""
        alpha, v = num.lift(point["alpha"]), num.lift(multipliers["predictions"])
        rest = squares.squared_norm(num, self.gram, alpha - self.pooled(num, v)) / 2
        return self.loss_gap(num, v, self.predictions(alpha, num), num.lift(self.cost)) + rest

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖W − W*‖ ≤ √(2 gap), because ½‖·‖² is strongly convex."""
        return float(np.sqrt(2.0 * max(gap, 0.0)))

    def in_units(self, c: float) -> Self:
        """K × c and C/c: values, α and v × 1/c."""
        return replace(self, gram=gram_factor.rescaled(self.gram, c), cost=self.cost / c)

    def normalised(self) -> tuple[Self, Rescale]:
        """K/κ with a power of four near the largest K_zz: α = α'/κ, u = u'/√κ, v = v'/κ, values over κ. η has no unit."""
        kappa = squares.power_of_four(float(np.max(np.diagonal(self.gram))))
        back = squares.scaling(alpha=1.0 / kappa, u=kappa**-0.5)
        return self.in_units(1.0 / kappa), Rescale(back, squares.scaling(predictions=1.0 / kappa))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Lists of their own and shared documents, small and large C, rank-deficient kernels; K = 0, ties."""
        for name, gram, lists, degenerate in list_domain.instances(rng, kernels=True):
            yield Example(name, cls(gram, cost=3.0, **lists), degenerate)
            if name == "lists of their own":
                yield Example("large C", cls(gram, cost=1e3, **lists))

    @classmethod
    def laws(cls) -> list[Law]:
        """Unit of K, documents renumbered, order of the entries, every list twice."""

        def scale(problem: Any, rng: np.random.Generator) -> Image:
            c = float(4.0 ** rng.integers(-10, 11))
            both = squares.scaling(alpha=1.0 / c, predictions=1.0 / c)
            return Image(replace(problem, gram=problem.gram * c, cost=problem.cost / c), 1.0 / c, both, both)

        return [
            Law("kernel × c, C/c", scale),
            Law("documents renumbered", list_domain.renumbered),
            *laws_of_samples(list_domain.permuted, "relevance"),
        ]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        queries: int | None = 5,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        cost: float | None = None,
        logarithm: str = "natural",
    ) -> Self:
        """Recipe: the documents of at most `queries` queries, standardised, in lists of equal probability; a Gaussian with Kar & Jain's σ.

        C defaults to 50 over the mean number of documents of a query, for which the fit is kernel ridge regression with λ = 1e-2.
        """
        gram, lists = list_domain.recipe(dataset, rng, queries, standardise, similarity, logarithm)
        usual = 50.0 * len(np.unique(lists["qid"])) / len(lists["qid"])
        return cls(gram, cost=usual if cost is None else cost, **lists)
