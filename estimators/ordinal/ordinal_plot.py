"""A picture of an ordinal rule: the scores of each class as a row of dots, the thresholds, and the margins on both sides of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simopt.estimators.ordinal.ordinal_rule import OrdinalRule

JITTER = 0.35  # by which the dots of a class are spread, so that they do not lie on each other
BEYOND = 0.05  # of the range of what is drawn
RIGHT, SHORT, WRONG = "tab:blue", "tab:orange", "tab:red"


def plot_rule(rule: OrdinalRule, X: Any, labels: npt.ArrayLike) -> Figure:
    """Rows are the known labels, across lies the score: right with margin ≥ γ (blue), right but nearer (orange), wrong (red).

    Vertical lines are thresholds, dashed ones the margins b ± γ; the labels of the intervals stand above.

    Raises
    ------
    InvalidProblem
        for labels outside 1, …, r.
    NotAvailable
        when matplotlib is not installed.
    """
    figure = new_figure(8.0, 0.35 * rule.classes + 1.5, "ordinal rules")
    draw_rule(figure.subplots(), rule, rule.scores(X), labels)
    return figure


def draw_rule(axes: Any, rule: OrdinalRule, scores: npt.ArrayLike, labels: npt.ArrayLike) -> None:
    """The same on matplotlib axes, for scores that are known already."""
    f = validate.vector("scores", scores)
    y = rule.checked(labels, f.size)
    margins = rule.margins_of(f, y)
    kinds = (
        (margins >= rule.gamma, RIGHT, "margin ≥ γ"),
        ((margins < rule.gamma) & (margins >= 0), SHORT, "margin < γ"),
        (margins < 0, WRONG, "wrong"),
    )
    height = y + JITTER * (2.0 * ((np.arange(f.size) * 0.6180339887) % 1.0) - 1.0)  # an even spread that needs no draw
    for chosen, colour, label in kinds:
        axes.scatter(f[chosen], height[chosen], s=6, lw=0, color=colour, label=f"{label}: {np.mean(chosen):.0%}")
    cuts = np.asarray(rule.thresholds)[np.isfinite(rule.thresholds)]
    for b in cuts:
        axes.axvline(b, color="black", lw=1.0)
        for edge in (b - rule.gamma, b + rule.gamma):
            axes.axvline(edge, color="0.7", lw=0.7, ls="--")
    low, high = float(min(f.min(), cuts.min())), float(max(f.max(), cuts.max()))
    margin = BEYOND * (high - low) or 1.0
    axes.set(xlim=(low - margin, high + margin), ylim=(0.4, rule.classes + 0.6), xlabel="score ⟨w, Ψ(x)⟩", ylabel="label")
    axes.set_yticks(range(1, rule.classes + 1))
    for y_k, (left, right) in enumerate(rule.intervals, start=1):
        start, end = max(left, low - margin), min(right, high + margin)
        if end > start:
            axes.text(0.5 * (start + end), rule.classes + 0.65, str(y_k), ha="center", va="bottom")
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
