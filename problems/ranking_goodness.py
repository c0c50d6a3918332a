"""Goodness of a similarity for ranking on a finite domain of lists: the smallest squared loss of predictors with weights bounded by B."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Positive
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.problem import ALL_CONES, Example, Image, Law, Rescale, laws_of_samples, problem
from simopt.problems.domains import list_domain
from simopt.problems.domains.list_domain import ListDomain
from simopt.problems.domains.ranked_lists import Identifiers
from simopt.problems.norms import squares

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


def square(name: str, gram: Any) -> Array:
    """A finite N×N matrix of any sign."""
    out = validate.matrix(name, gram)
    if out.shape[0] != out.shape[1]:
        raise InvalidProblem(f"{name}: shape {out.shape} is not square; entry (i, j) is K between documents i and j of one domain")
    return validate.squarable(name, out)


Similarities = Annotated[Array, square]


@problem
@dataclass(frozen=True, eq=False)
class RankingGoodness(ListDomain):
    r"""ε₀(B) = min over |w_z| ≤ B of E_x ‖f(x) − η(r(x))‖²,   f_i = E_{z∼μ} w(z) K(z_i, z).

    K is (ε₀, B)-good for the ranking problem exactly if ε₀(B) ≤ ε₀ (printed: "<"). Declared with w = Bv, |v| ≤ 1. The expectation is over
    lists x with probabilities, η(r) = G(r)/‖G(r)‖_D of the whole list, and μ is the distribution of a random entry of a random list. With
    entries o of all lists, D_o the probability of the list and z_o the document (domains/list_domain.py), this is a quadratic programme:
        min over |v_z| ≤ 1 of Σ_o D_o (f_o − η_o)²,   f_o = B Σ_z μ_z v_z K(z_o, z).
    Its dual has one multiplier an entry:
        D(q) = Σ_o q_o η_o − q_o²/(4D_o) − B Σ_z μ_z |Σ_o q_o K(z_o, z)|,
    a bound for any q. The gap is Σ_o D_o (η_o − f_o − q_o/(2D_o))², plus B Σ_z μ_z (|g_z| − v_z g_z), g = Σ_o q_o K(z_o, ·).

    Parameters
    ----------
    gram : (N, N) array
        K(z, z') between the query-document pairs, of any sign, not necessarily symmetric.
    relevance : (n,) array
        r ≥ 0 of every entry of every list.
    qid : (n,) array
        which list an entry belongs to; each needs two entries, one of them relevant.
    bound : float
        B > 0.
    documents : (n,) array of whole numbers, optional
        which row of K an entry is; None: entry i is row i.
    probabilities : (q,) array, optional
        of the lists, > 0 with sum 1, in the order in which they appear; None: 1/q each.
    logarithm : str
        of the discount F: "natural" or "binary".

    η and μ as computed in float64 are the data. Point {"v": (N,)} (w = Bv), multipliers {"predictions": (n,)}, q. Scale: the loss at w = 0.
    Source: Kar & Jain 2012, Definition 28.
    """

    name: ClassVar[str] = "ranking-goodness"
    title: ClassVar[str] = "goodness ε₀(B) of a similarity for ranking, on a finite domain of lists"
    source: ClassVar[str] = "Kar & Jain 2012, Definition 28"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("bound",)
    by_hand: ClassVar[str] = "time: a derived certificate has to read the declaration, find a point inside and repair its multipliers"

    gram: Similarities
    relevance: Array
    qid: Identifiers
    bound: Positive
    documents: npt.NDArray[np.intp] | None = None
    probabilities: Array | None = None
    logarithm: str = "natural"

    @cached_property
    def measure(self) -> Array:
        """μ, (N,)."""
        return self.document_mass / self.length

    def predictions(self, v: Value, num: Arithmetic = FLOAT) -> Value:
        """f_o = B Σ_z μ_z v_z K(z_o, z)."""
        return num.matvec(self.rows, num.lift(self.measure) * num.lift(v)) * num.lift(self.bound)

    def influence(self, num: Arithmetic, q: Value) -> Value:
        """g_z = Σ_o q_o K(z_o, z)."""
        return num.rmatvec(self.rows, q)

    def weights(self, point: Point) -> Array:
        """w = Bv, (N,)."""
        return self.bound * np.asarray(point["v"], dtype=float)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise Σ D(f − η)² s.t. `predictions` f = B K(μ∘v) and |v| ≤ 1 (`upper`, `lower`)."""
        import cvxpy as cp

        bound = cp.Parameter(nonneg=True, name="bound", value=self.bound)
        v, f = cp.Variable(len(self.gram), name="v"), cp.Variable(len(self.relevance), name="f")
        rows = [
            (f == bound * ((self.rows * self.measure) @ v)).set_label("predictions"),
            (v <= 1).set_label("upper"),
            (v >= -1).set_label("lower"),
        ]
        return cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(np.sqrt(self.mass), f - self.targets))), rows)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """Σ D_o (f_o − η_o)²."""
        return self.mean_loss(num, self.predictions(point["v"], num))

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """v clipped to [−1, 1]."""
        return {"v": num.clip(num.lift(point["v"]), -1.0, 1.0)}

    def multipliers(self, point: Point) -> Multipliers:
        """q_o = 2D_o(η_o − f_o)."""
        return {"predictions": 2.0 * self.mass * (self.targets - self.predictions(np.asarray(point["v"], dtype=float)))}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = float("inf")) -> Value:
        """D(q); every q is dual feasible."""
        q = num.lift(multipliers["predictions"])
        behind = num.dot(num.lift(self.measure), num.abs(self.influence(num, q)))
        return self.fixed_part(num, q, num.lift(1.0)) - behind * num.lift(self.bound)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The remainders of the squares, plus B Σ μ_z (|g_z| − v_z g_z)."""
        q, v = num.lift(multipliers["predictions"]), num.lift(point["v"])
        g = self.influence(num, q)
        behind = num.dot(num.lift(self.measure), num.pos(num.abs(g) - v * g))
        return self.loss_gap(num, q, self.predictions(v, num), num.lift(1.0)) + behind * num.lift(self.bound)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """2B in max |w_z|: the loss need not be strongly convex in w, and all that is known is the box."""
        return 2.0 * self.bound

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"v": np.zeros(len(self.gram))}

    def in_units(self, c: float) -> Self:
        """K × c: B/c, the same v."""
        return replace(self, gram=self.gram * c, bound=self.bound / c)

    def normalised(self) -> tuple[Self, Rescale]:
        """K/κ with a power of two near the largest |K|: the same v and q. η has no unit."""
        return self.in_units(1.0 / squares.power_of_two(squares.largest(self.gram))), Rescale()

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Lists of their own and shared documents, small and large B, kernels and any similarity; K = 0, ties."""
        for name, gram, lists, degenerate in list_domain.instances(rng, kernels=False):
            yield Example(name, cls(gram, bound=2.0, **lists), degenerate)
            if name == "lists of their own":
                yield Example("large B", cls(gram, bound=300.0, **lists))

    @classmethod
    def laws(cls) -> list[Law]:
        """Unit and sign of K, documents renumbered, order of the entries, every list twice."""

        def scale(problem: Any, rng: np.random.Generator) -> Image:
            return Image(problem.in_units(float(2.0 ** rng.integers(-20, 21))))

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, gram=-problem.gram), 1.0, squares.scaling(v=-1.0))

        return [
            Law("similarity × c", scale),
            Law("similarity × −1", mirror),
            Law("documents renumbered", list_domain.renumbered),
            *laws_of_samples(list_domain.permuted, "relevance"),
        ]

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        queries: int | None = 2,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        bound: float = 10.0,
        logarithm: str = "natural",
    ) -> Self:
        """Recipe: the documents of at most `queries` queries, standardised, are the domain, in lists of equal probability."""
        gram, lists = list_domain.recipe(dataset, rng, queries, standardise, similarity, logarithm)
        return cls(gram, bound=bound, **lists)
