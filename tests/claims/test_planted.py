"""Claims planted against the engine, each with what it may come out as, whatever the seed: false ones neither PROVED nor HOLDS with exact
evidence, true ones not REFUTED."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simopt.arithmetic import INTERVAL
from simopt.claims import (
    EXACT,
    EXISTENCE,
    HIGH_PROBABILITY,
    IN_EXPECTATION,
    REFUTED,
    SOME,
    VACUOUS,
    Check,
    Evidence,
    Instance,
    NotComparable,
    Scope,
    Trial,
    Verdict,
    at_least,
    at_most,
    between,
    enclose,
    equal,
    exp,
    expectation,
    inputs,
    outcome,
    rational,
    root,
    run,
    symbols,
    true,
    vacuous,
)
from simopt.claims.runner import award

Rule = Callable[[Instance, Trial], Iterator[Check]]
SEEDS = range(20)
NONE = {"instances": lambda trial: iter([{}])}
EVERY = NONE | {"exhaustive": True}
DRAWN = NONE | {"kind": HIGH_PROBABILITY}
MEAN = NONE | {"kind": IN_EXPECTATION}


def one(*checks: Callable[[Instance, Trial], Check]) -> Rule:
    """A rule of these checks."""
    return lambda instance, trial: (check(instance, trial) for check in checks)


def small(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The statement "every x is at most 9" on whatever instance."""
    yield at_most(inputs(x=instance["x"]), 9)


def binomial(instance: Instance, trial: Trial) -> Iterator[Check]:
    """A formula in symbols whose degree hangs on the seed: "for every n" on one n."""
    (x,) = symbols("x")
    n = int(trial.rng.integers(2, 6))
    yield equal(x**n * x, x ** (n + 1))


def one_from(draw: Callable[[Trial], int]) -> dict[str, Any]:
    """Instances that are called all there are, and come from the trial."""
    return {"instances": lambda trial: iter([{"x": draw(trial)}]), "exhaustive": True}


def behind(instance: Instance, trial: Trial) -> Iterator[Check]:
    """A false check behind draws that are decided."""
    for _ in trial.draws(100_000):
        yield outcome(False, 0.1)
    yield at_most(2, 1)


def in_turn(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Two groups one after the other, the second of them too frequent."""
    for rate in (0.0, 0.5):
        for _ in trial.draws(100_000):
            yield outcome(bool(trial.rng.random() < rate), 0.1, f"{rate}")


def lognormal(sign: float, bound: float) -> Rule:
    """Draws of ± exp(3Z − 4.5), whose mean is ± 1 and whose first thousands of draws average a tenth of that."""

    def rule(instance: Instance, trial: Trial) -> Iterator[Check]:
        for _ in trial.draws(5000):
            yield expectation(sign * math.exp(3 * trial.rng.normal() - 4.5), bound)

    return rule


FALSE: dict[str, tuple[Rule, dict[str, Any]]] = {
    "rng in a check on the empty instance": (one(lambda i, t: at_most(inputs(x=int(t.rng.integers(0, 10))), 9)), EVERY),
    "rng in the generator": (small, one_from(lambda t: int(t.rng.integers(0, 10)))),
    "count in the generator": (small, one_from(lambda t: t.count(3, 30))),
    "seed in the generator": (small, one_from(lambda t: t.seed % 10)),
    "effort in the generator": (small, one_from(lambda t: 1 if t.effort == "quick" else 10)),
    "count in the check": (one(lambda i, t: at_most(inputs(x=t.count(1, 10)), 9)), EVERY),
    "symbols of a degree drawn from the seed": (binomial, NONE),
    "the same, called exhaustive": (binomial, EVERY),
    "an attack on top of what is called all": (
        small,
        one_from(lambda t: 1) | {"decode": lambda u, t: {"x": Fraction(float(u[0])) * 9}, "dimension": 1, "evaluations": (5, 5)},
    ),
    "root of two": (one(lambda i, t: at_most(root(2), rational("1.4142135623730"))), EVERY),
    "root of two, an ulp below": (one(lambda i, t: at_most(root(2), rational("1.41421356237309504"))), EVERY | {"resolution": 0.1}),
    "root of four below two": (one(lambda i, t: at_most(root(4), 2, strict=True)), EVERY),
    "e is a fraction": (one(lambda i, t: equal(exp(1), rational("2.718281828459045"))), EVERY),
    "an interval above its bound": (one(lambda i, t: at_most(INTERVAL.lift(1.0) + INTERVAL.lift(1e-13), 1)), EVERY),
    "an interval that is strictly less than itself": (one(lambda i, t: at_most(INTERVAL.lift(1.0), 1, strict=True)), EVERY),
    "an identity that fails in the last digit": (one(lambda i, t: equal(root(2) ** 2, 2 + Fraction(1, 10**40))), EVERY),
    "NumPy's integers wrap": (one(lambda i, t: at_most(np.int64(2**62) * np.int64(4), 1)), EVERY),
    "in an array": (one(lambda i, t: at_most(np.array([2**62]) * 4, 1)), EVERY),
    "in an array of one": (one(lambda i, t: at_most(enclose(np.array(2**62) * 4), 1)), EVERY),
    "in a fraction": (one(lambda i, t: at_most(Fraction(np.int64(2**62)) * 4, 1)), EVERY),
    "in a formula": (one(lambda i, t: at_most(inputs(x=0), rational(np.int64(2**62)) * 4)), EVERY),
    "in a factor": (one(lambda i, t: at_most(inputs(x=0) * np.int64(3), 1)), EVERY),
    "in a fraction in a formula": (one(lambda i, t: at_most(inputs(x=0), rational(Fraction(np.int64(2**62)) * 4))), EVERY),
    "a generator is true": (one(lambda i, t: true((False for _ in "ab"), evidence=EXACT)), EVERY),
    "a check is true": (one(lambda i, t: true(at_most(2, 1), evidence=EXACT)), EVERY),
    "all checks are true": (one(lambda i, t: true(all([at_most(2, 1)]), evidence=EXACT)), EVERY),
    "one check or another": (one(lambda i, t: at_most(2, 1) or at_most(1, 2)), EVERY),
    "a list is true": (one(lambda i, t: true([False], evidence=EXACT)), EVERY),
    "a function is true": (one(lambda i, t: true(lambda: False, evidence=EXACT)), EVERY),
    "a checks' generator is yielded whole": (lambda i, t: iter([(at_most(2, 1) for _ in "a")]), EVERY),  # type: ignore[list-item]
    "behind the draws": (behind, DRAWN),
    "the second of two groups": (in_turn, DRAWN),
    "a mean without a support": (lognormal(1.0, 0.9), MEAN),
    "a formula in symbols": (one(lambda i, t: equal(symbols("x")[0] * 0, 1)), EVERY),
    "no instance at all": (small, {"instances": lambda t: iter(()), "exhaustive": True}),
    "samples of the claim beside steps": (
        one(lambda i, t: at_most(inputs(x=int(t.rng.integers(9))), 9), lambda i, t: at_most(inputs(y=1), 2).step("the rest")),
        EVERY,
    ),
}


OUT = {
    Verdict.REFUTED: (
        "root of two",
        "root of two, an ulp below",
        "root of four below two",
        "e is a fraction",
        "an interval above its bound",
        "an identity that fails in the last digit",
        "behind the draws",
        "the second of two groups",
        "a formula in symbols",
    ),
    Verdict.INCONCLUSIVE: ("an interval that is strictly less than itself", "a mean without a support", "no instance at all"),
    Verdict.HOLDS: (  # by floats or by samples, which is what it says
        "rng in a check on the empty instance",
        "rng in the generator",
        "count in the generator",
        "seed in the generator",
        "effort in the generator",
        "count in the check",
        "symbols of a degree drawn from the seed",
        "the same, called exhaustive",
        "an attack on top of what is called all",
        "NumPy's integers wrap",
        "in an array",
        "in an array of one",
        "in a fraction",
        "samples of the claim beside steps",
    ),
}  # all others: the claim is in error


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # NumPy does say a word, where it can
@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_neither_proved_nor_held_exactly(make: Any, name: str) -> None:
    rule, fields = FALSE[name]
    for seed in SEEDS:
        found = run(make(rule, **fields), seed=seed).own  # quick effort; what asks for nothing is the same at full
        exact = found.evidence in (Evidence.EXACT, Evidence.INTERVAL, Evidence.EXACT_STEPS) and found.scope is not Scope.SAMPLED
        assert found.verdict is not Verdict.PROVED and not (found.verdict is Verdict.HOLDS and exact), (seed, found)
        assert found.verdict is next((verdict for verdict, names in OUT.items() if name in names), Verdict.ERROR) and not found.filed


def larger(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Whether the instance is at least 3, which its formula says."""
    yield at_least(inputs(x=instance["x"]), 3)


def coin(p: float, delta: float, most: int) -> Rule:
    """Draws of an event of probability p that is claimed to be at most delta."""

    def rule(instance: Instance, trial: Trial) -> Iterator[Check]:
        for _ in trial.draws(most):
            yield outcome(bool(trial.rng.random() < p), delta)

    return rule


def uniform(bound: float, most: int) -> Rule:
    """Draws of a uniform variable, whose mean is claimed to be at most the bound."""

    def rule(instance: Instance, trial: Trial) -> Iterator[Check]:
        for _ in trial.draws(most):
            yield expectation(trial.rng.random(), bound, support=(0, 1))

    return rule


def hardly_known(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Draws of which only an interval is known, of a mean that is 0."""
    for _ in trial.draws(2000):
        yield expectation(between(-1.0, 1.0), 0.0, support=(-1, 1))


TRUE: dict[str, tuple[Rule, dict[str, Any]]] = {
    "a mean without a support": (lognormal(-1.0, -0.99), MEAN),  # E exp(3Z − 4.5) ≥ 0.99
    "a mean on its bound": (uniform(0.5, 1500), MEAN),
    "a mean below its bound": (uniform(0.6, 20_000), MEAN),
    "a mean of values that are hardly known": (hardly_known, MEAN),
    "a probability on its bound": (coin(0.1, 0.1, 1000), DRAWN),
    "a small probability": (coin(0.01, 0.1, 1000), DRAWN),
    "SOME instance, not among the few that the seed picks": (
        larger,
        {"instances": lambda t: iter([{"x": int(t.rng.integers(0, 3))}]), "exhaustive": True, "quantifier": SOME, "kind": EXISTENCE},
    ),
    "root of two": (one(lambda i, t: at_most(root(2), rational("1.41421356237309505"))), EVERY),
    "an identity of roots": (one(lambda i, t: equal(root(2) * root(3), root(6))), EVERY),
    "an interval around its bound": (one(lambda i, t: at_most(INTERVAL.lift(0.1) * INTERVAL.lift(10.0), 1)), EVERY),
    "a wrapped integer": (one(lambda i, t: at_least(np.int64(2**62) * np.int64(2), 0)), EVERY),  # 2⁶³ ≥ 0: wrapped to −2⁶³
}


@pytest.mark.parametrize("name", [name for name in TRUE if name != "a wrapped integer"])
def test_what_is_true_is_not_refuted(make: Any, name: str) -> None:
    rule, fields = TRUE[name]
    for seed in SEEDS:
        assert run(make(rule, **fields), seed=seed).verdict not in (Verdict.REFUTED, Verdict.ERROR), seed


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_what_numpy_wraps_is_never_called_exact(make: Any) -> None:
    """A float may be wrong, and so may NumPy's integer: the engine cannot see it, and calls neither exact."""
    rule, fields = TRUE["a wrapped integer"]
    assert run(make(rule, **fields)).own.evidence is Evidence.FLOAT


@pytest.mark.slow
@pytest.mark.parametrize("rule", [coin(0.1, 0.1, 5000), uniform(0.5, 5000)], ids=["probability", "mean"])
def test_on_the_bound_hardly_any_seed_refutes(make: Any, rule: Rule) -> None:
    """The error is 0.1 % a run: of 60 runs more than two refute with probability below 1e-4."""
    assert sum(run(make(rule, **DRAWN), seed=seed).verdict is Verdict.REFUTED for seed in range(60)) <= 2


def test_a_quotient_of_symbols_is_proved_where_its_denominator_is_not_zero_and_says_so(make: Any, tmp_path: Any) -> None:
    from simopt import recheck
    from simopt.claims.verification import summary, to_row

    (x,) = symbols("x")
    result = run(make(one(lambda i, t: equal(x / x, t["c"])), **NONE))
    assert result.verdict is Verdict.PROVED and result.own.where == "x != 0"
    row = to_row(result, tmp_path)
    lines = recheck.check(recheck.read(row["proof"]))
    assert (
        lines[2].strip() == "(x / x) == 1  where x != 0"
        and row["where"] == "x != 0"
        and summary(row) == "PROVED (exact, where x != 0, exhaustive)"
    )
    whole = run(make(one(lambda i, t: equal((x + 1) ** 2 / 2, x**2 / 2 + x + Fraction(t["c"], 2))), **NONE))
    assert whole.verdict is Verdict.PROVED and whole.own.where == ""


@pytest.mark.parametrize("effort", ["quick", "full"])
def test_an_exact_counterexample_of_any_seed_refutes_whatever_the_others_say(make: Any, effort: str) -> None:
    def rare(instance: Instance, trial: Trial) -> Iterator[Check]:
        yield at_most(instance["x"], 5, "exact")
        yield at_most(between(0.9, 1.1) if trial.seed % 2 else 0.5, 1.0, "undecided under odd seeds")

    fields: dict[str, Any] = {"instances": lambda t: iter([{"x": 9 if t.seed % 3 == 0 else 1}]), "expected": REFUTED}
    for seed in SEEDS:
        found = run(make(rare, **fields), seed=seed, effort=effort).own
        met = any(each % 3 == 0 for each in range(seed, seed + (5 if effort == "full" else 1)))
        assert (found.verdict is Verdict.REFUTED) == met, seed
        if met:
            assert (
                found.evidence is Evidence.EXACT and found.witness is not None and found.witness.instance == {"x": 9} and not found.reason
            )


def test_an_exact_example_of_any_seed_decides_what_asks_for_some(make: Any) -> None:
    fields: dict[str, Any] = {"instances": lambda t: iter([{"x": t.seed}]), "quantifier": SOME, "kind": EXISTENCE}
    assert run(make(larger, **fields), effort="full").verdict is Verdict.PROVED
    assert run(make(larger, **fields), effort="quick").verdict is Verdict.INCONCLUSIVE


def test_why_something_is_not_exhaustive_is_said(make: Any) -> None:
    found = run(make(small, **one_from(lambda t: t.count(3, 30)))).own
    assert (found.verdict, found.scope) == (Verdict.HOLDS, Scope.SAMPLED) and "trial.count" in found.reason
    assert run(make(small, **one_from(lambda t: t.count(3, 3)))).verdict is Verdict.PROVED
    assert run(make(one(lambda i, t: vacuous(bool(t.rng.random() < 2))), **EVERY, expected=VACUOUS)).own.scope is Scope.SAMPLED


def test_the_word_of_recheck_is_not_overruled(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the engine holds what `recheck` finds false, one of the two computes wrongly: no verdict on the mathematics."""
    honest = run(make(small, **one_from(lambda t: 3))).own
    check = honest.proof and at_most(inputs(x=10), 9)
    assert isinstance(check, Check) and honest.proof is not None
    honest.proof.add(replace(check, low=Fraction(1), high=Fraction(1)), frozenset({"10"}))
    found = award(make(small), replace(honest, verdict=Verdict.HOLDS))
    assert found.verdict is Verdict.ERROR and "false for x = 10" in found.reason and not found.filed


@pytest.mark.parametrize("what", [(x for x in "a"), [True], "yes", None, 1, 1.0, np.array([True]), len])
def test_a_condition_is_a_truth_value(what: Any) -> None:
    for asked in (true, vacuous, lambda w: outcome(w, 0.1)):
        with pytest.raises(NotComparable, match="True or False"):
            asked(what)
    assert true(np.bool_(True)).low == true(np.array(True)).low == true(True).low == 1
