"""What simopt says of a problem, against what is known of it in fractions."""

from __future__ import annotations

import json
import math
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction as Q
from typing import Any

import cvxpy as cp
import numpy as np
from broken import BROKEN
from exact_values import PRECISION, feasible, high, low, value
from flint import ctx
from planted import CONES, EVERY, EXPONENTIAL, POLYHEDRAL, POWERS, QUADRATIC, PlantedProblem, changed, random_problem

import simopt
from simopt.arithmetic import FLOAT, INTERVAL
from simopt.duality import Declared

PLANTED = {
    "polyhedral": POLYHEDRAL,
    "quadratic": QUADRATIC,
    "cones": [*CONES, *QUADRATIC],
    "powers": POWERS,
    "exponential": EXPONENTIAL,
    "mixed": EVERY,
}
FLAVOURS = ("as it is", "as it is", "changed", "rewritten", "zero", "lies", "tight", "far")
FLOAT_FRACTION = Q(1, 10**9)


def case(seed: int, number: int) -> PlantedProblem:
    """Problem `number` of a seed, and always the same."""
    rng = np.random.default_rng([seed, number])
    ctx.prec = PRECISION
    draw = int(rng.integers(100))
    for make, times in BROKEN:
        if draw < times:
            return make(rng)
        draw -= times
    name, flavour = list(PLANTED)[int(rng.integers(len(PLANTED)))], FLAVOURS[int(rng.integers(len(FLAVOURS)))]
    share = 0.0 if rng.random() < 0.2 else 0.7
    found, data = random_problem(rng, name, PLANTED[name], share, zero=flavour == "zero", tight=flavour == "tight")
    if flavour in ("changed", "rewritten"):
        found = changed(rng, found, data, flavour == "rewritten")
    if flavour in ("lies", "far"):
        found.change = lambda: wrong_point(rng, found.problem, flavour == "far")
    found.note = flavour
    return found


def is_broken(seed: int, number: int) -> bool:
    """Whether problem `number` is one of `broken.py`, whose data break a promise, or that has no optimum."""
    return int(np.random.default_rng([seed, number]).integers(100)) < sum(times for _, times in BROKEN)


def wrong_point(rng: np.random.Generator, problem: cp.Problem, far: bool) -> None:
    """Values and dual values that no solver would give."""
    for leaf in [*problem.variables(), *(dual for row in problem.constraints for dual in row.dual_variables)]:
        if leaf.sparse_idx is None and leaf.value is not None:
            scale = 10.0 ** rng.integers(-3, 9) if far else 1.0
            leaf.save_value(
                np.asarray(leaf.value) * rng.choice([-1.0, 1.0, 2.0]) * scale + rng.normal(size=leaf.shape) * rng.choice([0.0, 1e-6, 1.0])
            )


class Truth:
    """Ends of the optimum of the minimum or maximum as written: `reached` by a feasible point, and `known` where one is optimal."""

    def __init__(self, case: PlantedProblem) -> None:
        problem = case.problem
        self.maximises = isinstance(problem.objective, cp.Maximize)
        self.points = [point for point in case.points if self._inside(problem, point)]
        values = [value(problem.objective.expr, point).flat[0] for point in self.points]
        sign = -1 if self.maximises else 1
        ends = [(sign * (high(v) if sign > 0 else low(v)), sign * (low(v) if sign > 0 else high(v))) for v in values]
        self.reached: Q | float = min((end for end, _ in ends), default=math.inf)  # of the minimum of sign·f
        self.least: Q | float = -math.inf
        if case.optimal:
            assert self.points and self.points[0] is case.points[0], "the planted point is not feasible"
            self.least = ends[0][1]
            assert all(end >= self.least for end, _ in ends), "a point is better than the planted one"
            self.reached = ends[0][0]
        if case.empty:
            self.least = math.inf
        if case.endless:
            self.reached = -math.inf
        self.size = max((sum((_size(part, point) for part in case.parts), Q(0)) for point in self.points), default=Q(1))

    @staticmethod
    def _inside(problem: cp.Problem, point: Any) -> bool:
        try:
            value(problem.objective.expr, point)
            return feasible(problem, point)
        except (ArithmeticError, ZeroDivisionError):
            return False

    def false(self, lower: float, upper: float, rigorous: bool) -> str:
        """Which of the bounds, of the problem as written, is false."""
        lower, upper = (-upper, -lower) if self.maximises else (lower, upper)
        reached, least = self.reached, self.least
        allowed = Q(0) if rigorous else FLOAT_FRACTION * self.size
        found = []
        if (lower == math.inf and not reached == math.inf) or (lower > -math.inf and reached == -math.inf):
            found.append("lower")
        elif (
            math.isfinite(lower)
            and reached not in (math.inf, -math.inf)  # a fraction may be too large for the floats
            and Q(lower) > reached + (allowed + FLOAT_FRACTION * abs(Q(reached)) * (not rigorous))
        ):
            found.append("lower")
        if (upper < math.inf and least == math.inf) or (upper == -math.inf and least > -math.inf):
            found.append("upper")
        elif (
            math.isfinite(upper)
            and least not in (math.inf, -math.inf)
            and Q(upper) < least - (allowed + FLOAT_FRACTION * abs(Q(least)) * (not rigorous))
        ):
            found.append("upper")
        return " ".join(found)


def _size(part: Any, point: Any) -> Q:
    """The sizes of all that a part of the objective is made of: of each expression in it, and of the terms of its products and forms."""
    try:
        found = sum((_upper(x) for x in value(part, point).flat), Q(0))
        if type(part) in (cp.QuadForm, cp.MulExpression):
            factors = [np.frompyfunc(_upper, 1, 1)(value(argument, point)) for argument in part.args]
            x, y = factors if type(part) is cp.MulExpression else (factors[0].reshape(-1), factors[1] @ factors[0].reshape(-1))
            found += np.sum(x @ y)
    except (ArithmeticError, ZeroDivisionError):
        found = Q(0)
    return found + sum((_size(argument, point) for argument in part.args), Q(0))


def _upper(x: Any) -> Q:
    return max(abs(low(x)), abs(high(x)))


def runs(drawn: PlantedProblem, declared: Any, number: int, quick: bool) -> Iterator[tuple[str, bool, Callable[[], Any]]]:
    """How simopt is asked: a name, whether rigorously, and the question, whose answer is a certificate; quick: of what is there."""
    p = drawn.problem
    yield "float held", False, lambda: simopt.certify(p, solver=None)
    yield "rigorous held", True, lambda: simopt.certify(p, rigorous=True, solver=None)
    if declared is not None:
        point = {
            leaf.name: leaf.variable.value_sparse.toarray() if leaf.variable.sparse_idx is not None else leaf.variable.value
            for leaf in declared.programme.leaves.values()
        }
        if all(found is not None for found in point.values()):
            yield "rigorous kept", True, lambda: _sense(declared, simopt.certify(declared, point, None, INTERVAL))
            yield "float kept", False, lambda: _sense(declared, simopt.certify(declared, point, None, FLOAT))
    if quick:
        return
    yield "float", False, lambda: simopt.certify(p)
    yield "rigorous", True, lambda: simopt.certify(p, rigorous=True)
    if number % 3 == 0:
        yield "solve", False, lambda: simopt.solve(p, "clarabel")
        yield "solve rigorous", True, lambda: simopt.solve(p, "clarabel", rigorous=True)


def _sense(declared: Any, swept: Any) -> Any:
    return swept.of_the_maximum() if declared.maximises else swept


def apart(seed: int, number: int, quick: bool = False, seconds: int = 60) -> dict[str, Any]:
    """`line` in a child process, which may die or be stopped: CVXPY's compiled code ends with a segmentation fault for some problems."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        signal.alarm(seconds)
        with os.fdopen(writes, "w") as out:
            out.write(json.dumps(line(seed, number, quick)))
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"id": number, "kind": "died", "note": f"signal {os.WTERMSIG(status)}", "runs": {}, "seconds": float(seconds)}
    if not said:
        raise RuntimeError(f"problem {number} of seed {seed} was not judged")
    return dict(json.loads(said))


def finite_ends(answer: dict[str, Any]) -> int:
    """Of a line: the finite ends of rigorous certificates of what the problem holds; none where a bound is false."""
    runs = [run for name, run in answer["runs"].items() if name in ("rigorous held", "rigorous kept")]
    return sum(0 if run.get("false") else int(run.get("finite", 0)) for run in runs)


def line(seed: int, number: int, quick: bool = False) -> dict[str, Any]:
    """All that is said of a problem, as a line of JSON holds it."""
    start = time.perf_counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        drawn = case(seed, number)
        found: dict[str, Any] = {"id": number, "kind": drawn.kind, "note": drawn.note}
        try:
            drawn.problem.solve(solver=cp.CLARABEL, canon_backend=cp.SCIPY_CANON_BACKEND)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
        for v in drawn.problem.variables():  # where a solver had no answer zeros are judged
            if (v.value if v.sparse_idx is None else v.value_sparse) is None:
                v.save_value(np.zeros(v.shape))
        try:
            declared = Declared.of(drawn.problem) if number % 2 else None
        except ValueError:
            declared = None
        if drawn.change is not None:
            drawn.change()
        truth = Truth(drawn)
        found["optimum"] = [_float(truth.least), _float(truth.reached)]
        found["runs"] = {}
        for name, rigorous, ask in runs(drawn, declared, number, quick):
            found["runs"][name] = _answer(truth, ask, rigorous)
    found["seconds"] = round(time.perf_counter() - start, 3)
    return found


def _answer(truth: Truth, ask: Callable[[], Any], rigorous: bool) -> dict[str, Any]:
    try:
        said = ask()
    except (ValueError, RuntimeError) as error:  # simopt's own refusals among them
        return {"refused": type(error).__name__, "says": str(error)[:160]}
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return {"foreign": type(error).__name__, "says": str(error)[:160]}
    status = getattr(said, "status", None)
    certificate = said if status is None else said.certificate
    if certificate is None:
        return {"status": status.name if status is not None else "", "says": said.message[:160]}
    found = {
        "lower": _float(certificate.lower),
        "upper": _float(certificate.upper),
        "finite": math.isfinite(certificate.lower) + math.isfinite(certificate.upper),
        "closes": bool(certificate.closes(1e-8)),
        "false": truth.false(certificate.lower, certificate.upper, rigorous and certificate.arithmetic != "float"),
    }
    if status is not None:
        found["status"] = status.name
    return found


def _float(x: Any) -> float | str:
    try:
        found = float(x)
    except OverflowError:
        found = math.inf if x > 0 else -math.inf
    return found if math.isfinite(found) else str(found)
