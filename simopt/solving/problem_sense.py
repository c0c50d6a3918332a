"""Bounds in the sense of the problem as written.

`Declared` minimises −f where the problem maximises f. Bounds on min −f become those on max f, so that lower ≤ optimum ≤ upper always holds.
"""

from __future__ import annotations

import math
from dataclasses import replace

from simopt.arithmetic import BY_NAME, Arithmetic
from simopt.certificates.assessment import Assessment
from simopt.certificates.certificate import Certificate
from simopt.duality.atoms.quadratic_form import SemidefiniteForm
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
        if indefinite := _indefinite(declared, num, best.certificate.gap):
            return f"the gap is above {tol:g} of max(|lower|, |upper|); {indefinite}"
        near = f" ({best.certificate.reading})" if best.certificate.reading else ""
        return f"the gap is above {tol:g} of max(|lower|, |upper|){near}; values and multipliers of a tighter solve would help"
    return "; ".join(reason + remedy(reason) for reason in reasons)


def _indefinite(declared: Declared, num: Arithmetic, gap: float) -> str:
    """Whether the gap may be one of convexity: forms that are not proven semidefinite cost the lower bound as much. Empty if not."""
    forms = [term.atom for term in declared.programme.terms if isinstance(term.atom, SemidefiniteForm)]
    shifts = [(form.least_eigenvalue, shift.by * shift.radius) for form in forms if (shift := form.shift(num)) is not None and shift.by]
    least, cost = min((value for value, _ in shifts), default=0.0), sum(value for _, value in shifts)
    if cost < 0.1 * gap:
        return ""
    return (
        f"a quadratic form has an eigenvalue that may be {least:.3g}, so that the problem is not proven to be convex, and the lower bound "
        f"loses up to {cost:.3g} by it (narrower bounds of the variables in it would help)"
    )
