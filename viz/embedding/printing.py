"""A drawing for paper: a vector picture where something here can make one."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Final

from viz.embedding.drawing import Drawing
from viz.errors import RendererUnavailable, RenderingFailed, VizError
from viz.renderers import DotCommand
from viz.rendering import write_atomically

_CONVERTERS: Final = (
    ("rsvg-convert", "--format=pdf"),
    ("inkscape", "--pipe", "--export-type=pdf", "--export-filename=-"),
)
_TIME_LIMIT: Final = 60.0


def print_into(folder: Path, drawing: Drawing) -> Path:
    """The file in ``folder`` that holds the drawing as PDF, or else as PNG.

    A converter of SVG prints what the page shows; without one, Graphviz draws its own picture
    of the same graph.  The name follows from the drawing: what is there is not made again.

    Raises:
        RendererUnavailable: nothing on this machine can do it.
        CannotWrite: the file cannot be written.
    """
    name = f"graph-{hashlib.sha256(drawing.still.encode()).hexdigest()[:16]}"
    for format in ("pdf", "png"):
        if (made := folder / f"{name}.{format}").is_file():
            return made
    format, data = _printed(drawing)
    folder.mkdir(parents=True, exist_ok=True)
    return write_atomically(folder / f"{name}.{format}", data)


def _printed(drawing: Drawing) -> tuple[str, bytes]:
    for command, *arguments in _CONVERTERS:
        if path := shutil.which(command):
            try:
                return "pdf", _convert([path, *arguments], drawing.still)
            except RenderingFailed:
                continue
    for format in ("pdf", "png") if drawing.dot else ():
        try:
            return format, DotCommand().render(drawing.dot, format)
        except VizError:
            continue
    raise RendererUnavailable(
        "nothing on this machine can make a PDF of a picture",
        remedy="install librsvg (rsvg-convert) or Graphviz (dot)",
    )


def _convert(command: list[str], svg: str) -> bytes:
    try:
        done = subprocess.run(
            command, input=svg.encode(), capture_output=True, timeout=_TIME_LIMIT, check=True
        )
    except (OSError, subprocess.SubprocessError):
        raise RenderingFailed(f"{command[0]} gave up") from None
    if not done.stdout.startswith(b"%PDF"):
        raise RenderingFailed(f"{command[0]} made no PDF")
    return done.stdout
