"""Solvers two by two: who is faster how often, and by which factor."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from simopt.compare.instance_seconds import InstanceSeconds, solvers_of


@dataclass(frozen=True)
class SolverPair:
    """Two solvers over the instances on which both were run.

    Attributes
    ----------
    one, other : str
        the solvers.
    wins, losses, ties, neither : int
        instances on which the first is ahead (`InstanceSeconds.is_ahead`) or alone certified; the same of the second; on which both
        certified and neither is ahead; on which neither did.
    ratio : float
        median of t_one / t_other where both certified, taken of logarithms, so that the ratio of the exchanged pair is 1/ratio; or nan.
    """

    one: str
    other: str
    wins: int
    losses: int
    ties: int
    neither: int
    ratio: float

    @property
    def exchanged(self) -> SolverPair:
        """The same pair, the other one first."""
        return SolverPair(self.other, self.one, self.losses, self.wins, self.ties, self.neither, 1.0 / self.ratio)


def pairs(instances: Sequence[InstanceSeconds]) -> list[SolverPair]:
    """Each two solvers that were run on a common instance, once."""
    found = []
    for one, other in itertools.combinations(solvers_of(instances), 2):
        both = [each for each in instances if one in each.seconds and other in each.seconds]
        if both:
            found.append(_pair(one, other, both))
    return found


def _pair(one: str, other: str, instances: Sequence[InstanceSeconds]) -> SolverPair:
    wins, losses = (sum(each.is_ahead(*names) for each in instances) for names in ((one, other), (other, one)))
    seconds = [(each.seconds[one], each.seconds[other]) for each in instances]
    neither = sum(math.isinf(x) and math.isinf(y) for x, y in seconds)
    logarithms = [math.log(x / y) for x, y in seconds if math.isfinite(x) and math.isfinite(y) and x > 0 and y > 0]
    ratio = math.exp(statistics.median(logarithms)) if logarithms else math.nan
    return SolverPair(one, other, wins, losses, len(seconds) - wins - losses - neither, neither, ratio)
