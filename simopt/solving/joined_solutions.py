"""Consecutive solves of one problem as one solution: the better of each bound, one trace, and the sum of their seconds."""

from __future__ import annotations

from dataclasses import replace

from simopt.arithmetic import BY_NAME
from simopt.certificates.assessment import Assessment, rank
from simopt.duality.declared import Declared
from simopt.model.status import Status
from simopt.solving.best_bounds import paired
from simopt.solving.run import CHANGED
from simopt.solving.solution import Sample, Solution, Trace, frozen


def later(sample: Sample, first: Solution) -> Sample:
    """A sample of a second solve on the clock of the first."""
    made = first.provenance
    return replace(sample, seconds=sample.seconds + made.solve_seconds, iteration=sample.iteration + made.iterations)


def data_changed(solution: Solution) -> bool:
    """Whether the data of the problem changed during the solve."""
    return solution.reported_status == CHANGED[1]


def of_changed_data(solution: Solution) -> Solution:
    """The solution without point and bounds, since the data changed."""
    status, reported, message = CHANGED
    return replace(solution, status=status, reported_status=reported, message=message or "", point=None, multipliers=None, certificate=None)


def joined_solutions(declared: Declared, first: Solution, second: Solution) -> Solution:
    """Two consecutive solves as one solution."""
    one, two = first.provenance, second.provenance
    made = replace(
        one,
        iterations=one.iterations + two.iterations,
        setup_seconds=one.setup_seconds + two.setup_seconds,
        solve_seconds=one.solve_seconds + two.solve_seconds,
    )
    samples = (*first.trace.samples, *(later(sample, first) for sample in second.trace.samples))
    if data_changed(second) or one.fingerprint != two.fingerprint:
        return replace(of_changed_data(second), trace=Trace(samples, "tolerance"), provenance=made)
    stopped = second.status is Status.INTERRUPTED
    better = second if stopped or (first.point is None and second.point is not None) else first
    ours, theirs = assessment_of(first), assessment_of(second)
    if ours is None or theirs is None:
        known = ours or theirs
    else:
        known = paired(declared, ours, theirs, BY_NAME[theirs.certificate.arithmetic])
        better = second if stopped or rank(theirs.certificate) < rank(ours.certificate) else first
        last = known.certificate
        if known is not ours and known is not theirs:
            samples += (Sample(made.solve_seconds, made.iterations, last.upper, last.lower, last.gap),)
    if known is not None:
        better = replace(better, point=frozen(known.point), multipliers=frozen(known.multipliers), certificate=known.certificate)
        if known.certificate.closes(one.tol) and not stopped:
            better = replace(better, status=Status.OPTIMAL, message="")
    return replace(better, trace=Trace(samples, "tolerance"), provenance=made)


def assessment_of(solution: Solution) -> Assessment | None:
    """Point, multipliers and certificate of a solution; None where it lacks the first or the last."""
    if solution.point is None or solution.certificate is None:
        return None
    return Assessment(solution.certificate, dict(solution.point), None if solution.multipliers is None else dict(solution.multipliers))
