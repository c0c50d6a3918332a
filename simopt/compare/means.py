"""Shifted geometric means of seconds over instances; a failure counts as the time limit, and is counted."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from simopt.compare.instance_seconds import InstanceSeconds, common

SHIFTS = (1.0, 10.0)  # seconds


def shifted_geometric_mean(seconds: Sequence[float], shift: float) -> float:
    """(∏ (tᵢ + s))^(1/N) − s; nan for no values.

    It is computed as s expm1(mean log1p(tᵢ/s)) with an exactly rounded sum, so that the order of the values has no part in it.
    """
    return shift * math.expm1(statistics.fmean(math.log1p(each / shift) for each in seconds)) if seconds else math.nan


@dataclass(frozen=True)
class MeanSeconds:
    """One solver over instances: how many, on how many of them it failed, and its means for the shifts of `SHIFTS`."""

    solver: str
    instances: int
    failures: int
    means: tuple[float, ...]


def _counted(instance: InstanceSeconds, name: str) -> float:
    known = [seconds for seconds in instance.seconds.values() if math.isfinite(seconds)]
    own = instance.seconds[name]
    return own if math.isfinite(own) else max([instance.limit, *known])


def means(instances: Sequence[InstanceSeconds]) -> list[MeanSeconds]:
    """A row for each solver, over the instances on which all of them were run (`instance_seconds.common`).

    A failure counts as the limit, or as the slowest solver that got there where that took longer: the limit is on the solver's own clock,
    and set-up comes on top of it.
    """
    names, block = common(instances)
    found = []
    for name in names:
        seconds = [_counted(each, name) for each in block]
        failures = sum(math.isinf(each.seconds[name]) for each in block)
        found.append(MeanSeconds(name, len(block), failures, tuple(shifted_geometric_mean(seconds, shift) for shift in SHIFTS)))
    return found
