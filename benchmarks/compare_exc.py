"""EXC, ordinal regression on landmarks with thresholds: our Newton method and interior points against CLARABEL, ECOS and SCS.

    python benchmarks/compare_exc.py [--quick]

A script to copy: `measure` keeps each run in `folder` as soon as it is done, and a second call goes on from there.
"""

import sys

from simopt.compare import measure

QUICK = "--quick" in sys.argv


def main() -> None:
    """Measure, print the tables, draw the pictures."""
    folder = "simopt-compare/exc-ordinal" + ("-quick" if QUICK else "")
    found = measure(
        "exc-ordinal",
        ["newton", "interior-point", "clarabel", "ecos", "scs"],
        sizes=[100, 200] if QUICK else [1000, 3000, 10_000],
        settings={"bins": 5, "radius": 10.0 if QUICK else [1.0, 10.0, 100.0]},  # a list is swept
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
