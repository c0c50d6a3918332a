"""`simopt equivalence`: the answer in one line, the map as a table, one map for several samples, pictures, files, exit statuses."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click import Command, Context
from typer.testing import Result

from simopt.core import jsonio, registry
from simopt.equivalence.decide import decide
from simopt.equivalence.decision_record import recalled
from simopt.equivalence.picture import draw
from simopt.equivalence.samples import sample_for, synthetic
from simopt.theorems.ak.families import kernel_ridge, kernel_ridge_over_n

Run = Callable[..., Result]

MINE = """
import numpy as np

from simopt.equivalence.family import Family
from simopt.theorems.ak.families import kernel_ridge

ridge = kernel_ridge()


def aside(lam, Z):
    f, step = ridge(lam, Z), Z.function(np.cos(np.arange(Z.n)))
    return Z.function(f.coefficients + 1e-6 * f.norm() / step.norm() * step.coefficients, error=f.error)


def nearly():
    return Family("nearly ridge", aside)


made = Family("ridge of its own", lambda lam, Z: ridge(lam, Z))
number, no_function = 3, Family("no function", lambda lam, Z: np.zeros(Z.n))
no_interval = Family("no interval", lambda lam, Z: ridge(lam, Z), lambda Z: (0.0, 1.0))


def needs(power):
    return made


def broken():
    raise RuntimeError("two\\nlines")


def partly(wrong, at=5.0):
    return Family("partly", lambda lam, Z: ridge(lam, Z) if lam < at else wrong(Z))


no_entry = partly(lambda Z: [][3])
none = partly(lambda Z: None)
nan = partly(lambda Z: Z.function(np.full(Z.n, np.nan)))
singular = partly(lambda Z: np.linalg.inv(np.zeros((2, 2))))
nowhere = Family("nowhere", lambda lam, Z: ridge(lam, Z), lambda Z: 1 / 0)
two_arguments = Family("two", lambda lam: ridge)


def slow():
    import time

    def fit(lam, Z):
        print("begun", flush=True)
        time.sleep(0.2)
        return ridge(lam, Z)

    return Family("slow", fit)
"""


SPOILT = {
    "boom.py": "made = 3\nraise ValueError('no data')\n",
    "syntax.py": "made = (\n",
    "imports.py": "import nothing_of_this_name\n",
    "leaves.py": "raise SystemExit(3)\n",
}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    for name, text in SPOILT.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    x = np.random.default_rng(1).normal(size=(40, 2))
    path = tmp_path / "small.csv"
    np.savetxt(path, np.column_stack([np.sin(x[:, 0]) + 0.1 * x[:, 1], x]), delimiter=",", header="y,first,second", comments="")
    return path


def test_two_powers_are_one_learner(run: Run) -> None:
    result = run("equivalence", "m-power-rls[power=1.5]", "kernel_ridge", "--lambda", "0.01,1")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("weakly equivalent on this sample") and "2 of 2 λ" in lines[0]
    assert "strictly increasing" in result.stdout and "synthetic" in result.stdout
    assert sum(line.rstrip().endswith("found") for line in lines) == 4
    assert run("equivalence", "hinge-svm", "mean-penalised", "--lambda", "0.01").stdout.startswith(
        "not weakly equivalent on this sample: at λ"
    )


def test_the_answer_is_one_line_on_a_narrow_screen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    result = run("equivalence", "mean-ball", "mean-penalised", "--lambda", "1")
    assert result.stdout.splitlines()[0] == "weakly equivalent on this sample, to 1e-08: Φ found at 1 of 1 λ, and back at 1 of 1 μ"


def test_json_is_complete_and_comes_back(run: Run, csv: Path, tmp_path: Path) -> None:
    arguments = ["equivalence", "kernel-ridge", "kernel-ridge-ball", "--data", csv, "--target", "y", "--samples", "15", "--json"]
    result = run(*arguments, "--output", "out.json")
    assert result.exit_code == 1, result.output  # balls beyond the least-squares fit stand still
    found = json.loads(result.stdout)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == found
    assert found["answer"] == "undecided" and found["samples"] == 15 and found["data"]["name"] == "small.csv"
    assert any("15 of 40 rows" in remark for remark in found["data"]["remarks"])
    decision = recalled(found)
    assert decision.sentence == found["sentence"] and jsonio.plain(decision.forward) == found["forward"]
    assert len(found["forward"]) == found["wanted"][0] and found["forward"][0]["low"] <= found["forward"][0]["value"]


def test_strong(run: Run) -> None:
    arguments = ("equivalence", "kernel-ridge", "kernel-ridge-over-n", "--lambda", "0.1", "--strong")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    first, second = result.stdout.splitlines()[:2]
    assert first.startswith("weakly equivalent") and second.startswith("not strongly equivalent: at λ = 0.1 sample")
    assert "among the samples of size 12: holds" in result.stdout
    found = json.loads(run(*arguments, "--json").stdout)["strong"]
    (witness,) = found["witnesses"]
    one, two = (found["sets"][witness[name]] for name in ("one", "two"))
    assert len(one["targets"]) != len(two["targets"]) and found["among_one_size"] == "holds"
    same = run("equivalence", "kernel-ridge-ball", "m-power-rls-ball[power=2.5]", "--lambda", "0.5", "--strong")
    assert same.stdout.splitlines()[1].startswith("strongly equivalent among these 6 samples"), same.output


def test_families_of_a_file(run: Run, mine: Path) -> None:
    result = run("equivalence", "kernel-ridge", "mine.py:made", "--lambda", "0.1")
    assert result.exit_code == 0 and "ridge of its own" in result.stdout, result.output
    nearly = run("equivalence", "mine.py:nearly", "mine.py:made", "--lambda", "0.1")
    assert nearly.exit_code == 0 and nearly.stdout.startswith("not weakly equivalent"), nearly.output


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures_are_the_same_each_time(run: Run, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    made = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.{ending}"
        assert run("equivalence", "mean-ball", "mean-penalised", "--lambda", "0.1,1,10", "--plot", path).exit_code == 0
        made.append(path.read_bytes())
    assert made[0] == made[1] and len(made[0]) > 10_000


def test_pictures_of_one_parameter_and_of_none_found(run: Run, mine: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name, pair in (("one.pdf", ("mine.py:made", "kernel-ridge")), ("two.PNG", ("mine.py:nearly", "kernel-ridge"))):
        assert run("equivalence", *pair, "--lambda", "0.1", "--plot", tmp_path / name).exit_code == 0
        assert (tmp_path / name).stat().st_size > 5_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kernel-rigde", "kernel-ridge"), "did you mean 'kernel-ridge'"),
        (("m-power-rls[pover=2]", "kernel-ridge"), "'power'"),
        (("m-power-rls[power=0.5]", "kernel-ridge"), "m > 1"),
        (("m-power-rls[power=two]", "kernel-ridge"), "power"),
        (("m-power-rls[power", "kernel-ridge"), "m-power-rls[power=1.5]"),
        (("kernel-ridge", "mine.py:number"), "a Family, or a function without arguments"),
        (("kernel-ridge", "mine.py:needs"), "power"),
        (("kernel-ridge", "mine.py:nerly"), "'nearly'"),
        (("kernel-ridge", "none.py:made"), "none.py"),
        (("kernel-ridge", "mine.py:no_function"), "Z.function(coefficients"),
        (("kernel-ridge", "mine.py:no_interval"), "an Interval needed"),
        (("kernel-ridge", "mine.py:made", "--lambda", "0.1,-1"), "-1 (index 1)"),
        (("kernel-ridge", "mine.py:made", "--lambda", "a"), "--lambda"),
        (("kernel-ridge", "mine.py:made", "--resolution", "2"), "resolution"),
        (("kernel-ridge", "mine.py:made", "--samples", "1"), "samples"),
        (("kernel-ridge", "mine.py:made", "--samples", "0"), "samples"),
        (("kernel-ridge", "mine.py:made", "--lambda", "nan"), "--lambda"),
        (("kernel-ridge", "mine.py:made", "--similarity", "gausian"), "'gaussian'"),
        (("kernel-ridge", "mine.py:made", "--data", "abalon"), "'abalone'"),
        (("kernel-ridge", "mine.py:made", "--data", "x.npz"), ".csv"),
        (("mean-ball", "mine.py:made", "--targets", "real"), "labels"),
        (("kernel-ridge", "mine.py:made", "--plot", "p.gif"), ".png"),
        (("kernel-ridge",), "or --all"),
        (("kernel-ridge", "mine.py:made", "--all"), "leave A, B"),
        (("--all", "--strong"), "leave A, B"),
        (("kernel-ridge", "mine.py:made", "--jobs", "2"), "only with --all"),
        (("--all", "--lambda", "1"), "leave A, B"),
        (("--all", "--data", "nothing"), "leave A, B"),
        (("--all", "--resolution", "1e-3"), "leave A, B"),
        (("kernel-ridge", "mine.py:broken"), "RuntimeError"),
        (("mine.py:no_entry", "kernel-ridge", "--lambda", "10"), "its fit at 10 raised IndexError in line"),
        (("kernel-ridge", "mine.py:no_entry", "--lambda", "10"), "raise ArithmeticError where"),
        (("mine.py:none", "kernel-ridge", "--lambda", "10"), "its fit at 10 gives NoneType"),
        (("kernel-ridge", "mine.py:nowhere"), "its domain raised ZeroDivisionError"),
        (("kernel-ridge", "mine.py:two_arguments"), "raised TypeError"),
        (("boom.py:made", "kernel-ridge"), "cannot be imported: ValueError: no data (boom.py, line 2)"),
        (("syntax.py:made", "kernel-ridge"), "cannot be imported: SyntaxError: "),
        (("imports.py:made", "kernel-ridge"), "imports.py: No module named 'nothing_of_this_name'; install it"),
        (("leaves.py:made", "kernel-ridge"), "cannot be imported: SystemExit: 3 (leaves.py, line 1)"),
        (("kernel-ridge", "mine.py:made", "--output", "no/folder/x.json"), "no/folder"),
    ],
)
def test_bad_input_is_told_with_the_remedy(run: Run, mine: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run("equivalence", *arguments)
    assert result.exit_code == 2 and message in result.stderr, result.output
    assert len(result.stderr.splitlines()) == 1 and not result.stdout


@pytest.mark.parametrize("name", ["nan", "singular"])
def test_a_fit_that_gives_no_function_leaves_its_parameter_open(run: Run, mine: Path, name: str) -> None:
    """And is no reason to lose the rest."""
    result = run("equivalence", f"mine.py:{name}", "kernel-ridge", "--lambda", "1,10", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1 and [row["outcome"] for row in found["forward"]] == ["found", "undecided"]
    assert "could not be computed" in found["reason"] and "10" in found["reason"]


def test_all_measures_every_pair(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from simopt.equivalence import matrix as home

    monkeypatch.setattr(home, "matrix", partial(home.matrix, ["kernel-ridge", "m-power-rls", "mean-ball"]))
    shown = run("equivalence", "--all", "--output", tmp_path / "all.json")
    assert shown.exit_code == 0 and "weak" in shown.stdout and "m-power-rls-to-kernel-ridge: holds" in shown.stdout
    found = json.loads((tmp_path / "all.json").read_text())
    assert found == json.loads(run("equivalence", "--all", "--json").stdout)
    words = {(pair["source"], pair["target"]): pair["word"] for pair in found["pairs"]}
    assert words["kernel-ridge", "m-power-rls"] == "weak" and words["mean-ball", "kernel-ridge"] == "no" and len(words) == 6


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_shows_what_is_done(start: Callable[..., "subprocess.Popen[str]"], mine: Path) -> None:
    process = start("equivalence", "mine.py:slow", "kernel-ridge", "--json")
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[2/"):
            break
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    found = json.loads(out)
    assert found["answer"] == "undecided" and 2 <= len(found["forward"]) < 9 and found["wanted"] == [9, 9]


def test_the_shell_completes_every_family() -> None:
    """Read from sources, without imports: also those that problems with two forms give."""
    from simopt.cli import completion

    registry.load("theorems")
    assert set(completion.families(Context(Command("equivalence")), "")) >= set(registry.names("family"))


def test_a_picture_has_a_panel_of_the_map_of_the_norms_and_of_the_distances() -> None:
    pytest.importorskip("matplotlib")
    Z = sample_for([], synthetic(6)).Z
    figure = draw(decide(kernel_ridge(), kernel_ridge_over_n(), Z, [0.1, 1.0]))
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels[0].startswith("μ of ") and labels[1:3] == ["norm", "relative"] and all(axes.get_lines() for axes in figure.axes[:3])
    assert any("distance, " in str(line.get_label()) for line in figure.axes[2].get_lines())


def test_the_defaults_of_the_command_are_those_of_its_functions() -> None:
    from simopt.cli import equivalence as command
    from simopt.data.similarities.defaults import DEFAULT_KERNEL
    from simopt.equivalence import map_search

    assert (command.SIMILARITY, command.RESOLUTION) == (DEFAULT_KERNEL, map_search.RESOLUTION)
