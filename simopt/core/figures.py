"""Empty figures, for everything that draws itself, and monotone functions drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.extras import needed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.core.monotone_function import MonotoneFunction

MARGIN = 0.08  # of the nodes' width, drawn beyond them to show the extrapolation


def new_figure(width: float, height: float, of: str) -> Figure:
    """An empty figure that belongs to no window.

    Raises
    ------
    NotAvailable
        when matplotlib is not installed; `of` says what it was wanted for.
    """
    made: Figure = needed("matplotlib.figure", f"pictures of {of} need", "plot").Figure(figsize=(width, height), layout="constrained")
    return made


def corners(u: MonotoneFunction) -> tuple[Array, Array]:
    """The points of the graph of u between which it is straight, with a little of the extrapolation; k + 2 at most."""
    t = u.nodes
    if u.extrapolation == "refuse":
        return t, u.values
    beyond = MARGIN * float(t[-1] - t[0]) or 1.0
    places = np.concatenate([[t[0] - beyond], t, [t[-1] + beyond]])
    return places, u(places)


def draw(axes: Any, u: MonotoneFunction, **style: Any) -> None:
    """The graph of u on matplotlib axes; `style` is that of `axes.plot`."""
    axes.plot(*corners(u), **style)


def plot_function(u: MonotoneFunction) -> Figure:
    """The graph of u, its ends marked."""
    figure = new_figure(5.0, 3.5, "functions")
    axes = figure.subplots()
    draw(axes, u)
    axes.plot(u.nodes[[0, -1]], u.values[[0, -1]], "k.", ms=4)
    axes.set(xlabel="t", ylabel="u(t)")
    return figure
