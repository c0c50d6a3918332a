"""CBF files: every section and cone, to the number and by the optimum, and errors by line."""

from __future__ import annotations

import gzip
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.core.errors import InvalidFile
from simopt.files import cbf, content
from simopt.files.cone_programme import ConeProgramme
from simopt.files.names import file_names

LINEAR = """# a linear programme with an integer
VER
1

OBJSENSE
MAX
VAR
4 3
L+ 2
F 1
L- 1
INT
1
1
CON
4 3
L- 2
L= 1
L+ 1
OBJACOORD
3
0 1.5
1 2
3 -1
OBJBCOORD
0.25
ACOORD
6
0 0 1
0 1 1
1 2 1
2 2 1
2 3 1
3 2 1
BCOORD
2
0 -3.5
1 -1
"""
SEMIDEFINITE = """VER
2
OBJSENSE
MIN
PSDVAR
1
3
VAR
3 1
F 3
PSDCON
1
2
CON
5 2
L= 2
Q 3
OBJFCOORD
5
0 0 0 2.0
0 1 0 1.0
0 1 1 2.0
0 2 1 1.0
0 2 2 2.0
OBJACOORD
1
1 1.0
FCOORD
9
0 0 0 0 1.0
0 0 1 1 1.0
0 0 2 2 1.0
1 0 0 0 1.0
1 0 1 0 1.0
1 0 2 0 1.0
1 0 1 1 1.0
1 0 2 1 1.0
1 0 2 2 1.0
ACOORD
6
0 1 1.0
1 0 1.0
1 2 1.0
2 1 1.0
3 0 1.0
4 2 1.0
BCOORD
2
0 -1.0
1 -0.5
HCOORD
4
0 0 1 1 3.0
0 1 0 0 1.0
0 1 1 0 1.0
0 2 1 0 3.0
DCOORD
3
0 0 0 -1.0
0 1 0 -1.0
0 1 1 -1.0
"""


def one_cone(kind: str, rows: int = 3, before: str = "", sense: str = "MIN", cost: str = "1\n0 1", fixed: str = "1 1.0\n2 1.0") -> str:
    """min (or max) x₀ (or as `cost` says) over x in a cone, other entries fixed."""
    others = [each.split() for each in fixed.splitlines()]
    lines = "\n".join(f"{i} {j} 1" for i, (j, _) in enumerate(others)), "\n".join(f"{i} {-float(v)!r}" for i, (_, v) in enumerate(others))
    return (
        f"VER\n3\nOBJSENSE\n{sense}\n{before}VAR\n{rows} 1\n{kind} {rows}\nCON\n{len(others)} 1\nL= {len(others)}\nOBJACOORD\n{cost}\n"
        f"ACOORD\n{len(others)}\n{lines[0]}\nBCOORD\n{len(others)}\n{lines[1]}\n"
    )


def parsed(text: str) -> ConeProgramme:
    return cbf.parse(content.TextFile("f.cbf", text.encode()))


def test_linear_cones_and_integers(tmp_path: Path) -> None:
    """max 1.5x₀ + 2x₁ − x₃ + 0.25 with x₀ + x₁ ≤ 3.5, x₂ ≤ 1, x₂ + x₃ = 0, x₂ ≥ 0, x₃ ≤ 0, x₁ an integer: 1.5 ∙ 0.5 + 2 ∙ 3 + 1 + 0.25."""
    result = parsed(LINEAR)
    assert result.maximises and result.offset == 0.25 and result.cost.tolist() == [1.5, 2.0, 0.0, -1.0]
    assert result.matrix.toarray().tolist() == [[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 0]]
    assert result.right.tolist() == [-3.5, -1.0, 0.0, 0.0] and result.integers.tolist() == [False, True, False, False]
    path = tmp_path / "f.cbf.gz"
    path.write_bytes(gzip.compress(LINEAR.encode()))
    problem = simopt.read(path)
    assert [row.label for row in problem.constraints] == ["x at least", "x at most", "rows equal", "rows at least", "rows at most"]
    names = file_names(problem)
    assert names.constraints["rows at most"] == ("rows 0", "rows 1") and names.columns == ("x[0]", "x[1]", "x[2]", "x[3]")
    found = simopt.certify(problem)
    assert found.lower == pytest.approx(8.0) and problem.solve() == pytest.approx(8.0)


def test_matrices_have_one_triangle_in_the_file() -> None:
    """An entry off the diagonal counts twice."""
    result = parsed(SEMIDEFINITE)
    assert result.weights[0].toarray().reshape(3, 3).tolist() == [[2, 1, 0], [1, 2, 1], [0, 1, 2]]
    assert result.products[0].toarray()[1].tolist() == [1.0] * 9
    assert result.maps[0].toarray().tolist() == [[0, 1, 0], [0, 1, 3], [0, 1, 3], [3, 0, 0]]
    assert result.constants[0].toarray().ravel().tolist() == [-1.0] * 4
    assert [row.label for row in result.problem().constraints] == ["X0", "rows equal", "rows 2 to 4 in Q", "matrix 0"]


def test_the_semidefinite_example_of_the_format() -> None:
    """min ⟨C, X⟩ + x₁ with tr X + x₁ = 1, ⟨J, X⟩ + x₀ + x₂ = ½ and x₁ ≥ ‖(x₀, x₂)‖: 0.7057, as the reference says."""
    alone = SEMIDEFINITE.replace("PSDCON\n1\n2\n", "")
    found = simopt.certify(parsed(alone[: alone.index("HCOORD")]).problem(), rigorous=True)
    assert found.lower == pytest.approx(0.705710509, abs=1e-7) and found.gap < 1e-6


def test_a_matrix_of_columns_is_semidefinite() -> None:
    """min x₀ + x₁ with x₀ [[0, 1], [1, 3]] + x₁ [[3, 1], [1, 0]] ⪰ I, as CVXPY says it."""
    text = (
        "VER\n2\nOBJSENSE\nMIN\nVAR\n2 1\nF 2\nPSDCON\n1\n2\nOBJACOORD\n2\n0 1\n1 1\n"
        "HCOORD\n4\n0 0 1 0 1\n0 0 1 1 3\n0 1 0 0 3\n0 1 0 1 1\nDCOORD\n2\n0 0 0 -1\n0 1 1 -1\n"
    )
    x = cp.Variable(2)
    matrix = x[0] * np.array([[0.0, 1.0], [1.0, 3.0]]) + x[1] * np.array([[3.0, 1.0], [1.0, 0.0]])
    plain = cp.Problem(cp.Minimize(cp.sum(x)), [matrix >> np.eye(2)])
    found = simopt.certify(parsed(text).problem(), rigorous=True)
    assert plain.solve(solver="CLARABEL") == pytest.approx(found.lower, abs=1e-6) and found.gap < 1e-6


HALVES = "POWCONES\n1 2\n2\n0.25\n0.75\n"
CONES = [
    ("Q", one_cone("Q", fixed="1 3.0\n2 4.0"), 5.0),
    ("Q of one", one_cone("Q", 1, fixed="0 2.0"), 2.0),
    ("QR", one_cone("QR", fixed="1 2.0\n2 4.0"), 4.0),  # 2 ∙ x₀ ∙ 2 ≥ 16
    ("QR of two", one_cone("QR", 2, fixed="1 2.0"), 0.0),
    ("EXP", one_cone("EXP", fixed="1 2.0\n2 1.0"), 2 * np.exp(0.5)),
    ("EXP*", one_cone("EXP*", fixed="1 3.0\n2 -2.0"), 2 * np.exp(3.0 / -2.0 - 1.0)),
    ("POW", one_cone("@0:POW", before=HALVES, sense="MAX", cost="1\n2 1", fixed="0 16.0\n1 81.0"), 16**0.25 * 81**0.75),
    (
        "POW*",
        one_cone("@0:POW*", before=HALVES.replace("POWC", "POW*C"), sense="MAX", cost="1\n2 1", fixed="0 4.0\n1 3.0"),
        16**0.25 * 4**0.75,
    ),
]


@pytest.mark.parametrize(("text", "optimum"), [each[1:] for each in CONES], ids=[each[0] for each in CONES])
def test_each_cone_has_its_meaning(text: str, optimum: float) -> None:
    problem = parsed(text).problem()
    found = simopt.certify(problem)
    assert found.lower - 1e-7 * (1 + optimum) <= optimum <= found.upper + 1e-7 * (1 + optimum) and found.gap < 1e-5 * (1 + optimum)


def test_rows_lie_in_cones_as_variables_do() -> None:
    """min x with (x + 1, 2x − 1, 3) in Q."""
    text = "VER\n2\nOBJSENSE\nMIN\nVAR\n1 1\nF 1\nCON\n3 1\nQ 3\nOBJACOORD\n1\n0 1\nACOORD\n2\n0 0 1\n1 0 2\nBCOORD\n3\n0 1\n1 -1\n2 3\n"
    problem = parsed(text).problem()
    x = cp.Variable()
    plain = cp.Problem(cp.Minimize(x), [cp.norm(cp.hstack([2 * x - 1, 3])) <= x + 1])
    assert simopt.certify(problem).infeasible == simopt.certify(plain).infeasible


def test_matrices_alone_and_constants_alone() -> None:
    """max ⟨J, X⟩ with tr X = 1 for J all ones, 2 × 2: its largest eigenvalue, 2; a PSDCON without columns is a constant."""
    text = (
        "VER\n2\nOBJSENSE\nMAX\nPSDVAR\n1\n2\nPSDCON\n1\n1\nCON\n1 1\nL= 1\nOBJFCOORD\n3\n0 0 0 1\n0 0 1 1\n0 1 1 1\n"
        "FCOORD\n2\n0 0 0 0 1\n0 0 1 1 1\nBCOORD\n1\n0 -1\nDCOORD\n1\n0 0 0 1\n"
    )
    problem = parsed(text).problem()
    assert problem.solve() == pytest.approx(2.0, abs=1e-6) and file_names(problem).values(problem) == {}


CHANGES = [
    ("VER\n1", "VER\n9", "line 3, VER: version '9' is not known; 1 to 4 are"),
    ("VER\n1\n", "", "line 3, OBJSENSE: comes before VER"),
    ("OBJSENSE\nMAX\n", "", "line 36: the file ends without OBJSENSE"),
    ("MAX", "BEST", "line 6, OBJSENSE: 'BEST' is neither MIN nor MAX; one of them is needed"),
    ("OBJSENSE\nMAX\n", "OBJSENSE\nMAX\nOBJSENSE\nMAX\n", "line 7, OBJSENSE: appears twice"),
    ("INT\n1\n1", "INT\n1\n4", "line 14, INT: column '4' is not there; a number from 0 to 3"),
    ("INT\n1\n1", "INT\n2\n1\n1", "INT: a column appears twice"),
    ("INT\n1\n1", "INT\n-1", "line 13, INT: '-1' is no count; a whole number of at least 0"),
    ("INT\n1\n1", "INT\n1.0\n1", "INT: '1.0' is no count"),
    ("INT\n1\n1", "CHANGE", "line 12: section 'CHANGE' is not read; VER, OBJSENSE"),
    ("L+ 2\n", "L+ 3\n", "VAR: the cones have more than the 4 entries that are declared"),
    ("L+ 2\n", "L+ 1\n", "VAR: the cones have 3 entries, 4 are declared"),
    ("L+ 2\n", "L+ -2\n", "VAR: '-2' is no count"),
    ("L+ 2\n", "L+ 0\n", "VAR: cone 'L\\+' of size 0; 1 to 4"),
    ("L+ 2\n", "SVECPSD 2\n", "VAR: cone 'SVECPSD' is not read; F, L\\+"),
    ("L+ 2\n", "EXP 2\n", "VAR: cone 'EXP' of size 2; 3 to 3"),
    ("L+ 2\n", "@0:POW 3\n", "VAR: power cone POW '0' is not there; none is declared before"),
    ("4 3\nL+", "4000000000 3\nL+", "line 8, VAR: more than 4194304 columns, rows and entries"),
    ("4 3\nL+", "4 99\nL+", "VAR: .* fields|VAR: cone 'INT'"),
    ("OBJACOORD\n3", "OBJACOORD\n4", "OBJACOORD: 'OBJBCOORD' has 1 fields; 2 were expected"),
    ("OBJACOORD\n3", "OBJACOORD\n2", "line 24: section '3 -1' is not read; .*or the count before is too small"),
    ("3 -1\n", "1 -1\n", "OBJACOORD: a second number for '1'"),
    ("3 -1\n", "3 nan\n", "OBJACOORD: 'nan' is no number"),
    ("3 -1\n", "3 1e999\n", "OBJACOORD: '1e999' is no finite number"),
    ("3 2 1\n", "4 2 1\n", "ACOORD: row '4' is not there"),
    ("1 -1\n", "", "BCOORD: the file ends within the section; it was cut short"),
    ("OBJBCOORD\n0.25", "OBJBCOORD\nx", "OBJBCOORD: 'x' is no number"),
]


@pytest.mark.parametrize(("old", "new", "message"), CHANGES)
def test_an_error_is_one_line_with_its_place(old: str, new: str, message: str) -> None:
    assert old in LINEAR
    at = LINEAR.rindex(old) if old == "1 -1\n" else LINEAR.index(old)
    with pytest.raises(InvalidFile, match=message) as caught:
        parsed(LINEAR[:at] + new + LINEAR[at + len(old) :])
    assert str(caught.value).startswith("f.cbf: line ") and "\n" not in str(caught.value) and ";" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0 0 0 2.0", "0 0 3 2.0", "OBJFCOORD: entry '3' is not there; a number from 0 to 2"),
        ("0 1 0 1.0\n", "0 0 0 1.0\n", "OBJFCOORD: a second number for '0 0 0'"),
        ("0 2 1 1.0\n0 2 2", "0 0 1 1.0\n0 2 2", "OBJFCOORD: a second number for '0 0 1'"),  # the mirror image of one that is there
        ("PSDVAR\n1\n3", "PSDVAR\n1\n30000", "PSDVAR: more than 4194304"),
        ("PSDVAR\n1\n3", "PSDVAR\n1\n0", "PSDVAR: '0' is no count; a whole number of at least 1"),
        ("0 1 1 0 1.0\n0 2 1", "1 1 1 0 1.0\n0 2 1", "HCOORD: matrix '1' is not there"),
        ("DCOORD\n3", "DCOORD\n3 3", "DCOORD: '3 3' has 2 fields; 1 were expected"),
    ],
)
def test_errors_of_matrices(old: str, new: str, message: str) -> None:
    assert old in SEMIDEFINITE
    with pytest.raises(InvalidFile, match=message):
        parsed(SEMIDEFINITE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("cones", "message"),
    [
        ("POWCONES\n1 2\n2\n1\n2\n", "VAR: power cone 0 has the exponents '1.0 2.0'; two that sum to 1 are read"),
        ("POWCONES\n1 3\n3\n0.25\n0.25\n0.5\n", "two that sum to 1"),
        ("POWCONES\n1 2\n2\n-0.5\n1.5\n", "POWCONES: exponent -0.5; exponents above 0"),
        ("POWCONES\n1 1\n2\n0.5\n0.5\n", "POWCONES: the cones have more exponents"),
        ("POWCONES\n1 3\n2\n0.5\n0.5\n", "POWCONES: the cones have fewer exponents"),
        ("", "none is declared before"),
    ],
)
def test_errors_of_power_cones(cones: str, message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        parsed(one_cone("@0:POW", before=cones))


def test_a_file_without_variables_is_refused() -> None:
    with pytest.raises(InvalidFile, match="ends without variables"):
        parsed("VER\n1\nOBJSENSE\nMIN\n")
    with pytest.raises(InvalidFile, match="ends without OBJSENSE"):
        parsed("")
