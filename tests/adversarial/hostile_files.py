"""Files of problems that are to be refused: MPS, QPS, CBF and LP, each with one thing wrong, by name."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator

MPS = """NAME T
ROWS
 N c
 G r
 L s
 E t
COLUMNS
    x c 1 r 2
    x t 3
    M 'MARKER' 'INTORG'
    y c 4 s 5
    M 'MARKER' 'INTEND'
    z r 6
RHS
    b r 7 s 8
RANGES
    b r 9
BOUNDS
 UP b x 10
 FR b z
QUADOBJ
    x x 11
    z z 12
ENDATA
"""
CBF = """VER
3

OBJSENSE
MIN

POWCONES
1 2
2
0.25
0.75

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
3

CON
4 2
L= 1
EXP 3

OBJFCOORD
1
0 0 0 13

OBJACOORD
2
0 14
1 15

OBJBCOORD
16

FCOORD
2
0 0 0 0 17
0 0 1 1 18

ACOORD
3
0 0 19
1 1 20
2 2 -21

BCOORD
1
0 -22

HCOORD
2
0 1 0 0 23
0 2 1 0 24

DCOORD
2
0 0 0 25
0 1 1 26
"""
LP = "min\n obj: 2 x + 3 y + [ 4 x^2 ]/2\nst\n c1: 5 x + y >= 6\n c2: x - 7 y <= 8\nbounds\n -9 <= y <= 10\nend\n"
GOOD = {"mps": MPS, "qps": MPS, "cbf": CBF, "lp": LP}
NO_NUMBERS = (
    "nan",
    "-nan",
    "1e999",
    "-1e999",
    "0x1p3",
    "1_0",
    "1,5",
    "--1",
    "1e",
    "1d5",
    ".",
    "١",
    "1/3",
    "NULL",
    "\x1b[2J",
    "9" * 400,
    "🂡",
)
NO_COUNTS = ("-1", "1.0", "1e0", "nan", "x", "99999999999", "9" * 30, "0x2", "+-1")
OTHER_SECTIONS = (
    "SOS",
    "SOS1",
    "INDICATORS",
    "QCMATRIX r",
    "CSECTION q 0 QUAD",
    "LAZYCONS",
    "USERCUTS",
    "GENCONS",
    "REFROW",
    "rows ",
    "PWLOBJ",
)
OTHER_CONES = ("SVECPSD", "GMEANABS", "QP", "L", "l+", "EXP**", "POW", "@:POW", "@1:POW", "@-1:POW", "@x:POW", "@0:QR", "\x00")


def hostile() -> Iterator[tuple[str, str, bytes]]:
    """(what is wrong, ending, content)."""
    for what, text in _mps():
        yield what, "mps", text.encode("utf-8", "surrogateescape")
    for what, text in _cbf():
        yield what, "cbf", text.encode("utf-8", "surrogateescape")
    for ending in GOOD:
        yield from ((what, ending, data) for what, data in _bytes(ending))


def hostile_lp() -> Iterator[tuple[str, str, bytes]]:
    """LP files, each of which is read by a process of its own."""
    for old in ("2 x", ">= 6", "<= 10"):  # hexadecimal digits and two signs are numbers to HiGHS, and 1e999 is an infinite bound
        for text in ("nan", "1,5", "1/3"):
            yield f"{text} for {old}", "lp", LP.replace(old, re.sub(r"\d+", text, old), 1).encode()
    yield "a coefficient of 1e999", "lp", LP.replace("2 x", "1e999 x").encode()
    for what, old, new in (
        ("no sense", "min\n", ""),
        ("another sense", "min\n", "best\n"),
        ("minimise", "min\n", "minimise\n"),
        ("a label of the sense", "min\n", "max: \n"),
        ("no rows", "st\n", ""),
        ("a sign twice", ">= 6", ">= >= 6"),
        ("a product of three", "4 x^2", "4 x * y * x"),
        ("a cube", "x^2", "x^3"),
        ("an open bracket", " ]/2", ""),
        ("a quadratic row", "5 x + y", "5 x + [ y^2 ]"),
        ("not convex", "[ 4 x^2", "[ -4 x^2"),
        ("a row twice", "c2:", "c1:"),
        ("semi-continuous columns", "end\n", "semi\n x\nend\n"),
        ("sets", "end\n", "sos\n s1: S1:: x:1 y:2\nend\n"),
        ("bounds of nothing", "-9 <= y", "-9 <= <= y"),
    ):
        assert old in LP, what
        yield what, "lp", LP.replace(old, new, 1).encode()


def _mps() -> Iterator[tuple[str, str]]:
    for number in ("2", "3", "5", "7", "8", "9", "11", "12"):
        for text in (*NO_NUMBERS, "inf", "-inf"):
            yield (
                f"{text!r:.20} for {number}",
                MPS.replace(f"{number} s" if number == "7" else f" {number}\n", f"{text} s" if number == "7" else f" {text}\n", 1),
            )
    for text in NO_NUMBERS:
        yield f"bound {text!r:.20}", MPS.replace(" 10\n", f" {text}\n")
    for section in OTHER_SECTIONS:
        yield f"section {section}", MPS.replace("ENDATA", f"{section}\n S1 a x 1\nENDATA")
    for kind in ("SC", "SI", "XX", "UPP", "", "BD", "U", "ÜP"):
        yield f"bound of kind {kind!r}", MPS.replace(" UP b x 10", f" {kind} b x 10")
    for kind in ("M", "X", "NN", "R", "=", "ge", "", "D1"):
        yield f"row of kind {kind!r}", MPS.replace(" G r", f" {kind} r")
    lines = MPS.splitlines()
    for i, line in enumerate(lines):
        fields = line.split()
        if line.startswith(" ") and "MARKER" not in line:
            rest = [*lines[:i], line, *lines[i:]]
            yield f"line {i + 1} twice", "\n".join(rest) + "\n"
            yield f"line {i + 1} with one field", "\n".join([*lines[:i], f" {fields[0]}", *lines[i + 1 :]]) + "\n"
            yield f"line {i + 1} with six more fields", "\n".join([*lines[:i], line + " a 1 b 2 c 3", *lines[i + 1 :]]) + "\n"
        if not line.startswith(" ") and line != "ENDATA" and i > 0:
            yield f"heading {line} twice", "\n".join([*lines[:i], line, *lines[i:]]) + "\n"
            yield f"words behind {line}", "\n".join([*lines[:i], f"{line} of mine", *lines[i + 1 :]]) + "\n"
        yield f"cut after line {i + 1}", "\n".join(lines[: i + 1]) + "\n" if line != "ENDATA" else MPS + "x\n"
    for name in ("ROWS", "COLUMNS", "ENDATA"):
        yield f"no {name}", MPS.replace(f"{name}\n", "")
    for what, old, new in (
        ("a row that is not there", "x c 1 r 2", "x c 1 q 2"),
        ("a right-hand side of no row", "b r 7", "b q 7"),
        ("a range of no row", "b r 9", "b q 9"),
        ("a bound of no column", "b x 10", "b q 10"),
        ("a square of no column", "x x 11", "x q 11"),
        ("a column in two parts", "    z r 6", "    z r 6\n    x s 1"),
        ("a row in a column twice", "x c 1 r 2", "x r 1 r 2"),
        ("a second right-hand side", "b r 7 s 8", "b r 7 s 8\n    d t 1"),
        ("a second set of bounds", " FR b z", " FR d z"),
        ("a lower bound of infinity", " FR b z", " LO b z inf"),
        ("an upper bound of −infinity", " FR b z", " UP b z -inf"),
        ("a fixed infinity", " FR b z", " FX b z inf"),
        ("a square that is not convex", "x x 11", "x x -11"),
        ("both triangles", "z z 12", "z x 12\n    x z 12"),
        ("a second quadratic part", "ENDATA", "QMATRIX\n    x x 11\nENDATA"),
        ("squares of another row", "QUADOBJ", "QSECTION r"),
        ("a matrix that is not symmetric", "QUADOBJ\n    x x 11", "QMATRIX\n    x z 3\n    x x 11"),
        ("a marker that ends nothing", "    M 'MARKER' 'INTORG'\n", ""),
        ("a marker that is not ended", "    M 'MARKER' 'INTEND'\n", ""),
        ("a marker of a set", "'INTORG'", "'SOSORG'"),
        ("a marker twice", "    y c 4", "    M 'MARKER' 'INTORG'\n    y c 4"),
        ("a sense that is none", "ROWS", "OBJSENSE\n    BEST\nROWS"),
        ("a sense twice", "ROWS", "OBJSENSE\n    MIN\n    MAX\nROWS"),
        ("data before a section", "NAME T", "    x c 1\nNAME T"),
        ("no row of the objective, nor any", " N c\n G r\n L s\n E t\n", ""),
        ("text after the end", "ENDATA\n", "ENDATA\nROWS\n"),
        ("a name with a blank in free columns", "x c 1 r 2", "x y c 1 r 2"),
    ):
        assert old in MPS, what
        yield what, MPS.replace(old, new, 1)


def _cbf() -> Iterator[tuple[str, str]]:
    for number in range(13, 27):
        for text in (*NO_NUMBERS, "inf"):
            old = f"{'-' if number in (21, 22) else ''}{number}\n"
            assert old in CBF, number
            yield f"{text!r:.20} for {number}", CBF.replace(old, f"{text}\n", 1)
    for section, count in (
        ("PSDVAR", "1"),
        ("VAR", "7 3"),
        ("INT", "1"),
        ("PSDCON", "1"),
        ("CON", "4 2"),
        ("OBJFCOORD", "1"),
        ("OBJACOORD", "2"),
        ("FCOORD", "2"),
        ("ACOORD", "3"),
        ("BCOORD", "1"),
        ("HCOORD", "2"),
        ("DCOORD", "2"),
        ("POWCONES", "1 2"),
    ):
        head, _, rest = count.partition(" ")
        for text in NO_COUNTS:
            yield f"{section} of {text:.12}", CBF.replace(f"\n{section}\n{count}\n", f"\n{section}\n{text}{' ' if rest else ''}{rest}\n")
        yield f"{section} of one more", CBF.replace(f"\n{section}\n{count}\n", f"\n{section}\n{int(head) + 1} {rest}".rstrip() + "\n")
        yield f"{section} twice", CBF + f"\n{section}\n{count}\n"
        if section != "INT":  # its index 0 would be a count
            yield f"{section} without a count", CBF.replace(f"\n{section}\n{count}\n", f"\n{section}\n\n")
    for cone in OTHER_CONES:
        yield f"cone {cone!r}", CBF.replace("Q 3", f"{cone} 3")
    for index, old, new in (
        ("column", "0 14", "7 14"),
        ("row", "0 0 19", "4 0 19"),
        ("entry of a matrix", "0 0 0 13", "0 2 0 13"),
        ("matrix", "0 0 0 13", "1 0 0 13"),
        ("column of H", "0 1 0 0 23", "0 7 0 0 23"),
        ("matrix of H", "0 1 0 0 23", "1 1 0 0 23"),
        ("entry of H", "0 1 0 0 23", "0 1 3 0 23"),
        ("entry of D", "0 0 0 25", "0 0 3 25"),
        ("integer", "INT\n1\n0", "INT\n1\n7"),
        ("negative", "0 14", "-1 14"),
        ("real", "0 14", "0.0 14"),
        ("constant", "0 -22", "4 -22"),
        ("row of F", "0 0 0 0 17", "4 0 0 0 17"),
        ("matrix of F", "0 0 0 0 17", "0 1 0 0 17"),
        ("entry twice", "1 15", "0 15"),
        ("mirror image", "0 0 1 1 18", "0 0 0 0 18"),
        ("version", "VER\n3", "VER\n5"),
        ("sense", "MIN", "SUP"),
        ("order of 0", "PSDVAR\n1\n2", "PSDVAR\n1\n0"),
        ("order that is huge", "PSDVAR\n1\n2", "PSDVAR\n1\n4000000"),
        ("cones that are too long", "F 1", "F 2"),
        ("cones that are too short", "Q 3", "Q 2"),
        ("exponents", "0.25", "0.5"),
        ("an exponent below 0", "0.25\n0.75", "-1\n2"),
        ("an exponential cone of four", "EXP 3", "EXP 4"),
        ("CHANGE", "INT\n", "CHANGE\n\nINT\n"),
        ("words", "OBJSENSE", "OBJECTIVE SENSE"),
        ("no sense", "OBJSENSE\nMIN\n", ""),
        ("no version", "VER\n3\n", ""),
    ):
        assert old in CBF, index
        yield f"wrong {index}", CBF.replace(old, new, 1)
    words = CBF.split("\n")
    yield from (
        (f"cut after line {i}", "\n".join(words[:i]) + "\n") for i in range(1, 15)
    )  # later ones may be whole: CBF has no word for the end
    for i in (i for i, line in enumerate(words) if " " in line):
        yield f"line {i + 1} without its end", "\n".join([*words[:i], words[i].rsplit(" ", 1)[0], *words[i + 1 :]])


def _bytes(ending: str) -> Iterator[tuple[str, bytes]]:
    """What is no text, or no text of a problem."""
    good = GOOD[ending].encode()
    yield "nothing", b""
    yield "blanks", b" \n" * 1000
    yield "a byte 0", good.replace(b"\n", b"\n\0", 1)
    yield "UTF-16", good.decode().encode("utf-16")
    yield "UTF-32", good.decode().encode("utf-32")
    yield "EBCDIC", good.decode().encode("cp500")
    yield "latin-1", good.replace(b"\n", b" \xe9\xdf\n", 2)
    yield "half a character", good + b"\xe2\x82"
    yield "surrogates", good + b"\xed\xa0\x80\n"
    yield "a line without end", good[:20] + b"x" * (1 << 17) + good[20:]
    yield "gzip without its ending", gzip.compress(good)
    yield "a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8
    yield "JSON", b'{"format": "simopt-conic-certificate/1"}\n'
    yield "a page", b"<!DOCTYPE html><html><title>404</title></html>\n"
    yield "a script", b"#!/bin/sh\necho broken > proof\n"
    yield "a pickle", b"cos\nsystem\n(S'echo broken > proof'\ntR.\n"
