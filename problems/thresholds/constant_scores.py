"""Thresholds that are best for scores of 0, and thresholds at equal steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes

MOST_CLASSES = 2000


NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def number_of_classes(name: str, classes: Any) -> int:
    """r, a whole number from 2 to 2000: the best constants cost r² in memory, and the hinges of IMC n r.

    Raises
    ------
    InvalidProblem
        for what is no such number.
    """
    r = validate.whole(name, classes, minimum=2)
    if r > MOST_CLASSES:
        raise InvalidProblem(f"{name}: {r} given, at most {MOST_CLASSES} possible; merge some, or take labels of so many kinds as numbers")
    return r


Classes = Annotated[int, number_of_classes]
Grades = Annotated[Array, Axes("n", leads=True)]  # labels 1 … r


def equispaced(classes: int, spacing: float = 1.0, centre: float = 0.0) -> Array:
    """b_j = centre + spacing (j − r/2), j = 1, …, r − 1: steps of one size around a centre, shape (r−1,).

    With spacing 1 and centre (r + 1)/2 these are b_j = j + ½, halfway between labels. The default is that minus (r + 1)/2, because scores
    ⟨w, ψ⟩ have no intercept and start at 0.

    Raises
    ------
    InvalidProblem
        for fewer than two classes or a spacing that is not > 0.
    """
    r, step = number_of_classes("classes", classes), validate.positive("spacing", spacing)
    out: Array = validate.finite("centre", centre) + step * (np.arange(1.0, r) - r / 2.0)
    return out


def listed(name: str, values: str | Sequence[float]) -> Array:
    """Numbers, also as one text with commas.

    Raises
    ------
    InvalidProblem
        naming the first part of the text that is not a number.
    """
    if not isinstance(values, str):
        return validate.vector(name, values)
    parts = [part.strip() for part in values.split(",")]
    wrong = next((part for part in parts if not NUMERAL.fullmatch(part)), None)
    if wrong is not None:
        raise InvalidProblem(f"{name}: {wrong!r} is not a number; numbers with commas between them needed")
    return validate.vector(name, [float(part) for part in parts])


def best_separate_thresholds(labels: Array, classes: int, gamma: float, masses: Array | None = None) -> Array:
    """Thresholds of least IMC loss at f = 0.

    L_j(b) = N_{≤j} [γ − b]_+ + N_{>j} [b + γ]_+ is linear from −γ to γ, so that one of these is best (0 where the classes balance). N
    counts samples, or adds masses.
    """
    up_to = np.cumsum(np.bincount(labels.astype(np.intp), masses, minlength=classes + 1)[1:])
    below, total = up_to[:-1], up_to[-1]
    return np.where(2 * below > total, gamma, np.where(2 * below < total, -gamma, 0.0))


def best_constant_thresholds(labels: Array, classes: int, gamma: float, delta: float, masses: Array | None = None) -> Array:
    """Thresholds that minimise the loss at f = 0: Σ_j n_{j+1}[b_j + γ]_+ + n_j[γ − b_j]_+, Δ-spaced; n_j counts samples, or adds masses.

    In c_j = b_j − jΔ this is a piecewise linear isotonic problem, so some optimum has every c_j at one of the kinks ±γ − iΔ: a dynamic
    programme over them. O(r²). Thresholds are formed as ±γ + (j − i)Δ, so that a γ far below Δ survives where i = j.
    """
    j = np.arange(1, classes)
    counts = np.bincount(labels.astype(np.intp), masses, minlength=classes + 1)[1:]
    shifts = j if delta > 0.0 else j[:1]
    shift, kinks = np.concatenate([shifts, shifts]), np.repeat([gamma, -gamma], shifts.size)
    order = np.lexsort((kinks, kinks - shift * delta))
    shift, kinks = shift[order], kinks[order]
    b = kinks[None, :] + (j[:, None] - shift) * delta
    cost = counts[1:, None] * np.maximum(b + gamma, 0.0) + counts[:-1, None] * np.maximum(gamma - b, 0.0)
    best = np.zeros((classes - 1, kinks.size))
    origin = np.zeros((classes - 1, kinks.size), dtype=np.intp)
    for row in range(classes - 1):
        before = best[row - 1] if row else np.zeros(kinks.size)
        smallest = np.minimum.accumulate(before)
        fresh = np.concatenate([[True], before[1:] < smallest[:-1]])
        origin[row] = np.maximum.accumulate(np.where(fresh, np.arange(kinks.size), 0))
        best[row] = cost[row] + smallest
    choice = int(np.argmin(best[-1]))
    out = np.zeros(classes - 1)
    for row in range(classes - 2, -1, -1):
        out[row] = b[row, choice]
        choice = int(origin[row][choice])
    return out
