"""Statistics of runs: medians and ranges, success, ratios within pairs, scaling. Plain records in, plain rows out.

A failure counts: it takes infinitely long in medians of times to a gap and in profiles, and has its reason in the summary.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from simopt.compare.cell import PlannedRun
from simopt.compare.endings import no_optimum, refuses
from simopt.compare.record import Record
from simopt.compare.solver_claims import FALSE, NOT_PROVEN, TRUE

GAPS = (1e-2, 1e-4, 1e-6, 1e-8)
CONFIDENCE = 0.95
Setting = tuple[str, str]  # instance in words, machine
Series = tuple[str, str, str]  # instance in words without its size, machine, solver
APART = {"tol": "tol = {:g}", "time_limit": "limit = {:g} s", "threads": "threads = {}", "fingerprint": "data {:.8}"}


@dataclass(frozen=True)
class SummaryRow:
    """One solver on one instance on one machine. Seconds are medians over the successful runs (nan: none), with their range."""

    instance: str
    machine: str
    solver: str
    size: int | None
    conditioning: float | None
    sampling: str
    runs: int
    successes: int
    status: str
    reason: str
    seconds: float
    seconds_low: float
    seconds_high: float
    setup_seconds: float
    solve_seconds: float
    certificate_seconds: float
    relative_gap: float
    seconds_to_gap: tuple[float, ...] = field(metadata={"json": "times"})  # to each of `gaps`
    ratio: float  # median over the pairs: seconds of this one / of the fastest
    ratio_low: float
    ratio_high: float
    megabytes: float
    claim_verdict: str = ""  # the worst of the runs
    no_optimum: str = ""  # "infeasible" or "unbounded" where the solver says so and it is proven


def gaps(records: Iterable[Record]) -> tuple[float, ...]:
    """The gaps to which times are shown: 1e-2, 1e-4, 1e-6, 1e-8 as far as they were asked for, and the tolerance."""
    asked = {record.cell.tol for record in records}
    least = min(asked, default=GAPS[-1])
    return tuple(sorted({gap for gap in GAPS if gap >= least} | asked, reverse=True))


def by_setting(records: Iterable[Record]) -> dict[Setting, dict[str, list[Record]]]:
    """Runs by instance and machine, then by solver; both in the order in which they come first."""
    kept = list(records)
    words = titles(record.cell.frame for record in kept)
    found: dict[Setting, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in kept:
        found[(words[record.cell.frame], record.machine)][record.cell.candidate].append(record)
    return found


def titles(frames: Iterable[PlannedRun]) -> dict[PlannedRun, str]:
    """Each instance in words.

    If the same words stand for several, the differences are added. Runs to another tolerance, with another time limit, on more threads or
    on a changed file are not repetitions of one another.
    """
    alike: dict[str, list[PlannedRun]] = defaultdict(list)
    for frame in dict.fromkeys(frames):
        alike[frame.instance].append(frame)
    found = {}
    for words, same in alike.items():
        differ = [name for name in APART if len({getattr(frame, name) for frame in same}) > 1]
        for frame in same:
            found[frame] = ", ".join([words, *(APART[name].format(getattr(frame, name)) for name in differ)])
    return found


def series(records: Iterable[Record]) -> dict[Series, dict[int, list[Record]]]:
    """Runs that differ in size alone: by size, rising."""
    sized = [record for record in records if record.cell.size is not None]
    words = titles(replace(record.cell.frame, size=None) for record in sized)
    found: dict[Series, dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in sorted(sized, key=lambda r: r.cell.size or 0):
        name = words[replace(record.cell.frame, size=None)], record.machine, record.cell.candidate
        found[name][record.cell.size or 0].append(record)
    return found


def summary(records: Sequence[Record]) -> list[SummaryRow]:
    """A row for each instance, machine and solver."""
    wanted = gaps(records)
    found = []
    for (instance, machine), solvers in by_setting(records).items():
        best = fastest(solvers)
        for solver, runs in solvers.items():
            found.append(_row(instance, machine, solver, runs, solvers.get(best, []), wanted))
    return found


def _row(instance: str, machine: str, solver: str, runs: list[Record], best: list[Record], wanted: tuple[float, ...]) -> SummaryRow:
    good = [run for run in runs if run.success]
    ratios = paired(runs, best)
    bad = [run for run in runs if not run.success]
    status = Counter(run.status for run in (bad or runs)).most_common(1)[0][0]
    return SummaryRow(
        instance=instance,
        machine=machine,
        solver=solver,
        size=runs[0].cell.size,
        conditioning=runs[0].cell.conditioning,
        sampling=next((run.sampling for run in runs if run.sampling), ""),
        runs=len(runs),
        successes=len(good),
        status=status,
        reason=next((run.message for run in bad if run.status == status), ""),
        seconds=_median(run.seconds for run in good),
        seconds_low=min((run.seconds for run in good), default=math.nan),
        seconds_high=max((run.seconds for run in good), default=math.nan),
        setup_seconds=_median(run.setup_seconds for run in good),
        solve_seconds=_median(run.solve_seconds for run in good),
        certificate_seconds=_median(run.certificate_seconds for run in runs if not refuses([run])),
        relative_gap=_median(run.relative_gap for run in runs),
        seconds_to_gap=tuple(math.nan if refuses(runs) or no_optimum(runs) else time_to(runs, gap) for gap in wanted),
        ratio=_median(ratios),
        ratio_low=min(ratios, default=math.nan),
        ratio_high=max(ratios, default=math.nan),
        megabytes=_median(run.megabytes for run in runs if not refuses([run])),
        claim_verdict="" if (claimed := worst_claim(runs)) is None else claimed.claim_verdict,
        no_optimum=no_optimum(runs),
    )


def worst_claim(runs: Sequence[Record]) -> Record | None:
    """The first of the runs whose claim is FALSE, or else not proven, or else true; None where nothing was claimed."""
    return next((run for verdict in (FALSE, NOT_PROVEN, TRUE) for run in runs if run.claim_verdict == verdict), None)


def _median(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return statistics.median(known) if known else math.nan


def time_to(runs: Sequence[Record], gap: float) -> float:
    """As `typical`; nan for a gap that was not got to, nor asked for."""
    time = typical(runs, gap)
    return math.nan if math.isinf(time) and gap < runs[0].cell.tol else time


def typical(runs: Sequence[Record], gap: float) -> float:
    """Median seconds to a gap; ∞ where half of the runs or more did not get there."""
    return statistics.median(run.time_to(gap) for run in runs) if runs else math.inf


def fastest(solvers: dict[str, list[Record]]) -> str:
    """The solver of the smallest median time to its tolerance; "" where none got there."""
    times = {name: typical(runs, runs[0].cell.tol) for name, runs in solvers.items()}
    name = min(times, key=lambda key: times[key], default="")
    return name if name and math.isfinite(times[name]) else ""


def paired(runs: Sequence[Record], others: Sequence[Record]) -> list[float]:
    """Ratios of the times to the tolerance within each repetition in which both got there."""
    theirs = {run.cell.repetition: run.time_to(run.cell.tol) for run in others}
    found = []
    for run in runs:
        ours, other = run.time_to(run.cell.tol), theirs.get(run.cell.repetition, math.inf)
        if math.isfinite(ours) and math.isfinite(other) and other > 0:
            found.append(ours / other)
    return found


def by_machine(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Runs by machine, in the order in which the machines come first: no statistic over instances has runs of two machines."""
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[record.machine].append(record)
    return dict(found)


def success_rates(records: Sequence[Record]) -> dict[str, tuple[int, int]]:
    """Successful runs and all runs of each solver, where there is an optimum and it can take the problem; 0 of 0 where it nowhere can."""
    found: dict[str, tuple[int, int]] = {record.cell.candidate: (0, 0) for record in records}
    for solvers in by_setting(records).values():
        if no_optimum([run for runs in solvers.values() for run in runs]):
            continue
        for name, runs in solvers.items():
            counted = [run for run in runs if not refuses([run])]
            good, whole = found[name]
            found[name] = good + sum(run.success for run in counted), whole + len(counted)
    return found


@dataclass(frozen=True)
class Profile:
    """The fraction of the instances that a solver solves at a cost of at most x: see `profiles.performance` and `profiles.data`.

    `ratios` are the x at which it rises; `fractions` its values from there on. An instance that nobody solves counts in the denominator;
    `left_out` instances, on which not every solver was run, do not.
    """

    solver: str
    ratios: tuple[float, ...]
    fractions: tuple[float, ...] = field(metadata={"json": "shares"})
    instances: int
    left_out: int

    def at(self, ratio: float) -> float:
        """The fraction at a cost of at most `ratio`."""
        return max((share for r, share in zip(self.ratios, self.fractions, strict=True) if r <= ratio), default=0.0)


@dataclass(frozen=True)
class PowerLaw:
    """seconds ≈ a nᵇ, by least squares in logarithms. The interval of b needs three sizes; it is of the fit, not of the machine."""

    series: str
    machine: str
    solver: str
    exponent: float
    low: float
    high: float
    factor: float
    sizes: tuple[int, ...]
    failed: tuple[int, ...]


def scaling(records: Sequence[Record]) -> list[PowerLaw]:
    """A fit for each solver along each series of sizes (same data, conditioning, settings, machine), where it solved at least two."""
    found = []
    for (words, machine, solver), by_size in series(records).items():
        times = {size: typical(runs, runs[0].cell.tol) for size, runs in by_size.items()}
        solved = {size: time for size, time in times.items() if math.isfinite(time) and time > 0}
        if len(solved) >= 2:
            fitted = _power(np.array(list(solved), dtype=float), np.array(list(solved.values())))
            found.append(PowerLaw(words, machine, solver, *fitted, tuple(solved), tuple(size for size in times if size not in solved)))
    return found


def _power(sizes: np.ndarray, seconds: np.ndarray) -> tuple[float, float, float, float]:
    """b with its interval, and a."""
    x, y = np.log(sizes), np.log(seconds)
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    factor = math.exp(float(y.mean()) - slope * float(x.mean()))
    free = len(x) - 2
    if free < 1:
        return slope, math.nan, math.nan, factor
    from scipy.stats import t

    residuals = y - y.mean() - slope * centred
    error = math.sqrt(float(residuals @ residuals) / free / float(centred @ centred))
    reach = float(t.ppf(0.5 + CONFIDENCE / 2, free)) * error
    return slope, slope - reach, slope + reach, factor
