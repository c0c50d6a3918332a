"""What a certificate costs: the processor's time of the first `simopt.certify` of a problem, over that of CLARABEL on it.

CLARABEL solves each problem as it comes (default tolerances); its own time is of its call, without CVXPY's canonicalisation. The time of
the certificate includes reading the problem, and a further solve where `certify` asks for one. All is measured in floats and rigorously. A
failed solve is listed and not counted. Files of Netlib, and of Maros and Mészáros, are read from the folder that SIMOPT_INSTANCES names.
Two sections have measures of their own: `fixed`, what a certificate costs whatever its problem, and `memory`.

No part of a case goes on beyond `--limit` seconds of the processor. With `--folder` what was measured is kept there until the run ends
well: a run that was stopped goes on with what is missing.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import cvxpy as cp

import simopt
from benchmarks.pairs import machine, met, one_of, one_thread
from benchmarks.price import fixed, instances, memory, rows
from benchmarks.price.measure import MODES, TOLERANCES, Measurement, TimedCertificate, TimedProblem, measured
from benchmarks.price.models import MODELS, OPTIONS, SEMIDEFINITE
from simopt.core.errors import NotAvailable

LIMIT = 60.0  # seconds
QUICK = 3  # cases of a section, small ones
WIDTH = 100  # letters of a reason
PEERS = ("cvxpy", "clarabel", "highspy")


def literature(quick: bool) -> list[TimedProblem]:
    """All models, or the first ones."""
    cases = [TimedProblem(name, make, promised=name not in SEMIDEFINITE, options=OPTIONS.get(name, {})) for name, make in MODELS.items()]
    return cases[1 : 1 + QUICK] if quick else cases


def from_files(kind: str, quick: bool) -> list[TimedProblem]:
    """The files of SIMOPT_INSTANCES, small ones first."""
    found = instances.files(kind)
    ending = instances.ENDINGS[kind]
    cases = [TimedProblem(path.name.removesuffix(ending), partial(read, path)) for path in found]
    return cases[:QUICK] if quick else cases


def read(path: Path) -> cp.Problem:
    """The problem of a file."""
    return simopt.read(path)


def quantile(values: Sequence[float], fraction: float) -> float:
    """The least value that so large a share of them does not exceed."""
    return sorted(values)[math.ceil(fraction * len(values)) - 1]


def against_target(value: float, bounds: Sequence[float], target: float | None) -> str:
    """A cost against its target; `bounds` are those costs of which only a lower bound is known: one below it can make it larger."""
    if any(bound <= value for bound in bounds):
        return f"at least {value:.3g}" + (f" (target {target:g}: MISSED)" if target and value > target else "")
    return f"{value:.3g}" if target is None else met(value, target)


def counts(outcomes: Sequence[Measurement], least: float = 1.0) -> str:
    """How many of those that should close do, against the target that so large a share of them does; apart those that cannot."""
    words, promised = [], [each for each in outcomes if each.certificates and each.promised]
    for mode in MODES:
        judged = [each.certificates[mode] for each in promised if mode in each.certificates]
        refused, endless = sum(one.failed for one in judged), sum(one.over for one in judged)
        closed = [sum(one.closed <= tol for one in judged) for tol in TOLERANCES]
        besides = Counter(filter(None, (one.nothing_to_close for one in judged)))
        with_optimum = len(promised) - besides.total()
        left = met(with_optimum - closed[0], math.floor((1 - least) * with_optimum + 1e-9))
        words.append(f"{mode}: closed {closed[0]} of {len(promised)} at 1e-8, {closed[1]} at 1e-6, {refused} refused, {endless} endless")
        words[-1] += "".join(f", {number} {meaning}" for meaning, number in besides.items())
        words[-1] += f", left open {'of the others ' if besides else ''}{left}"
    return "; ".join(words)


def costs(outcomes: Sequence[Measurement], mode: str) -> tuple[list[float], list[float]]:
    """Prices of those that were solved and not refused, and among them the lower bounds of those that did not end."""
    known = [each for each in outcomes if mode in each.certificates and not each.certificates[mode].failed]
    return [each.ratio(mode) for each in known], [each.ratio(mode) for each in known if each.certificates[mode].over]


def median_and_p90(outcomes: Sequence[Measurement], half: float | None, high: float | None = None) -> str:
    """Median and p90 of costs, against their targets."""
    words = []
    for mode in MODES:
        found, bounds = costs(outcomes, mode)
        if found:
            typical, most = (against_target(quantile(found, share), bounds, target) for share, target in ((0.5, half), (0.9, high)))
            words.append(f"{mode}: median {typical}, p90 {most}")
    return "; ".join(words)


def by_family(outcomes: Sequence[Measurement]) -> str:
    """Of each family the largest price, against its target."""
    words = []
    for family in dict.fromkeys(each.family for each in outcomes):
        for mode in MODES:
            found, bounds = costs([each for each in outcomes if each.family == family], mode)
            if found:
                words.append(f"{family}, {mode}: {against_target(max(found), bounds, rows.TARGETS.get(family))}")
    return f"largest costs of {'; '.join(words)}; {counts(outcomes)}"


def of_models(outcomes: Sequence[Measurement]) -> str:
    """The summary of the models."""
    return f"{median_and_p90(outcomes, 1.0, 5.0)}; {counts(outcomes)}"


def linear(outcomes: Sequence[Measurement]) -> str:
    """The summary of Netlib's: no price above 10, and all closed."""
    words = []
    for mode in MODES:
        found, bounds = costs(outcomes, mode)
        if found:
            words.append(f"{mode}: largest {against_target(max(found), bounds, 10.0)}")
    return f"{median_and_p90(outcomes, None)}; {'; '.join(words)}; {counts(outcomes)}"


def quadratic(outcomes: Sequence[Measurement]) -> str:
    """The summary of those of Maros and Mészáros: 95 % closed."""
    return f"{median_and_p90(outcomes, 5.0)}; {counts(outcomes, 0.95)}"


# what is not told in parts of the solver's time: title, and the rows as they come
BY_THEMSELVES = {"fixed": (fixed.TITLE, fixed.lines), "memory": (memory.TITLE, memory.lines)}
Section = tuple[str, Callable[[bool], list[TimedProblem]], Callable[[Sequence[Measurement]], str]]
SECTIONS: dict[str, Section] = {
    "models": ("price of a certificate: models of the literature", literature, of_models),
    "rows": ("price of a certificate: control, networks, learning", rows.cases, by_family),
    "lp": ("price of a certificate: Netlib's linear programmes", partial(from_files, "lp"), linear),
    "qp": ("price of a certificate: quadratic programmes of Maros and Mészáros", partial(from_files, "qp"), quadratic),
}


def head() -> str:
    """Names of the columns."""
    columns = f"{'problem':<36} {'variables':>9} {'rows':>6} {'CLARABEL ms':>11} {'float ×':>9} {'rigorous ×':>10}"
    return f"{columns} {'gap':>8} {'rigorous':>8}  {'closed':<12} why open"


def line(each: Measurement) -> str:
    """A row of the table."""
    words = f"{each.name:<36} {each.variables:>9} {each.rows:>6} {1e3 * each.solver:>11.2f}"
    if not each.certificates:
        return f"{words}  not counted: {each.status}"
    judged = [each.certificates.get(mode, TimedCertificate(failed=True)) for mode in MODES]
    times = [f"{'> ' if one.over else ''}{each.ratio(mode):.3g}" for mode, one in zip(MODES, judged, strict=True)]
    gaps = " ".join(f"{'' if one.over or one.failed else f'{one.gap:.0e}':>8}" for one in judged)
    closed = " ".join("refused" if one.failed else "open" if math.isinf(one.closed) else f"{one.closed:.0e}" for one in judged)
    reasons = dict.fromkeys(" ".join(one.open.split())[:WIDTH] for one in judged if one.open and one.closed > min(TOLERANCES))
    return (
        f"{words} {times[0]:>9} {times[1]:>10} {gaps}  {closed:<12} {' | '.join([each.status] * bool(each.status) + [*reasons])}".rstrip()
    )


def outcomes(name: str, cases: Sequence[TimedProblem], limit: float, folder: Path | None) -> Iterator[Measurement]:
    """Each case measured, or as it was kept."""
    for number, case in enumerate(cases, 1):
        kept = None if folder is None else folder / name / f"{number:03} {limit:g}s {case.name.replace('/', ' ')}.json"
        if kept is not None and kept.exists():
            yield Measurement.of(json.loads(kept.read_text(encoding="utf-8")))
            continue
        print(f"[{name}: {number} of {len(cases)}, {case.name}]", file=sys.stderr, flush=True)
        found = measured(case, limit)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            partly = kept.with_suffix(".part")
            partly.write_text(json.dumps(found.stored), encoding="utf-8")
            partly.replace(kept)
        yield found


def forget(folder: Path) -> None:
    """What was kept of a run that has ended well."""
    for path in (*folder.glob("*/*.json"), *folder.glob("*/*.part")):
        path.unlink()


def warm() -> None:
    """What the first certificate of a process imports and compiles is told by `fixed` alone."""
    problem = rows.quantile(40)
    problem.solve(solver=cp.CLARABEL)
    for rigorous in MODES.values():
        simopt.certify(problem, rigorous=rigorous)


def main() -> None:
    """All sections, or those named."""
    known = (*BY_THEMSELVES, *SECTIONS)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = one_of(*known)
    parser.add_argument(
        "--sections", type=lambda text: [listed(part) for part in text.split(",")], help=f"some of {','.join(known)} (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="few small cases, to see that it runs")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds of the processor for each part of a case (default: %(default)g)"
    )
    parser.add_argument("--cases", help="only those whose name has one of these words, with commas between")
    parser.add_argument("--folder", type=Path, help="where what was measured is kept until the run ends well")
    options = parser.parse_args()
    warm()
    for name in options.sections or known:
        if name in BY_THEMSELVES:
            heading, printed = BY_THEMSELVES[name]
            print(f"\n## {heading}\n{machine(*PEERS)}", flush=True)
            with one_thread():
                for row in printed(options.quick):
                    print(row, flush=True)
            continue
        title, made, summary = SECTIONS[name]
        try:
            cases = made(options.quick)
        except NotAvailable as error:
            print(f"[{name}: left out. {error}]", file=sys.stderr, flush=True)
            continue
        chosen = [case for case in cases if options.cases is None or any(word in case.name for word in options.cases.split(","))]
        print(f"\n## {title}\n{machine(*PEERS)}\n{head()}", flush=True)
        found = []
        for each in outcomes(name, chosen, options.limit, options.folder):
            print(line(each), flush=True)
            found.append(each)
        print(summary(found), flush=True)
    if options.folder is not None:
        forget(options.folder)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        main()
