"""The elements that everything is drawn with, and how numbers and text get into them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from gradstep_viz.picture.geometry import Rectangle

_ILLEGAL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")
_SPECIAL = re.compile(f'[&<>"]|{_ILLEGAL.pattern}')
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})

K = TypeVar("K")


class _Written(dict[K, str]):
    """The texts that ``write`` makes of keys, for as many as are in use at a time.

    Writing a number takes 0.3 us, looking it up here a fifth of that; a picture repeats most.
    """

    MOST: Final = 1 << 15

    def __init__(self, write: Callable[[K], str]) -> None:
        self._write = write

    def __missing__(self, key: K) -> str:
        if len(self) >= self.MOST:
            self.clear()
        text = self[key] = self._write(key)
        return text


number: Final = _Written[float](lambda x: f"{x + 0.0:.9g}")  # -0.0 is 0 too
"""The text of each coordinate."""


def escape(text: str) -> str:
    """Escape text for XML, in an element or in quotes; characters that XML 1.0 forbids are dropped.

    >>> escape('a < "b" & c\\x00')
    'a &lt; &quot;b&quot; &amp; c'
    """
    plain = not ("<" in text or "&" in text or ">" in text or '"' in text)
    if plain and (text.replace("\n", "").isprintable() or not _SPECIAL.search(text)):
        return text
    return _ILLEGAL.sub("", text).translate(_ESCAPES)


def escape_all(texts: Sequence[str]) -> Sequence[str]:
    """Escape many texts; most of the time no text has anything to escape, which one look tells."""
    plain = escape(whole := "\n".join(texts)) is whole
    return texts if plain else [escape(text) for text in texts]


_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+")


def escape_drawn(text: str) -> str:
    """Escape a text that is drawn; what stands behind a name in Hebrew or Arabic stays there.

    >>> escape_drawn("א · 8 B") == "א\\u200e · 8 B"
    True
    """
    return _RIGHT_TO_LEFT.sub("\\g<0>\u200e", escape(text))


escaped: Final = _Written(escape_drawn)
"""The same for texts that a picture repeats."""


def text_at(x: float, y: float, text: str, classes: str = "") -> str:
    """Write a text whose baseline begins at (``x``, ``y``)."""
    named = f' class="{classes}"' if classes else ""
    return f'<text x="{number[x]}" y="{number[y]}"{named}>{escaped[text]}</text>'


def rectangle(place: Rectangle, corner: int) -> str:
    """Draw a rectangle with rounded corners."""
    x, y, width, height = place
    return (
        f'<rect x="{number[x]}" y="{number[y]}" width="{number[width]}" '
        f'height="{number[height]}" rx="{corner}"/>'
    )
