r"""Section 3.4: the linear loss over the convex hull of the unit balls of several feature spaces.

With s_i = ‖ω_S^i‖ and f = Σ α_i ⟨w_i, φ_i⟩ the loss is 1 − Σ α_i ⟨w_i, ω_S^i⟩. For s_1 the largest,

    loss − (1 − s_1) = Σ α_i (s_i/2) (‖w_i − ω̂^i‖² + 1 − ‖w_i‖²) + Σ α_i (s_1 − s_i),

which is ≥ 0, and 0 at α = e_1, w_1 = ω̂^1. It is 0 elsewhere only where α gives no weight to a space with s_i < s_1.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import HOLDS, IDENTITY, VAN_ROOYEN_MENON_WILLIAMSON, Check, Instance, Trial, at_least, claim, equal, inputs, symbols
from simopt.theorems.rmw.mean_minimises import direction
from simopt.theorems.rmw.worlds import add, dot, minus, scaled, squared

SIZES = (Fraction(0), Fraction(1, 3), Fraction(1, 2))


def mixtures(trial: Trial) -> Iterator[Instance]:
    """‖ω^i‖ of three feature spaces in every order of three sizes, ties included, and mixtures of unit vectors; Σ α_i = the mass.

    The first instance has no data: it stands for the identity in symbols.
    """
    yield {}
    for sizes in ((a, b, c) for a in SIZES for b in SIZES for c in SIZES):
        for first, second in ((Fraction(1), Fraction(0)), (Fraction(1, 3), Fraction(1, 3)), (Fraction(0), Fraction(1, 4))):
            alpha = [trial["mass"] * share for share in (first, second, 1 - first - second)]
            for t in (Fraction(0), Fraction(1, 2)):
                yield {"sizes": list(sizes), "alpha": alpha, "t": t}


@claim(
    "RMW-MKL",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 3.4",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"Let F be the convex hull of F_{φ_1}^1, …, F_{φ_k}^1. Then min over f ∈ F of (1/|S|) Σ 1 − y f(x) = min_i (1 − ‖ω_S^i‖). It is "
    r"reached at ω̂_S^i for each i of largest ‖ω_S^i‖, and at mixtures of these only: one feature space is picked unless there is a tie.",
    instances=mixtures,
    exhaustive=True,
    knobs={"mass": Fraction(1)},
    mutants={"Σ α_i = 2": {"mass": Fraction(2)}},
    note="Three feature spaces in symbols, each seen in the plane that w_i and ω^i span. With ties the minimiser is not unique.",
)
def one_feature_space_is_picked(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The excess as a sum of non-negative terms, then its size on numbers."""
    if not instance:
        yield _identity()
        return
    sizes, alpha, t = inputs(sizes=instance["sizes"], alpha=instance["alpha"], t=instance["t"])
    first = max(range(3), key=lambda i: instance["sizes"][i])
    unit = direction(t)  # ω̂^i = (1, 0) in every space, w_i = unit
    loss = 1 - add(a * s * unit[0] for a, s in zip(alpha, sizes, strict=True))
    shares = zip(instance["alpha"], instance["sizes"], strict=True)
    strict = any(a != 0 and (s < instance["sizes"][first] or s * instance["t"] != 0) for a, s in shares)
    yield at_least(loss, 1 - sizes[first], "loss > 1 − ‖ω^i‖" if strict else "loss ≥ 1 − ‖ω^i‖", strict=strict)
    yield equal(1 - sizes[first] * direction(0 * t)[0], 1 - sizes[first], "reached at ω̂^i")


def _identity() -> Check:
    """The excess over 1 − s_1 for k = 3."""
    sizes, mixed = symbols("s1 s2 s3"), symbols("a2 a3")
    alpha = [1 - mixed[0] - mixed[1], *mixed]
    w = [list(symbols(f"u{i} v{i}")) for i in range(3)]
    units = [direction(t) for t in symbols("t1 t2 t3")]
    loss = 1 - add(a * dot(wi, scaled(unit, s)) for a, wi, unit, s in zip(alpha, w, units, sizes, strict=True))
    parts = [
        a * s / 2 * (squared(minus(wi, unit)) + 1 - squared(wi)) + a * (sizes[0] - s)
        for a, wi, unit, s in zip(alpha, w, units, sizes, strict=True)
    ]
    return equal(loss - (1 - sizes[0]), add(parts), "loss − (1 − s₁) as a sum of non-negative terms")
