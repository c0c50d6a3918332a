"""`simopt reproduce`: tables on screen, JSON, pictures, interruption."""

import json
import math
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]


def test_table_with_words_sentences_and_a_picture(pretend: None, run: Run, tmp_path: Path) -> None:
    result = run("reproduce", "pretend_table", "--plot", "pictures")
    assert result.exit_code == 0, result.output
    far = next(line for line in result.stdout.splitlines() if line.startswith("far") and " A " in line)
    assert "outside" in far and "20" in far and "2.1" in far and far.rstrip().endswith("outside")
    told = (
        "far, A: explained: with 0.1 of it 2 ± 0.1 (1.31 s.e.) beside the printed 2.1 (tried: with 0.5 of it 10 ± 0.1 (103 s.e.)). "
        "20 is far above 2.1"
    )
    assert told in " ".join(result.stdout.split())
    near = next(line for line in result.stdout.splitlines() if line.startswith("near") and " A " in line)
    assert near.split()[-2:] == ["1.3", "inside"]  # 0.1/√(0.1²/4 + 0.1²/3)
    assert "absent: NOT RUN, data set nobody is not here" in result.stdout
    assert "4 of 4 rows (1 NOT RUN), quick effort: 2 inside, 1 outside, 3 not printed" in result.stdout
    assert "[3/4] absent: not run" in result.stderr
    assert (tmp_path / "pictures" / "pretend-table.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_not_printed_stands_below_the_table_unless_asked_for(pretend: None, run: Run) -> None:
    short, long = run("reproduce", "pretend-table").stdout, run("reproduce", "pretend-table", "--all").stdout
    lines = [line for line in short.splitlines() if line.startswith("near")]
    assert len(lines) == 2 and " A " in lines[0] and lines[1].startswith("near, not printed: B ") and " ± " in lines[1]
    lines = [line for line in long.splitlines() if line.startswith("near")]
    assert len(lines) == 2 and " B " in lines[1] and lines[1].endswith("not printed") and "near, not printed" not in long
    for text in (short, long):
        assert "2 inside, 1 outside, 3 not printed" in text


def test_very_many_numbers_that_are_not_printed_are_counted(pretend: None, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from simopt.cli import reproduce as command

    monkeypatch.setattr(command, "MOST_BESIDE", 0)
    assert "near, not printed: 1 numbers (--all lists them)" in run("reproduce", "pretend-table").stdout


def test_rows_by_labels_and_parts_of_them(pretend: None, run: Run) -> None:
    result = run("reproduce", "pretend-table", "--rows", "FAR,ea", "--json", "--all")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [row["row"] for row in found["rows"]] == found["asked"] == ["near", "far"] and found["complete"]
    assert "[1/2] near" in result.stderr and "[2/2] far" in result.stderr
    whole = json.loads(run("reproduce", "pretend-table", "--json").stdout)
    assert [row["cells"] for row in whole["rows"][:2]] == [row["cells"] for row in found["rows"]]
    shown = run("reproduce", "pretend-table", "--rows", "near", "--rows", "absent").stdout
    assert "2 of 4 rows (1 NOT RUN), quick effort: 1 inside, 0 outside, 1 not printed" in shown


def test_what_the_table_says_of_its_rows_is_shown(pretend: None, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from simopt.core import registry

    monkeypatch.setitem(vars(registry.get("table", "pretend-table")), "seen", lambda rows: f"{len(rows)} rows, all [odd].")
    assert "3 rows, all [odd]." in run("reproduce", "pretend-table").stdout
    assert json.loads(run("reproduce", "pretend-table", "--json").stdout)["seen"] == "3 rows, all [odd]."


def test_outside_cell_that_nothing_explains_fails_whatever_is_remarked(pretend: None, run: Run) -> None:
    from simopt.claims.reproduction import Table
    from simopt.core import registry

    known: Table = registry.get("table", "pretend-table")
    object.__setattr__(known, "suppose", None)
    result = run("reproduce", "pretend-table")
    assert result.exit_code == 1 and "far, A: UNEXPLAINED. 20 is far above 2.1; 2 cells" in result.stdout
    assert "2 inside, 1 outside (1 UNEXPLAINED), 3 not printed" in result.stdout


def test_json_alone_and_the_same_in_the_file(pretend: None, run: Run, tmp_path: Path) -> None:
    result = run("reproduce", "pretend-table", "--json", "--output", "table.json")
    found = json.loads(result.stdout)
    assert json.loads((tmp_path / "table.json").read_text(encoding="utf-8")) == found
    counts = {"inside": 2, "outside": 1, "not_printed": 3, "other_reading": 0, "unexplained": 0}
    counts |= {"inside_but_beyond_two_standard_errors": 0, "rows_not_run": 1}
    assert found["complete"] and found["counts"] == counts
    cell = found["rows"][1]["cells"][0]
    assert cell["word"] == "outside" and cell["why"].endswith("2 cells") and cell["printed_sd"] == 0.1
    assert (
        cell["explained_by"] == "with 0.1 of it"
        and (cell["runs"], cell["printed_runs"]) == (3, 4)
        and cell["standard_errors"] == pytest.approx(17.9 / math.hypot(0.05, 1 / math.sqrt(3)))
    )
    assert [one["says"] for one in found["rows"][1]["tried"]] == ["with 0.5 of it", "with 0.1 of it"]
    assert found["rows"][1]["curves"][0]["y"] == [0.0, 10.0, 20.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reproduce", "pretend-tabel"), "unknown table 'pretend-tabel'; did you mean 'pretend-table'?"),
        (("reproduce", "pretend-table", "--output", "."), ".: is a folder"),
        (("reproduce", "pretend-table", "--rows", "near,fra"), "'fra' is in no label of pretend-table, which has near; far; absent; slow"),
        (("reproduce", "pretend-table", "--plot", "/dev/null"), "/dev/null: is a file, a folder is needed"),
    ],
)
def test_bad_input_is_one_line(pretend: None, run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and result.stdout == "" and message in result.stderr and result.stderr.count("\n") == 1


def test_a_table_without_a_picture_says_so_before_the_work(pretend: None, run: Run) -> None:
    from simopt.core import registry

    object.__setattr__(registry.get("table", "pretend-table"), "plot", None)
    result = run("reproduce", "pretend-table", "--plot", "pictures")
    assert result.exit_code == 2 and result.stderr == "simopt: pretend-table has no picture; --plot is for figures\n"


def test_interrupt_keeps_the_rows_that_are_done(
    start: Callable[..., subprocess.Popen[str]], plugins: Path, begun: Path, tmp_path: Path
) -> None:
    process = start("reproduce", "pretend-table", "--effort", "full", "--output", "part.json", path=plugins)
    assert process.stderr is not None
    for _ in range(3):
        process.stderr.readline()
    assert begun.read_text() == "begun"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 130 and "3 of 4 rows" in out and "(interrupted)" in out
    part = json.loads((tmp_path / "part.json").read_text(encoding="utf-8"))
    assert not part["complete"] and [row["row"] for row in part["rows"]] == ["near", "far", "absent"]
