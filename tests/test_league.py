"""The league: sets take turns, what is not at hand is said, a page counts what its runs say, and no false claim stands there untried."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import pytest

pytest.importorskip("pyarrow", reason="a comparison keeps tables in Parquet")

ROOT = Path(__file__).resolve().parents[1]
DIET = "ROWS\n N c\n G r\nCOLUMNS\n x c 1 r 3\n y c 2 r 1\nRHS\n b r 1\nQUADOBJ\n x x 2\nENDATA\n"


def loaded(name: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        return importlib.import_module(f"benchmarks.league.{name}")


ENTRIES, FALSE_CLAIMS, PAGE, PLAY = (loaded(name) for name in ("entries", "false_claims", "page", "play"))
RULES = PLAY.Rules(5.0, 1, ("clarabel", "scs"))


def test_sets_take_turns_and_what_is_not_at_hand_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SIMOPT_INSTANCES", raising=False)
    found, missing = ENTRIES.entries(list(ENTRIES.SETS), None, quick=False)
    counts = Counter(each.set for each in found)
    assert set(counts) == {"catalogue", "gallery"} and counts["catalogue"] >= 41 and counts["gallery"] >= 60
    assert ["SIMOPT_INSTANCES is not set" in line or "--files DIR" in line for line in missing] == [True] * 3
    half = Counter(each.set for each in found[: len(found) // 2])
    assert all(abs(2 * half[name] - count) <= 2 for name, count in counts.items()), "a league that is cut short has a part of each"
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "diet.qps").write_text(DIET)
    (tmp_path / "notes.txt").write_text("")
    (own,), none = ENTRIES.entries(["files"], tmp_path, quick=False)
    assert own.name == "diet.qps" and own.folder == tmp_path / "below" and not none
    assert isinstance(own.make(), cp.Problem)


def test_the_class_is_that_of_the_cones() -> None:
    x, X = cp.Variable(3), cp.Variable((2, 2), PSD=True)
    objectives = [cp.norm1(x), cp.sum_squares(x), cp.norm(x), cp.sum(cp.exp(x)), cp.trace(X) + cp.sum(x)]
    assert tuple(ENTRIES.class_of(cp.Problem(cp.Minimize(each), [x >= 1])) for each in objectives) == ENTRIES.CLASSES


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A file and a model of the gallery, played by two solvers."""
    folder = tmp_path_factory.mktemp("league")
    (folder / "diet.qps").write_text(DIET)
    files, _ = ENTRIES.entries(["files"], folder, quick=False)
    gallery, _ = ENTRIES.entries(["gallery"], None, quick=False)
    chosen = [*files, next(each for each in gallery if each.name == "planning.set_cover")]
    told: list[str] = []
    for each in chosen * 2:
        PLAY.play(folder / "runs", each, RULES, lambda done, left, run: told.append(run.cell.label))
    assert len(told) == len(set(told)), "what is done is not run again"
    return [PAGE.load(PLAY.home_of(folder / "runs", each), each, PLAY.state_of(folder / "runs", each)) for each in chosen]


@pytest.mark.thorough
def test_a_page_says_what_was_run(played: Any) -> None:
    text = PAGE.written(played, 7, ["a set: not here"], ["sdpa"], RULES)
    for words in (
        "**2 of 7 problems**: the league was cut short",
        "* Not at hand. a set: not here.",
        "Not installed: sdpa.",
        "| clarabel | 1 | 1 (100%) | 1 (100%) |",
        "| scs, tight | 1 | 1 (100%) | 1 (100%) |",
        "## Quadratic\n\n1 of files.",
        "Of 4 claims 4 are true, 0 not proven, **0 FALSE**",
        "None was found.",
    ):
        assert words in text, words
    assert str(played[0].home) not in text and str(ROOT) not in text, "no paths of this machine"


@pytest.mark.thorough
def test_a_false_claim_is_tried_and_one_that_does_not_come_again_is_said_so(played: Any) -> None:
    """SCS's optimum at its own tolerance misses the bounds by more than 1e-13: a record that claims so much is convicted by its lines."""
    one = played[0]
    run = next(each for each in one.runs if each.cell.candidate == "scs")
    boast = replace(run, claim_tolerance=1e-14, claim_verdict="FALSE")
    invented = replace(run, claimed="infeasible", claim_verdict="FALSE", started="later")
    found = FALSE_CLAIMS.reproduced(one.entry, boast, one.home)
    assert found.holds and found.alone and found.printed.endswith("\nFALSE") and len(found.lines) <= 12
    assert FALSE_CLAIMS.reproduced(one.entry, boast, one.home) == found
    text = PAGE.written([replace(one, runs=(invented,))], 1, [], [], RULES)
    assert "### scs: diet.qps infeasible" in text and "**Not reproduced:**" in text and "problem = simopt.read('diet.qps')" in text


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_it_goes_on_where_it_was_stopped(tmp_path: Path, how: signal.Signals) -> None:
    for i in range(3):
        (tmp_path / f"diet{i}.qps").write_text(DIET.replace("y c 2", f"y c {2 + i}"))
    options = ["--sets", "files", "--files", ".", "--solvers", "clarabel,scs", "--folder", "out", "--page", "page.md"]
    command = [sys.executable, "-m", "benchmarks.league", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until = time.monotonic() + 300
    while len(runs := list(tmp_path.glob("out/league/*/*/runs/*.json"))) < 5 and first.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    first.send_signal(how)
    said = first.communicate(timeout=300)[1]
    assert first.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL), said
    kept = {path: path.read_bytes() for path in runs}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("out/league/*/*/runs/*.json"))) == 12 and all(path.read_bytes() == data for path, data in kept.items())
    assert "**3 of 3 problems**." in (tmp_path / "page.md").read_text()
