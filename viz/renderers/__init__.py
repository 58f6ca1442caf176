"""Who turns DOT into a picture: one protocol, two renderers, and the own layout beneath them.

A renderer is asked for ``svg``, ``png``, ``pdf``, or for ``json0``: where Graphviz would put
everything, which our own SVG writer then draws, so that all SVG is of one family.
"""

from __future__ import annotations

from typing import Protocol

from viz.renderers.command import DotCommand
from viz.renderers.embedded import EmbeddedGraphviz

__all__ = ["DotCommand", "EmbeddedGraphviz", "Renderer", "default_renderers"]


class Renderer(Protocol):
    """Turns DOT text into bytes of one of its formats.

    ``render`` raises :class:`viz.errors.RendererUnavailable` when the machine lacks what it
    needs, :class:`viz.errors.RenderingFailed` when it cannot draw this graph or not in time.
    """

    @property
    def name(self) -> str: ...

    @property
    def formats(self) -> frozenset[str]: ...

    def render(self, dot: str, format: str) -> bytes: ...


def default_renderers() -> tuple[Renderer, ...]:
    """Those that are tried, in this order."""
    return (EmbeddedGraphviz(), DotCommand())
