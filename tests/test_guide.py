"""The guide's examples run as they stand and print what the guide says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "guide.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, re.S)


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_an_example_prints_what_the_guide_says(tmp_path: Path, code: str, output: str) -> None:
    command = [sys.executable, "-X", "utf8", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == output


def test_every_example_has_its_output() -> None:
    assert len(EXAMPLES) == TEXT.count("```python")
