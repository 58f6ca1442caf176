"""The derivative rules of a node with what their names stand for: g · b = 3 · 2, which gives 6."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograd_core.autograd.saved import SavedNode
from gradstep.capturing.formula import Constant, formula_text
from gradstep.capturing.names import Names
from gradstep.debugger.snapshot import Outgoing, Saved, Term
from gradstep.debugger.snapshot.value import Gradient, Value, value
from gradstep.graph.statistics import format_number
from gradstep.records import Node


def terms_of(
    node: Node,
    gradients: Sequence[Gradient],
    saved: Sequence[Saved],
    outgoing: Sequence[Outgoing],
    names: Names,
) -> tuple[Term, ...]:
    """Return the rules that run at ``node``, for the inputs that need a gradient.

    Args:
        gradients: what the rules are given.
        saved: what the node keeps from the forward pass.
        outgoing: what the node has sent so far, for each input.
        names: names of the program's tensors, by which saved values are called.
    """
    if not isinstance(node, SavedNode):
        return ()
    op, known = node.op, dict(_known(node, gradients, saved))
    called = {
        name: names.of(each) or name
        for name, each, _ in node.saved()
        if known.get(name) is not None
    }
    found = []
    for edge, rule in node.formulas():
        used = ("g", *op.joint.names) if op.joint is not None else ("g", *op.rule(edge).names)
        sent = _of_input(node, edge, outgoing)
        if sent is None and op.joint is None:
            continue  # nobody needs it
        parts = [(name, part) for name, part in known.items() if name.partition("[")[0] in used]
        found.append(
            Term(
                edge,
                formula_text(rule, called, _constants(node)),
                tuple((called.get(name, name), part) for name, part in dict(parts).items()),
                _with_numbers(rule, dict(parts), _constants(node)),
                None if sent is None else sent.value,
            )
        )
    return tuple(found)


def _known(
    node: SavedNode, gradients: Sequence[Gradient], saved: Sequence[Saved]
) -> Iterator[tuple[str, Value | None]]:
    """Look up what the names in the rules of ``node`` stand for."""
    if node.ported:
        yield from ((f"g[{nr}]", value(g)) for nr, g in enumerate(gradients))
    else:
        yield "g", value(gradients[0])
    yield from ((each.name, each.value) for each in saved if each.value is not None)


def _constants(node: SavedNode) -> dict[str, Constant]:
    """Return the numbers that the op was called with, by the names of its rules."""
    found: dict[str, Constant] = {}
    for name, saved, _ in node.saved():
        if isinstance(getattr(saved, "record", None), int | float):  # a number, wrapped
            found[name] = saved.record
    for name in node.op.saved_plain:
        saved = getattr(node, name)
        if isinstance(saved, (bool, int, float)) or saved is None:
            found[name] = saved
    return found


def _of_input(node: SavedNode, edge: str, outgoing: Sequence[Outgoing]) -> Outgoing | None:
    """Find what goes to the input that a rule is for, None where that needs no gradient."""
    if edge not in node.op.edges:
        return None
    nr = node.op.edges.index(edge)
    return outgoing[nr] if nr < len(node.edges) and node.edges[nr] is not None else None


def _with_numbers(rule: str, known: dict[str, Value | None], constants: dict[str, Constant]) -> str:
    """Return the rule with numbers for its names, "" unless each of them is one."""
    numbers: dict[str, str] = {}
    for name, part in known.items():
        if part is None or part.array.size != 1:
            return ""
        number = format_number(float(part.array.reshape(())))
        numbers[name] = f"({number})" if number.startswith("\N{MINUS SIGN}") else number
    return formula_text(rule, numbers, constants)
