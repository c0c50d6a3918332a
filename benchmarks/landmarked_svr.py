"""Landmarked SVR to a relative gap of 1e-9 against LIBLINEAR at the accuracy it reaches and against CLARABEL, ECOS and SCS.

LIBLINEAR (scikit-learn's LinearSVR without intercept, dual) solves the penalised form; its suboptimality is measured with our lower bound.
The conic solvers get the declaration, which is the form that canonicalises fastest, and are timed with their canonicalisation. Each runs
once a cell, in a process of its own that is stopped after 15 s. A size no smaller than one that took longer is not tried. Nor is one for
which half a minute is predicted from a smaller one, time being at least linear in the numbers of Ψ. Ours is timed without the driver and
its certificates, beside LIBLINEAR by the processor's clock. `--sizes`, `--strengths` and `--peers` make a run in pieces.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
from operations import limit
from pairs import PAIRS, Table, arguments, exponent, interleave, met, one_of, one_thread, seconds, size, within

from simopt.backends.table import FIRST_CLASS
from simopt.certificates.certificate import Certificate
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solvers.hinges.hinge_stage import hinge_fits
from simopt.solvers.hinges.solvers import iterate, parts
from simopt.solvers.hinges.stage import StageFit
from simopt.solving.entry_points import certify, solve

TOL = 1e-9  # of ours
WANTED = 1e-6  # suboptimality over scale that LIBLINEAR is asked for
LIMIT = 15.0  # seconds; beyond that "over 15 s" is the result
LONG = 3.0  # seconds; LIBLINEAR is not asked for an accuracy that takes it longer
BUDGET = 6.0  # seconds of pairs a row
CONIC = {backend.name: backend.in_seconds for backend in FIRST_CLASS}  # up to so many numbers in Ψ
STRENGTHS = (1e-3, 1e-5)
EPSILON = 0.1
SIZES = ((1000, 50), (10_000, 50), (10_000, 100), (5000, 200), (100_000, 100), (20_000, 500), (100_000, 500))
SECONDS = {(1000, 50): (0.006, 0.006), (10_000, 100): (0.040, 0.040), (100_000, 100): (0.4, 0.4), (100_000, 500): (2.0, 2.0)}
GROWING = 100  # d of the sizes that tell how time grows with n
EASY, FRACTION = 0.1, 0.9  # C up to which LIBLINEAR is quick, and our share of its time
RATIOS = {(1000, 50): 10.0, (10_000, 100): 50.0, (100_000, 100): 100.0}  # CLARABEL's time over ours, at least


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian features of norm about 1, targets linear in them with Laplace noise."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    return features, features @ rng.normal(size=d) + 0.3 * rng.laplace(size=n)


def ours(problem: LandmarkedSVR) -> StageFit:
    """Newton without the driver."""
    rows, hinges, bound, _ = parts(problem)
    *_, fit = hinge_fits(rows, hinges, bound, goal=TOL * problem.scale())
    return fit


def certified(problem: LandmarkedSVR, fit: StageFit) -> Certificate:
    """Bounds from a fit."""
    found = iterate(problem, fit, parts(problem)[3])
    return certify(problem, found.point, found.multipliers)


def our_gap(problem: LandmarkedSVR) -> float:
    """gap/scale, certified."""
    return certified(problem, ours(problem)).relative_gap


@dataclass(frozen=True, eq=False)
class PenaltyAndBall:
    """One penalised problem, and its twin in the ball of its solution's norm."""

    features: np.ndarray
    targets: np.ndarray
    strength: float

    @cached_property
    def penalised(self) -> LandmarkedSVR:
        """λ as given."""
        return LandmarkedSVR(self.features, self.targets, Penalty(self.strength), EPSILON)

    @cached_property
    def ball(self) -> LandmarkedSVR:
        """B = ‖w_λ‖."""
        return LandmarkedSVR(self.features, self.targets, Ball(float(np.linalg.norm(ours(self.penalised).w))), EPSILON)

    @property
    def size(self) -> tuple[int, int]:
        """(n, d)."""
        n, d = self.features.shape
        return n, d

    @property
    def cost(self) -> float:
        """LIBLINEAR's C = 1/(nλ)."""
        return 1.0 / (len(self.targets) * self.strength)

    def liblinear(self, tol: float, epochs: int) -> np.ndarray:
        """w of LinearSVR."""
        from sklearn.svm import LinearSVR

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = LinearSVR(epsilon=EPSILON, C=self.cost, fit_intercept=False, dual=True, tol=tol, max_iter=epochs, random_state=0)
            fitted: np.ndarray = peer.fit(self.features, self.targets).coef_
        return fitted

    def suboptimality(self, w: np.ndarray) -> float:
        """(P(w) − lower bound)/P(w)."""
        value = float(self.penalised.objective({"w": w}))
        return (value - self.lower) / value

    @cached_property
    def lower(self) -> float:
        """Our lower bound on the optimum."""
        return certified(self.penalised, ours(self.penalised)).lower

    def best_liblinear(self, epochs: int) -> tuple[float, float]:
        """The loosest tolerance at which LIBLINEAR is 1e-6 off, or its best one within 15 s; and how far off it is then (∞: no result)."""
        best, found = 1e-1, np.inf
        for tol in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            taken = within(LONG, partial(self.liblinear, tol, epochs))
            if taken is None:
                break
            off = self.suboptimality(taken)
            if off < 0.9 * found:
                best, found = tol, off
            if found <= WANTED:
                break
        return best, found


def against_liblinear(table: Table, cell: PenaltyAndBall, pairs: int, epochs: int) -> None:
    """One row a form: ours at 1e-9 against the same LIBLINEAR run; the ball has no peer of its own."""
    n, d = cell.size
    tol, off = cell.best_liblinear(epochs)
    if off == np.inf:
        print(f"liblinear: {n} x {d}, λ = {cell.strength:g}: over {LONG:.0f} s at tol = {tol:g}", flush=True)
        table.rows.append({"label": "liblinear", "peer": "liblinear", "n": n, "d": d, "strength": cell.strength, "form": "", "over": LONG})
        return
    for form, problem in (("penalised", cell.penalised), ("ball", cell.ball)):
        peer = partial(cell.liblinear, tol, epochs)
        result = interleave(partial(ours, problem), peer, pairs=pairs, budget=BUDGET, clock=process_time)
        label = f"{n} x {d}, λ = {cell.strength:g}, {form}"
        target = dict(zip(("penalised", "ball"), SECONDS.get((n, d), (np.inf, np.inf)), strict=True))[form]
        note = f"gap/scale {our_gap(problem):.0e}; LIBLINEAR C = {cell.cost:g}: {off:.0e}"
        table.add(label, result, note, n=n, d=d, strength=cell.strength, form=form, cost=cell.cost, off=off)
        if form == "penalised" and cell.cost <= EASY and result.ratio > FRACTION:
            print(reason(cell, tol, epochs), flush=True)
        elif result.ours.median > target:
            print(limit(label, cell.features, partial(ours, problem)), flush=True)


def reason(cell: PenaltyAndBall, tol: float, epochs: int) -> str:
    """Operations of both on the penalised form: what sets the limit where LIBLINEAR is quick."""
    from sklearn.svm import LinearSVR

    (n, d), label = cell.size, f"{cell.size[0]} x {cell.size[1]}, λ = {cell.strength:g}, penalised"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LinearSVR(epsilon=EPSILON, C=cell.cost, fit_intercept=False, dual=True, tol=tol, max_iter=epochs, random_state=0)
        passes = int(peer.fit(cell.features, cell.targets).n_iter_)
    return (
        f"{limit(label, cell.features, partial(ours, cell.penalised))}; LIBLINEAR has no second derivatives, its {passes} epochs to the "
        f"accuracy it is asked for are {2.0 * n * d * passes:.1e} multiplications at most, fewer as samples are shrunk"
    )


@dataclass
class Conic:
    """A conic solver: which forms took over a minute at a size, and how long the largest one took that did not."""

    name: str
    too_large: dict[str, int] = field(default_factory=dict)  # form: n d
    known: dict[str, tuple[int, float]] = field(default_factory=dict)  # form: n d, seconds

    def run(self, table: Table, cell: PenaltyAndBall, form: str, problem: LandmarkedSVR) -> None:
        """Seconds and gap on one form, and its time over ours; canonicalisation counts."""
        n, d = cell.size
        row: dict[str, Any] = {"peer": self.name, "n": n, "d": d, "strength": cell.strength, "form": form}
        row["label"] = f"{self.name}: {n} x {d}, λ = {cell.strength:g}, {form}"
        with one_thread():
            ours(problem)
            mine = min(seconds(partial(ours, problem)) for _ in range(3))
            word = self.excuse(n * d, form)
            found = None if word else within(LIMIT, partial(solve, problem, self.name, tol=1e-6 if self.name == "scs" else 1e-8))
        if word:
            row["not_run"] = word
        elif found is None:
            self.too_large.setdefault(form, n * d)
            row["over"], row["ratio"] = LIMIT, LIMIT / mine  # at least
            word = f"over {LIMIT:.0f} s, {row['ratio']:.0f} x ours or more"
        elif found.certificate is None:
            row["failed"] = word = f"no point: {found.reported_status}"
        else:
            row["seconds"] = found.provenance.setup_seconds + found.provenance.solve_seconds
            row["gap"], row["ratio"] = found.certificate.relative_gap, row["seconds"] / mine
            self.known[form] = n * d, row["seconds"]
            word = f"{row['seconds']:.3f} s, gap/scale {row['gap']:.0e}, {row['ratio']:.0f} x ours"
        print(f"{row['label']}: {word}", flush=True)
        table.rows.append(row)

    def excuse(self, size: int, form: str) -> str:
        """Why a run would be in vain: a problem no larger took over a minute; or twice that is predicted, time being at least linear."""
        if form in self.too_large and self.too_large[form] <= size:
            return f"over {LIMIT:.0f} s at {self.too_large[form]} numbers already"
        before, took = self.known.get(form, (size, 0.0))
        predicted = took * size / before
        return (
            f"over {LIMIT:.0f} s predicted ({predicted:.0f} s, from {took:.1f} s for {before} numbers)" if predicted > 2.0 * LIMIT else ""
        )


def summary(rows: list[dict[str, Any]]) -> str:
    """Every target, met or missed, and how time grows with n from the smallest to the largest size of one d."""
    words = []
    for (n, d), targets in SECONDS.items():
        for form, target in zip(("penalised", "ball"), targets, strict=True):
            mine = [row["ours"]["median"] for row in rows if (row["n"], row["d"], row["form"]) == (n, d, form) and "ours" in row]
            words += [f"{n} x {d} {form}, seconds {met(max(mine), target)}"] if mine else []
    for (n, d), target in RATIOS.items():
        ratios = [row["ratio"] for row in rows if (row["n"], row["d"]) == (n, d) and row.get("peer") == "clarabel" and "ratio" in row]
        words += [f"{n} x {d}, our share of CLARABEL's time {met(1.0 / min(ratios), 1.0 / target)}"] if ratios else []
    linear = [row for row in rows if row.get("form") == "penalised" and "off" in row]
    easy = [row["ratio"] for row in linear if row["cost"] <= EASY]
    hard = [row["ratio"] for row in linear if row["cost"] >= 10.0]
    words += [f"C ≤ 0.1, our share of LIBLINEAR's time {met(max(easy), FRACTION)}"] if easy else []
    words += [f"C ≥ 10, our share of LIBLINEAR's time {met(max(hard), 0.1)}"] if hard else []
    times = {row["n"]: row["ours"]["median"] for row in rows if "ours" in row and row["d"] == GROWING and row["form"] == "penalised"}
    words += [f"at d = {GROWING} time grows as n to the power {exponent(times):.2f}"] if len(times) > 1 else []
    return "slowest cells: " + "; ".join(words)


def main() -> None:
    """The sizes of the solver notes, small ones first, λ = 1e-3 and 1e-5; `--sizes`, `--strengths` and `--peers` choose among them."""
    peers = ("liblinear", *CONIC)
    options = arguments(
        __doc__ or "",
        sizes=(size, "such as 1000x50,10000x100 (default: those of the solver notes)"),
        strengths=(float, "λ (default 1e-3,1e-5)"),
        peers=(one_of(*peers), f"some of {', '.join(peers)} (default: all)"),
    )
    sizes = options.sizes or (SIZES[:1] if options.quick else SIZES)
    wanted = options.peers or peers
    epochs = 1000 if options.quick else 10_000
    import_module("cvxpy")  # once, not in every process that is stopped
    table = Table(
        "landmarked SVR against LIBLINEAR and conic solvers",
        "n x d, λ, form",
        "scikit-learn",
        *(name for name in wanted if name in CONIC),
    )
    conic = {name: {strength: Conic(name) for strength in options.strengths or STRENGTHS} for name in wanted if name in CONIC}
    for n, d in sorted(sizes, key=lambda size: size[0] * size[1]):
        for strength in options.strengths or STRENGTHS:
            cell = PenaltyAndBall(*data(n, d), strength)
            if "liblinear" in wanted:
                against_liblinear(table, cell, 2 if options.quick else PAIRS if n * d <= 10**7 else 3, epochs)
            for name, by_strength in conic.items():
                if n * d <= CONIC[name]:
                    for form, problem in (("penalised", cell.penalised), ("ball", cell.ball)):
                        by_strength[strength].run(table, cell, form, problem)
    table.close(options, summary(table.rows))


if __name__ == "__main__":
    main()
