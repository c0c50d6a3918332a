"""What the kernel has checked, in the report: a sign and the theorem only where the ledger has the digest of just this text."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from simopt import recheck, report
from simopt.claims.check import at_most
from simopt.claims.expression import inputs
from simopt.claims.proof import Collector
from simopt.claims.verification import Record
from simopt.coq.kernel import LEDGER, Result, digest_of
from simopt.coq.theory import export, title
from simopt.core.errors import NotAvailable

Written = tuple[Record, Path]


def proved(record: Record, folder: Path) -> tuple[Record, str]:
    """The record with a proof file for its first claim, and the text of its theorems."""
    first, *others = record.rows
    proof = Collector()
    proof.add(at_most(inputs(a=1), 2, "one"), frozenset({"1"}))
    made = {
        "format": recheck.FORMAT, "simopt": "", "claim": first["id"], "row": first["id"], "place": "", "says": "1 ≤ 2", "quantifier": "all",
        "scope": "", "remains": [], "statements": proof.statements(),
    }  # fmt: skip
    made = json.loads(json.dumps(made))
    made["digest"] = recheck.digest(made)
    path = folder / "first.proof.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    return replace(record, rows=[{**first, "proof": str(path)}, *others]), export(made)


def answered(folder: Path, record: Record, **changes: object) -> tuple[Record, Path]:
    """Such a record, and a folder of `make coq` with an answer to its proof file."""
    record, text = proved(record, folder)
    result = replace(Result(digest_of(text), True, 1.0, ("Classical_Prop.classic",)), **changes)  # type: ignore[arg-type]
    written = {item.metadata.get("json", item.name): getattr(result, item.name) for item in fields(result)}
    (folder / LEDGER).write_text(json.dumps({title(record.rows[0]["id"]): written}), encoding="utf-8")
    return record, folder


def test_an_answer_to_this_very_text_is_shown_with_theorem_and_command(written: Written, tmp_path: Path) -> None:
    record, folder = answered(tmp_path, written[0])
    page = report.write(record, tmp_path / "out", folder)["index.html"].read_text(encoding="utf-8")
    assert page.count('class="kernel"') == 1
    assert (
        f"Theorem {title(record.rows[0]['id'])}" in page
        and "Assumed: classic." in page
        and "--coq DIR &amp;&amp; cd DIR &amp;&amp; coqc" in page
    )


@pytest.mark.parametrize(
    "changes", [{"digest": "0"}, {"accepted": False}, {"assumptions": ("ours",)}], ids=["other text", "refused", "axiom"]
)
def test_any_other_answer_is_not(written: Written, tmp_path: Path, changes: dict[str, object]) -> None:
    record, folder = answered(tmp_path, written[0], **changes)
    page = report.write(record, tmp_path / "out", folder)["index.html"].read_text(encoding="utf-8")
    assert 'class="kernel"' not in page and "The kernel of Coq" not in page


def test_without_a_folder_nothing_is_said_and_one_without_answers_is_refused(written: Written, tmp_path: Path) -> None:
    assert 'class="kernel"' not in (written[1] / "index.html").read_text(encoding="utf-8")
    with pytest.raises(NotAvailable, match=LEDGER):
        report.write(written[0], tmp_path / "out", tmp_path)
