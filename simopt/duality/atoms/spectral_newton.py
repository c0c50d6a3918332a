r"""Newton's method for concave functions of a definite matrix, in floats: a guess at where a supremum is attained, which needs no proof.

All is written in the eigenvectors of the matrix Y. With second divided differences Γ_ikj of log the second derivative of tr M log Y is

    D²(tr M log Y)[E, E] = 2 Σ_k Σ_ij M_ij Γ_ikj E_ik E_jk.

Source: R. Bhatia, Matrix Analysis (1997), §V.3; Yu. Nesterov, Lectures on Convex Optimization (2018), §5.2, for damped steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.arithmetic.matrix_logarithm import divided_differences
from simopt.core.arrays import Array

STEPS = 200
CLOSE = 1e-11  # the Newton decrement at which a maximiser is near enough; what is left of the supremum is its square
APART = 1e-4  # relative: eigenvalues nearer than this have second divided differences by a series
HALVINGS = 40
ROUNDING = 1e-14  # of a value: a fall that counts as none


@dataclass(frozen=True)
class Model:
    """Value, gradient and second derivative of a function at Y, in the eigenvectors of Y; the latter n² × n², for matrices row by row."""

    value: float
    gradient: Array
    curvature: Array


Function = Callable[[Array, Array], Model]  # of eigenvalues and eigenvectors


def symmetric_basis(n: int) -> Array:
    """An orthonormal basis of the symmetric matrices, n² × n(n + 1)/2."""
    i, j = np.tril_indices(n)
    number, size = np.arange(len(i)), np.where(i == j, 1.0, np.sqrt(0.5))
    basis = np.zeros((n * n, len(i)))
    basis[i * n + j, number] = basis[j * n + i, number] = size
    return basis


def second_differences(values: Array) -> Array:
    """Second divided differences of log, n × n × n, of λ > 0."""
    first = np.asarray(divided_differences(FLOAT, values))
    low, middle, high = np.sort(np.stack(np.broadcast_arrays(values[:, None, None], values[:, None], values)), axis=0)
    near = high - low <= APART * high
    i, k, j = np.indices(near.shape)
    a, b, c = values[i], values[k], values[j]
    gaps = np.stack([np.abs(a - b), np.abs(b - c), np.abs(a - c)])
    widest = np.argmax(gaps, axis=0)  # the difference by which a quotient loses least
    with np.errstate(all="ignore"):
        quotients = np.stack(
            [
                (first[i, j] - first[k, j]) / (a - b),
                (first[i, k] - first[i, j]) / (b - c),
                (first[i, k] - first[k, j]) / (a - c),
            ]
        )
        series = -0.5 / ((low + middle + high) / 3.0) ** 2
    chosen = np.take_along_axis(quotients, widest[None], axis=0)[0]
    return np.asarray(np.where(near, series, chosen))


def logarithm_curvature(values: Array, weight: Array) -> Array:
    """The second derivative of tr M log Y, for M in the eigenvectors of Y."""
    n = len(values)
    curvature = np.zeros((n, n, n, n))
    second = second_differences(values)
    for k in range(n):
        curvature[:, k, :, k] = 2.0 * weight * second[:, k, :]
    return curvature.reshape(n * n, n * n)


def ascended(
    start: Array, function: Function, enough: Callable[[Array, Model], bool] | None = None, limit: float = np.inf
) -> tuple[Array, Array] | None:
    """Eigenvalues and eigenvectors of a Y ≻ 0 near the maximiser, from a start; None where there is no number.

    It ends where `enough` says so of eigenvalues and model, where the Newton decrement is small, or where an eigenvalue is above the limit.
    """
    with np.errstate(all="ignore"):
        basis, values, vectors = symmetric_basis(len(start)), *decomposed(start)
        if not (np.isfinite(values).all() and values[0] > 0.0):
            return None
        here = function(values, vectors)
        for _ in range(STEPS):
            if values[-1] > limit or (enough is not None and enough(values, here)):
                break
            step, decrement = _newton(values, here, basis)
            if not decrement > CLOSE:
                break
            moved = _stepped(values, vectors, here, step, decrement, function)
            if moved is None:
                break
            values, vectors, here = moved
        return values, vectors


def _newton(values: Array, here: Model, basis: Array) -> tuple[Array, float]:
    """The step in units of Y^½, and the root of the rise that it promises."""
    n = len(values)
    root = np.sqrt(np.outer(values, values)).reshape(-1)
    gradient = basis.T @ (root * here.gradient.reshape(-1))
    matrix = -basis.T @ (root[:, None] * here.curvature * root) @ basis
    try:
        along, directions = np.linalg.eigh((matrix + matrix.T) / 2)
    except np.linalg.LinAlgError:
        return np.zeros((n, n)), 0.0
    along = np.maximum(along, 1e-15 * max(float(along[-1]), 1e-300))
    inner = directions.T @ gradient
    step = directions @ (inner / along)
    return (basis @ step).reshape(n, n), float(np.sqrt(max(float(gradient @ step), 0.0)))


def _stepped(
    values: Array, vectors: Array, here: Model, step: Array, decrement: float, function: Function
) -> tuple[Array, Array, Model] | None:
    """The point after a step that rises, the first of its halves that does; None where none does."""
    root, least = np.sqrt(values), float(np.linalg.eigvalsh(step)[0])
    length = min(1.0, -0.9 / least) if least < 0.0 else 1.0
    for _ in range(HALVINGS):
        eigenvalues, turned = decomposed(root[:, None] * (np.eye(len(values)) + length * step) * root)
        if np.isfinite(eigenvalues).all() and eigenvalues[0] > 0.0:
            there = function(eigenvalues, vectors @ turned)
            if there.value >= here.value + 0.1 * length * decrement**2 - ROUNDING * abs(here.value):
                return eigenvalues, vectors @ turned, there
        length /= 2
    return None


def decomposed(a: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors in floats; nan where they are not found."""
    try:
        values, vectors = np.linalg.eigh((a + a.T) / 2)
    except np.linalg.LinAlgError:
        return np.full(len(a), np.nan), np.eye(len(a))
    return values, vectors
