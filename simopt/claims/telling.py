"""What statistics cannot tell: a row that holds by draws or fits that stay far below its bounds."""

from __future__ import annotations

from simopt.claims.kinds import Evidence, Verdict
from simopt.claims.tally import RowResult

NEAR = 0.1
"""Part of a bound below which what is measured is not near it."""


def remark(row: RowResult) -> str:
    """In words that the statistics of a row do not tell how large its bounds have to be; empty where they come near one.

    The tightness is the largest ratio of what was measured to its bound. Below NEAR a bound with other constants, or of another order,
    could read HOLDS as well.
    """
    if row.verdict is not Verdict.HOLDS or row.evidence is not Evidence.STATISTICAL or row.tightness is None or row.tightness >= NEAR:
        return ""
    reached = f"at most {row.tightness:.2g} of one is reached, less than {NEAR:g}" if row.tightness > 0 else "none is reached by any draw"
    return f"draws or fits of this size cannot tell how large a bound has to be: {reached}"
