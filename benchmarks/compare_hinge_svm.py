"""The hinge SVM without bias on a Gaussian Gram matrix: our pair selection against CLARABEL, ECOS and SCS, from large to small λ.

    python benchmarks/compare_hinge_svm.py [--quick]

A script to copy: `measure` keeps each run in `folder` as soon as it is done, and a second call goes on from there.
"""

import sys

from simopt.compare import measure

QUICK = "--quick" in sys.argv


def main() -> None:
    """Measure, print the tables, draw the pictures."""
    folder = "simopt-compare/hinge-svm" + ("-quick" if QUICK else "")
    found = measure(
        "hinge-svm",
        ["svm", "clarabel", "ecos", "scs"],
        sizes=[60, 120] if QUICK else [300, 1000, 3000],
        settings={"regularization": 1e-3 if QUICK else [1e-1, 1e-3, 1e-5]},
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
