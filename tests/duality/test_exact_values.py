"""Bounds of random problems against values in fractions; see `python tests/duality/exact`."""

from __future__ import annotations

import json
import math
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from assessed import PLANTED, Truth, apart, case, finite_ends, is_broken
from broken import BROKEN
from exact_values import feasible, high, lifted, value
from planted import PlantedProblem, random_problem

import simopt
from simopt.duality.declared import Declared

NUMBERS = range(30)
BLOCKS = [range(first, first + 50) for first in range(0, 2000, 50)]
SOLVED = 500  # of the problems, which take ten times as long as the others
FINITE = json.loads((Path(__file__).parent / "exact" / "finite.json").read_text())


def failures(lines: list[dict[str, Any]]) -> list[tuple[int, str, str, dict[str, Any]]]:
    """The answers with a false bound."""
    return [(each["id"], each["kind"], name, run) for each in lines for name, run in each["runs"].items() if run.get("false")]


@pytest.mark.thorough
def test_no_bound_of_a_problem_that_breaks_a_promise_is_false() -> None:
    numbers = [number for number in NUMBERS if is_broken(0, number)]
    assert numbers
    assert failures([apart(0, number, quick=True) for number in numbers]) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("numbers", BLOCKS)
def test_no_bound_is_false_and_none_is_lost(numbers: range) -> None:
    """Not fewer finite rigorous bounds of what a problem holds than of the version that finite.json names, its false ones not counted.

    The first 500 are solved, too, by `certify` and by `solve`.
    """
    lines = [apart(0, number, quick=numbers[0] >= SOLVED) for number in numbers]
    assert failures(lines) == []
    ends = {each["id"]: finite_ends(each) for each in lines}
    assert {number: found for number, found in ends.items() if found < int(FINITE["ends"][number])} == {}


def test_pivots_are_chosen_by_whole_margins_where_others_have_to_leave_their_domain() -> None:
    """Squares that P links to no other have the scale p_ii, and with it another margin: pivots of √margin are near a cone's boundary."""
    problem = case(0, 351).problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not DPP, and a sparse parameter
        problem.solve(solver=cp.CLARABEL)
        found = simopt.certify(problem, solver=None, rigorous=True)
    assert -1e-3 < found.lower <= 0.0 <= found.upper < 1e-6


def test_rounding_does_not_decide_whether_there_is_a_bound() -> None:
    """‖z‖ ≤ 0 holds strictly nowhere. Slopes are needed there, and a step of z's multiplier where an entry of it is 0."""
    problem = case(0, 496).problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not DPP
        problem.solve(solver=cp.CLARABEL)
        for moved in (0.0, 1e-9, -1e-9):
            for v in problem.variables():
                v.save_value(v.value + moved)
            found = simopt.certify(problem, solver=None, rigorous=True)
            assert -1e-5 < found.lower <= 0.0


@pytest.mark.parametrize("number", [175, 1129, 1857])
def test_multipliers_are_repaired_by_least_squares_of_their_own_rank(number: int) -> None:
    """With the threshold of least steps onto equations a bound is lost."""
    assert finite_ends(apart(0, number, quick=True)) >= int(FINITE["ends"][number]) == 4


def test_a_point_far_from_everything_is_drawn_to_a_slater_point_beside_0() -> None:
    """Beside the point itself no solve finds one."""
    assert finite_ends(apart(0, 1878, quick=True)) == 1


def test_forms_of_low_rank_leave_residuals_to_others_in_the_last_attempts() -> None:
    """They come first, and what they leave would be more than a norm at the end of its domain can take."""
    assert finite_ends(apart(0, 1845, quick=True)) >= int(FINITE["ends"][1845]) == 4


def test_slopes_are_those_of_any_point_in_the_domains() -> None:
    """Rows do not matter to them."""
    x = cp.Variable(2, name="x")
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum(-cp.log(x))), [cp.norm(x - 3.0) <= 0.0]))
    slopes = declared.multipliers({"x": np.array([2.0, 4.0])})
    assert slopes is not None
    assert any(np.allclose(slope, [-0.5, -0.25]) for slope in slopes.values() if np.size(slope) == 2)
    assert declared.multipliers({"x": np.array([-2.0, 4.0])}) is None


@pytest.mark.parametrize("make", [make for make, _ in BROKEN], ids=lambda make: make.__name__)
def test_points_of_broken_problems_are_feasible_in_fractions_and_in_floats(make: Any) -> None:
    """And the objective there is what CVXPY says it is, to rounding."""
    found = 0
    for seed in range(6):
        given = make(np.random.default_rng(seed))
        if given.change is not None:
            given.change()
        truth = Truth(given)
        for point in truth.points:
            for v in given.problem.variables():
                v.save_value(np.array([[float(high(x))] for x in point[v.id].flat]).reshape(v.shape))
            with np.errstate(all="ignore"):
                said = given.problem.objective.value
            if said is None or not np.all(np.isfinite(said)):
                continue
            exact = high(value(given.problem.objective.expr, point).flat[0])
            assert abs(Fraction(float(said)) - exact) <= abs(exact) / 10**6 + truth.size / 10**9
            found += 1
        assert given.empty is not bool(truth.points)
    assert found or make.__name__ == "infeasible_by_a_hair"


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_point_is_what_a_solver_finds(kind: str) -> None:
    for seed in range(2):
        given, _ = random_problem(np.random.default_rng([7, seed]), kind, PLANTED[kind], 0.0)
        truth = Truth(given)
        given.problem.solve(solver=cp.CLARABEL)
        sign = -1 if truth.maximises else 1
        assert sign * given.problem.value == pytest.approx(float(truth.least), rel=1e-4, abs=1e-4)


def test_a_bound_that_is_wrong_by_little_is_called_false() -> None:
    """min (x − 1)² + 3 in [0, 4]: 3 is the optimum; the maximum of its negative is −3."""
    x = cp.Variable()
    point = {x.id: lifted(1.0)}
    for sense, sign in ((cp.Minimize, 1), (cp.Maximize, -1)):
        e = sign * (cp.square(x - 1) + 3)
        truth = Truth(PlantedProblem("", cp.Problem(sense(e), [x >= 0, x <= 4]), [point], [e], optimal=True))
        ends = (3.0, 3.0)
        above, below = np.nextafter(3.0, 4.0), np.nextafter(3.0, 2.0)
        said = [
            truth.false(*(a, b) if sign > 0 else (-b, -a), rigorous=rigorous)
            for a, b in (ends, (above, math.inf), (-math.inf, below))
            for rigorous in (True, False)
        ]
        assert said == ["", "", "lower", "", "upper", ""]
        assert truth.false(*(3.01, math.inf) if sign > 0 else (-math.inf, -3.01), rigorous=False) == "lower"


def test_no_bound_of_an_empty_or_an_endless_problem_is_finite_where_it_may_not_be() -> None:
    x = cp.Variable()
    empty = Truth(PlantedProblem("", cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]), [], [x], empty=True))
    assert empty.false(math.inf, math.inf, rigorous=True) == ""
    assert empty.false(5.0, 7.0, rigorous=True) == "upper"
    endless = Truth(PlantedProblem("", cp.Problem(cp.Minimize(x)), [{x.id: lifted(0.0)}], [x], endless=True))
    assert endless.false(-math.inf, -math.inf, rigorous=True) == ""
    assert endless.false(-1e300, 0.0, rigorous=True) == "lower"


def test_a_point_outside_of_a_row_or_an_attribute_is_not_feasible() -> None:
    x, y = cp.Variable(2, bounds=[0.0, 1.0]), cp.Variable((2, 2), symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.sum(x) + cp.sum(y)), [cp.norm(x, 2) <= 1, cp.sum(x) == 1, y >= -1])
    good = {x.id: lifted([0.5, 0.5]), y.id: lifted([[0, 1], [1, 0]])}
    assert feasible(problem, good)
    tiny = 2.0**-300
    assert not feasible(problem, good | {x.id: lifted([0.5, 0.5]) + lifted([0, tiny])})
    assert not feasible(problem, good | {x.id: lifted([1.5, -0.5])})
    assert not feasible(problem, good | {y.id: lifted([[0, 1], [1, 0]]) + lifted([[0, tiny], [0, 0]])})


def test_a_case_is_the_same_each_time() -> None:
    for number in range(20):
        one, other = (case(0, number) for _ in range(2))
        assert (one.kind, one.note) == (other.kind, other.note)
        ends = [sorted(str(high(x)) for point in given.points for values in point.values() for x in values.flat) for given in (one, other)]
        assert ends[0] == ends[1]
