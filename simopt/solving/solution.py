"""The result of a solve: a restored point with its certificate, and a record of how it was computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.core.arrays import Multipliers, Point
from simopt.model.status import Status

if TYPE_CHECKING:
    from simopt.certificates.certificate import Certificate


@dataclass(frozen=True)
class Iterate:
    """The value that a hand-written solver yields: a point, multipliers if it has them, and its own estimate of the gap.

    Arrays may be buffers that the solver goes on using; the driver copies what it keeps. `word` describes how the point was found, if that
    is not the usual way (a safety net that took over); it becomes part of the reported status.
    """

    point: Point
    multipliers: Multipliers | None = None
    gap: float = float("inf")
    word: str = ""


@dataclass(frozen=True)
class Sample:
    """One row of a trace: seconds on the solver's clock and the certified bracket at that time; see `Certificate.rounding`."""

    seconds: float
    iteration: int
    upper: float
    lower: float
    gap: float
    rounding: bool = False


@dataclass(frozen=True)
class Trace:
    """Certified brackets over time. `sampling` is "iterates" for our solvers, "tolerance" for CVXPY back ends, which have no iterates."""

    samples: tuple[Sample, ...] = ()
    sampling: str = "iterates"


@dataclass(frozen=True)
class Provenance:
    """The solver, data, options and versions that produced a solution."""

    solver: str
    problem: str
    fingerprint: str
    tol: float
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1
    iterations: int = 0
    setup_seconds: float = 0.0
    solve_seconds: float = 0.0


@dataclass(frozen=True)
class Solution:
    """Restored point, multipliers, certificate, status, trace and provenance; immutable and picklable.

    Attributes
    ----------
    status : Status
        decided by the certificate, never by the solver's own status.
    reported_status : str
        the solver's own status.
    point : dict or None
        the restored (feasible) point; None when nothing was returned.
    certificate : Certificate or None
        bounds on the optimum of the problem as it was given.
    message : str
        why the status is not OPTIMAL, in one sentence.
    direction : dict or None
        for an UNBOUNDED problem: a direction that stays feasible without end, from the point and from any other feasible one.
    """

    status: Status
    reported_status: str
    point: Mapping[str, Any] | None
    multipliers: Mapping[str, Any] | None
    certificate: Certificate | None
    trace: Trace
    provenance: Provenance
    message: str = ""
    direction: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        """One line: who solved what, the status, the certified bracket, and why it is not OPTIMAL."""
        made = self.provenance
        parts = [f"{made.problem} by {made.solver}: {self.status.name}", f"{made.setup_seconds + made.solve_seconds:.3g} s"]
        parts += [str(self.certificate)] if self.certificate is not None else []
        return "   ".join([*parts, *([self.message] if self.message else [])])

    @property
    def optimal(self) -> bool:
        """Whether the certificate closed to the tolerance asked for."""
        return self.status is Status.OPTIMAL

    @property
    def value(self) -> float:
        """The restored point's value, which the optimum is no worse than (nan when there is no point)."""
        return float("nan") if self.certificate is None else self.certificate.value

    def __reduce__(self) -> tuple[Any, ...]:
        plain = (
            self.status,
            self.reported_status,
            None if self.point is None else dict(self.point),
            None if self.multipliers is None else dict(self.multipliers),
            self.certificate,
            self.trace,
            self.provenance,
            self.message,
            None if self.direction is None else dict(self.direction),
        )
        return (_rebuild, plain)


def _rebuild(*values: Any) -> Solution:
    status, reported, point, multipliers, *rest, direction = values
    return replace(Solution(status, reported, frozen(point), frozen(multipliers), *rest), direction=frozen(direction))


def frozen(values: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Read-only mapping over read-only arrays (copies, so that the caller's buffers stay his own)."""
    if values is None:
        return None
    copies: dict[str, Any] = {}
    for name, value in values.items():
        array = np.array(value, dtype=complex if np.iscomplexobj(value) else float)
        array.setflags(write=False)
        copies[name] = array
    return MappingProxyType(copies)
