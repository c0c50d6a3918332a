"""The description of the machine that a measurement was taken on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from simopt.solving import provenance

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS",
)  # fmt: skip


def thread_environment(threads: int) -> dict[str, str]:
    """Environment of a process whose libraries may use so many threads: most of them read it once, when they are loaded."""
    return {**os.environ, **{name: str(threads) for name in THREAD_VARIABLES}}


def describe() -> dict[str, Any]:
    """Processor, cores, those this process may use, memory, load, system, and the BLAS with its threads. No host or user name."""
    from threadpoolctl import threadpool_info

    pools = [{key: pool.get(key) for key in ("user_api", "internal_api", "version", "num_threads")} for pool in threadpool_info()]
    return {
        "machine": provenance.machine(),
        "cores": os.cpu_count(),
        "cores_allowed": cores(),
        "memory_megabytes": _memory(),
        "load": load(),
        "system": f"{platform.system()} {platform.release()}",
        "libraries": pools,
    }


def load() -> float | None:
    """Processes that have run, or waited for a core, in the last minute, on average; None where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def cores() -> int | None:
    """Those that this process may use; None where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _memory() -> float | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemTotal:"):
                return float(line.split()[1]) / 1024.0
    except OSError:
        pass  # not Linux: what follows may know
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20
    except (AttributeError, OSError, ValueError):
        return None
