"""Kernel ridge regression by Cholesky and by eigenvectors."""

import numpy as np
import pytest

from simopt.model.status import Status
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solvers.squares.shifted import factor, factor_near, shifted_copy
from simopt.solvers.squares.solvers import kernel_cholesky
from simopt.solving.entry_points import solve


@pytest.mark.parametrize("name", ["cholesky", "eigen"])
@pytest.mark.parametrize("lam", [1e-8, 1e-3, 10.0])
def test_certified_and_equal_to_scikit_learn(kernel_problem, name, lam):
    sklearn = pytest.importorskip("sklearn.kernel_ridge")
    gram, y = kernel_problem(120)
    before = gram.copy()
    solution = solve(KernelRidge(gram, y, lam), name, tol=1e-10)
    assert np.array_equal(gram, before)
    assert solution.status is Status.OPTIMAL
    peer = sklearn.KernelRidge(alpha=120 * lam, kernel="precomputed").fit(gram, y)
    assert gram @ solution.point["alpha"] == pytest.approx(gram @ peer.dual_coef_, rel=1e-6, abs=1e-6)


def test_refinement_improves_until_rounding(kernel_problem):
    gram, y = kernel_problem(120, p=2)
    gaps = [step.gap for step in kernel_cholesky(KernelRidge(gram, y, 1e-10), tol=1e-8)]
    assert min(gaps[1:]) <= gaps[0]
    assert min(gaps) <= 1e-10 * float(y @ y) / 120


def test_singular_shift_falls_back_to_eigenvectors():
    gram = np.ones((3, 3))
    y = np.array([1.0, 2.0, 4.0])
    steps = list(kernel_cholesky(KernelRidge(gram, y, 1e-30), tol=1e-8))
    assert gram @ steps[-1].point["alpha"] == pytest.approx(np.full(3, 7 / 3), rel=1e-2)


def test_the_factor_lives_in_a_copy(kernel_problem):
    gram, y = kernel_problem(150)
    copy = shifted_copy(gram, 0.5)
    assert np.tril(copy) == pytest.approx(np.tril(gram) + 0.5 * np.eye(150), abs=0)
    inverse = factor(gram, 0.5)
    assert inverse(y) == pytest.approx(np.linalg.solve(gram + 0.5 * np.eye(150), y), rel=1e-10)
    assert factor(-np.eye(3), 0.5) is None
    assert factor_near(-np.eye(3), 0.0) is not None
    assert factor_near(np.ones((4, 4)), -800.0).shift > 0
