"""A real browser without a window: one for all pages, told what to do through a pipe.

It understands JSON messages, each ended by a zero byte: the Chrome DevTools Protocol.
"""

from __future__ import annotations

import json
import os
import select
import shutil
from pathlib import Path
from typing import Any

from tests.waiting import LIMIT

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1000,700", "--remote-debugging-pipe",
)  # fmt: skip


class Browser:
    """A running browser, with one tab in which page after page is opened."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        self._received, self._number = b"", 0
        self._tab: dict[str, str] = {}
        log = os.open(folder / "browser.log", os.O_WRONLY | os.O_CREAT)
        self._process = os.posix_spawn(
            CHROMIUM,
            [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
                (os.POSIX_SPAWN_DUP2, theirs_in, 3),  # where Chromium looks for its orders
                (os.POSIX_SPAWN_DUP2, theirs_out, 4),
            ],
        )
        for handle in (theirs_in, theirs_out, log):
            os.close(handle)
        tab = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=tab, flatten=True)
        self._tab = {"sessionId": attached["sessionId"]}
        self.ask("Page.enable")

    def say(self, page: Path, script: str) -> Any:
        """Open ``page``, carry out ``script`` in it once it is loaded; what that says, or
        promises."""
        self.ask("Page.navigate", url=page.as_uri())
        self._wait(lambda message: message.get("method") == "Page.loadEventFired")
        told = self.ask(
            "Runtime.evaluate", expression=f"(() => {{{script}}})()", returnByValue=True,
            awaitPromise=True,
        )  # fmt: skip
        assert "exceptionDetails" not in told, f"the script failed: {told}"
        return told["result"].get("value")

    def ask(self, method: str, **parameters: Any) -> Any:
        """Give the browser an order, and wait for what it answers."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, **self._tab}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda message: message.get("id") == self._number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def close(self) -> None:
        """End the browser."""
        self._tab = {}
        self.ask("Browser.close")
        os.waitpid(self._process, 0)
        os.close(self._in)
        os.close(self._out)

    def _wait(self, wanted: Any) -> dict[str, Any]:
        while True:
            line, zero, rest = self._received.partition(b"\0")
            if zero:
                self._received = rest
                message: dict[str, Any] = json.loads(line)
                if wanted(message):
                    return message
            else:
                ready = select.select([self._in], [], [], LIMIT)[0]
                more = os.read(self._in, 65536) if ready else b""
                assert more, "the browser does not answer"
                self._received += more
