"""The screen as a picture that loads nothing from the network."""

from __future__ import annotations

import re


def tidied(svg: str) -> str:
    """Return Textual's picture of a screen in fonts that the reader has, instead of those that it
    would load, and with ids that depend on nothing but the picture."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
    svg = svg.replace("font-family: Fira Code", "font-family: ui-monospace, Menlo, Consolas")
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"
