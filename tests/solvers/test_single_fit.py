"""One fit without an eigendecomposition: certified, equal to the eigenvector route, and harmless to its inputs."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty
from simopt.solvers.power.single_fit import ACCEPTABLE, PROBE, power_fit
from simopt.solvers.power.solvers import secular
from simopt.solvers.squares.lanczos import Lanczos
from simopt.solving.entry_points import solve


def distance(gram, a, b):
    """‖f_a − f_b‖ in the hypothesis space."""
    return math.sqrt(max(0.0, (a - b) @ gram @ (a - b)))


@pytest.mark.parametrize("method", ["lanczos", "cholesky", "eigen", "auto"])
@pytest.mark.parametrize("m,lam", [(1.5, 1e-2), (1.5, 1e-6), (3.0, 1e-4), (1.05, 1e-3), (8.0, 1e-8), (2.0, 1e-3)])
def test_every_route_closes_its_certificate_and_gives_the_same_function(kernel_problem, method, m, lam):
    gram, y = kernel_problem(150, p=2)
    fit = power_fit(gram, y, lam, m, method=method)
    assert fit.bracket.gap_over_upper <= 1e-12
    reference = power_fit(gram, y, lam, m, method="eigen")
    assert distance(gram, fit.coefficients, reference.coefficients) <= 1e-6 * reference.bracket.norm
    problem = MPowerRLS(gram, y, PowerPenalty(lam, m))
    assert fit.bracket.upper == pytest.approx(float(problem.objective({"alpha": fit.coefficients})), rel=1e-11)
    judged = float(problem.gap({"alpha": fit.coefficients}, {"predictions": fit.dual}))
    assert judged <= 1e-11 * fit.bracket.upper


def test_routes_are_the_ones_asked_for(kernel_problem):
    gram, y = kernel_problem(300, p=5)
    assert power_fit(gram, y, 1e-1, 3.0).method == "lanczos"
    factorised = power_fit(gram, y, 1e-6, 1.5)
    assert factorised.method == "cholesky" and factorised.steps > PROBE + 1  # those on K before, and on the inverse
    assert power_fit(gram, y, 1e-2, 1.5, method="eigen").method == "eigen"
    assert power_fit(gram[:50, :50], y[:50], 1e-2, 1.5).method == "eigen"


def test_stationarity_by_finite_differences(kernel_problem, small_fits_too):
    gram, y = kernel_problem(40)
    problem = MPowerRLS(gram, y, PowerPenalty(0.02, 1.6))
    a = power_fit(gram, y, 0.02, 1.6).coefficients
    best = float(problem.objective({"alpha": a}))
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert float(problem.objective({"alpha": a + 1e-3 * rng.normal(size=40)})) > best


def test_inputs_are_not_changed_in_any_layout(kernel_problem, small_fits_too):
    gram, y = kernel_problem(120)
    for layout in (np.array(gram, order="C"), np.array(gram, order="F"), np.repeat(gram, 2, axis=1)[:, ::2]):
        before, targets = layout.copy(), y.copy()
        for method in ("lanczos", "cholesky", "eigen"):
            fit = power_fit(layout, targets, 1e-4, 1.5, method=method)
            assert fit.bracket.gap_over_upper <= 1e-12
        assert np.array_equal(layout, before)
        assert np.array_equal(targets, y)


def test_kernel_ridge_of_scikit_learn_at_power_two(kernel_problem):
    sklearn = pytest.importorskip("sklearn.kernel_ridge")
    gram, y = kernel_problem(200)
    peer = sklearn.KernelRidge(alpha=200 * 1e-3, kernel="precomputed").fit(gram, y)
    for method in ("lanczos", "cholesky", "eigen"):
        fit = power_fit(gram, y, 1e-3, 2.0, method=method)
        assert gram @ fit.coefficients == pytest.approx(gram @ peer.dual_coef_, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("m", [1.0, 1.5, 2.0, 3.0])
def test_degenerate_problems(m, small_fits_too):
    y = np.array([1.0, -1.0])
    for gram, targets in ((np.eye(2), np.zeros(2)), (np.zeros((2, 2)), y), (np.ones((2, 2)), y)):
        for method in ("auto", "lanczos", "cholesky", "eigen"):
            fit = power_fit(gram, targets, 0.1, m, method=method)
            assert fit.bracket.norm == 0.0
            assert fit.bracket.gap == 0.0
            assert not np.any(fit.coefficients)
    one = power_fit(np.array([[2.0]]), np.array([3.0]), 0.1, m)
    assert one.bracket.gap_over_upper <= 1e-14


def test_one_sample_in_closed_form():
    # m = 1: (3 − 2a)² + λ√2 |a| has the minimiser a = (3 − λ/(2√2)) / 2
    fit = power_fit(np.array([[2.0]]), np.array([3.0]), 0.4, 1.0)
    assert fit.coefficients[0] == pytest.approx((3 - 0.4 / (2 * math.sqrt(2))) / 2, rel=1e-13)


def test_power_one_around_its_threshold(kernel_problem, small_fits_too):
    gram, y = kernel_problem(60)
    threshold = 2 / 60 * math.sqrt(y @ gram @ y)
    assert power_fit(gram, y, 1.0001 * threshold, 1.0).bracket.norm == 0.0
    below = power_fit(gram, y, 0.9 * threshold, 1.0)
    assert below.bracket.norm > 0.0
    assert below.bracket.gap_over_upper <= 1e-12


def test_strong_penalty_near_power_one_underflows_to_zero(kernel_problem):
    gram, y = kernel_problem(30)
    fit = power_fit(gram, y, 1e6, 1.001)
    assert fit.log_mu > 700
    assert fit.bracket.gap_over_upper <= 1e-12
    problem = MPowerRLS(gram, y, PowerPenalty(1e6, 1.001))
    assert float(problem.gap({"alpha": fit.coefficients}, {"predictions": fit.dual})) <= 1e-12 * fit.bracket.upper


def test_bad_parameters(kernel_problem):
    gram, y = kernel_problem(10)
    for lam, m, method in ((0.0, 2.0, "auto"), (1.0, 0.5, "auto"), (1.0, 2.0, "newton")):
        with pytest.raises(InvalidProblem):
            power_fit(gram, y, lam, m, method=method)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    rank=st.integers(1, 30),
    lam=st.floats(-6, 4),
    m=st.floats(1.05, 12),
    method=st.sampled_from(["auto", "lanczos", "cholesky", "eigen"]),
)
@example(seed=17023, rank=1, lam=0.0, m=9.0, method="lanczos")  # ‖f‖ of 1e-2 beside a part of 1e11 that K does not see
@example(seed=17023, rank=1, lam=0.0, m=9.0, method="eigen")
@example(seed=389497, rank=1, lam=-5.505, m=11.613, method="lanczos")  # without noise μ would be 1e-25, and a would overflow the objective
@example(seed=389497, rank=1, lam=-5.505, m=11.613, method="eigen")
@example(seed=758149, rank=1, lam=-2.792, m=10.855, method="auto")
@example(seed=853892, rank=1, lam=-5.729, m=11.724, method="auto")
@example(seed=444875, rank=1, lam=-1.581, m=10.972, method="cholesky")  # the shift has to be near the root with noise
@example(seed=504264, rank=1, lam=-3.285, m=11.403, method="cholesky")
def test_rank_deficient_kernels(small_fits_too, seed, rank, lam, m, method):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(30, rank)) * 10.0 ** rng.uniform(-3, 0, rank)
    fit = power_fit(features @ features.T, rng.normal(size=30), 10.0**lam, m, method=method)
    assert fit.bracket.gap_over_upper <= ACCEPTABLE


@pytest.mark.parametrize("unit", [2.0**-8, 2.0**8])
def test_the_unit_of_the_targets_does_not_change_when_lanczos_stops(kernel_problem, unit):
    """With y in another unit and λ in that of y²⁻ᵐ the problem is the same."""
    gram, y = kernel_problem(150, p=2)
    fit = power_fit(gram, y, 1e-6, 6.0, method="lanczos")
    scaled = power_fit(gram, unit * y, 1e-6 * unit**-4, 6.0, method="lanczos")
    assert scaled.steps == fit.steps
    assert scaled.bracket.gap_over_upper <= 1e-12
    assert scaled.bracket.upper == pytest.approx(unit**2 * fit.bracket.upper, rel=1e-11)


def test_lanczos_is_a_gauss_quadrature(kernel_problem):
    gram, y = kernel_problem(80, p=6)
    process = Lanczos(lambda v: gram @ v, y, 10)
    for _ in range(10):
        process.step()
    theta, vectors = process.ritz()
    for degree in range(20):
        moment = y @ np.linalg.matrix_power(gram, degree) @ y
        assert process.length**2 * np.sum(vectors[0] ** 2 * theta**degree) == pytest.approx(moment, rel=1e-11)
    basis = process.basis[:, :10]
    assert basis.T @ basis == pytest.approx(np.eye(10), abs=1e-14)
    assert process.full


@pytest.mark.parametrize("method", ["auto", "lanczos", "cholesky", "eigen"])
def test_registered_solver(kernel_problem, method):
    gram, y = kernel_problem(120)
    solution = solve(MPowerRLS(gram, y, PowerPenalty(1e-3, 1.5)), "secular", tol=1e-10, method=method)
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.gap_over_upper <= 1e-10
    assert solution.provenance.iterations == 1
    problem = MPowerRLS(gram, y, PowerPenalty(1e-3, 1.5))
    (iterate,) = secular(problem, tol=1e-10, method=method)
    # its own multipliers, not those that the judge would think of, close the gap
    assert float(problem.gap(iterate.point, iterate.multipliers)) <= 1e-10 * problem.scale()


def test_registered_solver_refuses_what_is_not_convex(kernel_problem):
    gram, y = kernel_problem(20)
    solution = solve(MPowerRLS(gram, y, PowerPenalty(1e-3, 0.5)), "secular")
    assert solution.status is Status.UNSUPPORTED
    assert "stationary" in solution.message


def test_eigenvectors_are_the_safety_net(kernel_problem, monkeypatch):
    gram, y = kernel_problem(300, p=5)
    monkeypatch.setattr("simopt.solvers.power.single_fit.factor_near", lambda *_: None)
    fit = power_fit(gram, y, 1e-6, 1.5)
    assert fit.method == "eigen"
    assert fit.bracket.gap_over_upper <= 1e-12
