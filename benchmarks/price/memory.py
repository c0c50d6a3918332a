"""What a certificate needs of memory beside the solver: the peak of a process that solves, and of one that then certifies, too.

Each is a process of its own. What it holds before, with all modules in it and the problem made, is taken off both; the first figure is that
of the whole process. The solver is CLARABEL with CVXPY's canonicalisation, which has to be in memory, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import simopt
from benchmarks.pairs import met, one_thread
from benchmarks.price.measure import MODES
from benchmarks.price.rows import control

TITLE = "memory of a certificate, against the solver's"
RATIO, WHOLE = 3.0, 2000.0  # targets: of the certificate's rise over the solver's; MB of the process of the linear programme
STATUS = Path("/proc/self/status")


def linear(columns: int) -> cp.Problem:
    """A sparse linear programme of half as many rows as columns; each column has three to five entries in rows near to its own."""
    rng, x = np.random.default_rng(3), cp.Variable(columns)
    rows, counts = columns // 2, rng.integers(3, 6, columns)
    of_column = np.repeat(np.arange(columns), counts)
    of_row = np.clip(of_column // 2 + rng.integers(-10, 11, len(of_column)), 0, rows - 1)
    matrix = sp.csc_array((rng.normal(size=len(of_column)), (of_row, of_column)), shape=(rows, columns))
    most = matrix @ rng.random(columns) + 0.1 * rng.random(rows)  # a point in the box is inside
    return cp.Problem(cp.Minimize(rng.normal(size=columns) @ x), [matrix @ x <= most, x >= 0, x <= 1])


def sparse_factors(assets: int) -> cp.Problem:
    """A portfolio on 300 factors, of which each asset has six; factors are variables of their own, so that no matrix is dense."""
    rng, w, factors = np.random.default_rng(10), cp.Variable(assets), cp.Variable(300)
    loads = sp.random_array((300, assets), density=0.02, rng=rng, data_sampler=rng.normal, format="csr")
    risk = cp.sum_squares(factors) + cp.sum_squares(cp.multiply(np.sqrt(0.1 + rng.random(assets)), w))
    return cp.Problem(cp.Maximize(0.2 * rng.random(assets) @ w - risk), [cp.sum(w) == 1, factors == loads @ w, w >= 0])


def cases(quick: bool) -> dict[str, Callable[[], cp.Problem]]:
    """Name → problem; the linear programme is the first."""
    if quick:
        return {"linear programme, 2000": partial(linear, 2000), "control T=10": partial(control, 10)}
    return {
        "linear programme, 100000": partial(linear, 100_000),
        "sparse factor portfolio, 30000": partial(sparse_factors, 30_000),
        "control T=1000": partial(control, 1000),
    }


def peak() -> float:
    """MB that this process had at most. What `getrusage` says would be no less than what its parent had at its start."""
    if STATUS.exists():
        return next(float(line.split()[1]) for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM")) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def child(name: str, mode: str) -> dict[str, float | bool]:
    """Solve a case in this process, and certify it unless the mode is "solve"."""
    small = linear(20)  # of which all modules come into memory
    small.solve(solver=cp.CLARABEL)
    simopt.certify(small)
    problem = {**cases(True), **cases(False)}[name]()
    before, start = peak(), process_time()
    problem.solve(solver=cp.CLARABEL)
    solved, closed = process_time(), True
    if mode in MODES:
        closed = simopt.certify(problem, rigorous=MODES[mode]).closes(1e-8)
    return {"before": before, "peak": peak(), "solve": solved - start, "certify": process_time() - solved, "closed": closed}


def measured(name: str, mode: str) -> dict[str, float | bool]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.price.memory", name, mode]
    found: dict[str, float | bool] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def lines(quick: bool) -> Iterator[str]:
    """Rows as they come, and the summary as the last."""
    whole, ratios = dict[str, float](), dict[str, float]()
    for number, name in enumerate(cases(quick)):
        alone = measured(name, "solve")
        own = alone["peak"] - alone["before"]
        yield f"{f'{name}, solve':<42} {alone['peak']:>7.0f} MB, {own:.0f} of it the solver's; {alone['solve']:.2f} s"
        for mode in MODES:
            both = measured(name, mode)
            ratio = (both["peak"] - both["before"]) / own
            closed = "closed" if both["closed"] else "open"
            yield f"{f'{name}, {mode}':<42} {both['peak']:>7.0f} MB, {ratio:.2f} times; {both['certify']:.2f} s   {closed}"
            ratios[mode] = max(ratios.get(mode, 0.0), ratio)
            if number == 0:
                whole[mode] = both["peak"]
    words = [f"linear programme, {mode}, MB {met(value, WHOLE)}" for mode, value in whole.items()]
    yield "; ".join([*words, *(f"largest of all, {mode}, over the solver's {met(value, RATIO)}" for mode, value in ratios.items())])


if __name__ == "__main__":
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(json.dumps(child(*sys.argv[1:])))
