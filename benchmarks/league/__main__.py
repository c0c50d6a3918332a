"""The league: all solvers that are installed, on files, recipes of the catalogue and models of the gallery. docs/league.md is its page.

    make league                       at most three hours; an interrupt loses one run, and the same command goes on
    make league ARGS=--quick          a few small problems, at most ten minutes; the page is printed, not kept
    make league ARGS="--sets gallery --solvers clarabel,scs --hours 0.5"

Linear and quadratic programmes are read from the folder that SIMOPT_INSTANCES names, those of your own from that of --files. What is not at
hand is left out, and the page says so. Runs are those of `simopt.compare_solvers`, and stay in --folder.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

from benchmarks.league import page, play
from benchmarks.league.entries import SETS, Entry, entries
from simopt.compare.record import Record

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "league.md"
HOURS = {False: 2.7, True: 0.12}  # after which no further problem is begun, by --quick
LIMIT = {False: 10.0, True: 2.0}  # seconds of one solve


def main() -> int:
    """The exit status: 130 after an interrupt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few small problems with short limits")
    parser.add_argument("--sets", help=f"some of {','.join(SETS)} (default: all)")
    parser.add_argument("--solvers", help="some of those that are installed (default: all)")
    parser.add_argument("--files", type=Path, metavar="DIR", help="a folder of .mps, .qps, .lp and .cbf files, .gz too, with all below it")
    parser.add_argument("--folder", type=Path, default=ROOT / "simopt-compare", help="where runs are kept (default: simopt-compare/)")
    parser.add_argument("--hours", type=float, help="after which no further problem is begun (default: 2.7; with --quick 0.12)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time: more than one disturb each other, which the page says")
    parser.add_argument("--page", type=Path, help="where the page is written (default: docs/league.md; with --quick it is printed)")
    parser.add_argument("--only-page", action="store_true", help="write the page of what is there; play nothing")
    options = parser.parse_args()
    sets = options.sets.split(",") if options.sets else list(SETS)
    unknown = [name for name in sets if name not in SETS]
    if unknown:
        parser.error(f"no set called {', '.join(unknown)}; there are {', '.join(SETS)}")
    if options.files is not None and not options.files.is_dir():
        parser.error(f"--files: {options.files} is no folder")
    backends, absent = play.taking_part(options.solvers.split(",") if options.solvers else None)
    if not backends:
        parser.error(f"--solvers: none of {options.solvers} is installed")
    jobs = min(options.jobs, os.cpu_count() or 1)
    rules = play.Rules(LIMIT[options.quick], jobs, tuple(each.name for each in backends))
    chosen, missing = entries(sets, options.files, options.quick)
    folder = options.folder / ("league-quick" if options.quick else "league")
    hours = HOURS[options.quick] if options.hours is None else options.hours
    stopped = not options.only_page and not _play(chosen, folder, rules, time.monotonic() + 3600 * hours)
    print("[writing the page: lines that reproduce false claims are run]", file=sys.stderr, flush=True)
    played = [page.load(play.home_of(folder, each), each, play.state_of(folder, each)) for each in chosen]
    text = page.written(played, len(chosen), missing, absent, rules)
    if options.page is None and options.quick:
        print(text)
    else:
        (options.page or PAGE).write_text(text, encoding="utf-8")
    return 130 if stopped else 0


def _play(chosen: list[Entry], folder: Path, rules: play.Rules, end: float) -> bool:
    """Play until all is done or the time is over; False after an interrupt."""
    for number, entry in enumerate(chosen, 1):
        if time.monotonic() > end:
            print(f"[the time is over: {number - 1} of {len(chosen)} problems; the same command goes on]", file=sys.stderr, flush=True)
            break

        def report(done: int, left: int, run: Record, title: str = f"{number}/{len(chosen)} {entry.set} {entry.name}") -> None:
            words = f"{run.cell.solver}{'' if run.cell.options == '{}' else ', tight'}: {run.status}"
            print(
                f"[{title}: {done}/{left} {words}, {run.wall_seconds:.1f} s{f', claim {run.claim_verdict}' if run.claim_verdict else ''}]",
                file=sys.stderr,
                flush=True,
            )

        try:
            play.play(folder, entry, rules, report)
        except KeyboardInterrupt:
            print("[interrupted; the same command goes on from here]", file=sys.stderr, flush=True)
            return False
    return True


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY's of inaccurate answers: the certificate says what they are
        sys.exit(main())
