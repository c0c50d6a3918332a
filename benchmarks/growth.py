"""How the time of every solver of ours grows: of each problem that its recipe makes, from small sizes to the largest that ends in time.

Sizes double until a solve, or what is made before it, takes longer than the limit, or would take too much room. The exponent is the slope
of log seconds over log size by least squares, over the upper half of the sizes: below, a call's own cost rules. Seconds are those of the
processor, of one solve with its certificate, after one that compiles.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import simopt
from benchmarks.against import spent
from benchmarks.pairs import arguments, machine, one_thread, peak_megabytes
from simopt.compare.instances import build
from simopt.conformance import pairs
from simopt.solving.backends.table import FIRST_CLASS, OTHERS
from simopt.solving.problem import Problem

TITLE = "growth of every solver's time, from the smallest to the largest size that fits"
FIRST, LAST = 50, 3_276_800  # samples; a tenth as many where queries are counted
LIMIT, ROOM = 0.6, 2.0e9  # seconds, of a solve; bytes, of an array that the problem has
TOL = 1e-6


def cells(kind: type[Problem], solver: str, last: int, limit: float) -> Iterator[tuple[int, float, float, float]]:
    """Size, seconds, relative gap and, of the last one, peak megabytes; ends where the next size would take too long or too much room."""
    counted = 10 if "queries" in kind.recipe_options() else 1
    size, ends = FIRST // counted, False
    simopt.solve(made(kind, size), solver, tol=TOL)
    while not ends:
        found: list[Any] = []
        making = spent(lambda size=size, found=found: found.append(made(kind, size)))  # type: ignore[misc]
        solve = partial(simopt.solve, found[0], solver, tol=TOL)
        seconds = spent(lambda solve=solve, found=found: found.append(solve()))  # type: ignore[misc]
        largest = max((value.nbytes for value in vars(found[0]).values() if isinstance(value, np.ndarray)), default=0)
        ends = max(seconds, making) > limit or 4 * largest > ROOM or 2 * size * counted > last
        certificate = found[1].certificate
        yield size, seconds, math.inf if certificate is None else certificate.relative_gap, peak_megabytes(solve) if ends else math.nan
        size *= 2


def made(kind: type[Problem], size: int) -> Problem:
    """What the recipe makes of Friedman's function at so many points."""
    return build(kind, None, size=size, conditioning=None, settings={}, seed=size)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of log seconds over log size."""
    kept = slice(len(sizes) // 2 if len(sizes) > 3 else 0, None)
    return float(np.polyfit(np.log(sizes[kept]), np.log(seconds[kept]), 1)[0]) if len(sizes) > 1 else math.nan


def main() -> None:
    """All of ours, or those of the problems named."""
    options = arguments(__doc__ or "", problems=(str, "names of problems (default: all)"))
    others = {backend.name for backend in (*FIRST_CLASS, *OTHERS)}
    chosen = [(kind, solver) for kind, solver in pairs(options.problems) if solver not in others and kind.__module__.startswith("simopt.")]
    last, limit = (200, 0.05) if options.quick else (LAST, LIMIT)
    print(f"\n## {TITLE}\n{machine()}")
    print(f"{'problem, solver':<54} {'sizes':>16} {'seconds':>18} {'grows as n to the':>18} {'gap/scale':>10} {'MB':>6}")
    steep: dict[str, float] = {}
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what recipes say of the data
        for kind, solver in chosen:
            label = f"{kind.name}, {solver}"
            sizes, seconds, gaps, room = zip(*cells(kind, solver, last, limit), strict=True)
            steep[label] = exponent([*sizes], [*seconds])
            print(
                f"{label:<54} {f'{sizes[0]}-{sizes[-1]}':>16} {f'{seconds[0]:.4f}-{seconds[-1]:.3f}':>18} {steep[label]:>18.2f} "
                f"{gaps[-1]:>10.0e} {room[-1]:>6.0f}",
                flush=True,
            )
    known = {label: value for label, value in steep.items() if math.isfinite(value)}
    most = max(known, key=lambda label: known[label])
    print(f"{len(steep)} solvers; median exponent {np.median([*known.values()]):.2f}, largest {known[most]:.2f} ({most})")


if __name__ == "__main__":
    main()
