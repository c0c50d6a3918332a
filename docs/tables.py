"""Write the verdict table, the errata and the README's summary from the JSON record of `simopt verify`.

    simopt verify --jobs 2 --json --output build/verdicts.json
    python docs/tables.py build/verdicts.json            docs/verdicts.md and docs/errata.md
    python docs/tables.py build/verdicts.json --readme   the block of verdicts between the markers of README.md
    make bench > build/bench.txt
    python docs/tables.py build/bench.txt --bench        the block of speeds

Nothing here is typed in by hand: statements, places and defects come from the claims, verdicts and figures from the run. The tables are
those of `simopt verify --report`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from simopt import registry
from simopt.report import markdown
from simopt.report.entries import gather

DOCS = Path(__file__).resolve().parent
README = DOCS.parent / "README.md"
MARKERS = "<!-- {}: begin -->", "<!-- {}: end -->"


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
        write_block("verdicts", markdown.summary(rows))
        return
    registry.load("theorems")  # the papers' names
    head = f"Effort {rows[0]['effort']}, simopt {rows[0]['versions']['simopt']}.\n\n"
    (DOCS / "verdicts.md").write_text(f"# The verdict table\n\n{head}{markdown.verdict_table(rows)}\n", encoding="utf-8")
    intro = "Statements that fail in their fair reading, with what is true instead. Each has a witness that `simopt replay` runs.\n\n"
    (DOCS / "errata.md").write_text(f"# Errata of the papers\n\n{intro}{markdown.errata(gather(rows))}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
