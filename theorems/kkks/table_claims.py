"""Section 6.2: whether Tables 1 and 2 agree with one another, and what they say of L-Isotron, on the data themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom

import simopt.claims as sc
from simopt.claims.each_set import claim_on_each
from simopt.theorems.kkks.printed_tables import OTHERS, SOURCES, TABLE_1, TABLE_2
from simopt.theorems.kkks.protocol import FOLDS, METHODS, cross_validated

# SIM is left out: the paper does not say how it descends.
COMPARED = METHODS[:-1]
TRONS, REGRESSIONS = METHODS[:3], ("Lin-R", "Log-R")
# The readings of the five rows, with the folds that quick effort tries: a fold of the small sets costs a fifth of one of the others.
QUICK_FOLDS = {"communities": 3, "concrete": FOLDS, "housing": FOLDS, "parkinsons, total, voice": 2, "winequality, white": 2}
SETS = tuple(QUICK_FOLDS)
ONE_SIDED = 1.645  # 95 % quantile of the normal distribution


def hundredths(value: float) -> Fraction:
    """A printed number, exactly."""
    return Fraction(round(100 * value), 100)


def printed_rows(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The five rows of both tables."""
    for name in TABLE_1:
        found: dict[str, Any] = {"row": name}
        for k, table in enumerate((TABLE_1, TABLE_2), 1):
            found[f"mean_{k}"] = [hundredths(mean) for mean, _ in table[name]]
            found[f"sd_{k}"] = [hundredths(sd) for _, sd in table[name]]
        yield found


@sc.claim(
    "KK-Tab",
    place="Tables 1 and 2",
    kind=sc.IDENTITY,
    says=r"Each of the 25 means of Table 2 is, within the rounding 0.015 of three numbers, that of Table 1 less that of L-Isotron, and its "
    r"standard deviation is, within the same, at most the sum and at least the difference of their two.",
    instances=printed_rows,
    exhaustive=True,
    resolution=0.0,
    knobs={"base": 0, "rounded": 3},
    mutants={"less that of GLM-tron": {"base": 1}, "Table 1 not rounded": {"rounded": 1}},
    note="The standard deviation of a difference over the same folds lies between those bounds, whatever the folds.",
)
def table_2_is_the_difference(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Residuals of the means, and the triangle inequality of the deviations."""
    names = {f"{what}_{k}_{j}": v for k in (1, 2) for what in ("mean", "sd") for j, v in enumerate(instance[f"{what}_{k}"])}
    value = dict(zip(names, sc.inputs(**names), strict=True))
    base, slack = trial["base"], Fraction(trial["rounded"], 200)
    for j, method in enumerate(OTHERS):
        apart = value[f"mean_1_{j + 1}"] - value[f"mean_1_{base}"]
        yield sc.at_most(abs(value[f"mean_2_{j}"] - apart), slack, f"{method}: mean")
        ours, theirs, both = (value[key] for key in (f"sd_1_{base}", f"sd_1_{j + 1}", f"sd_2_{j}"))
        yield sc.at_most(both, ours + theirs + slack, f"{method}: deviation, at most")
        yield sc.at_least(both, abs(ours - theirs) - slack, f"{method}: deviation, at least")


def five_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All data sets together, with the folds to be tried: the statements are about all."""
    yield {"folds": {name: trial.count(QUICK_FOLDS[name], FOLDS) for name in SETS}, "seed": int(trial.rng.integers(2**31))}


def each_set(trial: sc.Trial, names: Sequence[str]) -> Iterator[sc.Instance]:
    """One instance a set, with its folds."""
    for name in names:
        yield {"row": name, "folds": trial.count(QUICK_FOLDS[name], FOLDS), "seed": int(trial.rng.integers(2**31))}


def printed(row: str, method: str, table: int) -> tuple[float, float]:
    """Mean and standard deviation in Table 1, or of the difference from L-Isotron in Table 2."""
    name = SOURCES[row].printed
    return TABLE_1[name][METHODS.index(method)] if table == 1 else TABLE_2[name][OTHERS.index(method)]


def many() -> int:
    """Least number of the ten cases (set, regression) that is not below what chance leaves, at 1 %, of the share that Table 2 prints."""
    worse = [printed(row, other, 2)[0] > 0 for row, other in product(SETS, REGRESSIONS)]
    return int(binom.ppf(0.01, len(worse), np.mean(worse)))


@sc.claim(
    "KK-UCI",
    place="Section 6.2, Tables 1 and 2",
    kind=sc.EXPERIMENT,
    says=r"On communities, concrete, housing, parkinsons and wine-quality, with random folds, the mean squared errors over the variance of "
    r"y of L-Isotron, GLM-tron and Isotron are comparable to those of linear and of logistic regression: **on the same folds none is worse "
    r"in the mean over the five sets by more than the mean of the standard deviations that Table 2 prints for the regression (0.028)**; "
    r"and in many cases slightly better: **L-Isotron in at least five of the ten cases (Table 2 has eight), and it is below linear "
    r"regression in the mean over the sets by a one-sided test at 5 % with the standard deviations of Table 2**.",
    instances=five_sets,
    knobs={"rounds": 200},
    mutants={"one round, which is the mean of y": {"rounds": 1}},
    requires=tuple(f"dataset:{SOURCES[name].dataset}" for name in SETS),
    note="In bold: our reading of the words, with limits from the printed numbers alone. The printed means satisfy it: the largest mean "
    "over the sets is 0.024 (GLM-tron less logistic regression), and L-Isotron less linear regression, −0.01 in the mean over the sets, is "
    "2.3 standard errors below 0 (less logistic regression, 1.4, not enough). With a chance of 8/10 a case, fewer than five cases of ten "
    "come up once in 150 times. A count over all three learners without such an allowance, 12 of 30 as in Table 1, would do as well but "
    "for chance: ours were 12 to 23 under 16 seeds. Protocol, scaling and the choice of rounds are ours (protocol.py); kkks-table1 and "
    "kkks-table2 compare the numbers, and on wine-quality L-Isotron is 0.05 better than printed. Quick effort, to save time: two or three "
    "of the ten folds of the larger sets. Parkinson's are the total score and the measures of the voice, wines the white ones: the choices "
    "with which linear regression has its printed error. SIM is left out: the paper does not say how it descends.",
)
def comparable_to_regressions(folds: dict[str, int], seed: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Differences on the same folds, their means over the sets, a count and a test."""
    means: dict[str, dict[str, float]] = {}
    for k, (row, count) in enumerate(folds.items()):
        rng = np.random.default_rng([seed, k])
        data = trial.dataset(SOURCES[row].dataset)
        errors = cross_validated(SOURCES[row].features(data), data.targets, rng, COMPARED, count, trial["rounds"])
        means[row] = {name: float(values.mean()) for name, values in errors.items()}
    for tron, other in product(TRONS, REGRESSIONS):
        apart = np.mean([mean[tron] - mean[other] for mean in means.values()])
        yield sc.at_most(
            float(apart), float(np.mean([printed(row, other, 2)[1] for row in means])), f"mean over the sets: {tron} − {other}"
        )
    better = sum(mean["L-Iso"] < mean[other] for mean, other in product(means.values(), REGRESSIONS))
    yield sc.at_least(better, many(), "cases of ten in which the error of L-Isotron is smaller")
    apart = np.mean([mean["L-Iso"] - mean["Lin-R"] for mean in means.values()])
    error = math.sqrt(sum(printed(row, "Lin-R", 2)[1] ** 2 / count for row, count in folds.items())) / len(means)
    yield sc.at_most(float(apart), -ONE_SIDED * error, "mean over the sets: L-Iso − Lin-R, below 0 by the test")


@claim_on_each(
    "KK-UCI-each",
    {name: SOURCES[name].dataset for name in SETS},
    place="Section 6.2, Tables 1 and 2",
    kind=sc.EXPERIMENT,
    says=r"The mean squared errors over the variance of y of L-Isotron, GLM-tron and Isotron are comparable to those of linear and of "
    r"logistic regression on each set: **on the same folds of all the sets none is worse by more than two of the standard deviations that "
    r"Table 1 prints for the regression**.",
    instances=each_set,
    knobs={"rounds": 200, "deviations": 2.0},
    mutants={"one round, which is the mean of y": {"rounds": 1}, "never worse": {"deviations": 0.0}},
    note="In bold: our reading of 'comparable', with limits from the printed numbers, which keep them: the largest difference is one "
    "deviation. Otherwise as KK-UCI, which is about the means over the five sets and so needs all of them.",
)
def comparable_on_each_set(row: str, seed: int, folds: Any, trial: sc.Trial) -> Iterator[sc.Check]:
    """Differences on the same folds against the printed deviations."""
    data, rng = trial.dataset(SOURCES[row].dataset), np.random.default_rng(seed)
    errors = cross_validated(SOURCES[row].features(data), data.targets, rng, COMPARED, folds, trial["rounds"])
    for tron, other in product(TRONS, REGRESSIONS):
        apart = float(errors[tron].mean() - errors[other].mean())
        yield sc.at_most(apart, trial["deviations"] * printed(row, other, 1)[1], f"{row}: {tron} − {other}")
