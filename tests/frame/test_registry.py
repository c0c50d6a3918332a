"""The registry: names, duplicates, plug-ins that do not import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simopt.core import registry
from simopt.core.errors import UnknownName
from simopt.core.registry import DuplicateName

HEAVY = ("cvxpy", "numba", "matplotlib", "sklearn")


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the registry for the time of one test."""
    monkeypatch.setattr(registry, "_entries", {kind: dict(table) for kind, table in registry._entries.items()})
    monkeypatch.setattr(registry, "_modules", dict(registry._modules))


@pytest.mark.usefixtures("clean")
def test_one_name_from_two_modules_is_an_error_that_names_both() -> None:
    registry.register("problem", "some-name", 1, "package_one.problems")
    registry.register("problem", "some-name", 2, "package_one.problems")  # a module that is imported again
    with pytest.raises(DuplicateName, match=r"'some-name' is registered twice: by package_one\.problems and by package_two"):
        registry.register("problem", "some-name", 3, "package_two")
    assert registry.get("problem", "some_NAME") == 2 and registry.module_of("problem", "some-name") == "package_one.problems"


def test_unknown_kinds_names_and_groups() -> None:
    registry.load("problems")
    with pytest.raises(ValueError, match="there is no kind 'problems'"):
        registry.register("problems", "x", 1, "m")
    with pytest.raises(UnknownName, match="did you mean 'kernel-ridge'"):
        registry.get("problem", "kernelridge")
    with pytest.raises(UnknownName, match="did you mean 'problems'"):
        registry.load("problem")


def test_content_is_found_in_a_fresh_process_without_heavy_imports() -> None:
    script = "import sys, simopt; from simopt.core import registry; registry.load('problems', 'solvers'); "
    script += f"print(len(registry.names('problem'))); print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split("\n")
    assert int(out[0]) >= 7 and out[1] == "[]"


def test_import_simopt_is_light() -> None:
    script = f"import sys, simopt; print([m for m in {(*HEAVY, 'scipy', 'typer', 'rich')} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def plugin(folder: Path, name: str, module: str, body: str, groups: str) -> None:
    """An installed distribution, as far as importlib.metadata looks: a module and its entry points."""
    (folder / f"{module}.py").write_text(body)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(groups)


def python(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)


TAKEN = "from simopt.model.problem import Problem, problem\n@problem\nclass {0}(Problem):\n    name = '{1}'\n"
LOAD = "from simopt.core import registry\nregistry.load('problems')\n"


def test_two_plugins_of_one_name(tmp_path: Path) -> None:
    for package in ("first", "second"):
        plugin(
            tmp_path, package, f"{package}_plugin", TAKEN.format("P", "shared-name"), f"[simopt.problems]\n{package} = {package}_plugin\n"
        )
    done = python(tmp_path, LOAD + "print(registry.module_of('problem', 'shared-name'), *[row.source for row in registry.failures()])")
    kept, left_out = sorted(("first_plugin", "second_plugin"), key=done.stdout.index)
    assert done.returncode == 0 and done.stdout.startswith(f"{kept} ") and f"= {left_out}" in done.stdout
    assert done.stderr.count("\n") == 1 and all(word in done.stderr for word in ("left out", "'shared-name'", kept, left_out))


def test_a_plugin_that_does_not_import_is_a_row(tmp_path: Path) -> None:
    why = {
        "import no_such_module": "no_such_module",
        "1 / 0": "ZeroDivisionError",
        "raise SystemExit(3)": "SystemExit: 3",
        "raise GeneratorExit('over')": "GeneratorExit: over",
        "class PanicException(BaseException): pass\nraise PanicException('of a compiled module')": "PanicException: of a compiled module",
        "def f(:": "SyntaxError",
    }
    for number, body in enumerate(why):
        plugin(tmp_path, f"broken{number}", f"broken{number}_plugin", body, f"[simopt.problems]\nbroken{number} = broken{number}_plugin\n")
    plugin(tmp_path, "sound", "sound_plugin", TAKEN.format("P", "sound-problem"), "[simopt.problems]\nsound = sound_plugin\n")
    script = LOAD + "registry.load()\nfor row in registry.failures(): print(row.group, '|', row.source, '|', row.reason)\n"
    done = python(tmp_path, script + "print(registry.get('problem', 'sound-problem').name, registry.get('problem', 'kernel-ridge').name)")
    assert done.returncode == 0, done.stderr
    *rows, last = done.stdout.splitlines()
    assert last == "sound-problem kernel-ridge"
    assert len(rows) == len(why)
    for number, (row, word) in enumerate(zip(sorted(rows), why.values(), strict=True)):
        assert row.startswith(f"problems | broken{number} = broken{number}_plugin | ") and word in row


def test_an_interrupt_while_a_plugin_is_imported_is_one(tmp_path: Path) -> None:
    """Of Ctrl-C nobody can tell who has raised it."""
    plugin(
        tmp_path, "slow", "slow_plugin", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)", "[simopt.problems]\nslow = slow_plugin\n"
    )
    done = python(tmp_path, f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{LOAD}")
    assert done.returncode != 0 and done.stderr.rstrip().endswith("KeyboardInterrupt")
