"""docs/mutants.md: how many mutants there were, what killed them, and each that lives with the reason."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutate import Mutant, kinds

EXPLAINED = Path(__file__).parent / "survivors.toml"
DEAD = ("test", "import", "time", "crash")
PAGE = """# Mutants

`make mutants` changes one line of what decides whether an answer is right, runs the tests that concern the file, and goes on with the next.
What decides is the certificate, what derived bounds rest on, the judgement of claims, the arithmetics, the search for equivalences, the
formulas of the problems, the solvers and the estimators. A change that no test notices is a line that nobody checks.

The changes are drawn from all there are, by a seed and the text of the line. `make mutants ARGS="--seed 1 --count 500"` tries others and
more, `ARGS="--only ID"` one of them, and shows what its tests said.

Written by it. Why a survivor may live stands in `tests/mutants/survivors.toml`; a reason whose mutant is killed by now is an error.

{when}

**{dead} of {total} killed, {fraction:.1%}.** {lives}

| | mutants | by a test | by time | at import | alive |
|---|---:|---:|---:|---:|---:|
{rows}

By time: a test took more than two minutes, or all of them more than fifteen. At import: the module or the tests could not even be read;
a process that crashed counts there too.

## What is changed

| kind | change | mutants | killed |
|---|---|---:|---:|
{kinds}

Annotations, decorators, imports and texts are left alone, and of the problems the examples, laws and recipes. At most one change a line
is tried.

## What kills

| tests | mutants |
|---|---:|
{killers}

## Survivors

{survivors}
"""


@dataclass(frozen=True)
class Tried:
    """A mutant, its group, and what became of it."""

    mutant: Mutant
    group: str
    outcome: str
    by: str
    why: str

    @property
    def dead(self) -> bool:
        """Whether a test noticed."""
        return self.outcome in DEAD


@dataclass(frozen=True)
class Summary:
    """Counts, and what is wrong with the reasons: survivors without one, reasons without a survivor."""

    total: int
    dead: int
    unexplained: tuple[str, ...]
    stale: tuple[str, ...]

    @property
    def fraction(self) -> float:
        """Killed among all."""
        return self.dead / self.total if self.total else 0.0

    def __str__(self) -> str:
        return (
            f"{self.total} mutants: {self.dead} killed ({self.fraction:.1%}), {self.total - self.dead} survived, "
            f"{len(self.unexplained)} of them unexplained; {len(self.stale)} stale reasons"
        )


def reasons() -> dict[str, dict[str, str]]:
    """Mutant → {kind, why}."""
    return tomllib.loads(EXPLAINED.read_text(encoding="utf-8")) if EXPLAINED.exists() else {}


def summary(tried: Sequence[Tried], known: dict[str, dict[str, str]]) -> Summary:
    """A reason is stale only when its mutant was tried: other samples have other survivors."""
    alive = {each.mutant.id for each in tried if not each.dead}
    killed = {each.mutant.id for each in tried if each.dead}
    return Summary(len(tried), len(killed), tuple(sorted(alive - set(known))), tuple(sorted(killed & set(known))))


def page(tried: Sequence[Tried], known: dict[str, dict[str, str]], when: str) -> str:
    """The page."""
    counted = summary(tried, known)
    alive = [each for each in tried if not each.dead]
    sorts = Counter(known.get(each.mutant.id, {}).get("kind", "unexplained") for each in alive)
    listed = ", ".join(f"{number} {kind}" for kind, number in sorted(sorts.items()))
    return PAGE.format(
        when=when,
        dead=counted.dead,
        total=counted.total,
        fraction=counted.fraction,
        lives=f"Of the {len(alive)} that live: {listed}." if alive else "None lives.",
        rows="\n".join(_rows(tried)),
        kinds="\n".join(_kinds(tried)),
        killers="\n".join(_killers(tried)),
        survivors="\n\n".join(_survivors(alive, known)) or "None.",
    )


def _rows(tried: Sequence[Tried]) -> Iterator[str]:
    for group in dict.fromkeys(each.group for each in tried):
        of_group = [each for each in tried if each.group == group]
        yield _row(f"**{group}**", of_group)
        if group != "problems":  # of whose files most have one or two
            for path in sorted({each.mutant.path for each in of_group}):
                if len({each.mutant.path for each in of_group}) > 1:
                    yield _row(f"`{path}`", [each for each in of_group if each.mutant.path == path])
    yield _row("**all**", tried)


def _row(name: str, tried: Sequence[Tried]) -> str:
    outcomes = Counter(each.outcome for each in tried)
    at_import = outcomes["import"] + outcomes["crash"]
    alive = sum(not each.dead for each in tried)
    return f"| {name} | {len(tried)} | {outcomes['test']} | {outcomes['time']} | {at_import} | {alive} |"


def _kinds(tried: Sequence[Tried]) -> Iterator[str]:
    for kind, change in kinds():
        of_kind = [each for each in tried if each.mutant.kind == kind]
        yield f"| {kind} | {change} | {len(of_kind)} | {sum(each.dead for each in of_kind)} |"


def _killers(tried: Sequence[Tried]) -> Iterator[str]:
    killers = Counter(each.by.partition("::")[0] for each in tried if each.outcome in ("test", "time") and each.by)
    for file, number in sorted(killers.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"| `{file}` | {number} |"


def _survivors(alive: Sequence[Tried], known: dict[str, dict[str, str]]) -> Iterator[str]:
    for each in sorted(alive, key=lambda each: each.mutant.id):
        reason = known.get(each.mutant.id)
        told = f"*{reason['kind']}:* {reason['why'].strip()}" if reason else "**Unexplained.**"
        yield f"`{each.mutant.id}`\n\n```diff\n- {each.mutant.before.strip()}\n+ {each.mutant.after.strip()}\n```\n\n{told}"
