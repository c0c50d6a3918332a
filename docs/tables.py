"""Write the verdict table, the errata and the counts by paper from the JSON record of `simopt verify`.

    simopt verify --jobs 2 --json --output build/verdicts.json
    python docs/tables.py build/verdicts.json            docs/verdicts.md and docs/errata.md
    python docs/tables.py build/verdicts.json --counts   the block of counts between the markers of docs/papers.md

Nothing here is typed in by hand: statements, places and defects come from the claims, verdicts and figures from the run. The tables are
those of `simopt verify --report`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from simopt.core import registry
from simopt.core.foreign_text import in_markdown
from simopt.report import markdown
from simopt.report.entries import gather

DOCS = Path(__file__).resolve().parent
PAPERS = DOCS / "papers.md"
BEGIN, END = "<!-- verdicts: begin -->", "<!-- verdicts: end -->"


def write_counts(block: str) -> None:
    """Put the block between its markers in docs/papers.md."""
    before, rest = PAPERS.read_text(encoding="utf-8").split(BEGIN)
    PAPERS.write_text(f"{before}{BEGIN}\n{block}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def labelled(name: str) -> str:
    """The id of a claim that carries its label."""
    return f"[{in_markdown(name)}]{{#{markdown.label(name)}}}"


def main() -> None:
    """Read the record and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("--counts", action="store_true")
    arguments = parser.parse_args()
    rows = json.loads(arguments.record.read_text(encoding="utf-8"))
    if arguments.counts:
        write_counts(markdown.summary(rows))
        return
    registry.load("theorems")  # the papers' names
    head = f"Effort {rows[0]['effort']}, simopt {rows[0]['versions']['simopt']}.\n\n"
    (DOCS / "verdicts.md").write_text(f"# The verdict table\n\n{head}{markdown.verdict_table(rows, labelled)}\n", encoding="utf-8")
    intro = "Statements that fail in their fair reading, with what is true instead. Each has a witness that `simopt replay` runs.\n\n"
    (DOCS / "errata.md").write_text(f"# Errata of the papers\n\n{intro}{markdown.errata(gather(rows))}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
