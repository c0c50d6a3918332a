"""`python -m simopt.coq EVIDENCE FOLDER`: the kernel's verdict on all proof files, their mutants, refutations and certificates.

Goes on where it was interrupted. `--seconds` takes a sample: files in the order of their digests, as many as begin in that time.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simopt import recheck
from simopt.coq.catalogue import certificates
from simopt.coq.certificate import heading
from simopt.coq.headlines import FILE, HEADLINES
from simopt.coq.kernel import Kernel, Result, available
from simopt.coq.mutant import mutant
from simopt.coq.preludes import source
from simopt.coq.theory import NoTheorem, export, title

Job = tuple[str, Callable[[], Result]]


def _jobs(kernel: Kernel, evidence: Path) -> list[tuple[str, str, Job]]:
    """(kind, digest that orders them, job) of every proof file and its mutant."""
    made: list[tuple[str, str, Job]] = []
    for path in sorted(evidence.glob("*.proof.json")):
        document = recheck.read(str(path))
        recheck.check(document)
        name, order = title(document["row"]), str(document["digest"])
        text, false = export(document), export(mutant(document))
        made.append(("proof file", order, (name, lambda name=name, text=text: kernel.check(name, text))))  # type: ignore[misc]
        made.append(("mutant", order, (f"{name}_mutant", lambda name=f"{name}_mutant", text=false: kernel.refused(name, text))))  # type: ignore[misc]
    for path in sorted(evidence.glob("*_refuted.v")):
        text = path.read_text(encoding="utf-8")
        made.append(("refutation", _order(text), (path.stem, lambda name=path.stem, text=text: kernel.check(name, text))))  # type: ignore[misc]
    text = source(FILE)
    made.append(("headlines", _order(text), (FILE, lambda text=text: kernel.check(FILE, text))))  # type: ignore[misc]
    for headline in HEADLINES:
        name, false = f"{title(headline.claim)}_headline_mutant", headline.mutant()
        made.append(("mutant", _order(text), (name, lambda name=name, text=false: kernel.refused(name, text))))  # type: ignore[misc]
    for problem, found in certificates():
        if isinstance(found, NoTheorem):
            sys.stdout.write(f"no certificate of {problem}: {found}\n")
            continue
        name = f"{title(problem)}_certificate"
        text, false = found.text(name, heading(problem, found)), found.mutant(f"{name}_mutant")
        made.append(("certificate", _order(text), (name, lambda name=name, text=text: kernel.check(name, text))))  # type: ignore[misc]
        made.append(("mutant", _order(text), (f"{name}_mutant", lambda name=f"{name}_mutant", text=false: kernel.refused(name, text))))  # type: ignore[misc]
    return sorted(made, key=lambda job: (job[1], job[0]))


def _order(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def main(arguments: list[str] | None = None) -> int:
    """Run all of it; exit status 0 if everything was accepted that should be, and all mutants were refused."""
    parser = argparse.ArgumentParser(prog="python -m simopt.coq", description=__doc__)
    parser.add_argument("evidence", type=Path, help="folder that simopt verify --evidence left behind")
    parser.add_argument("folder", type=Path, help="folder for the files of Coq")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no file later than this: a sample")
    parser.add_argument("--again", action="store_true", help="hand what was accepted to coqchk too")
    options = parser.parse_args(arguments)
    if not available():
        sys.stdout.write("NOT RUN: there is no coqc with coq-interval here (Debian: apt-get install coq libcoq-interval)\n")
        return 0
    kernel = Kernel(options.folder)
    start = time.monotonic()
    jobs = _jobs(kernel, options.evidence)

    def run(job: tuple[str, str, Job]) -> tuple[str, str, Result | None]:
        late = time.monotonic() - start > options.seconds
        return job[0], job[2][0], None if late else job[2][1]()

    with ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(run, jobs))
    return _told(kernel, done, options.again)


def _told(kernel: Kernel, done: list[tuple[str, str, Result | None]], again: bool) -> int:
    wrong = 0
    for kind in dict.fromkeys(kind for kind, _, _ in done):
        results = {name: result for k, name, result in done if k == kind and result is not None}
        skipped = sum(k == kind and result is None for k, _, result in done)
        good = sum(result.accepted for result in results.values())
        word = "refused" if kind == "mutant" else "accepted"
        times = sorted(result.seconds for result in results.values()) or [0.0]
        sys.stdout.write(
            f"{kind}: {good} of {len(results)} {word}; median {statistics.median(times):.1f} s, longest {times[-1]:.1f} s, "
            f"{sum(times):.0f} s in all" + (f"; {skipped} left out of the sample" if skipped else "") + "\n"
        )
        for name, result in results.items():
            if not result.accepted or result.foreign:
                wrong += 1
                words = " ".join(result.said.split()) if not result.accepted else f"assumes {', '.join(result.foreign)}"
                sys.stdout.write(f"    NOT {word.upper()} {name}: {words[:400]}\n")
    accepted = [name for kind, name, result in done if kind != "mutant" and result is not None and result.accepted]
    sets: dict[tuple[str, ...], int] = {}
    for name in accepted:
        groups = tuple(sorted({"Coq's 63-bit integers" if "nt63." in axiom else axiom for axiom in kernel.known[name].assumptions}))
        sets[groups] = sets.get(groups, 0) + 1
    for groups, count in sorted(sets.items(), key=lambda item: -item[1]):
        sys.stdout.write(f"assumptions of {count} files: {', '.join(groups) or 'none'}\n")
    if again and accepted:
        sound, said = kernel.checked_again(accepted)
        wrong += not sound
        sys.stdout.write(f"coqchk over {len(accepted)} files: {'accepted' if sound else f'NOT ACCEPTED: {said}'}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
