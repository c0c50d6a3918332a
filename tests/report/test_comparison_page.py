"""The page of a comparison: what stands on it, that its parts can be linked to, and that it is the same for the same runs."""

import errno
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_pages import Page

from simopt.compare import folder as files
from simopt.compare.comparison import Comparison, load, merge, rewrite
from simopt.compare.drawings import gap_curves, markers, profile
from simopt.compare.page import CUT, name_of, shown
from simopt.compare.record import Record
from simopt.compare.statistics import Profile
from simopt.core import jsonio
from simopt.core.errors import InvalidFile, NotAvailable
from tests.compare.made_records import record


def compared(machine: str = "M") -> list[Record]:
    """Three solvers on four instances of two classes; one fails, one lies."""
    sized = {20: ("LP", 20, 90), 300: ("QP", 300, 4000), 400: ("QP", 400, 5000), 500: ("", 0, 0)}
    seconds: dict[str, list[float | None]] = {
        "clarabel": [1.0, 2.0, 3.0, 4.0],
        "scs": [3.0, 1.0, 9.0, None],
        "osqp": [2.0, 4.0, None, None],
    }
    made = []
    for name, row in seconds.items():
        for (n, (kind, variables, nonzeros)), time in zip(sized.items(), row, strict=True):
            size = {"problem_class": kind, "variables": variables, "nonzeros": nonzeros}
            run = replace(record(name, time, size=n, machine=machine), **size, solver_version="1.2.3", lower=-1.0, upper=2.0)
            false = name == "osqp" and n == 300
            verdict = "FALSE" if false else "true"
            made.append(replace(run, claimed="optimal", claimed_value=77.25 if false else 1.0, claim_tolerance=1e-5, claim_gap=0.5,
                                claim_verdict=verdict))  # fmt: skip
    return made


def page_of(*records: Record, **state: Any) -> tuple[Page, str]:
    text = Comparison(list(records), **state).page()
    return Page(text), text


@pytest.fixture(scope="module")
def page() -> Page:
    return page_of(*compared())[0]


def test_elements_are_nested_ids_are_unique_and_links_lead_somewhere(page: Page) -> None:
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [str(attributes["href"]) for tag, attributes in page.elements if tag == "a"]
    assert len(targets) > 20 and {target[1:] for target in targets} <= set(ids)


def test_the_answer_comes_first(page: Page) -> None:
    text = "".join(page.text)
    heading = text.index("clarabel fastest on 3 of 4 instances (4 are too few to say more)", text.index("comparison of solvers"))
    assert heading < text.index("osqp claimed 1 optimum that is false") < text.index("Solvers over instances")


def test_every_solver_on_every_instance_has_a_row_to_link_to(page: Page) -> None:
    rows = [attributes["id"] for tag, attributes in page.elements if tag == "tr" and "id" in attributes]
    entries = {attributes["data-id"]: attributes for tag, attributes in page.elements if tag == "details" and "data-id" in attributes}
    assert len(rows) == 12 and len(entries) == 4
    for row in rows:
        assert any(str(row).startswith(f"{entry}-") for entry in entries)
    assert [each["data-class"] for each in entries.values()] == ["LP", "QP", "QP", "unknown"]
    assert [each["data-fastest"] for each in entries.values()] == ["clarabel", "scs", "clarabel", "clarabel"]
    assert [each["data-solved"] for each in entries.values()] == ["by all", "by all", "by some", "by some"]
    assert [each["data-claims"] for each in entries.values()].count("FALSE") == 1
    drawn = [attributes["data-plot"] for tag, attributes in page.elements if tag == "figure"]
    assert drawn.count("gap") == 4 and "profile" in drawn and "data-profile" in drawn


def test_a_false_claim_stands_beside_what_shows_it() -> None:
    _, text = page_of(*compared())
    claims = re.sub(r"<[^>]+>", " ", text.partition('<section id="claims">')[2].partition("</section>")[0])
    first = " ".join(claims.partition("gap where it stopped")[2].split())
    assert first.startswith("✕ FALSE osqp p, d, n = 300 claimed optimum 77.25;")
    assert "claimed optimum 77.25; certified: −1 ≤ optimum ≤ 2" in first and "11 claims are true" in first


@pytest.mark.parametrize(("what", "evidence"), [("infeasible", "a feasible point of value 2"), ("unbounded", "a lower bound −1")])
def test_claims_that_there_is_no_optimum(what: str, evidence: str) -> None:
    first, *rest = compared()
    _, text = page_of(replace(first, claimed=what, claimed_value=math.nan, claim_verdict="FALSE"), *rest)
    assert evidence in text and ">nan" not in text


def test_an_instance_without_an_optimum_is_apart() -> None:
    proven = [replace(each, status="infeasible", points=(), claimed="infeasible", claim_verdict="true", claimed_value=math.nan)
              for each in compared() if each.cell.size == 400]  # fmt: skip
    page, text = page_of(*proven, *(each for each in compared() if each.cell.size != 400))
    assert "; 1 more has no optimum" in text and "have no gap to certify, and are in no statistic" in text
    entries = [attributes for tag, attributes in page.elements if tag == "details" and "data-id" in attributes]
    assert [(each["data-fastest"], each["data-solved"]) for each in entries].count(("infeasible", "infeasible")) == 1
    assert "in no statistic" not in page_of(*compared())[1]


def test_class_and_size_have_rows(page: Page) -> None:
    text = " ".join("".join(page.text).split())
    for words in ("LP", "QP", "100–999", "10–99", "1000–9999"):
        assert words in text


def test_machines_are_apart_and_said_to_be() -> None:
    page, text = page_of(*compared(), *compared("other & <b>"))
    assert "2 machines, each on its own" in text and "other &amp; &lt;b&gt;" in text
    headings = [i for i, (tag, attributes) in enumerate(page.elements) if tag == "section" and attributes.get("class") == "machine"]
    assert len(headings) == 2
    entries = [attributes for tag, attributes in page.elements if tag == "details" and "data-id" in attributes]
    assert [each["data-machine"] for each in entries] == ["M"] * 4 + ["other & <b>"] * 4 and len({each["id"] for each in entries}) == 8


def test_what_is_missing_is_said() -> None:
    made = compared()
    _, text = page_of(*made[:5], complete=False, planned=12)
    assert "Not all runs are here." in text and "5 of 12 runs are done" in text and "so far: not all runs are done" in text
    _, text = page_of(unsuitable=[("i", "scipy", "it takes no <i>")])
    assert "No run is done yet" in text and "it takes no &lt;i&gt;" in text
    nothing = [replace(each, points=(), claimed="", claim_verdict="", lower=math.nan, upper=math.nan) for each in made]
    _, text = page_of(*nothing)
    assert "No curve: no point was certified." in text and "−∞ ≤ optimum" in text and "No back end claimed anything" in text


def test_names_on_a_page_are_one_line_of_bounded_length() -> None:
    assert shown("a\n b\t\u202ec\x00") == "a b \\u202ec\\x00" and shown("\ud800") == "\\ud800"
    assert len(shown("x" * 10_000)) == CUT and shown("x" * CUT) == "x" * CUT
    assert name_of("Ü <b>", "M") != name_of("Ü <b>", "N") and re.fullmatch(r"[a-z0-9-]+", name_of("Ü <b> \ud800", "M"))
    long = [replace(each, cell=replace(each.cell, solver="s" * 5000), message="m" * 90_000) for each in compared()[:2]]
    assert len(page_of(*long)[1]) < 120_000


@pytest.mark.parametrize("value", [1e300, -1e300, 0.0, math.inf, math.nan, 5e-324])
def test_numbers_of_any_size_are_drawn(value: float) -> None:
    points = tuple({**each, "solve": value, "relative_gap": abs(value)} for each in compared()[0].points)
    first = compared()[0]
    others = [replace(first, cell=replace(first.cell, tol=abs(value), time_limit=abs(value)))] if 0 < abs(value) < math.inf else []
    for run in (replace(first, points=points), replace(first, points=points[:1], lower=value, upper=value), *others):
        page, text = page_of(run, record("b", 1.0, size=20))
        assert (
            page.open == []
            and "inf" not in re.findall(r'[xy][12]?="([^"]*)"', text)
            and "nan" not in re.findall(r'[xy][12]?="([^"]*)"', text)
        )


def test_drawings_of_nothing_are_none() -> None:
    assert gap_curves({"a": [replace(record("a", 1.0), points=())]}, markers("a")) is None
    assert profile([Profile("a", (1.0,), (0.0,), 3, 0)], markers("a"), "τ", 1.0) is None and profile([], {}, "τ") is None
    assert len(set(markers(f"s{i}" for i in range(24)).values())) == 24, "colour and sign tell solvers apart"


def test_a_profile_is_drawn_where_its_steps_are() -> None:
    drawn = str(profile([Profile("a", (1.0, 10.0), (0.5, 1.0), 2, 0)], markers("a"), "τ", 1.0))
    (line,) = re.findall(r'<polyline points="([^"]*)"', drawn)
    (x0, _), (x1, half), (x2, flat), (_, top), (end, last) = [tuple(map(float, each.split(","))) for each in line.split()]
    assert x0 == x1 < x2 < end and half == flat and top == last < half
    assert half - top == pytest.approx(190.0 / 2, abs=0.2)


def test_a_folder_is_written_with_its_page_and_the_page_is_the_same_again(tmp_path: Path) -> None:
    place = files.prepare(tmp_path / "out")
    for run in reversed(compared()):
        files.save(place, run, 0)
    load(place).write(place)
    first = (place / "index.html").read_bytes()
    assert b"clarabel fastest on 3 of 4" in first
    (place / "index.html").unlink()
    rewrite(place)
    assert (place / "index.html").read_bytes() == first
    assert json.loads((place / "comparison.json").read_text())["answer"][0].startswith("clarabel fastest")
    with pytest.raises(NotAvailable, match="no such folder"):
        rewrite(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_what_runs_do_not_say_is_kept_when_the_page_is_written_again(tmp_path: Path) -> None:
    place = files.prepare(tmp_path / "out")
    for run in compared():
        files.save(place, run, 0)
    Comparison(compared(), 20, False, [("i", "daqp", "it takes no cones")]).write(place)
    made = rewrite(place)
    assert (made.planned, made.complete, made.unsuitable) == (20, False, [("i", "daqp", "it takes no cones")])
    text = (place / "index.html").read_text(encoding="utf-8")
    assert "12 of 20 runs" in text and "it takes no cones" in text
    other = files.prepare(tmp_path / "more")
    for run in compared("other"):
        files.save(other, run, 0)
    both = merge(other, [place])
    assert not both.complete and both.unsuitable == made.unsuitable and len(both.records) == 24


@pytest.mark.parametrize(
    "text",
    [
        "[]", "{}", "x", '{"format": "simopt-compare/9"}', '{"format": "simopt-compare/1", "complete": 1, "planned": 2}',
        '{"format": "simopt-compare/1", "complete": true, "planned": 2, "unsuitable": [{"instance": 1}]}',
    ],
)  # fmt: skip
def test_a_damaged_document_is_named(tmp_path: Path, text: str) -> None:
    place = files.prepare(tmp_path / "out")
    files.save(place, compared()[0], 0)
    (place / "comparison.json").write_text(text)
    with pytest.raises(InvalidFile, match=r"comparison\.json"):
        rewrite(place)


def test_a_full_disk_is_named_before_the_first_run_and_after_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = files.prepare(tmp_path / "out")
    files.save(place, compared()[0], 0)

    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for home in (jsonio, files):
        with monkeypatch.context() as patch:
            patch.setattr(home, "write_text", full)
            with pytest.raises(OSError, match="the disk is full; 1 runs are safe there, and the same command goes on") as caught:
                load(place).write(place)
            assert caught.value.filename == str(place)


@pytest.mark.parametrize("missing", ["jinja2", "pyarrow", "matplotlib"])
def test_without_a_package_the_rest_is_written_and_nothing_of_earlier_runs_is_left(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = files.prepare(tmp_path / "out")
    for run in compared()[:3]:
        files.save(place, run, 0)
    load(place).write(place)
    files.save(place, compared()[5], 0)
    monkeypatch.setattr(files, "find_spec", lambda name: None if name == missing else object())
    assert files.left_out() == f"Left out: {files.PARTS[missing]} ({missing} is not installed): pip install 'simopt-convex[compare]'"
    made = load(place)
    made.write(place)
    names = {path.name for path in place.iterdir()}
    lost = {"jinja2": {"index.html"}, "pyarrow": {"runs.parquet", "traces.parquet"}, "matplotlib": set()}[missing]
    assert names == {"runs", "index.html", "table.md", "comparison.json", "runs.parquet", "traces.parquet"} - lost
    assert len(load(place).records) == 4
