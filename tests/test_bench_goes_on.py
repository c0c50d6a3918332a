"""`make bench` goes on after an interrupt: what ended well is kept, of this tree only."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = "import pathlib; ran = pathlib.Path({ran!r}); ran.write_text(ran.read_text() + {name!r}); print({name!r}, 'says'); exit({status})"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The runner with two benchmarks, of which the second fails."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import __main__ as runner

    assert set(runner.OF_SOLVERS) <= set(runner.SCRIPTS)

    ran = tmp_path / "ran"
    ran.write_text("")
    scripts = {name: ["-c", SCRIPT.format(ran=str(ran), name=name, status=status)] for name, status in (("first", 0), ("second", 1))}
    monkeypatch.setattr(runner, "SCRIPTS", scripts)
    monkeypatch.setattr(runner, "OF_SOLVERS", [*scripts])
    monkeypatch.setattr(runner, "CACHE", tmp_path / "kept")
    return runner


def call(bench: ModuleType, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *options])
    return int(bench.main())


def test_what_ended_well_is_told_again_and_not_run(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(bench, monkeypatch) == 1
    first = capsys.readouterr().out
    assert first == "first says\nsecond says\n"
    assert call(bench, monkeypatch) == 1
    assert capsys.readouterr().out == first and (tmp_path / "ran").read_text() == "firstsecondsecond"
    call(bench, monkeypatch, "--again", "first")
    assert (tmp_path / "ran").read_text() == "firstsecondsecondfirst"
    call(bench, monkeypatch, "--quick", "first")  # other sizes are another measurement
    assert (tmp_path / "ran").read_text() == "firstsecondsecondfirstfirst"


def test_another_tree_is_measured_anew(bench: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "a.py").write_text("1\n")
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "READ", ("solvers",))
    call(bench, monkeypatch, "first")
    call(bench, monkeypatch, "first")
    assert (tmp_path / "ran").read_text() == "first"
    (tmp_path / "solvers" / "a.py").write_text("2\n")
    call(bench, monkeypatch, "first")
    assert (tmp_path / "ran").read_text() == "firstfirst"


def test_the_page_says_the_day_on_which_it_was_measured(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    call(bench, monkeypatch, "first")
    kept = bench.folder(quick=False) / "first.txt"
    day, rest = kept.read_text().split(" ", 1)
    assert day == datetime.date.today().isoformat()
    kept.write_text("2026-11-05 " + rest)
    told: list[tuple[object, ...]] = []
    monkeypatch.setattr(bench.page, "write", lambda *given: told.append(given))
    call(bench, monkeypatch, "--page", "first")
    assert told == [("first says\n", datetime.date(2026, 11, 5), "first")]
