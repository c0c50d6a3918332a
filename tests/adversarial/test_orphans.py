"""Whatever ends a programme, nothing that it has started goes on."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adversarial.conftest import Environment, command, marked, until
from tests.cli.conftest import install

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what was started is found in /proc")

SIGNALS = (signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
BUSY = {
    "asleep": "time.sleep(600)",
    "in Python": "[None for _ in iter(int, 1)]",
    "in C, holding Python's lock": "pow(3, 10**9)",
    "deaf": "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15, 29)]; time.sleep(600)",
    "with a process of its own": "subprocess.run(['sleep', '600'])",
    "with a copy of itself": "os.fork(); time.sleep(600)",
}
CLAIMS = """
import os, signal, subprocess, time
from simopt.claims import AUDIFFREN_KADRI, HOLDS, INEQUALITY, at_most, claim

def register(name):
    @claim(name, paper=AUDIFFREN_KADRI, place="p", kind=INEQUALITY, expected=HOLDS, says="s", instances=lambda trial: iter([{"x": 1}]),
           knobs={"c": 1}, mutants={"c = 3": {"c": 3}})
    def busy(instance, trial):
        with open(name, "w"):
            pass
        {body}
        yield at_most(1, 2)

register("BUSY-1")
register("BUSY-2")
"""
LIBRARY = """
import sys, threading
sys.path.insert(0, ".")
import busy_claims
from simopt.core import registry
registry.load = lambda *groups: None
from simopt.claims.verification import verify
{before}
verify(["BUSY-1", "BUSY-2"], jobs=2, evidence_dir=None)
"""
CHILD = """
import os, sys, time
import numpy as np
from simopt.backends import ecos_process
with ecos_process.ready() as process:
    open("BUSY-1", "w").close()
    {work}
"""
BIG = "from scipy import sparse; process.call(np.arange(900.0), sparse.random(9000, 900, 0.9, 'csc'), np.ones(9000), {'l': 9000, 'q': []})"


def with_default_signals() -> None:
    """What nohup and a shell's & ignore is heard again: a programme inherits what it ignores."""
    for each in SIGNALS:
        if each is not signal.SIGKILL:
            signal.signal(each, signal.SIG_DFL)


def started(arguments: list[str], folder: Path, environment: Environment, busy: int = 2) -> "subprocess.Popen[bytes]":
    """The programme, once so many of its processes are busy."""
    process = subprocess.Popen(
        arguments,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=with_default_signals,  # noqa: PLW1509 — nothing else runs in a thread here
    )
    begun = until(lambda: len(list(folder.glob("BUSY-*"))) >= busy or process.poll() is not None)
    if not begun or process.poll() is not None:
        process.kill()
        raise AssertionError(process.communicate()[0].decode())
    return process


def ended(process: "subprocess.Popen[bytes]", how: signal.Signals, mark: str) -> None:
    """It ends by a signal, and nothing is left of it; nobody holds its pipes."""
    assert len(marked(mark)) >= 2
    process.send_signal(how)
    process.communicate(timeout=300)
    assert until(lambda: not marked(mark)), marked(mark)


@pytest.mark.parametrize(("what", "how", "fresh"), [
    ("in C, holding Python's lock", signal.SIGKILL, False),
    ("asleep", signal.SIGTERM, True),
    *(pytest.param(what, how, fresh, marks=pytest.mark.slow)
      for what in BUSY for how in (SIGNALS) for fresh in (False, True)),
])  # fmt: skip
def test_workers_of_verify_end_with_it(
    what: str, how: signal.Signals, fresh: bool, tmp_path: Path, environment: Environment, mark: str
) -> None:
    (tmp_path / "busy_claims.py").write_text(CLAIMS.replace("{body}", BUSY[what]))
    before = "threading.Thread(target=threading.Event().wait, daemon=True).start()" if fresh else ""
    process = started([sys.executable, "-c", LIBRARY.replace("{before}", before)], tmp_path, environment)
    ended(process, how, mark)


def test_workers_of_the_command_end_with_it(tmp_path: Path, environment: Environment, mark: str) -> None:
    (tmp_path / "busy_claims.py").write_text(CLAIMS.replace("{body}", BUSY["with a process of its own"]))
    install(tmp_path, "busy", "theorems", "busy_claims")
    ended(started(command("verify", "BUSY-1", "BUSY-2", "--jobs", 2), tmp_path, environment), signal.SIGTERM, mark)


@pytest.mark.backend("ecos")
@pytest.mark.parametrize(("work", "how"), [
    ("time.sleep(600)", signal.SIGKILL),
    pytest.param("time.sleep(600)", signal.SIGTERM, marks=pytest.mark.slow),
    pytest.param(BIG, signal.SIGKILL, marks=pytest.mark.slow),
    pytest.param("os.fork() and os._exit(0)", signal.SIGKILL, marks=pytest.mark.slow),
])  # fmt: skip
def test_ecos_ends_with_who_started_it(work: str, how: signal.Signals, tmp_path: Path, environment: Environment, mark: str) -> None:
    if "fork" in work:
        subprocess.run([sys.executable, "-c", CHILD.replace("{work}", work)], cwd=tmp_path, env=environment, check=True)
        assert until(lambda: not marked(mark)), "a copy that goes on does not keep it alive"
    else:
        ended(started([sys.executable, "-c", CHILD.replace("{work}", work)], tmp_path, environment, busy=1), how, mark)


@pytest.mark.backend("ecos")
def test_ecos_ends_with_a_programme_that_ends_by_itself(tmp_path: Path, environment: Environment, mark: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", CHILD.replace("{work}", "pass")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert until(lambda: not marked(mark)) and not done.stderr


SLOW_SOLVER = """
import os, time
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solving.solver import solver

@solver("slow", solves=KernelRidge)
def slow(problem, *, tol):
    "It does not come to its end."
    if len(problem.targets) > 30:  # not at the examples
        open(os.path.join({folder!r}, "BUSY-1"), "w").close()
        time.sleep(600)
    yield from ()
"""


@pytest.mark.parametrize(("verb", "how"), [
    pytest.param("solve", signal.SIGKILL, marks=pytest.mark.slow),
    ("compare", signal.SIGKILL),
    pytest.param("solve", signal.SIGTERM, marks=pytest.mark.slow),
    pytest.param("compare", signal.SIGTERM, marks=pytest.mark.slow),
    pytest.param("compare", signal.SIGINT, marks=pytest.mark.slow),
    pytest.param("solve", signal.SIGINT, marks=pytest.mark.slow),
])  # fmt: skip
def test_solves_end_with_who_started_them(verb: str, how: signal.Signals, tmp_path: Path, environment: Environment, mark: str) -> None:
    (tmp_path / "slow_solver.py").write_text(SLOW_SOLVER.replace("{folder!r}", repr(str(tmp_path))))
    install(tmp_path, "slow", "solvers", "slow_solver")
    rows = "".join(f"{k},{k * k % 7},{k % 5}\n" for k in range(40))
    (tmp_path / "d.csv").write_text("a,b,y\n" + rows)
    options = ("--solver", "slow") if verb == "solve" else ("--solvers", "slow", "--repetitions", 1)
    ended(started(command(verb, "kernel-ridge", "--data", "d.csv", *options), tmp_path, environment, busy=1), how, mark)


def test_an_interrupt_of_a_solve_shows_what_there_is(tmp_path: Path, environment: Environment, mark: str) -> None:
    source = SLOW_SOLVER.replace("{folder!r}", repr(str(tmp_path))).replace(
        "        open(", "        yield Iterate({'alpha': 0 * problem.targets})\n        open("
    )
    (tmp_path / "slow_solver.py").write_text("from simopt.solving.solution import Iterate\n" + source)
    install(tmp_path, "slow", "solvers", "slow_solver")
    (tmp_path / "d.csv").write_text("a,b,y\n" + "".join(f"{k},{k * k % 7},{k % 5}\n" for k in range(40)))
    process = started(command("solve", "kernel-ridge", "--data", "d.csv", "--solver", "slow"), tmp_path, environment, busy=1)
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=300)[0].decode()
    assert process.returncode == 130 and "INTERRUPTED" in out and "≤ optimum ≤" in out, out
    assert until(lambda: not marked(mark))
