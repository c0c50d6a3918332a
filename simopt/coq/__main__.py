"""`python -m simopt.coq EVIDENCE FOLDER`: the kernel's verdict on proof files, refutations, certificates, headlines, and their mutants.

Goes on where it was interrupted. `--seconds` takes a sample: files in the order of their digests, as many as begin in that time.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import BoundedSemaphore

from simopt import recheck
from simopt.claims import witness
from simopt.coq import page
from simopt.coq.catalogue import rational, smallest
from simopt.coq.certificate import heading
from simopt.coq.headlines import FILES, HEADLINES
from simopt.coq.kernel import CoqKernel, Result, available
from simopt.coq.mutant import claimed, mutant
from simopt.coq.preludes import needed, source
from simopt.coq.theory import NoTheorem, export, title
from simopt.coq.unstated import VERDICTS
from simopt.coq.unstated import rows as read_rows


@dataclass(frozen=True, eq=False)
class Job:
    """A file for the kernel: of which kind and claim or problem, its name, and what makes its text (or says that there is none)."""

    kind: str
    of: str
    name: str
    text: Callable[[], str]

    @property
    def pair(self) -> str:
        """The name of the file that a mutant is one of."""
        return self.name.removesuffix("_mutant")

    @property
    def order(self) -> str:
        """By which a sample is taken: always the same, and of all kinds."""
        return hashlib.sha256(self.name.encode()).hexdigest()


def _pair(kind: str, of: str, name: str, made: Callable[[], tuple[str, str]]) -> Iterator[Job]:
    """A file and its mutant, made together when one of them is asked for."""
    both = cache(made)
    yield Job(kind, of, name, lambda: both()[0])
    yield Job("mutant", of, f"{name}_mutant", lambda: both()[1])


def _proofs(evidence: Path) -> Iterator[Job]:
    for path in sorted(evidence.glob("*.proof.json")):

        def made(path: Path = path) -> tuple[str, str]:
            document = recheck.read(str(path))
            recheck.check(document)
            return export(document), export(mutant(document))

        row = str(recheck.read(str(path))["row"])
        yield from _pair("proof file", row, title(row), made)


def _refutations(evidence: Path) -> Iterator[Job]:
    from simopt.coq.refutation import theorem

    for path in sorted(evidence.glob("*.witness.json")):

        def made(path: Path = path) -> tuple[str, str]:
            text = theorem(path)[1]
            return text, claimed(text)

        row = witness.read(path).row
        yield from _pair("refutation", row, f"{title(row)}_refuted", made)


def _certificates() -> Iterator[Job]:
    for problem in rational():
        name = f"{title(problem)}_certificate"

        def made(problem: str = problem, name: str = name) -> tuple[str, str]:
            found = smallest(problem)
            return found.text(name, heading(problem, found)), found.mutant(f"{name}_mutant")

        yield from _pair("certificate", problem, name, made)


def _headlines() -> Iterator[Job]:
    for name in FILES:
        yield Job("headlines", "", name, partial(source, name))
    for headline in HEADLINES:
        yield Job("mutant", headline.claim, f"{title(headline.claim)}_headline_mutant", headline.mutant)


def main(arguments: list[str] | None = None) -> int:
    """Run all of it; exit status 0 if everything was accepted that should be, and all mutants were refused."""
    parser = argparse.ArgumentParser(prog="python -m simopt.coq", description=__doc__)
    parser.add_argument("evidence", type=Path, help="folder that simopt verify --evidence left behind")
    parser.add_argument("folder", type=Path, help="folder for the files of Coq")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no file later than this: a sample")
    parser.add_argument("--again", action="store_true", help="hand what was accepted to coqchk too")
    parser.add_argument("--page", type=Path, help="put the answers between the markers of this page")
    options = parser.parse_args(arguments)
    if not available():
        sys.stdout.write("NOT RUN: there is no coqc with coq-interval here (Debian: apt-get install coq libcoq-interval)\n")
        return 0
    if options.page is not None and not (options.evidence / VERDICTS).is_file():
        parser.error(f"--page: {options.evidence} has no {VERDICTS}, which `simopt verify --output` writes")
    rows = read_rows(options.evidence) if options.page is not None else []
    kernel = CoqKernel(options.folder)
    jobs = [*_proofs(options.evidence), *_refutations(options.evidence), *_certificates(), *_headlines()]
    answers, texts = _submit(kernel, jobs, options.jobs, options.seconds)
    if options.page is not None:
        page.write(options.page, answers, texts, rows)  # before coqchk, which takes long
    if options.again:
        answers.again = _again(kernel, [name for _, name in answers.accepted], texts, options.jobs)
        if options.page is not None:
            page.write(options.page, answers, texts, rows)
    sys.stdout.write("\n".join(page.lines(answers)) + "\n")
    return 1 if answers.wrong else 0


def _submit(kernel: CoqKernel, jobs: list[Job], processes: int, seconds: float) -> tuple[page.KernelResults, dict[str, str]]:
    """Put the files to the kernel, as many as begin in time; a text is made here, just before its turn."""
    answers, texts, start = page.KernelResults({job.kind: {} for job in jobs}), dict[str, str](), time.monotonic()
    room, waiting, none = BoundedSemaphore(processes), dict[Job, Future[Result]](), set[str]()
    with ThreadPoolExecutor(processes) as pool:
        for job in sorted(jobs, key=lambda job: job.order):
            if job.pair in none:
                continue
            room.acquire()
            if time.monotonic() - start > seconds:
                answers.left_out[job.kind] = answers.left_out.get(job.kind, 0) + 1
                room.release()
                continue
            try:
                text = job.text()
            except NoTheorem as error:
                answers.without[job.of] = str(error)
                none.add(job.pair)
                room.release()
                continue
            texts[job.name] = text
            answers.stated |= {job.of} if job.kind in ("proof file", "refutation") else set()
            kernel.prepare(text)
            ask = kernel.refused if job.kind == "mutant" else kernel.check
            waiting[job] = pool.submit(ask, job.name, text)
            waiting[job].add_done_callback(lambda _: room.release())
    for job in jobs:
        if job in waiting:
            answers.results[job.kind][job.name] = waiting[job].result()
    return answers, texts


def _again(kernel: CoqKernel, names: list[str], texts: Mapping[str, str], processes: int) -> dict[str, Result]:
    """The answers of coqchk to files that were accepted, and before them to the files that they import."""
    wanted = dict.fromkeys([*(below for name in names for below in needed(texts[name])), *names])
    with ThreadPoolExecutor(processes) as pool:
        return dict(zip(wanted, pool.map(kernel.again, wanted), strict=True))


if __name__ == "__main__":
    sys.exit(main())
