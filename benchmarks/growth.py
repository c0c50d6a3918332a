"""How the time of every solver of ours grows: of each problem that its recipe makes, from small sizes to the largest that ends in time.

Sizes double until a solve, or what is made before it, takes longer than the limit, or would take too much memory. The exponent is the slope
of log seconds over log size by least squares, over the upper half of the sizes: below, a call's own cost rules. Seconds are those of the
processor, of one solve with its certificate, after one of the same size that compiles.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np

import simopt
from benchmarks.against import spent
from benchmarks.by_hand import fresh
from benchmarks.pairs import arguments, exponent, machine, one_thread, peak_megabytes
from simopt.backends.table import FIRST_CLASS, OTHERS
from simopt.compare.instances import build
from simopt.conformance import pairs
from simopt.model.problem import Problem

TITLE = "growth of every solver's time, from the smallest to the largest size that fits"
FIRST, LAST = 50, 3_276_800  # samples; a tenth as many where queries are counted
LIMIT, MEMORY = 0.15, 2.0e9  # seconds, of a solve, and a third of those before it; bytes, of an array that the problem has
TOL = 1e-6
FORMS = {("goodness-choice", "interior-point"): {"loss": "squared"}}  # of solvers that do not take what the recipe makes


def cells(kind: type[Problem], solver: str, last: int, limit: float) -> Iterator[tuple[int, float, float, simopt.Solution]]:
    """Size, seconds, peak megabytes and what is found; ends where the next size would take too long or too much memory."""
    counted = 10 if "queries" in kind.recipe_options() else 1
    size, ends, settings = FIRST // counted, False, FORMS.get((kind.name, solver), {})
    while not ends:
        built: list[Problem] = []
        making = spent(lambda: built.append(build(kind, None, size=size, conditioning=None, settings=settings, seed=size)))  # noqa: B023
        megabytes = peak_megabytes(partial(simopt.solve, built[0], solver, tol=TOL))  # and compiles what this size needs
        found: list[simopt.Solution] = []
        problem = fresh(built[0])
        seconds = spent(lambda: found.append(simopt.solve(problem, solver, tol=TOL)))  # noqa: B023
        largest = max((value.nbytes for value in vars(problem).values() if isinstance(value, np.ndarray)), default=0)
        ends = max(seconds, making / 3) > limit or 4 * largest > MEMORY or 2 * size * counted > last
        yield size, seconds, megabytes, found[0]
        size *= 2


def main() -> None:
    """All of ours, or those of the problems named."""
    options = arguments(__doc__ or "", problems=(str, "names of problems (default: all)"))
    others = {backend.name for backend in (*FIRST_CLASS, *OTHERS)}
    chosen = [(kind, solver) for kind, solver in pairs(options.problems) if solver not in others and kind.__module__.startswith("simopt.")]
    last, limit = (200, 0.05) if options.quick else (LAST, LIMIT)
    print(f"\n## {TITLE}\n{machine()}")
    print(f"{'problem, solver':<54} {'sizes':>16} {'seconds':>18} {'grows as n to the':>18} {'MB':>6}  gaps to {TOL:g}")
    steep: dict[str, float] = {}
    unclosed = 0
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what recipes say of the data
        for kind, solver in chosen:
            label = f"{kind.name}, {solver}"
            sizes, seconds, megabytes, found = zip(*cells(kind, solver, last, limit), strict=True)
            upper = [*zip(sizes, seconds, strict=True)][len(sizes) // 2 if len(sizes) > 3 else 0 :]
            steep[label] = exponent(dict(upper)) if len(upper) > 1 else math.nan
            open_at = [size for size, each in zip(sizes, found, strict=True) if not each.optimal]
            closes = "all closed" if not open_at else f"{found[-1].status.value} at {', '.join(map(str, open_at))}"
            print(
                f"{label:<54} {f'{sizes[0]}-{sizes[-1]}':>16} {f'{seconds[0]:.4f}-{seconds[-1]:.3f}':>18} {steep[label]:>18.2f} "
                f"{megabytes[-1]:>6.0f}  {closes}",
                flush=True,
            )
            unclosed += bool(open_at)
    known = {label: value for label, value in steep.items() if math.isfinite(value)}
    most = max(known, key=lambda label: known[label])
    worst = f"largest {known[most]:.2f} ({most}); {unclosed} with a certificate left open"
    print(f"{len(steep)} solvers; median exponent {np.median([*known.values()]):.2f}, {worst}")


if __name__ == "__main__":
    main()
