"""Better weights for atoms that were chosen already."""

from __future__ import annotations

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.herding.atoms import StoredAtoms
from simopt.solvers.herding.frank_wolfe_steps import STEP_TAKEN, Blended
from simopt.solvers.herding.min_norm_point import best_weights
from simopt.solvers.herding.walk import Walk

EXACT = 1500  # atoms up to which the best weights are solved for
PAIRWISE = 5  # blended steps for every atom before that, at most


def reweighted(gram: Array, linear: Array, square: float, start: Array) -> Array:
    """Weights w ≥ 0 with Σ w = 1 of no larger ‖ω − Σ w_j ψ_j‖ than `start`: the best ones for at most 1500 atoms, near them for more.

    At most 5 k blended steps take weight from atoms that have too much of it. A step among m atoms is O(mk), and O(m) for each of its at
    most 10 m exchanges. Then, for at most 1500 atoms, active sets solve for the rest, whose first factorisation is O(k³). Atoms may end
    with weight exactly 0.

    Parameters
    ----------
    gram : (k, k) array
        ⟨ψ_i, ψ_j⟩.
    linear : (k,) array
        ⟨ω, ψ_j⟩.
    square : float
        ‖ω‖².
    start : (k,) array
        weights to begin with.
    """
    atoms = StoredAtoms(gram, np.ones(len(gram)), linear, square)
    walk, rule = Walk(atoms), Blended()
    positive = np.flatnonzero(start > 0.0)
    walk.assign(positive, start[positive])
    for _ in range(PAIRWISE * len(gram)):
        scores = walk.scores()
        s = int(np.argmin(scores))
        if rule.step(walk, scores, s, walk.slope - float(scores[s]) / walk.mass, True) != STEP_TAKEN:
            break
    near = walk.dense
    return near if len(gram) > EXACT else best_weights(gram, linear, square, near)
