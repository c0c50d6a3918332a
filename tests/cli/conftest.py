"""The pretend paper, registered in this process for one test or installed as a plug-in for a subprocess."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simopt.core import registry
from simopt.processes import worker

SOURCE = Path(__file__).with_name("pretend_paper.py")


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the pretend paper, which workers can import, and forget it afterwards."""
    monkeypatch.syspath_prepend(SOURCE.parent)
    registry.load()
    entries = {kind: dict(known) for kind, known in registry._entries.items()}
    modules = dict(registry._modules)
    spec = importlib.util.spec_from_file_location("pretend_paper", SOURCE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pretend_paper"] = module
    spec.loader.exec_module(module)
    yield
    del sys.modules["pretend_paper"]
    for kind, known in entries.items():
        registry._entries[kind].clear()
        registry._entries[kind].update(known)
    registry._modules.clear()
    registry._modules.update(modules)


def install(folder: Path, name: str, group: str, value: str) -> None:
    """Make `folder` look like site-packages with a distribution that has one entry point."""
    info = folder / f"{name}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(f"[simopt.{group}]\n{name} = {value}\n")


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """A folder of plug-ins: the pretend paper, and one that cannot be imported."""
    folder = tmp_path / "plugins"
    install(folder, "pretend", "theorems", "pretend_paper")
    install(folder, "broken", "theorems", "broken_plugin")
    (folder / "pretend_paper.py").write_text(SOURCE.read_text())
    (folder / "broken_plugin.py").write_text("raise RuntimeError('wrong from the start')\n")
    return folder


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipe that can be read as soon as what is slow in the pretend paper is under way: before that, an interrupt may meet anything."""
    path = tmp_path / "begun"
    os.mkfifo(path)
    monkeypatch.setenv("PP_BEGUN", str(path))
    return path


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """`start("verify", "PP-proved", path=plugins)` starts `simopt` as a process of its own in an empty folder."""

    def launch(*arguments: object, path: Path | None = None, group: bool = False) -> subprocess.Popen[str]:
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", COLUMNS="250")
        if path is not None:
            environment["PYTHONPATH"] = str(path)
        command = [sys.executable, "-m", "simopt", *map(str, arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=group)

    return launch


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Workers are forked, so that they have what a test patches, whatever threads the programme of the tests has."""
    if not hasattr(os, "fork"):
        pytest.skip("there are no forks here")
    monkeypatch.setattr(worker, "forkable", lambda: True)
    return monkeypatch
