"""Back ends without a time limit of their own, in processes that are ended when the time is over: QOCO, PIQP, SDPA and others.

A process runs CVXPY's interface of the back end on the data, and sends back the parts of the answer that CVXPY reads. It is started when it
is first needed, and reused; there are as many as threads that solve at a time. Data and answers go through a pipe, in milliseconds.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import cvxpy  # noqa: F401  # here, so that a process imports it before the clock starts

from simopt.processes.worker import Worker, Workers

OF_CVXPY = "param_prob"  # entry of the data that no interface reads: the declaration


def solve(interface: Any, data: Mapping[str, Any] | None, options: Mapping[str, Any]) -> Any:
    """The interface's result for the data, in a form that can be sent; without data the back end is only imported."""
    if data is None:
        interface.import_solver()
        return None
    return plain(interface.solve_via_data(dict(data), False, False, dict(options)))


def plain(raw: Any) -> Any:
    """A record with the attributes of an object that cannot be sent (compiled classes); any other object unchanged."""
    try:
        pickle.dumps(raw)
    except Exception:  # each binding raises another exception
        if isinstance(raw, Mapping):
            return {key: plain(value) for key, value in raw.items()}
        if isinstance(raw, tuple | list):
            return type(raw)(plain(value) for value in raw)
        attributes = {name: getattr(raw, name) for name in dir(raw) if not name.startswith("_")}
        return SimpleNamespace(**{name: plain(value) for name, value in attributes.items() if not callable(value)})
    return raw


@contextmanager
def ready(interface: Any) -> Iterator[Worker]:
    """A process that answers `solve(interface, data, options)`; its start and imports are not on the clock of a solve."""
    with _workers().one() as process:
        process.call(interface, None, {})
        yield process


def sent(data: Mapping[str, Any]) -> dict[str, Any]:
    """The part of CVXPY's data that a process gets."""
    return {key: value for key, value in data.items() if key != OF_CVXPY}


@cache
def _workers() -> Workers:
    return Workers(solve)
