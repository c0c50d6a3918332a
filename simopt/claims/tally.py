"""The sum of the checks of one catalogue row under one seed, and the verdict that follows."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simopt.claims.check import Check, Outcome
from simopt.claims.claim import Claim, Instance
from simopt.claims.enclosure import as_float
from simopt.claims.input_origins import numbers
from simopt.claims.kinds import Evidence, Quantifier, Scope, Verdict, weakest
from simopt.claims.measured import Ledger, pooled
from simopt.claims.proof import Collector
from simopt.claims.trial import Trial
from simopt.claims.witness import Witness, bulk, size


@dataclass(frozen=True)
class RowResult:
    """Verdict on one catalogue row."""

    row: str
    verdict: Verdict
    evidence: Evidence | None = None
    scope: Scope | None = None
    checks: int = 0
    instances: int = 0
    worst_slack: float | None = None
    tightness: float | None = None
    reason: str = ""
    witness: Witness | None = None
    proof: Collector | None = None
    measured: Mapping[str, Any] | None = None
    where: str = ""  # conditions of what is proved in symbols: what is divided by is not zero
    remains: str = ""  # what the proof file leaves to be shown, where it holds steps of a proof
    computed: str = ""  # inputs of the proof file that are no data of the instances

    @property
    def filed(self) -> bool:
        """Whether a proof file belongs to the verdict: of the whole sentence, or of steps."""
        return self.proof is not None and (self.verdict is Verdict.PROVED or self.evidence is Evidence.EXACT_STEPS)


class Tally:
    """Running account of one row: counts, extremes, the smallest witness, and the formulas for a proof."""

    def __init__(self, claim: Claim, row: str, *, quantifier: Quantifier | None = None) -> None:
        self.claim = claim
        self.row = row
        self.quantifier = quantifier or claim.quantifier
        self.counts = dict.fromkeys(Outcome, 0)
        self.instances = 0
        self.refuted_instances = 0
        self.evidence = Evidence.EXACT
        self.worst_slack: float | None = None
        self.tightness: float | None = None
        self.undecided = ""
        self.lone_sample = False
        self.refutation: tuple[tuple[int, tuple[int, int], float], Witness, Evidence] | None = None
        self.example: tuple[tuple[int, int, float], Witness, Evidence, Collector] | None = None
        self.varied = False
        self.serving: dict[str, bool] = {}  # values of the constants that the sentence says exist -> whether no instance defeats them
        self.proof = Collector(symbols_only=not claim.exhaustive, remains=claim.left(row), says=claim.says)
        self.ledger = Ledger(largest_slack=self.quantifier is Quantifier.SOME)

    def add(self, instance: Instance, trial: Trial, checks: Sequence[Check]) -> None:
        """Take the checks of this row on one more instance."""
        if not checks:
            return
        self.instances += 1
        outcomes = [check.outcome(self.claim.resolution) for check in checks]
        for check, outcome in zip(checks, outcomes, strict=True):
            self.counts[outcome] += 1
            self.evidence = weakest(self.evidence, check.evidence)
            self._measure(check, outcome)
            self.ledger.add(check, outcome)
            if outcome is Outcome.UNDECIDED and not self.undecided:
                self.undecided = f"{check.name or 'a check'}: slack in [{as_float(check.low):.3g}, {as_float(check.high):.3g}] is undecided"
        if self.quantifier is Quantifier.ALL:
            self._state(instance, checks)
        refuted = [check for check, outcome in zip(checks, outcomes, strict=True) if outcome is Outcome.REFUTED]
        if self.claim.constants:
            self._serve(instance, not refuted)
        if refuted:
            self.refuted_instances += 1
            self._refute(instance, trial, min(refuted, key=lambda check: (check.evidence.rank, check.low)))
        elif self.quantifier is Quantifier.SOME and all(outcome is Outcome.SATISFIED for outcome in outcomes):
            self._exhibit(instance, trial, checks)

    def _serve(self, instance: Instance, holds: bool) -> None:
        """Enter whether the instance leaves its constants standing; one that has none stands for all, as "" does."""
        names = [name for name in self.claim.constants if name in instance]
        values = ", ".join(f"{name} = {instance[name]}" for name in names)
        self.serving[values] = self.serving.get(values, True) and holds

    def _state(self, instance: Instance, checks: Sequence[Check]) -> None:
        """Collect the formulas. Those in free symbols stand for instances that are only samples if all samples give the same ones."""
        before = self.proof.formulas
        data = numbers(instance) if self.proof.complete else frozenset()
        for check in checks:
            self.proof.add(check, data)
        self.lone_sample = self.instances == 1 and bool(instance)
        self.varied |= self.instances > 1 and self.proof.formulas > before

    def _measure(self, check: Check, outcome: Outcome) -> None:
        if outcome is Outcome.VACUOUS or (check.boolean and outcome is not Outcome.REFUTED):
            return
        slack = as_float(check.low)
        if math.isfinite(slack):
            self.worst_slack = slack if self.worst_slack is None else min(self.worst_slack, slack)
        if check.tightness is not None:
            ratio = min(check.tightness, 1.0)
            self.tightness = ratio if self.tightness is None else max(self.tightness, ratio)

    def _refute(self, instance: Instance, trial: Trial, worst: Check) -> None:
        key = (worst.evidence.rank, bulk(instance), as_float(worst.low))
        if self.refutation is None or key < self.refutation[0]:
            self.refutation = key, self._witness(instance, trial, worst, Outcome.REFUTED), worst.evidence

    def _exhibit(self, instance: Instance, trial: Trial, checks: Sequence[Check]) -> None:
        weak = max(checks, key=lambda check: check.evidence.rank)
        key = (weak.evidence.rank, size(instance), -min(as_float(check.low) for check in checks))
        if self.example is None or key < self.example[0]:
            proof = Collector(remains=self.claim.left(self.row), says=self.claim.says)
            data = numbers(instance)
            for check in checks:
                proof.add(check, data)
            lowest = min(checks, key=lambda check: check.low)
            self.example = key, self._witness(instance, trial, lowest, Outcome.SATISFIED), weak.evidence, proof

    def _witness(self, instance: Instance, trial: Trial, check: Check, outcome: Outcome) -> Witness:
        kept = copy.deepcopy(instance)  # generators may reuse their arrays
        return Witness(self.claim.id, self.row, *trial.origin, kept, as_float(check.low), check.name, outcome.value)

    def result(self, accessed: frozenset[str] = frozenset()) -> RowResult:
        """Verdict of this seed; PROVED is awarded later, when the proof file has been accepted.

        Exhaustive is what is declared so and seen to be so: `accessed` names what the instances or the checks depend on besides, seed or
        effort.
        """
        total = sum(self.counts.values())
        plain = RowResult(
            self.row, Verdict.INCONCLUSIVE, self.evidence, Scope.SAMPLED, total, self.instances, self.worst_slack, self.tightness,
            measured=self.ledger.document(),
        )  # fmt: skip
        if total == 0:
            return replace(plain, evidence=None, scope=None, reason="no check decides this row")
        if self.counts[Outcome.VACUOUS] == total:
            return replace(plain, verdict=Verdict.VACUOUS, scope=_scope(self.claim.exhaustive and not accessed))
        return self._some(plain, accessed) if self.quantifier is Quantifier.SOME else self._all(plain, accessed)

    def _all(self, plain: RowResult, accessed: frozenset[str]) -> RowResult:
        if self.refutation is not None and (serves := self._serves()):
            return replace(plain, reason=serves)
        if self.refutation is not None:
            _, witness, evidence = self.refutation
            return replace(plain, verdict=Verdict.REFUTED, evidence=evidence, scope=Scope.WITNESS, witness=witness)
        if self.counts[Outcome.UNDECIDED]:
            return replace(plain, reason=f"{self.undecided} ({self.counts[Outcome.UNDECIDED]} of {plain.checks} checks)")
        proof = self.proof if self.proof.complete else None
        general = proof is not None and not (proof.numeric or self.varied or self.lone_sample)  # one formula in symbols for every sample
        exhaustive = (self.claim.exhaustive or general) and not accessed
        if proof is not None and proof.states_claim and not exhaustive:
            proof = None  # samples of a sentence are no proof of it; samples of a step are what they are
        doubt = f"not all there are: the instances or the checks ask for {', '.join(f'trial.{name}' for name in sorted(accessed))}"
        reason = doubt if self.claim.exhaustive and accessed else self.proof.refused
        return replace(plain, verdict=Verdict.HOLDS, scope=_scope(exhaustive), proof=proof, reason=reason)

    def _serves(self) -> str:
        """Why what was refuted does not refute the sentence: a value of its constants that no instance defeats, or none was tried."""
        if not self.claim.constants:
            return ""
        if not self.serving.get("", True):
            return "an instance without constants fails: a step of the refutation, and not the sentence"
        tried = {values: serves for values, serves in self.serving.items() if values}
        standing = next((values for values, serves in tried.items() if serves), "")
        return f"{standing} serves on every instance tried" if standing else "" if tried else "no value of the constants was tried"

    def _some(self, plain: RowResult, accessed: frozenset[str]) -> RowResult:
        if self.example is not None:
            _, witness, evidence, proof = self.example
            found = replace(plain, verdict=Verdict.HOLDS, evidence=evidence, scope=Scope.WITNESS, witness=witness)
            return replace(found, worst_slack=witness.slack, proof=proof if proof.complete else None, reason=proof.refused)
        searched = self.claim.exhaustive and not accessed
        if searched and self.refuted_instances == self.instances and self.refutation is not None:
            return replace(plain, verdict=Verdict.REFUTED, scope=Scope.EXHAUSTIVE, witness=self.refutation[1])
        return replace(plain, reason=f"none of {self.instances} instances satisfies every check, and the search was not exhaustive")


def _scope(exhaustive: bool) -> Scope:
    return Scope.EXHAUSTIVE if exhaustive else Scope.SAMPLED


def merge(results: Sequence[tuple[int, RowResult]]) -> RowResult:
    """One result from those of several seeds: the verdicts must agree, otherwise it is INCONCLUSIVE and says which seed said what.

    A witness with rigorous evidence needs no agreement: one counterexample refutes a statement about all, whatever other seeds met, and one
    example proves a statement about some.
    """
    rows = [result for _, result in results]
    decisive = [row for row in rows if row.scope is Scope.WITNESS and row.evidence is not None and row.evidence.rigorous]
    first = (decisive or rows)[0]
    slacks = [row.worst_slack for row in rows if row.worst_slack is not None]
    ratios = [row.tightness for row in rows if row.tightness is not None]
    merged = replace(
        first,
        checks=sum(row.checks for row in rows),
        instances=sum(row.instances for row in rows),
        worst_slack=min(slacks, default=None),
        tightness=max(ratios, default=None),
        reason=first.reason if decisive else next((row.reason for row in rows if row.reason), ""),
        witness=_smallest(rows),
        measured=pooled([row.measured for row in rows if row.measured is not None]),
    )
    if len({row.verdict for row in rows}) > 1 and not decisive:
        said = ", ".join(f"seed {seed}: {row.verdict}" for seed, row in results)
        evidence = weakest(*(row.evidence for row in rows if row.evidence is not None))
        return replace(merged, verdict=Verdict.INCONCLUSIVE, evidence=evidence, scope=Scope.SAMPLED, proof=None, reason=said)
    found = [row.evidence for row in rows if row.evidence is not None]
    if len(rows) > 1 and found:  # the witness is one with the strongest evidence; what all seeds say together is as strong as the weakest
        evidence = min(found, key=lambda each: each.rank) if first.scope is Scope.WITNESS else weakest(*found)
        merged = replace(merged, evidence=evidence)
    return merged


def _smallest(rows: Sequence[RowResult]) -> Witness | None:
    """The smallest of the witnesses with the strongest evidence."""
    found = [(row.evidence.rank, bulk(row.witness.instance), row.witness) for row in rows if row.witness and row.evidence]
    return min(found, key=lambda entry: entry[:2], default=(0, (0, 0), None))[2]
