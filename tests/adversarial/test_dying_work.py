"""Claims and solvers that end their process, or try to: that costs their own verdict, with the reason, and nothing else."""

import json
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counted import case

from simopt.processes.worker import Died, Worker, Workers, forkable
from tests.adversarial.conftest import Environment, command, marked, until
from tests.cli.conftest import install

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

DEATHS = {  # body: what the reason says
    "os._exit(0)": "ended with status 0 and no answer",
    "os._exit(3)": "ended with status 3 and no answer",
    "sys.exit(0)": "SystemExit: 0",
    "sys.exit('enough')": "SystemExit: enough",
    "exit()": "SystemExit",
    "os.abort()": "SIGABRT",
    "ctypes.string_at(0)": "SIGSEGV",
    "os.kill(os.getpid(), signal.SIGKILL)": "SIGKILL (by the system, which is out of memory?)",
    "os.kill(os.getpid(), signal.SIGTERM)": "SIGTERM",
    "os.kill(os.getpid(), signal.SIGINT); time.sleep(60)": "ended with status 130",
    "os.killpg(0, signal.SIGKILL)": "SIGKILL",
    "resource.setrlimit(resource.RLIMIT_CPU, (1, 1)); [None for _ in iter(int, 1)]": "SIG",
    "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)); bytearray(2**40)": "MemoryError",
    "raise KeyboardInterrupt": "ended with status 130",
    "raise GeneratorExit": "GeneratorExit",
    "raise BaseException('base')": "BaseException: base",
    "os.closerange(3, 4096); time.sleep(60)": "closed its pipe",
    "os.closerange(3, 4096)": "",
    "os.execv('/bin/true', ['true'])": "ended with status 0",
    "threading.Thread(target=os._exit, args=(5,)).start(); time.sleep(60)": "ended with status 5",
    "signal.alarm(1); time.sleep(60)": "SIGALRM",
    "raise type('Hidden', (Exception,), {'__reduce__': lambda self: 1 / 0})('hidden')": "Hidden: hidden",
}
MODULE = """
import ctypes, os, resource, signal, sys, threading, time
from simopt.claims import AUDIFFREN_KADRI, HOLDS, INEQUALITY, at_most, claim

def register(name, body):
    space = dict(globals())
    exec(f"def function(instance, trial):\\n    {body}\\n    yield at_most(1, 2)", space)
    function = space["function"]
    function.__module__, function.__qualname__ = __name__, name
    claim(name, paper=AUDIFFREN_KADRI, place="p", kind=INEQUALITY, expected=HOLDS, says="s", cost=9.0 if name.startswith("BAD") else 1.0,
          instances=lambda trial: iter([{"x": 1}]), knobs={"c": 1}, mutants={"c = 3": {"c": 3}})(function)

for number, body in enumerate(DEATHS):
    register(f"BAD-{number}", body)
    register(f"GOOD-{number}", "pass")
"""
PROGRAMME = """
import sys, threading
import dying_claims
from simopt.core import registry
registry.load = lambda *groups: None
from simopt.claims.verification import verify
if sys.argv[1] == "fresh":
    threading.Thread(target=threading.Event().wait, daemon=True).start()  # a thread, in whose company there is no fork
record = verify(sys.argv[3:], jobs=int(sys.argv[2]), evidence_dir=None)
import json
print(json.dumps([(row["id"], row["verdict"], row["reason"]) for row in record.rows]))
"""


def check(rows: list[tuple[str, str, str]], bodies: list[str]) -> None:
    """Every bad claim is an ERROR with its reason, every good one holds."""
    case(len(bodies))
    assert len(rows) == 2 * len(bodies)
    for name, verdict, reason in rows:
        body = list(DEATHS)[int(name.partition("-")[2])]
        if name.startswith("GOOD"):
            assert verdict == "HOLDS", (name, body, reason)
        else:
            assert verdict == "ERROR" and DEATHS[body] in reason, (body, reason)


def verified(folder: Path, environment: Environment, how: str, jobs: int, bodies: list[str]) -> subprocess.CompletedProcess[str]:
    (folder / "dying_claims.py").write_text(f"DEATHS = {list(DEATHS)!r}\n{MODULE}")
    (folder / "programme.py").write_text(PROGRAMME)
    numbers = [list(DEATHS).index(body) for body in bodies]
    names = [f"{word}-{number}" for number in numbers for word in ("BAD", "GOOD")]
    start = [sys.executable, str(folder / "programme.py"), how, str(jobs), *names]
    return subprocess.run(start, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize(("how", "jobs", "bodies"), [
    ("forked", 1, [body for body in DEATHS if "60" not in body and "LIMIT" not in body]),
    ("forked", 2, ["os._exit(0)", "sys.exit(0)", "ctypes.string_at(0)", "os.kill(os.getpid(), signal.SIGKILL)"]),
    ("fresh", 1, ["os._exit(0)"]),
    pytest.param("forked", 1, list(DEATHS), marks=pytest.mark.slow),
    pytest.param("forked", 2, list(DEATHS), marks=pytest.mark.slow),
    pytest.param("fresh", 1, list(DEATHS), marks=pytest.mark.slow),
    pytest.param("fresh", 2, list(DEATHS), marks=pytest.mark.slow),
])  # fmt: skip
def test_a_claim_that_ends_its_process_is_an_error_and_the_rest_goes_on(
    how: str, jobs: int, bodies: list[str], tmp_path: Path, environment: Environment, mark: str
) -> None:
    done = verified(tmp_path, environment, how, jobs, bodies)
    assert done.returncode == 0, done.stderr
    check(json.loads(done.stdout), bodies)
    assert until(lambda: not marked(mark))


@pytest.mark.parametrize(("how", "closed"), [
    ("forked", (0, 1, 2)),
    pytest.param("fresh", (0, 1, 2), marks=pytest.mark.slow),
    *(pytest.param(how, closed, marks=pytest.mark.slow)
      for how in ("forked", "fresh") for closed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))),
])  # fmt: skip
def test_without_standard_input_output_or_error(how: str, closed: tuple[int, ...], tmp_path: Path, environment: Environment) -> None:
    (tmp_path / "dying_claims.py").write_text(f"DEATHS = ['os._exit(0)', 'print(1), print(2, file=sys.stderr), input()']\n{MODULE}")
    written = f"open({str(tmp_path / 'rows')!r}, 'w').write(json.dumps([(r['id'], r['verdict']) for r in record.rows]))"
    ends = f"import os; [os.close(end) for end in {closed}]\n"
    (tmp_path / "programme.py").write_text(ends + PROGRAMME.partition("import json")[0] + f"import json; {written}")
    names = ["BAD-0", "GOOD-0", "BAD-1", "GOOD-1"]
    subprocess.run([sys.executable, str(tmp_path / "programme.py"), how, "1", *names], env=environment, check=True, timeout=300)
    found = dict(json.loads((tmp_path / "rows").read_text()))
    assert found.pop("BAD-0") == found.pop("BAD-1") == "ERROR" and found == dict.fromkeys(("GOOD-0", "GOOD-1"), "HOLDS")


def test_a_claim_that_forks_does_not_answer_twice(tmp_path: Path, environment: Environment) -> None:
    (tmp_path / "dying_claims.py").write_text(f"DEATHS = ['os.fork()', 'os.fork() or os._exit(0)', 'pass']\n{MODULE}")
    (tmp_path / "programme.py").write_text(PROGRAMME)
    names = [f"{word}-{number}" for number in range(3) for word in ("BAD", "GOOD")]
    start = [sys.executable, str(tmp_path / "programme.py"), "forked", "1", *names]
    done = subprocess.run(start, capture_output=True, text=True, env=environment, check=True)
    assert [tuple(row[:2]) for row in json.loads(done.stdout)] == [(name, "HOLDS") for name in names]


def test_the_command_shows_the_error_and_keeps_the_rest(tmp_path: Path, environment: Environment) -> None:
    (tmp_path / "dying_claims.py").write_text(f"DEATHS = {list(DEATHS)!r}\n{MODULE}")
    install(tmp_path, "dying", "theorems", "dying_claims")
    start = command("verify", "BAD-0", "GOOD-0", "BAD-2", "GOOD-2", "--jobs", 1)
    done = subprocess.run(start, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 1, done.stderr
    assert "BAD-0    ERROR" in done.stdout and "the process ended with status 0 and no answer" in done.stdout
    assert "SystemExit: 0" in done.stdout and "4 of 4 claims" in done.stdout and "2 HOLDS" in done.stdout


def work(what: str, value: Any = None) -> Any:
    """What workers of the tests below do."""
    if what == "give":
        return value
    if what == "end":
        os._exit(7)
    if what == "later":  # the end of whoever comes next
        signal.alarm(1)
        return None
    signal.pause()


@pytest.fixture(params=["forked", "fresh"])
def workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Of each kind."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    monkeypatch.setattr("simopt.processes.worker.forkable", lambda: request.param == "forked")
    made = Workers(work, fork=True)
    yield made
    made.close()


def test_values_come_back_to_the_last_bit(workers: Workers) -> None:
    numbers = np.array([0.0, -0.0, np.nan, -np.inf, 5e-324, np.nextafter(1, 2)])
    strange = np.frombuffer(np.uint64([0x7FF8000000000123, 0xFFF0000000000001]).tobytes())
    for value in (numbers, strange, np.asfortranarray(np.eye(3)), b"x" * 10_000_000, "ü\ud800", {"a": [1, (2.5, None)]}, 10**400):
        back = workers.call("give", value)
        assert type(back) is type(value)
        if isinstance(value, np.ndarray):
            assert back.tobytes("A") == value.tobytes("A") and back.flags.f_contiguous == value.flags.f_contiguous
        else:
            assert back == value


def test_who_did_not_end_a_process_is_not_blamed_for_its_end(workers: Workers) -> None:
    workers.call("later")
    (worker,) = workers._all
    assert until(lambda: not worker.alive)
    assert workers.call("give", 1) == 1, "it had died between two calls"
    workers.call("later")
    with pytest.raises(TimeoutError):  # the process dies of the alarm, and another is asked
        workers.call("wait", seconds=2.0)
    with pytest.raises(Died, match="ended with status 7"):
        workers.call("end")


def test_who_exceeds_the_time_limit_is_ended_and_the_next_call_answered(workers: Workers) -> None:
    with pytest.raises(TimeoutError):
        workers.call("wait", seconds=0.05)
    assert workers.call("give", 2) == 2
    assert sum(worker.alive for worker in workers._all) == 1


def test_no_fork_in_the_company_of_threads() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert not forkable()
    over.set()
    thread.join()


SOLVER = """
import ctypes, os, signal
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solving.solver import solver

@solver("dying", solves=KernelRidge)
def dying(problem, *, tol):
    "It does not come to its end."
    if len(problem.targets) == 40:  # not at the examples
        {body}
    yield from ()
"""


def solved(solver: str, body: str, folder: Path, environment: Environment) -> subprocess.CompletedProcess[str]:
    """By the command, with a solver that does this."""
    (folder / "dying_solver.py").write_text(SOLVER.replace("{body}", body))
    if not (folder / "dying-0.1.dist-info").exists():
        install(folder, "dying", "solvers", "dying_solver")
    x = np.random.default_rng(1).normal(size=(40, 3))
    np.savetxt(folder / "d.csv", x, delimiter=",", header="a,b,y", comments="")
    start = command("solve", "kernel-ridge", "--data", "d.csv", "--json", "--solver", solver)
    return subprocess.run(start, capture_output=True, text=True, env=environment, cwd=folder, check=False)


@pytest.mark.parametrize("body", ["1 / None", pytest.param("raise BaseException('base')", marks=pytest.mark.slow)])
def test_a_defect_of_a_solver_is_shown_with_its_line(body: str, tmp_path: Path, environment: Environment) -> None:
    done = solved("dying", body, tmp_path, environment)
    assert done.returncode == 1 and body in done.stderr and "dying_solver.py" in done.stderr


@pytest.mark.parametrize(("body", "message"), [
    ("os._exit(3)", "the process ended with status 3 and no answer"),
    pytest.param("os._exit(0)", "the process ended with status 0 and no answer", marks=pytest.mark.slow),
    pytest.param("ctypes.string_at(0)", "the process was ended by SIGSEGV", marks=pytest.mark.slow),
    pytest.param("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL", marks=pytest.mark.slow),
    pytest.param("os.closerange(3, 4096)", "and no answer", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_solver_that_ends_its_process_has_failed_and_the_others_go_on(
    body: str, message: str, tmp_path: Path, environment: Environment
) -> None:
    alone = solved("dying", body, tmp_path, environment)
    found = json.loads(alone.stdout)
    assert alone.returncode == 1 and found["status"] == "failed" and message in found["message"] and found["point"] is None
    if body == "os._exit(0)":
        all_ = json.loads(solved("all", body, tmp_path, environment).stdout)
        status = {s["provenance"]["solver"]: s["status"] for s in all_["solutions"]}
        assert status.pop("dying") == "failed" and {"cholesky", "eigen", "clarabel", "scs"} <= set(status)
        assert set(status.values()) == {"optimal"}


def test_a_worker_that_cannot_be_told_of_its_work_says_so() -> None:
    with pytest.raises(Exception, match="(?i)pickle"):
        Worker(partial(work, threading.Lock()))
