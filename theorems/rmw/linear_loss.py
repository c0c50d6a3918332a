r"""Sections 2 and 3 around Theorem 1: the misclassification loss at 0, the linear loss above it, the function classes F_φ^r."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import simopt.claims as sc
from simopt.theorems.small_worlds.worlds import CONVENTIONS, dot, linear, zero_one


def signs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """y = ±1 and the three signs of v, which are all that the losses see."""
    for y, v in product((-1, 1), (-1, 0, 1)):
        yield {"label": y, "sign": v}


def negative(yv: sc.Expr) -> sc.Expr:
    """[[yv < 0]] for yv ∈ {−1, 0, 1}."""
    return sc.maximum(0, -yv)


def not_positive(yv: sc.Expr) -> sc.Expr:
    """[[yv ≤ 0]] for yv ∈ {−1, 0, 1}."""
    return sc.minimum(1, 1 - yv)


@sc.claim(
    "RMW-l01",
    place="Section 2",
    kind=sc.DEFINITION,
    expected=sc.REFUTED,
    defect=sc.CONVENTION,
    says=r"The loss ℓ₀₁(y, v) = [[yv < 0]] has ℓ₀₁(y, 0) = 1 always.",
    instances=signs,
    exhaustive=True,
    knobs={"loss": negative},
    mutants={"[[yv ≤ 0]]": {"loss": not_positive}},
    note="The printed formula (convention A) gives 0 at v = 0; the note that follows it (B) is [[yv ≤ 0]]. Our claims name A, B, or C: the "
    "value ½ at 0. Theorem 1 uses B in its first half and A in its second (RMW-T1b, RMW-T1c); C makes both true (RMW-T1-half).",
)
def printed_loss_is_one_at_zero(label: int, sign: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The printed formula against [[yv < 0]] off 0 and against the printed value at 0."""
    y, v = sc.inputs(y=label, v=sign)
    if sign == 0:
        yield sc.equal(trial["loss"](y * v), 1, "ℓ₀₁(y, 0)")
    else:
        yield sc.equal(trial["loss"](y * v), int(label * sign < 0), "ℓ₀₁(y, v), v ≠ 0")


@sc.claim(
    "RMW-l01+",
    place="Section 2, corrected",
    kind=sc.DEFINITION,
    says=r"[[yv < 0]] (A), [[yv ≤ 0]] (B) and their mean (C) agree where v ≠ 0; at v = 0 they are 0, 1 and ½. So ℓ₀₁(y, 0) = 1 always is "
    r"[[yv ≤ 0]]. (Only the signs of y and v matter.)",
    instances=signs,
    exhaustive=True,
    knobs={"conventions": CONVENTIONS},
    mutants={"A and B exchanged": {"conventions": ("B", "A", "C")}},
    corrects="RMW-l01",
)
def three_conventions_differ_at_zero_only(label: int, sign: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The library's losses against the formulas, for every sign."""
    y, v = sc.inputs(y=label, v=sign)
    mean = (negative(y * v) + not_positive(y * v)) / 2
    for convention, formula in zip(trial["conventions"], (negative(y * v), not_positive(y * v), mean), strict=True):
        yield sc.equal(formula, zero_one(convention)(label, sign), f"convention {convention}")


def scores(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The ends of v ∈ [−r, 0), {0}, (0, r] for both labels and all conventions, r the reach (1 in the paper)."""
    r = trial["reach"]
    for convention, y in product(CONVENTIONS, (-1, 1)):
        for sign, v in ((-1, -r), (-1, Fraction(0)), (0, Fraction(0)), (1, Fraction(0)), (1, r)):
            yield {"convention": convention, "label": y, "sign": sign, "v": v}


@sc.claim(
    "RMW-lin0",
    place="Section 3, before Theorem 1",
    kind=sc.INEQUALITY,
    says=r"For v ∈ {−1, 1}: ℓ₀₁(y, v) = ½ ℓ_linear(y, v); for v ∈ [−1, 1]: ℓ₀₁(y, v) ≤ ℓ_linear(y, v) = 1 − yv. Under A, B and C. (On v < "
    r"0, v = 0 and v > 0 ℓ₀₁ is constant; 1 − yv lies between its values at the ends, by a symbol v.)",
    instances=scores,
    exhaustive=True,
    knobs={"reach": Fraction(1), "factor": Fraction(1, 2)},
    mutants={"v ∈ [−2, 2]": {"reach": Fraction(2)}, "ℓ₀₁ = ℓ_linear": {"factor": Fraction(1)}},
    note="An end that does not belong to its piece stands for the limit.",
)
def linear_loss_bounds_misclassification(label: int, sign: int, convention: str, v: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both statements at one end of one piece."""
    y, loss, full = label, zero_one(convention), v in (-1, 1)
    v = sc.inputs(v=v)
    (w,) = sc.symbols("w")
    yield sc.equal(linear(y, sign * w), (1 - w) * linear(y, 0) + w * linear(y, sign), "linear loss on 0 ≤ |v| = w ≤ 1")
    yield sc.at_least(linear(y, v), loss(y, sign), f"ℓ_linear ≥ ℓ₀₁, convention {convention}")
    if full:
        yield sc.equal(trial["factor"] * linear(y, v), loss(y, sign), f"v ∈ {{−1, 1}}, convention {convention}")


SHAPES = ((Fraction(0), Fraction(1)), (Fraction(3, 5), Fraction(4, 5)), (Fraction(-5, 13), Fraction(12, 13)))


def vectors_in_balls(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ω and φ on rational directions of the plane that both span, of length at most r and at most `bound`.

    The first instance has no data: it stands for the identity in symbols.
    """
    yield {}
    for r in (Fraction(1, 3), Fraction(1), Fraction(7, 2)):
        for first, second in product(SHAPES, SHAPES):
            for share in (Fraction(-1), Fraction(1, 2), Fraction(1)):
                yield {"omega": [r * share * x for x in first], "phi": [trial["bound"] * x for x in second], "radius": r}


@sc.claim(
    "RMW-phi",
    place="Section 3, after Theorem 1",
    kind=sc.INEQUALITY,
    says=r"If ‖φ(x)‖ ≤ 1 for all x, then F_φ^r = {⟨ω, φ(·)⟩: ‖ω‖ ≤ r} ⊆ [−r, r]^X. (In the plane spanned by ω and φ: ‖ω‖²‖φ‖² − ⟨ω, φ⟩² "
    r"is a square.)",
    instances=vectors_in_balls,
    exhaustive=True,
    knobs={"bound": Fraction(1)},
    mutants={"‖φ(x)‖ ≤ 2": {"bound": Fraction(2)}},
    note="The square is in symbols. The numbers are examples, some of them sharp.",
)
def bounded_class_has_bounded_functions(
    trial: sc.Trial, omega: list[Fraction] | None = None, phi: list[Fraction] | None = None, radius: Fraction | None = None
) -> Iterator[sc.Check]:
    """Cauchy–Schwarz as an identity, and ⟨ω, φ⟩² ≤ r²."""
    if omega is None:
        a, b, c, d = sc.symbols("a b c d")
        yield sc.equal((a**2 + b**2) * (c**2 + d**2) - (a * c + b * d) ** 2, (a * d - b * c) ** 2, "‖ω‖²‖φ‖² − ⟨ω, φ⟩² is a square")
        return
    w, x, r = sc.inputs(omega=omega, phi=phi, r=radius)
    short = sc.at_most(dot(w, w), r**2, "‖ω‖ ≤ r"), sc.at_most(dot(x, x), trial["bound"] ** 2, "‖φ(x)‖ ≤ 1")
    yield sc.at_most(dot(w, x) ** 2, r**2, "f(x)² ≤ r²").assuming(*short)
