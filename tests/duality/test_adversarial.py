"""No bound of ugly problems is false, whatever points, multipliers and bases are assessed.

Each lower bound is at most an exact value of a feasible point, and each upper bound at least an exact value of the dual: both are the
planted optimum of `exact/ugly.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from assessed import Truth
from attacked import AttackRecord, Bound, assert_nothing_false, point_and_multipliers, solved
from ugly import BY_A_HAIR, LINEAR, any_multipliers, attacks, bases, ugly_problem, ugly_system

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.linear import solve
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.duality import Declared
from simopt.duality.vertices.linear_programme import LinearProgramme
from simopt.duality.vertices.safe_bound import safe_bound
from simopt.duality.vertices.vertex import vertex

BLOCKS = [range(first, first + 100) for first in range(0, 3000, 100)]
ATTACKS = 2  # on each problem, out of ten
SEARCHED = 10  # every tenth of the problems that are not linear is solved by `certify`, which takes ten times as long
FEW = (*range(325, 332), 1515)  # of the last, 1e17 from everything, bounds without a right digit were to close


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
