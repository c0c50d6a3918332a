"""SECURITY.md says what the code does: its limits are those of the code."""

from pathlib import Path

import pytest

from simopt import recheck
from simopt import recheck_certificate as certificates
from simopt.claims import expression, witness
from simopt.claims.isolation import GRACE
from simopt.claims.replay import MEMORY, TIME
from simopt.core import reading
from simopt.data.datasets.loader import TEXT
from simopt.files import cbf, content, lp
from simopt.report import formulas

PAGE = (Path(__file__).resolve().parents[2] / "SECURITY.md").read_text(encoding="utf-8")
MB = 1 << 20
ROWS = [
    ("a JSON file", f"{reading.BYTES // MB} MB, with {reading.PARTS} lists and objects"),
    ("a witness, or one run of a comparison", f"{reading.EVIDENCE // MB} MB"),
    ("a number in a witness", f"{witness.LONGEST} bits"),
    ("an entry of an array in a witness", f"{witness.WIDEST} bytes"),
    ("an .npz file, and again all of its arrays", f"{reading.ARCHIVE // MB} MB, {reading.MEMBERS} arrays"),
    ("a CSV file of one's own, packed or not", f"{TEXT // MB} MB"),
    (
        "a file of a problem (.mps, .qps, .lp, .cbf), and again unpacked",
        f"{content.MOST // MB} MB, {content.LINE} bytes a line; a .cbf file {cbf.ENTRIES} columns, rows and entries of matrices",
    ),
    ("HiGHS with an .lp file", f"{lp.SECONDS:g} s, and 1 s for each MB"),
    ("a Parquet table of a comparison", f"{reading.ROWS} rows, {reading.BYTES // MB} MB"),
    ("waiting for the next byte of a pipe", f"{reading.PATIENCE:g} s"),
    ("a check that is replayed", f"{TIME:g} s; under Linux {MEMORY // MB} MB"),
    (
        "a proof file",
        f"{recheck.LETTERS} letters, {recheck.LARGE} bits a number, {recheck.CASES} cases a statement, {recheck.BUDGET} operations in all",
    ),
    (
        "a certificate file",
        f"{certificates.LETTERS} letters, {certificates.BITS // 2} letters a number, {certificates.BUDGET:.0f} operations in all",
    ),
    ("a number written in a formula of a claim", f"{expression.DIGITS} digits; of a power {expression.BITS} bits"),
    ("a formula in LaTeX on a page", f"{formulas.LONGEST_LATEX} letters"),
]


@pytest.mark.parametrize(("what", "limit"), ROWS)
def test_a_limit_stands_in_the_page(what: str, limit: str) -> None:
    assert f"| {what} | {limit} |" in PAGE


def test_the_page_has_no_other_limits() -> None:
    table = [line for line in PAGE.splitlines() if line.startswith("| ")]
    assert len(table) == len(ROWS) + 1 and recheck.PATIENCE == certificates.PATIENCE == reading.PATIENCE


def test_the_page_says_when_a_process_is_killed() -> None:
    assert f"busy {GRACE:g} s after its time" in " ".join(PAGE.split())
