"""The least step onto linear equations, sparse or dense, against LAPACK's; also where rows depend on each other or contradict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from simopt.duality.evaluation import least_step as module
from simopt.duality.evaluation.least_step import SOLVED, least_step


def system(seed: int, m: int, n: int, density: float = 0.3) -> tuple[Any, np.ndarray, np.ndarray]:
    """A sparse J, weights and a right-hand side that it reaches."""
    rng = np.random.default_rng(seed)
    jacobian = sp.random_array((m, n), density=density, rng=rng, format="csr") + sp.eye_array(m, n)
    weights = 10.0 ** rng.uniform(-1, 1, size=n)
    return jacobian.tocsr(), weights, jacobian @ (weights * rng.normal(size=n))


def least_norm(jacobian: Any, weights: np.ndarray, right: np.ndarray) -> np.ndarray:
    """By singular values, rows of size 1."""
    scaled = jacobian.toarray() * weights
    sizes = np.max(np.abs(scaled), axis=1)
    live = sizes > 0
    return weights * np.linalg.lstsq(scaled[live] / sizes[live, None], right[live] / sizes[live], rcond=1e-11)[0]


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(0, 12))
def test_the_step_of_least_norm(seed: int, m: int, more: int) -> None:
    jacobian, weights, right = system(seed, m, m + more)
    step = least_step(jacobian, weights, right, np.zeros(m))
    np.testing.assert_allclose(step, least_norm(jacobian, weights, right), rtol=1e-5, atol=1e-6 * np.max(np.abs(right), initial=0.0))
    assert np.max(np.abs(jacobian @ step - right)) <= 1e-6 * np.max(np.abs(right), initial=1.0)


def test_rows_that_follow_from_others_do_not_count_twice() -> None:
    jacobian, weights, right = system(3, 6, 15)
    twice = sp.vstack([jacobian, jacobian[:3], jacobian[[0]] + jacobian[[1]]], format="csr")
    step = least_step(twice, weights, np.concatenate([right, right[:3], right[:1] + right[1:2]]), np.zeros(10))
    np.testing.assert_allclose(step, least_norm(jacobian, weights, right), rtol=1e-6, atol=1e-9)


def test_what_rounding_leaves_of_contradictions_is_no_reason_for_a_dense_factorisation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_dense", lambda *_: pytest.fail("a dense matrix was factorised"))
    jacobian, weights, right = system(4, 5, 12)
    twice, goal = sp.vstack([jacobian, jacobian], format="csr"), np.concatenate([right, right + 1e-7 * np.max(np.abs(right))])
    step = least_step(twice, weights, goal, np.full(10, 1e-6 * np.max(np.abs(right))))
    assert np.max(np.abs(twice @ step - goal)) <= 1e-6 * np.max(np.abs(right))


@pytest.mark.parametrize("shape", [(8, 3), (4, 9)])
def test_contradictions_get_the_nearest_point(shape: tuple[int, int]) -> None:
    m, n = shape
    jacobian, weights, _ = system(5, m, n)
    if m < n:
        jacobian = sp.vstack([jacobian, jacobian], format="csr")
    right = np.random.default_rng(6).normal(size=jacobian.shape[0])
    np.testing.assert_allclose(least_step(jacobian, weights, right, np.zeros(len(right))), least_norm(jacobian, weights, right), rtol=1e-6)


def test_weights_far_apart_are_left_to_the_dense_factorisation() -> None:
    """Squared, weights 1 and 1e-9 are too far apart for floats: the residual says so."""
    jacobian = sp.csr_array(np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]))
    weights, right = np.array([1.0, 1e-9, 1e-9]), np.array([0.0, 1e-9])
    step = least_step(jacobian, weights, right, np.zeros(2))
    np.testing.assert_allclose(jacobian @ step, right, atol=SOLVED * 1e-9)


def test_entries_that_may_not_move_stay_and_rows_of_none_are_left() -> None:
    jacobian = sp.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    step = least_step(jacobian, np.array([0.0, 2.0, 0.0]), np.array([3.0, 4.0, 5.0]), np.zeros(3))
    np.testing.assert_allclose(step, [0.0, 3.0, 0.0])
    for right in ([np.nan, 0.0, 0.0], [np.inf, 0.0, 0.0]):
        np.testing.assert_array_equal(least_step(jacobian, np.ones(3), np.array(right), np.zeros(3)), np.zeros(3))


def test_many_equations_are_solved_sparse() -> None:
    n = 5 * module.MOST
    jacobian = sp.diags_array([np.ones(n), -0.5 * np.ones(n)], offsets=[0, 1], shape=(n, n + 1), format="csr")
    right = np.sin(np.arange(n))
    step = least_step(jacobian, np.ones(n + 1), right, np.zeros(n))
    assert np.max(np.abs(jacobian @ step - right)) <= 1e-8
    wide = sp.csr_array(np.ones((module.MOST + 1, module.MOST + 2)))  # too many products, and too large to be dense
    np.testing.assert_array_equal(least_step(wide, np.ones(module.MOST + 2), np.ones(module.MOST + 1), np.zeros(module.MOST + 1)), 0.0)


def test_a_block_that_contradicts_itself_leaves_the_others_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    dense, original = list[tuple[int, ...]](), module._dense
    monkeypatch.setattr(module, "_dense", lambda matrix, goal: dense.append(matrix.shape) or original(matrix, goal))
    jacobian, weights, right = system(7, 30, 50, density=0.1)
    other = np.array([[1.0, 2.0], [1.0, 2.0]])
    step = least_step(
        sp.block_diag([jacobian, other], format="csr"), np.append(weights, [1.0, 1.0]), np.append(right, [4.0, 6.0]), np.zeros(32)
    )
    assert dense == [(2, 2)]
    np.testing.assert_allclose(jacobian @ step[:50], right, atol=1e-9 * np.max(np.abs(right)))
    np.testing.assert_allclose(step[50:], [1.0, 2.0])  # the least step to the middle of 4 and 6
