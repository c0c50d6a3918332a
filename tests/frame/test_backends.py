"""CVXPY back ends behind the adapter: native codes, limits, interrupts, infeasible declarations."""

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frame_toy import Bottomless, Impossible, NeedsPowers, Toy, Undeclared, toy

from simopt import Status, path, solve
from simopt.backends import BackEnd, adapter, add_back_end, clockless, ecos_process, table
from simopt.backends.table import CLARABEL, ECOS, FIRST_CLASS, SCS, check_options, find
from simopt.certificates.certificate import Certificate
from simopt.core import registry
from simopt.core.errors import NotAvailable, UnknownName
from simopt.core.registry import DuplicateName

NAMES = [backend.name for backend in FIRST_CLASS]


def test_every_native_code_is_in_the_table() -> None:
    import clarabel
    from cvxpy.reductions.solvers.conic_solvers.ecos_conif import ECOS as Ecos
    from cvxpy.reductions.solvers.conic_solvers.scs_conif import SCS as Scs

    native = {name for name in dir(clarabel.SolverStatus) if not name.startswith("_")}
    assert native == set(CLARABEL.statuses)
    assert set(Ecos.STATUS_MAP) <= set(ECOS.statuses) and set(ECOS.statuses) == {0, 1, 2, 10, 11, 12, -1, -2, -3, -4, -7}
    assert set(Scs.STATUS_MAP) | {0} == {code for code in SCS.statuses if isinstance(code, int)} == set(range(-7, 3))
    for backend in FIRST_CLASS:
        assert all(isinstance(status, Status) and word for status, word in backend.statuses.values())
        assert {code for code, (status, _) in backend.statuses.items() if status is Status.OPTIMAL} & {"Solved", 0, 1}


@pytest.mark.parametrize("name", NAMES)
def test_each_back_end_certifies_the_toy(name: str) -> None:
    solution = solve(toy(radius=0.3), name, tol=1e-6)
    exact = solve(toy(radius=0.3), "cyclic", tol=1e-13)
    assert solution.status is Status.OPTIMAL and solution.trace.sampling == "tolerance"
    assert solution.certificate is not None and exact.certificate is not None
    assert solution.certificate.lower - 1e-14 <= exact.value and exact.certificate.lower <= solution.value
    assert solution.reported_status in {"Solved", "optimal", "solved"}
    assert solution.multipliers is not None and "predictions" in solution.multipliers


@pytest.mark.parametrize("name", NAMES)
def test_duals_have_one_sign_in_all_back_ends(name: str) -> None:
    problem = toy(radius=0.3)
    declaration = problem.declare()
    result = adapter.run(declaration, find(name) or CLARABEL, tol=1e-9, max_iter=None, time_limit=10, options={})
    assert result.multipliers is not None and result.point is not None
    assert np.allclose(result.multipliers["predictions"], problem.targets - result.point["f"], atol=1e-4)
    assert np.all(result.multipliers["above"] >= -1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_iteration_limit_keeps_an_honest_bracket(name: str) -> None:
    solution = solve(toy(n=30, d=10, radius=0.1), name, tol=1e-13, max_iter=3)
    assert solution.status is Status.ITERATION_LIMIT and "max" in solution.reported_status.lower()
    if solution.certificate is not None:
        assert solution.certificate.lower <= solve(toy(n=30, d=10, radius=0.1), "cyclic", tol=1e-13).value * (1 + 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_infeasible_and_unbounded_declarations(name: str) -> None:
    for rigorous in (False, True):
        found = solve(toy(kind=Impossible), name, rigorous=rigorous)
        assert found.status is Status.INFEASIBLE and found.certificate is not None and found.certificate.infeasible
    bottomless = solve(toy(kind=Bottomless), name)
    assert bottomless.status is Status.FAILED and "which no ray proves" in bottomless.message, "a word is no proof"
    assert "nbounded" in bottomless.reported_status or "dual" in bottomless.reported_status.lower()
    assert bottomless.point is None


def test_a_panic_of_clarabel_is_a_failed_solve() -> None:
    import cvxpy as cp

    def panics(problem: Any, cones: Any) -> Any:
        """Powers whose sum misses 1 by more than rounding pass CVXPY's check and end CLARABEL by an assertion."""
        x, mean = cp.Variable(3, name="x"), cp.Variable(name="mean")
        return cp.Problem(cp.Maximize(mean), [cp.PowConeND(x, mean, np.array([1 / 3, 1 / 3, 1 / 3 + 1e-7])), x <= 1])

    solution = solve(toy(), "clarabel", declare=panics)
    assert solution.status is Status.FAILED and solution.reported_status.startswith("PanicException: assertion failed")


@pytest.mark.parametrize("wrong", [Impossible, Bottomless])
def test_a_back_end_that_is_wrong_about_feasibility_has_failed(wrong: type[Toy]) -> None:
    solution = solve(toy(), "clarabel", declare=lambda problem, cones: toy(kind=wrong).declare(cones=cones))
    assert solution.status is Status.FAILED and "Infeasible" in solution.reported_status
    assert "although" in solution.message and "≤ optimum ≤" in solution.message


@pytest.mark.backend("ecos")
def test_a_cone_that_the_back_end_lacks_is_a_reason() -> None:
    solution = solve(toy(kind=NeedsPowers), "ecos")
    assert solution.status is Status.UNSUPPORTED and "ecos" in solution.message
    assert solve(toy(kind=NeedsPowers), "clarabel").reported_status == "Solved"


def test_a_problem_without_a_declaration_is_unsupported() -> None:
    solution = solve(toy(kind=Undeclared), "clarabel")
    assert solution.status is Status.UNSUPPORTED and solution.message == "regularization: not convex"


def test_scs_stops_at_its_time_limit_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Certificate, "closes", lambda self, tol: False)  # rounding would close at any tolerance
    start = time.process_time()
    solution = solve(toy(n=60, d=50, radius=0.1, regularization=1e-9), "scs", tol=1e-17, time_limit=0.5, acceleration_lookback=0)
    assert time.process_time() - start < 10
    assert solution.status is Status.TIME_LIMIT and "time_limit" in solution.reported_status
    assert solution.certificate is not None and solution.certificate.lower > 0


@pytest.mark.backend("ecos")
def test_ecos_is_ended_at_the_time_limit_and_works_again() -> None:
    start = time.perf_counter()
    solution = solve(toy(n=900, d=600, radius=0.01), "ecos", time_limit=0.3)
    assert solution.status is Status.TIME_LIMIT and "0.3" in solution.reported_status
    assert solution.provenance.solve_seconds < 5 and time.perf_counter() - start < 60
    assert solve(toy(radius=0.3), "ecos", tol=1e-6).optimal


@pytest.mark.backend("ecos")
def test_starting_the_ecos_process_is_not_on_the_clock() -> None:
    with ecos_process.ready() as process:
        process.end()
    solution = solve(toy(radius=0.3), "ecos", tol=1e-6)
    assert solution.optimal and solution.provenance.solve_seconds < 0.1


@pytest.mark.backend("ecos")
def test_a_dead_ecos_process_is_a_failure_and_is_replaced() -> None:
    assert solve(toy(radius=0.3), "ecos", tol=1e-6).optimal
    with ecos_process.ready() as process:
        os.kill(process.pid, signal.SIGKILL)
    assert solve(toy(radius=0.3), "ecos", tol=1e-6).optimal
    with ecos_process.ready() as process:
        with pytest.raises((TypeError, ValueError, AttributeError)):
            process.call(None, seconds=10.0)
        assert process.alive, "it refused the data, and can go on"


def test_the_page_says_what_ends_each_run() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "backends.md").read_text(encoding="utf-8")
    cells = {
        row[1].strip(" `"): row[8].strip()
        for row in (line.split("|") for line in page.splitlines() if line.startswith("| `"))
        if len(row) == 11
    }
    for backend in (*FIRST_CLASS, *table.OTHERS):
        if backend.name in cells:
            apart = backend.apart or backend is ECOS
            assert cells[backend.name] == (
                "its process is ended" if apart else f"`{backend.time_limit}`" if backend.time_limit else "looked at between solves"
            ), backend.name
    assert {backend.name for backend in table.OTHERS if backend.apart} <= set(cells)


APART = [pytest.param(backend, marks=pytest.mark.backend(backend.name), id=backend.name) for backend in table.OTHERS if backend.apart]


def taken_by(backend: BackEnd, n: int, d: int) -> Any:
    """A problem of n rows and d columns that the back end takes: a quadratic programme, or a linear one."""
    import cvxpy as cp

    if backend.name not in {"scipy", "glpk", "glpk_mi"}:
        return toy(n=n, d=d, radius=0.01)
    rng, x = np.random.default_rng(0), cp.Variable(d, name="x")
    return cp.Problem(cp.Minimize(cp.norm1(rng.normal(size=(n, d)) @ x - rng.normal(size=n))), [cp.abs(x) <= 1])


@pytest.mark.parametrize("backend", APART)
def test_a_back_end_without_a_clock_is_ended_at_the_time_limit_and_works_again(backend: BackEnd) -> None:
    start = time.perf_counter()
    solution = solve(taken_by(backend, 900, 600), backend.name, time_limit=0.3)
    assert solution.status is Status.TIME_LIMIT and "ended after" in solution.reported_status
    assert solution.provenance.solve_seconds < 5 and time.perf_counter() - start < 60
    again = solve(taken_by(backend, 30, 10), backend.name, tol=1e-6)
    assert again.reported_status and again.point and again.provenance.solve_seconds < 0.5  # starts and imports are not on the clock


@pytest.mark.parametrize("backend", APART)
def test_from_a_process_comes_the_answer_that_comes_without(backend: BackEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = taken_by(backend, 30, 10)
    apart = solve(problem, backend.name, tol=1e-8)
    monkeypatch.setattr(table, "OTHERS", (replace(backend, apart=False),))
    here = solve(problem, backend.name, tol=1e-8)
    assert apart.status is here.status and apart.provenance.iterations == here.provenance.iterations
    assert apart.optimal or backend is table.GLPK_MI, "branching gives no multipliers"
    for name, value in here.point.items():
        np.testing.assert_allclose(apart.point[name], value, rtol=1e-12, atol=1e-14)
    for name, value in (here.multipliers or {}).items():
        np.testing.assert_allclose(apart.multipliers[name], value, rtol=1e-9, atol=1e-12)


def test_what_cannot_be_sent_becomes_a_record() -> None:
    class Compiled:
        x, _hidden = np.arange(3.0), 1

        def __reduce__(self) -> Any:
            raise TypeError("cannot be pickled")

        def method(self) -> None: ...

    record = pickle.loads(pickle.dumps(clockless.plain((Compiled(), {"info": Compiled()}, 2))))
    assert record[0].x.tolist() == record[1]["info"].x.tolist() == [0.0, 1.0, 2.0] and record[2] == 2
    assert set(vars(record[0])) == {"x"} and clockless.plain("text") == "text"
    assert clockless.sent({"c": 1, clockless.OF_CVXPY: Compiled()}) == {"c": 1}


def test_a_back_end_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from simopt.conformance import pairs

    monkeypatch.setattr(table, "find_spec", lambda name: None if name == "ecos" else find_spec(name))
    with pytest.raises(NotAvailable, match=r"ecos is not installed: pip install [^\n]*ecos[^\n]*$") as caught:
        solve(toy(), "ecos")
    assert ("compiler" in str(caught.value)) is (sys.version_info >= (3, 13))
    assert [backend.name for backend in table.installed()] == ["clarabel", "scs"]
    assert {"clarabel", "scs"} <= {name for _, name in pairs()} and "ecos" not in {name for _, name in pairs()}


def test_options() -> None:
    with pytest.raises(UnknownName, match="did you mean 'alpha'"):
        check_options(SCS, {"alfa": 1.5})
    assert find("SCS") is SCS and find("no such solver") is None
    assert solve(toy(radius=0.3), "clarabel", max_step_fraction=0.9).optimal


def test_another_installed_solver_works_by_name() -> None:
    solution = solve(toy(radius=0.3), "osqp", tol=1e-6)
    assert solution.status is Status.OPTIMAL and solution.reported_status == "solved"
    assert solve(toy(kind=Impossible), "osqp").status is Status.INFEASIBLE


def test_whatever_cvxpy_has_installed_can_be_named_and_the_rest_says_how_to_get_it() -> None:
    import cvxpy as cp

    assert set(cp.installed_solvers()) <= {backend.cvxpy_name for backend in table.usable()}
    for name in cp.installed_solvers():
        found = find(name)
        assert found is not None and found.cvxpy_name == name and found.missing is None
        solution = solve(toy(radius=0.3), name, tol=1e-6)
        assert solution.optimal or solution.status is Status.UNSUPPORTED, (name, solution)
    for backend in table.listed():
        if find(backend.name) is None:
            package = backend.distribution or backend.package
            with pytest.raises(NotAvailable, match=f"{backend.name} is not installed: pip install {package}$"):
                solve(toy(), backend.name)


OTHERS = [backend for backend in table.OTHERS if backend.read is not None]


@pytest.mark.parametrize("backend", [pytest.param(b, id=b.name, marks=pytest.mark.backend(b.name)) for b in OTHERS])
def test_the_others_say_their_limits_in_our_words_and_every_tolerance_is_taken(backend: BackEnd) -> None:
    problem, exact = toy(n=30, d=10, radius=0.1), solve(toy(n=30, d=10, radius=0.1), "cyclic", tol=1e-13)
    stopped = solve(problem, backend.name, tol=1e-13, max_iter=3)
    assert stopped.status is Status.ITERATION_LIMIT and stopped.provenance.iterations >= 3, stopped
    tight = solve(problem, backend.name, tol=1e-13)
    assert tight.status is not Status.FAILED and tight.certificate is not None and exact.certificate is not None, tight
    assert tight.certificate.lower <= exact.value * (1 + 1e-12) and exact.certificate.lower <= tight.value * (1 + 1e-12)
    for option in backend.tolerance:
        assert solve(problem, backend.name, tol=1e-4, **{option: 1e-9}).optimal
    with pytest.raises(UnknownName, match=f"option of {backend.name} 'abstoll'"):
        solve(problem, backend.name, abstoll=1e-9)


@pytest.mark.backend("highs")
def test_below_its_smallest_tolerance_highs_is_not_asked_and_says_so() -> None:
    import cvxpy as cp

    def awry(problem: Toy, cones: Any) -> Any:
        """Another problem, whose answer closes nothing."""
        declared = problem.declare(cones=cones)
        return cp.Problem(declared.objective, [*declared.constraints, declared.var_dict["x"] <= 0.01])

    solution = solve(toy(radius=0.3), "highs", tol=1e-12, declare=awry)
    assert solution.status is Status.GAP_OPEN and solution.reported_status == "kOptimal"
    assert solution.message.endswith("its smallest tolerance is 1e-10")


@pytest.mark.backend("highs")
@pytest.mark.parametrize("name", ["bayes-linear-loss", "goodness", "lipschitz-isotonic", "kernel-ridge"])
def test_recipes_that_highs_refused_below_its_smallest_tolerance_close(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 1e-11 HiGHS as it comes answers kError, a failed solve; asked for 1e-10 in its place it reaches what was asked for here."""
    kind = registry.find("problem", name)
    problem = next(example.problem for example in kind.examples(np.random.default_rng(0)) if not example.degenerate)
    assert solve(problem, "highs", tol=1e-11).optimal
    monkeypatch.setattr(table, "OTHERS", (replace(table.HIGHS, floor=0.0),))
    refused = solve(problem, "highs", tol=1e-11)
    assert refused.status is Status.FAILED and "kError" in refused.reported_status


def test_native_codes_of_the_others_are_those_of_their_packages() -> None:
    highspy, osqp, piqp = (pytest.importorskip(name) for name in ("highspy", "osqp", "piqp"))
    known = {backend.name: set(backend.statuses) for backend in OTHERS}
    assert known["osqp"] == {int(status) for status in osqp.SolverStatus.__members__.values()}
    assert known["piqp"] == {name for name in dir(piqp.Status) if name.startswith("PIQP")}
    assert known["highs"] == {name for name in dir(highspy.HighsModelStatus) if name.startswith("k")}
    qpalm, proxsuite, qoco = (pytest.importorskip(name) for name in ("qpalm", "proxsuite", "qoco"))
    assert known["qpalm"] == {int(getattr(qpalm.Info, name)) for name in dir(qpalm.Info) if name.isupper()}
    assert known["proxqp"] == {name for name in dir(proxsuite.proxqp.QPSolverOutput) if name.startswith("PROXQP")}
    assert known["qoco"] == set(qoco.QOCO().solvecodes)


def test_a_back_end_of_ones_own_has_a_name_of_its_own() -> None:
    with pytest.raises(DuplicateName, match="has the name of one that simopt knows"):
        add_back_end(replace(CLARABEL, name="Clarabel"))
    with pytest.raises(DuplicateName, match="has the name"):
        add_back_end(replace(CLARABEL, name="qoco"))


@pytest.mark.parametrize("name", ["osqp", "qpalm", "highs", "scs"])
def test_a_path_starts_a_back_end_from_its_last_answer_where_that_has_one(name: str) -> None:
    backend = find(name)
    if backend is None:
        pytest.skip(f"{name} is not installed")
    values = [0.3, 0.29, 0.28]
    problem = toy(n=20, d=5)
    warm = [solution for _, solution in path(problem, "radius", values, name, tol=1e-6)]
    cold = [solve(replace(problem, radius=value), name, tol=1e-6) for value in values]
    assert all(solution.optimal for solution in (*warm, *cold))
    for one, two in zip(warm, cold, strict=True):
        assert one.certificate is not None and two.certificate is not None
        rounding = 1e-14 * one.certificate.scale
        assert max(one.certificate.lower, two.certificate.lower) <= min(one.certificate.upper, two.certificate.upper) + rounding
    assert sum(s.provenance.iterations for s in warm[1:]) <= sum(s.provenance.iterations for s in cold[1:])


SCRIPT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what it starts in the background ignore the signal
from frame_toy import toy
from simopt import solve
from simopt.backends import adapter
from simopt.core.errors import Interrupted
native = adapter._native_options
def announced(*args):
    print("solving", flush=True)
    return native(*args)
adapter._native_options = announced
from simopt import Certificate
Certificate.closes = lambda self, tol: False
name, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
problem = toy(n=n, d=d, radius=0.01, regularization=1e-9)
try:
    solution = solve(problem, name, tol=1e-17, time_limit=40.0)
except Interrupted as stopped:
    print("interrupted", stopped.done.status.name, flush=True)
    sys.exit(130)
print("finished", solution.status, solution.reported_status, flush=True)
"""


@pytest.mark.parametrize(("name", "n", "d"), [("clarabel", 700, 400), ("ecos", 900, 600), ("scs", 150, 120)])
def test_ctrl_c_during_a_solve_is_a_keyboard_interrupt(name: str, n: int, d: int) -> None:
    """ECOS and SCS swallow the signal, CLARABEL delays it; the user's interrupt must arrive all the same."""
    environment: dict[str, Any] = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", SCRIPT, name, str(n), str(d)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "solving\n"
        time.sleep(0.4)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        rest = process.stdout.read()
    assert rest.splitlines()[-1] == "interrupted INTERRUPTED", rest
    assert process.returncode == 130 and time.perf_counter() - start < 35


DIAGONAL = """
import cvxpy as cp, numpy as np, simopt
x = cp.Variable((4, 4))
problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [{row}])
print([simopt.solve(problem, name).status.name for name in ("clarabel", "scs")])
print(simopt.certify(problem).closes(1e-6))
x.value = 9.0 * np.ones((4, 4))
print(simopt.certify(problem, solver=None).upper < np.inf)  # a point inside is sought
"""


@pytest.mark.parametrize("row", ["cp.diag(x) @ np.ones((4, 2)) <= -3", "cp.diag(x, 1) @ cp.Parameter((3, 1), value=np.ones((3, 1))) <= -3"])
def test_a_diagonal_times_a_matrix_is_solved(row: str) -> None:
    """CVXPY's compiled canonicalisation may end the process with a segmentation fault."""
    told = subprocess.run([sys.executable, "-c", DIAGONAL.format(row=row)], capture_output=True, text=True, check=False)
    assert told.stdout.splitlines() == ["['OPTIMAL', 'OPTIMAL']", "True", "True"], told.stderr[-500:]
