"""Section 2: the excess error is a mean square, and what it costs to set the norm of w or the slope of u to 1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kkks.index_models import ball_point
from simopt.theorems.kkks.piecewise_linear import ONE, PiecewiseLinear, random_transfer
from simopt.theorems.small_worlds.sampled_worlds import on_circle
from simopt.theorems.small_worlds.worlds import dot, scaled, squared


def numbered(name: str, count: int) -> tuple[sc.Expr, ...]:
    """Symbols name1, name2, …"""
    return sc.symbols(" ".join(f"{name}{i}" for i in range(1, count + 1)))


def label_counts(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One x with 1 to 4 labels, and any law of y by its moments."""
    for count in range(1, 5):
        yield {"labels": count}
    yield {"labels": 0}


@sc.claim(
    "KK-err",
    place="Section 2, err and ε",
    kind=sc.IDENTITY,
    says=r"With u(x) = E[y | x]: err(h) − err(u) = E (h(x) − u(x))² for every h. Proved for one x with mass P and 1 to 4 labels of any "
    r"masses, and for any law of y by P = E 1, s = E y, q = E y² at that x, u = s/P: (h²P − 2hs + q) − (u²P − 2us + q) = P(h − u)². Both "
    r"sides add over x.",
    instances=label_counts,
    exhaustive=True,
    knobs={"shift": 0},
    mutants={"u + 1/10 for E[y | x]": {"shift": Fraction(1, 10)}},
)
def excess_error(labels: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The identity of rational functions."""
    count = labels
    (h,) = sc.symbols("h")
    if count == 0:
        P, s, q = sc.symbols("P s q")
        u = s / P + trial["shift"]
        yield sc.equal((h**2 * P - 2 * h * s + q) - (u**2 * P - 2 * u * s + q), P * (h - u) ** 2, "by moments")
        return
    p, y = numbered("p", count), numbered("y", count)
    mass = sc.total(p)
    u = sc.total(a * b for a, b in zip(p, y, strict=True)) / mass + trial["shift"]
    errors = [sc.total(a * (value - b) ** 2 for a, b in zip(p, y, strict=True)) for value in (h, u)]
    yield sc.equal(errors[0] - errors[1], mass * (h - u) ** 2, f"{count} labels")


def rescalings(trial: sc.Trial) -> Iterator[sc.Instance]:
    """w of rational norm, W ≥ ‖w‖, a 1-Lipschitz u, and points x; w = 0 too."""
    for k in range(trial.count(60, 200)):
        size = Fraction(int(trial.rng.integers(0, 25)), 8) if k else Fraction(0)
        w = scaled(on_circle(Fraction(int(trial.rng.integers(-9, 10)), 4)), size)
        u = random_transfer(trial.rng, 4)
        points = [ball_point(trial.rng, 2) for _ in range(4)]
        W = max(size, Fraction(int(trial.rng.integers(1, 5))))
        yield {"w": w, "size": size, "W": W, "knots": list(u.knots), "values": list(u.values), "points": points}


@sc.claim(
    "KK-norm",
    place="Section 2, 'without loss of generality'",
    kind=sc.EQUIVALENCE,
    says=r"The functions x ↦ u(w·x) with ‖w‖ ≤ W and u nondecreasing, 1-Lipschitz into [0, 1] are those with ‖w‖ = 1 and u nondecreasing, "
    r"W-Lipschitz: v(t) = u(‖w‖t) on w/‖w‖ one way (a constant, on any unit vector, if w = 0), u(t) = v(t/W) on W w the other.",
    instances=rescalings,
    knobs={"slope": None},
    mutants={"1-Lipschitz on both sides": {"slope": ONE}},
)
def norm_or_slope(
    w: list[Fraction],
    size: Fraction,
    W: Fraction,
    knots: list[Fraction],
    values: list[Fraction],
    points: list[list[Fraction]],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """There and back: values, slopes and norms."""
    u = PiecewiseLinear(tuple(knots), tuple(values))
    unit = scaled(w, 1 / size) if size else [ONE, Fraction(0)]
    v = u.rescaled(size) if size else PiecewiseLinear((Fraction(0),), (u(Fraction(0)),))
    yield sc.equal(squared(unit), 1, "‖w/‖w‖‖")
    yield sc.at_most(v.lipschitz(), trial["slope"] or W, "Lipschitz constant of v")
    back, long = v.rescaled(1 / W), scaled(unit, W)
    yield sc.at_most(back.lipschitz(), 1, "Lipschitz constant on the way back")
    yield sc.equal(squared(long), W**2, "‖W w‖")
    yield sc.true(v.nondecreasing() and back.nondecreasing(), "monotony", evidence=sc.EXACT)
    for x in points:
        yield sc.equal([v(dot(unit, x)), back(dot(long, x))], u(dot(w, x)), "the function at one point")
