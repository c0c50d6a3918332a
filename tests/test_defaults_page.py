"""docs/defaults.md holds what its benchmark prints: every set of the list, and counts that are those of the rows."""

import datetime
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))  # as when it is run as a script
    import defaults

    return defaults


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import page

    return page


def rows_of(section: str) -> dict[str, list[float | None]]:
    """Numbers by set; none for a set that was not at hand."""
    found = re.findall(r"^\| ([^|]+?) \| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", section, re.M)
    return {name: [float(cell) if re.fullmatch(r"-?[\d.]+", cell) else None for cell in cells] for name, *cells in found if name != "set"}


def test_every_set_of_the_list_is_on_the_page_and_counted(benchmark: Any, page: Any) -> None:
    sections = page.sections(page.DEFAULTS.read_text(encoding="utf-8"))
    before = json.loads(benchmark.BEFORE.read_text(encoding="utf-8"))["scores"]
    head = page.HEAD_OF_DEFAULTS
    assert page.DEFAULTS.read_text(encoding="utf-8") == page.written(sections, f"{head}\n{page.counts(sections)}\n")
    titles = {f"{pair.name} by default, tuned, and {pair.beside}": pair for pair in benchmark.pairs()}
    assert set(sections) == set(titles) and set(before) == {pair.name for pair in titles.values()}
    for title, pair in titles.items():
        rows = rows_of(sections[title])
        assert tuple(rows) == pair.sets
        told = re.search(r"tuned score: (\d+) of (\d+) sets, (\d+) before; on other draws of rows \d+ of", sections[title])
        assert told is not None
        known = [cells for cells in rows.values() if cells[1] is not None and cells[2] is not None]
        edge = sum(abs(cells[1] - cells[2] + benchmark.CLOSE * abs(cells[2])) <= 0.0011 for cells in known)  # that rounding decides
        assert abs(int(told[1]) - sum(benchmark.close(cells[1], cells[2]) for cells in known)) <= edge
        assert int(told[2]) == len(known)
        assert int(told[3]) == sum(benchmark.close(*before[pair.name][name]) for name in rows if name in before[pair.name])
        for name, cells in rows.items():
            assert cells[0] is None or cells[0] == pytest.approx(before[pair.name][name][0], abs=6e-4)


def test_the_list_of_sets_is_the_one_that_was_written_down_first(benchmark: Any) -> None:
    assert len(benchmark.REGRESSION) + len(benchmark.CLASSES) + len(benchmark.ORDERED) == 35


def test_a_run_writes_a_table_into_the_page_of_defaults_alone(page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "DEFAULTS", tmp_path / "defaults.md")
    monkeypatch.setattr(page, "PAGE", tmp_path / "none.md")
    table, last = "| set | before |\n|---|---:|\n| abalone | 0.5 |", "Within 5% of the tuned score: 1 of 1 sets"
    day = datetime.date(2026, 11, 5)
    page.write(f"\n## A by default\nA machine\n{table}\n{last}\n", day, "defaults")
    text = page.DEFAULTS.read_text(encoding="utf-8")
    assert text.startswith("# Defaults\n") and "| `A` | 1 of 1 |  |  |" in text
    assert page.sections(text) == {"A by default": f"2026-11-05; A machine.\n\n{table}\n\n{last}."}
    page.write(
        f"\n## A by default\nB machine\n{table.replace('0.5', '0.7')}\n{last}, 0 before; on other draws of rows 1 of 2\n", day, "defaults"
    )
    text = page.DEFAULTS.read_text(encoding="utf-8")
    assert "| `A` | 1 of 1 | 0 | 1 of 2 |" in text and "0.5" not in text and not page.PAGE.exists()


def test_a_candidate_is_chosen_on_what_is_learned_from_and_a_close_score_is_close(benchmark: Any) -> None:
    data = benchmark.split_of("wine first")
    pair = next(pair for pair in benchmark.pairs() if pair.name == "MeanSimilarityClassifier")
    assert (
        benchmark.close(0.95, 1.0) and not benchmark.close(0.94, 1.0) and benchmark.close(-1.05, -1.0) and not benchmark.close(-1.06, -1.0)
    )
    assert len(data.X) == 118 and len(data.X_test) == 60
    unseen = data._replace(y_test=1 - data.y_test)
    assert benchmark.tuned(pair, pair.ours, data) + benchmark.tuned(pair, pair.ours, unseen) == pytest.approx(1.0)
