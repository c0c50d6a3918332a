"""Linear programmes by the basis of a simplex method: exact bounds, against planted optima in fractions, also where a basis lies."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import simopt
from simopt.arithmetic import Interval, triangular
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.duality import Declared
from simopt.duality.feasibility import slater
from simopt.duality.vertices import optimum as optimum_module
from simopt.duality.vertices import simplex
from simopt.duality.vertices.linear_programme import LinearProgramme
from simopt.duality.vertices.optimum import vertex_of
from simopt.duality.vertices.safe_bound import safe_bound
from simopt.duality.vertices.vertex import ProvenVertex, SimplexBasis, _total, rounded_down, rounded_up, vertex


def planted(seed: int) -> tuple[cp.Problem, Fraction]:
    """min ⟨c, x⟩ with rows of both kinds, bounds, free columns and multipliers that are whole numbers; every second point is degenerate."""
    rng = np.random.default_rng(seed)
    n, m, k = 9, 7, 4
    x = cp.Variable(n, name="x")
    rows, equal = rng.integers(-3, 4, (m, n)).astype(float), rng.integers(-3, 4, (k, n)).astype(float)
    at, y = rng.integers(-2, 3, n).astype(float), rng.integers(0, 4, m) * (rng.random(m) < 0.5)
    slack = np.where(y > 0, 0.0, rng.integers(0, 1 + seed % 2 * 3, m))
    v, z = rng.integers(-3, 4, k), rng.integers(0, 4, n) * (rng.random(n) < 0.4)
    bounded = z > 0
    cost = z - rows.T @ y - equal.T @ v
    constraints = [rows @ x <= rows @ at + slack, equal @ x == equal @ at]
    if bounded.any():
        constraints.append(x[bounded] >= at[bounded])
    return cp.Problem(cp.Minimize(cost @ x + 0.5), constraints), Fraction(float(cost @ at)) + Fraction(1, 2)


@pytest.mark.parametrize("seed", range(30))
def test_bounds_are_the_floats_around_a_planted_optimum(seed: int) -> None:
    problem, optimum = planted(seed)
    found = vertex_of(Declared.of(problem).programme)
    assert found is not None
    assert Fraction(found.lower) <= optimum <= Fraction(found.upper) and found.upper - found.lower <= 2 * np.spacing(abs(found.upper))


@pytest.mark.parametrize("num", [False, True, "rational"])
def test_certify_takes_the_vertex_of_a_linear_programme(num: bool | str) -> None:
    for seed in range(4):
        problem, optimum = planted(seed)
        problem.solve(solver="CLARABEL")
        found = simopt.certify(problem, rigorous=num)
        assert Fraction(found.lower) <= optimum <= Fraction(found.upper) and found.relative_gap <= 1e-15
        assert simopt.certify(cp.Problem(cp.Maximize(-problem.objective.expr), problem.constraints), rigorous=num).upper == -found.lower


def test_the_present_values_are_kept_where_they_are_as_good() -> None:
    """Of many optima the vertex is another one; what is said to be repaired is the point that the problem has."""
    x = cp.Variable(2, name="x", nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [cp.sum(x) >= 1])
    problem.solve(solver="CLARABEL")
    x.value = np.array([0.5, 0.5])
    assert simopt.certify(problem).infeasibility <= 1e-9
    x.value = np.array([3.0, 3.0])
    assert simopt.certify(problem).infeasibility > 0.1


def local(columns: int) -> cp.Problem:
    """A sparse linear programme whose rows stand near to the diagonal, solved to a tolerance; its point violates rows."""
    rng, x = np.random.default_rng(3), cp.Variable(columns, name="x")
    of_column = np.repeat(np.arange(columns), 4)
    rows = np.clip(of_column // 2 + rng.integers(-10, 11, 4 * columns), 0, columns // 2 - 1)
    matrix = sp.csc_array((rng.normal(size=4 * columns), (rows, of_column)), shape=(columns // 2, columns))
    most = matrix @ rng.random(columns) + 0.1 * rng.random(columns // 2)
    problem = cp.Problem(cp.Minimize(rng.normal(size=columns) @ x), [matrix @ x <= most, x >= 0, x <= 1])
    problem.solve(solver="CLARABEL")
    return problem


def test_beside_a_vertex_no_slater_point_is_solved_for(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = local(400)
    monkeypatch.setattr(slater, "_solution", lambda *_: pytest.fail("a Slater point is solved for"))
    found = simopt.certify(problem)
    assert found.relative_gap <= 1e-15
    assert found.infeasibility <= 1e-3  # of the point from the vertex that is proven


def test_rows_of_which_too_many_hang_together_are_left_to_other_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """An obstacle above a string: the rows of the basis are tridiagonal."""
    x, size = cp.Variable(30, name="x"), 30
    string = sp.diags_array([np.full(size - 1, -1.0), np.full(size, 2.0), np.full(size - 1, -1.0)], offsets=[-1, 0, 1], format="csr")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [string @ x >= -0.01, x >= np.sin(np.arange(size) / 5)])
    problem.solve(solver="CLARABEL")
    exact = simopt.certify(problem)
    monkeypatch.setattr(triangular, "LARGEST", 2)
    fresh = cp.Problem(problem.objective, problem.constraints)  # of the other its vertex is remembered
    assert vertex_of(Declared.of(fresh).programme) is None
    other = simopt.certify(fresh)
    assert exact.relative_gap <= 1e-15 and other.closes(1e-8)
    assert other.lower - 1e-12 <= exact.lower and exact.upper <= other.upper + 1e-12


def test_sums_of_fractions_are_exact_in_any_order() -> None:
    import flint

    for count in range(6):
        numbers = [flint.fmpq(1, 3 + k) for k in range(count)]
        assert _total(numbers) == sum(numbers, flint.fmpq(0))


def largest() -> cp.Problem:
    """Maxima and sizes in objective and rows, a variable that an equality defines and one that is an epigraph."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(-4, 5, (12, 4)) / 4.0, rng.integers(-4, 5, 12) / 2.0
    x, t, y = cp.Variable(4, name="x"), cp.Variable(name="t"), cp.Variable(3, name="y")
    objective = cp.norm1(a @ x - b) + cp.max(a[:3] @ x) + t + cp.norm_inf(x) - cp.min(b[:2] + x[:2]) + cp.sum(cp.maximum(y, 0.5))
    return cp.Problem(cp.Minimize(objective), [t >= a[4] @ x, t >= -x[0], y == a[5:8] @ x + 1, cp.abs(x) <= 3])


def test_maxima_and_sizes_are_linear() -> None:
    problem = largest()
    found = vertex_of(Declared.of(problem).programme)
    assert found is not None and found.upper - found.lower <= 1e-14 * abs(found.upper)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert found.lower - 1e-9 <= problem.value <= found.upper + 1e-9
    judged = simopt.certify(problem, found.point, found.multipliers, rigorous=True, solver=None)
    assert judged.lower <= found.upper and judged.upper >= found.lower  # what the judge proves of the same point and multipliers


def test_numbers_that_the_formula_rounds_are_fractions() -> None:
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [0.1 * (0.2 * x) >= 0.3, 3 * x[0] - x[1] / 3 >= 0.1])
    linear = LinearProgramme.of(Declared.of(problem).programme)
    assert linear is not None and not linear.matrix.exact_rows.all()
    row, b = linear.exact_row(0)
    assert Fraction(int(row[0].p), int(row[0].q)) == -Fraction(0.1) * Fraction(0.2) and Fraction(int(b.p), int(b.q)) == Fraction(0.3)
    found = vertex_of(Declared.of(problem).programme)
    each = Fraction(0.3) / (Fraction(0.1) * Fraction(0.2))
    assert found is not None and Fraction(found.lower) <= 2 * each <= Fraction(found.upper) and found.upper - found.lower <= 1e-14


def ugly(seed: int) -> tuple[cp.Problem, Fraction]:
    """The same with rows stored twice, rows apart from others by 2⁻⁴⁰ of an entry, and rows and columns of sizes from 2⁻⁴⁰ to 2⁴⁰."""
    rng = np.random.default_rng(1000 + seed)
    n, m, k = 7, 6, 3
    columns = 2.0 ** rng.integers(-40, 41, n) if seed % 3 == 0 else np.ones(n)
    rows, equal = rng.integers(-3, 4, (m, n)).astype(float), rng.integers(-3, 4, (k, n)).astype(float)
    nearly = rows[:2].copy()
    nearly[:, rng.integers(n)] += 2.0**-40
    rows, equal = np.concatenate([rows, rows[:2], nearly]), np.concatenate([equal, equal[:1], equal[:1] + equal[1:2]])
    at, y = rng.integers(-2, 3, n).astype(float), rng.integers(0, 4, len(rows)) * (rng.random(len(rows)) < 0.4)
    slack = np.where(y > 0, 0.0, rng.integers(0, 3, len(rows)))
    v, z = rng.integers(-3, 4, len(equal)), rng.integers(0, 4, n) * (rng.random(n) < 0.5)
    cost, limits, fixed = z - rows.T @ y - equal.T @ v, rows @ at + slack, equal @ at
    scale = 2.0 ** rng.integers(-40, 41, len(rows)) if seed % 2 else np.ones(len(rows))
    x = cp.Variable(n, name="x")  # x stands for columns · x
    constraints = [(scale[:, None] * rows / columns) @ x <= scale * limits, (equal / columns) @ x == fixed]
    if (z > 0).any():
        constraints.append(x[z > 0] >= (at * columns)[z > 0])
    return cp.Problem(cp.Minimize((cost / columns) @ x), constraints), Fraction(float(cost @ at))


def test_of_ugly_linear_programmes_no_bound_is_false_and_most_are_the_optimum() -> None:
    exact = 0
    for seed in range(150):
        problem, optimum = ugly(seed)
        found = vertex_of(Declared.of(problem).programme)
        if found is not None:
            assert found.lower == -np.inf or Fraction(found.lower) <= optimum
            assert found.upper == np.inf or Fraction(found.upper) >= optimum
            exact += found.upper - found.lower <= 4 * np.spacing(abs(found.upper))
    assert exact >= 100


@pytest.mark.thorough
@pytest.mark.parametrize("block", range(10))
def test_of_a_thousand_wrong_bases_none_proves_what_is_false(block: int) -> None:
    """Bases of other right-hand sides and costs, columns and rows exchanged, and multipliers of any size."""
    rng = np.random.default_rng(block)
    for number in range(100):
        problem, optimum = ugly(100 * block + number) if number % 2 else planted(100 * block + number)
        linear = LinearProgramme.of(Declared.of(problem).programme)
        assert linear is not None
        safe = safe_bound(linear, rng.normal(size=len(linear.equality)) * 10.0 ** rng.integers(-12, 13))
        assert safe == -np.inf or Fraction(safe) <= optimum
        moved = replace(linear, constants=Interval(linear.constants.mid * (1 + 1e-3 * rng.normal(size=len(linear.equality)))))
        basis = simplex._optimal_basis(moved if number % 3 else linear, None)
        if basis is None:
            continue
        basic, tight = basis.basic.copy(), basis.tight.copy()
        for mask in (basic, tight) if number % 5 == 0 else ():
            (inside,), (outside,) = np.nonzero(mask), np.nonzero(~mask)
            if len(inside) and len(outside):
                mask[rng.choice(inside)], mask[rng.choice(outside)] = False, True
        result = vertex(linear, replace(basis, basic=basic, tight=tight))
        for bound, sign in () if result is None else ((result.lower, 1), (result.upper, -1)):
            assert bound is None or sign * Fraction(int(bound.p), int(bound.q)) <= sign * optimum


def basis_of(linear: LinearProgramme) -> SimplexBasis:
    found = simplex._optimal_basis(linear, None)
    assert found is not None
    return found


def test_any_basis_gives_bounds_that_hold_or_none() -> None:
    """Columns and rows exchanged at random: the bounds are farther off, or missing, and never false."""
    rng, finite = np.random.default_rng(0), 0
    for seed in range(40):
        problem, optimum = planted(seed % 10)
        linear = LinearProgramme.of(Declared.of(problem).programme)
        assert linear is not None
        basis = basis_of(linear)
        basic, tight = basis.basic.copy(), basis.tight.copy()
        for mask in (basic, tight):
            (inside,), (outside,) = np.nonzero(mask), np.nonzero(~mask)
            if len(inside) and len(outside):
                mask[rng.choice(inside)], mask[rng.choice(outside)] = False, True
        found = vertex(linear, replace(basis, basic=basic, tight=tight, at_upper=rng.random(len(basic)) < 0.3))
        if found is None:
            continue
        for bound, sign in ((found.lower, 1), (found.upper, -1)):
            if bound is not None:
                finite += 1
                assert sign * Fraction(int(bound.p), int(bound.q)) <= sign * optimum
    assert finite >= 10


def test_a_reduced_cost_of_the_wrong_sign_counts_with_the_other_end() -> None:
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(x[0] - x[1]), [x >= 0, x <= 2, x[0] + x[1] <= 3])
    linear = LinearProgramme.of(Declared.of(problem).programme)
    assert linear is not None
    none = np.zeros(2, dtype=bool)
    found = ProvenVertex(linear, SimplexBasis(none, np.zeros(1, dtype=bool), none))
    assert found.upper == 0 and found.lower == -2
    assert ProvenVertex(replace(linear, high=np.array([2.0, np.inf])), found.basis).lower is None
    left = found.residuals()
    assert left.violation == 0.0 and left.constants.tolist() == [-3.0] and (left.low.tolist(), left.high.tolist()) == ([0, 0], [2, 2])


def test_a_column_at_an_upper_end_that_is_infinite_is_at_its_lower_one() -> None:
    """It was at 0, below a lower end of 1, and x = 0 counted as feasible."""
    x = cp.Variable(name="x")
    linear = LinearProgramme.of(Declared.of(cp.Problem(cp.Minimize(x), [x >= 1])).programme)
    assert linear is not None
    found = ProvenVertex(linear, SimplexBasis(np.zeros(1, dtype=bool), np.zeros(0, dtype=bool), np.ones(1, dtype=bool)))
    assert found.lower == found.upper == 1


def test_any_multipliers_give_a_safe_bound() -> None:
    rng = np.random.default_rng(4)
    for seed in range(12):
        problem, optimum = planted(seed)
        linear = LinearProgramme.of(Declared.of(problem).programme)
        assert linear is not None
        boxed = replace(linear, low=np.maximum(linear.low, -9.0), high=np.minimum(linear.high, 9.0))  # the planted point is inside
        bounds = [safe_bound(boxed, rng.normal(size=len(linear.equality))) for _ in range(20)]
        assert all(-np.inf < bound and Fraction(bound) <= optimum for bound in bounds)
        best = simplex.inner_multipliers(boxed)
        assert best is not None and Fraction(safe_bound(boxed, best)) <= optimum
        assert float(optimum) - safe_bound(boxed, best) <= 1e-6 * (1 + abs(float(optimum)))
        assert (
            safe_bound(replace(linear, low=np.full(9, -np.inf), high=np.full(9, np.inf)), rng.normal(size=len(linear.equality))) == -np.inf
        )


def test_a_vertex_without_a_lower_bound_takes_that_of_other_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    x = cp.Variable(3, name="x", nonneg=True)
    problem = cp.Problem(cp.Minimize(x[0] + 2 * x[1] + 3 * x[2]), [cp.sum(x) >= 1, x[0] <= x[1]])
    monkeypatch.setattr(ProvenVertex, "_lower", lambda self: None)
    found = vertex_of(Declared.of(problem).programme)
    assert found is not None and 1.5 - 1e-7 <= found.lower <= 1.5 == found.upper


def test_rounding_is_outward() -> None:
    import flint

    third = flint.fmpq(1, 3)
    low, high = rounded_down(third), rounded_up(third)
    assert Fraction(low) < Fraction(1, 3) < Fraction(high) and high == np.nextafter(low, 1.0)
    assert rounded_down(flint.fmpq(-1, 3)) == -high and rounded_up(flint.fmpq(5, 4)) == rounded_down(flint.fmpq(5, 4)) == 1.25


def test_what_is_left_at_a_vertex_is_magnified_and_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first basis that is optimal for other right-hand sides, so that its vertex violates rows: the second solve starts from it."""
    original, asked = simplex._optimal_basis, list[Any]()

    def poor(linear: LinearProgramme, near: ProvenVertex | None) -> SimplexBasis | None:
        asked.append(near)
        shifted = Interval(linear.constants.mid + np.random.default_rng(0).normal(size=len(linear.equality)))
        return original(linear if near is not None else replace(linear, constants=shifted), near)

    monkeypatch.setattr(simplex, "_optimal_basis", poor)
    refined = 0
    for seed in range(10):
        problem, optimum = planted(seed)
        linear = LinearProgramme.of(Declared.of(problem).programme)
        assert linear is not None
        asked.clear()
        found = simplex.optimal_vertex(linear)
        if len(asked) == 2 and found is not None and found.upper is not None:
            refined += 1
            assert found.lower == found.upper and Fraction(int(found.upper.p), int(found.upper.q)) == optimum
    assert refined


@pytest.mark.parametrize("scale", [2.0**60, 2.0**-60, 2.0**-300])
def test_numbers_that_highs_refuses_or_drops_are_scaled(scale: float) -> None:
    x = cp.Variable(2, name="x", nonneg=True)
    problem = cp.Problem(cp.Minimize(x[0] + 3 * x[1]), [scale * (x[0] + 2 * x[1]) >= 3 * scale, x[0] <= 2])
    found = vertex_of(Declared.of(problem).programme)
    assert found is not None and found.lower == found.upper == 3.5


def test_a_multiplier_whose_wrong_sign_is_below_a_tolerance_is_magnified() -> None:
    """Both rows hold at (1, 0). With the second one the reduced cost of x₁ is −2⁻⁴⁰, which HiGHS takes for 0."""
    x = cp.Variable(2, name="x", nonneg=True)
    problem = cp.Problem(cp.Minimize(x[0] + x[1]), [x[0] + x[1] >= 1, x[0] + (1 + 2.0**-40) * x[1] >= 1])
    linear = LinearProgramme.of(Declared.of(problem).programme)
    assert linear is not None
    poor = vertex(linear, SimplexBasis(np.array([True, False]), np.array([False, True]), np.zeros(2, dtype=bool)))
    assert poor is not None and poor.lower is None and poor.upper == 1
    d, y, wrong = poor.duals()
    assert (d.tolist(), y.tolist(), wrong) == ([0.0, -(2.0**-40)], [0.0, 1.0], 2.0**-40)
    better = next(simplex.further_vertices(linear, poor))
    assert better.lower is not None and 1 - 2.0**-39 <= float(better.lower.p) / float(better.lower.q) <= 1.0


def test_bounds_of_two_vertices_are_those_of_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first vertex has an upper bound only, a further one a lower bound."""
    first = simplex.optimal_vertex
    monkeypatch.setattr(optimum_module, "optimal_vertex", lambda linear: without(first(linear), "lower"))
    monkeypatch.setattr(optimum_module, "further_vertices", lambda linear, found: iter([without(first(linear), "upper")]))
    for seed in range(6):
        problem, optimum = planted(seed)
        found = vertex_of(Declared.of(problem).programme)
        assert found is not None and Fraction(found.lower) <= optimum <= Fraction(found.upper)
        assert found.upper - found.lower <= 2 * np.spacing(abs(found.upper))


def without(proven: ProvenVertex | None, bound: str) -> ProvenVertex:
    assert proven is not None
    setattr(proven, bound, None)
    return proven


def test_an_empty_or_endless_linear_programme_has_no_vertex() -> None:
    x = cp.Variable(2, name="x")
    empty = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) <= 1])
    endless = cp.Problem(cp.Minimize(x[0] - x[1]), [x[0] >= 1])
    assert vertex_of(Declared.of(empty).programme) is None and vertex_of(Declared.of(endless).programme) is None
    assert simopt.certify(empty).infeasible and simopt.certify(endless).unbounded
    assert vertex_of(Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x)))).programme) is None  # not linear


@pytest.mark.parametrize("apart", [2.0**-48, 1e-12, 1e-11])
def test_bounds_in_the_wrong_order_by_less_than_a_tolerance_leave_no_point(apart: float) -> None:
    """HiGHS takes 1 + 1e-11 ≤ x ≤ 1 for a number; no x is one."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    for rows in ([x >= 1 + apart, x <= 1, y >= 0], [x + 2 * y >= 3 + apart, x + 2 * y <= 3, x >= 0, y >= 0]):
        found = vertex_of(Declared.of(cp.Problem(cp.Minimize(x + y), rows)).programme)
        assert found is None or found.upper == np.inf
        assert not np.isfinite(simopt.certify(cp.Problem(cp.Minimize(x + y), rows), rigorous=True).upper)


def test_rows_with_terms_are_reached_without_a_slater_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver's point violates |u| ≤ 1 by its tolerance, and dynamics tie all entries to each other."""
    rng = np.random.default_rng(3)
    step, push = rng.normal(size=(4, 4)) / 4, rng.normal(size=(4, 2))
    x, u = cp.Variable((4, 16), name="x"), cp.Variable((2, 15), name="u")
    rows = [x[:, 0] == 5 * rng.normal(size=4), x[:, 1:] == step @ x[:, :-1] + push @ u, cp.abs(u) <= 0.1]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + 0.1 * cp.norm1(u)), rows)
    problem.solve(solver="CLARABEL")
    u.value = np.clip(u.value, -0.1, 0.1) * (1 + 1e-9)
    monkeypatch.setattr(slater, "_solution", lambda *_: pytest.fail("a Slater point is solved for"))
    declared = Declared.of(problem)
    point = {leaf.name: leaf.variable.value for leaf in declared.programme.leaves.values()}
    restored = declared.restore(point)
    value = float(declared.objective(restored))
    assert value < np.inf and abs(value - problem.value) <= 1e-7 * abs(value)


def test_slight_reduced_costs_of_a_wrong_sign_are_corrected_beside_clear_ones() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        A, c, x = rng.integers(0, 5, size=(12, 30)).astype(float), rng.integers(1, 9, size=30).astype(float), cp.Variable(30, nonneg=True)
        linear = LinearProgramme.of(Declared.of(cp.Problem(cp.Minimize(c @ x), [A @ x >= rng.integers(1, 9, size=12)])).programme)
        first = None if linear is None else simplex.optimal_vertex(linear)
        assert linear is not None and first is not None
        reduced = first.duals()[0]
        slight = np.flatnonzero(~first.basis.basic & (c - reduced > 0.1))[::2]  # c_j is not only the reduced cost: x_j has no ray
        c[slight] -= reduced[slight] + rng.integers(1, 9, size=len(slight)) * 2.0**-42
        poor = vertex(replace(linear, cost=IntervalMatrix(sp.csr_array(c[None, :]))), first.basis)
        assert poor is not None and poor.upper is not None and poor.lower is None
        better = next(simplex.further_vertices(poor.linear, poor))
        assert better.lower is not None and better.lower == better.upper


@pytest.mark.thorough
def test_the_optimum_of_greenbea_is_proven() -> None:
    """22 reduced costs of HiGHS's basis are −1.6e-12. Held at their bounds, clear columns made each further vertex worse."""
    folder = os.environ.get("SIMOPT_INSTANCES", "")
    path = Path(folder) / "lp" / "greenbea.mps.gz"
    if not (folder and path.is_file()):
        pytest.skip("SIMOPT_INSTANCES names no folder with lp/greenbea.mps.gz")
    found = vertex_of(Declared.of(simopt.read(path)).programme)
    assert found is not None and found.upper - found.lower <= 2 * np.spacing(abs(found.upper))
    assert found.lower == pytest.approx(-7.2555248129846e7, rel=1e-12)  # Koch 2004
