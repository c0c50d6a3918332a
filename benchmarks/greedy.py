"""Forward selection against scikit-learn's orthogonal_mp in its three variants, exchanges on top, and the ℓ₁ ball against CVXPY."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from pairs import PAIRS, Table, arguments, growth, interleave, met, one_of, one_thread, seconds

from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.sparse.fit import SparseFit
from simopt.solvers.sparse.foba import forward_backward, forward_swap
from simopt.solvers.sparse.forward_selection import forward_selection, forward_selection_gram
from simopt.solving.entry_points import solve

Data = tuple[np.ndarray, np.ndarray]


def gauss(n: int, d: int) -> Data:
    """Independent columns, a target made of 30 of them, and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    few = min(30, d // 2)
    return X, X[:, :few] @ rng.normal(size=few) + rng.normal(size=n)


def landmarks(n: int, d: int) -> Data:
    """A Gaussian similarity of median width to d of n uniform inputs in five dimensions, a smooth target of two of them, 10 % noise."""
    rng = np.random.default_rng(0)
    inputs = rng.uniform(size=(n, 5))
    chosen = inputs[rng.choice(n, d, replace=False)]
    squares = np.maximum(np.sum(inputs**2, axis=1)[:, None] + np.sum(chosen**2, axis=1) - 2 * inputs @ chosen.T, 0.0)
    targets = np.sin(6 * inputs[:, 0]) + inputs[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    return np.exp(-squares / (2 * np.median(squares[:500]))) / np.sqrt(d), targets - targets.mean()


def pursuit(X: np.ndarray, y: np.ndarray, k: int, precompute: bool) -> np.ndarray:
    """orthogonal_mp; its warning that it ended early is looked at in `same`."""
    from sklearn.linear_model import orthogonal_mp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w: np.ndarray = orthogonal_mp(X, y, n_nonzero_coefs=k, precompute=precompute)
    return w


def same(fit: SparseFit, w: np.ndarray) -> str:
    """Whether the supports agree."""
    theirs = np.flatnonzero(w)
    common = np.intersect1d(theirs, fit.indices).size
    return "support identical" if common == len(theirs) == len(fit) else f"{common} of {len(fit)} (peer {len(theirs)}) columns in common"


def selection(table: Table, name: str, data: Data, k: int, pairs: int, ratios: dict[str, list[float]]) -> None:
    """Three variants of matching pursuit."""
    from sklearn.linear_model import orthogonal_mp_gram

    X, y = data
    label = f"{name} {X.shape[0]}x{X.shape[1]}, k = {k}"
    for word, precompute in (("orthogonal_mp", False), ("precompute", True)):
        result = interleave(lambda: forward_selection(X, y, count=k), lambda p=precompute: pursuit(X, y, k, p), pairs=pairs)
        note = same(forward_selection(X, y, count=k), pursuit(X, y, k, precompute))
        table.add(f"{label}, {word}", result, note)
        ratios.setdefault(word, []).append(result.ratio)
    G, b, square = X.T @ X, X.T @ y, float(y @ y)

    def peer() -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            w: np.ndarray = orthogonal_mp_gram(G, b, n_nonzero_coefs=k)
        return w

    result = interleave(lambda: forward_selection_gram(G, b, square, count=k), peer, pairs=pairs)
    table.add(f"{label}, Gram given", result, same(forward_selection_gram(G, b, square, count=k), peer()))
    ratios.setdefault("orthogonal_mp_gram", []).append(result.ratio)


def better_supports(table: Table, name: str, data: Data, k: int, pairs: int, ratios: dict[str, list[float]]) -> None:
    """Exchanges and FoBa: residuals beside those of matching pursuit, time beside that of orthogonal_mp."""
    X, y = data
    base = forward_selection(X, y, count=k).residuals[-1]
    moves: dict[str, Callable[[], SparseFit]] = {
        "OLS": lambda: forward_selection(X, y, count=k, criterion="ols"),
        "OMP + swaps": lambda: forward_swap(X, y, count=k),
        "OLS + swaps": lambda: forward_swap(X, y, count=k, criterion="ols"),
        "FoBa": lambda: forward_backward(X, y, count=k),
    }
    for word, work in moves.items():
        result = interleave(work, lambda: pursuit(X, y, k, False), pairs=pairs)
        share = float(work().residuals[-1] / base)
        table.add(f"{name} {X.shape[0]}x{X.shape[1]}, {word}", result, f"‖r‖² {share:.3f} of OMP's", residual=share)
        if word == "OMP + swaps" and name == "landmarks":
            ratios.setdefault("swaps, time", []).append(result.ratio)
            ratios.setdefault("swaps, ‖r‖²", []).append(share)


def least(data: Data, k: int, pairs: int) -> None:
    """What every method in float64 that picks these columns has to do, beside what `forward_selection` does: the reason for its limit."""
    X, y = data
    picks = forward_selection(X, y, count=k).indices

    def floor() -> object:
        return np.isfinite(X).all(), y @ X, X[:, picks].T @ X

    result = interleave(lambda: forward_selection(X, y, count=k), lambda: pursuit(X, y, k, False), pairs=pairs)
    share = interleave(floor, lambda: pursuit(X, y, k, False), pairs=pairs).ratio
    operations, megabytes = 2.0 * k * X.size, X.nbytes / 1e6
    print(
        f"reason: a look for numbers that are not finite, Xᵀy, and the rows of XᵀX at the {k} picks ({operations:.1e} operations in "
        f"float64; three times {megabytes:.0f} MB of X) take {share:.2f} of orthogonal_mp's time by themselves, ours {result.ratio:.2f}; "
        "between them are the rows of columns that were predicted and not picked (of coherent columns about as many as are picked, a pass "
        "over X for each guess), and for exchanges the rows of every column that comes in",
        flush=True,
    )


def ball(table: Table, name: str, data: Data, radius: float, pairs: int, ratios: dict[str, list[float]]) -> None:
    """The whole solve with its certificate, against the declaration (inf-convolution form) in CLARABEL."""
    problem = SparseLandmarked(*data, radius)
    result = interleave(lambda: solve(problem, "active-set", tol=1e-6), lambda: solve(problem, "clarabel", tol=1e-6), pairs=pairs)
    ours, peer = solve(problem, "active-set", tol=1e-6), solve(problem, "clarabel", tol=1e-6)
    gaps = [found.certificate.relative_gap if found.certificate is not None else np.inf for found in (ours, peer)]
    weights = 0 if ours.point is None else np.count_nonzero(ours.point["w"])
    n, d = data[0].shape
    table.add(f"{name} {n}x{d}, B = {radius:g}", result, f"gap/scale {gaps[0]:.0e}, CLARABEL {gaps[1]:.0e}; {weights} weights")
    ratios.setdefault("l1 ball", []).append(result.ratio)


def growing_with(sizes: list[int]) -> None:
    """Exponents of time in n, 50 of 500 columns of correlated features, and a ball of radius 5."""

    def taken(n: int, ball: bool) -> float:
        X, y = landmarks(n, 100 if ball else 500)
        problem = SparseLandmarked(X / np.max(np.abs(X)), y, 5.0)
        work = partial(solve, problem, "active-set", tol=1e-6) if ball else partial(forward_selection, X, y, count=50)
        with one_thread():
            return min(seconds(work, time.process_time) for _ in range(3))

    kinds: dict[str, Callable[[int], float]] = {
        "50 of 500 columns": partial(taken, ball=False),
        "l1 ball, 100 columns": partial(taken, ball=True),
    }
    _, exponents = growth("growth of sparse selection's time with n (seconds, best of 3)", sizes, kinds)
    print("exponents " + "; ".join(f"{kind}: {value:.2f}" for kind, value in exponents.items()), flush=True)


def main() -> None:
    """n = 10000, d = 1000, k = 50 and smaller; the ball at n = 1000, d = 200; `--parts` for some of it."""
    parts = ("selection", "supports", "ball", "growth")
    options = arguments(__doc__ or "", parts=(one_of(*parts), f"some of {', '.join(parts)} (default: all)"))
    wanted = options.parts or parts
    pairs = 2 if options.quick else PAIRS
    sizes = ((600, 120, 10),) if options.quick else ((10000, 1000, 50), (2000, 500, 50), (50000, 300, 30))
    small = (200, 40) if options.quick else (1000, 200)
    table = Table("forward greedy selection", "data, method", "scikit-learn", "cvxpy", "clarabel")
    ratios: dict[str, list[float]] = {}
    large: dict[str, list[float]] = {}
    for place, (n, d, k) in enumerate(sizes):
        for name, make in (("gauss", gauss), ("landmarks", landmarks)):
            if "selection" in wanted:
                selection(table, name, make(n, d), k, pairs, large if place == 0 else ratios)
            if "supports" in wanted and place == 0:
                better_supports(table, name, make(n, d), k, min(pairs, 5), large)
    if "selection" in wanted:
        least(landmarks(*sizes[0][:2]), sizes[0][2], pairs)
    for name, make in (("gauss", gauss), ("landmarks", landmarks)) if "ball" in wanted else ():
        X, y = make(*small)
        for radius in (5.0, 20.0):
            ball(table, name, (X / np.max(np.abs(X)), y), radius, min(pairs, 5), large)
    targets = {
        "orthogonal_mp": 0.35,
        "precompute": 0.4,
        "orthogonal_mp_gram": 0.15,
        "swaps, time": 0.5,
        "swaps, ‖r‖²": 0.92,
        "l1 ball": 0.08,
    }
    words = [f"{word} {met(max(large[word]), target)}" for word, target in targets.items() if word in large]
    table.close(options, "largest at the first size: " + "; ".join(words))
    if "growth" in wanted:
        growing_with([1_000, 2_000] if options.quick else [1_000, 4_000, 16_000, 64_000])


if __name__ == "__main__":
    main()
