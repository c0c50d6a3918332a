"""The exported benchmark, run and tested by benchopt itself, offline."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from simopt.compare.benchopt_export import export_benchopt
from simopt.core.errors import InvalidProblem

needs_benchopt = pytest.mark.skipif(importlib.util.find_spec("benchopt") is None, reason="benchopt is not installed (pip install benchopt)")


def benchopt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`benchopt …` of this environment, inside the benchmark; what it calls (pytest) is of this environment, too."""
    here = Path(sys.executable).parent
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
    command = [sys.executable, "-m", "benchopt", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=400, check=False)


@pytest.fixture
def benchmark_folder(tmp_path: Path, csv: Path) -> Path:
    """Two data sets, a solver of ours, one with an option, and a back end."""
    solvers = ["newton", ("clarabel", {"max_iter": 100})]
    return export_benchopt(
        tmp_path / "bench", "landmarked-svr", solvers, data=[csv], target="y", sizes=[40], settings={"landmarks": 5}, tol=1e-6
    )


@pytest.mark.slow
@needs_benchopt
def test_benchopt_tests_it(benchmark_folder: Path) -> None:
    done = benchopt(benchmark_folder, "test", ".", "--skip-install")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " passed" in done.stdout and " failed" not in done.stdout


@pytest.mark.slow
@needs_benchopt
def test_benchopt_runs_it_to_the_certified_gap(benchmark_folder: Path) -> None:
    import pandas as pd

    done = benchopt(benchmark_folder, "run", ".", "-n", "30", "-r", "1", "--no-plot", "--no-html")
    assert done.returncode == 0 and "error" not in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
    (path,) = (benchmark_folder / "outputs").glob("*.parquet")
    found = pd.read_parquet(path)
    last = found.sort_values("stop_val").groupby("solver_name")["objective_value"].min()
    assert len(last) == 2 and (last <= 1e-6).all()
    brackets = found[found["objective_value"] < 1e29]
    assert brackets["objective_lower"].max() <= brackets["objective_upper"].min() + 1e-9, "all points bracket one optimum"
    assert set(found["sampling_strategy"].str.lower()) == {"iteration", "tolerance"}, "benchopt calls what goes by callbacks iterations"


def test_all_files_compile_and_own_data_travel(benchmark_folder: Path, csv: Path) -> None:
    files = sorted(path.relative_to(benchmark_folder).as_posix() for path in benchmark_folder.rglob("*.py"))
    solvers = ["solvers/clarabel_max_iter_100.py", "solvers/newton.py"]
    assert files == ["benchmark_utils/__init__.py", "datasets/simopt.py", "objective.py", *solvers]
    for name in files:
        compile((benchmark_folder / name).read_text(), name, "exec")
    assert (benchmark_folder / "csv" / "small.csv").read_bytes() == csv.read_bytes()


def test_two_files_of_one_name_do_not_overwrite_each_other(tmp_path: Path, csv: Path) -> None:
    other = tmp_path / "other" / csv.name
    other.parent.mkdir()
    other.write_text(csv.read_text().replace("1.", "2."))
    with pytest.raises(InvalidProblem, match=r"two data files are called small\.csv"):
        export_benchopt(tmp_path / "b", "landmarked-svr", ["newton"], data=[csv, other], target="y")
    assert not (tmp_path / "b").exists()


def test_what_has_no_name_cannot_be_exported(tmp_path: Path) -> None:
    import numpy as np

    from simopt.data.datasets import friedman

    with pytest.raises(InvalidProblem, match="has no name"):
        export_benchopt(tmp_path / "b", "landmarked-svr", data=[friedman(np.random.default_rng(0), n=20)])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    with pytest.raises(InvalidProblem, match="not empty"):
        export_benchopt(tmp_path / "full", "landmarked-svr")


OWN = """
import cvxpy as cp
import numpy as np

def portfolio(n):
    mu, w = np.random.default_rng().uniform(0, 0.3, n), cp.Variable(n)
    return cp.Problem(cp.Maximize(mu @ w - cp.sum_squares(w) / 2), [cp.sum(w) == 1, w >= 0])
"""
FILE = "ROWS\n N c\n G r\nCOLUMNS\n x c 1 r 3\n y c 2 r 1\nRHS\n b r 1\nQUADOBJ\n x x 2\nENDATA\n"


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The benchmark of problems that a function draws, and of a file, by two back ends and one that takes only one of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "diet.qps").write_text(FILE)
    what = ["own.py:portfolio(n=[6, 9])", "diet.qps"]
    folder = export_benchopt(tmp_path / "bench", what, ["clarabel", ("scs", {"max_iter": 5000})], tol=1e-6)
    (tmp_path / "own.py").unlink()
    (tmp_path / "diet.qps").unlink()
    return folder


def test_own_problems_travel_as_they_are(own_folder: Path) -> None:
    """They are in the folder, and the same each time although the function draws others at each call."""
    import pickle

    from simopt.compare.own_problems import OwnProblem

    for path in own_folder.rglob("*.py"):
        compile(path.read_text(), path.name, "exec")
    problems = [pickle.loads(path.read_bytes()) for path in sorted(own_folder.glob("problems/*.pickle"))]
    assert all(isinstance(each, OwnProblem) for each in problems)
    assert [each.problem.variables()[0].size for each in problems] == [6, 9, 2]
    dataset = (own_folder / "datasets" / "simopt.py").read_text()
    assert "own.py:portfolio, n = 6" in dataset and "diet.qps" in dataset


def test_a_benchmark_is_of_the_catalogue_or_of_own_problems(tmp_path: Path) -> None:
    (tmp_path / "diet.qps").write_text(FILE)
    with pytest.raises(InvalidProblem, match="one problem of the catalogue, or of your own ones"):
        export_benchopt(tmp_path / "b", [str(tmp_path / "diet.qps"), "kernel-ridge"], ["clarabel"])
    assert not (tmp_path / "b").exists()


@pytest.mark.thorough
@needs_benchopt
def test_benchopt_runs_own_problems_to_the_certified_gap(own_folder: Path) -> None:
    import pandas as pd

    done = benchopt(own_folder, "run", ".", "-n", "30", "-r", "1", "--no-plot", "--no-html")
    assert done.returncode == 0 and "error" not in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
    (path,) = (own_folder / "outputs").glob("*.parquet")
    found = pd.read_parquet(path)
    last = found.sort_values("stop_val").groupby(["dataset_name", "solver_name"])["objective_value"].min()
    assert len(last) == 6 and (last <= 1e-6).all(), last
