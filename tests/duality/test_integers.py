"""Problems with integers: the value of an exact integer point, the bound of the relaxation, and what lies between is called what it is."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.transforms.partial_optimize import partial_optimize

import simopt
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.model.status import Status

needs_squares = pytest.mark.backend("ecos")  # of the back ends here it alone takes integers beside squares and cones
RIGOROUS = pytest.mark.parametrize("rigorous", [False, True, "rational"])


def knapsack(seed: int, n: int = 10) -> tuple[cp.Problem, float, Fraction]:
    """max ⟨v, x⟩ subject to ⟨w, x⟩ ≤ C, its optimum by enumeration, and that of the relaxation by Dantzig's rule, as a fraction."""
    rng = np.random.default_rng(seed)
    v, w = rng.integers(5, 60, n).astype(float), rng.integers(5, 60, n).astype(float)
    capacity = float(np.floor(w.sum() / 2))
    every = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
    left, relaxed = Fraction(capacity), Fraction(0)
    for i in sorted(range(n), key=lambda i: Fraction(v[i]) / Fraction(w[i]), reverse=True):
        part = min(Fraction(1), left / Fraction(w[i]))
        relaxed, left = relaxed + part * Fraction(v[i]), left - part * Fraction(w[i])
    x = cp.Variable(n, boolean=True, name="x")
    return cp.Problem(cp.Maximize(v @ x + 2), [w @ x <= capacity]), float((every @ v)[every @ w <= capacity].max()) + 2, relaxed + 2


@RIGOROUS
@pytest.mark.parametrize("seed", range(4))
def test_a_knapsack_lies_between_its_optimum_and_dantzigs_bound(seed: int, rigorous: bool | str) -> None:
    problem, optimum, relaxed = knapsack(seed)
    solution = simopt.solve(problem, rigorous=rigorous)
    found = solution.certificate
    assert found.maximises and found.lower == optimum == problem.value == solution.value
    assert Fraction(found.upper) >= relaxed * (1 - Fraction(1e-12 if rigorous is False else 0)) and found.upper < float(relaxed) + 1e-8
    assert set(np.unique(problem.variables()[0].value)) <= {0.0, 1.0}
    if relaxed > optimum:
        assert solution.status is Status.GAP_OPEN and problem.status == "optimal_inaccurate"
        assert found.open.startswith(
            "the gap is that between the integer point and the relaxation, in which integers are real numbers, and not"
        )
        assert f"HIGHS claims the bound {optimum:g}, which is not proven" in found.open
    again = simopt.certify(problem, rigorous=rigorous)
    assert (again.lower, again.upper) == (found.lower, found.upper)


@RIGOROUS
@pytest.mark.parametrize("seed", range(3))
def test_an_assignment_closes_since_its_relaxation_has_integer_vertices(seed: int, rigorous: bool | str) -> None:
    costs = np.random.default_rng(seed).integers(1, 40, (5, 5)).astype(float)
    optimum = min(sum(costs[i, j] for i, j in enumerate(order)) for order in itertools.permutations(range(5)))
    X = cp.Variable((5, 5), boolean=True, name="X")
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs, X))), [cp.sum(X, axis=0) == 1, cp.sum(X, axis=1) == 1])
    solution = simopt.solve(problem, "highs", rigorous=rigorous)
    found = solution.certificate
    assert solution.status is Status.OPTIMAL and problem.status == "optimal" and found.lower == found.upper == optimum == problem.value
    np.testing.assert_array_equal(X.value, solution.point["X"])
    X.value = np.eye(5)
    judged = simopt.certify(problem, rigorous=rigorous)
    assert (
        judged.upper == np.trace(costs)
        and judged.lower == optimum
        and (judged.closes(1e-8) or "a better point lower its value" in judged.open)
    )
    assert np.array_equal(X.value, np.eye(5))


def test_what_a_back_end_left_is_rounded_and_then_checked_in_fractions() -> None:
    k = cp.Variable(3, integer=True, name="k")
    problem = cp.Problem(cp.Minimize(cp.sum(k)), [k >= np.array([0.5, -1.0, 2.0]), 0.1 * k[0] + 0.2 * k[1] <= 0.3])
    k.save_value(np.array([1.0 + 3e-7, -1.0 - 2e-7, 2.0]))
    found = simopt.certify(problem, rigorous=True)
    assert found.upper == 2.0 and 0.0 < found.infeasibility < 1e-6 and found.lower == 1.5
    cases = {
        "variable k: entry 1 is -0.9, no integer": [1.0, -0.9, 2.0],
        "with these integers: row 0: entry 0 is not proven to be ≤ 0": [0.0, -1.0, 2.0],
    }
    for message, value in cases.items():
        certificate = simopt.certify(problem, {"k": value}, rigorous=True)
        assert certificate.upper == np.inf and certificate.lower == 1.5 and certificate.open.startswith(message), certificate.open
    tenths = cp.Problem(cp.Minimize(k[0]), [0.1 * k[0] + 0.2 * k[1] == 0.3, k >= 0, k <= 3])
    point = {"k": [1.0, 1.0, 0.0]}
    assert simopt.certify(tenths, point).upper == 1.0  # in floats an equality holds to rounding
    assert simopt.certify(tenths, point, rigorous=True).upper == np.inf  # 0.1 + 0.2 is not 0.3 exactly


@needs_squares
def test_a_back_end_that_rounds_coarsely_is_rounded_and_one_that_takes_no_squares_leaves_a_bound() -> None:
    k = cp.Variable(2, integer=True, bounds=[-3, 3], name="k")
    squares = cp.Problem(cp.Minimize(cp.sum_squares(k - np.array([0.3, 1.6]))), [cp.sum(k) <= 1])
    for found in (simopt.solve(squares, rigorous=True).certificate, simopt.certify(squares, rigorous=True)):
        every = [(a - 0.3) ** 2 + (b - 1.6) ** 2 for a in range(-3, 4) for b in range(-3, 4) if a + b <= 1]
        assert found.upper == pytest.approx(min(every), abs=1e-12) and found.lower <= min(every)
    none = simopt.solve(squares, "highs")  # it takes integers in linear problems only
    assert none.status is Status.FAILED and none.certificate.lower == pytest.approx(0.405, abs=1e-8) and none.certificate.upper == np.inf
    assert "HIGHS cannot solve this problem" in none.certificate.open


def test_rounding_in_a_row_of_integers_is_named() -> None:
    k = cp.Variable(2, integer=True, bounds=[-3, 3], name="k")
    third = cp.Problem(cp.Maximize(k[0]), [0.1 * k[0] + 0.2 * k[0] <= 0.3 * 1.0])
    exact = simopt.certify(third, {"k": [1.0, 0.0]}, rigorous=True)
    assert exact.lower == -np.inf and "integers cannot be moved by rounding, slack in the row would help" in exact.open


def test_bounds_of_integers_are_part_of_the_relaxation_and_of_the_check() -> None:
    k, b = cp.Variable(2, integer=True, bounds=[-1.5, 2.5], name="k"), cp.Variable(boolean=True, name="b")
    problem = cp.Problem(cp.Maximize(cp.sum(k) + 3 * b))
    found = simopt.certify(problem, {"k": [2.0, 2.0], "b": 1.0}, rigorous=True)
    assert (found.lower, found.upper) == (7.0, 7.0)  # of real numbers within the bounds as they are written it is 8
    for point, message in (({"k": [3.0, 2.0], "b": 1.0}, "k: entry 0 is 3"), ({"k": [2.0, 2.0], "b": 2.0}, "b: entry 0 is 2")):
        outside = simopt.certify(problem, point, rigorous=True)
        assert outside.lower == -np.inf and outside.upper == 7.0 and f"variable {message}, outside of its bounds" in outside.open
    solution = simopt.solve(problem)
    assert {name: value.tolist() for name, value in solution.point.items()} == {"k": [2.0, 2.0], "b": 1.0}


@pytest.mark.parametrize("rigorous", [False, True])
def test_integers_beside_real_variables_are_fixed_and_the_others_are_proven(rigorous: bool) -> None:
    """min |y − k − 0.25| + y with y ≥ k + 1/8, k ≥ 1/2 has k = 1, y = 9/8; with real k it is k = 1/2, y = 5/8."""
    y, k = cp.Variable(name="y"), cp.Variable(integer=True, name="k")
    problem = cp.Problem(cp.Minimize(cp.abs(y - k - 0.25) + y), [y >= k + 0.125, k >= 0.5])
    solution = simopt.solve(problem, rigorous=rigorous)
    found = solution.certificate
    assert found.lower == pytest.approx(0.75, abs=1e-8) and found.upper == pytest.approx(1.25, abs=1e-7)
    assert found.lower <= 0.75 + 1e-12 and 1.25 - 1e-12 <= found.upper
    assert float(k.value) == 1.0 and float(y.value) >= 1.125 - 1e-9
    y.value = 1.3
    judged = simopt.certify(problem, rigorous=rigorous, solver=None)
    assert judged.upper == pytest.approx(1.35, abs=1e-9)


@needs_squares
@pytest.mark.parametrize("rigorous", [False, True])
def test_some_entries_may_be_integers(rigorous: bool) -> None:
    part = cp.Variable(2, integer=([0],), name="part")
    half = cp.Problem(cp.Minimize(cp.sum_squares(part - 0.5)))
    mixed = simopt.solve(half, rigorous=rigorous, tol=1e-6).certificate
    assert mixed.upper == pytest.approx(0.25, abs=1e-6) and mixed.lower <= 1e-9
    assert float(part.value[0]).is_integer() and part.value[1] == pytest.approx(0.5, abs=1e-3)


def test_what_is_infeasible_is_proven_by_the_relaxation_or_called_a_claim() -> None:
    k = cp.Variable(2, integer=True, bounds=[0, 5], name="k")
    never = cp.Problem(cp.Minimize(cp.sum(k)), [cp.sum(k) >= 11])
    solution = simopt.solve(never)
    assert (
        solution.status is Status.INFEASIBLE and never.status == "infeasible" and solution.certificate.open.startswith("of the relaxation")
    )
    parity = cp.Problem(cp.Minimize(cp.sum(k)), [2 * k[0] - 2 * k[1] == 1])
    solution = simopt.solve(parity, rigorous=True)
    found = solution.certificate
    assert (
        solution.status is Status.FAILED and solution.reported_status == "infeasible" and parity.status is None and solution.point is None
    )
    assert found.upper == np.inf and found.lower == 0.5 and "HIGHS claims that no point is feasible, which is not proven" in found.open


def test_a_relaxation_without_end_is_named() -> None:
    k = cp.Variable(2, integer=True, name="k")
    endless = cp.Problem(cp.Minimize(k[0] + k[1]), [k[0] - k[1] <= 3])
    for found in (simopt.certify(endless, {"k": [0, 0]}), simopt.certify(endless), simopt.solve(endless, rigorous=True).certificate):
        assert found.lower == -np.inf and not found.unbounded
        assert "the relaxation falls without end, which does not prove that its integer points do" in found.open
    assert simopt.certify(endless, {"k": [0, 0]}).upper == 0.0


def test_without_values_one_solve_finds_a_point_and_the_problem_stays_as_it_was() -> None:
    problem, optimum, relaxed = knapsack(7)
    (x,) = problem.variables()
    found = simopt.certify(problem, rigorous=True)
    assert found.lower == optimum and Fraction(found.upper) >= relaxed
    assert x.value is None and problem.status is None and problem.solver_stats is None
    with pytest.raises(InvalidProblem, match="variable x: it has no value; solve the problem first, or name a solver"):
        simopt.certify(problem, solver=None)
    for point, message in (({}, "point: x is missing"), ({"x": [1.0]}, "point: x has 1 entries, expected 10")):
        with pytest.raises(InvalidProblem, match=message):
            simopt.certify(problem, point)
    with pytest.raises(UnknownName, match="solver"):
        simopt.solve(problem, "high")
    failed = simopt.solve(problem, "clarabel")
    assert failed.status is Status.FAILED and "Error" in failed.message and Fraction(failed.certificate.upper) >= relaxed


def test_bounds_without_an_integer_between_them_are_infeasible() -> None:
    k = cp.Variable(2, integer=True, bounds=[0.25, 0.75], name="k")
    problem = cp.Problem(cp.Minimize(cp.sum(k)))
    assert simopt.solve(problem).status is Status.INFEASIBLE and simopt.certify(problem, rigorous=True).infeasible
    b = cp.Variable(boolean=True, name="b")
    rows = cp.Problem(cp.Minimize(b + k[0]), [b >= 5, b + k[0] >= 3])  # b is defined by rows, and has bounds
    assert simopt.certify(rows).infeasible


LOGIC = {
    "and": lambda x: x[0] & x[1] & x[2],
    "or": lambda x: x[0] | ~x[1],
    "exclusive": lambda x: x[0] ^ x[1] ^ x[2],
    "parity": lambda x: cp.logic.Xor(*x, cp.Constant(True)),
    "implies": lambda x: cp.logic.implies(x[0] & x[1], x[2] ^ x[1]),
    "with a constant": lambda x: cp.logic.And(x[0], cp.Constant(True)) | x[2],
}


@RIGOROUS
@pytest.mark.parametrize("name", LOGIC)
def test_functions_of_booleans_have_their_values_at_points_and_bounds_that_hold_between(name: str, rigorous: bool | str) -> None:
    weights = np.array([0.75, -0.5, 0.25])
    for sign in (1.0, -1.0):
        for goal in (0.0, 1.0):
            x = [cp.Variable(boolean=True, name=f"x{i}") for i in range(3)]
            function = LOGIC[name](x)
            problem = cp.Problem(cp.Minimize(sign * function + weights @ cp.hstack(x)), [x[0] + x[1] + x[2] >= goal])
            values = {}
            for point in itertools.product([0.0, 1.0], repeat=3):
                for variable, value in zip(x, point, strict=True):
                    variable.value = value
                if sum(point) >= goal:
                    values[point] = sign * float(function.value) + float(weights @ np.array(point))
            for variable in x:
                variable.save_value(None)
            solution = simopt.solve(problem, rigorous=rigorous)
            found = solution.certificate
            best = min(values.values())
            assert found.upper == best == problem.value and found.lower <= best + (1e-9 if rigorous is False else 0.0)
            for point, value in values.items():
                judged = simopt.certify(problem, dict(zip(("x0", "x1", "x2"), point, strict=True)), rigorous=rigorous)
                assert judged.upper == value and -1.75 <= judged.lower <= best + 1e-9


@needs_squares
def test_structured_integers_are_checked_as_such() -> None:
    S, target = cp.Variable((2, 2), symmetric=True, integer=True, name="S"), np.array([[0.25, 1.5], [1.75, 2.0]])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(S - target)))
    solution = simopt.solve(problem, rigorous=True)
    every = [(a, b, d) for a in range(-1, 4) for b in range(-1, 4) for d in range(-1, 4)]
    best = min((a - 0.25) ** 2 + (b - 1.5) ** 2 + (b - 1.75) ** 2 + (d - 2) ** 2 for a, b, d in every)
    assert solution.certificate.upper == best and solution.certificate.lower <= 2 * 0.125**2  # of real numbers: both off-diagonals 1.625
    skew = simopt.certify(problem, {"S": [[0, 1], [2, 2]]}, rigorous=True)
    assert skew.upper == np.inf and "variable S: entry 2 is 1, and 2 in a matrix of its structure" in skew.open
    sparse = cp.Variable((2, 2), integer=True, sparsity=[(0, 1), (0, 1)], name="sparse")
    total = cp.Problem(cp.Minimize(cp.sum(sparse)), [sparse >= -5.5])
    found = simopt.solve(total, rigorous=True).certificate
    assert (found.lower, found.upper) == (-11.0, -10.0)
    off = simopt.certify(total, {"sparse": [[-5, 1], [0, -5]]}, rigorous=True)
    assert off.upper == np.inf and "entry 2 is 1, and 0 in" in off.open


@needs_squares
@pytest.mark.parametrize("rigorous", [False, True])
def test_integers_beside_complex_numbers(rigorous: bool) -> None:
    """min |z − 1 − i| + k/4 with |z| ≤ k is (√2 − 1) + 1/4 at k = 1, and √2 − 3k/4 ≥ 0 for real k at k = √2."""
    z, k = cp.Variable(complex=True, name="z"), cp.Variable(integer=True, name="k")
    problem = cp.Problem(cp.Minimize(cp.abs(z - 1 - 1j) + k / 4), [cp.abs(z) <= k])
    solution = simopt.solve(problem, rigorous=rigorous, tol=1e-6)
    found = solution.certificate
    optimum, relaxed = min(max(2**0.5 - k, 0) + k / 4 for k in range(4)), 2**0.5 / 4
    assert found.upper == pytest.approx(optimum, rel=1e-5) and found.lower == pytest.approx(relaxed, rel=1e-5)
    assert found.upper >= optimum - 1e-12 and found.lower <= relaxed + 1e-12
    assert float(k.value).is_integer() and solution.point["z"].dtype == complex and abs(z.value) <= k.value + 1e-9
    judged = simopt.certify(problem, {"z": 1 + 1j, "k": 2.0}, rigorous=rigorous)
    assert judged.upper == pytest.approx(0.5, abs=1e-9) and judged.lower <= relaxed + 1e-12
    b = cp.Variable(2, boolean=True, name="b")
    lost = cp.Problem(cp.Maximize(b[0]), [cp.abs((1 + 1j) * b[0] + b[1]) <= 2])  # 0 by HiGHS, as CVXPY 1.9.3 gives it to that
    assert simopt.solve(lost, rigorous=rigorous).certificate.lower >= 1 - 1e-9


@pytest.mark.parametrize("rigorous", [False, True])
def test_integers_in_a_geometric_programme(rigorous: bool) -> None:
    """min k_1/k_2 + k_2 with k_1k_2 ≥ 5.5: CVXPY solves it as if the integers were real."""
    k = cp.Variable(2, pos=True, integer=True, bounds=[0, 7.5], name="k")
    problem = cp.Problem(cp.Minimize(k[0] / k[1] + k[1]), [k[0] * k[1] >= 5.5])
    best = min(a / b + b for a in range(1, 8) for b in range(1, 8) if a * b >= 5.5)
    for point in ((3.0, 2.0), (7.0, 1.0), (2.0, 3.0)):
        found = simopt.certify(problem, {"k": point}, rigorous=rigorous, gp=True)
        assert found.upper == pytest.approx(point[0] / point[1] + point[1], rel=1e-12) and 3.0 < found.lower <= best
        assert "that between the integer point and the relaxation" in found.open
    for point, message in (((2.0, 2.0), "row 0"), ((0.0, 6.0), "outside of its bounds"), ((2.5, 3.0), "no integer")):
        found = simopt.certify(problem, {"k": point}, rigorous=rigorous, gp=True)
        assert found.upper == np.inf and 3.0 < found.lower <= best and message in found.open
    solution = simopt.solve(problem, gp=True, rigorous=rigorous)
    assert solution.status is Status.FAILED and "no back end looks for integers of geometric programmes" in solution.message
    y = cp.Variable(pos=True, name="y")
    closes = cp.Problem(cp.Maximize(k[0] * y), [k[0] * k[1] <= 6, y * k[1] <= 2])
    solution = simopt.solve(closes, gp=True, rigorous=rigorous)
    assert solution.status is Status.OPTIMAL and solution.value == pytest.approx(12.0, rel=1e-8) and k.value.tolist() == [6.0, 1.0]


def test_a_partial_optimum_over_integers_is_one_over_all() -> None:
    b, p = cp.Variable(boolean=True, name="b"), cp.Variable(name="p")
    inner = partial_optimize(cp.Problem(cp.Minimize(cp.abs(p - 2 * b)), [p >= 0.5, p <= 1.5]), opt_vars=[p])
    found = simopt.solve(cp.Problem(cp.Minimize(inner + 0.125 * b)), rigorous=True, tol=1e-6).certificate
    assert found.upper == pytest.approx(0.5, rel=1e-6) and 0.0 < found.lower <= 0.03125 + 1e-9  # of real b: b = 1/4
    with pytest.raises(InvalidProblem, match="not convex"):
        simopt.solve(cp.Problem(cp.Maximize(inner + b)))


def test_an_integer_matrix_may_have_to_be_semidefinite() -> None:
    """No back end takes it: the point is the user's, and the relaxation is semidefinite."""
    H = cp.Variable((2, 2), integer=True, PSD=True, name="H")
    H.value = np.array([[2.0, 2.0], [2.0, 2.0]])
    found = simopt.certify(cp.Problem(cp.Minimize(cp.trace(H)), [H[0, 1] >= 1.5]), rigorous=True)
    assert found.upper == 4.0 and 3.0 - 1e-6 <= found.lower <= 3.0 and "the gap is that between" in found.open
    assert simopt.certify(cp.Problem(cp.Minimize(cp.trace(H)), [H[0, 1] >= 2]), rigorous=True).closes(1e-6)


def test_integers_where_they_are_not_read_are_refused_by_name() -> None:
    b, p = cp.Variable(boolean=True, name="b"), cp.Variable(name="p")
    part = cp.Variable(2, boolean=[(0,)], name="part")
    whole = cp.Variable(integer=True, name="whole")
    refused = {
        "a function of variable part, which is boolean in some entries only": cp.Problem(cp.Minimize(cp.sum(~part))),
        "FiniteSet is not known": cp.Problem(cp.Minimize(p + b), [cp.FiniteSet(p, [1.0, 2.0])]),
        "not convex": cp.Problem(cp.Minimize(cp.sqrt(whole)), [whole >= 0]),
    }
    for message, problem in refused.items():
        for judge in (simopt.solve, simopt.certify):
            with pytest.raises(InvalidProblem, match=message):
                judge(problem)


SCRIPT = """
import cvxpy as cp
x = cp.Variable(3, boolean=True, name="x")
cp.Problem(cp.Maximize(x[0] + 2 * x[1] + 4 * x[2]), [cp.sum(x) <= 2]).solve()
cp.Problem(cp.Maximize(cp.sum(x)), [2 * cp.sum(x) <= 3]).solve()
"""


def test_the_command_shows_the_gap_of_the_relaxation(tmp_path: Path) -> None:
    script = tmp_path / "choices.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "simopt", "certify", str(script), "--json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 1 and result.stdout.count('"optimal"') == 1 == result.stdout.count('"gap open"'), (
        result.stdout + result.stderr
    )
    assert "between the integer point and the relaxation" in result.stdout
