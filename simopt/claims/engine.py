"""One claim under one seed: its instances, checks, draws and attack, and what they say about every row."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.claims.attack import attack, relative_slack
from simopt.claims.check import Check, DrawnCheck
from simopt.claims.claim import Claim, Instance, InvalidClaim
from simopt.claims.kinds import Effort, Quantifier
from simopt.claims.statistics import Pool
from simopt.claims.tally import RowResult, Tally
from simopt.claims.trial import Trial
from simopt.core.arrays import Array

GENERATOR = -1  # index of the trial that the generator of instances gets
SEARCH = -3  # index of the trial that scatters the points of an attack
ATTACK = -2  # index of the trials of an attack: the same random numbers at every point


@dataclass(frozen=True)
class Variant:
    """A claim as it is run: its own knobs and instances, or those of a mutant."""

    name: str = ""
    changes: Mapping[str, Any] | None = None
    factors: Mapping[str, float] | None = None  # bounds of a row are multiplied by this

    def knobs(self, claim: Claim) -> dict[str, Any]:
        """Knobs of the claim, altered."""
        return dict(claim.knobs) | {key: value for key, value in (self.changes or {}).items() if key in claim.knobs}

    def pick(self, claim: Claim, part: str) -> Any:
        """Return the `instances` or `decode` of the variant; other instances come without the claim's own attack."""
        changes = self.changes or {}
        if part in changes:
            return changes[part]
        return None if part == "decode" and "instances" in changes else getattr(claim, part)


ORIGINAL = Variant()


@dataclass(frozen=True)
class SeedRun:
    """Results of one seed, and what was asked of its trials that depends on the seed or the effort."""

    rows: Mapping[str, RowResult]
    accessed: frozenset[str]

    @property
    def random(self) -> bool:
        """Whether another seed may give other results."""
        return not self.accessed.isdisjoint({"rng", "seed"})


def run_seed(claim: Claim, effort: Effort, seed: int, variant: Variant = ORIGINAL) -> SeedRun:
    """Run a claim, or a mutant of it, under one seed. Exceptions of the claim pass through."""
    session = _Session(claim, effort, seed, variant)
    session.instances()
    session.attack()
    accessed = frozenset(session.accessed)
    return SeedRun({row: tally.result(accessed) for row, tally in session.tallies.items()}, accessed)


def check_instance(claim: Claim, instance: Instance, trial: Trial, spent: int = 0) -> tuple[list[Check], int]:
    """Run the verdict code on one instance, to its end; draws are pooled, and their loops end when their groups are decided.

    Returns
    -------
    The checks, and the number of groups of draws.
    """
    pool = Pool(spent)
    trial.pool = pool
    checks: list[Check] = []
    for check in claim.checks(copy.deepcopy(instance), trial):  # what the claim does to it must not reach the witness
        if not isinstance(check, Check):
            raise InvalidClaim(f"claim {claim.id}: checks are yielded one by one (yield from …), got {type(check).__name__}")
        if check.row and check.row not in claim.rows:
            raise InvalidClaim(f"claim {claim.id}: a check names row {check.row!r}, which is not among the rows it covers")
        if not isinstance(check, DrawnCheck):
            checks.append(check)
        elif pool.loops:
            pool.add(check)
        else:
            raise InvalidClaim(f"claim {claim.id}: draw in a loop `for _ in trial.draws(100_000):`, which ends when the draws decide")
    return checks + pool.checks(), len(pool.groups)


class _Session:
    """One claim under one seed: the tallies of its rows, filled by its instances and by the attack."""

    def __init__(self, claim: Claim, effort: Effort, seed: int, variant: Variant) -> None:
        self.claim, self.effort, self.seed, self.variant = claim, effort, seed, variant
        self.knobs = variant.knobs(claim)
        self.tallies = {row: Tally(claim, row) for row in claim.rows}
        self.groups = 0
        self.accessed: set[str] = set()

    def trial(self, index: int) -> Trial:
        """Trial of one instance."""
        return Trial(self.claim.id, self.seed, index, self.effort, self.knobs, self.variant.name)

    def instances(self) -> None:
        """Run every instance of the claim, or of its mutant."""
        maker = self.trial(GENERATOR)
        for index, instance in enumerate(self.variant.pick(self.claim, "instances")(maker)):
            self.take(instance, self.trial(index))
        self.accessed |= maker.accessed

    def take(self, instance: Instance, trial: Trial) -> list[Check]:
        """Check one instance and enter the result under the rows that its checks name."""
        checks, groups = check_instance(self.claim, instance, trial, self.groups)
        self.groups += groups
        self.accessed |= trial.accessed
        by_row: dict[str, list[Check]] = {}
        for check in checks:
            row = check.row or self.claim.id
            factor = (self.variant.factors or {}).get(row)
            by_row.setdefault(row, []).append(check if factor is None else check.tightened(factor))
        for row, mine in by_row.items():
            self.tallies[row].add(instance, trial, mine)
        return checks

    def attack(self) -> None:
        """Search the cube for the instance with the least slack (SOME: the most), if the claim says how to decode it."""
        decode = self.variant.pick(self.claim, "decode")
        if decode is None:
            return
        searcher = self.trial(SEARCH)
        sign = -1.0 if self.claim.quantifier is Quantifier.SOME else 1.0

        def objective(point: Array) -> float:
            trial = self.trial(ATTACK)
            instance = decode(np.array(point), trial)
            if instance is None:
                return math.inf
            return sign * relative_slack(self.take(instance, trial))

        dimension = (self.variant.changes or {}).get("dimension", self.claim.dimension)
        budget = searcher.count(*self.claim.evaluations)
        attack(objective, dimension, budget, searcher.rng)
        self.accessed |= searcher.accessed
