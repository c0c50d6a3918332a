"""Running what is missing of a plan, one repetition after another, and keeping every run as soon as it is done."""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import astuple, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import simopt
from simopt.compare import folder as files
from simopt.compare import plan as plans
from simopt.compare import processes, system
from simopt.compare.cell import PlannedRun
from simopt.compare.child import ChildAnswer, ChildTask
from simopt.compare.record import INTERRUPTED, Record, from_answer
from simopt.core.threads import until_stopped

BUDGET = 60.0  # seconds of one solver on one instance after which it is not repeated
Progress = Callable[[int, int, Record], None]
log = logging.getLogger("simopt.compare.work")


class PlanRun:
    """A plan under way: `records` grows as runs are done."""

    def __init__(
        self,
        plan: plans.Plan,
        folder: Path | None,
        known: list[Record],
        budget: float,
        jobs: int | None,
        retry: bool,
        progress: Progress | None,
    ) -> None:
        self.plan, self.folder, self.records, self.budget, self.jobs, self.progress = plan, folder, known, budget, jobs, progress
        self.name = uuid4().hex
        self.notified = False
        self.begun = False
        self.left_out = 0  # repetitions for which the budget is used up
        self.done: dict[str, Record] = {r.cell.key: r for r in known if not (retry and not r.success) and _current(r)}
        self.spent: dict[tuple[Any, ...], list[float]] = defaultdict(list)
        for record in self.done.values():
            self.spent[_without_repetition(record.cell)].append(record.wall_seconds)

    def all(self) -> None:
        """Run what is missing, one repetition after another."""
        with processes.keeping(self.name):
            self._all()

    def _all(self) -> None:
        waves = [[task for task in self.plan.wave(each) if task.cell.key not in self.done] for each in range(self.plan.repetitions)]
        left = sum(map(len, waves))
        finished = 0
        for wave in waves:
            missing = [task for task in wave if not self.over(task.cell)]
            self.left_out += len(wave) - len(missing)
            left -= len(wave) - len(missing)
            for record in self.run(missing):
                if record.status == INTERRUPTED:
                    raise KeyboardInterrupt
                if self.folder is not None:
                    files.save(self.folder, record, len(self.records))
                mine = (record.cell.key, record.machine)  # what it repeats is replaced, as its file is, whatever the clock said then
                self.records[:] = [known for known in self.records if (known.cell.key, known.machine) != mine] + [record]
                self.done[record.cell.key] = record
                self.spent[_without_repetition(record.cell)].append(record.wall_seconds)
                finished += 1
                if self.progress is not None:
                    self.progress(finished, left, record)

    def over(self, cell: PlannedRun) -> bool:
        """Whether another repetition would not fit into the budget."""
        spent = self.spent[_without_repetition(cell)]
        return bool(spent) and sum(spent) + spent[-1] > self.budget

    def run(self, missing: list[ChildTask]) -> Iterator[Record]:
        """Records as they come. Cells run in processes of their own, so that threads suffice here; joblib's back end may be another."""
        from joblib import Parallel, delayed, effective_n_jobs

        if not missing:
            return
        self._announce_load()
        jobs = effective_n_jobs(self.jobs)
        if jobs == 1:
            self._say_where()
        self._announce_cores(jobs, missing[0].cell.threads)
        # one cell at a time: interleaved runs must not be reordered by batches
        parallel = Parallel(n_jobs=self.jobs, prefer="threads", return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
        rows = parallel(delayed(perform)(task, self.name) for task in missing)
        with closing(until_stopped(rows, partial(processes.stop, self.name))) as answers:
            for cell, answer, wall, started in answers:
                yield from_answer(cell, answer, wall_seconds=wall, jobs=jobs, started=started)

    def _announce_load(self) -> None:
        """A machine that others use is slower than it is; later its load is that of the runs themselves."""
        if self.begun:
            return
        self.begun = True
        load, cores = system.load(), system.cores()
        if load is not None and cores is not None and load > cores:
            log.warning(
                "simopt.compare: the machine is busy (load %.1f on %d cores): seconds are those of others, too", load, cores,
            )  # fmt: skip

    def _announce_cores(self, jobs: int, threads: int) -> None:
        """Runs that share cores are slower than they are; those of a cluster have cores that are not known here."""
        from joblib.parallel import get_active_backend

        cores = system.cores()
        if jobs == 1 or self.notified or cores is None or jobs * threads <= cores or _by_dask(get_active_backend()[0]):
            return
        self.notified = True
        log.warning(
            "simopt.compare: %d runs of %d threads at a time share %d cores: their seconds are each other's, too; give --jobs %d",
            jobs, threads, cores, max(1, cores // threads),
        )  # fmt: skip

    def _say_where(self) -> None:
        """With one slot of a cluster joblib runs everything where the client is, and reports nothing."""
        from joblib.parallel import get_active_backend

        if self.notified or not _by_dask(get_active_backend()[0]):
            return
        self.notified = True
        log.warning(
            "simopt.compare: the cluster has one slot, of which joblib makes no use: everything runs here, in the process of the client; "
            "give the cluster two slots (workers × threads) or more, or call `compare` on the worker with client.submit"
        )


def perform(task: ChildTask, comparison: str) -> tuple[PlannedRun, ChildAnswer, float, str]:
    """One cell, here or on a worker of a cluster: the answer of its process, the seconds that took, and when it began (UTC)."""
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    start = time.perf_counter()
    answer = processes.perform(task, comparison)
    return task.cell, answer, time.perf_counter() - start, started


def _by_dask(backend: object) -> bool:
    return type(backend).__name__ == "DaskDistributedBackend"


def _without_repetition(cell: PlannedRun) -> tuple[Any, ...]:
    return astuple(replace(cell, repetition=0))


def _current(record: Record) -> bool:
    """Whether a record was made by this version of simopt; what another one measured is measured again."""
    return bool(json.loads(record.versions).get("simopt") == simopt.__version__)
