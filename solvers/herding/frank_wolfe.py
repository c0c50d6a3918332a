"""Frank–Wolfe methods on hulls of labelled feature vectors: one run, several step rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from simopt.core import validate
from simopt.data.rows import MEMORY
from simopt.solvers.herding.atoms import Atoms
from simopt.solvers.herding.frank_wolfe_steps import STEP_TAKEN, Away, Blended, LineSearch, Pairwise, StepRule, Uniform
from simopt.solvers.herding.min_norm_point import FullyCorrective
from simopt.solvers.herding.walk import StepState, Walk
from simopt.solving.solution import Iterate

STEPS: dict[str, Callable[[], StepRule]] = {
    "uniform": Uniform,
    "line-search": LineSearch,
    "away": Away,
    "pairwise": Pairwise,
    "blended": Blended,
    "fully-corrective": FullyCorrective,
}
REFRESH = 1000  # steps after which rules that keep columns compute the image afresh


def checked_rule(name: str, steps: str | StepRule) -> str | StepRule:
    """A rule, or the name of one.

    Raises
    ------
    InvalidProblem
        for what is neither, with the names.
    """
    return steps if isinstance(steps, StepRule) else validate.choice(name, steps, list(STEPS))


def rule_name(steps: str | StepRule) -> str:
    """The name of a rule in records: its own, or that of its class."""
    return steps if isinstance(steps, str) else type(steps).__name__


class FrankWolfe:
    """A run: iterate over it for a `StepState` before every step; it ends when the rule finds no step, and `ended` says why.

    Starts with all weight on the atom of largest ⟨ω, ψ_j⟩ (of several the first), the step of size 1 that every rule begins with.

    Parameters
    ----------
    atoms : Atoms
    steps : str or StepRule
        "uniform", "line-search", "away", "pairwise", "blended" or "fully-corrective", or a rule of one's own.
    limit : int, optional
        most atoms that may have weight.
    memory : float
        bytes for columns that are kept.
    """

    def __init__(
        self, atoms: Atoms, steps: str | StepRule = "fully-corrective", *, limit: int | None = None, memory: float = MEMORY
    ) -> None:
        rule = checked_rule("steps", steps)
        self.rule = rule.begin() if isinstance(rule, StepRule) else STEPS[rule]()
        self.walk = Walk(atoms)
        self.picks: list[int] = []
        self.ended = ""
        self._changed = False
        self._limit = len(atoms) if limit is None else limit
        self._memory = memory if self.rule.keeps_columns else 0.0
        atoms.keep_columns(self._memory)

    def change(self, atoms: Atoms) -> None:
        """Go on from the present weights with the same atoms in another precision."""
        atoms.keep_columns(self._memory)
        self.walk.rebase(atoms)
        self._changed = True

    def __iter__(self) -> Iterator[StepState]:
        if not self.picks:
            first = int(np.argmax(self.walk.atoms.linear))
            self.walk.shift(first, 1.0)
            self.picks.append(first)
        walk = self.walk
        while True:
            walk.rescale()
            scores = walk.scores()
            s = int(scores.argmin())
            gap = walk.slope - float(scores[s]) / walk.mass
            yield StepState(len(self.picks), walk.count, walk.error_squared, gap)
            if self._changed or (self.rule.keeps_columns and len(self.picks) % REFRESH == 0):
                if not self._changed:
                    walk.refresh()
                self._changed = False
                scores = walk.scores()
                s = int(scores.argmin())
                gap = walk.slope - float(scores[s]) / walk.mass
            self.ended = self.rule.step(walk, scores, s, gap, walk.count < self._limit)
            if self.ended != STEP_TAKEN:
                return
            self.picks.append(s)


def iterates(atoms: Atoms, unit: float, steps: str | StepRule, max_iter: int) -> Iterator[Iterate]:
    """A run's weights before every step, `max_iter` of them at most, with `unit` times the gap ⟨ω̃ − ω, ω̃ − ψ_s⟩."""
    run = FrankWolfe(atoms, steps)
    for state in run:
        yield Iterate({"weights": run.walk.dense}, None, unit * state.gap)
        if state.steps >= max_iter:
            return
