"""What a face of the debugger (screen, command file, CI) may ask of a session."""

from __future__ import annotations

from typing import Protocol

from autograd_core.debug.snapshot import NodeDetail, Reply, Snapshot


class DebugSession(Protocol):
    """Commands in, frozen records out; :class:`autograd_core.debug.Session` is the real one."""

    @property
    def snapshot(self) -> Snapshot:
        """The debugger as it stands now."""
        ...

    def do(self, line: str) -> Reply:
        """Carry out one command line, such as ``next 10`` or ``break mul``; never raises for
        a wrong one."""
        ...

    def detail(self, index: int) -> NodeDetail:
        """All that is known now about plan node ``index``."""
        ...
