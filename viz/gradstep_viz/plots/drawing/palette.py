"""The colours of plots: those of all pictures, and shades for sizes."""

from __future__ import annotations

from typing import Final

from gradstep_viz import theme
from gradstep_viz.plots.shading import SHADES

_LIGHT_RAMP: Final = ("#e2f1ea", "#a3d1bf", "#5aa68c", "#1f7a60", "#06503a", "#02261b")
_DARK_RAMP: Final = ("#1c3a31", "#25594a", "#2f8068", "#4fb092", "#8fdcc0", "#dffff3")
"""From small to large: the larger, the stronger against the background."""

SHADE_TOKENS: Final = tuple(f"s{number}" for number in range(SHADES))


def shades_of(ramp: tuple[str, ...], count: int = SHADES) -> list[str]:
    """Return ``count`` colours at equal distances on a ramp.

    >>> shades_of(("#000000", "#ffffff"), 3)
    ['#000000', '#808080', '#ffffff']
    """
    parts = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in ramp]
    shades = []
    for number in range(count):
        place = number * (len(ramp) - 1) / max(count - 1, 1)
        at = min(int(place), len(ramp) - 2)
        share = place - at
        mixed = (
            int(one + (other - one) * share + 0.5) for one, other in zip(parts[at], parts[at + 1])
        )
        shades.append("#" + "".join(f"{channel:02x}" for channel in mixed))
    return shades


LIGHT: Final[theme.Tokens] = {**theme.LIGHT, **dict(zip(SHADE_TOKENS, shades_of(_LIGHT_RAMP)))}
DARK: Final[theme.Tokens] = {**theme.DARK, **dict(zip(SHADE_TOKENS, shades_of(_DARK_RAMP)))}


def shade_tokens(count: int) -> list[str]:
    """Return the tokens of ``count`` shades that are as far from each other as possible.

    >>> shade_tokens(2), shade_tokens(1)
    (['s0', 's15'], ['s10'])
    """
    if count == 1:
        return [SHADE_TOKENS[SHADES * 5 // 8]]
    return [SHADE_TOKENS[round(at * (SHADES - 1) / (count - 1))] for at in range(count)]


LINES: Final = ("fwd", "leaf", "saved", "bwd", "ink")
"""The colours of lines side by side."""
MARKERS: Final = ("o", "s", "^", "D", "v")
"""The shapes of their points, so that it does not take colour to tell them apart."""
