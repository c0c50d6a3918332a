"""The files that the benchmark `price` solves: those of a folder that the user names."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from simopt.core.errors import NotAvailable

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def instances(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.price import instances

    return instances


def sized(path: Path, size: int) -> Path:
    """A file of so many bytes."""
    path.write_bytes(bytes(size))
    return path


def test_the_folder_is_named_by_the_user(instances: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMOPT_INSTANCES", raising=False)
    with pytest.raises(NotAvailable, match=r"SIMOPT_INSTANCES is not set; set SIMOPT_INSTANCES to a folder with lp/\*.mps.gz"):
        instances.files("lp")
    monkeypatch.setenv("SIMOPT_INSTANCES", str(tmp_path))
    (tmp_path / "qp").mkdir()
    with pytest.raises(NotAvailable, match=r"SIMOPT_INSTANCES=.*: no qp/\*.qps.gz there; set SIMOPT_INSTANCES to a folder with qp/"):
        instances.files("qp")
    large, small = (sized(tmp_path / "qp" / f"{name}.qps.gz", size) for name, size in (("a", 20), ("b", 10)))
    sized(tmp_path / "qp" / "c.qps", 5)
    assert instances.files("qp") == [small, large]
