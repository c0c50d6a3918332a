r"""The ordinal experiments of Section 4 and Appendix G as far as they are stated, and our choices where they are not.

Stated:

* five random splits; the mean of |ŷ − y| on the test part ("AAE"); 50 landmarks; the similarities; KR rounded to a label;
* ORLand, EXC on random landmarks with fixed, equi-spaced thresholds;
* wine on the scale 1 to 10; four regression sets whose targets are cut into bins of equal frequency.

Ours: the bins are cut on all samples, as data that come labelled are. How many there are is not stated: ten, see `bin_counts`. 70 % of a
split are for training; features are standardised as in the regression half; KR is rounded to the nearest label in 1, …, r.
ORLand: b_j = j + 1/2, so that the score is a number to be rounded, and γ = 1/2, half of the spacing. Then the hinges of a class between two
others are |f − y|. It is penalised, with λ among three by the error on a fifth of the training part; no intercept, as in Algorithm 1.
Learned thresholds: the same landmarks and choice of λ, γ = 1 (another γ is another λ), and either Δ = 0 or Δ = γ, the spacing of Appendix
E. Beside these, fixed thresholds around 0, for w has no intercept.
Baselines that the paper lacks: the median of the training labels, which no other constant beats on the training part; KR with K + s ≥ 0.
Also ordered logit (statsmodels) on the features themselves, at most 1000 training samples, label the median of its distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.threads import quiet
from simopt.data.landmarks import LandmarkMap
from simopt.estimators.ordinal.ordinal import certified
from simopt.model.problem import Problem
from simopt.model.status import Status
from simopt.problems.bounds import Penalty
from simopt.problems.exc_fixed import EXCFixed
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.thresholds.constant_scores import equispaced
from simopt.theorems.kj.experiments.protocol import HELD_OUT, SCALINGS, SPLITS, TRAINING, similarity_of, weighted_by_similarity

__all__ = ["SPLITS", "OrdinalLandmarks", "OrdinalSplit", "binned", "kernel_regression", "ordered_logit"]

SCALE = 10  # wine is graded from 1 to 10
BINS = 10
STRENGTHS = tuple(10.0**-k for k in (4, 6, 8))  # λ in units of the mean of ‖ψ‖²
DENSE = 1000
TOLERANCE = 1e-4


def binned(y: Array, bins: int) -> Array:
    """Labels 1, …, `bins` of equal frequency, as far as ties allow."""
    edges = np.quantile(y, np.arange(1, bins) / bins)
    return (1 + np.searchsorted(edges, y, side="left")).astype(np.float64)


@dataclass(frozen=True, eq=False)
class OrdinalSplit:
    """Scaled features and labels of a training and a test part."""

    X: Array
    y: Array
    queries: Array
    answers: Array
    classes: int

    @classmethod
    def of(
        cls,
        X: Array,
        y: Array,
        classes: int,
        rng: np.random.Generator,
        *,
        limit: int | None = None,
        scaling: str = "standardised",
    ) -> OrdinalSplit:
        """A random split of at most `limit` samples.

        Raises
        ------
        InvalidProblem
            for fewer than ten samples, and for labels outside 1, …, r.
        """
        if len(y) < 10 or y.min() < 1 or y.max() > classes:
            raise InvalidProblem(
                f"data: {len(y)} samples, labels from {y.min():g} to {y.max():g}; at least 10 samples and labels 1, …, {classes} needed"
            )
        order = rng.permutation(len(y))[:limit]
        train, test = np.split(order, [round(TRAINING * len(order))])
        scaled = SCALINGS[scaling]
        return cls(scaled(X[train], X[train]), y[train], scaled(X[test], X[train]), y[test], classes)

    def error(self, predicted: Array) -> float:
        """Mean of |ŷ − y| on the test part."""
        return float(np.mean(np.abs(predicted - self.answers)))

    def rounded(self, scores: Array) -> float:
        """The error of scores rounded to the nearest label."""
        return self.error(np.clip(np.round(scores), 1, self.classes))

    def constant(self) -> float:
        """The error of the median of the training labels."""
        return self.error(np.full(len(self.answers), np.round(np.median(self.y))))


def kernel_regression(split: OrdinalSplit, similarity: str) -> tuple[float, float]:
    """The errors of KR, rounded, with K and with K + s."""
    plain, shifted = weighted_by_similarity(similarity, split.X, split.y, split.queries)
    return split.rounded(plain), split.rounded(shifted)


def ordered_logit(split: OrdinalSplit, fit: Any, *, limit: int = DENSE) -> float:
    """The error of ordered logit on the first `limit` training samples; `fit` is OrderedModel of statsmodels."""
    X, y = split.X[:limit], split.y[:limit]
    varying = np.std(X, axis=0) > 0.0
    with quiet():  # of its Hessian, which only its standard errors need
        model = fit(y, X[:, varying], distr="logit")
        found = model.fit(method="lbfgs", disp=0, maxiter=500, skip_hessian=True)
        shares = np.asarray(model.predict(found.params, split.queries[:, varying]))
    labels = np.unique(y)
    below = np.sum(np.cumsum(shares, axis=1) < 0.5, axis=1)
    return split.error(labels[np.minimum(below, labels.size - 1)])


@dataclass(frozen=True, eq=False)
class OrdinalLandmarks:
    """Ψ of training and test points for landmarks in random order, up to its factor."""

    split: OrdinalSplit
    train: Array
    test: Array

    @classmethod
    def of(cls, split: OrdinalSplit, similarity: str, rng: np.random.Generator, *, pool: int) -> OrdinalLandmarks:
        """At most `pool` training points as landmarks, drawn without replacement."""
        rows = rng.choice(len(split.y), size=min(pool, len(split.y)), replace=False)
        features = LandmarkMap(similarity_of(similarity, split.X), split.X[rows])
        return cls(split, features(split.X), features(split.queries))

    def orland(
        self, count: int, spacing: float | None = None, centre: float | None = None, *, strengths: Sequence[float] | None = None
    ) -> float:
        """The error of EXC on the first `count` landmarks, λ with the least error on the last fifth of the training part.

        `spacing` is Δ / γ of learned thresholds; None: thresholds with steps of 1 around `centre`, by default j + 1/2. With a
        single one of `strengths` nothing is held out.
        """
        Z, y, r = np.ascontiguousarray(self.train[:, :count]), self.split.y, self.split.classes
        held = max(1, len(y) // HELD_OUT)

        def error(strength: float) -> float:
            w, b = exc(Z[:-held], y[:-held], r, strength, spacing, centre)
            return float(np.mean(np.abs(labels_at(Z[-held:] @ w, b) - y[-held:])))

        candidates = STRENGTHS if strengths is None else tuple(strengths)
        chosen = candidates[0] if len(candidates) == 1 else min(candidates, key=error)
        w, b = exc(Z, y, r, chosen, spacing, centre)
        return self.split.error(labels_at(self.test[:, :count] @ w, b))


def labels_at(scores: Array, thresholds: Array) -> Array:
    """1 + the number of thresholds ≤ the score."""
    return (1 + np.searchsorted(thresholds, scores, side="right")).astype(np.float64)


def exc(Z: Array, y: Array, classes: int, strength: float, spacing: float | None, centre: float | None = None) -> tuple[Array, Array]:
    """w and the thresholds of penalised EXC; `strength` is λ over the mean of ‖ψ‖², the rest as for `OrdinalLandmarks.orland`."""
    size = float(np.einsum("ij,ij->", Z, Z)) / len(Z) or 1.0
    if spacing is None:
        b = equispaced(classes, 1.0, 0.5 * (classes + 1) if centre is None else centre)
        return _solved(EXCFixed(Z, y, classes, b, 0.5, bound=Penalty(strength * size)))["w"], b
    found = _solved(EXCOrdinal(Z, y, classes, 1.0, spacing, bound=Penalty(strength * size)))
    ordered: Array = np.maximum.accumulate(found["thresholds"])
    return found["w"], ordered


def _solved(problem: Problem) -> dict[str, Array]:
    found = certified(problem, tol=TOLERANCE)
    if found.status is not Status.OPTIMAL or found.point is None:
        raise RuntimeError(f"{problem.name} was not solved: {found}")
    return {name: np.asarray(value) for name, value in found.point.items()}
