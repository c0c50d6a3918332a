"""`simopt verify`, `replay` and `recheck`: verdicts, evidence files, exit statuses, interruption."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Run = Callable[..., Result]
ALONE = ("--jobs", "1")  # the claims of the tests live in this process only


@pytest.fixture
def ran(pretend: None, run: Run) -> Run:
    """`run`, with the pretend paper registered."""
    return run


def test_expected_verdicts_give_status_zero_and_evidence_that_can_be_checked_again(ran: Run, tmp_path: Path) -> None:
    result = ran("verify", "PP-proved", "PP-refuted", "PP-missing", *ALONE, "--seed", 3)
    assert result.exit_code == 0, result.output
    table = result.stdout.partition("\nerrata")[0].splitlines()
    lines = {line.split()[0]: line for line in table if line.strip().startswith("PP-")}
    assert "PROVED" in lines["PP-proved"] and "exact" in lines["PP-proved"] and "exhaustive" in lines["PP-proved"]
    assert "REFUTED" in lines["PP-refuted"] and "REFUTED" in lines["PP-also"]
    assert "NOT_RUN" in lines["PP-missing"] and "Not run: PP-missing: " in result.stdout and "no_such_module_anywhere" in result.stdout
    assert "all as expected" in result.stdout and "1 PROVED, 1 REFUTED, 1 NOT_RUN" in result.stdout

    listed = Path("simopt-evidence/evidence.txt").read_text(encoding="utf-8")
    assert "simopt-evidence/evidence.txt" in result.stdout
    assert "simopt recheck simopt-evidence/PP-proved.proof.json" in listed
    checked = ran("recheck", "simopt-evidence/PP-proved.proof.json")
    assert checked.exit_code == 0 and "n ≤ n²" in checked.stdout and checked.stdout.endswith("CHECKED\n")
    assert "simopt replay simopt-evidence/PP-also.witness.json" in listed
    replayed = ran("replay", "simopt-evidence/PP-also.witness.json")
    assert replayed.exit_code == 0 and "REFUTED" in replayed.stdout and "it replays" in replayed.stdout
    assert ran("recheck", "PP-proved").stdout == checked.stdout and ran("replay", "PP-also").stdout == replayed.stdout


def test_the_run_ends_with_the_errata_the_evidence_and_the_counts(ran: Run) -> None:
    lines = ran("verify", "PP-proved", "PP-refuted", *ALONE).stdout.splitlines()
    (heading,) = (number for number, line in enumerate(lines) if line.startswith("errata"))
    assert lines[heading] == "errata: 1 statement refuted as printed"
    assert lines[heading + 1].startswith("PP-refuted (Lemma 2") and lines[heading + 2].strip().startswith("refuted: ")
    assert "n² ≤ 3" in lines[heading + 2]
    assert not any(line.strip().startswith(("simopt recheck", "simopt replay")) for line in lines)
    ends = [line.split(" ")[0] for line in lines[heading:] if line and not line.startswith(("PP-", " "))]
    assert ends == ["errata:", "`simopt", "Evidence:", "2", "all"]


def test_what_was_refuted_is_told_in_words_with_what_holds_instead(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from simopt.claims import catalogue

    monkeypatch.setenv("COLUMNS", "80")
    said = run("verify", "AK-Ex.c", "AK-Ex.c+", *ALONE).stdout.partition("errata: ")[2]
    words = " ".join(said.split())
    assert f"refuted: {' '.join(catalogue.find('AK-Ex.c').says.split())}" in words
    assert f"instead, AK-Ex.c+ PROVED: {' '.join(catalogue.find('AK-Ex.c+').says.split())}"[:390] in words
    assert all(len(line) <= 80 for line in said.splitlines() if not line.startswith(("`simopt", "Evidence")))


def test_evidence_that_was_never_left_is_an_error(ran: Run) -> None:
    result = ran("replay", "PP-proved")
    assert result.exit_code == 2 and "PP-proved: not a readable witness file" in result.stderr


def test_unexpected_verdict_is_marked_and_fails(ran: Run) -> None:
    result = ran("verify", "PP-unexpected", "PP-proved", *ALONE)
    assert result.exit_code == 1
    assert "UNEXPECTED, HOLDS expected" in result.stdout and "1 not as expected: PP-unexpected" in result.stdout


def test_paper_and_section_select(ran: Run) -> None:
    result = ran("verify", "pretend", "--section", "first", *ALONE, "--json")
    assert [row["id"] for row in json.loads(result.stdout)] == ["PP-proved"]


def test_mutants_are_run_and_reported(ran: Run) -> None:
    assert "1 mutant caught" in ran("verify", "PP-refuted", "--mutants", *ALONE).stdout
    result = ran("verify", "PP-refuted", "--mutants", *ALONE, "--json")
    (row,) = json.loads(result.stdout)
    assert [(mutant["name"], mutant["caught"]) for mutant in row["mutants"]] == [("bound 16", True)]


def test_json_alone_on_standard_output_and_the_same_in_the_file(ran: Run, tmp_path: Path) -> None:
    result = ran("verify", "PP-refuted", *ALONE, "--json", "--output", "found.json", "--evidence", "elsewhere")
    found = json.loads(result.stdout)
    assert json.loads((tmp_path / "found.json").read_text(encoding="utf-8")) == found
    (row,) = found
    for key in ("covers", "place", "expected", "verdict", "evidence", "scope", "checks", "worst_slack", "tightness", "seconds", "seeds"):
        assert key in row
    assert row["rows"]["PP-also"]["worst_slack"] == 2 * row["worst_slack"] == -26.0
    assert Path(row["witness"]).parent == Path("elsewhere") and (tmp_path / row["witness"]).is_file()
    assert "PP-refuted REFUTED" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verify", "PP-profed"), "unknown claim 'PP-profed'; did you mean 'PP-proved'?"),
        (("verify", "pretend", "--section", "furst"), "unknown section 'furst'; did you mean 'first'?"),
        (("verify", "PP-proved", "--output", "no/such/file.json"), "no/such/file.json: its folder does not exist"),
        (("replay", "none.json"), "none.json: not a readable witness file"),
        (("recheck", "none.json"), "none.json: "),
        (("replay", "corrupt.json"), "corrupt.json: not a readable witness file"),
        (("recheck", "corrupt.json"), "corrupt.json: "),
        (("replay", "other.json"), "other.json: format 'simopt-witness/99' is not known here"),
        (("recheck", "other.json"), "other.json: format 'simopt-witness/99' is not known here"),
    ],
)
def test_bad_input_is_one_line(ran: Run, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "corrupt.json").write_text('{"format": "simopt')
    (tmp_path / "other.json").write_text('{"format": "simopt-witness/99"}')
    before = sorted(tmp_path.iterdir())
    result = ran(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("simopt: ") and message in result.stderr and result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_on_a_small_terminal_the_table_keeps_verdicts_and_remarks(ran: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = ran("verify", "PP-proved", "PP-refuted", "--mutants", *ALONE)
    heads = result.stdout.splitlines()[0].split()
    assert heads == ["id", "verdict", "evidence", "status"]
    assert "caught" in result.stdout and "exhaustive" not in result.stdout


def test_a_proof_that_was_tampered_with_is_rejected(ran: Run, tmp_path: Path) -> None:
    ran("verify", "PP-proved", *ALONE)
    path = tmp_path / "simopt-evidence" / "PP-proved.proof.json"
    proof = path.read_text(encoding="utf-8")
    path.write_text(proof.replace("0", "7", 1), encoding="utf-8")
    result = ran("recheck", path)
    assert result.exit_code in (1, 2) and "CHECKED" not in result.stdout
    assert result.stderr.startswith("simopt: ") and result.stderr.count("\n") == 1


def test_a_witness_of_another_version_replays_with_a_warning(ran: Run, tmp_path: Path) -> None:
    ran("verify", "PP-refuted", *ALONE)
    path = tmp_path / "simopt-evidence" / "PP-refuted.witness.json"
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | {"simopt": "0.0.1"}), encoding="utf-8")
    result = ran("replay", path)
    assert result.exit_code == 0 and "warning: written by simopt 0.0.1" in result.stderr
    altered = document | {"slack": (5.0).hex()}
    path.write_text(json.dumps(altered), encoding="utf-8")
    assert ran("replay", path).exit_code == 1


@pytest.mark.thorough
def test_files_and_folders_are_checked_again_and_what_is_wrong_with_one_stops_no_other(ran: Run, tmp_path: Path) -> None:
    ran("verify", "PP-proved", "PP-refuted", *ALONE)
    folder = tmp_path / "simopt-evidence"
    rechecked, replayed = ran("recheck", folder), ran("replay", folder, "PP-also")
    assert rechecked.exit_code == replayed.exit_code == 0
    assert rechecked.stdout.splitlines()[0].startswith(f"CHECKED {folder}/PP-proved.proof.json: ")
    assert rechecked.stdout.splitlines()[-1] == "1 proof file: 1 checked"
    assert [line.partition(":")[0] for line in replayed.stdout.splitlines()[:-1]] == ["PP-also", "PP-refuted", "PP-also"]
    assert replayed.stdout.endswith("3 witnesses: 3 replay\n")  # the path from the folder and the one from the id are spelled differently

    proof = folder / "PP-proved.proof.json"
    (folder / "A.proof.json").write_text("{", encoding="utf-8")
    (folder / "B.proof.json").write_text(proof.read_text(encoding="utf-8").replace("≤", "<"), encoding="utf-8")
    again = ran("recheck", folder)
    assert again.exit_code == 2 and again.stdout.endswith("3 proof files: 1 checked, 1 rejected, 1 unreadable\n")
    assert [Path(line.split(": ")[1]).name for line in again.stderr.splitlines()] == ["A.proof.json", "B.proof.json"]
    assert ran("recheck", proof, folder / "B.proof.json").exit_code == 1

    witness = folder / "PP-also.witness.json"
    document: dict[str, Any] = json.loads(witness.read_text(encoding="utf-8"))
    (folder / "A.witness.json").write_text("{", encoding="utf-8")
    (folder / "B.witness.json").write_text(json.dumps(document | {"slack": (5.0).hex()}), encoding="utf-8")
    again = ran("replay", folder)
    assert again.exit_code == 2 and again.stdout.endswith("4 witnesses: 2 replay, 1 do not replay, 1 unreadable\n")
    assert ran("replay", folder / "B.witness.json", witness).exit_code == 1

    (tmp_path / "empty").mkdir()
    for command in ("recheck", "replay"):
        nothing = ran(command, tmp_path / "empty")
        assert nothing.exit_code == 2 and nothing.stderr.count("\n") == 1 and "in this folder" in nothing.stderr


def test_a_proof_under_the_words_of_another_claim_is_rejected_in_its_line_only(ran: Run, tmp_path: Path) -> None:
    from simopt import recheck

    ran("verify", "AK-B.7", "AK-18-renewed", *ALONE)
    path = tmp_path / "simopt-evidence" / "AK-B.7.proof.json"
    document = recheck.read(str(path))
    document["says"] = "Everything holds."
    document["digest"] = recheck.digest(document)
    path.with_name("A.proof.json").write_text(json.dumps(document), encoding="utf-8")
    again = ran("recheck", path.parent)
    assert again.exit_code == 1 and again.stdout.endswith("3 proof files: 2 checked, 1 rejected\n")
    assert again.stdout.count("Words and formulas are those of the catalogue.") == 2
    assert "'says' is not what the catalogue says" in again.stderr


def test_interrupt_keeps_what_is_done(start: Callable[..., subprocess.Popen[str]], plugins: Path, begun: Path) -> None:
    process = start("verify", "PP-slow", "PP-proved", *ALONE, "--json", path=plugins)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("[1/2] PP-proved PROVED")
    assert begun.read_text() == "begun"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    found = json.loads(out)
    assert [row["id"] for row in found] == ["PP-proved"]


def test_workers_find_the_claims_of_plug_ins(start: Callable[..., subprocess.Popen[str]], plugins: Path) -> None:
    process = start("verify", "PP-proved", "PP-refuted", "--jobs", "2", "--json", path=plugins)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert {row["verdict"] for row in json.loads(out)} == {"PROVED", "REFUTED"}


@pytest.mark.thorough
def test_recheck_loads_nothing_else_of_simopt(ran: Run, tmp_path: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    import sys

    ran("verify", "PP-proved", *ALONE)
    script = (
        "import sys; from typer.testing import CliRunner; from simopt.cli.main import app;"
        "r = CliRunner().invoke(app, ['recheck', 'simopt-evidence/PP-proved.proof.json']); assert r.exit_code == 0, r.output;"
        "print(*(m for m in sys.modules if m.partition('.')[0] in ('simopt', 'numpy')))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith("simopt.cli")}
    core = {f"simopt.core.{name}" for name in ("evidence", "foreign_text", "moved")}
    checkers = {"simopt.recheck", "simopt.recheck_certificate"}
    assert loaded == {"simopt", "simopt.core", "simopt.processes", "simopt.processes.worker"} | checkers | core
