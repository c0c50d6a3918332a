"""The README's example runs as it stands and prints what the README says; its commands exist."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", TEXT, re.S)
    output = re.search(r"```text\n(.*?)```", TEXT, re.S)
    assert code and output and len(code[1].splitlines()) <= 20
    command = [sys.executable, "-X", "utf8", "-c", code[1]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == output[1]


def test_the_commands_exist() -> None:
    from simopt.cli.main import app

    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback or command.name}
    named = set(re.findall(r"^simopt (\w+)", TEXT, re.M))
    assert named and named <= known


def test_no_generated_block_is_empty() -> None:
    for block in ("verdicts", "bench"):
        inside = TEXT.split(f"<!-- {block}: begin -->")[1].split(f"<!-- {block}: end -->")[0]
        assert inside.strip(), f"README.md: the block {block!r} is empty; see docs/tables.py and benchmarks"
