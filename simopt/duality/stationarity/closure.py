"""Sweeps whose stationarity residual is made 0 by pivots, or by implied bounds where pivots do not suffice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import GroupNorm
from simopt.duality.evaluation.backward import Backward, backward
from simopt.duality.evaluation.closing_terms import ClosingTerm
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Programme
from simopt.duality.stationarity.implied import implied
from simopt.duality.stationarity.pivots import Pivoting
from simopt.duality.stationarity.repair import Prepared, centred, completed, joined, repaired, snapped

NEAR = 1e-9  # relative: bounds as near to each other as this are not improved


def close_stationarity(
    num: Arithmetic, programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], sweep: Backward, upper: float
) -> Backward:
    """The given sweep if nothing is missing in it; else a sweep with nothing missing, where one is found.

    The first attempt corrects pivots only. If it stays open, the result is the first attempt whose bound is near `upper`, or the best one.

    Pivots leave no residual. If they cannot remove all of it, bounds that hold where f(x) ≤ upper take the rest. For upper ≥ optimum the
    result bounds the optimum from below, as any bound of f on {x feasible, f(x) ≤ upper} does.
    """
    if not sweep.missing or len(sweep.open) > len(sweep.missing):
        return sweep
    best, lower = sweep, -math.inf
    for number, tried in enumerate(_attempts(num, programme, plan, candidates, sweep, upper)):
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
    """Sweeps with pivots: from the candidates as they are, then repaired, snapped to the ends of their domains, and centred.

    At last norms that are closing terms are treated as other terms, for problems where several entries share a scale that has to be
    corrected. If no pivots suffice, bounds that feasibility implies take the residual that the same pivots leave, or all of it.
    """
    tried = []
    for own, start, prepared in _preparations(programme, plan, candidates):
        given, wanted = prepared(programme, own, start)
        pivoting = Pivoting(num, programme, own, given, joined(wanted, sweep.missing))
        yield (swept := pivoting.swept({}))
        tried += [pivoting] * bool(swept.open)
    limits = implied(programme, upper, sweep.missing)
    yield from (each.swept(limits) for each in tried)
    yield backward(num, programme, plan, candidates, implied=limits)


def _preparations(
    programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array]
) -> Iterator[tuple[Sequence[ClosingTerm], Mapping[Key, Array], Callable[..., Prepared]]]:
    yield from ((plan, candidates, prepared) for prepared in (completed, repaired, snapped, centred))
    fewer = [each for each in plan if each.epigraph_parent is not None or not isinstance(each.term.atom, GroupNorm)]
    if len(fewer) < len(plan):
        taken = {each.term.key for each in plan} - {each.term.key for each in fewer}
        used = backward(FLOAT, programme, plan, candidates).used
        yield fewer, {**candidates, **{key: used[key] for key in taken if key in used}}, repaired
