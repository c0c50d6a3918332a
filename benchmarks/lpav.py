"""Lipschitz isotonic regression against scipy and scikit-learn (which have no Lipschitz bound) and CLARABEL, PIQP and OSQP (which do).

Growth exponents on random and adversarial inputs, and the memory of the largest fit. Each peer runs up to the size that it finishes in a
minute. Points of the general solvers are made feasible before their gap is taken. Times are those of the processor, on one thread.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pairs import PAIRS, Table, arguments, growth, interleave, machine, met, one_thread, part_of, peak_megabytes, seconds

from simopt.arithmetic import FLOAT
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solvers.isotonic.bounded_chain import fit_bounded_chain
from simopt.solving.entry_points import certify

LIMIT = 20.0  # seconds; beyond that "over 20 s" is the result
GROWTH = 8.0  # a peer that took more than LIMIT/GROWTH is not tried at ten times the size
NUMBER = 8 * 2.0**-20  # megabytes
SURE = 1.0  # seconds; what takes longer is timed once


def labels(m: int, lipschitz: float = 2.0, seed: int = 0) -> LipschitzIsotonic:
    """Places in [−1, 1], labels of probability (1 + z)/2, L = 2."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.uniform(-1.0, 1.0, size=m))
    return LipschitzIsotonic(z, (rng.uniform(size=m) < 0.5 * (1.0 + z)).astype(float), lipschitz)


def noise(m: int) -> LipschitzIsotonic:
    """A line with normal noise, L = 0.1: the slowest of the benign inputs."""
    rng = np.random.default_rng(1)
    z = np.sort(rng.uniform(-1.0, 1.0, size=m))
    return LipschitzIsotonic(z, z + rng.normal(size=m), 0.1)


def alternating(m: int, lipschitz: float) -> LipschitzIsotonic:
    """Labels 0, 1, 0, 1, …, at equal distances in [0, 1]: each sample moves the zero of the derivative across many breakpoints."""
    return LipschitzIsotonic(np.arange(m) / m, (np.arange(m) % 2).astype(float), lipschitz)


def growing(m: int) -> LipschitzIsotonic:
    """0, −1, 2, −3, … over m, L = 1e-5: the zero jumps across all breakpoints there are, in every step."""
    return LipschitzIsotonic(np.arange(m) / m, (1.0 - 2.0 * (np.arange(m) % 2)) * np.arange(m) / m, 1e-5)


def ours(problem: LipschitzIsotonic) -> Callable[[], np.ndarray]:
    """The whole fit with its prices, from sorted data."""
    y, w, u = problem.targets, problem.mass, problem.steps(FLOAT)
    return lambda: fit_bounded_chain(y, w, u)[0]


def scipy_pav(problem: LipschitzIsotonic) -> object:
    """No Lipschitz bound: an easier problem."""
    from scipy.optimize import isotonic_regression

    return isotonic_regression(problem.targets).x


def sklearn_pav(problem: LipschitzIsotonic) -> object:
    """No Lipschitz bound either."""
    from sklearn.isotonic import isotonic_regression

    return isotonic_regression(problem.targets)


def clarabel(problem: LipschitzIsotonic) -> np.ndarray:
    """Declared in CVXPY, canonicalised and solved."""
    declaration = problem.declare()
    declaration.solve(solver="CLARABEL", warm_start=False)
    return np.asarray(declaration.var_dict["x"].value)


def _differences(m: int) -> Any:
    import scipy.sparse as sp

    return sp.diags_array([-np.ones(m - 1), np.ones(m - 1)], offsets=[0, 1], shape=(m - 1, m), format="csc")


def piqp(problem: LipschitzIsotonic) -> np.ndarray:
    """PIQP's sparse interface, P = I and two-sided rows, tolerance 1e-8."""
    import piqp as peer
    import scipy.sparse as sp

    m = len(problem.targets)
    solver = peer.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-8
    identity = sp.csc_matrix(sp.eye_array(m, format="csc"))
    rows, none = sp.csc_matrix(_differences(m)), sp.csc_matrix((0, m))
    solver.setup(identity, -problem.targets, none, np.zeros(0), rows, np.zeros(m - 1), problem.steps(FLOAT))
    solver.solve()
    return np.asarray(solver.result.x)


def osqp(problem: LipschitzIsotonic) -> np.ndarray:
    """OSQP, tolerance 1e-6 with polishing."""
    import osqp as peer
    import scipy.sparse as sp

    m = len(problem.targets)
    solver = peer.OSQP()
    options = {"eps_abs": 1e-6, "eps_rel": 1e-6, "polishing": True, "max_iter": 200_000, "time_limit": LIMIT, "verbose": False}
    identity, rows = sp.csc_matrix(sp.eye_array(m, format="csc")), sp.csc_matrix(_differences(m))
    solver.setup(identity, -problem.targets, rows, np.zeros(m - 1), problem.steps(FLOAT), **options)
    return np.asarray(solver.solve().x)


def gap_of(problem: LipschitzIsotonic, x: np.ndarray) -> float:
    """gap/scale after repair."""
    return certify(problem, {"x": x}).relative_gap if np.all(np.isfinite(x)) else math.nan


def against_pav(options: Any, sizes: list[int]) -> list[str]:
    """scipy and scikit-learn at every size."""
    verdicts = []
    table = Table("LPAV (labels, L = 2) against isotonic regression without the bound", "peer, m", "scikit-learn")
    for m in sizes:
        problem = labels(m)
        fit = ours(problem)
        gap = gap_of(problem, fit())
        for name, peer in (("scipy", scipy_pav), ("scikit-learn", sklearn_pav)):
            count = 2 if options.quick else PAIRS if m <= 100_000 else 3
            result = interleave(fit, lambda peer=peer, problem=problem: peer(problem), pairs=count, clock=time.process_time)
            table.add(f"{name}, {m:.0e}", result, f"gap/scale {gap:.0e}", relative_gap=gap)
            if name == "scipy" and m in (100_000, 1_000_000):
                verdicts.append(f"m = {m:.0e}: {met(result.ratio, 6 if m == 100_000 else 8)} times scipy's")
                verdicts.append(f"gap {met(gap, 1e-10)}")
    limit(sizes[-2])
    table.close(part_of(options, "pav"), "; ".join(verdicts) or "small sizes only")
    return verdicts


PASSES = 190  # bytes of a sample that a fit reads and writes: nodes 24, band 33, descent 33, blocks 41, mending 24, prices 33


def limit(m: int) -> None:
    """What a fit cannot do without: its bytes at the speed of a copy, and a call for very few samples; printed beside what it takes."""
    few, problem = ours(labels(8)), labels(m)
    fit, source, target = ours(problem), np.ones(10**7), np.empty(10**7)
    with one_thread():
        fixed, taken = (min(seconds(work, time.process_time) for _ in range(9)) for work in (few, fit))
        copied = min(seconds(lambda: np.copyto(target, source), time.process_time) for _ in range(9)) / (16.0 * source.size)
    print(
        f"limit at {m:.0e}: {1e9 * taken / m:.1f} ns a sample alone; its {PASSES} bytes take {1e9 * PASSES * copied:.1f} ns at the speed "
        f"of a copy. A call for 8 samples takes {1e3 * fixed:.2f} ms; the rest is waiting: each step of the programme, of the descent "
        "and of the sums needs the one before",
        flush=True,
    )


def against_solvers(options: Any, sizes: list[int]) -> None:
    """CLARABEL through CVXPY, PIQP and OSQP, each up to the size that it finishes in a minute."""
    table = Table("LPAV (labels, L = 2) against solvers of quadratic programmes", "peer, m", "cvxpy", "clarabel", "piqp", "osqp")
    verdicts = []
    for name, peer in (("clarabel", clarabel), ("piqp", piqp), ("osqp", osqp)):
        for m in sizes:
            problem = labels(m)
            fit = ours(problem)
            with one_thread():
                taken = seconds(lambda peer=peer, problem=problem: peer(problem))
            if taken > LIMIT:
                print(f"{name}, {m:.0e}: over {LIMIT:g} s")
                break
            count = 2 if options.quick else max(2, min(PAIRS, int(60.0 / taken)))
            result = interleave(fit, lambda peer=peer, problem=problem: peer(problem), pairs=count, budget=30.0, clock=time.process_time)
            gap = gap_of(problem, peer(problem))
            faster = 1.0 / result.ratio
            table.add(f"{name}, {m:.0e}", result, f"{faster:.0f} times; the peer's gap/scale {gap:.0e}", relative_gap=gap)
            if m in (10_000, 100_000) and name in ("clarabel", "piqp"):
                verdicts.append(f"{name} at {m:.0e}: {met(result.ratio, 0.002 if name == 'clarabel' else 0.012)}")
            if taken > LIMIT / GROWTH:
                print(f"{name}, {10 * m:.0e}: not run, {taken:.1f} s at a tenth of the size")
                break
    limit(10_000)
    table.close(part_of(options, "solvers"), "ratios " + ("; ".join(verdicts) or "at small sizes only"))


def growing_with(sizes: list[int]) -> None:
    """Exponents of time in m; on alternating labels the worst L of five at each size."""
    kinds: dict[str, Callable[[int], float]] = {
        "labels, L = 2": lambda m: _time(labels(m)),
        "noise, L = 0.1": lambda m: _time(noise(m)),
        "alternating, worst L": lambda m: max(_time(alternating(m, 10.0**k)) for k in (-1, -2, -3, -4, -5)),
        "growing alternation": lambda m: _time(growing(m)),
    }
    times, exponents = growth("growth of LPAV's time with m (seconds, best of 3)", sizes, kinds)
    benign, bad = times["labels, L = 2"], times["alternating, worst L"]
    verdicts = [f"exponent on labels {exponents['labels, L = 2']:.2f}, on noise {exponents['noise, L = 0.1']:.2f}"]
    verdicts.append(f"on alternating labels {met(exponents['alternating, worst L'], 1.5)}")
    verdicts.append(f"where all breakpoints cross in every step {met(exponents['growing alternation'], 1.5)}")
    if 100_000 in bad:
        verdicts.append(f"alternating labels at 1e5 take {met(bad[100_000] / benign[100_000], 10)} times those of labels")
    if 1_000_000 in bad:
        verdicts.append(f"at 1e6 {met(bad[1_000_000], 2.5)} s")
    print("; ".join(verdicts), flush=True)


def _time(problem: LipschitzIsotonic) -> float:
    fit = ours(problem)
    with one_thread():
        first = seconds(fit, time.process_time)
        return first if first > SURE else min(first, *(seconds(fit, time.process_time) for _ in range(2)))


def memory(m: int) -> None:
    """Peak of a fit above its three input arrays, in numbers of 8 bytes a sample; of alternating labels at a tenth of the size."""
    print(f"\n## memory of LPAV at m = {m:.0e}, in float64 a sample\n{machine()}")
    worst = 0.0
    for name, problem in (("labels", labels(m)), ("alternating, L = 1e-4", alternating(m // 10, 1e-4))):
        fit, size = ours(problem), len(problem.targets)
        start = time.perf_counter()
        used = peak_megabytes(fit) / NUMBER / size
        worst = max(worst, used + 3)
        print(f"{name + f', {size:.0e}':<30} {used:.2f} above y, w and u; {time.perf_counter() - start:.1f} s", flush=True)
    print(f"with y, w and u {met(worst, 12)}", flush=True)


def main() -> None:
    """m = 1e3 … 1e7."""
    options = arguments(__doc__ or "")
    top = 4 if options.quick else 7
    sizes = [10**k for k in range(3, top + 1)]
    ours(labels(1000))()  # compiled
    against_pav(options, sizes)
    against_solvers(options, sizes)
    growing_with([10**k for k in range(3, 5)] if options.quick else [10_000, 31_623, 100_000, 316_228, 1_000_000])
    memory(10**5 if options.quick else 10**7)


if __name__ == "__main__":
    main()
