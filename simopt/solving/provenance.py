"""The origin of a record: versions, machine, threads."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from simopt.model.problem import Problem
from simopt.solving.solution import Provenance

PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel", "ecos", "scs", "highspy", "numba", "python-flint", "joblib")


@cache
def versions() -> dict[str, str]:
    """Versions of simopt and of the packages that its numbers depend on."""
    import simopt

    found = {"simopt": simopt.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@cache
def machine() -> str:
    """One line about this machine: processor, cores, system; without its host name."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass  # not a Linux machine: the platform module has to do
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


@cache
def threads() -> int:
    """Threads that the linear algebra libraries use in this process."""
    from threadpoolctl import threadpool_info

    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=1)


def record(*, problem: Problem, **values: Any) -> Provenance:
    """Provenance of a solve, with versions and threads filled in."""
    return Provenance(problem=problem.name, versions=dict(versions()), threads=threads(), **values)
