"""Whatever a server answers: one line that says what was wrong where, within bounds of time and memory, and only the numbers described."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import ssl
import struct
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem, MissingDataset, NotAvailable
from simopt.data import datasets
from simopt.data.datasets import description, fetch, https, tables
from tests.adversarial.conftest import PATIENCE

sys.path.append(str(Path(__file__).parents[1] / "datasets"))
from https_server import Pages, both_repositories, serving

ROOT = Path(__file__).resolve().parents[2]
YACHT, MEMBER = "/static/public/243/yacht+hydrodynamics.zip", "yacht_hydrodynamics.data"
LIST = "/api/v1/json/data/list/data_name/abalone/status/active"
ABOUT, ARFF = "/api/v1/json/data/7", "/data/v1/download/8"
MEGABYTES = 300  # that a refusal may take
Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Pages]:
    """What the server answers with."""
    answers: Pages = {}
    with both_repositories(answers, monkeypatch, tmp_path / "cache"):
        yield answers


def carried(name: str) -> bytes:
    """The CSV text of a set that the repository has."""
    return gzip.decompress((ROOT / "data" / f"{name}.csv.gz").read_bytes())


def refused(name: str, cache: Path) -> str:
    """The one line with which the set is refused; nothing of it is kept."""
    with pytest.raises((MissingDataset, InvalidProblem)) as caught:
        datasets.load_dataset(name, fetch=True)
    said = str(caught.value)
    assert said.isprintable() and len(said) < 3000 and "127.0.0.1" in said
    assert not cache.exists() or not any(cache.iterdir())
    return said


# What OpenML says of its data sets


def listed(**entry: Any) -> bytes:
    """A list of one data set."""
    whole = {"did": 7, "name": "abalone", "version": 1, "quality": [{"name": "NumberOfInstances", "value": "4177.0"}], **entry}
    return json.dumps({"data": {"dataset": [{key: value for key, value in whole.items() if value != "absent"}]}}).encode()


LISTINGS = {
    "empty": b"",
    "HTML": b"<html><body>We are down for maintenance",
    "null": b"null",
    "list": b"[]",
    "text": b'"abalone"',
    "number": b"1e400",
    "no keys": b"{}",
    "data null": b'{"data": null}',
    "data list": b'{"data": [1, 2]}',
    "dataset null": b'{"data": {"dataset": null}}',
    "dataset text": b'{"data": {"dataset": "abalone"}}',
    "dataset object": b'{"data": {"dataset": {"did": 7}}}',
    "entries null": b'{"data": {"dataset": [null]}}',
    "entries lists": b'{"data": {"dataset": [[["name", "abalone"]]]}}',
    "no name": listed(name="absent"),
    "name list": listed(name=["abalone"]),
    "quality null": listed(quality=None),
    "quality numbers": listed(quality=[1, 2]),
    "quality without name": listed(quality=[{"value": 4177}]),
    "many samples": listed(quality=[{"name": "NumberOfInstances", "value": "many"}]),
    "samples list": listed(quality=[{"name": "NumberOfInstances", "value": [4177]}]),
    "samples infinite": listed(quality=[{"name": "NumberOfInstances", "value": 1e999}]),
    "no number": listed(did="absent"),
    "number null": listed(did=None),
    "number a path": listed(did="../../../etc/passwd"),
    "number with control characters": listed(did="7\r\nHost: elsewhere"),
    "number infinite": listed(did=1e999),
    "version a word": listed(version="one"),
    "version list": listed(version=[]),
    "deep": b"[" * 100_000,
    "deep and whole": b'{"data":' * 20_000 + b"1" + b"}" * 20_000,
    "5000 digits": b'{"data": ' + b"9" * 5000 + b"}",
    "half": listed()[:-9],
    "not UTF-8": b'{"data": "\xff\xfe\x80"}',
    "too long": b'{"data": "' + b"x" * 2_000_000 + b'"}',
    "more than OpenML has": b'{"data": {"dataset": [' + b",".join([b"{}"] * 300_000) + b"]}}",
}


@pytest.mark.parametrize("body", LISTINGS.values(), ids=LISTINGS)
def test_lists_that_are_none(pages: Pages, tmp_path: Path, body: bytes) -> None:
    pages[LIST] = body
    assert LIST in refused("abalone", tmp_path / "cache")


def about(**entry: Any) -> bytes:
    """A description of one data set."""
    whole = {"format": "ARFF", "file_id": "8", **entry}
    return json.dumps({"data_set_description": {key: value for key, value in whole.items() if value != "absent"}}).encode()


DESCRIPTIONS = {
    "empty": b"",
    "null": b"null",
    "list": b"[7]",
    "no keys": b"{}",
    "description null": b'{"data_set_description": null}',
    "description list": b'{"data_set_description": [["format", "ARFF"]]}',
    "no format": about(format="absent"),
    "format list": about(format=["ARFF"]),
    "Parquet": about(format="Parquet"),
    "no file": about(file_id="absent"),
    "file null": about(file_id=None),
    "file list": about(file_id=[8]),
    "file a path": about(file_id="../../admin"),
    "file a number without end": about(file_id=1e999),
    "file of 5000 digits": about(file_id="8" * 5000),
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("body", DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_descriptions_that_are_none(pages: Pages, tmp_path: Path, body: bytes) -> None:
    pages[LIST], pages[ABOUT] = listed(), body
    refused("abalone", tmp_path / "cache")


# Tables


def arff(change: Callable[[list[str], list[list[str]]], None] = lambda names, rows: None) -> bytes:
    """Abalone as OpenML has it, but for a change of its names or rows."""
    entry = datasets.describe("abalone")
    names = [*entry.features, "Class_number_of_rings"]
    rows = [line.split(",") for line in carried("abalone").decode().splitlines()[1:]]
    for row in rows:
        row[0] = "MFI"[int(row[0]) - 1]
    change(names, rows)
    return ("".join(f"@ATTRIBUTE {name} REAL\n" for name in names) + "@DATA\n" + "\n".join(map(",".join, rows)) + "\n").encode()


def cell(text: str, row: int = 5, column: int = 2) -> bytes:
    """One cell is another."""

    def change(names: list[str], rows: list[list[str]]) -> None:
        rows[row][column] = text

    return arff(change)


def swap(names: list[str], rows: list[list[str]]) -> None:
    rows[5], rows[6] = rows[6], rows[5]


def named(column: int, name: str) -> bytes:
    """One attribute is called otherwise."""

    def change(names: list[str], rows: list[list[str]]) -> None:
        names[column] = name

    return arff(change)


TABLES = {
    "empty": b"",
    "HTML": b"<!doctype html>\n<title>busy</title>",
    "no data": arff().partition(b"@DATA")[0],
    "no rows": arff().partition(b"@DATA")[0] + b"@DATA\n",
    "sparse": arff().partition(b"@DATA")[0] + b"@DATA\n{0 M, 1 0.5}\n",
    "cut short": arff()[:-1000],
    "one row twice": arff(lambda names, rows: rows.append(rows[-1])),
    "two rows swapped": arff(swap),
    "the last digit of a cell": cell("0.3651"),
    "a cell within the tolerance of all that is known": cell("0.36500001"),
    "another word": cell("X", column=0),
    "a missing value": cell("?"),
    "no finite number": cell("1e999"),
    "not a number": cell("nan"),
    "Arabic digits": cell("٠.٣٦٥"),
    "an underscore": cell("0.3_65"),
    "a NUL byte": cell("0.36\x005"),
    "a quote that is not closed": cell("'0.365"),
    "a cell of 200 000 letters": cell("9" * 200_000),
    "escapes for a terminal": cell("\x1b]0;owned\x07\x1b[2J"),
    "a row of a million cells": cell("," * 1_000_000),
    "a name with escapes": named(1, "\x1b[31mlength"),
    "a name of a megabyte": named(1, "l" * 1_000_000),
    "100 000 attributes": b"".join(b"@ATTRIBUTE a%d REAL\n" % i for i in range(100_000)) + b"@DATA\n1\n",
    "two attributes of one name": named(2, "length"),
    "another attribute": named(2, "width"),
    "not UTF-8": arff().replace(b"0.365", b"0.3\xff5", 1),
    "too long": arff() + b"% " + b"x" * 2**24,
}


@pytest.mark.parametrize("body", TABLES.values(), ids=TABLES)
def test_tables_that_are_not_the_one_described(pages: Pages, tmp_path: Path, body: bytes) -> None:
    pages[LIST], pages[ABOUT], pages[ARFF] = listed(), about(), body
    refused("abalone", tmp_path / "cache")


def test_the_table_described_is_taken(pages: Pages) -> None:
    pages[LIST], pages[ABOUT], pages[ARFF] = listed(), about(), arff()
    data = datasets.load_dataset("abalone", fetch=True)
    assert np.array_equal(data.features, tables.read_csv(carried("abalone").decode(), "").values[:, :-1])


def test_a_rounded_copy_is_taken_where_one_is_known_and_that_is_said(pages: Pages, caplog: pytest.LogCaptureFixture) -> None:
    entry = datasets.describe("concrete")
    table = tables.read_csv(carried("concrete").decode(), "")
    rows = np.round(table.values, 2)
    text = (
        "".join(f"@ATTRIBUTE '{name}' REAL\n" for name in entry.columns)
        + "@DATA\n"
        + "\n".join(",".join(map(repr, r)) for r in rows.tolist())
    )
    pages[LIST.replace("abalone", "Concrete_Data")] = listed(name="Concrete_Data", quality=[{"name": "NumberOfInstances", "value": 1030}])
    pages[ABOUT], pages[ARFF] = about(), text.encode()
    assert np.array_equal(datasets.load_dataset("concrete", fetch=True).targets, rows[:, -1])
    assert any("a rounded copy of concrete" in said for said in caplog.messages)


# Archives


def zipped(*members: tuple[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def yacht() -> bytes:
    """Yacht as UCI has it."""
    return carried("yacht").partition(b"\n")[2].replace(b",", b" ")


def with_byte(packed: bytes, index: int, value: int) -> bytes:
    return packed[:index] + bytes([value]) + packed[index + 1 :]


def lying_about_size() -> bytes:
    """A member of 64 MB that says it has a thousand bytes."""
    packed = zipped((MEMBER, b"1 " * 2**25))
    return packed.replace(struct.pack("<I", 2**26), struct.pack("<I", 1000))


GOOD = zipped((MEMBER, yacht()))
ARCHIVES: dict[str, bytes | Callable[[], bytes]] = {  # made when they are needed, where that takes long
    "empty": b"",
    "HTML": b"<html>",
    "a gzip file": gzip.compress(yacht()),
    "no members": zipped(),
    "another member": zipped(("readme.txt", b"")),
    "a folder of that name": zipped((f"{MEMBER}/", b"")),
    "cut at the end": GOOD[:-30],
    "cut in the middle": GOOD[: len(GOOD) // 2],
    "cut at the beginning": GOOD[30:],
    "a byte of the content": with_byte(GOOD, 200, GOOD[200] ^ 255),
    "a byte of the header": with_byte(GOOD, 1, 0),
    "the size in the directory": with_byte(GOOD, GOOD.index(b"PK\1\2") + 25, 0),
    "a directory beyond the end": with_byte(GOOD, GOOD.index(b"PK\5\6") + 18, 255),
    "encrypted": with_byte(GOOD, GOOD.index(b"PK\1\2") + 8, 1),
    "an unknown way of packing": with_byte(GOOD, GOOD.index(b"PK\1\2") + 10, 99),
    "bz2": zipped((MEMBER, yacht()), how=zipfile.ZIP_BZIP2),
    "lzma": zipped((MEMBER, yacht()), how=zipfile.ZIP_LZMA),
    "an expanding file": lambda: zipped((MEMBER, b"1 2 3 4 5 6 7\n" * 8_000_000)),
    "an expanding file of zeros": lambda: zipped((MEMBER, bytes(2**27))),
    "an expanding file in bz2": lambda: zipped((MEMBER, bytes(2**27)), how=zipfile.ZIP_BZIP2),
    "lying about its size": lying_about_size,
    "too many members": lambda: zipped(*((str(i), b"") for i in range(2000)), (MEMBER, yacht())),
    "two members of one name": zipped((f"a/{MEMBER}", b"1 2 3"), (f"b/{MEMBER}", yacht())),
    "a zip in a zip": zipped((MEMBER, GOOD)),
    "a cell missing": zipped((MEMBER, yacht().replace(b" ", b"", 1))),
    "other numbers": zipped((MEMBER, yacht().replace(b"0.568", b"0.569"))),
    "too long": b"x" * (2**24 + 1),
}


@pytest.mark.parametrize("body", ARCHIVES.values(), ids=ARCHIVES)
def test_archives_that_are_broken(pages: Pages, tmp_path: Path, body: bytes | Callable[[], bytes]) -> None:
    resource = pytest.importorskip("resource")
    pages[YACHT] = body() if callable(body) else body
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused("yacht", tmp_path / "cache")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MEGABYTES << (20 if sys.platform == "darwin" else 10)


def test_a_path_in_an_archive_leads_nowhere(pages: Pages, tmp_path: Path) -> None:
    pages[YACHT] = zipped((f"../../../../{MEMBER}", yacht()))
    assert datasets.load_dataset("yacht", fetch=True).n == 308
    assert [path.name for path in tmp_path.rglob("*.data")] == []


def test_another_file_than_the_one_whose_sum_is_known_is_not_unpacked(
    pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = datasets.describe("yacht")
    place = {**entry.fetch[0], "sha256": hashlib.sha256(GOOD).hexdigest()}
    monkeypatch.setitem(description._catalogue().datasets, "yacht", replace(entry, fetch=(place,)))
    with monkeypatch.context() as watched:
        watched.setattr(fetch, "zip_member", lambda *_: pytest.fail("unpacked"))
        pages[YACHT] = zipped((MEMBER, yacht()), ("more", b""))
        assert "another file than the one described" in refused("yacht", tmp_path / "cache")
    pages[YACHT] = GOOD
    assert datasets.load_dataset("yacht", fetch=True).n == 308


# Answers of the server


def answering(*parts: bytes) -> Answer:
    """These bytes and no others."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        for part in parts:
            handler.wfile.write(part)
        handler.close_connection = True

    return answer


def leads_to(location: str, body: bytes = b"", status: int = 302) -> Answer:
    return answering(f"HTTP/1.1 {status} Found\r\nLocation: {location}\r\nContent-Length: {len(body)}\r\n\r\n".encode(), body)


def without_end(begin: bytes, part: bytes, pause: float = 0.0) -> Answer:
    """The same bytes again and again, until nobody listens."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        try:
            handler.wfile.write(begin)
            while True:
                handler.wfile.write(part)
                time.sleep(pause)
        except (OSError, ssl.SSLError):
            return

    return answer


OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS: dict[str, Answer] = {
    "nothing": answering(b""),
    "no status line": answering(b"<html>hello</html>\r\n\r\n"),
    "half a status line": answering(b"HTTP/1.1 2"),
    "a status that is no number": answering(b"HTTP/1.1 OK 200\r\n\r\n"),
    "a long status line": answering(b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n"),
    "a long header": answering(OK, b"X: " + b"x" * 100_000 + b"\r\n\r\n"),
    "many headers": answering(OK, b"X: 1\r\n" * 1000, b"\r\n"),
    "no content": answering(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "a part": answering(b"HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nhello"),
    "server error": answering(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"),
    "escapes in the reason": answering(b"HTTP/1.1 503 \x1b[2J\x1b]0;owned\x07\r\nContent-Length: 0\r\n\r\n"),
    "a long reason": answering(b"HTTP/1.1 503 " + b"x" * 60_000 + b"\r\nContent-Length: 0\r\n\r\n"),
    "less than promised": answering(OK, b"Content-Length: 100000\r\n\r\n", GOOD[:500]),
    "promised without end": answering(OK, b"Content-Length: 999999999999999999999\r\n\r\n", GOOD),
    "a negative length": answering(OK, b"Content-Length: -5\r\n\r\n", GOOD[:500]),
    "a length that is none": answering(OK, b"Content-Length: much\r\n\r\n", GOOD[:500]),
    "chunks cut short": answering(OK, b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel"),
    "chunks without lengths": answering(OK, b"Transfer-Encoding: chunked\r\n\r\nhello\r\nworld\r\n"),
    "a chunk of negative length": answering(OK, b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"),
    "a chunk without end": answering(OK, b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello"),
    "packed once more": answering(OK, b"Content-Encoding: gzip\r\n\r\n", gzip.compress(GOOD)),
    "bytes without end": without_end(OK + b"\r\n", b"x" * 2**20),
    "chunks without number": without_end(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + b"x" * 2**20 + b"\r\n"),
    "to itself": leads_to(YACHT),
    "to itself, with bytes without end": without_end(b"HTTP/1.1 302 Found\r\nLocation: " + YACHT.encode() + b"\r\n\r\n", b"x" * 2**20),
    "to nowhere": leads_to(""),
    "to a place that is none": leads_to("https://[::1"),
    "to a port that is none": leads_to("https://127.0.0.1:99999999/"),
    "to control characters": leads_to("/a b\x01c"),
    "to a file": leads_to("file:///etc/hostname"),
    "to ftp": leads_to("ftp://127.0.0.1/a"),
    "to data": leads_to("data:text/plain,hello"),
    "to gopher": leads_to("gopher://127.0.0.1/"),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_answers_that_are_none(pages: Pages, tmp_path: Path, answer: Answer) -> None:
    pages[YACHT] = answer
    refused("yacht", tmp_path / "cache")


def test_a_redirect_over_https_is_followed(pages: Pages) -> None:
    pages["/elsewhere"] = GOOD
    for status in (301, 302, 303, 307, 308):
        pages[YACHT] = leads_to("/elsewhere", b"moved", status)
        assert https.DownloadSession(30.0).get(f"{fetch._base('SIMOPT_UCI', '')}{YACHT}", 2**20) == GOOD


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nobody_is_led_to_a_place_without_encryption(pages: Pages, tmp_path: Path, status: int) -> None:
    asked = []

    def plain(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        answering(OK, b"\r\n", GOOD)(handler)

    with serving({"/yacht.zip": plain}, secure=False) as address:
        pages[YACHT] = leads_to(f"{address}/yacht.zip", status=status)
        assert "which is no https address" in refused("yacht", tmp_path / "cache")
    assert asked == []


@pytest.mark.parametrize("scheme", ["http", "ftp", "file", "data", "HTTP", ""])
def test_mirrors_speak_https(pages: Pages, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    with serving({YACHT: GOOD}, secure=False) as address:
        monkeypatch.setenv("SIMOPT_UCI", address.replace("http", scheme))
        with pytest.raises(MissingDataset, match="not an https address"):
            datasets.load_dataset("yacht", fetch=True)


@pytest.mark.parametrize(
    "mirror", ["https://", "https://[", "https://127.0.0.1:x", "https://127.0.0.1:99999", "https://a b", "https://\x01", "https://é"]
)
def test_mirrors_that_are_no_address(pages: Pages, monkeypatch: pytest.MonkeyPatch, mirror: str) -> None:
    for variable in ("SIMOPT_UCI", "SIMOPT_OPENML"):
        monkeypatch.setenv(variable, mirror)
    with pytest.raises(MissingDataset, match="could not be fetched: https:"):
        datasets.load_dataset("abalone", fetch=True)


def test_a_certificate_that_nobody_trusts(pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages[YACHT] = GOOD
    monkeypatch.delenv("SSL_CERT_FILE")
    assert "certificate" in refused("yacht", tmp_path / "cache").lower()


SLOW = {
    "body": without_end(OK + b"Content-Length: 100000\r\n\r\n", b"x", 0.05),
    "headers": without_end(OK, b"X: 1\r\n", 0.05),
    "one header": without_end(OK + b"X: ", b"x", 0.05),
    "status": without_end(b"HTTP/1.1 200 ", b"x", 0.05),
    "chunks": without_end(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.05),
    "interim answers": without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05),
    "silence": without_end(b"", b"", 0.05),
}


@pytest.mark.parametrize("answer", SLOW.values(), ids=SLOW)
def test_slow_answers_end_in_time(pages: Pages, tmp_path: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "SECONDS", 0.4)
    pages[YACHT] = answer
    begun = time.monotonic()
    refused("yacht", tmp_path / "cache")
    assert time.monotonic() - begun < PATIENCE


def test_time_is_for_all_that_is_asked_together(pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of a million versions, each of which is there and is another table."""
    asked = []

    def count(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        answering(OK, b"\r\n", about())(handler)

    entry = json.loads(listed())["data"]["dataset"][0]
    pages[LIST] = json.dumps({"data": {"dataset": [{**entry, "version": i} for i in range(5000)]}}).encode()
    pages[ABOUT], pages[ARFF] = count, TABLES["another attribute"]
    refused("abalone", tmp_path / "cache")
    assert 0 < len(asked) <= fetch.VERSIONS


# The cache


def plant(cache: Path, packed: bytes, note: bytes | None = None) -> None:
    """A file in the cache with the note that belongs to it, or another."""
    cache.mkdir()
    (cache / "yacht.csv.gz").write_bytes(packed)
    (cache / "yacht.csv.gz.sha256").write_bytes(hashlib.sha256(packed).hexdigest().encode() + b"  yacht.csv.gz\n" if note is None else note)


PLANTED = {
    "another number": gzip.compress(carried("yacht").replace(b"0.568", b"0.569")),
    "two rows swapped": gzip.compress(b"\n".join(carried("yacht").split(b"\n")[i] for i in (*range(5), 6, 5, *range(7, 310)))),
    "a row less": gzip.compress(carried("yacht").rpartition(b"\n-")[0] + b"\n"),
    "a column more": gzip.compress(carried("yacht").replace(b"\n", b",1\n").replace(b",1\n", b",x\n", 1)),
    "no table": gzip.compress(b"hello"),
    "no gzip": carried("yacht"),
    "half": gzip.compress(carried("yacht"))[:1000],
    "trailing garbage": gzip.compress(carried("yacht")) + b"garbage",
    "empty": b"",
    "NUL bytes": gzip.compress(bytes(5000)),
    "UTF-16": gzip.compress(carried("yacht").decode().encode("utf-16")),
}


@pytest.mark.parametrize("packed", PLANTED.values(), ids=PLANTED)
def test_a_planted_cache_with_the_right_note_is_refused(pages: Pages, tmp_path: Path, packed: bytes) -> None:
    plant(tmp_path / "cache", packed)
    with pytest.raises(InvalidProblem, match=r"yacht\.csv\.gz"):
        datasets.load_dataset("yacht")


@pytest.mark.parametrize("note", [b"", b"\xff\xfe\x00", b"0" * 64, b"x" * 10_000_000], ids=["empty", "no text", "zeros", "long"])
def test_a_note_that_is_none_notes_nothing(pages: Pages, tmp_path: Path, note: bytes) -> None:
    plant(tmp_path / "cache", gzip.compress(carried("yacht"), 1), note)
    with pytest.raises(InvalidProblem, match="damaged or another version"):
        datasets.load_dataset("yacht")


def test_a_set_packed_by_another_program_is_the_same_set(pages: Pages, tmp_path: Path) -> None:
    plant(tmp_path / "cache", gzip.compress(carried("yacht"), 1))
    assert datasets.load_dataset("yacht").n == 308


def test_every_table_that_can_be_fetched_has_a_sum() -> None:
    for entry in datasets.descriptions():
        assert bool(entry.csv_sha256) == entry.file.endswith(".csv.gz")
        if entry.carried and entry.csv_sha256:
            assert hashlib.sha256(carried(entry.name)).hexdigest() == entry.csv_sha256


def test_not_available_is_what_all_refusals_of_the_network_are() -> None:
    with pytest.raises(NotAvailable, match="leads to ftp://x/, which is no https address"):
        https.DownloadSession(1.0).get("ftp://x/", 1)
