"""Bytes that nobody thought of: every reader of data gives what it promises or raises the one error that it promises.

Each example is a sound file of its format with pieces overwritten, cut out, doubled or moved; what was ever found stays as an @example.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from counted import case
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simopt.core.errors import InvalidProblem, NotAvailable
from simopt.data.datasets import fetch, packed, tables

MOST = 2**16
CSV = b'a;"b ""c""";d\r\n1;2;3e5\n-4.5;"6";7\n'
ARFF = b"% says who\n@RELATION r\n@ATTRIBUTE 'a b' REAL\n@attribute c {x,y}\n\n@DATA\n1,'2'\n3, 4\n"
PLAIN = b" 1 2;x\n3\t4\n"
LISTING = json.dumps(
    {"data": {"dataset": [{"did": 1, "name": "a", "version": 2, "quality": [{"name": "NumberOfInstances", "value": "3.0"}]}]}}
)
ABOUT = json.dumps({"data_set_description": {"format": "ARFF", "file_id": "8"}})


def _zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("d/x", CSV * 5)
        made.writestr("y", CSV)
    return out.getvalue()


def _csv(content: bytes) -> None:
    table = tables.read_csv(content.decode("utf-8", errors="replace"), "f")
    assert table.values.shape[1] == len(table.columns) == len(set(table.columns)) and np.all(np.isfinite(table.values))
    again = tables.read_csv(tables.write_csv(tables.NumberTable(tuple(f"x{j}" for j in range(len(table.columns))), table.values)), "f")
    assert np.array_equal(again.values, table.values)


def _arff(content: bytes) -> None:
    names, rows = tables.arff_cells(content.decode("utf-8", errors="replace"), "f")
    assert names and tables.parse(rows, names, {"c": {"x": 1.0}}, "f").shape == (len(rows), len(names))


def _plain(content: bytes) -> None:
    rows = tables.cells(content.decode("utf-8", errors="replace"), "f")
    assert tables.parse(rows, ["a", "b"], {}, "f").shape == (len(rows), 2)


def _gzip(content: bytes) -> None:
    assert len(packed.gunzip(content, MOST, "f")) <= MOST


def _zip(content: bytes) -> None:
    assert len(packed.zip_member(content, "x", MOST, "f")) <= MOST


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (RecursionError, ValueError) as error:  # as `fetch` does
        raise NotAvailable("not JSON") from error


def _versions(content: bytes) -> None:
    for version, number in fetch._versions(_json(content), "a", 3, "f"):
        assert isinstance(version, int) and isinstance(number, int)


def _about(content: bytes) -> None:
    assert isinstance(fetch._file_of(_json(content), "f"), int)


READERS: dict[str, tuple[bytes, Callable[[bytes], None]]] = {
    "CSV": (CSV, _csv),
    "ARFF": (ARFF, _arff),
    "plain columns": (PLAIN, _plain),
    "gzip": (gzip.compress(CSV * 20), _gzip),
    "zip": (_zipped(), _zip),
    "OpenML's list": (LISTING.encode(), _versions),
    "OpenML's description": (ABOUT.encode(), _about),
}
PIECES = [
    b"",
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff",
    b"\n",
    b"\r",
    b";",
    b",",
    b'"',
    b"'",
    b"{",
    b"[",
    b"]",
    b"null",
    b"1e999",
    b"nan",
    b"9" * 400,
    b"PK\1\2",
    b"PK\3\4",
]
changes = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 12), st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)), st.booleans()), max_size=6
)


def changed(content: bytes, steps: list[tuple[float, int, bytes, bool]]) -> bytes:
    """At a place, so many bytes are left out and others put in; and what was left out may go to the end."""
    for place, length, piece, moved in steps:
        i = int(place * len(content))
        content = content[:i] + piece + content[i + length :] + (content[i : i + length] if moved else b"")
    return content


@pytest.mark.parametrize("form", READERS)
@given(steps=changes)
@example(steps=[])
@settings(max_examples=150)
def test_a_reader_reads_or_refuses(form: str, steps: Any) -> None:
    case()
    content, read = READERS[form]
    with suppress(InvalidProblem, NotAvailable):
        read(changed(content, steps))
