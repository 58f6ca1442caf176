"""What the directives share by which the program writes about itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Generated(SphinxDirective):
    """Stands for the reStructuredText that :meth:`lines` gives."""

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.lines())
        parsed: list[nodes.Node] = self.parse_text_to_nodes(text, allow_section_headings=True)
        return parsed

    def lines(self) -> Iterator[str]:
        """What a directive of this kind has to say."""
        raise NotImplementedError


def heading(title: str) -> list[str]:
    """A section."""
    return ["", title, "-" * len(title), ""]


def table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A table of two columns."""
    yield from ["", ".. list-table::", "   :header-rows: 1", "   :widths: 25 75", ""]
    for left, right in (head, *rows):
        yield f"   * - {left}"
        yield f"     - {right}"
    yield ""


def sentence(text: str) -> str:
    """A summary, which begins small and has no full stop, as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def escaped(text: str) -> str:
    """Plain text, but for ``literals`` and :func:`names`, as docstrings mark them."""
    parts = re.split(r"(``.+?``)", re.sub(r":\w+:`[~.]*(.+?)`", r"``\1``", text))
    return "".join(
        part if part.startswith("``") else re.sub(r"([\\*_|`])", r"\\\1", part) for part in parts
    )
