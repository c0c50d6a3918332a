"""EXC ordinal regression with learned thresholds to a relative gap of 1e-9, against CLARABEL, ECOS and SCS.

Five classes of equal frequency, γ = 1, Δ = 0; the ball has the norm of the penalised solution. The conic solvers get the declaration, which
is the form that canonicalises fastest (predictions are a variable), and are timed with their canonicalisation. Each runs once a cell, in a
process of its own that is stopped after 15 s. A size no smaller than one that took longer is not tried. Our
seconds are those of the processor, without driver and certificates; in ratios both times are those of the clock. `--sizes`, `--strengths`
and `--peers` make a run in pieces.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
from operations import limit
from pairs import Table, arguments, exponent, met, one_of, one_thread, peak_megabytes, seconds, size, within

from simopt.backends.table import FIRST_CLASS
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.solvers.hinges.stage import StageFit
from simopt.solvers.ordinal.learned_thresholds import Ordinal
from simopt.solvers.ordinal.threshold_stage import compile_kernels, threshold_fits
from simopt.solving.entry_points import certify, solve

TOL = 1e-9  # of ours
LIMIT = 15.0  # seconds; beyond that "over 15 s" is the result
RUNS = 9
CLASSES = 5
CONIC = {backend.name: backend.in_seconds for backend in FIRST_CLASS}  # up to so many numbers in Ψ
STRENGTHS = (1e-3, 1e-5)
SIZES = ((1000, 50), (10_000, 100), (100_000, 100))
SECONDS = {(1000, 50): (0.010, 0.010), (10_000, 100): (0.080, 0.080), (100_000, 100): (0.35, 0.35)}  # for λ = 1e-3 and 1e-5
GROWING = 100  # d of the sizes that tell how time grows with n
RATIOS = {(1000, 50): 6.0, (10_000, 100): 40.0}  # CLARABEL's time over ours, at least


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian features of norm about 1, labels cut at equal frequencies from scores linear in them with Gaussian noise."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    ranks = np.argsort(np.argsort(features @ rng.normal(size=d) + 0.3 * rng.normal(size=n)))
    return features, 1.0 + np.floor(ranks * CLASSES / n)


def ours(problem: EXCOrdinal) -> StageFit:
    """Newton without the driver."""
    parts = Ordinal.of(problem)
    assert parts is not None
    *_, fit = threshold_fits(parts.rows, parts.chain.hinges, parts.bound, goal=TOL * problem.scale())
    return fit


def our_gap(problem: EXCOrdinal) -> float:
    """gap/scale, certified."""
    parts = Ordinal.of(problem)
    assert parts is not None
    found = parts.iterate(replace(ours(problem), gap=0.0))
    return certify(problem, found.point, found.multipliers).relative_gap


@dataclass(frozen=True, eq=False)
class PenaltyAndBall:
    """One penalised problem, and its twin in the ball of its solution's norm."""

    features: np.ndarray
    labels: np.ndarray
    strength: float

    @cached_property
    def penalised(self) -> EXCOrdinal:
        """λ as given."""
        return EXCOrdinal(self.features, self.labels, CLASSES, bound=Penalty(self.strength))

    @cached_property
    def ball(self) -> EXCOrdinal:
        """B = ‖w_λ‖."""
        return EXCOrdinal(self.features, self.labels, CLASSES, bound=Ball(float(np.linalg.norm(ours(self.penalised).w))))


def measure(
    table: Table, cell: PenaltyAndBall, form: str, problem: EXCOrdinal, peers: list[str], too_large: dict[tuple[str, str], int], runs: int
) -> None:
    """Ours, then every peer once, and its time over ours."""
    n, d = cell.features.shape
    own: dict[str, Any] = {"n": n, "d": d, "strength": cell.strength, "form": form}
    label = f"{n} x {d}, λ = {cell.strength:g}, {form}"
    with one_thread():
        gap = our_gap(problem)
        times = [seconds(partial(ours, problem), process_time) for _ in range(runs)]
        beside_peers = min(seconds(partial(ours, problem)) for _ in range(3))  # whose seconds are not those of the processor
        megabytes = peak_megabytes(partial(ours, problem))
    mine = statistics.median(times)
    table.rows.append({"label": label, **own, "median": mine, "low": min(times), "high": max(times), "gap": gap, "megabytes": megabytes})
    print(
        f"{label}: {1e3 * mine:.1f} ms ({1e3 * min(times):.1f}-{1e3 * max(times):.1f}), gap/scale {gap:.0e}, {megabytes:.0f} MB", flush=True
    )
    if mine > dict(zip(STRENGTHS, SECONDS.get((n, d), (np.inf,) * len(STRENGTHS)), strict=True)).get(cell.strength, np.inf):
        print(limit(label, cell.features, partial(ours, problem)), flush=True)
    for name in peers:
        row: dict[str, Any] = {"label": f"{name}: {label}", "peer": name, **own}
        found = None
        if n * d <= CONIC[name] and n * d < too_large.get((name, form), n * d + 1):
            with one_thread():
                found = within(LIMIT, partial(solve, problem, name, tol=1e-6 if name == "scs" else 1e-8))
            if found is None:
                too_large[name, form] = n * d
        else:
            continue
        if found is None or found.certificate is None:
            row |= {"over": LIMIT, "ratio": LIMIT / beside_peers} if found is None else {"failed": found.reported_status}
            word = f"over {LIMIT:.0f} s" if found is None else f"no point: {found.reported_status}"
        else:
            row["seconds"] = found.provenance.setup_seconds + found.provenance.solve_seconds
            row["gap"], row["ratio"] = found.certificate.relative_gap, row["seconds"] / beside_peers
            word = f"{row['seconds']:.3f} s, gap/scale {row['gap']:.0e}, {row['ratio']:.0f} x ours"
        print(f"  {name}: {word}", flush=True)
        table.rows.append(row)


def summary(rows: list[dict[str, Any]]) -> str:
    """Every target, met or missed, and how time grows with n from the smallest to the largest size of one d."""
    words = []
    for (n, d), targets in SECONDS.items():
        for strength, target in zip(STRENGTHS, targets, strict=True):
            mine = [row["median"] for row in rows if (row["n"], row["d"], row["strength"]) == (n, d, strength) and "median" in row]
            words += [f"{n} x {d}, λ = {strength:g}, seconds {met(max(mine), target)}"] if mine else []
    for (n, d), target in RATIOS.items():
        ratios = [row["ratio"] for row in rows if (row["n"], row["d"]) == (n, d) and row.get("peer") == "clarabel" and "ratio" in row]
        words += [f"{n} x {d}, our share of CLARABEL's time {met(1.0 / min(ratios), 1.0 / target)}"] if ratios else []
    times = {row["n"]: row["median"] for row in rows if "median" in row and row["d"] == GROWING and row["form"] == "penalised"}
    words += [f"at d = {GROWING} time grows as n to the power {exponent(times):.2f}"] if len(times) > 1 else []
    return "slowest cells: " + "; ".join(words)


def main() -> None:
    """The sizes of the solver notes, small ones first, λ = 1e-3 and 1e-5; `--sizes`, `--strengths` and `--peers` choose among them."""
    options = arguments(
        __doc__ or "",
        sizes=(size, "such as 1000x50,10000x100 (default: those of the solver notes)"),
        strengths=(float, "λ (default 1e-3,1e-5)"),
        peers=(one_of("none", *CONIC), f"some of {', '.join(CONIC)}, or none (default: all)"),
    )
    sizes = options.sizes or (SIZES[:1] if options.quick else SIZES)
    peers = [name for name in options.peers or CONIC if name != "none"]
    import_module("cvxpy")  # once, not in every process that is stopped
    compile_kernels()
    table = Table("EXC ordinal regression against conic solvers", "n x d, λ, form", *peers)
    too_large: dict[tuple[str, str], int] = {}
    for n, d in sorted(sizes, key=lambda size: size[0] * size[1]):
        for strength in options.strengths or STRENGTHS:
            cell = PenaltyAndBall(*data(n, d), strength)
            for form, problem in (("penalised", cell.penalised), ("ball", cell.ball)):
                measure(table, cell, form, problem, peers, too_large, 2 if options.quick else RUNS)
    table.close(options, summary(table.rows))


if __name__ == "__main__":
    main()
