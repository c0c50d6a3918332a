r"""Landmark features in front of any linear model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from simopt.core.arrays import Array
from simopt.data.similarities.defaults import DEFAULT_ON_LANDMARKS
from simopt.estimators.base import refuse_unread
from simopt.estimators.landmarked.landmark_choice import LandmarkSelection
from simopt.estimators.landmarked.selected_landmarks import SelectedLandmarks
from simopt.estimators.one_fit import measure
from simopt.estimators.scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin, check_is_fitted, validate_data


class LandmarkTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SelectedLandmarks):
    r"""x ↦ Ψ(x) = d^{-1/2} (K(x, l_1), …, K(x, l_d)), or K_LL^{-1/2} (K(l_1, x), …, K(l_d, x)) if `whiten`.

    The first is what every estimator on landmarks here is trained on, for any similarity. The second (Nyström) has the inner products of
    the kernel as far as the landmarks tell them. So a linear model with penalty λ‖w‖² on it is one with λ‖f‖² in the kernel's space.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, see `simopt.estimators.base`; positive semidefinite for `whiten` and for selection "greedy".
    landmarks : int or (d, p) array
        how many are chosen among the training points (all of fewer), or the landmarks themselves; by default
        `simopt.estimators.base.usual_number` of them, 300 for up to 900 points.
    selection : "random", "k-means++", "greedy" or LandmarkSelection
        how they are chosen, see `simopt.estimators.landmarked.landmark_choice`; greedy choice ends where nothing but rounding is left.
    whiten : bool
        whether Ψ is the second of the two.
    random_state : int, RandomState or None
        of the choice.

    Attributes
    ----------
    landmark_map_ : LandmarkMap
        Ψ, with the landmarks and K with its parameters.
    landmark_indices_ : (d,) array
        which training points they are, where they are chosen by "k-means++" or "greedy", or similarities are precomputed.
    whitening_ : (d, d) array or None
        by which Ψ is multiplied.
    n_features_in_

    Source: Kar & Jain 2012, Algorithm 1; Williams & Seeger 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from simopt.estimators import LandmarkTransformer
    >>> X = np.linspace(-3.0, 3.0, 60)[:, None]
    >>> features = LandmarkTransformer("gaussian", landmarks=10, selection="greedy", whiten=True)
    >>> make_pipeline(features, Ridge(1e-3)).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.99
    True
    >>> features.fit(X).get_feature_names_out()[:2].tolist()
    ['landmarktransformer0', 'landmarktransformer1']
    """

    def __init__(
        self,
        similarity: Any = DEFAULT_ON_LANDMARKS,
        *,
        landmarks: Any = None,
        selection: str | LandmarkSelection = "random",
        whiten: bool = False,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.landmarks = landmarks
        self.selection = selection
        self.whiten = whiten
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks among the rows of X (n, p), or of n × n similarities; y is not looked at.

        Raises
        ------
        InvalidProblem
            for a similarity that the choice or the whitening does not allow.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """`fit`, and the features of the rows of X, shape (n, d)."""
        refuse_unread("X", X)
        X = self._canonical(validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse(X)))
        measure(self, X=X)
        return self._fit_features(X)

    def transform(self, X: Any) -> Array:
        """The features of the rows of X, shape (m, d)."""
        check_is_fitted(self)
        return self._features(self._queries(X))

    @property
    def _n_features_out(self) -> int:
        return self.landmark_map_.d
