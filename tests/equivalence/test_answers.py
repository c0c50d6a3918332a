"""Pairs of families in closed form with a known truth, and the answer that each of the three programmes must give.

On K = I the functions are vectors: every norm and distance below can be checked by hand. FAILS and HOLDS are said only of what is so;
UNDECIDED wherever the radii, the reach or the floats do not tell.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Linear
from simopt.equivalence.equivalence import Answer, Equivalence, Flat, identity
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.map_search import MapOutcome, find_map, recovered
from simopt.equivalence.strong import verify_strong
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import verify_weak

HOLDS, FAILS, UNDECIDED = Answer.HOLDS, Answer.FAILS, Answer.UNDECIDED
FOUND, EVERY, OPEN_ENDED, NO_MAP = MapOutcome.FOUND, MapOutcome.EVERY, MapOutcome.OPEN_ENDED, MapOutcome.NO_MAP
TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def orthonormal(*targets):
    """K = I, so that coefficients are coordinates and the targets are the least-squares fit."""
    return TrainingSet(np.eye(len(targets)), np.array(targets, dtype=float), Linear())


Z1, Z2, LONGER = orthonormal(1.0, 0.8, 0.6), orthonormal(0.5, -2.0, 0.1), orthonormal(1.0, 0.8, 0.6, 0.3)
DOUBLED = orthonormal(2.0, 1.6, 1.2)


def made(name, path, radius=0.0, domain=None):
    """The family λ ↦ path(λ, y), whose members are known up to `radius` of their norm."""

    def fit(lam, Z):
        f = Z.function(np.asarray(path(lam, Z.targets), dtype=float))
        return replace(f, error=radius * f.norm())

    return Family(name, fit, domain) if domain else Family(name, fit)


def soft(lam, y):
    return np.sign(y) * np.maximum(np.abs(y) - lam, 0.0)


def hard(lam, y):
    return np.where(y * y > 2 * lam, y, 0.0)


def aside(y, fraction):
    """y moved by `fraction` of its norm at a right angle to it (in the first two coordinates)."""
    out = np.array(y)
    out[:2] += fraction * np.linalg.norm(y) * np.array([-y[1], y[0]]) / np.hypot(y[0], y[1])
    return out


def shrunk(lam, y):
    return y / (1 + lam)


def overflowing(lam, y):
    with np.errstate(divide="ignore"):
        return y / lam**5


def at_most_one(lam):
    return lam if lam <= 1.0 else 1.0


RIDGE = made("ridge", shrunk)
HALVES = made("ridge, λ twice", lambda lam, y: shrunk(2 * lam, y))
LASSO = made("lasso", soft)
LASSO2 = made("lasso, λ twice", lambda lam, y: soft(2 * lam, y))
SUBSET = made("best subset", hard)
BALL = made("ball", lambda r, y: y * min(1.0, r / np.linalg.norm(y)))
OPEN_BALL = made("ball, open", lambda r, y: y * r / np.linalg.norm(y), domain=lambda Z: Interval(0, float(np.linalg.norm(Z.targets))))
JUMPS = made("ridge with a jump", lambda lam, y: shrunk(lam if lam < 1 else 2 * lam, y))
TURNS = made("ridge that turns at 1", lambda lam, y: shrunk(lam, y) if lam < 1 else TURN @ shrunk(lam, y))
SPHERE = made("a turn of constant norm", lambda lam, y: [math.cos(lam), math.sin(lam), 0.0])
FLIPPED = made("ridge of 1/λ", lambda lam, y: shrunk(1 / lam, y))
SWAPPED = made("ridge, [1, 2) and [2, 3) exchanged", lambda lam, y: shrunk(exchanged(lam), y))
PLATEAU = made("ridge that rests", lambda lam, y: shrunk(lam if lam < 1 else max(1.0, lam - 1), y))
CUBES = made("ridge of the cube root", lambda lam, y: shrunk(lam ** (1 / 3), y))
FIFTY = made("ridge of the 50th root", lambda lam, y: shrunk(lam**0.02, y))
WAVES = made("a norm that rises and falls", lambda lam, y: y * (2 + math.sin(3 * math.log(lam))))
TWICE = made("ridge, twice", lambda lam, y: 2 * shrunk(lam, y))
DENSE = made("ridge of −log(1 − q)", lambda q, y: shrunk(-math.log1p(-q), y), domain=lambda Z: Interval(0.0, 1.0))
CIRCLE = made("a circle", lambda lam, y: [math.cos(2 * math.pi * lam / (1 + lam)), math.sin(2 * math.pi * lam / (1 + lam)), 0.0])
WEST = made("its western point", lambda lam, y: [-1.0, 0.0, 0.0])
STEEP = made("steep at 1", lambda lam, y: shrunk(lam * math.exp(5 * math.tanh(1e6 * math.log(lam))), y))
NOTHING = made("nothing", lambda lam, y: 0.0 * y)
CONSTANT = made("constant", lambda lam, y: np.eye(len(y))[0])
STUCK = made("at most 0.01", lambda lam, y: 0.01 * y * lam / (1 + lam))
TAKES_TWO = made("ridge on one set only", lambda lam, y: shrunk(lam * (1 + max(0.0, -float(np.min(y)))), y))


def exchanged(lam):
    return lam + 1 if 1 <= lam < 2 else lam - 1 if 2 <= lam < 3 else lam


def deviating(fraction):
    return made(f"ridge, {fraction:g} aside", lambda lam, y: aside(shrunk(lam, y), fraction))


def loose(family, radius):
    """The family with functions known to this share of their norm only."""
    return Family(f"{family.name} ± {radius:g}", lambda lam, Z: replace(f := family(lam, Z), error=radius * f.norm()), family.domain)


def vague_outside(family, low, high):
    """The family of which nothing is known outside of (low, high)."""
    return Family(
        f"{family.name}, vague far out",
        lambda lam, Z: replace(family(lam, Z), error=0.0 if low < lam < high else math.inf),
        family.domain,
    )


def link(source, target, there=lambda lam: lam, back=lambda mu: mu, **more):
    return Equivalence("a link", source, target, lambda lam, Z: there(lam), lambda mu, Z: back(mu), **{"accuracy": 1e-15, **more})


def weak(claimed, answer, parameters=(0.01, 0.3, 1.5, 2.5, 40.0), resolution=1e-8, Z=Z1):
    return claimed, answer, parameters, resolution, Z


WEAK = {
    "itself": weak(identity(RIDGE), HOLDS),
    "λ/2": weak(link(RIDGE, HALVES, lambda lam: lam / 2, lambda mu: 2 * mu), HOLDS),
    "1/λ": weak(link(RIDGE, FLIPPED, lambda lam: 1 / lam, lambda mu: 1 / mu), HOLDS),
    "Tikhonov and Ivanov on a fixed set": weak(
        link(RIDGE, OPEN_BALL, lambda lam: math.sqrt(2) / (1 + lam), lambda r: math.sqrt(2) / r - 1, accuracy=1e-14),
        HOLDS,
        (0.1, 1.0, 10.0),
    ),
    "the ball beyond the least-squares fit": weak(
        link(RIDGE, BALL, lambda lam: math.sqrt(2) / (1 + lam), lambda r: math.sqrt(2) / r - 1), FAILS
    ),
    "a cube": weak(link(RIDGE, CUBES, lambda lam: lam**3, lambda mu: mu ** (1 / 3)), HOLDS),
    "huge parameters": weak(link(RIDGE, CUBES, lambda lam: lam**3, lambda mu: mu ** (1 / 3), accuracy=1e-13), HOLDS, (1e-90, 1e90)),
    "parameters beyond the floats": weak(link(RIDGE, CUBES, lambda lam: lam**3, lambda mu: mu ** (1 / 3)), UNDECIDED, (1.0, 1e150)),
    "parameters beyond the floats, in silence": weak(link(RIDGE, CUBES, lambda lam: lam * lam * lam, np.cbrt), UNDECIDED, (1.0, 1e150)),
    "both 0, one up to a radius": weak(link(NOTHING, Family("about 0", lambda lam, Z: Z.function(0 * Z.targets, error=0.1))), UNDECIDED),
    "parameters that underflow": weak(link(RIDGE, CUBES, lambda lam: lam**3, lambda mu: mu ** (1 / 3)), UNDECIDED, (1e-150, 1.0)),
    "functions that underflow": weak(identity(RIDGE), UNDECIDED, (1.0, 1e300)),
    "lasso and lasso, also where both are 0": weak(link(LASSO, LASSO2, lambda lam: lam / 2, lambda mu: 2 * mu), HOLDS, (0.1, 0.7, 3.0)),
    "both always 0": weak(identity(NOTHING), HOLDS),
    "0 against a function": weak(link(NOTHING, CONSTANT), FAILS),
    "a function against 0, radii larger than it": weak(link(NOTHING, loose(CONSTANT, 2.0)), UNDECIDED),
    "another map": weak(link(RIDGE, HALVES), FAILS),
    "another family": weak(link(RIDGE, LASSO), FAILS),
    "ridge with a jump": weak(link(RIDGE, JUMPS), FAILS),
    "ridge with a jump, radii that hide it": weak(link(RIDGE, loose(JUMPS, 2.0)), UNDECIDED),
    "a bijection that is not monotone": weak(link(RIDGE, SWAPPED, exchanged, exchanged, monotone=False), HOLDS),
    "the same, claimed to be monotone": weak(link(RIDGE, SWAPPED, exchanged, exchanged), FAILS),
    "many to one": weak(link(PLATEAU, made("min", lambda lam, y: shrunk(at_most_one(lam), y)), at_most_one), FAILS, (0.5, 1.2, 1.7, 5.0)),
    "many to one, no claim of monotony": weak(link(RIDGE, RIDGE, at_most_one, monotone=False), FAILS, (0.5, 1.2, 1.7)),
    "an inverse that is not one": weak(link(RIDGE, HALVES, lambda lam: lam / 2, lambda mu: 2.001 * mu), FAILS),
    "not onto": weak(link(RIDGE, made("bounded", lambda q, y: (1 - q) * y), lambda lam: lam / (1 + lam), lambda q: q / (1 - q)), FAILS),
    "a map that is refused inside its interval": weak(link(RIDGE, RIDGE, lambda lam: refuse(lam, InvalidProblem)), FAILS),
    "a map that cannot be computed": weak(link(RIDGE, RIDGE, lambda lam: refuse(lam, OverflowError)), UNDECIDED),
    "a map outside the domain of its formula": weak(link(RIDGE, RIDGE, lambda lam: math.sqrt(-lam)), UNDECIDED),
    "flat pieces on both sides": weak(
        link(BALL, BALL, flat=lambda Z: (Flat((math.sqrt(2) * (1 + 1e-12), 1e7), (math.sqrt(2) * (1 + 1e-12), 1e7)),)), HOLDS, (0.5, 3.0)
    ),
    "a piece declared flat that is not": weak(link(BALL, BALL, flat=lambda Z: (Flat((1.0, 1e7), (1.0, 1e7)),)), FAILS, (0.5, 3.0)),
    "a map that is no number": weak(link(RIDGE, RIDGE, lambda lam: math.nan), UNDECIDED),
    "a map into nowhere": weak(link(RIDGE, RIDGE, lambda lam: -lam), FAILS),
    "a map of few digits": weak(link(RIDGE, HALVES, lambda lam: lam / 2, lambda mu: 2 * mu, accuracy=1e-3), UNDECIDED),
    "no parameter": weak(identity(RIDGE), UNDECIDED, ()),
    "equal on this set only, this set": weak(link(RIDGE, TAKES_TWO), HOLDS),
    "equal on this set only, another": weak(link(RIDGE, TAKES_TWO), FAILS, Z=Z2),
    **{f"{fraction:g} aside": weak(link(RIDGE, deviating(fraction)), FAILS) for fraction in (1e-3, 1e-6, 1e-9, 1e-11)},
    "1e-9 aside at a resolution of 0.1": weak(link(RIDGE, deviating(1e-9)), FAILS, resolution=0.1),
    "1e-9 aside, within the radii": weak(link(RIDGE, loose(deviating(1e-9), 2e-9)), HOLDS),
    "1e-9 aside, within the radii, looked at closely": weak(link(RIDGE, loose(deviating(1e-9), 2e-9)), UNDECIDED, resolution=1e-10),
    "1e-3 aside, within the radii": weak(link(RIDGE, loose(deviating(1e-3), 2e-3)), UNDECIDED),
    "loose learners": weak(identity(loose(RIDGE, 1e-4)), UNDECIDED),
    "loose learners at their resolution": weak(identity(loose(RIDGE, 1e-4)), HOLDS, resolution=1e-3),
    "learners that know nothing": weak(identity(loose(RIDGE, math.inf)), UNDECIDED),
    "learners that know nothing, of a false claim": weak(link(RIDGE, loose(LASSO, math.inf)), UNDECIDED),
}


def refuse(lam, error):
    raise error(f"not at {lam}")


@pytest.mark.parametrize("name", WEAK)
def test_verify_weak(name):
    claimed, answer, parameters, resolution, Z = WEAK[name]
    report = verify_weak(claimed, Z, parameters, resolution=resolution)
    assert report.answer is answer, report.reason
    assert report.holds == (answer is HOLDS) == (report.reason is None)
    assert (report.witness is not None) == (answer is FAILS) == bool(report.refuted)


def test_nothing_is_claimed_outside_the_source_interval():
    with pytest.raises(InvalidProblem, match="claims nothing at -1"):
        verify_weak(identity(RIDGE), Z1, [1.0, -1.0])


def find(source, target, outcome, parameter=0.5, truth=None, Z=Z1, **more):
    return source, target, outcome, parameter, truth, Z, more


FIND = {
    "itself": find(RIDGE, RIDGE, FOUND, truth=0.5),
    "λ/2": find(RIDGE, HALVES, FOUND, truth=0.25),
    "1/λ": find(RIDGE, FLIPPED, FOUND, truth=2.0),
    "Ivanov": find(RIDGE, BALL, FOUND, truth=math.sqrt(2) / 1.5),
    "Ivanov on a bounded interval": find(RIDGE, OPEN_BALL, FOUND, truth=math.sqrt(2) / 1.5),
    "lasso": find(LASSO, LASSO2, FOUND, truth=0.25),
    "lasso near its end": find(LASSO, LASSO2, FOUND, 0.999, truth=0.4995),
    "a cube": find(RIDGE, CUBES, FOUND, truth=0.125),
    "far away": find(RIDGE, FIFTY, FOUND, 2.0, truth=2.0**50),
    "tiny": find(RIDGE, CUBES, FOUND, 1e-3, truth=1e-9),
    "huge": find(RIDGE, CUBES, FOUND, 1e40, truth=1e120),
    "beyond the reach": find(RIDGE, FIFTY, MapOutcome.UNDECIDED, 9e2),
    "1e147, beyond the reach": find(RIDGE, CUBES, MapOutcome.UNDECIDED, 1e49),
    "1e147, within a longer one": find(RIDGE, CUBES, FOUND, 1e49, truth=1e147, reach=600.0),
    "functions that underflow": find(RIDGE, HALVES, MapOutcome.UNDECIDED, 1e303, Z=orthonormal(1e-9, 3e-9, 1e-9), reach=700.0),
    "beyond a short reach": find(RIDGE, CUBES, MapOutcome.UNDECIDED, 100.0, reach=5.0),
    "lasso and lasso, both 0": find(LASSO, LASSO2, FOUND, 3.0, truth=1.5),
    "0 against ridge, 0 in the limit": find(NOTHING, RIDGE, MapOutcome.UNDECIDED),
    "0 against what is never 0": find(NOTHING, CONSTANT, NO_MAP),
    "0 and 0": find(NOTHING, NOTHING, EVERY),
    "between sparse floats at the end of a bounded interval": find(RIDGE, DENSE, MapOutcome.UNDECIDED, 33.93),
    "beyond the floats of a bounded interval": find(RIDGE, DENSE, MapOutcome.UNDECIDED, 50.0),
    "a circle that ends where it began": find(WEST, CIRCLE, OPEN_ENDED, 1.0),
    "a circle that ends where it began, met elsewhere": find(WEST, CIRCLE, OPEN_ENDED, 0.1),
    "steep": find(RIDGE, STEEP, FOUND, 2.0),
    "ridge against 0": find(RIDGE, NOTHING, NO_MAP),
    "ridge against a norm too small": find(RIDGE, STUCK, NO_MAP),
    "the fit itself against the path that ends in it": find(BALL, RIDGE, OPEN_ENDED, 2.0),
    "a jump past the function": find(RIDGE, JUMPS, NO_MAP, 1.5),
    "before the jump": find(RIDGE, JUMPS, FOUND, 0.7, truth=0.7),
    "after the jump": find(RIDGE, JUMPS, FOUND, 3.0, truth=1.5),
    "a path that turns, before": find(RIDGE, TURNS, FOUND, 0.9, truth=0.9),
    "a path that turns, after": find(RIDGE, TURNS, NO_MAP, 1.1),
    "best subset, 60 % apart": find(RIDGE, SUBSET, NO_MAP, 1.0),
    "best subset, between two of its functions": find(RIDGE, SUBSET, NO_MAP, 0.2),
    "a constant norm": find(RIDGE, SPHERE, MapOutcome.UNDECIDED, 0.5, Z=DOUBLED),
    "a plateau of the target": find(RIDGE, PLATEAU, FOUND, 1.0, truth=1.5),
    "a norm that rises and falls, met": find(TWICE, WAVES, FOUND, 0.5),
    "a norm that rises and falls, missed": find(made("aside", lambda lam, y: 2 * aside(y, 1e-3)), WAVES, MapOutcome.UNDECIDED),
    "lasso against ridge": find(RIDGE, LASSO, NO_MAP),
    "lasso, of whose norm nothing is claimed": find(RIDGE, replace(LASSO, monotone=False), MapOutcome.UNDECIDED),
    "the same family, of whose norm nothing is claimed": find(RIDGE, replace(HALVES, monotone=False), FOUND, truth=0.25),
    **{f"{fraction:g} aside": find(RIDGE, deviating(fraction), NO_MAP) for fraction in (1e-3, 1e-6, 1e-9, 1e-11)},
    "1e-9 aside, within the radii": find(RIDGE, loose(deviating(1e-9), 2e-9), FOUND),
    "1e-3 aside, within the radii": find(RIDGE, loose(deviating(1e-3), 2e-3), MapOutcome.UNDECIDED),
    "30 % apart, within the radii": find(RIDGE, loose(deviating(0.3), 0.4), MapOutcome.UNDECIDED),
    "loose learners": find(loose(RIDGE, 1e-4), loose(RIDGE, 1e-4), MapOutcome.UNDECIDED, truth=0.5),
    "loose learners at their resolution": find(loose(RIDGE, 1e-4), loose(RIDGE, 1e-4), FOUND, truth=0.5, resolution=1e-3),
    "learners that know nothing": find(loose(RIDGE, math.inf), RIDGE, MapOutcome.UNDECIDED),
    "a target that knows nothing": find(RIDGE, loose(RIDGE, math.inf), MapOutcome.UNDECIDED),
    "another family, vague far out on both sides": find(RIDGE, vague_outside(LASSO, 0.02, 0.95), NO_MAP),
    "the same family, vague far out on both sides": find(RIDGE, vague_outside(HALVES, 0.02, 0.95), FOUND, truth=0.25),
    "another family, vague on the side where it may be": find(RIDGE, vague_outside(LASSO, 0.5, 0.95), MapOutcome.UNDECIDED),
    "loose and not to be fitted far out": find(RIDGE, loose(made("short", lambda lam, y: shrunk(near(lam), y)), 1.0), MapOutcome.UNDECIDED),
    "coefficients that overflow far out": find(RIDGE, made("overflows", overflowing), FOUND, truth=1.5**0.2),
    "a vague target that overflows far out": find(RIDGE, loose(made("overflows", overflowing), 1.0), MapOutcome.UNDECIDED, 1.0),
    "a target that cannot be fitted far out": find(RIDGE, made("short", lambda lam, y: shrunk(near(lam), y)), FOUND, 0.5, truth=0.5),
    "a target that cannot be fitted where it matters": find(
        RIDGE, made("short", lambda lam, y: shrunk(near(lam), y)), MapOutcome.UNDECIDED, 90.0
    ),
}


def near(lam):
    if not 0.01 < lam < 30:
        raise OverflowError("too far out")
    return lam


@pytest.mark.parametrize("name", FIND)
def test_find_map(name):
    source, target, outcome, parameter, truth, Z, more = FIND[name]
    found = find_map(source, target, parameter, Z, **more)
    assert found.outcome is outcome, found
    assert found.answer is {FOUND: HOLDS, EVERY: HOLDS, NO_MAP: FAILS}.get(outcome, UNDECIDED)
    assert outcome is FOUND or found.reason
    assert truth is None or found.low <= truth <= found.high
    if outcome is FOUND:
        f, g = source(parameter, Z), target(found.value, Z)
        assert f.distance(g) + f.error + g.error <= 2 * more.get("resolution", 1e-8) * f.norm()


@pytest.mark.parametrize("resolution", [0.0, -1e-8, 1.0, math.inf, math.nan])
def test_a_resolution_that_all_or_none_would_meet_is_refused(resolution):
    vague = identity(loose(RIDGE, math.inf))
    for judge in (
        lambda: verify_weak(vague, Z1, resolution=resolution),
        lambda: verify_strong(vague, [Z1, Z2], [1.0], resolution=resolution),
        lambda: find_map(RIDGE, RIDGE, 1.0, Z1, resolution=resolution),
    ):
        with pytest.raises(InvalidProblem, match="below 1"):
            judge()
    with pytest.raises(InvalidProblem, match="reach"):
        find_map(RIDGE, RIDGE, 1.0, Z1, reach=-1.0)


def test_what_contradicts_the_assumption_is_reported():
    jump = find_map(RIDGE, JUMPS, 1.5, Z1)
    assert "jumps from" in jump.reason and jump.distance > 0.1 * jump.norm
    missed = find_map(made("aside", lambda lam, y: 2 * aside(y, 1e-3)), WAVES, 0.5, Z1)
    assert "both rises and falls" in missed.reason and (missed.low, missed.high) == (0.0, math.inf)
    assert "beyond" in find_map(RIDGE, CUBES, 1e49, Z1).reason


def test_recovered_maps_say_which_of_the_two_it_is():
    with pytest.raises(InvalidProblem, match="apart") as none:
        recovered(RIDGE, deviating(1e-3))(0.5, Z1)
    assert not isinstance(none.value, ArithmeticError)
    with pytest.raises(ArithmeticError, match="beyond"):
        recovered(RIDGE, FIFTY)(9e2, Z1)
    assert verify_weak(recovered(RIDGE, deviating(1e-3)), Z1, [0.5]).answer is FAILS
    assert verify_weak(recovered(RIDGE, loose(RIDGE, 1e-3)), Z1, [0.5]).answer is UNDECIDED


def strong(claimed, answer, sets=(Z1, Z2, DOUBLED), parameters=(0.1, 0.9, 3.0), resolution=1e-8):
    return claimed, answer, sets, parameters, resolution


OVER_N = Family("ridge of nλ", lambda lam, Z: Z.function(shrunk(lam * Z.n, Z.targets)))
BY_SET = Equivalence(
    "ridge to ball",
    RIDGE,
    OPEN_BALL,
    lambda lam, Z: float(np.linalg.norm(Z.targets)) / (1 + lam),
    lambda r, Z: float(np.linalg.norm(Z.targets)) / r - 1,
    accuracy=1e-14,
)


def known_at_home(r, Z):
    f, fraction = OPEN_BALL.fit(r, Z), r / float(np.linalg.norm(Z.targets))
    return replace(f, error=0.0 if min(abs(fraction - 0.25), abs(fraction - 0.1)) < 1e-9 else 10.0 * f.norm())


KNOWN_AT_HOME = Family("ball, known where it is asked for", known_at_home, OPEN_BALL.domain)
VAGUE = replace(BY_SET, target=loose(OPEN_BALL, math.inf))
STRONG = {
    "itself": strong(identity(RIDGE), HOLDS),
    "λ/2": strong(link(RIDGE, HALVES, lambda lam: lam / 2, lambda mu: 2 * mu), HOLDS),
    "1/λ": strong(link(RIDGE, FLIPPED, lambda lam: 1 / lam, lambda mu: 1 / mu), HOLDS),
    "a map that depends on Z": strong(BY_SET, FAILS),
    "a map that ignores Z and serves none": strong(link(RIDGE, HALVES), FAILS),
    "a map that ignores Z, 1e-9 off": strong(link(RIDGE, deviating(1e-9)), FAILS),
    "a map that ignores Z and serves one set": strong(link(RIDGE, TAKES_TWO), FAILS),
    "the same, on the sets that it serves": strong(link(RIDGE, TAKES_TWO), HOLDS, (Z1, DOUBLED)),
    "a bijection that is no bijection": strong(link(RIDGE, HALVES, lambda lam: lam / 2, lambda mu: 2.1 * mu), FAILS),
    "λ|Z| on one size": strong(Equivalence("n", OVER_N, RIDGE, lambda lam, Z: lam * Z.n, lambda mu, Z: mu / Z.n), HOLDS),
    "λ|Z| on two sizes": strong(Equivalence("n", OVER_N, RIDGE, lambda lam, Z: lam * Z.n, lambda mu, Z: mu / Z.n), FAILS, (Z1, LONGER)),
    "lasso, also where both are 0": strong(link(LASSO, LASSO2, lambda lam: lam / 2, lambda mu: 2 * mu), HOLDS),
    "loose learners": strong(identity(loose(RIDGE, 1e-4)), UNDECIDED),
    "loose learners at their resolution": strong(identity(loose(RIDGE, 1e-4)), HOLDS, resolution=1e-3),
    "learners that know nothing, of a false claim": strong(link(RIDGE, loose(LASSO, math.inf)), UNDECIDED),
    "learners that know nothing, of a map that depends on Z": strong(VAGUE, UNDECIDED, parameters=(3.0, 9.0)),
    "a parameter of one set that is none of another": strong(VAGUE, FAILS, parameters=(0.1, 3.0)),
    "an inverse that cannot be computed": strong(link(RIDGE, RIDGE, back=lambda mu: refuse(mu, OverflowError)), UNDECIDED),
    "known on the own set only": strong(replace(BY_SET, target=KNOWN_AT_HOME, accuracy=0.0), UNDECIDED, (Z1, DOUBLED), (3.0, 9.0)),
    "one set": strong(identity(RIDGE), UNDECIDED, (Z1,)),
    "one set twice": strong(identity(RIDGE), UNDECIDED, (Z1, orthonormal(1.0, 0.8, 0.6))),
    "no parameter in common": strong(identity(RIDGE), UNDECIDED, parameters=()),
}


@pytest.mark.parametrize("name", STRONG)
def test_verify_strong(name):
    claimed, answer, sets, parameters, resolution = STRONG[name]
    report = verify_strong(claimed, sets, parameters, resolution=resolution)
    assert report.answer is answer, report.reason
    assert report.holds == (answer is HOLDS) == (report.reason is None)
    if answer is FAILS:
        assert report.witnesses or any(each.witness is not None for each in report.weak)
    assert all(w.replay(claimed).stands for w in report.witnesses)


def test_kernel_ridge_to_m_power_rls_by_the_same_parameter_fails(gaussian):
    """The claim that the separation of two equal images let pass, over 90 comparisons."""
    from simopt.equivalence.strong import neighbours
    from simopt.theorems.ak.families import kernel_ridge, m_power_rls

    report = verify_strong(link(kernel_ridge(), m_power_rls(3.0)), neighbours(gaussian), [1e-3, 0.05, 2.0])
    assert report.comparisons == 90
    assert report.answer is FAILS and len(report.witnesses) == 90
    assert all(each.answer is FAILS for each in report.weak) and report.reason.startswith("on the set")


def test_the_table_is_long_enough():
    assert min(len(WEAK), len(FIND)) >= 30 and len(STRONG) >= 15
