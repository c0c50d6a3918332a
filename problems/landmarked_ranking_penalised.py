"""Ranking by least squares on landmark features, with ‖w‖² penalised (Tikhonov form)."""

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
from simopt.problems.norms.landmark_forms import SquaresPenalised
from simopt.solving.problem import ALL_CONES, Example, freeze, problem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset


@problem
@dataclass(frozen=True, eq=False)
class LandmarkedRankingPenalised(RankedSquares, SquaresPenalised):
    r"""min_w (1/q) Σ_{queries x} ‖η(r(x)) − Ψ_x w‖² + λ‖w‖².

    The penalised form of `LandmarkedRanking`, and `LandmarkedRidge` with targets η and 1/q for 1/n:
        D(v) = vᵀη − (q/4)‖v‖² − ‖Ψᵀv‖²/(4λ),      v a multiplier of the row f = Ψw,
    with the gap (q/4)‖v − (2/q)(η − Ψw)‖² + λ‖w − Ψᵀv/(2λ)‖², and P(w) − P* ≥ λ‖w − w*‖².
    With m documents a query the loss is m times a mean over documents: λ/m is the λ of `LandmarkedRidge`.

    Parameters
    ----------
    features : (n, d) array
        Ψ, rows ψ(z_i).
    relevance : (n,) array
        r ≥ 0.
    qid : (n,) array
        which query each document belongs to, numbers or text; each needs two documents, one of them relevant.
    regularization : float
        λ > 0.
    logarithm : str
        of the discount F: "natural" or "binary".

    Point {"w": (d,)}, multipliers {"predictions": (n,)}. Scale: ‖η‖²/q.
    Source: Kar & Jain 2012, Appendix F (the ERM in the proof of Theorem 30, penalised).
    """

    name: ClassVar[str] = "landmarked-ranking-penalised"
    title: ClassVar[str] = "ranking by least squares on landmarks, ‖w‖² penalised"
    source: ClassVar[str] = "Kar & Jain 2012, Appendix F, Theorem 30"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("regularization",)

    features: Array
    relevance: Array
    qid: npt.NDArray[Any]
    regularization: float
    logarithm: str = "natural"

    def __post_init__(self) -> None:
        self._check()
        freeze(self, regularization=validate.positive("regularization", self.regularization))

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """Minimise (1/q)‖η − f‖² + λ‖w‖² s.t. `predictions` f = Ψw."""
        import cvxpy as cp

        n, d = self.features.shape
        regularization = cp.Parameter(nonneg=True, name="regularization", value=self.regularization)
        w, f = cp.Variable(d, name="w"), cp.Variable(n, name="f")
        predictions = (f == self.features @ w).set_label("predictions")
        return cp.Problem(
            cp.Minimize(cp.sum_squares(self.targets - f) / len(self.queries) + regularization * cp.sum_squares(w)), [predictions]
        )

    def in_units(self, s: float, c: float) -> Self:
        """Ψ × c: λ × c². s = 1."""
        return replace(self, features=self.scaled_features(s, c), regularization=self.regularization * c * c)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Both logarithms, strong and weak λ, more features than documents, equal features; ties, Ψ = 0."""
        for name, features, relevance, qid, logarithm, degenerate in landmark_ranking_cases.instances(rng):
            yield Example(name, cls(features, relevance, qid, 0.1, logarithm), degenerate)
            if name == "four queries":
                yield Example("weak regularization", cls(features, relevance, qid, 1e-5))

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
        regularization: float | None = None,
        logarithm: str = "natural",
    ) -> Self:
        """Recipe: all queries (or `queries` of them), documents standardised, `landmarks` of them (None: 50), Kar & Jain's Gaussian.

        Query ids are the groups of the data set, or a column `qid`. Queries of one document, or without a relevant one, are left out.
        λ defaults to 1e-3 times the mean number of documents of a query.
        """
        features, relevance, qid = landmark_ranking_cases.recipe(dataset, rng, queries, landmarks, standardise, similarity)
        usual = 1e-3 * len(qid) / len(np.unique(qid))
        return cls(features, relevance, qid, usual if regularization is None else regularization, logarithm)
