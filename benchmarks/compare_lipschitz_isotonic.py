"""Lipschitz isotonic regression: LPAV, which is exact and of n log n, against CLARABEL, ECOS and SCS.

    python benchmarks/compare_lipschitz_isotonic.py [--quick]

A script to copy: `measure` keeps each run in `folder` as soon as it is done, and a second call goes on from there.
"""

import sys

from simopt.compare import measure

QUICK = "--quick" in sys.argv


def main() -> None:
    """Measure, print the tables, draw the pictures."""
    folder = "simopt-compare/lipschitz-isotonic" + ("-quick" if QUICK else "")
    found = measure(
        "lipschitz-isotonic",
        ["lpav", "clarabel", "ecos", "scs"],
        sizes=[100, 1000] if QUICK else [1000, 10_000, 100_000],
        settings={"lipschitz": 5.0 if QUICK else [0.5, 5.0, 50.0]},
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
