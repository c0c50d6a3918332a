"""Instances on one machine with the median seconds of every solver: what all statistics over instances are made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from simopt.compare import statistics
from simopt.compare.endings import no_optimum, refuses
from simopt.compare.record import Record

TIE = 1.1  # medians of two solvers that differ by no more than this factor are level, whatever their rounds say


@dataclass(frozen=True)
class InstanceSeconds:
    """One instance on one machine.

    Attributes
    ----------
    instance, machine : str
        in words.
    seconds : mapping
        by solver the median seconds, set-up included, until the gap was certified; ∞ where half of the runs or more did not get there.
        A solver that cannot take the problem has none: it was not run on it.
    limit : float
        the time limit in seconds, as which a failure counts.
    problem_class : str
        LP, QP, SOCP, SDP, exponential, power or mixed; "" where no run knows it.
    variables, nonzeros : int
        of the declaration, and of the cone programme that it becomes; 0 where no run knows them.
    no_optimum : str
        "infeasible" or "unbounded" where a solver claimed this and it is proven: there is no gap to certify then; "" else.
    relaxed_gap : float
        of a problem with integers that no run closed the least relative gap between an integer point and the relaxation; nan else.
    rounds : mapping
        by solver its seconds in each repetition, ∞ where it did not get there.
    """

    instance: str
    machine: str
    seconds: Mapping[str, float]
    limit: float
    problem_class: str = ""
    variables: int = 0
    nonzeros: int = 0
    no_optimum: str = ""
    relaxed_gap: float = math.nan
    rounds: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def is_ahead(self, name: str, other: str) -> bool:
        """Whether a solver is faster than another by more than the factor `TIE`, and in no round slower: else it may be chance."""
        own, its = self.rounds.get(name, {}), self.rounds.get(other, {})
        slower = any(its[number] <= seconds < math.inf for number, seconds in own.items() if number in its)
        return TIE * self.seconds[name] < self.seconds[other] and not slower

    @property
    def best(self) -> float:
        """The least seconds; ∞ where no solver got there."""
        return min(self.seconds.values(), default=math.inf)

    @property
    def leaders(self) -> tuple[str, ...]:
        """The solver of the least seconds and those that it is not ahead of: one is fastest, several are level; none if none got there."""
        if not math.isfinite(self.best):
            return ()
        first = min(self.seconds, key=lambda name: self.seconds[name])
        level = (name for name, seconds in self.seconds.items() if math.isfinite(seconds) and not self.is_ahead(first, name))
        return tuple(level)


def instance_seconds(records: Sequence[Record], gap: float | None = None) -> list[InstanceSeconds]:
    """The instances of all machines, with times to `gap`, or to the tolerance that each was run to."""
    found = []
    for (instance, machine), solvers in statistics.by_setting(records).items():
        runs = [run for each in solvers.values() for run in each]
        target = runs[0].cell.tol if gap is None else gap
        found.append(
            InstanceSeconds(
                instance,
                machine,
                {name: _sane(statistics.typical(each, target)) for name, each in solvers.items() if not refuses(each)},
                runs[0].cell.time_limit,
                next((run.problem_class for run in runs if run.problem_class), ""),
                next((run.variables for run in runs if run.variables), 0),
                next((run.nonzeros for run in runs if run.nonzeros), 0),
                no_optimum(runs),
                _relaxed_gap(runs),
                {name: {run.cell.repetition: _sane(run.time_to(target)) for run in each} for name, each in solvers.items()},
            )
        )
    return found


def with_optimum(records: Sequence[Record], gap: float | None = None) -> list[InstanceSeconds]:
    """As `instance_seconds`, without instances that are proven to be infeasible or unbounded: no statistic over instances has them."""
    return [each for each in instance_seconds(records, gap) if not each.no_optimum]


def _relaxed_gap(runs: Sequence[Record]) -> float:
    if not runs[0].cell.has_integers or any(run.success for run in runs):
        return math.nan
    return min((run.relative_gap for run in runs if not math.isnan(run.relative_gap)), default=math.nan)


def _sane(seconds: float) -> float:
    """What no clock has shown, as it may stand in a file from elsewhere, counts as a failure."""
    return seconds if seconds >= 0 else math.inf


def solvers_of(instances: Sequence[InstanceSeconds]) -> list[str]:
    """All solvers of some instances, in the order in which they come first."""
    return list(dict.fromkeys(name for each in instances for name in each.seconds))


def lead(instances: Sequence[InstanceSeconds]) -> dict[str, int]:
    """By solver the instances on which it is the fastest, ahead of all others; solvers that lead nowhere have 0."""
    counts = Counter(each.leaders[0] for each in instances if len(each.leaders) == 1)
    return {name: counts[name] for name in solvers_of(instances)}


def common(instances: Sequence[InstanceSeconds]) -> tuple[list[str], list[InstanceSeconds]]:
    """Solvers, and instances on which all of them were run: only there can means and profiles be compared.

    The solvers are the k that were run on most instances. Of k = 2, 3, … it is the one for which k times the number of common instances is
    largest, and the larger k where two are equal.
    """
    names = solvers_of(instances)
    order = sorted(names, key=lambda name: (-sum(name in each.seconds for each in instances), name))
    best: tuple[int, list[str], list[InstanceSeconds]] = (-1, order, [])
    for k in range(min(2, len(order)), len(order) + 1):
        chosen = set(order[:k])
        block = [each for each in instances if chosen <= set(each.seconds)]
        if k * len(block) >= best[0]:
            best = (k * len(block), order[:k], block)
    return [name for name in names if name in best[1]], best[2]
