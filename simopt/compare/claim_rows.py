"""What solvers claimed, an instance counting once: the claim, the verdict on it, and the certified bounds beside it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from simopt.compare.record import CLAIM, Record
from simopt.compare.solver_claims import FALSE, NOT_PROVEN, TRUE
from simopt.compare.statistics import by_setting, worst_claim

VERDICTS = (FALSE, NOT_PROVEN, TRUE)
OWN = ("claimed", "claimed_value", "claim_tolerance", "claim_gap", "claim_verdict")  # parts of a claim with a field of their own here


@dataclass(frozen=True)
class ClaimRow:
    """The claim of a solver on an instance; of its runs the first with the worst verdict.

    Attributes
    ----------
    instance, machine, solver, claimed, verdict : str
        whose claim it is, and what became of it.
    value, tolerance, gap : float
        the optimum that is claimed, the accuracy that the solver documents, the certified relative gap where it stopped.
    lower, upper : float
        the best bounds on the optimum that any run on the instance certified.
    evidence : tuple of (name, text)
        what else the record has about the claim.
    """

    instance: str
    machine: str
    solver: str
    claimed: str
    verdict: str
    value: float
    tolerance: float
    gap: float
    lower: float
    upper: float
    evidence: tuple[tuple[str, str], ...] = ()


def claim_rows(records: Sequence[Record]) -> list[ClaimRow]:
    """The false claims first, then those not proven, then the true ones; else in the order of the instances."""
    found = []
    for (instance, machine), solvers in by_setting(records).items():
        bounds = certified_bounds([run for runs in solvers.values() for run in runs])
        for name, runs in solvers.items():
            if (run := worst_claim(runs)) is not None:
                numbers = run.claimed_value, run.claim_tolerance, run.claim_gap
                found.append(ClaimRow(instance, machine, name, run.claimed, run.claim_verdict, *numbers, *bounds, _evidence(run)))
    return sorted(found, key=lambda row: VERDICTS.index(row.verdict))


def certified_bounds(runs: Sequence[Record]) -> tuple[float, float]:
    """The largest lower and the smallest upper bound of some runs on one instance, infinite where there is none."""
    lower = max((run.lower for run in runs if not math.isnan(run.lower)), default=-math.inf)
    return lower, min((run.upper for run in runs if not math.isnan(run.upper)), default=math.inf)


def _evidence(run: Record) -> tuple[tuple[str, str], ...]:
    names = [name for name in CLAIM if name not in OWN]
    values = {item.name: getattr(run, item.name) for item in dataclasses.fields(run) if item.name in names}
    known = {name: value for name, value in values.items() if value and value == value}  # nan is not known
    return tuple((name.replace("_", " "), f"{value:g}" if isinstance(value, float) else str(value)) for name, value in known.items())
