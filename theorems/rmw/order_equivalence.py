r"""Section 5 and its Appendix 14: robustness (Definition 10), the corrected loss, order equivalence (Lemma 23) and Lemma 12.

The identities are in free symbols, so they hold for every loss, every pair of scores and every rate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.loss_orders import (
    Event,
    Table,
    as_pair,
    collinearity,
    corrected,
    correction,
    differences,
    disagreement,
    excess,
    fits_theorem_13,
    label_free,
    level,
    noisy,
    under_noise,
)
from simopt.theorems.small_worlds.worlds import add, dot

SCORES = (0, 1)
EVENTS: tuple[Event, ...] = tuple((y, v) for v in SCORES for y in (1, -1))
VALUES = (0, 1, 2)
RATES = (Fraction(1, 100), Fraction(1, 4), Fraction(49, 100))
DIRECTIONS = tuple(differences(EVENTS, 2))


def every_small_loss(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All losses with values 0, 1, 2 on two scores, and every rate: 81 × 3."""
    for values in itertools.product(VALUES, repeat=len(EVENTS)):
        for rate in RATES:
            yield {"values": list(values), "rate": rate}


def table(values: Sequence[int]) -> dict[Event, Fraction]:
    """The loss with these values."""
    return {event: Fraction(value) for event, value in zip(EVENTS, values, strict=True)}


def robust_by_definition(loss: Table, rate: Fraction) -> bool:
    """Definition 10 at one rate: Q ≤_ℓ Q' iff Q_σ ≤_ℓ Q'_σ, tried on every pair (Q, Q') that could tell them apart."""
    return disagreement(loss, under_noise(loss, rate), DIRECTIONS) is None


@sc.claim(
    "RMW-D10",
    place="Section 5, Definition 10 and the sentence after it",
    kind=sc.DEFINITION,
    says=r"ℓ is robust to label noise if for all σ ∈ (0, ½) and all distributions Q, Q' over (score, label): Q ≤_ℓ Q' iff Q_σ ≤_ℓ Q'_σ. "
    r"Then, for every P and every class ℱ, argmin_ℱ ℓ(P, ·) = argmin_ℱ ℓ(P_σ, ·). Tried on every loss with values in {0, 1, 2} on two "
    r"scores and a rate of {1/100, 1/4, 49/100}: the definition holds at this rate iff ℓ is label-free or ℓ(1, v) + ℓ(−1, v) does not "
    r"depend on v, and the losses for which it holds have equal argmins.",
    instances=every_small_loss,
    exhaustive=True,
    knobs={"criterion": lambda loss: label_free(loss) or fits_theorem_13(loss)},
    mutants={"without the label-free losses": {"criterion": fits_theorem_13}},
    note="The converse of the second sentence fails: ℓ(y, v) = h(v) + g(y) keeps the argmins of every class under every P, because E g(y) "
    "is the same for all f, and is not robust unless h or g is constant.",
)
def definition_of_robustness(values: list[int], rate: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Try all pairs of distributions that matter, then all classes on two points."""
    loss = table(values)
    robust = robust_by_definition(loss, rate)
    yield sc.true(robust == trial["criterion"](loss), "robust as the criterion says", evidence=sc.EXACT)
    if robust:
        yield sc.true(argmins_agree(loss, rate), "equal argmins", evidence=sc.EXACT)


def argmins_agree(loss: Table, rate: Fraction) -> bool:
    """Whether noise leaves argmin_ℱ alone, for two-point P on a grid and every ℱ of functions into the two scores."""
    functions = list(itertools.product(SCORES, repeat=2))
    classes = [c for k in range(2, len(functions) + 1) for c in itertools.combinations(functions, k)]
    noise = under_noise(loss, rate)
    for mass, labels in itertools.product((Fraction(1, 3), Fraction(1, 2)), itertools.product((1, -1), repeat=2)):
        clean, rough = ({f: _risk(each, mass, labels, f) for f in functions} for each in (loss, noise))
        if any(_argmin(clean, c) != _argmin(rough, c) for c in classes):
            return False
    return True


def _risk(loss: Table, mass: Fraction, labels: Sequence[int], f: Sequence[int]) -> Any:
    return add(p * loss[y, v] for p, y, v in zip((mass, 1 - mass), labels, f, strict=True))


def _argmin(risks: dict[Any, Any], among: Sequence[Any]) -> set[Any]:
    least = min(risks[f] for f in among)
    return {f for f in among if risks[f] == least}


@sc.claim(
    "RMW-corr",
    place="Section 5, the corrected loss of Natarajan et al.",
    kind=sc.IDENTITY,
    says=r"For every loss, σ ∈ (0, ½) and Q: E_Q ℓ = E_{Q_σ} ℓ_σ, ℓ_σ(y, v) = ((1 − σ) ℓ(y, v) − σ ℓ(−y, v))/(1 − 2σ). Shown for one event "
    r"(v, y) of mass q, by linearity for all Q; a = ℓ(y, v) and b = ℓ(−y, v) are free.",
    exhaustive=True,
    knobs={"own": 1, "other": 1},
    mutants={"σ twice": {"own": 2}, "no weight on ℓ(−y, v)": {"other": 0}},
)
def corrected_loss_is_unbiased(trial: sc.Trial) -> Iterator[sc.Check]:
    """Mass, losses and rate are symbols."""
    q, a, b, s = sc.symbols("q a b s")
    own = ((1 - trial["own"] * s) * a - trial["other"] * s * b) / (1 - 2 * s)
    other = ((1 - trial["own"] * s) * b - trial["other"] * s * a) / (1 - 2 * s)
    yield sc.equal(q * ((1 - s) * own + s * other), q * a, "E ℓ_σ under noise")
    yield sc.equal(own, corrected(a, b, s, s), "the same formula as in this library")


@sc.claim(
    "RMW-L23",
    place="Appendix 14, Lemma 23 (DeGroot)",
    kind=sc.EQUIVALENCE,
    says=r"Two losses are order equivalent iff ℓ₂ = αℓ₁ + β with α > 0 (for distributions with finite expectations). If: E_Q ℓ₂ − E_Q' ℓ₂ "
    r"= α (E_Q ℓ₁ − E_Q' ℓ₁). Only if: take three events with losses a₁, a₂, a₃ and b₁, b₂, b₃. The signed measure d = (a₂ − a₃, a₃ − a₁, "
    r"a₁ − a₂) has mass 0 and ⟨d, a⟩ = 0, so that order equivalence, applied to d and −d, makes ⟨d, b⟩ = a₁(b₃ − b₂) + a₂(b₁ − b₃) + "
    r"a₃(b₂ − b₁) vanish: all points (a, b) lie on one line, and two events give its slope the sign of (b₁ − b₂)/(a₁ − a₂).",
    remains="from the identities to 'iff': order equivalence, applied to d and −d, makes ⟨d, b⟩ vanish, and points on a line three "
    "by three are on one",
    exhaustive=True,
    knobs={"second": 1, "turn": 1},
    mutants={"Q' of mass 2": {"second": 2}, "another d": {"turn": -1}},
    note="A constant ℓ₁ is equivalent only to constant losses, with any α: events of equal a and different b are told apart by e₁ − e₂.",
)
def order_equivalent_losses_are_affine(trial: sc.Trial) -> Iterator[sc.Check]:
    """Losses on three events, masses, α and β are symbols."""
    a, b = list(sc.symbols("a1 a2 a3")), list(sc.symbols("b1 b2 b3"))
    alpha, beta, q1, q2, r1, r2 = sc.symbols("alpha beta q1 q2 r1 r2")
    q = [q1, q2, 1 - q1 - q2]
    r = [r1, r2, trial["second"] - r1 - r2]
    d = [m - k for m, k in zip(q, r, strict=True)]
    affine = [alpha * value + beta for value in a]
    yield sc.equal(dot(d, affine), alpha * dot(d, a), "if: differences of risks")
    turned = [level(a)[0], trial["turn"] * level(a)[1], level(a)[2]]
    yield sc.equal(add(turned), 0, "only if: d has mass 0")
    yield sc.equal(dot(turned, a), 0, "only if: ℓ₁ does not see d")
    yield sc.equal(collinearity(a, b), a[0] * (b[2] - b[1]) + a[1] * (b[0] - b[2]) + a[2] * (b[1] - b[0]), "only if: what ℓ₂ sees")
    yield sc.equal(collinearity(a, affine), 0, "affine losses see nothing")


@sc.claim(
    "RMW-L12",
    place="Section 5, Lemma 12",
    kind=sc.EQUIVALENCE,
    says=r"ℓ is robust to label noise iff ℓ and ℓ_σ are order equivalent for all σ ∈ (0, ½). With ℓ′(y, v) = (1 − σ) ℓ(y, v) + σ ℓ(−y, v): "
    r"E_Q ℓ′ = E_{Q_σ} ℓ, so robustness is the order equivalence of ℓ and ℓ′; (ℓ′)_σ = ℓ and (αℓ + β)_σ = αℓ_σ + β, so that ℓ′ = αℓ + β "
    r"and ℓ = αℓ_σ + β are the same equation; Lemma 23 does the rest.",
    remains="Lemma 23, by which order equivalent losses are affine in one another",
    exhaustive=True,
    knobs={"flip": 1},
    mutants={"only half of the noise in ℓ′": {"flip": Fraction(1, 2)}},
    note="Printed 'If ℓ is robust … if and only if'.",
)
def robust_means_equivalent_to_the_corrected_loss(trial: sc.Trial) -> Iterator[sc.Check]:
    """The identities behind the equivalence; a = ℓ(y, v), b = ℓ(−y, v)."""
    a, b, s, q, r, alpha, beta = sc.symbols("a b s q r alpha beta")
    rate = trial["flip"] * s
    own, other = noisy(a, b, rate), noisy(b, a, rate)
    flipped = [q * (1 - s) + r * s, r * (1 - s) + q * s]  # masses of (y, v) and (−y, v) under Q_σ
    yield sc.equal(q * own + r * other, flipped[0] * a + flipped[1] * b, "E_Q ℓ′ = E_{Q_σ} ℓ")
    yield sc.equal(corrected(own, other, s, s), a, "(ℓ′)_σ = ℓ")
    yield sc.equal(corrected(alpha * a + beta, alpha * b + beta, s, s), alpha * corrected(a, b, s, s) + beta, "(αℓ + β)_σ = αℓ_σ + β")
    yield sc.equal(noisy(corrected(a, b, s, s), corrected(b, a, s, s), rate), a, "(ℓ_σ)′ = ℓ")


@sc.claim(
    "RMW-L12-tried",
    place="Section 5, Lemma 12 and Appendix 14, Lemma 23",
    kind=sc.EQUIVALENCE,
    says=r"On every loss with values in {0, 1, 2} on two scores and every rate of {1/100, 1/4, 49/100}: Q ≤_ℓ Q' iff Q_σ ≤_ℓ Q'_σ for all "
    r"Q, Q' exactly when ℓ and ℓ_σ order all Q, Q' alike; and where they do not, a Q and a Q' say so: E_Q ℓ ≤ E_Q' ℓ, E_Q ℓ_σ > E_Q' ℓ_σ "
    r"or the reverse.",
    instances=every_small_loss,
    exhaustive=True,
    knobs={"sign": 1},
    mutants={"compared with −ℓ_σ": {"sign": -1}},
    note="For these losses the signed measures with entries −2 … 2 are enough, as Lemma 23 shows.",
)
def both_sides_of_lemma_12(values: list[int], rate: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both sides decided from their definitions, without Lemma 23."""
    loss = table(values)
    other = {event: trial["sign"] * value for event, value in correction(loss, rate).items()}
    found = disagreement(loss, other, DIRECTIONS)
    yield sc.true(robust_by_definition(loss, rate) == (found is None), "both sides agree", evidence=sc.EXACT)
    if found is not None:
        first, second = as_pair(found)
        orders = [excess(each, first) <= excess(each, second) for each in (loss, other)]
        yield sc.true(
            sum(first.values()) == sum(second.values()) == 1 and orders[0] != orders[1], "Q and Q' as witnesses", evidence=sc.EXACT
        )
