r"""The convex hull C of rational points: nearest point (P. Wolfe, 1976), and where a ray through it enters and leaves, exactly.

Points are given by their Gram matrix G and by b_i = ⟨v, ψ_i⟩ for the point v to be approached; ‖v‖² only shifts the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from simopt.theorems.small_worlds.exact_svm import Gram, mean_margins, solve
from simopt.theorems.small_worlds.worlds import dot


def nearest(G: Gram, b: Sequence[Fraction]) -> list[Fraction]:
    """Weights w ∈ Δ_n of the point of C nearest to v: argmin ½ wᵀGw − bᵀw.

    Wolfe's method on an affinely independent set S: move to the minimiser over the affine hull of S. If that lies outside, move as far as
    the weights allow and drop the atoms that reach 0. Then add the atom that promises most. The objective falls with every minimiser
    reached, so that no set comes twice. O(|S|³) a step.
    """
    n = len(G)
    first = min(range(n), key=lambda i: G[i][i] - 2 * b[i])
    weights = [Fraction(int(i == first)) for i in range(n)]
    support = [first]
    while True:
        slopes = [dot(G[i], weights) - b[i] for i in range(n)]
        best = min(range(n), key=lambda i: slopes[i])
        if slopes[best] >= dot(weights, slopes):
            return weights
        support.append(best)
        weights, support = _corrected(G, b, weights, support)


def _corrected(G: Gram, b: Sequence[Fraction], weights: list[Fraction], support: list[int]) -> tuple[list[Fraction], list[int]]:
    """The minimiser over the affine hull of a subset of `support` in whose hull it lies; its weights and that subset."""
    while True:
        aim = _affine(G, b, support)
        short = [i for i in support if aim[i] <= 0]
        if not short:
            return aim, support
        step = min(weights[i] / (weights[i] - aim[i]) if weights[i] > 0 else Fraction(0) for i in short)
        weights = [(1 - step) * w + step * a for w, a in zip(weights, aim, strict=True)]
        support = [i for i in support if weights[i] > 0]


def _affine(G: Gram, b: Sequence[Fraction], support: Sequence[int]) -> list[Fraction]:
    """Minimiser of ½ wᵀGw − bᵀw over Σ w = 1, w = 0 off the support."""
    one = Fraction(1)
    rows = [[*(G[i][j] for j in support), one] for i in support] + [[one] * len(support) + [Fraction(0)]]
    solved = solve(rows, [[*(b[i] for i in support), one]])
    if solved is None:
        raise ArithmeticError("dependent atoms met: the Gram matrix is not positive semidefinite")
    found = [Fraction(0)] * len(G)
    for i, value in zip(support, solved[0], strict=False):
        found[i] = value
    return found


def hull_solution(G: Gram, strength: Fraction) -> list[Fraction]:
    """Weights of the point of C nearest to ω_S/λ: where ‖ψ_i‖ ≤ 1 the minimiser over C of the mean hinge loss plus (λ/2)‖ω‖².

    On C every hinge is then linear, and 1 − ⟨ω, ω_S⟩ + (λ/2)‖ω‖² = (λ/2)‖ω − ω_S/λ‖² + 1 − ‖ω_S‖²/(2λ).
    """
    return nearest(G, [m / strength for m in mean_margins(G)])


def mean_ray(G: Gram) -> tuple[Fraction, Fraction]:
    """(t₀, t₁) with tω_S ∈ C for t₀ ≤ t ≤ t₁, for ω_S ≠ 0; t₀ ≤ 1 ≤ t₁, and t₀ may be negative.

    Newton's method from outside: if p is the point of C nearest to tω_S, then ⟨tω_S − p, ·⟩ is largest over C at p. So tω_S has to
    come back to where ⟨tω_S − p, tω_S⟩ = ⟨tω_S − p, p⟩. Each step finds another face, and the first t that is in C is the end.

    Raises
    ------
    ArithmeticError
        for ω_S = 0.
    """
    m = mean_margins(G)
    size = sum(m, Fraction(0)) / len(m)
    if size == 0:
        raise ArithmeticError("the mean vector is 0 and spans no ray")
    return _end(G, m, size, min(m) / size), _end(G, m, size, max(m) / size)


def _end(G: Gram, m: Sequence[Fraction], size: Fraction, t: Fraction) -> Fraction:
    """Newton's method from t, where ⟨tω_S, ω_S⟩ is the least or the largest of the ⟨ψ_i, ω_S⟩."""
    while True:
        weights = nearest(G, [t * value for value in m])
        along, square = dot(weights, m), dot(weights, [dot(row, weights) for row in G])
        if t * t * size - 2 * t * along + square == 0:
            return t
        t = (t * along - square) / (t * size - along)
