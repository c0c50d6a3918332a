"""The pages' examples run as they stand and print what the pages say; the notebook that a page names runs the same code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WRITTEN_BY_RUNS = {
    "verdicts.md",
    "errata.md",
    "equivalences.md",
    "league.md",
}  # the lines of the last one were run before they were written
PAGES = {
    str(path.relative_to(DOCS)): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if path.name not in WRITTEN_BY_RUNS and not {"_build", "models"} & {*path.parts}
}
EXAMPLE = re.compile(r"```python\n((?:(?!```).)*?)```\n\n```text\n(.*?)```", re.S)
MODULE = re.compile(r"```python\n# (\w+)\.py\n(.*?)```", re.S)  # a block that is kept under a name, for the examples after it
EXAMPLES = [(page, i, *match.groups()) for page, text in PAGES.items() for i, match in enumerate(EXAMPLE.finditer(text))]


RADIUS = re.compile(r"± \d(\.\d)?e-1[2-9]\b")  # what is rounding, whose digits are those of the kernel of BLAS
LONG = {"by_hand.md", "cluster.md"}  # whole conformance runs of seconds; a cluster is started
MARKS = {page: [pytest.mark.slow] if page in LONG else [pytest.mark.thorough] for page in PAGES if page != "guide.md"}
NEEDED = {"cluster.md": "distributed"}


@pytest.mark.parametrize(
    ("page", "which", "code", "output"),
    [pytest.param(*each, marks=MARKS.get(each[0], []), id=f"{each[0]}-{each[1]}") for each in EXAMPLES],
)
def test_an_example_prints_what_the_page_says(tmp_path: Path, page: str, which: int, code: str, output: str) -> None:
    if page in NEEDED:
        pytest.importorskip(NEEDED[page], reason=f"the example of {page} needs it")
    for name, module in MODULE.findall(PAGES[page]):
        (tmp_path / f"{name}.py").write_text(module, encoding="utf-8")
    command = [sys.executable, "-X", "utf8", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert RADIUS.sub("± rounding", done.stdout) == RADIUS.sub("± rounding", output)


def test_every_block_of_python_is_a_module_or_has_its_output() -> None:
    for page, text in PAGES.items():
        assert len(EXAMPLE.findall(text)) + len(MODULE.findall(text)) == text.count("```python"), page
    assert {"guide.md", "extending.md", "methods/goodness.md"} <= {page for page, *_ in EXAMPLES}


@pytest.mark.slow
def test_the_package_of_the_page_on_extending_installs_and_its_claim_is_found(tmp_path: Path) -> None:
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    modules = dict(MODULE.findall(PAGES["extending.md"]))
    for name, module in modules.items():
        (source / f"{name}.py").write_text(module, encoding="utf-8")
    (toml,) = re.findall(r"```toml\n(# pyproject.toml\n.*?)```", PAGES["extending.md"], re.S)
    (source / "pyproject.toml").write_text(toml, encoding="utf-8")
    install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--target", str(site)]
    subprocess.run([sys.executable, *install, str(source)], check=True, capture_output=True, timeout=120)
    assert {f"{name}.py" for name in modules} <= {path.name for path in site.iterdir()}
    command = [sys.executable, "-X", "utf8", "-m", "simopt", "verify", "H-spoiled", "--mutants", "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8", check=False, timeout=300
    )
    assert done.returncode == 0 and "2 mutants caught" in done.stdout, done.stdout + done.stderr


def test_the_problem_of_the_page_on_extending_takes_thirty_lines() -> None:
    assert len(dict(MODULE.findall(PAGES["extending.md"]))["huber"].splitlines()) <= 30


def test_a_family_of_ones_own_takes_twenty_lines() -> None:
    assert len(dict(MODULE.findall(PAGES["own_family.md"]))["huber_family"].splitlines()) <= 20


def test_the_notebook_runs_what_the_page_on_extending_says() -> None:
    cells = json.loads((ROOT / "notebooks" / "write_your_own.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    modules = dict(MODULE.findall(PAGES["extending.md"]))
    assert set(modules) == {"huber", "reweighting", "spoiled"}
    for text in modules.values():
        alone = re.sub(r"from huber import \w+\n", "", text).strip()  # in a notebook the class is there already
        assert alone in code
