"""The program's process, as its adapter has it: started, connected to, listened to and ended."""

from __future__ import annotations

import codecs
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import IO, Any, Final, NamedTuple

from gradstep.dap.port import LOCAL, channel_of, hang_up, is_secret, welcome
from gradstep.dap.protocol import BadMessage, Body, Channel, Refused, Unframed

PATIENCE: Final = 60.0  # seconds until it has begun
_LEFT: Final = 2.0  # seconds for what it has printed, once it has ended


def spawned(
    words: list[str], folder: str | None, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start it, with pipes for what it prints, and nothing to read.

    Raises:
        Refused: it cannot be started.
    """
    try:
        return subprocess.Popen(
            words, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        raise Refused(f"cannot start {words[0]}: {error.strerror}") from None


def printed_by(process: subprocess.Popen[bytes]) -> str:
    """Return the last line that a process that did not come far wrote to standard error."""
    lines = b"" if process.stderr is None else process.stderr.read()
    return (lines.decode(errors="replace").strip().splitlines() or [""])[-1]


def hang_up_when_ended(process: subprocess.Popen[bytes], listener: socket.socket) -> None:
    """Wait for no connection of a process that has ended."""
    process.wait()
    hang_up(listener)


class Meeting(NamedTuple):
    """Where the program's process and its adapter meet, and what each shows to the other."""

    port: int
    program_secret: str
    adapter_secret: str

    def written_to(self, folder: Path) -> Path:
        """Write it to a file in ``folder``."""
        file = folder / "meeting"
        file.write_text(" ".join(map(str, self)), "ascii")
        return file

    @classmethod
    def read(cls, file: Path) -> Meeting:
        """Read what :meth:`written_to` has written.

        Raises:
            OSError: there is no such file.
            ValueError: it is something else.
        """
        port, program_secret, adapter_secret = file.read_text("ascii").split()
        return cls(int(port), program_secret, adapter_secret)


def accepted(listener: socket.socket, meeting: Meeting) -> socket.socket | None:
    """Return the connection of the program's process; None if it does not come."""
    came: Queue[socket.socket | None] = Queue()

    def meet(connection: socket.socket, when_shown: Callable[[], None]) -> None:
        if _shows(connection, meeting.program_secret):
            when_shown()
            connection.sendall(meeting.adapter_secret.encode())
            came.put(socket.socket(fileno=connection.detach()))

    def wait() -> None:
        welcome(listener, meet)
        came.put(None)

    Thread(target=wait, daemon=True).start()
    connection = came.get()
    hang_up(listener)
    return connection


def connect(meeting: Meeting) -> Channel:
    """Connect the program's process to its adapter.

    Raises:
        OSError: the adapter has gone.
    """
    connection = socket.create_connection((LOCAL, meeting.port))
    connection.sendall(meeting.program_secret.encode())
    if not _shows(connection, meeting.adapter_secret):  # another user has the port now
        connection.close()
        raise ConnectionRefusedError
    return channel_of(connection)


def _shows(connection: socket.socket, secret: str) -> bool:
    shown = connection.recv(len(secret), socket.MSG_WAITALL)
    return is_secret(shown.decode(errors="replace"), secret)


class Program:
    """The program's process: what it says is passed on to ``client``; ``process`` is None where a
    terminal of the editor's has started it."""

    def __init__(
        self, client: Channel, connection: socket.socket, process: subprocess.Popen[bytes] | None
    ) -> None:
        self._client, self._connection, self._process = client, connection, process
        self._channel = channel_of(connection)
        self._id = None if process is None else process.pid
        self._code: int | None = None
        self._is_quiet = False
        self._over = Event()
        self._unanswered: dict[int, Body] = {}

    @property
    def runs(self) -> bool:
        """Whether it has not ended yet."""
        return not self._over.is_set()

    def send(self, request: Body) -> None:
        """Pass a request on. The response to one with the number 0 goes no further."""
        if number := request.get("seq", 0):
            self._unanswered[number] = request
        self._channel.forward(request)

    def listen(self) -> None:
        """Pass on what it says, in threads of their own, and its end."""
        pipes: list[tuple[str, IO[bytes]]] = []
        if self._process is not None and self._process.stdout and self._process.stderr:
            pipes = [("stdout", self._process.stdout), ("stderr", self._process.stderr)]
        pumps = [Thread(target=self._pump, args=pipe, daemon=True) for pipe in pipes]
        for pump in pumps:
            pump.start()
        if self._process is not None:
            Thread(target=self._end_reading, args=[self._process], daemon=True).start()
        Thread(target=self._pass_on, args=[pumps], daemon=True).start()

    def _pump(self, category: str, pipe: IO[bytes]) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while part := os.read(pipe.fileno(), 65536):
            if (text := decoder.decode(part)) and not self._is_quiet:
                self._client.event("output", category=category, output=text)

    def _end_reading(self, process: subprocess.Popen[bytes]) -> None:
        """Have its last message be followed by the end, also where a process that it forked has the
        connection, too."""
        process.wait()
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RD)

    def _pass_on(self, pumps: list[Thread]) -> None:
        with suppress(BadMessage, Unframed):  # it was ended in the middle of one
            while (message := self._channel.read()) is not None:
                self._pass(message)
        if self._process is not None:
            self._code = self._process.wait()
        for pump in pumps:
            pump.join(_LEFT)  # processes that it left behind may keep them open
        self._over.set()
        for request in [*self._unanswered.values()]:
            self._client.refuse(request, "the program has ended")
        if self._is_quiet:
            return
        if self._code is not None:  # else a terminal of the editor's knows it
            ended_by_signal = self._code < 0
            code = 128 - self._code if ended_by_signal else self._code  # as a shell has it
            self._client.event("exited", exitCode=code)
        self._client.event("terminated")

    def _pass(self, message: Body) -> None:
        body: Any = message.get("body")
        if message.get("event") == "process":
            self._id = body["systemProcessId"]
        elif message.get("event") == "exited":
            self._code = body["exitCode"]
            return
        self._unanswered.pop(message.get("request_seq", 0), None)
        if message.get("request_seq") != 0 and not self._is_quiet:
            self._client.send(message)

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def end(self, *, quietly: bool = False) -> None:
        """End it, and wait for that; ``quietly``, nobody is told of it."""
        self._is_quiet = self._is_quiet or quietly
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        self._over.wait(3 * _LEFT)

    def _signal(self, number: int) -> None:
        if self._id is not None and self.runs:
            with suppress(OSError):
                os.kill(self._id, number)

    def wait(self) -> None:
        """Wait for its end."""
        self._is_quiet = True
        self._over.wait()
