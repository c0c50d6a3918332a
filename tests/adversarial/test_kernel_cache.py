"""Compiled kernels on disk: never an answer of code that is gone, and no harm from a folder that is damaged, full or not to be had.

Each case is a package that is imported again after an update: with the same file times, so that only the content can tell.
"""

from __future__ import annotations

import importlib
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

import simopt
from simopt.core import kernel_cache
from tests.adversarial.test_writing import public  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
HEAD = "import numpy as np\nfrom typing import NamedTuple\nfrom simopt.core.compiled import kernel\n"

# files of the package before the update; what changes; the answers before and after
CALLED = "@kernel\ndef inner(x):\n    return {0} * x\n"
UPDATES = {
    "a kernel in another file": (
        {"low.py": CALLED, "top.py": "from low import inner\n@kernel\ndef top(x):\n    return inner(x)\n"}, "top(3.0)", (2, 5), (6.0, 15.0),
    ),
    "a kernel two files away": (
        {
            "low.py": CALLED,
            "middle.py": "from low import inner\n@kernel\ndef middle(x):\n    return inner(x) + 1\n",
            "top.py": "from middle import middle\n@kernel\ndef top(x):\n    return middle(x)\n",
        }, "top(3.0)", (2, 5), (7.0, 16.0),
    ),
    "a kernel of a module": (
        {"low.py": CALLED, "top.py": "import low\n@kernel\ndef top(x):\n    return low.inner(x)\n"}, "top(3.0)", (2, 5), (6.0, 15.0),
    ),
    "a kernel in an inner function": (
        {
            "low.py": CALLED,
            "top.py": "from low import inner\n@kernel\ndef top(x):\n    def twice(y):\n        return 2 * inner(y)\n    return twice(x)\n",
        }, "top(3.0)", (2, 5), (12.0, 30.0),
    ),
    "a constant of another file": (
        {"low.py": "SHARE = {0}.0\n", "top.py": "from low import SHARE\n@kernel\ndef top(x):\n    return SHARE * x\n"},
        "top(3.0)", (2, 5), (6.0, 15.0),
    ),
    "a constant that is computed": (
        {"low.py": "SHARE = np.arange(9.0) * {0}\n", "top.py": "from low import SHARE\n@kernel\ndef top(x):\n    return SHARE[3] * x\n"},
        "top(1.0)", (2, 5), (6.0, 15.0),
    ),
    "a constant of what is called": (
        {
            "share.py": "SHARE = {0}.0\n",
            "low.py": "from share import SHARE\n@kernel\ndef inner(x):\n    return SHARE * x\n",
            "top.py": "from low import inner\n@kernel\ndef top(x):\n    return inner(x)\n",
        }, "top(3.0)", (2, 5), (6.0, 15.0),
    ),
    "the fields of a named tuple": (
        {
            "low.py": "class Pair(NamedTuple):\n    {0}: float\n    {1}: float\n",
            "top.py": "@kernel\ndef top(pair):\n    return pair.left - pair.right\n",
        }, "top(Pair(left=5.0, right=2.0))", (("left", "right"), ("right", "left")), (3.0, 3.0),
    ),
    "its own file": ({"low.py": "", "top.py": "@kernel\ndef top(x):\n    return {0} * x\n"}, "top(3.0)", (2, 5), (6.0, 15.0)),
    "the order of sums in what is called": (
        {
            "low.py": "@kernel{0}\ndef inner(x):\n    out = 0.0\n    for i in range(len(x)):\n        out += x[i]\n    return out\n",
            "top.py": "from low import inner\n@kernel\ndef top(x):\n    return inner(x)\n",
        }, "top(np.array([1e16, 1.0, -1e16] + [0.0] * 61))", ("(any_order=True)", ""), (None, 0.0),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the user names for the cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel_cache, "_reported", [])
    return tmp_path / "cache"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Write the files with what changes between two versions, and import them as a new process would."""

    def build(files: dict[str, str], values: object) -> dict[str, Any]:
        folder = tmp_path / "package"
        folder.mkdir(exist_ok=True)
        monkeypatch.setattr(sys, "path", [str(folder), *(entry for entry in sys.path if entry != str(folder))])
        monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python's own cache goes by times
        for name, text in files.items():
            path = folder / name
            path.write_text(HEAD + text.format(*(values if isinstance(values, tuple) else (values,))))
            os.utime(path, (1e9, 1e9))
            sys.modules.pop(path.stem, None)
        importlib.invalidate_caches()
        found: dict[str, Any] = {}
        for name in files:
            found |= vars(importlib.import_module(Path(name).stem))
        for name in files:
            sys.modules.pop(Path(name).stem, None)
        return found

    return build


@pytest.mark.parametrize("what", UPDATES)
def test_after_an_update_nothing_old_is_answered(what: str, package: Callable[..., dict[str, Any]], cache: Path) -> None:
    files, call, (old, new), (before, after) = UPDATES[what]
    for values, expected in ((old, before), (new, after)):
        found = eval(call, package(files, values))
        assert expected is None or found == expected
    assert list(cache.rglob("*.nbc")), "nothing was kept"


CACHED = {"low.py": CALLED, "top.py": "from low import inner\n@kernel\ndef top(x):\n    return inner(x)\n"}


def hits(namespace: dict[str, Any]) -> int:
    """How often the answer of `top` came out of the cache."""
    assert namespace["top"](3.0) == 6.0
    return sum(namespace["top"].compiled.stats.cache_hits.values())


def test_what_has_not_changed_is_found_again(package: Callable[..., dict[str, Any]]) -> None:
    assert [hits(package(CACHED, 2)) for _ in range(2)] == [0, 1]


def test_another_version_of_ours_compiles_anew(package: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    assert hits(package(CACHED, 2)) == 0
    monkeypatch.setattr(simopt, "__version__", "another")
    assert [hits(package(CACHED, 2)) for _ in range(2)] == [0, 1]


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage")


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [garbage, half, empty, folder_instead])
def test_a_damaged_cache_costs_time_only(damage: Callable[[Path], None], package: Callable[..., dict[str, Any]], cache: Path) -> None:
    assert hits(package(CACHED, 2)) == 0
    for path in [*cache.rglob("*.nbi"), *cache.rglob("*.nbc")]:
        damage(path)
    assert hits(package(CACHED, 2)) == 0
    assert damage is folder_instead or hits(package(CACHED, 2)) == 1, "it was not mended"


PAIR = {
    "low.py": "@kernel\ndef one(x):\n    return x + 1.0\n@kernel\ndef two(x):\n    return x + 2.0\n",
    "top.py": "from low import one\n@kernel\ndef top(x):\n    return one(x) * x[0]\n",
}
RUN = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from low import one, two
from top import top
x = np.arange(3.0)
hits = lambda: sum(sum(kernel.compiled.stats.cache_hits.values()) for kernel in (one, two, top))
print(one(3.0), two(3.0), one(3), one(x).tolist(), top(x + 1).tolist(), hits())
"""
ANSWER = "4.0 5.0 4.0 [1.0, 2.0, 3.0] [2.0, 3.0, 4.0]"
KERNELS = 5  # kinds of arguments that are compiled for


def flipped(content: bytes, fraction: float) -> bytes:
    index = min(int(fraction * len(content)), len(content) - 1)
    return content[:index] + bytes([content[index] ^ 0xFF]) + content[index + 1 :]


DAMAGE: dict[str, Callable[[bytes, float], bytes]] = {
    "a byte": flipped,
    "a bit": lambda content, fraction: content[: (i := int(fraction * (len(content) - 1)))] + bytes([content[i] ^ 1]) + content[i + 1 :],
    "a block of zeros": lambda content, fraction: content[: (i := int(fraction * len(content)))] + bytes(512) + content[i + 512 :],
    "cut off": lambda content, fraction: content[: int(fraction * len(content))],
    "more behind it": lambda content, fraction: content + content[: int(fraction * len(content)) + 1],
}
FRACTIONS = (0.0, 0.02, 0.3, 0.5, 0.8, 0.999)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of three kernels, and what its first process has kept."""
    folder = tmp_path_factory.mktemp("compiled")
    for name, text in PAIR.items():
        (folder / name).write_text(HEAD + text)
    assert answer(folder) == f"{ANSWER} 0"
    assert answer(folder) == f"{ANSWER} {KERNELS}"
    (folder / "cache").rename(folder / "whole")
    return folder


@pytest.fixture
def folder(compiled: Path) -> Path:
    """The package where it was compiled, since the cache goes by its place, and its cache as it was."""
    shutil.rmtree(compiled / "cache", ignore_errors=True)
    shutil.copytree(compiled / "whole", compiled / "cache")
    return compiled


def answer(folder: Path) -> str:
    """What another process computes with the package and its cache; it must live."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", RUN, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-400:])
    return done.stdout.strip()


USUAL = {("a block of zeros", 0.02)}
CASES = [pytest.param(k, p, marks=[pytest.mark.slow] * ((k, p) not in USUAL)) for k in DAMAGE for p in FRACTIONS]


@pytest.mark.parametrize("suffix", ["nbc", "nbi"])
@pytest.mark.parametrize(("kind", "fraction"), CASES)
def test_files_that_a_disk_has_altered_are_not_loaded(kind: str, fraction: float, suffix: str, folder: Path) -> None:
    """Every file of the cache at once: machine code that is loaded ends a process, or computes something else."""
    for path in (folder / "cache").rglob(f"*.{suffix}"):
        path.write_bytes(DAMAGE[kind](path.read_bytes(), fraction))
    assert answer(folder) == f"{ANSWER} 0"
    assert answer(folder) == f"{ANSWER} {KERNELS}", "it was not mended"


@pytest.mark.parametrize("suffix", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("nbc", "nbi")), "both"])
def test_files_that_have_changed_places_are_not_loaded(suffix: str, folder: Path) -> None:
    """Each is whole; some are of the same kinds of arguments, and one kernel stands in the file of another."""
    for each in ("nbc", "nbi") if suffix == "both" else (suffix,):
        paths = sorted((folder / "cache").rglob(f"*.{each}"))
        contents = [path.read_bytes() for path in paths]
        assert len(set(contents)) == len(paths) > 2
        for path, content in zip(paths, contents[1:] + contents[:1], strict=True):
            path.write_bytes(content)
    assert answer(folder) == f"{ANSWER} 0"
    assert answer(folder) == f"{ANSWER} {KERNELS}", "it was not mended"


NOTE = "compiled kernels cannot be kept"


@pytest.mark.parametrize("limit", [0, 500])
def test_a_full_disk_is_told_once_and_the_answer_is_right(
    limit: int, package: Callable[..., dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    made = package(CACHED, 2)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        assert (made["top"](3.0), made["top"](3)) == (6.0, 6)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caplog.text.count(NOTE) == 1 and "File too large" in caplog.text


@pytest.mark.parametrize("taken", ["a file", "read-only"])
def test_a_folder_that_is_named_and_cannot_be_used(
    taken: str, package: Callable[..., dict[str, Any]], cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor can the folder of the sources, and there is no home."""
    made = package(CACHED, 2)
    cache.write_text("") if taken == "a file" else monkeypatch.setattr(numba.config, "CACHE_DIR", "/proc/nowhere")
    (Path(made["top"].python.__code__.co_filename).parent / "__pycache__").write_text("")
    monkeypatch.setenv("HOME", "/proc/nowhere")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert (made["top"](3.0), made["top"](3)) == (6.0, 6)
    assert caplog.text.count(NOTE) == 1 and "NUMBA_CACHE_DIR" in caplog.text


NOBODYS = f"""
import os, sys, numba
from simopt.core import compiled, kernel_cache  # nobody may not read them where the clone stands in a folder of root's own
numba.njit(lambda x: x)(1.0)  # nor what numba imports on its way
os.environ["HOME"] = "/nonexistent"
os.environ.pop("XDG_CACHE_HOME", None)
os.setgroups([]); os.setegid({NOBODY}); os.seteuid({NOBODY})
sys.path.insert(0, sys.argv[1])
from top import top
print(top(3.0), top(3))
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become nobody")
def test_a_read_only_install_and_no_home(package: Callable[..., dict[str, Any]], tmp_path: Path, public: Path) -> None:  # noqa: F811
    package(CACHED, 2)
    shutil.copytree(tmp_path / "package", public / "package")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", NOBODYS, str(public / "package")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.stdout == "6.0 6\n", done.stderr
    assert done.stderr.count(NOTE) == 1 and "NUMBA_CACHE_DIR" in done.stderr and done.stderr.count("\n") == 1
