"""The editor's side: it starts the program in a process of its own, and passes messages on.

The two processes speak over a socket of this machine, on which the program's says a word that only
the adapter has told it.
"""

from __future__ import annotations

import codecs
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from threading import Event, Thread
from typing import IO, Any, Final

from gradstep.dap.capabilities import CAPABILITIES
from gradstep.dap.protocol import (
    BadMessage,
    Body,
    Channel,
    Refused,
    Unframed,
    arguments_of,
    object_in,
    text_in,
)

LOCAL: Final = "127.0.0.1"
TOKEN: Final = "GRADSTEP_DAP_TOKEN"
"""The environment variable with the word."""
_PATIENCE: Final = 60.0  # seconds until a program's process has begun
_LEFT: Final = 2.0  # seconds for what a process that has ended has printed
_CONFIGURATION: Final = {
    "setBreakpoints", "setFunctionBreakpoints", "setDataBreakpoints", "setExceptionBreakpoints",
}  # fmt: skip


class Adapter:
    """Serves one editor over ``client`` until it has gone."""

    def __init__(self, client: Channel) -> None:
        self._client = client
        self._hello: Body = {}
        self._launched: Body = {}
        self._configuration: dict[str, Body] = {}  # what a program that is restarted is told again
        self._program: Program | None = None
        self._terminal_answer: Event | None = None
        self._terminal_refused = ""
        self._lives = True

    def serve(self) -> None:
        """Meet requests until the editor disconnects, or is gone."""
        while self._lives:
            try:
                message = self._client.read()
            except BadMessage as error:
                self._tell(f"{error}, and was left out")
                continue
            except Unframed as error:
                self._tell(f"{error}: the connection ends here")
                break
            if message is None:
                break
            if message.get("type") == "response":
                self._hear_of_terminal(message)
            elif not _is_request(message):
                self._client.refuse(message, "a request has a number and a command")
            else:
                self._meet(message)
        if self._program is not None and self._lives:
            self._program.end()
        self._lives = False

    def _tell(self, problem: str) -> None:
        self._client.event("output", category="important", output=f"gradstep: {problem}\n")

    def _meet(self, request: Body) -> None:
        try:
            match request["command"]:
                case "initialize":
                    self._hello = arguments_of(request)
                    self._client.answer(request, CAPABILITIES)
                case "launch":
                    self._launched = arguments_of(request)
                    # a terminal is asked for by a request, whose response is read here
                    Thread(target=self._launch, args=[request], daemon=True).start()
                case "restart":
                    self._restart(request)
                case "terminate":
                    self._running().terminate()
                    self._client.answer(request)
                case "disconnect":
                    self._disconnect(request)
                case command:
                    if command in _CONFIGURATION:
                        self._configuration[_subject(request)] = request
                    self._running().send(request)
        except Refused as refusal:
            self._client.refuse(request, str(refusal))

    def _running(self) -> Program:
        if self._program is None:
            raise Refused("no program runs: the request launch starts one")
        return self._program

    # the program

    def _launch(self, request: Body) -> None:
        try:
            program = self._started()
        except Refused as refusal:
            self._client.refuse(request, str(refusal))
            return
        program.send({"type": "request", "seq": 0, "command": "initialize",
                      "arguments": self._hello})  # fmt: skip
        program.send(request)
        program.listen()
        if not self._lives:  # the editor has gone meanwhile
            program.end(quietly=True)

    def _started(self) -> Program:
        """Start the program's process.

        Raises:
            Refused: it did not begin.
        """
        if self._program is not None and self._program.runs:
            raise Refused("a program runs already")
        wanted = self._launched
        console = text_in(wanted, "console", "internalConsole")
        environment = {
            name: text for name, text in object_in(wanted, "env").items() if isinstance(text, str)
        }
        folder = text_in(wanted, "cwd", "") or None
        python = text_in(wanted, "python", sys.executable)
        token = secrets.token_hex()
        with socket.create_server((LOCAL, 0)) as listener:
            listener.settimeout(_PATIENCE)
            port = str(listener.getsockname()[1])
            words = [python, "-m", "gradstep", "dap", "--serve", port]
            own = {**environment, TOKEN: token}
            process = None
            if console == "internalConsole":
                process = _spawn(words, folder, own)
                Thread(target=_close_when_ended, args=[process, listener], daemon=True).start()
            else:
                self._ask_for_terminal(console, words, folder, own, listener)
            connection = _accepted(listener, token)
        if connection is None:
            if process is not None:
                process.kill()
            printed = "" if process is None else _printed(process)
            raise Refused(
                self._terminal_refused or printed or "the program's process did not begin"
            )
        self._program = Program(self._client, connection, process)
        return self._program

    def _ask_for_terminal(
        self, console: str, words: list[str], folder: str | None, environment: Mapping[str, str],
        listener: socket.socket,
    ) -> None:  # fmt: skip
        kinds = {"integratedTerminal": "integrated", "externalTerminal": "external"}
        if console not in kinds:
            raise Refused(f"'console' is internalConsole, {' or '.join(kinds)}, not {console}")
        if self._hello.get("supportsRunInTerminalRequest") is not True:
            raise Refused("this editor offers no terminal: 'console' is to be internalConsole")
        answered = self._terminal_answer = Event()
        self._terminal_refused = ""
        arguments: Body = {
            "kind": kinds[console], "title": "gradstep", "cwd": folder or os.getcwd(),
            "args": words, "env": dict(environment),
        }  # fmt: skip
        self._client.send({"type": "request", "command": "runInTerminal", "arguments": arguments})

        def watch() -> None:
            answered.wait()
            if self._terminal_refused:
                _close(listener)

        Thread(target=watch, daemon=True).start()

    def _hear_of_terminal(self, response: Body) -> None:
        if self._terminal_answer is not None:
            if response.get("success") is not True:
                self._terminal_refused = f"the editor opened no terminal: {response.get('message')}"
            self._terminal_answer.set()

    def _restart(self, request: Body) -> None:
        """Run the program again from its start, with the same breakpoints."""
        given = arguments_of(request).get("arguments")
        if isinstance(given, dict):
            self._launched = given
        self._running().end(quietly=True)

        def again() -> None:
            try:
                program = self._started()
            except Refused as refusal:
                self._client.refuse(request, str(refusal))
                self._client.event("terminated")
                return
            told = [("initialize", self._hello), ("launch", self._launched)]
            told += [(each["command"], arguments_of(each)) for each in self._configuration.values()]
            for command, arguments in [*told, ("configurationDone", {})]:
                program.send({"type": "request", "seq": 0, "command": command,
                              "arguments": arguments})  # fmt: skip
            self._client.answer(request)
            program.listen()

        Thread(target=again, daemon=True).start()

    def _disconnect(self, request: Body) -> None:
        program, self._lives = self._program, False
        detaches = arguments_of(request).get("terminateDebuggee") is False
        if program is not None and detaches:
            program.send({**request, "seq": 0})
        elif program is not None:
            program.end(quietly=True)
        self._client.answer(request)
        if program is not None and detaches:
            program.wait()


def _is_request(message: Body) -> bool:
    is_numbered = isinstance(message.get("seq"), int) and isinstance(message.get("command"), str)
    return message.get("type") == "request" and is_numbered


def _subject(request: Body) -> str:
    """Return what a request that sets breakpoints replaces."""
    source = object_in(arguments_of(request), "source")
    return f"{request['command']} {source.get('path')}"


def _spawn(
    words: list[str], folder: str | None, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            words, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        raise Refused(f"cannot start {words[0]}: {error.strerror}") from None


def _printed(process: subprocess.Popen[bytes]) -> str:
    """Return the last line that a process that did not come far wrote to standard error."""
    lines = b"" if process.stderr is None else process.stderr.read()
    return (lines.decode(errors="replace").strip().splitlines() or [""])[-1]


def _close_when_ended(process: subprocess.Popen[bytes], listener: socket.socket) -> None:
    process.wait()
    _close(listener)


def _close(listener: socket.socket) -> None:
    """End the waiting of another thread for a connection."""
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _accepted(listener: socket.socket, token: str) -> socket.socket | None:
    """Return the first connection that says ``token``; None if none comes."""
    while True:
        try:
            connection, _ = listener.accept()
            connection.settimeout(_PATIENCE)
            said = connection.recv(len(token), socket.MSG_WAITALL)
        except OSError:
            return None
        if secrets.compare_digest(said, token.encode()):
            connection.settimeout(None)
            return connection
        connection.close()


def connect(port: int, token: str) -> Channel:
    """Connect the program's process to its adapter."""
    connection = socket.create_connection((LOCAL, port))
    connection.sendall(token.encode())
    return channel_of(connection)


def channel_of(connection: socket.socket) -> Channel:
    """Return the channel over a socket; each message leaves at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Channel(connection.makefile("rb"), connection.makefile("wb"))


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
        pumps = [Thread(target=self._pump, args=each, daemon=True) for each in pipes]
        for each in pumps:
            each.start()
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
        for each in pumps:
            each.join(_LEFT)  # processes that it left behind may keep them open
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
