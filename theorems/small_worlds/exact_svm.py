r"""The kernel SVM without intercept for every λ at once, in rational arithmetic.

    min over f of (1/n) Σ_i [1 − ⟨f, ψ_i⟩]_+ + (λ/2)‖f‖²,     ψ_i = y_i φ(x_i),  G_ij = ⟨ψ_i, ψ_j⟩ rational.

f = (1/λ) Σ a_i ψ_i is the solution if and only if a_i = 1/n where ⟨f, ψ_i⟩ < 1, a_i = 0 where > 1, and 0 ≤ a_i ≤ 1/n where = 1. With
these three sets fixed (below, above, and on the margin: B, O, F, the ψ_i of F independent) the conditions are linear in λ:

    a_F = λ u − v,   G_FF u = 1,   G_FF v = (1/n) G_FB 1,      f_λ = p + q/λ,   p = Σ_F u_i ψ_i,   q = (1/n) Σ_B ψ_i − Σ_F v_i ψ_i,

and q is orthogonal to the ψ_i of F, hence to p: ‖f_λ‖² = ‖p‖² + ‖q‖²/λ². So (0, ∞) falls into finitely many pieces, and f_λ stands still on
those with q = 0. The last piece, next to λ = 0, is always one of these: ‖f_λ‖ stays bounded there. On the first piece a_i = 1/n for all i
and f_λ = ω_S/λ: it is [λ*, ∞) with λ* = max_i ⟨ω_S, ψ_i⟩.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from simopt.theorems.small_worlds.worlds import Vector, dot

Gram = Sequence[Sequence[Fraction]]
BELOW, ON, ABOVE = -1, 0, 1


@dataclass(frozen=True)
class Piece:
    """One piece [low, high] of the path (`high` is None for ∞).

    `sides` says for each i whether its margin is below, on or above 1; for the SVR, in `exact_svr`, its position. `slope` and `offset` are
    u and v (u_i = 0 off the kinks), the squares are ‖p‖² and ‖q‖².
    """

    low: Fraction
    high: Fraction | None
    sides: tuple[int, ...]
    slope: tuple[Fraction, ...]
    offset: tuple[Fraction, ...]
    still_square: Fraction
    moving_square: Fraction

    @property
    def flat(self) -> bool:
        """Whether f_λ is the same on all of it."""
        return self.moving_square == 0

    def multipliers(self, strength: Fraction) -> list[Fraction]:
        """a_i = λ u_i − v_i."""
        return [strength * u - v for u, v in zip(self.slope, self.offset, strict=True)]

    def coefficients(self, strength: Fraction) -> list[Fraction]:
        """f_λ = Σ c_i ψ_i, c = a/λ."""
        return [a / strength for a in self.multipliers(strength)]

    def squared_norm(self, strength: Fraction) -> Fraction:
        """‖f_λ‖² = ‖p‖² + ‖q‖²/λ²."""
        return self.still_square + self.moving_square / strength**2


def gram(atoms: Sequence[Vector]) -> list[list[Fraction]]:
    """G_ij = ⟨ψ_i, ψ_j⟩."""
    return [[Fraction(dot(a, b)) for b in atoms] for a in atoms]


def mean_margins(G: Gram) -> list[Fraction]:
    """⟨ω_S, ψ_i⟩ = y_i f_S(x_i), whose mean is ‖ω_S‖²."""
    return [sum(row, Fraction(0)) / len(G) for row in G]


def threshold(G: Gram) -> Fraction:
    """λ* = max_i y_i f_S(x_i); 0 if and only if ω_S = 0."""
    return max(mean_margins(G))


def path(G: Gram) -> list[Piece]:
    """All pieces, from the one that ends at λ = ∞ to the one that begins at λ = 0.

    At the end of a piece the margins that reach 1 and the multipliers that reach 0 or 1/n may change sides. All ways to do so are tried,
    the fewest changes first. O(3^k) solves of |F| equations at an end where k samples are at such a point (in general position k = 1).

    Raises
    ------
    ArithmeticError
        if no way continues the path: G is then not positive semidefinite.
    """
    n = len(G)
    piece = _piece(G, (BELOW,) * n)
    if piece is None:
        raise ArithmeticError("no sample, no path")
    pieces = [piece]
    while pieces[-1].low > 0:
        pieces.append(_next(G, pieces[-1]))
    return pieces


def piece_at(pieces: Sequence[Piece], strength: Fraction) -> Piece:
    """The piece that holds λ > 0; at an end of two, the one with the larger λ (both give the same f)."""
    return next(piece for piece in pieces if piece.low <= strength)


def solution(G: Gram, strength: Fraction) -> list[Fraction]:
    """Coefficients over the ψ_i of f_λ."""
    return piece_at(path(G), strength).coefficients(strength)


def optimality_gap(G: Gram, coefficients: Sequence[Fraction], multipliers: Sequence[Fraction], strength: Fraction) -> Fraction:
    """P(f) − D(a), D(a) = Σ a_i − ‖Σ a_i ψ_i‖²/(2λ), for 0 ≤ a_i ≤ 1/n: 0 proves that f = f_λ.

    Raises
    ------
    ArithmeticError
        for multipliers outside [0, 1/n].
    """
    if min(multipliers) < 0 or max(multipliers) * len(G) > 1:
        raise ArithmeticError("multipliers outside [0, 1/n]")
    bound = sum(multipliers, Fraction(0)) - square(G, multipliers) / (2 * strength)
    return objective(G, coefficients, strength) - bound


def objective(G: Gram, coefficients: Sequence[Fraction], strength: Fraction) -> Fraction:
    """(1/n) Σ [1 − ⟨f, ψ_i⟩]_+ + (λ/2)‖f‖²."""
    return hinge_risk(G, coefficients) + strength * square(G, coefficients) / 2


def hinge_risk(G: Gram, coefficients: Sequence[Fraction]) -> Fraction:
    """(1/n) Σ [1 − ⟨f, ψ_i⟩]_+."""
    return sum((max(Fraction(0), 1 - dot(row, coefficients)) for row in G), Fraction(0)) / len(G)


def square(G: Gram, c: Sequence[Fraction]) -> Fraction:
    """‖Σ c_i ψ_i‖²."""
    return Fraction(dot(c, [dot(row, c) for row in G]))


def _piece(G: Gram, sides: tuple[int, ...]) -> Piece | None:
    """The piece with these sides, or None if the ψ_i on the margin are dependent or no λ > 0 fits."""
    n = len(G)
    on = [i for i in range(n) if sides[i] == ON]
    pull = [sum((G[i][j] for j in range(n) if sides[j] == BELOW), Fraction(0)) / n for i in range(n)]
    solved = solve([[G[i][j] for j in on] for i in on], [[Fraction(1)] * len(on), [pull[i] for i in on]])
    if solved is None:
        return None
    slope, offset = [Fraction(0)] * n, [Fraction(-1, n) if side == BELOW else Fraction(0) for side in sides]
    for place, i in enumerate(on):
        slope[i], offset[i] = solved[0][place], solved[1][place]
    moving = [-v for v in offset]
    ends = ends_of(_conditions(G, sides, slope, moving))
    return ends and Piece(*ends, sides, tuple(slope), tuple(offset), square(G, slope), square(G, moving))


def ends_of(conditions: Iterable[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction | None] | None:
    """The ends (∞ is None) of the λ > 0 with sλ + t ≥ 0 for all pairs (s, t), if these are more than a point."""
    low, high = Fraction(0), None
    for scale, constant in conditions:
        end = -constant / scale if scale else None
        if end is None and constant < 0:
            return None
        if end is not None and scale > 0:
            low = max(low, end)
        elif end is not None:
            high = end if high is None else min(high, end)
    return None if high is not None and high <= low else (low, high)


def _conditions(
    G: Gram, sides: Sequence[int], slope: Sequence[Fraction], moving: Sequence[Fraction]
) -> Iterator[tuple[Fraction, Fraction]]:
    """Pairs (s, t) with sλ + t ≥ 0: the multipliers on the margin lie in [0, 1/n], the other margins on their sides of 1."""
    n = len(G)
    for i, side in enumerate(sides):
        if side == ON:
            yield slope[i], moving[i]
            yield -slope[i], Fraction(1, n) - moving[i]
        else:
            yield side * (dot(G[i], slope) - 1), side * dot(G[i], moving)


def _next(G: Gram, piece: Piece) -> Piece:
    """The piece below: its sides differ from this one's only where a condition is tight at the end."""
    n, end = len(G), piece.low
    tight = []
    for i, side in enumerate(piece.sides):
        a = end * piece.slope[i] - piece.offset[i]
        at_margin = end * (dot(G[i], piece.slope) - 1) == dot(G[i], piece.offset)
        if (side == ON and a in (0, Fraction(1, n))) or (side != ON and at_margin):
            tight.append(i)
    ways = sorted(product((BELOW, ON, ABOVE), repeat=len(tight)), key=lambda way: _changes(way, [piece.sides[i] for i in tight]))
    for way in ways:
        sides = list(piece.sides)
        for i, side in zip(tight, way, strict=True):
            sides[i] = side
        below = _piece(G, tuple(sides))
        if below is not None and below.high is not None and below.low < end <= below.high:
            return below if below.high == end else _cut(below, end)
    raise ArithmeticError(f"the path does not go on below λ = {end}: the Gram matrix is not positive semidefinite")


def _cut(piece: Piece, end: Fraction) -> Piece:
    """The part of a piece below `end`."""
    return replace(piece, high=end)


def _changes(way: Sequence[int], sides: Sequence[int]) -> int:
    return sum(abs(a - b) for a, b in zip(way, sides, strict=True))


def solve(matrix: Sequence[Sequence[Fraction]], sides: Sequence[Sequence[Fraction]]) -> list[list[Fraction]] | None:
    """x with matrix · x = side, one for each side; None for a singular matrix. Gauss–Jordan, O(k³)."""
    k = len(matrix)
    rows = [[*matrix[i], *(side[i] for side in sides)] for i in range(k)]
    for j in range(k):
        chosen = next((i for i in range(j, k) if rows[i][j] != 0), None)
        if chosen is None:
            return None
        rows[j], rows[chosen] = rows[chosen], rows[j]
        pivot = rows[j][j]
        rows[j] = [x / pivot for x in rows[j]]
        for i in range(k):
            share = rows[i][j]
            if i != j and share != 0:
                rows[i] = [x - share * y for x, y in zip(rows[i], rows[j], strict=True)]
    return [[rows[i][k + s] for i in range(k)] for s in range(len(sides))]
