"""Numeric check: the rule of every node against differences of its own forward.

``node`` checks one, ``rule`` one input of it; ``rerun`` runs a node's function again on copies
of what it ran on, ``differences`` differentiates that; ``cause`` guesses what is wrong,
``result`` holds the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import Node
from autograd_core.autograd.plan import make_plan
from autograd_core.dag.addresses import locate, step_number
from autograd_core.dag.capture import capture
from autograd_core.dag.capture.roots import native_tensors_in
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names, caller_names
from autograd_core.debug.checking.node import check_rule
from autograd_core.debug.checking.result import InputCheck, NodeCheck, Verdict
from autograd_core.debug.session import Session
from autograd_core.tensor import Tensor

__all__ = [
    "InputCheck",
    "NodeCheck",
    "Verdict",
    "check",
    "check_current",
    "check_node",
    "check_plan",
]

Roots = Tensor | Sequence[Tensor]
Progress = Callable[[int, int], None]


class Plan(NamedTuple):
    """The ``order`` in which a backward pass would run the nodes of ``graph``, by their ids."""

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
    tensors = native_tensors_in(roots)
    return tuple(check_plan(_planned(tensors, names or caller_names()), progress))


def check_plan(plan: Plan | Session, progress: Progress | None = None) -> Iterator[NodeCheck]:
    """Check the nodes of a plan, one after the other; leaves, which have no rule, are left out."""
    length = len(plan.order)
    for index, node in enumerate(plan.order):
        if not isinstance(node, AccumulateGrad):
            yield _check(plan, index)
        if progress is not None:
            progress(index + 1, length)


def check_node(where: Session | Roots, place: str | int) -> NodeCheck:
    """Check one node: of a session, or of the graph of a tensor.

    Args:
        place: its plan index, or what a breakpoint takes: an address, ``#3``, an op,
            of which the first one to run is meant.

    Raises:
        UnknownAddress: there is no such place.
    """
    if isinstance(where, Session):
        plan: Plan | Session = where
    else:
        tensors = (where,) if isinstance(where, Tensor) else tuple(where)
        plan = _planned(tensors, caller_names())
    text = step_number(place) if isinstance(place, int) else place
    return _check(plan, locate(plan.graph, text, len(plan.order))[0])


def check_current(session: Session) -> NodeCheck:
    """Check the node that ``session`` runs next; at the end of the pass, the last one."""
    return _check(session, min(session.position, len(session.order) - 1))


def _check(plan: Plan | Session, index: int) -> NodeCheck:
    return check_rule(plan.order[index], index, plan.graph.address(index))


def _planned(tensors: Sequence[Tensor], names: Names | Mapping[str, Any]) -> Plan:
    graph = capture(tensors, "backward", names=names, live=True)
    return Plan(graph, make_plan([t.edge for t in tensors]).order)  # type: ignore[misc]
