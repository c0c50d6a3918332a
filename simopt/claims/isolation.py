"""Witness files in a process of their own, which may die of them.

A check may do anything with an instance that is none of its own. A library in C aborts where it gets no memory, or computes for hours and
ignores signals. That ends this process only, and becomes one line that names the file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from simopt.claims import catalogue, witness
from simopt.claims.claim import Claim
from simopt.claims.serialization import Sent, received, sent
from simopt.claims.witness import BadWitness, Witness
from simopt.processes.worker import Died, Workers, flush, forkable

GRACE = 10.0  # seconds beyond its time after which a process that does not end by itself is killed
Work = Callable[..., Any]


class IsolatedProcess:
    """A process that works on witness files, one after another; it is replaced when it dies."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def call(self, work: Work, path: str | Path, seconds: float, *arguments: Any) -> tuple[Claim, Witness, Any]:
        """The claim of a witness file, the witness, and what `work(claim, witness, path, *arguments)` returns there.

        Raises
        ------
        BadWitness
            if the file is corrupt or of an unknown format, or if its claim does not decide its row. Also if the process dies of it or is
            not done after so many seconds.
        UnknownName
            if there is no such claim.
        """
        found = witness.read(path)
        claim = catalogue.find(found.claim)
        if found.row not in claim.rows:
            raise BadWitness(f"{path}: claim {claim.id} does not decide row {found.row!r}; it decides {', '.join(claim.rows)}")
        try:
            return claim, found, self._workers.call(work, sent(claim), found, str(path), arguments, seconds=seconds + GRACE)
        except (Died, TimeoutError) as error:
            why = str(error) or f"it takes longer than {seconds:g} s"
            raise BadWitness(f"{path}: {claim.id} cannot check the instance of this file ({why})") from error


@contextmanager
def isolated_process() -> Iterator[IsolatedProcess]:
    """A process for as long as this is open: a copy of this one where that is safe, else a fresh one, which is kept for the next time."""
    if not forkable():
        yield IsolatedProcess(_pool())
        return
    with closing(Workers(_answer, fork=True)) as workers:
        yield IsolatedProcess(workers)


@cache
def _pool() -> Workers:
    return Workers(_answer)


def _answer(work: Work, claim: Sent, recorded: Witness, path: str, arguments: tuple[Any, ...]) -> Any:
    with _silent():
        return work(received(claim), recorded, path, *arguments)


@contextmanager
def _silent() -> Iterator[None]:
    """Keep what is written to standard error until the work is done: the end of a process that dies is told in one line, not in its own."""
    try:
        words, before = tempfile.TemporaryFile(), os.dup(2)
    except OSError:  # a full disk, or no standard error
        yield
        return
    os.dup2(words.fileno(), 2)
    try:
        yield
    finally:
        flush()
        os.dup2(before, 2)
        os.close(before)
        words.seek(0)
        with suppress(OSError), words:
            while told := words.read(1 << 16):
                os.write(2, told)
