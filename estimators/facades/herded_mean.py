r"""The herded mean: a few weighted points that classify almost as the mean of all of them, with a proof of how nearly."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from simopt.data.similarities import Precomputed, Similarity
from simopt.equivalence.training import KernelFunction
from simopt.estimators.facades.base import KernelEstimator, lifted, weights_of
from simopt.estimators.facades.two_classes import TwoClassMixin, two_classes
from simopt.estimators.herding.herd import Herd, herd
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.solving.certificate import Certificate, ratio


class HerdedMeanClassifier(TwoClassMixin, KernelEstimator):
    r"""ω̃ = Σ_j w_j y_j φ(x_j) of few atoms x_j, w ≥ 0 and Σ w = 1, with ‖ω − ω̃‖_H ≤ ε for ω = Σ_i p_i y_i φ(x_i);   f̃(x) = ⟨ω̃, φ(x)⟩.

    By Cauchy–Schwarz |f(x) − f̃(x)| ≤ ε ‖φ(x)‖ everywhere: where |f̃| is larger, herd and mean agree. The value of
    min_w ‖ω − Σ_j w_j y_j φ(x_j)‖² lies between 0 and the square of the certified error, which is what `certificate_` says.

    Parameters
    ----------
    similarity : str, Similarity, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.facades.base`.
    error : float, optional
        ε > 0, in the norm of the space.
    atoms : int, optional
        the most atoms (all points, of fewer); at least one of `error` and `atoms` is needed.
    steps : str
        "uniform" (kernel herding), "line-search", "away", "pairwise", "blended" or "fully-corrective" (few atoms).
    reweight : bool
        at the end, solve for the best weights on the atoms found.
    max_iter : int, optional
        the most steps.

    Attributes
    ----------
    classes_ : (2,) array
    herd_ : Herd
        atoms, weights, the certified error, and bounds on |f − f̃|.
    support_ : (k,) array
        which training points the atoms are.
    dual_coef_ : (k,) array
        w_j y_j.
    similarity_, X_fit_
        K with its parameters and the atoms x_j, unless similarities are precomputed.
    certificate_, n_iter_, n_features_in_
        n_iter_ counts steps.

    Warns
    -----
    ConvergenceWarning
        when ε was not reached, saying why.

    Source: van Rooyen, Menon & Williamson 2015, §6.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import HerdedMeanClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> model = HerdedMeanClassifier(error=0.02).fit(X, y)
    >>> model.herd_.error <= 0.02, len(model.support_) < 300
    (True, True)
    """

    def __init__(
        self,
        similarity: Any = "gaussian",
        *,
        error: float | None = 0.05,
        atoms: int | None = None,
        steps: str = "uniform",
        reweight: bool = False,
        max_iter: int | None = None,
    ) -> None:
        self.similarity = similarity
        self.error = error
        self.atoms = atoms
        self.steps = steps
        self.reweight = reweight
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, labels y (n,) of two kinds, and weights p ≥ 0 (n,), which are divided by their sum.

        A sample of weight 0 is left out.

        Raises
        ------
        InvalidProblem
            for weights that are all 0, a similarity that is not positive semidefinite, or a single class.
        """
        X, y = self._training(X, y, numeric=False)
        weights = weights_of(sample_weight, len(X))
        kept = np.flatnonzero(weights > 0)
        self.classes_, signs = two_classes(y[kept])
        self._demand_square(X)
        points, similarity = self._herdable(X, kept, None if sample_weight is None else weights[kept])
        atoms = None if self.atoms is None else min(validate.whole("atoms", self.atoms, minimum=1), len(kept))
        target = None if sample_weight is None else weights[kept] / weights[kept].sum()
        options: dict[str, Any] = {"error": self.error, "atoms": atoms, "steps": self.steps, "reweight": self.reweight}
        self.herd_ = herd(points, signs, similarity, max_iter=self.max_iter, target=target, **options)
        self.support_ = kept[self.herd_.indices]
        self.dual_coef_ = self.herd_.weights * self.herd_.labels
        if not self._precomputed:
            self.X_fit_ = X[self.support_]
        self._concluded(bracket(self.herd_), len(self.herd_.picks), self._complaint())
        return self

    def _herdable(self, X: Array, kept: NDArray[np.intp], weights: Array | None) -> tuple[Array, Similarity]:
        """Points and their similarity as `herd` takes them: a matrix of values, or of a function's values, has row numbers for points."""
        if not self._precomputed:
            self.similarity_ = self._chosen(X[kept], weights)
            if isinstance(self.similarity_, Similarity):
                return X[kept], self.similarity_
        matrix = Precomputed(lifted(X[np.ix_(kept, kept)]) if self._precomputed else self.similarity_(X[kept], X[kept]))
        return matrix.points, matrix

    def _complaint(self) -> str:
        found = self.herd_
        if found.reached:
            return ""
        return f"the error is {found.error:.3g}, asked {found.target_error:.3g} ({found.message}); raise `error`, or what bounds the steps"

    def decision_function(self, X: Any) -> Array:
        """f̃ at the rows of X, shape (m,); positive for the second class."""
        queries = self._queries(X)
        if self._precomputed:
            return queries[:, self.support_] @ self.dual_coef_
        return KernelFunction(self.similarity_, self.X_fit_, self.dual_coef_)(queries)


def bracket(found: Herd) -> Certificate:
    """0 ≤ min_w ‖ω − Σ w_j y_j φ(x_j)‖² ≤ error²: a square is at least 0, and the error of the herd was certified; its scale is ‖ω‖²."""
    square, scale = found.error**2, float(found.provenance["mean_norm"]) ** 2
    return Certificate(square, 0.0, square, ratio(square, scale), ratio(square, square), scale, 0.0, "none", "float")
