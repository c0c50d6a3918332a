"""Tikhonov's and Ivanov's form of landmarked ε-SVR: λ ↦ B = ‖w_λ‖, on the λ for which w_λ moves and the B for which the ball binds."""

from __future__ import annotations

import math
from fractions import Fraction

from simopt.core import validate
from simopt.equivalence.equivalence import Equivalence, Flat, equivalence
from simopt.equivalence.training import TrainingSet
from simopt.theorems.kj.regression.svr_families import active_range, exact_path, landmarked_svr, landmarked_svr_penalised, moving_range
from simopt.theorems.small_worlds.exact_svm import piece_at


@equivalence("landmarked-svr-tikhonov-to-ivanov", summary="landmarked SVR: λ → B = ‖w_λ‖, (λ₀, ∞) onto (0, B₁), with flat pieces; weak")
def tikhonov_to_ivanov(epsilon: float = 0.1) -> Equivalence:
    r"""The penalised landmarked ε-SVR and the one in a ball of radius B = ‖w_λ‖: a decreasing bijection of (λ₀, ∞) onto (0, B₁).

    If L(w) + (λ/2)‖w‖² is least at w_λ, then L(w) ≥ L(w_λ) for ‖w‖ ≤ ‖w_λ‖: w_λ solves the constrained form with B = ‖w_λ‖, and is its only
    solution. The loss is piecewise linear, so w_λ = p + q/λ in pieces, and ‖w_λ‖ *saturates*. Every λ ≤ λ₀ gives the least minimiser of the
    loss, whose norm is B₁, and every B ≥ B₁ has it among its solutions: nothing corresponds there. Pieces with q = 0 above λ₀, where w_λ
    rests at a corner of the loss, are flat: a range of λ for one B. If w = 0 minimises the loss (ε ≥ every |y_i|, say), nothing moves at
    all. The map and its ends come from the exact path, for tens of samples; each form is solved and certified for itself.

    Parameters
    ----------
    epsilon : float
        ε ≥ 0 of the loss, in both forms.
    """
    width = validate.nonnegative("epsilon", epsilon)

    def radius(lam: float, Z: TrainingSet) -> float:
        exact = Fraction(lam)
        return math.sqrt(piece_at(exact_path(Z, width), exact).squared_norm(exact))

    def strength(ball: float, Z: TrainingSet) -> float:
        square = Fraction(ball) ** 2
        path = exact_path(Z, width)
        piece = next(piece for piece in path if piece.low == 0 or piece.squared_norm(piece.low) >= square)
        rest = square - piece.still_square
        return math.sqrt(piece.moving_square / rest) if rest > 0 and not piece.flat else float(piece.high or 0)

    def flat(Z: TrainingSet) -> tuple[Flat, ...]:
        pieces = [piece for piece in exact_path(Z, width)[:-1] if piece.flat and piece.high is not None]
        return tuple(Flat((float(p.low), float(p.high or 0)), (math.sqrt(p.still_square),) * 2) for p in pieces)

    def standstill(Z: TrainingSet) -> str | None:
        if exact_path(Z, width)[-1].high is None:
            return f"w = 0 minimises the loss with ε = {width:g}: it is the solution for every λ and in every ball"
        return None

    return Equivalence(
        name="landmarked SVR, Tikhonov to Ivanov",
        source=landmarked_svr_penalised(width),
        target=landmarked_svr(width),
        map=radius,
        inverse=strength,
        source_interval=lambda Z: moving_range(Z, width),
        target_interval=lambda Z: active_range(Z, width),
        accuracy=1e-12,
        flat=flat,
        exists=standstill,
    )
