r"""M-RLSR that chooses λ and m by cross-validation, all pairs of a fold from one tridiagonal matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.estimators.base import flag
from simopt.estimators.cross_validation.kernel_folds import KernelFolds
from simopt.estimators.cross_validation.selection import Candidate, CandidatePredictions, Fold, values_of
from simopt.estimators.kernel_regression.m_power import MPowerRegressor
from simopt.estimators.scikit_learn import RegressorMixin
from simopt.problems.m_power_rls import PowerPenalty, weighted
from simopt.solvers.squares.cross_validation import pair_predictions
from simopt.solvers.squares.power_gap import column_major


@dataclass(eq=False, repr=False, kw_only=True)
class MPowerRegressorCV(RegressorMixin, KernelFolds):
    r"""(λ, m) of least cross-validated error for min_f (1/n) Σ_i (f(x_i) + c − y_i)² + λ ‖f‖_H^m,   f = Σ_j a_j K(·, x_j).

    It finds what GridSearchCV over `MPowerRegressor` does, on the same folds and the same grid. All fits to one training part lie on its
    ridge path. A fold costs a tridiagonal reduction of its Gram matrix, 4/3 n³ flops, and next to nothing for each pair. On one part every
    m gives the same functions, at other λ; which m is best is a matter of how λ has to move from part to part.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.base`. One given by name gets its parameters from each training part.
    regularizations : int or array
        the λ to choose from, the same for each m; or how many, at equal ratios from 1 down to 1e-8 in the unit s² (√κ/s)ᵐ. There s² is the
        mean of (y − c)² and κ that of K(x_i, x_i). The unit does not change with n, and follows those of y and K.
    powers : array
        the m ≥ 1 to choose from.
    fit_intercept : bool
        whether c is the mean of y, of each training part its own; else c = 0.
    cv, scoring, n_jobs, solver, tol, time_limit
        as for `simopt.estimators.cross_validation.selection.SelectedByFolds`.

    Attributes
    ----------
    regularization_, power_, intercept_ : float
        λ and m, chosen, and c.
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        as in GridSearchCV.
    dual_coef_, similarity_, X_fit_, certificate_, n_iter_, solution_, n_features_in_
        of `best_estimator_`, the fit to all samples.

    Source: Audiffren & Kadri 2014, equation (8).

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import MPowerRegressorCV
    >>> X = np.random.default_rng(0).uniform(-3.0, 3.0, size=(60, 1))
    >>> model = MPowerRegressorCV(powers=[1.5, 2.0, 3.0], cv=10).fit(X, np.sin(X[:, 0]))
    >>> len(model.cv_results_["params"]), model.best_score_ > 0.99, model.certificate_.closes(1e-6)
    (90, True, True)
    """

    regularizations: Any = 30
    powers: Any = (1.5, 2.0)
    fit_intercept: bool = True

    plain: ClassVar[type] = MPowerRegressor
    weakest: ClassVar[float] = 1e-8

    def _centre(self, y: Array, weights: Array | None) -> float:
        """c."""
        return float(np.average(y, weights=weights)) if flag("fit_intercept", self.fit_intercept) else 0.0

    def _candidates(self, X: Array, y: NDArray[Any], common: Any) -> list[Candidate]:
        """Each m with each λ."""
        size = float(np.sqrt(np.average(np.square(y - self._centre(y, self._sample_weight)), weights=self._sample_weight))) or 1.0
        kappa = self._diagonal_mean(X, common)
        found = []
        for power in validate.grid("powers", self.powers, low=1.0, strict=False).tolist():
            unit = size**2 * (np.sqrt(kappa) / size) ** power
            strengths = values_of("regularizations", self.regularizations, self.weakest, self.strongest, float(unit))
            found += [{"power": power, "regularization": strength} for strength in strengths]
        return found

    def _answers(self, X: Array, y: NDArray[Any], fold: Fold, candidates: Sequence[Candidate], common: Any) -> CandidatePredictions:
        """Predictions of every pair from the tridiagonal path."""
        gram, cross = self._fold_gram(X, fold, common)
        weights = self._weights(fold[0])
        height = self._centre(y[fold[0]], weights)
        targets = y[fold[0]] - height
        if weights is not None:
            problem, stretch = weighted(gram, targets, PowerPenalty(1.0), weights)
            gram, cross, targets = np.array(problem.gram), cross * stretch, problem.targets
        pairs = np.array([[candidate["regularization"], candidate["power"]] for candidate in candidates])
        return CandidatePredictions(height + pair_predictions(column_major(gram), targets, cross.T, pairs[:, 0], pairs[:, 1]))
