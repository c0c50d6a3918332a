r"""L-Isotron and Isotron: a direction and a monotone function of it, learned together."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.ordering import ordered
from simopt.data.similarities import Precomputed
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.estimators.base import KernelEstimator, open_gap, seed_of
from simopt.estimators.index_models.index_model import IndexFit
from simopt.estimators.index_models.index_record import LinearIndex
from simopt.estimators.index_models.index_scaling import TargetRange, is_linear, largest_eigenvalue, whitening
from simopt.estimators.index_models.isotron import l_isotron
from simopt.estimators.index_models.kernel_isotron import kernel_l_isotron
from simopt.estimators.scikit_learn import RegressorMixin
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solving.entry_points import certify

CLOSED = 1e-8  # relative gap of the isotonic fit, which is exact
ROUNDS, KERNEL_ROUNDS = 2000, 200
UNITS = "scores that span many orders of magnitude leave rounding: scale the columns of X alike"


class LIsotronRegressor(RegressorMixin, KernelEstimator):
    r"""f(x) = u(⟨w, z⟩), z = Wᵀx:   w ← w + (η/n) Σ_i (t_i − u(⟨w, z_i⟩)) z_i,   u = argmin Σ_i (u(⟨w, z_i⟩) − t_i)², u' between 0 and L.

    Rounds of a gradient-like step and a Lipschitz isotonic fit (L = ∞: Isotron). t is y mapped to [0, 1] (and f back), as the paper
    supposes. W makes the mean square of z the identity. With the paper's z = x/max ‖x_i‖ the step would depend on the units of the columns
    and on the farthest point. With a similarity, x stands for φ(x), K(x, x') = ⟨φ(x), φ(x')⟩, and z = φ(x)/κ with κ² the largest eigenvalue
    of K/n. The pair (w, u) solves no convex problem, but u does, given w: that is what the certificate is of.

    Parameters
    ----------
    lipschitz : float
        L ≥ 0, possibly ∞, in the units of t over those of ⟨w, z⟩.
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, positive semidefinite; "linear" is the model in x itself.
    target_range : pair of floats, optional
        what becomes [0, 1]; by default [0, 1] itself if it holds y, else from the least to the greatest y.
    validation_fraction : float
        fraction of the samples that is held out, by which the round is chosen; 0: the last round.
    rate, tol, patience
        η, and when the rounds end, as for `simopt.estimators.index_models.isotron.l_isotron`.
    max_iter : int, optional
        the most rounds; by default 2000 of a linear model, whose steps shrink like a power of a number below 1, and
        200 with a similarity. In the space of a kernel few rounds regularize, and more fit the noise.
    random_state : int, RandomState or None
        of the hold-out.

    Attributes
    ----------
    coef_ or dual_coef_
        f(x) = u(⟨coef_, x⟩) of a linear model, u(Σ_j dual_coef_j K(x, x_j)) of others.
    fit_ : IndexFit
        rounds, errors, the chosen round, why they ended; `fit_.model.transfer` is u.
    target_range_ : TargetRange
    similarity_, X_fit_
        K with its parameters and the training points, unless the model is linear or similarities are precomputed.
    certificate_, n_iter_, n_features_in_

    Warns
    -----
    ConvergenceWarning
        when the rounds diverged, and when they end at `max_iter` before a step was as short as `tol`. `fit_.stopped` says why they ended.

    Source: Kakade, Kalai, Kanade & Shamir 2011, Algorithm 2; Kalai & Sastry 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import LIsotronRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.maximum(X[:, 0] - X[:, 1], 0.0)
    >>> model = LIsotronRegressor().fit(X, y)
    >>> model.certificate_.closes(1e-8), model.score(X, y) > 0.95
    (True, True)
    """

    of_points = False

    def __init__(
        self,
        lipschitz: float = 1.0,
        *,
        similarity: Any = "linear",
        target_range: Any = None,
        validation_fraction: float = 0.0,
        rate: float = 1.0,
        max_iter: int | None = None,
        tol: float = 1e-4,
        patience: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.lipschitz = lipschitz
        self.similarity = similarity
        self.target_range = target_range
        self.validation_fraction = validation_fraction
        self.rate = rate
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, y (n,) and weights ≥ 0 (n,), whose shares stand in place of 1/n.

        Which samples are held out does not look at weights; what their errors count for does.

        Raises
        ------
        InvalidProblem
            for a similarity that is not positive semidefinite, and options without meaning.
        """
        X, y = self._training(X, y)
        self._demand_square(X)
        X, y, weights, _ = self._with_weights(X, y, sample_weight)
        self.target_range_ = TargetRange.of(y if weights is None else y[weights > 0], self.target_range)
        targets = self.target_range_.down(y)
        train, test = self._split(len(X))
        if weights is not None:
            train, test = train[weights[train] > 0], test[weights[test] > 0]
        fit = self._fit_linear if is_linear(self.similarity) else self._fit_kernel
        scores = fit(X, targets, train, test, weights)
        certificate = self._of_the_function(scores[train], targets[train], None if weights is None else weights[train])
        complaint = "" if certificate.closes(CLOSED) else open_gap(certificate, CLOSED, UNITS)
        if self.fit_.stopped == "diverged":
            complaint = "the rounds diverged; make `rate` smaller"
        elif self.fit_.stopped == "iteration limit":
            complaint = (
                f"after {len(self.fit_.trace)} rounds the steps were still longer than tol={float(self.tol):g}; raise max_iter, or tol"
            )
        self._concluded(certificate, len(self.fit_.trace), complaint)
        return self

    def _split(self, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Samples that are learned from, and those held out."""
        fraction = validate.nonnegative("validation_fraction", self.validation_fraction)
        count = round(fraction * n)
        if fraction >= 1.0 or count >= n:
            raise InvalidProblem(f"validation_fraction: {fraction:g} of {n} samples leaves none to learn from; a number in [0, 1) needed")
        seed = seed_of(self.random_state)
        order = np.random.default_rng(seed).permutation(n) if count else np.arange(n)
        return np.sort(order[count:]), np.sort(order[:count])

    def _options(self, weights: Array | None, train: NDArray[np.intp], test: NDArray[np.intp]) -> dict[str, Any]:
        usual = ROUNDS if is_linear(self.similarity) else KERNEL_ROUNDS
        most = usual if self.max_iter is None else self.max_iter
        out = {"rate": self.rate, "max_iter": most, "tol": self.tol, "patience": self.patience}
        return out if weights is None else out | {"weights": weights[train], "held_weights": weights[test] if test.size else None}

    def _fit_linear(self, X: Array, t: Array, train: NDArray[np.intp], test: NDArray[np.intp], weights: Array | None) -> Array:
        """Sets `fit_` and `coef_`; the scores of all samples."""
        power = -int(np.frexp(np.max(np.abs(X)))[1])  # of two: the largest entry near 1, so that nothing on the way overflows
        X = np.ldexp(X, power)
        W = whitening(X if weights is None else X * stretch(weights)[:, None])
        Z = X @ W
        validation = (Z[test], t[test]) if test.size else None
        self.fit_: IndexFit = l_isotron(Z[train], t[train], self.lipschitz, validation=validation, **self._options(weights, train, test))
        direction = cast(LinearIndex, self.fit_.model.index).direction
        with np.errstate(over="ignore"):  # what float64 cannot hold is refused when the fit ends
            self.coef_ = np.ldexp(W @ direction, power)
        return Z @ direction

    def _fit_kernel(self, X: Array, t: Array, train: NDArray[np.intp], test: NDArray[np.intp], weights: Array | None) -> Array:
        """Sets `fit_` and `dual_coef_`; the scores of all samples."""
        K = self._gram(X, weights)
        unit = largest_eigenvalue(K if weights is None else np.outer(stretch(weights), stretch(weights)) * K) / len(X) or 1.0
        matrix = Precomputed(K / unit)
        points = matrix.points
        validation = (points[test], t[test]) if test.size else None
        training, options = TrainingSet(points[train], t[train], matrix), self._options(weights, train, test)
        self.fit_ = kernel_l_isotron(training, self.lipschitz, validation=validation, **options)
        coefficients = np.zeros(len(X))
        coefficients[train] = cast(KernelFunction, self.fit_.model.index).coefficients
        self.dual_coef_ = coefficients / unit
        return K @ self.dual_coef_

    def _of_the_function(self, scores: Array, targets: Array, weights: Array | None) -> Certificate:
        """Bounds on the optimum of the isotonic fit to these scores, from the chosen u."""
        order, positions = ordered(scores)
        problem = LipschitzIsotonic(positions, targets[order], self.lipschitz, None if weights is None else weights[order])
        return certify(problem, {"x": self.fit_.model.transfer(positions)})

    def predict(self, X: Any) -> Array:
        """f at the rows of X, shape (m,)."""
        queries = self._queries(X)
        scores = queries @ self.coef_ if is_linear(self.similarity) else self._values(queries, self.dual_coef_)
        return self.target_range_.up(self.fit_.model.transfer(scores))


def stretch(weights: Array) -> Array:
    """√(n p_i): what makes the mean of squares of rows the one with shares p."""
    out: Array = np.sqrt(len(weights) * (weights / weights.sum()))
    return out
