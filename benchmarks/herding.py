"""Herding: time to a certified error, error at √n atoms against compress++, and atoms needed by each step rule."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pairs import PAIRS, Table, arguments, growth, interleave, met, one_thread, seconds

from simopt.data.similarities import Gaussian
from simopt.estimators.herding.herd import Herd, herd
from simopt.estimators.herding.herd_error import error_bound
from simopt.solvers.herding.frank_wolfe import STEPS
from simopt.solvers.herding.gaussian_tiles import TILE, Fast, powers_and_sums32, signed_powers32
from simopt.solvers.herding.mean_embedding import embed
from simopt.solvers.herding.sample import WeightedSample
from simopt.solvers.herding.walk import add, subtract

MOST = 20_000  # steps after which a rule has not reached the error


def cube(n: int, dimension: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Uniform points in a cube and noisy labels, about half of them +1."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, dimension))
    return x, np.where(x[:, 0] - 0.5 + 0.15 * rng.normal(size=n) > 0, 1.0, -1.0)


def stored_gram(x: np.ndarray, y: np.ndarray, mu: float, error: float) -> int:
    """The same herding by NumPy on a float32 Gram matrix: the number of picks."""
    points, labels = x.astype(np.float32), y.astype(np.float32)
    squares = np.sum(points**2, axis=1)
    gram = np.exp((2 * points @ points.T - squares[:, None] - squares) / np.float32(mu))
    gram *= labels[:, None]
    gram *= labels
    mean = gram.mean(axis=1, dtype=np.float64)
    square = mean.mean()
    total, norm, inner, t = np.zeros(len(x)), 0.0, 0.0, 0
    while True:
        pick = int(np.argmin(total - t * mean)) if t else int(np.argmax(mean))
        norm += 2 * total[pick] + gram[pick, pick]
        inner += mean[pick]
        total += gram[pick]
        t += 1
        if norm / t**2 - 2 * inner / t + square <= error**2:
            return t


def limit(x: np.ndarray, picks: int, similarity: Gaussian) -> str:
    """What has to be computed, n²/2 similarities, a column a pick and what is done with it, at the pace of each made again and again."""
    sample = WeightedSample.of(x, None, similarity)
    fast = Fast.of(similarity, sample.rows, "float32")
    if fast is None or fast.coordinates_of_all is None:
        raise LookupError("no fast tiles for these points")
    n, size = len(x), TILE["float32"]
    own = fast.coordinates_of_all[:size].permuted(np.arange(size))
    left, tile, ones = own.rows(slice(0, size)), np.empty((size, size), dtype=np.float32), np.ones(size, dtype=np.float32)
    sums, part, column = np.zeros((2, size)), np.empty(size, dtype=np.float32), np.empty(n, dtype=np.float32)
    row = fast.coordinates_of_all.row(0)

    def powers() -> None:
        np.dot(left, own.columns, out=tile)
        powers_and_sums32(tile, ones, ones, own.lengths, own.lengths, sums, sums, part)

    def best(work: Callable[[], object]) -> float:
        return min(seconds(lambda: [work() for _ in range(20)], time.process_time) for _ in range(9)) / 20

    image, linear, scores, signs = np.zeros(n), np.ones(n), np.empty(n), np.ones(n, dtype=np.float32)

    def passes() -> None:
        signed_powers32(column, signs, 1.0)
        add(image, 1.0, column)
        subtract(image, 1.0, linear, scores)
        scores.argmin()

    with one_thread():
        product, both, made, passed = (
            best(work)
            for work in (
                lambda: np.dot(left, own.columns, out=tile),
                powers,
                lambda: np.dot(row, fast.coordinates_of_all.columns, out=column),
                passes,
            )
        )
        whole = min(seconds(lambda: herd(x, None, similarity, atoms=picks), time.process_time) for _ in range(5))
    tiles, flops = 0.5 * n**2 / size**2, 2.0 * left.shape[1] * size**2
    stored = fast.coordinates_of_all.columns.nbytes
    parts = (tiles * product, tiles * (both - product), picks * made, picks * passed)
    return (
        f"limit: {tiles:.0f} tiles of {size}², {flops / product / 1e9:.0f} Gflop/s in the product, {1e3 * parts[0]:.0f} ms, and "
        f"{1e3 * parts[1]:.0f} ms for powers and sums; {picks} columns from {stored / 1e6:.1f} MB each, "
        f"{stored / made / 1e9:.0f} GB/s, {1e3 * parts[2]:.0f} ms, and of each its powers and three passes over {n} "
        f"numbers, {1e3 * parts[3]:.0f} ms: {1e3 * sum(parts):.0f} ms alone, {1e3 * whole:.0f} ms together. The rest is tiles that are cut "
        f"short or taken twice on the diagonal, the certificate, and {1e6 * (whole - sum(parts)) / picks:.0f} µs a pick at most between "
        "its kernels"
    )


def to_an_error(options: argparse.Namespace) -> None:
    """Time to ‖ω − ω̃‖ ≤ 1e-2 in 20 dimensions."""
    table = Table("herding to 1e-2, certified, against NumPy's float32 Gram matrix and the same picks", "n, dimension")
    n, similarity = 1500 if options.quick else 12000, Gaussian(2.0)
    x, y = cube(n, 20)
    found, picks = herd(x, y, similarity, error=1e-2), stored_gram(x, y, 2.0, 1e-2)
    result = interleave(
        lambda: herd(x, y, similarity, error=1e-2),
        lambda: stored_gram(x, y, 2.0, 1e-2),
        pairs=2 if options.quick else PAIRS,
        clock=time.process_time,
    )
    note = f"{len(found.picks)} picks, certified {found.error:.4g}; the peer, which certifies nothing, {picks} picks"
    table.add(f"{n}, 20", result, note, picks=len(found.picks), peer_picks=picks, error=found.error)
    print(limit(x, len(found.picks), similarity), flush=True)
    table.close(options, f"ratio {met(result.ratio, 0.08)}; seconds {met(result.ours.median, 0.2)}")


class Certifier:
    """‖ω − ω̃‖ of any weights, in float64, by one and the same formula."""

    def __init__(self, x: np.ndarray, similarity: Gaussian) -> None:
        self.sample = WeightedSample.of(x, None, similarity)
        self.embedding = embed(self.sample, Fast.of(similarity, self.sample.rows, "float64"))

    def __call__(self, indices: Any, weights: np.ndarray) -> float:
        return error_bound(self.sample, self.embedding, np.asarray(indices, dtype=np.intp), weights).error


def at_root_n_atoms(options: argparse.Namespace) -> None:
    """Error and time at √n points against goodpoints' compress++ with g = 4."""
    from goodpoints.compress import compresspp_kt

    table = Table("√n points of n against compress++ (g = 4)", "n, dimension, herd", "goodpoints")
    variants = {"uniform": {}, "re-weighted": {"reweight": True}, "fully corrective": {"steps": "fully-corrective"}}
    errors: dict[tuple[int, str], list[float]] = {}
    times: dict[tuple[int, str], list[float]] = {}
    for n, dimension, mu in ((1024, 20, 2.0), (1024, 2, 0.2)) if options.quick else ((4096, 20, 2.0), (16384, 20, 2.0), (4096, 2, 0.2)):
        x, similarity = cube(n, dimension)[0], Gaussian(mu)
        judge, count = Certifier(x, similarity), int(np.sqrt(n))
        peer = partial(compresspp_kt, x, b"gaussian", k_params=np.array([mu]), g=4)
        seeds = 1 if options.quick else 5  # the peer is random: its median
        theirs = statistics.median(judge(peer(seed=seed), np.full(count, 1 / count)) for seed in range(seeds))
        for name, settings in variants.items():
            ours = partial(herd, x, None, similarity, atoms=count, **settings)
            found: Herd = ours()
            result = interleave(ours, partial(peer, seed=0), pairs=2 if options.quick else PAIRS, clock=time.process_time)
            error = judge(found.indices, found.weights)
            note = (
                f"{len(found)} points, error {error:.3g} (certified {found.error:.3g}), compress++ {theirs:.3g}: ratio {error / theirs:.3g}"
            )
            table.add(f"{n}, {dimension}, {name}", result, note, error=error, peer_error=theirs)
            errors.setdefault((dimension, name), []).append(error / theirs)
            times.setdefault((dimension, name), []).append(result.ratio)
    corrected = "fully corrective"
    last = cube(1024 if options.quick else 16384, 20)[0]
    print(limit(last, int(np.sqrt(len(last))), Gaussian(2.0)), flush=True)
    table.close(
        options,
        f"d = 20: error of uniform {met(max(errors[20, 'uniform']), 0.95)}, {corrected} {met(max(errors[20, corrected]), 0.90)}; "
        f"time of uniform {met(max(times[20, 'uniform']), 0.1)}, {corrected} {met(max(times[20, corrected]), 0.08)}; "
        f"d = 2: error of {corrected} {met(max(errors[2, corrected]), 0.1)}",
    )


def atoms_by_rule(options: argparse.Namespace) -> None:
    """Atoms that each rule needs for 1e-2 and 1e-3, its time beside that of uniform herding."""
    table = Table("atoms needed by step rule; peer: uniform steps", "n, d, error, rule")
    cells = [
        (500, 2, 0.2, 1e-3),
        (2000, 2, 0.2, 1e-2),
        (4000, 5, 2.0, 1e-2),
        (4000, 20, 2.0, 1e-2),
        (12000, 20, 2.0, 1e-2),
        (2000, 2, 0.2, 1e-3),
        (4000, 5, 2.0, 1e-3),
    ]
    if options.quick:
        cells = [(500, 2, 0.2, 1e-2), (500, 20, 2.0, 5e-2), (500, 2, 0.2, 1e-3)]
    shares: dict[tuple[int, float, str], list[float]] = {}
    blended: list[float] = []
    for n, dimension, mu, error in cells:
        x, y = cube(n, dimension)
        uniform = partial(herd, x, y, Gaussian(mu), error=error, max_iter=MOST)
        fewest = len(uniform())
        for rule in STEPS:
            ours = partial(uniform, steps=rule)
            found = ours()
            result = interleave(ours, uniform, pairs=2 if options.quick else 3, budget=60.0)
            share = len(found) / fewest if found.reached else float("inf")
            reached = "" if found.reached else f", NOT reached in {MOST} steps ({found.error:.2g})"
            note = f"{len(found)} atoms, {len(found.picks)} steps{reached}; {share:.3g} of uniform's {fewest}"
            table.add(f"{n}, {dimension}, {error:g}, {rule}", result, note, atoms=len(found), steps=len(found.picks), reached=found.reached)
            shares.setdefault((dimension, error, rule), []).append(share)
            blended += [result.ratio] if rule == "blended" else []
    high = max(e for _, d, _, e in cells if d == 20)
    low = [max(shares[d, 1e-3, "fully-corrective"]) for _, d, _, e in cells if e == 1e-3]
    table.close(
        options,
        f"d = 20 at {high:g}: fully corrective {met(max(shares[20, high, 'fully-corrective']), 0.88)}, "
        f"blended {met(max(shares[20, high, 'blended']), 0.95)}; d ≤ 5 at 1e-3: fully corrective {met(max(low), 0.2)}; "
        f"time of blended, at most {met(max(blended), 3.0)}",
    )


def growing_with(sizes: list[int]) -> None:
    """Exponents of time in n: n²/2 similarities, and as many columns of n as there are picks."""

    def taken(n: int, dimension: int, mu: float, **settings: Any) -> float:
        x, y = cube(n, dimension)
        work = partial(herd, x, y, Gaussian(mu), **settings)
        with one_thread():
            return min(seconds(work, time.process_time) for _ in range(3))

    kinds: dict[str, Callable[[int], float]] = {
        "to 1e-2, d = 20": lambda n: taken(n, 20, 2.0, error=1e-2),
        "to 1e-2, d = 2": lambda n: taken(n, 2, 0.2, error=1e-2),
        "root n atoms, corrective": lambda n: taken(n, 20, 2.0, atoms=int(np.sqrt(n)), steps="fully-corrective"),
    }
    _, exponents = growth("growth of herding's time with n (seconds, best of 3)", sizes, kinds)
    print("exponents " + "; ".join(f"{kind}: {value:.2f}" for kind, value in exponents.items()), flush=True)


def main() -> None:
    """Three tables, and growth."""
    options = arguments(__doc__ or "")
    to_an_error(options)
    at_root_n_atoms(options)
    atoms_by_rule(options)
    growing_with([1_000, 2_000] if options.quick else [2_000, 4_000, 8_000, 16_000, 32_000])


if __name__ == "__main__":
    main()
