"""Herding of the mean: Frank-Wolfe by its step rules against CLARABEL, ECOS and SCS on the same quadratic programme.

    python benchmarks/compare_herding.py [--quick]

A script to copy: `measure` keeps each run in `folder` as soon as it is done, and a second call goes on from there.
"""

import sys

from simopt.compare import measure

QUICK = "--quick" in sys.argv
STEPS = ("line-search", "away", "pairwise", "blended", "fully-corrective")


def main() -> None:
    """Measure, print the tables, draw the pictures."""
    folder = "simopt-compare/herding" + ("-quick" if QUICK else "")
    found = measure(
        "herding",
        [*(("frank-wolfe", {"steps": steps}) for steps in STEPS), "clarabel", "ecos", "scs"],
        sizes=[100, 200] if QUICK else [500, 2000],
        settings={"candidates": 30 if QUICK else [50, 200]},
        repetitions=1 if QUICK else 5,
        tol=1e-6,
        time_limit=10 if QUICK else 60,
        folder=folder,
        progress=lambda done, planned, run: print(f"{done}/{planned} {run.cell.label}: {run.status}", file=sys.stderr),
    )
    print(found.text())
    found.plot(f"{folder}/plots")


if __name__ == "__main__":
    main()
