"""Replaying a witness file: the check of one claim on one instance."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simopt import __version__
from simopt.claims.check import Check
from simopt.claims.claim import Claim
from simopt.claims.enclosure import as_float
from simopt.claims.engine import check_instance
from simopt.claims.isolation import isolated_process
from simopt.claims.kinds import Quantifier, Verdict
from simopt.claims.tally import Tally
from simopt.claims.trial import Trial
from simopt.claims.witness import BadWitness, Witness
from simopt.core.allowance import allowed
from simopt.core.errors import NotAvailable


@dataclass(frozen=True)
class Replay:
    """A witness run again: the checks of its row on that one instance, and whether they still say the same."""

    claim: Claim
    witness: Witness
    checks: tuple[Check, ...]
    verdict: Verdict
    warning: str = ""

    @property
    def same(self) -> bool:
        """Whether the check of the file comes out as it did, and its slack falls on the same side."""
        r = self.claim.resolution
        here = [check for check in self.checks if check.name == self.witness.check]
        now = {check.outcome(r).value for check in here if (as_float(check.low) < -r) == (self.witness.slack < -r)}
        return bool(now) if not self.witness.outcome else self.witness.outcome in now


TIME = 3600.0  # seconds that the check of one instance may take; the longest of the catalogue takes a minute
MEMORY = 1 << 32  # bytes that it may take


def replay(path: str | Path, time_limit: float = TIME) -> Replay:
    """Run the check of a witness file again, on its instance only, in so many seconds and 4 GB (`simopt.core.allowance` says where).

    It runs in a process of its own, which may die of it. A witness written by another version of simopt replays with a warning.

    Raises
    ------
    BadWitness
        if the file is corrupt or of an unknown format, or holds an instance that the claim cannot check within these limits.
    UnknownName
        if there is no such claim any more.
    """
    with replays(time_limit) as again:
        return again(path)


@contextmanager
def replays(time_limit: float = TIME) -> Iterator[Callable[[str | Path], Replay]]:
    """`replay` for many files: one process for all of them, and another one after each that it dies of."""
    with isolated_process() as process:

        def again(path: str | Path) -> Replay:
            claim, found, (checks, verdict) = process.call(_checked, path, time_limit, time_limit, MEMORY)
            warning = "" if found.version == __version__ else f"written by simopt {found.version or '(unknown)'}, replayed by {__version__}"
            return Replay(claim, found, checks, verdict, warning)

        yield again


def _checked(claim: Claim, witness: Witness, path: str, seconds: float, memory: int) -> tuple[tuple[Check, ...], Verdict]:
    """`check`, fit to be sent: a formula that is too deep for that is left out."""
    checks, verdict = check(claim, witness, path, seconds, memory)
    try:
        pickle.dumps(checks)
    except RecursionError:
        checks = tuple(replace(each, statement=None) for each in checks)
    return checks, verdict


def check(
    claim: Claim,
    witness: Witness,
    path: str,
    seconds: float = TIME,
    memory: int = MEMORY,
    seen_as: Callable[[Any], Any] | None = None,
) -> tuple[tuple[Check, ...], Verdict]:
    """The checks of the row of a witness on its instance, and their verdict, in this process. `seen_as` maps the instance to what they see.

    Raises
    ------
    BadWitness
        for an instance that the claim cannot check within these limits.
    """
    trial = Trial(claim.id, witness.seed, witness.index, witness.effort, claim.knobs)
    try:
        with allowed(seconds, memory):
            checks, _ = check_instance(claim, witness.instance if seen_as is None else seen_as(witness.instance), trial)
            mine = tuple(check for check in checks if (check.row or claim.id) == witness.row)
            tally = Tally(claim, witness.row)
            tally.add(witness.instance, trial, mine)
            result = tally.result()
    except (NotAvailable, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever the claim's own code says of an instance that is none of its own, SystemExit as well
        what = f"{claim.id} cannot check the instance of this file"
        raise BadWitness(f"{path}: {what} ({type(error).__name__}: {error})") from error
    verdict = result.verdict
    if claim.quantifier is Quantifier.SOME and verdict is Verdict.INCONCLUSIVE and tally.refuted_instances:
        verdict = Verdict.REFUTED  # one instance cannot refute SOME, but it does fail here
    return mine, verdict
