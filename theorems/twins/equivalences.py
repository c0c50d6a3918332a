r"""Every problem with a penalty and a ball gives two families and an equivalence, Φ(λ) = ‖w(λ)‖, registered as this file is imported.

If L(w) + (s/2)‖w‖² is least at w_s, then L(v) ≥ L(w_s) for ‖v‖ ≤ ‖w_s‖: w_s solves the form in the ball of radius ‖w_s‖, and is its only
solution. ‖w_s‖ does not rise with s. If the loss has corners, w_s can rest: on pieces, which have one radius, and for all s below some
s₀, where it is the least minimiser of the loss. So the map is claimed on (s₀, ∞), and the pieces above s₀ are declared flat. Both are found
on a grid, as neighbours that the radii do not tell apart: what rests on less than a step of the grid is not seen.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.optimize

from simopt.arithmetic import FLOAT
from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.equivalence.equivalence import Equivalence, Flat, equivalence
from simopt.equivalence.family import Family, Interval, family
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.theorems.twins.forms import TOL, Twin, solved, twins

GRID = np.geomspace(1e4, 1e-6, 31)  # of λ, three or so a decade
ACCURACY = {True: 1e-9, False: 3e-5}  # relative, of norms, as radii give it: of losses that are smooth, and with corners


@dataclass(frozen=True)
class PenalisedPath:
    """The shape of a penalised path on the grid: the λ above which it moves, and the flat pieces (low, high, ‖w‖) above; None for w = 0."""

    low: float
    pieces: tuple[tuple[float, float, float], ...]


def penalised(twin: Twin, solver: str | None = None, tol: float = TOL, **options: Any) -> Family:
    """λ ↦ the penalised solution, unique for every λ > 0."""
    bound: Any = twin.penalised
    return Family(twin.names[0], lambda lam, Z: solved(twin, bound(lam), Z, solver, tol, options))


def in_ball(twin: Twin, solver: str | None = None, tol: float = TOL, **options: Any) -> Family:
    """Radius (or capacity) ↦ a solution in the ball, the only one where the ball binds; elsewhere its radius says that it need not be."""
    bound: Any = twin.bounded
    return Family(twin.names[1], lambda size, Z: solved(twin, bound(size), Z, solver, tol, options))


def tikhonov_to_ivanov(twin: Twin, solver: str | None = None, tol: float = TOL, **options: Any) -> Equivalence:
    """λ ↦ the number of the ball whose radius is ‖w(λ)‖."""
    source, target = penalised(twin, solver, tol, **options), in_ball(twin, solver, tol, **options)
    paths: WeakKeyDictionary[TrainingSet, PenalisedPath | None] = WeakKeyDictionary()
    accuracy = ACCURACY[twin.smooth]
    (name,) = twin.kind.form(twin.ball).holding()

    def number(length: float) -> float:
        return float(getattr(twin.bounded.of_length(length), name))

    def length(size: float) -> float:
        bound: Any = twin.bounded
        return float(bound(size).size(FLOAT))

    def norm(lam: float, Z: TrainingSet) -> float:
        f = source(lam, Z)
        if f.error > accuracy * f.norm():
            raise ArithmeticError(f"{source.name} at {lam:g}: ‖w‖ = {f.norm():.6g} is known to {f.error:.1e} only")
        return f.norm()

    def path(Z: TrainingSet) -> PenalisedPath | None:
        if Z not in paths:
            paths[Z] = seen(lambda lam: source(lam, Z))
        return paths[Z]

    def moving(Z: TrainingSet) -> Interval:
        found = path(Z)
        if found is None:
            raise InvalidProblem(f"targets: w = 0 is the solution of {source.name} for every λ on the grid: nothing moves")
        return Interval(found.low, math.inf)

    def inverse(size: float, Z: TrainingSet) -> float:
        """The λ at which the solution of Tikhonov's form has this size: the root of a decreasing function, bracketed in log λ."""
        low, goal = moving(Z).low, math.log(length(size))
        above = max(2.0 * low, 1.0)
        while source(above, Z).norm() > math.exp(goal) and above < 1e300:
            above *= 1e2

        def excess(t: float) -> float:
            return math.log(source(math.exp(t), Z).norm()) - goal

        lam = math.exp(float(scipy.optimize.brentq(excess, math.log(low), math.log(above), xtol=1e-13, maxiter=200)))
        norm(lam, Z)  # known well enough there
        return lam

    def flat(Z: TrainingSet) -> tuple[Flat, ...]:
        found = path(Z)
        return () if found is None else tuple(Flat((low, high), (number(size),) * 2) for low, high, size in found.pieces)

    return Equivalence(
        name=f"{source.name} to {target.name}",
        source=source,
        target=target,
        map=lambda lam, Z: number(norm(lam, Z)),
        inverse=inverse,
        source_interval=moving,
        target_interval=lambda Z: Interval(0.0, number(source(moving(Z).low, Z).norm())),
        accuracy=2.0 * accuracy,  # of a capacity, the square of the norm
        flat=flat,
        exists=lambda Z: None if path(Z) is not None else f"w = 0 is the solution of {source.name} for every λ",
    )


def seen(fit: Callable[[float], KernelFunction]) -> PenalisedPath | None:
    """The pieces where the path moves, from large λ down; pieces on which neighbours of the grid cannot be told apart are flat."""
    functions = [(float(lam), fit(float(lam))) for lam in GRID]
    moves = [f.distance(g) > f.error + g.error for (_, f), (_, g) in pairwise(functions)]
    if not any(moves):
        return None
    last = max(i for i, moved in enumerate(moves) if moved) + 1
    pieces, start = [], None
    for i, moved in enumerate(moves[: last - 1]):
        if not moved and start is None:
            start = i
        if moved and start is not None:
            pieces.append((functions[i][0], functions[start][0], functions[i][1].norm()))
            start = None
    return PenalisedPath(functions[last][0], tuple(pieces))


def _registered(twin: Twin) -> None:
    """Families under the names of the problems, but where one of that name is written by hand, and the equivalence."""
    names = twin.names
    shown = (f"{twin.kind.form(twin.penalty).title}", f"{twin.kind.form(twin.ball).title}")
    for name, make, title in zip(names, (penalised, in_ball), shown, strict=True):
        registry.load_saying("family", name)
        if not registry.has("family", name):
            family(name, summary=title)(_builder(make, twin))
    summary = f"{names[0]} → {names[1]}, Φ = ‖w(λ)‖, where w moves; weak, from the problem itself"
    equivalence(f"{names[0]}-to-{names[1]}", summary=summary)(_builder(tikhonov_to_ivanov, twin))


def _builder(make: Callable[..., Any], twin: Twin) -> Callable[..., Any]:
    """`make` of this problem, with the problem's options as its own."""

    def build(**options: Any) -> Any:
        return make(twin, **options)

    own = [p for p in inspect.signature(make).parameters.values() if p.name in ("solver", "tol")]
    keywords = [p.replace(kind=p.KEYWORD_ONLY) for p in own] + twin.options()
    vars(build)["__signature__"] = inspect.Signature(keywords)
    build.__name__ = build.__qualname__ = f"{make.__name__}_{twin.names[0].replace('-', '_')}"
    build.__doc__ = f"{(make.__doc__ or '').strip()}\n\nOf {twin.kind.__name__}; see `simopt.theorems.twins`."
    return build


for each in twins():
    if not each.missing():
        _registered(each)
