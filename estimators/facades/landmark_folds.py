r"""Hinges on landmarks along a grid: features of a fold once, and every candidate by its problem's own solver, without the judge.

Scores need no certificate; the last fit, to all samples, has one. Points are what the solver says of itself, to the tolerance asked for.
"""

from __future__ import annotations

from typing import Any

from simopt.estimators.facades.base import LandmarkEstimator
from simopt.estimators.facades.selection import Candidate, Fold, SelectedByFolds, values_of
from simopt.ground import validate
from simopt.ground.arrays import Array, Point
from simopt.solving.problem import Problem
from simopt.solving.solver import solvers_of


def unjudged(problem: Problem, tol: float) -> tuple[Point, bool]:
    """The point of least gap that the best solver of the problem finds, in natural units; whether it says that the gap is closed."""
    tol = float(tol)
    normal, back = problem.normalised()
    best = None
    for iterate in solvers_of(normal)[0].run(normal, tol=tol):
        if best is None or iterate.gap <= best.gap:
            best = iterate
    assert best is not None  # every solver yields a point
    return problem.restore(back.point(best.point)), best.gap <= tol * normal.scale()


class LandmarkFolds(SelectedByFolds, LandmarkEstimator):
    """Parameters of an estimator on landmarks, λ or B, of which each fold has its features once."""

    radii: Any
    regularizations: Any

    def _bounds(self, weakest: float, strongest: float, unit: float) -> list[Candidate]:
        """Every B if they are given, else every λ."""
        strengths = values_of("regularizations", self.regularizations, weakest, strongest, unit)
        if self.radii is None:
            return [{"regularization": strength} for strength in strengths]
        return [{"radius": float(radius)} for radius in validate.grid("radii", self.radii, low=0.0, strict=True)]

    def _fold_features(self, X: Array, fold: Fold) -> tuple[Array, Array]:
        """Ψ of the training part, whose landmarks are drawn there, and of the samples held out."""
        model = self._plain()
        points, held = self._parts(X, fold)
        psi = model._fit_map(points)
        return psi(model._points(points)), psi(model._points(held))

    def _all_features(self, X: Array) -> Array:
        """Ψ of all samples, as in the last fit."""
        model = self._plain()
        features: Array = model._fit_map(X)(model._points(X))
        return features
