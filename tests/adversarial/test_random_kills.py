"""SIGKILL at a random moment, again and again: what was done is kept as it was, is not done again, and the rest is done in the end."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from counted import case

from simopt.compare import folder as files
from tests.adversarial.conftest import Environment, command, marked, until

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what was started is found in /proc")
pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")

RUNS = 24
PRETENDED = """
import time
from simopt.compare import work
from simopt.compare.child import ChildAnswer
from simopt.compare.comparison import measure

POINT = {"seconds": 0.1, "setup": 0.0, "solve": 0.1, "iteration": 1, "tolerance": 1e-8, "upper": 1.0, "lower": 1.0, "gap": 0.0,
         "relative_gap": 0.0}

def perform(task, comparison=""):
    with open("performed", "a") as out:
        out.write(task.cell.key + chr(10))
    answer = ChildAnswer("optimal", versions={"simopt": work.simopt.__version__}, points=[POINT] * 50)
    answer.system = {"machine": "this one"}
    time.sleep(0.01)
    return task.cell, answer, 0.1, "2026-01-01T00:00:00.000+00:00"

work.perform = perform
open("begun", "w").close()
measure("kernel-ridge", ["cholesky", "eigen"], sizes=[20, 30, 40], repetitions=4, folder="out")
"""
REAL = (
    "compare",
    "kernel-ridge",
    "--solvers",
    "cholesky,eigen",
    "--sizes",
    "20,30",
    "--repetitions",
    2,
    "--time-limit",
    30,
    "--report",
    "out",
)


def ended(process: "subprocess.Popen[bytes]", after: float, begun: Callable[[], object], mark: str) -> bool:
    """Kill a programme so many seconds after it has begun; whether it was still at work. Nothing that it started is left."""
    assert until(lambda: begun() or process.poll() is not None)
    time.sleep(after)
    working = process.poll() is None
    process.kill()
    said = process.communicate(timeout=300)[0]
    assert working or process.returncode == 0, said
    assert until(lambda: not marked(mark)), "something of it goes on"
    return working


def whole_runs(folder: Path) -> dict[str, bytes]:
    """The runs of a comparison, by key: each is whole."""
    found = {path: path.read_bytes() for path in (folder / "runs").glob("*.json")}
    return {json.loads(content)["key"]: content for content in found.values()}


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_a_comparison_loses_nothing_and_does_nothing_twice(kills: int, tmp_path: Path, environment: Environment, mark: str) -> None:
    (tmp_path / "programme.py").write_text(PRETENDED)
    (tmp_path / "performed").write_text("")
    before: dict[str, bytes] = {}
    for number in range(kills):
        asked = len((tmp_path / "performed").read_text().split())
        (tmp_path / "begun").unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "programme.py"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        case()
        after = random.uniform(0.0, 2.0 * (number + 1) / kills)
        ended(process, after, (tmp_path / "begun").exists, mark)
        now, performed = whole_runs(tmp_path / "out"), (tmp_path / "performed").read_text().split()[asked:]
        assert all(now[key] == content for key, content in before.items()), (after, "a run that was there is another, or none")
        assert not set(performed) & set(before), (after, "done twice")
        assert set(performed[:-1]) <= set(now), (after, "a run that had ended is lost")
        before = now
    done = subprocess.run([sys.executable, "programme.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    now = whole_runs(tmp_path / "out")
    assert len(now) == RUNS and all(now[key] == content for key, content in before.items())
    assert json.loads((tmp_path / "out" / "comparison.json").read_text())["complete"]


@pytest.mark.slow
def test_the_command_of_a_comparison_killed_seven_times(tmp_path: Path, environment: Environment, mark: str) -> None:
    before: dict[str, bytes] = {}
    for _ in range(7):
        case()
        process = subprocess.Popen(command(*REAL), cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        have = len(before)
        ended(process, random.uniform(0.0, 1.0), lambda have=have: len(list(tmp_path.glob("out/runs/*.json"))) > have, mark)
        now = whole_runs(tmp_path / "out")
        assert all(now[key] == content for key, content in before.items())
        before = now
    done = subprocess.run(command(*REAL), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "8 runs, complete" in done.stdout, done.stdout + done.stderr
    assert {record.status for record in files.newest(files.resumed(tmp_path / "out"))} == {"optimal"}


@pytest.mark.slow
def test_workers_of_a_comparison_killed_at_random(tmp_path: Path, environment: Environment, mark: str) -> None:
    """Each costs its own run, which says so; all that were not hit are optimal, and `--retry` mends the others."""
    process = subprocess.Popen(command(*REAL), cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    struck: set[int] = set()
    while process.poll() is None:
        time.sleep(random.uniform(0.0, 4.0))
        for each in [pid for pid in marked(mark) if pid != process.pid and pid not in struck]:
            os.kill(each, signal.SIGKILL)
            struck.add(each)
            case()
    said = process.communicate()[0].decode()
    records = files.newest(files.resumed(tmp_path / "out"))
    assert len(records) == 8, said
    assert all(r.status == "optimal" or (r.status == "failed" and "SIGKILL" in r.message) for r in records), [
        (r.status, r.message) for r in records
    ]
    assert sum(r.status == "failed" for r in records) <= len(struck)
    done = subprocess.run(command(*REAL, "--retry"), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {record.status for record in files.newest(files.resumed(tmp_path / "out"))} == {"optimal"}


QUICK = ("AK-P4.7pf", "AK-19-witness", "AK-B.7", "AK-D3.1", "AK-Ex.c", "KK-T1cor", "KK-P1", "AK-Tab1")  # they leave witnesses and proofs


@pytest.mark.slow
def test_verify_leaves_no_process_and_no_half_of_a_file(tmp_path: Path, environment: Environment, mark: str) -> None:
    evidence, started = tmp_path / "simopt-evidence", command("verify", *QUICK, "--jobs", 2)
    for _ in range(7):
        case()
        process = subprocess.Popen(started, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        ended(process, random.uniform(0.0, 8.0), lambda: len(marked(mark)) > 1, mark)  # it has a worker
        for path in evidence.glob("*.json"):
            json.loads(path.read_text())
    done = subprocess.run(started, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and len(list(evidence.glob("*.json"))) > len(QUICK) // 2, done.stdout + done.stderr
