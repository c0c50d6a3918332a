r"""The kernel support vector machine that chooses λ by cross-validation, along its path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.estimators.base import flag
from simopt.estimators.cross_validation.kernel_folds import KernelFolds
from simopt.estimators.cross_validation.selection import Candidate, CandidatePredictions, Fold
from simopt.estimators.one_against_rest import signs_of_classes
from simopt.estimators.scikit_learn import ClassifierMixin
from simopt.estimators.svm.hinge_svm import HingeSVMClassifier
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.norms.gram_factor import trusted
from simopt.solvers.svm.fit import SVMFit, contiguous
from simopt.solvers.svm.path import balanced_along, fits_along, threshold_of
from simopt.solvers.svm.solvers import caps_of


@dataclass(eq=False, repr=False, kw_only=True)
class HingeSVMClassifierCV(ClassifierMixin, KernelFolds):
    r"""λ of best cross-validated score for min_{f,b} (1/n) Σ_i [1 − y_i(f(x_i) + b)]_+ + (λ/2) ‖f‖²_H,   f = Σ_j a_j K(·, x_j).

    It finds what GridSearchCV over `HingeSVMClassifier` does, on the same folds and the same grid. On a fold the machines are solved from
    the largest λ to the smallest, each from the weights of the one before. If there are more than two classes, each is solved against the
    rest.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.base`. One given by name gets its parameters from each training part.
    regularizations : int or array
        the λ to choose from; or how many, at equal ratios from κ down to 1e-6 κ, κ the mean of K(x_i, x_i). LIBSVM's C is 1/(nλ), with n
        the samples of the training part.
    fit_intercept : bool
        whether there is a b.
    class_weight : "balanced" or dict, optional
        as for `HingeSVMClassifier`, in all fits; scores do not look at it. "balanced" weighs the classes of each training part.
    cv, scoring, n_jobs, solver, tol, time_limit
        as for `simopt.estimators.cross_validation.selection.SelectedByFolds`.

    Attributes
    ----------
    regularization_ : float
        λ, chosen.
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        as in GridSearchCV.
    classes_, dual_coef_, intercept_, similarity_, X_fit_, certificate_, certificates_, n_iter_, n_features_in_
        of `best_estimator_`, the fit to all samples.

    Source: Cortes & Vapnik 1995; van Rooyen, Menon & Williamson 2015, §3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import HingeSVMClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = HingeSVMClassifierCV().fit(X, np.where(np.hypot(*X.T) < 1.0, "inside", "outside"))
    >>> len(model.cv_results_["params"]), model.best_score_ > 0.85, model.certificate_.closes(1e-6)
    (13, True, True)
    """

    regularizations: Any = 13
    fit_intercept: bool = True
    class_weight: Any = None

    plain: ClassVar[type] = HingeSVMClassifier
    weakest: ClassVar[float] = 1e-6

    def _validate(self, X: Array, y: NDArray[Any]) -> None:
        """Refuse what are no classes."""
        flag("fit_intercept", self.fit_intercept)
        validate.between_0_and_1("tol", self.tol)
        signs_of_classes(y, self._masses(y))

    def _scale(self, X: Array, y: NDArray[Any], common: Any) -> float:
        """κ."""
        return self._diagonal_mean(X, common)

    def _answers(self, X: Array, y: NDArray[Any], fold: Fold, candidates: Sequence[Candidate], common: Any) -> CandidatePredictions:
        """Labels and decisions of every λ along the path of each class."""
        gram, cross = self._fold_gram(X, fold, common)
        gram, weights = trusted(gram), self._losses(y, fold[0])
        strengths = np.array([candidate["regularization"] for candidate in candidates])
        classes, every = signs_of_classes(y[fold[0]])
        decisions, still_open = np.empty((strengths.size, len(cross), len(every))), 0
        for c, signs in enumerate(every):
            for index, fit, closed in self._along(HingeSVM(gram, signs, Penalty(1.0), self.fit_intercept, weights), strengths):
                decisions[index, :, c] = cross @ fit.coefficients + fit.intercept
                still_open += not closed
        if len(every) > 1:
            return CandidatePredictions(classes[np.argmax(decisions, axis=2)], decisions, classes, still_open)
        return CandidatePredictions(classes[(decisions[:, :, 0] > 0).astype(np.intp)], decisions[:, :, 0], classes, still_open)

    def _along(self, problem: HingeSVM, strengths: Array) -> Iterator[tuple[int, SVMFit, bool]]:
        """For each λ, from the largest, its place in the grid, the machine, and whether its gap is closed."""
        gram, labels, caps, goal = contiguous(problem.gram), problem.labels, caps_of(problem), float(self.tol) * problem.scale()
        order = np.argsort(-strengths, kind="stable")
        if self.fit_intercept:
            fits = balanced_along(gram, labels, strengths[order], goal=goal, caps=caps)
        else:
            fits = fits_along(gram, labels, strengths[order], threshold_of(gram, labels, caps), goal=goal, caps=caps)
        for index, fit in zip(order, fits, strict=True):
            yield int(index), fit, fit.gap <= goal

    def decision_function(self, X: Any) -> Array:
        """f + b at the rows of X, shape (m,), positive for the second class; of k > 2 classes all of them, shape (m, k)."""
        queries = self._queries(X)
        out: Array = self.best_estimator_.decision_function(queries)
        return out
