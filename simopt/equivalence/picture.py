"""A decision drawn: Φ with its error bars, the norms of both paths, and the residual distance beside the radii."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simopt.core.errors import InvalidProblem
from simopt.core.extras import needed
from simopt.core.figures import new_figure
from simopt.core.foreign_text import in_picture
from simopt.core.writing import replacing
from simopt.equivalence.decide import Decision
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.family import Interval
from simopt.equivalence.map_search import MapOutcome, MapValue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
LEAST = 1e-17  # relative distances of 0 on a logarithmic axis
COLOURS = {Answer.HOLDS: "C0", Answer.UNDECIDED: "C1", Answer.FAILS: "C3"}
LABELS = {Answer.HOLDS: "found", Answer.UNDECIDED: "undecided", Answer.FAILS: "no map"}
MARKERS = {Answer.HOLDS: "o", Answer.UNDECIDED: "D", Answer.FAILS: "X"}


def check_picture(path: str | os.PathLike[str]) -> str:
    """The format of a picture, which the end of its name tells.

    Raises
    ------
    InvalidProblem
        for another.
    NotAvailable
        when matplotlib is not installed.
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in FORMATS:
        raise InvalidProblem(f"--plot: {os.fspath(path)} ends in {suffix or 'nothing'}; a name that ends in {', '.join(FORMATS)} needed")
    needed("matplotlib", "pictures of equivalences need", "plot")
    return suffix[1:]


def save(decision: Decision, path: str | os.PathLike[str]) -> None:
    """Draw the decision to a file; the same decision gives the same file.

    Raises
    ------
    InvalidProblem, NotAvailable
        see `check_picture`.
    OSError
        when the file cannot be written.
    """
    kind = check_picture(path)
    matplotlib = needed("matplotlib", "pictures of equivalences need", "plot")
    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    figure = draw(decision)
    with matplotlib.rc_context({"svg.hashsalt": decision.fingerprint}), replacing(path) as out:
        figure.savefig(out, format=kind, dpi=150, metadata=undated)


def draw(decision: Decision, figure: Figure | None = None) -> Figure:
    """Three panels: Φ(λ) with its error bars; ‖A(λ)‖ and ‖B(μ)‖; ‖A(λ) − B(Φ(λ))‖/‖A(λ)‖ beside the radii and the resolution.

    On a new figure that belongs to no window, or on the one given: that of a notebook, say.
    """
    figure = new_figure(6.4, 9.0, "equivalences") if figure is None else figure
    top, middle, bottom = figure.subplots(3, 1, height_ratios=(5, 4, 4))
    head = {Answer.HOLDS: "weakly equivalent on this sample", Answer.FAILS: "not weakly equivalent", Answer.UNDECIDED: "undecided"}
    names = in_picture(f"{decision.source}  →  {decision.target}")
    figure.suptitle(f"{names}\n{head[decision.answer]}, n = {decision.samples}, resolution {decision.resolution:g}", fontsize=11)
    _map(top, decision)
    _norms(middle, decision)
    _distances(bottom, decision)
    return figure


def _map(axes: Any, decision: Decision) -> None:
    """Φ at parameters of A, and the inverse at parameters of B as points of the same graph."""
    source, target = decision.domains
    known = [row for row in decision.forward if row.outcome is MapOutcome.FOUND]
    if known:
        line = [row.parameter for row in known]
        axes.plot(line, [row.value for row in known], "-", color="C0", lw=1.0, alpha=0.6)
        low, high = [max(row.low, target.low) for row in known], [min(row.high, target.high) for row in known]
        shown = all(0.0 < x < math.inf for x in (*low, *high)) or not _logarithmic(target)
        if shown and len(known) > 1:
            axes.fill_between(line, low, high, color="C0", alpha=0.25, lw=0, label="error band")
        widest = max(row.relative_bar for row in known)
        axes.set_title(rf"$\Phi$; widest relative error bar {widest:.1e}", fontsize=9)
    else:
        axes.set_title(r"$\Phi$ is found nowhere", fontsize=9)
    for answer in Answer:
        rows = [(row.parameter, row.value, row) for row in decision.forward if row.answer is answer]
        _points(axes, rows, answer, filled=True, of="λ of A")
        rows = [(row.value, row.parameter, row) for row in decision.backward if row.answer is answer]
        _points(axes, rows, answer, filled=False, of="μ of B")
    for jump in decision.jumps:
        (axes.axvline if jump.side == "source" else axes.axhline)(jump.low, color="C3", lw=1.0, ls="--", label="jump")
    for piece in decision.plateaus:
        span = axes.axvspan if piece.side == "source" else axes.axhspan
        span(piece.low, piece.high, color="0.9", zorder=0, label="cannot be told apart")
    axes.set(xlabel=in_picture(f"λ of {decision.source}"), ylabel=in_picture(f"μ of {decision.target}"))
    _scaled(axes, source, target)
    _legend(axes)


def _points(axes: Any, rows: Sequence[tuple[float, float, MapValue]], answer: Answer, filled: bool, of: str) -> None:
    rows = [row for row in rows if math.isfinite(row[0]) and math.isfinite(row[1]) and row[2].outcome is not MapOutcome.EVERY]
    if not rows:
        return
    colour = COLOURS[answer]
    label = f"{LABELS[answer]} at {of}"
    face = colour if filled else "none"
    axes.plot(*zip(*[row[:2] for row in rows], strict=True), MARKERS[answer], ms=5, mfc=face, mec=colour, ls="none", label=label)


def _norms(axes: Any, decision: Decision) -> None:
    """‖A(λ)‖ below, ‖B(μ)‖ above: each against its own parameter."""
    source, target = decision.domains
    beside = axes.twiny()
    for one, rows, colour, name, marker in (
        (axes, decision.forward, "C2", r"$\|A(\lambda)\|$", "o"),
        (beside, decision.backward, "C4", r"$\|B(\mu)\|$", "s"),
    ):
        points = [(row.parameter, row.norm) for row in rows if row.norm > 0.0 and math.isfinite(row.norm)]
        if points:
            one.plot(*zip(*points, strict=True), "-", marker=marker, ms=4, lw=1.0, color=colour, label=name)
    axes.set(ylabel="norm", yscale="log")
    axes.set_xlabel(in_picture(f"λ of {decision.source}"), color="C2")
    beside.set_xlabel(in_picture(f"μ of {decision.target}"), color="C4")
    for one, domain in ((axes, source), (beside, target)):
        _widened(one, one is beside)
        if _logarithmic(domain):
            one.set_xscale("log")
    lines = [line for one in (axes, beside) for line in one.get_lines()]
    if lines:
        axes.legend(lines, [line.get_label() for line in lines], fontsize=8)


def _distances(axes: Any, decision: Decision) -> None:
    """Distances relative to the norm; what lies above the radii is no error of the learners."""
    rows = [row for row in decision.forward if row.norm > 0.0 and math.isfinite(row.distance)]
    for answer in Answer:
        points = [(row.parameter, max(row.distance / row.norm, LEAST)) for row in rows if row.answer is answer]
        if points:
            axes.plot(*zip(*points, strict=True), MARKERS[answer], ms=5, color=COLOURS[answer], label=f"distance, {LABELS[answer]}")
    radii = [(row.parameter, row.errors / row.norm) for row in rows if 0.0 < row.errors < math.inf]
    if radii:
        axes.plot(*zip(*radii, strict=True), "-", color="0.4", lw=1.2, label="radii of both learners")
    bars = [(row.parameter, row.relative_bar) for row in rows if row.outcome is MapOutcome.FOUND and 0.0 < row.relative_bar < math.inf]
    if bars:
        axes.plot(*zip(*bars, strict=True), "--", color="C0", lw=1.0, label=r"error bar of $\Phi$, relative to $\Phi$")
    axes.axhline(decision.resolution, color="0.4", lw=0.8, ls=":", label="resolution")
    axes.set(xlabel=in_picture(f"λ of {decision.source}"), ylabel="relative", yscale="log")
    axes.set_title(rf"$\|A(\lambda) - B(\Phi(\lambda))\| \,/\, \|A(\lambda)\|$ (0 is drawn at {LEAST:g})", fontsize=9)
    if _logarithmic(decision.domains[0]):
        axes.set_xscale("log")
    _legend(axes)


def _widened(axes: Any, alone: bool) -> None:
    """Room around a single parameter, which makes no axis."""
    values = {float(x) for line in axes.get_lines() for x in line.get_xdata()}
    if len(values) == 1 and alone:
        (at,) = values
        axes.set_xlim(at / 10 if at > 0 else at - 1.0, at * 10 if at > 0 else at + 1.0)


def _logarithmic(domain: Interval) -> bool:
    return domain.low >= 0.0


def _scaled(axes: Any, source: Interval, target: Interval) -> None:
    if _logarithmic(source):
        axes.set_xscale("log")
    if _logarithmic(target):
        axes.set_yscale("log")


def _legend(axes: Any) -> None:
    """Each label once."""
    handles, labels = axes.get_legend_handles_labels()
    found = dict(zip(labels, handles, strict=True))
    if found:
        axes.legend(found.values(), found.keys(), fontsize=7)
