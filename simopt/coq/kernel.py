"""Files of Coq handed to its kernel: accepted or not, in how many seconds, from which assumptions; nothing is run twice."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from simopt.coq.preludes import needed, source
from simopt.core.jsonio import plain
from simopt.core.writing import write_text

LIMIT = 600  # seconds a file
NO_ANSWER = f"no answer in {LIMIT} s"
LEDGER, SECOND = "checked.json", "checked_again.json"
ALLOWED = (  # of Coq's real numbers and its analysis: ClassicalDedekindReals, and for the mean value theorem (so exp, ln) excluded middle
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
)
PRIMITIVE = ("PrimInt63.", "Uint63.", "PrimFloat.", "FloatAxioms.")  # of what computes enclosures, in coq-interval
THEOREM = re.compile(r"^Theorem (\w+)", re.MULTILINE)
AXIOM = re.compile(r"^([A-Za-z_][\w.']*)(?= :|$)", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """The kernel's answer to one file."""

    digest: str
    accepted: bool
    seconds: float
    assumptions: tuple[str, ...] = ()
    message: str = field(default="", metadata={"json": "said"})

    @property
    def answered(self) -> bool:
        """Whether the kernel came to an end in time; if not, how busy the machine was may be why, and it is asked again."""
        return self.message != NO_ANSWER

    @property
    def foreign(self) -> list[str]:
        """Assumptions that are on no list of ours."""
        return [name for name in self.assumptions if name not in ALLOWED and not name.startswith(PRIMITIVE)]


def available() -> bool:
    """Whether a Coq with coq-interval is at hand."""
    if shutil.which("coqc") is None:
        return False
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=False).stdout.strip()
    return Path(where, "user-contrib", "Interval", "Tactic.vo").is_file()


def digest_of(text: str) -> str:
    """The digest of a text with all files that it imports."""
    return hashlib.sha256("".join([*map(source, needed(text)), text]).encode()).hexdigest()


def ledger(path: Path) -> dict[str, Result]:
    """The results, by the name of the file."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Result(made["digest"], made["accepted"], made["seconds"], tuple(made["assumptions"]), made["said"])
        for name, made in kept.items()
    }


class CoqKernel:
    """A folder in which files are checked. Its ledger holds what came out, by the digest of the file and of what it stands on."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.known, self._again = (ledger(path) if (path := self.folder / name).is_file() else {} for name in (LEDGER, SECOND))

    def prepare(self, text: str) -> None:
        """Compile what a text stands on, as far as that is not done."""
        for name in needed(text):
            stamp, wanted = self.folder / f"{name}.stamp", digest_of(source(name))
            if stamp.is_file() and stamp.read_text() == wanted and (self.folder / f"{name}.vo").is_file():
                continue
            write_text(self.folder / f"{name}.v", source(name))
            done = self._run(name)
            if done.returncode:
                raise RuntimeError(f"Coq does not accept {name}.v: {done.stderr[-800:]}")
            write_text(stamp, wanted)

    def _run(self, name: str) -> subprocess.CompletedProcess[str]:
        command = ["coqc", "-q", "-w", "none", "-Q", ".", "Simopt", f"{name}.v"]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=LIMIT)

    def _cached(self, name: str, digest: str) -> Result | None:
        found = self.known.get(name)
        return found if found and found.answered and found.digest == digest else None

    def check(self, name: str, text: str) -> Result:
        """Have a file accepted, and ask for the assumptions of all its theorems."""
        digest = digest_of(text)
        kept = self._cached(name, digest)
        if kept and (not kept.accepted or (self.folder / f"{name}.vo").is_file()):
            return kept
        theorems = THEOREM.findall(text)
        asked = f"Definition all_of_it := ({', '.join(['Logic.I', *(f'@{name}' for name in theorems)])}).\nPrint Assumptions all_of_it."
        self.prepare(text)
        write_text(self.folder / f"{name}.v", f"{text}\n{asked}\n")
        start = time.monotonic()
        try:
            done = self._run(name)
            accepted, message = done.returncode == 0 and bool(theorems), done.stderr[-800:]
            axioms = sorted(set(AXIOM.findall(done.stdout)) - {"Axioms", "Closed"})
        except subprocess.TimeoutExpired:
            accepted, message, axioms = False, NO_ANSWER, []
        return self._note(name, Result(digest, accepted, round(time.monotonic() - start, 2), tuple(axioms), "" if accepted else message))

    def refused(self, name: str, text: str) -> Result:
        """Have a false file refused: `accepted` of the result says that it was, in a proof and not for its form."""
        digest = digest_of(text)
        kept = self._cached(name, digest)
        if kept:
            return kept
        self.prepare(text)
        write_text(self.folder / f"{name}.v", text)
        start = time.monotonic()
        try:
            done = self._run(name)
            found = re.search(r"line (\d+), characters", done.stderr)
            before = text.splitlines()[: int(found[1])] if found else []
            refused = done.returncode == 1 and "Error" in done.stderr and any(line.startswith("Proof.") for line in before)
            message = "" if refused else f"exit status {done.returncode}: {done.stderr[-800:]}"
        except subprocess.TimeoutExpired:
            refused, message = False, NO_ANSWER
        return self._note(name, Result(digest, refused, round(time.monotonic() - start, 2), (), message))

    def _note(self, name: str, result: Result) -> Result:
        return self._write(self.known, LEDGER, name, result)

    def _write(self, results: dict[str, Result], path: str, name: str, result: Result) -> Result:
        results[name] = result
        write_text(self.folder / path, json.dumps({key: plain(value) for key, value in sorted(dict(results).items())}, indent=1))
        return result

    def again(self, name: str) -> Result:
        """Hand a compiled file to coqchk, Coq's second checker, by itself; what it stands on is taken as it is, and has its own turn.

        Its digest is that of the text that was compiled. coqchk, too, is given the machine that evaluates `vm_compute`, without which
        KJ-F-eta alone takes it more than four minutes.
        """
        digest = self.known[name].digest if name in self.known else digest_of(source(name))
        kept = self._again.get(name)
        if kept and kept.answered and kept.digest == digest:
            return kept
        command = ["coqchk", "-silent", "-bytecode-compiler", "yes", "-Q", ".", "Simopt", "-norec", f"Simopt.{name}"]
        start = time.monotonic()
        try:
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=LIMIT)
            accepted, message = done.returncode == 0, (done.stderr or done.stdout)[-800:]
        except subprocess.TimeoutExpired:
            accepted, message = False, NO_ANSWER
        made = Result(digest, accepted, round(time.monotonic() - start, 2), (), "" if accepted else message)
        return self._write(self._again, SECOND, name, made)
