import math
from dataclasses import replace

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Linear
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.family import Family
from simopt.equivalence.map_search import MapOutcome, MapValue, find_map, recovered
from simopt.equivalence.training import TrainingSet
from simopt.theorems.ak.cvxpy_families import kernel_ridge_cvxpy, m_power_rls_ball_cvxpy, m_power_rls_cvxpy
from simopt.theorems.ak.equivalences import m_power_rls_to_kernel_ridge, m_power_tikhonov_to_ivanov, tikhonov_to_ivanov
from simopt.theorems.ak.families import (
    kernel_ridge,
    kernel_ridge_ball,
    kernel_ridge_over_n,
    least_norm,
    m_power_rls,
    m_power_rls_ball,
)


def check_recovery(recovered, truth, accuracy=1e-8):
    assert recovered.outcome is MapOutcome.FOUND
    assert recovered.low <= truth <= recovered.high
    assert recovered.value == pytest.approx(truth, rel=accuracy)


def secular_residual(Z, lam, m, ridge):
    """How far KRR with this parameter is from the stationarity of M-RLSR: log(ridge) − log((mλ/2) ‖f‖^{m−2}), by a plain linear solve."""
    a = np.linalg.solve(Z.gram + Z.n * ridge * np.eye(Z.n), Z.targets)
    return math.log(ridge) - math.log(m * lam / 2) - (m - 2) * 0.5 * math.log(a @ Z.gram @ a)


@pytest.mark.parametrize("power", [1.05, 1.5, 3.0, 6.0])
@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("which", ["gaussian", "linear"])
def test_kernel_ridge_and_m_power_rls(request, which, power, lam):
    Z = request.getfixturevalue(which)
    found = find_map(m_power_rls(power), kernel_ridge(), lam, Z)
    assert abs(secular_residual(Z, lam, power, found.value)) <= 2e-9
    closed = m_power_rls_to_kernel_ridge(power)
    check_recovery(found, closed(lam, Z), 1e-10)
    back = find_map(kernel_ridge(), m_power_rls(power), found.value, Z)
    check_recovery(back, closed.back(found.value, Z), 1e-10)
    assert back.value == pytest.approx(lam, rel=1e-9)
    assert found.distance <= found.errors + 1e-12 * found.norm


def test_the_bar_of_exact_learners_is_small(gaussian):
    for lam in (1e-4, 1e-2, 1.0):
        assert find_map(m_power_rls(3.0), kernel_ridge(), lam, gaussian).relative_bar <= 1e-8


@pytest.mark.parametrize("lam", [1e-5, 0.3, 100.0])
def test_kernel_ridge_and_kernel_ridge_over_n(gaussian, lam):
    check_recovery(find_map(kernel_ridge(), kernel_ridge_over_n(), lam, gaussian), lam * gaussian.n, 1e-11)
    check_recovery(find_map(kernel_ridge_over_n(), kernel_ridge(), lam, gaussian), lam / gaussian.n, 1e-11)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_tikhonov_and_ivanov(gaussian, lam):
    radius = kernel_ridge()(lam, gaussian).norm()
    check_recovery(find_map(kernel_ridge(), kernel_ridge_ball(), lam, gaussian), radius, 1e-10)
    check_recovery(find_map(kernel_ridge_ball(), kernel_ridge(), radius, gaussian), lam, 1e-9)
    check_recovery(find_map(m_power_rls(3.0), m_power_rls_ball(3.0), lam, gaussian), m_power_tikhonov_to_ivanov(3.0)(lam, gaussian), 1e-9)


def test_two_powers(gaussian):
    there = find_map(m_power_rls(1.5), m_power_rls(4.0), 0.02, gaussian)
    assert there.outcome is MapOutcome.FOUND
    assert find_map(m_power_rls(4.0), m_power_rls(1.5), there.value, gaussian).value == pytest.approx(0.02, rel=1e-10)


def test_a_ball_beyond_the_range_has_no_multiplier(gaussian):
    largest = least_norm(gaussian)
    inside = find_map(kernel_ridge_ball(), kernel_ridge(), 0.999 * largest, gaussian)
    assert inside.outcome is MapOutcome.FOUND
    for radius in (1.001 * largest, 5 * largest):
        beyond = find_map(kernel_ridge_ball(), kernel_ridge(), radius, gaussian)
        assert beyond.outcome in (MapOutcome.OPEN_ENDED, MapOutcome.NO_MAP)
        assert beyond.reason
    with pytest.raises(InvalidProblem, match="no map"):
        recovered(kernel_ridge_ball(), kernel_ridge())(5 * largest, gaussian)


def test_families_that_are_not_equivalent_have_no_map(gaussian):
    ridge = kernel_ridge()
    backwards = Family("KRR on reversed targets", lambda lam, Z: ridge(lam, Z.with_targets(Z.targets[::-1])))
    found = find_map(ridge, backwards, 0.05, gaussian)
    assert found.outcome is MapOutcome.NO_MAP
    assert found.distance > 0.1 * found.norm and "apart" in found.reason
    doubled = Family("100 f", lambda lam, Z: 100.0 * ridge(lam, Z.with_targets(np.ones(Z.n))))
    assert find_map(ridge, doubled, 0.05, gaussian).outcome is MapOutcome.NO_MAP
    bounded = Family("at most 0.01 f", lambda lam, Z: (0.01 * lam / (1 + lam)) * ridge(0.05, Z))
    stuck = find_map(ridge, bounded, 0.05, gaussian)
    assert stuck.outcome is MapOutcome.NO_MAP and "stays below" in stuck.reason


def test_without_signal_every_parameter_will_do(no_signal):
    for power in (1.5, 3.0):
        found = find_map(m_power_rls(power), kernel_ridge(), 0.1, no_signal)
        assert found.outcome is MapOutcome.EVERY
        assert (found.low, found.high) == (0.0, math.inf)
    constant = Family("k(·, x_0)", lambda lam, Z: Z.function(np.eye(Z.n)[0]))
    assert find_map(kernel_ridge(), constant, 0.1, no_signal).outcome is MapOutcome.NO_MAP


def test_errors_as_large_as_the_function_leave_it_undecided(gaussian):
    ridge = kernel_ridge()
    vague = Family("vague", lambda lam, Z: replace(ridge(lam, Z), error=1e3))
    found = find_map(vague, ridge, 0.1, gaussian)
    assert found.outcome is MapOutcome.UNDECIDED and "as large as" in found.reason
    assert (found.low, found.high) == (0.0, math.inf)


def test_one_sample_in_closed_form():
    """n = K = 1, m = 3, λ = 1: C₀ solves a quadratic; Φ = 0.82288 at y = 1 and 1.30278 at y = 2."""
    for y, truth in ((1.0, (math.sqrt(7) - 1) / 2), (2.0, (math.sqrt(13) - 1) / 2)):
        Z = TrainingSet(np.ones((1, 1)), np.array([y]), Linear())
        check_recovery(find_map(m_power_rls(3.0), kernel_ridge(), 1.0, Z), truth, 1e-13)


def disturbed(family, error, seed, sort):
    """The family with functions moved by exactly `error`·‖f‖, which they report as their radius."""
    rng = np.random.default_rng(seed)

    def fit(lam, Z):
        f = family(lam, Z)
        direction = {"larger": f.coefficients, "smaller": -f.coefficients, "random": rng.normal(size=Z.n)}[sort]
        step = Z.function(direction)
        moved = f.coefficients + error * f.norm() / step.norm() * direction
        return Z.function(moved, error=error * f.norm() * (1 + 1e-9) + f.error)

    return Family(f"{family.name}, disturbed", fit)


@pytest.mark.parametrize("error", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("sorts", [("larger", "smaller"), ("smaller", "larger"), ("random", "random"), ("larger", "random")])
def test_error_bars_contain_the_truth_when_learners_are_wrong(gaussian, error, sorts):
    for seed, lam in enumerate((1e-3, 0.1, 5.0)):
        for closed in (m_power_rls_to_kernel_ridge(1.5), m_power_rls_to_kernel_ridge(3.0), tikhonov_to_ivanov()):
            source = disturbed(closed.source, error, seed, sorts[0])
            target = disturbed(closed.target, error, seed + 100, sorts[1])
            found = find_map(source, target, lam, gaussian, resolution=8 * error)
            truth = closed(lam, gaussian)
            assert found.outcome is MapOutcome.FOUND
            # The radii cover the distance: to a resolution below them that is no finding, though the enclosure is as good.
            unsaid = find_map(source, target, lam, gaussian, resolution=error / 2)
            assert unsaid.answer is Answer.UNDECIDED and "errors explain" in unsaid.reason
            assert unsaid.low <= truth <= unsaid.high
            assert found.low <= truth <= found.high
            assert found.bar >= abs(found.value - truth)
            assert found.relative_bar <= 3e3 * error


def test_understated_errors_would_be_noticed(gaussian):
    """The bar is not merely wide: with the radius reported ten times too small, the truth falls outside."""
    closed = m_power_rls_to_kernel_ridge(3.0)

    def boastful(family, sort):
        wrong = disturbed(family, 1e-4, 1, sort)
        return Family("boastful", lambda lam, Z: replace(wrong(lam, Z), error=wrong(lam, Z).error / 10))

    found = find_map(boastful(closed.source, "larger"), boastful(closed.target, "smaller"), 0.1, gaussian)
    truth = closed(0.1, gaussian)
    assert not found.low <= truth <= found.high


@pytest.mark.slow
@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_error_bars_of_cvxpy_learners_contain_the_truth(gaussian, tol):
    power, ridge, ball = m_power_rls_cvxpy(3.0, tol=tol), kernel_ridge_cvxpy(tol=tol), m_power_rls_ball_cvxpy(3.0, tol=tol)
    to_ridge, to_ball = m_power_rls_to_kernel_ridge(3.0), m_power_tikhonov_to_ivanov(3.0)
    for source, target, closed, lam in (
        (power, ridge, to_ridge, 0.1),
        (ridge, power, to_ridge.inverted(), 0.01),
        (power, ball, to_ball, 0.1),
    ):
        assert find_map(source, target, lam, gaussian).answer is Answer.UNDECIDED
        # A gap of tol leaves an error of about √(2 tol/λ) of the norm, 1.4e-4 at tol = 1e-9 and λ = 0.1: more than that must be asked.
        found = find_map(source, target, lam, gaussian, resolution=0.05 if tol == 1e-4 else 1e-3)
        assert found.outcome is MapOutcome.FOUND
        assert found.low <= closed(lam, gaussian) <= found.high
        assert found.relative_bar < (0.5 if tol == 1e-4 else 1e-3)
        f, exact = source(lam, gaussian), closed.source(lam, gaussian)
        assert f.distance(exact) <= f.error + exact.error


def test_parameters_outside_the_domain_are_refused(gaussian):
    with pytest.raises(InvalidProblem, match="outside"):
        find_map(kernel_ridge(), m_power_rls(3.0), -1.0, gaussian)
    with pytest.raises(InvalidProblem, match="m > 1"):
        m_power_rls(1.0)


def test_radii_that_grow_far_out_do_not_hide_that_there_is_no_map(gaussian):
    """Between a fit above and one below the norm passes once; what the radii hide beyond is on one side of it."""
    ridge = kernel_ridge()

    def fit(lam, Z):
        f, step = ridge(lam, Z), Z.function(np.cos(np.arange(Z.n)))
        moved = Z.function(f.coefficients + 1e-3 * f.norm() / step.norm() * step.coefficients)
        return replace(moved, error=f.error if 1e-5 < lam < 1e5 else 10.0 * f.norm())

    found = find_map(ridge, Family("known between", fit), 0.05, gaussian)
    assert found.outcome is MapOutcome.NO_MAP and "apart" in found.reason


def test_a_bar_is_measured_by_the_value():
    found = MapValue(MapOutcome.FOUND, 1.0, -200.0, -204.0, -198.0, 0.0, 0.0, 1.0, 1)
    assert (found.bar, found.relative_bar) == (4.0, 0.02)
