"""What another CVXPY makes of the problems otherwise than the one of the list: none may be read as another problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import cvxpy as cp
from certified import Result, results
from corpus import CorpusSolve, entries, wanted
from intercept import missing_files
from page import EXPLAINED


def reported(ours: Mapping[str, Result]) -> int:
    """Print it; 1 where a problem is refused that the list's CVXPY accepts, is read with other values, or contradicts its optimum."""
    every, listed = entries(), results()
    came = [entry for entry in every if entry.id in ours]
    accepted, before = ({entry.id for entry in came if not known[entry.id].refused} for known in (ours, listed))
    missing = missing_files(wanted(every))
    print(f"CVXPY {cp.__version__} solves {len(came)} of the {len(every)} problems of the list", end="")
    print(f", {sum(ours[entry.id].moved for entry in came)} of them with other numbers or another tree")
    print(f"not there: {', '.join(missing) or 'no file'}; {len(every) - len(came)} problems")
    print(f"accepted {len(accepted)}, with the list's CVXPY {len(before)} of these")
    print(f"read with CVXPY's own values at random points: {sum(bool(ours[name].values) for name in accepted)}")
    closed, listed_closed = (sum(known[e.id].closed(e) for e in came if e.optimum) for known in (ours, listed))
    print(f"closed in both arithmetics, of an optimum other than 0: {closed}, with the list's CVXPY {listed_closed}")
    for name in sorted(accepted - before):
        print(f"accepted here alone: {name}")
    wrong = [line for entry in came for line in _wrong(entry, ours[entry.id], entry.id in before)]
    print("\n".join(wrong) or "nothing is misread")
    return 1 if wrong or not came else 0


def _wrong(entry: CorpusSolve, result: Result, accepted: bool) -> Iterator[str]:
    if accepted and result.refused:
        yield f"refused here alone: {entry.id}: {result.refused}"
    if result.failed.startswith("reading"):
        yield f"{entry.id}: {result.failed}"
    if entry.id not in EXPLAINED:
        if result.misread:
            yield f"misread: {entry.id}: {result.misread}"
        if not result.moved and (why := result.contradicts(entry)):
            yield f"contradicts: {entry.id}: {why}"
