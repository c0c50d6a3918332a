"""Claims of every outcome and with every kind of plot, about no real paper; some of their texts are hostile."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import numpy as np

from simopt.claims import (
    Check,
    Claim,
    Defect,
    Expected,
    Instance,
    Kind,
    Paper,
    Quantifier,
    Trial,
    at_most,
    equal,
    expectation,
    outcome,
    probability,
    rate,
    true,
    vacuous,
)
from simopt.core.errors import NotAvailable

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=http://evil.example/x.png onerror='window.hacked = 2'> \"quoted\" & {{ 7 * 7 }}"
    " $ x_{ y^{ \\frac{ </style> ]]> --> \ud800 \x00 ∀🜏"
)
TOYS = Paper("toy", "TOY", "A. Nobody", "Toys & <i>Theorems</i>", 2001, "Nowhere", sections=("first", "second"))
OTHERS = Paper("other", "OTH", "", "Another paper", 0, "")


def five(trial: Trial) -> Iterator[Instance]:
    """The integers 1 to 5, with $x_i$."""
    for x in range(1, 6):
        yield {"x": x}


def hostile_instances(trial: Trial) -> Iterator[Instance]:
    """<b>Hostile</b> instances."""
    yield {"<i>name": HOSTILE, "matrix": np.arange(300.0).reshape(20, 15), "nested": {"a": [(1, 2), (3, 4)]}}


def ratios(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield at_most(instance["x"], 5 * trial["c"], "x against five")


def identities(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield equal(instance["x"] * 0.1, instance["x"] / 10 + trial["c"] - 1, "a tenth")


def facts(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield true(instance["x"] > 0, "positive")


def slacks(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield at_most(-float(instance["x"]), 0.0, "negative")


def paths(instance: Instance, trial: Trial) -> Iterator[Check]:
    t = np.arange(1.0, 60.0)
    yield at_most(1 / t, 2 / t, "along t")
    yield at_most(np.linspace(0, 1, 12), np.ones(12), "few entries")


def draws(instance: Instance, trial: Trial) -> Iterator[Check]:
    for _ in trial.draws(2000):
        yield outcome(trial.rng.random() < 0.01, 0.2, "coin")
        yield outcome(trial.rng.random() < 0.01, 0.3, "die")


def means(instance: Instance, trial: Trial) -> Iterator[Check]:
    for _ in trial.draws(2000):
        yield expectation(trial.rng.random(), 0.7, "uniform", support=(0, 1))


def known(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield probability(0.01, 0.01, 0.2, "known")


def rates(instance: Instance, trial: Trial) -> Iterator[Check]:
    n = np.array([10, 20, 40, 80, 160])
    yield rate(n, 3 / n, -1.0, window=(15, 200), name="falls like 1/n")
    yield rate(n, n**-0.123456, -0.123456, direction="at least", name="long words in its legend")


def false_one(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield at_most(instance["x"], 3 * trial["c"], "at most three")


def hostile(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield at_most(2, 1, HOSTILE)


def nothing(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield vacuous(True, "nothing to say")


def missing(instance: Instance, trial: Trial) -> Iterator[Check]:
    raise NotAvailable("data set <b>nobody</b> is not here")
    yield true(True)


def breaks(instance: Instance, trial: Trial) -> Iterator[Check]:
    raise RuntimeError(HOSTILE)
    yield true(True)


def interrupts(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Ctrl-C, at whoever waits for this claim."""
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)
    yield true(True)


def two_rows(instance: Instance, trial: Trial) -> Iterator[Check]:
    yield at_most(instance["x"], 10, "own")
    yield at_most(instance["x"], 20, "also", row="TOY-also")


def _claim(name: str, function: Callable[[Instance, Trial], Iterator[Check]], kind: Kind = Kind.INEQUALITY, **fields: object) -> Claim:
    settings: dict[str, object] = {
        "paper": TOYS, "place": f"Place of {name}", "expected": Expected.HOLDS, "instances": five, "knobs": {"c": 1}, "section": "first",
        "says": f"What {name} says: ‖f_λ‖² ≤ √(2 log(1/δ)/n) for **every** x_i.", "mutants": {"c = 2": {"c": 2}},
    }  # fmt: skip
    return Claim(id=name, kind=kind, function=function, **{**settings, **fields})  # type: ignore[arg-type]  # fields of several types


def claims() -> list[Claim]:
    """The toy catalogue."""
    refuted = {"expected": Expected.REFUTED, "defect": Defect.CONSTANT}
    return [
        _claim("TOY-ratio", ratios, note="See TOY-false+ and TOY-also, and <em>this</em>."),
        _claim("TOY-equal", identities, Kind.IDENTITY, section="second"),
        _claim("TOY-fact", facts, Kind.EXISTENCE, quantifier=Quantifier.SOME),
        _claim("TOY-slack", slacks),
        _claim("TOY-path", paths, Kind.ALGORITHM),
        _claim("TOY-draw", draws, Kind.HIGH_PROBABILITY, instances=lambda trial: iter([{}])),
        _claim("TOY-mean", means, Kind.IN_EXPECTATION, instances=lambda trial: iter([{}])),
        _claim("TOY-known", known, Kind.HIGH_PROBABILITY, instances=lambda trial: iter([{}])),
        _claim("TOY-rate", rates, Kind.RATE, instances=lambda trial: iter([{}])),
        _claim("TOY-false", false_one, **refuted),
        _claim("TOY-false+", ratios, corrects="TOY-false"),
        _claim("TOY-<i>/%\"'&", hostile, says=HOSTILE, note=HOSTILE, place=HOSTILE, instances=hostile_instances, **refuted),
        _claim("TOY-two", two_rows, covers=("TOY-also",)),
        _claim("OTH-void", nothing, paper=OTHERS, section="", expected=Expected.VACUOUS),
        _claim("OTH-missing", missing, paper=OTHERS, section=""),
        _claim("OTH-breaks", breaks, paper=OTHERS, section=""),
    ]
