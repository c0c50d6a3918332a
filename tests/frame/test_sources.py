"""What is told from the sources is what importing them registers, and a command imports no more than it needs."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simopt.core import sources


def python(script: str, *arguments: str, folder: Path | None = None) -> str:
    """What a script prints in a process of its own, where nothing is imported yet; `folder` may hold plug-ins."""
    environment = os.environ | ({} if folder is None else {"PYTHONPATH": str(folder)})
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


EVERYTHING = """
import json, sys
from simopt.core import registry, sources
read = sources.problems()
imported = [name for name in sys.modules if name.startswith(("simopt.problems.", "simopt.solvers.")) or name == "numpy"]
registry.load()
from simopt.cli.list import rows
ours = lambda kind: [(name, registry.module_of(kind, name)) for name in registry.names(kind)]
solving = {name: sorted({module for key, module in ours("solver") if key.endswith("@" + name)}) for name in registry.names("problem")}
groups = {kind: registry.GROUP_OF.get(kind, "theorems") for kind in registry.KINDS if kind != "solver"}
unsaid = [name for kind, group in groups.items() for name, module in ours(kind) if module not in sources.saying(group, name)]
print(json.dumps([imported, read, rows("problems"), {name: sorted(sources.solving(name)) for name in solving}, solving, unsaid]))
"""


@pytest.mark.thorough
def test_the_sources_tell_what_importing_registers() -> None:
    imported, read, rows, told, solving, unsaid = json.loads(python(EVERYTHING))
    assert imported == []
    assert read == rows and len(rows) > 7
    assert told == solving and len({module for modules in told.values() for module in modules}) > 5
    assert all(name.endswith("-fetched") for name in unsaid), "of all other names one module is imported instead of everything"


def test_only_what_is_named_is_imported() -> None:
    """With a problem the others of its family, whose solvers stand in the same file; with a claim what it imports."""
    script = """
import sys
from simopt.core import registry
from simopt.solving.solver import solvers_of
from simopt.claims import catalogue
kind = registry.find("problem", "Kernel_Ridge")
print(kind.name, registry.names("problem"), [spec.name for spec in solvers_of(kind)])
family = {key.partition("@")[2] for key in registry.names("solver")}
print(set(registry.names("problem")) == family, {registry.module_of("solver", key) for key in registry.names("solver")})
(claim,) = catalogue.select(["ak-t1"])
print(claim.id, sum(name.startswith("simopt.theorems.") for name in sys.modules) < 12)
"""
    first, second, third = python(script).splitlines()
    assert first == "kernel-ridge ['kernel-ridge'] ['cholesky', 'eigen']"
    assert second == "True {'simopt.solvers.squares.solvers'}"
    assert third == "AK-T1 True"


def test_what_a_claim_corrects_is_imported_with_it() -> None:
    script = """
from simopt.core import registry
from simopt.claims import catalogue
(claim,) = catalogue.select(["AK-P5.1+"])
print(claim.corrects, registry.has("claim", claim.corrects), len(registry.names("claim")) < 100)
"""
    assert python(script) == "AK-P5.1 True True\n"


def test_what_no_source_says_is_found_by_importing_everything() -> None:
    script = "from simopt.claims import catalogue, find\nprint(find('kj-x6-fetched').id, catalogue.select(['KJ-X6-fetched'])[0].id)"
    assert python(script) == "KJ-X6-fetched KJ-X6-fetched\n"


PLUGIN = """
from simopt.model.problem import problem
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solving.solver import solver

@solver("theirs", solves=KernelRidge, rank=99)
def theirs(problem, *, tol):
    yield
"""


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """A folder with a plug-in that offers a solver of a problem of ours, and one that offers a problem."""
    (tmp_path / "their_solver.py").write_text(PLUGIN)
    (tmp_path / "their_problem.py").write_text(
        "from simopt.model.problem import Problem, problem\n@problem\nclass Theirs(Problem):\n    name = 'their-problem'\n"
    )
    for group, module in (("solvers", "their_solver"), ("problems", "their_problem")):
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[simopt.{group}]\nx = {module}\n")
    return tmp_path


def test_plug_ins_are_asked_for_solvers_of_our_problems_and_for_problems_that_are_not_ours(plugins: Path) -> None:
    script = """
from simopt.core import registry
from simopt.solving.solver import solvers_of
print([spec.name for spec in solvers_of(registry.find("problem", "kernel-ridge"))], "their_problem" in __import__("sys").modules)
print(registry.find("problem", "Their_Problem").name, registry.foreign("problems"), registry.foreign("theorems"))
"""
    assert python(script, folder=plugins) == "['theirs', 'cholesky', 'eigen'] False\ntheir-problem True False\n"


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Modules that stand in the place of our solvers."""
    texts: dict[str, str] = {}
    real = sources.modules
    forget = (sources.outline.cache_clear, sources.solving.cache_clear)
    for clear in forget:
        clear()
    monkeypatch.setattr(sources, "modules", lambda group: texts if group == "solvers" else real(group))
    yield texts
    for clear in forget:
        clear()


HEAD = "from simopt.problems.kernel_ridge import KernelRidge as K\nfrom simopt.solvers.two import BOTH\nNAME = 'n'\n\n"


@pytest.mark.parametrize("decorator", ["@solver(NAME, solves=K)", "@solver('n', solves=(K,), rank=3)", "@solver('n', solves=BOTH)"])
def test_names_are_followed_to_where_they_are_defined(source: dict[str, str], decorator: str) -> None:
    source["simopt.solvers.one"] = f"{HEAD}{decorator}\ndef f(problem):\n    '''Text.\n\ndef g():'''\n    return 1\n"
    source["simopt.solvers.two"] = "from simopt.problems.kernel_ridge import KernelRidge\nfrom simopt.solvers.three import Other as O\n"
    source["simopt.solvers.two"] += "BOTH = (KernelRidge, O)\n"
    source["simopt.solvers.three"] = "\nclass Other(K):\n    name: ClassVar[str] = 'other'\n"
    assert sources.solving("kernel-ridge") == ("simopt.solvers.one",) and sources.solving("herding") == ()
    assert sources.solving("other") == (("simopt.solvers.one",) if "BOTH" in decorator else ())


STRANGE = ["@solver(*given)", "@solver('n', **given)", "@solver('n', solves=pick())", "@solver('n', solves=x.K)"]


@pytest.mark.parametrize("decorator", STRANGE)
def test_a_module_that_is_not_understood_is_imported_for_every_problem(source: dict[str, str], decorator: str) -> None:
    source["simopt.solvers.odd"] = f"\n{decorator}\ndef f(problem):\n    return 1\n"
    assert sources.solving("kernel-ridge") == sources.solving("anything") == ("simopt.solvers.odd",)
    with pytest.raises(sources.Unread):
        sources.problems()


def test_without_sources_everything_is_imported(source: dict[str, str]) -> None:
    with pytest.raises(sources.Unread):
        sources.solving("kernel-ridge")


COMMAND = """
import sys
from simopt.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
groups = ("problems", "solvers", "theorems")
loaded = {group: sum(name.startswith(f"simopt.{group}.") for name in sys.modules) for group in groups}
sys.stdout.write("\\n%r %r" % (loaded, [name for name in ("cvxpy", "numba", "joblib", "numpy") if name in sys.modules]))
"""


@pytest.mark.parametrize(
    ("command", "most", "heavy"),
    [
        (("list", "problems"), (0, 0, 0), []),
        (("solve", "kernel-ridge", "--data", "concrete_slump"), (20, 10, 0), ["numpy"]),  # the problems of the family and their modules
        (("verify", "AK-T1"), (15, 0, 12), ["numpy"]),
    ],
)
def test_a_command_imports_what_it_needs(tmp_path: Path, command: tuple[str, ...], most: tuple[int, ...], heavy: list[str]) -> None:
    evidence = ("--evidence", str(tmp_path)) if command[0] == "verify" else ()
    last = python(COMMAND, *command, *evidence).splitlines()[-1]
    loaded, _, modules = last.partition("} ")
    counts = [int(part.split(":")[1]) for part in loaded.strip("{}").split(",")]
    assert all(count <= limit for count, limit in zip(counts, most, strict=True)), last
    assert modules == repr(heavy)
