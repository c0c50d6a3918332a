"""The closed forms are certified, agree with CVXPY, and survive means of length 0 and data in any unit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from simopt import solve
from simopt.arithmetic import FLOAT, INTERVAL
from simopt.problems.bayes_linear_loss import BayesLinearLoss
from simopt.problems.mean_classifier import MeanClassifier
from simopt.problems.mmd import MaximumMeanDiscrepancy
from simopt.problems.multiple_kernel_mean import MultipleKernelMean
from simopt.solving.solver import solvers_of

KINDS: tuple[Any, ...] = (*MeanClassifier.each_form(), MaximumMeanDiscrepancy, MultipleKernelMean, BayesLinearLoss)


@pytest.mark.parametrize("kind", KINDS)
def test_the_formula_is_the_default_and_is_optimal_to_rounding(kind: Any) -> None:
    assert solvers_of(kind)[0].name == "closed-form"
    for example in kind.examples(np.random.default_rng(0)):
        for rigorous in (False, True):
            solution = solve(example.problem, tol=1e-12, rigorous=rigorous)
            certificate = solution.certificate
            assert solution.provenance.solver == "closed-form"
            assert certificate is not None
            # an enclosure of ‖ω_S‖ is as wide as the root of the rounding error of its square
            reached = min(certificate.relative_gap, certificate.gap_over_terms)  # of noise-free data the optimum is 0
            assert reached <= (1e-6 if rigorous and example.degenerate else 1e-12), (example.name, certificate)


@pytest.mark.parametrize("kind", KINDS)
def test_the_formula_agrees_with_the_declaration(kind: Any) -> None:
    for example in kind.examples(np.random.default_rng(1)):
        if not example.degenerate:
            one, two = solve(example.problem), solve(example.problem, "clarabel", tol=1e-8)
            assert one.value == pytest.approx(two.value, abs=1e-7 * max(1.0, example.problem.scale()))


def test_a_mean_of_length_zero_gives_the_zero_function() -> None:
    K, labels = np.ones((2, 2)), np.array([1.0, -1.0])
    for problem in (MeanClassifier(K, labels), MaximumMeanDiscrepancy(K, labels), MultipleKernelMean(np.stack([K, 2 * K]), labels)):
        solution = solve(problem)
        assert solution.optimal and solution.point is not None
        assert not np.any(solution.point["alpha"])


def test_only_the_kernel_with_the_longest_mean_is_used() -> None:
    labels = np.array([1.0, -1.0, 1.0])
    point = solve(MultipleKernelMean(np.stack([0.5 * np.eye(3), np.eye(3), np.eye(3)]), labels)).point
    assert point is not None
    assert not np.any(point["alpha"][[0, 2]])
    np.testing.assert_allclose(point["alpha"][1], labels / np.sqrt(3.0), rtol=1e-15)


@pytest.mark.parametrize("size", [1e-140, 1e-20, 1.0, 1e20, 1e140])
def test_units_do_not_matter(size: float) -> None:
    x = np.random.default_rng(2).normal(size=(9, 2))
    labels = np.where(np.arange(9) < 4, 1.0, -1.0)
    problem = MaximumMeanDiscrepancy(size * x @ x.T, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(problem, tol=1e-12)
    half = 0.5 * float(np.linalg.norm(x[:4].mean(axis=0) - x[4:].mean(axis=0)))
    assert solution.optimal
    assert -solution.value == pytest.approx(half * np.sqrt(size), rel=1e-12)


def test_the_unit_ball_is_not_left() -> None:
    x = np.random.default_rng(3).normal(size=(30, 2))
    K = np.exp(-np.sum((x[:, None] - x) ** 2, axis=-1))
    problem = MeanClassifier(K, np.sign(x[:, 0]))
    point = problem.restore(dict(solve(problem).point or {}), INTERVAL)
    alpha = INTERVAL.mid(point["alpha"])
    assert INTERVAL.upper(INTERVAL.dot(INTERVAL.lift(alpha), INTERVAL.matvec(K, INTERVAL.lift(alpha)))) <= 1.0 + 1e-15
    assert float(problem.objective({"alpha": alpha}, FLOAT)) < 1.0
