"""Numeric check: the rule of every node against differences of its own forward.

``node`` checks one, ``rule`` one input of it; ``rerun`` runs a node's function again on copies
of what it ran on, ``differences`` differentiates that; ``cause`` guesses what is wrong,
``result`` holds the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import Node
from autograd_core.autograd.plan import make_plan
from autograd_core.dag.addresses import locate, step_number
from autograd_core.dag.capture import capture
from autograd_core.dag.capture.roots import tensors_in
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names, caller_names
from autograd_core.debug.checking.node import check_rule
from autograd_core.debug.checking.result import InputCheck, NodeCheck, Verdict
from autograd_core.tensor import Tensor

__all__ = [
    "InputCheck",
    "NodeCheck",
    "Planned",
    "Verdict",
    "check",
    "check_current",
    "check_node",
    "check_plan",
]

Roots = Tensor | Sequence[Tensor]
Progress = Callable[[int, int], None]


class Planned(Protocol):
    """A plan of a backward pass, and its graph: node k of one is node k of the other; a Session
    is one."""

    @property
    def graph(self) -> Graph: ...

    @property
    def order(self) -> Sequence[Node]: ...


class Standing(Planned, Protocol):
    """One that stands at a position of its plan."""

    @property
    def position(self) -> int: ...


class _Plan(NamedTuple):
    graph: Graph
    order: Sequence[Node]


def check(
    roots: Roots,
    *,
    names: Names | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> tuple[NodeCheck, ...]:
    """Check the rule of every op in the graph of ``roots``.

    The forward pass must have run inside ``trace(values=True)``, which keeps what ops ran on;
    the backward pass may have run or not.  Nodes come in the order of the backward pass, so the
    first wrong one is the one at which a gradient goes wrong first.

    >>> import autograd_core as torch
    >>> from autograd_core.dag import trace
    >>> with trace(values=True):
    ...     x = torch.tensor([1.0, 2.0], requires_grad=True)
    ...     loss = x.exp().sum()
    >>> [found.sentence for found in check(loss)]
    ['SumBackward0: right (x)', 'ExpBackward0: right (x)']

    Args:
        names: of tensors, as :func:`autograd_core.dag.capture` takes them.
        progress: called with how many nodes are done, of how many.

    Raises:
        NotInGraph: a root requires no gradient, or is no tensor.
    """
    tensors = tensors_in(roots)
    return tuple(check_plan(_planned(tensors, names or caller_names()), progress))


def check_plan(planned: Planned, progress: Progress | None = None) -> Iterator[NodeCheck]:
    """Check the nodes of a plan, one after the other; leaves, which have no rule, are left out."""
    length = len(planned.order)
    for index, node in enumerate(planned.order):
        if not isinstance(node, AccumulateGrad):
            yield _at(planned, index)
        if progress is not None:
            progress(index + 1, length)


def check_node(where: Planned | Roots, place: str | int) -> NodeCheck:
    """Check one node: of a session, or of the graph of a tensor.

    Args:
        place: its plan index, or what a breakpoint takes: an address, ``#3``, an op,
            of which the first one to run is meant.

    Raises:
        UnknownAddress: there is no such place.
    """
    if isinstance(where, (Tensor, tuple, list)):
        tensors = (where,) if isinstance(where, Tensor) else tuple(where)
        planned: Planned = _planned(tensors, caller_names())
    else:
        planned = where  # type: ignore[assignment]  # what is no tensor is a session
    text = step_number(place) if isinstance(place, int) else place
    return _at(planned, locate(planned.graph, text, len(planned.order))[0])


def check_current(session: Standing) -> NodeCheck:
    """Check the node that ``session`` runs next; at the end of the pass, the last one."""
    return _at(session, min(session.position, len(session.order) - 1))


def _at(planned: Planned, index: int) -> NodeCheck:
    return check_rule(planned.order[index], index, planned.graph.address(index))


def _planned(tensors: Sequence[Tensor], names: Names | Mapping[str, Any]) -> _Plan:
    graph = capture(tensors, "backward", names=names, live=True)
    return _Plan(graph, make_plan([t.edge for t in tensors]).order)  # type: ignore[misc]
