"""The status of a sentence beside its verdict: proved, proved in words, with a gap in its proof, or open."""

from __future__ import annotations

from simopt.claims.claim import Claim
from simopt.claims.kinds import Expected, Kind, ProofStatus, Verdict
from simopt.claims.tally import RowResult

NOTHING_TO_PROVE = (Kind.DEFINITION, Kind.EXPERIMENT)


def status(claim: Claim, row: RowResult) -> ProofStatus | None:
    """The status of one row; None for what is refuted, vacuous or not run, and for definitions and experiments.

    A proof file of the whole sentence decides it. Otherwise the claim says where no proof is known, and the others are proved in words, by
    their paper or by their own text.
    """
    if row.verdict is Verdict.PROVED:
        return ProofStatus.PROVED
    if claim.expected is Expected.OPEN:
        return ProofStatus.OPEN
    if row.verdict is not Verdict.HOLDS or claim.kind in NOTHING_TO_PROVE:
        return None
    return claim.lacks(row.row) or ProofStatus.IN_WORDS
