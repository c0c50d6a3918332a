r"""K-fold cross-validation of M-power RLS over a (λ, m) grid.

All fits on one training set lie on its ridge path, so a fold costs one tridiagonal reduction of its Gram matrix
(solvers/tridiagonal_path.py), then O(n²) for each of some 200 values of μ, and O(1) for each pair: the root of
G(s) = s − (m − 2) log t(e^s) − κ on the interpolated path. On a single split tuning (λ, m) could not beat tuning λ alone;
m matters because (λ, m) ↦ μ differs from fold to fold.

Time for k folds: about k (4/3 n_t³ + 800 n_t²) flops with n_t = n (k − 1)/k training samples in each. Memory: 2 n_t² + n_t n/k numbers for
one fold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simopt.errors import InvalidProblem
from simopt.solvers.secular import model_root
from simopt.solvers.tridiagonal_path import TridiagonalPath
from simopt.typing import Array

CHUNK = 4_000_000  # predictions held at a time
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
    gram: Array,
    targets: Array,
    regularizations: Array,
    powers: Array,
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
        a grid value out of range, or folds that leave nothing to train on.
    """
    lam = np.atleast_1d(np.asarray(regularizations, dtype=np.float64))
    m = np.atleast_1d(np.asarray(powers, dtype=np.float64))
    if not (lam.size and np.all(lam > 0.0) and np.all(np.isfinite(lam))):
        raise InvalidProblem("regularizations: finite numbers > 0 needed")
    if not (m.size and np.all(m >= 1.0) and np.all(np.isfinite(m))):
        raise InvalidProblem("powers: finite numbers ≥ 1 needed")
    parts = _parts(targets.size, folds, rng)
    errors, roots = np.empty((len(parts), m.size, lam.size)), np.empty((len(parts), m.size, lam.size))
    for i, held in enumerate(parts):
        errors[i], roots[i] = _fold(gram, targets, held, lam, m)
    sizes = np.array([held.size for held in parts], dtype=np.float64)
    mean: Array = np.tensordot(sizes / np.sum(sizes), errors, axes=1)
    order = np.argsort(-lam, kind="stable")
    row, column = np.unravel_index(int(np.argmin(mean[:, order])), mean.shape)
    return CrossValidation(lam, m, errors, roots, mean, (int(row), int(order[column])))


def _parts(n: int, folds: int | Sequence[Indices], rng: np.random.Generator | None) -> list[Indices]:
    if isinstance(folds, int):
        if not 2 <= folds <= n:
            raise InvalidProblem(f"folds: {folds} given for {n} samples, a number from 2 to {n} needed")
        order = np.arange(n) if rng is None else rng.permutation(n)
        return [np.sort(part) for part in np.array_split(order, folds)]
    parts = [np.asarray(part, dtype=np.intp) for part in folds]
    for k, part in enumerate(parts):
        if part.size == 0 or np.unique(part).size != part.size or part.min() < 0 or part.max() >= n or part.size >= n:
            raise InvalidProblem(f"folds: part {k} must be distinct indices from 0 to {n - 1}, at least one and not all of them")
    if not parts:
        raise InvalidProblem("folds: none given")
    return parts


def _fold(gram: Array, targets: Array, held: Indices, lam: Array, m: Array) -> tuple[Array, Array]:
    """(mean squared errors, log μ), both (k, l), on one fold."""
    kept = np.setdiff1d(np.arange(targets.size), held)
    path = TridiagonalPath(gram[np.ix_(kept, kept)].T, targets[kept], gram[np.ix_(kept, held)])
    truth = targets[held]
    if path.flat:
        limits = np.where(m == 2.0, 0.0, np.copysign(math.inf, 2.0 - m))[:, None]
        roots = np.where(m[:, None] == 2.0, np.log(kept.size * lam)[None, :], limits)
        return np.full(roots.shape, float(np.mean(np.square(truth)))), roots
    kappa = np.log(0.5 * kept.size * m)[:, None] + np.log(lam)[None, :]
    powers = np.broadcast_to(m[:, None], kappa.shape)
    vanishing = (powers == 1.0) & (kappa >= 0.5 * math.log(path.energy))
    roots = np.full(kappa.shape, math.inf)
    if not np.all(vanishing):
        ends = [_root(path, float(k), power) for k, power in _extremes(kappa, powers, ~vanishing)]
        path.tabulate(min(ends), max(ends))
        roots[~vanishing] = _roots(path, kappa[~vanishing], powers[~vanishing], min(ends) - 1e-6, max(ends) + 1e-6)
    else:
        path.tabulate(path.high, path.high)
    errors = np.empty(roots.size)
    step = max(1, CHUNK // held.size)
    for start in range(0, roots.size, step):
        predicted = path.predictions(roots.ravel()[start : start + step])
        errors[start : start + step] = np.mean(np.square(predicted - truth), axis=1)
    return errors.reshape(roots.shape), roots


def _extremes(kappa: Array, powers: Array, live: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """The smallest and largest κ of each power: μ increases with λ, so their roots bound all others."""
    pairs = []
    for i in np.flatnonzero(np.any(live, axis=1)):
        row = kappa[i, live[i]]
        pairs += [(float(row.min()), float(powers[i, 0])), (float(row.max()), float(powers[i, 0]))]
    return pairs


def _root(path: TridiagonalPath, kappa: float, m: float) -> float:
    """One root by the tangent iteration of solvers/secular.py, each evaluation two tridiagonal systems."""
    if m == 2.0:
        return kappa
    s = min(max(kappa, path.low), path.high)
    for _ in range(60):
        log_t, w = path.point(s)
        if w <= 1e-14 or w >= 1.0 - 1e-14:  # the path has left the range of μ where it bends
            proposal = kappa + (m - 2.0) * log_t if w < 0.5 else (kappa + (m - 2.0) * (log_t + s)) / (m - 1.0 or 1e-300)
        else:
            log_d = s + math.log1p(-w) - math.log(w)
            proposal = model_root(kappa, m, log_t + s - math.log(w), log_d)
        if abs(proposal - s) <= 1e-9 * max(1.0, abs(s)):
            return proposal
        s = proposal
    return s


def _roots(path: TridiagonalPath, kappa: Array, m: Array, low: float, high: float) -> Array:
    """All roots in [low, high] at once: Newton's method on the increasing function G, kept inside brackets."""
    left, right = np.full(kappa.shape, low), np.full(kappa.shape, high)
    s = np.clip(kappa, low, high)
    for _ in range(100):
        log_t, w = path.norms(s)
        value = s - (m - 2.0) * log_t - kappa
        left, right = np.where(value < 0.0, s, left), np.where(value > 0.0, s, right)
        slope = 1.0 + (m - 2.0) * w
        proposal = s - value / np.where(slope > 0.0, slope, 1.0)
        outside = ~((proposal > left) & (proposal < right))
        proposal = np.where(outside, 0.5 * (left + right), proposal)
        moved = np.abs(proposal - s)
        s = np.where(value == 0.0, s, proposal)
        if np.all((moved <= 1e-13 * np.maximum(1.0, np.abs(s))) | (value == 0.0)):
            break
    return s
