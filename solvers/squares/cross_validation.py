r"""K-fold cross-validation of M-power RLS over a (λ, m) grid.

All fits on one training set lie on its ridge path. A fold costs one tridiagonal reduction of its Gram matrix
(solvers/squares/tridiagonal_path.py), O(n²) for each of some 200 values of μ, and O(1) for each pair. That is the root of G(s) = s − (m −
2) log t(e^s) − κ on the interpolated path. On a single split tuning (λ, m) could not beat tuning λ alone; m matters because (λ, m) ↦ μ
differs from fold to fold.

Time for k folds: about k (4/3 n_t³ + 800 n_t²) flops with n_t = n (k − 1)/k training samples in each. Memory: 2 n_t² + n_t n/k numbers for
one fold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.solvers.squares.tridiagonal_path import TridiagonalPath

CHUNK = 4_000_000  # predictions held at a time
CONVERGED = 1e-12  # step of log μ at which a root on the interpolated path is left alone
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Validation errors over folds, powers (rows) and regularizations (columns).

    Attributes
    ----------
    regularizations, powers : Array (l,), (k,)
        the grid.
    errors : Array (folds, k, l)
        mean squared validation error of each fold.
    log_mu : Array (folds, k, l)
        log μ of each fit (∞ for f = 0): the ridge parameter n_t λ₂ of kernel ridge regression with the same fit on that fold.
    mean : Array (k, l)
        mean squared error over all samples (folds weighted by their size).
    best : (int, int)
        row and column of the smallest mean; of equals the strongest regularization, then the first power.
    """

    regularizations: Array
    powers: Array
    errors: Array
    log_mu: Array
    mean: Array
    best: tuple[int, int]

    @property
    def regularization(self) -> float:
        """λ of the best pair."""
        return float(self.regularizations[self.best[1]])

    @property
    def power(self) -> float:
        """m of the best pair."""
        return float(self.powers[self.best[0]])


def cross_validate(
    gram: npt.ArrayLike,
    targets: npt.ArrayLike,
    regularizations: npt.ArrayLike,
    powers: npt.ArrayLike,
    *,
    folds: int | Sequence[Indices] = 5,
    rng: np.random.Generator | None = None,
) -> CrossValidation:
    """Mean squared validation errors of every (λ, m), m ≥ 1, where λ multiplies ‖f‖ᵐ beside the mean over the training part.

    Parameters
    ----------
    folds : int or sequence of index arrays
        number of folds (contiguous, or of a random permutation if `rng` is given), or the validation indices of each.

    Raises
    ------
    InvalidProblem
        data that are not finite or disagree in size, a grid value out of range, or folds that leave nothing to train on.
    """
    lam = validate.grid("regularizations", regularizations, low=0.0, strict=True)
    m = validate.grid("powers", powers, low=1.0, strict=False, hint="; for powers below 1 use stationary_points")
    K, y = validate.kernel_data(gram, targets)
    parts = _parts(y.size, folds, rng)
    errors, roots = np.empty((len(parts), m.size, lam.size)), np.empty((len(parts), m.size, lam.size))
    for i, test_part in enumerate(parts):
        errors[i], roots[i] = _fold(K, y, test_part, lam, m)
    sizes = np.array([test_part.size for test_part in parts], dtype=np.float64)
    mean: Array = np.tensordot(sizes / np.sum(sizes), errors, axes=1)
    order = np.argsort(-lam, kind="stable")
    row, column = np.unravel_index(int(np.argmin(mean[:, order])), mean.shape)
    return CrossValidation(lam, m, errors, roots, mean, (int(row), int(order[column])))


def _parts(n: int, folds: int | Sequence[Indices], rng: np.random.Generator | None) -> list[Indices]:
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool | np.timedelta64):
        if not 2 <= folds <= n:
            raise InvalidProblem(f"folds: {folds} given for {n} samples, a number from 2 to {n} needed")
        order = np.arange(n) if rng is None else rng.permutation(n)
        return [np.sort(part) for part in np.array_split(order, int(folds))]
    if not isinstance(folds, Iterable) or isinstance(folds, str) or (isinstance(folds, np.ndarray) and folds.ndim == 0):
        raise InvalidProblem(f"folds: a {type(folds).__name__} given, a whole number or the validation indices of each fold needed")
    given = [np.asarray(part) for part in folds]
    for k, part in enumerate(given):
        if part.ndim != 1 or part.dtype.kind not in "iu":
            raise InvalidProblem(f"folds: part {k} must be a vector of whole numbers, got {part.dtype} of shape {part.shape}")
    parts = [part.astype(np.intp) for part in given]
    for k, part in enumerate(parts):
        if part.size == 0 or np.unique(part).size != part.size or part.min() < 0 or part.max() >= n or part.size >= n:
            raise InvalidProblem(f"folds: part {k} must be distinct indices from 0 to {n - 1}, at least one and not all of them")
    if not parts:
        raise InvalidProblem("folds: none given")
    return parts


def _fold(gram: Array, targets: Array, test_part: Indices, lam: Array, m: Array) -> tuple[Array, Array]:
    """(mean squared errors, log μ), both (k, l), on one fold."""
    training_part = np.setdiff1d(np.arange(targets.size), test_part)
    path = TridiagonalPath(gram[np.ix_(training_part, training_part)].T, targets[training_part], gram[np.ix_(training_part, test_part)])
    truth, shape = targets[test_part], (m.size, lam.size)
    roots = pair_roots(path, np.tile(lam, m.size), np.repeat(m, lam.size))
    if path.flat:
        return np.full(shape, float(np.mean(np.square(truth)))), roots.reshape(shape)
    errors = np.empty(roots.size)
    step = max(1, CHUNK // test_part.size)
    for start in range(0, roots.size, step):
        predicted = path.predictions(roots[start : start + step])
        errors[start : start + step] = np.mean(np.square(predicted - truth), axis=1)
    return errors.reshape(shape), roots.reshape(shape)


def pair_predictions(gram: Array, targets: Array, cross: Array, lam: Array, m: Array) -> Array:
    """Predictions (p, v) of the fits of p pairs (λ, m) to one training set; `gram` (n, n) is column-major and destroyed, `cross` (n, v)."""
    path = TridiagonalPath(gram, targets, cross)
    roots = pair_roots(path, lam, m)
    return np.zeros((lam.size, cross.shape[1])) if path.flat else path.predictions(roots)


def pair_roots(path: TridiagonalPath, lam: Array, m: Array) -> Array:
    """log μ of the fit of each pair (λ, m), both (p,); ∞ for f = 0. The path is tabulated where they are, unless it is flat."""
    if path.flat:
        limits: Array = np.where(m == 2.0, np.log(path.samples * lam), np.copysign(math.inf, 2.0 - m))
        return limits
    kappa = math.log(0.5 * path.samples) + np.log(m) + np.log(lam)
    vanishing = (m == 1.0) & (kappa >= 0.5 * math.log(path.energy))
    roots: Array = np.full(kappa.shape, math.inf)
    roots[~vanishing] = _roots(path, kappa[~vanishing], m[~vanishing])
    return roots


def _roots(path: TridiagonalPath, kappa: Array, m: Array) -> Array:
    """All roots of G at once, and the path tabulated where they are.

    A survey of G in steps of 1 brackets each root; below and above the survey the path is trivial and so is the equation. Inside the
    brackets Newton's method runs on the interpolated path.
    """
    points, log_t = path.survey()
    below = kappa + _lifted(m, log_t[0])
    with np.errstate(divide="ignore"):
        above = (kappa + _lifted(m, log_t[-1] + points[-1])) / (m - 1.0)
    passed = np.sum(points <= kappa[:, None] + _lifted(m[:, None], log_t), axis=1)  # how many points have G ≤ 0
    left, right = points[np.maximum(passed - 1, 0)], points[np.minimum(passed, points.size - 1)]
    path.tabulate(float(np.min(left, initial=path.high)), float(np.max(right, initial=path.low)))
    roots: Array = np.where(passed == 0, below, np.where(passed == points.size, above, 0.5 * (left + right)))
    active = np.flatnonzero((passed > 0) & (passed < points.size))
    for _ in range(60):
        s = roots[active]
        log_t, w = path.norms(s)
        value = s - (m[active] - 2.0) * log_t - kappa[active]
        left[active] = np.where(value < 0.0, s, left[active])
        right[active] = np.where(value > 0.0, s, right[active])
        slope = 1.0 + (m[active] - 2.0) * w
        proposal = s - value / np.where(slope > 0.0, slope, 1.0)
        inside = (proposal > left[active]) & (proposal < right[active])
        proposal = np.where(inside | (value == 0.0), proposal, 0.5 * (left[active] + right[active]))
        roots[active] = proposal
        active = active[np.abs(proposal - s) > CONVERGED * np.maximum(1.0, np.abs(s))]
        if active.size == 0:
            break
    return roots


def _lifted(m: Array, log_t: Array) -> Array:
    """(m − 2) log t; 0 for m = 2, also where t² came out as no positive number."""
    return np.multiply(m - 2.0, log_t, out=np.zeros(np.broadcast_shapes(m.shape, np.shape(log_t))), where=m != 2.0)
