"""Runs made by hand."""

from typing import Any

from simopt.compare.cell import PlannedRun
from simopt.compare.record import Record


def point(seconds: float, gap: float, setup: float = 0.0) -> dict[str, Any]:
    """A certified point after so many seconds."""
    return {
        "setup": setup, "solve": seconds - setup, "iteration": 1, "tolerance": float("nan"), "upper": 1.0 + gap, "lower": 1.0,
        "gap": gap, "relative_gap": gap,
    }  # fmt: skip


def record(
    solver: str,
    seconds: float | None,
    *,
    size: int | None = 100,
    repetition: int = 0,
    machine: str = "M",
    started: str = "2026-01-01",
    **cell: Any,
) -> Record:
    """A run that took so many seconds to its tolerance, or failed (None)."""
    names = {"problem": "p", "data": "d", "conditioning": None, "settings": "{}", "seed": 0, "options": "{}", "tol": 1e-8}
    made = PlannedRun(**{**names, "time_limit": 5.0, "threads": 1, "size": size, "solver": solver, "repetition": repetition, **cell})
    common: dict[str, Any] = {"machine": machine, "started": started, "versions": '{"simopt": "0.1.0"}', "megabytes": 3.0}
    if seconds is None:
        return Record(made, "time limit", "MaxTime", "over 5 s", "tolerance", points=(point(4.0, 1e-3),), relative_gap=1e-3, **common)
    points = (point(seconds / 2, 1e-3), point(seconds, 1e-9))
    return Record(
        made, "optimal", "ok", sampling="iterates", setup_seconds=0.0, solve_seconds=seconds, relative_gap=1e-9, points=points, **common
    )
