"""Section 4 on the data: RegLand-Sp against KR and RegLand, what KR is for these similarities, and whether those are indefinite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import simopt.claims as sc
from simopt.claims.each_set import claim_on_each, row
from simopt.core.arrays import Array
from simopt.data.datasets import Dataset
from simopt.data.similarities import named
from simopt.theorems.kj.experiments.printed_tables import (
    AT_20,
    KR,
    LAND,
    LAND_SP,
    MANHATTAN,
    SETS,
    SIGMOID,
    SIMILARITIES,
    TABLE_1A,
    half_unit,
)
from simopt.theorems.kj.experiments.protocol import SCALINGS, SPLITS, Landmarks, ScaledSplit, kernel_regression

SECTION = "regression"
BOTH = (SIGMOID, MANHATTAN)


def seeded_sets(trial: sc.Trial, names: Sequence[str], splits: int = SPLITS) -> Iterator[sc.Instance]:
    """One instance a set, with the seeds of its splits."""
    for name in names:
        yield {"row": name, "seeds": [int(seed) for seed in trial.rng.integers(2**31, size=splits)]}


def split_of(data: Dataset, seed: int, trial: sc.Trial, most: int = 1000) -> ScaledSplit:
    """A split of at most `most` samples, at full effort of four times as many."""
    return ScaledSplit.of(data.features, data.targets, np.random.default_rng(seed), limit=trial.count(most, 4 * most))


@claim_on_each(
    "KJ-X1-data",
    SETS,
    section=SECTION,
    place="Section 4, Table 1a, computed anew",
    kind=sc.EXPERIMENT,
    covers=("KJ-X4-data",),
    says=r"On all the sets with the sigmoid and with Manhattan, the **median over nine splits** of the test error of RegLand-Sp with 50 "
    r"landmarks is less than that of KR; and (row KJ-X4-data) its mean with Manhattan is at most that with the sigmoid plus **2√(s² + "
    r"s'²)**, s and s' the deviations over the splits; **if y is taken less its mean over the training part**.",
    instances=lambda trial, names: seeded_sets(trial, names, 9),
    knobs={"landmarks": 50, "manhattan": 50, "centred": True, "share": 1.0},
    mutants={
        "one landmark, y not centred": {"landmarks": 1, "manhattan": 1, "centred": False},
        "one landmark for Manhattan": {"manhattan": 1},
    },
    alone={"": {"mutants": {"less than a tenth of that of KR": {"share": 0.1}}}},  # on Abalone one landmark is enough to be better than KR
    note="In bold: ours. Algorithm 1 has no intercept, and Bodyfat's y lies within 11 per cent of its largest value; without centring, one "
    "man far from the others makes RegLand-Sp with Manhattan worse than KR in about half of the splits, and the mean ten times worse "
    "(kj-table1a). With centring, too, RegLand-Sp is worse than KR in up to one split of ten on Abalone (sigmoid, single points) and of "
    "twenty on PumaDyn-32 (both, 700 training points): five splits, as in the paper, would leave a mean to these, hence nine and medians. "
    "'Match' is what kj-table1a calls inside: two deviations. Scaling and other choices are those of kj-table1a.",
)
def sparse_is_better_on_the_data(instance: sc.Instance, seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Medians and means over the splits, the same splits and pools for both similarities."""
    name = instance["row"]
    data = trial.dataset(SETS[name])
    sparse: dict[str, list[float]] = {similarity: [] for similarity in BOTH}
    base: dict[str, list[float]] = {similarity: [] for similarity in BOTH}
    counts = {SIGMOID: trial["landmarks"], MANHATTAN: trial["manhattan"]}
    for seed in seeds:
        split = split_of(data, seed, trial)
        for similarity in BOTH:
            landmarks = Landmarks.of(split, SIMILARITIES[similarity], np.random.default_rng(seed + 1), pool=300)
            sparse[similarity] += landmarks.sparse([counts[similarity]], centred=trial["centred"])[0]
            base[similarity].append(kernel_regression(split, SIMILARITIES[similarity])[0])
    for similarity in BOTH:
        level = float(np.median(base[similarity]))
        yield sc.at_most(float(np.median(sparse[similarity])), trial["share"] * level, f"{name}, {similarity}", scale=level)
    level = float(np.mean(sparse[SIGMOID]))
    spread = float(np.hypot(np.std(sparse[SIGMOID], ddof=1), np.std(sparse[MANHATTAN], ddof=1)))
    yield sc.at_most(float(np.mean(sparse[MANHATTAN])), level + 2 * spread, name, scale=level, row=row("KJ-X4-data", trial))


def seeds_of_cpu(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Seeds of five splits."""
    yield {"seeds": [int(seed) for seed in trial.rng.integers(2**31, size=5)]}


@sc.claim(
    "KJ-X5",
    section=SECTION,
    place="Section 4, on Figure 1a",
    kind=sc.EXPERIMENT,
    says=r"RegLand-Sp learns more accurate predictors from as many landmarks, 'for instance' on CPUData with the sigmoid and 20 of them: "
    r"its mean error over five splits is less than that of RegLand, and less than 0.02, as printed. The numbers given, 0.016 for RegLand "
    r"and 'less than 0.02' for RegLand-Sp, **do not support it**: the bound is not below 0.016.",
    instances=seeds_of_cpu,
    knobs={"landmarks": 20, "stated": AT_20[LAND_SP]},
    mutants={"'less than 0.002'": {"stated": 0.002}, "one landmark for RegLand-Sp": {"landmarks": 1}},
    requires=("dataset:cpu_small",),
    note="The statement about the data holds; its example is uninformative, not false. 0.002 for 0.02 would be a slip of a digit: ours is "
    "near 0.003, and RegLand's near 0.01.",
)
def sparse_is_more_accurate_than_random_landmarks(seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Means over the splits, and the two printed numbers."""
    data = trial.dataset(SETS["CPUData"])
    errors: dict[str, list[float]] = {LAND: [], LAND_SP: []}
    for seed in seeds:
        landmarks = Landmarks.of(split_of(data, seed, trial, 1500), SIMILARITIES[SIGMOID], np.random.default_rng(seed + 1))
        errors[LAND].append(landmarks.reg_land(20))
        errors[LAND_SP] += landmarks.sparse([trial["landmarks"]])[0]
    land, sparse = (float(np.mean(errors[method])) for method in (LAND, LAND_SP))
    yield sc.at_most(sparse, land, "mean errors", scale=land)
    yield sc.at_most(sparse, trial["stated"], "'less than'", scale=trial["stated"])
    yield sc.at_least(trial["stated"], AT_20[LAND], "what 'less than' leaves open")


def few_points(trial: sc.Trial, names: Sequence[str]) -> Iterator[sc.Instance]:
    """Distinct points of each set, in both scalings."""
    for name in names:
        yield {"row": name, "seed": int(trial.rng.integers(2**31)), "points": trial.count(150, 500)}


@claim_on_each(
    "KJ-X6",
    SETS,
    section=SECTION,
    place="Section 4",
    kind=sc.EXPERIMENT,
    says=r"The sigmoid (a = 1/d, r = −1) and the Manhattan similarity are indefinite on all the sets, features standardised or in "
    r"[0, 1]: K has eigenvalues of both signs, beyond 10⁻⁹ ‖K‖. Manhattan has **exactly one negative** eigenvalue, and values beyond 1, so "
    r"that |K| ≤ 1 fails.",
    instances=few_points,
    knobs={"first": "sigmoid", "second": "manhattan"},
    mutants={"the Gaussian for the sigmoid": {"first": "gaussian-mean-distance"}, "the linear kernel for Manhattan": {"second": "linear"}},
    note="Any two distinct points show that Manhattan is indefinite: [[0, −t], [−t, 0]]. One negative eigenvalue at most, since the 1-norm "
    "of x − y is conditionally negative definite.",
)
def similarities_are_indefinite(row: str, seed: int, points: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Eigenvalues of the symmetric Gram matrices; Weyl's bound for those of the floating-point matrix is far below 1e-9 ‖K‖."""
    everything = np.unique(trial.dataset(SETS[row]).features, axis=0)
    chosen = everything[np.random.default_rng(seed).permutation(len(everything))[:points]]
    for scaling, scaled in SCALINGS.items():
        X = scaled(chosen, chosen)
        for key in ("first", "second"):
            K = named(trial[key], X)(X)
            values = np.linalg.eigvalsh(K)
            size, label = float(np.max(np.abs(values))), f"{row}, {scaling}, {trial[key]}"
            yield sc.at_most(float(values[0]), -1e-9 * size, f"{label}: least eigenvalue", scale=size)
            yield sc.at_least(float(values[-1]), 1e-9 * size, f"{label}: largest eigenvalue", scale=size)
            if key == "second":
                yield sc.at_least(float(values[1]), 0.0, f"{label}: all but one", error=1e-12 * size, scale=size)
                yield sc.at_least(float(np.max(np.abs(K))), 1.0, f"{label}: |K|", strict=True)


@claim_on_each(
    "KJ-X7",
    SETS,
    section=SECTION,
    place="Section 4, the baseline KR",
    kind=sc.EXPERIMENT,
    says=r"KR, 'a popular regression method', **is no baseline for these similarities**: its predictor is the same for K and for −K, so "
    r"that with Manhattan it weights points by ‖x − x'‖₁, the farther the more. On all the sets its mean error is larger than that of a "
    r"constant with both similarities; so are the printed ones, within their rounding. With Manhattan its predictions correlate "
    r"negatively with y.",
    instances=seeded_sets,
    knobs={"shifted": False},
    mutants={"K + s ≥ 0": {"shifted": True}},
    note="Weights that fall with the distance, K + s with the least s that makes them ≥ 0, have a smaller error than the constant on all "
    "six sets. The printed errors are compared with the variance of y in the unit of kj-table1a, y over max |y|.",
)
def kernel_regression_is_worse_than_a_constant(row: str, seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Means over the splits; the printed errors; the mean correlation."""
    name = row
    data = trial.dataset(SETS[name])
    splits = [split_of(data, seed, trial) for seed in seeds]
    constant = float(np.mean([split.constant() for split in splits]))
    variance = float(np.var(data.targets / np.max(np.abs(data.targets))))
    for similarity in BOTH:
        errors = [kernel_regression(split, SIMILARITIES[similarity])[trial["shifted"]] for split in splits]
        yield sc.at_least(float(np.mean(errors)), constant, f"{name}, {similarity}: KR against a constant", scale=constant)
        printed = TABLE_1A[name][similarity, KR][0]
        yield sc.at_least(printed + float(half_unit(printed)), variance, f"{name}, {similarity}: printed", scale=variance)
    pairs = [weighted_by_distance(split, trial["shifted"]) for split in splits]
    apart = max(float(np.max(np.abs(f - g))) for f, g in pairs)
    yield sc.at_most(apart, 0.0, f"{name}: K against −K", error=1e-12)
    correlations = [float(np.corrcoef(f, split.answers)[0, 1]) for (f, _), split in zip(pairs, splits, strict=True)]
    yield sc.at_most(float(np.mean(correlations)), 0.0, f"{name}: correlation with y")


def weighted_by_distance(split: ScaledSplit, shifted: bool) -> tuple[Array, Array]:
    """Σ y_i K/Σ K on the test part for Manhattan (or Manhattan + s ≥ 0), and the same for −K."""
    K = named("manhattan", split.X)(split.queries, split.X)
    K = K - K.min() if shifted else K
    return (K @ split.y) / K.sum(axis=1), (-K @ split.y) / (-K).sum(axis=1)
