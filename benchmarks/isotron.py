"""A round of L-Isotron as a fraction of the two passes over X that it cannot do without, and these, a sort and a fit, each alone.

Measured are the first rounds from w = 0, whose scores are crowded so that the bound on the slope holds everywhere, and rounds near the true
w. Fits are searched near the last one or anew; X is also a float32 copy. The kernel form stands against one product with half of the Gram
matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from pairs import PAIRS, Table, arguments, gaussian_problem, growth, interleave, met, one_thread, part_of, seconds

from simopt.core.ordering import ordered
from simopt.data.similarities import Precomputed
from simopt.equivalence.training import TrainingSet
from simopt.estimators.index_models.isotron import l_isotron
from simopt.estimators.index_models.kernel_isotron import kernel_l_isotron
from simopt.solvers.isotonic.chain_band import node_indices
from simopt.solvers.isotonic.chain_fit import fit_chain

ROUNDS = 12


def samples(m: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows on the unit sphere, labels of probability (1 + ⟨w, x⟩)/2 cut to [0, 1], and w, which makes the scores' variance 1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    w = np.zeros(d)
    w[0] = math.sqrt(d)
    return X, (rng.uniform(size=m) < 0.5 * (1.0 + X @ w)).astype(float), w


def passes(X: np.ndarray, rounds: int) -> Callable[[], object]:
    """As many pairs Xw and Xᵀr as the rounds need."""
    rng = np.random.default_rng(1)
    w, r = rng.normal(size=X.shape[1]), rng.normal(size=X.shape[0])

    def work() -> object:
        for _ in range(rounds):
            X @ w
            X.T @ r
        return None

    return work


def best(work: Callable[[], object]) -> float:
    """Seconds of the processor for one of as many calls as there are rounds, which follow each other as those do."""

    def rounds() -> None:
        for _ in range(ROUNDS):
            work()

    return min(seconds(rounds, process_time) for _ in range(9)) / ROUNDS


SORT_BYTES = 88  # of a sample in a sort: the ends of the range 16, counts 8, the two passes 24 and 32, a look at neighbours 8


def parts(name: str, y: np.ndarray, z: np.ndarray, lipschitz: float, product: float) -> str:
    """What a round cannot do without, each part alone by the processor's clock: the product, a sort of the scores z, and a fit to them.

    The fit is looked for near itself, as near as no round can know of. The sort's bytes are counted at the speed of a copy.
    """
    m = z.size
    order, places = ordered(z)
    targets, weights, steps = y[order], np.ones(m), lipschitz * np.diff(places)
    found, _ = fit_chain(targets, weights, steps)
    source, target = np.ones(10**7), np.empty(10**7)
    copied = best(lambda: np.copyto(target, source)) / (16.0 * source.size)
    nodes = found[node_indices(m)]
    fits = [
        partial(fit_chain, targets, weights, steps, guess=(nodes, share * float(np.ptp(found)))) for share in (0.0, 3e-4, 1e-3, 3e-3, 1e-2)
    ]
    sort, fit = best(lambda: ordered(z)), min(best(work) for work in fits)
    whole = (product + sort + fit) / product
    sorting = (
        f"a sort {1e3 * sort:.3f} ms ({1e9 * sort / m:.1f} ns a sample; its {SORT_BYTES} bytes take {1e9 * SORT_BYTES * copied:.1f} ns"
    )
    fitting = f"a fit {1e3 * fit:.3f} ms ({1e9 * fit / m:.0f} ns a sample, each of which waits for the one before)"
    return (
        f"limit, {name}: product {1e3 * product:.3f} ms, {sorting} at the speed of a copy), {fitting}: alone they are {whole:.2f} times "
        "the product"
    )


def limit(X: np.ndarray, y: np.ndarray, start: np.ndarray | None) -> str:
    """`parts` of the second round."""
    m, d = X.shape
    w = X.T @ (y - y.mean()) / m if start is None else start
    with one_thread():
        return parts(f"{m:.0e}, {d}", y, X @ w, 1.0, best(passes(X, 1)))


def linear(options: Any, sizes: list[tuple[int, int, float]]) -> None:
    """Rounds against passes, at both places; those in float64, as they are by default, are held against the target of each size."""
    forms = {"cold fits": {"warm": False}, "warm fits": {}, "float32 in the rounds": {"single": True}}
    for place in ("from w = 0", "from the true w"):
        table = Table(f"{ROUNDS} rounds of L-Isotron {place} against {ROUNDS} pairs Xw, Xᵀr (float64)", "form, m, d")
        verdicts, told = [], []
        for m, d, target in sizes:
            X, y, true = samples(m, d)
            start, ratios = true if place.endswith("true w") else None, {}
            for name, extra in forms.items():
                run = partial(l_isotron, X, y, start=start, max_iter=ROUNDS, tol=0.0, **extra)
                with one_thread():
                    error = run().trace[-1].error
                result = interleave(run, passes(X, ROUNDS), pairs=2 if options.quick else PAIRS, clock=process_time)
                ratios[name] = result.ratio
                table.add(f"{name}, {m:.0e}, {d}", result, f"error {error:.6f}", error=error)
            told.append(limit(X, y, start))
            verdicts.append(f"at {m:.0e} x {d} {met(ratios['warm fits'], target)} times its passes")
        print("\n".join(told), flush=True)
        table.close(part_of(options, place.split()[-1]), "a round " + "; ".join(verdicts))


def kernel(options: Any, sizes: list[tuple[int, float]]) -> None:
    """Rounds in a kernel's space against as many products with half of K."""
    from scipy.linalg.blas import dsymv

    table = Table(f"{ROUNDS} rounds of kernel L-Isotron against {ROUNDS} products with half of K", "m")
    verdicts = []
    for m, target in sizes:
        gram, targets = gaussian_problem(m, 5)
        labels = (targets > 0).astype(float)
        training = TrainingSet(np.arange(m, dtype=float)[:, None], labels, Precomputed(gram))
        stored, r = np.asfortranarray(training.gram.T), np.random.default_rng(2).normal(size=m)

        def products(stored: np.ndarray = stored, r: np.ndarray = r) -> object:
            for _ in range(ROUNDS):
                dsymv(1.0, stored, r)
            return None

        run = partial(kernel_l_isotron, training, 5.0, max_iter=ROUNDS, tol=0.0)
        result = interleave(run, products, pairs=2 if options.quick else PAIRS, clock=process_time)
        table.add(f"{m:.0e}", result)
        verdicts.append(f"at {m:.0e} {met(result.ratio, target)} times the product")
        with one_thread():
            print(parts(f"kernel, {m:.0e}", labels, np.asarray(gram @ r) / m, 5.0, result.peer.median / ROUNDS), flush=True)
    table.close(part_of(options, "kernel"), "a round " + "; ".join(verdicts))


def growing_with(sizes: list[int]) -> None:
    """Exponents of a run's time in m, d = 20."""

    def taken(m: int, origin: str) -> float:
        X, y, true = samples(m, 20)
        run = partial(l_isotron, X, y, start=true if origin == "true" else None, max_iter=ROUNDS, tol=0.0)
        with one_thread():
            return min(seconds(run, process_time) for _ in range(3))

    kinds = {"from w = 0": partial(taken, place="0"), "from the true w": partial(taken, place="true")}
    _, exponents = growth(f"growth of {ROUNDS} rounds of L-Isotron with m, d = 20 (seconds, best of 3)", sizes, kinds)
    print("exponents " + "; ".join(f"{kind}: {value:.2f}" for kind, value in exponents.items()), flush=True)


def main() -> None:
    """m = 1e5, d = 100, and m = 1e4, d = 20; kernels at m = 1e3 and 1e4."""
    options = arguments(__doc__ or "")
    linear(options, [(10_000, 20, 6.0)] if options.quick else [(100_000, 100, 1.4), (10_000, 20, 6.0)])
    kernel(options, [(1_000, 1.3)] if options.quick else [(1_000, 1.3), (10_000, 1.1)])
    growing_with([1_000, 4_000] if options.quick else [1_000, 10_000, 100_000, 1_000_000])


if __name__ == "__main__":
    main()
