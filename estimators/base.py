r"""The base of the estimators: similarities of any kind, Gram matrices and landmark features of them, and a warning when a certificate is
open.

A similarity is given by name ("gaussian", "laplacian", "manhattan", …) or by a `SimilarityRule`, which chooses its parameters from the
training points. It may be an object of `simopt.data.similarities`, a function of two arrays (n, p), (m, p) → (n, m), or "precomputed". Then
X holds the similarities themselves: K(x_i, x_j) of all training points, n × n, in `fit`, and K(x, x_j) of queries to the training points,
m × n, afterwards. The tag `input_tags.pairwise` says so, by which scikit-learn's cross-validation cuts rows and columns alike.

Rounding to single precision makes a positive semidefinite matrix K indefinite by up to 6e-8 tr K. For |K_ij| ≤ √(K_ii K_jj), so the norm of
the rounding errors is at most 2⁻²⁴ tr K. Similarities, precomputed or of a function, whose numbers are all of single precision are allowed
twice that, any others 1e-8 λ_max. Then the modulus of the least eigenvalue is added to the diagonal of the training points' matrix.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic.sparse import is_sparse
from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Array, Point
from simopt.core.errors import ConstantFit, InvalidProblem
from simopt.data.landmarks import CHOSEN_BY, LandmarkMap, checked_values
from simopt.data.rows import Rows
from simopt.data.similarities import Similarity, SimilarityRule, named
from simopt.data.similarities.base import of_checked
from simopt.data.similarities.named import takes_sparse
from simopt.data.similarities.points import TAKE_SPARSE, points
from simopt.equivalence.training import BLOCK
from simopt.estimators.class_labels import demand_labels
from simopt.estimators.landmarked.landmark_predictor import landmark_map
from simopt.estimators.one_fit import FITS, at_once, measure, unclocked, warn
from simopt.estimators.ordinal.ordinal import certified
from simopt.estimators.sample_weights import distinct, uneven, weights_of, with_classes
from simopt.estimators.scikit_learn import (
    BaseEstimator,
    ConvergenceWarning,
    check_is_fitted,
    check_random_state,
    column_or_1d,
    validate_data,
)
from simopt.estimators.widths import width_rule
from simopt.model.problem import Problem
from simopt.model.status import Status
from simopt.problems.norms.gram_factor import checked, of_points
from simopt.solving.solution import Solution

PRECOMPUTED = "precomputed"
OF_THE_SIMILARITY = "similarity__"
TOL = 1e-6  # relative gap of an estimator's fit: a hundred times what `simopt.solve` asks for, and far below what samples can tell
ALMOST = 0.9  # of the loss of the constant: what is left when nearly nothing is learned
READ_AS_NUMBERS = (str, bytes, np.datetime64, np.timedelta64, np.void)  # by `float`, or by NumPy
NUMBERS = ("regularization", "radius", "power", "epsilon", "gamma")  # of a problem, that its certificate names
LEAST = 1e-3  # seconds that a solver gets when the time is over before it begins: for its first point
FEW_LANDMARKS, MANY_LANDMARKS = 300, 500
SINGLE = float(np.finfo(np.float32).eps)


def similarity_rows(points: Array, landmarks: Array) -> Array:
    """The similarity of points that are rows of similarities already."""
    return points


def __getattr__(name: str) -> Any:
    if name == "as_given":  # what pickles of landmark maps of precomputed similarities call it
        return similarity_rows
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def some_of(n: int) -> NDArray[np.intp]:
    """All of n samples, or 5000 drawn from a fixed seed where there are more: a mean distance takes n² of them."""
    return np.arange(n) if n <= CHOSEN_BY else np.sort(np.random.default_rng(0).choice(n, size=CHOSEN_BY, replace=False))


def seed_of(random_state: Any) -> int:
    """A whole number is its own seed, as for the functions of simopt; a RandomState, or None, is asked for one.

    Raises
    ------
    InvalidProblem
        for anything else.
    """
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    return validate.seed("random_state", random_state)


def open_gap(certificate: Certificate, tol: float, remedy: str) -> str:
    """The message about a certificate that did not close, with what may close it."""
    gap = f"the certificate did not close, its relative gap is {certificate.relative_gap:.2g} where {tol:.2g} was asked"
    return f"{gap} ({remedy})"


def remedy_for(status: str, time_limit: float) -> str:
    """What closes a certificate that a solver left open, by how the solver ended."""
    if status == Status.TIME_LIMIT.value:
        return f"time_limit={time_limit:g} s is over: raise it, or tol"
    return "raise tol, choose another solver, or bring X and y to units near 1"


def usual_number(n: int) -> int:
    """How many landmarks there are by default: 10√n of n distinct points, but at least 300 (all of fewer) and at most 500.

    √n log n landmarks are as good as all for kernel ridge regression, up to constants (Rudi, Camoriano & Rosasco 2015).
    """
    return min(n, max(FEW_LANDMARKS, min(10 * math.isqrt(n), MANY_LANDMARKS)))


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that is like one of them."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidProblem(f"{name}: {value!r} given, True or False needed")
    return bool(value)


def gram_of_points(name: str, K: Array) -> Array:
    """Similarities of the training points with each other, as problems own them, |λ_min| added to their diagonal where that is needed.

    Raises
    ------
    InvalidProblem
        for a matrix that is not symmetric, or not positive semidefinite by more than may be added.
    """
    K = validate.matrix(name, K, rows=len(K), cols=len(K))
    try:
        return checked(name, K, len(K))
    except InvalidProblem:
        raised = lifted(K)
        if raised is K:
            raise
        return checked(name, raised, len(K))


def lifted(K: Array) -> Array:
    """K with |λ_min| added to its diagonal, where that is little, or rounding to single precision; any other K as it is. O(n³)."""
    with np.errstate(over="ignore", invalid="ignore"):
        single = np.array_equal(K, K.astype(np.float32))
        size = float(np.trace(K))
        if not 0.0 < size < np.inf or np.max(np.abs(K - K.T)) > (SINGLE if single else validate.SYMMETRY) * np.max(np.abs(K)):
            return K
    out = 0.5 * (K + K.T)
    eigenvalues = np.linalg.eigvalsh(out)
    if 0.0 < -eigenvalues[0] <= max(validate.INDEFINITE * eigenvalues[-1], SINGLE * size if single else 0.0):
        out.flat[:: len(out) + 1] -= eigenvalues[0]
    return out


def refuse_unread(name: str, x: Any) -> None:
    """Refuse what scikit-learn would turn into numbers without a word: text, dates, durations and records, masked entries and their values.

    Everything else it refuses itself, in the words that its own checks of estimators ask for.
    """
    if hasattr(x, "toarray"):  # sparse
        return
    raw = validate.entries(name, x)
    if raw.dtype.kind not in "biufcO":
        validate.numbers(name, raw)
    if raw.dtype.kind == "O" and all(validate.is_number(v) or isinstance(v, READ_AS_NUMBERS) for v in raw.flat):
        validate.numbers(name, raw)


class CheckedEstimator(BaseEstimator):
    """An estimator whose inputs are finite and have the columns that `fit` saw, and whose fits happen as a whole or not at all.

    Pickles, copies and hashes hold no clock readings (`unclocked`): two equal fits have the same `joblib.hash`.
    """

    _weighted_rows: NDArray[np.intp] | None = None  # which samples have a weight, where some have none

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in FITS:
            if name in vars(cls):
                setattr(cls, name, at_once(vars(cls)[name]))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        seen: dict[int, tuple[Any, Any]] = {}
        return {name: unclocked(value, seen) if name.endswith("_") else value for name, value in state.items()}

    def _training(self, X: Any, y: Any, *, numeric: bool = True) -> tuple[Array, Any]:
        """X as a finite float64 matrix and y as a vector; remembers the number and names of the columns."""
        refuse_unread("X", X)
        if numeric:
            refuse_unread("y", y)
        elif y is not None:
            demand_labels("y", y)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=numeric, ensure_min_samples=1, accept_sparse=self._sparse(X))
        X, y = self._canonical(X), column_or_1d(y, dtype=np.float64 if numeric else None, warn=True)
        measure(self, X=X, **({"y": y} if numeric else {}))
        return X, y

    def _sparse(self, X: Any) -> Any:
        """The argument `accept_sparse` of scikit-learn's checks: sparse points become rows, or are refused.

        Raises
        ------
        InvalidProblem
            for points that may not.
        """
        able = bool(self.__sklearn_tags__().input_tags.sparse)
        if is_sparse(X) and not able:
            raise InvalidProblem(f"X: a sparse matrix, a dense one needed here: give X.toarray(). {self._dense_because()}")
        return "csr" if able else False

    def _dense_because(self) -> str:
        return f"{type(self).__name__} takes no sparse data"

    def _canonical(self, X: Any) -> Any:
        """Sparse points as similarities take them."""
        return points("X", X, sparse=True) if is_sparse(X) else X

    def _with_weights(
        self, X: Array, y: Any, sample_weight: Any, class_weight: Any = None
    ) -> tuple[Array, Any, Array | None, Array | None]:
        """X, y, weights in the loss, and weights without those of classes; without samples of weight 0, unless X holds their similarities.

        Weights are None where all are the same. Choices that are made from the points, such as a width, do not look at their classes.
        """
        given = None if sample_weight is None else weights_of(sample_weight, X.shape[0])
        weights = with_classes(class_weight, y, given)
        if weights is None or getattr(self, "_precomputed", False):
            self._weighted_rows = None
            return X, y, uneven(weights), uneven(given)
        kept = weights > 0
        self._weighted_rows = np.flatnonzero(kept)
        return X[kept], y[kept], uneven(weights[kept]), None if given is None else uneven(given[kept])

    def _queries(self, X: Any) -> Array:
        """X as a finite float64 matrix with the columns that `fit` saw."""
        check_is_fitted(self)
        refuse_unread("X", X)
        out: Array = self._canonical(validate_data(self, X, dtype=np.float64, reset=False, accept_sparse=self._sparse(X)))
        return out


class Certified:
    """A fit that leaves `certificate_` (bounds on the optimum) and `n_iter_`, and warns where the certificate is open."""

    certificate_: Certificate
    n_iter_: int
    _chosen_before = "its parameters"
    _loss_of_errors = False  # whether the loss is that of errors of numbers, 0 for a perfect fit
    _began: float = float("inf")  # when the clock of the fit began

    def _solved(self, problem: Problem, solver: str | None, tol: float, time_limit: float) -> Point:
        """The certified point. Sets `solution_`, `certificate_` and `n_iter_`.

        The time limit is that of the whole fit, similarities included; a solver gets what is left of it.

        Raises
        ------
        InvalidProblem
            when no point was found, saying why.
        """
        left = validate.seconds("time_limit", time_limit) - max(time.perf_counter() - self._began, 0.0)
        solution = certified(problem, solver, tol=tol, time_limit=max(left, LEAST), record=False)
        if solution.point is None or solution.certificate is None:
            raise InvalidProblem(f"{problem.name}: no point was found ({solution.message or solution.status.value})")
        self.solution_: Solution = solution
        complaint = "" if solution.optimal else open_gap(solution.certificate, tol, remedy_for(solution.status.value, time_limit))
        of = self._certified(problem.name, {name: getattr(problem, name) for name in NUMBERS if name in problem.settable()})
        self._concluded(replace(solution.certificate, of=of), solution.provenance.iterations, complaint)
        if self._loss_of_errors:
            self._demand_more_than_a_constant(problem, solution.certificate.lower)
        return dict(solution.point)

    def _demand_more_than_a_constant(self, problem: Problem, lower: float) -> None:
        """Warn where the optimum, which is at least `lower`, is nearly the loss of the best constant."""
        constant = float(problem.objective(problem.trivial_point()))
        if not lower >= ALMOST * constant > 0.0:
            return
        numbers = {name: getattr(problem, name) for name in ("radius", "regularization") if name in problem.settable()}
        tight = "".join(f"{'raise' if name == 'radius' else 'lower'} {name} (now {value:.3g}), " for name, value in numbers.items())
        units = "" if getattr(self, "_precomputed", False) else "standardise the columns of X, "
        message = (
            f"{type(self).__name__}: hardly better than a constant: the loss is at least {lower:.4g} for every f of this problem, and "
            f"{constant:.4g} for the constant; {units}{tight}take another similarity, or see whether y depends on X"
        )
        warn(message, ConstantFit)

    def _certified(self, name: str = "", numbers: Mapping[str, float] | None = None) -> str:
        """The subject of the certificate: the problem as it was declared, and no choice that was made before it."""
        values = ", ".join(f"{key} = {value:.4g}" for key, value in (numbers or {}).items())
        what = f"the declared problem {name}" if name else "the problem of the estimator's formula"
        return f"{what}{' at ' + values if values else ''}; not the choice of {self._chosen_before}"

    def _concluded(self, certificate: Certificate, iterations: int, complaint: str = "") -> None:
        """Sets `certificate_` and `n_iter_`; a complaint, if there is one, becomes a ConvergenceWarning of the line that called `fit`."""
        self.certificate_ = certificate if certificate.of else replace(certificate, of=self._certified())
        self.n_iter_ = max(1, iterations)
        if complaint:
            message = f"{type(self).__name__}: {complaint}; certificate_ says what is known of the optimum"
            warn(message, ConvergenceWarning)


class SimilarityEstimator(CheckedEstimator):
    """An estimator with a parameter `similarity`."""

    similarity: Any
    of_points = False  # whether points are looked at through the similarity alone, and may be sparse where it takes them so

    def set_params(self, **params: Any) -> Self:
        """Sets parameters, also those of the similarity (`similarity__mu`), of which the estimator then has a copy with the new ones.

        Raises
        ------
        InvalidProblem
            for a parameter of a similarity that is a name or a function.
        """
        inner = {name: value for name, value in params.items() if name.startswith(OF_THE_SIMILARITY)}
        super().set_params(**{name: value for name, value in params.items() if name not in inner})
        if inner:
            if not isinstance(self.similarity, Similarity):
                raise InvalidProblem(
                    f"{next(iter(inner))}: similarity is {self.similarity!r}, which has no parameters; give an object, such as "
                    "simopt.data.similarities.Gaussian(1.0)"
                )
            self.similarity = self.similarity.set_params(**{name.removeprefix(OF_THE_SIMILARITY): value for name, value in inner.items()})
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = self.of_points and (
            takes_sparse(self.similarity) if (rule := width_rule(self.similarity)) is None else rule.takes_sparse
        )
        return tags

    def _dense_because(self) -> str:
        if not self.of_points:
            return super()._dense_because()
        what = (
            f"the similarity {self.similarity!r}"
            if isinstance(self.similarity, str | Similarity | SimilarityRule)
            else "a function as similarity"
        )
        return f"Sparse points are taken by {TAKE_SPARSE}, not by {what}"

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.similarity, str) and self.similarity == PRECOMPUTED

    def _chosen(self, X: Array, weights: Array | None = None) -> Any:
        """The similarity, with its parameters chosen from the points (n, p) and their weights if it is given by name.

        Raises
        ------
        InvalidProblem
            for what is neither a name, nor a similarity, nor a function.
        """
        if isinstance(self.similarity, str | SimilarityRule):
            return named(self.similarity, X, weights)
        if not callable(self.similarity):
            raise InvalidProblem(
                f"similarity: {self.similarity!r} given; a name, a rule, a similarity, a function or {PRECOMPUTED!r} needed"
            )
        return self.similarity

    def _demand_square(self, X: Array) -> None:
        """Refuse precomputed similarities that are not those of the training points with each other."""
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise InvalidProblem(f"X: shape {X.shape} is not square, as the precomputed similarities of the training points are")


class KernelEstimator(Certified, SimilarityEstimator):
    """An estimator whose function is x ↦ Σ_j a_j K(x, x_j) over the training points; K must be positive semidefinite."""

    _chosen_before = "the similarity and the parameters"
    of_points = True

    def _gram(self, X: Array, weights: Array | None = None, similarity: Any = None) -> Array:
        """K(x_i, x_j) of the training points, which are kept as `X_fit_`, and the similarity with its parameters as `similarity_`.

        `similarity` is one that was chosen already.
        """
        self._demand_square(X)
        if self._precomputed:
            return gram_of_points("X", X)
        self.similarity_ = self._chosen(X, weights) if similarity is None else similarity
        self.X_fit_ = X.copy()  # who changes X later does not change the fit
        if isinstance(self.similarity_, Similarity):
            return of_points(self.similarity_, X)
        return gram_of_points("similarity", self.similarity_(X, X))

    def _keep(self, coefficients: Array) -> None:
        """Sets `dual_coef_` and `support_`; of the training points only those with a coefficient other than 0 are kept."""
        used = coefficients if coefficients.ndim == 1 else np.any(coefficients, axis=1)
        places: NDArray[np.intp] = np.flatnonzero(used) if np.any(used) else np.arange(1)
        self.support_ = places if self._weighted_rows is None else self._weighted_rows[places]
        self.dual_coef_: Array = coefficients[places]
        if not self._precomputed and places.size < self.X_fit_.shape[0]:  # else there is nothing to leave out
            self.X_fit_ = self.X_fit_[places]

    def _values(self, queries: Array, coefficients: Array) -> Array:
        """Σ_j a_j K(x, x_j) at the queries, in blocks; of several columns a, as many columns."""
        if self._precomputed:
            return queries @ coefficients
        function, step = of_checked(self.similarity_), max(1, BLOCK // max(1, len(coefficients)))
        blocks = (function(queries[start : start + step], self.X_fit_) @ coefficients for start in range(0, queries.shape[0], step))
        return np.concatenate(list(blocks))


class LandmarkFeatures(SimilarityEstimator):
    """Ψ(x) = d^{-1/2} (K(x, l_1), …, K(x, l_d)), whatever K is; landmarks are drawn by `random_state`.

    Landmarks of sparse points are kept as `landmark_points_`, by rows, and K with its parameters as `similarity_`. Then `landmark_map_`
    takes the similarities to them, as it does where they are precomputed.
    """

    landmarks: Any
    random_state: Any
    of_points = True

    def _fit_map(self, X: Array, weights: Array | None = None) -> LandmarkMap:
        """Ψ, kept as `landmark_map_`; for precomputed similarities the landmarks are columns of X, `landmark_indices_`.

        If samples have weights, or some are alike, landmarks are drawn from the distinct points (`sample_weights.distinct`).

        Raises
        ------
        InvalidProblem
            for landmarks that are given although there are only similarities.
        """
        self._demand_square(X)
        seed = seed_of(self.random_state)
        if is_sparse(X):
            return self._fit_sparse_map(X, weights, seed)
        if not self._precomputed:
            given = self.landmarks.copy() if isinstance(self.landmarks, np.ndarray) else self.landmarks
            chosen_from, similarity = X, self.similarity
            drawn = not isinstance(given, list | tuple) and np.ndim(given) == 0
            rows = distinct(X) if drawn else np.arange(len(X))
            given = usual_number(len(rows)) if given is None else given
            if drawn and (len(rows) < len(X) or weights is not None):
                few = some_of(len(X))
                chosen_from, similarity = X[rows], self._chosen(X[few], None if weights is None else weights[few])
            elif isinstance(similarity, str | SimilarityRule) and weights is not None:
                few = some_of(len(X))
                similarity = self._chosen(X[few], weights[few])
            self.landmark_map_ = landmark_map(Rows("X", chosen_from, checked=True), given, similarity, seed)
            return self.landmark_map_
        counted = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        numbers = Rows("X", counted.astype(np.float64)[:, None])
        chosen = landmark_map(numbers, self._count(len(counted)), similarity_rows, seed).landmarks[:, 0]
        return self._columns(chosen.astype(np.intp))

    def _fit_sparse_map(self, X: Any, weights: Array | None, seed: int) -> LandmarkMap:
        """The landmarks that are drawn from the dense points with these entries, too."""
        given, rng = self.landmarks, np.random.default_rng(seed)
        if isinstance(given, list | tuple) or is_sparse(given) or np.ndim(given):
            landmarks = points("landmarks", given, sparse=True)
            if landmarks.shape[1] != X.shape[1]:
                raise InvalidProblem(f"landmarks: shape {landmarks.shape} has {landmarks.shape[1]} columns, expected {X.shape[1]}")
        else:
            rows = distinct(X)
            base = X[rows] if rows.size < X.shape[0] or weights is not None else X
            count = usual_number(rows.size) if given is None else validate.whole("landmarks", given, minimum=1)
            count = min(count, base.shape[0])
            landmarks = base[np.sort(rng.choice(base.shape[0], size=count, replace=False))]
        few = some_of(X.shape[0])
        similarity = self._chosen(X[few], None if weights is None else weights[few])
        return self._sparse_landmarks(landmarks, similarity)

    def _sparse_landmarks(self, landmarks: Any, similarity: Any) -> LandmarkMap:
        self.landmark_points_, self.similarity_ = landmarks, similarity
        self.landmark_map_ = LandmarkMap(similarity_rows, np.eye(landmarks.shape[0]))
        return self.landmark_map_

    def _count(self, n: int) -> int:
        """How many landmarks of n points there are to be, for similarities that are known for the training points alone."""
        if self.landmarks is None:
            return usual_number(n)
        if not isinstance(self.landmarks, Integral):
            raise InvalidProblem("landmarks: with precomputed similarities say how many; they are drawn from the training points")
        return int(self.landmarks)

    def _columns(self, chosen: NDArray[np.intp]) -> LandmarkMap:
        """Ψ of precomputed similarities, the landmarks being these training points."""
        self.landmark_indices_ = chosen
        self.landmark_map_ = LandmarkMap(similarity_rows, np.eye(len(chosen)))
        return self.landmark_map_

    def _points(self, X: Array) -> Array | Rows:
        """The arguments of `landmark_map_`: the rows of a checked X, or their similarities to the landmarks."""
        if self._precomputed:
            return X[:, self.landmark_indices_]
        if hasattr(self, "landmark_points_"):  # queries may be dense
            return checked_values(self._similarities(X), (X.shape[0], self.landmark_points_.shape[0]))
        if is_sparse(X):
            raise InvalidProblem("X: a sparse matrix, but `fit` saw dense points; give X.toarray(), or fit to sparse points")
        return Rows("X", X, checked=True)

    def _similarities(self, X: Any) -> Array:
        """K of the rows of X and the landmarks, in blocks."""
        step = max(1, BLOCK // self.landmark_points_.shape[0])
        return np.concatenate([self.similarity_.values(X[i : i + step], self.landmark_points_) for i in range(0, X.shape[0], step)])


class LandmarkEstimator(Certified, LandmarkFeatures):
    """An estimator on the landmark map, with a certificate."""

    _chosen_before = "the similarity, the landmarks and the parameters"
