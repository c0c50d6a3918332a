"""Claims are written with one namespace, `sc`: no file imports its names one by one, and no header says what a default says."""

import ast
import builtins
import json
from dataclasses import replace
from pathlib import Path

import pytest

import simopt.claims
from simopt.claims import KAR_JAIN, catalogue, costs
from simopt.claims.claim import InvalidClaim
from simopt.claims.tables import table
from simopt.core.errors import InvalidProblem

ROOT = Path(__file__).resolve().parents[2]
NAMES = set(simopt.claims.__all__)
SOURCES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / "theorems").rglob("*.py")}


def test_the_language_is_imported_as_one_namespace() -> None:
    written = [path for path, text in SOURCES.items() if "\nimport simopt.claims as sc\n" in text]
    assert len(written) > 100
    assert not [path for path, text in SOURCES.items() if "from simopt.claims import" in text]


def test_no_file_calls_something_else_by_the_name_of_the_namespace() -> None:
    for path, text in SOURCES.items():
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name | ast.arg)]
        stored = [node for node in nodes if isinstance(node, ast.arg) or isinstance(node.ctx, ast.Store)]
        assert all((node.arg if isinstance(node, ast.arg) else node.id) != "sc" for node in stored), path


def test_headers_say_only_what_differs_from_the_defaults() -> None:
    calls = [(path, node) for path, text in SOURCES.items() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    headers = [(path, node) for path, node in calls if ast.unparse(node.func) in ("sc.claim", "claim_on_each", "table")]
    assert len(headers) > 500
    said = {(path, keyword.arg, ast.unparse(keyword.value)) for path, node in headers for keyword in node.keywords}
    assert not [each for each in said if each[1] in ("paper", "cost") or each[1:] in (("expected", "sc.HOLDS"), ("instances", "sc.once"))]


def test_the_language_has_no_name_of_python_and_no_program() -> None:
    assert not NAMES & set(dir(builtins))
    assert not NAMES & {"claims", "find", "list_claims", "replay", "run", "select"}
    assert NAMES <= set(vars(simopt.claims)) and len(NAMES) == len(simopt.claims.__all__)


def test_elsewhere_a_claim_names_its_paper() -> None:
    assert catalogue.find("KJ-Thm9a").paper is KAR_JAIN
    with pytest.raises(InvalidClaim, match="claim TOY-P in .*: paper= is missing"):
        simopt.claims.claim("TOY-P", place="p", kind=simopt.claims.INEQUALITY, says="s")(lambda instance, trial: iter(()))
    with pytest.raises(InvalidProblem, match="table toy in .*: paper= is missing"):
        table("toy", place="p", says="s", rows=("a",))(lambda row, run: iter(()))


def test_seconds_are_measured_or_declared_or_those_of_the_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measured = json.loads((ROOT / "theorems" / "costs.json").read_text(encoding="utf-8"))
    assert set(measured) <= {claim.id for claim in catalogue.claims()} and list(measured) == sorted(measured)
    assert costs.seconds(catalogue.find("KJ-Thm9a")) == measured["KJ-Thm9a"]
    toy = catalogue.find("KJ-Thm9a")
    assert costs.seconds(replace(toy, id="TOY", kind=simopt.claims.INEQUALITY)) == 0.5
    assert costs.seconds(replace(toy, id="TOY", kind=simopt.claims.RATE)) == 5.0
    assert costs.seconds(replace(toy, cost=7.0)) == 7.0
    (tmp_path / "seconds.json").write_text('{"KJ-Thm9a": 1.234, "TOY-A": 3.0, "KJ-Thm9b": 0.001}')
    target = tmp_path / "costs.json"
    monkeypatch.setattr(costs, "_file", lambda: target)
    costs.main(str(tmp_path / "seconds.json"))
    made = json.loads(target.read_text(encoding="utf-8"))
    assert made == measured | {"KJ-Thm9a": 1.2, "KJ-Thm9b": 0.1}
