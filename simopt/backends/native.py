"""Native results of back ends: status code, iterations, and a form from which CVXPY unpacks the point whatever the status is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

Code = tuple[object, int]


def clarabel(raw: Any) -> Code:
    """The name of its status."""
    return str(raw.status), int(raw.iterations)


def ecos(raw: Any) -> Code:
    """Its exit flag."""
    return int(raw["info"]["exitFlag"]), int(raw["info"]["iter"])


def scs(raw: Any) -> Code:
    """Its status value, or the limit that its status text names."""
    status_text = str(raw["info"]["status"])
    limit = "iterations" if "max_iters" in status_text else "time" if "time_limit" in status_text else None
    return limit or int(raw["info"]["status_val"]), int(raw["info"]["iter"])


def qoco(raw: Any) -> Code:
    """The name of its status."""
    return str(raw.status), int(raw.iters)


def valued(raw: Any) -> Code:
    """The number of the status of OSQP and QPALM."""
    return int(raw.info.status_val), int(raw.info.iter)


def named(raw: Any) -> Code:
    """The name of the status of PIQP and PROXQP."""
    return str(raw.info.status.name), int(raw.info.iter)


def daqp(raw: Any) -> Code:
    """Its exit flag."""
    return int(raw[2]), int(raw[3]["iterations"])


def highs(raw: Any) -> Code:
    """The name of its status; the iterations of the method that was used."""
    counts = (getattr(raw["info"], f"{method}_iteration_count") for method in ("simplex", "ipm", "qp", "pdlp"))
    return str(raw["model_status"]), sum(max(int(count), 0) for count in counts)


def clarabel_present(raw: Any) -> Any:
    """With the status "almost solved"."""
    if raw.x is None or not len(raw.x) or not np.all(np.isfinite(raw.x)):
        return raw
    fields = {key: getattr(raw, key) for key in ("x", "z", "s", "obj_val", "solve_time", "iterations")}
    return SimpleNamespace(status="AlmostSolved", **fields)


def ecos_present(raw: Any) -> Any:
    """With the status "optimal, inaccurate"."""
    return raw | {"info": raw["info"] | {"exitFlag": 10}} if _finite(raw["x"]) else raw


def scs_present(raw: Any) -> Any:
    """With the status "solved, inaccurate"."""
    return raw | {"info": raw["info"] | {"status_val": 2}} if _finite(raw["x"]) else raw


def qoco_present(raw: Any) -> Any:
    """With the status "solved, inaccurate"."""
    if not _finite(raw.x):
        return raw
    fields = {key: getattr(raw, key) for key in ("x", "y", "z", "obj", "iters", "solve_time_sec", "setup_time_sec", "pres", "dres", "gap")}
    return SimpleNamespace(status="QOCO_SOLVED_INACCURATE", **fields)


def _finite(x: Any) -> bool:
    return x is not None and bool(np.all(np.isfinite(x)))
