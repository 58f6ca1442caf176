"""Wheels that turn our own SVG into PNG and PDF, so that these look exactly as it does.

Both are extras, without dependencies of their own: ``resvg-py``, a binding to the resvg renderer,
and ``svg2pdf-py``, one to Typst's svg2pdf, which keeps lines as lines and text as text.
The bytes of a PDF differ from run to run, as svg2pdf numbers its fonts in any order.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from types import ModuleType
from typing import Literal

from gradstep_viz.errors import RendererUnavailable, RenderingFailed
from gradstep_viz.extras import load_extra
from gradstep_viz.output.svg import title_of
from gradstep_viz.theme import FONT_FAMILY

ZOOM = 2.0
"""PNGs have twice as many pixels as the SVG has units, for today's screens and for print."""

MOST_PIXELS = 120_000_000

_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')


class Resvg:
    """PNG, by the package ``resvg-py``."""

    name = "resvg"
    formats = frozenset({"png"})
    source: Literal["dot", "svg"] = "svg"

    def render(self, text: str, format: str) -> bytes:
        module = load_extra("resvg_py")
        _need_fonts(self.name, _resvg_sees_fonts(module))
        try:
            return bytes(module.svg_to_bytes(svg_string=text, zoom=_zoom(text)))
        except ValueError as error:
            raise RenderingFailed(f"resvg cannot draw this picture: {error}") from None


class Svg2Pdf:
    """PDF, by the package ``svg2pdf-py``."""

    name = "svg2pdf"
    formats = frozenset({"pdf"})
    source: Literal["dot", "svg"] = "svg"

    def render(self, text: str, format: str) -> bytes:
        module = load_extra("svg2pdf_py")
        fonts = module.FontDatabase.system()
        _need_fonts(self.name, _leaves_a_trace(lambda svg: module.svg_to_pdf(svg, fonts)))
        try:
            data = bytes(module.svg_to_pdf(text, fonts))
        except (ValueError, RuntimeError) as error:
            raise RenderingFailed(f"svg2pdf cannot draw this picture: {error}") from None
        return _titled(data, title_of(text))


_TRAILER = re.compile(
    rb"trailer\s*<<\s*/Size (\d+)\s*/Root (\d+) 0 R\s*/Info (\d+) 0 R\s*>>\s*startxref\s+(\d+)\s+"
    rb"%%EOF\s*$"
)


def _titled(data: bytes, title: str) -> bytes:
    """Give a PDF its title: a second version of its information, behind what is there."""
    match = _TRAILER.search(data)
    if match is None or not title:
        return data
    size, root, info, start = map(int, match.groups())
    text = ("\ufeff" + title).encode("utf-16-be").hex().encode()
    at = len(data) + 1
    entry = b"\n%d 0 obj\n<< /Title <%s> /Producer (gradstep) >>\nendobj\n" % (info, text)
    table = b"xref\n%d 1\n%010d 00000 n \n" % (info, at)
    # fmt: off
    trailer = b"trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R /Prev %d >>\n" % (
        size, root, info, start,
    )
    return b"%s%s%s%sstartxref\n%d\n%%%%EOF\n" % (
        data, entry, table, trailer, len(data) + len(entry),
    )
    # fmt: on


def _need_fonts(name: str, there_are: bool) -> None:
    if not there_are:
        raise RendererUnavailable(
            f"{name} finds none of the fonts that pictures use", remedy="install DejaVu Sans Mono"
        )


@functools.cache
def _resvg_sees_fonts(module: ModuleType) -> bool:
    return _leaves_a_trace(lambda svg: module.svg_to_bytes(svg_string=svg))


def _leaves_a_trace(convert: Callable[[str], bytes]) -> bool:
    """Tell whether text is seen: without the fonts it asks for, it is left out and nothing said."""
    empty, written = (
        convert(
            '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
            f"<text x='2' y='16' font-family='{FONT_FAMILY}'>{letter}</text></svg>"
        )
        for letter in ("", "M")
    )
    return empty != written


def _zoom(svg: str) -> float:
    """Return twice the size, unless that is more than a viewer opens."""
    match = _SIZE.search(svg)
    if match is None:
        return ZOOM
    width, height = map(int, match.groups())
    return min(ZOOM, math.sqrt(MOST_PIXELS / (width * height)))
