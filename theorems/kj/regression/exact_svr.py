r"""The penalised ε-insensitive SVR for every λ at once, in rational arithmetic.

    min over w of (1/n) Σ_i max(|⟨w, ψ_i⟩ − y_i| − ε, 0) + (λ/2)‖w‖²,     G_ij = ⟨ψ_i, ψ_j⟩ rational.

w = (1/λ) Σ b_i ψ_i is the solution if and only if each b_i is as its sample lies:

* b_i = 1/n where f_i < y_i − ε, and b_i = −1/n where f_i > y_i + ε;
* b_i ∈ [0, 1/n] where f_i = y_i − ε, and b_i ∈ [−1/n, 0] where f_i = y_i + ε;
* b_i = 0 in the tube. For ε = 0 there is one kink, with b_i ∈ [−1/n, 1/n].

With the places of all samples fixed, K those on a kink at the level t_i and their ψ_i independent, the conditions are linear in λ:

    b_K = λ u − v,   G_KK u = t,   G_KK v = G_KR b_R,      w_λ = p + q/λ,   p = Σ_K u_i ψ_i,   q = Σ_R b_i ψ_i − Σ_K v_i ψ_i,

and q is orthogonal to the ψ_i of K, hence to p: ‖w_λ‖² = ‖p‖² + ‖q‖²/λ². So (0, ∞) falls into finitely many pieces; w_λ stands still on
those with q = 0, of which the last, next to λ = 0, is always one. Above the first end, b does not depend on λ and w_λ = q/λ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from simopt.theorems.kj.goodness.finite_domains import insensitive
from simopt.theorems.small_worlds.exact_svm import Gram, Piece, ends_of, solve, square

UNDER, LOW, INSIDE, HIGH, OVER = range(5)
ZERO = Fraction(0)


@dataclass(frozen=True)
class ExactSVR:
    """G, y and ε of one problem."""

    gram: Gram
    targets: Sequence[Fraction]
    epsilon: Fraction

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.targets)

    def level(self, i: int, position: int) -> Fraction:
        """y_i − ε or y_i + ε."""
        return self.targets[i] + (self.epsilon if position in (HIGH, OVER) else -self.epsilon)

    def range(self, position: int) -> tuple[Fraction, Fraction]:
        """The b_i that a place allows."""
        c = Fraction(1, self.n)
        on = (-c, c) if self.epsilon == 0 else (ZERO, c)
        return {UNDER: (c, c), LOW: on, INSIDE: (ZERO, ZERO), HIGH: (-c, ZERO), OVER: (-c, -c)}[position]

    @property
    def positions(self) -> tuple[int, ...]:
        """Places that occur: for ε = 0 there is no inside, and one kink."""
        return (UNDER, LOW, OVER) if self.epsilon == 0 else (UNDER, LOW, INSIDE, HIGH, OVER)


def path(sample: ExactSVR) -> list[Piece]:
    """All pieces, from the one that ends at λ = ∞ to the one that begins at λ = 0.

    At the end of a piece the samples that reach a kink, and those on one whose b_i reaches an end of its range, may change places. All ways
    to do so are tried, the fewest changes first. O(3^k) solves of |K| equations where k samples are at such a point (k = 1 in general).

    Raises
    ------
    ArithmeticError
        if no way continues the path: G is then not positive semidefinite.
    """
    pieces = [_first(sample)]
    while pieces[-1].low > 0:
        pieces.append(_next(sample, pieces[-1]))
    return pieces


def objective(sample: ExactSVR, coefficients: Sequence[Fraction], strength: Fraction) -> Fraction:
    """(1/n) Σ max(|f_i − y_i| − ε, 0) + (λ/2)‖w‖² at w = Σ c_i ψ_i."""
    f = [_dot(row, coefficients) for row in sample.gram]
    losses = (insensitive(a - y, sample.epsilon) for a, y in zip(f, sample.targets, strict=True))
    return sum(losses, ZERO) / sample.n + strength * _dot(f, coefficients) / 2


def dual_value(sample: ExactSVR, b: Sequence[Fraction], strength: Fraction) -> Fraction:
    """Σ b_i y_i − ε Σ |b_i| − ‖Σ b_i ψ_i‖²/(2λ), for |b_i| ≤ 1/n: no more than any objective."""
    if any(abs(value) * sample.n > 1 for value in b):
        raise ArithmeticError("multipliers outside [−1/n, 1/n]")
    return _dot(b, sample.targets) - sample.epsilon * sum(map(abs, b), ZERO) - square(sample.gram, b) / (2 * strength)


def _first(sample: ExactSVR) -> Piece:
    """The piece of large λ, where f is small: places by the sign of y − ε and y + ε, those with |y| = ε by trial."""
    choices = []
    for y in sample.targets:
        if abs(y) == sample.epsilon:
            choices.append(sample.positions)
        else:
            choices.append((INSIDE,) if abs(y) < sample.epsilon else (UNDER,) if y > 0 else (OVER,))
    for positions in product(*choices):
        piece = _piece(sample, positions)
        if piece is not None and piece.high is None:
            return piece
    raise ArithmeticError("no piece of the path reaches λ = ∞: the Gram matrix is not positive semidefinite")


def _next(sample: ExactSVR, piece: Piece) -> Piece:
    """The piece below: its places differ from this one's only where a condition is tight at the end."""
    end = piece.low
    tight = sorted({i for i, scale, constant in _conditions(sample, piece.sides, piece.slope, piece.offset) if scale * end + constant == 0})
    options = [_nearest_first(sample, piece.sides[i]) for i in tight]
    ways = sorted(product(*options), key=lambda way: sum(position != piece.sides[i] for position, i in zip(way, tight, strict=True)))
    for way in ways:
        positions = list(piece.sides)
        for i, position in zip(tight, way, strict=True):
            positions[i] = position
        below = _piece(sample, tuple(positions))
        if below is not None and below.low < end and (below.high is None or end <= below.high):
            return replace(below, high=end)
    raise ArithmeticError(f"the path does not go on below λ = {end}: the Gram matrix is not positive semidefinite")


def _nearest_first(sample: ExactSVR, position: int) -> list[int]:
    """Places that a sample may change to, its own first."""
    near = [other for other in sample.positions if abs(other - position) <= 2 or sample.epsilon == 0]
    return sorted(near, key=lambda other: abs(other - position))


def _piece(sample: ExactSVR, positions: tuple[int, ...]) -> Piece | None:
    """The piece with these places, or None if the ψ_i on kinks are dependent or no λ > 0 fits."""
    G, n = sample.gram, sample.n
    on = [i for i in range(n) if positions[i] in (LOW, HIGH)]
    fixed = [sample.range(position)[0] if position not in (LOW, HIGH) else ZERO for position in positions]
    sides = [[sample.level(i, positions[i]) for i in on], [_dot(G[i], fixed) for i in on]]
    solved = solve([[G[i][j] for j in on] for i in on], sides)
    if solved is None:
        return None
    slope, offset = [ZERO] * n, [-b for b in fixed]
    for position, i in enumerate(on):
        slope[i], offset[i] = solved[0][position], solved[1][position]
    ends = ends_of((scale, constant) for _, scale, constant in _conditions(sample, positions, slope, offset))
    return ends and Piece(*ends, positions, tuple(slope), tuple(offset), square(G, slope), square(G, offset))


def _conditions(
    sample: ExactSVR, positions: Sequence[int], slope: Sequence[Fraction], offset: Sequence[Fraction]
) -> Iterator[tuple[int, Fraction, Fraction]]:
    """(i, s, t) with sλ + t ≥ 0: multipliers on kinks lie in their range, the other predictions on their sides of the levels (times λ)."""
    for i, position in enumerate(positions):
        if position in (LOW, HIGH):
            least, most = sample.range(position)
            yield i, slope[i], -offset[i] - least
            yield i, -slope[i], most + offset[i]
            continue
        scale, constant = _dot(sample.gram[i], slope), -_dot(sample.gram[i], offset)  # λ f_i
        if position in (UNDER, INSIDE):
            level = sample.level(i, UNDER if position == UNDER else HIGH)
            yield i, level - scale, -constant
        if position in (OVER, INSIDE):
            level = sample.level(i, OVER if position == OVER else LOW)
            yield i, scale - level, constant


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), ZERO)
