"""A round of L-Isotron, split into products, sort and fit, as a share of the two passes over X that it cannot do without.

The first rounds from w = 0, whose scores are crowded so that the bound on the slope holds everywhere and the fit is slowest, and rounds
about the true w; cold and warm sorts, float32 copies of X, and the kernel form against one product with half of the Gram matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pairs import PAIRS, Table, arguments, gaussian_problem, interleave, met, one_thread, part_of

from simopt.data.similarities import Precomputed
from simopt.equivalence.training import TrainingSet
from simopt.estimators.index_models.index_model import IndexFit
from simopt.estimators.index_models.isotron import l_isotron
from simopt.estimators.index_models.kernel_isotron import kernel_l_isotron

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


def split(name: str, fit: IndexFit) -> None:
    """Median milliseconds of each part of a round."""
    parts = {part: 1e3 * value for part, value in fit.seconds().items() if part != "check"}
    total = sum(parts.values())
    shown = "  ".join(f"{part} {value:.2f} ms ({100 * value / total:.0f} %)" for part, value in parts.items())
    print(f"{name:<34} {total:.2f} ms a round: {shown}", flush=True)


def linear(options: Any, m: int, d: int) -> None:
    """Rounds against passes, at both places; the better sort in float64 is held against the target."""
    X, y, true = samples(m, d)
    work = passes(X, ROUNDS)
    forms = {"cold sorts": {"warm": False}, "warm sorts": {}, "float32 in the rounds": {"single": True}}
    for place, w in (("from w = 0", None), ("from the true w", true)):
        table = Table(f"{ROUNDS} rounds of L-Isotron {place} against {ROUNDS} pairs Xw, Xᵀr (float64)", "form, m, d")
        ratios = {}
        for name, extra in forms.items():
            run = partial(l_isotron, X, y, start=w, max_iter=ROUNDS, tol=0.0, **extra)
            with one_thread():
                error = run().trace[-1].error
            result = interleave(run, work, pairs=2 if options.quick else PAIRS)
            ratios[name] = result.ratio
            table.add(f"{name}, {m:.0e}, {d}", result, f"error {error:.6f}", error=error)
        with one_thread():
            for name, extra in forms.items():
                split(name, l_isotron(X, y, start=w, max_iter=ROUNDS, tol=0.0, **extra))
        table.close(
            part_of(options, place.split()[-1]), f"a round {met(min(ratios['cold sorts'], ratios['warm sorts']), 1.6)} times its passes"
        )


def kernel(options: Any, m: int) -> None:
    """Rounds in a kernel's space against as many products with half of K."""
    from scipy.linalg.blas import dsymv

    gram, targets = gaussian_problem(m, 5)
    labels = (targets > 0).astype(float)
    training = TrainingSet(np.arange(m, dtype=float)[:, None], labels, Precomputed(gram))
    stored, r = np.asfortranarray(training.gram.T), np.random.default_rng(2).normal(size=m)

    def products() -> object:
        for _ in range(ROUNDS):
            dsymv(1.0, stored, r)
        return None

    table = Table(f"{ROUNDS} rounds of kernel L-Isotron against {ROUNDS} products with half of K", "m")
    run = partial(kernel_l_isotron, training, 5.0, max_iter=ROUNDS, tol=0.0)
    result = interleave(run, products, pairs=2 if options.quick else PAIRS)
    table.add(f"{m:.0e}", result)
    with one_thread():
        split("kernel", run())
    table.close(part_of(options, "kernel"), f"a round {met(result.ratio, 1.1)} times the product")


def main() -> None:
    """m = 1e5, d = 100; kernels at m = 1e4."""
    options = arguments(__doc__ or "")
    linear(options, *((10_000, 20) if options.quick else (100_000, 100)))
    kernel(options, 1_000 if options.quick else 10_000)


if __name__ == "__main__":
    main()
