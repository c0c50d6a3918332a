"""Tables of the papers: the computed word, the rows, what is missing."""

import math
from collections.abc import Iterator, Sequence

import pytest

from simopt import registry
from simopt.claims import AUDIFFREN_KADRI
from simopt.claims.kinds import Effort
from simopt.errors import InvalidProblem, NotAvailable, UnknownName
from simopt.reproduce import Cell, Reproduction, Run, Table, compute, draw, find, matching, table
from simopt.tables import INSIDE, NOT_PRINTED, OUTSIDE


def rows_of(run: Run, row: str) -> Iterator[Cell]:
    """One cell with the row's stream, one that is printed far away."""
    yield Cell(row, "drawn", float(run.stream("x").normal()))
    yield Cell(row, "printed", 1.0, 0.0, printed=2.0)


def made(names: Sequence[str] = ("one", "two"), requires: tuple[str, ...] = ()) -> Table:
    """A table that is not registered."""
    return Table("t", AUDIFFREN_KADRI, "Table 0", "nothing", tuple(names), lambda row, run: rows_of(run, row), requires)


@pytest.mark.parametrize(
    ("ours", "sd", "printed", "printed_sd", "word"),
    [
        (1.0, 0.3, 2.0, 0.4, INSIDE),  # 2 √(0.09 + 0.16) = 1: on the edge
        (0.999, 0.3, 2.0, 0.4, OUTSIDE),
        (1.0, 0.0, 1.0, None, INSIDE),
        (1.0 + 1e-9, 0.0, 1.0, None, OUTSIDE),
        (1.0, 0.5, None, None, NOT_PRINTED),
        (math.nan, 1.0, 1.0, 1.0, OUTSIDE),
        (3.0, 0.51, 2.0, None, INSIDE),
    ],
)
def test_word(ours: float, sd: float, printed: float | None, printed_sd: float | None, word: str) -> None:
    assert Cell("r", "c", ours, sd, printed, printed_sd).word == word


def test_cell_from_repetitions() -> None:
    cell = Cell.of("r", "c", [1.0, 2.0, 3.0], printed=2.0)
    assert (cell.ours, cell.sd) == (2.0, 1.0)
    assert Cell.of("r", "c", [5.0]).sd == 0.0
    with pytest.raises(InvalidProblem, match="no measurements"):
        Cell.of("r", "c", [])


def test_rows_come_one_by_one_and_depend_on_the_seed_alone() -> None:
    first = compute(made(), Effort.QUICK, 0)
    assert next(first).name == "one" and next(first).name == "two"
    whole, alone = list(compute(made()))[1], next(iter(compute(made(["two"]))))
    assert whole.cells == alone.cells
    other = list(compute(made(), seed=1))[1]
    assert other.cells[0] != whole.cells[0] and other.cells[1] == whole.cells[1]


def test_labels_with_commas_are_found_whole_and_by_parts() -> None:
    chosen = made(["a, one", "a, two", "B_c"])
    assert matching(chosen, ["a, two"]) == ("a, two",)
    assert matching(chosen, ["b-c, ONE"]) == ("a, one", "B_c")
    assert matching(chosen, ["two", "a, one"]) == ("a, one", "a, two")
    assert matching(chosen, ["a"]) == ("a, one", "a, two")
    for text in ("", "a,", "three"):
        with pytest.raises(InvalidProblem, match="is in no label of t, which has a, one; a, two; B_c"):
            matching(chosen, [text])
    (row,) = compute(chosen, rows=matching(chosen, ["two"]))
    assert row.name == "a, two" and row.cells == list(compute(chosen))[1].cells


def test_unexplained_cells_are_counted() -> None:
    done = Reproduction(made(), Effort.QUICK, 0, list(compute(made())))
    assert done.complete and done.count(OUTSIDE) == 2 and len(done.unexplained) == 2
    assert done.describe()["counts"]["unexplained"] == 2


def test_what_the_whole_table_requires_stops_it() -> None:
    with pytest.raises(NotAvailable, match="no_such_module_here"):
        list(compute(made(requires=("no_such_module_here",))))


def test_a_table_without_plot_cannot_be_drawn(tmp_path: object) -> None:
    with pytest.raises(NotAvailable, match="t has no picture"):
        draw(Reproduction(made(), Effort.QUICK, 0), str(tmp_path))


def test_registration() -> None:
    with pytest.raises(InvalidProblem, match="rows must be a non-empty list of distinct names"):
        table("x", paper=AUDIFFREN_KADRI, place="Table 0", says="s", rows=("a", "a"))
    with pytest.raises(UnknownName, match="unknown table 'no-such-table-anywhere'"):
        find("no-such-table-anywhere")
    assert "x" not in registry.names("table")


def test_what_a_table_says_of_its_rows() -> None:
    said = Table("t", AUDIFFREN_KADRI, "Table 0", "", ("one",), lambda row, run: rows_of(run, row), seen=lambda rows: f" {len(rows)} rows ")
    done = Reproduction(said, Effort.QUICK, 0)
    assert done.seen == "" and done.describe()["seen"] is None
    done.rows.extend(compute(said))
    assert done.seen == done.describe()["seen"] == "1 rows"
    assert Reproduction(made(), Effort.QUICK, 0, list(compute(made()))).seen == ""
