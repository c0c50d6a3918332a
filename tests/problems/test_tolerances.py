"""What validation lets through to a tolerance: a violation just inside of it makes no rigorous bound false.

The table in docs/certificates.md says of each such condition what certificates do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, RATIONAL, is_definite, semidefinite_rank
from simopt.core import registry, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.duality import Declared, solved
from simopt.model.problem import Problem
from simopt.problems import recipes
from simopt.problems.bayes_linear_loss import BayesLinearLoss
from simopt.problems.bounds import Penalty
from simopt.problems.domains.simplex import UNIT_SUM
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.multiple_kernel_mean import MultipleKernelMean
from simopt.problems.norms.gram_factor import KernelProblem
from simopt.solving.entry_points import certify, solve

registry.load("problems")
OURS = {name: cls for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems.")}
IN_A_SPACE = [name for name, cls in OURS.items() if issubclass(cls, KernelProblem)]
MASSES = ("masses", "target", "probabilities")
WITH_MASSES = [name for name, cls in OURS.items() if any(item.name in MASSES for item in fields(cls))]
JUST = 0.9  # of what is allowed
RANK = 3
SEED = 33


def first_example(name: str) -> Any:
    return next(example.problem for example in OURS[name].examples(np.random.default_rng(SEED)) if not example.degenerate)


def sunk(K: Array) -> tuple[Array, Array]:
    """A matrix of low rank near K, its least eigenvalue −λ_max times nine tenths of what is allowed, and the eigenvector of that."""
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    kept = np.where(np.arange(n) >= n - min(RANK, n - 1), values, 0.0)
    kept[0] = -JUST * validate.ROUNDED * (n + validate.SUMMED) * values[-1]
    out = (vectors * kept) @ vectors.T
    out = (out + out.T) / 2
    assert semidefinite_rank(out) is None
    return out, vectors[:, 0]


def raised(K: Array, name: str, certified: str) -> Array:
    """K + δI, as a certificate names it."""
    found = re.search(re.escape(name) + r" \+ (\S+)·I", certified)
    assert found is not None, certified
    out: Array = K + float(found[1]) * np.eye(len(K))
    return out


def points_near(problem: Problem, point: dict[str, Any], away: Array) -> Iterator[dict[str, Any]]:
    """The point, some on the way along a direction in which K falls, and random ones."""
    rng = np.random.default_rng(SEED)
    yield point
    for size in 10.0 ** np.arange(0, 11, 2):
        yield {key: value + size * away if np.shape(value) == np.shape(away) else value for key, value in point.items()}
        yield {key: value + size * rng.normal(size=np.shape(value)) for key, value in point.items()}


@pytest.mark.parametrize("name", IN_A_SPACE)
def test_rigorous_bounds_are_of_a_matrix_that_is_proven_to_be_semidefinite_and_named(name: str) -> None:
    problem = first_example(name)
    K, away = sunk(problem.gram)
    problem = replace(problem, gram=K)
    found = solve(problem, tol=1e-6, rigorous=True)
    certificate = found.certificate
    assert certificate is not None
    assert certificate.closes(1e-6)
    proven = raised(problem.gram, "gram", certificate.judged)
    assert semidefinite_rank(proven) is not None
    assert np.max(np.abs(proven - K)) <= 1e-11 * np.linalg.eigvalsh(K)[-1]
    assert f"the problem with {certificate.judged}" in str(certificate)
    about = replace(problem, gram=proven)
    for point in points_near(problem, found.point, away):
        for num in (INTERVAL, *([RATIONAL] if "rational" in problem.arithmetics else [])):
            value = about.objective(about.restore(point, num), num)
            assert num.upper(value) >= certificate.lower
    assert certify(problem, found.point, found.multipliers).judged == ""


def exact_values(problem: KernelRidge | HingeSVM, K: Array, alpha: Array) -> Fraction:
    """The objective in fractions, written anew."""
    a, y = (
        [Fraction(x) for x in alpha.tolist()],
        [Fraction(x) for x in (problem.targets if isinstance(problem, KernelRidge) else problem.labels)],
    )
    f = [sum((Fraction(k) * x for k, x in zip(row, a, strict=True)), Fraction(0)) for row in K.tolist()]
    square, n = sum((x * v for x, v in zip(a, f, strict=True)), Fraction(0)), len(y)
    if isinstance(problem, KernelRidge):
        return sum(((t - v) ** 2 for t, v in zip(y, f, strict=True)), Fraction(0)) / n + Fraction(problem.regularization) * square
    assert isinstance(problem.bound, Penalty)
    loss = sum((max(Fraction(0), 1 - t * v) for t, v in zip(y, f, strict=True)), Fraction(0))
    return loss / n + Fraction(problem.bound.regularization) / 2 * square


@pytest.mark.parametrize("n", [4, 11, 30])
@pytest.mark.parametrize("make", [lambda K, y: KernelRidge(K, y, 1e-2), lambda K, y: HingeSVM(K, np.sign(y), Penalty(1e-2))])
def test_of_the_matrix_given_the_bounds_would_be_false(n: int, make: Any) -> None:
    """Far along the eigenvector of the least eigenvalue the objective with K falls below them; that with K + δI does not."""
    rng = np.random.default_rng([SEED, n])
    K, away = sunk(recipes.gram(rng.normal(size=(n, 2)), "gaussian"))
    problem = make(K, rng.normal(size=n))
    found = solve(problem, rigorous=True)
    assert found.certificate is not None
    assert found.certificate.closes(1e-8)
    proven = raised(problem.gram, "gram", found.certificate.judged)
    far = found.point["alpha"] + 1e9 * away
    assert exact_values(problem, problem.gram, far) < found.certificate.lower
    for alpha in (found.point["alpha"], far, -far):
        assert exact_values(problem, proven, alpha) >= found.certificate.lower
    assert exact_values(problem, proven, found.point["alpha"]) <= found.certificate.upper


def test_of_several_kernels_each_is_proven_or_named() -> None:
    problem = first_example("multiple-kernel-mean")
    grams = np.array(problem.grams)
    n = grams.shape[1]
    grams[0], grams[1] = np.eye(n), sunk(grams[1])[0]
    problem = MultipleKernelMean(grams, problem.labels)
    found = solve(problem, tol=1e-6, rigorous=True)
    assert found.certificate is not None
    assert found.certificate.closes(1e-6)
    assert "grams[0]" not in found.certificate.judged
    assert semidefinite_rank(raised(grams[1], "grams[1]", found.certificate.judged)) is not None


@pytest.mark.parametrize("factor", [1.1, 1e3])
def test_what_rounding_does_not_explain_is_refused_and_the_remedy_helps(factor: float) -> None:
    K = sunk(recipes.gram(np.random.default_rng(SEED).normal(size=(9, 2)), "gaussian"))[0]
    lowest, vector = (part[..., 0] for part in np.linalg.eigh(K))
    K = K + (factor / JUST - 1.0) * lowest * np.outer(vector, vector)
    with pytest.raises(InvalidProblem, match=r"not positive semidefinite.* as of K \+ \S+ \* numpy\.eye\(9\)") as refused:
        KernelRidge((K + K.T) / 2, np.ones(9), 0.1)
    remedy = re.search(r"K \+ (\S+) \*", str(refused.value))
    assert remedy is not None
    KernelRidge((K + K.T) / 2 + float(remedy[1]) * np.eye(9), np.ones(9), 0.1)


@pytest.mark.parametrize("kind", ["gaussian", "laplacian", "linear"])
@pytest.mark.parametrize("n", [50, 200, pytest.param(1000, marks=pytest.mark.slow)])
def test_bounds_of_recipes_stay_useful(kind: str, n: int) -> None:
    """δ ≤ 1e-12 λ_max, and the certificate closes."""
    rng = np.random.default_rng([SEED, n])
    X = rng.normal(size=(n, 5))
    problem = KernelRidge(recipes.gram(X, kind), X[:, 0] + 0.1 * rng.normal(size=n), 1e-3)
    found = solve(problem, rigorous=True)
    assert found.certificate is not None
    assert found.certificate.closes(1e-8)
    if not found.certificate.judged:
        assert is_definite(problem.gram)
    else:
        added = raised(problem.gram, "gram", found.certificate.judged) - problem.gram
        assert np.max(added) <= 1e-12 * np.linalg.eigvalsh(problem.gram)[-1]


def test_a_singular_matrix_of_small_integers_is_proven_as_it_is() -> None:
    factor = np.random.default_rng(SEED).integers(-3, 4, (12, 3)).astype(float)
    problem = KernelRidge(factor @ factor.T, factor[:, 0], 0.1)
    found = solve(problem, rigorous="rational")
    assert found.certificate is not None
    assert found.certificate.closes(1e-8)
    assert found.certificate.judged == ""


@pytest.mark.parametrize("name", ["kernel-ridge", "hinge-svm", "herding"])
def test_a_matrix_that_is_not_quite_symmetric_is_made_so_once_and_that_is_said(name: str) -> None:
    problem = first_example(name)
    noise = np.random.default_rng(SEED).uniform(-1.0, 1.0, problem.gram.shape)
    skew = noise - noise.T
    K = problem.gram + np.eye(len(noise)) * 1e-6
    A = K + skew * (JUST / 2 * validate.SYMMETRY * np.max(np.abs(K)) / np.max(np.abs(skew)))
    problem = replace(problem, gram=A)
    np.testing.assert_array_equal(problem.gram, (A + A.T) / 2)
    found = solve(problem, tol=1e-6)
    certificate = certify(problem, found.point, found.multipliers, INTERVAL)
    assert certificate.judged == "(gram + gramᵀ)/2"
    value = problem.objective(problem.restore(found.point, RATIONAL), RATIONAL)
    assert certificate.lower <= value


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", WITH_MASSES)
def test_masses_count_as_they_are_given_whatever_their_sum(name: str, sign: float) -> None:
    """The sum is 1 ± 9e-10. Bounds hold for the objective, in fractions where it has them, and for what the declaration gives."""
    problem = first_example(name)
    field = next(item.name for item in fields(problem) if item.name in MASSES)
    given = getattr(problem, field)
    if given is None:
        size = len(problem.queries) if field == "probabilities" else len(problem.labels if field == "target" else problem.targets)
        given = np.full(size, 1.0 / size)
    planted = given * (1.0 + sign * JUST * UNIT_SUM)
    assert abs(float(np.sum(planted)) - 1.0) > 0.8 * UNIT_SUM
    problem = replace(problem, **{field: planted})
    np.testing.assert_array_equal(getattr(problem, field), planted)
    found = solve(problem, tol=1e-6)
    certificate = certify(problem, found.point, found.multipliers, INTERVAL)
    assert certificate.closes(1e-6)
    about = problem.as_certified(INTERVAL)[0]
    num = BY_NAME[problem.arithmetics[-1]]
    rng = np.random.default_rng(SEED)
    for size in (0.0, *10.0 ** np.arange(-8.0, 3.0, 2.0)):
        point = {key: value + size * rng.normal(size=np.shape(value)) for key, value in found.point.items()}
        value = about.objective(about.restore(point, num), num)
        assert num.upper(value) >= certificate.lower
    if not isinstance(problem, KernelProblem):  # these declare a factor of K
        declared = Declared.of(problem.declare())
        other = certify(declared, *solved(declared), INTERVAL)
        assert other.lower <= certificate.upper
        assert certificate.lower <= other.upper


def test_masses_of_the_linear_loss_in_fractions() -> None:
    """An optimum that is known: Σ p − Σ_x |p(x, 1) − p(x, −1)|."""
    p = np.array([[0.25, 0.125], [0.5, 0.125]]) * (1.0 + JUST * UNIT_SUM)
    exact = [[Fraction(x) for x in row] for row in p.tolist()]
    optimum = sum((a + b - abs(a - b) for a, b in exact), Fraction(0))
    problem = BayesLinearLoss(p)
    for num in (INTERVAL, RATIONAL):
        found = certify(problem, solve(problem).point, None, num)
        assert found.lower <= optimum <= found.upper
    assert certify(problem, solve(problem).point, None, FLOAT).closes(1e-12)
