"""Frank–Wolfe methods on hulls of labelled feature vectors: one run, several step rules; and the solver "frank-wolfe" made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.data.rows import MEMORY
from simopt.ground import validate
from simopt.problems.herding import Herding
from simopt.problems.hinge_svm_hull import HingeSVMHull
from simopt.solvers.herding.atoms import Atoms, StoredAtoms
from simopt.solvers.herding.frank_wolfe_steps import MOVED, Away, Blended, LineSearch, Pairwise, Rule, Uniform
from simopt.solvers.herding.min_norm_point import FullyCorrective
from simopt.solvers.herding.walk import Look, Walk
from simopt.solving.problem import Problem
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

STEPS: dict[str, Callable[[], Rule]] = {
    "uniform": Uniform,
    "line-search": LineSearch,
    "away": Away,
    "pairwise": Pairwise,
    "blended": Blended,
    "fully-corrective": FullyCorrective,
}
REFRESH = 1000  # steps after which rules that keep columns compute the image afresh
ROWS = 512  # rows of a Gram matrix looked at in one go


class FrankWolfe:
    """A run: iterate over it for a `Look` before every step; it ends when the rule finds no step, and `ended` says why.

    Starts with all weight on the atom of largest ⟨ω, ψ_j⟩ (of several the first), the step of size 1 that every rule begins with.

    Parameters
    ----------
    atoms : Atoms
    steps : str
        "uniform", "line-search", "away", "pairwise", "blended" or "fully-corrective".
    limit : int, optional
        most atoms that may have weight.
    memory : float
        bytes for columns that are kept.
    """

    def __init__(self, atoms: Atoms, steps: str = "fully-corrective", *, limit: int | None = None, memory: float = MEMORY) -> None:
        self.rule = STEPS[validate.choice("steps", steps, list(STEPS))]()
        self.walk = Walk(atoms)
        self.picks: list[int] = []
        self.ended = ""
        self._changed = False
        self._limit = len(atoms) if limit is None else limit
        self._memory = memory if self.rule.keeps else 0.0
        atoms.keep_columns(self._memory)

    def change(self, atoms: Atoms) -> None:
        """Go on from the present weights with the same atoms in another precision."""
        atoms.keep_columns(self._memory)
        self.walk.rebase(atoms)
        self._changed = True

    def __iter__(self) -> Iterator[Look]:
        if not self.picks:
            first = int(np.argmax(self.walk.atoms.linear))
            self.walk.shift(first, 1.0)
            self.picks.append(first)
        while True:
            scores = self.walk.scores()
            s = int(np.argmin(scores))
            gap = self.walk.slope - float(scores[s]) / self.walk.mass
            yield Look(len(self.picks), len(self.walk.support), self.walk.error_squared, gap)
            if self._changed or (self.rule.keeps and len(self.picks) % REFRESH == 0):
                if not self._changed:
                    self.walk.refresh()
                self._changed = False
                scores = self.walk.scores()
                s = int(np.argmin(scores))
                gap = self.walk.slope - float(scores[s]) / self.walk.mass
            self.ended = self.rule(self.walk, scores, s, gap, len(self.walk.support) < self._limit)
            if self.ended != MOVED:
                return
            self.picks.append(s)


def _run(atoms: Atoms, unit: float, steps: str, max_iter: int) -> Iterator[Iterate]:
    run = FrankWolfe(atoms, steps)
    for look in run:
        yield Iterate({"weights": run.walk.dense}, None, unit * look.gap)
        if look.steps >= max_iter:
            return


@solver(
    "frank-wolfe", solves=Herding, summary="Frank–Wolfe steps on the hull; by default fully corrective (Wolfe's nearest point)", rank=10
)
def frank_wolfe(problem: Herding, *, tol: float, steps: str = "fully-corrective", max_iter: int = 100_000) -> Iterator[Iterate]:
    """The point of the hull nearest to ω_P; gap 2⟨ω − ω_P, ω − ψ_s⟩.

    `steps` is "uniform" (kernel herding), "line-search" (Algorithm 1), "away", "pairwise", "blended" or "fully-corrective". All but the
    first two converge linearly. O(k) a step and, where steps correct weights, O(|S|²) with |S| atoms that have weight.
    """
    linear = problem.scores(problem.target_weights())
    square = float(problem.target_weights() @ linear)
    chosen = problem.candidates
    atoms = StoredAtoms(problem.gram, problem.labels, linear[problem.atoms], square, chosen)
    yield from _run(atoms, 2.0, steps, max_iter)


def _largest_margin(problem: HingeSVMHull) -> float:
    """max_ij y_i y_j K_ij: no function in the hull has a larger margin."""
    y, largest = problem.labels, -np.inf
    for start in range(0, len(y), ROWS):
        rows = slice(start, start + ROWS)
        largest = max(largest, float(np.max(y[rows, None] * problem.gram[rows] * y)))
    return largest


def _bends(problem: Problem) -> str | None:
    if isinstance(problem, HingeSVMHull) and _largest_margin(problem) > 1.0:
        return (
            f"margins in the hull reach {_largest_margin(problem):.6g} > 1, where the hinge bends; with similarities of at most 1 "
            "it is linear and the problem is herding"
        )
    return None


@solver(
    "frank-wolfe",
    solves=HingeSVMHull,
    summary="the same where the hinge is linear on the hull: herding of ω_S/λ",
    supports=_bends,
    rank=10,
)
def frank_wolfe_hull(problem: HingeSVMHull, *, tol: float, steps: str = "fully-corrective", max_iter: int = 100_000) -> Iterator[Iterate]:
    """With linear hinges the objective is 1 − ⟨ω_S, ω⟩ + (λ/2)‖ω‖² = (λ/2)‖ω − ω_S/λ‖² + const.; gap λ⟨ω − ω_S/λ, ω − ψ_s⟩."""
    linear = problem.scores(FLOAT, np.full(len(problem.labels), 1.0 / len(problem.labels)))
    strength = problem.regularization
    square = float(np.mean(linear)) / strength**2
    yield from _run(StoredAtoms(problem.gram, problem.labels, linear / strength, square), strength, steps, max_iter)
