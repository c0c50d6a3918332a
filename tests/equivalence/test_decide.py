"""Two families, are they one: true pairs, pairs that are nearly one, pairs that are one on a part only, jumps, plateaus, radii."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from simopt.core import jsonio
from simopt.core.errors import Interrupted, InvalidFile, InvalidProblem
from simopt.equivalence.decide import Decision, decide
from simopt.equivalence.decide_strong import decide_strong
from simopt.equivalence.decision_record import described, described_strong, recalled
from simopt.equivalence.equivalence import Answer, Strength
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.map_search import MapOutcome, MapValue
from simopt.equivalence.strong import neighbours
from simopt.equivalence.training import TrainingSet
from simopt.theorems.ak.equivalences import m_power_rls_to_kernel_ridge
from simopt.theorems.ak.families import kernel_ridge, kernel_ridge_ball, kernel_ridge_over_n, m_power_rls, m_power_rls_ball
from simopt.theorems.rmw.families import mean_ball, mean_penalised

LAMBDAS = [1e-3, 0.03, 1.0, 20.0]


def aside(family: Family, fraction: float, radius: float = 0.0) -> Family:
    """The family with functions moved by `fraction` of their norm, off the path, and `radius` of it added to the radii."""

    def fit(lam, Z):
        f = family(lam, Z)
        step = Z.function(np.cos(np.arange(Z.n)))
        moved = Z.function(f.coefficients + fraction * f.norm() / step.norm() * step.coefficients)
        return replace(moved, error=f.error + radius * f.norm())

    return Family(f"{family.name} aside", fit, family.domain)


def vague(family: Family, radius: float) -> Family:
    return Family(family.name, lambda lam, Z: replace(f := family(lam, Z), error=f.error + radius * f.norm()), family.domain)


@pytest.mark.parametrize("power", [1.5, 4.0])
def test_a_true_pair_holds_in_both_directions_with_the_closed_form(gaussian: TrainingSet, power: float) -> None:
    found = decide(m_power_rls(power), kernel_ridge(), gaussian)
    closed = m_power_rls_to_kernel_ridge(power)
    assert found.answer is Answer.HOLDS and found.counts == found.wanted == (9, 9) and found.reason is None
    assert found.monotone == "increasing" and not found.plateaus and not found.jumps
    for row in found.forward:
        assert row.low <= closed(row.parameter, gaussian) <= row.high
    for row in found.backward:
        assert row.low <= closed.back(row.parameter, gaussian) <= row.high


def test_which_way_the_map_goes(gaussian: TrainingSet) -> None:
    assert decide(kernel_ridge(), kernel_ridge_ball(), gaussian, LAMBDAS).monotone == "decreasing"
    ridge = kernel_ridge()
    swapped = Family("there and back", lambda lam, Z: ridge(1.0 / lam if 0.1 < lam < 10.0 else lam, Z))
    assert decide(ridge, ridge, gaussian, [1.0]).monotone == "not told"
    assert decide(swapped, ridge, gaussian, [0.01, 0.2, 1.0, 5.0, 100.0]).monotone == "not monotone"


@pytest.mark.parametrize("fraction", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("radius", [0.0, 1e-3])
def test_a_pair_that_is_nearly_one_is_refuted_where_the_radii_cannot_explain_it(
    gaussian: TrainingSet, fraction: float, radius: float
) -> None:
    """With the radius 1e-3 of the distance itself, that is: radii smaller than the distance hide nothing."""
    found = decide(kernel_ridge(), aside(kernel_ridge(), fraction, radius * fraction), gaussian, LAMBDAS)
    assert found.answer is Answer.FAILS and found.witness is not None
    assert found.witness.distance > found.witness.errors and "apart" in str(found.reason)


@pytest.mark.parametrize("fraction", [1e-12, 1e-14])
def test_a_pair_a_millionth_of_a_millionth_apart_is_undecided_within_honest_radii(gaussian: TrainingSet, fraction: float) -> None:
    """Radii of 1e-11, as certificates give them: nothing is said at the resolution 1e-12, neither way."""
    A, B = vague(kernel_ridge(), 1e-11), aside(kernel_ridge(), fraction, 1e-11)
    found = decide(A, B, gaussian, LAMBDAS, resolution=1e-12)
    assert found.answer is Answer.UNDECIDED and "their errors explain" in str(found.reason)
    assert decide(A, aside(kernel_ridge(), 1e-6, 1e-11), gaussian, LAMBDAS, resolution=1e-12).answer is Answer.FAILS


def test_radii_that_hide_everything_decide_nothing(gaussian: TrainingSet) -> None:
    for radius in (1e-3, 2.0):
        found = decide(vague(kernel_ridge(), radius), vague(m_power_rls(3.0), radius), gaussian, LAMBDAS)
        assert found.answer is Answer.UNDECIDED and found.counts == (0, 0)
    other = Family("reversed", lambda lam, Z: kernel_ridge()(lam, Z.with_targets(Z.targets[::-1])))
    assert decide(vague(kernel_ridge(), 2.0), other, gaussian, LAMBDAS).answer is not Answer.HOLDS


def test_what_the_radii_allow_is_said_and_then_holds(gaussian: TrainingSet) -> None:
    A, B = vague(kernel_ridge(), 3e-6), vague(m_power_rls(3.0), 3e-6)
    reason = str(decide(A, B, gaussian, LAMBDAS).reason)
    allowed = float(reason.rpartition(" ")[2])
    assert 6e-6 <= allowed <= 7e-6
    assert decide(A, B, gaussian, LAMBDAS, resolution=allowed).answer is Answer.HOLDS


def test_a_map_that_exists_one_way_only_is_no_equivalence(gaussian: TrainingSet) -> None:
    """A part of the path: every function of the part is on the whole, and not the other way."""
    ridge = kernel_ridge()
    part = Family("1 + λ", lambda lam, Z: ridge(1.0 + lam, Z))
    there, back = decide(part, ridge, gaussian), decide(ridge, part, gaussian)
    assert there.answer is back.answer is Answer.FAILS
    assert all(row.answer is Answer.HOLDS for row in there.forward) and there.witness in there.backward
    assert back.witness in back.forward and "at μ" in str(there.reason) and "at λ" in str(back.reason)
    assert decide(part, ridge, gaussian, [2.0, 5.0, 50.0]).answer is Answer.HOLDS  # asked of this part only


def test_balls_beyond_the_least_squares_fit_are_no_ridge(gaussian: TrainingSet) -> None:
    """r ≥ ‖f₀‖ gives f₀, which ridge has in the limit only: never HOLDS, and the plateau is named."""
    found = decide(kernel_ridge(), kernel_ridge_ball(), gaussian)
    assert found.answer is not Answer.HOLDS
    assert [piece.side for piece in found.plateaus] == ["target"] and "cannot be told apart" in str(found.reason)


def test_a_plateau_of_one_side_is_no_bijection(gaussian: TrainingSet) -> None:
    """Two parameters for one function, exactly, and one parameter of the other family for it."""
    ridge = replace(kernel_ridge(), fit=lambda lam, Z: replace(kernel_ridge()(lam, Z), error=0.0))
    still = Family("stands still", lambda lam, Z: ridge(min(lam, 1.0) if lam < 10.0 else lam / 10.0, Z))
    found = decide(still, ridge, gaussian, [0.1, 1.0, 3.0, 9.0, 20.0])
    (piece,) = [piece for piece in found.plateaus if piece.side == "source"]
    assert (piece.low, piece.high, piece.proven, piece.matched) == (1.0, 9.0, True, False)
    assert found.answer is Answer.FAILS and "no bijection" in str(found.reason) and found.monotone == "not told"
    blurred = decide(vague(still, 1e-12), ridge, gaussian, [0.1, 1.0, 3.0, 9.0, 20.0])
    assert blurred.answer is Answer.UNDECIDED and not blurred.plateaus[0].proven


def test_a_map_that_rises_and_falls_is_a_bijection_of_paths_that_may_jump_only(gaussian: TrainingSet) -> None:
    found = decide(kernel_ridge(), m_power_rls(3.0), gaussian, [0.1, 1.0, 10.0])
    one, two, three = found.forward
    turned = replace(found, forward=(one, with_image(two, three), with_image(three, two)))
    assert found.holds and turned.monotone == "not monotone" and turned.answer is Answer.UNDECIDED
    assert "rises and falls" in turned.sentence and replace(turned, continuous=False).holds
    twice = replace(found, forward=(one, two, with_image(three, one)), continuous=False)
    assert twice.answer is Answer.UNDECIDED and "at 0.1 and 10 that cannot be told apart" in twice.sentence


def with_image(row: MapValue, other: MapValue) -> MapValue:
    """The row with the image of the other."""
    return replace(row, value=other.value, low=other.low, high=other.high)


def test_a_jump_is_found_where_a_parameter_falls_into_it(gaussian: TrainingSet) -> None:
    ridge = kernel_ridge()
    jumps = Family("jumps", lambda lam, Z: ridge(lam if lam < 1.0 else 2.0 * lam, Z))
    found = decide(ridge, jumps, gaussian, [0.1, 1.5, 10.0])
    assert found.answer is Answer.FAILS and found.witness is not None and found.witness.parameter == 1.5
    (jump,) = found.jumps
    assert jump.side == "target" and jump.low <= 1.0 <= jump.high and jump.before > jump.after
    (back,) = decide(jumps, ridge, gaussian, [0.8, 0.9, 1.0]).jumps
    assert back.side == "source" and back.low <= 1.0 <= back.high


@pytest.mark.parametrize("at", [0.03, 1.0, 200.0])
@pytest.mark.parametrize("factor", [1.5, 3.0])
def test_a_jump_between_the_usual_parameters_is_looked_for(gaussian: TrainingSet, at: float, factor: float) -> None:
    """The nine parameters lie ten apart and miss it; the slope of Φ between two of them is out of line."""
    ridge = kernel_ridge()
    jumps = Family("jumps", lambda lam, Z: ridge(lam if lam < at else factor * lam, Z))
    for one, other in ((ridge, jumps), (jumps, ridge)):
        found = decide(one, other, gaussian)
        assert found.answer is Answer.FAILS and len(found.jumps) == 1
        assert found.jumps[0].low == pytest.approx(at) and sum(found.wanted) > 18
        for rows in (found.forward, found.backward):
            assert [row.parameter for row in rows] == sorted({row.parameter for row in rows})
        assert found.monotone == "increasing"


def test_further_parameters_count_among_those_wanted_of_either_family(gaussian: TrainingSet) -> None:
    """A path that is steep between two of the nine parameters, and does not jump."""
    ridge = kernel_ridge()
    steep = Family("steep", lambda lam, Z: ridge(lam * math.exp(1.0 + math.tanh(3.0 * math.log(lam) - 3.0)), Z))
    for one, other in ((ridge, steep), (steep, ridge)):
        found = decide(one, other, gaussian)
        assert found.wanted == (len(found.forward), len(found.backward)) and min(found.wanted) > 9
        assert found.complete and found.holds and found.reason is None


def test_without_signal_every_parameter_will_do(no_signal: TrainingSet) -> None:
    found = decide(m_power_rls(3.0), kernel_ridge(), no_signal)
    assert found.answer is Answer.HOLDS and {row.outcome for row in found.forward} == {MapOutcome.EVERY} and not found.plateaus


def test_parameters_are_checked(gaussian: TrainingSet) -> None:
    for wrong, word in (([0.1, -1.0], "index 1"), ([], "parameters"), ([math.nan], "parameters"), (["a"], "parameters")):
        with pytest.raises(InvalidProblem, match=word):
            decide(kernel_ridge(), m_power_rls(3.0), gaussian, wrong)  # type: ignore[arg-type]
    for resolution in (0.0, 1.0, math.nan):
        with pytest.raises(InvalidProblem, match="resolution"):
            decide(kernel_ridge(), m_power_rls(3.0), gaussian, resolution=resolution)


def test_a_fit_that_fails_is_undecided(gaussian: TrainingSet) -> None:
    def fit(lam, Z):
        raise ArithmeticError("no point")

    found = decide(Family("fails", fit), kernel_ridge(), gaussian, [1.0])
    assert found.answer is Answer.UNDECIDED and "no point" in str(found.reason)


def test_an_interrupt_keeps_what_is_measured(gaussian: TrainingSet) -> None:
    def stop(done: int, wanted: int, text: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        decide(kernel_ridge(), m_power_rls(3.0), gaussian, progress=stop)
    found: Decision = caught.value.done
    assert len(found.forward) == 3 and found.answer is Answer.UNDECIDED and "18 parameters were asked for" in str(found.reason)


@pytest.mark.parametrize("after", [2, 5, 9])
def test_an_interrupt_keeps_the_samples_that_are_finished(gaussian: TrainingSet, after: int) -> None:
    def stop(done: int, wanted: int, text: str) -> None:
        if done == after:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        decide_strong(kernel_ridge(), kernel_ridge_over_n(), neighbours(gaussian), [0.1, 1.0], progress=stop)
    found = caught.value.done
    assert len(found.sets) == len(found.weak) == (after - 1) // 4
    assert found.answer is found.among_one_size is Answer.UNDECIDED and described_strong(found)["reason"]
    assert f"{found.wanted} samples were to be measured, {len(found.sets)} are" in found.sentence


@pytest.mark.parametrize("target", ["m-power-rls", "aside", "vague", "part", "may jump"])
def test_json_brings_a_decision_back(gaussian: TrainingSet, target: str) -> None:
    B = {
        "m-power-rls": m_power_rls(3.0),
        "aside": aside(kernel_ridge(), 1e-6),
        "vague": vague(kernel_ridge(), 2.0),
        "may jump": replace(kernel_ridge(), continuous=False),
        "part": Family("part", kernel_ridge().fit, lambda Z: Interval(1.0, math.inf)),
    }[target]
    found = decide(kernel_ridge(), B, gaussian)
    text = jsonio.dumps(described(found))
    back = recalled(json.loads(text))
    assert jsonio.dumps(described(back)) == text and back.sentence == found.sentence
    assert repr(back) == repr(found)  # nan is not equal to itself
    with pytest.raises(InvalidFile, match="decision"):
        recalled({**described(found), "forward": [{"parameter": 1.0}]})


def test_one_map_for_all_samples_or_two_that_show_there_is_none(gaussian: TrainingSet) -> None:
    sets = neighbours(gaussian)
    strong = decide_strong(kernel_ridge_ball(), m_power_rls_ball(3.0), sets, [0.1, 1.0])
    assert strong.answer is Answer.HOLDS and strong.strength is Strength.STRONG
    for row in strong.rows:
        assert row.value == pytest.approx(row.parameter**3, rel=1e-9)
    sized = decide_strong(kernel_ridge(), kernel_ridge_over_n(), sets, [0.1, 1.0])
    assert sized.answer is Answer.FAILS and sized.among_one_size is Answer.HOLDS and sized.strength is Strength.SAME_SIZE
    assert sized.witness is not None and sized.witness.one.n != sized.witness.two.n
    weak = decide_strong(kernel_ridge(), m_power_rls(3.0), sets[:3], [0.1, 1.0])
    assert weak.answer is weak.among_one_size is Answer.FAILS and weak.strength is Strength.WEAK
    witness = weak.witness
    assert witness is not None and witness.stands
    f = kernel_ridge()(witness.parameter, witness.two)
    g = m_power_rls(3.0)(witness.image, witness.two)
    assert f.distance(g) / max(f.norm(), g.norm()) == pytest.approx(witness.distance)
    assert f"{witness.image:.6g}" in weak.sentence and json.loads(jsonio.dumps(described_strong(weak)))["answer"] == "fails"


def test_a_pair_that_is_not_weakly_equivalent_is_not_strongly_so(gaussian: TrainingSet) -> None:
    found = decide_strong(kernel_ridge(), aside(kernel_ridge(), 1e-6), neighbours(gaussian)[:2], LAMBDAS)
    assert found.answer is Answer.FAILS and not found.witnesses and "sample 0" in str(found.reason)
    unsure = decide_strong(vague(kernel_ridge(), 1e-3), vague(kernel_ridge(), 1e-3), neighbours(gaussian)[:2], LAMBDAS)
    assert unsure.answer is Answer.UNDECIDED


def test_samples_on_which_a_family_is_not_defined_are_left_out_and_told(gaussian: TrainingSet) -> None:
    Z = gaussian
    labelled = Z.with_targets(np.where(Z.targets > 0, 1.0, -1.0))
    found = decide_strong(mean_ball(), mean_penalised(), [labelled, Z, labelled], [1.0])
    assert len(found.sets) == 1 and found.answer is Answer.UNDECIDED
    assert any("labels" in reason for reason in found.left_out) and any("same" in reason for reason in found.left_out)
    with pytest.raises(InvalidProblem, match="sets"):
        decide_strong(mean_ball(), mean_penalised(), [Z], [1.0])
    assert all(set(np.unique(near.targets)) <= {-1.0, 1.0} for near in neighbours(labelled))


def test_two_images_are_told_with_digits_that_differ(gaussian: TrainingSet) -> None:
    near = Family("near", lambda lam, Z: kernel_ridge()(lam * (1.0 + 1e-9 * (Z.n != gaussian.n)), Z))
    found = decide_strong(kernel_ridge(), near, [gaussian, gaussian.without(0)], [1.0])
    assert found.answer is Answer.FAILS and "0.999999999" in found.sentence
