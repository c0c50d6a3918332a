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


def means(instances: Sequence[InstanceSeconds]) -> list[MeanSeconds]:
    """A row for each solver, over the instances on which all of them were run (`instance_seconds.common`).

    The seconds of a solver on an instance are min(t, limit), and t = ∞ where it failed.
    """
    names, block = common(instances)
    found = []
    for name in names:
        seconds = [min(each.seconds[name], each.limit) for each in block]
        failures = sum(math.isinf(each.seconds[name]) for each in block)
        found.append(MeanSeconds(name, len(block), failures, tuple(shifted_geometric_mean(seconds, shift) for shift in SHIFTS)))
    return found
