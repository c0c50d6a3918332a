r"""The experiments of §5.3 and Appendix E as claims: Figure 1, the kernel and the error measure, Figure 3.

The protocol is that of `simopt.theorems.ak.protocol`; the tables and figures themselves are recomputed by `simopt reproduce`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.linalg

from simopt.arrays import Array
from simopt.claims import (
    AUDIFFREN_KADRI,
    DEFINITION,
    EXPERIMENT,
    HOLDS,
    REFUTED,
    SUBSTANTIVE,
    TYPO,
    Check,
    Instance,
    Trial,
    at_most,
    claim,
    distinct,
    equal,
)
from simopt.datasets import Dataset
from simopt.similarities import Gaussian
from simopt.theorems.ak.figure1 import SETTINGS, TREATMENTS, both, implied, quarters
from simopt.theorems.ak.figure3 import SETTINGS as PANELS
from simopt.theorems.ak.figure3 import learn
from simopt.theorems.ak.protocol import Split, data, scaled_error, tuned_power


def seeds(trial: Trial, count: int) -> list[int]:
    """Seeds of draws and splits, as data of an instance."""
    return [int(seed) for seed in trial.rng.integers(2**31, size=count)]


def drawn(name: str, seed: int) -> tuple[Dataset, np.random.Generator]:
    """The data set of one split, and the generator that goes on to split it."""
    rng = np.random.default_rng(seed)
    return data(name, rng), rng


def both_halves(trial: Trial) -> Iterator[Instance]:
    """Random splits of both data sets of Figure 1."""
    for half in SETTINGS:
        for seed in seeds(trial, trial.count(1, 5)):
            yield {"half": half, "seed": seed}


@claim(
    "AK-F1",
    paper=AUDIFFREN_KADRI,
    place="Figure 1, Section 5.3",
    kind=EXPERIMENT,
    expected=HOLDS,
    says=r"A random split of Concrete (m = 1.5, λ = 10^{-2}) and of the synthetic set (m = 1.2, λ = 10^{-5}) in four parts of equal size; "
    r"λ_2 = Φ(λ, Z_1). Then ‖M-RLSR(λ)(Z_i) − KRR(λ_2)(Z_i)‖_H is 0 for i = 1 and positive for i = 2, 3, 4.",
    instances=both_halves,
    resolution=1e-8,  # the synthetic system has condition 1e7, and differences of interest are 1e-4 of ‖f‖
    knobs={"once": True},
    mutants={"λ₂ = Φ(λ, Z_i) on each part": {"once": False}},
    requires=("dataset:concrete",),
    note="The caption says that the solutions differ for Z_1, Z_2 and Z_3; the text of §5.3 has Z_2, Z_3, Z_4, which is checked.",
    cost=2.0,
)
def equal_on_the_first_part_only(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Distances against the radii of both certificates."""
    setting = SETTINGS[instance["half"]]
    parts = quarters(*drawn(setting.dataset, instance["seed"]))
    pairs = list(both(setting, parts)) if trial["once"] else [next(both(setting, [Z])) for Z in parts]
    for i, (f, g) in enumerate(pairs, 1):
        compare = equal if i == 1 else distinct
        yield compare(f.distance(g), 0.0, f"‖f − g‖ on Z{i}", error=f.error + g.error, scale=f.norm())


def repeated_splits(trial: Trial) -> Iterator[Instance]:
    """Seeds of several splits of each half."""
    for half in SETTINGS:
        yield {"half": half, "seeds": seeds(trial, trial.count(3, 15))}


def deviation(instance: Instance, treatment: str, printed: float) -> float:
    """|log| of the ratio of the printed λ₂ and the median over the splits."""
    setting = SETTINGS[instance["half"]]
    pairs = (drawn(setting.dataset, seed) for seed in instance["seeds"])
    return abs(math.log(float(np.median(implied(setting, pairs, treatment))) / printed))


PRINTED = {"Concrete": 5.6e-4, "Synthetic": 6.5e-7}
CORRECTED = {"Concrete": 5.6e-4, "Synthetic": 6.5e-8}
NEAR = math.log(1.25)


@claim(
    "AK-F1num",
    paper=AUDIFFREN_KADRI,
    place="Figure 1, caption",
    kind=EXPERIMENT,
    expected=REFUTED,
    defect=TYPO,
    says=r"For one of the targets as they are, y/max y and standardised targets, the median over random splits of Φ(λ, Z_1), Z_1 "
    r"the first of four equal parts, is within 25 % of the printed λ_2: "
    r"5.6·10^{-4} (Concrete, m = 1.5, λ = 10^{-2}) and 6.5·10^{-7} (synthetic, m = 1.2, λ = 10^{-5}).",
    instances=repeated_splits,
    knobs={"printed": PRINTED},
    mutants={"6.5e-7 → 6.5e-8": {"printed": CORRECTED}},
    requires=("dataset:concrete",),
    note="Concrete is met with the targets as they are, the synthetic value with none. That its exponent is one too large is our guess. "
    "One split moves Φ by 2 %.",
    cost=2.0,
)
def the_printed_parameters_belong_to_each_other(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The best of the three treatments of the targets."""
    printed = trial["printed"][instance["half"]]
    best = min(deviation(instance, treatment, printed) for treatment in TREATMENTS)
    yield at_most(best, NEAR, f"|log(Φ / {printed:g})|, {instance['half']}")


@claim(
    "AK-F1num+",
    paper=AUDIFFREN_KADRI,
    place="Figure 1, caption",
    kind=EXPERIMENT,
    expected=HOLDS,
    says=r"With the targets as they are, the median over random splits of Φ(λ, Z_1) is within 25 % of 5.6·10^{-4} for Concrete (m = 1.5, "
    r"λ = 10^{-2}) and of 6.5·10^{-8} for the synthetic set (m = 1.2, λ = 10^{-5}).",
    instances=repeated_splits,
    knobs={"printed": CORRECTED},
    mutants={"6.5e-8 → 6.5e-7": {"printed": PRINTED}},
    requires=("dataset:concrete",),
    corrects="AK-F1num",
    cost=1.0,
)
def the_parameters_with_the_exponent_corrected(instance: Instance, trial: Trial) -> Iterator[Check]:
    """One treatment for both halves."""
    printed = trial["printed"][instance["half"]]
    yield at_most(deviation(instance, TREATMENTS[0], printed), NEAR, f"|log(Φ / {printed:g})|, {instance['half']}")


def small_sets(trial: Trial) -> Iterator[Instance]:
    """Inputs, targets with a positive maximum, predictions and a scale."""
    for _ in range(trial.count(10, 60)):
        n, p = int(trial.rng.integers(2, 9)), int(trial.rng.integers(1, 4))
        X, y = trial.rng.standard_normal((n, p)), np.abs(trial.rng.standard_normal(n)) + 0.1
        yield {"inputs": X, "targets": y, "predictions": trial.rng.standard_normal(n), "scale": float(np.exp(trial.rng.normal(0, 2)))}


@claim(
    "AK-E.kern",
    paper=AUDIFFREN_KADRI,
    place="Appendix E",
    kind=DEFINITION,
    expected=HOLDS,
    says=r"k_μ(x, x') = exp(−‖x − x'‖²/μ) with μ = (1/n²) Σ_{i,j} ‖x_i − x_j‖², and the scaled error (1/max y) √((1/n) Σ (y_i − f(x_i))²). "
    r"The Gram matrix is positive semidefinite and does not change when all inputs are multiplied by c > 0; the error does not change when "
    r"targets and predictions are.",
    instances=small_sets,
    resolution=1e-10,
    knobs={"pairs": "all"},
    mutants={"μ over pairs i ≠ j": {"pairs": "distinct"}},
)
def gaussian_kernel_and_scaled_error(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The library against the sums written out."""
    X, y, f, c = instance["inputs"], instance["targets"], instance["predictions"], instance["scale"]
    n = len(y)
    squares = np.array([[sum((a - b) ** 2 for a, b in zip(s, t, strict=True)) for t in X] for s in X])
    mu = float(squares.sum()) / (n * n if trial["pairs"] == "all" else n * (n - 1))
    kernel = Gaussian.mean_squared_distance(X)
    K = kernel.gram(X)
    yield equal(kernel.mu, mu, "μ", scale=mu)
    yield equal(K, np.exp(-squares / mu), "k_μ(x_i, x_j)")
    yield equal(Gaussian.mean_squared_distance(c * X).gram(c * X), K, "the kernel of c X")
    yield at_most(-float(np.linalg.eigvalsh(K)[0]), 0.0, "the Gram matrix is positive semidefinite")
    by_hand = math.sqrt(sum((a - b) ** 2 for a, b in zip(y, f, strict=True)) / n) / max(y)
    yield equal(scaled_error(f, y, float(y.max())), by_hand, "the scaled error", scale=by_hand)
    yield equal(scaled_error(c * f, c * y, float((c * y).max())), by_hand, "the scaled error in other units", scale=by_hand)


SHARES = np.array([0.2, 0.4, 0.6, 0.8])
VISIBLE = 0.05


def panels(trial: Trial) -> Iterator[Instance]:
    """The panels of Figure 3 but Housing, whose data may not be passed on, each with seeds of its runs."""
    for panel in ("Concrete", "Yacht", "Synthetic"):
        yield {"panel": panel, "seeds": seeds(trial, trial.count(2, 10)), "limit": trial.count(300, 1000)}


def random_split(panel: str, seed: int, limit: int) -> Split:
    """One 70/30 split of at most `limit` samples."""
    source, rng = drawn(PANELS[panel].dataset, seed)
    return Split.of(source.features, source.targets, rng, limit=limit)


@claim(
    "AK-E.1",
    paper=AUDIFFREN_KADRI,
    place="Figure 3, Appendix E.1",
    kind=EXPERIMENT,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"On each of Concrete (m = 0.1), Yacht (0.5), Housing (0.4), synthetic (0.1): with λ by ten-fold cross-validation and λ_2 "
    r"by Proposition 5.1, "
    r"M-RLSR converges visibly faster than KRR: its test error, averaged over the shares 20, 40, 60 and 80 % of the training data and over "
    r"the runs, is at least 5 % smaller, if λ_2 is computed once from all training data or anew from each share.",
    instances=panels,
    requires=("dataset:concrete", "dataset:yacht"),
    knobs={"visible": VISIBLE},
    mutants={"at most 1 % larger": {"visible": -0.01}},
    note="Proposition 5.1 is stated for m > 1. Figure 3 prints no numbers; 5 % is ours, the better of both readings counts. The text says "
    "that m < 1 'can improve' the speed and shows these four panels; all four are asked for, so that each can refute; all but Housing "
    "are tried. Over ten runs on 400 samples M-RLSR's mean error is 0.98, 1.00, 0.99 and 1.00 times KRR's with λ_2 kept, and 1 with λ_2 "
    "anew (AK-E.1+). Single runs have shown M-RLSR better by up to 46 % on Yacht, and by up to 19 % on Housing (in 30 splits of 300 "
    "samples, whose mean quotient is 0.95: Housing alone would not decide). Quick effort uses 300 samples and two runs, full 1000 and ten.",
    cost=3.0,
)
def small_powers_converge_faster(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The gain over the two readings of λ₂."""
    power = PANELS[instance["panel"]].power
    splits = (random_split(instance["panel"], seed, instance["limit"]) for seed in instance["seeds"])
    runs = [learn(split, SHARES, power, tuned=False) for split in splits]
    ours, once, again = (float(np.mean([getattr(run, name) for run in runs])) for name in ("m_rlsr", "once", "again"))
    yield at_most(ours, (1 - trial["visible"]) * max(once, again), f"mean error of M-RLSR against KRR's, {instance['panel']}")


def whole_parts(trial: Trial) -> Iterator[Instance]:
    """Panels whose fits are well conditioned, so that KRR can be solved by another method to 1e-6."""
    for panel in ("Concrete", "Synthetic"):
        for seed in seeds(trial, trial.count(1, 5)):
            yield {"panel": panel, "seed": seed, "limit": 400}


@claim(
    "AK-E.1+",
    paper=AUDIFFREN_KADRI,
    place="Figure 3, Appendix E.1",
    kind=EXPERIMENT,
    expected=HOLDS,
    says=r"For 0 < m < 1 the global minimiser f ≠ 0 of M-RLSR(λ) is the KRR function of λ_2 = (m λ/2) ‖f‖^{m−2}, on every share of the "
    r"training data: with λ_2 computed from the same data, both learners have the same error at every sample size.",
    instances=whole_parts,
    resolution=1e-6,
    knobs={"with norm": True},
    mutants={"λ₂ = mλ/2": {"with norm": False}},
    requires=("dataset:concrete",),
    corrects="AK-E.1",
    cost=1.5,
)
def the_same_function_at_every_sample_size(instance: Instance, trial: Trial) -> Iterator[Check]:
    """KRR by Cholesky, its norm, and both errors; M-RLSR through the ridge path of its stationary points."""
    split, m = random_split(instance["panel"], instance["seed"], instance["limit"]), PANELS[instance["panel"]].power
    lam = tuned_power(split, m)[1]
    for share in (0.25, 0.5, 1.0):
        part = split.part(share)
        error, log_ridge = part.tested(m, lam)
        a, norm = solved(part, math.exp(log_ridge))
        implied_ridge = 0.5 * m * lam * (norm ** (m - 2) if trial["with norm"] else 1.0)
        yield equal(math.log(implied_ridge), log_ridge, f"log λ₂ at {share:.0%}, {instance['panel']}")
        predictions = part.gram[np.ix_(part.test, part.train)] @ a
        yield equal(scaled_error(predictions, part.targets[part.test], part.top), error, f"test error at {share:.0%}")


def solved(part: Split, ridge: float) -> tuple[Array, float]:
    """KRR's coefficients by a Cholesky factorisation, and ‖f‖."""
    K, y = part.gram[np.ix_(part.train, part.train)], part.targets[part.train]
    a = scipy.linalg.cho_solve(scipy.linalg.cho_factor(K + y.size * ridge * np.eye(y.size)), y)
    return a, math.sqrt(float(a @ K @ a))
