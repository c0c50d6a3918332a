"""Back ends without a time limit of their own, in processes that are ended when the time is over: QOCO, DAQP, PIQP and PROXQP.

Compiled code looks at no clock of ours. A process has CVXPY's interface of the back end run on the data, and sends back what CVXPY reads of
the answer. It is started when it is first needed and kept; there are as many as there are threads that solve at a time. Data and answers
go through a pipe, in milliseconds.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import cvxpy  # noqa: F401  # here, so that a process has it before the clock starts

from simopt.processes.worker import Worker, Workers

OF_CVXPY = "param_prob"  # entry of the data that no interface reads: the declaration


def solve(interface: Any, data: Mapping[str, Any] | None, options: Mapping[str, Any]) -> Any:
    """What the interface returns for the data, fit to be sent; without data the back end is imported."""
    if data is None:
        interface.import_solver()
        return None
    return plain(interface.solve_via_data(dict(data), False, False, dict(options)))


def plain(raw: Any) -> Any:
    """A record with the attributes of what cannot be sent: compiled classes; anything else as it is."""
    try:
        pickle.dumps(raw)
    except Exception:  # each binding says it in its own way
        if isinstance(raw, Mapping):
            return {key: plain(value) for key, value in raw.items()}
        if isinstance(raw, tuple | list):
            return type(raw)(plain(value) for value in raw)
        given = {name: getattr(raw, name) for name in dir(raw) if not name.startswith("_")}
        return SimpleNamespace(**{name: plain(value) for name, value in given.items() if not callable(value)})
    return raw


@contextmanager
def ready(interface: Any) -> Iterator[Worker]:
    """A process that answers `solve(interface, data, options)`; its start and imports are not on the clock of a solve."""
    with _workers().one() as process:
        process.call(interface, None, {})
        yield process


def sent(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a process is given of CVXPY's data."""
    return {key: value for key, value in data.items() if key != OF_CVXPY}


@cache
def _workers() -> Workers:
    return Workers(solve)
