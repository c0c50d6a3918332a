"""One claim under one seed: its instances, checks, draws and attack, and what they say about every row."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.arrays import Array
from simopt.claims.attack import attack, room
from simopt.claims.check import Check, Sample
from simopt.claims.claim import Claim, Instance, InvalidClaim
from simopt.claims.kinds import Effort, Quantifier
from simopt.claims.statistics import Pool
from simopt.claims.tally import RowResult, Tally
from simopt.claims.trial import Trial

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
    """Results of one seed, and whether anything random took part."""

    rows: Mapping[str, RowResult]
    random: bool


def run_seed(claim: Claim, effort: Effort, seed: int, variant: Variant = ORIGINAL) -> SeedRun:
    """Run a claim, or a mutant of it, under one seed. Exceptions of the claim pass through."""
    session = _Session(claim, effort, seed, variant)
    session.instances()
    session.attack()
    return SeedRun({row: tally.result() for row, tally in session.tallies.items()}, session.random)


def check_instance(claim: Claim, instance: Instance, trial: Trial, spent: int = 0) -> tuple[list[Check], int, bool]:
    """Run the verdict code on one instance; draws are pooled, and stopped when their groups are decided.

    Returns
    -------
    The checks, the number of groups of draws, and whether the trial used randomness.
    """
    pool = Pool(spent)
    checks: list[Check] = []
    stream = claim.function(copy.deepcopy(instance), trial)  # what the claim does to it must not reach the witness
    for check in stream:
        if check.row and check.row not in claim.rows:
            raise InvalidClaim(f"claim {claim.id}: a check names row {check.row!r}, which is not among the rows it covers")
        if not isinstance(check, Sample):
            if pool.groups:
                raise InvalidClaim(
                    f"claim {claim.id}: yield {check.name or 'a check'} before the draws; behind them it may never be asked for"
                )
            checks.append(check)
        elif pool.add(check):
            close = getattr(stream, "close", None)
            if close is not None:
                close()
            break
    return checks + pool.checks(), len(pool.groups), trial.random


class _Session:
    """One claim under one seed: the tallies of its rows, filled by its instances and by the attack."""

    def __init__(self, claim: Claim, effort: Effort, seed: int, variant: Variant) -> None:
        self.claim, self.effort, self.seed, self.variant = claim, effort, seed, variant
        self.knobs = variant.knobs(claim)
        self.tallies = {row: Tally(claim, row) for row in claim.rows}
        self.groups = 0
        self.random = False

    def trial(self, index: int) -> Trial:
        """Trial of one instance."""
        return Trial(self.claim.id, self.seed, index, self.effort, self.knobs, self.variant.name)

    def instances(self) -> None:
        """Run every instance of the claim, or of its mutant."""
        maker = self.trial(GENERATOR)
        for index, instance in enumerate(self.variant.pick(self.claim, "instances")(maker)):
            self.take(instance, self.trial(index))
        self.random |= maker.random

    def take(self, instance: Instance, trial: Trial) -> list[Check]:
        """Check one instance and enter the result under the rows that its checks name."""
        checks, groups, random = check_instance(self.claim, instance, trial, self.groups)
        self.groups += groups
        self.random |= random
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
            return sign * room(self.take(instance, trial))

        dimension = (self.variant.changes or {}).get("dimension", self.claim.dimension)
        budget = searcher.count(*self.claim.evaluations)
        attack(objective, dimension, budget, searcher.rng)
        self.random = True
