"""Messages of a graph network that go against its edges."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, functions_of, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source

_FROM: Final = re.compile(r"(\w*_)?(source|src|sources|sender|senders)$")
_TO: Final = re.compile(r"(\w*_)?(target|dst|dest|targets|receiver|receivers)$")
_ADDS: Final = (
    "index_add", "index_add_", "scatter_add", "scatter_add_", "scatter", "scatter_mean",
    "scatter_sum", "index_reduce", "index_reduce_", "scatter_reduce", "scatter_reduce_",
)  # fmt: skip


@dataclass(frozen=True)
class Against(Reason):
    """A function reads at the end of edges, and adds up at their beginning."""

    code = "edges-reversed"
    blames_line = True
    other_is = "added up at"
    read: str
    added: str

    def text(self) -> str:
        return (
            f"messages are read at {self.read} and added up at {self.added}, so that they run "
            "against the edges, and nodes without outgoing edges get none"
        )

    def remedy(self) -> str:
        return f"read at {self.added}, and add up at {self.read}"


def edges(facts: Facts) -> Iterator[Reason]:
    """Yield functions that index by the target of edges, and not by their source, and add up what
    comes of it by the source, and nothing by the target."""
    for file, tree in facts[Files].trees():
        for defined in functions_of(tree):
            read: dict[str, int] = {}
            added: dict[str, int] = {}
            for node in ast.walk(defined.node):
                match node:
                    case ast.Subscript(slice=index, ctx=ast.Load()) if name_of(index):
                        read.setdefault(name_of(index), node.lineno)
                    case ast.Call(args=args) if name_of(node.func) in _ADDS:
                        for each in args:
                            added.setdefault(name_of(each), node.lineno)
            ends = [name for name in read if _TO.fullmatch(name)]
            starts = [name for name in added if _FROM.fullmatch(name)]
            if (
                ends
                and starts
                and not any(map(_FROM.fullmatch, read))
                and not any(map(_TO.fullmatch, added))
            ):
                yield Against(
                    ends[0], starts[0], source=Source(file, read[ends[0]]),
                    other=Source(file, added[starts[0]]),
                )  # fmt: skip


RULES: Final = (
    Rule(edges, Meaning(
        "edges-reversed", "warning", "messages go against the edges of a graph",
        "They are read at the ends of edges, and added up at their beginnings.",
        "out.index_add(0, source, x[target])", "out.index_add(0, target, x[source])",
        "When you want that direction, for example to reach the successors of a node.",
    ), needs=(Files,)),
)  # fmt: skip
