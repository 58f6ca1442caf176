"""Animated GIFs, of the stills of a film; for what plays no SVG, such as presentations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from io import BytesIO
from typing import Any, Final

from gradstep_viz.extras import load_extra
from gradstep_viz.output.renderers.painters import Resvg

GIF_MARK: Final = rb"made by gradstep"
"""A pattern that is in the GIFs of gradstep."""

_COLOURS = 255


def require_gif() -> None:
    """See that GIFs can be written.

    Raises:
        RendererUnavailable: what the extra ``png`` brings is not installed.
    """
    for module in ("resvg_py", "PIL"):
        load_extra(module)


def write_gif(stills: Iterable[str], seconds: Sequence[float]) -> bytes:
    """Return stills, as SVG, as a GIF that plays for ever; each is seen for so many seconds."""
    require_gif()
    image, painter = import_module("PIL.Image"), Resvg()
    frames = [image.open(BytesIO(painter.render(still, "png"))).convert("RGB") for still in stills]
    palette = _palette(image, frames)
    shown = [frame.quantize(palette=palette, dither=image.Dither.NONE) for frame in frames]
    data = BytesIO()
    shown[0].save(
        data, "GIF", save_all=True, append_images=shown[1:], loop=0, optimize=False,
        duration=[round(1000 * each) for each in seconds], comment=b"made by gradstep",
    )  # fmt: skip
    return data.getvalue()


def _palette(image: Any, frames: Sequence[Any]) -> Any:
    """Return the colours of all frames, found in a few of them one under the other."""
    some = frames[:: max(1, len(frames) // 6)]
    sheet = image.new("RGB", (some[0].width, sum(frame.height for frame in some)))
    top = 0
    for frame in some:
        sheet.paste(frame, (0, top))
        top += frame.height
    return sheet.quantize(_COLOURS)
