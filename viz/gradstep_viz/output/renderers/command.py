"""Renderers that are commands on the PATH: Graphviz's ``dot``, and librsvg's ``rsvg-convert``."""

from __future__ import annotations

import shutil
import subprocess
from typing import Literal

from gradstep_viz.errors import RendererUnavailable, RenderingFailed

OTHERWISE = "draw the graph with --layout own"


class DotCommand:
    """Runs ``dot`` in a process of its own, with a time limit."""

    name = "dot"
    formats = frozenset({"svg", "png", "pdf", "json0"})
    source: Literal["dot", "svg"] = "dot"

    def __init__(self, command: str = "dot", time_limit: float = 30) -> None:
        self.command = command
        self.time_limit = time_limit

    def render(self, text: str, format: str) -> bytes:
        package = "Graphviz (for example: apt install graphviz)"
        return _run(self.command, f"-T{format}", text, self.time_limit, package, OTHERWISE)


class RsvgConvert:
    """PDF, by the command of librsvg, which many systems have."""

    name = "rsvg-convert"
    formats = frozenset({"pdf"})
    source: Literal["dot", "svg"] = "svg"

    def render(self, text: str, format: str) -> bytes:
        package = "librsvg (for example: apt install librsvg2-bin)"
        return _run(self.name, f"--format={format}", text, 60, package)


def _run(
    command: str, option: str, text: str, time_limit: float, package: str, otherwise: str = ""
) -> bytes:
    """Return what a command of a ``package`` makes of a text; where it fails, ``otherwise`` is the
    remedy."""
    path = shutil.which(command)
    if path is None:
        raise RendererUnavailable(f"no {command!r} on the PATH", remedy=f"install {package}")
    try:
        done = subprocess.run(
            [path, option], input=text.encode(), capture_output=True, timeout=time_limit,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RenderingFailed(
            f"{command} took longer than {time_limit:g} s", remedy=otherwise
        ) from None
    except OSError as error:
        raise RendererUnavailable(
            f"{command} does not start: {error.strerror}",
            remedy=f"check the installation of {package.partition(' ')[0]}",
        ) from None
    if done.returncode or not done.stdout:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        because = f": {lines[0]}" if lines else ""
        raise RenderingFailed(
            f"{command} ended with code {done.returncode}{because}", remedy=otherwise
        )
    return done.stdout
