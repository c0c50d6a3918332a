"""What was written at commit ba5b89f7 is read today and says the same numbers; paths and public names of that commit still work.

`contents.py` says how each file was made.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import pickle
import pkgutil
import subprocess
import sys
import warnings
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import cvxpy as cp
import pytest

import simopt
from simopt import compare
from simopt.core import registry
from simopt.core.moved import FIELDS, RENAMED, new_paths
from simopt.duality import read
from simopt.duality.evaluation.closing_terms import closing_terms

FOLDER = Path(__file__).parent
FILES = FOLDER / "files"
ROOT = FOLDER.parents[1]
VALUES = json.loads((FILES / "values.json").read_text(encoding="utf-8"))
PUBLIC = json.loads((FILES / "public.json").read_text(encoding="utf-8"))
MODULES = (FILES / "modules.txt").read_text(encoding="utf-8").split()
CONTENT = ("problems", "solvers", "estimators", "theorems")


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module("contents")


def unpickled(key: str) -> Any:
    with zipfile.ZipFile(FILES / "pickles.zip") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pickles name old modules
        return pickle.loads(archive.read(f"{key}.pickle"))


def close(one: Any, other: Any) -> bool:
    """Equal but for rounding, which differs between processors, and for fields that came later."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() <= other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float):
        return bool(other == pytest.approx(one, rel=1e-9, abs=1e-12))
    return bool(one == other)


@pytest.mark.parametrize("key", VALUES)
def test_old_pickles_say_the_same_numbers(key: str, contents: Any) -> None:
    if key.startswith("estimator/"):
        pytest.importorskip("sklearn")
    kind, name = key.split("/")
    made = unpickled(key)
    with warnings.catch_warnings():
        if kind == "attribute":  # read by old names
            warnings.simplefilter("ignore", DeprecationWarning)
        values = json.loads(json.dumps(contents.values(kind, name, made)))
    assert close(VALUES[key], values), (VALUES[key], values)


def test_all_kinds_of_pickles_are_there(contents: Any) -> None:
    kinds = [key.partition("/")[0] for key in VALUES]
    assert set(kinds) == set(contents.MAKERS) and kinds.count("problem") == 41 and kinds.count("estimator") == 18
    assert {path.stem for path in FILES.glob("*.json")} == {*contents.SAVED, "public", "values"}


def test_old_points_are_certified_as_they_were() -> None:
    problem, solution = unpickled("problem/kernel-ridge"), unpickled("solution/kernel-ridge")
    certificate = simopt.certify(problem, solution.point, solution.multipliers)
    assert certificate.upper == pytest.approx(solution.certificate.upper, rel=1e-12)
    assert certificate.lower == pytest.approx(solution.certificate.lower, rel=1e-12)


@pytest.mark.parametrize("name", ["herd", "index-model", "monotone-function", "ordinal-rule", "ranker", "sparse-fit", "goodness-curve"])
def test_old_records_are_read(name: str, contents: Any) -> None:
    kind = type(unpickled(f"record/{name}"))
    values = json.loads(json.dumps(contents.values("record", name, kind.load(FILES / f"{name}.json"))))
    assert close(VALUES[f"record/{name}"], values), (VALUES[f"record/{name}"], values)


@pytest.mark.parametrize("path", sorted((FILES / "evidence").glob("*.json")), ids=lambda path: path.name)
def test_old_witnesses_and_proofs_are_checked_again(path: Path) -> None:
    command = "replay" if path.name.endswith(".witness.json") else "recheck"
    run = subprocess.run([sys.executable, "-m", "simopt", command, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_an_old_proof_is_checked_without_simopt() -> None:
    for path in (FILES / "evidence").glob("*.proof.json"):
        run = subprocess.run([sys.executable, "-I", ROOT / "simopt/recheck.py", path], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr


def test_an_old_comparison_is_read_from_json_and_from_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    said = json.loads((FILES / "comparison/comparison.json").read_text(encoding="utf-8"))["summary"]
    (tmp_path / "tables").mkdir()
    for name in ("runs.parquet", "traces.parquet"):
        (tmp_path / "tables" / name).write_bytes((FILES / "comparison" / name).read_bytes())
    for folder in (FILES / "comparison", tmp_path / "tables"):
        records = {record.cell.solver: record for record in compare.load(folder).records}
        assert {row["solver"] for row in said} == records.keys() == {"cholesky", "clarabel"}
        for row in said:
            record = records[row["solver"]]
            assert record.seconds == row["seconds"] and record.relative_gap == row["relative_gap"] and record.points
            assert record.status == row["status"] and record.cell.key in {path.name[:20] for path in (FILES / "comparison/runs").iterdir()}


def stands(module: str) -> bool:
    """Whether a file of this tree has the path."""
    parts = module.split(".")
    place = ROOT.joinpath(*(parts[1:] if parts[1:2] and parts[1] in CONTENT else parts))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


IMPORTING = """
import importlib, json, sys, warnings
answers = {}
for name in sys.argv[1:]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            module = importlib.import_module(name)
        except Exception as error:
            answers[name] = f"{type(error).__name__}: {error}"
            continue
    answers[name] = [str(each.message) for each in caught if each.category is DeprecationWarning]
print(json.dumps(answers))
"""


@pytest.mark.thorough
def test_every_old_path_is_imported_and_names_the_new_one() -> None:
    old = [name for name in MODULES if not stands(name)]
    assert len(MODULES) == 707 and len(old) > 100
    run = subprocess.run([sys.executable, "-c", IMPORTING, *old], capture_output=True, text=True, check=True)
    answers = json.loads(run.stdout)
    assert not {name: answer for name, answer in answers.items() if isinstance(answer, str)}
    for name in old:
        new = new_paths(name)
        assert new and all(map(stands, new)), (name, new)
        assert any(text.startswith(f"{name} has moved to {new[0]}") for text in answers[name]), (name, answers[name])


def test_names_that_have_changed_with_their_path_are_found() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for module, names in RENAMED.items():
            for old, new in names.items():
                value = getattr(import_module(module), old)
                assert value in [getattr(import_module(path), new, None) for path in new_paths(module) or (module,)], (module, old)


def test_attributes_that_have_another_name_give_its_value_by_the_old_one_and_say_so() -> None:
    with_old_names = {key for key in VALUES if key.startswith(("attribute/", "problem/"))}
    programme = read(cp.Problem(cp.Minimize(0), [cp.norm(cp.Variable(2)) <= 1]))
    records = [closing_terms(programme)[0], *map(unpickled, with_old_names)]
    for module, classes in FIELDS.items():
        for name, names in classes.items():
            record = next(each for each in records if isinstance(each, getattr(import_module(module), name)))
            for old, new in names.items():
                with pytest.warns(DeprecationWarning, match=f"^{name}.{old} is called {new}; the old name goes with simopt 0.2$"):
                    assert getattr(record, old) is getattr(record, new)


def test_a_record_that_was_pickled_has_its_attributes_by_the_new_names_and_prints() -> None:
    record = unpickled("attribute/exact-goodness")
    assert "prices" not in vars(record) and pickle.loads(pickle.dumps(record)) == record == dataclasses.replace(record)
    assert "multipliers=(Fraction(0, 1), Fraction(1, 3), Fraction(-1, 3))" in str(record)


def test_what_was_public_is_public() -> None:
    for module, names in PUBLIC["names"].items():
        assert not {name for name in names if not hasattr(import_module(module), name)}, module
        assert set(names) <= set(import_module(module).__all__), module


def test_what_public_functions_returned_has_its_fields_and_properties() -> None:
    pytest.importorskip("sklearn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for path, names in PUBLIC["records"].items():
            kind = pkgutil.resolve_name(path)
            fields = {item.name for item in dataclasses.fields(kind)}
            assert not {name for name in names if name not in fields and not hasattr(kind, name)}, path
    assert len(PUBLIC["records"]) > 80


def test_parameters_of_public_functions_keep_their_names() -> None:
    pytest.importorskip("sklearn")
    from simopt import estimators

    for name, names in PUBLIC["parameters"].items():
        module, _, short = name.rpartition(".")
        now = list(inspect.signature(getattr(estimators if module else simopt, short)).parameters)
        assert [each for each in now if each in names] == names, name  # in the order they had


def test_registered_names_and_fields_of_problems_stay() -> None:
    registry.load()
    for kind, names in PUBLIC["registered"].items():
        there = registry.names(kind)
        assert len(there) >= names if isinstance(names, int) else set(names) <= set(there), kind
    for name, names in PUBLIC["fields"].items():
        assert [item.name for item in dataclasses.fields(registry.find("problem", name))] == names, name
