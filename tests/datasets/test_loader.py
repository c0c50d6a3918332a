"""Data sets come in with the right numbers, and everything that can be wrong with them is said."""

import gzip
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem, NotAvailable, UnknownName
from simopt.data import datasets
from simopt.data.datasets import loader, tables

TREE = Path(__file__).resolve().parents[2] / "data"


@pytest.fixture(autouse=True)
def _nothing_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SIMOPT_DATA", raising=False)
    monkeypatch.setenv("SIMOPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loader, "source_tree", lambda: None)


def test_the_catalogue_is_complete_and_its_aliases_are_unique() -> None:
    entries = datasets.descriptions()
    assert len(entries) == 27
    spellings = [alias for entry in entries for alias in (entry.name, *entry.aliases)]
    assert len(set(spellings)) == len(spellings)
    for entry in entries:
        assert len(entry.features) == (0 if entry.file.endswith(".npz") else entry.d)
        for place in entry.fetch:
            if "columns" in place and place["columns"] is not None:
                assert sorted(filter(None, place["columns"])) == sorted(entry.columns)


def test_names_are_found_in_any_spelling() -> None:
    assert datasets.describe("Wine-White").name == "wine_white"
    assert datasets.describe("housing").name == "boston_housing"
    assert datasets.describe("cpu").name == "cpu_small"
    with pytest.raises(UnknownName, match="unknown data set 'concret'; did you mean 'concrete'"):
        datasets.load_dataset("concret")


def test_papers_have_their_own_words_for_data_sets() -> None:
    assert datasets.in_paper("ak", "wine") == ("wine_white",)
    assert datasets.in_paper("kkks", "wine") == ("wine_red", "wine_white")
    assert datasets.in_paper("ak", "parkinsons") == ("parkinsons_total", "parkinsons_motor")
    assert datasets.in_paper("kj", "bodyfat") == ("bodyfat_density",)
    assert datasets.in_paper("kj", "cpu") == ("cpu_small",)
    assert datasets.in_paper("kkks", "housing") == ("boston_housing",)
    assert datasets.in_paper("kj", "wine-red") == ("wine_red",)
    with pytest.raises(UnknownName):
        datasets.in_paper("nips", "wine")


def test_a_missing_folder_and_a_missing_file_say_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIMOPT_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotAvailable, match="SIMOPT_DATA=.*nowhere: no such folder"):
        datasets.load_dataset("yacht")
    monkeypatch.setenv("SIMOPT_DATA", str(tmp_path))
    with pytest.raises(NotAvailable, match=r"put yacht.csv.gz in a folder and set SIMOPT_DATA .*; `simopt datasets fetch yacht`"):
        datasets.load_dataset("yacht")
    with pytest.raises(NotAvailable, match="neither OpenML nor UCI has it in a form that simopt reads"):
        datasets.load_dataset("mnist", fetch=True)


def test_a_file_with_another_checksum_is_refused(tmp_path: Path) -> None:
    (tmp_path / "yacht.csv.gz").write_bytes(gzip.compress(b"a,target\n1,2\n"))
    with pytest.raises(InvalidProblem, match="yacht.csv.gz: damaged or another version, its SHA-256 is"):
        datasets.load_dataset("yacht", folder=tmp_path)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("height,weight,age\n1.5, 2,3\n4,5,6e1\n")
    data = datasets.load_dataset(path)
    assert data.feature_names == ("height", "weight")
    assert data.targets.tolist() == [3, 60]
    other = datasets.load_dataset(str(path), target="height")
    assert other.feature_names == ("weight", "age") and other.targets.tolist() == [1.5, 4]
    with pytest.raises(UnknownName, match="unknown target column 'hight'; did you mean 'height'"):
        datasets.load_dataset(path, target="hight")
    packed = tmp_path / "mine.csv.gz"
    packed.write_bytes(gzip.compress("\ufeffa;b\n1;2\n".encode()))
    assert datasets.load_dataset(packed).features.tolist() == [[1.0]]
    with pytest.raises(NotAvailable, match=r"other\.csv: no such file"):
        datasets.load_dataset(tmp_path / "other.csv")
    with pytest.raises(ValueError, match="read-only"):
        data.features[0, 0] = 7


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3,x\n", r"line 3, column 2 \(b\) holds 'x', not a number"),
        ("a,b\n1,2\n\n3,\n", r"line 4, column 2 \(b\) is empty"),
        ("a,b\n1,2\n3,NA\n", r"line 3, column 2 \(b\) holds 'NA', a missing value"),
        ("a,b\n1,?\n3,4\n,5\n", r"line 2, column 2 \(b\) holds '\?', .*; 2 cells are missing or no numbers, in b, a: fill them in"),
        ('a,b\n1,2\n3,"red, dark"\n4,blue\n', r"line 3, column 2 \(b\) holds 'red, dark', not a number; 2 cells .* code words as numbers"),
        ("a,b\n1,2\n3,nan\n", r"line 3, column 2 \(b\) holds 'nan', which is not finite"),
        ("a,b\n1,inf\n", r"line 2, column 2 \(b\) holds 'inf', which is not finite"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, expected 2"),
        ("a,b\n1\n", "line 2 has 1 cells, expected 2"),
        ("1,2\n3,4\n", "no header, line 1 holds numbers only"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        ("a,b\n", "no rows after the header"),
        ("", "the file is empty"),
        ("a\n1\n", "one column only"),
    ],
)
def test_a_corrupted_csv_names_line_and_column(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(InvalidProblem, match=rf"bad\.csv: {message}"):
        datasets.load_dataset(path)


def test_damaged_gzip_and_text_that_is_no_text(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 500)
    for broken in (packed[:-20], b"not gzip at all", packed[:15] + b"\x00\xff" + packed[17:]):
        (tmp_path / "bad.csv.gz").write_bytes(broken)
        with pytest.raises(InvalidProblem, match="gzip file is damaged"):
            datasets.load_dataset(tmp_path / "bad.csv.gz")
    (tmp_path / "bad.csv").write_bytes(b"a,b\n1,2\n\xff,3\n")
    with pytest.raises(InvalidProblem, match="line 3 is not UTF-8"):
        datasets.load_dataset(tmp_path / "bad.csv")


def test_a_damaged_cache_says_what_to_delete(tmp_path: Path) -> None:
    folder = loader.cache_folder()
    folder.mkdir(parents=True)
    (folder / "yacht.csv.gz").write_bytes(gzip.compress(b"a,target\n1,2\n"))
    with pytest.raises(
        InvalidProblem, match=r"damaged or another version, its SHA-256 .*; delete .*yacht\.csv\.gz to have it fetched again"
    ):
        datasets.load_dataset("yacht")


def test_a_table_survives_being_written(tmp_path: Path) -> None:
    values = np.array([[0.1, -3.0], [1e300, 5e-324], [1 / 3, 2.0**60]])
    table = tables.NumberTable(("a", "b"), values)
    again = tables.read_csv(tables.write_csv(table), "text")
    assert again.columns == table.columns and np.array_equal(again.values, values)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({"SIMOPT_CACHE": "/a"}, "/a"), ({"SIMOPT_CACHE": "", "XDG_CACHE_HOME": "/b"}, os.path.join("/b", "simopt"))],
)
def test_cache_folder(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert str(datasets.cache_folder()) == expected


def test_friedman_is_the_formula_plus_noise() -> None:
    data = datasets.load_dataset("friedman", rng=np.random.default_rng(3))
    assert (data.n, data.d) == (2000, 10)
    x = data.features
    signal = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    noise = data.targets - signal
    assert abs(noise.mean()) < 0.1 and 0.9 < noise.std() < 1.1
    assert x.min() >= 0 and x.max() <= 1
    again = datasets.friedman(np.random.default_rng(3))
    assert np.array_equal(again.targets, data.targets)
    exact = datasets.friedman(np.random.default_rng(3), n=5, noise=0.0)
    assert exact.n == 5


def test_a_folder_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIMOPT_DATA", str(tmp_path / "nowhere"))
    shutil.copy(TREE / "yacht.csv.gz", tmp_path)
    assert datasets.load_dataset("yacht", folder=tmp_path).n == 308
    with pytest.raises(NotAvailable, match="put concrete"):
        datasets.load_dataset("concrete", folder=tmp_path)
