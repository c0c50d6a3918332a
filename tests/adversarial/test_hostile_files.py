"""Files of problems that somebody else has written: each is refused in one line with file, line and remedy, in little time and memory."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from counted import case
from hostile_files import GOOD, MPS, hostile, hostile_lp

import simopt
from simopt.core import reading
from simopt.core.errors import InvalidFile

SECONDS = 3.0  # of the processor, for a file
MEGABYTES = 150.0  # that a command may take beyond what it takes for a good file
FILES = [*hostile()]
LEAST = 300
SAMPLED = 40  # each so many-th file goes through the command line


def refused(path: Path) -> str:
    """The message of a file that is not read, which is one line with its name, what is wrong, and a remedy."""
    begun = time.process_time()
    case()
    with pytest.raises(InvalidFile) as caught:
        simopt.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and ";" in message and message.isprintable() and len(message) < 900, message
    assert time.process_time() - begun < SECONDS
    return message


def test_there_are_many_and_no_two_are_alike() -> None:
    assert len({(ending, data) for _, ending, data in FILES}) >= LEAST
    assert not [what for what, ending, data in FILES if data == GOOD[ending].encode()], "nothing is wrong with these"


@pytest.mark.parametrize("ending", GOOD)
def test_what_they_are_made_of_is_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"good.{ending}"
    path.write_text(GOOD[ending])
    assert simopt.read(path).variables()


@pytest.mark.parametrize("ending", GOOD)
def test_each_is_refused_with_its_line(tmp_path: Path, ending: str) -> None:
    path, read = tmp_path / f"hostile.{ending}", []
    for what, _, data in (each for each in FILES if each[1] == ending):
        path.write_bytes(data)
        try:
            message = refused(path)
        except pytest.fail.Exception:
            read.append(what)
        else:
            # what is known at the end alone has the name of its column
            assert ": line " in message or "column '" in message or f"{path}: '" in message or ending == "lp", (what, message)
    assert not read, f"these are read: {read}"


@pytest.mark.thorough  # a process for each
def test_lp_files_are_refused(tmp_path: Path) -> None:
    path, read = tmp_path / "hostile.lp", []
    for what, _, data in hostile_lp():
        path.write_bytes(data)
        try:
            refused(path)
        except pytest.fail.Exception:
            read.append(what)
    assert not read, f"these are read: {read}"


@pytest.mark.parametrize("ending", GOOD)
def test_packed_files(tmp_path: Path, ending: str) -> None:
    """Damaged gzip files, and good ones that hold what is damaged."""
    good, path = gzip.compress(GOOD[ending].encode()), tmp_path / f"f.{ending}.gz"
    damaged = (
        b"",
        good[:5],
        good[:-1],
        good[:-8],
        good[:20] + b"\xff\xff" + good[22:],
        good + b"rest",
        b"\x1f\x8b" + b"\0" * 100,
        good[:-8] + b"\0" * 8,
    )
    for data in (*damaged, gzip.compress(good), gzip.compress(b""), gzip.compress(b"\0" * 1000), GOOD[ending].encode()):
        path.write_bytes(data)
        refused(path)


def command(*arguments: str, folder: Path) -> tuple[subprocess.CompletedProcess[str], float, float]:
    """`simopt …` of this environment: what it said, the seconds of its processor, and the most megabytes that it held."""
    code = (
        "import json, resource, sys; from simopt.cli.main import main; from contextlib import suppress\n"
        "try:\n    main()\n"
        "finally:\n    used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "    open('used.json', 'w').write(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    seconds, megabytes = json.loads((folder / "used.json").read_text())
    return done, seconds, megabytes


def strange(folder: Path) -> Iterator[Path]:
    """What is no file of a problem although it has the name of one."""
    (folder / "folder.mps").mkdir()
    yield folder / "folder.mps"
    (folder / "loop.mps").symlink_to("loop.mps")
    yield folder / "loop.mps"
    (folder / "nothing.cbf").symlink_to("nowhere.cbf")
    yield folder / "nothing.cbf"
    (folder / "device.qps").symlink_to("/dev/zero")
    yield folder / "device.qps"
    (folder / "null.lp").symlink_to("/dev/null")
    yield folder / "null.lp"
    for name in ("sparse.mps", "sparse.cbf", "sparse.lp", "sparse.qps.gz"):
        with open(folder / name, "wb") as file:
            file.truncate(1 << 31)
        yield folder / name
    bomb = folder / "bomb.mps.gz"
    with gzip.open(bomb, "wb", 1) as packed:
        for _ in range(600):
            packed.write(b" " * (1 << 20))
    yield bomb


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="links, devices and limits of memory")
def test_the_command_line_refuses_them_in_one_line(tmp_path: Path) -> None:
    """A sample, by each command in turn; nothing is executed or written, and 2 GB are not swallowed."""
    (tmp_path / "good.mps").write_text(MPS)
    done, _, usual = command("export", "good.mps", "good.cbf", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "good.cbf").unlink()
    paths = [*strange(tmp_path)]
    for i, (_, ending, data) in enumerate([*FILES, *hostile_lp()][::SAMPLED]):
        paths.append(tmp_path / f"hostile {i}.{ending}")
        paths[-1].write_bytes(data)
    for i, path in enumerate(paths):
        arguments = (("certify", path.name), ("solve", path.name), ("compare", path.name), ("export", path.name, "out.cbf"))[i % 4]
        case()
        done, seconds, megabytes = command(*arguments, folder=tmp_path)
        said = done.stderr.splitlines()
        assert done.returncode == 2 and not done.stdout and len(said) == 1, (arguments, done)
        assert said[0].startswith(f"simopt: {path.name}: ") and said[0].isprintable(), said
        assert seconds < 4 * SECONDS and megabytes < usual + MEGABYTES, (arguments, seconds, megabytes, usual)
    left = {path.name for path in tmp_path.iterdir()} - {path.name for path in paths} - {"good.mps", "used.json"}
    assert not left, "something was written"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes that have names")
def test_a_pipe_that_nobody_writes_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE", 0.1)
    for ending in GOOD:
        path = tmp_path / f"pipe.{ending}"
        os.mkfifo(path)
        case()
        with pytest.raises(InvalidFile, match="nothing came for 0.1 s"):
            simopt.read(path)
