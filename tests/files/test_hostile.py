"""Damaged files are read or refused in one line: mutations of good ones, gzip files that are none, files that are too large."""

from __future__ import annotations

import gzip
import random
import time
from pathlib import Path

import cvxpy as cp
import pytest

import simopt
from simopt.core.errors import InvalidFile
from simopt.files import content, lp

MPS = """NAME T
ROWS
 N c
 G r
 L s
COLUMNS
    M 'MARKER' 'INTORG'
    x c 1 r 1
    M 'MARKER' 'INTEND'
    y c 2.5 r -1 
    y s 3e2
RHS
    b r 1 s 7
RANGES
    b r 2
BOUNDS
 UP b x 9
 FR b y
QUADOBJ
    x x 2
    y y 1
ENDATA
"""
LP = "min\n obj: x + 2 y + [ x^2 ]/2\nst\n c1: x + y >= 1\n c2: x - y <= 3\nbounds\n -1 <= y <= 4\ngen\n x\nend\n"
CBF = """VER
3
OBJSENSE
MIN
POWCONES
1 2
2
0.5
0.5
PSDVAR
1
2
VAR
7 3
F 1
Q 3
@0:POW 3
INT
1
0
PSDCON
1
2
CON
4 2
L= 1
EXP 3
OBJFCOORD
1
0 0 0 1
OBJACOORD
2
0 1
1 1
OBJBCOORD
2
FCOORD
2
0 0 0 0 1
0 0 1 1 1
ACOORD
3
0 0 1
1 1 1
2 2 -1
BCOORD
1
0 -1
HCOORD
2
0 1 0 0 1
0 2 1 0 1
DCOORD
2
0 0 0 1
0 1 1 1
"""
GOOD = {"f.mps": MPS, "f.cbf": CBF, "f.lp": LP}
STRANGE = [
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-1",
    "-99999999999999999999",
    "4294967296",
    "1e-999",
    "x",
    "0x1p3",
    "1_0",
    "\x00",
    "١",
    "'",
    "*",
    "#",
    "\x1b[2J",
]
TRIES = {"f.mps": 150, "f.cbf": 150, "f.lp": 16}  # each of the last is read in another process


def mutated(text: str, rng: random.Random) -> bytes:
    """One change of a good file, of one of eight kinds."""
    data = bytearray(text.encode())
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    match rng.randrange(8):
        case 0:
            return bytes(data[: rng.randrange(len(data))])
        case 1:
            for _ in range(rng.randrange(1, 8)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            return bytes(data)
        case 2:
            rng.shuffle(lines)
        case 3:
            del lines[at]
        case 4:
            fields = lines[at].split() or [""]
            fields[rng.randrange(len(fields))] = rng.choice(STRANGE)
            lines[at] = lines[at][: len(lines[at]) - len(lines[at].lstrip())] + " ".join(fields)
        case 5:
            lines.insert(rng.randrange(len(lines)), lines[at])
        case 6:
            first, last = sorted(rng.randrange(len(data)) for _ in range(2))
            return bytes(data[:first] + data[last:])
        case _:
            return rng.randbytes(rng.randrange(200))
    return "\n".join(lines).encode("utf-8", errors="surrogateescape")


@pytest.mark.parametrize("name", GOOD)
def test_good_files_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(GOOD[name])
    assert simopt.read(tmp_path / name).is_dcp()


@pytest.mark.parametrize("name", ["f.mps", "f.cbf", pytest.param("f.lp", marks=pytest.mark.thorough)])  # a process for each LP file
def test_each_mutation_is_read_or_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(lp, "SECONDS", 2.0)
    rng, path, refused = random.Random(0), tmp_path / name, 0
    for _ in range(TRIES[name]):
        path.write_bytes(mutated(GOOD[name], rng))
        begun = time.monotonic()
        try:
            assert isinstance(simopt.read(path), cp.Problem)
        except InvalidFile as error:
            refused += 1
            assert str(error).startswith(str(path)) and "\n" not in str(error) and ";" in str(error), (str(error), path.read_bytes())
        assert time.monotonic() - begun < 8.0, path.read_bytes()
    assert TRIES[name] / 4 < refused < TRIES[name]


@pytest.mark.parametrize("name", ["f.mps", "f.qps", "f.cbf", "f.lp"])
def test_files_of_something_else(tmp_path: Path, name: str) -> None:
    good, packed = GOOD.get(name, MPS).encode(), tmp_path / f"{name}.gz"
    for data, message in (
        (good, "cannot be unpacked"),
        (gzip.compress(good)[:-12], "cannot be unpacked"),
        (gzip.compress(good)[:40] + b"\0\1\2\3" + gzip.compress(good)[44:], "cannot be unpacked"),
        (gzip.compress(gzip.compress(good)), "line 1: "),
        (gzip.compress(b""), "line [01]: "),
        (b"", "line [01]: "),
    ):
        packed.write_bytes(data)
        with pytest.raises(InvalidFile, match=message):
            simopt.read(packed)
    (tmp_path / name).write_bytes(gzip.compress(good))
    with pytest.raises(InvalidFile, match="line 1: (byte|has a byte 0|longer)"):
        simopt.read(tmp_path / name)


def test_a_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST", 1 << 20)
    path = tmp_path / "f.mps.gz"
    path.write_bytes(gzip.compress(b" " * (1 << 27)))
    assert path.stat().st_size < 1 << 18
    with pytest.raises(InvalidFile, match="f.mps.gz: larger unpacked than the 1 MB that such a file may have"):
        simopt.read(path)
    path.with_suffix("").write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(InvalidFile, match="f.mps: larger than the 1 MB"):
        simopt.read(path.with_suffix(""))


def test_a_name_that_a_terminal_would_obey_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "f.mps").write_text(MPS.replace(" G r", " G \x1b[2J\n G \x1b[2J"))
    with pytest.raises(InvalidFile) as caught:
        simopt.read(tmp_path / "f.mps")
    assert "\x1b" not in str(caught.value)
