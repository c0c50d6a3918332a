"""The HTML pages: every claim with its statement, measurements, plots and witness, rendered through one template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simopt.report import counterexample
from simopt.report.entries import VERDICTS, Catalogue, Chapter, ReportEntry, gather, refuted
from simopt.report.environment import anchor, environment
from simopt.report.kernel import CheckedTheorems, KernelAnswers
from simopt.report.plots import Plot, plots
from simopt.report.prose import Prose

if TYPE_CHECKING:
    from simopt.claims.verification import Record

GLYPHS = {"PROVED": "■", "HOLDS": "●", "REFUTED": "✕", "INCONCLUSIVE": "?", "VACUOUS": "○", "NOT_RUN": "–", "ERROR": "!"}
NAMES = {verdict: verdict.replace("_", " ").capitalize() for verdict in VERDICTS}
MEANING = {
    "PROVED": "exact or rigorous evidence for every case; the proof file holds the whole sentence and can be checked again",
    "HOLDS": "no check failed; by exact steps: the proof file was checked, and is less than the whole sentence",
    "REFUTED": "false as stated, with a counterexample",
    "INCONCLUSIVE": "the numbers do not decide it",
    "VACUOUS": "it says nothing: no case satisfies its hypotheses, or its bound exceeds the trivial one",
    "NOT_RUN": "data or a package is missing",
    "ERROR": "the code of the claim failed",
}
FILTERS = ("paper", "verdict", "kind", "defect", "section")


@dataclass(frozen=True)
class DecidedRow:
    """One decided row of a claim, with its drawings and its witness."""

    name: str
    row: Mapping[str, Any]
    plots: list[Plot]
    witness: counterexample.Shown | None
    checked: CheckedTheorems | None = None


def render(record: Record, kernel: str | Path | None = None) -> dict[str, str]:
    """The pages of a report by file name; with the answers of a folder of `make coq`."""
    found = gather(record.rows)
    answers = None if kernel is None else KernelAnswers(kernel)
    main = _template("index.html.jinja", found, lambda name: f"#{anchor(found.claim_of.get(name, name))}")
    errata = _template("errata.html.jinja", found, lambda name: f"index.html#{anchor(found.claim_of.get(name, name))}")
    parts = {entry.id: [part(entry, name, row, answers) for name, row in entry.parts] for entry in found.entries}
    shared: dict[str, Any] = {
        "record": record,
        "found": found,
        "parts": parts,
        "total": totals(found),
        "glyphs": GLYPHS,
        "names": NAMES,
        "meaning": MEANING,
        "verdicts": [verdict for verdict in VERDICTS if totals(found)[verdict]],
        "steps": sum(chapter.by_steps() for chapter in found.chapters),
        "unexpected": [entry.id for entry in found.entries if not entry.row["ok"]],
        "by_id": found.by_id(),
        "errata": refuted(found),
    }
    return {"index.html": main(choices=choices(found), **shared), "errata.html": errata(**shared)}


def part(entry: ReportEntry, name: str, row: Mapping[str, Any], answers: KernelAnswers | None = None) -> DecidedRow:
    """A row with everything that its panel shows."""
    checked = None if answers is None else answers.of(name, row)
    return DecidedRow(name, row, plots(row.get("measured"), entry.resolution), counterexample.shown(row["witness"]), checked)


def totals(catalogue: Catalogue) -> dict[str, int]:
    """Number of claims of every verdict over all papers."""
    counts = [chapter.counts() for chapter in catalogue.chapters]
    return {verdict: sum(each[verdict] for each in counts) for verdict in VERDICTS}


def choices(catalogue: Catalogue) -> list[tuple[str, list[tuple[str, str, int]]]]:
    """The filters, each with its values, the words shown for them, and how many claims have them."""
    made = []
    for name in FILTERS:
        values = [field(entry, name) for entry in catalogue.entries]
        listed = list(VERDICTS) if name == "verdict" else list(dict.fromkeys(values))
        if name in ("kind", "defect", "section"):
            listed = sorted(listed)
        shown = [(value, NAMES.get(value, value), values.count(value)) for value in listed if value and value in values]
        made.append((name, [(value, _paper_text(catalogue.chapters, value) if name == "paper" else words, n) for value, words, n in shown]))
    return [(name, values) for name, values in made if values]


def field(entry: ReportEntry, name: str) -> str:
    """The value of a claim that a filter looks at."""
    return entry.defect if name == "defect" else str(entry.row[name] or "")


def _paper_text(chapters: tuple[Chapter, ...], key: str) -> str:
    return next((f"{c.paper.title} ({c.paper.year})" if c.paper.year else c.paper.title for c in chapters if c.paper.key == key), key)


def _counts(catalogue: Catalogue) -> list[int]:
    """The different numbers that bars of the overview show."""
    return sorted({count for chapter in catalogue.chapters for count in chapter.counts().values()})


def _template(name: str, catalogue: Catalogue, link: Callable[[str], str]) -> Callable[..., str]:
    made = environment("".join(f".share-{count} {{ flex-grow: {count}; }}\n" for count in _counts(catalogue)))
    made.globals.update(field=field)
    made.filters.update(prose=Prose(catalogue.claim_of, link, catalogue.others))
    return made.get_template(name).render
