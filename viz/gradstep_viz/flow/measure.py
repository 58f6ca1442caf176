"""The width of text in Helvetica and its like, from the widths of their characters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

FAMILY: Final = '"Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif'

_NARROW: Final = {
    191: "'", 222: "ijl", 260: "|", 278: " \u00a0!,./:;I[\\]ft", 333: "()-`r", 334: "{}", 355: '"',
    389: "*", 469: "^", 500: "Jckssvxyz", 584: "+<=>~×−", 611: "FTZ", 667: "&ABEKPSVXY",
    722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1000: "…→", 1015: "@",
}  # fmt: skip
_WIDTHS: Final = {letter: width for width, letters in _NARROW.items() for letter in letters}
_USUAL: Final = 556
_OTHER: Final = 700
"""Of letters that are in no table."""
_BOLD: Final = 1.08
_WIDE: Final = 1000


@lru_cache(maxsize=4096)
def width_of(text: str, size: float = 12, *, bold: bool = False) -> float:
    """Return the width of a text in pixels, rather too much than too little.

    >>> round(width_of("loss")), width_of("")
    (22, 0.0)
    """
    units = sum(
        _WIDTHS.get(
            letter, _USUAL if letter.isascii() else _WIDE if ord(letter) > 0x2E80 else _OTHER
        )
        for letter in text
    )
    return units / 1000 * size * (_BOLD if bold else 1.0) * 1.02


def tail_of(text: str, width: float, size: float = 12, *, bold: bool = False) -> str:
    """Cut whole words off the front of a text, where libraries repeat their own name; "" where no
    word is left.

    >>> tail_of("LlamaRMSNorm", 70), tail_of("features.projection", 76), tail_of("Linear", 20)
    ('…RMSNorm', '…projection', '')
    """
    if width_of(text, size, bold=bold) <= width:
        return text
    starts = [match.start() for match in _WORD.finditer(text)][1:]
    cuts = (f"…{text[at:]}" for at in starts if len(text) - at >= _LEAST)
    return next((one for one in cuts if width_of(one, size, bold=bold) <= width), "")


_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_LEAST: Final = 4


def cut(
    text: str, width: float, size: float = 12, *, bold: bool = False, keep_end: bool = True
) -> str:
    """Cut a text to a width: a name at its front, or else in the middle, a sentence at its end.

    >>> cut("encoder.layers.0.self_attention", 120), cut("constantpadnd", 60)
    ('…0.self_attention', 'con…adnd')
    >>> cut("class ReLU → Tanh; op relu → tanh", 120, keep_end=False)
    'class ReLU → Tan…'
    """
    if width_of(text, size, bold=bold) <= width:
        return text
    if keep_end and (shorter := tail_of(text, width, size, bold=bold)):
        return shorter
    for left in range(len(text) - 2, 1, -1):
        head = left // 2 if keep_end else left
        short = f"{text[:head].rstrip('.')}…{text[len(text) - (left - head) :].lstrip('.')}"
        if width_of(short, size, bold=bold) <= width:
            return short
    return "…"
