"""500 runs of a comparison: what a run costs beside its own seconds, what stays in memory, and what reading and going on take afterwards.

Every run is a process of its own that may die, and a record on the disk as soon as it is done. The last row is of 24 runs on 300 samples
with 50 coefficients: all processor time of a run, its solver's, its certificates' and the examination of its claim together.
"""

from __future__ import annotations

import json
import os
import resource
import tempfile
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from pairs import arguments, machine, met, peak_megabytes, seconds

import simopt
from simopt.compare import load, measure

RUNS = 500
SECONDS, MEGABYTES, AGAIN = 2.0, 150.0, 10.0  # targets: a run, above what was resident, all runs read again
PROCESSOR = 0.4  # seconds of the processor for a run on 300 × 50, which the solver's own are a part of


def regression() -> cp.Problem:
    """Least absolute deviations with a ridge."""
    rng, x = np.random.default_rng(0), cp.Variable(50)
    return cp.Problem(cp.Minimize(cp.norm1(rng.normal(size=(300, 50)) @ x - rng.normal(size=300)) / 300 + 0.1 * cp.sum_squares(x)))


def processor_seconds() -> tuple[float, int]:
    """Of this process and of all that it started, for a run of 24; and the number of runs that were certified."""
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found = simopt.compare_solvers({"regression": regression()}, ["clarabel", "scs", "highs"], repetitions=8, tol=1e-6)
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    used = sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True))
    return used / len(found.records), sum(record.success for record in found.records)


def main() -> None:
    """Two solvers of Lipschitz isotonic regression on 100 and 200 samples, one job."""
    options = arguments(__doc__ or "")
    repetitions = 5 if options.quick else RUNS // 4
    print(f"\n## {4 * repetitions} runs of a comparison\n{machine()}")
    design: dict[str, Any] = {"sizes": [100, 200], "repetitions": repetitions, "tol": 1e-6, "time_limit": 30, "jobs": 1, "budget": 3600.0}
    with tempfile.TemporaryDirectory() as folder:

        def all_of_them() -> object:
            return measure("lipschitz-isotonic", ["lpav", "clarabel"], folder=folder, **design)

        taken: list[float] = []
        megabytes = peak_megabytes(lambda: taken.append(seconds(all_of_them)))
        rows = [{"work": "all runs", "seconds": taken[0], "megabytes": megabytes}]
        rows += [{"work": "going on, with nothing left to do", "seconds": seconds(all_of_them), "megabytes": float("nan")}]
        rows += [{"work": "reading the folder", "seconds": seconds(lambda: load(folder)), "megabytes": float("nan")}]
        found = load(folder)
    assert len(found.records) == 4 * repetitions, f"{len(found.records)} records of {4 * repetitions} runs"
    each, certified = processor_seconds()
    statuses = sorted({record.status for record in found.records})
    left = sum(len((task / "children").read_text().split()) for task in Path(f"/proc/{os.getpid()}/task").glob("*"))
    for row in rows:
        print(f"{row['work']:<36} {row['seconds']:8.2f} s {row['megabytes']:8.0f} MB", flush=True)
    print(f"{len(found.records)} records, all of them {', '.join(map(str, statuses))}; {left} processes left")
    print(f"{'24 runs on 300 × 50, the processor':<36} {each:8.2f} s a run, {certified} certified", flush=True)
    summary = (
        f"seconds a run {met(taken[0] / (4 * repetitions), SECONDS)}; megabytes of the process that starts them "
        f"{met(megabytes, MEGABYTES)}; "
        f"the processor's seconds a run on 300 × 50 {met(each, PROCESSOR)}; "
        f"seconds to go on with nothing left {met(float(rows[1]['seconds']), AGAIN)}"
    )
    print(summary, flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": machine(), "summary": summary, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
