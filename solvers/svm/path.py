r"""The hinge SVM without intercept for many λ, each solution the start of the next, and the λ at which it becomes the mean classifier.

Let ω_S = (1/n) Σ y_i φ(x_i) and f_S = ω_S. If λ ≥ max_i y_i f_S(x_i), no margin y_i f_S(x_i)/λ exceeds 1, every hinge has the slope −1
(a subgradient also at its kink), and f = ω_S/λ is the solution. Below that value it is not, whatever the φ(x_i). Its multipliers would
have Σ (1/n − a_i) y_i φ(x_i) = 0 with a_i = 0 where the margin exceeds 1 and a_i = 1/n where it is below 1. But the inner product of
that sum with f is at least (1/n) times the largest margin, which is positive.

With weights p_i of samples, of sum 1, in place of 1/n, and caps c_i = n p_i, ω_S = Σ p_i y_i φ(x_i). The same holds over the samples with
p_i > 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.solvers.svm.dual import box, complementarity, product
from simopt.solvers.svm.fit import SVMFit, contiguous, cost_of, svm_fits

HALVINGS = 60
NEAR = 0.5  # of the threshold: above it most weights are at their bounds, and w = y is the better start than w = 0


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The SVM at one λ.

    Attributes
    ----------
    regularization : float
        λ.
    coefficients : Array (n,)
        α with f = Σ α_j k(·, x_j).
    multipliers : Array (n,)
        a_i ∈ [0, 1/n] of the rows 1 − y_i f_i ≤ slack_i.
    upper, gap : float
        upper − gap ≤ optimum ≤ upper, for (1/n) Σ [1 − y_i f_i]_+ + (λ/2)‖f‖²; the loss at f = 0, the unit of gaps, is 1.
    norm : float
        ‖f‖_H.
    closed_form : bool
        whether λ is at or above the threshold, f = ω_S/λ.
    pair_steps, newton_steps : int
        work done for this λ.
    """

    regularization: float
    coefficients: Array
    multipliers: Array
    upper: float
    gap: float
    norm: float
    closed_form: bool
    pair_steps: int
    newton_steps: int


@dataclass(frozen=True, eq=False)
class SVMPath:
    """max_i y_i f_S(x_i), and the SVM at each λ in the order in which they were given."""

    threshold: float
    points: tuple[PathPoint, ...]


def margin_data(gram: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Array, Array]:
    """K with contiguous rows and y = ±1 of one size; that K is symmetric and positive semidefinite is not looked at. O(n²)."""
    y = validate.labels("labels", labels)
    K = validate.matrix("gram", gram, rows=y.size, cols=y.size)
    validate.squarable("gram", np.diagonal(K))
    return contiguous(K), y


def mean_threshold(gram: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """max_i y_i f_S(x_i) = max_i (1/n) Σ_j y_i y_j K_ij: from this λ on the SVM without intercept is ω_S/λ. One product with K.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite.
    labels : (n,) array
        y_i = ±1.

    Raises
    ------
    InvalidProblem
        for labels other than ±1, or a K that is not finite, not square or not of their size.
    """
    K, y = margin_data(gram, labels)
    return threshold_of(K, y)


def threshold_of(gram: Array, labels: Array, caps: Array | None = None) -> float:
    """The same of data that were looked at, and of samples with caps."""
    full = labels if caps is None else caps * labels
    return float(np.max(labels * (gram @ full))) / len(labels)


def warm_start(fit: SVMFit, cost: float, caps: Array | None = None) -> Array:
    """Weights for another C: those at a bound stay there, the others keep C w_i, for so f changes least. O(n)."""
    most = 1.0 if caps is None else caps
    full = np.abs(fit.weights) == most
    kept: Array = np.where(full, fit.weights, np.clip(fit.weights * (fit.cost / cost), -most, most))
    return kept


def mean_fit(gram: Array, labels: Array, cost: float, caps: Array | None = None) -> SVMFit:
    """f = ω_S/λ, all weights at their bounds, with its gap: 0 at and above the threshold. One product with K."""
    full, most = (labels.copy(), 1.0) if caps is None else (caps * labels, caps)
    residual = labels - cost * product(gram, full)
    gap = complementarity(labels, full, residual, most) / len(labels)
    return SVMFit(full, residual, cost, 0.0, gap, 0, 0)


def svm_path(gram: npt.ArrayLike, labels: npt.ArrayLike, regularizations: npt.ArrayLike, *, tol: float = 1e-8) -> SVMPath:
    """The SVM without intercept at each λ, from the largest to the smallest, each certified by its own multipliers.

    Time: one product with K for each λ at or above the threshold; below, what one SVM needs, less what the start saves.

    Parameters
    ----------
    gram : (n, n) array
        K, symmetric positive semidefinite (not checked).
    labels : (n,) array
        y_i = ±1.
    regularizations : (m,) array or float
        λ > 0, in any order.
    tol : float
        gap asked for, in units of the loss at f = 0; what was reached is in each point.

    Raises
    ------
    InvalidProblem
        for labels other than ±1, a K that does not fit, or a λ that is not positive.
    """
    K, y = margin_data(gram, labels)
    strengths = validate.grid("regularizations", regularizations, low=0.0, strict=True)
    tol = validate.between_0_and_1("tol", tol)
    least = int(np.argmin(strengths))
    if math.isinf(cost_of(y, float(strengths[least]))):
        reason = f"entry {least} is {strengths[least]:g}, whose 1/(nλ) float64 does not hold"
        raise InvalidProblem(f"regularizations: {reason}; larger numbers needed")
    threshold = threshold_of(K, y)
    order = np.argsort(-strengths, kind="stable")
    found: dict[int, PathPoint] = {}
    for index, fit in zip(order, fits_along(K, y, strengths[order], threshold, goal=tol), strict=True):
        strength = float(strengths[index])
        found[int(index)] = _point(y, strength, fit, strength >= threshold)
    return SVMPath(threshold, tuple(found[index] for index in range(strengths.size)))


def fits_along(
    gram: Array, labels: Array, strengths: Array, threshold: float, *, goal: float, caps: Array | None = None
) -> Iterator[SVMFit]:
    """The SVM without intercept at each λ, falling, each the start of the next; `threshold` as `threshold_of` has it."""
    full, last = labels if caps is None else caps * labels, None
    for strength in strengths.tolist():
        cost = cost_of(labels, strength)
        if strength >= threshold:
            last = mean_fit(gram, labels, cost, caps)
        else:
            start = warm_start(last, cost, caps) if last is not None else full if strength > NEAR * threshold else None
            last = last_of(svm_fits(gram, labels, cost, goal=goal, start=start, caps=caps))
        yield last


def balanced_along(gram: Array, labels: Array, strengths: Array, *, goal: float, caps: Array | None = None) -> Iterator[SVMFit]:
    """The SVM with intercept at each λ, falling, each the start of the next."""
    last: SVMFit | None = None
    for strength in strengths.tolist():
        cost = cost_of(labels, strength)
        start = None if last is None else balanced_start(last, labels, cost, caps)
        last = last_of(svm_fits(gram, labels, cost, goal=goal, balanced=True, start=start, caps=caps))
        yield last


def last_of(fits: Iterator[SVMFit]) -> SVMFit:
    """The last of several fits, at least one."""
    for fit in fits:
        last = fit
    return last


def balanced_start(fit: SVMFit, labels: Array, cost: float, caps: Array | None = None) -> Array:
    """`warm_start` with Σ w = 0 again: those inside their bounds are moved by one number, as far as the bounds let them. O(n).

    If that is not far enough, the weights as they are: their sum is 0 at every C.
    """
    most = 1.0 if caps is None else caps
    start = warm_start(fit, cost, caps)
    inside = np.flatnonzero(np.abs(fit.weights) < most)
    total = float(np.sum(start))
    low, high = (end[inside] for end in box(labels, most))
    values = start[inside]
    slack = float(np.sum(values - low)) if total > 0.0 else float(np.sum(high - values))
    if slack < abs(total):
        return fit.weights
    near, far = 0.0, math.copysign(2.0 if caps is None else 2.0 * float(np.max(caps)), total)
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        moved = float(np.sum(values - np.clip(values - middle, low, high)))
        near, far = (middle, far) if abs(moved) < abs(total) else (near, middle)
    start[inside] = np.clip(values - far, low, high)
    return start


def _point(labels: Array, strength: float, fit: SVMFit, closed: bool) -> PathPoint:
    fitted = labels - fit.residual
    alpha = fit.coefficients
    square = max(float(alpha @ fitted), 0.0)
    upper = float(np.mean(np.maximum(labels * fit.residual, 0.0))) + 0.5 * strength * square
    return PathPoint(strength, alpha, fit.multipliers, upper, fit.gap, float(np.sqrt(square)), closed, fit.pair_steps, fit.newton_steps)
