r"""GLM-tron, Isotron and L-Isotron in a kernel's space: w = Σ α_j φ(x_j), α^{t+1} = α^t + (η/m)(y − u^t(f^t)), f^t = Kα^t.

A round costs one product with K. It is done by the half of K on one side of the diagonal (BLAS `symv`), and f is kept beside α.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.equivalence.training import TrainingSet
from simopt.estimators.index_models.index_model import IndexFit, choose
from simopt.estimators.index_models.index_record import Function
from simopt.estimators.index_models.isotron import HeldOutTargets, Space, Validation, hold_out, masses, rounds
from simopt.estimators.index_models.transfer import Transfer, checked_transfer
from simopt.estimators.index_models.update_rules import FittedTransfer, KnownTransfer, UpdateRule


class KernelSpace(Space):
    """Coefficients α, f = Kα, and the values at points held out."""

    def __init__(self, gram: Array, cross: Array | None, index: Callable[[Array], Function]) -> None:
        from scipy.linalg.blas import dsymv

        # K is symmetric: of one stored by rows the transpose is stored by columns, as BLAS wants it, without a copy.
        self._gram = np.asfortranarray(gram.T if gram.flags.c_contiguous else gram)
        self._multiply = dsymv
        self._cross, self._index = cross, index
        m = gram.shape[0]
        self.state, self.scores = np.zeros(m), np.zeros(m)
        self.held_out = np.zeros(0 if cross is None else cross.shape[0])

    def step(self, r: Array, rate: float) -> float:
        """One product with K, and one with the cross-Gram matrix of the hold-out."""
        move = (rate / r.size) * r
        image = np.asarray(self._multiply(1.0, self._gram, move))
        self.state = self.state + move
        self.scores = self.scores + image
        if self._cross is not None:
            self.held_out = self.held_out + self._cross @ move
        return math.sqrt(max(float(move @ image), 0.0))

    def norm(self) -> float:
        """‖w‖_H = √(αᵀf)."""
        return math.sqrt(max(float(self.state @ self.scores), 0.0))

    def index(self, state: Array) -> Function:
        """x ↦ Σ α_j k(x, x_j)."""
        return self._index(state)


def _space(
    training: TrainingSet, validation: Validation | None, held_weights: npt.ArrayLike | None = None
) -> tuple[Space, Array, HeldOutTargets | None]:
    if not isinstance(training, TrainingSet):
        raise InvalidProblem(f"training: {type(training).__name__} given, TrainingSet(inputs, targets, similarity) needed")
    targets = validate.squarable("targets", training.targets)
    outside, held_out = hold_out(validation, training.inputs.shape[1], held_weights)
    cross = None if outside is None else np.asarray(training.similarity(outside, training.inputs))
    return KernelSpace(training.gram, cross, training.function), targets, held_out


def kernel_glm_tron(
    training: TrainingSet, transfer: Transfer | Function | str = "logistic", *, validation: Validation | None = None, **options: Any
) -> IndexFit:
    """GLM-tron in the space of the training set's similarity; k(x, x) ≤ 1 in the paper.

    Parameters
    ----------
    training : TrainingSet
        inputs, targets and similarity.
    transfer : name, Transfer or callable
    validation : pair of arrays, optional
        inputs and targets held out.
    **options
        rate, max_iter, tol, patience, keep, progress, as for `isotron.glm_tron`.

    m² numbers for K; a round costs m² multiplications. Source: Kakade, Kalai, Kanade & Shamir 2011, §2 and Algorithm 1.
    """
    space, targets, held_out = _space(training, validation)
    rule = KnownTransfer(transfer if isinstance(transfer, Transfer) else checked_transfer(transfer))
    return _run(space, targets, rule, held_out, options)


def kernel_l_isotron(
    training: TrainingSet,
    lipschitz: float = 1.0,
    *,
    warm: bool = True,
    weights: npt.ArrayLike | None = None,
    held_weights: npt.ArrayLike | None = None,
    validation: Validation | None = None,
    **options: Any,
) -> IndexFit:
    """L-Isotron in the space of the training set's similarity; L = ∞ is Isotron. Parameters as for `kernel_glm_tron` and `l_isotron`."""
    space, targets, held_out = _space(training, validation, held_weights)
    mass = masses("weights", weights, targets.size)
    return _run(space, targets, FittedTransfer(targets, lipschitz, warm=warm, weights=mass), held_out, options, mass)


def kernel_isotron(training: TrainingSet, **options: Any) -> IndexFit:
    """Isotron in the space of the training set's similarity."""
    return kernel_l_isotron(training, math.inf, **options)


def _run(
    space: Space, targets: Array, rule: UpdateRule, held_out: HeldOutTargets | None, options: dict[str, Any], weights: Array | None = None
) -> IndexFit:
    allowed = ("rate", "max_iter", "tol", "patience", "keep", "progress")
    for name in options:
        if name not in allowed:
            raise UnknownName("option", name, allowed)
    rest = dict(options)
    steps = rounds(space, targets, rule, rate=rest.pop("rate", 1.0), held_out=held_out, weights=weights)
    return choose(steps, space.index, held_out is not None, **rest)
