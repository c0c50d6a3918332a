r"""The experiments of Section 6 as far as they are stated, and our choices where they are not.

Stated: ten-fold cross-validation; mean squared error over the variance of y; means and standard deviations over the folds. The methods are
L-Isotron, GLM-tron, Isotron, linear and logistic regression, and a heuristic ("SIM") that takes turns at the best u for w and gradient
descent on w.

Ours: y is brought to [0, 1] by its range. Features get mean 0 and variance 1 on the training part (constant ones become 0). They are then
divided by one number, so that mean xxᵀ has the largest eigenvalue 1. Lemmas 3 and 5 use no more than this of ‖x‖ ≤ 1, which would make
steps smaller. A constant feature follows for the methods that know u. GLM-tron has u(t) = 1/(1 + e^{−4t}), of slope 1; it is run as
1/(1 + e^{−t}) with steps of 4, which is the same. A tenth of the training part chooses the number of rounds, which are then run on all of
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.estimators.index_models.alternating_sim import alternating_sim
from simopt.estimators.index_models.index_model import IndexFit
from simopt.estimators.index_models.isotron import glm_tron, isotron, l_isotron
from simopt.model.status import Status
from simopt.problems.matching_loss import MatchingLoss
from simopt.solving.entry_points import solve

FOLDS = 10
ROUNDS = {"L-Iso": 200, "GLM-t": 200, "Iso": 200, "SIM": 40}
RADIUS = 1e3  # of the ball for logistic regression: it has no such bound, and on none of the sets is the bound near
METHODS = ("L-Iso", "GLM-t", "Iso", "Lin-R", "Log-R", "SIM")

Indices = NDArray[np.intp]
Predict = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Scaling:
    """x ↦ ((x − mean)/spread)/norm: what brings the training part to mean 0, variance 1 and then λ_max(mean xxᵀ) = 1."""

    mean: Array
    std: Array
    norm: float

    @classmethod
    def of(cls, X: Array, *, ball: bool = False) -> Scaling:
        """The scaling that X, shape (m, d), asks for; `ball`: the longest row of X gets length 1 instead."""
        mean, std = X.mean(axis=0), X.std(axis=0)
        tiny = std <= 1e-12 * np.maximum(1.0, np.abs(mean))
        centred = np.where(tiny, 0.0, (X - mean) / np.where(tiny, 1.0, std))
        largest = float(np.max(np.linalg.norm(centred, axis=1))) if ball else float(np.linalg.norm(centred, 2)) / math.sqrt(len(X))
        if largest == 0.0:
            raise InvalidProblem("features: all of them are constant on the training part")
        return cls(mean, np.where(tiny, np.inf, std), largest)

    def __call__(self, X: Array) -> Array:
        """Scaled rows, shape (k, d)."""
        out: Array = (X - self.mean) / self.std / self.norm
        return out


def with_constant(X: Array) -> Array:
    """X with a column of ones."""
    return np.column_stack([X, np.ones(len(X))])


def folds(n: int, rng: np.random.Generator, *, shuffled: bool = True) -> list[tuple[Indices, Indices]]:
    """(training part, test part) of ten random folds, or of ten of consecutive rows.

    Each training part is in a random order of its own, and so has its own hold-out.
    """
    if n < 2 * FOLDS:
        raise InvalidProblem(f"data: {n} samples, at least {2 * FOLDS} needed for {FOLDS} folds")
    parts = [part.astype(np.intp) for part in np.array_split(rng.permutation(n) if shuffled else np.arange(n), FOLDS)]
    return [(rng.permutation(np.concatenate(parts[:k] + parts[k + 1 :])), parts[k]) for k in range(FOLDS)]


def by_hold_out(fit: Callable[..., IndexFit], X: Array, y: Array, rounds: int) -> IndexFit:
    """The number of rounds by a tenth of the samples (the last ones), then that many rounds on all."""
    held = max(1, len(y) // FOLDS)
    first = fit(X[:-held], y[:-held], validation=(X[-held:], y[-held:]), max_iter=rounds)
    return fit(X, y, max_iter=first.chosen)


def learners(rounds: int | None = None, *, hold_out: bool = True) -> dict[str, Callable[[Array, Array], Predict]]:
    """The six methods: (X, y) scaled -> predictor. `rounds` limits all of them; without hold-out all rounds are run."""
    iterated: dict[str, tuple[Callable[..., IndexFit], bool]] = {
        "L-Iso": (l_isotron, False),
        "GLM-t": (partial(glm_tron, rate=4.0), True),
        "Iso": (isotron, False),
        "SIM": (alternating_sim, False),
    }

    def iterative(name: str, X: Array, y: Array) -> Predict:
        fit, constant = iterated[name]
        limit = ROUNDS[name] if rounds is None else min(rounds, ROUNDS[name])
        Z = with_constant(X) if constant else X
        model = by_hold_out(fit, Z, y, limit).model if hold_out else fit(Z, y, max_iter=limit).model
        return (lambda Z: model(with_constant(Z))) if constant else model

    found = {name: partial(iterative, name) for name in iterated}
    return {**found, "Lin-R": linear_regression, "Log-R": logistic_regression}


def linear_regression(X: Array, y: Array) -> Predict:
    """Least squares with a constant; the shortest of several minimisers."""
    w = np.linalg.lstsq(with_constant(X), y, rcond=None)[0]
    return lambda Z: np.asarray(with_constant(Z) @ w)


def logistic_regression(X: Array, y: Array) -> Predict:
    """min of the logistic loss for y in [0, 1], with a constant; the certified solution within ‖w‖ ≤ 1000."""
    found = solve(MatchingLoss(with_constant(X), y, "logistic", RADIUS), "newton", tol=1e-7)
    if found.status is not Status.OPTIMAL or found.point is None:
        raise RuntimeError(f"logistic regression on {len(y)} samples was not solved: {found}")
    w = found.point["w"]
    return lambda Z: np.asarray(0.5 * (1.0 + np.tanh(0.5 * (with_constant(Z) @ w))))


def cross_validated(
    X: Array,
    y: Array,
    rng: np.random.Generator,
    methods: Sequence[str] = METHODS,
    count: int = FOLDS,
    rounds: int | None = None,
    *,
    hold_out: bool = True,
    ball: bool = False,
    shuffled: bool = True,
) -> dict[str, Array]:
    """Mean squared error over the variance of y, for the first `count` of ten folds.

    Parameters
    ----------
    X, y : (n, d) and (n,) arrays
        as they are in the data.
    methods : sequence of str
        of `METHODS`.
    hold_out, ball, shuffled : bool
        as for `learners`, `Scaling.of` and `folds`.

    Returns
    -------
    dict : method -> (count,) array
    """
    span = float(np.ptp(y))
    if span == 0.0:
        raise InvalidProblem("targets: all of them are equal, so that there is no variance to divide by")
    unit = (y - y.min()) / span
    variance = float(unit.var())
    fits = learners(rounds, hold_out=hold_out)
    errors: dict[str, list[float]] = {name: [] for name in methods}
    for train, test in folds(len(y), rng, shuffled=shuffled)[:count]:
        scaling = Scaling.of(X[train], ball=ball)
        inner, outer = scaling(X[train]), scaling(X[test])
        for name in methods:
            predicted = fits[name](inner, unit[train])(outer)
            errors[name].append(float(np.mean(np.square(predicted - unit[test]))) / variance)
    return {name: np.array(values) for name, values in errors.items()}
