"""Bounds on the optimum, and whether they close: `Certificate.closes` is the one rule of what OPTIMAL means."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

from simopt.model.gap_unit import EXCUSED, ROUNDING, ratio


@dataclass(frozen=True)
class Certificate:
    """lower ≤ optimum ≤ upper.

    Attributes
    ----------
    upper, lower : float
        value of the restored point; value of the dual at the repaired multipliers.
    gap : float
        bound on upper − optimum, evaluated without cancellation where the problem knows how. It is ∞ where a bound is not finite, or where
        this evaluation and upper − lower contradict each other: then one of the formulas is wrong, or a number overflowed. In floats, where
        the bounds are not stable and rounding may hide more than a hundredth of the scale, it is the gap that intervals prove.
    relative_gap, gap_over_upper : float
        gap / scale and gap / |upper| (0/0 = 0). For a maximum the second is gap / |lower|, as `lower` is the point's value there.
    scale : float
        max(|lower|, |upper|).
    gap_over_terms : float
        the gap as a fraction of the sizes of the objective's terms at the point; see `Problem.gap_over_terms`. Where gap / scale is
        rounding it is gap / scale, which is not smaller, and the terms are not evaluated.
    infeasibility : float
        largest |given − restored| / (1 + |restored|) over the entries of the point. Where `certify` solved a `cvxpy.Problem` anew and
        judged its own point, "given" means the values that the problem holds.
    multipliers_from : str
        "solver", "solver, moved inside", "point" or "zero", whichever gave the best bound; "none" when there was no bound.
    arithmetic : str
        arithmetic in which the bounds were evaluated.
    maximises : bool
        whether the optimum is a maximum: then `lower` is the value of the restored point and `upper` that of the dual.
    open : str
        why a bound is missing or the gap is open, and what would help, where that is known. It also reports that no point is feasible, or
        that the two formulas of the gap contradict each other. Empty otherwise.
    of : str
        what was certified of an estimator's fit: the problem and its number, and what was chosen before; else empty.
    judged : str
        the data that the bounds are about where these are not exactly the given ones, for example "gram + 3.1e-17·I"; else empty. See
        `Problem.as_certified`.

    lower = upper = ∞ means that the multipliers prove the problem infeasible (`infeasible`): the dual grows without end along them. Only a
    problem that declares `may_be_infeasible` can be proven infeasible so; elsewhere an infinite bound is an overflow.
    lower = upper = −∞ means that a `cvxpy.Problem` is proven to be `unbounded`; for a maximum these are ∞.
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

    @classmethod
    def of_bounds(cls, upper: float, lower: float, gap: float, gap_over_terms: float, *, infeasibility: float = 0.0, **rest: Any) -> Self:
        """The certificate of these bounds, with its ratios. `gap_over_terms` is that of `simopt.certificates.assessment.over_terms`."""
        scale = max(abs(lower), abs(upper))
        return cls(
            upper=upper,
            lower=lower,
            gap=gap,
            relative_gap=ratio(gap, scale),
            gap_over_upper=ratio(gap, abs(upper)),
            scale=scale,
            infeasibility=infeasibility,
            gap_over_terms=gap_over_terms,
            **rest,
        )

    @property
    def infeasible(self) -> bool:
        """Whether the dual's bound is ∞ (for a maximum −∞): no point is feasible."""
        return self.upper == -math.inf if self.maximises else self.lower == math.inf

    @property
    def unbounded(self) -> bool:
        """Whether the objective is proven to fall (for a maximum: to rise) without end on the feasible set."""
        return self.lower == math.inf if self.maximises else self.upper == -math.inf

    @property
    def value(self) -> float:
        """The objective at the restored point."""
        return self.lower if self.maximises else self.upper

    def of_the_maximum(self) -> Self:
        """Bounds on max f, from these on min −f."""
        return replace(self, lower=-self.upper, upper=-self.lower, maximises=True)

    def closes(self, tol: float) -> bool:
        """Whether both bounds are finite, and gap ≤ tol · max(|lower|, |upper|) or the gap is `rounding`."""
        finite_bounds = math.isfinite(self.upper) and math.isfinite(self.lower)
        return finite_bounds and (self.relative_gap <= tol or self.rounding)

    @property
    def rounding(self) -> bool:
        """Whether the gap is at most 1e3 · eps of the sizes of the terms at the point: it closes at any tolerance."""
        return self.gap_over_terms <= ROUNDING

    @property
    def holds_zero(self) -> bool:
        """Whether 0 lies between two distinct finite bounds, or within the gap of both: then only gap / terms is informative."""
        finite_bounds = -math.inf < self.lower and self.upper < math.inf
        return finite_bounds and self.gap > 0.0 and (self.lower <= 0.0 <= self.upper or self.scale <= self.gap < math.inf)

    @property
    def reading(self) -> str:
        """What gap / terms adds to gap / scale: that the gap is rounding, or how near to 0 the bracket is; else empty."""
        if self.infeasible or self.unbounded or not math.isfinite(self.gap) or self.gap_over_terms > EXCUSED:
            return ""
        if self.rounding and not self.relative_gap <= ROUNDING:
            return "rounding of its terms"
        return f"zero to {self.gap_over_terms:.1e} of its terms" if self.holds_zero else ""

    def __str__(self) -> str:
        status_text = "no optimum" if self.infeasible or self.unbounded else "open"
        return (
            f"{self.lower:.15g} ≤ optimum ≤ {self.upper:.15g}   gap {self.gap:.2e}   gap/scale {self.relative_gap:.2e}   "
            f"gap/terms {self.gap_over_terms:.2e}{self.reading and f' ({self.reading})'}   "
            f"gap/|{'lower' if self.maximises else 'upper'}| {self.gap_over_upper:.2e}   repaired by {self.infeasibility:.1e}   "
            f"multipliers: {self.multipliers_from}   arithmetic: {self.arithmetic}"
            + (f"   judged: the problem with {self.judged}" if self.judged else "")
            + (f"   {status_text}: {self.open}" if self.open else "")
        )
