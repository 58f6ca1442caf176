"""An SVG inside a page: as wide as there is room, in its own words, with ids of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradstep_viz.output.svg import escape, with_title

_PREFIX = re.compile(r'class="gs (gs-[0-9a-f]+)"')
_SIZE = re.compile(r' width="(\d+)" height="\d+"')
_SMALLEST = 0.7
_COLUMN = 600  # px; the text of few pages is narrower, on a desk
_PHONE = 320  # the same on a phone, and on a desk for those who need large letters
_MARGINS = {"left": "margin-right:auto", "right": "margin-left:auto", "center": "margin:auto"}


def inline_svg(
    svg: str,
    *,
    taken: set[str],
    title: str = "",
    width: str = "",
    align: str = "",
    classes: Sequence[str] = (),
    link: str = "",
) -> str:
    """Write the markup for ``svg`` in a page.

    In a narrow page it shrinks to 70 %, then it can be scrolled, by keyboard too, so that it stays
    readable; ``width`` is a CSS length that it has instead.  ``taken`` are the prefixes of ids that
    the page has already; the one of this picture is added.  At ``link`` the same picture is to be
    had by itself.
    """
    scrolls = not width and _smallest_width(svg) > _PHONE
    if title:
        svg = with_title(svg, title)
    svg = _with_prefix_of_its_own(svg.strip(), taken)
    size = f"width:{_css_length(width)}"
    if not width and (full := _natural_width(svg)):
        size = f"width:100%;max-width:{full}px;min-width:{_smallest_width(svg)}px"
    margin = f";{_MARGINS[align]}" if align in _MARGINS else ""
    svg = svg.replace("<svg ", f'<svg style="display:block;height:auto;{size}{margin}" ', 1)
    named = escape(" ".join(classes))
    focus = ' tabindex="0" role="group" aria-label="A picture that may scroll"'
    opened = f'<div class="{named}"{focus * scrolls} style="margin:1em 0;overflow-x:auto">'
    small = "font-size:.875em;text-align:right;margin:0 0 1em"
    below = f'<p style="{small}"><a href="{escape(link)}">Full size</a></p>\n'
    return f"{opened}\n{svg}\n</div>\n{below * bool(link)}"


def is_wide(svg: str) -> bool:
    """Tell whether a page seldom has room for all of the picture."""
    return _smallest_width(svg) > _COLUMN


def _smallest_width(svg: str) -> int:
    return round(_natural_width(svg) * _SMALLEST)


def _natural_width(svg: str) -> int:
    match = _SIZE.search(svg)
    return int(match[1]) if match else 0


def _with_prefix_of_its_own(svg: str, taken: set[str]) -> str:
    """Rename ids that the page has already: the same picture twice would have the same ones
    twice."""
    match = _PREFIX.search(svg)
    if match is None:
        return svg
    prefix, number = match[1], 1
    while prefix in taken:
        number += 1
        prefix = f"{match[1]}-{number}"
    taken.add(prefix)
    return svg if number == 1 else svg.replace(match[1], prefix)


def _css_length(width: str) -> str:
    """Read a width as CSS has it; a number alone counts pixels.

    >>> _css_length("50%"), _css_length("300")
    ('50%', '300px')
    """
    return f"{width}px" if width.isdecimal() else escape(width)
