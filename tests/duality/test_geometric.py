"""Geometric programmes: bounds of the logarithms' problem are mapped back, for optima that are known as fractions."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import flint
import numpy as np
import pytest
from cvxpy.reductions import Dgp2Dcp

import simopt
from simopt.arithmetic import FLOAT, INTERVAL
from simopt.arithmetic.precision import workprec
from simopt.certificates.certificate import Certificate
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.reading.geometric import RULES, log_problem
from simopt.model.status import Status
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solving.geometric import of_logarithms
from simopt.solving.solution import Sample

RIGOROUS = pytest.mark.parametrize("rigorous", [False, True])


def monomial(x: cp.Variable, exponents: Any) -> Any:
    return cp.prod(cp.hstack([x[j] ** float(a) for j, a in enumerate(exponents)]))


def planted(seed: int, size: float) -> tuple[cp.Problem, Fraction]:
    """min Σ v_k m_k(x)/m_k(x*) for monomials m_k with exponents a_k, Σ v_k a_k = 0: x* is optimal, and the optimum is Σ v_k.

    x* has powers of two and v_k are powers of two times `size`, so that all coefficients are floats.
    """
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(1, 5)), int(rng.integers(2, 6))
    v = 2.0 ** rng.integers(0, 3, count)
    a = rng.integers(-2, 3, (count, n)).astype(float)
    v[-1], a[-1] = 1.0, -(v[:-1] @ a[:-1])
    logs = rng.integers(-4, 5, n)
    x = cp.Variable(n, pos=True, name="x")
    terms = [size * v[k] * 2.0 ** -(a[k] @ logs) * monomial(x, a[k]) for k in range(count)]
    return cp.Problem(cp.Minimize(sum(terms[1:], start=terms[0]))), Fraction(size) * Fraction(float(v.sum()))


def constrained(seed: int, sense: type) -> tuple[cp.Problem, Fraction]:
    """Optimise a monomial with exponents ∓8Σ w_k a_k subject to Σ w_k m_k(x)/m_k(x*) ≤ 1, Σ w_k = 1: x* is optimal, with multiplier 8."""
    rng = np.random.default_rng(seed)
    n, w = int(rng.integers(1, 4)), np.array([0.5, 0.25, 0.125, 0.125])
    a = rng.integers(-2, 3, (4, n)).astype(float)
    own = (-1.0 if sense is cp.Minimize else 1.0) * 8 * (w @ a)
    logs = rng.integers(-2, 3, n)
    x = cp.Variable(n, pos=True, name="x")
    terms = [w[k] * 2.0 ** -(a[k] @ logs) * monomial(x, a[k]) for k in range(4)]
    value = 3.0 * 2.0 ** float(own @ logs)
    return cp.Problem(sense(3.0 * monomial(x, own)), [sum(terms[1:], start=terms[0]) <= 1]), Fraction(value)


def encloses(certificate: Certificate, optimum: Fraction, slack: float = 0.0) -> bool:
    lower, upper = (Fraction(end) for end in (certificate.lower, certificate.upper))
    return lower <= optimum * (1 + Fraction(slack)) and optimum * (1 - Fraction(slack)) <= upper


@RIGOROUS
@pytest.mark.parametrize("size", [1.0, 1e8, 1e-8])
@pytest.mark.parametrize("seed", range(6))
def test_the_planted_optimum_of_a_posynomial_is_enclosed(seed: int, size: float, rigorous: bool) -> None:
    problem, optimum = planted(seed, size)
    solution = simopt.solve(problem, gp=True, rigorous=rigorous, tol=1e-7)
    found = solution.certificate
    assert solution.status is Status.OPTIMAL and problem.status == "optimal" and found.relative_gap <= 1e-7
    assert encloses(found, optimum, 0.0 if rigorous else 1e-13)
    assert problem.value == pytest.approx(solution.value, rel=1e-11)
    np.testing.assert_array_equal(problem.variables()[0].value, solution.point["x"])
    again = simopt.certify(problem, gp=True, rigorous=True, tol=1e-7)
    assert encloses(again, optimum) and again.closes(1e-7) and again.arithmetic == "interval" and not again.open


@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
@pytest.mark.parametrize("seed", range(5))
def test_the_planted_optimum_under_a_row_is_enclosed(seed: int, sense: type) -> None:
    problem, optimum = constrained(seed, sense)
    solution = simopt.solve(problem, "clarabel", gp=True, rigorous=True, tol=1e-7)
    found = solution.certificate
    assert solution.optimal and encloses(found, optimum) and found.maximises is (sense is cp.Maximize)
    assert float(problem.constraints[0].dual_value) == pytest.approx(8.0, rel=1e-3)
    assert solution.value == found.value == pytest.approx(float(optimum), rel=1e-6)


def test_the_logarithms_of_constants_are_formulas_that_intervals_enclose() -> None:
    """log(c x) at x = 1 is log c, which no float is; CVXPY's own reduction has one in its place."""
    rng, x = np.random.default_rng(0), cp.Variable(pos=True, name="x")
    for c in rng.uniform(1.5, 90.0, 20):
        problem = cp.Problem(cp.Minimize(float(c) * x))
        declared = simopt.duality.Declared.of(log_problem(problem).problem)
        objective = declared.objective({"log x": np.zeros(())}, INTERVAL)
        with workprec(200):
            exact, (lower, upper) = flint.arb(float(c)).log(), (INTERVAL.lower(objective), INTERVAL.upper(objective))
            assert flint.arb(lower) < exact < flint.arb(upper) and upper - lower < 1e-13
        assert not any(np.any(np.asarray(each.value) == math.log(c)) for each in log_problem(problem).problem.constants())
        assert any(np.any(np.asarray(each.value) == math.log(c)) for each in Dgp2Dcp(problem).reduce().constants())


def test_a_power_of_a_constant_is_enclosed() -> None:
    """min x⁵⁰ subject to x ≥ c has the optimum c⁵⁰, and the multiplier 50; so has the bound c of an attribute."""
    for c in map(float, np.random.default_rng(0).uniform(1.5, 90.0, 10)):
        x, y, optimum = cp.Variable(pos=True, name="x"), cp.Variable(2, pos=True, bounds=[[0.0, c], np.inf], name="y"), Fraction(c) ** 50
        row = cp.Problem(cp.Minimize(x**50), [x >= c])
        found = simopt.certify(row, {"x": c}, {"row 0": 50.0}, gp=True, rigorous=True, solver=None)
        assert encloses(found, optimum) and found.closes(1e-11)
        found = simopt.certify(cp.Problem(cp.Minimize(y[1] ** 50)), gp=True, rigorous=True)
        assert encloses(found, optimum) and found.closes(1e-8)


def box() -> cp.Problem:
    """The largest box with bounded walls, floor and proportions (Boyd, Kim, Vandenberghe and Hassibi 2007)."""
    h, w, d = (cp.Variable(pos=True, name=name) for name in "hwd")
    walls = (2 * (h * w + h * d) <= 200).set_label("walls")
    return cp.Problem(cp.Maximize(h * w * d), [walls, w * d <= 60, h / w >= 0.5, h / w <= 2, d / w >= 0.5, d / w <= 2])


def test_values_dual_values_and_status_are_those_of_cvxpy() -> None:
    problem, reference = box(), box()
    samples = list[Sample]()
    solution = simopt.solve(problem, gp=True, tol=1e-9, progress=samples.append)
    reference.solve(gp=True, solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert problem.status == reference.status and problem.value == pytest.approx(reference.value, rel=1e-8)
    assert set(solution.point) == {"h", "w", "d"}
    for ours, theirs in zip(problem.variables(), reference.variables(), strict=True):
        assert ours.value == pytest.approx(theirs.value, rel=1e-3)
    for row, other in zip(problem.constraints, reference.constraints, strict=True):
        assert row.dual_value == pytest.approx(other.dual_value, abs=1e-4)
    assert max(float(row.dual_value) for row in reference.constraints) > 0.1
    for sample in (*samples, *solution.trace.samples):
        assert sample.lower <= reference.value * (1 + 1e-6) and reference.value * (1 - 1e-6) <= sample.upper
    judged = simopt.certify(reference, gp=True, solver=None)
    assert judged.closes(1e-7) and judged.infeasibility < 1e-6
    reference.variables()[0].value = 1.0  # the certificate is of the values that the problem holds
    spoilt = simopt.certify(reference, gp=True, solver=None)
    assert spoilt.lower < 0.9 * judged.lower or not spoilt.closes(1e-2)
    assert simopt.certify(reference, gp=True).closes(1e-8) and float(reference.variables()[0].value) == 1.0


def test_a_point_of_the_users_is_certified() -> None:
    problem = box()
    found = simopt.certify(problem, {"h": 5.0, "w": 6.0, "d": 5.0}, gp=True, rigorous=True)
    assert found.lower == pytest.approx(150.0, rel=1e-9) and found.upper > 300.0 and found.open
    with pytest.raises(InvalidProblem, match="point: d is missing"):
        simopt.certify(problem, {"h": 5.0, "w": 6.0}, gp=True)
    with pytest.raises(InvalidProblem, match=r"point: w: it has the entry -6; a variable of a geometric programme is positive"):
        simopt.certify(problem, {"h": 5.0, "w": -6.0, "d": 5.0}, gp=True)


def test_where_there_is_no_optimum_it_is_proven_and_cvxpys_values_are_put() -> None:
    x, y = cp.Variable(pos=True, name="x"), cp.Variable(pos=True, name="y")
    cases: list[tuple[cp.Problem, Status, float]] = [
        (cp.Problem(cp.Minimize(x), [x >= 2, x <= 1]), Status.INFEASIBLE, math.inf),
        (cp.Problem(cp.Maximize(x * y), [x + y <= 1, x >= 2 * y, y >= x]), Status.INFEASIBLE, -math.inf),
        (cp.Problem(cp.Minimize(x * y), [x + y <= 1]), Status.UNBOUNDED, 0.0),
        (cp.Problem(cp.Maximize(x), [x >= y]), Status.UNBOUNDED, math.inf),
    ]
    for problem, status, bound in cases:
        solution = simopt.solve(problem, gp=True)
        found = simopt.certify(problem, gp=True)
        assert solution.status is status and solution.message.startswith("in logarithms: ")
        for certificate in (solution.certificate, found):
            assert certificate.lower == certificate.upper == bound and certificate.open
            assert certificate.infeasible is (status is Status.INFEASIBLE)
        ours = (problem.status, problem.value, [v.value for v in problem.variables()])
        problem.solve(gp=True, solver="CLARABEL")
        assert ours == (problem.status, problem.value, [v.value for v in problem.variables()])
    least = simopt.certify(cases[2][0], gp=True)
    assert "no point attains it" in least.open


x, X = cp.Variable(3, pos=True, name="x"), cp.Variable((2, 2), pos=True, name="X")
S, t = cp.Variable((2, 2), pos=True, symmetric=True, name="S"), cp.Variable(pos=True, name="t")
A, B = np.array([[0.3, 2.0, 0.7], [1.1, 0.2, 5.0]]), np.array([[2.0, 0.1], [0.3, 4.0]])
c = cp.Parameter(pos=True, value=2.5, name="c")
FUNCTIONS: dict[str, Any] = {
    "sum of arrays": cp.sum(cp.prod(x + A[0] * 2 + t, keepdims=True)),
    "sum of matrices": cp.prod(X + B + t),
    "sum": cp.sum(X) + cp.sum(cp.sum(X, axis=0) ** 2),
    "sum of a scalar": cp.sum(t),
    "product": c * t**-1.5 * x[0] ** 2 / x[1],
    "matrix and vector": cp.prod(A @ x),
    "vector and matrix": cp.prod(x @ A.T),
    "two vectors": A[0] @ x,
    "two matrices": cp.prod(B @ X @ X),
    "norm 1": cp.norm1(X),
    "norm 2": cp.norm(x, 2),
    "norm 3": cp.norm(x, 3) + cp.sum(cp.norm(X, 2, axis=1)),
    "norm inf": cp.norm_inf(x) * cp.prod(cp.norm(X, "inf", axis=0)),
    "max": cp.max(X) + cp.sum(cp.max(X, axis=0)),
    "maximum": cp.sum(cp.maximum(x, t, 0.5)),
    "minimum": cp.prod(cp.minimum(x, t)),
    "min": cp.min(X),
    "trace": cp.trace(X),
    "quad_over_lin": cp.quad_over_lin(x, t),
    "quad_form": cp.quad_form(x[:2], B + B.T),
    "geo_mean": cp.geo_mean(x),
    "weighted geo_mean": cp.geo_mean(x, [0.2, 0.3, 0.5]) * cp.geo_mean(x, [1, 0, 2]),
    "cumprod": cp.sum(cp.cumprod(x)),
    "one_minus_pos": cp.prod(cp.one_minus_pos(x / 10)),
    "diff_pos": cp.diff_pos(9 * t, t),
    "exp": cp.exp(t) * cp.xexp(x[0]),
    "log": cp.log(99 * t),
    "gmatmul": cp.prod(cp.gmatmul(A, x)),
    "symmetric": cp.sum(S) * S[0, 1],
    "stacks": cp.sum(cp.hstack([x, x[::-1]]) ** 0.5) * cp.prod(cp.reshape(X, (4,), order="F")[1:3]),
}


def test_every_exact_rule_is_tried() -> None:
    def kinds(e: Any) -> set[type]:
        return {type(e)}.union(*(kinds(each) for each in e.args))

    tried = set().union(*(kinds(e) for e in FUNCTIONS.values()))
    others = {"GeoMeanApprox", "PnormApprox", "GeoMean", "Pnorm", "diag_vec"}  # forms of these, and what is refused
    assert {kind.__name__ for kind in RULES} <= {kind.__name__ for kind in tried} | others


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_logarithm_of_a_function_is_the_function_of_logarithms(name: str) -> None:
    e, rng = FUNCTIONS[name], np.random.default_rng(0)
    convex = e.is_log_log_convex()
    if not (convex or e.is_log_log_concave()):  # CVXPY 1.9.0 knows nothing of norm1
        assert (name, cp.__version__) == ("norm 1", "1.9.0")
        with pytest.raises(Unreadable, match="no geometric programme"):
            log_problem(cp.Problem(cp.Minimize(e)))
        return
    problem = cp.Problem((cp.Minimize if convex else cp.Maximize)(e))
    form = log_problem(problem)
    declared = simopt.duality.Declared.of(form.problem)
    for _ in range(3):
        for variable, _name, inner in form.variables:
            value = rng.uniform(0.2, 2.0, variable.shape)
            variable.value = value + value.T if variable.attributes.get("symmetric") else value
            inner.value = np.log(variable.value)
        point = {leaf.name: np.asarray(leaf.variable.value) for leaf in declared.programme.leaves.values()}
        expected = math.log(float(np.ravel(problem.objective.value)[0]))
        for num in (FLOAT, INTERVAL):
            objective = declared.objective(point, num)
            value = num.lower(objective), num.upper(objective)
            assert np.allclose(value, -expected if declared.maximises else expected, rtol=1e-9, atol=1e-9)


def test_functions_with_variables_of_their_own_are_certified_from_values_alone() -> None:
    spectral = cp.Problem(cp.Minimize(cp.pf_eigenvalue(X)), [X >= B])
    inverse = cp.Problem(cp.Minimize(cp.trace(cp.eye_minus_inv(X))), [cp.multiply(X, 1 / B) >= 0.1])
    for problem, optimum in (
        (spectral, float(np.linalg.eigvals(B).real.max())),
        (inverse, float(np.trace(np.linalg.inv(np.eye(2) - 0.1 * B)))),
    ):
        assert simopt.solve(problem, gp=True).optimal
        assert problem.value == pytest.approx(optimum, rel=1e-6)
        assert simopt.certify(problem, gp=True, solver=None).value == pytest.approx(optimum, rel=1e-5)


def test_parameters_are_read_when_a_certificate_is_made() -> None:
    a, p = cp.Variable(pos=True, name="a"), cp.Parameter(pos=True, name="p")
    problem = cp.Problem(cp.Minimize(a + p / a))
    with pytest.raises(InvalidProblem, match="parameter p"):
        simopt.certify(problem, gp=True)
    for value in (4.0, 9.0):
        p.value = value
        assert encloses(simopt.certify(problem, gp=True, rigorous=True), Fraction(2) * Fraction(int(math.sqrt(value))))


def refused(problem: Any, message: str, **options: Any) -> None:
    for judge in (simopt.solve, simopt.certify):
        with pytest.raises(InvalidProblem, match=message):
            judge(problem, **options) if judge is simopt.solve or isinstance(problem, cp.Problem) else judge(problem, {}, **options)


def test_what_is_no_geometric_programme_is_refused_by_name() -> None:
    y, free = cp.Variable(pos=True, name="y"), cp.Variable(name="free")
    refused(cp.Problem(cp.Minimize(cp.square(free)), [free >= 1]), r"no geometric programme .*leave out gp=True", gp=True)
    refused(cp.Problem(cp.Minimize(free * y)), r"no geometric programme .* in minimize free \* y; .*pos=True", gp=True)
    refused(cp.Problem(cp.Minimize(y), [y + 1 >= 2]), r"no geometric programme .* in 2.0 <= y \+ 1.0", gp=True)
    refused(cp.Problem(cp.Minimize(y / t + t)), r"geometric programme \(gp=True\).*certify and solve take it with gp=True")
    refused(cp.Problem(cp.Minimize(y)), "gp: 1 given, True or False needed", gp=1)
    refused(cp.Problem(cp.Minimize(cp.ceil(free)), [free >= 0.5]), r"quasiconvex \(qcp=True\)")
    with pytest.raises(Unreadable, match="qcp=True: quasiconvex"):
        simopt.solve(cp.Problem(cp.Minimize(cp.ceil(free)), [free >= 0.5]), qcp=True)
    whole, low = cp.Variable(pos=True, integer=True, name="whole"), cp.Variable(pos=True, bounds=[-1, 0], name="low")
    refused(cp.Problem(cp.Minimize(whole + free)), "no geometric programme .*leave out gp=True", gp=True)
    refused(cp.Problem(cp.Minimize(low)), "log low: the upper bound 0 of a positive variable", gp=True)
    refused(KernelRidge(np.eye(2), np.ones(2), 0.5), "gp: True for a problem of simopt", gp=True)


def test_values_that_are_missing_or_not_positive_are_named() -> None:
    problem = box()
    with pytest.raises(InvalidProblem, match="variable h: it has no value; solve the problem first, or name a solver"):
        simopt.certify(problem, gp=True, solver=None)
    for variable in problem.variables():
        variable.save_value(np.array(1.0))
    problem.variables()[1].save_value(np.array(0.0))
    with pytest.raises(InvalidProblem, match=r"variable w: it has the entry 0; a variable of a geometric programme is positive"):
        simopt.certify(problem, gp=True, solver=None)
    assert simopt.certify(problem, gp=True).closes(1e-8)


def test_variables_of_one_name_keep_their_values_apart() -> None:
    one, other = cp.Variable(pos=True, name="z"), cp.Variable(pos=True, name="z")
    problem = cp.Problem(cp.Minimize(one / other), [one >= 2, other <= 4])
    point = simopt.solve(problem, gp=True).point
    assert {name: round(float(value), 6) for name, value in point.items()} == {"z": 2.0, "z (2)": 4.0}
    assert simopt.certify(problem, {"z": 2.0, "z (2)": 4.0}, gp=True).closes(1e-8)


def test_bounds_beyond_the_floats_are_true_bounds() -> None:
    def of(lower: float, upper: float, **more: Any) -> Certificate:
        return of_logarithms(
            Certificate.of_bounds(upper, lower, upper - lower, 1.0, multipliers_from="solver", arithmetic="interval", **more), 0.0, 1e-8
        )

    high, low, half = of(800.0, 801.0), of(-801.0, -800.0), of(-math.inf, 1.0)
    assert high.lower == sys.float_info.max and high.upper == math.inf and not high.closes(1e-8)
    assert low.lower == 0.0 and 0.0 < low.upper < 1e-300 and not low.closes(1e-8)
    assert half.lower == 0.0 and half.upper == pytest.approx(math.e) and half.gap == half.upper
    assert of(-math.inf, 1.0, maximises=True).lower == -math.inf
    exact = of(1.0, 1.0)
    assert exact.lower < math.e <= exact.upper and exact.upper - exact.lower < 4e-15


SCRIPT = """
import cvxpy as cp
x, y = cp.Variable(pos=True, name="x"), cp.Variable(pos=True, name="y")
problem = cp.Problem(cp.Minimize(x / y), [x >= 2, y <= 4])
def later():
    return problem
if __name__ == "__main__":
    problem.solve(gp=True)
"""


@pytest.mark.parametrize("function", ["", ":later"])
def test_the_command_certifies_what_a_script_solves_with_gp(tmp_path: Path, function: str) -> None:
    script = tmp_path / "geometric.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "simopt", "certify", f"{script}{function}", "--rigorous", "--tol", "1e-6"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "OPTIMAL" in result.stdout and "0.5" in result.stdout


def test_equal_bounds_hold_although_no_float_is_their_logarithm() -> None:
    """With x = 3 fixed by its bounds, min y subject to xy ≥ 2 is 2/3; so it is where the bounds are parameters."""
    ends = cp.Parameter(2, pos=True, value=np.array([3.0, 3.0]))
    for x in (
        cp.Variable(pos=True, bounds=[3.0, 3.0], name="x"),
        cp.Variable(pos=True, bounds=[ends[0], ends[1]], name="x"),
        cp.Variable(2, pos=True, bounds=[np.array([3.0, 1.0]), np.array([3.0, np.inf])], name="x"),
    ):
        y = cp.Variable(pos=True, name="y")
        first = x if x.ndim == 0 else x[0]
        solution = simopt.solve(cp.Problem(cp.Minimize(y), [first * y >= 2]), gp=True, rigorous=True)
        assert solution.status is Status.OPTIMAL and Fraction(solution.certificate.lower) <= Fraction(2, 3) <= Fraction(solution.value)


def test_bounds_and_rows_have_the_dual_values_of_cvxpy() -> None:
    x, y = cp.Variable(pos=True, name="x"), cp.Variable(pos=True, name="y")
    for tight in (1.5, 5.0):
        problem = cp.Problem(cp.Minimize(x + 2 * y), [x * y >= 2, x <= tight, y <= 1.5])
        assert simopt.solve(problem, gp=True).status is Status.OPTIMAL
        ours = [float(row.dual_value) for row in problem.constraints]
        problem.solve(gp=True, solver="CLARABEL")
        np.testing.assert_allclose(ours, [float(row.dual_value) for row in problem.constraints], atol=1e-4)
        assert ours[0] > 0.4


def test_the_dual_is_that_of_the_logarithms() -> None:
    problem = box()
    dual = simopt.dual(problem, gp=True)
    optimum = problem.solve(gp=True, solver="CLARABEL")
    assert np.exp(dual.solve(solver="CLARABEL")) == pytest.approx(optimum, rel=1e-6)
    assert {f"log {v.name()}" for v in problem.variables()} <= {row.label for row in dual.constraints}
    with pytest.raises(InvalidProblem, match="gp: True for a problem of simopt"):
        simopt.dual(KernelRidge(np.eye(2), np.ones(2), 0.5), gp=True)
