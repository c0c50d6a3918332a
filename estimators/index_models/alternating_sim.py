r"""The alternating heuristic for single-index models that the paper compares with: fit u to the scores, then move w along the gradient.

Both steps lower (1/m) Σ (u(⟨w, x_i⟩) − y_i)²: the first as an isotonic fit, the second by gradient steps with halved lengths until each
one is a descent. The problem is not convex, and a limit is a stationary point at best. At w = 0 the fit is constant and the gradient 0,
so that w starts at (1/m) Σ (y_i − ȳ) x_i, L-Isotron's first step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from time import perf_counter

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.monotone_function import MonotoneFunction
from simopt.estimators.index_models.index_model import IndexFit, Progress, Round, Step, choose
from simopt.estimators.index_models.index_record import LinearIndex
from simopt.estimators.index_models.isotron import Validation, hold_out
from simopt.estimators.index_models.update_rules import FittedTransfer

SUFFICIENT = 1e-4  # fraction of the decrease that the slope promises, which a step must bring
HALVINGS = 40


def alternating_sim(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    lipschitz: float = 1.0,
    *,
    validation: Validation | None = None,
    descents: int = 5,
    max_iter: int = 200,
    tol: float = 1e-8,
    patience: int | None = None,
    keep: bool = False,
    progress: Progress | None = None,
) -> IndexFit:
    """Alternate between the best non-decreasing L-Lipschitz u for w, and `descents` gradient steps on w for u.

    Parameters
    ----------
    X, y : (m, d) and (m,) arrays
    lipschitz : float
        L of the transfer function. L = ∞ leaves steps, along which the gradient says next to nothing.
    validation : pair of arrays, optional
        samples held out, by which the round is chosen.
    descents : int
        gradient steps a round.
    max_iter, tol, patience, keep, progress
        as for `index_model.choose`.

    A round costs two passes over X for each gradient step and one for each length that is tried, a sort and a fit.
    Source: Kakade, Kalai, Kanade & Shamir 2011, §6.2 ("SIM"), after Cosslett 1983.
    """
    features = validate.matrix("X", X)
    targets = validate.squarable("y", validate.vector("y", y, length=features.shape[0], like="rows of X"))
    count = validate.whole("descents", descents, minimum=1)
    outside, held_out = hold_out(validation, features.shape[1])
    steps = _rounds(features, targets, FittedTransfer(targets, lipschitz), count, outside, None if held_out is None else held_out.targets)
    return choose(steps, LinearIndex, held_out is not None, max_iter=max_iter, tol=tol, patience=patience, keep=keep, progress=progress)


def _rounds(X: Array, y: Array, rule: FittedTransfer, descents: int, outside: Array | None, held_out: Array | None) -> Iterator[Step]:
    w = X.T @ (y - y.mean()) / y.size
    scores = X @ w
    length, t = 1.0, 0
    while True:
        t += 1
        fitted = rule.fit(scores)
        seconds, made = dict(rule.seconds), rule.snapshot()
        u = made()
        error = float(np.mean(np.square(fitted - y)))
        missed = math.nan if outside is None or held_out is None else float(np.mean(np.square(u(outside @ w) - held_out)))
        before = w
        start = perf_counter()
        for _ in range(descents):
            w, scores, length = _descend(X, y, u, w, scores, length)
        seconds["product"] = perf_counter() - start
        yield Round(t, error, missed, float(np.linalg.norm(before)), float(np.linalg.norm(w - before)), seconds), before, made


def _descend(X: Array, y: Array, u: MonotoneFunction, w: Array, scores: Array, length: float) -> tuple[Array, Array, float]:
    """One gradient step of the longest length, halved from twice the last, that lowers the error enough; none where no length does."""
    r = u(scores) - y
    gradient = 2.0 * (X.T @ (r * u.derivative(scores))) / y.size
    square, error = float(gradient @ gradient), float(np.mean(np.square(r)))
    image = X @ gradient
    trial = 2.0 * length
    for _ in range(HALVINGS if square > 0.0 else 0):
        moved = scores - trial * image
        if float(np.mean(np.square(u(moved) - y))) <= error - SUFFICIENT * trial * square:
            return w - trial * gradient, moved, trial
        trial *= 0.5
    return w, scores, length
