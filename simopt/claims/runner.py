"""Running claims: seeds, mutants, and the verdict on every row a claim decides."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from simopt import recheck
from simopt.claims import catalogue, looseness, proof, quantified
from simopt.claims.claim import Claim
from simopt.claims.engine import GENERATOR, SeedRun, run_seed
from simopt.claims.kinds import Effort, Evidence, Verdict
from simopt.claims.mutants import MutantResult, run_mutants
from simopt.claims.tally import RowResult, merge
from simopt.claims.trial import Trial
from simopt.core.errors import MissingDataset, NotAvailable

SEEDS = {Effort.QUICK: 1, Effort.FULL: 5}


@dataclass(frozen=True)
class ClaimResult:
    """Outcome of one claim: the verdict on its own row, on every row it covers, and what its mutants did."""

    claim: Claim
    rows: Mapping[str, RowResult]
    seconds: float
    seeds: tuple[int, ...]
    effort: Effort
    mutants: tuple[MutantResult, ...] = ()
    trace: str = ""

    def __str__(self) -> str:
        """A line a row, with its witness or the reason of its verdict, and a line a mutant."""
        lines = []
        for row in self.rows.values():
            lines.append(f"{row.row}: {row.verdict}" + (f" ({row.evidence}, {row.checks} checks)" if row.evidence else ""))
            lines[-1] += "" if row.tightness is None else f", tightness {row.tightness:.3f}"
            lines[-1] += f": {row.reason}" if row.reason else ""
            lines += [f"  where {row.where}"] if row.where else []
            lines += [f"  computed: {row.computed}"] if row.computed else []
            lines += [f"  remains: {row.remains}"] if row.remains else []
            lines += [f"  {doubt}"] if (doubt := looseness.remark(row, self.claim.kind)) else []
            if row.witness is not None:
                seen = row.witness
                lines.append(
                    f"  witness: instance {seen.index} of seed {seen.seed}, {seen.check or 'its check'}, slack {float(seen.slack):.3g}"
                )
        lines += [f"  mutant {each.name!r}: {'caught' if each.caught else f'NOT CAUGHT, {each.reason}'}" for each in self.mutants]
        return "\n".join([*lines, self.trace] if self.trace else lines)

    @property
    def own(self) -> RowResult:
        """Result of the claim's own row."""
        return self.rows[self.claim.id]

    @property
    def verdict(self) -> Verdict:
        """Verdict on the claim's own row."""
        return self.own.verdict

    @property
    def ok(self) -> bool:
        """Whether every row came out as expected and every mutant that was run changed the verdict."""
        return all(self.claim.met_by(row.verdict) for row in self.rows.values()) and all(mutant.caught for mutant in self.mutants)


def run(
    claim: Claim | str, *, effort: Effort | str = Effort.QUICK, seed: int = 0, seeds: Sequence[int] | None = None, mutants: bool = False
) -> ClaimResult:
    """Run one claim and return the verdict on each of its rows.

    Quick effort runs the one seed, full effort five from `seed` on; a claim that asks for no randomness is run once. An exception in the
    claim's own code becomes Verdict.ERROR with the trace; missing data or modules become NOT_RUN with the reason.
    """
    found = catalogue.find(claim) if isinstance(claim, str) else claim
    effort = Effort(effort)
    planned = tuple(seeds) if seeds is not None else tuple(range(seed, seed + SEEDS[effort]))
    if not planned:
        raise ValueError("run: at least one seed is needed")
    start = time.perf_counter()
    done: list[tuple[int, SeedRun]] = []
    try:
        require(found, effort)
        for each in planned:
            done.append((each, run_seed(found, effort, each)))
            if not done[-1][1].random:
                break
        rows = {row: award(found, merge([(each, result.rows[row]) for each, result in done])) for row in found.rows}
    except NotAvailable as missing:
        return stopped(found, Verdict.NOT_RUN, str(missing), effort, planned, time.perf_counter() - start)
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        return stopped(found, Verdict.ERROR, reason, effort, planned, time.perf_counter() - start, traceback.format_exc())
    seeds_run = tuple(each for each, _ in done)
    result = ClaimResult(found, rows, time.perf_counter() - start, seeds_run, effort)
    if mutants:
        result = replace(result, mutants=run_mutants(found, effort, planned[0]), seconds=time.perf_counter() - start)
    return result


def award(claim: Claim, row: RowResult) -> RowResult:
    """Turn HOLDS into PROVED if the evidence is rigorous, nothing was left out, and `recheck` accepts the proof.

    If statements of the file are steps, HOLDS stays, by exact steps, and says what remains. Steps they are, too, where the sentence
    speaks of every n and no formula has n as a symbol.
    """
    if row.verdict is not Verdict.HOLDS or row.proof is None or row.evidence is None or not row.evidence.rigorous:
        return row
    found = row.proof
    if not found.left and (letters := quantified.unstated(claim.says, found.symbols)):
        found = found.as_steps(quantified.remains(letters))
    document = proof.document(claim, row.row, str(row.scope), found, "")
    try:
        proof.examine(document)
    except recheck.Refuted as error:  # its word stands: one of the two computes wrongly
        return replace(row, verdict=Verdict.ERROR, proof=None, reason=f"recheck finds false what the engine held: {error}")
    except (recheck.Rejected, recheck.Unreadable) as error:
        return replace(row, proof=None, reason=f"recheck does not accept the proof: {error}")
    row = replace(row, proof=found, where=proof.conditions(document["statements"]), computed=", ".join(found.computed))
    if found.left:
        return replace(row, evidence=Evidence.EXACT_STEPS, remains="; ".join(found.left))
    return replace(row, verdict=Verdict.PROVED)


def require(claim: Claim, effort: Effort = Effort.QUICK) -> None:
    """Look for everything that the claim says it requires.

    Raises
    ------
    MissingDataset
        naming all data sets that are not here.
    NotAvailable
        if a module is not installed.
    """
    from simopt.data.datasets import describe
    from simopt.data.datasets.loader import missing

    trial = Trial(claim.id, 0, GENERATOR, effort, claim.knobs)
    absent: list[str] = []
    for need in claim.requires:
        kind, _, name = need.rpartition(":")
        try:
            _ = trial.dataset(name) if kind == "dataset" else trial.require(name)
        except MissingDataset as error:
            absent += error.names
    if absent:
        raise missing(*map(describe, absent))


def failed(result: ClaimResult, error: Exception) -> ClaimResult:
    """The same claim with Verdict.ERROR on every row, for what goes wrong once its verdicts are there."""
    reason = f"{type(error).__name__}: {error}"
    rows = {name: RowResult(name, Verdict.ERROR, reason=reason) for name in result.rows}
    return replace(result, rows=rows, trace="".join(traceback.format_exception(error)))


def stopped(
    claim: Claim, verdict: Verdict, reason: str, effort: Effort, seeds: tuple[int, ...], seconds: float, trace: str = ""
) -> ClaimResult:
    """The result of a claim that came to no verdict of its own."""
    rows = {row: RowResult(row, verdict, reason=reason) for row in claim.rows}
    return ClaimResult(claim, rows, seconds, seeds, effort, trace=trace)
