r"""GLM-tron, Isotron and L-Isotron: one loop, w^{t+1} = w^t + (η/m) Σ (y_i − u^t(⟨w^t, x_i⟩)) x_i, over a rule for u^t.

The rule is a known transfer function (GLM-tron), the isotonic fit to the scores (Isotron, on the same samples in every round), or the
Lipschitz isotonic fit (L-Isotron). With ‖x_i‖ ≤ 1 and 1-Lipschitz u the step η = 1 of the paper never takes w away from a true model by
more than the noise does. Sources: Kakade, Kalai, Kanade & Shamir 2011, Algorithms 1 and 2; Kalai & Sastry 2009.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import count
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.estimators.index_models.index_model import IndexFit, Progress, Round, Step, choose
from simopt.estimators.index_models.index_record import Function, LinearIndex
from simopt.estimators.index_models.transfer import Transfer, checked_transfer
from simopt.estimators.index_models.update_rules import FittedTransfer, KnownTransfer, UpdateRule

Validation = tuple[npt.ArrayLike, npt.ArrayLike]


class Space(ABC):
    """The space of w: scores of the samples and of those held out, and steps along Σ r_i x_i."""

    state: Array
    scores: Array
    held_out: Array

    @abstractmethod
    def step(self, r: Array, rate: float) -> float:
        """w += (rate/m) Σ r_i x_i; the norm of the step. Scores follow."""

    @abstractmethod
    def norm(self) -> float:
        """‖w‖."""

    @abstractmethod
    def index(self, state: Array) -> Function:
        """x ↦ ⟨w, x⟩ for a stored state."""


class LinearSpace(Space):
    """w itself; two passes over X a round. With `single` both read a float32 copy of X, at half the cost."""

    def __init__(self, features: Array, held_out: Array | None, start: Array | None, single: bool) -> None:
        self.features = features.astype(np.float32) if single else features
        self._held_out = held_out
        self.state = np.zeros(features.shape[1]) if start is None else np.array(start, dtype=float)
        self._score()

    def _score(self) -> None:
        self.scores = np.asarray(self.features @ self.state.astype(self.features.dtype), dtype=float)
        self.held_out = np.zeros(0) if self._held_out is None else self._held_out @ self.state

    def step(self, r: Array, rate: float) -> float:
        """Two products with X."""
        move = (rate / r.size) * np.asarray(self.features.T @ r.astype(self.features.dtype, copy=False), dtype=float)
        self.state = self.state + move
        self._score()
        return float(np.linalg.norm(move))

    def norm(self) -> float:
        """‖w‖₂."""
        return float(np.linalg.norm(self.state))

    def index(self, state: Array) -> Function:
        """x ↦ ⟨w, x⟩."""
        return LinearIndex(state)


class HeldOutTargets(NamedTuple):
    """Targets of the samples held out, and their weights where they have some."""

    targets: Array
    weights: Array | None = None


def rounds(
    space: Space, y: Array, rule: UpdateRule, *, rate: float = 1.0, held_out: HeldOutTargets | None = None, weights: Array | None = None
) -> Iterator[Step]:
    """The rounds, without end: the record of each, w^t, and what makes u^t. Shares of `weights` stand in place of 1/m."""
    pace = validate.positive("rate", rate)
    for t in count(1):
        yield _round(t, space, y, rule, pace, held_out, weights)


@np.errstate(over="ignore", invalid="ignore")  # rounds that diverge are told apart by their errors
def _round(t: int, space: Space, y: Array, rule: UpdateRule, rate: float, held_out: HeldOutTargets | None, weights: Array | None) -> Step:
    state, norm = space.state, space.norm()
    fitted = rule.fit(space.scores)
    seconds, made = dict(rule.seconds), rule.snapshot()
    r = y - fitted
    start = perf_counter()
    outside = (
        math.nan if held_out is None else float(np.average(np.square(made()(space.held_out) - held_out.targets), weights=held_out.weights))
    )
    middle = perf_counter()
    step = space.step(r if weights is None else r * (weights / np.mean(weights)), rate)
    seconds |= {"check": middle - start, "product": perf_counter() - middle}
    error = float(r @ r) / r.size if weights is None else float(np.average(np.square(r), weights=weights))
    return Round(t, error, outside, norm, step, seconds), state, made


def masses(name: str, weights: npt.ArrayLike | None, m: int, like: str = "rows of X") -> Array | None:
    """Weights > 0 of m samples, if there are any.

    Raises
    ------
    InvalidProblem
        for a weight that is not positive, with its index.
    """
    if weights is None:
        return None
    out = validate.weights(name, weights, length=m, like=like)
    if np.any(out == 0.0):
        raise InvalidProblem(f"{name}: entry {int(np.argmin(out))} is 0, numbers > 0 needed; leave the sample out")
    return out


def hold_out(validation: Validation | None, cols: int, weights: npt.ArrayLike | None = None) -> tuple[Array | None, HeldOutTargets | None]:
    """The samples of a hold-out: a (k, cols) array, and their targets and weights; None twice without.

    Raises
    ------
    InvalidProblem
        for what is no pair of such arrays, and weights that are not positive, or of no samples.
    """
    if validation is None:
        if weights is not None:
            raise InvalidProblem("held_weights: there is no validation whose samples they weigh")
        return None, None
    if len(validation) != 2:
        raise InvalidProblem(f"validation: {len(validation)} entries, expected a pair (X, y) of the samples that are held out")
    outside = validate.matrix("validation", validation[0], cols=cols)
    targets = validate.squarable("validation", validate.vector("validation", validation[1], length=outside.shape[0], like="rows of its X"))
    return outside, HeldOutTargets(targets, masses("held_weights", weights, targets.size, "rows of the X of validation"))


def _linear(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    validation: Validation | None,
    start: npt.ArrayLike | None,
    single: bool,
    held_weights: npt.ArrayLike | None = None,
) -> tuple[Space, Array, HeldOutTargets | None]:
    features = validate.matrix("X", X)
    targets = validate.squarable("y", validate.vector("y", y, length=features.shape[0], like="rows of X"))
    w = None if start is None else validate.vector("start", start, length=features.shape[1], like="columns of X")
    outside, held_out = hold_out(validation, features.shape[1], held_weights)
    return LinearSpace(features, outside, w, single), targets, held_out


def glm_tron(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    transfer: Transfer | Function | str = "logistic",
    *,
    validation: Validation | None = None,
    start: npt.ArrayLike | None = None,
    single: bool = False,
    rate: float = 1.0,
    max_iter: int = 200,
    tol: float = 1e-10,
    patience: int | None = None,
    keep: bool = False,
    progress: Progress | None = None,
) -> IndexFit:
    """GLM-tron: u^t = u, "identity", "logistic", "probit", "clipped", a `Transfer`, or one's own function, which is searched for faults.

    Parameters
    ----------
    X, y : (m, d) and (m,) arrays
        samples with ‖x‖ ≤ 1 and y in [0, 1] in the paper.
    validation : pair of arrays, optional
        samples held out, by which the round is chosen; without, it is the last one.
    start : (d,) array, optional
        w^1; 0 by default.
    single : bool
        read X in float32 in the rounds.
    rate, max_iter, tol, patience, keep, progress
        `rate` is η; the others as for `choose`.

    A round costs two passes over X. Source: Kakade, Kalai, Kanade & Shamir 2011, Algorithm 1.

    Raises
    ------
    InvalidProblem
        for a transfer that is found not to be monotone or 1-Lipschitz, with the witness. One that climbs by L > 1 is passed as
        `checked_transfer(u, L)`, with a rate of at most 1/L.
    Interrupted
        on Ctrl-C; `done` is the fit so far.
    """
    space, targets, held_out = _linear(X, y, validation, start, single)
    rule = KnownTransfer(transfer if isinstance(transfer, Transfer) else checked_transfer(transfer))
    steps = rounds(space, targets, rule, rate=rate, held_out=held_out)
    return choose(steps, space.index, held_out is not None, max_iter=max_iter, tol=tol, patience=patience, keep=keep, progress=progress)


def l_isotron(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    lipschitz: float = 1.0,
    *,
    validation: Validation | None = None,
    start: npt.ArrayLike | None = None,
    single: bool = False,
    warm: bool = True,
    weights: npt.ArrayLike | None = None,
    held_weights: npt.ArrayLike | None = None,
    rate: float = 1.0,
    max_iter: int = 200,
    tol: float = 1e-10,
    patience: int | None = None,
    keep: bool = False,
    progress: Progress | None = None,
) -> IndexFit:
    """L-Isotron: u^t is the Lipschitz isotonic fit to the scores; L = ∞ is Isotron.

    Parameters
    ----------
    X, y : (m, d) and (m,) arrays
        samples with ‖x‖ ≤ 1 and y in [0, 1] in the paper.
    lipschitz : float
        L ≥ 0, the largest slope of u; possibly ∞.
    warm : bool
        look for each fit near that of the round before first; it is the same fit.
    weights : (m,) array, optional
        > 0: shares that stand in place of 1/m, in the fit and in the step.
    held_weights : array, optional
        > 0, of the samples of `validation`, in the mean of their squared errors.
    validation, start, single, rate, max_iter, tol, patience, keep, progress
        as for `glm_tron`.

    A round costs two passes over X, a sort and a fit. Source: Kakade, Kalai, Kanade & Shamir 2011, Algorithm 2.

    Raises
    ------
    InvalidProblem
        for samples that are not finite or do not fit together, and options without meaning.
    Interrupted
        on Ctrl-C; `done` is the fit so far.
    """
    space, targets, held_out = _linear(X, y, validation, start, single, held_weights)
    mass = masses("weights", weights, targets.size)
    rule = FittedTransfer(targets, lipschitz, warm=warm, weights=mass)
    steps = rounds(space, targets, rule, rate=rate, held_out=held_out, weights=mass)
    return choose(steps, space.index, held_out is not None, max_iter=max_iter, tol=tol, patience=patience, keep=keep, progress=progress)


def isotron(X: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> IndexFit:
    """Isotron on the same samples in every round: L-Isotron with L = ∞, and its options. Source: Kalai & Sastry 2009."""
    return l_isotron(X, y, math.inf, **options)
