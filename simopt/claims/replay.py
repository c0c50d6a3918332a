"""Replaying a witness file: the check of one claim on one instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simopt import __version__
from simopt.claims import catalogue, witness
from simopt.claims.check import Check
from simopt.claims.claim import Claim
from simopt.claims.enclosure import as_float
from simopt.claims.engine import check_instance
from simopt.claims.kinds import Quantifier, Verdict
from simopt.claims.tally import Tally
from simopt.claims.trial import Trial
from simopt.claims.witness import Witness
from simopt.ground.allowance import allowed
from simopt.ground.errors import NotAvailable


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


def replay(path: str | Path, time_limit: float = TIME, seen_as: Callable[[Any], Any] | None = None) -> Replay:
    """Run the check of a witness file again, on its instance only, in so many seconds and 4 GB (`simopt.ground.allowance` says where).

    A witness written by another version of simopt replays with a warning. `seen_as` maps the instance to what the check is given.

    Raises
    ------
    BadWitness
        if the file is corrupt or of an unknown format, or holds an instance that the claim cannot check within these limits.
    UnknownName
        if there is no such claim any more.
    """
    found = witness.read(path)
    claim = catalogue.find(found.claim)
    if found.row not in claim.rows:
        raise witness.BadWitness(f"{path}: claim {claim.id} does not decide row {found.row!r}; it decides {', '.join(claim.rows)}")
    trial = Trial(claim.id, found.seed, found.index, found.effort, claim.knobs)
    try:
        with allowed(time_limit, MEMORY):
            checks, _ = check_instance(claim, found.instance if seen_as is None else seen_as(found.instance), trial)
            mine = tuple(check for check in checks if (check.row or claim.id) == found.row)
            tally = Tally(claim, found.row)
            tally.add(found.instance, trial, mine)
            result = tally.result()
    except NotAvailable:
        raise
    except Exception as error:  # whatever the claim's own code says of an instance that is none of its own
        what = f"{claim.id} cannot check the instance of this file"
        raise witness.BadWitness(f"{path}: {what} ({type(error).__name__}: {error})") from error
    warning = "" if found.version == __version__ else f"written by simopt {found.version or '(unknown)'}, replayed by {__version__}"
    verdict = result.verdict
    if claim.quantifier is Quantifier.SOME and verdict is Verdict.INCONCLUSIVE and tally.refuted_instances:
        verdict = Verdict.REFUTED  # one instance cannot refute SOME, but it does fail here
    return Replay(claim, found, mine, verdict, warning)
