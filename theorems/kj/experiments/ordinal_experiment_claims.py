r"""Section 4 and Appendix G on the data: more landmarks are better, and better than KR; the sigmoid against Manhattan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import simopt.claims as sc
from simopt.claims.each_set import FETCHED, claim_on_each, row
from simopt.core.arrays import Array
from simopt.theorems.kj.experiments.experiment_claims import seeded_sets, split_of
from simopt.theorems.kj.experiments.ordinal_protocol import BINS, SCALE, OrdinalLandmarks, OrdinalSplit, binned, kernel_regression
from simopt.theorems.kj.experiments.printed_ordinal import ORDINAL_SETS, WINES
from simopt.theorems.kj.experiments.printed_tables import EUCLIDEAN, GAUSSIAN, MANHATTAN, SETS, SIGMOID, SIMILARITIES
from simopt.theorems.kj.experiments.protocol import Landmarks, insensitive
from simopt.theorems.kj.experiments.protocol import kernel_regression as regression_by_weights

SECTION = "ordinal"
THREE = (SIGMOID, MANHATTAN, GAUSSIAN)
STRENGTH = (1e-8,)
RIDGE = 1e-8
FEW, MANY = 5, 50
ALTERED = {"as many landmarks": {"few": MANY}, "less by two deviations": {"deviations": -2.0}}
WITHOUT_LANDMARKS = {"as many landmarks": {"few": MANY}, "few landmarks against KR": {"many": 1, "few": 1}}
FAR_POINTS = ("CPUData", EUCLIDEAN)  # a mean that a few test points decide


def ordinal_splits(row: str, seeds: list[int], trial: sc.Trial) -> list[OrdinalSplit]:
    """Splits of at most 1000 samples, of wine 2000, where errors differ by less; at full effort of four times as many."""
    name = row
    data = trial.dataset(ORDINAL_SETS[name])
    y, classes = (data.targets, SCALE) if name in WINES else (binned(data.targets, BINS), BINS)
    most = 2000 if name in WINES else 1000
    limit = trial.count(most, 4 * most)
    return [OrdinalSplit.of(data.features, y, classes, np.random.default_rng(seed), limit=limit) for seed in seeds]


def errors(splits: list[OrdinalSplit], similarity: str, numbers: tuple[int, ...], seeds: list[int]) -> tuple[Array, Array]:
    """Errors of ORLand (splits, numbers) and of KR (splits,)."""
    kind = SIMILARITIES[similarity]
    ours, base = [], []
    for split, seed in zip(splits, seeds, strict=True):
        landmarks = OrdinalLandmarks.of(split, kind, np.random.default_rng(seed + 1), pool=max(numbers))
        ours.append([landmarks.orland(count, strengths=STRENGTH) for count in numbers])
        base.append(kernel_regression(split, kind)[0])
    return np.array(ours), np.array(base)


@claim_on_each(
    "KJ-X8",
    ORDINAL_SETS,
    section=SECTION,
    place="Figures 1b, 2c and 2d, and Table 1b, computed anew",
    kind=sc.EXPERIMENT,
    covers=("KJ-X2-data", "KJ-X9-data"),
    says=r"The error of ORLand falls as the number of landmarks grows, and is less than that of KR: on all the sets with the sigmoid, "
    r"Manhattan and the Gaussian the mean over five splits **with 50 landmarks is less than with 5, and less than that of KR**. Row "
    r"KJ-X2-data: so it is in their cases of Table 1b. Row KJ-X9-data: the mean with the sigmoid is at most that with Manhattan **plus "
    r"2√(s² + s'²)**, s and s' the deviations over the splits, ",
    alone={
        "": {
            "says": "on Wine-Red. **The exception of Table 1b, Wine-White with the sigmoid, is none here.**",
            "mutants": {**ALTERED, "few landmarks against KR": {"many": FEW, "few": 1}},  # five are enough for binned targets
        },
        FETCHED: {"says": "on Bank-8.", "mutants": ALTERED},
    },
    instances=seeded_sets,
    knobs={"few": FEW, "many": MANY, "deviations": 2.0},
    note="In bold: ours; the figures print no numbers. With 5 landmarks ORLand is worse than KR on wine. λ is 10⁻⁸ of the mean of ‖ψ‖², "
    "the other choices are those of kj-table1b; errors at numbers in between are in kj-figure1b and kj-figure2cd. KJ-X8-regression is "
    "about the other half of the figures. KJ-X9-data allows two deviations because the means are close: over seeds 5 to 14 that of the "
    "sigmoid was the smaller one ten times on Bank-8, nine times on Wine-Red.",
)
def more_landmarks_are_better(instance: sc.Instance, seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Means over the splits, the same splits and landmarks for both numbers."""
    name = instance["row"]
    splits = ordinal_splits(name, seeds, trial)
    found: dict[str, Array] = {}
    for similarity in THREE:
        ours, base = errors(splits, similarity, (trial["few"], trial["many"]), seeds)
        few, many, level = float(ours[:, 0].mean()), float(ours[:, 1].mean()), float(base.mean())
        label = f"{name}, {similarity}"
        yield sc.at_most(many, few, f"{label}: more landmarks", scale=few, strict=True)
        yield sc.at_most(many, level, f"{label}: against KR", scale=level, row="" if similarity == GAUSSIAN else row("KJ-X2-data", trial))
        found[similarity] = ours[:, 1]
    if name in ("Wine-Red", "Bank-8"):
        level = float(found[MANHATTAN].mean())
        spread = float(np.hypot(np.std(found[SIGMOID], ddof=1), np.std(found[MANHATTAN], ddof=1)))
        yield sc.at_most(
            float(found[SIGMOID].mean()), level + trial["deviations"] * spread, name, scale=level, row=row("KJ-X9-data", trial)
        )


@claim_on_each(
    "KJ-X8-regression",
    SETS,
    section=SECTION,
    place="Figures 1a, 2a and 2b, computed anew",
    kind=sc.EXPERIMENT,
    says=r"The error of RegLand falls as the number of landmarks grows, and is less than that of KR: on all the sets with the sigmoid, "
    r"Manhattan, the Gaussian and −‖x − x'‖² the median over five splits **with 50 landmarks is less than with 5, and less than that of "
    r"KR, if y is taken less its mean over the training part**.",
    alone={
        "": {"mutants": WITHOUT_LANDMARKS},
        FETCHED: {
            "says": " **With −‖x − x'‖² on CPUData only the latter.**",
            "mutants": {**WITHOUT_LANDMARKS, "y as it is": {"centred": False}},  # which matters on Bodyfat
        },
    },
    instances=seeded_sets,
    knobs={"few": FEW, "many": MANY, "centred": True},
    note="In bold: ours; the figures print no numbers. RegLand has no intercept; without centring it is worse than KR on Bodyfat, where y "
    "is nearly constant (kj-figure1a, kj-figure2ab). RegLand-Sp, which nothing penalises, may rise again from 50 to 100 landmarks. On "
    "CPUData −‖x − x'‖² sees a few far points as very far: three of 300 test points carry up to 95 % of the squared error, which for two "
    "of 45 seeds was larger with 50 landmarks than with 5. λ is 10⁻⁸ of the mean of ‖ψ‖² over the deviation of y, the other choices are "
    "those of kj-table1a.",
)
def more_landmarks_are_better_for_regression(row: str, seeds: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Medians over the splits, the same splits and landmarks for both numbers."""
    name = row
    data = trial.dataset(SETS[name])
    for similarity, kind in SIMILARITIES.items():
        ours, base = [], []
        for seed in seeds:
            split = split_of(data, seed, trial, 2000 if name == "PumaDyn-32" else 1000)  # errors there differ by less
            centre = float(split.y.mean()) if trial["centred"] else 0.0
            landmarks = Landmarks.of(split, kind, np.random.default_rng(seed + 1), pool=max(trial["few"], trial["many"]))
            pair = []
            for count in (trial["few"], trial["many"]):
                w = insensitive(np.ascontiguousarray(landmarks.train[:, :count]), split.y - centre, RIDGE)
                pair.append(split.error(landmarks.test[:, :count] @ w + centre))
            ours.append(pair)
            base.append(regression_by_weights(split, kind)[0])
        few, many = np.median(ours, axis=0)
        level = float(np.median(base))
        if (name, similarity) != FAR_POINTS:
            yield sc.at_most(float(many), float(few), f"{name}, {similarity}: more landmarks", scale=float(few), strict=True)
        yield sc.at_most(float(many), level, f"{name}, {similarity}: against KR", scale=level)
