r"""Gram matrices of folds: of all points once where the similarity is the same on every fold, cut into rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.data.similarities import Similarity, SimilarityRule
from simopt.estimators.base import KernelEstimator
from simopt.estimators.cross_validation.selection import Fold, SelectedByFolds


class KernelFolds(SelectedByFolds, KernelEstimator):
    """Parameters of an estimator in the space of a kernel, whose similarity is the same for all candidates of a fold.

    A similarity by name gets its parameters from the training part of each fold, as it does in `fit`. Any other one is the same everywhere,
    and a part of a positive semidefinite matrix is one.
    """

    def _common(self, X: Array) -> Array | None:
        """K of all points, unless it differs from fold to fold."""
        if isinstance(self.similarity, str | SimilarityRule) and not self._precomputed:
            return None
        gram: Array = self._plain()._gram(X)
        return gram

    def _fold_gram(self, X: Array, fold: Fold, common: Array | None) -> tuple[Array, Array]:
        """K of the training part, and of the samples held out (rows) with the training part (columns), both one's own."""
        train, test = fold
        if common is not None:
            return common[np.ix_(train, train)], (X if self._precomputed else common)[np.ix_(test, train)]
        model = self._plain()
        points, queries = self._parts(X, fold)
        gram = model._gram(points, self._weights(train))
        return np.array(gram), np.asarray(model.similarity_(queries, points), dtype=np.float64)

    def _diagonal_mean(self, X: Array, common: Array | None) -> float:
        """Mean of K(x_i, x_i), the unit of K; 1 where it is 0."""
        if common is not None:
            return float(np.average(np.diagonal(common), weights=self._sample_weight)) or 1.0
        similarity: Any = self._chosen(X, self._sample_weight)
        assert isinstance(similarity, Similarity)  # a name stands for one
        return float(np.average(similarity.diagonal(X), weights=self._sample_weight)) or 1.0
