import math
from dataclasses import replace

import numpy as np
import pytest

from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.equivalence.equivalence import Answer, Equivalence, Flat, Strength, identity
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.map_search import recovered
from simopt.equivalence.strong import neighbours, verify_strong
from simopt.equivalence.weak import verify_weak
from simopt.theorems.ak.equivalences import (
    ball_to_power_ball,
    kernel_ridge_to_over_n,
    m_power_rls_to_kernel_ridge,
    m_power_rls_to_m_power_rls,
    m_power_tikhonov_to_ivanov,
    tikhonov_to_ivanov,
)
from simopt.theorems.ak.families import kernel_ridge, kernel_ridge_ball, least_norm

EVERY = {
    "power 1.05": m_power_rls_to_kernel_ridge(1.05),
    "power 3": m_power_rls_to_kernel_ridge(3.0),
    "power 2": m_power_rls_to_kernel_ridge(2.0),
    "over n": kernel_ridge_to_over_n(),
    "ivanov": tikhonov_to_ivanov(),
    "ivanov inverted": tikhonov_to_ivanov().inverted(),
    "power ivanov": m_power_tikhonov_to_ivanov(3.0),
    "powers": m_power_rls_to_m_power_rls(1.5, 4.0),
    "balls": ball_to_power_ball(3.0),
    "identity": identity(kernel_ridge()),
    "there and back": m_power_rls_to_kernel_ridge(3.0).then(m_power_rls_to_kernel_ridge(3.0).inverted()),
}
PARAMETERS = [1e-3, 0.05, 2.0]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("which", ["gaussian", "linear"])
def test_weak_equivalence_holds(request, which, name):
    Z = request.getfixturevalue(which)
    # At λ = 1e-6 the radius ‖f_λ‖ is so close to ‖f₀‖ that one rounding of it is a relative 1e-8 of λ.
    report = verify_weak(EVERY[name], Z, resolution=1e-7 if name == "ivanov inverted" else 1e-8)
    assert not report.refuted
    assert report.holds, report.undecided
    assert report.increasing == ("ivanov" not in name)
    assert {finding.what for finding in report.findings} == {"distance", "monotone", "round trip", "onto"}


@pytest.mark.parametrize("name", EVERY)
def test_strength_is_as_declared(gaussian, name):
    claimed, sets = EVERY[name], neighbours(gaussian)
    inside = [lam for lam in PARAMETERS if all(lam in claimed.intervals(Z)[0] for Z in sets)]
    among_all = verify_strong(claimed, sets, inside)
    among_equals = verify_strong(claimed, sets, inside, among=Strength.SAME_SIZE)
    strength = Strength.STRONG if name == "there and back" else claimed.strength
    assert among_all.comparisons > among_equals.comparisons > 0
    assert among_all.answer is (Answer.HOLDS if strength is Strength.STRONG else Answer.FAILS)
    assert among_equals.answer is (Answer.FAILS if strength is Strength.WEAK else Answer.HOLDS)
    assert all(report.holds for report in among_all.weak)  # it is the comparison of sets that fails
    # A map that ignores Z is the same for all sets, and need not be an equivalence on one.
    shifted = replace(claimed, map=lambda lam, Z: 1.001 * lam, inverse=lambda mu, Z: mu / 1.001)
    false = verify_strong(shifted, sets, inside)
    assert false.answer is Answer.FAILS and false.witnesses and all(w.replay(shifted).stands for w in false.witnesses[:2])


def test_witnesses_against_strong_equivalence_replay(gaussian):
    claimed = m_power_rls_to_kernel_ridge(3.0)
    report = verify_strong(claimed, neighbours(gaussian), PARAMETERS)
    assert report.witnesses == tuple(sorted(report.witnesses, key=lambda w: w.error - w.distance))
    for witness in report.witnesses[:5]:
        again = witness.replay(claimed)
        assert again.stands
        assert (again.image, again.other_image) == (witness.image, witness.other_image)
        f = claimed.source(witness.parameter, witness.two)
        served = claimed.target(witness.image, witness.two)
        needed = claimed.target(witness.other_image, witness.two)
        assert f.distance(served) > 1e3 * f.distance(needed)
    assert not replace(report.witnesses[0], two=report.witnesses[0].one).replay(claimed).stands


def test_only_sets_of_different_sizes_speak_against_ridge_over_n(gaussian):
    report = verify_strong(kernel_ridge_to_over_n(), neighbours(gaussian), PARAMETERS)
    assert report.witnesses
    assert all(w.one.n != w.two.n for w in report.witnesses)
    assert all(w.other_image / w.image == pytest.approx(w.two.n / w.one.n) for w in report.witnesses)


def test_maps_are_the_closed_forms(gaussian):
    lam, m = 0.03, 3.0
    ridge = m_power_rls_to_kernel_ridge(m)(lam, gaussian)
    norm = kernel_ridge()(ridge, gaussian).norm()
    assert ridge == pytest.approx(m * lam / 2 * norm ** (m - 2), rel=1e-12)
    assert m_power_rls_to_kernel_ridge(m).back(ridge, gaussian) == pytest.approx(lam, rel=1e-12)
    assert kernel_ridge_to_over_n()(lam, gaussian) == lam * gaussian.n
    assert tikhonov_to_ivanov()(lam, gaussian) == pytest.approx(kernel_ridge()(lam, gaussian).norm(), rel=1e-12)
    assert m_power_rls_to_m_power_rls(1.5, 4.0).target.name == "m-power-rls(4)"


def test_composition_inversion_and_identity(gaussian):
    first, second = m_power_rls_to_kernel_ridge(1.5), tikhonov_to_ivanov()
    both = first.then(second)
    assert both(0.02, gaussian) == second(first(0.02, gaussian), gaussian)
    assert both.back(both(0.02, gaussian), gaussian) == pytest.approx(0.02, rel=1e-9)
    assert both.inverted()(both(0.02, gaussian), gaussian) == pytest.approx(0.02, rel=1e-9)
    assert both.strength is Strength.WEAK
    low, high = both.intervals(gaussian)[1].low, both.intervals(gaussian)[1].high
    assert (low, high) == (0.0, least_norm(gaussian))
    narrowed = second.inverted().then(second)
    assert narrowed.intervals(gaussian)[0].high == pytest.approx(least_norm(gaussian))
    assert identity(kernel_ridge())(0.7, gaussian) == 0.7
    with pytest.raises(InvalidProblem, match="ends in"):
        second.then(first)


def test_intervals_survive_a_composition_that_narrows_them(gaussian):
    """Balls of any radius → their cubes, after Tikhonov: only (0, ‖f₀‖³) is reached; before it, only (0, ‖f₀‖) is left."""
    cube, tikhonov = ball_to_power_ball(3.0), tikhonov_to_ivanov()
    assert tikhonov.then(cube).intervals(gaussian)[1].high == pytest.approx(least_norm(gaussian) ** 3)
    source, target = cube.inverted().then(tikhonov.inverted()).intervals(gaussian)
    assert source.high == pytest.approx(least_norm(gaussian) ** 3)
    assert (target.low, target.high) == (0.0, math.inf)


def test_without_signal_there_is_nothing_to_be_equivalent(no_signal):
    for claimed in (m_power_rls_to_kernel_ridge(3.0), tikhonov_to_ivanov()):
        report = verify_weak(claimed, no_signal)
        assert report.reason is not None and "K Y = 0" in report.reason
        assert not report.holds and not report.refuted
        with pytest.raises(InvalidProblem, match="K Y = 0"):
            claimed(1.0, no_signal)
    assert verify_strong(tikhonov_to_ivanov(), [no_signal, no_signal], [1.0]).comparisons == 0


def test_the_unrestricted_ivanov_claim_is_refuted(gaussian):
    """Onto (0, ∞), as the remark in the paper reads literally: balls beyond ‖f₀‖ have no λ."""
    claimed = replace(tikhonov_to_ivanov(), target_interval=None)
    report = verify_weak(claimed, gaussian)
    assert {finding.what for finding in report.refuted} == {"onto"}


@pytest.mark.parametrize(
    ("what", "broken"),
    [
        ("distance", replace(EVERY["power 3"], map=lambda lam, Z: 1.0001 * EVERY["power 3"].map(lam, Z))),
        ("distance", replace(EVERY["over n"], map=lambda lam, Z: lam * (Z.n - 1), inverse=lambda lam, Z: lam / (Z.n - 1))),
        ("round trip", replace(EVERY["power 3"], inverse=lambda lam, Z: 1.0001 * EVERY["power 3"].inverse(lam, Z))),
        ("round trip", replace(EVERY["balls"], map=lambda r, Z: min(r, 3.0) ** 3)),
        ("onto", replace(EVERY["balls"], map=lambda r, Z: r / (1 + r), inverse=lambda q, Z: q / (1 - q))),
        ("monotone", replace(EVERY["identity"], map=lambda lam, Z: lam + 0.9 * math.sin(3 * lam) * lam)),
    ],
)
def test_broken_claims_are_refuted(gaussian, what, broken):
    report = verify_weak(broken, gaussian)
    assert what in {finding.what for finding in report.refuted}
    assert not report.holds


def flattened(end):
    """Ivanov → Ivanov, r → r up to ‖f₀‖ and anything beyond it, where both paths stand still; declared so up to `end`·‖f₀‖."""
    ball = kernel_ridge_ball()

    def there(r, Z):
        return r if r < least_norm(Z) else 2.0 * least_norm(Z)

    def pieces(Z):
        return (Flat((least_norm(Z), end * least_norm(Z)), (least_norm(Z), end * least_norm(Z))),)

    return Equivalence("flattened", ball, ball, there, lambda r, Z: r, flat=pieces)


def test_flat_pieces_are_checked_on_both_sides_and_have_no_inverse(gaussian):
    largest = least_norm(gaussian)
    radii = [0.1 * largest, 0.5 * largest, 0.9 * largest, 1.5 * largest, 3.0 * largest]
    claimed = flattened(10.0)
    report = verify_weak(claimed, gaussian, radii)
    assert {f.what for f in report.refuted} <= {"onto"}
    assert [f for f in report.findings if f.what == "flat"] and report.worst("flat").satisfied(1e-8)
    assert report.worst("distance").satisfied(1e-8)
    with pytest.raises(InvalidProblem, match="no inverse"):
        claimed.back(2.0 * largest, gaussian)
    undeclared = verify_weak(replace(claimed, flat=lambda Z: ()), gaussian, radii)
    assert any(f.what in ("monotone", "round trip") and f.refuted for f in undeclared.findings)
    wrong = replace(claimed, flat=lambda Z: (Flat((0.5 * largest, 2.0 * largest), (0.5 * largest, 2.0 * largest)),))
    assert verify_weak(wrong, gaussian, radii).worst("flat").refuted


def test_no_inverse_is_asked_for_at_the_ends_of_a_flat_piece(gaussian):
    """Both ends are among the parameters far out, where onto is checked."""
    low, high = Interval(0.0, math.inf).spaced(4).tolist()[1:3]
    ridge = kernel_ridge()
    still = Family("still", lambda lam, Z: ridge(lam if lam < low else low * max(lam / high, 1.0), Z))

    def back(mu, Z):
        if low <= mu <= high:
            raise InvalidProblem("no inverse on the piece")
        return mu

    claimed = replace(identity(still), inverse=back, flat=lambda Z: (Flat((low, high), (low, high)),))
    report = verify_weak(claimed, gaussian, [1e-4, 1e-3, 1.0, 1e3, 1e4])
    assert report.holds, report.reason
    assert len([finding for finding in report.findings if finding.what == "onto"]) == 2


def test_an_equivalence_recovered_from_the_families_alone_verifies(gaussian):
    found = recovered(m_power_rls_to_kernel_ridge(3.0).source, kernel_ridge())
    report = verify_weak(found, gaussian, [1e-3, 1e-1, 10.0], resolution=1e-6)
    assert not report.refuted and report.holds
    sets = neighbours(gaussian)[:2]
    assert verify_strong(found, sets, [0.1]).witnesses


def test_interval_coordinates():
    for interval in (Interval(0, math.inf), Interval(0, 3.0), Interval(-1, 5), Interval(-math.inf, 2.0), Interval(-math.inf, math.inf)):
        values = interval.spaced(7, reach=8.0)
        assert np.all(np.diff(values) > 0) and all(x in interval for x in values)
        np.testing.assert_allclose([interval.coordinate(x) for x in values], np.linspace(-8, 8, 7), atol=1e-9)
        assert interval.coordinate(interval.low) == -math.inf and interval.coordinate(interval.high) == math.inf
    with pytest.raises(InvalidProblem, match="empty"):
        Interval(2.0, 2.0)


def test_equivalences_are_listed():
    registry.load("theorems")
    names = registry.names("equivalence")
    assert {"m-power-rls-to-kernel-ridge", "kernel-ridge-to-kernel-ridge-over-n", "tikhonov-to-ivanov"} <= set(names)
    entry = registry.get("equivalence", "m_power_rls_to_kernel_ridge")
    assert entry.build(power=2.0).strength is Strength.STRONG and "C₀" in entry.summary
    assert registry.get("family", "kernel-ridge").build().name == "kernel-ridge"


def test_parameters_beyond_the_floats_are_an_error_not_an_infinity(gaussian):
    with pytest.raises(OverflowError, match="outside the range of float64"):
        m_power_rls_to_kernel_ridge(1.001)(1e6, gaussian)
