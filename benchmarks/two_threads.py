"""Two threads against one (`threads.at_once`): Gram tiles, blocks of a herd, sweeps over streamed features. Wall clock, medians of pairs.

Results are the same to the last bit, which is asserted. The most that two threads can give is measured in the same minutes. For Gram tiles
and herds that is arithmetic in the cache: products of two tiles, which BLAS does without Python. For sweeps it is reading memory, since
their products read each number once for two operations. Memory is read by halves, which is what it can give. It is also read in blocks as
large as those of the sweeps, after each of which a thread waits for Python's lock. Where other work uses the same cores, all of these fall.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from landmarked_svr_stream import write
from pairs import arguments, machine, one_thread

from simopt.core.threads import at_once, in_order
from simopt.data.row_blocks import RowBlocks
from simopt.data.similarities import Gaussian
from simopt.estimators.herding.herd import herd
from simopt.problems.bounds import Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solvers.herding.mean_embedding import mean_embedding
from simopt.solvers.hinges.hinge_stage import HingeStage
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import QuadraticPenalty as Strength
from simopt.solving.entry_points import solve

TARGET = 1.7
PAIRS = 5
TILE = 384

Work = Callable[[], Any]


def pairs_of(work: Work, pairs: int) -> tuple[float, float, float, list[Any]]:
    """Medians of seconds on one thread, on two, and of their ratio, after one run of each; and what came out."""
    times: dict[int, list[float]] = {1: [], 2: []}
    found = []
    for turn in range(pairs + 1):
        for count in (1, 2) if turn % 2 else (2, 1):
            with at_once(count):
                begun = time.perf_counter()
                out = work()
                spent = time.perf_counter() - begun
            if turn:
                times[count].append(spent)
            else:
                found.append(out)
    one, two = times[1], times[2]
    return statistics.median(one), statistics.median(two), statistics.median(a / b for a, b in zip(one, two, strict=True)), found


def arithmetic() -> float:
    """Products of tiles that stay in the cache."""
    tile = np.ones((TILE, TILE))
    return sum(in_order(lambda _: float(np.dot(tile, tile)[0, 0]), range(150)))


def ten_repetitions(half: np.ndarray) -> list[float]:
    """Sums of a half of the features: reading that ends for nothing."""
    return [float(np.sum(half)) for _ in range(10)]


@contextmanager
def kinds(quick: bool) -> Iterator[dict[str, tuple[Work, str]]]:
    """What is measured, by name, and which limit it has."""
    rng = np.random.default_rng(0)
    n, m, many = (2000, 30_000, 8000) if quick else (24_000, 300_000, 200_000)
    X = rng.uniform(size=(n, 20))
    y = np.where(X[:, 0] > 0.5, 1.0, -1.0)
    X_many = rng.uniform(size=(many, 20))
    y_many = np.where(X_many[:, 0] > 0.5, 1.0, -1.0)
    with tempfile.TemporaryDirectory() as folder:
        mapped, targets = write(Path(folder) / "features", m)
        problem = LandmarkedSVR(mapped, targets, Penalty(1e-3), 0.1)
        stage = HingeStage(
            RowBlocks(mapped),
            Hinges(targets - 0.1, targets + 0.1, np.full(m, 1.0 / m)),
            Strength(1e-3),
            np.zeros(mapped.shape[1]),
            np.full(mapped.shape[1], 0.1),
            0.1,
        )

        def sweep() -> np.ndarray:
            stage.pull[:], stage.g[:] = 0.0, 0.0
            stage.set_predictions()
            stage.sweep()
            stage.update_gap()
            return stage.g.copy()

        def embedded(precision: str) -> Work:
            return lambda: mean_embedding(X, y, Gaussian(2.0), precision=precision).values

        def herded() -> np.ndarray:
            return herd(X_many, y_many, Gaussian(2.0), block_size=many // 8, error=0.02, precision="float32").weights

        def solved() -> np.ndarray:
            found = solve(problem, tol=1e-9)
            assert found.optimal and found.point is not None
            return np.asarray(found.point["w"])

        yield {
            f"Gram tiles, float64, n = {n}": (embedded("float64"), "arithmetic"),
            f"Gram tiles, float32, n = {n}": (embedded("float32"), "arithmetic"),
            f"herd in 8 blocks, n = {many}": (herded, "arithmetic"),
            f"three sweeps, m = {m}": (sweep, "reading by halves"),
            f"SVR streamed, m = {m}, whole": (solved, "reading by halves"),
            "limit: arithmetic": (arithmetic, "arithmetic"),
            "limit: reading by halves": (lambda: list(in_order(ten_repetitions, np.split(mapped, 2))), "reading by halves"),
            "limit: reading in blocks": (
                lambda: sum(in_order(lambda item: float(np.sum(item[1])), RowBlocks(mapped))),
                "reading in blocks",
            ),
        }


def main() -> None:
    """The limits, then all of the work."""
    options = arguments(__doc__ or "")
    print(f"\n## two threads against one\n{machine()}")
    with one_thread(), kinds(options.quick) as known:
        limits: dict[str, float] = {}
        rows: list[dict[str, Any]] = []
        for name in sorted(known, key=lambda name: not name.startswith("limit")):
            work, limit = known[name]
            one, two, ratio, found = pairs_of(work, 2 if options.quick else PAIRS)
            assert all(np.array_equal(found[0], other) for other in found[1:]), f"{name}: another result on two threads"
            if name.startswith("limit"):
                limits[limit] = ratio
                rest = ""
            else:
                verdict = "met" if ratio >= TARGET else "MISSED"
                rest = f" (target {TARGET}: {verdict}), {limit} allows {limits[limit]:.2f}: {ratio / limits[limit]:.0%} of that"
            rows.append({"label": name, "one": one, "two": two, "ratio": ratio})
            print(f"{name:<34} {1e3 * one:8.1f} ms {1e3 * two:8.1f} ms   {ratio:.2f} times as fast{rest}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
