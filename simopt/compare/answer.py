"""The answer of a comparison in a sentence: who is fastest on how many instances, and whose claims are false."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from simopt.compare.claim_rows import claim_rows
from simopt.compare.instance_seconds import InstanceSeconds, instance_seconds, lead, solvers_of
from simopt.compare.record import Record
from simopt.compare.solver_claims import FALSE
from simopt.compare.statistics import by_machine

FEW = 5  # instances; of fewer a sentence says that they are few


def answers(records: Sequence[Record], complete: bool = True) -> list[str]:
    """A sentence for each machine: times of two machines are not compared."""
    machines = by_machine(records)
    sentences = {machine: "; ".join(answer(own, complete)) for machine, own in machines.items()}
    return [f"{each}   ({machine})" if len(machines) > 1 else each for machine, each in sentences.items()]


def answer(records: Sequence[Record], complete: bool = True) -> list[str]:
    """Of the runs of one machine: who is fastest, and then which solvers made how many false claims."""
    return [_fastest(instance_seconds(records)) + ("" if complete else ", so far: not all runs are done"), *_false(records)]


def beside(others: Sequence[Record], folder: str = "DIR") -> list[str]:
    """A line on the runs of a folder that the command does not name; none where there are none."""
    if not others:
        return []
    runs = f"{len(others)} more run{'' if len(others) == 1 else 's'}"
    on = _instances(len({record.cell.frame for record in others}))
    return [f"Not in it: {runs} in the folder, on {on} that this command does not name. `simopt compare --report {folder}` shows all."]


def _fastest(instances: Sequence[InstanceSeconds]) -> str:
    """Who leads how many of the instances, and on how many nobody does."""
    without = sum(bool(each.no_optimum) for each in instances)
    instances = [each for each in instances if not each.no_optimum]
    count, solvers, counts = len(instances), solvers_of(instances), lead(instances)
    if not count:
        return f"no optimum to certify: {_instances(without)} proven infeasible or unbounded"
    solved = sum(bool(each.leaders) for each in instances)
    relaxed = [each.relaxed_gap for each in instances if not math.isnan(each.relaxed_gap)]
    if len(relaxed) == count == 1:
        words = "the one instance has integers and is held against its relaxation: between its best integer point and that bound is "
        return f"{words}a relative gap of {relaxed[0]:.2g}" + _more(without)
    with_integers = [f"{len(relaxed)} with integers, held against the relaxation: {_gap_range(relaxed)}"] if relaxed else []
    if not solved:
        which = "the one instance" if count == 1 else f"any of the {count} instances"
        return f"no solver certified {which}{_in_brackets(with_integers)}{_more(without)}"
    if len(solvers) == 1:
        return f"{solvers[0]} alone was run: it certified {solved} of {_instances(count)}{_in_brackets(with_integers)}" + _more(without)
    most = max(counts.values())
    first = [name for name in solvers if counts[name] == most]
    tied = solved - sum(counts.values())
    if most == 0:
        text = "no solver is fastest: where one certified, another was level"
    else:
        text = f"{_list(first)} fastest on {most} of {_instances(count)}{' each' if len(first) > 1 else ''}"
    failed = count - solved - len(relaxed)
    left = [f"{tied} level"] * (tied > 0 and most > 0) + with_integers + [f"{failed} solved by none"] * (failed > 0)
    few = [f"{'one is' if count == 1 else f'{count} are'} too few to say more"] * (count < FEW)
    return text + _in_brackets([*left, *few]) + _more(without)


def _in_brackets(parts: Sequence[str]) -> str:
    return f" ({', '.join(parts)})" if parts else ""


def _gap_range(gaps: Sequence[float]) -> str:
    low, high = f"{min(gaps):.2g}", f"{max(gaps):.2g}"
    return f"relative gap {low}" if low == high else f"relative gaps {low} to {high}"


def _more(without: int) -> str:
    return f"; {without} more {'has' if without == 1 else 'have'} no optimum" if without else ""


def _false(records: Sequence[Record]) -> list[str]:
    """The claims that are false, an instance counting once; solvers with as many of the same kinds share a sentence."""
    claims: dict[str, Counter[str]] = {}
    for row in claim_rows(records):
        if row.verdict == FALSE:
            claims.setdefault(row.solver, Counter())[row.claimed] += 1
    by_text: dict[str, list[str]] = {}
    for name, kinds in claims.items():
        optima = kinds.pop("optimal", 0)
        parts = [f"{optima} optim{'um that is' if optima == 1 else 'a that are'} false"] * (optima > 0)
        parts += [f"{claimed!r} falsely on {_instances(count)}" for claimed, count in sorted(kinds.items())]
        by_text.setdefault(" and ".join(parts), []).append(name)
    return [f"{_list(names)} {'each ' if len(names) > 1 else ''}claimed {text}" for text, names in by_text.items()]


def _instances(count: int) -> str:
    return "1 instance" if count == 1 else f"{count} instances"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
