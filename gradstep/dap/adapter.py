"""The editor's side: it starts the program in a process of its own, and passes messages on.

The two processes speak over a port of this machine, on which each shows the other a secret. The
secrets are in a file that only this user can read: others may see the command line of a process,
and what a terminal is told of its environment.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Final

from gradstep.dap.port import LOCAL, hang_up, new_secret
from gradstep.dap.process import (
    PATIENCE,
    Meeting,
    Program,
    accepted,
    hang_up_when_ended,
    printed_by,
    spawned,
)
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
from gradstep.dap.stops import FILTERS

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
        except (Refused, OSError) as refusal:
            self._client.refuse(request, str(refusal))
            return
        program.send(
            {"type": "request", "seq": 0, "command": "initialize", "arguments": self._hello}
        )
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
            raise Refused("a program is already running")
        wanted = self._launched
        console = text_in(wanted, "console", "internalConsole")
        environment = {
            name: text for name, text in object_in(wanted, "env").items() if isinstance(text, str)
        }
        folder = text_in(wanted, "cwd", "") or None
        python = text_in(wanted, "python", sys.executable)
        with socket.create_server((LOCAL, 0)) as listener, TemporaryDirectory() as private:
            listener.settimeout(PATIENCE)
            meeting = Meeting(listener.getsockname()[1], new_secret(), new_secret())
            file = meeting.written_to(Path(private))
            words = [python, "-m", "gradstep", "dap", "--serve", str(file)]
            process = None
            if console == "internalConsole":
                process = spawned(words, folder, environment)
                Thread(target=hang_up_when_ended, args=[process, listener], daemon=True).start()
            else:
                self._ask_for_terminal(console, words, folder, environment, listener)
            connection = accepted(listener, meeting)
        if connection is None:
            if process is not None:
                process.kill()
            printed = "" if process is None else printed_by(process)
            raise Refused(
                self._terminal_refused or printed or "the program's process did not start"
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
            raise Refused("this editor offers no terminal: set 'console' to internalConsole")
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
                hang_up(listener)

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
            except (Refused, OSError) as refusal:
                self._client.refuse(request, str(refusal))
                self._client.event("terminated")
                return
            told = [("initialize", self._hello), ("launch", self._launched)]
            told += [
                (request["command"], arguments_of(request))
                for request in self._configuration.values()
            ]
            for command, arguments in [*told, ("configurationDone", {})]:
                program.send(
                    {"type": "request", "seq": 0, "command": command, "arguments": arguments}
                )
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


CAPABILITIES: Final[Body] = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsDataBreakpoints": True,
    "supportsBreakpointLocationsRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsExceptionFilterOptions": True,
    "exceptionBreakpointFilters": [
        {"filter": name, "label": label, "supportsCondition": True,
         "conditionDescription": "an expression, such as rms > 10"}
        for name, label in FILTERS
    ],
    "supportsStepBack": True,
    "supportsSteppingGranularity": True,
    "supportsGotoTargetsRequest": True,
    "supportsRestartFrame": True,
    "supportsSetVariable": True,
    "supportsEvaluateForHovers": True,
    "supportsCompletionsRequest": True,
    "completionTriggerCharacters": [" ", "."],
    "supportsDelayedStackTraceLoading": True,
    "supportsLoadedSourcesRequest": True,
    "supportsCancelRequest": True,
    "supportsTerminateRequest": True,
    "supportsRestartRequest": True,
    "supportTerminateDebuggee": True,
}  # fmt: skip
