"""No bound of ugly problems is false, whatever points, multipliers and bases are assessed.

Each lower bound is at most an exact value of a feasible point, and each upper bound at least an exact value of the dual: both are the
planted optimum of `exact/ugly.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from assessed import Truth
from ugly import BY_A_HAIR, LINEAR, NEAR, any_multipliers, attacks, bases, ugly_problem, ugly_system

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Interval, NotRational
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.linear import solve
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import InvalidProblem, NotAvailable
from simopt.duality import Declared
from simopt.duality.vertices.linear_programme import LinearProgramme
from simopt.duality.vertices.safe_bound import safe_bound
from simopt.duality.vertices.vertex import vertex
from simopt.solving.as_written import _duals

BLOCKS = [range(first, first + 100) for first in range(0, 3000, 100)]
ATTACKS = 2  # on each problem, out of ten
SEARCHED = 10  # every tenth of the problems that are not linear is solved by `certify`, which takes ten times as long
CLOSED = 1e-8  # tolerance
FEW = range(325, 332)

Bound = float | Fraction


@dataclass
class AttackRecord:
    """What was assessed of some problems: false bounds, errors that are not simopt's own, and counts."""

    false: list[tuple[Any, ...]] = field(default_factory=list)
    foreign: list[tuple[Any, ...]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def certified(self, number: int, truth: Truth, attack: str, rigorous: bool, compute: Callable[[], Certificate]) -> None:
        """Compare the bounds of a certificate with the truth.

        Floats are right up to rounding at the point. Far from everything, terms of 1e12 cancel to what is left of the objective. There a
        false bound counts if it closes.
        """
        try:
            certificate = compute()
        except (InvalidProblem, NotAvailable, NotRational):
            self.counts["refused"] += 1
            return
        except Exception as error:
            self.foreign.append((number, attack, rigorous, repr(error)[:200]))
            return
        closed = certificate.closes(CLOSED)
        self.counts["closed"] += closed
        if rigorous or closed or attack in NEAR:
            self.bounded(number, truth, attack, certificate.lower, certificate.upper, rigorous)
        else:
            self.counts["far, in floats"] += 1

    def bounded(self, number: int, truth: Truth, attack: str, lower: Bound, upper: Bound, rigorous: bool = True) -> None:
        """Compare bounds of the problem as written with the truth."""
        self.counts["assessments"] += 1
        self.counts["finite"] += (abs(lower) < math.inf) + (abs(upper) < math.inf)
        which = truth.false(lower, upper, rigorous) if lower <= upper or lower > upper else "not a number"
        if which:
            self.false.append((number, attack, rigorous, which, float(lower), float(upper), float(truth.least), float(truth.reached)))


def assessed(numbers: Iterable[int], seed: int = 0) -> AttackRecord:
    """All attacks on these problems."""
    record = AttackRecord()
    with np.errstate(all="ignore"):
        for number in numbers:
            assess(record, seed, number)
    return record


def assess(record: AttackRecord, seed: int, number: int) -> None:
    """What the problem holds, a search where it is cheap, some of the attacks, and wrong bases of a linear programme."""
    drawn, other = ugly_problem(seed, number), ugly_problem(seed, number + 1).problem
    truth, rng, problem, linear = Truth(drawn), np.random.default_rng([seed, number, 1]), drawn.problem, drawn.kind in LINEAR
    record.counts[drawn.kind] += 1
    solved(problem)
    solved(other)
    declared = Declared.of(problem)
    floats = drawn.note != BY_A_HAIR
    rigorous = not floats or bool(rng.random() < 0.6)
    record.certified(number, truth, "as it is", rigorous, lambda: simopt.certify(problem, rigorous=rigorous, solver=None))
    if linear or number % SEARCHED == 0:
        other_one = not floats or not rigorous
        record.certified(number, truth, "searched", other_one, lambda: simopt.certify(problem, rigorous=other_one))
    drafts = list(attacks(rng, *point_and_multipliers(declared), *point_and_multipliers(Declared.of(other))))
    for k in rng.choice(len(drafts), size=ATTACKS, replace=False):
        attack, point, multipliers = drafts[k]
        for num in (FLOAT, INTERVAL) if floats and rng.random() < 0.5 else (RATIONAL if linear and rng.random() < 0.5 else INTERVAL,):

            def compute(point: Point = point, multipliers: Multipliers = multipliers, num: Any = num) -> Certificate:
                certificate = simopt.certify(declared, point, multipliers, num)
                return certificate.of_the_maximum() if declared.maximises else certificate

            record.certified(number, truth, attack, num is not FLOAT, compute)
    attack_bases(record, number, truth, declared, rng)


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
    rows = _duals(declared)
    slopes = declared.multipliers(point, rows) or rows
    return point, {name: np.ravel(slopes.get(name, np.zeros(size)), order="F") for name, (_, _, size) in declared.names.items()}


def attack_bases(record: AttackRecord, number: int, truth: Truth, declared: Declared, rng: np.random.Generator) -> None:
    """What bases and multipliers of a linear programme prove, in fractions."""
    linear = LinearProgramme.of(declared.programme)
    if linear is None:
        return

    def compare(attack: str, lower: Bound, upper: Bound) -> None:
        record.bounded(number, truth, attack, *((-upper, -lower) if declared.maximises else (lower, upper)))

    for basis in bases(rng, linear):
        found = vertex(linear, basis)
        if found is not None:
            ends = [None if bound is None else Fraction(int(bound.p), int(bound.q)) for bound in (found.lower, found.upper)]
            compare("a basis", -math.inf if ends[0] is None else ends[0], math.inf if ends[1] is None else ends[1])
    for y in any_multipliers(rng, linear):
        compare("any multipliers", safe_bound(linear, y), math.inf)


def assert_nothing_false(record: AttackRecord) -> None:
    assert record.false == [] and record.foreign == []


def test_no_bound_of_an_ugly_problem_is_false() -> None:
    record = assessed(FEW)
    assert_nothing_false(record)
    assert record.counts["finite"] >= record.counts["assessments"] > 40


def test_no_basis_of_an_ugly_linear_programme_proves_what_is_false() -> None:
    record = AttackRecord()
    with np.errstate(all="ignore"):
        for number in range(120):
            drawn = ugly_problem(1, number)
            if drawn.kind in (*LINEAR, "empty"):
                attack_bases(record, number, Truth(drawn), Declared.of(drawn.problem), np.random.default_rng([1, number, 1]))
    assert_nothing_false(record)
    assert record.counts["finite"] >= 400


def enclosed(seed: int) -> bool:
    """Whether a solution is proven; it has to contain the exact ones of two systems in the intervals."""
    a, away, b, beside = ugly_system(seed)
    found = solve(INTERVAL, IntervalMatrix(sp.csr_array(a), sp.csr_array(away)) if seed % 2 else Interval(a, away), Interval(b, beside))
    for part in (0.0, 0.5) if found is not None else ():
        exact = solve(RATIONAL, a + part * away, b - part * beside)  # half a radius away, so that rounding leaves none
        assert exact is not None, seed
        pairs = zip(found.mid.tolist(), found.rad.tolist(), exact, strict=True)
        assert all(abs(Fraction(mid) - x) <= Fraction(rad) for mid, rad, x in pairs), (seed, part)
    return found is not None


def test_enclosures_of_ugly_systems_hold_the_exact_solutions() -> None:
    assert sum(enclosed(seed) for seed in range(60)) >= 20


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("numbers", BLOCKS, ids=lambda numbers: f"{numbers[0]} to {numbers[-1]}")
def test_of_three_thousand_ugly_problems_and_systems_no_bound_is_false(numbers: range) -> None:
    record = assessed(numbers)
    assert_nothing_false(record)
    assert record.counts["finite"] >= record.counts["assessments"]
    assert sum(map(enclosed, numbers)) >= 40
