"""Rows that hold by draws, fits or laws far below their bounds: they do not show how large the bounds have to be."""

from __future__ import annotations

from simopt.claims.kinds import Evidence, Kind, Scope, Verdict
from simopt.claims.tally import RowResult

NEAR = 0.1
"""Part of a bound below which what is measured is not near it."""
RANDOM = (Kind.HIGH_PROBABILITY, Kind.IN_EXPECTATION)


def remark(row: RowResult, kind: Kind) -> str:
    """A remark that a row does not show how large its bounds have to be; empty where it comes near one, or nothing is random.

    The tightness is the largest ratio of what was measured to its bound. Below NEAR a bound with other constants, or of another order,
    could read HOLDS as well. With computed probabilities the remark speaks of the laws that were tried.
    """
    drawn = row.evidence is Evidence.STATISTICAL
    if row.verdict is not Verdict.HOLDS or row.scope is not Scope.SAMPLED or not (drawn or kind in RANDOM):
        return ""
    if row.tightness is None or row.tightness >= NEAR:
        return ""
    reached = f"at most {row.tightness:.2g} of one is reached, less than {NEAR:g}" if row.tightness > 0 else "none is reached at all"
    return f"{'draws or fits of this size' if drawn else 'the laws that were tried'} cannot tell how large a bound has to be: {reached}"
