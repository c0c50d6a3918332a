"""A proof file under the words of a claim is that claim's own: words and formulas are compared with the catalogue where one is at hand."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simopt import recheck
from simopt.claims import EXISTENCE, REFUTED, SOME, Claim, at_least, at_most, inputs, run
from simopt.claims.authentic import compared
from simopt.claims.verification import to_row
from simopt.core.errors import NotAvailable

Document = dict[str, Any]


@pytest.fixture
def toy(make: Any, shelf: Any) -> Claim:
    made: Claim = make(lambda i, t: iter([at_most(inputs(x=i["x"]), 5, "x ≤ 5")]), exhaustive=True, says="every x is at most five")
    shelf(made)
    return made


@pytest.fixture
def document(toy: Claim, tmp_path: Path) -> Document:
    return dict(recheck.read(to_row(run(toy), tmp_path)["proof"]))


def sealed(document: Document, **changes: Any) -> Document:
    document |= changes
    document["digest"] = recheck.digest(document)
    recheck.check(document)  # arithmetic has nothing against it
    return document


def test_the_claim_s_own_file_is_recognised(document: Document) -> None:
    assert compared(document) == "Words and formulas are those of the catalogue."


TRIVIAL = {
    "steps": [["+", "0", "0"]],
    "claim": ["<=", 0, "1"],
    "where": [],
    "symbols": [],
    "role": "claim",
    "name": "x ≤ 5",
    "names": [],
    "rows": [[]],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"statements": [TRIVIAL]}, "formulas are not those"),
        ({"says": "every x is at most four"}, "at most five"),
        ({"place": "Theorem 1"}, "'place'"),
        ({"quantifier": "SOME"}, "'quantifier'"),
        ({"scope": "witness"}, "'scope'"),
        ({"claim": "TOY-2"}, "TOY-1 does"),
    ],
)
def test_other_words_and_other_formulas_under_its_words_are_rejected(document: Document, changes: Any, message: str) -> None:
    with pytest.raises(recheck.Rejected, match=message):
        compared(sealed(document, **changes))


def test_steps_do_not_pass_for_the_claim(make: Any, shelf: Any, tmp_path: Path) -> None:
    shelf(make(lambda i, t: iter([at_most(inputs(x=i["x"]), 5)]), exhaustive=True, remains="the rest"))
    own = dict(recheck.read(to_row(run("TOY-1"), tmp_path)["proof"]))
    assert compared(own).startswith("Words and formulas")
    statements = [statement | {"role": "claim"} for statement in own["statements"]]
    with pytest.raises(recheck.Rejected, match="'remains'"):
        compared(sealed(own, statements=statements, remains=[]))


def test_a_claim_that_leaves_no_file_has_none(make: Any, shelf: Any, document: Document) -> None:
    shelf(make(lambda i, t: iter([at_most(i["x"], 4)]), exhaustive=True, expected=REFUTED, says=document["says"]))
    with pytest.raises(recheck.Rejected, match="it comes out REFUTED"):
        compared(document)


def test_what_cannot_be_compared_is_said(make: Any, shelf: Any, document: Document) -> None:
    def missing(instance: Any, trial: Any) -> Any:
        raise NotAvailable("no data")
        yield

    shelf(make(missing, exhaustive=True, says=document["says"]))
    assert compared(document) == "The words are those of the catalogue; the formulas were not compared: no data."
    shelf(make(missing, id="TOY-9"))
    assert "compared with nothing" in compared(document)


def test_another_witness_is_not_called_the_same(make: Any, shelf: Any, tmp_path: Path) -> None:
    shelf(make(lambda i, t: iter([at_least(inputs(x=i["x"]), 4)]), quantifier=SOME, kind=EXISTENCE))
    own = dict(recheck.read(to_row(run("TOY-1"), tmp_path)["proof"]))
    assert compared(own).startswith("Words and formulas")
    (statement,) = own["statements"]
    assert "NOT those" in compared(sealed(own, statements=[statement | {"rows": [["4"]] if statement["rows"] != [["4"]] else [["5"]]}]))


def test_the_program_compares_and_the_module_alone_says_that_it_did_not(tmp_path: Path) -> None:
    from simopt.cli.main import app

    path = Path(to_row(run("RMW-T20-KL+"), tmp_path)["proof"])
    own = dict(recheck.read(str(path)))
    asked = CliRunner().invoke(app, ["recheck", str(path)])
    assert asked.exit_code == 0 and asked.stdout.endswith("Words and formulas are those of the catalogue.\nCHECKED\n"), asked.output
    path.write_text(json.dumps(sealed(own, statements=[TRIVIAL])))
    asked = CliRunner().invoke(app, ["recheck", str(path)])
    assert asked.exit_code == 1 and "CHECKED" not in asked.stdout and "formulas are not those" in asked.stderr
    path.write_text(json.dumps(sealed(own, row="TOY-nobody")))
    assert "compared with nothing" in CliRunner().invoke(app, ["recheck", str(path)]).stdout
    alone = subprocess.run([sys.executable, "-I", "-S", recheck.__file__, str(path)], capture_output=True, text=True, check=False)
    assert alone.returncode == 0 and "compared with no catalogue" in alone.stdout and "(0 + 0) <= 1" in alone.stdout
