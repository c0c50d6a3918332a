"""The pages: what stands on them, that hostile text stays text, and that nothing on them asks for the network."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import toy_paper

from simopt.claims.verification import Record
from simopt.report.entries import title

Written = tuple[Record, Path]
VOID = {"meta", "link", "br", "input", "img", "circle", "line", "rect", "path", "polyline", "hr"}


class Page(HTMLParser):
    """Elements of a page in order, and whether they are properly nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}, line {self.getpos()}"
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(params=["index.html", "errata.html"])
def page(request: pytest.FixtureRequest, written: Written) -> Page:
    return Page((written[1] / request.param).read_text(encoding="utf-8"))


def test_all_five_files_are_written_and_nothing_else(written: Written) -> None:
    names = {path.name for path in written[1].iterdir()}
    assert names == {"index.html", "errata.html", "verdicts.md", "errata.md", "verdicts.json"}


def test_elements_are_nested_and_ids_are_unique(page: Page) -> None:
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_nothing_refers_to_the_network(page: Page, written: Written) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "srcset", "action", "data", "poster", "background"):
            assert name not in attributes, (tag, attributes)
        target = attributes.get("href") or "#"
        assert re.match(r"#|index\.html|errata\.html|data:,$", target), target
    for name in ("index.html", "errata.html"):
        text = (written[1] / name).read_text(encoding="utf-8")
        style = text.partition("<style>")[2].partition("</style>")[0]
        assert "url(" not in style and "@import" not in style and style.strip()


def test_hostile_text_stays_text(page: Page) -> None:
    tags = [tag for tag, _ in page.elements]
    assert "img" not in tags and "i" not in [tag for tag, attributes in page.elements if not attributes]
    assert tags.count("script") <= 1  # our own
    assert not any(name.startswith("on") and name != "onsubmit" for _, attributes in page.elements for name in attributes)
    said = "".join(page.text)
    assert "{{ 7 * 7 }}" in said and "49" not in re.findall(r"\{\{.*?\}\}", said)
    assert "window.hacked = 1</script>" in said or "<script>window.hacked" in said


def test_every_claim_and_every_covered_row_is_there(written: Written) -> None:
    page = Page((written[1] / "index.html").read_text(encoding="utf-8"))
    shown = {attributes["data-id"]: attributes for tag, attributes in page.elements if tag == "details" and "data-id" in attributes}
    assert set(shown) == {claim.id for claim in toy_paper.claims()}
    assert shown["TOY-false"]["data-verdict"] == "REFUTED" and shown["TOY-false"]["data-defect"] == "constant"
    assert shown["TOY-equal"]["data-section"] == "second" and shown["OTH-void"]["data-paper"] == "other"
    assert any(attributes.get("id") == "TOY-also" for _, attributes in page.elements)


def test_every_claim_that_was_checked_has_a_plot_of_the_right_kind(written: Written) -> None:
    text = (written[1] / "index.html").read_text(encoding="utf-8")
    panels = {part.partition('"')[0]: part for part in text.split('data-id="')[1:]}
    kinds = {name: re.findall(r'data-plot="(\w+)"', part) for name, part in panels.items()}
    expected = {
        "TOY-ratio": "ratio", "TOY-equal": "equality", "TOY-fact": "facts", "TOY-slack": "slack", "TOY-path": "path",
        "TOY-draw": "frequency", "TOY-mean": "mean", "TOY-known": "frequency", "TOY-rate": "rate", "OTH-void": "facts",
    }  # fmt: skip
    for name, kind in expected.items():
        assert kind in kinds[name], (name, kinds[name])
    assert kinds["TOY-two"] == ["ratio", "ratio"]
    assert kinds["OTH-missing"] == kinds["OTH-breaks"] == []
    assert "No plot: nothing was checked" in panels["OTH-missing"]
    assert "NaN" not in text and "inf" not in re.findall(r'[xy][12]?="([^"]*)"', text)


def test_refuted_claim_stands_beside_its_correction_with_its_witness(written: Written) -> None:
    for name in ("index.html", "errata.html"):
        text = (written[1] / name).read_text(encoding="utf-8")
        panel = text.partition('id="TOY-false"')[2].partition("</article>" if name == "errata.html" else "</details>")[0]
        assert "As printed" in panel and "What is true instead" in panel and "TOY-false+" in panel
        assert "Counterexample" in panel and "<dt>x</dt><dd>5</dd>" in panel and "simopt replay" in panel


def test_mathematics_is_mathml_and_names_are_links(written: Written) -> None:
    panel = (written[1] / "index.html").read_text(encoding="utf-8").partition('data-id="TOY-ratio"')[2].partition("</details>")[0]
    assert "<msqrt>" in panel and "<msub><mi>f</mi>" in panel and "<strong>every</strong>" in panel
    assert '<a href="#TOY-false%2B">TOY-false+</a>' in panel and '<a href="#TOY-two">TOY-also</a>' in panel
    assert "&lt;em&gt;this&lt;/em&gt;" in panel


def test_json_holds_the_run_and_what_was_measured(written: Written) -> None:
    record, folder = written
    found = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    assert found["format"] == "simopt-report/1" and found["versions"]["simopt"] and found["interrupted"] is False
    rows = {row["id"]: row for row in found["claims"]}
    assert [row["verdict"] for row in found["claims"]] == [row["verdict"] for row in record.rows]
    assert [point[1] for point in rows["TOY-ratio"]["measured"]["points"]] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert rows["TOY-two"]["rows"]["TOY-also"]["measured"]["compared"] == 5
    figure, _ = rows["TOY-rate"]["measured"]["figures"]
    assert figure["slope"] == -1 and figure["window"] == [15, 200] and abs(figure["fitted"] + 1) < 1e-9
    assert "measured" not in record.to_json()[0]


def test_markdown_says_the_same(written: Written) -> None:
    table = (written[1] / "verdicts.md").read_text(encoding="utf-8")
    errata = (written[1] / "errata.md").read_text(encoding="utf-8")
    rows = {line.split(" | ")[0].strip("| "): line for line in table.splitlines() if line.startswith("| TOY-") or line.startswith("| OTH-")}
    assert (
        "| REFUTED |  |" in rows["TOY-false"]
        and "| HOLDS | proved in words |" in rows["TOY-also"]
        and len(rows) == len(toy_paper.claims()) + 1
    )
    assert all(line.replace("\\|", "").count("|") == 9 for line in rows.values())
    assert "TOY-false (Place of TOY-false): constant" in errata and "x = 5" in errata and "**TOY-false+, HOLDS:**" in errata
    assert not re.search(r"(?<!\\)[<>]", errata), "what Markdown would take for HTML"


def test_titles_spell_proper_names_as_they_are_written() -> None:
    assert title("_generalised_hamming_is_a_metric") == "generalised Hamming is a metric"
    assert title("svm_is_the_mean") == "SVM is the mean"
