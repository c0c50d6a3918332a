"""`python -m simopt.coq EVIDENCE FOLDER`: the kernel's verdict on proof files, refutations, certificates, headlines, and their mutants.

Goes on where it was interrupted. `--seconds` takes a sample: files in the order of their digests, as many as begin in that time.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from simopt import recheck
from simopt.coq import page
from simopt.coq.catalogue import certificates
from simopt.coq.certificate import heading
from simopt.coq.headlines import FILE, HEADLINES
from simopt.coq.kernel import Kernel, Result, available
from simopt.coq.mutant import claimed, mutant
from simopt.coq.preludes import needed, source
from simopt.coq.theory import NoTheorem, export, title


class Job(NamedTuple):
    """A file for the kernel: of which kind, its name and text."""

    kind: str
    name: str
    text: str

    @property
    def order(self) -> str:
        """By which a sample is taken: the same for the same files, and of all kinds."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def _pair(kind: str, name: str, text: str, false: str) -> Iterator[Job]:
    yield Job(kind, name, text)
    yield Job("mutant", f"{name}_mutant", false)


def _proofs(evidence: Path) -> Iterator[Job]:
    for path in sorted(evidence.glob("*.proof.json")):
        document = recheck.read(str(path))
        recheck.check(document)
        yield from _pair("proof file", title(document["row"]), export(document), export(mutant(document)))


def _refutations(evidence: Path, without: dict[str, str]) -> Iterator[Job]:
    from simopt.claims.refutation import theorem

    for path in sorted(evidence.glob("*.witness.json")):
        try:
            name, text = theorem(path)
            yield from _pair("refutation", name, text, claimed(text))
        except NoTheorem as error:
            without[path.name.removesuffix(".witness.json")] = str(error)


def _certificates(without: dict[str, str]) -> Iterator[Job]:
    for problem, found in certificates():
        if isinstance(found, NoTheorem):
            without[problem] = str(found)
            continue
        name = f"{title(problem)}_certificate"
        yield from _pair("certificate", name, found.text(name, heading(problem, found)), found.mutant(f"{name}_mutant"))


def _headlines() -> Iterator[Job]:
    yield Job("headlines", FILE, source(FILE))
    for headline in HEADLINES:
        yield Job("mutant", f"{title(headline.claim)}_headline_mutant", headline.mutant())


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
    answers = page.Answers()
    jobs = [*_headlines(), *_certificates(answers.without), *_refutations(options.evidence, answers.without), *_proofs(options.evidence)]
    kernel = Kernel(options.folder)
    for text in {tuple(needed(job.text)): job.text for job in jobs}.values():
        kernel.prepare(text)  # before threads need it
    start = time.monotonic()

    def run(job: Job) -> Result | None:
        if time.monotonic() - start > options.seconds and not kernel.answered(job.name, job.text):
            return None
        return (kernel.refused if job.kind == "mutant" else kernel.check)(job.name, job.text)

    ordered = sorted(jobs, key=lambda job: job.order)
    with ThreadPoolExecutor(options.jobs) as pool:
        results = dict(zip(ordered, pool.map(run, ordered), strict=True))
    for job in jobs:
        result = results[job]
        answers.results.setdefault(job.kind, {})
        if result is None:
            answers.left_out[job.kind] = answers.left_out.get(job.kind, 0) + 1
        else:
            answers.results[job.kind][job.name] = result
    texts = {job.name: job.text for job in jobs}
    if options.page is not None:
        page.write(options.page, answers, texts)  # before coqchk, which takes long
    sound = True
    if options.again and answers.accepted:
        sound, said = kernel.checked_again([name for _, name in answers.accepted])
        answers.again = f"coqchk over {len(answers.accepted)} files: {'accepted' if sound else f'NOT ACCEPTED: {said}'}"
        if options.page is not None:
            page.write(options.page, answers, texts)
    sys.stdout.write("\n".join(page.lines(answers)) + "\n")
    return 1 if answers.wrong or not sound else 0


if __name__ == "__main__":
    sys.exit(main())
