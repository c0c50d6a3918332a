"""What the certificates of semidefinite models cost, and which of them close: n = 20, and n = 100 where a solve ends in time.

As in `benchmarks.price`, all is the processor's time of the first certificate over that of the solver itself. That is CLARABEL at n = 20,
and SCS at n = 100: there CLARABEL factors dense blocks of n(n + 1)/2 rows, and takes a hundred times as long for MAX-CUT. A model that
simopt refuses is listed as refused, and counts as not closed. Data are those of `default_rng(n)`. A run that was stopped goes on with what
is missing, where `--folder` names a folder.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np

from benchmarks.pairs import machine
from benchmarks.price import __main__ as price
from benchmarks.price.measure import MODES, Measurement, TimedProblem
from benchmarks.semidefinite.models import MODELS, SizedModel

SMALL, LARGE = 20, 100
QUICK = ("MAX-CUT", "covariance selection", "Lyapunov inequality")
SMALL_QUICK = 6  # the order of these
CLOSED = 28 / 30  # the fraction that is to close at the smaller order
COST = 10.0  # times the solver's time that a certificate is to cost at most, at the larger order
PRECISION = {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iters": 100_000}  # SCS's own are too coarse for a certificate
# Models whose solve at n = 100 did not end within a minute of the processor on 2026-11-30; the form of the last was not made at all.
TOO_LARGE = {
    "sum of squares", "invariant ellipsoid", "state feedback", "A-optimal design", "c-optimal design", "truss, two loads",
    "tomography, least squares", "maximal entropy", "nearest state, relative entropy",
}  # fmt: skip


def problem(model: SizedModel, order: int) -> cp.Problem:
    """The model of this order, of the same data each time."""
    return model.build(order, np.random.default_rng(order))


def case(model: SizedModel, order: int, solver: str = cp.CLARABEL) -> TimedProblem:
    """A model of this order as a case of the benchmark."""
    options: dict[str, Any] = PRECISION if solver == cp.SCS else {}
    return TimedProblem(model.name, partial(problem, model, order), promised=model.promised, solver=solver, solver_options=options)


def small(quick: bool) -> list[TimedProblem]:
    """All models at n = 20."""
    return [case(MODELS[name], SMALL_QUICK) for name in QUICK] if quick else [case(model, SMALL) for model in MODELS.values()]


def large(quick: bool) -> list[TimedProblem]:
    """Those models at n = 100 that are solved in time."""
    return [] if quick else [case(model, LARGE, cp.SCS) for name, model in MODELS.items() if name not in TOO_LARGE]


def of_small(outcomes: Sequence[Measurement]) -> str:
    """The summary: how many close, and what that costs."""
    return "; ".join(filter(None, [price.median_and_p90(outcomes, None), price.counts(outcomes, CLOSED)]))  # no costs where all are refused


def of_large(outcomes: Sequence[Measurement]) -> str:
    """The summary: what certificates cost, and how many close."""
    words = []
    for mode in MODES:
        ratios, bounds = price.costs(outcomes, mode)
        if ratios:
            cheap = sum(value <= COST for value in ratios)
            words.append(f"{mode}: median {price.against_target(price.quantile(ratios, 0.5), bounds, COST)}, {cheap} at {COST:g} × or less")
    return "; ".join([*words, price.counts(outcomes)])


SECTIONS = {
    "small": (f"certificates of semidefinite models, n = {SMALL}", small, of_small),
    "large": (f"certificates of semidefinite models, n = {LARGE}, solved by SCS", large, of_large),
}


def head() -> str:
    """Names of the columns: those of `price`, whatever the solver."""
    return price.head().replace("CLARABEL ms", "  solver ms")


def main() -> None:
    """All sections, or those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", choices=[*SECTIONS], nargs="+", default=[*SECTIONS], help="default: all")
    parser.add_argument("--quick", action="store_true", help="few small models, to see that it runs")
    parser.add_argument("--limit", type=float, default=price.LIMIT, help="seconds of the processor for each part of a case")
    parser.add_argument("--cases", default="", help="only those whose name has one of these words, with commas between")
    parser.add_argument("--folder", type=Path, help="where what was measured is kept until the run ends well")
    options = parser.parse_args()
    price.warm()
    for name in options.sections:
        title, made, summary = SECTIONS[name]
        cases = [each for each in made(options.quick) if any(word in each.name for word in options.cases.split(","))]
        if not cases:
            continue
        print(f"\n## {title}\n{machine('cvxpy', 'clarabel', 'scs')}\n{head()}", flush=True)
        found = []
        for each in price.outcomes(name, cases, options.limit, options.folder):
            print(price.line(each), flush=True)
            found.append(each)
        print(summary(found), flush=True)
    if options.folder is not None:
        price.forget(options.folder)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        main()
