"""Why formulas are written by hand: of each problem that has some, its whole solve, and what it would be with a derived certificate.

A solve by the problem's own solver ends with one certificate by hand at least. For a derived one the declaration has to be written and read
before, and a point inside and multipliers be found for it. That certificate, the first one, stands in its place in the ratio of solves. The
third ratio is of a further certificate of the same declaration, by which a solve would be slower even if all that was kept between
problems. Points are a few units of rounding apart, so that nothing is remembered. Seconds are those of the processor, ratios medians of
pairs.
"""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import simopt
from benchmarks.against import DOCUMENTS, RANKING, SIZES, spent, written
from benchmarks.pairs import arguments, machine, one_of
from simopt.cli.solve import build
from simopt.core import registry
from simopt.duality import Declared, solved
from simopt.duality.declaration import DeclaredProblem
from simopt.model.problem import Problem
from simopt.solving.entry_points import certify

TITLE = "derived certificates against those by hand, in a whole solve"
SAMPLES, PAIRS = 400, 5
Values = dict[str, Any]
ALLOWED = 1.05  # times the solve by hand: what derived formulas may cost before hand-written ones are kept for it


def names() -> list[str]:
    """Of our problems that are not their declaration alone."""
    registry.load("problems")
    ours = (name for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems."))
    return [name for name in sorted(ours) if not issubclass(registry.get("problem", name), DeclaredProblem)]


def made(name: str, folder: Path, samples: int) -> Problem:
    """The problem that its recipe makes of Friedman's function, as `--against` times it."""
    size = min(samples, SIZES.get(name, (samples,))[-1])
    ranking = name in RANKING
    options = {"queries": str(size // DOCUMENTS)} if ranking else {"samples": str(size)}
    return build(name, str(written(folder, size, ranking)), None, options)


def fresh(problem: Any) -> Any:
    """The problem with arrays of its own, so that nothing is remembered of them."""
    fields = {item.name: getattr(problem, item.name) for item in dataclasses.fields(problem) if item.init}
    return dataclasses.replace(problem, **{name: x.copy() for name, x in fields.items() if isinstance(x, np.ndarray)})


def moving(point: Mapping[str, Any] | None, multipliers: Mapping[str, Any] | None) -> Callable[[], tuple[Values, Values]]:
    """Point and multipliers, each time a few units of rounding away from where they were before."""
    number = count()

    def values() -> tuple[Values, Values]:
        factor = 1.0 + next(number) * 2.0**-50
        one, other = ({name: np.asarray(value) * factor for name, value in (each or {}).items()} for each in (point, multipliers))
        return one, other

    return values


def row(name: str, problem: Problem, pairs: int) -> tuple[str, float]:
    """A line of the table, and the ratio of solves."""
    solution = simopt.solve(problem)
    declaration = problem.declare()
    known = Declared.of(declaration)
    by_hand, derived = moving(solution.point, solution.multipliers), moving(*solved(known))
    found = certify(known, *derived())
    times: list[tuple[float, float, float, float]] = []
    for _ in range(pairs):
        one, other, third = fresh(problem), fresh(problem), fresh(problem)
        by, of, again = by_hand(), derived(), derived()
        times.append(
            (
                spent(partial(simopt.solve, one)),
                spent(partial(certify, other, *by)),
                spent(lambda third=third, of=of: certify(Declared.of(third.declare()), *of)),  # type: ignore[misc]
                spent(partial(certify, known, *again)),
            )
        )
    whole = statistics.median((solve - hand + first) / solve for solve, hand, first, _ in times)
    kept = statistics.median((solve - hand + again) / solve for solve, hand, _, again in times)
    further = statistics.median(again / hand for _, hand, _, again in times)
    milliseconds = [1e3 * statistics.median(column) for column in zip(*times, strict=True)]
    cells = " ".join(f"{value:>9.2f}" for value in (*milliseconds, whole, kept, further))
    return f"{name:<30} {cells} {found.relative_gap:>8.0e}  {type(problem).by_hand}", whole


def table(chosen: Sequence[str], samples: int, pairs: int) -> None:
    """Prints the section of docs/benchmarks.md."""
    print(f"\n## {TITLE}\n{machine()}")
    heads = ("solve ms", "by hand", "derived", "again", "solve ×", "if kept", "again ×")
    print(f"{'problem':<30} {' '.join(f'{head:>9}' for head in heads)} {'gap':>8}  why by hand")
    ratios = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what recipes say of the data
        for name in chosen:
            line, ratios[name] = row(name, made(name, Path(folder), samples), pairs)
            print(line, flush=True)
    slower, middle = sum(ratio > ALLOWED for ratio in ratios.values()), statistics.median(ratios.values())
    print(f"solves that derived formulas make slower by more than {ALLOWED - 1:.0%}: {slower} of {len(ratios)}, median {middle:.1f} ×")


def main() -> None:
    """All problems with formulas by hand, or those named."""
    known = names()
    options = arguments(__doc__ or "", problems=(one_of(*known), "names of problems (default: all)"))
    table(options.problems or (known[:1] if options.quick else known), 60 if options.quick else SAMPLES, 2 if options.quick else PAIRS)


if __name__ == "__main__":
    main()
