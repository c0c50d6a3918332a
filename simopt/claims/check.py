"""One measured slack against one bound on one instance, and the functions that make it.

A check is an enclosure [low, high] of its slack, positive on the side of the claim. It is satisfied to the resolution r if low ≥ −r,
refuted if high < −r, and undecided otherwise; r = 0 for exact evidence. A strict check needs low > r. The resolution is for what rounding
blurs: an exact or interval enclosure that lies wholly below zero (of a strict check: has nothing above it) refutes at any resolution.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.claims import figure
from simopt.claims.enclosure import Enclosure, NotComparable, Number, as_float, difference, enclose, entries
from simopt.claims.expression import Expr
from simopt.claims.kinds import Evidence, weakest
from simopt.claims.statement import Statement

ONE = Fraction(1)


class Outcome(StrEnum):
    """The result of one check."""

    SATISFIED = "satisfied"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"


@dataclass(frozen=True)
class Check:
    """Enclosure of one slack. `row` names the catalogue row it decides (empty: the claim's own)."""

    low: Number
    high: Number
    evidence: Evidence
    name: str = ""
    row: str = ""
    bound: float | None = None
    measured: float | None = None
    upper: bool = True  # the bound lies above what is measured
    scale: float = 1.0
    strict: bool = False
    boolean: bool = False
    empty: bool = False  # the claim says nothing here
    statement: Statement | None = None
    remains: str = ""  # what is left to be shown where the statement is a step of the proof; empty: it is (a case of) the claim itself
    drawing: figure.Figure | None = field(default=None, compare=False)  # what a plot of it needs, as plain data

    def outcome(self, resolution: float) -> Outcome:
        """Decide the check to the resolution; exact evidence is decided to zero, and rigorous evidence refutes from zero on."""
        if self.empty:
            return Outcome.VACUOUS
        if self.evidence.rigorous and (self.high < 0 or (self.strict and self.high <= 0)):
            return Outcome.REFUTED
        r = 0.0 if self.evidence is Evidence.EXACT else resolution
        if self.strict:
            if self.low > r:
                return Outcome.SATISFIED
            return Outcome.REFUTED if self.high < -r or (r == 0 and self.high <= 0) else Outcome.UNDECIDED
        if self.low >= -r:
            return Outcome.SATISFIED
        return Outcome.REFUTED if self.high < -r else Outcome.UNDECIDED

    def __bool__(self) -> bool:
        raise TypeError("a check has no truth value; yield it")

    @property
    def tightness(self) -> float | None:
        """Ratio of measured to bound, 1 where the claim is sharp; None where it has no meaning (identities, non-positive bounds)."""
        if self.bound is None or self.measured is None:
            return None
        small, large = (self.measured, self.bound) if self.upper else (self.bound, self.measured)
        if not (0 < large < float("inf")) or small < 0:
            return None
        return small / large

    def assuming(self, *hypotheses: Check) -> Check:
        """Return the check with hypotheses that its proof file states and checks on every instance; they need formulas, as it does.

        Raises
        ------
        NotComparable
            if a hypothesis fails here: the claim then says nothing about this instance, which should not have been made.
        """
        for hypothesis in hypotheses:
            if hypothesis.outcome(0.0) is not Outcome.SATISFIED:
                raise NotComparable(f"{self.name or 'check'}: the hypothesis {hypothesis.name or 'given'} fails on this instance")
        stated = tuple(h.statement for h in hypotheses if h.statement is not None)
        if self.statement is None or len(stated) < len(hypotheses):
            return replace(self, statement=None)
        return replace(self, statement=replace(self.statement, hypotheses=self.statement.hypotheses + stated))

    def __getattr__(self, name: str) -> Any:
        if name != "given":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warnings.warn("Check.given is called assuming; the old name goes with simopt 0.2", DeprecationWarning, stacklevel=2)
        return self.assuming

    def step(self, remains: str) -> Check:
        """Return the check as a step of a proof: its proof file says so, and says in words what `remains` to be shown.

        A row with a step among its statements HOLDS by exact steps; PROVED is kept for rows whose file is the whole sentence.

        Raises
        ------
        NotComparable
            if nothing is said to remain.
        """
        if not remains.strip():
            raise NotComparable(f"{self.name or 'check'}: a step says in words what remains to be shown")
        return replace(self, remains=remains)

    def tightened(self, factor: float) -> Check:
        """Return the same check against a bound moved by `factor` towards what was measured (< 1 tightens)."""
        if self.bound is None or self.tightness is None:
            return self
        moved = self.bound * factor if self.upper else self.bound / factor
        shift = (moved - self.bound if self.upper else self.bound - moved) / self.scale
        return replace(self, low=as_float(self.low) + shift, high=as_float(self.high) + shift, bound=moved, statement=None)


@dataclass(frozen=True)
class DrawnCheck(Check):
    """One random draw of an instance; the engine pools the draws of a group and decides them by sequential statistics."""

    value: float = 0.0
    least: float = 0.0  # value, unless only the interval [least, value] is known
    target: float = 0.0
    group: str = ""
    support: tuple[float, float] | None = None
    bernoulli: bool = False


def at_most(measured: Any, bound: Any, name: str = "", *, error: Any = 0, scale: Any = 1, strict: bool = False, row: str = "") -> Check:
    """Check measured ≤ bound; slack = (bound − measured)/scale.

    `measured` and `bound` are numbers of any arithmetic, brackets (`between`), expressions, or arrays, of which the worst entry counts.
    `error` ≥ 0 is how far `measured` may be off (an optimisation gap): it widens the enclosure. `scale` > 0 is the natural unit of the
    slack, so that the claim's resolution means the same on every instance. Arrays keep a statement only where they fail: that of
    their worst entry.
    """
    return _compare(measured, bound, name, error, scale, strict, row, upper=True)


def at_least(measured: Any, bound: Any, name: str = "", *, error: Any = 0, scale: Any = 1, strict: bool = False, row: str = "") -> Check:
    """Check measured ≥ bound; slack = (measured − bound)/scale; otherwise as `at_most`."""
    return _compare(measured, bound, name, error, scale, strict, row, upper=False)


def _compare(measured: Any, bound: Any, name: str, error: Any, scale: Any, strict: bool, row: str, *, upper: bool) -> Check:
    unit = _unit(scale)
    worst: Check | None = None
    ceiling: Number | None = None
    evidence = Evidence.EXACT
    count = 0
    path: list[tuple[float | None, float | None]] = []
    for left, right, off in entries(measured, bound, error):
        value, limit = enclose(left), enclose(right)
        one = _one(value.widened(off), limit, name, unit, strict, row, upper)
        evidence = weakest(evidence, one.evidence)
        count += 1
        ceiling = one.high if ceiling is None else min(ceiling, one.high)
        if count <= figure.LONGEST + 1:
            path.append((one.measured, one.bound))
        if worst is None or one.low < worst.low:
            worst = one
    if worst is None or ceiling is None:
        raise NotComparable(f"{name or 'check'}: nothing to compare, the arrays are empty")
    if count == 1:
        return worst
    drawing = figure.path(path, upper)
    return replace(worst, high=ceiling, evidence=evidence, statement=worst.statement if _fails(worst) else None, drawing=drawing)


def _fails(check: Check) -> bool:
    return check.outcome(0.0) is Outcome.REFUTED


def _one(value: Enclosure, limit: Enclosure, name: str, unit: Fraction, strict: bool, row: str, upper: bool) -> Check:
    small, large = (value, limit) if upper else (limit, value)
    low, high = difference(large, small, unit)
    statement = _statement(small, large, "<" if strict else "<=")
    # Sharpness counts at the far end of the bracket: what could have been measured.
    seen = value.high if upper else value.low
    return Check(
        low, high, weakest(value.evidence, limit.evidence), name, row, as_float(limit.low if upper else limit.high), as_float(seen), upper,
        float(unit), strict, statement=statement,
    )  # fmt: skip


def equal(left: Any, right: Any, name: str = "", *, error: Any = 0, scale: Any = 1, row: str = "") -> Check:
    """Check left = right; slack = −max|left − right|/scale, satisfied down to minus the resolution (exactly 0 for exact evidence)."""
    unit = _unit(scale)
    low: Number = Fraction(0)
    high: Number = Fraction(0)
    evidence = Evidence.EXACT
    statements: list[Statement | None] = []
    for first, second, off in entries(left, right, error):
        a, b = enclose(first), enclose(second)
        shown = _symbolic(a, b)
        if shown is not None:
            statements.append(shown)
            down = up = Fraction(0) if shown.holds() else Fraction(-1)
            low, high = min(low, down), min(high, up)
            continue
        below, above = difference(a.widened(off), b, unit)
        low, high = _least(low, below, -below, above, -above), _least(high, -_most(below, -above, Fraction(0)))
        evidence = weakest(evidence, a.evidence, b.evidence, enclose(off).evidence)
        statements.append(_statement(a, b, "=="))
    if not statements:
        raise NotComparable(f"{name or 'check'}: nothing to compare, the arrays are empty")
    return Check(low, high, evidence, name, row, scale=float(unit), statement=statements[0] if len(statements) == 1 else None)


def distinct(left: Any, right: Any, name: str = "", *, error: Any = 0, scale: Any = 1, row: str = "") -> Check:
    """Check that two numbers (or arrays, in some entry) differ beyond `error`: slack = (max|left − right| − error)/scale > resolution."""
    unit = _unit(scale)
    low: Number = Fraction(0)
    high: Number = Fraction(0)
    evidence = Evidence.EXACT
    gap: float = 0.0
    for first, second, off in entries(left, right, error):
        a, b = enclose(first), enclose(second)
        below, above = difference(a.widened(off), b, unit)
        low, high = _most(low, below, -above), _most(high, below, -below, above, -above)
        gap = max(gap, abs(as_float(a.low - b.high)))
        evidence = weakest(evidence, a.evidence, b.evidence, enclose(off).evidence)
    return Check(low, high, evidence, name, row, measured=gap, upper=False, scale=float(unit), strict=True)


def true(condition: Any, name: str = "", *, evidence: Evidence = Evidence.FLOAT, row: str = "") -> Check:
    """Check a yes-or-no fact (a bool); slack 1 or −1. Say `evidence=EXACT` only if nothing behind the condition was rounded."""
    slack = Fraction(1) if _fact(condition) else Fraction(-1)
    return Check(slack, slack, evidence, name, row, boolean=True)


def vacuous(condition: Any = True, name: str = "", *, evidence: Evidence = Evidence.FLOAT, row: str = "") -> Check:
    """Record that the claim says nothing on this instance (no case satisfies its hypotheses, its bound exceeds the trivial one).

    A claim whose checks are all vacuous is VACUOUS. With a false `condition` the check is an ordinary satisfied one: not vacuous.
    """
    slack = Fraction(1)
    return Check(slack, slack, evidence, name, row, boolean=True, empty=_fact(condition))


def outcome(bad: Any, delta: float, group: str = "", *, name: str = "", row: str = "") -> Check:
    """One Bernoulli draw of a high-probability claim P(bad) ≤ delta. Draw in a loop: the engine stops asking once it is decided."""
    if not 0 < float(delta) < 1:
        raise NotComparable(f"delta must lie in (0, 1), got {delta}")
    return DrawnCheck(
        Fraction(0), Fraction(0), Evidence.STATISTICAL, name, row, value=float(_fact(bad)), target=float(delta), group=group, bernoulli=True
    )


def probability(low: Any, high: Any, delta: Any, name: str = "", *, row: str = "") -> Check:
    """Check P ≤ delta for a probability known to lie in [low, high] (equal for an exact one): no Monte Carlo needed.

    A failing check states low ≤ delta: whatever P is, it is no smaller than low.
    """
    known = between_probability(low, high)
    shown = figure.frequency(name, as_float(known.low), as_float(known.high), as_float(enclose(delta).high))
    made = replace(at_most(known, delta, name, row=row), drawing=shown)
    return replace(made, statement=at_most(low, delta).statement) if made.statement is None and _fails(made) else made


def between_probability(low: Any, high: Any) -> Enclosure:
    """Bracket for a probability, checked to lie within [0, 1] up to rounding."""
    below, above = enclose(low), enclose(high)
    if below.low < -1e-9 or above.high > 1 + 1e-9:
        raise NotComparable(f"a probability lies in [0, 1], got [{float(below.low)}, {float(above.high)}]")
    if isinstance(low, Expr) and low is high:
        return below
    return Enclosure(below.low, above.high, weakest(below.evidence, above.evidence))


def expectation(
    value: Any, bound: float, group: str = "", *, support: tuple[float, float] | None = None, name: str = "", row: str = ""
) -> Check:
    """One draw of an in-expectation claim E[value] ≤ bound (negate both for ≥).

    `support` = (a, b) says that a ≤ value ≤ b always; the decision rests on an empirical Bernstein bound. Without it draws are averaged
    and decide nothing: no test of a mean controls its error if a rare value can be anything.
    """
    number = enclose(value)
    return DrawnCheck(
        Fraction(0), Fraction(0), Evidence.STATISTICAL, name, row, value=as_float(number.high), least=as_float(number.low),
        target=float(bound), group=group, support=support,
    )  # fmt: skip


def _fact(condition: Any) -> bool:
    """The condition, if it is a truth value: of a generator, a check or a list every one would count as true."""
    if isinstance(condition, np.ndarray) and condition.shape == () and condition.dtype == bool:
        return bool(condition)
    if not isinstance(condition, bool | np.bool_):
        raise NotComparable(
            f"a condition is True or False, got {type(condition).__name__}; write bool(…), all(…) or any(…) if that is meant"
        )
    return bool(condition)


def _unit(scale: Any) -> Fraction:
    if isinstance(scale, int) and scale == 1:
        return ONE
    unit = enclose(scale)
    if not 0 < unit.low < float("inf"):
        raise NotComparable(f"scale must be positive and finite, got {scale}")
    return Fraction(unit.low)


def _statement(small: Enclosure, large: Enclosure, relation: str) -> Statement | None:
    if all(side.expression is None or side.expression.op == "constant" for side in (small, large)):
        return None  # comparing two finished numbers states nothing: whoever rechecks it would trust our arithmetic
    a, b = _formula(small), _formula(large)
    return None if a is None or b is None else Statement(relation, a, b)


def _symbolic(a: Enclosure, b: Enclosure) -> Statement | None:
    left, right = _formula(a), _formula(b)
    if left is None or right is None or not (left.symbolic or right.symbolic):
        return None
    return Statement("==", left, right)


def _formula(value: Enclosure) -> Expr | None:
    if value.expression is not None:
        return value.expression
    if value.evidence is Evidence.EXACT and isinstance(value.low, Fraction) and value.low == value.high:
        return Expr.constant(value.low)
    return None


def _least(*values: Number) -> Number:
    return min(values)


def _most(*values: Number) -> Number:
    return max(values)
