"""Single-index predictors x ↦ u(⟨w, φ(x)⟩), and the record of how one was found."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simopt.core import archive, validate
from simopt.core.arrays import Array
from simopt.core.errors import Interrupted, InvalidProblem
from simopt.core.monotone_function import MonotoneFunction
from simopt.equivalence.training import KernelFunction
from simopt.estimators.index_models.index_record import FORMAT, WHAT, Function, LinearIndex, parts_of, record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

    def __str__(self) -> str:
        """One line: what goes into what."""
        return f"x ↦ u({_named(self.index)}); u: {_named(self.transfer)}"

    def __call__(self, X: npt.ArrayLike) -> Array:
        """Predictions at the rows of X."""
        return np.asarray(self.transfer(self.index(validate.matrix("X", X, minimum=0))), dtype=float)

    def error(self, X: npt.ArrayLike, y: npt.ArrayLike) -> float:
        """The mean of (u(index(x)) − y)²."""
        predicted = self(X)
        return float(np.mean(np.square(predicted - validate.vector("y", y, length=predicted.size, like="rows of X"))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz or .json file, all of it or nothing; `load` gives the same predictor back.

        Raises
        ------
        InvalidProblem
            for another suffix, and where u or a similarity is a Python function of one's own.
        OSError
            when the file cannot be written.
        """
        archive.save(path, record(self.index, self.transfer), WHAT)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IndexModel:
        """Read what `save` wrote.

        Raises
        ------
        InvalidFile
            for a file that is corrupt or holds something else.
        """
        found = archive.load(path, FORMAT, WHAT)
        with archive.rebuilding(path, WHAT):
            return cls(*parts_of(found))


def _named(part: Function) -> str:
    """The description of a part of a predictor, in one line."""
    if isinstance(part, KernelFunction):
        return f"Σ α_j k(x, x_j) with {part.coefficients.size} centres"
    inner = getattr(part, "function", part)  # of a transfer that was checked
    if isinstance(inner, LinearIndex | MonotoneFunction):
        return str(inner)
    return str(getattr(part, "name", type(part).__name__))


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
        its round: that of the least error on the hold-out; without one the last, or after divergence that of the least error.
    stopped : str
        "converged" (steps below the tolerance), "no progress" (on the hold-out), "iteration limit", "diverged" or "interrupted".
        Rounds diverge where steps are too long for the samples: make them ‖x‖ ≤ 1, or `rate` smaller.
    trace : tuple of Round
    states : (rounds, d) array or None
        w^1, w^2, … (coefficients, for kernels), if they were to be kept.
    """

    model: IndexModel
    chosen: int
    stopped: str
    trace: tuple[Round, ...] = field(repr=False)
    states: Array | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """One line: how it ended, which round was chosen, its errors, and the predictor."""
        row = self.trace[self.chosen - 1]
        held = "" if math.isnan(row.held_out) else f", {row.held_out:.4g} on the hold-out"
        return f"round {self.chosen} of {len(self.trace)} ({self.stopped}), mean squared error {row.error:.4g}{held}; {self.model}"

    def plot(self, X: npt.ArrayLike | None = None, y: npt.ArrayLike | None = None) -> Figure:
        """Errors round by round, and u, with the samples if they are given. Needs matplotlib."""
        from simopt.estimators.index_models.index_plot import plot_fit

        return plot_fit(self, X, y)

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
    """Take rounds until a step is small, the hold-out has not improved for `patience` rounds, one is not finite, or `max_iter`; choose one.

    Parameters
    ----------
    steps : iterator of (Round, w^t, what makes u^t)
    index : callable
        w^t -> the index function.
    has_hold_out : bool
        whether the rounds tell an error on a hold-out, by which one is chosen; else it is the last, after divergence that of least error.
    tol : float
        a step is small if it is at most tol (e + ‖w‖), with e the root of the first error. For ‖x‖ ≤ 1 and η ≤ 1 a step is at most the
        root of the error of its round.
    keep : bool
        keep all w^t.
    progress : callable, optional
        called with each Round.

    Raises
    ------
    InvalidProblem
        for options without meaning, and when not even the first round is finite.
    Interrupted
        on Ctrl-C; `done` is the fit of the rounds so far: the best on the hold-out, without one the last.
    """
    count, small = validate.whole("max_iter", max_iter, minimum=1), validate.nonnegative("tol", tol)
    wait = None if patience is None else validate.whole("patience", patience, minimum=1)
    if wait is not None and not has_hold_out:
        raise InvalidProblem("patience: needs samples that are held out, give `validation`")
    rounds = _Rounds(index, has_hold_out, keep)
    try:
        for step in steps:
            row = step[0]
            if not (math.isfinite(row.error) and math.isfinite(row.norm)):
                return rounds.fit("diverged")
            rounds.add(step)
            if progress is not None:
                progress(row)
            if row.step <= small * (math.sqrt(rounds.trace[0].error) + row.norm):
                return rounds.fit("converged")
            if wait is not None and row.t - rounds.best_round >= wait:
                return rounds.fit("no progress")
            if row.t >= count:
                return rounds.fit("iteration limit")
    except KeyboardInterrupt:
        if rounds.empty:
            raise
        raise Interrupted(rounds.fit("interrupted")) from None
    return rounds.fit("finished")


class _Rounds:
    """The rounds so far: their trace, the best one, on the hold-out if there is one, and the last one."""

    def __init__(self, index: Callable[[Array], Function], has_hold_out: bool, keep: bool) -> None:
        self.trace: list[Round] = []
        self._states: list[Array] | None = [] if keep else None
        self._index = index
        self._has_hold_out = has_hold_out
        self._best_and_last: tuple[Step, Step] | None = None

    @property
    def empty(self) -> bool:
        """Whether there is none to choose from."""
        return self._best_and_last is None

    def _error(self, row: Round) -> float:
        return row.held_out if self._has_hold_out else row.error

    @property
    def best_round(self) -> int:
        """The number t of the best round."""
        assert self._best_and_last is not None
        return self._best_and_last[0][0].t

    def add(self, step: Step) -> None:
        """Take a round over; of equal errors the first stays the best."""
        row, state, _ = step
        self.trace.append(row)
        if self._states is not None:
            self._states.append(np.array(state))
        best = step if self._best_and_last is None else self._best_and_last[0]
        self._best_and_last = step if self._error(row) < self._error(best[0]) else best, step

    def fit(self, stopped: str) -> IndexFit:
        """The fit of the round that is chosen: the last one, or the best one with a hold-out or after divergence.

        Raises
        ------
        InvalidProblem
            if there is no round.
        """
        if self._best_and_last is None:
            raise InvalidProblem("X, y: not even the first round is finite; scale the samples to ‖x‖ ≤ 1 and y to [0, 1]")
        best, last = self._best_and_last
        row, state, make = best if self._has_hold_out or stopped == "diverged" else last
        states = None if self._states is None else np.array(self._states)
        return IndexFit(IndexModel(self._index(state), make()), row.t, stopped, tuple(self.trace), states)
