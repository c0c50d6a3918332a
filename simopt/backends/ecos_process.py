"""ECOS in processes of its own: it has no time limit, catches interrupts, and holds Python's lock while it computes.

A process is started when it is first needed, and reused; there are as many as threads that solve at a time. It needs neither CVXPY nor the
rest of simopt.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from simopt.processes.worker import Worker, Workers


def ready() -> AbstractContextManager[Worker]:
    """A process that answers `ecos.solve(*args, **options)`; its start and imports are not on the clock of a solve."""
    return _workers().one()


@cache
def _workers() -> Workers:
    import ecos

    return Workers(ecos.solve)
