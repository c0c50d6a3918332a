"""Landmarked SVR with d = 100 from a Dask array whose chunks two local workers make anew each time: memory of all processes, and a kill.

Nothing of the n × d features is ever kept: a chunk is a function of its number. The same problem is solved twice, and the first time one of
the workers is killed (SIGKILL) on the way. Memory is the largest resident size of this process, which is the scheduler too, and of every
worker that there was. The sizes are added up whether or not they were reached at the same time. Linux only, since /proc is read.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, machine, met, one_thread

from simopt.model.status import Status
from simopt.problems.bounds import Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solving.entry_points import solve
from simopt.solving.solution import Solution

D = 100
CHUNK = 20_000  # rows: 16 MB
WORKERS = 2
WORKER_LIMIT = 1e9  # bytes, Dask's memory_limit
TOL = 1e-6
PATIENCE = 1e6  # seconds
GIGABYTES = 4.0  # target
KILL = 2e-5  # seconds a row until a worker is killed: a third of what the whole takes, or less


def chunk(number: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Uniform features of norm about 1, and targets linear in them with Laplace noise: always the same for the same number.

    The features are made some fifty times, so by what is quick: uniform numbers of SFC64, a tenth of what Gaussian ones of PCG64 cost.
    """
    rng, w = np.random.Generator(np.random.SFC64([1, number])), np.random.default_rng(0).normal(size=D)
    features = rng.random(size=(rows, D))
    features -= 0.5
    features *= np.sqrt(12 / D)
    return features, features @ w + 0.3 * rng.laplace(size=rows)


def made_by_workers(n: int) -> tuple[Any, np.ndarray]:
    """The features as a Dask array, of which there is nothing but the numbers of its chunks, and the targets."""
    import dask
    import dask.array as da

    sizes = [min(CHUNK, n - start) for start in range(0, n, CHUNK)]
    features = dask.delayed(lambda number, rows: chunk(number, rows)[0], pure=True)
    lazily = [da.from_delayed(features(i, rows), (rows, D), np.float64) for i, rows in enumerate(sizes)]
    return da.concatenate(lazily), np.concatenate([chunk(i, rows)[1] for i, rows in enumerate(sizes)])


class Peaks:
    """The largest resident size, in bytes, of this process and of each that it started, looked at every 20 ms until `stop`."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again at what is resident now
        self.of: dict[int, float] = {}
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()

    def stop(self) -> float:
        """Their sum."""
        self._done.set()
        self._watcher.join()
        return sum(self.of.values())

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            for process in family(os.getpid()):
                self.of[process] = max(self.of.get(process, 0.0), high_water(process))


def family(process: int) -> list[int]:
    """A process and all that descend from it."""
    found = [process]
    for each in found:
        try:
            found += [int(child) for task in Path(f"/proc/{each}/task").iterdir() for child in (task / "children").read_text().split()]
        except OSError:  # it has ended
            continue
    return found


def high_water(process: int) -> float:
    """The largest size in bytes that a process had resident; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((1024.0 * float(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0.0)


@contextmanager
def killing(cluster: Any, after: float) -> Iterator[list[int]]:
    """One worker is killed `after` so many seconds, unless the work is done by then; the list holds it if it was."""
    killed: list[int] = []
    done = threading.Event()

    def strike() -> None:
        if not done.wait(after):
            process = next(iter(cluster.workers.values())).pid
            os.kill(process, signal.SIGKILL)
            killed.append(process)

    striker = threading.Thread(target=strike)
    striker.start()
    try:
        yield killed
    finally:
        done.set()
        striker.join()


def certified(solution: Solution) -> tuple[Any, ...]:
    """The point and its certificate, every bit of them."""
    assert solution.point is not None and solution.certificate is not None
    return solution.certificate.lower, solution.certificate.upper, *(np.asarray(value).tobytes() for value in solution.point.values())


def main() -> None:
    """n = 10⁷, 8 GB; λ = 1e-3, gap/scale ≤ 1e-6. The features are read some fifty times, which takes an hour or more."""
    from dask.distributed import Client, LocalCluster

    options = arguments(__doc__ or "", sizes=(int, "n, such as 100000,1000000 (default: ten million)"))
    rows: list[dict[str, Any]] = []
    title = f"landmarked SVR, d = {D}, chunks made anew by {WORKERS} Dask workers of {WORKER_LIMIT / 1e9:g} GB, one of them killed"
    print(f"\n## {title}\n{machine()}")
    begun = np.random.default_rng(0).normal(size=(300, D))
    solve(LandmarkedSVR(begun, begun[:, 0], Penalty(1e-3), 0.1), tol=TOL)  # compilation is neither time nor memory of a solve
    for n in options.sizes or ([200_000] if options.quick else [10_000_000]):
        cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, memory_limit=WORKER_LIMIT, dashboard_address=":0")
        with one_thread(), cluster, Client(cluster):
            view, targets = made_by_workers(n)
            problem = LandmarkedSVR(view, targets, Penalty(1e-3), 0.1)
            answers: list[Solution] = []
            for name, after in (("one killed", KILL * n), ("undisturbed", threading.TIMEOUT_MAX)):
                peaks, start = Peaks(), time.perf_counter()
                with killing(cluster, after) as killed:
                    answers.append(solve(problem, tol=TOL, time_limit=PATIENCE))
                seconds, peak = time.perf_counter() - start, peaks.stop()
                certificate = answers[-1].certificate
                assert certificate is not None and answers[-1].status is Status.OPTIMAL
                same = certified(answers[0]) == certified(answers[-1])
                assert bool(killed) == (name == "one killed"), "the work was done before a worker could be killed"
                row = {"name": name, "n": n, "seconds": seconds, "gigabytes": peak / 1e9, "gap": certificate.relative_gap, "same": same}
                rows.append({**row, "processes": {str(process): size for process, size in peaks.of.items()}})
                print(
                    f"n = {n:<9} {name:<12} {seconds:8.1f} s  gap/scale {certificate.relative_gap:.0e}  {peak / 1e9:5.2f} GB in "
                    f"{len(peaks.of)} processes  {'the same answer, bit for bit' if same else 'ANOTHER ANSWER'}",
                    flush=True,
                )
    worst, agree = max(row["gigabytes"] for row in rows), all(row["same"] for row in rows)
    summary = (
        f"gigabytes of all processes {met(worst, GIGABYTES)}; with a worker killed {'the same' if agree else 'ANOTHER'} certified answer"
    )
    print(summary, flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": machine(), "summary": summary, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
