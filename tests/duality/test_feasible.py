"""Feasible points: equalities that hold, rows with slack, and no upper bound where nothing is proven; against optima in fractions."""

from __future__ import annotations

import itertools
import math
import warnings
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import partial_optimize

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval
from simopt.arithmetic.linear import solve
from simopt.core import registry
from simopt.core.errors import InvalidProblem, NotAvailable
from simopt.duality import Declared, GraphForm, graph_form, solved
from simopt.duality.atoms.concave_norm import NegativePowerNorm
from simopt.duality.evaluation.equalities import equalities, holding
from simopt.duality.feasibility import slater
from simopt.duality.infeasibility.infeasible import infeasible
from simopt.duality.units.units import equilibrated

ALL = pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
PROVEN = pytest.mark.parametrize("num", [INTERVAL, RATIONAL], ids=lambda num: num.name)
A = np.random.default_rng(3).normal(size=(3, 6))
B = np.array([1.0, -0.5, 2.0])


def variable(n: int = 6) -> cp.Variable:
    return cp.Variable(n, name="x")


def at(x: Any) -> dict[str, Any]:
    return {"x": np.asarray(x, dtype=float)}


def upper(problem: cp.Problem, num: Arithmetic, point: dict[str, Any]) -> float:
    """The upper bound near a point; a second reading, that restored nothing, must say the same of the restored point."""
    declared = Declared.of(problem)
    restored = declared.restore(point, num)
    found = num.upper(declared.objective(restored, num))
    assert num.upper(Declared.of(problem).objective(restored, num)) == found
    return found


def exact_least_norm(a: np.ndarray, b: np.ndarray) -> tuple[Fraction, np.ndarray]:
    """min ‖x‖² subject to Ax = b: bᵀ(AAᵀ)⁻¹b, in fractions, and where."""
    rows, right = RATIONAL.lift(a), RATIONAL.lift(b)
    v = solve(RATIONAL, rows @ rows.T, right)
    assert v is not None
    return Fraction(right @ v), (rows.T @ v).astype(float)


@ALL
@pytest.mark.parametrize("scale", [np.ones(3), 10.0 ** np.array([-150, 0, 150]), np.full(3, 1e-9)], ids=["1", "rows", "small"])
def test_near_the_least_solution_of_equations_the_bound_is_that_of_fractions(num: Arithmetic, scale: np.ndarray) -> None:
    a, b = scale[:, None] * A, scale * B
    x = variable()
    optimum, where = exact_least_norm(a, b)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [a @ x == b])
    for noise in (0.0, 1e-9):
        found = upper(problem, num, at(where + noise * np.arange(6.0)))
        assert found <= float(optimum) * (1 + 1e-13 + 1e-8 * (noise > 0))
        assert num is FLOAT or Fraction(found) >= optimum
    far = upper(problem, num, at(np.arange(6.0)))
    assert float(optimum) < far < math.inf


def test_the_intervals_of_pivots_contain_the_solution_in_fractions() -> None:
    x = variable()
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x)), [A @ x == B, x >= -1, x <= 2]))
    interval = declared.restore(at(np.zeros(6)), INTERVAL)["x"]
    assert isinstance(interval, Interval)
    pivots = np.flatnonzero(interval.rad > 0.0)
    assert len(pivots) == 3 and np.all(interval.rad[pivots] < 1e-13)
    rest = np.setdiff1d(np.arange(6), pivots)
    a = RATIONAL.lift(A)
    solution = solve(RATIONAL, a[:, pivots], RATIONAL.lift(B) - a[:, rest] @ RATIONAL.lift(interval.mid[rest]))
    for y, mid, rad in zip(solution, interval.mid[pivots], interval.rad[pivots], strict=True):
        assert abs(y - Fraction(float(mid))) <= Fraction(float(rad))
    assert declared.objective({"x": interval}, INTERVAL) is not math.inf
    moved = Interval(interval.mid + 3 * interval.rad, interval.rad)  # intervals beside it are near the solution, and do not contain it
    assert declared.objective({"x": moved}, INTERVAL) == math.inf
    assert declared.objective({"x": Interval(interval.mid)}, INTERVAL) == math.inf


def test_a_bound_that_is_no_float_is_not_moved_and_the_pivots_hold_for_it() -> None:
    """3x₀ ≤ 1 ends at a third, for which an interval stands; x₀ + x₁ + x₂ = 1 holds with that third, and not with the float beside it."""
    x = variable(3)
    declared = Declared.of(cp.Problem(cp.Minimize(-x[0]), [3 * x[0] <= 1, cp.sum(x) == 1, 7 * x[1] >= 2, 7 * x[1] <= 2]))
    interval = declared.restore(at([1.0, 1.0, 0.0]), INTERVAL)["x"]
    for i, number in enumerate((Fraction(1, 3), Fraction(2, 7), 1 - Fraction(1, 3) - Fraction(2, 7))):
        assert abs(number - Fraction(float(interval.mid[i]))) <= Fraction(float(interval.rad[i])) < Fraction(1, 10**14)
    found = declared.objective({"x": interval}, INTERVAL)
    assert Fraction(INTERVAL.upper(found)) >= Fraction(-1, 3) and INTERVAL.upper(found) <= -1 / 3 + 1e-14
    wider = Interval(interval.mid, interval.rad * np.array([2.0, 1.0, 1.0]))  # no longer the end: an interval that reaches over it
    assert declared.objective({"x": wider}, INTERVAL) == math.inf
    missed = Interval(interval.mid, interval.rad * np.array([1.0, 1.0, 0.05]))  # holds 1 minus the floats, and not 1 minus the ends
    assert declared.objective({"x": missed}, INTERVAL) == math.inf


@ALL
def test_a_portfolio_of_the_best_is_found_from_anywhere(num: Arithmetic) -> None:
    """min cᵀx on the simplex is the least c: reached at a corner, where all entries but one are at their bounds."""
    rng = np.random.default_rng(0)
    c, x = rng.normal(size=6), variable()
    problem = cp.Problem(cp.Minimize(c @ x), [cp.sum(x) == 1, x >= 0])
    best = int(np.argmin(c))
    corner = np.eye(6)[best]
    for noise in (0.0, 1e-13, 1e-10):
        assert c[best] <= upper(problem, num, at(corner + noise * rng.normal(size=6))) + (1e-15 if num is FLOAT else 0.0) <= c[best] + 1e-8
    for _ in range(5):
        assert c[best] - 1e-15 <= upper(problem, num, at(rng.normal(size=6))) <= np.max(c) + 1e-12
    capped = cp.Problem(cp.Minimize(c @ x), [cp.sum(x) == 1, x >= 0, x <= 1])  # no entry of the corner has a margin
    assert c[best] - 1e-15 <= upper(capped, num, at(corner)) <= c[best] + 1e-8


@PROVEN
def test_what_follows_from_other_rows_is_dropped_and_what_nearly_does_is_not(num: Arithmetic) -> None:
    x, start = variable(), at(np.linalg.lstsq(A, B, rcond=None)[0])
    objective = cp.Minimize(cp.sum_squares(x))
    whole = np.array([[1.0, 2.0, 0.0, 0.0, -1.0, 0.5], [0.0, 1.0, 4.0, 0.0, 1.0, 0.0]])
    sums = np.vstack([whole, whole.sum(axis=0)])
    assert upper(cp.Problem(objective, [sums @ x == [1.0, 2.0, 3.0]]), num, start) < math.inf
    assert upper(cp.Problem(objective, [A @ x == B, 2 * (A[:1] @ x) == 2 * B[:1]]), num, start) < math.inf
    assert upper(cp.Problem(objective, [A @ x == B, np.zeros((2, 6)) @ x == 0]), num, start) < math.inf
    for wrong in (1.0 + 2.0**-52, 1.0 - 2.0**-53, 2.0):
        assert upper(cp.Problem(objective, [A @ x == B, A[:1] @ x == wrong]), num, start) == math.inf
        assert upper(cp.Problem(objective, [A @ x == B, np.zeros((1, 6)) @ x == wrong - 1.0]), num, start) == math.inf


def without_slack(seed: int) -> cp.Problem:
    """Three of the rows Ax ≤ b hold with equality at every feasible point, as their sum has to be at least that of b."""
    rng = np.random.default_rng(seed)
    rows, inside = rng.integers(-3, 4, (4, 6)).astype(float), np.maximum(rng.integers(-2, 4, 6), 0).astype(float)
    right = rows @ inside + [0.0, 0.0, 0.0, 1.0]
    x, cost, sums = variable(), rng.random(6), rng.integers(0, 3, (2, 6)).astype(float)
    limits = [rows @ x <= right, -rows[:3].sum(axis=0) @ x <= -right[:3].sum(), sums @ x == sums @ inside, x >= 0]
    return cp.Problem(cp.Minimize(cost @ x), limits)


@pytest.mark.parametrize("rigorous", [False, True], ids=["float", "interval"])
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 9, 16, 38])
def test_a_point_is_moved_onto_the_rows_that_have_no_slack_anywhere(seed: int, rigorous: bool) -> None:
    problem = without_slack(seed)
    problem.solve(solver="CLARABEL")
    found = simopt.certify(problem, solver=None, rigorous=rigorous)
    assert found.closes(1e-6), found


@pytest.mark.parametrize("x_1", [0.0, 1e-300])
def test_what_follows_at_a_point_is_decided_with_its_numbers(x_1: float) -> None:
    """x_0 = 1 and x_0 + x_1 = 1 where x_1 is given: both hold for x_1 = 0 alone. Neither is a combination of the other."""
    problem = cp.Problem(cp.Minimize(variable(2)[0]))
    x = problem.variables()[0]
    programme = Declared.of(cp.Problem(problem.objective, [x[0] == 1, x[0] + x[1] == 1])).programme
    (key,) = programme.leaves
    around = Interval(np.array([1.0, x_1]), np.array([1e-12, 0.0]))
    holds, why = holding(INTERVAL, equalities(programme), {key: around})
    assert bool(holds.all()) is (x_1 == 0.0) and bool(why) is (x_1 != 0.0)


@ALL
def test_equations_that_contradict_each_other_give_no_bound(num: Arithmetic) -> None:
    x = variable()
    objective = cp.Minimize(cp.sum_squares(x))
    start = at(np.ones(6))
    assert upper(cp.Problem(objective, [cp.sum(x) == 1, cp.sum(x) == 1 + 1e-9]), num, start) == math.inf
    assert upper(cp.Problem(objective, [cp.sum(x) == 1, x >= 1]), num, start) == math.inf
    assert upper(cp.Problem(objective, [cp.sum(x) >= 1, cp.sum(x) <= 0]), num, start) == math.inf
    assert upper(cp.Problem(objective, [cp.norm(x) <= 1, x[0] >= 2]), num, start) == math.inf
    assert (
        upper(cp.Problem(objective, [x[0] + x[1] == 1e150, x[0] + (1 + 1e-12) * x[1] == 1e150 + 1e141, x <= 1e150]), num, start) == math.inf
    )


@PROVEN
@pytest.mark.parametrize("n", [3, 10, 49, 98])
def test_weights_that_miss_one_by_rounding_leave_a_point_or_nothing(n: int, num: Arithmetic) -> None:
    """p@R == 1, R ≤ 1 with floats p near 1/n: empty where Σp < 1, as exact sums show; then no bound may come."""
    p, R = np.full(n, 1.0 / n), cp.Variable(n, name="x")
    problem = cp.Problem(cp.Minimize(-cp.sum(R)), [p @ R == 1, R <= 1, R >= 0])
    found = upper(problem, num, at(np.ones(n)))
    assert found == math.inf if n * Fraction(1.0 / n) < 1 else found >= -n


@ALL
def test_a_violated_row_is_reached_from_a_point_inside(num: Arithmetic) -> None:
    """min −x₀ − x₁ on the disk around (3, 3) of radius 1: 0 is not inside, and √2 no fraction."""
    x = variable(2)
    problem = cp.Problem(cp.Minimize(-cp.sum(x)), [cp.sum_squares(x - 3) <= 1])
    for distance in (1.0, 1.0 + 1e-12, 1.5):
        found = upper(problem, num, at(3 + distance * np.sqrt([0.5, 0.5])))
        assert -6 - math.sqrt(2) * (1 + 1e-15) <= found <= -6 - math.sqrt(2) + max(1e-8, distance - 1)


@PROVEN
def test_random_points_never_come_below_the_optimum_in_fractions(num: Arithmetic) -> None:
    rng = np.random.default_rng(5)
    for _ in range(6):
        m, n, x = 2, 5, variable(5)
        a, b = rng.integers(-3, 4, size=(m, n)).astype(float), rng.integers(-3, 4, size=m).astype(float)
        a[0, 0] = 3.5
        problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [a @ x == b, x >= -50])
        optimum, where = exact_least_norm(a, b)
        for size in (0.0, 1e-12, 1e-3, 10.0):
            found = upper(problem, num, at(where + size * rng.normal(size=n)))
            assert Fraction(found) >= optimum
            assert size > 1e-3 or found <= float(optimum) + 20 * size + 1e-12 * (1 + float(optimum))


def test_a_point_inside_is_asked_for_once_and_again_when_parameters_change(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    original = slater.slater_points
    monkeypatch.setattr(slater, "slater_points", lambda *given: calls.append(given) or original(*given))
    x, centre = variable(2), cp.Parameter(2, value=[3.0, 3.0])
    x.value = [7.0, 8.0]
    declared = Declared.of(cp.Problem(cp.Minimize(-cp.sum(x)), [cp.norm(x - centre) <= 1]))

    def bound() -> float:
        edge = np.asarray(centre.value) + 1.001 * np.sqrt([0.5, 0.5])
        return INTERVAL.upper(declared.objective(declared.restore(at(edge), INTERVAL), INTERVAL))

    assert -6 - math.sqrt(2) - 1e-14 <= bound() <= -7.4 and bound() < math.inf
    assert len(calls) == 1
    centre.value = [30.0, 3.0]
    assert -33 - math.sqrt(2) - 1e-14 <= bound() <= -34.4
    assert len(calls) == 2
    assert np.array_equal(x.value, [7.0, 8.0])  # what the user has in the variables stays there


def test_where_all_holds_nothing_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slater, "slater_points", lambda *_: pytest.fail("a point inside was asked for"))
    monkeypatch.setattr(slater, "drawn", lambda *_: pytest.fail("equations were solved"))
    x = variable()
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.norm(x) <= 1, x >= 0]))
    for num in (FLOAT, INTERVAL):
        assert num.upper(declared.objective(declared.restore(at(np.full(6, 0.1)), num), num)) < 0.07


def models() -> dict[str, cp.Problem]:
    rng = np.random.default_rng(0)
    x, n = variable(8), 8
    factor, mean = rng.normal(size=(n, 3)), rng.uniform(size=n)
    states, controls = cp.Variable((2, 6), name="state"), cp.Variable((1, 5), name="control")
    dynamics, push = np.array([[1.0, 0.3], [0.0, 1.0]]), np.array([[0.0], [0.5]])
    motion = [states[:, 1:] == dynamics @ states[:, :-1] + push @ controls, states[:, 0] == [1.0, 0.0], states[:, 5] == 0]
    picture, known = rng.normal(size=(4, 5)), (rng.uniform(size=(4, 5)) > 0.4).astype(float)
    U, p = cp.Variable((4, 5), name="U"), cp.Variable(n, name="p")
    F, inside = rng.normal(size=(2, n)), rng.dirichlet(np.ones(n))
    return {
        "portfolio": cp.Problem(cp.Maximize(mean @ x - cp.sum_squares(factor.T @ x) - 0.1 * cp.sum_squares(x)), [cp.sum(x) == 1, x >= 0]),
        "control": cp.Problem(cp.Minimize(cp.sum_squares(states) + cp.sum_squares(controls)), [*motion, cp.abs(controls) <= 10]),
        "inpainting": cp.Problem(cp.Minimize(cp.tv(U)), [cp.multiply(known, U) == known * picture]),
        "entropy": cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [F @ p <= F @ inside, cp.sum(p) == 1]),
        "flow": cp.Problem(cp.Maximize(x[0]), [x[0] == x[1] + x[2], x[1] == x[3], x[2] == x[4] + x[5], x >= 0, x <= 1]),
    }


@pytest.mark.parametrize("name", models())
def test_models_with_equalities_have_a_feasible_point_as_good_as_the_solver_s(name: str) -> None:
    problem = models()[name]
    declared = Declared.of(problem)
    point, _ = solved(declared)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    optimum = problem.value * (-1 if declared.programme.maximises else 1)
    for num, tol in ((FLOAT, 1e-8), (INTERVAL, 1e-6)):
        found = num.upper(declared.objective(declared.restore(point, num), num))
        assert abs(found - optimum) <= tol * abs(optimum), num.name


@pytest.mark.parametrize("num", [FLOAT, INTERVAL], ids=lambda num: num.name)
def test_a_certificate_closes_where_equalities_were_all_that_was_open(num: Arithmetic) -> None:
    for name in ("portfolio", "control", "flow"):
        declared = Declared.of(models()[name])
        point, multipliers = solved(declared)
        found = simopt.certify(declared, point, multipliers, num)
        assert found.gap <= 1e-8 * abs(found.upper), (name, found)


def empty() -> dict[str, tuple[list[Any], float]]:
    """Rows that no point satisfies, with the least violation of the rows, or the bounds."""
    x = variable(3)
    return {
        "a sum that bounds do not reach": ([cp.sum(x) == 1, x >= 0, x <= 0.2], 0.4),
        "a ball beside a half-space": ([cp.norm(x) <= 1, cp.sum(x) >= 3, x <= 9, x >= -9], (3 - math.sqrt(3)) / (1 + math.sqrt(3))),
        "balls apart": ([cp.norm(x - 5) <= 1, cp.norm(x + 5) <= 1, x >= -9, x <= 9], 5 * math.sqrt(3) - 1),
        "two sums, nearly one": ([cp.sum(x) == 1, cp.sum(x) == 1 + 1e-7, x >= -7, x <= 7], 5e-8),
        "bounds that cross": ([x >= 1, x <= 0], 1.0),
    }


@pytest.mark.parametrize("name", empty())
def test_that_nothing_is_feasible_is_proven_with_the_least_violation(name: str) -> None:
    rows, violation = empty()[name]
    found = infeasible(Declared.of(cp.Problem(cp.Minimize(0), rows)))
    assert found is not None and violation * (1 - 1e-2) <= found.violation <= violation * (1 + 1e-7)
    if found.relaxed is not None and found.multipliers is not None:
        assert INTERVAL.lower(found.relaxed.dual_bound(found.multipliers, INTERVAL)) == found.violation


@PROVEN
def test_what_has_one_feasible_point_is_not_proven_to_have_none(num: Arithmetic) -> None:
    x = variable(3)
    third = 1.0 / 3.0
    for rows in (
        [cp.sum(x) == 3, x <= 1, x >= -5],
        [cp.sum(x) <= 0, x >= 0],
        [x >= third, x <= third],
        [cp.sum(x) == 1, x >= 0],
        [x <= 1, x >= -1],
    ):
        assert infeasible(Declared.of(cp.Problem(cp.Minimize(cp.sum(x)), rows)), num) is None


def test_floats_prove_nothing_infeasible() -> None:
    with pytest.raises(InvalidProblem, match="arithmetic: floats"):
        infeasible(Declared.of(cp.Problem(cp.Minimize(0), empty()["bounds that cross"][0])), FLOAT)


@ALL
def test_a_feasible_set_of_one_point_has_its_value_or_no_bound(num: Arithmetic) -> None:
    """Rows without slack anywhere are equalities: x₀ + x₁ ≤ 1 ≤ x₀ + x₁, and x₀ = x₁ in the same way."""
    x = variable(2)
    pairs = [cp.sum(x) <= 1, cp.sum(x) >= 1, x[0] - x[1] <= 0, x[1] - x[0] <= 0]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), pairs)
    for start in ([0.5, 0.5], [0.5 + 1e-12, 0.5], [3.0, -2.0]):
        assert 0.5 - (1e-15 if num is FLOAT else 0.0) <= upper(problem, num, at(start)) <= 0.5 + 1e-12
    a, b = np.array([[1.0, 0.1], [0.3, 1.0]]), np.array([0.7, 0.2])  # a point that is no float
    where = solve(RATIONAL, a, b)
    assert where is not None
    both = cp.Problem(cp.Minimize(cp.sum_squares(x)), [a @ x <= b, a @ x >= b])
    found = upper(both, num, at(where.astype(float)))
    assert num is FLOAT or Fraction(found) >= where @ where
    assert found == pytest.approx(float(where @ where), rel=1e-12)


def least_vertex(rows: list[tuple[np.ndarray, float, bool]], c: np.ndarray) -> tuple[Any, np.ndarray] | None:
    """min cᵀx over rows aᵀx ≤ b, or = b, that bound x: the least of the vertices, all of them, in fractions."""
    a, b = RATIONAL.lift(np.array([row for row, _, _ in rows])), RATIONAL.lift(np.array([end for _, end, _ in rows]))
    equal, found = np.array([equality for _, _, equality in rows]), []
    for chosen in itertools.combinations(range(len(rows)), len(c)):
        x = solve(RATIONAL, a[list(chosen)], b[list(chosen)])
        if x is not None and np.all(a @ x <= b) and np.all((a @ x)[equal] == b[equal]):
            found.append((RATIONAL.lift(c) @ x, x.astype(float)))
    return min(found, key=lambda each: each[0]) if found else None


@pytest.mark.parametrize("rounds", [3, pytest.param(300, marks=pytest.mark.slow)])
def test_no_bound_of_a_small_linear_programme_is_below_its_least_vertex(rounds: int) -> None:
    """Rows that repeat or contradict each other, rows without slack, bounds that are thirds and sevenths."""
    rng, finite = np.random.default_rng(11), 0
    for _ in range(rounds):
        x, s, low = variable(3), rng.choice([1.0, 3.0, 7.0], size=3), rng.integers(-5, 1, size=3).astype(float)
        high, c = low + rng.choice([0, 1, 4], size=3), rng.integers(-4, 5, size=3).astype(float)
        A, G = (rng.integers(-3, 4, size=(1, 3)).astype(float) for _ in range(2))
        b, h = rng.integers(-3, 4, size=1).astype(float), rng.integers(-2, 4, size=1).astype(float)
        A, b = (A, b) if rng.uniform() < 0.5 else (np.vstack([A, 2 * A]), np.append(b, 2 * b + rng.choice([0.0, 2.0**-50])))
        G, h = (G, h) if rng.uniform() < 0.5 else (np.vstack([G, -G]), np.append(h, -h))
        rows = [*((*row, True) for row in zip(A, b, strict=True)), *((*row, False) for row in zip(G, h, strict=True))]
        ends = [(sign * s[i] * np.eye(3)[i], sign * end[i], False) for sign, end in ((1, high), (-1, low)) for i in range(3)]
        best = least_vertex([*rows, *ends], c)
        problem = cp.Problem(cp.Minimize(c @ x), [A @ x == b, G @ x <= h, cp.multiply(s, x) >= low, cp.multiply(s, x) <= high])
        for start in ([] if best is None else [best[1]]) + [rng.normal(size=3)]:
            for num in (INTERVAL, RATIONAL):
                found = upper(problem, num, at(start))
                assert found == math.inf if best is None else found >= best[0]
                finite += found < math.inf
        assert best is None or infeasible(Declared.of(problem)) is None
    assert finite


def test_a_partial_optimum_and_an_indicator_with_limits_are_solved_and_close() -> None:
    """Σ_i min_y {y² + x : y ≥ 3 − x}, which is least at x = 5/2; and the distance of (2, 2) from a disk of radius 2, squared."""
    x, y = variable(2), cp.Variable(2, name="y")
    rest = partial_optimize(cp.Problem(cp.Minimize(cp.sum_squares(y)), [y >= 3 - x]), opt_vars=[y])
    optima = {cp.sum(x) + rest: 5.5, cp.sum_squares(x - 2) + indicator([cp.norm(x) <= 2]): 4 * (math.sqrt(2) - 1) ** 2}
    for objective, optimum in optima.items():
        declared = Declared.of(cp.Problem(cp.Minimize(objective), [x >= 0]))
        found = simopt.certify(declared, *solved(declared), num=INTERVAL)
        assert found.gap <= 1e-9 and found.lower <= optimum * (1 + 1e-15) and optimum <= found.upper * (1 + 1e-15)


def test_the_variables_of_a_perspective_of_what_is_affine_stay_as_they_are() -> None:
    """min s f(u/s) + (s − 2000)² for f(u) = u + 1, that is u + s + (s − 2000)², subject to u ≥ 1000 s − 500: at s = 2000 − 1001/2."""
    u, s = cp.Variable(name="u"), cp.Variable(nonneg=True, name="s")
    declared = Declared.of(cp.Problem(cp.Minimize(cp.perspective(u + 1, s) + cp.square(s - 2000)), [u >= 1000 * s - 500]))
    form = GraphForm(declared, equilibrated(declared.programme))
    form.problem.solve(solver=cp.CLARABEL)
    assert form.point()["s"] == pytest.approx(1499.5, rel=1e-6)


def test_a_mean_of_one_entry_is_the_entry_where_it_is_not_negative() -> None:
    """max −‖x + 1‖² + x₁ over x₁ ≥ 0, which CVXPY's documentation asks for and its solves do not: −1 at x = (−1, 0)."""
    x = variable(2)
    declared = Declared.of(cp.Problem(cp.Maximize(cp.geo_mean(x, [0, 1]) - cp.sum_squares(x + 1))))
    found = simopt.certify(declared, at([-1.0, 0.0]), {"GeoMeanApprox 1": [-2.0]}, num=RATIONAL)
    assert (found.lower, found.upper) == (1.0, 1.0)
    assert Declared.of(cp.Problem(cp.Minimize(cp.geo_mean(x, [0, 1])), [x <= 1])).dual_bound({}) == -math.inf  # no convex function is less


def test_a_point_without_free_variables_is_judged_as_it_is() -> None:
    """x = 1 defines x; x ≤ 0 is violated, and there is nothing that one could move."""
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [x == 1.0, cp.square(x) <= 0.5])
    x.value = 1.0
    assert simopt.certify(problem).upper == math.inf
    never = cp.Problem(cp.Minimize(x), [cp.Parameter(value=2.0) == 1.0, x == 1.0])
    assert simopt.certify(never).upper == math.inf


def test_a_sorted_product_closes_where_entries_are_equal() -> None:
    """Chebyshev: Σ w_(i) x_(i) ≥ (Σ w)(Σ x)/n, with equality where all x are equal; the slopes there do not say which multipliers."""
    x = variable(3)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.dotsort(x, [3.0, -1.0, 1.0])), [cp.sum(x) >= 5]))
    found = simopt.certify(declared, *solved(declared), num=INTERVAL)
    assert found.lower <= 5.0 <= found.upper <= found.lower + 1e-8


def test_a_violation_costs_no_more_than_a_step_along_the_slope() -> None:
    """Σ x² over x^{−3/2} ≤ 1: from x = 1 − ε a step of ε is enough, and f rises by 6ε, however far the point inside lies."""
    x = variable(3)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.power(x, -1.5) <= 1])
    for short in (1e-6, 1e-9):
        assert 3.0 <= upper(problem, INTERVAL, at(np.full(3, 1 - short))) <= 3.0 + 7 * short


def test_a_multiplier_that_hardly_counts_is_not_made_long() -> None:
    """‖x‖_{1/2} ≥ 0 says x ≥ 0: u = (−1, 0) with the scale ε needs ‖u‖_{−1} ≥ ε, and so an entry of ε, not a length of 1/0."""
    u, s = np.array([-1.0, 1e-13]), np.array([1e-12])
    atom = NegativePowerNorm(0.5)
    found = atom.project(FLOAT, u, s)
    assert np.max(np.abs(found - u)) < 4e-12 and atom.conjugate(FLOAT, found, s) == 0.0


def test_rows_without_slack_hold_at_the_ends_of_bounds_and_where_a_norm_is_to_be_0() -> None:
    """log x ≥ 0 over x ≤ 1 leaves x = 1; norms of rows ≤ (0, 1) leave the first row 0, and the sum of the second is at most √3."""
    x, X = variable(2), cp.Variable((2, 3), name="X")
    point = cp.Problem(cp.Minimize(cp.sum(x)), [cp.log(x) >= 0, x <= 1])
    assert upper(point, INTERVAL, at([1 - 1e-9, 1 + 1e-9])) <= 2.0 + 1e-14
    row = cp.Problem(cp.Maximize(cp.sum(X)), [cp.norm(X, 2, axis=1) <= np.array([0.0, 1.0])])
    near = {"X": np.array([[1e-9, -1e-9, 0.0], [1 / math.sqrt(3)] * 3])}
    assert -math.sqrt(3) <= upper(row, INTERVAL, near) <= -math.sqrt(3) + 1e-8


def test_more_equalities_than_are_solved_hold_where_floats_solve_them_exactly() -> None:
    """3000 rows c_i x_j = c_i j in three entries: x = (1, 2, 3), decided in fractions; with 1/3 for 1 no float solves them."""
    x, factors = variable(3), np.arange(1.0, 3001.0).reshape(1000, 3)
    near = at([1 + 1e-11, 2 - 1e-11, 3.0])
    for first, least in ((1.0, 6.0), (1 / 3, math.inf)):
        rows = cp.multiply(factors, cp.broadcast_to(x, (1000, 3))) == factors * np.array([first, 2.0, 3.0])
        assert upper(cp.Problem(cp.Minimize(cp.sum(x)), [rows]), INTERVAL, near) == pytest.approx(least, rel=1e-14)


def test_where_clarabel_does_not_close_the_others_that_are_installed_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """max x₀ + x₁ over x₀ + x₁ ≤ 3, x₀ − x₁ ≥ 1: a whole edge is optimal."""
    x = variable(2)
    declared = Declared.of(cp.Problem(cp.Maximize(cp.sum(x)), [cp.sum(x) <= 3, x[0] - x[1] >= 1]))
    original = graph_form.one_solve

    def without_clarabel(form: GraphForm, solver: str, options: dict[str, Any], tol: float) -> Any:
        if solver == "CLARABEL":
            raise NotAvailable("it failed") from RuntimeError()
        return original(form, solver, options, tol)

    monkeypatch.setattr(graph_form, "one_solve", without_clarabel)
    (found,) = graph_form.candidates(declared)
    assert found.solver in graph_form.OTHERS and found.certificate.closes(1e-9)
    assert simopt.certify(declared, *solved(declared), num=INTERVAL).closes(1e-9)
    with pytest.raises(NotAvailable, match="it failed"):
        solved(declared, "CLARABEL")  # who names a back end is given no other


def test_no_back_end_is_asked_without_an_end() -> None:
    """HiGHS's method for quadratic objectives goes round for ever on the hull of "margins beyond 1, λ = 0.001"."""
    for name in ("CLARABEL", *graph_form.OTHERS):
        assert any("iter" in option for option in graph_form.TIGHT[name])
    registry.load("problems")
    examples = registry.get("problem", "hinge-svm-hull").examples(np.random.default_rng(0))
    (example,) = [each for each in examples if each.name == "margins beyond 1, λ = 0.001"]
    found = list(graph_form.candidates(Declared.of(example.problem.declare())))
    assert min(each.certificate.upper for each in found) - max(each.certificate.lower for each in found) <= 1e-10
