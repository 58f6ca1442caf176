"""Renderers: a protocol for turning text into pictures, and its implementations.

Renderers that take our SVG convert it to ``png`` or ``pdf``. Renderers that take DOT are Graphviz,
and draw in its style. For ``json0``, they return positions, which our own SVG writer draws, so all
SVG has the same style.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from gradstep_viz.errors import RendererUnavailable, VizError
from gradstep_viz.output.renderers.command import DotCommand
from gradstep_viz.output.renderers.embedded import EmbeddedGraphviz
from gradstep_viz.output.renderers.painters import Resvg, Svg2Pdf

__all__ = [
    "DotCommand",
    "EmbeddedGraphviz",
    "Renderer",
    "Resvg",
    "Svg2Pdf",
    "all_failed",
    "default_renderers",
]


class Renderer(Protocol):
    """Turns DOT or SVG, according to ``source``, into bytes of one of its formats.

    ``render`` raises :class:`gradstep_viz.errors.RendererUnavailable` if the machine lacks
    something, and :class:`gradstep_viz.errors.RenderingFailed` if it cannot draw this graph, or not
    in time.
    """

    @property
    def name(self) -> str: ...

    @property
    def formats(self) -> frozenset[str]: ...

    @property
    def source(self) -> Literal["dot", "svg"]: ...

    def render(self, text: str, format: str) -> bytes: ...


def default_renderers() -> tuple[Renderer, ...]:
    """List the renderers that are tried, in this order."""
    return (Resvg(), Svg2Pdf(), EmbeddedGraphviz(), DotCommand())


_DO = ("", "do that", "do one of these")


def all_failed(
    requested: str, failures: Sequence[VizError], *, instead: str = ""
) -> RendererUnavailable:
    """Say why each renderer failed, what would help it, and what to do instead.

    >>> failures = [RendererUnavailable("no ink", remedy="buy ink")]
    >>> print(all_failed("PNG", failures, instead="draw an SVG"))
    no renderer on this machine can make PNG (no ink: buy ink); do that, or draw an SVG
    """
    reasons = dict.fromkeys(
        f"{failure.what}: {failure.remedy}" if failure.remedy else failure.what
        for failure in failures
    )
    remedies = {failure.remedy for failure in failures if failure.remedy}
    details = f" ({'; '.join(reasons)})" if reasons else ""
    return RendererUnavailable(
        f"no renderer on this machine can make {requested}{details}",
        remedy=", or ".join(filter(None, [_DO[min(2, len(remedies))], instead])),
    )
