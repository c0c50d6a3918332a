"""Maps as objects: called, composed, inverted, saved, verified again; a grid carried over; a file that was changed is found out."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from simopt.core.errors import Interrupted, InvalidFile, InvalidProblem
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.parameter_map import ParameterMap, transfer
from simopt.equivalence.samples import sample_for, synthetic
from simopt.theorems.ak.equivalences import m_power_rls_to_kernel_ridge, tikhonov_to_ivanov
from simopt.theorems.ak.families import kernel_ridge, kernel_ridge_ball, kernel_ridge_over_n, m_power_rls

Z = sample_for([], synthetic(8)).Z
OTHER = sample_for([], synthetic(9)).Z
GRID = [1e-3, 1e-2, 0.1, 1.0, 10.0]
BETWEEN = np.exp(np.linspace(math.log(1.01e-3), math.log(9.9), 9))
CUBES, RIDGE, BALL = m_power_rls(3.0), kernel_ridge(), kernel_ridge_ball()


@pytest.fixture(scope="module")
def increasing():
    return transfer(GRID, CUBES, RIDGE, Z)


@pytest.fixture(scope="module")
def decreasing():
    return transfer(GRID, RIDGE, BALL, Z)


FORMULAS = {"increasing": m_power_rls_to_kernel_ridge(3.0), "decreasing": tikhonov_to_ivanov()}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_enclosure_holds_the_formula_at_and_between_the_grid(name, request):
    found, formula = request.getfixturevalue(name), FORMULAS[name]
    assert found.increasing is (name == "increasing") and found.missing == ()
    for lam in (*GRID, *BETWEEN):
        low, high = found.enclosure(lam)
        assert low <= found(lam) <= high
        assert low <= formula(lam, Z) <= high
    assert all(found(lam) == pytest.approx(formula(lam, Z), rel=1e-9) for lam in GRID)


@pytest.mark.parametrize("name", FORMULAS)
def test_an_inverse_goes_back(name, request):
    found, formula = request.getfixturevalue(name), FORMULAS[name]
    back = found.inverted()
    assert (back.source, back.target) == (found.target, found.source)
    for lam in BETWEEN:
        assert back(found(lam)) == pytest.approx(lam, rel=1e-9)
        low, high = back.enclosure(formula(lam, Z))
        assert low <= lam <= high
    assert str(back.inverted()) == str(found)


def test_a_composition_holds_the_composed_formula(increasing, decreasing):
    through = increasing.then(decreasing)
    for lam in GRID:
        low, high = through.enclosure(lam)
        assert low <= FORMULAS["decreasing"](FORMULAS["increasing"](lam, Z), Z) <= high
        assert low <= through(lam) <= high
    assert through.increasing is False and through.verify(Z).holds
    assert increasing.then(increasing.inverted()).images == pytest.approx(GRID)
    identity = transfer(increasing.images, RIDGE, RIDGE, Z)  # measured from the first image to the last: both ends belong to it
    assert [box.parameter for box in increasing.then(identity).boxes] == GRID and not increasing.then(identity).missing
    with pytest.raises(InvalidProblem, match="begins in"):
        decreasing.then(increasing)
    with pytest.raises(InvalidProblem, match="training sets"):
        increasing.then(transfer(GRID, RIDGE, BALL, OTHER))
    far = transfer([1e3], RIDGE, BALL, Z)
    with pytest.raises(InvalidProblem, match="no image"):
        increasing.then(far)


def test_images_that_were_not_measured_are_missing_in_a_composition(increasing):
    short = transfer([0.01, 0.2], RIDGE, BALL, Z)
    through = increasing.then(short)
    assert len(through.boxes) + len(through.missing) == len(GRID) and through.missing
    assert "beyond" in through.missing[0].reason


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_a_map_that_was_saved_is_the_same_and_stands(suffix, tmp_path, increasing, decreasing):
    for each in (increasing, decreasing, increasing.inverted(), increasing.then(decreasing), increasing.then(decreasing).inverted()):
        each.save(tmp_path / f"map.{suffix}")
        read = ParameterMap.load(tmp_path / f"map.{suffix}")
        assert vars(read) == vars(each)
        verified = read.verify(Z)
        assert verified.holds and verified.parameters == len(each.boxes), verified.wrong


def changed(record, *path, by):
    *outer, last = path
    place = record
    for key in outer:
        place = place[key]
    place[last] = by(place[last])


TAMPERED = {
    "a value": (("boxes", 2, "value"), lambda x: x * (1 + 1e-6)),
    "an enclosure that is another": (
        ("boxes", 1),
        lambda box: {**box, "value": 2 * box["value"], "below": 1.9 * box["value"], "above": 2.1 * box["value"]},
    ),
    "an enclosure of width 0": (("boxes", 1), lambda box: {**box, "below": box["value"], "above": box["value"]}),
    "a parameter": (("boxes", 3), lambda box: {**box, "parameter": 1.1, "low": 1.1, "high": 1.1}),
    "a distance": (("boxes", 0, "distance"), lambda x: x + 1e-6),
    "radii": (("boxes", 0, "errors"), lambda x: x / 1e3),
    "the order": (("boxes",), lambda boxes: boxes[::-1]),
    "the direction": (("increasing",), lambda x: not x),
    "no boxes": (("boxes",), lambda boxes: []),
    "the training set": (("fingerprint",), lambda x: OTHER.fingerprint()),
    "the learner's option": (("source", "options", "power"), lambda x: 2.5),
    "the learner": (("target", "registered"), lambda x: "kernel-ridge-over-n"),
    "the domain": (("target", "low"), lambda x: 0.01),
    "the number of samples": (("samples",), lambda x: x + 1),
    "the learner's name": (("source", "family"), lambda x: "another"),
    "an option that is none": (("source", "options"), lambda x: {"none": 2.5}),
    "distances left out": (("boxes",), lambda boxes: [{**box, "distance": None, "errors": None} for box in boxes]),
    "an image that is not missing": (("missing",), lambda x: [{"parameter": 0.5, "decided": True, "reason": "none"}]),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_file_that_was_changed_is_found_out(what, tmp_path, increasing):
    increasing.save(tmp_path / "map.json")
    record = json.loads((tmp_path / "map.json").read_text())
    path, by = TAMPERED[what]
    changed(record, *path, by=by)
    (tmp_path / "map.json").write_text(json.dumps(record))
    try:
        verified = ParameterMap.load(tmp_path / "map.json").verify(Z)
    except (InvalidFile, InvalidProblem):
        return
    assert not verified.holds


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("simopt parameter map 1", "another"),
        lambda text: text.replace('"boxes"', '"baxes"'),
        lambda text: text.replace('"value"', '"velue"', 1),
        lambda text: text.replace('"samples": 8', '"samples": "eight"'),
        lambda text: text.replace('"low": 0', '"low": 3, "high": 2', 1),
    ],
)
def test_a_damaged_file_is_refused(spoil, tmp_path, increasing):
    increasing.save(tmp_path / "map.json")
    (tmp_path / "map.json").write_text(spoil((tmp_path / "map.json").read_text()))
    with pytest.raises(InvalidFile):
        ParameterMap.load(tmp_path / "map.json")


def by(function):
    return lambda lam, Z: RIDGE.fit(function(lam), Z)


def test_what_is_not_monotone_is_said_nothing_of_between_the_parameters():
    swapped = Family("exchanged", by(lambda lam: lam + 1 if 1 <= lam < 2 else lam - 1 if 2 <= lam < 3 else lam))
    found = transfer([0.5, 1.5, 2.5, 4.0], swapped, RIDGE, Z)
    assert found.increasing is None and found.images == pytest.approx([0.5, 2.5, 1.5, 4.0])
    assert found(1.5) == pytest.approx(2.5) and found.enclosure(1.5)[0] <= 2.5 <= found.enclosure(1.5)[1]
    with pytest.raises(InvalidProblem, match="monotone"):
        found(2.0)


def test_an_inverse_does_not_choose_among_the_parameters_of_a_flat_piece(tmp_path):
    """And does not go wrong beside it; a file keeps it."""
    still = Family("stands still", by(lambda lam: min(lam, 1.0) if lam < 10.0 else lam / 10.0))
    found = transfer([0.1, 1.0, 2.0, 5.0, 20.0], still, RIDGE, Z).inverted()
    found.save(tmp_path / "map.json")
    back = ParameterMap.load(tmp_path / "map.json")
    at = next(x.parameter for x in found.boxes if x.value == 2.0)
    for inverse in (found, back):
        first, last = inverse.enclosure(0.5)
        assert first <= inverse(0.5) <= last and 0.5 <= last
        assert inverse.enclosure(at)[0] <= 1.0 and inverse.enclosure(at)[1] >= 5.0
        with pytest.raises(InvalidProblem, match="stands still"):
            inverse(at)
    assert back.verify(Z, RIDGE, still).holds


def test_what_has_no_image_says_why_and_nothing_is_interpolated_over_it():
    jumps = Family("jumps", by(lambda lam: lam if lam < 1 else 2 * lam))
    found = transfer([0.2, 0.7, 1.5, 3.0], RIDGE, jumps, Z)
    (gone,) = found.missing
    assert gone.parameter == 1.5 and gone.decided and "jumps" in gone.reason
    assert found(0.7) == pytest.approx(0.7) and 0.2 < found(0.3) < 0.7
    with pytest.raises(InvalidProblem, match="no image at 1.5"):
        found(1.2)
    with pytest.raises(InvalidProblem, match="no parameter of"):
        transfer([1.2, 1.7], RIDGE, jumps, Z)


def test_vague_learners_leave_a_parameter_open():
    vague = Family("vague", lambda lam, Z: replace(RIDGE(lam, Z), error=0.0 if lam < 1 else math.inf))
    found = transfer([0.1, 0.5, 5.0], vague, RIDGE, Z)
    assert [gone.decided for gone in found.missing] == [False] and len(found.boxes) == 2


def test_families_that_are_not_registered_are_handed_over(tmp_path):
    mine = Family("ridge of 2λ", by(lambda lam: 2 * lam))
    transfer(GRID, mine, RIDGE, Z).save(tmp_path / "map.json")
    read = ParameterMap.load(tmp_path / "map.json")
    with pytest.raises(InvalidProblem, match="hand it over"):
        read.verify(Z)
    assert read.verify(Z, source=mine).holds
    assert not read.verify(Z, source=Family("ridge of 3λ", by(lambda lam: 3 * lam))).holds
    with pytest.raises(InvalidProblem, match="training set"):
        read.verify(OTHER, source=mine)


@pytest.mark.parametrize("lam", [9e-4, 11.0, math.nan])
def test_beyond_the_grid_nothing_is_said(lam, increasing):
    for ask in (increasing, increasing.enclosure):
        with pytest.raises(InvalidProblem, match="parameter"):
            ask(lam)


def test_an_interrupt_hands_over_what_was_carried():
    seen = []

    def stop(done, wanted, text):
        seen.append((done, wanted, text))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        transfer(GRID, RIDGE, BALL, Z, progress=stop)
    assert [box.parameter for box in caught.value.done] == GRID[:2]
    assert [(done, wanted) for done, wanted, _ in seen] == [(1, 5), (2, 5)]


def test_a_registered_family_knows_how_it_was_built():
    assert m_power_rls(2.5).origin == ("m-power-rls", {"power": 2.5}) == m_power_rls(power=2.5).origin
    assert kernel_ridge().origin == ("kernel-ridge", {}) and kernel_ridge_over_n().origin == ("kernel-ridge-over-n", {})
    assert Family("mine", by(abs)).origin is None


def test_a_bounded_domain_is_kept(tmp_path):
    share = Family("share", by(lambda q: -math.log1p(-q)), domain=lambda Z: Interval(0.0, 1.0))
    found = transfer([0.1, 0.5, 0.9], share, RIDGE, Z)
    found.save(tmp_path / "map.json")
    read = ParameterMap.load(tmp_path / "map.json")
    assert read.source.domain == Interval(0.0, 1.0) and read(0.3) == found(0.3)
    low, high = read.enclosure(0.3)
    assert low <= -math.log1p(-0.3) <= high
