"""Pictures of a comparison: certified gap against seconds, performance profile, seconds and memory against size."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simopt.compare import profiles, statistics
from simopt.compare.folder import explained
from simopt.compare.instance_seconds import with_optimum
from simopt.compare.record import Record
from simopt.core.figures import new_figure
from simopt.core.foreign_text import in_picture
from simopt.core.writing import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST = 1e-16  # a gap of 0 on a logarithmic axis
OF = "comparisons"


def draw(records: Sequence[Record], folder: str | os.PathLike[str]) -> list[Path]:
    """All pictures as PNG files; their paths. No runs give no picture.

    Raises
    ------
    NotAvailable
        when matplotlib is not installed.
    OSError
        when the folder cannot be written.
    """
    if not records:
        return []
    made: dict[str, Figure] = {}
    for (title, machine), solvers in statistics.by_setting(records).items():
        made[_name(title, machine)] = gap_curves(solvers, title, machine)
    machines = statistics.by_machine(records)
    for machine, own in machines.items():
        at = "" if len(machines) == 1 else f"-{_hash(machine)}"
        made[f"profile{at}"] = profile(own)
        if any(record.variables for record in own):
            made[f"data-profile{at}"] = data_profile(own)
    if len({record.cell.size for record in records}) > 1:
        made["scaling"] = scaling(records)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        return [_save(figure, target / f"{name}.png") for name, figure in made.items()]
    except OSError as error:
        raise explained(error, target, len(records)) from error


def _save(figure: Figure, path: Path) -> Path:
    with replacing(path) as out:
        figure.savefig(out, format="png", dpi=120)
    return path


def _name(title: str, machine: str) -> str:
    """The same for the same instance and machine, so that a picture replaces the one that was made with fewer runs."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", title).strip("-")[:60]
    return f"gap-{words}-{_hash(f'{title} {machine}')}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:4]


def _few_ticks(*axes: Any) -> None:
    """No words between the powers of ten, where they would lie on top of one another."""
    from matplotlib.ticker import LogFormatterMathtext, NullFormatter

    for one in axes:
        low, high = one.get_view_interval()
        if low > 0 and math.log10(high / low) >= 1.0:
            one.set_minor_formatter(NullFormatter())
        else:
            one.set_minor_formatter(LogFormatterMathtext(minor_thresholds=(2, 0.5)))


def _logarithmic(axes: Any, filled: bool) -> None:
    """Both axes logarithmic; where nothing is drawn, which has no logarithm, a word says so."""
    if not filled:
        axes.text(0.5, 0.5, "nothing was measured", transform=axes.transAxes, ha="center", color="0.4")
        return
    axes.set(xscale="log", yscale="log")
    _few_ticks(axes.xaxis, axes.yaxis)


def styles(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour and a marker for each solver, the same in all pictures."""
    markers = "osD^vPX*<>"
    return {name: {"color": f"C{i % 10}", "marker": markers[i % len(markers)]} for i, name in enumerate(sorted(names))}


def gap_curves(solvers: dict[str, list[Record]], title: str, machine: str) -> Figure:
    """Smallest certified gap so far against seconds, one line a run; a sweep, which is not one run, is dotted. ✗: ended without success."""
    figure = new_figure(6.4, 4.2, OF)
    axes = figure.subplots()
    look, filled = styles(list(solvers)), False
    for name, runs in solvers.items():
        for i, run in enumerate(runs):
            curve = [(at, max(gap, SMALLEST)) for at, gap in run.descent() if math.isfinite(gap)]
            filled |= bool(curve)
            line = ":" if run.sampling == "tolerance" else "-"
            label = in_picture(f"{name} ({run.sampling or run.status})") if i == 0 else None
            axes.plot(*zip(*curve, strict=True), line, ms=4, lw=1.2, alpha=0.8, label=label, **look[name]) if curve else axes.plot(
                [], [], label=label, **look[name]
            )
            if curve and not run.success:
                axes.plot(*curve[-1], "x", ms=9, mew=2, color=look[name]["color"])
    tol = max(run.cell.tol for runs in solvers.values() for run in runs)
    axes.axhline(tol, color="0.6", lw=0.8, ls="--")
    axes.set(xlabel="seconds, set-up included", ylabel="certified gap / scale")
    axes.set_title(in_picture(f"{title}\n{machine}"), fontsize=8)
    _logarithmic(axes, filled)
    axes.legend(fontsize=7)
    return figure


def profile(records: Sequence[Record]) -> Figure:
    """ρ(τ) for the time to the tolerance, of the runs of one machine."""
    found = profiles.performance(with_optimum(records))
    return _steps(found, "τ: seconds over those of the fastest", "performance profile", 2.0)


def data_profile(records: Sequence[Record]) -> Figure:
    """d(α) for the time to the tolerance, of the runs of one machine."""
    return _steps(profiles.data(with_optimum(records)), "α: seconds / (variables + 1)", "data profile")


def _steps(curves: Sequence[statistics.Profile], name: str, title: str, least: float = 0.0) -> Figure:
    """Fractions of instances that rise in steps, drawn up to `least` at least."""
    figure = new_figure(5.6, 3.8, OF)
    axes = figure.subplots()
    look = styles([p.solver for p in curves])
    right = max(least, 1.3 * max((r for p in curves for r in p.ratios if math.isfinite(r)), default=1.0))
    for p in curves:
        steps = [(r, s) for r, s in zip(p.ratios, p.fractions, strict=True) if math.isfinite(r) and r > 0]
        if steps:
            x, y = zip(*steps, (right, steps[-1][1]), strict=True)
            axes.step(x, y, where="post", label=in_picture(p.solver), **look[p.solver], ms=4)
    instances = curves[0].instances if curves else 0
    axes.set(xscale="log", ylim=(-0.03, 1.03), xlabel=name, ylabel="fraction of the instances")
    axes.set_title(f"{title}, {instances} instances", fontsize=9)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=7)
    return figure


def scaling(records: Sequence[Record]) -> Figure:
    """Seconds and memory against size. ✗ at the time limit: not solved."""
    figure = new_figure(9.0, 3.8, OF)
    left, right = figure.subplots(1, 2)
    by_solver = statistics.series(records)
    look = styles(sorted({name for _, _, name in by_solver}))
    fits = {(fit.solver, fit.series, fit.machine): fit for fit in statistics.scaling(records)}
    labelled: set[str] = set()
    for (words, machine, name), sizes in by_solver.items():
        times = [(size, statistics.typical(runs, runs[0].cell.tol), runs) for size, runs in sizes.items()]
        fit = fits.get((name, words, machine))
        label = None if name in labelled else in_picture(name) + (f"  n^{fit.exponent:.2f}" if fit is not None else "")
        labelled.add(name)
        solved = [(size, time) for size, time, _ in times if math.isfinite(time)]
        left.plot([s for s, _ in solved], [t for _, t in solved], "-", label=label, ms=5, **look[name])
        missed = [(size, runs[0].cell.time_limit) for size, time, runs in times if not math.isfinite(time)]
        left.plot([s for s, _ in missed], [t for _, t in missed], "x", ms=8, mew=2, color=look[name]["color"])
        memory = [(size, max(run.megabytes for run in runs)) for size, _, runs in times]
        right.plot([s for s, m in memory if m > 0], [m for _, m in memory if m > 0], "-", ms=5, **look[name])
    left.set(xlabel="size", ylabel="seconds to the tolerance (✗: not solved)")
    right.set(xlabel="size", ylabel="peak memory above the data, MB")
    for axes in (left, right):
        _logarithmic(axes, any(len(line.get_xdata()) for line in axes.get_lines()))
        axes.set_xticks(sorted({size for sizes in by_solver.values() for size in sizes}), minor=False)
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter("{x:g}")
    left.legend(fontsize=7)
    return figure
