"""`simopt list` and `simopt show`, the start-up, and broken plug-ins."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.cells import cell_len
from typer.testing import Result

import simopt
from simopt.cli.console import table

Run = Callable[..., Result]
FIELDS = ["id", "covers", "paper", "section", "place", "kind", "expected", "corrects", "defect"]


def test_version(run: Run) -> None:
    result = run("--version")
    assert result.exit_code == 0 and result.stdout == f"simopt {simopt.__version__}\n"


def test_problems_and_their_back_ends(run: Run) -> None:
    result = run("list", "problems")
    assert result.exit_code == 0
    for name in ("kernel-ridge", "m-power-rls"):
        assert name in result.stdout
    names = [row["name"] for row in json.loads(run("list", "solvers", "--json").stdout)]
    assert {"clarabel", "ecos", "scs"} <= set(names)


def test_theorems_as_json_have_exactly_the_fields_of_the_design(pretend: None, run: Run) -> None:
    rows = json.loads(run("list", "theorems", "--json").stdout)
    assert rows and all(list(row) == FIELDS for row in rows)
    (refuted,) = [row for row in rows if row["id"] == "PP-refuted"]
    assert refuted["covers"] == ["PP-also"] and refuted["defect"] == "substantive" and refuted["corrects"] is None


@pytest.mark.parametrize("what", ["equivalences", "datasets", "tables"])
def test_other_lists_are_json_objects_with_names(pretend: None, run: Run, what: str) -> None:
    rows = json.loads(run("list", what, "--json").stdout)
    assert rows and all(row["name"] for row in rows)
    table = run("list", what)
    assert table.exit_code == 0 and rows[0]["name"] in table.stdout


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("what", ["problems", "theorems"])
def test_a_line_each_fits_the_screen_and_names_stay_whole(run: Run, monkeypatch: pytest.MonkeyPatch, what: str, width: int) -> None:
    names = [row.get("name") or row["id"] for row in json.loads(run("list", what, "--json").stdout)]
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run("list", what).stdout.splitlines()
    assert len(lines) == len(names) + 3 and all(cell_len(line) <= width for line in lines)
    assert [line.split()[0] for line in lines[2:-1]] == names


def test_theorems_have_titles(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (line,) = [line for line in run("list", "theorems").stdout.splitlines() if line.startswith("AK-Ex.c ")]
    assert line.split(maxsplit=2)[1:] == ["REFUTED", "printed bound of modified ridge".ljust(len(line.split(maxsplit=2)[2]))]


def test_in_a_pipe_nothing_is_cut(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    listed = run("list", "problems").stdout
    assert "…" not in listed and all(row["source"] in listed for row in json.loads(run("list", "problems", "--json").stdout))


def test_datasets_alone_lists_them(run: Run) -> None:
    alone, listed = run("datasets"), run("list", "datasets")
    assert alone.exit_code == 0 and alone.stdout.startswith(listed.stdout) and "datasets fetch" in alone.stdout
    assert json.loads(run("datasets", "--json").stdout) == json.loads(run("list", "datasets", "--json").stdout)


def test_the_shell_can_complete(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    assert "--install-completion" in run("--help").stdout
    words = {"_SIMOPT_COMPLETE": "complete_bash", "COMP_WORDS": "simopt re", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "simopt re"}
    done = subprocess.run([sys.executable, "-c", "import sys; sys.argv = ['simopt']; from simopt.cli.main import main; main()"],
                          capture_output=True, text=True, env=os.environ | words, check=False)  # fmt: skip
    assert {"replay", "recheck", "reproduce"} == set(done.stdout.split()), done.stderr


def completed(line: str) -> set[str]:
    """The completions that bash gets at the end of a line."""
    words = {
        "_SIMOPT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": line,
    }
    done = subprocess.run([sys.executable, "-c", "import sys; sys.argv = ['simopt']; from simopt.cli.main import main; main()"],
                          capture_output=True, text=True, env=os.environ | words, check=False)  # fmt: skip
    assert not done.stderr, done.stderr
    return set(done.stdout.split())


@pytest.mark.thorough
def test_the_shell_completes_names(run: Run) -> None:
    listed = {row["name"] for row in json.loads(run("list", "problems", "--json").stdout)}
    assert completed("simopt solve ") >= listed and completed("simopt compare hinge-") == {n for n in listed if n.startswith("hinge-")}
    assert not completed("simopt solve zz")
    assert completed("simopt solve kernel-ridge --data ab") == {"abalone"} == completed("simopt datasets fetch ab")


def names(run: Run, what: str, key: str = "name") -> set[str]:
    """The names that `simopt list` prints."""
    return {row[key] for row in json.loads(run("list", what, "--json").stdout)}


@pytest.mark.thorough
def test_the_shell_completes_claims_tables_and_all_that_can_be_shown(run: Run) -> None:
    ids, tables, others = names(run, "theorems", "id"), names(run, "tables"), names(run, "equivalences")
    assert completed("simopt verify ") == ids | {"kj", "ak", "kkks", "rmw"}
    assert completed("simopt verify kj --section x RMW-T") == {id for id in ids if id.startswith("RMW-T")} != set()
    assert completed("simopt recheck AK-") == completed("simopt replay AK-") == {id for id in ids if id.startswith("AK-")}
    assert completed("simopt reproduce ") == tables
    shown = completed("simopt show ")
    assert shown >= ids | tables | others | names(run, "problems") | names(run, "datasets") | {"kj"}
    assert all(run("show", name).exit_code == 0 for name in sorted(shown)[::60])


@pytest.mark.thorough
def test_the_shell_completes_the_solvers_of_the_problem(run: Run) -> None:
    rows = {row["name"]: row for row in json.loads(run("list", "problems", "--json").stdout)}
    back_ends = {name for name, problem in listed_solvers(run) if problem == "any"}
    for problem in ("m-power-rls", "kernel-ridge", "hinge-svm"):
        found = completed(f"simopt solve {problem} --data abalone --solver ")
        assert found - back_ends == {*rows[problem]["solvers"], "all"} and "clarabel" in found
    assert completed("simopt compare landmarked-svr --solvers newton,int") == {"newton,interior-point"}
    assert {"svm", "newton", "secular"} <= completed("simopt solve --solver ")  # solvers of any problem, because the line names none


def listed_solvers(run: Run) -> list[tuple[str, str]]:
    return [(row["name"], row["problem"]) for row in json.loads(run("list", "solvers", "--json").stdout)]


def test_conformance_of_nonsense_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "simopt.conformance", "kernel-rigde"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr == "simopt.conformance: unknown problem 'kernel-rigde'; did you mean 'kernel-ridge'?\n"


def test_unknown_list_is_a_usage_error(run: Run) -> None:
    result = run("list", "theories")
    assert result.exit_code == 2 and "theories" in result.stderr


def test_show_claim_by_id_and_by_covered_row(pretend: None, run: Run) -> None:
    for name in ("PP-refuted", "pp-also"):
        shown = run("show", name)
        assert shown.exit_code == 0, shown.output
        for part in ("n² ≤ 3", "Lemma 2", "REFUTED (substantive)", "bound 16; bound = 16", "pretend_paper.py:", "The integers 0 to 4"):
            assert part in shown.stdout


def test_show_says_a_mutant_once(pretend: None, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant whose name says the knob that it changes is printed once; other knobs that it changes follow."""
    from simopt.claims import catalogue

    claim = catalogue.find("PP-refuted")
    monkeypatch.setitem(vars(claim), "mutants", {"bound = 16": {"bound": 16}, "wide": {"bound": 9}})
    mutants = [line.removeprefix("mutant").strip() for line in run("show", "PP-refuted").stdout.splitlines() if line.startswith("mutant")]
    assert mutants == ["bound = 16", "wide; bound = 9"]


def test_show_problem_prints_the_declaration(run: Run) -> None:
    shown = run("show", "kernel-ridge").stdout
    for part in ("minimize", "predictions: f ==", "regularization = ", "variables f", "regularization=0.01"):
        assert part in shown


@pytest.mark.parametrize(
    ("name", "part"), [("ecos", "CVXPY back end"), ("wine-red", "1599 samples"), ("pretend_table", "Numbers of no meaning")]
)
def test_show_other_things(pretend: None, run: Run, name: str, part: str) -> None:
    shown = run("show", name)
    assert shown.exit_code == 0 and part in shown.stdout


def test_show_a_back_end_says_version_licence_and_how_to_install_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from simopt.backends import table

    shown = run("show", "clarabel").stdout
    for part in (version("clarabel"), "Apache-2.0", "pip install clarabel", "kernel-ridge"):
        assert part in shown
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    shown = run("show", "ecos").stdout
    assert "not installed here" in shown and "GPL-3.0" in shown and table.ECOS.to_install in shown


def test_show_paper_by_its_key_and_by_the_prefix_of_its_claims(pretend: None, run: Run) -> None:
    key, prefix = run("show", "kkks"), run("show", "kk")
    assert key.exit_code == 0 and key.stdout == prefix.stdout
    assert "S. Kakade" in key.stdout and "KK-T1" in key.stdout and "kkks-table1" in key.stdout


def test_show_names_the_nearest_thing(run: Run) -> None:
    result = run("show", "kernel-rigde")
    assert result.exit_code == 2 and result.stderr == "simopt: unknown name 'kernel-rigde'; did you mean 'kernel-ridge'?\n"


def test_a_plug_in_that_does_not_import_is_a_row(start: Callable[..., subprocess.Popen[str]], plugins: Path) -> None:
    process = start("list", "theorems", path=plugins)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "PP-proved" in out
    assert "failed to import: broken = broken_plugin (simopt.theorems): RuntimeError: wrong from the start" in out


def test_two_plug_ins_of_one_name_are_one_line_and_the_first_stays(start: Callable[..., subprocess.Popen[str]], plugins: Path) -> None:
    from shutil import copy

    copy(plugins / "pretend_paper.py", plugins / "twin_paper.py")
    points = plugins / "broken-0.1.dist-info" / "entry_points.txt"
    points.write_text(points.read_text().replace("broken_plugin", "twin_paper"))
    process = start("list", "theorems", "--json", path=plugins)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0 and "PP-proved" in out
    assert err.startswith("simopt: ") and "pretend_paper" in err and "twin_paper" in err and err.count("\n") == 1


def test_start_up_is_light() -> None:
    script = "import sys; import simopt.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "cvxpy", "numba", "matplotlib", "sklearn", "joblib"}
    assert not heavy & set(done.stdout.split())


def test_lists_load_neither_cvxpy_nor_numba() -> None:
    script = (
        "import sys; from typer.testing import CliRunner; from simopt.cli.main import app;"
        "[CliRunner().invoke(app, ['list', what]) for what in ('problems', 'solvers', 'theorems', 'tables')]; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"cvxpy", "numba", "matplotlib", "sklearn"} & set(done.stdout.split())


def test_on_a_small_terminal_names_stay_whole(pretend: None, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    from simopt.claims import catalogue

    monkeypatch.setenv("COLUMNS", "80")
    lines = run("list", "theorems").stdout.splitlines()
    assert max(map(cell_len, lines)) <= 80  # a combining accent has no width
    first = {line.split()[0] for line in lines if line.split()}
    assert {claim.id for claim in catalogue.claims()} <= first and "corrects" not in lines[0]


def test_unexpected_exceptions_keep_their_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from simopt.cli import list as listing

    def broken(what: str) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(listing, "rows", broken)
    assert isinstance(run("list", "datasets").exception, ZeroDivisionError)


def test_tables_fold_nothing_and_read_no_markup() -> None:
    made = table(("a", "b"), [("[bold]x[/bold]", "1")], right=("b",))
    assert [column.justify for column in made.columns] == ["left", "right"]


def test_a_table_too_wide_for_the_screen_lies_on_its_side() -> None:
    from rich.console import Console

    from simopt.cli.console import fitted

    headings, rows = ("solver", "status", "lower", ""), [[f"solver-{i}", "OPTIMAL", f"{i}.000000001", ""] for i in range(5)]
    wide, narrow = Console(width=200, record=True, file=io.StringIO()), Console(width=30, record=True, file=io.StringIO())
    assert len(fitted(headings, rows, out=wide)) == 1
    for made in fitted(headings, rows, out=narrow):
        narrow.print(made)
    shown = narrow.export_text()
    for name, _, lower, _ in rows:
        assert name in shown and lower in shown  # in one piece
    lines = [line.split() for line in shown.splitlines() if line.strip()]
    assert [line[0] for line in lines].count("solver") > 1 and max(map(len, shown.splitlines())) <= 30
    assert not any(line[0] == "note" for line in lines)  # the empty heading and its empty column are not printed
