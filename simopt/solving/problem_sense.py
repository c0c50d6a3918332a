"""Bounds in the sense of the problem as written.

`Declared` minimises −f where the problem maximises f. Bounds on min −f become those on max f, so that lower ≤ optimum ≤ upper always holds.
"""

from __future__ import annotations

import math
from dataclasses import replace

from simopt.arithmetic import BY_NAME
from simopt.certificates.assessment import Assessment
from simopt.certificates.certificate import Certificate
from simopt.duality.declared import Declared
from simopt.solving.remedies import remedy
from simopt.solving.solution import Sample


def in_sense(declared: Declared, bounds: Certificate) -> Certificate:
    """Bounds on the minimum, in the problem's sense."""
    return bounds.of_the_maximum() if declared.maximises else bounds


def sample_in_sense(declared: Declared, sample: Sample) -> Sample:
    """A sample of the minimum, in the problem's sense."""
    return replace(sample, lower=-sample.upper, upper=-sample.lower) if declared.maximises else sample


def infinite_bounds(declared: Declared, upper: float, lower: float, multipliers_from: str, arithmetic: str, message: str) -> Certificate:
    """Bounds on the minimum that are infinite, in the problem's sense."""
    size = math.inf  # of the gap in every measure, of the scale, and of what has to be repaired
    bounds = Certificate(upper, lower, size, size, size, size, size, multipliers_from, arithmetic, open=message)
    return in_sense(declared, bounds)


def explained(declared: Declared, best: Assessment, tol: float) -> Certificate:
    """Bounds in the problem's sense, with the reason where they do not close."""
    bounds = best.certificate
    settled = bounds.closes(tol) or bounds.infeasible or bounds.unbounded
    return in_sense(declared, replace(bounds, open="" if settled else bounds.open or _why(declared, best, tol)))


def _why(declared: Declared, best: Assessment, tol: float) -> str:
    num = BY_NAME[best.certificate.arithmetic]
    reasons = declared.open(best.multipliers or {}, declared.restore(best.point, num), num)
    if not reasons:
        near = f" ({best.certificate.reading})" if best.certificate.reading else ""
        return f"the gap is above {tol:g} of max(|lower|, |upper|){near}; values and multipliers of a tighter solve would help"
    return "; ".join(reason + remedy(reason) for reason in reasons)
