"""Solvers of a plug-in that are broken in every way, in one comparison: each is named with what it did, and the sound one is timed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from counted import case

from tests.adversarial.conftest import Environment, marked, until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")
pytest.importorskip("pandas", reason="tables of a comparison need pandas")

BROKEN = {  # what it does at the problem that is compared on: the status of its run, and words of the message
    "raise ValueError('no such matrix')": ("failed", "ValueError: no such matrix"),
    "1 / 0": ("failed", "ZeroDivisionError"),
    "raise MemoryError": ("failed", "out of memory"),
    "sys.exit(0)": ("failed", "SystemExit: 0"),
    "raise BaseException('base')": ("failed", "BaseException: base"),
    "os._exit(0)": ("failed", "the process ended with status 0 and no answer"),
    "os._exit(9)": ("failed", "the process ended with status 9 and no answer"),
    "os.abort()": ("failed", "SIGABRT"),
    "ctypes.string_at(0)": ("failed", "SIGSEGV"),
    "os.kill(os.getpid(), signal.SIGKILL)": ("failed", "SIGKILL"),
    "os.closerange(3, 4096)": ("failed", "no answer"),
    "time.sleep(600)": ("time limit", "ended from outside"),
    "[None for _ in iter(int, 1)]": ("time limit", "ended from outside"),
    "f = lambda: f(); f()": ("failed", "RecursionError"),
    "return": ("gap open", "the solver finished before the certificate closed"),
    "yield None": ("failed", "an Iterate needed"),
    "yield Iterate({})": ("failed", "point: no entry"),
    "yield Iterate({'alpha': 'many'})": ("failed", "point: alpha: values that are not numbers ('many')"),
    "yield Iterate({'alpha': np.zeros(3)})": ("failed", "point: alpha has shape (3,), expected (40,)"),
    "yield Iterate({'alpha': np.full(len(problem.targets), np.nan)})": ("failed", "point: alpha is not finite (first at index 0)"),
    "yield Iterate({'alpha': np.zeros(len(problem.targets))}, None, 0.0)": ("gap open", ""),
    "yield Iterate({'alpha': np.full(len(problem.targets), 1e300)}, None, 0.0)": ("gap open", ""),
    "problem.targets.setflags(write=True); problem.targets[:] = 0; yield Iterate({'alpha': np.zeros(len(problem.targets))}, None, 0.0)": (
        "failed",
        "cannot set WRITEABLE flag",
    ),
    "os.fork() or os._exit(0); yield Iterate({'alpha': np.zeros(len(problem.targets))})": ("gap open", ""),
    "while True: yield Iterate({'alpha': np.zeros(len(problem.targets))})": ("time limit", "the gap was still open after 1 s"),
}
HANGS = ("time.sleep(600)", "[None for _ in iter(int, 1)]")  # they look at no clock
SOLVERS = """
import ctypes, os, signal, sys, time
import numpy as np
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

def broken(name, body):
    space = dict(globals())
    lines = ["def function(problem, *, tol):", "    'It is broken.'", "    if len(problem.targets) == 40:", f"        {body}"]
    lines += ["    yield from ()"]
    exec(chr(10).join(lines), space)
    function = space["function"]
    function.__module__, function.__qualname__ = __name__, name
    globals()[name] = function
    solver(name.replace("_", "-"), solves=KernelRidge)(function)

for number, body in enumerate(BODIES):
    broken(f"broken_{number}", body)
"""
PROGRAMME = """
import json, sys
import broken_solvers
from simopt.compare import processes
from simopt.compare.comparison import measure

processes.START = float(sys.argv[1])
names = [f"broken-{number}" for number in range(len(broken_solvers.BODIES))]
made = measure("kernel-ridge", [*names, "cholesky"], sizes=[40], repetitions=1, time_limit=1.0, folder="out", jobs=2)
print(json.dumps([(r.cell.solver, r.status, r.message, r.success) for r in made.records]))
print(made.text())
"""


@pytest.mark.parametrize(("bodies", "patience"), [
    pytest.param(["os._exit(9)", "raise ValueError('no such matrix')"], 500, id="two"),
    pytest.param([body for body in BROKEN if body not in HANGS], 500, id="all", marks=pytest.mark.slow),
    pytest.param(list(HANGS), 20, id="those that hang", marks=pytest.mark.slow),
])  # fmt: skip
def test_each_is_named_and_the_sound_one_is_timed(
    bodies: list[str], patience: int, tmp_path: Path, environment: Environment, mark: str
) -> None:
    (tmp_path / "broken_solvers.py").write_text(f"BODIES = {bodies!r}\n{SOLVERS}")
    (tmp_path / "programme.py").write_text(PROGRAMME)
    done = subprocess.run(
        [sys.executable, "programme.py", str(patience)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, _, table = done.stdout.partition("\n")
    found = {solver: (status, message, success) for solver, status, message, success in json.loads(first)}
    assert found.pop("cholesky") == ("optimal", "", True) or patience < 60, "on a busy machine it may not even begin in less"
    for number, body in enumerate(bodies):
        case()
        status, message, success = found.pop(f"broken-{number}")
        kind, word = BROKEN[body]
        assert not success and status != "optimal" and status.startswith(kind) and word in message, (body, status, message)
        assert f"broken-{number}" in table, body
    assert not found and until(lambda: not marked(mark))
