"""docs/benchmarks.md, the README's table of eight, and docs/defaults.md, written from what benchmarks print.

A benchmark prints its title after `## `, the machine, its rows, and a last line that sums them up. The page has a section for each, with
the day; a run replaces the sections of what it measured and leaves the others as they are. Rows that begin with | are a table.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
DEFAULTS = ROOT / "docs" / "defaults.md"  # of the benchmark of this name
README = ROOT / "README.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
HEAD = """# Benchmarks

Of each benchmark the day, the machine, the rows that it printed, and what they come to. `make bench ARGS=--page` writes a section anew;
those without rows were carried over from the README's older log, and their day is that of the commit that recorded them. Ratios are our
time over the peer's, medians of interleaved pairs on one thread; each has its target, met or missed. A gap is gap / scale, the scale being
max(|lower|, |upper|) of its certificate, since 2026-11-28; sections of an earlier day divide by the objective at a trivial point. Prices of
certificates are the processor's time of the first certificate of a problem over CLARABEL's; their files come from the folder that
[`SIMOPT_INSTANCES`](installing.md#data) names, and stay as they are here where there is none.
"""

HEAD_OF_DEFAULTS = """# Defaults

What estimators score as they come, on columns as they are; what they score with a search on standardised columns, of 12 candidates in
three folds; and what scikit-learn's model scores with a search of the same size. "Before" are the defaults before they were chosen from
the data ([the rules](estimators.md#defaults)), measured by the same script (`benchmarks/defaults_before.json`). The sets were listed before
that, and all of them are here, those where a default stays behind too. Of each at most 400 rows are drawn, and two thirds of them learned
from. Scores: R²; the share of right labels, balanced over the classes; for ordered labels 1 − (mean error of the label)/(that of the median
label). Near is within 5 % of the tuned score. `make bench ARGS="--page defaults"` writes this page anew (`benchmarks/defaults.py`).
"""

# What is fitted, what one would use for it, the benchmark, and which of its figures say how long ours takes in parts of the peer's time.
SVR, CHAIN = "landmarked SVR against LIBLINEAR and conic solvers", "LPAV (labels, L = 2) against solvers of quadratic programmes"
EXC, FRACTION = "EXC ordinal regression against conic solvers", "our share of {}'s time (\\S+)"
FIT = "estimators: fit and predict against scikit-learn, time of the processor"
EIGHT = (
    ("ridge regression with ‖f‖ᵐ, 1.1 ≤ m ≤ 4", "CVXPY with CLARABEL", "secular against CVXPY with CLARABEL", r"median ratio (\S+)"),
    ("`MPowerRegressor.fit`, m = 1.5", "`KernelRidge.fit`", FIT, r"ratio of MPower (\S+)"),
    ("`HingeSVMClassifier.fit`, C = 1", "`SVC.fit`, to its gap", FIT, r"ratio of HingeSVM (\S+)"),
    ("landmarked SVR, C ≥ 10", "LIBLINEAR", SVR, "C ≥ 10, " + FRACTION.format("LIBLINEAR")),
    ("landmarked SVR, C ≤ 0.1", "LIBLINEAR", SVR, "C ≤ 0.1, " + FRACTION.format("LIBLINEAR")),
    ("ordinal regression, 10000 × 100", "CVXPY with CLARABEL", EXC, "10000 x 100, " + FRACTION.format("CLARABEL")),
    ("Lipschitz isotonic regression, 10⁵ samples", "PIQP", CHAIN, r"piqp at 1e\+05: (\S+)"),
    ("√n points for the mean of n", "goodpoints' compress++", "√n points of n against compress++ (g = 4)", r"time of uniform (\S+)"),
)


def printed(text: str, day: datetime.date) -> dict[str, str]:
    """Sections of what benchmarks printed, by title."""
    found = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        title, machine, *rows, summary = part.strip().splitlines()
        found[title] = section(day.isoformat(), machine, summary, rows)
    return found


def section(day: str, machine: str, summary: str, rows: Sequence[str] = ()) -> str:
    """The text below a title."""
    table = bool(rows) and all(row.startswith("|") for row in rows)
    block = [*rows, ""] if table else ["```text", *rows, "```", ""] if rows else []
    return "\n".join([f"{day}; {machine}.", "", *block, f"{summary}."])


def sections(page: str) -> dict[str, str]:
    """The sections of a page, by title."""
    parts = (part.partition("\n") for part in re.split(r"^## ", page, flags=re.M)[1:])
    return {title: body.strip() for title, _, body in parts}


def written(sections: dict[str, str], head: str = HEAD) -> str:
    """The page of these sections."""
    return head + "".join(f"\n## {title}\n\n{body}\n" for title, body in sections.items())


def counts(sections: dict[str, str]) -> str:
    """A line for each section of the page of defaults: on how many sets an estimator is within 5 % of what it scores tuned."""
    lines = ["| estimator | sets near tuned | before | on other draws of rows |", "|---|---:|---:|---:|"]
    for title, body in sections.items():
        told = re.search(r"tuned score: (\d+ of \d+) sets(?:, (\d+) before)?(?:; on other draws of rows (.*))?\.$", body)
        if told is None:
            raise LookupError(f"{title}: no count of sets in {body.splitlines()[-1]!r}")
        lines.append(f"| `{title.split()[0]}` | {told[1]} | {told[2] or ''} | {told[3] or ''} |")
    return "\n".join(lines)


def eight(sections: dict[str, str]) -> str:
    """The README's table: eight figures of the page, of which the day is told, and where they were measured."""
    lines = ["| | you would use | our time / its time | measured |", "|---|---|---:|---|"]
    places = dict[str, str]()
    for what, peer, title, figure in EIGHT:
        first, *_, summary = sections[title].splitlines()
        measured = re.search(figure, summary)
        if measured is None:
            raise LookupError(f"{title}: {figure} is not in {summary!r}")
        day, _, place = re.sub(r" load \S+,", "", first).partition("; ")
        lines.append(f"| {what} | {peer} | {measured[1]} | {day} |")
        places[re.sub(r"(scipy [\d.]*\d).*", r"\1.", place)] = ""  # versions of peers are on the page
    note = "Ratios are medians of interleaved pairs; which of its section's rows is shown, [the benchmarks](docs/benchmarks.md) say."
    return "\n".join([*lines, "", note, *places])


def write(text: str, day: datetime.date, name: str = "") -> None:
    """Take what the benchmark of this name printed that day into its page, and the README's table from there."""
    if name == DEFAULTS.stem:
        known = sections(DEFAULTS.read_text(encoding="utf-8")) if DEFAULTS.exists() else {}
        found = known | printed(text, day)
        DEFAULTS.write_text(written(found, f"{HEAD_OF_DEFAULTS}\n{counts(found)}\n"), encoding="utf-8")
        return
    found = sections(PAGE.read_text(encoding="utf-8")) | printed(text, day)
    PAGE.write_text(written(found), encoding="utf-8")
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n{eight(found)}\n{END}{rest.split(END)[1]}", encoding="utf-8")
