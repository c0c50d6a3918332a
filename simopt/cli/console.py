"""Output of commands: tables on standard output, progress on standard error, JSON alone where JSON is asked for."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import typer

from simopt.cli.streams import complain, say
from simopt.core.foreign_text import on_terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.segment import Segment
    from rich.text import Text

WIDE = 250  # columns of a table that goes into a pipe or a file, where nothing should be cut off

LEAST = 8  # columns of what is cut

Json = Annotated[bool, typer.Option("--json", help="JSON and nothing else on standard output; progress goes to standard error.")]
Output = Annotated[Path | None, typer.Option("--output", metavar="FILE", help="Write the result to a JSON file as well.")]
Effort = Annotated[Literal["quick", "full"], typer.Option("--effort", help="Counts of instances and draws.")]


def console(*, err: bool = False) -> Console:
    """A console for people: as wide as the terminal, or wide enough for any table elsewhere. No text in it commands a terminal."""
    from rich.console import Console

    class Harmless(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
            for piece in super().render(renderable, options):
                yield piece if piece.control or piece.text.isprintable() else piece._replace(text=on_terminal(piece.text))

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDE
    return Harmless(stderr=err, highlight=False, markup=False, emoji=False, width=width)


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
    title: str | None = None,
) -> Any:
    """A table without frames; the columns named in `right` are flushed right, those in `whole` are not broken on a narrow screen."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, show_edge=False)
    for heading in headings:
        made.add_column(heading, justify="right" if heading in right else "left", overflow="fold", no_wrap=heading in whole)
    for row in rows:
        made.add_row(*row)
    return made


def one_line(headings: Sequence[str], rows: Sequence[Sequence[str]], cut: Sequence[str], width: int) -> list[list[str]]:
    """The rows with the ends of the cells of `cut` columns left out, the widest first, so that each row of a `table` has one line."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    over = sum(widths) + 3 * (len(widths) - 1) - width
    may = [j for j, heading in enumerate(headings) if heading in cut]
    while over > 0 and may and widths[widest := max(may, key=lambda j: widths[j])] > LEAST:
        widths[widest] -= 1
        over -= 1
    return [[cell if len(cell) <= w else f"{cell[: w - 1].rstrip()}…" for cell, w in zip(row, widths, strict=True)] for row in rows]


def fitted(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = (), title: str | None = None, out: Console
) -> list[Any]:
    """The table as it is where `out` is wide enough for it; on a narrow screen tables on their side, each with as many rows as fit.

    All but the first say in their title that they go on.
    """
    from rich.measure import Measurement

    def wide(made: Any) -> bool:
        return Measurement.get(out, out.options.update(max_width=10_000), made).maximum > out.width

    upright = table(headings, rows, right=right, title=title)
    if not wide(upright) or not rows:
        return [upright]
    left = list(rows)
    made: list[Any] = []
    while left:
        for count in range(len(left), 0, -1):
            above = f"{title} (continued)" if title and made else title
            on_side = table([headings[0], *(row[0] for row in left[:count])], _on_side(headings, left[:count]), title=above)
            if count == 1 or not wide(on_side):
                break
        made.append(on_side)
        left = left[count:]
    return made


def _on_side(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """A row for each heading but the first, those left out under which nothing stands."""
    lines = [[heading or "note", *(row[j] for row in rows)] for j, heading in enumerate(headings)]
    return [line for line in lines[1:] if any(line[1:])]


def number(value: float | None, form: str = ".3g") -> str:
    """A number for a table; an empty cell for None."""
    return "" if value is None else format(value, form)


def emit(
    value: Any, as_json: bool, output: Path | None = None, show: Callable[[], object] | None = None, *writers: Callable[[], object]
) -> None:
    """Show a result on standard output, as JSON or by `show`, and only then write it, to `output` and by `writers`.

    All of it is tried, whatever fails: a full disk takes no result off the screen, and a closed screen none from the disk.

    Raises
    ------
    OSError
        when all is done, for the last that failed; for the others there is a line on standard error.
    """
    from simopt.cli.errors import expected
    from simopt.core import jsonio

    def shown() -> None:
        if as_json:
            sys.stdout.write(jsonio.dumps(value))
        elif show is not None:
            show()
        sys.stdout.flush()

    failures = []
    for step in (shown, *([] if output is None else [lambda: jsonio.write(output, value)]), *writers):
        try:
            step()
        except OSError as error:
            failures.append(error)
    for each in failures[:-1]:
        complain(expected(each) or repr(each))
    if failures:
        raise failures[-1]


@contextmanager
def reserved(as_json: bool) -> Iterator[None]:
    """Keep standard output free for JSON: what claims, solvers or plug-ins print meanwhile, in Python or in C, goes to standard error."""
    if not as_json:
        yield
        return
    sys.stdout.flush()
    with redirect_stdout(sys.stderr), ExitStack() as restore:
        try:
            kept = os.dup(1)
            restore.callback(os.close, kept)
            os.dup2(2, 1)  # also for processes that are started from here
        except OSError:  # one of the two is closed: nothing can be printed to it
            yield
            return
        restore.callback(os.dup2, kept, 1)
        try:
            yield
        finally:
            sys.stderr.flush()
            if os.name == "posix":
                ctypes.CDLL(None).fflush(None)  # the C library keeps what goes into a pipe until its buffer is full


def check_output(output: Path | None) -> None:
    """Refuse a file that cannot be written before the work begins rather than after it."""
    if output is not None:
        from simopt.core.writing import try_target

        try_target(output)


class Steps:
    """Progress through a known number of steps: a bar on a terminal, one plain line a step elsewhere; always on standard error."""

    def __init__(self, title: str, total: int) -> None:
        self.title = title
        self.total = total
        self.done = 0
        self._bar: Progress | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich import progress

            shown = console(err=True)
            columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn())
            self._bar = progress.Progress(*columns, progress.TimeElapsedColumn(), console=shown, transient=True)
            self._task = self._bar.add_task(self.title, total=self.total)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, text: str) -> None:
        """One more step is done; `text` says which and how it came out."""
        self.done += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, total=self.total, description=on_terminal(text))
        else:
            say(f"[{self.done}/{self.total}] {text}")


class Ticker:
    """Progress of unknown length: at most one line a second on standard error, on a terminal in place."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._shown = False

    def show(self, text: str) -> None:
        """Show `text` if a second has passed since the last line."""
        now = time.monotonic()
        if now - self._last < 1.0:
            return
        self._last = now
        if sys.stderr.isatty():
            self._shown = True
            sys.stderr.write(f"\r\x1b[K{on_terminal(text)}")
            sys.stderr.flush()
        else:
            say(text)

    def clear(self) -> None:
        """Remove the line in place."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
