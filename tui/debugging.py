"""``gradstep debug``: a session, and a face for it, inside each ``backward()`` of a script."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from autograd_core.dag.capture import NotInGraph
from autograd_core.dag.names import Names
from autograd_core.dag.trace import trace
from autograd_core.debug.locations import UnknownLocation
from autograd_core.debug.session import Session
from autograd_core.debug.snapshot import Breakpoint
from autograd_core.tensor import Tensor
from tui.failure import ExitCode, Failure
from tui.intercept import Intercepted, ScriptDone, intercepting
from tui.script import run_script
from tui.target import find_named, parse_target, single_scalar


def debug_target(
    target: str,
    arguments: list[str],
    *,
    places: Sequence[str],
    call: int | None,
    commands: str | None,
    batch: bool,
) -> int:
    """Debug ``target``; ``call`` 0 halts at each ``backward()`` call.

    Raises:
        Failure: with the exit code that fits.
    """
    if call is None:
        raise Failure(
            "debug cannot know which call is the last one: give --call a number", ExitCode.USAGE
        )
    parsed = parse_target(target)
    lines = [] if commands is None else _read_commands(commands)
    if not batch:
        _need_terminal()
    face = _Face(places, lines, batch, title=Path(parsed.place).name)
    if not parsed.is_script:
        with trace():
            found = find_named(parsed, arguments)
        face.debug_tensor(found.roots[0], Names(found.names), target)
        return ExitCode.FINE

    def halt(found: Intercepted) -> bool:
        if call and found.number != call:
            return False
        face.debug_call(found)
        return True

    with intercepting(halt) as calls:
        try:
            variables = run_script(Path(parsed.place), arguments)
        except ScriptDone:
            return ExitCode.FINE
        if call and calls[0] and calls[0] < call:
            raise Failure(
                f"the script called backward() {calls[0]} times, so there is no call {call}",
                ExitCode.TARGET,
            )
        if not calls[0]:
            name, scalar = single_scalar(variables)
            face.debug_tensor(scalar, Names(variables), f"{target}: {name}")
    return ExitCode.FINE


def _read_commands(file: str) -> list[str]:
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text file"
        raise Failure(f"cannot read the commands in {file} ({reason.lower()})", ExitCode.USAGE) from None
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _need_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure(
            "the debugger's screen needs a terminal, and this is none; "
            "use --batch -x FILE to carry out commands without a screen",
            ExitCode.USAGE,
        )


class _Face:
    """Shows one session after the other; breakpoints outlive the call they were set in."""

    def __init__(
        self, places: Sequence[str], lines: list[str], batch: bool, title: str
    ) -> None:
        self._places = list(places)
        self._lines = lines
        self._batch = batch
        self._title = title
        self._breakpoints: tuple[Breakpoint, ...] = ()

    def debug_call(self, found: Intercepted) -> None:
        session = Session.of_call(
            found.call, names=found.names, call=found.number, breakpoints=self._breakpoints
        )
        self._show(session)

    def debug_tensor(self, root: Tensor, names: Names, target: str) -> None:
        try:
            session = Session(root, names=names)
        except (NotInGraph, RuntimeError) as error:
            raise Failure(f"{target}: {error}", ExitCode.TARGET) from None
        try:
            self._show(session)
        except ScriptDone:
            pass

    def _show(self, session: Session) -> None:
        for place in self._places:
            try:
                session.break_(place)
            except UnknownLocation as error:
                raise Failure(f"--break {place}: {error}", ExitCode.USAGE) from None
        self._places = []
        for line in self._lines:
            reply = session.do(line)
            print(f"(gradstep) {line}\n{reply.text}", file=sys.stderr)
            if reply.error and self._batch:
                raise Failure(f"the commands of -x stop at: {line}", ExitCode.USAGE)
        if not self._batch and self._screen(session) == "abort":
            session.abort()
            raise ScriptDone
        self._breakpoints = session.breakpoints
        session.finish()

    def _screen(self, session: Session) -> str:
        from tui.app import DebuggerApp

        return DebuggerApp(session, self._title).run()
