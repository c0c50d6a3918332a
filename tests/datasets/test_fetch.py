"""Fetching, against a local server that answers in the formats of OpenML and UCI."""

import gzip
import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from simopt.cli.main import app
from simopt.core.errors import InvalidProblem, MissingDataset, NotAvailable
from simopt.data import datasets
from simopt.data.datasets import Description, description, tables

sys.path.append(str(Path(__file__).parent))  # modules beside the tests
from https_server import Pages, both_repositories

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Pages]:
    """What the server answers with, by path. Bodyfat, which the repository may not carry, is described as the numbers made up here."""
    made_up = datasets.describe("bodyfat")
    columns = columns_of(made_up)
    text = tables.write_csv(tables.NumberTable(made_up.columns, np.column_stack([columns[name] for name in made_up.columns])))
    known = replace(made_up, csv_sha256=hashlib.sha256(text.encode()).hexdigest())
    monkeypatch.setitem(description._catalogue().datasets, "bodyfat", known)
    answers: Pages = {}
    with both_repositories(answers, monkeypatch, tmp_path / "cache"):
        yield answers


def columns_of(entry: Description) -> dict[str, np.ndarray]:
    """The columns of a set that is carried, or made-up ones with the description's shape, known values, and mean and deviation."""
    if entry.carried:
        table = tables.read_csv(gzip.decompress((ROOT / "data" / entry.file).read_bytes()).decode(), entry.file)
        return {name: table.column(name) for name in entry.columns}
    rng = np.random.default_rng(0)
    columns = {name: np.round(rng.uniform(1, 3, entry.n), 3) for name in entry.columns}
    for name, row, value in entry.known_values:
        columns[name][row] = value
    fixed = [row for name, row, _ in entry.known_values if name == "target"]
    free = np.setdiff1d(np.arange(entry.n), fixed)
    z = rng.standard_normal(free.size)
    z -= z.mean()
    y = columns["target"]
    mean = (entry.n * entry.target_mean - y[fixed].sum()) / free.size
    spread = entry.n * entry.target_std**2 - ((y[fixed] - entry.target_mean) ** 2).sum() - free.size * (mean - entry.target_mean) ** 2
    y[free] = mean + z * np.sqrt(spread / (z @ z))
    return columns


def zipped(member: str, text: str) -> bytes:
    """A zip archive with one file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(f"folder/{member}", text)
    return out.getvalue()


def listing(*entries: tuple[int, str, int, int]) -> bytes:
    """OpenML's answer to data/list: (did, name, version, samples) each."""
    rows = [
        {
            "did": did,
            "name": name,
            "version": version,
            "status": "active",
            "format": "ARFF",
            "quality": [{"name": "NumberOfFeatures", "value": "15.0"}, {"name": "NumberOfInstances", "value": f"{n}.0"}],
        }
        for did, name, version, n in entries
    ]
    return json.dumps({"data": {"dataset": rows}}).encode()


def about(did: int, file_id: int, form: str = "ARFF") -> bytes:
    """OpenML's answer to data/{id}."""
    return json.dumps({"data_set_description": {"id": str(did), "format": form, "file_id": str(file_id)}}).encode()


def serve_bodyfat(pages: Pages, columns: dict[str, np.ndarray]) -> None:
    """Bodyfat as OpenML has it: a version of another size first, then a binarized one, then the one wanted."""
    pages["/api/v1/json/data/list/data_name/bodyfat/status/active"] = listing(
        (558, "bodyfat", 1, 100), (778, "bodyfat", 3, 252), (560, "bodyfat", 2, 252), (9, "bodyfat_2", 1, 252)
    )
    pages["/api/v1/json/data/560"] = about(560, 71)
    pages["/api/v1/json/data/778"] = about(778, 72)
    entry = datasets.describe("bodyfat")
    names = [name.capitalize() for name in entry.features]
    head = "% a comment\n@RELATION bodyfat\n\n" + "".join(f"@ATTRIBUTE {name} REAL\n" for name in names)
    rows = np.column_stack([columns[name] for name in entry.features])
    text = [",".join(map(repr, row)) for row in rows.tolist()]
    good = head + "@ATTRIBUTE class REAL\n@DATA\n" + "\n".join(f"{t},{y!r}" for t, y in zip(text, columns["target"].tolist(), strict=True))
    bad = head + "@ATTRIBUTE binaryClass {P,N}\n@DATA\n" + "\n".join(f"{t},P" for t in text)
    pages["/data/v1/download/71"] = bad.encode()
    pages["/data/v1/download/72"] = good.encode()


def test_openml_is_searched_by_name_and_size_and_the_fitting_version_taken(pages: Pages, tmp_path: Path) -> None:
    entry = datasets.describe("bodyfat")
    columns = columns_of(entry)
    serve_bodyfat(pages, columns)
    data = datasets.load_dataset("bodyfat", fetch=True)
    assert data.source.endswith("/data/v1/download/72")
    assert data.feature_names == entry.features
    assert np.array_equal(data.targets, columns["target"])
    assert np.array_equal(data.features[:, 3], columns["height"])
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["bodyfat.csv.gz", "bodyfat.csv.gz.sha256"]


def test_the_second_time_it_comes_from_the_cache(pages: Pages) -> None:
    serve_bodyfat(pages, columns_of(datasets.describe("bodyfat")))
    first = datasets.load_dataset("bodyfat", fetch=True)
    pages.clear()
    second = datasets.load_dataset("bodyfat")
    assert np.array_equal(first.features, second.features) and np.array_equal(first.targets, second.targets)
    assert second.source.endswith("bodyfat.csv.gz")


def test_a_fetched_file_is_held_to_the_checksum_noted_beside_it(pages: Pages, tmp_path: Path) -> None:
    serve_bodyfat(pages, columns_of(datasets.describe("bodyfat")))
    datasets.load_dataset("bodyfat", fetch=True)
    path = tmp_path / "cache" / "bodyfat.csv.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"12.3", b"12.4")))
    with pytest.raises(InvalidProblem, match=r"bodyfat\.csv\.gz: damaged or another version.*delete .* to have it fetched again"):
        datasets.load_dataset("bodyfat")


def test_the_terms_are_told_before_a_set_is_fetched(pages: Pages, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MissingDataset) as failed:
        datasets.load_dataset("bodyfat", fetch=True)
    assert failed.value.names == ("bodyfat",)
    [told] = caplog.messages
    assert "fetching bodyfat into" in told and datasets.describe("bodyfat").licence in told


def test_uci_plain_columns_with_codes(pages: Pages) -> None:
    entry = datasets.describe("abalone")
    columns = columns_of(entry)
    codes = columns["sex"].astype(int)
    lines = []
    for i in range(entry.n):
        cells = ["MFI"[codes[i] - 1]] + [repr(float(columns[name][i])) for name in (*entry.features[1:], "target")]
        lines.append(",".join(cells))
    pages["/static/public/1/abalone.zip"] = zipped("abalone.data", "\n".join(lines) + "\n")
    data = datasets.load_dataset("abalone", fetch=True)
    assert np.array_equal(data.features[:, 0], codes)
    assert np.array_equal(data.features[:, 5], columns["shucked_weight"])


def test_uci_white_space_and_header_rows(pages: Pages) -> None:
    entry = datasets.describe("yacht")
    columns = columns_of(entry)
    rows = np.column_stack([columns[name] for name in entry.columns]).tolist()
    text = "\n".join("  ".join(map(repr, row)) + " " for row in rows) + "\n \n"
    pages["/static/public/243/yacht+hydrodynamics.zip"] = zipped("yacht_hydrodynamics.data", text)
    assert np.array_equal(datasets.load_dataset("yacht", fetch=True).targets, columns["target"])
    entry = datasets.describe("wine_red")
    columns = columns_of(entry)
    rows = np.column_stack([columns[name] for name in entry.columns]).tolist()
    header = ";".join(f'"{name.replace("_", " ")}"' for name in entry.columns)
    text = header + "\n" + "\n".join(";".join(map(repr, row)) for row in rows) + "\n"
    pages["/static/public/186/wine+quality.zip"] = zipped("winequality-red.csv", text)
    assert np.array_equal(datasets.load_dataset("wine-red", fetch=True).features[:, 8], columns["ph"])


def test_uci_columns_with_missing_values_are_dropped(pages: Pages) -> None:
    entry = datasets.describe("communities_crime")
    columns = columns_of(entry)
    lines = []
    for i in range(entry.n):
        cells = ["8", "?", "?", "Lakewoodcity", "1", *(repr(float(columns[name][i])) for name in entry.features[:30])]
        cells += ["?" if i == 130 else "0.2", *(repr(float(columns[name][i])) for name in (*entry.features[30:], "target"))]
        lines.append(",".join(cells))
    pages["/static/public/183/communities+and+crime.zip"] = zipped("communities.data", "\n".join(lines))
    data = datasets.load_dataset("crime", fetch=True)
    assert np.array_equal(data.features[:, 40], columns[entry.features[40]])


def test_other_numbers_under_the_right_name_are_refused_and_not_cached(pages: Pages, tmp_path: Path) -> None:
    columns = columns_of(datasets.describe("bodyfat"))
    columns["target"][7] += 300.0
    serve_bodyfat(pages, columns)
    with pytest.raises(InvalidProblem, match="not bodyfat as it is described, mean of the target is"):
        datasets.load_dataset("bodyfat", fetch=True)
    assert not (tmp_path / "cache").exists()


def test_a_spreadsheet_and_a_dead_server_are_told_apart(pages: Pages) -> None:
    with pytest.raises(NotAvailable, match=r"concrete could not be fetched: .*Concrete_Data.xls is a spreadsheet.*Not Found"):
        datasets.load_dataset("concrete", fetch=True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "not a zip file"),
        (zipped("readme.txt", ""), "no yacht_hydrodynamics.data inside"),
        (zipped("yacht_hydrodynamics.data", "1 2 3\n"), "line 1 has 3 cells, expected 7"),
        (zipped("yacht_hydrodynamics.data", "1 2 3 4 5 6 ?\n"), r"line 1, column 7 \(target\) holds '\?', a missing value"),
    ],
)
def test_answers_that_are_not_what_was_asked_for(pages: Pages, body: bytes, message: str) -> None:
    pages["/static/public/243/yacht+hydrodynamics.zip"] = body
    with pytest.raises(NotAvailable, match=message):
        datasets.load_dataset("yacht", fetch=True)


def test_an_address_that_is_no_address(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMOPT_UCI", "file:///etc")
    with pytest.raises(NotAvailable, match="SIMOPT_UCI=file:///etc: not an https address"):
        datasets.load_dataset("yacht", fetch=True)


def test_nothing_is_fetched_unless_asked_for(pages: Pages) -> None:
    serve_bodyfat(pages, columns_of(datasets.describe("bodyfat")))
    with pytest.raises(NotAvailable, match=r"simopt datasets fetch bodyfat"):
        datasets.load_dataset("bodyfat")


def command(*arguments: str) -> Result:
    """`simopt` with these arguments, on a wide screen."""
    return CliRunner(env={"COLUMNS": "400"}).invoke(app, list(arguments))


def test_the_command_fetches_shows_terms_and_says_where(pages: Pages, tmp_path: Path) -> None:
    serve_bodyfat(pages, columns_of(datasets.describe("bodyfat")))
    done = command("datasets", "fetch", "bodyfat", "BodyFat")
    [line] = [line for line in done.stdout.splitlines() if line.startswith("bodyfat")]
    path = str(tmp_path / "cache" / "bodyfat.csv.gz")
    assert done.exit_code == 0 and "fetched" in line and path in line and datasets.describe("bodyfat").licence in line
    pages.clear()  # the second time nothing is asked of the network
    [row] = json.loads(command("datasets", "fetch", "bodyfat", "--json").stdout)
    assert row == {"name": "bodyfat", "state": "here", "where": path, "reason": None, "licence": datasets.describe("bodyfat").licence}
    assert datasets.load_dataset("bodyfat").source == path


def test_the_command_says_what_cannot_be_fetched_and_what_to_do(pages: Pages) -> None:
    serve_bodyfat(pages, columns_of(datasets.describe("bodyfat")))
    done = command("datasets", "fetch", "ohsumed", "bodyfat", "concrete", "--json")
    ohsumed, bodyfat, concrete = json.loads(done.stdout)
    assert done.exit_code == 1 and bodyfat["state"] == "fetched"
    assert {ohsumed["state"], concrete["state"]} == {"NOT FETCHED"} and ohsumed["licence"].startswith("research use")
    assert "put ohsumed.csv.gz in a folder and set SIMOPT_DATA" in ohsumed["reason"] and "neither OpenML nor UCI" in ohsumed["reason"]
    assert "is a spreadsheet" in concrete["reason"] and "source tree of simopt carries it" in concrete["reason"]


def test_all_is_every_set_and_a_clone_has_the_carried_ones(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.delenv("SIMOPT_DATA", raising=False)
    for variable in ("SIMOPT_OPENML", "SIMOPT_UCI"):
        monkeypatch.setenv(variable, "https://127.0.0.1:9")
    monkeypatch.setenv("SIMOPT_CACHE", "/nowhere/at/all")
    rows = json.loads(command("datasets", "fetch", "all", "--json").stdout)
    assert [row["name"] for row in rows] == [entry.name for entry in datasets.descriptions()]
    assert {row["name"] for row in rows if row["state"] == "here"} == {entry.name for entry in datasets.descriptions() if entry.carried}


def test_a_damaged_file_is_told_and_the_others_are_fetched(pages: Pages, tmp_path: Path) -> None:
    serve_bodyfat(pages, columns_of(datasets.describe("bodyfat")))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "yacht.csv.gz").write_bytes(b"no gzip")
    yacht, bodyfat = json.loads(command("datasets", "fetch", "yacht", "bodyfat", "--json").stdout)
    assert yacht["state"] == "NOT FETCHED" and "its SHA-256 is" in yacht["reason"] and bodyfat["state"] == "fetched"


@pytest.mark.parametrize(("name", "message"), [("bodifat", "did you mean 'bodyfat'"), ("friedman", "is drawn, not fetched")])
def test_names_that_cannot_be_fetched_are_bad_input(pages: Pages, name: str, message: str) -> None:
    done = command("datasets", "fetch", name)
    assert done.exit_code == 2 and message in done.stderr


def test_list_and_show_tell_terms_place_and_whether_the_repository_carries_a_set(pages: Pages, tmp_path: Path) -> None:
    serve_bodyfat(pages, columns_of(datasets.describe("bodyfat")))
    assert "simopt datasets fetch bodyfat" in command("show", "bodyfat").stdout
    datasets.load_dataset("bodyfat", fetch=True)
    rows = {row["name"]: row for row in json.loads(command("list", "datasets", "--json").stdout)}
    path = str(tmp_path / "cache" / "bodyfat.csv.gz")
    assert (rows["bodyfat"]["where"], rows["bodyfat"]["here"], rows["bodyfat"]["carried"]) == (path, True, False)
    assert (rows["yacht"]["where"], rows["yacht"]["here"], rows["yacht"]["carried"]) == (None, False, True)
    [listed] = [line for line in command("list", "datasets").stdout.splitlines() if line.startswith("bodyfat ")]
    assert "non-commercial use" in listed and path in listed
    shown = command("show", "bodyfat").stdout
    assert path in shown and "non-commercial" in shown and "do not let us pass it on" in shown
