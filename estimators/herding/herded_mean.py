r"""The herded mean: a few weighted points that classify almost as the mean of all of them, with a proof of how nearly."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.data.similarities import Precomputed, Similarity
from simopt.data.similarities.defaults import DEFAULT_OF_MEANS
from simopt.estimators.base import KernelEstimator, gram_of_points
from simopt.estimators.herding.herd import Herd, herd
from simopt.estimators.one_against_rest import OneAgainstRestMixin, signs_of_classes
from simopt.estimators.sample_weights import BALANCED, weights_of, with_classes
from simopt.estimators.widths import width_rule
from simopt.model.gap_unit import ratio
from simopt.solvers.herding.frank_wolfe_steps import StepRule


class HerdedMeanClassifier(OneAgainstRestMixin, KernelEstimator):
    r"""ω̃ = Σ_j w_j y_j φ(x_j) of few atoms x_j, w ≥ 0 and Σ w = 1, with ‖ω − ω̃‖_H ≤ ε for ω = Σ_i p_i y_i φ(x_i);   f̃(x) = ⟨ω̃, φ(x)⟩.

    By Cauchy–Schwarz |f(x) − f̃(x)| ≤ ε ‖φ(x)‖ everywhere: where |f̃| is larger, herd and mean agree. The value of min_w ‖ω − Σ_j w_j y_j
    φ(x_j)‖² lies between 0 and the square of the certified error, which is what `certificate_` says. With more than two classes each has a
    herd for the mean that tells it from the rest, and the label is that of the largest f̃_c(x).

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.base`; by default ("auto") that of `MeanSimilarityClassifier`.
    class_weight : "balanced", dict or None
        by label, what the weights of its samples are multiplied by; by default all classes weigh the same.
    error : float, optional
        ε > 0, in the norm of the space.
    atoms : int, optional
        the most atoms (all points, of fewer); at least one of `error` and `atoms` is needed.
    steps : str or StepRule
        "uniform" (kernel herding), "line-search", "away", "pairwise", "blended" or "fully-corrective" (few atoms); or a rule of one's own.
    reweight : bool
        at the end, solve for the best weights on the atoms found.
    max_iter : int, optional
        the most steps.

    Attributes
    ----------
    classes_ : (k,) array
    herds_, herd_ : tuple of Herd, and Herd
        atoms, weights, the certified error, and bounds on |f − f̃|, of each problem; `herd_` is the one of two classes.
    support_ : (s,) array
        which training points the atoms are.
    dual_coef_ : (s,) array, of k > 2 classes (s, k)
        w_j y_j.
    similarity_, X_fit_
        K with its parameters and the atoms x_j, unless similarities are precomputed.
    certificates_, certificate_, n_iter_, n_features_in_
        of the herds, and the one with the largest error; n_iter_ counts steps.

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

    of_points = False

    def __init__(
        self,
        similarity: Any = DEFAULT_OF_MEANS,
        *,
        class_weight: Any = BALANCED,
        error: float | None = 0.05,
        atoms: int | None = None,
        steps: str | StepRule = "uniform",
        reweight: bool = False,
        max_iter: int | None = None,
    ) -> None:
        self.similarity = similarity
        self.class_weight = class_weight
        self.error = error
        self.atoms = atoms
        self.steps = steps
        self.reweight = reweight
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, labels y (n,) of two kinds or more, and weights p ≥ 0 (n,).

        Weights are divided by their sum; a sample of weight 0 is left out.

        Raises
        ------
        InvalidProblem
            for weights that are all 0, a similarity that is not positive semidefinite, or a single class.
        """
        X, y = self._training(X, y, numeric=False)
        given = None if sample_weight is None else weights_of(sample_weight, len(X))
        mass = with_classes(self.class_weight, y, given)
        weights = np.ones(len(X)) if mass is None else mass
        rows = np.flatnonzero(weights > 0)
        self.classes_, every = signs_of_classes(y[rows])
        self._demand_square(X)
        counts = None if given is None else given[rows]
        chosen = None
        if (rule := width_rule(self.similarity)) is not None:
            chosen = rule.for_classes(X[rows], np.searchsorted(self.classes_, y[rows]), weights[rows], counts)
        points, similarity = self._herdable(X, rows, counts, chosen)
        atoms = None if self.atoms is None else min(validate.whole("atoms", self.atoms, minimum=1), len(rows))
        target = None if mass is None else weights[rows] / weights[rows].sum()
        options: dict[str, Any] = {"error": self.error, "atoms": atoms, "steps": self.steps, "reweight": self.reweight}

        def fit(signs: Array) -> Herd:
            result = herd(points, signs, similarity, max_iter=self.max_iter, target=target, **options)
            self._concluded(bracket(result), len(result.picks), self._complaint(result))
            return result

        self.herds_ = tuple(self._one_by_one(every, fit))
        self._keep_atoms(rows, None if self._precomputed else X)
        return self

    def _keep_atoms(self, rows: NDArray[np.intp], X: Array | None) -> None:
        """The atoms of all herds, in the order of the first one if there are no others, and their coefficients."""
        if len(self.herds_) == 1:
            self.herd_ = self.herds_[0]
            self.support_, self.dual_coef_ = rows[self.herd_.indices], self.herd_.weights * self.herd_.labels
        else:
            atoms = np.unique(np.concatenate([result.indices for result in self.herds_]))
            self.support_, self.dual_coef_ = rows[atoms], np.zeros((atoms.size, len(self.herds_)))
            for column, result in zip(self.dual_coef_.T, self.herds_, strict=True):
                column[np.searchsorted(atoms, result.indices)] = result.weights * result.labels
        if X is not None:
            self.X_fit_ = X[self.support_]

    def _herdable(self, X: Array, rows: NDArray[np.intp], weights: Array | None, chosen: Any) -> tuple[Array, Similarity]:
        """Points and their similarity as `herd` takes them: a matrix of values, or of a function's values, has row numbers for points."""
        if not self._precomputed:
            self.similarity_ = self._chosen(X[rows], weights) if chosen is None else chosen
            if isinstance(self.similarity_, Similarity):
                return X[rows], self.similarity_
        given = ("X", X[np.ix_(rows, rows)]) if self._precomputed else ("similarity", self.similarity_(X[rows], X[rows]))
        matrix = Precomputed(gram_of_points(*given))
        return matrix.points, matrix

    def _complaint(self, result: Herd) -> str:
        if result.reached:
            return ""
        return (
            f"the error is {result.error:.3g}, asked {result.target_error:.3g} ({result.message}); raise `error`, or what bounds the steps"
        )

    def decision_function(self, X: Any) -> Array:
        """f̃ at the rows of X, shape (m,), positive for the second class; of k > 2 classes all f̃_c, shape (m, k)."""
        queries = self._queries(X)
        return self._values(queries[:, self.support_] if self._precomputed else queries, self.dual_coef_)


def bracket(result: Herd) -> Certificate:
    """0 ≤ min_w ‖ω − Σ w_j y_j φ(x_j)‖² ≤ error²: a square is at least 0, and the error of the herd was certified; its scale is ‖ω‖²."""
    square, scale = result.error**2, float(result.provenance["mean_norm"]) ** 2
    return Certificate(square, 0.0, square, ratio(square, scale), ratio(square, square), scale, 0.0, "none", "float")
