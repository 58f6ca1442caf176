"""Nodes by what a person types: a step number, an address, an op, a scope, a leaf, a line.

Step numbers count from ``#1``, the node that runs first in the backward pass; records and methods
hold the same as an index of the plan, from 0 on.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from gradstep.graph.errors import UnknownAddress
from gradstep.graph.model import Graph, Source
from gradstep.text import did_you_mean

MOST_WORDS = 10_000


def unknown(what: str, text: str, words: Iterable[str], remedy: str) -> UnknownAddress:
    """Return the error for ``text``, with what was likely meant, else with ``remedy``."""
    hint = did_you_mean(text, words, most=3, cutoff=0.5, otherwise=remedy)
    return UnknownAddress(f"nothing {what} is called '{text}'", hint)


def find_nodes(graph: Graph, text: str, length: int | None = None) -> tuple[int, ...]:
    """Return the nodes that ``text`` means, in either half, in the order of their ids.

    ``encoder.0/addmm:2`` is an address; ``addmm`` or ``AddmmBackward0`` every node of that op,
    ``encoder.0/addmm`` those of a scope; ``weight`` the leaf, output or gradient of that name;
    ``encoder.0`` every node of that scope and the scopes inside it; ``train.py:12`` every node
    whose forward line that is.  Only the first ``length`` nodes are looked at, None: all.

    Raises:
        UnknownAddress: none of these, with what was likely meant.
    """
    line, seed = _source_line(text), f"∂{text}/∂{text}"
    ways: tuple[list[int], ...] = ([], [], [], [])
    for id in range(len(graph) if length is None else length):
        name, stem, scope = graph.names[id], graph.stem(id), graph.scopes[id]
        if graph.address(id) == text or name == seed:
            ways[0].append(id)
        elif text in (name, stem, f"{scope}/{stem}"):
            ways[1].append(id)
        elif scope and in_scope(scope, text):
            ways[2].append(id)
        elif line is not None and _is_at(graph.sources.get(id), *line):
            ways[3].append(id)
    for address in ways:
        if address:
            return tuple(address)
    if line is not None and line[0][-1].endswith(".py") and not graph.sources:
        raise UnknownAddress("source lines are unknown", NOT_TRACED)
    raise unknown("here", text, vocabulary(graph, length), _REMEDY)


def locate(graph: Graph, text: str, length: int) -> tuple[int, ...]:
    """Find the plan indices that ``text`` means, in execution order: ``#12`` is the twelfth node to
    run, and so is 12 where no module has that name; all else as :func:`find_nodes` reads it.

    Raises:
        UnknownAddress: none of these, with what was likely meant.
    """
    bare = False
    if not text.startswith("#"):
        try:
            return find_nodes(graph, text, length)
        except UnknownAddress:
            if not text.isdecimal():
                raise
            text = f"#{text}"
            bare = True
    index = step_index(text)
    if index is None or index >= length:
        remedy = all_step_numbers(length)
        if bare:
            remedy += f"; a line is written with its file, as train.py:{text[1:]}"
        raise UnknownAddress(f"there is no node {text}", remedy)
    return (index,)


NOT_TRACED = "run the forward pass within `with gradstep.trace():`"
_REMEDY = (
    "write # and a number, an address such as encoder.0/addmm:2, an op such as mul, a scope, "
    "a leaf's name, or a line such as train.py:12"
)


def find_step(graph: Graph, text: str) -> tuple[int, ...]:
    """Return the node, and its partner, that runs as ``#3``: as third in the backward pass.

    Raises:
        UnknownAddress: there is no such step.
    """
    nodes = {order: id for id, order in graph.orders.items()}
    order = step_index(text)
    if order not in nodes:
        raise UnknownAddress(
            f"there is no node {text}", all_step_numbers(max(nodes, default=-1) + 1)
        )
    return (nodes[order],)


def in_scope(scope: str, outer: str) -> bool:
    """Return whether ``scope`` is ``outer`` or lies inside it.

    >>> in_scope("encoder.0.norm", "encoder.0"), in_scope("encoder.01", "encoder.0")
    (True, False)
    """
    return scope == outer or scope.startswith(f"{outer}.")


def vocabulary(graph: Graph, length: int | None = None) -> list[str]:
    """List what the first ``length`` nodes go by: their ops, addresses, leaves and scopes."""

    def words() -> Iterable[str]:
        for id in range(min(len(graph) if length is None else length, MOST_WORDS)):
            yield graph.stem(id)
            yield graph.address(id)
            if graph.scopes[id]:
                yield graph.scopes[id]

    return list(dict.fromkeys(words()))


def _source_line(text: str) -> tuple[tuple[str, ...], int] | None:
    file, _, number = text.rpartition(":")
    return (PurePath(file).parts, int(number)) if file and number.isdecimal() else None


def _is_at(source: Source | None, file: tuple[str, ...], line: int) -> bool:
    """Return whether ``source`` is that line of a file whose path ends so."""
    return (
        source is not None
        and source.line == line
        and PurePath(source.file).parts[-len(file) :] == file
    )


def step_number(index: int) -> str:
    """Name the node at ``index`` of the plan as people do.

    >>> step_number(0)
    '#1'
    """
    return f"#{index + 1}"


def node_text(graph: Graph, index: int) -> str:
    """Return a node in two words: ``#3 relu:1``."""
    return f"{step_number(index)} {graph.address(index)}"


def step_index(number: str) -> int | None:
    """Find the index in the plan that a step number means; None where it is none.

    >>> step_index("#1"), step_index("#0"), step_index("mul")
    (0, None, None)
    """
    digits = number[1:]
    counted = number.startswith("#") and digits.isdecimal() and int(digits) > 0
    return int(digits) - 1 if counted else None


def before(position: int, length: int) -> str:
    """Say where one stands when ``position`` of ``length`` nodes have run.

    >>> before(0, 3), before(3, 3)
    ('before #1', 'at the end')
    """
    return f"before {step_number(position)}" if position < length else "at the end"


def all_step_numbers(length: int) -> str:
    """Say which step numbers a plan of ``length`` nodes has.

    >>> all_step_numbers(3), all_step_numbers(0)
    ('they run as #1 to #3', 'nothing runs backward here')
    """
    return (
        f"they run as {step_number(0)} to {step_number(length - 1)}"
        if length
        else "nothing runs backward here"
    )
