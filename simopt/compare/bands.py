"""Instances by class and by size: the same statistics over fewer instances that have more in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simopt.compare.instance_seconds import InstanceSeconds, lead
from simopt.compare.means import MeanSeconds, means

UNKNOWN = "unknown"
CLASSES = ("LP", "QP", "SOCP", "SDP", "exponential", "power", "mixed", UNKNOWN)


@dataclass(frozen=True)
class Band:
    """The instances of one class, or with their variables or nonzeros in one decade.

    Attributes
    ----------
    by, name : str
        "class", "variables" or "nonzeros", and which one.
    instances : int
        how many.
    fastest : dict
        by solver the instances that it leads alone.
    means : tuple
        of the solvers that were run on all of them, see `means.means`.
    """

    by: str
    name: str
    instances: int
    fastest: dict[str, int]
    means: tuple[MeanSeconds, ...]


def decade(count: int) -> str:
    """The decade 10ᵏ ≤ count < 10ᵏ⁺¹ of a number of variables or nonzeros: "100–999"; 0 stands for an unknown number."""
    if count <= 0:
        return UNKNOWN
    low = 10 ** (len(str(count)) - 1)
    return f"{low}–{10 * low - 1}"


NAMES: dict[str, Callable[[InstanceSeconds], str]] = {
    "class": lambda each: each.problem_class if each.problem_class in CLASSES else UNKNOWN,
    "variables": lambda each: decade(each.variables),
    "nonzeros": lambda each: decade(each.nonzeros),
}


def bands(instances: Sequence[InstanceSeconds]) -> list[Band]:
    """By class, by variables and by nonzeros, rising; those that nothing is known of come last, and are nothing by themselves."""
    found = []
    for by, name_of in NAMES.items():
        sized = sorted(instances, key=lambda each: (name_of(each) == UNKNOWN, _order(by, each)))
        names = list(dict.fromkeys(name_of(each) for each in sized))
        if names != [UNKNOWN]:
            found += [_band(by, name, [each for each in instances if name_of(each) == name]) for name in names]
    return found


def _order(by: str, instance: InstanceSeconds) -> int:
    return CLASSES.index(NAMES[by](instance)) if by == "class" else int(getattr(instance, by))


def _band(by: str, name: str, instances: list[InstanceSeconds]) -> Band:
    return Band(by, name, len(instances), lead(instances), tuple(means(instances)))
