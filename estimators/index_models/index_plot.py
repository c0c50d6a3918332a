"""Pictures of single-index fits: the function with the samples, and errors round by round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.figures import draw, new_figure
from simopt.core.monotone_function import MonotoneFunction
from simopt.estimators.index_models.transfer import Transfer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.estimators.index_models.index_model import IndexFit
    from simopt.estimators.index_models.index_record import Function

WIDE = (-4.0, 4.0)  # scores shown where no samples say which ones occur
GRID = 400


def plot_fit(fit: IndexFit, X: npt.ArrayLike | None = None, y: npt.ArrayLike | None = None) -> Figure:
    """Left the errors round by round, the chosen round marked; right u, with the samples (⟨w, x⟩, y) if X and y are given.

    Raises
    ------
    InvalidProblem
        for one of X and y without the other, or of different lengths.
    NotAvailable
        when matplotlib is not installed.
    """
    samples = _samples(fit, X, y)
    figure = new_figure(9.0, 3.5, "fits")
    errors, function = figure.subplots(1, 2)
    _errors(errors, fit)
    if samples is not None:
        function.scatter(*samples, s=6, color="0.7", lw=0)
    _transfer(function, fit.model.transfer, WIDE if samples is None else (float(samples[0].min()), float(samples[0].max())))
    function.set(xlabel="⟨w, x⟩", ylabel="u")
    return figure


def _samples(fit: IndexFit, X: npt.ArrayLike | None, y: npt.ArrayLike | None) -> tuple[Array, Array] | None:
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise InvalidProblem("X, y: one without the other, both or none needed")
    scores = np.asarray(fit.model.index(validate.matrix("X", X)))
    return scores, validate.vector("y", y, length=scores.size)


def _errors(axes: Any, fit: IndexFit) -> None:
    t = np.arange(1, len(fit.trace) + 1)
    axes.plot(t, fit.errors, label="samples")
    if not np.all(np.isnan(fit.held_out)):
        axes.plot(t, fit.held_out, label="hold-out")
    axes.axvline(fit.chosen, color="0.6", ls=":", label="chosen")
    axes.set(xscale="log", xlabel="round t", ylabel="mean squared error", title=fit.stopped)
    axes.legend(frameon=False)


def _transfer(axes: Any, u: Function, scores: tuple[float, float]) -> None:
    inner = u.function if isinstance(u, Transfer) else u
    if isinstance(inner, MonotoneFunction):
        draw(axes, inner)
        return
    places = np.linspace(*scores, GRID)
    axes.plot(places, u(places))
