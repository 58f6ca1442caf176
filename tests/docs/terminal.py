"""A command that opens the full screen, in a pseudo-terminal: wait for it, and leave by q."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

from tests.waiting import LIMIT

ALTERNATE_SCREEN = b"\x1b[?1049h"


def run_screen(command: list[str], folder: Path, environment: Mapping[str, str]) -> int:
    """The exit code of ``command``, which opens its screen and is left by ``q``."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 32, 120, 0, 0))
    environment = {**environment, "TERM": "xterm-256color"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        try:
            _press_when_open(ours, b"q")
            process.wait()
        finally:
            process.kill()
            os.close(ours)
    return process.returncode


def _press_when_open(terminal: int, key: bytes) -> None:
    """Press ``key`` once a screen is open, and read on until nobody has the terminal any more."""
    seen, opened = b"", False
    with contextlib.suppress(OSError):  # how Linux says that the other side has closed
        while select.select([terminal], [], [], LIMIT)[0] and (read := os.read(terminal, 65536)):
            seen += read
            if not opened and ALTERNATE_SCREEN in seen:
                os.write(terminal, key)
                opened = True
    assert opened, f"no screen opened:\n{seen[-2000:]!r}"
