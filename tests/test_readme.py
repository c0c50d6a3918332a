"""The README: its examples print what it says, its numbers are those of the pages that runs have written, and it is one screen."""

import datetime
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PRINTED = """
## secular against CVXPY with CLARABEL
A machine, load 0.1, numpy 2
n            ours
300         1.00
median ratio 0.111 (target 1: met)

## something new
A machine, load 0.2, numpy 2
1.5 s
"""


@pytest.mark.parametrize("which", [0, 1, 2])
def test_an_example_prints_what_the_readme_says(tmp_path: Path, which: int) -> None:
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, re.S)
    assert len(examples) == 3
    code, output = examples[which]
    assert len(code.splitlines()) <= 20
    command = [sys.executable, "-X", "utf8", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == output


def test_the_command_on_two_learners_begins_as_the_readme_says(tmp_path: Path) -> None:
    ((line, output),) = re.findall(r"`(simopt equivalence [^`]*)`[^`]*```text\n(.*?)```", TEXT, re.S)
    command = [sys.executable, "-X", "utf8", "-m", *shlex.split(line)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(output + "\n") and "strictly increasing" in done.stdout


def test_it_is_one_screen() -> None:
    assert len(TEXT.splitlines()) <= 90


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT)
    assert len(links) > 5 and all((ROOT / link).exists() for link in links), links


def test_it_counts_the_verdicts_as_the_page_of_papers_does() -> None:
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    rows = [re.findall(r"\| (\d+)", row) for row in re.findall(r"^\| \w+ (\| \d+.*)$", page, re.M)]
    claims, proved, holds, refuted, _, vacuous, _ = (sum(map(int, column)) for column in zip(*rows, strict=True))
    assert (
        f"Of {claims} claims of [four papers](docs/papers.md) {proved} are PROVED, {holds} HOLD, {refuted} are REFUTED, {vacuous} VACUOUS"
        in TEXT
    )


@pytest.fixture
def benchmarks_page(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import page

    return page


def test_its_table_is_that_of_the_page_of_benchmarks(benchmarks_page) -> None:  # type: ignore[no-untyped-def]
    page = benchmarks_page
    found = page.sections(page.PAGE.read_text(encoding="utf-8"))
    table = page.eight(found)
    assert f"{page.BEGIN}\n{table}\n{page.END}" in TEXT
    assert len(re.findall(r"^\|.*\| [\d.]+ \| \d{4}-\d\d-\d\d \|$", table, re.M)) == 8
    assert page.written(found) == page.PAGE.read_text(encoding="utf-8")


def test_a_run_of_benchmarks_writes_what_it_measured_and_leaves_the_rest(benchmarks_page) -> None:  # type: ignore[no-untyped-def]
    page = benchmarks_page
    before = page.sections(page.PAGE.read_text(encoding="utf-8"))
    after = before | page.printed(PRINTED, datetime.date(2030, 1, 2))
    assert page.sections(page.written(after)) == after
    assert set(after) == {*before, "something new"}
    assert {title for title in before if after[title] != before[title]} == {"secular against CVXPY with CLARABEL"}
    assert after["something new"] == "2030-01-02; A machine, load 0.2, numpy 2.\n\n1.5 s."
    assert "300         1.00" in after["secular against CVXPY with CLARABEL"]
    assert "| CVXPY with CLARABEL | 0.111 | 2030-01-02 |" in page.eight(after)
    assert {"A machine, numpy 2."} < set(page.eight(after).splitlines())


def test_a_benchmark_that_lost_a_figure_of_the_readme_is_named(benchmarks_page) -> None:  # type: ignore[no-untyped-def]
    page = benchmarks_page
    title = "secular against CVXPY with CLARABEL"
    found = page.sections(page.PAGE.read_text(encoding="utf-8")) | {title: "2030-01-02; A machine.\n\nno figure."}
    with pytest.raises(LookupError, match=title):
        page.eight(found)
