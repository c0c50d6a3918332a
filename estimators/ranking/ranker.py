r"""Ranking with any similarity: landmarks, least squares on normalised relevance η, and a predictor that ranks, with its certificate.

Kar & Jain (2012, Appendix F) fit f(z) = ⟨w, Ψ(z)⟩ to η(r)_i over all documents of all training queries: a sum over the documents of a
query, a mean over queries. Documents are then ranked by f. A small excess of that squared loss means a small excess of the NDCG loss
(Theorem 30 in its regret form).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.certificates.certificate import Certificate
from simopt.core import archive, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap, Values, similarity_name
from simopt.data.queries import Queries, as_numbers, defined, grouped
from simopt.data.relevance import AVERAGE, LOGARITHMS, NATURAL
from simopt.data.rows import Rows
from simopt.data.similarities import Similarity, SimilarityRule
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.estimators.landmarked.landmark_predictor import (
    demand_one_bound,
    landmark_map,
    parts_over_landmarks,
    provenance,
    similarity_record,
)
from simopt.model.problem import Problem
from simopt.problems.bounds import Ball, Ridge
from simopt.problems.landmarked_ranking import LandmarkedRanking
from simopt.solving.entry_points import solve

FORMAT = "simopt-ranker-1"
WHAT = "a ranker"
STRENGTH = 1e-3  # λ by default, in units of the mean of ‖ψ‖² times the mean number of documents of a query
CUTS = tuple(range(1, 11))

Order = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RankingScores:
    """How a ranker does on queries whose relevances are known.

    Attributes
    ----------
    cuts : tuple of int
        k_1, k_2, …
    ndcg : (q, number of cuts) array
        NDCG@k of every query.
    loss : float
        mean over queries of ‖f(x) − η(r(x))‖².
    names : tuple of str
        the queries.
    left_out : tuple of str
        queries without NDCG (one document, or none that is relevant), where leaving them out was asked for.
    """

    cuts: tuple[int, ...]
    ndcg: Array = field(repr=False)
    loss: float
    names: tuple[str, ...] = field(repr=False)
    left_out: tuple[str, ...] = ()

    @property
    def mean(self) -> dict[int, float]:
        """Mean NDCG@k over the queries, by k."""
        return dict(zip(self.cuts, map(float, self.ndcg.mean(axis=0)), strict=True))

    def __str__(self) -> str:
        shown = ", ".join(f"@{k} {value:.4f}" for k, value in self.mean.items())
        without = f" ({len(self.left_out)} without NDCG left out)" if self.left_out else ""
        return f"{len(self.names)} queries{without}: NDCG {shown}"


@dataclass(frozen=True, eq=False)
class LandmarkedRanker:
    """z ↦ ⟨w, Ψ(z)⟩, by which the documents of a query are ranked.

    Attributes
    ----------
    similarity : Similarity or function
    landmarks : (d, p) array
        what Ψ compares z with.
    weights : (d,) array
        w.
    logarithm : str
        of the discount in η: "natural" or "binary".
    certificate : Certificate
        bounds on the optimum of the problem that was solved.
    left_out : tuple of str
        training queries without η that were left out.
    provenance : mapping
        problem, solver, status, queries, seconds and versions.
    """

    similarity: Similarity | Values
    landmarks: Array
    weights: Array
    logarithm: str
    certificate: Certificate
    left_out: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        validate.vector("weights", self.weights)
        validate.choice("logarithm", self.logarithm, LOGARITHMS)
        for name in ("landmarks", "weights"):
            view = np.asarray(getattr(self, name)).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        """One line: landmarks, ‖w‖, and the certified gap."""
        size = float(np.linalg.norm(self.weights))
        return (
            f"ranker on {len(self.landmarks)} landmarks of {similarity_name(self.similarity)}, ‖w‖ = {size:.4g}; "
            f"gap/scale {self.certificate.relative_gap:.1e}"
        )

    @cached_property
    def map(self) -> LandmarkMap:
        """Ψ."""
        return LandmarkMap(self.similarity, self.landmarks)

    def scores(self, X: Any) -> Array:
        """f(z) at the rows of X (array, memory map or Dask array), (n,), in blocks. Relevance may be unknown.

        Equal documents have equal scores if K gives them equal values bit by bit, as distances do. A product of matrices, as in the linear
        kernel, is summed by BLAS in an order that may depend on the row.
        """
        return self.map.predict(X, self.weights)

    def rankings(self, X: Any, qid: npt.ArrayLike | None = None) -> tuple[Order, ...]:
        """Rows of X from the highest score to the lowest, for each query in the order of appearance; without `qid` X is one query.

        Documents of equal scores keep their order in X.
        """
        scores = self.scores(X)
        groups = np.zeros(len(scores), dtype=np.intp) if qid is None else grouped(qid, scores.shape)[0]
        order = np.lexsort((np.arange(len(scores)), -scores, groups))
        return tuple(np.split(order, np.cumsum(np.bincount(groups))[:-1]))

    def evaluate(
        self,
        X: Any,
        relevance: npt.ArrayLike,
        qid: npt.ArrayLike,
        *,
        cuts: int | Sequence[int] = CUTS,
        ties: str = AVERAGE,
        leave_out: bool = False,
    ) -> RankingScores:
        """NDCG@k of every query for every k of `cuts`, and the squared loss against η. `ties` as in simopt.data.relevance.

        Raises
        ------
        InvalidProblem
            naming query and document, as `rank`; with `leave_out` queries without NDCG are left out and listed instead.
        """
        scores = self.scores(X)
        keep, lists, left = _lists(relevance, qid, leave_out, len(scores))
        kept = scores[keep]
        loss = float(np.sum(np.square(kept - lists.eta(self.logarithm)))) / len(lists)
        given = np.atleast_1d(validate.numbers("cuts", cuts))
        several = tuple(validate.whole("cuts", k, minimum=1) for k in validate.vector("cuts", given).tolist())
        return RankingScores(several, lists.ndcg(kept, k=several, ties=ties), loss, lists.names, left)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz or .json file, all of it or nothing; `load` gives the same ranker back, bit by bit.

        Raises
        ------
        InvalidProblem
            for another suffix, and for a similarity that is a Python function of one's own.
        OSError
            when the file cannot be written.
        """
        values = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        values |= {"similarity": similarity_record(self.similarity), "certificate": dataclasses.asdict(self.certificate)}
        values |= {"landmarks": np.asarray(self.landmarks), "weights": np.asarray(self.weights), "left_out": list(self.left_out)}
        archive.save(path, {"format": FORMAT, **values}, WHAT)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LandmarkedRanker:
        """Read what `save` wrote.

        Raises
        ------
        InvalidFile
            for a file that is corrupt or holds something else.
        """
        found = archive.load(path, FORMAT, WHAT)
        with archive.rebuilding(path, WHAT):
            return cls(**archive.entries(cls, found, **parts_over_landmarks(found)))


def rank(
    points: Any,
    relevance: npt.ArrayLike,
    qid: npt.ArrayLike,
    similarity: str | SimilarityRule | Similarity | Values = DEFAULT_OF_KAR_JAIN,
    *,
    landmarks: int | npt.ArrayLike = 50,
    radius: float | None = None,
    regularization: float | None = None,
    logarithm: str = NATURAL,
    leave_out: bool = False,
    solver: str | None = None,
    tol: float = 1e-8,
    time_limit: float = 60.0,
    seed: int = 0,
) -> LandmarkedRanker:
    """min_w (1/q) Σ_{queries x} ‖η(r(x)) − Ψ_x w‖²  with ‖w‖ ≤ B or + λ‖w‖².

    Parameters
    ----------
    points : (n, p) array, memory map or Dask array
        one query-document pair a row. `simopt.data.queries.Queries.stacked` stacks a matrix for each query.
    relevance : (n,) array
        r ≥ 0.
    qid : (n,) array
        which query a row belongs to, numbers or text; rows of a query need not stand together.
    similarity : str, Similarity or function
        K of two query-document pairs, symmetric or not, PSD or not; the parameters of one given by name are chosen from the points.
    landmarks : int or (d, p) array
        how many are drawn from the points (all of fewer), or the landmarks themselves.
    radius, regularization : float, optional
        B or λ, not both; by default λ = 10⁻³ m mean ‖ψ_i‖², m the mean number of documents of a query.
    logarithm : str
        of the discount: "natural" or "binary", which multiplies η by 1.44.
    leave_out : bool
        leave out queries for which η is undefined, of one document or without a relevant one, instead of refusing them.
    solver, tol, time_limit
        as for `simopt.solve`; the best solver that the problem has by default.
    seed : int
        of the draw of landmarks.

    Raises
    ------
    InvalidProblem
        for lists of one document or without a relevant one, negative relevances, values that are not finite (naming query and document),
        and lengths that disagree. Also for both B and λ, and when no point was found (saying why).
    """
    rows = _stacked(points)
    keep, lists, left = _lists(relevance, qid, leave_out, rows.n)
    chosen = rows if len(keep) == rows.n else Rows("points", rows.take(keep), check_first=False)
    psi = landmark_map(chosen, landmarks, similarity, seed)
    problem = _problem(psi(chosen), lists, radius, regularization, logarithm)
    solution = solve(problem, solver, tol=tol, time_limit=time_limit)
    if solution.point is None or solution.certificate is None:
        raise InvalidProblem(f"{problem.name}: no point was found ({solution.message or solution.status.value})")
    made = {**provenance(problem, solution, lists.n), "queries": len(lists)}
    return LandmarkedRanker(
        psi.similarity, psi.landmarks, np.asarray(solution.point["w"]), logarithm, solution.certificate, left, provenance=made
    )


def _stacked(points: Any) -> Rows:
    if isinstance(points, list | tuple) and points and all(getattr(part, "ndim", 0) == 2 for part in points):
        raise InvalidProblem(
            f"points: {len(points)} tables, one of all documents needed, and a query id for each row; "
            "simopt.data.queries.Queries.stacked makes it from a table for each query"
        )
    return Rows("points", points, check_first=False)


def _lists(relevance: npt.ArrayLike, qid: npt.ArrayLike, leave_out: bool, length: int) -> tuple[Order, Queries, tuple[str, ...]]:
    """Rows that are used, the lists that they make, and the names of the queries left out."""
    values = as_numbers(relevance)
    if values.shape != (length,):
        raise InvalidProblem(f"relevance: shape {values.shape}, one number for each of the {length} points needed")
    if not leave_out:
        return np.arange(length), Queries.of(values, qid), ()
    groups, names = grouped(qid, (length,))
    usable = defined(values, qid)
    keep = np.flatnonzero(usable)
    if not len(keep):
        raise InvalidProblem("relevance: no query has two documents, one of them relevant")
    without = sorted(set(range(len(names))) - set(groups[keep].tolist()))
    return keep, Queries.of(values[keep], np.asarray(qid)[keep]), tuple(names[query] for query in without)


def _problem(features: Array, lists: Queries, radius: float | None, regularization: float | None, logarithm: str) -> Problem:
    demand_one_bound(radius, regularization)
    if radius is not None:
        return LandmarkedRanking(features, lists.relevance, lists.groups, Ball(radius), logarithm)
    size = float(np.einsum("ij,ij->", features, features)) / len(lists) or 1.0
    usual = STRENGTH * size if regularization is None else validate.positive("regularization", regularization)
    return LandmarkedRanking(features, lists.relevance, lists.groups, Ridge(usual), logarithm)
