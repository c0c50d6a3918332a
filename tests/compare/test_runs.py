"""Runs in processes of their own: traces, failures with their reason, resuming, interrupts, clusters."""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

from simopt.backends.table import installed
from simopt.cli.compare import numbers
from simopt.compare import child, plan, processes, system, traces
from simopt.compare.cell import PlannedRun
from simopt.compare.child import ChildTask
from simopt.compare.comparison import Comparison, compare, measure
from simopt.compare.record import Record
from simopt.core import registry
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.model.status import Status
from simopt.problems.bounds import Ball
from simopt.problems.convex_potential import ConvexPotential
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.processes import worker
from simopt.solving.driver import choose

pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")
pytest.importorskip("pandas", reason="tables of a comparison need pandas")

Run = Callable[..., Result]


def small(n: int = 60) -> LandmarkedSVR:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 4))
    return LandmarkedSVR(features, features @ np.ones(4) + 0.3 * rng.normal(size=n), Ball(1.0), 0.1)


def task(problem: Any, solver: str, **changed: Any) -> ChildTask:
    return ChildTask(cell(problem.name, **changed), type(problem), problem, None, {}, choose(problem, solver), {})


def cell(problem: str, **changed: Any) -> PlannedRun:
    return replace(PlannedRun(problem, "given", None, None, "{}", 0, "", "{}", 1e-8, 5.0, 1, 0), **changed)


def test_iterates_of_a_solver_are_certified_with_the_clock_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    import simopt.solving.run

    certify, pause = simopt.solving.run.judge, 0.05

    def slowly(*arguments: Any, **options: Any) -> Any:
        time.sleep(pause)
        return certify(*arguments, **options)

    problem = small()
    traces.measure(problem, choose(problem, "newton"), tol=1e-8, time_limit=5.0, options={})  # compiled now
    monkeypatch.setattr(simopt.solving.run, "judge", slowly)
    start = time.perf_counter()
    found = traces.measure(problem, choose(problem, "newton"), tol=1e-8, time_limit=5.0, options={})
    took = time.perf_counter() - start
    assert found.sampling == "iterates" and found.status is Status.OPTIMAL and len(found.points) >= 2
    assert took - found.spent >= pause * len(found.points), "what certificates take is not on the clock"
    assert [p.solve for p in found.points] == sorted(p.solve for p in found.points)
    assert found.points[-1].relative_gap <= 1e-8 and found.best is not None


def test_back_ends_are_swept_over_tolerances() -> None:
    problem = small()
    found = traces.measure(problem, choose(problem, "clarabel"), tol=1e-8, time_limit=5.0, options={})
    assert found.sampling == "tolerance" and found.status is Status.OPTIMAL
    tolerances = [p.tolerance for p in found.points]
    assert tolerances == sorted(tolerances, reverse=True) and len(set(tolerances)) == len(tolerances) >= 2
    assert all(p.setup > 0 and p.solve > 0 for p in found.points)
    assert all(p.relative_gap > 1e-8 for p in found.points[:-1]) and found.points[-1].relative_gap <= 1e-8
    assert found.spent == pytest.approx(sum(p.seconds for p in found.points)), "every run is one point here, and no run is left out"


def test_infeasible_at_a_loose_tolerance_ends_no_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """ECOS calls a feasible problem of Maros and Mészáros infeasible at 1e-2, and solves it at its own tolerance."""
    from simopt.backends import adapter

    run, tried = adapter.run, list[float]()

    def loosely(*arguments: Any, tol: float, **options: Any) -> Any:
        tried.append(tol)
        found = run(*arguments, tol=tol, **options)
        return replace(found, status=Status.INFEASIBLE, point=None, multipliers=None) if tol > 1e-5 else found

    monkeypatch.setattr(adapter, "run", loosely)
    problem = small()
    found = traces.measure(problem, choose(problem, "clarabel"), tol=1e-6, time_limit=5.0, options={})
    assert found.status is Status.OPTIMAL and tried[:2] == [1e-2, 1e-4] and found.points[-1].relative_gap <= 1e-6
    monkeypatch.setattr(adapter, "run", lambda *a, tol, **o: replace(run(*a, tol=tol, **o), status=Status.INFEASIBLE, point=None))
    assert traces.measure(problem, choose(problem, "clarabel"), tol=1e-6, time_limit=5.0, options={}).status is Status.INFEASIBLE


def test_options_that_set_each_tolerance_leave_one_run() -> None:
    """Further ones would be the same; with one tolerance left to the sweep they are not."""
    problem, fixed = small(), dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-1)
    found = [traces.measure(problem, choose(problem, "clarabel"), tol=1e-8, time_limit=5.0, options=o) for o in (fixed, {"tol_feas": 1e-1})]
    assert len(found[0].points) == 1 and found[0].points[0].relative_gap > 1e-8
    assert len(found[1].points) > 1


def test_all_points_bracket_one_optimum() -> None:
    problem = small()
    runs = [traces.measure(problem, choose(problem, s), tol=1e-6, time_limit=5.0, options={}) for s in ("newton", "clarabel", "scs")]
    points = [p for run in runs for p in run.points]
    assert max(p.lower for p in points) <= min(p.upper for p in points) + 1e-12


@pytest.mark.parametrize("solver", ["newton", "interior-point", "clarabel"])
def test_gaps_of_a_trace_are_primal_minus_dual(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import simopt.solving.run

    problem, certify = small(), simopt.solving.run.judge
    judged: list[tuple[Any, Any, Any]] = []

    def keep(*arguments: Any, **options: Any) -> Any:
        found = certify(*arguments, **options)
        assert found.multipliers is not None
        judged.append((found.point["w"].copy(), found.multipliers["above"].copy(), found.multipliers["below"].copy()))
        return found

    monkeypatch.setattr(simopt.solving.run, "judge", keep)
    found = traces.measure(problem, choose(problem, solver), tol=1e-8, time_limit=5.0, options={})
    X, y, n = problem.features, problem.targets, len(problem.targets)
    assert len(judged) == len(found.points) >= 2
    for (w, above, below), point in zip(judged, found.points, strict=True):
        primal = np.maximum(np.abs(X @ w - y) - problem.epsilon, 0.0).mean()
        a = np.clip(np.maximum(above, 0) - np.maximum(below, 0), -1 / n, 1 / n)  # what both have in common only lowers the bound
        dual = -a @ y - problem.epsilon * np.abs(a).sum() - problem.radius * np.linalg.norm(X.T @ a)
        assert np.linalg.norm(w) <= problem.radius * (1 + 1e-12)
        assert (point.upper, point.lower) == pytest.approx((primal, dual), abs=1e-12)
        unit = max(abs(primal), abs(dual))
        assert (point.gap, point.relative_gap) == pytest.approx((primal - dual, (primal - dual) / unit), abs=1e-12)


@pytest.mark.parametrize(
    ("solver", "options", "status"),
    [
        ("clarabel", {"max_iter": 2}, Status.ITERATION_LIMIT),
        ("osqp", {}, Status.UNSUPPORTED),
    ],
)
def test_failures_have_a_status_and_a_reason(solver: str, options: dict[str, Any], status: Status) -> None:
    if solver == "osqp":
        pytest.importorskip("osqp", reason="OSQP is an extra")
    problem = small()
    found = traces.measure(problem, choose(problem, solver), tol=1e-8, time_limit=5.0, options=options)
    assert found.status is status and found.message and (found.best is None or found.best.relative_gap > 1e-8)


def test_time_limits_end_a_sweep() -> None:
    rng = np.random.default_rng(0)
    problem = LandmarkedSVR(rng.normal(size=(3000, 60)), rng.normal(size=3000), Ball(1.0), 0.1)
    found = traces.measure(problem, choose(problem, "clarabel"), tol=1e-8, time_limit=1e-3, options={})
    assert found.status is Status.TIME_LIMIT and "over 0.001 s" in found.message


def test_a_problem_that_cannot_be_built_is_an_answer() -> None:
    answer = child.perform(
        ChildTask(cell("landmarked-svr", size=40), LandmarkedSVR, None, None, {"landmarks": 99}, choose(LandmarkedSVR, "newton"), {})
    )
    assert answer.status == "not solved" and "landmarks" in answer.message


def test_a_defect_of_a_solver_is_its_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("from within")

    monkeypatch.setattr(traces, "measure", broken)
    answer = child.perform(task(small(), "newton"))
    assert answer.status == "failed" and answer.message == "AssertionError: from within"


@pytest.mark.parametrize(("output", "message"), [((), "out of memory"), (("8 GB wanted",), "out of memory (8 GB wanted)")])
def test_no_memory_is_a_failure(monkeypatch: pytest.MonkeyPatch, output: tuple[str, ...], message: str) -> None:
    def hungry(*arguments: Any, **options: Any) -> Any:
        raise MemoryError(*output)

    monkeypatch.setattr(traces, "measure", hungry)
    answer = child.perform(task(small(), "newton"))
    assert (answer.status, answer.message) == ("failed", message)


@pytest.mark.backend("ecos")
def test_the_process_of_a_run_limits_its_threads_and_measures_its_memory() -> None:
    answer = processes.perform(task(small(2000), "ecos", threads=1))
    assert answer.status == "optimal" and answer.threads_seen == 1
    assert answer.megabytes > 0 or not Path("/proc/self/clear_refs").exists()
    assert answer.system["machine"] and answer.versions["simopt"] and answer.solver_version
    assert answer.shapes["features"] == [2000, 4] and answer.scale > 0


def test_a_process_that_is_killed_is_a_failure_with_its_reason() -> None:
    rng = np.random.default_rng(0)
    problem = LandmarkedSVR(rng.normal(size=(4000, 300)), rng.normal(size=4000), Ball(1.0), 0.1)

    def kill() -> None:
        while not processes._running:
            time.sleep(0.05)
        os.kill(next(iter(processes._running)).pid, signal.SIGKILL)

    threading.Thread(target=kill).start()
    answer = processes.perform(task(problem, "scs", tol=1e-12, time_limit=60.0))
    assert answer.status == "failed" and "SIGKILL" in answer.message
    assert answer.system["machine"] and answer.versions, "it counts among the runs of this machine and version"


def test_an_interrupt_while_a_run_starts_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[threading.Timer] = []
    others = set(worker._living)  # of earlier tests

    class Interrupted(threading.Timer):
        def start(self) -> None:
            begun.append(self)
            super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Timer", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        processes.perform(task(small(), "newton"))
    (timer,) = begun
    assert timer.finished.is_set() and timer.daemon and not processes._running
    assert worker._living <= others, "the process of the run has been ended"


def test_an_option_that_the_solver_refuses_is_its_failure() -> None:
    registry.load("solvers")
    herding = registry.get("problem", "herding")
    spec = choose(herding, "frank-wolfe")
    numbers = cell("herding", size=30, tol=1e-6)
    answer = child.perform(ChildTask(numbers, herding, None, None, {"candidates": 10}, spec, {"steps": "sideways"}))
    assert answer.status == "failed" and "'sideways'" in answer.message


def test_runs_take_turns() -> None:
    settings = {"landmarks": [3, 4], "epsilon": 0.2}
    solvers = ["newton", ("clarabel", {"max_iter": 50})]
    made = plan.make(plan.Design("landmarked-svr", solvers, sizes=[20, 10], conditionings=[10], settings=settings, repetitions=2))
    first, second = ([task.cell for task in made.wave(r)] for r in (0, 1))
    assert len(first) == 8 == made.size // 2
    assert [c.solver for c in first] == ["newton", "clarabel"] * 4 and [c.solver for c in second] == ["clarabel", "newton"] * 4
    assert [c.size for c in first] == [10] * 4 + [20] * 4 and {c.conditioning for c in first} == {10.0}
    assert len({c.key for c in first + second}) == 16
    assert first[1].candidate == "clarabel[max_iter=50]" and json.loads(first[0].settings) == {"epsilon": 0.2, "landmarks": 3}


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"problem": "landmarked-svm"}, UnknownName, "did you mean"),
        ({"solvers": ["newtron"]}, UnknownName, "'newton'"),
        ({"solvers": [("scs", {"iterations": 3})]}, UnknownName, "option of scs"),
        ({"solvers": "newton"}, InvalidProblem, "a list is needed"),
        ({"solvers": []}, InvalidProblem, "at least one"),
        ({"sizes": [0]}, InvalidProblem, "sizes"),
        ({"sizes": [10.5]}, InvalidProblem, "sizes"),
        ({"conditionings": [0.5]}, InvalidProblem, "at least 1"),
        ({"settings": {"radus": 1.0}}, UnknownName, "'radius'"),
        ({"tol": 0.0}, InvalidProblem, "tol"),
        ({"repetitions": 0}, InvalidProblem, "repetitions"),
        ({"target": "y"}, InvalidProblem, "no data set"),
        ({"jobs": 0}, InvalidProblem, "jobs: 0 given"),
        ({"jobs": 1.5}, InvalidProblem, "jobs"),
        ({"settings": {"samples": 50}, "sizes": [60]}, InvalidProblem, "samples is what sizes count"),
        ({"problem": small(), "sizes": [5]}, InvalidProblem, "an instance was given"),
    ],
)
def test_bad_arguments_are_told_before_anything_runs(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        measure(**{"problem": "landmarked-svr", **arguments})


def test_a_given_problem_and_a_data_frame() -> None:
    frame = compare(small(), ["newton", "clarabel"], repetitions=1, tol=1e-6)
    assert list(frame["solver"]) == ["newton", "clarabel"] and list(frame["status"]) == ["optimal", "optimal"]
    assert set(frame["data"]) == {"given"} and np.all(np.isfinite(frame["time_to_1e-06"]))
    assert list(frame["sampling"]) == ["iterates", "tolerance"]


def test_what_is_there_is_not_run_again_and_failures_only_when_asked(tmp_path: Path) -> None:
    told: list[Record] = []
    arguments: dict[str, Any] = {
        "sizes": [40],
        "repetitions": 1,
        "folder": tmp_path / "r",
        "progress": lambda done, left, r: told.append(r),
    }
    measure("landmarked-svr", ["newton", ("clarabel", {"max_iter": 2})], **arguments)
    assert [r.success for r in told] == [True, False]
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "r").glob("runs/*.json")}
    measure("landmarked-svr", ["newton", ("clarabel", {"max_iter": 2})], **arguments)
    assert len(told) == 2 and times == {path: path.stat().st_mtime_ns for path in times}
    again = measure("landmarked-svr", ["newton", ("clarabel", {"max_iter": 2})], retry=True, **arguments)
    assert len(told) == 3 and not told[2].success and len(again.records) == 2


def test_slow_cells_are_not_repeated_beyond_the_budget() -> None:
    made = measure(small(), ["newton"], repetitions=5, budget=1e-3)
    assert len(made.records) == 1 and made.complete


def start(tmp_path: Path, *arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "250"}
    command = [sys.executable, "-m", "simopt", "compare", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.slow  # two commands, each with processes of its own
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_half_way_and_started_again(tmp_path: Path, how: signal.Signals) -> None:
    arguments = ("landmarked-svr", "--solvers", "newton,clarabel", "--sizes", "30,40", "--repetitions", "1", "--report", "out")
    first = start(tmp_path, *arguments)
    runs = tmp_path / "out" / "runs"
    while len(list(runs.glob("*.json"))) < 2 and first.poll() is None:
        time.sleep(0.02)
    first.send_signal(how)
    out, err = first.communicate(timeout=600)
    kept = {path: path.read_bytes() for path in runs.glob("*.json")}
    assert 2 <= len(kept) < 4, err
    assert first.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    if how is signal.SIGINT:
        assert "interrupted; the same command goes on from here" in out
    second = start(tmp_path, *arguments)
    out, err = second.communicate(timeout=600)
    assert second.returncode == 0, err
    assert f"[1/{4 - len(kept)}]" in err and "4 runs, complete" in out
    assert all(path.read_bytes() == content for path, content in kept.items())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "comparison.json", "index.html", "plots", "runs", "runs.parquet", "table.md", "traces.parquet",
    ]  # fmt: skip


def test_numbers_of_the_command_line_are_not_rounded(run: Run) -> None:
    assert numbers("--seeds", f"{2**53 + 1}, 1e3,2.5,-1,{2**200}") == [2**53 + 1, 1000, 2.5, -1, 2**200]
    assert isinstance(numbers("--seeds", "1e308")[0], float)
    for flag, value in (("--seeds", "1e308"), ("--seeds", "-1"), ("--sizes", "1e308"), ("--jobs", str(2**200)), ("--jobs", "0")):
        result = run("compare", "landmarked-svr", flag, value)
        assert result.exit_code != 0 and f"{flag[2:]}: " in result.output and "needed" in result.output


@pytest.mark.slow
def test_command_on_own_data_in_json(run: Run, csv: Path) -> None:
    arguments = ("compare", "landmarked-svr", "--data", csv, "--target", "y", "--solvers", "newton", "--repetitions", "1")
    result = run(*arguments, "--set", "landmarks=5,10", "--sizes", "50,500", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["complete"] and found["runs"] == 4 and len(found["systems"]) == 1
    by_size = {row["size"]: row for row in found["summary"]}
    assert by_size[50]["successes"] == 1 and by_size[500]["successes"] == 0
    assert by_size[500]["reason"] == "sizes: 500 samples asked for, small.csv has 60"
    again = run(*arguments, "--set", "landmarks=5,10", "--sizes", "50,500")
    assert again.exit_code == 0 and "4 runs, complete" in again.stdout and "NOT SOLVED: sizes: 500" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "ten"), "--sizes: 'ten' given, a number needed"),
        (("--solvers", "scs[foo=1]"), "unknown option of scs 'foo'"),
        (("--solvers", "scs[foo"), "a solver such as newton"),
        (("--data", "nowhere.csv"), "nowhere.csv: no such file"),
        (("--merge", "nowhere"), "nowhere: no such folder"),
        (("--merge", "nowhere", "--sizes", "10"), "--merge: nothing is run"),
        (("--set", "radus=1"), "did you mean 'radius'"),
        (("--report", "small.csv"), "no folder"),
    ],
)
def test_bad_input_is_one_line(run: Run, csv: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run("compare", "landmarked-svr", *arguments)
    assert result.exit_code == 2 and result.stderr.startswith("simopt: ") and message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(("row", "message"), [("1.0,,2.0", "is empty"), ("1.0,NA,2.0", "a missing value"), ("1.0,red,2.0", "not a number")])
def test_own_data_with_holes_are_named_by_line_and_column(run: Run, csv: Path, row: str, message: str) -> None:
    csv.write_text(csv.read_text() + row + "\n")
    result = run("compare", "landmarked-svr", "--data", csv)
    assert result.exit_code == 2 and "small.csv: line 62, column 2 (first) " in result.stderr and message in result.stderr


def test_a_target_that_is_no_column(run: Run, csv: Path) -> None:
    result = run("compare", "landmarked-svr", "--data", csv, "--target", "frist")
    assert result.exit_code == 2 and "unknown target column 'frist'; did you mean 'first'?" in result.stderr


@pytest.mark.slow  # a cluster is started
def test_a_dask_cluster_by_joblibs_back_end(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("distributed", reason="a Dask cluster needs distributed")
    import joblib
    from distributed import Client, LocalCluster

    for slots, output in ((1, 1), (2, 0)):
        caplog.clear()
        with LocalCluster(n_workers=1, threads_per_worker=slots, processes=False, dashboard_address=None) as cluster, Client(cluster):
            with joblib.parallel_config(backend="dask"):
                made = measure(small(), ["newton", "clarabel"], repetitions=2, tol=1e-6)
        assert sorted({r.cell.solver for r in made.records}) == ["clarabel", "newton"] and all(r.success for r in made.records)
        assert [record.message.count("the cluster has one slot") for record in caplog.records if "slot" in record.message] == [1] * output


@pytest.mark.thorough  # a cluster of processes is started
def test_two_workers_of_a_cluster_share_the_runs(tmp_path: Path) -> None:
    """Each worker starts processes for its runs; the folder, the order of the records and their verdicts are those of one machine."""
    pytest.importorskip("distributed", reason="a Dask cluster needs distributed")
    import joblib
    from distributed import Client, LocalCluster

    problem, solvers = small(), ["newton", "clarabel", "scs"]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        with joblib.parallel_config(backend="dask"):
            made = measure(problem, solvers, repetitions=3, tol=1e-6, folder=tmp_path)
        executed = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert len(executed) == 2 and all(count > 0 for count in executed.values()), executed
    assert len(made.records) == 9 == len(list((tmp_path / "runs").glob("*.json"))) and all(r.success for r in made.records)
    assert {r.jobs for r in made.records} == {2} and "2 runs went on at the same time" in made.text()
    assert max(r.lower for r in made.records) <= min(r.upper for r in made.records) + 1e-12
    alone = measure(problem, solvers, repetitions=3, tol=1e-6, folder=tmp_path)
    assert [r.started for r in alone.records] == [r.started for r in made.records], "nothing is left to run"


def test_runs_that_share_cores_are_announced(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(system, "cores", lambda: 1)
    monkeypatch.setattr(system, "load", lambda: None)  # it has a line of its own
    measure(small(), ["newton"], repetitions=2, jobs=2, tol=1e-6)
    assert [record.message for record in caplog.records if "cores" in record.message] == [
        "simopt.compare: 2 runs of 1 threads at a time share 1 cores: their seconds are each other's, too; give --jobs 1"
    ]
    caplog.clear()
    monkeypatch.setattr(system, "cores", lambda: 2)
    measure(small(), ["newton"], repetitions=2, jobs=2, tol=1e-6)
    assert not [record for record in caplog.records if "cores" in record.message]


def test_every_problem_can_be_compared_on() -> None:
    registry.load("problems", "solvers")
    for name, kind in registry.items("problem"):
        made = plan.make(plan.Design(name, sizes=[12]))
        assert {backend.name for backend in installed()} <= {c.chosen.name for c in made.candidates}
        assert issubclass(kind, made.instances[0].kind)


def test_a_problem_without_a_solver_of_its_own() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(30, 3)), np.where(rng.normal(size=30) > 0, 1.0, -1.0)
    problem = ConvexPotential(features, labels, np.full(30, 1 / 30), "logistic", 2.0)
    answer = child.perform(task(problem, "clarabel", tol=1e-6))
    assert answer.status == "optimal" and answer.points and not math.isnan(answer.points[-1]["gap"])


def test_light_import() -> None:
    heavy = "('pandas', 'pyarrow', 'matplotlib', 'cvxpy', 'joblib')"
    code = f"import sys, simopt.compare, simopt.cli.main; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_comparison_of_nothing() -> None:
    assert Comparison().frame().empty
