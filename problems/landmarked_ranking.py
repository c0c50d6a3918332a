"""Ranking by least squares on landmark features, ‖w‖ bounded or ‖w‖² penalised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from simopt.core.arrays import Multipliers
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Features
from simopt.data.landmarks import LandmarkMap
from simopt.data.queries import Queries
from simopt.data.relevance import BINARY, NATURAL
from simopt.data.similarities import Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.model.forms import Forms
from simopt.model.problem import ALL_CONES, Example, Image, Law, laws_of_samples, problem
from simopt.problems import recipes
from simopt.problems.bounds import Ball, Bound, Ridge
from simopt.problems.domains import ranked_lists
from simopt.problems.domains.ranked_lists import Identifiers, RankedLists, Relevance
from simopt.problems.losses.landmark_squares import LandmarkSquares
from simopt.problems.norms import squares, vectors

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedRanking(RankedLists, LandmarkSquares):
    r"""min_w (1/q) Σ_{queries x} ‖η(r(x)) − Ψ_x w‖² + R(w),   R(w) = 0 on ‖w‖₂ ≤ B, or λ‖w‖².

    Ψ_x has a row ψ(z_i) for each document of query x, f_i = ⟨w, ψ(z_i)⟩ is its score, and η(r) = G(r)/‖G(r)‖_D (see simopt.data.relevance).
    As in the paper the loss of a query is a sum over its documents, and the mean is over queries: long lists weigh more. Stacked, with n
    documents in all, this is `LandmarkedLeastSquares` with targets η and 1/q for 1/n. So
        D(v) = vᵀη − (q/4)‖v‖² − R*(Ψᵀv),      R*(g) = B‖g‖, or ‖g‖²/(4λ),      v a multiplier of the row f = Ψw.
    The gap is (q/4)‖v − (2/q)(η − Ψw)‖² + R(w) − ⟨g, w⟩ + R*(g), g = Ψᵀv. w has no intercept, which would not change a ranking but the
    fit. With m documents a query the loss is m times a mean over documents: λ/m is the λ of `LandmarkedLeastSquares`.

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ(z_i).
    relevance : (n,) array
        r ≥ 0.
    qid : (n,) array
        which query each document belongs to, numbers or text; rows of a query need not stand together. Each needs two documents, one of
        them relevant.
    bound : Ball(radius=B) or Ridge(regularization=λ)
        B > 0, λ > 0; with λ P(w) − P* ≥ λ‖w − w*‖².
    logarithm : str
        of the discount F: "natural" or "binary".

    Point {"w": (d,)}, multipliers {"predictions": (n,)}. Scale: ‖η‖²/q.
    Source: Kar & Jain 2012, Appendix F (the ERM in the proof of Theorem 30, and that penalised).
    """

    source: ClassVar[str] = "Kar & Jain 2012, Appendix F, Theorem 30"
    forms: ClassVar[Forms] = {
        "ball": {
            "name": "landmarked-ranking",
            "title": "ranking by least squares on landmarks, ‖w‖ ≤ B",
            "arithmetics": ("float", "interval"),
            "parameters": ("radius",),
        },
        "penalty": {
            "name": "landmarked-ranking-penalised",
            "title": "ranking by least squares on landmarks, ‖w‖² penalised",
            "arithmetics": ("float", "interval", "rational"),
            "parameters": ("regularization",),
        },
    }

    features: Features
    relevance: Relevance
    qid: Identifiers
    bound: Bound
    logarithm: str = "natural"

    def __post_init__(self) -> None:
        self._check_lists()
        super().__post_init__()

    @property
    def count(self) -> int:
        """q, the number of queries."""
        return len(self.queries)

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/q)‖η − f‖² s.t. `predictions` f = Ψw and the `ball` ‖w‖ ≤ B, or plus λ‖w‖²."""
        import cvxpy as cp

        n, d = self.features.shape
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        loss, predictions = cp.sum_squares(self.targets - f) / len(self.queries), (f == self.features @ w).set_label("predictions")
        if isinstance(self.bound, Ball):
            radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
            return cp.Problem(cp.Minimize(loss), [predictions, (cp.norm(w, 2) <= radius).set_label("ball")])
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        return cp.Problem(cp.Minimize(loss + regularization * cp.sum_squares(w)), [predictions])

    def in_units(self, s: float, c: float) -> Self:
        """Ψ × c: B/c, λ × c². s = 1: relevances cannot be put in other units."""
        if s != 1.0:
            raise InvalidProblem(f"targets: a factor {s:g} given, but normalised relevance has no unit; leave it at 1")
        return replace(self, features=vectors.scaled(self.features, c), bound=self.bound.in_units(1.0 / c, 1.0))

    def target_unit(self) -> float:
        """1: η has no unit, its largest entries are of size 1."""
        return 1.0

    @classmethod
    def laws(cls) -> list[Law]:
        """Features × c with what bounds w; the other logarithm; sign; order of the documents; every query twice."""

        def change_base(problem: Any, rng: np.random.Generator) -> Image:
            """The other logarithm multiplies η and w by c, and the loss by c²."""
            natural = problem.logarithm == NATURAL
            c = 1.0 / math.log(2.0) if natural else math.log(2.0)
            both = squares.scaling(w=c, predictions=c)
            image = replace(problem, logarithm=BINARY if natural else NATURAL, bound=problem.bound.in_units(c, c * c))
            return Image(image, c * c, both, both)

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            """Features × −1 are undone by w × −1."""
            return Image(replace(problem, features=-problem.features), 1.0, squares.scaling(w=-1.0))

        def select(problem: Any, order: npt.NDArray[np.intp], weight: float) -> Image:
            """The documents in this order; where each of them comes twice, every query becomes two queries."""
            copies = np.arange(len(order)) % 2 if len(order) > len(problem.relevance) else np.zeros(len(order), dtype=np.intp)
            image = replace(
                problem,
                features=problem.features[order],
                relevance=problem.relevance[order],
                qid=2 * problem.queries.groups[order] + copies,
            )

            def carry(values: Multipliers) -> Multipliers:
                return {"predictions": np.asarray(values["predictions"])[order] * weight}

            return Image(image, 1.0, multipliers=carry)

        return [
            *super().laws(),
            Law("the other logarithm", change_base),
            Law("features × −1", mirror),
            *laws_of_samples(select, "relevance"),
        ]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Both logarithms, bounds of several sizes, active and not, more features than documents, equal features; ties, Ψ = 0."""
        bound = cls.either(ball=Ball(0.3), penalty=Ridge(0.1))
        qid = rng.permutation(np.repeat(np.arange(4), [6, 3, 8, 2]))
        features = rng.normal(size=(len(qid), 3)) / np.sqrt(3.0)
        score = features @ np.array([1.0, -0.5, 0.2]) + 0.3 * rng.normal(size=len(qid))
        relevance = np.clip(np.round(2.0 * score + 1.0), 0.0, 3.0)
        for query in range(4):
            relevance[np.flatnonzero(qid == query)[0]] = 2.0
        yield Example("four queries", cls(features, relevance, qid, bound))
        others: dict[str, Bound] = cls.either(
            ball={"inactive ball": Ball(50.0), "small ball": Ball(1e-3)}, penalty={"weak regularization": Ridge(1e-5)}
        )
        for name, other in others.items():
            yield Example(name, cls(features, relevance, qid, other))
        yield Example("four queries, base 2", cls(features, relevance, qid, bound, BINARY))
        wide = rng.normal(size=(5, 12))
        yield Example("more features than documents", cls(wide, np.array([0.0, 1.0, 2.0, 0.0, 1.0]), np.array(list("aabbb")), bound))
        yield Example("equal features", cls(np.repeat(features, 2, axis=1), relevance, qid, bound))
        yield Example("two documents", cls(np.array([[1.0], [-0.5]]), np.array([0.0, 1.0]), np.array([7, 7]), bound))
        yield Example("ties", cls(features[:4], np.ones(4), np.array([1, 1, 2, 2]), bound), degenerate=True)
        yield Example("zero features", cls(np.zeros((5, 2)), np.arange(5.0), np.array([1, 1, 2, 2, 2]), bound), degenerate=True)

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        queries: int | None = None,
        landmarks: int | None = None,
        standardise: bool = True,
        similarity: str | Similarity = DEFAULT_OF_KAR_JAIN,
        radius: float | None = None,
        regularization: float | None = None,
        logarithm: str = "natural",
    ) -> Self:
        """Recipe: all queries (or `queries` of them), documents standardised, `landmarks` of them (None: 50), Kar & Jain's Gaussian.

        Query ids are the groups of the data set, or a column `qid`. Queries of one document, or without a relevant one, are left out.
        B defaults to 10 standard deviations of η, λ to 1e-3 times the mean number of documents of a query.
        """
        inputs, relevance, qid, _ = ranked_lists.documents(dataset, rng, queries, standardise)
        count = min(recipes.LANDMARKS, len(inputs)) if landmarks is None else landmarks
        features = LandmarkMap.from_data(inputs, count, rng, similarity)(inputs)
        lists = Queries.of(relevance, qid)
        usual = cls.either(ball=Ball(10.0 * float(np.std(lists.eta(logarithm))) or 1.0), penalty=Ridge(1e-3 * lists.n / len(lists)))
        return cls(features, relevance, qid, cls.bounded(usual, radius=radius, regularization=regularization), logarithm)
