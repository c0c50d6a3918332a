"""The driver: how a solve can end, what it keeps, and what its clock counts."""

import inspect
import pickle
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from frame_toy import Toy, cyclic, toy

from simopt import Status, certify, solve
from simopt.arithmetic import INTERVAL
from simopt.backends.table import installed
from simopt.certificates.assessment import Assessment
from simopt.certificates.certificate import Certificate
from simopt.cli.compare import compare as cli_compare
from simopt.cli.solve import solve as cli_solve
from simopt.compare import traces
from simopt.compare.plan import Design
from simopt.core.errors import Interrupted, InvalidProblem, UnknownName
from simopt.equivalence.declared_family import learned
from simopt.model.problem import Problem, Rescale
from simopt.solving.driver import choose
from simopt.solving.run import Run
from simopt.solving.solution import Iterate, Sample, Solution
from simopt.solving.solver import SolverSpec


def test_the_best_hand_written_solver_is_the_default() -> None:
    solution = solve(toy(radius=0.3))
    assert solution.status is Status.OPTIMAL and solution.optimal and solution.provenance.solver == "cyclic"
    assert solution.certificate is not None and solution.certificate.relative_gap <= 1e-8
    assert solution.value == solution.certificate.upper and solution.reported_status == "converged"


def test_every_entry_point_has_one_default_limit_of_time() -> None:
    entries = (solve, Design, learned, cli_solve, cli_compare)
    assert len({inspect.signature(entry).parameters["time_limit"].default for entry in entries}) == 1


@pytest.mark.parametrize("rigorous", [True, "interval", "rational"])
def test_rigorous_bounds(rigorous: Any) -> None:
    solution = solve(toy(radius=0.3), "cyclic", rigorous=rigorous)
    assert solution.status is Status.OPTIMAL and solution.certificate is not None
    assert solution.certificate.arithmetic == ("interval" if rigorous is True else rigorous)


def test_a_gap_that_stays_open_is_reported_rigorously_too() -> None:
    solution = solve(toy(radius=0.3), "cyclic", max_iter=1, rigorous=True)
    assert solution.status is Status.ITERATION_LIMIT and solution.certificate is not None
    assert solution.certificate.arithmetic == "interval" and solution.certificate.relative_gap > 1e-8


@pytest.mark.parametrize("solver", ["cyclic", "clarabel"])
def test_the_last_certificate_is_as_good_as_that_of_the_answer_itself(solver: str) -> None:
    problem = toy(radius=0.3)
    solution = solve(problem, solver, max_iter=3)
    assert solution.point is not None and not solution.optimal
    assert solution.certificate is not None and solution.trace.samples[-1].gap > 1e-7 * solution.certificate.scale
    again = certify(problem, solution.point, solution.multipliers)
    assert solution.certificate == replace(again, infeasibility=solution.certificate.infeasibility)


def test_iteration_limit() -> None:
    solution = solve(toy(radius=0.3), "cyclic", max_iter=np.int64(1))
    assert solution.status is Status.ITERATION_LIMIT and "after 1 iterations" in solution.message
    assert solution.provenance.iterations == 1 and solution.point is not None


def test_a_solver_that_quits_leaves_the_gap_open() -> None:
    solution = solve(toy(), "quits")
    assert solution.status is Status.GAP_OPEN and solution.certificate is not None and np.isfinite(solution.certificate.lower)


@pytest.mark.parametrize("rigorous", [False, True])
def test_the_certificate_that_closes_is_the_best_one(rigorous: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where an earlier gap is smaller, at a point whose terms are too small for it to be their rounding."""
    known = iter([(1e-9, 1.0), (2e-9, 1e-14)])  # gap, and gap / terms

    def scripted(self: Run, problem: Problem, *inputs: Any, **options: Any) -> tuple[Assessment, None]:
        if inputs[-1] is INTERVAL:  # the closed one again
            (gap, over_terms), arithmetic = (2e-9, 1e-14), "interval"
        else:
            (gap, over_terms), arithmetic = next(known), "float"
        made = Certificate.of_bounds(gap, 0.0, gap, over_terms, infeasibility=0.0, multipliers_from="solver", arithmetic=arithmetic)
        return Assessment(made, *inputs[:2]), None

    monkeypatch.setattr(Run, "_assess", scripted)
    solution = solve(toy(radius=0.3), "cyclic", rigorous=rigorous)
    assert solution.status is Status.OPTIMAL and solution.certificate is not None and solution.certificate.gap == 2e-9


def test_time_limit_and_endless_solvers() -> None:
    start = time.process_time()
    solution = solve(toy(), "endless", time_limit=0.2)
    assert solution.status is Status.TIME_LIMIT and solution.point is not None
    assert time.process_time() - start < 4, "a solver that is wrong about its gap must not be judged at every step"
    assert "0.2 s" in solution.message


def test_the_last_iterate_before_the_time_limit_is_judged() -> None:
    """Certificates are taken at geometric times; the last iterate falls between two of them, and is the best."""
    solution = solve(toy(n=40, d=20, radius=0.1, regularization=1e-6), "cyclic", tol=1e-300, time_limit=0.5, burn=0.1)
    assert solution.status is Status.TIME_LIMIT
    assert solution.trace.samples[-1].iteration == solution.provenance.iterations


def test_interrupt_carries_the_best_solution() -> None:
    with pytest.raises(Interrupted) as caught:
        solve(toy(n=13, radius=0.3), "interrupts", tol=1e-14, after=2)
    solution = caught.value.done
    assert isinstance(caught.value, KeyboardInterrupt)
    assert solution.status is Status.INTERRUPTED and solution.certificate is not None and np.isfinite(solution.certificate.gap)
    assert pickle.loads(pickle.dumps(caught.value)).done.status is Status.INTERRUPTED


def test_interrupt_before_anything_was_found() -> None:
    with pytest.raises(Interrupted) as caught:
        solve(toy(n=13, radius=0.3), "interrupts", after=0)
    assert caught.value.done.point is None and np.isnan(caught.value.done.value)


def test_interrupt_during_normalisation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory-mapped features are read there, which takes long."""

    def interrupted(self: object) -> None:
        raise KeyboardInterrupt

    problem = toy(n=13)
    monkeypatch.setattr(type(problem), "normalised", interrupted)
    with pytest.raises(Interrupted) as caught:
        solve(problem, "interrupts")
    solution = caught.value.done
    assert solution.status is Status.INTERRUPTED and solution.point is None and solution.provenance.iterations == 0


@pytest.mark.parametrize(("name", "message"), [("nan", "x is not finite"), ("singular", "Singular matrix")])
def test_a_solver_that_fails_keeps_what_it_had(name: str, message: str) -> None:
    solution = solve(toy(), name)
    assert solution.status is Status.FAILED and message in solution.message
    assert solution.certificate is not None and np.isfinite(solution.certificate.lower), "the first point was good"


def test_unsupported_says_why() -> None:
    solution = solve(toy(), "choosy")
    assert solution.status is Status.UNSUPPORTED and solution.message == "targets: too many" and solution.point is None
    assert solve(toy(n=3), "choosy").status is Status.GAP_OPEN


def test_unknown_names_come_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'cyclic'"):
        solve(toy(), "cyclc")
    with pytest.raises(UnknownName, match="did you mean 'clarabel'"):
        solve(toy(), "clarabelle")
    with pytest.raises(UnknownName, match="did you mean 'max_iter'"):
        solve(toy(), "cyclic", max_iters=3)
    with pytest.raises(UnknownName, match="did you mean 'max_iter'"):
        solve(toy(), "clarabel", max_iters=3)
    with pytest.raises(UnknownName, match="did you mean 'interval'"):
        solve(toy(), rigorous="intervall")
    assert choose(Toy, "CYCLIC").name == "cyclic"


@pytest.mark.parametrize("bad", [{"tol": 0.0}, {"tol": np.nan}, {"tol": "1e-8"}, {"time_limit": 0.0}, {"time_limit": np.nan}])
def test_nonsense_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidProblem, match=next(iter(bad))):
        solve(toy(), **bad)


@pytest.mark.parametrize("name", ["cyclic", "clarabel", "ecos", "scs"])
def test_inputs_are_not_mutated(name: str) -> None:
    a, b = np.random.default_rng(0).standard_normal((12, 4)), np.random.default_rng(1).standard_normal(12)
    before = a.copy(), b.copy()
    problem = Toy(a, b, 0.3)
    mark = problem.fingerprint()
    assert solve(problem, name, tol=1e-6).optimal
    assert np.array_equal(a, before[0]) and np.array_equal(b, before[1]) and problem.fingerprint() == mark
    assert a.flags.writeable, "the caller's own array stays his to write on"


def test_buffers_that_the_solver_goes_on_using_are_copied() -> None:
    problem = toy(radius=0.3)
    open_ended, whole = solve(problem, "spoils", max_iter=4, tol=1e-15), solve(problem, "cyclic", max_iter=4, tol=1e-15)
    assert open_ended.certificate is not None and whole.certificate is not None
    assert open_ended.certificate.gap == pytest.approx(whole.certificate.gap, rel=1e-6)
    assert open_ended.point is not None and np.max(np.abs(open_ended.point["x"])) <= 0.3


def test_solutions_are_immutable_and_picklable() -> None:
    solution = solve(toy(radius=0.3), "clarabel")
    assert solution.point is not None and solution.multipliers is not None
    with pytest.raises(ValueError, match="read-only"):
        solution.point["x"][0] = 1.0
    with pytest.raises(TypeError):
        solution.point["x"] = np.zeros(4)
    with pytest.raises(AttributeError):
        solution.status = Status.OPTIMAL
    data = pickle.dumps(solution)
    again = pickle.loads(data)
    assert again.certificate == solution.certificate and again.provenance == solution.provenance and again.trace == solution.trace
    assert np.array_equal(again.point["x"], solution.point["x"]) and not again.point["x"].flags.writeable
    assert b"cvxpy.problems" not in data and len(data) < 20_000


def test_the_clock_stops_while_the_judge_works() -> None:
    slept = []

    class Slow(Toy):
        """Bounds that take their time."""

        def dual_bound(self, *args: Any, **kwargs: Any) -> Any:
            """Late."""
            start = time.perf_counter()
            time.sleep(0.05)
            slept.append(time.perf_counter() - start)
            return super().dual_bound(*args, **kwargs)

    start = time.perf_counter()
    solution = solve(toy(kind=Slow, radius=0.3), "cyclic")
    took = time.perf_counter() - start
    assert solution.optimal and slept and solution.provenance.solve_seconds <= took - sum(slept)


def test_progress_sees_every_certificate_in_order() -> None:
    seen: list[Sample] = []
    solution = solve(toy(radius=0.3), "cyclic", progress=seen.append)
    assert tuple(seen) == solution.trace.samples and solution.trace.sampling == "iterates"
    assert [s.seconds for s in seen] == sorted(s.seconds for s in seen)


def test_the_certificate_is_about_the_problem_as_it_was_given() -> None:
    """Targets of size 1e6 are solved in natural units; bounds and point come back in the units of the question."""
    small, large = toy(radius=0.3), toy(radius=0.3)
    large = Toy(large.matrix, 2.0**20 * large.targets, 2.0**20 * 0.3)
    for name in ("cyclic", *(backend.name for backend in installed())):
        one, two = solve(small, name, tol=1e-6), solve(large, name, tol=1e-6)
        assert one.status is two.status is Status.OPTIMAL, name
        assert one.certificate is not None and two.certificate is not None and two.point is not None
        assert two.value == pytest.approx(2.0**40 * one.value, rel=1e-5)
        assert two.certificate.relative_gap == pytest.approx(one.certificate.relative_gap, rel=1e-9, abs=1e-15)


def test_provenance_says_what_was_run() -> None:
    record = solve(toy(radius=0.3), "scs", tol=1e-6, max_iter=50_000, alpha=1.4).provenance
    assert (record.solver, record.problem, record.tol) == ("scs", "toy", 1e-6)
    assert dict(record.options) == {"max_iter": 50_000, "alpha": 1.4} and {"numpy", "scs", "simopt"} <= set(record.versions)
    assert record.solve_seconds > 0 and record.setup_seconds > 0 and record.iterations > 0 and record.threads >= 1


@pytest.mark.parametrize("solver", ["cyclic", "clarabel"])
@pytest.mark.parametrize("options", [{"max_iter": "many"}, {"max_iter": -1}, {"max_iter": 2.5}, {"tol": np.nan}, {"time_limit": "long"}])
def test_options_that_are_no_numbers_are_named(solver: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidProblem, match=next(iter(options))):
        solve(toy(), solver, **options)


@pytest.mark.parametrize("value", ["banana", 3, 0.5, None, np.array([True])])
def test_a_switch_is_true_or_false(value: Any) -> None:
    def run(problem: Any, *, tol: float, polish: bool = True) -> Any:
        yield from ()

    spec = SolverSpec("switched", run, (Toy,), "", None, 0)
    for fine in (True, False, np.True_, 0, 1):
        spec.check_options({"polish": fine})
    with pytest.raises(InvalidProblem, match=r"polish: .* given, true or false needed \(default true\)"):
        spec.check_options({"polish": value})


def test_a_solution_prints_as_one_line_with_its_bracket() -> None:
    line = str(solve(toy(), "clarabel"))
    assert "\n" not in line and "by clarabel: OPTIMAL" in line and "≤ optimum ≤" in line


def run_by(algorithm: Any, problem: Toy | None = None, **options: Any) -> Solution:
    """The toy solved by an algorithm that is registered for this once."""
    with pytest.MonkeyPatch.context() as patch:
        spec = SolverSpec("liar", algorithm, (Toy,), "", None, 0)
        patch.setattr("simopt.solving.driver.choose", lambda problem, name: spec)
        patch.setattr("simopt.solving.run._warm", {("liar", "toy")})
        return solve(toy(radius=0.3) if problem is None else problem, "liar", **options)


def yields(step: Any) -> Any:
    def liar(problem: Toy, *, tol: float) -> Any:
        yield Iterate(problem.trivial_point())
        yield step(problem) if callable(step) else step

    return liar


X = {"x": np.zeros(4)}


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (None, "liar yielded None, an Iterate needed"),
        (3.0, "liar yielded 3.0, an Iterate needed"),
        (X, "an Iterate needed"),
        (Iterate(None), "point: NoneType given, a mapping"),  # type: ignore[arg-type]
        (Iterate({}), "point: no entry 'x'"),
        (Iterate({"y": np.zeros(4)}), "point: no entry 'x'"),
        (Iterate({"x": None}), "point: x: "),  # type: ignore[dict-item]
        (Iterate({"x": np.zeros(5)}), "point: x has shape (5,), expected (4,)"),
        (Iterate({"x": np.zeros(4, dtype=complex)}), "point: x: "),
        (Iterate({"x": np.array(["a"] * 4)}), "point: x: "),  # type: ignore[dict-item]
        (Iterate({"x": np.full(4, np.inf)}), "point: x is not finite"),
        (Iterate(X, {}), "multipliers: no entry 'predictions'"),
        (Iterate(X, {"predictions": None}), "multipliers: predictions: "),  # type: ignore[dict-item]
        (Iterate(X, {"predictions": np.zeros((3, 5))}), "multipliers: predictions has shape"),
        (Iterate(X, [1.0]), "multipliers: list given, a mapping"),  # type: ignore[arg-type]
        (Iterate(X, gap=None), "liar gives None for its gap"),  # type: ignore[arg-type]
        (Iterate(X, gap="small"), "liar gives 'small' for its gap"),  # type: ignore[arg-type]
    ],
)
@pytest.mark.parametrize("at_once", [True, False], ids=["judged at once", "kept for later"])
def test_what_is_no_iterate_is_named_and_the_rest_kept(step: Any, message: str, at_once: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simopt.solving.run.GROWTH", 1.0 if at_once else 100.0)
        found = run_by(yields(step))
    assert found.status is Status.FAILED and message in found.message, found.message
    assert found.certificate is not None and np.isfinite(found.certificate.gap), "the first point was good"


def quits_the_process(problem: Toy, *, tol: float) -> Any:
    yield Iterate(problem.trivial_point())
    raise SystemExit(0)


def ends_the_generator(problem: Toy, *, tol: float) -> Any:
    yield Iterate(problem.trivial_point())
    raise GeneratorExit


@pytest.mark.parametrize("algorithm", [quits_the_process, ends_the_generator])
def test_a_solver_does_not_end_the_process(algorithm: Any) -> None:
    found = run_by(algorithm)
    assert found.status is Status.FAILED and found.certificate is not None


def after_the_end(at_close: Any) -> Any:
    """Coordinate descent that does `at_close` when it is closed."""

    def liar(problem: Toy, *, tol: float) -> Any:
        try:
            yield from cyclic(problem, tol=tol)
        finally:
            yield from at_close(problem)

    return liar


def goes_on(problem: Toy) -> Any:
    yield Iterate({"x": np.full(4, 1e9)})


def raises(error: BaseException) -> Any:
    def at_close(problem: Toy) -> Any:
        raise error
        yield

    return at_close


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("at_close", [goes_on, raises(SystemExit(1)), raises(ValueError("at_close")), raises(ZeroDivisionError())])
def test_what_a_solver_does_when_it_is_told_to_stop_no_longer_counts(at_close: Any) -> None:
    found = run_by(after_the_end(at_close))
    assert found.optimal and found.certificate == solve(toy(radius=0.3), "cyclic").certificate


def rewrites(problem: Toy, *, tol: float) -> Any:
    """Halves the targets, wherever it reaches them, and solves what it made."""
    for field in (problem.targets, problem.matrix):
        array: Any = field
        while isinstance(array, np.ndarray):
            with suppress(ValueError):
                array.setflags(write=True)
                array[...] *= 0.5
            array = array.base
    object.__setattr__(problem, "targets", 0.5 * problem.targets)
    yield from cyclic(problem, tol=tol)


class InItsUnits(Toy):
    """What a solver gets are the data themselves."""

    def normalised(self) -> Any:
        return self, Rescale()


def test_a_solver_cannot_change_the_problem_that_it_is_judged_by() -> None:
    problem = toy(radius=0.3, kind=InItsUnits)
    honest = solve(problem, "cyclic", tol=1e-10)
    mark, targets = problem.fingerprint(), problem.targets.copy()
    found = run_by(rewrites, problem)
    assert problem.fingerprint() == mark and np.array_equal(problem.targets, targets)
    assert not found.optimal and found.certificate is not None and found.certificate.upper > honest.value


class Spoiled(NamedTuple):
    """A problem whose targets change while it is solved, and its solver."""

    problem: Toy
    changes: Callable[..., Any]


def spoiled(back_again: bool) -> Spoiled:
    matrix, targets = toy().matrix.copy(), toy().targets.copy()

    def changes(problem: Toy, *, tol: float) -> Any:
        targets[:] *= 0.5
        try:
            yield from cyclic(problem, tol=tol)
        finally:
            if back_again:
                targets[:] *= 2.0

    return Spoiled(InItsUnits(matrix, targets, 0.3), changes)


@pytest.mark.parametrize("back_again", [False, True])
def test_data_that_change_during_a_solve_end_it_as_failed(back_again: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large data are not copied: the fingerprint before and after, and a last judgement after the solver's end, see to them."""
    monkeypatch.setattr("simopt.model.problem.OWNED", 0)
    problem, changes = spoiled(back_again)
    found = run_by(changes, problem)
    assert found.status is Status.FAILED and "changed during the solve" in found.message
    if not back_again:
        assert found.point is None and found.certificate is None
    else:
        assert found.certificate is not None and not found.certificate.closes(1e-8), "judged anew"
        assert solve(problem, "cyclic").optimal


@pytest.mark.parametrize("back_again", [False, True])
def test_a_comparison_looks_at_the_data_once_more_too(back_again: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simopt.model.problem.OWNED", 0)
    problem, changes = spoiled(back_again)
    monkeypatch.setattr("simopt.solving.run._warm", {("changes", "toy")})
    spec = SolverSpec("changes", changes, (Toy,), "", None, 0)
    found = traces.measure(problem, spec, tol=1e-8, time_limit=5.0, options={})
    assert found.status is Status.FAILED and "changed during the solve" in found.message


def test_callers_may_change_their_arrays_after_making_the_problem() -> None:
    matrix, targets = toy().matrix.copy(), toy().targets.copy()
    problem = Toy(matrix, targets, 0.3)
    before = solve(problem, "cyclic").value
    matrix *= 0.5
    targets *= 0.5
    assert solve(problem, "cyclic").value == before
