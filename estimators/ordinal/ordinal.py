r"""Ordinal regression with any similarity: landmarks, the hinges of EXC or IMC, thresholds learned or given; a rule with its certificate.

EXC (Chu & Keerthi 2007; Kar & Jain 2012, §3.3) penalises a sample of class y for a score that is not at least γ inside
[b_{y−1}, b_y). IMC penalises it at every threshold. Kar & Jain's ORLand is EXC on 50 random landmarks with fixed, equi-spaced thresholds.

Classes without training samples. With learned thresholds and Δ = 0 such a class gets an empty interval, so that it is never predicted. Its
neighbours divide what lies between them, and at the ends its threshold becomes ∓∞. With Δ > 0 it keeps an interval: of width exactly Δ
between its neighbours, centred in the interval there. At the ends it keeps one that begins γ beyond the training scores of the class next
to it (further where the spacing asks for it). None of this raises the loss. The hinges of b_j that decide are those of the samples just
below and above it, and a threshold that no sample pulls at is free. With given thresholds a class keeps the interval that it was given.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap, Values
from simopt.data.rows import Rows
from simopt.data.similarities import Similarity, SimilarityRule
from simopt.data.similarities.defaults import DEFAULT_OF_KAR_JAIN
from simopt.estimators.landmarked.landmark_predictor import demand_one_bound, landmark_map, provenance
from simopt.estimators.ordinal.ordinal_rule import FORMS, Labels, OrdinalErrors, OrdinalRule
from simopt.model.problem import Problem
from simopt.model.status import Status
from simopt.problems.bounds import Ball, Bound, Penalty
from simopt.problems.exc_fixed import EXCFixed
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.imc_ordinal import IMCOrdinal
from simopt.problems.thresholds.constant_scores import MOST_CLASSES, number_of_classes
from simopt.problems.thresholds.constant_scores import equispaced as spaced_evenly
from simopt.problems.thresholds.kinds import increasing
from simopt.solving.entry_points import solve
from simopt.solving.solution import Solution
from simopt.solving.solver import solvers_of

__all__ = ["OrdinalErrors", "OrdinalRule", "equispaced", "ordinal"]

LEARNED, EQUISPACED, CLARABEL = "learned", "equispaced", "clarabel"
NEARLY = 1e-3  # a relative gap that is not worth another solver
WORTH = 1.0  # one that is not worth a back end, where the problem's own solvers leave it: the best known point is better than none
PATIENCE = 4.0  # times what the first solver took
SURE = 100  # classes, or as many as samples: a larger label is rather a number than a class
STRENGTH = 1e-5  # λ by default, in units of the mean of ‖ψ‖² over γ; on wine and bank data 1e-3 was clearly worse, 1e-6 no better


def ordinal(
    points: Any,
    labels: npt.ArrayLike,
    similarity: str | SimilarityRule | Similarity | Values = DEFAULT_OF_KAR_JAIN,
    *,
    classes: int | None = None,
    landmarks: int | npt.ArrayLike = 50,
    thresholds: str | npt.ArrayLike = LEARNED,
    form: str = "exc",
    radius: float | None = None,
    regularization: float | None = None,
    gamma: float | None = None,
    delta: float = 0.0,
    weights: npt.ArrayLike | None = None,
    solver: str | None = None,
    tol: float = 1e-8,
    time_limit: float = 60.0,
    seed: int = 0,
) -> OrdinalRule:
    """min_{w,b} (1/n) Σ_i [b_{y_i−1} + γ − ⟨w, Ψ(x_i)⟩]_+ + [⟨w, Ψ(x_i)⟩ − b_{y_i} + γ]_+  with ‖w‖ ≤ B or + (λ/2)‖w‖².

    Parameters
    ----------
    points : (n, p) array, memory map or Dask array
    labels : (n,) array
        whole numbers 1, …, r; at least two of them must occur.
    similarity : str, Similarity or function
        symmetric or not, PSD or not; the parameters of one given by name are chosen from the points.
    classes : int, optional
        r; the largest label by default.
    landmarks : int or (d, p) array
        how many are drawn from the points (all of fewer), or the landmarks themselves.
    thresholds : "learned", "equispaced" or (r − 1,) array
        equi-spaced ones are b_j = j + 1/2, so that the score is a number that is rounded to a label.
    form : str
        "exc", or "imc" (learned thresholds only; they come out in order by themselves, so there is no Δ).
    radius, regularization : float, optional
        B or λ, not both; by default λ = 10⁻⁵ mean ‖ψ_i‖² / γ, which has the units that λ must have.
    gamma : float, optional
        γ > 0; by default 1 for learned thresholds (another γ is another λ, if Δ = 0) and half of the least spacing for given ones. Then
        the hinges of a class of that width are |f − middle|.
    delta : float
        Δ ≥ 0, spacing of learned thresholds of EXC.
    weights : (n,) array, optional
        ≥ 0, not all 0; the shares of the samples stand in place of 1/n.
    solver, tol, time_limit
        as for `simopt.solve`. By default the best solver that the problem has, and where its certificate stays open the next one.
    seed : int
        of the draw of landmarks.

    Raises
    ------
    InvalidProblem
        for labels that are not whole or not 1, …, r (with the index), only one label, γ ≤ 0, Δ < 0, and thresholds that do not increase
        (naming the pair). Also for both B and λ, values that are not finite, lengths that disagree, and when no point was found (saying
        why).
    """
    rows = Rows.of("points", points, check_first=False)
    y, r = training_labels(labels, classes, rows.n)
    cuts, margins = cuts_and_margins(thresholds, r, gamma, delta)
    mass = None if weights is None else validate.weights("weights", weights, length=rows.n, like="points")
    psi = landmark_map(rows, landmarks, similarity, seed)
    return rule_on(
        psi,
        psi(rows),
        y,
        r,
        cuts,
        margins,
        mass,
        form=form,
        radius=radius,
        regularization=regularization,
        solver=solver,
        tol=tol,
        time_limit=time_limit,
    )


def rule_on(
    psi: LandmarkMap,
    features: Array,
    labels: Labels,
    classes: int,
    cuts: Array | None,
    margins: dict[str, float],
    weights: Array | None,
    *,
    form: str,
    radius: float | None,
    regularization: float | None,
    solver: str | None,
    tol: float,
    time_limit: float,
) -> OrdinalRule:
    """The rule of `ordinal`, of what is checked already: Ψ and its values (n, d), labels 1, …, r, thresholds if given, γ and Δ, weights.

    Raises
    ------
    InvalidProblem
        for what `ordinal_problem` refuses, and when no point was found (saying why).
    """
    problem = ordinal_problem(features, labels, classes, cuts, form, radius, regularization, margins, weights)
    solution = certified(problem, solver, tol=tol, time_limit=time_limit)
    if solution.point is None or solution.certificate is None:
        raise InvalidProblem(f"{problem.name}: no point was found ({solution.message or solution.status.value})")
    w = np.asarray(solution.point["w"])
    counts = np.bincount(labels, minlength=classes + 1)[1:]
    b = thresholds_of(solution.point, cuts, features @ w, labels, counts, margins)
    made = provenance(problem, solution, len(labels))
    return OrdinalRule(psi.similarity, psi.landmarks, w, b, counts, form, solution.certificate, **margins, provenance=made)


def certified(problem: Problem, solver: str | None = None, *, tol: float = 1e-8, time_limit: float = 60.0, record: bool = True) -> Solution:
    """By the solver asked for; by default by the problem's own, best first, then CLARABEL, until a certificate closes: the least gap.

    One clock runs for all of them. Another solver can win no more than the gap. After a gap of at most NEARLY of the scale none is asked.
    Otherwise it gets at most PATIENCE times the seconds that have gone already (one second at least). CLARABEL is asked where no gap of at
    most WORTH times the scale is known. For LandmarkedSVR in balls of radius 10⁷ and 10⁹ the problem's own solvers left 0.001 to 0.8.
    CLARABEL took 1 to 5 s in place of 0.1 s and left 10 to 3500.
    """
    if solver is not None:
        return solve(problem, solver, tol=tol, time_limit=time_limit, record=record)
    limit = validate.seconds("time_limit", time_limit)
    able = [spec.name for spec in solvers_of(problem) if spec.reason_against(problem) is None]
    found: list[Solution] = []
    begin, time_left = time.perf_counter(), limit
    for name in (*able, CLARABEL):
        if name == CLARABEL and any(_certified_to(solution, WORTH) for solution in found):
            break
        found.append(solve(problem, name, tol=tol, time_limit=time_left, record=record))
        spent = time.perf_counter() - begin
        time_left = min(limit - spent, max(PATIENCE * spent, 1.0))
        if _certified_to(found[-1], max(tol, NEARLY)) or found[-1].status in (Status.OPTIMAL, Status.TIME_LIMIT) or time_left <= 0.0:
            break
    return min(found, key=lambda solution: math.inf if solution.certificate is None else solution.certificate.gap)


def _certified_to(solution: Solution, tol: float) -> bool:
    """Whether there is a certificate, and it closes at that tolerance."""
    return solution.certificate is not None and solution.certificate.closes(tol)


def training_labels(labels: npt.ArrayLike, classes: int | None, length: int) -> tuple[Labels, int]:
    """Labels as whole numbers 1, …, r, and r.

    Raises
    ------
    InvalidProblem
        for labels that are not whole or outside 1, …, r (with the first index and a remedy), and when only one occurs.
    """
    y = validate.vector("labels", labels, length=length, like="points")
    odd = np.flatnonzero(y != np.round(y))
    if odd.size:
        i = int(odd[0])
        raise InvalidProblem(
            f"labels: {float(y[i]):g} at index {i} is not a whole number ({odd.size} of {y.size} are not); classes are 1, …, r"
        )
    r = int(y.max()) if classes is None else number_of_classes("classes", classes)
    if classes is None and r > max(length, SURE):
        remedy = f"if there are so many classes, give classes={r}" if r <= MOST_CLASSES else "number the classes 1, …, r"
        raise InvalidProblem(f"labels: the largest is {r}, of {length} samples; {remedy}")
    number_of_classes("classes", max(r, 2))
    outside = np.flatnonzero((y < 1) | (y > r))
    if outside.size:
        i, least = int(outside[0]), int(y.min())
        remedy = f"add {1 - least} to all of them" if least < 1 else f"give classes={int(y.max())}, or merge classes"
        last = r if r > 1 else "r"
        raise InvalidProblem(f"labels: {float(y[i]):g} at index {i} is not in 1, …, {last} ({outside.size} of {y.size} are not); {remedy}")
    if np.all(y == y[0]):
        raise InvalidProblem(
            f"labels: all {y.size} samples have the label {int(y[0])}; at least two labels must occur to tell classes apart"
        )
    return y.astype(np.intp), r


def equispaced(classes: int) -> Array:
    """b_j = j + 1/2, j = 1, …, r − 1: class y has the interval [y − ½, y + ½), and those at the ends all beyond."""
    classes = validate.whole("classes", classes, minimum=2)
    return spaced_evenly(classes, 1.0, 0.5 * (classes + 1))


def threshold_shift(b: Array, scores: Array, labels: Labels, counts: Labels, gamma: float, delta: float) -> Array:
    """Learned thresholds with those of classes without samples moved to where the module's docstring says; the loss does not rise."""
    b = np.maximum.accumulate(np.asarray(b, dtype=float))
    present = np.flatnonzero(counts) + 1
    first, last = int(present[0]), int(present[-1])
    for low, high in pairwise(present):
        if high - low > 1:  # thresholds low, …, high − 1 lie between two classes that occur
            run = b[low - 1 : high - 1]
            steps = (np.arange(run.size) - 0.5 * (run.size - 1)) * delta
            b[low - 1 : high - 1] = np.clip(run.mean() + steps, run[0], run[-1])
    for k in range(first - 1, 0, -1):  # the threshold above class k, which has no samples, nor have those below
        free = float(scores[labels == first].min()) - gamma
        b[k - 1] = min(free, b[k] - delta) if delta > 0.0 and k == first - 1 else b[k] - delta if delta > 0.0 else -math.inf
    for k in range(last, len(counts)):  # the threshold below class k + 1
        free = float(scores[labels == last].max()) + gamma
        b[k - 1] = max(free, b[k - 2] + delta) if delta > 0.0 and k == last else b[k - 2] + delta if delta > 0.0 else math.inf
    return b


def cuts_and_margins(
    thresholds: str | npt.ArrayLike, classes: int, gamma: float | None, delta: float
) -> tuple[Array | None, dict[str, float]]:
    """Thresholds that are given (None: learned), and γ and Δ, by default as `ordinal` has them."""
    cuts = _cuts(thresholds, classes)
    margin = _default_margin(cuts) if gamma is None else validate.positive("gamma", gamma)
    return cuts, {"gamma": margin, "delta": validate.nonnegative("delta", delta)}


def middles(cuts: Array | None, classes: int, gamma: float) -> Array:
    """A score for each class: the middle of its interval, at the ends γ beyond the threshold; 2γ apart where thresholds are learned."""
    if cuts is None:
        return 2.0 * gamma * np.arange(float(classes))
    inner: Array = 0.5 * (cuts[1:] + cuts[:-1])
    return np.concatenate([[cuts[0] - gamma], inner, [cuts[-1] + gamma]])


def thresholds_of(
    point: Mapping[str, Any], cuts: Array | None, scores: Array, labels: Labels, counts: Labels, margins: dict[str, float]
) -> Array:
    """The thresholds of a rule: those given, or the learned ones of a point, whose scores of the training samples are given, shifted."""
    return cuts if cuts is not None else threshold_shift(np.asarray(point["thresholds"]), scores, labels, counts, **margins)


def _cuts(thresholds: str | npt.ArrayLike, classes: int) -> Array | None:
    if isinstance(thresholds, str):
        return None if validate.choice("thresholds", thresholds, (LEARNED, EQUISPACED)) == LEARNED else equispaced(classes)
    return increasing("thresholds", thresholds, classes)


def _default_margin(cuts: Array | None) -> float:
    return 1.0 if cuts is None or cuts.size < 2 else 0.5 * float(np.diff(cuts).min())


def ordinal_problem(
    features: Array,
    labels: Labels,
    classes: int,
    cuts: Array | None,
    form: str,
    radius: float | None,
    regularization: float | None,
    margins: dict[str, float],
    weights: Array | None = None,
) -> Problem:
    """The programme that `ordinal` solves, of features that are there already.

    Raises
    ------
    InvalidProblem
        for both B and λ, and for thresholds or a spacing that the form does not have.
    """
    validate.choice("form", form, FORMS)
    demand_one_bound(radius, regularization)
    if form == "imc" and (cuts is not None or margins["delta"] > 0.0):
        given = "thresholds" if cuts is not None else "delta"
        raise InvalidProblem(f"{given}: not with form='imc', whose thresholds are learned and in order without a spacing; take form='exc'")
    if cuts is not None and margins["delta"] > 0.0:
        raise InvalidProblem("delta: a spacing of thresholds that are given; it is for learned ones")
    bound: Bound
    if radius is not None:
        bound = Ball(radius)
    else:
        bound = Penalty(_default_strength(features, margins["gamma"], weights) if regularization is None else regularization)
    kind: Any = IMCOrdinal if form == "imc" else EXCOrdinal if cuts is None else EXCFixed
    own = {"thresholds": cuts} if cuts is not None else {"delta": margins["delta"]} if form == "exc" else {}
    made: Problem = kind(features, labels, classes, gamma=margins["gamma"], bound=bound, weights=weights, **own)
    return made


def _default_strength(features: Array, gamma: float, weights: Array | None = None) -> float:
    return STRENGTH * unit_of_strength(features, gamma, weights)


def unit_of_strength(features: Array, gamma: float, weights: Array | None = None) -> float:
    """mean ‖ψ_i‖²/γ, the unit of λ."""
    return (float(np.average(np.einsum("ij,ij->i", features, features), weights=weights)) or 1.0) / gamma
