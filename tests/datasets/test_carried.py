"""The data that the repository carries: files, data/README.md and descriptions say the same, and wheel and sdist leave them out."""

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from simopt.core.errors import InvalidProblem
from simopt.data import datasets
from simopt.data.datasets import loader

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
README = (DATA / "README.md").read_text(encoding="utf-8")
CARRIED = {entry.name: entry for entry in datasets.descriptions() if entry.carried}
MAY_BE_PASSED_ON = ("CC BY 4.0", "CC BY-SA 3.0")


def test_the_table_of_the_readme_is_that_of_the_descriptions() -> None:
    told = {
        name: (licence, sum_) for name, licence, sum_ in re.findall(r"^\| `(\w+)` \| (.*?) \| .* \| `([0-9a-f]{64})` \|$", README, re.M)
    }
    assert {name: sum_ for name, (_, sum_) in told.items()} == {name: entry.sha256 for name, entry in CARRIED.items()}
    assert all(CARRIED[name].licence.startswith(licence) and licence in MAY_BE_PASSED_ON for name, (licence, _) in told.items())


def test_no_other_licence_is_one_that_lets_a_set_be_passed_on() -> None:
    others = [entry for entry in datasets.descriptions() if not entry.carried]
    assert len(others) == 13 and not any(entry.licence.startswith(MAY_BE_PASSED_ON) for entry in others)
    assert all(entry.name in README.partition("## Not here")[2] for entry in others if not entry.name.startswith("bodyfat"))


def test_the_folder_holds_the_files_described_and_nothing_else() -> None:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DATA.iterdir() if path.name != "README.md"}
    assert found == {entry.file: entry.sha256 for entry in CARRIED.values()}


def test_every_set_is_attributed_once_with_what_was_changed() -> None:
    attributed = README.partition("## Attribution")[2].partition("## How")[0]
    here = [name for line in re.findall(r"Here: (.*?); changed: \S", attributed, re.S) for name in re.findall(r"`(\w+)`", line)]
    assert sorted(here) == sorted(CARRIED)


@pytest.mark.parametrize("name", CARRIED)
def test_a_bare_clone_finds_them_without_a_variable(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SIMOPT_DATA", raising=False)
    monkeypatch.setenv("SIMOPT_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert datasets.load_dataset(name).source == str(DATA / CARRIED[name].file)


def test_a_named_folder_comes_first_then_the_tree_then_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named, cache = tmp_path / "named", tmp_path / "cache"
    for folder in (named, cache):
        folder.mkdir()
        shutil.copy(DATA / "yacht.csv.gz", folder)
    monkeypatch.setenv("SIMOPT_DATA", str(named))
    monkeypatch.setenv("SIMOPT_CACHE", str(cache))
    entry = CARRIED["yacht"]
    assert loader.where(entry) == named / entry.file
    (named / entry.file).unlink()
    assert loader.where(entry) == DATA / entry.file
    monkeypatch.setattr(loader, "source_tree", lambda: None)
    assert loader.where(entry) == cache / entry.file
    (cache / entry.file).unlink()
    assert loader.where(entry) is None


def test_the_working_folder_is_never_looked_into(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.delenv("SIMOPT_DATA", raising=False)
    monkeypatch.setenv("SIMOPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loader, "source_tree", lambda: None)
    for folder in (tmp_path, tmp_path / "data"):
        monkeypatch.chdir(folder)
        assert loader.where(CARRIED["yacht"]) is None


@pytest.mark.parametrize("location", ["SIMOPT_DATA", "tree", "SIMOPT_CACHE"])
def test_another_checksum_is_an_error_in_every_place(location: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also where a later place has the right file: a damaged copy is never passed over in silence."""
    damaged = bytearray((DATA / "mnist_3v8.npz").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "mnist_3v8.npz").write_bytes(damaged)
    monkeypatch.delenv("SIMOPT_DATA", raising=False)
    monkeypatch.setattr(loader, "source_tree", lambda: tmp_path if location == "tree" else None)
    if location != "tree":
        monkeypatch.setenv(location, str(tmp_path))
    with pytest.raises(InvalidProblem, match=r"mnist_3v8\.npz: damaged or another version, its SHA-256 is"):
        datasets.load_dataset("mnist")


def test_a_plain_install_has_no_source_tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert loader.source_tree() == DATA
    installed = tmp_path / "site-packages" / "simopt" / "datasets" / "loader.py"
    (tmp_path / "site-packages" / "data").mkdir(parents=True)  # somebody else's
    monkeypatch.setattr(loader, "__file__", str(installed))
    assert loader.source_tree() is None


def test_neither_wheel_nor_sdist_carries_data(tmp_path: Path) -> None:
    """Built from a copy: setuptools leaves its build folders in the tree that it builds."""
    tree = tmp_path / "tree"
    for name in ("simopt", "problems", "solvers", "theorems", "estimators", "data"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy(path, tree)
    for what in ("wheel", "sdist"):
        code = f"from setuptools.build_meta import build_{what} as build; build({str(tmp_path)!r})"
        done = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
    [wheel], [sdist] = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive, tarfile.open(sdist) as packed:
        for names in (archive.namelist(), packed.getnames()):
            assert any(name.endswith("simopt/data/datasets/descriptions.json") for name in names)
            assert not [name for name in names if name.endswith((".csv.gz", ".npz")) or re.match(r"(simopt_convex-[^/]*/)?data/", name)]
