"""MPS and QPS files: every section, kind of row and bound, to the number, the problem that CVXPY gets of them, and errors by line."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.core.errors import InvalidFile
from simopt.files import content, mps
from simopt.files.names import file_names
from simopt.files.quadratic_programme import FileProgramme

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
WHOLE = """NAME MIXED
* a comment
ROWS
 N cost
 L r
COLUMNS
    a cost 1 r 1
    M 'MARKER' 'INTORG'
    b cost 1 r 1
    c cost 1 r 1
    d cost 1 r 1
    M 'MARKER' 'INTEND'
    e cost 1 r 1
    f cost 1 r 1
    g cost 1 r 1
RHS
    r 10
BOUNDS
 UP c 7
 MI d
 BV e
 LI f 2
 UI g 5
ENDATA
"""
FIXED = """NAME          BLANKS
ROWS
 N  COST ROW
 L  ROW 1
COLUMNS
    COL 1     COST ROW           1.0   ROW 1              2.0
    COL 2     ROW 1              3.0
RHS
    RHS       ROW 1              6.0
BOUNDS
 UP BND       COL 1              4.0
ENDATA
"""


def parsed(text: str, name: str = "f.mps") -> FileProgramme:
    return mps.parse(content.TextFile(name, text.encode()))


def written(folder: Path, name: str, text: str) -> Path:
    """The file, packed where its name says so."""
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_rows_and_bounds_of_every_kind() -> None:
    """Free rows are none; a range widens a row, of an equation to the side of its sign; a negative upper bound frees the lower one."""
    result = parsed(LINEAR)
    assert result.name == "KINDS" and result.maximises and result.offset == -10.0 and result.quadratic.nnz == 0
    assert result.column_names == tuple("xyzwv") and result.row_names == ("above", "below", "equal", "risen", "sunk")
    assert result.cost.tolist() == [1.5, -2.0, -0.25, 0.0, 0.0]
    rows = [[1, 1, 0, 1, 2], [2, 1, 0, 0, 0], [1, -1, 0, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 1e-10, 0]]
    assert result.matrix.toarray().tolist() == rows
    assert [x.tolist() for x in result.rows] == [[1.0, 5.0, 2.0, 5.0, -2.5], [5.0, 8.0, 2.0, 7.5, -1.0]]
    assert [x.tolist() for x in result.columns] == [[0.0, -INF, -INF, 2.5, -INF], [4.0, -3.0, INF, 2.5, -0.5]]


@pytest.mark.parametrize("name", ["kinds.mps", "kinds.MPS.gz"])
def test_the_problem_has_each_bound_in_a_row_once(tmp_path: Path, name: str) -> None:
    problem = simopt.read(written(tmp_path, name, LINEAR))
    assert isinstance(problem.objective, cp.Maximize)
    (x,) = problem.variables()
    x.value = np.array([3.0, -4.0, 2.0, 2.0, -1.0])
    assert problem.objective.value == 1.5 * 3 + 2 * 4 - 0.25 * 2 - 10
    sides = [(row.label, type(row).__name__, np.round(row.args[0].value - row.args[1].value, 12).tolist()) for row in problem.constraints]
    assert sides == [
        ("equal rows", "Equality", [5.0]),  # x − y = 2
        ("lower rows", "Inequality", [1.0 - (3 - 4 + 2 - 2), 5.0 - 2.0, 5.0 - 6.0, -2.5 - 2e-10]),  # of above, below, risen and sunk
        ("upper rows", "Inequality", [-1.0 - 5.0, 2.0 - 8.0, 6.0 - 7.5, 1.0 + 2e-10]),
        ("fixed columns", "Equality", [2.0 - 2.5]),  # w
        ("lower bounds", "Inequality", [-3.0]),  # 0 ≤ x
        ("upper bounds", "Inequality", [3.0 - 4.0, -4.0 + 3.0, -1.0 + 0.5]),  # x, y, v
    ]
    names = file_names(problem)
    assert names.columns == tuple("xyzwv") and names.constraints["upper bounds"] == ("x", "y", "v")
    assert names.constraints["lower rows"] == ("above", "below", "risen", "sunk") and names.constraints["equal rows"] == ("equal",)
    assert names.values(problem) == {"x": 3.0, "y": -4.0, "z": 2.0, "w": 2.0, "v": -1.0}


def test_names_are_those_of_a_file() -> None:
    x = cp.Variable()
    with pytest.raises(simopt.InvalidProblem, match="was not read from a file"):
        file_names(cp.Problem(cp.Minimize(x)))
    problem = parsed(LINEAR).problem()
    with pytest.raises(simopt.InvalidProblem, match="x: has no value"):
        file_names(problem).values(problem)


@pytest.mark.parametrize(
    "section",
    [
        "QUADOBJ\n    x  x  8\n    x  y  2\n    y  y  10",
        "QSECTION cost\n    x x 8 y 2\n    y y 10",
        "QMATRIX\n    x x 8 y 2\n    y x 2 y 10",
    ],
)
def test_the_quadratic_part_is_half_of_the_symmetric_matrix(tmp_path: Path, section: str) -> None:
    text = QUADRATIC[: QUADRATIC.index("QUADOBJ")] + section + "\nENDATA\n"
    result = parsed(text)
    assert not result.maximises and result.offset == 0.5
    assert result.quadratic.toarray().tolist() == [[8.0, 2.0, 0.0], [2.0, 10.0, 0.0], [0.0, 0.0, 0.0]]
    problem = simopt.read(written(tmp_path, "squares.qps.gz", text))
    assert problem.is_dcp()
    (x,) = problem.variables()
    x.value = np.array([1.0, 2.0, 3.0])
    assert problem.objective.value == 0.5 + 1 - 2 * 2 + (8 * 1 + 2 * 2 * 1 * 2 + 10 * 4) / 2


def test_a_maximum_has_a_concave_quadratic_part() -> None:
    text = QUADRATIC.replace("ROWS", "OBJSENSE\n    MAX\nROWS", 1).replace("  8\n", "  -8\n").replace("  10\n", "  -10\n")
    problem = parsed(text).problem()
    assert isinstance(problem.objective, cp.Maximize) and problem.is_dcp()
    (x,) = problem.variables()
    x.value = np.array([1.0, 2.0, 3.0])
    assert problem.objective.value == 0.5 + 1 - 2 * 2 + (-8 * 1 + 2 * 2 * 1 * 2 - 10 * 4) / 2


def test_a_quadratic_part_that_is_not_semidefinite_proves_no_bound() -> None:
    """[[8, 12], [12, 10]] has a negative eigenvalue, which its diagonal does not show: refused by name, as it has no convex bound."""
    problem = parsed(QUADRATIC.replace("x  y  2", "x  y  12")).problem()
    try:
        lower = simopt.certify(problem, rigorous=True).lower
    except simopt.InvalidProblem as error:
        assert "semidefinite" in str(error)
    else:
        assert lower == -INF


def test_integers_are_kept() -> None:
    """An integer of a marker without a bound lies in [0, 1]; BV, LI and UI make integers; with the bounds 0 and 1 they are booleans."""
    result = parsed(WHOLE)
    assert result.integers.tolist() == [False, True, True, True, True, True, True]
    assert [x.tolist() for x in result.columns] == [[0, 0, 0, -INF, 0, 2, 0], [INF, 1, 7, INF, 1, INF, 5]]
    (x,) = result.problem().variables()
    assert np.concatenate(x.boolean_idx).tolist() == [1, 4] and np.concatenate(x.integer_idx).tolist() == [2, 3, 5, 6]
    problem = parsed(
        WHOLE.replace(" MI d\n", " MI d\n UP d 1.5\n").replace("ROWS", "OBJSENSE MAX\nROWS", 1).replace("r 10", "r 9.5")
    ).problem()
    found = simopt.certify(problem)
    assert found.lower == 9.5 == found.upper  # all of it goes into a, which is real


def test_fixed_columns_may_have_names_with_blanks() -> None:
    result = parsed(FIXED)
    assert result.column_names == ("COL 1", "COL 2") and result.row_names == ("ROW 1",)
    assert result.matrix.toarray().tolist() == [[2.0, 3.0]] and result.cost.tolist() == [1.0, 0.0]
    assert result.columns[1].tolist() == [4.0, INF] and result.rows[1].tolist() == [6.0]
    with pytest.raises(InvalidFile, match="f.mps: line 6"):
        parsed(FIXED.replace("   ROW 1              2.0", "  ROW 1              2.0"))


@pytest.mark.parametrize(
    ("sense", "maximises"), [("OBJSENSE MAXIMIZE\n", True), ("OBJSENSE\nMIN\n", False), ("OBJSENSE\n  max\n", True), ("", False)]
)
def test_the_sense(sense: str, maximises: bool) -> None:
    assert parsed(sense + QUADRATIC[: QUADRATIC.index("QUADOBJ")] + "ENDATA").maximises is maximises


def test_numbers_are_the_nearest_floats_and_large_bounds_none() -> None:
    text = LINEAR.replace("1e-10", "1.0000000000000001e-300").replace("FX b  w  2.5", "UP b  w  1e30").replace("x  4", "x  Infinity")
    result = parsed(text)
    assert result.matrix.toarray()[4, 3] == 1e-300  # HiGHS drops what is 1e-12 or less
    assert result.columns[1].tolist() == [INF, -3.0, INF, INF, -0.5]


CHANGES: list[tuple[str, str, str]] = [
    ("RANGES", "SOS1", "line 25: section 'SOS1' is not read; OBJSENSE"),
    ("RANGES", "QCMATRIX above", "section 'QCMATRIX' is not read"),
    ("RANGES", "RHS", "line 25, RHS: appears twice; one section"),
    ("ENDATA\n", "", "the file ends without ENDATA; it was cut short"),
    ("ENDATA\n", "ENDATA\nNAME again\n", "text after ENDATA"),
    (" G  above", " G  above\n G  above", "line 8, ROWS: row 'above' appears twice"),
    (" G  above", " X  above", "line 7, ROWS: 'X above' is no row; a line is N, L, G or E"),
    (" N  profit\n N  unused", " L  profit\n L  unused", "ROWS: no row N"),
    ("    v  above  2", "    x  above  2", "line 20, COLUMNS: column 'x' appears twice"),
    ("    v  above  2", "    w  above  2", "line 20, COLUMNS: column 'w' has a second number in row 'above'"),
    ("    v  above  2", "    v  nowhere  2", "line 20, COLUMNS: row 'nowhere' is not among the ROWS"),
    ("    v  above  2", "    v  above", "line 20, COLUMNS: 2 fields"),
    ("    v  above  2", "    v  above  nan", "line 20, COLUMNS: 'nan' is no number; a decimal number is needed, such as 2.5"),
    ("    v  above  2", "    v  above  1e400", "line 20, COLUMNS: '1e400' is no finite number"),
    ("    v  above  2", "    v  above  1_0", "COLUMNS: '1_0' is no number"),
    ("    v  above  2", "    v  above  0x10", "COLUMNS: '0x10' is no number"),
    ("    v  above  2", "    M  'MARKER'  'INTEND'", "COLUMNS: marker"),
    ("    v  above  2", "    M  'MARKER'  'SOSORG'", "COLUMNS: marker .*sets .SOS. are not read"),
    ("    v  above  2", "    M  'MARKER'  'INTORG'", "line 21, COLUMNS: ends with 'INTORG' and no 'INTEND'"),
    ("    b  risen  5  sunk  -1", "    c  risen  5  sunk  -1", "line 24, RHS: a second set, 'c', beside 'b'"),
    ("    b  risen  5  sunk  -1", "    b  risen  5  above  -1", "RHS: a second number for row 'above'"),
    ("    b  risen  5  sunk  -1", "    risen", "RHS: 1 fields"),
    ("    b  risen  5  sunk  -1", "    b  risen  1e25", "'risen': bounds"),
    (" FR b  z", " SC b  z  4", "BOUNDS: bound 'SC' is not read; .*semi-continuous columns are not"),
    (" FR b  z", " FR b  nobody", "BOUNDS: column 'nobody' is not among the COLUMNS"),
    (" FR b  z", " UP b  x  3", "BOUNDS: a second bound UP of column 'x'"),
    (" FR b  z", " FR", "BOUNDS: 1 fields"),
    (" FR b  z", " LO b  z  inf", "'z': bounds .inf, inf."),
    (" FR b  z", " UP b  z  --inf", "BOUNDS: '--inf' is no number"),
    ("    MAX", "    MOST", "line 3, OBJSENSE: 'MOST' is neither MIN nor MAX"),
    ("ROWS\n", "COLUMNS\n", "line 4, COLUMNS: comes before ROWS"),
    ("RHS\n", "RHS b\n", "RHS: 'b' behind the heading"),
    ("NAME          KINDS\n", "  x\n", "line 1: 'x' before any section"),
    ("NAME          KINDS", "NAME \xff", "line 1"),
    ("v  above", "v\0 above", "line 20: has a byte 0"),
    ("v  above", f"v{'v' * (1 << 16)} above", "line 20: longer than 65536 bytes"),
]


@pytest.mark.parametrize(("old", "new", "message"), CHANGES)
def test_an_error_is_one_line_with_its_place(old: str, new: str, message: str) -> None:
    assert old in LINEAR
    data = LINEAR.replace(old, new, 1).encode("latin-1")
    with pytest.raises(InvalidFile, match=rf"^f.mps: .*{message}") as caught:
        mps.parse(content.TextFile("f.mps", data))
    assert "\n" not in str(caught.value) and ";" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x  y  2", "x  u  2", "QUADOBJ: column 'u' is not among the COLUMNS"),
        ("x  y  2", "x  y  2\n    y  x  2", "QUADOBJ: a second number for 'y' and 'x'"),
        ("x  y  2", "x  y", "QUADOBJ: 2 fields"),
        ("x  x  8", "x  x  -8", "quadratic part: entry -8 of column 'x' on the diagonal makes it not convex"),
        ("QUADOBJ", "QMATRIX", "QMATRIX: is not symmetric in 'x' and 'y'"),
        ("QUADOBJ", "QSECTION above", "QSECTION: squares in the row 'above'; only the objective"),
        ("ENDATA", "QMATRIX\nENDATA", "QMATRIX: a second quadratic part"),
    ],
)
def test_errors_of_the_quadratic_part(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        parsed(QUADRATIC.replace(old, new, 1))


def test_a_file_without_columns_is_refused() -> None:
    with pytest.raises(InvalidFile, match="has no columns"):
        parsed("ROWS\n N c\nCOLUMNS\nENDATA\n")
    with pytest.raises(InvalidFile, match="line 0: the file ends without ENDATA"):
        parsed("")


def highs_model(path: Path, folder: Path) -> Any:
    import highspy

    plain = folder / "instance.mps"
    plain.write_bytes(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    highs: Any = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("small_matrix_value", 1e-12)
    assert highs.readModel(str(plain)) != highspy.HighsStatus.kError
    return highs.getModel()


def agrees_with_highs(path: Path, folder: Path) -> None:
    """Another reader gets the same numbers, but entries up to 1e-12, and columns that are freed by a negative upper bound."""
    import scipy.sparse as sp

    ours, model = mps.parse(content.unpacked(path)), highs_model(path, folder)
    lp, n = model.lp_, model.lp_.num_col_
    assert ours.offset == lp.offset_ and ours.cost.tolist() == list(lp.col_cost_)
    theirs = sp.csc_array((lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_), shape=(lp.num_row_, n))
    mine = ours.matrix.copy()
    mine.data[np.abs(mine.data) <= 1e-12] = 0.0
    assert (mine != theirs).nnz == 0
    assert ours.rows[0].tolist() == list(lp.row_lower_) and ours.rows[1].tolist() == list(lp.row_upper_)
    low, high = np.array(lp.col_lower_), np.array(lp.col_upper_)
    assert ours.columns[0].tolist() == np.where((low == 0) & (high < 0), -INF, low).tolist() and ours.columns[1].tolist() == high.tolist()
    if model.hessian_.dim_:
        h = model.hessian_
        half = sp.csc_array((h.value_, h.index_, h.start_), shape=(n, n))
        assert (ours.quadratic != half + sp.tril(half, -1).T).nnz == 0
    whole = [int(kind) == 1 for kind in lp.integrality_] or [False] * n
    assert ours.integers.tolist() == whole


@pytest.mark.parametrize("text", [LINEAR, QUADRATIC, WHOLE, FIXED])
def test_highs_reads_the_same(tmp_path: Path, text: str) -> None:
    agrees_with_highs(written(tmp_path, "f.mps", text), tmp_path)


def test_highs_reads_the_same_of_instances(tmp_path: Path) -> None:
    folder = os.environ.get("SIMOPT_INSTANCES", "")
    paths = sorted(Path(folder).glob("[lq]p/*.?ps.gz")) if folder else []
    if not paths:
        pytest.skip("SIMOPT_INSTANCES names no folder with lp/*.mps.gz and qp/*.qps.gz")
    for path in paths:
        agrees_with_highs(path, tmp_path)
