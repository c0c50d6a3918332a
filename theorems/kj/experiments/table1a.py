"""Table 1a of Section 4: RegLand-Sp with 50 landmarks against kernel regression, and the baselines that are missing there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

import numpy as np

import simopt.claims as sc
from simopt.claims.tables import Cell, Hypothesis, Run, table
from simopt.core.arrays import Array
from simopt.core.errors import NotAvailable
from simopt.data.datasets import Dataset
from simopt.theorems.kj.experiments.printed_tables import KR, LAND, LAND_SP, MANHATTAN, SETS, SIGMOID, SIMILARITIES, TABLE_1A, half_unit
from simopt.theorems.kj.experiments.protocol import SPLITS, Landmarks, ScaledSplit, kernel_regression, kernel_ridge
from simopt.theorems.kj.experiments.table1_plot import BesidePrinted

COUNT = 50
MOST = 3000  # samples at quick effort
UNIT = "MSE, y / max |y|"
RIDGE, SHIFTED = "ridge on landmarks", "KR, K + s"
CENTRED = f"{LAND_SP}, y centred"
CONSTANT_FIT, KERNEL_RIDGE = "constant", "kernel ridge, Gaussian"
TOGETHER = "All sets"
PAIRS = [(name, similarity) for name in SETS for similarity in (SIGMOID, MANHATTAN)]
BETTER = f"{LAND_SP} below {KR}, of {len(PAIRS)}"
ORDER = f"{LAND_SP}: Manhattan at most Sigmoid, of {len(SETS)}"
NEAR = 2  # chosen with results at hand
NEAR_KR, NEAR_SP = (f"{method} within a factor {NEAR:g} of the printed, of {len(PAIRS)}" for method in (KR, LAND_SP))
WORSE = f"{KR} worse than a constant, of {len(PAIRS)}"

Errors = dict[str, list[float]]


def split_run(dataset: str, seed: int, effort: sc.Effort) -> Run:
    """The run that the table and the figures get the splits of a data set from, so that they are the same."""
    return Run("kj-splits", dataset, seed, effort)


def splits(dataset: str, seed: int, effort: sc.Effort, *, scaling: str = "standardised") -> Iterator[ScaledSplit]:
    """The five splits; at quick effort of at most 3000 samples each."""
    run = split_run(dataset, seed, effort)
    data = run.dataset(dataset)
    for k in range(SPLITS):
        yield ScaledSplit.of(data.features, data.targets, run.stream("split", k), limit=run.count(MOST, data.n), scaling=scaling)


@lru_cache(maxsize=64)
def measured(dataset: str, similarity: str, seed: int, effort: sc.Effort) -> Errors:
    """Errors of all methods split by split, for one similarity (by its printed name)."""
    name = SIMILARITIES[similarity]
    run = split_run(dataset, seed, effort)
    found: Errors = {method: [] for method in (KR, LAND_SP, CENTRED, LAND, RIDGE, SHIFTED)}
    for k, split in enumerate(splits(dataset, seed, effort)):
        landmarks = Landmarks.of(split, name, run.stream("landmarks", k))
        count = min(COUNT, landmarks.train.shape[1])
        found[LAND_SP] += landmarks.sparse([count])[0]
        found[CENTRED] += landmarks.sparse([count], centred=True)[0]
        found[LAND].append(landmarks.reg_land(count))
        found[RIDGE].append(landmarks.ridge(count))
        for method, error in zip((KR, SHIFTED), kernel_regression(split, name), strict=True):
            found[method].append(error)
    return found


@lru_cache(maxsize=64)
def baselines(dataset: str, seed: int, effort: sc.Effort) -> Errors:
    """Errors of what needs none of the similarities."""
    found: Errors = {CONSTANT_FIT: [], KERNEL_RIDGE: []}
    for split in splits(dataset, seed, effort):
        found[CONSTANT_FIT].append(split.constant())
        found[KERNEL_RIDGE].append(kernel_ridge(split))
    return found


def mean(values: Sequence[float] | Array) -> float:
    """Their mean."""
    return float(sum(values)) / len(values)


def printed_cell(row: str, column: str, similarity: str, method: str, errors: Sequence[float]) -> Cell:
    """A cell beside the printed number of this similarity and method, if there is one."""
    value, sd = TABLE_1A[row].get((similarity, method), (None, None))
    rounding = 0.0 if value is None else float(half_unit(value))
    return Cell.of(row, column, errors, printed=value, printed_sd=sd, unit=UNIT, printed_runs=SPLITS, rounding=rounding)


UNITS = {"y brought to [0, 1]": (0.0, 1.0), "y brought to [-1, 1]": (-1.0, 1.0)}
OTHERS = {"Bodyfat": ("bodyfat", "the percentage of fat as target"), "CPUData": ("cpu_act", "the set with 21 features")}
# Members of the families that "PumaDyn" may mean and that are not here: n or f for nonlinear or fairly linear, m or h for medium or high
# noise. With 8 inputs ours is nh, with 32 it is nm as far as can be told from its noise.
ABSENT = {
    "PumaDyn-8": (("pumadyn-8nm", "less noise than ours, nh"), ("pumadyn-8fm", "less noise than ours, nh, and fairly linear")),
    "PumaDyn-32": (("pumadyn-32fm", "as little noise as ours, nm, and fairly linear"),),
}


def otherwise(row: Sequence[Cell], run: Run) -> Iterator[Hypothesis]:
    """Centring, other scalings and units, other data of the same name, and what the effort leaves out."""
    if run.row == TOGETHER:
        yield Hypothesis("with y less its mean over the training part", lambda: list(counts(run.seed, run.effort, CENTRED))[: len(DETAILS)])
        return
    yield Hypothesis("with y less its mean over the training part", partial(_centred, run))
    yield Hypothesis("with features in [0, 1]", partial(_read, run, scaling="unit interval"))
    for says, (low, high) in UNITS.items():
        yield Hypothesis(f"with {says}", partial(_read, run, low=low, high=high))
    if run.row in OTHERS:
        name, says = OTHERS[run.row]
        yield Hypothesis(f"with {says}", partial(_read, run, name=name))
    for name, says in ABSENT.get(run.row, ()):
        yield Hypothesis(f"with {name}, {says},", partial(_absent, name))
    if run.dataset(SETS[run.row]).n > run.count(MOST, 10**9):
        yield Hypothesis("with all samples", partial(_read, run, whole=True))


def _absent(name: str) -> list[Cell]:
    """The combinations that cannot be tried.

    Raises
    ------
    NotAvailable
        always.
    """
    raise NotAvailable(f"{name} was not found in any repository that was searched")


def _centred(run: Run) -> Iterator[Cell]:
    for s in (SIGMOID, MANHATTAN):
        yield printed_cell(run.row, f"{s}, {LAND_SP}", s, LAND_SP, measured(SETS[run.row], s, run.seed, run.effort)[CENTRED])


def _read(
    run: Run,
    *,
    name: str = "",
    scaling: str = "standardised",
    low: float | None = None,
    high: float | None = None,
    whole: bool = False,
) -> Iterator[Cell]:
    """KR and RegLand-Sp for both similarities, on the splits of the table."""
    data = run.dataset(name or SETS[run.row])
    source = split_run(SETS[run.row], run.seed, run.effort)
    limit = data.n if whole else run.count(MOST, data.n)
    found: dict[tuple[str, str], list[float]] = {(s, method): [] for s in (SIGMOID, MANHATTAN) for method in (KR, LAND_SP)}
    for k in range(SPLITS):
        y = data.targets if low is None or high is None else within(data, low, high)
        split = ScaledSplit.of(data.features, y, source.stream("split", k), limit=limit, scaling=scaling)
        for s in (SIGMOID, MANHATTAN):
            landmarks = Landmarks.of(split, SIMILARITIES[s], source.stream("landmarks", k))
            found[s, LAND_SP] += landmarks.sparse([min(COUNT, landmarks.train.shape[1])])[0]
            found[s, KR].append(kernel_regression(split, SIMILARITIES[s])[0])
    for (s, method), errors in found.items():
        yield printed_cell(run.row, f"{s}, {method}", s, method, errors)


def within(data: Dataset, low: float, high: float) -> Array:
    """The targets, their range brought to [low, high]."""
    out: Array = low + (high - low) * (data.targets - data.targets.min()) / float(np.ptp(data.targets))
    return out


def remark(cell: Cell, row: Sequence[Cell]) -> str:
    """How far it is, in numbers that have no unit: as a factor, over KR and over a constant."""
    found = {other.column: other for other in row}
    if cell.row == TOGETHER:
        return together(cell, found)
    printed, similarity = cell.printed or 0.0, cell.column.split(",")[0]
    told = f"Ours is {cell.ours / printed:.2g} times the printed value"
    constant, dense = found[CONSTANT_FIT].ours, found[KERNEL_RIDGE].ours
    if cell.column.endswith(f", {KR}"):
        return f"{told}; a constant has {constant:.2g}, {'less' if constant < cell.ours else 'more'} than KR."
    base = found[f"{similarity}, {KR}"]
    return (
        f"{told}; over KR, which has no unit, {cell.ours / base.ours:.2g} against {printed / (base.printed or 1.0):.2g} printed. "
        f"Kernel ridge regression has {dense:.2g}, {dense / constant:.2f} of the error of a constant."
    )


def together(cell: Cell, cells: dict[str, Cell]) -> str:
    """Which pairs a count misses, and by how much."""
    start = DETAILS[cell.column]
    missing = [
        f"{name.removeprefix(start)} ({other.ours:.2g})" for name, other in cells.items() if name.startswith(start) and misses(other)
    ]
    return f"{cell.ours:.0f} of {cell.printed:.0f}; not for {', '.join(missing)} (in brackets: {start.strip(': ')})."


DETAILS = {
    BETTER: f"{LAND_SP} / {KR}: ",
    ORDER: f"{LAND_SP}, Manhattan / Sigmoid: ",
    NEAR_KR: f"{KR} / printed: ",
    NEAR_SP: f"{LAND_SP} / printed: ",
}


def misses(cell: Cell) -> bool:
    """Whether a ratio is not near 1, if it is one to a printed value, or else exceeds 1."""
    if "/ printed" in cell.column:
        return not 1.0 / NEAR <= cell.ours <= NEAR
    return cell.ours > 1.0


def counts(seed: int, effort: sc.Effort, sparse: str = LAND_SP) -> Iterator[Cell]:
    """The table's statements, as counts over the sets; and the ratios behind them. `sparse` is RegLand-Sp, or that for y less its mean."""
    means = {pair: {m: mean(v) for m, v in measured(SETS[pair[0]], pair[1], seed, effort).items()} for pair in PAIRS}
    ratios = {f"{DETAILS[BETTER]}{', '.join(pair)}": found[sparse] / found[KR] for pair, found in means.items()}
    for name in SETS:
        ratios[f"{DETAILS[ORDER]}{name}"] = means[name, MANHATTAN][sparse] / means[name, SIGMOID][sparse]
    for column, ours, theirs in ((NEAR_KR, KR, KR), (NEAR_SP, sparse, LAND_SP)):
        for (name, s), found in means.items():
            ratios[f"{DETAILS[column]}{name}, {s}"] = found[ours] / TABLE_1A[name][s, theirs][0]
    details = [Cell(TOGETHER, column, value) for column, value in ratios.items()]
    for column, start in DETAILS.items():
        of = [cell for cell in details if cell.column.startswith(start)]
        yield Cell(TOGETHER, column, float(sum(not misses(cell) for cell in of)), printed=float(len(of)))
    constants = {name: mean(baselines(SETS[name], seed, effort)[CONSTANT_FIT]) for name in SETS}
    yield Cell(TOGETHER, WORSE, float(sum(found[KR] > constants[name] for (name, _), found in means.items())))
    yield from details


@table(
    "kj-table1a",
    place="Table 1a, Section 4",
    rows=(*SETS, TOGETHER),
    says="Mean squared error with 50 landmarks, mean and deviation over five splits. Stated: the sets, five random splits, 50 landmarks, "
    "both similarities, fully corrective forward selection with the squared loss. Ours: 70 % for training, features standardised, y "
    "over max |y|, 500 landmarks to select from, no intercept; for RegLand epsilon = 0.1 deviations of y and its penalty by hold-out; "
    "Bodyfat is the density, CPUData the set with 12 features, PumaDyn-8 the variant nh. The scaling of the features (of six tried) and "
    "the unit of y (of four), which the paper does not name, were read off the printed KR, which has no parameter: that KR agrees is "
    "thus no test, that the others do is. Not printed: RegLand-Sp for y less its mean (added after Bodyfat had been seen), RegLand, "
    "ridge on its landmarks, KR with K + s >= 0, a constant, and kernel ridge regression with the Gaussian on 1000 training samples. "
    "Where a printed value is missed, tried in this order: y less its mean, features in [0, 1], y in [0, 1] and in [-1, 1], other data "
    "of the same name (of PumaDyn named only: the members of the family with little noise are not here), all samples. The last row "
    "counts what reproduces, and names what does not. Quick effort: 3000 samples of each set.",
    remark=remark,
    suppose=otherwise,
    plot=BesidePrinted(tuple(SETS), LAND_SP, "{}, {}", CONSTANT_FIT, UNIT),
)
def table1a(row: str, run: Run) -> Iterator[Cell]:
    """One data set, or all."""
    if row == TOGETHER:
        yield from counts(run.seed, run.effort)
        return
    for similarity in (SIGMOID, MANHATTAN):
        for method, errors in measured(SETS[row], similarity, run.seed, run.effort).items():
            yield printed_cell(row, f"{similarity}, {method}", similarity, method, errors)
    for method, errors in baselines(SETS[row], run.seed, run.effort).items():
        yield Cell.of(row, method, errors, unit=UNIT)
