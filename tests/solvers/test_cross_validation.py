"""Cross-validation by tridiagonal reduction against fits made one by one."""

import math

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.solvers.power.grid import power_grid
from simopt.solvers.squares.cross_validation import cross_validate
from simopt.solvers.squares.tridiagonal_path import NEIGHBOURS, TridiagonalPath


def by_eigenvectors(gram, y, test_part, lam, m):
    kept = np.setdiff1d(np.arange(y.size), test_part)
    grid = power_grid(gram[np.ix_(kept, kept)], y[kept], lam, m)
    cross = gram[np.ix_(test_part, kept)]
    errors = [[np.mean((cross @ grid.coefficients(i, j) - y[test_part]) ** 2) for j in range(lam.size)] for i in range(m.size)]
    return np.array(errors), grid.log_mu


def test_errors_and_roots_of_every_fold(kernel_problem):
    gram, y = kernel_problem(90, p=10)
    before = gram.copy()
    lam, m = np.logspace(-7, 1, 9), np.array([1.0, 1.05, 1.5, 2.0, 3.0, 9.0])
    result = cross_validate(gram, y, lam, m, folds=4, rng=np.random.default_rng(1))
    assert np.array_equal(gram, before)
    parts = [np.sort(p) for p in np.array_split(np.random.default_rng(1).permutation(90), 4)]
    for k, test_part in enumerate(parts):
        errors, log_mu = by_eigenvectors(gram, y, test_part, lam, m)
        assert result.errors[k] == pytest.approx(errors, rel=1e-9)
        assert np.array_equal(np.isinf(result.log_mu[k]), np.isinf(log_mu))
        live = np.isfinite(log_mu)
        assert result.log_mu[k][live] == pytest.approx(log_mu[live], abs=1e-8)
    assert np.any(np.isinf(result.log_mu))
    sizes = np.array([p.size for p in parts])
    assert result.mean == pytest.approx(np.average(result.errors, axis=0, weights=sizes), rel=1e-12)
    assert result.mean[result.best] == result.mean.min()
    assert (result.regularization, result.power) == (lam[result.best[1]], m[result.best[0]])


def test_leave_one_out_is_the_closed_form(kernel_problem):
    gram, y = kernel_problem(25)
    lam = np.array([1e-2])
    result = cross_validate(gram, y, lam, np.array([2.0]), folds=25)
    # with 24 training samples μ = 24 λ, and the residual is a_i / [(K + μI)⁻¹]_ii
    inverse = np.linalg.inv(gram + 24 * 1e-2 * np.eye(25))
    assert result.errors[:, 0, 0] == pytest.approx(((inverse @ y) / np.diag(inverse)) ** 2, rel=1e-8)


def test_extreme_strengths_end_in_the_mean_square_and_in_the_least_squares_fit(kernel_problem):
    gram, y = kernel_problem(40, p=20)
    result = cross_validate(gram, y, np.array([1e-30, 1e30]), np.array([1.01, 1.5, 2.0, 6.0]), folds=5)
    test_part = np.arange(8)
    kept = np.arange(8, 40)
    interpolant = gram[np.ix_(test_part, kept)] @ np.linalg.solve(gram[np.ix_(kept, kept)], y[kept])
    assert result.errors[0, 1, 0] == pytest.approx(np.mean((interpolant - y[test_part]) ** 2), rel=1e-6)
    assert result.errors[0, :2, 1] == pytest.approx(np.mean(y[test_part] ** 2), rel=1e-6)


def test_no_signal_predicts_zero():
    gram = np.ones((6, 6))
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    result = cross_validate(gram, y, np.array([0.1, 1.0]), np.array([1.0, 1.5, 2.0, 3.0]), folds=[np.array([0, 1])])
    assert result.errors == pytest.approx(np.ones((1, 4, 2)))
    assert result.best == (0, 1)
    zero = cross_validate(np.zeros((4, 4)), np.ones(4), np.array([1.0]), np.array([1.5]), folds=2)
    assert zero.mean == pytest.approx(np.ones((1, 1)))


def test_two_samples():
    result = cross_validate(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, 2.0]), np.array([0.1]), np.array([2.0]), folds=2)
    assert result.errors[:, 0, 0] == pytest.approx([(0.5 * 2 / 1.1 - 1) ** 2, (0.5 * 1 / 1.1 - 2) ** 2])


def test_interpolation_is_exact_on_its_lattice_and_accurate_between(kernel_problem):
    gram, y = kernel_problem(60, p=8)
    path = TridiagonalPath(np.array(gram[:50, :50].T), y[:50], gram[:50, 50:])
    path.tabulate(-8.0, 3.0)
    assert path.values.shape[0] >= NEIGHBOURS
    points, surveyed = path.survey()
    inside = (points > -8) & (points < 3)
    assert path.norms(points[inside])[0] == pytest.approx(surveyed[inside], abs=1e-10)
    for s in (-7.9, -3.3, 0.0, 2.99):
        a = np.linalg.solve(gram[:50, :50] + math.exp(s) * np.eye(50), y[:50])
        log_t, _ = path.norms(np.array([s]))
        assert log_t[0] == pytest.approx(0.5 * math.log(a @ gram[:50, :50] @ a), abs=1e-10)
        assert path.predictions(np.array([s]))[0] == pytest.approx(gram[50:, :50] @ a, abs=1e-9)


@pytest.mark.parametrize("folds", [1, 11, [], [np.array([0, 0])], [np.arange(10)], [np.array([10])], [np.array([], dtype=int)]])
def test_bad_folds(kernel_problem, folds):
    gram, y = kernel_problem(10)
    with pytest.raises(InvalidProblem, match="folds"):
        cross_validate(gram, y, np.array([1.0]), np.array([2.0]), folds=folds)


def test_bad_grid(kernel_problem):
    gram, y = kernel_problem(10)
    for lam, m in (([-1.0], [2.0]), ([1.0], [0.5])):
        with pytest.raises(InvalidProblem):
            cross_validate(gram, y, np.array(lam), np.array(m))
