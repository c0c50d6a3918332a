"""`python -m benchmarks --against COMMIT`: what is told of ratios, which rows count as slower, and a run of a tree against itself."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def against(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import against

    return against


def test_the_interval_holds_the_median_with_95_percent(against: ModuleType) -> None:
    assert against.interval(range(5)) == (-math.inf, math.inf)  # their range misses it with 2/32
    assert against.interval(range(6)) == (0, 5)  # with 2/64
    assert against.interval(range(9)) == (1, 7)
    assert against.interval(range(15)) == (3, 11)
    for n in range(6, 40):
        low, high = against.interval(range(n))
        missed = 2 * sum(math.comb(n, i) for i in range(low + 1)) / 2**n
        assert low + high == n - 1 and missed <= 0.05


def test_a_row_is_slower_when_the_whole_interval_is(against: ModuleType) -> None:
    assert against.Timings("six", ratios=(1.06,) * 6).slower
    assert not against.Timings("one of six may be chance", ratios=(1.04,) + (1.5,) * 5).slower
    assert not against.Timings("too few", ratios=(2.0,) * 5).slower
    assert "not in other" in str(against.Timings("of one tree", missing="not in other: no such thing"))


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no repository: this is a copy of its files")
def test_a_tree_is_as_fast_as_itself(against: ModuleType) -> None:
    def trees() -> str:
        return subprocess.run(["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    before = trees()
    command = [sys.executable, "-m", "benchmarks", "--against", "HEAD", "--quick", "mean-classifier"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode in (0, 1), done.stderr  # a busy machine may say anything of the speed
    assert "mean-classifier 60: solve closed-form" in done.stdout and "mean-classifier 60: certify float" in done.stdout
    assert "2 rows, median ratio" in done.stdout and "0 in one tree only" in done.stdout
    assert trees() == before
