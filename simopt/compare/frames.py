"""Records and statistics as pandas DataFrames."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simopt.compare import parquet, profiles, statistics
from simopt.compare.cell import PlannedRun
from simopt.compare.instance_seconds import with_optimum
from simopt.compare.record import POINT, Record
from simopt.core.extras import needed

if TYPE_CHECKING:
    import pandas as pd


def time_column(gap: float) -> str:
    """Name of the column of times to a gap."""
    return f"time_to_{gap:.0e}" if float(f"{gap:.0e}") == gap else f"time_to_{gap:g}"


def runs(records: Sequence[Record]) -> pd.DataFrame:
    """One row a run; `seconds` is set-up and solve together, nan where the certificate did not close."""
    wanted = statistics.gaps(records)
    rows = [
        {
            **r.row(),
            "seconds": r.seconds if r.success else math.nan,
            "success": r.success,
            **{time_column(gap): statistics.time_to([r], gap) for gap in wanted},
        }
        for r in records
    ]
    columns = ["key", *(name for name, _ in parquet.columns()), "seconds", "success", *map(time_column, wanted)]
    return _frame(rows, columns)


def traces(records: Sequence[Record]) -> pd.DataFrame:
    """One row a certified point: who, on what, seconds (set-up and solve), bracket and gap. `best_gap` is the smallest up to there."""
    rows = []
    names = [item.name for item in dataclasses.fields(PlannedRun)]
    for record in records:
        own = {name: getattr(record.cell, name) for name in names}
        points = sorted(record.points, key=lambda p: p["setup"] + p["solve"])
        for point, (seconds, best) in zip(points, record.descent(), strict=True):
            about = {"key": record.cell.key, **own, "machine": record.machine, "sampling": record.sampling}
            rows.append({**about, **point, "seconds": seconds, "best_gap": best})
    return _frame(rows, ["key", *names, "machine", "sampling", *POINT, "seconds", "best_gap"])


def summary(records: Sequence[Record]) -> pd.DataFrame:
    """One row an instance, machine and solver."""
    wanted = statistics.gaps(records)
    rows = []
    for row in statistics.summary(records):
        plain = {item.name: getattr(row, item.name) for item in dataclasses.fields(row) if item.name != "seconds_to_gap"}
        rows.append({**plain, **{time_column(gap): time for gap, time in zip(wanted, row.seconds_to_gap, strict=True)}})
    names = [item.name for item in dataclasses.fields(statistics.SummaryRow) if item.name != "seconds_to_gap"]
    return _frame(rows, [*names, *map(time_column, wanted)])


def profile(records: Sequence[Record], gap: float | None) -> pd.DataFrame:
    """One row a step of ρ on a machine: solver, ratio τ, share ρ(τ); for times to `gap`, or to the tolerance of each run."""
    rows = [
        {"solver": made.solver, "ratio": ratio, "share": share, "instances": made.instances, "left_out": made.left_out, "machine": machine}
        for machine, own in statistics.by_machine(records).items()
        for made in profiles.performance(with_optimum(own, gap))
        for ratio, share in zip(made.ratios, made.fractions, strict=True)
    ]
    return _frame(rows, ["solver", "ratio", "share", "instances", "left_out", "machine"])


def scaling(records: Sequence[Record]) -> pd.DataFrame:
    """One row a fit."""
    names = [item.name for item in dataclasses.fields(statistics.PowerLaw)]
    return _frame([{name: getattr(fit, name) for name in names} for fit in statistics.scaling(records)], names)


def _frame(rows: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    made: pd.DataFrame = needed("pandas", "tables of a comparison need", "compare").DataFrame(rows, columns=columns)
    return made
