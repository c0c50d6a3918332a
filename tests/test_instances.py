"""MPS and QPS files of the benchmark `price`: every kind of row and bound, to the number, and the problem that CVXPY gets of them."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import ModuleType

import cvxpy as cp
import numpy as np
import pytest

from simopt.core.errors import InvalidProblem, NotAvailable

ROOT = Path(__file__).resolve().parents[1]
INF = np.inf
LINEAR = """NAME          KINDS
OBJSENSE
    MAX
ROWS
 N  profit
 N  unused
 G  above
 L  below
 E  equal
 E  risen
 E  sunk
COLUMNS
    x  profit  1.5  unused  7
    x  above  1  below  2
    x  equal  1
    y  profit  -2  above  1
    y  below  1  equal  -1
    z  profit  -0.25  risen  3
    w  sunk  1e-10  above  1
    v  above  2
RHS
    b  profit  10  above  1
    b  below  8  equal  2
    b  risen  5  sunk  -1
RANGES
    r  above  4  below  3
    r  risen  2.5  sunk  -1.5
BOUNDS
 UP b  x  4
 UP b  y  -3
 FR b  z
 FX b  w  2.5
 MI b  v
 UP b  v  -0.5
ENDATA
"""
QUADRATIC = """NAME          SQUARES
ROWS
 N  cost
 G  above
COLUMNS
    x  cost  1  above  1
    y  cost  -2  above  1
    z  above  -3
RHS
    b  cost  -0.5  above  1
BOUNDS
 FR b  y
QUADOBJ
    x  x  8
    x  y  2
    y  y  10
ENDATA
"""


@pytest.fixture
def instances(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.price import instances

    return instances


def written(folder: Path, name: str, text: str) -> Path:
    """The file, packed where its name says so."""
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["kinds.mps", "kinds.mps.gz"])
def test_rows_and_bounds_of_every_kind(instances: ModuleType, tmp_path: Path, name: str) -> None:
    """Free rows are none; a range widens a row, of an equation to the side of its sign; a negative upper bound frees the lower one."""
    found = instances.read(written(tmp_path, name, LINEAR))
    assert found.maximises and found.offset == -10.0 and found.quadratic.nnz == 0
    assert found.cost.tolist() == [1.5, -2.0, -0.25, 0.0, 0.0]
    rows = [[1, 1, 0, 1, 2], [2, 1, 0, 0, 0], [1, -1, 0, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 1e-10, 0]]
    assert found.matrix.toarray().tolist() == rows
    assert [x.tolist() for x in found.rows] == [[1.0, 5.0, 2.0, 5.0, -2.5], [5.0, 8.0, 2.0, 7.5, -1.0]]
    assert [x.tolist() for x in found.columns] == [[0.0, -INF, -INF, 2.5, -INF], [4.0, -3.0, INF, 2.5, -0.5]]


def test_the_problem_has_each_bound_in_a_row_once(instances: ModuleType, tmp_path: Path) -> None:
    found = instances.read(written(tmp_path, "kinds.mps", LINEAR))
    problem = found.problem()
    assert isinstance(problem.objective, cp.Maximize)
    (x,) = problem.variables()
    x.value = np.array([3.0, -4.0, 2.0, 2.0, -1.0])
    assert problem.objective.value == 1.5 * 3 + 2 * 4 - 0.25 * 2 - 10
    sides = [(type(row).__name__, np.round(row.args[0].value - row.args[1].value, 12).tolist()) for row in problem.constraints]
    assert sides == [
        ("Equality", [5.0]),  # x − y = 2
        ("Inequality", [1.0 - (3 - 4 + 2 - 2), 5.0 - 2.0, 5.0 - 6.0, -2.5 - 2e-10]),  # l ≤ A x, of above, below, risen and sunk
        ("Inequality", [-1.0 - 5.0, 2.0 - 8.0, 6.0 - 7.5, 1.0 + 2e-10]),
        ("Equality", [2.0 - 2.5]),  # w
        ("Inequality", [-3.0]),  # 0 ≤ x
        ("Inequality", [3.0 - 4.0, -4.0 + 3.0, -1.0 + 0.5]),  # x, y, v
    ]


def test_the_quadratic_part_is_half_of_the_symmetric_matrix(instances: ModuleType, tmp_path: Path) -> None:
    found = instances.read(written(tmp_path, "squares.qps.gz", QUADRATIC))
    assert not found.maximises and found.offset == 0.5
    assert found.quadratic.toarray().tolist() == [[8.0, 2.0, 0.0], [2.0, 10.0, 0.0], [0.0, 0.0, 0.0]]
    problem = found.problem()
    assert problem.is_dcp()
    (x,) = problem.variables()
    x.value = np.array([1.0, 2.0, 3.0])
    assert problem.objective.value == 0.5 + 1 - 2 * 2 + (8 * 1 + 2 * 2 * 1 * 2 + 10 * 4) / 2


def test_a_maximum_has_a_concave_quadratic_part(instances: ModuleType, tmp_path: Path) -> None:
    text = QUADRATIC.replace("ROWS", "OBJSENSE\n    MAX\nROWS", 1).replace("  8\n", "  -8\n").replace("  10\n", "  -10\n")
    problem = instances.read(written(tmp_path, "squares.qps", text)).problem()
    assert isinstance(problem.objective, cp.Maximize) and problem.is_dcp()
    (x,) = problem.variables()
    x.value = np.array([1.0, 2.0, 3.0])
    assert problem.objective.value == 0.5 + 1 - 2 * 2 + (-8 * 1 + 2 * 2 * 1 * 2 - 10 * 4) / 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ROWS\n N cost\n G above\nCOLUMNS\n    x  nowhere  1\nRHS\n", "HiGHS cannot read it"),
        (
            LINEAR.replace("    x  profit", "    M  'MARKER'  'INTORG'\n    x  profit").replace(
                "RHS\n", "    M  'MARKER'  'INTEND'\nRHS\n"
            ),
            "integers",
        ),
    ],
)
def test_what_is_refused(instances: ModuleType, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidProblem, match=f"bad.mps: .*{message}"):
        instances.read(written(tmp_path, "bad.mps", text))


def test_the_folder_is_named_by_the_user(instances: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMOPT_INSTANCES", raising=False)
    with pytest.raises(NotAvailable, match=r"SIMOPT_INSTANCES is not set; set SIMOPT_INSTANCES to a folder with lp/\*.mps.gz"):
        instances.files("lp")
    monkeypatch.setenv("SIMOPT_INSTANCES", str(tmp_path))
    (tmp_path / "qp").mkdir()
    with pytest.raises(NotAvailable, match=r"SIMOPT_INSTANCES=.*: no qp/\*.qps.gz there; set SIMOPT_INSTANCES to a folder with qp/"):
        instances.files("qp")
    large, small = (written(tmp_path / "qp", f"{name}.qps.gz", text) for name, text in (("a", LINEAR), ("b", QUADRATIC)))
    written(tmp_path / "qp", "c.qps", QUADRATIC)
    assert instances.files("qp") == [small, large]
