"""Commands on disks that are full, or where something is in the way: known before the work begins, or after the result is on the screen.

Either way the status is 2 and there is one line, with the path; a verdict or a solution is never lost to a file.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from simopt.claims.verification import verify
from tests.cli.conftest import pretend  # noqa: F401

Run = Callable[..., Result]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits as POSIX has them")

SCRIPT = "import cvxpy as cp\nx = cp.Variable()\ncp.Problem(cp.Minimize((x - 1) ** 2 + cp.abs(x))).solve()\n"
PP = ("PP-proved", "PP-refuted", "PP-unexpected", "--jobs", "1")
# the command, what is written, and what of the result is on the screen; {} is the file or folder that is asked for
FILES = {
    "solve": (("solve", "kernel-ridge", "--data", "small.csv", "--output", "{}"), "OPTIMAL"),
    "solve by all": (("solve", "kernel-ridge", "--data", "small.csv", "--solver", "all", "--output", "{}"), "all brackets overlap"),
    "solve as JSON": (("solve", "kernel-ridge", "--data", "small.csv", "--json", "--output", "{}"), '"certificate"'),
    "certify": (("certify", "script.py", "--output", "{}"), "OPTIMAL"),
    "equivalence": (("equivalence", "mean-ball", "mean-penalised", "--lambda", "1", "--output", "{}"), "weakly equivalent"),
    "verify": (("verify", *PP, "--output", "{}"), "PROVED"),
    "verify as JSON": (("verify", *PP, "--json", "--output", "{}"), '"PROVED"'),
    "reproduce": (("reproduce", "pretend-table", "--output", "{}"), "2 inside, 1 outside"),
}
FOLDERS = {
    "a report": (("verify", *PP, "--report", "{}"), "PROVED", ("index.html", "errata.html", "verdicts.json", "verdicts.md")),
    "evidence": (("verify", *PP, "--evidence", "{}"), "PROVED", ("PP-refuted.witness.json", "PP-proved.proof.json", "evidence.txt")),
    "a picture": (("reproduce", "pretend-table", "--plot", "{}"), "2 inside, 1 outside", ("pretend-table.png",)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def inputs(pretend: None, tmp_path: Path) -> None:  # noqa: F811
    """Data and a script in the working folder."""
    x = np.random.default_rng(1).normal(size=(12, 2))
    np.savetxt(tmp_path / "small.csv", np.column_stack([np.sin(x[:, 0]), x]), delimiter=",", header="y,a,b", comments="")
    (tmp_path / "script.py").write_text(SCRIPT)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def filled(command: tuple[str, ...], path: object) -> list[str]:
    return [part.replace("{}", str(path)) for part in command]


def one_line(result: Result, path: object) -> None:
    """One line with the path, and status 2."""
    lines = [line for line in result.stderr.splitlines() if line.startswith("simopt: ")]
    assert result.exit_code == 2 and len(lines) == 1 and str(path) in lines[0], result.output
    assert "Traceback" not in result.stderr


def before(result: Result, path: object) -> None:
    """It was known before any work."""
    one_line(result, path)
    assert result.stdout == "" and "[1/" not in result.stderr


@pytest.mark.parametrize("which", FILES)
@pytest.mark.parametrize("target", ["folder", "no/such/folder/out.json", "small.csv/out.json", "/proc/out.json", "ring"])
def test_a_file_that_cannot_be_written_is_known_before(which: str, target: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "ring").symlink_to("ring")
    before(run(*filled(FILES[which][0], target)), target)


@pytest.mark.parametrize("which", FILES)
def test_a_full_disk_is_known_before(which: str, run: Run) -> None:
    with largest_file(1000):
        result = run(*filled(FILES[which][0], "out.json"))
    before(result, "out.json: File too large")


@pytest.mark.parametrize("which", FOLDERS)
@pytest.mark.parametrize("target", ["small.csv", "small.csv/folder", "/proc/folder", "ring"])
def test_a_folder_that_cannot_be_written_to_is_known_before(which: str, target: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to("ring")
    before(run(*filled(FOLDERS[which][0], target)), target)


@pytest.mark.parametrize("which", FOLDERS)
def test_a_folder_on_a_full_disk_is_known_before(which: str, run: Run) -> None:
    with largest_file(1000):
        result = run(*filled(FOLDERS[which][0], "new"))
    before(result, ("simopt-evidence" if which == "a report" else "new") + ": File too large")


@pytest.mark.parametrize("which", FILES)
def test_a_device_that_is_full_takes_nothing_off_the_screen(which: str, run: Run) -> None:
    result = run(*filled(FILES[which][0], "/dev/full"))
    one_line(result, "/dev/full: No space left on device")
    assert FILES[which][1] in result.stdout


@pytest.mark.parametrize(
    ("which", "name"), [("solve by all", "new"), ("a report", "new/errata.html"), ("a picture", "new/pretend-table.png")]
)
def test_a_disk_that_fills_up_meanwhile_takes_nothing_off_the_screen(which: str, name: str, run: Run, tmp_path: Path) -> None:
    command, shown = (FILES if which in FILES else FOLDERS)[which][:2]
    assert run(*filled(command, "new")).exit_code in (0, 1)
    old = (tmp_path / name).read_bytes()
    with largest_file(4096):
        result = run(*filled(command, "new"))
    one_line(result, ": File too large")
    assert shown in result.stdout and (tmp_path / name).read_bytes() == old


@pytest.mark.parametrize(("which", "name"), [(which, name) for which, (_, _, names) in FOLDERS.items() for name in names])
def test_what_is_in_the_way_in_a_folder_takes_nothing_off_the_screen(which: str, name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "new" / name).mkdir(parents=True)
    result = run(*filled(FOLDERS[which][0], "new"))
    one_line(result, f"new/{name}: is a folder")
    assert FOLDERS[which][1] in result.stdout


def test_all_that_failed_is_told_and_the_rest_is_written(run: Run, tmp_path: Path) -> None:
    for taken in ("report/index.html", "evidence/evidence.txt", "evidence/PP-refuted.witness.json"):
        (tmp_path / taken).mkdir(parents=True)
    result = run("verify", *PP, "--report", "report", "--evidence", "evidence", "--output", "/dev/full")
    lines = [line for line in result.stderr.splitlines() if line.startswith("simopt: ")]
    assert result.exit_code == 2 and "PROVED" in result.stdout
    for word in ("/dev/full", "report/index.html", "evidence/evidence.txt", "evidence/PP-refuted.witness.json"):
        assert sum(word in line for line in lines) == 1, result.stderr
    assert (tmp_path / "evidence" / "PP-also.witness.json").is_file()


def test_no_worker_loses_a_verdict_to_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "evidence" / "PP-refuted.witness.json").mkdir(parents=True)
    record = verify(["PP-refuted", "PP-proved"], jobs=1, evidence_dir=tmp_path / "evidence")
    assert [row["verdict"] for row in record.rows] == ["REFUTED", "PROVED"] and record.exit_ok
    assert len(record.unwritten) == 1 and record.unwritten[0].endswith("PP-refuted.witness.json: is a folder, a file name is needed")
    assert record.rows[0]["witness"] is None and "unwritten" not in record.rows[0]


def test_an_interrupted_run_on_a_full_disk_shows_what_is_done(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from simopt.claims import reproduction

    whole = reproduction.compute

    def stopped(*arguments: object, **options: object) -> Iterator[object]:
        rows = whole(*arguments, **options)  # type: ignore[arg-type]
        yield next(rows)
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "compute", stopped)
    result = run("reproduce", "pretend-table", "--output", "/dev/full")
    one_line(result, "/dev/full")
    assert "1 inside" in result.stdout and "(interrupted)" in result.stdout
