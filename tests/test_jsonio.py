"""JSON without NaN, and files that are whole or not there."""

import json
from enum import Enum
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simopt.core import jsonio
from simopt.core.errors import InvalidFile
from simopt.solving.solution import Sample


class Colour(Enum):
    """An enum that is not a string."""

    RED = "red"


def test_plain_values() -> None:
    value = {
        "nan": float("nan"),
        "inf": np.float64(-np.inf),
        "array": np.array([[1, 2], [3, 4]]),
        "hole": np.array([1.0, np.nan]),
        "fraction": Fraction(-1, 3),
        "enum": Colour.RED,
        "flag": np.bool_(True),
        "set": {3, 1},
        "path": Path("a/b"),
        "complex": np.array([1 - 2j]),
        "sample": Sample(1.0, 2, 3.0, 4.0, float("inf")),
        5: (1, None),
    }
    assert jsonio.plain(value) == {
        "nan": None,
        "inf": None,
        "array": [[1, 2], [3, 4]],
        "hole": [1.0, None],
        "fraction": "-1/3",
        "enum": "red",
        "flag": True,
        "set": [1, 3],
        "path": "a/b",
        "complex": [[1.0, -2.0]],
        "sample": {"seconds": 1.0, "iteration": 2, "upper": 3.0, "lower": 4.0, "gap": None, "rounding": False},
        "5": [1, None],
    }
    assert jsonio.plain(np.bool_(True)) is True
    with pytest.raises(TypeError, match="object has no meaning in JSON"):
        jsonio.plain(object())


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_finite_floats_come_back_as_they_were(x: float) -> None:
    assert json.loads(jsonio.dumps(x)) == x


def test_files_are_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.json"
    jsonio.write(target, {"a": 1})
    with pytest.raises(TypeError):
        jsonio.write(target, {"a": object()})

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", interrupted)  # when all is in the temporary file
        with pytest.raises(KeyboardInterrupt):
            jsonio.write(target, {"a": 2})
    assert jsonio.read(target) == {"a": 1} and list(tmp_path.iterdir()) == [target]
    with pytest.raises(FileNotFoundError, match="its folder does not exist"):
        jsonio.write(tmp_path / "no" / "out.json", 1)
    with pytest.raises(IsADirectoryError):
        jsonio.write(tmp_path, 1)


def test_half_a_surrogate_pair_comes_back_from_its_escape(tmp_path: Path) -> None:
    jsonio.write_text(tmp_path / "out.json", '"a \ud800"')
    assert jsonio.read(tmp_path / "out.json") == "a \ud800"


@pytest.mark.parametrize(("content", "position"), [(b'{"a": 1,\n]', "line 2, column 1"), (b"\xff\xfe", "byte 0"), (b"", "line 1")])
def test_what_is_not_json_is_named_with_its_place(tmp_path: Path, content: bytes, position: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=position):
        jsonio.read(path)


def test_what_is_no_plain_file_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    import os
    import threading

    pipe, real, link = tmp_path / "pipe", tmp_path / "real.json", tmp_path / "link.json"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    jsonio.write(pipe, [1])
    reader.join(5)
    assert pipe.is_fifo() and json.loads(heard[0]) == [1]
    real.write_text("{}")
    link.symlink_to(real)
    jsonio.write(link, [2])
    assert link.is_symlink() and jsonio.read(real) == [2]


def test_long_doubles_are_numbers() -> None:
    assert jsonio.plain(np.longdouble(1.5)) == 1.5 and jsonio.plain(np.longdouble("nan")) is None
