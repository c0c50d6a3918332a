"""The pages of recipes, of back ends and of clusters: what they type works."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("recipes.md", ["OPTIMAL True", "True", "(30, 30) True"]),
        ("backends.md", ["OPTIMAL Solved"]),
    ],
)
def test_a_page_runs_from_top_to_bottom(page: str, said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    module = type(sys)("page")
    sys.modules["page"] = module
    try:
        for block in blocks(page):
            exec(compile(block, page, "exec"), names)
    finally:
        del sys.modules["page"]
    assert capsys.readouterr().out.splitlines() == said


@pytest.mark.slow  # a cluster is started
def test_the_example_of_the_cluster(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="a Dask cluster needs distributed")
    (example,) = blocks("cluster.md")
    (tmp_path / "example.py").write_text(example, encoding="utf-8")
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0 and f"```text\n{done.stdout}```" in (DOCS / "cluster.md").read_text(encoding="utf-8"), done.stderr
