"""The layers: the frame knows no content by name, problems no solvers, solvers no claims; the architecture's picture is of this tree."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BANNED = {
    "simopt": ("problems", "solvers", "estimators", "theorems"),  # it finds them in its registry
    "problems": ("solvers", "estimators", "theorems"),
    "solvers": ("estimators", "theorems"),
    "estimators": ("theorems",),
}


def imported(path: Path) -> set[str]:
    """Modules that a file imports anywhere, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def needed(node: ast.AST) -> Iterator[str]:
    """Modules that a tree of syntax imports when it runs, also inside functions; not what is imported for types only."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        yield from (name for child in node.orelse for name in needed(child))
    else:
        yield from (name for child in ast.iter_child_nodes(node) for name in needed(child))


@cache
def arrows() -> dict[str, set[str]]:
    """Module -> modules that it needs."""
    modules = {}
    for folder in BANNED:
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts if folder == "simopt" else ("simopt", *parts))
            modules[name.removesuffix(".__init__")] = path
    graph = {}
    for name, path in modules.items():
        full_names = needed(ast.parse(path.read_text(encoding="utf-8")))
        graph[name] = {full if full in modules else full.rpartition(".")[0] for full in full_names} & set(modules)
    return graph


def in_circles(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is left when modules that need none of the others, or that none of them needs, are taken away again and again."""
    left = dict(graph)
    while True:
        wanted = {name for names in left.values() for name in names}
        inner = {name: names & set(left) for name, names in left.items() if name in wanted and names & set(left)}
        if inner == left:
            return left
        left = inner


def test_no_two_files_need_each_other() -> None:
    graph = arrows()
    assert graph["simopt.solving.entry_points"] >= {"simopt.solving.driver", "simopt.solving.dispatch"}  # the second inside a function
    assert "simopt.certificates.certificate" not in graph["simopt.solving.solution"]  # for types only
    assert not in_circles(graph), in_circles(graph)


def test_no_two_packages_need_each_other() -> None:
    def package(module: str) -> str:
        return ".".join(module.split(".")[:2])

    between: dict[str, set[str]] = {}
    for module, needs in arrows().items():
        if module != "simopt":  # which imports at first use
            between.setdefault(package(module), set()).update({package(name) for name in needs} - {package(module), "simopt"})
    assert len(between) > 20 and between["simopt.duality"] >= {"simopt.model", "simopt.certificates", "simopt.backends"}
    assert not in_circles(between), in_circles(between)


def test_no_two_folders_need_each_other_but_two_pairs() -> None:
    """A folder inside of another one is a part of it. Atoms are written with maps of the graph, whose nodes have atoms."""
    graph = arrows()
    packages = {name for name in graph if any(other.startswith(f"{name}.") for other in graph)}
    home = {name: name if name in packages else name.rpartition(".")[0] for name in graph}
    between: dict[str, set[str]] = {}
    for module, needs in graph.items():
        one = home[module]
        others = {home[name] for name in needs}
        between.setdefault(one, set()).update(
            each for each in others if not f"{each}.".startswith(f"{one}.") and not one.startswith(f"{each}.")
        )
    assert between["simopt.duality.reading"] >= {"simopt.duality.graph", "simopt.duality.atoms"}
    d, p = "simopt.duality", "simopt.problems"
    assert in_circles(between).keys() == {f"{d}.atoms", f"{d}.graph", f"{p}.examples", f"{p}.thresholds"}


def test_circles_are_found() -> None:
    circle = {"a": {"b"}, "b": {"c"}, "c": {"a"}}
    assert in_circles({**circle, "into": {"a"}, "out of": set(), "b": {"c", "out of"}}) == circle
    assert in_circles({"itself": {"itself"}}) and not in_circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})


@pytest.mark.parametrize("folder", BANNED)
def test_nothing_imports_what_is_built_on_it(folder: str) -> None:
    names = {(path.name, name) for path in (ROOT / folder).rglob("*.py") for name in imported(path)}
    assert len(names) > 10
    assert not {(path, name) for path, name in names if name.startswith("simopt.") and name.split(".")[1] in BANNED[folder]}


@cache
def homes_of_classes() -> dict[str, set[str]]:
    """Name of a class, without a leading underscore -> where classes of the name are: file and line."""
    homes: dict[str, set[str]] = {}
    for folder in (*BANNED, "theorems", "tests", "benchmarks", "docs", ".ci"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    homes.setdefault(node.name.lstrip("_"), set()).add(f"{path.relative_to(ROOT)}:{node.lineno}")
    return homes


def test_no_name_of_a_class_has_three_homes() -> None:
    homes = homes_of_classes()
    assert len(homes) > 800 and len(homes["Interval"]) == 2
    assert not {name: places for name, places in homes.items() if len(places) > 2}


def test_a_class_of_the_library_has_a_name_of_its_own() -> None:
    """But for five pairs, each of which is public, or in files that are read again, on both sides."""
    library = {*BANNED, "theorems"}
    ours = {name: sum(place.split("/")[0] in library for place in places) for name, places in homes_of_classes().items()}
    assert {name for name, homes in ours.items() if homes > 1} == {"Interval", "Record", "Row", "Run", "Unreadable"}


def test_no_file_hides_its_name() -> None:
    ours = [path for folder in (*BANNED, "theorems") for path in (ROOT / folder).rglob("*.py")]
    assert len(ours) > 400
    assert not [path for path in ours if path.name.startswith("_") and path.name not in ("__init__.py", "__main__.py")]


def registering(path: Path) -> list[str]:
    """Functions of a file that are decorated with `@solver(...)`."""
    functions = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef))
    return [each.name for each in functions if any(ast.unparse(made).startswith("solver(") for made in each.decorator_list)]


def test_every_solver_stands_in_solvers_py_of_its_family() -> None:
    made = {path.relative_to(ROOT / "solvers"): registering(path) for path in (ROOT / "solvers").rglob("*.py")}
    families = {path.parts[0] for path in made if len(path.parts) > 1}
    engines = {"interior"}  # a package without problems of its own
    assert {path.as_posix() for path, names in made.items() if names} == {f"{family}/solvers.py" for family in families - engines}
    others = [path for folder in ("simopt", "problems", "estimators", "theorems") for path in (ROOT / folder).rglob("*.py")]
    assert not [path for path in others if "@solver(" in path.read_text(encoding="utf-8") and registering(path)]


@pytest.fixture
def architecture(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("architecture")


def test_the_picture_of_the_architecture_is_of_this_tree(architecture: Any) -> None:
    tree = architecture.read()
    stale = "docs/architecture.py draws another picture: run it"
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.drawing(tree), stale
    text = architecture.CONTRIBUTING.read_text(encoding="utf-8")
    assert text == architecture.with_packages(text, tree), stale
    assert {folder for folder in tree.folders.values() if "/" not in folder} == {*BANNED, "theorems"}
    assert all(tree.sentences.values()), tree.sentences


def test_the_folders_that_are_no_package_are_listed(architecture: Any) -> None:
    listed = re.findall(r"^(\w+)/ ", architecture.CONTRIBUTING.read_text(encoding="utf-8").split(architecture.END)[1], re.M)
    assert listed == ["data", "tests", "docs", "requirements", "notebooks", "benchmarks"]
    assert all((ROOT / name).is_dir() for name in listed)


def test_the_life_of_a_problem_names_functions_that_there_are() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## The life of a problem")[1]
    steps = re.findall(r"^(\d+)\. ", text, re.M)
    names = [name for name in re.findall(r"`(simopt(?:\.\w+){2,})`", text)]
    assert steps == [str(number) for number in range(1, 11)] and len(names) >= 20
    for name in names:
        assert callable(pkgutil.resolve_name(name)), name


def test_packages_are_read_from_a_tree(architecture: Any, tmp_path: Path) -> None:
    """Two folders at the top: b imports from a's packages x and y, x from y, and y, inside a function, from x's inner package."""
    files = {
        "pyproject.toml": '[tool.setuptools.package-dir]\nh = "a"\n"h.b" = "b"\n',
        "a/__init__.py": '"""The frame.\n\nMore."""',
        "a/x/__init__.py": '"""One `package`. More."""\nfrom h.y.file import thing',
        "a/x/z/__init__.py": '"""Inner"""',
        "a/y/__init__.py": '"""Other."""',
        "a/y/file.py": "import numpy\ndef f():\n    from h.x import z",
        "b/__init__.py": '"""Above."""',
        "b/file.py": "import h.x\nfrom h.y import file",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    tree = architecture.read(tmp_path)
    assert tree.folders == {"h": "a", "h.x": "a/x", "h.x.z": "a/x/z", "h.y": "a/y", "h.b": "b"}
    assert tree.sentences == {"h": "The frame", "h.x": "One package", "h.x.z": "Inner", "h.y": "Other", "h.b": "Above"}
    assert tree.arrows == {("h.x", "h.y"), ("h.y", "h.x.z"), ("h.b", "h.x"), ("h.b", "h.y")}
    picture = architecture.drawing(tree)
    assert picture.count('class="circle"') == 2 and picture.count('class="arrow"') == 1  # x and y; from top to top
    assert picture.index(">b/<") < picture.index(">a/<") < picture.index(">x/<") < picture.index(">x/z/<")


def test_what_a_package_uses_lies_below_it_and_arrows_that_follow_are_left_out(architecture: Any) -> None:
    arrows = {("top", "centre"), ("centre", "base"), ("top", "base"), ("left", "right"), ("right", "left"), ("left", "base")}
    assert architecture.layers(["top", "centre", "base", "left", "right"], arrows) == [["base"], ["centre", "left", "right"], ["top"]]
    assert architecture.needed(arrows) == arrows - {("top", "base")}


def documented(doc: str) -> Iterator[str]:
    """The names that stand in the section Parameters."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ()]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    for line in section.group(1).splitlines() if section else ():
        if named := re.match(r"[*\w, ]+(?= : |$)", line):
            yield from (name.strip().lstrip("*") for name in named.group().split(",")) if " : " in line else ()


def accepted(node: ast.AST) -> set[str] | None:
    """The names of a function's parameters or a class's fields; None where others come from a base, or by ** from elsewhere."""
    if isinstance(node, ast.ClassDef):
        makers = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
        fields = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)}
        return None if node.bases else fields.union(*(accepted(maker) or () for maker in makers))
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.args.kwarg:
        return None
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *filter(None, [node.args.vararg])]
    return {argument.arg for argument in every}


@pytest.mark.parametrize("folder", ["simopt", "problems", "solvers", "estimators", "theorems", "benchmarks"])
def test_documented_parameters_are_parameters(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = accepted(node)
            if names is not None and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                others = {*documented(ast.get_docstring(node) or "")} - names
                assert not others, f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has no {', '.join(sorted(others))}"
