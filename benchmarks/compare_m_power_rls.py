"""M-power regularised least squares: our secular equation against CLARABEL and SCS by power cones, and ECOS by second-order cones.

    python benchmarks/compare_m_power_rls.py [--quick]

A script to copy: `measure` keeps each run in `folder` as soon as it is done, and a second call goes on from there.
"""

import sys

from simopt.compare import measure

QUICK = "--quick" in sys.argv


def main() -> None:
    """Measure, print the tables, draw the pictures."""
    folder = "simopt-compare/m-power-rls" + ("-quick" if QUICK else "")
    found = measure(
        "m-power-rls",
        ["secular", "clarabel", "ecos", "scs"],
        sizes=[50, 100] if QUICK else [200, 500, 1000],
        settings={"power": 1.5 if QUICK else [1.2, 1.5, 3.0]},
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
