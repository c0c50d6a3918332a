"""Interleaved timing of two ways to do one thing, on one thread, with peak memory and a line about the machine."""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import multiprocessing
import multiprocessing.process
import os
import platform
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

PAIRS = 9
BUDGET = 60.0  # seconds; a slow cell takes as many pairs as fit
SLOW = 5.0  # seconds; a run of this length needs no warm-up before it
GRACE = 3.0  # seconds that a stopped process has to clean up
Work = Callable[[], object]
Clock = Callable[[], float]
T = TypeVar("T")
PATIENCE = 20  # times the limit that a process has of the wall's clock where the limit is the processor's


class Ended(RuntimeError):
    """A process ended without a result; `status` is negative where a signal ended it."""

    def __init__(self, status: int | None) -> None:
        self.status = status
        super().__init__(f"its process ended with status {status} and without a result")


@dataclass(frozen=True)
class Scatter:
    """Seconds of one candidate: median, min, max."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Pairs:
    """Ours against a peer: spreads, the ratio of the medians, the range of the ratios pair by pair, peak memory in MB above the data."""

    ours: Scatter
    peer: Scatter
    ratio: float
    ratio_low: float
    ratio_high: float
    pairs: int
    ours_megabytes: float
    peer_megabytes: float


def interleave(ours: Work, peer: Work, *, pairs: int = PAIRS, budget: float = BUDGET, clock: Clock = time.perf_counter) -> Pairs:
    """Run ours and the peer in turn, each pair in the other order, after one warm-up of both.

    `clock` is that of the wall; `time.process_time` counts what the processor did for one thread, and less of what others did beside it.
    Where the first run of the peer takes over 5 s, it is the first pair with a run of ours after the warm-up. The peer's memory is then not
    measured (nan), since that takes a run by itself.
    """
    durations: tuple[list[float], list[float]] = ([], [])
    with one_thread():
        first = seconds(ours, clock), seconds(peer, clock)
        megabytes = peak_megabytes(ours), peak_megabytes(peer) if first[1] <= SLOW else float("nan")
        if first[1] > SLOW:
            durations[0].append(seconds(ours, clock))
            durations[1].append(first[1])
        start = time.perf_counter()
        while len(durations[0]) < pairs:
            # the next pair would take about as long as the first one did
            if len(durations[0]) >= 1 and time.perf_counter() - start + sum(first) > budget:
                break
            for which in (0, 1) if len(durations[0]) % 2 == 0 else (1, 0):
                durations[which].append(seconds((ours, peer)[which], clock))
    ratios = [a / b for a, b in zip(*durations, strict=True)]
    spreads = [Scatter(statistics.median(t), min(t), max(t)) for t in durations]
    return Pairs(*spreads, spreads[0].median / spreads[1].median, min(ratios), max(ratios), len(ratios), *megabytes)


def within(limit: float, work: Callable[[], T], *, processor: bool = False) -> T | None:
    """What `work` returns, or None if it takes longer: it then is stopped. It runs in a process of its own, a copy of this one.

    Compiled peers look at no clock. Where processes cannot be copied (Windows), it runs here, without a limit. The clock is the wall's, or
    the processor's: that limit the work may set anew, by `processor_limit`.

    Raises
    ------
    Ended
        when the process ends without a result.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return work()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def run() -> None:
        with suppress(KeyboardInterrupt):
            if processor:
                processor_limit(limit)
            theirs.send(work())

    child = context.Process(target=run)
    child.start()
    theirs.close()  # so that the end of the child is the end of the pipe
    try:
        if not ours.poll(PATIENCE * limit if processor else limit):
            return None
        found: T = ours.recv()
        child.join(GRACE)  # it is about to end by itself
        return found
    except EOFError:
        child.join(GRACE)
        if processor and child.exitcode == -signal.SIGXCPU:
            return None
        raise Ended(child.exitcode) from None
    finally:
        _end(child)


def processor_limit(seconds: float) -> None:
    """From now on this process may use so many seconds of the processor; then a signal ends it, whatever it does.

    On Linux `time.process_time` then goes by ticks of some milliseconds; what `resource.getrusage` says stays exact.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    whole = math.ceil(time.process_time() + seconds)  # the system counts whole ones
    resource.setrlimit(resource.RLIMIT_CPU, (whole, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _end(child: multiprocessing.process.BaseProcess) -> None:
    """Ctrl-C, on which the driver ends what it has started (ECOS runs in a process too); then the end, for what does not listen."""
    if child.is_alive() and child.pid is not None:
        os.kill(child.pid, signal.SIGINT)
        child.join(GRACE)
    child.kill()
    child.join()


def seconds(work: Work, clock: Clock = time.perf_counter) -> float:
    """Time of one call, garbage collection kept out."""
    gc.collect()
    gc.disable()
    try:
        start = clock()
        work()
        return clock() - start
    finally:
        gc.enable()


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS and OpenMP on one thread."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def peak_megabytes(work: Work) -> float:
    """Peak resident memory of one call above what was resident before it (Linux; nan elsewhere). Not timed: it runs by itself."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return float("nan")
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # freed memory that the allocator keeps would be resident already, and reusing it would cost nothing
    reset.write_text("5")  # the high-water mark starts again at what is resident now
    before = _status("VmRSS")
    with one_thread():
        work()
    return (_status("VmHWM") - before) / 1024.0


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return float(line.split()[1])
    return float("nan")


def gaussian_problem(n: int, dimension: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Uniform inputs in a cube, Gaussian kernel with the median distance as bandwidth, a smooth target with 10 % noise, centred."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, dimension))
    squares = np.maximum(np.sum(x**2, axis=1)[:, None] + np.sum(x**2, axis=1) - 2 * x @ x.T, 0.0)
    gram = np.exp(-squares / (2 * np.median(squares[:500, :500])))
    gram = 0.5 * (gram + gram.T)
    np.fill_diagonal(gram, 1.0)
    targets = np.sin(6 * x[:, 0]) + x[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    return gram, targets - targets.mean()


def machine(*peers: str) -> str:
    """Processor, cores, load and versions, those of the packages that peers come from too, in one line."""
    import scipy

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return (
        f"{model}, {os.cpu_count()} cores (one used), load {load:.1f}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}" + "".join(f", {name} {version(name)}" for name in peers)
    )


def arguments(description: str, **lists: tuple[Callable[[str], Any], str]) -> argparse.Namespace:
    """Options that every benchmark has, and `--name A,B` for each of `lists`: what reads one item, and the help; None if not given."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small sizes and two pairs, to see that it runs")
    parser.add_argument("--json", metavar="FILE", help="also write the rows to FILE")
    for name, (item, told) in lists.items():
        parser.add_argument(f"--{name}", type=lambda text, item=item: [item(part) for part in text.split(",")], help=told)
    return parser.parse_args()


def size(text: str) -> tuple[int, int]:
    """10000x100 as (10000, 100)."""
    n, sign, d = text.partition("x")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r} given, a size such as 10000x100 needed")
    return int(n), int(d)


def one_of(*names: str) -> Callable[[str], str]:
    """Reads one of the names."""

    def read(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"{text!r} given, one of {', '.join(names)} needed")
        return text

    return read


class Table:
    """Prints rows as they come and keeps them for --json. `peers` are packages whose versions are told."""

    def __init__(self, title: str, labels: str, *peers: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self.title = title
        self.machine = machine(*peers)
        print(f"\n## {title}\n{self.machine}")
        print(f"{labels:<34} {'ours ms (min-max)':>26} {'peer ms (min-max)':>26} {'ratio (min-max)':>20} pairs  MB ours/peer")

    def add(self, label: str, result: Pairs, note: str = "", **values: Any) -> None:
        """One cell."""
        self.rows.append({"label": label, **asdict(result), **values})
        print(
            f"{label:<34} {_milliseconds(result.ours):>26} {_milliseconds(result.peer):>26} "
            f"{f'{result.ratio:.3f} ({result.ratio_low:.3f}-{result.ratio_high:.3f})':>20} {result.pairs:>5}  "
            f"{result.ours_megabytes:.0f}/{result.peer_megabytes:.0f}  {note}".rstrip(),
            flush=True,
        )

    def close(self, options: argparse.Namespace, summary: str) -> None:
        """The verdict line, and the file."""
        print(summary, flush=True)
        if options.json:
            Path(options.json).write_text(
                json.dumps({"title": self.title, "machine": self.machine, "summary": summary, "rows": self.rows}, indent=1)
            )


def exponent(durations: Mapping[int, float]) -> float:
    """k such that time grows as size to the power k: least squares on the logarithms of both."""
    return float(np.polyfit(np.log(list(durations)), np.log(list(durations.values())), 1)[0])


def growth(title: str, sizes: list[int], kinds: dict[str, Callable[[int], float]]) -> tuple[dict[str, dict[int, float]], dict[str, float]]:
    """Prints and returns what each kind takes at each size, and the exponents: least squares on the logarithms."""
    print(f"\n## {title}\n{machine()}")
    durations: dict[str, dict[int, float]] = {}
    exponents = {}
    for kind, work in kinds.items():
        durations[kind] = {size: work(size) for size in sizes}
        exponents[kind] = exponent(durations[kind])
        row = "  ".join(f"{size:.0e}: {taken:.4f}" for size, taken in durations[kind].items())
        print(f"{kind:<24} {row}   exponent {exponents[kind]:.2f}", flush=True)
    return durations, exponents


def part_of(options: argparse.Namespace, part: str) -> argparse.Namespace:
    """The options of one of several tables of a benchmark: its record gets a name of its own."""
    named = argparse.Namespace(**vars(options))
    named.json = None if options.json is None else f"{options.json}.{part}"
    return named


def _milliseconds(scatter: Scatter) -> str:
    return f"{1e3 * scatter.median:.2f} ({1e3 * scatter.low:.2f}-{1e3 * scatter.high:.2f})"


def met(value: float, target: float) -> str:
    """A figure against its target (smaller is better); targets are for full sizes, so that --quick does not judge."""
    if "--quick" in sys.argv:
        return f"{value:.3g} (target at full size {target:g})"
    return f"{value:.3g} (target {target:g}: {'met' if value <= target else 'MISSED'})"
