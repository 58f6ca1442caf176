"""An editor as far as the protocol knows one: sends requests, and waits for what comes back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from tests.waiting import LIMIT

Body = dict[str, Any]
DAP = [sys.executable, "-m", "gradstep", "dap"]


class Failed(AssertionError):
    """A request that the adapter has refused."""


class Editor:
    """Talks to an adapter over ``stdin`` and ``stdout``; ``heard`` is all that came, in order."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._stdin, self._stdout = stdin, stdout
        self._messages: Queue[Body | None] = Queue()
        self._count = 0
        self.heard: list[Body] = []
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while header := self._stdout.readline():
            length = int(header.removeprefix(b"Content-Length:"))
            assert self._stdout.readline() == b"\r\n"
            self._messages.put(json.loads(self._stdout.read(length)))
        self._messages.put(None)

    def write(self, text: bytes) -> None:
        self._stdin.write(text)
        self._stdin.flush()

    def send(self, command: str, **arguments: Any) -> int:
        self._count += 1
        request = {"seq": self._count, "type": "request", "command": command}
        text = json.dumps({**request, "arguments": arguments}).encode()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
        return self._count

    def _next(self) -> Body:
        try:
            message = self._messages.get(timeout=LIMIT)
        except Empty:
            raise AssertionError(f"nothing came after {self.heard[-3:]}") from None
        assert message is not None, f"the adapter has gone after {self.heard[-3:]}"
        self.heard.append(message)
        return message

    def response(self, number: int) -> Body:
        while True:
            message = self._next()
            if message["type"] == "response" and message["request_seq"] == number:
                if not message["success"]:
                    raise Failed(message["message"])
                body: Body = message["body"]
                return body

    def ask(self, command: str, **arguments: Any) -> Body:
        return self.response(self.send(command, **arguments))

    def event(self, name: str) -> Body:
        """The next event of that name that was not waited for yet."""
        while True:
            message = self._next()
            if message.get("event") == name:
                body: Body = message.get("body", {})
                return body

    def move(self, command: str, **arguments: Any) -> Body:
        """Move, and wait for the stop."""
        self.ask(command, **arguments)
        return self.event("stopped")

    # what a test asks for again and again

    def launch(self, program: Path | str, *, terminal: bool = False, **attributes: Any) -> None:
        self.ask("initialize", adapterID="gradstep", supportsInvalidatedEvent=True,
                 supportsProgressReporting=True, supportsRunInTerminalRequest=terminal)  # fmt: skip
        self.ask("launch", program=str(program), **attributes)
        self.event("initialized")

    def begin(self, program: Path | str, **attributes: Any) -> Body:
        """Launch, and wait for the first stop."""
        self.launch(program, **attributes)
        self.ask("configurationDone")
        return self.event("stopped")

    def frames(self, **arguments: Any) -> list[str]:
        thread = self.ask("threads")["threads"][-1]["id"]
        found = self.ask("stackTrace", threadId=thread, **arguments)["stackFrames"]
        return [str(each["name"]) for each in found]

    def scope(self, name: str, frame: int) -> int:
        scopes = self.ask("scopes", frameId=frame)["scopes"]
        return next(int(each["variablesReference"]) for each in scopes if each["name"] == name)

    def variables(self, reference: int, **arguments: Any) -> dict[str, Body]:
        rows = self.ask("variables", variablesReference=reference, **arguments)["variables"]
        return {each["name"]: each for each in rows}

    def printed(self) -> str:
        """What the program has written so far."""
        return "".join(
            each["body"]["output"]
            for each in self.heard
            if each.get("event") == "output" and each["body"]["category"] in ("stdout", "stderr")
        )

    def until_printed(self, text: str) -> str:
        """Wait until the program has written ``text``; what it has written. It comes by another way
        than messages, and so may come after them."""
        while text not in self.printed():
            self._next()
        return self.printed()

    def end(self) -> int:
        """Let the program run to its end; its exit code."""
        self.send("continue", threadId=0)
        return int(self.event("exited")["exitCode"])


def start(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*DAP, *options], cwd=folder, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
