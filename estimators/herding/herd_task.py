"""One herding run from data to certificate: the Frank–Wolfe run, the precision it is in, and when it ends."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import Interrupted, InvalidProblem
from simopt.data.rows import MEMORY, Indices, Rows
from simopt.data.similarities import Similarity, SimilarityRule
from simopt.estimators.herding.herd_error import ErrorBound, error_bound
from simopt.estimators.herding.herd_record import Herd
from simopt.problems.domains.simplex import indices as distinct_indices
from simopt.solvers.herding.atoms import LazyAtoms
from simopt.solvers.herding.frank_wolfe import FrankWolfe, checked_rule, rule_name
from simopt.solvers.herding.frank_wolfe_steps import StepRule
from simopt.solvers.herding.gaussian_tiles import POWER, SUMS, UNIT, Fast
from simopt.solvers.herding.mean_embedding import PRECISIONS, MeanEmbedding, embed
from simopt.solvers.herding.reweight import reweighted
from simopt.solvers.herding.sample import EPS, WeightedSample
from simopt.solvers.herding.walk import StepState
from simopt.solving import provenance

MANY = 200_000  # steps after which a run that was given no limit ends
SMALL = 2000  # points up to which float64 costs nothing worth saving
NEAR = 4.0  # squared errors below this many times what rounding may have done are taken for rounding
SLACK = 0.25  # fraction of ε² that rounding may take before a finer precision is begun with
REPORT = 0.2  # seconds between two reports of progress


class HerdProgress(NamedTuple):
    """Steps done, atoms, the error as the run has it, seconds."""

    steps: int
    atoms: int
    error: float
    seconds: float


@dataclass(eq=False)
class HerdTask:
    """One call of `herd`.

    Attributes
    ----------
    chosen : indices of the candidates among the points, or None for all.
    target_error : ε, or None.
    limit, most : the most atoms, the most steps.
    """

    sample: WeightedSample
    chosen: Indices | None
    target_error: float | None
    limit: int
    most: int
    steps: str | StepRule
    reweight: bool
    progress: Callable[[HerdProgress], None] | None
    start: float
    message: str = ""
    trace: list[tuple[int, int, float]] = field(default_factory=list)
    embedding: MeanEmbedding = field(init=False)
    run: FrankWolfe = field(init=False)
    _reported: float = 0.0
    _most_rounding: float = 0.0
    _last: tuple[Indices, Array, ErrorBound] | None = None
    _known: tuple[str, Fast | None] | None = None

    def begin(self, precision: str) -> None:
        """Embed the mean in the first precision that is worth while, and put the run on its atoms."""
        level = self._first_level() if precision == "auto" else precision
        self.run = FrankWolfe(self._atoms(level), self.steps, limit=self.limit, memory=self.sample.rows.memory / 2)
        while self.target_error is not None and self._rounding() > SLACK * self.target_error * self.target_error and self._refine():
            pass

    def walk_on(self) -> None:
        """Steps until the error is certified, or cannot be."""
        enough = -math.inf if self.target_error is None else self.target_error * self.target_error  # ∞ for a huge ε, where ** would raise
        for state in self.run:
            self.trace.append((state.steps, state.atoms, math.sqrt(max(state.error_squared, 0.0))))
            self._report(state)
            if state.error_squared <= enough and state.error_squared + self._rounding() <= enough:
                excess = self._excess()
                if excess <= 0.0:
                    self.message = "the error asked for is certified"
                    return
                enough -= 1.1 * excess  # what the certificate has beyond the run's own estimate, the run has to win
            near = state.error_squared <= NEAR * self._most_rounding and state.error_squared <= NEAR * self._rounding()
            if near and not self._refine():
                self.message = "no further digits: the error is down to the rounding errors of float64"
                return
            if self.target_error is not None and state.distance > self.target_error and state.error_squared > 100.0 * self._most_rounding:
                self.message = f"out of reach: the hull of the candidates is at least {state.distance:.6g} away from ω"
                return
            if state.steps >= self.most:
                self.message = f"stopped after {state.steps} steps"
                return
        self.message = self.run.ended

    def finish(self, *, reweighting: bool = True) -> Herd:
        """The herd with its certificate; the best weights on its atoms if they were asked for."""
        local, weights = self._atoms_and_weights()
        indices = local if self.chosen is None else self.chosen[local]
        bound = self._bound(indices, weights)
        if reweighting and self.reweight and len(indices) > 1:
            atoms = self.run.walk.atoms
            better = reweighted(atoms.block(local, local), atoms.linear[local], self.embedding.square, weights)
            kept = better > 0.0
            other = error_bound(self.sample, self.embedding, indices[kept], better[kept] / math.fsum(better[kept]))
            if other.error < bound.error:
                bound, indices, weights = other, indices[kept], better[kept] / math.fsum(better[kept])
        picks = np.asarray(self.run.picks, dtype=np.intp)
        return Herd(
            indices=indices,
            weights=weights,
            points=self.sample.rows.take(indices),
            labels=self.sample.labels[indices],
            similarity=self.sample.similarity,
            error=bound.error,
            target_error=self.target_error,
            reached=self.target_error is None or bound.error <= self.target_error,
            message=self.message + ("; ω = 0 to rounding, so the classifier is 0" if self.embedding.vanishes else ""),
            picks=picks if self.chosen is None else self.chosen[picks],
            trace=np.array(self.trace, dtype=np.float64).reshape(-1, 3),
            seconds=time.perf_counter() - self.start,
            provenance=self._provenance(bound),
        )

    def _provenance(self, bound: ErrorBound) -> dict[str, Any]:
        return {
            "n": self.sample.n,
            "steps": rule_name(self.steps),
            "reweight": self.reweight,
            "precision": self.embedding.precision,
            "mean_norm": math.sqrt(max(self.embedding.square, 0.0)),
            "rounding": bound.rounding,
            "versions": dict(provenance.versions()),
        }

    def _first_level(self) -> str:
        """float32 if it may be good enough, judged by its error on similarities of 1."""
        if self.sample.n <= SMALL:
            return "float64"
        fast = self._fast("float32")
        if fast is None:
            return "float64"
        share = fast.relative * (2.0 * fast.radius) ** 2 + (POWER + SUMS) * UNIT["float32"]
        return "float32" if self.target_error is None or 3.0 * share <= 2.0 * self.target_error * self.target_error else "float64"

    def _atoms(self, level: str) -> LazyAtoms:
        """The candidates as atoms, with the mean embedded, in this precision."""
        sample = self.sample
        fast = self._fast(level)
        self.embedding = embed(sample, fast)
        self._last = None
        largest = 8.0 * EPS * float(np.max(self.embedding.lengths)) ** 2
        self._most_rounding = self.embedding.square_error + 2.0 * float(np.max(self.embedding.value_errors)) + largest
        lengths, labels, linear, rows = self.embedding.lengths, sample.labels, self.embedding.values, sample.rows
        if self.chosen is not None:
            rows = Rows("candidates", rows.take(self.chosen), memory=rows.memory)
            fast = Fast.of(sample.similarity, rows, level)
            lengths, labels, linear = lengths[self.chosen], labels[self.chosen], linear[self.chosen]
        return LazyAtoms(rows, labels, sample.similarity, linear, self.embedding.square, lengths**2, fast)

    def _fast(self, level: str) -> Fast | None:
        if self._known is None or self._known[0] != level:
            self._known = (level, Fast.of(self.sample.similarity, self.sample.rows, level))
        return self._known[1]

    def _refine(self) -> bool:
        """Go on in the next precision, if there is one with more digits."""
        present = self.embedding.precision
        if present == "direct":
            return False
        if present == "float64":
            direct = (self.sample.value_error + 8.0 * EPS * 512.0) * float(self.sample.target @ self.embedding.lengths) ** 2
            if self.embedding.square_error <= 8.0 * direct:
                return False
        atoms = self._atoms("float64" if present == "float32" else "direct")
        self.run.change(atoms)
        return True

    def _rounding(self) -> float:
        """A bound on what rounding in the embedding has added to or taken from ‖ω − ω̃‖² at the present weights."""
        found, walk = self.embedding, self.run.walk
        if walk.mass == 0.0:
            return found.square_error + 2.0 * float(np.mean(found.value_errors))
        local = walk.support
        errors = found.value_errors[local if self.chosen is None else self.chosen[local]]
        own = 4.0 * EPS * (found.square + walk.square)
        return found.square_error + 2.0 * float(walk.weights @ errors) + own

    def _excess(self) -> float:
        """error² − ε² of the present herd, as certified."""
        local, weights = self._atoms_and_weights()
        bound = self._bound(local if self.chosen is None else self.chosen[local], weights)
        target_error = self.target_error or 0.0
        return bound.error**2 - target_error * target_error

    def _bound(self, indices: Indices, weights: Array) -> ErrorBound:
        """The certificate; that of the last step is not computed twice."""
        if self._last is None or not np.array_equal(self._last[0], indices) or not np.array_equal(self._last[1], weights):
            self._last = (indices, weights, error_bound(self.sample, self.embedding, indices, weights))
        return self._last[2]

    def _atoms_and_weights(self) -> tuple[Indices, Array]:
        """Atoms in the order of their first pick, and their weights, from the raw weights alone (an interrupt may have come anywhere)."""
        raw = self.run.walk.raw
        local = np.flatnonzero(raw > 0.0)
        picked, first = np.unique(np.asarray(self.run.picks, dtype=np.intp), return_index=True)
        place = np.full(len(raw), len(self.run.picks))  # of an atom that an interrupt left with weight and without a pick
        place[picked] = first
        local = local[np.argsort(place[local], kind="stable")]
        return local, raw[local] / math.fsum(raw[local])

    def _report(self, state: StepState) -> None:
        if self.progress is None:
            return
        now = time.perf_counter()
        if now - self._reported >= REPORT:
            self._reported = now
            self.progress(HerdProgress(state.steps, state.atoms, math.sqrt(max(state.error_squared, 0.0)), now - self.start))


def herd_whole(
    points: Any,
    labels: npt.ArrayLike | None,
    similarity: str | SimilarityRule | Similarity,
    *,
    error: float | None = None,
    atoms: int | None = None,
    steps: str | StepRule = "uniform",
    reweight: bool = False,
    candidates: npt.ArrayLike | None = None,
    target: npt.ArrayLike | None = None,
    precision: str = "auto",
    max_iter: int | None = None,
    memory: float = MEMORY,
    progress: Callable[[HerdProgress], None] | None = None,
) -> Herd:
    """Herd all points at once; see `simopt.estimators.herding.herd.herd`, which can also herd them in blocks."""
    start = time.perf_counter()
    sample = WeightedSample.of(points, labels, similarity, target, memory=memory)
    chosen = None if candidates is None else distinct_indices("candidates", candidates, sample.n)
    limit = sample.n if chosen is None else len(chosen)
    if error is None and atoms is None:
        raise InvalidProblem("error: give the error that the herd may have, or the number of its atoms")
    target_error = None if error is None else validate.positive("error", error)
    if atoms is not None:
        given = validate.whole("atoms", atoms, minimum=1)
        if given > limit:
            raise InvalidProblem(f"atoms: {given} asked, but there are only {limit} {'points' if chosen is None else 'candidates'}")
        limit = given
    task = HerdTask(
        sample,
        chosen,
        target_error,
        limit,
        MANY if max_iter is None else validate.whole("max_iter", max_iter, minimum=1),
        checked_rule("steps", steps),
        reweight,
        progress,
        start,
    )
    task.begin(validate.choice("precision", precision, ("auto", *PRECISIONS)))
    try:
        task.walk_on()
        return task.finish()
    except KeyboardInterrupt:
        if not task.run.picks:
            raise
        task.message = "interrupted"
        raise Interrupted(task.finish(reweighting=False)) from None
