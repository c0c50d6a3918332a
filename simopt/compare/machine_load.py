"""How busy a machine was while it was measured, in words."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from simopt.compare.record import Record


def load_of_runs(records: Sequence[Record]) -> str | None:
    """What the runs found: least, most and median of the processes that waited for a core; None where no system said so."""
    systems = [json.loads(record.system) for record in records]
    loads = sorted(load for each in systems if isinstance(load := each.get("load"), (int, float)) and math.isfinite(load))
    if not loads:
        return None
    cores = next((each["cores_allowed"] for each in reversed(systems) if isinstance(each.get("cores_allowed"), int)), None)
    busy = cores is not None and loads[-1] > cores
    measured = f"{loads[0]:.1f} to {loads[-1]:.1f}, median {loads[len(loads) // 2]:.1f}"
    return measured + (f" on {cores} cores: where it is above them, seconds are those of others, too" if busy else "")
