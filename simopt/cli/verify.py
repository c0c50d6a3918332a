"""`simopt verify`: run claims, show a verdict for each, and say where the evidence is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simopt.cli import completion
from simopt.cli.console import Effort, Json, Output, Steps, check_output, console, emit, number, reserved, table
from simopt.cli.streams import complain, say
from simopt.core.evidence import FOLDER, LIST

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from simopt.claims.verification import Record

INTERRUPTED = 130
STYLES = {"PROVED": "bold green", "HOLDS": "green", "REFUTED": "magenta", "INCONCLUSIVE": "yellow", "VACUOUS": "cyan", "NOT_RUN": "dim"}
HEADINGS = ("id", "verdict", "evidence", "scope", "status", "checks", "worst slack", "tightness", "seconds", "")
LONG = 400  # letters of a statement among the errata
NARROW = 100  # below so many columns the remark is worth more than counts, which the JSON and the report have
ON_NARROW = ("id", "verdict", "evidence", "status", "")
Part = Mapping[str, Any]


def verify(
    selection: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID|PAPER]...", help="Ids or papers (kj, ak, kkks, rmw).", autocompletion=completion.claims_and_papers),
    ] = None,
    section: Annotated[str | None, typer.Option("--section", metavar="S", help="Only this section of a paper.")] = None,
    effort: Effort = "quick",
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="First seed (full effort runs five).")] = 0,
    jobs: Annotated[int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes (default: one a core).")] = None,
    mutants: Annotated[bool, typer.Option("--mutants", help="Run the mutants too: each must change its verdict.")] = False,
    as_json: Json = False,
    output: Output = None,
    evidence: Annotated[Path, typer.Option("--evidence", metavar="DIR", help="Folder for witnesses and proof files.")] = Path(FOLDER),
    report: Annotated[Path | None, typer.Option("--report", metavar="DIR", help="Write HTML, Markdown and JSON reports there.")] = None,
    kernel: Annotated[
        Path | None, typer.Option("--kernel", metavar="DIR", help="Folder of `make coq`: what Coq has checked is shown in the report.")
    ] = None,
) -> None:
    """Check the claims of the papers.

    Exit status 0: every verdict is as expected (NOT_RUN fails nothing); 1: some are not. Status 2: bad input, or a file could not be
    written; 130: interrupted, what was done is reported.
    """
    from simopt.claims import verification as program

    check_output(output)
    if kernel is not None:
        from simopt.report.kernel import KernelAnswers

        KernelAnswers(kernel)  # a folder without answers is noticed before the work, not after
    watch = _Watch(evidence, report)
    try:
        with reserved(as_json):
            record = program.verify(
                selection or (),
                section=section,
                effort=effort,
                seed=seed,
                jobs=jobs,
                mutants=mutants,
                evidence_dir=evidence,
                on_event=watch,
            )
    finally:
        watch.close()

    def reported() -> None:
        if report is not None:
            from simopt.report import write

            say(f"\nReport: {write(record, report, kernel)['index.html']}")

    def traced() -> None:
        """Show the tracebacks of claims that raised, and the files that could not be written."""
        for row in record.rows:
            if row["trace"]:
                say(f"\n{row['id']}:\n{row['trace'].rstrip()}")

        for lost in record.unwritten:
            complain(lost)

    emit(record.to_json(), as_json, output, lambda: _show(record, evidence), reported, traced)
    raise typer.Exit(INTERRUPTED if record.interrupted else 2 if record.unwritten else 0 if record.exit_ok else 1)


class _Watch:
    """Shows the events of a run as progress."""

    def __init__(self, evidence: Path, report: Path | None) -> None:
        self.evidence = evidence
        self.report = report
        self.steps: Steps | None = None

    def __call__(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "start":
            from simopt.core.errors import NotAvailable
            from simopt.core.writing import try_folder

            if event["selected"] == 0:
                raise NotAvailable("verify: no claim is selected; see `simopt list theorems`")
            try_folder(self.evidence)  # what cannot be written to is noticed before the work, not after
            if self.report is not None:
                from simopt.report import prepare

                prepare(self.report, event["selected"])
            self.steps = Steps("verify", event["selected"])
            self.steps.__enter__()
        elif event["event"] == "row" and self.steps is not None:
            row = event["row"]
            self.steps.step(f"{row['id']} {row['verdict']}{'' if row['ok'] else ' (UNEXPECTED)'} {row['seconds']:.2f} s")

    def close(self) -> None:
        """Take the bar away."""
        if self.steps is not None:
            self.steps.__exit__(None, None, None)


def _show(record: Record, evidence: Path) -> None:
    """The verdicts, and then what they come to: what was not run, counts by paper, the errata, where the evidence is."""
    out = console()
    kept = range(len(HEADINGS)) if out.width >= NARROW else [HEADINGS.index(heading) for heading in ON_NARROW]
    heads = [HEADINGS[j] for j in kept]
    rows = [[line[j] for j in kept] for line in _lines(record)]
    out.print(table(heads, rows, right=HEADINGS[5:9], whole=(*HEADINGS[:3], "tightness")))
    missing: dict[str, list[str]] = {}
    for row in record.rows:
        if row["verdict"] == "NOT_RUN":
            missing.setdefault(row["reason"], []).append(row["id"])
    for reason, names in missing.items():
        out.print(f"\nNot run: {', '.join(names)}: {reason}")
    _errata(record, evidence, out)
    files = sum(1 for _ in record.evidence())
    if files:
        out.print(f"\nEvidence: {files} witnesses and proofs in {evidence}; {evidence / LIST} says how to check each again", soft_wrap=True)
    _counts(record, out)


def _errata(record: Record, folder: Path, out: Console) -> None:
    """In words what is refuted as printed, and beside it the claim that holds instead, if the run has one."""
    from simopt.claims.sentence import stated

    instead: dict[str, list[Part]] = {}
    for row in record.rows:
        if row["corrects"]:
            instead.setdefault(row["corrects"], []).append(row)
    wrong = [row for row in record.rows if row["verdict"] == "REFUTED" and row["expected"] != "OPEN"]
    if not wrong:
        return
    out.print(f"\nerrata: {len(wrong)} statement{'' if len(wrong) == 1 else 's'} refuted as printed")
    for row in wrong:
        out.print(f"{row['id']} ({row['place']}; {row['defect'] or 'not expected'})")
        out.print(_indented("refuted:", row["says"]))
        for right in instead.get(row["id"], ()):
            out.print(_indented(f"instead, {right['id']} {right['verdict']}:", stated(right)))
    replay = "`simopt replay ID`" if folder == Path(FOLDER) else f"`simopt replay` with the ID's witness in {folder}"
    out.print(f"`simopt show ID` says what is wrong, {replay} runs the counterexample", soft_wrap=True)


def _indented(head: str, body: str) -> Any:
    """A paragraph four columns in; of a long statement the beginning."""
    from rich.padding import Padding
    from rich.text import Text

    cut = body if len(body) <= LONG else f"{body[: LONG - 1].rstrip()}…"
    return Padding(Text(f"{head} {cut}"), (0, 0, 0, 4))


def _counts(record: Record, out: Console) -> None:
    """Verdicts by paper, and whether they are what was expected."""
    from simopt.claims.kinds import Verdict

    found = record.counts()
    papers = list(dict.fromkeys(row["paper"] for row in record.rows))
    if len(papers) > 1:
        by_paper = [[row["verdict"] for row in record.rows if row["paper"] == paper] for paper in papers]
        heads = [verdict.value for verdict in Verdict if verdict.value in found]
        lines = [(paper, str(len(own)), *(str(own.count(head)) for head in heads)) for paper, own in zip(papers, by_paper, strict=True)]
        lines.append(("all", str(len(record.rows)), *(str(found[head]) for head in heads)))
        out.print()
        out.print(table(("paper", "claims", *heads), lines, right=("claims", *heads)))
    steps = record.by_steps()
    counts = ", ".join(
        f"{count} {verdict}" + (f" ({steps} by exact steps)" if verdict == "HOLDS" and steps else "") for verdict, count in found.items()
    )
    out.print(
        f"\n{len(record.rows)} of {record.selected} claims in {record.seconds:.1f} s "
        f"({record.effort} effort, seed {record.seed}, {record.jobs} process{'' if record.jobs == 1 else 'es'}): {counts or 'none'}"
    )
    if record.interrupted:
        out.print("interrupted: the rest was not checked", style="yellow")
    unexpected = [row["id"] for row in record.rows if not row["ok"]]
    if unexpected:
        out.print(f"{len(unexpected)} not as expected: {', '.join(unexpected)}", style="bold red")
    elif not record.interrupted:
        out.print("all as expected", style="green")


def _lines(record: Record) -> Iterator[list[str | Text]]:
    for row in record.rows:
        yield _line(row["id"], row, row["expected"], f"{row['seconds']:.2f}", *_mutants(row))
        for name, part in row["rows"].items():
            yield _line(f"  {name}", part, row["expected"], "", "", True)


def _line(name: str, part: Part, expected: str, seconds: str, extra: str, caught: bool) -> list[str | Text]:
    from rich.text import Text

    verdict = Text(part["verdict"], style=STYLES.get(part["verdict"], "bold red"))
    remarks = []
    if not _met(part):
        remarks.append(f"UNEXPECTED, {expected} expected")
    if part["verdict"] == "NOT_RUN":
        remarks.append("see below")
    elif part["reason"]:
        remarks.append(part["reason"])
    if part["where"]:
        remarks.append(f"where {part['where']}")
    if part["computed"]:
        remarks.append(f"computed: {part['computed']}")
    if part["remains"]:
        remarks.append(f"remains: {part['remains']}")
    if part["remark"]:
        remarks.append(part["remark"])
    if extra:
        remarks.append(extra)
    remark = Text("; ".join(remarks), style="dim" if caught and _met(part) else "bold red")
    return [
        name,
        verdict,
        part["evidence"] or "",
        part["scope"] or "",
        part["status"] or "",
        str(part["checks"]),
        number(part["worst_slack"], ".3g"),
        number(part["tightness"], ".3f"),
        seconds,
        remark,
    ]


def _met(part: Part) -> bool:
    return bool(part.get("met", part["ok"]))  # `ok` of a claim covers all its rows and mutants, `met` its own row alone


def _mutants(row: Part) -> tuple[str, bool]:
    """The verdicts of the mutants, and whether all of them were caught."""
    lost = [f"mutant {mutant['name']!r} not caught: {mutant['reason']}" for mutant in row["mutants"] if not mutant["caught"]]
    if lost or not row["mutants"]:
        return "; ".join(lost), not lost
    return f"{len(row['mutants'])} mutant{'' if len(row['mutants']) == 1 else 's'} caught", True
