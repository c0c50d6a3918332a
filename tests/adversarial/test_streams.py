"""Standard streams that are closed, full, broken or of another encoding: no run ends for them, no result is lost, nobody is commanded."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simopt.cli import console as consoles
from simopt.cli import streams
from simopt.core.foreign_text import in_markdown, in_utf8, on_terminal

posix = pytest.mark.skipif(os.name != "posix" or not Path("/dev/full").exists(), reason="needs a shell and a device that is full")
SOLVE = "solve kernel-ridge --data small.csv --output out.json"
# how the shell starts it; the status, what is on standard output and on standard error; whether the file is there
STARTED = {
    "2>&-": (0, "OPTIMAL", "", True),
    ">&-": (0, "", "", True),
    "<&- >&- 2>&-": (0, "", "", True),
    "> /dev/full": (2, "", "standard output: No space left on device", True),
    "2> /dev/full": (0, "OPTIMAL", "", True),
    "> /dev/full 2>&-": (2, "", "", True),
    "> /dev/full 2> /dev/full": (2, "", "", True),
    "--json > /dev/full": (2, "", "standard output: No space left on device", True),
    "--solver all 2>&1 | head -c 1": (0, "", "", True),
    "--json | head -c 1": (0, "{", "", True),
    "--solver nothing 2>&-": (2, "", "", False),
}
USUAL = ("2>&-", "> /dev/full", "--json | head -c 1")


@posix
@pytest.mark.parametrize("how", [pytest.param(how, marks=[pytest.mark.slow] * (how not in USUAL)) for how in STARTED])
def test_a_run_ends_as_it_should(how: str, tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(12, 2))
    np.savetxt(tmp_path / "small.csv", np.column_stack([np.sin(x[:, 0]), x]), delimiter=",", header="y,a,b", comments="")
    status, said, complained, written = STARTED[how]
    command, *piped = how.split(" | ")
    line = f"{{ {sys.executable} -m simopt {SOLVE} {command}; echo $? > status; }}" + "".join(f" | {each}" for each in piped)
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert int((tmp_path / "status").read_text()) == status, done.stderr
    assert said in done.stdout and complained in done.stderr and "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert (tmp_path / "out.json").exists() == written
    if written:
        json.loads((tmp_path / "out.json").read_text())


@posix
@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help > /dev/full", "list problems --json > /dev/full", "list problems | head -c 1"])
def test_a_list_that_nobody_reads(command: str, tmp_path: Path) -> None:
    command, *piped = command.split(" | ")
    line = f"{{ {sys.executable} -m simopt {command}; echo $? > status; }}" + "".join(f" | {each}" for each in piped)
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert int((tmp_path / "status").read_text()) == (0 if piped else 2)
    assert done.stderr == ("" if piped else "simopt: standard output: No space left on device\n")


class Broken(io.RawIOBase):
    """A raw stream on which writing fails."""

    def __init__(self, error: type[OSError] | None = OSError) -> None:
        self.error = error
        self.got: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self.error is not None:
            raise self.error(28, "No space left on device")
        self.got.append(bytes(data))
        return len(data)


def guarded(raw: Broken, name: str, encoding: str = "utf-8") -> Any:
    plain = io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding)
    return streams._guarded(plain, name)


def test_of_a_full_disk_is_told_once_and_by_name() -> None:
    out = guarded(Broken(), "standard output")
    out.write("x" * 10)
    with pytest.raises(OSError, match="No space left") as caught:
        out.flush()
    assert caught.value.filename == "standard output"
    out.write("x" * 100_000)
    out.flush()


@pytest.mark.parametrize(("error", "name"), [(BrokenPipeError, "standard output"), (BrokenPipeError, ""), (OSError, "")])
def test_what_is_no_loss_is_not_told(error: type[OSError], name: str) -> None:
    out = guarded(Broken(error), name)
    out.write("x\n" * 10_000)
    out.flush()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
def test_whatever_cannot_be_said_is_escaped(encoding: str) -> None:
    raw = Broken(None)
    out = guarded(raw, "standard output", encoding)
    out.write("caf\udce9 ε ≤ 𝔼")
    out.flush()
    assert b"".join(raw.got).startswith(b"caf\\udce9 ")


@pytest.mark.parametrize("state", ["closed", "none", "broken"])
def test_progress_stops_no_run(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream: Any = None if state == "none" else guarded(Broken(), "") if state == "broken" else io.StringIO()
    if state == "closed":
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    streams.say("a line")
    steps = consoles.Steps("title", 2)
    steps.step("one")
    assert steps.done == 1


COMMANDING = (
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b2J",
    "\x08\x08",
    "\r",
    "\x7f",
    "\u202egpj.exe",
    "\u2066x",
    "\x00",
    "\x1bc",
    
    "\x0e",
    "\x85",
)  # fmt: skip


@pytest.mark.parametrize("text", COMMANDING)
def test_no_terminal_obeys_a_name(text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.text import Text

    out = consoles.console()
    out.print(f"a{text}b", Text(f"a{text}b"))
    out.print(consoles.table((f"head{text}", "x"), [(f"a{text}b", Text(f"a{text}b"))], title=f"title{text}"))
    streams.say(f"a{text}b")
    consoles.Steps("t", 1).step(f"a{text}b")
    shown = "".join(capsys.readouterr())
    assert not [letter for letter in shown if (letter != "\n" and ord(letter) < 32) or 127 <= ord(letter) < 160 or letter in "\u202e\u2066"]
    assert shown.count("a") >= 5


def test_colours_of_ours_stay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.text import Text

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    consoles.console().print(Text("red", style="red"))
    assert capsys.readouterr().out == "\x1b[31mred\x1b[0m\n"


MARKED = ("<script>", "<img src=x onerror=y>", "[a](javascript:x)", "![a](http://x)", "a|b", "&lt;", "a\nb", "\x1b[1m")


@pytest.mark.parametrize("text", MARKED)
def test_markdown_shows_a_name_and_nothing_else(text: str) -> None:
    line = in_markdown(text)
    assert "\n" not in line and "\x1b" not in line
    assert not re.search(r"(?<!\\)[][|<>&]", line)


@pytest.mark.parametrize("text", ["caf\udce9", "\ud800", "plain", "ü"])
def test_names_as_utf8(text: str) -> None:
    assert in_utf8(text).encode() and in_utf8(in_utf8(text)) == in_utf8(text)
    assert on_terminal("plain ü\n\t") == "plain ü\n\t"


def test_errors_are_one_line_without_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from simopt.cli.main import app

    monkeypatch.chdir(tmp_path)
    for name in ("no\x1b[31m.csv", "no\nsuch.csv", "caf\udce9.csv", "\x9b2J.csv"):
        for arguments in (["solve", "kernel-ridge", "--data", name], ["certify", name], ["replay", name], ["recheck", name]):
            done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 2 and done.stderr.count("\n") == 1, (arguments, done.stderr)
            assert not [letter for letter in done.stderr[:-1] if ord(letter) < 32 or 127 <= ord(letter) < 160]


def test_a_stream_without_a_raw_one_below(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = Broken(None)
    plain: Any = SimpleNamespace(buffer=raw, encoding="utf-8", line_buffering=False, write_through=True)  # as `python -u` has it
    out = streams._guarded(plain, "standard output")
    out.write("x")
    out.flush()
    assert b"".join(raw.got) == b"x"
