r"""Section 3.4: the linear loss over the convex hull of the unit balls of several feature spaces.

With s_i = ‖ω_S^i‖ and f = Σ α_i ⟨w_i, φ_i⟩ the loss is 1 − Σ α_i ⟨w_i, ω_S^i⟩. For s_1 the largest,

    loss − (1 − s_1) = Σ α_i (s_i/2) (‖w_i − ω̂^i‖² + 1 − ‖w_i‖²) + Σ α_i (s_1 − s_i),

which is ≥ 0, and 0 at α = e_1, w_1 = ω̂^1. It is 0 elsewhere only where α gives no weight to a space with s_i < s_1.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.rmw.mean_minimises import direction
from simopt.theorems.small_worlds.worlds import add

SIZES = (Fraction(0), Fraction(1, 3), Fraction(1, 2))


def mixtures(trial: sc.Trial) -> Iterator[sc.Instance]:
    """‖ω^i‖ of three feature spaces in every order of three sizes, ties included, and mixtures of unit vectors; Σ α_i = the mass.

    The first instance has no data: it stands for the identity in symbols.
    """
    yield {}
    for sizes in ((a, b, c) for a in SIZES for b in SIZES for c in SIZES):
        for first, second in ((Fraction(1), Fraction(0)), (Fraction(1, 3), Fraction(1, 3)), (Fraction(0), Fraction(1, 4))):
            alpha = [trial["mass"] * share for share in (first, second, 1 - first - second)]
            for t in (Fraction(0), Fraction(1, 2)):
                yield {"sizes": list(sizes), "alpha": alpha, "t": t}


@sc.claim(
    "RMW-MKL",
    place="Section 3.4",
    kind=sc.IDENTITY,
    says=r"Let F be the convex hull of F_{φ_1}^1, …, F_{φ_k}^1. Let some ω_S^i be ≠ 0. Then min over f ∈ F of (1/|S|) Σ 1 − y f(x) = "
    r"min_i (1 − ‖ω_S^i‖). It is reached at ω̂_S^i for each i of largest ‖ω_S^i‖, and at mixtures of these only: one feature space is "
    r"picked unless there is a tie. For Σ α_i = 1 and s_1 = max ‖ω_S^i‖ the loss less 1 − s_1 is the sum over i of α_i(s_1 − ⟨w_i, "
    r"ω_S^i⟩), which is α_i(s_1 − s_i) + ½α_i s_i(‖w_i − ω̂_S^i‖² + 1 − ‖w_i‖²), s_i = ‖ω_S^i‖. (In symbols, for every k; and on numbers.)",
    remains="for every k, the sum over i of the terms, one of which is in symbols (on numbers k = 3)",
    instances=mixtures,
    exhaustive=True,
    knobs={"mass": Fraction(1)},
    mutants={"Σ α_i = 2": {"mass": Fraction(2)}},
    note="With ties the minimiser is not unique.",
)
def one_feature_space_is_picked(
    trial: sc.Trial, sizes: list[Fraction] | None = None, alpha: list[Fraction] | None = None, t: Fraction = Fraction(0)
) -> Iterator[sc.Check]:
    """The excess as a sum of non-negative terms, then its size on numbers."""
    if sizes is None or alpha is None:
        yield _identity()
        return
    lengths, shares, turn = sc.inputs(sizes=sizes, alpha=alpha, t=t)
    first = sizes.index(max(sizes))
    unit = direction(turn)  # ω̂^i = (1, 0) in every space, w_i = unit
    loss = 1 - add(a * s * unit[0] for a, s in zip(shares, lengths, strict=True))
    strict = any(a != 0 and (s < sizes[first] or s * t != 0) for a, s in zip(alpha, sizes, strict=True))
    yield sc.at_least(loss, 1 - lengths[first], "loss > 1 − ‖ω^i‖" if strict else "loss ≥ 1 − ‖ω^i‖", strict=strict)
    yield sc.equal(1 - lengths[first] * direction(0 * turn)[0], 1 - lengths[first], "reached at ω̂^i")


def _identity() -> sc.Check:
    """One term of the excess over 1 − s_1: s = ‖ω^i‖, c = ⟨w_i, ω̂^i⟩, ww = ‖w_i‖², so that ‖w_i − ω̂^i‖² = ww − 2c + 1."""
    alpha, first, s, c, ww = sc.symbols("alpha s1 s c ww")
    part = alpha * s / 2 * ((ww - 2 * c + 1) + (1 - ww)) + alpha * (first - s)
    return sc.equal(alpha * (first - s * c), part, "one term of loss − (1 − s₁), as a sum of non-negative terms")
