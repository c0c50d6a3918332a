"""Saved objects of every kind, each of their fields damaged in every way: refused by name, or whole enough to be used."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counted import case
from damage import CHANGES, damaged, tried_first

from simopt.certificates.certificate import Certificate
from simopt.core import reading
from simopt.core.errors import InvalidFile, InvalidProblem
from simopt.core.monotone_function import MonotoneFunction
from simopt.data.similarities import Gaussian, Linear, Normalised, Sum
from simopt.equivalence.training import KernelFunction
from simopt.estimators.herding.herd_record import Herd
from simopt.estimators.index_models.index_model import IndexModel
from simopt.estimators.index_models.index_record import LinearIndex
from simopt.estimators.index_models.transfer import clipped_linear, known_transfer
from simopt.estimators.ordinal.ordinal_rule import OrdinalRule
from simopt.estimators.ranking.ranker import LandmarkedRanker
from simopt.solvers.goodness.curve_record import GoodnessCurve
from simopt.solvers.sparse.fit import SparseFit

POINTS = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, -1.0]])
CERTIFICATE = Certificate(1.0, 0.5, 0.5, 0.5, 0.5, 1.0, 0.0, "solver", "float")
GAUSSIAN = Gaussian(1.5)
u = MonotoneFunction(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 0.5]))
OBJECTS: dict[str, Any] = {
    "herd": Herd(
        np.array([2, 0, 1]), np.array([0.5, 0.25, 0.25]), POINTS, np.array([1.0, -1.0, 1.0]), Sum((GAUSSIAN, Normalised(Linear()))), 0.1,
        0.2, True, "done", np.array([2, 0, 1]), np.ones((3, 3)), 0.5, {"n": 9},
    ),
    "sparse fit": SparseFit(
        np.array([1, 0]), np.array([0.5, 2.0]), np.array([3.0, 2.0, 1.0]), 4, np.array([[1.0, 0.5], [0.0, 2.0]]), np.array([1.0, 4.0]),
        "omp", True, "done", np.array([3]), (2.0, 1.0), 0.1, {"n": 3},
    ),
    "goodness curve": GoodnessCurve(
        np.array([1.0, 2.0]), np.array([0.5, 0.4]), np.array([0.45, 0.4]), np.array([-0.1, -0.05]), np.ones((2, 3)), np.ones((2, 3)), 1.0,
        True, 3, 0.1, 1.0, "abc", {"n": 3},
    ),
    "ranker": LandmarkedRanker(GAUSSIAN, POINTS, np.ones(3), "natural", CERTIFICATE, ("q",), {"n": 3}),
    "ordinal rule": OrdinalRule(
        GAUSSIAN, POINTS, np.ones(3), np.array([-np.inf, 0.5, 1.0]), np.array([0, 2, 3, 1]), "exc", CERTIFICATE, 1.0, 0.5, {"n": 3}
    ),
    "linear index": IndexModel(LinearIndex(np.array([1.0, 2.0])), u),
    "kernel index": IndexModel(KernelFunction(GAUSSIAN, POINTS, np.ones(3)), clipped_linear(2.0, 0.5)),
    "known index": IndexModel(LinearIndex(np.array([1.0, 2.0])), known_transfer("logistic")),
    "monotone function": u,
}  # fmt: skip
USES: dict[str, Callable[[Any], Any]] = {
    "herd": lambda herd: (str(herd), herd.decision(np.ones((2, herd.points.shape[1]))), herd.bound_at(herd.points)),
    "sparse fit": lambda fit: (str(fit), fit.unexplained, fit.first(len(fit)) if len(fit) else None),
    "goodness curve": lambda curve: (str(curve), curve.enclose(1.5), curve.smallest_bound(0.45)),
    "ranker": lambda ranker: (str(ranker), ranker.scores(np.ones((2, ranker.landmarks.shape[1])))),
    "ordinal rule": lambda rule: (str(rule), rule.scores(np.ones((2, rule.landmarks.shape[1])))),
    "monotone function": lambda function: (str(function), function(0.5)),
}


def index(model: IndexModel) -> Any:
    width = model.index.direction.size if isinstance(model.index, LinearIndex) else POINTS.shape[1]
    return str(model), model(np.ones((2, width)))


def tried(name: str, path: Path) -> None:
    """Read, and use what was read: an error on the way is one that users are promised."""
    kind = type(OBJECTS[name])
    with np.errstate(all="ignore"):
        try:
            found = kind.load(path)
        except InvalidFile as error:
            assert str(path) in str(error) and "\n" not in str(error) and len(str(error)) < 1000
            return
        try:
            USES.get(name, index)(found)
        except InvalidProblem:
            return
    if isinstance(found, Herd):
        assert found.error >= 0 and np.isfinite(found.weights).all() and found.weights.min(initial=0) >= 0
        assert found.target_error is None or found.reached == (found.error <= found.target_error)


@pytest.mark.parametrize("name", OBJECTS)
def test_whole_ones_come_back(name: str, tmp_path: Path) -> None:
    for suffix in (".json", ".npz"):
        OBJECTS[name].save(tmp_path / f"whole{suffix}")
        found = type(OBJECTS[name]).load(tmp_path / f"whole{suffix}")
        assert str(found) == str(OBJECTS[name])
        USES.get(name, index)(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", tried_first(CHANGES))
@pytest.mark.parametrize("name", OBJECTS)
def test_damage_in_json(name: str, change: str, tmp_path: Path) -> None:
    OBJECTS[name].save(tmp_path / "whole.json")
    document = json.loads((tmp_path / "whole.json").read_text(encoding="utf-8"))
    for _, text in damaged(document, change):
        (tmp_path / "damaged.json").write_text(text, encoding="utf-8")
        tried(name, tmp_path / "damaged.json")


ARRAYS: dict[str, Any] = {
    "empty": np.empty(0), "none": np.empty((0, 0)), "a number": np.array(1.0), "texts": np.array(["x", "y", "z"]),
    "truths": np.ones(3, bool),
    "complex": np.ones(3, complex), "NaN": np.full(3, np.nan), "infinite": np.full(3, np.inf), "negative": np.full(3, -1.0),
    "whole": np.array([1, 2, 3]), "negative whole": np.array([-1, -2, -3]), "unsigned": np.array([2**64 - 1] * 3, dtype=np.uint64),
    "halves": np.full(3, 0.5), "long": np.ones(1000), "cube": np.ones((3, 3, 3)), "row": np.ones((1, 3)), "column": np.ones((3, 1)),
    "dates": np.array(["2020-01-01"] * 3, "M8[D]"),
    "bytes": np.array([b"x"] * 3), "records": np.zeros(3, "f8,i4"), "void": np.zeros(3, "V8"),
    "32 axes": np.ones((1,) * 32), "big-endian": np.ones(3, ">f8"), "long double": np.full(3, np.longdouble(1)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", tried_first(ARRAYS, ("negative", "texts")))
@pytest.mark.parametrize("name", OBJECTS)
def test_damage_in_npz(name: str, change: str, tmp_path: Path) -> None:
    """Every array replaced by another, the one that holds the rest as well."""
    OBJECTS[name].save(tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as archive:
        arrays = {key: archive[key] for key in archive.files}
    for key in arrays:
        case()
        np.savez(tmp_path / "damaged.npz", **{**arrays, key: ARRAYS[change]})
        tried(name, tmp_path / "damaged.npz")


def member(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An .npy file with such a header."""
    text = header.encode("latin-1")
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version[0] == 1 else 4, "little") + text + data


def packed(*members: tuple[str, bytes], **options: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def shape(descr: str, dims: str, data: bytes = b"\0" * 24) -> bytes:
    return packed(("meta.npy", member(f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {dims}, }}\n", data)))


def broken(change: Callable[[bytearray], Any]) -> bytes:
    data = bytearray(packed(("meta.npy", member("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n", b"\0" * 24))))
    change(data)
    return bytes(data)


OVERSIZED: dict[str, Callable[[], bytes]] = {
    "10¹² rows": lambda: shape("<f8", "(1000000000000,)"),
    "10¹² rows of nothing": lambda: shape("<U0", "(1000000000000,)", b""),
    "an entry of a gigabyte": lambda: shape("<U268435455", "(1,)"),
    "entries of a gigabyte": lambda: shape("|V1073741824", "(3,)"),
    "two negative axes": lambda: shape("<f8", "(-1, -3)"),
    "objects": lambda: shape("|O", "(3,)", b"cos\nsystem\n(S'true'\ntR."),
    "an axis of 10⁴⁰⁰": lambda: shape("<f8", f"({10**400},)"),
    "a shape of letters": lambda: shape("<f8", "('a',)"),
    "a header that is a call": lambda: shape("<f8", "(__import__('os').system('true'),)"),
    "a header without end": lambda: packed(("meta.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\x7f")),
    "a header of megabytes": lambda: packed(("meta.npy", member("{" + " " * 50_000 + "}"))),
    "a header of brackets": lambda: packed(("meta.npy", member("[" * 9_000))),
    "no header": lambda: packed(("meta.npy", b"")),
    "no array": lambda: packed(("meta.npy", b"x" * 100)),
    "a version of 9": lambda: packed(("meta.npy", member("{}", version=b"\x09\x00"))),
    "no members": packed,
    "other members": lambda: packed(("../../evil.npy", b"x"), ("/etc/passwd", b"x")),
    "zeros": lambda: packed(("meta.npy", member("{'descr': '|b1', 'fortran_order': False, 'shape': (50000000,), }\n", bytes(50_000_000)))),
    "many members": lambda: packed(*((f"{i}.npy", b"") for i in range(3000))),
    "deep names": lambda: packed((("a/" * 20_000) + "b.npy", b"")),
    "cut short": lambda: broken(lambda data: data.__delitem__(slice(-30, None))),
    "begun late": lambda: broken(lambda data: data.__delitem__(slice(0, 10))),
    "another checksum": lambda: broken(lambda data: data.__setitem__(14, data[14] ^ 1)),
    "packed otherwise": lambda: broken(lambda data: data.__setitem__(data.rfind(b"PK\1\2") + 10, 99)),
    "encrypted": lambda: broken(lambda data: data.__setitem__(data.rfind(b"PK\1\2") + 8, 1)),
    "a length of 4 GB": lambda: broken(
        lambda data: data.__setitem__(slice((i := data.rfind(b"PK\1\2")) + 24, i + 28), b"\xfe\xff\xff\xff")
    ),
    "no archive": lambda: b"\x80\x04\x95 a pickle",
    "nothing": lambda: b"",
    "text": lambda: b'{"format": 1}',
}


@pytest.mark.parametrize("archive", OVERSIZED)
def test_archives_that_exhaust_memory_or_are_none(archive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ARCHIVE", 1 << 24)
    (tmp_path / "oversized.npz").write_bytes(OVERSIZED[archive]())
    with pytest.raises(InvalidFile, match="oversized.npz"):
        Herd.load(tmp_path / "oversized.npz")
