"""Goodness of a similarity: single programmes against SciPy's HiGHS, curves and kernels against CLARABEL, least squares against BVLS.

Accuracy stands beside time: the certified gap/scale of our answer, and how far the peer's value is above our lower bound. Growth exponents
are of the seconds by N, from the smallest to the largest size, at the largest B.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.optimize
from pairs import PAIRS, Table, arguments, interleave, met, one_of, one_thread, peak_megabytes, seconds
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf

from simopt.arithmetic import FLOAT
from simopt.model.problem import Problem
from simopt.problems.goodness import Goodness
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.solvers.goodness.curve import goodness_breakpoints, goodness_curve
from simopt.solvers.goodness.curve_record import GoodnessCurve
from simopt.solvers.goodness.enclosure import enclosure
from simopt.solvers.goodness.parametric import ParametricSimplex
from simopt.solvers.goodness.solvers import interior_point, kernel_interior_point
from simopt.solving import provenance
from simopt.solving.entry_points import certify, solve
from simopt.solving.solution import Iterate

TOL = 1e-9
Ratios = dict[str, list[float]]


def domain(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A Gaussian similarity of n points of the plane and noisy targets."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    squares = np.sum((x[:, None] - x) ** 2, axis=2)
    return np.exp(-squares / 2), np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=n)


def posed(n: int, bound: float, loss: str) -> Goodness:
    """One problem; ε = 0.1 for the insensitive loss."""
    gram, y = domain(n)
    return Goodness(gram, np.where(y > 0, 1.0, -1.0) if loss == "hinge" else y, bound, None, loss, 0.1 if loss == "insensitive" else 0.0)


def ours(problem: Any, solver: Callable[..., Any], tol: float = TOL) -> Iterate:
    """The first iterate whose own gap is small enough, in natural units as the driver runs it; mapped back."""
    natural, back = problem.normalised()
    goal, last = tol * natural.scale(), None
    for last in solver(natural, tol=tol):
        if last.gap <= goal:
            break
    assert last is not None
    return Iterate(back.point(last.point), back.multipliers(last.multipliers), last.gap)


def gap_of(problem: Problem, iterate: Iterate) -> float:
    """gap/scale, certified."""
    return certify(problem, iterate.point, iterate.multipliers).relative_gap


def linear(problem: Goodness) -> Callable[[], Any]:
    """SciPy's dual simplex on the same programme in w, two rows a point for the insensitive loss."""
    n, p, y = len(problem.targets), problem.mass, problem.targets
    A, eye = problem.gram * p, np.eye(n)
    if problem.loss == "hinge":
        rows, sides = np.hstack([-y[:, None] * A, -eye]), np.full(n, -problem.margin)
    else:
        rows, sides = np.vstack([np.hstack([A, -eye]), np.hstack([-A, -eye])]), np.concatenate([y + problem.epsilon, problem.epsilon - y])
    box = [(-problem.bound, problem.bound)] * n + [(0, None)] * n
    return lambda: scipy.optimize.linprog(np.concatenate([np.zeros(n), p]), A_ub=rows, b_ub=sides, bounds=box, method="highs-ds")


def programmes(table: Table, sizes: tuple[int, ...], pairs: int, ratios: Ratios) -> None:
    """Single linear programmes."""
    for n in sizes:
        for loss in ("hinge", "insensitive"):
            for bound in (30.0, 300.0, 3000.0):
                problem = posed(n, bound, loss)
                peer = linear(problem)
                result = interleave(partial(ours, problem, interior_point), peer, pairs=pairs)
                found = ours(problem, interior_point)
                judged, off = certify(problem, found.point, found.multipliers), peer().fun
                note = f"gap/scale {judged.relative_gap:.0e}; HiGHS off by {abs(off - judged.lower):.0e}"
                table.add(f"{loss}, N = {n}, B = {bound:g}", result, note, n=n, bound=bound, gap=judged.relative_gap)
                if bound <= 300:
                    ratios.setdefault("programme, B ≤ 300", []).append(result.ratio)
                    ratios.setdefault("gap, B ≤ 300", []).append(judged.relative_gap)


def squares_limit(problem: Goodness, A: np.ndarray, theirs: float) -> str:
    """H = 2AᵀA and a factor an iteration, by themselves: what the interior-point method takes at least, and of the peer's least time."""
    count = sum(1 for _ in interior_point(problem.normalised()[0], tol=TOL))
    with one_thread():
        form = min(seconds(lambda: dsyrk(2.0, A, trans=1, lower=1)) for _ in range(5))
        H = dsyrk(2.0, A, trans=1, lower=1) + np.eye(len(A))
        factor = min(seconds(lambda: dpotrf(H, lower=1, overwrite_a=0)) for _ in range(5))
        mine = min(seconds(partial(ours, problem, interior_point)) for _ in range(5))
    least = form + count * factor
    return (
        f"reason: H (N³ operations) and {count} factors (N³/3 each) take {1e3 * least:.1f} ms of our {1e3 * mine:.1f}, "
        f"{least / theirs:.3f} of BVLS's time: no ratio below that without fewer or smaller factors; the rest are "
        "operations on vectors of N numbers, each of which costs what a call of NumPy costs"
    )


def squares(table: Table, sizes: tuple[int, ...], pairs: int, ratios: Ratios) -> None:
    """The squared loss."""
    for n in sizes:
        for bound in (30.0, 300.0, 3000.0):
            problem = posed(n, bound, "squared")
            root = np.sqrt(problem.mass)
            A, b = root[:, None] * problem.gram * problem.mass, root * problem.targets

            def peer(A: np.ndarray = A, b: np.ndarray = b, bound: float = bound) -> Any:
                return scipy.optimize.lsq_linear(A, b, (-bound, bound), method="bvls", tol=1e-12, max_iter=10 * len(b))

            result = interleave(partial(ours, problem, interior_point), peer, pairs=pairs)
            gap = gap_of(problem, ours(problem, interior_point))
            point = {"v": np.clip(peer().x / bound, -1.0, 1.0)}
            theirs = certify(problem, point, problem.multipliers(point)).relative_gap
            table.add(f"squared, N = {n}, B = {bound:g}", result, f"gap/scale {gap:.0e}; BVLS {theirs:.0e}", n=n, bound=bound, gap=gap)
            ratios.setdefault("squared, B ≥ 300" if bound >= 300 else "squared, B = 30", []).append(result.ratio)
            if bound >= 300:
                print(squares_limit(problem, A, result.peer.low), flush=True)


def kernels(table: Table, sizes: tuple[int, ...], pairs: int, ratios: Ratios) -> None:
    """Definition 4 against CLARABEL on the declaration, the factor of K charged to neither."""
    for n in sizes:
        gram, y = domain(n)
        for loss in ("hinge", "squared"):
            problem = KernelGoodness(gram, np.where(y > 0, 1.0, -1.0) if loss == "hinge" else y, 0.1, None, loss)
            _ = problem.factor
            peer = partial(solve, problem, "clarabel", tol=1e-8)
            result = interleave(partial(ours, problem, kernel_interior_point), peer, pairs=pairs)
            reached = peer().certificate
            note = f"gap/scale {gap_of(problem, ours(problem, kernel_interior_point)):.0e}; CLARABEL {reached.relative_gap:.0e}"
            table.add(f"kernel, {loss}, N = {n}", result, note, n=n)
            ratios.setdefault(f"kernel, {loss}", []).append(result.ratio)


def scaled_clarabel(problem: Goodness, bounds: np.ndarray) -> Callable[[], float]:
    """CLARABEL on the scaled DPP declaration, one solve a bound; the last value."""
    natural = problem.normalised()[0]
    ratio = natural.bound / problem.bound
    declaration = natural.declare()

    def run() -> float:
        for bound in bounds:
            declaration.param_dict["bound"].value = bound * ratio
            declaration.solve(solver="CLARABEL")
        return float(declaration.value) * problem.scale() / natural.scale()

    return run


def curves(table: Table, options: argparse.Namespace, ratios: Ratios) -> None:
    """Fifty bounds by one walk; CLARABEL gets a few of them, and its time is scaled up. Breakpoints and enclosures by themselves."""
    for n in (50,) if options.quick else (50, 200, 500):
        problem = posed(n, 1.0, "hinge")
        bounds = np.geomspace(1.0, 1000.0, 50)
        few = bounds[24:26] if n >= 200 else bounds[20:30]
        with one_thread():
            goodness_curve(problem, bounds)
            curve = goodness_curve(problem, bounds)
            peer = scaled_clarabel(problem, few)
            peer()
            theirs = seconds(peer) / len(few) * len(bounds)
        off = abs(peer() - float(curve.lower[np.searchsorted(bounds, few[-1])]))
        megabytes = peak_megabytes(partial(goodness_curve, problem, bounds)), peak_megabytes(peer)
        row = {"label": f"curve of 50, N = {n}", "seconds": curve.seconds, "clarabel": theirs, "gap": float(np.max(curve.gaps)), "n": n}
        table.rows.append({**row, "ours_megabytes": megabytes[0], "peer_megabytes": megabytes[1], "clarabel_off": off})
        ratios.setdefault("curve against CLARABEL", []).append(curve.seconds / theirs)
        if n == 500:
            ratios.setdefault("curve of 50, N = 500, seconds", []).append(curve.seconds)
        print(
            f"{row['label']}: {curve.seconds:.4f} s, CLARABEL {theirs:.2f} s, ratio {curve.seconds / theirs:.4f}, largest gap "
            f"{row['gap']:.0e}, CLARABEL off by {off:.0e}, MB {megabytes[0]:.0f}/{megabytes[1]:.0f}",
            flush=True,
        )
        print(walk_limit(curve, problem), flush=True)
    for n in (20,) if options.quick else (20, 50, 100):
        with one_thread():
            curve = goodness_breakpoints(posed(n, 1.0, "hinge"), 3000.0)
        if n == 100:
            ratios.setdefault("breakpoints, N = 100, seconds", []).append(curve.seconds)
        table.rows.append({"label": f"breakpoints, N = {n}", "seconds": curve.seconds, "count": len(curve), "n": n})
        print(f"breakpoints, N = {n}: {len(curve)} in {curve.seconds:.3f} s, {curve.iterations} pivots, {curve}", flush=True)
        print(walk_limit(curve, posed(n, 1.0, "hinge")), flush=True)


def walk_limit(curve: GoodnessCurve, problem: Goodness) -> str:
    """What the pivots of a curve take by themselves, and the multiplications of a pivot with the last basis."""
    bound, n = float(np.max(curve.bounds)), len(problem.targets)
    paths: list[ParametricSimplex] = []

    def walk() -> None:
        paths.append(ParametricSimplex(problem))
        paths[-1].advance(bound)

    with one_thread():
        took = min(seconds(walk) for _ in range(5))
    size, pivots = paths[-1].size, paths[-1].iterations
    work = 2 * n * size + 3 * size**2
    return (
        f"reason: N = {n}: {pivots} pivots take {1e3 * took:.1f} of {1e3 * curve.seconds:.1f} ms, {1e6 * took / max(pivots, 1):.1f} µs "
        f"each, for at most {work} multiplications with the last basis of {size}; the rest are certificates, two products with K a value"
    )


def growth(table: Table) -> str:
    """Exponents of the seconds by N: least-squares slopes of their logarithms."""
    times: dict[str, dict[int, float]] = {}
    for row in table.rows:
        if "n" in row:
            took = row["seconds"] if "seconds" in row else row["ours"]["median"]
            times.setdefault(row["label"].split(", N")[0], {})[row["n"]] = took
    found = {word: np.polyfit(np.log(list(by)), np.log(list(by.values())), 1)[0] for word, by in times.items() if len(by) > 1}
    return "growth with N: " + "; ".join(f"{word} N^{power:.1f}" for word, power in found.items())


def enclosures(table: Table, options: argparse.Namespace, ratios: Ratios) -> None:
    """Balls of 106 bits around the bounds of a vertex."""
    for n in (50,) if options.quick else (50, 200):
        problem = posed(n, 300.0, "hinge")
        found = solve(problem, "simplex", tol=TOL)
        assert found.point is not None and found.multipliers is not None
        point, multipliers = dict(found.point), dict(found.multipliers)
        enclosure(problem, point, multipliers)
        mark = time.perf_counter()
        low, high = enclosure(problem, point, multipliers)
        took = time.perf_counter() - mark
        plain = float(problem.objective(point, FLOAT))
        table.rows.append({"label": f"enclosure, N = {n}", "seconds": took, "width": high - low})
        if n == 200:
            ratios.setdefault("enclosure, N = 200, ms", []).append(1e3 * took)
            ratios.setdefault("width, N = 200", []).append(high - low)
        print(f"enclosure, N = {n}: {1e3 * took:.1f} ms, width {high - low:.1e}, around {plain:.6g}", flush=True)


def main() -> None:
    """N = 50, 200 and 500; `--parts` for some of it."""
    parts: dict[str, Callable[[], None]] = {
        "programmes": lambda: programmes(table, sizes, pairs, ratios),
        "squares": lambda: squares(table, sizes, pairs, ratios),
        "kernels": lambda: kernels(table, sizes, min(pairs, 3), ratios),
        "curves": lambda: curves(table, options, ratios),
        "enclosures": lambda: enclosures(table, options, ratios),
    }
    options = arguments(__doc__ or "", parts=(one_of(*parts), f"some of {', '.join(parts)} (default: all)"))
    sizes = (50,) if options.quick else (200, 500)
    pairs = 2 if options.quick else PAIRS
    table = Table("goodness", "loss, N, B")
    print(", ".join(f"{name} {version}" for name, version in provenance.versions().items()))
    ratios: Ratios = {}
    for part in options.parts or parts:
        parts[part]()
    targets = {
        "programme, B ≤ 300": 0.5,
        "gap, B ≤ 300": 1e-9,
        "squared, B = 30": 0.3,
        "squared, B ≥ 300": 0.05,
        "kernel, hinge": 0.4,
        "kernel, squared": 0.1,
        "curve against CLARABEL": 0.02,
        "curve of 50, N = 500, seconds": 1.0,
        "breakpoints, N = 100, seconds": 0.25,
        "enclosure, N = 200, ms": 20.0,
        "width, N = 200": 1e-12,
    }
    print(growth(table))
    table.close(
        options, "largest: " + "; ".join(f"{word} {met(max(ratios[word]), goal)}" for word, goal in targets.items() if word in ratios)
    )


if __name__ == "__main__":
    main()
