"""Pictures of herds: the error against the number of atoms, and the atoms themselves where points are images."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.core.errors import InvalidProblem
from simopt.core.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.estimators.herding.herd_record import Herd

SHOWN = 40  # atoms shown as pictures


def plot_herd(herd: Herd, *, images: tuple[int, int] | None = None) -> Figure:
    """The error against the number of atoms, with the certified one as a point and ε as a line; with `images` also the heaviest atoms.

    Parameters
    ----------
    images : (height, width), optional
        shape of a point as a picture; height · width must be the number of coordinates.

    Raises
    ------
    InvalidProblem
        for a shape that does not fit the points.
    NotAvailable
        when matplotlib is not installed.
    """
    if images is not None:
        _check_shape(herd, images)
    figure = new_figure(9.0 if images is not None else 5.0, 4.0, "herds")
    panels = figure.subplots(1, 2 if images is not None else 1, squeeze=False)[0]
    _error_panel(panels[0], {str(herd.provenance.get("steps", "herd")): herd})
    if images is not None:
        panels[1].imshow(_mosaic(herd, images), cmap="RdBu", vmin=-1.0, vmax=1.0)
        panels[1].set_axis_off()
        panels[1].set_title("heaviest atoms (blue +1, red −1)")
    return figure


def plot_errors(herds: Mapping[str, Herd]) -> Figure:
    """Error against the number of atoms for several herds of one mean, by name."""
    if not herds:
        raise InvalidProblem("herds: none given, at least one needed")
    figure = new_figure(6.0, 4.0, "herds")
    _error_panel(figure.subplots(), herds)
    return figure


def _error_panel(axes: Any, herds: Mapping[str, Herd]) -> None:
    for name, herd in herds.items():
        seen = herd.trace[herd.trace[:, 2] > 0.0] if len(herd.trace) else herd.trace
        (line,) = axes.plot(seen[:, 1], seen[:, 2], lw=1.2, label=name)
        axes.plot([len(herd)], [herd.error], "o", ms=5, color=line.get_color())
    for target in sorted({herd.target_error for herd in herds.values() if herd.target_error is not None}):
        axes.axhline(target, color="0.6", lw=0.8, ls="--")
    axes.set(xscale="log", yscale="log", xlabel="atoms", ylabel="‖ω − ω̃‖ (dots: certified)")
    axes.legend(frameon=False)


def _check_shape(herd: Herd, images: tuple[int, int]) -> None:
    height, width = images
    if height * width != herd.points.shape[1] or height < 1:
        raise InvalidProblem(f"images: {height} × {width} is {height * width} pixels, but points have {herd.points.shape[1]} coordinates")


def _mosaic(herd: Herd, images: tuple[int, int]) -> Any:
    """The heaviest atoms in a grid, heaviest first: pixels in [0, 1] times the label, so that colour shows the class."""
    height, width = images
    order = np.argsort(-herd.weights, kind="stable")[:SHOWN]
    pixels = herd.points[order]
    low, high = float(np.min(pixels)), float(np.max(pixels))
    shades = (pixels - low) / (high - low) if high > low else np.ones_like(pixels)
    columns = math.ceil(math.sqrt(2.0 * len(order)))
    rows = math.ceil(len(order) / columns)
    canvas = np.zeros((rows * (height + 1), columns * (width + 1)))
    for place, (atom, shade) in enumerate(zip(order, shades, strict=True)):
        top, left = place // columns * (height + 1), place % columns * (width + 1)
        canvas[top : top + height, left : left + width] = herd.labels[atom] * shade.reshape(height, width)
    return canvas
