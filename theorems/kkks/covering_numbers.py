"""Appendix B, Lemma 6: covering numbers, by covers that are written down, counted and tried on members of the classes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import simopt.claims as sc
from simopt.theorems.kkks.covers import (
    function_bound,
    lattice_points,
    nearest_in_cover,
    packing,
    path_near,
    power,
    printed_path_near,
    size_of_ball_cover,
    size_of_function_cover,
    toward_zero,
)
from simopt.theorems.kkks.index_models import ball_point
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO, PiecewiseLinear, random_transfer
from simopt.theorems.small_worlds.worlds import dot, minus, scaled, squared

SCALES = tuple(Fraction(p, q) for p, q in ((1, 1), (3, 4), (1, 2), (2, 5), (1, 3), (3, 10), (1, 4), (1, 5)))
WIDTHS = tuple(Fraction(p, 2) for p in (2, 3, 4, 6))


def transfers(trial: sc.Trial, falling: bool = False) -> Iterator[sc.Instance]:
    """Every W and ε with random functions."""
    for W, epsilon in product(WIDTHS, SCALES):
        for _ in range(trial.count(4, 10)):
            u = random_transfer(trial.rng, math.ceil(W) + 1, falling=falling)
            yield {"W": W, "epsilon": epsilon, "knots": list(u.knots), "values": list(u.values)}


def rising(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Nondecreasing functions."""
    return transfers(trial)


def rising_and_falling(trial: sc.Trial) -> Iterator[sc.Instance]:
    """1-Lipschitz functions, as the definition of U is printed."""
    return transfers(trial, falling=True)


def member(knots: list[Fraction], values: list[Fraction]) -> PiecewiseLinear:
    """u."""
    return PiecewiseLinear(tuple(knots), tuple(values))


@sc.claim(
    "KK-L6.1",
    place="Appendix B, Lemma 6, part 1",
    kind=sc.INEQUALITY,
    says=r"For W, 1/ε ≥ 1 and U the **nondecreasing** 1-Lipschitz functions [−W, W] → [0, 1] (KK-defU): N_∞(ε, U) ≤ (1/ε) 2^{2W/ε}. A "
    r"cover within U has ⌈1/(2ε)⌉ 2^⌈W/ε⌉ members; the paper's, for integers 1/ε and 2W/ε, has (1/ε) 2^{2W/ε}.",
    instances=rising,
    knobs={"share": Fraction(2)},
    mutants={"without 'nondecreasing'": {"instances": rising_and_falling}, "(1/ε) 2^{W/(2ε)}": {"share": Fraction(1, 2)}},
    note="For other W and ε the paper's grid does not fit into [−W, W] × [0, 1] and rounding up its cells passes the bound (512 > 338.6 "
    "at W = 1, ε = 3/10). Ours follows u − x/2 on a grid twice as wide (head of covers.py), and is small enough for all W and ε, since "
    "⌈x⌉ ≤ 2x for x ≥ 1/2; each distance is the exact supremum.",
)
def cover_of_the_transfer_functions(
    W: Fraction, epsilon: Fraction, knots: list[Fraction], values: list[Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """Size, distance and membership."""
    u = member(knots, values)
    bound = function_bound(W, epsilon, trial["share"])
    yield sc.at_most(size_of_function_cover(W, epsilon), bound, f"size of our cover, W = {W}, ε = {epsilon}")
    found = [("ours", path_near(u, W, epsilon).function())]
    if (1 / epsilon).denominator == 1 and (2 * W / epsilon).denominator == 1:
        yield sc.at_most((1 / epsilon) * 2 ** int(2 * W / epsilon), bound, f"size of the paper's, W = {W}, ε = {epsilon}")
        found.append(("the paper's", printed_path_near(u, W, epsilon).function()))
    for name, v in found:
        yield sc.at_most(v.distance(u, -W, W), epsilon, f"sup |u − u'|, {name}")
        inside = min(v.values) >= 0 and max(v.values) <= 1
        yield sc.true(inside and set(v.slopes()) <= {ZERO, ONE}, f"u' lies in U, {name}", evidence=sc.EXACT)


def vectors(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random w in the ball of radius W, often on its boundary, in up to 3 dimensions; W/ε from 1 to 15."""
    for d, W, epsilon in product((1, 2, 3), WIDTHS, SCALES):
        for _ in range(trial.count(2, 6)):
            yield {"w": scaled(ball_point(trial.rng, d), W), "W": W, "epsilon": epsilon}


@sc.claim(
    "KK-L6.2",
    place="Appendix B, Lemma 6, part 2",
    kind=sc.INEQUALITY,
    says=r"For W, 1/ε ≥ 1 the functions x ↦ ⟨w, x⟩ on the unit ball of ℝ^d, ‖w‖ ≤ W, have N_∞(ε) ≤ (1 + 2W/ε)^d. For d ≤ 3 by a cubic "
    r"lattice within the class (at the ratios W/ε tried); in general a largest set of points ε apart is a cover, and has at most (1 + "
    r"2W/ε)^d members by volume.",
    instances=vectors,
    knobs={"times": 2},
    mutants={"(1 + W/ε)^d": {"times": 1}},
    note="sup over the unit ball of |⟨w − v, x⟩| is ‖w − v‖. Equality for the lattice at ε = W, d = 1, 2, 3. From d = 4 on the lattice "
    "has too many points (89 > 81 at ε = W).",
)
def cover_of_the_linear_functions(w: list[Fraction], W: Fraction, epsilon: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Size, distance and norm; and how many points of a grid are ε apart, for coarse ε."""
    d = len(w)
    bound = (1 + trial["times"] * W / epsilon) ** d
    yield sc.at_most(size_of_ball_cover(d, W, epsilon), bound, f"size, d = {d}, W/ε = {W / epsilon}")
    v = nearest_in_cover(w, W, epsilon)
    yield sc.at_most(Fraction(squared(minus(w, v))), epsilon**2, "‖w − w'‖²")
    yield sc.at_most(Fraction(squared(v)), W**2, "‖w'‖²")
    if W <= 2 * epsilon and d < 3:
        steps = range(-6, 7)
        grid = [[W * k / 6 for k in place] for place in product(steps, repeat=d) if sum(k * k for k in place) <= 36]
        yield sc.at_most(len(packing([w, *grid], epsilon)), bound, "points that are ε apart")


def index_functions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random u and w, and points x of the unit ball."""
    for d, W, epsilon in product((1, 2, 3), WIDTHS[:3], SCALES[::2]):
        for _ in range(trial.count(2, 6)):
            u = random_transfer(trial.rng, math.ceil(W) + 1)
            w = scaled(ball_point(trial.rng, d), W)
            points = [ball_point(trial.rng, d) for _ in range(4)]
            yield {"W": W, "epsilon": epsilon, "knots": list(u.knots), "values": list(u.values), "w": w, "points": points}


@sc.claim(
    "KK-L6.3",
    place="Appendix B, Lemma 6, part 3",
    kind=sc.INEQUALITY,
    says=r"For W, 1/ε ≥ 1 and U as in KK-L6.1: N_∞(ε, U∘W) ≤ (2/ε) 2^{4W/ε} (1 + 4W/ε)^d, by the covers of parts 1 and 2 at ε/2.",
    instances=index_functions,
    knobs={"part": Fraction(1, 2), "share": Fraction(2)},
    mutants={"parts at ε": {"part": ONE}, "(2/ε) 2^{W/ε} (…)": {"share": Fraction(1, 2)}},
    note="|u(w·x) − u'(w'·x)| ≤ |u(w·x) − u(w'·x)| + |u − u'|, the first ≤ ‖w − w'‖ as u is 1-Lipschitz. Tried at points x, for d ≤ 3.",
)
def cover_of_the_index_functions(
    W: Fraction,
    epsilon: Fraction,
    knots: list[Fraction],
    values: list[Fraction],
    w: list[Fraction],
    points: list[list[Fraction]],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """Size, and the distance at the points and along w − w'."""
    u = member(knots, values)
    d, part = len(w), trial["part"] * epsilon
    size = size_of_function_cover(W, part) * size_of_ball_cover(d, W, part)
    half = epsilon / 2
    yield sc.at_most(size, function_bound(W, half, trial["share"]) * (1 + 2 * W / half) ** d, f"size, d = {d}, W = {W}, ε = {epsilon}")
    v, near = path_near(u, W, part).function(), nearest_in_cover(w, W, part)
    yield sc.at_most(v.distance(u, -W, W) ** 2 + Fraction(squared(minus(w, near))), epsilon**2 / 2, "squares of the two parts")
    for x in points:
        yield sc.at_most(abs(u(Fraction(dot(w, x))) - v(Fraction(dot(near, x)))), epsilon, "|u(w·x) − u'(w'·x)|")


def samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """m from 1 to 12 (full effort: 40), W/ε with a small square, and w on the coordinates of which the cover is tried."""
    for m in (*range(1, 9), 12, *trial.count(0, 1) * (20, 40)):
        for W, epsilon in ((ONE, ONE), (ONE, Fraction(3, 4)), (ONE, Fraction(1, 2)), (Fraction(3, 2), ONE), (Fraction(2), Fraction(2, 3))):
            drawn = [Fraction(int(k), 16) for k in trial.rng.integers(-16, 17, m)]
            top = math.isqrt(math.ceil(Fraction(squared(drawn)))) + 1
            w = scaled(drawn, W / top)
            u = random_transfer(trial.rng, math.ceil(W) + 1)
            yield {"m": m, "W": W, "epsilon": epsilon, "w": w, "knots": list(u.knots), "values": list(u.values)}


@sc.claim(
    "KK-L6.4",
    place="Appendix B, Lemma 6, part 4",
    kind=sc.INEQUALITY,
    status=sc.ProofStatus.GAP,
    says=r"For m, W, 1/ε ≥ 1 and U as in KK-L6.1: N_∞(ε, U∘W, m) ≤ (2/ε)(2m + 1)^{1 + 8W²/ε²}. Shown for orthonormal x_1, …, x_m, any m, "
    r"and for all x_1, …, x_m with m ≤ 1 + 8W²/ε². Its parts: the same for the linear functions with (2m + 1)^{1 + W²/ε²}, for "
    r"orthonormal x_i; and 2^{4W/ε} ≤ (2m + 1)^{4W²/ε²}.",
    instances=samples,
    knobs={"share": Fraction(8)},
    mutants={"exponent 1 + W²/ε²": {"share": ONE}, "exponent 1 + W²/(2ε²)": {"share": Fraction(1, 2)}},
    note="A gap in general: the step for the linear functions cites Corollary 3 of Zhang (2002), which bounds covers in the mean square, "
    "not in the maximum (from memory; the text was not at hand); his bound for the maximum has a constant 36 and a logarithm more. "
    "Orthonormal x_i: cut the coordinates of w down to multiples of ε; the integer vectors with Σ k² ≤ K are sums of at most K signed "
    "unit vectors, so that there are at most (2m + 1)^K. Any x_i: one member for each of ⌈1/ε⌉^m cells. A dimension-free bound with other "
    "constants holds for all x_i (entropy numbers of operators from ℓ₂ to ℓ_∞^m).",
)
def cover_on_a_sample(
    m: int, W: Fraction, epsilon: Fraction, w: list[Fraction], knots: list[Fraction], values: list[Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """Sizes of the explicit covers against the bounds, and the distances on orthonormal x_i, for which f(x_i) = u(w_i)."""
    u = member(knots, values)
    name = f"m = {m}, W = {W}, ε = {epsilon}"
    square = (W / epsilon) ** 2
    base, half = Fraction(2 * m + 1), epsilon / 2
    bound = 2 / epsilon * power(base, 1 + trial["share"] * square)
    yield sc.at_most(
        lattice_points(m, math.floor(square)), power(base, math.floor(square) + ZERO), f"linear, orthonormal: (2m + 1)^⌊K⌋, {name}"
    )
    yield sc.at_most(power(Fraction(2), 4 * W / epsilon), power(base, 4 * square), f"2^(4W/ε), {name}")
    size = size_of_function_cover(W, half) * lattice_points(m, math.floor(4 * square))
    yield sc.at_most(size, bound, f"orthonormal, {name}")
    if m <= 1 + trial["share"] * square:
        yield sc.at_most(math.ceil(1 / epsilon) ** m, bound, f"any x_i, {name}")
    v, near = path_near(u, W, half).function(), toward_zero(w, half)
    yield sc.at_most(Fraction(squared(near)), min(W**2, squared(w)), "‖w'‖²")
    yield sc.at_most(max(abs(u(a) - v(b)) for a, b in zip(w, near, strict=True)), epsilon, "max |u(w·x_i) − u'(w'·x_i)|")
