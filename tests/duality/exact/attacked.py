"""What certificates say of problems whose optimum is known, counted: false bounds, errors that are not simopt's own, finite bounds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from assessed import Truth
from ugly import NEAR

from simopt.arithmetic import NotRational
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import InvalidProblem, NotAvailable
from simopt.duality import Declared
from simopt.solving.cvxpy_values import dual_values

CLOSED = 1e-8  # tolerance

Bound = float | Fraction


@dataclass
class AttackRecord:
    """What was assessed of some problems: false bounds, errors that are not simopt's own, and counts."""

    false: list[tuple[Any, ...]] = field(default_factory=list)
    foreign: list[tuple[Any, ...]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def certified(self, number: int, truth: Truth, attack: str, rigorous: bool, compute: Callable[[], Certificate]) -> Certificate | None:
        """Compare the bounds of a certificate with the truth; None where there is none.

        Floats are right up to rounding at the point. Far from everything, terms of 1e12 cancel to what is left of the objective. There a
        false bound counts if it closes.
        """
        try:
            certificate = compute()
        except (InvalidProblem, NotAvailable, NotRational):
            self.counts["refused"] += 1
            return None
        except Exception as error:
            self.foreign.append((number, attack, rigorous, repr(error)[:200]))
            return None
        closed = certificate.closes(CLOSED)
        self.counts["closed"] += closed
        if rigorous or closed or attack in NEAR:
            self.bounded(number, truth, attack, certificate.lower, certificate.upper, rigorous)
        else:
            self.counts["far, in floats"] += 1
        return certificate

    def bounded(self, number: int, truth: Truth, attack: str, lower: Bound, upper: Bound, rigorous: bool = True) -> None:
        """Compare bounds of the problem as written with the truth."""
        self.counts["assessments"] += 1
        self.counts["finite"] += (abs(lower) < math.inf) + (abs(upper) < math.inf)
        which = truth.false(lower, upper, rigorous) if lower <= upper or lower > upper else "not a number"
        if which:
            self.false.append((number, attack, rigorous, which, float(lower), float(upper), float(truth.least), float(truth.reached)))


def assert_nothing_false(record: AttackRecord) -> None:
    assert record.false == [] and record.foreign == []


def solved(problem: cp.Problem) -> None:
    """Values of a solver; zeros where it has none."""
    try:
        problem.solve(solver=cp.CLARABEL)
    except cp.error.SolverError:
        pass
    for v in problem.variables():
        if v.value is None or not np.all(np.isfinite(v.value)):
            v.save_value(np.zeros(v.shape))


def point_and_multipliers(declared: Declared) -> tuple[Point, Multipliers]:
    """Those that the problem holds; the multipliers of terms are slopes, and 0 where there is none."""
    point = {leaf.name: np.array(leaf.variable.value) for leaf in declared.programme.leaves.values()}
    rows = dual_values(declared)
    slopes = declared.multipliers(point, rows) or rows
    return point, {name: np.ravel(slopes.get(name, np.zeros(size)), order="F") for name, (_, _, size) in declared.names.items()}
