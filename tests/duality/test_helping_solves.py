"""Solves that help a certificate along: which there are, which back end does them, and which bounds need none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT
from simopt.duality import Declared, graph_form, helping_solves
from simopt.duality.evaluation.bounds import box
from simopt.duality.feasibility import slater
from simopt.duality.graph.matrix_terms import LARGE_CONE, has_large_cones
from simopt.duality.stationarity.inward import PerturbedForm
from simopt.solving import faces

N = LARGE_CONE // 2


def cut(n: int) -> cp.Problem:
    """max ⟨C, X⟩, X_ii = 1, X ⪰ 0."""
    half = np.random.default_rng(n).normal(size=(n, n))
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(half + half.T, X))), [cp.diag(X) == 1])


@pytest.mark.parametrize(
    ("function", "is_large"),
    [
        (cp.normNuc, True),
        (lambda X: cp.sigma_max(X[:, :-1]), False),
        (lambda X: cp.matrix_frac(X[:, :1], np.eye(N) + cp.diag(cp.Variable(N, nonneg=True))), False),
    ],
)
def test_a_cone_is_large_where_cvxpy_writes_a_large_one(function: Any, is_large: bool) -> None:
    """A norm of an n × m matrix has a cone of n + m rows."""
    X = cp.Variable((N, N + 1))
    assert has_large_cones(Declared.of(cp.Problem(cp.Minimize(function(X)), [X[0, 0] == 1])).programme) is is_large


def test_scs_gets_a_few_times_the_iterations_of_the_problems_own_solve() -> None:
    for n, solver, own, most in ((N, cp.SCS, 500, 20_000), (2 * N + 1, cp.SCS, 500, 2_000), (2 * N + 1, cp.SCS, 10, 1_000)):
        problem = cut(n)
        problem._solver_stats = SimpleNamespace(solver_name=solver, num_iters=own)
        assert helping_solves.scs_options(Declared.of(problem).programme, 1e-9)["max_iters"] == most
    assert helping_solves.scs_options(Declared.of(cut(2 * N + 1)).programme, 1e-9)["max_iters"] == 20_000


def test_what_scs_does_not_reach_is_asked_for_less_precisely(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    original = graph_form.one_solve

    def stalling(form: Any, solver: str, options: dict[str, Any], tol: float) -> Any:
        asked.append(options["eps_abs"])
        return original(form, solver, {**options, "max_iters": 20 if len(asked) == 1 else options["max_iters"]}, tol)

    monkeypatch.setattr(graph_form, "one_solve", stalling)
    (found,) = graph_form.candidates(Declared.of(cut(2 * N + 1)), cp.SCS, 1e-4)
    assert asked == [graph_form.WITHIN * 1e-4, graph_form.REACHED] and found.certificate.closes(1e-4)


def test_no_slater_point_is_solved_for_where_0_is_far_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """X = I is far inside of the cone: other Slater points cost as much."""
    monkeypatch.setattr(slater, "slater_points", lambda *_: pytest.fail("a Slater point was solved for"))
    problem = cut(4)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-5, tol_gap_rel=1e-5, tol_feas=1e-5)
    for rigorous in (False, True):
        assert simopt.certify(problem, rigorous=rigorous).closes(1e-8)


def test_a_closing_term_is_drawn_inside_by_a_perturbed_problem() -> None:
    """min ½‖K ∘ X − A‖² + ‖X‖_*: with (1 − δ)‖X‖_* in its place the slope of the square has σ₁ ≤ 1 − δ."""
    A, X = np.random.default_rng(0).normal(size=(3, 4)), cp.Variable((3, 4))
    seen = np.ones((3, 4))
    seen[0, 0] = 0.0  # where the square has no part the norm has to close stationarity
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(seen, X) - A) / 2 + cp.normNuc(X))))
    form = PerturbedForm(declared, 0.25, {})
    form.problem.solve(solver=cp.CLARABEL)
    slope = seen * (A - seen * np.asarray(X.value))
    assert [each.term.name for each in declared.plan] == ["normNuc 1"]
    assert np.linalg.norm(slope, 2) <= 0.75 + 1e-6


@pytest.mark.parametrize(
    ("target", "fixes"),
    [(np.diag([1.0, 0.0]), True), (np.array([[1.0, 2.0], [0.0, 0.0]]), False), (cp.Parameter((2, 2), value=np.diag([1.0, 0.0])), False)],
)
def test_masks_fix_entries_where_the_rest_is_0_for_ever(target: Any, fixes: bool) -> None:
    """M ∘ X = B with M = diag(1, 0): X₀₀ = 1, and 0 = 0 elsewhere, unless B may be something else there."""
    X = cp.Variable((2, 2), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [cp.multiply(np.diag([1.0, 0.0]), X) == target])
    programme = Declared.of(problem).programme
    (leaf,) = programme.leaves.values()
    assert bool(programme.bounds) is fixes
    if fixes:
        ends = box(FLOAT, programme, leaf)
        assert np.array_equal(ends.below, [True, False, False, False]) and ends.low[0] == ends.high[0] == 1.0 and not ends.rest
        problem.solve(solver=cp.CLARABEL)
        found = simopt.certify(problem, rigorous=True)
        assert found.closes(1e-6) and found.lower <= 1.0 <= found.upper


def test_a_cone_without_a_multiplier_is_perturbed_by_the_size_of_the_others() -> None:
    """max w*Sw, |S − C| ≤ 0.2, where S ⪰ 0 follows: U = 0."""
    S, w = cp.Variable((3, 3), PSD=True), np.full(3, 1.0 / 3.0)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(np.outer(w, w), S))), [cp.abs(S - 2 * np.eye(3)) <= 0.2])
    problem.solve(solver=cp.CLARABEL)
    found = simopt.certify(problem, rigorous=True)
    assert found.closes(1e-7) and found.lower <= 2.0 / 3.0 + 0.2 <= found.upper


def test_no_face_is_sought_beside_a_definite_point(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = Declared.of(cut(3))
    monkeypatch.setattr(faces, "_by_points", lambda *_: pytest.fail("a face was sought"))
    point = {leaf.name: 0.5 * np.eye(3) + 0.5 for leaf in declared.programme.leaves.values()}
    best = graph_form.judge(declared, point, None)
    assert best.certificate.upper < np.inf
    assert faces.on_faces(declared, best, cp.CLARABEL, FLOAT, 1e-8, False, []) is not None
