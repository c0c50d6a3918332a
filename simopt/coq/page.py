"""The answers of the kernel, as a block of a page in Markdown: counts, times, assumptions, what is not stated, and three theorems."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simopt.coq.headlines import HEADLINES
from simopt.coq.kernel import Result
from simopt.coq.preludes import source
from simopt.coq.unstated import unstated
from simopt.core.writing import write_text

BEGIN, END = "<!-- answers: begin -->", "<!-- answers: end -->"
LABELS = {
    "proof file": "proof files",
    "refutation": "refutations",
    "certificate": "certificates",
    "headlines": "files of headline results",
    "mutant": "mutants, to be refused",
    "again": "accepted ones again, with what they stand on, by coqchk",
}


@dataclass
class KernelResults:
    """Results by kind and name; what was left out of a sample, by kind; why some have no theorem; rows that have one; what coqchk said."""

    results: dict[str, dict[str, Result]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)
    stated: set[str] = field(default_factory=set)
    again: dict[str, Result] = field(default_factory=dict)

    @property
    def by_kind(self) -> dict[str, dict[str, Result]]:
        """Results by kind, those of coqchk among them if it was asked."""
        return self.results | ({"again": self.again} if self.again else {})

    @property
    def accepted(self) -> list[tuple[str, str]]:
        """(kind, name) of what the kernel accepted."""
        return [(kind, name) for kind, own in self.results.items() if kind != "mutant" for name, result in own.items() if result.accepted]

    @property
    def wrong(self) -> dict[str, str]:
        """Files that were not accepted (or mutants not refused), or assume what is not on the list; with the message."""
        found = {}
        for kind, own in self.by_kind.items():
            for name, result in own.items():
                if not result.accepted:
                    word = {"mutant": "REFUSED", "again": "ACCEPTED AGAIN"}.get(kind, "ACCEPTED")
                    found[name] = f"NOT {word}: {' '.join(result.message.split())[:400]}"
                elif result.foreign:
                    found[name] = f"ASSUMES {', '.join(result.foreign)}"
        return found

    def assumptions(self) -> dict[tuple[str, ...], list[str]]:
        """Files by what they assume, Coq's integers of 63 bits as one."""
        sets: dict[tuple[str, ...], list[str]] = {}
        for kind, name in self.accepted:
            own = {
                "Coq's 63-bit integers" if "nt63." in axiom else axiom.rpartition(".")[2] for axiom in self.results[kind][name].assumptions
            }
            sets.setdefault(tuple(sorted(own)), []).append(name)
        return dict(sorted(sets.items(), key=lambda item: (len(item[0]), item[0])))


def lines(answers: KernelResults) -> list[str]:
    """The answers for a terminal."""
    told = []
    for kind, own in answers.by_kind.items():
        good, times = sum(result.accepted for result in own.values()), sorted(result.seconds for result in own.values()) or [0.0]
        rest = f"; {answers.left_out[kind]} left out of the sample" if answers.left_out.get(kind) else ""
        told.append(
            f"{LABELS[kind]}: {good} of {len(own)} {'refused' if kind == 'mutant' else 'accepted'}; "
            f"median {statistics.median(times):.1f} s, "
            f"longest {times[-1]:.1f} s, {sum(times):.0f} s in all{rest}"
        )
    told += [f"    {name} {message}" for name, message in answers.wrong.items()]
    told += [f"assumptions of {len(names)} files: {', '.join(axioms) or 'none'}" for axioms, names in answers.assumptions().items()]
    return told


def write(page: Path, answers: KernelResults, texts: Mapping[str, str], rows: list[dict[str, Any]]) -> None:
    """Put the answers between the markers of a page; `rows` is the whole catalogue, with its verdicts."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    write_text(page, f"{before}{BEGIN}\n{block(answers, texts, rows)}\n{END}{rest.split(END)[1]}")


def block(answers: KernelResults, texts: Mapping[str, str], rows: list[dict[str, Any]]) -> str:
    """Tables and theorems; `texts` are the files by name, from which theorems are quoted, `rows` the catalogue."""
    message = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=False).stdout if shutil.which("coqc") else ""
    found = re.search(r"version (\S+)", message)
    made = [
        f"Coq {found[1] if found else '?'}, {os.cpu_count()} processors that others used, too; seconds of the clock, with coqc's start.",
        "",
    ]
    made += ["| what | of | accepted | median s | longest s | all s |", "|---|---|---|---|---|---|"]
    for kind, own in answers.by_kind.items():
        times = sorted(result.seconds for result in own.values()) or [0.0]
        good = sum(result.accepted for result in own.values())
        word = f"{good} refused" if kind == "mutant" else str(good)
        made.append(f"| {LABELS[kind]} | {len(own)} | {word} | {statistics.median(times):.1f} | {times[-1]:.1f} | {sum(times):.0f} |")
    skipped = sum(answers.left_out.values())
    made += ["", f"A sample: {skipped} files were left out." if skipped else "Nothing was left out.", ""]
    made += (
        ["**Not as it should be**:", "", *(f"- {name}: {message}" for name, message in answers.wrong.items()), ""] if answers.wrong else []
    )
    made += ["| assumed | files |", "|---|---|"]
    made += [f"| {', '.join(axioms) or 'nothing'} | {len(names)} |" for axioms, names in answers.assumptions().items()]
    made += ["", "Headline results in full, and what of the claim's sentence they leave out:", ""]
    made += [
        f"- {each.claim}: {', '.join(f'`{name}`' for name in each.theorems)}" + (f"; not {each.left}" if each.left else "")
        for each in HEADLINES
    ]
    none = unstated(rows, answers.stated | {each.claim for each in HEADLINES}, answers.without)
    missing = sum(map(len, none.values()))
    made += ["", f"Of {len(rows)} rows of the catalogue {len(rows) - missing} have a theorem. Not stated are {missing}:", ""]
    made += [f"- {reason} ({len(claims)}): {', '.join(claims)}" for reason, claims in none.items()]
    made += ["", "Three theorems, as they stand in the files:", ""]
    made += [f"```coq\n{each}\n```\n" for each in quoted(texts)]
    return "\n".join(made).rstrip()


def quoted(texts: Mapping[str, str]) -> list[str]:
    """A headline with the definitions that it stands on, an identity of a proof file, and a certificate."""
    headline = source("Headlines")
    names = ("world", "expect", "predicted", "good_similarity", "linear ", "good_linear_kernel", "two_points")
    wanted = [*(f"Definition {name}" for name in names), "Theorem KJ_Thm6b_two"]
    made = ["\n".join(_sentence(headline, each) for each in wanted)]
    if "AK_Ex_d" in texts:
        made.append(_sentence(texts["AK_Ex_d"], "Theorem AK_Ex_d_3"))
    name = "hinge_svm_certificate"
    if name in texts:
        starts = (f"Definition {name}_feasible", f"Definition {name}_objective", f"Theorem {name}_bound", f"Theorem {name}_point")
        made.append("\n".join(_sentence(texts[name], each) for each in (*starts, f"Theorem {name}_minimum")))
    return made


def _sentence(text: str, start: str) -> str:
    """From the start to the full stop that ends the sentence."""
    found = re.search(re.escape(start) + r".*?\.(?=\s)", text, re.DOTALL)
    if found is None:
        raise ValueError(f"there is no {start!r} in the file")
    return found[0]
