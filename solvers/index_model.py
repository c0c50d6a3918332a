"""Single-index predictors x ↦ u(⟨w, φ(x)⟩), and the record of how one was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt import validate
from simopt.arrays import Array
from simopt.errors import InvalidProblem

Function = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class LinearIndex:
    """x ↦ ⟨w, x⟩, w of shape (d,)."""

    direction: Array

    def __call__(self, X: Array) -> Array:
        """Xw, shape (k, d) → (k,)."""
        points = np.asarray(X, dtype=float)
        if points.ndim != 2 or points.shape[1] != self.direction.size:
            raise InvalidProblem(f"X: shape {points.shape}, expected (any, {self.direction.size})")
        out: Array = points @ self.direction
        return out


@dataclass(frozen=True, eq=False)
class IndexModel:
    """x ↦ u(index(x)).

    Attributes
    ----------
    index : callable
        (k, d) array → (k,): a `LinearIndex`, or a `KernelFunction`.
    transfer : callable
        u, (k,) → (k,): a `MonotoneFunction` where it was fitted.
    """

    index: Function
    transfer: Function

    def __call__(self, X: Array) -> Array:
        """Predictions at the rows of X."""
        return np.asarray(self.transfer(self.index(X)), dtype=float)

    def error(self, X: Array, y: Array) -> float:
        """The mean of (u(index(x)) − y)²."""
        return float(np.mean(np.square(self(X) - np.asarray(y, dtype=float))))


@dataclass(frozen=True)
class Round:
    """One round t: the predictor (w^t, u^t) and the step from w^t to w^{t+1}.

    Attributes
    ----------
    t : int
        1 for w = 0 (or the start that was given).
    error, held_out : float
        mean squared error of u^t(⟨w^t, x⟩) on the samples; on those held out (nan without).
    norm, step : float
        ‖w^t‖ and ‖w^{t+1} − w^t‖.
    seconds : dict
        time in "product" (both passes over the features), "sort", "fit" and "check" (the hold-out).
    """

    t: int
    error: float
    held_out: float
    norm: float
    step: float
    seconds: dict[str, float]


@dataclass(frozen=True, eq=False)
class IndexFit:
    """The chosen predictor and how it came about.

    Attributes
    ----------
    model : IndexModel
    chosen : int
        its round: that of the least error on the hold-out; the last one without.
    stopped : str
        "converged" (steps below the tolerance), "no progress" (on the hold-out), "iteration limit", "diverged" or "interrupted".
    trace : tuple of Round
    states : (rounds, d) array or None
        w^1, w^2, … (coefficients, for kernels), if they were to be kept.
    """

    model: IndexModel
    chosen: int
    stopped: str
    trace: tuple[Round, ...]
    states: Array | None = None

    @property
    def errors(self) -> Array:
        """Error on the samples, round by round."""
        return np.array([row.error for row in self.trace])

    @property
    def held_out(self) -> Array:
        """Error on the hold-out, round by round."""
        return np.array([row.held_out for row in self.trace])

    def seconds(self) -> dict[str, float]:
        """Median time of each part of a round."""
        parts = sorted({part for row in self.trace for part in row.seconds})
        return {part: float(np.median([row.seconds.get(part, math.nan) for row in self.trace])) for part in parts}


Progress = Callable[[Round], None]
Step = tuple[Round, Array, Callable[[], Function]]


class InterruptedFit(KeyboardInterrupt):
    """Ctrl-C during a fit; `fit` holds the best predictor so far."""

    def __init__(self, fit: IndexFit) -> None:
        super().__init__("interrupted")
        self.fit = fit

    def __reduce__(self) -> tuple[Any, ...]:
        return InterruptedFit, (self.fit,)


def choose(
    steps: Iterator[Step],
    index: Callable[[Array], Function],
    has_hold_out: bool,
    *,
    max_iter: int = 200,
    tol: float = 1e-10,
    patience: int | None = None,
    keep: bool = False,
    progress: Progress | None = None,
) -> IndexFit:
    """Take rounds until the steps are below tol (1 + ‖w‖), the hold-out has not improved for `patience` rounds, or `max_iter`; choose one.

    Parameters
    ----------
    steps : iterator of (Round, w^t, what makes u^t)
    index : callable
        w^t -> the index function.
    has_hold_out : bool
        whether the rounds tell an error on a hold-out, by which one is chosen; else it is the last.
    keep : bool
        keep all w^t.
    progress : callable, optional
        called with each Round.

    Raises
    ------
    InvalidProblem
        for options without meaning, and when not even the first round is finite.
    InterruptedFit
        on Ctrl-C; carries the best predictor so far.
    """
    count, small = validate.whole("max_iter", max_iter, minimum=1), validate.nonnegative("tol", tol)
    wait = None if patience is None else validate.whole("patience", patience, minimum=1)
    if wait is not None and not has_hold_out:
        raise InvalidProblem("patience: needs samples that are held out, give `validation`")
    trace: list[Round] = []
    states: list[Array] = []
    best: tuple[float, int, Array, Callable[[], Function]] | None = None

    def result(stopped: str) -> IndexFit:
        if best is None:
            raise InvalidProblem("X: not even the first round is finite; scale the samples to ‖x‖ ≤ 1")
        model = IndexModel(index(best[2]), best[3]())
        return IndexFit(model, best[1], stopped, tuple(trace), np.array(states) if keep else None)

    try:
        for row, state, made in steps:
            if not (math.isfinite(row.error) and math.isfinite(row.norm)):
                return result("diverged")
            trace.append(row)
            if keep:
                states.append(np.array(state))
            if not has_hold_out or best is None or row.held_out < best[0]:
                best = (row.held_out, row.t, state, made)
            if progress is not None:
                progress(row)
            if row.step <= small * (1.0 + row.norm):
                return result("converged")
            if wait is not None and row.t - best[1] >= wait:
                return result("no progress")
            if row.t >= count:
                return result("iteration limit")
    except KeyboardInterrupt:
        if best is None:
            raise
        raise InterruptedFit(result("interrupted")) from None
    return result("finished")
