"""The verdict table and the errata as Markdown: what a report writes beside its pages, and what `docs/` shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simopt.claims.papers import Paper
from simopt.claims.sentence import stated
from simopt.core.foreign_text import in_markdown
from simopt.report import counterexample
from simopt.report.entries import UNEXPECTED, Catalogue, ReportEntry, erratum, refuted

Row = Mapping[str, Any]

ORDER = ("PROVED", "HOLDS", "REFUTED", "INCONCLUSIVE", "VACUOUS", "NOT_RUN", "ERROR")
HEADINGS = "| claim | place | verdict | status | evidence | checks | worst slack | tightness |\n|---|---|---|---|---|---:|---:|---:|"


def figure(value: float | None) -> str:
    """A number of a table, or a dash."""
    return "–" if value is None else f"{value:.3g}"


def label(name: str) -> str:
    """The label of a claim's row in docs/verdicts.md, which other pages link to: letters, digits and dashes."""
    return "claim-" + re.sub("[^a-z0-9]+", "-", name.lower().replace("+", "-plus")).strip("-")


def verdict_table(rows: Sequence[Row], named: Callable[[str], str] = in_markdown) -> str:
    """One line a claim, and one for every further row that it decides; `named` writes their ids."""
    lines = [HEADINGS]
    for row in rows:
        for name, part in ((row["id"], row), *row["rows"].items()):
            verdict = f"{part['verdict']} | {part['status'] or ''}"
            evidence = ", ".join(word for word in (part["evidence"], part["scope"]) if word)
            evidence += f"; where {in_markdown(part['where'])}" if part["where"] else ""
            evidence += f"; computed: {in_markdown(part['computed'])}" if part["computed"] else ""
            evidence += f"; remains: {in_markdown(part['remains'])}" if part["remains"] else ""
            evidence += f"; {in_markdown(part['remark'])}" if part["remark"] else ""
            lines.append(
                f"| {named(name)} | {in_markdown(row['place'])} | {verdict} | {evidence} | {part['checks']} "
                f"| {figure(part['worst_slack'])} | {figure(part['tightness'])} |"
            )
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """Verdicts per paper, the defects of what is refuted, and whether all is as expected."""
    order = [verdict for verdict in ORDER if verdict != "ERROR" or any(row["verdict"] == "ERROR" for row in rows)]
    lines = ["| paper | claims | " + " | ".join(order) + " |", "|---|" + "---:|" * (len(order) + 1)]
    for paper in sorted({row["paper"] for row in rows}):
        counts = Counter(row["verdict"] for row in rows if row["paper"] == paper)
        steps = sum(bool(row["remains"]) for row in rows if row["paper"] == paper)
        shown = [f"{counts[name]} ({steps} by exact steps)" if name == "HOLDS" and steps else str(counts[name]) for name in order]
        lines.append(f"| {in_markdown(paper)} | {sum(counts.values())} | " + " | ".join(shown) + " |")
    defects = Counter(row["defect"] or UNEXPECTED for row in rows if erratum(row))
    said = ", ".join(f"{count} {in_markdown(name)}" for name, count in defects.most_common())
    ours = [row["id"] for row in rows if row["verdict"] == "REFUTED" and not erratum(row)]
    unexpected = [row["id"] for row in rows if not row["ok"]]
    lines += ["", f"Defects of the refuted statements: {said}." if said else "No statement was refuted.", ""]
    if ours:
        listed = in_markdown(", ".join(ours))
        lines += [f"Refuted, and no erratum, since the sentence is ours where a paper leaves a question open: {listed}.", ""]
    lines.append("Every verdict is as expected." if not unexpected else f"Not as expected: {in_markdown(', '.join(unexpected))}.")
    return "\n".join(lines)


def errata(catalogue: Catalogue, level: str = "##") -> str:
    """The errata of each paper: the statement, the smallest counterexample, and the statement that holds instead."""
    known = catalogue.by_id()
    parts: list[str] = []
    for paper, entries in refuted(catalogue):
        parts.append(f"{level} {in_markdown(heading(paper))}")
        for entry in entries:
            parts += _erratum(entry, known, level)
    return "\n\n".join(parts) if parts else "Nothing was refuted."


def heading(paper: Paper) -> str:
    """A paper by its authors, title and year."""
    return f"{paper.authors}: {paper.title} ({paper.venue} {paper.year})" if paper.authors else paper.title


def _erratum(entry: ReportEntry, known: Mapping[str, ReportEntry], level: str) -> list[str]:
    row = entry.row
    parts = [
        f"{level}# {in_markdown(entry.id)} ({in_markdown(row['place'])}): {in_markdown(entry.defect)}",
        in_markdown(row["says"]),
        f"**Refuted** ({row['evidence']}).",
    ]
    if entry.defeats:
        parts.append(f"Every value of what is claimed to exist: {in_markdown(entry.defeats)}")
    if row["note"]:
        parts.append(in_markdown(row["note"]))
    example = counterexample.shown(row["witness"])
    if example is not None and example.lines:
        listed = "\n".join(f"* {in_markdown(name)} = {in_markdown(value).replace(chr(10), ' ')}" for name, value in example.lines)
        parts.append(f"Counterexample ({in_markdown(example.check) or 'smallest found'}):\n\n{listed}")
    for name in entry.corrected_by:
        better = known[name].row
        parts.append(f"**{in_markdown(name)}, {better['verdict']}:** {in_markdown(stated(better))}")
    parts += [f"**{in_markdown(claim.id)}, not part of this run:** {in_markdown(claim.says)}" for claim in entry.not_run]
    return parts
