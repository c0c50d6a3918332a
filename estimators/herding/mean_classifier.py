r"""The mean classifier: to which class is x more similar on average?"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from simopt.core.arrays import Array
from simopt.data.similarities.defaults import DEFAULT_OF_MEANS
from simopt.estimators.base import TOL, KernelEstimator
from simopt.estimators.one_against_rest import OneAgainstRestMixin, joined, signs_of_classes
from simopt.estimators.sample_weights import BALANCED
from simopt.estimators.widths import width_rule
from simopt.problems.mean_classifier import MeanClassifier


class MeanSimilarityClassifier(OneAgainstRestMixin, KernelEstimator):
    r"""min over ‖f‖_H ≤ 1 of (1/n) Σ_i (1 − y_i f(x_i)),   reached at f = ω/‖ω‖, ω = (1/n) Σ_i y_i K(·, x_i),   y_i = ±1.

    The linear loss needs no solver: its minimiser is the mean of the labelled features, the same up to its size for every penalty. The
    first of two sorted labels is −1, the second +1; the more frequent one has the larger weight in the mean. With more classes each is
    separated from the rest, and f_c = ω_c/(Σ_k ‖ω_k‖²)^{1/2}. With π_c the weight of class c and μ_c the mean of its features ω_c is 2π_c
    μ_c − Σ_k π_k μ_k. The label is that of the largest π_c ⟨μ_c, φ(x)⟩, the class to which x is more similar in all.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.base`; by default ("auto") a Gaussian of the standardised columns, of the
        width that errs least at points left out (`simopt.estimators.widths`).
    class_weight : "balanced", dict or None
        by label, what the weights of its samples are multiplied by; by default all classes weigh the same, π_c = 1/k.
    tol : float
        relative gap at which the certificate counts as closed.

    Attributes
    ----------
    classes_ : (k,) array
    dual_coef_ : (n,) array, of k > 2 classes (n, k)
        y/(n‖ω‖), 0 where ω = 0; of k > 2 classes y_c/(n (Σ_k ‖ω_k‖²)^{1/2}).
    similarity_, X_fit_ : Similarity and array
        K with its parameters and the training points, unless similarities are precomputed.
    certificates_, certificate_, n_iter_, solution_, n_features_in_
        of the problem of each class, whose optimum is 1 − ‖ω_c‖, and the one with the largest gap; the `Solution` of the last problem.

    Source: van Rooyen, Menon & Williamson 2015, Theorem 2.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import MeanSimilarityClassifier
    >>> X = np.array([[0.0], [0.5], [2.5], [3.0]])
    >>> model = MeanSimilarityClassifier("laplacian").fit(X, [7, 7, 9, 9])
    >>> model.predict([[0.2], [2.8]]).tolist(), model.certificate_.closes(1e-6)
    ([7, 9], True)
    """

    def __init__(self, similarity: Any = DEFAULT_OF_MEANS, *, class_weight: Any = BALANCED, tol: float = TOL) -> None:
        self.similarity = similarity
        self.class_weight = class_weight
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, labels y (n,) of two kinds or more, and weights ≥ 0 (n,).

        The share w_i/Σ w of a sample stands in place of 1/n.

        Raises
        ------
        InvalidProblem
            for a similarity that is not positive semidefinite (with the eigenvalue), or a single class.
        """
        X, y = self._training(X, y, numeric=False)
        X, y, weights, counts = self._with_weights(X, y, sample_weight, self.class_weight)
        self.classes_, every = signs_of_classes(y, weights)
        rule = width_rule(self.similarity)
        chosen = None if rule is None else rule.for_classes(X, np.searchsorted(self.classes_, y), weights, counts)
        gram = self._gram(X, counts, chosen)

        def fit(signs: Array) -> Array:
            return self._solved(MeanClassifier(gram, signs, weights=weights), None, self.tol, 60.0)["alpha"]

        alphas = self._one_by_one(every, fit)
        lengths = np.array([1.0 - certificate.upper for certificate in self.certificates_])  # ‖ω_c‖
        shares = lengths / (np.linalg.norm(lengths) or 1.0) if len(every) > 1 else np.ones(1)
        self.dual_coef_ = joined([share * alpha for share, alpha in zip(shares, alphas, strict=True)])
        return self

    def decision_function(self, X: Any) -> Array:
        """f at the rows of X, shape (m,), positive for the second class; of k > 2 classes all f_c, shape (m, k)."""
        queries = self._queries(X)
        return self._values(queries, self.dual_coef_)
