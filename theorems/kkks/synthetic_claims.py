"""Section 6.1: L-Isotron against Isotron on the synthetic data, whether the data satisfy the model, and what more rounds do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.estimators.index_models.isotron import l_isotron
from simopt.theorems.kkks.synthetic import VARIANCE, at_one_half, draw, expected_error, ten_folds

CITATION = "Section 6.1"
PRINTED = {"L-Isotron": (0.338, 0.058), "Isotron": (0.526, 0.175), "difference": (0.189, 0.139)}


def repetitions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Seeds of ten samples of the paper's size, as many as it repeats the experiment; full effort: fifty."""
    yield {"seeds": [int(seed) for seed in trial.rng.integers(2**31, size=trial.count(10, 50))]}


@sc.claim(
    "KK-E1",
    place=CITATION,
    kind=sc.EXPERIMENT,
    says=r"On the synthetic data, d = 400, 600 samples, ten-fold cross-validation, repeated ten times (full effort: fifty), **20 rounds**, "
    r"the mean squared errors over the variance of y are those printed, **up to three standard errors of both means**: L-Isotron 0.338 ± "
    r"0.058, Isotron 0.526 ± 0.175, difference 0.189 ± 0.139. L-Isotron is better rather consistently: **the mean difference over the "
    r"repetitions is three standard errors above 0, and the share of the folds on which it is better three above 1/2**.",
    instances=repetitions,
    knobs={"isotron": math.inf, "rounds": 20},
    mutants={"Isotron with a Lipschitz bound": {"isotron": 1.0}, "one round": {"rounds": 1}},
    note="In bold: ours. The standard error of a printed mean is its deviation over √10, for ten repetitions or ten folds; that of ours is "
    "from the means of the repetitions. No number of rounds is stated; 5 and 200 give the same verdict. The printed deviations are those "
    "of folds of 60 samples: with new samples of 600 to test on they are 0.02 and 0.05, as kkks-figure1 shows. The error of E[y|x] itself "
    "is 1/3: KK-E1c.",
)
def lipschitz_fits_do_better(seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Ten folds of each sample; means over the folds of a sample are the units of which the errors are taken."""
    errors: dict[str, list[Array]] = {"L-Isotron": [], "Isotron": []}
    for rng in map(np.random.default_rng, seeds):
        for name, values in ten_folds(draw(rng), rng, trial["rounds"], {"L-Isotron": 1.0, "Isotron": trial["isotron"]}).items():
            errors[name].append(values)
    folds = {name: np.array(values) for name, values in errors.items()}
    folds["difference"] = folds["Isotron"] - folds["L-Isotron"]
    error = {}
    for name, (mean, sd) in PRINTED.items():
        repeated = folds[name].mean(axis=1)
        error[name] = float(repeated.std(ddof=1)) / math.sqrt(len(repeated))
        ours = float(repeated.mean())
        yield sc.at_most(abs(ours - mean), 3 * math.hypot(sd / math.sqrt(10), error[name]), f"{name}: {ours:.3f} against {mean}")
    yield sc.at_least(float(folds["difference"].mean()), 3 * error["difference"], "mean difference", strict=True)
    better = folds["difference"] > 0
    yield sc.at_least(float(better.mean()), 0.5 + 1.5 / math.sqrt(better.size), "share of the folds on which L-Isotron is better")


def draws(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Seeds of samples of the paper's size."""
    for _ in range(trial.count(3, 10)):
        yield {"seed": int(trial.rng.integers(2**31))}


@sc.claim(
    "KK-E1b",
    place=CITATION,
    kind=sc.EXPERIMENT,
    says=r"At the samples with E[y|x] = 1/2 Isotron (20 rounds) tries to fit 0 or 1, whichever is observed: **most** of its predictions "
    r"are nearer to the label than to 1/2, and so is their mean; L-Isotron predicts close to 1/2: **all** of its predictions are nearer to "
    r"1/2 than to 0 or 1.",
    instances=draws,
    knobs={"isotron": math.inf, "lipschitz": 1.0},
    mutants={"Isotron with a Lipschitz bound": {"isotron": 1.0}, "L-Isotron with L = 20": {"lipschitz": 20.0}},
    note="Predictions at the samples that were fitted. In bold, and what counts as near: ours. About 78 % of Isotron's predictions are the "
    "label to rounding, and L-Isotron's are 0.02 to 0.07 from 1/2 in the mean.",
)
def isotron_fits_the_labels(seed: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Predictions of both at the middle."""
    sample = draw(np.random.default_rng(seed))
    labels = sample.labels[sample.means == 0.5]
    for name, bound in (("Isotron", trial["isotron"]), ("L-Isotron", trial["lipschitz"])):
        predicted = at_one_half(l_isotron(sample.features, sample.labels, bound, max_iter=20).model, sample)
        label, middle = np.abs(predicted - labels), np.abs(predicted - 0.5)
        if name == "Isotron":
            yield sc.at_least(float(np.mean(label < middle)), 0.5, f"{name}: share nearer to the label than to 1/2", strict=True)
            yield sc.at_most(float(label.mean()), float(middle.mean()), f"{name}: mean distance from the label against that from 1/2")
        else:
            yield sc.at_most(float(middle.max()), 0.25, f"{name}: largest distance from 1/2")


def first_coordinates(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All values of x_1; everything depends on x through x_1 and ‖x‖² = x_1² + 1."""
    yield {"values": [-1, 0, 1]}


@sc.claim(
    "KK-E1c",
    place=CITATION,
    kind=sc.DEFINITION,
    says=r"**With x/√2 for x and √2 w for w**, and u(t) = (1 + t)/2 **on [−1, 1]**, where all scores lie, the data satisfy the assumptions "
    r"of Section 2 with W = √2: ‖x‖ ≤ 1, u(w·x) ∈ [0, 1], slope 1/2. The mean squared error of E[y|x] over the variance of y is 1/3.",
    instances=first_coordinates,
    exhaustive=True,
    resolution=0.0,
    knobs={"scale": 2},
    mutants={"x as it is": {"scale": 1}},
    note="As printed ‖x‖ is √2 for two thirds of the data, against ‖x‖ ≤ 1, and u leaves [0, 1] beyond [−1, 1]. The change of scale leaves "
    "u(w·x) alone but makes a step of the algorithms half as long; the experiment uses x as it is.",
)
def data_satisfy_the_model(values: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Norms, scores, means and the floor."""
    named = sc.inputs(**{f"x{k}": value for k, value in enumerate(values)})
    noise = []
    for x in named:
        mean = (1 + x) / 2
        yield sc.at_most((x**2 + 1) / trial["scale"], 1, "‖x‖²")
        yield sc.at_most(abs(x), 1, "|w·x|, the same for √2 w and x/√2")
        yield sc.at_most(mean, 1, "E[y|x]")
        yield sc.at_least(mean, 0, "E[y|x]")
        noise.append(mean * (1 - mean))
    middle = sc.total((1 + x) / 2 for x in named) / len(values)
    yield sc.equal(sc.total(noise) / len(values), Fraction(1, 3) * middle * (1 - middle), "error of E[y|x] over the variance of y")


@sc.claim(
    "KK-E1d",
    place=CITATION + ", ours",
    kind=sc.EXPERIMENT,
    says=r"On the synthetic data, from 20 rounds of L-Isotron to 200 the error on the sample (over the variance of y) falls, to below the "
    r"1/3 of E[y|x] itself, while the expected error rises.",
    instances=draws,
    knobs={"early": 20, "late": 200},
    mutants={"2 and 20 rounds": {"early": 2, "late": 20}, "200 and 20": {"early": 200, "late": 20}},
    note="0.30 to 0.19 and 0.336 to 0.348: the iterate must be chosen, as the paper says after Theorem 1. The expected error is a sum over "
    "all 1197 points.",
)
def more_rounds_overfit(seed: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both errors at both rounds."""
    sample = draw(np.random.default_rng(seed))
    fits = [l_isotron(sample.features, sample.labels, max_iter=trial[name]) for name in ("early", "late")]
    seen = [float(fit.errors[-1]) / VARIANCE for fit in fits]
    true = [expected_error(fit.model) for fit in fits]
    yield sc.at_most(seen[1], seen[0], "error on the sample, late against early", strict=True)
    yield sc.at_most(seen[1], 1 / 3, "late error on the sample against that of E[y|x]")
    yield sc.at_least(true[1], true[0], "expected error, late against early", strict=True)
