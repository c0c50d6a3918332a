"""Landmarked SVR with d = 100 from 10⁴ to 10⁶ samples, from a memory map and from a Dask array: time, its exponent, and memory.

The whole solve is measured, with its certificate. Memory is what is resident and anonymous above what was so before; the pages of the map
are the features themselves. It is counted in vectors of n numbers beside blocks of stated size: the solver's memory limit for copies of
rows, and a Dask chunk. Passes are the rows that are read of a Dask array in the whole solve, fingerprints and checks included, over n. At
10⁶, to 1e-9, they are:

* 1 check that all is finite;
* 1 for the unit of the features, with the fingerprint;
* 6 of the solver (w = 0 with the sample, its point, Newton steps on all samples, the working set);
* 1 for the certificate (Ψw, Ψᵀv of two candidates, both in intervals, as so many samples need).

The second fingerprint joins the last pass: it is about the very data that are on record. That pass trusts nothing that the solver computed.

A lower limit of the time is printed: the two fingerprints are SHA-256 of every byte, and no other pass can do less than Ψw and Ψᵀv with
each block. Both are measured by blocks that stay in the cache. Products on a device would spare little: their time, and how much faster the
solve would be at most without them, is printed too.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, machine, met, one_thread

from simopt.data.row_blocks import RowBlocks
from simopt.problems.bounds import Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solvers.hinges.newton import MEMORY_LIMIT
from simopt.solving.entry_points import solve
from simopt.solving.solution import Solution

D = 100
CHUNK = 20_000  # rows
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
VECTORS = 20.0  # target
EXPONENT = 1.1  # target: linear
PASSES = 10.0  # target
READINGS = 2.0  # target, for each pass
TOL = 1e-9


def anonymous() -> float:
    """Bytes that are resident and belong to no file (Linux; nan elsewhere)."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024.0 * float(line.split()[1]) for line in lines if line.startswith("RssAnon")), float("nan"))


def peak_of(work: Callable[[], Solution]) -> tuple[Solution, float]:
    """The result and the largest growth of anonymous memory, looked at every 5 ms."""
    before, peak, done = anonymous(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], anonymous() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return work(), peak[0]
    finally:
        done.set()
        watcher.join()


def write(path: Path, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian features of norm about 1 in a file, block by block, and targets linear in them with Laplace noise."""
    rng = np.random.default_rng(0)
    w, targets = rng.normal(size=D), np.empty(n)
    with path.open("wb") as file:
        for start in range(0, n, CHUNK):
            block = rng.normal(size=(min(CHUNK, n - start), D)) / np.sqrt(D)
            block.tofile(file)
            targets[start : start + len(block)] = block @ w + 0.3 * rng.laplace(size=len(block))
    return np.memmap(path, dtype=np.float64, mode="r", shape=(n, D)), targets


class CountedRows:
    """Rows, and how many were asked for."""

    ndim = 2

    def __init__(self, features: np.ndarray) -> None:
        self.features, self.shape, self.dtype, self.read = features, features.shape, features.dtype, 0

    def __getitem__(self, index: Any) -> np.ndarray:
        found = self.features[index]
        self.read += len(found)
        return found


def lazily(features: Any) -> Any:
    """The same rows as a Dask array."""
    import dask.array as da

    return da.from_array(features, chunks=(CHUNK, D), meta=np.empty((0, 0)))


def once(features: np.ndarray) -> float:
    """Seconds that it takes to read them all, block by block."""
    begun = time.perf_counter()
    for start in range(0, len(features), CHUNK):
        np.sum(features[start : start + CHUNK])
    return time.perf_counter() - begun


def limit(features: np.ndarray) -> tuple[float, float]:
    """Seconds that one fingerprint takes, and Ψw and Ψᵀv in one pass."""
    digest, w, g = hashlib.sha256(), np.ones(D), np.zeros(D)
    begun = time.perf_counter()
    for _, block in RowBlocks(features):
        digest.update(block)
    hashed = time.perf_counter() - begun
    for _, block in RowBlocks(features):
        g += block.T @ (block @ w)
    return hashed, time.perf_counter() - begun - hashed


def main() -> None:
    """Five sizes, or those of `--sizes`; λ = 1e-3, gap/scale ≤ 1e-9."""
    options = arguments(__doc__ or "", sizes=(int, "n, such as 10000,100000 (default: five up to a million)"))
    sizes = sorted(options.sizes or (SIZES[:2] if options.quick else SIZES))
    with tempfile.TemporaryDirectory() as folder:  # compilation is neither time nor memory of a solve
        solve(LandmarkedSVR(*write(Path(folder) / "features", sizes[0]), Penalty(1e-3), 0.1), tol=TOL)
    sizes_of = f"memory for rows {MEMORY_LIMIT / 1e6:.0f} MB, Dask chunks {8e-6 * CHUNK * D:.0f} MB"
    print(f"\n## landmarked SVR, d = {D}, streamed; {sizes_of}\n{machine()}")
    rows: list[dict[str, Any]] = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder, one_thread():
            mapped, targets = write(Path(folder) / "features", n)
            counted = CountedRows(mapped)
            for place, view in (("memory map", mapped), ("Dask array", lazily(counted))):
                reading = once(mapped)
                begun = time.perf_counter()
                problem = LandmarkedSVR(view, targets, Penalty(1e-3), 0.1)
                checked = time.perf_counter() - begun
                found, peak = peak_of(lambda problem=problem: solve(problem, tol=TOL))
                whole = time.perf_counter() - begun
                assert found.certificate is not None
                hashed, product = limit(mapped)
                passes = counted.read / n
                blocks = MEMORY_LIMIT + (8 * CHUNK * D if place == "Dask array" else 0)
                row = {
                    "place": place,
                    "n": n,
                    "check": checked,
                    "seconds": found.provenance.solve_seconds,
                    "gap": found.certificate.relative_gap,
                    "megabytes": peak / 1e6,
                    "passes": passes,
                    "readings": whole / reading,
                    "hashed": hashed / reading,
                    "least": (2.0 * hashed + passes * product) / reading,
                    "products": passes * product / whole,
                    "vectors": max(peak - blocks, 0.0) / (8 * n),
                }
                rows.append(row)
                print(
                    f"{place} n = {n:<8} check {checked:6.2f} s  solve {row['seconds']:7.3f} s  gap/scale {row['gap']:.0e}  "
                    f"{row['megabytes']:5.0f} MB, beside blocks {row['vectors']:.1f} vectors of n; all of it takes "
                    f"{row['readings']:.0f} times reading them" + (f", in {row['passes']:.0f} passes" if row["passes"] else ""),
                    flush=True,
                )
    close(options, rows)


def close(options: Any, rows: list[dict[str, Any]]) -> None:
    """Exponents and the largest memory against their targets."""
    words = []
    for place in ("memory map", "Dask array"):
        mine = [row for row in rows if row["place"] == place]
        if len(mine) < 2:  # no slope
            continue
        exponent = np.polyfit(np.log([row["n"] for row in mine]), np.log([row["seconds"] for row in mine]), 1)[0]
        words.append(f"{place}: time grows as n to the power {met(float(exponent), EXPONENT)}")
    words.append(f"vectors of n beside the blocks at the largest n {met(max(row['vectors'] for row in rows[-2:]), VECTORS)}")
    words.append(f"passes at the largest n {met(rows[-1]['passes'], PASSES)}")
    last = rows[-1]
    words.append(f"time in units of as many readings {met(last['readings'] / last['passes'], READINGS)}")
    words.append(
        f"one SHA-256 of the features takes {last['hashed']:.0f} readings: two fingerprints, and Ψw and Ψᵀv in each pass, would alone take "
        f"{last['least'] / last['passes']:.2g} in the same units; all of it takes {last['readings'] / last['least']:.2g} times this limit"
    )
    words.append(
        f"those products are {last['products']:.0%} of the time: a device that took none for them (features on a GPU) would make all of it "
        f"at most {1.0 / (1.0 - last['products']):.2g} times as fast"
    )
    print("; ".join(words), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": machine(), "summary": "; ".join(words), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
