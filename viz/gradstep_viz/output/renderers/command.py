"""Graphviz as a command: ``dot`` on the PATH."""

from __future__ import annotations

import shutil
import subprocess
from typing import Literal

from gradstep_viz.errors import RendererUnavailable, RenderingFailed

TIME_LIMIT = 30.0


class DotCommand:
    """Runs ``dot`` in a process of its own, with a time limit."""

    name = "dot"
    formats = frozenset({"svg", "png", "pdf", "json0"})
    source: Literal["dot", "svg"] = "dot"

    def __init__(self, command: str = "dot", time_limit: float = TIME_LIMIT) -> None:
        self.command = command
        self.time_limit = time_limit

    def render(self, text: str, format: str) -> bytes:
        path = shutil.which(self.command)
        if path is None:
            raise RendererUnavailable(
                f"no {self.command!r} on the PATH",
                remedy="install Graphviz (for example: apt install graphviz)",
            )
        try:
            done = subprocess.run(
                [path, f"-T{format}"],
                input=text.encode(),
                capture_output=True,
                timeout=self.time_limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RenderingFailed(
                f"{self.command} took longer than {self.time_limit:g} s",
                remedy="draw the graph with --layout own",
            ) from None
        except OSError as error:
            raise RendererUnavailable(
                f"{self.command} does not start: {error.strerror}",
                remedy="check the installation of Graphviz",
            ) from None
        if done.returncode or not done.stdout:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise RenderingFailed(
                f"{self.command} ended with code {done.returncode}"
                + (f": {said[0]}" if said else ""),
                remedy="draw the graph with --layout own",
            )
        return done.stdout
