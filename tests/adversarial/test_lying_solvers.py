"""Whatever a solver hands in, of whatever problem: no bound that excludes the optimum, no OPTIMAL that is not, no exception that escapes.

The truth is a bracket in intervals around the optimum, from an honest solve; every lie is judged in every arithmetic of its problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest
from counted import case

from simopt import Status, certify, solve
from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL
from simopt.certificates.assessment import judge
from simopt.certificates.certificate import Certificate
from simopt.conformance.setting import examples_of, reference
from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.model.problem import Problem, owns_its_data
from simopt.solving.solution import Iterate
from simopt.solving.solver import SolverSpec

registry.load("problems")
PROBLEMS: dict[str, type[Problem]] = dict(registry.items("problem"))
TOL = 1e-6
HUGE, TINY = float(np.finfo(float).max), 5e-324
Distortion = Callable[[np.ndarray, np.random.Generator], Any]


def scaled(factor: float) -> Distortion:
    return lambda x, rng: factor * x


def signs(size: float) -> Distortion:
    return lambda x, rng: np.resize([size, -size], x.shape) if x.ndim else np.array(size)


def spike(size: float) -> Distortion:
    def distortion(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.array(x, dtype=float)
        out.flat[int(rng.integers(out.size))] = size
        return out

    return distortion


def near(size: float) -> Distortion:
    return lambda x, rng: x + size * (float(np.max(np.abs(x))) or 1.0) * rng.standard_normal(x.shape)


DISTORTIONS: dict[str, Distortion] = {
    **{
        f"× {f:g}": scaled(f)
        for f in (0.0, -1.0, 1e-300, 1e-160, 1e-8, 0.999, 1.001, 2.0, -3.0, 1e3, 1e8, -1e8, 1e150, -1e155, 1e200, 1e300)
    },
    **{f"± {s:g}": signs(s) for s in (TINY, 1e-160, 1.0, 1e8, 1e20, 1e150, 1e154, 1e155, 1e200, HUGE)},
    **{f"one entry {s:g}": spike(s) for s in (0.0, TINY, 1e10, -1e155, 1e156, 1e300, -HUGE)},
    **{f"all {s:g}": (lambda x, rng, s=s: np.full(x.shape, s)) for s in (1.0, -1.0, 1e155, -HUGE)},
    **{f"off by {s:g}": near(s) for s in (1e-12, 1e-6, 1e-2, 1.0, 1e6, 1e100)},
    "reversed": lambda x, rng: x[::-1] if x.ndim else x,
    "rolled": lambda x, rng: np.roll(x, 1),
    "shuffled": lambda x, rng: rng.permutation(x) if x.ndim else x,
    "float32": lambda x, rng: x.astype(np.float32),
    "whole numbers": lambda x, rng: np.clip(x, -1e9, 1e9).astype(int),
    "true or false": lambda x, rng: x > 0,
    "column": lambda x, rng: x.reshape(-1, 1),
    "list": lambda x, rng: x.tolist(),
    "cumulated": lambda x, rng: np.cumsum(x).reshape(x.shape),
    "nan": scaled(math.nan),
    "inf": lambda x, rng: np.full(x.shape, -math.inf),
    "one nan": spike(math.nan),
    "complex": lambda x, rng: x + 1j,
    "None": lambda x, rng: None,
    "words": lambda x, rng: np.full(x.shape, "1.0"),
    "one too many": lambda x, rng: np.append(x, 0.0),
    "no entries": lambda x, rng: np.zeros(0),
}
REFUSED = frozenset({"nan", "inf", "one nan", "complex", "None", "words", "one too many", "no entries"})


def distorted(values: Any, distortion: Distortion, rng: np.random.Generator) -> dict[str, Any]:
    with np.errstate(all="ignore"):
        arrays = {name: np.asarray(value, dtype=float) for name, value in values.items()}
        return {name: distortion(array, rng) if array.size else array for name, array in arrays.items()}


@cache
def truth(name: str, index: int) -> tuple[Problem, dict[str, Any], dict[str, Any] | None, Certificate]:
    """Problem, honest point and multipliers, and the bracket of the optimum in intervals."""
    problem = examples_of(PROBLEMS[name])[index].problem
    point, multipliers, _, _ = reference(PROBLEMS[name], index)
    return problem, point, multipliers, certify(problem, point, multipliers, INTERVAL)


def check(problem: Problem, known: Certificate, point: Any, multipliers: Any, arithmetic: str, where: str) -> None:
    """Judge, and hold what is said against the truth."""
    case()
    try:
        judged = judge(problem, point, multipliers, BY_NAME[arithmetic])
    except InvalidProblem:
        return
    found, scale = judged.certificate, problem.scale()
    if arithmetic == FLOAT.name:  # which rounds: relative to what it adds up, the bounds and the scale
        assert found.lower <= known.upper + 1e-9 * max(scale, abs(known.upper), abs(found.lower)) or found.lower == math.inf, where
        repaired = np.finfo(float).eps * found.infeasibility  # what was taken back rounds in its own size
        assert found.upper >= known.lower - 1e-9 * max(scale, abs(known.lower), abs(found.upper)) - repaired, where
    else:
        assert found.lower <= known.upper and found.upper >= known.lower, f"{where}: {found} against {known}"
    assert (found.lower == math.inf) <= (known.upper == math.inf), f"{where}: infeasible, which it is not"
    if not found.closes(TOL):
        return
    assert math.isfinite(found.upper) and math.isfinite(found.lower) and found.multipliers_from != "none", where
    proven = certify(problem, judged.point, None, INTERVAL)  # the value of the point
    real = proven.upper
    if proven.judged:  # of K + δI, which sees weights of 1e155 that K does not
        real = min(real, float(INTERVAL.upper(problem.objective(problem.restore(judged.point, INTERVAL), INTERVAL))))
    assert real - known.lower <= (known.upper - known.lower) + 2 * TOL * scale, f"{where}: {found}, but the point has the value {real:.17g}"


def attack(name: str, index: int, distortions: list[str], arithmetics: tuple[str, ...]) -> int:
    """The lies about the point, about the multipliers, about both alike and each in a way of its own; the number of judgements."""
    problem, point, multipliers, known = truth(name, index)
    rng = np.random.default_rng(len(name) + index)
    mark, count = problem.fingerprint(), 0
    for distortion in distortions:
        other = DISTORTIONS[str(rng.choice(list(DISTORTIONS)))]
        wrong, twisted = distorted(point, DISTORTIONS[distortion], rng), distorted(multipliers or {}, DISTORTIONS[distortion], rng)
        for tale in (
            (wrong, multipliers),
            (point, twisted),
            (wrong, twisted),
            (wrong, distorted(multipliers or {}, other, rng)),
            (wrong, None),
        ):
            for arithmetic in arithmetics:
                check(problem, known, tale[0], tale[1], arithmetic, f"{name}, example {index}, {distortion!r}, {arithmetic}")
                count += 1
        if distortion in REFUSED:
            with pytest.raises(InvalidProblem, match="point"):
                certify(problem, wrong, multipliers)
    assert problem.fingerprint() == mark and owns_its_data(problem)
    return count


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_lie_makes_a_wrong_bound(name: str) -> None:
    """A few of the lies, others for each problem, so that each is told to many of them."""
    place = list(PROBLEMS).index(name)
    distortions = [distortion for k, distortion in enumerate(DISTORTIONS) if (k + place) % 20 == 0]
    assert attack(name, 0, distortions, tuple(a for a in PROBLEMS[name].arithmetics if a != "rational")) >= 10 * len(distortions)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_lie_makes_a_wrong_bound_of_any_example_in_any_arithmetic(name: str) -> None:
    for index in range(len(examples_of(PROBLEMS[name]))):
        attack(name, index, list(DISTORTIONS), ("float", "interval"))
    if "rational" in PROBLEMS[name].arithmetics:
        attack(name, 0, list(DISTORTIONS)[:: 7 if name.startswith(("exc", "imc", "kernel-")) else 3], ("rational",))


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_unit_is_so_small_or_large_that_floats_close_what_contradicts_itself(name: str) -> None:
    """Squares of the data sink below the smallest floats, or nearly: of 10⁻⁹⁰ and less some do, and others do not."""
    rng = np.random.default_rng(7)
    problem, point, multipliers, _ = truth(name, 0)
    for law in (law for law in PROBLEMS[name].laws() if law.by is not None):
        for exponent in (*rng.uniform(-160, -70, 4), rng.uniform(70, 140)):
            try:
                image = law.by(problem, 10.0**exponent)  # type: ignore[misc]
            except (OverflowError, InvalidProblem):  # some laws raise the factor to a power, and some problems refuse such data
                continue
            case()
            found = certify(image.problem, image.point(point), image.multipliers(multipliers or {}))
            assert not found.closes(TOL) or found.lower <= found.upper + TOL * found.scale, (law.name, exponent, found)


def stories(point: Any, multipliers: Any) -> Iterator[tuple[str, Callable[[Any], Iterator[Any]]]]:
    """What a solver may do between being started and being stopped."""
    rng = np.random.default_rng(3)

    def raises(error: BaseException) -> Callable[[Any], Iterator[Any]]:
        def story(problem: Any) -> Iterator[Any]:
            yield Iterate(problem.trivial_point(), None, 0.0)
            raise error

        return story

    def vandal(problem: Any) -> Iterator[Any]:
        for name, value in list(vars(problem).items()):
            if isinstance(value, np.ndarray):
                with suppress(ValueError):  # of the data; what a problem keeps for itself may be written on, and is not the judge's
                    value.setflags(write=True)
                    value[...] = 0
                object.__setattr__(problem, name, np.zeros_like(value))
        yield Iterate(problem.trivial_point(), None, 0.0)

    def stale(problem: Any) -> Iterator[Any]:
        buffers = {name: np.array(value, dtype=float) for name, value in problem.trivial_point().items()}
        for size in (0.0, 1e155, -1e300):
            yield Iterate(buffers, None, -math.inf)
            for value in buffers.values():
                value[...] = size

    for error in (SystemExit(0), GeneratorExit(), ZeroDivisionError(), np.linalg.LinAlgError("singular"), OverflowError()):
        yield type(error).__name__, raises(error)
    yield "vandal", vandal
    yield "stale", stale
    for what in (None, 1.0, (point, multipliers), Iterate({}, {}), Iterate(point, {}), Iterate(None, None, -1.0)):  # type: ignore[arg-type]
        yield f"yields {what!r:.20}", lambda problem, what=what: iter([Iterate(problem.trivial_point(), gap=math.nan), what])
    for distortion in ("× -1e+155", "± 1.79769e+308", "None", "nan"):
        step = Iterate(distorted(point, DISTORTIONS[distortion], rng), distorted(multipliers or {}, DISTORTIONS[distortion], rng), 0.0)
        yield distortion, lambda problem, step=step: iter([Iterate(problem.trivial_point(), gap=0.0), step])


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_solver_is_believed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through `solve`, which every one of them survives with a status, and with the bracket of what it had handed in before."""
    problem, point, multipliers, known = truth(name, 0)
    mark, scale = problem.fingerprint(), problem.scale()
    for told_as, story in stories(point, multipliers):
        case()
        spec = SolverSpec("liar", lambda problem, *, tol, story=story: story(problem), (Problem,), "", None, 0)  # type: ignore[type-abstract]
        monkeypatch.setattr("simopt.solving.driver.choose", lambda problem, solver, spec=spec: spec)
        monkeypatch.setattr("simopt.solving.run._warm", {("liar", name)})
        found = solve(problem, "liar", tol=TOL)
        assert problem.fingerprint() == mark, told_as
        best = found.certificate
        assert best is not None or found.status is Status.FAILED, told_as
        if best is not None:
            assert best.lower <= known.upper + 1e-9 * max(scale, abs(known.upper)), told_as
            assert best.upper >= known.lower - 1e-9 * max(scale, abs(known.lower)), told_as
        if found.optimal:
            assert best is not None and best.upper - known.lower <= (known.upper - known.lower) + 2 * TOL * scale, told_as
