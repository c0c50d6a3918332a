"""The pages leave nothing out: every problem and claim is on a page of its method, and what the guide types in a shell works."""

import ast
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from simopt.core import registry
from simopt.report.formulas import mathml

DOCS = Path(__file__).resolve().parents[1] / "docs"
METHODS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((DOCS / "methods").glob("*.md"))}
TEXT = "\n".join(METHODS.values())
PAPERS = (DOCS / "papers.md").read_text(encoding="utf-8")
GUIDE = (DOCS / "guide.md").read_text(encoding="utf-8")


registry.load("problems")
PROBLEMS = sorted(name for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems."))


def test_every_problem_is_on_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the page that names it, or with all that none names."""
    monkeypatch.syspath_prepend(str(DOCS))
    import listed

    assert METHODS["index"].count(":::{problems}\n") == 1
    assert sorted([*listed.named(), *listed.unnamed()]) == PROBLEMS


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_page_of_a_method_shows_the_whole_declaration(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Every variable, parameter and row of the programme is named in the source that is shown."""
    monkeypatch.syspath_prepend(str(DOCS))
    import programme

    problem = programme.example(registry.get("problem", name))
    shown = ast.parse(programme.code(problem))
    assert isinstance(shown.body[0], ast.FunctionDef) and shown.body[0].name == "declare"
    texts = [node for node in ast.walk(shown) if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant)]
    patterns = ["".join(re.escape(part.value) if isinstance(part, ast.Constant) else r"\w+" for part in text.values) for text in texts]
    patterns += [re.escape(node.value) for node in ast.walk(shown) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    declared = problem.declare()
    named = {variable.name() for variable in declared.variables()} | {parameter.name() for parameter in declared.parameters()}
    for word in named | {row.label for row in declared.constraints}:
        assert any(re.fullmatch(pattern, word) for pattern in patterns), word


def test_every_claim_is_on_one_page() -> None:
    registry.load()
    homes = {registry.module_of("claim", name) for name, _ in registry.items("claim")}
    ours = {home for home in homes if home.startswith("simopt.theorems.")}
    listed = Counter(
        f"simopt.theorems.{paper}.{module}"
        for paper, modules in re.findall(r":::\{claims\} (\w+)\n(.*?)\n:::", TEXT, re.S)
        for module in modules.split()
    )
    assert set(listed) == ours
    assert set(listed.values()) == {1}


def test_every_method_is_in_the_list_of_methods() -> None:
    contents = re.search(r"```\{toctree\}.*?\n\n(.*?)```", METHODS["index"], re.S)
    assert contents is not None
    assert set(contents[1].split()) == set(METHODS) - {"index"}


@pytest.mark.slow
def test_what_the_guide_types_works(tmp_path: Path) -> None:
    writes = next(code for code in re.findall(r"```python\n(.*?)```", GUIDE, re.S) if "houses.csv" in code)
    subprocess.run([sys.executable, "-X", "utf8", "-c", writes], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    commands = [line for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.S) for line in block.splitlines()]
    assert {"solve", "verify", "replay", "recheck", "compare"} <= {shlex.split(line)[1] for line in commands}
    environment = {**os.environ, "COLUMNS": "80"}  # a small terminal: ids stay whole, since they are there to be copied
    seen = ""
    for line in commands:
        command = [sys.executable, "-X", "utf8", "-m", *shlex.split(line)]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False, timeout=300, env=environment
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        seen += done.stdout
    shown = re.findall(r"^([A-Z]+-\S+ +[A-Z]+ +\w+) .*$", GUIDE, re.M)
    assert len(shown) == 2
    for verdict in shown:
        assert re.sub(r" +", " ", verdict) in re.sub(r" +", " ", seen)


def test_the_page_of_commands_names_every_command() -> None:
    from simopt.cli.main import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback or command.name}
    known |= {group.name for group in app.registered_groups if group.name}
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^simopt (\w+)", text, re.M)) == known


def test_how_to_install_stands_on_one_page() -> None:
    pages = [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    assert [path.name for path in pages if "-m venv" in path.read_text(encoding="utf-8")] == ["installing.md"]


def test_the_table_of_verdicts_counts_the_claims_that_there_are() -> None:
    from simopt.claims.catalogue import claims

    ours = Counter(claim.paper.key for claim in claims() if claim.module.startswith("simopt.theorems."))
    told = {paper: int(count) for paper, count in re.findall(r"^\| (\w+) \| (\d+) \|", PAPERS, re.M)}
    assert told == ours, "docs/papers.md: the table is of another catalogue; see docs/tables.py"


def test_every_paper_is_named_with_its_key_and_the_prefix_of_its_claims() -> None:
    from simopt.claims.papers import PAPERS as ours

    told = re.findall(r"^\| `(\w+)` \| (\w+)-… \| .*\*(.*)\* \|$", PAPERS, re.M)
    assert sorted(told) == sorted((paper.key, paper.prefix, paper.title) for paper in ours.values())


def test_the_words_of_the_page_of_verdicts_are_the_librarys() -> None:
    from simopt.claims import Verdict

    told = re.findall(r"^\| ([A-Z_]+) \|", (DOCS / "deciding.md").read_text(encoding="utf-8"), re.M)
    assert [*told, Verdict.ERROR.value] == [verdict.value for verdict in Verdict]


def test_the_pages_need_no_network() -> None:
    assert "mathjax" not in (DOCS / "conf.py").read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md")):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        for display, line in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text, re.S):
            assert mathml(display or line, bool(display)).startswith("<math"), path.name


def test_the_page_of_what_is_public_is_of_this_code(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(str(DOCS))
    import public_names

    assert {re.sub(r"[/ -]\d+$", "", form) for form in public_names.written()} == public_names.FORMATS.keys()
    assert public_names.PAGE.read_text(encoding="utf-8") == public_names.page(), "docs/public_names.py writes another page: run it"


def test_a_page_that_includes_a_part_of_another_names_words_that_are_in_it() -> None:
    """`make docs` would fail; this is seen at once."""
    found = 0
    for page in sorted(DOCS.rglob("*.md")):
        for block in re.findall(r"^```\{include\} (\S+)\n((?::.*\n)*)", page.read_text(encoding="utf-8"), re.MULTILINE):
            text = (page.parent / block[0]).read_text(encoding="utf-8")
            for marker in re.findall(r"^:(?:start-after|end-before): (.*)$", block[1], re.MULTILINE):
                assert marker.strip('"') in text, f"{page.name}: {marker}"
                found += 1
    assert found
