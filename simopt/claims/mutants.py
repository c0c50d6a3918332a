"""Mutants: the claim with an altered constant or a dropped hypothesis, which must not come out the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simopt.claims.claim import Claim
from simopt.claims.engine import Variant, run_seed
from simopt.claims.kinds import Effort, Verdict
from simopt.claims.tally import RowResult

SHARP_ENOUGH = 0.5
BEYOND = 1.1


@dataclass(frozen=True)
class MutantResult:
    """The verdicts of a mutant: at least one row must change."""

    name: str
    caught: bool
    verdicts: Mapping[str, Verdict]
    reason: str = ""


def run_mutants(claim: Claim, effort: Effort, seed: int) -> tuple[MutantResult, ...]:
    """Run every mutant of a claim under one seed, beside the claim itself under the same seed."""
    if not claim.mutants:
        return ()
    base = run_seed(claim, effort, seed).rows
    return tuple(_run_mutant(claim, name, changes, base, effort, seed) for name, changes in claim.mutants.items())


def _run_mutant(
    claim: Claim, name: str, changes: Mapping[str, Any], base: Mapping[str, RowResult], effort: Effort, seed: int
) -> MutantResult:
    factors: dict[str, float] | None = None
    if changes.get("tighten"):
        factors = {row: r.tightness / BEYOND for row, r in base.items() if r.tightness is not None and r.tightness >= SHARP_ENOUGH}
        if not factors:
            reached = max((row.tightness for row in base.values() if row.tightness is not None), default=0.0)
            reason = f"the tightness reached is {reached:.3g}; below {SHARP_ENOUGH} a tightened bound says nothing about the check"
            return MutantResult(name, False, {row: r.verdict for row, r in base.items()}, reason)
    try:
        mutated = run_seed(claim, effort, seed, Variant(name, changes, factors)).rows
    except (Exception, SystemExit) as error:
        # A mutant that breaks the code has not shown that the check can fail.
        return MutantResult(name, False, {}, f"the mutant does not run: {type(error).__name__}: {error}")
    verdicts = {row: result.verdict for row, result in mutated.items()}
    if any(result.checks and _changed(base[row].verdict, result.verdict) for row, result in mutated.items()):
        return MutantResult(name, True, verdicts)
    return MutantResult(name, False, verdicts, f"the verdict stays {base[claim.id].verdict}")


def _changed(before: Verdict, after: Verdict) -> bool:
    """Whether a mutant changed a verdict; what was refuted must hold or become empty, to be merely undecided is too cheap."""
    if before is Verdict.REFUTED:
        return after in (Verdict.HOLDS, Verdict.VACUOUS)
    return after is not before
