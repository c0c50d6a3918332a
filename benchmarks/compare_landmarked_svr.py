"""Landmarked SVR in a ball: our Newton method and interior points against CLARABEL, ECOS and SCS; exponents in n, and conditioning.

    python benchmarks/compare_landmarked_svr.py [--quick]

A script to copy: `measure` keeps each run in `folder` as soon as it is done, and a second call goes on from there.
"""

import sys

from simopt.compare import measure

QUICK = "--quick" in sys.argv


def main() -> None:
    """Measure, print the tables, draw the pictures."""
    folder = "simopt-compare/landmarked-svr" + ("-quick" if QUICK else "")
    found = measure(
        "landmarked-svr",
        ["newton", "interior-point", "clarabel", "ecos", "scs"],
        sizes=[100, 200] if QUICK else [1000, 3000, 10_000, 30_000],
        conditionings=[1e2] if QUICK else [1e1, 1e3, 1e5],  # of the feature matrix
        settings={"landmarks": 50},
        repetitions=1 if QUICK else 5,
        tol=1e-8,
        time_limit=10 if QUICK else 60,
        folder=folder,
        progress=lambda done, planned, run: print(f"{done}/{planned} {run.cell.label}: {run.status}", file=sys.stderr),
    )
    print(found.text())
    found.plot(f"{folder}/plots")


if __name__ == "__main__":
    main()
