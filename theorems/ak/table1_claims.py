"""Claims about Table 1: the synthetic row, which lies below the noise floor, the row of Yacht, and the rows that come out again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import simopt.claims as sc
from simopt.claims.each_set import claim_on_each
from simopt.core.arrays import Array
from simopt.data.datasets import Dataset, friedman, load_dataset
from simopt.data.similarities import Gaussian
from simopt.theorems.ak.protocol import REGULARIZATIONS, RIDGES, TRAINED, Split, last_best, scaled_error, standardised, with_subject
from simopt.theorems.ak.ridge_path_errors import HeldOut
from simopt.theorems.ak.table1 import PRINTED as TABLE

RUNS = 10  # runs of the paper
TEST = 600  # 30 % of 2000
POWER = 0.1
PRINTED = {"KRR": 3.19e-2, "M-RLSR": 1.26e-2}
YACHT = (0.165, 1.13e-2)  # printed for KRR: mean and standard deviation


def ten_runs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Seeds of ten draws of the synthetic set, the paper's number of runs."""
    for _ in range(trial.count(4, 40)):
        yield {"seeds": [int(seed) for seed in trial.rng.integers(2**31, size=RUNS)]}


def floor(seeds: list[int], noise: float) -> float:
    """Mean over the runs of the test error of the regression function itself, scaled by the maximum of all 2000 targets (the larger)."""
    errors = []
    for seed in seeds:
        noisy, clean = (friedman(np.random.default_rng(seed), noise=sd) for sd in (noise, 0.0))
        errors.append(scaled_error(clean.targets[:TEST], noisy.targets[:TEST], float(noisy.targets.max())))
    return float(np.mean(errors))


@sc.claim(
    "AK-Tab1",
    place="Table 1, Synthetic",
    kind=sc.EXPERIMENT,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"On Friedman's function with noise N(0, 1), 2000 samples of which 600 for testing, the mean over ten runs of RMSE/max y can be "
    r"3.19·10^{-2} (KRR) and 1.26·10^{-2} (M-RLSR, m = 0.4): not less than that of the regression function itself, which nothing that does "
    r"not see the noise of the test set beats in the mean.",
    instances=ten_runs,
    knobs={"noise": 1.0},
    mutants={"noise of sd 0.3": {"noise": 0.3}},
    note="The floor is taken with the larger of the two possible scales, the maximum over all 2000 targets; its mean "
    "over ten runs scatters by 5e-4, the KRR entry is six of these below it. Even the KRR entry would need max y = 31.3.",
)
def the_synthetic_row_can_be_reached(seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """The floor of these ten runs against both printed entries."""
    least = floor(seeds, trial["noise"])
    for learner, printed in PRINTED.items():
        yield sc.at_most(least, printed, f"the noise floor against the printed error of {learner}")


def one_run(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Seeds for the floor, and one more for a fit."""
    for _ in range(trial.count(2, 10)):
        seeds = [int(seed) for seed in trial.rng.integers(2**31, size=RUNS + 1)]
        yield {"seeds": seeds[:RUNS], "seed": seeds[RUNS], "n": trial.count(700, 2000)}


@sc.claim(
    "AK-Tab1+",
    place="Table 1, Synthetic",
    kind=sc.EXPERIMENT,
    says=r"With noise N(0, 1) the mean over ten runs of the regression function's RMSE/max y is at least 0.0325, above "
    r"both printed entries; and every function of the ridge path, so KRR and M-RLSR for every λ and m, has a test error above that of the "
    r"regression function.",
    instances=one_run,
    knobs={"noise": 1.0, "floor": 0.0325},
    mutants={"noise of sd 0.3": {"noise": 0.3}},
    corrects="AK-Tab1",
    note="0.0325 is above the printed 0.0319, and four deviations (5e-4) below the floor, 0.0348 in the mean.",
)
def the_floor_stands_above_both_entries(seeds: list[int], seed: int, n: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The floor of ten runs, then one run with the best function on the whole path."""
    yield sc.at_least(floor(seeds, trial["noise"]), trial["floor"], "the noise floor, mean of ten runs")
    noisy, clean = (friedman(np.random.default_rng(seed), n=n, noise=sd) for sd in (trial["noise"], 0.0))
    split = Split.of(noisy.features, noisy.targets, np.random.default_rng(seed + 1))
    least = scaled_error(clean.targets[split.test], noisy.targets[split.test], split.top)
    yield sc.at_least(split.floor(), least, "the best of the ridge path against the regression function", scale=least)


def yacht_splits(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Seeds of the runs, as many as a mean is taken over."""
    yield {"seeds": [int(seed) for seed in trial.rng.integers(2**31, size=trial.count(3, 10))]}


def mean_errors(seeds: list[int], starts: Sequence[float], scaled: bool) -> tuple[Array, float, float]:
    """Mean test errors of KRR for grids of 25 values of λ₂ from 10^start to 1e3, of M-RLSR(0.1), and the mean log10 λ₂ that it has."""
    source = load_dataset("yacht")
    X = standardised(source.features) if scaled else source.features
    grids = [np.logspace(start, 3, RIDGES.size) for start in starts]
    rows = []
    for seed in seeds:
        split = Split.of(X, source.targets, np.random.default_rng(seed))
        seen = [(HeldOut(split.gram, split.targets, np.setdiff1d(split.train, fold), fold), fold.size) for fold in split.folds]
        found = [split.tested(2.0, validated(seen, 2.0, grid))[0] for grid in grids]
        rows.append((*found, *split.tested(POWER, validated(seen, POWER, REGULARIZATIONS))))
    *krr, m_rlsr, place = np.mean(rows, axis=0)
    return np.array(krr), float(m_rlsr), float(place) / math.log(10)


def validated(seen: Sequence[tuple[HeldOut, int]], power: float, values: Array) -> float:
    """The parameter with the least squared error over the folds, the largest of equals."""
    return last_best(sum(path.fits(np.array([power]), values).mean_square[0] * size for path, size in seen), values)


@sc.claim(
    "AK-Tab1y",
    place="Table 1, Yacht Hydro",
    kind=sc.EXPERIMENT,
    says=r"Yacht, **not reproduced**: with inputs as they are and standardised, the mean test error of KRR, λ_2 by ten-fold "
    r"cross-validation among 25 values from 10^{-7} to 10^3, is below the printed 0.165 by more than three printed standard deviations of "
    r"0.0113; and it is less than ten times that of M-RLSR with m = 0.1, λ by ten-fold cross-validation among 7 values from 10^{-5} to "
    r"10^2.",
    instances=yacht_splits,
    knobs={"start": -7.0},
    mutants={"λ₂ from 1e-3 on": {"start": -3.0}},
    requires=("dataset:yacht",),
    note="Printed 0.165 and 0.0156. M-RLSR's error is reproduced with the inputs as they are, KRR's is half of the "
    "printed one: KRR has 0.165 near λ₂ = 5e-4 only. That is not false: the paper may have had other inputs, or a shorter grid.",
)
def ridge_on_yacht_is_not_reproduced(seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """The larger of both errors of KRR, and of both ratios."""
    pairs = [mean_errors(seeds, [trial["start"]], scaled) for scaled in (False, True)]
    yield sc.at_most(max(float(krr[0]) for krr, _, _ in pairs), YACHT[0] - 3 * YACHT[1], "error of KRR", strict=True)
    yield sc.at_most(max(float(krr[0]) / m_rlsr for krr, m_rlsr, _ in pairs), 10.0, "error of KRR over that of M-RLSR", strict=True)


@sc.claim(
    "AK-Tab1y+",
    place="Table 1, Yacht Hydro, what explains the gap",
    kind=sc.EXPERIMENT,
    says=r"Yacht, inputs as they are: KRR on the grid from 10^{-7} is at least three times worse than M-RLSR with m = "
    r"0.1, because M-RLSR's function is that of KRR with a λ_2 below 10^{-10}; with a grid from 10^{-17} on, KRR's error is at most 1.5 "
    r"times M-RLSR's.",
    instances=yacht_splits,
    knobs={"short": -7.0, "long": -17.0},
    mutants={"both grids from 1e-17 on": {"short": -17.0}, "both grids from 1e-7 on": {"long": -7.0}},
    requires=("dataset:yacht",),
    note="The gap in the table is one of grids, not of learners.",
)
def the_gap_on_yacht_is_one_of_grids(seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """The ratio on both grids and the place of M-RLSR's functions."""
    krr, m_rlsr, place = mean_errors(seeds, [trial["short"], trial["long"]], False)
    yield sc.at_least(float(krr[0]) / m_rlsr, 3.0, "error of KRR over that of M-RLSR, the printed grid")
    yield sc.at_most(place, -10.0, "log10 λ₂ of M-RLSR")
    yield sc.at_most(float(krr[1]) / m_rlsr, 1.5, "error of KRR over that of M-RLSR, a longer grid")


# The rows that come out again, by the targets that bring them out: Energy's is the cooling load, not the heating load.
SETS = {
    "Compressive": "concrete",
    "Slump": "concrete_slump",
    "Wine": "wine_white",
    "Energy": "energy_cooling",
    "Housing": "boston_housing",
}


def splits_of_sets(trial: sc.Trial, names: Sequence[str]) -> Iterator[sc.Instance]:
    """One instance a set, with the seeds of its runs; of a large set at most 400 samples (Compressive 700), at full effort 1000."""
    for name in names:
        seeds = [int(seed) for seed in trial.rng.integers(2**31, size=trial.count(3, RUNS))]
        yield {"row": name, "seeds": seeds, "most": trial.count(700 if name == "Compressive" else 400, 1000)}


@claim_on_each(
    "AK-Tab1-each",
    SETS,
    place="Table 1, rows Compressive, Slump, Wine, Energy and Housing",
    kind=sc.EXPERIMENT,
    says=r"On all the sets, inputs and targets as they are (Energy: the cooling load), the mean test error of KRR, and that of M-RLSR with "
    r"the printed m, λ_2 and λ by ten-fold cross-validation on the printed grids, are **within a factor 1.5 of the printed ones**. On the "
    r"same splits **they differ by at most 15 per cent**, since the functions of M-RLSR are those of KRR.",
    instances=splits_of_sets,
    knobs={"start": -7.0, "factor": 1.5, "apart": 0.15},
    mutants={"λ₂ from 10 on": {"start": 1.0}, "within one per cent": {"factor": 1.01}},
    note="In bold: ours. In standard errors of the two means, ten runs of all samples, KRR is 3.5 away on Compressive, 4.5 on Energy and 6 "
    "on Housing, which two deviations of single runs, what ak-table1 calls inside, mostly hide. Printed for Housing are 0.106 and "
    "0.0726, 32 per cent apart, which ours are not. With the heating load both errors are at most three quarters of the printed ones.",
)
def the_rows_come_out_again(row: str, seeds: list[int], most: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Means over the runs against the printed numbers, and against one another."""
    printed, source, grid = TABLE[row], trial.dataset(SETS[row]), np.logspace(trial["start"], 3, RIDGES.size)
    errors = []
    for seed in seeds:
        split = Split.of(source.features, source.targets, np.random.default_rng(seed), limit=most)
        seen = [(HeldOut(split.gram, split.targets, np.setdiff1d(split.train, fold), fold), fold.size) for fold in split.folds]
        grids = ((2.0, grid), (printed.power, REGULARIZATIONS))
        errors.append([split.tested(power, validated(seen, power, values))[0] for power, values in grids])
    krr, m_rlsr = (float(mean) for mean in np.mean(errors, axis=0))
    for ours, theirs, learner in ((krr, printed.krr[0], "KRR"), (m_rlsr, printed.m_rlsr[0], "M-RLSR")):
        yield sc.at_most(abs(math.log(ours / theirs)), math.log(trial["factor"]), f"{row}, {learner}: |log(ours / printed)|")
    yield sc.at_most(abs(krr - m_rlsr) / krr, trial["apart"], f"{row}: between KRR and M-RLSR")


def speakers(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Seeds of splits."""
    for _ in range(trial.count(1, 2)):
        yield {"seed": int(trial.rng.integers(2**31))}


def inputs_of(source: Dataset, encoding: str) -> Array:
    """The inputs, standardised: with the subject's number, with one indicator for each subject, or neither."""
    if encoding == "number":
        return standardised(with_subject(source))
    known = source.groups if source.groups is not None else np.zeros(source.n)
    return standardised(
        np.column_stack([known[:, None] == np.unique(known), source.features]) if encoding == "indicators" else source.features
    )


def ridge_error(X: Array, y: Array, seed: int, ridge: float) -> float:
    """RMSE / max y of KRR on one split of all samples: one Cholesky factorisation."""
    order = np.random.default_rng(seed).permutation(y.size)
    train, test = np.split(order, [round(TRAINED * y.size)])
    kernel = Gaussian.mean_squared_distance(X[train])
    K = kernel.gram(X[train])
    K[np.diag_indices(train.size)] += train.size * ridge
    a = cho_solve(cho_factor(K, lower=True, overwrite_a=True, check_finite=False), y[train])
    return scaled_error(kernel(X[test], X[train]) @ a, y[test], float(y.max()))


@sc.claim(
    "AK-Tab1p",
    place="Table 1, Parkinson",
    kind=sc.EXPERIMENT,
    says=r"Parkinson (total score, all 5875 samples, inputs standardised): **with the subject number, a column of the file that is no "
    r"measurement, among the inputs** KRR with λ_2 = 10^{-7 + 10/24} of the printed grid has a test error within two printed standard "
    r"deviations, 0.009, of the printed 0.0805. With the 19 measured inputs alone it has more than 0.1.",
    instances=speakers,
    knobs={"told": "number"},
    mutants={"without the subject number": {"told": "nothing"}, "with indicators": {"told": "indicators"}},
    requires=("dataset:parkinsons_total",),
    note="λ_2 is one of the grid's that do best, seen on one split, where a hold-out chose 10^{-7} (0.085). "
    "Random splits put a subject on both sides, so the entry is that of a learner that is told, badly, who speaks. The printed error "
    "of M-RLSR, 0.0556, lies between what a number and what indicators give; no reading of ak-table1 has it (on one split with the number, "
    "the best function of the whole ridge path has 0.084). An indicator for each of the 42 subjects, a mutant here, gives 0.014 to 0.016.",
)
def the_subject_number_is_among_the_inputs(seed: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The same split for both kinds of inputs."""
    source = trial.dataset("parkinsons_total")
    printed, sd = TABLE["Parkinson"].krr
    ridge = float(RIDGES[1])
    error = ridge_error(inputs_of(source, trial["told"]), source.targets, seed, ridge)
    yield sc.at_most(abs(error - printed), 2 * sd, "with the subject number, from the printed error", scale=printed)
    yield sc.at_least(
        ridge_error(inputs_of(source, "nothing"), source.targets, seed, ridge), 0.1, "with the measured inputs", scale=printed
    )
