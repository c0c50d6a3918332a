"""Ranking by least squares on landmark features, with ‖w‖ bounded (Ivanov form)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.problems.cases import landmark_ranking_cases
from simopt.problems.cases.landmark_ranking_cases import RankedSquares
from simopt.problems.norms.landmark_forms import SquaresInBall
from simopt.solving.problem import ALL_CONES, Example, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedRanking(RankedSquares, SquaresInBall):
    r"""min_w (1/q) Σ_{queries x} ‖η(r(x)) − Ψ_x w‖²   subject to   ‖w‖₂ ≤ B.

    Ψ_x has a row ψ(z_i) for each document of query x, f_i = ⟨w, ψ(z_i)⟩ is its score, and η(r) = G(r)/‖G(r)‖_D (see simopt.data.relevance).
    As in the paper the loss of a query is a sum over its documents, and the mean is over queries: long lists weigh more. Stacked, with n
    documents in all, this is `LandmarkedLeastSquares` with targets η and 1/q for 1/n:
        D(v) = vᵀη − (q/4)‖v‖² − B‖Ψᵀv‖,      v a multiplier of the row f = Ψw,
    with the gap (q/4)‖v − (2/q)(η − Ψw)‖² + (B‖g‖ − ⟨g, w⟩), g = Ψᵀv. w has no intercept, which would not change a ranking but the fit.

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ(z_i).
    relevance : (n,) array
        r ≥ 0.
    qid : (n,) array
        which query each document belongs to, numbers or text; rows of a query need not stand together. Each needs two documents, one of
        them relevant.
    radius : float
        B > 0.
    logarithm : str
        of the discount F: "natural" or "binary".

    Point {"w": (d,)}, multipliers {"predictions": (n,)}. Scale: ‖η‖²/q.
    Source: Kar & Jain 2012, Appendix F (the ERM in the proof of Theorem 30).
    """

    name: ClassVar[str] = "landmarked-ranking"
    title: ClassVar[str] = "ranking by least squares on landmarks, ‖w‖ ≤ B"
    source: ClassVar[str] = "Kar & Jain 2012, Appendix F, Theorem 30"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval")
    parameters: ClassVar[tuple[str, ...]] = ("radius",)

    features: Array
    relevance: Array
    qid: npt.NDArray[Any]
    radius: float
    logarithm: str = "natural"

    def __post_init__(self) -> None:
        self._check()
        freeze(self, radius=validate.positive("radius", self.radius))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/q)‖η − f‖² s.t. `predictions` f = Ψw and the `ball` ‖w‖ ≤ B."""
        import cvxpy as cp

        n, d = self.features.shape
        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        rows = [(f == self.features @ w).set_label("predictions"), (cp.norm(w, 2) <= radius).set_label("ball")]
        return cp.Problem(cp.Minimize(cp.sum_squares(self.targets - f) / len(self.queries)), rows)

    def in_units(self, s: float, c: float) -> Self:
        """Ψ × c: B/c. s = 1."""
        return replace(self, features=self.scaled_features(s, c), radius=self.radius / c)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Both logarithms, active and inactive balls, more features than documents, equal features; ties, Ψ = 0."""
        for name, features, relevance, qid, logarithm, degenerate in landmark_ranking_cases.instances(rng):
            yield Example(name, cls(features, relevance, qid, 0.3, logarithm), degenerate)
            if name == "four queries":
                yield Example("inactive ball", cls(features, relevance, qid, 50.0))
                yield Example("small ball", cls(features, relevance, qid, 1e-3))

    @classmethod
    def from_data(
        cls,
        dataset: Dataset,
        rng: np.random.Generator,
        *,
        queries: int | None = None,
        landmarks: int | None = None,
        standardise: bool = True,
        similarity: str | Similarity = "gaussian-mean-distance",
        radius: float | None = None,
        logarithm: str = "natural",
    ) -> Self:
        """Recipe: all queries (or `queries` of them), documents standardised, `landmarks` of them (None: 50), Kar & Jain's Gaussian.

        Query ids are the groups of the data set, or a column `qid`. Queries of one document, or without a relevant one, are left out.
        B defaults to 10 standard deviations of η.
        """
        features, relevance, qid = landmark_ranking_cases.recipe(dataset, rng, queries, landmarks, standardise, similarity)
        made = cls(features, relevance, qid, 1.0 if radius is None else radius, logarithm)
        return made if radius is not None else replace(made, radius=10.0 * float(np.std(made.targets)) or 1.0)
