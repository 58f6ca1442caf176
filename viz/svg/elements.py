"""The elements that everything is drawn with, and how text gets into them."""

from __future__ import annotations

import re

from viz.geometry import Place

_ILLEGAL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")
_SPECIAL = re.compile(f'[&<>"]|{_ILLEGAL.pattern}')
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def escape(text: str) -> str:
    """Text for XML, in an element or in quotes; characters that XML 1.0 forbids are dropped.

    >>> escape('a < "b" & c\\x00')
    'a &lt; &quot;b&quot; &amp; c'
    """
    plain = not ("<" in text or "&" in text or ">" in text or '"' in text)
    if plain and (text.isprintable() or not _SPECIAL.search(text)):
        return text
    return _ILLEGAL.sub("", text).translate(_ESCAPES)


def text_at(x: float, y: float, said: str, classes: str = "") -> str:
    """A text whose baseline begins at (``x``, ``y``)."""
    named = f' class="{classes}"' if classes else ""
    return f'<text x="{x:.9g}" y="{y:.9g}"{named}>{escape(said)}</text>'


def rectangle(place: Place, corner: int) -> str:
    """A rectangle with rounded corners."""
    x, y, width, height = place
    return (
        f'<rect x="{x:.9g}" y="{y:.9g}" width="{width:.9g}" height="{height:.9g}" rx="{corner}"/>'
    )
