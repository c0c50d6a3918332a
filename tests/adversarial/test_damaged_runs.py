"""Folders of `simopt compare` from elsewhere: records damaged in every way, tables that exhaust memory, and what is no file at all."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from damage import CHANGES, damaged, tried_first
from typer.testing import CliRunner

from simopt.cli.main import app
from simopt.compare import comparison, folder, record, table
from simopt.compare.cell import PlannedRun
from simopt.core import jsonio, reading
from simopt.core.errors import InvalidFile

SECONDS = 20.0  # of the processor, of one damaged file; what waits for ever is ended by pytest
POINT = {"setup": 0.1, "solve": 0.2, "iteration": 1, "tolerance": 1e-3, "upper": 1.0, "lower": 0.5, "gap": 0.5, "relative_gap": 0.5}
CELL = PlannedRun("p", "generated", 10, None, '{"a": 1}', 0, "newton", '{"b": 2}', 1e-8, 5.0, 1, 0)
RUN = record.Record(
    CELL, "optimal", "ok", sampling="iterates", setup_seconds=0.1, solve_seconds=0.2, relative_gap=1e-9, machine="M",
    started="2026-01-01", versions='{"simopt": "1"}', system='{"machine": "M"}', points=(POINT, POINT | {"relative_gap": 1e-9}),
)  # fmt: skip
OTHER = replace(RUN, cell=replace(CELL, size=20, solver="scs"), status="time limit")


def with_key(text: str) -> str:
    """The file with the key of what it holds now, as one who plants it would write it."""
    try:
        content = json.loads(text)
        content["key"] = PlannedRun(**{name: content[name] for name in record.CELL}).key
        return json.dumps(content)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", tried_first(CHANGES))
def test_a_damaged_run_is_refused_or_told(change: str, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    path = tmp_path / "runs" / "damaged.json"
    jsonio.write(tmp_path / "runs" / "whole.json", OTHER.describe())
    for place, text in damaged(json.loads(json.dumps(jsonio.plain(RUN.describe()))), change):
        for written in {text, with_key(text)}:
            path.write_text(written)
            begin = time.process_time()
            try:
                records = folder.newest(folder.merged([], [tmp_path]))
                assert table.markdown(records) and table.plain(records) and jsonio.dumps(table.plain(records))
                jsonio.dumps([each.describe() for each in records])
                if find_spec("jinja2") is not None:
                    assert "</html>" in comparison.Comparison(records).page()
            except InvalidFile as error:
                assert "damaged.json" in str(error) and len(str(error)) < 1000, place
            assert time.process_time() - begin < SECONDS, place


PLANTED: dict[str, Any] = {
    "deep": "[" * 200_000,
    "5000 digits": '{"format": ' + "9" * 5000 + "}",
    "no text": b"\xff\xfe",
    "empty": "",
    "a list": "[]",
    "another format": '{"format": "simopt-compare/9"}',
    "a format of lists": '{"format": [1]}',
    "infinite": json.dumps(jsonio.plain(RUN.describe())).replace('"tol": 1e-08', '"tol": 1e999'),
    "half a character": json.dumps(jsonio.plain(RUN.describe()) | {"data": "\ud800"}),
    "many lists": "[" + "[]," * 3000 + "[]]",
    "long": "[" + "1," * 3_000_000 + "1]",
}


@pytest.mark.parametrize("kind", [*PLANTED, "pipe", "link to nothing", "zeros", "folder"])
def test_what_is_planted_in_a_folder_is_one_line(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PARTS", 1000)
    monkeypatch.setattr(reading, "EVIDENCE", 1 << 20)
    runs = tmp_path / "from elsewhere" / "runs"
    runs.mkdir(parents=True)
    path = runs / "planted.json"
    if kind in PLANTED:
        path.write_bytes(PLANTED[kind] if isinstance(PLANTED[kind], bytes) else PLANTED[kind].encode())
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "zeros" else tmp_path / "not there")
    begin = time.process_time()
    result = CliRunner().invoke(
        app, ["compare", "hinge-svm", "--merge", str(tmp_path / "from elsewhere"), "--report", str(tmp_path / "mine")]
    )
    assert time.process_time() - begin < SECONDS
    assert result.exit_code == 2 and "planted.json" in result.output and result.output.count("\n") == 1


def test_whole_ones_are_merged_with_tables_and_pictures(tmp_path: Path) -> None:
    (tmp_path / "theirs" / "runs").mkdir(parents=True)
    for each in (RUN, OTHER):
        folder.save(tmp_path / "theirs", each, 0)
    assert len(comparison.merge(tmp_path / "mine", [tmp_path / "theirs"]).records) == 2


NAMES = ("$x_$", "a $\\frac{$ b", r"\$x$y$", "a\x00b", "x" * 3000, "../../evil", "\u202e\n\n| <b>")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [each if each == NAMES[0] else pytest.param(each, marks=pytest.mark.slow) for each in NAMES])
@pytest.mark.parametrize("field", ["data", pytest.param("solver", marks=pytest.mark.slow), pytest.param("machine", marks=pytest.mark.slow)])
def test_names_are_no_formulas_and_no_paths(name: str, field: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    (tmp_path / "theirs" / "runs").mkdir(parents=True)
    for each in (RUN, OTHER):
        made = replace(each, machine=name) if field == "machine" else replace(each, cell=replace(each.cell, **{field: name}))
        folder.save(tmp_path / "theirs", made, 0)
    found = comparison.merge(tmp_path / "mine", [tmp_path / "theirs"])
    assert len(found.records) == 2 and len(found.plot(tmp_path / "mine" / "plots")) == 4
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "theirs"}


@pytest.mark.parametrize("kind", ["no column key", "other columns", "rows without end", "cut short", "text", "no label"])
def test_tables_in_parquet_that_are_none(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    from simopt.compare import parquet

    parquet.write(tmp_path, [RUN, OTHER])
    path = tmp_path / "runs.parquet"
    whole = pq.read_table(path)
    label = whole.schema.metadata
    changed = {
        "no column key": lambda: pq.write_table(whole.drop_columns(["key"]), path),
        "other columns": lambda: pq.write_table(pa.table({"x": [1]}).replace_schema_metadata(label), path),
        "rows without end": lambda: pq.write_table(pa.table({"key": pa.nulls(2 * reading.ROWS)}).replace_schema_metadata(label), path),
        "cut short": lambda: path.write_bytes(path.read_bytes()[:-20]),
        "text": lambda: path.write_text("x" * 100),
        "no label": lambda: pq.write_table(whole.replace_schema_metadata({}), path),
    }
    assert len(folder.load(tmp_path)) == 2
    changed[kind]()
    with pytest.raises(InvalidFile, match="runs.parquet|tables"):
        folder.load(tmp_path)
