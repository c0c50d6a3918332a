r"""Ranking on OHSUMED (LETOR 3.0), which the paper proposes in Appendix F but does not try: the protocol, and what is compared.

Five subsets of queries. As in LETOR, subset t is for testing, the one before it for choosing λ, the other three for training. Features are
standardised on the training documents. Every linear or landmarked ranker is the public `rank`, the least-squares fit to η with the natural
logarithm, its λ among nine by mean NDCG@10 on the validation queries. One query has no relevant document: η and NDCG are undefined, and
it is left out wherever it is (LETOR's own program counts it with 0). NDCG is that of the paper, with ties averaged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import simopt.claims as sc
from simopt.claims.tables import Run
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import Dataset
from simopt.data.landmarks import LandmarkMap
from simopt.data.queries import Queries, defined
from simopt.data.similarities import Similarity, named
from simopt.estimators.ranking.ranker import rank
from simopt.solvers.squares.landmarked import singular_system
from simopt.theorems.kj.experiments.printed_tables import GAUSSIAN, MANHATTAN, SIGMOID, SIMILARITIES
from simopt.theorems.kj.experiments.protocol import standardised

DATA = "ohsumed"
FOLDS = 5
CUTS = tuple(range(1, 11))
CHOSEN_AT = 10  # k of the NDCG by which λ and the single feature are chosen
COUNTS = (50, 200)
STRENGTHS = tuple(10.0**-k for k in range(9))  # λ in units of the mean of ‖ψ‖² times the mean number of documents of a query
PAIRED = 1000  # training documents, evenly spaced, over whose pairs σ of the Gaussian is a mean
LINEAR, FEATURE, RANDOM = "linear", "single best feature", "random order"
LANDMARKED = {f"{similarity}, {count} landmarks": (similarity, count) for similarity in (SIGMOID, MANHATTAN, GAUSSIAN) for count in COUNTS}
METHODS = (*LANDMARKED, LINEAR, FEATURE, RANDOM)


@dataclass(frozen=True, eq=False)
class QuerySubset:
    """Documents of some queries."""

    X: Array
    lists: Queries

    def ndcg(self, scores: Array) -> Array:
        """NDCG@1, …, NDCG@10 of every query, (q, 10)."""
        return self.lists.ndcg(scores, k=CUTS)

    def chosen_by(self, scores: Array) -> float:
        """Mean NDCG@10."""
        return float(np.mean(self.lists.ndcg(scores, k=CHOSEN_AT)))


@dataclass(frozen=True, eq=False)
class Fold:
    """Training, validation and test queries, features standardised on the first."""

    train: QuerySubset
    valid: QuerySubset
    test: QuerySubset

    @classmethod
    def of(cls, data: Dataset, number: int) -> Fold:
        """The fold whose test queries are subset `number`, 1, …, 5.

        Raises
        ------
        InvalidProblem
            for data without query ids and subsets.
        """
        if data.groups is None or data.folds is None:
            raise InvalidProblem(f"data set {data.name}: no query ids and subsets, which make the folds")
        before = FOLDS if number == 1 else number - 1
        keep = defined(data.targets, data.groups)
        valid, test = (keep & (data.folds == subset) for subset in (before, number))
        train = keep & ~valid & ~test
        parts = [
            QuerySubset(standardised(data.features[rows], data.features[train]), Queries.of(data.targets[rows], data.groups[rows]))
            for rows in (train, valid, test)
        ]
        return cls(*parts)

    def ranked(self, psi: LandmarkMap) -> Array:
        """NDCG of the ranker on these landmarks, (q, 10)."""
        features, lists = psi(self.train.X), self.train.lists
        system, valid = singular_system(features, lists.eta()), psi(self.valid.X)
        energy = float(np.einsum("ij,ij->", features, features))
        worth = [self.valid.chosen_by(valid @ system.weights(math.log(strength * energy))) for strength in STRENGTHS]
        strength = STRENGTHS[int(np.argmax(worth))] * energy / len(lists)
        found = rank(self.train.X, lists.relevance, lists.groups, psi.similarity, landmarks=psi.landmarks, regularization=strength)
        return self.test.ndcg(found.scores(self.test.X))

    def linear(self) -> Array:
        """NDCG of the linear ranker: the inner products with the coordinate vectors are the features."""
        return self.ranked(LandmarkMap(named("linear", self.train.X), np.eye(self.train.X.shape[1])))

    def single_feature(self) -> Array:
        """NDCG of the feature, upwards or downwards, that is best on the training and validation queries."""
        columns = [(sign, j) for j in range(self.train.X.shape[1]) if np.any(self.train.X[:, j]) for sign in (1.0, -1.0)]

        def worth(column: tuple[float, int]) -> float:
            values = [np.sum(part.lists.ndcg(column[0] * part.X[:, column[1]], k=CHOSEN_AT)) for part in (self.train, self.valid)]
            return float(sum(values))

        sign, j = max(columns, key=worth)
        return self.test.ndcg(sign * self.test.X[:, j])

    def random(self) -> Array:
        """The expected NDCG of a random order."""
        return self.test.ndcg(np.zeros(self.test.lists.n))  # ties are averaged over all orders


def landmarks(fold: Fold, similarity: Similarity, count: int, rng: np.random.Generator) -> LandmarkMap:
    """`count` training documents, the first of a random order, so that smaller numbers are part of larger ones."""
    order = rng.permutation(len(fold.train.X))[: max(COUNTS)]
    return LandmarkMap(similarity, fold.train.X[order[:count]])


@lru_cache(maxsize=64)
def measured(method: str, seed: int, effort: sc.Effort) -> tuple[Array, ...]:
    """NDCG@1, …, NDCG@10 of every test query, fold by fold, (q_t, 10) each; mean over draws of landmarks (one, five at full effort)."""
    run = Run("kj-ohsumed", DATA, seed, effort)
    folds = loaded(seed, effort)
    if method == LINEAR:
        return tuple(fold.linear() for fold in folds)
    if method == FEATURE:
        return tuple(fold.single_feature() for fold in folds)
    if method == RANDOM:
        return tuple(fold.random() for fold in folds)
    name, count = LANDMARKED[method]
    found = []
    for t, fold in enumerate(folds):
        similarity = named(SIMILARITIES[name], fold.train.X[:: max(1, len(fold.train.X) // PAIRED)])
        draws = range(run.count(1, 5))
        found.append(np.mean([fold.ranked(landmarks(fold, similarity, count, run.stream("landmarks", t, k))) for k in draws], axis=0))
    return tuple(found)


@lru_cache(maxsize=2)
def loaded(seed: int, effort: sc.Effort) -> tuple[Fold, ...]:
    """The five folds."""
    data = Run("kj-ohsumed", DATA, seed, effort).dataset(DATA)
    return tuple(Fold.of(data, number + 1) for number in range(FOLDS))
