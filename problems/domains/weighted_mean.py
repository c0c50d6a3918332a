r"""Weighted means c_q = Σ_i K_qi y_i / Σ_i K_qi of targets, where they are defined, and the instances and laws of kernel regression.

Weights may have any sign, and are taken relative to their sum s_q: K, −K and 2K are the same weights. At s_q = 0 nothing is defined; a sum
counts as 0 if it is no larger than what rounding does to it, |s_q| ≤ 8 n ε Σ_i |K_qi|.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.model.problem import Image, Law, change_of_units
from simopt.problems.norms import squares

if TYPE_CHECKING:
    from simopt.problems.kernel_regression import KernelRegression

EPSILON = float(np.finfo(float).eps)


def without_weight(K: Array) -> NDArray[np.bool_]:
    """Which rows of K sum to 0, to rounding."""
    out: NDArray[np.bool_] = np.abs(K.sum(axis=1)) <= 8.0 * K.shape[1] * EPSILON * np.abs(K).sum(axis=1)
    return out


def undefined(K: Array, empty: NDArray[np.bool_], first: int = 0) -> InvalidProblem:
    """The error that names the first of the `empty` queries; the rows of K are the queries `first`, `first` + 1, …"""
    row = int(np.argmax(empty))
    reason = "are all 0" if not np.any(K[row]) else f"sum to {float(K[row].sum()):.3g}, which is 0 to rounding"
    return InvalidProblem(
        f"similarities: those of query {first + row} to the {K.shape[1]} samples {reason} ({int(empty.sum())} such of {len(K)} queries), "
        "where Σ K y / Σ K is not defined; leave such queries out, or shift K or widen it"
    )


def centre(targets: Array) -> float:
    """The mean of y, exact for constant y."""
    first = float(targets[0])
    return first + float(np.mean(targets - first))


def weighted_means(K: Array, targets: Array, *, fallback: float | None = None, first: int = 0) -> Array:
    """c_q = ȳ + Σ K_qi (y_i − ȳ)/s_q for the rows of K, shape (m,); `fallback` where s_q = 0.

    Raises
    ------
    InvalidProblem
        naming the first query with s_q = 0, if there is no fallback.
    """
    empty = without_weight(K)
    if empty.any() and fallback is None:
        raise undefined(K, empty, first)
    middle = centre(targets)
    sums = np.where(empty, 1.0, K.sum(axis=1))
    out: Array = middle + (K @ (targets - middle)) / sums
    return np.where(empty, fallback, out) if fallback is not None else out


def split(n: int, queries: float, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of samples and of a random fraction of queries among n rows, at least one of each, both sorted."""
    fraction = validate.positive("queries", queries)
    if fraction >= 1.0 or n < 2:
        raise InvalidProblem(
            f"queries: a share of {fraction:g} of {n} rows leaves none to predict from; a number below 1 needed, of 2 rows or more"
        )
    count = min(max(1, round(fraction * n)), n - 1)
    order = rng.permutation(n)
    return np.sort(order[count:]), np.sort(order[:count])


def instances(rng: np.random.Generator) -> Iterator[tuple[str, Array, Array, bool]]:
    """Name, similarities, targets, degenerate."""
    x, asked = rng.normal(size=(20, 2)), rng.normal(size=(7, 2))
    y = np.sin(2.0 * x[:, 0]) + 0.3 * rng.normal(size=20)
    apart = np.abs(asked[:, None, :] - x[None, :, :]).sum(axis=2)
    yield "gaussian", np.exp(-(apart**2) / 2.0), y, False
    yield "minus the 1-norm", -apart, y, False
    yield "both signs in a row", 1.0 + asked @ x.T, y, False
    yield "rows of both signs", np.vstack([np.exp(-apart[:3]), -apart[3:]]), y, False
    yield "far from zero", np.exp(-apart), y + 1e4, False
    yield "one sample", np.array([[2.0], [-3.0]]), np.array([4.0]), True
    yield "constant targets", -apart, np.full(20, 0.1), True


def laws() -> list[Law]:
    """Laws of kernel regression."""

    def negative(problem: KernelRegression, rng: np.random.Generator) -> Image:
        """−k gives the same means as k: their weights kᵢ/Σⱼ kⱼ stay."""
        return Image(problem.with_data(-problem.similarities, problem.targets))

    def scale_targets(problem: Any, s: float) -> Image:
        """Predictions are linear in the targets, the squared loss is quadratic."""
        both = squares.scaling(c=s, predictions=s)
        return Image(problem.with_data(problem.similarities, problem.targets * s), s * s, both, both)

    def scale_similarities(problem: KernelRegression, rng: np.random.Generator) -> Image:
        """k × c keeps every mean and multiplies the loss by c; c is a square, so that its root is exact."""
        root = float(2.0 ** rng.integers(-10, 11))
        factor = root * root
        image = problem.with_data(problem.similarities * factor, problem.targets)
        return Image(image, factor, multipliers=squares.scaling(predictions=root))

    def shift_targets(problem: KernelRegression, rng: np.random.Generator) -> Image:
        """Targets + t move every mean by t, and its multiplier by −t √|Σᵢ kᵢ|."""
        shift = float(rng.integers(-4, 5)) * (squares.largest(problem.targets) or 1.0)
        root = np.sqrt(np.abs(problem.similarities.sum(axis=1)))
        return Image(
            problem.with_data(problem.similarities, problem.targets + shift),
            point=lambda values: {"c": np.asarray(values["c"]) + shift},
            multipliers=lambda values: {"predictions": np.asarray(values["predictions"]) - root * shift},
        )

    def permute_queries(problem: KernelRegression, rng: np.random.Generator) -> Image:
        """Points at which the mean is asked for are independent of each other."""
        order = rng.permutation(len(problem.similarities))

        def carry(values: dict[str, Array]) -> dict[str, Array]:
            return {key: np.asarray(value)[order] for key, value in values.items()}

        return Image(problem.with_data(problem.similarities[order], problem.targets), 1.0, carry, carry)

    def permute_samples(problem: KernelRegression, rng: np.random.Generator) -> Image:
        """A sum does not depend on the order of its samples."""
        order = rng.permutation(len(problem.targets))
        return Image(problem.with_data(problem.similarities[:, order], problem.targets[order]))

    def duplicate(problem: KernelRegression, rng: np.random.Generator) -> Image:
        """Every sample twice doubles the loss and keeps its minimiser."""
        image = problem.with_data(np.repeat(problem.similarities, 2, axis=1), np.repeat(problem.targets, 2))
        return Image(image, 2.0, multipliers=squares.scaling(predictions=math.sqrt(2.0)))

    return [
        Law("similarities × −1", negative),
        change_of_units("targets × s", scale_targets),
        Law("similarities × c", scale_similarities),
        Law("targets + t", shift_targets),
        Law("permutation of queries", permute_queries),
        Law("permutation of samples", permute_samples),
        Law("duplication", duplicate),
    ]
