"""A small client of headless Chromium over its debugging pipe: open a page, evaluate, press keys, take pictures, print."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 120.0  # seconds until a browser that says nothing is given up


def executable() -> str | None:
    """The browser of this machine, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One browser process with one page."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        kept = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser)]
        actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_DUP2, kept[0], 3), (os.POSIX_SPAWN_DUP2, kept[1], 4)]  # it reads 3, writes 4
        actions += [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = os.posix_spawn(program, command, os.environ, file_actions=actions)
        for end in (to_browser, from_browser, *kept):
            os.close(end)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.write(self._out, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        end = time.monotonic() + 30
        while os.waitpid(self.process, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:
                os.kill(self.process, signal.SIGKILL)
            time.sleep(0.05)
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol and its answer; events that come meanwhile are kept."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        for answer in self._messages():
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
        raise AssertionError(f"{method}: the browser does not answer")

    def _messages(self) -> Iterator[dict[str, Any]]:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            head, found, rest = self._buffer.partition(b"\0")
            if found:
                self._buffer = rest
                message = json.loads(head)
                if "method" in message:
                    self.events.append(message)
                yield message
                continue
            if select.select([self._in], [], [], 1.0)[0]:
                piece = os.read(self._in, 1 << 20)
                assert piece, "the browser has ended"
                self._buffer += piece

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a page and wait until it is there."""
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=page.resolve().as_uri() + fragment)
        end = time.monotonic() + PATIENCE
        while self.evaluate("location.protocol + document.readyState") != "file:complete":
            assert time.monotonic() < end, f"{page} does not load"
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings of the console since the page was opened, and exceptions that nobody caught."""
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(event["params"]["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning"):
                found.append(event["params"]["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning", "assert"):
                found.append(str(event["params"]["args"]))
        return found

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Tab": 9, "Enter": 13, "Escape": 27}.get(key, ord(key[0].upper()) if len(key) == 1 else 0)
        shared: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **shared, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    @contextmanager
    def screen(self, width: int, height: int, *, dark: bool = False, mobile: bool = False) -> Iterator[None]:
        """A screen of this size, in the dark or not."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        yield
        self.call("Emulation.clearDeviceMetricsOverride")
        self.call("Emulation.setEmulatedMedia", features=[])

    def picture(self, path: Path) -> None:
        """What is to be seen, as a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pdf(self) -> bytes:
        """The page as it prints."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])
