r"""Section 4 on the cost of LPAV: O(m²) by the cited method, less by ours, or a fit to a part of the samples; operations are counted.

Corners. F_i(x) is the least cost of the first i terms with x_i = x, g its derivative (rational_lpav.py). Kept by place, each sample touches
all corners of g, which are at most 3 more than before: at most Σ (3i − 2) = (3m² − m)/2. Kept by value, in two parts on either side of the
zero with a shift and a constant each (solvers/isotonic/chain_programme.py), only the n_i corners that change sides are touched. In chunks
of c at most 2c + n_i/c pieces, of the order √m for c = √m as n_i ≤ 3i.

Part of the samples. Let û be fitted to m samples and û_k to k of them, drawn with replacement. For the law that is uniform on the m
samples û is the best u and û_k a fit to k draws. So mean (û_k − û)² ≤ mean (û_k − y)² − mean (û − y)² (KK-L9: the class is convex) ≤
twice the largest deviation of a mean over the draws from that over the samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.kkks.finite_models import TRANSFERS
from simopt.theorems.kkks.float_tron import lpav
from simopt.theorems.kkks.nearness import nearness
from simopt.theorems.kkks.rational_lpav import corners_touched
from simopt.theorems.kkks.uniform_bounds import one_direction_deviation

CITATION = "Section 4, running time of LPAV"


def chains_to_count(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Labels 0, 1, 0, 1, … at equal small distances; coins at random distances."""
    for m in (20, 40, 80, *trial.count(0, 1) * (160, 320)):
        yield {"labels": [Fraction(i % 2) for i in range(m)], "steps": [Fraction(1, m)] * (m - 1)}
        steps = [Fraction(int(k), 32 * m) for k in trial.rng.integers(1, 64, m - 1)]
        yield {"labels": [Fraction(int(k)) for k in trial.rng.integers(0, 2, m)], "steps": steps}


@sc.claim(
    "KK-YW",
    place=CITATION,
    kind=sc.ALGORITHM,
    says=r"The least squares fit of LPAV to m sorted samples takes O(m²) operations: the dynamic programme on the derivative of the cost, "
    r"its corners kept by place, touches at most (3m² − m)/2 corners, **and at least m²/2** with labels 0, 1, 0, 1, … at distances 1/m and "
    r"with coins at random distances. **The same programme with its corners kept by value, in two parts and in chunks of √m, touches at "
    r"most 5m√m pieces.** (Corners counted, m = 20, 40, 80; full effort to 320.)",
    instances=chains_to_count,
    knobs={"places": 3, "values": 5},
    mutants={"m² corners": {"places": 1}, "m√m/10 pieces": {"values": Fraction(1, 10)}},
    note="In bold: ours. The method of [YW09], of which the paper says O(m²), was not at hand; the programme is the plain one. With n_i "
    "corners that change sides at the i-th sample and c = ⌈√m⌉, n_i + 1 or 2c + n_i/c + 1 pieces are counted of the second, whichever is "
    "less. Head of fit_cost.py. A step of positive length drops at most two corners, those at the zero, and adds three, so that the i-th "
    "sample touches at least i: m(m + 1)/2 in all. With n_i ≤ 3i − 2 the pieces are at most 2cm + 3m²/(2c) + m ≤ 3.5m√m + 3m ≤ 5m√m from "
    "m = 4 on; below Σ (n_i + 1) ≤ (3m² + m)/2 will do.",
)
def operations_of_the_fit(labels: list[Fraction], steps: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """Both counts of one chain."""
    counted = corners_touched(labels, steps)
    m = len(counted)
    touched = sum(corners for corners, _ in counted)
    yield sc.at_most(touched, Fraction(trial["places"] * m * m - m, 2), f"kept by place, m = {m}")
    yield sc.at_least(touched, Fraction(m * m, 2), f"kept by place, at least, m = {m}")
    c = math.isqrt(m - 1) + 1
    pieces = sum((min(Fraction(crossed + 1), 2 * c + Fraction(crossed, c) + 1) for _, crossed in counted), Fraction(0))
    yield sc.at_most(pieces**2, trial["values"] ** 2 * Fraction(m) ** 3, f"kept by value, squares, m = {m}")


SIZES = (50, 100, 200, 400, 800, 1600)


def large_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Samples of a ramp and of a sigmoid on [−1, 1] with labels 0 and 1."""
    for transfer in ("ramp around 0", "sigmoid"):
        yield {"transfer": transfer, "m": 20_000, "k": 2_000, "delta": 0.1, "repetitions": trial.count(20, 100)}


@sc.claim(
    "KK-subsample",
    place=CITATION + ", 'a highly accurate fit can be achieved by randomly subsampling'",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let û be the fit of LPAV to m samples (z_i, y_i) in [−R, R] × [0, 1], R ≥ 1/2, and û_k that to k of them drawn with "
    r"replacement. With probability ≥ 1 − δ over the draw, mean (û_k − û)²(z_i) ≤ 2 one_direction_deviation(k, R, δ) of "
    r"uniform_bounds.py, which is O((√R + √log(1/δ))/√k) **whatever m is**: O(k²) operations for O(m²). (Drawn for m = 20000, k = 2000, R "
    r"= 1; there the mean falls at least as k^{−2/3} for k from 50 to 1600.)",
    instances=large_samples,
    knobs={"share": 2.0, "exponent": -2 / 3},
    mutants={"1/5000 of it": {"share": 2.0 / 5000}, "as k^{−3/2}": {"exponent": -1.5}},
    note="The paper leaves the argument out; ours is in the head of fit_cost.py. Lemma 8 has k^{−2/3} for one w, and the draws fall at "
    "least so: how near the bound is, is measured, the tightness is the (1 − δ)-quantile over it.",
)
def part_of_the_samples(m: int, k: int, delta: float, transfer: str, repetitions: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The rate; then draws of the event, and how near they came."""
    rng = trial.rng
    z = np.sort(rng.uniform(-1.0, 1.0, m))
    y = (rng.random(m) < TRANSFERS[transfer](z)).astype(float)
    whole = lpav(z, y, np.ones(m)).values
    values = [[distance(z, y, whole, size, rng) for _ in range(repetitions)] for size in SIZES]
    yield sc.rate(SIZES, values, trial["exponent"], name=f"{transfer}: mean (û_k − û)² against k")
    bound = trial["share"] * one_direction_deviation(k, 1.0, delta)
    ratios = []
    for _ in trial.draws(100_000):
        ratios.append(distance(z, y, whole, k, rng) / bound)
        yield sc.outcome(ratios[-1] > 1, delta)
    yield nearness(ratios, delta, transfer)


def distance(z: Array, y: Array, whole: Array, k: int, rng: np.random.Generator) -> float:
    """Mean (û_k − û)² over the samples, z sorted."""
    drawn = np.sort(rng.integers(0, len(z), k))
    return float(np.mean(np.square(lpav(z[drawn], y[drawn], np.ones(k))(z) - whole)))
