"""Elements of a page. Whatever comes from a program is escaped here."""

from __future__ import annotations

from collections.abc import Iterable

from gradstep.text import printable
from gradstep_viz.output.svg import escape


def text(written: str) -> str:
    """Write a text of the program, in an element or in quotes.

    >>> text('<b> "x"')
    '&lt;b&gt; &quot;x&quot;'
    """
    return escape(printable(written))


def command(written: str) -> str:
    """Write a command."""
    return f'<code class="command">{text(written)}</code>'


def items(texts: Iterable[str]) -> str:
    """Write a list of texts."""
    return f"<ul>{''.join(f'<li>{text(one)}</li>' for one in texts)}</ul>"


def scrolling(content: str, label: str, kind: str = "") -> str:
    """Put what may be wider than a screen into a box of its own, which the keyboard moves, too."""
    named = f"scroll {kind}".strip()
    return (
        f'<div class="{named}" role="region" tabindex="0" aria-label="{text(label)}">{content}'
        "</div>"
    )
