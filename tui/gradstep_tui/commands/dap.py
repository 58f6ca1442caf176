"""``gradstep dap``: the debugger in an editor."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

from gradstep.dap.adapter import Adapter
from gradstep.dap.port import LOCAL, LockedChannel, new_secret, welcome
from gradstep.dap.process import Meeting, connect
from gradstep.dap.protocol import Channel
from gradstep_tui import output
from gradstep_tui.ending import end_as, tell
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import Parser
from gradstep_tui.output import show

_NOTES = """\
Your editor starts this command: see the page "Debug in an editor" of the
documentation. With --port, it serves editors on this machine until you press
ctrl+c, and prints a new secret each time. The configuration of the editor must
contain it as "secret", because a client can run any command.

examples:
  gradstep dap
  gradstep dap --port 4711
"""


def parser() -> Parser:
    """Return the options of ``gradstep dap``."""
    command = Parser(
        "dap",
        "[--port PORT]",
        "Debug backward passes in an editor, over the Debug Adapter Protocol, over "
        "standard\ninput and output.",
        _NOTES,
    )
    command.option("--port", type=_port, metavar="PORT", help="listen there for editors on this "
                   "machine; 0 for a free port; the port and a secret are printed")  # fmt: skip
    command.option("--serve", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    return command


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port: 0 to 65535")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep dap``."""
    if options.serve is not None:
        return _run_program(options.serve)
    if options.port is not None:
        return _listen(options.port)
    output.flush()
    # nothing but messages may get into them
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Adapter(Channel(reader, writer)).serve()
    return ExitCode.FINE


def _listen(port: int) -> int:
    try:
        listener = socket.create_server((LOCAL, port))
    except OSError as error:
        # the text of the error has an address of Python's in it
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(
            f"cannot listen on port {port}: {reason}; choose another, or 0 for a free one",
            ExitCode.USAGE,
        ) from None
    secret = new_secret()

    def meet(connection: socket.socket, when_shown: Callable[[], None]) -> None:
        Adapter(LockedChannel(connection, secret, when_shown)).serve()

    with listener:
        show(f"gradstep listens on {LOCAL}:{listener.getsockname()[1]}\nsecret: {secret}")
        output.flush()
        welcome(listener, meet)
    return ExitCode.FINE


def _run_program(file: Path) -> int:
    """Run the program that an adapter wants, as a process of its own."""
    # the adapter need not wait for it
    from gradstep.dap.server import Server

    try:
        channel = connect(Meeting.read(file))
    except (OSError, ValueError):
        raise Failure("the editor that started this has gone", ExitCode.USAGE) from None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", line_buffering=True)
    name = "gradstep"
    channel.event("process", name=name, systemProcessId=os.getpid(), startMethod="launch")
    code: int | None = None
    try:
        code = end_as(Server(channel).run())
    except (KeyboardInterrupt, Exception) as error:
        code = tell(error)
        if code is None:
            raise
    finally:
        output.flush()
        channel.event("exited", exitCode=ExitCode.SCRIPT_FAILED if code is None else code)
    return code
