"""Write the tables of docs/backends.md: what each back end takes, and which examples of the problems it closes, from a run.

    python docs/back_ends.py            run what build/backends.jsonl lacks, then write the tables
    python docs/back_ends.py --anew     run everything
    python docs/back_ends.py --taken    run nothing, write the first table

A cell says how many of the ordinary examples of a problem are certified to 1e-6 when that back end solves them in ten seconds each.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import simopt
from simopt.backends.table import BackEnd, usable
from simopt.core import registry
from simopt.processes.worker import Died, Worker

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "backends.md"
CACHE = DOCS.parent / "build" / "backends.jsonl"
TOL, LIMIT = 1e-6, 10.0
PATIENCE = 6 * LIMIT  # for all examples of a problem: some back ends have no time limit
EXAMPLES = 6  # of each problem, the first ones


def examples(name: str) -> list[Any]:
    """The ordinary examples of a problem, at most six."""
    kind = registry.find("problem", name)
    return [each.problem for each in kind.examples(np.random.default_rng(0)) if not each.degenerate][:EXAMPLES]


def outcomes(name: str, back_end: str) -> list[list[str]]:
    """How each example ends with this back end, and what is said of it."""
    found = []
    for problem in examples(name):
        solution = simopt.solve(problem, back_end, tol=TOL, time_limit=LIMIT)
        found.append([solution.status.name, f"{solution.reported_status}; {solution.message}"])
    return found


def run(anew: bool) -> dict[tuple[str, str], list[list[str]]]:
    """All pairs, those kept from before left alone."""
    CACHE.parent.mkdir(exist_ok=True)
    if anew:
        CACHE.unlink(missing_ok=True)
    lines = CACHE.read_text(encoding="utf-8").splitlines() if CACHE.exists() else []
    done = {(row["problem"], row["back end"]): row["outcomes"] for row in map(json.loads, lines)}
    registry.load("problems")
    worker = Worker(outcomes, silent=True)
    for name in registry.names("problem"):
        for back_end in usable():
            if (name, back_end.name) in done:
                continue
            try:
                found = worker.call(name, back_end.name, seconds=PATIENCE)
            except (TimeoutError, Died) as error:
                found = [["NO ANSWER", str(error)]] * len(examples(name))
                worker.end()
                worker = Worker(outcomes, silent=True)
            done[name, back_end.name] = found
            with CACHE.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"problem": name, "back end": back_end.name, "outcomes": found}) + "\n")
    worker.end()
    return done


def cell(outcomes: list[list[str]]) -> str:
    """Closed of those taken; what the others came to."""
    counts = Counter(status for status, _ in outcomes)
    taken = len(outcomes) - counts.pop("UNSUPPORTED", 0)
    if not taken:
        return "–"
    closed = counts.pop("OPTIMAL", 0)
    rest = ", ".join(f"{count} {TEXTS.get(status, status)}" for status, count in counts.items())
    return f"{closed}/{taken}" + (f" ({rest})" if rest else "")


TEXTS = {"GAP_OPEN": "open", "ITERATION_LIMIT": "iterations", "TIME_LIMIT": "time", "FAILED": "failed", "NO ANSWER": "no answer"}


def ended(back_end: BackEnd) -> str:
    """What ends its run when `time_limit` is over."""
    if back_end.time_limit:
        return f"`{back_end.time_limit}`"
    return "its process is ended" if back_end.apart or back_end.name == "ecos" else "looked at between solves"


def taken(back_ends: list[BackEnd]) -> str:
    """What each takes, and its limits."""
    lines = [
        "| name | version | cones | tolerances | its own | smallest | iterations | time limit | from its last answer |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in back_ends:
        limits = [each.max_iter] if isinstance(each.max_iter, str) else list(each.max_iter or ())
        count = f", {each.default_max_iter:_}".replace("_", " ") if each.default_max_iter else ""
        cells = (
            f"`{each.name}`",
            each.version,
            ", ".join(sorted(each.cones)) or "none",
            ", ".join(f"`{name}`" for name in each.tolerance) or "not known",
            f"{each.documented:g}",
            f"{each.floor:g}" if each.floor else "",
            ", ".join(f"`{name}`" for name in limits) + count or "not known",
            ended(each),
            "yes" if each.warm else "",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def closed(back_ends: list[BackEnd], done: dict[tuple[str, str], list[list[str]]]) -> str:
    """Which problems each closes."""
    heads = [f"`{each.name}`" for each in back_ends]
    lines = ["| problem | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    sums: dict[str, list[list[str]]] = {each.name: [] for each in back_ends}
    for name in registry.names("problem"):
        row = [done.get((name, each.name), []) for each in back_ends]
        for each, found in zip(back_ends, row, strict=True):
            sums[each.name] += found
        lines.append(f"| `{name}` | " + " | ".join(map(cell, row)) + " |")
    lines.append("| **all** | " + " | ".join(f"**{cell(found).partition(' ')[0]}**" for found in sums.values()) + " |")
    return "\n".join(lines)


def page(**blocks: str) -> str:
    """The page with these tables in place of those that it has."""
    text = PAGE.read_text(encoding="utf-8")
    for mark, block in blocks.items():
        before, rest = text.split(f"<!-- {mark}: begin -->")
        text = f"{before}<!-- {mark}: begin -->\n{block}\n<!-- {mark}: end -->{rest.split(f'<!-- {mark}: end -->')[1]}"
    return text


def main() -> None:
    """Run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--taken", action="store_true")
    asked = parser.parse_args()
    blocks = {"taken": taken(usable())}
    if not asked.taken:
        blocks["closed"] = closed(usable(), run(asked.anew))
    PAGE.write_text(page(**blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
