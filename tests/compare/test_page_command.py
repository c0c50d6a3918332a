"""`simopt compare` and its page: the answer in the first line, what is left out, killed and resumed, written again."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_records import record
from typer.testing import Result

from simopt.compare import folder as files
from simopt.compare.record import Record

Run = Callable[..., Result]
EXTRAS = ("matplotlib", "pandas", "jinja2", "markupsafe", "pyarrow")
OWN = """
import cvxpy as cp
import numpy as np

def portfolio(n=20):
    rng = np.random.default_rng(0)
    mu, w = rng.uniform(0, 0.3, n), cp.Variable(n)
    return cp.Problem(cp.Maximize(mu @ w - cp.sum_squares(w)), [cp.sum(w) == 1, w >= 0])
"""


def filled(folder: Path, *records: Record) -> Path:
    files.prepare(folder)
    for each in records:
        files.save(folder, each, 0)
    return folder


def two(machine: str = "M") -> list[Record]:
    return [record(name, seconds, size=n, machine=machine) for n in (1, 2) for name, seconds in (("a", 1.0), ("b", 2.0))]


@pytest.mark.parametrize("extras", [(), EXTRAS])
def test_a_page_is_written_again_and_what_is_left_out_is_said(
    run: Run, tmp_path: Path, extras: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = filled(tmp_path / "out", *two())
    for name in extras:
        for each in [*filter(lambda module: module.partition(".")[0] == name, list(sys.modules)), name]:
            monkeypatch.setitem(sys.modules, each, None)
    result = run("compare", "--report", place)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "a fastest on 2 of 2 instances (2 are too few to say more)"
    lines = result.stdout.strip().splitlines()
    if extras:
        assert lines[-1].startswith(
            "Left out: the page index.html (jinja2 is not installed), the tables in Parquet (pyarrow is not installed), "
        )
        assert lines[-1].endswith("the pictures (matplotlib is not installed): pip install 'simopt-convex[compare]'")
        assert {path.name for path in place.iterdir()} == {"runs", "table.md", "comparison.json"}
    else:
        assert "Left out" not in result.output and "4 runs, complete." in lines[-1] and "index.html" in lines[-1]
        assert (place / "index.html").read_text(encoding="utf-8").count('class="claim entry"') == 2


def test_folders_of_other_machines_are_merged_into_one_page(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the page needs jinja2")
    there = filled(tmp_path / "there", *two("other"))
    result = run("compare", "--merge", there, "--report", filled(tmp_path / "here", *two()))
    assert result.exit_code == 0, result.output
    assert [line.endswith(end) for line, end in zip(result.stdout.splitlines()[:2], ("(M)", "(other)"), strict=True)] == [True, True]
    assert "2 machines, each on its own" in (tmp_path / "here" / "index.html").read_text(encoding="utf-8")
    found = json.loads(run("compare", "--report", tmp_path / "here", "--json").stdout)
    assert found["format"] == "simopt-comparison/1" and [each["machine"] for each in found["machines"]] == ["M", "other"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "WHAT: name a problem to compare on, or a folder with --report DIR"),
        (("--merge", "x"), "WHAT: name a problem to compare on, or a folder with --report DIR"),
        (("--report", "nowhere"), "nowhere: no such folder"),
        (("--report", "empty"), "empty: holds no runs"),
        (("--report", "empty", "--solvers", "scs"), "without WHAT: nothing is run"),
        (("--report", "empty", "--set", "radius=1"), "--set: it concerns problems of the catalogue"),
        (("--report", "empty", "--benchopt", "b"), "--benchopt: a benchmark is of problems; name one"),
    ],
)
def test_nothing_to_compare_on_is_one_line(run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "empty").mkdir()
    result = run("compare", *arguments)
    assert result.exit_code == 2 and message in result.stderr and len(result.stderr.strip().splitlines()) == 1
    assert not list((tmp_path / "empty").iterdir()) and not (tmp_path / "nowhere").exists()


def start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "simopt", "compare", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "250"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def finished(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out


@pytest.mark.thorough  # processes of their own
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_half_way_resumed_and_written_again_it_is_the_same_page(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the page needs jinja2")
    (tmp_path / "own.py").write_text(OWN)
    what: tuple[Any, ...] = ("own.py:portfolio(n=[20, 30])", "kernel-ridge", "--sizes", 30, "--solvers", "clarabel,scs", "--repetitions", 1)
    first, place = start(tmp_path, *what, "--report", "out"), tmp_path / "out"
    while len(list(place.glob("runs/*.json"))) < 2 and first.poll() is None:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=600)
    done = len(list(place.glob("runs/*.json")))
    assert 2 <= done < 6
    told = finished(start(tmp_path, "--report", "out"))
    assert ", so far: not all runs are done" in " ".join(told.split()) and f"{done} runs, not complete" in told
    assert f"{done} of 6 runs are done" in (place / "index.html").read_text(encoding="utf-8")
    resumed = finished(start(tmp_path, *what, "--report", "out"))
    # The times are real: it may be that no solver is fastest.
    answer = re.match("(.* fastest on [1-3] of 3|no solver is fastest: .*) .*too few to say more", resumed)
    assert answer and "so far" not in " ".join(resumed.split()) and "6 runs, complete" in resumed, resumed
    page = (place / "index.html").read_bytes()
    assert b"Not all runs" not in page and page.count(b'class="claim entry"') == 3
    for arguments in (("--report", "out"), (*what, "--report", "out")):
        finished(start(tmp_path, *arguments))
        assert (place / "index.html").read_bytes() == page
    found = json.loads((place / "comparison.json").read_text())
    assert [each["problem_class"] for each in found["machines"][0]["instances"]] == ["QP"] * 3
    assert {each["variables"] for each in found["machines"][0]["instances"]} >= {20, 30}


@pytest.mark.thorough
def test_it_starts_without_the_extras(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in EXTRAS:
        for each in [*filter(lambda module: module.partition(".")[0] == name, list(sys.modules)), name]:
            monkeypatch.setitem(sys.modules, each, None)
    result = run("compare", "kernel-ridge", "--sizes", 20, "--solvers", "cholesky,eigen", "--repetitions", 1, "--report", "out")
    assert result.exit_code == 0, result.output
    assert "2 runs, complete. out: table.md, comparison.json" in result.stdout and "Left out: the page" in result.stdout
