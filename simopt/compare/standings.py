"""Each solver over all instances of one machine, in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from simopt.compare import statistics
from simopt.compare.claim_rows import claim_rows
from simopt.compare.instance_seconds import lead, with_optimum
from simopt.compare.means import SHIFTS, means
from simopt.compare.profiles import performance
from simopt.compare.record import Record
from simopt.compare.solver_claims import FALSE, NOT_PROVEN

WITHIN = (2.0, 10.0)  # times the least seconds


@dataclass(frozen=True)
class Standing:
    """One solver over instances.

    Attributes
    ----------
    solver : str
        its name with its options.
    instances, certified, fastest : int
        those that have an optimum: on which it was run, on which half of its runs were certified, and on which it leads alone.
    runs, successes : int
        its runs, and those that were certified.
    compared, failures : int
        the instances on which all solvers that are compared over instances were run, and its failures there; 0 if it is none of them.
    means : tuple of float
        shifted geometric means there, for the shifts of `means.SHIFTS`; nan if it is none of them.
    within : tuple of float
        the fraction of these instances on which it takes at most 2 and 10 times the least seconds.
    false_claims, unproven_claims : int
        instances on which it claimed what is false, or not proven.
    """

    solver: str
    instances: int
    certified: int
    fastest: int
    runs: int
    successes: int
    compared: int
    failures: int
    means: tuple[float, ...]
    within: tuple[float, ...]
    false_claims: int
    unproven_claims: int


def standings(records: Sequence[Record]) -> list[Standing]:
    """A row for each solver of the runs of one machine, in the order in which they come first."""
    instances = with_optimum(records)
    rows = {each.solver: each for each in means(instances)}
    profiles = {each.solver: each for each in performance(instances)}
    leads, claims = lead(instances), [(row.solver, row.verdict) for row in claim_rows(records)]
    found = []
    for name, (successes, runs) in statistics.success_rates(records).items():
        own = [each.seconds[name] for each in instances if name in each.seconds]
        row, profile = rows.get(name), profiles.get(name)
        found.append(
            Standing(
                name,
                len(own),
                sum(math.isfinite(seconds) for seconds in own),
                leads.get(name, 0),
                runs,
                successes,
                0 if row is None else row.instances,
                0 if row is None else row.failures,
                (math.nan,) * len(SHIFTS) if row is None else row.means,
                tuple(math.nan if profile is None or not profile.instances else profile.at(ratio) for ratio in WITHIN),
                claims.count((name, FALSE)),
                claims.count((name, NOT_PROVEN)),
            )
        )
    return found
