"""A separate package, of a problem, a solver, a back end, a similarity and a claim: installed, found by entry points, held to one suite."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simopt.backends import table

pytestmark = pytest.mark.thorough
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip has installed the package (from a copy, so that nothing is built in the tree)."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(HERE / "simopt_example", folder / "source" / "simopt_example", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "pyproject.toml", folder / "source")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    options = ["--no-build-isolation", "--target", str(folder / "site"), str(folder / "source")]
    done = subprocess.run(command + options, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def python(installed: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(installed)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=folder, timeout=300)


def test_entry_points_are_found(installed: Path, tmp_path: Path) -> None:
    script = """
from simopt.core import registry
from simopt.solving.driver import choose
registry.load()
cls = registry.get("problem", "quantile_regression")
print(cls.__module__, registry.module_of("claim", "KB-norm"), choose(cls, None).name, [row.source for row in registry.failures()])
"""
    done = python(installed, "-c", script, folder=tmp_path)
    assert done.stdout == "simopt_example.quantile_regression simopt_example.theorems coordinate-ascent []\n", done.stderr


def test_the_package_conforms(installed: Path, tmp_path: Path) -> None:
    done = python(installed, "-m", "simopt.conformance", "quantile-regression", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert " 0 failed" in last and all(
        f"{name} " in last for name in (*(backend.name for backend in table.installed()), "coordinate-ascent")
    )


@pytest.mark.thorough
def test_its_back_end_takes_declarations_and_is_judged_like_any_other(installed: Path, tmp_path: Path) -> None:
    script = """
import cvxpy as cp, numpy as np, simopt
from simopt.core import registry
from simopt.backends import table
from simopt_example.quantile_regression import QuantileRegression
for example in QuantileRegression.examples(np.random.default_rng(0)):
    own, other = (simopt.solve(example.problem, name, tol=1e-6) for name in ("dense_interior_point", "clarabel"))
    assert own.optimal and other.optimal and own.provenance.iterations > 0, (example.name, own)
    assert own.certificate.lower <= other.certificate.upper and other.certificate.lower <= own.certificate.upper
problem = next(iter(QuantileRegression.examples(np.random.default_rng(0)))).problem
stopped = simopt.solve(problem, "dense-interior-point", max_iter=2)
loose = simopt.solve(problem, "dense-interior-point", tol=1e-10, max_iter=50)
x = cp.Variable(2, name="x")
least = cp.Problem(cp.Minimize(cp.sum_squares(x - [1.0, 2.0])), [x <= 1])
print(stopped.status.name, loose.status.name, simopt.solve(least, "dense-interior-point").status.name, round(least.value, 6))
print(simopt.solve(cp.Problem(cp.Minimize(cp.norm(x - 1)), [cp.sum(x) == 1]), "dense-interior-point").status.name)
"""
    done = python(installed, "-c", script, folder=tmp_path)
    assert done.stdout == "ITERATION_LIMIT OPTIMAL OPTIMAL 1.0\nUNSUPPORTED\n", done.stdout + done.stderr
    command = ["compare", "quantile-regression", "--solvers", "dense-interior-point,clarabel", "--sizes", "20", "--repetitions", "1"]
    compared = python(installed, "-m", "simopt", *command, folder=tmp_path)
    assert compared.returncode == 0 and "dense-interior-point" in compared.stdout, compared.stdout + compared.stderr
    shown = python(installed, "-m", "simopt", "list", "solvers", "--json", folder=tmp_path)
    assert '"dense-interior-point"' in shown.stdout, shown.stderr


def test_its_claim_is_verified_and_its_mutant_caught(installed: Path, tmp_path: Path) -> None:
    script = """
from simopt.claims.verification import verify
if __name__ == "__main__":
    record = verify(["KB-norm"], jobs=1, mutants=True, evidence_dir=None)
    row = record.rows[0]
    print(record.exit_ok, row["verdict"], row["tightness"] > 0.99)
"""
    done = python(installed, "-c", script, folder=tmp_path)
    assert done.stdout.endswith("True HOLDS True\n"), done.stdout + done.stderr


def test_its_recipe_solves_a_data_set(installed: Path, tmp_path: Path) -> None:
    script = """
import numpy as np, simopt
from simopt.data.datasets import friedman
from simopt_example.quantile_regression import QuantileRegression
rng = np.random.default_rng(0)
data = friedman(rng, 60)
problem = QuantileRegression.from_data(data, rng, level=0.9)
solutions = [simopt.solve(problem, name, tol=1e-6, rigorous=True) for name in ("coordinate-ascent", "clarabel")]
print(*(s.status.name + " " + s.certificate.arithmetic for s in solutions))
def covered(level):
    problem = QuantileRegression.from_data(data, rng, level=level)
    return np.mean(problem.targets <= problem.features @ simopt.solve(problem, "clarabel").point["w"])
print(covered(0.1) < covered(0.5) < covered(0.9))
"""
    done = python(installed, "-c", script, folder=tmp_path)
    assert done.stdout == "OPTIMAL interval OPTIMAL interval\nTrue\n", done.stdout + done.stderr


def test_its_similarity_is_known_by_name(installed: Path, tmp_path: Path) -> None:
    script = """
from simopt.data.datasets import friedman
from simopt.data.similarities import add_similarity, named
from simopt.estimators import LandmarkedSVRegressor
from simopt.core.registry import DuplicateName
import numpy as np
data = friedman(np.random.default_rng(0), 60)
model = LandmarkedSVRegressor(similarity="overlap", landmarks=10, random_state=0).fit(data.features, data.targets)
print(type(model.landmark_map_.similarity).__module__, model.certificate_.closes(1e-6), named("Overlap", data.features))
for name in ("overlap", "Gaussian"):
    try:
        add_similarity(name, lambda X, weights: None)
    except DuplicateName as error:
        print(error)
add_similarity("none", lambda X, weights: None)
for wrong in (lambda: named("overlop", data.features), lambda: named("none", data.features), lambda: add_similarity(7, "gaussian")):
    try:
        wrong()
    except ValueError as error:
        print(error)
"""
    done = python(installed, "-c", script, folder=tmp_path)
    assert done.stdout.splitlines() == [
        "simopt_example.overlap True Overlap()",
        "similarity 'overlap' is registered twice: by simopt_example.overlap and by __main__; rename one of them",
        "similarity 'Gaussian', of __main__, has the name of one that simopt knows; rename it",
        "unknown similarity 'overlop'; did you mean 'overlap'?",
        "similarity 'none': its rule gives None; a Similarity needed",
        "similarity 7: a name and a rule needed, rule(X, weights), not 'gaussian'",
    ], done.stderr
    command = ["solve", "landmarked-svr", "--data", "friedman", "--set", "samples=60", "--set", "similarity=overlap"]
    solved = python(installed, "-m", "simopt", *command, folder=tmp_path)
    assert solved.returncode == 0 and "OPTIMAL" in solved.stdout, solved.stderr


def test_the_tree_is_left_alone(installed: Path) -> None:
    assert not list(HERE.glob("build")) and not list(HERE.glob("*.egg-info"))
