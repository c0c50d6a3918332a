"""Bad input to isotonic fits: each error names the field, the offending entry and what is needed, from Python and from the command line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from simopt.cli.main import app
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.estimators.index_models.isotron import glm_tron, isotron, l_isotron
from simopt.estimators.index_models.transfer import find_fault
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.problems.matching_loss import MatchingLoss
from simopt.problems.sup_distance import SupDistance
from simopt.solvers.isotonic.lipschitz import lipschitz_isotonic
from simopt.solving.entry_points import solve

Z, Y = [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.5, 2.0]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"z": [0.0, 1.0, math.nan, 3.0]}, r"positions: 1 of 4 values is not finite .first at index 2"),
    ({"z": [0.0, 1.0, 2.0, math.inf]}, r"positions: 1 of 4 values is not finite .first at index 3"),
    ({"y": [0.0, math.nan, 0.5, 2.0]}, r"targets: 1 of 4 values is not finite .first at index 1"),
    ({"weights": [1.0, -1.0, 1.0, 1.0]}, "weights: entry 1 is -1, numbers >= 0 needed"),
    ({"weights": [0.0] * 4}, "weights: all are 0, at least one must be positive"),
    ({"weights": [1.0, 1.0, math.inf, 1.0]}, r"weights: 1 of 4 values is not finite .first at index 2"),
    ({"weights": [1e-300] * 4}, "weights: the largest entry is 1e-300 in modulus, .* change the unit"),
    ({"lipschitz": -1.0}, "lipschitz: -1 given, a number >= 0 needed"),
    ({"lipschitz": math.nan}, "lipschitz: nan is not finite"),
    ({"lipschitz": "steep"}, "lipschitz: 'steep' is not a number"),
    (
        {"lipschitz": 1e300, "z": [0.0, 1.0, 2.0, 1e100]},
        "slope of 1e.300 between samples 2 and 3 is a step beyond float64; inf means no bound",
    ),
    ({"lower_slopes": [0.0, 2.0, 0.0]}, "contradictory bounds between samples 1 and 2, slope at least 2 and at most 1"),
    ({"lower_slopes": [0.0, 1.0, 0.0], "upper_slopes": [9.0, 0.5, 9.0]}, "between samples 1 and 2, slope at least 1 and at most 0.5"),
    (
        {"lower_slopes": [0.0, 1.0, 1.0], "low": 0.0, "high": 1.5, "outside": "keep"},
        r"between samples 0 and 3, a climb of at least 2 in the range \[0, 1.5\]",
    ),
    ({"lower_slopes": [0.0, math.inf, 0.0]}, r"lower_slopes: 1 of 3 values is not finite .first at index 1"),
    ({"lower_slopes": [0.0] * 4}, "lower_slopes: 4 values, expected 3"),
    ({"upper_slopes": [1.0, -1.0, 1.0]}, "upper_slopes: entry 1, between samples 1 and 2, is -1, numbers >= 0 needed"),
    ({"upper_slopes": [1.0, math.nan, 1.0]}, r"upper_slopes: 1 of 3 values is not finite .first at index 1"),
    (
        {"low": 0.0, "high": 1.0},
        r"targets: 1 of 4 lie outside of the declared range \[0, 1\] .first at index 3: 2.; change the range, or set",
    ),
    ({"low": 2.0, "high": 1.0}, "low, high: the range is empty, low is 2 and high is 1"),
    ({"low": math.inf}, "low: inf is not finite"),
    ({"high": math.nan}, "high: nan is not finite"),
    ({"low": 0.0, "outside": "trim"}, "outside 'trim'"),
    ({"y": [0.0, 1.0]}, "positions: 4 values, expected 2, as many as targets"),
    ({"weights": [1.0, 1.0]}, "weights: 2 values, expected 4, as many as targets"),
    ({"z": [], "y": []}, "targets: no values, at least 1 needed"),
    ({"z": [["a"]] * 4}, "positions: values that are not numbers"),
    ({"z": np.ma.array(Z, mask=[0, 0, 1, 0])}, "positions: 1 of 4 values is masked"),
]


@pytest.mark.parametrize("make", [lipschitz_isotonic, LipschitzIsotonic], ids=["function", "problem"])
@pytest.mark.parametrize(("fields", "message"), BAD)
def test_each_fault_is_named(make: Callable[..., Any], fields: dict[str, Any], message: str) -> None:
    given = {"z": Z, "y": Y} | fields
    with pytest.raises((InvalidProblem, UnknownName), match=message):
        make(given.pop("z"), given.pop("y"), **given)


def test_a_problem_must_be_sorted_and_says_what_sorts_it() -> None:
    for problem, remedy in ((LipschitzIsotonic, "sort the samples, or call lipschitz_isotonic"), (SupDistance, "sort the samples$")):
        with pytest.raises(InvalidProblem, match="entry 1 is 2 and entry 2 is 1; " + remedy):
            problem([0.0, 2.0, 1.0, 3.0], Y)
    assert lipschitz_isotonic([0.0, 2.0, 1.0, 3.0], Y).fitted[1] >= lipschitz_isotonic([0.0, 2.0, 1.0, 3.0], Y).fitted[2]


def test_infinite_ends_of_the_range_are_no_bounds() -> None:
    ranged = LipschitzIsotonic(Z, Y, 1.0, low=-math.inf, high=math.inf)
    assert ranged.low is None and ranged.high is None and solve(ranged).optimal
    plain = lipschitz_isotonic(Z, Y)
    np.testing.assert_array_equal(lipschitz_isotonic(Z, Y, low=-math.inf, high=np.float64(math.inf)).fitted, plain.fitted)


def test_steps_beyond_float64_are_refused_in_the_sup_distance_too() -> None:
    with pytest.raises(InvalidProblem, match="lipschitz: a slope of 1e.300 between samples 0 and 1"):
        SupDistance([0.0, 1e100], [0.0, 1.0], 1e300)
    assert solve(SupDistance([0.0, 1e100], [0.0, 1.0], math.inf)).optimal


@pytest.mark.parametrize("fit", [isotron, l_isotron, glm_tron])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": [[0.1, 0.2], [0.3, math.nan], [0.5, 0.5]]}, "X: 1 of 6 values is not finite .first at row 1, column 1"),
        ({"X": [0.1, 0.2, 0.3]}, "X: 1-dimensional"),
        ({"y": [0.0, math.inf, 1.0]}, "y: 1 of 3 values is not finite .first at index 1"),
        ({"y": [0.0, 1.0]}, "y: 2 values, expected 3, as many as rows of X"),
        ({"max_iter": 0}, "max_iter: 0 given, a whole number >= 1 needed"),
        ({"tol": -1.0}, "tol: -1 given"),
        ({"rate": -1.0}, "rate: -1 given"),
        ({"start": [math.nan, 0.0]}, "start: 1 of 2 values is not finite .first at index 0"),
        ({"validation": ([[0.1, 0.2]], [0.0, 1.0])}, "validation: 2 values, expected 1"),
    ],
)
def test_the_isotrons_name_what_they_refuse(fit: Callable[..., Any], arguments: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"X": [[0.1, 0.2], [0.3, 0.1], [0.5, 0.5]], "y": [0.0, 1.0, 1.0]}
    with pytest.raises(InvalidProblem, match=message):
        fit(**{**good, **arguments})


@pytest.mark.parametrize(
    ("transfer", "message"),
    [
        (np.cos, r"it is not monotone: u\(.*\) = .* and u\(.*\) = .*; a non-decreasing function with slopes of at most 1 is needed"),
        (lambda t: 2.0 * t, r"it is not 1-Lipschitz: u\(.*\) = .*, a slope of 2"),
        (lambda t: np.log(np.abs(t)), r"it is not monotone|not finite"),
        (None, "None given; a function of arrays, a Transfer or one of identity, logistic"),
        (math.tanh, "fails for an array of shape .*; np.vectorize makes"),
        (lambda t: t * 1j, "returned complex numbers, real ones needed"),
        (lambda t: ["a"] * len(t), "fails for an array"),
        (lambda t: 0.5, "returned shape .. for arguments of shape .4096"),
    ],
)
def test_what_is_no_transfer_is_refused_with_a_witness(transfer: Any, message: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(InvalidProblem, match=f"transfer: .*({message})"):
        glm_tron([[0.1], [0.2]], [0.0, 1.0], transfer)
    assert find_fault(np.vectorize(math.tanh)) is None


def test_labels_of_a_matching_loss_must_lie_in_its_range() -> None:
    with pytest.raises(InvalidProblem, match=r"1 of 2 lie outside of \[0, 1\].*index 1: 2.; rescale them, or use the identity"):
        MatchingLoss([[0.0], [1.0]], [0.0, 2.0])


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        ("0,0\nnan,1", (), r"line 3, column 1 .z. holds 'nan', which is not finite"),
        ("0,0\n1,", (), "line 3, column 2 .y. is empty"),
        ("0,0\n1,1,1", (), "line 3 has 3 cells, expected 2"),
        ("0,0\n1,1", ("lipschitz=-1",), "lipschitz: -1 given, a number >= 0 needed"),
        ("0,0\n1,1", ("low=1", "high=0"), "low, high: the range is empty"),
        ("0,0\n1,2", ("low=0", "high=1"), "1 of 2 lie outside of the declared range"),
        ("0,0\n1,2", ("lipschits=1",), "unknown field of lipschitz-isotonic 'lipschits'; did you mean 'lipschitz'"),
    ],
)
def test_the_command_line_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, settings: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    Path("data.csv").write_text(f"z,y\n{rows}\n", encoding="utf-8")
    given = [part for setting in settings for part in ("--set", setting)]
    result = CliRunner().invoke(app, ["solve", "lipschitz-isotonic", "--data", "data.csv", *given])
    assert result.exit_code == 2 and re.search(f"simopt: .*{message}", result.output), result.output
