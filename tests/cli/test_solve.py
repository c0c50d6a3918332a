"""`simopt solve`: certificates, settings, files, exit statuses."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

from simopt.backends import table
from simopt.cli import settings
from simopt.cli.every_solver import brackets_overlap
from simopt.cli.solution_text import acceptable
from simopt.core.errors import Interrupted, InvalidProblem, UnknownName
from simopt.model.status import Status
from simopt.problems.kernel_ridge import KernelRidge

Run = Callable[..., Result]


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """Forty rows of a smooth function of two variables."""
    x = np.random.default_rng(1).normal(size=(40, 2))
    y = np.sin(x[:, 0]) + 0.1 * x[:, 1]
    path = tmp_path / "small.csv"
    np.savetxt(path, np.column_stack([y, x]), delimiter=",", header="y,first,second", comments="")
    return path


def test_certificate_is_printed(run: Run, csv: Path) -> None:
    result = run("solve", "kernel-ridge", "--data", csv, "--target", "y", "--solver", "clarabel")
    assert result.exit_code == 0, result.output
    for part in ("gram 40 × 40", "OPTIMAL", "≤ optimum ≤", "gap/scale", "gap/|upper|", "iterations", "float arithmetic"):
        assert part in result.stdout


def test_duplicated_landmarks_are_reported(run: Run, csv: Path, tmp_path: Path) -> None:
    lines = csv.read_text(encoding="utf-8").splitlines()
    (tmp_path / "twice.csv").write_text("\n".join([*lines, lines[1], lines[3]]) + "\n", encoding="utf-8")
    for data, printed in (("twice.csv", True), (csv, False)):
        result = run("solve", "landmarked-svr", "--data", tmp_path / data, "--target", "y")
        assert result.exit_code == 0, result.output
        assert ("duplicated landmarks: 2" in " ".join(result.stdout.split())) is printed
        found = json.loads(run("solve", "landmarked-svr", "--data", tmp_path / data, "--target", "y", "--json").stdout)
        assert len(found["duplicated_landmarks"]) == (2 if printed else 0)
        assert all(first < later for first, later in found["duplicated_landmarks"])


def test_samples_of_each_class_are_counted(run: Run, csv: Path, tmp_path: Path) -> None:
    lines = csv.read_text(encoding="utf-8").splitlines()
    graded = [f"{1 + k % 4 % 3},{line.partition(',')[2]}" for k, line in enumerate(lines[1:])]
    (tmp_path / "graded.csv").write_text("\n".join([lines[0], *graded]) + "\n", encoding="utf-8")
    for data, printed in (("graded.csv", "class 1, …, 3: 20, 10, 10"), (csv, "class 1, …, 5: 8, 8, 8, 8, 8")):
        result = run("solve", "exc-ordinal", "--data", tmp_path / data, "--target", "y", "--set", "landmarks=5")
        assert result.exit_code == 0, result.output
        assert printed in " ".join(result.stdout.split())


def test_file_holds_the_point_and_certifies_again(run: Run, csv: Path, tmp_path: Path) -> None:
    result = run("solve", "kernel-ridge", "--data", csv, "--json", "--output", "out.json", "--rigorous", "--set", "regularization=0.5")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == found
    certificate = found["certificate"]
    assert certificate["arithmetic"] == "interval" and certificate["relative_gap"] <= 1e-8
    assert certificate["lower"] <= certificate["upper"] and len(found["point"]["alpha"]) == 40
    assert found["status"] == "optimal" and found["provenance"]["versions"]["simopt"]


def test_all_solvers_overlap(run: Run, csv: Path) -> None:
    result = run("solve", "kernel-ridge", "--data", csv, "--target", "y", "--solver", "all", "--tol", "1e-6")
    assert result.exit_code == 0, result.output
    assert "all brackets overlap" in result.stdout
    for name in ("clarabel", "ecos", "scs"):
        assert name in result.stdout  # in the table, or named as left out


def test_all_goes_on_without_a_back_end_that_is_not_installed(run: Run, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "find_spec", lambda name: None if name == "ecos" else find_spec(name))
    arguments = ("solve", "kernel-ridge", "--data", csv, "--target", "y", "--tol", "1e-6", "--solver")
    result = run(*arguments, "all")
    assert result.exit_code == 0 and "left out: ecos is not installed: pip install" in result.stdout
    found = json.loads(run(*arguments, "all", "--json").stdout)
    names = {solution["provenance"]["solver"] for solution in found["solutions"]}
    assert found["left_out"] == [table.ECOS.missing] and {"clarabel", "scs"} <= names and "ecos" not in names
    alone = run(*arguments, "ecos")
    assert alone.exit_code == 2 and alone.stderr == f"simopt: {table.ECOS.missing}\n"


def test_progress_names_the_solver(run: Run, csv: Path, tmp_path: Path, forked: pytest.MonkeyPatch) -> None:
    from simopt.cli.console import Ticker

    heard = tmp_path / "heard"

    def recorded(self: Ticker, text: str) -> None:
        with heard.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def printed() -> set[str]:
        names = {text.partition(":")[0] for text in heard.read_text(encoding="utf-8").splitlines()}
        heard.unlink()
        return names

    forked.setattr(Ticker, "show", recorded)
    arguments = ("solve", "kernel-ridge", "--data", csv, "--target", "y", "--tol", "1e-6")
    found = json.loads(run(*arguments, "--solver", "all", "--json").stdout)
    names = {s["provenance"]["solver"] for s in found["solutions"] if s["trace"]["samples"]}
    assert printed() == names and "clarabel" in names
    run(*arguments, "--solver", "clarabel")
    assert printed() == {"clarabel"}


def test_solver_that_misses_the_tolerance_fails_the_run(run: Run, csv: Path) -> None:
    options = ("--option", "max_iter=1", "--tol", "1e-12", "--solver", "clarabel")
    result = run("solve", "landmarked-svr", "--data", csv, "--target", "y", *options)
    assert result.exit_code == 1, result.output
    assert "ITERATION_LIMIT" in result.stdout or "GAP_OPEN" in result.stdout or "FAILED" in result.stdout


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--set", "regularisation=1"), "unknown field of kernel-ridge 'regularisation'; did you mean 'regularization'?"),
        (("--set", "regularization=-1"), "regularization: -1 given, a number > 0 needed"),
        (("--set", "regularization=much"), "regularization: 'much' given, float needed"),
        (("--set", "gram=3"), "unknown field of kernel-ridge 'gram'"),
        (("--set", "regularization"), "--set: 'regularization' given, name=value needed"),
        (("--set", "samples=9", "--set", "samples=8"), "--set: 'samples' is given twice"),
        (("--solver", "clarabell"), "did you mean 'clarabel'?"),
        (("--solver", "scs", "--option", "max_itr=3"), "unknown option of scs 'max_itr'; did you mean 'max_iter'?"),
        (("--target", "z"), "unknown target column 'z'"),
        (("--tol", "0"), "tol: must be a positive number"),
        (("--solver", "all", "--option", "max_iter=3"), "--option: options belong to one solver"),
        (("--output", "nowhere/out.json"), "nowhere/out.json: its folder does not exist"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(run: Run, csv: Path, tmp_path: Path, extra: tuple[str, ...], message: str) -> None:
    result = run("solve", "kernel-ridge", "--data", csv, "--output", "out.json", *extra)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("simopt: ") and message in result.stderr and result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == [csv]


@pytest.mark.parametrize(
    ("content", "message"),
    [("a,b\n1,2\n3,oops\n", "line 3"), ("a,b\n1,nan\n2,3\n", ""), ("a\n1\n", "one column only"), ("a,b\n", ""), ("", "")],
)
def test_corrupt_csv_is_one_line(run: Run, tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content)
    result = run("solve", "kernel-ridge", "--data", path)
    assert result.exit_code == 2, result.output
    assert (
        result.stderr.startswith("simopt: ") and "bad.csv" in result.stderr and message in result.stderr and result.stderr.count("\n") == 1
    )


def test_unknown_names_and_missing_files(run: Run, csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "did you mean 'kernel-ridge'?" in run("solve", "kernel-rigde", "--data", csv).stderr
    assert "did you mean 'yacht'?" in run("solve", "kernel-ridge", "--data", "yaht").stderr
    assert "no such file" in run("solve", "kernel-ridge", "--data", "nothing.csv").stderr
    monkeypatch.setenv("SIMOPT_DATA", str(tmp_path / "absent"))
    missing = run("solve", "kernel-ridge", "--data", "yacht")
    assert missing.exit_code == 2 and "absent: no such folder" in missing.stderr


def test_texts_become_values_of_the_annotated_type() -> None:
    assert settings.convert("n", "7", "int | None") == 7
    assert settings.convert("n", "None", "int | None") is None
    assert settings.convert("b", "off", "bool") is False
    assert settings.convert("x", "1", "float") == 1.0 and isinstance(settings.convert("x", "1", "float"), float)
    assert settings.convert("s", "3", "str") == "3"
    assert settings.convert("s", "gaussian", "Similarity | str | None") == "gaussian"
    assert settings.convert("v", "1e-3", "Any") == 1e-3
    for text, annotation in (("3.5", "int | None"), ("perhaps", "bool"), ("", "float")):
        with pytest.raises(InvalidProblem, match=f"v: '{text}' given"):
            settings.convert("v", text, annotation)


def test_fields_and_recipe_options_are_told_apart() -> None:
    recipe, fields = settings.assigned(KernelRidge, {"samples": "12", "regularization": "2"})
    assert recipe == {"samples": 12, "regularization": 2.0} and fields == {}
    with pytest.raises(UnknownName, match="did you mean 'standardise'"):
        settings.assigned(KernelRidge, {"standardize": "no"})


def test_overlap_and_acceptance_are_decided_by_certificates() -> None:
    from simopt import solve

    problem = KernelRidge(np.eye(3), np.array([1.0, 2.0, 3.0]), 0.5)
    solution = solve(problem, "scs", tol=1e-6)
    certificate = solution.certificate
    assert certificate is not None
    above = replace(solution, certificate=replace(certificate, lower=certificate.upper + 1.0, upper=certificate.upper + 2.0))
    assert brackets_overlap([solution, solution]) and not brackets_overlap([solution, above]) and not brackets_overlap([])
    open_scs = replace(solution, status=Status.GAP_OPEN)
    other = replace(open_scs, provenance=replace(solution.provenance, solver="clarabel"))
    assert acceptable(open_scs) and not acceptable(other)
    assert not acceptable(replace(open_scs, certificate=replace(certificate, gap=float("inf"))))
    assert not acceptable(replace(solution, status=Status.FAILED))


def test_interrupt_keeps_the_bracket(run: Run, csv: Path, tmp_path: Path, forked: pytest.MonkeyPatch) -> None:
    from simopt.solving import driver

    finished = driver.solve

    def stopped(*arguments: Any, **options: Any) -> Any:
        raise Interrupted(replace(finished(*arguments, **options), status=Status.INTERRUPTED))

    forked.setattr(driver, "solve", stopped)
    for solver in ("clarabel", "all"):
        result = run("solve", "kernel-ridge", "--data", csv, "--target", "y", "--output", "out.json", "--solver", solver)
        assert result.exit_code == 130 and "INTERRUPTED" in result.stdout
        found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
        (kept,) = found.get("solutions", [found])
        assert kept["status"] == "interrupted" and kept["certificate"]["gap"] is not None
