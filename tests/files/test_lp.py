"""LP files, which HiGHS reads in a process of its own: numbers, names, integers; what it refuses, warns of, or does not end with."""

from __future__ import annotations

import os
import time
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.core.errors import InvalidFile
from simopt.files import content, lp
from simopt.files.names import file_names
from simopt.files.quadratic_programme import FileProgramme
from simopt.processes import worker

INF = np.inf
TEXT = """\\ a comment
max
 obj: x + 2 y + 7 z - b + [ - x^2 + 2 x*y - 3 y^2 ]/2
st
 c1: x + y <= 4
 c2: x - 3 y >= 1
 c3: x + z = 2
bounds
 -5 <= y <= -3
 -inf <= z <= 10
 u free
bin
 b
gen
 x
end
"""


def parsed(text: str) -> FileProgramme:
    return lp.parse(content.TextFile("f.lp", text.encode()))


def test_an_lp_file_is_read(tmp_path: Path) -> None:
    result = parsed(TEXT)
    assert result.maximises and result.column_names == ("x", "y", "z", "b", "u") and result.row_names == ("c1", "c2", "c3")
    assert result.cost.tolist() == [1, 2, 7, -1, 0]
    assert result.quadratic.toarray()[:2, :2].tolist() == [[-1, 1], [1, -3]] and result.quadratic.nnz == 4
    assert result.matrix.toarray().tolist() == [[1, 1, 0, 0, 0], [1, -3, 0, 0, 0], [1, 0, 1, 0, 0]]
    assert [x.tolist() for x in result.rows] == [[-INF, 1, 2], [4, INF, 2]]
    assert [x.tolist() for x in result.columns] == [[0, -5, -INF, 0, -INF], [INF, -3, 10, 1, INF]]
    assert result.integers.tolist() == [True, False, False, True, False]
    path = tmp_path / "f.lp"
    path.write_text(TEXT)
    problem = simopt.read(path)
    assert isinstance(problem.objective, cp.Maximize) and file_names(problem).constraints["equal rows"] == ("c3",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("end", "sos\n s1: S1:: x:1 y:2\nend", "HiGHS: "),
        ("x - 3 y >= 1", "x - 3 y + [ x^2 ] >= 1", "HiGHS: Quadratic constraints not supported"),
        ("-5 <= y <= -3", "y <= -3", "HiGHS: .*inconsistent bounds"),
        ("gen\n", "semi-continuous\n", "semi-continuous columns are not read|HiGHS: "),
        ("x - 3 y >= 1", "x - >= 1 3", "HiGHS: "),
        ("- x^2", "+ x^2", "column 'x' on the diagonal makes it not concave"),
    ],
)
def test_what_is_refused_is_one_line(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(InvalidFile, match=f"^f.lp: .*({message})") as caught:
        parsed(TEXT.replace(old, new, 1))
    assert "\n" not in str(caught.value) and "/tmp" not in str(caught.value)


def test_an_empty_file_and_bytes_that_are_no_text_do_not_reach_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lp, "Worker", None)
    with pytest.raises(InvalidFile, match="f.lp: line 1: the file is empty"):
        parsed("\n  \n")
    with pytest.raises(InvalidFile, match="line 1: byte 1 is not UTF-8"):
        lp.parse(content.TextFile("f.lp", b"\xff\xfe"))


def test_a_reader_that_does_not_end_or_dies_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "forkable", lambda: True)  # a fresh process does not find these functions
    monkeypatch.setattr(lp, "SECONDS", 0.5)
    monkeypatch.setattr(lp, "_model", forever)
    with pytest.raises(InvalidFile, match="f.lp: HiGHS does not end at it; write it as"):
        parsed(TEXT)
    monkeypatch.setattr(lp, "SECONDS", 60.0)
    monkeypatch.setattr(lp, "_model", aborted)
    with pytest.raises(InvalidFile, match="f.lp: HiGHS ends its process at it; write it as"):
        parsed(TEXT)


def test_highs_prints_nothing_on_our_output(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidFile, match="HiGHS: "):
        parsed(TEXT.replace("c1: x", "c1: b = 1 -> x"))
    assert capfd.readouterr().out == ""


def test_a_name_that_is_no_text_is_refused_wherever_it_stands() -> None:
    with pytest.raises(InvalidFile, match="f.lp: line 5: byte 7 is not UTF-8"):
        lp.parse(content.TextFile("f.lp", TEXT.encode().replace(b"x + y <=", b"x\xb2 + y <=")))


def forever(data: bytes) -> None:
    time.sleep(60.0)


def aborted(data: bytes) -> None:
    os._exit(3)


@pytest.mark.parametrize("sense", ["minimise", "MAXIMISE", "max:", "obj: x + y\nst", "best"])
def test_an_objective_behind_another_word_is_refused(sense: str) -> None:
    """HiGHS passes over it without a word: of "minimise 2 x" it reads min 0."""
    with pytest.raises(InvalidFile, match="f.lp: line 2: '.*' stands where the objective begins; begin with min or max"):
        parsed(f"\\ a comment\n{sense}\n obj: x + 2 y\nst\n c1: x + y >= 1\nend\n")


def test_a_decimal_comma_is_refused() -> None:
    """HiGHS reads "1,5 x" as one column called ",5" and another called "x"."""
    with pytest.raises(InvalidFile, match="f.lp: column ',5' begins with a comma; the decimal sign is a point"):
        parsed("min\n obj: 1,5 x\nst\n c1: x >= 1\nend\n")
