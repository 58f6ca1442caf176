"""The modules of a plan: where each runs, the tree they form, and which are folded.

The plan goes through a module in one or more stretches.  A leaf, which belongs to no module,
counts to that of the node before it, as in the commands ``over`` and ``finish``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

from gradstep.graph.model import Graph

LOOP = "×"  # begins what stands for a loop among the names of folded modules
FOLDED_AT_FIRST = 1_000  # nodes of a loop


class Span(NamedTuple):
    """The plan nodes ``start`` to ``stop`` (exclusive), all inside ``scope``: a module, or a loop
    of so many ``rounds``."""

    start: int
    stop: int
    scope: str
    rounds: int = 0


class Branch(NamedTuple):
    """A module in the tree: its stretches of the plan, and whether there are modules in it."""

    scope: str
    depth: int
    spans: tuple[Span, ...]
    has_children: bool

    @property
    def nodes(self) -> int:
        return sum(span.stop - span.start for span in self.spans)

    def done(self, position: int) -> int:
        """Count the nodes of it that have run at ``position``."""
        return sum(max(0, min(span.stop, position) - span.start) for span in self.spans)


class Modules:
    """The modules of a backward graph; everything is found out when somebody asks."""

    def __init__(self, graph: Graph, length: int) -> None:
        self._graph = graph
        self._length = length

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The stretches of the plan with one and the same scope, in order."""
        spans: list[Span] = []
        kinds, scopes = self._graph.kinds, self._graph.scopes
        start, current = 0, ""
        for index in range(self._length):
            if kinds[index] == "op" and scopes[index] != current:
                if index > start:
                    spans.append(Span(start, index, current))
                start, current = index, scopes[index]
        if self._length > start:
            spans.append(Span(start, self._length, current))
        return tuple(spans)

    @cached_property
    def tree(self) -> tuple[Branch, ...]:
        """Every module, parents before children, in the order in which they run."""
        within: dict[str, list[Span]] = {}
        for span in self.spans:
            for scope in _parents(span.scope):
                stretches = within.setdefault(scope, [])
                if stretches and stretches[-1].stop == span.start:
                    stretches[-1] = stretches[-1]._replace(stop=span.stop)
                else:
                    stretches.append(Span(span.start, span.stop, scope))
        children: dict[str, list[str]] = {}
        for scope in within:
            children.setdefault(scope.rpartition(".")[0], []).append(scope)
        rows, waiting = [], children.get("", [])[::-1]
        while waiting:
            scope = waiting.pop()
            inner = children.get(scope, [])
            rows.append(Branch(scope, scope.count("."), tuple(within[scope]), bool(inner)))
            waiting += inner[::-1]
        return tuple(rows)

    @cached_property
    def loops(self) -> tuple[Span, ...]:
        """The stretches in which a loop of the program runs that is inside of no other loop, each
        with all its rounds."""
        spans: list[Span] = []
        kinds, rounds = self._graph.kinds, self._graph.rounds
        current: int | None = None
        least = most = start = stop = 0

        def end() -> None:
            if current is not None and most > least:
                spans.append(Span(start, stop, f"{LOOP}{current}", most - least + 1))

        for index in range(self._length if rounds else 0):
            within = rounds.get(index, ())
            if not within:
                if kinds[index] == "op" and current is not None:
                    end()
                    current = None
            elif within[0].loop == current:
                least, most = min(least, within[0].number), max(most, within[0].number)
            else:
                end()
                current, start = within[0].loop, index
                least = most = within[0].number
            stop = index + 1
        end()
        return tuple(spans)

    def long_loops(self) -> frozenset[str]:
        """Return the loops that are folded at first: those of many nodes."""
        return frozenset(
            span.scope for span in self.loops if span.stop - span.start >= FOLDED_AT_FIRST
        )

    def entered(self, before: int, now: int) -> frozenset[str]:
        """Return the loop that a move from plan node ``before`` to ``now`` ended inside of."""
        place = bisect_right(self.loops, now, key=lambda span: span.start) - 1
        span = self.loops[place] if place >= 0 else Span(0, 0, "")
        is_new = span.start < now < span.stop and not span.start < before < span.stop
        return frozenset({span.scope} if is_new else ())

    def around(self, index: int) -> list[str]:
        """Return what can be folded around plan node ``index``, the innermost first."""
        place = bisect_right(self.loops, index, key=lambda span: span.start) - 1
        loop = [self.loops[place].scope] if place >= 0 and index < self.loops[place].stop else []
        return [*_parents(self.scope_of(index))[::-1], *loop]

    def scope_of(self, index: int) -> str:
        """Return the module in which plan node ``index`` runs."""
        place = bisect_right(self.spans, index, key=lambda span: span.start) - 1
        return self.spans[place].scope if place >= 0 else ""

    def folded_spans(self, folded: Collection[str]) -> tuple[Span, ...]:
        """Return the stretches that are hidden when the modules ``folded`` are."""
        loops = [span for span in self.loops if span.scope in folded] if folded else []
        spans: list[Span] = []
        for span in self.spans if folded else ():
            outer = next((parent for parent in _parents(span.scope) if parent in folded), None)
            if outer is None:
                continue
            if spans and spans[-1].scope == outer and spans[-1].stop == span.start:
                spans[-1] = spans[-1]._replace(stop=span.stop)
            else:
                spans.append(Span(span.start, span.stop, outer))
        chosen: list[Span] = []
        for span in sorted([*spans, *loops], key=lambda span: (span.start, -span.stop)):
            if not chosen or span.start >= chosen[-1].stop:
                chosen.append(span)
        return tuple(chosen)

    def visible(self, folded: Collection[str]) -> tuple[Branch, ...]:
        """Return the tree without what lies inside a folded module."""
        return tuple(
            branch
            for branch in self.tree
            if not any(parent in folded for parent in _parents(branch.scope)[:-1])
        )


def _parents(scope: str) -> list[str]:
    """Return ``scope`` and the modules around it, the outermost first.

    >>> _parents("encoder.0.up"), _parents("")
    (['encoder', 'encoder.0', 'encoder.0.up'], [])
    """
    parts = scope.split(".") if scope else []
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


class Rows:
    """The rows of the execution list: one per plan node, but one for each folded stretch."""

    def __init__(self, length: int, folded: tuple[Span, ...] = ()) -> None:
        self._folded = folded
        self._starts = [span.start for span in folded]
        hidden = 0
        self._rows: list[int] = []
        self._hidden = [0]
        for span in folded:
            self._rows.append(span.start - hidden)
            hidden += span.stop - span.start - 1
            self._hidden.append(hidden)
        self.count = length - hidden

    def at(self, row: int) -> tuple[int, Span | None]:
        """Return the first plan node of ``row``, and the stretch that is folded there."""
        place = bisect_right(self._rows, row) - 1
        if place >= 0 and self._rows[place] == row:
            return self._folded[place].start, self._folded[place]
        return row + self._hidden[place + 1], None

    def of(self, node: int) -> int:
        """Return the row that shows plan node ``node``."""
        place = bisect_right(self._starts, node) - 1
        if place >= 0 and node < self._folded[place].stop:
            return self._rows[place]
        return node - self._hidden[place + 1]
