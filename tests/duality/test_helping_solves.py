"""Solves that help a certificate along: which there are, which back end does them, and which bounds need none."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT, INTERVAL
from simopt.backends import adapter, table
from simopt.certificates.certificate import Certificate
from simopt.core.errors import NotAvailable
from simopt.duality import Declared, graph_form, helping_solves
from simopt.duality.evaluation.bounds import box
from simopt.duality.feasibility import slater
from simopt.duality.graph.matrix_terms import LARGE_CONE, has_large_cones
from simopt.duality.helping_solves import IterationBudget
from simopt.duality.stationarity import inward
from simopt.duality.stationarity.inward import PerturbedForm
from simopt.solving import back_end_solves, faces, search

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


LARGE = 2 * N + 1


def solved_before(problem: cp.Problem, iterations: int, solver: str = cp.SCS) -> cp.Problem:
    """The problem, with the statistics of a solve."""
    problem._solver_stats = SimpleNamespace(solver_name=solver, num_iters=iterations)
    return problem


def test_all_solves_together_get_a_few_times_the_iterations_of_the_problems_own_solve() -> None:
    for n, solver, own, most in ((N, cp.SCS, 500, math.inf), (LARGE, cp.SCS, 500, 4_000), (LARGE, cp.SCS, 10, 1_000)):
        assert IterationBudget(Declared.of(solved_before(cut(n), own, solver)).programme).left == most
    unlimited = IterationBudget(Declared.of(cut(LARGE)).programme)
    assert unlimited.left == math.inf and unlimited.options(1e-9)["max_iters"] == 20_000


def test_a_solve_takes_a_fraction_of_the_iterations_that_are_left() -> None:
    budget = IterationBudget(Declared.of(solved_before(cut(LARGE), 500)).programme)
    assert budget.options(1e-9)["max_iters"] == 1_000 and budget.options(1e-9, helping_solves.CANDIDATE)["max_iters"] == 2_000
    budget.spend(solved_before(cut(3), 1_000))
    assert budget.options(1e-9)["max_iters"] == 750
    budget.spend(solved_before(cut(3), 1_000, cp.CLARABEL))
    assert budget.left == 3_000
    budget.spend(solved_before(cut(3), 2_990))
    with pytest.raises(NotAvailable, match="no iterations are left"):
        budget.options(1e-9)


def complex_cut(n: int) -> cp.Problem:
    """max Re⟨C, X⟩, X_ii = 1, X ⪰ 0 Hermitian: its real form has a cone of order 2n."""
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    X = cp.Variable((n, n), hermitian=True)
    return cp.Problem(cp.Maximize(cp.real(cp.trace((half + half.conj().T) @ X))), [X >> 0, cp.real(cp.diag(X)) == 1])


@pytest.mark.parametrize("problem", [cut(LARGE), complex_cut(N + 1)], ids=["real", "Hermitian"])
def test_the_helping_solves_of_a_certificate_keep_to_the_budget(problem: cp.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is the real form of a problem with complex variables that is certified."""
    spent: list[int] = []
    original = IterationBudget.spend

    def counted(budget: IterationBudget, solved: cp.Problem) -> None:
        spent.append(0 if solved.solver_stats is None else int(solved.solver_stats.num_iters))
        original(budget, solved)

    monkeypatch.setattr(IterationBudget, "spend", counted)
    monkeypatch.setattr(helping_solves, "FEW", 200)
    problem.solve(solver=cp.SCS, eps_abs=1e-2, eps_rel=1e-2)
    own = int(problem.solver_stats.num_iters)
    certificate = simopt.certify(problem, solver="scs")
    assert spent and sum(spent) <= max(200, 8 * own)
    assert certificate.lower <= certificate.upper


def test_solves_of_the_problem_as_written_keep_to_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of large cones by SCS, which may never reach a precision."""
    limits: list[int | None] = []
    original = adapter.run

    def counted(*args: Any, max_iter: int | None, **options: Any) -> Any:
        limits.append(max_iter)
        return original(*args, max_iter=max_iter, **options)

    monkeypatch.setattr(adapter, "run", counted)
    declared = Declared.of(solved_before(cut(LARGE), 50))
    made = back_end_solves.answers(declared, table.SCS, 1e-8, [])
    next(made)
    left = declared.iterations.left
    next(made)
    assert limits == [int(left / 2)] and declared.iterations.left < left <= 1_000


def options_of_solves(monkeypatch: pytest.MonkeyPatch, most: tuple[int, ...]) -> list[dict[str, Any]]:
    """The options with which the graph form is solved, each time with at most these iterations."""
    used: list[dict[str, Any]] = []
    original = graph_form.one_solve

    def limited(form: Any, solver: str, options: dict[str, Any]) -> Any:
        used.append(options)
        return original(form, solver, {**options, "max_iters": most[len(used) - 1]})

    monkeypatch.setattr(graph_form, "one_solve", limited)
    return used


@pytest.mark.parametrize(
    ("tol", "steps"), [(1e-8, [(graph_form.REACHED, False), (graph_form.WITHIN * 1e-8, True)]), (1e-4, [(graph_form.WITHIN * 1e-4, False)])]
)
def test_scs_is_asked_for_what_it_reaches_before_what_the_tolerance_needs(
    tol: float, steps: list[tuple[float, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    used = options_of_solves(monkeypatch, (20_000, 20_000))
    found = next(graph_form.candidates(Declared.of(cut(LARGE)), cp.SCS, tol))
    assert [(each["eps_abs"], each["warm_start"]) for each in used] == steps and found.certificate.closes(10 * tol)


def test_a_further_step_follows_where_the_gap_is_open_at_what_the_tolerance_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    used = options_of_solves(monkeypatch, (20_000, 20_000, 20_000))
    monkeypatch.setattr(Certificate, "closes", lambda *_: False)
    next(graph_form.candidates(Declared.of(cut(LARGE)), cp.SCS, 1e-8))
    assert [each["eps_abs"] for each in used] == pytest.approx(
        [graph_form.REACHED, graph_form.WITHIN * 1e-8, 0.1 * graph_form.WITHIN * 1e-8]
    )


@pytest.mark.parametrize(("most", "gap"), [((20,), 1.0), ((20_000, 1), 10 * graph_form.REACHED)], ids=["first", "second"])
def test_what_scs_does_not_reach_is_not_waited_for(most: tuple[int, ...], gap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step follows one that ended before its precision, and a second that ended so does not replace a better answer."""
    used = options_of_solves(monkeypatch, most)
    found = next(graph_form.candidates(Declared.of(cut(LARGE)), cp.SCS, 1e-8))
    assert len(used) == len(most) and found.certificate.closes(gap)


def test_a_perturbed_problem_is_solved_as_precisely_as_its_perturbation(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[float] = []
    original = inward.one_solve

    def counted(form: Any, solver: str, options: dict[str, Any]) -> Any:
        used.append(options["eps_abs"] / form.fraction)
        return original(form, solver, options)

    monkeypatch.setattr(inward, "one_solve", counted)
    problem = cut(LARGE)
    problem.solve(solver=cp.SCS, eps_abs=1e-4, eps_rel=1e-4)
    declared = Declared.of(problem)
    found = declared.backward(next(graph_form.candidates(declared, cp.SCS, 1e-4)).multipliers, FLOAT)
    assert not found.open and used in ([], [inward.WITHIN])


def test_multipliers_of_matrices_are_not_stepped_out_of_their_cones() -> None:
    """Least steps to stationarity lead out of a curved domain."""
    problem = cut(3)
    problem.solve(solver=cp.SCS, eps_abs=1e-3, eps_rel=1e-3)
    declared = Declared.of(problem)
    point = {leaf.name: np.asarray(leaf.variable.value) for leaf in declared.programme.leaves.values()}
    assert declared.stationary_inside(point, {}) is None


def test_the_other_point_is_not_judged_again_where_it_proves_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lower bound of multipliers is the same at each point, so that the point of the larger upper bound adds nothing."""
    points: list[Any] = []
    original = search.judge

    def counted(declared: Any, point: Any, *rest: Any, **options: Any) -> Any:
        points.append(point)
        return original(declared, point, *rest, **options)

    monkeypatch.setattr(search, "judge", counted)
    problem = cut(LARGE)
    problem.solve(solver=cp.SCS, eps_abs=1e-2, eps_rel=1e-2)
    simopt.certify(problem, solver="scs", tol=1e-13)
    assert not points


def connectivity(n: int) -> cp.Problem:
    """max λ_min(L(w) + 11ᵀ), w ≥ 0 the weights of the edges of a complete graph, with a sum of n."""
    tails, heads = np.triu_indices(n, 1)
    steps = np.eye(n)[tails] - np.eye(n)[heads]
    lengths = np.random.default_rng(n).uniform(1, 2, len(tails))
    w = cp.Variable(len(tails), nonneg=True)
    laplacian = cp.reshape((steps[:, :, None] * steps[:, None, :]).reshape(len(tails), -1).T @ w, (n, n), order="C")
    return cp.Problem(cp.Maximize(cp.lambda_min(laplacian + np.ones((n, n)))), [lengths @ w == n])


@pytest.mark.parametrize("rigorous", [False, True])
def test_residuals_of_the_wrong_sign_are_drawn_inside_of_bounds_without_pivots(rigorous: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """w_e ≥ 0 asks for ν l_e ≥ ⟨L_e, U⟩ at each edge: the perturbed problem has a slack at all of them."""
    monkeypatch.setattr(inward, "Pivoting", lambda *_: pytest.fail("pivots were chosen"))
    problem = connectivity(8)
    problem.solve(solver=cp.SCS, eps_abs=1e-6, eps_rel=1e-6)
    assert simopt.certify(problem, solver="scs", rigorous=rigorous).closes(1e-5)


def test_pivots_correct_what_a_perturbed_problem_leaves_outside_of_bounds() -> None:
    """min t, −tI ⪯ P − 11ᵀ/n ⪯ tI, P ≥ 0, P1 = 1: the slacks of n²/2 small entries are smaller than SCS's errors."""
    n = 42
    P, t, mean = cp.Variable((n, n), symmetric=True), cp.Variable(), np.full((n, n), 1 / n)
    absent = np.triu(np.random.default_rng(n).random((n, n)) < 0.6, 2) * 1.0
    rows = [P >= 0, P @ np.ones(n) == 1, cp.multiply(absent, P) == 0, P - mean << t * np.eye(n), P - mean >> -t * np.eye(n)]
    problem = cp.Problem(cp.Minimize(t), rows)
    problem.solve(solver=cp.SCS, eps_abs=1e-6, eps_rel=1e-6)
    declared = Declared.of(problem)
    search = inward.InwardMultipliers(declared)
    candidate = next(graph_form.candidates(declared, cp.SCS, 1e-5))
    found = search.proven(FLOAT, declared.candidates(candidate.multipliers))
    assert found is not None and list(search.solutions) == list(inward.PERTURBATIONS[:1])
    assert not search.inside_of_bounds[inward.PERTURBATIONS[0]]


def test_no_larger_perturbation_follows_one_without_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """min tr X, X_00 = 1, X ⪰ 0 less δ tr X: it falls without end for δ > 1."""
    X = cp.Variable((2, 2), symmetric=True)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.trace(X)), [X >> 0, X[0, 0] == 1]))
    monkeypatch.setattr(inward, "PERTURBATIONS", (2.0, 4.0, 0.5))
    monkeypatch.setattr(inward.InwardMultipliers, "_unmixed", lambda *_: inward.Backward(np.nan, open=["not refined"]))
    found = inward.InwardMultipliers(declared)
    assert found.proven(FLOAT, declared.candidates({"row 0": np.eye(2)})) is not None
    assert list(found.solutions) == [2.0, 0.5] and found.unbounded == 2.0


def test_bounds_with_one_end_ask_for_one_sign() -> None:
    """1 for a lower end, −1 for an upper one; 0 with both or none, and where a closing term takes what is left."""
    x, y, X = cp.Variable(4), cp.Variable(2), cp.Variable((2, 2), PSD=True)
    rows = [x[:2] >= 0, x[1:3] <= 1, X >= -1]
    declared = Declared.of(cp.Problem(cp.Minimize(cp.lambda_max(X) + cp.sum(x) + cp.sum_squares(y)), [*rows, y >= 0, x[3] == 1 + y[0]]))
    keys = {leaf.variable.id: key for key, leaf in declared.programme.leaves.items()}
    sides = inward.one_sided(declared.programme, declared.plan)
    assert sides[keys[x.id]][:3].tolist() == [1.0, 0.0, -1.0] and keys[X.id] not in sides and keys[y.id] not in sides


def test_intervals_start_at_the_step_of_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of θ is one in floats; a sweep in intervals costs many times as much."""
    sweeps: list[Any] = []
    original = inward.InwardMultipliers._swept

    def counted(self: Any, num: Any, *rest: Any) -> Any:
        sweeps.append(num)
        return original(self, num, *rest)

    monkeypatch.setattr(inward.InwardMultipliers, "_swept", counted)
    problem = cut(LARGE)
    declared = Declared.of(problem)
    (candidate, *_) = graph_form.candidates(declared, cp.SCS, 1e-4)
    sweeps.clear()
    fresh = Declared.of(problem)
    found = fresh.backward(candidate.multipliers, INTERVAL)
    assert not found.open and sweeps.count(INTERVAL) <= 2 < sweeps.count(FLOAT)


def test_intervals_do_not_judge_values_that_floats_leave_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are judged once, in floats, where the solve that follows closes."""
    judged: list[Any] = []
    original = search.assessed

    def counted(declared: Any, point: Any, known: Any, num: Any, tol: float) -> Any:
        judged.append(num)
        return original(declared, point, known, num, tol)

    monkeypatch.setattr(search, "assessed", counted)
    X, C = cp.Variable((LARGE, LARGE), symmetric=True), np.random.default_rng(0).normal(size=(LARGE, LARGE))
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(C + C.T, X))), [X >> 0, cp.diag(X) == 1])
    problem.solve(solver=cp.SCS, eps_abs=1e-2, eps_rel=1e-2)
    assert simopt.certify(problem, solver="scs", rigorous=True, tol=1e-6).closes(1e-6) and judged == [FLOAT]
    problem.solve(solver=cp.SCS, eps_abs=1e-9, eps_rel=1e-9)
    judged.clear()
    assert simopt.certify(problem, solver="scs", rigorous=True, tol=1e-6).closes(1e-6) and judged == [FLOAT, INTERVAL]


def test_values_whose_bound_is_the_better_one_are_judged_in_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the solve that follows fails, or gives a worse bound."""
    monkeypatch.setattr(search, "answers", lambda *_: iter(()))
    problem = cut(LARGE)
    problem.solve(solver=cp.SCS, eps_abs=1e-3, eps_rel=1e-3)
    found = simopt.certify(problem, solver="scs", rigorous=True, tol=1e-12)
    assert found.gap < math.inf and found.arithmetic == INTERVAL.name


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


def test_multipliers_of_a_determinant_lie_inside_so_that_a_least_step_closes_and_nothing_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sensor placement at n = 100 the step costs 2 s, and a further solve a minute."""
    rays = np.random.default_rng(0).normal(size=(40, 8))
    w = cp.Variable(40, nonneg=True)
    problem = cp.Problem(cp.Maximize(cp.log_det(rays.T @ cp.diag(w) @ rays)), [cp.sum(w) == 16, w <= 1])
    problem.solve(solver=cp.SCS, eps_abs=1e-6, eps_rel=1e-6, max_iters=100_000)

    one_solve, solves = graph_form.one_solve, list[Any]()
    monkeypatch.setattr(graph_form, "one_solve", lambda *arguments: solves.append(arguments) or one_solve(*arguments))
    assert simopt.certify(problem, solver="scs", tol=1e-7).closes(1e-7) and not solves
