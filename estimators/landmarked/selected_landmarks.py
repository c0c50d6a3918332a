r"""Landmark features as an estimator's own: landmarks by a rule of choice, whitened or not."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic.sparse import is_sparse
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap
from simopt.data.rows import Rows
from simopt.data.similarities import Similarity
from simopt.estimators.base import LandmarkFeatures, flag, seed_of, some_of, usual_number
from simopt.estimators.landmarked.landmark_choice import Candidates, LandmarkSelection, checked_indices, selection_rule, whitening
from simopt.estimators.landmarked.landmark_predictor import landmark_map


class SelectedLandmarks(LandmarkFeatures):
    """Features of landmarks that are chosen by `selection`: Ψ(x), or with `whiten` K_LL^{-1/2} (K(l_1, x), …, K(l_d, x))."""

    selection: str | LandmarkSelection
    whiten: bool

    def _fit_features(self, X: Array, weights: Array | None = None) -> Array:
        """The features of X, on which the landmarks are chosen; leaves `landmark_map_` and `whitening_`.

        Raises
        ------
        InvalidProblem
            for a rule of choice or whitening that K does not allow, and for what the landmark map refuses.
        """
        rule, white = selection_rule("selection", self.selection), flag("whiten", self.whiten)
        if rule is None or not isinstance(self.landmarks, Integral | None):
            self._fit_map(X, weights)
        else:
            self._fit_chosen(
                X,
                weights,
                rule,
                usual_number(X.shape[0]) if self.landmarks is None else validate.whole("landmarks", self.landmarks, minimum=1),
            )
        self.whitening_: Array | None = None
        if white:
            similarity = getattr(self, "similarity_", self.landmark_map_.similarity)
            if isinstance(similarity, Similarity) and not similarity.psd:
                raise InvalidProblem(
                    f"similarity: {similarity!r} is not positive semidefinite, and its features cannot be whitened; take whiten=False"
                )
            points = X[self.landmark_indices_] if self._precomputed else getattr(self, "landmark_points_", self.landmark_map_.landmarks)
            gram = self.landmark_map_(self._points(points)) * math.sqrt(self.landmark_map_.d)
            self.whitening_ = math.sqrt(self.landmark_map_.d) * whitening(gram)
        return self._features(X)

    def _features(self, X: Array) -> Array:
        """The features of the rows of X, shape (m, d)."""
        psi = self.landmark_map_(self._points(X))
        return psi if self.whitening_ is None else psi @ self.whitening_

    def _fit_chosen(self, X: Array, weights: Array | None, rule: LandmarkSelection, count: int) -> LandmarkMap:
        """Ψ with so many landmarks chosen among the training points (all of fewer)."""
        self._demand_square(X)
        n, seed = X.shape[0], seed_of(self.random_state)
        count = min(count, n)
        if self._precomputed:
            if rule.needs_points:
                raise InvalidProblem(f"selection: {self.selection!r} needs points, X holds similarities; take 'random' or 'greedy'")
            candidates = Candidates(n, None, weights, lambda: np.diagonal(X), lambda i: X[i])
            return self._columns(checked_indices(rule.select(candidates, count, seed), n, count))
        # the similarity is chosen as for landmarks that are given
        similarity: Any = self._similarity_of(X, weights, seed)
        if rule.needs_psd and isinstance(similarity, Similarity) and not similarity.psd:
            raise InvalidProblem(f"similarity: {similarity!r} is not positive semidefinite; take selection='random' or 'k-means++'")

        def diagonal() -> Array:
            if isinstance(similarity, Similarity):
                return similarity.diagonal(X)
            return np.array([float(similarity(row, row)[0, 0]) for row in X[:, None, :]])

        candidates = Candidates(n, X, weights, diagonal, lambda i: similarity(X[i : i + 1], X)[0])
        return self._at(X, checked_indices(rule.select(candidates, count, seed), n, count), similarity, seed)

    def _similarity_of(self, X: Array, weights: Array | None, seed: int) -> Any:
        """K, its parameters chosen as for landmarks that are given."""
        if is_sparse(X) or weights is not None:
            few = some_of(X.shape[0])
            return self._chosen(X[few], None if weights is None else weights[few])
        return landmark_map(Rows("X", X, checked=True), X[:1], self.similarity, seed).similarity

    def _at(self, X: Array, chosen: NDArray[np.intp], similarity: Any, seed: int) -> LandmarkMap:
        """Ψ with these training points as landmarks."""
        self.landmark_indices_ = chosen
        if is_sparse(X):
            return self._sparse_landmarks(X[chosen], similarity)
        self.landmark_map_ = landmark_map(Rows("X", X, checked=True), X[chosen], similarity, seed)
        return self.landmark_map_
