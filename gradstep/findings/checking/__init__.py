"""Numeric check: compare the rule of every node with finite differences of its own forward.

``node`` checks one, ``rule`` one input of it; the engine runs a node's function again on copies of
what it ran on, ``differences`` differentiates that; ``cause`` guesses what is wrong, ``result``
holds the records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gradstep.capturing import capture
from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.roots import tensors_with_graph
from gradstep.contract.lookup import engine_of
from gradstep.contract.protocol import Engine, Rules
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.checking.node import check_rule
from gradstep.findings.checking.result import InputCheck, NodeCheck, Verdict
from gradstep.findings.listing import Listing
from gradstep.graph.addresses import locate, step_number
from gradstep.graph.model import Graph
from gradstep.records import LEAF, Node, Tensor

__all__ = [
    "InputCheck",
    "NodeCheck",
    "Verdict",
    "check_derivatives",
    "check_node",
]

Roots = Any
"""A tensor, or several, of either library."""
Progress = Callable[[int, int], None]


class Plan(NamedTuple):
    """The ``order`` in which a backward pass would run the nodes of ``graph``, by their ids."""

    graph: Graph
    order: Sequence[Node]
    rules: Rules


def check_derivatives(
    roots: Roots,
    *,
    names: Names | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    own: bool = False,
) -> Listing[NodeCheck]:
    """Check the rule of every op in the graph of ``roots``.

    The forward pass must have run inside ``trace(values=True)``, which keeps the inputs of ops. The
    backward pass need not have run. Results are in the order of the backward pass, so the first
    wrong node is the first one at which a gradient goes wrong.

    >>> import autograd_core as torch
    >>> from gradstep import trace
    >>> from gradstep.findings import check_derivatives
    >>> with trace(values=True):
    ...     x = torch.tensor([1.0, 2.0], requires_grad=True)
    ...     loss = x.exp().sum()
    >>> [found.sentence for found in check_derivatives(loss)]
    ['SumBackward0: right (self)', 'ExpBackward0: right (self)']

    Args:
        names: names of tensors, as for :func:`gradstep.capturing`.
        progress: a function that is called with the number of checked nodes and the number of all
            nodes.
        own: check only rules that the program defines itself, as those of a custom Function.

    Raises:
        NotInGraph: a root requires no gradient, or is no tensor.
    """
    tensors, engine = tensors_with_graph(roots)
    order, rules = engine.reading.plan(tensors).order, _rules(engine)
    if own and all(rules.rule_line(node) is None for node in order):
        return Listing([])  # nobody needs the graph, which may be large
    plan = _planned(tensors, engine, names or caller_names())
    checks = []
    for index, node in enumerate(order):
        if node.kind != LEAF and not (own and rules.rule_line(node) is None):
            checks.append(_check(plan, index))
        if progress is not None:
            progress(index + 1, len(order))
    return Listing(checks)


def check_node(where: PassSession | Roots, place: str | int) -> NodeCheck:
    """Check one node of a session, or of the graph of a tensor.

    Args:
        place: a plan index, or a place as for breakpoints: an address, ``#3``, or an op, which
            means the first one to run.

    Raises:
        UnknownAddress: there is no such place.
    """
    if isinstance(where, PassSession):
        plan = Plan(where.graph, where.order, _rules(engine_of(where.roots)))
    else:
        plan = _planned(*tensors_with_graph(where), caller_names())
    text = step_number(place) if isinstance(place, int) else place
    return _check(plan, locate(plan.graph, text, len(plan.order))[0])


def _check(plan: Plan, index: int) -> NodeCheck:
    return check_rule(plan.rules, plan.order[index], index, plan.graph.address(index))


def _planned(tensors: Sequence[Tensor], engine: Engine, names: Names | Mapping[str, Any]) -> Plan:
    graph = capture(tensors, "backward", names=names, live=True)
    return Plan(graph, engine.reading.plan(tensors).order, _rules(engine))


def _rules(engine: Engine) -> Rules:
    return engine.rules or engine.cannot("run a rule again")
