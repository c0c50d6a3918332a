"""What is written is read again: numbers to the last bit, the same optimum; what a format does not hold is refused by name."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import simopt
from simopt.files import cbf, cbf_text, content, mps, mps_text
from simopt.files.canonical import canonical
from simopt.files.names import file_names

RNG = np.random.default_rng(0)
MATRIX, VECTOR = RNG.normal(size=(4, 3)), RNG.normal(size=4)


def problems() -> dict[str, cp.Problem]:
    x, z, b = cp.Variable(3, name="x"), cp.Variable(2, integer=True, name="z"), cp.Variable(2, boolean=True, name="b")
    X, w = cp.Variable((2, 2), PSD=True, name="X"), cp.Variable(2, complex=True, name="w")
    p = cp.Parameter(nonneg=True, value=0.3)
    return {
        "linear": cp.Problem(cp.Maximize(MATRIX[0] @ x + 3), [cp.norm1(x) <= 1, x[0] == 0.1]),
        "bounds": cp.Problem(cp.Minimize(MATRIX[1] @ x), [cp.norm_inf(x - 0.1) <= 0.7]),
        "quadratic": cp.Problem(cp.Minimize(cp.sum_squares(MATRIX @ x - VECTOR) + p * cp.sum(x) + 0.3), [x <= 0.25]),
        "concave": cp.Problem(cp.Maximize(1 - cp.sum_squares(MATRIX @ x - VECTOR)), [x <= 0.25]),
        "integers": cp.Problem(
            cp.Maximize(np.array([1.5, 2]) @ b - z[0] + z[1]), [cp.sum(b) <= 1.5, z[0] >= -2.5, z[1] <= 3.2, cp.sum(z) == 0]
        ),
        "norm": cp.Problem(cp.Minimize(cp.norm(x - 1)), [cp.sum(x) == 1]),
        "matrix": cp.Problem(cp.Maximize(X[0, 1]), [cp.trace(X) == 1, X[0, 0] >= 0.7]),
        "determinant": cp.Problem(cp.Maximize(cp.log_det(X)), [cp.trace(X) == 1, X[0, 1] == 0.1]),
        "exponential": cp.Problem(cp.Minimize(cp.exp(x[0]) + cp.logistic(x[1] - x[0]) - x[1] / 2), [cp.abs(x) <= 3]),
        "power": cp.Problem(cp.Minimize(x[2]), [cp.PowCone3D(x[0], x[1], -x[2], 0.3), x[0] <= 2, x[1] <= 1]),
        "complex": cp.Problem(cp.Minimize(cp.norm(w - 1j)), [cp.real(w) >= 1]),
        "no rows": cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + 2)),
    }


LINEAR, SQUARES = {"linear", "bounds", "integers"}, {"quadratic", "concave", "no rows"}


@pytest.mark.parametrize("ending", [".mps", ".qps.gz", ".cbf"])
@pytest.mark.parametrize("name", problems())
def test_the_optimum_is_the_same(tmp_path: Path, name: str, ending: str) -> None:
    problem, path = problems()[name], tmp_path / f"p{ending}"
    if ending != ".cbf" and name not in LINEAR | (SQUARES if ending == ".qps.gz" else set()):
        with pytest.raises(simopt.InvalidProblem, match=r"^problem: (needs|has) .*, which .[mq]ps files do not hold; write a "):
            simopt.write(problem, path)
        assert not path.exists()
        return
    simopt.write(problem, path)
    again = simopt.read(path)
    assert type(again.objective) is type(problem.objective)
    value = problem.solve()
    assert again.solve() == pytest.approx(value, abs=1e-5)
    found = simopt.certify(again)
    assert found.lower - 1e-5 <= value <= found.upper + 1e-5


def test_the_catalogue_is_written_and_read(tmp_path: Path) -> None:
    from simopt.problems.kernel_ridge import KernelRidge

    declared = KernelRidge(np.eye(2), np.array([3.0, 0.0]), regularization=0.5).declare()
    simopt.write(declared, tmp_path / "ridge.qps")
    assert simopt.read(tmp_path / "ridge.qps").solve() == pytest.approx(declared.solve())


def test_names_are_those_of_variables_or_of_the_file(tmp_path: Path) -> None:
    x, t = cp.Variable((1, 2), name="x y"), cp.Variable(name="t")
    simopt.write(cp.Problem(cp.Minimize(t), [x >= 1, cp.sum(x) <= t]), tmp_path / "a.mps")
    names = file_names(problem := simopt.read(tmp_path / "a.mps"))
    assert sorted(names.columns) == ["t", "x_y[0,0]", "x_y[0,1]"]
    simopt.write(problem, tmp_path / "b.mps")
    assert set(file_names(simopt.read(tmp_path / "b.mps")).columns) == set(names.columns)
    twice = cp.Variable(name="t")
    simopt.write(cp.Problem(cp.Minimize(t + twice), [t >= 1, twice >= 2]), tmp_path / "c.mps")
    assert file_names(simopt.read(tmp_path / "c.mps")).columns == ("x0", "x1")


def test_names_with_blanks_become_one_word(tmp_path: Path) -> None:
    column = "    COL 1     COST               1.0   ROW 1              2.0"
    text = f"ROWS\n N  COST\n G  ROW 1\nCOLUMNS\n{column}\nRHS\n    RHS       ROW 1              6.0\nENDATA\n"
    (tmp_path / "a.mps").write_text(text)
    simopt.write(simopt.read(tmp_path / "a.mps"), tmp_path / "b.mps")
    again = simopt.read(tmp_path / "b.mps")
    assert file_names(again).columns == ("COL_1",) and again.solve() == pytest.approx(3.0)


@pytest.mark.parametrize("name", sorted(LINEAR | SQUARES))
def test_highs_solves_what_is_written(tmp_path: Path, name: str) -> None:
    """Another reader, and another solver, of the same bytes."""
    import highspy

    simopt.write(problems()[name], tmp_path / "p.qps")
    (tmp_path / "p.qps").rename(tmp_path / "p.mps")  # HiGHS goes by the ending, and knows no .qps
    highs: Any = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(tmp_path / "p.mps")) == highspy.HighsStatus.kOk
    highs.run()
    assert highs.getInfo().objective_function_value == pytest.approx(problems()[name].solve(), abs=1e-5)


def test_the_same_problem_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.cbf.gz", "b.cbf.gz"):
        simopt.write(problems()["matrix"], tmp_path / name)
    assert (tmp_path / "a.cbf.gz").read_bytes() == (tmp_path / "b.cbf.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.cbf.gz").read_bytes()).startswith(b"VER\n")


def refused(tmp_path: Path, problem: Any, name: str, message: str) -> None:
    with pytest.raises(simopt.InvalidProblem, match=message):
        simopt.write(problem, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    x, y = cp.Variable(name="x"), cp.Variable(pos=True)
    plain = cp.Problem(cp.Minimize(x), [x >= 1])
    refused(tmp_path, plain, "p.lp", "ends in .lp; .mps, .qps, .cbf are written, also with .gz")
    refused(tmp_path, plain, "p", "ends in nothing")
    refused(tmp_path, 3, "p.cbf", "int given, a cvxpy.Problem needed")
    refused(tmp_path, cp.Problem(cp.Minimize(0)), "p.cbf", "has no variables")
    refused(tmp_path, cp.Problem(cp.Minimize(-(x**2))), "p.cbf", "CVXPY has no canonical form of it")
    refused(tmp_path, cp.Problem(cp.Minimize(1 / y * y)), "p.cbf", "CVXPY has no canonical form of it")
    refused(tmp_path, cp.Problem(cp.Minimize(x), [x >= cp.Parameter(name="p")]), "p.cbf", "CVXPY has no canonical form of it")
    refused(
        tmp_path,
        cp.Problem(cp.Minimize(x), [x >= 1e21]),
        "p.mps",
        "right-hand side -1e.21; in .mps files 1e.20 and above stands for infinity",
    )
    refused(tmp_path, cp.Problem(cp.Minimize(x + 1e308 + 1e308), [x >= 1]), "p.cbf", "not finite|no canonical form")
    simopt.write(cp.Problem(cp.Minimize(x), [x >= 1e21]), tmp_path / "p.cbf")


def test_what_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    for name, message in (("p.sif", "ends in .sif; .mps, .qps, .lp, .cbf are read"), ("p", "ends in nothing"), (".gz", "ends in")):
        with pytest.raises(simopt.InvalidProblem, match=message):
            simopt.read(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        simopt.read(tmp_path / "p.mps")
    (tmp_path / "d.mps").mkdir()
    with pytest.raises(OSError):
        simopt.read(tmp_path / "d.mps")


NUMBERS = st.floats(-1e19, 1e19, allow_nan=False, allow_subnormal=True)
ENTRIES = st.lists(NUMBERS, min_size=6, max_size=6)


@settings(max_examples=40)
@given(cost=ENTRIES, entries=ENTRIES, right=ENTRIES, offset=NUMBERS, maximises=st.booleans())
@example([5e-324] * 6, [1e-13] * 6, [0.1 + 0.2] * 6, -0.0, True)
def test_numbers_come_back_to_the_last_bit(cost: Any, entries: Any, right: Any, offset: float, maximises: bool) -> None:
    """The numbers that CVXPY's canonical form has are those that the readers find."""
    x = cp.Variable(2, name="x")
    A, b = np.array(entries).reshape(3, 2), np.array(right[:3])
    sense = cp.Maximize if maximises else cp.Minimize
    problem = cp.Problem(sense(np.array(cost[:2]) @ x + offset), [A[:2] @ x <= b[:2], A[2] @ x == b[2], x >= 0])
    form, sign = canonical(problem, True), -1.0 if maximises else 1.0
    read = mps.parse(content.TextFile("f.qps", mps_text.text(form, ".qps").encode()))
    assert read.maximises is maximises and read.offset == sign * form.offset and np.array_equal(read.cost, sign * form.cost)
    assert (read.matrix != form.matrix).nnz == 0
    lower = np.where(np.arange(form.right.size) < form.equations, form.right, -np.inf)
    assert np.array_equal(read.rows[0], lower) and np.array_equal(read.rows[1], form.right)
    cones = cbf.parse(content.TextFile("f.cbf", cbf_text.text(canonical(problem, False)).encode()))
    assert cones.maximises is maximises and cones.offset == sign * form.offset and np.array_equal(cones.cost, sign * form.cost)
    assert (cones.matrix != -form.matrix).nnz == 0 and np.array_equal(cones.right, form.right)


@settings(max_examples=40)
@given(entries=ENTRIES, squares=st.lists(st.floats(1e-300, 1e150), min_size=2, max_size=2), maximises=st.booleans())
def test_quadratic_parts_and_matrices_come_back_to_the_last_bit(entries: Any, squares: Any, maximises: bool) -> None:
    x, d = cp.Variable(2, name="x"), np.array(squares)
    P = np.diag(d) + np.array([[0.0, 0.5], [0.5, 0.0]]) * np.sqrt(d[0]) * np.sqrt(d[1])
    sense, sign = (cp.Maximize, -1.0) if maximises else (cp.Minimize, 1.0)
    form = canonical(cp.Problem(sense(sign * cp.quad_form(x, P, assume_PSD=True)), [x >= 0]), True)
    read = mps.parse(content.TextFile("f.qps", mps_text.text(form, ".qps").encode()))
    assert (read.quadratic != sign * form.quadratic).nnz == 0 and read.quadratic.nnz == form.quadratic.nnz
    H = np.array(entries).reshape(3, 2)
    lower, D = np.array([[0, 1], [1, 2]]), np.array([[1.0, entries[0]], [entries[0], 3.0]])
    matrix = x[0] * H[:, 0][lower] + x[1] * H[:, 1][lower] + D
    cones = cbf.parse(
        content.TextFile("f.cbf", cbf_text.text(canonical(cp.Problem(cp.Minimize(cp.sum(x)), [matrix >> 0]), False)).encode())
    )
    expected = sp.csr_array(H[lower.ravel()])
    assert (cones.maps[0] != expected).nnz == 0 and np.array_equal(cones.constants[0].toarray().ravel(), D.ravel())
