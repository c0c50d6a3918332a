"""Bounds on the optimum, and whether they close: the only place that decides what OPTIMAL means."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from simopt.model.gap_unit import EXCUSED, ROUNDING


@dataclass(frozen=True)
class Certificate:
    """lower ≤ optimum ≤ upper.

    Attributes
    ----------
    upper, lower : float
        value of the restored point; value of the dual at the repaired multipliers.
    gap : float
        bound on upper − optimum, evaluated without cancellation where the problem knows how; ∞ where a bound is not finite, or where this
        evaluation and upper − lower contradict each other: then one of the formulas is wrong, or a number overflowed. In floats, where
        the bounds are sensitive and rounding may have hidden more than a hundredth of the scale, the gap that intervals prove.
    relative_gap, gap_over_upper : float
        gap / scale and gap / |upper| (0/0 = 0); of a maximum gap / |lower|, which is the point's value there.
    scale : float
        max(|lower|, |upper|).
    gap_over_terms : float
        the gap as a fraction of the sizes of the objective's terms at the point; see `Problem.gap_over_terms`. Where gap / scale is
        rounding, that: it is not less, and the terms are not asked.
    infeasibility : float
        largest |given − restored| / (1 + |restored|) over the entries of the point; where `certify` solved a `cvxpy.Problem` anew and
        judged the point found, given are the values that the problem holds.
    multipliers_from : str
        "solver", "point" or "zero", whichever gave the best bound; "none" when there was no bound.
    arithmetic : str
        arithmetic in which the bounds were evaluated.
    maximises : bool
        whether the optimum is a maximum: then `lower` is the value of the restored point and `upper` that of the dual.
    open : str
        why a bound is missing or the gap is open, and what would help, where that is known; that no point is feasible; that the two
        formulas of the gap contradict each other; else empty.
    of : str
        what was certified, of an estimator's fit: the problem and its number, and what was chosen before; else empty.
    judged : str
        the data that the bounds are about where these are not quite those given, "gram + 3.1e-17·I" say; else empty. See
        `Problem.as_certified`.

    lower = upper = ∞ says that the multipliers prove the problem infeasible (`infeasible`): they are a ray along which the dual grows
    without end. Only a problem that says that it `may_be_infeasible` can be found so; elsewhere an infinite bound is an overflow.
    lower = upper = −∞ says of a `cvxpy.Problem` that it is proven to be `unbounded`; of a maximum these are ∞.
    """

    upper: float
    lower: float
    gap: float
    relative_gap: float
    gap_over_upper: float
    scale: float
    infeasibility: float
    multipliers_from: str
    arithmetic: str
    maximises: bool = False
    open: str = ""
    of: str = ""
    judged: str = ""
    gap_over_terms: float = math.inf

    @property
    def infeasible(self) -> bool:
        """Whether the dual's bound is ∞ (of a maximum −∞): no point is feasible."""
        return self.upper == -math.inf if self.maximises else self.lower == math.inf

    @property
    def unbounded(self) -> bool:
        """Whether the objective is proven to fall (of a maximum: to rise) without end where all rows hold."""
        return self.lower == math.inf if self.maximises else self.upper == -math.inf

    @property
    def value(self) -> float:
        """The objective at the restored point."""
        return self.lower if self.maximises else self.upper

    def of_the_maximum(self) -> Self:
        """From bounds on min −f those on max f."""
        return replace(self, lower=-self.upper, upper=-self.lower, maximises=True)

    def closes(self, tol: float) -> bool:
        """Whether both bounds are finite, and gap ≤ tol · max(|lower|, |upper|) or the gap is `rounding`."""
        finite_bounds = math.isfinite(self.upper) and math.isfinite(self.lower)
        return finite_bounds and (self.relative_gap <= tol or self.rounding)

    @property
    def rounding(self) -> bool:
        """Whether the gap is at most 1e3 · eps of the sizes of the terms at the point: no tolerance asks for less."""
        return self.gap_over_terms <= ROUNDING

    @property
    def holds_zero(self) -> bool:
        """Whether 0 lies between two finite bounds that are apart, or within the gap of both: then the gap tells only of terms."""
        finite_bounds = -math.inf < self.lower and self.upper < math.inf
        return finite_bounds and self.gap > 0.0 and (self.lower <= 0.0 <= self.upper or self.scale <= self.gap < math.inf)

    @property
    def reading(self) -> str:
        """What gap / terms says where gap / scale does not say it: that the gap is rounding, or how near to 0 the bracket is."""
        if self.infeasible or self.unbounded or not math.isfinite(self.gap) or self.gap_over_terms > EXCUSED:
            return ""
        if self.rounding and not self.relative_gap <= ROUNDING:
            return "rounding of its terms"
        return f"zero to {self.gap_over_terms:.1e} of its terms" if self.holds_zero else ""

    def __str__(self) -> str:
        word = "no optimum" if self.infeasible or self.unbounded else "open"
        return (
            f"{self.lower:.15g} ≤ optimum ≤ {self.upper:.15g}   gap {self.gap:.2e}   gap/scale {self.relative_gap:.2e}   "
            f"gap/terms {self.gap_over_terms:.2e}{self.reading and f' ({self.reading})'}   "
            f"gap/|{'lower' if self.maximises else 'upper'}| {self.gap_over_upper:.2e}   repaired by {self.infeasibility:.1e}   "
            f"multipliers: {self.multipliers_from}   arithmetic: {self.arithmetic}"
            + (f"   judged: the problem with {self.judged}" if self.judged else "")
            + (f"   {word}: {self.open}" if self.open else "")
        )
