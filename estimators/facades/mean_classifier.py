r"""The mean classifier: to which class is x more similar on average?"""

from __future__ import annotations

from typing import Any, Self

from simopt.estimators.facades.base import TOL, KernelEstimator
from simopt.estimators.facades.two_classes import TwoClassMixin, two_classes
from simopt.ground.arrays import Array
from simopt.problems.mean_classifier import MeanClassifier


class MeanSimilarityClassifier(TwoClassMixin, KernelEstimator):
    r"""min over ‖f‖_H ≤ 1 of (1/n) Σ_i (1 − y_i f(x_i)),   reached at f = ω/‖ω‖, ω = (1/n) Σ_i y_i K(·, x_i),   y_i = ±1.

    The linear loss needs no solver: its minimiser is the mean of the labelled features, the same up to its size for every penalty. The
    first of the two sorted labels is −1, the second +1; the more frequent one has the larger share in the mean.

    Parameters
    ----------
    similarity : str, Similarity, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.facades.base`.
    tol : float
        relative gap at which the certificate counts as closed.

    Attributes
    ----------
    classes_ : (2,) array
    dual_coef_ : (n,) array
        y/(n‖ω‖); 0 where ω = 0.
    similarity_, X_fit_
        K with its parameters and the training points, unless similarities are precomputed.
    certificate_, n_iter_, solution_, n_features_in_
        the optimum is 1 − ‖ω‖.

    Source: van Rooyen, Menon & Williamson 2015, Theorem 2.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import MeanSimilarityClassifier
    >>> X = np.array([[0.0], [0.5], [2.5], [3.0]])
    >>> model = MeanSimilarityClassifier("laplacian").fit(X, [7, 7, 9, 9])
    >>> model.predict([[0.2], [2.8]]).tolist(), model.certificate_.closes(1e-8)
    ([7, 9], True)
    """

    def __init__(self, similarity: Any = "gaussian", *, tol: float = TOL) -> None:
        self.similarity = similarity
        self.tol = tol

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, and labels y (n,) of two kinds.

        Raises
        ------
        InvalidProblem
            for a similarity that is not positive semidefinite (with the eigenvalue), or a single class.
        """
        X, y = self._training(X, y, numeric=False)
        self.classes_, signs = two_classes(y)
        self.dual_coef_ = self._solved(MeanClassifier(self._gram(X), signs), None, self.tol, 60.0)["alpha"]
        return self

    def decision_function(self, X: Any) -> Array:
        """f at the rows of X, shape (m,); positive for the second class."""
        queries = self._queries(X)
        return self._values(queries, self.dual_coef_)
