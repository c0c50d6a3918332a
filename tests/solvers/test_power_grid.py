"""The grid is what single fits give, cell by cell."""

import math

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty
from simopt.solvers.power.grid import power_grid, spectral_grid
from simopt.solvers.power.single_fit import power_fit
from simopt.solvers.squares.secular import secular_root
from simopt.solvers.squares.spectrum import decompose, spectrum

LAMBDAS = np.array([1e-6, 10.0, 1e-3, 0.1])
POWERS = np.array([1.0, 1.01, 1.5, 2.0, 4.0, 12.0])


def test_every_cell_is_a_single_fit(kernel_problem):
    gram, y = kernel_problem(50)
    before = gram.copy()
    grid = power_grid(gram, y, LAMBDAS, POWERS)
    assert np.array_equal(gram, before)
    for i, m in enumerate(POWERS):
        for j, lam in enumerate(LAMBDAS):
            fit = power_fit(gram, y, lam, m, method="eigen")
            assert grid.log_mu[i, j] == pytest.approx(fit.log_mu, rel=1e-12)
            assert math.exp(grid.log_norm[i, j]) == pytest.approx(fit.bracket.norm, rel=1e-6)
            assert grid.objective[i, j] == pytest.approx(fit.bracket.upper, rel=1e-9)
            a = grid.coefficients(i, j)
            assert grid.mean_square[i, j] == pytest.approx(np.mean((y - gram @ a) ** 2), rel=1e-8)
            assert grid.objective[i, j] == pytest.approx(float(MPowerRLS(gram, y, PowerPenalty(lam, m)).objective({"alpha": a})), rel=1e-9)
            assert grid.gap[i, j] <= 1e-13 * grid.objective[i, j]
            assert grid.certify(i, j, gram, y).gap_over_upper <= 1e-10


def test_warm_starts_agree_with_cold_ones_and_save_evaluations():
    rng = np.random.default_rng(0)
    seen = spectrum(10.0 ** rng.uniform(-12, 0, 60), rng.normal(size=60))
    lam, powers = np.logspace(-8, 2, 50), np.linspace(1.1, 4, 12)
    grid = spectral_grid(seen, lam, powers)
    cold = [[secular_root(seen, x, m) for x in lam] for m in powers]
    assert grid.log_mu == pytest.approx(np.array([[r.log_mu for r in row] for row in cold]), abs=1e-12)
    assert np.mean(grid.evaluations) <= 3.2
    assert np.mean(grid.evaluations) < np.mean([[r.evaluations for r in row] for row in cold])


def test_zero_cells():
    grid = spectral_grid(spectrum(np.array([0.5, 1.0]), np.array([1.0, 1.0])), np.array([1e-2, 1e3]), np.array([1.0, 2.0]))
    assert grid.log_norm[0, 1] == -math.inf
    assert grid.objective[0, 1] == pytest.approx(1.0)
    empty = power_grid(np.ones((2, 2)), np.array([1.0, -1.0]), np.array([0.1]), np.array([1.5, 2.0, 3.0]))
    assert np.all(empty.log_norm == -math.inf)
    assert empty.objective == pytest.approx(np.ones((3, 1)))
    assert not np.any(empty.coefficients(2, 0))


def test_bad_grids(kernel_problem):
    gram, y = kernel_problem(8)
    for lam, powers in (([0.0], [2.0]), ([1.0], [0.5]), ([], [2.0]), ([1.0], []), ([np.nan], [2.0])):
        with pytest.raises(InvalidProblem):
            power_grid(gram, y, np.array(lam), np.array(powers))
    with pytest.raises(InvalidProblem, match="eigenvectors"):
        spectral_grid(decompose(gram, y).spectrum, np.array([1.0]), np.array([2.0])).coefficients(0, 0)
