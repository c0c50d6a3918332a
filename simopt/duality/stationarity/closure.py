"""Make the residual of stationarity 0: by pivots, and by implied bounds if pivots do not suffice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, islice

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import GroupNorm
from simopt.duality.evaluation.backward import Backward, backward
from simopt.duality.evaluation.closing_terms import ClosingTerm
from simopt.duality.graph.affine import Key
from simopt.duality.graph.leaf_values import changing
from simopt.duality.graph.programme import Programme
from simopt.duality.graph.vectors import Mask
from simopt.duality.stationarity.implied import implied
from simopt.duality.stationarity.pivots import Pivoting
from simopt.duality.stationarity.repair import Prepared, centred, completed, joined, repaired, snapped, widened

BRIEF = 2  # attempts of a brief search
NEAR = 1e-9  # relative: bounds as near to each other as this are not improved


def close_stationarity(
    num: Arithmetic,
    programme: Programme,
    plan: Sequence[ClosingTerm],
    candidates: Mapping[Key, Array],
    sweep: Backward,
    upper: float,
    brief: bool = False,
) -> Backward:
    """The given sweep if its `missing` is empty, or if it is open for other reasons; else the best of `_attempts`, which may be open.

    The search ends with the first attempt if that gives a bound, else with a bound near `upper`, else with the greatest bound. A brief
    search makes the first BRIEF attempts only.

    Pivots leave no residual. If they cannot remove all of it, bounds that hold where f(x) ≤ upper take the rest. For upper ≥ optimum the
    result bounds the optimum from below, as any bound of f on {x feasible, f(x) ≤ upper} does.
    """
    if not sweep.missing or len(sweep.open) > len(sweep.missing):
        return sweep
    best, lower = sweep, -math.inf
    attempts = _attempts(num, programme, plan, candidates, sweep, upper)
    for number, tried in enumerate(islice(attempts, BRIEF) if brief else attempts):
        if tried.open:
            best = tried if best is sweep else best
            continue
        bound = num.lower(tried.value)
        if best.open or bound > lower:
            best, lower = tried, bound
        if number == 0 or upper == math.inf or not upper - lower > NEAR * (abs(upper) + abs(lower)):
            break
    return best


def _attempts(
    num: Arithmetic, programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], sweep: Backward, upper: float
) -> Iterator[Backward]:
    """Sweeps with pivots, each from other multipliers: the candidates, then `repaired`, `snapped` to ends of domains, `centred`, `widened`.

    At last norms that are closing terms are treated as other terms, for problems where several entries share a scale that has to be
    corrected. Then pivots are chosen by their whole margins. Multipliers of quadratic forms of low rank, which have the largest margins,
    leave the rest to others that may have none: they stay, in the last attempts. What is prepared twice is tried once.

    If no pivots suffice, bounds that feasibility implies take the residual that the same pivots leave, or all of it.
    """
    tried: list[Pivoting] = []
    still_open = []
    for closing_terms, multipliers, wanted, power, ranges in _Preparations.of(programme, plan, candidates):
        pivoting = Pivoting(num, programme, closing_terms, multipliers, joined(wanted, sweep.missing), power, ranges)
        if any(pivoting.is_like(other) for other in tried):
            continue
        tried.append(pivoting)
        yield (swept := pivoting.swept({}))
        if swept.open:
            still_open.append(pivoting)
    limits = implied(programme, upper, sweep.missing)
    yield from (pivoting.swept(limits) for pivoting in still_open)
    yield backward(num, programme, plan, candidates, implied=limits)


PlannedAttempt = tuple[Sequence[ClosingTerm], Mapping[Key, Array], Callable[..., Prepared], float, bool]
Preparation = tuple[Sequence[ClosingTerm], Mapping[Key, Array], Mapping[Key, Mask], float, bool]


class _Preparations:
    """Closing terms, multipliers and wanted entries of each attempt, and how its pivots are chosen: by floats, once for all arithmetics."""

    def __init__(self, programme: Programme, planned: Iterator[PlannedAttempt]) -> None:
        self._programme, self._planned, self._known = programme, planned, list[Preparation]()

    @classmethod
    def of(cls, programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array]) -> _Preparations:
        """Those of these multipliers, as far as they have been asked for before."""
        kind = ("attempts", *(each.term.key for each in plan), *changing(programme.problem))
        found: _Preparations = programme.preparations.of(
            kind, candidates, lambda _: cls(programme, _preparations(programme, plan, candidates))
        )
        return found

    def __iter__(self) -> Iterator[Preparation]:
        for number in count():
            if number == len(self._known):
                following = next(self._planned, None)
                if following is None:
                    return
                closing_terms, start, prepare, power, ranges = following
                self._known.append((closing_terms, *prepare(self._programme, closing_terms, start, ranges), power, ranges))
            yield self._known[number]


def _preparations(programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array]) -> Iterator[PlannedAttempt]:
    yield from ((plan, candidates, prepare, 0.5, True) for prepare in (completed, repaired, snapped, centred, widened))
    fewer = [each for each in plan if each.epigraph_parent is not None or not isinstance(each.term.atom, GroupNorm)]
    if len(fewer) < len(plan):
        taken = {each.term.key for each in plan} - {each.term.key for each in fewer}
        used = backward(FLOAT, programme, plan, candidates).used
        yield fewer, {**candidates, **{key: used[key] for key in taken if key in used}}, repaired, 0.5, True
    yield plan, candidates, repaired, 1.0, True
    if any(term.atom.image(FLOAT) is not None for term in programme.terms):
        yield from ((plan, candidates, prepare, 0.5, False) for prepare in (completed, repaired, snapped, centred))
