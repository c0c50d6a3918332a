"""Data files of one's own, on the command line and in Python: one line with file, line and remedy for all that is no table of numbers."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from simopt.cli.main import app
from simopt.core.errors import InvalidProblem, NotAvailable
from simopt.data import datasets
from simopt.data.datasets import loader

GOOD = b"a,b\n1,2\n3,4\n5,7\n"


def npz() -> bytes:
    """An archive of an array."""
    out = io.BytesIO()
    np.savez(out, a=np.ones(3))
    return out.getvalue()


CELL = r"line \d+, column \d+ \(.+\) "

# name -> content, and what is said after the name of the file, or of the cell
TABLES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "a byte order mark alone": (b"\xef\xbb\xbf", "the file is empty"),
    "blank": (b" \n\n", "the file is empty"),
    "an empty first line": (b"\na,b\n1,2\n", "line 1 is empty; put the names of the columns there"),
    "UTF-16 with a mark": ("a,b\n1,2\n".encode("utf-16"), "line 1 is not UTF-8 text; save the file as UTF-8"),
    "UTF-16 without": ("a,b\n1,2\n".encode("utf-16-le"), "line 1 holds a NUL byte.*save the file as UTF-8"),
    "UTF-32": ("a,b\n1,2\n".encode("utf-32"), "line 1 is not UTF-8 text"),
    "UTF-32 without a mark": ("a,b\n1,2\n".encode("utf-32-be"), "line 1 holds a NUL byte"),
    "UTF-8, then Latin-1": ("a,ö\n1,2\n".encode() + "3,é\n".encode("latin-1"), "line 3 is not UTF-8 text"),
    "Latin-1 in the header": ("a,ö\n1,2\n".encode("latin-1"), "line 1 is not UTF-8 text"),
    "half a letter at the end": (b"a,b\n1,2\n3,4\xc3", "line 3 is not UTF-8 text"),
    "a surrogate": (b"a,b\n1,\xed\xa0\x80\n", "line 2 is not UTF-8 text"),
    "an overlong NUL": (b"a,b\n1,\xc0\x80\n", "line 2 is not UTF-8 text"),
    "a NUL byte in a cell": (b"a,b\n1,2\n3,\x004\n", "line 3 holds a NUL byte"),
    "NUL bytes at the end, of a file that was not flushed": (b"a,b\n1,2\n" + bytes(4096), "line 3 holds a NUL byte"),
    "NUL bytes only": (bytes(10_000), "line 1 holds a NUL byte"),
    "a mark in the middle, of files put together": (
        b"a,b\n1,2\n\xef\xbb\xbf3,4\n",
        r"line 3, column 1 \(a\) holds '\\ufeff3', not a number",
    ),
    "files put together": (GOOD + GOOD, r"line 5, column 1 \(a\) holds 'a', not a number"),
    "a form feed": (b"a,b\n1,2\x0c3,4\n", "line 2 has 3 cells, expected 2"),
    "a separator of records": (b"a,b\n1,2\x1e3,4\n", "line 2 has 3 cells, expected 2"),
    "a line separator of Unicode": ("a,b\n1,2\u20283,4\n".encode(), "line 2 has 3 cells, expected 2"),
    "a next line of Unicode": ("a,b\n1,2\u00853,4\n".encode(), "line 2 has 3 cells, expected 2"),
    "line numbers after a form feed": (b"a,\x0cb\n1,2\n3,x\n", "line 3, column 2 .* holds 'x'"),
    "two columns of one name": (b"a,b,a\n1,2,3\n", "two columns are called 'a'; give each a name of its own"),
    "but for spaces": (b"a, a\n1,2\n", "two columns are called 'a'"),
    "but for quotes": (b'a,"a"\n1,2\n', "two columns are called 'a'"),
    "three columns without name": (b"a,,,\n1,2,3,4\n", "3 columns are called ''"),
    "100 000 columns of one name": (b",".join([b"a"] * 100_000) + b"\n1\n", "100000 columns are called 'a'"),
    "100 000 columns, the last two of one name": (
        b",".join(b"%d a" % i for i in range(100_000)) + b",9 a\n1\n",
        "two columns are called '9 a'",
    ),
    "a name of a megabyte": (b"a" * 1_000_000 + b",b\n1,2\n", "line 1 cannot be read .field larger"),
    "a name of 100 000 letters": (b"a" * 100_000 + b",b\nx,2\n", r"line 2, column 1 \(a{80}…\) holds 'x'"),
    "a name with escapes": (b"\x1b[31ma,b\nx,2\n", r"line 2, column 1 \('\\x1b\[31ma'\) holds 'x'"),
    "a cell with escapes": (b"a,b\n\x1b[2J,2\n", r"line 2, column 1 \(a\) holds '\\x1b\[2J', not a number"),
    "a cell of 100 000 letters": (b"a,b\n" + b"x" * 100_000 + b",2\n", r"line 2, column 1 \(a\) holds 'x{80}…', not a number"),
    "a cell of 200 000 letters": (b"a,b\n" + b"x" * 200_000 + b",2\n", "line 2 cannot be read .field larger"),
    "a number of 200 000 digits and a word": (b"a,b\n1,x\n" + b"9" * 200_000 + b",2\n", "line 3 cannot be read|holds 'x'"),
    "a row of a million cells": (b"a,b\n" + b"1," * 1_000_000 + b"\n", "line 2 has 1000001 cells, expected 2"),
    "a quote that is not closed": (b'a,b\n1,"2\n3,4\n', "line 2 opens a quote and does not close it"),
    "a cell over two lines": (b'a,b\n"1\n",2\n', "line 2 opens a quote and does not close it; a cell must end on its line"),
    "a name over two lines": (b'"a\nb",c\n1,2\n', "line 1 opens a quote and does not close it"),
    "decimal commas": (b"a;b\n1,5;2\n", r"line 2, column 1 \(a\) holds '1,5', not a number \(write a point for the comma\)"),
    "thousands": (b'a,b\n"1,000,000",2\n', r"line 2, column 1 \(a\) holds '1,000,000', not a number"),
    "other separators below": (b"a,b\n1;2\n", "line 2 has 1 cells, expected 2"),
    "no separator": (b"a b\n1 2\n", "line 2, column 1 .* holds '1 2', not a number"),
    "an underscore": (b"a,b\n1_000,2\n", "holds '1_000', not a number"),
    "Arabic digits": ("a,b\n١٢,2\n".encode(), "holds '١٢', not a number"),
    "full-width digits": ("a,b\n１２,2\n".encode(), "holds .*, not a number"),
    "a minus of Unicode": ("a,b\n−1,2\n".encode(), "holds .*, not a number"),
    "a space that does not break": ("a,b\n1\u00a0000,2\n".encode(), "holds .*, not a number"),
    "hexadecimal": (b"a,b\n0x10,2\n", "holds '0x10', not a number"),
    "a complex number": (b"a,b\n1+2j,2\n", r"holds '1\+2j', not a number"),
    "a fraction": (b"a,b\n1/2,2\n", "holds '1/2', not a number"),
    "a date": (b"a,b\n2026-01-01,2\n", "holds '2026-01-01', not a number"),
    "per cent": (b"a,b\n5%,2\n", "holds '5%', not a number"),
    "a formula": (b"a,b\n=1+1,2\n", r"holds '=1\+1', not a number"),
    "true": (b"a,b\nTrue,2\n", "holds 'True', not a number"),
    "infinity": (b"a,b\ninfinity,2\n", "holds 'infinity', which is not finite"),
    "beyond all doubles": (b"a,b\n1e400,2\n", "holds '1e400', which is not finite"),
    "nan": (b"a,b\n1,2\n-NaN,2\n", "line 3, .* holds '-NaN', which is not finite"),
    "JSON": (b'{"a": [1, 2]}', ".*"),
    "HTML": (b"<html><body>Sign in</body></html>", "no rows after the header"),
    "a pickle": (b"\x80\x04\x95\x1a\x00\x00\x00", "line 1 is not UTF-8 text"),
    "a zip file": (npz(), "line [0-9]+ (is not UTF-8|holds a NUL)"),
    "a gzip file without its ending": (gzip.compress(GOOD), "line 1 is not UTF-8 text"),
    "LIBSVM": (b"1 1:0.5 2:0.3\n-1 1:0.2\n", ".*"),
    "ARFF": (b"@relation x\n@attribute a real\n@data\n1\n", ".*"),
}


@pytest.mark.parametrize(("content", "message"), TABLES.values(), ids=TABLES)
def test_tables_that_are_none(tmp_path: Path, content: bytes, message: str) -> None:
    for name, packed in (("bad.csv", content), ("bad.csv.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(packed)
        begun = time.process_time()
        with pytest.raises(InvalidProblem, match=rf"{name}: ({CELL})?({message})") as caught:
            datasets.load_dataset(tmp_path / name)
        said = str(caught.value)
        assert len(said) < 600 and said.isprintable() and time.process_time() - begun < 5.0


FINE: dict[str, bytes] = {
    "as it should be": GOOD,
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "CR LF": GOOD.replace(b"\n", b"\r\n"),
    "CR": GOOD.replace(b"\n", b"\r"),
    "all three": b"a,b\r\n1,2\n3,4\r5,7",
    "blank lines": b"a,b\n\n1,2\n  \n3,4\n5,7\n\n\n",
    "no end of the last line": GOOD[:-1],
    "quotes": b'"a","b"\n"1","2"\n"3","4"\n"5","7"\n',
    "spaces": b' a , b \n 1 , 2\n3 ,4\n 5,"7" \n',
    "semicolons": GOOD.replace(b",", b";"),
    "tabs": GOOD.replace(b",", b"\t"),
    "long numbers": GOOD.replace(b"7", b"7." + b"0" * 1000),
    "exponents and signs": b"a,b\n+1e0,2E+0\n30e-1,.4e1\n5.,7.0\n",
}


@pytest.mark.parametrize("content", FINE.values(), ids=FINE)
def test_tables_that_are_written_otherwise(tmp_path: Path, content: bytes) -> None:
    for name, packed in (("good.csv", content), ("good.csv.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(packed)
        data = datasets.load_dataset(tmp_path / name)
        assert data.feature_names == ("a",) and data.features.tolist() == [[1.0], [3.0], [5.0]] and data.targets.tolist() == [2.0, 4.0, 7.0]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('"a;b",c', ("a;b", "c")),
        ('"a\tb",c', ("a\tb", "c")),
        ('"a,b";c', ("a,b", "c")),
        ('"a;b"\tc', ("a;b", "c")),
        ('"a ""x;y""",c', ('a "x;y"', "c")),
        ('height 5",c', ('height 5"', "c")),
    ],
)
def test_a_separator_in_quotes_separates_nothing(tmp_path: Path, header: str, names: tuple[str, str]) -> None:
    separator = header[-2]
    (tmp_path / "quoted.csv").write_text(f"{header}\n1{separator}2\n3{separator}4\n")
    data = datasets.load_dataset(tmp_path / "quoted.csv")
    assert (*data.feature_names, "c") == names and data.targets.tolist() == [2.0, 4.0]


# Files that are no files


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def terminal(path: Path) -> None:
    path.symlink_to("/dev/tty")


def folder(path: Path) -> None:
    path.mkdir()


def nothing(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def itself(path: Path) -> None:
    path.symlink_to(path)


def socket(path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def memory(path: Path) -> None:
    path.symlink_to("/proc/self/mem")


ODD = [fifo, device, terminal, folder, nothing, itself, socket, memory]


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
@pytest.mark.parametrize("name", ["odd.csv", "odd.csv.gz"])
@pytest.mark.parametrize("make", ODD)
def test_what_is_no_plain_file_is_not_waited_for(
    make: Callable[[Path], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / name)
    with pytest.raises((InvalidProblem, NotAvailable), match=rf"{name}: (is no plain file|is a folder|no such file|cannot be read)"):
        datasets.load_dataset(tmp_path / name)


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
@pytest.mark.parametrize("variable", ["SIMOPT_DATA", "SIMOPT_CACHE"])
@pytest.mark.parametrize("make", ODD)
def test_nor_where_data_sets_are_kept(make: Callable[[Path], None], variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMOPT_DATA", raising=False)
    monkeypatch.setenv("SIMOPT_CACHE", str(tmp_path / "none"))
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(loader, "source_tree", lambda: None)
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "yacht.csv.gz")
    with pytest.raises((InvalidProblem, NotAvailable), match=r"yacht"):
        datasets.load_dataset("yacht")


GZIP = gzip.compress(b"a,b\n" + b"1,2\n" * 500)
BROKEN: dict[str, bytes] = {
    "empty": b"",
    "no gzip": GOOD,
    "half": GZIP[: len(GZIP) // 2],
    "without its sum": GZIP[:-8],
    "without its length": GZIP[:-4],
    "another sum": GZIP[:-8] + bytes([GZIP[-8] ^ 1]) + GZIP[-7:],
    "another length": GZIP[:-4] + b"\0\0\0\0",
    "another byte": GZIP[:15] + bytes([GZIP[15] ^ 255]) + GZIP[16:],
    "another way": GZIP[:2] + b"\7" + GZIP[3:],
    "the header": GZIP[:10],
    "with an end": GZIP + b"end",
    "a zip file": npz(),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_packed_files_that_are_broken(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.csv.gz").write_bytes(content)
    with pytest.raises(InvalidProblem, match=r"bad\.csv\.gz: the (gzip file is damaged|file is empty)"):
        datasets.load_dataset(tmp_path / "bad.csv.gz")


@pytest.mark.parametrize("what", ["an expanding file", "an expanding file in many parts", "an expanding file of commas", "a sparse file"])
def test_what_is_too_large_is_not_read_to_its_end(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "TEXT", 2**24)
    path = tmp_path / ("large.csv" if what == "a sparse file" else "large.csv.gz")
    if what == "a sparse file":
        with path.open("wb") as file:
            file.write(GOOD)
            file.truncate(2**40)
    elif "parts" in what:
        path.write_bytes(gzip.compress(GOOD + b"1,2\n" * 2**20) * 64)
    else:
        path.write_bytes(gzip.compress(GOOD + (b",," if "commas" in what else b"1\n") * 2**24))
    begun = time.process_time()
    with pytest.raises(InvalidProblem, match=r"large\.csv.*: more than the 16 MB that such a file may have"):
        datasets.load_dataset(path)
    assert time.process_time() - begun < 5.0


@pytest.mark.slow
def test_eight_gigabytes_from_twelve_megabytes_stay_within_bounds(tmp_path: Path) -> None:
    """The whole file, in a process that may have six gigabytes of addresses."""
    resource = pytest.importorskip("resource")
    part = gzip.compress(bytes(2**26), 9)
    (tmp_path / "expanding.csv.gz").write_bytes(part * 128)
    assert (tmp_path / "expanding.csv.gz").stat().st_size < 13_000_000
    code = "import sys; from simopt import load_dataset\ntry: load_dataset(sys.argv[1])\nexcept ValueError as e: print(e)"
    limit = 6 * 2**30
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "expanding.csv.gz")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert "more than the 2048 MB that such a file may have" in done.stdout, done.stderr[-500:]


# Files of other formats


def headed(shape: str, kind: str = "<f8") -> bytes:
    """An .npy file whose header says what it likes."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def archive(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("x.npy", content)
    return out.getvalue()


OTHERS: dict[str, bytes] = {
    "rows.npy": headed("(1000000000000, 100)"),
    "kind.npy": headed("(1,)", "|V2147483647"),
    "objects.npy": headed("(1,)", "|O") + b"cos\nsystem\n(S'true'\ntR.",
    "rows.npz": archive(headed("(1000000000000, 100)")),
    "objects.npz": archive(headed("(1,)", "|O")),
    "table.arff": b"@relation x\n",
    "table.svm": b"1 1:0.5\n",
    "table.libsvm": b"1 1:0.5\n",
    "table.txt": GOOD,
    "table.tsv": GOOD,
    "table.xlsx": archive(b""),
    "table.parquet": b"PAR1",
    "table.json": b"{}",
    "table.pkl": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
    "table.CSV.BZ2": b"BZh9",
    "table.zip": archive(b""),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("here", [True, False])
def test_other_formats_are_refused_unread_with_what_to_do(tmp_path: Path, name: str, here: bool) -> None:
    if here:
        (tmp_path / name).write_bytes(OTHERS[name])
    with pytest.raises(InvalidProblem, match=rf"{name}: .*\.csv and \.csv\.gz"):
        datasets.load_dataset(tmp_path / name)


@pytest.mark.parametrize("name", ["bad.csv", "objects.npy", "pipe.csv"])
def test_the_command_line_says_it_in_one_line(tmp_path: Path, name: str) -> None:
    if name == "pipe.csv":
        pytest.importorskip("resource")
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).write_bytes(OTHERS.get(name, b"a,b\n1,\x1b[2J\n"))
    done = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["solve", "lipschitz-isotonic", "--data", str(tmp_path / name)])
    assert done.exit_code == 2 and done.stderr.strip().count("\n") == 0 and name in done.stderr and done.stderr.strip().isprintable()
