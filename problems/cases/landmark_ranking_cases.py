"""Instances, laws and the recipe that both forms of landmarked ranking share, and what they change of least squares on landmarks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from simopt.data.landmarks import LandmarkMap
from simopt.data.relevance import BINARY, NATURAL
from simopt.data.similarities import Similarity
from simopt.ground import validate
from simopt.ground.arrays import Array, Multipliers
from simopt.ground.errors import InvalidProblem
from simopt.problems.cases import recipes
from simopt.problems.domains import ranked_lists
from simopt.problems.domains.ranked_lists import RankedLists
from simopt.problems.norms import squares, vectors
from simopt.problems.norms.landmark_squares import LandmarkSquares
from simopt.solving.problem import Image, Law, freeze, laws_of_samples

if TYPE_CHECKING:
    from simopt.data.datasets import Dataset

Case = tuple[str, Array, Array, npt.NDArray[Any], str, bool]


class RankedSquares(RankedLists, LandmarkSquares):
    """(1/q) Σ over queries of ‖η_q − Ψ_q w‖²: least squares on landmarks with targets η and n = q."""

    @property
    def count(self) -> int:
        """q, the number of queries."""
        return len(self.queries)

    def _check(self) -> None:
        self._check_lists()
        features = validate.matrix("features", self.features, rows=len(self.relevance))
        freeze(self, features=validate.squarable("features", features))

    def target_unit(self) -> float:
        """1: η has no unit, its largest entries are of size 1."""
        return 1.0

    def scaled_features(self, s: float, c: float) -> Array:
        """Ψ × c, for s = 1; relevances cannot be put in other units."""
        if s != 1.0:
            raise InvalidProblem(f"targets: a factor {s:g} given, but normalised relevance has no unit; leave it at 1")
        return vectors.times_unit(self.features, c)

    @classmethod
    def laws(cls) -> list[Law]:
        """Features × c with what bounds w; the other logarithm; sign; order of the documents; every query twice."""

        def scale_features(problem: Any, rng: np.random.Generator) -> Image:
            c = float(2.0 ** rng.integers(-20, 21))
            return Image(problem.in_units(1.0, c), 1.0, squares.times(w=1.0 / c))

        def change_base(problem: Any, rng: np.random.Generator) -> Image:
            natural = problem.logarithm == NATURAL
            c = 1.0 / math.log(2.0) if natural else math.log(2.0)
            ball = {"radius": problem.radius * c} if hasattr(problem, "radius") else {}
            both = squares.times(w=c, predictions=c)
            return Image(replace(problem, logarithm=BINARY if natural else NATURAL, **ball), c * c, both, both)

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, features=-problem.features), 1.0, squares.times(w=-1.0))

        def select(problem: Any, order: NDArray[np.intp], weight: float) -> Image:
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
            Law("features × c", scale_features),
            Law("the other logarithm", change_base),
            Law("features × −1", mirror),
            *laws_of_samples(select, "relevance"),
        ]


def instances(rng: np.random.Generator) -> Iterator[Case]:
    """Name, features, relevance, query ids, logarithm, degenerate."""
    qid = rng.permutation(np.repeat(np.arange(4), [6, 3, 8, 2]))
    features = rng.normal(size=(len(qid), 3)) / np.sqrt(3.0)
    score = features @ np.array([1.0, -0.5, 0.2]) + 0.3 * rng.normal(size=len(qid))
    relevance = np.clip(np.round(2.0 * score + 1.0), 0.0, 3.0)
    for query in range(4):
        relevance[np.flatnonzero(qid == query)[0]] = 2.0
    yield "four queries", features, relevance, qid, NATURAL, False
    yield "four queries, base 2", features, relevance, qid, BINARY, False
    wide = rng.normal(size=(5, 12))
    yield "more features than documents", wide, np.array([0.0, 1.0, 2.0, 0.0, 1.0]), np.array(list("aabbb")), NATURAL, False
    yield "equal features", np.repeat(features, 2, axis=1), relevance, qid, NATURAL, False
    yield "two documents", np.array([[1.0], [-0.5]]), np.array([0.0, 1.0]), np.array([7, 7]), NATURAL, False
    yield "ties", features[:4], np.ones(4), np.array([1, 1, 2, 2]), NATURAL, True
    yield "zero features", np.zeros((5, 2)), np.arange(5.0), np.array([1, 1, 2, 2, 2]), NATURAL, True


def recipe(
    dataset: Dataset,
    rng: np.random.Generator,
    queries: int | None,
    landmarks: int | None,
    standardise: bool,
    similarity: str | Similarity,
) -> tuple[Array, Array, npt.NDArray[Any]]:
    """Ψ of the documents of a sample of queries on landmarks drawn from them, relevances, query ids."""
    inputs, relevance, qid, _ = ranked_lists.documents(dataset, rng, queries, standardise)
    count = min(recipes.LANDMARKS, len(inputs)) if landmarks is None else landmarks
    return LandmarkMap.from_data(inputs, count, rng, similarity)(inputs), relevance, qid
