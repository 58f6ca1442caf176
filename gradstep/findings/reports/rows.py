"""A report: a headline, and rows of a label and a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from gradstep.graph.addresses import node_text
from gradstep.graph.model import Graph
from gradstep.text import WIDTH

Row = tuple[str, str]
_MOST_ON_A_PATH = 8  # nodes that are named


def row_lines(rows: Iterable[Row], width: int = WIDTH) -> list[str]:
    """Return rows with their texts in one column, in lines that fit; source lines stay whole."""
    rows = list(dict.fromkeys(rows))
    column = max((len(label) for label, _ in rows), default=0)
    lines = []
    for label, text in rows:
        first = f"  {label:<{column}}  "
        if label in ("line", ""):
            lines.append(first + text)
            continue
        later = " " * len(first)
        lines += wrap(
            text, width, initial_indent=first, subsequent_indent=later,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return lines


def path_text(graph: Graph, path: Sequence[int]) -> str:
    """Return the way of a gradient, from the loss on: ``#1 sum:1 -> #2 mul:1 -> #3 log:1``."""
    named = [node_text(graph, index) for index in path]
    if len(named) > _MOST_ON_A_PATH:
        half = _MOST_ON_A_PATH // 2
        named[half:-half] = [f"... {len(named) - 2 * half} more ..."]
    return " -> ".join(named)
