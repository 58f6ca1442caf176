"""Which nodes the list shows, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from gradstep.graph.addresses import in_scope
from gradstep.graph.model import Graph
from gradstep.text import did_you_mean
from gradstep_tui.app.plan.flow import Flow, NodeFlow
from gradstep_tui.app.plan.modules import Modules, Span
from gradstep_tui.app.plan.navigation import named

Order = Literal["plan", "size", "jump", "small"]
ORDERS: tuple[Order, ...] = get_args(Order)
_ORDER_WORDS: dict[Order, str] = {
    "plan": "in the order in which they run",
    "size": "largest gradient first",
    "jump": "largest jump first",
    "small": "smallest gradient first",
}
ONLY = ("nan", "module", "all")  # besides a word of the user's
WORDS = ("sort", "only")
"""The commands about the list, which are the screen's: a session has no list."""


class Listing(NamedTuple):
    """An order, and which nodes: ``nan`` those where something is no number, ``module NAME`` those
    of a module, another word those that have it in their name, "" all."""

    order: Order = "plan"
    only: str = ""

    @property
    def text(self) -> str:
        """The listing in words, from the outside in."""
        only = {"": "", "nan": "nan and inf"}.get(self.only, f"'{self.only}'")
        if self.only.startswith("module "):
            only = self.only
        return " › ".join(filter(None, (only, _ORDER_WORDS[self.order])))

    @property
    def needs_flow(self) -> bool:
        return self.order != "plan" or self.only == "nan"

    def nodes(self, graph: Graph, modules: Modules, flow: Flow, length: int) -> list[int] | None:
        """Return the plan nodes that are listed; None for all, in the order of the plan."""
        if self == IN_PLAN_ORDER:
            return None
        chosen: Sequence[int] = range(length)
        if self.only == "nan":
            chosen = flow.troubled
        elif self.only.startswith("module "):
            scope = self.only.removeprefix("module ")
            chosen = [
                node
                for span in modules.spans
                if in_scope(span.scope, scope)
                for node in range(span.start, span.stop)
            ]
        elif self.only:
            has = named(graph, self.only.lower())
            chosen = [node for node in chosen if has(node)]
        if self.order == "plan":
            return list(chosen)
        flows = ((node, flow.known(node) or NodeFlow(None)) for node in chosen)
        # what is not known stands at the end; nan is larger than anything
        if self.order == "small":
            sizes = {node: at_node.rms for node, at_node in flows}
            return sorted(chosen, key=lambda node: _smallness(sizes[node]))
        if self.order == "jump":
            keys = {
                node: at_node.jump if at_node.factor is not None else -1.0
                for node, at_node in flows
            }
        else:
            keys = {node: _size(at_node.rms) for node, at_node in flows}
        return sorted(chosen, key=lambda node: -keys[node])


def _smallness(rms: float | None) -> float:
    return float("inf") if rms is None or rms != rms else rms


def _size(rms: float | None) -> float:
    return -1.0 if rms is None else rms if rms == rms else float("inf")


IN_PLAN_ORDER = Listing()


def read_listing(line: str, now: Listing, scope: str) -> Listing:
    """Return the listing that ``sort ORDER`` or ``only WORD`` asks for, where ``now`` holds and the
    selected node is in the module ``scope``.

    >>> read_listing("sort jump", IN_PLAN_ORDER, "")
    Listing(order='jump', only='')
    >>> read_listing("only module", Listing("size", "nan"), "encoder.0").text
    'module encoder.0 › largest gradient first'

    Raises:
        ValueError: there is no such order, or no module.
    """
    word, _, operand = line.partition(" ")
    operand = " ".join(operand.split())
    if word == "sort":
        if operand not in ORDERS:
            hint = did_you_mean(operand, ORDERS)
            raise ValueError(f"sort by what? {', '.join(ORDERS)}{hint and f'; {hint}'}")
        return now._replace(order=operand)
    if operand == "module":
        if not scope:
            raise ValueError("the selected node is in no module: write only module NAME")
        operand = f"module {scope}"
    return now._replace(only="" if operand == "all" else operand)


def listing_words(line: str) -> list[str]:
    """Return the words that may stand at the end of ``line``, if it is one about the list.

    >>> listing_words("so"), listing_words("sort "), listing_words("only m"), listing_words("next ")
    (['sort'], ['jump', 'plan', 'size', 'small'], ['module'], [])
    """
    command, space, part = line.partition(" ")
    words: Sequence[str] = WORDS if not space else {"sort": ORDERS, "only": ONLY}.get(command, ())
    return sorted(word for word in words if word.startswith(part if space else command))


class ListedRows:
    """The rows of a list that shows ``nodes`` alone, one each."""

    def __init__(self, nodes: Sequence[int]) -> None:
        self._nodes = nodes
        self._rows = {node: row for row, node in enumerate(nodes)}
        self.count = len(nodes)

    def at(self, row: int) -> tuple[int, Span | None]:
        """Return the plan node of ``row``; no module is folded here."""
        return self._nodes[row], None

    def of(self, node: int) -> int:
        """Return the row that shows plan node ``node``, -1 where none does."""
        return self._rows.get(node, -1)
