r"""Weights of samples and of classes: what they do to the data before a problem is made of them.

A fit with weights w_i ≥ 0 is that on a sample in which i occurs w_i times, and all of them may be multiplied by one number. Losses are the
means Σ_i p_i ℓ_i with p_i = w_i/Σ w (`simopt.problems.sample_weights`). Whatever is chosen from the data follows the weights, too: widths
of similarities given by name, medians, standard deviations and landmarks. Landmarks are drawn from the distinct points, in an order of
their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic.sparse import is_sparse
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities.points import kinds_of_rows

BALANCED = "balanced"


def weights_of(sample_weight: Any, n: int) -> Array:
    """Weights ≥ 0 of n samples, not all 0; all 1 for None.

    Raises
    ------
    InvalidProblem
        for anything else, with the index of the first negative one.
    """
    if sample_weight is None:
        return np.ones(n)
    return validate.weights("sample_weight", sample_weight, length=n, like="rows of X")


def with_classes(class_weight: Any, y: NDArray[Any], weights: Array | None) -> Array | None:
    """The weights times those of the classes: all together as much for each class ("balanced"), or by label, 1 where it has none.

    Raises
    ------
    InvalidProblem
        for another word, a label that does not occur, and weights that are not numbers ≥ 0.
    """
    if class_weight is None:
        return weights
    mass = np.ones(len(y)) if weights is None else weights
    classes, place = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str) and class_weight == BALANCED:
        totals = np.bincount(place, mass, minlength=len(classes))
        factors = np.divide(mass.sum(), len(classes) * totals, out=np.zeros(len(classes)), where=totals > 0)
    elif isinstance(class_weight, Mapping):
        factors = np.ones(len(classes))
        known = {label: k for k, label in enumerate(classes.tolist())}
        for label, factor in class_weight.items():
            if label not in known:
                raise InvalidProblem(f"class_weight: {label!r} is no label of y; there are {classes.tolist()!r}")
            factors[known[label]] = validate.nonnegative(f"class_weight[{label!r}]", factor)
    else:
        raise InvalidProblem(f"class_weight: {class_weight!r} given; None, 'balanced' or weights by label needed")
    out: Array = mass * factors[place]
    return validate.weights("sample_weight times class_weight", out)


def uneven(weights: Array | None) -> Array | None:
    """The weights; None where all are the same."""
    return None if weights is None or np.all(weights == weights[0]) else weights


def median(y: Array, weights: Array | None) -> float:
    """The median of a sample in which y_i occurs w_i times: a y_i, or between two of them their middle."""
    if weights is None:
        return float(np.median(y))
    order = np.argsort(y, kind="stable")
    passed = np.cumsum(weights[order])
    half = 0.5 * passed[-1]
    blur = 1e-14 * passed[-1]
    low, high = np.searchsorted(passed, half - blur), np.searchsorted(passed, half + blur)
    return 0.5 * float(y[order[low]] + y[order[min(high, len(y) - 1)]])


def deviation(y: Array, weights: Array | None) -> float:
    """The standard deviation."""
    if weights is None:
        return float(np.std(y))
    share = weights / weights.sum()
    return float(np.sqrt(share @ np.square(y - share @ y)))


def distinct(X: Array) -> NDArray[np.intp]:
    """The first of each kind of rows, in an order that is theirs: it depends neither on the order of X nor on how often a row occurs."""
    return grouped(X)[0]


def grouped(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first of each kind of rows, in the order of the alphabet, and for each row its place among them.

    A column is looked at for the rows that those before do not tell apart: few columns, where their numbers differ.
    """
    if is_sparse(X):
        return kinds_of_rows(X)
    rank, alike = np.zeros(len(X), dtype=np.intp), np.arange(len(X))  # how many rows come before, and rows that are not alone in that
    for column in X.T:
        values = column[alike]
        if alike.size < 2 or np.all(values == values[0]):
            continue
        order = np.lexsort((values, rank[alike]))
        alike, values = alike[order], values[order]
        before = rank[alike]
        block = np.concatenate([[True], before[1:] != before[:-1]])
        part = block | np.concatenate([[True], values[1:] != values[:-1]])
        place = np.arange(alike.size)
        starts = np.maximum.accumulate(np.where(part, place, 0))
        rank[alike] = before + starts - np.maximum.accumulate(np.where(block, place, 0))
        alike = np.sort(alike[np.bincount(starts, minlength=alike.size)[starts] > 1])
    _, first, place = np.unique(rank, return_index=True, return_inverse=True)
    return first, place
