"""What a sweep leaves open, closed: by pivots, and by implied bounds where there are none."""

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

NEAR = 1e-9  # of both: bounds as near to each other are not asked to be nearer


def close_stationarity(
    num: Arithmetic, programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], sweep: Backward, upper: float
) -> Backward:
    """The sweep that was found, where nothing is missing of it; else one with nothing missing.

    That is the one with the candidates as they are, but for pivots; if it is open the first whose bound is near `upper`, or the best.

    Pivots leave no residual; if not all of it can go, bounds that hold where f(x) ≤ upper take what is left, or all of it. With
    upper ≥ optimum the result bounds the optimum from below, as any bound of f on {x feasible, f(x) ≤ upper} does.
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
    """By pivots: from the candidates as they are, then repaired, then with those at an end of their domain that are near it, or with none
    there; at last the gauges that take what is left are terms as others are: where several entries follow one scale, which is to be
    corrected too.

    Where no pivots close, bounds that feasibility implies are asked for: they take what the same pivots leave, or all of it.
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
