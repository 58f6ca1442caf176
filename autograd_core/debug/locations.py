"""Where to stop or to run to: what a person types, as indices of the plan."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePath

from autograd_core.dag.model import Graph, Source


class UnknownLocation(ValueError):
    """Nothing in the plan goes by that name."""


def locate(graph: Graph, text: str, length: int) -> tuple[int, ...]:
    """The plan indices that ``text`` means, in execution order.

    ``#12`` is an index; ``encoder.0/addmm:2`` an address; ``addmm`` or ``AddmmBackward0`` every
    node of that op, ``encoder.0/addmm`` those of a scope; ``encoder.0`` every node of that
    scope and the scopes inside it; ``weight`` the leaf of that name; ``train.py:12`` every node
    whose forward line that is.

    Raises:
        UnknownLocation: none of these, with what was likely meant.
    """
    if text.startswith("#"):
        return (_index(text, length),)
    line = _source_line(text)
    kinds: list[list[int]] = [[], [], [], []]
    for index in range(length):
        name = graph.names[index]
        if graph.address(index) == text:
            kinds[0].append(index)
        stem, scope = graph.stem(index), graph.scopes[index]
        if text in (name, stem, f"{scope}/{stem}"):
            kinds[1].append(index)
        if in_scope(scope, text):
            kinds[2].append(index)
        if line is not None and _is_at(graph.sources.get(index), *line):
            kinds[3].append(index)
    for found in kinds:
        if found:
            return tuple(found)
    raise UnknownLocation(_unknown(graph, text, length))


def _source_line(text: str) -> tuple[tuple[str, ...], int] | None:
    file, _, number = text.rpartition(":")
    return (PurePath(file).parts, int(number)) if file and number.isdecimal() else None


def _is_at(source: Source | None, file: tuple[str, ...], line: int) -> bool:
    """Whether ``source`` is that line of a file whose path ends so."""
    return (
        source is not None
        and source.line == line
        and PurePath(source.file).parts[-len(file) :] == file
    )


def in_scope(scope: str, wanted: str) -> bool:
    """Whether ``scope`` is ``wanted`` or lies inside it."""
    return scope == wanted or scope.startswith(f"{wanted}.")


def _index(text: str, length: int) -> int:
    try:
        index = int(text[1:])
    except ValueError:
        raise UnknownLocation(f"'{text}' is no position: write # and a number, as in #3") from None
    if not 0 <= index < length:
        raise UnknownLocation(f"there is no node {text}: the plan has #0 to #{length - 1}")
    return index


def _unknown(graph: Graph, text: str, length: int) -> str:
    likely = get_close_matches(text, vocabulary(graph, length), n=3, cutoff=0.5)
    hint = f"; did you mean {', '.join(likely)}?" if likely else ""
    return (
        f"nothing here is called '{text}'{hint or '.'} A place is #12, an address such as "
        "encoder.0/addmm:2, an op such as mul, a scope, a leaf's name, or a line such as "
        "train.py:12."
    )


def vocabulary(graph: Graph, length: int) -> list[str]:
    """The places that a plan has: ops, addresses, leaves and scopes, of its first nodes."""

    def words() -> Iterable[str]:
        for index in range(min(length, 10_000)):
            yield graph.stem(index)
            yield graph.address(index)
            if graph.scopes[index]:
                yield graph.scopes[index]

    return list(dict.fromkeys(words()))
