"""Our solvers against CLARABEL, ECOS and SCS by seconds to a certified gap, a row of the table a method.

    python benchmarks/compare.py [--quick] exc herding …

A script to copy: `measure` keeps each run in its folder as soon as it is done, and a second call goes on from there.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from simopt.compare import measure

EVERYBODY: dict[str, Any] = {"repetitions": 5, "tol": 1e-6, "time_limit": 60}
QUICK: dict[str, Any] = {"repetitions": 1, "time_limit": 10}
PEERS = ["clarabel", "ecos", "scs"]
STEPS = ("line-search", "away", "pairwise", "blended", "fully-corrective")

# name -> problem, our solvers, what is measured, and what of it a quick run has instead. A list among the settings is swept.
TABLE: dict[str, tuple[str, list[Any], dict[str, Any], dict[str, Any]]] = {
    # Ordinal regression on landmarks with thresholds.
    "exc": (
        "exc-ordinal",
        ["newton", "interior-point"],
        {"sizes": [1000, 3000, 10_000], "settings": {"bins": 5, "radius": [1.0, 10.0, 100.0]}},
        {"sizes": [100, 200], "settings": {"bins": 5, "radius": 10.0}},
    ),
    # The mean: Frank-Wolfe by its step rules against the same quadratic programme.
    "herding": (
        "herding",
        [("frank-wolfe", {"steps": steps}) for steps in STEPS],
        {"sizes": [500, 2000], "settings": {"candidates": [50, 200]}},
        {"sizes": [100, 200], "settings": {"candidates": 30}},
    ),
    # Without bias on a Gaussian Gram matrix: pair selection, from large to small λ.
    "hinge_svm": (
        "hinge-svm",
        ["svm"],
        {"sizes": [300, 1000, 3000], "settings": {"regularization": [1e-1, 1e-3, 1e-5]}},
        {"sizes": [60, 120], "settings": {"regularization": 1e-3}},
    ),
    # In a ball: exponents in n, and the conditioning of the feature matrix.
    "landmarked_svr": (
        "landmarked-svr",
        ["newton", "interior-point"],
        {"sizes": [1000, 3000, 10_000, 30_000], "conditionings": [1e1, 1e3, 1e5], "settings": {"landmarks": 50}, "tol": 1e-8},
        {"sizes": [100, 200], "conditionings": [1e2]},
    ),
    # LPAV is exact and of n log n.
    "lipschitz_isotonic": (
        "lipschitz-isotonic",
        ["lpav"],
        {"sizes": [1000, 10_000, 100_000], "settings": {"lipschitz": [0.5, 5.0, 50.0]}},
        {"sizes": [100, 1000], "settings": {"lipschitz": 5.0}},
    ),
    # The secular equation against power cones, and in ECOS second-order cones.
    "m_power_rls": (
        "m-power-rls",
        ["secular"],
        {"sizes": [200, 500, 1000], "settings": {"power": [1.2, 1.5, 3.0]}},
        {"sizes": [50, 100], "settings": {"power": 1.5}},
    ),
}


def compare(name: str, quick: bool, folder: str) -> None:
    """Measure, print the tables, draw the pictures."""
    problem, ours, measured, less = TABLE[name]
    folder = f"{folder}/{problem}" + ("-quick" if quick else "")
    found = measure(
        problem,
        [*ours, *PEERS],
        **{**EVERYBODY, **measured, **(QUICK | less if quick else {})},
        folder=folder,
        progress=lambda done, planned, run: print(f"{done}/{planned} {run.cell.label}: {run.status}", file=sys.stderr),
    )
    print(found.text())
    found.plot(f"{folder}/plots")


def main() -> None:
    """Those named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(TABLE))
    parser.add_argument("--quick", action="store_true", help="small sizes, once each")
    parser.add_argument("--folder", default="simopt-compare", help="where runs are kept: %(default)s")
    options = parser.parse_args()
    for name in options.names or TABLE:
        compare(name, options.quick, options.folder)


if __name__ == "__main__":
    main()
