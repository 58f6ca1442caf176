"""The way of a gradient from the loss to where it is asked about, and what each node made of its
size."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Value
from gradstep.findings.reports.formatting import Row, line_text
from gradstep.graph.addresses import node_text
from gradstep.graph.statistics import format_number
from gradstep.text import plural

MOST_CANCELLED = 0.01
"""Of a sum of which less than this is left, its parts are said to cancel."""
_SHOWN = 3
_SHARES = 32  # of a sum with more parts, cancellation is not looked for


@dataclass(frozen=True, slots=True)
class Link:
    """A node on the way: it sent a gradient with ``factor`` times the rms of what it was given, and
    the sum that this became part of had ``gain`` times the rms of this part."""

    index: int
    factor: float
    gain: float


def main_way(session: PassSession, index: int) -> list[Link]:
    """Follow the largest part of what arrives at node ``index``, back to the loss; the links from
    the loss on."""
    links: list[Link] = []
    while True:
        steps = _largest(session, index)
        if steps is None:
            return links[::-1]
        producer, sent, total = steps
        given = max(
            (_rms(incoming.total) for incoming in session.inspector.incoming(producer)), default=0.0
        )
        links.append(Link(producer, _ratio(_rms(sent), given), _ratio(_rms(total), _rms(sent))))
        index = producer


def _largest(session: PassSession, index: int) -> tuple[int, Value, Value] | None:
    parts = [
        (part.producer, part.value, incoming.total)
        for incoming in session.inspector.incoming(index)
        for part in incoming.contributions
        if part.producer is not None and part.value is not None and incoming.total is not None
    ]
    return max(parts, key=lambda part: _rms(part[1]), default=None)


def _rms(value: Value | None) -> float:
    return 0.0 if value is None else value.statistics.rms


def _ratio(above: float, below: float) -> float:
    return above / below if below and math.isfinite(above / below) else 1.0


def factor_rows(session: PassSession, links: Sequence[Link], *, down: bool) -> Iterator[Row]:
    """Yield the nodes, the ops and the modules with the largest effect, ``down`` or up."""
    word, sign = ("shrinks", -1.0) if down else ("grows", 1.0)
    graph = session.graph

    def largest(ways: Iterable[tuple[str, float, int]]) -> list[tuple[str, float, int]]:
        strong = [way for way in ways if sign * way[1] > math.log(1.5)]
        return sorted(strong, key=lambda way: -sign * way[1])[:_SHOWN]

    nodes = [(str(link.index), math.log(link.factor), 1) for link in links if link.factor > 0]
    for text, size, _ in largest(nodes):
        source = graph.sources.get(int(text))
        yield word, f"{_times(size)} at {node_text(graph, int(text))}"
        if source is not None:
            yield "", line_text(source)
    for text, size, count in largest(_grouped(links, graph.stem)):
        if count > 1:
            yield "in all", f"{_times(size)} by {plural(count, 'node')} {text}"
    scopes = _grouped(links, lambda index: graph.scopes[index])
    if len(scopes) > 1:
        for text, size, _ in largest(scope for scope in scopes if scope[0]):
            yield "module", f"{_times(size)} in {text}"
    sums = [(str(link.index), math.log(link.gain), 1) for link in links if link.gain > 0]
    for text, size, _ in largest(sums)[:1]:
        yield "sum", f"{_times(size)} in the sum that {node_text(graph, int(text))} contributes to"


def _grouped(links: Sequence[Link], key: Callable[[int], str]) -> list[tuple[str, float, int]]:
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for link in links:
        if link.factor > 0:
            sums[key(link.index)] += math.log(link.factor)
            counts[key(link.index)] += 1
    return [(text, size, counts[text]) for text, size in sums.items()]


def _times(size: float) -> str:
    return f"x {format_number(math.exp(size))}"


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A sum of ``parts`` at node ``index``, of which only the share ``remaining`` is left."""

    index: int
    parts: int
    remaining: float


def cancellations(session: PassSession, indices: Iterable[int]) -> Iterator[Cancelled]:
    """Find the sums at these nodes whose parts cancel nearly all of each other."""
    for index in indices:
        for incoming in session.inspector.incoming(index):
            if 1 < incoming.arrived <= _SHARES:
                remaining = 1.0
                for entry in session.contributions(index, incoming.input_nr):
                    remaining = entry.remaining
                if remaining < MOST_CANCELLED:
                    yield Cancelled(index, incoming.arrived, remaining)
