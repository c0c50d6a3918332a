"""Write the verdict table, the errata and the README's summary from the JSON record of `simopt verify`.

    simopt verify --jobs 2 --json --output build/verdicts.json
    python docs/tables.py build/verdicts.json            docs/verdicts.md and docs/errata.md
    python docs/tables.py build/verdicts.json --readme   the block of verdicts between the markers of README.md
    make bench > build/bench.txt
    python docs/tables.py build/bench.txt --bench        the block of speeds

Nothing here is typed in by hand: statements, places and defects come from the claims, verdicts and figures from the run.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
README = DOCS.parent / "README.md"
OPEN = "open question"  # a claim whose verdict was not expected either way names no defect
MARKERS = "<!-- {}: begin -->", "<!-- {}: end -->"


def figure(value: float | None) -> str:
    """A number of a table, or a dash."""
    return "–" if value is None else f"{value:.3g}"


def cell(text: str) -> str:
    """Text that may stand in a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def verdict_table(rows: list[dict[str, Any]]) -> str:
    """One line a claim."""
    lines = ["| claim | place | verdict | evidence | checks | worst slack | tightness |", "|---|---|---|---|---:|---:|---:|"]
    for row in rows:
        evidence = ", ".join(part for part in (row["evidence"], row["scope"]) if part)
        lines.append(
            f"| {row['id']} | {cell(row['place'])} | {row['verdict']} | {evidence} | {row['checks']} "
            f"| {figure(row['worst_slack'])} | {figure(row['tightness'])} |"
        )
    return "\n".join(lines)


def errata(rows: list[dict[str, Any]], statements: dict[str, str]) -> str:
    """What is wrong in the papers, the defect's kind, and the statement that holds instead."""
    corrected = {row["corrects"]: row for row in rows if row.get("corrects")}
    parts = []
    for row in rows:
        if row["verdict"] != "REFUTED":
            continue
        parts.append(
            f"## {row['id']} ({row['place']}): {row['defect'] or OPEN}\n\n{statements[row['id']]}\n\n**Refuted** ({row['evidence']})."
        )
        if row["id"] in corrected:
            better = corrected[row["id"]]
            parts.append(f"**{better['id']}, {better['verdict']}:** {statements[better['id']]}")
    return "\n\n".join(parts)


def summary(rows: list[dict[str, Any]]) -> str:
    """The README's block: verdicts per paper, and how they were had."""
    order = ["PROVED", "HOLDS", "REFUTED", "INCONCLUSIVE", "VACUOUS", "NOT_RUN"]
    lines = ["| paper | claims | " + " | ".join(order) + " |", "|---|" + "---:|" * (len(order) + 1)]
    for paper in sorted({row["paper"] for row in rows}):
        counts = Counter(row["verdict"] for row in rows if row["paper"] == paper)
        lines.append(f"| {paper} | {sum(counts.values())} | " + " | ".join(str(counts[name]) for name in order) + " |")
    defects = Counter(row["defect"] or OPEN for row in rows if row["verdict"] == "REFUTED")
    said = ", ".join(f"{count} {name}" for name, count in defects.most_common())
    unexpected = [row["id"] for row in rows if not row["ok"]]
    lines += ["", f"Defects of the refuted statements: {said}.", ""]
    lines.append("Every verdict is as expected." if not unexpected else f"Not as expected: {', '.join(unexpected)}.")
    return "\n".join(lines)


def speeds(text: str) -> str:
    """Title and last line of every benchmark, with the machine it ran on."""
    lines = []
    machine = ""
    for part in text.split("\n## ")[1:]:
        title, machine, *rest = part.strip().splitlines()
        lines.append(f"* {title}: {rest[-1]}.")
    return "\n".join([*lines, "", f"Ratios are of medians of interleaved pairs on one thread. {machine}."])


def write_block(name: str, block: str) -> None:
    """Put the block between its markers in README.md."""
    begin, end = (marker.format(name) for marker in MARKERS)
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    README.write_text(f"{before}{begin}\n{block}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def main() -> None:
    """Read the record and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--bench", action="store_true")
    arguments = parser.parse_args()
    text = arguments.record.read_text(encoding="utf-8")
    if arguments.bench:
        write_block("bench", speeds(text))
        return
    rows = json.loads(text)
    if arguments.readme:
        write_block("verdicts", summary(rows))
        return
    from simopt import registry

    registry.load("theorems")
    statements = {name: entry.says for name, entry in registry.items("claim")}
    head = f"Effort {rows[0]['effort']}, simopt {rows[0]['versions']['simopt']}.\n\n"
    (DOCS / "verdicts.md").write_text(f"# The verdict table\n\n{head}{verdict_table(rows)}\n", encoding="utf-8")
    intro = "Statements that fail in their fair reading, with what is true instead. Each has a witness that `simopt replay` runs.\n\n"
    (DOCS / "errata.md").write_text(f"# Errata of the papers\n\n{intro}{errata(rows, statements)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
