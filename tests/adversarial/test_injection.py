"""Words that somebody else wrote, in everything that simopt prints as HTML, MathML, SVG or Markdown: they come out as words.

A page may hold the elements and attributes of its templates, of MathML and of our drawings, and nothing else. Whatever a claim, a witness
file or a name says stands between them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from simopt import report
from simopt.claims import Check, Claim, Defect, Expected, Instance, Kind, Paper, Trial, at_most
from simopt.claims import witness as witnesses
from simopt.claims.kinds import Effort
from simopt.claims.verification import Record, verify
from simopt.compare import record as runs
from simopt.compare import table
from simopt.compare.cell import PlannedRun
from simopt.compare.comparison import Comparison
from simopt.core import registry
from simopt.core.foreign_text import in_markdown, on_terminal
from simopt.processes import worker
from simopt.report import counterexample, pages
from simopt.report.formulas import ATTRIBUTES, ELEMENTS
from simopt.report.prose import Prose
from simopt.report.svg import Drawing

pytest.importorskip("jinja2")
pytest.importorskip("latex2mathml")

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = "<img src=x onerror=window.hacked=1>"
PAYLOADS = [
    SCRIPT,
    IMAGE,
    f'"><{SCRIPT[1:]}',
    f"'>{IMAGE}",
    '" onmouseover="window.hacked=1',
    "' autofocus onfocus='window.hacked=1",
    f"</title>{SCRIPT}",
    f"</style>{SCRIPT}",
    f"</script>{SCRIPT}",
    f"-->{SCRIPT}<!--",
    f"]]>{IMAGE}",
    "<svg onload=window.hacked=1>",
    "<svg><animate onbegin=window.hacked=1 attributeName=x dur=1s>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>",
    "<a href='javascript:window.hacked=1'>x</a>",
    "<form action='https://evil.example'><button>x</button></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href='https://evil.example/'>",
    "<link rel=stylesheet href='https://evil.example/x.css'>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "&#x3C;script&#x3E;window.hacked=1&#x3C;/script&#x3E;",
    "&#x0003C;script&#x0003E;window.hacked=1",
    "{{ 7 * 7 }}{% raw %}" + IMAGE,
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    rf"$\text{{{SCRIPT}}}$",
    rf"$\mbox{{{IMAGE}}}$",
    rf"$\hbox{{{IMAGE}}}$",
    rf"$\textbf{{{SCRIPT}}}$",
    rf"$\mathrm{{{IMAGE}}}$",
    r"$\href{javascript:window.hacked=1}{x}$",
    r"$\style{background:url(https://evil.example)}{x}$",
    r"$\class{claim}{x}$",
    r'$\color{" onclick="window.hacked=1}x$',
    r"$\textcolor{red' onclick='window.hacked=1}{x}$",
    rf"\(\text{{</math>{SCRIPT}}}\)",
    rf"\[\text{{</mtext><mglyph><style><!--</style>{IMAGE}-->}}\]",
    r"$\verb|<script>window.hacked=1</script>|$",
    rf"$\unicode{{x3C}}\text{{{IMAGE}}}$",
    rf"$\operatorname{{{IMAGE}}}$",
    rf"$\tag{{{SCRIPT}}}x$",
    r"$\newcommand{\a}{xxxxxxxx}\newcommand{\b}{\a\a\a\a\a\a\a\a}\newcommand{\c}{\b\b\b\b\b\b\b\b}\c\c\c\c\c\c$",
    r"$\def\x{\x\x}\x$",
    f"x_{{{SCRIPT}}} √({IMAGE}) w^<script>",
    f"**{SCRIPT}** `{IMAGE}`",
    "[x](javascript:window.hacked=1) ![y](https://evil.example/y.png)",
    "| a | b |\n|---|---|\n| <script> |",
    "<!DOCTYPE html><html><body onload=window.hacked=1>",
    "<math><mtext><table><mglyph><style><img src onerror=window.hacked=1>",
    "<noscript><p title='</noscript><img src=x onerror=window.hacked=1>'>",
    "\u202e<\u200bscript>window.hacked=1",
    "<scr\x00ipt>window.hacked=1</scr\x00ipt>",
    "＜script＞window.hacked=1＜/script＞",
]  # fmt: skip
HTML = frozenset(
    "html head meta link title style body a header div p span nav main h1 h2 h3 h4 section table thead tr th tbody td button br i details "
    "summary dl dt dd form label input select option output b strong em code pre figure figcaption article footer script var ul li".split()
)
DRAWN = frozenset({"svg", "line", "rect", "circle", "path", "polyline", "text"})
NAMED = frozenset(
    "lang charset name content http-equiv rel href class id tabindex role aria-label aria-current aria-hidden aria-live aria-keyshortcuts "
    "scope title type data-set data-chapter data-id data-paper data-verdict data-kind data-defect data-section data-plot placeholder "
    "autocomplete data-name data-of data-value data-unit data-class data-variables data-fastest data-solved data-claims data-machine "
    "value hidden viewbox x y x1 x2 y1 y2 width height cx cy r d points text-anchor display".split()
)
HERE = re.compile(r"#[\w%.~+/-]*|(index|errata)\.html(#[\w%.~+/-]*)?|data:,")


class Elements(HTMLParser):
    """What a browser would take for markup in a page, and the words between."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")


def clean(text: str) -> Elements:
    """The page, if nothing in it is beyond the lists."""
    page = Elements(text)
    for tag, attributes in page.tags:
        assert tag in HTML | DRAWN | ELEMENTS | {"math"}, tag
        for name, value in attributes.items():
            assert name in NAMED | ATTRIBUTES, (tag, name, value)
        assert HERE.fullmatch(attributes.get("href") or "#"), attributes
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") <= 1 and tags.count("style") <= 1 and tags.count("meta") <= 4 and tags.count("form") <= 1
    return page


def hostile_claim(number: int, payload: str) -> Claim:
    """A refuted claim that says the payload wherever it can."""
    word = "-".join(payload.split())
    paper = Paper(f"p{number}{word}", "X", payload, payload, 2001, payload, sections=(payload,))

    def instances(trial: Trial) -> Iterator[Instance]:
        yield {payload: payload, "list": [payload, {payload: (1, payload)}]}

    def check(instance: Instance, trial: Trial) -> Iterator[Check]:
        yield at_most(2 * trial["c"], 1, payload)
        yield at_most(2 * trial["c"], 1, payload, row=f"{number}also{word}")

    instances.__doc__ = check.__doc__ = payload
    check.__name__ = payload
    return Claim(
        f"C{number}{word}", paper, payload + ".", Kind.INEQUALITY, Expected.REFUTED, payload + ".", instances, check, payload,
        knobs={"c": 1}, mutants={payload: {"c": 0}}, covers=(f"{number}also{word}",), defect=Defect.CONSTANT, note=payload,
    )  # fmt: skip


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A run of one claim a payload, mutants included."""
    claims = {claim.id: claim for claim in (hostile_claim(number, payload) for number, payload in enumerate(PAYLOADS))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "load", lambda *groups: None)
        patch.setitem(registry._entries, "claim", claims)
        patch.setattr(worker, "forkable", lambda: True)  # no other process could import them
        return verify(jobs=1, mutants=True, evidence_dir=tmp_path_factory.mktemp("injected") / "<img src=x onerror=1>")


@pytest.mark.parametrize("number", range(len(PAYLOADS)))
def test_a_claim_of_a_plug_in(record: Record, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids, titles of papers, statements, names of checks, instances, traces, in both pages and both tables."""
    monkeypatch.setattr(registry, "load", lambda *groups: None)
    monkeypatch.setitem(registry._entries, "claim", {})
    alone = replace(record, rows=[record.rows[number]])
    assert alone.rows[0]["verdict"] == "REFUTED" and alone.rows[0]["witness"]
    for text in pages.render(alone).values():
        page = clean(text)
        letters = re.sub(r"[^a-z]", "", PAYLOADS[number].replace("&#x", "").lower())
        assert letters in re.sub(r"[^a-z]", "", page.text.replace("&#x", "").lower()), "a payload is shown, not lost"


@pytest.mark.parametrize("field", ["claim", "row", "check", "outcome", "simopt", "instance", "whole"])
@pytest.mark.parametrize("payload", [SCRIPT, PAYLOADS[25]])
def test_a_planted_witness(record: Record, tmp_path: Path, field: str, payload: str) -> None:
    """The file that a row names is read when the page is made: it may have been exchanged by then."""
    planted = witnesses.Witness("C", "C", 0, 0, Effort.QUICK, {"x": 1}, 0.0, "check", "refuted", "1").document()
    planted |= {"instance": {"dict": [[payload, payload]]}} if field == "instance" else {field: payload}
    path = tmp_path / "planted.json"
    path.write_text(payload if field == "whole" else json.dumps(planted))
    row = {**record.rows[0], "witness": str(path), "proof": payload, "reason": payload, "trace": payload}
    for text in pages.render(replace(record, rows=[row])).values():
        clean(text)
    shown = counterexample.shown(path)
    assert shown is not None and bool(shown.trouble) == (field in ("whole", "outcome"))


def raw(text: str) -> list[str]:
    """What Markdown would take for HTML, a link, a picture or code: special letters without a backslash before them."""
    return re.findall(r"(?<!\\)(?:\\\\)*[<>\[\]`&]", text)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_markdown(payload: str) -> None:
    made = in_markdown(payload)
    assert "\n" not in made and raw(made) == [] and re.sub(r"\\(.)", r"\1", made) == " ".join(on_terminal(payload).split())


def test_markdown_of_a_report(record: Record, tmp_path: Path) -> None:
    written = report.write(record, tmp_path / "report")
    for name in (report.TABLE, report.ERRATA_TABLE):
        assert raw(written[name].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("payload", PAYLOADS[:48])
def test_markdown_of_a_comparison(payload: str) -> None:
    """Names of data sets and files, of solvers and their options, of machines, and reasons of failures."""
    cell = PlannedRun(payload, payload, 1, None, json.dumps({payload: payload}), 0, payload, json.dumps({payload: 1}), 1e-8, 1.0, 1, 0)
    failed = runs.Record(cell, "error", message=payload, sampling=payload, machine=payload, solver_version=payload)
    text = table.markdown([failed, replace(failed, machine="other")])
    assert raw(text) == []
    for part in text.split("\n\n"):
        lines = [line for line in part.splitlines() if line.startswith("|")]
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} <= {len(re.findall(r"\|", line)) for line in lines[:1]}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_page_of_a_comparison(payload: str) -> None:
    """Names of problems, files, solvers, options and machines, messages, versions and what systems and claims say of themselves."""
    cell = PlannedRun(payload, payload, 1, None, json.dumps({payload: payload}), 0, payload, json.dumps({payload: 1}), 1e-8, 1.0, 1, 0)
    point = {"setup": 0.1, "solve": 0.1, "iteration": 1, "tolerance": 1e-3, "upper": 2.0, "lower": 1.0, "gap": 1.0, "relative_gap": 0.5}
    more: dict[str, Any] = dict.fromkeys(
        ("problem_class", "solver_version", "claimed", "started", "machine", "sampling", "message"), payload
    )
    system = {name: {payload: [payload]} for name in ("system", "cores", "memory_megabytes", "libraries")}
    failed = runs.Record(
        cell, payload, points=(point,), variables=3, claim_verdict="FALSE", claimed_value=3.0, versions=json.dumps({payload: payload}),
        system=json.dumps(system), **more,
    )  # fmt: skip
    others = [replace(failed, machine="other", system=json.dumps({"libraries": [system, payload]})), replace(failed, claim_verdict="true")]
    for records in ([failed], [failed, *others]):
        made = Comparison(records, 9, False, [(payload, payload, payload)])
        page = clean(made.page())
        letters = re.sub(r"[^a-z]", "", on_terminal(payload).replace("&#x", "").lower())[:60]
        assert letters in re.sub(r"[^a-z]", "", page.text.replace("&#x", "").lower()), "a payload is shown, not lost"
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert len(ids) == len(set(ids)) and all(re.fullmatch(r"[a-z0-9-]+", str(each)) for each in ids)
        targets = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
        assert {str(target)[1:] for target in targets} <= {*ids}, "every link leads to a part of the page"


@pytest.mark.parametrize("payload", PAYLOADS)
def test_drawings(payload: str) -> None:
    drawing = Drawing(10.0, payload)
    drawing.text(0, 0, payload)
    page = clean(str(drawing.render()))
    assert [tag for tag, _ in page.tags] == ["svg", "text"]


@pytest.mark.parametrize("wrapped", ["${}$", r"\({}\)", r"$\text{{{}}}$", r"$\mbox{{{}}}$", r"$\frac{{{}}}{{x}}$", "x_{{{}}}", "√({})"])
@pytest.mark.parametrize("payload", PAYLOADS[:24])
def test_formulas(payload: str, wrapped: str) -> None:
    clean(str(Prose([payload], lambda name: "#")(wrapped.format(payload))))


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{" * 900 + "x" + "}{y}" * 900,
        "{" * 1900 + "}" * 1900,
        r"\left(" * 600,
        r"\newcommand{\a}{\a\a}\a",
        "x" * 1_000_000,
        r"\begin{matrix}" + "&" * 3000 + r"\end{matrix}",
    ],
)
def test_a_formula_costs_no_time(latex: str) -> None:
    clean(str(Prose([], lambda name: "#")(f"${latex}$")))


def test_the_policy_names_what_the_page_holds(record: Record) -> None:
    """The hashes are those of the style and the script that stand in the page; nothing else may run, and nothing be fetched."""
    from simopt.report.environment import source

    for text in pages.render(replace(record, rows=record.rows[:2])).values():
        (policy,) = (a["content"] for tag, a in Elements(text).tags if a.get("http-equiv") == "Content-Security-Policy")
        rules: dict[str, Any] = dict(rule.strip().split(" ", 1) for rule in str(policy).split(";"))
        assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'" and rules["img-src"] == "data:"
        assert "unsafe" not in str(policy)
        for tag, rule in (("style", "style-src"), ("script", "script-src")):
            for inside in re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[:1]:
                assert rules[rule] == source(inside)
