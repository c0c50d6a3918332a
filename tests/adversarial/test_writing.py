"""Every writer of simopt on disks that are full, read-only or shared: whole files, or one error with the path.

Each case is tried with each kind of file; what was there before an attempt that fails is there after it, and nothing is left beside it.
"""

from __future__ import annotations

import ast
import errno
import json
import os
import resource
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.core import archive, jsonio, writing

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
BIG = 40_000  # numbers: more than any limit below
Writer = Callable[[Path, int], None]

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and limits as POSIX has them")
root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can pretend to be two people")


def numbers(size: int) -> np.ndarray:
    return np.random.default_rng(size).normal(size=size)


def as_text(path: Path, size: int) -> None:
    writing.write_text(path, json.dumps(numbers(size).tolist()))


def as_json(path: Path, size: int) -> None:
    jsonio.write(path, numbers(size))


def as_archive(path: Path, size: int) -> None:
    named = path.with_name(f"{path.name}.npz")  # the suffix is part of the call
    if path.exists() and not path.is_dir():
        path.rename(named)
    try:
        archive.save(named, {"format": "f", "x": numbers(size)}, "a test")
    except OSError as error:
        assert error.filename == str(named)
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        if named.exists():
            named.rename(path)


def as_picture(path: Path, size: int) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot(numbers(size)[:1000])
    with writing.replacing(path) as out:
        figure.savefig(out, format="png", dpi=60)


def as_table(path: Path, size: int) -> None:
    from simopt.compare import parquet

    pa, _ = parquet.arrow()
    parquet._write_table(pa.table({"x": numbers(size)}), path)


WRITERS: dict[str, Writer] = {"text": as_text, "json": as_json, "picture": as_picture, "table": as_table}
HEAVY = ("picture", "table")  # what writes them is slow to import and to run
each_writer = pytest.mark.parametrize("write", [pytest.param(w, id=n, marks=[pytest.mark.slow] * (n in HEAVY)) for n, w in WRITERS.items()])


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may be larger: the system refuses the rest as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def somebody_else() -> Iterator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def only(folder: Path, *names: str) -> bool:
    return sorted(path.name for path in folder.iterdir()) == sorted(names)


@each_writer
@posix
@pytest.mark.parametrize("limit", [0, 100, 5000])
def test_a_file_that_cannot_be_finished_leaves_the_old_one_and_nothing_else(write: Writer, limit: int, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("as it was")
    with largest_file(limit), pytest.raises(OSError) as caught:
        write(target, BIG)
    assert caught.value.errno == errno.EFBIG and caught.value.filename == str(target)
    assert target.read_text() == "as it was" and only(tmp_path, "out")


@posix
@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_an_archive_that_cannot_be_finished_leaves_the_old_one(suffix: str, tmp_path: Path) -> None:
    target = tmp_path / f"out{suffix}"
    archive.save(target, {"format": "f", "x": numbers(3)}, "a test")
    with largest_file(2000), pytest.raises(OSError, match="File too large") as caught:
        archive.save(target, {"format": "f", "x": numbers(BIG)}, "a test")
    assert caught.value.filename == str(target)
    assert np.array_equal(archive.load(target, "f", "a test")["x"], numbers(3)) and only(tmp_path, target.name)


@each_writer
@posix
def test_an_interrupt_leaves_the_old_file(write: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.write_text("as it was")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(target, 10)
    assert target.read_text() == "as it was" and only(tmp_path, "out")


@each_writer
@posix
def test_no_name_of_a_temporary_file_can_be_foretold(write: Writer, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "shared"
    folder.mkdir()
    process = os.getpid()
    for name in (
        f".out.{process}.part",
        f".out.{process}",
        ".out.part",
        ".out.tmp",
        "out.tmp",
        "out.part",
        f".simopt-report.{process}.part",
    ):
        (folder / name).symlink_to(victim)
    planted = {path.name for path in folder.iterdir()}
    write(folder / "out", 10)
    assert victim.read_text() == "precious" and not (folder / "out").is_symlink()
    assert only(folder, "out", *planted)


@posix
def test_a_name_that_was_guessed_all_the_same_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / ".simopt-guess.part").symlink_to(tmp_path / "victim")
    monkeypatch.setattr(secrets, "token_hex", lambda size: "guess")
    with pytest.raises(FileExistsError):
        writing.write_text(tmp_path / "out", "new")
    assert (tmp_path / "victim").read_text() == "precious" and not (tmp_path / "out").exists()


@each_writer
@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400, 0o666])
def test_a_file_keeps_its_mode(write: Writer, mode: int, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(mode)
    write(target, 10)
    assert stat.S_IMODE(target.stat().st_mode) == mode and target.read_bytes() != b"old"


@each_writer
@posix
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002, 0o777])
def test_a_new_file_has_what_the_umask_leaves(write: Writer, umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        write(tmp_path / "out", 10)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o666 & ~umask


@posix
def test_what_replaces_a_private_file_is_at_no_time_more_open(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(0o600)
    with writing.replacing(target) as out:
        assert stat.S_IMODE(os.fstat(out.fileno()).st_mode) == 0o600


@root
def test_a_file_keeps_the_user_that_it_belongs_to(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    os.chown(target, NOBODY, NOBODY)
    target.chmod(0o640)
    writing.write_text(target, "new")
    found = target.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (NOBODY, NOBODY, 0o640)


@each_writer
def test_threads_that_write_one_file_never_show_half_of_it(write: Writer, tmp_path: Path) -> None:
    target, wrong = tmp_path / "out", []
    whole = set()
    for size in (50, 900):
        write(target, size)
        whole.add(target.read_bytes())

    def written(size: int) -> None:
        try:
            for _ in range(4):
                write(target, size)
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=written, args=(size,)) for size in (50, 900) * 3]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if target.read_bytes() not in whole:
            wrong.append("half a file")
            break
    for thread in threads:
        thread.join()
    assert not wrong and only(tmp_path, "out")


@each_writer
@posix
@pytest.mark.parametrize("kind", ["to a file", "dangling", "to a link", "relative"])
def test_links_of_ours_are_followed(write: Writer, kind: str, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "links" / "out"
    link.parent.mkdir()
    if kind != "dangling":
        real.write_text("old")
    if kind == "to a link":
        (tmp_path / "between").symlink_to(real)
    link.symlink_to({"to a link": tmp_path / "between", "relative": Path("../real")}.get(kind, real))
    write(link, 10)
    assert link.is_symlink() and not real.is_symlink() and real.read_bytes() not in (b"", b"old")
    assert only(link.parent, "out")


@each_writer
@posix
def test_a_ring_of_links_is_told(write: Writer, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError) as caught:
        write(tmp_path / "a", 10)
    assert caught.value.errno == errno.ELOOP and caught.value.filename == str(tmp_path / "a")


@each_writer
@root
def test_a_link_of_somebody_else_in_a_folder_for_everybody_is_not_followed(write: Writer, public: Path) -> None:
    victim, shared = public / "victim", public / "shared"
    victim.write_text("precious")
    shared.mkdir()
    shared.chmod(0o1777)
    with somebody_else():
        (shared / "out").symlink_to(victim)
    with pytest.raises(PermissionError, match="somebody else put there") as caught:
        write(shared / "out", 10)
    assert caught.value.filename == str(shared / "out") and victim.read_text() == "precious"


@each_writer
def test_what_is_no_file_is_named(write: Writer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for target, kind in ((tmp_path, IsADirectoryError), (tmp_path / "no" / "out", FileNotFoundError), (tmp_path / "file" / "out", OSError)):
        with pytest.raises(kind) as caught:
            write(target, 10)
        assert caught.value.filename == str(target)
    assert only(tmp_path, "file")


@each_writer
@root
def test_a_folder_that_is_read_only_for_us(write: Writer, public: Path) -> None:
    (public / "out").write_text("as it was")
    write(public / "warm", 10)  # nobody may not read what is imported by the first
    (public / "warm").unlink()
    with somebody_else(), pytest.raises(PermissionError) as caught:
        write(public / "out", 10)
    assert caught.value.filename == str(public / "out") and (public / "out").read_text() == "as it was" and only(public, "out")


@each_writer
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_device_that_is_full(write: Writer) -> None:
    with pytest.raises(OSError) as caught:
        write(Path("/dev/full"), BIG)
    assert caught.value.errno == errno.ENOSPC and caught.value.filename == "/dev/full"


@root
def test_a_device_is_for_everybody_though_its_folder_is_not() -> None:
    with somebody_else():
        assert writing.try_target("/dev/null") == Path("/dev/null")
        writing.write_text("/dev/null", "x")


@each_writer
def test_names_as_long_as_the_file_system_has_them(write: Writer, tmp_path: Path) -> None:
    name = "ü" * 127 + "x"  # 255 bytes
    write(tmp_path / name, 10)
    assert only(tmp_path, name)
    with pytest.raises(OSError) as caught:
        write(tmp_path / f"{name}x", 10)
    assert caught.value.errno == errno.ENAMETOOLONG and only(tmp_path, name)


@posix
@pytest.mark.parametrize("name", [b"caf\xe9", b"a:b", b"a\nb", b"\x1b[31m", b" ", b"-", b"<b>", b"%s{0}"])
def test_names_of_any_bytes(name: bytes, tmp_path: Path) -> None:
    target = tmp_path / os.fsdecode(name)
    for write in WRITERS.values():
        write(target, 10)
    assert only(tmp_path, target.name)


@posix
@pytest.mark.parametrize("limit", [0, 4095])
def test_what_will_not_work_is_told_before(limit: int, tmp_path: Path) -> None:
    with largest_file(limit):
        for asked, path in ((writing.try_target, tmp_path / "out"), (writing.try_folder, tmp_path)):
            with pytest.raises(OSError) as caught:
                asked(path)
            assert caught.value.errno == errno.EFBIG and caught.value.filename == str(path)
    assert not list(tmp_path.iterdir())
    assert writing.try_target(tmp_path / "out") == tmp_path / "out" and writing.try_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert only(tmp_path, "a") and not list((tmp_path / "a" / "b").iterdir())


FULL = """
import errno, os, sys
from pathlib import Path
from tests.adversarial.test_writing import WRITERS, as_archive, only
from simopt.core import writing

place = Path(sys.argv[1])
for name, write in {**WRITERS, "archive": as_archive}.items():
    target = place / "out"
    target.write_text("as it was")
    for size in (1_000_000, 30_000):
        try:
            write(target, size)
        except OSError as error:
            assert (error.errno, error.filename) == (errno.ENOSPC, str(target)), (name, error)
        else:
            assert name == "picture", name
            target.write_text("as it was")
        assert target.read_text() == "as it was" and only(place, "out"), (name, list(place.iterdir()))
    with (place / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass
    for asked in (lambda: writing.try_target(target), lambda: writing.try_folder(place)):
        try:
            asked()
        except OSError as error:
            assert error.errno == errno.ENOSPC and error.filename in (str(target), str(place)), error
        else:
            raise AssertionError("a full disk was not noticed")
    assert target.read_text() == "as it was" and only(place, "out", "filler")
    (place / "filler").unlink()
print("held")
"""


def on_a_small_disk(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command where `folder` is a disk of 128 kB of its own."""
    mounted = ["sh", "-c", 'mount -t tmpfs -o size=128k tmpfs "$0" && exec "$@"', str(folder), *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(folder.parent)}
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", *mounted], capture_output=True, text=True, env=environment, check=False
    )


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    with suppress(FileNotFoundError):
        if on_a_small_disk(place, "true").returncode == 0:
            done = on_a_small_disk(place, sys.executable, "-c", FULL, str(place))
            assert done.stdout == "held\n", done.stderr
            return
    pytest.skip("no disk can be mounted here")


WRITES = {"write_text", "write_bytes", "savefig", "to_csv", "to_parquet", "tofile", "mkstemp", "NamedTemporaryFile"}
ELSEWHERE = {"memory.py": "clear_refs of /proc, which is no file", "lp.py": "a folder of its own, for HiGHS"}


def writes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Calls that make files without `replacing`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        constants: list[Any] = [
            each.value for each in (*node.args, *(key.value for key in node.keywords)) if isinstance(each, ast.Constant)
        ]
        if name == "open" and any(isinstance(word, str) and set(word) <= set("rwxabt+") and set(word) & set("wxa+") for word in constants):
            yield node.lineno, name
        if name in WRITES and isinstance(node.func, ast.Attribute) and "out" not in [getattr(each, "id", "") for each in node.args]:
            yield node.lineno, name


def test_nothing_else_in_simopt_writes_files() -> None:
    found = []
    for folder in ("simopt", "estimators", "problems", "solvers", "theorems"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name not in ("writing.py", "streams.py", *ELSEWHERE):
                text = path.read_text(encoding="utf-8")
                assert ".part" not in text.replace(".parts", "").replace(".partition", "") or "getpid" not in text, path
                found += [f"{path.relative_to(ROOT)}:{line}: {name}" for line, name in writes(ast.parse(text))]
    assert not found
