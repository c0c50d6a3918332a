r"""Hinges on landmarks along a grid: features of a fold once, and every candidate by its problem's own solver, without the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array, Point
from simopt.data.similarities.defaults import DEFAULT_ON_LANDMARKS
from simopt.estimators.base import LandmarkEstimator
from simopt.estimators.cross_validation.selection import Candidate, CandidatePredictions, Fold, SelectedByFolds, unjudged
from simopt.model.problem import Problem


class Part:
    """A training part with its candidates: subclasses make the problem of one, and predict by its point.

    Parameters
    ----------
    points, features, held_out : (n, p), (n, d) and (m, d) arrays
        the training part, Ψ of it and of the samples held out.
    y, weights : (n,) arrays
        of the training part; weights in the loss, None where they are all the same.
    model
        the estimator that chooses.
    """

    classes: NDArray[Any] | None = None

    def __init__(self, model: Any, points: Array, features: Array, held_out: Array, y: NDArray[Any], weights: Array | None) -> None:
        self.model, self.points, self.features, self.held_out, self.y, self.weights = model, points, features, held_out, y, weights

    def problem(self, candidate: Candidate) -> Problem:
        """The programme of a candidate."""
        raise NotImplementedError

    def predict(self, point: Point) -> NDArray[Any]:
        """Its predictions of the samples held out."""
        raise NotImplementedError


@dataclass(eq=False, repr=False, kw_only=True)
class LandmarkFolds(SelectedByFolds, LandmarkEstimator):
    """Parameters of an estimator on landmarks, λ or B, of which each fold has its features once."""

    similarity: Any = field(default=DEFAULT_ON_LANDMARKS, kw_only=False)
    landmarks: Any = 50
    radii: Any = None
    random_state: Any = None

    part: ClassVar[type[Part]]

    def _validate(self, X: Array, y: NDArray[Any]) -> None:
        """Refuse a tolerance that is none."""
        validate.between_0_and_1("tol", self.tol)

    def _answers(self, X: Array, y: NDArray[Any], fold: Fold, candidates: Sequence[Candidate], common: Any) -> CandidatePredictions:
        """Predictions of every candidate; landmarks are drawn from the training part."""
        model, train = self._plain(), fold[0]
        points, held_out = self._parts(X, fold)
        psi = model._fit_map(points, self._weights(train))
        part = self.part(self, points, psi(model._points(points)), psi(model._points(held_out)), y[train], self._losses(y, train))
        found = [unjudged(part.problem(candidate), self.tol) for candidate in candidates]
        return CandidatePredictions(
            np.array([part.predict(point) for point, _ in found]), classes=part.classes, open=sum(not done for _, done in found)
        )

    def _all_features(self, X: Array, y: NDArray[Any]) -> tuple[Array, NDArray[Any], Array | None]:
        """Ψ of all samples that have a weight, as in the last fit, their y and weights."""
        model = self._plain()
        points, targets, weights = self._counted(X, y)
        return model._fit_map(points, weights)(model._points(points)), targets, weights
