"""The constrained form: on the ball's boundary, inside it, and the same path as the penalised form."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.m_power_rls import MPowerRLS, PowerBall
from simopt.solvers.power.single_fit import power_fit
from simopt.solvers.squares.constrained_fit import constrained_fit, norm_root
from simopt.solvers.squares.spectrum import spectrum
from simopt.solving.entry_points import solve


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6), fraction=st.floats(-12, -1e-9), wide=st.booleans())
def test_norm_is_the_bound_wherever_it_binds(seed, fraction, wide):
    rng = np.random.default_rng(seed)
    d = 10.0 ** rng.uniform(-21 if wide else -2, 0, rng.integers(1, 30))
    b = rng.normal(size=d.size)
    free = math.sqrt(np.sum(b**2 / d))
    bound = free * 10.0**fraction
    root = norm_root(spectrum(d, b, floor=0.0), bound)
    assert root.log_norm == pytest.approx(math.log(bound), abs=1e-12)
    mu = math.exp(root.log_mu)
    assert math.sqrt(np.sum(d * b**2 / (d + mu) ** 2)) == pytest.approx(bound, rel=1e-11)
    assert root.evaluations <= 70
    inside = norm_root(spectrum(d, b, floor=0.0), free * (1 + 1e-9))
    assert inside.log_mu == -math.inf
    assert inside.log_norm == pytest.approx(math.log(free), abs=1e-12)


@pytest.mark.parametrize("bound", [1e-6, 0.5, 3.0])
def test_certificate_and_penalised_form_with_the_same_multiplier(kernel_problem, bound):
    gram, y = kernel_problem(40)
    before = gram.copy()
    fit = constrained_fit(gram, y, bound)
    assert np.array_equal(gram, before)
    assert fit.norm == pytest.approx(bound, rel=1e-9)
    assert fit.gap <= 1e-12 * fit.upper
    # Tikhonov with power m and λ = 2μ / (n m B^{m−2}) has the same solution
    for m in (1.5, 3.0):
        lam = 2 * math.exp(fit.log_mu) / (40 * m * bound ** (m - 2))
        assert gram @ power_fit(gram, y, lam, m).coefficients == pytest.approx(gram @ fit.coefficients, rel=1e-6, abs=1e-9)


def test_gap_is_primal_minus_dual(kernel_problem):
    gram, y = kernel_problem(30)
    fit = constrained_fit(gram, y, 1.0)
    dual = y @ fit.dual - 30 / 4 * fit.dual @ fit.dual - math.sqrt(fit.dual @ gram @ fit.dual)
    assert fit.upper - dual == pytest.approx(fit.gap, abs=1e-14)
    assert fit.upper == pytest.approx(np.mean((y - gram @ fit.coefficients) ** 2), rel=1e-12)


def test_large_ball_gives_the_least_squares_fit_of_smallest_norm():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 4))
    gram, y = features @ features.T, rng.normal(size=30)
    weights = np.linalg.lstsq(features, y, rcond=None)[0]
    fit = constrained_fit(gram, y, 1e3)
    assert fit.log_mu == -math.inf
    assert gram @ fit.coefficients == pytest.approx(features @ weights, abs=1e-12)
    assert fit.norm == pytest.approx(np.linalg.norm(weights), rel=1e-10)
    # K is FFᵀ to n ε ‖K‖ only, and so is vᵀKv = 0 for v outside its range: a ball of radius B can lower the loss by up to √(n ε ‖K‖) ‖v‖ B.
    # (Where vᵀKv is rounded below 0 the gap reads 0, which depends on the order of the sums.)
    seen = math.sqrt(30 * np.finfo(float).eps * np.linalg.norm(gram, 2)) * np.linalg.norm(fit.dual)
    assert fit.gap <= 1e-12 + seen * 1e3


def test_just_inside_and_just_outside_the_free_norm():
    gram, y = np.diag([1.0, 0.5]), np.array([1.0, 1.0])
    free = math.sqrt(1 + 2)
    assert constrained_fit(gram, y, free * (1 + 1e-12)).log_mu == -math.inf
    tight = constrained_fit(gram, y, free * (1 - 1e-6))
    assert -20 < tight.log_mu < -10
    assert tight.gap <= 1e-12


@pytest.mark.parametrize("bound", [0.0, 1.0])
def test_degenerate(bound):
    for gram, y in ((np.eye(2), np.zeros(2)), (np.zeros((2, 2)), np.ones(2)), (np.ones((2, 2)), np.array([1.0, -1.0]))):
        fit = constrained_fit(gram, y, bound)
        assert fit.norm == pytest.approx(0.0, abs=1e-15)
        assert fit.gap <= 1e-15
        assert fit.upper == pytest.approx(np.mean(y**2))
    assert constrained_fit(np.array([[2.0]]), np.array([3.0]), bound).norm == pytest.approx(bound)


def test_bad_bound():
    for bound in (-1.0, math.nan, math.inf):
        with pytest.raises(InvalidProblem):
            norm_root(spectrum(np.ones(1), np.ones(1)), bound)


@pytest.mark.parametrize("m", [1.0, 1.5, 4.0])
def test_registered_solver(kernel_problem, m):
    gram, y = kernel_problem(60)
    solution = solve(MPowerRLS(gram, y, PowerBall(0.7, m)), "secular", tol=1e-10)
    assert solution.status is Status.OPTIMAL
    clarabel = solve(MPowerRLS(gram, y, PowerBall(0.7, m)), "clarabel", tol=1e-6)
    assert solution.certificate.lower <= clarabel.certificate.upper
    assert clarabel.certificate.lower <= solution.certificate.upper
