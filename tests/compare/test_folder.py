"""What is kept: the same from JSON, Parquet and memory; other versions, damage, full disks and read-only folders."""

import errno
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_records import record

from simopt.compare import folder as files
from simopt.compare.comparison import Comparison, load, merge
from simopt.compare.record import Record
from simopt.core import jsonio, registry
from simopt.core.errors import InvalidFile, InvalidProblem, NotAvailable

pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")
pytest.importorskip("pandas", reason="tables of a comparison need pandas")


def same(one: Record, two: Record) -> bool:
    """Equal, nan being equal to nan."""
    return json.dumps(jsonio.plain(one.describe())) == json.dumps(jsonio.plain(two.describe()))


def filled(folder: Path, *records: Record) -> Path:
    files.prepare(folder)
    for kept in records:
        files.save(folder, kept, 0)
    return folder


def test_json_and_parquet_give_back_the_same(tmp_path: Path) -> None:
    made = [record("a", 1.0, conditioning=10.0), record("b", None, size=None, options='{"max_iter": 3}')]
    place = filled(tmp_path / "r", *made)
    found = load(place)
    assert all(any(same(r, f) for f in found.records) for r in made)
    found.write(place)
    for path in place.glob("runs/*.json"):
        path.unlink()
    again = load(place)
    assert len(again.records) == 2 and all(any(same(r, f) for f in again.records) for r in made)
    assert math.isnan(again.records[0].points[0]["tolerance"])


@pytest.mark.parametrize("form", ["simopt-compare/2", "simopt-solution/1", None])
def test_another_format_is_refused_by_name(tmp_path: Path, form: str | None) -> None:
    place = filled(tmp_path / "r", record("a", 1.0))
    (path,) = place.glob("runs/*.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": form}))
    with pytest.raises(InvalidFile, match=r"simopt-compare/1") as caught:
        load(place)
    assert path.name in str(caught.value)
    if form == "simopt-compare/2":
        assert "use the version that wrote it" in str(caught.value)


def test_another_format_of_the_tables_is_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    place = tmp_path / "r"
    place.mkdir()
    Comparison([record("a", 1.0)]).write(place)
    path = place / "runs.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata({b"simopt": b"simopt-compare/9"}), path)
    with pytest.raises(InvalidFile, match=r"runs\.parquet: written in the format simopt-compare/9"):
        load(place)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.pop("status"), "status"),
        (lambda row: row.update(size="many"), "many"),
        (lambda row: row.update(solver="other"), "key"),
        (lambda row: row["trace"][0].pop("gap"), "gap"),
        (lambda row: row.update(versions="none"), "Expecting value"),
        (lambda row: row.update(system=[1]), "system"),
    ],
)
def test_damaged_records_are_named(tmp_path: Path, change: Any, message: str) -> None:
    place = filled(tmp_path / "r", record("a", 1.0))
    (path,) = place.glob("runs/*.json")
    row = json.loads(path.read_text())
    change(row)
    path.write_text(json.dumps(row))
    with pytest.raises(InvalidFile, match=message) as caught:
        load(place)
    assert path.name in str(caught.value)


def test_half_a_file_is_refused(tmp_path: Path) -> None:
    place = filled(tmp_path / "r", record("a", 1.0))
    (path,) = place.glob("runs/*.json")
    path.write_text(path.read_text()[:100])
    with pytest.raises(InvalidFile, match="not JSON"):
        load(place)
    (tmp_path / "q").mkdir()
    Comparison([record("a", 1.0)]).write(tmp_path / "q")
    (tmp_path / "q" / "traces.parquet").write_bytes(b"PAR1")
    with pytest.raises(InvalidFile, match=r"traces\.parquet: not a Parquet file"):
        load(tmp_path / "q")


def test_no_folder_and_no_runs(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="no such folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(NotAvailable, match="holds no runs"):
        load(tmp_path)


def test_full_disk_is_told_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = filled(tmp_path / "r", record("a", 1.0))

    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(jsonio, "write_text", full)
    with pytest.raises(OSError, match="the disk is full; 1 runs are safe there, and the same command goes on") as caught:
        files.save(place, record("b", 1.0), 1)
    assert caught.value.filename == str(place)
    monkeypatch.undo()
    assert [r.cell.solver for r in load(place).records] == ["a"]
    assert not list(place.glob("**/.*.part"))


def test_a_file_where_a_folder_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    for path in (tmp_path / "f", tmp_path / "f" / "g"):
        with pytest.raises(OSError, match="no folder"):
            files.prepare(path)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, words in ((errno.EROFS, "the file system is read-only"), (errno.ENOSPC, "the disk is full")):

        def refused(path: Path, number: int = number) -> None:
            raise OSError(number, "no", str(path))

        monkeypatch.setattr(files, "try_folder", refused)
        with pytest.raises(OSError, match=f"{words}; name another folder"):
            files.prepare(tmp_path / "r")


def test_merging_takes_each_run_once_and_the_last_of_each_machine(tmp_path: Path) -> None:
    here = filled(tmp_path / "here", record("a", 1.0), record("b", 2.0))
    there = filled(tmp_path / "there", record("a", 3.0, machine="other"), record("b", 4.0, started="2026-02-02"))
    for _ in range(2):  # the second time changes nothing
        made = merge(here, [there, there])
        assert {(r.cell.solver, r.machine, r.seconds) for r in made.records} == {("a", "M", 1.0), ("a", "other", 3.0), ("b", "M", 4.0)}
    assert len(load(here).records) == 3 and len(load(there).records) == 2


def test_runs_of_another_problem_are_not_taken_over(tmp_path: Path) -> None:
    there = filled(tmp_path / "there", record("a", 1.0))
    (problem,) = {r.cell.problem for r in load(there).records}
    other = next(name for name in ("kernel-ridge", "hinge-svm") if name != problem)
    with pytest.raises(InvalidProblem, match=f"there holds runs of {problem}, not of {other}"):
        merge(tmp_path / "here", [there], other)
    assert not (tmp_path / "here").exists()
    with pytest.raises(InvalidProblem, match=f"there holds runs of {problem}"):
        merge(there, [filled(tmp_path / "more", replace(record("b", 1.0), cell=replace(record("b", 1.0).cell, problem=other)))], other)
    if registry.has("problem", problem):
        assert len(merge(tmp_path / "here", [there], problem).records) == 1


def test_merging_with_what_cannot_be_read_touches_nothing(tmp_path: Path) -> None:
    here, there = filled(tmp_path / "here", record("a", 1.0)), filled(tmp_path / "there", record("b", 1.0))
    (path,) = there.glob("runs/*.json")
    path.write_text("{}")
    with pytest.raises(InvalidFile):
        merge(here, [there])
    assert [p.name for p in here.iterdir()] == ["runs"] and len(load(here).records) == 1


def test_tables_that_came_without_their_runs_are_not_hidden_by_new_ones(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    Comparison([record("a", 1.0), record("b", None)]).write(tmp_path / "here")
    Comparison([record("a", 2.0, machine="other"), record("c", 3.0)]).write(tmp_path / "there")
    made = merge(tmp_path / "here", [tmp_path / "there"])
    wanted = {("a", "M"), ("b", "M"), ("a", "other"), ("c", "M")}
    assert {(r.cell.solver, r.machine) for r in made.records} == wanted
    assert {(r.cell.solver, r.machine) for r in load(tmp_path / "here").records} == wanted
    assert not list((tmp_path / "here").glob(".*"))


def test_tables_are_taken_apart_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "r"
    place.mkdir()
    Comparison([record("a", 1.0), record("b", 2.0)]).write(place)
    files.prepare(place)
    write, left = jsonio.write, [1]

    def soon_full(path: Path, value: Any) -> None:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        left.pop()
        write(path, value)

    monkeypatch.setattr(jsonio, "write", soon_full)
    with pytest.raises(OSError, match="the disk is full; 2 runs are safe there"):
        files.resumed(place)
    monkeypatch.undo()
    assert len(files.resumed(place)) == 2 and len(list(place.glob("runs/*.json"))) == 2


@pytest.mark.skipif(os.name != "posix", reason="locks of folders")
def test_two_comparisons_in_one_folder(tmp_path: Path) -> None:
    place = filled(tmp_path / "r", record("a", 1.0))
    with files.alone(place):
        with pytest.raises(OSError, match="another comparison is under way there") as caught:
            merge(place, [filled(tmp_path / "q", record("b", 1.0))])
        assert caught.value.filename == str(place)
    assert len(merge(place, [tmp_path / "q"]).records) == 2


def test_runs_come_by_instance_however_they_are_read(tmp_path: Path) -> None:
    made = [
        record(name, 1.0, size=n, started=f"2026-01-{i:02d}") for i, (n, name) in enumerate([(n, s) for n in (300, 20, 100) for s in "zya"])
    ]
    place = filled(tmp_path / "r", *made)
    assert [(r.cell.size, r.cell.solver) for r in load(place).records] == [(n, s) for n in (20, 100, 300) for s in "zya"]


def test_frames_and_files(tmp_path: Path) -> None:
    import pandas as pd

    runs = [record("a", 0.5 * n, size=n) for n in (1, 2, 4)] + [record("b", None, size=n) for n in (1, 2, 4)]
    made = Comparison(runs)
    frame = made.frame()
    assert list(frame["time_to_1e-08"]) == [0.5, 1.0, 2.0] + [math.inf] * 3 and list(frame["success"]) == [True] * 3 + [False] * 3
    assert list(frame["seconds"].fillna(-1.0)) == [0.5, 1.0, 2.0] + [-1.0] * 3, "a failure is not fast"
    assert len(made.traces()) == 9 and set(made.traces()["sampling"]) == {"iterates", "tolerance"}
    assert made.scaling().loc[0, "exponent"] == pytest.approx(1.0)
    assert set(made.profile()["solver"]) == {"a", "b"}
    made.write(tmp_path)
    assert len(pd.read_parquet(tmp_path / "runs.parquet")) == 6
    summary = json.loads((tmp_path / "comparison.json").read_text())
    assert summary["format"] == "simopt-compare/1" and summary["success"]["b"] == {"certified": 0, "runs": 3}
    text = (tmp_path / "table.md").read_text()
    assert "TIME LIMIT: over 5 s" in text and "n^1.00" in text


@pytest.mark.slow
def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    runs = [record("a", 1.0 * n, size=n) for n in (1, 2)] + [record("b", None, size=n) for n in (1, 2)]
    paths = Comparison(runs).plot(tmp_path / "plots")
    assert [path.stem for path in paths][-2:] == ["profile", "scaling"] and len(paths) == 4
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in paths)
    more = Comparison([record("a", 1.0, size=3), *runs]).plot(tmp_path / "plots")
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == sorted(path.name for path in more), "none is left over"
    assert Comparison().plot(tmp_path / "empty") == []
    only_failures = Comparison([record("b", None)]).plot(tmp_path / "more")
    assert len(only_failures) == 2
    nothing = [replace(record("b", None, size=n), points=(), megabytes=math.nan) for n in (1, 2)]
    assert len(Comparison(nothing).plot(tmp_path / "none")) == 4


def test_pictures_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="pictures need matplotlib").Figure

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(figure, "savefig", full)
    with pytest.raises(OSError, match="the disk is full; 1 runs are safe"):
        Comparison([record("a", 1.0)]).plot(tmp_path / "plots")
