"""Records, tables and names from elsewhere: each is refused in one line that names the file, or taken and everything can be made of it."""

from __future__ import annotations

import copy
import json
import math
import re
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counted import case

from simopt import solve
from simopt.cli.errors import expected
from simopt.compare import parquet, plan, plots, table
from simopt.compare.benchopt_export import export_benchopt
from simopt.compare.cell import PlannedRun
from simopt.compare.comparison import Comparison, load, merge
from simopt.compare.record import CELL, _read, from_row
from simopt.core import jsonio, validate
from simopt.core.errors import InvalidFile, InvalidProblem
from simopt.core.extras import DISTRIBUTION
from simopt.core.foreign_text import in_picture
from simopt.core.jsonio import plain
from simopt.data.datasets import load_dataset
from simopt.problems.kernel_ridge import KernelRidge
from tests.compare.made_records import record

DEEP = "[" * 200_000
HOSTILE: tuple[Any, ...] = (
    None, "", "x", "\ud800", "nan", "inf", "1e400", "١٢", "1_0", 10**30, 10**400, -1, -(10**30), 0, 1e308, 1e-320, math.inf, -math.inf,
    True, [], {}, [[1]], {"a": 1}, DEEP[:5000], "\x1b[31m", "<script>alert(1)</script>", "$\\frac{$", "a" * 100_000, "a|b", "](http://x)",
)  # fmt: skip
OTHERS = [record("b", 2.0), record("a", 1.5, size=200), record("b", None, size=200)]
ROW: dict[str, Any] = json.loads(json.dumps(plain(record("a", 1.0).describe())))
FIELDS = [name for name in ROW if name not in ("format", "trace", "key")]
POINTS = list(ROW["trace"][0])


def keyed(row: dict[str, Any]) -> dict[str, Any]:
    """With the key that its entries have, where they have one: the key alone must not be what refuses it."""
    try:
        row["key"] = PlannedRun(**{name: _read(PlannedRun, name, row[name]) for name in CELL}).key
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        pass
    return row


def taken(row: dict[str, Any], folder: Path) -> bool:
    """Whether the record is taken; then all that is made of records is made."""
    case()
    try:
        made = from_row(keyed(row), row.get("trace") or (), "runs/x.json")
    except InvalidFile as error:
        assert "runs/x.json" in str(error)
        return False
    records = [made, *OTHERS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of logarithms of numbers that no run has
        jsonio.dumps(table.plain(records))
        text = table.markdown(records)
    assert not re.search(r"(?<!\\)<script", text) and "\x1b" not in text and not re.search(r"(?<!\\)\]\(http", text)
    text.encode()
    parquet.write(folder, records)
    assert [read.cell.key for read in parquet.read(folder)] == [each.cell.key for each in records]
    return True


def with_value(field: str, value: Any) -> dict[str, Any]:
    row = copy.deepcopy(ROW)
    row[field] = value
    return row


USUAL = ("data", "size", "settings", "started", "shapes", "gap")  # a text, numbers of two kinds, JSON of two kinds; the rest is slow


def fields(names: list[str], usual: tuple[str, ...]) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.slow] * (name not in usual)) for name in names]


@pytest.mark.parametrize("field", fields(FIELDS, USUAL))
def test_any_value_of_a_field(field: str, tmp_path: Path) -> None:
    for value in HOSTILE:
        taken(with_value(field, value), tmp_path)
    row = copy.deepcopy(ROW)
    del row[field]
    assert not taken(row, tmp_path)


@pytest.mark.parametrize("field", fields(POINTS, ("iteration", "gap")))
def test_any_value_of_a_point(field: str, tmp_path: Path) -> None:
    for value in HOSTILE:
        row = copy.deepcopy(ROW)
        row["trace"][0][field] = value
        taken(row, tmp_path)
    row = copy.deepcopy(ROW)
    del row["trace"][0][field]
    assert not taken(row, tmp_path)


@pytest.mark.parametrize("trace", ["x", 5, [5], [None], [{}], {"a": 1}, [[1, 2]], [{"x": 1}], True])
def test_any_trace(trace: Any, tmp_path: Path) -> None:
    assert not taken(with_value("trace", trace), tmp_path)


def test_what_is_sound_is_taken(tmp_path: Path) -> None:
    assert taken(copy.deepcopy(ROW), tmp_path)


NO_RUNS = (
    DEEP, '{"a":' * 100_000, "9" * 5000, '{"size": ' + "9" * 5000 + "}", "-" + "9" * 5000, "", "{", "[1", "nul", '"\\ud8"', "\x00",
    "{}", "5", "null", "[]",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_RUNS, ids=range(len(NO_RUNS)))
def test_runs_that_are_no_json_or_no_runs(text: str, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (there / "runs").mkdir(parents=True)
    (there / "runs" / "x.json").write_text(text)
    with pytest.raises(InvalidFile, match=r"runs/x\.json: ") as caught:
        merge(here, [there])
    assert len(str(caught.value)) < 1000 and not here.exists()


@pytest.mark.parametrize("name", ["runs.parquet", "traces.parquet"])
@pytest.mark.parametrize(
    "damage", ["no key", "no machine", "no started", "key of lists", "key of numbers", "no columns", "no rows", "null key"]
)
def test_tables_in_parquet_that_lack_something(name: str, damage: str, tmp_path: Path) -> None:
    pa, pq = parquet.arrow()
    Comparison([record("a", 1.0)]).write(tmp_path)
    whole = pq.read_table(tmp_path / name)
    kinds: dict[str, Any] = {"key of lists": [["x"]], "key of numbers": [1.5], "null key": [None]}
    if damage in kinds:
        values = pa.array(kinds[damage] * len(whole))
        whole = whole.set_column(whole.schema.get_field_index("key"), "key", values).replace_schema_metadata(whole.schema.metadata)
    elif damage == "no columns":
        whole = whole.select([])
    elif damage == "no rows":
        whole = whole.slice(0, 0)
    else:
        whole = whole.drop_columns([damage.removeprefix("no ")])
    pq.write_table(whole, tmp_path / name)
    try:
        found = load(tmp_path).records
    except InvalidFile as error:
        assert "runs.parquet" in str(error) and name == "runs.parquet"
    else:
        assert len(found) == (0 if (name, damage) in (("runs.parquet", "no rows"), ("runs.parquet", "no columns")) else 1)


@pytest.mark.parametrize("folder", ["a:b", "s3:", "file:", "c:\\d", "caf\udce9", " ", "-x", "#", "%41", "a\nb"])
def test_folders_of_any_name(folder: str, tmp_path: Path) -> None:
    place = tmp_path / folder
    place.mkdir()
    Comparison([record("a", 1.0)]).write(place)
    merge(tmp_path / "all", [place])
    assert [each.cell.solver for each in load(place, tmp_path / "all").records] == ["a"]


TYPESET = ("$\\frac{$", "$", "a$b$c", "\x1b[31m", "<b>", "_hidden", "", "\\", "\u202egpj", "{x}", "%s", "$$", "\\$", "a$")


@pytest.mark.parametrize("drawn", [pytest.param(plots.gap_curves, marks=pytest.mark.slow), plots.profile, plots.scaling])
def test_pictures_of_names_that_would_be_typeset(drawn: Any, tmp_path: Path) -> None:
    runs = {name: [record(name, 1.0, data=name), record(name, 3.0, data=name, size=200)] for name in TYPESET}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of letters that the font lacks
        figure = drawn(runs, *TYPESET[:2]) if drawn is plots.gap_curves else drawn([each for own in runs.values() for each in own])
        assert plots._save(figure, tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
        figure.clear()
        figure.suptitle("\n".join(map(in_picture, TYPESET)))
        plots._save(figure, tmp_path / "drawn.png")


ROWS = "\n".join(f"{i},{i * i % 7},{i % 3}" for i in range(9))
TABLES = {
    "a cell that is too long": ("y,a,b\n1,2,3\n1," + "9" * 140_000 + ",2\n", "line 3"),
    "a quoted cell that is too long": ('y,a,b\n1,"' + "x" * 140_000 + '",2\n', "line 2"),
    "a name that is too long": ("y," + "a" * 140_000 + f",b\n{ROWS}", "line 1"),
    "a word of 100 000 letters": (f"y,a,b\n{ROWS}\n1," + "x" * 100_000 + ",2\n", "line 11, column 2 (a) holds 'xxx"),
    "a name of 100 000 letters": ("y," + "a" * 100_000 + f",b\n{ROWS}\n1,x,2\n", "line 11, column 2 (aaa"),
    "a zero byte": (f"y,a,b\n{ROWS}\n1,\0,2\n", "line 11"),
    "too many digits": (f"y,a,b\n{ROWS}\n1," + "9" * 5000 + ",2\n", "line 11, column 2 (a) holds '999"),
    "two long names alike": ("y," + "a" * 1000 + "," + "a" * 1000 + f"\n{ROWS}", "two columns are called 'aaa"),
    "terminal commands": (f"y,\x1b[31m,b\n{ROWS}\n1,\x1b[0m,2\n", "line 11"),
}


@pytest.mark.parametrize("what", TABLES)
def test_tables_that_are_refused_in_one_short_line(what: str, tmp_path: Path) -> None:
    text, words = TABLES[what]
    (tmp_path / "t.csv").write_text(text, newline="")
    with pytest.raises(InvalidProblem) as caught:
        load_dataset(tmp_path / "t.csv")
    line = expected(caught.value) or ""
    assert words in line and "t.csv" in line and len(line) < 600


@pytest.mark.parametrize(
    ("head", "columns"),
    [
        ('"y;z",a,b', ("y;z", "a")), ('"y\tz",a,b', ("y\tz", "a")), ('y,"a;b;c",b', ("y", "a;b;c")), ('"y""z;",a,b', ('y"z;', "a")),
        ('"";a;b', ("", "a")), ('"y,z";a;b', ("y,z", "a")), ('"y,z"\ta\tb', ("y,z", "a")), ('"y;z"\ta\t"b,c"', ("y;z", "a")),
    ],
)  # fmt: skip
def test_a_separator_in_quotes_is_part_of_a_name(head: str, columns: tuple[str, ...], tmp_path: Path) -> None:
    mark = next(each for each in ";\t," if each in re.sub('"[^"]*"', "", head))
    (tmp_path / "t.csv").write_text(head + "\n" + ROWS.replace(",", mark))
    found = load_dataset(tmp_path / "t.csv")
    assert found.feature_names == columns and found.features.shape == (9, 2)


@pytest.mark.parametrize("name", ["caf\udce9.csv", "a\x1b[31m.csv", "$x$.csv", "<b>.csv", "a:b.csv", "\u202e.csv"])
def test_data_in_files_of_any_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(f"y,a,b\n{ROWS}")
    data = load_dataset(path)
    data.name.encode()
    made = [record("a", 1.0, data=data.name), record("b", 2.0, data=data.name)]
    (tmp_path / "out").mkdir()
    Comparison(made).write(tmp_path / "out")
    assert "<b>" not in (tmp_path / "out" / "table.md").read_text()
    place = export_benchopt(tmp_path / "bench", "kernel-ridge", ["eigen"], data=[path])
    assert (place / "csv" / data.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("limit", [1e10, 1e300, math.inf, 10**400, validate.LONGEST, threading.TIMEOUT_MAX * 2], ids=range(6))
@pytest.mark.parametrize("solver", ["eigen", "clarabel", "ecos", "scs"])
def test_a_time_limit_without_end_is_one(solver: str, limit: float) -> None:
    if solver == "ecos":
        pytest.importorskip("ecos")
    ridge = KernelRidge(np.eye(3), [1.0, 2.0, 3.0], 1.0)
    assert solve(ridge, solver, time_limit=limit, tol=1e-6).certificate is not None
    made = plan.make(plan.Design("kernel-ridge", [solver], sizes=[5], time_limit=limit))
    assert made.instances[0].cell.time_limit == validate.LONGEST


@pytest.mark.parametrize("limit", [0, -1, math.nan, -math.inf, "5", None, 1j, [1]])
def test_no_time_limit(limit: Any) -> None:
    with pytest.raises(InvalidProblem, match="time_limit: must be positive seconds"):
        solve(KernelRidge(np.eye(1), [1.0], 1.0), time_limit=limit)


def test_solvers_that_differ_by_a_sign_have_files_of_their_own(tmp_path: Path) -> None:
    solvers = [("scs", {"max_iter": 100}), ("SCS", {"max_iter": 100}), *(("clarabel", {"max_iter": n}) for n in (1, 11, 111))]
    place = export_benchopt(tmp_path / "bench", "kernel-ridge", solvers, sizes=[10])
    names = re.findall(r"name = (.*)", "".join(path.read_text() for path in (place / "solvers").iterdir()))
    assert len(names) == len(set(names)) == 4


def test_exported_labels_never_share_a_file() -> None:
    from simopt.compare.benchopt_export import _spellings

    used: set[str] = set()
    labels = []
    for label in ("scs a=1", "scs a=-1", "scs a=+1", "SCS A 1", "scs-a-1", "scs a=1 2", "é", "ü", ""):
        spelled, stem = next(_spellings(label, used))
        used.add(stem)
        labels.append(spelled)
    assert len(used) == len(set(labels)) == 9


def test_exported_benchmarks_ask_for_our_distribution(tmp_path: Path) -> None:
    place = export_benchopt(tmp_path / "bench", "kernel-ridge", ["eigen", "clarabel"], sizes=[10])
    asked = set(re.findall(r"pip::([\w.-]+)", "".join(path.read_text() for path in place.rglob("*.py"))))
    assert asked == {DISTRIBUTION, "clarabel"}
