"""What a certificate costs whatever its problem: the first one of a process, and one of a small problem that is known already.

The first is timed in a new process, after CVXPY has been imported and has solved the problem: what simopt imports then counts. Modules are
compiled, as pip leaves them: a run before sees to that, in a folder of its own, as some environments keep no compiled modules. Further ones
have a point a few units of rounding from the one before, so that no sweep can be remembered. The rows of EXC are of its certificate derived
from the declaration and of the one by hand, of the same point and multipliers; see `benchmarks.derived`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import cvxpy as cp

import simopt
from benchmarks.derived import ordinal
from benchmarks.pairs import interleave, met
from benchmarks.price.models import draws
from benchmarks.price.rows import control, factor_portfolio, lasso, quantile
from simopt.arithmetic import FLOAT, INTERVAL

TITLE = "fixed costs of a certificate, and what is derived against by hand"
FIRST, AGAIN, DERIVED = 0.15, 2.0, 1.1  # targets: seconds; milliseconds; times by hand
CALLS = 9
EXC = (10_000, 50)
OBJECTIVES = {"": "cvxpy.sum_squares(x - 1) + cvxpy.norm1(x)", "linear programme, ": "cvxpy.norm1(x - 0.3) + cvxpy.sum(x[:3])"}
ONCE = """
from time import process_time
import cvxpy
x = cvxpy.Variable(10)
problem = cvxpy.Problem(cvxpy.Minimize({objective}), [cvxpy.sum(x) == 1, x >= -1])
problem.solve(solver="CLARABEL")
start = process_time()
import simopt
simopt.certify(problem, rigorous={rigorous})
print(process_time() - start)
"""


def positive() -> cp.Problem:
    """A linear programme of 60 variables."""
    rng, x = draws(40), cp.Variable(60)
    return cp.Problem(cp.Minimize((0.1 + rng.random(60)) @ x), [rng.random((20, 60)) @ x >= 1 + rng.random(20), x >= 0])


KNOWN: dict[str, Callable[[], cp.Problem]] = {
    "linear programme, 60": positive,
    "lasso, 50": partial(lasso, 100),
    "quantile n=100, 11": partial(quantile, 100),
    "factor portfolio, 100": partial(factor_portfolio, 100),
    "control T=10, 96": partial(control, 10),
}


def first(objective: str, rigorous: bool, runs: int) -> float:
    """Median seconds of the first certificate in a process, with compiled modules."""
    command = [sys.executable, "-c", ONCE.format(objective=objective, rigorous=rigorous)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        environment["PYTHONPYCACHEPREFIX"] = folder
        ran = [subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(1 + runs)]
    return statistics.median(float(each.stdout) for each in ran[1:])


def again(make: Callable[[], cp.Problem], rigorous: bool, calls: int) -> tuple[float, bool]:
    """Median milliseconds of a certificate of a problem that was certified before, and whether the last one closes."""
    problem, times = make(), []
    problem.solve(solver=cp.CLARABEL)
    found = simopt.certify(problem, rigorous=rigorous)
    for _ in range(calls):
        for variable in problem.variables():
            variable.value = variable.value * (1.0 + 2.0**-50)
        start = process_time()
        found = simopt.certify(problem, rigorous=rigorous)
        times.append(process_time() - start)
    return 1e3 * statistics.median(times), found.closes(1e-8)


def lines(quick: bool) -> Iterator[str]:
    """Rows as they come, and the summary as the last."""
    words, calls = [], 2 if quick else CALLS
    for kind, objective in OBJECTIVES.items():
        for mode, rigorous in (("float", False), ("rigorous", True)):
            taken = first(objective, rigorous, 1 if quick else 3)
            yield f"{f'first in a process, {kind}{mode}':<44} {1e3 * taken:>9.1f} ms"
            words.append(f"first in a process, {kind}{mode}, s {met(taken, FIRST)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mode, rigorous in (("float", False), ("rigorous", True)):
            times = []
            for name, make in KNOWN.items():
                milliseconds, closed = again(make, rigorous, calls)
                times.append(milliseconds)
                yield f"{f'again, {name}, {mode}':<44} {milliseconds:>9.2f} ms   {'closed' if closed else 'open'}"
            words.append(f"again, {mode}, median ms {met(statistics.median(times), AGAIN)}, most {max(times):.2f}")
    n, d = (500, 5) if quick else EXC
    both = ordinal(n, d)
    for num in (FLOAT, INTERVAL):
        pairs = interleave(both.derived(num), both.by_hand(num), pairs=calls, clock=process_time)
        label = f"EXC {n}x{d}, {num.name}"
        yield f"{label:<44} {1e3 * pairs.ours.median:>9.2f} ms   by hand {1e3 * pairs.peer.median:.2f} ms, ratio {pairs.ratio:.2f}"
        words.append(f"{label}, derived over by hand {met(pairs.ratio, DERIVED)}")
    yield "; ".join(words)
