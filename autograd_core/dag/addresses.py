"""Nodes by what a person types: an address, a scope, an op, the name of a leaf."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from autograd_core.dag.model import Graph

MOST_WORDS = 5_000


class UnknownAddress(ValueError):
    """Nothing goes by that name; ``remedy`` says what does."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


def unknown(what: str, text: str, words: Iterable[str], forms: str) -> UnknownAddress:
    """The error for ``text``, with what was likely meant, else the forms that a name can have."""
    near = get_close_matches(text, list(dict.fromkeys(words)), n=3, cutoff=0.5)
    return UnknownAddress(
        f"nothing {what} is called '{text}'", f"did you mean {', '.join(near)}?" if near else forms
    )


def find_nodes(graph: Graph, text: str) -> tuple[int, ...]:
    """The nodes that ``text`` means, in either half, in the order of their ids.

    ``encoder.0/addmm:2`` is an address; ``weight`` the leaf, output or gradient of that name;
    ``encoder.0`` every node in that scope; ``addmm`` or ``AddmmBackward0`` every node of that op;
    ``#3`` the node that runs third in the backward pass.

    Raises:
        UnknownAddress: none of these, with what was likely meant.
    """
    number = int(text[1:]) if text[:1] == "#" and text[1:].isdecimal() else None
    ways: tuple[list[int], ...] = ([], [], [])
    inside = f"{text}."
    for id, scope in enumerate(graph.scopes):
        if graph.address(id) == text or (number and graph.orders.get(id) == number - 1):
            ways[0].append(id)
        elif scope and (scope == text or scope.startswith(inside)):
            ways[1].append(id)
        elif text in (graph.names[id], graph.stem(id)):
            ways[2].append(id)
    for found in ways:
        if found:
            return tuple(found)
    raise unknown("in the graph", text, _words(graph), _FORMS)


_FORMS = "write an address such as encoder.0/addmm:2, a scope, an op, or the name of a leaf"


def _words(graph: Graph) -> Iterable[str]:
    for id in range(min(len(graph), MOST_WORDS)):
        yield graph.address(id)
        yield graph.stem(id)
        yield graph.scopes[id]
