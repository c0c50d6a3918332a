"""Writing a report: what stops it is known before the run, and an interrupted run reports what is done."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import toy_paper
from typer.testing import Result

from simopt import report
from simopt.claims import Claim, Kind
from simopt.claims.verification import verify

Run = Callable[..., Result]
Shelf = Callable[..., None]


@pytest.fixture
def toys(shelf: Shelf) -> dict[str, Claim]:
    known = {claim.id: claim for claim in toy_paper.claims()}
    shelf(*known.values())
    return known


def test_command_writes_the_report_and_keeps_standard_output_clean(toys: Any, run: Run, tmp_path: Path) -> None:
    result = run("verify", "TOY-ratio", "TOY-false", "--jobs", 1, "--report", "new/folder", "--json")
    assert result.exit_code == 0, result.output
    assert [row["id"] for row in json.loads(result.stdout)] == ["TOY-ratio", "TOY-false"]
    assert "Report: new/folder/index.html" in result.stderr
    assert (tmp_path / "new/folder/index.html").is_file()
    assert "simopt replay simopt-evidence/TOY-false.witness.json" in (tmp_path / "new/folder/errata.html").read_text(encoding="utf-8")


def test_an_older_report_is_replaced(toys: Any, run: Run, tmp_path: Path) -> None:
    for name in ("TOY-ratio", "TOY-slack"):
        assert run("verify", name, "--jobs", 1, "--report", "out").exit_code == 0
    text = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "TOY-slack" in text and "TOY-ratio" not in text
    assert not [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def refused(run: Run, folder: Path, message: str) -> None:
    """The command ends with status 2 and these words before a claim is run."""
    result = run("verify", "TOY-ratio", "--jobs", 1, "--report", folder)
    assert result.exit_code == 2, result.output
    assert message in result.stderr and "Traceback" not in result.stderr
    assert "TOY-ratio HOLDS" not in result.stderr, "the claims ran all the same"


def test_a_file_is_no_folder(toys: Any, run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(run, tmp_path / "file", "file: is a file, a folder is needed")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that nobody, not even root, can write to")
def test_a_folder_that_cannot_be_made(toys: Any, run: Run) -> None:
    refused(run, Path("/proc/simopt-report"), "/proc/simopt-report: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(toys: Any, run: Run, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    refused(run, tmp_path / "locked", "locked: Permission denied")


def test_a_full_disk_is_noticed_before_the_run(toys: Any, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=100_000))
    refused(run, tmp_path / "out", "a report takes up to 2 MB, 0 MB are free")


def test_a_disk_that_fills_up_while_writing_names_the_file(toys: Any, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report.write_text

    def full(path: Any, text: str) -> None:
        if str(path).endswith("index.html"):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        whole(path, text)

    monkeypatch.setattr(report, "write_text", full)
    result = run("verify", "TOY-ratio", "--jobs", 1, "--report", "out")
    assert result.exit_code == 2 and "out/index.html: No space left on device" in result.stderr
    assert "1 HOLDS" in result.stdout, "the verdicts are shown before the report is written"


@pytest.mark.parametrize("package", report.NEEDS)
def test_a_missing_extra_is_named(toys: Any, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None if name == package else object())
    refused(run, tmp_path / "out", f"--report needs {package}: pip install 'simopt-convex[report]'")


def test_without_a_report_no_extra_is_needed(toys: Any, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    assert run("verify", "TOY-ratio", "--jobs", 1).exit_code == 0


def test_an_interrupted_run_reports_what_is_done(shelf: Shelf, run: Run, tmp_path: Path) -> None:
    known = {claim.id: claim for claim in toy_paper.claims()}
    stop = toy_paper._claim("TOY-stop", toy_paper.interrupts, Kind.DEFINITION, cost=0.01)
    shelf(known["TOY-ratio"], stop)
    result = run("verify", "--jobs", 1, "--report", "out")
    assert result.exit_code == 130
    text = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "Interrupted." in text and "1 of 2 claims were checked" in text and "TOY-ratio" in text and "TOY-stop" not in text
    assert "Interrupted" in (tmp_path / "out/verdicts.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "out/verdicts.json").read_text(encoding="utf-8"))["interrupted"] is True


def test_a_witness_that_is_gone_is_said_to_be(toys: Any, tmp_path: Path) -> None:
    record = verify(["TOY-false"], jobs=1, evidence_dir=tmp_path / "evidence")
    shutil.rmtree(tmp_path / "evidence")
    report.write(record, tmp_path / "out")
    assert "not a readable witness file" in (tmp_path / "out/index.html").read_text(encoding="utf-8")


def test_a_record_of_claims_that_are_not_known_here(toys: Any, shelf: Shelf, tmp_path: Path) -> None:
    record = verify(["TOY-ratio", "OTH-void"], jobs=1, evidence_dir=None)
    shelf()
    report.write(record, tmp_path / "out")
    assert "TOY-ratio" in (tmp_path / "out/index.html").read_text(encoding="utf-8")


def test_a_correction_that_did_not_run_is_shown_and_said_not_to_have_run(toys: Any, tmp_path: Path) -> None:
    report.write(verify(["TOY-false"], jobs=1, evidence_dir=None), tmp_path / "out")
    for name in ("index.html", "errata.html", "errata.md"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "TOY-false" in text and "not part of this run" in text and "#TOY-false%2B" not in text, name


def test_nothing_refuted_and_nothing_at_all(toys: Any, tmp_path: Path) -> None:
    record = verify(["TOY-ratio"], jobs=1, evidence_dir=None)
    report.write(record, tmp_path / "out")
    assert "No claim of this run was refuted" in (tmp_path / "out/errata.html").read_text(encoding="utf-8")
    assert "Nothing was refuted" in (tmp_path / "out/errata.md").read_text(encoding="utf-8")
