"""Random DCP problems with parameters, attributes and planted tolerances: are the bounds true, and how many are finite?

`python tests/duality/exact --count 2000 --seed 0 --output FILE` writes a line of JSON a problem; `--only 17,23` these alone; with `--show`
each problem is printed, too. `--compare BEFORE AFTER` counts what is false, refused and finite in two such files, and lists the ids
that were finite before and are not now.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

RIGOROUS = ("rigorous held", "rigorous kept", "rigorous", "solve rigorous")


def read(path: str) -> dict[int, dict[str, Any]]:
    """The lines of a file, by id."""
    return {each["id"]: each for each in map(json.loads, Path(path).read_text().splitlines())}


def table(lines: dict[int, dict[str, Any]]) -> str:
    """Counts for each kind: problems, runs with a false bound (rigorous, float), finite rigorous ends, refusals, foreign exceptions."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for each in lines.values():
        for row in (counts[each["kind"]], counts["all"]):
            row["problems"] += 1
            row["false problems"] += any(run.get("false") for run in each["runs"].values())
            for name, run in each["runs"].items():
                row["false rigorous" if name in RIGOROUS else "false float"] += bool(run.get("false"))
                row["finite rigorous ends"] += run.get("finite", 0) * (name in RIGOROUS)
                row["closed"] += bool(run.get("closes"))
                row["refused"] += "refused" in run
                row["foreign"] += "foreign" in run
    names = ["problems", "false problems", "false rigorous", "false float", "finite rigorous ends", "closed", "refused", "foreign"]
    rows = [["kind", *names], ["---"] * (len(names) + 1), *([kind, *(str(row[name]) for name in names)] for kind, row in counts.items())]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def compare(before: dict[int, dict[str, Any]], after: dict[int, dict[str, Any]]) -> str:
    """What is false now, and which finite true bound of before is lost."""
    said = []
    for number in sorted(before.keys() & after.keys()):
        old, new = before[number]["runs"], after[number]["runs"]
        for name in old.keys() & new.keys():
            where = f"{number} {after[number]['kind']} ({after[number]['note']}), {name}"
            if new[name].get("false"):
                said.append(f"FALSE {where}: {new[name]}")
            elif not old[name].get("false") and old[name].get("finite", 0) > new[name].get("finite", 0):
                said.append(f"LOST {where}: {old[name]} now {new[name]}")
    return "\n".join(said)


def main() -> int:
    """Exit status 1 where a bound is false."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--broken", action="store_true", help="only those whose data break a promise, or that have no optimum")
    parser.add_argument("--quick", action="store_true", help="only certificates of what a problem holds, without another solve")
    parser.add_argument("--output", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args()
    if options.compare:
        before, after = map(read, options.compare)
        print(f"before\n{table(before)}\n\nafter\n{table(after)}\n\n{compare(before, after)}")
        return any(run.get("false") for each in after.values() for run in each["runs"].values())
    from assessed import apart, case, is_broken, line

    numbers = [int(n) for n in options.only.split(",")] if options.only else list(range(options.start, options.start + options.count))
    numbers = [number for number in numbers if not options.broken or is_broken(options.seed, number)]
    found: dict[int, dict[str, Any]] = {}
    if numbers and not options.only:
        line(options.seed, numbers[0])  # so that compiled kernels are loaded once, not in every child
    with open(options.output, "w") if options.output else sys.stdout as out:
        for number in numbers:
            if options.show:
                print(case(options.seed, number).problem, file=sys.stderr)
            found[number] = (line if options.only else apart)(options.seed, number, options.quick)
            out.write(json.dumps(found[number]) + "\n")
            out.flush()
        if options.output:
            print(table(found))
    return any(run.get("false") for each in found.values() for run in each["runs"].values())


if __name__ == "__main__":
    sys.exit(main())
