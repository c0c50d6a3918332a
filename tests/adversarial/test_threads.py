"""Threads and pools of processes: each gets its own answers, and leaves nothing changed."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from counted import case

import simopt
from simopt.arithmetic.precision import workprec
from simopt.backends import ecos_process
from simopt.backends.table import installed
from simopt.compare import processes
from simopt.compare.child import ChildAnswer, Served
from simopt.core.threads import Turns, quiet
from simopt.processes import worker
from tests.adversarial.conftest import Environment, marked, until

THREADS = 8
BACK_ENDS = [backend.name for backend in installed()]
SOURCE = '''
"""Problems, and their answers to the last bit."""

import multiprocessing
import sys

import numpy as np

import simopt
from simopt.problems.bounds import Ball
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.landmarked_svr import LandmarkedSVR


def problem(name, seed):
    rng = np.random.default_rng(seed)
    features, targets = rng.normal(size=(8 + seed, 3)), rng.normal(size=8 + seed)
    if name in ("osqp", "cholesky"):
        return KernelRidge(features @ features.T, targets, regularization=0.5)
    return LandmarkedSVR(features, targets, Ball(1.0), 0.1)


def told(solution):
    bounds = solution.certificate
    point = {entry: np.asarray(value).tobytes() for entry, value in (solution.point or {}).items()}
    return solution.status.value, solution.message, point, bounds and (bounds.lower, bounds.upper)


def answer(name, seed, rigorous=False):
    return told(simopt.solve(problem(name, seed), name, tol=1e-6, rigorous=rigorous))


if __name__ == "__main__":
    kind, *names = sys.argv[1:]
    tasks = [(name, seed) for seed in range(2) for name in names]
    right = [answer(*task) for task in tasks]  # here first: what a fork copies must do no harm
    with multiprocessing.get_context(kind).Pool(2) as pool:
        found = pool.starmap(answer, tasks)
    print(*(task for task, mine, theirs in zip(tasks, right, found) if mine != theirs), len(tasks))
'''
made: dict[str, Any] = {}
exec(SOURCE.replace("__main__", "a programme"), made)


def race(work: Callable[[int], Any], repetitions: int = 1) -> list[Any]:
    """What the threads return that begin together, each so many times."""
    case(THREADS * repetitions)
    begun = threading.Barrier(THREADS)

    def one(number: int) -> list[Any]:
        begun.wait()
        return [work(number) for _ in range(repetitions)]

    with ThreadPoolExecutor(THREADS) as pool:
        return [found for each in pool.map(one, range(THREADS)) for found in each]


@pytest.mark.parametrize("name", [*BACK_ENDS, "osqp", "newton", "cholesky"])
def test_each_thread_gets_the_answers_to_its_own_problems(name: str) -> None:
    if name == "osqp":
        pytest.importorskip("osqp", reason="OSQP is an extra")
    right = [made["answer"](name, number) for number in range(THREADS)]
    assert all(status == "optimal" for status, *_ in right)
    assert race(lambda number: made["answer"](name, number) == right[number], repetitions=3) == [True] * 3 * THREADS


@pytest.mark.parametrize("rigorous", [False, True])
def test_threads_may_share_a_problem(rigorous: bool) -> None:
    shared = made["problem"]("clarabel", 3)
    right = made["answer"]("clarabel", 3, rigorous)
    found = race(lambda number: made["told"](simopt.solve(shared, "clarabel", tol=1e-6, rigorous=rigorous)))
    assert found == [right] * THREADS


def written() -> cp.Problem:
    rng = np.random.default_rng(5)
    x = cp.Variable(5, name="x")
    return cp.Problem(cp.Minimize(cp.norm1(rng.normal(size=(12, 5)) @ x - rng.normal(size=12)) + cp.sum_squares(x)), [cp.sum(x) == 1])


def test_threads_may_share_a_problem_of_cvxpy() -> None:
    shared, right = written(), made["told"](simopt.solve(written(), "clarabel"))
    upper = simopt.certify(shared, solver="clarabel").upper

    def work(number: int) -> bool:
        if number % 2:
            return bool(simopt.certify(shared, solver="clarabel").upper == upper) or shared.variables()[0].value is not None
        return bool(made["told"](simopt.solve(shared, "clarabel")) == right)

    assert race(work) == [True] * THREADS
    assert simopt.certify(shared).relative_gap <= 1e-8, "it holds one solve's values and dual values"


def test_warnings_are_shown_again_after_solves_in_threads() -> None:
    before = list(warnings.filters)
    race(lambda number: made["answer"]("clarabel", number))
    assert warnings.filters == before


@pytest.mark.parametrize("count", [2, 8, 32])
def test_whoever_leaves_first_the_filters_are_set_back(count: int) -> None:
    """Threads that enter one after another and leave in the same order: each would set back what the one before it had set."""
    before = list(warnings.filters)
    entered, leave = [threading.Event() for _ in range(count)], [threading.Event() for _ in range(count)]

    def inside(number: int) -> None:
        with quiet():
            entered[number].set()
            leave[number].wait()

    threads = [threading.Thread(target=inside, args=(number,)) for number in range(count)]
    for number, thread in enumerate(threads):
        thread.start()
        entered[number].wait()
    for number, thread in enumerate(threads):
        assert not list(warnings.filters) == before
        leave[number].set()
        thread.join()
    assert list(warnings.filters) == before


def test_threads_compute_with_the_precision_that_they_asked_for() -> None:
    import flint

    before = flint.ctx.prec
    third = Fraction(1, 3)

    def work(number: int) -> bool:
        with workprec(64 + 32 * number):
            time.sleep(0)  # others have their turn
            ball = flint.arb(third.numerator) / third.denominator
            return bool(abs(ball.mid() - ball).rad() < flint.arb(2) ** -(60 + 32 * number)) and flint.ctx.prec == 64 + 32 * number

    assert race(work, repetitions=50) == [True] * 50 * THREADS
    assert flint.ctx.prec == before


def test_who_takes_objects_has_them_alone_and_may_take_them_again() -> None:
    turns, inside = Turns(), []

    def work(number: int) -> bool:
        with turns.of([number % 3, 7]), turns.of([7]):
            inside.append(number)
            alone = len(inside) == 1
            inside.remove(number)
        return alone

    assert race(work, repetitions=50) == [True] * 50 * THREADS
    assert not turns._taken


@pytest.mark.parametrize("body", [
    "registry.load('problems', 'solvers'); return len(registry.names('problem'))",
    pytest.param("return registry.find('problem', ['kernel-ridge', 'landmarked-svr', 'hinge-svm', 'herding'][number % 4]).name",
                 marks=pytest.mark.slow),
    pytest.param("return simopt.solve(KernelRidge([[2.0, 0.0], [0.0, 1.0 + number]], [1.0, 2.0], regularization=0.5)).optimal",
                 marks=pytest.mark.slow),
])  # fmt: skip
def test_the_first_calls_of_a_process_come_from_threads(body: str, environment: Environment) -> None:
    script = f"""
import threading, simopt
from simopt.core import registry
from simopt.problems.kernel_ridge import KernelRidge
def work(number):
    {body}
found, begun = [None] * {THREADS}, threading.Barrier({THREADS})
def one(number):
    begun.wait()
    found[number] = work(number)
threads = [threading.Thread(target=one, args=(number,)) for number in range({THREADS})]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
print(found == [work(number) for number in range({THREADS})], found)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.startswith("True") and not done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("kind", [
    kind if kind == "fork" else pytest.param(kind, marks=pytest.mark.slow) for kind in multiprocessing.get_all_start_methods()
])  # fmt: skip
def test_processes_of_a_pool_get_the_answers_to_their_own_problems(kind: str, tmp_path: Path, environment: Environment) -> None:
    (tmp_path / "programme.py").write_text(SOURCE)
    names = [*BACK_ENDS, "newton"]
    done = subprocess.run(
        [sys.executable, str(tmp_path / "programme.py"), kind, *names], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == f"{2 * len(names)}\n", done.stdout + done.stderr
    case(2 * len(names))


@pytest.mark.backend("ecos")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_starts_an_ecos_of_its_own_and_does_not_keep_ours_alive(mark: str) -> None:
    with ecos_process.ready() as ours:
        pass
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with ecos_process.ready() as own:
            os.write(writing, b"%d %d" % (own.pid != ours.pid, ours.alive))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0 and os.read(reading, 100) == b"1 0"
    assert ours.alive
    os.close(reading), os.close(writing)


def test_a_comparison_that_is_stopped_does_not_stop_another(monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[str] = []

    class HangingWorker:
        def __init__(self, *arguments: Any, **options: Any) -> None:
            self.over = threading.Event()

        def call(self, task: bytes, **options: Any) -> Served:
            if not self.over.wait(0.0 if task == b"quick" else None):
                return Served(ChildAnswer("optimal"), reusable=False, megabytes=0.0)
            raise worker.Died("ended")

        def end(self, polite: bool = False) -> None:
            self.over.set()

    class SolverTask:
        def __init__(self, solver: str) -> None:
            self.solver, self.cell = solver, self
            self.time_limit, self.threads = 1.0, 1

    monkeypatch.setattr(processes, "Worker", HangingWorker)
    monkeypatch.setattr(processes, "pickled", lambda task: task.solver.encode())
    monkeypatch.setattr(processes, "described", lambda answer, task: answer)
    hangs: Any = SolverTask("hangs")
    quick: Any = SolverTask("quick")
    thread = threading.Thread(target=lambda: answered.append(processes.perform(hangs, "first").status))
    thread.start()
    assert until(lambda: processes._running)
    processes.stop("first")
    thread.join()
    assert answered == ["interrupted"]
    assert processes.perform(quick, "first").status == "interrupted"
    assert processes.perform(quick, "second").status == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize("name", BACK_ENDS)
def test_each_thread_gets_its_own_answers_at_length(name: str) -> None:
    right = [made["answer"](name, number) for number in range(THREADS)]
    assert all(race(lambda number: made["answer"](name, number) == right[number], repetitions=40))


def test_marks_find_what_was_started(environment: Environment, mark: str) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], env=environment, stdin=subprocess.PIPE) as process:
        assert until(lambda: marked(mark) == [process.pid])
    assert not marked(mark)
