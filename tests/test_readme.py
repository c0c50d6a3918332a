"""The README's examples run as they stand and print what the README says; its commands exist."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


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


def test_the_commands_exist() -> None:
    from simopt.cli.main import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback or command.name}
    known |= {group.name for group in app.registered_groups}
    named = set(re.findall(r"^simopt (\w+)", TEXT, re.M))
    assert named and named <= known


def test_no_generated_block_is_empty() -> None:
    for block in ("verdicts", "bench"):
        inside = TEXT.split(f"<!-- {block}: begin -->")[1].split(f"<!-- {block}: end -->")[0]
        assert inside.strip(), f"README.md: the block {block!r} is empty; see docs/tables.py and benchmarks"


def test_the_table_of_verdicts_counts_the_claims_that_there_are() -> None:
    from simopt.claims.catalogue import claims

    ours = Counter(claim.paper.key for claim in claims() if claim.module.startswith("simopt.theorems."))
    told = {paper: int(count) for paper, count in re.findall(r"^\| (\w+) \| (\d+) \|", TEXT, re.M)}
    assert told == ours, "README.md: the table of verdicts is of another catalogue; see docs/tables.py"


def test_every_paper_is_named_with_its_key_and_the_prefix_of_its_claims() -> None:
    from simopt.claims.papers import PAPERS

    told = re.findall(r"^\| `(\w+)` \| (\w+)-… \| .*\*(.*)\* \|$", TEXT, re.M)
    assert sorted(told) == sorted((paper.key, paper.prefix, paper.title) for paper in PAPERS.values())
